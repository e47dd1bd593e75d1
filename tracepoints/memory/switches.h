/* SPDX-License-Identifier: MIT */
/* The switchboard as the library itself uses it. */
#ifndef PYTHIA_SWITCHES_H
#define PYTHIA_SWITCHES_H

#include "directory.h"
#include "pythia/switchboard.h"

/* As pythia_switchboard_open, in a directory that was found. -EAGAIN: another process is making it
 * just now. */
int pythia__switchboard_open(const struct pythia__directory *d, int create,
                             struct pythia_switchboard **out, char *why);

/* The switches of a point; NULL if there is no slot for it. They stay there until the
 * switchboard is closed. */
uint64_t *pythia__switchboard_find(struct pythia_switchboard *b, const char *id, size_t bytes,
                                   int create);

/* Not 0 while all points are to be closed. */
const uint32_t *pythia__switchboard_off(const struct pythia_switchboard *b);

/* How often switches were thrown, modulo 2^32; and wait until that is no longer `known`, at most so
 * long. A signal may end it early. */
struct timespec;
uint32_t pythia__switchboard_thrown(const struct pythia_switchboard *b);
void pythia__switchboard_wait(struct pythia_switchboard *b, uint32_t known,
                              const struct timespec *most);

/* Rings of a dead process, with so many bytes that nobody had read, were removed. */
void pythia__switchboard_removed(struct pythia_switchboard *b, uint64_t bytes);

#endif
