#include "probe/probe_feed.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/probe_rings.h"
#include "pythia/probe_spans.h"
#include "pythia/status.h"

#define RINGS_MAX     253
#define FORGET_NS     UINT64_C(1000000000) /* between looks for threads that are gone */
#define PROCESSES_MAX 16

enum definition_kind { DEFINE_BEGIN, DEFINE_END, DEFINE_KERNEL, DEFINE_WAIT, DEFINE_SWITCH };

struct definition {
    enum definition_kind kind;
    uint32_t number;   /* of hits; of a wait: is it open? */
    size_t point;      /* or, of the kernel, which event */
    uint64_t until_ns; /* of a switch; UINT64_MAX: it is under way */
};

struct pythia_probe_feed {
    struct pythia_probe_rules rules; /* does not change */
    atomic_int users;
    pthread_mutex_t lock;
    /* under the lock: news from the plane */
    struct definition *definitions;
    size_t definition_count, definition_capacity;
    int fresh[RINGS_MAX];
    size_t fresh_count;
    bool renewed;   /* `fresh` replaces the rings, also if there are none */
    bool switching; /* probes were being switched when that was last said */
    struct pythia_probe_process processes[PROCESSES_MAX];
    size_t process_count;                          /* may be more than are in `processes` */
    uint64_t *outside;                             /* owned; hits outside of requests, by point, */
    uint64_t kernel_outside[PYTHIA_KERNEL_EVENTS]; /* and by event, */
    uint64_t counted_ns; /* when they were last counted; 0: not on this connection */
    /* of the thread that reads */
    struct pythia_probe_rings *rings; /* NULL: not connected */
    struct pythia_probe_spans *spans;
    uint64_t last_ns, looked_ns, lost_told, abandoned_told;
};

int pythia__probe_feed_create(struct pythia_probe_rules *rules, struct pythia_probe_feed **out)
{
    struct pythia_probe_feed *f = pythia_calloc(1, sizeof(*f));
    if (!f) {
        pythia_probe_rules_free(rules);
        return PYTHIA_ENOMEM;
    }
    f->rules = *rules;
    *rules = (struct pythia_probe_rules){0};
    f->outside = pythia_calloc(f->rules.point_count + 1, sizeof(*f->outside));
    if (!f->outside) {
        pythia_probe_rules_free(&f->rules);
        pythia_free(f);
        return PYTHIA_ENOMEM;
    }
    atomic_init(&f->users, 1);
    pthread_mutex_init(&f->lock, NULL);
    *out = f;
    return PYTHIA_OK;
}

const struct pythia_probe_rules *pythia__probe_feed_rules(const struct pythia_probe_feed *f)
{
    return &f->rules;
}

static void close_fresh(struct pythia_probe_feed *f)
{
    while (f->fresh_count > 0)
        close(f->fresh[--f->fresh_count]);
}

void pythia_probe_feed_release(struct pythia_probe_feed *f)
{
    if (!f || atomic_fetch_sub(&f->users, 1) > 1)
        return;
    close_fresh(f);
    pythia_probe_rings_close(f->rings);
    pythia_probe_spans_destroy(f->spans);
    pythia_probe_rules_free(&f->rules);
    pthread_mutex_destroy(&f->lock);
    pythia_free(f->definitions);
    pythia_free(f->outside);
    pythia_free(f);
}

void pythia__probe_feed_rings(struct pythia_probe_feed *f, const int *rings, size_t count)
{
    pthread_mutex_lock(&f->lock);
    close_fresh(f);
    f->fresh_count = count < RINGS_MAX ? count : RINGS_MAX;
    for (size_t i = 0; i < f->fresh_count; i++)
        f->fresh[i] = rings[i];
    f->renewed = true;
    f->switching = f->switching && count == 0;
    f->definition_count = f->process_count = 0;
    f->counted_ns = 0;
    pthread_mutex_unlock(&f->lock);
}

static uint64_t read_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int add_definition(struct pythia_probe_feed *f, struct definition definition)
{
    pthread_mutex_lock(&f->lock);
    int status = pythia_grow(&f->definitions, &f->definition_capacity, f->definition_count,
                             sizeof(*f->definitions));
    if (status == PYTHIA_OK)
        f->definitions[f->definition_count++] = definition;
    pthread_mutex_unlock(&f->lock);
    return status;
}

int pythia__probe_feed_define(struct pythia_probe_feed *f, uint32_t number, size_t point, bool done)
{
    return add_definition(f,
                          (struct definition){done ? DEFINE_END : DEFINE_BEGIN, number, point, 0});
}

int pythia__probe_feed_define_kernel(struct pythia_probe_feed *f, enum pythia_kernel_event event,
                                     uint32_t number)
{
    return add_definition(f, (struct definition){DEFINE_KERNEL, number, event, 0});
}

int pythia__probe_feed_open_wait(struct pythia_probe_feed *f, size_t point, bool open)
{
    return add_definition(f, (struct definition){DEFINE_WAIT, open, point, 0});
}

int pythia__probe_feed_switch(struct pythia_probe_feed *f, bool switching)
{
    uint64_t until_ns = switching ? UINT64_MAX : read_clock(CLOCK_MONOTONIC);
    pthread_mutex_lock(&f->lock);
    f->switching = switching;
    pthread_mutex_unlock(&f->lock);
    return add_definition(f, (struct definition){DEFINE_SWITCH, 0, 0, until_ns});
}

size_t pythia__probe_feed_processes(struct pythia_probe_feed *f, struct pythia_probe_process *out,
                                    size_t max)
{
    pthread_mutex_lock(&f->lock);
    size_t count = f->process_count;
    for (size_t i = 0; i < count && i < max && i < PROCESSES_MAX; i++)
        out[i] = f->processes[i];
    pthread_mutex_unlock(&f->lock);
    return count;
}

uint64_t pythia__probe_feed_outside(struct pythia_probe_feed *f, size_t point, uint64_t *at_ns)
{
    pthread_mutex_lock(&f->lock);
    uint64_t hits = f->outside[point];
    *at_ns = f->counted_ns;
    pthread_mutex_unlock(&f->lock);
    return hits;
}

uint64_t pythia__probe_feed_kernel_outside(struct pythia_probe_feed *f,
                                           uint64_t hits[PYTHIA_KERNEL_EVENTS])
{
    pthread_mutex_lock(&f->lock);
    memcpy(hits, f->kernel_outside, sizeof(f->kernel_outside));
    uint64_t at_ns = f->counted_ns;
    pthread_mutex_unlock(&f->lock);
    return at_ns;
}

struct pythia_probe_feed *pythia__probe_feed_share(struct pythia_probe_feed *f)
{
    atomic_fetch_add(&f->users, 1);
    return f;
}

/* ---- on the thread that reads ---- */

static int add_hit(void *context, const struct pythia_probe_hit *hit, const int64_t *values,
                   const char *texts)
{
    return pythia_probe_spans_add(context, hit, values, texts);
}

/* Take the requests that have ended, and count those that have not and never will. */
static int take_spans(struct pythia_probe_feed *f, uint64_t now_ns, struct pythia_buf *to)
{
    return pythia_probe_spans_take(f->spans, now_ns, (int64_t)(read_clock(CLOCK_REALTIME) - now_ns),
                                   pythia_probe_rings_lost(f->rings), to);
}

/* The connection has ended, and all probes with it: requests that are open have no end. */
static int end_spans(struct pythia_probe_feed *f, struct pythia_buf *to)
{
    int status = pythia_probe_rings_drain(f->rings, UINT64_MAX, add_hit, f->spans);
    if (status != PYTHIA_OK)
        return status;
    if (f->switching)
        pythia_probe_spans_switch(f->spans, UINT64_MAX);
    pythia_probe_spans_abandon(f->spans, UINT64_MAX);
    return take_spans(f, read_clock(CLOCK_MONOTONIC), to);
}

/* Hits of the last connection have its numbers, so their spans go with it. */
static int take_rings(struct pythia_probe_feed *f, struct pythia_buf *to, struct pythia_error *e)
{
    int status = f->rings && f->spans ? end_spans(f, to) : PYTHIA_OK;
    pythia_probe_rings_close(f->rings);
    pythia_probe_spans_destroy(f->spans);
    f->rings = NULL;
    f->spans = NULL;
    if (status != PYTHIA_OK) /* the next call tries again */
        return status;
    size_t count = f->fresh_count;
    f->renewed = false;
    f->fresh_count = 0;
    f->lost_told = f->abandoned_told = 0;
    if (count == 0)
        return PYTHIA_OK;
    status = pythia_probe_rings_open(f->fresh, count, &f->rings, e);
    return status == PYTHIA_OK ? pythia_probe_spans_create(&f->rules, &f->spans) : status;
}

static int take_definition(struct pythia_probe_spans *spans, const struct definition *d)
{
    switch (d->kind) {
    case DEFINE_KERNEL:
        return pythia_probe_spans_define_kernel(spans, (enum pythia_kernel_event)d->point,
                                                d->number);
    case DEFINE_WAIT:
        pythia_probe_spans_open_wait(spans, d->point, d->number != 0);
        return PYTHIA_OK;
    case DEFINE_SWITCH:
        pythia_probe_spans_switch(spans, d->until_ns);
        return PYTHIA_OK;
    case DEFINE_BEGIN:
    case DEFINE_END:
        break;
    }
    return pythia_probe_spans_define(spans, d->number, d->point, d->kind == DEFINE_END);
}

/* Take in what the plane has said since the last time. */
static int take_news(struct pythia_probe_feed *f, struct pythia_buf *to, struct pythia_error *e)
{
    pthread_mutex_lock(&f->lock);
    int status = f->renewed ? take_rings(f, to, e) : PYTHIA_OK;
    for (size_t i = 0; i < f->definition_count && f->spans && status == PYTHIA_OK; i++)
        status = take_definition(f->spans, &f->definitions[i]);
    f->definition_count = 0;
    pthread_mutex_unlock(&f->lock);
    return status;
}

/* Log losses when they have doubled. Requests that a switch has cut off are none. */
static void log_losses(struct pythia_probe_feed *f)
{
    struct pythia_probe_numbers n = pythia_probe_spans_numbers(f->spans);
    uint64_t hits = pythia_probe_rings_lost(f->rings), lost = hits + n.crowded + n.oversize;
    if (lost > 2 * f->lost_told) {
        f->lost_told = lost;
        pythia_log(PYTHIA_LOG_WARNING,
                   "Spans of probes are lost: hits-without-place=%" PRIu64
                   ", spans-without-place=%" PRIu64 ", in-requests-too-large=%" PRIu64
                   ", ends-without-begin=%" PRIu64 ", outside-of-requests=%" PRIu64
                   ", recorded=%" PRIu64,
                   hits, n.crowded, n.oversize, n.unmatched, n.outside, n.spans);
    }
    if (n.abandoned > 2 * f->abandoned_told) {
        f->abandoned_told = n.abandoned;
        pythia_log(PYTHIA_LOG_WARNING,
                   "Requests that probes see have no end (their program or thread has ended, or an "
                   "error has left them): spans=%" PRIu64 ", recorded=%" PRIu64,
                   n.abandoned, n.spans);
    }
}

static void count_outside(struct pythia_probe_feed *f, uint64_t now_ns)
{
    for (size_t i = 0; i < f->rules.point_count; i++)
        f->outside[i] = pythia_probe_spans_outside(f->spans, i);
    for (unsigned i = 0; i < PYTHIA_KERNEL_EVENTS; i++)
        f->kernel_outside[i] = pythia_probe_spans_kernel_outside(f->spans, i);
    f->counted_ns = now_ns;
}

/* A hit is written into its ring some time after its own time was taken: it is waited for from one
 * call to the next. */
int pythia_probe_feed_read(struct pythia_probe_feed *f, struct pythia_buf *to,
                           struct pythia_error *e)
{
    int status = take_news(f, to, e);
    if (status != PYTHIA_OK || !f->rings)
        return status;
    uint64_t now_ns = read_clock(CLOCK_MONOTONIC);
    status = pythia_probe_rings_drain(f->rings, f->last_ns, add_hit, f->spans);
    f->last_ns = now_ns;
    if (status != PYTHIA_OK)
        return status;
    bool looks = now_ns - f->looked_ns >= FORGET_NS;
    if (looks) {
        pythia_probe_spans_forget_dead(f->spans);
        f->looked_ns = now_ns;
    }
    pthread_mutex_lock(&f->lock);
    if (looks && !f->renewed)
        count_outside(f, now_ns);
    f->process_count = pythia_probe_spans_processes(f->spans, f->processes, PROCESSES_MAX);
    pthread_mutex_unlock(&f->lock);
    log_losses(f);
    return take_spans(f, now_ns, to);
}
