/* OSProfiler, upstream and the fork of the Pythia authors. The unit is one raw event:
 *
 *     {"name": "wsgi-start", "base_id", "trace_id", "parent_id", "timestamp",
 *      "info": {…}, "project", "service"}
 *
 * base_id is the trace, trace_id the span; a span has a "…-start" and a "…-stop", anything else is
 * a point in time. Around it stand, and all are read: events one a line, one after the other
 * without a separator (the fork's Redis), in an array, in JSON strings (Redis dumps), in the text
 * that redis-cli prints, and inside the tree that `osprofiler trace show --json` prints, whose
 * nodes hold the raw events they were made of. The order never matters.
 *
 * The fork's protocol for asynchronous work: a point with info.child_id says that the trace
 * child_id was begun there, a span with info.wait_for that its end is waited for. */
#include <assert.h>
#include <string.h>

#include "pythia/hash.h"
#include "pythia/mem.h"
#include "redis_text.h"
#include "shared/formats.h"
#include "shared/json_decoder.h"
#include "shared/timestamp.h"

#define RESOURCES 64 /* cached; a power of two */
#define MS_MAX    (PYTHIA__TIME_MAX / 1000000)

struct resource_entry {
    uint64_t hash; /* of project, service and host; 0: empty */
    uint32_t resource, service;
};

/* A node of a report that is being read: what it says of itself, for want of raw events. */
struct node {
    bool children; /* an array of nodes, not a node */
    bool raw;      /* it held raw events */
    bool error;    /* an exception ended it */
    bool event; /* an event and not a node; being large, it was taken for one until it was read */
    uint32_t name, project, service, host, tracepoint_id, span_id,
        parent_id; /* numbers of strings; 0: none */
    uint64_t started_ms, finished_ms;
};

struct osprofiler {
    struct pythia__decoder d;
    struct resource_entry resources[RESOURCES];
    struct pythia__tracepoint_entry
        points[PYTHIA__CACHE]; /* by the hash of an id, in .service and .scope */
    struct pythia_buf id;      /* a trace point's, being made */
    struct node *nodes;
    size_t depth, node_capacity;
    struct pythia_trace_id
        report; /* the trace that the current report is of, as far as it is known */
    struct pythia__day day;
};

/* One raw event, as text borrowed from the window. */
struct event {
    struct pythia_text name, base_id, trace_id, parent_id, timestamp, project, service;
    struct pythia_text tracepoint_id, host, function, path, method, statement, peer, child_id,
        wait_for;
    bool error, has_timestamp;
};

/* ---- values ---- */

/* An id as the driver writes it: a UUID, nearly always; anything else counts by its hash. */
static bool parse_id(struct pythia_text text, struct pythia_trace_id *out)
{
    if (text.size == 0)
        return false;
    if (!pythia_text_uuid(text, &out->high, &out->low)) {
        out->high = pythia_hash_bytes(text.bytes, text.size);
        out->low = text.size;
    }
    return true;
}

/* ---- the trace point of an event ---- */

static char to_upper(char c)
{
    return (char)(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
}

static bool is_sql_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The next word of an SQL statement from `at` on, in *word; quotes and brackets are passed over. */
static size_t take_sql_word(struct pythia_text sql, size_t at, struct pythia_text *word)
{
    while (at < sql.size && !is_sql_word(sql.bytes[at]))
        at++;
    size_t end = at;
    while (end < sql.size && is_sql_word(sql.bytes[end]))
        end++;
    *word = (struct pythia_text){sql.bytes + at, end - at};
    return end;
}

static bool word_is(struct pythia_text word, const char *upper_case)
{
    if (word.size != strlen(upper_case))
        return false;
    for (size_t i = 0; i < word.size; i++)
        if (to_upper(word.bytes[i]) != upper_case[i])
            return false;
    return true;
}

/* The verb, and the first table after FROM, INTO, UPDATE or JOIN: "SELECT" and "instances". */
static void describe_sql(struct pythia_text sql, struct pythia_text *verb,
                         struct pythia_text *table)
{
    struct pythia_text word;
    *table = (struct pythia_text){"", 0};
    size_t at = take_sql_word(sql, 0, verb);
    bool due = word_is(*verb, "UPDATE");
    while (at < sql.size) {
        at = take_sql_word(sql, at, &word);
        if (due && word.size && !word_is(word, "SELECT")) {
            *table = word;
            return;
        }
        due = word_is(word, "FROM") || word_is(word, "INTO") || word_is(word, "JOIN");
    }
}

static void add_path(struct pythia_buf *to, struct pythia_text path)
{
    size_t size = 0;
    char *room = pythia_buf_reserve(to, path.size * 2 + 64);
    if (room)
        size = pythia_text_template(path, room, path.size * 2 + 64);
    if (size)
        to->size += size;
    else
        pythia_buf_text_add(to, path);
}

/* Upstream has no ids of trace points: make one of what is in the event, in the form of the fork's:
 *
 *     <name>:<function>                  db:<project>:<VERB>:<table>
 *     wsgi:<project>:<METHOD>:<path>     requests:<METHOD>:<host>:<path> */
static void make_id(struct pythia_buf *id, const struct event *e, struct pythia_text name)
{
    pythia_buf_clear(id);
    pythia_buf_text_add(id, name);
    if (e->function.size) {
        pythia_buf_putc(id, ':');
        pythia_buf_text_add(id, e->function);
    } else if (e->path.size || e->method.size) {
        pythia_buf_putc(id, ':');
        if (!e->peer.size)
            pythia_buf_text_add(id, e->project);
        pythia_buf_puts(id, e->peer.size ? "" : ":");
        pythia_buf_text_add(id, e->method);
        pythia_buf_putc(id, ':');
        if (e->peer.size) {
            pythia_buf_text_add(id, e->peer);
            pythia_buf_putc(id, ':');
        }
        add_path(id, e->path);
    } else if (e->statement.size) {
        struct pythia_text verb, table;
        describe_sql(e->statement, &verb, &table);
        pythia_buf_putc(id, ':');
        pythia_buf_text_add(id, e->project);
        pythia_buf_putc(id, ':');
        for (size_t i = 0; i < verb.size; i++)
            pythia_buf_putc(id, to_upper(verb.bytes[i]));
        pythia_buf_putc(id, ':');
        pythia_buf_text_add(id, table);
    } else {
        pythia_buf_putc(id, ':');
        pythia_buf_text_add(id, e->project);
    }
}

static uint32_t find_tracepoint(struct osprofiler *o, struct pythia_text id, uint32_t service,
                                struct pythia_text name)
{
    /* With the service, because several may share an id and the vocabulary has to hear of each. */
    uint64_t hash = pythia_hash_mix(pythia_hash_bytes(id.bytes, id.size), service);
    struct pythia__tracepoint_entry *entry = &o->points[hash % PYTHIA__CACHE];
    uint32_t low = (uint32_t)hash | 1, high = (uint32_t)(hash >> 32);
    if (entry->service == low && entry->scope == high &&
        pythia_text_equal(pythia_vocabulary_tracepoint_id(o->d.vocabulary, entry->tracepoint), id))
        return entry->tracepoint;
    uint32_t string = pythia_vocabulary_string(o->d.vocabulary, name);
    uint32_t tracepoint =
        string == PYTHIA_NONE
            ? PYTHIA_NONE
            : pythia_vocabulary_tracepoint_of_id(o->d.vocabulary, id, service, string);
    if (tracepoint != PYTHIA_NONE)
        *entry = (struct pythia__tracepoint_entry){low, high, 0, tracepoint};
    return tracepoint;
}

/* ---- one event ---- */

/* Find the process that reported an event: "<project>-<service>" unless the service's name begins
 * with the project's, and the host. A few processes report all events, so that they are cached. */
static int find_reporter(struct osprofiler *o, const struct event *e, struct resource_entry *out)
{
    uint64_t hash = pythia_hash_mix(pythia_hash_bytes(e->project.bytes, e->project.size),
                                    pythia_hash_bytes(e->service.bytes, e->service.size));
    hash = pythia_hash_mix(hash, pythia_hash_bytes(e->host.bytes, e->host.size)) | 1;
    struct resource_entry *entry = &o->resources[(hash >> 8) % RESOURCES];
    if (entry->hash != hash) {
        struct pythia_buf *name = &o->id;
        pythia_buf_clear(name);
        if (e->project.size && !pythia_text_starts(e->service, e->project)) {
            pythia_buf_text_add(name, e->project);
            pythia_buf_puts(name, e->service.size ? "-" : "");
        }
        pythia_buf_text_add(name, e->service);
        struct pythia_resource resource = {
            .service = pythia_vocabulary_string(o->d.vocabulary, pythia_buf_text(name)),
            .host = pythia_vocabulary_string(o->d.vocabulary, e->host)};
        uint32_t number = resource.service == PYTHIA_NONE || resource.host == PYTHIA_NONE
                              ? PYTHIA_NONE
                              : pythia_vocabulary_resource(o->d.vocabulary, &resource);
        if (number == PYTHIA_NONE)
            return PYTHIA_ENOMEM;
        *entry = (struct resource_entry){hash, number, resource.service};
    }
    *out = *entry;
    return PYTHIA_OK;
}

/* Where a member of info.function, .request, .db or .requests is noted because it names the trace
 * point; NULL: it does not. *also: its exact text is a key-value all the same (the path with its
 * ids, the statement). */
static struct pythia_text *find_noted_part(struct event *e, struct pythia_text part,
                                           struct pythia_text member, bool *also)
{
    *also = true;
    if (PYTHIA_TEXT_IS(part, "db"))
        return PYTHIA_TEXT_IS(member, "statement") ? &e->statement : NULL;
    bool web = PYTHIA_TEXT_IS(part, "request") || PYTHIA_TEXT_IS(part, "requests");
    if (web && PYTHIA_TEXT_IS(member, "path"))
        return &e->path;
    *also = false;
    if (PYTHIA_TEXT_IS(part, "function"))
        return PYTHIA_TEXT_IS(member, "name") ? &e->function : NULL;
    if (PYTHIA_TEXT_IS(part, "requests") && PYTHIA_TEXT_IS(member, "hostname"))
        return &e->peer;
    return web && PYTHIA_TEXT_IS(member, "method") ? &e->method : NULL;
}

static int read_part_member(struct osprofiler *o, struct pythia_text part,
                            struct pythia_text member, struct event *e)
{
    bool also;
    struct pythia_text *noted = find_noted_part(e, part, member, &also);
    if (noted && pythia_json_peek(o->d.json) != '"')
        noted = NULL;
    if (noted && !also)
        return pythia__read_text(&o->d, noted);
    uint32_t key = pythia__key_below(&o->d, part, member);
    if (key == PYTHIA_NONE)
        return PYTHIA_ENOMEM;
    if (!noted)
        return pythia__add_value(&o->d, pythia_vocabulary_text(o->d.vocabulary, key));
    int status = pythia__read_text(&o->d, noted);
    if (status != PYTHIA_OK)
        return status;
    pythia__add_text(&o->d, key, *noted);
    return PYTHIA_OK;
}

/* info.function, info.request, info.db or info.requests. */
static int read_part(struct osprofiler *o, struct pythia_text part, struct event *e)
{
    struct pythia_text member;
    int c = pythia_json_peek(o->d.json);
    if (c != '{')
        return c < 0 ? c : pythia__add_value(&o->d, part);
    int status = pythia_json_object(o->d.json);
    while (pythia_json_next_field(o->d.json, &member, &status))
        status = read_part_member(o, part, member, e);
    return status;
}

/* Some members say what the event is, and are noted; the others become attributes of the span. */
static int read_info_member(struct osprofiler *o, struct pythia_text member, struct event *e)
{
    static const struct {
        const char *name;
        size_t offset;
    } noted[] = {
        {"tracepoint_id", offsetof(struct event, tracepoint_id)},
        {"host", offsetof(struct event, host)},
        {"child_id", offsetof(struct event, child_id)},
        {"wait_for", offsetof(struct event, wait_for)},
    };
    for (size_t i = 0; i < sizeof(noted) / sizeof(noted[0]); i++)
        if (pythia_text_equal(member, pythia_text_of(noted[i].name)))
            return pythia__read_text(&o->d,
                                     (struct pythia_text *)(void *)((char *)e + noted[i].offset));
    if (PYTHIA_TEXT_IS(member, "etype"))
        e->error = true;
    if (PYTHIA_TEXT_IS(member, "function") || PYTHIA_TEXT_IS(member, "request") ||
        PYTHIA_TEXT_IS(member, "db") || PYTHIA_TEXT_IS(member, "requests"))
        return read_part(o, member, e);
    return pythia__add_value(&o->d, member);
}

static int read_info(struct osprofiler *o, struct event *e)
{
    struct pythia_text member;
    int c = pythia_json_peek(o->d.json);
    if (c != '{')
        return c < 0 ? c : pythia_json_skip(o->d.json);
    int status = pythia_json_object(o->d.json);
    while (pythia_json_next_field(o->d.json, &member, &status))
        status = read_info_member(o, member, e);
    return status;
}

/* A start, a stop and an annotation share the span's id, and the assembler joins them. The fork of
 * OSProfiler that Pythia's OpenStack uses also reports forks (child_id) and waits (wait_for). */
static int emit_event(struct osprofiler *o, struct event *e)
{
    struct pythia_trace_id base, id, parent = {0, 0}, link = {0, 0};
    struct pythia_span span = {.many_roots = true, .error = e->error};
    if (!parse_id(e->base_id, &base) || !parse_id(e->trace_id, &id))
        return pythia__unfit(&o->d, e->base_id.size ? "an event without trace_id"
                                                    : "an event without base_id");
    parse_id(e->parent_id, &parent);
    if (!pythia__parse_timestamp(&o->day, e->timestamp, &span.start_ns))
        return pythia_json_fail_at(
            o->d.json, o->d.record, PYTHIA_EFORMAT, "'%.*s' is not a timestamp",
            (int)(e->timestamp.size < 40 ? e->timestamp.size : 40), e->timestamp.bytes);
    struct resource_entry resource;
    int status = find_reporter(o, e, &resource);
    if (status != PYTHIA_OK)
        return status;
    struct pythia_text name = e->name, start = PYTHIA_TEXT("-start"), stop = PYTHIA_TEXT("-stop");
    span.part = pythia_text_ends(name, stop)    ? PYTHIA_PART_STOP
                : pythia_text_ends(name, start) ? PYTHIA_PART_START
                                                : PYTHIA_PART_ANNOTATION;
    name.size -= span.part == PYTHIA_PART_STOP    ? stop.size
                 : span.part == PYTHIA_PART_START ? start.size
                                                  : 0;
    if (parse_id(e->child_id, &link) && span.part != PYTHIA_PART_STOP) {
        span.part = PYTHIA_PART_FORK;
        id = link;
    } else if (parse_id(e->wait_for, &link) && span.part == PYTHIA_PART_START) {
        span.part = PYTHIA_PART_WAIT;
    }
    span.id = pythia_span_id_fold(id.high, id.low);
    span.parent = e->parent_id.size ? pythia_span_id_fold(parent.high, parent.low) : 0;
    span.link = link;
    span.resource = resource.resource;
    span.tracepoint = PYTHIA_NONE;
    if (span.part != PYTHIA_PART_STOP) {
        if (e->tracepoint_id.size == 0)
            make_id(&o->id, e, name);
        span.tracepoint =
            find_tracepoint(o, e->tracepoint_id.size ? e->tracepoint_id : pythia_buf_text(&o->id),
                            resource.service, name);
        if (span.tracepoint == PYTHIA_NONE || pythia_buf_status(&o->id) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
    }
    return pythia__emit(&o->d, &base, &span);
}

/* All members are collected before the event is emitted, for their order is that of a Python
 * dictionary. */
static int read_osprofiler_event(struct pythia__decoder *d, void *context)
{
    (void)context;
    struct osprofiler *o = (struct osprofiler *)d;
    struct event e = {0};
    struct pythia_text member;
    pythia_buf_clear(&d->attributes);
    int status = pythia_json_object(d->json);
    while (pythia_json_next_field(d->json, &member, &status)) {
        struct pythia_text *text = PYTHIA_TEXT_IS(member, "name")        ? &e.name
                                   : PYTHIA_TEXT_IS(member, "base_id")   ? &e.base_id
                                   : PYTHIA_TEXT_IS(member, "trace_id")  ? &e.trace_id
                                   : PYTHIA_TEXT_IS(member, "parent_id") ? &e.parent_id
                                   : PYTHIA_TEXT_IS(member, "timestamp") ? &e.timestamp
                                   : PYTHIA_TEXT_IS(member, "project")   ? &e.project
                                   : PYTHIA_TEXT_IS(member, "service")   ? &e.service
                                                                         : NULL;
        if (text)
            status = pythia__read_text(d, text);
        else if (PYTHIA_TEXT_IS(member, "info"))
            status = read_info(o, &e);
        else if (PYTHIA_TEXT_IS(member, "tracepoint_id")) /* the fork has it here too */
            status = pythia__read_text(d, e.tracepoint_id.size ? &(struct pythia_text){0}
                                                               : &e.tracepoint_id);
        else
            status = pythia_json_skip(d->json);
    }
    if (status != PYTHIA_OK)
        return status;
    if (!o->report.high && !o->report.low)
        parse_id(e.base_id, &o->report);
    return emit_event(o, &e);
}

/* ---- reports ---- */

static int read_number_ms(struct osprofiler *o, uint64_t *out)
{
    struct pythia_json_value value;
    *out = 0;
    int status = pythia__read_scalar(&o->d, &value);
    if (status != PYTHIA_OK)
        return status;
    if (value.kind == PYTHIA_JSON_INTEGER && value.integer > 0)
        *out = (uint64_t)value.integer < MS_MAX ? (uint64_t)value.integer : MS_MAX;
    return PYTHIA_OK;
}

static int read_exception(struct osprofiler *o, bool *out)
{
    struct pythia_text text = {"", 0};
    int status = pythia__read_text(&o->d, &text);
    *out = text.size > 0 && !PYTHIA_TEXT_IS(text, "None");
    return status;
}

static int read_string_number(struct osprofiler *o, uint32_t *out)
{
    struct pythia_text text = {"", 0};
    int status = pythia__read_text(&o->d, &text);
    if (status != PYTHIA_OK)
        return status;
    *out = pythia_vocabulary_string(o->d.vocabulary, text);
    return *out == PYTHIA_NONE ? PYTHIA_ENOMEM : PYTHIA_OK;
}

/* Read the info of a node: its raw events, and, for a report that has none, what a span needs. */
static int read_node_info(struct osprofiler *o, struct node *node)
{
    struct pythia_json *j = o->d.json;
    struct pythia_text member;
    int c = pythia_json_peek(j);
    if (c != '{')
        return c < 0 ? c : pythia_json_skip(j);
    int status = pythia_json_object(j);
    while (pythia_json_next_field(j, &member, &status)) {
        if (pythia_text_starts(member, PYTHIA_TEXT("meta.raw_payload.")) &&
            pythia_json_peek(j) == '{') {
            node->raw = true;
            status = pythia__record(&o->d, read_osprofiler_event, NULL);
        } else if (PYTHIA_TEXT_IS(member, "started")) {
            status = read_number_ms(o, &node->started_ms);
        } else if (PYTHIA_TEXT_IS(member, "finished")) {
            status = read_number_ms(o, &node->finished_ms);
        } else if (PYTHIA_TEXT_IS(member, "exception")) {
            status = read_exception(o, &node->error);
        } else if (PYTHIA_TEXT_IS(member, "name")) {
            status = read_string_number(o, &node->name);
        } else if (PYTHIA_TEXT_IS(member, "project")) {
            status = read_string_number(o, &node->project);
        } else if (PYTHIA_TEXT_IS(member, "service")) {
            status = read_string_number(o, &node->service);
        } else if (PYTHIA_TEXT_IS(member, "host")) {
            status = read_string_number(o, &node->host);
        } else {
            status = pythia_json_skip(j);
        }
    }
    return status;
}

/* Report an event that was read piece by piece, which is no way to read an event. */
static int report_large_event(struct osprofiler *o)
{
    pythia_json_fail(o->d.json, PYTHIA_ELIMIT,
                     "an event that ends here is larger than a record may be");
    pythia__broken(&o->d);
    if (o->d.stopped < 0)
        return o->d.stopped;
    pythia_error_clear(&o->d.json->error);
    return PYTHIA_OK;
}

/* Emit a node. One without raw events is all that is known of its span, in milliseconds since the
 * first event of the trace; one with raw events has been emitted as those. */
static int emit_report_node(struct osprofiler *o, const struct node *node)
{
    if (node->event)
        return report_large_event(o);
    if (node->raw || node->span_id == 0)
        return PYTHIA_OK;
    const struct pythia_vocabulary *v = o->d.vocabulary;
    struct event e = {.project = pythia_vocabulary_text(v, node->project),
                      .service = pythia_vocabulary_text(v, node->service),
                      .host = pythia_vocabulary_text(v, node->host)};
    struct pythia_trace_id id = {0, 0}, parent = {0, 0};
    struct resource_entry resource;
    parse_id(pythia_vocabulary_text(v, node->span_id), &id);
    bool has_parent = parse_id(pythia_vocabulary_text(v, node->parent_id), &parent);
    if (!o->report.high && !o->report.low)
        o->report = parent; /* the first node of a report hangs on the trace itself */
    int status = find_reporter(o, &e, &resource);
    if (status != PYTHIA_OK)
        return status;
    struct pythia_text name = pythia_vocabulary_text(v, node->name);
    if (node->tracepoint_id == 0)
        make_id(&o->id, &e, name);
    struct pythia_span span = {
        .id = pythia_span_id_fold(id.high, id.low),
        .parent = has_parent ? pythia_span_id_fold(parent.high, parent.low) : 0,
        .start_ns = node->started_ms * 1000000,
        .duration_ns = (int64_t)(node->finished_ms - node->started_ms) * 1000000,
        .resource = resource.resource,
        .many_roots = true,
        .error = node->error,
        .tracepoint =
            find_tracepoint(o,
                            node->tracepoint_id ? pythia_vocabulary_text(v, node->tracepoint_id)
                                                : pythia_buf_text(&o->id),
                            resource.service, name),
    };
    if (span.tracepoint == PYTHIA_NONE)
        return PYTHIA_ENOMEM;
    pythia_buf_clear(&o->d.attributes);
    return pythia__emit(&o->d, &o->report, &span);
}

static int push_node(struct osprofiler *o, bool children)
{
    if (pythia_grow(&o->nodes, &o->node_capacity, o->depth, sizeof(*o->nodes)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    o->nodes[o->depth++] = (struct node){.children = children};
    return children ? pythia_json_array(o->d.json) : pythia_json_object(o->d.json);
}

/* Read the next member of the innermost node, or the next node of the innermost array. The nodes
 * are on a stack of our own, for a report may be deeper than the program's stack allows. */
static int step_member(struct osprofiler *o)
{
    assert(o->depth > 0 && o->nodes);
    struct pythia_json *j = o->d.json;
    struct node *node = &o->nodes[o->depth - 1];
    struct pythia_text member;
    int status = node->children ? pythia_json_element(j) : pythia_json_field(j, &member);
    if (status == 1) {
        o->depth--;
        return node->children ? PYTHIA_OK : emit_report_node(o, node);
    }
    if (status < 0)
        return status;
    int c = pythia_json_peek(j);
    if (c < 0)
        return c;
    if (node->children)
        return c == '{' ? push_node(o, false) : pythia_json_skip(j);
    if (PYTHIA_TEXT_IS(member, "info"))
        return read_node_info(o, node);
    if (PYTHIA_TEXT_IS(member, "children"))
        return c == '[' ? push_node(o, true) : pythia_json_skip(j);
    if (PYTHIA_TEXT_IS(member, "report"))
        return c == '{' ? push_node(o, false) : pythia_json_skip(j);
    node->event = node->event || PYTHIA_TEXT_IS(member, "timestamp");
    uint32_t *string = PYTHIA_TEXT_IS(member, "trace_id")        ? &node->span_id
                       : PYTHIA_TEXT_IS(member, "parent_id")     ? &node->parent_id
                       : PYTHIA_TEXT_IS(member, "tracepoint_id") ? &node->tracepoint_id
                                                                 : NULL;
    return string ? read_string_number(o, string) : pythia_json_skip(j);
}

/* Read a tree, however deep it is. */
static int read_report_tree(struct osprofiler *o)
{
    o->depth = 0;
    o->report = (struct pythia_trace_id){0, 0};
    int status = push_node(o, false);
    while (o->depth > 0) {
        if (status != PYTHIA_OK)
            return status;
        status = step_member(o);
    }
    return status;
}

/* ---- documents ---- */

static int read_osprofiler_value(struct pythia__decoder *d);

/* Text in which there is JSON, as Redis keeps it. */
static int read_embedded(struct pythia__decoder *d)
{
    struct pythia_text text;
    int status = pythia_json_whole(d->json);
    if (status != PYTHIA_OK)
        return status;
    status = pythia_json_string(d->json, &text);
    if (status != PYTHIA_OK)
        return status;
    struct pythia_memory_source inner;
    struct pythia_error why = {0};
    pythia_memory_source_init(&inner, "a string", text.bytes, text.size);
    return pythia__decode(d, &inner.source, d->to, read_osprofiler_value, &why);
}

static int read_elements(struct pythia__decoder *d)
{
    int status = pythia_json_array(d->json);
    while (pythia_json_next_element(d->json, &status))
        status = read_osprofiler_value(d);
    return status;
}

/* {"osprofiler:<id>": …}: a dump of keys. */
static int read_key_dump(struct pythia__decoder *d)
{
    struct pythia_text key;
    int status = pythia_json_object(d->json);
    while (pythia_json_next_field(d->json, &key, &status))
        status = read_osprofiler_value(d);
    return status;
}

static bool is_event_key(struct pythia_text key)
{
    return PYTHIA_TEXT_IS(key, "name") || PYTHIA_TEXT_IS(key, "trace_id") ||
           PYTHIA_TEXT_IS(key, "parent_id") || PYTHIA_TEXT_IS(key, "timestamp") ||
           PYTHIA_TEXT_IS(key, "project") || PYTHIA_TEXT_IS(key, "service");
}

static bool is_report_key(struct pythia_text key)
{
    return PYTHIA_TEXT_IS(key, "children") || PYTHIA_TEXT_IS(key, "stats") ||
           PYTHIA_TEXT_IS(key, "report") || PYTHIA_TEXT_IS(key, "type");
}

/* Find out which kind of object comes next. Its first keys say so, except "info" and "base_id",
 * which are in events and in reports: then all its keys are looked at. */
static int read_osprofiler_object(struct pythia__decoder *d)
{
    struct osprofiler *o = (struct osprofiler *)d;
    struct pythia_text key = {"", 0};
    int status = pythia_json_first_key(d->json, &key);
    if (status < 0)
        return status;
    if (pythia_text_starts(key, PYTHIA_TEXT("osprofiler")))
        return read_key_dump(d);
    if (is_report_key(key))
        return read_report_tree(o);
    if (is_event_key(key))
        return pythia__record(d, read_osprofiler_event, NULL);
    status = pythia_json_whole(d->json);
    if (status == PYTHIA_ELIMIT ||
        status == PYTHIA_EFORMAT) { /* too large for an event, or cut off: read what there is */
        pythia_error_clear(&d->json->error);
        return read_report_tree(o);
    }
    if (status != PYTHIA_OK)
        return status;
    const uint32_t *mark = pythia_json_mark(d->json);
    bool event = false, report = false;
    status = pythia_json_object(d->json);
    while (pythia_json_next_field(d->json, &key, &status)) {
        event = event || is_event_key(key);
        report = report || is_report_key(key);
        status = pythia_json_skip(d->json);
    }
    if (status != PYTHIA_OK)
        return status;
    if (!event && !report) {
        d->to->counts->dropped[PYTHIA_DROP_NOT_A_TRACE]++;
        return PYTHIA_OK;
    }
    pythia_json_again(d->json, mark);
    return report ? read_report_tree(o) : pythia__record(d, read_osprofiler_event, NULL);
}

static int read_osprofiler_value(struct pythia__decoder *d)
{
    switch (pythia_json_peek(d->json)) {
    case '{':
        return read_osprofiler_object(d);
    case '[':
        return read_elements(d);
    case '"':
        return read_embedded(d);
    default:
        return pythia__is(d, '{');
    }
}

/* ---- the row ---- */

/* Judge the input by its first byte after white space, or after a byte order mark. */
static int osprofiler_likeness(const struct pythia_head *head)
{
    struct pythia_text text = pythia__skip_white(head->text);
    if (text.size > 0 && text.bytes[0] != '{' && text.bytes[0] != '[') { /* what redis-cli prints */
        if (text.size > 4096)
            text.size = 4096;
        bool event = pythia_text_contains(text, PYTHIA_TEXT("base_id")) &&
                     pythia_text_contains(text, PYTHIA_TEXT("parent_id"));
        return event || pythia_text_starts(text, PYTHIA_TEXT("osprofiler")) ? 80 : 0;
    }
    int how_much = 0;
    for (int depth = 1; depth <= 3 && how_much == 0; depth++)
        if (pythia__outlined(head->outline, depth, "base_id") ||
            (pythia__outlined(head->outline, depth, "children") &&
             pythia__outlined(head->outline, depth, "info")))
            how_much = 90;
    if (how_much == 0 && pythia_text_starts(head->outline, PYTHIA_TEXT("1osprofiler")))
        how_much = 90;
    if (how_much == 0 && text.size > 1 &&
        text.bytes[0] == '[' && /* an array of strings with events in them */
        pythia_text_contains((struct pythia_text){text.bytes, text.size < 4096 ? text.size : 4096},
                             PYTHIA_TEXT("\\\"base_id\\\"")))
        how_much = 70;
    return how_much;
}

static void destroy_osprofiler_decoder(struct pythia_adapter *a)
{
    struct osprofiler *o = (struct osprofiler *)a;
    if (!o)
        return;
    pythia_buf_free(&o->id);
    pythia_free(o->nodes);
    pythia__decoder_free(&o->d);
    pythia_free(o);
}

static int create_osprofiler_decoder(struct pythia_vocabulary *vocabulary,
                                     struct pythia_adapter **out)
{
    struct osprofiler *o = pythia_calloc(1, sizeof(*o));
    if (!o)
        return PYTHIA_ENOMEM;
    pythia__decoder_init(&o->d, &pythia__osprofiler, vocabulary);
    *out = &o->d.adapter;
    return PYTHIA_OK;
}

static int decode_osprofiler(struct pythia_adapter *a, struct pythia_source *from,
                             struct pythia_sink *to, struct pythia_error *e)
{
    struct pythia__peeked_source head;
    struct pythia_text begin;
    int status = pythia__peek_source(&head, from, PYTHIA_TEXT(""), &begin, e);
    if (status != PYTHIA_OK)
        return status;
    struct pythia__decoder *d = (struct pythia__decoder *)a;
    if (begin.size == 0 || begin.bytes[0] == '{' || begin.bytes[0] == '[')
        return pythia__decode(d, head.input, to, read_osprofiler_value, e);
    struct pythia__redis_text text;
    pythia__redis_text_init(&text, head.input);
    status = pythia__decode(d, &text.lines.source, to, read_osprofiler_value, e);
    to->counts->dropped[PYTHIA_DROP_NOT_A_TRACE] += text.other_lines;
    pythia__redis_text_free(&text);
    return status;
}

const struct pythia_adapter_ops pythia__osprofiler = {
    .name = "osprofiler",
    .help = "OSProfiler: raw events, reports of trace show --json, dumps of Redis",
    .likeness = osprofiler_likeness,
    .create = create_osprofiler_decoder,
    .decode = decode_osprofiler,
    .destroy = destroy_osprofiler_decoder,
    .independent = true,
    .division = PYTHIA_DIVISION_LINES,
};
