#ifndef PYTHIA_CONFINE_H
#define PYTHIA_CONFINE_H

#include <stdbool.h>
#include <stddef.h>

/* The privileges that a command gives up before it reads untrusted files, so that a fault in a
 * decoder is worth little: from now on this process, and the threads that it makes, may read files,
 * and may not
 *
 *   open or use sockets, run programs, or make processes (seccomp; they fail with EPERM);
 *   make, remove or write files but those that are named here (Landlock; EACCES).
 *
 * What is open already stays usable. */
struct pythia_confinement {
    bool calls; /* seccomp holds */
    bool files; /* Landlock holds; false on a kernel without it (before 5.13) */
};

/* What stays allowed all the same. */
enum {
    PYTHIA_CONFINE_MAY_CONNECT = 1, /* be a client of the network */
};

/* `outputs` are `count` paths that are written later: the file itself if it is there, and files in
 * its folder, as outputs are written beside their place; NULL and "-" are passed over. One that
 * cannot be found is left out, and is told when it is opened. It holds for good. A kernel that
 * cannot do one of the two does the other. `may`: see above; 0: nothing. PYTHIA_OK, or
 * PYTHIA_ENOMEM. */
int pythia_confine(const char *const *outputs, size_t count, unsigned may,
                   struct pythia_confinement *out);

#endif
