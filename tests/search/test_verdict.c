/* A verdict stays until evidence speaks against it. The problems are made by hand: what the search
 * would say of them is tested with the search. */
#include <math.h>
#include <string.h>

#include "check.h"
#include "pythia/mem.h"
#include "pythia/place.h"
#include "pythia/status.h"
#include "pythia/verdict.h"
#include "requests.h"

#define TYPE 3

static struct pythia_finding finding(uint32_t point, double share, double half_width)
{
    return (struct pythia_finding){.place = {.context = point,
                                             .from_tracepoint = point,
                                             .to_tracepoint = point,
                                             .from_event = 0,
                                             .to_event = 1},
                                   .share = share,
                                   .low = share - half_width,
                                   .high = share + half_width};
}

static struct pythia_problem problem(enum pythia_problem_state state)
{
    return (struct pythia_problem){
        .type = TYPE, .state = state, .requests = 100, .top = {.share = NAN, .low = NAN}};
}

static struct pythia_problem with_cause(struct pythia_finding cause)
{
    struct pythia_problem p = problem(PYTHIA_PROBLEM_DONE);
    p.causes[p.cause_count++] = cause;
    return p;
}

static uint64_t hold_ns; /* a cycle lasts 1000 ns */

static const struct pythia_verdict *take(struct pythia_verdicts *v, uint64_t cycle,
                                         struct pythia_problem p)
{
    const struct pythia_verdict_cycle now = {cycle, cycle * 1000, hold_ns};
    assert_int_equal(pythia_verdicts_update(v, now, &p, 1), PYTHIA_OK);
    assert_int_equal(v->count, 1);
    return &v->list[0];
}

static void assert_found(const struct pythia_verdict *v, uint32_t point)
{
    assert_int_equal(v->state, PYTHIA_VERDICT_FOUND);
    assert_true(v->found_count > 0);
    assert_int_equal(v->found[0].finding.place.from_tracepoint, point);
}

static void a_place_that_was_found_keeps_its_cycle_while_its_share_scatters(void **state)
{
    struct pythia_verdicts v = {0};
    const double shares[] = {.66, .4, .13, .2, .12, .5};
    take(&v, 1, problem(PYTHIA_PROBLEM_SEARCHING));
    for (uint64_t i = 0; i < 6; i++) {
        const struct pythia_verdict *one = take(&v, 2 + i, with_cause(finding(7, shares[i], .1)));
        assert_found(one, 7);
        assert_int_equal(one->since, 2);
        assert_int_equal(one->since_unix_ns, 2000);
        assert_int_equal(one->looks, i + 1);
        assert_int_equal(one->changes, 0);
        assert_int_equal(one->reason, PYTHIA_VERDICT_CAUSE);
        assert_true(one->found[0].finding.share == shares[i]);
    }
    pythia_verdicts_free(&v);
    (void)state;
}

/* Once may be chance; the same numbers again are no new evidence. */
static void two_cycles_in_a_row_with_surely_less_refute_it(void **state)
{
    struct pythia_verdicts v = {0};
    take(&v, 1, with_cause(finding(7, .6, .1)));
    assert_found(take(&v, 2, with_cause(finding(7, .05, .05))), 7);
    assert_found(take(&v, 3, with_cause(finding(7, .05, .05))), 7);
    assert_found(take(&v, 4, with_cause(finding(7, .2, .1))), 7);
    assert_found(take(&v, 5, with_cause(finding(7, .06, .05))), 7);
    const struct pythia_verdict *one = take(&v, 6, with_cause(finding(7, .07, .03)));
    assert_int_equal(one->state, PYTHIA_VERDICT_NOTHING);
    assert_int_equal(one->reason, PYTHIA_VERDICT_REFUTED);
    assert_int_equal(one->was, PYTHIA_VERDICT_FOUND);
    assert_int_equal(one->was_found.place.from_tracepoint, 7);
    assert_int_equal(one->changes, 1);
    assert_int_equal(one->also_count, 1); /* it is still seen */
    pythia_verdicts_free(&v);
    (void)state;
}

/* The first place stays, and the verdict names the other one as what it was. */
static void the_place_that_is_dropped_is_what_was_found(void **state)
{
    struct pythia_verdicts v = {0};
    struct pythia_problem two = with_cause(finding(7, .5, .1));
    two.causes[two.cause_count++] = finding(8, .4, .1);
    take(&v, 1, two);
    two.causes[1] = finding(8, .41, .1);
    assert_int_equal(take(&v, 2, two)->found_count, 2);
    two.causes[1] = finding(8, .03, .02);
    take(&v, 3, two);
    two.causes[0] = finding(7, .8, .1);
    two.causes[1] = finding(8, .02, .02);
    const struct pythia_verdict *one = take(&v, 4, two);
    assert_found(one, 7);
    assert_int_equal(one->found_count, 1);
    assert_int_equal(one->reason, PYTHIA_VERDICT_REFUTED);
    assert_int_equal(one->was_found.place.from_tracepoint, 8);
    pythia_verdicts_free(&v);
    (void)state;
}

static void a_small_share_or_one_that_may_be_nothing_is_only_also_seen(void **state)
{
    struct pythia_verdicts v = {0};
    struct pythia_problem p = with_cause(finding(7, .6, .1));
    p.causes[p.cause_count++] = finding(8, .14, .05);
    p.causes[p.cause_count++] = finding(9, .2, .2);
    p.top = finding(10, .1, .04);
    const struct pythia_verdict *one = take(&v, 1, p);
    assert_found(one, 7);
    assert_int_equal(one->found_count, 1);
    assert_int_equal(one->also_count, 2); /* 9 may be nothing at all */
    assert_int_equal(one->also[0].place.from_tracepoint, 8);
    assert_int_equal(one->also[1].place.from_tracepoint, 10);
    pythia_verdicts_free(&v);
    (void)state;
}

static struct pythia_problem with_causes(struct pythia_finding a, struct pythia_finding b)
{
    struct pythia_problem p = with_cause(a);
    p.causes[p.cause_count++] = b;
    return p;
}

/* One disturbed cycle; the same numbers again are no new evidence. */
static void a_further_place_joins_after_two_cycles_even_a_large_one(void **state)
{
    struct pythia_verdicts v = {0};
    take(&v, 1, with_cause(finding(7, .6, .1)));
    struct pythia_problem two = with_causes(finding(7, .5, .1), finding(8, .38, .19));
    const struct pythia_verdict *one = take(&v, 2, two);
    assert_int_equal(one->found_count, 1);
    assert_int_equal(one->also_count, 1);
    assert_int_equal(one->also[0].place.from_tracepoint, 8);
    assert_int_equal(take(&v, 3, two)->found_count, 1);
    assert_int_equal(take(&v, 4, with_causes(finding(7, .7, .1), finding(8, .1, .1)))->since, 1);
    assert_int_equal(take(&v, 5, two)->found_count, 1); /* it begins again */
    one = take(&v, 6, with_causes(finding(7, .5, .1), finding(8, .3, .1)));
    assert_int_equal(one->found_count, 2);
    assert_int_equal(one->also_count, 0);
    assert_int_equal(one->reason, PYTHIA_VERDICT_MORE);
    assert_int_equal(one->changes, 1);
    pythia_verdicts_free(&v);
    take(&v, 1, with_cause(finding(7, .96, .03)));
    one = take(&v, 2, with_causes(finding(7, .083, .13), finding(8, .83, .17)));
    assert_int_equal(one->found_count, 1);
    assert_found(one, 7);
    one = take(&v, 3, with_causes(finding(7, .08, .13), finding(8, .82, .17)));
    assert_found(one, 8);
    pythia_verdicts_free(&v);
    (void)state;
}

/* Of what a capture shows only its last cycle can be new. */
static void without_a_further_cycle_one_is_enough(void **state)
{
    struct pythia_verdicts v = {0};
    struct pythia_problem two = with_causes(finding(7, .5, .1), finding(8, .3, .1));
    take(&v, 1, two);
    assert_int_equal(v.list[0].found_count, 1);
    pythia_verdicts_settle(&v, 1);
    assert_int_equal(v.list[0].found_count, 2);
    assert_int_equal(v.list[0].also_count, 0);
    assert_int_equal(v.list[0].reason, PYTHIA_VERDICT_FIRST); /* found in the cycle it began in */
    pythia_verdicts_free(&v);
    take(&v, 1, with_cause(finding(7, .6, .1)));
    take(&v, 2, two);
    pythia_verdicts_settle(&v, 2);
    assert_int_equal(v.list[0].found_count, 2);
    assert_int_equal(v.list[0].reason, PYTHIA_VERDICT_MORE);
    assert_int_equal(v.list[0].since, 2);
    pythia_verdicts_free(&v);
    take(&v, 1, with_causes(finding(7, .6, .1), finding(8, .14, .1)));
    pythia_verdicts_settle(&v, 1);
    assert_int_equal(v.list[0].found_count, 1);
    assert_int_equal(v.list[0].also_count, 1);
    pythia_verdicts_free(&v);
    (void)state;
}

/* What was found first does not lead for that; places that are close do not change their order. */
static void the_largest_place_leads_and_gives_the_confidence(void **state)
{
    struct pythia_verdicts v = {0};
    take(&v, 1, with_cause(finding(7, .3, .2)));
    take(&v, 2, with_causes(finding(7, .3, .19), finding(8, .38, .1)));
    const struct pythia_verdict *one =
        take(&v, 3, with_causes(finding(7, .3, .2), finding(8, .39, .1)));
    assert_int_equal(one->found_count, 2);
    assert_found(one, 7); /* .09 behind */
    assert_int_equal(one->confidence, PYTHIA_CONFIDENCE_LOW);
    one = take(&v, 4, with_causes(finding(7, .2, .1), finding(8, .49, .1)));
    assert_found(one, 8);
    assert_int_equal(one->found[1].finding.place.from_tracepoint, 7);
    assert_int_equal(one->confidence, PYTHIA_CONFIDENCE_MEDIUM);
    assert_int_equal(one->changes, 1); /* one more; the order is none */
    assert_int_equal(one->since, 3);
    assert_found(take(&v, 5, with_causes(finding(7, .45, .1), finding(8, .4, .1))), 8);
    pythia_verdicts_free(&v);
    (void)state;
}

/* The leading place may scatter below the limit, a further one is "also seen" then; and it comes
 * again only with a share that is surely above. */
static void a_further_place_below_the_limit_is_also_seen(void **state)
{
    struct pythia_verdicts v = {0};
    take(&v, 1, with_cause(finding(7, .6, .1)));
    take(&v, 2, with_causes(finding(7, .6, .1), finding(8, .2, .06)));
    take(&v, 3, with_causes(finding(7, .6, .1), finding(8, .21, .06)));
    const struct pythia_verdict *one =
        take(&v, 4, with_causes(finding(7, .6, .1), finding(8, .14, .06)));
    assert_int_equal(one->found_count, 2);
    one = take(&v, 5, with_causes(finding(7, .6, .1), finding(8, .12, .06)));
    assert_int_equal(one->found_count, 1);
    assert_int_equal(one->also_count, 1);
    assert_int_equal(one->reason, PYTHIA_VERDICT_REFUTED);
    for (uint64_t i = 0; i < 4; i++)
        one = take(&v, 6 + i,
                   with_causes(finding(7, .6, .1), finding(8, .19 + .001 * (double)i, .06)));
    assert_int_equal(one->found_count, 1);
    assert_int_equal(one->changes, 2);
    take(&v, 10, with_causes(finding(7, .6, .1), finding(8, .3, .06)));
    one = take(&v, 11, with_causes(finding(7, .6, .1), finding(8, .31, .06)));
    assert_int_equal(one->found_count, 2);
    pythia_verdicts_free(&v);
    (void)state;
}

static void too_few_requests_say_nothing_against_it(void **state)
{
    struct pythia_verdicts v = {0};
    struct pythia_problem few = with_cause(finding(7, .6, .1));
    take(&v, 1, with_cause(finding(7, .6, .1)));
    few.state = PYTHIA_PROBLEM_TOO_FEW;
    few.requests = 0;
    const struct pythia_verdict *one = take(&v, 2, few);
    assert_found(one, 7);
    assert_int_equal(one->looks, 1);
    assert_int_equal(one->requests, 100);
    pythia_verdicts_free(&v);
    take(&v, 1, problem(PYTHIA_PROBLEM_GIVEN_UP));
    assert_int_equal(take(&v, 2, problem(PYTHIA_PROBLEM_TOO_FEW))->state, PYTHIA_VERDICT_NOTHING);
    pythia_verdicts_free(&v);
    assert_int_equal(take(&v, 1, problem(PYTHIA_PROBLEM_TOO_FEW))->state, PYTHIA_VERDICT_TOO_FEW);
    pythia_verdicts_free(&v);
    (void)state;
}

static void each_change_has_its_reason(void **state)
{
    struct pythia_verdicts v = {0};
    struct pythia_problem two = with_cause(finding(7, .5, .1));
    two.causes[two.cause_count++] = finding(8, .3, .1);
    assert_int_equal(take(&v, 1, problem(PYTHIA_PROBLEM_UNKNOWN))->reason, PYTHIA_VERDICT_FIRST);
    assert_int_equal(take(&v, 2, problem(PYTHIA_PROBLEM_SEARCHING))->reason, PYTHIA_VERDICT_LEARNT);
    assert_int_equal(take(&v, 3, problem(PYTHIA_PROBLEM_GIVEN_UP))->reason, PYTHIA_VERDICT_ENDED);
    assert_int_equal(take(&v, 4, problem(PYTHIA_PROBLEM_SEARCHING))->reason, PYTHIA_VERDICT_AGAIN);
    assert_int_equal(take(&v, 5, with_cause(finding(7, .6, .1)))->reason, PYTHIA_VERDICT_CAUSE);
    assert_int_equal(take(&v, 6, two)->reason, PYTHIA_VERDICT_CAUSE); /* a candidate */
    two.causes[1] = finding(8, .31, .1);
    assert_int_equal(take(&v, 7, two)->reason, PYTHIA_VERDICT_MORE);
    assert_int_equal(v.list[0].found_count, 2);
    assert_int_equal(take(&v, 8, with_cause(finding(8, .3, .1)))->reason, PYTHIA_VERDICT_REFUTED);
    assert_found(&v.list[0], 8);
    assert_int_equal(take(&v, 9, problem(PYTHIA_PROBLEM_QUIET))->reason, PYTHIA_VERDICT_QUIET);
    assert_int_equal(v.list[0].state, PYTHIA_VERDICT_NOTHING);
    assert_int_equal(v.list[0].changes, 3); /* more, refuted, quiet */
    take(&v, 10, with_cause(finding(7, .6, .1)));
    struct pythia_problem grown = problem(PYTHIA_PROBLEM_SEARCHING);
    grown.grown = true;
    assert_int_equal(take(&v, 11, grown)->reason, PYTHIA_VERDICT_GROWN);
    assert_int_equal(v.list[0].state, PYTHIA_VERDICT_SEARCHING);
    take(&v, 12, problem(PYTHIA_PROBLEM_GIVEN_UP));
    struct pythia_problem retried = problem(PYTHIA_PROBLEM_SEARCHING);
    retried.retries = 1;
    assert_int_equal(take(&v, 16, retried)->reason, PYTHIA_VERDICT_RETRY);
    pythia_verdicts_free(&v);
    (void)state;
}

/* No place was found, and the key is the finding. */
static void a_key_that_ended_the_search_is_found_until_it_explains_no_more(void **state)
{
    struct pythia_verdicts v = {0}, copy = {0};
    struct pythia_problem spread = problem(PYTHIA_PROBLEM_DONE);
    spread.why = PYTHIA_WHY_SPREAD;
    spread.top = finding(7, .2, .05);
    take(&v, 1, problem(PYTHIA_PROBLEM_SEARCHING));
    const struct pythia_verdict *one = take(&v, 2, spread);
    assert_int_equal(one->state, PYTHIA_VERDICT_FOUND);
    assert_int_equal(one->reason, PYTHIA_VERDICT_CAUSE);
    assert_int_equal(one->confidence, PYTHIA_CONFIDENCE_MEDIUM);
    assert_int_equal(one->found_count, 0);
    assert_int_equal(one->also_count, 1); /* the largest of the places */
    assert_true(pythia_verdict_is_spread(one));
    assert_int_equal(pythia_verdicts_copy(&v, &copy), PYTHIA_OK);
    copy.list[0].key = pythia_strndup("host.name", 9);
    copy.list[0].explained = .9;
    assert_true(pythia_verdicts_take_keys(&v, &copy));
    pythia_verdicts_free(&copy);
    assert_string_equal(take(&v, 3, spread)->key, "host.name");
    assert_int_equal(v.list[0].confidence, PYTHIA_CONFIDENCE_MEDIUM); /* nothing was tested */
    spread.retries = 1;
    spread.retried = true;
    one = take(&v, 6, spread);
    assert_int_equal(one->confidence, PYTHIA_CONFIDENCE_HIGH);
    assert_int_equal(one->since, 2);
    assert_int_equal(one->changes, 0);
    struct pythia_problem other = problem(PYTHIA_PROBLEM_SEARCHING);
    other.retries = 2;
    one = take(&v, 14, other);
    assert_int_equal(one->state, PYTHIA_VERDICT_SEARCHING);
    assert_int_equal(one->reason, PYTHIA_VERDICT_REFUTED);
    assert_null(one->key);
    assert_false(pythia_verdict_is_spread(one));
    take(&v, 15, spread);
    other.retries = 0; /* the durations are others */
    assert_int_equal(take(&v, 16, other)->reason, PYTHIA_VERDICT_AGAIN);
    take(&v, 17, spread);
    one = take(&v, 18, with_cause(finding(8, .6, .1)));
    assert_found(one, 8);
    assert_int_equal(one->reason, PYTHIA_VERDICT_CAUSE);
    pythia_verdicts_free(&v);
    (void)state;
}

static void confidence_grows_with_the_share_and_with_cycles(void **state)
{
    struct pythia_verdicts v = {0};
    assert_int_equal(take(&v, 1, with_cause(finding(7, .61, .1)))->confidence,
                     PYTHIA_CONFIDENCE_HIGH);
    pythia_verdicts_free(&v);
    assert_int_equal(take(&v, 1, with_cause(finding(7, .3, .1)))->confidence,
                     PYTHIA_CONFIDENCE_MEDIUM);
    pythia_verdicts_free(&v);
    assert_int_equal(take(&v, 1, with_cause(finding(7, .2, .1)))->confidence,
                     PYTHIA_CONFIDENCE_LOW);
    assert_int_equal(take(&v, 2, with_cause(finding(7, .21, .1)))->confidence,
                     PYTHIA_CONFIDENCE_MEDIUM);
    assert_int_equal(take(&v, 3, with_cause(finding(7, .2, .1)))->confidence,
                     PYTHIA_CONFIDENCE_HIGH);
    pythia_verdicts_free(&v);
    (void)state;
}

/* A copy is explained by another thread; meanwhile the verdict may have become another. */
static void keys_of_a_copy_are_taken_over_where_the_place_is_the_same(void **state)
{
    struct pythia_verdicts v = {0}, copy = {0};
    take(&v, 1, with_cause(finding(7, .6, .1)));
    assert_int_equal(pythia_verdicts_copy(&v, &copy), PYTHIA_OK);
    copy.list[0].key = pythia_strndup("tenant", 6);
    copy.list[0].explained = .8;
    assert_true(pythia_verdicts_take_keys(&v, &copy));
    assert_string_equal(v.list[0].key, "tenant");
    assert_true(v.list[0].explained == .8);
    assert_null(copy.list[0].key);
    pythia_verdicts_free(&copy);
    assert_string_equal(take(&v, 2, with_cause(finding(7, .5, .1)))->key, "tenant");
    assert_int_equal(pythia_verdicts_copy(&v, &copy), PYTHIA_OK);
    assert_string_equal(copy.list[0].key, "tenant");
    assert_null(take(&v, 3, with_cause(finding(8, .5, .1)))->key);
    assert_false(pythia_verdicts_take_keys(&v, &copy));
    assert_null(v.list[0].key);
    pythia_verdicts_free(&copy);
    pythia_verdicts_free(&v);
    (void)state;
}

/* What a cycle says of the keys of a place, the first edge of requests: the best of them, and one
 * more, or NULL. */
static const struct pythia_verdict *explain(struct pythia_verdicts *v, const struct requests *r,
                                            const char *best, double explained, const char *other)
{
    char names[2][16];
    struct pythia_explanation keys[2] = {{.name = names[0], .result = {.explained = explained}},
                                         {.name = names[1], .result = {.explained = .5}}};
    struct pythia_ranked_edge edge = {.edge = 0};
    struct pythia_type type = {.name = TYPE};
    struct pythia_type_result of_type = {.type = &type};
    struct pythia_group group = {.id = 9,
                                 .ranking = {.edges = &edge, .edge_count = 1},
                                 .explanations = {.found = keys, .found_count = other ? 2 : 1}};
    struct pythia_diagnosis d = {
        .types = &of_type, .type_count = 1, .groups = &group, .group_count = 1};
    snprintf(names[0], sizeof(names[0]), "%s", best);
    snprintf(names[1], sizeof(names[1]), "%s", other ? other : "");
    assert_int_equal(pythia_verdicts_explain(v, &d, r->groups), PYTHIA_OK);
    return &v->list[0];
}

static const struct pythia_verdict *take_edge(struct pythia_verdicts *v, const struct requests *r,
                                              uint64_t cycle)
{
    struct pythia_finding cause = {.place = pythia_place_of(pythia_groups_cct(r->groups), 0),
                                   .share = .6 + .001 * (double)cycle,
                                   .low = .5,
                                   .high = .7};
    return take(v, cycle, with_cause(cause));
}

/* A report may be asked for often within a cycle: that is no new evidence. */
static void two_cycles_in_a_row_take_another_key(void **state)
{
    struct requests r;
    size_t count;
    struct pythia_verdicts v = {0};
    requests_begin_folded(&r);
    requests_add(&r, "R{A{10} 5}");
    requests_finish(&r, &count);
    take_edge(&v, &r, 1);
    assert_string_equal(explain(&v, &r, "tenant", .5, NULL)->key, "tenant");
    take_edge(&v, &r, 2); /* ahead, but not by a tenth */
    assert_string_equal(explain(&v, &r, "thread", .59, "tenant")->key, "tenant");
    take_edge(&v, &r, 3);
    assert_string_equal(explain(&v, &r, "thread", .7, "tenant")->key, "tenant");
    assert_string_equal(explain(&v, &r, "thread", .7, NULL)->key, "tenant");
    take_edge(&v, &r, 4); /* only one cycle was disturbed */
    assert_string_equal(explain(&v, &r, "thread", .55, "tenant")->key, "tenant");
    assert_true(v.list[0].explained == .5);
    take_edge(&v, &r, 5);
    assert_string_equal(explain(&v, &r, "thread", .7, NULL)->key, "tenant");
    take_edge(&v, &r, 6);
    assert_string_equal(explain(&v, &r, "thread", .7, NULL)->key, "thread");
    assert_true(v.list[0].explained == .7);
    assert_int_equal(v.list[0].changes, 0);
    hold_ns = 5000;
    for (uint64_t cycle = 7; cycle < 12; cycle++) {
        take_edge(&v, &r, cycle);
        assert_string_equal(explain(&v, &r, "tenant", .9, NULL)->key, "thread");
    }
    take_edge(&v, &r, 12);
    assert_string_equal(explain(&v, &r, "tenant", .9, NULL)->key, "tenant");
    hold_ns = 0;
    pythia_verdicts_free(&v);
    requests_end(&r);
    (void)state;
}

/* A host that is slow in all it does: each step has a seventh of the variance. */
static void a_key_may_act_in_many_places(void **state)
{
    struct pythia_verdicts v = {0};
    const struct {
        double share, explained;
        bool spread;
    } cases[] = {{.15, .95, true}, {.15, .45, false}, {.45, .95, false}, {.3, .7, true}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        take(&v, 1, with_cause(finding(7, cases[i].share, .04)));
        assert_false(pythia_verdict_is_spread(&v.list[0]));
        v.list[0].key = pythia_strndup("host.name", 9);
        v.list[0].explained = cases[i].explained;
        assert_int_equal(pythia_verdict_is_spread(&v.list[0]), cases[i].spread);
        pythia_verdicts_free(&v);
    }
    (void)state;
}

/* ---- a verdict stays for a while, however short cycles are ---- */

/* Requests that are slow now and then: in most cycles none is. */
static void a_search_that_rests_changes_no_verdict(void **state)
{
    struct pythia_verdicts v = {0};
    struct pythia_problem resting = problem(PYTHIA_PROBLEM_QUIET);
    resting.resting = true;
    assert_int_equal(take(&v, 1, problem(PYTHIA_PROBLEM_SEARCHING))->state,
                     PYTHIA_VERDICT_SEARCHING);
    for (uint64_t cycle = 2; cycle < 10; cycle++) {
        const struct pythia_verdict *one =
            take(&v, cycle, cycle % 3 ? resting : problem(PYTHIA_PROBLEM_SEARCHING));
        assert_int_equal(one->state, PYTHIA_VERDICT_SEARCHING);
        assert_int_equal(one->since, 1);
        assert_true(one->searched);
    }
    struct pythia_problem found = with_cause(finding(7, .6, .1));
    take(&v, 10, found);
    found.state = PYTHIA_PROBLEM_QUIET;
    found.resting = true;
    assert_found(take(&v, 11, found), 7);
    assert_false(v.list[0].searched);
    assert_int_equal(take(&v, 12, problem(PYTHIA_PROBLEM_QUIET))->state, PYTHIA_VERDICT_NOTHING);
    pythia_verdicts_free(&v);
    (void)state;
}

/* While a machine is disturbed the search drops what it knew, and finds something else. */
static void a_disturbance_that_is_short_changes_no_verdict(void **state)
{
    struct pythia_verdicts v = {0};
    hold_ns = 12000;
    take(&v, 1, with_cause(finding(7, .6, .1)));
    for (uint64_t cycle = 2; cycle < 100; cycle++) {
        struct pythia_problem p = with_cause(finding(7, .6 + .001 * (double)cycle, .1));
        bool searches = cycle % 20 < 3;
        if (searches)
            p = problem(PYTHIA_PROBLEM_SEARCHING);
        else if (cycle % 20 < 12)
            p = with_cause(finding(8, .8 + .001 * (double)cycle, .05));
        const struct pythia_verdict *one = take(&v, cycle, p);
        assert_found(one, 7);
        assert_int_equal(one->found_count, 1);
        assert_int_equal(one->changes, 0);
        assert_int_equal(one->searched, searches);
    }
    hold_ns = 0;
    pythia_verdicts_free(&v);
    (void)state;
}

/* Once, to what evidence shows now; the cycles without requests do not count. */
static void a_disturbance_that_stays_changes_it(void **state)
{
    struct pythia_verdicts v = {0};
    struct pythia_problem none = problem(PYTHIA_PROBLEM_TOO_FEW);
    none.requests = 0;
    hold_ns = 12000;
    take(&v, 1, with_cause(finding(7, .6, .1)));
    for (uint64_t cycle = 2; cycle < 12; cycle++)
        assert_found(take(&v, cycle, none), 7);
    take(&v, 12, problem(PYTHIA_PROBLEM_SEARCHING));
    for (uint64_t cycle = 13; cycle < 24; cycle++)
        assert_found(take(&v, cycle, with_cause(finding(8, .5 + .001 * (double)cycle, .1))), 7);
    const struct pythia_verdict *one = take(&v, 24, with_cause(finding(8, .6, .1)));
    assert_found(one, 8);
    assert_int_equal(one->found_count, 1);
    assert_int_equal(one->changes, 1);
    assert_int_equal(one->reason, PYTHIA_VERDICT_REFUTED);
    take(&v, 30, problem(PYTHIA_PROBLEM_QUIET));
    assert_found(take(&v, 41, problem(PYTHIA_PROBLEM_QUIET)), 8);
    one = take(&v, 42, problem(PYTHIA_PROBLEM_QUIET));
    assert_int_equal(one->state, PYTHIA_VERDICT_NOTHING);
    assert_int_equal(one->reason, PYTHIA_VERDICT_QUIET);
    /* What comes then was given up, or is the first: that one joins at once. */
    take(&v, 43, with_cause(finding(9, .5, .1)));
    assert_found(&v.list[0], 9);
    struct pythia_problem grown = problem(PYTHIA_PROBLEM_SEARCHING);
    grown.grown = true;
    assert_int_equal(take(&v, 44, grown)->reason, PYTHIA_VERDICT_GROWN);
    take(&v, 45, with_cause(finding(7, .5, .1)));
    struct pythia_problem refuted = problem(PYTHIA_PROBLEM_SEARCHING);
    refuted.refuted = true;
    assert_int_equal(take(&v, 46, refuted)->reason, PYTHIA_VERDICT_REFUTED);
    assert_int_equal(v.list[0].found_count, 0);
    hold_ns = 0;
    pythia_verdicts_free(&v);
    (void)state;
}

static void a_key_that_ended_the_search_stays_for_a_while_too(void **state)
{
    struct pythia_verdicts v = {0};
    struct pythia_problem spread = problem(PYTHIA_PROBLEM_DONE);
    spread.why = PYTHIA_WHY_SPREAD;
    hold_ns = 4000;
    take(&v, 1, spread);
    v.list[0].key = pythia_strndup("host.name", 9);
    for (uint64_t cycle = 2; cycle < 30; cycle++)
        assert_string_equal(
            take(&v, cycle, cycle % 5 < 4 ? problem(PYTHIA_PROBLEM_SEARCHING) : spread)->key,
            "host.name");
    assert_int_equal(v.list[0].changes, 0);
    for (uint64_t cycle = 30; cycle < 34; cycle++)
        assert_string_equal(take(&v, cycle, with_cause(finding(8, .6, .1)))->key, "host.name");
    assert_found(take(&v, 34, with_cause(finding(8, .61, .1))), 8);
    assert_null(v.list[0].key);
    assert_int_equal(v.list[0].changes, 1);
    hold_ns = 0;
    pythia_verdicts_free(&v);
    (void)state;
}

/* Of the types that the search knows, and of those behind them that come and go. */
static void verdicts_are_of_types_and_not_of_places_in_a_list(void **state)
{
    struct pythia_verdicts v = {0};
    struct pythia_problem list[2] = {with_cause(finding(7, .6, .1)),
                                     problem(PYTHIA_PROBLEM_UNKNOWN)};
    list[1].type = TYPE + 1;
    assert_int_equal(
        pythia_verdicts_update(&v, (struct pythia_verdict_cycle){.number = 1}, list, 2), PYTHIA_OK);
    struct pythia_problem other[2] = {list[0], problem(PYTHIA_PROBLEM_SEARCHING)};
    other[1].type = TYPE + 2;
    assert_int_equal(
        pythia_verdicts_update(&v, (struct pythia_verdict_cycle){.number = 2}, other, 2),
        PYTHIA_OK);
    assert_int_equal(v.count, 3);
    assert_int_equal(
        pythia_verdicts_update(&v, (struct pythia_verdict_cycle){.number = 3}, list, 2), PYTHIA_OK);
    assert_int_equal(v.count, 3);
    assert_int_equal(v.list[1].since, 1);
    pythia_verdicts_free(&v);
    (void)state;
}

static void without_memory_nothing_leaks(void **state)
{
    struct pythia_problem list[1] = {with_cause(finding(7, .6, .1))};
    struct pythia_verdicts v = {0}, copy = {0};
    pythia_mem_fail_after(0);
    int status = pythia_verdicts_update(&v, (struct pythia_verdict_cycle){.number = 1}, list, 1);
    pythia_mem_fail_after(-1);
    assert_int_equal(status, PYTHIA_ENOMEM);
    take(&v, 1, list[0]);
    v.list[0].key = pythia_strndup("tenant", 6);
    for (long n = 0; n < 2; n++) {
        pythia_mem_fail_after(n);
        status = pythia_verdicts_copy(&v, &copy);
        pythia_mem_fail_after(-1);
        assert_int_equal(status, PYTHIA_ENOMEM);
    }
    pythia_verdicts_free(&v);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_place_that_was_found_keeps_its_cycle_while_its_share_scatters),
        cmocka_unit_test(two_cycles_in_a_row_with_surely_less_refute_it),
        cmocka_unit_test(the_place_that_is_dropped_is_what_was_found),
        cmocka_unit_test(a_small_share_or_one_that_may_be_nothing_is_only_also_seen),
        cmocka_unit_test(a_further_place_joins_after_two_cycles_even_a_large_one),
        cmocka_unit_test(without_a_further_cycle_one_is_enough),
        cmocka_unit_test(the_largest_place_leads_and_gives_the_confidence),
        cmocka_unit_test(a_further_place_below_the_limit_is_also_seen),
        cmocka_unit_test(too_few_requests_say_nothing_against_it),
        cmocka_unit_test(each_change_has_its_reason),
        cmocka_unit_test(a_key_that_ended_the_search_is_found_until_it_explains_no_more),
        cmocka_unit_test(confidence_grows_with_the_share_and_with_cycles),
        cmocka_unit_test(keys_of_a_copy_are_taken_over_where_the_place_is_the_same),
        cmocka_unit_test(two_cycles_in_a_row_take_another_key),
        cmocka_unit_test(a_key_may_act_in_many_places),
        cmocka_unit_test(a_search_that_rests_changes_no_verdict),
        cmocka_unit_test(a_disturbance_that_is_short_changes_no_verdict),
        cmocka_unit_test(a_disturbance_that_stays_changes_it),
        cmocka_unit_test(a_key_that_ended_the_search_stays_for_a_while_too),
        cmocka_unit_test(verdicts_are_of_types_and_not_of_places_in_a_list),
        cmocka_unit_test(without_memory_nothing_leaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
