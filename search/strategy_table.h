/* The rows of the table of strategies. */
#ifndef PYTHIA_SEARCH_STRATEGY_TABLE_H
#define PYTHIA_SEARCH_STRATEGY_TABLE_H

#include "pythia/strategy.h"

extern const struct pythia_strategy pythia__strategy_hierarchical;

#endif
