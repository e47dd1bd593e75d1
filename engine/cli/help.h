/* Help, manual pages and shell completion, all made of the tables of commands and options. */
#ifndef PYTHIA_CLI_HELP_H
#define PYTHIA_CLI_HELP_H

#include <stdbool.h>

#include "shared/command.h"

/* Does the command line ask for --version, --help, help [COMMAND], or for what the build makes
 * pages and completions of (help --scdoc NAME, help --bash-completion, --zsh-completion or
 * --fish-completion)? Then it is answered on stdout, with the exit status in *code. */
bool pythia__help_asked(int argc, char **argv, int *code);

/* Report on stderr that there is no such command, with the one that may be meant, or that "space"
 * needs a second word. `name` is "" if no command was given, and `second` is NULL if it has no
 * second word. Returns the exit status. */
int pythia__help_unknown(const char *name, const char *second);

/* The commands that begin with a word ("space"), a line each; without any as _unknown. Returns the
 * exit status. */
int pythia__help_family(const char *word);

/* Print the help of one command; returns the exit status. */
int pythia__help_command(const struct pythia__command *c);

#endif
