#ifndef PYTHIA_OPTION_H
#define PYTHIA_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/buf.h"
#include "pythia/error.h"

/* One table describes an option once: the parser, its default, the check of its range, --help, the
 * manual page and the shell completion all come from the row. */
enum pythia_option_type {
    PYTHIA_OPTION_FLAG,    /* bool; takes no value */
    PYTHIA_OPTION_TEXT,    /* const char *; borrowed from the command line */
    PYTHIA_OPTION_TEXTS,   /* struct pythia_option_texts; may be given several times */
    PYTHIA_OPTION_CHOICE,  /* int: which of the words in `choices`, 0 for the first */
    PYTHIA_OPTION_INTEGER, /* int64_t within low and high */
    PYTHIA_OPTION_REAL,    /* double within low and high */
    PYTHIA_OPTION_BYTES,   /* uint64_t within low and high (high 0: any); K, M and G (1024 each) may
                              come after the number */
};

struct pythia_option {
    const char *name; /* "threads" for --threads; NULL ends a table */
    char letter;      /* 'o' for -o; 0: none */
    enum pythia_option_type type;
    const char
        *value; /* what stands for the value in the help, its unit included: "FILE", "N", "NS" */
    const char *fallback; /* the default, as it would be typed; NULL: false, NULL or 0 */
    const char
        *choices;     /* of a CHOICE: "text|json"; of a TEXT: words that are completed, or NULL; of
                         TEXTS: the members that a map in a list of a
                             settings file may have (config.h), or NULL */
    double low, high; /* of an INTEGER, a REAL or BYTES, both included */
    size_t offset;    /* of the member in the struct of settings */
    const char *help; /* one sentence without its full stop; "name" in it is not special */
};

/* Rows in short. `where` is the offset of the member. */
#define PYTHIA_FLAG(name, letter, where, help)                                                     \
    {                                                                                              \
        name, letter, PYTHIA_OPTION_FLAG, NULL, NULL, NULL, 0, 0, where, help                      \
    }
#define PYTHIA_TEXT_OPTION(name, letter, value, where, help)                                       \
    {                                                                                              \
        name, letter, PYTHIA_OPTION_TEXT, value, NULL, NULL, 0, 0, where, help                     \
    }
#define PYTHIA_CHOICE(name, letter, choices, fallback, where, help)                                \
    {                                                                                              \
        name, letter, PYTHIA_OPTION_CHOICE, NULL, fallback, choices, 0, 0, where, help             \
    }
#define PYTHIA_INTEGER(name, letter, value, fallback, low, high, where, help)                      \
    {                                                                                              \
        name, letter, PYTHIA_OPTION_INTEGER, value, fallback, NULL, low, high, where, help         \
    }
#define PYTHIA_REAL(name, letter, value, fallback, low, high, where, help)                         \
    {                                                                                              \
        name, letter, PYTHIA_OPTION_REAL, value, fallback, NULL, low, high, where, help            \
    }

#define PYTHIA_OPTION_TEXTS_MAX 64
struct pythia_option_texts {
    size_t count;
    const char *texts[PYTHIA_OPTION_TEXTS_MAX]; /* borrowed from the command line */
};

#define PYTHIA_BYTES_OPTION(name, letter, fallback, low, high, where, help)                        \
    {                                                                                              \
        name, letter, PYTHIA_OPTION_BYTES, "BYTES", fallback, NULL, low, high, where, help         \
    }

/* Which of the words in `choices` a text is; -1: none of them. */
int pythia_option_choice_index(const char *choices, const char *text);

/* Put every default of `table` into `settings`. */
void pythia_options_default(const struct pythia_option *table, void *settings);

/* Set one option from its text, as the command line would. Returns PYTHIA_OK or PYTHIA_EUSAGE with
 * the reason in `e`; `settings` is then unchanged. */
int pythia_option_set(const struct pythia_option *option, void *settings, const char *text,
                      struct pythia_error *e);

/* Append what an option is set to, as it could be typed: "4M", "true", "a,b". Nothing for a text
 * that is not set. */
void pythia_option_show(const struct pythia_option *option, const void *settings,
                        struct pythia_buf *to);

/* Read a command line: argv[0] is skipped, options may stand anywhere before "--", what is left are
 * the operands: they are moved to the end of argv and *first is the index of the first of them.
 * Returns PYTHIA_OK or PYTHIA_EUSAGE with the reason in `e`. Uses getopt_long: one thread at a
 * time. */
int pythia_options_parse(const struct pythia_option *table, void *settings, int argc, char **argv,
                         int *first, struct pythia_error *e);

/* Append the option lines of --help, and the same as the OPTIONS section of an scdoc manual page.
 */
void pythia_options_help(const struct pythia_option *table, struct pythia_buf *to);
void pythia_options_scdoc(const struct pythia_option *table, struct pythia_buf *to);

/* Append lines for the body of a completion function of bash or zsh. After an option that has
 * choices ($prev) the function replies with them, between `before` and `after`, and returns;
 * otherwise $options lists the options. */
void pythia_options_completion(const struct pythia_option *table, const char *before,
                               const char *after, struct pythia_buf *to);

/* Append the arguments of fish's `complete` that describe one option, and the end of the line. */
void pythia_option_fish(const struct pythia_option *option, struct pythia_buf *to);

#endif
