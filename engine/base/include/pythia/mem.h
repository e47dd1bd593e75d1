#ifndef PYTHIA_MEM_H
#define PYTHIA_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The heap of the whole project; tests make it fail on purpose. All are thread-safe. */

/* `count` zeroed elements of `size` bytes, owned by the caller; NULL when out of memory or when the
 * product overflows. Zero elements give a valid pointer too. */
void *pythia_calloc(size_t count, size_t size);

/* Make each of `count` arrays as pythia_calloc does; `array` is the address of the pointer to it.
 * PYTHIA_OK, or PYTHIA_ENOMEM: then some are made, and the others are as they were. */
struct pythia_array {
    void *array;
    size_t count, size;
};
int pythia_calloc_arrays(const struct pythia_array *arrays, size_t count);

/* Grow or shrink `p` (NULL: make it) to `count` elements of `size` bytes; what is new is not
 * zeroed. NULL when out of memory: then `p` is as it was and still owned by the caller. */
void *pythia_realloc(void *p, size_t count, size_t size);

/* `bytes`, not zeroed, for libraries that want a function like malloc. */
void *pythia_malloc(size_t bytes);

/* Give back what those above gave; NULL is fine. The owner of a text may have it by a pointer to
 * const, as struct pythia_text has, because nobody changes it. */
void pythia_free(const void *memory);

/* The same address for an interface of others that has forgotten the const of what it only reads
 * (curl, GnuTLS, nghttp2, zlib, execve). For nothing else. */
static inline void *pythia_without_const(const void *p)
{
    return (void *)(uintptr_t)p; /* NOLINT(performance-no-int-to-ptr): it was one */
}

/* A copy of `size` bytes with a NUL after them, owned by the caller; NULL when out of memory. */
char *pythia_strndup(const char *text, size_t size);

/* Make room for one more element in a growing array: the address of the pointer to its first
 * element, the address of its capacity (elements), the elements in use and the size of one.
 * Doubles; returns PYTHIA_OK or PYTHIA_ENOMEM, with the array unchanged. */
int pythia_grow(void *array, size_t *capacity, size_t used, size_t size);

/* Make room for the element `index` of such an array, whose new elements are zero. */
int pythia_reach(void *array, size_t *capacity, size_t index, size_t size);

/* How many of these allocations have failed so far, in all threads. For those who write a text of a
 * thousand pieces, each by a scratch of its own: if the number is another at the end, the text is
 * not whole, and there is no need to ask after each piece. */
unsigned long pythia_mem_failures(void);

/* Count a failure of an allocator that is not ours. */
void pythia_mem_note_failure(void);

/* Let `n` more allocations through, then fail every one; a negative `n` ends that. Tests only. */
void pythia_mem_fail_after(long n);

/* Count the bytes that are held, as the C library rounds them up, or end that. Counting begins with
 * 0, so that what was allocated before and is freed meanwhile makes it negative. Tests only. */
void pythia_mem_count(bool on);
long long pythia_mem_counted(void);

#endif
