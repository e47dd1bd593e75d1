#include "evidence.h"

#include <string.h>

#include "pythia/mem.h"
#include "pythia/status.h"

int pythia__evidence_begin(struct pythia__evidence *e, struct pythia_vocabulary *vocabulary,
                           const struct pythia_groups_options *options)
{
    pythia_groups_destroy(e->groups);
    if (e->hits)
        memset(e->hits, 0, e->hit_capacity * sizeof(*e->hits));
    *e = (struct pythia__evidence){
        .hits = e->hits, .hit_capacity = e->hit_capacity, .begin_ns = UINT64_MAX};
    return pythia_groups_create(vocabulary, options, &e->groups);
}

void pythia__evidence_free(struct pythia__evidence *e)
{
    pythia_groups_destroy(e->groups);
    pythia_free(e->hits);
    *e = (struct pythia__evidence){0};
}

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

int pythia__evidence_measure(struct pythia__evidence *e, struct pythia_effects *effects,
                             struct pythia_open_points *open)
{
    int status = pythia_effects_begin(effects, open);
    e->effects = status == PYTHIA_OK ? effects : NULL;
    return status;
}

static int note_request(struct pythia__evidence *e, const struct pythia_trace *trace,
                        const struct pythia_critical_path *path)
{
    int status = count_request(e, trace);
    return status == PYTHIA_OK && e->effects
               ? pythia_effects_add(e->effects, trace, pythia_groups_last(e->groups), path)
               : status;
}

int pythia__evidence_add_typed(struct pythia__evidence *e, uint32_t type,
                               const struct pythia_trace *trace,
                               const struct pythia_critical_path *path)
{
    int status = pythia_groups_add_typed(e->groups, type, trace, path);
    return status == PYTHIA_OK ? note_request(e, trace, path) : status;
}

int pythia__evidence_carry(struct pythia__evidence *e, uint32_t type,
                           const struct pythia_trace *trace,
                           const struct pythia_critical_path *path, uint64_t cycles)
{
    int status = pythia_groups_add_typed(e->groups, type, trace, path);
    if (status == PYTHIA_OK)
        pythia_groups_carried(e->groups, cycles);
    return status == PYTHIA_OK ? count_hits(e, trace) : status;
}

/* What was measured of points that were opened goes to the search. */
static int tell_effects(struct pythia__evidence *e, struct pythia_search *search, uint64_t number)
{
    const struct pythia_effect *effects;
    size_t found;
    if (!e->effects)
        return PYTHIA_OK;
    int status = pythia_effects_finish(e->effects, number, &effects, &found);
    return status == PYTHIA_OK ? pythia_search_tell(search, effects, found) : status;
}

/* A point that is closed for a type is closed for all problems that are parts of it. */
static void close_effects(struct pythia_effects *effects, const struct pythia_cycle *cycle,
                          const struct pythia_switch *s)
{
    for (size_t i = 0; i < cycle->problem_count; i++)
        if (cycle->problems[i].unsplit == s->type)
            pythia_effects_close(effects, s->tracepoint, cycle->problems[i].type);
}

/* Points that were opened will be measured. */
static int note_switches(struct pythia__evidence *e, const struct pythia_cycle *cycle)
{
    int status = PYTHIA_OK;
    for (size_t i = 0; e->effects && i < cycle->switch_count && status == PYTHIA_OK; i++) {
        const struct pythia_switch *s = &cycle->switches[i];
        if (s->open)
            status = pythia_effects_open(e->effects, s->tracepoint,
                                         cycle->problems[s->problem].type, cycle->number);
        else
            close_effects(e->effects, cycle, s);
    }
    return status;
}

int pythia__evidence_decide(struct pythia__evidence *e, struct pythia_search *search,
                            uint64_t number, double seconds, struct pythia_cycle *out)
{
    int status = pythia_groups_close(e->groups);
    if (status != PYTHIA_OK || !search)
        return status;
    pythia_search_set_seconds(search, seconds);
    status = tell_effects(e, search, number);
    if (status == PYTHIA_OK)
        status = pythia_search_cycle(search, e->groups, e->hits, e->hit_capacity, out);
    return status == PYTHIA_OK ? note_switches(e, out) : status;
}
