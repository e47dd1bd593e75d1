#ifndef PYTHIA_CONTROL_H
#define PYTHIA_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/error.h"
#include "pythia/layer.h"
#include "pythia/option.h"
#include "pythia/text.h"

/* A control plane opens and closes trace points, as the caller wishes, and says which are open.
 * Never fire and forget: each apply has a version, each point a result, and what is really open is
 * observed. A plane takes ids only from its own inventory. It knows neither search nor engine. All
 * calls are made by one thread, must not block for longer than some milliseconds, and may be made
 * as often as wanted with the same set. Times are the caller's: nanoseconds that never go back. */

/* One switch of a target, as the plane's inventory knows it. Texts are borrowed for the call. */
struct pythia_control_point {
    struct pythia_text id;     /* the trace point's, as spans of it have it */
    struct pythia_text target; /* a service, or a process: who has it */
    double price_ns;           /* of one hit while it is open, measured; NaN: not known here */
    uint64_t hits;             /* how often it was passed, open or closed, as far as was counted
                                  here */
    bool open_by_default;      /* what the target goes back to when its lease runs out */
    bool pinned;               /* cannot be switched */
    enum pythia_layer layer;   /* where it lies in its target */
    size_t instances, open_at; /* of the target that are known, and of them those whose set has the
                                  point open; both 0 where the plane cannot tell them apart */
    const char *note;          /* static: why it is closed, or what it lacks, while it is wanted;
                                  NULL: nothing is known */
};

/* The desired set. A point may be open for some request types only, where the plane can tell
 * them apart (struct pythia_control_ops.by_type); elsewhere it is open for all.
 *
 * It may also be open at some instances only. An instance is one process of a target, and a place
 * names instances by two patterns, "HOST/PROCESS" (instances.h). A wish with places is for the
 * instances that one of `at` has, except those that one of `except` has. Several wishes for one id
 * are allowed, and an instance has a point open if any of them says so. Places are compared with
 * the name of each instance when its set is made, so that they also hold for instances that come
 * later.
 *
 * A plane that has one switch for all instances of a target cannot do that (by_instance is false).
 * It must not be given wishes with places; for it such a point is closed, because open everywhere
 * would cost more than was asked for. */
struct pythia_control_wish {
    struct pythia_text id;
    const struct pythia_text *types; /* NULL: all */
    size_t type_count;
    const struct pythia_text *at; /* places; NULL: all instances; not NULL and none: no instance */
    size_t at_count;
    const struct pythia_text *except; /* places */
    size_t except_count;
};

enum pythia_control_result {
    PYTHIA_CONTROL_PENDING, /* asked for, not seen in force yet */
    PYTHIA_CONTROL_APPLIED, /* seen in force */
    PYTHIA_CONTROL_REFUSED, /* the target says no, or does not know it */
    PYTHIA_CONTROL_LOST,    /* the target cannot be reached */
};

struct pythia_control {
    const struct pythia_control_ops *ops; /* begin a plane's own state with this */
};

#define PYTHIA_CONTROL_LEASE_NS UINT64_C(30000000000) /* unless told otherwise */

struct pythia_control_ops {
    const char *name; /* "gate", "http", "osprofiler" */
    const char *help;
    const struct pythia_option *options; /* settings of the plane; ends with {0} */
    size_t settings_size;
    bool by_type;          /* it can open a point for single request types */
    bool by_instance;      /* it can open a point at single instances */
    bool refusal_is_final; /* a refusal has a reason that stays, such as a list of what is allowed,
                              so that a point need not be asked for again and again */
    bool spans_tell; /* how often a point was passed, and what that costs, is not told by the plane
                        but by the spans of its targets and what comes with them (vocabulary.h) */

    /* `settings` is copied. PYTHIA_OK with *out owned, or negative with the reason in `e`. A plane
     * whose targets cannot be reached yet is no failure. */
    int (*create)(const void *settings, struct pythia_control **out, struct pythia_error *e);
    void (*destroy)(struct pythia_control *c); /* c may be NULL; the targets keep what they have
                                                  until their lease runs out */

    /* How long the targets keep what they were told after the last _apply; then they go back to
     * their default set. Before the first _apply. */
    void (*set_lease)(struct pythia_control *c, uint64_t lease_ns);

    /* Every point that there is, as of the last _observe. Ends with the first negative status of
     * `each`. */
    int (*inventory)(struct pythia_control *c,
                     int (*each)(void *context, const struct pythia_control_point *point),
                     void *context);

    /* Let exactly these points of the inventory be open from version `version` on (rising);
     * points that nobody has told of yet stay as they are by default. Ids that are not in the
     * inventory are refused and told by `observe`. Also renews the lease of all targets. Negative:
     * nothing was changed, the reason is in `e`. */
    int (*apply)(struct pythia_control *c, const struct pythia_control_wish *wishes, size_t count,
                 uint64_t version, uint64_t now_ns, struct pythia_error *e);

    /* The set in force: for each point of the inventory whether it is open or closed as the last
     * version says, and for each wish that is not in it PYTHIA_CONTROL_REFUSED with target "";
     * `version` is the one that the target has confirmed (0: none). With PYTHIA_CONTROL_PENDING it
     * is an older one, as which the target is. This is also when a plane takes in what its targets
     * say: to be called now and then before the first _apply too. */
    int (*observe)(struct pythia_control *c, uint64_t now_ns,
                   int (*each)(void *context, struct pythia_text id, struct pythia_text target,
                               enum pythia_control_result result, uint64_t version),
                   void *context);

    /* Close everything at once, also what nobody has told of yet, whatever was applied or will be,
     * and end that again. Needs no _apply before it, so that another process than the one that
     * applies, which may hang, can do it by a plane of its own; may take as long as half a second.
     * PYTHIA_OK: all targets that can be reached will see it within their plane's latency. */
    int (*off)(struct pythia_control *c, bool off, uint64_t now_ns, struct pythia_error *e);

    /* How long a switch takes at most to be in force, once it was applied. */
    uint64_t (*latency_ns)(const struct pythia_control *c);

    /* For planes whose targets are several processes, that come and go; else NULL. How often so far
     * a process that had what it was told has been without it: it began anew under its name, or its
     * lease has run out. While one that is new has yet to get it, its target is pending, and nobody
     * has lost anything. */
    uint64_t (*losses)(const struct pythia_control *c);
};

/* The plane of that name; NULL if there is none. */
const struct pythia_control_ops *pythia_control_named(const char *name);

#endif
