#ifndef PYTHIA_BREAKDOWN_REPORT_H
#define PYTHIA_BREAKDOWN_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "pythia/buf.h"
#include "pythia/call_parts.h"
#include "pythia/call_summary.h"
#include "pythia/report.h"
#include "pythia/trace.h"
#include "pythia/vocabulary.h"

/* The parts of calls between services (call_parts.h), added up by callpath: calls between the
 * same two trace points that were made by calls of the same callpath. All sums are whole ns, so the
 * report is the same for any order of requests and any number of threads. A request that a sampler
 * kept counts as often as it stands for (sampling.h). One thread at a time. */
struct pythia_breakdown;

/* `vocabulary` and `rules` are borrowed. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_breakdown_create(const struct pythia_vocabulary *vocabulary,
                            const struct pythia_call_rule *rules, size_t count,
                            struct pythia_breakdown **out);
void pythia_breakdown_destroy(struct pythia_breakdown *b); /* b may be NULL */

/* Add the calls of a request. PYTHIA_OK or PYTHIA_ENOMEM. O(spans). */
int pythia_breakdown_add(struct pythia_breakdown *b, const struct pythia_trace *trace);

/* Add calls that programs have summed up, both sides of all of them together: an interval has the
 * mean of the calls on the side that has measured it. Once, and no requests. PYTHIA_OK or
 * PYTHIA_ENOMEM. O(summaries * depth). */
int pythia_breakdown_add_summaries(struct pythia_breakdown *b,
                                   const struct pythia_call_summary *summaries, size_t count);

struct pythia_breakdown_view {
    size_t top;                       /* callpaths that are shown, those with most time first */
    const char *callpath;             /* only those whose name matches it (fnmatch); NULL: all */
    enum pythia_report_format format; /* TEXT, JSON (pythia-report(5)), MARKDOWN or HTML */
    size_t width;                     /* of the text, columns */
    bool colour, ascii; /* of the text: with escape sequences; with nothing but ASCII */
};

/* Append the report. PYTHIA_OK or PYTHIA_ENOMEM. O(callpaths log callpaths). */
int pythia_breakdown_write(const struct pythia_breakdown *b,
                           const struct pythia_breakdown_view *view, struct pythia_buf *out);

#endif
