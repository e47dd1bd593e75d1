/* Completion for shells, made of the tables of commands and options. */
#ifndef PYTHIA_CLI_COMPLETION_H
#define PYTHIA_CLI_COMPLETION_H

#include <stdbool.h>

#include "pythia/buf.h"

/* Append what an option of `pythia help` asks for: --bash-completion, --zsh-completion or
 * --fish-completion. False: it asks for something else, and nothing was appended. */
bool pythia__completion_write(const char *option, struct pythia_buf *to);

#endif
