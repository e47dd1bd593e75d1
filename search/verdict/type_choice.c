#include "pythia/type_choice.h"

#include <stdbool.h>
#include <stdlib.h>

#include "pythia/mem.h"
#include "pythia/status.h"

struct candidate {
    uint32_t name;
    bool found; /* a verdict says where its requests differ */
    double squares;
    uint64_t hash;
};

static int compare_found_names(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static int compare_type_candidates(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->found != y->found)
        return y->found - x->found;
    if (x->squares != y->squares)
        return x->squares < y->squares ? 1 : -1;
    return (x->hash > y->hash) - (x->hash < y->hash);
}

/* Names of types with such a verdict, in rising order. */
static size_t list_found_types(const struct pythia_verdicts *v, uint32_t *names)
{
    size_t count = 0;
    for (size_t i = 0; i < v->count; i++)
        if (v->list[i].state == PYTHIA_VERDICT_FOUND)
            names[count++] = v->list[i].type;
    qsort(names, count, sizeof(*names), compare_found_names);
    return count;
}

int pythia_types_choose(const struct pythia_groups *g, const struct pythia_verdicts *v, size_t most,
                        uint32_t **names, size_t *count)
{
    size_t all;
    const struct pythia_type *types = pythia_groups_types(g, &all);
    *names = NULL;
    *count = 0;
    if (most == 0 || all <= most)
        return PYTHIA_OK;
    size_t verdicts = v ? v->count : 0, found = 0;
    struct candidate *candidates = pythia_calloc(all, sizeof(*candidates));
    uint32_t *chosen = pythia_calloc(most, sizeof(*chosen)),
             *with = pythia_calloc(verdicts + 1, sizeof(*with));
    int status = candidates && chosen && with ? PYTHIA_OK : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK)
        goto out;
    if (v)
        found = list_found_types(v, with);
    for (size_t i = 0; i < all; i++)
        candidates[i] =
            (struct candidate){.name = types[i].name,
                               .found = bsearch(&types[i].name, with, found, sizeof(*with),
                                                compare_found_names) != NULL,
                               .squares = pythia_exact_moments_squares(&types[i].moments),
                               .hash = types[i].hash};
    /* A type whose cause was found comes before larger ones: a cause that was reported must not
     * vanish because other traffic grew. */
    qsort(candidates, all, sizeof(*candidates), compare_type_candidates);
    for (size_t i = 0; i < most; i++)
        chosen[i] = candidates[i].name;
    /* Callers look names up by bsearch. */
    qsort(chosen, most, sizeof(*chosen), compare_found_names);
    *names = chosen;
    *count = most;
    chosen = NULL;
out:
    pythia_free(candidates);
    pythia_free(chosen);
    pythia_free(with);
    return status;
}
