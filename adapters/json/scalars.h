/* Scalars of JSON as text. */
#ifndef PYTHIA_JSON_SCALARS_H
#define PYTHIA_JSON_SCALARS_H

#include "pythia/json.h"

/* The text that `raw`, with its escapes, stands for; it lives as long as the document. U+FFFD for
 * U+0000 and for half a surrogate pair. An error is recorded. */
int pythia__json_unescape(struct pythia_json *j, struct pythia_text raw, struct pythia_text *out);

/* Copy text, with U+FFFD for each byte that belongs to no UTF-8 sequence. */
int pythia__json_repair_utf8(struct pythia_json *j, struct pythia_text *text);

/* Does `text` have the form of a JSON number? */
bool pythia__json_is_number(struct pythia_text text);

/* The whole number that `text` is, if 64 bits hold it; zeros in front are no fault. */
bool pythia__json_uint64(struct pythia_text text, uint64_t *out);

#endif
