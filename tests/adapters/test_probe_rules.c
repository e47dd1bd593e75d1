#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "pythia/kernel_points.h"
#include "pythia/mem.h"
#include "pythia/probe_rules.h"
#include "pythia/status.h"

#define TOPICS  "kernel is a list of waits, block_io, page_faults, system_calls and retransmits"
#define MEMBERS "service, provider, programs, points, include and layer"
#define HEAD    "service: shop\nprovider: p\nprograms: [/bin/a, /bin/b]\npoints:\n"

static int parse(const char *text, struct pythia_probe_rules *out, struct pythia_error *e)
{
    *e = (struct pythia_error){0};
    return pythia_probe_rules_parse("rules", text, strlen(text), out, e);
}

static void points_are_read_with_their_probes_and_keys(void **state)
{
    struct pythia_probe_rules rules;
    struct pythia_error e;
    assert_int_equal(parse(HEAD "  sell: {request: true, type: text,\n"
                                "         keys: {text: start 2 text, n: done 12}}\n"
                                "  wait: {start: wait__begin, done: wait__end, request: false}\n"
                                "  plain: {}\n",
                           &rules, &e),
                     PYTHIA_OK);
    assert_string_equal(rules.service, "shop");
    assert_string_equal(rules.provider, "p");
    assert_int_equal(rules.program_count, 2);
    assert_string_equal(rules.programs[1], "/bin/b");
    assert_int_equal(rules.point_count, 3);
    const struct pythia_probe_point *sell = &rules.points[0], *wait = &rules.points[1];
    assert_string_equal(sell->probes[0], "sell__start");
    assert_string_equal(sell->probes[1], "sell__done");
    assert_true(sell->request);
    assert_int_equal(sell->type, 0);
    assert_int_equal(sell->key_count, 2);
    assert_int_equal(sell->keys[0].argument, 1);
    assert_true(sell->keys[0].text && !sell->keys[0].done);
    assert_string_equal(sell->keys[1].name, "n");
    assert_int_equal(sell->keys[1].argument, 11);
    assert_true(!sell->keys[1].text && sell->keys[1].done);
    assert_string_equal(wait->probes[0], "wait__begin");
    assert_string_equal(wait->probes[1], "wait__end");
    assert_false(wait->request);
    assert_int_equal(wait->type, -1);
    pythia_probe_rules_free(&rules);
}

static void functions_are_points_from_call_to_return(void **state)
{
    struct pythia_probe_rules rules;
    struct pythia_error e;
    assert_int_equal(parse("service: shop\nprograms: [/bin/a]\npoints:\n"
                           "  sell: {function: shop_sell, keys: {n: start 2 int, made: done 1}}\n",
                           &rules, &e),
                     PYTHIA_OK);
    assert_null(rules.provider);
    assert_string_equal(rules.points[0].provider, "function");
    assert_string_equal(rules.points[0].probes[0], "shop_sell");
    assert_string_equal(rules.points[0].probes[1], "shop_sell%return");
    assert_true(rules.points[0].keys[0].is_int && !rules.points[0].keys[0].text);
    assert_false(rules.points[0].keys[1].is_int);
    pythia_probe_rules_free(&rules);
}

static void arguments_of_functions_may_be_named(void **state)
{
    struct pythia_probe_rules rules;
    struct pythia_error e = {0};
    assert_int_equal(parse("service: s\nprograms: [/bin/a]\npoints:\n"
                           "  sell: {function: shop_sell, keys: {id: start order_id, n: start 2, "
                           "t: start title text}}\n",
                           &rules, &e),
                     PYTHIA_OK);
    assert_true(rules.points[0].has_names);
    assert_string_equal(rules.points[0].keys[0].argument_name, "order_id");
    assert_int_equal(rules.points[0].keys[0].argument, PYTHIA_PROBE_ARGUMENT_NAMED);
    assert_string_equal(rules.points[0].keys[2].argument_name, "title");
    assert_true(rules.points[0].keys[2].text && !rules.points[0].keys[0].text);
    assert_null(rules.points[0].keys[1].argument_name);
    assert_int_equal(rules.points[0].keys[1].argument, 1);
    pythia_probe_rules_free(&rules);
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    fclose(file);
}

#define FOLDER "/tmp/probe_rules.XXXXXX" /* for mkdtemp */

/* A folder, and the paths of a file in it and of one that the file includes, 64 bytes each. */
static void make_pair(char *folder, char *outer, char *inner)
{
    assert_non_null(mkdtemp(folder));
    snprintf(outer, 64, "%s/outer", folder);
    snprintf(inner, 64, "%s/inner", folder);
}

/* Each file keeps its provider, wherever the include stands; the service is of the first. */
static void the_points_of_included_files_are_added(void **state)
{
    char folder[] = FOLDER, outer[64], inner[64];
    struct pythia_probe_rules rules;
    struct pythia_error e = {0};
    make_pair(folder, outer, inner);
    write_text(inner, "service: b\nprovider: q\nprograms: [/bin/b]\npoints: {two: {}}\n");
    write_text(outer, "service: a\nprograms: [/bin/a]\npoints: {one: {}}\n"
                      "include: [inner]\nprovider: p\n");
    assert_int_equal(pythia_probe_rules_read(outer, &rules, &e), PYTHIA_OK);
    assert_string_equal(rules.service, "a");
    assert_int_equal(rules.program_count, 2);
    assert_string_equal(rules.programs[1], "/bin/b");
    assert_int_equal(rules.point_count, 2);
    assert_string_equal(rules.points[0].provider, "p");
    assert_string_equal(rules.points[1].name, "two");
    assert_string_equal(rules.points[1].provider, "q");
    pythia_probe_rules_free(&rules);
    write_text(inner, "service: b\nprovider: q\nprograms: [/bin/b]\npoints:\n  one: {}\n");
    assert_int_equal(pythia_probe_rules_read(outer, &rules, &e), PYTHIA_EFORMAT);
    assert_string_equal(e.sentence, "two points have this name");
    assert_string_equal(e.source, inner);
    assert_int_equal(e.line, 5);
    pythia_error_clear(&e);
    write_text(inner, "include: [outer]\n");
    assert_int_equal(pythia_probe_rules_read(outer, &rules, &e), PYTHIA_EFORMAT);
    assert_string_equal(e.sentence, "a file that is included includes no other");
    pythia_error_clear(&e);
    unlink(inner);
    assert_int_equal(pythia_probe_rules_read(outer, &rules, &e), PYTHIA_EIO);
    assert_non_null(strstr(e.sentence, "inner: No such file"));
    assert_string_equal(e.source, outer);
    assert_int_equal(e.line, 4);
    unlink(outer);
    rmdir(folder);
}

/* Those that are installed, and what they are for. */
static void the_ready_rules_are_read(void **state)
{
    static const struct {
        const char *file, *request, *begin;
    } rows[] = {
        {"postgresql", "query", "query__start"},
        {"mariadb", "query", "_Z16dispatch_command19enum_server_commandP3THDPcjb"},
        {"own", "request", "handle_request"},
        {"glibc", NULL, NULL}, /* for rules that include it */
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char path[512];
        struct pythia_probe_rules rules;
        struct pythia_error e = {0};
        size_t requests = 0;
        snprintf(path, sizeof(path), "%s/../adapters/controls/probe/rules/%s.yaml", PYTHIA_TESTS,
                 rows[i].file);
        if (pythia_probe_rules_read(path, &rules, &e) != PYTHIA_OK)
            fail_msg("%s: %s", path, e.sentence);
        for (size_t k = 0; k < rules.point_count; k++)
            if (rules.points[k].request && ++requests) {
                assert_string_equal(rules.points[k].name, rows[i].request);
                assert_string_equal(rules.points[k].probes[0], rows[i].begin);
            }
        assert_int_equal(requests, rows[i].request != NULL);
        pythia_probe_rules_free(&rules);
    }
}

static void topics_of_the_kernel_are_read(void **state)
{
    static const char text[] = HEAD "  a: {kernel: [block_io, waits]}\n  b: {kernel: []}\n";
    struct pythia_probe_rules rules;
    struct pythia_error e = {0};
    assert_int_equal(pythia_probe_rules_parse("r", text, sizeof(text) - 1, &rules, &e), PYTHIA_OK);
    assert_int_equal(rules.points[0].kernel_events,
                     1u << PYTHIA_KERNEL_SWITCH_OUT | 1u << PYTHIA_KERNEL_SWITCH_IN |
                         1u << PYTHIA_KERNEL_WAKING | 1u << PYTHIA_KERNEL_SYSTEM_CALL |
                         1u << PYTHIA_KERNEL_SYSTEM_RETURN | 1u << PYTHIA_KERNEL_BLOCK_ISSUE);
    assert_int_equal(rules.points[0].kernel_sums, (1u << (PYTHIA_KERNEL_BLOCK_BYTES + 1)) - 1);
    assert_int_equal(rules.points[1].kernel_events, 0);
    pythia_probe_rules_free(&rules);
}

/* A file says it of its own points, in whatever order; a wait is the kernel's in any file. */
static void layers_and_waits_are_read(void **state)
{
    char folder[] = FOLDER, outer[64], inner[64];
    struct pythia_probe_rules rules;
    struct pythia_error e = {0};
    make_pair(folder, outer, inner);
    write_text(inner, "points: {two: {function: f}, off: {wait: block_io}}\nlayer: library\n");
    write_text(outer, "service: a\nprograms: [/bin/a]\ninclude: [inner]\nprovider: p\n"
                      "points: {one: {}, ready: {wait: run_queue}}\n");
    assert_int_equal(pythia_probe_rules_read(outer, &rules, &e), PYTHIA_OK);
    assert_int_equal(rules.point_count, 4);
    assert_int_equal(rules.points[0].layer, PYTHIA_LAYER_LIBRARY);
    assert_false(rules.points[0].is_wait);
    assert_int_equal(rules.points[1].layer, PYTHIA_LAYER_KERNEL);
    assert_true(rules.points[1].is_wait);
    assert_int_equal(rules.points[1].wait, PYTHIA_KERNEL_BLOCK_IO_NS);
    assert_int_equal(rules.points[1].kernel_events,
                     1u << PYTHIA_KERNEL_SWITCH_OUT | 1u << PYTHIA_KERNEL_SWITCH_IN |
                         1u << PYTHIA_KERNEL_WAKING | 1u << PYTHIA_KERNEL_SYSTEM_CALL |
                         1u << PYTHIA_KERNEL_SYSTEM_RETURN);
    assert_int_equal(rules.points[2].layer, PYTHIA_LAYER_APPLICATION);
    assert_int_equal(rules.points[3].wait, PYTHIA_KERNEL_RUN_QUEUE_NS);
    pythia_probe_rules_free(&rules);
    write_text(
        outer,
        "service: a\nprograms: [/bin/a]\npoints: {one: {function: f}}\ninclude: [" PYTHIA_TESTS
        "/../adapters/controls/probe/rules/kernel.yaml]\n");
    assert_int_equal(pythia_probe_rules_read(outer, &rules, &e), PYTHIA_OK);
    assert_int_equal(rules.point_count, 1 + PYTHIA_KERNEL_WAITS); /* one for each */
    pythia_probe_rules_free(&rules);
    unlink(inner);
    unlink(outer);
    rmdir(folder);
}

static void what_is_wrong_is_named_with_its_line(void **state)
{
    const struct {
        const char *text, *sentence;
        uint64_t line;
    } rows[] = {
        {"", "the file is empty", 1},
        {"a: [", "invalid YAML: did not find expected node content", 2},
        {"- a", "a map of names to values is expected", 1},
        {"service: a\nother: b\n", "rules have " MEMBERS, 2},
        {"service: a\n", "rules have " MEMBERS, 1},
        {"service: [a]\n", "a text of 1 to 120 bytes is expected (of a path, to 4095)", 1},
        {"service: \"\"\n", "a text of 1 to 120 bytes is expected (of a path, to 4095)", 1},
        {"service: \"a\\n\"\n", "a text has bytes that are not printable ASCII", 1},
        {"programs: /bin/a\n", "programs is a list of paths", 1},
        {HEAD "  a: {request: maybe}\n", "request is true or false", 5},
        {HEAD "  a: {begin: x}\n",
         "a point has start, done, function, request, type, keys, kernel, only and wait", 5},
        {HEAD "  a: {wait: disk}\n",
         "a wait is run_queue, block_io, futex, network, poll, sleep or other", 5},
        {HEAD "  a: {wait: futex, request: true}\n", "a wait has no probes, and no other members",
         5},
        {HEAD "  a: {start: x, wait: futex}\n", "a wait has no probes, and no other members", 5},
        {HEAD "  a: {wait: futex}\n  b: {wait: futex}\n", "two points are the same wait", 1},
        {HEAD "  a: {}\nlayer: Kernel\n", "a layer is application, library, runtime or kernel", 6},
        {HEAD "  a: {kernel: waits}\n", TOPICS, 5},
        {HEAD "  a: {kernel: [waits, wait]}\n", TOPICS, 5},
        {HEAD "  a: {keys: [x]}\n", "a map of names to values is expected", 5},
        {HEAD "  a: {keys: {k: start}}\n",
         "a key is 'start N' or 'done N', the number of an argument, and 'text' or 'int' after it "
         "if it is one; or 'start NAME', an argument of a function",
         5},
        {HEAD "  a: {keys: {k: start 0}}\n",
         "a key is 'start N' or 'done N', the number of an argument, and 'text' or 'int' after it "
         "if it is one; or 'start NAME', an argument of a function",
         5},
        {HEAD "  a: {keys: {k: start 13}}\n",
         "a key is 'start N' or 'done N', the number of an argument, and 'text' or 'int' after it "
         "if it is one; or 'start NAME', an argument of a function",
         5},
        {HEAD "  a: {keys: {k: start 1 number}}\n",
         "a key is 'start N' or 'done N', the number of an argument, and 'text' or 'int' after it "
         "if it is one; or 'start NAME', an argument of a function",
         5},
        {HEAD "  a: {request: true, type: k, keys: {k: start 1}}\n",
         "a type is a key of a request, and a text of the probe that begins it", 5},
        {HEAD "  a: {request: true, type: k, keys: {k: done 1 text}}\n",
         "a type is a key of a request, and a text of the probe that begins it", 5},
        {HEAD "  a: {type: k, keys: {k: start 1 text}}\n",
         "a type is a key of a request, and a text of the probe that begins it", 5},
        {HEAD "  a: {keys: {k: start id}}\n",
         "arguments of functions have names, those of probes do not", 5},
        {HEAD "  a: {function: f, keys: {k: done id}}\n",
         "a key is 'start N' or 'done N', the number of an argument, and 'text' or 'int' after it "
         "if it is one; or 'start NAME', an argument of a function",
         5},
        {HEAD "  a: {function: f, done: g}\n", "a point has either a function or start and done",
         5},
        {HEAD "  a: {}\n  b: {start: a__done}\n", "two points have a probe in common", 1},
        {HEAD "  a: {start: x, done: x}\n", "two points have a probe in common", 1},
        {HEAD "  a: {}\n  a: {}\n", "two points have this name", 6},
        {HEAD "  a: {only: {k: x}, keys: {k: start 1}}\n",
         "'only' names a key that is a text of the probe that begins it", 5},
        {HEAD "  a: {function: f, only: {k: x}, keys: {k: start 1 text}}\n",
         "'only' is for points with start and done", 5},
        {HEAD "  a: {}\ninclude: glibc.yaml\n", "include is a list of files", 6},
        {"service: a\nprograms: [/bin/a]\npoints: {a: {}}\n",
         "points that are no functions need a provider", 1},
        {HEAD "  a: {keys: {a: start 1, b: start 1, c: start 1, d: start 1, e: start 1, "
              "f: start 1, g: start 1, h: start 1, i: start 1}}\n",
         "a point has more than 8 keys", 5},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct pythia_probe_rules rules = {.point_count = 77};
        struct pythia_error e;
        assert_int_equal(parse(rows[i].text, &rules, &e), PYTHIA_EFORMAT);
        assert_string_equal(e.sentence, rows[i].sentence);
        assert_int_equal(e.line, rows[i].line);
        assert_int_equal(rules.point_count, 77);
    }
}

/* A billion laughs: what stands behind an alias is looked at once, and is not what is expected. */
static void aliases_do_not_multiply(void **state)
{
    struct pythia_probe_rules rules;
    struct pythia_error e;
    assert_int_equal(
        parse("service: &a [x, x]\nprovider: &b [*a, *a, *a]\npoints: [*b, *b, *b]\n", &rules, &e),
        PYTHIA_EFORMAT);
}

static void each_failed_allocation_is_reported(void **state)
{
    static const char text[] = HEAD "  sell: {request: true, keys: {text: start 2 text}}\n";
    struct pythia_probe_rules rules;
    int status = PYTHIA_ENOMEM;
    for (long let = 0; status == PYTHIA_ENOMEM; let++) {
        struct pythia_error e = {0};
        pythia_mem_fail_after(let);
        status = pythia_probe_rules_parse("rules", text, sizeof(text) - 1, &rules, &e);
        pythia_mem_fail_after(-1);
        assert_true(let < 50);
    }
    assert_int_equal(status, PYTHIA_OK);
    pythia_probe_rules_free(&rules);
}

static void a_file_that_is_not_there_is_named(void **state)
{
    struct pythia_probe_rules rules;
    struct pythia_error e = {0};
    assert_int_equal(pythia_probe_rules_read("/nowhere/rules", &rules, &e), PYTHIA_EIO);
    assert_string_equal(e.sentence, "/nowhere/rules: No such file or directory");
}

static void the_rules_of_postgresql_are_sound(void **state)
{
    struct pythia_probe_rules rules;
    struct pythia_error e = {0};
    int status = pythia_probe_rules_read(
        PYTHIA_TESTS "/../adapters/controls/probe/rules/postgresql.yaml", &rules, &e);
    if (status != PYTHIA_OK)
        fail_msg("%llu: %s", (unsigned long long)e.line, e.sentence);
    assert_string_equal(rules.points[0].name, "query");
    assert_true(rules.points[0].request);
    pythia_probe_rules_free(&rules);
}

/* Events have no programs, and their fields have names. */
static void events_have_fields_with_names(void **state)
{
    static const char good[] =
        "service: shop\nprovider: p\npoints:\n"
        "  a: {request: true, keys: {n: start 2 real, b: done field text, c: done x}}\n";
    static const struct {
        const char *text, *sentence;
    } bad[] = {
        {"service: s\nprovider: p\npoints:\n  a: {keys: {k: start x number}}\n",
         "a key is 'start FIELD' or 'done FIELD', the name or the number of a field, and 'text', "
         "'int' or 'real' after it if it is one"},
        {"provider: p\npoints:\n  a: {}\n", "rules have " MEMBERS},
    };
    struct pythia_probe_rules rules;
    struct pythia_error e = {0};
    assert_int_equal(pythia_event_rules_parse("rules", good, sizeof(good) - 1, &rules, &e),
                     PYTHIA_OK);
    const struct pythia_probe_key *keys = rules.points[0].keys;
    assert_int_equal(rules.points[0].key_count, 3);
    assert_true(keys[0].is_real && !keys[0].done && keys[0].argument == 1);
    assert_true(keys[1].text && keys[1].done);
    assert_string_equal(keys[1].argument_name, "field");
    assert_true(!keys[2].text && !keys[2].is_real && keys[2].done);
    assert_string_equal(keys[2].argument_name, "x");
    pythia_probe_rules_free(&rules);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        pythia_error_clear(&e);
        assert_int_equal(
            pythia_event_rules_parse("rules", bad[i].text, strlen(bad[i].text), &rules, &e),
            PYTHIA_EFORMAT);
        assert_string_equal(e.sentence, bad[i].sentence);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_are_read_with_their_probes_and_keys),
        cmocka_unit_test(functions_are_points_from_call_to_return),
        cmocka_unit_test(arguments_of_functions_may_be_named),
        cmocka_unit_test(the_ready_rules_are_read),
        cmocka_unit_test(the_points_of_included_files_are_added),
        cmocka_unit_test(topics_of_the_kernel_are_read),
        cmocka_unit_test(layers_and_waits_are_read),
        cmocka_unit_test(what_is_wrong_is_named_with_its_line),
        cmocka_unit_test(events_have_fields_with_names),
        cmocka_unit_test(aliases_do_not_multiply),
        cmocka_unit_test(each_failed_allocation_is_reported),
        cmocka_unit_test(a_file_that_is_not_there_is_named),
        cmocka_unit_test(the_rules_of_postgresql_are_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
