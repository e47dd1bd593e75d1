/* Jaeger's JSON: what its API answers and its user interface exports and takes (jaegertracing.io):
 *
 *     {"data": [{"traceID", "spans": [span, …],
 *                "processes": {"p1": {"serviceName", "tags"}, …}}, …]}
 *
 * Also one trace by itself, traces in an array or one a line, and spans one a line as they are kept
 * in Elasticsearch, with their process inside. A span names its process, which usually comes after
 * it: the spans of one trace are held until its processes are known.
 *
 * Rows of the table `traces` in Cassandra, as SELECT JSON gives them, are spans as well, under
 * other names and with other ids: a blob "0x…" for the trace, a signed number for a span. They may
 * stand in the table that cqlsh prints (cqlsh_table.h).
 *
 *     {"trace_id", "span_id", "parent_id", "operation_name", "start_time", "duration",
 *      "tags": [{"key", "value_type", "value_string", "value_long", …}],
 *      "logs": [{"ts", "fields"}],
 *      "refs": [{"ref_type", "trace_id", "span_id"}], "process": {"service_name", "tags"}}
 *
 * A third form is that of the model's Protocol Buffers as JSON, which Jaeger writes to Kafka and
 * its tools write from any storage: ids in base64, dates, seconds with a unit, a member per type of
 * a tag's value; values that are 0 or the first of their kind are left out.
 *
 *     {"traceId", "spanId", "operationName", "references": [{"refType", "traceId", "spanId"}],
 *      "startTime": "2023-12-01T10:47:45.853Z", "duration": "0.0012s",
 *      "tags": [{"key", "vType": "INT64", "vInt64": "88"}], "logs",
 *      "process": {"serviceName", "tags"}}
 *
 * Ids are hexadecimal numbers of up to 128 bits, without leading zeros in old versions; anything
 * else (made anonymous, written by hand) counts by its hash. A parent called "root" is none. Nested
 * copies of the parent, which the user interface puts into "references", are passed over. */
#include <math.h>
#include <string.h>

#include "cqlsh_table.h"
#include "jaeger_parts.h"
#include "pythia/mem.h"
#include "shared/formats.h"

#define NO_PROCESS 0

/* ---- processes ---- */

static bool is_process(const void *reader, uint32_t index, const void *id)
{
    return ((const struct pythia__jaeger_reader *)reader)->processes[index].id ==
           *(const uint32_t *)id;
}

/* The process with the number `id`, or NULL. */
static struct pythia__jaeger_process *find_process(const struct pythia__jaeger_reader *j,
                                                   uint32_t id)
{
    uint32_t found = pythia_hash_table_find(&j->processes_by_id, id, is_process, j, &id);
    return found == PYTHIA_HASH_TABLE_NONE ? NULL : &j->processes[found];
}

/* Note a process of the current trace; one of the same name replaces the one before. */
static int add_process(struct pythia__jaeger_reader *j, uint32_t id, uint32_t resource)
{
    struct pythia__jaeger_process *known = find_process(j, id);
    if (known) {
        known->resource = resource;
        return PYTHIA_OK;
    }
    if (pythia_grow(&j->processes, &j->process_capacity, j->process_count, sizeof(*j->processes)) !=
            PYTHIA_OK ||
        pythia_hash_table_add(&j->processes_by_id, id, (uint32_t)j->process_count) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    j->processes[j->process_count++] = (struct pythia__jaeger_process){id, resource};
    return PYTHIA_OK;
}

/* The resource of a process; 0 if nobody described it. */
static uint32_t resource_of_process(const struct pythia__jaeger_reader *j, uint32_t id)
{
    const struct pythia__jaeger_process *p = find_process(j, id);
    return p ? p->resource : 0;
}

static uint32_t find_process_text(struct pythia__jaeger_reader *j, uint32_t first, uint32_t second)
{
    struct pythia_text attributes = pythia_buf_text(&j->d.attributes);
    struct pythia_attribute found;
    if (!pythia_attributes_find(attributes, first, &found) &&
        !pythia_attributes_find(attributes, second, &found))
        return 0;
    return found.kind == PYTHIA_ATTRIBUTE_TEXT
               ? pythia_vocabulary_string(j->d.vocabulary, found.text)
               : 0;
}

/* Read a process, {"serviceName", "tags"}, to its resource. The tags are collected in the buffer of
 * the decoder, where rules for redaction apply to them as to a span's. */
static int read_jaeger_process(struct pythia__jaeger_reader *j, uint32_t *out)
{
    struct pythia_resource resource = {0};
    struct pythia_text member;
    pythia_buf_clear(&j->d.attributes);
    int status = pythia__enter_object(&j->d);
    while (pythia_json_next_field(j->d.json, &member, &status)) {
        if (PYTHIA_TEXT_IS(member, "serviceName") || PYTHIA_TEXT_IS(member, "service_name"))
            status = pythia__read_any_key(&j->d, &resource.service);
        else
            status = PYTHIA_TEXT_IS(member, "tags") ? pythia__jaeger_read_tags(j, NULL)
                                                    : pythia_json_skip(j->d.json);
    }
    if (status != PYTHIA_OK)
        return status;
    if (pythia_buf_status(&j->d.attributes) != PYTHIA_OK) {
        j->d.attributes.failed = 0;
        return PYTHIA_ENOMEM;
    }
    if (pythia__complete_resource(&j->d) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    resource.host = find_process_text(j, j->key_hostname, j->key_host);
    resource.instance = find_process_text(j, j->key_instance, j->key_ip);
    resource.attributes = pythia_buf_text(&j->d.attributes);
    if (resource.host == PYTHIA_NONE || resource.instance == PYTHIA_NONE)
        return PYTHIA_ENOMEM;
    *out = pythia_vocabulary_resource(j->d.vocabulary, &resource);
    return *out == PYTHIA_NONE ? PYTHIA_ENOMEM : PYTHIA_OK;
}

/* Read a process inside a span, whose attributes are put aside meanwhile. */
static int read_own_process(struct pythia__jaeger_reader *j, struct pythia__jaeger_span *r)
{
    struct pythia_buf of_span = j->d.attributes;
    j->d.attributes = j->aside;
    int status = read_jaeger_process(j, &r->out.span.resource);
    j->aside = j->d.attributes;
    j->d.attributes = of_span;
    r->has_process = status == PYTHIA_OK;
    return status;
}

/* ---- spans ---- */

struct reference {
    struct pythia_trace_id trace, span;
    bool follows;
};

/* Read {"refType", "traceID", "spanID", "span"} in the spelling of any of the three forms; the last
 * is the user interface's copy of the parent. */
static int read_reference(struct pythia__jaeger_reader *j, struct reference *out)
{
    struct pythia_text member, text = {"", 0};
    *out = (struct reference){0};
    int status = pythia__enter_object(&j->d);
    while (pythia_json_next_field(j->d.json, &member, &status)) {
        if (PYTHIA_TEXT_IS(member, "refType")) {
            status = pythia__read_text(&j->d, &text);
            out->follows = PYTHIA_TEXT_IS(text, "FOLLOWS_FROM");
        } else if (PYTHIA_TEXT_IS(member, "ref_type")) {
            status = pythia__read_text(&j->d, &text);
            out->follows = PYTHIA_TEXT_IS(text, "follows-from");
        } else if (PYTHIA_TEXT_IS(member, "trace_id")) {
            status = pythia__jaeger_read_blob(j, &out->trace);
        } else if (PYTHIA_TEXT_IS(member, "span_id")) {
            status = pythia__jaeger_read_number_id(j, &out->span);
        } else if (PYTHIA_TEXT_IS(member, "traceId")) {
            status = pythia__jaeger_read_model_id(j, 16, &out->trace);
        } else if (PYTHIA_TEXT_IS(member, "spanId")) {
            status = pythia__jaeger_read_model_id(j, 8, &out->span);
        } else if (PYTHIA_TEXT_IS(member, "traceID")) {
            status = pythia__jaeger_read_id(j, &out->trace);
        } else if (PYTHIA_TEXT_IS(member, "spanID")) {
            status = pythia__read_text(&j->d, &text);
            out->span = PYTHIA_TEXT_IS(text, "root") ? (struct pythia_trace_id){0, 0}
                                                     : pythia__jaeger_parse_id(text);
        } else {
            status = pythia_json_skip(j->d.json);
        }
    }
    return status;
}

/* The span becomes a child of `parent`, unless it has another one already. */
static void take_parent(struct pythia__jaeger_span *r, struct pythia_trace_id parent, bool follows,
                        bool *several)
{
    struct pythia_span *span = &r->out.span;
    uint64_t id = pythia_span_id_fold(parent.high, parent.low);
    if (pythia__jaeger_is_none(parent) || id == span->parent)
        return;
    if (span->parent) {
        *several = true;
        return;
    }
    span->parent = id;
    span->relation = follows || span->kind == PYTHIA_SPAN_CONSUMER ? PYTHIA_RELATION_SPAWN
                                                                   : PYTHIA_RELATION_CALL;
}

/* Read references that are none, or one as Jaeger's API writes it; one too many for the limits is
 * none. False if they are written otherwise, and nothing has been read. */
static bool read_plain_reference(struct pythia__jaeger_reader *j, struct reference *out)
{
    struct pythia_json_scalar found[3];
    const uint32_t *begin = pythia_json_mark(j->d.json);
    *out = (struct reference){0};
    if (pythia_json_match(j->d.json, "[]", found))
        return true;
    if (!pythia_json_match(j->d.json, "[{\"refType\":$,\"traceID\":$,\"spanID\":$}]", found))
        return false;
    if (!found[0].quoted || !found[1].quoted || !found[2].quoted ||
        PYTHIA_TEXT_IS(found[2].text, "root")) {
        pythia_json_again(j->d.json, begin);
        return false;
    }
    if (pythia__link(&j->d)) {
        out->follows = PYTHIA_TEXT_IS(found[0].text, "FOLLOWS_FROM");
        out->trace = pythia__jaeger_parse_id(found[1].text);
        out->span = pythia__jaeger_parse_id(found[2].text);
    }
    return true;
}

/* Take the span that is referred to as the parent, if it is in the same trace. */
static void take_reference(const struct pythia__jaeger_reader *j, struct pythia__jaeger_span *r,
                           const struct reference *reference, bool *several)
{
    struct pythia_trace_id trace = pythia__jaeger_is_none(r->out.trace) ? j->trace : r->out.trace;
    if (pythia__jaeger_is_none(reference->trace) || pythia__jaeger_is_none(trace) ||
        pythia_trace_id_equal(reference->trace, trace))
        take_parent(r, reference->span, reference->follows, several);
}

/* Read the array of references at hand. */
static int read_references(struct pythia__jaeger_reader *j, struct pythia__jaeger_span *r,
                           bool *several)
{
    struct pythia_json *json = j->d.json;
    struct reference reference;
    if (read_plain_reference(j, &reference)) {
        take_reference(j, r, &reference, several);
        return PYTHIA_OK;
    }
    int status = pythia__enter_array(&j->d);
    while (pythia_json_next_element(json, &status)) {
        if (!pythia__link(&j->d)) {
            status = pythia_json_skip(json);
            continue;
        }
        status = read_reference(j, &reference);
        if (status != PYTHIA_OK)
            return status;
        take_reference(j, r, &reference, several);
    }
    return status;
}

/* Find the parent, now that all of the span is known: the first reference to a span of the same
 * trace, else what older forms say in a member of their own. */
static int find_parent(struct pythia__jaeger_reader *j, struct pythia__jaeger_span *r)
{
    struct pythia_json *json = j->d.json;
    const uint32_t *after = pythia_json_mark(json);
    bool several = false;
    if (r->references) {
        pythia_json_again(json, r->references);
        int status = read_references(j, r, &several);
        pythia_json_again(json, after);
        if (status != PYTHIA_OK)
            return status;
    }
    if (r->parent.size && !PYTHIA_TEXT_IS(r->parent, "root"))
        take_parent(r, pythia__jaeger_parse_id(r->parent), false, &several);
    if (r->parent_id)
        take_parent(r, (struct pythia_trace_id){0, r->parent_id}, false, &several);
    j->d.to->counts->repaired[PYTHIA_REPAIR_SEVERAL_PARENTS] += several;
    return PYTHIA_OK;
}

/* Read a member that only a row of Cassandra has. */
static int read_row_member(struct pythia__jaeger_reader *j, struct pythia_text member,
                           struct pythia__jaeger_span *r)
{
    struct pythia_trace_id id;
    int status;
    if (PYTHIA_TEXT_IS(member, "trace_id"))
        return pythia__jaeger_read_blob(j, &r->out.trace);
    if (PYTHIA_TEXT_IS(member, "span_id")) {
        status = pythia__jaeger_read_number_id(j, &id);
        r->has_id = !pythia__jaeger_is_none(id);
        r->out.span.id = pythia_span_id_fold(id.high, id.low);
        return status;
    }
    if (PYTHIA_TEXT_IS(member, "parent_id")) {
        status = pythia__jaeger_read_number_id(j, &id);
        r->parent_id = id.low;
        return status;
    }
    if (PYTHIA_TEXT_IS(member, "operation_name"))
        return pythia__read_any_key(&j->d, &r->out.name);
    if (PYTHIA_TEXT_IS(member, "start_time")) {
        r->has_start = true;
        return pythia__read_time_us(&j->d, &r->out.span.start_ns);
    }
    if (PYTHIA_TEXT_IS(member, "refs"))
        r->references = pythia_json_mark(j->d.json);
    return pythia_json_skip(j->d.json);
}

/* A member of one of the three forms; those of rows, which are rare, are looked for last. */
static int read_jaeger_member(struct pythia__jaeger_reader *j, struct pythia_text member,
                              struct pythia__jaeger_span *r)
{
    struct pythia_json *json = j->d.json;
    struct pythia_span *span = &r->out.span;
    struct pythia_trace_id id;
    int status;
    if (PYTHIA_TEXT_IS(member, "tags"))
        return pythia__jaeger_read_tags(j, r);
    if (PYTHIA_TEXT_IS(member, "traceID"))
        return pythia__jaeger_read_id(j, &r->out.trace);
    if (PYTHIA_TEXT_IS(member, "traceId"))
        return pythia__jaeger_read_model_id(j, 16, &r->out.trace);
    if (PYTHIA_TEXT_IS(member, "spanID") || PYTHIA_TEXT_IS(member, "spanId")) {
        status = PYTHIA_TEXT_IS(member, "spanId") ? pythia__jaeger_read_model_id(j, 8, &id)
                                                  : pythia__jaeger_read_id(j, &id);
        r->has_id = !pythia__jaeger_is_none(id);
        span->id = pythia_span_id_fold(id.high, id.low);
        return status;
    }
    if (PYTHIA_TEXT_IS(member, "operationName"))
        return pythia__read_any_key(&j->d, &r->out.name);
    if (PYTHIA_TEXT_IS(member, "references")) {
        r->references = pythia_json_mark(json);
        return pythia_json_skip(json);
    }
    if (PYTHIA_TEXT_IS(member, "parentSpanID"))
        return pythia__read_text(&j->d, &r->parent);
    if (PYTHIA_TEXT_IS(member, "startTime")) {
        r->has_start = true;
        return pythia__jaeger_read_time(j, &span->start_ns);
    }
    if (PYTHIA_TEXT_IS(member, "duration")) {
        r->has_duration = true;
        return pythia__jaeger_read_duration(j, &span->duration_ns);
    }
    if (PYTHIA_TEXT_IS(member, "processID"))
        return pythia__read_any_key(&j->d, &r->out.process);
    if (PYTHIA_TEXT_IS(member, "process"))
        return read_own_process(j, r);
    return PYTHIA_TEXT_IS(member, "logs") ? pythia__jaeger_read_logs(j)
                                          : read_row_member(j, member, r);
}

/* Complete a span, now that its trace and its process are known. The resource of a process without
 * a description stays unknown. */
static int complete_jaeger_span(struct pythia__jaeger_reader *j, struct pythia__held_span *s)
{
    if (s->process != NO_PROCESS)
        s->span.resource = resource_of_process(j, s->process);
    uint32_t service = pythia_vocabulary_resource_at(j->d.vocabulary, s->span.resource).service;
    s->span.tracepoint = pythia__tracepoint(&j->d, service, s->scope, s->name);
    pythia__set_apart(&s->trace, &s->span);
    return s->span.tracepoint == PYTHIA_NONE ? PYTHIA_ENOMEM : PYTHIA_OK;
}

/* Emit a span, or hold it until its trace and its process are known. */
static int place_span(struct pythia__jaeger_reader *j, struct pythia__jaeger_span *r)
{
    struct pythia__held_span *s = &r->out;
    if (pythia__jaeger_is_none(s->trace))
        s->trace = j->trace;
    if (r->has_process)
        s->process = NO_PROCESS;
    if (pythia__jaeger_is_none(s->trace) || (s->process != NO_PROCESS && !j->processes_known))
        return pythia__hold(&j->held, &j->d, s);
    int status = complete_jaeger_span(j, s);
    if (status != PYTHIA_OK)
        return status;
    return pythia__emit(&j->d, &s->trace, &s->span);
}

/* Ids, references and times are checked when all members have been read: their order is not fixed.
 */
static int read_jaeger_span(struct pythia__decoder *d, void *context)
{
    (void)context;
    struct pythia__jaeger_reader *j = (struct pythia__jaeger_reader *)d;
    struct pythia__jaeger_span r = {.parent = {"", 0}};
    struct pythia_text member;
    pythia__span_begin(d);
    int status = pythia_json_object(d->json);
    while (pythia_json_next_field(d->json, &member, &status))
        status = read_jaeger_member(j, member, &r);
    if (status != PYTHIA_OK)
        return status;
    if (!r.has_id || !r.has_start)
        return pythia__unfit(d, r.has_id ? "a span without startTime" : "a span without spanID");
    if (r.out.span.duration_ns > 0 &&
        r.out.span.start_ns > PYTHIA__TIME_MAX - (uint64_t)r.out.span.duration_ns)
        return pythia__unfit(d, "a span that ends after the year 2262");
    r.out.span.part = r.has_duration ? PYTHIA_PART_WHOLE : PYTHIA_PART_START;
    status = find_parent(j, &r);
    if (status != PYTHIA_OK)
        return status;
    return place_span(j, &r);
}

/* ---- traces ---- */

static void begin_trace(struct pythia__jaeger_reader *j)
{
    j->trace = (struct pythia_trace_id){0, 0};
    j->processes_known = false;
    j->process_count = 0;
    pythia_hash_table_clear(&j->processes_by_id);
    j->held.count = 0;
    pythia_buf_clear(&j->held.attributes);
}

/* Report a span whose trace is not known. The span itself is far behind the cursor, and the error
 * of the trace, if there is one, stays. */
static void report_homeless_span(struct pythia__jaeger_reader *j)
{
    struct pythia_error error = j->d.json->error;
    pythia_error_clear(&j->d.json->error);
    pythia_json_fail(j->d.json, PYTHIA_EFORMAT,
                     "a span without traceID in the trace that ends here");
    pythia__broken(&j->d);
    j->d.json->error = error;
}

/* Emit the spans that were held; also after a failure none stays held. */
static int emit_jaeger_held(struct pythia__jaeger_reader *j)
{
    int status = PYTHIA_OK;
    for (size_t i = 0; i < j->held.count; i++) {
        struct pythia__held_span *s = &j->held.spans[i];
        if (pythia__jaeger_is_none(s->trace))
            s->trace = j->trace;
        if (pythia__jaeger_is_none(s->trace)) {
            report_homeless_span(j);
            continue;
        }
        status = complete_jaeger_span(j, s);
        if (status != PYTHIA_OK)
            break;
        status = pythia__release(&j->held, &j->d, i);
        if (status != PYTHIA_OK)
            break;
    }
    j->held.count = 0;
    pythia_buf_clear(&j->held.attributes);
    return status;
}

/* End the current trace, whose reading ended with `status`: what was read of one that is cut off or
 * broken is emitted too. */
static int end_trace(struct pythia__jaeger_reader *j, int status)
{
    if (!pythia__goes_on(&j->d, status))
        return status;
    int settled = emit_jaeger_held(j);
    return status < 0 && pythia__goes_on(&j->d, settled) ? status : settled;
}

static int read_jaeger_spans(struct pythia__jaeger_reader *j)
{
    int status = pythia__enter_array(&j->d);
    while (pythia_json_next_element(j->d.json, &status))
        status = pythia__record(&j->d, read_jaeger_span, NULL);
    return status;
}

static int read_process_record(struct pythia__decoder *d, void *context)
{
    return read_jaeger_process((struct pythia__jaeger_reader *)d, context);
}

/* {"p1": process, …} */
static int read_processes(struct pythia__jaeger_reader *j)
{
    struct pythia_text name;
    int status = pythia__enter_object(&j->d);
    while (pythia_json_next_field(j->d.json, &name, &status)) {
        uint32_t resource = 0, id = pythia__key(&j->d, name);
        if (id == PYTHIA_NONE)
            return PYTHIA_ENOMEM;
        status = pythia__record(&j->d, read_process_record, &resource);
        if (status != PYTHIA_OK)
            return status;
        status = add_process(j, id, resource);
    }
    j->processes_known = status == PYTHIA_OK;
    return status;
}

static int read_jaeger_trace_id(struct pythia__jaeger_reader *j)
{
    return pythia__jaeger_read_id(j, &j->trace);
}

/* The parts of a trace that are not in its spans. */
static const struct {
    const char *name;
    int (*read)(struct pythia__jaeger_reader *j);
} trace_members[] = {
    {"spans", read_jaeger_spans}, {"processes", read_processes}, {"traceID", read_jaeger_trace_id}};

#define TRACE_MEMBERS (sizeof(trace_members) / sizeof(trace_members[0]))

/* One member of a trace; *known if it is one that a trace has. */
static int read_trace_member(struct pythia__jaeger_reader *j, struct pythia_text member,
                             bool *known)
{
    for (size_t i = 0; i < TRACE_MEMBERS; i++)
        if (pythia_text_equal(member, pythia_text_of(trace_members[i].name))) {
            *known = true;
            return trace_members[i].read(j);
        }
    return pythia_json_skip(j->d.json);
}

static int read_answer_data(struct pythia__jaeger_reader *j);

/* A trace, or an answer of the API around traces. */
static int read_jaeger_object(struct pythia__jaeger_reader *j, bool answer)
{
    struct pythia_text member;
    bool known = false;
    begin_trace(j);
    int status = pythia_json_object(j->d.json);
    while (pythia_json_next_field(j->d.json, &member, &status)) {
        if (!answer || !PYTHIA_TEXT_IS(member, "data")) {
            status = read_trace_member(j, member, &known);
            continue;
        }
        known = true;
        status = read_answer_data(j);
        begin_trace(j);
    }
    if (status == PYTHIA_OK)
        j->d.to->counts->dropped[PYTHIA_DROP_NOT_A_TRACE] += !known;
    return end_trace(j, status);
}

/* The traces of an answer: an array of them, or one alone. */
static int read_answer_data(struct pythia__jaeger_reader *j)
{
    int status = pythia_json_peek(j->d.json);
    if (status == '{')
        return read_jaeger_object(j, false);
    status = status < 0 ? status : pythia__enter_array(&j->d);
    while (pythia_json_next_element(j->d.json, &status)) {
        status = pythia__is(&j->d, '{');
        if (status == 1)
            status = read_jaeger_object(j, false);
    }
    return status;
}

/* ---- documents ---- */

/* Is the next value, an object, a span by itself? Elasticsearch's documents are, and nothing but
 * their members says so. An object that is cut off, or too large to look at as a whole, is taken
 * for a trace: 0. Negative on error. */
static int is_lone_span(struct pythia__jaeger_reader *j)
{
    struct pythia_json *json = j->d.json;
    struct pythia_text key = {"", 0};
    int status = pythia_json_first_key(json, &key);
    if (status < 0)
        return status;
    if (PYTHIA_TEXT_IS(key, "data"))
        return 0; /* an answer, of any size */
    status = pythia_json_whole(json);
    if (status < 0) {
        if (status == PYTHIA_EFORMAT || status == PYTHIA_ELIMIT)
            pythia_error_clear(&json->error); /* whoever reads it will get there */
        return json->error.status;
    }
    const uint32_t *mark = pythia_json_mark(json);
    bool span = false, trace = false;
    status = pythia_json_object(json);
    while (status == PYTHIA_OK && !span && !trace && pythia_json_field(json, &key) == 0) {
        span = PYTHIA_TEXT_IS(key, "spanID") || PYTHIA_TEXT_IS(key, "span_id") ||
               PYTHIA_TEXT_IS(key, "spanId");
        trace = PYTHIA_TEXT_IS(key, "data") || PYTHIA_TEXT_IS(key, "spans") ||
                PYTHIA_TEXT_IS(key, "processes");
        status = pythia_json_skip(json);
    }
    pythia_error_clear(&json->error);
    pythia_json_again(json, mark);
    return span;
}

static int read_any_object(struct pythia__decoder *d)
{
    struct pythia__jaeger_reader *j = (struct pythia__jaeger_reader *)d;
    int status = is_lone_span(j);
    if (status < 0)
        return status;
    if (status == 0)
        return read_jaeger_object(j, true);
    begin_trace(j);
    j->processes_known = true; /* nothing stands around it */
    return end_trace(j, pythia__record(&j->d, read_jaeger_span, NULL));
}

static int read_jaeger_document(struct pythia__decoder *d)
{
    return pythia__read_objects(d, read_any_object);
}

/* ---- the row ---- */

/* The members of the three forms are looked for at the depths where a trace, a span of it, or a row
 * may be; a table is judged by its first rows. */
static int jaeger_likeness(const struct pythia_head *head)
{
    struct pythia_buf of_rows = {0}, rows = {0};
    bool table = pythia__cqlsh_table_head(head->text, &rows);
    if (table)
        pythia__outline(pythia_buf_text(&rows), &of_rows);
    struct pythia_text outline = table ? pythia_buf_text(&of_rows) : head->outline;
    int how_much = table && outline.size == 0 ? 40 : 0; /* a table without rows */
    bool data = pythia__outlined(outline, 1, "data");
    for (int depth = 1; depth <= 3; depth++) {
        bool trace = pythia__outlined(outline, depth, "traceID");
        bool span = trace && pythia__outlined(outline, depth, "spanID");
        bool parts = pythia__outlined(outline, depth, "spans") ||
                     pythia__outlined(outline, depth, "processes");
        bool model = pythia__outlined(outline, depth, "traceId") &&
                     pythia__outlined(outline, depth, "spanId") &&
                     pythia__outlined(outline, depth, "operationName");
        bool row = pythia__outlined(outline, depth, "trace_id") &&
                   pythia__outlined(outline, depth, "span_id") &&
                   pythia__outlined(outline, depth, "operation_name");
        if ((trace && parts) || span || row || model || (data && depth > 1 && (trace || parts)))
            how_much = 90;
    }
    pythia_buf_free(&of_rows);
    pythia_buf_free(&rows);
    return how_much;
}

static void destroy_jaeger(struct pythia_adapter *a)
{
    struct pythia__jaeger_reader *j = (struct pythia__jaeger_reader *)a;
    if (!j)
        return;
    pythia__held_free(&j->held);
    pythia_buf_free(&j->aside);
    pythia_free(j->processes);
    pythia_hash_table_free(&j->processes_by_id);
    pythia__decoder_free(&j->d);
    pythia_free(j);
}

static int create_jaeger(struct pythia_vocabulary *vocabulary, struct pythia_adapter **out)
{
    struct pythia__jaeger_reader *j = pythia_calloc(1, sizeof(*j));
    if (!j)
        return PYTHIA_ENOMEM;
    pythia__decoder_init(&j->d, &pythia__jaeger, vocabulary);
    j->key_hostname = pythia_vocabulary_string(vocabulary, PYTHIA_TEXT("hostname"));
    j->key_host = pythia_vocabulary_string(vocabulary, PYTHIA_TEXT("host.name"));
    j->key_instance = pythia_vocabulary_string(vocabulary, PYTHIA_TEXT("service.instance.id"));
    j->key_ip = pythia_vocabulary_string(vocabulary, PYTHIA_TEXT("ip"));
    if (j->key_hostname == PYTHIA_NONE || j->key_host == PYTHIA_NONE ||
        j->key_instance == PYTHIA_NONE || j->key_ip == PYTHIA_NONE) {
        destroy_jaeger(&j->d.adapter);
        return PYTHIA_ENOMEM;
    }
    *out = &j->d.adapter;
    return PYTHIA_OK;
}

static int decode_table(struct pythia__decoder *d, struct pythia_source *from,
                        struct pythia_sink *to, struct pythia_error *e)
{
    struct pythia__cqlsh_table table;
    pythia__cqlsh_table_init(&table, from);
    int status = pythia__decode(d, &table.lines.source, to, read_jaeger_document, e);
    if (status != PYTHIA_OK)
        goto out;
    pythia__cqlsh_table_end(&table);
    if (table.faults > 0) {
        to->counts->dropped[PYTHIA_DROP_BROKEN_RECORD] += table.faults - 1;
        pythia__tell(d, &table.fault);
        status = d->stopped;
    }
out:
    pythia__cqlsh_table_free(&table);
    return status;
}

static int decode_jaeger(struct pythia_adapter *a, struct pythia_source *from,
                         struct pythia_sink *to, struct pythia_error *e)
{
    struct pythia__decoder *d = (struct pythia__decoder *)a;
    struct pythia__peeked_source head;
    struct pythia_text header = PYTHIA_TEXT(PYTHIA__CQLSH_HEADER), begin;
    int status = pythia__peek_source(&head, from, header, &begin, e);
    if (status != PYTHIA_OK)
        return status;
    return pythia_text_starts(begin, header)
               ? decode_table(d, head.input, to, e)
               : pythia__decode(d, head.input, to, read_jaeger_document, e);
}

const struct pythia_adapter_ops pythia__jaeger = {
    .name = "jaeger",
    .help = "Jaeger, JSON: answers of its API, traces, spans, rows of Cassandra, the model; also "
            "one a line",
    .likeness = jaeger_likeness,
    .create = create_jaeger,
    .decode = decode_jaeger,
    .destroy = destroy_jaeger,
    .independent = true,
    .division = PYTHIA_DIVISION_TRACES,
};
