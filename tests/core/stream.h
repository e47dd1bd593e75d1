/* A live stream that a test makes: requests as text, at times that it chooses, and what came of the
 * cycles. A span is the name of its trace point and, between braces, what happens in it, one after
 * the other; numbers are milliseconds that pass. What stands before the first colon is the service:
 *
 *   web:GET{10 db:SELECT{100} 890}
 *
 * The clock of the spans is that of the stream, and begins at STREAM_EPOCH. */
#ifndef STREAM_H
#define STREAM_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "pythia/attributes.h"
#include "pythia/live.h"
#include "pythia/mem.h"
#include "pythia/status.h"

#define STREAM_EPOCH UINT64_C(1700000000000000000)
#define MS           UINT64_C(1000000)
#define STREAM_SEEN  256

struct stream {
    struct pythia_vocabulary *vocabulary;
    struct pythia_live *live;
    struct pythia_span_batch *batch;
    uint64_t now_ms, number; /* of the next request */
    uint64_t delay_ms;       /* between the end of a request and its spans' arrival */
    uint64_t skew_ms;        /* by which the clock of the spans is behind */
    const char *host;        /* that the spans come from; NULL: none is known */
    int answer;              /* of the taker */
    struct {
        uint64_t number, requests, under_way, spans, begin_ms, end_ms;
        size_t switches, opened, types;
        bool finished;
        uint64_t wish; /* when it was told */
    } seen[STREAM_SEEN];
    size_t cycles;
    char types[1024]; /* of the last cycle: "A 50 B 3" */
    void (*look)(struct stream *s, const struct pythia_live_cycle *cycle); /* or NULL */
};

static inline int stream_cycle(void *context, const struct pythia_live_cycle *cycle)
{
    struct stream *s = context;
    size_t count, size = 0;
    const struct pythia_type *types = pythia_groups_types(cycle->groups, &count);
    assert_true(s->cycles < STREAM_SEEN);
    s->seen[s->cycles].number = cycle->decisions.number;
    s->seen[s->cycles].requests = cycle->requests;
    s->seen[s->cycles].under_way = cycle->under_way;
    s->seen[s->cycles].spans = cycle->spans;
    s->seen[s->cycles].begin_ms = (cycle->begin_ns - STREAM_EPOCH) / MS;
    s->seen[s->cycles].end_ms = (cycle->end_ns - STREAM_EPOCH) / MS;
    s->seen[s->cycles].switches = cycle->decisions.switch_count;
    s->seen[s->cycles].opened = 0;
    for (size_t i = 0; i < cycle->decisions.switch_count; i++)
        s->seen[s->cycles].opened += cycle->decisions.switches[i].open;
    s->seen[s->cycles].types = count;
    s->seen[s->cycles].finished = cycle->decisions.finished;
    s->seen[s->cycles].wish = s->live ? pythia_live_wish(s->live) : 0;
    s->types[0] = '\0';
    for (size_t i = 0; i < count && size + 100 < sizeof(s->types); i++)
        size +=
            (size_t)snprintf(s->types + size, sizeof(s->types) - size, "%s%s %llu", i ? " " : "",
                             pythia_vocabulary_text(s->vocabulary, types[i].name).bytes,
                             (unsigned long long)types[i].moments.n);
    s->cycles++;
    if (s->look)
        s->look(s, cycle);
    return s->answer;
}

static inline void stream_begin(struct stream *s)
{
    *s = (struct stream){.now_ms = 1000};
    assert_int_equal(pythia_vocabulary_create(&s->vocabulary), PYTHIA_OK);
    assert_int_equal(pythia_span_batch_create(&s->batch), PYTHIA_OK);
}

static inline void stream_attach(struct stream *s, struct pythia_space *space,
                                 const struct pythia_live_options *options)
{
    assert_int_equal(pythia_live_create(s->vocabulary, space, options,
                                        (struct pythia_live_taker){stream_cycle, s}, &s->live),
                     PYTHIA_OK);
}

static inline void stream_end(struct stream *s)
{
    pythia_live_destroy(s->live);
    pythia_span_batch_destroy(s->batch);
    pythia_vocabulary_destroy(s->vocabulary);
}

/* ---- requests ---- */

struct stream_reader {
    struct stream *s;
    const char *at;
    struct pythia_trace_id trace;
    uint64_t now_ns, next_id;
};

static inline void stream_read(struct stream_reader *in, uint64_t parent)
{
    for (;;) {
        in->at += strspn(in->at, " ");
        if (*in->at == '\0' || *in->at == '}')
            return;
        if (*in->at >= '0' && *in->at <= '9') {
            char *end;
            in->now_ns += strtoull(in->at, &end, 10) * MS;
            in->at = end;
            continue;
        }
        struct pythia_vocabulary *v = in->s->vocabulary;
        size_t size = strcspn(in->at, "{"), skip = strcspn(in->at, ":{");
        skip = skip < size ? skip + 1 : 0;
        struct pythia_resource resource = {
            .service =
                pythia_vocabulary_string(v, (struct pythia_text){in->at, skip ? skip - 1 : 0})};
        struct pythia_buf attributes = {0};
        if (in->s->host) {
            struct pythia_text host = pythia_text_of(in->s->host);
            resource.host = pythia_vocabulary_string(v, host);
            pythia_attributes_text(&attributes,
                                   pythia_vocabulary_string(v, PYTHIA_TEXT("host.name")), host);
            resource.attributes = pythia_buf_text(&attributes);
        }
        uint32_t name =
            pythia_vocabulary_string(v, (struct pythia_text){in->at + skip, size - skip});
        struct pythia_span span = {.id = in->next_id++,
                                   .parent = parent,
                                   .start_ns = in->now_ns,
                                   .tracepoint =
                                       pythia_vocabulary_tracepoint(v, resource.service, 0, name),
                                   .resource = pythia_vocabulary_resource(v, &resource)};
        pythia_buf_free(&attributes);
        in->at += size;
        assert_int_equal(*in->at++, '{');
        stream_read(in, span.id);
        assert_int_equal(*in->at++, '}');
        span.duration_ns = (int64_t)(in->now_ns - span.start_ns);
        assert_int_equal(pythia_span_batch_add(in->s->batch, &in->trace, &span), PYTHIA_OK);
    }
}

/* Put a request that begins at that time into the batch; returns when it ends. */
static inline uint64_t stream_write(struct stream *s, uint64_t begin_ms, const char *text)
{
    uint64_t begin_ns = STREAM_EPOCH + begin_ms * MS - s->skew_ms * MS;
    struct stream_reader in = {s, text, {5, ++s->number}, begin_ns, 1};
    stream_read(&in, 0);
    assert_int_equal(*in.at, '\0');
    return (in.now_ns - begin_ns) / MS + begin_ms;
}

/* Time passes, with a tick every 100 ms. */
static inline void stream_wait(struct stream *s, uint64_t ms)
{
    for (uint64_t until = s->now_ms + ms; s->now_ms < until;) {
        s->now_ms += until - s->now_ms < 100 ? until - s->now_ms : 100;
        assert_int_equal(pythia_live_tick(s->live, s->now_ms * MS), PYTHIA_OK);
    }
}

/* Hand over what is in the batch. */
static inline void stream_send(struct stream *s)
{
    assert_int_equal(pythia_live_add(s->live, s->batch, s->now_ms * MS), PYTHIA_OK);
    pythia_span_batch_clear(s->batch);
}

/* A request that begins now, and is handed over when it has ended. */
static inline void stream_request(struct stream *s, const char *text)
{
    uint64_t end_ms = stream_write(s, s->now_ms, text);
    stream_wait(s, end_ms + s->delay_ms - s->now_ms);
    stream_send(s);
}

/* Requests of type A differ in D5, below one of 8 calls. */
static inline const char *stream_varied(uint64_t number)
{
    static char text[512];
    size_t at = (size_t)snprintf(text, sizeof(text), "A{10");
    for (int i = 0; i < 8; i++)
        at += (size_t)snprintf(text + at, sizeof(text) - at, " C%d{1 D%d{%d} 1}", i, i,
                               10 + (i == 5 ? (int)(number * 7 % 10 * 10) : 0));
    snprintf(text + at, sizeof(text) - at, " 10}");
    return text;
}

static inline void stream_send_varied(struct stream *s, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        stream_request(s, stream_varied(s->number));
}

/* The set of open points is in force from now on at all who had the one before all along. */
static inline void stream_applied(struct stream *s)
{
    pythia_live_applied(s->live, STREAM_EPOCH + s->now_ms * MS, true);
}

/* It is in force again, after a target had lost it. */
static inline void stream_came_back(struct stream *s)
{
    pythia_live_applied(s->live, STREAM_EPOCH + s->now_ms * MS, false);
}

/* Send requests until so many cycles have been told, with what is wanted in force at once. */
static inline void stream_run(struct stream *s, size_t cycles,
                              const char *(*request)(uint64_t number))
{
    uint64_t wish = pythia_live_wish(s->live);
    for (int i = 0; s->cycles < cycles; i++) {
        assert_true(i < 20000);
        stream_request(s, request(s->number));
        if (pythia_live_wish(s->live) != wish)
            stream_applied(s);
        wish = pythia_live_wish(s->live);
    }
}

static inline bool stream_is_open(const struct stream *s, const char *id)
{
    uint32_t point = pythia_vocabulary_tracepoint_find(s->vocabulary, pythia_text_of(id));
    assert_int_not_equal(point, PYTHIA_NONE);
    return pythia_live_is_open(s->live, point);
}

static inline bool stream_knows(const struct stream *s, const char *id)
{
    uint32_t point = pythia_vocabulary_tracepoint_find(s->vocabulary, pythia_text_of(id));
    assert_int_not_equal(point, PYTHIA_NONE);
    return pythia_live_knows(s->live, point);
}

#endif
