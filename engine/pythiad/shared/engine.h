/* State shared by every part of pythiad: the loop, the settings, the engine, and what it keeps. */
#ifndef PYTHIA_PYTHIAD_ENGINE_H
#define PYTHIA_PYTHIAD_ENGINE_H

#include <uv.h>

#include "pythia/closed_loop.h"
#include "pythia/live.h"
#include "pythia/state.h"
#include "reporting.h"
#include "settings.h"

/* Owned by pythiad's main part (daemon.h), which makes and destroys it; the parts borrow it. */
struct pythia__engine {
    uv_loop_t *loop;
    struct pythia__settings s;
    struct pythia_vocabulary *vocabulary;
    struct pythia_space *space; /* from a file; NULL: it is learnt */
    struct pythia_live *live;
    struct pythia_state *state;
    struct pythia_loop search_log;       /* the last cycles */
    struct pythia__reporting *reporting; /* of it, and of the evidence of the last cycle */
    uint64_t started_ns;
};

/* Request types that others were looked at instead of, in the last cycle. */
size_t pythia__engine_waiting(const struct pythia__engine *e);

/* Nanoseconds that never go back, and those of the Unix epoch. */
uint64_t pythia__engine_now(const struct pythia__engine *e);
uint64_t pythia__unix_ns(void);

#endif
