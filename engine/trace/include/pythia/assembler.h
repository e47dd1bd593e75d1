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
 * added to it for some ticks; what a tick is (a poll, a number of spans read) is up to the caller.
 * Memory is bounded by the traces that are open: some 200 bytes a span, and 16 bytes for each trace
 * that was finished, so that a span that comes too late is noticed. One thread at a time. */
struct pythia_assembler;

struct pythia_assembler_options {
    uint64_t quiet_ticks;   /* ticks without a span after which a trace is finished; 0: 2 */
    uint64_t timeout_ticks; /* ticks after its first span at which a trace is finished anyway; 0:
                               never */
    struct pythia_open_points
        *open; /* spans of other trace points are left out, see trace.h; borrowed; NULL: none are */
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
 * trace is finished is dropped and counted as late. Returns PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_assembler_add(struct pythia_assembler *a, const struct pythia_trace_id *trace,
                         const struct pythia_span *span);

/* One tick: finish what has become quiet or too old. Returns PYTHIA_OK, PYTHIA_ENOMEM or what the
 * taker returned. */
int pythia_assembler_tick(struct pythia_assembler *a);

/* Finish every trace that is open: nothing more will come. */
int pythia_assembler_finish(struct pythia_assembler *a);

/* The traces that had late spans, each once, in no order; *count of them, borrowed until the next
 * call. Whoever can read the input again pins them in a new assembler, which keeps them open until
 * _finish. */
const struct pythia_trace_id *pythia_assembler_late(const struct pythia_assembler *a,
                                                    size_t *count);
int pythia_assembler_pin(struct pythia_assembler *a, const struct pythia_trace_id *traces,
                         size_t count);

/* Spans of open traces now, and the most there ever were. */
uint64_t pythia_assembler_open_spans(const struct pythia_assembler *a, uint64_t *peak);

#endif
