#include "pythia/tail_dip.h"

#include <math.h>

#include "pythia/dip.h"
#include "pythia/log_sample.h"
#include "pythia/status.h"

/* Test the upper `size` values. The part with the smallest p decides; where several have the least
 * the table gives, the one with the largest dip for its size. */
static int test_tail(const struct pythia_log_sample *s, size_t size, struct pythia_tail_dip *best)
{
    struct pythia_dip d;
    size_t first = s->n - size;
    int status = pythia_dip_statistic(s->logs + first, size, &d);
    if (status != PYTHIA_OK)
        return status;
    double p = pythia_dip_p(d.dip, size);
    /* The table ends at its smallest p, which several parts may reach. */
    double excess = sqrt((double)size) * d.dip, most = sqrt((double)best->tail_size) * best->dip;
    bool beyond = p == best->p && p == PYTHIA_DIP_P_MIN && excess > most;
    if (best->parts == 0 || p < best->p || beyond) {
        best->p = p;
        best->dip = d.dip;
        best->tail = best->parts;
        best->tail_size = size;
        best->low = s->durations[first + d.low];
        best->high = s->durations[first + d.high];
    }
    best->parts++;
    return PYTHIA_OK;
}

int pythia_tail_dip(const double *durations, size_t n, uint64_t seed, struct pythia_tail_dip *out)
{
    struct pythia_log_sample *s = NULL;
    int status = pythia_log_sample_create(durations, n, seed, &s);
    if (status != PYTHIA_OK)
        return status;
    struct pythia_tail_dip t = {.p = NAN,
                                .p_raw = NAN,
                                .dip = NAN,
                                .low = NAN,
                                .high = NAN,
                                .n = s->n,
                                .left_out = s->left_out,
                                .jittered = !isnan(s->tick),
                                .tick = s->tick};
    if (s->n >= PYTHIA_TAIL_DIP_MIN) {
        struct pythia_dip raw;
        status = pythia_dip_statistic(s->durations, s->n, &raw);
        if (status != PYTHIA_OK)
            goto out;
        t.p_raw = pythia_dip_p(raw.dip, s->n);
    }
    /* Halve the sample towards the slow end: a small slow mode changes the dip of the whole
     * little, but that of the tail much. Bonferroni below pays for the repeated test. */
    for (size_t size = s->n; size >= PYTHIA_TAIL_DIP_MIN; size /= 2) {
        status = test_tail(s, size, &t);
        if (status != PYTHIA_OK)
            goto out;
    }
    t.p = isnan(t.p) ? NAN : fmin(1, t.p * (double)t.parts);
    *out = t;
out:
    pythia_log_sample_destroy(s);
    return status;
}
