/* Statistics of series, and the formats of a report on them. */
#ifndef PYTHIA_SERIES_FORMS_H
#define PYTHIA_SERIES_FORMS_H

#include "document/document.h"
#include "pythia/series_report.h"

/* Statistics of one series. */
#define PYTHIA__SERIES_NUMBERS 8
struct pythia__series_summary {
    double numbers[PYTHIA__SERIES_NUMBERS]; /* named by pythia__series_names */
};
/* Their members in JSON, and their headings. */
extern const char *const pythia__series_names[PYTHIA__SERIES_NUMBERS][2];

struct pythia__series_result {
    const struct pythia_series_asked *asked;
    uint64_t first_ns, last_ns;               /* of all series */
    struct pythia__series_summary *summaries; /* owned: one for each series */
    uint64_t from_ns, step_ns;                /* of intervals */
    size_t intervals;                         /* 0: none were asked for */
    double *values; /* owned: [series * intervals + interval]; NaN: none */
};

/* "mean", "count", … of each interval. */
const char *pythia__resampling_name(enum pythia_resampling how);

/* ns since 1970 as "2026-11-21 18:24:00.123" (UTC). */
const char *pythia__series_time(uint64_t ns, char text[40]);

/* "queue length, process 17", "queue length / rps": what a person calls a series. */
void pythia__series_name(const struct pythia_series *s, const struct pythia_series *over,
                         struct pythia_buf *to);

/* Append them as a picture of its own. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__series_svg(const struct pythia__series_result *r, struct pythia_buf *out);
/* Draw them on a page. */
void pythia__series_draw(struct pythia__html *h, const void *result);

/* Build the document: with a picture of the intervals, or with their values. PYTHIA_OK or
 * PYTHIA_ENOMEM. */
int pythia__series_build(const struct pythia__series_result *r, bool picture,
                         struct pythia__doc *d);

#endif
