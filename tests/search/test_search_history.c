/* What earlier searches found is a beginning for the next one: right or wrong. */
#include "hunt.h"
#include "strategy/belief.h"

#define SEEDS 20

/* ---- before any evidence ---- */

struct bench {
    struct requests r;
    struct pythia_space *space;
    struct pythia_history *history;
    struct pythia__belief belief;
};

/* A has 40 ns of its own, B 20, C 40, and B in it 60: of 160 a quarter, an eighth, a quarter and
 * three eighths. Half of that, and an eighth for each of the four nodes: .25, .1875, .25, .3125. */
static void begin_bench(struct bench *b)
{
    *b = (struct bench){0};
    requests_begin(&b->r);
    assert_int_equal(pythia_space_create(b->r.vocabulary, &b->space), PYTHIA_OK);
    assert_int_equal(pythia_history_create(&b->history), PYTHIA_OK);
    const struct pythia_trace *t = requests_trace(&b->r, 0, "A{10 B{20} 10 C{20 B{60} 20} 20}");
    assert_int_equal(
        pythia_space_add(b->space, requests_string(&b->r, "t"), t, requests_path(&b->r, t)),
        PYTHIA_OK);
}

static void end_bench(struct bench *b)
{
    pythia__belief_free(&b->belief);
    pythia_history_destroy(b->history);
    pythia_space_destroy(b->space);
    requests_end(&b->r);
}

static const struct pythia_space_type *type_of(struct bench *b)
{
    return pythia_space_type(b->space, requests_string(&b->r, "t"));
}

static void learn(struct bench *b, const char *id, double explained, bool localised)
{
    assert_int_equal(pythia_history_add(b->history, pythia_text_of(id), explained, localised),
                     PYTHIA_OK);
}

static void assert_mass(struct bench *b, double a, double ab, double ac, double acb)
{
    const double wanted[] = {a, ab, ac, acb};
    static const char *const chains[] = {"A", "A/B", "A/C", "A/C/B"};
    pythia__belief_free(&b->belief);
    assert_int_equal(pythia__belief_create_with(type_of(b), b->history, &b->belief), PYTHIA_OK);
    for (size_t i = 0; i < 4; i++)
        assert_rel_equal(b->belief.mass[requests_node(b->belief.type->cct, chains[i])], wanted[i],
                         1e-12);
}

static void half_of_the_mass_goes_with_what_was_explained_before(void **state)
{
    struct bench b;
    begin_bench(&b);
    assert_mass(&b, .25, .1875, .25, .3125);
    learn(&b, "C", 0, false); /* a point that explained nothing tells nothing of the others */
    assert_mass(&b, .25, .1875, .25, .3125);
    learn(&b, "Z", 1, true); /* another system's */
    assert_mass(&b, .25, .1875, .25, .3125);
    learn(&b, "B", 1, true); /* parted as 20 to 60 */
    assert_mass(&b, .125, .09375 + .125, .125, .15625 + .375);
    /* B: 1 / 2; C, once in two times: .5 / 3. Three quarters, and one. */
    learn(&b, "C", .5, true);
    assert_mass(&b, .125, .09375 + .5 * .75 * .25, .125 + .5 * .25, .15625 + .5 * .75 * .75);
    pythia__belief_reset(&b.belief); /* that is where it begins again */
    assert_rel_equal(b.belief.mass[requests_node(b.belief.type->cct, "A")], .125, 1e-12);
    end_bench(&b);
}

static void each_failed_allocation_leaves_no_belief(void **state)
{
    struct bench b;
    long failures = 0;
    begin_bench(&b);
    learn(&b, "B", 1, true);
    for (int status = PYTHIA_ENOMEM; status != PYTHIA_OK; failures++) {
        pythia_mem_fail_after(failures);
        status = pythia__belief_create_with(type_of(&b), b.history, &b.belief);
        pythia_mem_fail_after(-1);
        assert_true(status == PYTHIA_OK || b.belief.nodes == 0);
    }
    assert_true(failures > 10);
    end_bench(&b);
}

/* ---- searches ---- */

/* Search the workflow of a seed; what it found is added to `to`. Returns the cycles it took. */
static uint64_t hunt_down(uint64_t seed, const char *strategy, const struct pythia_history *history,
                          struct pythia_history *to)
{
    struct pythia_workflow_options o = bushy(seed);
    struct hunt h;
    size_t count;
    add_sleep(&o);
    begin_workflow(&h, &o);
    h.how.history = history;
    for (size_t i = 0; strategy && i < 9; i++)
        if (strcmp(pythia_strategies(&count)[i]->name, strategy) == 0)
            h.how.strategy = pythia_strategies(&count)[i];
    search(&h);
    uint64_t cycles = run(&h, 50, 60);
    if (!strategy) {
        assert_int_equal(only_problem(&h)->state, PYTHIA_PROBLEM_DONE);
        assert_int_equal(planted(&h, 0, 1), 0);
    }
    for (size_t i = 0; to && i < h.history_count; i++) {
        const struct pythia_finding *cause = &only_problem(&h)->causes[0];
        uint32_t id = h.history[i].point;
        bool is_cause = only_problem(&h)->cause_count > 0 && id == cause->place.context;
        if (h.history[i].open)
            assert_int_equal(pythia_history_add(to,
                                                pythia_vocabulary_tracepoint_id(h.r.vocabulary, id),
                                                is_cause ? cause->share : 0, is_cause),
                             PYTHIA_OK);
    }
    end(&h);
    return cycles;
}

static void a_search_that_remembers_takes_no_more_cycles(void **state)
{
    uint64_t first = 0, second = 0, third = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct pythia_history *h = NULL;
        assert_int_equal(pythia_history_create(&h), PYTHIA_OK);
        uint64_t a = hunt_down(seed, NULL, NULL, h), b = hunt_down(seed, NULL, h, h),
                 c = hunt_down(seed, NULL, h, h);
        assert_true(b <= a && c <= b);
        first += a;
        second += b;
        third += c;
        pythia_history_destroy(h);
    }
    assert_in_range(second, SEEDS, first * 3 / 4); /* a cycle less for most of them */
    assert_in_range(third, SEEDS, second);
}

/* A record in which five other points were always to blame. */
static void a_history_that_is_wrong_costs_a_cycle(void **state)
{
    uint64_t right = 0, wrong = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct pythia_history *h = NULL;
        assert_int_equal(pythia_history_create(&h), PYTHIA_OK);
        struct pythia_workflow_options o = bushy(seed);
        struct hunt made;
        add_sleep(&o);
        begin_workflow(&made, &o);
        struct pythia_planted cause;
        pythia_workflow_planted(made.workflow, 0, 0, &cause);
        for (uint32_t i = 1; i <= 5; i++) {
            uint32_t node = (uint32_t)(seed * 37 + i * 83) % 499 + 1;
            if (node == cause.node)
                continue;
            uint32_t id = pythia_workflow_tracepoint(made.workflow, node);
            for (int k = 0; k < 20; k++)
                assert_int_equal(
                    pythia_history_add(h, pythia_vocabulary_tracepoint_id(made.r.vocabulary, id), 1,
                                       true),
                    PYTHIA_OK);
        }
        end(&made);
        uint64_t a = hunt_down(seed, NULL, NULL, NULL), b = hunt_down(seed, NULL, h, NULL);
        assert_in_range(b, 1, a + 2);
        right += a;
        wrong += b;
        pythia_history_destroy(h);
    }
    assert_in_range(wrong, SEEDS, right + SEEDS / 2);
}

static void historic_searches_by_what_was_found(void **state)
{
    struct pythia_history *h = NULL;
    assert_int_equal(pythia_history_create(&h), PYTHIA_OK);
    (void)hunt_down(3, NULL, NULL, h);
    uint64_t without = hunt_down(3, "historic", NULL, NULL),
             with = hunt_down(3, "historic", h, NULL);
    assert_true(with < without);
    pythia_history_destroy(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(half_of_the_mass_goes_with_what_was_explained_before),
        cmocka_unit_test(each_failed_allocation_leaves_no_belief),
        cmocka_unit_test(a_search_that_remembers_takes_no_more_cycles),
        cmocka_unit_test(a_history_that_is_wrong_costs_a_cycle),
        cmocka_unit_test(historic_searches_by_what_was_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
