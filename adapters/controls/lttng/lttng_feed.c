#include "lttng/lttng_feed.h"

#include <inttypes.h>
#include <math.h>
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
    bool lost, broken;
    bool switched;        /* since the reader last asked */
    uint64_t switched_ns; /* until when, of the epoch; UINT64_MAX: a switch is under way */
    char why[320];
    double price_ns; /* of an event; NaN: not known */
    /* of the thread that reads */
    struct pythia_lttng_events *reader; /* of the session `current`; NULL: it is not followed */
    uint64_t current, tried_ns, beats, lost_told, abandoned_told;
};

static uint64_t read_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
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
    f->price_ns = NAN;
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
    f->lost = f->broken = false;
    f->switched = f->switched && !copy;
    f->why[0] = '\0';
    pthread_mutex_unlock(&f->lock);
    return PYTHIA_OK;
}

void pythia__lttng_feed_switch(struct pythia_lttng_feed *f, bool switching)
{
    pthread_mutex_lock(&f->lock);
    f->switched = true;
    f->switched_ns = switching ? UINT64_MAX : read_clock(CLOCK_REALTIME);
    pthread_mutex_unlock(&f->lock);
}

double pythia__lttng_feed_price(struct pythia_lttng_feed *f)
{
    pthread_mutex_lock(&f->lock);
    double price_ns = f->price_ns;
    pthread_mutex_unlock(&f->lock);
    return price_ns;
}

enum pythia__lttng_feed_state pythia__lttng_feed_look(struct pythia_lttng_feed *f, uint64_t number,
                                                      uint64_t now_ns, char why[320])
{
    enum pythia__lttng_feed_state state = PYTHIA__LTTNG_FEED_TRIES;
    pthread_mutex_lock(&f->lock);
    snprintf(why, 320, "%s", f->number == number && f->why[0] ? f->why : "nobody reads it");
    if (f->number == number && f->broken)
        state = PYTHIA__LTTNG_FEED_BROKEN;
    else if (f->number == number && f->lost)
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
        f->broken = why->status == PYTHIA_EFORMAT;
        snprintf(f->why, sizeof(f->why), "%s", why->sentence);
    } else if (f->number == number) {
        f->read_ns = read_clock(CLOCK_MONOTONIC);
    }
    pthread_mutex_unlock(&f->lock);
}

/* A price that is another one makes the search count anew: it changes by a fifth, or not at all. */
static void note_price(struct pythia_lttng_feed *f)
{
    double price_ns = (double)pythia_lttng_events_numbers(f->reader).event_ns;
    pthread_mutex_lock(&f->lock);
    if (price_ns > 0 && !(fabs(price_ns - f->price_ns) <= .2 * f->price_ns))
        f->price_ns = price_ns;
    pthread_mutex_unlock(&f->lock);
}

/* Log losses when they have doubled. Requests that a switch has cut off are none. */
static void log_losses(struct pythia_lttng_feed *f)
{
    struct pythia_lttng_numbers n = pythia_lttng_events_numbers(f->reader);
    uint64_t lost = n.discarded_events + n.discarded_packets + n.crowded + n.oversize;
    if (lost > 2 * f->lost_told) {
        f->lost_told = lost;
        pythia_log(PYTHIA_LOG_WARNING,
                   "Spans of LTTng are lost: events-discarded=%" PRIu64
                   ", packets-discarded=%" PRIu64 ", spans-without-place=%" PRIu64
                   ", in-requests-too-large=%" PRIu64 ", ends-without-begin=%" PRIu64
                   ", outside-of-requests=%" PRIu64 ", events=%" PRIu64,
                   n.discarded_events, n.discarded_packets, n.crowded, n.oversize, n.unmatched,
                   n.outside, n.events);
    }
    if (n.abandoned > 2 * f->abandoned_told) {
        f->abandoned_told = n.abandoned;
        pythia_log(PYTHIA_LOG_WARNING,
                   "Requests that LTTng records have no end (their program, thread or session has "
                   "ended, or an error has left them): spans=%" PRIu64 ", events=%" PRIu64,
                   n.abandoned, n.events);
    }
}

static void close_reader(struct pythia_lttng_feed *f)
{
    pythia_lttng_events_close(f->reader);
    f->reader = NULL;
    f->beats = f->lost_told = f->abandoned_told = 0;
}

/* Events come some time after they were recorded: the reader compares their times with that of the
 * switch. */
static void note_switches(struct pythia_lttng_feed *f)
{
    if (!f->reader)
        return;
    pthread_mutex_lock(&f->lock);
    bool switched = f->switched;
    uint64_t until_ns = f->switched_ns;
    f->switched = until_ns == UINT64_MAX;
    pthread_mutex_unlock(&f->lock);
    if (switched)
        pythia_lttng_events_switch(f->reader, until_ns);
}

/* Follow what is to be followed, and no longer what is not. */
static int open_reader(struct pythia_lttng_feed *f, struct pythia_buf *to, struct pythia_error *why)
{
    uint64_t now_ns = read_clock(CLOCK_MONOTONIC);
    int status = PYTHIA_OK;
    pthread_mutex_lock(&f->lock);
    uint64_t number = f->number;
    bool lost = f->lost || f->broken;
    char *url = f->url && number ? pythia_strndup(f->url, strlen(f->url)) : NULL;
    pthread_mutex_unlock(&f->lock);
    if (f->reader && (number != f->current || !url)) {
        status = pythia_lttng_events_end(f->reader, to);
        close_reader(f);
    }
    bool is_new = number != f->current;
    f->current = number;
    if (url && !f->reader && !lost && (is_new || now_ns - f->tried_ns >= TRY_NS)) {
        f->tried_ns = now_ns;
        if (pythia_lttng_events_follow(url, f->rules, &f->reader, why) != PYTHIA_OK)
            note_result(f, number, why);
    }
    pythia_free(url);
    return why->status == PYTHIA_ENOMEM ? PYTHIA_ENOMEM : status;
}

int pythia_lttng_feed_read(struct pythia_lttng_feed *f, struct pythia_buf *to,
                           struct pythia_error *e)
{
    struct pythia_error why = {0};
    bool more = true;
    note_switches(f);
    int status = open_reader(f, to, &why);
    if (status != PYTHIA_OK)
        return pythia_error_set(e, status, "out of memory");
    if (!f->reader)
        return PYTHIA_OK;
    note_switches(f); /* one that was opened just now has heard of none */
    status = pythia_lttng_events_read(f->reader, to, &more, &why);
    log_losses(f);
    note_price(f);
    if (status == PYTHIA_OK && pythia_lttng_events_has_ended(f->reader))
        pythia_error_set(&why, PYTHIA_EIO, "the session has ended");
    uint64_t beats = pythia_lttng_events_beats(f->reader);
    if (why.status || beats != f->beats)
        note_result(f, f->current, why.status ? &why : NULL);
    f->beats = beats;
    if (why.status)
        close_reader(f);
    if (status == PYTHIA_ENOMEM)
        *e = why;
    return status == PYTHIA_ENOMEM ? status : PYTHIA_OK;
}
