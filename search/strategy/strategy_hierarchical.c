/* One level deeper: below the edge that varies most, open the closed trace points that are called
 * directly from what is open, those first in which most of the time was spent when everything was
 * open; where that tells nothing apart, those in the middle. (The idea, without the choice of
 * children, is that of Ates et al., "An Automated, Cross-Layer Instrumentation Framework for
 * Diagnosing Performance Problems in Distributed Applications", SoCC 2019, who draw the children at
 * random.) */
#include "strategy_parts.h"
#include "strategy_table.h"

static const struct pythia__strategy_row row = {.look = pythia__parts_offer_direct,
                                                .reason = pythia__parts_time_reason};

const struct pythia_strategy pythia__strategy_hierarchical = {
    .name = "hierarchical",
    .help =
        "one level of the calling context tree at a time, below the edges with the largest share",
    .row = &row,
};
