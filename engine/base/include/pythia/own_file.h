/* Files of this user in folders that others can write to, as /dev/shm and /tmp: another user may
 * have made a file, a symbolic link or a hard link of that name before, to read what is written
 * to it, to choose what is read from it, or to damage a file of this user. In a folder that only
 * its owner can write to, that owner decides, as for a volume that belongs to a user of another
 * machine. */
#ifndef PYTHIA_OWN_FILE_H
#define PYTHIA_OWN_FILE_H

#include "pythia/error.h"

/* Open a file by the flags of open(2), to which O_CLOEXEC, O_NONBLOCK and O_NOCTTY are added; a
 * new one has mode 0600. Where others can write to the folder, files and symbolic links are
 * refused that belong neither to this user nor to root, and files with several names if they are
 * opened for writing: the reason and the path are in `e` then, which may be NULL. Returns a
 * descriptor, owned by the caller, or -1; errno says why, and `e` is unchanged where nothing was
 * refused. */
int pythia_own_file_open(const char *path, int flags, struct pythia_error *e);

/* May the secret in a file be trusted? Refused like files of pythia_own_file_open; a warning is
 * logged if others can read it, with `what` it is ("secret"). A file that cannot be opened is
 * left to its reader. Returns PYTHIA_OK, or PYTHIA_EIO with the reason in `e`. */
int pythia_own_secret_check(const char *path, const char *what, struct pythia_error *e);

/* May this user tell its secrets to whoever listens at the unix socket `path`? It is refused like
 * files of pythia_own_file_open; one that is missing is left to connect(2). Returns PYTHIA_OK, or
 * PYTHIA_EIO with the reason in `e`. */
int pythia_own_socket_check(const char *path, struct pythia_error *e);

/* May SQLite open the database `path`? It finds its log and its journal, beside the database, by
 * name: where others can write to the folder they are refused like files of
 * pythia_own_file_open, and all symbolic links with them. Returns PYTHIA_OK, PYTHIA_ENOMEM, or
 * PYTHIA_EIO with the reason and the file in `e`. */
int pythia_own_database_check(const char *path, struct pythia_error *e);

#endif
