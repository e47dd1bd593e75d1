#include "eviction.h"

#define RATE           1024 /* bytes a second, and at least */
#define STRANGERS_PART 4    /* a quarter of all connections are many strangers */

bool pythia__body_comes(uint64_t bytes, uint64_t took_ms)
{
    return bytes >= RATE && bytes * 1000 >= took_ms * RATE;
}

void pythia__eviction_consider(struct pythia__eviction *c, const struct pythia__place *place,
                               void *connection)
{
    if (place->wait == PYTHIA__WAIT_NONE)
        return;
    if (!c->longest.connection || place->since_ms <= c->longest.place.since_ms) {
        c->longest.place = *place;
        c->longest.connection = connection;
    }
    if (place->served)
        return;
    c->strangers++;
    if (!c->stranger.connection || place->since_ms <= c->stranger.place.since_ms) {
        c->stranger.place = *place;
        c->stranger.connection = connection;
    }
}

void *pythia__eviction_choose(const struct pythia__eviction *c, size_t limit,
                              enum pythia__wait *wait)
{
    bool by_stranger = c->strangers > 0 && c->strangers >= limit / STRANGERS_PART;
    *wait = by_stranger ? c->stranger.place.wait : c->longest.place.wait;
    return by_stranger ? c->stranger.connection : c->longest.connection;
}

const char *pythia__wait_name(enum pythia__wait wait)
{
    static const char *const names[PYTHIA__WAITS] = {"none", "header", "body", "idle"};
    return names[wait];
}
