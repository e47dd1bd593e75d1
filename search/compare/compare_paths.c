/* Compares the paths that requests take, and the trace points that they hit. */
#include <math.h>
#include <string.h>

#include "compare_parts.h"
#include "pythia/mem.h"
#include "pythia/sort.h"
#include "pythia/status.h"

struct pythia_count_change pythia__count_change(uint64_t before, uint64_t n_before, uint64_t after,
                                                uint64_t n_after)
{
    uint64_t hits = before + after, misses = n_before + n_after - hits;
    bool enough = hits >= PYTHIA__TESTED_MIN && misses >= PYTHIA__TESTED_MIN;
    return (struct pythia_count_change){
        .before = before,
        .after = after,
        .p = enough ? pythia_two_samples_fisher(before, n_before, after, n_after) : NAN,
        .q = NAN,
    };
}

/* ---- structures ---- */

/* A structure on both sides; either may be NULL. */
struct pair {
    const struct pythia_structure *sides[2];
};

struct work {
    struct pythia__compare *c;
    struct pythia_compared_type *t;
    const struct pythia_type *types[2];
    struct pair *pairs;
    size_t pair_count;
    uint32_t *rows[2]; /* of each sampled request: its pair */
    uint32_t *counts;  /* by trace point: how many requests of the current pair pass it */
    uint32_t *of_base; /* the same of the commonest pair of before */
    size_t base, base_rows;
};

/* At `level`, the structures of that level and those that end above it are distinguished. */
static bool is_structure_at_level(const struct pythia_structure *s, uint32_t level)
{
    return s->whole ? s->level < level : s->level == level;
}

static int compare_structures(const struct pythia_structure *a, const struct pythia_structure *b)
{
    if (a->level != b->level)
        return a->level < b->level ? -1 : 1;
    if (a->name != b->name)
        return a->name < b->name ? -1 : 1;
    return (int)a->whole - (int)b->whole;
}

static uint64_t requests_on(const struct work *w, const struct pair *p, size_t side)
{
    return p->sides[side] ? pythia_exact_moments_count(&w->types[side]->moments,
                                                       p->sides[side]->moments.weight)
                          : 0;
}

static uint64_t requests_of_pair(const struct work *w, const struct pair *p)
{
    return requests_on(w, p, 0) + requests_on(w, p, 1);
}

/* The structures of both sides at `level`, in their order. `pairs` has room for all of them. */
static size_t pair_up(const struct work *w, uint32_t level, struct pair *pairs)
{
    size_t at[2] = {0, 0}, count = 0;
    for (;;) {
        const struct pythia_structure *next[2] = {NULL, NULL};
        for (size_t s = 0; s < 2; s++) {
            const struct pythia_type *t = w->types[s];
            while (t && at[s] < t->structure_count &&
                   !is_structure_at_level(&t->structures[at[s]], level))
                at[s]++;
            if (t && at[s] < t->structure_count)
                next[s] = &t->structures[at[s]];
        }
        if (!next[0] && !next[1])
            return count;
        /* A merge of two sorted lists, as of types. */
        int order = !next[0] ? 1 : !next[1] ? -1 : compare_structures(next[0], next[1]);
        pairs[count++] = (struct pair){{order <= 0 ? next[0] : NULL, order >= 0 ? next[1] : NULL}};
        at[0] += order <= 0;
        at[1] += order >= 0;
    }
}

/* The deepest level at which at least half of the requests have company enough to be counted. */
static uint32_t choose_path_level(const struct work *w, struct pair *pairs)
{
    uint32_t level = PYTHIA_SHAPE_LEVELS - 1;
    for (size_t s = 0; s < 2; s++)
        if (w->types[s] && w->types[s]->too_varied && w->types[s]->levels - 1 < level)
            level = w->types[s]->levels - 1;
    /* The deepest level tells most apart; it is given up where too few requests share a path. */
    for (; level > 1; level--) {
        size_t count = pair_up(w, level, pairs);
        uint64_t all = 0, enough = 0;
        for (size_t i = 0; i < count; i++) {
            uint64_t n = requests_of_pair(w, &pairs[i]);
            all += n;
            enough += n >= w->c->options->min_requests ? n : 0;
        }
        if (2 * enough >= all)
            break;
    }
    return level;
}

/* ---- which trace points tell a path ---- */

static int compare_row(const struct pythia_shape *shape, uint32_t level,
                       const struct pythia_structure *s)
{
    uint32_t last = shape->level_count - 1;
    struct pythia_structure key = {.level = last >= level ? level : last, .whole = last < level};
    key.name = shape->levels[key.level];
    return compare_structures(&key, s);
}

static int compare_pair(const void *work, size_t index, const void *shape)
{
    const struct work *w = work;
    const struct pair *p = &w->pairs[index];
    return -compare_row(shape, w->t->level, p->sides[0] ? p->sides[0] : p->sides[1]);
}

static uint32_t pair_of(const struct work *w, const struct pythia_shape *shape)
{
    size_t found = pythia_sorted_find(w->pair_count, compare_pair, w, shape);
    return found == PYTHIA_SORTED_NONE ? PYTHIA_NONE : (uint32_t)found;
}

static size_t sampled_rows_of_side(const struct work *w, size_t s)
{
    return w->types[s] ? pythia_type_rows(w->types[s]) : 0;
}

/* Count the sampled requests of a pair that hit each trace point; returns the number of trace
 * points. */
static size_t count_points(const struct work *w, size_t pair, uint32_t *counts)
{
    size_t n = 0;
    memset(counts, 0, pythia_vocabulary_tracepoints(w->c->vocabulary) * sizeof(*counts));
    for (size_t s = 0; s < 2; s++)
        for (size_t i = 0; i < sampled_rows_of_side(w, s); i++) {
            if (w->rows[s][i] != pair)
                continue;
            const struct pythia_row *row = pythia_type_row(w->types[s], i);
            for (uint32_t k = 0; k < row->shape->point_count; k++)
                counts[row->shape->points[k]]++;
            n++;
        }
    return n;
}

static bool path_point_precedes(const void *context, uint32_t a, uint32_t b)
{
    return pythia_text_compare(pythia_vocabulary_tracepoint_id(context, a),
                               pythia_vocabulary_tracepoint_id(context, b)) < 0;
}

/* The trace points that most requests of one pair pass, and most of the other do not. */
static int tell_apart(const struct work *w, const uint32_t *of_one, size_t ones,
                      const uint32_t *of_other, size_t others, uint32_t **points, size_t *count)
{
    uint32_t all = pythia_vocabulary_tracepoints(w->c->vocabulary);
    size_t n = 0;
    for (uint32_t i = 0; i < all; i++)
        n += 2 * (size_t)of_one[i] > ones && 2 * (size_t)of_other[i] <= others;
    uint32_t *found = pythia_calloc(2 * n, sizeof(*found));
    if (!found)
        return PYTHIA_ENOMEM;
    *points = found;
    *count = n;
    n = 0;
    for (uint32_t i = 0; i < all; i++)
        if (2 * (size_t)of_one[i] > ones && 2 * (size_t)of_other[i] <= others)
            found[n++] = i;
    pythia_sort_indexes(found, n, found + n, path_point_precedes, w->c->vocabulary);
    return PYTHIA_OK;
}

/* An example: of the side that has more of it, the sampled request of the lowest hash. */
static void find_example(const struct work *w, size_t pair, struct pythia_compared_path *out)
{
    size_t first = out->count.after > 0 ? 1 : 0;
    for (size_t k = 0; k < 2 && !out->has_example; k++) {
        size_t s = k == 0 ? first : 1 - first;
        for (size_t i = 0; i < sampled_rows_of_side(w, s) && !out->has_example; i++)
            if (w->rows[s][i] == pair) {
                out->example = pythia_type_row(w->types[s], i)->trace;
                out->has_example = true;
            }
    }
}

static double mean_of_structure(const struct pythia_structure *s)
{
    return s ? pythia_exact_moments_mean(&s->moments) : NAN;
}

static int describe_path(struct work *w, size_t pair, struct pythia_compared_path *out)
{
    const struct pair *p = &w->pairs[pair];
    out->name = (p->sides[0] ? p->sides[0] : p->sides[1])->name;
    out->count = pythia__count_change(requests_on(w, p, 0), w->t->requests[0], requests_on(w, p, 1),
                                      w->t->requests[1]);
    out->mean = pythia__change(mean_of_structure(p->sides[0]), mean_of_structure(p->sides[1]));
    find_example(w, pair, out);
    size_t n = count_points(w, pair, w->counts);
    if (pair == w->base || n == 0 || w->base_rows == 0)
        return PYTHIA_OK;
    int status =
        tell_apart(w, w->counts, n, w->of_base, w->base_rows, &out->passes, &out->pass_count);
    if (status != PYTHIA_OK)
        return status;
    return tell_apart(w, w->of_base, w->base_rows, w->counts, n, &out->lacks, &out->lack_count);
}

static bool path_before(const void *context, uint32_t a, uint32_t b)
{
    const struct pythia_compared_path *p = context;
    double pa = isnan(p[a].count.p) ? 2 : p[a].count.p, pb = isnan(p[b].count.p) ? 2 : p[b].count.p;
    if (pa != pb)
        return pa < pb;
    uint64_t na = p[a].count.before + p[a].count.after, nb = p[b].count.before + p[b].count.after;
    return na != nb ? na > nb : p[a].name < p[b].name;
}

/* The commonest path of before, or of after where there is no before. */
static size_t find_commonest_pair(const struct work *w)
{
    size_t best = 0, s = w->types[0] ? 0 : 1;
    uint64_t most = 0;
    for (size_t i = 0; i < w->pair_count; i++)
        if (w->pairs[i].sides[s] && w->pairs[i].sides[s]->moments.weight > most) {
            most = w->pairs[i].sides[s]->moments.weight;
            best = i;
        }
    return best;
}

static int compare_path_pairs(struct work *w)
{
    struct pythia_compared_type *t = w->t;
    size_t points = pythia_vocabulary_tracepoints(w->c->vocabulary), room = 1;
    for (size_t s = 0; s < 2; s++) {
        room += w->types[s] ? w->types[s]->structure_count : 0;
        w->rows[s] = pythia_calloc(sampled_rows_of_side(w, s), sizeof(*w->rows[s]));
    }
    w->pairs = pythia_calloc(room, sizeof(*w->pairs));
    w->counts = pythia_calloc(points, sizeof(*w->counts));
    w->of_base = pythia_calloc(points, sizeof(*w->of_base));
    if (!w->pairs || !w->counts || !w->of_base || !w->rows[0] || !w->rows[1])
        return PYTHIA_ENOMEM;
    t->level = choose_path_level(w, w->pairs);
    t->paths_compared = t->level > 0;
    w->pair_count = t->paths_compared ? pair_up(w, t->level, w->pairs) : 0;
    t->paths = pythia_calloc(w->pair_count, sizeof(*t->paths));
    if (!t->paths)
        return PYTHIA_ENOMEM;
    t->path_count = w->pair_count;
    for (size_t s = 0; s < 2; s++)
        for (size_t i = 0; i < sampled_rows_of_side(w, s); i++) {
            const struct pythia_row *row = pythia_type_row(w->types[s], i);
            w->rows[s][i] = pair_of(w, row->shape);
        }
    /* A path is described by the points in which it differs from the commonest one: a list of
     * all its points would bury the two or three that matter. */
    w->base = find_commonest_pair(w);
    w->base_rows = count_points(w, w->base, w->of_base);
    for (size_t i = 0; i < w->pair_count; i++) {
        int status = describe_path(w, i, &t->paths[i]);
        if (status != PYTHIA_OK)
            return status;
    }
    return pythia__compare_sort(&t->paths, t->path_count, sizeof(*t->paths), path_before, t->paths);
}

int pythia__compare_paths(struct pythia__compare *c, struct pythia_compared_type *t)
{
    struct work w = {.c = c, .t = t, .types = {t->before, t->after}};
    int status = compare_path_pairs(&w);
    pythia_free(w.pairs);
    pythia_free(w.counts);
    pythia_free(w.of_base);
    pythia_free(w.rows[0]);
    pythia_free(w.rows[1]);
    return status;
}

/* ---- trace points ---- */

static struct pythia_summary summarise_point_hits(const struct pythia_side_point *p,
                                                  uint64_t requests)
{
    if (!p)
        return (struct pythia_summary){.n = (double)requests};
    return (struct pythia_summary){(double)requests, pythia_exact_moments_mean(&p->visits),
                                   pythia_exact_moments_variance(&p->visits)};
}

static void compare_point(const struct pythia__compare *c, const struct pythia_compared_type *t,
                          const struct pythia_side_point *const sides[2],
                          struct pythia_compared_point *out)
{
    static const struct pythia_side_point none;
    const uint64_t *n = t->requests;
    const struct pythia_side_point *b = sides[0] ? sides[0] : &none,
                                   *a = sides[1] ? sides[1] : &none;
    struct pythia_summary before = summarise_point_hits(sides[0], n[0]),
                          after = summarise_point_hits(sides[1], n[1]);
    struct pythia_mean_change visits;
    pythia_two_samples_cautious(&before, &after, 1 - c->options->alpha, &visits);
    out->tracepoint = (sides[0] ? sides[0] : sides[1])->tracepoint;
    out->requests = pythia__count_change(b->requests, n[0], a->requests, n[1]);
    out->visits = pythia__change(n[0] > 0 ? before.mean : NAN, n[1] > 0 ? after.mean : NAN);
    out->visits_p = b->requests + a->requests >= 2 * (uint64_t)PYTHIA__TESTED_MIN ? visits.p : NAN;
    out->visits_q = NAN;
    out->failed =
        pythia__count_change(b->failed_requests, b->requests, a->failed_requests, a->requests);
}

static double smallest_p(const struct pythia_compared_point *p)
{
    double smallest = fmin(fmin(p->requests.p, p->visits_p), p->failed.p); /* passes a NaN over */
    return isnan(smallest) ? 2 : smallest;
}

static bool compared_point_before(const void *context, uint32_t a, uint32_t b)
{
    const struct pythia_compared_point *p = context;
    return smallest_p(&p[a]) < smallest_p(&p[b]);
}

int pythia__compare_points(struct pythia__compare *c, struct pythia_compared_type *t,
                           const struct pythia_side_type *before,
                           const struct pythia_side_type *after)
{
    const struct pythia_side_type *sides[2] = {before, after};
    size_t at[2] = {0, 0},
           room = (before ? before->point_count : 0) + (after ? after->point_count : 0);
    t->points = pythia_calloc(room, sizeof(*t->points));
    if (!t->points)
        return PYTHIA_ENOMEM;
    for (;;) {
        const struct pythia_side_point *next[2] = {NULL, NULL};
        for (size_t s = 0; s < 2; s++)
            if (sides[s] && at[s] < sides[s]->point_count)
                next[s] = &sides[s]->points[at[s]];
        if (!next[0] && !next[1])
            return pythia__compare_sort(&t->points, t->point_count, sizeof(*t->points),
                                        compared_point_before,
                                        t->points); /* ties stay in order of id */
        int order = 0;
        if (!next[0] || !next[1])
            order = next[0] ? -1 : 1;
        else if (next[0]->tracepoint != next[1]->tracepoint)
            order = path_point_precedes(c->vocabulary, next[0]->tracepoint, next[1]->tracepoint)
                        ? -1
                        : 1;
        const struct pythia_side_point *const both[2] = {order <= 0 ? next[0] : NULL,
                                                         order >= 0 ? next[1] : NULL};
        compare_point(c, t, both, &t->points[t->point_count++]);
        at[0] += order <= 0;
        at[1] += order >= 0;
    }
}
