/* What the fuzzers share. Each has LLVMFuzzerTestOneInput; libFuzzer calls it, or replay.c. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* assert, also where NDEBUG is defined. */
#define MUST(condition) ((condition) ? (void)0 : fuzz_fail(#condition, __FILE__, __LINE__))

static inline void fuzz_fail(const char *condition, const char *file, int line)
{
    fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, condition);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Decode an input by a format, put its spans together, find the critical paths, and check on the
 * way what must hold of all of them, whatever the input. */
void fuzz_format(const char *format, const uint8_t *bytes, size_t size);

#endif
