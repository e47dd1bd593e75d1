/* The trace of one process as SYMBIOSYS writes it (profile-<host>-<pid>.trace): host, process id
 * and number of RPCs, a line each; as many lines with the number and the name of an RPC; and then
 * events, a line each, of 14 fields with commas between:
 *
 *     trace, seconds, rpc, 0|1|2|3, runnable, tasks, process, order, requests, max rss, ofi events,
 *     bandwidth, from, to
 *
 * Ramesh et al., "SYMBIOSYS: A Methodology for Performance Analysis of Composable HPC Data
 * Services", IPDPS 2021. Events 0 (cs) and 3 (cr) are the start and the end of a client span, 1
 * (sr) and 2 (ss) those of a server span. Events of one call have nothing in common but trace, RPC
 * and order, which is one more at sr than at cs. So the id of a client span is a hash of these
 * three, and of how many there were before it that have them too; a server span finds its caller by
 * it, in a file of another process. A client span hangs on the server span of its process and
 * trace that began last and goes on: all times of a process are of one clock.
 *
 * Spans that are open are held; what has not ended at the end of the file is passed on as begun. A
 * process that answers calls is the service whose name the RPC begins with ("sdskv" of
 * sdskv_put_rpc), and so are the calls that it makes meanwhile. */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "pythia/hash.h"
#include "pythia/hash_table.h"
#include "pythia/mem.h"
#include "shared/decoder.h"
#include "shared/formats.h"
#include "shared/whole_lines.h"

#define FIELDS 14
#define CLIENT "client" /* service of calls that no server span of the process surrounds */

enum field {
    FIELD_TRACE,
    FIELD_TIME,
    FIELD_RPC,
    FIELD_EVENT,
    FIELD_RUNNABLE,
    FIELD_TASKS,
    FIELD_PROCESS,
    FIELD_ORDER,
    FIELD_REQUESTS,
    FIELD_MAX_RSS,
    FIELD_OFI_EVENTS,
    FIELD_BANDWIDTH,
    FIELD_FROM,
    FIELD_TO
};
enum event { EVENT_CS, EVENT_SR, EVENT_SS, EVENT_CR };

struct rpc {
    uint64_t number;
    uint32_t name, service; /* strings */
    uint32_t resource;      /* of a process of that service */
};

struct open_span {
    uint64_t trace, id, parent, start_ns;
    uint32_t rpc; /* index */
    uint32_t resource, service;
    uint32_t next;         /* of the same queue, or of those that are free; PYTHIA_NONE: none */
    uint32_t inner, outer; /* of a server span: those of its trace that are open around it */
    bool server;
};

/* Counts of the spans of a trace and an RPC: of one side and order, how many there were; of
 * one side, those that are open, the first to begin first; and of all, the server span that began
 * last and goes on. */
struct call_key {
    uint64_t trace, order;
    uint32_t rpc; /* index; PYTHIA_NONE: all */
    enum { KEY_ORDER, KEY_QUEUE, KEY_TRACE } kind;
    bool server;
};
struct call_entry {
    struct call_key key;
    uint64_t count;       /* of KEY_ORDER */
    uint32_t first, last; /* of KEY_QUEUE; of KEY_TRACE last alone. Spans; PYTHIA_NONE: none */
};

struct symbiosys {
    struct pythia__decoder d;
    struct pythia__whole_lines lines;
    uint32_t host, instance, client; /* strings */
    uint32_t client_resource;
    uint64_t wanted_rpcs;
    struct rpc *rpcs;
    size_t rpc_count, rpc_capacity;
    struct pythia_hash_table by_number; /* of RPCs */
    struct call_entry *entries;
    size_t entry_count, entry_capacity;
    struct pythia_hash_table by_key; /* of entries */
    struct open_span *spans;
    size_t span_count, span_capacity;
    uint32_t free_span;                              /* PYTHIA_NONE: none */
    uint32_t runnable, blocked, max_rss, ofi_events; /* strings: keys */
};

/* ---- fields ---- */

/* Cut a line at its commas; the number of fields, or FIELDS + 1 if there are more. */
static size_t cut_fields(struct pythia_text line, struct pythia_text fields[FIELDS])
{
    size_t count = 0;
    const char *at = line.bytes, *end = line.bytes + line.size;
    for (;;) {
        const char *comma = at < end ? memchr(at, ',', (size_t)(end - at)) : NULL;
        if (count == FIELDS)
            return FIELDS + 1;
        fields[count++] =
            pythia_text_trim((struct pythia_text){at, (size_t)((comma ? comma : end) - at)});
        if (!comma)
            return count;
        at = comma + 1;
    }
}

/* ---- the head ---- */

static int tell_line(struct symbiosys *s, const char *sentence)
{
    struct pythia_error why = {0};
    (void)pythia__whole_lines_fail(&s->lines, 0, &why, sentence);
    pythia__tell(&s->d, &why);
    return s->d.stopped < 0 ? s->d.stopped : PYTHIA_OK;
}

static uint32_t intern_sound(struct symbiosys *s, struct pythia_text text)
{
    text.size = text.size > PYTHIA__NAME_MAX ? PYTHIA__NAME_MAX : text.size;
    if (pythia_text_is_sound(text))
        return pythia__key(&s->d, text);
    pythia_buf_clear(&s->d.name);
    char *repaired = pythia_buf_reserve(&s->d.name, 3 * text.size + 1);
    s->d.to->counts->repaired[PYTHIA_REPAIR_ENCODING]++;
    return repaired ? pythia__key(
                          &s->d, (struct pythia_text){repaired, pythia_text_repair(text, repaired)})
                    : PYTHIA_NONE;
}

static uint32_t find_resource(struct symbiosys *s, uint32_t service)
{
    const struct pythia_resource resource = {
        .service = service, .host = s->host, .instance = s->instance};
    return pythia_vocabulary_resource(s->d.vocabulary, &resource);
}

static bool has_rpc_number(const void *owner, uint32_t index, const void *number)
{
    return ((const struct symbiosys *)owner)->rpcs[index].number == *(const uint64_t *)number;
}

static uint32_t find_rpc(const struct symbiosys *s, uint64_t number)
{
    return pythia_hash_table_find(&s->by_number, pythia_hash_mix(number, 0), has_rpc_number, s,
                                  &number);
}

/* "40001, sdskv_put_rpc" */
static int read_rpc(struct symbiosys *s, struct pythia_text line)
{
    struct pythia_text fields[FIELDS];
    struct rpc rpc = {0};
    s->wanted_rpcs--;
    if (cut_fields(line, fields) != 2 ||
        !pythia_text_unsigned(fields[0], UINT64_MAX, &rpc.number) || fields[1].size == 0)
        return tell_line(s, "expected the number and the name of an RPC");
    if (find_rpc(s, rpc.number) != PYTHIA_HASH_TABLE_NONE)
        return tell_line(s, "another RPC has the same number");
    const char *end = memchr(fields[1].bytes, '_', fields[1].size);
    struct pythia_text service = {fields[1].bytes,
                                  end ? (size_t)(end - fields[1].bytes) : fields[1].size};
    rpc.name = intern_sound(s, fields[1]);
    rpc.service = intern_sound(s, service);
    rpc.resource = rpc.service == PYTHIA_NONE ? PYTHIA_NONE : find_resource(s, rpc.service);
    if (rpc.name == PYTHIA_NONE || rpc.resource == PYTHIA_NONE ||
        pythia_grow(&s->rpcs, &s->rpc_capacity, s->rpc_count, sizeof(rpc)) != PYTHIA_OK ||
        pythia_hash_table_add(&s->by_number, pythia_hash_mix(rpc.number, 0),
                              (uint32_t)s->rpc_count) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    s->rpcs[s->rpc_count++] = rpc;
    return PYTHIA_OK;
}

static int read_head(struct symbiosys *s, struct pythia_text line)
{
    line = pythia_text_trim(line);
    if (s->lines.number == 1) {
        s->host = intern_sound(s, line);
        return s->host == PYTHIA_NONE ? PYTHIA_ENOMEM : PYTHIA_OK;
    }
    if (s->lines.number == 3)
        return pythia_text_unsigned(line, UINT64_MAX, &s->wanted_rpcs)
                   ? PYTHIA_OK
                   : tell_line(s, "the number of RPCs is missing");
    s->instance = intern_sound(s, line);
    s->client_resource = s->instance == PYTHIA_NONE ? PYTHIA_NONE : find_resource(s, s->client);
    return s->client_resource == PYTHIA_NONE ? PYTHIA_ENOMEM : PYTHIA_OK;
}

/* ---- spans ---- */

static uint64_t hash_call_key(const struct call_key *k)
{
    return pythia_hash_mix(pythia_hash_mix(k->trace, k->order),
                           (uint64_t)k->rpc << 3 | (uint64_t)k->kind << 1 | k->server);
}

static bool has_call_key(const void *owner, uint32_t index, const void *key)
{
    const struct call_key *x = &((const struct symbiosys *)owner)->entries[index].key,
                          *wanted = key;
    return x->trace == wanted->trace && x->order == wanted->order && x->rpc == wanted->rpc &&
           x->kind == wanted->kind && x->server == wanted->server;
}

/* The number of an entry, made if it is new; PYTHIA_NONE when out of memory. */
static uint32_t reach_entry(struct symbiosys *s, const struct call_key *key)
{
    uint64_t hash = hash_call_key(key);
    uint32_t found = pythia_hash_table_find(&s->by_key, hash, has_call_key, s, key);
    if (found != PYTHIA_HASH_TABLE_NONE)
        return found;
    if (pythia_grow(&s->entries, &s->entry_capacity, s->entry_count, sizeof(*s->entries)) !=
            PYTHIA_OK ||
        pythia_hash_table_add(&s->by_key, hash, (uint32_t)s->entry_count) != PYTHIA_OK)
        return PYTHIA_NONE;
    s->entries[s->entry_count] =
        (struct call_entry){.key = *key, .first = PYTHIA_NONE, .last = PYTHIA_NONE};
    return (uint32_t)s->entry_count++;
}

/* Spans of a trace that have the same RPC and order are told apart by their number in the file. */
static uint64_t make_span_id(uint64_t rpc, uint64_t order, uint64_t number, bool server)
{
    uint64_t id = pythia_hash_mix(pythia_hash_mix(rpc, order), number * 2 + server);
    return id ? id : 1;
}

/* A place for one more open span; PYTHIA_NONE when out of memory. */
static uint32_t take_span_place(struct symbiosys *s)
{
    uint32_t at = s->free_span;
    if (at != PYTHIA_NONE) {
        s->free_span = s->spans[at].next;
        return at;
    }
    if (pythia_grow(&s->spans, &s->span_capacity, s->span_count, sizeof(*s->spans)) != PYTHIA_OK)
        return PYTHIA_NONE;
    assert(s->spans);
    return (uint32_t)s->span_count++;
}

/* Put a span at the end of its queue, and, of a server span, inside those that are open. */
static void link_span(struct symbiosys *s, uint32_t at, struct call_entry *queue,
                      struct call_entry *trace)
{
    struct open_span *span = &s->spans[at];
    if (queue->last != PYTHIA_NONE)
        s->spans[queue->last].next = at;
    else
        queue->first = at;
    queue->last = at;
    if (!span->server)
        return;
    span->outer = trace->last;
    if (trace->last != PYTHIA_NONE)
        s->spans[trace->last].inner = at;
    trace->last = at;
}

static int begin_span(struct symbiosys *s, const uint64_t numbers[FIELDS], uint32_t rpc_index,
                      bool server)
{
    const struct rpc *rpc = &s->rpcs[rpc_index];
    uint64_t trace_id = numbers[FIELD_TRACE], order = numbers[FIELD_ORDER];
    uint32_t same =
        reach_entry(s, &(struct call_key){trace_id, order, rpc_index, KEY_ORDER, server});
    uint32_t queue = reach_entry(s, &(struct call_key){trace_id, 0, rpc_index, KEY_QUEUE, server});
    uint32_t trace = reach_entry(s, &(struct call_key){trace_id, 0, PYTHIA_NONE, KEY_TRACE, false});
    uint32_t at = take_span_place(s);
    if (same == PYTHIA_NONE || queue == PYTHIA_NONE || trace == PYTHIA_NONE || at == PYTHIA_NONE)
        return PYTHIA_ENOMEM;
    uint64_t number = s->entries[same].count++;
    uint32_t last = s->entries[trace].last;
    const struct open_span *around = last == PYTHIA_NONE ? NULL : &s->spans[last];
    struct open_span span = {.trace = trace_id,
                             .id = make_span_id(rpc->number, order, number, server),
                             .start_ns = numbers[FIELD_TIME],
                             .rpc = rpc_index,
                             .service = server ? rpc->service : s->client,
                             .resource = server ? rpc->resource : s->client_resource,
                             .next = PYTHIA_NONE,
                             .inner = PYTHIA_NONE,
                             .outer = PYTHIA_NONE,
                             .server = server};
    if (server) {
        span.parent = make_span_id(rpc->number, order - 1, number, false);
    } else if (around) {
        span.parent = around->id;
        span.service = around->service;
        span.resource = around->resource;
    }
    s->spans[at] = span;
    link_span(s, at, &s->entries[queue], &s->entries[trace]);
    return PYTHIA_OK;
}

static int emit_symbiosys_span(struct symbiosys *s, const struct open_span *open,
                               enum pythia_span_part part, uint64_t end_ns)
{
    struct pythia_span span = {
        .id = open->id,
        .parent = open->parent,
        .start_ns = open->start_ns,
        .duration_ns = part == PYTHIA_PART_WHOLE ? (int64_t)(end_ns - open->start_ns) : 0,
        .tracepoint = pythia__tracepoint(&s->d, open->service, 0, s->rpcs[open->rpc].name),
        .resource = open->resource,
        .kind = open->server ? PYTHIA_SPAN_SERVER : PYTHIA_SPAN_CLIENT,
        .relation = PYTHIA_RELATION_CALL,
        .part = part,
        .many_roots = true};
    const struct pythia_trace_id id = {0, open->trace ? open->trace : UINT64_MAX};
    return span.tracepoint == PYTHIA_NONE ? PYTHIA_ENOMEM : pythia__emit(&s->d, &id, &span);
}

/* What the end of a client span says of the network, and that of a server span of its process. */
static void add_variables(struct symbiosys *s, const uint64_t numbers[FIELDS], bool server)
{
    pythia_buf_clear(&s->d.attributes);
    if (server) {
        pythia_attributes_integer(&s->d.attributes, s->runnable, (int64_t)numbers[FIELD_RUNNABLE]);
        pythia_attributes_integer(&s->d.attributes, s->blocked,
                                  (int64_t)numbers[FIELD_TASKS] - (int64_t)numbers[FIELD_RUNNABLE]);
        pythia_attributes_integer(&s->d.attributes, s->max_rss, (int64_t)numbers[FIELD_MAX_RSS]);
    } else {
        pythia_attributes_integer(&s->d.attributes, s->ofi_events,
                                  (int64_t)numbers[FIELD_OFI_EVENTS]);
    }
}

/* Take the span of that trace, RPC and side that began first off its lists: calls beside each other
 * are answered in any order, and nothing says which of them this one is. PYTHIA_NONE: there is no
 * such span. */
static uint32_t unlink_first(struct symbiosys *s, uint64_t trace, uint32_t rpc, bool server)
{
    const struct call_key of_queue = {trace, 0, rpc, KEY_QUEUE, server},
                          of_trace = {trace, 0, PYTHIA_NONE, KEY_TRACE, false};
    uint32_t queue =
        pythia_hash_table_find(&s->by_key, hash_call_key(&of_queue), has_call_key, s, &of_queue);
    uint32_t at = queue == PYTHIA_HASH_TABLE_NONE ? PYTHIA_NONE : s->entries[queue].first;
    if (at == PYTHIA_NONE)
        return PYTHIA_NONE;
    struct open_span *span = &s->spans[at];
    s->entries[queue].first = span->next;
    if (span->next == PYTHIA_NONE)
        s->entries[queue].last = PYTHIA_NONE;
    if (!server)
        return at;
    if (span->outer != PYTHIA_NONE)
        s->spans[span->outer].inner = span->inner;
    if (span->inner != PYTHIA_NONE)
        s->spans[span->inner].outer = span->outer;
    else
        s->entries[reach_entry(s, &of_trace)].last = span->outer;
    return at;
}

static int end_span(struct symbiosys *s, const uint64_t numbers[FIELDS], uint32_t rpc, bool server)
{
    uint32_t at = unlink_first(s, numbers[FIELD_TRACE], rpc, server);
    if (at == PYTHIA_NONE)
        return tell_line(s, "the end of a call that has not begun");
    add_variables(s, numbers, server);
    int status = emit_symbiosys_span(s, &s->spans[at], PYTHIA_PART_WHOLE, numbers[FIELD_TIME]);
    s->spans[at].next = s->free_span;
    s->free_span = at;
    return status;
}

/* ---- events ---- */

/* Numbers that are hashes may have all 64 bits. */
static bool read_event(const struct pythia_text fields[FIELDS], uint64_t numbers[FIELDS])
{
    static const uint64_t most[] = {
        [FIELD_TRACE] = UINT64_MAX,    [FIELD_RPC] = UINT64_MAX,     [FIELD_EVENT] = EVENT_CR,
        [FIELD_RUNNABLE] = INT64_MAX,  [FIELD_TASKS] = INT64_MAX,    [FIELD_PROCESS] = UINT64_MAX,
        [FIELD_ORDER] = INT64_MAX,     [FIELD_REQUESTS] = INT64_MAX, [FIELD_MAX_RSS] = INT64_MAX,
        [FIELD_OFI_EVENTS] = INT64_MAX};
    for (size_t i = 0; i < FIELD_BANDWIDTH; i++)
        if (!(i == FIELD_TIME ? pythia_text_seconds(fields[i], &numbers[i])
                              : pythia_text_unsigned(fields[i], most[i], &numbers[i])))
            return false;
    return true;
}

static int read_symbiosys_event(struct symbiosys *s, struct pythia_text line)
{
    struct pythia_text fields[FIELDS];
    uint64_t numbers[FIELDS];
    if (cut_fields(line, fields) != FIELDS)
        return tell_line(s, "an event without 14 fields");
    if (!read_event(fields, numbers))
        return tell_line(s, "a field of an event is not a number in its range");
    uint32_t rpc = find_rpc(s, numbers[FIELD_RPC]);
    if (rpc == PYTHIA_HASH_TABLE_NONE)
        return tell_line(s, "an event of an RPC that is not registered");
    enum event event = (enum event)numbers[FIELD_EVENT];
    bool server = event == EVENT_SR || event == EVENT_SS;
    return event == EVENT_CS || event == EVENT_SR ? begin_span(s, numbers, rpc, server)
                                                  : end_span(s, numbers, rpc, server);
}

static int read_symbiosys_line(void *context, struct pythia_text line)
{
    struct symbiosys *s = context;
    if (s->lines.number <= 3)
        return read_head(s, line);
    if (pythia_text_trim(line).size == 0)
        return PYTHIA_OK;
    return s->wanted_rpcs > 0 ? read_rpc(s, line) : read_symbiosys_event(s, line);
}

static void refuse_symbiosys_line(void *context)
{
    (void)tell_line(context, "a line of more than 256 MiB");
}

/* Spans that have not ended; entries are in the order in which they were made. */
static int emit_begun(struct symbiosys *s)
{
    pythia_buf_clear(&s->d.attributes);
    for (size_t i = 0; i < s->entry_count; i++) {
        if (s->entries[i].key.kind != KEY_QUEUE)
            continue;
        for (uint32_t at = s->entries[i].first; at != PYTHIA_NONE; at = s->spans[at].next) {
            int status = emit_symbiosys_span(s, &s->spans[at], PYTHIA_PART_START, 0);
            if (status != PYTHIA_OK)
                return status;
        }
    }
    return PYTHIA_OK;
}

static int decode_symbiosys(struct pythia_adapter *a, struct pythia_source *from,
                            struct pythia_sink *to, struct pythia_error *e)
{
    struct symbiosys *s = (struct symbiosys *)a;
    pythia__decoder_begin(&s->d, to);
    s->wanted_rpcs = s->rpc_count = s->entry_count = s->span_count = 0;
    s->free_span = PYTHIA_NONE;
    pythia_hash_table_clear(&s->by_number);
    pythia_hash_table_clear(&s->by_key);
    int status =
        pythia__whole_lines_read(&s->lines, from, read_symbiosys_line, refuse_symbiosys_line, s, e);
    if (s->d.stopped < 0)
        return s->d.stopped;
    int begun = pythia__goes_on(&s->d, status) ? emit_begun(s) : PYTHIA_OK;
    return status == PYTHIA_OK ? begun : status;
}

/* ---- the format ---- */

static bool take_head_line(struct pythia_text *rest, struct pythia_text *line)
{
    const char *newline = memchr(rest->bytes, '\n', rest->size);
    if (!newline)
        return false;
    *line = pythia_text_trim((struct pythia_text){rest->bytes, (size_t)(newline - rest->bytes)});
    rest->size -= (size_t)(newline + 1 - rest->bytes);
    rest->bytes = newline + 1;
    return true;
}

/* A host, two numbers, and the number and name of an RPC. */
static int symbiosys_likeness(const struct pythia_head *head)
{
    struct pythia_text rest = head->text, line, fields[FIELDS];
    uint64_t number;
    if (!take_head_line(&rest, &line) || line.size == 0 || memchr(line.bytes, ',', line.size) ||
        !take_head_line(&rest, &line) || !pythia_text_unsigned(line, UINT64_MAX, &number) ||
        !take_head_line(&rest, &line) || !pythia_text_unsigned(line, UINT64_MAX, &number) ||
        !take_head_line(&rest, &line))
        return 0;
    return cut_fields(line, fields) == 2 && pythia_text_unsigned(fields[0], UINT64_MAX, &number) &&
                   fields[1].size > 0
               ? 90
               : 0;
}

static void destroy_symbiosys(struct pythia_adapter *a)
{
    struct symbiosys *s = (struct symbiosys *)a;
    if (!s)
        return;
    pythia__decoder_free(&s->d);
    pythia__whole_lines_free(&s->lines);
    pythia_hash_table_free(&s->by_number);
    pythia_hash_table_free(&s->by_key);
    pythia_free(s->rpcs);
    pythia_free(s->entries);
    pythia_free(s->spans);
    pythia_free(s);
}

static int create_symbiosys(struct pythia_vocabulary *vocabulary, struct pythia_adapter **out)
{
    struct symbiosys *s = pythia_calloc(1, sizeof(*s));
    if (!s)
        return PYTHIA_ENOMEM;
    pythia__decoder_init(&s->d, &pythia__symbiosys, vocabulary);
    const struct {
        uint32_t *string;
        struct pythia_text text;
    } strings[] = {{&s->client, PYTHIA_TEXT(CLIENT)},
                   {&s->runnable, PYTHIA_TEXT("variable.runnable_tasks")},
                   {&s->blocked, PYTHIA_TEXT("variable.blocked_tasks")},
                   {&s->max_rss, PYTHIA_TEXT("variable.max_rss_kb")},
                   {&s->ofi_events, PYTHIA_TEXT("variable.num_ofi_events_read")}};
    for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++) {
        *strings[i].string = pythia_vocabulary_string(vocabulary, strings[i].text);
        if (*strings[i].string == PYTHIA_NONE) {
            destroy_symbiosys(&s->d.adapter);
            return PYTHIA_ENOMEM;
        }
    }
    *out = &s->d.adapter;
    return PYTHIA_OK;
}

const struct pythia_adapter_ops pythia__symbiosys = {
    .name = "symbiosys",
    .help = "traces of SYMBIOSYS (margo), a file for each process: profile-HOST-PID.trace",
    .likeness = symbiosys_likeness,
    .create = create_symbiosys,
    .decode = decode_symbiosys,
    .destroy = destroy_symbiosys,
    .independent = true,
};
