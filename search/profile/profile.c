#include "profile_parts.h"
#include "pythia/mem.h"
#include "pythia/sampling.h"
#include "pythia/status.h"
#include "pythia/text.h"

int pythia_profile_create(const struct pythia_vocabulary *vocabulary,
                          const struct pythia_profile_options *options, struct pythia_profile **out)
{
    struct pythia_profile *p = pythia_calloc(1, sizeof(*p));
    if (!p)
        return PYTHIA_ENOMEM;
    p->vocabulary = vocabulary;
    p->options = *options;
    p->clock.first = 1;
    pythia_critical_path_init(&p->path);
    if (pythia_cct_create(vocabulary, &p->cct) != PYTHIA_OK ||
        pythia_call_parts_create(vocabulary, NULL, 0, &p->calls) != PYTHIA_OK) {
        pythia_profile_destroy(p);
        return PYTHIA_ENOMEM;
    }
    *out = p;
    return PYTHIA_OK;
}

void pythia_profile_destroy(struct pythia_profile *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->row_count; i++) {
        pythia_sketch_destroy(p->rows[i].times.sketch);
        pythia_free(p->rows[i].counts);
        pythia_free(p->rows[i].ns);
    }
    for (size_t i = 0; i < p->part_count; i++)
        pythia_sketch_destroy(p->parts[i].times.sketch);
    pythia_hash_table_free(&p->by_key);
    pythia_hash_table_free(&p->by_identity);
    pythia_hash_table_free(&p->by_process);
    pythia_hash_table_free(&p->by_ends);
    pythia_free(p->rows);
    pythia_free(p->processes);
    pythia_free(p->parts);
    pythia_free(p->pairs);
    pythia_free(p->nodes);
    pythia_free(p->row_of_span);
    pythia_free(p->levels);
    pythia_free(p->frames);
    pythia_critical_path_free(&p->path);
    pythia_call_parts_destroy(p->calls);
    pythia_cct_destroy(p->cct);
    pythia_free(p);
}

/* ---- rows ---- */

static uint64_t hash_profile_key(const struct pythia_profile_row *key)
{
    return pythia_hash_mix((uint64_t)key->node << 32 | key->tracepoint, key->level);
}

static bool has_profile_key(const void *owner, uint32_t index, const void *key)
{
    const struct pythia_profile_row *row = &((const struct pythia_profile *)owner)->rows[index],
                                    *wanted = key;
    return row->node == wanted->node && row->tracepoint == wanted->tracepoint &&
           row->level == wanted->level;
}

uint32_t pythia__profile_reach_row(struct pythia_profile *p, uint32_t node, uint32_t tracepoint,
                                   uint32_t level)
{
    const struct pythia_profile_row key = {
        .node = p->options.by == PYTHIA_PROFILE_CALLPATH ? node : PYTHIA_NONE,
        .tracepoint = tracepoint,
        .level = p->options.by == PYTHIA_PROFILE_LEVEL ? level : 0};
    uint64_t hash = hash_profile_key(&key);
    uint32_t found = pythia_hash_table_find(&p->by_key, hash, has_profile_key, p, &key);
    if (found != PYTHIA_HASH_TABLE_NONE)
        return found;
    if (pythia_grow(&p->rows, &p->row_capacity, p->row_count, sizeof(*p->rows)) != PYTHIA_OK ||
        pythia_hash_table_add(&p->by_key, hash, (uint32_t)p->row_count) != PYTHIA_OK)
        return PYTHIA_NONE;
    p->rows[p->row_count] = key;
    return (uint32_t)p->row_count++;
}

/* A span, or its time on the critical path, is of a row. */
static int add_profile_span(struct pythia_profile *p, const struct pythia_trace *trace,
                            uint32_t span, uint32_t row, uint64_t ns, uint64_t exclusive_ns)
{
    struct pythia_profile_row *r = &p->rows[row];
    p->row_of_span[span] = row;
    p->totals.spans += p->weight;
    r->exclusive_ns += p->weight * exclusive_ns;
    int status = pythia__profile_times_add(&r->times, ns, p->weight);
    if (status == PYTHIA_OK && p->options.processes)
        status = pythia__profile_add_part(p, row, trace->spans[span].resource, ns, exclusive_ns);
    if (status == PYTHIA_OK && p->options.slots)
        status = pythia__profile_add_slot(p, row, trace->spans[span].start_ns, ns);
    return status;
}

/* ---- whole spans ---- */

/* Children are sorted by start, so that the time they cover is found in one walk: each adds what
 * reaches beyond the end of those before. Children that overlap are not counted twice, and what
 * runs on after its parent's end counts only until then. */
static uint64_t find_covered_ns(const struct pythia_trace *trace,
                                const struct pythia_trace_span *span)
{
    uint64_t covered = 0, until = span->start_ns;
    for (uint32_t at = span->first_child; at != PYTHIA_NO_SPAN;
         at = trace->spans[at].next_sibling) {
        const struct pythia_trace_span *child = &trace->spans[at];
        uint64_t from = child->start_ns > until ? child->start_ns : until;
        uint64_t to = child->end_ns < span->end_ns ? child->end_ns : span->end_ns;
        if (child->annotation || to <= from)
            continue;
        covered += to - from;
        until = to;
    }
    return covered;
}

static int add_whole_span(struct pythia_profile *p, const struct pythia_trace *trace, uint32_t at)
{
    const struct pythia_trace_span *span = &trace->spans[at];
    bool root = span->parent == PYTHIA_NO_SPAN;
    p->levels[at] = root ? 1 : p->levels[span->parent] + 1;
    if (p->options.by == PYTHIA_PROFILE_CALLPATH) {
        p->nodes[at] = pythia_cct_child(p->cct, root ? PYTHIA_CCT_ROOT : p->nodes[span->parent],
                                        span->tracepoint);
        if (p->nodes[at] == PYTHIA_NONE)
            return PYTHIA_ENOMEM;
    }
    if (span->annotation ||
        (p->options.by == PYTHIA_PROFILE_LEAF && span->first_child != PYTHIA_NO_SPAN))
        return PYTHIA_OK;
    uint32_t row = pythia__profile_reach_row(p, p->nodes[at], span->tracepoint, p->levels[at]);
    uint64_t ns = span->end_ns - span->start_ns;
    return row == PYTHIA_NONE
               ? PYTHIA_ENOMEM
               : add_profile_span(p, trace, at, row, ns, ns - find_covered_ns(trace, span));
}

static int add_whole_spans(struct pythia_profile *p, const struct pythia_trace *trace)
{
    for (uint32_t at = trace->first_root; at != PYTHIA_NO_SPAN; at = pythia_trace_next(trace, at)) {
        int status = add_whole_span(p, trace, at);
        if (status != PYTHIA_OK)
            return status;
    }
    p->totals.request_ns +=
        p->weight *
        ((p->options.latency == PYTHIA_LATENCY_COMPLETION ? trace->completed_ns : trace->end_ns) -
         trace->start_ns);
    return PYTHIA_OK;
}

/* ---- the critical path ---- */

/* The span that is left had its time on the path; its caller had that too. */
static int leave_frame(struct pythia_profile *p, const struct pythia_trace *trace, size_t depth)
{
    const struct pythia__profile_frame *f = &p->frames[depth];
    p->frames[depth - 1].ns += f->ns;
    return f->row == PYTHIA_NONE
               ? PYTHIA_OK
               : add_profile_span(p, trace, f->span, f->row, f->ns, f->exclusive_ns);
}

static int enter_frame(struct pythia_profile *p, const struct pythia_trace *trace, size_t depth,
                       uint32_t node, const struct pythia_path_event *event)
{
    bool inner = p->options.by == PYTHIA_PROFILE_LEAF &&
                 trace->spans[event->span].first_child != PYTHIA_NO_SPAN;
    uint32_t row = inner ? PYTHIA_NONE
                         : pythia__profile_reach_row(p, node, event->tracepoint, (uint32_t)depth);
    if ((!inner && row == PYTHIA_NONE) ||
        pythia_reach(&p->frames, &p->frame_capacity, depth, sizeof(*p->frames)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    p->frames[depth] = (struct pythia__profile_frame){.span = event->span, .row = row};
    return PYTHIA_OK;
}

/* Time between two roots belongs to no span, and has a row of its own. */
static int add_time_between_roots(struct pythia_profile *p, uint64_t ns)
{
    uint32_t row =
        ns == 0 ? PYTHIA_NONE : pythia__profile_reach_row(p, PYTHIA_CCT_ROOT, PYTHIA_NONE, 0);
    if (row == PYTHIA_NONE)
        return ns == 0 ? PYTHIA_OK : PYTHIA_ENOMEM;
    p->rows[row].exclusive_ns += p->weight * ns;
    return pythia__profile_times_add(&p->rows[row].times, ns, p->weight);
}

/* A path is well nested, so the spans that are open at an event are a stack: frame 0 stands for the
 * request. The time up to the next event is of the innermost one. */
static int add_path_spans(struct pythia_profile *p, const struct pythia_trace *trace)
{
    const struct pythia_critical_path *path = &p->path;
    uint32_t node = PYTHIA_CCT_ROOT;
    size_t depth = 0;
    int status = pythia_critical_path_find(&p->path, trace, p->options.latency);
    if (status != PYTHIA_OK ||
        pythia_reach(&p->frames, &p->frame_capacity, 0, sizeof(*p->frames)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    p->frames[0] = (struct pythia__profile_frame){.row = PYTHIA_NONE};
    for (size_t i = 0; i < path->count && status == PYTHIA_OK; i++) {
        const struct pythia_path_event *event = &path->events[i];
        node = pythia_cct_follow(p->cct, node, event);
        if (node == PYTHIA_NONE)
            return PYTHIA_ENOMEM;
        if (event->kind == PYTHIA_EVENT_START)
            status = enter_frame(p, trace, ++depth, node, event);
        else if (event->kind == PYTHIA_EVENT_END)
            status = leave_frame(p, trace, depth--);
        uint64_t ns = i + 1 < path->count ? path->events[i + 1].at_ns - event->at_ns : 0;
        p->frames[depth].ns += ns;
        p->frames[depth].exclusive_ns += ns;
    }
    p->totals.request_ns += p->weight * p->frames[0].ns;
    return status == PYTHIA_OK ? add_time_between_roots(p, p->frames[0].exclusive_ns) : status;
}

/* ---- all of it ---- */

int pythia_profile_add(struct pythia_profile *p, const struct pythia_trace *trace)
{
    if (pythia_reach(&p->nodes, &p->node_capacity, trace->count, sizeof(*p->nodes)) != PYTHIA_OK ||
        pythia_reach(&p->row_of_span, &p->row_of_span_capacity, trace->count,
                     sizeof(*p->row_of_span)) != PYTHIA_OK ||
        pythia_reach(&p->levels, &p->level_capacity, trace->count, sizeof(*p->levels)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    for (uint32_t i = 0; i < trace->count; i++)
        p->row_of_span[i] = PYTHIA_NONE;
    p->weight = pythia_sampling_requests(trace->weight, trace->id);
    p->totals.requests += p->weight;
    p->totals.seen++;
    int status = p->options.critical ? add_path_spans(p, trace) : add_whole_spans(p, trace);
    return status == PYTHIA_OK ? pythia__profile_add_calls(p, trace) : status;
}

struct pythia_profile_totals pythia_profile_totals(const struct pythia_profile *p)
{
    struct pythia_profile_totals totals = p->totals;
    if (p->clock.first <= p->clock.last) {
        totals.slot_ns = (uint64_t)1 << p->clock.shift;
        totals.first_slot_ns = p->clock.first << p->clock.shift;
        totals.slots = (size_t)(p->clock.last - p->clock.first + 1);
    }
    return totals;
}

const struct pythia_vocabulary *pythia_profile_vocabulary(const struct pythia_profile *p)
{
    return p->vocabulary;
}

const struct pythia_cct *pythia_profile_cct(const struct pythia_profile *p)
{
    return p->cct;
}

const struct pythia_profile_row *pythia_profile_rows(const struct pythia_profile *p, size_t *count)
{
    *count = p->row_count;
    return p->rows;
}

int pythia_profile_compare_rows(const struct pythia_profile *p, uint32_t a, uint32_t b)
{
    const struct pythia_profile_row *x = &p->rows[a], *y = &p->rows[b];
    if (x->node != PYTHIA_NONE && y->node != PYTHIA_NONE)
        return pythia_cct_compare_nodes(p->cct, x->node, y->node);
    if (x->tracepoint == PYTHIA_NONE || y->tracepoint == PYTHIA_NONE)
        return (x->tracepoint == PYTHIA_NONE) - (y->tracepoint == PYTHIA_NONE);
    int order = pythia_text_compare(pythia_vocabulary_tracepoint_id(p->vocabulary, x->tracepoint),
                                    pythia_vocabulary_tracepoint_id(p->vocabulary, y->tracepoint));
    return order ? order : (x->level > y->level) - (x->level < y->level);
}
