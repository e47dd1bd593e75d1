/* The rows of the table of exports, and what they share. */
#ifndef PYTHIA_EXPORTS_FORMATS_H
#define PYTHIA_EXPORTS_FORMATS_H

#include "pythia/attributes.h"
#include "pythia/export.h"
#include "pythia/shown_text.h"

extern const struct pythia_export_ops pythia__export_chrome;
extern const struct pythia_export_ops pythia__export_csv;
extern const struct pythia_export_ops pythia__export_dot;
extern const struct pythia_export_ops pythia__export_flamegraph;
extern const struct pythia_export_ops pythia__export_folded;
extern const struct pythia_export_ops pythia__export_jaeger;
extern const struct pythia_export_ops pythia__export_otlp;
extern const struct pythia_export_ops pythia__export_sql;
extern const struct pythia_export_ops pythia__export_zipkin;

/* Append a value as JSON; with `as_text`, as a string whatever it is. A number that JSON cannot
 * write becomes a string. */
void pythia__add_json_value(struct pythia_buf *out, const struct pythia_attribute *value,
                            bool as_text);

/* The key-values of a span and of whoever reported it, as members of a JSON object, the first
 * without a comma. */
void pythia__add_json_attributes(struct pythia_buf *out, const struct pythia_vocabulary *v,
                                 const struct pythia_trace_span *span, bool as_text);

/* The name of the spans of a trace point, or its whole id where that does not end with the name,
 * because it is made of more than service, scope and name. A point of a recording may have an id
 * only. Borrowed from the vocabulary. */
struct pythia_text pythia__find_span_name(const struct pythia_vocabulary *v, uint32_t tracepoint);

/* Is there a key-value of that key in packed ones? O(size). */
bool pythia__has_key(const struct pythia_vocabulary *v, struct pythia_text packed, const char *key);

/* The trace id as 32 hexadecimal digits. */
void pythia__add_trace_id(struct pythia_buf *out, struct pythia_trace_id id);

#endif
