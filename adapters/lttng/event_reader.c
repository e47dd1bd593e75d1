/* A graph of libbabeltrace2: the source of a folder or of a relay daemon, a muxer that puts the
 * events of all streams in order of time, and a sink here. Events go as hits into the machinery of
 * probes (probe_spans.h), which makes requests of them. In programs it runs in a process of its own
 * (reader_child.h). */
#include "event_reader.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "babeltrace.h"
#include "event_fields.h"
#include "pythia/hash.h"
#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/probe_spans.h"
#include "pythia/status.h"

#define READ_BYTES ((size_t)256 * 1024) /* of frames, after which a call returns */
#define READ_STEPS 256                  /* of a graph, of at most 15 messages each */
#define HEAD_BYTES 4096                 /* of each file, for the identity of a trace */
#define IDLE_NS    UINT64_C(600000000000)
#define NAMES_MAX  8               /* of events, in a message */
#define TIME_MAX   (INT64_MAX / 2) /* ns: of records, which events become */

/* Neighbours in one thread, of which the closest show the price of an event; what is further apart
 * has done something else in between. */
#define GAPS       1000
#define GAP_MAX_NS 2000

struct pythia__event_reader {
    const struct pythia_lttng_rules *rules; /* borrowed */
    struct pythia_probe_spans *spans;
    bt_graph *graph;
    const bt_plugin *plugins[2];
    bt_message_iterator *messages;
    struct pythia__event_source source;
    bool ended, begun;
    uint64_t identity, last_ns, idle_ns;
    struct {
        uint64_t thread, time_ns; /* of the last event */
        uint64_t closest_ns, count;
    } gaps;
    uint16_t *told; /* owned: keys of each event that were reported as missing */
    bool *met;      /* owned: events that the trace has */
    int failed;     /* in the sink, with the reason in `why` */
    struct pythia_error why;
    struct pythia_lttng_numbers numbers;
};

/* ---- which trace it is ---- */

static int fail_file(struct pythia_error *e, const char *name, int number)
{
    return pythia_error_set(e, PYTHIA_EIO, "%s cannot be read: %s", name, strerror(number));
}

/* Add name, size and beginning of a file to a hash. Chunks of one session have the same metadata,
 * and often files of the same name and size. */
static int hash_file(uint64_t *hash, const char *folder, const char *name, struct pythia_error *e)
{
    char head[HEAD_BYTES];
    struct pythia_buf path = {0};
    struct stat about = {0};
    int status = PYTHIA_OK;
    pythia_buf_printf(&path, "%s/%s", folder, name);
    if (!path.bytes)
        return pythia_error_set(e, PYTHIA_ENOMEM, "out of memory");
    int file = open(path.bytes, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    bool is_file = file >= 0 && fstat(file, &about) == 0 && S_ISREG(about.st_mode);
    ssize_t size = is_file ? read(file, head, sizeof(head)) : 0;
    if (file < 0 || size < 0) {
        status = fail_file(e, name, errno);
    } else if (is_file) {
        *hash = pythia_hash_mix(*hash, pythia_hash_bytes(name, strlen(name)));
        *hash = pythia_hash_mix(*hash, (uint64_t)about.st_size);
        *hash = pythia_hash_mix(*hash, pythia_hash_bytes(head, (size_t)size));
    }
    if (file >= 0)
        close(file);
    pythia_buf_free(&path);
    return status;
}

/* libbabeltrace2 opens whatever is there: a link could lead to files of others, and a pipe would
 * hold it up. */
static int check_entry(const char *folder, const char *name, struct pythia_error *e)
{
    struct pythia_buf path = {0};
    struct stat about;
    if (name[0] == '.')
        return PYTHIA_OK;
    pythia_buf_printf(&path, "%s/%s", folder, name);
    if (!path.bytes)
        return pythia_error_set(e, PYTHIA_ENOMEM, "out of memory");
    bool is_good =
        lstat(path.bytes, &about) == 0 && (S_ISREG(about.st_mode) || S_ISDIR(about.st_mode));
    pythia_buf_free(&path);
    return is_good ? PYTHIA_OK
                   : pythia_error_set(e, PYTHIA_EFORMAT,
                                      "has %s, which is neither a file nor a folder, and nothing "
                                      "that LTTng writes",
                                      name);
}

static int hash_folder(const char *folder, uint64_t *hash, struct pythia_error *e)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, NULL, alphasort), status = PYTHIA_OK;
    if (count < 0)
        return pythia_error_set(e, errno == ENOMEM ? PYTHIA_ENOMEM : PYTHIA_EIO,
                                "cannot be read: %s", strerror(errno));
    for (int i = 0; i < count; i++) {
        if (status == PYTHIA_OK)
            status = check_entry(folder, entries[i]->d_name, e);
        if (status == PYTHIA_OK)
            status = hash_file(hash, folder, entries[i]->d_name, e);
        free(entries[i]);
    }
    free(entries);
    return status;
}

static int identify_trace(const struct pythia__event_source *source, uint64_t *identity,
                          struct pythia_error *e)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < source->count; i++) {
        int status = hash_folder(source->where[i], &hash, e);
        if (status != PYTHIA_OK)
            return status;
    }
    *identity = hash | 1;
    return PYTHIA_OK;
}

/* ---- messages ---- */

static void fail(struct pythia__event_reader *r, int status, const char *sentence)
{
    if (r->failed == PYTHIA_OK)
        r->failed = pythia_error_set(&r->why, status, "%s", sentence);
}

/* The machine is in the environment of the trace. */
static int begin_trace(struct pythia__event_reader *r, const bt_trace *trace)
{
    const bt_value *value =
        pythia__bt.trace_borrow_environment_entry_value_by_name_const(trace, "hostname");
    bool is_text = value && pythia__bt.value_get_type(value) == BT_VALUE_TYPE_STRING;
    r->begun = true;
    return pythia_probe_spans_of_trace(r->spans, r->identity,
                                       is_text ? pythia__bt.value_string_get(value) : "");
}

static void note_events(struct pythia__event_reader *r, const bt_stream_class *class)
{
    uint64_t count = pythia__bt.stream_class_get_event_class_count(class);
    for (uint64_t i = 0; i < count; i++) {
        const bt_event_class *event =
            pythia__bt.stream_class_borrow_event_class_by_index_const(class, i);
        const char *name = pythia__bt.event_class_get_name(event);
        bool done;
        size_t point = name ? pythia_lttng_rules_find(r->rules, name, &done) : SIZE_MAX;
        if (point != SIZE_MAX)
            r->met[2 * point + done] = true;
    }
}

static void begin_stream(struct pythia__event_reader *r, const bt_stream *stream)
{
    const bt_stream_class *class = pythia__bt.stream_borrow_class_const(stream);
    if (!r->begun && begin_trace(r, pythia__bt.stream_borrow_trace_const(stream)) != PYTHIA_OK)
        fail(r, PYTHIA_ENOMEM, "out of memory");
    if (!pythia__bt.stream_class_borrow_default_clock_class_const(class))
        fail(r, PYTHIA_EFORMAT, "a stream has no clock, so that its events have no times");
    note_events(r, class);
}

static void tell_bad_keys(struct pythia__event_reader *r, size_t point, bool done,
                          const struct pythia__event_values *values)
{
    const struct pythia_probe_point *p = &pythia_lttng_rules_of(r->rules)->points[point];
    char event[PYTHIA_LTTNG_EVENT_BYTES];
    uint16_t fresh = (uint16_t)(values->bad & ~r->told[2 * point + done]);
    pythia_lttng_rules_event(r->rules, point, done, event);
    r->told[2 * point + done] |= fresh;
    for (unsigned k = 0; k < values->count; k++)
        if (!r->source.quiet && (fresh >> k & 1))
            pythia_log(PYTHIA_LOG_WARNING,
                       "A key of an event is left out: trace=%s, event=%s, key=%s, reason=%s",
                       r->source.where[0], event, p->keys[k].name, values->why[k]);
}

/* An event that follows another one of its thread at once is as far from it as one of them costs:
 * the rest of the first, and the beginning of the second. Few do, so that the smallest distance
 * counts. */
static void note_gap(struct pythia__event_reader *r, uint64_t thread, uint64_t time_ns)
{
    bool follows = thread == r->gaps.thread && time_ns > r->gaps.time_ns;
    uint64_t gap_ns = time_ns - r->gaps.time_ns;
    r->gaps.thread = thread;
    r->gaps.time_ns = time_ns;
    if (!follows)
        return;
    if (r->gaps.count == 0 || gap_ns < r->gaps.closest_ns)
        r->gaps.closest_ns = gap_ns;
    if (++r->gaps.count < GAPS)
        return;
    r->numbers.event_ns = r->gaps.closest_ns <= GAP_MAX_NS ? r->gaps.closest_ns : 0;
    r->gaps.count = 0;
}

static void take_event(struct pythia__event_reader *r, const bt_message *message)
{
    const bt_event *event = pythia__bt.message_event_borrow_event_const(message);
    const char *name = pythia__bt.event_class_get_name(pythia__bt.event_borrow_class_const(event));
    int64_t time_ns, pid, tid;
    bool done;
    size_t point = name ? pythia_lttng_rules_find(r->rules, name, &done) : SIZE_MAX;
    r->numbers.events++;
    if (point == SIZE_MAX) {
        r->numbers.other++;
        return;
    }
    const bt_field *context = pythia__bt.event_borrow_common_context_field_const(event);
    if (!pythia__event_fields_integer(context, "vpid", &pid) ||
        !pythia__event_fields_integer(context, "vtid", &tid)) {
        fail(r, PYTHIA_EFORMAT,
             "events lack the contexts vpid and vtid, so that their threads are not known: record "
             "again, with 'lttng add-context --userspace --type=vpid --type=vtid' before "
             "'lttng start'");
        return;
    }
    if (pythia__bt.clock_snapshot_get_ns_from_origin(
            pythia__bt.message_event_borrow_default_clock_snapshot_const(message), &time_ns) != 0 ||
        time_ns < 0 || time_ns > TIME_MAX) {
        fail(r, PYTHIA_EFORMAT, "an event has a time that is out of range");
        return;
    }
    const uint64_t thread = (uint64_t)(uint32_t)pid << 32 | (uint32_t)tid;
    note_gap(r, thread, (uint64_t)time_ns);
    struct pythia__event_values values;
    pythia__event_fields_read(r->rules, point, done,
                              pythia__bt.event_borrow_payload_field_const(event), &values);
    if (values.bad & ~r->told[2 * point + done])
        tell_bad_keys(r, point, done, &values);
    r->last_ns = (uint64_t)time_ns > r->last_ns ? (uint64_t)time_ns : r->last_ns;
    const struct pythia_probe_hit hit = {.time_ns = (uint64_t)time_ns,
                                         .thread = thread,
                                         .number = (uint32_t)(2 * point + done),
                                         .texts = values.texts,
                                         .values = values.count};
    if (pythia_probe_spans_add(r->spans, &hit, values.values, values.bytes) != PYTHIA_OK)
        fail(r, PYTHIA_ENOMEM, "out of memory");
}

/* Events are missing until `end`; NULL: it is not known until when, and only what is open now is
 * marked. */
static void lose(struct pythia__event_reader *r, const bt_clock_snapshot *end)
{
    int64_t until_ns = 0;
    if (end && (pythia__bt.clock_snapshot_get_ns_from_origin(end, &until_ns) != 0 || until_ns < 0 ||
                until_ns > TIME_MAX))
        until_ns = 0;
    r->last_ns = (uint64_t)until_ns > r->last_ns ? (uint64_t)until_ns : r->last_ns;
    pythia_probe_spans_lose(r->spans, (uint64_t)until_ns);
}

static void take_discarded_events(struct pythia__event_reader *r, const bt_message *message)
{
    const bt_stream_class *class = pythia__bt.stream_borrow_class_const(
        pythia__bt.message_discarded_events_borrow_stream_const(message));
    uint64_t count = 1;
    if (pythia__bt.message_discarded_events_get_count(message, &count) !=
        BT_PROPERTY_AVAILABILITY_AVAILABLE)
        count = 1;
    r->numbers.discarded_events += count;
    lose(r,
         pythia__bt.stream_class_discarded_events_have_default_clock_snapshots(class)
             ? pythia__bt.message_discarded_events_borrow_end_default_clock_snapshot_const(message)
             : NULL);
}

static void take_discarded_packets(struct pythia__event_reader *r, const bt_message *message)
{
    const bt_stream_class *class = pythia__bt.stream_borrow_class_const(
        pythia__bt.message_discarded_packets_borrow_stream_const(message));
    uint64_t count = 1;
    if (pythia__bt.message_discarded_packets_get_count(message, &count) !=
        BT_PROPERTY_AVAILABILITY_AVAILABLE)
        count = 1;
    r->numbers.discarded_packets += count;
    lose(r,
         pythia__bt.stream_class_discarded_packets_have_default_clock_snapshots(class)
             ? pythia__bt.message_discarded_packets_borrow_end_default_clock_snapshot_const(message)
             : NULL);
}

static void take_message(struct pythia__event_reader *r, const bt_message *message)
{
    switch (pythia__bt.message_get_type(message)) {
    case BT_MESSAGE_TYPE_STREAM_BEGINNING:
        begin_stream(r, pythia__bt.message_stream_beginning_borrow_stream_const(message));
        break;
    case BT_MESSAGE_TYPE_EVENT:
        take_event(r, message);
        break;
    case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
        take_discarded_events(r, message);
        break;
    case BT_MESSAGE_TYPE_DISCARDED_PACKETS:
        take_discarded_packets(r, message);
        break;
    default:
        break;
    }
}

static bt_graph_simple_sink_component_initialize_func_status keep_iterator(bt_message_iterator *it,
                                                                           void *context)
{
    struct pythia__event_reader *r = context;
    pythia__bt.message_iterator_get_ref(it);
    r->messages = it;
    return BT_GRAPH_SIMPLE_SINK_COMPONENT_INITIALIZE_FUNC_STATUS_OK;
}

static bt_graph_simple_sink_component_consume_func_status consume(bt_message_iterator *it,
                                                                  void *context)
{
    struct pythia__event_reader *r = context;
    bt_message_array_const messages;
    uint64_t count = 0;
    switch (pythia__bt.message_iterator_next(it, &messages, &count)) {
    case BT_MESSAGE_ITERATOR_NEXT_STATUS_OK:
        break;
    case BT_MESSAGE_ITERATOR_NEXT_STATUS_END:
        return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_END;
    case BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN:
        return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_AGAIN;
    default:
        return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_ERROR;
    }
    for (uint64_t i = 0; i < count; i++) {
        if (r->failed == PYTHIA_OK)
            take_message(r, messages[i]);
        pythia__bt.message_put_ref(messages[i]);
    }
    return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_OK;
}

/* ---- the graph ---- */

static int find_plugins(struct pythia__event_reader *r, struct pythia_error *e)
{
    static const char *const names[2] = {"ctf", "utils"};
    for (int i = 0; i < 2; i++)
        if (pythia__bt.plugin_find(names[i], BT_FALSE, BT_FALSE, BT_TRUE, BT_FALSE, BT_FALSE,
                                   &r->plugins[i]) != BT_PLUGIN_FIND_STATUS_OK)
            return pythia__babeltrace_fail(
                e, PYTHIA_EIO,
                "libbabeltrace2 cannot load its plugins that read traces (out of memory, or is "
                "the package libbabeltrace2-0 incomplete?)");
    return PYTHIA_OK;
}

/* Parameters of a source: where it reads, and of a relay daemon, to wait for the session. NULL:
 * there is no memory. */
static bt_value *make_parameters(const struct pythia__event_reader *r)
{
    bt_value *parameters = pythia__bt.value_map_create(), *inputs = NULL;
    bool good = parameters &&
                pythia__bt.value_map_insert_empty_array_entry(parameters, "inputs", &inputs) == 0;
    for (size_t i = 0; i < r->source.count && good; i++)
        good = pythia__bt.value_array_append_string_element(inputs, r->source.where[i]) == 0;
    if (!good || (r->source.is_live && pythia__bt.value_map_insert_string_entry(
                                           parameters, "session-not-found-action", "fail") != 0)) {
        if (parameters)
            pythia__bt.value_put_ref(parameters);
        return NULL;
    }
    return parameters;
}

/* Each stream of a folder has a port; the muxer gets one more for each that is connected. */
static bool connect_ports(const struct pythia__event_reader *r, const bt_component_source *source,
                          const bt_component_filter *muxer, const bt_component_sink *sink)
{
    uint64_t count = pythia__bt.component_source_get_output_port_count(source);
    for (uint64_t i = 0; i < count; i++)
        if (pythia__bt.graph_connect_ports(
                r->graph, pythia__bt.component_source_borrow_output_port_by_index_const(source, i),
                pythia__bt.component_filter_borrow_input_port_by_index_const(muxer, i), NULL) != 0)
            return false;
    return pythia__bt.graph_connect_ports(
               r->graph, pythia__bt.component_filter_borrow_output_port_by_index_const(muxer, 0),
               pythia__bt.component_sink_borrow_input_port_by_index_const(sink, 0), NULL) == 0;
}

/* A graph that is not whole is destroyed with its reader. */
static bool build_graph(struct pythia__event_reader *r)
{
    const bt_component_class_source *reads =
        pythia__bt.plugin_borrow_source_component_class_by_name_const(
            r->plugins[0], r->source.is_live ? "lttng-live" : "fs");
    const bt_component_class_filter *sorts =
        pythia__bt.plugin_borrow_filter_component_class_by_name_const(r->plugins[1], "muxer");
    const bt_component_source *source = NULL;
    const bt_component_filter *muxer = NULL;
    const bt_component_sink *sink = NULL;
    bt_value *parameters = make_parameters(r);
    r->graph = pythia__bt.graph_create(0);
    bool built = reads && sorts && parameters && r->graph &&
                 pythia__bt.graph_add_source_component(r->graph, reads, "source", parameters,
                                                       BT_LOGGING_LEVEL_NONE, &source) == 0 &&
                 pythia__bt.graph_add_filter_component(r->graph, sorts, "muxer", NULL,
                                                       BT_LOGGING_LEVEL_NONE, &muxer) == 0 &&
                 pythia__bt.graph_add_simple_sink_component(r->graph, "sink", keep_iterator,
                                                            consume, NULL, r, &sink) == 0 &&
                 connect_ports(r, source, muxer, sink);
    if (parameters)
        pythia__bt.value_put_ref(parameters);
    return built;
}

static int open_events(const struct pythia__event_source *source, struct pythia__event_reader **out,
                       struct pythia_error *e)
{
    const struct pythia_lttng_rules *rules = source->rules;
    const struct pythia_probe_rules *of = pythia_lttng_rules_of(rules);
    int status = pythia__babeltrace_load(e);
    if (status != PYTHIA_OK)
        return status;
    struct pythia__event_reader *r = pythia_calloc(1, sizeof(*r));
    if (!r)
        return pythia_error_set(e, PYTHIA_ENOMEM, "out of memory");
    r->rules = rules;
    r->source = *source;
    r->told = pythia_calloc(2 * of->point_count, sizeof(*r->told));
    r->met = pythia_calloc(2 * of->point_count, sizeof(*r->met));
    status = r->told && r->met ? pythia_probe_spans_create(of, &r->spans) : PYTHIA_ENOMEM;
    for (size_t i = 0; i < 2 * of->point_count && status == PYTHIA_OK; i++)
        if (pythia_lttng_rules_has_events(rules, i / 2))
            status = pythia_probe_spans_define(r->spans, (uint32_t)i, i / 2, i % 2);
    if (status != PYTHIA_OK) {
        pythia__event_reader_close(r);
        return pythia_error_set(e, status, "out of memory");
    }
    status = find_plugins(r, e);
    if (status == PYTHIA_OK && !build_graph(r))
        status =
            pythia__babeltrace_fail(e, r->source.is_live ? PYTHIA_EIO : PYTHIA_EFORMAT,
                                    r->source.is_live ? "the relay daemon cannot be followed"
                                                      : "the trace cannot be read (was it copied "
                                                        "whole, after 'lttng stop'?)");
    if (status != PYTHIA_OK)
        pythia__event_reader_close(r);
    else
        *out = r;
    return status;
}

/* A session is followed once: its spans need ids that no other reader gives. */
static uint64_t identify_session(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return pythia_hash_mix(pythia_hash_mix(pythia_hash_seed(), (uint64_t)getpid()),
                           (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec) |
           1;
}

int pythia__event_reader_open(const struct pythia__event_source *source,
                              struct pythia__event_reader **out, struct pythia_error *e)
{
    uint64_t identity = 0;
    int status = source->is_live ? PYTHIA_OK : identify_trace(source, &identity, e);
    if (status != PYTHIA_OK || (status = open_events(source, out, e)) != PYTHIA_OK)
        return status;
    (*out)->identity = source->is_live ? identify_session() : identity;
    return PYTHIA_OK;
}

void pythia__event_reader_close(struct pythia__event_reader *r)
{
    if (!r)
        return;
    if (r->messages)
        pythia__bt.message_iterator_put_ref(r->messages);
    if (r->graph)
        pythia__bt.graph_put_ref(r->graph);
    for (int i = 0; i < 2; i++)
        if (r->plugins[i])
            pythia__bt.plugin_put_ref(r->plugins[i]);
    pythia_probe_spans_destroy(r->spans);
    pythia_free(r->told);
    pythia_free(r->met);
    pythia_free(r);
}

/* ---- reading ---- */

/* Say which events of the rules a folder does not have: a name may be wrong. */
static void tell_unmet(const struct pythia__event_reader *r)
{
    struct pythia_buf names = {0};
    size_t unmet = 0;
    for (size_t i = 0; i < 2 * pythia_lttng_rules_of(r->rules)->point_count; i++) {
        char name[PYTHIA_LTTNG_EVENT_BYTES];
        if (r->met[i] || !pythia_lttng_rules_has_events(r->rules, i / 2))
            continue;
        pythia_lttng_rules_event(r->rules, i / 2, i % 2, name);
        if (unmet++ < NAMES_MAX)
            pythia_buf_printf(&names, "%s%s", unmet > 1 ? " " : "", name);
    }
    if (unmet > 0)
        pythia_log(PYTHIA_LOG_WARNING,
                   "A trace does not have all events of the rules (were they enabled, and are the "
                   "names right? 'babeltrace2 TRACE' shows them): trace=%s, missing=%zu, "
                   "events=%s%s",
                   r->source.where[0], unmet, names.bytes ? names.bytes : "",
                   unmet > NAMES_MAX ? " ..." : "");
    pythia_buf_free(&names);
}

static void end_trace(struct pythia__event_reader *r)
{
    r->ended = true;
    pythia_probe_spans_abandon(r->spans, UINT64_MAX);
    if (!r->source.is_live && !r->source.quiet)
        tell_unmet(r);
}

/* One step of the graph. 1: there is nothing more for now. */
static int step(struct pythia__event_reader *r)
{
    const int status = r->source.is_live ? PYTHIA_EIO : PYTHIA_EFORMAT;
    const char *what = r->source.is_live ? "the session can no longer be followed"
                                         : "the trace cannot be read further";
    bt_graph_run_once_status run = pythia__bt.graph_run_once(r->graph);
    struct pythia_error why = {0};
    int failed = run < 0 ? pythia__babeltrace_fail(&why, status, what)
                         : pythia__babeltrace_check(&why, status, what);
    if (r->failed == PYTHIA_OK && failed != PYTHIA_OK) {
        r->failed = failed;
        r->why = why;
    }
    if (r->failed != PYTHIA_OK || run == BT_GRAPH_RUN_ONCE_STATUS_END)
        end_trace(r);
    return r->failed != PYTHIA_OK ? r->failed : run != BT_GRAPH_RUN_ONCE_STATUS_OK ? 1 : PYTHIA_OK;
}

static int take_spans(struct pythia__event_reader *r, struct pythia_buf *to)
{
    uint64_t lost = r->numbers.discarded_events + r->numbers.discarded_packets;
    return pythia_probe_spans_take(r->spans, r->last_ns, 0, lost, to);
}

int pythia__event_reader_read(struct pythia__event_reader *r, struct pythia_buf *to, bool *more,
                              struct pythia_error *e)
{
    int status = r->ended ? 1 : PYTHIA_OK;
    size_t begin = to->size;
    for (int i = 0; i < READ_STEPS && status == PYTHIA_OK && to->size - begin < READ_BYTES; i++) {
        status = step(r);
        if (take_spans(r, to) != PYTHIA_OK)
            return pythia_error_set(e, PYTHIA_ENOMEM, "out of memory");
    }
    if (r->last_ns - r->idle_ns > IDLE_NS) {
        pythia_probe_spans_abandon(r->spans, r->last_ns - IDLE_NS);
        r->idle_ns = r->last_ns;
    }
    *more = status == PYTHIA_OK;
    if (r->failed != PYTHIA_OK)
        *e = r->why;
    return r->failed;
}

void pythia__event_reader_switch(struct pythia__event_reader *r, uint64_t until_ns)
{
    pythia_probe_spans_switch(r->spans, until_ns);
}

int pythia__event_reader_end(struct pythia__event_reader *r, struct pythia_buf *to)
{
    end_trace(r);
    return take_spans(r, to);
}

bool pythia__event_reader_has_ended(const struct pythia__event_reader *r)
{
    return r->ended;
}

struct pythia_lttng_numbers pythia__event_reader_numbers(const struct pythia__event_reader *r)
{
    struct pythia_probe_numbers n = pythia_probe_spans_numbers(r->spans);
    struct pythia_lttng_numbers numbers = r->numbers;
    numbers.outside = n.outside;
    numbers.unmatched = n.unmatched;
    numbers.abandoned = n.abandoned;
    numbers.oversize = n.oversize;
    numbers.crowded = n.crowded;
    return numbers;
}
