#ifndef PYTHIA_CONTROL_H
#define PYTHIA_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/error.h"
#include "pythia/option.h"
#include "pythia/text.h"

/* A control plane throws switches: it is told which trace points shall be open, and says which are.
 * Never fire and forget: each apply has a version, each point a result, and what is really open is
 * observed. A plane takes ids only from its own inventory. It knows neither search nor engine. All
 * calls are made by one thread, must not block for longer than some milliseconds, and may be made
 * as often as wanted with the same set. */

/* One switch of a target, as the plane's inventory knows it. Texts are borrowed for the call. */
struct pythia_control_point {
    struct pythia_text id;     /* the trace point's, as spans of it have it */
    struct pythia_text target; /* a service, or a process: who has it */
    double price_ns;           /* of one hit while it is open, measured; NaN: not known */
    bool open_by_default;      /* what the target goes back to when its lease runs out */
    bool pinned;               /* cannot be switched */
};

/* What shall be open. A point may be open for some request types only, where the plane can tell
 * them apart (struct pythia_control_ops.by_type); elsewhere it is open for all. */
struct pythia_control_wish {
    struct pythia_text id;
    const struct pythia_text *types; /* NULL: all */
    size_t type_count;
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

struct pythia_control_ops {
    const char *name; /* "gate", "http", "osprofiler" */
    const char *help;
    const struct pythia_option *options; /* settings of the plane; ends with {0} */
    size_t settings_size;
    bool by_type; /* it can open a point for single request types */

    /* `settings` is copied. PYTHIA_OK with *out owned, or negative with the reason in `e`. */
    int (*create)(const void *settings, struct pythia_control **out, struct pythia_error *e);
    void (*destroy)(struct pythia_control *c); /* c may be NULL; the targets keep what they have
                                                  until their lease runs out */

    /* Every point that there is now. */
    int (*inventory)(struct pythia_control *c,
                     int (*each)(void *context, const struct pythia_control_point *point),
                     void *context);

    /* Let exactly these be open from version `version` on (rising). Ids that are not in the
     * inventory are refused and told by `observe`. Also renews the lease of all targets. */
    int (*apply)(struct pythia_control *c, const struct pythia_control_wish *wishes, size_t count,
                 uint64_t version, uint64_t now_ns, struct pythia_error *e);

    /* What is in force: for each point of the last version, its result; `version` is the one that
     * the target has confirmed. */
    int (*observe)(struct pythia_control *c, uint64_t now_ns,
                   int (*each)(void *context, struct pythia_text id, struct pythia_text target,
                               enum pythia_control_result result, uint64_t version),
                   void *context);

    /* How long a switch takes at most to be in force, once it was applied. */
    uint64_t (*latency_ns)(const struct pythia_control *c);
};

/* All planes, in order of name; *count of them. */
const struct pythia_control_ops *const *pythia_controls(size_t *count);
const struct pythia_control_ops *pythia_control_named(const char *name); /* NULL: there is none */

#endif
