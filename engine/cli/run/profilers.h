/* Profilers of others that run beside a program, and what they write. */
#ifndef PYTHIA_CLI_PROFILERS_H
#define PYTHIA_CLI_PROFILERS_H

#include <sys/types.h>

#include "pythia/arena.h"
#include "pythia/option.h"
#include "pythia/run.h"

#define PYTHIA__PROFILER_OUTPUT_MAX (16u << 20) /* bytes of its output that are recorded */

struct pythia__profilers {
    const struct pythia_option_texts *commands;
    pid_t pids[PYTHIA_OPTION_TEXTS_MAX]; /* 0: not started */
    char folder[4096];                   /* of their outputs; "": none */
};

/* Start each command by /bin/sh, with {pid} and {out} replaced. One that cannot be started is
 * reported, and nothing else. */
void pythia__profilers_start(struct pythia__profilers *p, pid_t pid);

/* The program has ended: give profilers 10 s to end too, then end them (SIGTERM, after a second
 * more SIGKILL), and read what they wrote into `files`, of PYTHIA_OPTION_TEXTS_MAX, whose texts are
 * in the arena. Returns how many. */
size_t pythia__profilers_finish(struct pythia__profilers *p, struct pythia_arena *arena,
                                struct pythia_run_artifact *files);

#endif
