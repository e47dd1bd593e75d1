/* SPDX-License-Identifier: MIT */
#include "names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MARK_BYTES 20 /* "...#" and 16 digits */

uint64_t pythia__fnv(const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* Bytes of the character of UTF-8 that begins here; 0 if none does (The Unicode Standard, table
 * 3-7), or if it is NUL. */
static size_t utf8_size(const unsigned char *at, size_t left)
{
    unsigned char c = at[0];
    if (c < 0x80)
        return c != 0;
    size_t size = c >= 0xC2 && c <= 0xDF   ? 2
                  : c >= 0xE0 && c <= 0xEF ? 3
                  : c >= 0xF0 && c <= 0xF4 ? 4
                                           : 0;
    if (size == 0 || size > left)
        return 0;
    unsigned char low = c == 0xE0   ? 0xA0
                        : c == 0xF0 ? 0x90
                                    : 0x80,
                  high = c == 0xED   ? 0x9F
                         : c == 0xF4 ? 0x8F
                                     : 0xBF;
    if (at[1] < low || at[1] > high)
        return 0;
    for (size_t i = 2; i < size; i++)
        if ((at[i] & 0xC0) != 0x80)
            return 0;
    return size;
}

size_t pythia__name_clean(const char *name, size_t bytes, char *out, size_t most, int *cut)
{
    const unsigned char *from = (const unsigned char *)name;
    size_t used = 0, fits = 0, at = 0; /* fits: so much leaves room for the mark */
    while (at < bytes) {
        size_t size = utf8_size(from + at, bytes - at), wanted = size ? size : 3;
        if (used + wanted > most)
            break;
        memcpy(out + used, size ? name + at : "\xEF\xBF\xBD", wanted);
        used += wanted;
        at += size ? size : 1;
        if (used + MARK_BYTES <= most)
            fits = used;
    }
    if (cut)
        *cut = at < bytes;
    if (at == bytes)
        return used;
    char mark[MARK_BYTES + 1];
    snprintf(mark, sizeof(mark), "...#%016" PRIx64, pythia__fnv(name, bytes));
    memcpy(out + fits, mark, MARK_BYTES);
    return fits + MARK_BYTES;
}

/* After a star, try again one byte further on: no recursion, and at worst bytes * pattern_bytes. */
int pythia__name_matches(const char *pattern, size_t pattern_bytes, const char *name, size_t bytes)
{
    size_t p = 0, n = 0, star = SIZE_MAX, retry = 0;
    while (n < bytes) {
        if (p < pattern_bytes && pattern[p] == '*') {
            star = p++;
            retry = n;
        } else if (p < pattern_bytes && (pattern[p] == '?' || pattern[p] == name[n])) {
            p++;
            n++;
        } else if (star != SIZE_MAX) {
            p = star + 1;
            n = ++retry;
        } else {
            return 0;
        }
    }
    while (p < pattern_bytes && pattern[p] == '*')
        p++;
    return p == pattern_bytes;
}
