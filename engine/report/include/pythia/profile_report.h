#ifndef PYTHIA_PROFILE_REPORT_H
#define PYTHIA_PROFILE_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "pythia/buf.h"
#include "pythia/profile.h"
#include "pythia/report.h"

/* The order of the rows of a profile, the largest first. */
enum pythia_profile_sort {
    PYTHIA_PROFILE_SORT_TOTAL,
    PYTHIA_PROFILE_SORT_EXCLUSIVE,
    PYTHIA_PROFILE_SORT_COUNT,
    PYTHIA_PROFILE_SORT_P99,
    PYTHIA_PROFILE_SORT_VARIANCE,
    PYTHIA_PROFILE_SORT_COV,
};

enum pythia_profile_format {
    PYTHIA_PROFILE_TEXT,
    PYTHIA_PROFILE_JSON, /* pythia-report(5) */
    PYTHIA_PROFILE_MARKDOWN,
    PYTHIA_PROFILE_HTML,
    PYTHIA_PROFILE_DOT, /* services and the calls between them; needs processes */
};

struct pythia_profile_view {
    size_t top;           /* rows that are shown */
    const char *callpath; /* only rows whose name matches it (fnmatch); NULL: all */
    enum pythia_profile_sort sort;
    enum pythia_profile_format format;
    bool instances, pairs; /* what each process, and each pair of processes has; needs processes */
    bool slots;            /* over time; needs slots */
    size_t width;          /* of the text, columns */
    bool colour, ascii;    /* of the text: with escape sequences; with nothing but ASCII */
};

/* Append the report. PYTHIA_OK or PYTHIA_ENOMEM. O(n log n) for n rows and parts. */
int pythia_profile_write(const struct pythia_profile *p, const struct pythia_profile_view *view,
                         struct pythia_buf *out);

#endif
