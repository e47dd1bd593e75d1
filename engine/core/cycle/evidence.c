#include "evidence.h"

#include <string.h>

#include "pythia/mem.h"
#include "pythia/status.h"

#define RARE_BYTES ((size_t)16 * 1024 * 1024)

/* A cycle is full with 100 requests of one type, and decides by whole requests of each; 4096 rows
 * are 40 times that. The 8192 of a report took 30 MiB in the first cycle at 100 000 spans a second,
 * when all trace points are open. */
#define CYCLE_ROWS 4096

int pythia__evidence_context_init(struct pythia__evidence_context *c,
                                  struct pythia_vocabulary *vocabulary,
                                  const struct pythia_groups_options *groups,
                                  const struct pythia_search_options *search, size_t rare_bytes)
{
    const struct pythia_effects_options measuring = {.latency = groups->latency,
                                                     .fold = groups->fold,
                                                     .alpha = search->alpha,
                                                     .min_requests = search->min_requests,
                                                     .rows = groups->rows_per_type};
    *c = (struct pythia__evidence_context){
        .vocabulary = vocabulary,
        .groups = *groups,
        .unknown = {.never = search->never},
        .rare = {.bytes_max = rare_bytes ? rare_bytes : RARE_BYTES,
                 .enough = search->min_requests ? search->min_requests : 30}};
    if (c->groups.rows == 0)
        c->groups.rows = CYCLE_ROWS;
    pythia_critical_path_init(&c->path);
    pythia_critical_path_init(&c->carried_path);
    int status = pythia_hider_create(vocabulary, &c->hider);
    if (status != PYTHIA_OK)
        return status;
    return pythia_effects_create(vocabulary, &measuring, &c->effects);
}

void pythia__evidence_context_free(struct pythia__evidence_context *c)
{
    pythia_hider_destroy(c->hider);
    pythia_effects_destroy(c->effects);
    pythia_critical_path_free(&c->path);
    pythia_critical_path_free(&c->carried_path);
    pythia__rare_types_free(&c->rare);
    pythia__unknown_points_free(&c->unknown);
    *c = (struct pythia__evidence_context){0};
}

int pythia__evidence_begin(struct pythia__evidence_context *c, struct pythia__evidence *e,
                           struct pythia_open_points *skeleton, struct pythia_open_points *open)
{
    struct pythia_groups_options how = c->groups;
    how.skeleton = skeleton;
    pythia_groups_destroy(e->groups);
    if (e->hits) /* nearly all cycles have spans of the same points: the array is used again */
        memset(e->hits, 0, e->hit_capacity * sizeof(*e->hits));
    *e = (struct pythia__evidence){
        .hits = e->hits, .hit_capacity = e->hit_capacity, .begin_ns = UINT64_MAX};
    int status = pythia_groups_create(c->vocabulary, &how, &e->groups);
    if (status != PYTHIA_OK)
        return status;
    return open ? pythia__evidence_measure(c, e, open) : PYTHIA_OK;
}

void pythia__evidence_free(struct pythia__evidence *e)
{
    pythia_groups_destroy(e->groups);
    pythia_free(e->hits);
    *e = (struct pythia__evidence){0};
}

int pythia__evidence_measure(struct pythia__evidence_context *c, struct pythia__evidence *e,
                             struct pythia_open_points *open)
{
    e->effects = NULL;
    int status = pythia_effects_begin(c->effects, open);
    if (status != PYTHIA_OK)
        return status;
    e->effects = c->effects;
    return PYTHIA_OK;
}

int pythia__evidence_hide(struct pythia__evidence_context *c, struct pythia_open_points *open,
                          const struct pythia_hider_types *types, const struct pythia_trace *whole,
                          struct pythia_counts *counts, const struct pythia_trace **out)
{
    *out = whole;
    int status = open ? pythia_hider_hide_typed(c->hider, whole, open, types, out) : 0;
    uint32_t left = status == 0 ? (*out)->count : 0;
    if (status < 0 || left == whole->count)
        return status;
    counts->hidden += whole->count - left;
    return pythia__unknown_points_note(&c->unknown, whole, open) == PYTHIA_OK ? status
                                                                              : PYTHIA_ENOMEM;
}

/* ---- requests ---- */

static int count_hits(struct pythia__evidence *e, const struct pythia_trace *trace)
{
    for (uint32_t i = 0; i < trace->count; i++) {
        uint32_t point = trace->spans[i].tracepoint;
        if (pythia_reach(&e->hits, &e->hit_capacity, point, sizeof(*e->hits)) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
        e->hits[point]++;
    }
    return PYTHIA_OK;
}

static int count_request(struct pythia__evidence *e, const struct pythia_trace *trace)
{
    if (count_hits(e, trace) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    uint64_t length_ns = trace->completed_ns - trace->start_ns, begun_ns = trace->begun_ns,
             ended_ns = begun_ns + length_ns;
    e->requests++;
    e->spans += trace->count;
    e->begin_ns = begun_ns < e->begin_ns ? begun_ns : e->begin_ns;
    e->end_ns = ended_ns > e->end_ns ? ended_ns : e->end_ns;
    e->last_begin_ns = begun_ns > e->last_begin_ns ? begun_ns : e->last_begin_ns;
    e->longest_ns = length_ns > e->longest_ns ? length_ns : e->longest_ns;
    return PYTHIA_OK;
}

int pythia__evidence_add(struct pythia__evidence_context *c, struct pythia__evidence *e, int stage,
                         uint32_t type, bool searched, const struct pythia_trace *trace,
                         uint64_t *all)
{
    int status = pythia_groups_add_typed(e->groups, type, trace, &c->path);
    if (status != PYTHIA_OK || (status = count_request(e, trace)) != PYTHIA_OK)
        return status;
    uint32_t part = pythia_groups_last(e->groups);
    if (e->effects && (status = pythia_effects_add(e->effects, trace, part, &c->path)) != PYTHIA_OK)
        return status;
    return searched ? pythia__rare_types_add(&c->rare, stage, part, type, trace, all) : PYTHIA_OK;
}

/* A request moves to the list of the stage only once it has been added: after a failure the others
 * are still in the list for the next cycle, and nothing is freed twice or lost. */
static int carry_type(struct pythia__evidence_context *c, struct pythia__evidence *e, int stage,
                      struct pythia__rare_type *type)
{
    while (type->next) {
        struct pythia__rare *kept = type->next;
        int status = pythia_critical_path_find(&c->carried_path, &kept->trace, c->groups.latency);
        if (status != PYTHIA_OK)
            return status;
        status = pythia_groups_add_typed(e->groups, type->unsplit, &kept->trace, &c->carried_path);
        if (status != PYTHIA_OK)
            return status;
        pythia_groups_carried(e->groups, kept->cycles);
        if ((status = count_hits(e, &kept->trace)) != PYTHIA_OK)
            return status;
        type->next = kept->next;
        kept->next = type->in[stage].kept;
        type->in[stage].kept = kept;
        type->in[stage].carried++;
        c->rare.carried++;
    }
    return PYTHIA_OK;
}

int pythia__evidence_carry(struct pythia__evidence_context *c, struct pythia__evidence *e,
                           int stage, uint64_t *most)
{
    for (size_t i = 0; i < c->rare.count && c->rare.bytes > 0; i++) {
        struct pythia__rare_type *type = &c->rare.types[i];
        int status = carry_type(c, e, stage, type);
        if (status != PYTHIA_OK)
            return status;
        uint64_t all = type->in[stage].requests + type->in[stage].carried;
        if (most && type->in[stage].carried > 0 && all > *most)
            *most = all;
    }
    return PYTHIA_OK;
}

/* ---- decisions ---- */

static int report_effects(struct pythia__evidence *e, struct pythia_search *search, uint64_t number)
{
    const struct pythia_effect *effects;
    size_t count;
    if (!e->effects)
        return PYTHIA_OK;
    int status = pythia_effects_finish(e->effects, number, &effects, &count);
    if (status != PYTHIA_OK)
        return status;
    return pythia_search_tell(search, effects, count);
}

/* A point that is closed for a type is closed for all problems that are subsets of the type. */
static void close_effects(struct pythia_effects *effects, const struct pythia_cycle *cycle,
                          const struct pythia_switch *s)
{
    for (size_t i = 0; i < cycle->problem_count; i++)
        if (cycle->problems[i].unsplit == s->type)
            pythia_effects_close(effects, s->tracepoint, cycle->problems[i].type);
}

/* Points that are opened now are measured from the next cycle on, for the problem that they were
 * opened for. */
static int switch_effects(struct pythia__evidence *e, const struct pythia_cycle *cycle)
{
    for (size_t i = 0; e->effects && i < cycle->switch_count; i++) {
        const struct pythia_switch *s = &cycle->switches[i];
        if (!s->open) {
            close_effects(e->effects, cycle, s);
            continue;
        }
        int status = pythia_effects_open(e->effects, s->tracepoint,
                                         cycle->problems[s->problem].type, cycle->number);
        if (status != PYTHIA_OK)
            return status;
    }
    return PYTHIA_OK;
}

int pythia__evidence_decide(struct pythia__evidence *e, struct pythia_search *search,
                            uint64_t number, double seconds, struct pythia_cycle *out)
{
    int status = pythia_groups_close(e->groups);
    if (status != PYTHIA_OK || !search)
        return status;
    pythia_search_set_seconds(search, seconds);
    /* The search decides with what earlier points explained, so that comes first. */
    if ((status = report_effects(e, search, number)) != PYTHIA_OK)
        return status;
    status = pythia_search_cycle(search, e->groups, e->hits, e->hit_capacity, out);
    if (status != PYTHIA_OK)
        return status;
    return switch_effects(e, out);
}
