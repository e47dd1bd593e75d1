#include "profile_spans.h"

#include <inttypes.h>

#include "pythia/hash_table.h"
#include "pythia/mem.h"
#include "pythia/sampling.h"
#include "pythia/shown_text.h"
#include "pythia/sort.h"
#include "pythia/status.h"

struct row {
    uint32_t tracepoint, level; /* level 0: any */
    uint64_t calls, ns;
};

struct pythia__span_profile {
    enum pythia__span_profile_by by;
    struct row *rows;
    size_t count, capacity;
    struct pythia_hash_table by_name; /* of the rows, by trace point and level */
    uint32_t *levels;                 /* of the request at hand */
    size_t level_capacity;
    uint64_t requests, spans; /* requests that the seen ones stand for (sampling.h) */
    uint64_t seen;            /* requests */
    uint64_t weight;          /* of the request at hand */
    const struct pythia_vocabulary *vocabulary; /* while printing */
};

int pythia__span_profile_create(enum pythia__span_profile_by by, struct pythia__span_profile **out)
{
    struct pythia__span_profile *p = pythia_calloc(1, sizeof(*p));
    if (!p)
        return PYTHIA_ENOMEM;
    p->by = by;
    *out = p;
    return PYTHIA_OK;
}

void pythia__span_profile_destroy(struct pythia__span_profile *p)
{
    if (!p)
        return;
    pythia_free(p->rows);
    pythia_hash_table_free(&p->by_name);
    pythia_free(p->levels);
    pythia_free(p);
}

static uint64_t hash_row(uint32_t tracepoint, uint32_t level)
{
    return (uint64_t)tracepoint << 32 | level;
}

static bool has_name_and_level(const void *profile, uint32_t index, const void *key)
{
    const struct row *row = &((const struct pythia__span_profile *)profile)->rows[index];
    return hash_row(row->tracepoint, row->level) == *(const uint64_t *)key;
}

/* The row of a trace point and level; NULL when out of memory. */
static struct row *reach_row(struct pythia__span_profile *p, uint32_t tracepoint, uint32_t level)
{
    uint64_t key = hash_row(tracepoint, level);
    uint32_t found = pythia_hash_table_find(&p->by_name, key, has_name_and_level, p, &key);
    if (found != PYTHIA_HASH_TABLE_NONE)
        return &p->rows[found];
    if (pythia_grow(&p->rows, &p->capacity, p->count, sizeof(*p->rows)) != PYTHIA_OK ||
        pythia_hash_table_add(&p->by_name, key, (uint32_t)p->count) != PYTHIA_OK)
        return NULL;
    p->rows[p->count] = (struct row){.tracepoint = tracepoint, .level = level};
    return &p->rows[p->count++];
}

static int add_profiled_span(struct pythia__span_profile *p, const struct pythia_trace_span *span,
                             uint32_t level)
{
    if (p->by == PYTHIA__PROFILE_LEAF && span->first_child != PYTHIA_NO_SPAN)
        return PYTHIA_OK;
    if (p->by != PYTHIA__PROFILE_LEVEL)
        level = 0;
    struct row *row = reach_row(p, span->tracepoint, level);
    if (!row)
        return PYTHIA_ENOMEM;
    row->calls += p->weight;
    row->ns += p->weight * (span->end_ns - span->start_ns);
    p->spans += p->weight;
    return PYTHIA_OK;
}

int pythia__span_profile_add(struct pythia__span_profile *p, const struct pythia_trace *trace)
{
    const struct pythia_trace_span *spans = trace->spans;
    int status = pythia_reach(&p->levels, &p->level_capacity, trace->count, sizeof(*p->levels));
    if (status != PYTHIA_OK)
        return status;
    p->weight = pythia_sampling_requests(trace->weight, trace->id);
    p->requests += p->weight;
    p->seen++;
    for (uint32_t at = trace->first_root; at != PYTHIA_NO_SPAN; at = pythia_trace_next(trace, at)) {
        uint32_t parent = spans[at].parent;
        p->levels[at] = parent == PYTHIA_NO_SPAN ? 1 : p->levels[parent] + 1;
        if (!spans[at].annotation)
            status = add_profiled_span(p, &spans[at], p->levels[at]);
        if (status != PYTHIA_OK)
            return status;
    }
    return PYTHIA_OK;
}

void pythia__add_requests_seen(struct pythia_buf *to, uint64_t requests, uint64_t seen)
{
    pythia_buf_printf(to, "%" PRIu64 " requests", requests);
    if (seen != requests)
        pythia_buf_printf(to, " (%" PRIu64 " seen)", seen);
}

/* More time first; of as much, by name and level. */
static bool row_before(const void *context, uint32_t a, uint32_t b)
{
    const struct pythia__span_profile *p = context;
    const struct row *x = &p->rows[a], *y = &p->rows[b];
    if (x->ns != y->ns)
        return x->ns > y->ns;
    int order = pythia_text_compare(pythia_vocabulary_tracepoint_id(p->vocabulary, x->tracepoint),
                                    pythia_vocabulary_tracepoint_id(p->vocabulary, y->tracepoint));
    return order ? order < 0 : x->level < y->level;
}

static void add_profile_row(const struct pythia__span_profile *p, const struct row *row,
                            struct pythia_buf *to)
{
    pythia_buf_printf(to, "%10" PRIu64 " %12.4f %12.3f", row->calls, (double)row->ns / 1e9,
                      (double)row->ns / 1e6 / (double)row->calls);
    if (p->by == PYTHIA__PROFILE_LEVEL)
        pythia_buf_printf(to, " %6" PRIu32, row->level);
    pythia_buf_puts(to, "  ");
    pythia_shown_add(to, pythia_vocabulary_tracepoint_id(p->vocabulary, row->tracepoint), SIZE_MAX);
    pythia_buf_putc(to, '\n');
}

/* Indexes are sorted, because rows are found by their place in the hash table. */
int pythia__span_profile_print(struct pythia__span_profile *p,
                               const struct pythia_vocabulary *vocabulary, size_t top,
                               struct pythia_buf *to)
{
    uint32_t *order = pythia_calloc(p->count, sizeof(*order)),
             *scratch = pythia_calloc(p->count, sizeof(*scratch));
    int status = PYTHIA_ENOMEM;
    if (!order || !scratch)
        goto out;
    p->vocabulary = vocabulary;
    for (uint32_t i = 0; i < p->count; i++)
        order[i] = i;
    pythia_sort_indexes(order, p->count, scratch, row_before, p);
    pythia__add_requests_seen(to, p->requests, p->seen);
    pythia_buf_printf(to, ", %" PRIu64 " spans%s, %zu names%s\n", p->spans,
                      p->by == PYTHIA__PROFILE_LEAF ? " without children" : "", p->count,
                      p->by == PYTHIA__PROFILE_LEVEL ? " and levels" : "");
    pythia_buf_printf(to, "%10s %12s %12s%s  trace point\n", "calls", "total s", "mean ms",
                      p->by == PYTHIA__PROFILE_LEVEL ? "  level" : "");
    for (size_t i = 0; i < p->count && i < top; i++)
        add_profile_row(p, &p->rows[order[i]], to);
    status = pythia_buf_status(to);
out:
    pythia_free(order);
    pythia_free(scratch);
    return status;
}
