/* Traces and paths as text, so that a test reads like the description of what it checks. Parts
 * stand one after the other with blanks between them, times are in ns from a common beginning:
 *
 *   A[0,1000] B[10,110]<A      a root and its child
 *   A[0,?]                     a start without its stop, which is /A[1000]
 *   A[7]                       a point in time
 *   +A                         an addition to A, or to the half of it that has the service
 *   &K[100]<A                  in A, work is forked off as the trace K
 *   R[150,790]<&K              a root of that work
 *   W[450,800]<A&K             A waits for it: the start and the stop of a wait
 *
 * Behind these may stand, each after a colon: call, spawn, error, lossy, many (roots are normal),
 * client, consumer, producer, server, shared (the server's half of the span with that name), @host,
 * %service, {value} or {key=number} (an attribute), =point (the name of its trace point, which may
 * be empty). A name has up to 8
 * characters; what stands before a dot in it is the name of its trace point, unless it has another.
 */
#ifndef TRACE_TEXT_H
#define TRACE_TEXT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "pythia/attributes.h"
#include "pythia/critical_path.h"
#include "pythia/random.h"
#include "pythia/status.h"
#include "pythia/trace.h"

#define TRACE_TEXT_BEGIN UINT64_C(1700000000000000000)
#define TRACE_TEXT_PARTS 256

struct trace_part {
    struct pythia_span span;
    char point[16], host[16], service[16], value[64];
    struct pythia_buf attributes;
};

/* A name as an id, and back: its characters are the bytes of the number, the first one the highest,
 * so that ids are in the order of their names. */
static inline uint64_t id_of_name(const char *name, size_t size)
{
    uint64_t id = 0;
    assert_in_range(size, 1, 8);
    for (size_t i = 0; i < 8; i++)
        id = id << 8 | (i < size ? (unsigned char)name[i] : 0);
    return id;
}

static inline const char *name_of_id(uint64_t id, char *room)
{
    size_t size = 0;
    for (; id; id <<= 8)
        room[size++] = (char)(id >> 56);
    room[size] = '\0';
    return room;
}

static inline struct pythia_trace_id trace_id_of_name(const char *name, size_t size)
{
    return (struct pythia_trace_id){1, id_of_name(name, size)};
}

static inline uint64_t folded_id_of_name(const char *name, size_t size)
{
    struct pythia_trace_id id = trace_id_of_name(name, size);
    return pythia_span_id_fold(id.high, id.low);
}

static inline const char *skip_name(const char *at)
{
    return at + strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._");
}

static inline uint64_t read_time(const char **at)
{
    char *end;
    uint64_t time = TRACE_TEXT_BEGIN + (uint64_t)strtoll(*at, &end, 10);
    assert_true(end != *at);
    *at = end;
    return time;
}

static inline void copy_word(char *to, size_t room, const char *from, size_t size)
{
    assert_true(size < room);
    memcpy(to, from, size);
    to[size] = '\0';
}

/* What stands behind a colon. */
static inline const char *read_option(const char *at, struct trace_part *part)
{
    size_t size = strcspn(at, ": ");
    struct pythia_text word = {at, size};
    if (*at == '@')
        copy_word(part->host, sizeof(part->host), at + 1, size - 1);
    else if (*at == '%')
        copy_word(part->service, sizeof(part->service), at + 1, size - 1);
    else if (*at == '=')
        copy_word(part->point, sizeof(part->point), at + 1, size - 1);
    else if (*at == '{')
        copy_word(part->value, sizeof(part->value), at + 1, size - 2);
    else if (PYTHIA_TEXT_IS(word, "call"))
        part->span.relation = PYTHIA_RELATION_CALL;
    else if (PYTHIA_TEXT_IS(word, "spawn"))
        part->span.relation = PYTHIA_RELATION_SPAWN;
    else if (PYTHIA_TEXT_IS(word, "error"))
        part->span.error = true;
    else if (PYTHIA_TEXT_IS(word, "lossy"))
        part->span.lossy = true;
    else if (PYTHIA_TEXT_IS(word, "many"))
        part->span.many_roots = true;
    else if (PYTHIA_TEXT_IS(word, "client"))
        part->span.kind = PYTHIA_SPAN_CLIENT;
    else if (PYTHIA_TEXT_IS(word, "consumer"))
        part->span.kind = PYTHIA_SPAN_CONSUMER;
    else if (PYTHIA_TEXT_IS(word, "producer"))
        part->span.kind = PYTHIA_SPAN_PRODUCER;
    else if (PYTHIA_TEXT_IS(word, "server"))
        part->span.kind = PYTHIA_SPAN_SERVER;
    else if (PYTHIA_TEXT_IS(word, "shared")) {
        part->span.shared = true;
        part->span.kind = PYTHIA_SPAN_SERVER;
    } else
        fail_msg("no such option: %s", at);
    return at + size;
}

/* The times between brackets: [start,end], [start,?] or [start]. */
static inline const char *read_times(const char *at, struct pythia_span *span)
{
    assert_int_equal(*at++, '[');
    span->start_ns = read_time(&at);
    if (*at == ']') {
        if (span->part == PYTHIA_PART_WHOLE)
            span->part = PYTHIA_PART_ANNOTATION;
        return at + 1;
    }
    assert_int_equal(*at++, ',');
    if (*at == '?') {
        span->part = PYTHIA_PART_START;
        at++;
    } else {
        span->duration_ns = (int64_t)(read_time(&at) - span->start_ns);
    }
    assert_int_equal(*at, ']');
    return at + 1;
}

/* Read one part; a wait fills two. */
static inline const char *read_part(const char *at, struct trace_part *parts, size_t *count)
{
    struct trace_part *part = &parts[(*count)++];
    *part = (struct trace_part){.span = {.part = *at == '/'   ? PYTHIA_PART_STOP
                                                 : *at == '&' ? PYTHIA_PART_FORK
                                                 : *at == '+' ? PYTHIA_PART_ADDITION
                                                              : PYTHIA_PART_WHOLE}};
    at += part->span.part != PYTHIA_PART_WHOLE;
    const char *end = skip_name(at);
    size_t size = (size_t)(end - at), dot = strcspn(at, ".[<: ");
    copy_word(part->point, sizeof(part->point), at, dot < size ? dot : size);
    part->span.id = id_of_name(at, size);
    if (part->span.part == PYTHIA_PART_FORK) {
        part->span.link = trace_id_of_name(at, size);
        part->span.id = folded_id_of_name(at, size);
    }
    at = part->span.part == PYTHIA_PART_ADDITION ? end : read_times(end, &part->span);
    if (*at == '<') {
        bool work = at[1] == '&';
        at += work ? 2 : 1;
        end = skip_name(at);
        part->span.parent =
            work ? folded_id_of_name(at, (size_t)(end - at)) : id_of_name(at, (size_t)(end - at));
        at = end;
    }
    if (*at == '&') {
        end = skip_name(++at);
        parts[*count] = *part;
        parts[*count].span.part = PYTHIA_PART_STOP;
        parts[*count].span.start_ns += (uint64_t)part->span.duration_ns;
        (*count)++;
        part->span.part = PYTHIA_PART_WAIT;
        part->span.link = trace_id_of_name(at, (size_t)(end - at));
        at = end;
    }
    while (*at == ':')
        at = read_option(at + 1, part);
    return at;
}

/* Read `text` into `parts`, which has room for TRACE_TEXT_PARTS; returns how many there are. */
static inline size_t read_parts(const char *text, struct trace_part *parts)
{
    size_t count = 0;
    while (*(text += strspn(text, " "))) {
        assert_true(count + 2 <= TRACE_TEXT_PARTS);
        text = read_part(text, parts, &count);
    }
    return count;
}

static inline void free_parts(struct trace_part *parts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        pythia_buf_free(&parts[i].attributes);
}

static inline uint32_t intern(struct pythia_vocabulary *v, const char *text)
{
    return pythia_vocabulary_string(v, pythia_text_of(text));
}

/* Put the names of a part into the vocabulary; returns its span, which borrows from the part. */
static inline const struct pythia_span *name_part(struct trace_part *part,
                                                  struct pythia_vocabulary *v)
{
    struct pythia_resource resource = {.service = intern(v, part->service),
                                       .host = intern(v, part->host)};
    part->span.resource = pythia_vocabulary_resource(v, &resource);
    part->span.tracepoint =
        part->span.part == PYTHIA_PART_STOP
            ? PYTHIA_NONE
            : pythia_vocabulary_tracepoint(v, resource.service, 0, intern(v, part->point));
    pythia_buf_clear(&part->attributes);
    const char *equals = strchr(part->value, '=');
    uint32_t key = equals
                       ? pythia_vocabulary_string(
                             v, (struct pythia_text){part->value, (size_t)(equals - part->value)})
                       : intern(v, "value");
    if (equals && strchr(equals, '.'))
        pythia_attributes_real(&part->attributes, key, strtod(equals + 1, NULL));
    else if (equals)
        pythia_attributes_integer(&part->attributes, key, strtoll(equals + 1, NULL, 10));
    else if (part->value[0])
        pythia_attributes_text(&part->attributes, key, pythia_text_of(part->value));
    part->span.attributes = pythia_buf_text(&part->attributes);
    return &part->span;
}

/* ---- writing ---- */

struct trace_writer {
    char *to;
    size_t room, size;
    const struct pythia_trace *trace;
    struct pythia_vocabulary
        *vocabulary; /* NULL: without what only tells orders of arrival apart */
};

__attribute__((format(printf, 2, 3))) static inline void put(struct trace_writer *w,
                                                             const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int size = vsnprintf(w->to + w->size, w->room - w->size, format, args);
    va_end(args);
    assert_true(size >= 0 && (size_t)size < w->room - w->size);
    w->size += (size_t)size;
}

static inline void put_name(struct trace_writer *w, uint32_t span)
{
    char name[9];
    const struct pythia_trace_span *s = &w->trace->spans[span];
    put(w, "%s%s", name_of_id(s->id, name), s->kind == PYTHIA_SPAN_SERVER ? "'" : "");
}

static inline void put_attributes(struct trace_writer *w, struct pythia_text packed)
{
    struct pythia_attribute a;
    while (pythia_attributes_next(&packed, &a))
        put(w, ":{%.*s}", (int)a.text.size, a.text.bytes);
}

static inline void put_span(struct trace_writer *w, uint32_t span)
{
    const struct pythia_trace_span *s = &w->trace->spans[span];
    put_name(w, span);
    put(w, "[%lld", (long long)(s->start_ns - TRACE_TEXT_BEGIN));
    if (!s->annotation)
        put(w, ",%lld", (long long)(s->end_ns - TRACE_TEXT_BEGIN));
    if (s->completed_ns != s->end_ns)
        put(w, "..%lld", (long long)(s->completed_ns - TRACE_TEXT_BEGIN));
    put(w, "]");
    if (s->forked)
        put(w, ":forked");
    if (s->joins != PYTHIA_NO_SPAN) {
        put(w, ":joins=");
        put_name(w, s->joins);
    }
    if (s->error)
        put(w, ":error");
    put_attributes(w, s->attributes);
    for (int repair = 0; repair < PYTHIA_REPAIRS; repair++)
        if (s->repairs >> repair & 1)
            put(w, ":%s", pythia_repair_name((enum pythia_repair)repair));
    if (w->vocabulary) {
        struct pythia_resource r = pythia_vocabulary_resource_at(w->vocabulary, s->resource);
        put(w, ":%s:@%s:%%%s:%d:%d",
            pythia_vocabulary_tracepoint_id(w->vocabulary, s->tracepoint).bytes,
            pythia_vocabulary_text(w->vocabulary, r.host).bytes,
            pythia_vocabulary_text(w->vocabulary, r.service).bytes, s->kind, s->relation);
    }
}

/* "A[0,1000]{B[10,110] C[200,300..400]:skew}": siblings in their order, the completion behind the
 * end if it is later, repairs behind colons. */
static inline void put_tree(struct trace_writer *w, uint32_t first)
{
    for (uint32_t span = first; span != PYTHIA_NO_SPAN; span = w->trace->spans[span].next_sibling) {
        if (span != first)
            put(w, " ");
        put_span(w, span);
        if (w->trace->spans[span].first_child == PYTHIA_NO_SPAN)
            continue;
        put(w, "{");
        put_tree(w, w->trace->spans[span].first_child);
        put(w, "}");
    }
}

static inline void put_event(struct trace_writer *w, const struct pythia_path_event *event)
{
    put(w, "%s",
        event->kind == PYTHIA_EVENT_END          ? "/"
        : event->kind == PYTHIA_EVENT_ANNOTATION ? "*"
                                                 : "");
    put(w, "%s", event->synthetic ? "~" : "");
    put_name(w, event->span);
}

/* "A -10-> B -100-> /B -890-> /A"; "~B" is where B is entered but did not begin, "*C" a point in
 * time. */
static inline void put_path(struct trace_writer *w, const struct pythia_critical_path *p)
{
    for (size_t i = 0; i < p->count; i++) {
        if (i)
            put(w, " -%lld-> ", (long long)(p->events[i].at_ns - p->events[i - 1].at_ns));
        put_event(w, &p->events[i]);
    }
}

/* "orphan 1 late 2": what is not 0 among repairs, drops and spans that outlive their parents. */
static inline void put_counts(struct trace_writer *w, const struct pythia_counts *c)
{
    for (int i = 0; i < PYTHIA_REPAIRS; i++)
        if (c->repaired[i])
            put(w, "%s%s %llu", w->size ? " " : "", pythia_repair_name((enum pythia_repair)i),
                (unsigned long long)c->repaired[i]);
    for (int i = 0; i < PYTHIA_DROPS; i++)
        if (c->dropped[i])
            put(w, "%s%s %llu", w->size ? " " : "", pythia_drop_name((enum pythia_drop)i),
                (unsigned long long)c->dropped[i]);
    if (c->hidden)
        put(w, "%shidden %llu", w->size ? " " : "", (unsigned long long)c->hidden);
    if (c->outlive)
        put(w, "%soutlive %llu", w->size ? " " : "", (unsigned long long)c->outlive);
}

/* ---- what holds for every path ---- */

/* What is wrong with a path, NULL if nothing is: its times never go back, spans are left in the
 * order they were entered, none is on it twice, it enters a span at its start unless it says so,
 * and its gaps add up to its length. */
static inline const char *fault_of_path(const struct pythia_trace *trace,
                                        const struct pythia_critical_path *p)
{
    uint32_t *stack = calloc(p->count + 1, sizeof(*stack));
    uint8_t *seen = calloc(trace->count + 1u, 1);
    size_t depth = 0;
    uint64_t sum = 0;
    const char *fault = p->count ? NULL : "it is empty";
    for (size_t i = 0; i < p->count && !fault; i++) {
        const struct pythia_path_event *e = &p->events[i];
        const struct pythia_trace_span *s = &trace->spans[e->span];
        if (i && e->at_ns < p->events[i - 1].at_ns)
            fault = "a gap is negative";
        else if (e->tracepoint != s->tracepoint)
            fault = "an event has the trace point of another span";
        else if (e->kind != PYTHIA_EVENT_END && seen[e->span]++)
            fault = "a span is on it twice";
        else if (e->kind == PYTHIA_EVENT_END && (depth == 0 || stack[--depth] != e->span))
            fault = "a span is left that was not the last one entered";
        else if (e->kind != PYTHIA_EVENT_END &&
                 (e->synthetic ? e->at_ns < s->start_ns : e->at_ns != s->start_ns))
            fault = "a span is entered elsewhere than at its start";
        else if (e->kind == PYTHIA_EVENT_END && e->at_ns > s->completed_ns)
            fault = "a span is left after all has ended";
        if (e->kind == PYTHIA_EVENT_START)
            stack[depth++] = e->span;
        sum += i ? e->at_ns - p->events[i - 1].at_ns : 0;
    }
    if (!fault && p->events[0].at_ns != trace->start_ns)
        fault = "it begins after the request";
    if (!fault && depth)
        fault = "a span is entered and never left";
    if (!fault && sum != p->events[p->count - 1].at_ns - p->events[0].at_ns)
        fault = "its gaps do not add up to its length";
    free(stack);
    free(seen);
    return fault;
}

/* ---- a trace against what is expected of it ---- */

struct expected {
    const char *spans;      /* the parts; they are put together in every order, or in many */
    const char *open;       /* the open trace points, a blank between them; NULL: all */
    const char *tree;       /* NULL: not looked at */
    const char *counts;     /* NULL: nothing was mended, dropped or outlived its parent */
    const char *client;     /* the critical path; NULL: not looked at */
    const char *completion; /* until all work has ended; NULL: the same */
};

struct written {
    char tree[8192], exact[16384], counts[256], paths[2][8192];
};

static inline struct pythia_open_points *open_points_of(struct pythia_vocabulary *v,
                                                        const char *ids)
{
    struct pythia_open_points *open = NULL;
    if (!ids)
        return NULL;
    assert_int_equal(pythia_open_points_create(v, &open), PYTHIA_OK);
    while (*(ids += strspn(ids, " "))) {
        size_t size = strcspn(ids, " ");
        assert_int_equal(pythia_open_points_add(open, (struct pythia_text){ids, size}), PYTHIA_OK);
        ids += size;
    }
    return open;
}

static inline void write_trace(struct written *to, struct pythia_vocabulary *v,
                               const struct pythia_trace *trace, const struct pythia_counts *counts)
{
    struct trace_writer tree = {to->tree, sizeof(to->tree), 0, trace, NULL};
    struct trace_writer exact = {to->exact, sizeof(to->exact), 0, trace, v};
    struct trace_writer all = {to->counts, sizeof(to->counts), 0, trace, NULL};
    struct pythia_critical_path path;
    put_tree(&tree, trace->first_root);
    put_tree(&exact, trace->first_root);
    to->counts[0] = '\0';
    put_counts(&all, counts);
    pythia_critical_path_init(&path);
    for (int k = 0; k < 2; k++) {
        struct trace_writer w = {to->paths[k], sizeof(to->paths[k]), 0, trace, NULL};
        enum pythia_latency latency = k ? PYTHIA_LATENCY_COMPLETION : PYTHIA_LATENCY_CLIENT;
        assert_int_equal(pythia_critical_path_find(&path, trace, latency), PYTHIA_OK);
        const char *fault = fault_of_path(trace, &path);
        put_path(&w, &path);
        if (fault)
            fail_msg("%s: %s, of %s", fault, to->paths[k], to->tree);
    }
    pythia_critical_path_free(&path);
}

/* Build the trace from its parts in the order given and write it down. */
static inline void build_and_write(struct trace_part *parts, const size_t *order, size_t count,
                                   const char *open_ids, struct written *to)
{
    struct pythia_vocabulary *v = NULL;
    struct pythia_trace_builder *b = NULL;
    struct pythia_counts counts = {0};
    const struct pythia_trace *trace = NULL;
    assert_int_equal(pythia_vocabulary_create(&v), PYTHIA_OK);
    struct pythia_open_points *open = open_points_of(v, open_ids);
    assert_int_equal(pythia_trace_builder_create(v, open, &b), PYTHIA_OK);
    pythia_trace_builder_begin(b, trace_id_of_name("trace", 5));
    for (size_t i = 0; i < count; i++)
        assert_int_equal(pythia_trace_builder_add(b, name_part(&parts[order[i]], v)), PYTHIA_OK);
    int status = pythia_trace_builder_finish(b, &counts, &trace);
    if (status == 1) {
        struct trace_writer w = {to->counts, sizeof(to->counts), 0, NULL, NULL};
        memset(to, 0, sizeof(*to));
        put_counts(&w, &counts);
        assert_int_equal(counts.traces + counts.kept, 0);
    } else {
        assert_int_equal(status, PYTHIA_OK);
        assert_int_equal(counts.traces, 1);
        assert_int_equal(counts.kept, trace->count);
        write_trace(to, v, trace, &counts);
    }
    pythia_trace_builder_destroy(b);
    pythia_open_points_destroy(open);
    pythia_vocabulary_destroy(v);
}

static inline void swap_sizes(size_t *a, size_t *b)
{
    size_t swap = *a;
    *a = *b;
    *b = swap;
}

/* The next order of 0, 1, …, n - 1 in the order of a dictionary; false after the last. */
static inline bool next_order(size_t *order, size_t n)
{
    size_t i = n, j = n;
    while (i > 1 && order[i - 2] > order[i - 1])
        i--;
    if (i < 2)
        return false;
    while (order[j - 1] < order[i - 2])
        j--;
    swap_sizes(&order[i - 2], &order[j - 1]);
    for (size_t low = i - 1, high = n - 1; low < high; low++, high--)
        swap_sizes(&order[low], &order[high]);
    return true;
}

#define assert_written(actual, wanted)                                                             \
    do {                                                                                           \
        if (wanted)                                                                                \
            _assert_string_equal((actual), (wanted), file, line);                                  \
    } while (0)

/* The trace is as expected, and it is the same whatever the order in which its parts came: all
 * orders of up to 6, else 200 random ones. */
static inline void compare_trace(const struct expected *e, const char *file, int line)
{
    static struct trace_part parts[TRACE_TEXT_PARTS];
    static struct written first, other;
    size_t order[TRACE_TEXT_PARTS], count = read_parts(e->spans, parts);
    for (size_t i = 0; i < count; i++)
        order[i] = i;
    build_and_write(parts, order, count, e->open, &first);
    assert_written(first.tree, e->tree);
    assert_written(first.counts, e->counts ? e->counts : "");
    assert_written(first.paths[0], e->client);
    assert_written(first.paths[1], e->completion ? e->completion : e->client);
    struct pythia_random r;
    pythia_random_init(&r, count);
    for (size_t tries = 0; count <= 6 ? next_order(order, count) : tries < 200; tries++) {
        if (count > 6)
            pythia_random_shuffle(&r, order, count);
        build_and_write(parts, order, count, e->open, &other);
        assert_written(other.exact, first.exact);
        assert_written(other.counts, first.counts);
        assert_written(other.paths[0], first.paths[0]);
        assert_written(other.paths[1], first.paths[1]);
    }
    free_parts(parts, count);
}

#define check_trace(...) compare_trace(&(struct expected){__VA_ARGS__}, __FILE__, __LINE__)

#endif
