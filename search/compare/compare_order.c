/* The order in which changes are reported, and what slows requests down. */
#include <math.h>
#include <string.h>

#include "compare_parts.h"
#include "pythia/mem.h"
#include "pythia/sort.h"
#include "pythia/status.h"

int pythia__compare_sort(void *array, size_t count, size_t size,
                         bool (*before)(const void *context, uint32_t a, uint32_t b),
                         const void *context)
{
    char *old, *sorted = pythia_calloc(count, size);
    uint32_t *order = pythia_calloc(2 * count, sizeof(*order));
    if (!order || !sorted) {
        pythia_free(order);
        pythia_free(sorted);
        return PYTHIA_ENOMEM;
    }
    /* Arrays of several types are sorted here: their pointers are moved as bytes. */
    memcpy(&old, array, sizeof(old));
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    pythia_sort_indexes(order, count, order + count, before, context);
    for (size_t i = 0; i < count; i++)
        memcpy(sorted + i * size, old + order[i] * size, size);
    memcpy(array, &sorted, sizeof(sorted));
    pythia_free(order);
    pythia_free(old);
    return PYTHIA_OK;
}

static bool takes_longer(const struct pythia_compared_edge *e, double alpha)
{
    return e->mean_test.q <= alpha && e->mean_test.clipped.change > 0;
}

/* By what is certain of clipped durations; of all of them where nothing is. */
static bool got_faster(const struct pythia_compared_type *t, double alpha)
{
    double change = t->mean_test.q <= alpha ? t->mean_test.clipped.change : t->sample_mean.change;
    return change < -t->effect_min;
}

void pythia__compare_find_slowing(struct pythia_compared_type *t, double alpha)
{
    double mean = t->edge_count > 0 ? 0 : NAN;
    for (size_t i = 0; i < t->edge_count; i++)
        mean += t->edges[i].clipped_before;
    t->effect_min = PYTHIA_COMPARE_EFFECT_MIN * mean;
    bool faster = got_faster(t, alpha);
    for (size_t i = 0; i < t->edge_count; i++) {
        struct pythia_compared_edge *e = &t->edges[i];
        e->slows = !faster && takes_longer(e, alpha) && e->mean_test.clipped.low >= t->effect_min;
    }
}

/* NaN is less than any number. */
static bool is_more(double a, double b)
{
    return isnan(b) ? !isnan(a) : a > b;
}

bool pythia__edge_outranks(const struct pythia_compared_edge *a,
                           const struct pythia_compared_edge *b, double alpha)
{
    bool longer = takes_longer(a, alpha);
    if (a->slows != b->slows)
        return a->slows;
    if (longer != takes_longer(b, alpha))
        return longer;
    if (is_more(a->score, b->score) || is_more(b->score, a->score))
        return is_more(a->score, b->score);
    return is_more(a->mean.change, b->mean.change);
}
