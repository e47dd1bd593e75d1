#include "pythia/saturation.h"

#include <math.h>

#include "pythia/mem.h"
#include "pythia/ranks.h"
#include "pythia/status.h"

#define SHARE_MIN  .05
#define BURSTS_MIN 5
#define LEVELS_MIN 4 /* below the maximum */
#define RATIO_MIN  2
#define P_MAX      1e-4

/* How often the maximum and the value below it are among sorted values, and how many lower values
 * there are, up to LEVELS_MIN. */
struct pile {
    size_t at_limit, below, levels;
};

static struct pile measure_pile(const double *sorted, size_t n)
{
    struct pile p = {0};
    size_t at = n;
    while (at > 0 && sorted[at - 1] == sorted[n - 1])
        at--;
    p.at_limit = n - at;
    /* A limit is only seen against some values below it; a constant has none. */
    for (size_t end = at; end > 0 && p.levels < LEVELS_MIN; end = at) {
        while (at > 0 && sorted[at - 1] == sorted[end - 1])
            at--;
        if (p.levels++ == 0)
            p.below = end - at;
    }
    return p;
}

/* The chance of at least `hits` heads in `n` throws, by the normal distribution with the correction
 * for continuity: P_MAX needs no more digits. */
static double sign_test(size_t hits, size_t n)
{
    double z = ((double)hits - .5 - (double)n / 2) / (sqrt((double)n) / 2);
    return erfc(z / sqrt(2)) / 2;
}

/* Samples at the limit, and runs of them. */
static void count_bursts(const double *values, size_t n, struct pythia_saturation *s)
{
    size_t run = 0;
    for (size_t i = 0; i < n; i++) {
        run = values[i] >= s->limit ? run + 1 : 0;
        s->at_limit += run > 0;
        s->bursts += run == 1;
        s->longest = run > s->longest ? run : s->longest;
    }
}

/* Is that many more at the maximum than chance puts there? */
static bool is_pile(const struct pile *p, const struct pythia_saturation *s)
{
    return s->bursts >= BURSTS_MIN && p->levels >= LEVELS_MIN &&
           p->at_limit >= RATIO_MIN * p->below &&
           sign_test(p->at_limit, p->at_limit + p->below) < P_MAX;
}

int pythia_saturation_look(const double *values, size_t n, double limit,
                           struct pythia_saturation *out)
{
    struct pythia_saturation s = {.limit = limit, .share = NAN, .trend = NAN};
    if (n == 0) {
        *out = s;
        return PYTHIA_OK;
    }
    double *sorted = pythia_calloc(3 * n, sizeof(*sorted));
    if (!sorted)
        return PYTHIA_ENOMEM;
    double *ranks = sorted + n, *order = ranks + n;
    int status = pythia_ranks_mid(values, n, ranks);
    if (status != PYTHIA_OK)
        goto out;
    for (size_t i = 0; i < n; i++) {
        sorted[i] = values[i];
        order[i] = (double)i;
    }
    pythia_ranks_sort(sorted, n);
    const struct pile p = measure_pile(sorted, n);
    s.limit = isnan(limit) ? sorted[n - 1] : limit;
    count_bursts(values, n, &s);
    s.share = (double)s.at_limit / (double)n;
    /* Ranks, and not values, against time: one request with a huge value would decide Pearson's
     * correlation alone. */
    s.trend = pythia_ranks_pearson(order, ranks, n);
    /* A limit that the user gives needs no evidence of a pile; one that is learnt from the
     * values does, since every sample has a maximum. */
    s.saturated =
        n >= PYTHIA_SATURATION_MIN && s.share >= SHARE_MIN && (!isnan(limit) || is_pile(&p, &s));
    *out = s;
out:
    pythia_free(sorted);
    return status;
}
