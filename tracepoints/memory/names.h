/* SPDX-License-Identifier: MIT */
/* Names: what is made of the bytes that a program gives, and how patterns fit them. */
#ifndef PYTHIA_NAMES_H
#define PYTHIA_NAMES_H

#include <stddef.h>
#include <stdint.h>

/* FNV-1a, 64 bits (Fowler, Noll, Vo; draft-eastlake-fnv). */
uint64_t pythia__fnv(const void *bytes, size_t size);

/* A name of at most `most` bytes into `out`, as UTF-8: each byte that is none, and NUL, becomes
 * U+FFFD, as a reader of JSON would have it. A name that is longer ends in "...#" and the 16 digits
 * of a hash of all of it. Returns its bytes; *cut (NULL: not asked for) is whether it was longer.
 */
size_t pythia__name_clean(const char *name, size_t bytes, char *out, size_t most, int *cut);

/* Does a name fit a pattern, in which * is any bytes and ? is one? */
int pythia__name_matches(const char *pattern, size_t pattern_bytes, const char *name, size_t bytes);

#endif
