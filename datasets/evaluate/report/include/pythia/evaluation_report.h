#ifndef PYTHIA_EVALUATION_REPORT_H
#define PYTHIA_EVALUATION_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "pythia/buf.h"
#include "pythia/error.h"
#include "pythia/evaluation.h"

/* The results of an evaluation, from the trials themselves or from a file of "pythia.evaluation/1"
 * (pythia-evaluation(5)). Every format is written from it, so that both give the same bytes. */
struct pythia_evaluation_report;

/* Make the report of the trials that were run so far; the report says if some were not. With
 * `times` it has the durations of decisions, which differ from run to run. PYTHIA_OK with *out
 * owned, or PYTHIA_ENOMEM. */
int pythia_evaluation_report_create(const struct pythia_evaluation *e, bool times,
                                    struct pythia_evaluation_report **out);

/* Read a report from a file. Undefined and missing numbers are NaN. PYTHIA_OK with *out owned,
 * PYTHIA_EIO, PYTHIA_EFORMAT or PYTHIA_ENOMEM, with the reason in `e`. */
int pythia_evaluation_report_read(const char *path, struct pythia_evaluation_report **out,
                                  struct pythia_error *e);
void pythia_evaluation_report_destroy(struct pythia_evaluation_report *r); /* r may be NULL */

enum pythia_evaluation_format {
    PYTHIA_EVALUATION_TEXT,
    PYTHIA_EVALUATION_JSON,
    PYTHIA_EVALUATION_CSV, /* RFC 4180, but for its line ends: a line a problem and strategy */
    PYTHIA_EVALUATION_MARKDOWN,
    PYTHIA_EVALUATION_SVG, /* cycles against trace points opened; it needs no other file */
};

/* The terminal that TEXT is for. */
struct pythia_evaluation_view {
    size_t width;
    bool colour, ascii;
};

/* Append the report in a format. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_evaluation_report_write(const struct pythia_evaluation_report *r,
                                   enum pythia_evaluation_format format,
                                   const struct pythia_evaluation_view *view,
                                   struct pythia_buf *out);

#endif
