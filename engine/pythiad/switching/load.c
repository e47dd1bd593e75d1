#include "load.h"

#include "pins.h"
#include "pythia/log.h"
#include "pythia/status.h"

#define LOOK_NS UINT64_C(1000000000) /* the system counts the load anew every 5 s */
#define CALM    .8                   /* of the limit: a load at the limit must not open and close */

static void log_load(const struct pythia__switching *w, double load)
{
    enum pythia_log_level level = w->overloaded ? PYTHIA_LOG_WARNING : PYTHIA_LOG_INFO;
    const struct pythia__settings *s = &w->e->s;
    pythia_log(level, "%s: load1=%.2f, max-load1=%g, spans-s=%.0f, max-spans-s=%g",
               w->overloaded ? "Closes trace points, because there is too much load"
                             : "Lets trace points be opened again, as there is less load",
               load, s->max_load1, w->span_rate.rate, s->max_spans_s);
}

/* A span rate that was exceeded while the search space was learnt counts from its end. */
int pythia__load_tick(struct pythia__switching *w, uint64_t now, uint64_t spans)
{
    const struct pythia__settings *s = &w->e->s;
    double load[3] = {0};
    bool was = w->overloaded, learning = pythia_live_numbers(w->e->live).learning;
    if (now - w->load_ns < LOOK_NS)
        return PYTHIA_OK;
    bool flooded = pythia__span_rate_look(&w->span_rate, learning ? 0 : s->max_spans_s, spans,
                                          (double)(now - w->load_ns) / 1e9);
    w->load_ns = now;
    uv_loadavg(load);
    bool busy = s->max_load1 > 0 && load[0] > (was ? CALM * s->max_load1 : s->max_load1);
    w->overloaded = (busy || flooded) && !learning;
    if (w->overloaded == was)
        return PYTHIA_OK;
    log_load(w, load[0]);
    return pythia__switching_read_pins(w, s);
}
