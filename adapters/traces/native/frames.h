/* Frames out of bytes: pythia/records.h. */
#ifndef PYTHIA_NATIVE_FRAMES_H
#define PYTHIA_NATIVE_FRAMES_H

#include <pythia/records.h>

#include "pythia/buf.h"
#include "pythia/source.h"

/* The number of `size` bytes, at most 8, that stands somewhere: records are little-endian. */
static inline uint64_t pythia__little(const void *at, size_t size)
{
    const unsigned char *bytes = at;
    uint64_t number = 0;
    for (size_t i = size; i > 0; i--)
        number = number << 8 | bytes[i - 1];
    return number;
}

/* A member of a record or a frame, whose bytes begin at `at`. */
#define PYTHIA__MEMBER(at, record, member)                                                         \
    pythia__little((const unsigned char *)(at) + offsetof(struct record, member),                  \
                   sizeof(((struct record *)0)->member))

/* Read a double of 8 bytes, little-endian whatever the machine is. `at` may be unaligned. */
double pythia__little_real(const void *at);

struct pythia__frames {
    struct pythia_source *from; /* borrowed */
    struct pythia_buf bytes;    /* read, and not yet passed on: from `at` */
    size_t at;
    uint64_t offset; /* of the byte at `at`, in the source */
    uint64_t number; /* of the current frame, from 1 */
    bool ended;
    struct pythia_error cause; /* why the source failed: told when what was read is used up */
};

struct pythia__frame_read {
    struct pythia_frame header;
    struct pythia_text payload; /* borrowed until the next call */
    uint64_t offset;            /* of the payload, in the source */
    uint64_t missing;           /* bytes of the payload that are not there */
};

/* Begin with {.from = source}. */
void pythia__frames_free(struct pythia__frames *f);

/* The next frame: 0; 1 at the end; PYTHIA_EFORMAT for something that is none and was passed over,
 * with the reason in `why`: ask again; or another negative status when the source fails. A frame
 * that another one begins in, or that the input ends in, was cut short: its payload ends there. */
int pythia__frames_next(struct pythia__frames *f, struct pythia__frame_read *out,
                        struct pythia_error *why);

#endif
