/* The function that bench_hooked calls. */
#ifndef BENCH_HOOKED_H
#define BENCH_HOOKED_H

__attribute__((visibility("default"))) long bench_hooked_call(long n);

#endif
