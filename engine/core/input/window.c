/* An assembler whose ticks are nanoseconds, and two marks. */
#include "pythia/window.h"

#include "lateness.h"
#include "pythia/mem.h"
#include "pythia/status.h"

#define SECOND UINT64_C(1000000000)
#define MIB    ((uint64_t)1024 * 1024)

struct pythia_window {
    struct pythia_window_options options;
    struct pythia_assembler *assembler;
    struct pythia__lateness *lateness; /* NULL: each request waits for quiet_ns */
    struct pythia_assembler_patience patience;
    const struct pythia_counts *counts;
    uint64_t held; /* by the owner, at most half of the soft mark */
};

static void set_default(uint64_t *value, uint64_t usual)
{
    *value = *value ? *value : usual;
}

static uint64_t wait_for_kind(void *context, uint32_t kind, uint64_t now_ns)
{
    return pythia__lateness_wait(context, kind, now_ns);
}

static enum pythia_assembler_lacks find_lacks(void *context, uint32_t kind,
                                              const struct pythia_assembler_sender *senders,
                                              size_t count, uint64_t since_ns, uint64_t now_ns)
{
    return pythia__lateness_lacks(context, kind, senders, count, since_ns, now_ns);
}

static int note_finished(void *context, uint32_t kind,
                         const struct pythia_assembler_sender *senders, size_t count)
{
    return pythia__lateness_finished(context, kind, senders, count);
}

/* Learn how late senders are, if requests may wait for longer than quiet_ns. */
static int make_lateness(struct pythia_window *w, const struct pythia_vocabulary *vocabulary)
{
    const struct pythia__lateness_options options = {.least_ns = w->options.quiet_ns,
                                                     .most_ns = w->options.wait_max_ns};
    if (w->options.wait_max_ns <= w->options.quiet_ns)
        return PYTHIA_OK;
    int status = pythia__lateness_create(vocabulary, &options, &w->lateness);
    w->patience = (struct pythia_assembler_patience){wait_for_kind, find_lacks, note_finished,
                                                     w->lateness, w->options.wait_max_ns};
    return status;
}

/* A soft mark above the hard one would never shed: the hard one wins. */
int pythia_window_create(const struct pythia_vocabulary *vocabulary,
                         const struct pythia_window_options *options,
                         struct pythia_trace_taker taker, struct pythia_counts *counts,
                         struct pythia_window **out)
{
    struct pythia_window *w = pythia_calloc(1, sizeof(*w));
    if (!w)
        return PYTHIA_ENOMEM;
    w->counts = counts;
    w->options = *options;
    set_default(&w->options.quiet_ns, 2 * SECOND);
    set_default(&w->options.rootless_ns, 10 * SECOND);
    set_default(&w->options.age_max_ns, 120 * SECOND);
    set_default(&w->options.spans_max, 100000);
    set_default(&w->options.soft_bytes, 128 * MIB);
    set_default(&w->options.hard_bytes, 160 * MIB);
    set_default(&w->options.remembered, UINT64_C(1) << 19);
    if (w->options.soft_bytes > w->options.hard_bytes)
        w->options.soft_bytes = w->options.hard_bytes;
    int status = make_lateness(w, vocabulary);
    if (status != PYTHIA_OK) {
        pythia_free(w);
        return status;
    }
    struct pythia_assembler_options assembling = {.quiet_ticks = w->options.quiet_ns,
                                                  .timeout_ticks = w->options.age_max_ns,
                                                  .partial_ticks = w->options.rootless_ns,
                                                  .patience = w->lateness ? &w->patience : NULL,
                                                  .spans_max = w->options.spans_max,
                                                  .attributes_max = w->options.attributes_max,
                                                  .tick_spans = w->options.tick_spans,
                                                  .remembered = w->options.remembered};
    status = pythia_assembler_create(vocabulary, &assembling, taker, counts, &w->assembler);
    if (status != PYTHIA_OK) {
        pythia__lateness_destroy(w->lateness);
        pythia_free(w);
        return status;
    }
    *out = w;
    return PYTHIA_OK;
}

void pythia_window_destroy(struct pythia_window *w)
{
    if (!w)
        return;
    pythia_assembler_destroy(w->assembler);
    pythia__lateness_destroy(w->lateness);
    pythia_free(w);
}

/* Shedding looks at all that is open: so that it is seldom done, it goes halfway down to the soft
 * mark. */
static int keep_below_hard_mark(struct pythia_window *w)
{
    uint64_t soft = w->options.soft_bytes - w->held, hard = w->options.hard_bytes - w->held;
    return pythia_assembler_bytes(w->assembler) <= hard
               ? PYTHIA_OK
               : pythia_assembler_shed(w->assembler, soft + (hard - soft) / 2);
}

void pythia_window_hold(struct pythia_window *w, uint64_t bytes)
{
    uint64_t most = w->options.soft_bytes / 2;
    w->held = bytes < most ? bytes : most;
}

int pythia_window_add(struct pythia_window *w, const struct pythia_trace_id *trace,
                      const struct pythia_span *span, uint64_t now_ns)
{
    pythia_assembler_now(w->assembler, now_ns);
    int status = w->lateness ? pythia__lateness_arrived(w->lateness, span, now_ns) : PYTHIA_OK;
    if (status != PYTHIA_OK ||
        (status = pythia_assembler_add(w->assembler, trace, span)) != PYTHIA_OK)
        return status;
    return keep_below_hard_mark(w);
}

void pythia_window_set_clock(struct pythia_window *w, uint64_t unix_ns, uint64_t now_ns)
{
    pythia_assembler_set_clock(w->assembler, unix_ns - now_ns, pythia_window_wait_ns(w, now_ns));
}

bool pythia_window_is_full(const struct pythia_window *w)
{
    return pythia_assembler_bytes(w->assembler) > w->options.soft_bytes - w->held;
}

/* Spans retained for later must not fill the window. */
static int shed_kept(struct pythia_window *w)
{
    return pythia_window_is_full(w)
               ? pythia_assembler_shed(w->assembler, w->options.hard_bytes - w->held)
               : PYTHIA_OK;
}

int pythia_window_tick(struct pythia_window *w, uint64_t now_ns)
{
    int status = pythia_assembler_tick_at(w->assembler, now_ns);
    if (status != PYTHIA_OK)
        return status;
    return shed_kept(w);
}

int pythia_window_drain(struct pythia_window *w)
{
    int status = pythia_assembler_finish(w->assembler);
    return status == PYTHIA_OK ? shed_kept(w) : status;
}

bool pythia_window_began_by(struct pythia_window *w, uint64_t start_ns)
{
    return pythia_assembler_began_by(w->assembler, start_ns);
}

uint64_t pythia_window_oldest_ns(const struct pythia_window *w)
{
    return pythia_assembler_oldest(w->assembler);
}

void pythia_window_set_origin(struct pythia_window *w, uint16_t origin)
{
    pythia_assembler_set_origin(w->assembler, origin);
}

void pythia_window_forget_origin(struct pythia_window *w, uint16_t origin)
{
    pythia_assembler_forget_origin(w->assembler, origin);
}

int pythia_window_note_finished(struct pythia_window *w, struct pythia_trace_id id)
{
    return pythia_assembler_note_finished(w->assembler, id);
}

void pythia_window_forget_finished(struct pythia_window *w)
{
    pythia_assembler_forget_finished(w->assembler);
}

uint64_t pythia_window_wait_ns(const struct pythia_window *w, uint64_t now_ns)
{
    return w->lateness ? pythia__lateness_longest(w->lateness, now_ns) : w->options.quiet_ns;
}

struct pythia_window_numbers pythia_window_numbers(const struct pythia_window *w)
{
    struct pythia_assembler_numbers n = pythia_assembler_numbers(w->assembler);
    struct pythia_window_numbers out = {
        .open_spans = n.open_spans,
        .open_traces = n.open_traces,
        .bytes = pythia_assembler_bytes(w->assembler) +
                 (w->lateness ? pythia__lateness_bytes(w->lateness) : 0),
        .finished_rootless = n.finished[PYTHIA_FINISH_PARTIAL],
        .finished_by_age = n.finished[PYTHIA_FINISH_AGE],
        .finished_by_size = n.finished[PYTHIA_FINISH_SIZE],
        .shed_traces = n.shed_traces,
        .split_traces = n.split_traces,
        .forgotten_traces = n.forgotten_traces,
        .shed_spans = w->counts->dropped[PYTHIA_DROP_SHED],
        .oversize_spans = w->counts->dropped[PYTHIA_DROP_OVERSIZE],
    };
    for (int why = 0; why < PYTHIA_FINISHES; why++)
        out.finished += n.finished[why];
    return out;
}
