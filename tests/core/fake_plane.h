/* A control plane whose targets do as a test says: they obey, refuse, are lost, are slow, or lie.
 */
#ifndef FAKE_PLANE_H
#define FAKE_PLANE_H

#include <stdbool.h>
#include <stdint.h>

#include "pythia/control.h"

#define FAKE_POINTS 16

enum fake_mood {
    FAKE_OBEYS,   /* at once, or after `delay_ns` */
    FAKE_REFUSES, /* says no */
    FAKE_IGNORES, /* is asked, and stays as it is */
    FAKE_LIES,    /* says "applied" of a set that is older than the one it was told */
    FAKE_LATE,    /* confirms the set before the last one it was told */
    FAKE_LOST,
};

struct fake_point {
    const char *id, *target;
    bool open_by_default, pinned;
    bool knows_nothing; /* neither price nor hits */
    enum fake_mood mood;
    bool open;         /* really */
    bool told;         /* what it was told last */
    unsigned switches; /* how often `told` changed */
    size_t types;      /* for how many types; 0: all */
    size_t places;     /* that it was told; 0: all instances */
    bool except;       /* all but some */
};

struct fake_plane {
    struct pythia_control control;
    struct fake_point points[FAKE_POINTS];
    size_t count;
    uint64_t delay_ns, latency_ns;
    bool broken, off_broken; /* apply and off fail */
    bool blind;              /* observe fails */
    bool off;
    uint64_t version, before, told_ns, lease_ns; /* before: the version told before the last one */
    unsigned applies, inventories, observations, destroyed;
    uint64_t losses;
    char unknown[64]; /* an id that it was told and does not have */
};

/* Begin one, on the stack or static: what destroys it leaves the memory alone. */
void fake_plane_init(struct fake_plane *f, const char *name, bool by_type);
/* Its targets are several processes each: it tells itself when one has lost what it had (`losses`).
 */
void fake_plane_of_processes(struct fake_plane *f);
/* It can open points at single instances. */
void fake_plane_of_instances(struct fake_plane *f);
struct fake_point *fake_plane_add(struct fake_plane *f, const char *id, const char *target);

#endif
