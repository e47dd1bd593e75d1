/* Requests of a workflow, held as lists of spans. */
#ifndef WORKFLOW_RUN_H
#define WORKFLOW_RUN_H

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "pythia/attributes.h"
#include "pythia/mem.h"
#include "pythia/random.h"
#include "pythia/status.h"
#include "pythia/workflow.h"

#define MS 1e6
#define S  1e9

struct run {
    struct pythia_vocabulary *vocabulary;
    struct pythia_workflow_options options;
    struct pythia_workflow *workflow;
    struct pythia_workflow_facts facts;
    uint32_t *node_of; /* by trace point; only where each node has one of its own */
    struct pythia_trace_id trace;
    struct pythia_span *spans; /* of the request at hand */
    char (*attributes)[512];   /* of each span */
    size_t count, capacity;
};

static inline int run_take(void *context, const struct pythia_trace_id *trace,
                           const struct pythia_span *span)
{
    struct run *r = context;
    if (r->count == r->capacity) {
        r->capacity = r->capacity ? 2 * r->capacity : 1024;
        r->spans = realloc(r->spans, r->capacity * sizeof(*r->spans));
        r->attributes = realloc(r->attributes, r->capacity * sizeof(*r->attributes));
        for (size_t i = 0; i < r->count; i++)
            r->spans[i].attributes.bytes = r->attributes[i];
    }
    r->trace = *trace;
    r->spans[r->count] = *span;
    assert_in_range(span->attributes.size, 0, sizeof(r->attributes[0]));
    if (span->attributes.size)
        memcpy(r->attributes[r->count], span->attributes.bytes, span->attributes.size);
    r->spans[r->count].attributes.bytes = r->attributes[r->count];
    r->count++;
    return PYTHIA_OK;
}

/* Make the workflow of r->options. */
static inline void run_make(struct run *r)
{
    struct pythia_error why = {0};
    assert_int_equal(pythia_vocabulary_create(&r->vocabulary), PYTHIA_OK);
    int status = pythia_workflow_create(r->vocabulary, &r->options, &r->workflow, &why);
    if (status != PYTHIA_OK)
        fail_msg("%d: %s", status, why.sentence);
    r->facts = pythia_workflow_facts(r->workflow);
    uint32_t points = pythia_vocabulary_tracepoints(r->vocabulary);
    r->node_of = calloc(points, sizeof(*r->node_of));
    for (uint32_t i = 0; i < r->facts.nodes; i++)
        r->node_of[pythia_workflow_tracepoint(r->workflow, i)] = i;
}

static inline void run_begin(struct run *r, enum pythia_workflow_shape shape, uint32_t nodes)
{
    *r = (struct run){.count = 0};
    pythia_workflow_options_default(&r->options);
    r->options.shape = shape;
    r->options.nodes = nodes;
}

static inline void run_end(struct run *r)
{
    pythia_workflow_destroy(r->workflow);
    pythia_vocabulary_destroy(r->vocabulary);
    free(r->node_of);
    free(r->spans);
    free(r->attributes);
    r->workflow = NULL;
    r->vocabulary = NULL;
    r->node_of = NULL;
    r->spans = NULL;
    r->attributes = NULL;
    r->count = r->capacity = 0;
}

static inline void run_cause(struct run *r, enum pythia_planted_kind kind, double parameter,
                             double strength)
{
    r->options.causes[r->options.cause_count++] =
        (struct pythia_workflow_cause){.kind = kind, .parameter = parameter, .strength = strength};
}

/* The spans of a request into r->spans. */
static inline void run_request(struct run *r, uint64_t number,
                               const struct pythia_workflow_view *view)
{
    r->count = 0;
    assert_int_equal(pythia_workflow_request(r->workflow, number, view, run_take, r), PYTHIA_OK);
}

static inline uint64_t end_of(const struct pythia_span *s)
{
    return s->start_ns + (uint64_t)s->duration_ns;
}

/* From the first start to the last end. */
static inline double run_duration(const struct run *r)
{
    uint64_t start_ns = UINT64_MAX, ended_ns = 0;
    for (size_t i = 0; i < r->count; i++) {
        start_ns = r->spans[i].start_ns < start_ns ? r->spans[i].start_ns : start_ns;
        ended_ns = end_of(&r->spans[i]) > ended_ns ? end_of(&r->spans[i]) : ended_ns;
    }
    return (double)(ended_ns - start_ns);
}

/* The time of each node that is not in its children: of a request where nothing overlaps, and where
 * each node has a trace point of its own. Returns the duration. */
static inline double run_times(const struct run *r, double *times)
{
    double duration = 0;
    memset(times, 0, r->facts.nodes * sizeof(*times));
    for (size_t i = 0; i < r->count; i++) {
        uint32_t node = r->node_of[r->spans[i].tracepoint];
        double length = (double)r->spans[i].duration_ns;
        times[node] += length;
        if (node == 0)
            duration = length;
        else
            times[pythia_workflow_parent(r->workflow, node)] -= length;
    }
    return duration;
}

/* The value of a key on the spans of a node; false if there is none. */
static inline bool run_key(const struct run *r, uint32_t node, uint32_t key,
                           struct pythia_attribute *out)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->node_of[r->spans[i].tracepoint] == node &&
            pythia_attributes_find(r->spans[i].attributes, key, out))
            return true;
    return false;
}

#endif
