#ifndef PYTHIA_PROFILE_H
#define PYTHIA_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/call_summary.h"
#include "pythia/cct.h"
#include "pythia/critical_path.h"
#include "pythia/exact_moments.h"
#include "pythia/sketch.h"
#include "pythia/trace.h"

/* How often trace points were hit and how long their spans took, added up over requests: by calling
 * context, name or level; and if wanted by the process that they ran in, by the two processes of
 * each call, and over time. The callpath profile of Ramesh et al., "SYMBIOSYS: A Methodology for
 * Performance Analysis of Composable HPC Data Services", IPDPS 2021, section IV.A, of any depth.
 *
 * A request that a sampler kept counts as often as it stands for (sampling.h). The result is the
 * same for any order of requests. One thread at a time. */
struct pythia_profile;

enum pythia_profile_by {
    PYTHIA_PROFILE_CALLPATH, /* the chain of trace points from the root on */
    PYTHIA_PROFILE_NAME,     /* trace point */
    PYTHIA_PROFILE_LEAF,     /* trace point, of spans without children alone */
    PYTHIA_PROFILE_LEVEL,    /* trace point and level: 1 for a root */
};

struct pythia_profile_options {
    enum pythia_profile_by by;
    bool critical;               /* only the time that spans are on the critical path */
    enum pythia_latency latency; /* of critical paths, and of the time of requests */
    bool processes;              /* by process and by pair of processes as well */
    bool slots;                  /* over time as well */
};

/* Durations of spans, of which each counts with its weight. Of calls that were added as summaries
 * the moments have count and sum only, and there is no sketch. */
struct pythia_profile_times {
    struct pythia_exact_moments moments; /* ns; the weight is the count */
    struct pythia_sketch *sketch;        /* owned by the profile; NULL: of summaries */
    double squares; /* of summaries: the sum of squares about the mean, ns^2; NaN: not known */
    uint64_t min_ns, max_ns; /* of summaries */
};

/* On which side of a call between services the spans of a row are (call_parts.h). */
enum pythia_profile_side { PYTHIA_PROFILE_LOCAL, PYTHIA_PROFILE_ORIGIN, PYTHIA_PROFILE_TARGET };

#define PYTHIA_PROFILE_SLOTS 40

struct pythia_profile_row {
    uint32_t node;       /* by callpath: the context; else PYTHIA_NONE */
    uint32_t tracepoint; /* PYTHIA_NONE: time between the roots of a critical path */
    uint32_t level;      /* by level: 1 for a root; else 0 */
    enum pythia_profile_side side;
    uint32_t peer;         /* the service on the other side, a string; 0: it is not traced */
    bool peers;            /* there are others as well */
    uint64_t exclusive_ns; /* while none of their children ran */
    struct pythia_profile_times times;
    uint64_t *counts; /* spans that began in each slot; NULL: not wanted */
    uint64_t *ns;     /* their durations */
};

/* A process: spans of one service, host and instance. */
struct pythia_profile_process {
    uint32_t service, host, instance; /* strings; 0: not known */
};

/* The figures of one process in a row. */
struct pythia_profile_part {
    uint32_t row, process;
    uint64_t exclusive_ns; /* as of the row; 0 of summaries, which do not say it by process */
    struct pythia_profile_times times;
};

/* Calls of a row from one process to another. */
struct pythia_profile_pair {
    uint32_t row;            /* of the client span, or of the server span if there is no other */
    uint32_t origin, target; /* processes; PYTHIA_NONE: not traced */
    uint64_t calls;
    uint64_t origin_ns, target_ns; /* of the call as the origin sees it, and of the target's span */
    uint64_t origin_calls, target_calls; /* of summaries: as each side has counted them */
};

/* `vocabulary` is borrowed. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_profile_create(const struct pythia_vocabulary *vocabulary,
                          const struct pythia_profile_options *options,
                          struct pythia_profile **out);
void pythia_profile_destroy(struct pythia_profile *p); /* p may be NULL */

/* Add all spans of a request. PYTHIA_OK or PYTHIA_ENOMEM. O(spans). */
int pythia_profile_add(struct pythia_profile *p, const struct pythia_trace *trace);

/* Add all summaries of a measurement at once, and nothing else: own time is that of a callpath
 * without the callpaths below it, and a request is a call that no other has made. Not for leaves,
 * critical paths or slots. PYTHIA_OK or PYTHIA_ENOMEM. O(summaries * depth). */
int pythia_profile_add_summaries(struct pythia_profile *p,
                                 const struct pythia_call_summary *summaries, size_t count);

/* ---- what was added: all of it is borrowed until more is ---- */

struct pythia_profile_totals {
    uint64_t requests, seen; /* those that the seen ones stand for, and these */
    uint64_t spans;          /* in rows */
    uint64_t request_ns;     /* of all requests together */
    uint64_t calls;          /* between services, */
    uint64_t no_target;      /* of which the target has no span; */
    uint64_t no_origin;      /* or the caller has none, and is not the client of the request */
    uint64_t slot_ns;        /* time of a slot; 0: there are none */
    uint64_t first_slot_ns;  /* when the first one begins */
    size_t slots;            /* that are in use: up to PYTHIA_PROFILE_SLOTS */
};
struct pythia_profile_totals pythia_profile_totals(const struct pythia_profile *p);
const struct pythia_vocabulary *pythia_profile_vocabulary(const struct pythia_profile *p);
const struct pythia_cct *pythia_profile_cct(const struct pythia_profile *p); /* by callpath */

const struct pythia_profile_row *pythia_profile_rows(const struct pythia_profile *p, size_t *count);
const struct pythia_profile_part *pythia_profile_parts(const struct pythia_profile *p,
                                                       size_t *count);
const struct pythia_profile_pair *pythia_profile_pairs(const struct pythia_profile *p,
                                                       size_t *count);
const struct pythia_profile_process *pythia_profile_process(const struct pythia_profile *p,
                                                            uint32_t process);

/* A slot of a row's counts or ns, the earliest being 0. */
uint64_t pythia_profile_slot(const struct pythia_profile *p, const uint64_t *values, size_t slot);

/* An order by the names in them: the same in every process. Negative, 0 or positive. */
int pythia_profile_compare_rows(const struct pythia_profile *p, uint32_t a, uint32_t b);
int pythia_profile_compare_processes(const struct pythia_profile *p, uint32_t a, uint32_t b);

/* Statistics of durations, in ns and ns^2; NaN where they are not known, as quantiles of summaries,
 * or not defined. */
double pythia_profile_quantile(const struct pythia_profile_times *times, double q);
double pythia_profile_min(const struct pythia_profile_times *times);
double pythia_profile_max(const struct pythia_profile_times *times);
double pythia_profile_variance(const struct pythia_profile_times *times); /* unbiased */
double pythia_profile_cov(const struct pythia_profile_times *times);

/* The sum of durations in ns: exact below 2^64, else 2^64 - 1. */
uint64_t pythia_profile_sum_ns(const struct pythia_profile_times *times);

#endif
