#include "crowding.h"

#define RATE  1024 /* bytes a second, and at least */
#define CROWD 4    /* strangers are one when they have a part of this many of all places */

bool pythia__body_comes(uint64_t bytes, uint64_t took_ms)
{
    return bytes >= RATE && bytes * 1000 >= took_ms * RATE;
}

void pythia__crowd_look(struct pythia__crowd *c, const struct pythia__place *place,
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

void *pythia__crowd_choose(const struct pythia__crowd *c, size_t limit, enum pythia__wait *wait)
{
    bool crowded = c->strangers > 0 && c->strangers >= limit / CROWD;
    *wait = crowded ? c->stranger.place.wait : c->longest.place.wait;
    return crowded ? c->stranger.connection : c->longest.connection;
}

const char *pythia__wait_name(enum pythia__wait wait)
{
    static const char *const names[PYTHIA__WAITS] = {"none", "header", "body", "idle"};
    return names[wait];
}
