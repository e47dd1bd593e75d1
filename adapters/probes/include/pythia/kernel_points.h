#ifndef PYTHIA_KERNEL_POINTS_H
#define PYTHIA_KERNEL_POINTS_H

#include "pythia/error.h"
#include "pythia/probe_program.h"
#include "pythia/usdt_notes.h"

/* Trace points of the kernel that say what it did for a thread while it was in a request. They are
 * attached as probes are, with ids like "kernel:switch_out /sys/kernel/tracing". */
#define PYTHIA_KERNEL_PROVIDER "kernel"
#define PYTHIA_KERNEL_PATH     "/sys/kernel/tracing"

enum pythia_kernel_event {
    PYTHIA_KERNEL_SWITCH_OUT,    /* the thread leaves its processor: state */
    PYTHIA_KERNEL_SWITCH_IN,     /* it gets one */
    PYTHIA_KERNEL_WAKING,        /* it could run again */
    PYTHIA_KERNEL_SYSTEM_CALL,   /* a system call begins: number */
    PYTHIA_KERNEL_SYSTEM_RETURN, /* and ends */
    PYTHIA_KERNEL_PAGE_FAULT,
    PYTHIA_KERNEL_BLOCK_ISSUE, /* a request goes to a block device: bytes */
    PYTHIA_KERNEL_CONNECT,     /* the thread opens a connection; noted in the kernel alone */
    PYTHIA_KERNEL_SEND,        /* it has sent on a socket; likewise */
    PYTHIA_KERNEL_RETRANSMIT,  /* TCP repeats a segment of such a socket: when that was noted */
    PYTHIA_KERNEL_EVENTS,
};

/* The sums over a request. Times are ns. */
enum pythia_kernel_sum {
    PYTHIA_KERNEL_RUN_QUEUE_NS, /* could run, but had no processor */
    PYTHIA_KERNEL_BLOCK_IO_NS,  /* waited for a file or a page of one */
    PYTHIA_KERNEL_FUTEX_NS,     /* waited for a lock or a condition */
    PYTHIA_KERNEL_NETWORK_NS,   /* waited in a call of a socket */
    PYTHIA_KERNEL_POLL_NS,      /* waited in poll, select or epoll */
    PYTHIA_KERNEL_SLEEP_NS,     /* slept for a time */
    PYTHIA_KERNEL_OTHER_NS,     /* waited otherwise */
    PYTHIA_KERNEL_BLOCK_REQUESTS,
    PYTHIA_KERNEL_BLOCK_BYTES,
    PYTHIA_KERNEL_PAGE_FAULTS,
    PYTHIA_KERNEL_SYSTEM_CALLS,
    PYTHIA_KERNEL_SYSTEM_CALL_NS, /* in system calls, waits among them */
    PYTHIA_KERNEL_RETRANSMITS,    /* segments that TCP has repeated */
    PYTHIA_KERNEL_SUMS,
};

/* The topics of rules: the events that each needs, and the sums that it gives (bit 1 << enum). */
struct pythia_kernel_topic {
    const char *name; /* "waits" */
    uint32_t events, sums;
};

#define PYTHIA_KERNEL_TOPICS 5

extern const struct pythia_kernel_topic
    pythia_kernel_topics[PYTHIA_KERNEL_TOPICS + 1]; /* ends with a NULL name */

/* "switch_out"; "kernel.run_queue_ns". */
const char *pythia_kernel_event_name(enum pythia_kernel_event event);
const char *pythia_kernel_sum_key(enum pythia_kernel_sum sum);

/* The waits, which are the first of the sums, can be spans of their own. The one with this name,
 * "futex" or "run_queue"; PYTHIA_KERNEL_SUMS if there is none. And the events that they take (bit 1
 * << enum). */
#define PYTHIA_KERNEL_WAITS      (PYTHIA_KERNEL_OTHER_NS + 1)
#define PYTHIA_KERNEL_WAIT_NAMES "run_queue, block_io, futex, network, poll, sleep or other"
enum pythia_kernel_sum pythia_kernel_wait_find(struct pythia_text name);
uint32_t pythia_kernel_wait_events(void);

/* The event with this name; PYTHIA_KERNEL_EVENTS if there is none. */
enum pythia_kernel_event pythia_kernel_event_find(struct pythia_text name);

/* The file that describes the trace point of an event, "/sys/kernel/tracing/events/…/format". */
const char *pythia_kernel_format_path(enum pythia_kernel_event event);

#define PYTHIA_KERNEL_FORMAT_BYTES 8192

/* A trace point, as its description has it. */
struct pythia_kernel_point {
    uint64_t id;                  /* for perf_event_open */
    struct pythia_usdt_site site; /* its operands alone */
    struct pythia_probe_subject subject;
};

/* Read a description. PYTHIA_OK, or PYTHIA_EFORMAT with the reason in `e` if this kernel has the
 * trace point otherwise than is known here. */
int pythia_kernel_point_read(enum pythia_kernel_event event, struct pythia_text format,
                             struct pythia_kernel_point *out, struct pythia_error *e);

#endif
