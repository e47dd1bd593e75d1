#ifndef PYTHIA_ASSEMBLER_H
#define PYTHIA_ASSEMBLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/counts.h"
#include "pythia/span.h"
#include "pythia/trace.h"
#include "pythia/vocabulary.h"

/* Spans of many traces, in any order, into finished traces. A trace is finished when nothing was
 * added to it for some ticks; what a tick is (a poll, a number of spans read, a nanosecond) is up
 * to the caller. Memory is bounded by the traces that are open: some 240 bytes for one of one span,
 * and 25 for each further span, with the key-values in which it differs from the others; and 11 to
 * 21 bytes for each trace that was finished and is remembered, so that a span that comes too late
 * is noticed. While a trace is put together, some 500 bytes for each of its spans on top. One
 * thread at a time. */
struct pythia_assembler;

/* A sender of a trace, and the number of its spans that have come. */
struct pythia_assembler_sender {
    uint32_t resource, spans;
};

/* What may still come, because nothing was heard of a sender since. */
enum pythia_assembler_lacks {
    PYTHIA_LACKS_NOTHING,
    PYTHIA_LACKS_SPANS,  /* a sender has sent fewer than usual */
    PYTHIA_LACKS_SENDER, /* a sender that is usual has sent none */
};

/* How long traces wait for senders that are late, where that differs from trace to trace. `kind`
 * stands for the request type: the trace point of a root, or, as long as none was seen, of the
 * first span; PYTHIA_NONE: neither has come. Senders are those of the spans that have come, each
 * once. */
struct pythia_assembler_patience {
    /* Ticks without a span after which a trace is finished: taken for quiet_ticks if there are
     * less, and for most_ticks if there are more. */
    uint64_t (*wait)(void *context, uint32_t kind, uint64_t tick);
    /* Asked when they are over: may spans still come of a sender of which nothing was heard since
     * `since`? Then the trace waits for most_ticks, and is incomplete if a sender lacks then; one
     * with fewer spans than usual is a request of another kind. */
    enum pythia_assembler_lacks (*silent)(void *context, uint32_t kind,
                                          const struct pythia_assembler_sender *senders,
                                          size_t count, uint64_t since, uint64_t tick);
    /* A trace was finished after it was quiet. PYTHIA_OK or PYTHIA_ENOMEM. */
    int (*finished)(void *context, uint32_t kind, const struct pythia_assembler_sender *senders,
                    size_t count);
    void *context;
    uint64_t most_ticks;
};

struct pythia_assembler_options {
    uint64_t quiet_ticks;   /* ticks without a span after which a trace is finished; 0: 2 */
    uint64_t timeout_ticks; /* ticks after its first span at which a trace is finished anyway; 0:
                               never */
    /* Ticks without a span for a trace that is only partial (trace.h); one in which something is
     * known to run is waited for until its timeout. 0: as for all. */
    uint64_t partial_ticks;
    /* A trace of so many spans is finished at once; what comes then is dropped. Ends that come by
     * themselves are not spans: those of spans that have begun are waited for, as long as there are
     * no more parts than that makes (twice as many). 0: no limit. */
    uint64_t spans_max;
    size_t attributes_max; /* key-values of a span that comes as start and stop, see trace.h; 0: any
                              number */
    uint64_t tick_spans;   /* once a tick has looked at so many spans of traces, the others that are
                              due are left to the next one; 0: no limit */
    size_t remembered;     /* of how many finished traces the ids are known at least; 0: all */
    const struct pythia_assembler_patience *patience; /* borrowed; NULL: quiet_ticks for all */
    struct pythia_open_points
        *open; /* spans of other trace points are left out, see trace.h; borrowed; NULL: none are */
    struct pythia_skew *calls;        /* see pythia_trace_builder_set_clocks; borrowed, or NULL */
    const struct pythia_skew *clocks; /* likewise */
};

/* Takes each finished trace, which is borrowed for the call; negative stops the assembler's caller.
 */
struct pythia_trace_taker {
    int (*take)(void *context, const struct pythia_trace *trace);
    void *context;
};

/* `vocabulary` and `counts` are borrowed; spans, repairs and drops are counted in the latter. On
 * success *out is owned. Returns PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_assembler_create(const struct pythia_vocabulary *vocabulary,
                            const struct pythia_assembler_options *options,
                            struct pythia_trace_taker taker, struct pythia_counts *counts,
                            struct pythia_assembler **out);
void pythia_assembler_destroy(struct pythia_assembler *a); /* a may be NULL; open traces are lost */

/* Add one span or part (copied). A FORK joins the trace it links to with this one. A span whose
 * trace is finished is dropped and counted as late, one whose trace was shed or cut off at its
 * largest size as that. Returns PYTHIA_OK, PYTHIA_ENOMEM, or what the taker returned of a trace
 * that has reached its largest size. */
int pythia_assembler_add(struct pythia_assembler *a, const struct pythia_trace_id *trace,
                         const struct pythia_span *span);

/* One tick: finish what has become quiet or too old. Returns PYTHIA_OK, PYTHIA_ENOMEM or what the
 * taker returned. */
int pythia_assembler_tick(struct pythia_assembler *a);

/* As above, when the current tick is number `tick`: one lower than before counts as the same. And
 * just saying so, with nothing finished, for spans that are added now. */
int pythia_assembler_tick_at(struct pythia_assembler *a, uint64_t tick);
void pythia_assembler_now(struct pythia_assembler *a, uint64_t tick);

/* Ticks are ns, and tick 0 was at that Unix time by our own clock (0: not known, as at first); a
 * span arrives up to `late_ns` after it has ended. A span that by its sender's clock ends more than
 * 2 s after it arrives, or longer before than a trace may be open, was timed by a clock that is
 * plainly off. Such a span is taken to have begun as long before its arrival as it took. begun_ns
 * of the trace lies `late_ns` before that: it is never later than the truth. O(1). */
void pythia_assembler_set_clock(struct pythia_assembler *a, uint64_t unix_ns, uint64_t late_ns);

/* Finish every trace that is open: nothing more will come. */
int pythia_assembler_finish(struct pythia_assembler *a);

/* The traces that had late spans, each once, in no order; *count of them, borrowed until the next
 * call; none where not all ids are remembered. Whoever can read the input again pins them in a new
 * assembler, which keeps them open until _finish. */
const struct pythia_trace_id *pythia_assembler_late(const struct pythia_assembler *a,
                                                    size_t *count);
int pythia_assembler_pin(struct pythia_assembler *a, const struct pythia_trace_id *traces,
                         size_t count);

/* The memory that it holds, in use or at hand: what the heap has given, in bytes. O(1). */
size_t pythia_assembler_bytes(const struct pythia_assembler *a);

/* Let whole traces go, without taking them, until no more than so many bytes are held, or nothing
 * is open any more. Fair by request type: those that hold most give away down to a level that is
 * the same for all, so that who holds less than that loses nothing. What stands for the type of a
 * request that is not known yet is the trace point of its root, or, as long as no root was seen, of
 * its first span. Of one type the traces that began last go first: how long a request lasts does
 * not change its chances, and what is nearly whole is kept. Counted; spans that come for them later
 * are too. PYTHIA_OK, or PYTHIA_ENOMEM when the id of one could not be remembered. O(open traces +
 * trace points): shed a good deal at once. */
int pythia_assembler_shed(struct pythia_assembler *a, size_t bytes);

/* Does an open trace have a span that began at `start_ns` or before, by the clock of spans, or by
 * our own where that is off? O(1) if it is what was asked for last, else O(open traces). */
bool pythia_assembler_began_by(struct pythia_assembler *a, uint64_t start_ns);

/* The tick at which the first span of the oldest open trace was added, UINT64_MAX if none is open:
 * what was added before belongs to finished traces only. O(1). */
uint64_t pythia_assembler_oldest(const struct pythia_assembler *a);

/* Spans that are added from now on come from `origin`, for example one partition of a topic; 0, as
 * at first: from where nobody takes them back. */
void pythia_assembler_set_origin(struct pythia_assembler *a, uint16_t origin);

/* Forget the open traces whose first span came from there, as if they had never come: somebody else
 * reads them. If they come here again, they are new. O(open traces). */
void pythia_assembler_forget_origin(struct pythia_assembler *a, uint16_t origin);

/* A trace was finished by somebody else: its spans are late if they come here. PYTHIA_OK or
 * PYTHIA_ENOMEM. O(1). And forget which traces were finished: they will be read again. */
int pythia_assembler_note_finished(struct pythia_assembler *a, struct pythia_trace_id id);
void pythia_assembler_forget_finished(struct pythia_assembler *a);

/* Why a trace was finished. */
enum pythia_finish {
    PYTHIA_FINISH_QUIET,   /* nothing was added for a while */
    PYTHIA_FINISH_PARTIAL, /* nothing was added for a longer while, and it was not whole */
    PYTHIA_FINISH_AGE,
    PYTHIA_FINISH_SIZE,
    PYTHIA_FINISH_END, /* of all */
    PYTHIA_FINISHES
};

struct pythia_assembler_numbers {
    uint64_t open_traces, open_spans; /* now; forked work is part of the trace that it belongs to */
    uint64_t peak_spans;              /* the most open spans there ever were */
    uint64_t finished[PYTHIA_FINISHES]; /* traces */
    uint64_t
        shed_traces; /* or there was no memory to finish them; their spans are among the counts */
    uint64_t split_traces;     /* whose spans came from two origins, neither of them 0 */
    uint64_t forgotten_traces; /* by _forget_origin */
};
struct pythia_assembler_numbers pythia_assembler_numbers(const struct pythia_assembler *a);

#endif
