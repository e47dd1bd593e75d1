/* SPDX-License-Identifier: MIT */
/* The clock of the records, and what its ticks are in nanoseconds.
 *
 * Reading the processor's time stamp counter costs less than half of clock_gettime, and an open
 * span reads a clock twice. It is taken where it is as good a clock: the processor says that it
 * runs at one rate in all states (CPUID, invariant TSC), and the kernel itself keeps its time by
 * it, which means that it found the counters of all processors in step and watches them. Elsewhere
 * ticks are nanoseconds of CLOCK_MONOTONIC.
 *
 * Nothing is calibrated in the program. Whoever reads the rings looks at both clocks each time, and
 * writes into each frame what a tick was just then. So a rate that NTP changes is followed, a
 * program starts as fast as before, and the time of a program that was killed is as good as any.
 * Suspended machines and clocks that are set are noticed by the reader, from what does not fit:
 * CLOCK_BOOTTIME went ahead of CLOCK_MONOTONIC, the counter went back, or its rate changed. */
#ifndef PYTHIA_CLOCK_H
#define PYTHIA_CLOCK_H

#include <stdint.h>
#include <time.h>

enum pythia__clock_kind {
    PYTHIA__CLOCK_MONOTONIC = 1, /* ticks are ns of CLOCK_MONOTONIC */
    PYTHIA__CLOCK_TSC = 2,
};

extern enum pythia__clock_kind pythia__clock;

/* Choose it: `wanted` is "tsc", "monotonic", or NULL for the best there is. Until then it is
 * CLOCK_MONOTONIC. */
void pythia__clock_choose(const char *wanted);

static inline uint64_t pythia__clock_ns(clockid_t clock)
{
    struct timespec now = {0, 0};
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

#ifdef PYTHIA__TICKS /* a test's clock */
uint64_t PYTHIA__TICKS(void);
static inline uint64_t pythia__ticks(void)
{
    return PYTHIA__TICKS();
}
#else
static inline uint64_t pythia__ticks(void)
{
#ifdef __x86_64__
    if (pythia__clock == PYTHIA__CLOCK_TSC)
        return __builtin_ia32_rdtsc();
#endif
    return pythia__clock_ns(CLOCK_MONOTONIC);
}
#endif

/* The values of the clocks at one moment. */
struct pythia__clock_pair {
    uint64_t ticks, monotonic_ns, realtime_ns, boottime_ns;
};

/* Read all clocks. It is repeated, and the reading during which the fewest ticks passed is
 * taken, since the thread may lose the processor between two clocks. */
void pythia__clock_pair_now(enum pythia__clock_kind kind, struct pythia__clock_pair *out);

/* The state of one process's clock. The rate is taken over at least half a second where there
 * was one: then what a look at two clocks is off by, some 20 ns, makes 0.1 ppm. */
struct pythia__clock_track {
    enum pythia__clock_kind kind;
    struct pythia__clock_pair base, later,
        now;            /* base is at least half a second old, or the first */
    double ns_per_tick; /* 0: not known yet */
    int step;           /* the clock was set, or the machine slept, between the last two looks */
};

/* Begin from the pair that the process left when it began. */
void pythia__clock_track_init(struct pythia__clock_track *t, enum pythia__clock_kind kind,
                              const struct pythia__clock_pair *first);

/* One more look. */
void pythia__clock_track_add(struct pythia__clock_track *t, const struct pythia__clock_pair *now);

#endif
