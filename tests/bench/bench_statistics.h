/* What the tables of bench_statistics*.c share: a scenario is a row of a table, and
 * bench_statistics.c walks the tables. */
#ifndef BENCH_STATISTICS_H
#define BENCH_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>

#include "pythia/random.h"

enum bound { SHOWN, AT_LEAST, AT_MOST };

/* A trial draws from the stream it is given and says yes or no. */
struct scenario {
    const char *name;
    size_t n; /* requests in a sample */
    bool (*trial)(const struct scenario *s, struct pythia_random *r);
    const void *setup; /* what the trial makes of it */
    enum bound bound;
    double must, above_previous; /* the rate; and its distance to the row before, 0: any */
};

struct table {
    const char *title;
    const struct scenario *rows;
    size_t count;
    unsigned long times; /* as many seeds as asked for: rates close to their bars want more */
};
#define TABLE(title, rows, times)                                                                  \
    {                                                                                              \
        title, rows, sizeof(rows) / sizeof((rows)[0]), times                                       \
    }

extern const struct table bench_modes;   /* bench_statistics_modes.c */
extern const struct table bench_explain; /* bench_statistics_explain.c */

/* End the program with a message if something failed that is not under test. */
void fail_if(bool failed, const char *what);

#endif
