#ifndef PYTHIA_RUN_REGRESS_H
#define PYTHIA_RUN_REGRESS_H

#include <stdbool.h>
#include <stddef.h>

#include "pythia/rank_sum.h"
#include "pythia/run.h"

/* Two sets of runs of the same commands, before and after a change: what has become larger?
 *
 * Runs are compared per benchmark (or per command, if a run has no benchmark), and there per metric
 * and per callpath (mean exclusive time of a call... per run: its exclusive time). Each comparison
 * is a test of Mann and Whitney (rank_sum.h). A regression is one whose one-sided p, adjusted by
 * Benjamini and Hochberg over all comparisons that are judged, is at most alpha, and whose shift is
 * at least `effect` of the median before. Both are needed: with many runs a shift of .1 % is
 * certain and does not matter, and with few a shift of 20 % may be chance.
 *
 * Leading numbers have nine tenths of alpha among themselves, so that what is judged beside them
 * hides no slowdown; the others and the callpaths share the rest. Adjusted values are those of
 * p-values with weights: Genovese, Roeder and Wasserman, "False discovery control with p-value
 * weighting", Biometrika 93(3), 2006. */

struct pythia_regress_options {
    double alpha;          /* default .01 */
    double effect;         /* least shift, as a part of the median before; default .05 */
    unsigned metrics;      /* bit 1 << enum pythia_run_metric: those that are judged */
    unsigned leading;      /* the leading ones of these; 0: all numbers and callpaths are equal */
    bool no_callpaths;     /* compare metrics only */
    const char *group_key; /* compare runs that have one value of this meta key (or "host",
                              "host.cpu") among themselves; NULL: all together */
};

enum pythia_regress_verdict {
    PYTHIA_REGRESS_SAME,
    PYTHIA_REGRESS_WORSE,
    PYTHIA_REGRESS_BETTER,
    PYTHIA_REGRESS_TOO_FEW, /* no result could have been significant with so few runs */
};

struct pythia_regress_row {
    const char *benchmark;     /* or the command; borrowed, as are the others */
    const char *group;         /* value of group_key, or NULL */
    int metric;                /* enum pythia_run_metric; -1: a callpath */
    const char *callpath;      /* NULL: a metric of the whole run */
    size_t n, m;               /* runs before and after that have it */
    double before, after;      /* medians */
    struct pythia_shift shift; /* its p-values are those of this test alone */
    double q;                  /* the adjusted p of the larger direction; NaN: not judged */
    enum pythia_regress_verdict verdict;
};

struct pythia_regress;

/* Make an empty comparison. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_regress_create(const struct pythia_regress_options *options,
                          struct pythia_regress **out);
void pythia_regress_destroy(struct pythia_regress *r); /* r may be NULL */

/* Add a run, which is copied as far as it is needed. One that failed (by exit status or signal)
 * counts, since it may be what the benchmark is about; how many failed is for the caller to say.
 * PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_regress_add(struct pythia_regress *r, const struct pythia_run *run, bool after);

/* Compare. Rows are sorted by benchmark, group, metric, and callpath; they are borrowed until r
 * is destroyed. O(n log n) for n values. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_regress_finish(struct pythia_regress *r, const struct pythia_regress_row **rows,
                          size_t *count);

#endif
