/* Cycles as a search could tell them, judged. */
#include <stdio.h>

#include "pythia/mem.h"
#include "search/requests.h"
#include "trial_parts.h"
#include "trials.h"
#include "workflow_nodes.h"

struct judging {
    struct pythia__world world;
    struct pythia__hunt hunt;
    struct pythia_problem problem;
    struct pythia_cycle cycle;
};

/* A chain of `nodes`, with causes at nodes of choice. */
static void begin(struct judging *j, const struct pythia_workflow_options *options)
{
    struct pythia_error why = {0};
    *j = (struct judging){.world = {.options = *options}};
    j->hunt = (struct pythia__hunt){.world = &j->world, .number = 50, .cycles = 1};
    j->cycle = (struct pythia_cycle){.problems = &j->problem, .problem_count = 1};
    assert_int_equal(pythia_vocabulary_create(&j->world.vocabulary), PYTHIA_OK);
    if (pythia_workflow_create(j->world.vocabulary, options, &j->world.workflow, &why) != PYTHIA_OK)
        fail_msg("%s", why.sentence);
}

static void end(struct judging *j)
{
    pythia_free(j->hunt.named);
    pythia_workflow_destroy(j->world.workflow);
    pythia_vocabulary_destroy(j->world.vocabulary);
}

static struct pythia_workflow_options options_of(size_t causes)
{
    struct pythia_workflow_options o;
    pythia_workflow_options_default(&o);
    o.nodes = 40;
    o.cause_count = causes;
    for (size_t i = 0; i < causes; i++)
        o.causes[i] =
            (struct pythia_workflow_cause){PYTHIA_PLANTED_SLEEP, .3, .3, 10 + 10 * (uint32_t)i};
    return o;
}

/* From here on the search names what lies inside the trace point of a node, too. */
static void name_node(struct judging *j, uint32_t node)
{
    uint32_t point = pythia_workflow_tracepoint(j->world.workflow, node);
    j->problem.causes[j->problem.cause_count++] = (struct pythia_finding){
        .place = {.context = point, .from_tracepoint = point, .to_tracepoint = point, 0, 1},
        .share = .5};
}

static struct pythia_trial_outcome judged(struct judging *j)
{
    struct pythia_trial_outcome out = {.causes = 0};
    assert_int_equal(pythia__hunt_judge(&j->hunt, &j->cycle), PYTHIA_OK);
    pythia__hunt_count(&j->hunt, &out);
    j->hunt.cycles++;
    return out;
}

static void where_nothing_is_planted_every_name_is_wrong(void **state)
{
    struct judging j;
    struct pythia_workflow_options o = options_of(0);
    begin(&j, &o);
    struct pythia_trial_outcome out = judged(&j);
    assert_int_equal(out.causes, 0);
    assert_int_equal(out.named, 0);
    assert_int_equal(out.wrong, 0);
    name_node(&j, 7);
    out = judged(&j);
    assert_int_equal(out.named, 1);
    assert_int_equal(out.wrong, 1);
    name_node(&j, 8);
    judged(&j);
    out = judged(&j); /* places that stay named are counted once */
    assert_int_equal(out.named, 2);
    assert_int_equal(out.wrong, 2);
    assert_false(out.first || out.any_three);
    assert_int_equal(j.hunt.localised, 0); /* there is nothing that could be */
    end(&j);
}

static void the_first_three_names_count_by_their_order(void **state)
{
    struct judging j;
    struct pythia_workflow_options o = options_of(2);
    begin(&j, &o);
    name_node(&j, 5);
    struct pythia_trial_outcome out = judged(&j);
    assert_false(out.first || out.any_three);
    name_node(&j, 6);
    name_node(&j, 20);
    out = judged(&j);
    assert_int_equal(out.found, 1);
    assert_int_equal(out.wrong, 2);
    assert_false(out.first);
    assert_true(out.any_three);
    assert_int_equal(j.hunt.localised, 0);
    name_node(&j, 10);
    out = judged(&j);
    assert_int_equal(out.found, 2);
    assert_int_equal(out.named, 4);
    assert_int_equal(j.hunt.localised, 3);
    judged(&j);
    assert_int_equal(j.hunt.localised, 3); /* the first time counts */
    end(&j);

    begin(&j, &o);
    name_node(&j, 10);
    out = judged(&j);
    assert_true(out.first && out.any_three);
    end(&j);

    begin(&j, &o); /* a fourth name is too late for the first three */
    for (uint32_t node = 1; node <= 3; node++)
        name_node(&j, node);
    name_node(&j, 10);
    out = judged(&j);
    assert_int_equal(out.found, 1);
    assert_false(out.first || out.any_three);
    end(&j);
}

/* Types of requests have problems of their own: the causes of all of them are judged. */
static void causes_of_each_problem_count(void **state)
{
    struct judging j;
    struct pythia_workflow_options o = options_of(2);
    begin(&j, &o);
    struct pythia_problem both[2];
    name_node(&j, 10);
    both[0] = j.problem;
    j.problem.cause_count = 0;
    name_node(&j, 20);
    both[1] = j.problem;
    j.cycle = (struct pythia_cycle){.problems = both, .problem_count = 2};
    struct pythia_trial_outcome out = judged(&j);
    assert_int_equal(out.named, 2);
    assert_int_equal(out.found, 2);
    assert_int_equal(j.hunt.localised, 1);
    end(&j);
}

/* Any place is where a slow host is slow, and none is all of it. */
static void a_slow_host_is_found_when_the_search_ends_by_its_key(void **state)
{
    struct judging j;
    struct pythia_workflow_options o = options_of(1);
    o.causes[0] = (struct pythia_workflow_cause){PYTHIA_PLANTED_SLOW, 0, 2, 0};
    begin(&j, &o);
    name_node(&j, 5);
    struct pythia_trial_outcome out = judged(&j);
    assert_int_equal(out.named, 1);
    assert_int_equal(out.wrong, 0);
    assert_int_equal(out.found, 0);
    j.problem.state = PYTHIA_PROBLEM_DONE;
    j.problem.why = PYTHIA_WHY_SPREAD;
    out = judged(&j);
    assert_int_equal(out.found, 1);
    assert_int_equal(j.hunt.localised, 2);
    end(&j);
}

/* A node that a search space does not know, and the nearest one above that it does. */
static uint32_t unknown_node(const struct pythia_workflow_options *o, uint32_t *above)
{
    struct judging j;
    uint32_t node = 1;
    begin(&j, o);
    while (node < o->nodes && pythia_workflow_known(j.world.workflow, node))
        node++;
    assert_true(node < o->nodes);
    node = node_after_subtree(j.world.workflow, node) -
           1; /* the last of that tree, all of it unknown */
    *above = node;
    while (!pythia_workflow_known(j.world.workflow, *above))
        *above = pythia_workflow_parent(j.world.workflow, *above);
    end(&j);
    return node;
}

/* What is above a cause is not the cause, unless nothing nearer is known. */
static void what_is_not_known_is_seen_as_what_is_above(void **state)
{
    struct pythia_workflow_options o = options_of(1);
    uint32_t above;
    o.unknown = .3;
    o.causes[0].node = unknown_node(&o, &above);
    for (int unknown = 0; unknown < 2; unknown++) {
        struct judging j;
        o.unknown = unknown ? .3 : 0;
        begin(&j, &o);
        name_node(&j, above);
        struct pythia_trial_outcome out = judged(&j);
        assert_int_equal(out.found, unknown);
        assert_int_equal(out.wrong, !unknown);
        end(&j);
    }
}

static void each_place_of_a_lock_is_right(void **state)
{
    struct judging j;
    struct pythia_workflow_options o = options_of(1);
    o.unknown = 0;
    o.causes[0] = (struct pythia_workflow_cause){PYTHIA_PLANTED_CONTENTION, .6, .3, 0};
    begin(&j, &o);
    struct pythia_planted p;
    pythia_workflow_planted(j.world.workflow, 0, 0, &p);
    assert_int_equal(p.other_count, 2);
    name_node(&j, p.others[1]);
    struct pythia_trial_outcome out = judged(&j);
    assert_int_equal(out.found, 1);
    assert_int_equal(out.wrong, 0);
    name_node(&j, p.node);
    name_node(&j, p.others[0]);
    out = judged(&j);
    assert_int_equal(out.found, 1); /* it is one cause */
    assert_int_equal(out.named, 3);
    assert_int_equal(out.wrong, 0);
    uint32_t elsewhere = 1;
    while (elsewhere == p.node || elsewhere == p.others[0] || elsewhere == p.others[1])
        elsewhere++;
    name_node(&j, elsewhere); /* no request waits for the lock there */
    out = judged(&j);
    assert_int_equal(out.named, 4);
    assert_int_equal(out.wrong, 1);
    end(&j);
}

static void what_moves_counts_where_it_was_when_it_was_named(void **state)
{
    struct pythia_workflow_options o = options_of(1);
    o.causes[0].node = 0; /* a fixed one would stay */
    o.drift = PYTHIA_DRIFT_MOVE;
    o.drift_requests = 100;
    struct pythia_planted before, after;
    struct judging j;
    begin(&j, &o);
    pythia_workflow_planted(j.world.workflow, 0, 99, &before);
    pythia_workflow_planted(j.world.workflow, 0, 100, &after);
    assert_true(before.node != after.node);
    j.hunt.number = 100; /* the last request that was seen is number 99 */
    name_node(&j, before.node);
    assert_int_equal(judged(&j).found, 1);
    j.hunt.number = 150;
    struct pythia_trial_outcome out = judged(&j);
    assert_int_equal(out.found, 1); /* it was right */
    assert_int_equal(out.wrong, 0);
    end(&j);

    begin(&j, &o);
    j.hunt.number = 101;
    name_node(&j, before.node);
    out = judged(&j);
    assert_int_equal(out.found, 0);
    assert_int_equal(out.wrong, 1);
    end(&j);
}

static void two_causes_at_one_place_are_both_found(void **state)
{
    struct judging j;
    struct pythia_workflow_options o = options_of(2);
    o.causes[1].node = o.causes[0].node;
    begin(&j, &o);
    name_node(&j, o.causes[0].node);
    assert_int_equal(judged(&j).found, 2);
    assert_int_equal(j.hunt.localised, 1);
    end(&j);
}

/* Two types: the one that varies most goes with another key, and does not pass the cause. */
static void the_key_is_looked_for_where_the_cause_is(void **state)
{
    struct judging j;
    struct pythia_trial trial = {.seed = 1};
    struct pythia_trial_outcome out = {.causes = 0};
    struct pythia_workflow_options o = options_of(1);
    o.causes[0] = (struct pythia_workflow_cause){PYTHIA_PLANTED_NUMERIC, 0, .3, 10};
    begin(&j, &o);
    name_node(&j, 10);
    assert_int_equal(judged(&j).found, 1);
    struct requests r = {.vocabulary = j.world.vocabulary};
    assert_int_equal(pythia_trace_builder_create(r.vocabulary, NULL, &r.builder), PYTHIA_OK);
    requests_group(&r, &(struct pythia_groups_options){.fold = true});
    const char *cause = pythia_vocabulary_tracepoint_id(
                            r.vocabulary, pythia_workflow_tracepoint(j.world.workflow, 10))
                            .bytes;
    for (int i = 0; i < 100; i++) {
        requests_add(&r, "loud{1 x(other=%d){%d} 1}", i * 37 % 100, 100000 * (1 + i * 37 % 100));
        requests_add(&r, "quiet{1 %s(item_count=%d){%d} 1}", cause, i * 53 % 100,
                     100 * (1 + i * 53 % 100));
    }
    size_t types;
    (void)requests_finish(&r, &types);
    assert_int_equal(types, 2);
    j.hunt.trial = &trial;
    j.hunt.groups = r.groups;
    assert_int_equal(pythia__hunt_explain(&j.hunt, &out), PYTHIA_OK);
    assert_int_equal(out.keys, 1);
    assert_int_equal(out.keys_first, 1);
    r.vocabulary = NULL; /* it is not ours */
    requests_end(&r);
    end(&j);
}

static void a_key_is_known_by_its_name(void **state)
{
    static const struct {
        const char *name;
        enum pythia_key_kind kind;
        bool is;
    } rows[] = {
        {"plan", PYTHIA_KEY_CATEGORICAL, true},     {"plan", PYTHIA_KEY_NUMERIC, true},
        {"plan@api", PYTHIA_KEY_CATEGORICAL, true}, {"plan_2", PYTHIA_KEY_CATEGORICAL, false},
        {"plans", PYTHIA_KEY_CATEGORICAL, false},   {"pla", PYTHIA_KEY_CATEGORICAL, false},
        {"", PYTHIA_KEY_CATEGORICAL, false},        {"plan", PYTHIA_KEY_COUNT, false},
        {"my plan", PYTHIA_KEY_CATEGORICAL, false}, {"plan", PYTHIA_KEY_HAS, false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char name[16];
        snprintf(name, sizeof(name), "%s", rows[i].name);
        struct pythia_explanation x = {.name = name, .kind = rows[i].kind};
        assert_true(pythia__trial_is_key(&x, pythia_text_of("plan")) == rows[i].is);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(where_nothing_is_planted_every_name_is_wrong),
        cmocka_unit_test(the_first_three_names_count_by_their_order),
        cmocka_unit_test(causes_of_each_problem_count),
        cmocka_unit_test(a_slow_host_is_found_when_the_search_ends_by_its_key),
        cmocka_unit_test(what_is_not_known_is_seen_as_what_is_above),
        cmocka_unit_test(each_place_of_a_lock_is_right),
        cmocka_unit_test(what_moves_counts_where_it_was_when_it_was_named),
        cmocka_unit_test(two_causes_at_one_place_are_both_found),
        cmocka_unit_test(the_key_is_looked_for_where_the_cause_is),
        cmocka_unit_test(a_key_is_known_by_its_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
