#ifndef PYTHIA_PROBE_HIT_H
#define PYTHIA_PROBE_HIT_H

#include <stdint.h>

#include "pythia/usdt_operand.h"

/* The record that the program at a site writes to a ring for each hit:
 *
 *     | head, 24 bytes | values, 8 bytes for each argument | texts, 256 bytes if there are any |
 *
 * An argument is sign- or zero-extended; what cannot be read is 0. The value of an argument that is
 * a text is how many bytes were read of it, its NUL included, or below zero if it could not be
 * read; the texts share the 256 bytes in equal slots, in order of arguments.
 *
 * Of the hits of threads that are in no request one of PYTHIA_PROBE_OUTSIDE_ONE_OF is reported, by
 * chance, so that it is known what they cost: with PYTHIA_PROBE_OUTSIDE in its number, without
 * its thread (0) and arguments. */
struct pythia_probe_hit {
    uint64_t time_ns; /* CLOCK_MONOTONIC */
    uint64_t thread;  /* process id << 32 | thread id */
    uint32_t number;  /* of the attached probe, or that and PYTHIA_PROBE_OUTSIDE */
    uint16_t texts;   /* bit 0: the first argument is a text */
    uint16_t values;  /* how many arguments */
};

#define PYTHIA_PROBE_OUTSIDE        UINT32_C(0x80000000)
#define PYTHIA_PROBE_OUTSIDE_ONE_OF 64 /* a power of two */

#define PYTHIA_PROBE_TEXT_BYTES 256
#define PYTHIA_PROBE_TEXTS_MAX  4
#define PYTHIA_PROBE_HIT_BYTES_MAX                                                                 \
    (sizeof(struct pythia_probe_hit) + 8 * PYTHIA_USDT_OPERANDS_MAX + PYTHIA_PROBE_TEXT_BYTES)

#endif
