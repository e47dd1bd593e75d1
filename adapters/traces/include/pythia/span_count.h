/* How many spans an input has that is not taken, told from what is around them while it comes bit
 * by bit: whoever refuses it says how much was refused. */
#ifndef PYTHIA_SPAN_COUNT_H
#define PYTHIA_SPAN_COUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* {0} before the first byte. Read `spans`; all else belongs to the format. */
struct pythia_span_count {
    uint64_t spans; /* so far */
    union {
        struct {
            uint64_t left[3]; /* bytes, of the ResourceSpans (1) and the ScopeSpans (2) at hand */
            uint64_t number, skip;
            uint32_t field, frame; /* frame: bytes left of the current message, if it has a size */
            uint8_t shift, depth, state, framing, size_bytes;
            uint8_t groups; /* that have begun and not ended */
        } protobuf;
        struct {
            uint64_t depth;  /* of brackets, but for arrays around everything */
            uint8_t on_path; /* so many of them are those in which spans are */
            bool in_text, escaped;
        } json;
    };
};

/* The next bytes of an input: a few nanoseconds for each span in protobuf, one for each byte or two
 * of JSON. What is broken is counted up to there. No memory is taken. */
typedef void pythia_span_counter(struct pythia_span_count *c, const char *bytes, size_t size);

#endif
