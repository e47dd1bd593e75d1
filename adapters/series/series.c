#include "pythia/series.h"

#include <stdlib.h>
#include <string.h>

#include "pythia/hash.h"
#include "pythia/mem.h"
#include "pythia/status.h"
#include "pythia/strtab.h"

/* A series that grows. */
struct growing {
    uint32_t label, process;
    struct pythia_series_point *points;
    size_t count, capacity;
};

struct pythia_series_set {
    struct pythia_strtab *labels;
    struct growing *all;
    size_t count, capacity;
    uint32_t *slots; /* 1 + index, by hash; a power of two */
    size_t slot_count;
    size_t last; /* the series of the last row: the next one is often of it too */
    struct pythia_series *each, *merged;
    size_t each_count, merged_count;
    struct pythia_series_point *merged_points;
};

int pythia_series_set_create(struct pythia_series_set **out)
{
    struct pythia_series_set *s = pythia_calloc(1, sizeof(*s));
    if (!s || pythia_strtab_create(&s->labels) != PYTHIA_OK) {
        pythia_free(s);
        return PYTHIA_ENOMEM;
    }
    *out = s;
    return PYTHIA_OK;
}

void pythia_series_set_destroy(struct pythia_series_set *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->count; i++)
        pythia_free(s->all[i].points);
    pythia_free(s->all);
    pythia_free(s->slots);
    pythia_free(s->each);
    pythia_free(s->merged);
    pythia_free(s->merged_points);
    pythia_strtab_destroy(s->labels);
    pythia_free(s);
}

/* ---- adding ---- */

static uint32_t *slot_of(const struct pythia_series_set *s, uint32_t label, uint32_t process)
{
    size_t at = (size_t)pythia_hash_mix(label, process) & (s->slot_count - 1);
    for (; s->slots[at]; at = (at + 1) & (s->slot_count - 1)) {
        const struct growing *g = &s->all[s->slots[at] - 1];
        if (g->label == label && g->process == process)
            break;
    }
    return &s->slots[at];
}

static int grow_slots(struct pythia_series_set *s)
{
    if (2 * (s->count + 1) < s->slot_count)
        return PYTHIA_OK;
    size_t wanted = s->slot_count ? 2 * s->slot_count : 64;
    uint32_t *slots = pythia_calloc(wanted, sizeof(*slots));
    if (!slots)
        return PYTHIA_ENOMEM;
    pythia_free(s->slots);
    s->slots = slots;
    s->slot_count = wanted;
    for (size_t i = 0; s->all && i < s->count; i++)
        *slot_of(s, s->all[i].label, s->all[i].process) = (uint32_t)i + 1;
    return PYTHIA_OK;
}

/* The series of a label and a process; NULL: out of memory. */
static struct growing *reach_series(struct pythia_series_set *s, struct pythia_text label,
                                    uint32_t process)
{
    struct growing *last = s->count ? &s->all[s->last] : NULL;
    if (last && last->process == process &&
        pythia_text_equal(pythia_strtab_text(s->labels, last->label), label))
        return last;
    uint32_t number = pythia_strtab_intern(s->labels, label);
    if (number == PYTHIA_STRTAB_NONE || grow_slots(s) != PYTHIA_OK)
        return NULL;
    uint32_t *slot = s->slots ? slot_of(s, number, process) : NULL;
    if (!slot)
        return NULL;
    if (!*slot) {
        if (pythia_grow(&s->all, &s->capacity, s->count, sizeof(*s->all)) != PYTHIA_OK)
            return NULL;
        s->all[s->count++] = (struct growing){.label = number, .process = process};
        *slot = (uint32_t)s->count;
    }
    s->last = *slot - 1;
    return &s->all[s->last];
}

int pythia_series_set_add(struct pythia_series_set *s, struct pythia_text label, uint32_t process,
                          uint64_t time_ns, double value)
{
    struct growing *g = reach_series(s, label, process);
    if (!g || pythia_grow(&g->points, &g->capacity, g->count, sizeof(*g->points)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    g->points[g->count++] = (struct pythia_series_point){time_ns, value};
    return PYTHIA_OK;
}

/* ---- putting in order ---- */

static int compare_point_times(const void *a, const void *b)
{
    const struct pythia_series_point *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

static void sort_points(struct pythia_series_point *points, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (compare_point_times(&points[i - 1], &points[i]) > 0) {
            qsort(points, count, sizeof(*points), compare_point_times);
            return;
        }
}

static int compare_series(const void *a, const void *b)
{
    const struct pythia_series *x = a, *y = b;
    int order = pythia_text_compare(x->label, y->label);
    return order ? order : (x->process > y->process) - (x->process < y->process);
}

/* Series of one label, of all its processes: one behind the other, then in order. */
static void merge_processes(struct pythia_series_set *s)
{
    struct pythia_series_point *to = s->merged_points;
    for (size_t i = 0; i < s->each_count;) {
        struct pythia_series *merged = &s->merged[s->merged_count++];
        *merged = s->each[i];
        merged->process = PYTHIA_SERIES_ALL;
        size_t end = i + 1;
        while (end < s->each_count && pythia_text_equal(s->each[end].label, s->each[i].label))
            end++;
        merged->processes = (uint32_t)(end - i);
        if (end > i + 1) { /* that of a single one is its own */
            merged->points = to;
            merged->count = 0;
            for (; i < end; i++) {
                memcpy(to + merged->count, s->each[i].points, s->each[i].count * sizeof(*to));
                merged->count += s->each[i].count;
            }
            sort_points(to, merged->count);
            to += merged->count;
        }
        i = end;
    }
}

int pythia_series_set_finish(struct pythia_series_set *s)
{
    size_t points = 0;
    for (size_t i = 0; i < s->count; i++)
        points += s->all[i].count;
    s->each = pythia_calloc(s->count, sizeof(*s->each));
    s->merged = pythia_calloc(s->count, sizeof(*s->merged));
    s->merged_points = pythia_calloc(points, sizeof(*s->merged_points));
    if (!s->each || !s->merged || !s->merged_points)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < s->count; i++) {
        struct growing *g = &s->all[i];
        sort_points(g->points, g->count);
        s->each[i] = (struct pythia_series){.label = pythia_strtab_text(s->labels, g->label),
                                            .process = g->process,
                                            .processes = 1,
                                            .points = g->points,
                                            .count = g->count};
    }
    s->each_count = s->count;
    if (s->count)
        qsort(s->each, s->count, sizeof(*s->each), compare_series);
    merge_processes(s);
    return PYTHIA_OK;
}

const struct pythia_series *pythia_series_each(const struct pythia_series_set *s, size_t *count)
{
    *count = s->each_count;
    return s->each;
}

const struct pythia_series *pythia_series_all(const struct pythia_series_set *s, size_t *count)
{
    *count = s->merged_count;
    return s->merged;
}

const struct pythia_series_point *pythia_series_as_of(const struct pythia_series *s,
                                                      uint64_t time_ns, uint64_t age_ns)
{
    size_t low = 0, high = s->count;
    while (low < high) { /* the first behind it */
        size_t middle = low + (high - low) / 2;
        if (s->points[middle].time_ns <= time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && time_ns - s->points[low - 1].time_ns <= age_ns ? &s->points[low - 1] : NULL;
}
