#ifndef PYTHIA_SYMBOLS_H
#define PYTHIA_SYMBOLS_H

#include <stddef.h>

#include "pythia/buf.h"
#include "pythia/error.h"
#include "pythia/text.h"

/* Places in programs, "shop+0x1a2b" as `pythia run` records who has called a function, become
 * "handle_order at server.c:42": by the symbols and the debug information (DWARF) of programs and
 * libraries that are named, or of their debug packages in /usr/lib/debug. Nothing is fetched from
 * the network. Libdw of elfutils reads them; it is loaded when the first place is looked up.
 * Functions of C++ have their demangled names, with the types of their parameters. */
struct pythia_symbols;

/* `paths` are programs and libraries, or folders, of which all files are taken; each is known by
 * its name without folders, of two with one name the first. PYTHIA_OK with *out owned, or with the
 * reason in `e` PYTHIA_EIO, for a path that cannot be read or is no such file, or PYTHIA_ENOMEM. */
int pythia_symbols_create(const char *const *paths, size_t count, struct pythia_symbols **out,
                          struct pythia_error *e);
void pythia_symbols_destroy(struct pythia_symbols *s); /* s may be NULL */

/* The name of a place, which is a return address: the call is the instruction before it. It is
 * `text` itself if that is no place, or one in a program that was not named. "name+0x1f", in the
 * function, where the line is not known. The result is borrowed until _destroy. Any thread; a place
 * is looked up once. */
struct pythia_text pythia_symbols_of(struct pythia_symbols *s, struct pythia_text text);

#endif
