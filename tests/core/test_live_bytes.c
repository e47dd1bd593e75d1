/* Request types without number, cycle after cycle: what is held, with what the report tells of past
 * cycles, is bounded, and does not grow once it is full. */
#include "pythia/closed_loop.h"
#include "pythia/search.h"
#include "stream.h"

#define CYCLES      240
#define WARM        160                       /* cycles */
#define STORY       100                       /* cycles that are told of */
#define STORY_BYTES (uint64_t)(400 * 1024)    /* and that they may take */
#define MOST_BYTES  ((long long)40 * 1000000) /* of all of it */
#define NAMES       6000                      /* strings that the vocabulary knows */

static struct pythia_loop story;
static long long held[STREAM_SEEN];
static size_t most_problems, most_cycles;

static void look(struct stream *s, const struct pythia_live_cycle *cycle)
{
    assert_int_equal(pythia_loop_tell(&story, cycle, STORY, STORY_BYTES), PYTHIA_OK);
    held[s->cycles - 1] = pythia_mem_counted();
    if (story.problem_count > most_problems)
        most_problems = story.problem_count;
    if (story.cycle_count > most_cycles)
        most_cycles = story.cycle_count;
}

/* Every other request is of a type of its own; the others are of three, and of twenty rare ones. */
static const char *request(uint64_t number)
{
    static char text[128];
    int more = (int)(number * 7 % 10 * 10);
    uint64_t turn = number / 2 % 10, type = turn < 6   ? 0
                                            : turn < 8 ? 1 + turn % 2
                                                       : 10 + number / 2 % 20;
    if (number % 2)
        type = 1000 + number;
    snprintf(text, sizeof(text), "t%d{1 B{%d} C{1 D{%d}} 1}", (int)type, 5 + more, more / 2);
    return text;
}

static void what_is_held_does_not_grow(void **state)
{
    struct stream s;
    const struct pythia_live_options o = {
        .window = {.remembered = 4096}, /* ids of finished requests: full long before it is WARM */
        .groups = {.fold = true},
        .search = {.budget = {.points_per_cycle = 3},
                   .price_ns = 1000,
                   .seed = 1,
                   .min_requests = 10},
        .names = {.strings = NAMES},
        .cycle_requests = 40,
        .learn_requests = 5,
    };
    pythia_mem_count(true);
    stream_begin(&s);
    stream_attach(&s, NULL, &o);
    s.look = look;
    while (s.cycles < CYCLES) {
        uint64_t wish = pythia_live_wish(s.live);
        stream_request(&s, request(s.number));
        if (pythia_live_wish(s.live) != wish)
            stream_applied(&s);
    }
    long long before = 0, after = 0;
    for (int i = 0; i < 10; i++) {
        before += held[WARM + i] / 10;
        after += held[CYCLES - 10 + i] / 10;
    }
    printf("%lld kB after %d cycles, %lld kB after %d\n", before / 1000, WARM, after / 1000,
           CYCLES);
    assert_true(after < before + before / 100);
    assert_true(after < MOST_BYTES);
    assert_true(most_problems > 1000 &&
                most_problems < 1100); /* 1024 that the space does not know */
    assert_true(story.cycle_count > 1 && story.cycle_count <= STORY);
    stream_end(&s);
    pythia_loop_free(&story);
    assert_int_equal(pythia_mem_counted(), 0);
    pythia_mem_count(false);
}

/* Cycles that find and switch much, each something else. */
static void tell_much(struct pythia_loop *l, const struct pythia_groups *groups, uint64_t number,
                      uint64_t bytes_max)
{
    static char reason[1000];
    memset(reason, 'r', sizeof(reason) - 1);
    struct pythia_problem problems[50] = {{.type = 1}};
    struct pythia_switch switches[5] = {{.tracepoint = 1}};
    for (uint32_t i = 0; i < 50; i++) {
        problems[i] = (struct pythia_problem){
            .type = i + 1, .state = PYTHIA_PROBLEM_SEARCHING, .top = {.share = NAN}};
        problems[i].cause_count = 4;
        for (uint32_t k = 0; k < 4; k++)
            problems[i].causes[k].place.context = (uint32_t)number * 4 + k;
    }
    for (uint32_t i = 0; i < 5; i++)
        switches[i] = (struct pythia_switch){
            .tracepoint = i, .open = i % 2 == 0, .problem = 0, .reason = reason};
    const struct pythia_live_cycle cycle = {.decisions = {.number = number,
                                                          .switches = switches,
                                                          .switch_count = 5,
                                                          .problems = problems,
                                                          .problem_count = 50,
                                                          .leading = 0},
                                            .groups = groups};
    assert_int_equal(pythia_loop_tell(l, &cycle, 200, bytes_max), PYTHIA_OK);
}

static void what_is_told_of_cycles_is_bounded_in_bytes(void **state)
{
    struct pythia_vocabulary *v = NULL;
    struct pythia_groups *groups = NULL;
    struct pythia_loop l = {0};
    uint64_t most = 200 * 1024, all_types = 0;
    assert_int_equal(pythia_vocabulary_create(&v), PYTHIA_OK);
    assert_int_equal(
        pythia_groups_create(v, &(struct pythia_groups_options){.fold = true}, &groups), PYTHIA_OK);
    pythia_mem_count(true);
    for (uint64_t number = 1; number <= 500; number++) {
        tell_much(&l, groups, number, most);
        uint64_t bytes = pythia_loop_bytes(&l);
        long long counted = pythia_mem_counted();
        assert_true((double)counted < (double)bytes * 1.1 && (double)counted > (double)bytes * .9);
        all_types = number == 1 ? bytes : all_types; /* problems and verdicts, and one cycle */
        assert_true(bytes < all_types + most + 64 * sizeof(struct pythia_loop_cycle));
    }
    assert_true(l.cycle_count >= 5 && l.cycle_count < 200);
    assert_int_equal(l.cycles[l.cycle_count - 1].number, 500);
    assert_int_equal(l.cycles[0].number, 500 - l.cycle_count + 1);
    /* One that is larger than all that there may be stays all the same. */
    tell_much(&l, groups, 501, 1);
    assert_int_equal(l.cycle_count, 1);
    assert_int_equal(l.cycles[0].number, 501);
    assert_int_equal(l.cycles[0].found_count, 200);
    pythia_loop_free(&l);
    assert_int_equal(pythia_mem_counted(), 0);
    pythia_mem_count(false);
    pythia_groups_destroy(groups);
    pythia_vocabulary_destroy(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_held_does_not_grow),
        cmocka_unit_test(what_is_told_of_cycles_is_bounded_in_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
