#ifndef PYTHIA_STRATEGY_H
#define PYTHIA_STRATEGY_H

#include <stddef.h>
#include <stdint.h>

#include "pythia/buf.h"
#include "pythia/diagnosis.h"
#include "pythia/groups.h"
#include "pythia/history.h"
#include "pythia/layers.h"
#include "pythia/open_points.h"
#include "pythia/prices.h"
#include "pythia/space.h"

/* Chooses the closed trace points to open next. A strategy is a row of a table; it is given
 * evidence and returns suggestions, and switches nothing. */

/* The input of a strategy; all borrowed. */
struct pythia_evidence {
    const struct pythia_space *space; /* NULL: not known; then all that was seen was open */
    const struct pythia_groups *groups;
    const struct pythia_diagnosis *diagnosis;
    struct pythia_open_points *
        open; /* now, and for which types; what is not in it is closed. NULL: everything was open */
    struct pythia_open_points *never; /* not to be suggested; NULL: none */
    double price_ns;                  /* of one hit of an open trace point */
    struct pythia_prices *prices;     /* of points whose price is another; NULL: none */
    struct pythia_layers *layers;     /* as in struct pythia_search_options; for information-gain */
    uint64_t seed,
        cycle; /* of what is drawn: another draw in each cycle, the same for the same two */
    const struct pythia_history *history; /* of earlier searches; NULL: none is known */
};

struct pythia_suggestion {
    uint32_t tracepoint;
    size_t group;  /* index in the diagnosis */
    uint32_t edge; /* of its tree: under which it is */
    double gain;   /* share of the group's variance that it is expected to show, 0 to 1: the edge's,
                       times the part of the time behind the edge that lies in it; a strategy that
                       takes something else for that part says so where it is */
    double cost_ns; /* added to a request: calls in all its contexts * price */
    char *reason;   /* owned: a sentence without its full stop */
};

struct pythia_strategy {
    const char *name; /* "hierarchical" */
    const char *help;
    const struct pythia__strategy_row *row; /* the candidates of an edge (strategy_parts.h); NULL:
                                               `suggest` looks at all edges together */
    /* Suggest at most `budget` trace points, best first, into `out`; *count of them. Each once, and
     * none that is open for the type of its group, unless everything was. PYTHIA_OK or
     * PYTHIA_ENOMEM; what was put into `out` is to be freed either way. */
    int (*suggest)(const struct pythia_evidence *evidence, size_t budget,
                   struct pythia_suggestion *out, size_t *count);
};

/* All strategies, in order of preference: the first one, and the others by their names; and the
 * names as the choices of an option. */
#define PYTHIA_STRATEGY_FIRST "information-gain"
#define PYTHIA_OTHER_STRATEGIES(row)                                                               \
    row(hierarchical) row(flat) row(binary) row(historic) row(covariance) row(thompson)            \
        row(random) row(all)
#define PYTHIA_STRATEGY_CHOICE(name) "|" #name
#define PYTHIA_STRATEGY_CHOICES                                                                    \
    PYTHIA_STRATEGY_FIRST PYTHIA_OTHER_STRATEGIES(PYTHIA_STRATEGY_CHOICE)

/* The table of them, in that order; *count of them. */
const struct pythia_strategy *const *pythia_strategies(size_t *count);

/* The names of groups that could not be looked up in the space, because their request type is not
 * in it, are appended to `missing` (may be NULL), one a line. Otherwise as the strategy's own
 * function. */
int pythia_strategy_run(const struct pythia_strategy *strategy,
                        const struct pythia_evidence *evidence, size_t budget,
                        struct pythia_suggestion *out, size_t *count, struct pythia_buf *missing);

/* Free the reason of a suggestion, which is then NULL. */
void pythia_suggestion_clear(struct pythia_suggestion *s);

#endif
