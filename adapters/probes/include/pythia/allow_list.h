/* The programs that root allows to be probed, and the users: lines of
 *
 *     user pythiad                                         who may ask, beside root
 *     /usr/lib/postgresql/15/bin/postgres query__start:1   a program, and arguments of its probes
 *                                                          that are texts and may be read
 *     /usr/sbin/mariadbd functions dispatch_command:3      a program whose functions may be probed
 *
 * "#" begins a comment. Without an entry nothing is probed, and no text is read. */
#ifndef PYTHIA_ALLOW_LIST_H
#define PYTHIA_ALLOW_LIST_H

#include <stdbool.h>
#include <sys/types.h>

#include "pythia/error.h"
#include "pythia/text.h"

#define PYTHIA_ALLOW_LIST_BYTES 65536
#define PYTHIA_ALLOWED_MAX      256
#define PYTHIA_ALLOW_USERS_MAX  16

struct pythia_allow_list {
    char bytes[PYTHIA_ALLOW_LIST_BYTES + 1];      /* the file; what follows points into it */
    struct pythia_text lines[PYTHIA_ALLOWED_MAX]; /* each begins with its path */
    size_t line_count;
    uid_t users[PYTHIA_ALLOW_USERS_MAX];
    size_t user_count;
};

/* Read the list from `size` bytes. PYTHIA_OK, or PYTHIA_EFORMAT or PYTHIA_ELIMIT with line and
 * reason in `e`: then *out holds nothing. */
int pythia_allow_list_parse(struct pythia_allow_list *out, const char *bytes, size_t size,
                            struct pythia_error *e);

bool pythia_allow_list_has_user(const struct pythia_allow_list *l, uid_t user);
bool pythia_allow_list_has_path(const struct pythia_allow_list *l, struct pythia_text path);

/* May functions that have no static probe be probed, too? Their arguments are whatever is in
 * registers, addresses among them. */
bool pythia_allow_list_has_functions(const struct pythia_allow_list *l, struct pythia_text path);

/* Which arguments of a probe may be read as texts; bit 0: the first. */
uint16_t pythia_allow_list_texts(const struct pythia_allow_list *l, struct pythia_text path,
                                 struct pythia_text probe);

#endif
