/* Finds the trace points that report a key. Requests that report it from the same points are
 * counted together, so that what has to be open is a cover of few sets: the point that serves
 * most of the requests that are not served yet, again and again (D. S. Johnson, "Approximation
 * Algorithms for Combinatorial Problems", Journal of Computer and System Sciences 9, 1974). */
#include <stdlib.h>
#include <string.h>

#include "grouping_key_state.h"
#include "pythia/hash.h"
#include "pythia/mem.h"
#include "pythia/sort.h"
#include "pythia/status.h"

void pythia_grouping_key_note_points(struct pythia_grouping_key *k, bool note)
{
    k->note = note;
}

static int compare_point_numbers(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static int compare_set_hash(const void *sets, size_t index, const void *hash)
{
    uint64_t x = ((const struct pythia__point_set *)sets)[index].hash, y = *(const uint64_t *)hash;
    return (x > y) - (x < y);
}

int pythia__grouping_note(struct pythia_grouping_key *k, const uint32_t *points, size_t count)
{
    uint64_t hash = count; /* the sum does not depend on their order */
    for (size_t i = 0; i < count; i++)
        hash += pythia_hash_mix(0, points[i]);
    size_t at = pythia_sorted_place(k->set_count, compare_set_hash, k->sets, &hash);
    if (at < k->set_count && k->sets[at].hash == hash) {
        k->sets[at].requests++;
        return PYTHIA_OK;
    }
    uint32_t *copy = pythia_calloc(count, sizeof(*copy));
    if (!copy ||
        pythia_grow(&k->sets, &k->set_capacity, k->set_count, sizeof(*k->sets)) != PYTHIA_OK) {
        pythia_free(copy);
        return PYTHIA_ENOMEM;
    }
    memcpy(copy, points, count * sizeof(*copy));
    qsort(copy, count, sizeof(*copy), compare_point_numbers);
    memmove(k->sets + at + 1, k->sets + at, (k->set_count++ - at) * sizeof(*k->sets));
    k->sets[at] =
        (struct pythia__point_set){.hash = hash, .requests = 1, .points = copy, .count = count};
    return PYTHIA_OK;
}

static bool is_served(const struct pythia__point_set *s, const bool *open)
{
    for (size_t i = 0; i < s->count; i++)
        if (open[s->points[i]])
            return true;
    return false;
}

/* Count the requests that each point serves among those not served yet; *best: the point that
 * may be opened and serves most, by name among equals, or PYTHIA_NONE. */
static void count_served(const struct pythia_grouping_key *k, const bool *open, const bool *never,
                         uint64_t *served, uint32_t *best)
{
    *best = PYTHIA_NONE;
    for (size_t i = 0; i < k->set_count; i++)
        for (size_t p = 0; p < k->sets[i].count; p++)
            served[k->sets[i].points[p]] = 0;
    for (size_t i = 0; i < k->set_count; i++)
        /* Greedy cover: a set that an open point serves already adds to nobody. */
        for (size_t p = 0; p < k->sets[i].count && !is_served(&k->sets[i], open); p++)
            served[k->sets[i].points[p]] += k->sets[i].requests;
    for (size_t i = 0; i < k->set_count; i++)
        for (size_t p = 0; p < k->sets[i].count; p++) {
            uint32_t point = k->sets[i].points[p];
            if (served[point] == 0 || (never && never[point]) || point == *best)
                continue;
            if (*best == PYTHIA_NONE || served[point] > served[*best] ||
                (served[point] == served[*best] &&
                 pythia_text_compare(pythia_vocabulary_tracepoint_id(k->vocabulary, point),
                                     pythia_vocabulary_tracepoint_id(k->vocabulary, *best)) < 0))
                *best = point;
        }
}

int pythia_grouping_key_cover(const struct pythia_grouping_key *k, bool *open, const bool *never,
                              uint32_t points)
{
    uint64_t *served = pythia_calloc(points, sizeof(*served));
    uint32_t best = PYTHIA_NONE;
    if (!served)
        return PYTHIA_ENOMEM;
    do {
        count_served(k, open, never, served, &best);
        if (best != PYTHIA_NONE)
            open[best] = true;
    } while (best != PYTHIA_NONE);
    pythia_free(served);
    return PYTHIA_OK;
}
