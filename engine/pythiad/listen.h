/* Sockets that listen, by address as text. */
#ifndef PYTHIA_PYTHIAD_LISTEN_H
#define PYTHIA_PYTHIAD_LISTEN_H

#include <stdbool.h>

#include "pythia/error.h"

/* Listen at "127.0.0.1:4318", "[::1]:4318", "localhost:4318" or "*:4318" (all addresses; port 0 is
 * any that is free), or at "unix:/path" (what is left of a dead listener there is removed; mode
 * 0600). *out is then owned, not blocking, closed by exec. PYTHIA_OK; PYTHIA_EUSAGE: no address;
 * PYTHIA_EIO: it cannot be had; with the reason in `e`. */
int pythia__listen(const char *address, int *out, struct pythia_error *e);

/* Is it an address at all, as far as its form goes? If not, the reason is in `e`. */
bool pythia__address_is_one(const char *address, struct pythia_error *e);

/* Does an address lead no further than this machine? */
bool pythia__address_is_local(const char *address);

/* The port of a socket, 0 if it is not TCP. */
unsigned pythia__socket_port(int socket);

#endif
