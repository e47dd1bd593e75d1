#ifndef PYTHIA_SORT_H
#define PYTHIA_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Sort `n` numbers, usually indexes, by `before(context, a, b)`: stable, O(n log n), O(n) for what
 * is sorted already; `scratch` has room for n more. In the header so that the compiler can put
 * `before` in place: qsort's calls through a pointer cost more than the rest of building a small
 * trace. */
static inline void pythia_sort_indexes(uint32_t *numbers, size_t n, uint32_t *scratch,
                                       bool (*before)(const void *context, uint32_t a, uint32_t b),
                                       const void *context)
{
    enum { RUN = 12 };
    for (size_t from = 0; from < n; from += RUN) { /* runs by insertion */
        size_t to = n - from < RUN ? n : from + RUN;
        for (size_t i = from + 1; i < to; i++) {
            uint32_t moving = numbers[i];
            size_t j = i;
            for (; j > from && before(context, moving, numbers[j - 1]); j--)
                numbers[j] = numbers[j - 1];
            numbers[j] = moving;
        }
    }
    for (size_t width = RUN; width < n; width *= 2) { /* merged pairwise */
        for (size_t from = 0; from + width < n; from += 2 * width) {
            size_t middle = from + width, to = n - from < 2 * width ? n : from + 2 * width;
            if (!before(context, numbers[middle], numbers[middle - 1]))
                continue;
            memcpy(scratch, numbers + from, width * sizeof(*numbers));
            size_t left = 0, right = middle, out = from;
            while (left < width && right < to)
                numbers[out++] = before(context, numbers[right], scratch[left]) ? numbers[right++]
                                                                                : scratch[left++];
            memcpy(numbers + out, scratch + left, (width - left) * sizeof(*numbers));
        }
    }
}

/* How many of the `n` entries of an ordered array stand before the key: where it is, or belongs.
 * `compare` is below 0, 0 or above 0 as the entry at `index` stands before the key, is equal to it,
 * or stands after it. O(log n). */
typedef int pythia_sorted_compare(const void *array, size_t index, const void *key);

static inline size_t pythia_sorted_place(size_t n, pythia_sorted_compare *compare,
                                         const void *array, const void *key)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare(array, middle, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#define PYTHIA_SORTED_NONE SIZE_MAX

/* The index of the first entry that is equal to the key, or PYTHIA_SORTED_NONE. */
static inline size_t pythia_sorted_find(size_t n, pythia_sorted_compare *compare, const void *array,
                                        const void *key)
{
    size_t place = pythia_sorted_place(n, compare, array, key);
    return place < n && compare(array, place, key) == 0 ? place : PYTHIA_SORTED_NONE;
}

/* A pythia_sorted_compare for an array of uint32_t and a key of that type. */
static inline int pythia_sorted_compare_number(const void *numbers, size_t index,
                                               const void *number)
{
    uint32_t x = ((const uint32_t *)numbers)[index], y = *(const uint32_t *)number;
    return (x > y) - (x < y);
}

#endif
