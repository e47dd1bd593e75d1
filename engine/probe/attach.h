/* The rings of a client and the probes that write into them, by perf_event_open(2) and bpf(2). */
#ifndef PYTHIA_PROBE_ATTACH_H
#define PYTHIA_PROBE_ATTACH_H

#include "pythia/priced_functions.h"
#include "session.h"

#define PYTHIA__RINGS_MAX 253 /* processors: as many descriptors as a message can carry */

struct pythia__rings {
    struct pythia__opener opener; /* first, so that one is the other */
    int map;                      /* processor -> ring */
    int threads;                  /* that are in a request: thread id -> mark */
    int senders;                  /* of these: socket -> the one that has sent on it last */
    int rings[PYTHIA__RINGS_MAX]; /* of processors that are online */
    size_t count;
    int type;                               /* of the uprobe unit */
    const struct pythia_hit_prices *prices; /* borrowed */
};

/* Make the rings, empty. PYTHIA_OK with *out to be closed, or PYTHIA_EIO with what is missing (a
 * capability, the kernel's uprobes) in `e`. */
int pythia__rings_open(struct pythia__rings *out, struct pythia_error *e);
void pythia__rings_close(struct pythia__rings *r);

/* Open one site of a file, as a message asks for: the descriptor of its event, which is enabled, or
 * -1 with the reason in `e`. */
int pythia__site_open(const struct pythia__rings *r, const struct pythia_probe_message *m,
                      const struct pythia_usdt_site *site, uint16_t texts, uint32_t number,
                      struct pythia_error *e);

/* Probes of this program that say what a hit costs. */
struct pythia__prices {
    struct pythia__rings rings;
    struct pythia_probe_rings *mapped;
    struct pythia_hit_prices of_hits; /* with a limit before _open */
};

/* Open them, and measure. Nothing closes them but the end of the process. PYTHIA_OK, or PYTHIA_EIO
 * with the reason in `e`. */
int pythia__prices_open(struct pythia__prices *p, struct pythia_error *e);

/* Measure once more, which takes a millisecond or some. */
void pythia__prices_measure(struct pythia__prices *p);

/* Opens probes of real programs: the opener of struct pythia__rings. */
extern const struct pythia__opener pythia__rings_opener;

#endif
