/* Counting the spans of a format in JSON by the brackets that they are in. */
#ifndef PYTHIA_TRACES_JSON_COUNT_H
#define PYTHIA_TRACES_JSON_COUNT_H

#include "pythia/span_count.h"

/* A span is an object whose brackets, from the outside, are those of `path`, the last of which is
 * its own. Arrays around everything are passed over. What members are called is not looked at:
 * a format in which the path alone does not say what is a span cannot be counted like this. */
void pythia__count_json_spans(struct pythia_span_count *c, const char *path, const char *bytes,
                              size_t size);

#endif
