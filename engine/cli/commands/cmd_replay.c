#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "pythia/closed_loop.h"
#include "pythia/confine.h"
#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/redaction.h"
#include "pythia/report.h"
#include "pythia/secret_file.h"
#include "pythia/shown_text.h"
#include "pythia/space_file.h"
#include "pythia/status.h"
#include "shared/command.h"
#include "shared/search_options.h"
#include "shared/series_options.h"
#include "shared/space_traces.h"
#include "shared/splitting.h"
#include "shared/terminal.h"

#define POINTS_MAX 64

struct settings {
    struct pythia__read_settings read;
    int format, rank_by, strategy;
    const char *output, *space, *open;
    int64_t seed, min_requests, rows, points;
    double min_cov, alpha, price_ns, added_ns, bytes_per_second, cycle_seconds;
    struct pythia_option_texts split, series;
    double series_age_s;
    bool closed_loop, verbose, all;
    const char *trace_url;
    int64_t cycle_requests, cycles, points_open, problems_per_cycle;
    struct pythia__search_settings search;
};

#define OPTION(member) offsetof(struct settings, member)

static const struct pythia_option options[] = {
    PYTHIA_CHOICE("format", 'f', "text|json|markdown|html", "text", OPTION(format),
                  "Form of the report"),
    PYTHIA_TEXT_OPTION("output", 'o', "FILE", OPTION(output),
                       "Write the report to a file, wholly or not at all (default standard "
                       "output)"),
    PYTHIA_FLAG("verbose", 0, OPTION(verbose),
                "Say all of it as text: every group with its edges, keys and splits, and every "
                "cycle. Without it the report has at most 40 lines"),
    PYTHIA_FLAG("all", 0, OPTION(all), "List all request types, in as many lines as that takes"),
    PYTHIA_TEXT_OPTION("trace-url", 0, "URL", OPTION(trace_url),
                       "Address of a trace in another tool, such as "
                       "http://jaeger/trace/{trace_id}: the report names the slowest request and a "
                       "typical one by it"),
    PYTHIA_CHOICE("rank-by", 0, "share|variance|cov|modes|tail|slow", "share", OPTION(rank_by),
                  "What to rank groups and edges by: share of the variance, variance, coefficient "
                  "of variation, several modes, the slowest tenth, or the mean"),
    PYTHIA_INTEGER("min-requests", 0, "N", "30", 4, 1e9, OPTION(min_requests),
                   "Requests that a group needs to be diagnosed"),
    PYTHIA_REAL("min-cov", 0, "R", "0.05", 0, 1e9, OPTION(min_cov),
                "Coefficient of variation below which a group does not vary"),
    PYTHIA_REAL("alpha", 0, "P", "0.05", 1e-12, .5, OPTION(alpha),
                "Rate of false findings that is accepted"),
    PYTHIA_INTEGER("rows", 0, "N", "2048", 64, 1e6, OPTION(rows),
                   "Whole requests of a type that are kept for shares, modes and explanations; "
                   "counts and quantiles are of all"),
    PYTHIA__SPLIT_OPTION(OPTION(split)),
    {"series", 0, PYTHIA_OPTION_TEXTS, "PATH", NULL, NULL, 0, 0, OPTION(series),
     "Measurements over time, a folder or a file as of pythia series: the last value of each "
     "series "
     "before a request began is a key-value of it, series.<label>; may be given several times"},
    PYTHIA_REAL("series-age", 0, "SECONDS", "60", 0, 1e9, OPTION(series_age_s),
                "Measurements older than this say nothing of a request"),
    PYTHIA_TEXT_OPTION("space", 0, "FILE", OPTION(space),
                       "Search space, from pythia space build; without it, the traces themselves "
                       "say what could be opened"),
    PYTHIA_TEXT_OPTION("open", 0, "FILE|skeleton", OPTION(open),
                       "Hide all trace points but those in a file (one id or pattern a line), or "
                       "but the skeleton of the search space"),
    PYTHIA_INTEGER("points", 0, "N", "3", 0, POINTS_MAX, OPTION(points),
                   "Trace points to suggest at most"),
    PYTHIA_CHOICE(
        "strategy", 0, /* as pythia_strategies has them */
        "information-gain|hierarchical|flat|binary|historic|covariance|thompson|random|all",
        "information-gain", OPTION(strategy), "How to choose them"),
    PYTHIA_FLAG("closed-loop", 0, OPTION(closed_loop),
                "Play the capture as if it were live: begin with the skeleton of the search space, "
                "hide closed trace points, and decide after each cycle which to open and close"),
    PYTHIA_INTEGER("cycle-requests", 0, "N", NULL, 4, 1e9, OPTION(cycle_requests),
                   "Requests of one type that make a cycle (default 100, or with --cycle-seconds "
                   "any number)"),
    PYTHIA_REAL("cycle-seconds", 0, "S", NULL, 1e-6, 1e9, OPTION(cycle_seconds),
                "Seconds that make a cycle, by the times in the traces, from the first request of "
                "the cycle on; with --cycle-requests, whichever comes first"),
    PYTHIA_INTEGER("cycles", 0, "N", "60", 1, 1e6, OPTION(cycles), "Cycles at most"),
    PYTHIA_INTEGER("problems-per-cycle", 0, "N", "16", 0, 1e6, OPTION(problems_per_cycle),
                   "Request types that a cycle looks at, those that vary most and those that "
                   "waited longest; 0: all"),
    PYTHIA_INTEGER("points-open", 0, "N", "0", 0, 1e6, OPTION(points_open),
                   "Trace points that may be open at once beyond the skeleton; 0: any number"),
    PYTHIA_REAL("added-ns", 0, "NS", "0", 0, 1e15, OPTION(added_ns),
                "Time that points beyond the skeleton may add to a request; 0: any"),
    PYTHIA_REAL(
        "bytes-per-second", 0, "N", "0", 0, 1e15, OPTION(bytes_per_second),
        "Bytes that points beyond the skeleton may add to the stream of traces in a second, "
        "as OTLP; 0: any. By calls and sizes of spans in the search space (416 bytes where "
        "it does not know them) and by the requests of the last cycle"),
    PYTHIA_REAL("price-ns", 0, "NS", "1000", 0, 1e12, OPTION(price_ns),
                "Cost of one hit of an open trace point"),
    {"price", 0, PYTHIA_OPTION_TEXTS, "ID=NS|@FILE", NULL, NULL, 0, 0, OPTION(search.prices),
     "Cost of one hit of a trace point, or of all that fit a pattern, where it was measured; or a "
     "file with one of them a line; may be given several times, and the last one that fits counts, "
     "but an id before patterns"},
    {"always", 0, PYTHIA_OPTION_TEXTS, "ID|PATTERN|@FILE", NULL, NULL, 0, 0, OPTION(search.always),
     "Keep trace points open, and do not charge them to any budget: an id, a pattern with * and ?, "
     "or a file with one of them a line; may be given several times"},
    {"never", 0, PYTHIA_OPTION_TEXTS, "ID|PATTERN|@FILE", NULL, NULL, 0, 0, OPTION(search.never),
     "Never open trace points, nor suggest them; as for --always"},
    PYTHIA_TEXT_OPTION("history", 0, "FILE", OPTION(search.history),
                       "Record of earlier searches, where this one begins; what it finds is added "
                       "to the file, which is made if it is missing"),
    PYTHIA_INTEGER("seed", 0, "N", "1", 0, 9e15, OPTION(seed),
                   "Seed of permutations, of jitter, and of what a strategy draws"),
    {0},
};

/* Everything a replay makes on its way. */
struct replay {
    const struct settings *s;
    struct pythia__reading reading;
    struct pythia_grouping_key *key;
    struct pythia_groups *groups;
    struct pythia_space *space;
    struct pythia_open_points *open, *skeleton;
    struct pythia_diagnosis *diagnosis;
    struct pythia_suggestion next[POINTS_MAX];
    size_t next_count;
    struct pythia_loop loop;
    struct pythia__search_given given;
    struct pythia_series_set *series;
    struct pythia_series_join *join;
    size_t series_problems;
};

/* ---- reading ---- */

static int begin_groups(void *context)
{
    struct replay *r = context;
    pythia_groups_destroy(r->groups);
    r->groups = NULL;
    if (r->key)
        pythia_grouping_key_forget(r->key);
    r->reading.groups.rows_per_type = (size_t)r->s->rows;
    r->reading.groups.rows = (size_t)r->s->rows * 4;
    return pythia_groups_create(r->reading.vocabulary, &r->reading.groups, &r->groups);
}

static int take_group(void *context, const struct pythia_trace *trace)
{
    struct replay *r = context;
    return pythia_groups_add(r->groups, trace);
}

/* The search space: from a file, or from the traces themselves, read once before with everything
 * open. */
static int find_space(struct replay *r)
{
    struct pythia_error why = {0};
    int status = pythia_space_create(r->reading.vocabulary, &r->space);
    r->reading.twice = !r->s->space;
    if (status != PYTHIA_OK)
        return status;
    if (!r->s->space)
        return pythia__space_from_traces(&r->reading, r->space);
    status = pythia_space_file_read(r->s->space, r->space, &why);
    if (status != PYTHIA_OK) {
        pythia_log_error(PYTHIA_LOG_ERROR, &why);
        return status;
    }
    return pythia_space_teach_paths(r->space, r->reading.groups.types.templates);
}

static int read_open_points(struct replay *r)
{
    struct pythia_buf text = {0};
    struct pythia_error why = {0};
    if (strcmp(r->s->open, "skeleton") == 0)
        return pythia_space_skeleton_points(r->space, &r->open);
    int status = pythia_open_points_create(r->reading.vocabulary, &r->open);
    if (status != PYTHIA_OK)
        return status;
    status = pythia_file_read(r->s->open, &text, &why);
    if (status != PYTHIA_OK) {
        pythia_log_error(PYTHIA_LOG_ERROR, &why);
        goto out;
    }
    status = pythia_open_points_read(r->open, pythia_buf_text(&text));
out:
    pythia_buf_free(&text);
    return status;
}

/* Is all of the skeleton open? Else nobody knows what it alone would show. */
static bool shows_skeleton(const struct replay *r)
{
    for (uint32_t i = 0; r->open && i < pythia_vocabulary_tracepoints(r->reading.vocabulary); i++)
        if (pythia_open_points_has(r->skeleton, i) && !pythia_open_points_has(r->open, i))
            return false;
    return r->skeleton != NULL;
}

/* Pins, prices and history, which are asked of the trace points that are known by now. */
static int take_options(struct replay *r)
{
    const struct pythia__search_settings *s = &r->s->search;
    int status = pythia__search_options_read(s, r->reading.vocabulary, r->space, &r->given);
    if (status != PYTHIA_OK)
        return status;
    return s->history ? pythia__history_read(s->history, r->s->closed_loop, &r->given.history)
                      : PYTHIA_OK;
}

/* The capture as if it were live: what is left at the end is the evidence of the last cycle. */
static int play_search(struct replay *r)
{
    struct pythia_closed_loop_options how = {
        .groups = r->reading.groups,
        .search = {.budget = {.points_per_cycle = (size_t)r->s->points,
                              .points_open = (size_t)r->s->points_open,
                              .added_ns = r->s->added_ns,
                              .bytes_per_second = r->s->bytes_per_second},
                   .price_ns = r->s->price_ns,
                   .alpha = r->s->alpha,
                   .min_requests = (size_t)r->s->min_requests,
                   .min_cov = r->s->min_cov,
                   .problems_per_cycle = (size_t)r->s->problems_per_cycle,
                   .seed = (uint64_t)r->s->seed},
        .requests = (size_t)r->s->cycle_requests,
        .seconds = r->s->cycle_seconds,
        .cycles = (size_t)r->s->cycles};
    size_t count;
    how.search.strategy = pythia_strategies(&count)[r->s->strategy];
    how.groups.rows_per_type = (size_t)r->s->rows;
    how.groups.rows = (size_t)r->s->rows * 4;
    r->reading.twice = true;
    int status = find_space(r);
    if (status != PYTHIA_OK)
        return status;
    how.pipeline = r->reading.pipeline; /* which knows now whether losses were reported */
    /* Without a file of the space, find_space has checked already that all can be read again. */
    if (r->s->space && (status = pythia__reading_again(&r->reading)) != PYTHIA_OK)
        return status;
    if ((status = take_options(r)) != PYTHIA_OK)
        return status;
    how.search.always = r->given.always;
    how.search.never = r->given.never;
    how.search.prices = r->given.prices;
    how.search.history = r->given.history;
    status = pythia_closed_loop_run(r->reading.vocabulary, r->reading.input, r->space, &how,
                                    &r->loop, &r->groups, &r->open, &r->reading.result);
    if (status != PYTHIA_OK)
        return status;
    pythia__reading_tell(&r->reading);
    return PYTHIA_OK;
}

/* Measurements that requests are joined with. */
static int read_joined_series(struct replay *r)
{
    const struct settings *s = r->s;
    struct pythia_series_files_result files;
    if (s->series.count == 0)
        return PYTHIA_OK;
    int status = pythia__series_read(s->series.texts, s->series.count, s->read.follow_symlinks,
                                     &r->series, &files, &r->series_problems);
    if (status != PYTHIA_OK)
        return status;
    status = pythia_series_join_create(r->series, (uint64_t)(s->series_age_s * 1e9),
                                       r->reading.vocabulary, &r->join);
    if (status != PYTHIA_OK)
        return status;
    r->reading.pipeline.join = r->join;
    return PYTHIA_OK;
}

/* How many requests it said something of: clocks or days may not fit. */
static void report_joined(const struct replay *r)
{
    if (!r->join)
        return;
    struct pythia_series_join_counts n = pythia_series_join_counts(r->join);
    pythia_log(n.joined ? PYTHIA_LOG_INFO : PYTHIA_LOG_WARNING,
               "Joined series with requests: values=%" PRIu64 ", missing=%" PRIu64
               " (nothing was measured in the %g s before)",
               n.joined, n.missing, r->s->series_age_s);
}

/* What requests are parted by, beside their type and structure. */
static int make_split_key(struct replay *r)
{
    struct pythia__reading *reading = &r->reading;
    int status = pythia__splitting_begin(&r->s->split, reading->vocabulary, &r->key);
    if (status != PYTHIA_OK)
        return status;
    status = pythia__splitting_learn(r->key, &reading, 1, r->s->rows, r->s->alpha, r->s->seed);
    if (status != PYTHIA_OK)
        return status;
    reading->groups.key = r->key;
    return PYTHIA_OK;
}

/* The order matters: the space has to be known before points can be chosen from it, and both
 * before the traces are read, as the reader leaves out what is closed. */
static int read_requests(struct replay *r)
{
    int status = make_split_key(r);
    if (status != PYTHIA_OK)
        return status;
    if (r->s->closed_loop)
        return play_search(r);
    if ((r->s->open || r->s->space) && (status = find_space(r)) != PYTHIA_OK)
        return status;
    if (r->space && (status = pythia_space_skeleton_points(r->space, &r->skeleton)) != PYTHIA_OK)
        return status;
    if (r->s->open && (status = read_open_points(r)) != PYTHIA_OK)
        return status;
    r->reading.pipeline.open = r->open;
    r->reading.groups.skeleton = shows_skeleton(r) ? r->skeleton : NULL;
    struct pythia_consumer consumer = {begin_groups, take_group, r};
    if ((status = pythia__reading_run(&r->reading, &consumer)) != PYTHIA_OK)
        return status;
    const struct pythia_counts *n = &r->reading.result.counts;
    if (r->s->open && n->kept == 0 && n->hidden > 0)
        pythia_log(PYTHIA_LOG_WARNING,
                   "%s: names no trace point of these traces, so nothing is left of them",
                   r->s->open);
    return pythia_groups_finish(r->groups);
}

/* ---- diagnosing ---- */

static void warn_of_missing_type(struct pythia_text type)
{
    struct pythia_buf text = {0};
    pythia_shown_add(&text, type, SIZE_MAX);
    pythia_log(
        PYTHIA_LOG_WARNING,
        "The search space holds no requests of this type, so nothing can be opened for it: %s",
        text.bytes ? text.bytes : "");
    pythia_buf_free(&text);
}

/* Whether the search of the type has more to find. */
static bool is_searched(const struct pythia_loop *loop, uint32_t type)
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
static void drop_ended(struct replay *r)
{
    size_t kept = 0;
    for (size_t i = 0; i < r->next_count; i++) {
        const struct pythia_group *group = &r->diagnosis->groups[r->next[i].group];
        if (is_searched(&r->loop, r->diagnosis->types[group->type].type->name))
            r->next[kept++] = r->next[i];
        else
            pythia_suggestion_clear(&r->next[i]);
    }
    r->next_count = kept;
}

static int suggest_points(struct replay *r)
{
    size_t count;
    struct pythia_evidence evidence = {.space = r->space,
                                       .groups = r->groups,
                                       .diagnosis = r->diagnosis,
                                       .open = r->open,
                                       .never = r->given.never,
                                       .price_ns = r->s->price_ns,
                                       .prices = r->given.prices,
                                       .history = r->given.history,
                                       .seed = (uint64_t)r->s->seed};
    struct pythia_buf missing = {0};
    int status = pythia_strategy_run(pythia_strategies(&count)[r->s->strategy], &evidence,
                                     (size_t)r->s->points, r->next, &r->next_count, &missing);
    if (status != PYTHIA_OK)
        goto out;
    if (r->s->closed_loop)
        drop_ended(r);
out:
    for (char *line = missing.bytes, *end; line && (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        if (!r->s->closed_loop)
            warn_of_missing_type(pythia_text_of(line));
    }
    for (size_t i = 0; i < r->loop.problem_count; i++)
        if (r->loop.problems[i].state == PYTHIA_PROBLEM_UNKNOWN)
            warn_of_missing_type(
                pythia_vocabulary_text(r->reading.vocabulary, r->loop.problems[i].type));
    pythia_buf_free(&missing);
    return status;
}

static int diagnose_and_suggest(struct replay *r)
{
    struct pythia_diagnosis_options how = {.measure = (enum pythia_measure)r->s->rank_by,
                                           .alpha = r->s->alpha,
                                           .min_requests = (size_t)r->s->min_requests,
                                           .min_cov = r->s->min_cov,
                                           .seed = (uint64_t)r->s->seed};
    int status = pythia_diagnose(r->groups, &how, &r->diagnosis);
    if (status != PYTHIA_OK)
        return status;
    if (!r->s->closed_loop && (status = take_options(r)) != PYTHIA_OK)
        return status;
    return suggest_points(r);
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Does the form leave out what there is nothing to say about? */
static bool wants_brief(const struct settings *s)
{
    return (s->format == PYTHIA_REPORT_TEXT && s->verbose) || s->format == PYTHIA_REPORT_MARKDOWN;
}

static int write_report_form(const struct settings *s, const struct pythia_report_source *source,
                             struct pythia_buf *text)
{
    const struct pythia__terminal terminal = pythia__terminal_of(s->output);
    const struct pythia_report_view view = {.width = terminal.width,
                                            .colour = terminal.colour,
                                            .ascii = terminal.ascii,
                                            .all = s->all,
                                            .trace_url = s->trace_url};
    if (s->format == PYTHIA_REPORT_TEXT && !s->verbose)
        return pythia_report_brief(source, &view, text);
    json_t *json = pythia_report_json(source);
    int status = json ? pythia_report_write(json, (enum pythia_report_format)s->format,
                                            terminal.colour, text)
                      : PYTHIA_ENOMEM;
    json_decref(json);
    return status;
}

static int write_replay_report(struct replay *r, char *const *paths, int count)
{
    const char **sorted = pythia_calloc((size_t)count, sizeof(char *));
    if (!sorted)
        return PYTHIA_ENOMEM;
    for (int i = 0; i < count; i++)
        sorted[i] = paths[i];
    qsort(sorted, (size_t)count, sizeof(char *), compare_paths);
    struct pythia_buf text = {0};
    struct pythia_verdicts judged = {0},
                           *verdicts = r->s->closed_loop ? &r->loop.verdicts : &judged;
    bool brief = wants_brief(r->s);
    int status = r->s->closed_loop ? pythia_verdicts_explain(verdicts, r->diagnosis, r->groups)
                 : brief           ? PYTHIA_OK /* it shows verdicts of a search only */
                                   : pythia_verdicts_judge(verdicts, r->diagnosis, r->groups);
    if (status != PYTHIA_OK)
        goto out;
    struct pythia_report_source source = {.paths = sorted,
                                          .path_count = (size_t)count,
                                          .input = &r->reading.result,
                                          .vocabulary = r->reading.vocabulary,
                                          .groups = r->groups,
                                          .diagnosis = r->diagnosis,
                                          .next = r->next,
                                          .next_count = r->next_count,
                                          .open = r->open,
                                          .loop = r->s->closed_loop ? &r->loop : NULL,
                                          .verdicts = verdicts,
                                          .measure = (enum pythia_measure)r->s->rank_by,
                                          .min_requests = (size_t)r->s->min_requests,
                                          .brief = brief};
    if ((status = write_report_form(r->s, &source, &text)) != PYTHIA_OK)
        goto out;
    status = pythia__write_output(r->s->output, pythia_buf_text(&text));
out:
    pythia_verdicts_free(&judged);
    pythia_buf_free(&text);
    pythia_free(sorted);
    return status;
}

/* Requests that would have been evidence of the next cycle too. */
static void tell_not_carried(const struct replay *r)
{
    if (r->loop.not_carried)
        pythia_log(PYTHIA_LOG_WARNING,
                   "There was no room to keep requests of rare types for the next cycle: "
                   "requests=%" PRIu64,
                   r->loop.not_carried);
}

/* What the search found is known to the next one. */
static int remember_found(struct replay *r)
{
    struct pythia_history *found = NULL;
    if (!r->s->closed_loop || !r->s->search.history)
        return PYTHIA_OK;
    int status = pythia_history_create(&found);
    if (status != PYTHIA_OK ||
        (status = pythia_loop_remember(&r->loop, r->reading.vocabulary, found)) != PYTHIA_OK)
        goto out;
    status = pythia__history_append(r->s->search.history, found);
out:
    pythia_history_destroy(found);
    return status;
}

/* Options that mean nothing to what is asked for are told instead of passed over. */
static int check_use(const struct settings *s)
{
    const char *idle = s->closed_loop            ? NULL
                       : s->search.always.count  ? "always"
                       : s->bytes_per_second > 0 ? "bytes-per-second"
                       : s->cycle_seconds > 0    ? "cycle-seconds"
                                                 : NULL;
    if (!idle)
        return PYTHIA_OK;
    pythia_log(PYTHIA_LOG_ERROR, "--%s is of a search: wanted --closed-loop with it", idle);
    return PYTHIA_EUSAGE;
}

static int exit_of_replay(const struct replay *r, int status)
{
    int code = pythia__reading_exit(&r->reading, status);
    if (code != PYTHIA__EXIT_DONE)
        return code;
    if (!pythia__splitting_tell(r->key, r->open != NULL) || r->series_problems)
        return PYTHIA__EXIT_FAILED;
    size_t enough = 0, diagnosed = 0;
    for (size_t i = 0; i < r->diagnosis->group_count; i++) {
        enough += r->diagnosis->groups[i].status != PYTHIA_GROUP_TOO_FEW;
        diagnosed += r->diagnosis->groups[i].status == PYTHIA_GROUP_DIAGNOSED;
    }
    return diagnosed > 0 ? PYTHIA__EXIT_DONE
           : enough > 0  ? PYTHIA__EXIT_NOTHING
                         : PYTHIA__EXIT_TOO_FEW;
}

/* Before the first byte of a file of strangers is looked at. */
static int confine_reading(const struct settings *s)
{
    const char *const outputs[] = {s->output, s->closed_loop ? s->search.history : NULL};
    struct pythia_hash_key secret;
    struct pythia_error why = {0};
    /* A secret that is not there is made now, because that takes a link. What is wrong with it is
     * told when it is wanted. */
    if (s->read.redact_secret &&
        pythia_redaction_hashes(s->read.redact.texts, s->read.redact.count))
        (void)pythia_secret_read(s->read.redact_secret, &secret, &why);
    struct pythia_confinement held;
    int status = pythia_confine(outputs, 2, &held);
    if (status != PYTHIA_OK)
        return status;
    if (!held.calls)
        pythia_log(PYTHIA_LOG_INFO, "The kernel does not keep it from the network: no seccomp");
    return PYTHIA_OK;
}

/* The process gives up its rights before it opens the first file that somebody else has written. */
static int run_replay(const void *settings, char *const *operands, int count)
{
    struct replay r = {.s = settings};
    int status = confine_reading(r.s);
    if (status != PYTHIA_OK)
        return pythia__fail(status);
    status = pythia__reading_begin(&r.reading, &r.s->read, (const char *const *)operands, count);
    if (status != PYTHIA_OK || (status = check_use(r.s)) != PYTHIA_OK ||
        (status = read_joined_series(&r)) != PYTHIA_OK || (status = read_requests(&r)) != PYTHIA_OK)
        goto out;
    report_joined(&r);
    if ((status = diagnose_and_suggest(&r)) != PYTHIA_OK ||
        (status = write_replay_report(&r, operands, count)) != PYTHIA_OK)
        goto out;
    status = remember_found(&r);
out:
    tell_not_carried(&r);
    int code = exit_of_replay(&r, status);
    for (size_t i = 0; i < r.next_count; i++)
        pythia_suggestion_clear(&r.next[i]);
    pythia_loop_free(&r.loop);
    pythia__search_given_free(&r.given);
    pythia_diagnosis_destroy(r.diagnosis);
    pythia_groups_destroy(r.groups);
    pythia_grouping_key_destroy(r.key);
    pythia_open_points_destroy(r.open);
    pythia_open_points_destroy(r.skeleton);
    pythia_space_destroy(r.space);
    pythia_series_join_destroy(r.join);
    pythia_series_set_destroy(r.series);
    pythia__reading_end(&r.reading);
    return code;
}

const struct pythia__command pythia__cmd_replay = {
    .name = "replay",
    .operands = "PATH...",
    .summary = "Say why requests that should be alike are not, from captured traces",
    .description =
        "Reads captured traces, groups their requests by type and by the structure of their "
        "critical paths, and reports which "
        "groups vary, on which edge of the path the difference arises, which key-value goes with "
        "it, and which trace points to "
        "open next to see more.\n\n"
        "Each PATH is a file, a folder (all files in it) or - for standard input; gzip and "
        "Zstandard are unpacked, and formats "
        "may be mixed. Records that cannot be read are told with file, line and byte, counted, and "
        "passed over.\n\n"
        "Where a sampler has kept only some of the requests and spans say with which probability "
        "(OpenTelemetry's tracestate, ot=th:..., or the attribute sampling.probability), each "
        "request counts for those that were not kept. The report says how many were seen; only "
        "these are evidence.\n\n"
        "Before it reads the first byte it gives up what it does not need: it opens no sockets, "
        "runs "
        "no programs, and writes no files but those of --output and --history, whatever is in the "
        "captures (seccomp, and Landlock where the kernel has it).\n\n"
        "With --open, trace points are hidden as if they had been closed when the traces were "
        "taken: what was below them hangs "
        "on the nearest open one above. Then the report says which of them to open next.\n\n"
        "With --closed-loop, the capture is played as if it were live, and begun anew when it is "
        "at "
        "its end. Of request types that the space of --space knows, trace points that it does not "
        "know are in no search: they are told, and left out. What is "
        "over one of the budgets is closed in the same cycle, what tells least first. A pin that "
        "contradicts another "
        "one, or names a point of the skeleton to be shut, is wrong usage; one that fits nothing "
        "is told.",
    .examples = "# Why do requests of a captured workload differ?\n"
                "pythia replay datasets/openstack/contention.jsonl.zst\n"
                "# What to open first if only the skeleton were open\n"
                "pythia replay --open skeleton datasets/openstack/contention.jsonl.zst\n"
                "# Look at short queues and long ones, each by itself\n"
                "pythia replay --split 'queue_length=2' datasets/openstack/contention.jsonl.zst\n"
                "# As if it were live, within a budget; what was found before is tried first\n"
                "pythia replay --closed-loop --bytes-per-second 20000 --never 'db:*' --history "
                "searches.json datasets/openstack/contention.jsonl.zst\n"
                "# With what was measured meanwhile: does the length of a queue explain it?\n"
                "pythia replay --series /var/tmp/shop traces/\n"
                "# A page for others\n"
                "pythia replay --format html --output report.html traces/\n",
    .see_also = "pythia-space-build(1), pythia-compare(1), pythia-tree(1), pythia-series(1), "
                "pythia-report(5), pythiad(8)",
    .options = options,
    .read_offset = offsetof(struct settings, read),
    .settings_size = sizeof(struct settings),
    .operands_min = 1,
    .operands_max = -1,
    .run = run_replay,
};
