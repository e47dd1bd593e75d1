#include "pythia/expectation_judge.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>

#include "pythia/hash.h"
#include "pythia/mem.h"
#include "pythia/ranks.h"
#include "pythia/status.h"

struct judge {
    const struct pythia_groups *groups;
    const struct pythia_cct *cct;
    const struct pythia_vocabulary *vocabulary;
    const struct pythia_expectations *all;
    size_t at; /* the expectation that is judged */
    size_t min_requests;
    uint64_t *names; /* by node of the calling context tree: hash of the names below the root */
    struct pythia_expected_results *out;
};

/* Requests that take one path. */
struct path_tally {
    uint64_t hash;
    size_t requests;
    const struct pythia_row *row; /* one of them */
};

struct path_tallies {
    struct path_tally *list; /* the most common one first */
    size_t count, capacity;
};

static const struct pythia_expectation *current_expectation(const struct judge *j)
{
    return &j->all->list[j->at];
}

static int add_result(struct judge *j, struct pythia_expected_result result)
{
    struct pythia_expected_results *out = j->out;
    int status = pythia_grow(&out->list, &out->capacity, out->count, sizeof(*out->list));
    if (status != PYTHIA_OK)
        return status;
    result.expectation = j->at;
    out->list[out->count++] = result;
    return PYTHIA_OK;
}

/* Grouping keys split a type: what is expected of it is expected of each part. */
static bool fits_type(const struct judge *j, const char *pattern, const struct pythia_type *type)
{
    struct pythia_text name = pythia_vocabulary_text(j->vocabulary, type->unsplit);
    return fnmatch(pattern, name.bytes, 0) == 0; /* a name ends with a NUL */
}

/* ---- the requests of a type that meet the condition ---- */

static int select_meeting(struct judge *j, const struct pythia_type *type,
                          const struct pythia_row **rows, size_t *count)
{
    const struct pythia_expectation *x = current_expectation(j);
    struct pythia_key_reader *reader = NULL;
    size_t met = 0;
    int status =
        pythia_key_reader_create(j->vocabulary, pythia_groups_keys(j->groups), &x->key, 1, &reader);
    if (status != PYTHIA_OK)
        goto out;
    for (size_t i = 0; i < pythia_type_rows(type); i++) {
        const struct pythia_row *row = pythia_type_row(type, i);
        struct pythia_key_value value;
        struct pythia_text text = {NULL, 0};
        status = pythia_key_reader_row(reader, 0, row, &value);
        if (status != PYTHIA_OK)
            goto out;
        /* Without the key a request neither meets nor violates the condition. */
        if (value.present && (status = pythia_key_reader_text(reader, &text)) != PYTHIA_OK)
            goto out;
        if (pythia_expectation_meets(x, &value, text))
            rows[met++] = row;
    }
out:
    pythia_key_reader_destroy(reader);
    *count = met;
    return status;
}

/* *rows are owned by the caller, also after a failure. */
static int select_rows(struct judge *j, const struct pythia_type *type,
                       const struct pythia_row ***rows, size_t *count)
{
    size_t all = pythia_type_rows(type);
    *rows = pythia_calloc(all + 1, sizeof(const struct pythia_row *));
    if (!*rows)
        return PYTHIA_ENOMEM;
    if (current_expectation(j)->where)
        return select_meeting(j, type, *rows, count);
    for (size_t i = 0; i < all; i++)
        (*rows)[i] = pythia_type_row(type, i);
    *count = all;
    return PYTHIA_OK;
}

/* ---- how fast, and how much alike ---- */

/* A quantile of few requests is their maximum, and a deviation is chance, so that limits are not
 * judged then. */
static int judge_limits(struct judge *j, const struct pythia_type *type,
                        const struct pythia_row *const *rows, size_t count)
{
    const struct pythia_expectation *x = current_expectation(j);
    struct pythia_exact_moments moments = {0};
    double *durations = pythia_calloc(count + 1, sizeof(*durations));
    if (!durations)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < count; i++) {
        durations[i] = (double)rows[i]->duration_ns;
        pythia_exact_moments_add_weighted(&moments, rows[i]->duration_ns, 1);
    }
    pythia_ranks_sort(durations, count);
    double p99 = pythia_ranks_quantile(durations, count, .99);
    pythia_free(durations);
    /* The rows are a sample of all requests, whose moments and quantiles are known. */
    if (!x->where && type->moments.n > count) {
        moments = type->moments;
        p99 = pythia_sketch_quantile(type->sketch, .99);
    }
    const struct pythia_expected_result results[] = {
        {.expected = PYTHIA_EXPECTED_P99, .value = p99, .limit = x->p99_ns},
        {.expected = PYTHIA_EXPECTED_COV,
         .value = pythia_exact_moments_cov(&moments),
         .limit = x->cov}};
    for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++) {
        struct pythia_expected_result r = results[i];
        if (isnan(r.limit))
            continue;
        r.type = type->name;
        r.point = PYTHIA_NONE;
        r.requests = moments.n;
        r.state = moments.n < j->min_requests || isnan(r.value) ? PYTHIA_EXPECTED_TOO_FEW
                  : r.value < r.limit                           ? PYTHIA_EXPECTED_HOLDS
                                                                : PYTHIA_EXPECTED_VIOLATED;
        int status = add_result(j, r);
        if (status != PYTHIA_OK)
            return status;
    }
    return PYTHIA_OK;
}

/* ---- by which path ---- */

/* Nodes come after those above them. The root of a request has no name, so that requests of other
 * types can take the same path. */
static int name_nodes(struct judge *j)
{
    uint32_t nodes = pythia_cct_nodes(j->cct);
    j->names = pythia_calloc(nodes, sizeof(*j->names));
    if (!j->names)
        return PYTHIA_ENOMEM;
    for (uint32_t i = 0; i < nodes; i++) {
        if (pythia_cct_depth(j->cct, i) < 2)
            continue;
        struct pythia_text point =
            pythia_vocabulary_tracepoint_pattern(j->vocabulary, pythia_cct_tracepoint(j->cct, i));
        j->names[i] = pythia_hash_mix(j->names[pythia_cct_parent(j->cct, i)],
                                      pythia_hash_bytes(point.bytes, point.size));
    }
    return PYTHIA_OK;
}

static int compare_hashes(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The names of the contexts of a path, sorted, each once; owned by the caller. */
static uint64_t *list_contexts(const struct judge *j, const struct pythia_row *row, size_t *count)
{
    const struct pythia_shape *shape = row->shape;
    uint64_t *list = pythia_calloc(shape->edge_count + 1, sizeof(*list));
    *count = 0;
    for (uint32_t i = 0; list && i < shape->edge_count; i++) {
        uint32_t node = pythia_cct_edge_at(j->cct, shape->edges[i])->context;
        if (pythia_cct_depth(j->cct, node) >= 2)
            list[(*count)++] = j->names[node];
    }
    if (!list || *count == 0)
        return list;
    qsort(list, *count, sizeof(*list), compare_hashes);
    size_t kept = 1;
    for (size_t i = 1; i < *count; i++)
        if (list[i] != list[kept - 1])
            list[kept++] = list[i];
    *count = kept;
    return list;
}

static int tally_path(const struct judge *j, const struct pythia_row *row, struct path_tallies *t)
{
    size_t contexts;
    uint64_t *list = list_contexts(j, row, &contexts), hash = contexts;
    if (!list)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < contexts; i++)
        hash = pythia_hash_mix(hash, list[i]);
    pythia_free(list);
    for (size_t i = 0; i < t->count; i++)
        if (t->list[i].hash == hash) {
            t->list[i].requests++;
            return PYTHIA_OK;
        }
    int status = pythia_grow(&t->list, &t->capacity, t->count, sizeof(*t->list));
    if (status != PYTHIA_OK)
        return status;
    t->list[t->count++] = (struct path_tally){hash, 1, row};
    return PYTHIA_OK;
}

/* The smaller hash decides between equally common paths. */
static int compare_tallies(const void *a, const void *b)
{
    const struct path_tally *x = a, *y = b;
    if (x->requests != y->requests)
        return x->requests < y->requests ? 1 : -1;
    return compare_hashes(&x->hash, &y->hash);
}

static void sort_tallies(struct path_tallies *t)
{
    if (t->count > 0)
        qsort(t->list, t->count, sizeof(*t->list), compare_tallies);
}

/* The paths of all requests of the types that the pattern fits. */
static int tally_types(const struct judge *j, const char *pattern, struct path_tallies *t)
{
    size_t types;
    const struct pythia_type *type = pythia_groups_types(j->groups, &types);
    for (size_t i = 0; i < types; i++) {
        size_t rows = fits_type(j, pattern, &type[i]) ? pythia_type_rows(&type[i]) : 0;
        for (size_t k = 0; k < rows; k++) {
            int status = tally_path(j, pythia_type_row(&type[i], k), t);
            if (status != PYTHIA_OK)
                return status;
        }
    }
    sort_tallies(t);
    return PYTHIA_OK;
}

/* The trace point of a context of one path that the other has not: of several, the first by name;
 * PYTHIA_NONE if there is none. */
static int find_apart(const struct judge *j, const struct pythia_row *row,
                      const struct pythia_row *other, uint32_t *point)
{
    size_t count;
    uint64_t *list = list_contexts(j, other, &count);
    if (!list)
        return PYTHIA_ENOMEM;
    *point = PYTHIA_NONE;
    for (uint32_t i = 0; i < row->shape->edge_count; i++) {
        uint32_t node = pythia_cct_edge_at(j->cct, row->shape->edges[i])->context;
        if (pythia_cct_depth(j->cct, node) < 2 ||
            bsearch(&j->names[node], list, count, sizeof(*list), compare_hashes))
            continue;
        uint32_t found = pythia_cct_tracepoint(j->cct, node);
        if (*point == PYTHIA_NONE ||
            pythia_text_compare(pythia_vocabulary_tracepoint_id(j->vocabulary, found),
                                pythia_vocabulary_tracepoint_id(j->vocabulary, *point)) < 0)
            *point = found;
    }
    pythia_free(list);
    return PYTHIA_OK;
}

/* Count the requests that do not take the expected path, and say what sets most of them apart. */
static int compare_paths(struct judge *j, const struct path_tally *expected,
                         const struct path_tallies *taken, struct pythia_expected_result *r)
{
    const struct path_tally *other = NULL;
    size_t others = 0;
    for (size_t i = 0; i < taken->count; i++) {
        if (taken->list[i].hash == expected->hash)
            continue;
        /* The list is in order of requests: the first other path is the most frequent. */
        other = other ? other : &taken->list[i];
        others += taken->list[i].requests;
    }
    r->value = (double)others;
    r->state = others ? PYTHIA_EXPECTED_VIOLATED : PYTHIA_EXPECTED_HOLDS;
    if (!other)
        return PYTHIA_OK;
    r->passed = true;
    int status = find_apart(j, other->row, expected->row, &r->point);
    if (status != PYTHIA_OK || r->point != PYTHIA_NONE)
        return status;
    /* Nothing is passed in addition, so something must be missing. */
    r->passed = false;
    return find_apart(j, expected->row, other->row, &r->point);
}

/* The types that are compared with may include this one: then its own usual path is expected. */
static int judge_path(struct judge *j, const struct pythia_type *type,
                      const struct pythia_row *const *rows, size_t count)
{
    struct pythia_expected_result r = {.type = type->name,
                                       .expected = PYTHIA_EXPECTED_PATH,
                                       .state = PYTHIA_EXPECTED_TOO_FEW,
                                       .requests = count,
                                       .point = PYTHIA_NONE};
    struct path_tallies usual = {0}, taken = {0};
    int status = tally_types(j, current_expectation(j)->same_path_as, &usual);
    if (status != PYTHIA_OK)
        goto out;
    for (size_t i = 0; i < count; i++)
        if ((status = tally_path(j, rows[i], &taken)) != PYTHIA_OK)
            goto out;
    sort_tallies(&taken);
    if (usual.count > 0 && taken.count > 0)
        status = compare_paths(j, &usual.list[0], &taken, &r);
    if (status != PYTHIA_OK)
        goto out;
    status = add_result(j, r);
out:
    pythia_free(usual.list);
    pythia_free(taken.list);
    return status;
}

/* ---- all of them ---- */

static int judge_type(struct judge *j, const struct pythia_type *type)
{
    const struct pythia_row **rows = NULL;
    size_t count = 0;
    int status = select_rows(j, type, &rows, &count);
    if (status != PYTHIA_OK)
        goto out;
    status = judge_limits(j, type, rows, count);
    if (status == PYTHIA_OK && current_expectation(j)->same_path_as)
        status = judge_path(j, type, rows, count);
out:
    pythia_free(rows);
    return status;
}

/* An expectation of requests that did not arrive is not judged, but reported: the name may be
 * misspelt. */
static int judge_expectation(struct judge *j)
{
    size_t types, before = j->out->count;
    const struct pythia_type *type = pythia_groups_types(j->groups, &types);
    for (size_t i = 0; i < types; i++) {
        int status = fits_type(j, current_expectation(j)->type, &type[i]) ? judge_type(j, &type[i])
                                                                          : PYTHIA_OK;
        if (status != PYTHIA_OK)
            return status;
    }
    if (j->out->count > before)
        return PYTHIA_OK;
    return add_result(j, (struct pythia_expected_result){.type = PYTHIA_NONE,
                                                         .state = PYTHIA_EXPECTED_TOO_FEW,
                                                         .value = NAN,
                                                         .limit = NAN,
                                                         .point = PYTHIA_NONE});
}

int pythia_expectations_judge(const struct pythia_expectations *all, const struct pythia_groups *g,
                              size_t min_requests, struct pythia_expected_results *out)
{
    struct judge j = {.groups = g,
                      .cct = pythia_groups_cct(g),
                      .vocabulary = pythia_cct_vocabulary(pythia_groups_cct(g)),
                      .all = all,
                      .min_requests = min_requests,
                      .out = out};
    *out = (struct pythia_expected_results){.count = 0};
    int status = name_nodes(&j);
    for (; status == PYTHIA_OK && j.at < all->count; j.at++)
        status = judge_expectation(&j);
    pythia_free(j.names);
    if (status != PYTHIA_OK)
        pythia_expected_results_free(out);
    return status;
}

void pythia_expected_results_free(struct pythia_expected_results *r)
{
    pythia_free(r->list);
    *r = (struct pythia_expected_results){.count = 0};
}

size_t pythia_expected_results_count(const struct pythia_expected_results *r,
                                     enum pythia_expected_state state)
{
    size_t count = 0;
    for (size_t i = 0; i < r->count; i++)
        count += r->list[i].state == state;
    return count;
}
