/* How often pythiad itself did a piece of its work, and how long that took: the five columns of a
 * SYMBIOSYS diagnosis (mean, sum, longest, shortest, count). */
#ifndef PYTHIA_PYTHIAD_OWN_WORK_H
#define PYTHIA_PYTHIAD_OWN_WORK_H

#include <stdint.h>

/* {0}: not done yet. The mean is ns / calls. One thread at a time. */
struct pythia__own_work {
    uint64_t calls, ns, longest_ns, shortest_ns;
};

static inline void pythia__own_work_add(struct pythia__own_work *w, uint64_t ns)
{
    w->shortest_ns = w->calls == 0 || ns < w->shortest_ns ? ns : w->shortest_ns;
    w->longest_ns = ns > w->longest_ns ? ns : w->longest_ns;
    w->ns += ns;
    w->calls++;
}

#endif
