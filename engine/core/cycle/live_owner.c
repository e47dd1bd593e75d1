/* Calls of the owner that only pass something on. */
#include "live_parts.h"
#include "pythia/status.h"

void pythia_live_set_clock(struct pythia_live *l, uint64_t unix_ns, uint64_t now_ns)
{
    pythia_window_set_clock(l->window, unix_ns, now_ns);
}

void pythia_live_set_origin(struct pythia_live *l, uint16_t origin)
{
    pythia_window_set_origin(l->window, origin);
}

void pythia_live_forget_origin(struct pythia_live *l, uint16_t origin)
{
    pythia_window_forget_origin(l->window, origin);
}

void pythia_live_watch(struct pythia_live *l,
                       int (*request)(void *context, uint32_t type,
                                      const struct pythia_trace *trace),
                       void *context)
{
    l->watch = request;
    l->watch_context = context;
}

void pythia_live_watch_spans(struct pythia_live *l,
                             int (*span)(void *context, const struct pythia_trace_id *trace,
                                         const struct pythia_span *span),
                             void *context)
{
    l->watch_span = span;
    l->watch_span_context = context;
}

int pythia_live_know(struct pythia_live *l, struct pythia_text id)
{
    return pythia_vocabulary_tracepoint_of_id(l->vocabulary, id, 0, 0) == PYTHIA_NONE
               ? PYTHIA_ENOMEM
               : PYTHIA_OK;
}

void pythia_live_hold(struct pythia_live *l, uint64_t bytes)
{
    pythia_window_hold(l->window, bytes);
}

int pythia_live_note_finished(struct pythia_live *l, struct pythia_trace_id id)
{
    return pythia_window_note_finished(l->window, id);
}

void pythia_live_forget_finished(struct pythia_live *l)
{
    pythia_window_forget_finished(l->window);
}
