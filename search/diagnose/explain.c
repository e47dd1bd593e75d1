/* Finds the keys that explain the latency variance of a group: choose the edges with the largest
 * shares, test all candidates against them in one family, and report those that are significant.
 * Candidates are made in explain_candidates.c; explain_profile.c writes their splits and
 * profiles. */
#include "pythia/explain.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "explain_joint.h"
#include "explain_parts.h"
#include "pythia/mem.h"
#include "pythia/status.h"

#define ROWS_MAX 512
#define BLOCK_NS                                                                                   \
    UINT64_C(2000000000) /* requests of so short a time are not independent of each other */

/* ---- asking ---- */

/* The input of association.h: the times of the best edges, and the rest. */
struct question {
    double *durations, *totals, *weights, *times;
    struct pythia_column *columns;
};

static void free_question(struct question *q)
{
    pythia_free(q->durations);
    pythia_free(q->totals);
    pythia_free(q->weights);
    pythia_free(q->times);
    pythia_free(q->columns);
}

/* The edges asked about are those with the largest share, whatever the ranking was by; and what is
 * left of the time. */
static size_t choose_edges(const struct pythia_ranking *r, size_t *chosen)
{
    size_t count = 0;
    for (size_t e = 0; e < r->edge_count; e++) {
        double share = r->edges[e].share.share;
        size_t at = count;
        while (at > 0 && share > r->edges[chosen[at - 1]].share.share)
            at--;
        /* Insertion into a list of a few: the ranking may be in another order, by tails or by
         * modes. */
        if (isnan(share) || at == PYTHIA_EXPLAIN_EDGES)
            continue;
        count += count < PYTHIA_EXPLAIN_EDGES;
        memmove(chosen + at + 1, chosen + at, (count - 1 - at) * sizeof(*chosen));
        chosen[at] = e;
    }
    return count;
}

/* Does the path say which requests have a key? It does if requests that lack the key lack its span,
 * too, but for so few that absence would not be a level. The key of a process is there whenever its
 * service is passed. */
static bool is_absent_with_path(const struct pythia__explainer *x,
                                const struct pythia__candidate *c)
{
    size_t lacking = 0, passing = 0;
    if (c->key == PYTHIA_NONE)
        return false;
    uint32_t tracepoint = pythia_keys_tracepoint(x->keys, c->key);
    for (size_t i = 0; i < x->n; i++) {
        const struct pythia_shape *shape = x->rows[i]->shape;
        if (pythia_row_find(x->rows[i]->values, x->rows[i]->value_count, c->key))
            continue;
        /* Passed, and yet without the key: absence says something of its own. */
        lacking++;
        for (uint32_t k = 0; k < shape->point_count && tracepoint != PYTHIA_NONE; k++)
            passing += shape->points[k] == tracepoint;
    }
    return lacking > 0 && passing < PYTHIA_COLUMN_LEVEL_MIN;
}

static int make_question(const struct pythia__explainer *x, const size_t *chosen, size_t edges,
                         struct question *q)
{
    size_t n = x->n, width = edges + 1;
    q->durations = pythia_calloc(width * n, sizeof(*q->durations));
    q->totals = pythia_calloc(n, sizeof(*q->totals));
    q->times = pythia_calloc(n, sizeof(*q->times));
    q->weights = pythia_calloc(width, sizeof(*q->weights));
    q->columns = pythia_calloc(x->count, sizeof(*q->columns));
    if (!q->durations || !q->totals || !q->times || !q->weights || !q->columns)
        return PYTHIA_ENOMEM;
    uint64_t first = UINT64_MAX;
    for (size_t i = 0; i < n; i++)
        first = x->rows[i]->start_ns < first ? x->rows[i]->start_ns : first;
    for (size_t i = 0; i < n; i++) {
        /* One last column has the time on all edges that were not chosen: a key may act there,
         * and without the column the edges would not add up to the duration. */
        double rest = q->totals[i] = (double)x->rows[i]->duration_ns;
        for (size_t e = 0; e < edges; e++)
            rest -= q->durations[e * n + i] =
                x->ranking->times_ns[chosen[e] * x->ranking->rows + i];
        q->durations[edges * n + i] = rest;
        /* Relative to the first request: an epoch in nanoseconds has more digits than a double. */
        q->times[i] = (double)(x->rows[i]->start_ns - first);
    }
    q->weights[edges] = 1;
    for (size_t e = 0; e < edges; e++) {
        q->weights[e] = x->ranking->edges[chosen[e]].share.share;
        q->weights[edges] -= q->weights[e];
    }
    for (size_t k = 0; k < x->count; k++) {
        const struct pythia__candidate *c = &x->candidates[k];
        bool categorical = c->kind == PYTHIA_KEY_CATEGORICAL;
        q->columns[k] = (struct pythia_column){
            .categorical = categorical,
            .present_only = is_absent_with_path(x, c),
            .looks_like_id = c->key != PYTHIA_NONE &&
                             pythia_looks_like_id(pythia_keys_attribute(x->keys, c->key)),
            .numbers = categorical ? NULL : c->numbers,
            .levels = c->levels,
            .level_count = c->level_count};
    }
    return PYTHIA_OK;
}

/* The mean number of requests within BLOCK_NS of each other: the blocks that permutations keep
 * together. */
static size_t block_size(const struct pythia__explainer *x)
{
    uint64_t first = UINT64_MAX, last = 0;
    for (size_t i = 0; i < x->n; i++) {
        first = x->rows[i]->start_ns < first ? x->rows[i]->start_ns : first;
        last = x->rows[i]->start_ns > last ? x->rows[i]->start_ns : last;
    }
    uint64_t span = last > first ? last - first : 1;
    size_t size = (size_t)((double)x->n * (double)BLOCK_NS / (double)span);
    /* At least 20 blocks: with fewer there are too few permutations for a small p. */
    size_t most = x->n / 20;
    return size < 1 ? 1 : size < most || most == 0 ? size : most;
}

/* ---- answers ---- */

static int add_explanation(const struct pythia__explainer *x,
                           const struct pythia_association_result *r,
                           struct pythia_explanations *out)
{
    const struct pythia__candidate *c = &x->candidates[r->column];
    struct pythia_explanation *found = &out->found[out->found_count];
    *found = (struct pythia_explanation){.name = pythia__candidate_name(x, c),
                                         .kind = r->categorical ? PYTHIA_KEY_CATEGORICAL : c->kind,
                                         .tracepoint = c->tracepoint,
                                         .key = c->key,
                                         .result = *r,
                                         .low = NAN,
                                         .high = NAN};
    if (!found->name)
        return PYTHIA_ENOMEM;
    /* Counted before it is complete, so that a failure below frees the name with all others. */
    out->found_count++;
    found->split = isnan(r->split.share) ? NULL : pythia__explain_split_text(x, c, &r->split);
    if (r->split.levels) {
        found->slow_levels = pythia__explain_copy_levels(c, &r->split);
        bool pooled = c->slow && r->split.level_count == 1 && r->split.levels[0] == 1;
        found->slow_level_count = !found->slow_levels ? 0
                                  : pooled            ? c->slow_count
                                                      : r->split.level_count;
    }
    found->result.split.levels = NULL; /* those are the association's */
    if ((r->split.levels && !found->slow_levels) || (!isnan(r->split.share) && !found->split))
        return PYTHIA_ENOMEM;
    size_t once = 0;
    for (size_t i = 0; i < x->n && found->kind != PYTHIA_KEY_CATEGORICAL; i++) {
        found->low = fmin(found->low, c->numbers[i]); /* NaN gives way to a number */
        found->high = fmax(found->high, c->numbers[i]);
        once += c->numbers[i] == 1;
    }
    found->mostly_once = c->kind == PYTHIA_KEY_COUNT && 2 * once >= x->n;
    if (c->key == PYTHIA_NONE) {
        int status = pythia__ends_early(x->rows, x->n, x->cct, c->tracepoint, &found->without,
                                        &found->ends_early);
        if (status != PYTHIA_OK)
            return status;
        /* Where the number of hits matters, requests without any are not worth a sentence. */
        if (c->kind == PYTHIA_KEY_COUNT && !(r->split.cut < 1))
            found->ends_early = false;
    }
    return pythia__explain_profile(x, c, found);
}

static int compare_skipped(const void *a, const void *b)
{
    return strcmp(((const struct pythia_skipped_key *)a)->name,
                  ((const struct pythia_skipped_key *)b)->name);
}

static int collect_explanations(struct pythia__explainer *x,
                                const struct pythia_association_result *results, size_t count,
                                struct pythia_explanations *out)
{
    out->found = pythia_calloc(count + 1, sizeof(*out->found));
    out->skipped = pythia_calloc(count + x->untested_count + 1, sizeof(*out->skipped));
    if (!out->found || !out->skipped)
        return PYTHIA_ENOMEM;
    for (; x->untested_count > 0; x->untested_count--)
        out->skipped[out->skipped_count++] = x->untested[x->untested_count - 1];
    for (size_t i = 0; i < count; i++) {
        const struct pythia_association_result *r = &results[i];
        /* A key that could not be tested is reported with the reason. A user who expects the key
         * to matter must see that its absence is no finding. */
        if (r->skip != PYTHIA_COLUMN_USED) {
            char *name = pythia__candidate_name(x, &x->candidates[r->column]);
            if (!name)
                return PYTHIA_ENOMEM;
            out->skipped[out->skipped_count++] =
                (struct pythia_skipped_key){name, pythia_column_skip_text(r->skip)};
        } else {
            out->asked++;
            if (r->significant && add_explanation(x, r, out) != PYTHIA_OK)
                return PYTHIA_ENOMEM;
        }
    }
    qsort(out->skipped, out->skipped_count, sizeof(*out->skipped), compare_skipped);
    return PYTHIA_OK;
}

static int test_candidates(struct pythia__explainer *x, double alpha, uint64_t seed,
                           struct pythia_explanations *out)
{
    size_t chosen[PYTHIA_EXPLAIN_EDGES + 1], edges = choose_edges(x->ranking, chosen), count;
    struct question q = {0};
    struct pythia_association *association = NULL;
    int status = make_question(x, chosen, edges, &q);
    if (status != PYTHIA_OK)
        goto out;
    status = pythia_association_create(&association);
    if (status != PYTHIA_OK)
        goto out;
    struct pythia_association_input input = {PYTHIA_ASSOCIATION_DEFAULTS,
                                             .rows = x->n,
                                             .edges = edges + 1,
                                             .columns = x->count,
                                             .durations = q.durations,
                                             .total = q.totals,
                                             .weights = q.weights,
                                             .keys = q.columns,
                                             .time = q.times,
                                             .block = block_size(x),
                                             .seed = seed};
    input.alpha = alpha;
    status = pythia_association_run(association, &input);
    if (status != PYTHIA_OK)
        goto out;
    const struct pythia_association_result *results =
        pythia_association_results(association, &count);
    out->edges = edges + 1;
    memcpy(out->chosen, chosen, edges * sizeof(*chosen));
    status = collect_explanations(x, results, count, out);
    if (status != PYTHIA_OK)
        goto out;
    /* The joint search reads the results of single keys; it adds no test to their family. */
    status = pythia__explain_joint(&input, results, count, out);
out:
    pythia_association_destroy(association);
    free_question(&q);
    return status;
}

int pythia_explain(const struct pythia_row *const *rows, const struct pythia_ranking *ranking,
                   const struct pythia_keys *keys, const struct pythia_cct *cct, double alpha,
                   uint64_t seed, size_t values_max, struct pythia_explanations *out)
{
    struct pythia__explainer x = {.rows = rows,
                                  .n = ranking->rows < ROWS_MAX ? ranking->rows : ROWS_MAX,
                                  .ranking = ranking,
                                  .keys = keys,
                                  .cct = cct,
                                  .values_max = values_max ? values_max : PYTHIA_PROFILE_BINS,
                                  .vocabulary = pythia_cct_vocabulary(cct)};
    struct pythia_explanations found = {.rows = x.n};
    assert(x.values_max >= 2 && x.values_max <= PYTHIA_PROFILE_BINS);
    int status = pythia__candidates_find(&x);
    if (status != PYTHIA_OK)
        goto out;
    /* Two rows determine any line: no test has a degree of freedom left. */
    if (x.count > 0 && x.n > 2)
        status = test_candidates(&x, alpha, seed, &found);
    else
        status = collect_explanations(&x, NULL, 0, &found);
    found.measured = x.measured;
    found.measured_share = x.measured_share;
    x.measured = NULL;
out:
    pythia__candidates_free(&x);
    if (status != PYTHIA_OK) {
        pythia_explanations_free(&found);
        return status;
    }
    *out = found;
    return PYTHIA_OK;
}

void pythia_explanations_free(struct pythia_explanations *x)
{
    for (size_t i = 0; i < x->found_count; i++) {
        pythia_free(x->found[i].name);
        pythia_free(x->found[i].split);
        pythia_free(x->found[i].slow_levels);
        for (size_t k = 0; k < x->found[i].profile_bins; k++)
            pythia_free(x->found[i].profile[k].label);
    }
    for (size_t i = 0; i < x->skipped_count; i++)
        pythia_free(x->skipped[i].name);
    pythia_free(x->found);
    pythia_free(x->skipped);
    pythia_free(x->measured);
    *x = (struct pythia_explanations){0};
}

struct pythia_key_name pythia_explained_key_name(const struct pythia_explanation *x,
                                                 const struct pythia_vocabulary *vocabulary)
{
    bool visits = x->kind == PYTHIA_KEY_COUNT, visited = x->kind == PYTHIA_KEY_HAS;
    return (struct pythia_key_name){
        .source = visits    ? PYTHIA_KEY_VISITS
                  : visited ? PYTHIA_KEY_VISITED
                            : PYTHIA_KEY_OF_SPANS,
        .text = visits || visited ? pythia_vocabulary_tracepoint_id(vocabulary, x->tracepoint)
                                  : pythia_text_of(x->name)};
}
