/* The streams that the settings name: files, rings, sockets, Redis. */
#ifndef PYTHIA_PYTHIAD_FEEDING_H
#define PYTHIA_PYTHIAD_FEEDING_H

#include "daemon.h"

/* Begin to read them. PYTHIA_OK, or negative with the reason in `e`. */
int pythia__feeding_start(struct pythia__daemon *d, struct pythia_error *e);

/* Start no more feeds, and let the running ones read what has arrived. */
void pythia__feeding_stop(struct pythia__daemon *d);

/* Connections that bring records and were beyond the limit. */
uint64_t pythia__feeding_refused(const struct pythia__daemon *d);

#endif
