#ifndef PYTHIA_SITE_PLAN_MAKE_H
#define PYTHIA_SITE_PLAN_MAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/buf.h"
#include "pythia/error.h"
#include "pythia/probe_rules.h"

/* The plan of the probes that a program reports by itself (site_plan.h), from the notes of its
 * file and of its libraries. */
struct pythia_site_plan;

/* Which probes make which spans: by rules (borrowed until _destroy), of which points with functions
 * are left out; or, without (NULL), by names: what ends in __start and __done (or entry and return,
 * begin and end, start and end, enter and exit) is a pair, named "PROVIDER:NAME" without that end;
 * any other probe is an event. Arguments are then the key-values arg1, arg2 and so on, and, of the
 * probe that ends a pair, done_arg1. `open`: points are opened when they are found; else only those
 * that begin requests. PYTHIA_OK with *out owned, or PYTHIA_ENOMEM. */
int pythia_site_plan_create(const struct pythia_probe_rules *rules, bool open,
                            struct pythia_site_plan **out);
void pythia_site_plan_destroy(struct pythia_site_plan *p); /* p may be NULL */

/* Add the sites of a program or library. PYTHIA_OK, also if it has none; or negative with the
 * reason in `e`: as pythia_usdt_notes_read, PYTHIA_EIO, PYTHIA_ELIMIT for too many files. */
int pythia_site_plan_add(struct pythia_site_plan *p, const char *path, struct pythia_error *e);

struct pythia_site_plan_numbers {
    uint64_t points;    /* with a site */
    uint64_t functions; /* of the rules, which were left out */
    uint64_t sites;
    uint64_t jumps;   /* sites where a jump can stand */
    uint64_t refused; /* notes that are malformed, lead nowhere, or have no nop */
};
struct pythia_site_plan_numbers pythia_site_plan_numbers(const struct pythia_site_plan *p);

/* Append the plan as the shim reads it. `filters`: of seccomp in this process. PYTHIA_OK or
 * PYTHIA_ENOMEM. */
int pythia_site_plan_write(const struct pythia_site_plan *p, uint64_t filters,
                           struct pythia_buf *to);

#endif
