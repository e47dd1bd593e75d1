#include "pythia/rank.h"
#include "requests.h"

static const struct pythia_rank_options by_share = {.level = .95, .alpha = .05};

/* The ranking of a set with one type. */
struct ranked {
    const struct pythia_row **rows;
    size_t count;
    const struct pythia_cct *cct;
    struct pythia_ranking ranking;
};

static struct ranked rank(struct requests *r, const struct pythia_rank_options *options)
{
    size_t types;
    const struct pythia_type *type = requests_finish(r, &types);
    struct ranked out = {.cct = pythia_groups_cct(r->groups)};
    assert_int_equal(types, 1);
    out.rows = requests_rows(type, &out.count);
    assert_int_equal(pythia_rank(out.rows, out.count, out.cct, options, &out.ranking), PYTHIA_OK);
    assert_int_equal(out.ranking.rows, out.count);
    return out;
}

static void free_ranked(struct ranked *x)
{
    pythia_ranking_free(&x->ranking);
    free(x->rows);
}

static const struct pythia_ranked_edge *edge_of(const struct ranked *x, const char *name)
{
    for (size_t e = 0; e < x->ranking.edge_count; e++)
        if (strcmp(requests_edge(x->cct, x->ranking.edges[e].edge), name) == 0)
            return &x->ranking.edges[e];
    fail_msg("no such edge: %s", name);
    return NULL;
}

static void assert_first(struct requests *r, enum pythia_measure measure, const char *name)
{
    size_t types, count;
    const struct pythia_row **rows = requests_rows(pythia_groups_types(r->groups, &types), &count);
    const struct pythia_cct *cct = pythia_groups_cct(r->groups);
    struct pythia_rank_options options = by_share;
    struct pythia_ranking ranking;
    options.measure = measure;
    assert_int_equal(pythia_rank(rows, count, cct, &options, &ranking), PYTHIA_OK);
    assert_string_equal(requests_edge(cct, ranking.edges[0].edge), name);
    for (size_t e = 1; e < ranking.edge_count; e++)
        assert_false(ranking.edges[e].score > ranking.edges[e - 1].score);
    pythia_ranking_free(&ranking);
    free(rows);
}

/* Paths of all kinds: B is called or not, C one to three times, D beside it. */
static void add_mixed(struct requests *r, size_t count, uint64_t seed)
{
    struct pythia_random random;
    pythia_random_init(&random, seed);
    for (size_t i = 0; i < count; i++) {
        char text[512] = "A{100";
        size_t size = strlen(text);
        if (pythia_random_below(&random, 3))
            size += (size_t)snprintf(text + size, sizeof(text) - size, " B{%llu E{%llu} 9}",
                                     (unsigned long long)pythia_random_below(&random, 5000),
                                     (unsigned long long)pythia_random_below(&random, 3000));
        for (uint64_t k = pythia_random_below(&random, 3) + 1; k > 0; k--)
            size += (size_t)snprintf(text + size, sizeof(text) - size, " C{%.0f} 20",
                                     2000 * exp(pythia_random_normal(&random)));
        snprintf(text + size, sizeof(text) - size, " D{%llu} 5}",
                 (unsigned long long)pythia_random_below(&random, 100));
        requests_add(r, "%s", text);
    }
}

/* ---- shares ---- */

static void shares_match_hand_computation(void **state)
{
    static const int b[] = {1, 2, 4, 5}, a[] = {10, 11, 12, 11};
    struct requests r;
    requests_begin_folded(&r);
    for (int i = 0; i < 4; i++)
        requests_add(&r, "A{%d B{%d} 3}", a[i], b[i]);
    struct ranked x = rank(&r, &by_share);
    const struct pythia_ranked_edge *in_b = edge_of(&x, "A/B: B -> /B"),
                                    *to_b = edge_of(&x, "A: A -> B"),
                                    *out = edge_of(&x, "A: /B -> /A");
    /* Totals 14, 16, 19, 19: deviations -3, -1, 2, 2. Clipped, the highest 5 is a 4 and the 12 an
     * 11: totals 14, 16, 18, 18, deviations -2.5, -.5, 1.5, 1.5. */
    assert_rel_equal(in_b->share.raw_share, 13 / 18., 1e-14);
    assert_rel_equal(to_b->share.raw_share, 5 / 18., 1e-14);
    assert_rel_equal(in_b->share.share, 8.5 / 11, 1e-14);
    assert_rel_equal(to_b->share.share, 2.5 / 11, 1e-14);
    assert_true(out->share.share == 0 && out->share.raw_share == 0);
    assert_rel_equal(in_b->share.mean, 3, 1e-15);
    assert_rel_equal(in_b->score, 8.5 / 11, 1e-14);
    assert_ptr_equal(in_b, &x.ranking.edges[0]); /* best first */
    assert_ptr_equal(out, &x.ranking.edges[2]);
    for (size_t i = 0; i < 4; i++) /* the times come with the order of the edges */
        assert_true(x.ranking.times_ns[i] == b[x.rows[i]->trace.low - 1]);
    assert_int_equal(x.ranking.context_count, 2);
    assert_rel_equal(pythia_ranking_context(&x.ranking, requests_node(x.cct, "A/B"))->share.slope,
                     8.5 / 11, 1e-14);
    free_ranked(&x);
    requests_end(&r);
}

/* The sums by two passes over the durations of the rows, in whole numbers where they are exact. */
static void covariances_with_the_total_add_up_to_its_variance(void **state)
{
    struct requests r;
    requests_begin_folded(&r);
    add_mixed(&r, 300, 1);
    struct ranked x = rank(&r, &by_share);
    double mean = 0, variance = 0, sum = 0, clipped = 0, tails = 0;
    for (size_t i = 0; i < x.count; i++)
        mean += (double)x.rows[i]->duration_ns / (double)x.count;
    for (size_t i = 0; i < x.count; i++)
        variance += pow((double)x.rows[i]->duration_ns - mean, 2);
    for (size_t e = 0; e < x.ranking.edge_count; e++) {
        const struct pythia_ranked_edge *edge = &x.ranking.edges[e];
        double covariance = 0;
        for (size_t i = 0; i < x.count; i++)
            covariance +=
                x.ranking.times_ns[e * x.count + i] * ((double)x.rows[i]->duration_ns - mean);
        assert_true(fabs(edge->share.raw_share - covariance / variance) < 1e-9);
        sum += covariance;
        clipped += edge->share.share;
        tails += edge->tail_share;
    }
    assert_rel_equal(sum, variance, 1e-9);
    assert_rel_equal(clipped, 1, 1e-9);
    assert_rel_equal(tails, 1, 1e-9);
    free_ranked(&x);
    requests_end(&r);
}

/* B and C make up for each other to the ns, D varies by a hundredth of that and independently. Two
 * values each, so that clipping changes nothing. */
static void edges_that_make_up_for_each_other_are_not_ranked_first(void **state)
{
    struct requests r;
    requests_begin_folded(&r);
    for (int i = 0; i < 64; i++)
        requests_add(&r, "A{5 B{%d} 5 C{%d} 5 D{%d} 5}", i % 2 ? 9000 : 1000, i % 2 ? 1000 : 9000,
                     i / 2 % 2 ? 180 : 100);
    struct ranked x = rank(&r, &by_share);
    const struct pythia_ranked_edge *b = edge_of(&x, "A/B: B -> /B"),
                                    *c = edge_of(&x, "A/C: C -> /C");
    assert_string_equal(requests_edge(x.cct, x.ranking.edges[0].edge), "A/D: D -> /D");
    assert_rel_equal(x.ranking.edges[0].share.share, 1, 1e-12);
    assert_true(fabs(b->share.share) < 1e-12 && fabs(c->share.share) < 1e-12);
    assert_true(b->share.sd > 4000 && c->share.sd > 4000);     /* much, each on its own */
    assert_first(&r, PYTHIA_MEASURE_VARIANCE, "A/B: B -> /B"); /* the trap that shares avoid */
    free_ranked(&x);
    requests_end(&r);
}

static void a_tiny_noisy_edge_is_first_by_cov_alone(void **state)
{
    struct requests r;
    struct pythia_random random;
    requests_begin_folded(&r);
    pythia_random_init(&random, 2);
    for (int i = 0; i < 100; i++) { /* T: mean 1 us, sd 2 us; B: mean 1 s, sd .2 s */
        int tiny = i % 5 == 0 ? 5000 : 0;
        double big = 1e9 + .2e9 * (pythia_random_below(&random, 2) ? 1 : -1);
        requests_add(&r, "A{1 T{%d} 1 B{%.0f} 1}", tiny, big);
    }
    struct ranked x = rank(&r, &by_share);
    const struct pythia_ranked_edge *tiny = edge_of(&x, "A/T: T -> /T"),
                                    *big = edge_of(&x, "A/B: B -> /B");
    assert_rel_equal(tiny->share.mean, 1000, 1e-12);
    assert_rel_equal(tiny->share.cov, 2 * sqrt(100 / 99.), 1e-12);
    assert_rel_equal(big->share.mean, 1e9, .05);
    assert_rel_equal(big->share.sd, .2e9, .05);
    assert_ptr_equal(big, &x.ranking.edges[0]);
    free_ranked(&x);
    assert_first(&r, PYTHIA_MEASURE_SHARE, "A/B: B -> /B");
    assert_first(&r, (enum pythia_measure)0, "A/B: B -> /B"); /* the default */
    assert_first(&r, PYTHIA_MEASURE_VARIANCE, "A/B: B -> /B");
    assert_first(&r, PYTHIA_MEASURE_COV, "A/T: T -> /T");
    requests_end(&r);
}

/* ---- the other measures ---- */

/* V varies most over all, S is slow in every tenth request, M is the longest. */
static void every_measure_has_its_own_first(void **state)
{
    struct requests r;
    requests_begin_folded(&r);
    for (int i = 0; i < 100; i++)
        requests_add(&r, "A{1 M{9000000} 1 V{%d} 1 S{%d} 1}", 100000 + 1000 * i,
                     (i >= 90 ? 60000 : 1000) + i * i * 7 % 101);
    struct ranked x = rank(&r, &by_share);
    /* Beyond the .9 quantile of a hundred totals are ten (R's type 7 puts it between the 90th and
     * the 91st), and up to the .5 quantile 50: their means of V are 70000 apart. */
    double slow = 0, usual = 0;
    for (int i = 0; i < 100; i++)
        *(i >= 90 ? &slow : &usual) += i >= 90 || i < 50 ? i * i * 7 % 101 : 0;
    double in_s = 59000 + slow / 10 - usual / 50;
    assert_rel_equal(edge_of(&x, "A/V: V -> /V")->tail_share, 70000 / (70000 + in_s), 1e-12);
    assert_rel_equal(edge_of(&x, "A/S: S -> /S")->tail_share, in_s / (70000 + in_s), 1e-12);
    assert_true(edge_of(&x, "A/M: M -> /M")->tail_share == 0);
    assert_true(edge_of(&x, "A/S: S -> /S")->modes_p < .01);
    assert_true(edge_of(&x, "A/V: V -> /V")->modes_p > .2);
    free_ranked(&x);
    assert_first(&r, PYTHIA_MEASURE_TAIL, "A/V: V -> /V");
    assert_first(&r, PYTHIA_MEASURE_SHARE, "A/V: V -> /V");
    assert_first(&r, PYTHIA_MEASURE_VARIANCE, "A/V: V -> /V");
    assert_first(&r, PYTHIA_MEASURE_COV, "A/S: S -> /S");
    assert_first(&r, PYTHIA_MEASURE_SLOW, "A/M: M -> /M");
    assert_first(&r, PYTHIA_MEASURE_MODES, "A/S: S -> /S"); /* V is even: one mode */
    requests_end(&r);
}

static void an_edge_is_localised_if_it_stands_out_beyond_chance(void **state)
{
    for (int planted = 0; planted < 2; planted++) {
        struct requests r;
        struct pythia_random random;
        requests_begin_folded(&r);
        pythia_random_init(&random, 6);
        for (int i = 0; i < 200; i++)
            requests_add(&r, "A{1 B{%.0f} 1 C{%.0f} 1 D{%.0f} 1}",
                         1e6 + 1e4 * pythia_random_normal(&random),
                         1e6 + (planted ? 9e4 : 1e4) * pythia_random_normal(&random),
                         1e6 + 1e4 * pythia_random_normal(&random));
        struct ranked x = rank(&r, &by_share);
        assert_int_equal(x.ranking.localised, planted);
        free_ranked(&x);
        requests_end(&r);
    }
}

static void the_slowest_mode_is_shared_out(void **state)
{
    struct requests r;
    requests_begin_folded(&r);
    for (int i = 0; i < 40; i++)
        requests_add(&r, "A{100 B{%d} 100 C{%d} 100}", i % 4 ? 1000 : 4000, i % 4 ? 2000 : 1000);
    size_t types, labels[40], count;
    const struct pythia_row **rows = requests_rows(requests_finish(&r, &types), &count);
    const struct pythia_cct *cct = pythia_groups_cct(r.groups);
    struct pythia_rank_options options = by_share;
    struct pythia_ranking ranking;
    for (size_t i = 0; i < 40; i++) /* of three modes, of which the middle one is empty */
        labels[i] = rows[i]->duration_ns > 4000 ? 2 : 0;
    options.labels = labels;
    options.modes = 3;
    assert_int_equal(pythia_rank(rows, count, cct, &options, &ranking), PYTHIA_OK);
    struct ranked x = {.cct = cct, .ranking = ranking};
    /* 3000 more in B and 1000 less in C make 2000 */
    assert_rel_equal(edge_of(&x, "A/B: B -> /B")->mode_share, 1.5, 1e-12);
    assert_rel_equal(edge_of(&x, "A/C: C -> /C")->mode_share, -.5, 1e-12);
    assert_true(edge_of(&x, "A: A -> B")->mode_share == 0);
    pythia_ranking_free(&ranking);
    for (size_t i = 0; i < 40; i++)
        labels[i] = 2; /* all in one: there is no difference to share out */
    assert_int_equal(pythia_rank(rows, count, cct, &options, &ranking), PYTHIA_OK);
    assert_rel_equal(ranking.edges[0].mode_share, NAN, 0);
    pythia_ranking_free(&ranking);
    free(rows);
    requests_end(&r);
}

static void modes_are_asked_of_the_best_edges_only(void **state)
{
    struct requests r;
    char text[2048];
    requests_begin_folded(&r);
    for (int i = 0; i < 20; i++) {
        size_t size = (size_t)snprintf(text, sizeof(text), "A{1");
        for (int k = 0; k < 40; k++)
            size += (size_t)snprintf(text + size, sizeof(text) - size, " P%02d{%d} 1", k,
                                     100 + i * k * k);
        requests_add(&r, "%s}", text);
    }
    struct ranked x = rank(&r, &by_share);
    assert_int_equal(x.ranking.edge_count, 81);
    for (size_t e = 0; e < x.ranking.edge_count; e++)
        assert_int_equal(isnan(x.ranking.edges[e].modes_p), e >= 32);
    free_ranked(&x);
    requests_end(&r);
}

/* ---- counts ---- */

static void a_request_without_an_edge_spent_no_time_on_it(void **state)
{
    struct requests r;
    requests_begin_folded(&r);
    for (int i = 0; i < 10; i++)
        if (i < 4)
            requests_add(&r, "A{10 B{500} 10 B{700} 10}");
        else
            requests_add(&r, "A{%d}", 100 + i);
    struct ranked x = rank(&r, &by_share);
    const struct pythia_ranked_edge *b = edge_of(&x, "A/B: B -> /B");
    assert_int_equal(b->requests, 4);
    assert_rel_equal(b->repeats, .8, 1e-15);     /* 2 in 4 of 10 */
    assert_rel_equal(b->share.mean, 480, 1e-15); /* 1200 in 4 of 10 */
    assert_rel_equal(b->share.sd, sqrt((4 * 720. * 720 + 6 * 480. * 480) / 9), 1e-12);
    assert_int_equal(edge_of(&x, "A: A -> /A")->requests, 6);
    free_ranked(&x);
    requests_end(&r);
}

/* ---- contexts ---- */

static void an_inclusive_share_is_the_sum_of_the_exclusive_ones_below(void **state)
{
    struct requests r;
    requests_begin_folded(&r);
    add_mixed(&r, 200, 5);
    struct ranked x = rank(&r, &by_share);
    static const char *const chains[] = {"A", "A/B", "A/B/E", "A/C", "A/D"};
    assert_int_equal(x.ranking.context_count, 5);
    for (size_t k = 0; k < 5; k++) {
        const struct pythia_ranked_context *c =
            pythia_ranking_context(&x.ranking, requests_node(x.cct, chains[k]));
        double share = 0, mean = 0;
        for (size_t e = 0; e < x.ranking.edge_count; e++) {
            char name[64];
            snprintf(name, sizeof(name), "%.60s", requests_edge(x.cct, x.ranking.edges[e].edge));
            name[strcspn(name, ":")] = '\0';
            size_t size = strlen(chains[k]);
            if (strncmp(name, chains[k], size) != 0)
                continue; /* one character a name: a prefix is an ancestor */
            share += x.ranking.edges[e].share.share;
            mean += x.ranking.edges[e].share.mean;
        }
        assert_true(fabs(c->share.slope - share) < 1e-9);
        assert_rel_equal(c->mean_ns, mean, 1e-12);
        assert_true(c->share.low <= c->share.slope && c->share.slope <= c->share.high);
    }
    assert_null(pythia_ranking_context(&x.ranking, PYTHIA_CCT_ROOT));
    assert_null(pythia_ranking_context(&x.ranking, 99999));
    free_ranked(&x);
    requests_end(&r);
}

/* ---- what may not be ---- */

static void equal_durations_have_no_share_and_divide_by_nothing(void **state)
{
    struct requests r;
    requests_begin_folded(&r);
    for (int i = 0; i < 30; i++)
        requests_add(&r, "A{0 B{100} 7}");
    struct ranked x = rank(&r, &by_share);
    for (size_t e = 0; e < 3; e++) {
        const struct pythia_ranked_edge *edge = &x.ranking.edges[e];
        assert_true(edge->share.sd == 0);
        assert_rel_equal(edge->share.share, NAN, 0); /* of nothing: undefined, and so not 0 */
        assert_rel_equal(edge->score, NAN, 0);
    }
    assert_false(x.ranking.localised);
    assert_rel_equal(edge_of(&x, "A: A -> B")->share.cov, NAN, 0); /* its mean is 0 */
    assert_true(edge_of(&x, "A/B: B -> /B")->share.cov == 0);
    free_ranked(&x);
    static const char *const in_order[] = {"A: A -> B", "A: /B -> /A", "A/B: B -> /B"};
    struct pythia_rank_options options = by_share; /* ties are settled by name */
    size_t types;
    x.rows = requests_rows(pythia_groups_types(r.groups, &types), &x.count);
    options.measure = PYTHIA_MEASURE_VARIANCE;
    assert_int_equal(pythia_rank(x.rows, x.count, x.cct, &options, &x.ranking), PYTHIA_OK);
    for (size_t e = 0; e < 3; e++)
        assert_string_equal(requests_edge(x.cct, x.ranking.edges[e].edge), in_order[e]);
    free_ranked(&x);
    requests_end(&r);
}

static void few_requests_are_ranked_without_intervals(void **state)
{
    for (int n = 1; n <= 3; n++) {
        struct requests r;
        requests_begin_folded(&r);
        for (int i = 0; i < n; i++)
            requests_add(&r, "A{10 B{%d} 10}", 100 * (i + 1));
        struct ranked x = rank(&r, &by_share);
        assert_int_equal(x.ranking.edge_count, 3);
        for (size_t e = 0; n < 3 && e < 3; e++)
            assert_rel_equal(x.ranking.edges[e].share.low, NAN, 0);
        free_ranked(&x);
        requests_end(&r);
    }
}

static void requests_without_an_edge_make_an_empty_ranking(void **state)
{
    struct requests r;
    requests_begin_folded(&r);
    for (int i = 0; i < 5; i++)
        requests_add(&r, "*A");
    struct ranked x = rank(&r, &by_share);
    assert_int_equal(x.ranking.edge_count, 0);
    assert_int_equal(x.ranking.context_count, 0);
    free_ranked(&x);
    requests_end(&r);
}

/* Of 716 requests 2 call C, for a second: clipping 4 values of C leaves nothing of that, and its
 * share is 0. Of 200 one value is clipped, to the other: C has most of what is left, and comes last
 * all the same. */
static void what_a_handful_passes_is_marked_and_comes_last(void **state)
{
    static const int counts[] = {716, 200};
    for (int i = 0; i < 2; i++) {
        struct requests r;
        struct pythia_random random;
        requests_begin_folded(&r);
        pythia_random_init(&random, 7);
        for (int k = 0; k < counts[i]; k++)
            requests_add(&r, "A{100 B{%llu} 100%s}",
                         (unsigned long long)pythia_random_below(&random, 5000000),
                         k == 10 || k == 110 ? " C{1000000000} 100" : "");
        struct ranked x = rank(&r, &by_share);
        const struct pythia_ranked_edge *b = edge_of(&x, "A/B: B -> /B"),
                                        *c = edge_of(&x, "A/C: C -> /C");
        assert_true(i == 1 || b == &x.ranking.edges[0]);
        assert_false(x.ranking.edges[0].few);
        assert_false(b->few);
        assert_true(c->few);
        assert_int_equal(c->requests, 2);
        for (size_t e = 1; e < x.ranking.edge_count; e++)
            assert_true(x.ranking.edges[e].few || !x.ranking.edges[e - 1].few);
        assert_false(x.ranking.localised && i == 1);
        assert_true(i == 0 ? c->share.share < 1e-9 : c->share.share > .9);
        assert_int_equal(pythia_ranking_has_shares(&x.ranking), i == 1);
        assert_true(i == 0 ? x.ranking.kept < .01 : x.ranking.kept > .99);
        free_ranked(&x);
        requests_end(&r);
    }
}

/* Without a spike in them clipping takes little; of equal durations nothing is known. */
static void clipping_is_measured(void **state)
{
    struct requests r;
    requests_begin_folded(&r);
    add_mixed(&r, 400, 2);
    struct ranked x = rank(&r, &by_share);
    assert_true(x.ranking.kept > .8 && x.ranking.kept <= 1);
    free_ranked(&x);
    requests_end(&r);

    requests_begin_folded(&r);
    for (int i = 0; i < 40; i++)
        requests_add(&r, "A{100}");
    x = rank(&r, &by_share);
    assert_rel_equal(x.ranking.kept, NAN, 0);
    assert_true(pythia_ranking_has_shares(&x.ranking));
    free_ranked(&x);
    requests_end(&r);
}

/* Rows made by hand, all of one shape: 1200 edges and 1500 requests make 1.8 million numbers. */
static void a_large_matrix_is_of_the_first_rows(void **state)
{
    enum { EDGES = 1200, ROWS = 1500, USED = 1024 * 1024 / EDGES };
    struct requests r;
    struct pythia_cct *cct;
    static uint32_t edges[EDGES], repeats[EDGES];
    struct pythia_row *rows = calloc(ROWS, sizeof(*rows));
    const struct pythia_row **all = calloc(ROWS, sizeof(*all));
    int64_t *times = calloc((size_t)ROWS * EDGES, sizeof(*times));
    struct pythia_ranking ranking;
    requests_begin(&r);
    assert_int_equal(pythia_cct_create(r.vocabulary, &cct), PYTHIA_OK);
    uint32_t a = pythia_vocabulary_tracepoint_of_id(r.vocabulary, PYTHIA_TEXT("A"), 0, 0);
    for (uint32_t e = 0; e < EDGES; e++) {
        char id[16];
        snprintf(id, sizeof(id), "p%u", e);
        uint32_t to = pythia_vocabulary_tracepoint_of_id(r.vocabulary, pythia_text_of(id), 0, 0);
        edges[e] = pythia_cct_edge(
            cct, &(struct pythia_edge){pythia_cct_child(cct, PYTHIA_CCT_ROOT, a), a, to, 0, 0});
        repeats[e] = 1;
    }
    struct pythia_shape shape = {.edge_count = EDGES, .edges = edges, .repeats = repeats};
    for (size_t i = 0; i < ROWS; i++) {
        rows[i] = (struct pythia_row){.shape = &shape, .times_ns = times + i * EDGES};
        for (size_t e = 0; e < EDGES; e++)
            rows[i].times_ns[e] = i < USED ? (int64_t)(i * e % 17) : 1000000;
        all[i] = &rows[i];
    }
    assert_int_equal(pythia_rank(all, ROWS, cct, &by_share, &ranking), PYTHIA_OK);
    assert_int_equal(ranking.rows, USED);
    assert_int_equal(ranking.edges[0].requests, USED);
    for (size_t e = 0; e < EDGES; e++)
        assert_true(ranking.edges[e].share.mean < 17);
    pythia_ranking_free(&ranking);
    pythia_cct_destroy(cct);
    free(times);
    free(all);
    free(rows);
    requests_end(&r);
}

/* ---- the same everywhere ---- */

static void the_numbers_of_names_change_nothing(void **state)
{
    struct requests r[2];
    struct ranked x[2];
    for (int i = 0; i < 2; i++) {
        requests_begin_folded(&r[i]);
        if (i) /* here the trace points have other numbers, and so have nodes and edges */
            requests_trace(&r[i], 0, "E{1 D{1} 1 C{1} 1 B{1} 1 A{1} 1}");
        add_mixed(&r[i], 150, 9);
        x[i] = rank(&r[i], &by_share);
    }
    assert_int_not_equal(requests_point(&r[0], "A"), requests_point(&r[1], "A"));
    assert_int_equal(x[0].ranking.edge_count, x[1].ranking.edge_count);
    for (size_t e = 0; e < x[0].ranking.edge_count; e++) {
        struct pythia_ranked_edge one = x[0].ranking.edges[e], two = x[1].ranking.edges[e];
        char name[128];
        snprintf(name, sizeof(name), "%.120s", requests_edge(x[0].cct, one.edge));
        assert_string_equal(requests_edge(x[1].cct, two.edge), name);
        one.edge = two.edge;
        assert_memory_equal(&one.share, &two.share, offsetof(struct pythia_share, outlier_driven));
        assert_true(one.score == two.score && one.tail_share == two.tail_share);
    }
    assert_memory_equal(x[0].ranking.times_ns, x[1].ranking.times_ns,
                        sizeof(double) * x[0].ranking.edge_count * x[0].count);
    for (int i = 0; i < 2; i++) {
        free_ranked(&x[i]);
        requests_end(&r[i]);
    }
}

static void a_failed_allocation_leaves_nothing(void **state)
{
    struct requests r;
    size_t types, count;
    requests_begin_folded(&r);
    add_mixed(&r, 40, 3);
    const struct pythia_row **rows = requests_rows(requests_finish(&r, &types), &count);
    struct pythia_ranking ranking = {.rows = 77};
    long failures = 0;
    for (;; failures++) {
        pythia_mem_fail_after(failures);
        int status = pythia_rank(rows, count, pythia_groups_cct(r.groups), &by_share, &ranking);
        pythia_mem_fail_after(-1);
        if (status == PYTHIA_OK)
            break;
        assert_int_equal(status, PYTHIA_ENOMEM);
        assert_int_equal(ranking.rows, 77);
    }
    assert_true(failures > 15);
    assert_int_equal(ranking.rows, 40);
    pythia_ranking_free(&ranking);
    free(rows);
    requests_end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_match_hand_computation),
        cmocka_unit_test(covariances_with_the_total_add_up_to_its_variance),
        cmocka_unit_test(edges_that_make_up_for_each_other_are_not_ranked_first),
        cmocka_unit_test(a_tiny_noisy_edge_is_first_by_cov_alone),
        cmocka_unit_test(every_measure_has_its_own_first),
        cmocka_unit_test(an_edge_is_localised_if_it_stands_out_beyond_chance),
        cmocka_unit_test(the_slowest_mode_is_shared_out),
        cmocka_unit_test(modes_are_asked_of_the_best_edges_only),
        cmocka_unit_test(a_request_without_an_edge_spent_no_time_on_it),
        cmocka_unit_test(an_inclusive_share_is_the_sum_of_the_exclusive_ones_below),
        cmocka_unit_test(equal_durations_have_no_share_and_divide_by_nothing),
        cmocka_unit_test(few_requests_are_ranked_without_intervals),
        cmocka_unit_test(requests_without_an_edge_make_an_empty_ranking),
        cmocka_unit_test(what_a_handful_passes_is_marked_and_comes_last),
        cmocka_unit_test(clipping_is_measured),
        cmocka_unit_test(a_large_matrix_is_of_the_first_rows),
        cmocka_unit_test(the_numbers_of_names_change_nothing),
        cmocka_unit_test(a_failed_allocation_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
