#include "bench_hooked.h"

long bench_hooked_call(long n)
{
    return n | 1;
}
