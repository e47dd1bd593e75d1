#include "pythia/callpath_profile.h"

#include <string.h>

#include "pythia/arena.h"
#include "pythia/buf.h"
#include "pythia/cct.h"
#include "pythia/mem.h"
#include "pythia/sketch.h"
#include "pythia/status.h"

struct context {
    struct pythia_sketch *durations; /* owned; NULL: not visited yet */
    int64_t calls, sum_ns, min_ns, max_ns, exclusive_ns;
    double sum_squares;
};

struct pythia_callpath_profile {
    struct pythia_cct *cct;
    struct context *contexts; /* by node */
    size_t capacity;
    uint32_t *nodes; /* of the spans of the trace that is added */
    size_t node_capacity;
    struct pythia_run_callpath *paths; /* the result, and its texts */
    struct pythia_arena texts;
};

int pythia_callpath_profile_create(const struct pythia_vocabulary *vocabulary,
                                   struct pythia_callpath_profile **out)
{
    struct pythia_callpath_profile *p = pythia_calloc(1, sizeof(*p));
    if (!p)
        return PYTHIA_ENOMEM;
    int status = pythia_cct_create(vocabulary, &p->cct);
    if (status != PYTHIA_OK) {
        pythia_free(p);
        return status;
    }
    *out = p;
    return PYTHIA_OK;
}

void pythia_callpath_profile_destroy(struct pythia_callpath_profile *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->capacity; i++)
        pythia_sketch_destroy(p->contexts[i].durations);
    pythia_cct_destroy(p->cct);
    pythia_free(p->contexts);
    pythia_free(p->nodes);
    pythia_free(p->paths);
    pythia_arena_free(&p->texts);
    pythia_free(p);
}

/* Children are sorted by start, so that the time they cover is found in one walk: each adds what
 * reaches beyond the end of those before. Children that overlap are not counted twice, and what
 * runs on after its parent's end counts only until then. */
static uint64_t covered_ns(const struct pythia_trace *trace, const struct pythia_trace_span *span)
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

static int add_path_call(struct context *c, const struct pythia_trace *trace,
                         const struct pythia_trace_span *span)
{
    int64_t ns = (int64_t)(span->end_ns - span->start_ns);
    if (!c->durations) {
        int status = pythia_sketch_create(PYTHIA_SKETCH_ALPHA, &c->durations);
        if (status != PYTHIA_OK)
            return status;
        c->min_ns = c->max_ns = ns;
    }
    c->calls++;
    c->sum_ns += ns;
    c->sum_squares += (double)ns * (double)ns;
    c->min_ns = ns < c->min_ns ? ns : c->min_ns;
    c->max_ns = ns > c->max_ns ? ns : c->max_ns;
    c->exclusive_ns += ns - (int64_t)covered_ns(trace, span);
    return pythia_sketch_add(c->durations, (double)ns, 1);
}

static int add_path_span(struct pythia_callpath_profile *p, const struct pythia_trace *trace,
                         uint32_t at)
{
    const struct pythia_trace_span *span = &trace->spans[at];
    uint32_t parent = span->parent == PYTHIA_NO_SPAN ? PYTHIA_CCT_ROOT : p->nodes[span->parent];
    uint32_t node = pythia_cct_child(p->cct, parent, span->tracepoint);
    if (node == PYTHIA_NONE ||
        pythia_reach(&p->contexts, &p->capacity, node, sizeof(*p->contexts)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    p->nodes[at] = node;
    return span->annotation ? PYTHIA_OK : add_path_call(&p->contexts[node], trace, span);
}

int pythia_callpath_profile_add(struct pythia_callpath_profile *p, const struct pythia_trace *trace)
{
    if (pythia_reach(&p->nodes, &p->node_capacity, trace->count, sizeof(*p->nodes)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    for (uint32_t at = trace->first_root; at != PYTHIA_NO_SPAN; at = pythia_trace_next(trace, at)) {
        int status = add_path_span(p, trace, at);
        if (status != PYTHIA_OK)
            return status;
    }
    return PYTHIA_OK;
}

/* "a;b;c" of a node; a ';' in a name would split it, and becomes ','. */
static const char *write_path(struct pythia_callpath_profile *p, uint32_t node,
                              struct pythia_buf *scratch)
{
    const struct pythia_vocabulary *v = pythia_cct_vocabulary(p->cct);
    pythia_buf_clear(scratch);
    uint32_t depth = pythia_cct_depth(p->cct, node);
    for (uint32_t d = 1; d <= depth; d++) {
        struct pythia_text name = pythia_vocabulary_tracepoint_id(
            v, pythia_cct_tracepoint(p->cct, pythia_cct_ancestor(p->cct, node, d)));
        if (d > 1)
            pythia_buf_putc(scratch, ';');
        size_t from = scratch->size;
        pythia_buf_text_add(scratch, name);
        for (size_t i = from; i < scratch->size; i++)
            if (scratch->bytes[i] == ';' || scratch->bytes[i] == '\n')
                scratch->bytes[i] = ',';
    }
    char *copy = pythia_buf_status(scratch) == PYTHIA_OK
                     ? pythia_arena_alloc(&p->texts, scratch->size + 1)
                     : NULL;
    if (copy)
        memcpy(copy, scratch->bytes ? scratch->bytes : "", scratch->size + 1);
    return copy;
}

/* The order is that of the paths by name, as numbers of nodes depend on which path came first. */
int pythia_callpath_profile_finish(struct pythia_callpath_profile *p,
                                   const struct pythia_run_callpath **paths, size_t *count)
{
    uint32_t *nodes = NULL, node_count = 0;
    struct pythia_buf scratch = {0};
    size_t used = 0;
    int status = pythia_cct_sorted_nodes(p->cct, &nodes, &node_count);
    if (status != PYTHIA_OK)
        return status;
    pythia_free(p->paths);
    p->paths = pythia_calloc(node_count, sizeof(*p->paths));
    for (uint32_t i = 0; p->paths && i < node_count; i++) {
        const struct context *c = nodes[i] < p->capacity ? &p->contexts[nodes[i]] : NULL;
        if (!c || c->calls == 0)
            continue;
        struct pythia_run_callpath *out = &p->paths[used];
        *out = (struct pythia_run_callpath){
            .path = write_path(p, nodes[i], &scratch),
            .calls = c->calls,
            .sum_ns = c->sum_ns,
            .min_ns = c->min_ns,
            .max_ns = c->max_ns,
            .p50_ns = (int64_t)pythia_sketch_quantile(c->durations, .5),
            .p99_ns = (int64_t)pythia_sketch_quantile(c->durations, .99),
            .exclusive_ns = c->exclusive_ns,
            .sum_squares = c->sum_squares,
        };
        if (!out->path) {
            status = PYTHIA_ENOMEM;
            break;
        }
        used++;
    }
    if (!p->paths)
        status = PYTHIA_ENOMEM;
    pythia_free(nodes);
    pythia_buf_free(&scratch);
    if (status == PYTHIA_OK) {
        *paths = p->paths;
        *count = used;
    }
    return status;
}
