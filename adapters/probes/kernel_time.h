/* The kernel's work for a thread, summed since its request started. */
#ifndef PYTHIA_PROBES_KERNEL_TIME_H
#define PYTHIA_PROBES_KERNEL_TIME_H

#include "pythia/kernel_points.h"
#include "pythia/probe_hit.h"

struct pythia__kernel_time {
    int64_t sums[PYTHIA_KERNEL_SUMS];
    uint64_t out_ns;   /* since when it has no processor; 0: it has one */
    uint64_t woken_ns; /* since when it could run again; 0: it waits */
    enum pythia_kernel_sum reason;
    bool in_call;
    int64_t call; /* number of the system call that it is in */
    uint64_t call_ns;
};

/* One more event of the thread; they come in order of time. */
void pythia__kernel_time_add(struct pythia__kernel_time *k, enum pythia_kernel_event event,
                             uint64_t time_ns, int64_t value);

#endif
