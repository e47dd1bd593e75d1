#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "pythia/run_json.h"
#include "pythia/status.h"

static struct pythia_run_parsed *parse(const char *json)
{
    struct pythia_run_parsed *p = NULL;
    struct pythia_error e = {0};
    if (pythia_run_json_parse(pythia_text_of(json), &p, &e) != PYTHIA_OK)
        fail_msg("%s", e.sentence);
    return p;
}

/* A record as the profiler of TileDB-SOMA writes it: numbers are texts, of 10 ms resolution. */
static const char foreign[] =
    "{\"command\": \"python tests/objects.py\", \"timestamp\": 1678901234.5, \"stdout\": \"ok\\n\","
    " \"stderr\": \"\", \"tiledb_stats\": null, \"host_context\": {\"uname\": \"Linux x\","
    " \"cpu_count\": 8, \"total_physical_mem_bytes\": 16000000000}, \"user_time_sec\": \"0.20\","
    " \"system_time_sec\": \"0.01\", \"pct_of_cpu\": \"99\", \"elapsed_time_sec\": \"1:02.50\","
    " \"max_res_set_sz_kb\": \"2048\", \"major_page_faults\": \"1\", \"minor_page_faults\": \"12\","
    " \"voluntary_context_switches\": \"3\", \"involuntary_context_switches\": 4,"
    " \"file_system_inputs\": \"5\", \"file_system_outputs\": \"8\", \"exit_status\": \"2\"}";

static void a_record_of_the_other_profiler_is_read(void **state)
{
    struct pythia_run_parsed *p = parse(foreign);
    const struct pythia_run *run = pythia_run_parsed_run(p);
    assert_int_equal(run->started_ns, 1678901234500000000);
    assert_string_equal(run->command, "[\"python tests/objects.py\"]");
    assert_int_equal(run->exit_status, 2);
    assert_int_equal(run->metrics[PYTHIA_RUN_WALL_NS], 62500000000);
    assert_int_equal(run->metrics[PYTHIA_RUN_USER_NS], 200000000);
    assert_int_equal(run->metrics[PYTHIA_RUN_SYS_NS], 10000000);
    assert_int_equal(run->metrics[PYTHIA_RUN_MAX_RSS], 2097152);
    assert_int_equal(run->metrics[PYTHIA_RUN_MAJOR_FAULTS], 1);
    assert_int_equal(run->metrics[PYTHIA_RUN_MINOR_FAULTS], 12);
    assert_int_equal(run->metrics[PYTHIA_RUN_VOLUNTARY_SWITCHES], 3);
    assert_int_equal(run->metrics[PYTHIA_RUN_INVOLUNTARY_SWITCHES], 4);
    assert_int_equal(run->metrics[PYTHIA_RUN_IN_BLOCKS], 5);
    assert_int_equal(run->metrics[PYTHIA_RUN_OUT_BLOCKS], 8);
    assert_int_equal(run->metrics[PYTHIA_RUN_READ_BYTES], -1);
    assert_string_equal(run->host.uname, "Linux x");
    assert_int_equal(run->host.memory_bytes, 16000000000);
    assert_int_equal(run->host.cpus, 8);
    assert_int_equal(run->output[0].size, 3);
    pythia_run_parsed_destroy(p);
}

static void what_is_written_is_read_back_whole(void **state)
{
    static const struct pythia_run_pair meta[] = {{"k", "v"}};
    static const struct pythia_run_callpath paths[] = {
        {"a;b", 3, 300, 90, 110, 100, 110, 250, 3e4}};
    static const struct pythia_run_finding found[] = {{1, "t", NULL, NAN, "key", "s."}};
    static const struct pythia_run_artifact files[] = {{"perf", "folded", {"a 1\n", 4}}};
    struct pythia_run run = {
        .id = 4,
        .started_ns = 123456789,
        .command = "[\"a b\",\"c\"]",
        .tag = "t",
        .exit_status = -1,
        .signal = 9,
        .git_commit = "abc",
        .git_dirty = 0,
        .host = {"h", NULL, NULL, NULL, 2, -1, 0},
        .meta = meta,
        .meta_count = 1,
        .output = {{"x", 1}},
        .output_bytes = {100000, 0},
        .callpaths = paths,
        .callpath_count = 1,
        .processes = (struct pythia_run_process[]){{7, "a\xff", 5, 6, 4096, 0, 9, 3, 450},
                                                   {8, NULL, -1, -1, -1, -1, -1, 0, 0}},
        .process_count = 2,
        .findings = found,
        .finding_count = 1,
        .artifacts = files,
        .artifact_count = 1};
    for (int m = 0; m < PYTHIA_RUN_METRICS; m++)
        run.metrics[m] = m % 2 ? -1 : INT64_C(1) << (m + 40);
    struct pythia_buf first = {0}, second = {0};
    assert_int_equal(pythia_run_json_record(&run, &first), PYTHIA_OK);
    struct pythia_run_parsed *p = parse(first.bytes);
    struct pythia_run again = *pythia_run_parsed_run(p);
    assert_int_equal(again.metrics[PYTHIA_RUN_WALL_NS], INT64_C(1) << 40);
    assert_int_equal(again.signal, 9);
    assert_int_equal(again.exit_status, -1);
    assert_int_equal(again.output_bytes[0], 100000);
    assert_true(isnan(again.findings[0].share));
    assert_int_equal(again.process_count, 2);
    assert_int_equal(again.processes[0].max_rss_bytes, 4096);
    assert_int_equal(again.processes[1].user_ns, -1);
    again.id = 4;
    again.command_key = NULL;
    assert_int_equal(pythia_run_json_record(&again, &second), PYTHIA_OK);
    assert_string_equal(first.bytes, second.bytes);
    pythia_run_parsed_destroy(p);
    pythia_buf_free(&first);
    pythia_buf_free(&second);
}

static void what_is_no_record_is_refused(void **state)
{
    static const struct {
        const char *json, *part;
    } wrong[] = {{"{", "is not JSON"},
                 {"[]", "no record of a run"},
                 {"{}", "no record of a run"},
                 {"{\"metrics\": 3}", "no record of a run"},
                 {"3", "is not JSON"},
                 {"{\"pythia\": []}", "no record of a run"},
                 {"{\"a\":1,\"a\":2}", "is not JSON"}};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct pythia_run_parsed *p = NULL;
        struct pythia_error e = {0};
        assert_int_equal(pythia_run_json_parse(pythia_text_of(wrong[i].json), &p, &e),
                         PYTHIA_EFORMAT);
        if (!strstr(e.sentence, wrong[i].part))
            fail_msg("%s: %s", wrong[i].json, e.sentence);
    }
}

/* Members of the wrong type, and numbers out of range, are unknown and not a crash. */
static void odd_members_are_unknown(void **state)
{
    struct pythia_run_parsed *p =
        parse("{\"metrics\": {\"wall\": -5, \"user\": \"x\", \"sys\": 1e300, \"max_rss\": []},"
              " \"command\": 7, \"meta\": [1], \"callpaths\": {\"a\": 1}, \"findings\": [3],"
              " \"artifacts\": [{}], \"host\": 4, \"started_ns\": -1, \"stdout\": 8}");
    const struct pythia_run *run = pythia_run_parsed_run(p);
    for (int m = 0; m < PYTHIA_RUN_METRICS; m++)
        assert_int_equal(run->metrics[m], -1);
    assert_null(run->command);
    assert_int_equal(run->started_ns, 0);
    assert_int_equal(run->meta_count, 0);
    assert_string_equal(run->artifacts[0].kind, "other");
    pythia_run_parsed_destroy(p);
}

static void commands_are_shown_as_a_shell_reads_them(void **state)
{
    static char *words[] = {"sh", "-c", "echo 'x' $HOME", "", "a=b", NULL};
    char *command = pythia_run_command(words);
    struct pythia_buf text = {0};
    assert_string_equal(command, "[\"sh\",\"-c\",\"echo 'x' $HOME\",\"\",\"a=b\"]");
    pythia_run_command_show(command, &text);
    assert_string_equal(text.bytes, "sh -c 'echo '\\''x'\\'' $HOME' '' a=b");
    pythia_buf_free(&text);
    free(command);
}

/* FIPS 180-2, appendix B.1. */
static void the_key_is_sha_256(void **state)
{
    char key[65];
    pythia_run_key("abc", key);
    assert_string_equal(key, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

/* RFC 1321: MD5 ("abc"). */
static void the_name_of_a_record_is_that_of_the_other_profiler(void **state)
{
    struct pythia_run run = {.command = "[\"abc\"]", .started_ns = 1678901234000000005};
    struct pythia_buf name = {0};
    assert_int_equal(pythia_run_json_name(&run, &name), PYTHIA_OK);
    assert_string_equal(name.bytes, "900150983cd24fb0d6963f7d28e17f72/1678901234.000000005.json");
    pythia_buf_free(&name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_of_the_other_profiler_is_read),
        cmocka_unit_test(what_is_written_is_read_back_whole),
        cmocka_unit_test(what_is_no_record_is_refused),
        cmocka_unit_test(odd_members_are_unknown),
        cmocka_unit_test(commands_are_shown_as_a_shell_reads_them),
        cmocka_unit_test(the_key_is_sha_256),
        cmocka_unit_test(the_name_of_a_record_is_that_of_the_other_profiler),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
