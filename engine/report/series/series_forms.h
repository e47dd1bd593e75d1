/* What the forms of a report on series share. */
#ifndef PYTHIA_SERIES_FORMS_H
#define PYTHIA_SERIES_FORMS_H

#include <jansson.h>

#include "pythia/buf.h"

/* A number with six digits, for a person; "-" where there is none. */
const char *pythia__series_number(const json_t *value, char text[32]);

/* ns since 1970 as "2026-11-21 18:24:00.123" (UTC). */
const char *pythia__series_time(json_int_t ns, char text[40]);

/* "queue length, process 17", "queue length by rps": what a person calls an entry. */
void pythia__series_name(const json_t *entry, struct pythia_buf *to);

/* Append the report as a page, as a picture. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__series_html(const json_t *report, struct pythia_buf *out);
int pythia__series_svg(const json_t *report, struct pythia_buf *out);

/* Columns of the statistics: their member and heading. */
extern const struct pythia__series_column {
    const char *key, *heading;
} pythia__series_columns[];
#define PYTHIA__SERIES_COLUMNS 9

#endif
