#include "pythia/series.h"

#include <stdlib.h>
#include <string.h>

#include "pythia/hash_table.h"
#include "pythia/mem.h"
#include "pythia/sort.h"
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
    struct pythia_hash_table by_label; /* and by process */
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
    pythia_hash_table_free(&s->by_label);
    pythia_free(s->each);
    pythia_free(s->merged);
    pythia_free(s->merged_points);
    pythia_strtab_destroy(s->labels);
    pythia_free(s);
}

/* ---- adding ---- */

static uint64_t hash_series(uint32_t label, uint32_t process)
{
    return (uint64_t)label << 32 | process;
}

static bool is_growing_series(const void *set, uint32_t index, const void *key)
{
    const struct growing *g = &((const struct pythia_series_set *)set)->all[index];
    return hash_series(g->label, g->process) == *(const uint64_t *)key;
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
    if (number == PYTHIA_STRTAB_NONE)
        return NULL;
    uint64_t key = hash_series(number, process);
    uint32_t found = pythia_hash_table_find(&s->by_label, key, is_growing_series, s, &key);
    if (found == PYTHIA_HASH_TABLE_NONE) {
        found = (uint32_t)s->count;
        if (pythia_grow(&s->all, &s->capacity, found, sizeof(*s->all)) != PYTHIA_OK ||
            pythia_hash_table_add(&s->by_label, key, found) != PYTHIA_OK)
            return NULL;
        s->all[s->count++] = (struct growing){.label = number, .process = process};
    }
    s->last = found;
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

/* Series of one label, of all its processes: one after the other, then in order. */
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

/* Points may come from several files in any order, so that they are sorted once, at the end. */
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

/* A point of that time stands before it: what is wanted is the last one not after it. */
static int compare_point_time(const void *points, size_t index, const void *time_ns)
{
    return ((const struct pythia_series_point *)points)[index].time_ns <= *(const uint64_t *)time_ns
               ? -1
               : 1;
}

const struct pythia_series_point *pythia_series_as_of(const struct pythia_series *s,
                                                      uint64_t time_ns, uint64_t age_ns)
{
    size_t after = pythia_sorted_place(s->count, compare_point_time, s->points, &time_ns);
    return after > 0 && time_ns - s->points[after - 1].time_ns <= age_ns ? &s->points[after - 1]
                                                                         : NULL;
}
