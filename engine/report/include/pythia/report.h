#ifndef PYTHIA_REPORT_H
#define PYTHIA_REPORT_H

#include "pythia/buf.h"
#include "pythia/report_source.h"

enum pythia_report_format {
    PYTHIA_REPORT_TEXT, /* all of it, with full names */
    PYTHIA_REPORT_JSON, /* "pythia.report/1"; undefined numbers are null */
    PYTHIA_REPORT_MARKDOWN,
    PYTHIA_REPORT_HTML,  /* one file that needs no other */
    PYTHIA_REPORT_BRIEF, /* text: what was found, how sure it is and what to run next */
    PYTHIA_REPORT_FORMATS
};

/* A report, made once and then written in any form; nothing of its source is needed any more but
 * the vocabulary. One thread at a time. */
struct pythia_report;

/* Make what the forms in `forms` (a bit for each, 1 << PYTHIA_REPORT_JSON) are written from.
 * PYTHIA_OK with *out owned by the caller, or PYTHIA_ENOMEM. */
int pythia_report_create(const struct pythia_report_source *source, unsigned forms,
                         struct pythia_report **out);
void pythia_report_destroy(struct pythia_report *r); /* may be NULL */

/* The sentence about tracing in all formats from now on, copied; NULL: none. PYTHIA_OK or
 * PYTHIA_ENOMEM. */
int pythia_report_set_overhead(struct pythia_report *r,
                               const struct pythia_report_overhead *overhead);

/* Append the report in one of those forms. Control characters in names are escaped in text, markup
 * in Markdown and HTML. `view` is of text. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_report_write(const struct pythia_report *r, enum pythia_report_format format,
                        const struct pythia_report_view *view, struct pythia_buf *out);
/* Write only one member of the JSON. */
int pythia_report_write_member(const struct pythia_report *r, const char *member,
                               struct pythia_buf *out);

#endif
