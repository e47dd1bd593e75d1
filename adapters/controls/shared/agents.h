/* Agents: pieces of code inside the processes that are traced, which ask now and then what shall be
 * open, and report which trace points there are. This is what all planes with agents share: the
 * agents, their reports, and the list for each instance, without any transport. */
#ifndef PYTHIA_CONTROLS_AGENTS_H
#define PYTHIA_CONTROLS_AGENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/buf.h"
#include "pythia/control.h"

#define PYTHIA__SERVICE_BYTES  256
#define PYTHIA__INSTANCE_BYTES 128
#define PYTHIA__ID_BYTES       512
#define PYTHIA__ETAG           17 /* 16 digits and a NUL */

struct pythia__agents;

struct pythia__agents_options {
    size_t agents_max, points_max; /* of all services */
    size_t service_points_max;     /* of each: no service takes the places of all others */
    uint64_t lost_ns;              /* without a word from it an agent counts as lost */
    uint64_t forget_ns;            /* and then as gone, with the points that only it had */
    uint64_t poll_ns;              /* told to agents: how often to ask */
    bool own_ids;                  /* an id begins with "<service>:", else it is refused */
    const char *type_key;          /* borrowed; in the lists while a point is open for some types
                                      only: the attribute that names types. NULL: in none */
    bool names_types;              /* each list has all types that any point is open for: a service
                                      in which a request begins has to note its roots for others */
};

/* Who there is, and what was refused so far. */
struct pythia__agents_numbers {
    uint64_t services, agents, lost_agents, points;
    uint64_t reports, refused_reports, refused_points, forgotten_agents;
    uint64_t losses; /* times that an agent had a list in force, and then none */
};

/* Make an empty list of agents; the options are copied. PYTHIA_OK with *out owned, or
 * PYTHIA_ENOMEM. */
int pythia__agents_create(const struct pythia__agents_options *options,
                          struct pythia__agents **out);
void pythia__agents_destroy(struct pythia__agents *a); /* a may be NULL */
void pythia__agents_set_lease(struct pythia__agents *a, uint64_t lease_ns);

/* A name that may come in: 1 to `most` bytes, no control characters. */
bool pythia__agents_name(struct pythia_text name, size_t most);

/* The report of an agent, as JSON (agent_report.c draws it). PYTHIA_OK with how many points
 * were taken and refused; PYTHIA_EFORMAT, PYTHIA_ELIMIT (too many agents) or PYTHIA_ENOMEM with the
 * reason in `e`; what stands before a fault may have been taken. */
int pythia__agents_report(struct pythia__agents *a, const char *bytes, size_t size, uint64_t now_ns,
                          size_t *taken, size_t *refused, struct pythia_error *e);

/* A service had this point, with so many hits, before the start: its agents get their list from the
 * first time they ask, before they have said what they have. One whose agents do not come is
 * forgotten like others. PYTHIA_OK, PYTHIA_EFORMAT (a service cannot have such a name or id),
 * PYTHIA_ELIMIT or PYTHIA_ENOMEM. */
int pythia__agents_remember(struct pythia__agents *a, struct pythia_text service,
                            struct pythia_text id, uint64_t hits, uint64_t now_ns);

/* An agent has asked, and has this list in force (its etag; empty: none). Is it known? */
bool pythia__agents_seen(struct pythia__agents *a, struct pythia_text service,
                         struct pythia_text instance, struct pythia_text etag, uint64_t now_ns);

/* The list of a service for one of its instances as JSON (borrowed until the next call of any of
 * these), and what tells it from other lists. The instance need not be known; empty: somebody who
 * is none. A service that is not known gets the list of one without points. PYTHIA_OK or
 * PYTHIA_ENOMEM. */
int pythia__agents_list(struct pythia__agents *a, struct pythia_text service,
                        struct pythia_text instance, struct pythia_text *json,
                        char etag[PYTHIA__ETAG]);

/* Call `tell` for each service whose list for no instance is not the one that it was sent last;
 * what it returns PYTHIA_OK for counts as told. */
int pythia__agents_untold(struct pythia__agents *a,
                          int (*tell)(void *context, struct pythia_text service,
                                      struct pythia_text json, const char *etag),
                          void *context);
void pythia__agents_tell_again(struct pythia__agents *a); /* everything is untold */

/* Call `each` with the name of each instance of a service that is not lost, in order, until it
 * returns other than PYTHIA_OK: that is returned. */
int pythia__agents_instances(const struct pythia__agents *a, struct pythia_text service,
                             int (*each)(void *context, struct pythia_text instance),
                             void *context);

/* Has the last _apply run out? Then no agent must hear that its list still holds. */
bool pythia__agents_stale(const struct pythia__agents *a, uint64_t now_ns);

/* The functions of struct pythia_control_ops. */
int pythia__agents_inventory(struct pythia__agents *a,
                             int (*each)(void *context, const struct pythia_control_point *point),
                             void *context);
int pythia__agents_apply(struct pythia__agents *a, const struct pythia_control_wish *wishes,
                         size_t count, uint64_t version, uint64_t now_ns);
int pythia__agents_observe(struct pythia__agents *a, uint64_t now_ns,
                           int (*each)(void *context, struct pythia_text id,
                                       struct pythia_text target, enum pythia_control_result result,
                                       uint64_t version),
                           void *context);
void pythia__agents_off(struct pythia__agents *a, bool off);
uint64_t pythia__agents_losses(const struct pythia__agents *a);

/* Count agents and losses. Agents that have not reported for `lost_ns` before `now_ns` count as
 * lost. O(agents). */
struct pythia__agents_numbers pythia__agents_numbers(const struct pythia__agents *a,
                                                     uint64_t now_ns);

#endif
