/* Which connection goes when there is one too many: the one that has kept its place for longest
 * without delivering anything. In a crowd of strangers, which have never delivered, it is one of
 * them: they do not push out senders that rest between two requests. */
#ifndef PYTHIA_PYTHIAD_CROWDING_H
#define PYTHIA_PYTHIAD_CROWDING_H

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

/* Chooses among the connections given to _look, one after the other, the newest first. */
struct pythia__crowd {
    struct {
        struct pythia__place place; /* wait NONE: there is none yet */
        void *connection;
    } longest, stranger; /* of connections that were never served */
    size_t strangers;
};
void pythia__crowd_look(struct pythia__crowd *c, const struct pythia__place *place,
                        void *connection);

/* The one that goes, at a limit of so many, and what it waited for; NULL: all deliver. */
void *pythia__crowd_choose(const struct pythia__crowd *c, size_t limit, enum pythia__wait *wait);

/* Static: "header", "body", "idle". */
const char *pythia__wait_name(enum pythia__wait wait);

#endif
