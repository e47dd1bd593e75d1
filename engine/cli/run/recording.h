/* The record of a run: gathered while it runs, and put into the file of runs. */
#ifndef PYTHIA_CLI_RECORDING_H
#define PYTHIA_CLI_RECORDING_H

#include <stdbool.h>

#include "child.h"
#include "pythia/option.h"
#include "pythia/run_context.h"
#include "pythia/run_store.h"
#include "suite.h"

/* Options of `pythia run` that are about the record; a member of its settings. */
struct pythia__recording_settings {
    const char *db, *tag, *description, *suite;
    int64_t repeat;
    struct pythia_option_texts meta, redact, environment, profilers;
    bool no_command_line, no_record;
};

/* The options, for the table of a command whose settings have this struct at `where`. */
#define PYTHIA__RECORDING_OPTIONS(where)                                                           \
    PYTHIA_TEXT_OPTION("db", 0, "FILE", (where) + offsetof(struct pythia__recording_settings, db), \
                       "File of runs to record into (default $PYTHIA_RUNS, else "                  \
                       "~/.local/state/pythia/runs.db)"),                                          \
        PYTHIA_TEXT_OPTION("tag", 't', "TAG",                                                      \
                           (where) + offsetof(struct pythia__recording_settings, tag),             \
                           "Tag of the run, by which runs are compared: a version, a branch"),     \
        PYTHIA_TEXT_OPTION("description", 0, "TEXT",                                               \
                           (where) + offsetof(struct pythia__recording_settings, description),     \
                           "Description of the run"),                                              \
        {"meta",                                                                                   \
         'm',                                                                                      \
         PYTHIA_OPTION_TEXTS,                                                                      \
         "KEY=VALUE",                                                                              \
         NULL,                                                                                     \
         NULL,                                                                                     \
         0,                                                                                        \
         0,                                                                                        \
         (where) + offsetof(struct pythia__recording_settings, meta),                              \
         "Data to record with the run; may be given several times"},                               \
        {"environment",                                                                            \
         0,                                                                                        \
         PYTHIA_OPTION_TEXTS,                                                                      \
         "NAME",                                                                                   \
         NULL,                                                                                     \
         NULL,                                                                                     \
         0,                                                                                        \
         0,                                                                                        \
         (where) + offsetof(struct pythia__recording_settings, environment),                       \
         "Environment variable to record, in addition to the default ones "                        \
         "(pythia-runs(7)); may be given several times"},                                          \
        PYTHIA_TEXT_OPTION("suite", 0, "FILE",                                                     \
                           (where) + offsetof(struct pythia__recording_settings, suite),           \
                           "Run the benchmarks of this JSON file instead of a command"),           \
        PYTHIA_INTEGER("repeat", 0, "N", "0", 0, 1e6,                                              \
                       (where) + offsetof(struct pythia__recording_settings, repeat),              \
                       "Times to run it (0: as the suite says, else once)"),                       \
        {"profiler",                                                                               \
         0,                                                                                        \
         PYTHIA_OPTION_TEXTS,                                                                      \
         "COMMAND",                                                                                \
         NULL,                                                                                     \
         NULL,                                                                                     \
         0,                                                                                        \
         0,                                                                                        \
         (where) + offsetof(struct pythia__recording_settings, profilers),                         \
         "Shell command to start beside the program; {pid} is the program's process id, {out} a "  \
         "file whose content is recorded; may be given several times"},                            \
        PYTHIA_FLAG("no-command-line", 0,                                                          \
                    (where) + offsetof(struct pythia__recording_settings, no_command_line),        \
                    "Record only a hash of the command, and no output"),                           \
        {"redact",                                                                                 \
         0,                                                                                        \
         PYTHIA_OPTION_TEXTS,                                                                      \
         "REGEX",                                                                                  \
         NULL,                                                                                     \
         NULL,                                                                                     \
         0,                                                                                        \
         0,                                                                                        \
         (where) + offsetof(struct pythia__recording_settings, redact),                            \
         "Extended regular expression whose matches are recorded as *** in commands, outputs and " \
         "data; may be given several times"},                                                      \
        PYTHIA_FLAG("no-record", 0,                                                                \
                    (where) + offsetof(struct pythia__recording_settings, no_record),              \
                    "Record nothing in the file of runs")

struct pythia__recording;

/* Open the file of runs and read what is the same for all runs: before the first of them starts, so
 * that a wrong path costs nobody an hour. On success *out is owned by the caller. PYTHIA_OK,
 * PYTHIA_EUSAGE, PYTHIA_EIO or PYTHIA_ENOMEM, said. */
int pythia__recording_begin(const struct pythia__recording_settings *settings,
                            struct pythia__recording **out);
void pythia__recording_end(struct pythia__recording *r); /* r may be NULL */

/* Run a benchmark and add its record, with the callpaths of the traces in `records` (NULL: none).
 * `quiet` says nothing of what was recorded. The child's `capture` and `on_start` are set here.
 * `report`: what the shim reports of processes; NULL: there is no shim. PYTHIA_OK, or a status,
 * said: the program has run all the same, and `result` tells how. */
int pythia__recording_run(struct pythia__recording *r, const struct pythia__benchmark *benchmark,
                          struct pythia__child *child, const char *records, const char *report,
                          bool quiet, struct pythia__child_result *result);

#endif
