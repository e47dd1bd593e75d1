#include "load.h"

#include "pins.h"
#include "pythia/log.h"
#include "pythia/status.h"

#define LOOK_NS UINT64_C(1000000000) /* the system counts it anew every 5 s */
#define CALM    .8                   /* of the limit: a load at the limit must not open and close */

int pythia__load_tick(struct pythia__switching *w, uint64_t now)
{
    double limit = w->e->s.max_load1, load[3] = {0};
    bool was = w->overloaded;
    if (now - w->load_ns < LOOK_NS)
        return PYTHIA_OK;
    w->load_ns = now;
    uv_loadavg(load);
    w->overloaded = limit > 0 && load[0] > (was ? CALM * limit : limit) &&
                    !pythia_live_numbers(w->e->live).learning;
    if (w->overloaded == was)
        return PYTHIA_OK;
    pythia_log(w->overloaded ? PYTHIA_LOG_WARNING : PYTHIA_LOG_INFO, "%s: load1=%.2f, max-load1=%g",
               w->overloaded ? "Closes trace points, because the machine is busy"
                             : "Lets trace points be opened again, as the machine is not busy",
               load[0], limit);
    return pythia__switching_read_pins(w, &w->e->s);
}
