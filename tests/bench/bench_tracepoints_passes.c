#include <pythia/tracepoints.h>

#include "bench_tracepoints.h"

/* So that no pass is moved, or left out. */
#define HERE __asm__ volatile("" ::: "memory")

static void empty(size_t n)
{
    for (size_t i = 0; i < n; i++)
        HERE;
}

static void closed(size_t n)
{
    for (size_t i = 0; i < n; i++) {
        PYTHIA_SPAN("closed");
        HERE;
    }
}

static void open(size_t n)
{
    for (size_t i = 0; i < n; i++) {
        PYTHIA_SPAN("open");
        HERE;
    }
}

const struct passes PASSES = {empty, closed, open};
