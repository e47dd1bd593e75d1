#ifndef PYTHIA_REPORT_H
#define PYTHIA_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "pythia/buf.h"
#include "pythia/closed_loop.h"
#include "pythia/diagnosis.h"
#include "pythia/groups.h"
#include "pythia/pipeline.h"
#include "pythia/strategy.h"

struct json_t;

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
    bool brief; /* leave out what TEXT and MARKDOWN do not show; no other form may be made of it */
};

/* How the short form is shown. */
struct pythia_report_view {
    size_t width; /* columns of the terminal, at least 72; 0: 100 */
    bool colour;
    bool ascii;            /* the terminal shows nothing else */
    bool all;              /* everything is listed, in as many lines as that takes */
    const char *trace_url; /* of a trace in another tool, with {trace_id} in it; NULL: none */
};
#define PYTHIA_REPORT_LINES 40

/* Append the short form, for a terminal: what was found, how sure it is and what to run next, in at
 * most PYTHIA_REPORT_LINES lines of `width` columns. Names are as short as they can be without two
 * of them looking the same; control characters in them are escaped. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_report_brief(const struct pythia_report_source *source,
                        const struct pythia_report_view *view, struct pythia_buf *out);

/* The report as a JSON document, "pythia.report/1"; the other forms are made of it. NULL when out
 * of memory; the caller gives it back with json_decref. Undefined numbers are null. */
struct json_t *pythia_report_json(const struct pythia_report_source *source);

enum pythia_report_format {
    PYTHIA_REPORT_TEXT,
    PYTHIA_REPORT_JSON,
    PYTHIA_REPORT_MARKDOWN,
    PYTHIA_REPORT_HTML
};

/* Append the report in a form. `colour` is for TEXT on a terminal; control characters of names are
 * escaped there, markup in MARKDOWN and HTML. HTML is one file that needs no other. PYTHIA_OK or
 * PYTHIA_ENOMEM. */
int pythia_report_write(const struct json_t *report, enum pythia_report_format format, bool colour,
                        struct pythia_buf *out);

#endif
