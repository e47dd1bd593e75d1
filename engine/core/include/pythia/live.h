#ifndef PYTHIA_LIVE_H
#define PYTHIA_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/groups.h"
#include "pythia/search.h"
#include "pythia/space.h"
#include "pythia/span_batch.h"
#include "pythia/unknown_points.h"
#include "pythia/vocabulary.h"
#include "pythia/window.h"

/* The engine attached to a stream: spans go in, requests are cut out of them, and when a cycle is
 * full the search decides. It throws no switch and knows no socket, file or clock: whoever owns it
 * gives it the time and carries out what it wants open. The same code as `pythia replay
 * --closed-loop`, so that a recorded stream, replayed, gives the same groups, shares and
 * explanation. One thread at a time.
 *
 *   learning   Without a search space, the first requests are taken with whatever is open to make
 *              one. When the first type has been learnt, others are waited for as long again, and
 *              those of which some requests were seen by then until they are learnt too, but no
 *              longer than `cycle_ns`; then the skeleton is wanted open.
 *   searching  Cycles. A cycle is full when it has so many requests of one type, or after a time.
 *              Then those that began before its last request did, and have not been seen whole, are
 *              waited for, up to four times as long as the longest request took and no longer than
 *              a cycle may last: whoever decides without them leaves out the slow ones. What is
 *              seen meanwhile and began later belongs to the next cycle.
 *
 * A request type that turns up later is learnt in the same way beside it. When some requests of it
 * have come, what is closed is opened for it, and for all such types that there are, until they are
 * learnt or for `cycle_ns`. Where points cannot be opened for single types, they are for all; but
 * of types that are searched only what the search wants open is looked at, so that their evidence
 * goes on as it is. With `points_open` batches are tried first, to see which points the types pass,
 * and those are opened then, as many as may be. That happens `learn_hourly` times in an hour at
 * most, so that types without number do not keep everything open: others wait until then. With 0 a
 * type is learnt with what is open anyway. At the end of a cycle the space grows by the types that
 * were learnt, and the search forgets nothing of the others. Types of which requests come without
 * number are learnt when they come often; in the evidence of one cycle those beyond 2048 are one
 * type, "(other)".
 *
 * Trace points that turn up later in requests of known types, because a program was updated, are
 * learnt too, as often at most: types/late_learning.h has the phases.
 *
 * Of a type that has less requests in a cycle than the search needs they are evidence of the next
 * one too, and so on until there are enough: as long as nothing is opened or closed that its
 * requests pass, no type is learnt, and no target loses what was in force. What is kept of
 * such types takes a quarter of `evidence_bytes` at most; what does not fit is counted.
 *
 * Of a type that is searched only what is wanted open is looked at: spans of other trace points, of
 * a target that does not obey or cannot be switched, are left out and counted as hidden; those of
 * points that the search space does not know, of which nobody decides, are also counted as such.
 *
 * After a switch requests are kept apart, and counted, until the owner says that it is in force,
 * and then those that began before that; but no longer than a request may last, in case the clock
 * of the spans is off. When targets join, which take some time to have in force what others have,
 * those under way until then are kept apart, and what was gathered before stays. When a target lost
 * it and has it back, what was gathered of the cycle is kept apart too: nobody knows with what. */
struct pythia_live;

/* Adds to each finished request what is known of it beside its spans and variables, before anything
 * else is done with it: the trace, or another one, borrowed until the next call; NULL: out of
 * memory. */
struct pythia_live_adder {
    const struct pythia_trace *(*add)(void *context, const struct pythia_trace *trace);
    void *context;
};

/* A search that is shared (live_shared.h). `group` NULL: it is not; then the settings are only
 * those of what is saved of it (live_snapshot.h), and NULL is as none. */
struct pythia_live_shared_options {
    const char *group; /* copied */
    /* Copied: what decides what the search does, as text without the space: "NAME=VALUE, …". */
    const char *settings;
    struct pythia_open_points *always, *never; /* pins of these settings; NULL: none; borrowed */
};

/* What is known of instances by whoever owns the engine; .count NULL: they cannot be told apart. A
 * point may then be open at one instance of its service only, when at all of them it would exceed
 * the budget, or when requests vary at that one only (search.h). Requests of a type that has such a
 * point open are evidence only if all spans of its service in them come from that instance: others
 * lack the point because it is closed there, and not because they do not hit it. They are counted
 * (`elsewhere`). A search that is shared opens all points at all instances. */
struct pythia_live_instances {
    /* As pythia_search_options.instances. */
    uint32_t (*count)(void *context, uint32_t tracepoint);
    /* As pythia_search_options.prefer. Must not call the engine but for what it is asked. */
    bool (*prefer)(void *context, uint32_t tracepoint, struct pythia_text host);
    /* Is a resource the instance at which such points of its service are open? */
    bool (*is_chosen)(void *context, uint32_t resource);
    void *context;
};

struct pythia_live_options {
    struct pythia_window_options window;
    struct pythia_groups_options groups;
    struct pythia_search_options search;
    struct pythia_vocabulary_limits names; /* each 0: 262 144 strings, 65 536 trace points, 65 536
                                              resources, 64 MiB */
    size_t cycle_requests;                 /* of one type; 0: 100 */
    uint64_t cycle_ns;       /* a cycle is full then at the latest, if it has any request; where no
                                type has as many as the search needs, after ten times as long; 0:
                                60 s */
    uint64_t cycle_min_ns;   /* it is not full before, however many requests come; 0: no such time.
                                A decision costs some ms, and a switch takes longer than that */
    uint64_t evidence_bytes; /* a cycle whose evidence takes so much memory is full; 0: 64 MiB */
    size_t learn_requests;   /* of each type, before a type is searched; 0: 50 */
    size_t types_max;        /* that are searched; 0: 1000 */
    struct pythia_live_adder adder; /* .add NULL: none */
    struct pythia_live_instances instances;
    bool learn_all; /* while the first types are learnt, everything is wanted open */
    struct pythia_live_shared_options shared;
    size_t learn_hourly; /* times in an hour that closed points are opened to learn what turned up,
                            at most 60; 0: never, nor if the budget has no points_per_cycle */
};

/* The result of a cycle. All of it is borrowed for the call. */
struct pythia_live_cycle {
    struct pythia_cycle decisions; /* without any, and with the number of the last that there were,
                                      while it learns or pauses */
    const struct pythia_groups *groups;
    uint64_t requests;  /* seen whole with one set of open points */
    uint64_t under_way; /* since the last cycle: begun before the last switch was in force, and kept
                           apart */
    uint64_t hidden_requests; /* since the last cycle: of which nothing is wanted open */
    uint64_t spans;           /* of the requests, but for hidden ones */
    uint64_t spans_saved; /* that there would be more if all that the search space knows of their
                             types were open: as many as it has of a request on average */
    uint64_t lessons, lessons_cut; /* since the beginning, as in struct pythia_live_numbers */
    size_t types_waiting;          /* for one */
    struct pythia_unknown_points unknown; /* since the beginning */
    size_t skeleton_count, point_count;   /* trace points: of the skeleton, of the search space */
    double seconds;                       /* that the requests came in; 0: not known */
    uint64_t begin_ns, end_ns; /* when the first of them began, and the last was completed, by the
                                  clock of spans */
    uint64_t hold_ns; /* for verdicts (struct pythia_verdict_cycle): the longest cycle, but a minute
                         at most */
};

/* Gets each cycle; negative stops the caller of _add or _tick. */
struct pythia_live_taker {
    int (*cycle)(void *context, const struct pythia_live_cycle *cycle);
    void *context;
};

/* `vocabulary` and `space` (NULL: learn it) are borrowed; the vocabulary gets the limits, and the
 * space the types that are learnt. PYTHIA_OK with *out owned, or PYTHIA_ENOMEM. */
int pythia_live_create(struct pythia_vocabulary *vocabulary, struct pythia_space *space,
                       const struct pythia_live_options *options, struct pythia_live_taker taker,
                       struct pythia_live **out);
void pythia_live_destroy(struct pythia_live *l); /* l may be NULL */

/* Gets each request as it came, with its type (number of a string), whatever becomes of it;
 * negative likewise. NULL: nobody does. */
void pythia_live_watch(struct pythia_live *l,
                       int (*request)(void *context, uint32_t type,
                                      const struct pythia_trace *trace),
                       void *context);

/* Gets each span as it arrives, before its request is finished; negative likewise. NULL: nobody
 * does. */
void pythia_live_watch_spans(struct pythia_live *l,
                             int (*span)(void *context, const struct pythia_trace_id *trace,
                                         const struct pythia_span *span),
                             void *context);

/* Our own clock shows `unix_ns` (since the Unix epoch) at `now_ns`. To be called from time to time,
 * so that it can be worked out when a request began although the clock of a sender is ahead, or
 * behind by more than a request may last. Without it all senders are believed. */
void pythia_live_set_clock(struct pythia_live *l, uint64_t unix_ns, uint64_t now_ns);

/* Add what was decoded from one body. PYTHIA_OK, PYTHIA_ENOMEM or what the taker returned. */
int pythia_live_add(struct pythia_live *l, const struct pythia_span_batch *batch, uint64_t now_ns);

/* Where the spans of the following batches come from: pythia_window_set_origin, which _tick leaves
 * as it is. Forgotten requests are evidence of nothing. When the oldest open request came: what was
 * added before `pythia_live_oldest_ns` is of finished requests only. */
void pythia_live_set_origin(struct pythia_live *l, uint16_t origin);
void pythia_live_forget_origin(struct pythia_live *l, uint16_t origin);
uint64_t pythia_live_oldest_ns(const struct pythia_live *l);

/* A request was finished by another engine, and does not count here; and forget which requests were
 * finished (pythia_window_note_finished, _forget_finished). */
int pythia_live_note_finished(struct pythia_live *l, struct pythia_trace_id id);
void pythia_live_forget_finished(struct pythia_live *l);

int pythia_live_tick(struct pythia_live *l, uint64_t now_ns);
int pythia_live_drain(
    struct pythia_live *l); /* no more will come: finish requests, end the cycle */

/* For the taker, while it is called: the evidence of the cycle becomes the caller's, who may hand
 * it to another thread: nothing else knows of it then. What the cycle borrows of it stays valid as
 * long as it is not destroyed. NULL: it was taken before. */
struct pythia_groups *pythia_live_take_groups(struct pythia_live *l);

/* Report the bytes that the owner retains for past cycles: pythia_window_hold. */
void pythia_live_hold(struct pythia_live *l, uint64_t bytes);

/* Should senders be told to wait? */
bool pythia_live_is_full(const struct pythia_live *l);

/* Rises whenever what is wanted open changes, before the taker is told of the cycle that changed
 * it. 0: nothing is wanted yet, and all stays as it is. */
uint64_t pythia_live_wish(const struct pythia_live *l);

/* Is a trace point wanted open, for any type? And is that for us to say: is it in the search space?
 * What is not stays as its target has it by default, so that types that are not known yet can be
 * seen. */
bool pythia_live_is_open(const struct pythia_live *l, uint32_t tracepoint);
bool pythia_live_knows(const struct pythia_live *l, uint32_t tracepoint);

/* At 1 of how many instances a trace point is wanted open; 1: at all. */
uint32_t pythia_live_part(const struct pythia_live *l, uint32_t tracepoint);

/* Another instance has been chosen: what was gathered is kept apart, and the wish is a new one.
 * PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_live_choose_again(struct pythia_live *l);

/* Does a trace point belong to the skeleton of the search space? While that is being learnt: has a
 * request shown that it begins requests, or is called by another service? Pins do not close it
 * then, as nothing could be learnt without it. */
bool pythia_live_in_skeleton(const struct pythia_live *l, uint32_t tracepoint);

/* The types that a trace point is wanted open for because they are being learnt, beside those of
 * pythia_live_limit if it is open without that: numbers of strings, at most `most`. Returns how
 * many; 0: none is. */
#define PYTHIA_LIVE_LATE_MAX 32
size_t pythia_live_open_for(const struct pythia_live *l, uint32_t tracepoint, uint32_t *types,
                            size_t most);

/* Is a trace point open just now only to see which known types hit it? */
bool pythia_live_seeks(const struct pythia_live *l, uint32_t tracepoint);

/* Have requests of a type (number of a string) come, or is it in the search space? */
bool pythia_live_has_type(const struct pythia_live *l, uint32_t type);

/* Call `take` for each such type, once, until it returns anything but 0: that is returned. */
int pythia_live_each_type(const struct pythia_live *l, int (*take)(void *context, uint32_t type),
                          void *context);

/* The types that an open trace point is limited to, by a pin or because the search has opened it
 * for them: *count of their names, borrowed until another set is wanted or other pins take their
 * place; NULL: it is open for all. A point of the skeleton always is, and one that gave no span
 * while it was open for some types (pythia_search_is_wide). */
const struct pythia_text *pythia_live_limit(const struct pythia_live *l, uint32_t tracepoint,
                                            size_t *count);

/* The set of open points that the last wish is about is in force at all targets since this time
 * (Unix epoch, ns, by the clock of spans). Requests that began earlier and are seen whole later are
 * kept apart. To be called once for each wish, and again with a later time when targets have joined
 * (`joined`: those that had the set before have it all along, and what was gathered stays), or when
 * some had lost it and have it back (else: what was gathered is kept apart). With a time that is
 * known it changes nothing. */
void pythia_live_applied(struct pythia_live *l, uint64_t since_ns, bool joined);

/* A trace point that exists although no span of it was seen yet, as a control plane's inventory
 * knows it: it gets a number. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_live_know(struct pythia_live *l, struct pythia_text id);

/* Other pins than those of the options, and what prices say now: what changes by that is wanted at
 * once. A point that `always` has for some types only (open_points.h) is open for these, and pinned
 * closed for all others: nothing of it is seen in their requests, also where its target cannot tell
 * types apart. `fixed`: points that nothing can switch and whose spans arrive all the same; they
 * are open, and nothing of them is hidden. The sets are borrowed until others take their place;
 * NULL: none. PYTHIA_OK, or PYTHIA_ENOMEM: then it is as it was. */
int pythia_live_set_pins(struct pythia_live *l, struct pythia_open_points *always,
                         struct pythia_open_points *never, struct pythia_open_points *fixed);

/* Mean hits of a trace point per request, of the type that hits it most often; NaN: the search
 * space does not know it, or is being learnt. */
double pythia_live_calls(const struct pythia_live *l, uint32_t tracepoint);

/* Pause and resume deciding ("off" and "on"): while paused cycles are cut and told, and nothing is
 * learnt, opened or closed. What was gathered before either is kept apart, because what is open
 * changes; after resuming the wish is a new one, that has to be applied. */
void pythia_live_pause(struct pythia_live *l, bool paused);

struct pythia_live_numbers {
    bool learning, paused;
    bool switching;            /* a wish waits for being applied */
    uint64_t cycles, requests; /* told; in them */
    uint64_t under_way;        /* requests kept apart */
    uint64_t other_requests;   /* whose type was taken for "(other)" */
    uint64_t carried_requests; /* times that one was evidence of one cycle more, of a rare type */
    uint64_t not_carried;      /* of rare types, for which there was no room */
    uint64_t elsewhere;        /* requests that hit an instance where a point is closed that is open
                                  at another one */
    uint64_t hidden_requests;  /* of which nothing was left, because their roots are not wanted */
    uint64_t types, learnt;    /* that are known or being learnt; of them in the search space */
    uint64_t merged_types;     /* that were being learnt when their paths turned out to be those of
                                  a larger type */
    bool teaching;             /* points are open to learn what turned up */
    uint64_t seeks, renewed;   /* times that points which turned up were opened to see which types
                                  hit them; that a known type was learnt once more for that */
    uint64_t reviews;          /* times that known types were learnt once more in case they hit
                                  points that were known from others */
    uint64_t lessons;          /* so far; */
    uint64_t lessons_cut;    /* of them those in which points stayed closed that types pass, or may
                               pass, because no more may be open at once */
    uint64_t types_waiting;  /* to be learnt, because there were too many in the last hour */
    uint64_t unknown_points; /* that requests of types that are searched pass, and the search space
                                does not know */
    uint64_t unknown_spans;  /* of such points, left out so far */
};
struct pythia_live_numbers pythia_live_numbers(const struct pythia_live *l);

/* The current search space, the losses so far, and the state of the window. Pointers are
 * borrowed until the next call that changes the engine. */
const struct pythia_space *pythia_live_space(const struct pythia_live *l);
const struct pythia_counts *pythia_live_counts(const struct pythia_live *l);
struct pythia_window_numbers pythia_live_window(const struct pythia_live *l);

#endif
