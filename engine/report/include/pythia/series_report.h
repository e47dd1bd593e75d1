#ifndef PYTHIA_SERIES_REPORT_H
#define PYTHIA_SERIES_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/buf.h"
#include "pythia/resample.h"
#include "pythia/series.h"
#include "pythia/series_files.h"

struct json_t;

/* What is asked of series; all borrowed. */
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

/* Statistics of series as a JSON document, "pythia.series/1" (pythia-measurements(5)); the other
 * forms are made of it. NULL when out of memory, or for more intervals than that (*too_many); the
 * caller gives it back with json_decref. Undefined numbers are null. */
struct json_t *pythia_series_report_json(const struct pythia_series_asked *asked, bool *too_many);

enum pythia_series_format {
    PYTHIA_SERIES_TEXT,
    PYTHIA_SERIES_JSON,
    PYTHIA_SERIES_MARKDOWN,
    PYTHIA_SERIES_HTML,
    PYTHIA_SERIES_SVG,
};

/* Append the document in a form. HTML is one file that needs no other. PYTHIA_OK or PYTHIA_ENOMEM.
 */
int pythia_series_report_write(const struct json_t *report, enum pythia_series_format format,
                               struct pythia_buf *out);

#endif
