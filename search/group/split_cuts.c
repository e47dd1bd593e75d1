#include "split_cuts.h"

#include <math.h>

#include "pythia/mem.h"
#include "pythia/mode_cuts.h"
#include "pythia/split_rule.h"
#include "pythia/status.h"

/* Do all values that are not NaN have no fraction? */
static bool are_values_whole(const double *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isnan(values[i]) && values[i] != floor(values[i]))
            return false;
    return true;
}

void pythia__split_tidy(const double *values, size_t n, double *cuts, size_t count)
{
    bool whole = are_values_whole(values, n);
    for (size_t k = 0; k < count; k++) {
        double below = -INFINITY, above = INFINITY;
        for (size_t i = 0; i < n; i++) {
            if (values[i] < cuts[k])
                below = fmax(below, values[i]);
            else if (values[i] >= cuts[k])
                above = fmin(above, values[i]);
        }
        if (isfinite(below) && isfinite(above))
            cuts[k] = pythia_split_cut(below, above, whole);
    }
}

int pythia__split_by_modes(const double *values, const double *durations, size_t n,
                           const struct pythia_modes *modes, double *cuts, size_t *count)
{
    struct pythia_mode_cuts found;
    *count = 0;
    /* One mode has nothing that a cut could separate. */
    if (modes->count < 2)
        return PYTHIA_OK;
    size_t *labels = pythia_calloc(n, sizeof(*labels));
    if (!labels)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < n; i++)
        labels[i] = pythia_modes_label(modes, durations[i]);
    int status = pythia_mode_cuts_find(values, labels, n, modes->count, &found);
    pythia_free(labels);
    if (status != PYTHIA_OK)
        return status;
    for (size_t i = 0; i < found.count; i++)
        cuts[i] = found.cuts[i];
    *count = found.count;
    /* Between two values any cut is as good: a round number reads best. */
    pythia__split_tidy(values, n, cuts, found.count);
    return PYTHIA_OK;
}
