/* The candidates of an explanation: all that is known of a request beside its times, as columns.
 *
 * A key-value is a column of numbers if all its values are numbers, else of levels; of few
 * different numbers it is both. A key of which requests have several values becomes a column for
 * each frequent value. Of trace points the number of hits is a column. Columns that are equal in
 * all requests cannot be told apart by any test, so sorting puts the one first that is easiest to
 * act on, and merging removes copies of the same attribute. Everything is in an order that does not
 * depend on the order of requests. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "explain_parts.h"
#include "group/members.h"
#include "pythia/buf.h"
#include "pythia/mem.h"
#include "pythia/pool.h"
#include "pythia/ranks.h"
#include "pythia/sort.h"
#include "pythia/status.h"

/* A key of no more different numbers is also tested as levels. At 512 rows (explain.c) each of so
 * many has 25 on average. */
#define LEVELS_MAX 20

/* Ports from here on are given to connections by Linux, unless it is told otherwise
 * (net.ipv4.ip_local_port_range). */
#define FIRST_EPHEMERAL_PORT 32768

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
static bool is_ambiguous(const struct pythia__explainer *x, const struct pythia__candidate *c)
{
    struct pythia_text attribute = pythia_keys_attribute(x->keys, c->key);
    for (size_t i = 0; i < x->count; i++)
        if (x->candidates[i].key != c->key && x->candidates[i].key != PYTHIA_NONE &&
            pythia_text_equal(pythia_keys_attribute(x->keys, x->candidates[i].key), attribute))
            return true;
    return false;
}

char *pythia__candidate_name(const struct pythia__explainer *x, const struct pythia__candidate *c)
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
    if (pythia_buf_status(&name) != PYTHIA_OK) {
        pythia_buf_free(&name);
        return NULL;
    }
    return name.bytes;
}

/* ---- candidates: key-values ---- */

static void free_candidate(struct pythia__candidate *c)
{
    pythia_free(c->numbers);
    pythia_free(c->levels);
    pythia_free(c->texts);
    pythia_free(c->slow);
}

static struct pythia__candidate *add_candidate(struct pythia__explainer *x,
                                               struct pythia__candidate c)
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
static int find_candidate_keys(struct pythia__explainer *x)
{
    for (size_t i = 0; i < x->n; i++)
        for (uint32_t k = 0; k < x->rows[i]->value_count; k++) {
            const struct pythia_row_value *v = &x->rows[i]->values[k];
            if (x->places[v->key] == 0) {
                struct pythia__candidate made = {
                    .kind = PYTHIA_KEY_NUMERIC, .key = v->key, .tracepoint = PYTHIA_NONE};
                if (!add_candidate(x, made))
                    return PYTHIA_ENOMEM;
                x->places[v->key] = (uint32_t)x->count;
            }
            struct pythia__candidate *c = &x->candidates[x->places[v->key] - 1];
            if (!pythia_row_number(v, &c->numbers[i])) {
                c->numbers[i] = NAN;
                /* One value that is no number makes levels of all of them. */
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

/* Without bytes when out of memory. */
static struct pythia_text spell_number(struct pythia__explainer *x, double number)
{
    char *room = pythia_arena_alloc(&x->spelt, 32);
    int size = room ? snprintf(room, 32, "%.15g", number) : 0;
    return (struct pythia_text){room, (size_t)size};
}

static struct pythia_text spell_row_value(struct pythia__explainer *x,
                                          const struct pythia_row_value *v)
{
    return v->size == PYTHIA_ROW_NUMBER ? spell_number(x, v->number)
                                        : (struct pythia_text){v->text, v->size};
}

static int make_levels(struct pythia__explainer *x, struct pythia__candidate *c)
{
    size_t n = x->n, present = 0;
    struct pythia_text *texts = pythia_calloc(n, sizeof(*texts));
    uint32_t *order = pythia_calloc(3 * n, sizeof(*order)), *rows = order ? order + 2 * n : NULL;
    c->levels = pythia_calloc(n, sizeof(*c->levels));
    c->texts = pythia_calloc(n, sizeof(*c->texts));
    int status = texts && order && c->levels && c->texts ? PYTHIA_OK : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK)
        goto out;
    for (size_t i = 0; i < n; i++) {
        const struct pythia_row_value *v =
            pythia_row_find(x->rows[i]->values, x->rows[i]->value_count, c->key);
        c->levels[i] = PYTHIA_COLUMN_MISSING;
        if (!v)
            continue;
        texts[present] = spell_row_value(x, v);
        status = texts[present].bytes ? PYTHIA_OK : PYTHIA_ENOMEM;
        if (status != PYTHIA_OK)
            goto out;
        order[present] = (uint32_t)present;
        rows[present++] = (uint32_t)i;
    }
    /* Levels are numbered in the order of their texts, so that the result does not depend on the
     * order in which requests arrived. */
    pythia_sort_indexes(order, present, order + n, value_text_precedes,
                        &(struct level_order){texts});
    for (size_t i = 0; i < present; i++) {
        struct pythia_text text = texts[order[i]];
        if (c->level_count == 0 || !pythia_text_equal(c->texts[c->level_count - 1], text))
            c->texts[c->level_count++] = text;
        c->levels[rows[order[i]]] = c->level_count - 1;
    }
out:
    pythia_free(texts);
    pythia_free(order);
    return status;
}

static int compare_candidate_numbers(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The different numbers of a key in rising order, into `to`; returns how many, of which no more
 * than LEVELS_MAX + 1 are listed. */
static size_t list_different_numbers(const struct pythia__explainer *x,
                                     const struct pythia__candidate *c, double *to)
{
    size_t present = 0, different = 0;
    for (size_t i = 0; i < x->n; i++)
        if (isfinite(c->numbers[i]))
            to[present++] = c->numbers[i];
    qsort(to, present, sizeof(*to), compare_candidate_numbers);
    for (size_t i = 0; i < present && different <= LEVELS_MAX; i++)
        if (different == 0 || to[i] != to[different - 1])
            to[different++] = to[i];
    return different;
}

/* Give a key of few different numbers its levels, too: a value in the middle that is slow, or every
 * second one, is no matter of more or less. Two numbers are parted as well by a cut. */
static int add_number_levels(struct pythia__explainer *x, struct pythia__candidate *c)
{
    double *different = pythia_calloc(x->n + 1, sizeof(*different));
    if (!different)
        return PYTHIA_ENOMEM;
    int status = PYTHIA_OK;
    size_t count = list_different_numbers(x, c, different);
    /* Of many values each has too few requests. */
    if (count < 3 || count > LEVELS_MAX)
        goto out;
    c->levels = pythia_calloc(x->n, sizeof(*c->levels));
    c->texts = pythia_calloc(count, sizeof(*c->texts));
    status = c->levels && c->texts ? PYTHIA_OK : PYTHIA_ENOMEM;
    for (size_t k = 0; k < count && status == PYTHIA_OK; k++) {
        c->texts[k] = spell_number(x, different[k]);
        status = c->texts[k].bytes ? PYTHIA_OK : PYTHIA_ENOMEM;
    }
    for (size_t i = 0; i < x->n && status == PYTHIA_OK; i++) {
        const double *found = isfinite(c->numbers[i])
                                  ? bsearch(&c->numbers[i], different, count, sizeof(*different),
                                            compare_candidate_numbers)
                                  : NULL;
        c->levels[i] = found ? (uint32_t)(found - different) : PYTHIA_COLUMN_MISSING;
    }
    c->level_count = (uint32_t)count;
out:
    pythia_free(different);
    return status;
}

/* ---- candidates: one of several values ---- */

/* `name` is taken, also on failure; NULL: there was no memory for it. `reason` is static. */
static int append_untested(struct pythia__explainer *x, char *name, const char *reason)
{
    if (!name || pythia_grow(&x->untested, &x->untested_capacity, x->untested_count,
                             sizeof(*x->untested)) != PYTHIA_OK) {
        pythia_free(name);
        return PYTHIA_ENOMEM;
    }
    x->untested[x->untested_count++] = (struct pythia_skipped_key){name, reason};
    return PYTHIA_OK;
}

/* Say of values of a key that they were not tested, and why; nothing of none. */
static int add_untested(struct pythia__explainer *x, uint32_t key, size_t count, const char *reason)
{
    struct pythia_buf name = {0};
    if (count == 0)
        return PYTHIA_OK;
    pythia_buf_text_add(&name, pythia_keys_attribute(x->keys, key));
    pythia_buf_putc(&name, '@');
    pythia_buf_text_add(&name, pythia_keys_origin(x->keys, key));
    pythia_buf_printf(&name, " has (%zu value%s)", count, count == 1 ? "" : "s");
    if (pythia_buf_status(&name) != PYTHIA_OK)
        pythia_buf_free(&name);
    return append_untested(x, name.bytes, reason);
}

/* Takes the numbers, also on failure. */
static int add_taken(struct pythia__explainer *x, struct pythia__candidate c, double **numbers)
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

static int add_members(struct pythia__explainer *x, uint32_t key, struct pythia__members *m)
{
    struct pythia__candidate made = {
        .kind = PYTHIA_KEY_VALUES, .key = key, .tracepoint = PYTHIA_NONE, .member = {"", 0}};
    bool differs = false;
    /* The number of values is a key of its own, but only if it varies; NaN marks requests
     * without the key. */
    for (size_t i = 0, first = 0; i < x->n; i++) {
        first = isnan(m->counts[first]) ? i : first;
        differs = differs || m->counts[i] < m->counts[first] || m->counts[i] > m->counts[first];
    }
    int status = differs ? add_taken(x, made, &m->counts) : PYTHIA_OK;
    made.kind = PYTHIA_KEY_MEMBER;
    if (status != PYTHIA_OK)
        return status;
    for (size_t i = 0; i < m->count; i++) {
        made.member = m->list[i].text;
        status = add_taken(x, made, &m->list[i].numbers);
        if (status != PYTHIA_OK)
            return status;
    }
    x->members += m->count;
    status = add_untested(x, key, m->beyond, "more values than are tested");
    if (status != PYTHIA_OK)
        return status;
    return add_untested(x, key, m->uneven, "in too few or nearly all requests");
}

/* A key of which requests have several values becomes one key a value. *replaced: most requests
 * have several, and their combinations need not be asked, too. A key without any value that enough
 * requests share stays as it is: an identifier, of which the number of values only says how often
 * its spans are passed. */
static int split_members(struct pythia__explainer *x, size_t which, bool *replaced)
{
    struct pythia__members m = {0};
    uint32_t key = x->candidates[which].key;
    const struct pythia__candidate *c = &x->candidates[which];
    struct pythia_text *values = pythia_calloc(x->n, sizeof(*values));
    size_t left = PYTHIA_EXPLAIN_MEMBERS - x->members;
    if (!values)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < x->n; i++)
        if (c->levels[i] != PYTHIA_COLUMN_MISSING)
            values[i] = c->texts[c->levels[i]];
    int status = pythia__members_find(
        values, x->n, left < PYTHIA_EXPLAIN_MEMBERS_EACH ? left : PYTHIA_EXPLAIN_MEMBERS_EACH, &m);
    /* Combinations are dropped only if most requests have several values and the combinations
     * are so many that hardly any is repeated; a few stable combinations are levels worth
     * testing. */
    *replaced = m.count > 0 && 2 * m.several > m.present && 5 * (size_t)c->level_count > m.present;
    if (status != PYTHIA_OK)
        goto out;
    if (m.count + m.beyond > 0) {
        status = add_members(x, key, &m);
        if (status != PYTHIA_OK)
            goto out;
    }
out:
    pythia__members_free(&m);
    pythia_free(values);
    return status;
}

/* The candidates are in the order of keys that were seen first: which of them get the last members
 * is the same for the same rows. */
static int split_all_members(struct pythia__explainer *x)
{
    size_t all = x->count, kept = 0;
    for (size_t i = 0; i < all; i++) {
        bool replaced = false;
        if (x->candidates[i].kind != PYTHIA_KEY_CATEGORICAL)
            continue;
        int status = split_members(x, i, &replaced);
        if (status != PYTHIA_OK)
            return status;
        x->candidates[i].replaced = replaced;
    }
    /* Remove the replaced candidates after all were visited: members are appended to the same
     * array. */
    for (size_t i = 0; i < x->count; i++)
        if (x->candidates[i].replaced)
            free_candidate(&x->candidates[i]);
        else
            x->candidates[kept++] = x->candidates[i];
    x->count = kept;
    return PYTHIA_OK;
}

/* ---- candidates: structure ---- */

/* Find the least depth of each trace point on a path. `seen`, by context of the ranking, is true
 * for what was looked at: then all above it was, too. */
static void find_depths(struct pythia__explainer *x, const struct pythia_shape *shape, bool *seen)
{
    for (uint32_t k = 0; k < shape->edge_count; k++) {
        uint32_t node = pythia_cct_edge_at(x->cct, shape->edges[k])->context;
        for (; node != PYTHIA_CCT_ROOT; node = pythia_cct_parent(x->cct, node)) {
            bool *mark = &seen[pythia_ranking_context(x->ranking, node) - x->ranking->contexts];
            struct pythia__candidate *c =
                &x->candidates[x->places[pythia_cct_tracepoint(x->cct, node)] - 1];
            uint32_t depth = pythia_cct_depth(x->cct, node);
            /* The contexts above were visited with this one, by an earlier edge or row. */
            if (*mark)
                break;
            *mark = true;
            c->depth = depth < c->depth ? depth : c->depth;
        }
    }
}

/* Hits of every trace point, as columns; constant columns are not tested. */
static int find_points(struct pythia__explainer *x)
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
                struct pythia__candidate made = {.kind = PYTHIA_KEY_HAS,
                                                 .key = PYTHIA_NONE,
                                                 .tracepoint = point,
                                                 .depth = UINT32_MAX};
                struct pythia__candidate *c = add_candidate(x, made);
                if (!c) {
                    pythia_free(seen);
                    return PYTHIA_ENOMEM;
                }
                memset(c->numbers, 0, x->n * sizeof(*c->numbers));
                x->places[point] = (uint32_t)x->count;
            }
            struct pythia__candidate *c = &x->candidates[x->places[point] - 1];
            c->numbers[i] = shape->point_counts[k];
            if (shape->point_counts[k] > 1)
                c->kind = PYTHIA_KEY_COUNT;
        }
        /* Depths depend on the shape alone, which neighbouring rows mostly share. */
        if (i == 0 || shape != x->rows[i - 1]->shape)
            find_depths(x, shape, seen);
    }
    pythia_free(seen);
    size_t kept = first;
    for (size_t k = first; k < x->count; k++) {
        struct pythia__candidate c = x->candidates[k];
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
static bool is_same_key(const struct pythia__explainer *x, const struct pythia__candidate *a,
                        const struct pythia__candidate *b)
{
    /* Compare the cheap properties first: most candidates differ in them, and rows are
     * hundreds. */
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
static void merge_candidates(struct pythia__explainer *x)
{
    size_t kept = 0, first = 0; /* first: of those kept, the first with the current attribute */
    for (size_t i = 0; i < x->count; i++) {
        struct pythia__candidate *c = &x->candidates[i];
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
    const struct pythia__explainer *x = context;
    const struct pythia__candidate *p = &x->candidates[a], *q = &x->candidates[b];
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

static int sort_candidates(struct pythia__explainer *x)
{
    uint32_t *order = pythia_calloc(2 * x->count, sizeof(*order));
    struct pythia__candidate *sorted = pythia_calloc(x->count, sizeof(*sorted));
    if (!order || !sorted) {
        pythia_free(order);
        pythia_free(sorted);
        return PYTHIA_ENOMEM;
    }
    for (size_t i = 0; i < x->count; i++)
        order[i] = (uint32_t)i;
    /* Results must not depend on the order in which keys were seen first. */
    pythia_sort_indexes(order, x->count, order + x->count, candidate_before, x);
    for (size_t i = 0; i < x->count; i++)
        sorted[i] = x->candidates[order[i]];
    pythia_free(order);
    pythia_free(x->candidates);
    x->candidates = sorted;
    x->capacity = x->count;
    return PYTHIA_OK;
}

/* Is a key of numbers an identifier by its name, with values that several requests share? *least:
 * the smallest. */
static bool is_shared_id(const struct pythia__explainer *x, const struct pythia__candidate *c,
                         double *sorted, double *least)
{
    size_t present = 0, different = 0;
    if (c->kind != PYTHIA_KEY_NUMERIC ||
        !pythia_looks_like_id(pythia_keys_attribute(x->keys, c->key)))
        return false;
    for (size_t i = 0; i < x->n; i++) {
        if (c->numbers[i] != floor(c->numbers[i]) && !isnan(c->numbers[i]))
            return false;
        if (!isnan(c->numbers[i]))
            sorted[present++] = c->numbers[i];
    }
    qsort(sorted, present, sizeof(*sorted), compare_candidate_numbers);
    for (size_t i = 0; i < present; i++)
        different += i == 0 || sorted[i] != sorted[i - 1];
    *least = present > 0 ? sorted[0] : NAN;
    return (double)different < PYTHIA_COLUMN_MOSTLY * (double)present;
}

/* Identifiers have no order, so that those that requests share are levels: "port >= 50379" would
 * only say that connections that were made under load have higher ones. Ports of the clients'
 * connections are nothing that anybody could act on, and are left out. */
static int judge_ids(struct pythia__explainer *x)
{
    double *sorted = pythia_calloc(x->n + 1, sizeof(*sorted)), least = NAN;
    int status = sorted ? PYTHIA_OK : PYTHIA_ENOMEM;
    size_t kept = 0;
    for (size_t i = 0; i < x->count; i++) {
        struct pythia__candidate *c = &x->candidates[i];
        bool shared = status == PYTHIA_OK && is_shared_id(x, c, sorted, &least);
        c->kind = shared ? PYTHIA_KEY_CATEGORICAL : c->kind;
        if (shared && least >= FIRST_EPHEMERAL_PORT &&
            pythia_text_ends(pythia_keys_attribute(x->keys, c->key), PYTHIA_TEXT("port"))) {
            status = append_untested(x, pythia__candidate_name(x, c),
                                     "identifier: ports of connections");
            free_candidate(c);
            continue;
        }
        x->candidates[kept++] = *c;
    }
    x->count = kept;
    pythia_free(sorted);
    return status;
}

/* ---- numbers that measure the time ---- */

/* The squared correlation of a number with the duration of requests that have it. */
static int find_measured_share(const struct pythia__explainer *x, const struct pythia__candidate *c,
                               const double *totals, double *share)
{
    size_t count = 0;
    double *numbers = pythia_calloc(x->n, 2 * sizeof(*numbers));
    if (!numbers)
        return PYTHIA_ENOMEM;
    double *durations = numbers + x->n;
    for (size_t i = 0; i < x->n; i++) {
        numbers[count] = c->numbers[i];
        durations[count] = totals[i];
        count += isfinite(c->numbers[i]) ? 1 : 0;
    }
    double r = pythia_ranks_pearson(numbers, durations, count);
    *share = r * r;
    pythia_free(numbers);
    return PYTHIA_OK;
}

/* Report a number as not tested, with the unit; the one with the largest share is the one that
 * would have been named. */
static int append_measured(struct pythia__explainer *x, const struct pythia__candidate *c,
                           const double *totals)
{
    static const char *const reasons[] = {
        "measures the time itself, in ns", "measures the time itself, in us",
        "measures the time itself, in ms", "measures the time itself, in s"};
    size_t which = c->unit[0] == 'n' ? 0 : c->unit[0] == 'u' ? 1 : c->unit[0] == 'm' ? 2 : 3;
    double share = NAN;
    int status = find_measured_share(x, c, totals, &share);
    if (status != PYTHIA_OK)
        return status;
    if (share > x->measured_share) {
        char *name = pythia__candidate_name(x, c);
        if (!name)
            return PYTHIA_ENOMEM;
        pythia_free(x->measured);
        x->measured = name;
        x->measured_share = share;
    }
    return append_untested(x, pythia__candidate_name(x, c), reasons[which]);
}

/* Take out the numbers that measure the time: they would explain it better than its cause does. */
static int remove_measured(struct pythia__explainer *x)
{
    size_t kept = 0;
    double *totals = pythia_calloc(x->n + 1, sizeof(*totals));
    if (!totals)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < x->n; i++)
        totals[i] = (double)x->rows[i]->duration_ns;
    int status = pythia__measured_mark(x, totals);
    for (size_t i = 0; i < x->count; i++) {
        struct pythia__candidate *c = &x->candidates[i];
        if (status == PYTHIA_OK && c->unit) {
            status = append_measured(x, c, totals);
            free_candidate(c);
            continue;
        }
        x->candidates[kept++] = *c;
    }
    x->count = kept;
    pythia_free(totals);
    return status;
}

/* ---- keys with many values ---- */

/* Would the levels be refused as an identifier? */
static bool is_like_identifier(const struct pythia__explainer *x, const struct pythia__candidate *c,
                               size_t *rows)
{
    size_t present = 0, rare = 0;
    memset(rows, 0, c->level_count * sizeof(*rows));
    for (size_t i = 0; i < x->n; i++)
        if (c->levels[i] != PYTHIA_COLUMN_MISSING) {
            rows[c->levels[i]]++;
            present++;
        }
    for (uint32_t k = 0; k < c->level_count; k++)
        rare += rows[k] < PYTHIA_COLUMN_LEVEL_MIN ? rows[k] : 0;
    return pythia_column_judge_identifier(c->level_count, rare, present) != PYTHIA_COLUMN_USED;
}

/* The levels become two: the slow ones, and all others. Takes the sides of the pool. */
static int replace_levels(struct pythia__candidate *c, struct pythia_pool *pool)
{
    c->slow = pythia_calloc(c->level_count, sizeof(*c->slow));
    if (!c->slow)
        return PYTHIA_ENOMEM;
    for (uint32_t k = 0; k < c->level_count; k++)
        if (pool->slow[k])
            c->slow[c->slow_count++] = c->texts[k];
    c->texts[0] = PYTHIA_TEXT("(others)");
    c->texts[1] = c->slow_count == 1 ? c->slow[0] : PYTHIA_TEXT("(these)");
    pythia_free(c->levels);
    c->levels = pool->sides;
    c->level_count = 2;
    pool->sides = NULL;
    return PYTHIA_OK;
}

/* Pool the values of keys that have too few rows each, where some of them are clearly slow. */
static int pool_levels(struct pythia__explainer *x)
{
    double *totals = pythia_calloc(x->n, 2 * sizeof(*totals)),
           *times = totals ? totals + x->n : NULL;
    size_t *rows = pythia_calloc(x->n + 1, sizeof(*rows));
    int status = totals && rows ? PYTHIA_OK : PYTHIA_ENOMEM;
    for (size_t i = 0; i < x->n && status == PYTHIA_OK; i++) {
        totals[i] = (double)x->rows[i]->duration_ns;
        times[i] = (double)(int64_t)(x->rows[i]->start_ns - x->rows[0]->start_ns);
    }
    for (size_t k = 0; k < x->count && status == PYTHIA_OK; k++) {
        struct pythia__candidate *c = &x->candidates[k];
        struct pythia_pool pool = {.found = false};
        if (c->kind != PYTHIA_KEY_CATEGORICAL || !is_like_identifier(x, c, rows))
            continue;
        status = pythia_pool_find(c->levels, c->level_count, x->n, totals, times, &pool);
        if (status == PYTHIA_OK && pool.found)
            status = replace_levels(c, &pool);
        pythia_pool_clear(&pool);
    }
    pythia_free(totals);
    pythia_free(rows);
    return status;
}

int pythia__candidates_find(struct pythia__explainer *x)
{
    size_t keys = pythia_keys_count(x->keys), points = pythia_vocabulary_tracepoints(x->vocabulary);
    x->places = pythia_calloc(keys > points ? keys : points, sizeof(*x->places));
    if (!x->places)
        return PYTHIA_ENOMEM;
    int status = find_candidate_keys(x);
    if (status != PYTHIA_OK || (status = judge_ids(x)) != PYTHIA_OK)
        return status;
    for (size_t i = 0; i < x->count; i++)
        if (x->candidates[i].kind == PYTHIA_KEY_CATEGORICAL) {
            status = make_levels(x, &x->candidates[i]);
            if (status != PYTHIA_OK)
                return status;
        }
    /* Members need levels, and merging needs neighbours that are equal: the order of these steps
     * is fixed. */
    status = split_all_members(x);
    if (status != PYTHIA_OK)
        return status;
    status = find_points(x);
    if (status != PYTHIA_OK)
        return status;
    status = sort_candidates(x);
    if (status != PYTHIA_OK)
        return status;
    merge_candidates(x);
    status = remove_measured(x);
    if (status != PYTHIA_OK)
        return status;
    status = pool_levels(x);
    if (status != PYTHIA_OK)
        return status;
    for (size_t i = 0; i < x->count; i++)
        if (x->candidates[i].kind == PYTHIA_KEY_NUMERIC &&
            (status = add_number_levels(x, &x->candidates[i])) != PYTHIA_OK)
            return status;
    return PYTHIA_OK;
}

void pythia__candidates_free(struct pythia__explainer *x)
{
    for (size_t i = 0; i < x->count; i++)
        free_candidate(&x->candidates[i]);
    for (size_t i = 0; i < x->untested_count; i++)
        pythia_free(x->untested[i].name);
    pythia_free(x->untested);
    pythia_free(x->measured);
    pythia_free(x->candidates);
    pythia_free(x->places);
    pythia_arena_free(&x->spelt);
}
