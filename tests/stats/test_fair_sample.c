#include "check.h"
#include "pythia/fair_sample.h"
#include "pythia/mem.h"
#include "pythia/random.h"
#include "pythia/status.h"

static void assert_kept(const double *weight, const double *along, size_t n, const char *wanted)
{
    bool keep[64];
    char text[65] = "";
    assert_int_equal(pythia_fair_sample(weight, along, n, keep), PYTHIA_OK);
    for (size_t i = 0; i < n; i++)
        text[i] = keep[i] ? 'x' : '.';
    assert_string_equal(text, wanted);
}

/* Beginning with 2 the sums of light values are 3, 4, 5, 6, 7 and 8: those at 4 and 8 are kept. */
static void light_values_are_kept_evenly_and_heavy_ones_all(void **state)
{
    assert_kept((double[]){1, 1, 1, 1, 1, 1, 4}, (double[]){1, 2, 3, 4, 5, 6, 7}, 7, ".x...xx");
    assert_kept((double[]){4, 1, 1, 1, 1, 1, 1}, (double[]){7, 6, 5, 4, 3, 2, 1}, 7, "xx...x.");
    assert_kept((double[]){1, 4, 1, 4, 1}, (double[]){1, 1, 1, 1, 1}, 5, ".xxx.");
}

static void equal_weights_keep_all(void **state)
{
    assert_kept((double[]){1, 1, 1}, (double[]){3, 1, 2}, 3, "xxx");
    assert_kept((double[]){9.7, 9.7}, (double[]){0, 0}, 2, "xx");
    assert_kept((double[]){9.7}, (double[]){0}, 1, "x");
    assert_kept(NULL, NULL, 0, "");
}

/* Of a population of values 1 to 40 000 those above 38 000 were kept always, others with .1: the
 * mean of the fair sample is that of the population, 20 000.5, though slow ones prevail in what
 * was kept. Its values are as many as the weights by 10. */
static void what_is_kept_is_like_the_population(void **state)
{
    enum { N = 40000 };
    static double weight[N], along[N];
    static bool keep[N];
    struct pythia_random r;
    size_t n = 0, kept = 0;
    double sum = 0, all = 0, biased = 0;
    pythia_random_init(&r, 3);
    for (int value = 1; value <= N; value++) {
        bool slow = value > 38000;
        if (!slow && pythia_random_below(&r, 10) > 0)
            continue;
        along[n] = value;
        weight[n] = slow ? 1 : 10;
        all += weight[n];
        biased += value;
        n++;
    }
    assert_int_equal(pythia_fair_sample(weight, along, n, keep), PYTHIA_OK);
    size_t slow_kept = 0;
    for (size_t i = 0; i < n; i++) {
        kept += keep[i];
        sum += keep[i] ? along[i] : 0;
        slow_kept += keep[i] && weight[i] == 1;
    }
    assert_true(biased / (double)n > 25000);
    assert_rel_equal(sum / (double)kept, 20000.5, .02); /* its standard error is 180 */
    assert_int_equal(slow_kept, 200);                   /* of 2000, and not only on average */
    assert_rel_equal((double)kept, all / 10, 1 / (all / 10));
}

static void missing_memory_leaves_all_as_it_was(void **state)
{
    bool keep[2] = {true, false};
    pythia_mem_fail_after(0);
    assert_int_equal(pythia_fair_sample((double[]){1, 2}, (double[]){1, 2}, 2, keep),
                     PYTHIA_ENOMEM);
    pythia_mem_fail_after(-1);
    assert_true(keep[0] && !keep[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(light_values_are_kept_evenly_and_heavy_ones_all),
        cmocka_unit_test(equal_weights_keep_all),
        cmocka_unit_test(what_is_kept_is_like_the_population),
        cmocka_unit_test(missing_memory_leaves_all_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
