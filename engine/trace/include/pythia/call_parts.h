#ifndef PYTHIA_CALL_PARTS_H
#define PYTHIA_CALL_PARTS_H

#include <stddef.h>
#include <stdint.h>

#include "pythia/trace.h"
#include "pythia/vocabulary.h"

/* The parts of a request's calls from one service to another: the intervals of Ramesh et
 * al., "SYMBIOSYS: A Methodology for Performance Analysis of Composable HPC Data Services", IPDPS
 * 2021, table III.
 *
 *     caller  |- in_ser -|                                                    |- o_cb -|
 *     target               |- rdma -|- handler -|------ exec ------|- out_ser -|
 *                                               | in_deser, calls, own |
 *
 * A call is a span of kind client together with the server spans below it; of client spans inside
 * each other in one service, the innermost is the call. A client span without a server span is a
 * call whose target is not traced, and a server span without a client span one whose caller is not.
 * A span of another service than its parent's counts as a server span, whatever its kind. A
 * consumer below a producer is a call too: it lasts from the start of the producer's span to the
 * end of the consumer's, and the time between the two spans is `handler`.
 *
 * A part is known by two things: spans of the caller or the target, by their names or by rules of
 * the user, and timers among the key-values of the client or the server span: "iv.in_ser" (ns) or
 * "variable.input_serialization_time" (seconds), and likewise for the others. Where both do, the
 * spans count, because it is known when they were. Each moment of a call belongs to one part, that
 * of the innermost span that was running; of two that ran side by side, the one that began first.
 * So the parts add up to the call, to the ns:
 *
 *     origin = in_ser + rdma + handler + exec + out_ser + o_cb + unaccounted
 *     exec   = in_deser + calls + own
 *
 * `unaccounted` and `own` are what is left, and are negative where timers say more than there is.
 * Where the caller is not traced, timers of what is outside of the target's span make the call
 * longer instead.
 * Parts that nothing is known of are 0, and not among `told`. The target's completion callback
 * (t_cb) overlaps the way back of the answer, so it stands beside the sum. */
enum pythia_call_part {
    PYTHIA_CALL_IN_SER,      /* the caller writes the request */
    PYTHIA_CALL_RDMA,        /* the target fetches it */
    PYTHIA_CALL_HANDLER,     /* it waits in the target's queue */
    PYTHIA_CALL_IN_DESER,    /* the target reads it */
    PYTHIA_CALL_CALLS,       /* the target waits for calls of its own */
    PYTHIA_CALL_OWN,         /* all else that the target does */
    PYTHIA_CALL_OUT_SER,     /* the target writes the answer */
    PYTHIA_CALL_O_CB,        /* the caller takes it */
    PYTHIA_CALL_UNACCOUNTED, /* the rest: the network, and whatever has no trace point */
    PYTHIA_CALL_PARTS,
    PYTHIA_CALL_T_CB = PYTHIA_CALL_PARTS, /* beside the sum: the target after its answer */
    PYTHIA_CALL_TIMES
};

/* "in_ser" and so on, as in keys and JSON; and what a person reads. */
const char *pythia_call_part_name(enum pythia_call_part part);
const char *pythia_call_part_words(enum pythia_call_part part);

struct pythia_call {
    uint32_t client, server; /* indexes of spans; PYTHIA_NO_SPAN: not traced. The first server */
    uint32_t caller;         /* index of the call whose target made this one; PYTHIA_NO_SPAN */
    uint32_t told;           /* bit 1 << part: it is known */
    int64_t origin_ns;
    int64_t parts_ns[PYTHIA_CALL_TIMES];
};

/* Spans of trace points whose id matches the pattern (fnmatch) tell of that part. */
struct pythia_call_rule {
    enum pythia_call_part part; /* one that is told of: not calls, own or unaccounted */
    const char *pattern;
};

/* exec of the identity above: what the target did from the start of its span to the end. */
int64_t pythia_call_exec_ns(const struct pythia_call *call);

/* Finds the calls of one trace after the other, in memory that it keeps. One thread at a time. */
struct pythia_call_parts;

/* `vocabulary` and `rules` are borrowed; rules come before names. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_call_parts_create(const struct pythia_vocabulary *vocabulary,
                             const struct pythia_call_rule *rules, size_t count,
                             struct pythia_call_parts **out);
void pythia_call_parts_destroy(struct pythia_call_parts *c); /* c may be NULL */

/* The calls of a trace, callers before those that they lead to; borrowed until the next call.
 * PYTHIA_OK or PYTHIA_ENOMEM. O(spans + key-values of client and server spans). */
int pythia_call_parts_find(struct pythia_call_parts *c, const struct pythia_trace *trace,
                           const struct pythia_call **calls, uint32_t *count);

#endif
