/* A child process that is run as a shell would run it. */
#ifndef PYTHIA_CLI_CHILD_H
#define PYTHIA_CLI_CHILD_H

/* Run a program until it ends. `set_up` is called in the child. Signals that come to this process
 * alone meanwhile are handed on; those of the terminal, which the child gets too, are not heeded.
 * Returns the status of wait(2); that of exit(126) or exit(127) if it cannot be executed. */
int pythia__child_run(const char *program, char *const *arguments, void (*set_up)(void *context),
                      void *context);

/* The exit status that a shell gives for it; but a signal that ended it ends this process too, so
 * that a script which Ctrl-C was meant for ends as well. */
int pythia__child_end(int status);

#endif
