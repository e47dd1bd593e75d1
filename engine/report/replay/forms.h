/* The forms of a report, each made of its JSON. */
#ifndef PYTHIA_REPORT_FORMS_H
#define PYTHIA_REPORT_FORMS_H

#include <stdbool.h>

#include <jansson.h>

#include "pythia/buf.h"

/* Append the report in this form. Without memory `out` has failed. */
void pythia__report_text(const json_t *report, bool colour, struct pythia_buf *out);
void pythia__report_markdown(const json_t *report, struct pythia_buf *out);

#endif
