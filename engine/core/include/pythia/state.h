#ifndef PYTHIA_STATE_H
#define PYTHIA_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/buf.h"
#include "pythia/control.h"
#include "pythia/error.h"
#include "pythia/history.h"
#include "pythia/live.h"
#include "pythia/text.h"

/* The state that survives a restart, in one SQLite file (WAL): decisions with their evidence and
 * effect, the inventory with its prices, the desired set and the search space that it was chosen
 * from, the search itself with its verdicts, whether everything is off, the search's history and
 * summaries of groups. What is
 * acknowledged is on disk. When the log (FILE-wal) is cut short at any byte, what was committed
 * in the bytes that are left is there, and nothing else; a file that is cut short is put aside.
 * When the disk is full, or the file cannot be written, the state is degraded: said once, shown
 * by _is_degraded, and recovered from by itself. One thread at a time. */
struct pythia_state;
#define PYTHIA_STATE_SCHEMA 6

/* Open or make the file, for its user alone; NULL: in memory. Until it is closed, or the process
 * ends, the file is locked: a second process is refused, and told the pid of the first.
 *
 * An older schema is brought up to date. Each schema only adds tables and columns to the one before
 * it, so a newer one is read as far as it is known, and nothing is written to it: every _put_ and
 * _add_cycle returns PYTHIA_EIO, and the state is degraded until it is closed. One that lacks what
 * is read here, a database of another program, and what does not begin as a database are refused
 * and left as they are. A database that is damaged, or gone although its log is there, is put aside
 * with its log as FILE.broken (FILE.broken-2 if that is taken, and so on), and a new one is begun.
 * The log says which of these it was.
 *
 * PYTHIA_OK with *out owned, or negative with the reason in `e`: PYTHIA_EFORMAT for a file that is
 * refused, PYTHIA_EIO if it is locked or cannot be put aside. */
int pythia_state_open(const char *path, struct pythia_state **out, struct pythia_error *e);
void pythia_state_close(struct pythia_state *s); /* s may be NULL */
bool pythia_state_is_degraded(const struct pythia_state *s);

/* The known facts of a trace point. */
struct pythia_state_known {
    double price_ns;         /* of one pass; NaN: not known */
    const char *price_known; /* how: "measured", "expected" or "supposed" */
    uint64_t hits;           /* passes, all in all */
    uint64_t spans;          /* that came of it since it was opened last; 0: it is closed */
    uint64_t requests;       /* that could have passed it meanwhile */
};

/* Asked of each trace point that a cycle switches; false: nothing is known. NULL: of none. */
struct pythia_state_knower {
    bool (*know)(void *context, struct pythia_text id, struct pythia_state_known *out);
    void *context;
};

/* When pythiad was started whose cycles are added from now on (Unix epoch, ns): their numbers,
 * which the log and the report have too, begin with 1 at each start, or go on with those of the
 * search that it goes on with. 0: not known. */
void pythia_state_set_start(struct pythia_state *s, uint64_t unix_ns);

/* A cycle and its decisions, in one transaction; without groups, decisions that are of no cycle. */
int pythia_state_add_cycle(struct pythia_state *s, uint64_t unix_ns,
                           const struct pythia_vocabulary *v, const struct pythia_live_cycle *cycle,
                           struct pythia_state_knower knower);

/* The desired set: what shall be open, and for which types; and, in the same transaction, the
 * search space (text of a file) that it is of, NULL: it is the one that is there. */
int pythia_state_put_desired(struct pythia_state *s, const struct pythia_control_wish *wishes,
                             size_t count, uint64_t version, const struct pythia_text *space);
/* Visit what shall be open, once for each type that it is for; `type` NULL: for all. */
int pythia_state_each_desired(struct pythia_state *s,
                              int (*each)(void *context, struct pythia_text id,
                                          const struct pythia_text *type),
                              void *context, uint64_t *version);

/* The text of that search space, appended to `out`: none if there is none. PYTHIA_OK, PYTHIA_EIO or
 * PYTHIA_ENOMEM. */
int pythia_state_get_space(struct pythia_state *s, struct pythia_buf *out);

/* The search, for the next start to go on with: a snapshot (live_snapshot.h), the verdicts that
 * were reached with it (verdict.h), and at which instances points are open that are open at one
 * only (text of the owner), in one transaction, so that they belong together; and when that was.
 * Texts are borrowed. */
struct pythia_state_search {
    struct pythia_text snapshot, verdicts, instances;
    uint64_t unix_ns;
};
#define PYTHIA_STATE_SEARCH_MAX ((size_t)16 * 1024 * 1024)
/* More than PYTHIA_STATE_SEARCH_MAX bytes together are not written: PYTHIA_ELIMIT, and what was
 * there stays. Else PYTHIA_OK or PYTHIA_EIO. */
int pythia_state_put_search(struct pythia_state *s, const struct pythia_state_search *search);
/* What was put, with its texts in `texts`; their sizes are 0 if nothing was. PYTHIA_OK, PYTHIA_EIO
 * or PYTHIA_ENOMEM. */
int pythia_state_get_search(struct pythia_state *s, struct pythia_buf *texts,
                            struct pythia_state_search *out);
/* It cannot be used, and is put aside for whoever wants to look at it, in the notes
 * "search.broken" and "verdicts.broken"; what was put aside earlier is gone. PYTHIA_OK or
 * PYTHIA_EIO. */
int pythia_state_put_search_aside(struct pythia_state *s);

/* Is everything off, by hand? */
int pythia_state_put_off(struct pythia_state *s, bool off);
int pythia_state_get_off(struct pythia_state *s, bool *off);

/* Pins, by hand: 1 always, -1 never, 0 not any more; it takes the place of the point's last one. */
int pythia_state_put_pin(struct pythia_state *s, struct pythia_text id, int pin);
/* A pin that keeps a point open only for requests of some types, `count` of them. */
int pythia_state_put_pin_for(struct pythia_state *s, struct pythia_text id,
                             const struct pythia_text *types, size_t count);
/* A pin (1 or -1) that holds at some instances only: `places` are those of struct
 * pythia_control_wish. */
int pythia_state_put_pin_at(struct pythia_state *s, struct pythia_text id, int pin,
                            const struct pythia_text *places, size_t count);
/* Visit the pins that are for all types and instances. */
int pythia_state_each_pin(struct pythia_state *s,
                          int (*each)(void *context, struct pythia_text id, int pin),
                          void *context);
/* Visit those for some types, each once for each of its types. */
int pythia_state_each_pin_type(struct pythia_state *s,
                               int (*each)(void *context, struct pythia_text id,
                                           struct pythia_text type),
                               void *context);

/* Visit those for some instances, each once for each of its places, in order of id. */
int pythia_state_each_pin_place(struct pythia_state *s,
                                int (*each)(void *context, struct pythia_text id, int pin,
                                            struct pythia_text place),
                                void *context);

/* The search's history; _get: *out owned, NULL if there is none. */
int pythia_state_put_history(struct pythia_state *s, const struct pythia_history *h);
int pythia_state_get_history(struct pythia_state *s, struct pythia_history **out,
                             struct pythia_error *e);

/* Replace everything that is stored about the planes' trace points. */
struct pythia_state_point {
    const char *plane;
    struct pythia_text target, id;
    struct pythia_state_known of;
};
int pythia_state_put_inventory(struct pythia_state *s, const struct pythia_state_point *points,
                               size_t count);

/* Visit what was put there last, without prices. PYTHIA_OK, PYTHIA_EIO, or what `each` returned.
 */
int pythia_state_each_inventory(struct pythia_state *s,
                                int (*each)(void *context, const struct pythia_state_point *point),
                                void *context);

/* The last `count` decisions, newest first, as JSON (an array), for the control API. *out owned.
 * Its "cycle" is the number that the cycle had in its start (null: decided between cycles, or by a
 * pythiad that did not keep that), and "start_unix_ns" says in which. */
int pythia_state_decisions(struct pythia_state *s, size_t count, char **out);

#endif
