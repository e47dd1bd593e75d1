/* SPDX-License-Identifier: MIT */
/* Options of a role: a table of them, for --NAME VALUE and --NAME=VALUE. */
#ifndef RPC_OPTIONS_H
#define RPC_OPTIONS_H

#include <stdint.h>

enum option_type {
    OPTION_TEXT,   /* const char * */
    OPTION_NUMBER, /* unsigned */
    OPTION_FLAG,   /* int, which becomes 1; without a value */
    OPTION_EACH,   /* struct option_list *: may be given several times */
};

struct option_list {
    const char **texts;
    unsigned *count, most;
};

struct option_row {
    const char *name; /* NULL: behind the last */
    enum option_type type;
    void *to;
    uint32_t least, most;
};

/* Read them all: 0; or 2, and what is wrong is said on stderr. */
int options_read(int argc, char **argv, const struct option_row *rows);

#endif
