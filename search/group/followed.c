#include "pythia/followed.h"

#include <math.h>
#include <stdlib.h>

#include "pythia/dispersion.h"
#include "pythia/mem.h"
#include "pythia/status.h"

/* A request of the sample. */
struct member {
    uint64_t group, structure;
    double duration_ns;
};

static int compare_members(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->structure != y->structure)
        return x->structure < y->structure ? -1 : 1;
    return (x->duration_ns > y->duration_ns) - (x->duration_ns < y->duration_ns);
}

/* All requests of the sample, those of a group together and in it those of a structure; *mean of
 * all. */
static struct member *list_members(const struct pythia_type *type, size_t *count, double *mean)
{
    size_t n = pythia_type_rows(type);
    struct member *list = pythia_calloc(n, sizeof(*list));
    double sum = 0;
    for (size_t i = 0; list && i < n; i++) {
        const struct pythia_row *row = pythia_type_row(type, i);
        uint32_t last = row->shape->level_count - 1;
        list[i] = (struct member){.group = row->parent,
                                  /* The deepest level: the whole path, as far as it is named. */
                                  .structure =
                                      pythia_lineage_id(type->hash, last, row->shape->levels[last]),
                                  .duration_ns = (double)row->duration_ns};
        sum += list[i].duration_ns;
    }
    if (list && n > 0)
        qsort(list, n, sizeof(*list), compare_members);
    *count = n;
    *mean = n ? sum / (double)n : NAN;
    return list;
}

static double squares_about(const struct member *list, size_t count, double mean)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (list[i].duration_ns - mean) * (list[i].duration_ns - mean);
    return sum;
}

/* The number of consecutive members, from `from` on, of one group. */
static size_t size_of_group(const struct member *list, size_t count, size_t from)
{
    size_t to = from;
    while (to < count && list[to].group == list[from].group)
        to++;
    return to - from;
}

/* Measure how much of the variance lies between the structures. */
static int measure_structures(const struct member *list, size_t count, struct pythia_followed *out)
{
    double *x = pythia_calloc(count, sizeof(*x));
    uint32_t *structure = pythia_calloc(count, sizeof(*structure));
    struct pythia_test_result test = {.effect = NAN, .p = NAN};
    int status = x && structure ? PYTHIA_OK : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK)
        goto out;
    for (size_t i = 0; i < count; i++) {
        out->structures += i == 0 || list[i].structure != list[i - 1].structure;
        structure[i] = (uint32_t)out->structures - 1;
        x[i] = list[i].duration_ns;
    }
    if (out->structures > 1) {
        status = pythia_dispersion_anova(x, structure, count, out->structures, &test);
        if (status != PYTHIA_OK)
            goto out;
    } else if (out->sd_ns > 0) {
        /* One structure: nothing lies between structures, which is certain. */
        test = (struct pythia_test_result){.effect = 0, .p = 1};
    }
    out->eta_squared = test.effect;
    out->p = test.p;
out:
    pythia_free(x);
    pythia_free(structure);
    return status;
}

int pythia_followed_find(const struct pythia_type *type, uint64_t id, struct pythia_followed *out)
{
    struct pythia_followed found = {.id = id,
                                    .mean_ns = NAN,
                                    .sd_ns = NAN,
                                    .variance_share = NAN,
                                    .eta_squared = NAN,
                                    .p = NAN};
    size_t count, at = 0, size = 0;
    double mean, most = -1;
    struct member *list = list_members(type, &count, &mean);
    if (!list)
        return PYTHIA_ENOMEM;
    for (size_t i = 0, n; i < count; i += n) {
        n = size_of_group(list, count, i);
        double squares = squares_about(list + i, n, mean);
        /* Group 0 collects requests without a group; it has no identity to follow. Without an id
         * the group with the largest share of variance is followed. */
        if (list[i].group != 0 && (id ? list[i].group == id : squares > most)) {
            most = squares;
            at = i;
            size = n;
        }
    }
    int status = PYTHIA_OK;
    if (size > 0) {
        double all = squares_about(list, count, mean), own = 0;
        found.id = list[at].group;
        found.requests = size;
        for (size_t i = at; i < at + size; i++)
            /* Divide each term, so that the sum stays in the range of the durations. */
            own += list[i].duration_ns / (double)size;
        found.mean_ns = own;
        if (size > 1)
            found.sd_ns = sqrt(squares_about(list + at, size, own) / (double)(size - 1));
        found.variance_share = all > 0 ? most / all : NAN;
        status = measure_structures(list + at, size, &found);
    }
    pythia_free(list);
    if (status != PYTHIA_OK)
        return status;
    *out = found;
    return PYTHIA_OK;
}
