#ifndef PYTHIA_SERIES_REPORT_H
#define PYTHIA_SERIES_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/buf.h"
#include "pythia/report.h"
#include "pythia/resample.h"
#include "pythia/series.h"
#include "pythia/series_files.h"

/* Which series and statistics to show; all borrowed. */
struct pythia_series_asked {
    const struct pythia_series *series; /* to show, in order */
    size_t count;
    const struct pythia_series *over; /* divide each by this one; NULL: do not */
    const struct pythia_series_files_result *input;
    double step_s; /* of intervals; 0: show none */
    enum pythia_resampling how;
    bool plotted; /* intervals also where step_s is 0: some 240 of them */
};

#define PYTHIA_SERIES_INTERVALS 10000000 /* of all series together, at most */

enum pythia_series_format {
    PYTHIA_SERIES_TEXT,
    PYTHIA_SERIES_JSON, /* "pythia.series/1" (pythia-measurements(5)); undefined numbers are null */
    PYTHIA_SERIES_MARKDOWN,
    PYTHIA_SERIES_HTML, /* one file that needs no other */
    PYTHIA_SERIES_SVG,
};

/* Append the statistics of series in a form. `view` is of TEXT. PYTHIA_OK, PYTHIA_ENOMEM, or
 * PYTHIA_EUSAGE for more intervals than that. */
int pythia_series_report_write(const struct pythia_series_asked *asked,
                               enum pythia_series_format format,
                               const struct pythia_report_view *view, struct pythia_buf *out);

#endif
