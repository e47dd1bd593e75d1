/* SPDX-License-Identifier: MIT */
/* Counters of the processor, of the current thread, by perf_event_open: what it did in the code of
 * the program, without the kernel's. */
#ifndef PYTHIA_COUNTERS_H
#define PYTHIA_COUNTERS_H

#include <stdint.h>

enum pythia__counter {
    PYTHIA__COUNTER_CYCLES, /* as pythia__metrics has them */
    PYTHIA__COUNTER_INSTRUCTIONS,
    PYTHIA__COUNTER_CACHE_MISSES,
    PYTHIA__COUNTER_BRANCH_MISSES,
    PYTHIA__COUNTERS,
};

#define PYTHIA__COUNTER_UNKNOWN INT64_MIN

/* What perf_event_open says of one, with times (PERF_FORMAT_TOTAL_TIME_ENABLED and _RUNNING). */
struct pythia__counter_reading {
    uint64_t value, enabled_ns, running_ns;
};

/* A counter of a thread. The processor has fewer than may be asked for: then they take turns, and
 * each counts for a part of the time. What one counted since its last reading is scaled to the
 * whole of that time, so that a total never falls. */
struct pythia__counter_state {
    int file;         /* 0: not opened yet; -1: it cannot be */
    uint64_t id;      /* of the kernel: the program may have closed the file, and opened another */
    uint64_t process; /* the number of that which opened it */
    struct pythia__counter_reading last;
    int64_t total;
};

/* Add what a reading says beyond the last one. Where the counter had no turn since, nothing is
 * known: the next reading covers that time, too. */
static inline void pythia__counter_add(struct pythia__counter_state *c,
                                       const struct pythia__counter_reading *now)
{
    uint64_t value = now->value - c->last.value, enabled = now->enabled_ns - c->last.enabled_ns,
             running = now->running_ns - c->last.running_ns;
    if (running == 0)
        return;
    c->total += running >= enabled ? (int64_t)value
                                   : (int64_t)((double)value * (double)enabled / (double)running);
    c->last = *now;
}

/* Type and number of each. */
struct pythia__counter_event {
    uint32_t type;
    uint64_t number;
};
extern const struct pythia__counter_event pythia__counter_events[PYTHIA__COUNTERS];

/* Read a counter of this type and number (perf_event_open(2)) of the current thread, which is
 * opened first if it is not open in this process. Its total so far, or PYTHIA__COUNTER_UNKNOWN. By
 * system calls, since functions may be hooked; errno is as before. */
int64_t pythia__counter_read(struct pythia__counter_state *c, uint32_t type, uint64_t number,
                             uint64_t process);
void pythia__counter_close(struct pythia__counter_state *c);

/* Try whether this process may count it: 0, or a negative errno. */
int pythia__counter_try(enum pythia__counter which);

#endif
