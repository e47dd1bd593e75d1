/* SPDX-License-Identifier: MIT */
/* Shared memory that outlives who made it, and that nobody can cut short.
 *
 * A file that is mapped can be truncated by anyone who may write to it; whoever touches the mapping
 * then gets SIGBUS, and that would be the program being traced. A sealed memfd cannot be truncated,
 * but dies with the last process that holds it, and takes the events of a killed program along. A
 * segment of System V has neither fault: its size is fixed when it is made, for everyone and for
 * root too, and it stays until it is removed. What it lacks is a name, which a small file in a
 * directory gives it (directory.h); no process reads that file again once it is attached. And the
 * kernel counts who is attached, through namespaces, kill -9 and programs that close all their
 * files, so that a reader knows whether the owner lives. */
#ifndef PYTHIA_SEGMENT_H
#define PYTHIA_SEGMENT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PYTHIA__WHY                                                                                \
    256 /* bytes of a sentence that says what is wrong; such arguments may be NULL */

/* Write a sentence into `why` and return `status`. */
int pythia__why(char *why, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Make one of zeros, for the user `owner` alone, and attach it. Its pages take memory once they are
 * written to. Children do not inherit it if `own`. 0 or a negative errno. */
int pythia__segment_create(size_t bytes, uid_t owner, int own, int *id, void **at);

/* Attach one that is there and belongs to `owner`. -ESTALE: it is gone; -EPERM: it is somebody
 * else's. */
int pythia__segment_attach(int id, uid_t owner, size_t *bytes, void **at, char *why);

void pythia__segment_detach(void *at); /* at may be NULL */

/* Remove it as soon as nobody is attached any more. */
void pythia__segment_remove(int id);

/* The number of processes attached to it; negative errno: -ESTALE if it is gone. */
long pythia__segment_attached(int id);

#endif
