#ifndef PYTHIA_COMPARE_REPORT_H
#define PYTHIA_COMPARE_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "pythia/buf.h"
#include "pythia/compare.h"
#include "pythia/grouping_key.h"
#include "pythia/pipeline.h"
#include "pythia/report.h"

struct json_t;

/* What one side was read from; all borrowed. */
struct pythia_compare_input {
    const char *const *paths; /* what the user named, in order of text */
    size_t path_count;
    const struct pythia_pipeline_result *result;
    const struct pythia_grouping_key *key; /* the same on both sides; NULL: there is none */
};

/* A comparison as a JSON document, "pythia.comparison/1"; the other forms are made of it. NULL when
 * out of memory; the caller gives it back with json_decref. Undefined numbers are null. */
struct json_t *pythia_compare_report_json(const struct pythia_comparison *c,
                                          const struct pythia_vocabulary *vocabulary,
                                          const struct pythia_compare_input *before,
                                          const struct pythia_compare_input *after);

/* Append the document in a form. `top` is how many edges, services, paths and trace points TEXT,
 * MARKDOWN and HTML show of each list; of the rest they say how many there are. `colour` is for
 * TEXT on a terminal. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_compare_report_write(const struct json_t *report, enum pythia_report_format format,
                                size_t top, bool colour, struct pythia_buf *out);

#endif
