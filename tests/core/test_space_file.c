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
#define TAIL                                                                                       \
    "\"edges\":[[1,0,0,1,0,2,100],[1,1,1,0,1,2,400],[2,1,0,1,1,4,400]]}]}\n"
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

static void bytes_that_do_not_fit_the_nodes_are_refused(void **state)
{
    static const struct {
        const char *text, *why;
    } cases[] = {{HEAD "\"bytes\":[102]," TAIL, "bytes of 1 nodes, of 2"},
                 {HEAD "\"bytes\":[102,244,1]," TAIL, "bytes of 3 nodes, of 2"},
                 {HEAD "\"bytes\":7," TAIL, "bytes of 0 nodes, of 2"},
                 {HEAD "\"bytes\":[102,-1]," TAIL, "bytes of node 1"},
                 {HEAD "\"bytes\":[1.5,1]," TAIL, "bytes of node 0"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bench b;
        char text[1024], wanted[256];
        begin(&b);
        assert_int_equal(read_text(&b, cases[i].text), PYTHIA_EFORMAT);
        snprintf(wanted, sizeof(wanted), "space: is no search space that can be read: %s",
                 cases[i].why);
        assert_string_equal(pythia_error_text(&b.why, text, sizeof(text)), wanted);
        end(&b);
    }
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
        cmocka_unit_test(a_file_from_before_bytes_were_counted_is_read),
        cmocka_unit_test(bytes_that_do_not_fit_the_nodes_are_refused),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
