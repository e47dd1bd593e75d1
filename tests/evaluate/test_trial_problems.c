#include "trials.h"
#include "workflow_nodes.h"

/* How many problems fit. */
static size_t count_if(bool (*fits)(const struct pythia_trial_problem *p))
{
    size_t count, found = 0;
    const struct pythia_trial_problem *all = pythia_trial_problems(&count);
    for (size_t i = 0; i < count; i++)
        found += fits(&all[i]);
    return found;
}

static bool has_kind(const struct pythia_trial_problem *p, enum pythia_planted_kind kind)
{
    for (size_t i = 0; i < p->cause_count; i++)
        if (p->causes[i].kind == kind)
            return true;
    return false;
}

static void names_are_words_and_differ(void **state)
{
    size_t count;
    const struct pythia_trial_problem *all = pythia_trial_problems(&count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(strspn(all[i].name, "abcdefghijklmnopqrstuvwxyz0123456789-"),
                         strlen(all[i].name));
        assert_in_range(strlen(all[i].name), 1, 17); /* a column of --list */
        assert_in_range(strlen(all[i].help), 10, 80);
        assert_true(all[i].help[strlen(all[i].help) - 1] != '.');
        assert_true(all[i].requests >= 30); /* fewer say nothing to a search */
        assert_true(all[i].cause_count <= PYTHIA_TRIAL_CAUSES);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(all[i].name, all[k].name);
    }
}

/* What VAIF plants, and what a search that only knows that would miss. */
static void every_kind_of_cause_is_there(void **state)
{
    size_t count;
    const struct pythia_trial_problem *all = pythia_trial_problems(&count);
    for (int kind = 0; kind < PYTHIA_PLANTED_KINDS; kind++) {
        size_t found = 0;
        for (size_t i = 0; i < count; i++)
            found += has_kind(&all[i], (enum pythia_planted_kind)kind);
        if (found == 0)
            fail_msg("no problem has %s", pythia_planted_name((enum pythia_planted_kind)kind));
    }
    const double shares[] = {.02, .05, .3};
    for (size_t s = 0; s < 3; s++) {
        size_t found = 0;
        for (size_t i = 0; i < count; i++)
            found += all[i].causes[0].kind == PYTHIA_PLANTED_SLEEP && all[i].cause_count == 1 &&
                     all[i].causes[0].parameter == shares[s];
        assert_true(found >= 1);
    }
    for (size_t causes = 0; causes <= 3; causes++) {
        size_t found = 0;
        for (size_t i = 0; i < count; i++)
            found += all[i].cause_count == causes;
        assert_true(found >= 1);
    }
}

static void every_shape_and_size_is_there(void **state)
{
    size_t count;
    const struct pythia_trial_problem *all = pythia_trial_problems(&count);
    const struct {
        enum pythia_workflow_shape shape;
        uint32_t nodes;
    } wanted[] = {{PYTHIA_WORKFLOW_BUSHY, 100},     {PYTHIA_WORKFLOW_BUSHY, 500},
                  {PYTHIA_WORKFLOW_BUSHY, 5000},    {PYTHIA_WORKFLOW_BUSHY, 50000},
                  {PYTHIA_WORKFLOW_DEEP, 100},      {PYTHIA_WORKFLOW_DEEP, 500},
                  {PYTHIA_WORKFLOW_DEEP, 5000},     {PYTHIA_WORKFLOW_DEEP, 50000},
                  {PYTHIA_WORKFLOW_OPENSTACK, 500}, {PYTHIA_WORKFLOW_OPENSTACK, 5000}};
    for (size_t w = 0; w < sizeof(wanted) / sizeof(wanted[0]); w++) {
        size_t found = 0;
        for (size_t i = 0; i < count; i++)
            found += all[i].shape == wanted[w].shape && all[i].nodes == wanted[w].nodes &&
                     all[i].cause_count == 1;
        assert_true(found >= 1);
    }
}

static bool forks(const struct pythia_trial_problem *p)
{
    return p->forks > 0;
}

static bool is_async(const struct pythia_trial_problem *p)
{
    return p->async > 0;
}

static bool retries(const struct pythia_trial_problem *p)
{
    return p->retries > 0;
}

static bool loops(const struct pythia_trial_problem *p)
{
    return p->loops > 0;
}

static bool is_unknown(const struct pythia_trial_problem *p)
{
    return p->unknown == .1;
}

static bool grows(const struct pythia_trial_problem *p)
{
    return p->drift == PYTHIA_DRIFT_GROW;
}

/* In the course of a search: not only after it. */
static bool moves(const struct pythia_trial_problem *p)
{
    return p->drift == PYTHIA_DRIFT_MOVE &&
           p->drift_requests - p->first_request % p->drift_requests <= 3 * p->requests;
}

static bool spikes(const struct pythia_trial_problem *p)
{
    return p->spikes == .004 && p->cause_count > 0;
}

static bool ticks(const struct pythia_trial_problem *p)
{
    return p->tick_ns > 1;
}

static bool is_weak(const struct pythia_trial_problem *p)
{
    return p->cause_count == 1 && p->causes[0].strength == .06;
}

static bool is_null_with_spikes(const struct pythia_trial_problem *p)
{
    return p->cause_count == 0 && p->spikes > 0;
}

static bool is_null_without(const struct pythia_trial_problem *p)
{
    return p->cause_count == 0 && p->spikes == 0;
}

static void everything_that_disturbs_is_there(void **state)
{
    bool (*const wanted[])(const struct pythia_trial_problem *) = {
        forks, is_async, retries, loops,   is_unknown,          grows,
        moves, spikes,   ticks,   is_weak, is_null_with_spikes, is_null_without};
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
        if (count_if(wanted[i]) == 0)
            fail_msg("no problem is as number %zu wants it", i);
}

/* Causes have places in each, and a row says nothing that a workflow cannot have. */
static void workflows_can_be_made(void **state)
{
    size_t count;
    const struct pythia_trial_problem *all = pythia_trial_problems(&count);
    for (size_t i = 0; i < count; i++)
        for (uint64_t seed = 0; seed < 3; seed++) {
            struct pythia_workflow_options o;
            struct pythia_vocabulary *v = NULL;
            struct pythia_workflow *w = NULL;
            struct pythia_error why = {0};
            pythia_trial_workflow(&all[i], seed, &o);
            assert_int_equal(o.seed, seed);
            assert_int_equal(o.cause_count, all[i].cause_count);
            assert_int_equal(pythia_vocabulary_create(&v), PYTHIA_OK);
            if (pythia_workflow_create(v, &o, &w, &why) != PYTHIA_OK)
                fail_msg("%s: %s", all[i].name, why.sentence);
            struct pythia_workflow_facts f = pythia_workflow_facts(w);
            assert_int_equal(f.nodes, all[i].nodes);
            assert_true((f.forks > 0) == (all[i].forks > 0));
            assert_true((f.async > 0) == (all[i].async > 0));
            assert_true((f.retries > 0) == (all[i].retries > 0));
            assert_true((f.loops > 0) == (all[i].loops > 0));
            assert_true((f.known_nodes < f.nodes) == (all[i].unknown > 0));
            pythia_workflow_destroy(w);
            pythia_vocabulary_destroy(v);
        }
}

/* A search space of before the causes came is one of the same trace points in the same contexts. */
static void without_causes_a_workflow_is_the_same(void **state)
{
    const char *const names[] = {"three-causes", "openstack", "unknown", "loops", "async", "deep"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct pythia_workflow_options o;
        struct pythia_vocabulary *v = NULL;
        struct pythia_workflow *with = NULL, *without = NULL;
        struct pythia_error why = {0};
        pythia_trial_workflow(problem_named(names[i]), 5, &o);
        assert_int_equal(pythia_vocabulary_create(&v), PYTHIA_OK);
        assert_int_equal(pythia_workflow_create(v, &o, &with, &why), PYTHIA_OK);
        uint32_t points = pythia_vocabulary_tracepoints(v);
        o.cause_count = 0;
        assert_int_equal(pythia_workflow_create(v, &o, &without, &why), PYTHIA_OK);
        assert_int_equal(pythia_vocabulary_tracepoints(v), points);
        for (uint32_t node = 0; node < o.nodes; node++) {
            assert_int_equal(pythia_workflow_parent(with, node),
                             pythia_workflow_parent(without, node));
            assert_int_equal(pythia_workflow_tracepoint(with, node),
                             pythia_workflow_tracepoint(without, node));
            assert_true(pythia_workflow_known(with, node) == pythia_workflow_known(without, node));
            assert_rel_equal(node_time_ns(with, node), node_time_ns(without, node), 0);
            assert_rel_equal(pythia_workflow_calls(with, node),
                             pythia_workflow_calls(without, node), 0);
        }
        pythia_workflow_destroy(with);
        pythia_workflow_destroy(without);
        pythia_vocabulary_destroy(v);
    }
}

static void the_same_can_be_had_from_generate(void **state)
{
    const struct {
        const char *problem, *options;
    } rows[] = {
        {"bushy", "--shape bushy --nodes 500 --distractors 2 --causes sleep:0.3:0.3"},
        {"two-causes", "--shape bushy --nodes 500 --distractors 2 --causes "
                       "sleep:0.3:0.3,uniform:1:0.3"},
        {"host", "--shape bushy --nodes 500 --distractors 2 --causes host::0.3"},
        {"ticks", "--shape bushy --nodes 500 --distractors 2 --tick 1000000 --causes "
                  "sleep:0.3:0.3"},
        {"drift-move", "--shape bushy --nodes 500 --distractors 2 --drift move --drift-requests "
                       "2000 --causes sleep:0.3:0.3"},
        {"drift-found", "--shape bushy --nodes 500 --distractors 2 --drift move --drift-requests "
                        "2000 --causes sleep:0.3:0.3"},
        {"null-spikes", "--shape bushy --nodes 500 --distractors 2 --spikes 0.004 --causes none"},
        {"null-noise", "--shape bushy --nodes 80 --distractors 2 --noise 0.5 --spread 0.5 --causes "
                       "none"},
        {"null-deep", "--shape deep --nodes 500 --distractors 2 --load 0.2 --causes none"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct pythia_buf text = {0};
        pythia_trial_generate_options(problem_named(rows[i].problem), &text);
        assert_string_equal(text.bytes, rows[i].options);
        pythia_buf_free(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_words_and_differ),
        cmocka_unit_test(every_kind_of_cause_is_there),
        cmocka_unit_test(every_shape_and_size_is_there),
        cmocka_unit_test(everything_that_disturbs_is_there),
        cmocka_unit_test(workflows_can_be_made),
        cmocka_unit_test(without_causes_a_workflow_is_the_same),
        cmocka_unit_test(the_same_can_be_had_from_generate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
