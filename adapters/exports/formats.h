/* The rows of the table of exports, and what they share. */
#ifndef PYTHIA_EXPORTS_FORMATS_H
#define PYTHIA_EXPORTS_FORMATS_H

#include "pythia/attributes.h"
#include "pythia/export.h"

extern const struct pythia_export_ops pythia__export_chrome;
extern const struct pythia_export_ops pythia__export_dot;
extern const struct pythia_export_ops pythia__export_folded;
extern const struct pythia_export_ops pythia__export_zipkin;

/* Append text as a JSON string, quotes included. */
void pythia__add_json_string(struct pythia_buf *out, struct pythia_text text);

/* The key-values of a span and of whoever reported it, as members of a JSON object, the first
 * without a comma. */
void pythia__add_json_attributes(struct pythia_buf *out, const struct pythia_vocabulary *v,
                                 const struct pythia_trace_span *span, bool as_text);

/* The trace id as 32 hexadecimal digits. */
void pythia__add_trace_id(struct pythia_buf *out, struct pythia_trace_id id);

#endif
