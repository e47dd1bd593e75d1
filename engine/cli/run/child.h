/* A child process that is run as a shell would run it. */
#ifndef PYTHIA_CLI_CHILD_H
#define PYTHIA_CLI_CHILD_H

#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "capture.h"

/* Settings of a child process. */
struct pythia__child {
    const char *program;                        /* its path */
    char *const *arguments;                     /* ends with NULL */
    char *const *environment;                   /* ends with NULL; NULL: ours */
    void (*on_start)(void *context, pid_t pid); /* called here once it runs; may be NULL */
    void *context;
    struct pythia__capture *capture; /* NULL: its output goes where ours goes */
};

/* The result of a child process. */
struct pythia__child_result {
    int status;                      /* of wait(2); that of exit(126) or exit(127) if it cannot be
                                        executed */
    uint64_t started_ns, wall_ns;    /* Unix epoch; from before its start until after wait */
    struct rusage usage;             /* of it, and of all that it waited for */
    int64_t read_bytes, write_bytes; /* from and to storage; -1: not known */
};

/* Run a program until it ends. Signals that come to this process alone meanwhile are handed on;
 * those of the terminal, which the child gets too, are ignored here. */
void pythia__child_run(const struct pythia__child *child, struct pythia__child_result *result);

/* The exit status that a shell gives for a status of wait(2). */
int pythia__child_exit(int status);

/* As pythia__child_run, but a signal that ended the child ends this process too, so that a
 * script that was to be stopped by Ctrl-C ends as well. */
int pythia__child_end(int status);

#endif
