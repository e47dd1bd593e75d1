#include "pythia/effects.h"

#include <string.h>

#include "pythia/gate.h"
#include "pythia/mem.h"
#include "pythia/status.h"

/* The requests of one type. */
struct looked_at {
    uint32_t type;
    struct pythia_open_points *coarser; /* owned: without what was opened for the type */
    struct pythia_refinement *refinement;
};

struct pythia_effects {
    const struct pythia_vocabulary *vocabulary;
    struct pythia_effects_options o;
    struct pythia_effect *pending; /* what was opened, in that order: tracepoint, type, opened */
    size_t pending_count, pending_capacity;
    struct looked_at *types;
    size_t type_count, type_capacity;
    struct pythia_effect *measured;
    size_t measured_count;
};

int pythia_effects_create(const struct pythia_vocabulary *vocabulary,
                          const struct pythia_effects_options *options, struct pythia_effects **out)
{
    struct pythia_effects *e = pythia_calloc(1, sizeof(*e));
    if (!e)
        return PYTHIA_ENOMEM;
    e->vocabulary = vocabulary;
    e->o = *options;
    e->o.alpha = options->alpha > 0 ? options->alpha : .05;
    e->o.min_requests = options->min_requests ? options->min_requests : 30;
    *out = e;
    return PYTHIA_OK;
}

/* Forget the requests of a cycle, and what came of them. */
static void forget_cycle(struct pythia_effects *e)
{
    for (size_t i = 0; i < e->type_count; i++) {
        pythia_refinement_destroy(e->types[i].refinement);
        pythia_open_points_destroy(e->types[i].coarser);
    }
    pythia_free(e->measured);
    e->type_count = e->measured_count = 0;
    e->measured = NULL;
}

void pythia_effects_destroy(struct pythia_effects *e)
{
    if (!e)
        return;
    forget_cycle(e);
    pythia_free(e->pending);
    pythia_free(e->types);
    pythia_free(e);
}

/* ---- what was opened ---- */

static size_t find_pending(const struct pythia_effects *e, uint32_t tracepoint, uint32_t type)
{
    size_t i = 0;
    while (i < e->pending_count &&
           (e->pending[i].tracepoint != tracepoint || e->pending[i].type != type))
        i++;
    return i;
}

int pythia_effects_open(struct pythia_effects *e, uint32_t tracepoint, uint32_t type,
                        uint64_t cycle)
{
    pythia_effects_close(e, tracepoint, type);
    if (pythia_grow(&e->pending, &e->pending_capacity, e->pending_count, sizeof(*e->pending)) !=
        PYTHIA_OK)
        return PYTHIA_ENOMEM;
    e->pending[e->pending_count++] =
        (struct pythia_effect){.tracepoint = tracepoint, .type = type, .opened = cycle};
    return PYTHIA_OK;
}

void pythia_effects_close(struct pythia_effects *e, uint32_t tracepoint, uint32_t type)
{
    size_t at = find_pending(e, tracepoint, type);
    if (at == e->pending_count)
        return;
    e->pending_count--;
    memmove(e->pending + at, e->pending + at + 1, (e->pending_count - at) * sizeof(*e->pending));
}

/* ---- a cycle ---- */

/* The set that would be open had none of the pending points been opened for a type. */
static int find_coarser(const struct pythia_effects *e, struct pythia_open_points *open,
                        struct looked_at *l)
{
    int status = pythia_open_points_create_without(open, &l->coarser);
    if (status != PYTHIA_OK)
        return status;
    for (size_t i = 0; i < e->pending_count; i++)
        if (e->pending[i].type == l->type) {
            status = pythia_open_points_add_id(
                l->coarser,
                pythia_vocabulary_tracepoint_id(e->vocabulary, e->pending[i].tracepoint));
            if (status != PYTHIA_OK)
                return status;
        }
    return PYTHIA_OK;
}

static struct looked_at *find_inspected_type(const struct pythia_effects *e, uint32_t type)
{
    for (size_t i = 0; i < e->type_count; i++)
        if (e->types[i].type == type)
            return &e->types[i];
    return NULL;
}

static int add_inspected_type(struct pythia_effects *e, uint32_t type,
                              struct pythia_open_points *open)
{
    struct pythia_refinement_options how = {.latency = e->o.latency, .rows = e->o.rows};
    struct looked_at made = {.type = type};
    /* Several pending points of one type are measured by one refinement. */
    if (find_inspected_type(e, type))
        return PYTHIA_OK;
    if (pythia_grow(&e->types, &e->type_capacity, e->type_count, sizeof(*e->types)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    int status = find_coarser(e, open, &made);
    if (status != PYTHIA_OK)
        goto out;
    status = pythia_refinement_create(e->vocabulary, made.coarser, &how, &made.refinement);
    if (status != PYTHIA_OK)
        goto out;
    e->types[e->type_count++] = made;
    return PYTHIA_OK;
out:
    pythia_open_points_destroy(made.coarser);
    return status;
}

int pythia_effects_begin(struct pythia_effects *e, struct pythia_open_points *open)
{
    forget_cycle(e);
    for (size_t i = 0; i < e->pending_count; i++) {
        int status = add_inspected_type(e, e->pending[i].type, open);
        if (status != PYTHIA_OK)
            return status;
    }
    return PYTHIA_OK;
}

int pythia_effects_add(struct pythia_effects *e, const struct pythia_trace *trace, uint32_t type,
                       const struct pythia_critical_path *path)
{
    const struct looked_at *l = find_inspected_type(e, type);
    return l ? pythia_refinement_add(l->refinement, trace, path) : PYTHIA_OK;
}

/* Measure what is pending for a type: that goes into `list`, which has room for all. */
static int measure_type_effects(const struct pythia_effects *e, const struct looked_at *l,
                                uint64_t cycle, struct pythia_effect *list)
{
    struct pythia_effect_options how = {.fold = e->o.fold,
                                        .min_requests = e->o.min_requests,
                                        .level = 1 - pythia_gate_alpha(e->o.alpha, cycle)};
    size_t count = 0;
    for (size_t i = 0; i < e->pending_count; i++)
        if (e->pending[i].type == l->type)
            list[count++] = e->pending[i];
    int status = pythia_refinement_finish(l->refinement);
    if (status != PYTHIA_OK)
        return status;
    return pythia_effect_measure(l->refinement, &how, list, count);
}

int pythia_effects_finish(struct pythia_effects *e, uint64_t cycle,
                          const struct pythia_effect **out, size_t *count)
{
    struct pythia_effect *list = pythia_calloc(e->pending_count, sizeof(*list));
    struct pythia_effect *measured = pythia_calloc(e->pending_count, sizeof(*measured));
    int status = list && measured ? PYTHIA_OK : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK)
        goto out;
    for (size_t t = 0; t < e->type_count; t++) {
        status = measure_type_effects(e, &e->types[t], cycle, list);
        if (status != PYTHIA_OK)
            goto out;
        for (size_t i = 0, k = 0; i < e->pending_count; i++)
            if (e->pending[i].type == e->types[t].type)
                measured[i] = list[k++];
    }
out:
    pythia_free(list);
    if (status != PYTHIA_OK) {
        pythia_free(measured);
        return status;
    }
    /* Only points with too few requests stay pending; all others have their verdict and are
     * reported once. Nothing can fail from here on. */
    size_t left = 0;
    e->measured = measured;
    e->measured_count = e->pending_count;
    for (size_t i = 0; i < e->pending_count; i++)
        if (measured[i].verdict == PYTHIA_EFFECT_TOO_FEW)
            e->pending[left++] = e->pending[i];
    e->pending_count = left;
    *out = e->measured;
    *count = e->measured_count;
    return PYTHIA_OK;
}
