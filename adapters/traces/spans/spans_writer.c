#include "pythia/spans_writer.h"

#include <inttypes.h>
#include <math.h>

#include "pythia/attributes.h"
#include "pythia/mem.h"
#include "pythia/shown_text.h"
#include "pythia/status.h"
#include "spans.h"

/* Names defined in a body, by number in the vocabulary: the body that had it last, and its number
 * there. */
struct defined {
    uint64_t body;
    uint32_t number;
};

struct table {
    struct defined *entries; /* owned */
    size_t capacity;
    uint32_t count; /* in the current body */
};

struct pythia_spans_writer {
    const struct pythia_vocabulary *vocabulary;
    struct pythia_buf *to;
    uint64_t body; /* 1 for the first */
    struct table points, resources;
};

int pythia_spans_writer_create(const struct pythia_vocabulary *vocabulary,
                               struct pythia_spans_writer **out)
{
    struct pythia_spans_writer *w = pythia_calloc(1, sizeof(*w));
    if (!w)
        return PYTHIA_ENOMEM;
    w->vocabulary = vocabulary;
    *out = w;
    return PYTHIA_OK;
}

void pythia_spans_writer_destroy(struct pythia_spans_writer *w)
{
    if (!w)
        return;
    pythia_free(w->points.entries);
    pythia_free(w->resources.entries);
    pythia_free(w);
}

void pythia_spans_writer_begin(struct pythia_spans_writer *w, struct pythia_buf *to)
{
    w->to = to;
    w->body++;
    w->points.count = w->resources.count = 0;
    pythia_buf_puts(to, PYTHIA__SPANS_HEAD "\n");
}

/* ---- text: sound UTF-8; what is not is mended by whoever decodes it ---- */

static void write_string(const struct pythia_spans_writer *w, const char *name, uint32_t string)
{
    if (string == 0)
        return;
    pythia_buf_printf(w->to, ",\"%s\":", name);
    pythia_shown_json_text(w->to, pythia_vocabulary_text(w->vocabulary, string));
}

/* A real number has no form of its own in JSON where it is whole, or no number. */
static void put_attribute(const struct pythia_spans_writer *w, const struct pythia_attribute *a)
{
    struct pythia_buf *to = w->to;
    pythia_buf_putc(to, '[');
    pythia_shown_json_text(to, pythia_vocabulary_text(w->vocabulary, a->key));
    switch (a->kind) {
    case PYTHIA_ATTRIBUTE_TEXT:
        pythia_buf_puts(to, ",\"text\",");
        pythia_shown_json_text(to, a->text);
        break;
    case PYTHIA_ATTRIBUTE_INTEGER:
        pythia_buf_printf(to, ",\"integer\",%" PRId64, a->integer);
        break;
    case PYTHIA_ATTRIBUTE_REAL:
        if (isfinite(a->real))
            pythia_buf_printf(to, ",\"real\",%.17g", a->real);
        else
            pythia_buf_printf(to, ",\"real\",\"%s\"",
                              isnan(a->real) ? "NaN"
                              : a->real > 0  ? "Infinity"
                                             : "-Infinity");
        break;
    case PYTHIA_ATTRIBUTE_BOOL:
        pythia_buf_puts(to, a->integer ? ",\"bool\",true" : ",\"bool\",false");
        break;
    }
    pythia_buf_putc(to, ']');
}

static void write_attributes(const struct pythia_spans_writer *w, struct pythia_text packed)
{
    struct pythia_attribute a;
    const char *between = ",\"attributes\":[";
    if (packed.size == 0)
        return;
    while (pythia_attributes_next(&packed, &a)) {
        pythia_buf_puts(w->to, between);
        put_attribute(w, &a);
        between = ",";
    }
    pythia_buf_putc(w->to, ']');
}

/* ---- what spans share ---- */

/* The number of something in this body; *new: it has to be defined. 0: there is no memory. */
static uint32_t find_definition(struct pythia_spans_writer *w, struct table *t, uint32_t global,
                                bool *new)
{
    if (pythia_reach(&t->entries, &t->capacity, global, sizeof(*t->entries)) != PYTHIA_OK)
        return 0;
    struct defined *d = &t->entries[global];
    *new = d->body != w->body;
    if (*new)
        *d = (struct defined){w->body, ++t->count};
    return d->number;
}

static uint32_t write_point_definition(struct pythia_spans_writer *w, uint32_t tracepoint)
{
    bool new;
    uint32_t number = find_definition(w, &w->points, tracepoint, &new);
    if (number == 0 || !new)
        return number;
    const struct pythia_tracepoint *p = pythia_vocabulary_tracepoint_at(w->vocabulary, tracepoint);
    pythia_buf_printf(w->to, "{\"point\":%" PRIu32, number);
    write_string(w, "id", p->id);
    write_string(w, "service", p->service);
    write_string(w, "name", p->name);
    pythia_buf_puts(w->to, "}\n");
    return number;
}

static uint32_t write_resource_definition(struct pythia_spans_writer *w, uint32_t resource)
{
    bool new;
    uint32_t number = find_definition(w, &w->resources, resource, &new);
    if (number == 0 || !new)
        return number;
    struct pythia_resource r = pythia_vocabulary_resource_at(w->vocabulary, resource);
    pythia_buf_printf(w->to, "{\"resource\":%" PRIu32, number);
    write_string(w, "service", r.service);
    write_string(w, "host", r.host);
    write_string(w, "instance", r.instance);
    write_attributes(w, r.attributes);
    pythia_buf_puts(w->to, "}\n");
    return number;
}

int pythia_spans_writer_cost(struct pythia_spans_writer *w, uint32_t tracepoint, uint64_t ns)
{
    uint32_t point = tracepoint == PYTHIA_NONE ? 0 : write_point_definition(w, tracepoint);
    if (tracepoint != PYTHIA_NONE && point == 0)
        return PYTHIA_ENOMEM;
    if (ns == PYTHIA_COST_EXPECTED)
        pythia_buf_printf(w->to, "{\"cost\":\"expected\",\"at\":%" PRIu32 "}\n", point);
    else
        pythia_buf_printf(w->to, "{\"cost\":%" PRIu64 ",\"at\":%" PRIu32 "}\n", ns, point);
    return pythia_buf_status(w->to);
}

/* ---- spans ---- */

static void write_number(struct pythia_buf *to, const char *name, uint32_t number)
{
    if (number)
        pythia_buf_printf(to, ",\"%s\":%" PRIu32, name, number);
}

/* What is 0 or not known is left out: a recording has millions of lines, and most members of a span
 * are 0. */
int pythia_spans_writer_add(struct pythia_spans_writer *w, const struct pythia_trace_id *trace,
                            const struct pythia_span *s)
{
    struct pythia_buf *to = w->to;
    bool pointed = s->tracepoint != PYTHIA_NONE, known = s->resource != 0;
    uint32_t point = pointed ? write_point_definition(w, s->tracepoint) : 0,
             resource = known ? write_resource_definition(w, s->resource) : 0;
    if ((pointed && point == 0) || (known && resource == 0))
        return PYTHIA_ENOMEM;
    pythia_buf_printf(to, "{\"trace\":\"%016" PRIx64 "%016" PRIx64 "\",\"span\":\"%016" PRIx64 "\"",
                      trace->high, trace->low, s->id);
    if (s->parent)
        pythia_buf_printf(to, ",\"parent\":\"%016" PRIx64 "\"", s->parent);
    pythia_buf_printf(to, ",\"start\":%" PRIu64, s->start_ns);
    if (s->duration_ns)
        pythia_buf_printf(to, ",\"duration\":%" PRId64, s->duration_ns);
    write_number(to, "at", point);
    write_number(to, "of", resource);
    write_number(to, "kind", s->kind);
    write_number(to, "relation", s->relation);
    write_number(to, "part", s->part);
    write_number(to, "flags",
                 (s->error ? PYTHIA__SPANS_ERROR : 0u) | (s->shared ? PYTHIA__SPANS_SHARED : 0u) |
                     (s->many_roots ? PYTHIA__SPANS_MANY_ROOTS : 0u) |
                     (s->lossy ? PYTHIA__SPANS_LOSSY : 0u));
    if (s->link.high | s->link.low)
        pythia_buf_printf(to, ",\"link\":\"%016" PRIx64 "%016" PRIx64 "\"", s->link.high,
                          s->link.low);
    write_attributes(w, s->attributes);
    pythia_buf_puts(to, "}\n");
    return pythia_buf_status(to);
}
