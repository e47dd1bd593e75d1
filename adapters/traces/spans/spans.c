/* Spans as other decoders gave them on (span.h), for a recording whose bodies must not be kept as
 * they came. JSON, one object a line; what spans share is defined before, by number from 1 on:
 *
 *     {"spans":1}
 *     {"point":1,"id":"shop:GET /cart","service":"shop","name":"GET /cart"}
 *     {"resource":1,"service":"shop","host":"h","instance":"i","attributes":[["zone","text","a"]]}
 *     {"trace":"…","span":"…","parent":"…","start":17,"duration":5,"at":1,"of":1,"kind":2,
 *      "flags":1,"attributes":[["n","integer",1],["x","real",1.5],["y","real","NaN"],
 *      ["hit","bool",true]]}
 *
 *     {"cost":170,"at":1}
 *     {"cost":"expected","at":1}
 *
 * The last two are what one pass of a trace point cost (at 0: in a loop), and that it is measured.
 * Times are in nanoseconds. kind, relation and part are the numbers of span.h, flags those of
 * spans.h, and what is 0 or not known is left out. */
#include "spans.h"

#include <math.h>
#include <string.h>

#include "pythia/mem.h"
#include "shared/formats.h"
#include "shared/json_decoder.h"

#define COST_MAX_NS UINT64_C(1000000000) /* of one pass, as native.c has it */

struct list {
    uint32_t *numbers; /* of the vocabulary, owned */
    size_t count, capacity;
};

struct spans {
    struct pythia__decoder d;
    struct list points, resources; /* that are defined */
};

/* The content of a line. */
struct line {
    struct pythia_trace_id trace, span, parent, link;
    uint64_t start, number; /* number: of what is defined */
    int64_t duration, at, of, kind, relation, part, flags;
    uint32_t service, host, instance, name; /* numbers of strings */
    struct pythia_text id;
    uint64_t cost;
    bool is_head, is_point, is_resource, is_cost, has_start;
};

/* ---- members ---- */

static int read_hex_id(struct spans *s, struct pythia_trace_id *out)
{
    struct pythia_text text;
    int status = pythia_json_string(s->d.json, &text);
    if (status != PYTHIA_OK)
        return status;
    if (text.size == 0 || text.size > 32 || !pythia_text_hex(text, &out->high, &out->low))
        return pythia_json_fail_last(s->d.json, PYTHIA_EFORMAT, "an id that is not hexadecimal");
    return PYTHIA_OK;
}

static int read_spans_real(struct spans *s, double *out)
{
    struct pythia_json_value value;
    int status = pythia_json_value(s->d.json, &value);
    if (status != PYTHIA_OK)
        return status;
    *out = value.real;
    if (value.kind == PYTHIA_JSON_INTEGER || value.kind == PYTHIA_JSON_REAL)
        return PYTHIA_OK;
    bool text = value.kind == PYTHIA_JSON_STRING;
    if (text && PYTHIA_TEXT_IS(value.text, "NaN"))
        *out = NAN;
    else if (text && PYTHIA_TEXT_IS(value.text, "Infinity"))
        *out = INFINITY;
    else if (text && PYTHIA_TEXT_IS(value.text, "-Infinity"))
        *out = -INFINITY;
    else
        return pythia__unfit(&s->d, "a real that is not a number");
    return PYTHIA_OK;
}

/* Read the value of a key-value of that kind. Kinds are written out, because the values of another
 * decoder are reproduced exactly: a real may look like a whole number, and a text like both. */
static int read_typed(struct spans *s, uint32_t key, struct pythia_text kind)
{
    struct pythia_buf *to = &s->d.attributes;
    struct pythia_json_value value;
    struct pythia_text text;
    int64_t integer;
    double real;
    int status;
    if (PYTHIA_TEXT_IS(kind, "text")) {
        if ((status = pythia_json_string(s->d.json, &text)) != PYTHIA_OK)
            return status;
        pythia__add_text(&s->d, key, text);
    } else if (PYTHIA_TEXT_IS(kind, "integer")) {
        if ((status = pythia_json_int64(s->d.json, &integer)) != PYTHIA_OK)
            return status;
        pythia_attributes_integer(to, key, integer);
    } else if (PYTHIA_TEXT_IS(kind, "real")) {
        if ((status = read_spans_real(s, &real)) != PYTHIA_OK)
            return status;
        pythia_attributes_real(to, key, real);
    } else if (PYTHIA_TEXT_IS(kind, "bool")) {
        if ((status = pythia_json_value(s->d.json, &value)) != PYTHIA_OK)
            return status;
        if (value.kind != PYTHIA_JSON_BOOL)
            return pythia__unfit(&s->d, "a bool that is neither true nor false");
        pythia_attributes_bool(to, key, value.integer != 0);
    } else {
        return pythia__unfit(&s->d, "a key-value of an unknown kind");
    }
    return PYTHIA_OK;
}

/* Read ["key", "kind", value]. */
static int read_typed_attribute(struct spans *s)
{
    struct pythia_json *j = s->d.json;
    struct pythia_text kind = {"", 0};
    uint32_t key = 0;
    int status = pythia_json_array(j);
    for (int i = 0; pythia_json_next_element(j, &status); i++) {
        if (i == 0)
            status = pythia__read_key(&s->d, (struct pythia_text){"", 0}, &key);
        else if (i == 1)
            status = pythia_json_string(j, &kind);
        else
            status = i == 2 ? read_typed(s, key, kind) : pythia_json_skip(j);
    }
    return status;
}

static int read_typed_attributes(struct spans *s)
{
    int status = pythia_json_array(s->d.json);
    while (pythia_json_next_element(s->d.json, &status))
        status = read_typed_attribute(s);
    return status;
}

static int read_number_member(struct spans *s, struct pythia_text member, struct line *l)
{
    struct pythia_json *j = s->d.json;
    const struct {
        const char *name;
        int64_t *to;
    } numbers[] = {
        {"duration", &l->duration}, {"at", &l->at},     {"of", &l->of},      {"kind", &l->kind},
        {"relation", &l->relation}, {"part", &l->part}, {"flags", &l->flags}};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        if (pythia_text_equal(member, pythia_text_of(numbers[i].name)))
            return pythia_json_int64(j, numbers[i].to);
    l->is_head |= PYTHIA_TEXT_IS(member, "spans");
    l->is_point |= PYTHIA_TEXT_IS(member, "point");
    l->is_resource |= PYTHIA_TEXT_IS(member, "resource");
    return l->is_head || l->is_point || l->is_resource ? pythia_json_uint64(j, &l->number)
                                                       : pythia_json_skip(j);
}

static int read_cost(struct spans *s, struct line *l)
{
    struct pythia_json_value value;
    l->is_cost = true;
    if (pythia_json_peek(s->d.json) != '"')
        return pythia_json_uint64(s->d.json, &l->cost);
    l->cost = PYTHIA_COST_EXPECTED;
    int status = pythia_json_value(s->d.json, &value);
    if (status != PYTHIA_OK)
        return status;
    return PYTHIA_TEXT_IS(value.text, "expected")
               ? PYTHIA_OK
               : pythia__unfit(&s->d, "a cost that is not a number");
}

/* Read a member; which kind of line it belongs to is decided when the line has been read. */
static int read_line_member(struct spans *s, struct pythia_text member, struct line *l)
{
    const struct {
        const char *name;
        struct pythia_trace_id *to;
    } ids[] = {
        {"trace", &l->trace}, {"span", &l->span}, {"parent", &l->parent}, {"link", &l->link}};
    const struct {
        const char *name;
        uint32_t *to;
    } strings[] = {{"service", &l->service},
                   {"name", &l->name},
                   {"host", &l->host},
                   {"instance", &l->instance}};
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
        if (pythia_text_equal(member, pythia_text_of(ids[i].name)))
            return read_hex_id(s, ids[i].to);
    for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++)
        if (pythia_text_equal(member, pythia_text_of(strings[i].name)))
            return pythia__read_key(&s->d, (struct pythia_text){"", 0}, strings[i].to);
    if (PYTHIA_TEXT_IS(member, "start")) {
        l->has_start = true;
        int status = pythia_json_uint64(s->d.json, &l->start);
        return status < 0 ? status : pythia__time(&s->d, l->start, 1, &l->start);
    }
    if (PYTHIA_TEXT_IS(member, "cost"))
        return read_cost(s, l);
    if (PYTHIA_TEXT_IS(member, "id"))
        return pythia_json_string(s->d.json, &l->id);
    return PYTHIA_TEXT_IS(member, "attributes") ? read_typed_attributes(s)
                                                : read_number_member(s, member, l);
}

/* ---- lines ---- */

static int begin_line(struct spans *s, const struct line *l)
{
    s->points.count = s->resources.count = 0;
    return l->number == 1 ? PYTHIA_OK : pythia__unfit(&s->d, "spans of another version");
}

/* Definitions are numbered in order, so that a number above the last one is a fault. */
static int define_name(struct spans *s, struct list *to, const struct line *l, uint32_t number)
{
    if (number == PYTHIA_NONE ||
        pythia_grow(&to->numbers, &to->capacity, to->count, sizeof(*to->numbers)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    if (l->number != to->count + 1)
        return pythia__unfit(&s->d, "a definition that is not the next one");
    to->numbers[to->count++] = number;
    return PYTHIA_OK;
}

static int add_point_definition(struct spans *s, const struct line *l)
{
    return define_name(
        s, &s->points, l,
        pythia_vocabulary_tracepoint_of_id(s->d.vocabulary, l->id, l->service, l->name));
}

static int add_resource_definition(struct spans *s, const struct line *l)
{
    if (pythia__complete_resource(&s->d) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    struct pythia_resource r = {.service = l->service,
                                .host = l->host,
                                .instance = l->instance,
                                .attributes = pythia_buf_text(&s->d.attributes)};
    return define_name(s, &s->resources, l, pythia_vocabulary_resource(s->d.vocabulary, &r));
}

static bool is_defined(const struct list *list, int64_t number)
{
    return number >= 0 && (uint64_t)number <= list->count;
}

static int take_cost(struct spans *s, const struct line *l)
{
    bool expected = l->cost == PYTHIA_COST_EXPECTED;
    if (!is_defined(&s->points, l->at) || (expected && l->at == 0))
        return pythia__unfit(&s->d, "a cost of something that is not defined");
    if (!expected && l->cost > COST_MAX_NS)
        return pythia__unfit(&s->d, "a trace point that costs an impossible time");
    return pythia__cost(&s->d, l->at ? s->points.numbers[l->at - 1] : PYTHIA_NONE, l->cost);
}

/* The file may have been edited, or be hostile: every number is checked before it becomes an index
 * or an enumerator. */
static int emit_line_span(struct spans *s, const struct line *l)
{
    const char *fault = NULL;
    if (!(l->trace.high | l->trace.low) || !l->span.low || !l->has_start)
        fault = "a span without trace, span or start";
    else if (!is_defined(&s->points, l->at) || !is_defined(&s->resources, l->of))
        fault = "a span of something that is not defined";
    else if (l->kind < 0 || l->kind > PYTHIA_SPAN_CONSUMER || l->relation < 0 ||
             l->relation > PYTHIA_RELATION_SPAWN || l->part < 0 || l->part > PYTHIA_PART_ADDITION ||
             l->flags < 0 || l->flags > 15)
        fault = "a span of an unknown kind";
    else if (l->at == 0 && l->part != PYTHIA_PART_STOP)
        fault = "a span without a trace point";
    else if (l->duration > 0 && l->start > PYTHIA__TIME_MAX - (uint64_t)l->duration)
        fault = "a span that ends after the year 2262";
    if (fault)
        return pythia__unfit(&s->d, fault);
    struct pythia_span span = {
        .id = l->span.low,
        .parent = l->parent.low,
        .start_ns = l->start,
        .duration_ns = l->duration,
        .tracepoint = l->at ? s->points.numbers[l->at - 1] : PYTHIA_NONE,
        .resource = l->of ? s->resources.numbers[l->of - 1] : 0,
        .kind = (enum pythia_span_kind)l->kind,
        .relation = (enum pythia_span_relation)l->relation,
        .part = (enum pythia_span_part)l->part,
        .error = (l->flags & PYTHIA__SPANS_ERROR) != 0,
        .shared = (l->flags & PYTHIA__SPANS_SHARED) != 0,
        .many_roots = (l->flags & PYTHIA__SPANS_MANY_ROOTS) != 0,
        .lossy = (l->flags & PYTHIA__SPANS_LOSSY) != 0,
        .link = l->link,
    };
    return pythia__emit(&s->d, &l->trace, &span);
}

static int read_spans_line(struct pythia__decoder *d, void *context)
{
    (void)context;
    struct spans *s = (struct spans *)d;
    struct line l = {.id = {"", 0}};
    struct pythia_text member;
    pythia__span_begin(d);
    int status = pythia_json_object(d->json);
    while (pythia_json_next_field(d->json, &member, &status))
        status = read_line_member(s, member, &l);
    if (status != PYTHIA_OK)
        return status;
    if (l.is_head)
        return begin_line(s, &l);
    if (l.is_cost)
        return take_cost(s, &l);
    if (l.is_point)
        return add_point_definition(s, &l);
    return l.is_resource ? add_resource_definition(s, &l) : emit_line_span(s, &l);
}

static int read_spans_document(struct pythia__decoder *d)
{
    int status = pythia__is(d, '{');
    return status == 1 ? pythia__record(d, read_spans_line, NULL) : status;
}

/* ---- the row ---- */

static int spans_likeness(const struct pythia_head *head)
{
    return pythia_text_starts(head->text, PYTHIA_TEXT(PYTHIA__SPANS_HEAD)) ? 100 : 0;
}

static void destroy_spans(struct pythia_adapter *a)
{
    struct spans *s = (struct spans *)a;
    if (!s)
        return;
    pythia_free(s->points.numbers);
    pythia_free(s->resources.numbers);
    pythia__decoder_free(&s->d);
    pythia_free(s);
}

static int create_spans(struct pythia_vocabulary *vocabulary, struct pythia_adapter **out)
{
    struct spans *s = pythia_calloc(1, sizeof(*s));
    if (!s)
        return PYTHIA_ENOMEM;
    pythia__decoder_init(&s->d, &pythia__spans, vocabulary);
    *out = &s->d.adapter;
    return PYTHIA_OK;
}

static int decode_spans(struct pythia_adapter *a, struct pythia_source *from,
                        struct pythia_sink *to, struct pythia_error *e)
{
    struct spans *s = (struct spans *)a;
    s->points.count = s->resources.count = 0;
    return pythia__decode(&s->d, from, to, read_spans_document, e);
}

const struct pythia_adapter_ops pythia__spans = {
    .name = "spans",
    .help = "spans as pythiad --record writes them where values are redacted",
    .likeness = spans_likeness,
    .create = create_spans,
    .decode = decode_spans,
    .destroy = destroy_spans,
};
