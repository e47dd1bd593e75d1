#include "lttng/lttng_feed.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "pythia/log.h"
#include "pythia/lttng_events.h"
#include "pythia/mem.h"
#include "pythia/status.h"

#define TRY_NS   UINT64_C(200000000)
#define HANGS_NS UINT64_C(5000000000)

struct pythia_lttng_feed {
    struct pythia_lttng_rules *rules; /* owned; does not change */
    atomic_int users;
    pthread_mutex_t lock;
    /* under the lock */
    char *url;        /* owned; NULL: nothing is to be followed */
    uint64_t number;  /* of that session */
    uint64_t read_ns; /* when it was last read; 0: never */
    bool lost;
    char why[320];
    /* of the thread that reads */
    struct pythia_lttng_events *reader; /* of the session `current`; NULL: it is not followed */
    uint64_t current, tried_ns, lost_told;
};

static uint64_t read_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

int pythia__lttng_feed_create(struct pythia_lttng_rules *rules, struct pythia_lttng_feed **out)
{
    struct pythia_lttng_feed *f = pythia_calloc(1, sizeof(*f));
    if (!f) {
        pythia_lttng_rules_free(rules);
        return PYTHIA_ENOMEM;
    }
    f->rules = rules;
    atomic_init(&f->users, 1);
    pthread_mutex_init(&f->lock, NULL);
    *out = f;
    return PYTHIA_OK;
}

const struct pythia_lttng_rules *pythia__lttng_feed_rules(const struct pythia_lttng_feed *f)
{
    return f->rules;
}

struct pythia_lttng_feed *pythia__lttng_feed_share(struct pythia_lttng_feed *f)
{
    atomic_fetch_add(&f->users, 1);
    return f;
}

void pythia_lttng_feed_release(struct pythia_lttng_feed *f)
{
    if (!f || atomic_fetch_sub(&f->users, 1) > 1)
        return;
    pythia_lttng_events_close(f->reader);
    pythia_lttng_rules_free(f->rules);
    pthread_mutex_destroy(&f->lock);
    pythia_free(f->url);
    pythia_free(f);
}

int pythia__lttng_feed_follow(struct pythia_lttng_feed *f, uint64_t number, const char *url)
{
    char *copy = *url ? pythia_strndup(url, strlen(url)) : NULL;
    if (*url && !copy)
        return PYTHIA_ENOMEM;
    pthread_mutex_lock(&f->lock);
    pythia_free(f->url);
    f->url = copy;
    f->number = number;
    f->read_ns = 0;
    f->lost = false;
    f->why[0] = '\0';
    pthread_mutex_unlock(&f->lock);
    return PYTHIA_OK;
}

enum pythia__lttng_feed_state pythia__lttng_feed_look(struct pythia_lttng_feed *f, uint64_t number,
                                                      uint64_t now_ns, char why[320])
{
    enum pythia__lttng_feed_state state = PYTHIA__LTTNG_FEED_TRIES;
    pthread_mutex_lock(&f->lock);
    snprintf(why, 320, "%s", f->number == number && f->why[0] ? f->why : "nobody reads it");
    if (f->number == number && f->lost)
        state = PYTHIA__LTTNG_FEED_LOST;
    else if (f->number == number && f->read_ns)
        state =
            now_ns > f->read_ns + HANGS_NS ? PYTHIA__LTTNG_FEED_HANGS : PYTHIA__LTTNG_FEED_FOLLOWS;
    pthread_mutex_unlock(&f->lock);
    return state;
}

/* ---- the thread that reads ---- */

/* Note what became of a session, unless another one is to be followed now. */
static void note_result(struct pythia_lttng_feed *f, uint64_t number,
                        const struct pythia_error *why)
{
    pthread_mutex_lock(&f->lock);
    if (f->number == number && why) {
        f->lost = f->read_ns != 0;
        snprintf(f->why, sizeof(f->why), "%s", why->sentence);
    } else if (f->number == number) {
        f->read_ns = read_clock();
    }
    pthread_mutex_unlock(&f->lock);
}

/* Log losses when they have doubled. */
static void log_losses(struct pythia_lttng_feed *f)
{
    struct pythia_lttng_numbers n = pythia_lttng_events_numbers(f->reader);
    uint64_t lost = n.discarded_events + n.discarded_packets + n.abandoned;
    if (lost <= 2 * f->lost_told)
        return;
    f->lost_told = lost;
    pythia_log(PYTHIA_LOG_WARNING,
               "Spans of LTTng are lost: events-discarded=%" PRIu64 ", packets-discarded=%" PRIu64
               ", in-requests-without-end=%" PRIu64 ", ends-without-begin=%" PRIu64
               ", outside-of-requests=%" PRIu64 ", events=%" PRIu64,
               n.discarded_events, n.discarded_packets, n.abandoned, n.unmatched, n.outside,
               n.events);
}

static void close_reader(struct pythia_lttng_feed *f)
{
    pythia_lttng_events_close(f->reader);
    f->reader = NULL;
    f->lost_told = 0;
}

/* Begin to follow what is to be followed. */
static void open_reader(struct pythia_lttng_feed *f, struct pythia_error *why)
{
    uint64_t now_ns = read_clock();
    pthread_mutex_lock(&f->lock);
    uint64_t number = f->number;
    bool lost = f->lost;
    char *url = f->url && number ? pythia_strndup(f->url, strlen(f->url)) : NULL;
    pthread_mutex_unlock(&f->lock);
    if (f->reader && (number != f->current || !url))
        close_reader(f);
    bool is_new = number != f->current;
    f->current = number;
    if (url && !f->reader && !lost && (is_new || now_ns - f->tried_ns >= TRY_NS)) {
        f->tried_ns = now_ns;
        if (pythia_lttng_events_follow(url, f->rules, &f->reader, why) != PYTHIA_OK)
            note_result(f, number, why);
    }
    pythia_free(url);
}

int pythia_lttng_feed_read(struct pythia_lttng_feed *f, struct pythia_buf *to,
                           struct pythia_error *e)
{
    struct pythia_error why = {0};
    bool more = true;
    open_reader(f, &why);
    if (!f->reader)
        return why.status == PYTHIA_ENOMEM ? pythia_error_set(e, PYTHIA_ENOMEM, "out of memory")
                                           : PYTHIA_OK;
    int status = pythia_lttng_events_read(f->reader, to, &more, &why);
    log_losses(f);
    if (status == PYTHIA_OK && pythia_lttng_events_has_ended(f->reader))
        pythia_error_set(&why, PYTHIA_EIO, "the session has ended");
    note_result(f, f->current, why.status ? &why : NULL);
    if (why.status)
        close_reader(f);
    if (status == PYTHIA_ENOMEM)
        *e = why;
    return status == PYTHIA_ENOMEM ? status : PYTHIA_OK;
}
