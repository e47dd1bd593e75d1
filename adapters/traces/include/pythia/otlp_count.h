/* How many spans a request of OTLP in protobuf has that comes bit by bit and is not kept, because
 * there is no room for it: whoever refuses it says how much was refused. */
#ifndef PYTHIA_OTLP_COUNT_H
#define PYTHIA_OTLP_COUNT_H

#include <stddef.h>
#include <stdint.h>

/* {0} before the first byte. Read `spans`; all else is its own. */
struct pythia_otlp_count {
    uint64_t spans;   /* so far */
    uint64_t left[3]; /* bytes, of the ResourceSpans (1) and the ScopeSpans (2) at hand */
    uint64_t number, skip;
    uint32_t field;
    uint8_t shift, depth, state;
};

/* The next bytes. A message that is broken is counted up to there. No memory is taken; the cost is
 * that of reading the tags, whatever the spans hold. */
void pythia_otlp_count_add(struct pythia_otlp_count *c, const char *bytes, size_t size);

#endif
