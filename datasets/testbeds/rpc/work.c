/* SPDX-License-Identifier: MIT */
#include "work.h"

#include <string.h>
#include <time.h>

#define WORDS 128
#define TRIES 50

static uint64_t mix(uint64_t sum, const uint64_t *words)
{
    for (int i = 0; i < WORDS; i++) {
        sum ^= words[i];
        sum *= 0x9e3779b97f4a7c15U;
        sum ^= sum >> 29;
    }
    return sum;
}

uint64_t work_do(unsigned rounds, const void *data, size_t bytes)
{
    uint64_t words[WORDS] = {bytes}, sum = bytes;
    memcpy(words + 1, data ? data : "", bytes < sizeof(words) - 8 ? bytes : sizeof(words) - 8);
    for (unsigned i = 0; i < rounds; i++)
        sum = mix(sum + i, words);
    return sum;
}

unsigned work_rounds(unsigned us)
{
    const unsigned rounds = 200;
    uint64_t least = UINT64_MAX;
    static volatile uint64_t sink;
    for (int i = 0; i < TRIES; i++) {
        struct timespec from, to;
        clock_gettime(CLOCK_MONOTONIC, &from);
        sink = work_do(rounds, NULL, 0);
        clock_gettime(CLOCK_MONOTONIC, &to);
        uint64_t ns = (uint64_t)(to.tv_sec - from.tv_sec) * 1000000000U +
                      (uint64_t)(to.tv_nsec - from.tv_nsec);
        least = ns < least ? ns : least;
    }
    (void)sink;
    return (unsigned)((uint64_t)us * 1000 * rounds / (least ? least : 1)) + 1;
}

void work_wait(unsigned us)
{
    struct timespec left = {us / 1000000, (long)(us % 1000000) * 1000};
    while (us && nanosleep(&left, &left) != 0)
        continue;
}
