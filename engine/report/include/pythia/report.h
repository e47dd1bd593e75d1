#ifndef PYTHIA_REPORT_H
#define PYTHIA_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/buf.h"
#include "pythia/closed_loop.h"
#include "pythia/diagnosis.h"
#include "pythia/groups.h"
#include "pythia/pipeline.h"
#include "pythia/strategy.h"

/* What tracing takes of the time of requests, and the trace points that are closed for it. */
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
    bool live; /* it came as a stream, not from files */
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
    bool all;              /* the short form lists everything, in as many lines as that takes */
    const char *trace_url; /* of a trace in another tool, with {trace_id} in it; NULL: none */
    const struct pythia__index *index; /* the report's own */
};

enum pythia_report_format {
    PYTHIA_REPORT_TEXT, /* all of it, with full names */
    PYTHIA_REPORT_JSON, /* "pythia.report/1"; undefined numbers are null */
    PYTHIA_REPORT_MARKDOWN,
    PYTHIA_REPORT_HTML,  /* one file that needs no other */
    PYTHIA_REPORT_BRIEF, /* text: what was found, how sure it is and what to run next */
    PYTHIA_REPORT_FORMATS
};

/* How text is shown. */
struct pythia_report_view {
    size_t width; /* columns of the terminal, at least PYTHIA_REPORT_WIDTH_MIN; 0: 100 */
    bool colour;
    bool ascii; /* the terminal shows nothing else */
};
#define PYTHIA_REPORT_WIDTH_MIN 72
#define PYTHIA_REPORT_LINES     40 /* of the short form, at most */

/* A report, made once and then written in any form; nothing of its source is needed any more but
 * the vocabulary. One thread at a time. */
struct pythia_report;

/* Make what the forms in `forms` (a bit for each, 1 << PYTHIA_REPORT_JSON) are written from.
 * PYTHIA_OK with *out owned by the caller, or PYTHIA_ENOMEM. */
int pythia_report_create(const struct pythia_report_source *source, unsigned forms,
                         struct pythia_report **out);
void pythia_report_destroy(struct pythia_report *r); /* may be NULL */

/* What the forms say of tracing from now on, copied; NULL: nothing. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_report_set_overhead(struct pythia_report *r,
                               const struct pythia_report_overhead *overhead);

/* Append the report in one of those forms. Control characters in names are escaped in text, markup
 * in Markdown and HTML. `view` is of text. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_report_write(const struct pythia_report *r, enum pythia_report_format format,
                        const struct pythia_report_view *view, struct pythia_buf *out);
/* Of the JSON one member alone. */
int pythia_report_write_member(const struct pythia_report *r, const char *member,
                               struct pythia_buf *out);

#endif
