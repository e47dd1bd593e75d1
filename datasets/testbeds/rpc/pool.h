/* SPDX-License-Identifier: MIT */
/* Worker threads and the queue before them. Jobs are put in by the loop, handled by a worker, and
 * taken back by the loop, which is woken for it. */
#ifndef RPC_POOL_H
#define RPC_POOL_H

#include "service.h"

struct connection;

/* What each thread that has it in hand looks at is in front, in one cache line. */
struct job {
    struct job *next;
    struct connection *from;
    struct pythia_scope *request, *queue, *respond;
    enum status status;
    uint32_t lamport;
    struct pythia_context context; /* below the request's span */
    struct frame head;             /* what it borrows is gone, but for its body */
    struct bytes body, answer;
    struct pythia_scope request_room, queue_room, respond_room;
};

struct pool;

/* Start the service's workers. `wake` is sent when a job is done. NULL: there is no memory, or no
 * thread. */
struct pool *pool_create(struct service *service, uv_async_t *wake);

/* Those that wait are not handled any more. */
void pool_destroy(struct pool *pool);

/* Put a job at the end: 0, or -EAGAIN if as many wait already as may. */
int pool_put(struct pool *pool, struct job *job);

/* The jobs that are done, first one first. */
struct job *pool_take_done(struct pool *pool);

/* Another problem is planted: who was idle may have work now. */
void pool_wake(struct pool *pool);

#endif
