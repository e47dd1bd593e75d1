/* The table of a command of `pythia`, and what commands share. */
#ifndef PYTHIA_CLI_COMMAND_H
#define PYTHIA_CLI_COMMAND_H

#include <stdbool.h>
#include <stdint.h>

#include "pythia/buf.h"
#include "pythia/error.h"
#include "pythia/groups.h"
#include "pythia/option.h"
#include "pythia/pipeline.h"
#include "pythia/vocabulary.h"

/* Exit statuses, as in the manual. */
enum {
    PYTHIA__EXIT_DONE,
    PYTHIA__EXIT_FAILED,
    PYTHIA__EXIT_USAGE,
    PYTHIA__EXIT_NOTHING, /* nothing to diagnose */
    PYTHIA__EXIT_TOO_FEW, /* not enough data */
};

/* The exit statuses in words, for --help and the manual: of commands that diagnose, that only
 * read traces, or that read none. */
#define PYTHIA__EXITS_DIAGNOSIS                                                                    \
    "0 done, 1 failed (also: part of the input could not be read), 2 wrong usage, 3 nothing to "   \
    "diagnose, 4 not enough data."
#define PYTHIA__EXITS_READING                                                                      \
    "0 done, 1 failed (also: part of the input could not be read), 2 wrong usage, 4 no trace."
#define PYTHIA__EXITS_ALONE "0 done, 1 failed, 2 wrong usage."

#define PYTHIA__READS_NOTHING SIZE_MAX
#define PYTHIA__OPTIONS_MAX   64

struct pythia__command {
    const char *name;        /* "replay", "space build" */
    const char *operands;    /* "PATH..." */
    const char *summary;     /* one line without its full stop */
    const char *description; /* paragraphs, for the manual; a blank line between them */
    const char *examples;    /* for the manual and --help: command lines, each behind a line that
                                begins with # */
    const char *exits;       /* its exit statuses, a sentence; NULL: PYTHIA__EXITS_DIAGNOSIS */
    const char *words;       /* what operands can be, for the completion; NULL: files */
    const char *see_also;    /* further pages of the manual, with commas between; NULL: none */
    const struct pythia_option *options; /* its own; ends with {0} */
    /* Options that several commands have, before its own; NULL: none. */
    const struct pythia_option *shared_options;
    size_t shared_offset; /* of the struct that these are put into */
    size_t
        read_offset; /* of its struct pythia__read_settings; PYTHIA__READS_NOTHING: it has none */
    size_t settings_size;           /* of the struct that the options are put into */
    int operands_min, operands_max; /* -1: any number */
    int (*run)(const void *settings, char *const *operands, int count);
};

extern const struct pythia__command pythia__cmd_replay;
extern const struct pythia__command pythia__cmd_check;
extern const struct pythia__command pythia__cmd_merge;
extern const struct pythia__command pythia__cmd_compare;
extern const struct pythia__command pythia__cmd_space_build;
extern const struct pythia__command pythia__cmd_space_show;
extern const struct pythia__command pythia__cmd_tree;
extern const struct pythia__command pythia__cmd_profile;
extern const struct pythia__command pythia__cmd_breakdown;
extern const struct pythia__command pythia__cmd_series;
extern const struct pythia__command pythia__cmd_export;
extern const struct pythia__command pythia__cmd_shuffle;
extern const struct pythia__command pythia__cmd_probes;
extern const struct pythia__command pythia__cmd_generate;
extern const struct pythia__command pythia__cmd_ctl;
extern const struct pythia__command pythia__cmd_mcp;
extern const struct pythia__command pythia__cmd_run;
extern const struct pythia__command pythia__cmd_runs_list;
extern const struct pythia__command pythia__cmd_runs_show;
extern const struct pythia__command pythia__cmd_runs_trend;
extern const struct pythia__command pythia__cmd_runs_compare;
extern const struct pythia__command pythia__cmd_runs_regress;
extern const struct pythia__command pythia__cmd_runs_flame;
extern const struct pythia__command pythia__cmd_runs_export;
extern const struct pythia__command pythia__cmd_runs_import;
extern const struct pythia__command pythia__cmd_evaluate;

/* All commands, in the order of --help; *count of them. */
const struct pythia__command *const *pythia__commands(size_t *count);

/* All options of a command, its own and those of reading, into `table` of PYTHIA__OPTIONS_MAX. */
void pythia__options_of(const struct pythia__command *c, struct pythia_option *table);

/* ---- reading traces ---- */

/* Settings of every command that reads traces: a member of its own settings. */
struct pythia__read_settings {
    int input_format, latency;
    int64_t threads;
    double max_expansion;
    bool no_fold, quiet, skew, no_skew, follow_symlinks;
    const char *type_attribute, *redact_secret, *events;
    struct pythia_option_texts left_out, redact, symbols;
};

/* The settings of a command line that names none of them. */
void pythia__read_defaults(struct pythia__read_settings *settings);

/* The open input of a reading command. */
struct pythia__reading {
    struct pythia_vocabulary *vocabulary;
    bool borrows; /* the vocabulary is another reading's, and so is what was learnt of paths */
    struct pythia_input *input;
    struct pythia_groups_options groups; /* of the settings; its texts are borrowed from them */
    const char *left_out[PYTHIA_OPTION_TEXTS_MAX];
    struct pythia_pipeline_options pipeline;
    struct pythia_pipeline_result result;
    size_t problems;                    /* paths that could not be read */
    struct pythia_redaction *redaction; /* owned; NULL: values are kept as they are */
    struct pythia_lttng_rules *rules;   /* owned; NULL: of events of LTTng there are none */
    struct pythia_lttng_reader *reader; /* owned; NULL: likewise */
    struct pythia_symbols *symbols;     /* owned; NULL: places in programs stay as they are */
    struct pythia_skew *skew;           /* clocks, if times are put right; owned; NULL: they stay */
    bool twice; /* what is read now will be read again: the second time tells what was lost */
};

/* Give up privileges (pythia/confine.h) before the first byte of a file of strangers is looked at;
 * `outputs`: as there. A command that does so does it before _begin. Returns PYTHIA_OK, PYTHIA_EIO,
 * which is logged, or PYTHIA_ENOMEM. */
int pythia__reading_confine(struct pythia__reading *r, const struct pythia__read_settings *settings,
                            const char *const *outputs, size_t count);

/* Find the files. `r` is all 0, or was given to _confine. Returns PYTHIA_OK or PYTHIA_ENOMEM; _end
 * gives back what was made either way. */
int pythia__reading_begin(struct pythia__reading *r, const struct pythia__read_settings *settings,
                          const char *const *paths, int count);
/* As pythia__reading_begin, with the names of another reading, which has to end after this one;
 * NULL: its own. */
int pythia__reading_begin_with(struct pythia__reading *r,
                               const struct pythia__read_settings *settings,
                               const char *const *paths, int count,
                               const struct pythia__reading *other);
/* Changes of path templates so far: requests that were read before the last one may have types that
 * hold no more. _run reads its own input again until they do not. */
uint64_t pythia__reading_changes(const struct pythia__reading *r);
/* Read everything into the consumer, and say on stderr what was lost. PYTHIA_OK, PYTHIA_ENOMEM or
 * the consumer's. With `twice` set everything must be readable again: PYTHIA_EUSAGE, told, if it is
 * not; the flag is then unset for the second time. */
int pythia__reading_run(struct pythia__reading *r, const struct pythia_consumer *consumer);
/* Say on stderr what was read, repaired and lost; _run has done so already. */
void pythia__reading_tell(const struct pythia__reading *r);
/* As pythia__reading_tell, without the counts, for a command that counts its input itself. */
void pythia__reading_tell_losses(const struct pythia__reading *r);
/* Can all files be read as often as wanted? Else PYTHIA_EUSAGE, told. */
int pythia__reading_again(const struct pythia__reading *r);
void pythia__reading_end(struct pythia__reading *r);

/* The exit status of a command whose work ended with `status`, which has been explained unless
 * memory is missing: FAILED also if some file could not be read, TOO_FEW if there was no trace. */
int pythia__reading_exit(const struct pythia__reading *r, int status);

/* ---- writing ---- */

/* Write `text` to a file, or to stdout if `path` is NULL or "-". A file is either written wholly or
 * left as it was. Returns PYTHIA_OK, or PYTHIA_EIO after saying why. */
int pythia__write_output(const char *path, struct pythia_text text);
/* Write a text and free it, unless making it ended with a failure, `status`, which is returned. */
int pythia__write_text(const char *path, int status, struct pythia_buf *text);

/* Say that memory is missing, or what a status means, and give the exit status for it. */
int pythia__fail(int status);
/* The exit status of a command that ended so; a lack of memory is logged. */
int pythia__exit_of(int status);

#endif
