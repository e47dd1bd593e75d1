#include "tree_form.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <jansson.h>

#include "pythia/attributes.h"
#include "pythia/bill.h"
#include "pythia/json_text.h"
#include "pythia/mem.h"
#include "pythia/shown_text.h"
#include "pythia/sort.h"
#include "pythia/status.h"

#define NOTHING_NS   100 /* a span below is taken for one of no length, as HiQ has it */
#define BRANCHES_MAX 40  /* drawn; of deeper spans it is said how much deeper they are */
#define LEAVES_MAX   20  /* names in the line of leaves */

/* A span as it is shown. */
struct shown {
    uint32_t span, parent, depth; /* parent: in the list, UINT32_MAX: none */
    bool last, leaf;              /* of its parent's; nothing is shown below it */
};

struct tree {
    const struct pythia__tree_how *how;
    const struct pythia_vocabulary *vocabulary;
    const struct pythia_trace *trace;
    struct shown *list;
    uint32_t count, hidden;
    bool *critical; /* by span */
};

/* ---- which ones ---- */

static bool is_span_shown(const struct tree *t, const struct pythia_trace_span *span)
{
    uint64_t length = span->end_ns - span->start_ns;
    switch (t->how->mode) {
    case PYTHIA__TREE_DEBUG:
        return length >= t->how->min_ns;
    case PYTHIA__TREE_CONCISE:
        break;
    case PYTHIA__TREE_VERBOSE:
        if (span->attributes.size > 0)
            return true;
        break;
    }
    return length >= NOTHING_NS && length >= t->how->min_ns;
}

static int choose_spans(struct tree *t)
{
    const struct pythia_trace *trace = t->trace;
    uint32_t *place = pythia_calloc(trace->count, sizeof(*place)), /* of it, or of the one above */
        *youngest = pythia_calloc((size_t)trace->count + 1, sizeof(*youngest));
    t->list = pythia_calloc(trace->count, sizeof(*t->list));
    int status = PYTHIA_ENOMEM;
    if (!place || !youngest || !t->list)
        goto out;
    for (uint32_t at = trace->first_root; at != PYTHIA_NO_SPAN; at = pythia_trace_next(trace, at)) {
        const struct pythia_trace_span *span = &trace->spans[at];
        uint32_t parent = span->parent == PYTHIA_NO_SPAN ? 0 : place[span->parent];
        place[at] = parent; /* numbers from 1; 0: none */
        if (!is_span_shown(t, span)) {
            t->hidden++;
            continue;
        }
        t->list[t->count] = (struct shown){.span = at,
                                           .parent = parent - 1,
                                           .depth = parent ? t->list[parent - 1].depth + 1 : 0,
                                           .last = true,
                                           .leaf = true};
        if (parent)
            t->list[parent - 1].leaf = false;
        if (youngest[parent])
            t->list[youngest[parent] - 1].last = false;
        youngest[parent] = place[at] = ++t->count;
    }
    status = PYTHIA_OK;
out:
    pythia_free(place);
    pythia_free(youngest);
    return status;
}

/* ---- words ---- */

/* Append the value of a key-value as text. */
static void write_tree_value(const struct pythia_attribute *a, struct pythia_buf *to)
{
    if (a->kind == PYTHIA_ATTRIBUTE_TEXT)
        pythia_shown_add(to, a->text, SIZE_MAX);
    else if (a->kind == PYTHIA_ATTRIBUTE_REAL)
        pythia_buf_printf(to, "%.15g", a->real);
    else if (a->kind == PYTHIA_ATTRIBUTE_BOOL)
        pythia_buf_puts(to, a->integer ? "true" : "false");
    else
        pythia_buf_printf(to, "%" PRId64, a->integer);
}

static struct pythia_text id_of(const struct tree *t, const struct pythia_trace_span *span)
{
    return pythia_vocabulary_tracepoint_id(t->vocabulary, span->tracepoint);
}

static void add_hidden(const struct tree *t, struct pythia_buf *to)
{
    if (t->hidden)
        pythia_buf_printf(to, "not shown: %u of %u spans\n", t->hidden, t->trace->count);
}

static void add_flags(const struct tree *t, const struct pythia_trace_span *span,
                      struct pythia_buf *to)
{
    if (span->annotation)
        pythia_buf_puts(to, "  [annotation]");
    if (span->error)
        pythia_buf_puts(to, "  [error]");
    if (span->parent != PYTHIA_NO_SPAN && span->end_ns > t->trace->spans[span->parent].end_ns)
        pythia_buf_puts(to, "  [outlives its parent]");
    for (uint32_t bits = span->repairs; bits; bits &= bits - 1)
        pythia_buf_printf(to, "  [%s]",
                          pythia_repair_name((enum pythia_repair)__builtin_ctz(bits)));
}

/* The metric of a span: it is a number, and it is there. */
static bool find_metric(const struct tree *t, const struct pythia_trace_span *span, double *out)
{
    struct pythia_text packed = span->attributes, wanted = t->how->metric;
    struct pythia_attribute a;
    while (pythia_attributes_next(&packed, &a)) {
        struct pythia_text key = pythia_vocabulary_text(t->vocabulary, a.key);
        bool long_name =
            pythia_text_starts(key, PYTHIA_TEXT("metric.")) &&
            pythia_text_equal((struct pythia_text){key.bytes + 7, key.size - 7}, wanted);
        if (!long_name && !pythia_text_equal(key, wanted))
            continue;
        if (a.kind != PYTHIA_ATTRIBUTE_INTEGER && a.kind != PYTHIA_ATTRIBUTE_REAL)
            continue;
        *out = a.kind == PYTHIA_ATTRIBUTE_REAL ? a.real : (double)a.integer;
        return true;
    }
    return false;
}

/* The duration of a span in ms, or its metric, or a mark that it has none. */
static void add_measure(const struct tree *t, const struct pythia_trace_span *span,
                        struct pythia_buf *to)
{
    double metric;
    if (t->how->metric.size == 0)
        pythia_buf_printf(to, "%11.3f", (double)(span->end_ns - span->start_ns) / 1e6);
    else if (find_metric(t, span, &metric))
        pythia_buf_printf(to, "%11.15g", metric);
    else
        pythia_buf_printf(to, "%11s", "-");
}

/* ---- a list ---- */

static void add_span_keys(const struct tree *t, const struct pythia_trace_span *span, int indent,
                          struct pythia_buf *to)
{
    struct pythia_text packed = span->attributes;
    struct pythia_attribute a;
    while (pythia_attributes_next(&packed, &a)) {
        pythia_buf_printf(to, "%*s", indent, "");
        pythia_shown_add(to, pythia_vocabulary_text(t->vocabulary, a.key), SIZE_MAX);
        pythia_buf_puts(to, " = ");
        write_tree_value(&a, to);
        pythia_buf_putc(to, '\n');
    }
}

/* The cost of tracing this request, if its trace points measure that. */
static void add_cost(const struct tree *t, struct pythia_buf *to)
{
    struct pythia_bill bill;
    pythia_bill_of(t->vocabulary, t->trace, &bill);
    if (bill.billed == 0)
        return;
    pythia_buf_printf(to, "tracing cost %.3f us, %.3g %% of the time its client waited",
                      bill.cost_ns / 1e3,
                      100 * bill.cost_ns / (double)(t->trace->end_ns - t->trace->start_ns));
    if (bill.unbilled > 0)
        pythia_buf_printf(to, " (and the cost of %u spans of other requests)", bill.unbilled);
    pythia_buf_putc(to, '\n');
}

/* The head of the metric is padded by glyphs and not bytes, because keys may hold any UTF-8. */
static void add_list(const struct tree *t, struct pythia_buf *to)
{
    const struct pythia_trace *trace = t->trace;
    pythia_buf_printf(to,
                      "trace %016" PRIx64 "%016" PRIx64
                      "  %u span%s, %.3f ms for its client, %.3f ms until all work was done\n",
                      trace->id.high, trace->id.low, trace->count, trace->count == 1 ? "" : "s",
                      (double)(trace->end_ns - trace->start_ns) / 1e6,
                      (double)(trace->completed_ns - trace->start_ns) / 1e6);
    add_cost(t, to);
    if (t->how->metric.size == 0) {
        pythia_buf_puts(to, "   start ms duration ms * on the critical path\n");
    } else {
        pythia_buf_puts(to, "   start ms ");
        for (size_t i = pythia_glyph_count(t->how->metric); i < 11; i++)
            pythia_buf_putc(to, ' ');
        pythia_shown_add(to, t->how->metric, SIZE_MAX);
        pythia_buf_puts(to, " * on the critical path\n");
    }
    for (uint32_t i = 0; i < t->count; i++) {
        const struct pythia_trace_span *span = &trace->spans[t->list[i].span];
        int indent = (int)t->list[i].depth * 2;
        pythia_buf_printf(to, "%11.3f ", (double)(span->start_ns - trace->start_ns) / 1e6);
        add_measure(t, span, to);
        pythia_buf_printf(to, " %c %*s", t->critical[t->list[i].span] ? '*' : ' ', indent, "");
        pythia_shown_add(to, id_of(t, span), SIZE_MAX);
        add_flags(t, span, to);
        pythia_buf_putc(to, '\n');
        if (t->how->keys)
            add_span_keys(t, span, indent + 30, to);
    }
    add_hidden(t, to);
    pythia_buf_putc(to, '\n');
}

/* ---- as HiQ prints ---- */

/* A time of day. Those of one tree are often of one second, which is put into words once. */
struct clock {
    time_t second;
    bool known;
    char words[40]; /* date and time */
};

static void add_clock(struct clock *c, uint64_t ns, bool date, struct pythia_buf *to)
{
    time_t second = (time_t)(ns / 1000000000);
    struct tm parts;
    char fraction[8] = ".000000";
    if (!c->known || c->second != second) {
        c->known = true;
        c->second = second;
        if (!gmtime_r(&second, &parts) ||
            strftime(c->words, sizeof(c->words), "%F %T", &parts) == 0)
            snprintf(c->words, sizeof(c->words), "? ?");
    }
    unsigned micro = (unsigned)(ns % 1000000000 / 1000);
    for (int i = 6; i > 0; i--, micro /= 10)
        fraction[i] = (char)('0' + micro % 10);
    pythia_buf_puts(to, date ? c->words : strchr(c->words, ' ') + 1);
    pythia_buf_add(to, fraction, 7);
}

/* `more[d]`: at depth d another branch follows. */
static void add_tree_branch(const struct shown *s, const bool *more, struct pythia_buf *to)
{
    uint32_t drawn = s->depth < BRANCHES_MAX ? s->depth : BRANCHES_MAX;
    for (uint32_t d = 1; d < drawn; d++)
        pythia_buf_puts(to, more[d] ? "│  " : "   ");
    if (s->depth > BRANCHES_MAX)
        pythia_buf_printf(to, "(%u deeper) ", s->depth - BRANCHES_MAX);
    if (s->depth > 0)
        pythia_buf_puts(to, s->last ? "└─ " : "├─ ");
}

static void add_extra(const struct tree *t, const struct pythia_trace_span *span,
                      struct pythia_buf *to)
{
    struct pythia_text packed = span->attributes;
    struct pythia_attribute a;
    const char *before = " (";
    while (pythia_attributes_next(&packed, &a)) {
        pythia_buf_puts(to, before);
        pythia_shown_add(to, pythia_vocabulary_text(t->vocabulary, a.key), SIZE_MAX);
        pythia_buf_putc(to, '=');
        write_tree_value(&a, to);
        before = ", ";
    }
    if (*before == ',')
        pythia_buf_putc(to, ')');
}

static void add_tree_line(const struct tree *t, const struct shown *s, const bool *more,
                          struct clock *clock, struct pythia_buf *to)
{
    const struct pythia_trace *trace = t->trace;
    const struct pythia_trace_span *span = s ? &trace->spans[s->span] : NULL;
    uint64_t start = span ? span->start_ns : trace->start_ns,
             end = span ? span->end_ns : trace->completed_ns;
    double whole = (double)(trace->completed_ns - trace->start_ns), length = (double)(end - start);
    char number[64]; /* formatted here: a buffer's own printf measures first */
    pythia_buf_putc(to, '[');
    add_clock(clock, start, true, to);
    pythia_buf_puts(to, " - ");
    add_clock(clock, end, false, to);
    snprintf(number, sizeof(number), "] [%6.2f%%] ", whole > 0 ? 100 * length / whole : 0);
    pythia_buf_puts(to, number);
    snprintf(number, sizeof(number), "(%.4f)", length / 1e9);
    double metric;
    if (span && t->how->metric.size > 0) {
        if (find_metric(t, span, &metric))
            snprintf(number, sizeof(number), "(%.15g)", metric);
        else
            snprintf(number, sizeof(number), "(-)");
    }
    if (span) {
        struct shown below = *s; /* the request itself is at depth 0 */
        below.depth++;
        add_tree_branch(&below, more, to);
        pythia_shown_add(to, id_of(t, span), SIZE_MAX);
    } else {
        pythia_buf_puts(to, "● request");
    }
    pythia_buf_puts(to, number);
    if (span && t->how->keys)
        add_extra(t, span, to);
    if (span)
        add_flags(t, span, to);
    pythia_buf_putc(to, '\n');
}

struct leaf {
    uint32_t tracepoint;
    uint64_t ns;
};

static int by_tracepoint(const void *a, const void *b)
{
    const struct leaf *x = a, *y = b;
    return (x->tracepoint > y->tracepoint) - (x->tracepoint < y->tracepoint);
}

struct leaves {
    const struct pythia_vocabulary *vocabulary;
    struct leaf *all;
};

/* More time first; of as much, by name. */
static bool more_time(const void *context, uint32_t a, uint32_t b)
{
    const struct leaves *l = context;
    const struct leaf *x = &l->all[a], *y = &l->all[b];
    if (x->ns != y->ns)
        return x->ns > y->ns;
    return pythia_text_compare(pythia_vocabulary_tracepoint_id(l->vocabulary, x->tracepoint),
                               pythia_vocabulary_tracepoint_id(l->vocabulary, y->tracepoint)) < 0;
}

static void add_leaf_names(const struct leaves *l, const uint32_t *order, size_t names,
                           struct pythia_buf *to)
{
    pythia_buf_puts(to, "lowest level calls: ");
    for (size_t i = 0; i < names && i < LEAVES_MAX; i++) {
        const struct leaf *leaf = &l->all[order[i]];
        pythia_buf_puts(to, i ? ", " : "");
        pythia_shown_add(to, pythia_vocabulary_tracepoint_id(l->vocabulary, leaf->tracepoint),
                         SIZE_MAX);
        pythia_buf_printf(to, ":%.4f", (double)leaf->ns / 1e9);
    }
    if (names > LEAVES_MAX)
        pythia_buf_printf(to, ", and %zu more", names - LEAVES_MAX);
    pythia_buf_putc(to, '\n');
}

/* "ordered lowest level calls": the time in spans below which nothing is shown, by name. */
static int add_leaves(const struct tree *t, struct pythia_buf *to)
{
    struct leaves l = {t->vocabulary, pythia_calloc(t->count, sizeof(*l.all))};
    uint32_t *order = pythia_calloc(t->count, sizeof(*order)),
             *scratch = pythia_calloc(t->count, sizeof(*scratch));
    size_t count = 0, names = 0;
    int status = PYTHIA_ENOMEM;
    if (!l.all || !order || !scratch)
        goto out;
    for (uint32_t i = 0; i < t->count; i++) {
        const struct pythia_trace_span *span = &t->trace->spans[t->list[i].span];
        if (t->list[i].leaf)
            l.all[count++] = (struct leaf){span->tracepoint, span->end_ns - span->start_ns};
    }
    if (count)
        qsort(l.all, count, sizeof(*l.all), by_tracepoint);
    for (size_t i = 0; i < count; i++)
        if (names && l.all[names - 1].tracepoint == l.all[i].tracepoint)
            l.all[names - 1].ns += l.all[i].ns;
        else
            l.all[names++] = l.all[i];
    for (uint32_t i = 0; i < names; i++)
        order[i] = i;
    pythia_sort_indexes(order, names, scratch, more_time, &l);
    add_leaf_names(&l, order, names, to);
    status = PYTHIA_OK;
out:
    pythia_free(l.all);
    pythia_free(order);
    pythia_free(scratch);
    return status;
}

/* The cost of tracing, below the root, as HiQ shows it; nothing if it was not measured. */
static void add_overhead(const struct tree *t, struct pythia_buf *to)
{
    static const char before[] = "[1970-01-01 00:00:10.000000 - 00:00:20.000000] [100.00%] ";
    struct pythia_bill bill;
    pythia_bill_of(t->vocabulary, t->trace, &bill);
    if (bill.billed > 0)
        pythia_buf_printf(to, "%*s[OH:%.6gus]\n", (int)sizeof(before) - 1, "", bill.cost_ns / 1e3);
}

static int add_shares(const struct tree *t, struct pythia_buf *to)
{
    bool more[BRANCHES_MAX + 2] = {false};
    struct clock clock = {0};
    pythia_buf_printf(to, "trace %016" PRIx64 "%016" PRIx64 "\n", t->trace->id.high,
                      t->trace->id.low);
    add_tree_line(t, NULL, more, &clock, to);
    add_overhead(t, to);
    for (uint32_t i = 0; i < t->count; i++) {
        if (t->list[i].depth < BRANCHES_MAX)
            more[t->list[i].depth + 1] = !t->list[i].last;
        add_tree_line(t, &t->list[i], more, &clock, to);
    }
    int status = add_leaves(t, to);
    add_hidden(t, to);
    pythia_buf_putc(to, '\n');
    return status;
}

/* ---- JSON ---- */

static json_t *text_json(struct pythia_text text)
{
    return json_stringn(text.bytes, text.size); /* NULL: it is not UTF-8 */
}

static json_t *keys_json(const struct tree *t, const struct pythia_trace_span *span)
{
    json_t *all = json_object();
    struct pythia_text packed = span->attributes;
    struct pythia_attribute a;
    while (pythia_attributes_next(&packed, &a)) {
        json_t *value = a.kind == PYTHIA_ATTRIBUTE_TEXT   ? text_json(a.text)
                        : a.kind == PYTHIA_ATTRIBUTE_REAL ? json_real(a.real)
                        : a.kind == PYTHIA_ATTRIBUTE_BOOL ? json_boolean(a.integer)
                                                          : json_integer(a.integer);
        json_object_set_new(all, pythia_vocabulary_text(t->vocabulary, a.key).bytes,
                            value ? value : json_null());
    }
    return all;
}

/* A span that crosses processes is a node "service", any other a "function". */
static json_t *span_json(const struct tree *t, const struct shown *s)
{
    static const char *const kinds[] = {"unknown", "internal", "server",
                                        "client",  "producer", "consumer"};
    const struct pythia_trace_span *span = &t->trace->spans[s->span];
    uint64_t whole = t->trace->completed_ns - t->trace->start_ns,
             length = span->end_ns - span->start_ns;
    bool service = span->kind == PYTHIA_SPAN_SERVER || span->kind == PYTHIA_SPAN_CLIENT ||
                   span->kind == PYTHIA_SPAN_PRODUCER || span->kind == PYTHIA_SPAN_CONSUMER;
    json_t *o = json_object(), *point = text_json(id_of(t, span));
    json_object_set_new(o, "trace_point", point ? point : json_null());
    json_object_set_new(o, "parent", s->depth ? json_integer((json_int_t)s->parent) : json_null());
    json_object_set_new(o, "depth", json_integer(s->depth));
    json_object_set_new(o, "node", json_string(service ? "service" : "function"));
    json_object_set_new(o, "kind", json_string(kinds[span->kind <= 5 ? span->kind : 0]));
    json_object_set_new(o, "start_ns", json_integer((json_int_t)span->start_ns));
    json_object_set_new(o, "duration_ns", json_integer((json_int_t)length));
    json_object_set_new(o, "share",
                        whole ? json_real((double)length / (double)whole) : json_null());
    json_object_set_new(o, "critical", json_boolean(t->critical[s->span]));
    json_object_set_new(o, "error", json_boolean(span->error));
    json_object_set_new(o, "annotation", json_boolean(span->annotation));
    if (t->how->keys)
        json_object_set_new(o, "keys", keys_json(t, span));
    return o;
}

static int add_tree_json(const struct tree *t, struct pythia_buf *to)
{
    char id[40];
    struct pythia_bill bill;
    json_t *o = json_object(), *spans = json_array();
    snprintf(id, sizeof(id), "%016" PRIx64 "%016" PRIx64, t->trace->id.high, t->trace->id.low);
    json_object_set_new(o, "trace", json_string(id));
    json_object_set_new(o, "start_ns", json_integer((json_int_t)t->trace->start_ns));
    json_object_set_new(o, "duration_ns",
                        json_integer((json_int_t)(t->trace->completed_ns - t->trace->start_ns)));
    pythia_bill_of(t->vocabulary, t->trace, &bill);
    json_object_set_new(o, "tracing_ns", bill.billed ? json_real(bill.cost_ns) : json_null());
    json_object_set_new(o, "not_shown", json_integer(t->hidden));
    for (uint32_t i = 0; i < t->count; i++)
        json_array_append_new(spans, span_json(t, &t->list[i]));
    json_object_set_new(o, "spans", spans);
    int status = pythia_json_put_shown(to, o, JSON_INDENT(2), "");
    json_decref(o);
    return status;
}

int pythia__tree_add(const struct pythia__tree_how *how, const struct pythia_vocabulary *vocabulary,
                     const struct pythia_trace *trace, const struct pythia_critical_path *path,
                     struct pythia_buf *to)
{
    struct tree t = {.how = how, .vocabulary = vocabulary, .trace = trace};
    t.critical = pythia_calloc(trace->count, sizeof(*t.critical));
    int status = t.critical ? choose_spans(&t) : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK)
        goto out;
    for (size_t i = 0; i < path->count; i++)
        t.critical[path->events[i].span] = true;
    if (how->form == PYTHIA__TREE_LIST)
        add_list(&t, to);
    else
        status = how->form == PYTHIA__TREE_JSON ? add_tree_json(&t, to) : add_shares(&t, to);
    if (status != PYTHIA_OK)
        goto out;
    status = pythia_buf_status(to);
out:
    pythia_free(t.critical);
    pythia_free(t.list);
    return status;
}
