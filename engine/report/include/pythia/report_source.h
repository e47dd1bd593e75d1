/* The input of a report, and how it is shown. */
#ifndef PYTHIA_REPORT_SOURCE_H
#define PYTHIA_REPORT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/closed_loop.h"
#include "pythia/diagnosis.h"
#include "pythia/expectation_judge.h"
#include "pythia/groups.h"
#include "pythia/pipeline.h"
#include "pythia/saturated.h"
#include "pythia/strategy.h"

/* The share of the time of requests that tracing takes, and the trace points closed because of
 * it. */
#define PYTHIA_REPORT_DROPPED 1000 /* listed; the count is of all */
struct pythia_report_overhead {
    double share, limit, cost_ns; /* share and cost_ns NaN: not known yet */
    uint64_t requests, dropped_count;
    bool beyond_limit;
    size_t listed;
    struct {
        uint32_t tracepoint;
        double share, explained; /* of the time; of the variance, that lay in it */
        const char *reason;      /* a literal */
    } dropped[PYTHIA_REPORT_DROPPED];
};

/* Everything a report is made of; all borrowed. */
struct pythia_report_source {
    const char *const *paths; /* what the user named, in order of text */
    size_t path_count;
    const char *events; /* rules that it was read by; NULL: none */
    bool live;          /* it came as a stream, not from files */
    const struct pythia_pipeline_result *input;
    const struct pythia_vocabulary *vocabulary;
    const struct pythia_groups *groups;
    const struct pythia_diagnosis *diagnosis;
    const struct pythia_suggestion *next;
    size_t next_count;
    struct pythia_open_points *open; /* NULL: all points that were seen */
    enum pythia_measure measure;
    size_t min_requests;            /* that a group needed to be diagnosed; 0: 30 */
    const struct pythia_loop *loop; /* how it came to that, cycle by cycle; NULL: it was one look */
    const struct pythia_verdicts *verdicts; /* of the loop, or of the one look; NULL: none */
    const struct pythia_expectations *expectations; /* of the requests; NULL: none, */
    const struct pythia_expected_results *expected; /* and what came of them; NULL: none */
    bool all; /* the short form lists everything, in as many lines as that takes */
    const struct pythia_saturated_limit *limits; /* of keys, where they are known */
    size_t limit_count;
    const char *trace_url; /* of a trace in another tool, with {trace_id} in it; NULL: none */
    const struct pythia_saturated *saturated; /* NULL: they are looked for, by the limits */
    const struct pythia__index *index;        /* the report's own */
};

/* How text is shown. */
struct pythia_report_view {
    size_t width; /* columns of the terminal, at least PYTHIA_REPORT_WIDTH_MIN; 0: 100 */
    bool colour;
    bool ascii; /* the terminal shows nothing else */
};
#define PYTHIA_REPORT_WIDTH_MIN 72
#define PYTHIA_REPORT_LINES     40 /* of the short form, at most */

#endif
