/* A suite: benchmarks that are run together, and compared with an earlier run of the same. */
#ifndef PYTHIA_CLI_SUITE_H
#define PYTHIA_CLI_SUITE_H

#include <stddef.h>
#include <stdint.h>

#include "pythia/run.h"

struct pythia__benchmark {
    const char *suite, *name;           /* NULL: a command by itself */
    char *const *arguments;             /* ends with NULL */
    const struct pythia_run_pair *meta; /* of the suite's file */
    size_t meta_count;
};

struct pythia__suite;

/* Read a file of this form, where "repeat" and "meta" may be missing:
 *
 *   {"suite": "storage", "repeat": 5, "benchmarks": [
 *     {"name": "write", "command": ["./bench", "write", "1000"], "meta": {"size": 1000}}]}
 *
 * On success *out is owned by the caller. PYTHIA_OK, PYTHIA_EIO, PYTHIA_EFORMAT or PYTHIA_ENOMEM,
 * said. */
int pythia__suite_read(const char *path, struct pythia__suite **out);
void pythia__suite_free(struct pythia__suite *s); /* s may be NULL */

/* The benchmarks, *count of them, and how often to run each; borrowed. */
const struct pythia__benchmark *pythia__suite_benchmarks(const struct pythia__suite *s,
                                                         size_t *count, int64_t *repeat);

#endif
