#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "pythia/mem.h"
#include "pythia/space_file.h"
#include "pythia/status.h"

/* A calls B twice in each of 2 requests. */
#define HEAD                                                                                       \
    "{\"schema\":\"pythia.space/1\",\"trace_points\":[[\"A\",\"\",\"A\"],[\"B\",\"\",\"B\"]],"     \
    "\"types\":[{\"name\":\"t\",\"requests\":2,\"nodes\":[[0,0,2,2,2,900,1],[1,1,4,2,4,400,0]],"
#define TAIL "\"edges\":[[1,0,0,1,0,2,100],[1,1,1,0,1,2,400],[2,1,0,1,1,4,400]]}]}\n"
static const char whole[] = HEAD "\"bytes\":[102,244]," TAIL;
static const char older[] = HEAD TAIL;

struct bench {
    struct pythia_vocabulary *vocabulary;
    struct pythia_space *space;
    struct pythia_error why;
};

static void begin(struct bench *b)
{
    *b = (struct bench){0};
    assert_int_equal(pythia_vocabulary_create(&b->vocabulary), PYTHIA_OK);
    assert_int_equal(pythia_space_create(b->vocabulary, &b->space), PYTHIA_OK);
}

static void end(struct bench *b)
{
    pythia_space_destroy(b->space);
    pythia_vocabulary_destroy(b->vocabulary);
}

static int read_text(struct bench *b, const char *text)
{
    FILE *file = fopen("space", "w");
    assert_true(file && fputs(text, file) >= 0 && fclose(file) == 0);
    int status = pythia_space_file_read("space", b->space, &b->why);
    unlink("space");
    return status;
}

static void what_was_written_is_read_back(void **state)
{
    struct bench b;
    struct pythia_buf out = {0};
    begin(&b);
    assert_int_equal(read_text(&b, whole), PYTHIA_OK);
    size_t count;
    const struct pythia_space_type *t = pythia_space_types(b.space, &count);
    assert_int_equal(count, 1);
    assert_int_equal(t->nodes[1].bytes, 102);
    assert_int_equal(t->nodes[2].bytes, 244);
    assert_int_equal(t->nodes[2].calls, 4);
    assert_int_equal(pythia_space_file_write(b.space, &out), PYTHIA_OK);
    assert_string_equal(out.bytes, whole);
    pythia_buf_free(&out);
    end(&b);
}

static void a_text_in_memory_is_read_like_a_file(void **state)
{
    struct bench b;
    struct pythia_buf out = {0};
    const struct pythia_text half = {whole, strlen(whole) / 2};
    begin(&b);
    assert_int_equal(pythia_space_file_parse("a text", pythia_text_of(whole), b.space, &b.why),
                     PYTHIA_OK);
    assert_int_equal(pythia_space_file_write(b.space, &out), PYTHIA_OK);
    assert_string_equal(out.bytes, whole);
    pythia_buf_free(&out);
    end(&b);
    begin(&b);
    assert_int_equal(pythia_space_file_parse("a text", half, b.space, &b.why), PYTHIA_EFORMAT);
    assert_non_null(strstr(b.why.source, "a text"));
    end(&b);
}

static void a_file_from_before_bytes_were_counted_is_read(void **state)
{
    struct bench b;
    begin(&b);
    assert_int_equal(read_text(&b, older), PYTHIA_OK);
    size_t count;
    const struct pythia_space_type *t = pythia_space_types(b.space, &count);
    assert_int_equal(t->nodes[2].bytes, 0);
    assert_int_equal(t->nodes[2].time_ns, 400);
    assert_rel_equal(pythia_space_mean_bytes(t), PYTHIA_SPACE_SPAN_BYTES, 0);
    end(&b);
}

#define POINTS "{\"schema\":\"pythia.space/1\",\"trace_points\":[[\"A\",\"\",\"A\"]],\n"
#define TYPE   "\"types\":[{\"name\":\"t\",\"requests\":2,\n"
#define NODE   "\"nodes\":[[0,0,2,2,2,9,1]]"
#define BAD    "is not a valid search space: "

static void what_is_no_space_is_refused_with_place_and_reason(void **state)
{
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"", "space: is not a search space of this version (pythia space build makes one): "
             "expected schema pythia.space/1, found "
             "none"},
        {"[]", "space: is not a search space of this version (pythia space build makes one): "
               "expected schema pythia.space/1, "
               "found none"},
        {"{}", "space: is not a search space of this version (pythia space build makes one): "
               "expected schema pythia.space/1, "
               "found none"},
        {"{\"schema\":\"pythia.history/1\"}",
         "space: is not a search space of this version (pythia space build makes one): expected "
         "schema pythia.space/1, found "
         "pythia.history/1"},
        {"{\"schema\":5}", "space:1: expected a string, found '5' (byte 10)"},
        {"{\"schema\":\"pythia.space/1\"", "space:1: the input ends in the middle of a value (byte "
                                           "26)"},
        {"{\"schema\":\"pythia.space/1\"}\n{}",
         "space:2: " BAD "it is followed by other data (byte 28)"},
        {"{\"schema\":\"pythia.space/1\",\n\"types\":[]}",
         "space:2: " BAD "trace points must come before types (byte 36)"},
        {"{\"trace_points\":[[\"A\",\"\"]]}", "space:1: " BAD "trace point 0 (byte 17)"},
        {"{\"trace_points\":[[\"A\",\"\",\"\",\"\"]]}", "space:1: " BAD "trace point 0 (byte 17)"},
        {POINTS "\"types\":[{\"requests\":2}]}",
         "space:2: " BAD "no name, or no requests, of type 0 (byte 81)"},
        {POINTS "\"types\":[{\"name\":\"t\"}]}",
         "space:2: " BAD "no name, or no requests, of type 0 (byte 79)"},
        {POINTS "\"types\":[{\"name\":\"t\",\"name\":\"u\"}]}",
         "space:2: " BAD "a second name of type 0 (byte 86)"},
        {POINTS "\"types\":[{\"name\":\"t\",\"requests\":-1}]}",
         "space:2: " BAD "requests of type 0 (byte 90)"},
        {POINTS "\"types\":[{\"nodes\":[]}]}",
         "space:2: " BAD "name and nodes have to come before what is here of type 0 (byte 76)"},
        {POINTS TYPE "\"edges\":[]}]}",
         "space:3: " BAD "name and nodes have to come before what is here of type 0 (byte 101)"},
        {POINTS TYPE "\"nodes\":[7]}]}", "space:3: " BAD "node 0 (byte 102)"},
        {POINTS TYPE "\"nodes\":[[0,0,1,1,1,1]]}]}", "space:3: " BAD "node 0 (byte 102)"},
        {POINTS TYPE "\"nodes\":[[0,0,1,1,1,1,0,0]]}]}", "space:3: " BAD "node 0 (byte 102)"},
        {POINTS TYPE "\"nodes\":[[0,0,1,1,1,-1,0]]}]}", "space:3: " BAD "node 0 (byte 102)"},
        {POINTS TYPE "\"nodes\":[[0,0,1,1,1,1.5,0]]}]}", "space:3: " BAD "node 0 (byte 102)"},
        {POINTS TYPE "\"nodes\":[[0,0,1,1,1,[],0]]}]}", "space:3: " BAD "node 0 (byte 102)"},
        {POINTS TYPE "\"nodes\":[[1,0,1,1,1,1,0]]}]}", "space:3: " BAD "node 0 (byte 102)"},
        {POINTS TYPE "\"nodes\":[[0,1,1,1,1,1,0]]}]}", "space:3: " BAD "node 0 (byte 102)"},
        {POINTS TYPE NODE ",\n\"bytes\":[-1]}]}", "space:4: " BAD "bytes of node 0 (byte 129)"},
        {POINTS TYPE NODE ",\n\"bytes\":[1.5]}]}", "space:4: " BAD "bytes of node 0 (byte 129)"},
        {POINTS TYPE NODE ",\n\"bytes\":[1,1]}]}", "space:4: " BAD "bytes of node 1 (byte 131)"},
        {POINTS TYPE NODE ",\n\"bytes\":[]}]}",
         "space:4: " BAD "bytes end behind node 0 (byte 130)"},
        {POINTS TYPE NODE ",\n\"edges\":[[2,0,0,0,1,1,1]]}]}", "space:4: " BAD "edge 0 (byte 129)"},
        {POINTS TYPE NODE ",\n\"edges\":[[1,1,0,0,1,1,1]]}]}", "space:4: " BAD "edge 0 (byte 129)"},
        {POINTS TYPE NODE ",\n\"edges\":[[1,0,0,1,1,1,1]]}]}", "space:4: " BAD "edge 0 (byte 129)"},
        {POINTS TYPE NODE ",\n\"edges\":[[1,0,3,0,1,1,1]]}]}", "space:4: " BAD "edge 0 (byte 129)"},
        {POINTS TYPE NODE ",\n\"edges\":[[1,0,0,0,3,1,1]]}]}", "space:4: " BAD "edge 0 (byte 129)"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bench b;
        char text[1024];
        begin(&b);
        assert_int_equal(read_text(&b, cases[i].text), PYTHIA_EFORMAT);
        assert_string_equal(pythia_error_text(&b.why, text, sizeof(text)), cases[i].why);
        end(&b);
    }
}

/* Unknown members are passed over, and known ones may stand in another order. */
static void what_is_not_known_is_passed_over(void **state)
{
    static const char text[] = "{\"more\":{\"a\":[1,{}]},\"trace_points\":[[\"A\",\"\",\"A\"]],"
                               "\"types\":[{\"name\":\"t\",\"x\":["
                               "[]],\"nodes\":[[0,0,2,2,2,9,1]],\"edges\":[[1,0,0,0,1,2,9]],"
                               "\"bytes\":[7],\"requests\":2}],"
                               "\"schema\":\"pythia.space/1\"}";
    struct bench b;
    begin(&b);
    assert_int_equal(read_text(&b, text), PYTHIA_OK);
    size_t count;
    const struct pythia_space_type *t = pythia_space_types(b.space, &count);
    assert_int_equal(count, 1);
    assert_int_equal(t->requests, 2);
    assert_int_equal(t->nodes[1].bytes, 7);
    assert_int_equal(t->edges[0].time_ns, 9);
    end(&b);
}

static void a_folder_is_told(void **state)
{
    struct bench b;
    char text[1024];
    begin(&b);
    assert_int_equal(pythia_space_file_read(".", b.space, &b.why), PYTHIA_EIO);
    assert_string_equal(pythia_error_text(&b.why, text, sizeof(text)),
                        ".: cannot be read: Is a directory");
    end(&b);
}

static void each_failed_allocation_is_told(void **state)
{
    long failures = 0;
    for (int status = PYTHIA_ENOMEM; status != PYTHIA_OK; failures++) {
        struct bench b;
        begin(&b);
        FILE *file = fopen("space", "w");
        assert_true(file && fputs(whole, file) >= 0 && fclose(file) == 0);
        pythia_mem_fail_after(failures);
        status = pythia_space_file_read("space", b.space, &b.why);
        pythia_mem_fail_after(-1);
        unlink("space");
        assert_true(status == PYTHIA_OK || status == PYTHIA_ENOMEM);
        assert_true(status == PYTHIA_OK || b.why.sentence[0]);
        end(&b);
    }
    assert_true(failures > 10);
}

/* Files are made in a folder of their own. */
static int enter(void **state)
{
    static char folder[] = "space-XXXXXX";
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
        cmocka_unit_test(what_was_written_is_read_back),
        cmocka_unit_test(a_text_in_memory_is_read_like_a_file),
        cmocka_unit_test(a_file_from_before_bytes_were_counted_is_read),
        cmocka_unit_test(what_is_no_space_is_refused_with_place_and_reason),
        cmocka_unit_test(what_is_not_known_is_passed_over),
        cmocka_unit_test(a_folder_is_told),
        cmocka_unit_test(each_failed_allocation_is_told),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
