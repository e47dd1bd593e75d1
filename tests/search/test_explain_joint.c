#include "pythia/explain.h"
#include "requests.h"

#define SEEDS    200
#define REQUESTS 200

/* What explains the differences within a set of one type. */
static struct pythia_explanations explain(struct requests *r, uint64_t seed)
{
    size_t types, count;
    struct pythia_ranking ranking;
    struct pythia_explanations x;
    const struct pythia_type *type = requests_finish(r, &types);
    const struct pythia_row **rows = requests_rows(type, &count);
    const struct pythia_cct *cct = pythia_groups_cct(r->groups);
    struct pythia_rank_options options = {.level = .95, .alpha = .05, .without_modes = true};
    assert_int_equal(pythia_rank(rows, count, cct, &options, &ranking), PYTHIA_OK);
    assert_int_equal(
        pythia_explain(rows, &ranking, pythia_groups_keys(r->groups), cct, .05, seed, 0, &x),
        PYTHIA_OK);
    pythia_ranking_free(&ranking);
    free(rows);
    requests_end(r);
    return x;
}

/* "d00=3,d01=…": 20 numbers and names that mean nothing. */
static const char *distractors(struct pythia_random *random)
{
    static char text[1024];
    size_t size = 0;
    for (int k = 0; k < 16; k++)
        size += (size_t)snprintf(text + size, sizeof(text) - size, "d%02d=%d,", k,
                                 (int)pythia_random_below(random, 10 + (uint64_t)k * 30));
    for (int k = 0; k < 4; k++)
        size +=
            (size_t)snprintf(text + size, sizeof(text) - size, "c%d=level-%d%s", k,
                             (int)pythia_random_below(random, 3 + (uint64_t)k), k < 3 ? "," : "");
    return text;
}

/* Requests whose call of C takes 1 us for each that arrived and less for each that was served,
 * times these factors, and `noise` us of noise, beside 20 keys that mean nothing. */
static struct pythia_explanations explain_wait(double arrived, double served, double noise,
                                               uint64_t seed)
{
    struct requests r;
    struct pythia_random random;
    requests_begin_folded(&r);
    pythia_random_init(&random, seed);
    for (int i = 0; i < REQUESTS; i++) {
        int in = (int)pythia_random_below(&random, 1000);
        int out = (int)pythia_random_below(&random, 1000);
        double us = 5000 + arrived * in - served * out + noise * pythia_random_normal(&random);
        /* One after the other: compilers evaluate the arguments of a call in orders of their own,
         * and each order would draw other requests. */
        const char *keys = distractors(&random);
        int between = 900000 + (int)pythia_random_below(&random, 100000);
        requests_add(&r, "A(arrived=%d,served=%d){50000 B(%s){%d} C{%.0f} 70000}", in, out, keys,
                     between, 1e3 * us);
    }
    return explain(&r, seed);
}

static const char *name_of(const struct pythia_explanations *x, size_t which)
{
    return x->found[x->joint.keys[which]].name;
}

/* With noise of 10 us in C, and keys of a standard deviation of 1000 / sqrt(12), the ratio of the
 * two slopes has a standard error of sqrt(2) 10 / 288.7 / sqrt(200) = .0035: .02 is nearly six of
 * them. Were the noise of B in it too (28.9 us), it would be .011: seeds 3 and 37 draw a B that
 * looks like the sum of the keys, with p of .0001 to .001. */
static void two_keys_that_act_as_a_difference_are_named_in_every_seed(void **state)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct pythia_explanations x = explain_wait(1, 1, 10, seed);
        const struct pythia_joint *j = &x.joint;
        assert_int_equal(x.asked, 22);
        assert_int_equal(j->count, 2);
        bool first = strcmp(name_of(&x, 0), "arrived") == 0;
        assert_string_equal(name_of(&x, first ? 0 : 1), "arrived");
        assert_string_equal(name_of(&x, first ? 1 : 0), "served");
        assert_true(fabs(j->coefficients[first ? 0 : 1] - 1) <= .02);
        assert_true(fabs(j->coefficients[first ? 1 : 0] + 1) <= .02);
        assert_true(fabs(j->slopes[first ? 0 : 1] - 1e3) < 50); /* ns */
        assert_true(j->r >= .99 && j->share >= .9 && j->stability == 1 && j->q < 1e-9);
        assert_true(j->share > j->single_share + .3);
        pythia_explanations_free(&x);
    }
}

/* Beside nothing, beside a key that explains half, and beside one that explains nearly all. */
static void twenty_distractors_join_nothing_in_any_seed(void **state)
{
    static const double noise[] = {1e3, 288, 30};
    size_t joined = 0;
    for (size_t k = 0; k < 3; k++)
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            struct pythia_explanations x = explain_wait(k > 0, 0, noise[k], seed);
            joined += x.joint.count > 0;
            pythia_explanations_free(&x);
        }
    assert_int_equal(joined, 0);
}

/* 3 ms on one of four hosts and 1 ms for each of up to 5 items: the coefficient of the host belongs
 * to being that host, which is what its split says. */
static void levels_have_the_coefficient_of_their_slow_ones(void **state)
{
    struct requests r;
    requests_begin_folded(&r);
    for (int i = 0; i < REQUESTS; i++) {
        int host = i % 4, items = i / 4 % 5;
        requests_add(&r, "A(host=h%d,items=%d){50000 C{%d} 70000}", host, items,
                     2000000 + (host == 2) * 3000000 + items * 1000000 + i * 37 % 1000);
    }
    struct pythia_explanations x = explain(&r, 1);
    assert_int_equal(x.joint.count, 2);
    for (size_t k = 0; k < 2; k++) {
        bool host = strcmp(name_of(&x, k), "host") == 0;
        assert_string_equal(name_of(&x, k), host ? "host" : "items");
        if (host)
            assert_string_equal(x.found[x.joint.keys[k]].split, "is in {h2}");
        assert_true(fabs(x.joint.slopes[k] - (host ? 3e6 : 1e6)) < 1e4);
    }
    pythia_explanations_free(&x);
}

/* What cannot be told apart is one key, and a sum of two keys is their proxy. */
static void copies_and_sums_do_not_join(void **state)
{
    struct requests r;
    requests_begin_folded(&r);
    for (int i = 0; i < REQUESTS; i++) {
        int in = i * 7919 % 1000, out = i * 104729 % 997;
        requests_add(&r, "A(in=%d,copy=%d,out=%d,sum=%d){50000 C{%d} 70000}", in, 3 * in + 1, out,
                     in + out, 2000000 + 1000 * (in + out) + i * 37 % 5000);
    }
    struct pythia_explanations x = explain(&r, 1);
    for (size_t k = 0; k < x.joint.count; k++)
        for (size_t l = 0; l < k; l++)
            assert_true(x.found[x.joint.keys[k]].result.rank !=
                        x.found[x.joint.keys[l]].result.rank);
    assert_true(x.joint.count == 0 || x.joint.count == 2);
    pythia_explanations_free(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_keys_that_act_as_a_difference_are_named_in_every_seed),
        cmocka_unit_test(twenty_distractors_join_nothing_in_any_seed),
        cmocka_unit_test(levels_have_the_coefficient_of_their_slow_ones),
        cmocka_unit_test(copies_and_sums_do_not_join),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
