#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "check.h"
#include "pythia/history_file.h"
#include "pythia/mem.h"
#include "pythia/status.h"

static const char rows[] = "{\"schema\":\"pythia.history/1\",\"trace_points\":["
                           "[\"api:GET\",1,0,0],[\"db:SELECT\",2,750000000,1],[\"\xc3\xa9\\\"\",1,"
                           "1000000000,1]]}\n";

static struct pythia_history *make(void)
{
    struct pythia_history *h = NULL;
    assert_int_equal(pythia_history_create(&h), PYTHIA_OK);
    return h;
}

/* Read what is in a text, by way of a file called "history". */
static int read_text(const char *text, struct pythia_history **out, struct pythia_error *e)
{
    FILE *file = fopen("history", "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
    int status = pythia_history_file_read("history", out, e);
    unlink("history");
    return status;
}

static void assert_written(const struct pythia_history *h, const char *text)
{
    struct pythia_buf out = {0};
    assert_int_equal(pythia_history_file_write(h, &out), PYTHIA_OK);
    assert_string_equal(out.bytes, text);
    pythia_buf_free(&out);
}

static void a_record_is_written_in_order_of_ids(void **state)
{
    static const struct {
        const char *id;
        double explained;
        bool localised;
    } openings[] = {{"db:SELECT", .5, true},
                    {"\xc3\xa9\"", 1, true},
                    {"api:GET", 0, false},
                    {"db:SELECT", .25, false}};
    for (int backwards = 0; backwards < 2; backwards++) {
        struct pythia_history *h = make();
        for (int i = 0; i < 4; i++) {
            int at = backwards ? 3 - i : i;
            assert_int_equal(pythia_history_add(h, pythia_text_of(openings[at].id),
                                                openings[at].explained, openings[at].localised),
                             PYTHIA_OK);
        }
        assert_written(h, rows);
        pythia_history_destroy(h);
    }
    struct pythia_history *none = make();
    assert_written(none, "{\"schema\":\"pythia.history/1\",\"trace_points\":[]}\n");
    pythia_history_destroy(none);
}

static void what_was_written_is_read_back(void **state)
{
    struct pythia_history *h = NULL;
    struct pythia_error e = {0};
    assert_int_equal(read_text(rows, &h, &e), PYTHIA_OK);
    struct pythia_history_record r = pythia_history_find(h, PYTHIA_TEXT("db:SELECT"));
    assert_int_equal(r.opened, 2);
    assert_int_equal(r.explained_ppb, 750000000);
    assert_int_equal(r.localised, 1);
    assert_written(h, rows);
    pythia_history_destroy(h);
}

/* JSON of this kind knows no larger number; it stays one that can be read. */
static void counts_beyond_json_are_written_as_the_largest(void **state)
{
    static const char most[] =
        "{\"schema\":\"pythia.history/1\",\"trace_points\":[[\"x\",9223372036854775807,"
        "9223372036854775807,9223372036854775807]]}\n";
    struct pythia_history *h = make(), *again = NULL;
    struct pythia_error e = {0};
    struct pythia_history_record r = {UINT64_MAX, UINT64_MAX, UINT64_MAX};
    assert_int_equal(pythia_history_add_record(h, PYTHIA_TEXT("x"), &r), PYTHIA_OK);
    assert_written(h, most);
    assert_int_equal(read_text(most, &again, &e), PYTHIA_OK);
    assert_written(again, most);
    pythia_history_destroy(h);
    pythia_history_destroy(again);
}

#define HEAD "{\"schema\":\"pythia.history/1\",\"trace_points\":"
#define BAD  "history: is not a valid record of searches: "

static void what_is_no_record_is_refused_with_place_and_reason(void **state)
{
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"", "history:1: is not JSON: '[' or '{' expected near end of file (byte 0)"},
        {"{\"schema\":\n\n,", "history:3: is not JSON: unexpected token near ',' (byte 13)"},
        {"[]",
         "history: is not a record of searches of this version: expected schema pythia.history/1, "
         "found none"},
        {"{\"schema\":\"pythia.history/2\"}", "history: is not a record of searches of this "
                                              "version: expected schema pythia.history/1, found "
                                              "pythia.history/2"},
        {"{\"schema\":\"pythia.space/1\"}", "history: is not a record of searches of this version: "
                                            "expected schema pythia.history/1, found "
                                            "pythia.space/1"},
        {"{\"schema\":\"pythia.history/1\"}", BAD "no trace_points"},
        {HEAD "{}}", BAD "no trace_points"},
        {HEAD "[7]}", BAD "trace point 0 is not an id with three whole numbers"},
        {HEAD "[[\"a\",1,0,0],[7,1,0,0]]}",
         BAD "trace point 1 is not an id with three whole numbers"},
        {HEAD "[[\"a\",1,0]]}", BAD "trace point 0 is not an id with three whole numbers"},
        {HEAD "[[\"a\",1,0,0,0]]}", BAD "trace point 0 is not an id with three whole numbers"},
        {HEAD "[[\"a\",1,-1,0]]}", BAD "trace point 0 is not an id with three whole numbers"},
        {HEAD "[[\"a\",1,0.5,0]]}", BAD "trace point 0 is not an id with three whole numbers"},
        {HEAD "[[\"a\",0,0,0]]}", BAD "trace point 0 was never opened"},
        {HEAD "[[\"a\",1,1000000001,0]]}",
         BAD "trace point 0 explained more, or was the cause more often, than it was opened"},
        {HEAD "[[\"a\",1,0,2]]}",
         BAD "trace point 0 explained more, or was the cause more often, than it was opened"},
        {HEAD "[[\"a\",1,0,0],[\"b\",1,0,0],[\"a\",1,0,0]]}", BAD "trace point 2 is listed twice"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pythia_history *h = NULL;
        struct pythia_error e = {0};
        char text[1024];
        assert_int_equal(read_text(cases[i].text, &h, &e), PYTHIA_EFORMAT);
        assert_null(h);
        assert_string_equal(pythia_error_text(&e, text, sizeof(text)), cases[i].why);
    }
}

static void a_file_that_is_not_there_is_told(void **state)
{
    struct pythia_history *h = NULL;
    struct pythia_error e = {0};
    char text[1024];
    assert_int_equal(pythia_history_file_read("nowhere", &h, &e), PYTHIA_EIO);
    assert_null(h);
    assert_string_equal(pythia_error_text(&e, text, sizeof(text)),
                        "nowhere: cannot be read: No such file or directory");
}

static void free_json(void *memory)
{
    pythia_free(memory);
}

static void each_failed_allocation_is_told(void **state)
{
    for (int write = 0; write < 2; write++) {
        long failures = 0;
        if (write) /* a reader that has no memory may say of jansson that the text is no JSON */
            json_set_alloc_funcs(pythia_malloc, free_json);
        for (int status = PYTHIA_ENOMEM; status != PYTHIA_OK; failures++) {
            struct pythia_history *h = NULL, *known = make();
            struct pythia_buf out = {0};
            struct pythia_error e = {0};
            assert_int_equal(pythia_history_add(known, PYTHIA_TEXT("x"), .5, true), PYTHIA_OK);
            FILE *file = fopen("history", "w");
            assert_true(file && fputs(rows, file) >= 0 && fclose(file) == 0);
            pythia_mem_fail_after(failures);
            status = write ? pythia_history_file_write(known, &out)
                           : pythia_history_file_read("history", &h, &e);
            pythia_mem_fail_after(-1);
            if (status != PYTHIA_OK) {
                assert_int_equal(status, PYTHIA_ENOMEM);
                assert_null(h);
                assert_true(write || e.sentence[0]);
            } else if (write) { /* nothing is left out of it */
                struct pythia_buf whole = {0};
                assert_int_equal(pythia_history_file_write(known, &whole), PYTHIA_OK);
                assert_string_equal(out.bytes, whole.bytes);
                pythia_buf_free(&whole);
            }
            pythia_history_destroy(h);
            pythia_history_destroy(known);
            pythia_buf_free(&out);
            unlink("history");
        }
        assert_true(failures > 1);
    }
    json_set_alloc_funcs(malloc, free);
}

static long json_allocations; /* until the one that fails */

static void *fail_one_allocation(size_t size)
{
    return json_allocations-- == 0 ? NULL : malloc(size);
}

/* Those after it succeed, so that nothing else tells. */
static void one_failed_allocation_leaves_out_no_number(void **state)
{
    struct pythia_history *h = make();
    assert_int_equal(pythia_history_add(h, PYTHIA_TEXT("db:SELECT"), .5, true), PYTHIA_OK);
    int status = PYTHIA_ENOMEM, failures = -1;
    for (; status != PYTHIA_OK; failures++) {
        struct pythia_buf out = {0};
        json_allocations = failures + 1;
        json_set_alloc_funcs(fail_one_allocation, free);
        status = pythia_history_file_write(h, &out);
        json_set_alloc_funcs(malloc, free);
        assert_true(status == PYTHIA_ENOMEM || json_allocations >= 0);
        pythia_buf_free(&out);
    }
    assert_in_range(failures, 7, 100); /* a row and its four members, the file, its rows */
    assert_written(h, "{\"schema\":\"pythia.history/1\",\"trace_points\":"
                      "[[\"db:SELECT\",1,500000000,1]]}\n");
    pythia_history_destroy(h);
}

/* Files are made in a folder of their own. */
static int enter(void **state)
{
    static char folder[] = "history-XXXXXX";
    *state = mkdtemp(folder);
    return *state ? chdir(*state) : -1;
}

static int leave(void **state)
{
    return chdir("..") == 0 ? rmdir(*state) : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_is_written_in_order_of_ids),
        cmocka_unit_test(what_was_written_is_read_back),
        cmocka_unit_test(counts_beyond_json_are_written_as_the_largest),
        cmocka_unit_test(what_is_no_record_is_refused_with_place_and_reason),
        cmocka_unit_test(a_file_that_is_not_there_is_told),
        cmocka_unit_test(each_failed_allocation_is_told),
        cmocka_unit_test(one_failed_allocation_leaves_out_no_number),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
