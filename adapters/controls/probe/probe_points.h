/* The points of the rules, and the probes of programs that each needs. */
#ifndef PYTHIA_CONTROLS_PROBE_POINTS_H
#define PYTHIA_CONTROLS_PROBE_POINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/probe_rules.h"
#include "pythia/probe_spans.h"
#include "pythia/usdt_notes.h"

#define PYTHIA__ENDS_MAX (2 * PYTHIA_PROBE_PROGRAMS_MAX)

/* In more processes than these a probe of a library is attached everywhere: each of them makes a
 * hit in the others longer, by 22 ns of 505, and takes a tenth of a second to close. */
#define PYTHIA__FEW_PROCESSES 4
#define PYTHIA__INSTANCES_MAX (2 * PYTHIA__FEW_PROCESSES + 1) /* with those that are being closed */

/* GONE: pythia-probe did not find the process. */
enum pythia__end_state {
    PYTHIA__END_CLOSED,
    PYTHIA__END_OPENING,
    PYTHIA__END_OPEN,
    PYTHIA__END_CLOSING,
    PYTHIA__END_REFUSED,
    PYTHIA__END_GONE
};

/* A probe in one process, or (pid 0) in all. */
struct pythia__probe_instance {
    struct pythia_probe_process process;
    enum pythia__end_state state;
    bool leaving; /* the probe is no longer to be in this process */
};

/* The probe of one program that begins or ends a point. */
struct pythia__probe_end {
    char *id; /* owned: "PROVIDER:NAME PATH" */
    bool done, library;
    bool sites[PYTHIA_USDT_INSTRUCTIONS]; /* instructions that its sites have */
    struct pythia__probe_instance instances[PYTHIA__INSTANCES_MAX];
    size_t instance_count;
};

struct pythia__probe_point {
    char *id; /* owned: "SERVICE:NAME" */
    struct pythia__probe_end ends[PYTHIA__ENDS_MAX];
    size_t end_count;
    bool offered; /* a program has its probes; or it is a wait of threads in requests, which have */
    bool wanted;
    bool told;           /* the feed, that it is open: of a wait alone */
    bool too_dear;       /* outside of requests: it is closed until it is wanted anew */
    uint64_t outside;    /* hits there, */
    uint64_t counted_ns; /* when they were last counted; 0: not yet */
};

/* The points of the rules in their order, each with the probes of the programs that have both of
 * its own: all are closed. A program that cannot be read, or is not there, is logged and left out.
 * PYTHIA_OK or PYTHIA_ENOMEM, with *out to be freed in both cases (NULL: there is nothing). */
int pythia__probe_points_read(const struct pythia_probe_rules *rules,
                              struct pythia__probe_point **out);
void pythia__probe_points_free(struct pythia__probe_point *points, size_t count);

#endif
