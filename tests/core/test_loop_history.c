#include <string.h>

#include "check.h"
#include "pythia/closed_loop.h"
#include "pythia/mem.h"
#include "pythia/status.h"

/* A loop made by hand: points a, b and c were opened, b twice; a cause lies inside b, another
 * between the end of b and the start of x in p, and a third inside c of another type. */
struct bench {
    struct pythia_vocabulary *vocabulary;
    struct pythia_loop_switch first[2], second[2];
    struct pythia_loop_cycle cycles[2];
    struct pythia_problem problems[2];
    struct pythia_loop loop;
};

static uint32_t point(struct bench *b, const char *id)
{
    return pythia_vocabulary_tracepoint_of_id(b->vocabulary, pythia_text_of(id), 0, 0);
}

static struct pythia_finding cause(struct bench *b, const char *in, const char *from,
                                   const char *to, double share)
{
    return (struct pythia_finding){.place = {.context = point(b, in),
                                             .from_tracepoint = point(b, from),
                                             .to_tracepoint = point(b, to)},
                                   .share = share};
}

static void begin(struct bench *b)
{
    *b = (struct bench){0};
    assert_int_equal(pythia_vocabulary_create(&b->vocabulary), PYTHIA_OK);
    b->first[0].tracepoint = point(b, "a");
    b->first[1].tracepoint = b->second[0].tracepoint = point(b, "b");
    b->second[1].tracepoint = point(b, "c");
    b->cycles[0] = (struct pythia_loop_cycle){.opened = b->first, .opened_count = 2};
    b->cycles[1] = (struct pythia_loop_cycle){.opened = b->second, .opened_count = 2};
    b->problems[0].causes[0] = cause(b, "b", "b", "b", .5);
    b->problems[0].causes[1] = cause(b, "p", "b", "x", .25);
    b->problems[0].cause_count = 2;
    b->problems[1].causes[0] = cause(b, "c", "y", "z", 1.5);
    b->problems[1].cause_count = 1;
    b->loop = (struct pythia_loop){
        .cycles = b->cycles, .cycle_count = 2, .problems = b->problems, .problem_count = 2};
}

static void assert_record(const struct pythia_history *h, const char *id, uint64_t opened,
                          uint64_t explained_ppb, uint64_t localised)
{
    struct pythia_history_record r = pythia_history_find(h, pythia_text_of(id));
    assert_int_equal(r.opened, opened);
    assert_int_equal(r.explained_ppb, explained_ppb);
    assert_int_equal(r.localised, localised);
}

static void what_was_opened_is_remembered_once_with_what_it_explained(void **state)
{
    struct bench b;
    struct pythia_history *h = NULL;
    begin(&b);
    assert_int_equal(pythia_history_create(&h), PYTHIA_OK);
    assert_int_equal(pythia_loop_remember(&b.loop, b.vocabulary, h), PYTHIA_OK);
    assert_record(h, "a", 1, 0, 0);
    assert_record(h, "b", 1, 500000000, 1);  /* the larger of its two */
    assert_record(h, "c", 1, 1000000000, 1); /* what others make up for is all there is */
    assert_record(h, "x", 0, 0, 0);          /* bounds a cause, and was open anyway */
    assert_record(h, "p", 0, 0, 0);
    assert_int_equal(pythia_loop_remember(&b.loop, b.vocabulary, h), PYTHIA_OK);
    assert_record(h, "b", 2, 1000000000, 2);
    pythia_history_destroy(h);
    pythia_vocabulary_destroy(b.vocabulary);
}

static void each_failed_allocation_is_told(void **state)
{
    long failures = 0;
    for (int status = PYTHIA_ENOMEM; status != PYTHIA_OK; failures++) {
        struct bench b;
        struct pythia_history *h = NULL;
        begin(&b);
        assert_int_equal(pythia_history_create(&h), PYTHIA_OK);
        pythia_mem_fail_after(failures);
        status = pythia_loop_remember(&b.loop, b.vocabulary, h);
        pythia_mem_fail_after(-1);
        assert_true(status == PYTHIA_OK || status == PYTHIA_ENOMEM);
        pythia_history_destroy(h);
        pythia_vocabulary_destroy(b.vocabulary);
    }
    assert_true(failures > 2);
}

/* ---- copies ---- */

static void add_reasons(struct bench *b)
{
    static char reasons[4][8] = {"one", "two", "three", "four"};
    for (size_t i = 0; i < 2; i++) {
        b->first[i].reason = reasons[i];
        b->second[i].reason = reasons[2 + i];
    }
}

static void a_copy_has_all_of_it_and_nothing_in_common(void **state)
{
    struct bench b;
    struct pythia_loop copy;
    begin(&b);
    add_reasons(&b);
    struct pythia_loop_found found = {7, cause(&b, "b", "b", "b", .5)};
    uint32_t pins[2] = {4, 5};
    b.cycles[1].found = &found;
    b.cycles[1].found_count = 1;
    b.cycles[1].waiting = 3;
    b.loop.never = pins;
    b.loop.never_count = 2;
    b.loop.rounds = 9;
    assert_int_equal(pythia_loop_copy(&b.loop, &copy), PYTHIA_OK);
    b.second[1].reason[0] = 'F';
    b.problems[1].cause_count = found.type = pins[1] = 0;
    b.cycles[1].waiting = 0;
    assert_int_equal(copy.cycle_count, 2);
    assert_int_equal(copy.cycles[0].opened_count, 2);
    assert_int_equal(copy.cycles[1].opened[1].tracepoint, point(&b, "c"));
    assert_string_equal(copy.cycles[1].opened[1].reason, "four");
    assert_int_equal(copy.cycles[1].closed_count, 0);
    assert_int_equal(copy.cycles[1].found[0].type, 7);
    assert_int_equal(copy.cycles[1].waiting, 3);
    assert_int_equal(copy.problem_count, 2);
    assert_int_equal(copy.problems[1].cause_count, 1);
    assert_int_equal(copy.never[1], 5);
    assert_int_equal(copy.rounds, 9);
    pythia_loop_free(&copy);
    assert_int_equal(pythia_loop_copy(&(struct pythia_loop){.rounds = 1}, &copy), PYTHIA_OK);
    assert_int_equal(copy.cycle_count + copy.problem_count, 0);
    pythia_loop_free(&copy);
    pythia_vocabulary_destroy(b.vocabulary);
}

static void a_copy_that_fails_leaves_nothing(void **state)
{
    struct bench b;
    long failures = 0;
    begin(&b);
    add_reasons(&b);
    for (int status = PYTHIA_ENOMEM; status != PYTHIA_OK; failures++) {
        struct pythia_loop copy = {.rounds = 42};
        pythia_mem_fail_after(failures);
        status = pythia_loop_copy(&b.loop, &copy);
        pythia_mem_fail_after(-1);
        assert_true(status == PYTHIA_OK || (status == PYTHIA_ENOMEM && copy.rounds == 42));
        if (status == PYTHIA_OK)
            pythia_loop_free(&copy);
    }
    assert_true(failures > 10);
    pythia_vocabulary_destroy(b.vocabulary);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_opened_is_remembered_once_with_what_it_explained),
        cmocka_unit_test(each_failed_allocation_is_told),
        cmocka_unit_test(a_copy_has_all_of_it_and_nothing_in_common),
        cmocka_unit_test(a_copy_that_fails_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
