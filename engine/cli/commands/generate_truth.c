/* The document:
 *
 *   {"schema": "pythia.truth/1",
 *    "seed", "shape", "requests", "mean_duration_ns", "mean_spans", …     the workflow
 *    "causes": [{"kind", "parameter", "strength", "size_ns",
 *                "first_request", "last_request",                         it is here in these
 *                "trace_point", "context": [trace points from the root],  where its time is spent:
 *                "known",                                                 at the begin of that span
 *                "others": [{"trace_point", "context"}],                  more places of the same
 *                "key", "other_key", "key_trace_point", "slow_value"}],   null: none
 *    "unknown_trace_points": [id, …]}                                     in no known context
 */
#include "generate_truth.h"

#include <stdlib.h>

#include <jansson.h>

#include "pythia/json_text.h"
#include "pythia/mem.h"
#include "pythia/shown_text.h"
#include "pythia/status.h"

struct truth {
    const struct pythia_workflow *w;
    const struct pythia_workflow_options *options;
    const struct pythia_vocabulary *vocabulary;
};

static json_t *json_of(struct pythia_text text)
{
    return json_stringn(text.bytes, text.size);
}

static json_t *pack_truth_point(const struct truth *t, uint32_t node)
{
    return json_of(
        pythia_vocabulary_tracepoint_id(t->vocabulary, pythia_workflow_tracepoint(t->w, node)));
}

/* The trace points from the root to a node; NULL when out of memory. */
static json_t *pack_context(const struct truth *t, uint32_t node)
{
    json_t *list = json_array();
    for (; list && node != PYTHIA_NONE; node = pythia_workflow_parent(t->w, node))
        if (json_array_append_new(list, pack_truth_point(t, node)) != 0) {
            json_decref(list);
            return NULL;
        }
    for (size_t i = 0, j = list ? json_array_size(list) : 0; i + 1 < j; i++) { /* from the root */
        json_t *front = json_incref(json_array_get(list, i));
        json_array_set(list, i, json_array_get(list, --j));
        json_array_set_new(list, j, front);
    }
    return list;
}

static json_t *string_or_null(const struct truth *t, uint32_t string)
{
    return string ? json_of(pythia_vocabulary_text(t->vocabulary, string)) : json_null();
}

static json_t *pack_others(const struct truth *t, const struct pythia_planted *p)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < p->other_count; i++)
        json_array_append_new(list, json_pack("{s:o, s:o}", "trace_point",
                                              pack_truth_point(t, p->others[i]), "context",
                                              pack_context(t, p->others[i])));
    return list;
}

/* A cause where it is from one request to another, both included. */
static json_t *pack_cause(const struct truth *t, size_t which, uint64_t first, uint64_t last)
{
    struct pythia_planted p;
    pythia_workflow_planted(t->w, which, first, &p);
    double size_ns = p.size_ns;
    if (t->options->drift == PYTHIA_DRIFT_GROW) { /* what it grows to */
        struct pythia_planted grown;
        pythia_workflow_planted(t->w, which, t->options->drift_requests, &grown);
        size_ns = grown.size_ns;
    }
    bool on_span = p.key && p.key_node != PYTHIA_NONE;
    return json_pack("{s:s, s:o, s:f, s:f, s:I, s:I, s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:o}",
                     "kind", pythia_planted_name(p.kind), "parameter",
                     p.parameter > 0 ? json_real(p.parameter) : json_null(), "strength", p.strength,
                     "size_ns", size_ns, "first_request", (json_int_t)first, "last_request",
                     (json_int_t)last, "trace_point", pack_truth_point(t, p.node), "context",
                     pack_context(t, p.node), "known", p.known, "others", pack_others(t, &p), "key",
                     string_or_null(t, p.key), "other_key", string_or_null(t, p.other_key),
                     "key_trace_point", on_span ? pack_truth_point(t, p.key_node) : json_null(),
                     "slow_value", string_or_null(t, p.key_value));
}

static json_t *pack_causes(const struct truth *t, uint64_t requests)
{
    json_t *list = json_array();
    uint64_t step = t->options->drift == PYTHIA_DRIFT_MOVE ? t->options->drift_requests : requests;
    for (uint64_t first = 0; first < requests; first += step) {
        uint64_t last = requests - first > step ? first + step - 1 : requests - 1;
        for (size_t i = 0; i < t->options->cause_count; i++)
            if (json_array_append_new(list, pack_cause(t, i, first, last)) != 0) {
                json_decref(list);
                return NULL;
            }
    }
    return list;
}

static json_t *add_unknown_points(const struct truth *t)
{
    uint32_t nodes = pythia_workflow_facts(t->w).nodes;
    bool *done =
        pythia_calloc(pythia_vocabulary_tracepoints(t->vocabulary), sizeof(*done)); /* or known */
    json_t *list = done ? json_array() : NULL;
    for (uint32_t i = 0; list && i < nodes; i++)
        if (pythia_workflow_known(t->w, i))
            done[pythia_workflow_tracepoint(t->w, i)] = true;
    for (uint32_t i = 0; list && i < nodes; i++) {
        uint32_t number = pythia_workflow_tracepoint(t->w, i);
        if (!done[number])
            json_array_append_new(list, pack_truth_point(t, i));
        done[number] = true;
    }
    pythia_free(done);
    return list;
}

/* The document is packed in two parts, so that each format can be checked against its arguments. */
int pythia__truth_of(const struct pythia_workflow *w, const struct pythia_workflow_options *options,
                     const struct pythia_vocabulary *vocabulary, uint64_t requests,
                     struct pythia_buf *to)
{
    static const char *const shapes[] = {"bushy", "deep", "openstack"};
    static const char *const drifts[] = {"none", "grow", "move"};
    struct truth t = {w, options, vocabulary};
    struct pythia_workflow_facts f = pythia_workflow_facts(w);
    json_t *document = json_pack(
        "{s:s, s:I, s:s, s:I, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i}", "schema",
        "pythia.truth/1", "seed", (json_int_t)options->seed, "shape", shapes[options->shape],
        "requests", (json_int_t)requests, "nodes", f.nodes, "known_nodes", f.known_nodes,
        "trace_points", f.tracepoints, "services", f.services, "hosts", options->hosts, "depth",
        f.depth, "forks", f.forks, "async", f.async, "retries", f.retries, "loops", f.loops);
    json_t *rest = json_pack(
        "{s:f, s:f, s:f, s:f, s:f, s:f, s:I, s:s, s:o, s:o, s:o}", "mean_duration_ns",
        f.duration_ns, "mean_spans", f.calls, "noise", options->noise, "load", options->load,
        "spikes", options->spikes, "spike_size", options->spike_size, "tick_ns",
        (json_int_t)options->tick_ns, "drift", drifts[options->drift], "drift_requests",
        options->drift ? json_integer((json_int_t)options->drift_requests) : json_null(), "causes",
        pack_causes(&t, requests), "unknown_trace_points", add_unknown_points(&t));
    int status = PYTHIA_ENOMEM;
    if (document && rest && json_object_update(document, rest) == 0)
        status =
            pythia_json_put_shown(to, document, JSON_INDENT(1) | JSON_REAL_PRECISION(12), "\n");
    json_decref(document);
    json_decref(rest);
    return status;
}

int pythia__truth_of_case(enum pythia_service_case_name name, struct pythia_buf *to)
{
#define NAME_OF_CASE(number, text) [PYTHIA_CASE_##number] = (text),
    static const char *const names[] = {PYTHIA_SERVICE_CASES(NAME_OF_CASE)};
    const char *cause = pythia_service_case_cause(name);
    pythia_buf_printf(
        to, "{\"schema\": \"pythia.truth/1\", \"like\": \"%s\", \"cause\": ", names[name]);
    if (cause)
        pythia_buf_printf(to, "\"variable.%s\"}\n", cause);
    else
        pythia_buf_puts(to, "null}\n");
    return pythia_buf_status(to);
}
