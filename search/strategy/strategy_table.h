/* The rows of the table of strategies. */
#ifndef PYTHIA_SEARCH_STRATEGY_TABLE_H
#define PYTHIA_SEARCH_STRATEGY_TABLE_H

#include "pythia/strategy.h"

extern const struct pythia_strategy pythia__strategy_information_gain;
#define PYTHIA__STRATEGY_DECLARED(name) extern const struct pythia_strategy pythia__strategy_##name;
PYTHIA_OTHER_STRATEGIES(PYTHIA__STRATEGY_DECLARED)
#undef PYTHIA__STRATEGY_DECLARED

#endif
