/* Passes a program's output on to its destination, and stores the beginning of it. */
#ifndef PYTHIA_CLI_CAPTURE_H
#define PYTHIA_CLI_CAPTURE_H

#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/run.h"

struct pythia__captured {
    int source, target; /* our end, and the program's; -1: not captured */
    char *head;         /* owned: the first PYTHIA_RUN_OUTPUT_MAX bytes */
    size_t size;
    int64_t all; /* bytes that the program wrote */
    bool broken; /* the reader of our own output is gone */
};

/* One for standard output and one for standard error. */
struct pythia__capture {
    struct pythia__captured streams[2];
};

/* Make the ends, before the program is started: pseudo-terminals where our own output is a
 * terminal, so that the program still sees one, else pipes. Where both outputs are one file, both
 * get the same end, so that what is written to them keeps its order; it counts as standard output.
 * PYTHIA_OK, PYTHIA_EIO after saying why, or PYTHIA_ENOMEM. _end gives back all in any case. */
int pythia__capture_begin(struct pythia__capture *c);

/* Add what gives the program its ends. 0, or an error number. */
int pythia__capture_enter(const struct pythia__capture *c, posix_spawn_file_actions_t *actions);

/* In the parent: pass on what comes until the process of `pidfd` has ended and nothing more waits.
 * If what it started still holds an end, a process stays behind that passes on until the last one
 * has closed it: closing it here would kill them by SIGPIPE. */
void pythia__capture_relay(struct pythia__capture *c, int pidfd);

/* Close both ends of each stream that are still open, and free what was captured. */
void pythia__capture_end(struct pythia__capture *c);

#endif
