/* SPDX-License-Identifier: MIT */
/* Knows which shard has a key: looks it up under a lock, asks the shard, or all of them for a list,
 * and puts together what they say. */
#include "caller.h"
#include "service.h"
#include "work.h"

#define HOLD_US     20000 /* that the lock is held, for the tenant of whom that is planted */
#define HOLD_TENANT 3

static unsigned shard_of(const struct settings *s, uint32_t key)
{
    return key % s->peer_count;
}

static void hold(struct service *s, const struct request *request)
{
    PYTHIA_SPAN_AS(span, "lock.held");
    PYTHIA_SET(span, "tenant", tenant_name(request->tenant));
    __atomic_store_n(&s->lock_holder, (long)request->tenant, __ATOMIC_RELAXED);
    work_do(s->settings.work / 10, &request->key, sizeof(request->key));
    if (atomic_load(&s->problem) == PROBLEM_LOCK && request->tenant == HOLD_TENANT)
        work_wait(HOLD_US);
    __atomic_store_n(&s->lock_holder, -1L, __ATOMIC_RELAXED);
}

/* Where the key is: the index is looked at by one request at a time. */
static unsigned look_up(struct service *s, const struct request *request)
{
    PYTHIA_SPAN_AS(span, "index");
    {
        PYTHIA_SPAN_AS(wait, "lock.wait");
        PYTHIA_SET(wait, "lock_waiters", __atomic_load_n(&s->lock_waiters, __ATOMIC_RELAXED));
        __atomic_fetch_add(&s->lock_waiters, 1, __ATOMIC_RELAXED);
        PYTHIA_SET(wait, "lock_holder",
                   tenant_name((unsigned)__atomic_load_n(&s->lock_holder, __ATOMIC_RELAXED)));
        uv_mutex_lock(&s->index);
        __atomic_fetch_sub(&s->lock_waiters, 1, __ATOMIC_RELAXED);
    }
    hold(s, request);
    uv_mutex_unlock(&s->index);
    return shard_of(&s->settings, request->key);
}

static enum status ask_shard(struct worker *worker, unsigned shard, unsigned method,
                             const struct request *request, struct bytes *answer)
{
    PYTHIA_SPAN_AS(span, "ask_shard");
    PYTHIA_SET(span, "shard", shard_name(shard));
    return caller_call(worker->callers[shard], method, request, answer);
}

static enum status ask_all(struct worker *worker, const struct request *request,
                           struct bytes *answer)
{
    enum status status = STATUS_OK;
    PYTHIA_SPAN_AS(span, "gather");
    PYTHIA_SET(span, "count", request->count);
    for (unsigned i = 0; i < worker->service->settings.peer_count && status == STATUS_OK; i++)
        status = ask_shard(worker, i, METHOD_LIST, request, answer);
    return status;
}

static enum status handle(struct worker *worker, unsigned method, unsigned attempt,
                          const struct request *request, struct bytes *answer)
{
    struct service *s = worker->service;
    enum status status;
    unsigned shard = look_up(s, request);
    (void)attempt;
    status = method == METHOD_LIST ? ask_all(worker, request, answer)
                                   : ask_shard(worker, shard, method, request, answer);
    PYTHIA_SPAN("merge");
    work_do(s->settings.work, answer->data, answer->used);
    return status;
}

const struct service_kind store_kind = {.name = "store", .has_pool = 1, .handle = handle};
