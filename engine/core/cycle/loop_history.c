#include <math.h>

#include "pythia/closed_loop.h"
#include "pythia/mem.h"
#include "pythia/status.h"

/* The largest share of a cause that a trace point bounds, or that lies directly in it; NaN if there
 * is no such cause. */
static double find_explained(const struct pythia_loop *l, uint32_t point)
{
    double most = NAN;
    for (size_t i = 0; i < l->problem_count; i++)
        for (size_t c = 0; c < l->problems[i].cause_count; c++) {
            const struct pythia_finding *cause = &l->problems[i].causes[c];
            if (cause->place.context == point || cause->place.from_tracepoint == point ||
                cause->place.to_tracepoint == point)
                most = fmax(most, cause->share);
        }
    return most;
}

int pythia_loop_remember(const struct pythia_loop *l, const struct pythia_vocabulary *v,
                         struct pythia_history *to)
{
    bool *done = pythia_calloc(pythia_vocabulary_tracepoints(v), sizeof(*done));
    if (!done)
        return PYTHIA_ENOMEM;
    int status = PYTHIA_OK;
    for (size_t i = 0; i < l->cycle_count; i++)
        for (size_t k = 0; k < l->cycles[i].opened_count; k++) {
            uint32_t point = l->cycles[i].opened[k].tracepoint;
            double explained = find_explained(l, point);
            if (done[point])
                continue; /* a point that was opened again counts once */
            status = pythia_history_add(to, pythia_vocabulary_tracepoint_id(v, point), explained,
                                        !isnan(explained));
            if (status != PYTHIA_OK)
                goto out;
            done[point] = true;
        }
out:
    pythia_free(done);
    return status;
}
