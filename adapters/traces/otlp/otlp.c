#include "otlp.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "pythia/sampling.h"

int pythia__otlp_init(struct pythia__otlp *o, const struct pythia_adapter_ops *ops,
                      struct pythia_vocabulary *vocabulary)
{
    pythia__decoder_init(&o->d, ops, vocabulary);
    o->d.marks = true;
    o->key_sampling = PYTHIA_NONE;
    o->key_service = pythia_vocabulary_string(vocabulary, PYTHIA_TEXT("service.name"));
    o->key_host = pythia_vocabulary_string(vocabulary, PYTHIA_TEXT("host.name"));
    o->key_instance = pythia_vocabulary_string(vocabulary, PYTHIA_TEXT("service.instance.id"));
    return o->key_service == PYTHIA_NONE || o->key_host == PYTHIA_NONE ||
                   o->key_instance == PYTHIA_NONE
               ? PYTHIA_ENOMEM
               : PYTHIA_OK;
}

void pythia__otlp_free(struct pythia__otlp *o)
{
    pythia__held_free(&o->held);
    pythia_buf_free(&o->resource_attributes);
    pythia__decoder_free(&o->d);
}

/* ---- spans ---- */

void pythia__otlp_kind(struct pythia_span *span, int64_t kind)
{
    span->kind = kind > 0 && kind <= PYTHIA_SPAN_CONSUMER ? (enum pythia_span_kind)kind
                                                          : PYTHIA_SPAN_UNKNOWN;
    span->relation = span->kind == PYTHIA_SPAN_SERVER     ? PYTHIA_RELATION_CALL
                     : span->kind == PYTHIA_SPAN_CONSUMER ? PYTHIA_RELATION_SPAWN
                                                          : PYTHIA_RELATION_UNKNOWN;
}

void pythia__otlp_tracestate(struct pythia__otlp *o, struct pythia__otlp_span *s,
                             struct pythia_text tracestate)
{
    if (pythia_sampling_of_tracestate(tracestate, &s->probability) == PYTHIA_SAMPLING_INVALID)
        o->d.to->counts->repaired[PYTHIA_REPAIR_SAMPLING]++;
}

/* Does an attribute say how the span was sampled? Then the tracestate does not count. */
static bool has_probability(const struct pythia__otlp *o)
{
    struct pythia_text rest = pythia_buf_text(&o->d.attributes);
    struct pythia_attribute a;
    double probability;
    while (pythia_attributes_next(&rest, &a))
        if (a.key == o->key_sampling &&
            pythia_sampling_of_attribute(&a, &probability) == PYTHIA_SAMPLING_STATED)
            return true;
    return false;
}

/* The tracestate's probability becomes the first attribute: a limit on attributes drops the last
 * ones, and without its probability a span would be weighted wrongly. */
static int add_probability(struct pythia__otlp *o, double probability)
{
    struct pythia_buf *attributes = &o->d.attributes;
    char added[32];
    if (o->key_sampling == PYTHIA_NONE)
        o->key_sampling = pythia__key(&o->d, PYTHIA_TEXT(PYTHIA_SAMPLING_KEY));
    if (o->key_sampling == PYTHIA_NONE)
        return PYTHIA_ENOMEM;
    if (has_probability(o))
        return PYTHIA_OK;
    size_t before = attributes->size;
    pythia_attributes_real(attributes, o->key_sampling, probability);
    size_t size = attributes->size - before;
    if (pythia_buf_status(attributes) != PYTHIA_OK || before == 0)
        return PYTHIA_OK; /* a failure is seen when the span is passed on */
    memcpy(added, attributes->bytes + before, size);
    memmove(attributes->bytes + size, attributes->bytes, before);
    memcpy(attributes->bytes, added, size);
    return PYTHIA_OK;
}

const char *pythia__otlp_fault(const struct pythia__otlp_span *s)
{
    if (!s->out.span.id)
        return "a span without spanId";
    if (!(s->out.trace.high | s->out.trace.low))
        return "a span without traceId";
    return s->has_start ? NULL : "a span without startTimeUnixNano";
}

/* Give a span on, now that what it shares with others is known. */
static int complete_otlp_span(struct pythia__otlp *o, struct pythia__held_span *s)
{
    s->span.resource = o->resource_number;
    s->span.tracepoint = pythia__tracepoint(&o->d, o->resource.service, s->scope, s->name);
    pythia__set_apart(&s->trace, &s->span);
    return s->span.tracepoint == PYTHIA_NONE ? PYTHIA_ENOMEM : PYTHIA_OK;
}

int pythia__otlp_give(struct pythia__otlp *o, struct pythia__otlp_span *s)
{
    struct pythia_span *span = &s->out.span;
    span->part = s->has_end && s->end_ns ? PYTHIA_PART_WHOLE : PYTHIA_PART_START;
    span->duration_ns = s->end_ns ? (int64_t)(s->end_ns - span->start_ns) : 0;
    s->out.scope = o->scope;
    if (s->probability > 0 && add_probability(o, s->probability) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    if (!o->resource_known || !o->scope_known)
        return pythia__hold(&o->held, &o->d, &s->out);
    int status = complete_otlp_span(o, &s->out);
    if (status != PYTHIA_OK)
        return status;
    return pythia__emit(&o->d, &s->out.trace, span);
}

/* ---- arrays ---- */

void pythia__otlp_join(struct pythia_buf *joined, struct pythia_text text)
{
    if (joined->size >= PYTHIA__ARRAY_MAX)
        return;
    if (joined->size)
        pythia_buf_putc(joined, ',');
    pythia_buf_text_add(joined, text);
}

/* As few digits as tell a number from all others, whichever way it was written. */
void pythia__otlp_join_real(struct pythia_buf *joined, double number)
{
    char text[32];
    if (isfinite(number)) {
        int digits = 15;
        do
            snprintf(text, sizeof(text), "%.*g", digits, number);
        while (strtod(text, NULL) != number && ++digits <= 17);
        pythia__otlp_join(joined, pythia_text_of(text));
    } else {
        pythia__otlp_join(joined, isnan(number) ? PYTHIA_TEXT("NaN")
                                  : number > 0  ? PYTHIA_TEXT("Infinity")
                                                : PYTHIA_TEXT("-Infinity"));
    }
}

/* ---- what spans share ---- */

size_t pythia__otlp_begin_scope(struct pythia__otlp *o)
{
    o->scope = 0;
    o->scope_known = false;
    return o->held.count;
}

/* Emit all spans that are held, under the current resource. Also after a failure none stays held:
 * the next resource must not get them. */
static int emit_otlp_held(struct pythia__otlp *o)
{
    int status = PYTHIA_OK;
    for (size_t i = 0; i < o->held.count; i++) {
        status = complete_otlp_span(o, &o->held.spans[i]);
        if (status != PYTHIA_OK)
            break;
        status = pythia__release(&o->held, &o->d, i);
        if (status != PYTHIA_OK)
            break;
    }
    o->held.count = 0;
    pythia_buf_clear(&o->held.attributes);
    return status;
}

int pythia__otlp_end_scope(struct pythia__otlp *o, size_t begun, int status)
{
    for (size_t i = begun; i < o->held.count; i++)
        o->held.spans[i].scope = o->scope;
    if (status != PYTHIA_OK || !o->resource_known)
        return status;
    return emit_otlp_held(o);
}

/* The number of the text that an attribute of the resource has; 0: it has none. */
static uint32_t find_resource_text(struct pythia__otlp *o, uint32_t key)
{
    struct pythia_attribute found;
    if (!pythia_attributes_find(pythia_buf_text(&o->d.attributes), key, &found) ||
        found.kind != PYTHIA_ATTRIBUTE_TEXT)
        return 0;
    return pythia_vocabulary_string(o->d.vocabulary, found.text);
}

/* The attributes are copied, because the decoder's buffer is reused for those of the spans, and a
 * second Resource message is merged with what the first said. */
int pythia__otlp_resource(struct pythia__otlp *o)
{
    int status = pythia__complete_resource(&o->d);
    if (status != PYTHIA_OK)
        return status;
    o->resource = (struct pythia_resource){.service = find_resource_text(o, o->key_service),
                                           .host = find_resource_text(o, o->key_host),
                                           .instance = find_resource_text(o, o->key_instance)};
    if (o->resource.service == PYTHIA_NONE || o->resource.host == PYTHIA_NONE ||
        o->resource.instance == PYTHIA_NONE || pythia_buf_status(&o->d.attributes) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    pythia_buf_clear(&o->resource_attributes);
    pythia_buf_text_add(&o->resource_attributes, pythia_buf_text(&o->d.attributes));
    o->resource.attributes = pythia_buf_text(&o->resource_attributes);
    if (pythia_buf_status(&o->resource_attributes) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    o->resource_number = pythia_vocabulary_resource(o->d.vocabulary, &o->resource);
    o->resource_known = true;
    return o->resource_number == PYTHIA_NONE ? PYTHIA_ENOMEM : PYTHIA_OK;
}

void pythia__otlp_begin_resource(struct pythia__otlp *o)
{
    o->resource = (struct pythia_resource){0};
    o->resource_number = 0;
    o->resource_known = false;
    o->held.count = 0;
    o->held.attributes.failed = o->resource_attributes.failed = 0;
    pythia_buf_clear(&o->held.attributes);
}

int pythia__otlp_end_resource(struct pythia__otlp *o, int status)
{
    if (!pythia__goes_on(&o->d, status))
        return status;
    o->resource_known = true;
    int settled = emit_otlp_held(o);
    return status < 0 && pythia__goes_on(&o->d, settled) ? status : settled;
}
