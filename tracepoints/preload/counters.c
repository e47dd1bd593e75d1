/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "counters.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

const struct pythia__counter_event pythia__counter_events[PYTHIA__COUNTERS] = {
    {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
    {PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES}};

static int open_event(uint32_t type, uint64_t number)
{
    struct perf_event_attr attr;
    memset(&attr, 0, sizeof(attr));
    attr.size = sizeof(attr);
    attr.type = type;
    attr.config = number;
    attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    attr.exclude_kernel = 1;
    attr.exclude_hv = 1;
    return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Is the file still the counter, and not another one of the program, at the same number? */
static int is_counter(const struct pythia__counter_state *c)
{
    uint64_t id = 0;
    return syscall(SYS_ioctl, c->file, PERF_EVENT_IOC_ID, &id) == 0 && id == c->id;
}

void pythia__counter_close(struct pythia__counter_state *c)
{
    if (c->file > 0 && is_counter(c))
        syscall(SYS_close, c->file);
    *c = (struct pythia__counter_state){0};
}

/* 0 is standard input, for which a program may have closed it, and means here that nothing was
 * opened: then the next number is taken. */
static void open_counter(struct pythia__counter_state *c, uint32_t type, uint64_t number,
                         uint64_t process)
{
    int file = open_event(type, number);
    if (file == 0) {
        file = (int)syscall(SYS_fcntl, 0, F_DUPFD_CLOEXEC, 3);
        syscall(SYS_close, 0);
    }
    *c = (struct pythia__counter_state){.file = file > 0 ? file : -1, .process = process};
    if (file > 0 && syscall(SYS_ioctl, file, PERF_EVENT_IOC_ID, &c->id) != 0) {
        syscall(SYS_close, file);
        c->file = -1;
    }
}

int64_t pythia__counter_read(struct pythia__counter_state *c, uint32_t type, uint64_t number,
                             uint64_t process)
{
    struct pythia__counter_reading now;
    int before = errno;
    if (c->process != process)
        pythia__counter_close(c); /* it counts the thread of the parent */
    if (c->file == 0)
        open_counter(c, type, number, process);
    else if (c->file > 0 && !is_counter(c))
        c->file = -1; /* the program has closed it, as daemons do: it is not opened again */
    if (c->file > 0 && syscall(SYS_read, c->file, &now, sizeof(now)) == (long)sizeof(now))
        pythia__counter_add(c, &now);
    errno = before;
    return c->file > 0 ? c->total : PYTHIA__COUNTER_UNKNOWN;
}

int pythia__counter_try(enum pythia__counter which)
{
    int file = open_event(pythia__counter_events[which].type, pythia__counter_events[which].number);
    if (file < 0)
        return -errno;
    syscall(SYS_close, file);
    return 0;
}
