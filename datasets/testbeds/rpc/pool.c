/* SPDX-License-Identifier: MIT */
#include "pool.h"

#include <errno.h>
#include <stdlib.h>

#include "caller.h"

struct pool {
    struct service *service;
    uv_async_t *wake;
    uv_mutex_t mutex;
    uv_cond_t ready;
    struct job *first, **last, *done, **done_last;
    unsigned waiting, busy, started;
    int stops;
    struct worker workers[WORKERS_MAX];
};

static void store(long *to, long value) /* NOLINT(readability-non-const-parameter): written to */
{
    __atomic_store_n(to, value, __ATOMIC_RELAXED);
}

/* What variables tell; under the mutex. */
static void tell(struct pool *pool)
{
    struct service *s = pool->service;
    store(&s->queue_length, pool->waiting);
    store(&s->workers_busy, pool->busy);
    if ((long)pool->waiting > s->queue_most)
        store(&s->queue_most, pool->waiting);
}

static unsigned limit_of(const struct pool *pool)
{
    const struct service *s = pool->service;
    return s->kind->has_pool && atomic_load(&s->problem) == PROBLEM_POOL ? 1 : s->settings.workers;
}

static struct job *next_job(struct pool *pool)
{
    struct job *job = NULL;
    uv_mutex_lock(&pool->mutex);
    while (!pool->stops && (!pool->first || pool->busy >= limit_of(pool)))
        uv_cond_wait(&pool->ready, &pool->mutex);
    if (!pool->stops) {
        job = pool->first;
        pool->first = job->next;
        if (!pool->first)
            pool->last = &pool->first;
        pool->waiting--;
        pool->busy++;
        tell(pool);
    }
    uv_mutex_unlock(&pool->mutex);
    return job;
}

static void give_back(struct pool *pool, struct job *job)
{
    job->next = NULL;
    uv_mutex_lock(&pool->mutex);
    *pool->done_last = job;
    pool->done_last = &job->next;
    pool->busy--;
    pool->service->handled++;
    tell(pool);
    if (pool->first)
        uv_cond_signal(&pool->ready);
    uv_mutex_unlock(&pool->mutex);
    uv_async_send(pool->wake);
}

static enum status handle(struct worker *worker, const struct job *job, struct bytes *answer)
{
    struct request request = {0};
    {
        PYTHIA_SPAN_AS(span, "decode");
        if (request_read(job->body.data, job->body.used, &request) != 0) {
            PYTHIA_FAIL(span);
            return STATUS_BROKEN;
        }
    }
    return worker->service->kind->handle(worker, job->head.method, job->head.attempt, &request,
                                         answer);
}

static void encode(struct job *job, const struct bytes *said)
{
    struct pythia_context here;
    PYTHIA_SPAN("encode");
    pythia_context_get(&here);
    const struct frame answer = {.kind = FRAME_ANSWER,
                                 .method = job->head.method,
                                 .status = (uint8_t)job->status,
                                 .attempt = job->head.attempt,
                                 .number = job->head.number,
                                 .lamport = here.lamport,
                                 .body = said->data,
                                 .body_bytes = said->used};
    if (frame_write(&job->answer, &answer) != 0) /* the loop closes the connection */
        job->answer.used = 0;
}

static void do_job(struct worker *worker, struct job *job)
{
    struct bytes said = {0};
    PYTHIA_CONTEXT(&job->context);
    PYTHIA_END(job->queue);
    {
        PYTHIA_SPAN_AS(span, "handle");
        PYTHIA_SET(span, "worker", worker->number);
        job->status = handle(worker, job, &said);
        if (job->status != STATUS_OK) {
            PYTHIA_SET(span, "status", status_name(job->status));
            PYTHIA_FAIL(span);
        }
    }
    encode(job, &said);
    bytes_free(&said);
    job->respond = PYTHIA_BEGIN(&job->respond_room, PYTHIA_POINT_INTERNAL, "respond");
}

static void work(void *argument)
{
    struct worker *worker = argument;
    struct pool *pool = worker->service->pool;
    struct job *job;
    while ((job = next_job(pool))) {
        do_job(worker, job);
        give_back(pool, job);
    }
}

static int start_worker(struct pool *pool, struct worker *worker)
{
    const struct settings *s = &pool->service->settings;
    worker->service = pool->service;
    worker->number = pool->started;
    for (unsigned i = 0; i < s->peer_count; i++)
        if (!(worker->callers[i] = caller_create(pool->service, s->peers[i])))
            return 0;
    return uv_thread_create(&worker->thread, work, worker) == 0;
}

static void free_callers(struct worker *worker)
{
    for (unsigned i = 0; i < PEERS_MAX; i++)
        caller_destroy(worker->callers[i]);
}

struct pool *pool_create(struct service *service, uv_async_t *wake)
{
    struct pool *pool = calloc(1, sizeof(*pool));
    if (!pool)
        return NULL;
    pool->service = service;
    pool->wake = wake;
    pool->last = &pool->first;
    pool->done_last = &pool->done;
    uv_mutex_init(&pool->mutex);
    uv_cond_init(&pool->ready);
    service->pool = pool;
    for (; pool->started < service->settings.workers; pool->started++)
        if (!start_worker(pool, &pool->workers[pool->started])) {
            free_callers(&pool->workers[pool->started]);
            pool_destroy(pool);
            return NULL;
        }
    return pool;
}

void pool_destroy(struct pool *pool)
{
    if (!pool)
        return;
    uv_mutex_lock(&pool->mutex);
    pool->stops = 1;
    uv_cond_broadcast(&pool->ready);
    uv_mutex_unlock(&pool->mutex);
    for (unsigned i = 0; i < pool->started; i++) {
        uv_thread_join(&pool->workers[i].thread);
        free_callers(&pool->workers[i]);
    }
    uv_cond_destroy(&pool->ready);
    uv_mutex_destroy(&pool->mutex);
    pool->service->pool = NULL;
    free(pool);
}

/* How many requests have to be done before there is a worker for one that comes now. */
static unsigned ahead_of(const struct pool *pool)
{
    unsigned before = pool->waiting + pool->busy + 1, limit = limit_of(pool);
    return before > limit ? before - limit : 0;
}

int pool_put(struct pool *pool, struct job *job)
{
    int refused;
    job->next = NULL;
    uv_mutex_lock(&pool->mutex);
    PYTHIA_SET(job->queue, "queue_length", ahead_of(pool));
    PYTHIA_SET(job->queue, "workers_busy", pool->busy);
    refused = pool->waiting >= pool->service->settings.queue_max;
    if (!refused) {
        *pool->last = job;
        pool->last = &job->next;
        pool->waiting++;
        tell(pool);
        uv_cond_signal(&pool->ready);
    }
    uv_mutex_unlock(&pool->mutex);
    return refused ? -EAGAIN : 0;
}

struct job *pool_take_done(struct pool *pool)
{
    uv_mutex_lock(&pool->mutex);
    struct job *done = pool->done;
    pool->done = NULL;
    pool->done_last = &pool->done;
    uv_mutex_unlock(&pool->mutex);
    return done;
}

void pool_wake(struct pool *pool)
{
    uv_mutex_lock(&pool->mutex);
    uv_cond_broadcast(&pool->ready);
    uv_mutex_unlock(&pool->mutex);
}
