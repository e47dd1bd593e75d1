/* SPDX-License-Identifier: MIT */
/* Structs that cross from a program to the library with their size, because the headers of the two
 * may be of different versions, of which the later one has more fields at the end. */
#ifndef PYTHIA_SIZED_H
#define PYTHIA_SIZED_H

#include <errno.h>
#include <stddef.h>
#include <string.h>

/* Take a struct of `from_bytes` of the program into one of `to_bytes` of the library. Fields that
 * the program does not have become 0. 0, or -E2BIG: a field that the library does not have is not
 * 0, and *to is untouched. */
static inline int pythia__sized_take(void *to, size_t to_bytes, const void *from, size_t from_bytes)
{
    const unsigned char *bytes = from;
    size_t common = from_bytes < to_bytes ? from_bytes : to_bytes;
    for (size_t i = common; i < from_bytes; i++)
        if (bytes[i] != 0)
            return -E2BIG;
    memcpy(to, from, common);
    memset((char *)to + common, 0, to_bytes - common);
    return 0;
}

/* Give a struct of `from_bytes` of the library to a program that has `to_bytes` for it. Fields that
 * the library does not have become 0, and those that the program does not have are left out. */
static inline void pythia__sized_give(void *to, size_t to_bytes, const void *from,
                                      size_t from_bytes)
{
    size_t common = from_bytes < to_bytes ? from_bytes : to_bytes;
    memcpy(to, from, common);
    memset((char *)to + common, 0, to_bytes - common);
}

#endif
