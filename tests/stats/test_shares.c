#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "pythia/mem.h"
#include "pythia/moments.h"
#include "pythia/random.h"
#include "pythia/shares.h"
#include "pythia/status.h"

enum { N = 200, K = 5 };

static const struct pythia_share_options unclipped = {0, 0, .95, false};

static void shares_of(const double *x, size_t n, size_t k, const struct pythia_share_options *o,
                      struct pythia_share *out)
{
    assert_int_equal(pythia_shares(x, n, k, o, out), PYTHIA_OK);
}

/* Parts that lean on a common load, of different spread, all but the first skewed. */
static void draw(struct pythia_random *r, size_t n, size_t k, double *x)
{
    for (size_t i = 0; i < n; i++) {
        double load = pythia_random_normal(r);
        for (size_t e = 0; e < k; e++) {
            double z = .4 * load + pythia_random_normal(r);
            x[e * n + i] = 1e6 * (e == 0 ? 5 + z : (double)e * exp(.5 * z));
        }
    }
}

static double sum_of_shares(const struct pythia_share *s, size_t k)
{
    double sum = 0;
    for (size_t e = 0; e < k; e++)
        sum += s[e].share;
    return sum;
}

static void shares_match_hand_computation(void **state)
{
    /* T = 11, 13, 16, 16; deviations -3, -1, 2, 2, their squares 18. */
    const double x[] = {1, 2, 4, 5, 10, 11, 12, 11};
    struct pythia_share s[2];
    shares_of(x, 4, 2, &unclipped, s);
    assert_rel_equal(s[0].share, 13 / 18.0, 1e-15); /* -3 * -2 + -1 * -1 + 2 * 1 + 2 * 2 */
    assert_rel_equal(s[1].share, 5 / 18.0, 1e-15);  /* -3 * -1 + 0 + 2 * 1 + 0 */
    assert_rel_equal(s[0].raw_share, 13 / 18.0, 1e-15);
    assert_rel_equal(s[0].mean, 3, 1e-15);
    assert_rel_equal(s[0].sd, sqrt(10 / 3.0), 1e-15);
    assert_rel_equal(s[0].cov, sqrt(10 / 3.0) / 3, 1e-15);
    assert_int_equal(s[0].outliers, 0);
    assert_false(s[0].outlier_driven);
    /* HC3: residuals of the first part -2 + 13/6, -1 + 13/18, 1 - 13/9, 2 - 13/9, that is 3, -5,
     * -8, 10 by 18; leverages 27, 11, 17, 17 by 36; each residual times its deviation by 1 -
     * leverage. */
    double squares = pow(3 / 18.0 * -3 * 36 / 9, 2) + pow(-5 / 18.0 * -1 * 36 / 25, 2) +
                     pow(-8 / 18.0 * 2 * 36 / 19, 2) + pow(10 / 18.0 * 2 * 36 / 19, 2);
    assert_rel_equal(s[0].se, sqrt(squares) / 18, 1e-14);
}

/* Student's t of tables: 2.776445105197793 for 4 degrees of freedom, 12.706204736432095 for 1. */
static void intervals_have_the_freedom_of_what_carries_the_spread(void **state)
{
    const double part[] = {1, 2, 4, 4, 6, 5}, total[] = {1, 1, 3, 3, 1, 3};
    struct pythia_slope
        s; /* all totals are 1 from their mean, so that all weights are equal: 6 - 2 */
    pythia_slope_hc3(part, total, 6, .95, &s);
    assert_rel_equal(s.slope, 4 / 6.0, 1e-14);
    assert_rel_equal(s.high - s.slope, 2.776445105197793 * s.se, 1e-10);
    assert_rel_equal(s.slope - s.low, 2.776445105197793 * s.se, 1e-10);
    double rare[20] = {9, 1}, rare_part[20] = {8, 3}; /* deviations 4 and -4, and 18 that are 0 */
    for (size_t i = 2; i < 20; i++) {
        rare[i] = 5;
        rare_part[i] = (double)(i % 3);
    }
    pythia_slope_hc3(rare_part, rare, 20, .95, &s);
    assert_rel_equal(s.slope, 5 / 8.0, 1e-15);
    assert_rel_equal(s.high - s.slope, 12.706204736432095 * s.se, 1e-10);
}

static void clipping_follows_the_order_statistics(void **state)
{
    double row[] = {3, 9, 1, 7, 5};
    assert_int_equal(pythia_winsorise(row, 5, .005, .005),
                     1); /* floor(.025) = 0, at least 1 on top */
    assert_memory_equal(row, ((double[]){3, 7, 1, 7, 5}), sizeof(row));
    double both[] = {3, 9, 1, 7, 5};
    assert_int_equal(pythia_winsorise(both, 5, .4, .2), 3);
    assert_memory_equal(both, ((double[]){3, 5, 3, 5, 5}), sizeof(both));
    double none[] = {3, 9, 1, 7, 5};
    assert_int_equal(pythia_winsorise(none, 5, 0, 0), 0);
    assert_memory_equal(none, ((double[]){3, 9, 1, 7, 5}), sizeof(none));
    double ties[] = {7, 7, 1, 7, -2}; /* the second highest is the highest: nothing changes */
    assert_int_equal(pythia_winsorise(ties, 5, .005, .005), 0);
    double one[] = {4};
    assert_int_equal(pythia_winsorise(one, 1, .005, .005), 0);
    double two[] = {4, 5};
    assert_int_equal(pythia_winsorise(two, 2, .49, .49), 1);
    assert_memory_equal(two, ((double[]){4, 4}), sizeof(two));
    assert_int_equal(pythia_winsorise(NULL, 0, .005, .005), 0);
}

static int compare(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Small clips keep the highest values, large ones halve the bits: both against a sort. */
static void every_clip_agrees_with_a_sort(void **state)
{
    enum { LONG = 3000 };
    double *row = calloc(LONG, sizeof(*row)), *sorted = calloc(LONG, sizeof(*sorted));
    struct pythia_random r;
    pythia_random_init(&r, 5);
    const double clips[] = {.005, .0105, .02, .3, .49};
    for (size_t c = 0; c < 5; c++) {
        for (size_t i = 0; i < LONG; i++)
            sorted[i] = row[i] = i % 3 ? pythia_random_normal(&r) * 1e9 : floor(row[i / 2]);
        qsort(sorted, LONG, sizeof(*sorted), compare);
        double high = sorted[LONG - 1 - (size_t)lround(clips[c] * LONG)];
        double low = sorted[(size_t)(clips[4 - c] * LONG)];
        double *was = calloc(LONG, sizeof(*was));
        memcpy(was, row, LONG * sizeof(*was));
        size_t changed = 0, reported = pythia_winsorise(row, LONG, clips[c], clips[4 - c]);
        for (size_t i = 0; i < LONG; i++) {
            double expected = was[i] > high ? high : was[i] < low ? low : was[i];
            assert_true(row[i] == expected);
            changed += row[i] != was[i];
        }
        assert_int_equal(reported, changed);
        free(was);
    }
    free(row);
    free(sorted);
}

static void shares_add_up_to_one(void **state)
{
    double *x = calloc(N, 50 * sizeof(*x));
    struct pythia_share s[50];
    struct pythia_random r;
    pythia_random_init(&r, 1);
    const double offsets[] = {0, 1e12, 1.7e18}; /* durations of minutes, and epoch times, in ns */
    for (size_t run = 0; run < 60; run++) {
        size_t n = 3 + (size_t)pythia_random_below(&r, N - 3);
        size_t k = 1 + (size_t)pythia_random_below(&r, 50);
        draw(&r, n, k, x);
        for (size_t i = 0; i < n * k; i++)
            x[i] += offsets[run % 3];
        shares_of(x, n, k, NULL, s);
        assert_rel_equal(sum_of_shares(s, k), 1, 1e-12);
        shares_of(x, n, k, &unclipped, s);
        assert_rel_equal(sum_of_shares(s, k), 1, 1e-12);
        double raw = 0;
        for (size_t e = 0; e < k; e++) {
            raw += s[e].raw_share;
            assert_rel_equal(s[e].raw_share, s[e].share, 1e-9);
        }
        assert_rel_equal(raw, 1, 1e-12);
    }
    free(x);
}

/* The Shapley value from its definition: the mean, over all orders in which the parts can be summed
 * up, of what a part adds to the variance. */
static double variance_of(const double *x, size_t n, unsigned members)
{
    struct pythia_moments m = {0};
    for (size_t i = 0; i < n; i++) {
        double t = 0;
        for (unsigned e = 0; members >> e; e++)
            t += members >> e & 1 ? x[e * n + i] : 0;
        pythia_moments_add(&m, t);
    }
    return m.m2 / (double)(m.n - 1);
}

static double shapley_of(const double *x, size_t n, unsigned k, unsigned part)
{
    const double factorial[] = {1, 1, 2, 6, 24, 120};
    double value = 0;
    for (unsigned others = 0; others < 1u << k; others++) {
        unsigned size = 0;
        if (others >> part & 1)
            continue;
        for (unsigned e = 0; e < k; e++)
            size += others >> e & 1;
        double orders = factorial[size] * factorial[k - 1 - size] / factorial[k];
        value += orders * (variance_of(x, n, others | 1u << part) - variance_of(x, n, others));
    }
    return value;
}

static void a_share_is_the_shapley_value_of_variance(void **state)
{
    double x[K * N];
    struct pythia_share s[K];
    struct pythia_random r;
    pythia_random_init(&r, 2);
    for (unsigned k = 1; k <= K; k++) {
        draw(&r, N, k, x);
        shares_of(x, N, k, &unclipped, s);
        double all = variance_of(x, N, (1u << k) - 1);
        for (unsigned e = 0; e < k; e++)
            assert_rel_equal(s[e].share, shapley_of(x, N, k, e) / all, 1e-9);
    }
}

static void a_compensating_pair_has_no_share(void **state)
{
    double x[3][N], mean = 0;
    struct pythia_share s[3];
    struct pythia_random r;
    pythia_random_init(&r, 3);
    for (size_t i = 0; i < N; i++) {
        x[0][i] = 100 + pythia_random_normal(&r);
        x[1][i] = 500 + 200 * pythia_random_normal(&r);
        mean += x[1][i] / N;
    }
    for (size_t i = 0; i < N; i++) /* the second waits for what the first has left over */
        x[2][i] = 2 * mean - x[1][i];
    shares_of(x[0], N, 3, &unclipped, s);
    assert_rel_equal(s[0].share, 1, 1e-9);
    assert_true(fabs(s[1].share + s[2].share) < 1e-9);
    assert_true(s[1].share > -10 * s[1].se && s[1].share < 10 * s[1].se);
    assert_true(fabs(s[1].sd - 200) < 30); /* its own variance would have made it the first */
    shares_of(x[1], N, 2, &unclipped, s);  /* nothing but the pair: the total is constant */
    for (size_t e = 0; e < 2; e++) {
        assert_rel_equal(s[e].share, NAN, 0);
        assert_rel_equal(s[e].raw_share, NAN, 0);
        assert_rel_equal(s[e].low, NAN, 0);
        assert_false(s[e].outlier_driven);
    }
}

static void order_of_observations_and_parts_does_not_matter(void **state)
{
    double x[K * N], y[K * N];
    struct pythia_share s[K], t[K];
    struct pythia_random r;
    pythia_random_init(&r, 4);
    draw(&r, N, K, x);
    size_t rows[K], columns[N];
    for (size_t i = 0; i < N; i++)
        columns[i] = i;
    for (size_t e = 0; e < K; e++)
        rows[e] = e;
    pythia_random_shuffle(&r, columns, N);
    pythia_random_shuffle(&r, rows, K);
    for (size_t e = 0; e < K; e++)
        for (size_t i = 0; i < N; i++)
            y[e * N + i] = x[rows[e] * N + columns[i]];
    shares_of(x, N, K, NULL, s);
    shares_of(y, N, K, NULL, t);
    for (size_t e = 0; e < K; e++) {
        assert_rel_equal(t[e].share, s[rows[e]].share, 1e-11);
        assert_rel_equal(t[e].raw_share, s[rows[e]].raw_share, 1e-11);
        assert_rel_equal(t[e].se, s[rows[e]].se, 1e-11);
        assert_rel_equal(t[e].mean, s[rows[e]].mean, 1e-13);
        assert_int_equal(t[e].outliers, s[rows[e]].outliers);
    }
}

static void inclusive_shares_are_sums_of_exclusive_ones(void **state)
{
    double x[K * N], total[N] = {0}, subtree[N] = {0};
    struct pythia_share s[K];
    struct pythia_slope slope, one;
    struct pythia_random r;
    pythia_random_init(&r, 6);
    draw(&r, N, K, x);
    shares_of(x, N, K, NULL, s);
    for (size_t e = 0; e < K; e++) {
        assert_int_equal(pythia_winsorise(x + e * N, N, .005, .005), s[e].outliers);
        for (size_t i = 0; i < N; i++) {
            total[i] += x[e * N + i];
            subtree[i] += e < 3 ? x[e * N + i] : 0;
        }
    }
    pythia_slope_hc3(subtree, total, N, .95, &slope);
    assert_rel_equal(slope.slope, s[0].share + s[1].share + s[2].share, 1e-12);
    for (size_t e = 0; e < K;
         e++) { /* and one row by itself is what pythia_shares has said of it */
        pythia_slope_hc3(x + e * N, total, N, .95, &one);
        assert_rel_equal(one.slope, s[e].share, 1e-11);
        assert_rel_equal(one.se, s[e].se, 1e-11);
        assert_rel_equal(one.low, s[e].low, 1e-10);
        assert_rel_equal(one.high, s[e].high, 1e-10);
    }
    pythia_slope_hc3(total, total, N, .95, &slope);
    assert_rel_equal(slope.slope, 1, 1e-14);
    assert_true(slope.se < 1e-14);
}

static void a_single_spike_is_flagged_and_clipped(void **state)
{
    double x[2 * N];
    struct pythia_share s[2];
    struct pythia_random r;
    pythia_random_init(&r, 7);
    for (size_t i = 0; i < N; i++) {
        x[i] = 100 + 10 * pythia_random_normal(&r);
        x[N + i] = 100 + pythia_random_normal(&r);
    }
    x[N + 17] = 1e5;
    shares_of(x, N, 2, NULL, s);
    assert_true(s[0].share > .97 && s[0].raw_share < .05);
    assert_true(s[0].outlier_driven && s[1].outlier_driven);
    assert_int_equal(s[1].outliers,
                     2); /* one on top and one at the bottom: floor(.005 * 200) = 1 */
    assert_true(s[1].raw_share > .95 && s[1].share < .03);

    double flat[2 * 40]; /* without the spike nothing varies: no share, and the flag */
    for (size_t i = 0; i < 80; i++)
        flat[i] = i == 5 ? 9 : 1;
    shares_of(flat, 40, 2, NULL, s);
    assert_rel_equal(s[0].share, NAN, 0);
    assert_rel_equal(s[0].raw_share, 1, 1e-15);
    assert_true(s[0].outlier_driven && !s[1].outlier_driven);
    assert_int_equal(s[0].outliers, 1);
}

static void the_undefined_is_nan(void **state)
{
    struct pythia_share s[2];
    const double x[] = {1, 2, 5, 7};
    shares_of(x, 0, 2, NULL, s);
    assert_rel_equal(s[0].mean, NAN, 0);
    assert_rel_equal(s[1].share, NAN, 0);
    shares_of(x, 1, 2, NULL, s);
    assert_rel_equal(s[1].mean, 2, 0);
    assert_rel_equal(s[1].sd, NAN, 0);
    assert_rel_equal(s[1].share, NAN, 0);
    shares_of(x, 2, 2, &unclipped, s); /* two points: a slope without an error */
    assert_rel_equal(s[0].share, 1 / 3.0, 1e-15);
    assert_rel_equal(s[0].se, NAN, 0);
    assert_rel_equal(s[0].high, NAN, 0);
    const double bad[] = {1, 2, NAN, 4, 1, 1, 1, 2};
    shares_of(bad, 4, 2, NULL, s);
    assert_rel_equal(s[1].share, NAN, 0);
    struct pythia_slope slope; /* one observation makes the slope: no residual, no error */
    pythia_slope_hc3((double[]){0, 0, 0, 8}, (double[]){1, 1, 1, 5}, 4, .95, &slope);
    assert_rel_equal(slope.slope, 2, 1e-15);
    assert_rel_equal(slope.se, NAN, 0);
    pythia_slope_hc3(x, (double[]){3, 3, 3, 3}, 4, .95, &slope);
    assert_rel_equal(slope.slope, NAN, 0);
    pythia_slope_hc3(x, (double[]){3, 1, 2, 5}, 4, 1, &slope);
    assert_true(slope.se > 0);
    assert_rel_equal(slope.low, NAN, 0);
}

/* 600 samples whose slope is known: x = t / 2 + noise that grows with t, t skewed. */
static void intervals_cover_the_truth(void **state)
{
    struct pythia_random r;
    pythia_random_init(&r, 8);
    enum { RUNS = 600, SIZE = 100 };
    int covered = 0;
    for (int run = 0; run < RUNS; run++) {
        double part[SIZE], total[SIZE];
        struct pythia_slope s;
        for (size_t i = 0; i < SIZE; i++) {
            total[i] = exp(.5 * pythia_random_normal(&r));
            part[i] = .5 * total[i] + .3 * total[i] * pythia_random_normal(&r);
        }
        pythia_slope_hc3(part, total, SIZE, .95, &s);
        covered += s.low <= .5 && .5 <= s.high;
    }
    /* .92 to .98 are 3.4 standard errors of a rate of .95 over 600 runs. */
    assert_in_range(covered, RUNS * 92 / 100, RUNS * 98 / 100);
}

static void tail_shares_add_up_and_name_the_slow_part(void **state)
{
    double x[3][N], out[3];
    struct pythia_random r;
    pythia_random_init(&r, 9);
    for (size_t i = 0; i < N; i++) {
        x[0][i] = 1e12 + pythia_random_normal(&r);
        x[1][i] = i % 10 ? 5 : 105; /* the slow tenth */
        x[2][i] = 3;
    }
    assert_int_equal(pythia_tail_shares(x[0], N, 3, .9, .5, out), PYTHIA_OK);
    assert_rel_equal(out[0] + out[1] + out[2], 1, 1e-12);
    assert_true(out[1] > .95 && out[1] < 1.05);
    assert_rel_equal(out[2], 0, 0);
    /* By hand: T = 2, 4, 6, 8, 20; its median is 6 and its .9 quantile 15.2, so the last against
     * the first three: T 20 - 4, the first part 10 - 2, the second 10 - 2. */
    const double small[] = {1, 2, 3, 4, 10, 1, 2, 3, 4, 10};
    assert_int_equal(pythia_tail_shares(small, 5, 2, .9, .5, out), PYTHIA_OK);
    assert_rel_equal(out[0], .5, 1e-15);
    /* T = 1, 2, 7, 4, 10, whose median 4 is on both sides: T 7 - 7/3, the first part 17/3 - 7/3. */
    const double middle[] = {1, 2, 3, 4, 10, 0, 0, 4, 0, 0};
    assert_int_equal(pythia_tail_shares(middle, 5, 2, .5, .5, out), PYTHIA_OK);
    assert_rel_equal(out[0], 10 / 14.0, 1e-15);
    const double constant[] = {1, 2, 3, 3, 2, 1};
    assert_int_equal(pythia_tail_shares(constant, 3, 2, .9, .5, out), PYTHIA_OK);
    assert_rel_equal(out[0], NAN, 0);
    assert_int_equal(pythia_tail_shares(constant, 0, 2, .9, .5, out), PYTHIA_OK);
    assert_rel_equal(out[1], NAN, 0);
    assert_int_equal(pythia_tail_shares(constant, 3, 2, .4, .5, out), PYTHIA_EINVAL);
    assert_int_equal(pythia_tail_shares(constant, 3, 2, NAN, .5, out), PYTHIA_EINVAL);
}

/* The brief answer is the same in every bit, as far as it goes. */
static void what_is_brief_leaves_only_out(void **state)
{
    enum { PARTS = 7 };
    static double x[400 * PARTS];
    struct pythia_random r;
    struct pythia_share_options how = PYTHIA_SHARE_OPTIONS_DEFAULT;
    pythia_random_init(&r, 11);
    for (size_t n = 1; n <= 400; n = n * 2 + 1) {
        struct pythia_share whole[PARTS], brief[PARTS];
        draw(&r, n, PARTS, x);
        how.brief = false;
        shares_of(x, n, PARTS, &how, whole);
        how.brief = true;
        shares_of(x, n, PARTS, &how, brief);
        for (size_t e = 0; e < PARTS; e++) {
            assert_rel_equal(brief[e].share, whole[e].share, 0);
            assert_rel_equal(brief[e].se, whole[e].se, 0);
            assert_rel_equal(brief[e].low, whole[e].low, 0);
            assert_rel_equal(brief[e].high, whole[e].high, 0);
            assert_rel_equal(brief[e].clip_low, whole[e].clip_low, 0);
            assert_rel_equal(brief[e].clip_high, whole[e].clip_high, 0);
            assert_true(isnan(brief[e].mean) && isnan(brief[e].sd) && isnan(brief[e].cov) &&
                        isnan(brief[e].raw_share));
            assert_int_equal(brief[e].outliers, 0);
            assert_false(brief[e].outlier_driven);
        }
    }
}

static void failures_leave_out_untouched(void **state)
{
    const double x[] = {1, 2, 3, 4};
    struct pythia_share s[2] = {{.mean = -7}, {.mean = -7}};
    double out[2] = {-7, -7};
    const struct pythia_share_options bad[] = {{.5, 0, .95, false}, {-.1, 0, .95, false},
                                               {0, .5, .95, false}, {0, NAN, .95, false},
                                               {0, 0, 0, false},    {0, 0, 1, true}};
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(pythia_shares(x, 2, 2, &bad[i], s), PYTHIA_EINVAL);
    for (long left = 0; left < 2; left++) {
        pythia_mem_fail_after(left);
        assert_int_equal(pythia_shares(x, 2, 2, NULL, s), PYTHIA_ENOMEM);
    }
    assert_int_equal(pythia_tail_shares(x, 2, 2, .9, .5, out), PYTHIA_ENOMEM);
    pythia_mem_fail_after(-1);
    assert_rel_equal(s[0].mean, -7, 0);
    assert_rel_equal(s[1].mean, -7, 0);
    assert_rel_equal(out[0], -7, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_match_hand_computation),
        cmocka_unit_test(intervals_have_the_freedom_of_what_carries_the_spread),
        cmocka_unit_test(clipping_follows_the_order_statistics),
        cmocka_unit_test(every_clip_agrees_with_a_sort),
        cmocka_unit_test(shares_add_up_to_one),
        cmocka_unit_test(a_share_is_the_shapley_value_of_variance),
        cmocka_unit_test(a_compensating_pair_has_no_share),
        cmocka_unit_test(order_of_observations_and_parts_does_not_matter),
        cmocka_unit_test(inclusive_shares_are_sums_of_exclusive_ones),
        cmocka_unit_test(a_single_spike_is_flagged_and_clipped),
        cmocka_unit_test(the_undefined_is_nan),
        cmocka_unit_test(intervals_cover_the_truth),
        cmocka_unit_test(tail_shares_add_up_and_name_the_slow_part),
        cmocka_unit_test(what_is_brief_leaves_only_out),
        cmocka_unit_test(failures_leave_out_untouched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
