/* One set of requests for tests of what correlates with their durations. */
#ifndef PYTHIA_TEST_ASSOCIATION_CASE_H
#define PYTHIA_TEST_ASSOCIATION_CASE_H

#include "check.h"
#include "pythia/association.h"
#include "pythia/random.h"
#include "pythia/status.h"

#define ROWS    400
#define EDGES   4
#define COLUMNS 24

/* One set of requests: what the tests fill in. */
static double durations[EDGES * ROWS], numbers[COLUMNS][ROWS], times[ROWS];
static uint32_t levels[COLUMNS][ROWS];
static struct pythia_column keys[COLUMNS];
static struct pythia_random r;

/* `columns` numeric keys of noise, and edges of noise around 1 ms, 2 ms, ... */
static inline struct pythia_association_input noise(size_t n, size_t columns, uint64_t seed)
{
    pythia_random_init(&r, seed);
    for (size_t e = 0; e < EDGES; e++)
        for (size_t i = 0; i < n; i++)
            durations[e * n + i] = 1e6 * (double)(e + 1) * exp(0.3 * pythia_random_normal(&r));
    for (size_t k = 0; k < columns; k++) {
        keys[k] = (struct pythia_column){.numbers = numbers[k], .levels = levels[k]};
        for (size_t i = 0; i < n; i++)
            numbers[k][i] = pythia_random_normal(&r);
    }
    for (size_t i = 0; i < n; i++)
        times[i] = 1e9 * (double)i;
    return (struct pythia_association_input){.rows = n,
                                             .edges = EDGES,
                                             .columns = columns,
                                             .durations = durations,
                                             .keys = keys,
                                             .time = times,
                                             .seed = seed,
                                             PYTHIA_ASSOCIATION_DEFAULTS};
}

/* The results in the order of rank; `a` is made by the caller. */
static inline const struct pythia_association_result *
asked(struct pythia_association *a, const struct pythia_association_input *in)
{
    size_t count;
    assert_int_equal(pythia_association_run(a, in), PYTHIA_OK);
    const struct pythia_association_result *results = pythia_association_results(a, &count);
    assert_int_equal(count, in->columns);
    return results;
}

static inline struct pythia_association *created(void)
{
    struct pythia_association *a = NULL;
    assert_int_equal(pythia_association_create(&a), PYTHIA_OK);
    return a;
}

#endif
