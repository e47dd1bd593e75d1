#include "pythia/mixture.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>

#include <gsl/gsl_math.h>

#include "pythia/mem.h"
#include "pythia/moments.h"
#include "pythia/status.h"

#define STARTS      3
#define STEPS       500
#define GAIN        1e-9 /* of the log-likelihood, relative: a smaller one ends the climb */
#define LEAST_SD    0.02 /* of the sample's */
#define LEAST_COUNT 3    /* values */
#define ROUNDS      20   /* of k means */

struct sample {
    const double *x; /* ascending */
    size_t n;
    double least_sd; /* of a component */
};

/* Set the components by the parts that end before ends[0], ends[1], ..., n. */
static void set_by_parts(const struct sample *s, const size_t *ends, struct pythia_mixture *m)
{
    size_t first = 0;
    for (size_t k = 0; k < m->count; k++) {
        struct pythia_moments part = {0};
        for (size_t i = first; i < ends[k]; i++)
            pythia_moments_add(&part, s->x[i]);
        m->weights[k] = (double)part.n / (double)s->n;
        m->means[k] = part.mean;
        m->sds[k] = fmax(sqrt(part.m2 / (double)part.n), s->least_sd);
        first = ends[k];
    }
}

/* No component shall fall onto a few values that happen to be close, or onto one value of a coarse
 * clock, whose tick is the smallest gap once two values are equal. */
static double least_sd(const struct sample *s)
{
    struct pythia_mixture whole = {.count = 1};
    bool ties = false;
    double gap = INFINITY;
    set_by_parts(s, &s->n, &whole);
    for (size_t i = 1; i < s->n; i++) {
        double d = s->x[i] - s->x[i - 1];
        ties = ties || d == 0;
        gap = d > 0 ? fmin(gap, d) : gap;
    }
    return fmax(LEAST_SD * whole.sds[0], ties ? gap / sqrt(12) : 0);
}

/* Move the ends of the parts until each value lies in the part of the nearest mean (k means in
 * order). */
static void improve_parts(const struct sample *s, size_t count, size_t *ends)
{
    struct pythia_mixture m = {.count = count};
    bool moved = true;
    for (int round = 0; round < ROUNDS && moved; round++) {
        moved = false;
        set_by_parts(s, ends, &m);
        size_t end = 0;
        for (size_t k = 0; k + 1 < count; k++) {
            double border = (m.means[k] + m.means[k + 1]) / 2;
            size_t least = end + 1, most = s->n - (count - 1 - k); /* each part keeps a value */
            for (end = least; end < most && s->x[end] < border; end++)
                ;
            moved = moved || end != ends[k];
            ends[k] = end;
        }
    }
}

static void choose_start(const struct sample *s, int start, struct pythia_mixture *m)
{
    size_t ends[PYTHIA_MIXTURE_MAX], count = m->count;
    for (size_t k = 0; k < count; k++) {
        size_t others = count - 1 - k, tail = s->n >> (k + 1);
        if (start < 2)
            ends[k] = (k + 1) * s->n / count;
        else
            ends[k] = s->n - (others == 0 ? 0 : tail > others ? tail : others);
    }
    if (start == 1)
        improve_parts(s, count, ends);
    set_by_parts(s, ends, m);
}

/* One step: the responsibilities of the components for each value, and the parameters that follow.
 * Returns the log-likelihood before the step. */
static double climb(const struct sample *s, struct pythia_mixture *m, double *shares)
{
    double total = 0, log_weights[PYTHIA_MIXTURE_MAX];
    double sizes[PYTHIA_MIXTURE_MAX] = {0}, sums[PYTHIA_MIXTURE_MAX] = {0};
    double squares[PYTHIA_MIXTURE_MAX] = {0};
    for (size_t k = 0; k < m->count; k++)
        log_weights[k] = log(m->weights[k] / (m->sds[k] * sqrt(2 * M_PI)));
    for (size_t i = 0; i < s->n; i++) {
        double *share = shares + i * m->count, highest = -INFINITY, sum = 0;
        for (size_t k = 0; k < m->count; k++) {
            double z = (s->x[i] - m->means[k]) / m->sds[k];
            share[k] = log_weights[k] - z * z / 2;
            highest = fmax(highest, share[k]);
        }
        for (size_t k = 0; k < m->count; k++) {
            share[k] = exp(share[k] - highest);
            sum += share[k];
        }
        total += highest + log(sum);
        for (size_t k = 0; k < m->count; k++) {
            share[k] /= sum;
            sizes[k] += share[k];
            sums[k] += share[k] * s->x[i];
        }
    }
    for (size_t k = 0; k < m->count; k++) {
        m->weights[k] = sizes[k] / (double)s->n;
        m->means[k] = sums[k] / sizes[k];
    }
    for (size_t i = 0; i < s->n; i++)
        for (size_t k = 0; k < m->count; k++) {
            double d = s->x[i] - m->means[k];
            squares[k] += shares[i * m->count + k] * d * d;
        }
    for (size_t k = 0; k < m->count; k++)
        m->sds[k] = fmax(sqrt(squares[k] / sizes[k]), s->least_sd);
    return total;
}

/* Climb to the top from one start. False if a component was lost on the way. */
static bool climb_from(const struct sample *s, int start, struct pythia_mixture *m, double *shares)
{
    double before = -INFINITY;
    choose_start(s, start, m);
    for (int step = 0; step < STEPS; step++) {
        m->log_likelihood = climb(s, m, shares);
        for (size_t k = 0; k < m->count; k++)
            if (!(m->weights[k] * (double)s->n >= LEAST_COUNT))
                return false;
        if (m->log_likelihood - before <= GAIN * (1 + fabs(m->log_likelihood)))
            break;
        before = m->log_likelihood;
    }
    return true;
}

static void sort_components(struct pythia_mixture *m)
{
    for (size_t i = 1; i < m->count; i++)
        for (size_t k = i; k > 0 && m->means[k] < m->means[k - 1]; k--) {
            double mean = m->means[k], sd = m->sds[k], weight = m->weights[k];
            m->means[k] = m->means[k - 1];
            m->sds[k] = m->sds[k - 1];
            m->weights[k] = m->weights[k - 1];
            m->means[k - 1] = mean;
            m->sds[k - 1] = sd;
            m->weights[k - 1] = weight;
        }
}

int pythia_mixture_fit(const double *sorted, size_t n, size_t count, struct pythia_mixture *out)
{
    assert(count >= 1 && count <= PYTHIA_MIXTURE_MAX);
    struct pythia_mixture best = {.log_likelihood = NAN, .bic = NAN};
    if (n < LEAST_COUNT * count || !(sorted[n - 1] > sorted[0])) {
        *out = best;
        return PYTHIA_OK;
    }
    double *shares = pythia_calloc(n, count * sizeof(*shares));
    if (!shares)
        return PYTHIA_ENOMEM;
    struct sample s = {sorted, n, 0};
    s.least_sd = least_sd(&s);
    for (int start = 0; start < (count > 1 ? STARTS : 1); start++) {
        struct pythia_mixture m = {.count = count};
        if (climb_from(&s, start, &m, shares) &&
            (best.count == 0 || m.log_likelihood > best.log_likelihood))
            best = m;
    }
    pythia_free(shares);
    if (best.count > 0) {
        sort_components(&best);
        best.bic = 2 * best.log_likelihood - (double)(3 * count - 1) * log((double)n);
    }
    *out = best;
    return PYTHIA_OK;
}

int pythia_mixture_select(const double *sorted, size_t n, size_t most, struct pythia_mixture *out)
{
    struct pythia_mixture best = {.log_likelihood = NAN, .bic = NAN};
    for (size_t count = 1; count <= most; count++) {
        struct pythia_mixture m;
        int status = pythia_mixture_fit(sorted, n, count, &m);
        if (status != PYTHIA_OK)
            return status;
        if (m.count > 0 && (best.count == 0 || m.bic > best.bic))
            best = m;
    }
    *out = best;
    return PYTHIA_OK;
}

double pythia_mixture_separation(const struct pythia_mixture *m, size_t a, size_t b)
{
    assert(a < m->count && b < m->count);
    double variance = m->sds[a] * m->sds[a] + m->sds[b] * m->sds[b];
    return M_SQRT2 * fabs(m->means[a] - m->means[b]) / sqrt(variance);
}
