#ifndef PYTHIA_CONTROLLER_H
#define PYTHIA_CONTROLLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/control.h"

/* Brings what is open to what shall be open. It holds the desired set and its version, gives it to
 * every plane, looks at what came of it, tries again what is pending, and puts points that do not
 * obey into quarantine: they are not asked for again for a while, and told. One thread at a time;
 * the time is the caller's. */
struct pythia_controller;

struct pythia_controller_options {
    uint64_t retry_ns;      /* between attempts for what is pending; 0: 1 s */
    uint64_t obey_ns;       /* time to obey beyond the plane's latency; 0: 5 s */
    uint64_t quarantine_ns; /* 0: 10 min */
    uint64_t lease_ns;      /* renewed in thirds of it; 0: 30 s */
};

/* Takes over the planes (destroyed with it). PYTHIA_OK with *out owned, or PYTHIA_ENOMEM. */
int pythia_controller_create(struct pythia_control *const *planes, size_t count,
                             const struct pythia_controller_options *options,
                             struct pythia_controller **out);
void pythia_controller_destroy(struct pythia_controller *c); /* c may be NULL */

/* A new desired set (copied): *version of it, which rises. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_controller_want(struct pythia_controller *c, const struct pythia_control_wish *wishes,
                           size_t count, uint64_t *version);

/* Do what is due. PYTHIA_OK or PYTHIA_ENOMEM; what goes wrong with a plane is counted, and told by
 * _each. */
int pythia_controller_tick(struct pythia_controller *c, uint64_t now_ns);

/* Is the version in force everywhere, but for points in quarantine and targets that are lost? */
bool pythia_controller_in_force(const struct pythia_controller *c, uint64_t version,
                                uint64_t *since_ns);

/* Close everything at once, and keep it closed until _on: works whatever the desired set is. */
int pythia_controller_off(struct pythia_controller *c, uint64_t now_ns);
int pythia_controller_on(struct pythia_controller *c, uint64_t now_ns);

struct pythia_controlled {
    const char *plane;
    struct pythia_text id, target; /* borrowed for the call */
    double price_ns;
    bool wanted, pinned, quarantined;
    enum pythia_control_result result;
};
int pythia_controller_each(struct pythia_controller *c,
                           int (*each)(void *context, const struct pythia_controlled *point),
                           void *context);

struct pythia_controller_numbers {
    uint64_t version, applied, failed_applies, retries, quarantined, lost_targets;
};
struct pythia_controller_numbers pythia_controller_numbers(const struct pythia_controller *c);

#endif
