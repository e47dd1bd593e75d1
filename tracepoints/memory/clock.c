/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "clock.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#ifdef __x86_64__
#include <cpuid.h>
#endif

#define WINDOW_NS 500000000U
#define SLEPT_NS  1000000 /* that a machine must have slept to be noticed */
#define SET_NS    1000000 /* and that a clock must have been set by */
#define RATE_OFF  0.001   /* NTP stays below this */
#define LOOKS     5

enum pythia__clock_kind pythia__clock = PYTHIA__CLOCK_MONOTONIC;

#ifdef __x86_64__
static int has_tsc(void)
{
    unsigned a, b, c, d;
    char name[8] = "";
    if (!__get_cpuid(0x80000007, &a, &b, &c, &d) || !(d & 1u << 8))
        return 0;
    int file = open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
                    O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return 0;
    ssize_t size = read(file, name, sizeof(name) - 1);
    close(file);
    return size == 4 && memcmp(name, "tsc\n", 4) == 0;
}
#else
static int has_tsc(void)
{
    return 0;
}
#endif

void pythia__clock_choose(const char *wanted)
{
    int monotonic = wanted && strcmp(wanted, "monotonic") == 0;
    pythia__clock = !monotonic && has_tsc() ? PYTHIA__CLOCK_TSC : PYTHIA__CLOCK_MONOTONIC;
}

static uint64_t read_clock_ticks(enum pythia__clock_kind kind)
{
#ifdef __x86_64__
    if (kind == PYTHIA__CLOCK_TSC)
        return __builtin_ia32_rdtsc();
#endif
    (void)kind;
    return pythia__clock_ns(CLOCK_MONOTONIC);
}

/* The reading of a clock when CLOCK_MONOTONIC shows `monotonic_ns`. Two clocks cannot be read at
 * once: of several tries, take the one that was interrupted least. On a busy machine an
 * interruption takes milliseconds, by which all spans of a frame would be moved. */
static uint64_t read_clock_at(clockid_t clock, uint64_t monotonic_ns)
{
    uint64_t least = UINT64_MAX, shown = 0;
    for (int i = 0; i < LOOKS; i++) {
        uint64_t before = pythia__clock_ns(CLOCK_MONOTONIC), ns = pythia__clock_ns(clock),
                 after = pythia__clock_ns(CLOCK_MONOTONIC);
        if (after - before >= least)
            continue;
        least = after - before;
        shown = ns - (before + least / 2 - monotonic_ns);
    }
    return shown;
}

void pythia__clock_pair_now(enum pythia__clock_kind kind, struct pythia__clock_pair *out)
{
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < LOOKS; i++) {
        uint64_t before = read_clock_ticks(kind), ns = pythia__clock_ns(CLOCK_MONOTONIC),
                 after = read_clock_ticks(kind);
        if (after - before >= least)
            continue;
        least = after - before;
        out->monotonic_ns = ns;
        out->ticks = kind == PYTHIA__CLOCK_TSC ? before + (after - before) / 2 : ns;
    }
    out->realtime_ns = read_clock_at(CLOCK_REALTIME, out->monotonic_ns);
    out->boottime_ns = read_clock_at(CLOCK_BOOTTIME, out->monotonic_ns);
}

void pythia__clock_track_init(struct pythia__clock_track *t, enum pythia__clock_kind kind,
                              const struct pythia__clock_pair *first)
{
    *t = (struct pythia__clock_track){.kind = kind, .base = *first, .later = *first, .now = *first};
    t->ns_per_tick = kind == PYTHIA__CLOCK_TSC ? 0 : 1;
}

/* By how much a has moved away from b between two looks, either way. */
static uint64_t find_drift(uint64_t a_before, uint64_t a, uint64_t b_before, uint64_t b)
{
    int64_t by = (int64_t)((a - a_before) - (b - b_before));
    return by < 0 ? 0 - (uint64_t)by : (uint64_t)by;
}

/* Nanoseconds of a tick since t->base; 0 if the clocks have gone back since. */
static double rate_until(const struct pythia__clock_track *t, const struct pythia__clock_pair *now)
{
    if (now->ticks <= t->base.ticks || now->monotonic_ns <= t->base.monotonic_ns)
        return 0;
    return (double)(now->monotonic_ns - t->base.monotonic_ns) /
           (double)(now->ticks - t->base.ticks);
}

void pythia__clock_track_add(struct pythia__clock_track *t, const struct pythia__clock_pair *now)
{
    struct pythia__clock_pair last = t->now;
    t->now = *now;
    int slept = find_drift(last.boottime_ns, now->boottime_ns, last.monotonic_ns,
                           now->monotonic_ns) > SLEPT_NS;
    t->step = slept || find_drift(last.realtime_ns, now->realtime_ns, last.monotonic_ns,
                                  now->monotonic_ns) > SET_NS;
    if (t->kind != PYTHIA__CLOCK_TSC)
        return;
    double rate = rate_until(t, now), change = rate - t->ns_per_tick;
    int known = t->ns_per_tick > 0, long_ago = now->monotonic_ns - t->base.monotonic_ns > WINDOW_NS;
    int jumped = known && long_ago && (change < 0 ? -change : change) > t->ns_per_tick * RATE_OFF;
    if (rate == 0 || jumped || (slept && known)) { /* what was before says nothing about now */
        t->step = 1;
        t->base = t->later = *now;
        return;
    }
    t->ns_per_tick = rate;
    if (now->monotonic_ns - t->later.monotonic_ns >= WINDOW_NS) {
        t->base = t->later;
        t->later = *now;
    }
}
