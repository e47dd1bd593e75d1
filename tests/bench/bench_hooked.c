/* What a call costs, in a program that knows nothing of trace points: bench_hooked BATCH PAUSE_US
 * prints one object of JSON, ns of a call, least and median of many. `pythia run` hooks it or not;
 * between batches there is a pause, in which what was recorded is written. */
#define _DEFAULT_SOURCE
#include "bench_hooked.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define REPEATS 201

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    double ns[REPEATS];
    long sum = 0, batch = argc == 3 ? strtol(argv[1], NULL, 10) : 0;
    unsigned pause_us = argc == 3 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
    if (batch <= 0)
        return 2;
    for (int i = 0; i < REPEATS; i++) {
        uint64_t start = now_ns();
        for (long j = 0; j < batch; j++)
            sum += bench_hooked_call(j);
        ns[i] = (double)(now_ns() - start) / (double)batch;
        if (pause_us)
            usleep(pause_us);
    }
    qsort(ns, REPEATS, sizeof(double), compare);
    printf("{\"min\": %.3f, \"median\": %.3f}\n", ns[0], ns[REPEATS / 2]);
    return sum == 0;
}
