#include "exponential.h"
#include "sides.h"

/* ---- laws ---- */

/* Ways of different lengths, loops, a rare branch, heavy tails: what requests have in reality. */
static void add_mixed(struct sides *s, size_t side, struct pythia_random *r, size_t n,
                      double slower)
{
    for (size_t i = 0; i < n; i++) {
        unsigned a = (unsigned)(1000 * exp(.5 * pythia_random_normal(r))),
                 b = (unsigned)(slower * 2000 * exp(pythia_random_normal(r))),
                 c = (unsigned)(300 * draw_exponential(r)) + 1;
        double way = pythia_random_unit(r);
        if (way < .08)
            sides_add(s, side, "web:GET{%u rare:R{%u} 20}", c, 5 * a);
        else if (way < .4)
            sides_add(s, side, "web:GET{%u db:Q{%u} 10 db:Q{%u} 20}", a, b, c);
        else
            sides_add(s, side, "web:GET{%u db:Q{%u} 10 cache:C{%u} 20}", a, b, c);
    }
}

static void changes_of_edges_add_up_to_the_change_of_the_whole(void **state)
{
    struct sides s;
    struct pythia_random r;
    sides_begin(&s);
    pythia_random_init(&r, 5);
    add_mixed(&s, BEFORE, &r, 200, 1);
    add_mixed(&s, AFTER, &r, 70, 1.5);
    const struct pythia_compared_type *t = &sides_compare(&s)->types[0];
    double mean = 0, variance = 0, parts = 0, clipped = 0, of_service = 0;
    for (size_t e = 0; e < t->edge_count; e++) {
        mean += t->edges[e].mean.change;
        variance += t->edges[e].variance.change;
        parts += t->edges[e].longer + t->edges[e].often;
        clipped += t->edges[e].mean_test.clipped.change;
    }
    for (size_t i = 0; i < s.c->service_count; i++)
        of_service += s.c->services[i].change;
    assert_int_equal(s.c->type_count, 1);
    assert_rel_equal(mean, t->mean.change, 1e-9);
    assert_rel_equal(t->sample_mean.change, t->mean.change, 1e-9);
    assert_rel_equal(parts, t->mean.change, 1e-9);
    assert_rel_equal(of_service, s.c->mean.change, 1e-9);
    assert_rel_equal(variance, t->variance.change, 1e-9);
    assert_rel_equal(clipped, t->mean_test.clipped.change, 1e-9);
    sides_end(&s);
}

static void what_was_tested_has_all_its_figures(void **state)
{
    struct sides s;
    struct pythia_random r;
    size_t tested = 0;
    sides_begin(&s);
    pythia_random_init(&r, 6);
    add_mixed(&s, BEFORE, &r, 90, 1);
    add_mixed(&s, AFTER, &r, 60, 1);
    const struct pythia_compared_type *t = &sides_compare(&s)->types[0];
    for (size_t e = 0; e < t->edge_count; e++) {
        const struct pythia_compared_edge *x = &t->edges[e];
        const struct pythia_mean_change *m = &x->mean_test.clipped, *v = &x->variance_test.clipped;
        assert_true(isfinite(x->mean.change + x->longer + x->often + x->variance.change));
        assert_true(isfinite(x->visits.change + x->score + m->change + m->low + m->high + m->se));
        assert_true(isfinite(v->change + v->low + v->high + v->se));
        assert_int_equal(isnan(m->p), isnan(x->mean_test.q));
        assert_true(isnan(m->p) || (m->p >= 0 && m->p <= x->mean_test.q && x->mean_test.q <= 1));
        tested += isnan(m->p) ? 0 : 1;
    }
    assert_true(tested >= 8);
    assert_true(isfinite(t->within + t->mix + t->weight + t->rate.change));
    sides_end(&s);
}

static void changes_of_types_add_up_to_the_change_of_all_requests(void **state)
{
    struct sides s;
    double sum = 0;
    sides_begin(&s);
    for (size_t i = 0; i < 40; i++) {
        sides_add(&s, BEFORE, "A{%zu}", 100 + i);
        sides_add(&s, BEFORE, i % 2 ? "A{50}" : "C{%zu}", i + 5);
        sides_add(&s, AFTER, "A{%zu}", 200 + i);
        sides_add(&s, AFTER, i % 4 ? "B{%zu}" : "A{17}", 300 + i);
    }
    sides_compare(&s);
    assert_int_equal(s.c->type_count, 3);
    for (size_t i = 0; i < 3; i++)
        sum += s.c->types[i].within + s.c->types[i].mix;
    assert_rel_equal(sum, s.c->mean.change, 1e-12);
    assert_rel_equal(s.c->mean.after - s.c->mean.before, s.c->mean.change, 0);
    sides_end(&s);
}

/* By hand: 60 requests with one visit of 100 ns, then 60 with two of 150 each. */
static void a_change_is_parted_into_longer_and_more_often(void **state)
{
    struct sides s;
    sides_begin(&s);
    for (size_t i = 0; i < 60; i++) {
        sides_add(&s, BEFORE, "A{10 B{100} 10}");
        sides_add(&s, AFTER, "A{10 B{150} 10 B{150} 10}");
    }
    const struct pythia_compared_type *t = &sides_compare(&s)->types[0];
    const struct pythia_compared_edge *e = sides_edge(&s, t, "A/B: B -> /B");
    assert_rel_equal(e->mean.change, 200, 1e-12);
    assert_rel_equal(e->longer, 50 * 1.5, 1e-12);
    assert_rel_equal(e->often, 1 * 125, 1e-12);
    assert_rel_equal(e->visits.change, 1, 1e-12);
    e = sides_edge(&s, t, "A: /B -> B"); /* new: all of it is that it is there */
    assert_rel_equal(e->longer, 0, 0);
    assert_rel_equal(e->often, 10, 1e-12);
    sides_end(&s);
}

/* ---- chance ---- */

static void the_same_requests_twice_are_no_change(void **state)
{
    struct sides s;
    struct pythia_random r;
    sides_begin(&s);
    for (size_t side = 0; side < 2; side++) {
        pythia_random_init(&r, 1);
        add_mixed(&s, side, &r, 80, 1);
    }
    const struct pythia_compared_type *t = &sides_compare(&s)->types[0];
    assert_false(s.c->changed);
    assert_int_equal(t->status, PYTHIA_COMPARED_SAME);
    assert_true(s.c->tests > 20);
    for (size_t e = 0; e < t->edge_count; e++) {
        assert_rel_equal(t->edges[e].mean.change, 0, 0);
        assert_true(isnan(t->edges[e].mean_test.q) || t->edges[e].mean_test.q > .99);
    }
    sides_end(&s);
}

struct sizes {
    size_t before, after;
};

/* How many of the seeds found a change where there is none. */
static size_t false_changes(struct sizes n, size_t seeds)
{
    size_t found = 0;
    for (uint64_t seed = 0; seed < seeds; seed++) {
        struct sides s;
        struct pythia_random r;
        sides_begin(&s);
        pythia_random_init(&r, seed);
        add_mixed(&s, BEFORE, &r, n.before, 1);
        add_mixed(&s, AFTER, &r, n.after, 1);
        found += sides_compare(&s)->changed;
        sides_end(&s);
    }
    return found;
}

/* At most alpha of 200. */
static void chance_is_no_change(void **state)
{
    assert_in_range(false_changes((struct sizes){100, 100}, 200), 0, 10);
    assert_in_range(false_changes((struct sizes){400, 30}, 200), 0, 10);
    assert_in_range(false_changes((struct sizes){30, 300}, 200), 0, 10);
}

static void a_rare_way_is_not_lost_because_there_are_few_requests(void **state)
{
    struct sides s;
    sides_begin(&s);
    for (size_t i = 0; i < 1000; i++)
        sides_add(&s, BEFORE, i % 50 ? "A{%zu}" : "A{10 B{%zu} 5}", 100 + i % 7);
    for (size_t i = 0; i < 30; i++)
        sides_add(&s, AFTER, "A{%zu}", 100 + i % 7);
    assert_false(sides_compare(&s)->changed);
    sides_end(&s);
}

static void one_spike_is_no_change_and_is_told(void **state)
{
    struct sides s;
    sides_begin(&s);
    for (size_t i = 0; i < 100; i++) {
        sides_add(&s, BEFORE, "A{10 B{%zu} 10}", 100 + i % 9);
        sides_add(&s, AFTER, "A{10 B{%zu} 10}", i == 50 ? 1000000 : 100 + i % 9);
    }
    const struct pythia_compared_type *t = &sides_compare(&s)->types[0];
    const struct pythia_compared_edge *e = sides_edge(&s, t, "A/B: B -> /B");
    assert_false(s.c->changed);
    assert_true(e->mean.change > 9000);
    assert_true(e->outlier_driven);
    /* What it was clipped to is no value of its own: 99 are left. Without the 100 that all have,
     * the spike stands for 5 and became 8, the highest of the others. */
    struct pythia_summary before = {100, 0, 0}, after;
    for (size_t i = 0; i < 100; i++)
        before.mean += (double)(i % 9) / 100;
    after = (struct pythia_summary){99, before.mean + .03, 0};
    for (size_t i = 0; i < 100; i++) {
        double x = (double)(i % 9), y = i == 50 ? 8 : x;
        before.variance += (x - before.mean) * (x - before.mean) / 99;
        after.variance += (y - after.mean) * (y - after.mean) / 98;
    }
    struct pythia_mean_change expected;
    pythia_two_samples_cautious(&before, &after, .95, &expected);
    assert_rel_equal(e->mean_test.clipped.change, .03, 1e-9);
    assert_rel_equal(e->mean_test.clipped.se, expected.se, 1e-9);
    assert_rel_equal(e->mean_test.clipped.df, expected.df, 1e-9);
    sides_end(&s);
}

/* One request in 40 takes long, before and after: of 40 requests this one is clipped, so it has to
 * be of 2000, too. */
static void both_sides_are_clipped_by_the_same_part(void **state)
{
    struct sides s;
    sides_begin(&s);
    for (size_t i = 0; i < 2000; i++)
        sides_add(&s, BEFORE, "A{10 B{%d} 10}", i % 40 ? 100 : 9000);
    for (size_t i = 0; i < 40; i++)
        sides_add(&s, AFTER, "A{10 B{%d} 10}", i % 40 ? 100 : 9000);
    const struct pythia_compared_type *t = &sides_compare(&s)->types[0];
    const struct pythia_compared_edge *e = sides_edge(&s, t, "A/B: B -> /B");
    assert_false(s.c->changed);
    assert_rel_equal(e->mean_test.clipped.change, 0, 0);
    assert_rel_equal(e->clipped_before, 100, 1e-12);
    sides_end(&s);
}

/* ---- findings ---- */

/* Another edge, whose spread is 80 times the shift, may be taken for changed once in 20 cases. */
static void a_planted_shift_comes_first(void **state)
{
    size_t first = 0, covered = 0; /* by the interval: 100 ns, times exp(.02) for the mean */
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct sides s;
        struct pythia_random r;
        sides_begin(&s);
        pythia_random_init(&r, seed);
        for (size_t i = 0; i < 200; i++) {
            size_t side = i % 2;
            double own = 1000 * exp(.5 * pythia_random_normal(&r)),
                   query = 5000 * exp(pythia_random_normal(&r)),
                   between = 200 * exp(pythia_random_normal(&r)),
                   shifted = (side == AFTER ? 400 : 300) * exp(.2 * pythia_random_normal(&r));
            sides_add(&s, side, "web:GET{%.0f db:Q{%.0f} %.0f auth:A{%.0f} 10}", own, query,
                      between, shifted);
        }
        const struct pythia_compared_type *t = &sides_compare(&s)->types[0];
        const struct pythia_compared_edge *e =
            sides_edge(&s, t, "web:GET/auth:A: auth:A -> /auth:A");
        assert_true(s.c->changed);
        assert_int_equal(t->status, PYTHIA_COMPARED_CHANGED);
        assert_true(e->mean_test.q < 1e-6 && e->score > 0);
        covered += e->mean_test.clipped.low < 102 && e->mean_test.clipped.high > 102;
        first +=
            e == &t->edges[0] && strcmp(sides_string(&s, s.c->services[0].service), "auth") == 0;
        sides_end(&s);
    }
    assert_true(first >= 48);
    assert_true(covered >= 43);
}

static void a_change_of_the_spread_alone_is_found(void **state)
{
    struct sides s;
    sides_begin(&s);
    for (size_t i = 0; i < 300; i++) {
        sides_add(&s, BEFORE, "A{10 B{%zu} 10}", 1000 + i % 11);
        sides_add(&s, AFTER, "A{10 B{%zu} 10}", 500 + 101 * (i % 11));
    }
    const struct pythia_compared_type *t = &sides_compare(&s)->types[0];
    const struct pythia_compared_edge *e = sides_edge(&s, t, "A/B: B -> /B");
    assert_true(e->mean_test.q > .05);
    assert_true(e->variance_test.q < 1e-9 && t->variance_test.q < 1e-9);
    assert_rel_equal(e->variance.change, t->variance.change, 1e-9);
    sides_end(&s);
}

static void new_and_lost_ways_are_named(void **state)
{
    struct sides s;
    sides_begin(&s);
    for (size_t i = 0; i < 100; i++) {
        sides_add(&s, BEFORE, i % 4 ? "A{10 B{%zu} 10}" : "A{10 D{%zu} 10}", 90 + i % 20);
        sides_add(&s, AFTER, i % 4 ? "A{10 B{%zu} 10}" : "A{10 C{%zu} 10}", 90 + i % 20);
    }
    const struct pythia_compared_type *t = &sides_compare(&s)->types[0];
    assert_true(s.c->changed && t->paths_compared);
    assert_int_equal(t->path_count, 3);
    for (size_t i = 0; i < 2; i++) { /* those that changed come first */
        const struct pythia_compared_path *p = &t->paths[i];
        bool is_new = p->count.before == 0;
        assert_int_equal(is_new ? p->count.after : p->count.before, 25);
        assert_int_equal(is_new ? p->count.before : p->count.after, 0);
        assert_true(p->count.q < 1e-5 && p->has_example);
        assert_int_equal(p->pass_count, 1);
        assert_int_equal(p->passes[0], requests_point(&s.r, is_new ? "C" : "D"));
        assert_int_equal(p->lack_count, 1);
        assert_int_equal(p->lacks[0], requests_point(&s.r, "B"));
        assert_rel_equal(is_new ? p->mean.before : p->mean.after, NAN, 0);
    }
    assert_true(t->paths[2].count.q > .9 || isnan(t->paths[2].count.q));
    assert_int_equal(t->paths[2].pass_count + t->paths[2].lack_count, 0);
    sides_end(&s);
}

/* K goes on beside the request, so it is on no critical path. */
static void a_trace_point_off_the_path_can_be_lost_too(void **state)
{
    struct sides s;
    sides_begin(&s);
    for (size_t i = 0; i < 60; i++) {
        sides_add(&s, BEFORE, "A{5 K{3} %zu B{90} 10 B{90} 10}", i % 9);
        sides_add(&s, AFTER, "A{8 %zu B{60} 10 B{60} 10 B{60} 10}", i % 9);
    }
    const struct pythia_compared_type *t = &sides_compare(&s)->types[0];
    const struct pythia_compared_point *k = sides_point(&s, t, "K"), *b = sides_point(&s, t, "B");
    assert_int_equal(k->requests.before, 60);
    assert_int_equal(k->requests.after, 0);
    assert_true(k->requests.q < 1e-20);
    assert_rel_equal(b->visits.before, 2, 0);
    assert_rel_equal(b->visits.after, 3, 0);
    assert_true(b->visits_q < 1e-20);
    assert_rel_equal(b->requests.p, NAN, 0); /* all pass it, before and after */
    sides_end(&s);
}

static void failures_are_counted_by_type_and_by_trace_point(void **state)
{
    struct sides s;
    sides_begin(&s);
    for (size_t i = 0; i < 100; i++) {
        sides_add(&s, BEFORE, i % 50 ? "A{10 B{%zu} 1}" : "A{10 B!{%zu} 1}", 50 + i % 7);
        sides_add(&s, AFTER, i % 4 ? "A{10 B{%zu} 1}" : "A{10 B!{%zu} 1}", 50 + i % 7);
    }
    const struct pythia_compared_type *t = &sides_compare(&s)->types[0];
    assert_int_equal(t->failed.before, 2);
    assert_int_equal(t->failed.after, 25);
    assert_true(t->failed.q < 1e-4);
    assert_int_equal(sides_point(&s, t, "B!")->failed.after, 25);
    assert_int_equal(sides_point(&s, t, "B")->failed.after, 0);
    sides_end(&s);
}

/* ---- edges of the input ---- */

static void what_never_varies_is_compared_too(void **state)
{
    struct sides s;
    sides_begin(&s);
    for (size_t i = 0; i < 40; i++) {
        sides_add(&s, BEFORE, "A{10 B{100} 10}");
        sides_add(&s, AFTER, "A{10 B{130} 10}");
    }
    const struct pythia_compared_type *t = &sides_compare(&s)->types[0];
    const struct pythia_compared_edge *first = &t->edges[0];
    assert_true(s.c->changed);
    assert_string_equal(requests_edge(s.c->cct, first->edge), "A/B: B -> /B");
    assert_rel_equal(first->score, 30, 1e-12);
    assert_true(first->mean_test.q < 1e-20);
    assert_rel_equal(first->variance.after, 0, 0);
    assert_rel_equal(t->edges[1].mean_test.clipped.p, NAN, 0); /* 10 ns as ever */
    assert_rel_equal(t->edges[1].score, 0, 0);
    sides_end(&s);
}

static void a_side_without_requests_is_no_change(void **state)
{
    for (size_t full = 0; full < 2; full++) {
        struct sides s;
        sides_begin(&s);
        for (size_t i = 0; i < 50; i++)
            sides_add(&s, full, "A{10 B{%zu} 10}", i);
        sides_compare(&s);
        assert_false(s.c->changed);
        assert_int_equal(s.c->compared, 0);
        assert_int_equal(s.c->type_count, 1);
        assert_int_equal(s.c->types[0].status,
                         full == AFTER ? PYTHIA_COMPARED_NEW : PYTHIA_COMPARED_LOST);
        assert_int_equal(s.c->types[0].edge_count, 0);
        assert_int_equal(s.c->service_count, 0);
        sides_end(&s);
    }
    struct sides s;
    sides_begin(&s);
    assert_int_equal(sides_compare(&s)->type_count, 0);
    assert_false(s.c->changed);
    sides_end(&s);
}

static void types_of_one_side_are_named_and_small_ones_said_to_be(void **state)
{
    struct sides s;
    sides_begin(&s);
    for (size_t i = 0; i < 60; i++) {
        sides_add(&s, BEFORE, i < 20 ? "Lost{%zu}" : "Both{%zu B{5}}", 50 + i % 9);
        sides_add(&s, AFTER, "%s{%zu}", i < 20 ? "New" : i < 40 ? "Both" : "Other", 50 + i % 9);
    }
    sides_compare(&s);
    size_t seen = 0;
    for (size_t i = 0; i < s.c->type_count; i++) {
        const struct pythia_compared_type *t = &s.c->types[i];
        const char *name = sides_string(&s, t->name);
        enum pythia_compared_status expected = strcmp(name, "Lost") == 0   ? PYTHIA_COMPARED_LOST
                                               : strcmp(name, "Both") == 0 ? PYTHIA_COMPARED_TOO_FEW
                                                                           : PYTHIA_COMPARED_NEW;
        assert_int_equal(t->status, expected);
        assert_true(t->count.q <= .05);
        if (t->status == PYTHIA_COMPARED_TOO_FEW) /* that B is gone is told, and not tested */
            assert_rel_equal(sides_point(&s, t, "B")->requests.q, NAN, 0);
        seen++;
    }
    assert_int_equal(seen, 4);
    assert_int_equal(s.c->compared, 0); /* Both has 20 after */
    assert_true(s.c->changed);
    sides_end(&s);
}

static void pauses_of_the_capture_do_not_count_for_the_rate(void **state)
{
    struct sides s;
    sides_begin(&s);
    for (uint64_t i = 0; i < 7; i++) /* requests are 10 s apart */
        sides_add_as(&s, BEFORE, i, "A{5}");
    for (uint64_t i = 0; i < 7; i++)
        sides_add_as(&s, BEFORE, 1000 + i, "A{5}");
    sides_add_as(&s, AFTER, 0, "A{5}");
    sides_compare(&s);
    assert_int_equal(s.c->covered_before_ns, UINT64_C(120000000000));
    assert_int_equal(s.c->covered_after_ns, 0);
    assert_rel_equal(s.c->types[0].rate.before, 14 / 120., 1e-12);
    assert_rel_equal(s.c->types[0].rate.after, NAN, 0);
    sides_end(&s);
}

/* Everything that a comparison says of edges, in bytes. */
static uint64_t digest(const struct sides *s)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < s->c->type_count; i++)
        for (size_t e = 0; e < s->c->types[i].edge_count; e++) {
            const struct pythia_compared_edge *edge = &s->c->types[i].edges[e];
            const char *name = requests_edge(s->c->cct, edge->edge);
            const double numbers[] = {edge->score, edge->mean_test.q, edge->variance.change,
                                      edge->longer};
            hash = pythia_hash_mix(hash, pythia_hash_bytes(name, strlen(name)));
            hash = pythia_hash_mix(hash, pythia_hash_bytes(numbers, sizeof(numbers)));
        }
    return hash;
}

static void the_order_of_requests_makes_no_difference(void **state)
{
    uint64_t digests[2];
    for (size_t turn = 0; turn < 2; turn++) {
        struct sides s;
        sides_begin(&s);
        for (uint64_t k = 0; k < 100; k++) {
            uint64_t i = turn ? 99 - k : k;
            char text[128];
            snprintf(text, sizeof(text), i % 3 ? "A{%u B{%u} 3}" : "A{%u C{%u} 3}",
                     (unsigned)(i * 37 % 50), (unsigned)(i * i % 71));
            sides_add_as(&s, i % 2, i, text);
        }
        sides_compare(&s);
        digests[turn] = digest(&s);
        sides_end(&s);
    }
    assert_int_equal(digests[0], digests[1]);
}

static void without_memory_it_says_so(void **state)
{
    const struct pythia_compare_options usual = {.alpha = .05, .min_requests = 30};
    struct sides s;
    struct pythia_random r;
    sides_begin(&s);
    pythia_random_init(&r, 1);
    add_mixed(&s, BEFORE, &r, 60, 1);
    add_mixed(&s, AFTER, &r, 60, 3);
    sides_compare(&s);
    struct pythia_comparison *c = NULL;
    int status = PYTHIA_ENOMEM;
    size_t failures = 0;
    for (long n = 0; status == PYTHIA_ENOMEM; n++, failures++) {
        pythia_mem_fail_after(n);
        status = pythia_compare(s.sides[BEFORE], s.sides[AFTER], &usual, &c);
        pythia_mem_fail_after(-1);
        assert_true((status == PYTHIA_OK) == (c != NULL));
    }
    assert_int_equal(status, PYTHIA_OK);
    assert_true(failures > 20);
    pythia_comparison_destroy(c);
    sides_end(&s);
}

static void a_side_without_memory_says_so(void **state)
{
    struct requests r;
    int status = PYTHIA_ENOMEM;
    size_t failures = 0;
    requests_begin(&r);
    const struct pythia_trace *trace = requests_trace(&r, 0, "A{10 B{5} 3 C{4} 1}");
    for (long n = 0; status == PYTHIA_ENOMEM; n++, failures++) {
        struct pythia_side *side = NULL;
        pythia_mem_fail_after(n);
        status = pythia_side_create(r.vocabulary, &(struct pythia_groups_options){0}, &side);
        if (status == PYTHIA_OK)
            status = pythia_side_add(side, trace);
        if (status == PYTHIA_OK)
            status = pythia_side_finish(side);
        pythia_mem_fail_after(-1);
        pythia_side_destroy(side);
    }
    assert_int_equal(status, PYTHIA_OK);
    assert_true(failures > 30);
    requests_end(&r);
}

/* ---- sampled sides ---- */

/* The same before and after, but that after all requests with a failed call are kept, and a tenth
 * of the others. */
static void a_sampled_side_is_like_the_whole(void **state)
{
    struct sides s;
    struct pythia_random r;
    uint64_t kept = 0;
    sides_begin(&s);
    pythia_random_init(&r, 8);
    for (size_t i = 0; i < 6000; i++) {
        unsigned a = 1000 + (unsigned)pythia_random_below(&r, 1000),
                 b = 500 + (unsigned)pythia_random_below(&r, 2000);
        bool fails = pythia_random_below(&r, 10) == 0, drawn = pythia_random_below(&r, 10) == 0;
        size_t side = i % 2 ? AFTER : BEFORE;
        const char *probability = side == BEFORE ? "1" : fails ? "1" : "0.1";
        if (side == AFTER && !fails && !drawn)
            continue;
        kept += side == AFTER;
        if (fails)
            sides_add(&s, side, "web:GET(sampling.probability=%s){%u bad:F!{%u} 20}", probability,
                      a, 10 * b);
        else
            sides_add(&s, side, "web:GET(sampling.probability=%s){%u db:Q{%u} 20}", probability, a,
                      b);
    }
    const struct pythia_compared_type *t = &sides_compare(&s)->types[0];
    assert_true(kept > 500 && kept < 650); /* nearly half of which failed */
    assert_false(s.c->changed);
    assert_int_equal(t->count.before, 3000);
    assert_true(t->requests[1] < kept); /* no more than were seen */
    assert_rel_equal((double)t->after->moments.weight, 3000, .2);
    assert_rel_equal(t->rate.after * (double)s.c->covered_after_ns / 1e9,
                     (double)t->after->moments.weight, 1e-9);
    assert_rel_equal(t->mean.after, t->mean.before, .05);
    double part = (double)t->failed.after / (double)t->requests[1];
    assert_rel_equal(part, .1, .2); /* as for before: 2 in 20 */
    const struct pythia_compared_point *point = sides_point(&s, t, "bad:F!");
    assert_int_equal(point->requests.after, t->failed.after);
    assert_rel_equal(point->visits.after, part, .02);
    assert_int_equal(t->path_count, 2);
    for (size_t i = 0; i < 2; i++)
        assert_rel_equal((double)t->paths[i].count.after / (double)t->requests[1],
                         (double)t->paths[i].count.before / 3000, .2);
    sides_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_of_edges_add_up_to_the_change_of_the_whole),
        cmocka_unit_test(what_was_tested_has_all_its_figures),
        cmocka_unit_test(changes_of_types_add_up_to_the_change_of_all_requests),
        cmocka_unit_test(a_change_is_parted_into_longer_and_more_often),
        cmocka_unit_test(the_same_requests_twice_are_no_change),
        cmocka_unit_test(chance_is_no_change),
        cmocka_unit_test(a_rare_way_is_not_lost_because_there_are_few_requests),
        cmocka_unit_test(one_spike_is_no_change_and_is_told),
        cmocka_unit_test(both_sides_are_clipped_by_the_same_part),
        cmocka_unit_test(a_planted_shift_comes_first),
        cmocka_unit_test(a_change_of_the_spread_alone_is_found),
        cmocka_unit_test(new_and_lost_ways_are_named),
        cmocka_unit_test(a_trace_point_off_the_path_can_be_lost_too),
        cmocka_unit_test(failures_are_counted_by_type_and_by_trace_point),
        cmocka_unit_test(what_never_varies_is_compared_too),
        cmocka_unit_test(a_side_without_requests_is_no_change),
        cmocka_unit_test(types_of_one_side_are_named_and_small_ones_said_to_be),
        cmocka_unit_test(pauses_of_the_capture_do_not_count_for_the_rate),
        cmocka_unit_test(the_order_of_requests_makes_no_difference),
        cmocka_unit_test(without_memory_it_says_so),
        cmocka_unit_test(a_side_without_memory_says_so),
        cmocka_unit_test(a_sampled_side_is_like_the_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
