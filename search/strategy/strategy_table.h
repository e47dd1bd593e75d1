/* The rows of the table of strategies. */
#ifndef PYTHIA_SEARCH_STRATEGY_TABLE_H
#define PYTHIA_SEARCH_STRATEGY_TABLE_H

#include "pythia/strategy.h"

extern const struct pythia_strategy pythia__strategy_information_gain;
extern const struct pythia_strategy pythia__strategy_hierarchical;
extern const struct pythia_strategy pythia__strategy_flat;
extern const struct pythia_strategy pythia__strategy_binary;
extern const struct pythia_strategy pythia__strategy_historic;
extern const struct pythia_strategy pythia__strategy_covariance;
extern const struct pythia_strategy pythia__strategy_thompson;
extern const struct pythia_strategy pythia__strategy_random;
extern const struct pythia_strategy pythia__strategy_all;

#endif
