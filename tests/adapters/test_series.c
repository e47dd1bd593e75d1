/* Series, and the rows of CSV that they come from. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "pythia/buf.h"
#include "pythia/mem.h"
#include "pythia/series.h"
#include "pythia/status.h"

#define HEADING "Timepoint,Measurement,Label,PID\n"

static struct pythia_series_set *set;
static struct pythia_series_csv csv;
static struct pythia_buf problems;

static void on_broken(void *context, const struct pythia_error *why)
{
    char text[512];
    pythia_buf_printf(&problems, "%s\n", pythia_error_text(why, text, sizeof(text)));
}

static int begin(void **state)
{
    csv = (struct pythia_series_csv){.broken = on_broken};
    return pythia_series_set_create(&csv.to);
}

static int end(void **state)
{
    pythia_series_set_destroy(csv.to);
    pythia_buf_free(&problems);
    return 0;
}

static int read_more(const char *text, size_t size, bool unfinished)
{
    return pythia_series_csv_read(&csv, "f.csv", (struct pythia_text){text, size}, unfinished);
}

static void read_text(const char *text)
{
    assert_int_equal(read_more(text, strlen(text), false), PYTHIA_OK);
    assert_int_equal(pythia_series_set_finish(csv.to), PYTHIA_OK);
    set = csv.to;
}

static void assert_problems(const char *expected)
{
    assert_string_equal(problems.bytes ? problems.bytes : "", expected);
}

static const struct pythia_series *all_of(const char *label)
{
    size_t count;
    const struct pythia_series *all = pythia_series_all(set, &count);
    for (size_t i = 0; i < count; i++)
        if (pythia_text_equal(all[i].label, pythia_text_of(label)))
            return &all[i];
    fail_msg("there is no series %s", label);
    return NULL;
}

static void files_of_quantumleap(void **state)
{
    /* as its documentation has the heading, and as its code writes it, with CR LF */
    read_text("Timepoint, Measurement, Label, PID\n"
              "1630000000000000001, 0.0043, /v2/notify [POST], 17\n");
    assert_int_equal(all_of("/v2/notify [POST]")->count, 1);
    assert_rel_equal(all_of("/v2/notify [POST]")->points[0].value, .0043, 0);
    assert_true(all_of("/v2/notify [POST]")->points[0].time_ns == UINT64_C(1630000000000000001));
    end(state);
    begin(state);
    read_text("Timepoint,Measurement,Label,PID\r\n"
              "1630000000000000001,0.0043,\"db, \"\"main\"\"\",17\r\n"
              "1630000000000000002,1e-05,\"db, \"\"main\"\"\",18\r\n"
              "1630000000000000003,-3.5E+2,plain,18\r\n");
    const struct pythia_series *db = all_of("db, \"main\"");
    assert_int_equal(db->count, 2);
    assert_int_equal(db->processes, 2);
    assert_true(db->process == PYTHIA_SERIES_ALL);
    assert_rel_equal(db->points[1].value, 1e-5, 0);
    assert_rel_equal(all_of("plain")->points[0].value, -350, 0);
    assert_int_equal(csv.counts.rows, 3);
    assert_problems("");
}

static void what_is_broken_is_told_with_its_line(void **state)
{
    read_text(HEADING "1,2,a,3\n"
                      "x,2,a,3\n"
                      "1,two,a,3\n"
                      "1,2,a\n"
                      "1,2,a,3,4\n"
                      "1,nan,a,3\n"
                      "1,inf,a,3\n"
                      "1,0x10,a,3\n"
                      "1,,a,3\n"
                      "1,2,a,-3\n"
                      "1,2,a,4294967296\n"
                      "9223372036854775808,2,a,3\n"
                      "\n"
                      "\"1\",2,a,3\n"
                      "1,2,\"a\"b,3\n"
                      "4,2,\"two\nlines\",3\n"
                      "1,1e999,a,3\n"
                      "5,7,a,3");
    assert_problems("f.csv:3: the time point is not a number of nanoseconds (byte 40)\n"
                    "f.csv:4: the measurement is not a number (byte 48)\n"
                    "f.csv:5: has fewer fields than 4 (byte 58)\n"
                    "f.csv:6: has more fields than 4 (byte 64)\n"
                    "f.csv:7: the measurement is not finite (byte 74)\n"
                    "f.csv:8: the measurement is not finite (byte 84)\n"
                    "f.csv:9: the measurement is not a number (byte 94)\n"
                    "f.csv:10: the measurement is not a number (byte 105)\n"
                    "f.csv:11: the PID is not a number (byte 112)\n"
                    "f.csv:12: the PID is not a number (byte 121)\n"
                    "f.csv:13: the time point is not a number of nanoseconds (byte 138)\n"
                    "f.csv:15: a number is quoted (byte 165)\n"
                    "f.csv:16: there is something behind the closing quote of a field (byte 175)\n"
                    "f.csv:19: the measurement is not finite (byte 204)\n");
    assert_int_equal(csv.counts.rows, 3);
    assert_int_equal(csv.counts.broken, 14);
    assert_int_equal(all_of("a")->count, 2);
    assert_int_equal(all_of("two\nlines")->count, 1);
}

/* A quote that nobody closes costs its own row, not the rest of the file. */
static void an_open_quote_costs_one_row(void **state)
{
    struct pythia_buf text = {0};
    pythia_buf_puts(&text, HEADING "1,2,\"open,3\n");
    for (int i = 0; i < 1000; i++)
        pythia_buf_printf(&text, "%d,2,a,3\n", i);
    read_text(text.bytes);
    pythia_buf_free(&text);
    assert_problems("f.csv:2: a quoted field has more than 4096 bytes: is its quote closed? (byte "
                    "32)\n");
    assert_int_equal(all_of("a")->count, 1000);
    end(state);
    begin(state);
    read_text(HEADING "1,2,\"open,3\n4,5,a,6\n");
    assert_problems(
        "f.csv:2: the end of the file comes before the end of a quoted field (byte 32)\n");
    assert_int_equal(all_of("a")->count, 1);
}

static void what_is_no_such_file(void **state)
{
    static const char *const texts[] = {"",
                                        "\n",
                                        "a,b,c,d\n1,2,x,3\n",
                                        "Timepoint,Measurement,Label\n",
                                        "\"Timepoint",
                                        "Timepoint,Measurement,Label,PID,Host\n"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        assert_int_equal(read_more(texts[i], strlen(texts[i]), false), PYTHIA_EFORMAT);
    assert_int_equal(csv.counts.rows + csv.counts.broken, 0);
    assert_memory_equal(problems.bytes,
                        "f.csv:1: does not begin with Timepoint,Measurement,Label,PID (byte 0)\n",
                        69);
    read_text("\xef\xbb\xbf" HEADING "1,2,bom,3\n");
    assert_int_equal(all_of("bom")->count, 1);
}

static void a_file_of_a_killed_process(void **state)
{
    static const char text[] = HEADING "1,2,a,3\n2,4,a,3\n3,61728";
    assert_int_equal(read_more(text, sizeof(text) - 1, true), PYTHIA_OK);
    assert_int_equal(csv.counts.rows, 2); /* the last one may have been cut in its number */
    assert_int_equal(csv.counts.cut, 1);
    assert_int_equal(csv.counts.broken, 0);
    static const char whole[] = HEADING "3,6,a,3";
    assert_int_equal(read_more(whole, sizeof(whole) - 1, true), PYTHIA_OK);
    assert_int_equal(csv.counts.rows, 2); /* "3" may have been the beginning of 34 */
    assert_int_equal(csv.counts.cut, 2);
}

static void hostile_names(void **state)
{
    static const char text[] = HEADING "1,2,\xff\xfe,3\n1,2,a\0b,3\n1,2,,3\n1,2,\" \",3\n";
    assert_int_equal(read_more(text, sizeof(text) - 1, false), PYTHIA_OK);
    assert_int_equal(pythia_series_set_finish(csv.to), PYTHIA_OK);
    set = csv.to;
    all_of("\xef\xbf\xbd\xef\xbf\xbd");
    all_of("a\xef\xbf\xbd"
           "b");
    all_of("");
    all_of(" ");
    struct pythia_buf longest = {0};
    pythia_buf_puts(&longest, HEADING "1,2,");
    for (int i = 0; i < 4097; i++)
        pythia_buf_putc(&longest, 'x');
    pythia_buf_puts(&longest, ",3\n");
    assert_int_equal(read_more(longest.bytes, longest.size, false), PYTHIA_OK);
    pythia_buf_free(&longest);
    assert_problems("f.csv:2: the label has more than 4096 bytes (byte 32)\n");
}

static void clocks_that_step_back_are_counted(void **state)
{
    read_text(HEADING "5000000000,1,a,3\n"
                      "4500000000,2,a,3\n" /* of another thread */
                      "9000000000,3,a,3\n"
                      "7000000000,4,a,3\n" /* a step */
                      "7100000000,5,a,3\n"
                      "1000000000,6,b,3\n"   /* another series */
                      "1000000000,7,a,4\n"); /* another process */
    assert_int_equal(csv.counts.back, 1);
    const struct pythia_series *a = all_of("a");
    static const double in_order[] = {7, 2, 1, 4, 5, 3};
    assert_int_equal(a->count, 6);
    for (size_t i = 0; i < 6; i++)
        assert_rel_equal(a->points[i].value, in_order[i], 0);
}

static void the_order_of_rows_does_not_matter(void **state)
{
    read_text(HEADING "3,1,b,2\n1,5,a,9\n1,4,a,9\n2,2,a,1\n");
    size_t each, all;
    const struct pythia_series *one = pythia_series_each(set, &each);
    pythia_series_all(set, &all);
    assert_int_equal(each, 3);
    assert_int_equal(all, 2);
    assert_true(one[0].process == 1 && one[1].process == 9 && one[2].process == 2);
    const struct pythia_series *a = all_of("a");
    assert_rel_equal(a->points[0].value, 4, 0);
    assert_rel_equal(a->points[1].value, 5, 0);
    assert_rel_equal(a->points[2].value, 2, 0);
    assert_int_equal(a->processes, 2);
}

static void the_last_value_before(void **state)
{
    read_text(HEADING "10,1,a,1\n20,2,a,1\n20,3,a,1\n30,4,a,1\n");
    const struct pythia_series *a = all_of("a");
    assert_null(pythia_series_as_of(a, 9, 100));
    assert_rel_equal(pythia_series_as_of(a, 10, 100)->value, 1, 0);
    assert_rel_equal(pythia_series_as_of(a, 19, 100)->value, 1, 0);
    assert_rel_equal(pythia_series_as_of(a, 20, 100)->value, 3, 0);
    assert_rel_equal(pythia_series_as_of(a, 1000, 970)->value, 4, 0);
    assert_null(pythia_series_as_of(a, 1000, 969));
}

/* Each allocation fails in turn: nothing is lost but the answer. */
static void without_memory(void **state)
{
    static const char text[] = HEADING "1,2,a,3\n1,2,b,3\n1,2,a,4\n";
    for (long n = 0;; n++) {
        struct pythia_series_set *s = NULL;
        struct pythia_series_csv one = {.broken = on_broken};
        pythia_mem_fail_after(n);
        int status = pythia_series_set_create(&s);
        one.to = s;
        if (status == PYTHIA_OK)
            status =
                pythia_series_csv_read(&one, "f", PYTHIA_TEXT(HEADING "1,2,a,3\n1,2,b,3\n"), false);
        if (status == PYTHIA_OK)
            status = pythia_series_set_finish(s);
        pythia_mem_fail_after(-1);
        pythia_series_set_destroy(s);
        if (status == PYTHIA_OK) {
            assert_true(n > 5);
            break;
        }
        assert_int_equal(status, PYTHIA_ENOMEM);
    }
    assert_int_equal(read_more(text, sizeof(text) - 1, false), PYTHIA_OK);
}

#define STATS "node1\n42\n3\n"

/* Each sample is a point of five series, of the process that the head names. */
static void system_statistics_are_series(void **state)
{
    static const char text[] = STATS "100.000000001,12.5,40,1.5,1.25,1\n"
                                     "101.000000001, 13.5, 41, 2.5, 2.25, 2\n";
    static const struct {
        const char *label;
        double first, second;
    } wanted[] = {{"cpu %", 12.5, 13.5},
                  {"load 15m", 1, 2},
                  {"load 1m", 1.5, 2.5},
                  {"load 5m", 1.25, 2.25},
                  {"memory %", 40, 41}};
    size_t count;
    assert_int_equal(pythia_series_read(&csv, "s", pythia_text_of(text), false), PYTHIA_OK);
    assert_int_equal(csv.counts.rows, 10);
    assert_int_equal(csv.counts.broken, 0);
    assert_int_equal(pythia_series_set_finish(csv.to), PYTHIA_OK);
    const struct pythia_series *each = pythia_series_each(csv.to, &count);
    assert_int_equal(count, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_string_equal(each[i].label.bytes, wanted[i].label);
        assert_int_equal(each[i].process, 42);
        assert_int_equal(each[i].points[0].time_ns, 100000000001);
        assert_rel_equal(each[i].points[0].value, wanted[i].first, 0);
        assert_rel_equal(each[i].points[1].value, wanted[i].second, 0);
    }
}

static void a_broken_sample_costs_itself_alone(void **state)
{
    static const char *const samples[] = {"1,2,3,4,5",     "1,2,3,4,5,6,7", "x,2,3,4,5,6",
                                          "1,2,3,4,5,nan", "1,2,3,,5,6",    "9223372037,2,3,4,5,6"};
    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
        char text[128];
        snprintf(text, sizeof(text), STATS "%s\n1,2,3,4,5,6\n", samples[i]);
        assert_int_equal(pythia_series_read(&csv, "s", pythia_text_of(text), false), PYTHIA_OK);
        assert_int_equal(csv.counts.rows, 5 * (i + 1));
        assert_int_equal(csv.counts.broken, i + 1);
    }
}

/* As mochi-margo writes it: lists of one time, whose process only the name of the file tells. */
static void time_series_of_margo_are_series(void **state)
{
    static const char text[] =
        "{\"address\":\"na+sm://1\",\"rpcs\":{\"yokan_put:1\":{\"timestamps\":[100.5,101.5],"
        "\"count\":[3,4],\"bulk_size\":[1024,0]}},\"pools\":{\"__primary__\":{\"timestamps\":"
        "[100.25],\"size\":[7],\"total_size\":[9]}}}";
    static const struct {
        const char *label;
        size_t points;
        uint64_t time_ns;
        double first;
    } wanted[] = {{"pool __primary__ size", 1, 100250000000, 7},
                  {"pool __primary__ total_size", 1, 100250000000, 9},
                  {"rpc yokan_put:1 bulk_size", 2, 100500000000, 1024},
                  {"rpc yokan_put:1 count", 2, 100500000000, 3}};
    size_t count;
    assert_int_equal(pythia_series_read(&csv, "/tmp/margo.node-1.io.4711.series.json",
                                        pythia_text_of(text), false),
                     PYTHIA_OK);
    assert_int_equal(csv.counts.rows, 6);
    assert_int_equal(csv.counts.broken, 0);
    assert_int_equal(pythia_series_set_finish(csv.to), PYTHIA_OK);
    const struct pythia_series *each = pythia_series_each(csv.to, &count);
    assert_int_equal(count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(each[i].label.bytes, wanted[i].label);
        assert_int_equal(each[i].process, 4711);
        assert_int_equal(each[i].count, wanted[i].points);
        assert_int_equal(each[i].points[0].time_ns, wanted[i].time_ns);
        assert_rel_equal(each[i].points[0].value, wanted[i].first, 0);
    }
}

/* Rows that are read, and broken ones. */
static void what_is_wrong_in_margo_s_lists_is_counted(void **state)
{
    static const struct {
        const char *pool;
        uint64_t rows, broken;
    } wrong[] = {{"{\"timestamps\":[1,2,3],\"size\":[1]}", 1, 2},
                 {"{\"timestamps\":[1],\"size\":[1,2]}", 1, 1},
                 {"{\"timestamps\":[1,\"x\",-3],\"size\":[1,2,3]}", 1, 2},
                 {"{\"timestamps\":[1e10,2],\"size\":[1,null]}", 0, 2},
                 {"{\"size\":[1,2]}", 0, 1},
                 {"7", 0, 1},
                 {"{\"timestamps\":[1],\"size\":7}", 0, 0}};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct pythia_series_csv_counts before = csv.counts;
        char text[256];
        snprintf(text, sizeof(text), "{\"rpcs\":{},\"pools\":{\"p\":%s}}", wrong[i].pool);
        assert_int_equal(pythia_series_read(&csv, "m", pythia_text_of(text), false), PYTHIA_OK);
        assert_int_equal(csv.counts.rows - before.rows, wrong[i].rows);
        assert_int_equal(csv.counts.broken - before.broken, wrong[i].broken);
    }
    /* RPCs that margo has no name for. */
    static const char unknown[] = "{\"rpcs\":{\"<unknown>\":{\"timestamps\":[1],\"count\":[2]},"
                                  "\"<unknown>\":{\"timestamps\":[1,2],\"count\":[3,4]}}}";
    struct pythia_series_csv_counts before = csv.counts;
    assert_int_equal(pythia_series_read(&csv, "m", pythia_text_of(unknown), false), PYTHIA_OK);
    assert_int_equal(csv.counts.rows - before.rows, 2);
    assert_int_equal(csv.counts.broken - before.broken, 1);
    static const char *const others[] = {"{", "{}", "{\"rpcs\":3}", "{\"rpcs\":{}"};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        assert_int_equal(pythia_series_read(&csv, "m", pythia_text_of(others[i]), false),
                         PYTHIA_EFORMAT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(files_of_quantumleap, begin, end),
        cmocka_unit_test_setup_teardown(what_is_broken_is_told_with_its_line, begin, end),
        cmocka_unit_test_setup_teardown(an_open_quote_costs_one_row, begin, end),
        cmocka_unit_test_setup_teardown(what_is_no_such_file, begin, end),
        cmocka_unit_test_setup_teardown(a_file_of_a_killed_process, begin, end),
        cmocka_unit_test_setup_teardown(hostile_names, begin, end),
        cmocka_unit_test_setup_teardown(clocks_that_step_back_are_counted, begin, end),
        cmocka_unit_test_setup_teardown(the_order_of_rows_does_not_matter, begin, end),
        cmocka_unit_test_setup_teardown(the_last_value_before, begin, end),
        cmocka_unit_test_setup_teardown(without_memory, begin, end),
        cmocka_unit_test_setup_teardown(system_statistics_are_series, begin, end),
        cmocka_unit_test_setup_teardown(a_broken_sample_costs_itself_alone, begin, end),
        cmocka_unit_test_setup_teardown(time_series_of_margo_are_series, begin, end),
        cmocka_unit_test_setup_teardown(what_is_wrong_in_margo_s_lists_is_counted, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
