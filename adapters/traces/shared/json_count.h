/* Counting the spans of a format in JSON by the brackets that they are in. */
#ifndef PYTHIA_TRACES_JSON_COUNT_H
#define PYTHIA_TRACES_JSON_COUNT_H

#include "pythia/span_count.h"

/* A span is an object whose brackets, from the outside, are those of `path`, the last of which is
 * its own. Arrays around everything are passed over. It is not looked at what members are called:
 * where the path alone does not tell a span, this is not for the format. */
void pythia__count_json_spans(struct pythia_span_count *c, const char *path, const char *bytes,
                              size_t size);

#endif
