/* Sockets that listen, by address as text. */
#ifndef PYTHIA_PYTHIAD_LISTEN_H
#define PYTHIA_PYTHIAD_LISTEN_H

#include <stdbool.h>
#include <sys/types.h>

#include "pythia/error.h"

/* The file of a unix socket that listens. */
struct pythia__socket_file {
    const char *path; /* NULL: there is none; borrowed */
    dev_t device;
    ino_t inode;
};

/* Listen at "127.0.0.1:4318", "[::1]:4318", "localhost:4318" or "*:4318" (all addresses; port 0 is
 * any that is free), or at "unix:/path" (mode 0600). The socket of a dead listener there is
 * removed; of one that lives it is left alone, as is any other file, and the path refused. *out is
 * then owned, not blocking, closed by exec; *file is to be given to _remove before it is closed,
 * and borrows from the address. PYTHIA_OK; PYTHIA_EUSAGE: no address; PYTHIA_EIO: it cannot be had;
 * with the reason in `e`. */
int pythia__listen(const char *address, int *out, struct pythia__socket_file *file,
                   struct pythia_error *e);

/* Remove the file, if it is still that of this socket: another daemon may have taken the place.
 * Does nothing the second time. */
void pythia__socket_file_remove(struct pythia__socket_file *file);

/* Is it an address at all, as far as its form goes? If not, the reason is in `e`. */
bool pythia__address_is_one(const char *address, struct pythia_error *e);

/* Does an address lead no further than this machine? */
bool pythia__address_is_local(const char *address);

/* The port of a socket, 0 if it is not TCP. */
unsigned pythia__socket_port(int socket);

#endif
