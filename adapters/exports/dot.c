/* Graphviz: one graph, a cluster for each trace, spans as nodes under their parents, the critical
 * path in bold. */
#include <inttypes.h>

#include "formats.h"
#include "pythia/mem.h"

static void begin_dot(struct pythia_export_state *state, struct pythia_buf *out)
{
    state->traces = 0;
    pythia_buf_puts(out, "digraph pythia {\n  rankdir=LR;\n  node [shape=box, "
                         "fontname=\"sans-serif\", fontsize=10];\n");
}

/* A cluster for each trace keeps several of them apart in one drawing; the critical path is bold.
 */
static void write_dot_trace(struct pythia_export_state *state, const struct pythia_trace *trace,
                            const struct pythia_critical_path *path, struct pythia_buf *out)
{
    size_t number = state->traces++;
    bool *critical = pythia_calloc(trace->count, sizeof(*critical));
    if (!critical) {
        out->failed = 1;
        return;
    }
    for (size_t i = 0; i < path->count; i++)
        critical[path->events[i].span] = true;
    pythia_buf_printf(out, "  subgraph cluster_%zu {\n    label=\"", number);
    pythia__add_trace_id(out, trace->id);
    pythia_buf_puts(out, "\";\n");
    for (uint32_t i = trace->first_root; i != PYTHIA_NO_SPAN; i = pythia_trace_next(trace, i)) {
        const struct pythia_trace_span *span = &trace->spans[i];
        const char *bold = critical[i] ? ", style=bold, color=\"#b03000\"" : "";
        pythia_buf_printf(out, "    t%zus%u [label=\"", number, i);
        pythia_shown_dot_label(
            out, pythia_vocabulary_tracepoint_id(state->vocabulary, span->tracepoint));
        pythia_buf_printf(out, "\\n+%.3f ms, %.3f ms\"%s];\n",
                          (double)(span->start_ns - trace->start_ns) / 1e6,
                          (double)(span->end_ns - span->start_ns) / 1e6, bold);
        if (span->parent != PYTHIA_NO_SPAN)
            pythia_buf_printf(out, "    t%zus%u -> t%zus%u [%s];\n", number, span->parent, number,
                              i, critical[i] ? "color=\"#b03000\", penwidth=2" : "");
    }
    pythia_buf_puts(out, "  }\n");
    pythia_free(critical);
}

static void end_dot(struct pythia_export_state *state, struct pythia_buf *out)
{
    (void)state;
    pythia_buf_puts(out, "}\n");
}

const struct pythia_export_ops pythia__export_dot = {
    .name = "dot",
    .help = "a graph for Graphviz, the critical path in bold",
    .begin = begin_dot,
    .trace = write_dot_trace,
    .end = end_dot,
};
