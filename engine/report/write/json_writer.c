#include "json_writer.h"

#include <math.h>
#include <stdio.h>

#include "pythia/critical_path.h"
#include "pythia/json_text.h"
#include "pythia/mem.h"
#include "pythia/shown_text.h"
#include "pythia/status.h"

void pythia__json_set(struct pythia__json *w, json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value) != 0)
        w->failed = true;
}

void pythia__json_append(struct pythia__json *w, json_t *array, json_t *value)
{
    if (json_array_append_new(array, value) != 0)
        w->failed = true;
}

int pythia__json_write(const json_t *document, size_t indent, size_t digits, struct pythia_buf *to)
{
    return pythia_json_put_shown(to, document, JSON_INDENT(indent) | JSON_REAL_PRECISION(digits),
                                 "\n");
}

json_t *pythia__json_real(double number)
{
    return isfinite(number) ? json_real(number) : json_null();
}

json_t *pythia__json_count(uint64_t number)
{
    return json_integer((json_int_t)number);
}

json_t *pythia__json_text(struct pythia_text text)
{
    json_t *string = json_stringn(text.bytes, text.size);
    return string ? string : json_string("(text that is not UTF-8)");
}

json_t *pythia__json_point(struct pythia__json *w, uint32_t tracepoint)
{
    if (pythia_reach(&w->points, &w->point_capacity, tracepoint, sizeof(json_t *)) != PYTHIA_OK)
        return NULL;
    json_t **point = &w->points[tracepoint];
    if (!*point)
        *point = pythia__json_text(pythia_vocabulary_tracepoint_id(w->vocabulary, tracepoint));
    return *point ? json_incref(*point) : NULL;
}

void pythia__json_close(struct pythia__json *w)
{
    for (size_t i = 0; i < w->point_capacity; i++)
        json_decref(w->points[i]);
    pythia_free(w->points);
    w->points = NULL;
    w->point_capacity = 0;
}

json_t *pythia__json_points(struct pythia__json *w, const uint32_t *tracepoints, size_t count)
{
    json_t *out = json_array();
    for (size_t i = 0; i < count; i++)
        pythia__json_append(w, out, pythia__json_point(w, tracepoints[i]));
    return out;
}

/* A context of a deep trace has as many names as the trace is deep, and each of its edges has a
 * context: what people and programs look at are its ends. The outer end is as long as a report
 * draws (report_icicle.c). */
#define CONTEXT_MAX   64
#define CONTEXT_INNER 16

void pythia__json_set_context(struct pythia__json *w, json_t *to, const char *name,
                              const struct pythia_cct *cct, uint32_t node)
{
    uint32_t nodes[CONTEXT_MAX], depth = pythia_cct_depth(cct, node);
    uint32_t count = depth < CONTEXT_MAX ? depth : CONTEXT_MAX;
    json_t *out = json_array();
    for (uint32_t i = count; i-- > 0; node = pythia_cct_parent(cct, node)) {
        if (depth > CONTEXT_MAX && i == CONTEXT_MAX - CONTEXT_INNER - 1)
            node = pythia_cct_ancestor(cct, node, i + 1);
        nodes[i] = node;
    }
    for (uint32_t i = 0; i < count; i++)
        pythia__json_append(w, out, pythia__json_point(w, pythia_cct_tracepoint(cct, nodes[i])));
    pythia__json_set(w, to, name, out);
    if (depth > CONTEXT_MAX) {
        char depth_name[32];
        snprintf(depth_name, sizeof(depth_name), "%s_depth", name);
        pythia__json_set(w, to, depth_name, json_integer((json_int_t)depth));
    }
}

json_t *pythia__json_event(struct pythia__json *w, uint32_t tracepoint, uint8_t kind)
{
    json_t *out = json_object();
    pythia__json_set(w, out, "trace_point", pythia__json_point(w, tracepoint));
    pythia__json_set(w, out, "event",
                     json_string(kind == PYTHIA_EVENT_START ? "start"
                                 : kind == PYTHIA_EVENT_END ? "end"
                                                            : "annotation"));
    return out;
}

void pythia__json_edge(struct pythia__json *w, json_t *to, const struct pythia_cct *cct,
                       uint32_t edge)
{
    const struct pythia_edge *e = pythia_cct_edge_at(cct, edge);
    pythia__json_set(w, to, "from", pythia__json_event(w, e->from_tracepoint, e->from_event));
    pythia__json_set(w, to, "to", pythia__json_event(w, e->to_tracepoint, e->to_event));
    pythia__json_set_context(w, to, "context", cct, e->context);
}

json_t *pythia__json_input(struct pythia__json *w, const char *const *paths, size_t count,
                           const struct pythia_pipeline_result *in)
{
    json_t *out = json_object(), *sources = json_array(), *repaired = json_object(),
           *dropped = json_object(), *incomplete = json_object();
    for (size_t i = 0; i < count; i++)
        pythia__json_append(w, sources, pythia__json_text(pythia_text_of(paths[i])));
    for (size_t i = 0; i < PYTHIA_REPAIRS; i++)
        if (in->counts.repaired[i])
            pythia__json_set(w, repaired, pythia_repair_name((enum pythia_repair)i),
                             pythia__json_count(in->counts.repaired[i]));
    for (size_t i = 0; i < PYTHIA_DROPS; i++)
        if (in->counts.dropped[i])
            pythia__json_set(w, dropped, pythia_drop_name((enum pythia_drop)i),
                             pythia__json_count(in->counts.dropped[i]));
    for (size_t i = 0; i < PYTHIA_INCOMPLETES; i++)
        if (in->counts.incomplete[i])
            pythia__json_set(w, incomplete, pythia_incomplete_name((enum pythia_incomplete)i),
                             pythia__json_count(in->counts.incomplete[i]));
    pythia__json_set(w, out, "sources", sources);
    pythia__json_set(w, out, "files", pythia__json_count(in->files));
    pythia__json_set(w, out, "failed_files", pythia__json_count(in->failed_files));
    pythia__json_set(w, out, "bytes", pythia__json_count(in->bytes));
    pythia__json_set(w, out, "spans", pythia__json_count(in->counts.kept));
    pythia__json_set(w, out, "traces", pythia__json_count(in->counts.traces));
    pythia__json_set(w, out, "hidden", pythia__json_count(in->counts.hidden));
    pythia__json_set(w, out, "outlive_parent", pythia__json_count(in->counts.outlive));
    if (in->counts.long_values)
        pythia__json_set(w, out, "long_values", pythia__json_count(in->counts.long_values));
    if (in->counts.hashed_values)
        pythia__json_set(w, out, "hashed_values", pythia__json_count(in->counts.hashed_values));
    pythia__json_set(w, out, "repaired", repaired);
    pythia__json_set(w, out, "dropped", dropped);
    if (json_object_size(incomplete))
        pythia__json_set(w, out, "incomplete", json_incref(incomplete));
    json_decref(incomplete);
    return out;
}
