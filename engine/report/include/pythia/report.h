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
    const struct pythia_loop *loop; /* how it came to that, cycle by cycle; NULL: it was one look */
    const struct pythia_verdicts *verdicts; /* of the loop, or of the one look; NULL: none */
    bool brief; /* leave out what TEXT and MARKDOWN do not show; no other form may be made of it */
};

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
