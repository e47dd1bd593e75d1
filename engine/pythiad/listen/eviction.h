/* Which connection is closed when there is one too many: the one that has gone longest without
 * delivering anything. If many connections have never delivered, it is one of these, so that they
 * do not displace senders that rest between two requests. */
#ifndef PYTHIA_PYTHIAD_EVICTION_H
#define PYTHIA_PYTHIAD_EVICTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The reason why a connection waits. */
enum pythia__wait {
    PYTHIA__WAIT_NONE, /* it delivers, or is owed an answer: it stays */
    PYTHIA__WAIT_HEADER,
    PYTHIA__WAIT_BODY,
    PYTHIA__WAIT_IDLE, /* for its next request */
};
#define PYTHIA__WAITS 4

struct pythia__place {
    enum pythia__wait wait;
    bool served; /* a request of it was answered */
    uint64_t since_ms;
};

/* Does a body come, at 1 KiB a second at least? */
bool pythia__body_comes(uint64_t bytes, uint64_t took_ms);

/* Chooses among the connections given to _consider, one after the other, the newest first. */
struct pythia__eviction {
    struct {
        struct pythia__place place; /* wait NONE: there is none yet */
        void *connection;
    } longest, stranger; /* a stranger is a connection that was never served */
    size_t strangers;
};
void pythia__eviction_consider(struct pythia__eviction *c, const struct pythia__place *place,
                               void *connection);

/* The connection to close at this limit, and the reason why it waited; NULL: all deliver. */
void *pythia__eviction_choose(const struct pythia__eviction *c, size_t limit,
                              enum pythia__wait *wait);

/* Static: "header", "body", "idle". */
const char *pythia__wait_name(enum pythia__wait wait);

#endif
