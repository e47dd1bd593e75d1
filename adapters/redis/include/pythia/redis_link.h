/* A connection to Redis that never makes its owner wait: commands are queued, and whatever can be
 * done is done by _pump. It connects by itself, and again when the connection is lost. */
#ifndef PYTHIA_REDIS_LINK_H
#define PYTHIA_REDIS_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/error.h"
#include "pythia/text.h"

struct redisReply;
struct pythia__redis;

/* Called with the answer to a command (NULL: the connection was lost before it came). */
typedef void (*pythia__redis_answer)(void *context, const struct redisReply *reply);

/* `url`: redis://[:PASSWORD@]ADDRESS[:PORT][/DATABASE] or unix:PATH. An address is a number:
 * looking up a name would make its owner wait. PYTHIA_OK with *out owned, or PYTHIA_EUSAGE or
 * PYTHIA_ENOMEM with the reason in `e`. */
int pythia__redis_create(const char *url, struct pythia__redis **out, struct pythia_error *e);
void pythia__redis_destroy(struct pythia__redis *r); /* r may be NULL; commands that wait are
                                                        answered by NULL */

/* Connect if that is due, write and read what can be. Waits for at most `wait_ms` for something to
 * come. *connected_anew: since the last call there is another connection. True: it is connected. */
bool pythia__redis_pump(struct pythia__redis *r, uint64_t now_ns, int wait_ms,
                        bool *connected_anew);

/* Queue a command. False: there is no connection, or no memory; `answer` is not called then. */
bool pythia__redis_send(struct pythia__redis *r, pythia__redis_answer answer, void *context,
                        const struct pythia_text *words, int count);

/* Commands that were sent and not answered yet. */
size_t pythia__redis_waiting(const struct pythia__redis *r);

/* Why there is no connection; "" if there is one, or none was tried. */
const char *pythia__redis_why(const struct pythia__redis *r);

#endif
