#include <string.h>

#include "association_case.h"
#include "pythia/cca.h"
#include "pythia/mem.h"
#include "pythia/ranks.h"

/* The time of request i, of n, on edge e. */
static double *cell(size_t e, size_t n, size_t i)
{
    return &durations[e * n + i];
}

static const struct pythia_association_result *
of_column(const struct pythia_association_result *results, size_t column)
{
    while (results->column != column)
        results++;
    return results;
}

/* latency = 10 + 5 queue + noise, with 20 other keys. */
static void the_queue_is_named_and_a_shuffled_one_is_not(void **state)
{
    struct pythia_association_input in = noise(200, 21, 1);
    struct pythia_association *a = created();
    for (size_t i = 0; i < 200; i++) {
        numbers[13][i] = (double)pythia_random_below(&r, 12);
        *cell(2, 200, i) = 1e6 * (10 + 5 * numbers[13][i] + pythia_random_normal(&r));
    }
    const struct pythia_association_result *best = asked(a, &in);
    assert_int_equal(best->column, 13);
    assert_int_equal(best->rank, 1);
    assert_true(best->significant && best->confirmed && !best->low_confidence);
    assert_true(best->r > 0.9 && best->effect > 0.8 && best->q < 1e-10);
    assert_true(best->p_bartlett < 1e-10);
    assert_true(best->omega_squared > 0.8);
    assert_rel_equal(best->p_permutation, 0.001, 1e-12); /* none of 999 */
    assert_rel_equal(best->stability, 1, 1e-9);
    assert_true(best->loadings[2] > 0.9 && fabs(best->loadings[0]) < 0.4);
    assert_true(best->split.above && best->split.cut > 3 && best->split.cut < 8);
    assert_true(best->split_share > 0.5 && best->high_total > best->low_total + 15e6);
    assert_false(best[1].significant);
    for (size_t k = 1; k < 20; k++)
        assert_true(best[k].p <= best[k + 1].p);

    size_t order[200];
    double shuffled[200];
    for (size_t i = 0; i < 200; i++)
        order[i] = i;
    pythia_random_shuffle(&r, order, 200);
    for (size_t i = 0; i < 200; i++)
        shuffled[i] = numbers[13][order[i]];
    memcpy(numbers[13], shuffled, sizeof(shuffled));
    best = asked(a, &in);
    assert_false(best->significant || best->confirmed);
    assert_rel_equal(best->p_permutation, NAN, 0); /* not asked */
    assert_rel_equal(best->split.share, NAN, 0);
    pythia_association_destroy(a);
}

/* What the total cannot show: a key that moves time from one edge to another. */
static void a_shift_between_edges_is_seen_with_opposite_signs(void **state)
{
    struct pythia_association_input in = noise(200, 10, 2);
    struct pythia_association *a = created();
    for (size_t i = 0; i < 200; i++) {
        double moved = 5e5 * tanh(numbers[4][i]);
        *cell(1, 200, i) += moved;
        *cell(3, 200, i) -= moved;
    }
    const struct pythia_association_result *best = asked(a, &in);
    assert_int_equal(best->column, 4);
    assert_true(best->significant && best->confirmed);
    assert_true(best->loadings[1] > 0.4 && best->loadings[3] < -0.1);
    assert_true(best->omega_squared < 0.05);
    assert_true(best->split_share < 0.1 && best->split.share > 0.2);
    pythia_association_destroy(a);
}

/* Eta squared of the durations of one edge by the levels i % 4, the largest of them clipped to the
 * second largest, as shares.h says of 120 values. */
static double eta_of_clipped(size_t n)
{
    size_t first = 0;
    double second = 0, sums[4] = {0}, mean = 0, between = 0, all = 0;
    for (size_t i = 1; i < n; i++)
        first = durations[i] > durations[first] ? i : first;
    for (size_t i = 0; i < n; i++)
        second = i != first ? fmax(second, durations[i]) : second;
    for (size_t i = 0; i < n; i++) {
        double v = fmin(durations[i], second);
        sums[i % 4] += v;
        mean += v / (double)n;
    }
    for (size_t k = 0; k < 4; k++)
        between += pow(4 * sums[k] / (double)n - mean, 2) * (double)n / 4;
    for (size_t i = 0; i < n; i++)
        all += pow(fmin(durations[i], second) - mean, 2);
    return between / all;
}

/* The eta squared of the ranks of durations, whose level is i % 4: the Kruskal-Wallis statistic
 * over n - 1. Without ties the squares of all ranks around their mean sum up to
 * n (n^2 - 1) / 12. */
static double eta_of_ranks(size_t n)
{
    double sums[4] = {0}, between = 0, size = (double)n;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            sums[i % 4] += durations[j] <= durations[i];
    for (size_t k = 0; k < 4; k++)
        between += pow(4 * sums[k] / size - (size + 1) / 2, 2) * size / 4;
    return between / (size * (size * size - 1) / 12);
}

/* With one edge and no numbers, r squared is the eta squared of the ranks, and the explained share
 * its adjusted form. */
static void one_edge_and_levels_are_an_analysis_of_variance(void **state)
{
    enum { N = 120 };
    struct pythia_association_input in = noise(N, 1, 3);
    struct pythia_association *a = created();
    keys[0].categorical = true;
    keys[0].level_count = 4;
    in.edges = 1;
    for (size_t i = 0; i < N; i++) {
        levels[0][i] = (uint32_t)(i % 4);
        durations[i] += levels[0][i] == 1 ? 2e5 : 0;
    }
    double eta = eta_of_ranks(N);
    const struct pythia_association_result *best = asked(a, &in);
    assert_int_equal(best->regressors, 3);
    assert_rel_equal(best->r * best->r, eta, 1e-9);
    assert_rel_equal(best->explained_edges, 1 - (1 - eta) * (N - 1) / (N - 4), 1e-9);
    assert_rel_equal(best->effect, best->explained_edges, 1e-12);
    assert_rel_equal(best->explained, 1 - (1 - eta_of_clipped(N)) * (N - 1) / (N - 4), 1e-9);
    double noise_share = (1 - eta) / (N - 4);
    assert_rel_equal(best->omega_squared, (eta - 3 * noise_share) / (1 + noise_share), 1e-9);
    pythia_association_destroy(a);
}

static void what_is_not_asked_says_why_and_comes_last(void **state)
{
    struct pythia_association_input in = noise(100, 6, 4);
    struct pythia_association *a = created();
    keys[0] = (struct pythia_column){.categorical = true, .levels = levels[0], .level_count = 100};
    for (size_t i = 0; i < 100; i++) {
        levels[0][i] = (uint32_t)i; /* the id of the request */
        numbers[2][i] = 17;
        numbers[3][i] = 40 + (double)i; /* a row of a data base */
        numbers[5][i] = i < 5 ? (double)i : NAN;
        durations[i] += 1e6 * numbers[4][i];
    }
    const struct pythia_association_result *results = asked(a, &in);
    static const struct {
        size_t column;
        enum pythia_column_skip skip;
    } last[] = {{0, PYTHIA_COLUMN_MANY_LEVELS},
                {2, PYTHIA_COLUMN_CONSTANT},
                {3, PYTHIA_COLUMN_SEQUENCE},
                {5, PYTHIA_COLUMN_TOO_FEW}};
    assert_int_equal(results[0].column, 4);
    assert_int_equal(results[1].column, 1);
    for (size_t k = 0; k < 4; k++) {
        assert_int_equal(results[2 + k].column, last[k].column);
        assert_int_equal(results[2 + k].skip, last[k].skip);
        assert_rel_equal(results[2 + k].p, NAN, 0);
        assert_false(results[2 + k].significant);
    }
    assert_true(of_column(results, 0)->categorical);
    assert_int_equal(of_column(results, 5)->present, 5);
    pythia_association_destroy(a);
}

/* Constant, partly missing, collinear and categorical keys: the collinear ones share a rank, the
 * bad host is named, and no figure of a tested key is NaN. */
static void collinear_keys_share_a_rank_and_the_bad_host_is_named(void **state)
{
    enum { N = 240 };
    struct pythia_association_input in = noise(N, 6, 5);
    struct pythia_association *a = created();
    keys[0].categorical = true;
    keys[0].level_count = 6;
    for (size_t i = 0; i < N; i++) {
        levels[0][i] = (uint32_t)pythia_random_below(&r, 6);
        numbers[3][i] = 8;                                 /* constant */
        numbers[4][i] = -7 - 1e3 * numbers[1][i];          /* collinear with 1, downwards */
        numbers[5][i] = i % 3 == 0 ? NAN : numbers[5][i];  /* missing in some */
        *cell(0, N, i) += levels[0][i] == 4 ? 2e6 : 0;     /* the bad host */
        *cell(2, N, i) *= exp(0.25 * tanh(numbers[1][i])); /* and another cause */
    }
    const struct pythia_association_result *results = asked(a, &in);
    const struct pythia_association_result *host = of_column(results, 0),
                                           *first = of_column(results, 1);
    const struct pythia_association_result *second = of_column(results, 4);
    assert_true(host->significant && host->confirmed);
    assert_int_equal(host->split.level_count, 1);
    assert_int_equal(host->split.levels[0], 4);
    assert_true(host->high_total > host->low_total + 1e6);
    assert_true(first->significant && second->significant);
    assert_int_equal(first->rank, second->rank);
    assert_int_equal(first->cluster, second->cluster);
    assert_int_equal(first->cluster, 1);
    assert_int_equal(first->proxy_of, PYTHIA_ASSOCIATION_NONE);
    assert_int_equal(second->proxy_of, PYTHIA_ASSOCIATION_NONE);
    assert_int_equal(host->cluster, PYTHIA_ASSOCIATION_NONE);
    assert_rel_equal(first->loadings[2], -second->loadings[2], 1e-9);
    assert_true(first->loadings[2] > 0.3); /* longer with a larger number */
    assert_int_equal(of_column(results, 3)->skip, PYTHIA_COLUMN_CONSTANT);
    assert_int_equal(of_column(results, 5)->regressors, 2);
    for (size_t k = 0; k < in.columns; k++) {
        if (results[k].skip != PYTHIA_COLUMN_USED)
            continue;
        assert_true(isfinite(results[k].p) && isfinite(results[k].q) && isfinite(results[k].r));
        assert_true(isfinite(results[k].explained) && isfinite(results[k].effect));
        for (size_t e = 0; e < EDGES; e++)
            assert_true(isfinite(results[k].loadings[e]));
    }
    pythia_association_destroy(a);
}

static void a_noisy_copy_is_a_proxy_of_the_cause(void **state)
{
    enum { N = 300 };
    struct pythia_association_input in = noise(N, 8, 6);
    struct pythia_association *a = created();
    for (size_t i = 0; i < N; i++) {
        numbers[2][i] = 0.8 * numbers[6][i] + 0.6 * numbers[2][i];
        *cell(1, N, i) *= exp(0.5 * tanh(numbers[6][i]));
    }
    const struct pythia_association_result *results = asked(a, &in);
    const struct pythia_association_result *proxy = of_column(results, 2);
    assert_int_equal(results[0].column, 6);
    assert_int_equal(results[0].proxy_of, PYTHIA_ASSOCIATION_NONE);
    assert_rel_equal(results[0].p_partial, results[0].p, 0);
    assert_true(proxy->significant && proxy->p_partial > 0.05);
    assert_int_equal(proxy->proxy_of, 6);
    assert_int_equal(proxy->rank, 2);
    pythia_association_destroy(a);
}

/* A key that is the sum of two causes explains more than either, but nothing beside both. */
static void a_sum_of_two_causes_gives_way_to_them(void **state)
{
    enum { N = 400 };
    struct pythia_association_input in = noise(N, 6, 7);
    struct pythia_association *a = created();
    for (size_t i = 0; i < N; i++) {
        numbers[0][i] = numbers[1][i] + numbers[2][i] + 0.3 * numbers[0][i];
        numbers[3][i] = numbers[0][i] + numbers[3][i]; /* stands behind what stands behind them */
        *cell(1, N, i) *= exp(0.3 * numbers[1][i] + 0.12 * numbers[2][i]);
        *cell(3, N, i) *= exp(0.12 * numbers[1][i] + 0.3 * numbers[2][i]);
    }
    const struct pythia_association_result *results = asked(a, &in);
    const struct pythia_association_result *sum = of_column(results, 0);
    assert_true(results[0].column == 1 || results[0].column == 2);
    assert_true(results[1].column == 1 || results[1].column == 2);
    assert_true(results[1].significant && results[1].p_partial < 0.05);
    assert_true(sum->significant && sum->explained > results[0].explained);
    assert_true(sum->proxy_of == 1 || sum->proxy_of == 2);
    assert_int_equal(sum->rank, 3);
    assert_true(of_column(results, 3)->significant);
    assert_true(of_column(results, 3)->proxy_of == 1 || of_column(results, 3)->proxy_of == 2);
    pythia_association_destroy(a);
}

/* A number that exists only where a branch is taken says at least whether it is taken; if that is
 * all it has to say, the branch is named, which is simpler. One that says more is kept. */
static void what_is_there_only_in_a_branch_gives_way_to_the_branch(void **state)
{
    enum { RUNS = 100 };
    size_t branch_first = 0, number_stands = 0;
    struct pythia_association *a = created();
    for (uint64_t seed = 1; seed <= RUNS; seed++)
        for (int says_more = 0; says_more < 2; says_more++) {
            size_t n = 110;
            struct pythia_association_input in = noise(n, 6, seed);
            for (size_t i = 0; i < n; i++) {
                bool taken = i % 5 == 0;
                numbers[3][i] = taken;
                if (taken)
                    *cell(1, n, i) += 2e7 + (says_more ? 1e7 * numbers[4][i] : 0);
                else
                    numbers[4][i] = NAN;
            }
            const struct pythia_association_result *results = asked(a, &in);
            assert_true(of_column(results, 3)->significant && of_column(results, 4)->significant);
            if (says_more)
                number_stands += of_column(results, 4)->proxy_of == PYTHIA_ASSOCIATION_NONE;
            else
                branch_first += results->column == 3;
        }
    pythia_association_destroy(a);
    print_message("the branch first: %zu of %d, a number that says more stands: %zu of %d\n",
                  branch_first, RUNS, number_stands, RUNS);
    assert_true(branch_first >= 95);
    assert_true(number_stands >= 95);
}

/* Keys that are `present_only` have the p of the rows that have them alone: as if there were no
 * others. And however much lies between these rows and the rest, they explain none of that. */
static void keys_of_a_branch_are_tested_within_it(void **state)
{
    enum { N = 120, HALF = 60 };
    struct pythia_association *a;
    assert_int_equal(pythia_association_create(&a), PYTHIA_OK);
    double p[2], explained = NAN, branch = NAN;
    for (int kind = 0; kind < 2; kind++) { /* numbers, levels */
        for (int alone = 0; alone < 2; alone++) {
            struct pythia_association_input in = noise(N, 2, 7);
            size_t n = alone ? HALF : N;
            for (size_t i = 0; i < N; i++) {
                bool inside = i < HALF;
                double number = numbers[0][i];
                uint32_t level = number < -.4 ? 0 : number < .4 ? 1 : 2;
                *cell(0, N, i) += 1e6 * (inside ? 20 + (kind ? level : number) : 0);
                numbers[0][i] = inside ? number : NAN;
                levels[0][i] = inside ? level : PYTHIA_COLUMN_MISSING;
                numbers[1][i] = inside;
            }
            keys[0].categorical = kind == 1;
            keys[0].level_count = 3;
            keys[0].present_only = true;
            if (alone) { /* the same rows, close together */
                for (size_t e = 1; e < EDGES; e++)
                    memmove(cell(e, HALF, 0), cell(e, N, 0), HALF * sizeof(*durations));
                in.rows = n;
            }
            const struct pythia_association_result *results = asked(a, &in);
            for (size_t k = 0; k < 2; k++)
                if (results[k].column == 0) {
                    p[alone] = results[k].p;
                    explained = alone ? explained : results[k].explained;
                } else {
                    branch = alone ? branch : results[k].explained;
                }
            assert_int_equal(results[0].column, alone ? 0 : 1);
        }
        assert_true(p[0] < .01);
        assert_rel_equal(p[0], p[1], 1e-9);
        assert_true(explained < .1 && branch > .15);
    }
    pythia_association_destroy(a);
}

static void confounders_are_taken_out_of_everything(void **state)
{
    enum { N = 300 };
    struct pythia_association_input in = noise(N, 5, 8);
    struct pythia_association *a = created();
    for (size_t i = 0; i < N; i++) {
        numbers[1][i] =
            numbers[0][i] + 0.5 * numbers[1][i]; /* goes with the load 0, and does nothing */
        numbers[2][i] = 3 * numbers[0][i] + 1;   /* is the load */
        *cell(2, N, i) *= exp(0.3 * numbers[0][i]);
        *cell(0, N, i) *= exp(0.2 * numbers[3][i]);
    }
    const struct pythia_association_result *results = asked(a, &in);
    assert_int_equal(results[0].column, 0);
    assert_true(of_column(results, 1)->significant);
    keys[0].confounder = true;
    results = asked(a, &in);
    assert_int_equal(results[0].column, 3);
    assert_true(results[0].significant && results[0].confirmed);
    assert_false(of_column(results, 1)->significant);
    assert_int_equal(of_column(results, 0)->skip, PYTHIA_COLUMN_CONFOUNDER);
    assert_int_equal(of_column(results, 2)->skip, PYTHIA_COLUMN_CONFOUNDED);
    pythia_association_destroy(a);
}

/* The correlation of x and y without what either shares with z, from the three correlations. */
static double partial(double xy, double xz, double yz)
{
    return (xy - xz * yz) / sqrt((1 - xz * xz) * (1 - yz * yz));
}

/* One edge y, a confounder c, a key x, and another key z that explains more: the partial
 * correlations of their ranks, of first and second order, by the textbook's recursion. */
static void p_values_are_those_of_partial_correlations(void **state)
{
    enum { N = 60, C = 0, X = 1, Z = 2, Y = 3 };
    struct pythia_association_input in = noise(N, 3, 17);
    struct pythia_association *a = created();
    double ranks[4][N], r0[4][4], r1[4][4];
    in.edges = 1;
    keys[C].confounder = true;
    for (size_t i = 0; i < N; i++) {
        numbers[X][i] += numbers[C][i];
        numbers[Z][i] += 0.5 * numbers[X][i];
        durations[i] =
            exp(numbers[C][i] + numbers[X][i] + 2 * numbers[Z][i] + pythia_random_normal(&r));
    }
    for (size_t k = 0; k < 4; k++)
        assert_int_equal(pythia_ranks_mid(k == Y ? durations : numbers[k], N, ranks[k]), PYTHIA_OK);
    for (size_t j = 0; j < 4; j++)
        for (size_t k = 0; k < 4; k++)
            r0[j][k] = pythia_ranks_pearson(ranks[j], ranks[k], N);
    for (size_t j = X; j < 4; j++)
        for (size_t k = X; k < 4; k++)
            r1[j][k] = partial(r0[j][k], r0[j][C], r0[k][C]);
    double second = fabs(partial(r1[X][Y], r1[X][Z], r1[Y][Z])), first = fabs(r1[X][Y]);
    struct pythia_cca_root whole, rest;
    pythia_cca_test_root(&first, 1, N - 1, 1, 1, 0, &whole);
    pythia_cca_test_root(&second, 1, N - 2, 1, 1, 0, &rest);
    const struct pythia_association_result *results = asked(a, &in), *x = of_column(results, X);
    assert_int_equal(results[0].column, Z);
    assert_rel_equal(x->r, first, 1e-9);
    assert_rel_equal(x->p, whole.wilks.p, 1e-7);
    assert_true(x->significant);
    assert_rel_equal(x->p_partial, rest.wilks.p, 1e-7);
    pythia_association_destroy(a);
}

/* Two edges and one key in 12 rows: the shrunken correlations, and the multiple correlation that
 * they give. */
static void few_rows_have_their_correlations_shrunk(void **state)
{
    enum { N = 12 };
    struct pythia_association_input in = noise(N, 1, 18);
    struct pythia_association *a = created();
    double ranks[3][N], correlation[3][3], variances = 0, squares = 0;
    in.edges = 2;
    for (size_t i = 0; i < N; i++) {
        *cell(0, N, i) *= exp(0.4 * numbers[0][i]);
        *cell(1, N, i) += 0.5 * *cell(0, N, i);
    }
    assert_int_equal(pythia_ranks_mid(numbers[0], N, ranks[0]), PYTHIA_OK);
    for (size_t e = 0; e < 2; e++)
        assert_int_equal(pythia_ranks_mid(cell(e, N, 0), N, ranks[1 + e]), PYTHIA_OK);
    for (size_t j = 0; j < 3; j++)
        for (size_t k = 0; k < j; k++) {
            double mean = 0, variance = 0, w[N]; /* products of variables of variance 1 */
            for (size_t i = 0; i < N; i++) {
                w[i] = (ranks[j][i] - 6.5) * (ranks[k][i] - 6.5) / 13; /* sum of squares 143, over
                                                                        * 11 */
                mean += w[i] / N;
            }
            for (size_t i = 0; i < N; i++)
                variance += (w[i] - mean) * (w[i] - mean) * N / pow(N - 1, 3);
            correlation[j][k] = pythia_ranks_pearson(ranks[j], ranks[k], N);
            variances += variance;
            squares += correlation[j][k] * correlation[j][k];
        }
    double kept = 1 - variances / squares, x1 = kept * correlation[1][0],
           x2 = kept * correlation[2][0];
    double between = kept * correlation[2][1];
    double multiple = (x1 * x1 + x2 * x2 - 2 * x1 * x2 * between) / (1 - between * between);
    const struct pythia_association_result *result = asked(a, &in);
    assert_true(kept > 0.3 && kept < 0.95);
    assert_true(result->low_confidence);
    assert_rel_equal(result->r, sqrt(multiple), 1e-9);
    pythia_association_destroy(a);
}

/* The weight of an edge goes with it, however the edges before it are alike. */
static void explained_is_of_the_edge_that_is_weighted(void **state)
{
    struct pythia_association_input in = noise(200, 1, 19);
    struct pythia_association *a = created();
    for (size_t i = 0; i < 200; i++) {
        *cell(1, 200, i) = 2 * *cell(0, 200, i);
        *cell(3, 200, i) *= exp(0.3 * numbers[0][i]);
    }
    in.weights = (double[]){0, 0, 0, 1};
    double marked = asked(a, &in)->explained_edges;
    in.weights = (double[]){0, 0, 1, 0};
    assert_true(marked > 0.3 && asked(a, &in)->explained_edges < 0.05);
    pythia_association_destroy(a);
}

static void weights_say_which_edges_matter(void **state)
{
    struct pythia_association_input in = noise(200, 2, 9);
    struct pythia_association *a = created();
    for (size_t i = 0; i < 200; i++) {
        *cell(0, 200, i) *= exp(0.4 * numbers[0][i]);
        *cell(3, 200, i) *= exp(0.25 * numbers[1][i]);
    }
    const struct pythia_association_result *all = asked(a, &in);
    double same = of_column(all, 0)->explained_edges;
    assert_true(same > of_column(all, 1)->explained_edges);
    in.weights = (double[]){0, 1, -2, 1};
    all = asked(a, &in);
    assert_true(of_column(all, 1)->explained_edges > 0.1);
    assert_true(of_column(all, 0)->explained_edges < 0.02);
    in.weights = (double[]){0, 0, 0, -1}; /* none above 0: all the same */
    assert_rel_equal(of_column(asked(a, &in), 0)->explained_edges, same, 1e-12);
    pythia_association_destroy(a);
}

/* Edge 3 takes four times as long as edge 0, which key 0 moves by more of its variance: key 1
 * accounts for more of the total, whatever the weights of the edges are. */
static void keys_are_ranked_by_their_part_of_the_total(void **state)
{
    struct pythia_association_input in = noise(200, 2, 9);
    struct pythia_association *a = created();
    for (size_t i = 0; i < 200; i++) {
        *cell(0, 200, i) *= exp(0.4 * numbers[0][i]);
        *cell(3, 200, i) *= exp(0.25 * numbers[1][i]);
    }
    for (int weighted = 0; weighted < 2; weighted++) {
        in.weights = weighted ? (double[]){1, 0, 0, 0} : NULL;
        const struct pythia_association_result *all = asked(a, &in);
        assert_true(all[0].significant && all[1].significant);
        assert_int_equal(all[0].column, 1);
        assert_true(all[0].explained > all[1].explained);
        assert_true(all[0].explained_edges < all[1].explained_edges);
    }
    pythia_association_destroy(a);
}

/* A total that is a skewed number times a constant is all that number's, as it is; ranks bend the
 * line. A total that rises with a number in a curve is told by ranks: with x = 0, 1, ..., 49, four
 * times each, and a total of exp(x / 5) the line has r^2 = .48 (by hand: the squared covariance
 * over the product of the variances), and ranks have no more; with numbers exp(x / 5) and a total
 * of x the line has the same, and ranks have 1. */
static void a_number_explains_by_its_line_or_by_its_ranks(void **state)
{
    struct pythia_association_input in = noise(200, 2, 9);
    struct pythia_association *a = created();
    for (size_t i = 0; i < 200; i++) {
        size_t quarter = i * 37 % 200 / 4;
        double x = (double)quarter;
        for (size_t e = 0; e < in.edges; e++)
            *cell(e, 200, i) = e == 0 ? 1e6 * exp(x / 5) : 0;
        numbers[0][i] = 3 * exp(x / 5);
        numbers[1][i] = x;
    }
    const struct pythia_association_result *all = asked(a, &in);
    assert_int_equal(all[0].column, 0);
    assert_rel_equal(of_column(all, 0)->explained, 1, 1e-12);
    assert_true(of_column(all, 1)->explained < .6);
    for (size_t i = 0; i < 200; i++)
        *cell(0, 200, i) = 1e6 * numbers[1][i];
    all = asked(a, &in);
    assert_true(of_column(all, 0)->explained > .999 && of_column(all, 1)->explained > .999);
    pythia_association_destroy(a);
}

/* 2 of 200 requests have a value of their own, and take nearly all of the variance: the finding
 * says so, and comes after one that rests on all. */
static void what_rests_on_a_handful_comes_last(void **state)
{
    struct pythia_association_input in = noise(200, 2, 9);
    struct pythia_association *a = created();
    for (size_t i = 0; i < 200; i++) {
        numbers[0][i] = i % 100 == 7;
        *cell(0, 200, i) = numbers[0][i] > 0 ? 5e7 : 0;
        *cell(3, 200, i) *= exp(0.25 * numbers[1][i]);
    }
    const struct pythia_association_result *all = asked(a, &in);
    assert_true(all[0].significant && all[1].significant);
    assert_true(all[1].explained > all[0].explained);
    assert_int_equal(all[0].column, 1);
    assert_false(all[0].few);
    assert_int_equal(all[0].support, 199);
    assert_true(all[1].few);
    assert_int_equal(all[1].support, 2);
    assert_true(!pythia_rests_on_few(5, 716) && pythia_rests_on_few(4, 41));
    assert_true(!pythia_rests_on_few(4, 40));
    pythia_association_destroy(a);
}

/* A binary key in few rows: low confidence, shrunken figures, and two groups with the value that
 * parts them. */
static void few_rows_are_low_confidence(void **state)
{
    struct pythia_association_input in = noise(24, 3, 10);
    struct pythia_association *a = created();
    for (size_t i = 0; i < 24; i++) {
        numbers[1][i] = i % 2 ? 1 : 0;
        *cell(1, 24, i) += 4e6 * numbers[1][i];
    }
    const struct pythia_association_result *best = asked(a, &in);
    assert_int_equal(best->column, 1);
    assert_true(best->significant && best->low_confidence);
    assert_true(best->r > 0.5 && best->r < 0.95);
    assert_rel_equal(best->split.cut, 0.5, 0);
    assert_int_equal(best->split.low_rows, 12);
    assert_true(best->high_total > best->low_total + 2e6);
    assert_true(best->loadings[1] > 0.7);
    /* Without the shrinkage, noise correlates by 0.5 and more. */
    assert_true(best[1].r < 0.5 && best[2].r < 0.5);
    pythia_association_destroy(a);
}

/* More edges than rows leave Rao's F nothing: the permutations speak. */
static void without_degrees_of_freedom_p_is_by_permutation(void **state)
{
    enum { N = 12, Q = 12 };
    struct pythia_association_input in = noise(N, 1, 11);
    struct pythia_association *a = created();
    double many[Q * N];
    for (size_t i = 0; i < sizeof(many) / sizeof(many[0]); i++)
        many[i] = pythia_random_unit(&r);
    in.durations = many;
    in.edges = Q;
    const struct pythia_association_result *best = asked(a, &in);
    assert_true(best->p >= 0.001 && best->p <= 1);
    assert_rel_equal(round(best->p * 1000), best->p * 1000, 1e-9); /* a multiple of 1 / 1000 */
    assert_true(best->low_confidence && !best->significant);
    assert_true(best->r < 0.6); /* without the shrinkage it is 1 */
    pythia_association_destroy(a);
}

/* Random walks go together by chance; rows permuted one by one do not know that, blocks do. */
static void blocks_and_strata_tame_rows_that_are_alike(void **state)
{
    enum { N = 300, SAMPLES = 40 };
    size_t single = 0, blocks = 0, strata = 0;
    uint32_t stratum[N];
    struct pythia_association *a = created();
    for (size_t s = 0; s < SAMPLES; s++) {
        struct pythia_association_input in = noise(N, 1, 100 + s);
        double walk[2] = {0, 0};
        for (size_t i = 0; i < N; i++) {
            for (size_t k = 0; k < 2; k++)
                walk[k] = 0.97 * walk[k] + pythia_random_normal(&r);
            numbers[0][i] = walk[0];
            durations[i] = 1e6 * exp(walk[1] / 4);
            stratum[i] = (uint32_t)(i / 5);
        }
        in.halves = 0;
        in.permutations = 199;
        in.alpha = 0.999; /* to have everything confirmed */
        single += asked(a, &in)->p_permutation <= 0.05;
        in.block = 60;
        blocks += asked(a, &in)->p_permutation <= 0.05;
        in.block = 0;
        in.strata = stratum;
        strata += asked(a, &in)->p_permutation <= 0.05;
    }
    assert_true(single >= SAMPLES / 3);
    assert_true(blocks <= SAMPLES / 4);
    assert_true(strata <= SAMPLES / 4);
    pythia_association_destroy(a);
}

/* 15 keys that have nothing to do with it: something is discovered in at most 5 % of the
 * samples. */
static void nothing_is_discovered_where_nothing_is(void **state)
{
    enum { SAMPLES = 500 };
    size_t any = 0;
    struct pythia_association *a = created();
    for (size_t s = 0; s < SAMPLES; s++) {
        struct pythia_association_input in = noise(60, 15, 1000 + s);
        for (size_t k = 0; k < 5; k++) {
            keys[k].categorical = true;
            keys[k].level_count = 3;
            for (size_t i = 0; i < 60; i++)
                levels[k][i] = (uint32_t)pythia_random_below(&r, 3);
        }
        any += asked(a, &in)->significant;
    }
    assert_true((double)any / SAMPLES <= 0.05 + 3 * sqrt(0.05 * 0.95 / SAMPLES));
    assert_true(any > 0);
    pythia_association_destroy(a);
}

static void the_same_input_gives_the_same_results(void **state)
{
    struct pythia_association_input in = noise(100, 6, 12);
    struct pythia_association *a = created(), *b = created();
    for (size_t i = 0; i < 100; i++)
        durations[i] *= exp(0.15 * numbers[1][i]);
    in.alpha = 0.9;
    const struct pythia_association_result *first = asked(a, &in), *second = asked(b, &in);
    for (size_t k = 0; k < 6; k++) {
        assert_int_equal(first[k].column, second[k].column);
        assert_rel_equal(first[k].p_permutation, second[k].p_permutation, 0);
        assert_rel_equal(first[k].stability, second[k].stability, 0);
    }
    /* The permutations of a key do not depend on the keys beside it. */
    double before = of_column(first, 1)->p_permutation;
    in.columns = 2;
    assert_rel_equal(of_column(asked(b, &in), 1)->p_permutation, before, 0);
    pythia_association_destroy(a);
    pythia_association_destroy(b);
}

static void odd_sizes_and_constant_durations_do_no_harm(void **state)
{
    struct pythia_association_input in = noise(50, 4, 13);
    struct pythia_association *a = created();
    size_t count;
    for (size_t i = 0; i < 50; i++)
        *cell(1, 50, i) = 7; /* one edge is constant */
    const struct pythia_association_result *results = asked(a, &in);
    assert_true(isfinite(results->p));
    assert_true(isfinite(results->explained_edges));
    assert_rel_equal(results->loadings[1], 0, 0);
    for (size_t i = 0; i < sizeof(durations) / sizeof(durations[0]); i++)
        durations[i] = 7; /* all are */
    results = asked(a, &in);
    assert_rel_equal(results->p, NAN, 0);
    assert_false(results->significant);
    in.columns = 0;
    (void)asked(a, &in);
    (void)pythia_association_results(a, &count);
    assert_int_equal(count, 0);
    for (size_t n = 1; n < 14; n++) {
        in = noise(n, 3, 14);
        numbers[0][0] = NAN;
        results = asked(a, &in);
        assert_false(results->confirmed);
    }
    pythia_association_destroy(a);
}

static void invalid_input_is_refused(void **state)
{
    struct pythia_association *a = created();
    struct pythia_association_input good = noise(30, 2, 15), in = good;
    uint32_t strata[30] = {0};
    size_t count;
    in.rows = 0;
    assert_int_equal(pythia_association_run(a, &in), PYTHIA_EINVAL);
    in = good;
    in.edges = PYTHIA_ASSOCIATION_EDGES_MAX + 1;
    assert_int_equal(pythia_association_run(a, &in), PYTHIA_EINVAL);
    in = good;
    in.alpha = 0;
    assert_int_equal(pythia_association_run(a, &in), PYTHIA_EINVAL);
    in = good;
    in.block = 5;
    in.strata = strata;
    assert_int_equal(pythia_association_run(a, &in), PYTHIA_EINVAL);
    in.strata = NULL;
    in.time = NULL;
    assert_int_equal(pythia_association_run(a, &in), PYTHIA_EINVAL);
    in = good;
    in.total = (double[30]){INFINITY};
    assert_int_equal(pythia_association_run(a, &in), PYTHIA_EINVAL);
    durations[17] = NAN;
    (void)asked(a, &(struct pythia_association_input){
                       .rows = 1, .edges = 1, .durations = durations, .alpha = 0.5});
    assert_int_equal(pythia_association_run(a, &good), PYTHIA_EINVAL);
    assert_null(pythia_association_results(a, &count)); /* and the last results are gone */
    assert_int_equal(count, 0);
    pythia_association_destroy(a);
}

static void each_failed_allocation_leaves_no_results(void **state)
{
    struct pythia_association *a = NULL;
    pythia_mem_fail_after(0);
    assert_int_equal(pythia_association_create(&a), PYTHIA_ENOMEM);
    pythia_mem_fail_after(-1);
    assert_null(a);
    a = created();
    struct pythia_association_input in = noise(30, 5, 16);
    keys[0].confounder = true;
    keys[2].categorical = true;
    keys[2].level_count = 2;
    for (size_t i = 0; i < 30; i++) {
        levels[2][i] = i % 2;
        durations[i] *= i % 2 ? 2 : 1;
        *cell(2, 30, i) *= exp(numbers[3][i]);
        numbers[4][i] = numbers[3][i] + 0.3 * numbers[4][i]; /* a proxy */
    }
    in.permutations = 5;
    in.halves = 3;
    for (long k = 0;; k++) {
        size_t count;
        pythia_mem_fail_after(k);
        int status = pythia_association_run(a, &in);
        pythia_mem_fail_after(-1);
        (void)pythia_association_results(a, &count);
        if (status == PYTHIA_OK) {
            assert_true(k > 50);
            assert_int_equal(count, 5);
            break;
        }
        assert_int_equal(status, PYTHIA_ENOMEM);
        assert_int_equal(count, 0);
    }
    pythia_association_destroy(a);
    pythia_association_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_queue_is_named_and_a_shuffled_one_is_not),
        cmocka_unit_test(a_shift_between_edges_is_seen_with_opposite_signs),
        cmocka_unit_test(one_edge_and_levels_are_an_analysis_of_variance),
        cmocka_unit_test(what_is_not_asked_says_why_and_comes_last),
        cmocka_unit_test(collinear_keys_share_a_rank_and_the_bad_host_is_named),
        cmocka_unit_test(a_noisy_copy_is_a_proxy_of_the_cause),
        cmocka_unit_test(a_sum_of_two_causes_gives_way_to_them),
        cmocka_unit_test(what_is_there_only_in_a_branch_gives_way_to_the_branch),
        cmocka_unit_test(keys_of_a_branch_are_tested_within_it),
        cmocka_unit_test(confounders_are_taken_out_of_everything),
        cmocka_unit_test(p_values_are_those_of_partial_correlations),
        cmocka_unit_test(few_rows_have_their_correlations_shrunk),
        cmocka_unit_test(explained_is_of_the_edge_that_is_weighted),
        cmocka_unit_test(weights_say_which_edges_matter),
        cmocka_unit_test(keys_are_ranked_by_their_part_of_the_total),
        cmocka_unit_test(a_number_explains_by_its_line_or_by_its_ranks),
        cmocka_unit_test(what_rests_on_a_handful_comes_last),
        cmocka_unit_test(few_rows_are_low_confidence),
        cmocka_unit_test(without_degrees_of_freedom_p_is_by_permutation),
        cmocka_unit_test(blocks_and_strata_tame_rows_that_are_alike),
        cmocka_unit_test(nothing_is_discovered_where_nothing_is),
        cmocka_unit_test(the_same_input_gives_the_same_results),
        cmocka_unit_test(odd_sizes_and_constant_durations_do_no_harm),
        cmocka_unit_test(invalid_input_is_refused),
        cmocka_unit_test(each_failed_allocation_leaves_no_results),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
