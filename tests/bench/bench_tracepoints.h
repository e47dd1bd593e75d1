/* The passes that bench_tracepoints measures: once in the program, once in a shared library. Each
 * runs so many of them and returns nothing. */
#ifndef BENCH_TRACEPOINTS_H
#define BENCH_TRACEPOINTS_H

#include <stddef.h>

struct passes {
    void (*empty)(size_t n);
    void (*closed)(size_t n);
    void (*open)(size_t n);
};

extern const struct passes passes_in_program;
__attribute__((visibility("default"))) extern const struct passes passes_in_library;

#endif
