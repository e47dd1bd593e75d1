/* Chrome's trace event format (Duffy, "Trace Event Format", 2016), for chrome://tracing and
 * Perfetto: a trace is a process, and spans that run beside each other get threads of their own.
 * What lies on the critical path is in a category of that name. Where shares of the latency
 * variance are known, these spans have a colour by them, and a counter shows the share of the span
 * that the critical path is in. */
#include <math.h>
#include <stdlib.h>

#include "formats.h"
#include "pythia/mem.h"
#include "pythia/sort.h"

#define LANES_MAX  64 /* beside each other; what is beyond shares the last one */
#define RED_FROM   .5 /* shares from which spans have these colours: half of the variance is what */
#define AMBER_FROM .1 /* a report calls a cause, and below a tenth there is little to gain */

static void begin_chrome(struct pythia_export_state *state, struct pythia_buf *out)
{
    state->traces = 0;
    pythia_buf_puts(out, "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[");
}

/* Threads of one trace: on each, spans enclose each other or follow each other, as the viewers want
 * it. */
struct lanes {
    const struct pythia_trace *trace;
    uint32_t top[LANES_MAX]; /* the innermost span that is open on each; PYTHIA_NO_SPAN: none */
    uint32_t *below, *lane;  /* by span: what it lies in, on its lane; and its lane */
};

static bool fits_lane(struct lanes *l, size_t lane, uint32_t i)
{
    const struct pythia_trace_span *spans = l->trace->spans;
    while (l->top[lane] != PYTHIA_NO_SPAN && spans[l->top[lane]].end_ns <= spans[i].start_ns)
        l->top[lane] = l->below[l->top[lane]];
    return l->top[lane] == PYTHIA_NO_SPAN || spans[l->top[lane]].end_ns >= spans[i].end_ns;
}

/* The parent's thread if the span fits there, else the first on which it does. */
static void choose_lane(struct lanes *l, uint32_t i)
{
    uint32_t parent = l->trace->spans[i].parent;
    size_t lane = parent == PYTHIA_NO_SPAN ? 0 : l->lane[parent];
    if (!fits_lane(l, lane, i))
        for (lane = 0; lane + 1 < LANES_MAX && !fits_lane(l, lane, i);)
            lane++;
    l->below[i] = l->top[lane];
    l->top[lane] = i;
    l->lane[i] = (uint32_t)lane;
}

static bool starts_before(const void *context, uint32_t a, uint32_t b)
{
    const struct pythia_trace_span *spans = context;
    if (spans[a].start_ns != spans[b].start_ns)
        return spans[a].start_ns < spans[b].start_ns;
    return spans[a].end_ns > spans[b].end_ns;
}

static int compare_share(const void *key, const void *share)
{
    uint32_t a = *(const uint32_t *)key,
             b = ((const struct pythia_export_share *)share)->tracepoint;
    return (a > b) - (a < b);
}

/* NaN: not known. */
static double find_share(const struct pythia_export_state *state, uint32_t tracepoint)
{
    const struct pythia_export_share *found =
        state->share_count > 0 ? bsearch(&tracepoint, state->shares, state->share_count,
                                         sizeof(*state->shares), compare_share)
                               : NULL;
    return found ? found->share : NAN;
}

/* The names of colours are those that the format reserves. */
static void add_share(double share, struct pythia_buf *out)
{
    const char *colour = share >= RED_FROM ? "terrible" : share >= AMBER_FROM ? "bad" : "good";
    if (!isnan(share))
        pythia_buf_printf(out, "\"cname\":\"%s\",", colour);
}

static void add_counter(const struct pythia_export_state *state, uint64_t after_ns, double share,
                        struct pythia_buf *out)
{
    pythia_buf_printf(out,
                      ",\n{\"ph\":\"C\",\"name\":\"share of the latency variance\",\"pid\":%zu,"
                      "\"ts\":%.3f,\"args\":{\"share\":%.4f}}",
                      state->traces, (double)after_ns / 1e3, isnan(share) ? 0 : share);
}

/* At each event of the critical path, the share of the span that is the innermost from then on. A
 * path is well nested: the spans that are open are a stack. */
static void add_counters(const struct pythia_export_state *state, const struct pythia_trace *trace,
                         const struct pythia_critical_path *path, uint32_t *stack,
                         struct pythia_buf *out)
{
    size_t depth = 0;
    for (size_t i = 0; i < path->count; i++) {
        const struct pythia_path_event *event = &path->events[i];
        if (event->kind == PYTHIA_EVENT_START && depth < trace->count)
            stack[depth++] = event->tracepoint;
        else if (event->kind == PYTHIA_EVENT_END && depth > 0)
            depth--;
        if (i + 1 == path->count || path->events[i + 1].at_ns != event->at_ns)
            add_counter(state, event->at_ns - trace->start_ns,
                        depth > 0 ? find_share(state, stack[depth - 1]) : 0, out);
    }
}

static void add_chrome_event(struct pythia_export_state *state, const struct pythia_trace *trace,
                             uint32_t i, size_t lane, bool critical, struct pythia_buf *out)
{
    const struct pythia_vocabulary *v = state->vocabulary;
    const struct pythia_trace_span *span = &trace->spans[i];
    pythia_buf_puts(out, ",\n{\"ph\":\"X\",\"name\":");
    pythia_shown_json_text(out, pythia_vocabulary_tracepoint_id(v, span->tracepoint));
    double share = critical ? find_share(state, span->tracepoint) : NAN;
    pythia_buf_putc(out, ',');
    add_share(share, out);
    pythia_buf_printf(out,
                      "\"cat\":\"%s\",\"pid\":%zu,\"tid\":%zu,\"ts\":%.3f,\"dur\":%.3f,\"args\":{",
                      critical ? "critical path" : "span", state->traces, lane,
                      (double)(span->start_ns - trace->start_ns) / 1e3,
                      (double)(span->end_ns - span->start_ns) / 1e3);
    pythia__add_json_attributes(out, v, span, false);
    if (!isnan(share))
        pythia_buf_printf(out, "%s\"share of the latency variance\":%.4f",
                          out->bytes && out->bytes[out->size - 1] == '{' ? "" : ",", share);
    pythia_buf_puts(out, "}}");
}

/* The spans in order of their starts, parents first, each with its lane. */
static int find_lanes(struct lanes *l, uint32_t *order, uint32_t *scratch)
{
    uint32_t count = 0;
    for (uint32_t i = l->trace->first_root; i != PYTHIA_NO_SPAN; i = pythia_trace_next(l->trace, i))
        order[count++] = i;
    pythia_sort_indexes(order, count, scratch, starts_before, l->trace->spans);
    for (size_t lane = 0; lane < LANES_MAX; lane++)
        l->top[lane] = PYTHIA_NO_SPAN;
    for (uint32_t i = 0; i < count; i++)
        choose_lane(l, order[i]);
    return (int)count;
}

/* Spans of one lane must nest, so that children that run side by side get lanes of their own. */
static void write_chrome_trace(struct pythia_export_state *state, const struct pythia_trace *trace,
                               const struct pythia_critical_path *path, struct pythia_buf *out)
{
    uint32_t *memory = pythia_calloc(trace->count, 4 * sizeof(*memory));
    bool *critical = pythia_calloc(trace->count, sizeof(*critical));
    if (!memory || !critical) {
        out->failed = 1;
    } else {
        size_t n = trace->count;
        struct lanes l = {.trace = trace, .below = memory, .lane = memory + n};
        uint32_t *order = memory + 2 * n;
        int count = find_lanes(&l, order, memory + 3 * n);
        for (size_t i = 0; i < path->count; i++)
            critical[path->events[i].span] = true;
        pythia_buf_printf(
            out, "%s{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%zu,\"args\":{\"name\":\"",
            state->traces ? ",\n" : "\n", state->traces);
        pythia__add_trace_id(out, trace->id);
        pythia_buf_puts(out, "\"}}");
        for (int i = 0; i < count; i++)
            add_chrome_event(state, trace, order[i], l.lane[order[i]], critical[order[i]], out);
        if (state->share_count > 0)
            add_counters(state, trace, path, memory + 3 * n, out);
        state->traces++;
    }
    pythia_free(memory);
    pythia_free(critical);
}

static void end_chrome(struct pythia_export_state *state, struct pythia_buf *out)
{
    (void)state;
    pythia_buf_puts(out, "\n]}\n");
}

const struct pythia_export_ops pythia__export_chrome = {
    .name = "chrome",
    .help = "Chrome trace events, for Perfetto and chrome://tracing",
    .begin = begin_chrome,
    .trace = write_chrome_trace,
    .end = end_chrome,
};
