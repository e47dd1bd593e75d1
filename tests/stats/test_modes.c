#include "check.h"
#include "pythia/mem.h"
#include "pythia/modes.h"
#include "pythia/random.h"
#include "pythia/status.h"

static struct pythia_modes found(const double *x, size_t n, size_t at_least)
{
    struct pythia_modes m;
    assert_int_equal(pythia_modes_find(x, n, 5, at_least, &m), PYTHIA_OK);
    return m;
}

/* Lognormal durations around centers[k], k < 3, with weights[k]; labels tell which is which. */
static void draw(struct pythia_random *r, double *x, size_t *labels, size_t n,
                 const double *centers, const double *weights, double sd)
{
    for (size_t i = 0; i < n; i++) {
        double u = pythia_random_unit(r);
        size_t k = 0;
        while (k < 2 && u >= weights[k])
            u -= weights[k++];
        x[i] = centers[k] * exp(sd * pythia_random_normal(r));
        labels[i] = k;
    }
}

/* At n = 1000: as many modes as were planted, each where it was planted. */
static void planted_modes_are_found(void **state)
{
    static const struct {
        size_t count;
        double centers[3], weights[3], sd;
    } laws[] = {
        {2, {1e6, 2e6}, {.5, .5}, 0.15},
        {2, {1e6, 3e6}, {.8, .2}, 0.2},
        {3, {1e6, 2.5e6, 6e6}, {.5, .3, .2}, 0.2},
        {2, {1e6, 1e7}, {.95, .05}, 0.3},
        {1, {1e6}, {1}, 0.5},
    };
    double x[1000];
    size_t labels[1000], samples = 30;
    struct pythia_random r;
    pythia_random_init(&r, 1);
    for (size_t law = 0; law < sizeof(laws) / sizeof(laws[0]); law++) {
        size_t right = 0;
        for (size_t s = 0; s < samples; s++) {
            draw(&r, x, labels, 1000, laws[law].centers, laws[law].weights, laws[law].sd);
            struct pythia_modes m = found(x, 1000, 1);
            double sum = 0;
            for (size_t k = 0; k < m.count; k++)
                sum += m.weights[k];
            assert_rel_equal(sum, 1, 1e-12);
            if (m.count != laws[law].count)
                continue;
            right++;
            for (size_t k = 0; k < m.count; k++) {
                assert_rel_equal(m.centers[k], laws[law].centers[k], 0.4);
                assert_true(fabs(m.weights[k] - laws[law].weights[k]) < 0.06);
                assert_true(k == 0 ||
                            (m.centers[k - 1] < m.cuts[k - 1] && m.cuts[k - 1] < m.centers[k]));
            }
        }
        assert_true((double)right >= 0.9 * (double)samples);
    }
}

/* Behaviour of a semaphore: requests wait for 0, 1 or 2 others. */
static void three_queue_lengths_are_three_modes(void **state)
{
    double x[300];
    struct pythia_random r;
    pythia_random_init(&r, 2);
    for (size_t i = 0; i < 300; i++)
        x[i] = 2e9 * (double)(1 + i % 3) + 1e8 * pythia_random_normal(&r);
    struct pythia_modes m = found(x, 300, 2);
    assert_int_equal(m.count, 3);
    for (size_t k = 0; k < 3; k++)
        assert_rel_equal(m.weights[k], 1 / 3.0, 1e-12);
    assert_true(m.variance_share > 0.98);
    assert_int_equal(pythia_modes_label(&m, 1), 0);
    assert_int_equal(pythia_modes_label(&m, 4e9), 1);
    assert_int_equal(pythia_modes_label(&m, m.cuts[1]), 2);
    assert_int_equal(pythia_modes_label(&m, 1e12), 2);
}

/* eta squared by hand: 100 durations around 10 and 100 around 20, in steps, and none to clip but
 * two. */
static void the_variance_share_is_eta_squared(void **state)
{
    double x[200], clipped[200];
    for (size_t i = 0; i < 200; i++)
        x[i] = clipped[i] = (i < 100 ? 10 : 20) + 0.01 * (double)(i % 100);
    clipped[0] = 10.01; /* 0.5 % of 200: one at each end */
    clipped[199] = 20.98;
    struct pythia_modes m = found(x, 200, 2);
    assert_int_equal(m.count, 2);
    double means[2] = {0, 0}, within = 0, between = 0;
    for (size_t i = 0; i < 200; i++)
        means[i / 100] += clipped[i] / 100;
    for (size_t i = 0; i < 200; i++)
        within += (clipped[i] - means[i / 100]) * (clipped[i] - means[i / 100]);
    between = 200 * (means[1] - means[0]) * (means[1] - means[0]) / 4;
    assert_rel_equal(m.variance_share, between / (between + within), 1e-9);
}

/* One slow request in twenty of 200, far away: not enough to stand out by the binomial test at
 * every seed, but found once a test has said that it is there. */
static void the_deepest_valley_stays_on_request(void **state)
{
    static const double centers[3] = {1e6, 1e7}, weights[3] = {.95, .05};
    double x[200];
    size_t labels[200];
    struct pythia_random r;
    pythia_random_init(&r, 3);
    for (size_t s = 0; s < 20; s++) {
        draw(&r, x, labels, 200, centers, weights, 0.25);
        struct pythia_modes m = found(x, 200, 2);
        size_t wrong = 0, slow = 0;
        for (size_t i = 0; i < 200; i++) {
            wrong += pythia_modes_label(&m, x[i]) != labels[i];
            slow += labels[i];
        }
        if (slow < 4)
            continue; /* below 2 % there is no mode */
        assert_int_equal(m.count, 2);
        assert_true(wrong <= 3);
    }
}

/* Twelve clusters of few values: the bandwidth that suits the whole smooths them all away. */
static void known_modes_are_searched_for_at_smaller_bandwidths(void **state)
{
    double x[204];
    struct pythia_random r;
    pythia_random_init(&r, 7);
    for (size_t i = 0; i < 204; i++)
        x[i] = exp2((double)(i % 12)) * exp(0.03 * pythia_random_normal(&r));
    assert_int_equal(found(x, 204, 1).count, 1);
    assert_true(found(x, 204, 2).count >= 2);
    assert_int_equal(found(x, 204, 12).count, 12);
}

static void small_and_equal_samples(void **state)
{
    struct pythia_modes m = found(NULL, 0, 1);
    assert_int_equal(m.count, 0);
    assert_rel_equal(m.variance_share, NAN, 0);
    m = found((double[]){5}, 1, 1);
    assert_int_equal(m.count, 1);
    assert_rel_equal(m.centers[0], 5, 0);
    assert_rel_equal(m.weights[0], 1, 0);
    m = found((double[]){5, 5, 5, 5, 5, 5}, 6, 2);
    assert_int_equal(m.count, 1);
    assert_rel_equal(m.variance_share, NAN, 0);
    m = found((double[]){5, 5, 5, 6, 6, 6}, 6, 1);
    assert_true(m.count >= 1 && m.count <= 2);
    m = found((double[]){1, 1e9}, 2, 2);
    assert_int_equal(m.count, 1); /* a mode holds three values */
}

static void more_modes_than_there_is_room_for(void **state)
{
    double x[3400];
    struct pythia_random r;
    pythia_random_init(&r, 4);
    for (size_t i = 0; i < 3400; i++)
        x[i] = exp2((double)(i % 20)) * exp(0.03 * pythia_random_normal(&r));
    struct pythia_modes m = found(x, 3400, PYTHIA_MODES_MAX);
    assert_int_equal(m.count, PYTHIA_MODES_MAX);
    for (size_t k = 1; k + 1 < m.count; k++)
        assert_true(m.cuts[k - 1] < m.cuts[k]);
}

static void the_same_seed_gives_the_same_modes(void **state)
{
    double x[500];
    struct pythia_random r;
    pythia_random_init(&r, 6);
    for (size_t i = 0; i < 500; i++)
        x[i] = round(8 * exp(0.3 * pythia_random_normal(&r))) * (i % 4 ? 1 : 5);
    struct pythia_modes a = found(x, 500, 2), b = found(x, 500, 2);
    assert_int_equal(a.count, b.count);
    assert_rel_equal(a.cuts[0], b.cuts[0], 0);
    assert_rel_equal(a.variance_share, b.variance_share, 0);
}

static void each_failed_allocation_leaves_out_untouched(void **state)
{
    double x[100];
    long failures = 0;
    struct pythia_modes m = {.count = 77};
    for (size_t i = 0; i < 100; i++)
        x[i] = (double)(i + 1) * (i < 50 ? 1 : 40);
    for (;; failures++) {
        pythia_mem_fail_after(failures);
        int status = pythia_modes_find(x, 100, 0, 1, &m);
        pythia_mem_fail_after(-1);
        if (status == PYTHIA_OK)
            break;
        assert_int_equal(status, PYTHIA_ENOMEM);
        assert_int_equal(m.count, 77);
    }
    assert_true(failures >= 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planted_modes_are_found),
        cmocka_unit_test(three_queue_lengths_are_three_modes),
        cmocka_unit_test(the_variance_share_is_eta_squared),
        cmocka_unit_test(the_deepest_valley_stays_on_request),
        cmocka_unit_test(known_modes_are_searched_for_at_smaller_bandwidths),
        cmocka_unit_test(small_and_equal_samples),
        cmocka_unit_test(more_modes_than_there_is_room_for),
        cmocka_unit_test(the_same_seed_gives_the_same_modes),
        cmocka_unit_test(each_failed_allocation_leaves_out_untouched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
