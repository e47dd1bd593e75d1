/* SPDX-License-Identifier: MIT */
#ifndef PYTHIA_COLLECTOR_H
#define PYTHIA_COLLECTOR_H

/* Measurements over time, of one process, as files of CSV that anything can read:
 *
 *     pythia_collector_start(&(struct pythia_collector_options){.directory = "/var/tmp/shop"});
 *     …
 *     PYTHIA_TIME_IT("checkout");                 how long the rest of this block takes
 *     PYTHIA_OBSERVE("queue length", length);     any number
 *
 * A measurement is 24 bytes in memory of the calling thread's own; a thread of the collector makes
 * rows of them. Memory is bounded, and nobody ever waits: what finds no room is dropped and
 * counted. While the collector is not started, or switched off, everything here does nothing.
 *
 * Files are <prefix>.<process>.<number>.<16 digits>.csv, of rows Timepoint,Measurement,Label,PID:
 * ns since 1970 when it was measured (of a duration: its end), the number (of a duration: seconds),
 * the name of the series, the process. They are complete when they get that name (until then it
 * ends in .tmp), and may be taken away at any time. `pythia series` reads them.
 *
 * Where PYTHIA_TRACEPOINTS_DISABLE is defined nothing is left of this, and no library is needed. */

#include <pythia/tracepoints.h>
#include <stddef.h>
#include <stdint.h>

/* The name of a series: static, or at least outliving every call that is given it. */
struct pythia_label {
    const char *name;
    uint32_t name_bytes;
    uint32_t number;  /* in this process; 0 until it is used */
    uint64_t version; /* PYTHIA_TRACEPOINTS_VERSION */
};

#define PYTHIA_LABEL(name)                                                                         \
    {                                                                                              \
        "" name, sizeof(name) - 1, 0, PYTHIA_TRACEPOINTS_VERSION                                   \
    }

struct pythia_observation {
    struct pythia_label *label;
    double value;
};

/* The settings of a program; 0 or NULL is the default. The environment has precedence. */
struct pythia_collector_options {
    const char *directory; /* PYTHIA_COLLECT: where files go; made if it is not there */
    size_t memory_bytes;   /* PYTHIA_COLLECT_BYTES: of all measurements, names and rows that are
                              held; 64 KiB to 1 GiB, default 1 MiB */
    unsigned flush_ms;     /* PYTHIA_COLLECT_MS: a file is complete after so long; 1 to 3600000,
                              default 5000 */
    unsigned runtime_ms;   /* PYTHIA_COLLECT_RUNTIME_MS: between looks at the process itself; 10 to
                              3600000, default 1000 */
    size_t file_bytes;     /* or when it has so many; 4 KiB to 1 GiB, default 1 MiB */
    int no_runtime;        /* do not look at the process itself (PYTHIA_COLLECT_RUNTIME_MS=0) */
};

struct pythia_collector_state {
    int running;             /* it is started */
    int on;                  /* and its switch is open */
    uint64_t rows, files;    /* written; files that are complete */
    uint64_t bytes;          /* of files */
    uint64_t dropped;        /* measurements for which there was no room */
    uint64_t labels;         /* names of series */
    uint64_t labels_refused; /* for which there was no room: their measurements are dropped */
    uint64_t clock_steps;    /* times that the clock was set, or the machine slept */
    uint64_t held;           /* measurements that memory has room for, in use now */
    uint64_t room;           /* and all in all */
    char problem[256];       /* the last one, a sentence; "": there was none */
};

#ifndef PYTHIA_TRACEPOINTS_DISABLE

#ifdef __cplusplus
extern "C" {
#endif

/* Start to collect: 0, -EALREADY if it was started, -EINVAL for a number out of range, or without a
 * directory, or for other memory_bytes than the first time, or a negative errno. A child of fork
 * goes on by itself, with files of its own. From outside it is switched by the trace point
 * "<service>:collector", which is opened here if nobody has thrown its switch before; for a kind of
 * request alone, what is measured in these. */
PYTHIA_API int pythia_collector_start_sized(const struct pythia_collector_options *options,
                                            size_t options_bytes);
static inline int pythia_collector_start(const struct pythia_collector_options *options)
{
    return pythia_collector_start_sized(options, sizeof(*options));
}

/* Write what is held, complete the files and stop; 0 or the negative errno of writing. It is done
 * when the program ends, if not before. */
PYTHIA_API int pythia_collector_stop(void);

/* Write what was measured until now and complete the files, and wait for that. */
PYTHIA_API int pythia_collector_flush(void);

/* Fill the first `out_bytes` of *out. The size is that of the struct which the caller was
 * compiled with, so that the struct may grow. Use the function without _sized. */
PYTHIA_API void pythia_collector_state_get_sized(struct pythia_collector_state *out,
                                                 size_t out_bytes);
static inline void pythia_collector_state_get(struct pythia_collector_state *out)
{
    pythia_collector_state_get_sized(out, sizeof(*out));
}

/* One measurement, or several of one moment. Any thread; no lock, and no memory is asked for. */
PYTHIA_API void pythia_observe(struct pythia_label *label, double value);
PYTHIA_API void pythia_observe_many_sized(const struct pythia_observation *all, size_t count,
                                          size_t each_bytes);
static inline void pythia_observe_many(const struct pythia_observation *all, size_t count)
{
    pythia_observe_many_sized(all, count, sizeof(*all));
}

/* As above, for a name that is known only at run time; it is looked up each time. */
PYTHIA_API void pythia_observe_named(const char *name, size_t name_bytes, double value);

/* A duration, from begin to end, in seconds; they may be nested, and end on another thread. */
PYTHIA_API uint64_t pythia_duration_begin(void); /* 0: it is not collected */
PYTHIA_API void pythia_duration_end(struct pythia_label *label, uint64_t begun);

/* Call `sample` every `period_ms` (1 to 3600000) on the thread of the collector, while it is on:
 * for numbers that have to be asked for, which it passes to pythia_observe. Returns a number for
 * pythia_sampler_remove, which waits for a call that is being made and after which there is none;
 * -ENOSPC for more than 64. A child of fork has the samplers of its parent. */
PYTHIA_API int pythia_sampler_add(void (*sample)(void *context), void *context, unsigned period_ms);
PYTHIA_API int pythia_sampler_remove(int sampler);

#ifdef __cplusplus
}
#endif

struct pythia__timing {
    struct pythia_label *label;
    uint64_t begun;
};

static inline void pythia__timing_end(const struct pythia__timing *t)
{
    if (t->begun)
        pythia_duration_end(t->label, t->begun);
}

/* Measure the time from here to the end of the block, however it is left; this is also a trace
 * point of that name. */
#define PYTHIA_TIME_IT(name) PYTHIA__TIME_IT(name, __COUNTER__)
#define PYTHIA__TIME_IT(name, n)                                                                   \
    static struct pythia_label PYTHIA__NAME(pythia_label_, n) = PYTHIA_LABEL(name);                \
    struct pythia__timing PYTHIA__NAME(pythia_timing_, n)                                          \
        __attribute__((cleanup(pythia__timing_end), unused)) = {&PYTHIA__NAME(pythia_label_, n),   \
                                                                pythia_duration_begin()};          \
    PYTHIA_SPAN(name)

#define PYTHIA_OBSERVE(name, value)                                                                \
    do {                                                                                           \
        static struct pythia_label pythia_label_ = PYTHIA_LABEL(name);                             \
        pythia_observe(&pythia_label_, PYTHIA__AS(double, value));                                 \
    } while (0)

#else

static inline int pythia_collector_start(const struct pythia_collector_options *options)
{
    (void)options;
    return 0;
}
static inline int pythia_collector_stop(void)
{
    return 0;
}
static inline int pythia_collector_flush(void)
{
    return 0;
}
static inline void pythia_collector_state_get(struct pythia_collector_state *out)
{
    struct pythia_collector_state none = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, {0}};
    *out = none;
}
static inline void pythia_observe(struct pythia_label *label, double value)
{
    (void)label, (void)value;
}
static inline void pythia_observe_many(const struct pythia_observation *all, size_t count)
{
    (void)all, (void)count;
}
static inline void pythia_observe_named(const char *name, size_t name_bytes, double value)
{
    (void)name, (void)name_bytes, (void)value;
}
static inline uint64_t pythia_duration_begin(void)
{
    return 0;
}
static inline void pythia_duration_end(struct pythia_label *label, uint64_t begun)
{
    (void)label, (void)begun;
}
static inline int pythia_sampler_add(void (*sample)(void *context), void *context,
                                     unsigned period_ms)
{
    (void)sample, (void)context, (void)period_ms;
    return 1;
}
static inline int pythia_sampler_remove(int sampler)
{
    (void)sampler;
    return 0;
}
#define PYTHIA_TIME_IT(name)        PYTHIA_SPAN(name)
#define PYTHIA_OBSERVE(name, value) ((void)sizeof(value))

#endif
#endif
