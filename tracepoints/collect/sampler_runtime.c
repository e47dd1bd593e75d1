/* SPDX-License-Identifier: MIT */
/* Samples the counters that the kernel and the C library keep for the process and its machine. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "collector.h"

#define LABELS(X)                                                                                  \
    X(user_time, "user time")                                                                      \
    X(system_time, "system time")                                                                  \
    X(max_rss, "max rss")                                                                          \
    X(minor_faults, "minor faults")                                                                \
    X(major_faults, "major faults")                                                                \
    X(voluntary, "vol ctx")                                                                        \
    X(involuntary, "invol ctx")                                                                    \
    X(rss, "rss")                                                                                  \
    X(threads, "threads")                                                                          \
    X(cpu, "cpu %")                                                                                \
    X(memory, "mem %")                                                                             \
    X(load1, "load 1m")                                                                            \
    X(load5, "load 5m")                                                                            \
    X(load15, "load 15m")                                                                          \
    X(heap_used, "heap used")                                                                      \
    X(heap_free, "heap free")

#define X(name, text) static struct pythia_label name = PYTHIA_LABEL(text);
LABELS(X)
#undef X

/* A small file of /proc as a string; 0 if there is none. */
static int read_proc_file(const char *path, char *text, size_t size)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = file >= 0 ? read(file, text, size - 1) : -1;
    if (file >= 0)
        close(file);
    text[got > 0 ? got : 0] = '\0';
    return got > 0;
}

static double to_seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static void sample_usage(void)
{
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0)
        return;
    pythia__observe_runtime(&user_time, to_seconds(usage.ru_utime));
    pythia__observe_runtime(&system_time, to_seconds(usage.ru_stime));
    pythia__observe_runtime(&max_rss, (double)usage.ru_maxrss);
    pythia__observe_runtime(&minor_faults, (double)usage.ru_minflt);
    pythia__observe_runtime(&major_faults, (double)usage.ru_majflt);
    pythia__observe_runtime(&voluntary, (double)usage.ru_nvcsw);
    pythia__observe_runtime(&involuntary, (double)usage.ru_nivcsw);
}

/* Behind the name of the program, which may hold anything, fields count from 3 (proc(5)). */
static void sample_proc_files(void)
{
    char text[1024];
    if (!read_proc_file("/proc/self/stat", text, sizeof(text)))
        return;
    const char *at = strrchr(text, ')');
    for (int field = 2; at && field < 24; field++) {
        at = strchr(at + 1, ' ');
        if (at && field == 19)
            pythia__observe_runtime(&threads, strtod(at + 1, NULL));
        if (at && field == 23)
            pythia__observe_runtime(&rss,
                                    strtod(at + 1, NULL) * (double)sysconf(_SC_PAGESIZE) / 1024);
    }
}

/* The share of all processors' time since the last look in which they were not idle. */
static void sample_processors(void)
{
    static uint64_t busy_before, all_before;
    char text[512], *at = text + 4;
    uint64_t all = 0, idle = 0;
    if (!read_proc_file("/proc/stat", text, sizeof(text)) || strncmp(text, "cpu ", 4) != 0)
        return;
    for (int i = 0; i < 8; i++) { /* user nice system idle iowait irq softirq steal */
        uint64_t ticks = strtoull(at, &at, 10);
        all += ticks;
        idle += i == 3 || i == 4 ? ticks : 0;
    }
    if (all_before && all > all_before)
        pythia__observe_runtime(&cpu, 100 * (double)(all - idle - busy_before) /
                                          (double)(all - all_before));
    busy_before = all - idle;
    all_before = all;
}

static double field_of(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    return at ? strtod(at + strlen(name), NULL) : 0;
}

static void sample_machine(void)
{
    double loads[3];
    char text[512];
    if (getloadavg(loads, 3) == 3) {
        pythia__observe_runtime(&load1, loads[0]);
        pythia__observe_runtime(&load5, loads[1]);
        pythia__observe_runtime(&load15, loads[2]);
    }
    if (!read_proc_file("/proc/meminfo", text, sizeof(text)))
        return;
    double all = field_of(text, "MemTotal:"), available = field_of(text, "MemAvailable:");
    if (all > 0)
        pythia__observe_runtime(&memory, 100 * (all - available) / all);
}

static void sample_heap(void)
{
#ifdef __GLIBC__
    struct mallinfo2 heap = mallinfo2();
    pythia__observe_runtime(&heap_used, (double)(heap.uordblks + heap.hblkhd) / 1024);
    pythia__observe_runtime(&heap_free, (double)heap.fordblks / 1024);
#endif
}

void pythia__runtime_sample(void)
{
    sample_usage();
    sample_proc_files();
    sample_processors();
    sample_machine();
    sample_heap();
}
