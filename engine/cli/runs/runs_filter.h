/* Selects the runs that a command of `pythia runs` works on, and formats their numbers. */
#ifndef PYTHIA_CLI_RUNS_FILTER_H
#define PYTHIA_CLI_RUNS_FILTER_H

#include <stddef.h>

#include "pythia/buf.h"
#include "pythia/option.h"
#include "pythia/run_store.h"

/* Options that choose runs; a member of the settings of a command. */
struct pythia__runs_settings {
    const char *db, *command, *tag, *suite, *benchmark, *host, *since, *until;
    struct pythia_option_texts meta;
    int64_t last;
};

#define PYTHIA__RUNS_MEMBER(where, member)                                                         \
    ((where) + offsetof(struct pythia__runs_settings, member))

#define PYTHIA__RUNS_DB(where)                                                                     \
    PYTHIA_TEXT_OPTION("db", 0, "FILE", PYTHIA__RUNS_MEMBER(where, db),                            \
                       "File of runs (default $PYTHIA_RUNS, else ~/.local/state/pythia/runs.db)")

/* The options for runs of any tag; a command that takes one tag adds PYTHIA__RUNS_TAG. */
#define PYTHIA__RUNS_OPTIONS(where)                                                                \
    PYTHIA__RUNS_DB(where),                                                                        \
        PYTHIA_TEXT_OPTION("command", 'c', "TEXT", PYTHIA__RUNS_MEMBER(where, command),            \
                           "Only runs of commands that contain this text"),                        \
        PYTHIA_TEXT_OPTION("suite", 0, "NAME", PYTHIA__RUNS_MEMBER(where, suite),                  \
                           "Only runs of this suite"),                                             \
        PYTHIA_TEXT_OPTION("benchmark", 'b', "NAME", PYTHIA__RUNS_MEMBER(where, benchmark),        \
                           "Only runs of this benchmark"),                                         \
        PYTHIA_TEXT_OPTION("host", 0, "NAME", PYTHIA__RUNS_MEMBER(where, host),                    \
                           "Only runs on this host"),                                              \
        {"meta",                                                                                   \
         'm',                                                                                      \
         PYTHIA_OPTION_TEXTS,                                                                      \
         "KEY=VALUE",                                                                              \
         NULL,                                                                                     \
         NULL,                                                                                     \
         0,                                                                                        \
         0,                                                                                        \
         PYTHIA__RUNS_MEMBER(where, meta),                                                         \
         "Only runs with this data; may be given several times"},                                  \
        PYTHIA_TEXT_OPTION("since", 0, "TIME", PYTHIA__RUNS_MEMBER(where, since),                  \
                           "Only runs that started at this time or later: 2026-11-25, "            \
                           "2026-11-25T08:30 "                                                     \
                           "(local time), or an age: 90m, 12h, 7d"),                               \
        PYTHIA_TEXT_OPTION("until", 0, "TIME", PYTHIA__RUNS_MEMBER(where, until),                  \
                           "Only runs that started before this time"),                             \
        PYTHIA_INTEGER("last", 'n', "N", "0", 0, 1e9, PYTHIA__RUNS_MEMBER(where, last),            \
                       "Only the last N runs (0: all)")
#define PYTHIA__RUNS_TAG(where)                                                                    \
    PYTHIA_TEXT_OPTION("tag", 't', "TAG", PYTHIA__RUNS_MEMBER(where, tag),                         \
                       "Only runs with this tag")

/* A filter with the memory that its pairs need. */
struct pythia__runs_filter {
    struct pythia_run_filter filter;
    struct pythia_run_pair pairs[PYTHIA_OPTION_TEXTS_MAX];
    char *keys[PYTHIA_OPTION_TEXTS_MAX]; /* owned */
    struct pythia_run_store *store;
};

/* Open the file of runs and translate the settings. Returns 0, or the exit status of a mistake that
 * has been said. _end gives back all in any case. */
int pythia__runs_begin(struct pythia__runs_filter *f, const struct pythia__runs_settings *s);
void pythia__runs_end(struct pythia__runs_filter *f);

/* Walk over the runs. PYTHIA_OK, or a status whose reason has been said. */
int pythia__runs_each(struct pythia__runs_filter *f, unsigned with, pythia_run_visit *visit,
                      void *context);

/* Read the number of a run from the command line. 0, or the exit status of a mistake, said. */
int pythia__runs_number(const char *text, int64_t *id);

/* Append a number with its unit: "1.23 s", "45.6 MiB", "1234"; "-" if it is not known. */
void pythia__runs_add_value(struct pythia_buf *to, enum pythia_run_unit unit, double value);

/* Append the name of a run's benchmark, or its command as a shell reads it. */
void pythia__runs_add_name(struct pythia_buf *to, const struct pythia_run *run, size_t columns);

/* Append "2026-11-25 08:30:01" in local time. */
void pythia__runs_add_time(struct pythia_buf *to, uint64_t unix_ns);

/* Write to the file of --output, and free the text. Returns the exit status. */
int pythia__runs_write(const char *output, struct pythia_buf *text, int status);

#endif
