#include "pythia/mem.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pythia/status.h"

static atomic_long allocations_left = -1;
static atomic_ulong failures;

static atomic_bool counting;
static atomic_llong counted;

void pythia_mem_count(bool on)
{
    atomic_store(&counted, 0);
    atomic_store(&counting, on);
}

long long pythia_mem_counted(void)
{
    return atomic_load(&counted);
}

/* Bytes of a block, 0 while nobody counts: asking the allocator is not free. */
static long long block_bytes(void *p)
{
    return p && atomic_load_explicit(&counting, memory_order_relaxed)
               ? (long long)malloc_usable_size(p)
               : 0;
}

static void *note_block(void *p)
{
    long long bytes = block_bytes(p);
    if (bytes)
        atomic_fetch_add_explicit(&counted, bytes, memory_order_relaxed);
    return p;
}

static bool may_allocate(void)
{
    long left = atomic_load_explicit(&allocations_left, memory_order_relaxed);
    while (left >
           0) /* another thread may take the last one in between: then 0 must not become -1 */
        if (atomic_compare_exchange_weak_explicit(&allocations_left, &left, left - 1,
                                                  memory_order_relaxed, memory_order_relaxed))
            return true;
    return left != 0;
}

void pythia_mem_note_failure(void)
{
    atomic_fetch_add_explicit(&failures, 1, memory_order_relaxed);
}

static void *count_failure(void *got)
{
    if (!got)
        pythia_mem_note_failure();
    return got;
}

void *pythia_calloc(size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size)
        return count_failure(NULL);
    return count_failure(may_allocate() ? note_block(calloc(count ? count : 1, size ? size : 1))
                                        : NULL);
}

int pythia_calloc_arrays(const struct pythia_array *arrays, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        void *made = pythia_calloc(arrays[i].count, arrays[i].size);
        if (!made)
            return PYTHIA_ENOMEM;
        memcpy(arrays[i].array, &made, sizeof(made)); /* the caller's pointer has its own type */
    }
    return PYTHIA_OK;
}

void *pythia_realloc(void *p, size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size)
        return count_failure(NULL);
    size_t bytes = count * size;
    if (!may_allocate())
        return count_failure(NULL);
    long long before = block_bytes(p);
    void *moved = realloc(p, bytes ? bytes : 1);
    if (moved && before)
        atomic_fetch_sub_explicit(&counted, before, memory_order_relaxed);
    return count_failure(note_block(moved));
}

void *pythia_malloc(size_t bytes)
{
    return pythia_realloc(NULL, bytes, 1);
}

void pythia_free(const void *memory)
{
    void *p = pythia_without_const(memory);
    long long bytes = block_bytes(p);
    if (bytes)
        atomic_fetch_sub_explicit(&counted, bytes, memory_order_relaxed);
    free(p);
}

char *pythia_strndup(const char *text, size_t size)
{
    char *copy = pythia_realloc(NULL, size + 1, 1);
    if (!copy)
        return NULL;
    if (size)
        memcpy(copy, text, size);
    copy[size] = '\0';
    return copy;
}

int pythia_grow(void *array, size_t *capacity, size_t used, size_t size)
{
    if (used < *capacity)
        return PYTHIA_OK;
    size_t larger = *capacity ? *capacity * 2 : 16;
    void *old;
    memcpy(&old, array, sizeof(old)); /* the caller's pointer has a type of its own */
    void *moved = pythia_realloc(old, larger, size);
    if (!moved)
        return PYTHIA_ENOMEM;
    memcpy(array, &moved, sizeof(moved));
    *capacity = larger;
    return PYTHIA_OK;
}

int pythia_reach(void *array, size_t *capacity, size_t index, size_t size)
{
    if (index < *capacity)
        return PYTHIA_OK;
    size_t larger = (index + 1) * 2;
    char *old;
    memcpy(&old, array, sizeof(old));
    char *moved = pythia_realloc(old, larger, size);
    if (!moved)
        return PYTHIA_ENOMEM;
    memset(moved + *capacity * size, 0, (larger - *capacity) * size);
    memcpy(array, &moved, sizeof(moved));
    *capacity = larger;
    return PYTHIA_OK;
}

unsigned long pythia_mem_failures(void)
{
    return atomic_load_explicit(&failures, memory_order_relaxed);
}

void pythia_mem_fail_after(long n)
{
    atomic_store_explicit(&allocations_left, n, memory_order_relaxed);
}
