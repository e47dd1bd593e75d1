/* The engine of a member that shares its search. */
#ifndef PYTHIA_FUZZ_MEMBER_H
#define PYTHIA_FUZZ_MEMBER_H

#include "pythia/live.h"
#include "pythia/status.h"

static int ignore_cycle(void *context, const struct pythia_live_cycle *cycle)
{
    (void)context, (void)cycle;
    return PYTHIA_OK;
}

static const struct pythia_live_options options = {
    .groups = {.fold = true},
    .search = {.budget = {.points_per_cycle = 3}, .price_ns = 1000, .seed = 1},
    .cycle_requests = 80,
    .learn_requests = 10,
    .shared = {.group = "g", .settings = "s"},
};

#endif
