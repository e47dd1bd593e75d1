#include "engine.h"

#include <time.h>

uint64_t pythia__unix_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t pythia__engine_now(const struct pythia__engine *e)
{
    return uv_now(e->loop) * 1000000;
}

size_t pythia__engine_waiting(const struct pythia__engine *e)
{
    return e->search_log.cycle_count > 0
               ? e->search_log.cycles[e->search_log.cycle_count - 1].waiting
               : 0;
}
