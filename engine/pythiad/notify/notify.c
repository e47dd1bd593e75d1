#include "notify.h"

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <uv.h>

#include "notify_target.h"
#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/status.h"
#include "pythia/web.h"

#define QUEUE_MAX   64 /* notifications that wait for a target */
#define TRIES       10
#define PAUSE_MAX_S 300.
#define TIMEOUT_S   10.
#define ANSWER_MAX  ((size_t)64 * 1024) /* of which nothing is read but the status */
#define SHA256_SIZE 32

struct notification {
    struct pythia_buf body;
    uint64_t number; /* the same in each try: a receiver can drop what came twice */
};

struct target {
    struct pythia__notify *notify;
    struct pythia__notify_target to;
    size_t place; /* in the settings, from 1: the log names it by that, as a URL may be a secret */
    uv_thread_t thread;
    uv_cond_t changed;
    struct notification queue[QUEUE_MAX]; /* a ring */
    size_t first, count;
};

struct pythia__notify {
    uv_mutex_t lock; /* of queues and numbers */
    atomic_bool stop;
    char *secret; /* NULL: none */
    double pause_s;
    uint64_t next_number, started_ns;
    struct pythia__notify_numbers numbers;
    size_t count;
    struct target targets[];
};

const char *pythia__notify_loss_name(enum pythia__notify_loss loss)
{
    static const char *const names[PYTHIA__NOTIFY_LOSSES] = {[PYTHIA__NOTIFY_FULL] = "full",
                                                             [PYTHIA__NOTIFY_REFUSED] = "refused",
                                                             [PYTHIA__NOTIFY_GIVEN_UP] = "given_up",
                                                             [PYTHIA__NOTIFY_STOPPED] = "stopped"};
    return names[loss];
}

/* With the lock held. */
static void lose_notification(struct target *t, struct notification *one,
                              enum pythia__notify_loss why)
{
    t->notify->numbers.lost[why]++;
    pythia_log(PYTHIA_LOG_WARNING, "Lost a notification: target=%zu, number=%" PRIu64 ", reason=%s",
               t->place, one->number, pythia__notify_loss_name(why));
    pythia_buf_free(&one->body);
}

/* ---- the thread of a target ---- */

/* "X-Pythia-Signature: sha256=…", of the time, a full stop and the body: whoever repeats an old
 * request cannot give it another time. */
static void write_signature(const struct pythia__notify *n, const char *time,
                            const struct pythia_buf *body, char out[128])
{
    unsigned char digest[SHA256_SIZE] = {0};
    gnutls_hmac_hd_t hmac;
    out[0] = '\0';
    if (!n->secret || gnutls_hmac_init(&hmac, GNUTLS_MAC_SHA256, n->secret, strlen(n->secret)) != 0)
        return;
    gnutls_hmac(hmac, time, strlen(time));
    gnutls_hmac(hmac, ".", 1);
    gnutls_hmac(hmac, body->bytes, body->size);
    gnutls_hmac_deinit(hmac, digest);
    int size = snprintf(out, 128, "X-Pythia-Signature: sha256=");
    for (size_t i = 0; i < SHA256_SIZE; i++)
        snprintf(out + size + 2 * i, 3, "%02x", digest[i]);
}

enum outcome { SENT, AGAIN, REFUSED };

/* A server that is down, slow or busy may take it later; what it calls wrong stays wrong. */
static enum outcome judge_answer(int status, long code)
{
    if (status != PYTHIA_OK || code >= 500 || code == 408 || code == 429)
        return AGAIN;
    return code >= 200 && code <= 299 ? SENT : REFUSED;
}

/* The log names the target by its place in the settings, because the URL may contain a secret. */
static enum outcome post_notification(struct target *t, const struct notification *one)
{
    struct pythia__notify *n = t->notify;
    struct pythia_web_answer answer = {0};
    struct pythia_error why = {0};
    static const char agent[] = "User-Agent: pythiad/" PYTHIA_VERSION;
    char seconds[32], stamp[64], delivery[64], signature[128];
    snprintf(seconds, sizeof(seconds), "%lld", (long long)time(NULL));
    snprintf(stamp, sizeof(stamp), "X-Pythia-Timestamp: %s", seconds);
    snprintf(delivery, sizeof(delivery), "X-Pythia-Delivery: %" PRIx64 "-%" PRIu64, n->started_ns,
             one->number);
    write_signature(n, seconds, &one->body, signature);
    const struct pythia_web_request request = {.url = t->to.url,
                                               .headers = {"Content-Type: application/json", agent,
                                                           stamp, delivery,
                                                           *signature ? signature : NULL},
                                               .body = one->body.bytes,
                                               .body_size = one->body.size,
                                               .answer_max = ANSWER_MAX,
                                               .timeout_s = TIMEOUT_S,
                                               .stop = &n->stop};
    int status = pythia_web_ask(&request, &answer, &why);
    enum outcome outcome = judge_answer(status, answer.status);
    if (outcome != SENT && !atomic_load(&n->stop))
        pythia_log(PYTHIA_LOG_WARNING,
                   "A notification was not accepted: target=%zu, number=%" PRIu64
                   ", status=%ld, reason=%s",
                   t->place, one->number, answer.status, why.sentence);
    pythia_buf_free(&answer.body);
    return outcome;
}

/* With the lock held. False: stopped. */
static bool pause_target(struct target *t, double seconds)
{
    uint64_t end = uv_hrtime() + (uint64_t)(seconds * 1e9);
    for (uint64_t now; (now = uv_hrtime()) < end && !atomic_load(&t->notify->stop);)
        uv_cond_timedwait(&t->changed, &t->notify->lock, end - now);
    return !atomic_load(&t->notify->stop);
}

/* Takes `one`. With the lock held, but not while it waits for the target. */
static void deliver_notification(struct target *t, struct notification *one)
{
    struct pythia__notify *n = t->notify;
    double pause = n->pause_s;
    for (int tried = 1;; tried++) {
        uv_mutex_unlock(&n->lock);
        enum outcome outcome = post_notification(t, one);
        uv_mutex_lock(&n->lock);
        if (outcome == SENT) {
            n->numbers.sent++;
            pythia_buf_free(&one->body);
            return;
        }
        if (outcome == REFUSED || tried == TRIES) {
            lose_notification(
                t, one, outcome == REFUSED ? PYTHIA__NOTIFY_REFUSED : PYTHIA__NOTIFY_GIVEN_UP);
            return;
        }
        if (!pause_target(t, pause)) {
            lose_notification(t, one, PYTHIA__NOTIFY_STOPPED);
            return;
        }
        n->numbers.tried_again++;
        pause = pause * 2 < PAUSE_MAX_S ? pause * 2 : PAUSE_MAX_S;
    }
}

static struct notification take_first(struct target *t)
{
    struct notification one = t->queue[t->first];
    t->first = (t->first + 1) % QUEUE_MAX;
    t->count--;
    return one;
}

static void serve_target(void *context)
{
    struct target *t = context;
    struct pythia__notify *n = t->notify;
    uv_mutex_lock(&n->lock);
    while (!atomic_load(&n->stop)) {
        if (t->count == 0) {
            uv_cond_wait(&t->changed, &n->lock);
            continue;
        }
        struct notification one = take_first(t);
        deliver_notification(t, &one);
    }
    while (t->count > 0) {
        struct notification one = take_first(t);
        lose_notification(t, &one, PYTHIA__NOTIFY_STOPPED);
    }
    uv_mutex_unlock(&n->lock);
}

/* ---- the loop ---- */

/* Each target has a thread of its own, so that a slow receiver delays no other. */
/* Begin the thread of the target after the last one. */
static int begin_target(struct pythia__notify *n, const char *text, struct pythia_error *e)
{
    struct target *t = &n->targets[n->count];
    t->notify = n;
    t->place = n->count + 1;
    int status = pythia__notify_target_read(text, &t->to, e);
    if (status != PYTHIA_OK)
        return status;
    if (uv_cond_init(&t->changed) != 0)
        return PYTHIA_ENOMEM;
    if (uv_thread_create(&t->thread, serve_target, t) != 0) {
        uv_cond_destroy(&t->changed);
        return pythia_error_set(e, PYTHIA_EIO, "no thread for notifications");
    }
    return PYTHIA_OK;
}

int pythia__notify_create(const struct pythia_option_texts *targets, const char *secret,
                          double pause_s, struct pythia__notify **out, struct pythia_error *e)
{
    struct timespec now;
    *out = NULL;
    if (targets->count == 0)
        return PYTHIA_OK;
    struct pythia__notify *n =
        pythia_calloc(1, sizeof(*n) + targets->count * sizeof(n->targets[0]));
    char *copy = secret ? pythia_strndup(secret, strlen(secret)) : NULL;
    if (!n || (secret && !copy) || uv_mutex_init(&n->lock) != 0) {
        pythia_free(n);
        pythia_free(copy);
        return pythia_error_set(e, PYTHIA_ENOMEM, "no memory for notifications");
    }
    clock_gettime(CLOCK_REALTIME, &now);
    n->started_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    n->secret = copy;
    n->pause_s = pause_s;
    for (; n->count < targets->count; n->count++) {
        int status = begin_target(n, targets->texts[n->count], e);
        if (status != PYTHIA_OK) {
            pythia__notify_destroy(n); /* it stops the threads of those counted so far */
            return status;
        }
    }
    *out = n;
    return PYTHIA_OK;
}

void pythia__notify_destroy(struct pythia__notify *n)
{
    if (!n)
        return;
    uv_mutex_lock(&n->lock);
    atomic_store(&n->stop, true);
    for (size_t i = 0; i < n->count; i++)
        uv_cond_signal(&n->targets[i].changed);
    uv_mutex_unlock(&n->lock);
    for (size_t i = 0; i < n->count; i++) {
        uv_thread_join(&n->targets[i].thread);
        uv_cond_destroy(&n->targets[i].changed);
    }
    uv_mutex_destroy(&n->lock);
    pythia_free(n->secret);
    pythia_free(n);
}

void pythia__notify_verdict(struct pythia__notify *n, const json_t *verdict, bool refuted,
                            uint64_t unix_ns)
{
    for (size_t i = 0; n && i < n->count; i++) {
        struct target *t = &n->targets[i];
        struct notification one = {.number = ++n->next_number};
        int status = pythia__notify_body(t->to.format, verdict, refuted, unix_ns, &one.body);
        uv_mutex_lock(&n->lock);
        if (t->count == QUEUE_MAX) { /* a later verdict says more than an earlier one */
            struct notification oldest = take_first(t);
            lose_notification(t, &oldest, PYTHIA__NOTIFY_FULL);
        }
        if (status == PYTHIA_OK)
            t->queue[(t->first + t->count++) % QUEUE_MAX] = one;
        else
            lose_notification(t, &one, PYTHIA__NOTIFY_FULL); /* so was the memory */
        uv_cond_signal(&t->changed);
        uv_mutex_unlock(&n->lock);
    }
}

struct pythia__notify_numbers pythia__notify_numbers(struct pythia__notify *n)
{
    struct pythia__notify_numbers out = {0};
    if (!n)
        return out;
    uv_mutex_lock(&n->lock);
    out = n->numbers;
    for (size_t i = 0; i < n->count; i++)
        out.waiting += n->targets[i].count;
    uv_mutex_unlock(&n->lock);
    return out;
}
