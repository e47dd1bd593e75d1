/* The switches: what the search and pins want open, what became of it at the targets, and what it
 * costs. */
#ifndef PYTHIA_PYTHIAD_SWITCHES_H
#define PYTHIA_PYTHIAD_SWITCHES_H

#include "in_force.h"
#include "pythia/breaker.h"
#include "pythia/controller.h"
#include "pythia/overhead.h"
#include "pythia/passes.h"
#include "pythia/wishes.h"
#include "shared/engine.h"
#include "span_rate.h"

/* A pin of a trace point by hand: 1 open, -1 closed, 0 as the search decides. Without texts it is
 * for all request types, and holds at all instances. Only a pin that opens may have types, and then
 * no places (struct pythia_control_wish in control.h). */
struct pythia__pin {
    int value;
    const struct pythia_text *types, *places;
    size_t type_count, place_count;
};

/* What texts of --always and --never match that have the form HOST/SERVICE/PROCESS/FUNCTION; of
 * each trace point one wish, as in places.h. */
struct pythia__place_matches {
    struct pythia_wishes everywhere; /* HOST and PROCESS are any: each place is "" */
    struct pythia_wishes placed;
    size_t misplaced; /* trace points that cannot be switched at some instances only */
};

/* What the state has of the search: saved_search.h. */
struct pythia__saved_search {
    bool is_kept;            /* there is a state, and the search is not shared */
    bool due;                /* cycles have ended since the last write */
    bool whole;              /* the last cycle had enough requests of some type */
    bool told_large;         /* in the log: it is larger than the state takes */
    uint64_t due_ns;         /* since when it is due */
    uint64_t next_ns;        /* no write before that */
    uint64_t restored_cycle; /* the cycle that this start went on from; 0: it began anew */
    uint64_t cycle, unix_ns; /* that the state has, and when that was written; 0: nothing yet */
    uint64_t bytes;          /* of it */
    uint64_t keys;           /* pythia__reporting_keys at the last write */
    uint64_t writes, failures;
};

/* Read and written by the files of this folder alone; others read. */
struct pythia__switching {
    struct pythia__engine *e; /* borrowed */
    struct pythia_controller *controller;
    struct pythia_control *agents; /* the plane "http", borrowed from the controller */
    struct pythia_control *probes; /* the plane "probe", likewise; NULL: there is none */
    struct pythia_control *lttng;  /* the plane "lttng", likewise */
    struct pythia_open_points *always, *never; /* pins of the settings, and those by hand */
    struct pythia_wishes placed;          /* pins that hold at some instances only (places.h) */
    struct pythia__place_matches matches; /* those of the settings */
    bool has_places;                      /* the settings have texts that may match so */
    uint64_t changes_matched;             /* changes of the inventory that they know of */
    size_t misplaced_told;                /* in the log */
    struct pythia_open_points *limited;   /* what is wanted open for some types only */
    struct pythia__chosen *chosen;        /* owned; instances of services, chosen.h */
    size_t chosen_count, chosen_capacity;
    struct pythia_prices *prices;   /* as the planes measured them */
    struct pythia_layers *layers;   /* as the planes say */
    struct pythia_history *history; /* of searches before this start */
    struct pythia__saved_search saved;
    struct pythia_overhead *overhead; /* what tracing costs, and what is dropped for it */
    struct pythia_breaker *breaker;   /* what is closed at once, because it costs too much */
    struct pythia_passes *passes;     /* what came of each trace point */
    struct pythia_open_points *fixed; /* trace points that nothing can switch; NULL: none */
    uint64_t *strays, fixed_ns,
        fixed_looked_ns; /* by trace point: requests with it though it is closed; fixed.c */
    size_t stray_capacity;
    uint64_t wish, version; /* of the engine, and of the set that the controller has of it */
    uint64_t tried;         /* the version of which planes were told, as far as they could be */
    struct pythia__in_force in_force;     /* that set */
    uint64_t points_met, met_ns, kept_ns; /* of the inventory */
    uint32_t points_pinned;               /* trace points there were when pins were looked at */
    uint64_t budget_ns;                   /* when the cost of tracing was looked at last */
    uint64_t load_ns;                     /* when the load was looked at last */
    bool overloaded;                      /* it is above max-load1 or max-spans-s */
    struct pythia__span_rate span_rate;
    uint64_t broken_ns;              /* when the breaker was looked at last */
    uint64_t mended_ns;              /* when it was last tried to write a degraded state */
    uint64_t kept_learnt;            /* types that were in the search space when the state got it,
                                        and times that one had been learnt once more */
    uint64_t lessons_told, cut_told; /* in the log: openings for types that turned up later, */
    uint64_t seeks_told, reviews_told, renewed_told; /* and for points */
    uint64_t unknown_told; /* trace points that the search space does not know */
    /* Gets each pin by hand, so that others can follow; NULL: nobody does. */
    void (*share_pin)(void *context, const struct pythia_text *ids, size_t count,
                      const struct pythia__pin *pin);
    void *share_context;
    bool held;         /* what is desired is not passed on yet */
    bool waiting_told; /* and that there are types which wait for one */
};

#endif
