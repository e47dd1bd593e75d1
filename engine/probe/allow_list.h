/* What root lets be probed, and by whom: lines of
 *
 *     user pythiad                                         who may ask, beside root
 *     /usr/lib/postgresql/15/bin/postgres query__start:1   a program, and arguments of its probes
 *                                                          that are texts and may be read
 *
 * "#" begins a comment. Without an entry nothing is probed, and no text is read. */
#ifndef PYTHIA_PROBE_ALLOW_LIST_H
#define PYTHIA_PROBE_ALLOW_LIST_H

#include <stdbool.h>
#include <sys/types.h>

#include "pythia/error.h"
#include "pythia/text.h"

#define PYTHIA__ALLOW_LIST_BYTES 65536
#define PYTHIA__ALLOWED_MAX      256
#define PYTHIA__USERS_MAX        16

struct pythia__allow_list {
    char bytes[PYTHIA__ALLOW_LIST_BYTES + 1];      /* the file; what follows points into it */
    struct pythia_text lines[PYTHIA__ALLOWED_MAX]; /* each begins with its path */
    size_t line_count;
    uid_t users[PYTHIA__USERS_MAX];
    size_t user_count;
};

/* Read the list from `size` bytes. PYTHIA_OK, or PYTHIA_EFORMAT or PYTHIA_ELIMIT with line and
 * reason in `e`: then *out holds nothing. */
int pythia__allow_list_parse(struct pythia__allow_list *out, const char *bytes, size_t size,
                             struct pythia_error *e);

/* Read it from a file that root owns; further PYTHIA_EIO. */
int pythia__allow_list_read(struct pythia__allow_list *out, const char *path,
                            struct pythia_error *e);

bool pythia__allow_list_has_user(const struct pythia__allow_list *l, uid_t user);
bool pythia__allow_list_has_path(const struct pythia__allow_list *l, struct pythia_text path);

/* Which arguments of a probe may be read as texts; bit 0: the first. */
uint16_t pythia__allow_list_texts(const struct pythia__allow_list *l, struct pythia_text path,
                                  struct pythia_text probe);

/* Open a file that only root can change or replace: it and all folders above it belong to root, are
 * not writable by others, and no symbolic link leads there. The descriptor, or negative with the
 * reason in `e`. */
int pythia__trusted_open(const char *path, struct pythia_error *e);

#endif
