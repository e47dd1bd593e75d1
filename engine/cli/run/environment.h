/* The environment of a program that is to be started: ours, with changes. */
#ifndef PYTHIA_CLI_ENVIRONMENT_H
#define PYTHIA_CLI_ENVIRONMENT_H

#include <stddef.h>

#include "pythia/arena.h"

/* Zero it to begin. */
struct pythia__environment {
    char **words; /* owned: NAME=VALUE, then NULL; NULL: nothing was set or unset */
    size_t count, capacity;
    struct pythia_arena memory; /* of the words that are not ours */
    int status;                 /* PYTHIA_OK or PYTHIA_ENOMEM */
};

/* Set a variable, or remove it if `value` is NULL. A failure stays in `status`. O(variables). */
void pythia__environment_set(struct pythia__environment *e, const char *name, const char *value);
void pythia__environment_free(struct pythia__environment *e);

#endif
