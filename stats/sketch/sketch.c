/* The allocated range of bins is a multiple of CHUNK at both ends and covers the used one as
 * tightly as that allows, and counts widen only when one has to: both follow from the values alone,
 * not from the order they came in, which is what makes equal sketches equal in every bit. */
#include "pythia/sketch.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "pythia/mem.h"
#include "pythia/status.h"

enum { CHUNK = 32 };

struct pythia_sketch {
    double alpha, bins_per_e; /* bins_per_e: 1 / ln g */
    double min, max;
    uint64_t count, zeros;
    int32_t first; /* index of the first bin, a multiple of CHUNK */
    uint32_t bins; /* a multiple of CHUNK too */
    bool wide;     /* which of the two holds the counts */
    union {
        uint32_t *narrow;
        uint64_t *wide;
    } counts; /* owned */
};

int pythia_sketch_create(double alpha, struct pythia_sketch **out)
{
    if (!(alpha >= PYTHIA_SKETCH_ALPHA_MIN && alpha <= PYTHIA_SKETCH_ALPHA_MAX))
        return PYTHIA_EINVAL;
    struct pythia_sketch *s = pythia_calloc(1, sizeof(*s));
    if (!s)
        return PYTHIA_ENOMEM;
    s->alpha = alpha;
    s->bins_per_e = 1 / log1p(2 * alpha / (1 - alpha));
    s->min = INFINITY;
    s->max = -INFINITY;
    *out = s;
    return PYTHIA_OK;
}

void pythia_sketch_destroy(struct pythia_sketch *s)
{
    if (!s)
        return;
    pythia_free(s->wide ? (void *)s->counts.wide : (void *)s->counts.narrow);
    pythia_free(s);
}

static uint64_t count_at(const struct pythia_sketch *s, size_t bin)
{
    return s->wide ? s->counts.wide[bin] : s->counts.narrow[bin];
}

static int32_t index_of(const struct pythia_sketch *s, double value)
{
    return value > 0 ? (int32_t)ceil(log(value) * s->bins_per_e) : PYTHIA_SKETCH_ZEROS;
}

/* The upper end of the bin of this index. */
static double bound_of(const struct pythia_sketch *s, double index)
{
    return exp(index / s->bins_per_e);
}

/* The value that is within alpha of both ends of the bin. */
static double middle_of(const struct pythia_sketch *s, double index)
{
    return bound_of(s, index) * (1 - s->alpha);
}

static int32_t round_down(int32_t index)
{
    int32_t past = index % CHUNK;
    return index - (past < 0 ? past + CHUNK : past);
}

/* Make the bins cover lowest to highest as well, and hold counts of 64 bits if `wide`. */
static int cover_bins(struct pythia_sketch *s, int32_t lowest, int32_t highest, bool wide)
{
    int32_t first = round_down(lowest), end = round_down(highest) + CHUNK;
    if (s->bins > 0) {
        int32_t end_now = s->first + (int32_t)s->bins;
        first = first < s->first ? first : s->first;
        end = end > end_now ? end : end_now;
    }
    /* A sketch never becomes narrow again: its counts may exceed 32 bits. */
    wide = wide || s->wide;
    uint32_t bins = (uint32_t)(end - first);
    if (bins == s->bins && wide == s->wide)
        return PYTHIA_OK;
    void *counts = pythia_calloc(bins, wide ? sizeof(uint64_t) : sizeof(uint32_t));
    if (!counts)
        return PYTHIA_ENOMEM;
    size_t before = s->bins > 0 ? (size_t)(s->first - first) : 0;
    for (size_t i = 0; i < s->bins; i++) {
        if (wide)
            ((uint64_t *)counts)[before + i] = count_at(s, i);
        else
            ((uint32_t *)counts)[before + i] = s->counts.narrow[i];
    }
    pythia_free(s->wide ? (void *)s->counts.wide : (void *)s->counts.narrow);
    s->first = first;
    s->bins = bins;
    s->wide = wide;
    if (wide)
        s->counts.wide = counts;
    else
        s->counts.narrow = counts;
    return PYTHIA_OK;
}

static void count_more(struct pythia_sketch *s, size_t bin, uint64_t count)
{
    if (s->wide)
        s->counts.wide[bin] += count;
    else
        s->counts.narrow[bin] += (uint32_t)count;
}

/* The total and the extremes; the bins are up to the caller. */
static void widen_range(struct pythia_sketch *s, uint64_t count, double min, double max)
{
    s->count += count;
    s->min = fmin(s->min, min);
    s->max = fmax(s->max, max);
}

int pythia_sketch_add(struct pythia_sketch *s, double value, uint64_t count)
{
    if (!(value >= 0) || isinf(value))
        return PYTHIA_EINVAL;
    if (count > UINT64_MAX - s->count)
        return PYTHIA_ELIMIT;
    if (count == 0)
        return PYTHIA_OK;
    if (value > 0) {
        int32_t index = index_of(s, value);
        bool covered = s->bins > 0 && index >= s->first && index - s->first < (int32_t)s->bins;
        uint64_t there = covered ? count_at(s, (size_t)(index - s->first)) : 0;
        bool wide = s->wide || count > UINT32_MAX || there + count > UINT32_MAX;
        if (!covered || wide != s->wide) {
            int status = cover_bins(s, index, index, wide);
            if (status != PYTHIA_OK)
                return status;
        }
        count_more(s, (size_t)(index - s->first), count);
    } else {
        s->zeros += count;
        value = 0; /* and not -0 */
    }
    widen_range(s, count, value, value);
    return PYTHIA_OK;
}

/* Must a count of the two together be wide? The bins of `other` may lie outside those of `s`. */
static bool needs_wide(const struct pythia_sketch *s, const struct pythia_sketch *other)
{
    if (s->wide || other->wide)
        return true;
    for (size_t i = 0; i < other->bins; i++) {
        int64_t here = (int64_t)other->first + (int64_t)i - s->first;
        bool both = here >= 0 && here < (int64_t)s->bins;
        uint64_t sum = other->counts.narrow[i];
        if (both)
            sum += s->counts.narrow[here];
        if (sum > UINT32_MAX)
            return true;
    }
    return false;
}

int pythia_sketch_merge(struct pythia_sketch *s, const struct pythia_sketch *other)
{
    if (s->alpha != other->alpha)
        return PYTHIA_EINVAL;
    if (other->count > UINT64_MAX - s->count)
        return PYTHIA_ELIMIT;
    /* Bins grow before anything is counted, so that a merge without memory leaves the sketch as
     * it was. */
    if (other->bins > 0) {
        int32_t last = other->first + (int32_t)other->bins - 1;
        int status = cover_bins(s, other->first, last, needs_wide(s, other));
        if (status != PYTHIA_OK)
            return status;
    }
    for (size_t i = 0; i < other->bins; i++)
        count_more(s, (size_t)(other->first - s->first) + i, count_at(other, i));
    s->zeros += other->zeros;
    widen_range(s, other->count, other->min, other->max);
    return PYTHIA_OK;
}

double pythia_sketch_quantile(const struct pythia_sketch *s, double q)
{
    if (s->count == 0 || !(q >= 0 && q <= 1))
        return NAN;
    /* In doubles the product is exact enough below 2^53 values; above, half a rank is nothing. */
    double rank = floor(q * (double)(s->count - 1));
    if (rank < (double)s->zeros)
        return 0;
    double before = (double)s->zeros;
    for (size_t i = 0; i < s->bins; i++) {
        before += (double)count_at(s, i);
        if (before > rank) {
            double middle = middle_of(s, (double)s->first + (double)i);
            return fmin(fmax(middle, s->min), s->max);
        }
    }
    return s->max;
}

double pythia_sketch_min(const struct pythia_sketch *s)
{
    return s->count > 0 ? s->min : NAN;
}

double pythia_sketch_max(const struct pythia_sketch *s)
{
    return s->count > 0 ? s->max : NAN;
}

int pythia_sketch_next(const struct pythia_sketch *s, size_t *position,
                       struct pythia_sketch_bin *out)
{
    if (*position == 0) { /* position p > 0 is bin p - 1 */
        ++*position;
        if (s->zeros > 0) {
            *out = (struct pythia_sketch_bin){.index = PYTHIA_SKETCH_ZEROS, .count = s->zeros};
            return PYTHIA_OK;
        }
    }
    while (*position <= s->bins) {
        size_t i = (*position)++ - 1;
        double index = (double)s->first + (double)i;
        uint64_t count = count_at(s, i);
        if (count > 0) {
            *out = (struct pythia_sketch_bin){s->first + (int32_t)i, bound_of(s, index - 1),
                                              middle_of(s, index), bound_of(s, index), count};
            return PYTHIA_OK;
        }
    }
    return 1;
}

/* The bins rise from that of the lowest value to that of the highest, and none of them is empty. */
static bool are_bins_of(const struct pythia_sketch *s, double min, double max,
                        const struct pythia_sketch_bin *bins, size_t count)
{
    if (!(min >= 0 && min <= max && isfinite(max)) || bins[0].index != index_of(s, min) ||
        bins[count - 1].index != index_of(s, max))
        return false;
    for (size_t i = 0; i < count; i++)
        if (bins[i].count == 0 || (i > 0 && bins[i].index <= bins[i - 1].index))
            return false;
    return true;
}

static int restore_bins(struct pythia_sketch *s, double min, double max,
                        const struct pythia_sketch_bin *bins, size_t count)
{
    bool wide = false, zeros = bins[0].index == PYTHIA_SKETCH_ZEROS;
    uint64_t total = 0;
    for (size_t i = 0; i < count; i++) {
        if (bins[i].count > UINT64_MAX - total)
            return PYTHIA_ELIMIT;
        total += bins[i].count;
        wide = wide || (bins[i].count > UINT32_MAX && bins[i].index != PYTHIA_SKETCH_ZEROS);
    }
    if (count > zeros && cover_bins(s, bins[zeros].index, bins[count - 1].index, wide) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    s->zeros = zeros ? bins[0].count : 0;
    for (size_t i = zeros; i < count; i++)
        count_more(s, (size_t)(bins[i].index - s->first), bins[i].count);
    widen_range(s, total, min, max);
    return PYTHIA_OK;
}

int pythia_sketch_restore(double alpha, double min, double max,
                          const struct pythia_sketch_bin *bins, size_t count,
                          struct pythia_sketch **out)
{
    struct pythia_sketch *s = NULL;
    int status = pythia_sketch_create(alpha, &s);
    if (status != PYTHIA_OK)
        return status;
    if (count > 0)
        status = are_bins_of(s, min, max, bins, count) ? restore_bins(s, min, max, bins, count)
                                                       : PYTHIA_EINVAL;
    if (status != PYTHIA_OK) {
        pythia_sketch_destroy(s);
        return status;
    }
    *out = s;
    return PYTHIA_OK;
}
