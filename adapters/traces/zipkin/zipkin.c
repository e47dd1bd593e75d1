/* Zipkin's JSON (zipkin.io/zipkin-api): an array of spans, an array of such arrays, or spans or
 * arrays one a line.
 *
 *     v2  {"traceId", "id", "parentId", "kind", "name", "timestamp", "duration", "shared",
 *          "localEndpoint", "remoteEndpoint", "annotations": [{"timestamp", "value"}], "tags": {…}}
 *     v1  {"traceId", "id", "parentId", "name", "timestamp", "duration",
 *          "annotations": [{"timestamp", "value", "endpoint"}],
 *          "binaryAnnotations": [{"key", "value", "endpoint"}]}
 *
 * In v1 the annotations cs and cr are the start and end of a client's half of the span, sr and ss
 * of a server's; one object may hold both, and becomes two spans. Client and server share an id in
 * v2 too, where the flag that says so is left out by many: every server's span is passed on as such
 * a half, which changes nothing if there is no other half.
 *
 * A span without a duration is not finished. One without any time is a late addition to another
 * one, which has its id: whoever puts traces together joins the two. A trace id of 64 bits and one
 * of 128 bits whose low 64 bits are the same are two traces: which services cut ids, and which do
 * not, is not written in the spans. */
#include "pythia/hash.h"
#include "pythia/mem.h"
#include "shared/formats.h"
#include "shared/json_count.h"
#include "shared/json_decoder.h"

#define RESOURCES 256 /* cached; a power of two */

struct endpoint {
    uint32_t service, address; /* numbers of strings; 0: not known */
    int64_t port;              /* 0: not known */
    bool seen;
};

struct resource_entry {
    struct endpoint endpoint;
    uint32_t resource;
};

/* The keys that a remote endpoint has as attributes. */
struct peer_keys {
    uint32_t service, address, port;
};

struct zipkin {
    struct pythia__decoder d;
    struct resource_entry resources[RESOURCES];
    struct peer_keys peer;
};

/* When something happened that v1 has an annotation for, and at which endpoint. */
struct moment {
    uint64_t at_ns;
    struct endpoint endpoint;
    bool seen;
};

enum core { CS, CR, SR, SS, MS, MR, CORES };

/* A span as far as it has been read. */
struct reading {
    struct pythia_trace_id trace;
    struct pythia_span span;
    struct endpoint local;
    struct endpoint any; /* the first that v1 has anywhere */
    struct moment core[CORES];
    uint64_t first_ns; /* of the annotations; UINT64_MAX: none */
    uint32_t name;
    const uint32_t *annotations, *binary_annotations; /* where they stand; NULL: nowhere */
    bool has_start, has_duration;
    bool v1, moments; /* moments: some are seen in `core` */
};

/* ---- values ---- */

/* An id of up to `digits` hexadecimal digits; none if there are only zeros. */
static int read_zipkin_id(struct zipkin *z, const char *which, size_t digits,
                          struct pythia_trace_id *out)
{
    struct pythia_text text;
    int status = pythia_json_string(z->d.json, &text);
    if (status != PYTHIA_OK)
        return status;
    if (text.size > digits || !pythia_text_hex(text, &out->high, &out->low))
        return pythia_json_fail_last(
            z->d.json, PYTHIA_EFORMAT,
            "%s '%.*s' is not an id: expected up to %zu hexadecimal digits", which,
            (int)(text.size < 48 ? text.size : 48), text.bytes, digits);
    return PYTHIA_OK;
}

static int read_parent(struct zipkin *z, uint64_t *out)
{
    struct pythia_trace_id id = {0, 0};
    int status = pythia_json_peek(z->d.json) == '"' ? read_zipkin_id(z, "parentId", 16, &id)
                                                    : pythia_json_skip(z->d.json);
    *out = id.low;
    return status;
}

static int read_zipkin_bool(struct zipkin *z, bool *out)
{
    struct pythia_json_value value;
    int status = pythia__read_scalar(&z->d, &value);
    if (status != PYTHIA_OK)
        return status;
    *out = value.kind == PYTHIA_JSON_BOOL && value.integer;
    return PYTHIA_OK;
}

static int read_zipkin_kind(struct zipkin *z, struct pythia_span *span)
{
    static const struct {
        const char *name;
        enum pythia_span_kind kind;
    } kinds[] = {{"CLIENT", PYTHIA_SPAN_CLIENT},
                 {"SERVER", PYTHIA_SPAN_SERVER},
                 {"PRODUCER", PYTHIA_SPAN_PRODUCER},
                 {"CONSUMER", PYTHIA_SPAN_CONSUMER}};
    struct pythia_text text = {"", 0};
    int status = pythia__read_text(&z->d, &text);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (pythia_text_equal(text, pythia_text_of(kinds[i].name)))
            span->kind = kinds[i].kind;
    return status;
}

/* ---- endpoints ---- */

/* Read {"serviceName", "ipv4", "ipv6", "port"}. */
static int read_endpoint(struct zipkin *z, struct endpoint *out)
{
    struct pythia_text member;
    struct pythia_json_value value;
    *out = (struct endpoint){.seen = true};
    int status = pythia__enter_object(&z->d);
    while (pythia_json_next_field(z->d.json, &member, &status)) {
        if (PYTHIA_TEXT_IS(member, "serviceName")) {
            status = pythia__read_any_key(&z->d, &out->service);
        } else if (PYTHIA_TEXT_IS(member, "ipv4") ||
                   (PYTHIA_TEXT_IS(member, "ipv6") && !out->address)) {
            status = pythia__read_any_key(&z->d, &out->address);
        } else if (PYTHIA_TEXT_IS(member, "port")) {
            status = pythia__read_scalar(&z->d, &value);
            if (status != PYTHIA_OK)
                return status;
            if (value.kind == PYTHIA_JSON_INTEGER)
                out->port = value.integer;
        } else {
            status = pythia_json_skip(z->d.json);
        }
    }
    return status;
}

static bool is_same_endpoint(const struct endpoint *a, const struct endpoint *b)
{
    return a->service == b->service && a->address == b->address && a->port == b->port;
}

/* Find the process at an endpoint: its address is its host, and its port distinguishes it from
 * others there. A few endpoints occur in most spans, so that they are cached. */
static int find_endpoint_resource(struct zipkin *z, const struct endpoint *e, uint32_t *out)
{
    uint64_t hash = pythia_hash_mix(pythia_hash_mix(e->service, e->address), (uint64_t)e->port);
    struct resource_entry *entry = &z->resources[hash % RESOURCES];
    if (!entry->endpoint.seen || !is_same_endpoint(&entry->endpoint, e)) {
        struct pythia_resource resource = {.service = e->service, .host = e->address};
        if (e->port) {
            struct pythia_buf *name = &z->d.name;
            pythia_buf_clear(name);
            pythia_buf_printf(name, "%lld", (long long)e->port);
            resource.instance = pythia_vocabulary_string(z->d.vocabulary, pythia_buf_text(name));
        }
        uint32_t number = resource.instance == PYTHIA_NONE
                              ? PYTHIA_NONE
                              : pythia_vocabulary_resource(z->d.vocabulary, &resource);
        if (number == PYTHIA_NONE)
            return PYTHIA_ENOMEM;
        *entry = (struct resource_entry){*e, number};
        entry->endpoint.seen = true;
    }
    *out = entry->resource;
    return PYTHIA_OK;
}

/* Add the attributes of the endpoint that the span talked to. */
static void add_peer(struct zipkin *z, const struct endpoint *e)
{
    const struct pythia_vocabulary *v = z->d.vocabulary;
    if (e->service)
        pythia__add_text(&z->d, z->peer.service, pythia_vocabulary_text(v, e->service));
    if (e->address)
        pythia__add_text(&z->d, z->peer.address, pythia_vocabulary_text(v, e->address));
    if (e->port)
        pythia_attributes_integer(&z->d.attributes, z->peer.port, e->port);
}

/* ---- tags and annotations ---- */

/* Zipkin's values are strings, all of them: what is written as a number, or as a truth, is one. */
static void add_tag_text(struct zipkin *z, uint32_t key, struct pythia_text text)
{
    struct pythia_json_value value;
    if (pythia_json_number(text, &value) && value.kind == PYTHIA_JSON_INTEGER)
        pythia_attributes_integer(&z->d.attributes, key, value.integer);
    else if (pythia_json_number(text, &value))
        pythia_attributes_real(&z->d.attributes, key, value.real);
    else if (PYTHIA_TEXT_IS(text, "true") || PYTHIA_TEXT_IS(text, "false"))
        pythia_attributes_bool(&z->d.attributes, key, text.size == 4);
    else
        pythia__add_text(&z->d, key, text);
}

/* Add the next value under the key `name`. */
static int add_zipkin_tag(struct zipkin *z, struct pythia_text name)
{
    struct pythia_text text;
    int c = pythia_json_peek(z->d.json);
    if (c != '"')
        return c < 0 ? c : pythia__add_value(&z->d, name);
    uint32_t key = pythia__key(&z->d, name);
    if (key == PYTHIA_NONE)
        return PYTHIA_ENOMEM;
    int status = pythia_json_string(z->d.json, &text);
    if (status != PYTHIA_OK)
        return status;
    add_tag_text(z, key, text);
    return PYTHIA_OK;
}

static int read_zipkin_tags(struct zipkin *z, struct pythia_span *span)
{
    struct pythia_text name;
    int status = pythia__enter_object(&z->d);
    while (pythia_json_next_field(z->d.json, &name, &status)) {
        span->error |= PYTHIA_TEXT_IS(name, "error"); /* whatever it says */
        status = add_zipkin_tag(z, name);
    }
    return status;
}

/* {"timestamp", "value", "endpoint"}, or {"key", "value", "endpoint"} of v1; text is borrowed from
 * the record. */
struct annotation {
    struct pythia_text key, text;
    const uint32_t *value; /* where its value stands */
    uint64_t at_ns;
    struct endpoint endpoint;
    bool has_time;
};

/* Both kinds of annotation have the same members but one, so that one function reads both. */
static int read_annotation(struct zipkin *z, struct annotation *a)
{
    struct pythia_json *json = z->d.json;
    struct pythia_text member;
    *a = (struct annotation){.key = {"", 0}, .text = {"", 0}};
    int status = pythia__enter_object(&z->d);
    while (pythia_json_next_field(json, &member, &status)) {
        if (PYTHIA_TEXT_IS(member, "timestamp")) {
            a->has_time = true;
            status = pythia__read_time_us(&z->d, &a->at_ns);
        } else if (PYTHIA_TEXT_IS(member, "value")) {
            a->value = pythia_json_mark(json);
            status = pythia__read_text(&z->d, &a->text);
        } else if (PYTHIA_TEXT_IS(member, "key")) {
            status = pythia__read_text(&z->d, &a->key);
        } else if (PYTHIA_TEXT_IS(member, "endpoint")) {
            status = read_endpoint(z, &a->endpoint);
        } else {
            status = pythia_json_skip(json);
        }
    }
    return status;
}

/* Find which of v1's moments an annotation is; CORES: none. */
static enum core find_core(struct pythia_text text)
{
    static const char names[CORES][3] = {"cs", "cr", "sr", "ss", "ms", "mr"};
    for (int i = 0; i < CORES; i++)
        if (text.size == 2 && text.bytes[0] == names[i][0] && text.bytes[1] == names[i][1])
            return (enum core)i;
    return CORES;
}

static void note_endpoint(struct reading *r, const struct endpoint *e)
{
    if (e->seen && !r->any.seen)
        r->any = *e;
}

/* Find what the annotations say about the span's times and endpoints. */
static int scan_annotations(struct zipkin *z, struct reading *r)
{
    struct annotation a;
    int status = pythia__enter_array(&z->d);
    while (pythia_json_next_element(z->d.json, &status)) {
        status = read_annotation(z, &a);
        if (status != PYTHIA_OK)
            return status;
        if (!a.has_time)
            continue;
        r->first_ns = a.at_ns < r->first_ns ? a.at_ns : r->first_ns;
        note_endpoint(r, &a.endpoint);
        enum core core = find_core(a.text);
        if (core == CORES || r->core[core].seen)
            continue;
        r->core[core] = (struct moment){a.at_ns, a.endpoint, true};
        r->moments = true;
    }
    return status;
}

static bool is_other_side(struct pythia_text key)
{
    return PYTHIA_TEXT_IS(key, "sa") || PYTHIA_TEXT_IS(key, "ca") || PYTHIA_TEXT_IS(key, "ma");
}

/* Find where a span of v1 was if no moment says so. */
static int scan_binary_annotations(struct zipkin *z, struct reading *r)
{
    struct annotation a;
    int status = pythia__enter_array(&z->d);
    while (pythia_json_next_element(z->d.json, &status)) {
        status = read_annotation(z, &a);
        if (status != PYTHIA_OK)
            return status;
        if (!is_other_side(a.key))
            note_endpoint(r, &a.endpoint);
    }
    return status;
}

/* ---- passing on ---- */

/* One span to be passed on: all of it, or one half of a span of v1. */
struct half {
    struct pythia_span span;
    struct endpoint endpoint;
};

/* Does an annotation at `e` belong to half number `which`? One that is at neither endpoint, or at
 * both, belongs to the first half. */
static bool is_half_annotation(const struct half *halves, int count, int which,
                               const struct endpoint *e)
{
    if (count == 1)
        return true;
    bool second = e->seen && is_same_endpoint(e, &halves[1].endpoint) &&
                  !is_same_endpoint(e, &halves[0].endpoint);
    return second == (which == 1);
}

static int add_zipkin_event(struct zipkin *z, struct pythia_text name)
{
    uint32_t key = pythia__key_below(&z->d, PYTHIA_TEXT("event"), name);
    if (key == PYTHIA_NONE)
        return PYTHIA_ENOMEM;
    pythia_attributes_bool(&z->d.attributes, key, true);
    return PYTHIA_OK;
}

/* Add the annotations that are no moments as events, as OTLP's are. */
static int add_events(struct zipkin *z, const struct reading *r, const struct half *halves,
                      int count, int which)
{
    struct annotation a;
    int status = pythia__enter_array(&z->d);
    while (pythia_json_next_element(z->d.json, &status)) {
        status = read_annotation(z, &a);
        if (status != PYTHIA_OK)
            return status;
        bool moment = r->v1 && find_core(a.text) < CORES;
        if (a.text.size == 0 || moment || !is_half_annotation(halves, count, which, &a.endpoint))
            continue;
        if (pythia__event_begin(&z->d))
            status = add_zipkin_event(z, a.text);
        pythia__event_end(&z->d);
    }
    return status;
}

/* Add a key-value of v1 to the attributes. The address of the other side belongs to the half that
 * is not there: "ca" to a half that was called (`server`), the others to one that called. */
static int add_binary_annotation(struct zipkin *z, struct pythia_span *span, bool server,
                                 const struct annotation *a)
{
    if (is_other_side(a->key)) {
        if (server == PYTHIA_TEXT_IS(a->key, "ca"))
            add_peer(z, &a->endpoint);
        return PYTHIA_OK;
    }
    if (!a->value || PYTHIA_TEXT_IS(a->key, "lc"))
        return PYTHIA_OK;
    span->error |= PYTHIA_TEXT_IS(a->key, "error");
    const uint32_t *behind = pythia_json_mark(z->d.json);
    pythia_json_again(z->d.json, a->value);
    int status = add_zipkin_tag(z, a->key);
    pythia_json_again(z->d.json, behind);
    return status;
}

static int add_binary_annotations(struct zipkin *z, struct half *halves, int count, int which)
{
    struct annotation a;
    struct pythia_span *span = &halves[which].span;
    bool server = span->kind == PYTHIA_SPAN_SERVER || span->kind == PYTHIA_SPAN_CONSUMER;
    int status = pythia__enter_array(&z->d);
    while (pythia_json_next_element(z->d.json, &status)) {
        status = read_annotation(z, &a);
        if (status != PYTHIA_OK)
            return status;
        if (is_other_side(a.key) || is_half_annotation(halves, count, which, &a.endpoint))
            status = add_binary_annotation(z, span, server, &a);
    }
    return status;
}

/* Emit one half, with what the decoder has collected for it so far and its annotations, which are
 * read once for each half: only then is it known which half an annotation belongs to. */
static int emit_half(struct zipkin *z, const struct reading *r, struct half *halves, int count,
                     int which)
{
    struct pythia_json *json = z->d.json;
    struct half *half = &halves[which];
    struct pythia_span *span = &half->span;
    const uint32_t *after = pythia_json_mark(json);
    if (r->annotations) {
        pythia_json_again(json, r->annotations);
        int status = add_events(z, r, halves, count, which);
        pythia_json_again(json, after);
        if (status != PYTHIA_OK)
            return status;
    }
    if (r->binary_annotations) {
        pythia_json_again(json, r->binary_annotations);
        int status = add_binary_annotations(z, halves, count, which);
        pythia_json_again(json, after);
        if (status != PYTHIA_OK)
            return status;
    }
    int status = find_endpoint_resource(z, &half->endpoint, &span->resource);
    if (status != PYTHIA_OK)
        return status;
    span->shared = span->shared || span->kind == PYTHIA_SPAN_SERVER || which == 1;
    span->relation = span->kind == PYTHIA_SPAN_SERVER     ? PYTHIA_RELATION_CALL
                     : span->kind == PYTHIA_SPAN_CONSUMER ? PYTHIA_RELATION_SPAWN
                                                          : PYTHIA_RELATION_UNKNOWN;
    span->tracepoint = pythia__tracepoint(&z->d, half->endpoint.service, 0, r->name);
    if (span->tracepoint == PYTHIA_NONE)
        return PYTHIA_ENOMEM;
    pythia__set_apart(&r->trace, span);
    return pythia__emit(&z->d, &r->trace, span);
}

/* ---- the halves of v1 ---- */

/* Make the half between two moments; `first`: the times of the object itself are its own. A half
 * whose end is missing is not finished, as a span without a duration is not. */
static struct half make_half(const struct reading *r, enum pythia_span_kind kind, enum core from,
                             enum core to, bool first)
{
    const struct moment *begin = &r->core[from], *end = &r->core[to];
    struct half half = {.span = r->span, .endpoint = r->any};
    struct pythia_span *span = &half.span;
    span->kind = kind;
    if (begin->endpoint.seen || end->endpoint.seen)
        half.endpoint = begin->endpoint.seen ? begin->endpoint : end->endpoint;
    if (!first || !r->has_start)
        span->start_ns = begin->seen ? begin->at_ns : end->at_ns;
    if (first && r->has_duration)
        return half;
    span->part = end->seen ? PYTHIA_PART_WHOLE : PYTHIA_PART_START;
    span->duration_ns = end->seen ? (int64_t)(end->at_ns - span->start_ns) : 0;
    return half;
}

/* Make the one or two spans that an object of v1 is. */
static int split_halves(const struct reading *r, struct half *halves)
{
    static const struct {
        enum pythia_span_kind kind;
        enum core from, to;
    } kinds[] = {{PYTHIA_SPAN_CLIENT, CS, CR},
                 {PYTHIA_SPAN_SERVER, SR, SS},
                 {PYTHIA_SPAN_PRODUCER, MS, MS},
                 {PYTHIA_SPAN_CONSUMER, MR, MR}};
    int count = 0;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && count < 2; i++)
        if (r->core[kinds[i].from].seen || r->core[kinds[i].to].seen) {
            halves[count] = make_half(r, kinds[i].kind, kinds[i].from, kinds[i].to, count == 0);
            count++;
        }
    if (count == 0)
        halves[count++] = (struct half){.span = r->span, .endpoint = r->any};
    return count;
}

/* ---- spans ---- */

/* Read a member of v2 or v1. Annotations are only marked: which half they belong to is known when
 * all of the span has been read. */
static int read_zipkin_member(struct zipkin *z, struct pythia_text member, struct reading *r)
{
    struct pythia_json *json = z->d.json;
    struct pythia_trace_id id = {0, 0};
    struct endpoint remote;
    int status;
    if (PYTHIA_TEXT_IS(member, "traceId"))
        return read_zipkin_id(z, "traceId", 32, &r->trace);
    if (PYTHIA_TEXT_IS(member, "id")) {
        status = read_zipkin_id(z, "id", 16, &id);
        r->span.id = id.low;
        return status;
    }
    if (PYTHIA_TEXT_IS(member, "parentId"))
        return read_parent(z, &r->span.parent);
    if (PYTHIA_TEXT_IS(member, "name"))
        return pythia__read_any_key(&z->d, &r->name);
    if (PYTHIA_TEXT_IS(member, "kind"))
        return read_zipkin_kind(z, &r->span);
    if (PYTHIA_TEXT_IS(member, "timestamp")) {
        r->has_start = true;
        return pythia__read_time_us(&z->d, &r->span.start_ns);
    }
    if (PYTHIA_TEXT_IS(member, "duration")) {
        r->has_duration = true;
        return pythia__read_duration_us(&z->d, &r->span.duration_ns);
    }
    if (PYTHIA_TEXT_IS(member, "shared"))
        return read_zipkin_bool(z, &r->span.shared);
    if (PYTHIA_TEXT_IS(member, "localEndpoint"))
        return read_endpoint(z, &r->local);
    if (PYTHIA_TEXT_IS(member, "remoteEndpoint")) {
        status = read_endpoint(z, &remote);
        if (status != PYTHIA_OK)
            return status;
        add_peer(z, &remote);
        return PYTHIA_OK;
    }
    if (PYTHIA_TEXT_IS(member, "tags"))
        return read_zipkin_tags(z, &r->span);
    if (PYTHIA_TEXT_IS(member, "annotations"))
        r->annotations = pythia_json_mark(json);
    else if (PYTHIA_TEXT_IS(member, "binaryAnnotations"))
        r->binary_annotations = pythia_json_mark(json);
    return pythia_json_skip(json);
}

/* Find what the annotations say about the span itself: when it began, and, in v1, nearly
 * everything. */
static int scan_all_annotations(struct zipkin *z, struct reading *r)
{
    const uint32_t *after = pythia_json_mark(z->d.json);
    int status = PYTHIA_OK;
    if (r->annotations) {
        pythia_json_again(z->d.json, r->annotations);
        status = scan_annotations(z, r);
        if (status != PYTHIA_OK)
            goto out;
    }
    if (r->binary_annotations) {
        pythia_json_again(z->d.json, r->binary_annotations);
        status = scan_binary_annotations(z, r);
        if (status != PYTHIA_OK)
            goto out;
    }
    r->v1 = !r->local.seen && r->span.kind == PYTHIA_SPAN_UNKNOWN &&
            (r->any.seen || r->binary_annotations);
    r->moments = r->moments && r->v1;
    if (!r->has_start && r->first_ns != UINT64_MAX && !r->moments) {
        r->has_start = true;
        r->span.start_ns = r->first_ns;
    }
out:
    pythia_json_again(z->d.json, after);
    return status;
}

/* Emit the span, or both halves of one of v1. Without any time the object only adds to another
 * span. All times are checked before the first half is emitted: a record is read as a whole or not
 * at all. */
static int emit_halves(struct zipkin *z, const struct reading *r)
{
    struct half halves[2] = {{.span = r->span, .endpoint = r->local}};
    int count = r->v1 ? split_halves(r, halves) : 1;
    bool timed =
        r->has_start || halves[0].span.kind != r->span.kind; /* a half has at least one moment */
    if (!timed) {
        halves[0].span.part = PYTHIA_PART_ADDITION;
        halves[0].span.duration_ns = 0;
    }
    for (int i = 0; i < count; i++) {
        const struct pythia_span *span = &halves[i].span;
        if (span->duration_ns > 0 &&
            span->start_ns > PYTHIA__TIME_MAX - (uint64_t)span->duration_ns)
            return pythia__unfit(&z->d, "a span that ends after the year 2262");
    }
    for (int i = 0; i < count; i++) {
        int status = emit_half(z, r, halves, count, i);
        pythia_buf_clear(&z->d.attributes);
        if (status != PYTHIA_OK)
            return status;
    }
    return PYTHIA_OK;
}

static int read_zipkin_span(struct pythia__decoder *d, void *context)
{
    (void)context;
    struct zipkin *z = (struct zipkin *)d;
    struct reading r = {.first_ns = UINT64_MAX};
    struct pythia_text member;
    pythia__span_begin(d);
    int status = pythia_json_object(d->json);
    while (pythia_json_next_field(d->json, &member, &status))
        status = read_zipkin_member(z, member, &r);
    if (status != PYTHIA_OK)
        return status;
    if (!(r.trace.high | r.trace.low) || !r.span.id)
        return pythia__unfit(d, r.span.id ? "a span without traceId" : "a span without id");
    r.span.part = r.has_duration ? PYTHIA_PART_WHOLE : PYTHIA_PART_START;
    status = scan_all_annotations(z, &r);
    if (status != PYTHIA_OK)
        return status;
    return emit_halves(z, &r);
}

/* ---- documents ---- */

static int read_zipkin_spans(struct zipkin *z)
{
    int status = pythia_json_array(z->d.json);
    while (pythia_json_next_element(z->d.json, &status)) {
        status = pythia__is(&z->d, '{');
        if (status == 1)
            status = pythia__record(&z->d, read_zipkin_span, NULL);
    }
    return status;
}

static int read_zipkin_document(struct pythia__decoder *d)
{
    struct zipkin *z = (struct zipkin *)d;
    int c = pythia_json_peek(d->json);
    if (c == '{')
        return pythia__record(d, read_zipkin_span, NULL);
    int status = pythia__is(d, '[');
    if (status != 1)
        return status;
    status = pythia_json_array(d->json);
    while (pythia_json_next_element(d->json, &status)) {
        c = pythia_json_peek(d->json);
        if (c == '[') { /* one trace of several */
            status = read_zipkin_spans(z);
            continue;
        }
        status = pythia__is(d, '{');
        if (status == 1)
            status = pythia__record(d, read_zipkin_span, NULL);
    }
    return status;
}

/* ---- the row ---- */

static int zipkin_likeness(const struct pythia_head *head)
{
    static const char *const others[] = {"parentId", "timestamp", "localEndpoint", "annotations",
                                         "binaryAnnotations"};
    int how_much = 0;
    for (int depth = 1; depth <= 3; depth++) {
        if (!pythia__outlined(head->outline, depth, "traceId") ||
            pythia__outlined(head->outline, depth, "spanId"))
            continue; /* OpenTelemetry's and Jaeger's spans have a spanId */
        for (size_t i = 0; i < sizeof(others) / sizeof(others[0]) && how_much == 0; i++)
            if (pythia__outlined(head->outline, depth, others[i]))
                how_much = 60; /* cut off in its first span */
        if (pythia__outlined(head->outline, depth, "id"))
            how_much = 90;
    }
    return how_much;
}

static void destroy_zipkin(struct pythia_adapter *a)
{
    struct zipkin *z = (struct zipkin *)a;
    if (!z)
        return;
    pythia__decoder_free(&z->d);
    pythia_free(z);
}

static int create_zipkin(struct pythia_vocabulary *vocabulary, struct pythia_adapter **out)
{
    struct zipkin *z = pythia_calloc(1, sizeof(*z));
    if (!z)
        return PYTHIA_ENOMEM;
    pythia__decoder_init(&z->d, &pythia__zipkin, vocabulary);
    z->peer = (struct peer_keys){
        .service = pythia_vocabulary_string(vocabulary, PYTHIA_TEXT("peer.service")),
        .address = pythia_vocabulary_string(vocabulary, PYTHIA_TEXT("peer.address")),
        .port = pythia_vocabulary_string(vocabulary, PYTHIA_TEXT("peer.port"))};
    if (z->peer.service == PYTHIA_NONE || z->peer.address == PYTHIA_NONE ||
        z->peer.port == PYTHIA_NONE) {
        destroy_zipkin(&z->d.adapter);
        return PYTHIA_ENOMEM;
    }
    *out = &z->d.adapter;
    return PYTHIA_OK;
}

static int decode_zipkin(struct pythia_adapter *a, struct pythia_source *from,
                         struct pythia_sink *to, struct pythia_error *e)
{
    return pythia__decode((struct pythia__decoder *)a, from, to, read_zipkin_document, e);
}

static void count_zipkin(struct pythia_span_count *c, const char *bytes, size_t size)
{
    pythia__count_json_spans(c, "{", bytes, size);
}

const struct pythia_adapter_ops pythia__zipkin = {
    .name = "zipkin",
    .help = "Zipkin, JSON of version 2 or 1: an array of spans, or of arrays; also one a line",
    .likeness = zipkin_likeness,
    .create = create_zipkin,
    .decode = decode_zipkin,
    .destroy = destroy_zipkin,
    .independent = true,
    .division = PYTHIA_DIVISION_SPANS,
    .count = count_zipkin,
};
