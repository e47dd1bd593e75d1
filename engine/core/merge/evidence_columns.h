/* A column of whole numbers: how rows are made small. Times of one edge are of one size, and often
 * multiples of a microsecond; their last digits are noise, which nothing compresses. So a column is
 * written in bits, not bytes, and as many as its numbers have:
 *
 *     varint lowest (zigzag) | varint unit | varint form | bits
 *
 * Bits hold the step (number - lowest) / unit of each number, the low bit first, and zeros up to
 * a whole byte. Form 2 * w: each step has w bits. Form 2 * w + 1 (Rice's code, for few large
 * steps among small ones): the quotient step >> w as so many zeros and a one, and then w
 * bits; or 24 zeros and the step in 64 bits, where the quotient is 24 or more. A unit of 0 says
 * that all numbers are equal, and nothing follows it.
 *
 * R. F. Rice, "Some practical universal noiseless coding techniques", JPL 79-22, 1979. */
#ifndef PYTHIA_CORE_EVIDENCE_COLUMNS_H
#define PYTHIA_CORE_EVIDENCE_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/buf.h"
#include "pythia/text.h"

/* Append a varint, and a number that may be negative as one. */
void pythia__column_put_varint(struct pythia_buf *to, uint64_t number);
static inline uint64_t pythia__zigzag(int64_t number)
{
    return (uint64_t)number << 1 ^ (number < 0 ? UINT64_MAX : 0);
}
static inline int64_t pythia__unzigzag(uint64_t number)
{
    return (int64_t)(number >> 1 ^ (number & 1 ? UINT64_MAX : 0));
}

/* Append `count` >= 1 numbers, which are overwritten. */
void pythia__column_put(struct pythia_buf *to, int64_t *numbers, size_t count);

/* Take a varint off the front of `from`: false if there is none. */
bool pythia__column_varint(struct pythia_text *from, uint64_t *number);

/* Read `count` >= 1 numbers into numbers[i * stride]: false unless the column has so many. */
bool pythia__column_read(struct pythia_text column, int64_t *numbers, size_t count, size_t stride);

#endif
