#include "gathering.h"

#include "pythia/status.h"

#define RARE_BYTES ((size_t)16 * 1024 * 1024)

/* A cycle is full with 100 requests of one type, and decides by whole requests of each; 4096 rows
 * are 40 times that. The 8192 of a report took 30 MiB in the first cycle at 100 000 spans a second,
 * when all trace points are open. */
#define CYCLE_ROWS 4096

int pythia__gathering_init(struct pythia__gathering *g, struct pythia_vocabulary *vocabulary,
                           const struct pythia_groups_options *groups,
                           const struct pythia_search_options *search, size_t rare_bytes)
{
    const struct pythia_effects_options measuring = {.latency = groups->latency,
                                                     .fold = groups->fold,
                                                     .alpha = search->alpha,
                                                     .min_requests = search->min_requests,
                                                     .rows = groups->rows_per_type};
    *g = (struct pythia__gathering){
        .vocabulary = vocabulary,
        .groups = *groups,
        .unknown = {.never = search->never},
        .rare = {.bytes_max = rare_bytes ? rare_bytes : RARE_BYTES,
                 .enough = search->min_requests ? search->min_requests : 30}};
    if (g->groups.rows == 0)
        g->groups.rows = CYCLE_ROWS;
    pythia_critical_path_init(&g->path);
    pythia_critical_path_init(&g->kept_path);
    int status = pythia_hider_create(vocabulary, &g->hider);
    return status == PYTHIA_OK ? pythia_effects_create(vocabulary, &measuring, &g->effects)
                               : status;
}

void pythia__gathering_free(struct pythia__gathering *g)
{
    pythia_hider_destroy(g->hider);
    pythia_effects_destroy(g->effects);
    pythia_critical_path_free(&g->path);
    pythia_critical_path_free(&g->kept_path);
    pythia__rare_types_free(&g->rare);
    pythia__unknown_points_free(&g->unknown);
    *g = (struct pythia__gathering){0};
}

int pythia__gathering_begin(struct pythia__gathering *g, struct pythia__evidence *e,
                            struct pythia_open_points *skeleton, struct pythia_open_points *open)
{
    struct pythia_groups_options how = g->groups;
    how.skeleton = skeleton;
    int status = pythia__evidence_begin(e, g->vocabulary, &how);
    return status == PYTHIA_OK && open ? pythia__evidence_measure(e, g->effects, open) : status;
}

static int carry_type(struct pythia__gathering *g, struct pythia__evidence *e, int stage,
                      struct pythia__rare_type *type)
{
    while (type->next) {
        struct pythia__rare *kept = type->next;
        int status = pythia_critical_path_find(&g->kept_path, &kept->trace, g->groups.latency);
        if (status == PYTHIA_OK)
            status =
                pythia__evidence_carry(e, type->unsplit, &kept->trace, &g->kept_path, kept->cycles);
        if (status != PYTHIA_OK)
            return status;
        type->next = kept->next;
        kept->next = type->in[stage].kept;
        type->in[stage].kept = kept;
        type->in[stage].carried++;
        g->rare.carried++;
    }
    return PYTHIA_OK;
}

int pythia__gathering_carry(struct pythia__gathering *g, struct pythia__evidence *e, int stage,
                            uint64_t *most)
{
    int status = PYTHIA_OK;
    for (size_t i = 0; i < g->rare.count && g->rare.bytes > 0 && status == PYTHIA_OK; i++) {
        struct pythia__rare_type *type = &g->rare.types[i];
        status = carry_type(g, e, stage, type);
        uint64_t all = type->in[stage].requests + type->in[stage].carried;
        if (most && type->in[stage].carried > 0 && all > *most)
            *most = all;
    }
    return status;
}

int pythia__gathering_see(struct pythia__gathering *g, struct pythia_open_points *open,
                          const struct pythia_hider_types *types, const struct pythia_trace *whole,
                          struct pythia_counts *counts, const struct pythia_trace **out)
{
    *out = whole;
    int status = open ? pythia_hider_hide_typed(g->hider, whole, open, types, out) : 0;
    uint32_t left = status == 0 ? (*out)->count : 0;
    if (status < 0 || left == whole->count)
        return status;
    counts->hidden += whole->count - left;
    return pythia__unknown_points_note(&g->unknown, whole, open) == PYTHIA_OK ? status
                                                                              : PYTHIA_ENOMEM;
}

int pythia__gathering_add(struct pythia__gathering *g, struct pythia__evidence *e, int stage,
                          uint32_t type, bool searched, const struct pythia_trace *trace,
                          uint64_t *all)
{
    int status = pythia__evidence_add_typed(e, type, trace, &g->path);
    if (status != PYTHIA_OK || !searched)
        return status;
    return pythia__rare_types_add(&g->rare, stage, pythia_groups_last(e->groups), type, trace, all);
}
