#include "evaluation_results.h"

#include <math.h>
#include <string.h>

#include "pythia/mem.h"
#include "pythia/status.h"

#define ROW(figure, count, member, inner, column)                                                  \
    {                                                                                              \
        figure, count, member, inner, column                                                       \
    }
#define PROPORTION(first, name, of_column)                                                         \
    ROW((first) + PYTHIA__HITS, true, name, "hits", NULL),                                         \
        ROW((first) + PYTHIA__OF, true, name, "of", of_column),                                    \
        ROW((first) + PYTHIA__RATE, false, name, "rate", name),                                    \
        ROW((first) + PYTHIA__LOW, false, name, "low", name "_low"),                               \
        ROW((first) + PYTHIA__HIGH, false, name, "high", name "_high")
#define SPREAD(first, name)                                                                        \
    ROW((first) + PYTHIA__MEDIAN, false, name, "median", name "_median"),                          \
        ROW((first) + PYTHIA__P90, false, name, "p90", name "_p90")
#define TIMED 2 /* the last rows */

/* not_localised stands before its median in CSV and after it in JSON, as released versions have
 * it. */
static const struct pythia__figure_name names[] = {
    ROW(PYTHIA__TRIALS, true, "trials", NULL, "trials"),
    PROPORTION(PYTHIA__FIRST, "success_at_1", NULL),
    PROPORTION(PYTHIA__THREE, "success_at_3", NULL),
    PROPORTION(PYTHIA__ALL, "all_causes", NULL),
    PROPORTION(PYTHIA__WRONG, "wrong", NULL),
    PROPORTION(PYTHIA__KEYS, "explained", "explained_of"),
    ROW(PYTHIA__NOT_LOCALISED, true, NULL, NULL, "not_localised"),
    SPREAD(PYTHIA__LOCALISED, "cycles_to_localise"),
    ROW(PYTHIA__NOT_LOCALISED, true, "cycles_to_localise", "not_localised", NULL),
    SPREAD(PYTHIA__ENDED, "cycles_to_end"),
    ROW(PYTHIA__TRACE_POINTS, true, "trace_points", NULL, "trace_points"),
    ROW(PYTHIA__SKELETON, true, "skeleton", NULL, "skeleton"),
    SPREAD(PYTHIA__OPENED, "opened"),
    SPREAD(PYTHIA__OPENED_SHARE, "opened_share"),
    SPREAD(PYTHIA__PEAK, "peak_open"),
    SPREAD(PYTHIA__ADDED_PEAK, "added_peak_ns"),
    SPREAD(PYTHIA__ADDED_MEAN, "added_mean_ns"),
    SPREAD(PYTHIA__ADDED_PEAK_SHARE, "added_peak_share"),
    SPREAD(PYTHIA__ADDED_MEAN_SHARE, "added_mean_share"),
    ROW(PYTHIA__DECISION, false, "decision_ns", "median", "decision_ns_median"),
    ROW(PYTHIA__DECISION + 1, false, "decision_ns", "max", "decision_ns_max"),
};

const struct pythia__figure_name *
pythia__evaluation_figures(const struct pythia_evaluation_report *r, size_t *count)
{
    *count = sizeof(names) / sizeof(names[0]) - (r->timed ? 0 : TIMED);
    return names;
}

bool pythia__evaluation_is_beyond(const struct pythia__evaluation_result *result, unsigned percent)
{
    double missed = result->figures[PYTHIA__NOT_LOCALISED],
           of = result->figures[PYTHIA__ALL + PYTHIA__OF];
    return missed > 0 && ceil(of * percent / 100) > of - missed;
}

/* ---- memory ---- */

int pythia__evaluation_reserve(struct pythia_evaluation_report *r, size_t notes, size_t strategies,
                               size_t problems, size_t results)
{
    r->note_count = notes;
    r->strategy_count = strategies;
    r->problem_count = problems;
    r->result_count = results;
    r->notes = pythia_arena_alloc(&r->memory, notes * sizeof(*r->notes));
    r->strategies = pythia_arena_alloc(&r->memory, strategies * sizeof(*r->strategies));
    r->problems = pythia_arena_alloc(&r->memory, problems * sizeof(*r->problems));
    r->results = pythia_arena_alloc(&r->memory, results * sizeof(*r->results));
    return r->notes && r->strategies && r->problems && r->results ? PYTHIA_OK : PYTHIA_ENOMEM;
}

const char *pythia__evaluation_copy(struct pythia_evaluation_report *r, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = pythia_arena_alloc(&r->memory, size);
    r->failed = r->failed || !copy;
    return copy ? memcpy(copy, text, size) : "";
}

void pythia_evaluation_report_destroy(struct pythia_evaluation_report *r)
{
    if (!r)
        return;
    pythia_arena_free(&r->memory);
    pythia_free(r);
}
