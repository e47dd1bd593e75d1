#include "forward.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include <uv.h>

#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/status.h"
#include "pythia/web.h"

#define THREADS     4 /* requests under way at once */
#define TIMEOUT_S   10.
#define ANSWER_MAX  ((size_t)64 * 1024) /* of which nothing is read but the status */
#define PAUSE_MIN_S .1
#define PAUSE_MAX_S 30.
#define END_S       3. /* for what waits when pythiad ends */

struct body {
    struct body *next;
    enum pythia__forward_to to;
    const char *path, *type, *coding; /* coding NULL: it is not packed */
    size_t size;
    char bytes[];
};

struct pythia__forward {
    struct pythia__forward_options options;
    uv_mutex_t lock; /* of all that follows */
    uv_cond_t changed;
    struct body *first, **last;
    bool stopping;
    atomic_bool given_up; /* stopping, and the collector does not take what waits */
    bool warned;          /* of the present failure */
    struct pythia__forward_numbers numbers;
    size_t thread_count, running;
    uv_thread_t threads[THREADS];
};

/* ---- a thread ---- */

enum outcome { TAKEN, LATER, REFUSED };

static enum outcome post_body(struct pythia__forward *f, struct pythia_web_link *link,
                              const struct body *b, long *code)
{
    char url[1024], type[64], coding[64] = "";
    struct pythia_web_answer answer = {0};
    const char *base = f->options.urls[b->to];
    size_t base_size = strlen(base);
    snprintf(url, sizeof(url), "%.*s%s", (int)(base_size - (base[base_size - 1] == '/')), base,
             b->path);
    snprintf(type, sizeof(type), "Content-Type: %s", b->type);
    if (b->coding)
        snprintf(coding, sizeof(coding), "Content-Encoding: %s", b->coding);
    struct pythia_web_request request = {.url = url,
                                         .headers = {type},
                                         .link = link,
                                         .body = b->bytes,
                                         .body_size = b->size,
                                         .answer_max = ANSWER_MAX,
                                         .timeout_s = TIMEOUT_S,
                                         .stop = &f->given_up};
    size_t count = 1;
    if (b->coding)
        request.headers[count++] = coding;
    for (const char *const *h = f->options.headers[b->to]; h && *h && count < PYTHIA_WEB_HEADERS;
         h++)
        request.headers[count++] = *h;
    int status = pythia_web_ask(&request, &answer, NULL);
    *code = answer.status;
    pythia_buf_free(&answer.body);
    if (status != PYTHIA_OK || *code >= 500 || *code == 408 || *code == 429)
        return LATER;
    return *code >= 200 && *code <= 299 ? TAKEN : REFUSED;
}

/* With the lock held. A collector that is down is reported once, until it takes something. */
static void note_outcome(struct pythia__forward *f, const struct body *b, enum outcome outcome,
                         long code)
{
    if (outcome == TAKEN) {
        f->numbers.sent++;
        f->numbers.sent_bytes += b->size;
    }
    if (outcome == REFUSED)
        f->numbers.refused++;
    if (outcome != TAKEN && !f->warned)
        pythia_log(PYTHIA_LOG_WARNING,
                   "The collector does not take what is sent on: status=%ld, %s", code,
                   outcome == LATER ? "tries again" : "lost");
    if (outcome == TAKEN && f->warned)
        pythia_log(PYTHIA_LOG_INFO, "The collector takes what is sent on again");
    f->warned = outcome != TAKEN;
}

/* With the lock held, but not while it waits. Nobody waits any more once pythiad stops. */
static void pause_forwarding(struct pythia__forward *f, double seconds)
{
    uint64_t end = uv_hrtime() + (uint64_t)(seconds * 1e9);
    for (uint64_t now; (now = uv_hrtime()) < end && !f->stopping;)
        uv_cond_timedwait(&f->changed, &f->lock, end - now);
}

/* With the lock held, but not while a request is under way. The body keeps its bytes of the queue
 * until it is taken: the bound is one of memory. */
static void send_on(struct pythia__forward *f, struct pythia_web_link *link, struct body *b)
{
    double pause = PAUSE_MIN_S;
    enum outcome outcome = LATER;
    while (outcome == LATER && !atomic_load(&f->given_up)) {
        bool last = f->stopping;
        long code;
        uv_mutex_unlock(&f->lock);
        outcome = post_body(f, link, b, &code);
        uv_mutex_lock(&f->lock);
        note_outcome(f, b, outcome, code);
        if (outcome != LATER)
            break;
        f->numbers.tried_again++;
        if (last)
            atomic_store(&f->given_up, true);
        else
            pause_forwarding(f, pause);
        pause = pause * 2 < PAUSE_MAX_S ? pause * 2 : PAUSE_MAX_S;
    }
    f->numbers.stopped += outcome == LATER;
    f->numbers.waiting--;
    f->numbers.waiting_bytes -= b->size;
    pythia_free(b);
}

static void run_forwarding(void *context)
{
    struct pythia__forward *f = context;
    struct pythia_web_link *link = pythia_web_link_create();
    uv_mutex_lock(&f->lock);
    while (f->first || !f->stopping) {
        struct body *b = f->first;
        if (!b) {
            uv_cond_wait(&f->changed, &f->lock);
            continue;
        }
        f->first = b->next;
        if (!f->first)
            f->last = &f->first;
        send_on(f, link, b);
    }
    f->running--;
    uv_cond_broadcast(&f->changed);
    uv_mutex_unlock(&f->lock);
    pythia_web_link_destroy(link);
}

/* ---- the loop ---- */

/* Where one thread cannot be made, _destroy ends those that were. */
int pythia__forward_create(const struct pythia__forward_options *options,
                           struct pythia__forward **out, struct pythia_error *e)
{
    struct pythia__forward *f = pythia_calloc(1, sizeof(*f));
    if (!f || uv_mutex_init(&f->lock) != 0) {
        pythia_free(f);
        return pythia_error_set(e, PYTHIA_ENOMEM, "no memory to send on");
    }
    f->options = *options;
    f->last = &f->first;
    int status = uv_cond_init(&f->changed) == 0 ? PYTHIA_OK : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK) {
        uv_mutex_destroy(&f->lock);
        pythia_free(f);
        return status;
    }
    while (f->thread_count < THREADS &&
           uv_thread_create(&f->threads[f->thread_count], run_forwarding, f) == 0)
        f->thread_count++;
    uv_mutex_lock(&f->lock);
    f->running = f->thread_count; /* none ends before _destroy */
    uv_mutex_unlock(&f->lock);
    if (f->thread_count == THREADS) {
        *out = f;
        return PYTHIA_OK;
    }
    pythia__forward_destroy(f);
    return pythia_error_set(e, PYTHIA_EIO, "no thread to send on");
}

/* A collector that takes connections and does not answer must not hold the end up. */
static void stop_forwarding(struct pythia__forward *f)
{
    uint64_t end = uv_hrtime() + (uint64_t)(END_S * 1e9);
    uv_mutex_lock(&f->lock);
    f->stopping = true;
    uv_cond_broadcast(&f->changed);
    for (uint64_t now; f->running > 0 && (now = uv_hrtime()) < end;)
        uv_cond_timedwait(&f->changed, &f->lock, end - now);
    atomic_store(&f->given_up, true);
    uv_cond_broadcast(&f->changed);
    uv_mutex_unlock(&f->lock);
}

void pythia__forward_destroy(struct pythia__forward *f)
{
    if (!f)
        return;
    stop_forwarding(f);
    for (size_t i = 0; i < f->thread_count; i++)
        uv_thread_join(&f->threads[i]);
    if (f->numbers.stopped > 0)
        pythia_log(PYTHIA_LOG_WARNING, "Bodies were not sent on before the end: lost=%llu",
                   (unsigned long long)f->numbers.stopped);
    uv_cond_destroy(&f->changed);
    uv_mutex_destroy(&f->lock);
    pythia_free(f);
}

bool pythia__forward_takes(const struct pythia__forward *f, enum pythia__forward_to to)
{
    return f && f->options.urls[to];
}

/* The copy is made without the lock, as threads must not wait for it. */
bool pythia__forward_add(struct pythia__forward *f, enum pythia__forward_to to, const char *path,
                         const char *type, enum pythia_packing packing, const char *bytes,
                         size_t size)
{
    static const char *const codings[PYTHIA_PACKINGS] = {
        [PYTHIA_PACKING_GZIP] = "gzip", [PYTHIA_PACKING_ZSTD] = "zstd"};
    struct body *b = pythia_calloc(1, sizeof(*b) + size);
    if (b) {
        *b = (struct body){
            .to = to, .path = path, .type = type, .coding = codings[packing], .size = size};
        if (size > 0)
            memcpy(b->bytes, bytes, size);
    }
    uv_mutex_lock(&f->lock);
    bool taken = b && size <= f->options.bytes_max - f->numbers.waiting_bytes;
    if (taken) {
        *f->last = b;
        f->last = &b->next;
        f->numbers.waiting++;
        f->numbers.waiting_bytes += size;
        uv_cond_signal(&f->changed);
    } else {
        f->numbers.not_taken++;
    }
    uv_mutex_unlock(&f->lock);
    if (!taken)
        pythia_free(b);
    return taken;
}

struct pythia__forward_numbers pythia__forward_numbers(struct pythia__forward *f)
{
    struct pythia__forward_numbers out = {0};
    if (!f)
        return out;
    uv_mutex_lock(&f->lock);
    out = f->numbers;
    uv_mutex_unlock(&f->lock);
    return out;
}
