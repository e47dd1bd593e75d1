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
void pythia__counter_add(struct pythia__counter_state *c,
                         const struct pythia__counter_reading *now);

/* Read a counter of this type and number (perf_event_open(2)) of the current thread, which is
 * opened first if it is not open in this process. Its total so far, or PYTHIA__COUNTER_UNKNOWN. By
 * system calls, since functions may be hooked; errno is as before. */
int64_t pythia__counter_read(struct pythia__counter_state *c, uint32_t type, uint64_t number,
                             uint64_t process);
void pythia__counter_close(struct pythia__counter_state *c);

/* The same of one of enum pythia__counter. */
int64_t pythia__counter_read_hardware(struct pythia__counter_state *c, enum pythia__counter which,
                                      uint64_t process);

/* Try whether this process may count it: 0, or a negative errno. */
int pythia__counter_try(enum pythia__counter which);

#endif
