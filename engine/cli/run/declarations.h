/* Trace points that are declared in a file instead of in a program: what `pythia run` hooks. */
#ifndef PYTHIA_CLI_DECLARATIONS_H
#define PYTHIA_CLI_DECLARATIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "pythia/buf.h"
#include "pythia/error.h"
#include "pythia/strtab.h"

/* One point. Its strings are owned, and not NULL. */
struct pythia__declaration {
    const char *source; /* the file, borrowed; and the line where it begins */
    uint64_t line;
    char *name, *module, *class_name, *function; /* "": none; of `function`: a point of its own */
    char *types;                                 /* kinds of requests, with 0x1F between; "": all */
    char *keys;                                  /* with commas between */
    char *callback; /* "": none; "/path/of.so:function", or "module:function" of Python */
    char *error;    /* "", "negative", "zero", "null" or "nonzero" */
    char *request;  /* "": a request begins, named as the point; "-": none; else a key */
    char *where; /* "HOST/SERVICE", patterns of where it is enabled; "": everywhere, or nowhere */
    bool enabled;
    bool known; /* by whoever looks for it */
};

struct pythia__declarations {
    struct pythia__declaration *all;
    size_t count, capacity;
    struct pythia_strtab *names; /* of names and of functions, … */
    size_t *by_string;           /* … and 1 + which declaration has it */
    size_t string_capacity;
    unsigned counters; /* that keys ask for: 1 << enum pythia__counter */
    size_t faults;     /* declarations that are wrong: told, each with its file and line */
};

/* Add those of a file, which ends in .csv or else is JSON. Faults are told on the log and counted.
 * PYTHIA_OK, or PYTHIA_EIO or PYTHIA_EFORMAT if nothing could be read of it, or PYTHIA_ENOMEM; why
 * is in `e`. `path` is borrowed for as long as the declarations are there. */
int pythia__declarations_read(struct pythia__declarations *d, const char *path,
                              struct pythia_error *e);
void pythia__declarations_free(struct pythia__declarations *d);

/* Disable those that are enabled elsewhere only. */
void pythia__declarations_place(struct pythia__declarations *d, const char *host,
                                const char *service);

/* Warn of counters of the processor that keys ask for and that cannot be counted here. */
void pythia__declarations_warn(const struct pythia__declarations *d);

/* Append the plan that the shim reads. */
void pythia__declarations_plan(const struct pythia__declarations *d, struct pythia_buf *to);

#endif
