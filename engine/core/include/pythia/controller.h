#ifndef PYTHIA_CONTROLLER_H
#define PYTHIA_CONTROLLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/control.h"

/* Brings what is open to what shall be open. It holds the desired set and its version, gives it to
 * every plane, looks at what came of it, tries again what is pending, and puts points that do not
 * obey into quarantine: they go back to their default, are not asked for again for a while, and
 * told. Only points of the planes' inventories are ever asked for; a wish for another waits until
 * it is there. A point is switched at most once in `hold_ns`, however often the desired set
 * changes. One thread at a time; the time is the caller's, and never goes back. */
struct pythia_controller;

enum pythia_price_known {
    PYTHIA_PRICE_SUPPOSED, /* not known: whoever needs one supposes it */
    PYTHIA_PRICE_EXPECTED, /* few passes were measured, or none: what others cost stands for it */
    PYTHIA_PRICE_MEASURED,
};
const char *pythia_price_known_name(enum pythia_price_known known); /* "measured" */

/* Facts about a trace point that its plane does not know. */
struct pythia_controller_seen {
    double price_ns; /* of one pass; NaN: not known */
    enum pythia_price_known price_known;
    uint64_t spans, requests; /* that came of it; that could have passed it (passes.h), so far */
};

#define PYTHIA_SILENT_REQUESTS 30 /* as many as are needed to say anything of requests */

struct pythia_controller_options {
    uint64_t retry_ns;      /* between attempts for what is pending; 0: 1 s */
    uint64_t obey_ns;       /* time to obey beyond the plane's latency; 0: 5 s */
    uint64_t quarantine_ns; /* 0: 10 min */
    uint64_t lease_ns;      /* renewed in thirds of it; 0: 30 s */
    uint64_t hold_ns;       /* 0: 1 s */
    uint64_t version;   /* of the last desired set of an earlier controller: the next is higher */
    bool keep_defaults; /* what is open by default (entry points, roots) stays open, wished for
                               or not */
    /* Asked of each point now and then, and when it is told to open. NULL: nothing is known. */
    struct pythia_controller_seen (*see)(void *context, struct pythia_text id);
    void *see_context;
};

/* Takes over the planes (destroyed with it, on failure too). PYTHIA_OK with *out owned, or
 * PYTHIA_ENOMEM. */
int pythia_controller_create(struct pythia_control *const *planes, size_t count,
                             const struct pythia_controller_options *options,
                             struct pythia_controller **out);
void pythia_controller_destroy(struct pythia_controller *c); /* c may be NULL */

/* A new desired set (copied): *version of it, which rises; the next _tick acts on it. Before the
 * first one targets are left alone, and the inventory is read. PYTHIA_OK or PYTHIA_ENOMEM, with
 * everything as it was. */
int pythia_controller_want(struct pythia_controller *c, const struct pythia_control_wish *wishes,
                           size_t count, uint64_t *version);

/* Do what is due: call it after _want, and at least some times a second. PYTHIA_OK or
 * PYTHIA_ENOMEM; what goes wrong with a plane is counted, and told by _each_plane. O(points). */
int pythia_controller_tick(struct pythia_controller *c, uint64_t now_ns);

/* Is the version (the last one) in force everywhere, but for points in quarantine and targets that
 * are lost? Since when: the time of the _tick that saw it. */
bool pythia_controller_in_force(const struct pythia_controller *c, uint64_t version,
                                uint64_t *since_ns);

/* That time rises when targets join, which have to get the set first, and when something that was
 * in force is so no more: a point is found otherwise than it was asked to be and had been, or is
 * asked for otherwise though nobody wished it (quarantine); a target that was lost is back without
 * it; a plane fails, comes back, or its targets' lease runs out while it fails; _off and _on. This
 * is when the latter was seen last, 0: never. As long as it stays as it is, all who had the set
 * have had it all along. */
uint64_t pythia_controller_lost_ns(const struct pythia_controller *c);

/* Close everything at once, and keep it closed until _on: works whatever the desired set is.
 * PYTHIA_OK: all planes were told; else the status of the first that could not be, which is tried
 * again by _tick. */
int pythia_controller_off(struct pythia_controller *c, uint64_t now_ns);
int pythia_controller_on(struct pythia_controller *c, uint64_t now_ns);
bool pythia_controller_is_off(const struct pythia_controller *c);

/* A point of some plane. */
struct pythia_controlled {
    const char *plane;
    struct pythia_text id, target; /* borrowed for the call */
    double
        price_ns; /* of one pass: the plane's, or else what else is known of it; NaN: nothing is */
    enum pythia_price_known price_known;
    uint64_t hits;     /* that its plane counted, or spans that came, if they are more */
    uint64_t spans;    /* that came of it since it was opened; 0 while it is closed */
    uint64_t requests; /* that could have passed it meanwhile */
    bool wanted, pinned, quarantined, open_by_default;
    bool placed;               /* it is wanted at some instances only */
    size_t instances, open_at; /* as in struct pythia_control_point, as of the last look */
    enum pythia_layer layer;
    const char *note; /* as in struct pythia_control_point */
    bool silent; /* it is open, and of PYTHIA_SILENT_REQUESTS that could have passed it none did */
    enum pythia_control_result result;
};

/* All points, in order of plane, target and id. Ends with the first negative status of `each`,
 * which is returned. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_controller_each(struct pythia_controller *c,
                           int (*each)(void *context, const struct pythia_controlled *point),
                           void *context);

/* The point of that id; of several targets that have it counts are added up, and the price is the
 * highest. False: no plane has it. O(points). */
bool pythia_controller_point(struct pythia_controller *c, struct pythia_text id,
                             struct pythia_controlled *out);

/* Can every plane that has the point of that id open it at single instances? False also if none has
 * it. O(points). */
bool pythia_controller_tells_instances(const struct pythia_controller *c, struct pythia_text id);

struct pythia_controlled_plane {
    const char *name;
    bool reachable;  /* the last attempt to tell it its set came through */
    bool in_force;   /* what it was told */
    const char *why; /* of the last failure; "": none so far */
    uint64_t points, lost_targets;
};
int pythia_controller_each_plane(const struct pythia_controller *c,
                                 int (*each)(void *context,
                                             const struct pythia_controlled_plane *plane),
                                 void *context);

struct pythia_controller_numbers {
    bool wished;                                                      /* there is a desired set */
    uint64_t version;                                                 /* of the last one */
    uint64_t applied, failed_applies, retries, switches, quarantined; /* so far */
    uint64_t points, in_quarantine, lost_targets, unknown_wishes;     /* now; wishes for points that
                                                                         no plane has */
    uint64_t silent;                                                  /* points that are, now */
    uint64_t changes; /* points that came to the inventory or went, so far */
};
struct pythia_controller_numbers pythia_controller_numbers(const struct pythia_controller *c);

#endif
