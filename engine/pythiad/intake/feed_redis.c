/* OSProfiler's drivers for Redis have three layouts. What is taken is removed:
 *
 *     osprofiler_opt:<base_id>                        a list, the newest event first
 *     osprofiler:<base_id><trace_id>…                 an event a key
 *     osprofiler:<base_id>                            events one behind the other (the fork of the
 *                                                     Pythia authors), and a list of their ids,
 *                                                     osprofiler_traces
 *
 * Keys are found by SCAN, a round of it at least each WAIT_MS; then their events are asked for, all
 * at once. When it is asked to end, one more round finds what had come by then. What comes later
 * stays in Redis, and no event is taken whose answer is not waited for. */
#include <hiredis/hiredis.h>
#include <poll.h>
#include <string.h>

#include <uv.h>

#include "feed.h"
#include "pythia/buf.h"
#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/redis_link.h"
#include "pythia/status.h"

#define WAIT_MS     100
#define EVENTS      "10000" /* taken from a list at once */
#define SCAN_COUNT  "1000"
#define ANSWERS_MAX 1000                 /* commands at a time */
#define LAST_NS     UINT64_C(2000000000) /* for the round after the stop; then the rest stays */

struct events {
    struct pythia__feed_reader reader;
    struct pythia__redis *redis;
    struct pythia_buf json; /* events that came, from `at` on */
    size_t at;
    struct pythia_buf cursor; /* of SCAN */
    bool scanning, rounded;   /* rounded: a round of SCAN has ended */
    bool last;                /* the round was begun after it was asked to end */
    uint64_t stopped_ns;      /* when it was seen to be asked; 0: it was not */
    bool connected, told;     /* whether it is, or is not */
};

/* A list's events, or one string with one event or several. */
static void on_events(void *context, const struct redisReply *reply)
{
    struct events *s = context;
    if (!reply) {
        pythia_log(PYTHIA_LOG_WARNING,
                   "The connection to Redis broke while events were being read; some may be lost");
        return;
    }
    for (size_t i = 0; reply->type == REDIS_REPLY_ARRAY && i < reply->elements; i++)
        on_events(context, reply->element[i]);
    if (reply->type == REDIS_REPLY_STRING) {
        pythia_buf_add(&s->json, reply->str, (size_t)reply->len);
        pythia_buf_putc(&s->json, '\n');
    }
}

static bool send_command(struct events *s, const struct pythia_text *words, int count)
{
    return pythia__redis_send(s->redis, on_events, s, words, count);
}

static void ask_key(struct events *s, struct pythia_text key)
{
    if (pythia_text_starts(key, PYTHIA_TEXT("osprofiler_opt:")))
        send_command(s, (struct pythia_text[]){PYTHIA_TEXT("RPOP"), key, PYTHIA_TEXT(EVENTS)}, 3);
    else if (pythia_text_starts(key, PYTHIA_TEXT("osprofiler:")))
        send_command(s, (struct pythia_text[]){PYTHIA_TEXT("GETDEL"), key}, 2);
    else if (PYTHIA_TEXT_IS(key, "osprofiler_traces"))
        (void)pythia__redis_send(
            s->redis, on_events, s,
            (struct pythia_text[]){PYTHIA_TEXT("LTRIM"), key, PYTHIA_TEXT("1"), PYTHIA_TEXT("0")},
            4);
}

static void on_keys(void *context, const struct redisReply *reply)
{
    struct events *s = context;
    s->scanning = false;
    if (!reply || reply->type != REDIS_REPLY_ARRAY || reply->elements != 2 ||
        reply->element[0]->type != REDIS_REPLY_STRING ||
        reply->element[1]->type != REDIS_REPLY_ARRAY) {
        s->rounded = true;
        return;
    }
    const struct redisReply *keys = reply->element[1];
    pythia_buf_clear(&s->cursor);
    pythia_buf_add(&s->cursor, reply->element[0]->str, (size_t)reply->element[0]->len);
    s->rounded = s->cursor.size == 1 && s->cursor.bytes[0] == '0';
    for (size_t i = 0; i < keys->elements; i++)
        if (keys->element[i]->type == REDIS_REPLY_STRING)
            ask_key(s, (struct pythia_text){keys->element[i]->str, (size_t)keys->element[i]->len});
}

static void scan_keys(struct events *s)
{
    if (s->cursor.size == 0)
        pythia_buf_putc(&s->cursor, '0');
    bool begins = s->cursor.size == 1 && s->cursor.bytes[0] == '0';
    s->last = s->last || (begins && s->reader.stopping);
    struct pythia_text words[] = {PYTHIA_TEXT("SCAN"),  pythia_buf_text(&s->cursor),
                                  PYTHIA_TEXT("MATCH"), PYTHIA_TEXT("osprofiler*"),
                                  PYTHIA_TEXT("COUNT"), PYTHIA_TEXT(SCAN_COUNT)};
    s->rounded = false;
    s->scanning = pythia__redis_send(s->redis, on_keys, s, words, 6);
}

static void tell_connection(struct events *s, bool connected)
{
    bool failed = !connected && *pythia__redis_why(s->redis); /* else it is still on its way */
    if (connected != s->connected || (failed && !s->told)) {
        s->told = true;
        pythia_log(connected ? PYTHIA_LOG_INFO : PYTHIA_LOG_WARNING,
                   connected ? "Reading OSProfiler's events from Redis"
                             : "Redis cannot be reached; retrying: reason=%s",
                   pythia__redis_why(s->redis));
    }
    s->connected = connected;
}

/* Find more keys, and take what is there. After the stop, events that were asked for are waited
 * for: they are in Redis no more. */
static void ask_redis(struct events *s)
{
    if (s->stopped_ns > 0 && uv_hrtime() - s->stopped_ns > LAST_NS)
        s->last = s->rounded = true;
    else if (!s->scanning && pythia__redis_waiting(s->redis) < ANSWERS_MAX)
        scan_keys(s);
    do {
        tell_connection(s, pythia__redis_pump(s->redis, uv_hrtime(), WAIT_MS / 2, &(bool){false}));
    } while (s->reader.stopping && s->connected && s->json.size == 0 &&
             pythia__redis_waiting(s->redis) > 0);
}

/* This runs on a thread of its own, so it may wait; it waits briefly, so that a stop is noticed. */
static int read_events(struct pythia__feed_reader *reader, void *to, size_t capacity, size_t *got,
                       bool *ended, struct pythia_error *e)
{
    struct events *s = (struct events *)reader;
    *ended = false;
    if (s->at == s->json.size) {
        pythia_buf_clear(&s->json);
        s->at = 0;
        if (reader->stopping && s->stopped_ns == 0)
            s->stopped_ns = uv_hrtime();
        bool waited = s->rounded && pythia__redis_waiting(s->redis) == 0;
        *ended = waited && s->last;
        if (waited && !reader->stopping)
            poll(NULL, 0, WAIT_MS);
        if (!*ended)
            ask_redis(s);
    }
    if (pythia_buf_status(&s->json) != PYTHIA_OK)
        return pythia_error_set(e, PYTHIA_ENOMEM, "no memory for events");
    *got = s->json.size - s->at < capacity ? s->json.size - s->at : capacity;
    if (*got == 0 && !s->connected)
        poll(NULL, 0, WAIT_MS);
    if (*got > 0)
        memcpy(to, s->json.bytes + s->at, *got);
    s->at += *got;
    return PYTHIA_OK;
}

static void destroy_events(struct pythia__feed_reader *reader)
{
    struct events *s = (struct events *)reader;
    pythia__redis_destroy(s->redis);
    pythia_buf_free(&s->json);
    pythia_buf_free(&s->cursor);
    pythia_free(s);
}

int pythia__redis_events_create(const char *url, struct pythia__feed_reader **out,
                                struct pythia_error *e)
{
    struct events *s = pythia_calloc(1, sizeof(*s));
    if (!s)
        return pythia_error_set(e, PYTHIA_ENOMEM, "no memory to start");
    *s = (struct events){.reader = {read_events, destroy_events, false, false}};
    int status = pythia__redis_create(url, &s->redis, e);
    if (status != PYTHIA_OK) {
        destroy_events(&s->reader);
        return status;
    }
    *out = &s->reader;
    return PYTHIA_OK;
}
