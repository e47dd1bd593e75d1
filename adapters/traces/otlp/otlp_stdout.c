#include "otlp_stdout.h"

/* Members of a span that are read after all others, because what is around them comes first. */
struct reading {
    struct pythia__otlp_span span;
    const uint32_t *attributes, *events, *links, *resource; /* NULL: absent */
};

/* ---- values ---- */

static int read_printed_id(struct pythia__otlp *o, const char *which, uint64_t *high, uint64_t *low)
{
    struct pythia_text text = {"", 0};
    int status = pythia_json_string(o->d.json, &text);
    *high = *low = 0;
    if (status != PYTHIA_OK || text.size == 0 || pythia_text_hex(text, high, low))
        return status;
    return pythia_json_fail_last(o->d.json, PYTHIA_EFORMAT,
                                 "%s '%.*s' is not an id: expected hexadecimal digits", which,
                                 (int)(text.size < 48 ? text.size : 48), text.bytes);
}

/* Read {"TraceID", "SpanID", "TraceState"}; of a parent only the id counts, and `of` is NULL. */
static int read_span_context(struct pythia__otlp *o, struct pythia__otlp_span *of, uint64_t *span)
{
    struct pythia_text member, text;
    uint64_t unused;
    int status = pythia__enter_object(&o->d);
    while (pythia_json_next_field(o->d.json, &member, &status)) {
        if (of && PYTHIA_TEXT_IS(member, "TraceID"))
            status = read_printed_id(o, "TraceID", &of->out.trace.high, &of->out.trace.low);
        else if (of && PYTHIA_TEXT_IS(member, "TraceState") && pythia_json_peek(o->d.json) == '"') {
            status = pythia_json_string(o->d.json, &text);
            if (status != PYTHIA_OK)
                return status;
            pythia__otlp_tracestate(o, of, text);
        } else if (PYTHIA_TEXT_IS(member, "SpanID"))
            status = read_printed_id(o, "SpanID", &unused, span);
        else
            status = pythia_json_skip(o->d.json);
    }
    return status;
}

/* Go writes the time that is not set as the year 1. */
static int read_printed_time(struct pythia__otlp *o, uint64_t *out, bool *seen)
{
    struct pythia_text text;
    int status = pythia_json_string(o->d.json, &text);
    if (status != PYTHIA_OK || PYTHIA_TEXT_IS(text, "0001-01-01T00:00:00Z"))
        return status;
    *seen = true;
    if (pythia__parse_timestamp(&o->day, text, out))
        return PYTHIA_OK;
    return pythia_json_fail_last(o->d.json, PYTHIA_EFORMAT, "'%.*s' is not a time",
                                 (int)(text.size < 48 ? text.size : 48), text.bytes);
}

/* Read the member `wanted` of an object as a name; *out stays if it is absent. */
static int read_member_name(struct pythia__otlp *o, const char *wanted, uint32_t *out)
{
    struct pythia_text member;
    int status = pythia__enter_object(&o->d);
    while (pythia_json_next_field(o->d.json, &member, &status))
        status = pythia_text_equal(member, pythia_text_of(wanted))
                     ? pythia__read_key(&o->d, (struct pythia_text){"", 0}, out)
                     : pythia_json_skip(o->d.json);
    return status;
}

static int read_printed_status(struct pythia__otlp *o, bool *error)
{
    struct pythia_text member, text = {"", 0};
    int status = pythia__enter_object(&o->d);
    while (pythia_json_next_field(o->d.json, &member, &status)) {
        if (!PYTHIA_TEXT_IS(member, "Code")) {
            status = pythia_json_skip(o->d.json);
            continue;
        }
        status = pythia__read_text(&o->d, &text);
        *error = PYTHIA_TEXT_IS(text, "Error") || PYTHIA_TEXT_IS(text, "1");
    }
    return status;
}

/* ---- attributes ---- */

/* {"Type", "Value"} below the key `name`. */
static int read_printed_value(struct pythia__otlp *o, struct pythia_text name)
{
    struct pythia_text member;
    int status = pythia__enter_object(&o->d);
    while (pythia_json_next_field(o->d.json, &member, &status))
        status = PYTHIA_TEXT_IS(member, "Value") ? pythia__add_value(&o->d, name)
                                                 : pythia_json_skip(o->d.json);
    return status;
}

/* Read {"Key", "Value"}; Go writes the key first. */
static int read_printed_attribute(struct pythia__otlp *o, struct pythia_text prefix)
{
    struct pythia_text member;
    uint32_t key = PYTHIA_NONE;
    int status = pythia__enter_object(&o->d);
    while (pythia_json_next_field(o->d.json, &member, &status)) {
        if (PYTHIA_TEXT_IS(member, "Key"))
            status = pythia__read_key(&o->d, prefix, &key);
        else if (PYTHIA_TEXT_IS(member, "Value") && key != PYTHIA_NONE)
            status = read_printed_value(o, pythia_vocabulary_text(o->d.vocabulary, key));
        else
            status = pythia_json_skip(o->d.json);
    }
    return status;
}

static int read_printed_attributes(struct pythia__otlp *o, struct pythia_text prefix)
{
    int status = pythia__enter_array(&o->d);
    while (pythia_json_next_element(o->d.json, &status))
        status = read_printed_attribute(o, prefix);
    return status;
}

/* {"Name", "Attributes"}: the name, and the attributes below it. */
static int read_printed_event(struct pythia__otlp *o)
{
    struct pythia_json *j = o->d.json;
    const uint32_t *begin = pythia_json_mark(j);
    struct pythia_text member;
    uint32_t name = 0;
    int status = read_member_name(o, "Name", &name);
    if (status != PYTHIA_OK || name == 0)
        return status;
    uint32_t key = pythia__key_below(&o->d, PYTHIA_TEXT("event"),
                                     pythia_vocabulary_text(o->d.vocabulary, name));
    if (key == PYTHIA_NONE)
        return PYTHIA_ENOMEM;
    pythia_attributes_bool(&o->d.attributes, key, true);
    pythia_json_again(j, begin);
    status = pythia__enter_object(&o->d);
    while (pythia_json_next_field(j, &member, &status))
        status = PYTHIA_TEXT_IS(member, "Attributes")
                     ? read_printed_attributes(o, pythia_vocabulary_text(o->d.vocabulary, key))
                     : pythia_json_skip(j);
    return status;
}

static int read_printed_events(struct pythia__otlp *o)
{
    int status = pythia__enter_array(&o->d);
    while (pythia_json_next_element(o->d.json, &status)) {
        status = pythia__event_begin(&o->d) ? read_printed_event(o) : pythia_json_skip(o->d.json);
        pythia__event_end(&o->d);
    }
    return status;
}

static int count_links(struct pythia__otlp *o)
{
    int status = pythia__enter_array(&o->d);
    while (pythia_json_next_element(o->d.json, &status)) {
        (void)pythia__link(&o->d);
        status = pythia_json_skip(o->d.json);
    }
    return status;
}

/* ---- spans ---- */

/* What needs the resource first, or would fill the buffer that the resource's attributes use, is
 * only marked here, and read by read_marked. */
static int read_printed_member(struct pythia__otlp *o, struct pythia_text member, struct reading *r)
{
    struct pythia_json *j = o->d.json;
    struct pythia_span *span = &r->span.out.span;
    struct pythia_json_value value;
    if (PYTHIA_TEXT_IS(member, "Name"))
        return pythia__read_key(&o->d, (struct pythia_text){"", 0}, &r->span.out.name);
    if (PYTHIA_TEXT_IS(member, "SpanContext"))
        return read_span_context(o, &r->span, &span->id);
    if (PYTHIA_TEXT_IS(member, "Parent"))
        return read_span_context(o, NULL, &span->parent);
    if (PYTHIA_TEXT_IS(member, "SpanKind")) {
        int status = pythia__read_scalar(&o->d, &value);
        if (status != PYTHIA_OK)
            return status;
        if (value.kind == PYTHIA_JSON_INTEGER)
            pythia__otlp_kind(span, value.integer);
        return PYTHIA_OK;
    }
    if (PYTHIA_TEXT_IS(member, "StartTime"))
        return read_printed_time(o, &span->start_ns, &r->span.has_start);
    if (PYTHIA_TEXT_IS(member, "EndTime"))
        return read_printed_time(o, &r->span.end_ns, &r->span.has_end);
    if (PYTHIA_TEXT_IS(member, "Status"))
        return read_printed_status(o, &span->error);
    if (PYTHIA_TEXT_IS(member, "InstrumentationScope") ||
        PYTHIA_TEXT_IS(member, "InstrumentationLibrary"))
        return read_member_name(o, "Name", &o->scope);
    if (PYTHIA_TEXT_IS(member, "Attributes"))
        r->attributes = pythia_json_mark(j);
    else if (PYTHIA_TEXT_IS(member, "Events"))
        r->events = pythia_json_mark(j);
    else if (PYTHIA_TEXT_IS(member, "Links"))
        r->links = pythia_json_mark(j);
    else if (PYTHIA_TEXT_IS(member, "Resource"))
        r->resource = pythia_json_mark(j);
    return pythia_json_skip(j);
}

static int read_attributes_at(struct pythia__otlp *o, const uint32_t *mark)
{
    if (!mark)
        return PYTHIA_OK;
    pythia_json_again(o->d.json, mark);
    return read_printed_attributes(o, (struct pythia_text){"", 0});
}

/* Read the members that were only marked: the resource first, for its attributes use the same
 * buffer as the span's. */
static int read_marked(struct pythia__otlp *o, const struct reading *r)
{
    pythia_buf_clear(&o->d.attributes);
    int status = read_attributes_at(o, r->resource);
    if (status != PYTHIA_OK)
        return status;
    status = pythia__otlp_resource(o);
    pythia__span_begin(&o->d);
    if (status != PYTHIA_OK)
        return status;
    status = read_attributes_at(o, r->attributes);
    if (status != PYTHIA_OK)
        return status;
    if (r->events) {
        pythia_json_again(o->d.json, r->events);
        status = read_printed_events(o);
        if (status != PYTHIA_OK)
            return status;
    }
    if (!r->links)
        return PYTHIA_OK;
    pythia_json_again(o->d.json, r->links);
    return count_links(o);
}

/* The cursor returns to the end of the span after the marked members are read, also if one of them
 * fails: the next record begins there. */
static int read_printed_span(struct pythia__decoder *d, void *context)
{
    (void)context;
    struct pythia__otlp *o = (struct pythia__otlp *)d;
    struct reading r = {.attributes = NULL};
    struct pythia_text member;
    pythia__otlp_begin_resource(o);
    (void)pythia__otlp_begin_scope(o);
    int status = pythia_json_object(d->json);
    while (pythia_json_next_field(d->json, &member, &status))
        status = read_printed_member(o, member, &r);
    if (status != PYTHIA_OK)
        return status;
    const uint32_t *after = pythia_json_mark(d->json);
    const char *fault = pythia__otlp_fault(&r.span);
    if (fault)
        return pythia__unfit(d, fault);
    o->scope_known = true;
    status = read_marked(o, &r);
    if (status != PYTHIA_OK)
        goto out;
    status = pythia__otlp_give(o, &r.span);
out:
    pythia_json_again(d->json, after);
    return status;
}

int pythia__otlp_is_stdout(struct pythia__otlp *o)
{
    struct pythia_text key = {"", 0};
    int status = pythia_json_first_key(o->d.json, &key);
    return status < 0 ? status : status == 0 && PYTHIA_TEXT_IS(key, "Name");
}

int pythia__otlp_read_stdout(struct pythia__otlp *o)
{
    return pythia__record(&o->d, read_printed_span, NULL);
}
