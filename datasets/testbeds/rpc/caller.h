/* SPDX-License-Identifier: MIT */
/* Calls of a service below, one at a time, over a connection that is kept: what a worker has for
 * each of them. A call that fails, or is told to come again, is tried again after a pause.
 *
 * There is no span for the wait alone: it would lie beside what is done for it elsewhere, and hide
 * that. What the sender does not see is what remains of "attempt". */
#ifndef RPC_CALLER_H
#define RPC_CALLER_H

#include "service.h"

#define CALL_ATTEMPTS 3
#define CALL_PAUSE_US 20000 /* before the second attempt; twice that before the third */
#define CALL_SECONDS  10    /* that an answer is waited for */

struct caller;

struct caller *caller_create(struct service *service, const char *address); /* NULL: no memory */
void caller_destroy(struct caller *caller);

/* Ask, and append what was answered: a status. The thread's request goes along. */
enum status caller_call(struct caller *caller, unsigned method, const struct request *request,
                        struct bytes *answer);

#endif
