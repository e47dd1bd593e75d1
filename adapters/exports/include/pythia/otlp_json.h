/* Shared by the export of traces as OTLP/JSON and by their generator. */
#ifndef PYTHIA_OTLP_JSON_H
#define PYTHIA_OTLP_JSON_H

#include "pythia/attributes.h"
#include "pythia/buf.h"

/* Append a value as OTLP/JSON has it: whole numbers are strings, because JavaScript has none of 64
 * bits, and what JSON cannot write is "NaN", "Infinity" or "-Infinity". O(length); a failure shows
 * in the buffer, as for all that appends. */
void pythia_otlp_json_value(struct pythia_buf *out, const struct pythia_attribute *value);

#endif
