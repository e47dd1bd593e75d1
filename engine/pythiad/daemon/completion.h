/* Completion of pythiad for shells, made of its table of settings. */
#ifndef PYTHIA_PYTHIAD_COMPLETION_H
#define PYTHIA_PYTHIAD_COMPLETION_H

#include <stdbool.h>

#include "pythia/buf.h"

/* Append what an option of the command line asks for: --bash-completion, --zsh-completion or
 * --fish-completion. False: it asks for something else, and nothing was appended. */
bool pythia__completion_write(const char *option, struct pythia_buf *to);

#endif
