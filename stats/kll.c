/* A stack of compactors: an item on level h stands for 2^h values. When the sketch is full, the
 * lowest level that has reached its capacity is sorted and every second item of it, from the first
 * or from the second by a fair coin, moves up; a rank is then off by at most 2^h, with mean 0.
 * Capacities shrink by 2/3 per level downwards from k at the top, since what happens low down
 * weighs little; none is below 8. All levels but the lowest are always sorted: what comes up is
 * merged in. */
#include "pythia/kll.h"

#include <math.h>

#include "pythia/mem.h"
#include "pythia/random.h"
#include "pythia/ranks.h"
#include "pythia/status.h"

enum { LEVELS_MAX = 64, CAPACITY_MIN = 8 };

struct level {
    double *items; /* owned */
    size_t count, room;
};

struct pythia_kll {
    size_t k, held, capacity; /* items on all levels, and how many there may be */
    uint64_t count;
    double min, max;
    struct pythia_random random;
    size_t levels;
    struct level level[LEVELS_MAX];
};

static size_t capacity_of(const struct pythia_kll *s, size_t level)
{
    double items = (double)s->k * pow(2 / 3.0, (double)(s->levels - 1 - level));
    return items > CAPACITY_MIN ? (size_t)ceil(items) : CAPACITY_MIN;
}

static void set_levels(struct pythia_kll *s, size_t levels)
{
    s->levels = levels;
    s->capacity = 0;
    for (size_t h = 0; h < levels; h++)
        s->capacity += capacity_of(s, h);
}

int pythia_kll_create(size_t k, uint64_t seed, struct pythia_kll **out)
{
    if (k < PYTHIA_KLL_K_MIN || k > PYTHIA_KLL_K_MAX)
        return PYTHIA_EINVAL;
    struct pythia_kll *s = pythia_calloc(1, sizeof(*s));
    if (!s)
        return PYTHIA_ENOMEM;
    s->k = k;
    s->min = INFINITY;
    s->max = -INFINITY;
    pythia_random_init(&s->random, seed);
    set_levels(s, 1);
    *out = s;
    return PYTHIA_OK;
}

void pythia_kll_destroy(struct pythia_kll *s)
{
    if (!s)
        return;
    for (size_t h = 0; h < LEVELS_MAX; h++)
        pythia_free(s->level[h].items);
    pythia_free(s);
}

static int reserve(struct level *l, size_t more)
{
    if (l->count + more <= l->room)
        return PYTHIA_OK;
    size_t room = l->count + more > 2 * l->room ? l->count + more : 2 * l->room;
    double *items = pythia_realloc(l->items, room, sizeof(*items));
    if (!items)
        return PYTHIA_ENOMEM;
    l->items = items;
    l->room = room;
    return PYTHIA_OK;
}

/* Merge every `stride`-th of `count` sorted items into a sorted level that has room for them, from
 * the highest down. */
static void merge_sorted(struct level *to, const double *items, size_t count, size_t stride)
{
    size_t left = to->count, end = to->count + count;
    to->count = end;
    while (count > 0) {
        double item = items[(count - 1) * stride];
        if (left > 0 && to->items[left - 1] > item) {
            to->items[--end] = to->items[--left];
        } else {
            to->items[--end] = item;
            count--;
        }
    }
}

/* Halve the items of a level; an odd one out stays. */
static int compact(struct pythia_kll *s, size_t h)
{
    if (h + 1 == LEVELS_MAX) /* beyond 2^63 values */
        return PYTHIA_ELIMIT;
    struct level *l = &s->level[h];
    size_t odd = l->count % 2, moving = l->count / 2;
    int status = reserve(&s->level[h + 1], moving);
    if (status != PYTHIA_OK)
        return status;
    if (h + 1 == s->levels)
        set_levels(s, s->levels + 1);
    if (h == 0)
        pythia_ranks_sort(l->items, l->count);
    size_t coin = pythia_random_next(&s->random) >> 63;
    merge_sorted(&s->level[h + 1], l->items + odd + coin, moving, 2);
    l->count = odd;
    s->held -= moving;
    return PYTHIA_OK;
}

static int compress(struct pythia_kll *s)
{
    int status = PYTHIA_OK;
    while (status == PYTHIA_OK && s->held >= s->capacity) {
        size_t h = 0; /* some level is full, as all together are */
        while (s->level[h].count < capacity_of(s, h))
            h++;
        status = compact(s, h);
    }
    return status;
}

int pythia_kll_add(struct pythia_kll *s, double value)
{
    if (isnan(value))
        return PYTHIA_EINVAL;
    int status = compress(s);
    if (status == PYTHIA_OK)
        status = reserve(&s->level[0], 1);
    if (status != PYTHIA_OK)
        return status;
    s->level[0].items[s->level[0].count++] = value;
    s->held++;
    s->count++;
    s->min = fmin(s->min, value);
    s->max = fmax(s->max, value);
    return PYTHIA_OK;
}

int pythia_kll_merge(struct pythia_kll *s, const struct pythia_kll *other)
{
    if (s == other || s->k != other->k)
        return PYTHIA_EINVAL;
    for (size_t h = 0; h < other->levels; h++) {
        int status = reserve(&s->level[h], other->level[h].count);
        if (status != PYTHIA_OK)
            return status;
    }
    if (other->levels > s->levels)
        set_levels(s, other->levels);
    struct level *lowest = &s->level[0];
    for (size_t i = 0; i < other->level[0].count; i++)
        lowest->items[lowest->count++] = other->level[0].items[i];
    for (size_t h = 1; h < other->levels; h++)
        merge_sorted(&s->level[h], other->level[h].items, other->level[h].count, 1);
    s->held += other->held;
    s->count += other->count;
    s->min = fmin(s->min, other->min);
    s->max = fmax(s->max, other->max);
    (void)compress(s); /* without memory it stays larger, and the next add tries again */
    return PYTHIA_OK;
}

double pythia_kll_quantile(struct pythia_kll *s, double q)
{
    if (s->count == 0 || !(q >= 0 && q <= 1))
        return NAN;
    if (q == 0 || q == 1)
        return q == 0 ? s->min : s->max;
    pythia_ranks_sort(s->level[0].items, s->level[0].count);
    double rank = floor(q * (double)(s->count - 1)), before = 0, value = NAN;
    size_t next[LEVELS_MAX] = {0};
    while (before <= rank) { /* take the lowest of all levels' next items until past the rank */
        size_t lowest = LEVELS_MAX;
        for (size_t h = 0; h < s->levels; h++)
            if (next[h] < s->level[h].count &&
                (lowest == LEVELS_MAX ||
                 s->level[h].items[next[h]] < s->level[lowest].items[next[lowest]]))
                lowest = h;
        value = s->level[lowest].items[next[lowest]++];
        before += ldexp(1, (int)lowest);
    }
    return value;
}

double pythia_kll_rank(const struct pythia_kll *s, double value)
{
    double below = 0;
    for (size_t h = 0; h < s->levels; h++) {
        size_t count = 0;
        for (size_t i = 0; i < s->level[h].count; i++)
            count += s->level[h].items[i] <= value;
        below += ldexp((double)count, (int)h);
    }
    return s->count > 0 && !isnan(value) ? below / (double)s->count : NAN;
}

uint64_t pythia_kll_count(const struct pythia_kll *s)
{
    return s->count;
}
