#include "pythia/explain.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "ends_early.h"
#include "explain_joint.h"
#include "group/members.h"
#include "pythia/arena.h"
#include "pythia/buf.h"
#include "pythia/mem.h"
#include "pythia/sort.h"
#include "pythia/status.h"

#define ROWS_MAX 512
#define BLOCK_NS                                                                                   \
    UINT64_C(2000000000) /* requests of so short a time are not independent of each other */
#define SPLIT_MAX 6      /* levels named in a split; of more, how many there are */

/* One key as a column: what association.h asks, and what it takes to name it. */
struct candidate {
    enum pythia_key_kind kind;
    uint32_t key, tracepoint; /* one of them; PYTHIA_NONE */
    uint32_t depth;           /* of a structural key: the least depth of its trace point */
    double *numbers;          /* [rows]; owned */
    uint32_t *levels;
    struct pythia_text *texts; /* of the levels; borrowed from rows, or spelt */
    uint32_t level_count;
    struct pythia_text member; /* of MEMBER: the value; borrowed like texts */
    bool replaced;             /* by its members */
};

struct explainer {
    const struct pythia_row *const *rows;
    size_t n;
    const struct pythia_ranking *ranking;
    const struct pythia_keys *keys;
    const struct pythia_cct *cct;
    const struct pythia_vocabulary *vocabulary;
    struct candidate *candidates;
    size_t count, capacity;
    size_t values_max;                   /* of a key that are named */
    uint32_t *places;                    /* by key, or by trace point: index of the candidate + 1 */
    struct pythia_arena spelt;           /* numbers as text, for keys that have both */
    size_t members;                      /* candidates of kind MEMBER */
    struct pythia_skipped_key *untested; /* values that became no member; owned with their names */
    size_t untested_count, untested_capacity;
};

/* ---- names ---- */

bool pythia_looks_like_id(struct pythia_text name)
{
    static const char *const ends[] = {"id",  "ids",  "uuid",  "guid",    "pk",   "port",
                                       "pid", "hash", "token", "address", "addr", "key"};
    size_t size = name.size;
    while (size > 0 && name.bytes[size - 1] >= '0' && name.bytes[size - 1] <= '9')
        size--;
    if (size < name.size && size > 0 && name.bytes[size - 1] == '_')
        name.size = size - 1; /* "instance_id_1" is an "instance_id" */
    size_t from = name.size;
    while (from > 0 && name.bytes[from - 1] != '.' && name.bytes[from - 1] != '_' &&
           name.bytes[from - 1] != '-' && name.bytes[from - 1] != ':')
        from--;
    struct pythia_text last = {name.bytes + from, name.size - from};
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        if (last.size == strlen(ends[i]) && strncasecmp(last.bytes, ends[i], last.size) == 0)
            return true;
    return last.size > 2 && last.bytes[last.size - 2] == 'I' &&
           last.bytes[last.size - 1] == 'd'; /* requestId */
}

/* Is this attribute at several places among the candidates? Then its name alone does not say which
 * is meant. */
static bool is_ambiguous(const struct explainer *x, const struct candidate *c)
{
    struct pythia_text attribute = pythia_keys_attribute(x->keys, c->key);
    for (size_t i = 0; i < x->count; i++)
        if (x->candidates[i].key != c->key && x->candidates[i].key != PYTHIA_NONE &&
            pythia_text_equal(pythia_keys_attribute(x->keys, x->candidates[i].key), attribute))
            return true;
    return false;
}

static char *make_candidate_name(const struct explainer *x, const struct candidate *c)
{
    struct pythia_buf name = {0};
    if (c->key == PYTHIA_NONE) {
        pythia_buf_puts(&name, c->kind == PYTHIA_KEY_HAS ? "has:" : "count:");
        pythia_buf_text_add(&name, pythia_vocabulary_tracepoint_id(x->vocabulary, c->tracepoint));
    } else {
        pythia_buf_puts(&name, c->kind == PYTHIA_KEY_VALUES ? "number of " : "");
        pythia_buf_text_add(&name, pythia_keys_attribute(x->keys, c->key));
        /* Two services may set attributes of the same name; the origin is added only then,
         * because it makes the common case harder to read. */
        if (is_ambiguous(x, c)) {
            pythia_buf_putc(&name, '@');
            pythia_buf_text_add(&name, pythia_keys_origin(x->keys, c->key));
        }
        if (c->kind == PYTHIA_KEY_MEMBER) {
            pythia_buf_puts(&name, " has ");
            pythia_buf_text_add(&name, c->member);
        }
    }
    if (pythia_buf_status(&name) == PYTHIA_OK)
        return name.bytes;
    pythia_buf_free(&name);
    return NULL;
}

/* ---- candidates: key-values ---- */

static void free_candidate(struct candidate *c)
{
    pythia_free(c->numbers);
    pythia_free(c->levels);
    pythia_free(c->texts);
}

static struct candidate *add_candidate(struct explainer *x, struct candidate c)
{
    if (pythia_grow(&x->candidates, &x->capacity, x->count, sizeof(*x->candidates)) != PYTHIA_OK)
        return NULL;
    c.numbers = pythia_realloc(NULL, x->n, sizeof(*c.numbers));
    if (!c.numbers)
        return NULL;
    for (size_t i = 0; i < x->n; i++)
        c.numbers[i] = NAN;
    x->candidates[x->count++] = c;
    return &x->candidates[x->count - 1];
}

/* The candidates of all keys in the rows; a key is numeric if all its values are numbers. */
static int find_candidate_keys(struct explainer *x)
{
    for (size_t i = 0; i < x->n; i++)
        for (uint32_t k = 0; k < x->rows[i]->value_count; k++) {
            const struct pythia_row_value *v = &x->rows[i]->values[k];
            if (x->places[v->key] == 0) {
                struct candidate made = {
                    .kind = PYTHIA_KEY_NUMERIC, .key = v->key, .tracepoint = PYTHIA_NONE};
                if (!add_candidate(x, made))
                    return PYTHIA_ENOMEM;
                x->places[v->key] = (uint32_t)x->count;
            }
            struct candidate *c = &x->candidates[x->places[v->key] - 1];
            if (!pythia_row_number(v, &c->numbers[i])) {
                c->numbers[i] = NAN;
                c->kind = PYTHIA_KEY_CATEGORICAL;
            }
        }
    return PYTHIA_OK;
}

/* The texts of a categorical key as levels, in order of text so that numbers of levels are the same
 * everywhere. */
struct level_order {
    const struct pythia_text *texts;
};

static bool value_text_precedes(const void *context, uint32_t a, uint32_t b)
{
    const struct level_order *order = context;
    return pythia_text_compare(order->texts[a], order->texts[b]) < 0;
}

static struct pythia_text spell_row_value(struct explainer *x, const struct pythia_row_value *v)
{
    if (v->size != PYTHIA_ROW_NUMBER)
        return (struct pythia_text){v->text, v->size};
    char *room = pythia_arena_alloc(&x->spelt, 32);
    int size = room ? snprintf(room, 32, "%.15g", v->number) : 0;
    return (struct pythia_text){room, (size_t)size};
}

static int make_levels(struct explainer *x, struct candidate *c)
{
    size_t n = x->n, present = 0;
    struct pythia_text *texts = pythia_calloc(n, sizeof(*texts));
    uint32_t *order = pythia_calloc(3 * n, sizeof(*order)), *rows = order ? order + 2 * n : NULL;
    c->levels = pythia_calloc(n, sizeof(*c->levels));
    c->texts = pythia_calloc(n, sizeof(*c->texts));
    int status = texts && order && c->levels && c->texts ? PYTHIA_OK : PYTHIA_ENOMEM;
    for (size_t i = 0; i < n && status == PYTHIA_OK; i++) {
        const struct pythia_row_value *v =
            pythia_row_find(x->rows[i]->values, x->rows[i]->value_count, c->key);
        c->levels[i] = PYTHIA_COLUMN_MISSING;
        if (!v)
            continue;
        texts[present] = spell_row_value(x, v);
        status = texts[present].bytes ? PYTHIA_OK : PYTHIA_ENOMEM;
        order[present] = (uint32_t)present;
        rows[present++] = (uint32_t)i;
    }
    /* Levels are numbered in the order of their texts, so that the result does not depend on the
     * order in which requests arrived. */
    if (status == PYTHIA_OK) {
        pythia_sort_indexes(order, present, order + n, value_text_precedes,
                            &(struct level_order){texts});
        for (size_t i = 0; i < present; i++) {
            struct pythia_text text = texts[order[i]];
            if (c->level_count == 0 || !pythia_text_equal(c->texts[c->level_count - 1], text))
                c->texts[c->level_count++] = text;
            c->levels[rows[order[i]]] = c->level_count - 1;
        }
    }
    pythia_free(texts);
    pythia_free(order);
    return status;
}

/* ---- candidates: one of several values ---- */

/* Say of values of a key that they were not tested, and why; nothing of none. `reason` is
 * static. */
static int add_untested(struct explainer *x, uint32_t key, size_t count, const char *reason)
{
    struct pythia_buf name = {0};
    if (count == 0)
        return PYTHIA_OK;
    pythia_buf_text_add(&name, pythia_keys_attribute(x->keys, key));
    pythia_buf_putc(&name, '@');
    pythia_buf_text_add(&name, pythia_keys_origin(x->keys, key));
    pythia_buf_printf(&name, " has (%zu value%s)", count, count == 1 ? "" : "s");
    if (pythia_buf_status(&name) != PYTHIA_OK ||
        pythia_grow(&x->untested, &x->untested_capacity, x->untested_count, sizeof(*x->untested)) !=
            PYTHIA_OK) {
        pythia_buf_free(&name);
        return PYTHIA_ENOMEM;
    }
    x->untested[x->untested_count++] = (struct pythia_skipped_key){name.bytes, reason};
    return PYTHIA_OK;
}

/* Takes the numbers, also on failure. */
static int add_taken(struct explainer *x, struct candidate c, double **numbers)
{
    c.numbers = *numbers;
    *numbers = NULL;
    if (pythia_grow(&x->candidates, &x->capacity, x->count, sizeof(*x->candidates)) != PYTHIA_OK) {
        pythia_free(c.numbers);
        return PYTHIA_ENOMEM;
    }
    x->candidates[x->count++] = c;
    return PYTHIA_OK;
}

static int add_members(struct explainer *x, uint32_t key, struct pythia__members *m)
{
    struct candidate made = {
        .kind = PYTHIA_KEY_VALUES, .key = key, .tracepoint = PYTHIA_NONE, .member = {"", 0}};
    bool differs = false;
    for (size_t i = 0, first = 0; i < x->n; i++) {
        first = isnan(m->counts[first]) ? i : first;
        differs = differs || m->counts[i] < m->counts[first] || m->counts[i] > m->counts[first];
    }
    int status = differs ? add_taken(x, made, &m->counts) : PYTHIA_OK;
    made.kind = PYTHIA_KEY_MEMBER;
    for (size_t i = 0; i < m->count && status == PYTHIA_OK; i++) {
        made.member = m->list[i].text;
        status = add_taken(x, made, &m->list[i].numbers);
    }
    x->members += m->count;
    if (status == PYTHIA_OK)
        status = add_untested(x, key, m->beyond, "more values than are tested");
    if (status == PYTHIA_OK)
        status = add_untested(x, key, m->uneven, "in too few or nearly all requests");
    return status;
}

/* A key of which requests have several values becomes one key a value. *replaced: most requests
 * have several, and their combinations need not be asked, too. A key without any value that enough
 * requests share stays as it is: an identifier, of which the number of values only says how often
 * its spans are passed. */
static int split_members(struct explainer *x, size_t which, bool *replaced)
{
    struct pythia__members m = {0};
    uint32_t key = x->candidates[which].key;
    const struct candidate *c = &x->candidates[which];
    struct pythia_text *values = pythia_calloc(x->n, sizeof(*values));
    size_t left = PYTHIA_EXPLAIN_MEMBERS - x->members;
    if (!values)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < x->n; i++)
        if (c->levels[i] != PYTHIA_COLUMN_MISSING)
            values[i] = c->texts[c->levels[i]];
    int status = pythia__members_find(
        values, x->n, left < PYTHIA_EXPLAIN_MEMBERS_EACH ? left : PYTHIA_EXPLAIN_MEMBERS_EACH, &m);
    *replaced = m.count > 0 && 2 * m.several > m.present && 5 * (size_t)c->level_count > m.present;
    if (status == PYTHIA_OK && m.count + m.beyond > 0)
        status = add_members(x, key, &m);
    pythia__members_free(&m);
    pythia_free(values);
    return status;
}

/* The candidates are in the order of keys that were seen first: which of them get the last members
 * is the same for the same rows. */
static int split_all_members(struct explainer *x)
{
    size_t all = x->count, kept = 0;
    int status = PYTHIA_OK;
    bool replaced = false;
    for (size_t i = 0; i < all && status == PYTHIA_OK; i++) {
        if (x->candidates[i].kind != PYTHIA_KEY_CATEGORICAL)
            continue;
        status = split_members(x, i, &replaced);
        x->candidates[i].replaced = status == PYTHIA_OK && replaced;
    }
    for (size_t i = 0; i < x->count; i++)
        if (x->candidates[i].replaced)
            free_candidate(&x->candidates[i]);
        else
            x->candidates[kept++] = x->candidates[i];
    x->count = kept;
    return status;
}

/* ---- candidates: structure ---- */

/* Find the least depth of each trace point on a path. `seen`, by context of the ranking, is true
 * for what was looked at: then all above it was, too. */
static void find_depths(struct explainer *x, const struct pythia_shape *shape, bool *seen)
{
    for (uint32_t k = 0; k < shape->edge_count; k++) {
        uint32_t node = pythia_cct_edge_at(x->cct, shape->edges[k])->context;
        for (; node != PYTHIA_CCT_ROOT; node = pythia_cct_parent(x->cct, node)) {
            bool *mark = &seen[pythia_ranking_context(x->ranking, node) - x->ranking->contexts];
            struct candidate *c =
                &x->candidates[x->places[pythia_cct_tracepoint(x->cct, node)] - 1];
            uint32_t depth = pythia_cct_depth(x->cct, node);
            if (*mark)
                break;
            *mark = true;
            c->depth = depth < c->depth ? depth : c->depth;
        }
    }
}

/* The visits to every trace point, as columns; those that do not differ are not asked. */
static int find_points(struct explainer *x)
{
    size_t first = x->count;
    bool *seen = pythia_calloc(x->ranking->context_count, sizeof(*seen));
    if (!seen)
        return PYTHIA_ENOMEM;
    memset(x->places, 0, pythia_vocabulary_tracepoints(x->vocabulary) * sizeof(*x->places));
    for (size_t i = 0; i < x->n; i++) {
        const struct pythia_shape *shape = x->rows[i]->shape;
        for (uint32_t k = 0; k < shape->point_count; k++) {
            uint32_t point = shape->points[k];
            if (x->places[point] == 0) {
                struct candidate made = {.kind = PYTHIA_KEY_HAS,
                                         .key = PYTHIA_NONE,
                                         .tracepoint = point,
                                         .depth = UINT32_MAX};
                struct candidate *c = add_candidate(x, made);
                if (!c) {
                    pythia_free(seen);
                    return PYTHIA_ENOMEM;
                }
                memset(c->numbers, 0, x->n * sizeof(*c->numbers));
                x->places[point] = (uint32_t)x->count;
            }
            struct candidate *c = &x->candidates[x->places[point] - 1];
            c->numbers[i] = shape->point_counts[k];
            if (shape->point_counts[k] > 1)
                c->kind = PYTHIA_KEY_COUNT;
        }
        if (i == 0 || shape != x->rows[i - 1]->shape)
            find_depths(x, shape, seen);
    }
    pythia_free(seen);
    size_t kept = first;
    for (size_t k = first; k < x->count; k++) {
        struct candidate c = x->candidates[k];
        bool differs = false;
        for (size_t i = 1; i < x->n; i++)
            differs = differs || c.numbers[i] != c.numbers[0];
        if (differs)
            x->candidates[kept++] = c;
        else
            pythia_free(c.numbers);
    }
    x->count = kept;
    return PYTHIA_OK;
}

/* Do two keys of one attribute have the same value in every request? */
static bool is_same_key(const struct explainer *x, const struct candidate *a,
                        const struct candidate *b)
{
    if (a->kind != b->kind || a->level_count != b->level_count)
        return false;
    for (size_t i = 0; i < x->n; i++) {
        bool missing = isnan(a->numbers[i]) && isnan(b->numbers[i]);
        if (!missing && a->numbers[i] != b->numbers[i])
            return false;
        if (a->levels && a->levels[i] != b->levels[i])
            return false;
    }
    for (uint32_t l = 0; l < a->level_count; l++)
        if (!pythia_text_equal(a->texts[l], b->texts[l]))
            return false;
    return pythia_text_equal(a->member, b->member);
}

/* One attribute that several trace points report alike is one key; sorted candidates have them side
 * by side. */
static void merge_candidates(struct explainer *x)
{
    size_t kept = 0, first = 0; /* first: of those kept, the first with the attribute at hand */
    for (size_t i = 0; i < x->count; i++) {
        struct candidate *c = &x->candidates[i];
        bool same = false;
        if (kept == 0 || c->key == PYTHIA_NONE || x->candidates[kept - 1].key == PYTHIA_NONE ||
            !pythia_text_equal(pythia_keys_attribute(x->keys, c->key),
                               pythia_keys_attribute(x->keys, x->candidates[kept - 1].key)))
            first = kept;
        for (size_t k = first; k < kept && !same; k++)
            same = is_same_key(x, &x->candidates[k], c);
        if (same)
            free_candidate(c);
        else
            x->candidates[kept++] = *c;
    }
    x->count = kept;
}

/* Structural keys, what is called before what it calls, then key-values by name and place: of keys
 * that cannot be told apart, the first stands for all, and a value that is there only where a trace
 * point was passed says no more than that. What is done again comes before what is done only then:
 * a retry before the wait between the tries. */
static bool candidate_before(const void *context, uint32_t a, uint32_t b)
{
    const struct explainer *x = context;
    const struct candidate *p = &x->candidates[a], *q = &x->candidates[b];
    if ((p->key == PYTHIA_NONE) != (q->key == PYTHIA_NONE))
        return p->key == PYTHIA_NONE;
    if (p->key == PYTHIA_NONE) {
        if (p->depth != q->depth)
            return p->depth < q->depth;
        if (p->kind != q->kind)
            return p->kind == PYTHIA_KEY_COUNT;
        return pythia_text_compare(pythia_vocabulary_tracepoint_id(x->vocabulary, p->tracepoint),
                                   pythia_vocabulary_tracepoint_id(x->vocabulary, q->tracepoint)) <
               0;
    }
    int order = pythia_text_compare(pythia_keys_attribute(x->keys, p->key),
                                    pythia_keys_attribute(x->keys, q->key));
    if (order == 0)
        order = pythia_text_compare(pythia_keys_origin(x->keys, p->key),
                                    pythia_keys_origin(x->keys, q->key));
    if (order == 0)
        order = (p->kind > q->kind) - (p->kind < q->kind);
    if (order == 0)
        order = pythia_text_compare(p->member, q->member);
    return order < 0;
}

static int sort_candidates(struct explainer *x)
{
    uint32_t *order = pythia_calloc(2 * x->count, sizeof(*order));
    struct candidate *sorted = pythia_calloc(x->count, sizeof(*sorted));
    if (!order || !sorted) {
        pythia_free(order);
        pythia_free(sorted);
        return PYTHIA_ENOMEM;
    }
    for (size_t i = 0; i < x->count; i++)
        order[i] = (uint32_t)i;
    pythia_sort_indexes(order, x->count, order + x->count, candidate_before, x);
    for (size_t i = 0; i < x->count; i++)
        sorted[i] = x->candidates[order[i]];
    pythia_free(order);
    pythia_free(x->candidates);
    x->candidates = sorted;
    x->capacity = x->count;
    return PYTHIA_OK;
}

static int find_candidates(struct explainer *x)
{
    size_t keys = pythia_keys_count(x->keys), points = pythia_vocabulary_tracepoints(x->vocabulary);
    x->places = pythia_calloc(keys > points ? keys : points, sizeof(*x->places));
    if (!x->places)
        return PYTHIA_ENOMEM;
    int status = find_candidate_keys(x);
    for (size_t i = 0; i < x->count && status == PYTHIA_OK; i++)
        if (x->candidates[i].kind == PYTHIA_KEY_CATEGORICAL)
            status = make_levels(x, &x->candidates[i]);
    if (status == PYTHIA_OK)
        status = split_all_members(x);
    if (status == PYTHIA_OK)
        status = find_points(x);
    if (status == PYTHIA_OK)
        status = sort_candidates(x);
    if (status == PYTHIA_OK)
        merge_candidates(x);
    return status;
}

/* ---- asking ---- */

/* What association.h takes: the times of the best edges, and the rest. */
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
static bool is_absent_with_path(const struct explainer *x, const struct candidate *c)
{
    size_t lacking = 0, passing = 0;
    if (c->key == PYTHIA_NONE)
        return false;
    uint32_t tracepoint = pythia_keys_tracepoint(x->keys, c->key);
    for (size_t i = 0; i < x->n; i++) {
        const struct pythia_shape *shape = x->rows[i]->shape;
        if (pythia_row_find(x->rows[i]->values, x->rows[i]->value_count, c->key))
            continue;
        lacking++;
        for (uint32_t k = 0; k < shape->point_count && tracepoint != PYTHIA_NONE; k++)
            passing += shape->points[k] == tracepoint;
    }
    return lacking > 0 && passing < PYTHIA_COLUMN_LEVEL_MIN;
}

static int make_question(const struct explainer *x, const size_t *chosen, size_t edges,
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
        const struct candidate *c = &x->candidates[k];
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

/* How many requests come within BLOCK_NS of each other, in the mean: what permutations keep
 * together. */
static size_t block_size(const struct explainer *x)
{
    uint64_t first = UINT64_MAX, last = 0;
    for (size_t i = 0; i < x->n; i++) {
        first = x->rows[i]->start_ns < first ? x->rows[i]->start_ns : first;
        last = x->rows[i]->start_ns > last ? x->rows[i]->start_ns : last;
    }
    uint64_t span = last > first ? last - first : 1;
    size_t size = (size_t)((double)x->n * (double)BLOCK_NS / (double)span);
    size_t most = x->n / 20;
    return size < 1 ? 1 : size < most || most == 0 ? size : most;
}

/* ---- answers ---- */

/* Do all numbers of a key have no fraction? Then a cut between two of them is better said by one of
 * them. */
static bool is_whole(const struct explainer *x, const struct candidate *c)
{
    for (size_t i = 0; i < x->n; i++)
        if (!isnan(c->numbers[i]) && c->numbers[i] != floor(c->numbers[i]))
            return false;
    return true;
}

/* The requests with more of what the key goes with, as words behind its name: "is >= 2", "is in {a,
 * b}", "is missing". */
static char *split_text(const struct explainer *x, const struct candidate *c,
                        const struct pythia_split *s)
{
    struct pythia_buf text = {0};
    if (s->by_absence) {
        pythia_buf_puts(&text, s->above ? "is missing" : "is there");
    } else if (s->levels) {
        pythia_buf_puts(&text, "is in {");
        size_t most = x->values_max < SPLIT_MAX ? x->values_max : SPLIT_MAX;
        for (size_t i = 0; i < s->level_count && i < most; i++) {
            pythia_buf_puts(&text, i ? ", " : "");
            pythia_buf_text_add(&text, c->texts[s->levels[i]]);
        }
        if (s->level_count > most)
            pythia_buf_printf(&text, ", and %zu more", s->level_count - most);
        pythia_buf_putc(&text, '}');
    } else if (c->kind == PYTHIA_KEY_MEMBER) {
        pythia_buf_puts(&text, s->above ? "does" : "does not");
    } else if (is_whole(x, c)) {
        pythia_buf_printf(&text, "is %s %.15g",
                          s->above ? ">=" : "<=", s->above ? ceil(s->cut) : floor(s->cut));
    } else {
        pythia_buf_printf(&text, "is %s %.6g", s->above ? ">" : "<=", s->cut);
    }
    if (pythia_buf_status(&text) == PYTHIA_OK)
        return text.bytes;
    pythia_buf_free(&text);
    return NULL;
}

/* ---- profiles ---- */

/* A value and how long its request took. */
struct point {
    double value, duration_ns;
};

static int compare_candidate_points(const void *a, const void *b)
{
    const struct point *x = a, *y = b;
    return (x->value > y->value) - (x->value < y->value);
}

/* Takes the label, which may be missing memory. */
static int add_bin(struct pythia_explanation *found, char *label, const struct point *points,
                   size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += points[i].duration_ns;
    if (!label)
        return PYTHIA_ENOMEM;
    struct pythia_profile_bin *bin = &found->profile[found->profile_bins++];
    bin->label = label;
    bin->requests = count;
    bin->mean_ns = sum / (double)count;
    return PYTHIA_OK;
}

static char *range_label(enum pythia_key_kind kind, double low, double high)
{
    struct pythia_buf text = {0};
    if (kind == PYTHIA_KEY_HAS || kind == PYTHIA_KEY_MEMBER)
        return pythia_strndup(low > 0 ? "with" : "without", low > 0 ? 4 : 7);
    pythia_buf_printf(&text, "%.6g", low);
    if (high > low)
        pythia_buf_printf(&text, " to %.6g", high);
    return text.bytes;
}

/* Numbers: one bin a value if there are at most `bins`, else bins of about as many requests each,
 * never parting equal values. */
static int profile_numbers(struct pythia_explanation *found, struct point *points, size_t count,
                           size_t bins)
{
    size_t different = count > 0;
    assert(bins > 0);
    qsort(points, count, sizeof(*points), compare_candidate_points);
    for (size_t i = 1; i < count; i++)
        different += points[i].value != points[i - 1].value;
    size_t wanted = different <= bins ? 1 : (count + bins - 1) / bins;
    for (size_t from = 0; from < count;) {
        size_t to = from + wanted < count ? from + wanted : count;
        while (to < count && points[to].value == points[to - 1].value)
            to++;
        if (found->profile_bins + 1 == bins)
            to = count;
        char *label = range_label(found->kind, points[from].value, points[to - 1].value);
        if (add_bin(found, label, points + from, to - from) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
        from = to;
    }
    return PYTHIA_OK;
}

static int compare_counts(const void *a, const void *b)
{
    const size_t *x = a, *y = b; /* requests, level: the most frequent first, ties by name */
    return x[0] != y[0] ? (x[0] < y[0]) - (x[0] > y[0]) : (x[1] > y[1]) - (x[1] < y[1]);
}

/* Levels: the most frequent ones, and the rest together. */
static int profile_levels(const struct explainer *x, const struct candidate *c,
                          struct pythia_explanation *found, struct point *points)
{
    size_t(*counts)[2] = pythia_calloc(c->level_count + 1, sizeof(*counts));
    if (!counts)
        return PYTHIA_ENOMEM;
    for (uint32_t l = 0; l <= c->level_count; l++)
        counts[l][1] = l; /* the last stands for requests without the key */
    for (size_t i = 0; i < x->n; i++)
        counts[c->levels[i] == PYTHIA_COLUMN_MISSING ? c->level_count : c->levels[i]][0]++;
    qsort(counts, c->level_count + 1, sizeof(*counts), compare_counts);
    int status = PYTHIA_OK;
    for (size_t k = 0; k <= c->level_count && counts[k][0] > 0 && status == PYTHIA_OK; k++) {
        bool rest = found->profile_bins + 1 == x->values_max;
        size_t count = 0;
        for (size_t i = 0; i < x->n; i++) {
            size_t level = c->levels[i] == PYTHIA_COLUMN_MISSING ? c->level_count : c->levels[i],
                   at = k;
            while (rest && at <= c->level_count && counts[at][1] != level)
                at++;
            if (rest ? at <= c->level_count : level == counts[k][1])
                points[count++].duration_ns = (double)x->rows[i]->duration_ns;
        }
        struct pythia_text name =
            counts[k][1] == c->level_count ? PYTHIA_TEXT("(none)") : c->texts[counts[k][1]];
        if (rest && k < c->level_count && counts[k + 1][0] > 0)
            name = PYTHIA_TEXT("(others)");
        status = add_bin(found, pythia_strndup(name.bytes, name.size), points, count);
        if (rest)
            break;
    }
    pythia_free(counts);
    return status;
}

static int profile_candidate(const struct explainer *x, const struct candidate *c,
                             struct pythia_explanation *found)
{
    struct point *points = pythia_calloc(x->n, sizeof(*points));
    size_t count = 0, without = 0;
    if (!points)
        return PYTHIA_ENOMEM;
    int status;
    if (c->kind == PYTHIA_KEY_CATEGORICAL) {
        status = profile_levels(x, c, found, points);
    } else {
        for (size_t i = 0; i < x->n; i++) {
            double number = c->numbers[i], duration_ns = (double)x->rows[i]->duration_ns;
            size_t at = isnan(number) ? x->n - ++without : count++; /* those without at the end */
            points[at] = (struct point){number, duration_ns};
        }
        status = profile_numbers(found, points, count, x->values_max - (without > 0));
        if (status == PYTHIA_OK && without > 0)
            status = add_bin(found, pythia_strndup("(none)", 6), points + count, without);
    }
    pythia_free(points);
    return status;
}

/* The levels of the slow group, with their texts, in one block; NULL when out of memory. */
static struct pythia_text *copy_levels(const struct candidate *c, const struct pythia_split *s)
{
    size_t bytes = 1;
    for (size_t i = 0; i < s->level_count; i++)
        bytes += c->texts[s->levels[i]].size;
    struct pythia_text *out = pythia_calloc(1, s->level_count * sizeof(*out) + bytes);
    char *room = out ? (char *)(out + s->level_count) : NULL;
    for (size_t i = 0; out && i < s->level_count; i++) {
        struct pythia_text text = c->texts[s->levels[i]];
        if (text.size)
            memcpy(room, text.bytes, text.size);
        out[i] = (struct pythia_text){room, text.size};
        room += text.size;
    }
    return out;
}

static int add_explanation(const struct explainer *x, const struct pythia_association_result *r,
                           struct pythia_explanations *out)
{
    const struct candidate *c = &x->candidates[r->column];
    struct pythia_explanation *found = &out->found[out->found_count];
    *found = (struct pythia_explanation){.name = make_candidate_name(x, c),
                                         .kind = c->kind,
                                         .tracepoint = c->tracepoint,
                                         .result = *r,
                                         .low = NAN,
                                         .high = NAN};
    if (!found->name)
        return PYTHIA_ENOMEM;
    out->found_count++;
    found->split = isnan(r->split.share) ? NULL : split_text(x, c, &r->split);
    if (r->split.levels) {
        found->slow_levels = copy_levels(c, &r->split);
        found->slow_level_count = found->slow_levels ? r->split.level_count : 0;
    }
    found->result.split.levels = NULL; /* those are the association's */
    if ((r->split.levels && !found->slow_levels) || (!isnan(r->split.share) && !found->split))
        return PYTHIA_ENOMEM;
    size_t once = 0;
    for (size_t i = 0; i < x->n && c->kind != PYTHIA_KEY_CATEGORICAL; i++) {
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
        /* Where the number of visits matters, those without any are not what to say. */
        if (c->kind == PYTHIA_KEY_COUNT && !(r->split.cut < 1))
            found->ends_early = false;
    }
    return profile_candidate(x, c, found);
}

static int compare_skipped(const void *a, const void *b)
{
    return strcmp(((const struct pythia_skipped_key *)a)->name,
                  ((const struct pythia_skipped_key *)b)->name);
}

static int collect_explanations(struct explainer *x,
                                const struct pythia_association_result *results, size_t count,
                                struct pythia_explanations *out)
{
    out->found = pythia_calloc(count, sizeof(*out->found));
    out->skipped = pythia_calloc(count + x->untested_count, sizeof(*out->skipped));
    if (!out->found || !out->skipped)
        return PYTHIA_ENOMEM;
    for (; x->untested_count > 0; x->untested_count--)
        out->skipped[out->skipped_count++] = x->untested[x->untested_count - 1];
    for (size_t i = 0; i < count; i++) {
        const struct pythia_association_result *r = &results[i];
        /* A key that could not be tested is reported with the reason. A user who expects the key
         * to matter must see that its absence is no finding. */
        if (r->skip != PYTHIA_COLUMN_USED) {
            char *name = make_candidate_name(x, &x->candidates[r->column]);
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

static int test_candidates(struct explainer *x, double alpha, uint64_t seed,
                           struct pythia_explanations *out)
{
    size_t chosen[PYTHIA_EXPLAIN_EDGES + 1], edges = choose_edges(x->ranking, chosen), count;
    struct question q = {0};
    struct pythia_association *association = NULL;
    int status = make_question(x, chosen, edges, &q);
    if (status == PYTHIA_OK)
        status = pythia_association_create(&association);
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
    if (status == PYTHIA_OK)
        status = pythia_association_run(association, &input);
    if (status == PYTHIA_OK) {
        const struct pythia_association_result *results =
            pythia_association_results(association, &count);
        out->edges = edges + 1;
        memcpy(out->chosen, chosen, edges * sizeof(*chosen));
        status = collect_explanations(x, results, count, out);
        /* The joint search reads the results of single keys; it adds no test to their family. */
        if (status == PYTHIA_OK)
            status = pythia__explain_joint(&input, results, count, out);
    }
    pythia_association_destroy(association);
    free_question(&q);
    return status;
}

int pythia_explain(const struct pythia_row *const *rows, const struct pythia_ranking *ranking,
                   const struct pythia_keys *keys, const struct pythia_cct *cct, double alpha,
                   uint64_t seed, size_t values_max, struct pythia_explanations *out)
{
    struct explainer x = {.rows = rows,
                          .n = ranking->rows < ROWS_MAX ? ranking->rows : ROWS_MAX,
                          .ranking = ranking,
                          .keys = keys,
                          .cct = cct,
                          .values_max = values_max ? values_max : PYTHIA_PROFILE_BINS,
                          .vocabulary = pythia_cct_vocabulary(cct)};
    struct pythia_explanations found = {.rows = x.n};
    assert(x.values_max >= 2 && x.values_max <= PYTHIA_PROFILE_BINS);
    int status = find_candidates(&x);
    /* Two rows determine any line: no test has a degree of freedom left. */
    if (status == PYTHIA_OK && x.count > 0 && x.n > 2)
        status = test_candidates(&x, alpha, seed, &found);
    for (size_t i = 0; i < x.count; i++)
        free_candidate(&x.candidates[i]);
    for (size_t i = 0; i < x.untested_count; i++)
        pythia_free(x.untested[i].name);
    pythia_free(x.untested);
    pythia_free(x.candidates);
    pythia_free(x.places);
    pythia_arena_free(&x.spelt);
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
    *x = (struct pythia_explanations){0};
}
