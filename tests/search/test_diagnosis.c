#include "diagnosis_text.h"
#include "pythia/diagnosis.h"
#include "pythia/gate.h"
#include "requests.h"

static const struct pythia_diagnosis_options usual = {.min_cov = .05, .seed = 1};

static struct pythia_diagnosis *diagnose(struct requests *r,
                                         const struct pythia_diagnosis_options *options)
{
    struct pythia_diagnosis *d = NULL;
    assert_int_equal(pythia_diagnose(r->groups, options, &d), PYTHIA_OK);
    return d;
}

static struct pythia_diagnosis *finish(struct requests *r)
{
    size_t count;
    requests_finish(r, &count);
    return diagnose(r, &usual);
}

static void end(struct pythia_diagnosis *d, struct requests *r)
{
    pythia_diagnosis_destroy(d);
    requests_end(r);
}

static const char *type_of(const struct requests *r, const struct pythia_diagnosis *d, size_t group)
{
    uint32_t name = d->types[d->groups[group].type].type->name;
    return pythia_vocabulary_text(r->vocabulary, name).bytes;
}

/* Whole ns around a mean, never below 1. */
static int64_t around(struct pythia_random *random, double mean, double sd)
{
    double x = mean + sd * pythia_random_normal(random);
    return x < 1 ? 1 : (int64_t)x;
}

/* ---- groups ---- */

/* The ids were put together in Python: mix(mix(XXH3 of the type, level), name of the structure);
 * the names are those of test_shape.c. */
static void group_ids_are_the_same_everywhere(void **state)
{
    struct pythia_random random;
    pythia_random_init(&random, 1);
    for (int run = 0; run < 10; run++) {
        struct requests r;
        size_t order[80];
        requests_begin_folded(&r);
        if (run % 2) /* other numbers of trace points */
            requests_trace(&r, 0, "X{1 B{1} 1 A{1}}");
        for (size_t i = 0; i < 80; i++)
            order[i] = i;
        pythia_random_shuffle(&random, order, 80);
        for (size_t i = 0; i < 80; i++)
            requests_add_as(&r, order[i],
                            order[i] < 40 ? "A{1 B{2 B{3} 4} 5}" : "A{1 B{2} 3 B{4} 5}");
        struct pythia_diagnosis *d = finish(&r);
        assert_int_equal(d->group_count, 2);
        assert_int_equal(d->groups[0].id, UINT64_C(0x6322f902260ea95d)); /* A{B B}: ties by id */
        assert_int_equal(d->groups[1].id, UINT64_C(0xbe45816e37182b81)); /* A{B{B}} */
        assert_int_equal(d->groups[0].level, 2);
        assert_int_equal(d->groups[1].level, 3);
        for (size_t i = 0; i < 2; i++) {
            assert_int_equal(d->groups[i].count, 40);
            assert_int_equal(d->groups[i].sampled, 40);
        }
        end(d, &r);
    }
    struct requests r; /* a type that is looked at as a whole */
    requests_begin_folded(&r);
    requests_add(&r, "A{1 B{2 B{3} 4} 5}");
    struct pythia_diagnosis *d = finish(&r);
    assert_int_equal(d->groups[0].id, UINT64_C(0xf7ae5ddba8a27f56));
    end(d, &r);
}

static void the_same_events_in_two_types_are_two_groups(void **state)
{
    struct requests r;
    size_t count;
    requests_begin(&r);
    requests_group(&r, &(struct pythia_groups_options){.types = {.attribute = "kind"}});
    for (int i = 0; i < 80; i++)
        requests_add(&r, "A(kind=%s){1 B{2} 3}", i % 2 ? "read" : "write");
    requests_finish(&r, &count);
    struct pythia_diagnosis *d = diagnose(&r, &usual);
    assert_int_equal(d->group_count, 2);
    assert_int_not_equal(d->groups[0].id, d->groups[1].id);
    assert_int_equal(d->groups[0].shape->hash, d->groups[1].shape->hash);
    end(d, &r);
}

static void loops_share_a_group_if_they_are_folded(void **state)
{
    for (int fold = 0; fold < 2; fold++) {
        struct requests r;
        struct pythia_random random;
        size_t count;
        requests_begin(&r);
        requests_group(&r, &(struct pythia_groups_options){.fold = fold});
        pythia_random_init(&random, 2);
        for (int i = 0; i < 80; i++) {
            char text[512] = "A{1000";
            for (int k = 0; k < (i % 2 ? 4 : 3); k++)
                snprintf(text + strlen(text), sizeof(text) - strlen(text), " B{%d} 500",
                         (int)around(&random, 1e6, 1e4));
            requests_add(&r, "%s}", text);
        }
        requests_finish(&r, &count);
        struct pythia_diagnosis *d = diagnose(&r, &usual);
        assert_int_equal(d->group_count, fold ? 1 : 2);
        if (fold) {
            const struct pythia_group *g = &d->groups[0];
            assert_int_equal(g->count, 80);
            assert_int_equal(g->status, PYTHIA_GROUP_DIAGNOSED);
            assert_int_equal(g->cause, PYTHIA_CAUSE_LOOP);
            assert_string_equal(g->explanations.found[0].name, "count:B");
            assert_string_equal(g->explanations.found[0].split, "is >= 4");
        } else { /* apart they do not vary, and the type says what parts them */
            assert_int_equal(d->groups[0].count, 40);
            assert_int_equal(d->groups[0].status, PYTHIA_GROUP_QUIET);
            assert_true(d->types[0].between_share > .99);
            assert_string_equal(d->types[0].explanations.found[0].name, "count:B");
        }
        end(d, &r);
    }
}

/* 10 ms if the first try succeeds, 1010 ms if the second one does. The wait before it is silent, or
 * is a span of its own, whose name is before that of the tries or after it. */
static void a_second_try_is_named_a_retry(void **state)
{
    for (size_t c = 0; c < 3; c++) {
        struct requests r;
        struct pythia_random random;
        size_t count;
        requests_begin_folded(&r);
        pythia_random_init(&random, 3);
        for (int i = 0; i < 90; i++) {
            int one = (int)around(&random, 1e7, 1e6), two = (int)around(&random, 1e7, 1e6);
            if (i % 3)
                requests_add(&r, "A{1000 B{%d} 1000}", one);
            else if (c == 0)
                requests_add(&r, "A{1000 B{%d} 990000000 B{%d} 1000}", one, two);
            else if (c == 1)
                requests_add(&r, "A{1000 B{%d} 10 Await{990000000} 10 B{%d} 1000}", one, two);
            else
                requests_add(&r, "A{1000 B{%d} 10 Backoff{990000000} 10 B{%d} 1000}", one, two);
        }
        requests_finish(&r, &count);
        struct pythia_diagnosis_options whole = usual;
        whole.min_requests = 80; /* so that a path of its own makes no group */
        struct pythia_diagnosis *d = diagnose(&r, &whole);
        const struct pythia_group *g = &d->groups[0];
        assert_int_equal(g->status, PYTHIA_GROUP_DIAGNOSED);
        assert_int_equal(g->cause, PYTHIA_CAUSE_RETRY);
        assert_string_equal(g->explanations.found[0].name, "count:B");
        assert_true(g->explanations.found[0].mostly_once);
        end(d, &r);
    }
}

static void causes_are_told_apart(void **state)
{
    static const struct {
        const char *often, *seldom;
        enum pythia_cause_kind cause;
    } cases[] = {
        {"A{1000 B{%d} 1000}", "A{1000 B{%d0} 1000}", PYTHIA_CAUSE_EDGE},
        {"A{1000 B{%d} 1000}", "A{1000 B{%d} 500 B{3000} 1000}", PYTHIA_CAUSE_RETRY},
        {"A{1000 B{%d} 5 B{2000} 1000}", "A{1000 B{%d} 5 B{2000} 5 B{2000} 1000}",
         PYTHIA_CAUSE_LOOP},
        {"A{1000 B{%d} 1000}", "A{1000 B{%d} 500 C{3000} 1000}", PYTHIA_CAUSE_PATH},
        /* three roots, of which none has half: what they have in common is the key */
        {"A(k=1){%d} B{3000} C{3000}", "A(k=2){%d0} B{30000} C{30000}", PYTHIA_CAUSE_KEY},
    };
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        struct requests r;
        struct pythia_random random;
        char text[256];
        size_t count;
        requests_begin_folded(&r);
        pythia_random_init(&random, 4);
        for (int i = 0; i < 90; i++) {
            const char *format = i % 3 ? cases[c].often : cases[c].seldom;
            const char *place = strstr(format, "%d");
            snprintf(text, sizeof(text), "%.*s%d%s", (int)(place - format), format,
                     (int)around(&random, 3000, 100), place + 2);
            requests_add_as(&r, (uint64_t)i, text);
        }
        requests_finish(&r, &count);
        struct pythia_diagnosis_options whole = usual;
        whole.min_requests = 80; /* so that a path of its own makes no group */
        struct pythia_diagnosis *d = diagnose(&r, &whole);
        assert_int_equal(d->group_count, 1);
        assert_string_equal(pythia_cause_name(d->groups[0].cause),
                            pythia_cause_name(cases[c].cause));
        assert_int_equal(d->groups[0].status, PYTHIA_GROUP_DIAGNOSED);
        end(d, &r);
    }
}

/* D, E and F below C take six times each, in all combinations: a third of the variance in each. */
static void the_deepest_subtree_with_half_of_the_variance_is_named(void **state)
{
    struct requests r;
    requests_begin_folded(&r);
    for (int i = 0; i < 6 * 6 * 6; i++)
        requests_add(&r,
                     "A{100000 B{1000 C{10 D{1%d00000} 10 E{1%d00000} 10 F{1%d00000} 10} 1000}}",
                     i / 36, i / 6 % 6, i % 6);
    struct pythia_diagnosis *d = finish(&r);
    const struct pythia_group *g = &d->groups[0];
    assert_int_equal(g->cause, PYTHIA_CAUSE_EDGE);
    assert_false(g->ranking.localised);
    assert_int_equal(g->inclusive, requests_node(pythia_groups_cct(r.groups), "A/B/C"));
    end(d, &r);
}

/* ---- modes ---- */

static struct pythia_diagnosis *diagnose_durations(struct requests *r, const int64_t *ns, size_t n,
                                                   size_t min_requests)
{
    size_t count;
    struct pythia_diagnosis_options options = usual;
    options.min_requests = min_requests;
    requests_begin_folded(r);
    for (size_t i = 0; i < n; i++)
        requests_add(r, "A{%lld}", (long long)ns[i]);
    requests_finish(r, &count);
    return diagnose(r, &options);
}

/* Behind a queue of 0, 1 or 2: 10, 20 or 30 ms, and noise. */
static void three_clusters_are_three_modes_and_a_normal_sample_is_one(void **state)
{
    enum { N = 300 };
    struct requests r;
    struct pythia_random random;
    int64_t ns[N];
    double mean = 0, squares = 0;
    pythia_random_init(&random, 6);
    for (int i = 0; i < N; i++) {
        ns[i] = around(&random, 1e7 * (1 + (double)pythia_random_below(&random, 3)), 8e5);
        mean += (double)ns[i] / N;
    }
    for (int i = 0; i < N; i++)
        squares += ((double)ns[i] - mean) * ((double)ns[i] - mean);
    struct pythia_diagnosis *d = diagnose_durations(&r, ns, N, 0);
    const struct pythia_modes *modes = &d->groups[0].modes;
    assert_true(d->groups[0].modes_q <= .05);
    assert_int_equal(modes->count, 3);
    for (int k = 0; k < 3; k++) {
        assert_rel_equal(modes->centers[k], 1e7 * (k + 1), .05);
        assert_rel_equal(modes->weights[k], 1 / 3., .25);
    }
    assert_true(modes->cuts[0] > 1.3e7 && modes->cuts[0] < 1.7e7);
    assert_true(modes->variance_share > .95);
    /* the time that one edge has: all of what the slowest mode has more */
    assert_rel_equal(d->groups[0].ranking.edges[0].mode_share, 1, 1e-12);
    end(d, &r);

    for (int i = 0; i < N; i++) /* of the same variance, and away from 0 */
        ns[i] = around(&random, 6e7, sqrt(squares / (N - 1)));
    d = diagnose_durations(&r, ns, N, 0);
    assert_true(d->groups[0].modes_q > .05);
    assert_int_equal(d->groups[0].modes.count, 1);
    assert_rel_equal(d->groups[0].ranking.edges[0].mode_share, NAN, 0);
    end(d, &r);
}

static void four_requests_are_never_said_to_have_several_modes(void **state)
{
    struct pythia_random random;
    pythia_random_init(&random, 7);
    for (int run = 0; run < 50; run++) {
        struct requests r;
        int64_t ns[11];
        for (int i = 0; i < 11; i++) /* as far apart as may be */
            ns[i] = i % 2 ? 1000 + (int64_t)pythia_random_below(&random, 10) : INT64_C(5000000000);
        struct pythia_diagnosis *d = diagnose_durations(&r, ns, run % 2 ? 4 : 11, 4);
        assert_int_equal(d->groups[0].modes.count, 1);
        assert_rel_equal(d->groups[0].modes_q, NAN, 0);
        assert_rel_equal(d->groups[0].dip.p, NAN, 0);
        assert_true(d->groups[0].status != PYTHIA_GROUP_TOO_FEW);
        end(d, &r);
    }
}

/* ---- what is too little ---- */

static void three_requests_are_too_few_and_four_are_asked(void **state)
{
    static const int64_t ns[] = {1000, 2000, 3000, 9000};
    for (size_t n = 1; n <= 4; n++) {
        struct requests r;
        struct pythia_diagnosis *d = diagnose_durations(&r, ns, n, 4);
        assert_int_equal(d->group_count, 1);
        assert_int_equal(d->groups[0].status == PYTHIA_GROUP_TOO_FEW, n < 4);
        assert_int_equal(d->groups[0].ranking.edge_count, n < 4 ? 0 : 1);
        end(d, &r);
    }
    for (size_t least = 1; least <= 3; least++) { /* whatever is asked for */
        struct requests r;
        struct pythia_diagnosis *d = diagnose_durations(&r, ns, 3, least);
        assert_int_equal(d->groups[0].status, PYTHIA_GROUP_TOO_FEW);
        assert_int_equal(d->groups[0].ranking.edge_count, 0);
        end(d, &r);
    }
    struct requests r;
    int64_t many[30];
    for (int i = 0; i < 30; i++)
        many[i] = 1000 * (i + 1);
    for (size_t n = 29; n <= 30; n++) { /* what is asked by default */
        struct pythia_diagnosis *d = diagnose_durations(&r, many, n, 0);
        assert_int_equal(d->groups[0].status == PYTHIA_GROUP_TOO_FEW, n < 30);
        end(d, &r);
    }
}

static void equal_durations_vary_by_exactly_nothing(void **state)
{
    static const int64_t each[] = {1, 999999999, INT64_C(4000000000000000)};
    for (size_t c = 0; c < 3; c++) {
        struct requests r;
        int64_t ns[40];
        for (int i = 0; i < 40; i++)
            ns[i] = each[c];
        struct pythia_diagnosis *d = diagnose_durations(&r, ns, 40, 4);
        const struct pythia_group *g = &d->groups[0];
        assert_true(g->sd_ns == 0 && g->cov == 0 && d->sd_ns == 0);
        assert_true(g->mean_ns == (double)each[c]);
        assert_int_equal(g->status, PYTHIA_GROUP_QUIET);
        assert_int_equal(g->cause, PYTHIA_CAUSE_NONE);
        assert_int_equal(g->modes.count, 1);
        assert_rel_equal(g->variance_share, NAN, 0); /* of no variance at all */
        end(d, &r);
    }
}

static void a_mean_of_0_is_not_divided_by(void **state)
{
    struct requests r;
    const int64_t ns[40] = {0};
    struct pythia_diagnosis *d = diagnose_durations(&r, ns, 40, 4);
    const struct pythia_group *g = &d->groups[0];
    assert_true(g->mean_ns == 0 && g->sd_ns == 0 && g->p99_ns == 0);
    assert_rel_equal(g->cov, NAN, 0);
    assert_int_equal(g->status, PYTHIA_GROUP_QUIET);
    end(d, &r);
}

static void no_request_makes_an_empty_diagnosis(void **state)
{
    struct requests r;
    requests_begin_folded(&r);
    struct pythia_diagnosis *d = finish(&r);
    assert_int_equal(d->group_count, 0);
    assert_int_equal(d->type_count, 0);
    assert_int_equal(d->requests, 0);
    end(d, &r);
    pythia_diagnosis_destroy(NULL);
}

/* Nothing stands out of three roots with noise of one size, and no key goes with it. */
static void noise_is_not_diagnosed(void **state)
{
    struct requests r;
    struct pythia_random random;
    requests_begin_folded(&r);
    pythia_random_init(&random, 8);
    for (int i = 0; i < 200; i++) {
        int k = (int)pythia_random_below(&random, 9), roots[3];
        for (int root = 0; root < 3; root++)
            roots[root] = (int)around(&random, 1e6, 2e5);
        requests_add(&r, "A(k=%d){%d} B{%d} C{%d}", k, roots[0], roots[1], roots[2]);
    }
    struct pythia_diagnosis *d = finish(&r);
    assert_true(d->groups[0].cov > .05);
    assert_int_equal(d->groups[0].status, PYTHIA_GROUP_QUIET);
    assert_int_equal(d->groups[0].cause, PYTHIA_CAUSE_NONE);
    end(d, &r);
}

static void what_varies_less_than_asked_is_quiet(void **state)
{
    for (int calm = 0; calm < 2; calm++) {
        struct requests r;
        size_t count;
        requests_begin_folded(&r);
        for (int i = 0; i < 100; i++) /* 100 +- 3: a cov of .03 */
            requests_add(&r, "A{50 B{%d} 47}", i % 2 ? 0 : 6);
        requests_finish(&r, &count);
        struct pythia_diagnosis_options options = usual;
        options.min_cov = calm ? .031 : -1;
        struct pythia_diagnosis *d = diagnose(&r, &options);
        assert_rel_equal(d->groups[0].cov, .03 * sqrt(100 / 99.), 1e-12);
        assert_int_equal(d->groups[0].status, calm ? PYTHIA_GROUP_QUIET : PYTHIA_GROUP_DIAGNOSED);
        assert_true(d->groups[0].ranking.edge_count == 3); /* it is ranked all the same */
        end(d, &r);
    }
}

/* ---- order ---- */

/* 20 types of 40 requests each; T07 takes ten times as long and hardly varies. */
static void the_slow_group_is_found_by_its_mean_and_not_by_cov(void **state)
{
    struct requests r;
    struct pythia_random random;
    size_t count;
    requests_begin_folded(&r);
    pythia_random_init(&random, 9);
    for (int i = 0; i < 40; i++)
        for (int k = 0; k < 20; k++)
            requests_add(&r, "T%02d{%d}", k,
                         (int)(k == 7 ? around(&random, 1e7, 1e5) : around(&random, 1e6, 2e5)));
    requests_finish(&r, &count);
    static const struct {
        enum pythia_measure measure;
        size_t low, high; /* places where the slow group may stand */
    } cases[] = {
        {PYTHIA_MEASURE_SLOW, 0, 0}, {PYTHIA_MEASURE_COV, 19, 19}, {PYTHIA_MEASURE_SHARE, 1, 19}};
    for (size_t c = 0; c < 3; c++) {
        struct pythia_diagnosis_options options = usual;
        options.measure = cases[c].measure;
        struct pythia_diagnosis *d = diagnose(&r, &options);
        size_t slow = 0, at = 0;
        for (size_t i = 0; i < 20; i++) {
            slow += d->groups[i].status == PYTHIA_GROUP_SLOW;
            if (strcmp(type_of(&r, d, i), "T07") == 0)
                at = i;
        }
        assert_int_equal(slow, 1);
        assert_int_equal(d->groups[at].status, PYTHIA_GROUP_SLOW);
        assert_rel_equal(d->groups[at].cov, .01, .3);
        assert_in_range(at, cases[c].low, cases[c].high);
        pythia_diagnosis_destroy(d);
    }
    requests_end(&r);
}

static void of_three_groups_nobody_is_slow(void **state)
{
    for (int types = 3; types <= 4; types++) {
        struct requests r;
        requests_begin_folded(&r);
        for (int i = 0; i < 40 * types; i++)
            requests_add(&r, "T%d{%d}", i % types, i % types == 1 ? 10000 : 1000);
        struct pythia_diagnosis *d = finish(&r);
        size_t slow = 0;
        for (size_t i = 0; i < d->group_count; i++)
            slow += d->groups[i].status == PYTHIA_GROUP_SLOW;
        assert_int_equal(slow, types == 4);
        end(d, &r);
    }
}

/* Of the types Tiny (1 us, cov 2), Big (1 s, cov .2), Tail (rarely slow) and Even (two modes). */
static void groups_are_ordered_by_the_measure(void **state)
{
    struct requests r;
    struct pythia_random random;
    size_t count;
    requests_begin_folded(&r);
    pythia_random_init(&random, 10);
    for (int i = 0; i < 200; i++) {
        requests_add(&r, "Tiny{%d}", i % 5 ? 0 : 5000);
        requests_add(&r, "Big{%d}", (int)around(&random, 1e9, 2e8));
        requests_add(&r, "Two{%d}", (int)around(&random, i % 2 ? 2e8 : 1e8, 1e6));
    }
    for (int i = 0; i < 5; i++) /* the most of all, but too few to tell */
        requests_add(&r, "Few{%d}", i % 2 ? 1000 : 2000000000);
    requests_finish(&r, &count);
    static const struct {
        enum pythia_measure measure;
        const char *first;
    } cases[] = {{PYTHIA_MEASURE_SHARE, "Big"}, {PYTHIA_MEASURE_VARIANCE, "Big"},
                 {PYTHIA_MEASURE_COV, "Tiny"},  {PYTHIA_MEASURE_MODES, "Two"},
                 {PYTHIA_MEASURE_TAIL, "Big"},  {PYTHIA_MEASURE_SLOW, "Big"}};
    for (size_t c = 0; c < 6; c++) {
        struct pythia_diagnosis_options options = usual;
        options.measure = cases[c].measure;
        struct pythia_diagnosis *d = diagnose(&r, &options);
        assert_int_equal(d->group_count, 4);
        assert_string_equal(type_of(&r, d, 0), cases[c].first);
        assert_string_equal(type_of(&r, d, 3), "Few");
        assert_int_equal(d->groups[3].status, PYTHIA_GROUP_TOO_FEW);
        for (size_t i = 1; i < 3; i++)
            assert_false(d->groups[i].score > d->groups[i - 1].score);
        pythia_diagnosis_destroy(d);
    }
    requests_end(&r);
}

static void repeated_looks_share_one_alpha(void **state)
{
    struct requests r;
    size_t count;
    requests_begin_folded(&r);
    for (int i = 0; i < 40; i++)
        requests_add(&r, "A{%d}", 1000 + i);
    requests_finish(&r, &count);
    static const struct {
        double alpha;
        uint64_t look;
        double wanted;
    } cases[] = {{0, 0, .05},
                 {.01, 0, .01},
                 {0, 1, .030396355092701332}, /* .05 * 6 / pi^2 */
                 {.05, 3, .0033773727880779257}};
    for (size_t c = 0; c < 4; c++) {
        struct pythia_diagnosis_options options = usual;
        options.alpha = cases[c].alpha;
        options.look = cases[c].look;
        struct pythia_diagnosis *d = diagnose(&r, &options);
        assert_rel_equal(d->alpha, cases[c].wanted, 1e-14);
        pythia_diagnosis_destroy(d);
    }
    requests_end(&r);
}

/* ---- levels ---- */

/* 100 A{B{C}} of 1000 ns, 60 A{B{D}} of 2000, 36 A{E} of 3000 and 4 A{F} of 2000: the mean is 1680
 * and the squares about it 115520000. */
static void add_levels(struct requests *r, int rare_ns)
{
    for (int i = 0; i < 200; i++)
        if (i < 100)
            requests_add(r, "A{10 B{10 C{960} 10} 10}");
        else if (i < 160)
            requests_add(r, "A{10 B{10 D{1960} 10} 10}");
        else if (i < 196)
            requests_add(r, "A{10 E{2980} 10}");
        else
            requests_add(r, "A{10 F{%d} 10}", rare_ns - 20);
}

static void a_type_is_looked_at_as_deep_as_counts_allow(void **state)
{
    struct requests r;
    requests_begin_folded(&r);
    add_levels(&r, 2000);
    struct pythia_diagnosis *d = finish(&r);
    const struct pythia_type_result *t = &d->types[0];
    assert_int_equal(t->level_count, 4);
    assert_int_equal(t->level, 3); /* 4 requests of 200 are lost, with .35 % of the variance */
    static const struct pythia_level wanted[] = {
        {1, 200, 0}, {1, 200, 0}, {2, 196, 78020000 / 115520000.}, {3, 196, 1}};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(t->levels[i].groups, wanted[i].groups);
        assert_int_equal(t->levels[i].requests, wanted[i].requests);
        assert_true(fabs(t->levels[i].between_share - wanted[i].between_share) < 1e-12);
    }
    assert_rel_equal(t->between_share, 1, 1e-12);
    assert_rel_equal(t->variance_share, 1, 1e-12);
    assert_int_equal(d->group_count, 4);
    assert_int_equal(d->groups[3].status, PYTHIA_GROUP_TOO_FEW);
    assert_int_equal(d->groups[3].count, 4);
    assert_true(t->explanations.found_count > 0); /* which path: that is the difference */
    /* C parts 100 of 1000 ns from 100 of 2360 in the mean: 200 * 680^2 of the squares. B parts 40
     * of 2900, E 36 of 3000: .64 and .66 of them. */
    assert_string_equal(t->explanations.found[0].name, "has:C");
    assert_rel_equal(t->explanations.found[0].result.split_share, 200 * 680 * 680 / 115520000.,
                     1e-12);
    end(d, &r);

    requests_begin_folded(&r); /* the four have most of the variance: they may not be lost */
    add_levels(&r, 50000);
    d = finish(&r);
    assert_int_equal(d->types[0].level, 1);
    assert_int_equal(d->group_count, 1);
    assert_int_equal(d->groups[0].count, 200);
    end(d, &r);

    requests_begin_folded(&r); /* of 11 rare ones more than a twentieth would be lost */
    add_levels(&r, 2000);
    for (int i = 0; i < 7; i++)
        requests_add(&r, "A{10 F{1980} 10}");
    d = finish(&r);
    assert_int_equal(d->types[0].level, 1);
    end(d, &r);
}

static void add_types(struct requests *r, const size_t *order, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct pythia_random random;
        uint64_t number = order[i];
        char text[512];
        pythia_random_init(&random, 1000 + number); /* a request depends on its number alone */
        int own = (int)around(&random, 1e5, 2e4), queue = (int)pythia_random_below(&random, 6),
            host = (int)pythia_random_below(&random, 3), rounds = 1 + (int)number / 7 % 3;
        size_t size = 0;
        if (number % 5 == 0) {
            snprintf(text, sizeof(text), "shop:buy(host=h%d){%d *E(note=%d) 50}", host,
                     own * (host + 1), queue);
        } else {
            size = (size_t)snprintf(text, sizeof(text), "A(queue=%d,host=h%d,user=%d){%d", queue,
                                    host, (int)number, own);
            if (number % 3 == 0)
                size += (size_t)snprintf(text + size, sizeof(text) - size, " B{10 C{%d} 5}",
                                         20000 * queue + own / 3);
            for (int k = 0; number % 2 && k < rounds; k++)
                size += (size_t)snprintf(text + size, sizeof(text) - size, " D(queue=%d){%d}",
                                         queue, own / 4);
            snprintf(text + size, sizeof(text) - size, " ~K{%d} 50}", own / 2);
        }
        requests_add_as(r, number, text);
    }
}

static void within_and_between_add_up(void **state)
{
    struct requests r;
    size_t order[400];
    for (size_t i = 0; i < 400; i++)
        order[i] = i;
    requests_begin_folded(&r);
    add_types(&r, order, 400);
    struct pythia_diagnosis *d = finish(&r);
    double all = d->between_types_share;
    assert_int_equal(d->type_count, 2);
    for (size_t i = 0; i < d->type_count; i++) {
        const struct pythia_type_result *t = &d->types[i];
        double within = 0, requests = 0;
        for (size_t k = 0; k < d->group_count; k++) {
            if (d->groups[k].type != i)
                continue;
            within += d->groups[k].variance_share;
            requests += (double)d->groups[k].count;
        }
        assert_rel_equal(t->between_share + within / t->variance_share, 1, 1e-9);
        assert_true(requests == (double)t->type->moments.n);
        for (uint32_t level = 1; level < t->level_count; level++) /* deeper, more lies between */
            assert_true(t->levels[level].between_share >=
                        t->levels[level - 1].between_share - 1e-12);
        all += t->variance_share;
    }
    assert_rel_equal(all, 1, 1e-9);
    for (size_t k = 0; k < d->group_count; k++) { /* and the shares of each group */
        double share = 0, raw = 0;
        for (size_t e = 0; e < d->groups[k].ranking.edge_count; e++) {
            share += d->groups[k].ranking.edges[e].share.share;
            raw += d->groups[k].ranking.edges[e].share.raw_share;
        }
        if (d->groups[k].status == PYTHIA_GROUP_TOO_FEW)
            continue;
        assert_rel_equal(share, 1, 1e-9);
        assert_rel_equal(raw, 1, 1e-9);
    }
    end(d, &r);
}

/* ---- the same everywhere ---- */

static void the_order_of_adding_changes_no_bit(void **state)
{
    enum { N = 160, RUNS = 50 };
    struct pythia_random random;
    char *first = NULL;
    size_t order[N];
    pythia_random_init(&random, 11);
    for (size_t i = 0; i < N; i++)
        order[i] = i;
    for (int run = 0; run <= RUNS; run++) {
        struct requests r;
        size_t count;
        requests_begin(&r);
        requests_group(&r, &(struct pythia_groups_options){.fold = true, .rows_per_type = 100});
        add_types(&r, order, N);
        requests_finish(&r, &count);
        struct pythia_diagnosis_options options = usual;
        options.min_requests = 20;
        struct pythia_diagnosis *d = diagnose(&r, &options);
        char *text = diagnosis_text(d, r.groups);
        if (!first)
            first = text;
        else if (strcmp(text, first) != 0)
            fail_msg("order %d gives another diagnosis", run);
        if (text != first)
            pythia_free(text);
        end(d, &r);
        pythia_random_shuffle(&random, order, N);
    }
    assert_non_null(strstr(first, "diagnosed"));
    assert_non_null(strstr(first, "found"));
    pythia_free(first);
}

/* Add more shapes than the cache holds, of another type. */
static void flood(struct requests *r)
{
    enum { SIDE = 21 };
    for (size_t k = 0; k < (size_t)SIDE * SIDE * SIDE; k++) {
        char text[1024] = "Flood{";
        size_t size = strlen(text);
        const size_t rounds[] = {k % SIDE, k / SIDE % SIDE, k / SIDE / SIDE};
        for (size_t p = 0; p < 3; p++)
            for (size_t n = 0; n < rounds[p]; n++)
                size +=
                    (size_t)snprintf(text + size, sizeof(text) - size, " %c{3}", (char)('B' + p));
        snprintf(text + size, sizeof(text) - size, " 5}");
        requests_add_as(r, 1000 + k, text);
    }
}

/* Of 100 requests of one group 40 pass B once, 35 twice and 25 three times. If the first of them
 * have left the cache, there are two shapes of one path, and still it is the most common one. */
static void what_left_the_cache_changes_no_bit(void **state)
{
    static const char *const paths[] = {"A{B{%d} 5}", "A{B{%d} B{5} 5}", "A{B{%d} B{5} B{5} 5}"};
    char *texts[2];
    for (int evicted = 0; evicted < 2; evicted++) {
        struct requests r;
        size_t count;
        requests_begin(&r);
        requests_group(&r, &(struct pythia_groups_options){.fold = true, .rows_per_type = 128});
        for (int i = 0; i < 100; i++) {
            char text[64];
            if (evicted && i == 20)
                flood(&r);
            snprintf(text, sizeof(text), paths[i < 40 ? 0 : i < 75 ? 1 : 2], 1000 + 7 * i % 100);
            requests_add_as(&r, (uint64_t)i, text);
        }
        if (!evicted)
            flood(&r);
        requests_finish(&r, &count);
        struct pythia_diagnosis *d = diagnose(&r, &usual);
        texts[evicted] = diagnosis_text(d, r.groups);
        assert_non_null(strstr(texts[evicted], "path [A: A -> B] [A/B: B -> /B] [A: /B -> /A]\n"));
        end(d, &r);
    }
    assert_string_equal(texts[0], texts[1]);
    pythia_free(texts[0]);
    pythia_free(texts[1]);
}

/* ---- failures ---- */

static void a_failed_allocation_leaves_nothing(void **state)
{
    struct requests r;
    size_t order[40], count;
    struct pythia_diagnosis *d = NULL;
    for (size_t i = 0; i < 40; i++)
        order[i] = i;
    requests_begin_folded(&r);
    add_types(&r, order, 40);
    requests_finish(&r, &count);
    struct pythia_diagnosis_options options = usual;
    options.min_requests = 10;
    struct pythia_diagnosis *wanted = diagnose(&r, &options);
    char *text = diagnosis_text(wanted, r.groups), *got;
    pythia_diagnosis_destroy(wanted);
    long failures = 0;
    for (;; failures++) {
        pythia_mem_fail_after(failures);
        int status = pythia_diagnose(r.groups, &options, &d);
        pythia_mem_fail_after(-1);
        if (status == PYTHIA_OK)
            break;
        assert_int_equal(status, PYTHIA_ENOMEM);
        assert_null(d);
    }
    assert_true(failures > 100);
    got = diagnosis_text(d, r.groups);
    assert_string_equal(got, text);
    pythia_free(got);
    pythia_free(text);
    end(d, &r);
}

static void it_ends_when_somebody_says_so(void **state)
{
    struct requests r;
    struct pythia_diagnosis *d = NULL;
    struct pythia_diagnosis_options how = usual;
    atomic_bool stop = true;
    size_t count;
    requests_begin_folded(&r);
    for (int i = 0; i < 80; i++)
        requests_add(&r, "A{1 B{%d} 3}", 2 + i % 7 * 100);
    requests_finish(&r, &count);
    how.stop = &stop;
    assert_int_equal(pythia_diagnose(r.groups, &how, &d), PYTHIA_ESTOPPED);
    assert_null(d);
    atomic_store(&stop, false); /* and the evidence is as it was */
    assert_int_equal(pythia_diagnose(r.groups, &how, &d), PYTHIA_OK);
    assert_int_equal(d->groups[0].status, PYTHIA_GROUP_DIAGNOSED);
    end(d, &r);
}

static void statuses_and_causes_have_names(void **state)
{
    assert_string_equal(pythia_group_status_name(PYTHIA_GROUP_DIAGNOSED), "diagnosed");
    assert_string_equal(pythia_group_status_name(PYTHIA_GROUP_QUIET), "quiet");
    assert_string_equal(pythia_group_status_name(PYTHIA_GROUP_SLOW), "slow");
    assert_string_equal(pythia_group_status_name(PYTHIA_GROUP_TOO_FEW), "too_few");
    static const char *const causes[] = {"none", "edge", "retry", "loop", "path", "key"};
    for (int c = PYTHIA_CAUSE_NONE; c <= PYTHIA_CAUSE_KEY; c++)
        assert_string_equal(pythia_cause_name((enum pythia_cause_kind)c), causes[c]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(group_ids_are_the_same_everywhere),
        cmocka_unit_test(the_same_events_in_two_types_are_two_groups),
        cmocka_unit_test(loops_share_a_group_if_they_are_folded),
        cmocka_unit_test(a_second_try_is_named_a_retry),
        cmocka_unit_test(causes_are_told_apart),
        cmocka_unit_test(the_deepest_subtree_with_half_of_the_variance_is_named),
        cmocka_unit_test(three_clusters_are_three_modes_and_a_normal_sample_is_one),
        cmocka_unit_test(four_requests_are_never_said_to_have_several_modes),
        cmocka_unit_test(three_requests_are_too_few_and_four_are_asked),
        cmocka_unit_test(equal_durations_vary_by_exactly_nothing),
        cmocka_unit_test(a_mean_of_0_is_not_divided_by),
        cmocka_unit_test(no_request_makes_an_empty_diagnosis),
        cmocka_unit_test(noise_is_not_diagnosed),
        cmocka_unit_test(what_varies_less_than_asked_is_quiet),
        cmocka_unit_test(the_slow_group_is_found_by_its_mean_and_not_by_cov),
        cmocka_unit_test(of_three_groups_nobody_is_slow),
        cmocka_unit_test(groups_are_ordered_by_the_measure),
        cmocka_unit_test(repeated_looks_share_one_alpha),
        cmocka_unit_test(a_type_is_looked_at_as_deep_as_counts_allow),
        cmocka_unit_test(within_and_between_add_up),
        cmocka_unit_test(the_order_of_adding_changes_no_bit),
        cmocka_unit_test(what_left_the_cache_changes_no_bit),
        cmocka_unit_test(a_failed_allocation_leaves_nothing),
        cmocka_unit_test(it_ends_when_somebody_says_so),
        cmocka_unit_test(statuses_and_causes_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
