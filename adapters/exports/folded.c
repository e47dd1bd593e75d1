/* Folded stacks, for flame graphs (flamegraph.pl, speedscope): a line for each piece of the
 * critical path, the calling context with ';' between, a blank and whole nanoseconds. Lines of one
 * context may come several times: the tools add them up. */
#include <inttypes.h>

#include "formats.h"

static void begin_folded(struct pythia_export_state *state, struct pythia_buf *out)
{
    (void)out;
    state->traces = 0;
}

/* A name in a stack: what the format uses for itself is replaced, and what would act on a page
 * instead of being seen is its code. */
static void add_folded_frame(struct pythia_buf *out, struct pythia_text name)
{
    struct pythia_glyph glyph;
    while (name.size > 0) {
        unsigned char c = (unsigned char)*name.bytes;
        pythia_glyph_next(&name, &glyph);
        if (c == ';' || c <= ' ' || c == 0x7f)
            pythia_buf_putc(out, c == ';' ? ',' : '_');
        else
            pythia_buf_add(out, glyph.bytes, glyph.size);
    }
}

/* Each gap of the critical path becomes a line with the spans that are open then: the widths of the
 * flame graph add up to the duration of the request. */
static void write_folded_trace(struct pythia_export_state *state, const struct pythia_trace *trace,
                               const struct pythia_critical_path *path, struct pythia_buf *out)
{
    (void)trace;
    struct pythia_buf stack = {0};
    state->traces++;
    pythia_buf_puts(&stack, "request");
    for (size_t i = 0; i + 1 < path->count; i++) {
        const struct pythia_path_event *e = &path->events[i];
        if (e->kind == PYTHIA_EVENT_START) {
            pythia_buf_putc(&stack, ';');
            add_folded_frame(&stack,
                             pythia_vocabulary_tracepoint_id(state->vocabulary, e->tracepoint));
        } else if (e->kind == PYTHIA_EVENT_END) {
            while (stack.size > 0 && stack.bytes[stack.size - 1] != ';')
                stack.size--;
            stack.size -= stack.size > 0;
        }
        uint64_t gap_ns = e[1].at_ns - e->at_ns;
        if (gap_ns == 0)
            continue;
        pythia_buf_text_add(out, pythia_buf_text(&stack));
        pythia_buf_printf(out, " %" PRIu64 "\n", gap_ns);
    }
    out->failed |= stack.failed;
    pythia_buf_free(&stack);
}

static void end_folded(struct pythia_export_state *state, struct pythia_buf *out)
{
    (void)state;
    (void)out;
}

/* As above, for the flame graph. */
const struct pythia_export_ops pythia__export_flamegraph = {
    .name = "flamegraph",
    .help = "a flame graph of the critical path, as a picture (SVG)",
    .begin = begin_folded,
    .trace = write_folded_trace,
    .end = end_folded,
};

const struct pythia_export_ops pythia__export_folded = {
    .name = "folded",
    .help = "folded stacks of the critical path, for flame graphs",
    .begin = begin_folded,
    .trace = write_folded_trace,
    .end = end_folded,
};
