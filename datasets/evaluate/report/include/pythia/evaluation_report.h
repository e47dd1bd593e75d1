#ifndef PYTHIA_EVALUATION_REPORT_H
#define PYTHIA_EVALUATION_REPORT_H

#include <stdbool.h>

#include "pythia/buf.h"
#include "pythia/error.h"
#include "pythia/evaluation.h"

struct json_t;

/* What an evaluation came to as a JSON document, "pythia.evaluation/1"; the other forms are made of
 * it. Of trials that were not run it says so. With `times` it tells how long decisions took, which
 * is another time each time. NULL when out of memory; the caller gives it back with json_decref.
 * Undefined numbers are null. */
struct json_t *pythia_evaluation_report_json(const struct pythia_evaluation *e, bool times);

/* The document in a file. On success *out is owned by the caller (json_decref), on failure it is
 * untouched. PYTHIA_OK, PYTHIA_EIO, PYTHIA_EFORMAT or PYTHIA_ENOMEM, with the reason in `e`. */
int pythia_evaluation_report_read(const char *path, struct json_t **out, struct pythia_error *e);

enum pythia_evaluation_format {
    PYTHIA_EVALUATION_TEXT,
    PYTHIA_EVALUATION_JSON,
    PYTHIA_EVALUATION_CSV, /* RFC 4180, but for its line ends: a line a problem and strategy */
    PYTHIA_EVALUATION_MARKDOWN,
    PYTHIA_EVALUATION_SVG, /* cycles against trace points opened; it needs no other file */
};

/* Append the document in a form. `colour` is for TEXT on a terminal. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_evaluation_report_write(const struct json_t *report,
                                   enum pythia_evaluation_format format, bool colour,
                                   struct pythia_buf *out);

#endif
