#include "events.h"

#include <string.h>

#include "listen/http_stream.h"
#include "pythia/mem.h"
#include "pythia/status.h"

#define CLIENTS_MAX  32
#define PENDING_MAX  8192 /* bytes that a client may leave unread, beside those in its socket */
#define PERIOD_NS    UINT64_C(250000000)
#define HEARTBEAT_NS UINT64_C(15000000000)

struct client {
    struct pythia__events *events;
    struct pythia__http_stream *stream; /* NULL: the place is free */
};

struct pythia__events {
    void (*write)(void *context, struct pythia_buf *to);
    void *context;
    struct client clients[CLIENTS_MAX];
    struct pythia_buf last; /* the event that was sent last */
    uint64_t looked_ns, sent_ns;
    struct pythia__event_numbers numbers;
    bool stopped;
};

int pythia__events_create(void (*write)(void *context, struct pythia_buf *to), void *context,
                          struct pythia__events **out)
{
    struct pythia__events *e = pythia_calloc(1, sizeof(*e));
    if (!e)
        return PYTHIA_ENOMEM;
    e->write = write;
    e->context = context;
    *out = e;
    return PYTHIA_OK;
}

void pythia__events_destroy(struct pythia__events *e)
{
    if (!e)
        return;
    pythia_buf_free(&e->last);
    pythia_free(e);
}

static void note_gone(void *context)
{
    struct client *c = context;
    c->stream = NULL;
    c->events->numbers.clients--;
}

static void drop_client(struct client *c)
{
    c->events->numbers.dropped++;
    pythia__http_stream_abort(c->stream);
}

/* A client that cannot be written to has missed something, and begins anew. */
static void send_bytes(struct client *c, const char *bytes, size_t size)
{
    if (!c->stream)
        return;
    if (pythia__http_stream_pending(c->stream) + size > PENDING_MAX ||
        pythia__http_stream_write(c->stream, bytes, size) != PYTHIA_OK)
        drop_client(c);
}

static void write_event(const struct pythia__events *e, struct pythia_buf *to)
{
    pythia_buf_puts(to, "event: status\ndata: ");
    e->write(e->context, to);
    pythia_buf_puts(to, "\n\n");
}

void pythia__events_join(struct pythia__events *e, struct pythia__http_exchange *x, uint64_t now_ns)
{
    struct client *free = NULL;
    struct pythia_buf event = {0};
    for (size_t i = 0; i < CLIENTS_MAX && !free; i++)
        free = e->clients[i].stream ? NULL : &e->clients[i];
    if (!free || e->stopped) {
        e->numbers.refused++;
        pythia__http_set(x, "Retry-After", "10");
        pythia__http_say(x, 503, "too many clients are listening; poll /v1/status instead\n");
        return;
    }
    pythia__http_set(x, "Cache-Control", "no-store");
    pythia__http_set(x, "X-Content-Type-Options", "nosniff");
    e->numbers.clients++;
    *free = (struct client){.events = e};
    free->stream = pythia__http_stream_begin(x, "text/event-stream", note_gone, free);
    if (!free->stream) {
        e->numbers.clients--;
        return;
    }
    write_event(e, &event);
    if (pythia_buf_status(&event) == PYTHIA_OK)
        send_bytes(free, event.bytes, event.size);
    else
        drop_client(free);
    if (e->numbers.clients > 1) { /* the others may not have had this one yet */
        pythia_buf_free(&event);
        return;
    }
    pythia_buf_free(&e->last);
    e->last = event;
    e->sent_ns = now_ns;
}

/* The status is written and compared, rather than each change reported by whoever makes it: so that
 * no change can be forgotten. It takes some microseconds, and only while there are clients. */
void pythia__events_turn(struct pythia__events *e, uint64_t now_ns)
{
    static const char heartbeat[] = ":\n\n";
    struct pythia_buf event = {0};
    if (e->numbers.clients == 0 || e->stopped || now_ns - e->looked_ns < PERIOD_NS)
        return;
    e->looked_ns = now_ns;
    write_event(e, &event);
    bool good = pythia_buf_status(&event) == PYTHIA_OK;
    bool same = !good || (event.size == e->last.size && e->last.bytes &&
                          memcmp(event.bytes, e->last.bytes, event.size) == 0);
    if (same && now_ns - e->sent_ns < HEARTBEAT_NS) {
        pythia_buf_free(&event);
        return;
    }
    e->sent_ns = now_ns;
    for (size_t i = 0; i < CLIENTS_MAX; i++)
        send_bytes(&e->clients[i], same ? heartbeat : event.bytes,
                   same ? sizeof(heartbeat) - 1 : event.size);
    if (good) {
        pythia_buf_free(&e->last);
        e->last = event;
    } else {
        pythia_buf_free(&event);
    }
}

void pythia__events_stop(struct pythia__events *e)
{
    e->stopped = true;
    for (size_t i = 0; i < CLIENTS_MAX; i++)
        if (e->clients[i].stream)
            pythia__http_stream_end(e->clients[i].stream);
}

struct pythia__event_numbers pythia__events_numbers(const struct pythia__events *e)
{
    return e->numbers;
}
