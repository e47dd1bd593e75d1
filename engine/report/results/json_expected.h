/* Expectations in a report. */
#ifndef PYTHIA_REPORT_JSON_EXPECTED_H
#define PYTHIA_REPORT_JSON_EXPECTED_H

#include <jansson.h>

#include "pythia/report_source.h"
#include "write/json_writer.h"

/* "expectations" of a report. */
json_t *pythia__json_expected(struct pythia__json *w, const struct pythia_report_source *s);

#endif
