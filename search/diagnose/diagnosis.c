/* From counts to findings, in one direction:
 *
 *   types ─> the level of each ─> groups at that level ─> edges, modes, explanations
 *
 * A type is looked at as deep as counts allow: at the deepest level at which groups of enough
 * requests hold nearly all its requests and nearly all its variance. What lies between the groups
 * is the difference that the path makes, and is explained for the type as a whole. */
#include "pythia/diagnosis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pythia/gate.h"
#include "pythia/mem.h"
#include "pythia/place.h"
#include "pythia/ranks.h"
#include "pythia/sort.h"
#include "pythia/status.h"

#define COVERED                                                                                    \
    .95 /* of requests and of variance that groups must hold for their level to be chosen */
#define BETWEEN_TOLD .10 /* of a type's variance between paths, for paths to be explained */
#define LOCALISED    .50 /* of the variance, for a subtree to be where it comes from */
#define FEWEST       4   /* requests that can be diagnosed, whatever was asked for */
#define SLOW_GROUPS  4   /* with fewer groups nobody is slower than most */

struct diagnosing {
    const struct pythia_groups *groups;
    struct pythia_diagnosis_options o;
    const struct pythia_vocabulary *vocabulary;
    struct pythia_diagnosis *d;
    size_t group_capacity;
    double sum_of_squares; /* of all requests, about their mean */
};

const char *pythia_group_status_name(enum pythia_group_status status)
{
    static const char *const names[] = {"diagnosed", "quiet", "slow", "too_few"};
    return names[status];
}

const char *pythia_cause_name(enum pythia_cause_kind kind)
{
    static const char *const names[] = {"none", "edge", "retry", "loop", "path", "key"};
    return names[kind];
}

/* ---- sums of squares ---- */

static double squares_between(const struct pythia_exact_moments *part, double mean)
{
    double d = pythia_exact_moments_mean(part) - mean;
    return part->n ? (double)part->weight * d * d : 0;
}

static double share_or_nan(double part, double whole)
{
    return whole > 0 ? part / whole : NAN;
}

/* ---- levels ---- */

/* Are there so many requests that something can be said of them? What they stand for tells nothing
 * that was not seen. */
static bool is_enough(const struct diagnosing *x, const struct pythia_exact_moments *m)
{
    return pythia_exact_moments_effective(m) >= (double)x->o.min_requests;
}

/* Whether this structure is a group at `level`: structures of that level are, and structures
 * above it without deeper ones. */
static bool is_group_at(const struct pythia_structure *s, uint32_t level)
{
    return s->level == level ? !s->whole : s->level < level && s->whole;
}

/* The level's groups, and how much they leave out. */
static struct pythia_level measure_level(const struct diagnosing *x, const struct pythia_type *t,
                                         uint32_t level, double *requests_lost,
                                         double *squares_lost)
{
    double mean = pythia_exact_moments_mean(&t->moments),
           squares = pythia_exact_moments_squares(&t->moments), between = 0, lost = 0;
    struct pythia_level out = {0};
    for (size_t i = 0; i < t->structure_count; i++) {
        const struct pythia_structure *s = &t->structures[i];
        if (!is_group_at(s, level))
            continue;
        /* Variance splits exactly into that between the groups and that within them. */
        between += squares_between(&s->moments, mean);
        if (is_enough(x, &s->moments)) {
            out.groups++;
            out.requests += s->moments.weight;
        } else {
            /* A group with too few requests loses its own variance, and its distance from the
             * others. */
            lost += squares_between(&s->moments, mean) + pythia_exact_moments_squares(&s->moments);
        }
    }
    out.between_share = share_or_nan(between, squares);
    *requests_lost = 1 - (double)out.requests / (double)t->moments.weight;
    *squares_lost = squares > 0 ? lost / squares : 0;
    return out;
}

static void choose_structure_level(const struct diagnosing *x, struct pythia_type_result *r)
{
    const struct pythia_type *t = r->type;
    r->level_count = t->levels < PYTHIA_SHAPE_LEVELS ? t->levels : PYTHIA_SHAPE_LEVELS;
    r->level_count = r->level_count ? r->level_count : 1;
    r->levels[0] =
        (struct pythia_level){.groups = is_enough(x, &t->moments),
                              .requests = is_enough(x, &t->moments) ? t->moments.weight : 0};
    /* Level 0 is the type as a whole. A deeper one counts if its groups lose few requests, and
     * little of the variance with them. */
    for (uint32_t level = 1; level < r->level_count; level++) {
        double requests_lost, squares_lost;
        r->levels[level] = measure_level(x, t, level, &requests_lost, &squares_lost);
        if (requests_lost <= 1 - COVERED && squares_lost <= 1 - COVERED)
            r->level = level;
    }
    r->between_share = r->level ? r->levels[r->level].between_share : 0;
}

/* ---- groups ---- */

static struct pythia_group *add_group(struct diagnosing *x, size_t type, uint32_t level,
                                      uint64_t name, const struct pythia_exact_moments *m,
                                      const struct pythia_sketch *sketch,
                                      const struct pythia_lineage *lineage)
{
    struct pythia_diagnosis *d = x->d;
    if (pythia_grow(&d->groups, &x->group_capacity, d->group_count, sizeof(*d->groups)) !=
        PYTHIA_OK)
        return NULL;
    struct pythia_group *g = &d->groups[d->group_count++];
    *g = (struct pythia_group){
        .id = pythia_lineage_id(d->types[type].type->hash, level, name),
        .type = type,
        .level = level,
        .lineage = *lineage,
        .count = m->weight,
        .seen = m->n,
        .mean_ns = pythia_exact_moments_mean(m),
        .sd_ns = pythia_exact_moments_sd(m),
        .cov = pythia_exact_moments_cov(m),
        .p50_ns = pythia_sketch_quantile(sketch, .5),
        .p90_ns = pythia_sketch_quantile(sketch, .9),
        .p99_ns = pythia_sketch_quantile(sketch, .99),
        .p99_9_ns = pythia_sketch_quantile(sketch, .999),
        /* The share is of all requests' squares, not of the type's, so that groups of different
         * types can be sorted by it. */
        .variance_share = share_or_nan(pythia_exact_moments_squares(m), x->sum_of_squares),
        .status = is_enough(x, m) ? PYTHIA_GROUP_QUIET : PYTHIA_GROUP_TOO_FEW,
        .sketch = sketch,
        .modes_q = NAN,
        .modes = {.count = 1},
        .inclusive = PYTHIA_CCT_ROOT,
        .own = {.tracepoint = PYTHIA_NONE, .share = {NAN, NAN, NAN, NAN}},
    };
    g->dip.p = g->dip.p_raw = NAN;
    return g;
}

/* The structure that a row is of, at a level. */
static uint64_t structure_of(const struct pythia_row *row, uint32_t level, bool *whole)
{
    uint32_t last = row->shape->level_count - 1;
    *whole = level > last;
    return row->shape->levels[level < last ? level : last];
}

static bool is_row_in_structure(const struct pythia_row *row, uint32_t level,
                                const struct pythia_structure *s)
{
    if (!s)
        return true;
    bool whole;
    uint64_t name = structure_of(row, level, &whole);
    return name == s->name && whole == s->whole &&
           (!whole || row->shape->level_count - 1 == s->level);
}

/* The sampled rows of a group; `s` NULL: all of the type. */
static int gather_rows(const struct pythia_type *t, uint32_t level,
                       const struct pythia_structure *s, const struct pythia_row ***out,
                       size_t *count)
{
    size_t n = pythia_sample_count(t->rows), kept = 0;
    const struct pythia_row **rows = pythia_calloc(n, sizeof(struct pythia_row *));
    if (!rows)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        const struct pythia_row *row = pythia_sample_row(t->rows, i);
        if (is_row_in_structure(row, level, s))
            rows[kept++] = row;
    }
    /* A sampled trace stands for several requests: rows are thinned until each stands for as many.
     */
    int status = pythia_type_leave_fair(t, rows, &kept);
    if (status != PYTHIA_OK) {
        pythia_free(rows);
        return status;
    }
    *out = rows;
    *count = kept;
    return PYTHIA_OK;
}

/* Gather the rows of a group. Where a request outweighs most of them they may be too few after all.
 */
static int fill_group(const struct diagnosing *x, const struct pythia_type *t, uint32_t level,
                      const struct pythia_structure *s, struct pythia_group *g)
{
    int status = gather_rows(t, level, s, &g->rows, &g->sampled);
    if (status != PYTHIA_OK)
        return status;
    if (g->seen != g->count && g->sampled < x->o.min_requests)
        g->status = PYTHIA_GROUP_TOO_FEW;
    return PYTHIA_OK;
}

static int make_groups(struct diagnosing *x, size_t type)
{
    const struct pythia_type_result *r = &x->d->types[type];
    const struct pythia_type *t = r->type;
    /* Paths make no difference, or there are too few requests on each. */
    if (r->level == 0) {
        struct pythia_group *g = add_group(x, type, 0, 0, &t->moments, t->sketch, &t->lineage);
        return g ? fill_group(x, t, 0, NULL, g) : PYTHIA_ENOMEM;
    }
    for (size_t i = 0; i < t->structure_count; i++) {
        const struct pythia_structure *s = &t->structures[i];
        if (!is_group_at(s, r->level))
            continue;
        struct pythia_group *g =
            add_group(x, type, s->level, s->name, &s->moments, s->sketch, &s->lineage);
        if (!g || fill_group(x, t, r->level, s, g) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
    }
    return PYTHIA_OK;
}

/* A path has several shapes if requests took it again after its shape had left the cache. */
static bool is_same_path(const struct pythia_row *a, const struct pythia_row *b)
{
    return a->shape == b->shape ||
           (a->shape->hash == b->shape->hash && a->shape->gap_count == b->shape->gap_count);
}

/* The most common path; of several, the one whose first request comes first by hash. */
static const struct pythia_shape *common_shape(const struct pythia_group *g)
{
    const struct pythia_shape *best = NULL;
    size_t most = 0;
    for (size_t i = 0; i < g->sampled; i++) {
        size_t count = 0;
        for (size_t k = 0; k < i && count == 0; k++)
            count = is_same_path(g->rows[k], g->rows[i]) ? SIZE_MAX : 0;
        if (count)
            continue; /* counted at its first request */
        for (size_t k = i; k < g->sampled; k++)
            count += is_same_path(g->rows[k], g->rows[i]);
        if (count > most) {
            most = count;
            best = g->rows[i]->shape;
        }
        if (most >= g->sampled - i)
            break; /* nobody can catch up */
    }
    return best;
}

/* ---- modes ---- */

static double *durations_of(const struct pythia_group *g)
{
    double *out = pythia_calloc(g->sampled, sizeof(*out));
    for (size_t i = 0; out && i < g->sampled; i++)
        out[i] = (double)g->rows[i]->duration_ns;
    return out;
}

static int test_modes(void *context, size_t i)
{
    struct diagnosing *x = context;
    struct pythia_group *g = &x->d->groups[i];
    if (g->status == PYTHIA_GROUP_TOO_FEW || g->sampled < x->o.min_requests)
        return PYTHIA_OK;
    /* The durations are copied again below: to retain the copies of all groups until then would
     * double the memory of the samples. */
    double *durations = durations_of(g);
    if (!durations)
        return PYTHIA_ENOMEM;
    int status = pythia_tail_dip(durations, g->sampled, x->o.seed ^ g->id, &g->dip);
    pythia_free(durations);
    return status;
}

static int find_modes_of_group(void *context, size_t i)
{
    struct diagnosing *x = context;
    struct pythia_group *g = &x->d->groups[i];
    if (!(g->modes_q <= x->d->alpha))
        return PYTHIA_OK;
    double *durations = durations_of(g);
    if (!durations)
        return PYTHIA_ENOMEM;
    int status = pythia_modes_find(durations, g->sampled, x->o.seed ^ g->id, 2, &g->modes);
    pythia_free(durations);
    return status;
}

/* Test every group that is large enough, together; then find the modes of multimodal ones. One
 * family of tests: q controls false modes over the whole report and not within a group. */
static int find_group_modes(struct diagnosing *x)
{
    struct pythia_diagnosis *d = x->d;
    int status = pythia_each_run(x->o.each, d->group_count, test_modes, x);
    if (status != PYTHIA_OK)
        return status;
    double *p = pythia_calloc(d->group_count, sizeof(*p));
    if (!p)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < d->group_count; i++)
        p[i] = d->groups[i].dip.p; /* NaN: not tested */
    status = pythia_gate_benjamini_hochberg(p, d->group_count, p);
    for (size_t i = 0; i < d->group_count && status == PYTHIA_OK; i++)
        d->groups[i].modes_q = p[i];
    pythia_free(p);
    return status == PYTHIA_OK ? pythia_each_run(x->o.each, d->group_count, find_modes_of_group, x)
                               : status;
}

/* ---- edges and explanations ---- */

static int rank_group(struct diagnosing *x, struct pythia_group *g)
{
    size_t *labels = NULL;
    /* With modes, an edge can also be ranked by how much of the slowest mode it carries. */
    if (g->modes.count > 1) {
        labels = pythia_calloc(g->sampled, sizeof(*labels));
        if (!labels)
            return PYTHIA_ENOMEM;
        for (size_t i = 0; i < g->sampled; i++)
            labels[i] = pythia_modes_label(&g->modes, (double)g->rows[i]->duration_ns);
    }
    struct pythia_rank_options options = {.measure = x->o.measure,
                                          .level = 1 - x->d->alpha,
                                          .alpha = x->d->alpha,
                                          .seed = x->o.seed ^ g->id,
                                          .labels = labels,
                                          .modes = g->modes.count,
                                          .without_modes = x->o.without_modes};
    int status =
        pythia_rank(g->rows, g->sampled, pythia_groups_cct(x->groups), &options, &g->ranking);
    pythia_free(labels);
    return status;
}

/* The deepest node that holds at least half of the variance beyond chance; of several, the first by
 * name. */
static uint32_t find_inclusive(const struct pythia_ranking *r, const struct pythia_cct *cct)
{
    uint32_t best = PYTHIA_CCT_ROOT;
    for (size_t i = 0; i < r->context_count && pythia_ranking_has_shares(r); i++) {
        uint32_t node = r->contexts[i].node;
        if (!(r->contexts[i].share.low >= LOCALISED) || r->contexts[i].few)
            continue;
        uint32_t depth = pythia_cct_depth(cct, node), depth_best = pythia_cct_depth(cct, best);
        if (depth > depth_best ||
            (depth == depth_best && pythia_cct_compare_nodes(cct, node, best) < 0))
            best = node;
    }
    return best;
}

/* Does each segment of an own time rest on a handful of requests? */
static bool is_own_time_rare(const struct pythia_ranking *r, const struct pythia_cct *cct,
                             uint32_t tracepoint)
{
    for (size_t e = 0; e < r->edge_count; e++)
        if (!r->edges[e].few && pythia_place_own_has(cct, r->edges[e].edge, tracepoint))
            return false;
    return true;
}

/* The own time is reported only where it matters, is surely above chance, and does not rest on a
 * handful of requests. */
static int find_own_time(const struct diagnosing *x, struct pythia_group *g)
{
    const struct pythia_cct *cct = pythia_groups_cct(x->groups);
    const struct pythia_ranking *r = &g->ranking;
    struct pythia_own_time t;
    /* Outliers have the variance: shares of what clipping leaves would mislead. */
    if (!pythia_ranking_has_shares(r))
        return PYTHIA_OK;
    int status = pythia_own_time_find(r, cct, NULL, 1 - x->d->alpha, &t);
    if (status != PYTHIA_OK || t.tracepoint == PYTHIA_NONE ||
        !(t.share.slope >= PYTHIA_FINDING_MIN && t.share.low > 0) ||
        is_own_time_rare(r, cct, t.tracepoint))
        return status;
    status = pythia_own_time_localise(r, cct, 1 - x->d->alpha, &t);
    if (status != PYTHIA_OK)
        return status;
    if (t.localised || t.share.low >= LOCALISED)
        g->own = t;
    return PYTHIA_OK;
}

static enum pythia_cause_kind classify_cause(const struct pythia_group *g)
{
    const struct pythia_explanation *first =
        g->explanations.found_count ? &g->explanations.found[0] : NULL;
    if (first && first->kind == PYTHIA_KEY_COUNT)
        return first->mostly_once ? PYTHIA_CAUSE_RETRY : PYTHIA_CAUSE_LOOP;
    if (first && first->kind == PYTHIA_KEY_HAS)
        return PYTHIA_CAUSE_PATH;
    if (g->ranking.localised || g->inclusive != PYTHIA_CCT_ROOT || g->own.tracepoint != PYTHIA_NONE)
        return PYTHIA_CAUSE_EDGE;
    return first ? PYTHIA_CAUSE_KEY : PYTHIA_CAUSE_NONE;
}

/* From cheap to expensive: a group with too few requests, or whose latency hardly varies, has
 * nothing to explain. */
static int diagnose_group(struct diagnosing *x, struct pythia_group *g)
{
    const struct pythia_cct *cct = pythia_groups_cct(x->groups);
    g->shape = common_shape(g);
    if (g->status == PYTHIA_GROUP_TOO_FEW || g->sampled < x->o.min_requests)
        return PYTHIA_OK;
    int status = rank_group(x, g);
    if (status != PYTHIA_OK || !(g->cov >= x->o.min_cov)) /* also stops at NaN */
        return status;
    g->inclusive = find_inclusive(&g->ranking, cct);
    status = find_own_time(x, g);
    if (status != PYTHIA_OK)
        return status;
    status = pythia_explain(g->rows, &g->ranking, pythia_groups_keys(x->groups), cct, x->d->alpha,
                            x->o.seed ^ g->id, x->o.values_max, &g->explanations);
    if (status != PYTHIA_OK)
        return status;
    status = pythia_split_propose(g->rows, g->sampled, &g->modes, &g->explanations,
                                  pythia_groups_keys(x->groups), x->vocabulary,
                                  pythia_groups_key(x->groups), x->d->types[g->type].type->unsplit,
                                  x->d->alpha, &g->splits);
    if (status != PYTHIA_OK)
        return status;
    g->cause = classify_cause(g);
    if (g->cause != PYTHIA_CAUSE_NONE)
        g->status = PYTHIA_GROUP_DIAGNOSED;
    return PYTHIA_OK;
}

/* Where paths account for a part of the variance, the keys that go with them are looked for among
 * all requests of the type: within a group, which is one path, they cannot be seen. */
static int explain_type(struct diagnosing *x, struct pythia_type_result *r)
{
    if (r->level == 0 || !(r->between_share >= BETWEEN_TOLD) || r->levels[r->level].groups < 2)
        return PYTHIA_OK;
    const struct pythia_row **rows;
    size_t count;
    struct pythia_ranking ranking;
    struct pythia_rank_options options = {.level = 1 - x->d->alpha,
                                          .alpha = x->d->alpha,
                                          .seed = x->o.seed,
                                          .without_modes = x->o.without_modes};
    int status = gather_rows(r->type, 0, NULL, &rows, &count);
    if (status != PYTHIA_OK)
        return status;
    status = pythia_rank(rows, count, pythia_groups_cct(x->groups), &options, &ranking);
    if (status != PYTHIA_OK)
        goto out;
    status =
        pythia_explain(rows, &ranking, pythia_groups_keys(x->groups), pythia_groups_cct(x->groups),
                       x->d->alpha, x->o.seed ^ r->type->hash, x->o.values_max, &r->explanations);
    pythia_ranking_free(&ranking);
out:
    pythia_free(rows);
    return status;
}

/* ---- order ---- */

static double group_score(const struct pythia_group *g, enum pythia_measure measure)
{
    switch (measure) {
    case PYTHIA_MEASURE_SHARE:
        return g->variance_share;
    case PYTHIA_MEASURE_VARIANCE:
        return g->sd_ns * g->sd_ns;
    case PYTHIA_MEASURE_COV:
        return g->cov;
    case PYTHIA_MEASURE_MODES:
        return g->modes.count > 1 ? g->modes.variance_share * g->variance_share : 0;
    case PYTHIA_MEASURE_TAIL:
        return (g->p99_ns - g->p50_ns) * (double)g->count;
    case PYTHIA_MEASURE_SLOW:
        return g->mean_ns;
    }
    return NAN;
}

static int compare_scores(double a, double b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) - isnan(b);
    return (a < b) - (a > b);
}

static int compare_group_results(const void *a, const void *b)
{
    const struct pythia_group *x = a, *y = b;
    bool few_x = x->status == PYTHIA_GROUP_TOO_FEW, few_y = y->status == PYTHIA_GROUP_TOO_FEW;
    if (few_x != few_y)
        return few_x - few_y; /* nothing can be said of the small ones: they come last */
    int order = compare_scores(x->score, y->score);
    return order ? order : (x->id > y->id) - (x->id < y->id);
}

static int compare_type_results(const void *a, const void *b)
{
    const struct pythia_type_result *x = a, *y = b;
    int order = compare_scores(x->variance_share, y->variance_share);
    return order ? order : (x->type->hash > y->type->hash) - (x->type->hash < y->type->hash);
}

static int compare_rising(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* A group that does not vary is slow if its mean is above most groups' means. */
static int find_slow(struct diagnosing *x)
{
    struct pythia_diagnosis *d = x->d;
    double *means = pythia_calloc(d->group_count, sizeof(*means));
    size_t count = 0;
    if (!means)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < d->group_count; i++)
        if (d->groups[i].status != PYTHIA_GROUP_TOO_FEW)
            means[count++] = d->groups[i].mean_ns;
    qsort(means, count, sizeof(*means), compare_rising);
    /* Quiet groups are compared with all groups, because a report of slow groups alone would have
     * nothing to compare with. */
    double limit =
        count >= SLOW_GROUPS ? pythia_ranks_quantile(means, count, x->o.slow_quantile) : NAN;
    for (size_t i = 0; i < d->group_count; i++)
        if (d->groups[i].status == PYTHIA_GROUP_QUIET && d->groups[i].mean_ns > limit)
            d->groups[i].status = PYTHIA_GROUP_SLOW;
    pythia_free(means);
    return PYTHIA_OK;
}

/* ---- all of it ---- */

/* Is a type looked at? */
static bool is_type_selected(const struct diagnosing *x, const struct pythia_type *type)
{
    return !x->o.only || pythia_sorted_find(x->o.only_count, pythia_sorted_compare_number,
                                            x->o.only, &type->name) != PYTHIA_SORTED_NONE;
}

static int make_types(struct diagnosing *x)
{
    size_t count;
    const struct pythia_type *types = pythia_groups_types(x->groups, &count);
    const struct pythia_exact_moments *all = pythia_groups_moments(x->groups);
    struct pythia_diagnosis *d = x->d;
    d->types = pythia_calloc(count, sizeof(*d->types));
    if (!d->types)
        return PYTHIA_ENOMEM;
    d->type_count = count;
    d->requests = all->weight;
    d->seen = all->n;
    d->mean_ns = pythia_exact_moments_mean(all);
    d->sd_ns = pythia_exact_moments_sd(all);
    x->sum_of_squares = pythia_exact_moments_squares(all);
    double between = 0;
    for (size_t i = 0; i < count; i++) {
        struct pythia_type_result *r = &d->types[i];
        *r = (struct pythia_type_result){
            .type = &types[i],
            .mean_ns = pythia_exact_moments_mean(&types[i].moments),
            .sd_ns = pythia_exact_moments_sd(&types[i].moments),
            .client_mean_ns = pythia_exact_moments_mean(&types[i].client),
            .variance_share =
                share_or_nan(pythia_exact_moments_squares(&types[i].moments), x->sum_of_squares)};
        between += squares_between(&types[i].moments, d->mean_ns);
        /* A type that is left out is still counted above: shares are of all requests, whichever
         * of them the user asked for. */
        if (!is_type_selected(x, &types[i])) {
            d->not_asked++;
            continue;
        }
        int status = pythia_groups_settle(x->groups, i);
        if (status != PYTHIA_OK)
            return status;
        choose_structure_level(x, r);
    }
    d->between_types_share = share_or_nan(between, x->sum_of_squares);
    qsort(d->types, count, sizeof(*d->types), compare_type_results);
    return PYTHIA_OK;
}

static int check_stop(const struct diagnosing *x)
{
    return x->o.stop && atomic_load_explicit(x->o.stop, memory_order_relaxed) ? PYTHIA_ESTOPPED
                                                                              : PYTHIA_OK;
}

static int diagnose_numbered_group(void *context, size_t i)
{
    struct diagnosing *x = context;
    int status = check_stop(x);
    return status == PYTHIA_OK ? diagnose_group(x, &x->d->groups[i]) : status;
}

static int explain_numbered_type(void *context, size_t i)
{
    struct diagnosing *x = context;
    struct pythia_type_result *r = &x->d->types[i];
    int status = check_stop(x);
    return status == PYTHIA_OK && is_type_selected(x, r->type) ? explain_type(x, r) : status;
}

/* Do what takes long: each group, and then each type, beside each other perhaps: samples were
 * sorted when the groups got their rows. A caller that shuts down can stop it between two of
 * them. */
static int diagnose_all(struct diagnosing *x)
{
    struct pythia_diagnosis *d = x->d;
    int status = check_stop(x);
    if (status != PYTHIA_OK)
        return status;
    if (!x->o.without_modes) {
        /* Modes first, for all groups together: their tests share one correction. */
        status = find_group_modes(x);
        if (status != PYTHIA_OK)
            return status;
    }
    status = pythia_each_run(x->o.each, d->group_count, diagnose_numbered_group, x);
    return status == PYTHIA_OK ? pythia_each_run(x->o.each, d->type_count, explain_numbered_type, x)
                               : status;
}

static int run_diagnosis(struct diagnosing *x)
{
    int status = make_types(x);
    if (status != PYTHIA_OK)
        return status;
    for (size_t i = 0; i < x->d->type_count; i++) {
        if (!is_type_selected(x, x->d->types[i].type))
            continue;
        status = make_groups(x, i);
        if (status != PYTHIA_OK)
            return status;
    }
    status = diagnose_all(x);
    if (status != PYTHIA_OK)
        return status;
    return find_slow(x);
}

int pythia_diagnose(const struct pythia_groups *g, const struct pythia_diagnosis_options *options,
                    struct pythia_diagnosis **out)
{
    struct diagnosing x = {.groups = g,
                           .o = *options,
                           .vocabulary = pythia_cct_vocabulary(pythia_groups_cct(g)),
                           .d = pythia_calloc(1, sizeof(*x.d))};
    if (!x.d)
        return PYTHIA_ENOMEM;
    x.o.min_requests = options->min_requests ? options->min_requests : 30;
    if (x.o.min_requests < FEWEST)
        x.o.min_requests = FEWEST;
    x.o.slow_quantile = options->slow_quantile > 0 ? options->slow_quantile : .95;
    x.o.alpha = options->alpha > 0 ? options->alpha : .05;
    x.d->alpha = options->look ? pythia_gate_alpha(x.o.alpha, options->look) : x.o.alpha;
    int status = run_diagnosis(&x);
    if (status != PYTHIA_OK) {
        pythia_diagnosis_destroy(x.d);
        return status;
    }
    for (size_t i = 0; i < x.d->group_count; i++)
        x.d->groups[i].score = group_score(&x.d->groups[i], x.o.measure);
    if (x.d->group_count > 0) /* else there is no array, which qsort may not be given */
        qsort(x.d->groups, x.d->group_count, sizeof(*x.d->groups), compare_group_results);
    *out = x.d;
    return PYTHIA_OK;
}

void pythia_diagnosis_destroy(struct pythia_diagnosis *d)
{
    if (!d)
        return;
    for (size_t i = 0; i < d->group_count; i++) {
        pythia_free(d->groups[i].rows);
        pythia_ranking_free(&d->groups[i].ranking);
        pythia_explanations_free(&d->groups[i].explanations);
        pythia_split_proposals_free(&d->groups[i].splits);
    }
    for (size_t i = 0; i < d->type_count; i++)
        pythia_explanations_free(&d->types[i].explanations);
    pythia_free(d->groups);
    pythia_free(d->types);
    pythia_free(d);
}
