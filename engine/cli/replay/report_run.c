#include "report_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/report.h"
#include "pythia/shown_text.h"
#include "pythia/status.h"
#include "pythia/strategy.h"
#include "pythia/verdict.h"
#include "shared/command.h"
#include "shared/terminal.h"

#define OPTION(member) offsetof(struct pythia__report_settings, member)

const struct pythia_option pythia__report_options[] = {
    PYTHIA_CHOICE("format", 'f', "text|json|markdown|html", "text", OPTION(format),
                  "Format of the report"),
    PYTHIA_TEXT_OPTION("output", 'o', "FILE", OPTION(output),
                       "Write the report to a file; the file is replaced only when the report is "
                       "complete (default standard output)"),
    PYTHIA_FLAG("verbose", 0, OPTION(verbose),
                "Show everything in the text report: every group with its edges, keys and splits, "
                "and every cycle. Without it the report has at most 40 lines"),
    PYTHIA_FLAG("all", 0, OPTION(all), "List all request types, however many lines that takes"),
    PYTHIA_TEXT_OPTION("trace-url", 0, "URL", OPTION(trace_url),
                       "Link to a trace in another tool, such as http://jaeger/trace/{trace_id}: "
                       "the report uses it for the slowest request and a typical one"),
    {"limit", 0, PYTHIA_OPTION_TEXTS, "KEY=N", NULL, NULL, 0, 0, OPTION(limits),
     "Limit of a numeric key, such as the capacity of a queue: the report shows how often requests "
     "reach it; may be given several times. Limits that are not given are learnt where values pile "
     "up at their maximum"},
    PYTHIA_CHOICE("rank-by", 0, "share|variance|cov|modes|tail|slow", "share", OPTION(rank_by),
                  "Rank groups and edges by: share of the variance, variance, coefficient of "
                  "variation, number of modes, mean of the slowest tenth, or mean"),
    PYTHIA_INTEGER("min-requests", 0, "N", "30", 4, 1e9, OPTION(min_requests),
                   "Fewest requests with which a group is diagnosed"),
    PYTHIA_REAL("min-cov", 0, "R", "0.05", 0, 1e9, OPTION(min_cov),
                "Coefficient of variation below which a group does not vary"),
    PYTHIA_REAL("alpha", 0, "P", "0.05", 1e-12, .5, OPTION(alpha),
                "Accepted rate of false findings"),
    PYTHIA_INTEGER("points", 0, "N", "3", 0, PYTHIA__POINTS_MAX, OPTION(points),
                   "Most trace points to suggest"),
    PYTHIA_CHOICE("strategy", 0, PYTHIA_STRATEGY_CHOICES, PYTHIA_STRATEGY_FIRST, OPTION(strategy),
                  "Strategy that chooses them"),
    PYTHIA_REAL("price-ns", 0, "NS", "1000", 0, 1e12, OPTION(price_ns),
                "Cost of one hit of an open trace point"),
    {"price", 0, PYTHIA_OPTION_TEXTS, "ID=NS|@FILE", NULL, NULL, 0, 0, OPTION(search.prices),
     "Measured cost of one hit of a trace point, or of all that match a pattern; or a file with "
     "one entry per line. May be given several times: an id takes precedence over patterns, "
     "otherwise the last match counts"},
    {"layer", 0, PYTHIA_OPTION_TEXTS, "ID=LAYER|@FILE", NULL, NULL, 0, 0, OPTION(search.layers),
     "Layer of a trace point, or of all that match a pattern: application (unless said otherwise), "
     "library, runtime or kernel; or a file with one entry per line. Points of a lower layer are "
     "opened once a node that they work for holds the variance. With --strategy information-gain"},
    {"never", 0, PYTHIA_OPTION_TEXTS, "ID|PATTERN|@FILE", NULL, NULL, 0, 0, OPTION(search.never),
     "Never open or suggest these trace points: an id, a pattern with * and ?, or a file with one "
     "of them per line; may be given several times"},
    PYTHIA_TEXT_OPTION("history", 0, "FILE", OPTION(search.history),
                       "Record of earlier searches to start from; what this search finds is added "
                       "to the file, which is created if it does not exist"),
    PYTHIA_INTEGER("seed", 0, "N", "1", 0, 9e15, OPTION(seed),
                   "Seed of permutations, jitter, and the random choices of a strategy"),
    {0},
};

/* ---- diagnosing ---- */

static void tell_missing(struct pythia_text type)
{
    struct pythia_buf text = {0};
    pythia_shown_add(&text, type, SIZE_MAX);
    pythia_log(PYTHIA_LOG_WARNING,
               "The search space has no requests of this type, so nothing can be opened for it: %s",
               text.bytes ? text.bytes : "");
    pythia_buf_free(&text);
}

/* Whether the search of the type has more to find. */
static bool is_type_searched(const struct pythia_loop *loop, uint32_t type)
{
    for (size_t i = 0; i < loop->verdicts.count; i++) {
        const struct pythia_verdict *v = &loop->verdicts.list[i];
        if (v->type == type)
            return v->searched || v->state == PYTHIA_VERDICT_SEARCHING ||
                   v->state == PYTHIA_VERDICT_LEARNING;
    }
    return false;
}

/* A point of a type whose search has ended would not be opened, so it is not suggested either. */
static void drop_ended(struct pythia__report_run *r)
{
    size_t kept = 0;
    for (size_t i = 0; i < r->next_count; i++) {
        const struct pythia_group *group = &r->diagnosis->groups[r->next[i].group];
        if (is_type_searched(r->loop, r->diagnosis->types[group->type].type->name))
            r->next[kept++] = r->next[i];
        else
            pythia_suggestion_clear(&r->next[i]);
    }
    r->next_count = kept;
}

/* In a closed loop each unknown type is reported from its problem; otherwise from the strategy,
 * which has met it just now. */
static int suggest_points(struct pythia__report_run *r)
{
    size_t count;
    struct pythia_evidence evidence = {.space = r->space,
                                       .groups = r->groups,
                                       .diagnosis = r->diagnosis,
                                       .open = r->open,
                                       .never = r->given.never,
                                       .price_ns = r->s->price_ns,
                                       .prices = r->given.prices,
                                       .layers = r->given.layers,
                                       .history = r->given.history,
                                       .seed = (uint64_t)r->s->seed};
    struct pythia_buf missing = {0};
    int status = pythia_strategy_run(pythia_strategies(&count)[r->s->strategy], &evidence,
                                     (size_t)r->s->points, r->next, &r->next_count, &missing);
    if (status == PYTHIA_OK && r->loop)
        drop_ended(r);
    for (char *line = missing.bytes, *end; line && (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        if (!r->loop)
            tell_missing(pythia_text_of(line));
    }
    for (size_t i = 0; r->loop && i < r->loop->problem_count; i++)
        if (r->loop->problems[i].state == PYTHIA_PROBLEM_UNKNOWN)
            tell_missing(pythia_vocabulary_text(r->vocabulary, r->loop->problems[i].type));
    pythia_buf_free(&missing);
    return status;
}

/* "queue_length=64": the key is up to the last '='. */
static int read_limits(struct pythia__report_run *r)
{
    const struct pythia_option_texts *texts = &r->s->limits;
    for (size_t i = 0; i < texts->count; i++) {
        const char *text = texts->texts[i], *equals = strrchr(text, '=');
        char *end = NULL;
        const double limit = equals ? strtod(equals + 1, &end) : NAN;
        if (!equals || equals == text || end == equals + 1 || *end != '\0' || !isfinite(limit)) {
            pythia_log(PYTHIA_LOG_ERROR, "--limit %s: not KEY=NUMBER", text);
            return PYTHIA_EUSAGE;
        }
        r->limits[i] = (struct pythia_saturated_limit){{text, (size_t)(equals - text)}, limit};
    }
    return PYTHIA_OK;
}

int pythia__report_take_options(struct pythia__report_run *r)
{
    const struct pythia__search_settings *s = &r->s->search;
    int status = read_limits(r);
    if (status != PYTHIA_OK)
        return status;
    status = pythia__search_options_read(s, r->vocabulary, r->space, &r->given);
    if (status != PYTHIA_OK || !s->history)
        return status;
    return pythia__history_read(s->history, r->loop != NULL, &r->given.history);
}

/* A search looks once in each cycle, and what is said of its last one is said as pythiad would say
 * it: with what is left of alpha at that look. */
static int diagnose_run(struct pythia__report_run *r)
{
    const struct pythia_loop *loop = r->loop;
    struct pythia_diagnosis_options how = {
        .measure = (enum pythia_measure)r->s->rank_by,
        .alpha = r->s->alpha,
        .look = loop && loop->cycle_count > 0 ? loop->cycles[loop->cycle_count - 1].number : 0,
        .min_requests = (size_t)r->s->min_requests,
        .min_cov = r->s->min_cov,
        .seed = (uint64_t)r->s->seed,
        .each = r->each};
    return pythia_diagnose(r->groups, &how, &r->diagnosis);
}

/* What the report says, in two jobs that take about as long. */
static int find_job(void *of, size_t i)
{
    struct pythia__report_run *r = of;
    return i == 0 ? diagnose_run(r)
                  : pythia_saturated_find(r->groups, r->limits, r->s->limits.count, &r->saturated);
}

/* Rows are sorted when the first of them is read, which is for one thread. */
static void sort_rows(const struct pythia_groups *g)
{
    size_t count;
    const struct pythia_type *types = pythia_groups_types(g, &count);
    for (size_t i = 0; i < count; i++)
        if (pythia_sample_count(types[i].rows) > 0)
            (void)pythia_sample_row(types[i].rows, 0);
}

int pythia__report_diagnose(struct pythia__report_run *r)
{
    int status = r->loop ? PYTHIA_OK : pythia__report_take_options(r);
    if (status != PYTHIA_OK)
        return status;
    sort_rows(r->groups);
    if ((status = pythia_each_run(r->each, 2, find_job, r)) != PYTHIA_OK)
        return status;
    if (r->expectations &&
        (status = pythia_expectations_judge(r->expectations, r->groups, (size_t)r->s->min_requests,
                                            &r->expected)) != PYTHIA_OK)
        return status;
    return suggest_points(r);
}

/* ---- writing ---- */

static int compare_trace_paths(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int write_report_form(const struct pythia__report_settings *s,
                             const struct pythia_report_source *source, struct pythia_buf *text)
{
    const struct pythia__terminal terminal = pythia__terminal_of(s->output);
    const struct pythia_report_view view = {terminal.width, terminal.colour, terminal.ascii};
    enum pythia_report_format format = s->format == PYTHIA_REPORT_TEXT && !s->verbose
                                           ? PYTHIA_REPORT_BRIEF
                                           : (enum pythia_report_format)s->format;
    struct pythia_report *report = NULL;
    int status = pythia_report_create(source, 1u << format, &report);
    if (status != PYTHIA_OK)
        return status;
    status = pythia_report_write(report, format, &view, text);
    pythia_report_destroy(report);
    return status;
}

int pythia__report_write(const struct pythia__report_run *r, const char *const *sources,
                         size_t count)
{
    const char **sorted = pythia_calloc(count, sizeof(char *));
    if (!sorted)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < count; i++)
        sorted[i] = sources[i];
    if (count > 0)
        qsort(sorted, count, sizeof(char *), compare_trace_paths);
    struct pythia_verdicts judged = {0}, *verdicts = r->loop ? &r->loop->verdicts : &judged;
    bool shown = r->s->format == PYTHIA_REPORT_JSON; /* other forms show those of a search only */
    int status = r->loop ? pythia_verdicts_explain(verdicts, r->diagnosis, r->groups)
                 : shown ? pythia_verdicts_judge(verdicts, r->diagnosis, r->groups)
                         : PYTHIA_OK;
    struct pythia_report_source source = {.paths = sorted,
                                          .path_count = count,
                                          .events = r->events,
                                          .input = r->input,
                                          .vocabulary = r->vocabulary,
                                          .groups = r->groups,
                                          .diagnosis = r->diagnosis,
                                          .next = r->next,
                                          .next_count = r->next_count,
                                          .open = r->open,
                                          .loop = r->loop,
                                          .verdicts = verdicts,
                                          .measure = (enum pythia_measure)r->s->rank_by,
                                          .min_requests = (size_t)r->s->min_requests,
                                          .expectations = r->expectations,
                                          .expected = r->expectations ? &r->expected : NULL,
                                          .all = r->s->all,
                                          .limits = r->limits,
                                          .limit_count = r->s->limits.count,
                                          .saturated = &r->saturated,
                                          .trace_url = r->s->trace_url};
    struct pythia_buf text = {0};
    if (status == PYTHIA_OK)
        status = write_report_form(r->s, &source, &text);
    status = pythia__write_text(r->s->output, status, &text);
    pythia_verdicts_free(&judged);
    pythia_free(sorted);
    return status;
}

int pythia__report_exit(const struct pythia__report_run *r)
{
    size_t enough = 0, diagnosed = 0;
    for (size_t i = 0; i < r->diagnosis->group_count; i++) {
        enough += r->diagnosis->groups[i].status != PYTHIA_GROUP_TOO_FEW;
        diagnosed += r->diagnosis->groups[i].status == PYTHIA_GROUP_DIAGNOSED;
    }
    return diagnosed > 0 ? PYTHIA__EXIT_DONE
           : enough > 0  ? PYTHIA__EXIT_NOTHING
                         : PYTHIA__EXIT_TOO_FEW;
}

void pythia__report_free(struct pythia__report_run *r)
{
    for (size_t i = 0; i < r->next_count; i++)
        pythia_suggestion_clear(&r->next[i]);
    pythia__search_given_free(&r->given);
    pythia_expected_results_free(&r->expected);
    pythia_diagnosis_destroy(r->diagnosis);
    pythia_saturated_free(&r->saturated);
}
