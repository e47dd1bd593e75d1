/* SPDX-License-Identifier: MIT */
/* The directory in which segments of shared memory have their names. A file of it is one line:
 *
 *     pythia-area 1 <segment> <random id, 32 digits> <process> <boot id> <IPC namespace>
 *
 * It is believed only if it is this user's, and nobody else's to write; and a segment only if its
 * id is the one in the file, since the numbers of segments come around again. */
#ifndef PYTHIA_DIRECTORY_H
#define PYTHIA_DIRECTORY_H

#include <limits.h>

#include "segment.h"

#define PYTHIA__PATH 1024 /* bytes of the directory's */

struct pythia__directory {
    char path[PYTHIA__PATH];
    uid_t owner;
};

/* Find it, and make it if it is not there: `wanted`, or PYTHIA_DIRECTORY, or the first of these
 * that can be had: XDG_RUNTIME_DIR/pythia, /run/user/<user>/pythia, /dev/shm/pythia-<user>, and,
 * where that is another user's, /dev/shm/pythia-<user>-<random>. A program that is traced takes
 * only its own user's or root's; root as a reader may take anybody's. */
int pythia__directory_find(const char *wanted, int reader, struct pythia__directory *out,
                           char *why);

/* The content of one file. */
struct pythia__entry {
    const char *kind; /* "area" or "switchboard"; a string that stays */
    int segment;
    uint64_t id_high, id_low;
    int pid;
};

/* Write a file, wholly or not at all; -EEXIST if it is there and `replace` is 0. */
int pythia__entry_write(const struct pythia__directory *d, const char *name,
                        const struct pythia__entry *entry, int replace);

/* Read one of that kind. -ENOENT; -ESTALE: of before the machine was started; else refused. */
int pythia__entry_read(const struct pythia__directory *d, const char *name, const char *kind,
                       struct pythia__entry *out, char *why);

/* Remove a file of the directory. An error is ignored: the file may be gone already. */
void pythia__entry_remove(const struct pythia__directory *d, const char *name);

/* Wait at most a moment for whoever changes the directory, and keep others out: a file to be closed
 * afterwards, or negative; -EBADMSG: what has that name is no plain file, or has several names. */
int pythia__directory_lock(const struct pythia__directory *d, const char *name, int patience_ms);

/* Why there is no lock, for people. */
const char *pythia__directory_lock_fault(int status);

/* Fill with random bytes, as good as there are. */
void pythia__random_bytes(void *to, size_t bytes);

#endif
