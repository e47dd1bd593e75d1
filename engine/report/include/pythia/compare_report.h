#ifndef PYTHIA_COMPARE_REPORT_H
#define PYTHIA_COMPARE_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "pythia/buf.h"
#include "pythia/compare.h"
#include "pythia/grouping_key.h"
#include "pythia/pipeline.h"
#include "pythia/report.h"

/* The input of one side; all borrowed. */
struct pythia_compare_input {
    const char *const *paths; /* what the user named, in order of text */
    size_t path_count;
    const struct pythia_pipeline_result *result;
    const struct pythia_grouping_key *key; /* the same on both sides; NULL: there is none */
};

/* The input of a report of a comparison; all borrowed. */
struct pythia_compare_source {
    const struct pythia_comparison *comparison;
    const struct pythia_vocabulary *vocabulary;
    const struct pythia_compare_input *before, *after;
    size_t top; /* edges, services, paths and trace points of each list that are shown; of the rest
                   it is said how many there are. JSON has all */
};

/* Append the report in a form; as JSON it is "pythia.comparison/1", with null for numbers that are
 * undefined. `view` is of TEXT and BRIEF. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_compare_report_write(const struct pythia_compare_source *source,
                                enum pythia_report_format format,
                                const struct pythia_report_view *view, struct pythia_buf *out);

#endif
