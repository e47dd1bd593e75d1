/* The results of an evaluation as the formats see them, and the formats. */
#ifndef PYTHIA_EVALUATION_RESULTS_H
#define PYTHIA_EVALUATION_RESULTS_H

#include <stdbool.h>
#include <stddef.h>

#include "document/document.h"
#include "pythia/arena.h"
#include "pythia/buf.h"
#include "pythia/evaluation_report.h"

/* The numbers of a strategy on a problem; NaN where undefined. */
enum pythia__figure {
    PYTHIA__TRIALS,
    PYTHIA__FIRST, /* a proportion: five figures in this order */
    PYTHIA__THREE = PYTHIA__FIRST + 5,
    PYTHIA__ALL = PYTHIA__THREE + 5,
    PYTHIA__WRONG = PYTHIA__ALL + 5,
    PYTHIA__KEYS = PYTHIA__WRONG + 5,
    PYTHIA__LOCALISED = PYTHIA__KEYS + 5, /* a spread: median and 90th percentile */
    PYTHIA__NOT_LOCALISED = PYTHIA__LOCALISED + 2,
    PYTHIA__ENDED,
    PYTHIA__TRACE_POINTS = PYTHIA__ENDED + 2,
    PYTHIA__SKELETON,
    PYTHIA__OPENED,
    PYTHIA__OPENED_SHARE = PYTHIA__OPENED + 2,
    PYTHIA__PEAK = PYTHIA__OPENED_SHARE + 2,
    PYTHIA__ADDED_PEAK = PYTHIA__PEAK + 2,
    PYTHIA__ADDED_MEAN = PYTHIA__ADDED_PEAK + 2,
    PYTHIA__ADDED_PEAK_SHARE = PYTHIA__ADDED_MEAN + 2,
    PYTHIA__ADDED_MEAN_SHARE = PYTHIA__ADDED_PEAK_SHARE + 2,
    PYTHIA__DECISION = PYTHIA__ADDED_MEAN_SHARE + 2, /* median and maximum, with times alone */
    PYTHIA__FIGURES = PYTHIA__DECISION + 2,
};
enum { PYTHIA__HITS, PYTHIA__OF, PYTHIA__RATE, PYTHIA__LOW, PYTHIA__HIGH }; /* of a proportion */
enum { PYTHIA__MEDIAN, PYTHIA__P90 };                                       /* of a spread */

struct pythia__evaluation_result {
    const char *problem, *strategy;
    double figures[PYTHIA__FIGURES];
};

struct pythia__evaluation_problem {
    const char *name, *help, *shape, *generate;
    double nodes, requests, first_request, causes;
};

struct pythia__evaluation_strategy {
    const char *name, *help;
};

struct pythia_evaluation_report {
    struct pythia_arena memory;   /* of all texts and arrays */
    bool complete, timed, failed; /* failed: a copy of a text found no memory */
    double trials, first_seed, seeds, points, requests, cycles, price_ns, level;
    const char *profile;
    const char **notes;
    struct pythia__evaluation_strategy *strategies;
    struct pythia__evaluation_problem *problems;
    struct pythia__evaluation_result *results;
    size_t note_count, strategy_count, problem_count, result_count;
};

/* The names of a figure: a member of a result, or a member of that, and a column of CSV. */
struct pythia__figure_name {
    enum pythia__figure figure;
    bool count;                 /* a whole number */
    const char *member, *inner; /* inner NULL: the member itself; member NULL: not in JSON */
    const char *column;         /* NULL: not in CSV */
};
/* In the order of JSON and CSV; the figures of times come last, and are left out without them. */
const struct pythia__figure_name *
pythia__evaluation_figures(const struct pythia_evaluation_report *r, size_t *count);

/* Set the counts of the lists, and make room for them. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__evaluation_reserve(struct pythia_evaluation_report *r, size_t notes, size_t strategies,
                               size_t problems, size_t results);
/* A copy of a text in the report's memory; when out of memory "", and the report has failed. */
const char *pythia__evaluation_copy(struct pythia_evaluation_report *r, const char *text);

/* Whether so many trials did not find all causes that this percentile of the cycles to localise
 * stands for "not within the maximum". */
bool pythia__evaluation_is_beyond(const struct pythia__evaluation_result *result, unsigned percent);

/* The formats: append the report. PYTHIA_OK or PYTHIA_ENOMEM, which `out` knows where there is no
 * result. */
int pythia__evaluation_build(const struct pythia_evaluation_report *r, bool wide,
                             struct pythia__doc *d);
int pythia__evaluation_json(const struct pythia_evaluation_report *r, struct pythia_buf *out);
void pythia__evaluation_csv(const struct pythia_evaluation_report *r, struct pythia_buf *out);
void pythia__evaluation_svg(const struct pythia_evaluation_report *r, struct pythia_buf *out);

#endif
