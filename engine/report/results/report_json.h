/* The report as JSON, "pythia.report/1". */
#ifndef PYTHIA_REPORT_REPORT_JSON_H
#define PYTHIA_REPORT_REPORT_JSON_H

#include <jansson.h>

#include "pythia/report_source.h"

/* Undefined numbers are null. NULL when out of memory; owned by the caller. */
json_t *pythia__report_json(const struct pythia_report_source *source);

/* "overhead" of a report; likewise. */
json_t *pythia__json_overhead(const struct pythia_vocabulary *vocabulary,
                              const struct pythia_report_overhead *overhead);

#endif
