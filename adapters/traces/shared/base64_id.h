/* Ids that are bytes, as the JSON of Protocol Buffers writes them: in base64. */
#ifndef PYTHIA_TRACES_BASE64_ID_H
#define PYTHIA_TRACES_BASE64_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/text.h"

/* Base64 of exactly `wanted` bytes (up to 16), of either alphabet, padded or not, as a big-endian
 * number. Returns false for any other text; the outputs are undefined then. */
bool pythia__parse_base64_id(struct pythia_text text, size_t wanted, uint64_t *high, uint64_t *low);

#endif
