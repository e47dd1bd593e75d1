#include "pythia/fair_sample.h"

#include <assert.h>
#include <stdint.h>

#include "pythia/mem.h"
#include "pythia/sort.h"
#include "pythia/status.h"

static bool draw_precedes(const void *context, uint32_t a, uint32_t b)
{
    const double *along = context;
    return along[a] < along[b];
}

static void keep_evenly(const double *weight, const uint32_t *order, size_t n, double largest,
                        bool *keep)
{
    double passed = largest / 2; /* since the last multiple of the largest weight */
    for (size_t i = 0; i < n; i++) {
        double one = weight[order[i]];
        keep[order[i]] = one >= largest || passed + one >= largest;
        if (one < largest) /* else the sum is as far from the next multiple as it was */
            passed += keep[order[i]] ? one - largest : one;
    }
}

int pythia_fair_sample(const double *weight, const double *along, size_t n, bool *keep)
{
    double largest = 0, smallest = n > 0 ? weight[0] : 0;
    for (size_t i = 0; i < n; i++) {
        assert(weight[i] > 0);
        largest = weight[i] > largest ? weight[i] : largest;
        smallest = weight[i] < smallest ? weight[i] : smallest;
    }
    /* Equal weights: every row already stands for the same number of requests. */
    if (largest == smallest) {
        for (size_t i = 0; i < n; i++)
            keep[i] = true;
        return PYTHIA_OK;
    }
    uint32_t *order = pythia_calloc(2 * n, sizeof(*order));
    if (!order)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < n; i++)
        order[i] = (uint32_t)i;
    pythia_sort_indexes(order, n, order + n, draw_precedes, along);
    keep_evenly(weight, order, n, largest, keep);
    pythia_free(order);
    return PYTHIA_OK;
}
