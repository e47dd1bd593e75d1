/* A library with a pair of probes, which is loaded and unloaded. */
#include "probed.h"

__attribute__((visibility("default"))) long plugin_work(long n);

long plugin_work(long n)
{
    PROBE("plugin", "work__start", n);
    __asm__ volatile("" : "+r"(n));
    PROBE("plugin", "work__done", n);
    return n + 1;
}
