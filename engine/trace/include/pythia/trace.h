#ifndef PYTHIA_TRACE_H
#define PYTHIA_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/counts.h"
#include "pythia/open_points.h"
#include "pythia/skew.h"
#include "pythia/span.h"
#include "pythia/vocabulary.h"

#define PYTHIA_NO_SPAN UINT32_MAX

/* One span of a finished trace: its place in the tree and its times after repair. */
struct pythia_trace_span {
    uint64_t id;
    uint64_t start_ns, end_ns; /* start_ns <= end_ns, and start_ns >= that of the parent */
    uint64_t completed_ns;     /* the latest end of it and of all that is below it */
    uint32_t parent;           /* indexes of spans; PYTHIA_NO_SPAN: none */
    uint32_t first_child,
        next_sibling; /* siblings are in order of time; the order of ties is the same everywhere */
    uint32_t tracepoint, resource;
    uint32_t
        joins; /* of a wait: the root of the forked work that it waits for; else PYTHIA_NO_SPAN */
    uint32_t work;    /* of a root of forked work: the root of the same work that ended last; else
                         PYTHIA_NO_SPAN */
    uint32_t repairs; /* bit 1 << enum pythia_repair for each repair made to it */
    uint8_t kind, relation;
    bool error;
    bool annotation; /* a point in time: end_ns == start_ns and nothing is below it */
    bool point;      /* reported as one: if it has an end it is that of what is below it */
    bool unawaited;  /* completed_ns is that of work below it that is known to be asynchronous */
    bool forked; /* the root of forked work: on a critical path only where something waits for it */
    struct pythia_text attributes; /* packed, see attributes.h */
};

/* A finished trace: immutable, and borrowed from whoever built it. Its spans form a forest.
 *
 * All spans of one host, or of one process whose host is not known, read one clock. Where a call
 * from one clock to another does not lie in its caller, the clock that was called is moved, so far
 * that all calls between it and the clocks before it lie in their callers: as little as may be,
 * where that is less than what is left open, else into the middle, and between the other children
 * of callers that call one by one. The clock of the request is that of its longest root, and stays.
 * Spans that were so moved have the repair PYTHIA_REPAIR_SKEW.
 *
 * Where a span of another process lies more than an hour before or after the span that led to it
 * (before it, if nobody waits for the span; half an hour after it, if the span is a consumer's),
 * the two clocks have no common base; they count from the boot of each host, for instance. Then
 * only durations are used, in the same way; a consumer begins when its message was sent. A span
 * that is longer than its parent is put to its start, and roots of such other clocks are moved into
 * the longest root. Spans that were so moved have the repair PYTHIA_REPAIR_CLOCK_BASE. Critical
 * paths and the duration of the request follow from the moved times. */
struct pythia_trace {
    struct pythia_trace_id id;
    const struct pythia_trace_span *spans;
    uint32_t count;
    uint32_t first_root, roots; /* further roots by next_sibling */
    uint64_t start_ns;          /* the earliest start of a root */
    uint64_t end_ns; /* the latest end of a root that is not forked: what the client waited for */
    uint64_t completed_ns; /* the latest end of all */
    uint64_t begun_ns;     /* when it began by our own clock, as far as is known: start_ns, unless
                              the clock of a sender is plainly off (assembler.h) */
    double weight;         /* requests that it stands for (sampling.h), at least 1; 0 counts as 1 */
    bool incomplete;       /* it lacks spans, or may (counts.h): evidence of nothing */
};

/* The clock of OpenTelemetry in Node.js cuts the starts of spans to whole milliseconds, and
 * measures how long they last more finely. Such a span began, and ended, up to one millisecond
 * later than it says: two that follow each other may seem to overlap. */
#define PYTHIA_ROUGH_START_NS UINT64_C(1000000)

/* Does a span have the signs of such a clock: a start at a whole millisecond, and an end where its
 * more finely measured length leads? O(1). */
static inline bool pythia_starts_roughly(uint64_t start_ns, uint64_t end_ns)
{
    return start_ns % PYTHIA_ROUGH_START_NS == 0 && end_ns % PYTHIA_ROUGH_START_NS != 0;
}

/* The span after `at` in the order of the tree: parents before their children, siblings in their
 * order. A walk begins with the trace's first_root, and PYTHIA_NO_SPAN is its end. It needs no
 * memory, however deep the tree is. */
static inline uint32_t pythia_trace_next(const struct pythia_trace *trace, uint32_t at)
{
    const struct pythia_trace_span *spans = trace->spans;
    if (spans[at].first_child != PYTHIA_NO_SPAN)
        return spans[at].first_child;
    while (at != PYTHIA_NO_SPAN && spans[at].next_sibling == PYTHIA_NO_SPAN)
        at = spans[at].parent;
    return at == PYTHIA_NO_SPAN ? at : spans[at].next_sibling;
}

/* Builds traces, one after the other, in memory that it keeps. One thread at a time. */
struct pythia_trace_builder;

/* `vocabulary` is borrowed, and so is `open`: spans of trace points that are not in it are left
 * out, and what is below them hangs on the nearest ancestor that is left. NULL leaves none out. */
int pythia_trace_builder_create(const struct pythia_vocabulary *vocabulary,
                                struct pythia_open_points *open, struct pythia_trace_builder **out);
void pythia_trace_builder_destroy(struct pythia_trace_builder *b); /* b may be NULL */

/* Tell `calls` (NULL: nobody) of each call between two processes, with the times that came; and put
 * times right by `clocks` (solved; NULL: leave them), each span as a whole, before anything else is
 * mended: those that are moved are marked as skew. Both are borrowed. */
void pythia_trace_builder_set_clocks(struct pythia_trace_builder *b, struct pythia_skew *calls,
                                     const struct pythia_skew *clocks);

/* Of a span whose start and stop both have key-values, keep so many of them; the rest is counted as
 * dropped. 0: any number, as for one who says nothing. */
void pythia_trace_builder_limit_attributes(struct pythia_trace_builder *b, size_t attributes_max);

/* Begin the trace `id`; what was built before is no longer valid. */
void pythia_trace_builder_begin(struct pythia_trace_builder *b, struct pythia_trace_id id);

/* Add one report: a span or a part of one, in any order. Its attributes are borrowed until the next
 * _begin. PYTHIA_OK or PYTHIA_ENOMEM.
 *
 * Reports with one id are of one span, or of several that share it:
 *
 *   - The half of a server or consumer (by kind, or because it is `shared`) and any other half are
 *     two spans; all that follows is within one half.
 *   - WHOLE reports under one name (of the span and of its service) are one span: the longest
 *     report is kept, of two as long the one that began first. Another name is another span, except
 *     that reports of one process with the same start and end are one span, which was renamed on
 *     the way: the first name in the order of texts is kept.
 *   - A WHOLE report without a name completes a span that has one: the longer of both tells the
 *     times and the parent, and key-values of both are kept.
 *   - A START (also ANNOTATION, WAIT, FORK) is of a WHOLE span with its name, or with its start:
 *     programs give a span another name once they know its route. Else it is another span, which
 *     goes on until the STOP that there is.
 *   - A STOP is of that START, or of a WHOLE span.
 *
 * Where several spans qualify, the one of the same process is meant, else of the same name, else of
 * the same service, else the outermost one; the same holds for an ADDITION, in both halves. The
 * outermost is the longest (one that still runs, before all others). Another span with that id lies
 * in it if it names the same parent, or the id itself, unless it is of the same process and not
 * within its time; else it hangs on the parent that it names.
 *
 * A span that names a shared id as its parent means the half of its service, and there the
 * innermost span of its service that covers its start, else the innermost of its service, else the
 * outermost one. Of more than 16 spans with one id and half only the 16 outermost are looked at. */
int pythia_trace_builder_add(struct pythia_trace_builder *b, const struct pythia_span *span);

/* The trace that is built lacks spans, or may: counted by the reason that is given last. A span
 * that is lossy marks its trace by itself. */
void pythia_trace_builder_mark_incomplete(struct pythia_trace_builder *b,
                                          enum pythia_incomplete reason);

/* The trace that is built began then by our own clock, because a sender's clock is off. */
void pythia_trace_builder_set_begun(struct pythia_trace_builder *b, uint64_t begun_ns);

/* The state of the spans added so far. */
enum pythia_trace_state {
    PYTHIA_TRACE_WHOLE, /* a root, every parent, and whatever began has ended; more may come all the
                           same: nobody says how many spans a trace has */
    PYTHIA_TRACE_PARTIAL, /* a root is missing, or a parent, or the start of what has ended */
    PYTHIA_TRACE_RUNNING, /* something that began has not ended, whatever else is missing */
};

/* Before _finish. O(n). */
enum pythia_trace_state pythia_trace_builder_state(const struct pythia_trace_builder *b);

/* Put the spans together: merge their parts, find parents, mend what does not fit and count it in
 * `counts`. The result does not depend on the order in which the spans came. Returns 0 with *out
 * borrowed until the next _begin, 1 if no span is left, or PYTHIA_ENOMEM. O(n log n) for n spans,
 * no recursion. */
int pythia_trace_builder_finish(struct pythia_trace_builder *b, struct pythia_counts *counts,
                                const struct pythia_trace **out);

/* The memory that a builder holds, and giving it back; what was built is no longer valid then. */
size_t pythia_trace_builder_bytes(const struct pythia_trace_builder *b);
void pythia_trace_builder_release(struct pythia_trace_builder *b);

#endif
