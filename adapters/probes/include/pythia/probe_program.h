#ifndef PYTHIA_PROBE_PROGRAM_H
#define PYTHIA_PROBE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/probe_hit.h"

#define PYTHIA_PROBE_PROGRAM_MAX 512 /* instructions */

struct bpf_insn;

/* Which hits a program reports, and what it notes of the thread. Threads that are in a request are
 * in a map of the kernel, so that what others do takes no place in the rings. */
enum pythia_probe_role {
    PYTHIA_PROBE_ANYWHERE, /* reports all hits */
    PYTHIA_PROBE_ENTER,    /* also marks the thread, unless it is marked already */
    PYTHIA_PROBE_LEAVE,    /* also takes the mark away, if it is the same */
    PYTHIA_PROBE_WITHIN,   /* reports hits of marked threads, and a few of others (probe_hit.h) */
};

#define PYTHIA_PROBE_MARK_MAX 65535

/* The entry of the map for each thread in a request, by its thread id (4 bytes). */
struct pythia_probe_mark {
    uint64_t thread; /* process id << 32 | thread id */
    uint64_t mark;
};

#define PYTHIA_PROBE_MARKS_MAX 16384 /* threads; then the one that was not hit for longest goes */

/* The entry of another map for each socket that a thread in a request has sent on, by the address
 * of the kernel's socket, which never leaves the kernel. */
struct pythia_probe_sender {
    uint64_t thread; /* the last one, as above */
    uint64_t sent_ns;
};

#define PYTHIA_PROBE_SENDERS_MAX 16384 /* likewise */

/* Which thread a hit of a trace point is about, by fields: bytes from their start; 0: no such
 * field. All 0: the current thread. */
struct pythia_probe_subject {
    uint8_t thread; /* its id */
    uint8_t socket; /* it has sent on this socket last; the hit's one value says when */
    bool sends;     /* nothing is reported: the current thread becomes the sender of `socket` … */
    uint8_t state; /* … if this field is TCP_SYN_SENT; with TCP_CLOSE, `socket` has none any more */
};

struct pythia_probe_site_program {
    const struct pythia_usdt_operand *operands;
    size_t count;   /* of operands */
    uint16_t texts; /* which are read as texts (bit 0: the first): PYTHIA_PROBE_TEXTS_MAX at most */
    uint32_t number; /* in its hits */
    enum pythia_probe_role role;
    uint32_t mark;
    int rings;   /* descriptor of a BPF_MAP_TYPE_PERF_EVENT_ARRAY, an entry for each processor */
    int threads; /* descriptor of a map of struct pythia_probe_mark; not used for ANYWHERE */
    int senders; /* of one of struct pythia_probe_sender, if the subject has a socket */
    struct pythia_probe_subject subject; /* with WITHIN alone */
};

/* Write the BPF program of a site, which puts a struct pythia_probe_hit with its arguments into the
 * ring of the current processor: `out` has room for PYTHIA_PROBE_PROGRAM_MAX instructions. Returns
 * the number of instructions. */
size_t pythia_probe_program(const struct pythia_probe_site_program *site, struct bpf_insn *out);

#endif
