/* What a command of `pythia` is, and what commands share. */
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

struct pythia__command {
    const char *name;                    /* "replay", "space build" */
    const char *operands;                /* "PATH..." */
    const char *summary;                 /* one line without its full stop */
    const char *description;             /* paragraphs, for the manual; a blank line between them */
    const char *examples;                /* for the manual and --help: command lines, each behind a line that begins with # */
    const struct pythia_option *options; /* ends with {0} */
    size_t settings_size;                /* of the struct that the options are put into */
    int operands_min, operands_max;      /* -1: any number */
    int (*run)(const void *settings, char *const *operands, int count);
};

extern const struct pythia__command pythia__cmd_replay;
extern const struct pythia__command pythia__cmd_space_build;
extern const struct pythia__command pythia__cmd_space_show;
extern const struct pythia__command pythia__cmd_tree;
extern const struct pythia__command pythia__cmd_profile;
extern const struct pythia__command pythia__cmd_export;

/* All commands, in the order of --help; *count of them. */
const struct pythia__command *const *pythia__commands(size_t *count);

/* ---- reading traces ---- */

/* Settings of every command that reads traces: put PYTHIA__READ_OPTIONS into its table, for a member of this type. */
struct pythia__read_settings {
    int input_format, latency;
    int64_t threads;
    double max_expansion;
    bool no_fold, quiet;
    const char *type_attribute;
    struct pythia_option_texts left_out;
};

#define PYTHIA__READ_OPTION(settings, member) (offsetof(settings, read) + offsetof(struct pythia__read_settings, member))
#define PYTHIA__READ_OPTIONS(settings)                                                                                    \
    {"input-format", 0, PYTHIA_OPTION_CHOICE, NULL, "auto", "auto|jaeger|osprofiler|otlp|zipkin", 0, 0,                   \
     PYTHIA__READ_OPTION(settings, input_format), "Format of the traces; auto looks at the first bytes of each file"},    \
        {"latency", 0, PYTHIA_OPTION_CHOICE, NULL, "completion", "completion|client", 0, 0,                               \
         PYTHIA__READ_OPTION(settings, latency),                                                                          \
         "What a request's duration is: until all its work has ended, or only what its client waited for"},               \
        {"no-fold", 0, PYTHIA_OPTION_FLAG, NULL, NULL, NULL, 0, 0, PYTHIA__READ_OPTION(settings, no_fold),                \
         "Tell requests apart by how often loops ran"},                                                                   \
        {"request-type-attribute", 0, PYTHIA_OPTION_TEXT, "KEY", NULL, NULL, 0, 0,                                        \
         PYTHIA__READ_OPTION(settings, type_attribute), "Key-value that names the request type"},                         \
        {"leave-out-root", 0, PYTHIA_OPTION_TEXTS, "PATTERN", NULL, NULL, 0, 0,                                           \
         PYTHIA__READ_OPTION(settings, left_out),                                                                         \
         "Root trace points that do not count for the request type, with * and ?; may be given several times, and '' "    \
         "leaves out none (default " PYTHIA_LEFT_OUT_DEFAULT ")"},                                                        \
        {"threads", 0, PYTHIA_OPTION_INTEGER, "N", "0", NULL, 0, 256, PYTHIA__READ_OPTION(settings, threads),             \
         "Threads; 0 is one for each processor"},                                                                         \
        {"max-expansion", 0, PYTHIA_OPTION_REAL, "N", "250", NULL, 1, 1e9, PYTHIA__READ_OPTION(settings, max_expansion),  \
         "Refuse a compressed file that grows more than so many times"},                                                  \
        {"quiet", 'q', PYTHIA_OPTION_FLAG, NULL, NULL, NULL, 0, 0, PYTHIA__READ_OPTION(settings, quiet),                  \
         "Say nothing on standard error but warnings and errors"}

/* What a reading command has open. */
struct pythia__reading {
    struct pythia_vocabulary *vocabulary;
    struct pythia_input *input;
    struct pythia_groups_options groups; /* of the settings; its texts are borrowed from them */
    const char *left_out[PYTHIA_OPTION_TEXTS_MAX];
    struct pythia_pipeline_options pipeline;
    struct pythia_pipeline_result result;
    size_t problems; /* paths that could not be read */
};

/* Find the files. Returns PYTHIA_OK or PYTHIA_ENOMEM; _end gives back what was made either way. */
int pythia__reading_begin(struct pythia__reading *r, const struct pythia__read_settings *settings, char *const *paths,
                          int count);
/* Read everything into the consumer, and say on stderr what was lost. PYTHIA_OK, PYTHIA_ENOMEM or the consumer's. */
int pythia__reading_run(struct pythia__reading *r, const struct pythia_consumer *consumer);
void pythia__reading_end(struct pythia__reading *r);

/* The exit status of a command that has read: FAILED if some file could not be, TOO_FEW if there was no trace. */
int pythia__reading_exit(const struct pythia__reading *r);

/* ---- writing ---- */

/* Write `text` to a file, or to stdout if `path` is NULL or "-". A file is either written wholly or left as it was. Returns
 * PYTHIA_OK, or PYTHIA_EIO after saying why. */
int pythia__write_output(const char *path, struct pythia_text text);

/* Say that memory is missing, or what a status means, and give the exit status for it. */
int pythia__fail(int status);

#endif
