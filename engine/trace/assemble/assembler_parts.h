/* An array of open traces, each with a list of its spans, and a hash table of their ids. The traces
 * stand in two orders:
 *
 *   by their last span   in one of several queues: those that are finished once they have been
 *                        quiet, a queue for each of some waits, because types have senders that are
 *                        later than others; those that were looked at then, lack a silent sender,
 *                        and wait as long as any may; those that were partial, and wait for longer;
 *                        and those in which something runs, which wait for it
 *   by their first span  for those that never rest, and to shed the youngest first
 *
 * Forked work that was found to belong to another trace has its spans there, and is only a way to
 * it: it stands in neither order. */
#ifndef PYTHIA_TRACE_ASSEMBLER_PARTS_H
#define PYTHIA_TRACE_ASSEMBLER_PARTS_H

#include "pythia/arena.h"
#include "pythia/assembler.h"
#include "pythia/hash_table.h"
#include "span_list.h"
#include "trace_ids.h"

struct open_trace {
    struct pythia_trace_id id;
    union {
        struct open_trace *earlier;     /* in its queue */
        struct open_trace *merged_into; /* its spans are there: it was forked off that trace */
    };
    union {
        struct open_trace *later;
        struct open_trace *next_member;
    };
    struct open_trace *elder, *younger; /* by first tick */
    struct open_trace
        *members; /* traces merged into this one, by next_member; they may have some too */
    struct pythia__span_list list;
    uint64_t first_tick, last_tick;
    uint32_t spans; /* and parts of spans, of which … */
    uint32_t starts, stops;
    uint32_t start_at;         /* its index in the array of all */
    uint32_t kind;             /* a trace point that stands for its request type, PYTHIA_NONE */
    uint16_t origin;           /* of its first span */
    uint8_t queue;             /* which it is in */
    bool rooted : 1;           /* the kind is that of a root */
    bool off : 1;              /* the clock of a sender is: its start is by ours */
    bool pinned : 1, late : 1; /* late: it is in the list of late ones */
    bool merged : 1;
    bool split : 1; /* it has spans of another origin */
};

enum { QUIETS = 16, SILENT = QUIETS, PARTIAL, RUNNING, QUEUES }; /* 0 to QUIETS - 1: quiet */

/* When an open trace began, beside each other for all of them; UINT64_MAX for one that was merged,
 * whose spans are another's. */
struct start {
    uint64_t ns;
    struct open_trace *trace;
};

struct queue {
    struct open_trace *oldest, *newest;
};

struct pythia_assembler {
    struct pythia_assembler_options options;
    struct pythia_trace_taker taker;
    struct pythia_counts *counts;
    struct pythia_trace_builder *builder;
    size_t builder_bytes;
    struct queue queues[QUEUES];
    struct pythia_assembler_sender *senders; /* scratch: of a trace */
    size_t sender_count, sender_capacity;
    struct pythia_arena attributes; /* of the spans that the builder was given; kept in a tick */
    struct open_trace *eldest, *youngest;
    struct open_trace *spare;
    size_t trace_count, spare_count; /* allocated, and of them spare */
    struct pythia__span_pool pool;
    size_t *kinds; /* scratch: bytes of open traces, by the trace point that stands for them */
    size_t kind_capacity;
    uint64_t gathered;    /* spans that were given to the builder */
    struct start *starts; /* of all open traces, in no order */
    size_t start_count, start_capacity;
    struct pythia_hash_table by_id; /* of the same */
    uint64_t hash_seed;
    uint64_t cut_ns;   /* what was last asked for by _began_by, */
    size_t before_cut; /* and how many open traces had begun by then */
    uint64_t tick;
    uint16_t origin;           /* of spans that are added now */
    uint64_t unix_ns, late_ns; /* of tick 0, by our clock; after which spans arrive */
    struct pythia__finished_ids finished;
    struct pythia__pinned_ids pinned;
    struct pythia_trace_id *late;
    size_t late_count, late_capacity;
    struct pythia_assembler_numbers numbers;
};

/* Give spare memory back to the heap. */
void pythia__assembler_free_spare(struct pythia_assembler *a);

/* Forget an open trace, with those that were merged into it; what comes for it later is counted by
 * how it ended, or, with PYTHIA__ENDED_NOT, begins it again. PYTHIA_OK, or PYTHIA_ENOMEM: it is
 * gone, and its id is not known. */
int pythia__assembler_end_trace(struct pythia_assembler *a, struct open_trace *t,
                                enum pythia__ending ending);

#endif
