#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pythia/closed_loop.h"
#include "pythia/evidence_write.h"
#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/redaction.h"
#include "pythia/report.h"
#include "pythia/secret_file.h"
#include "pythia/shown_text.h"
#include "pythia/space_file.h"
#include "pythia/status.h"
#include "report_run.h"
#include "shared/command.h"
#include "shared/each_thread.h"
#include "shared/group_reading.h"
#include "shared/search_options.h"
#include "shared/series_options.h"
#include "shared/space_traces.h"
#include "shared/splitting.h"
#include "shared/terminal.h"

struct settings {
    struct pythia__read_settings read;
    struct pythia__report_settings report;
    const char *evidence, *space, *open;
    int64_t rows;
    double added_ns, bytes_per_second, cycle_seconds;
    struct pythia_option_texts split, series;
    double series_age_s;
    bool closed_loop;
    int64_t cycle_requests, cycles, points_open, problems_per_cycle;
};

#define OPTION(member) offsetof(struct settings, member)

static const struct pythia_option options[] = {
    PYTHIA_TEXT_OPTION("evidence", 0, "FILE", OPTION(evidence),
                       "Write the evidence for the report to a file, for pythia merge, instead of "
                       "a report"),
    PYTHIA_INTEGER("rows", 0, "N", "2048", 64, 1e6, OPTION(rows),
                   "Complete requests to keep per type, for shares, modes and explanations; "
                   "counts and quantiles use all requests"),
    PYTHIA__SPLIT_OPTION(OPTION(split)),
    {"series", 0, PYTHIA_OPTION_TEXTS, "PATH", NULL, NULL, 0, 0, OPTION(series),
     "Measurements over time: a folder or a file, as read by pythia series. The last value of "
     "each series before a request began becomes its key-value series.<label>; may be given "
     "several times"},
    PYTHIA_REAL("series-age", 0, "SECONDS", "60", 0, 1e9, OPTION(series_age_s),
                "Ignore measurements older than this when a request begins"),
    PYTHIA_TEXT_OPTION("space", 0, "FILE", OPTION(space),
                       "Search space, from pythia space build; by default it is made from the "
                       "traces themselves"),
    PYTHIA_TEXT_OPTION("open", 0, "FILE|skeleton", OPTION(open),
                       "Hide all trace points except those listed in a file (one id or pattern "
                       "per line), or except the skeleton of the search space"),
    PYTHIA_FLAG("closed-loop", 0, OPTION(closed_loop),
                "Replay the capture as if it were live: begin with the skeleton of the search "
                "space, hide closed trace points, and decide after each cycle which to open and "
                "close"),
    PYTHIA_INTEGER("cycle-requests", 0, "N", NULL, 4, 1e9, OPTION(cycle_requests),
                   "Requests of one type in a cycle (default 100, or with --cycle-seconds any "
                   "number)"),
    PYTHIA_REAL("cycle-seconds", 0, "S", NULL, 1e-6, 1e9, OPTION(cycle_seconds),
                "Length of a cycle, measured by the times in the traces from its first request "
                "on; if --cycle-requests is given too, the cycle ends at whichever comes first"),
    PYTHIA_INTEGER("cycles", 0, "N", "60", 1, 1e6, OPTION(cycles), "Most cycles"),
    PYTHIA_INTEGER("problems-per-cycle", 0, "N", "16", 0, 1e6, OPTION(problems_per_cycle),
                   "Request types to search in a cycle: those that vary most and those that have "
                   "waited longest; 0: all"),
    PYTHIA_INTEGER("points-open", 0, "N", "0", 0, 1e6, OPTION(points_open),
                   "Most trace points open at once beyond the skeleton; 0: no limit"),
    PYTHIA_REAL("added-ns", 0, "NS", "0", 0, 1e15, OPTION(added_ns),
                "Most time that points beyond the skeleton may add to a request; 0: no limit"),
    PYTHIA_REAL(
        "bytes-per-second", 0, "N", "0", 0, 1e15, OPTION(bytes_per_second),
        "Most bytes per second, as OTLP, that points beyond the skeleton may add to the stream of "
        "traces; 0: no limit. Estimated from calls and span sizes in the search space (416 bytes "
        "where it has none) and from the requests of the last cycle"),
    {"always", 0, PYTHIA_OPTION_TEXTS, "ID|PATTERN|@FILE", NULL, NULL, 0, 0,
     OPTION(report.search.always),
     "Keep these trace points open, outside all budgets: an id, a pattern with * and ?, or a file "
     "with one of them per line; may be given several times"},
    {0},
};

/* Everything a replay makes on its way. */
struct replay {
    const struct settings *s;
    struct pythia__reading reading;
    struct pythia_grouping_key *key;
    struct pythia__group_reading of_groups; /* what was read: of the last cycle in a closed loop */
    struct pythia__each_threads *threads;   /* owned: as many as read; NULL: not yet */
    struct pythia_each each;
    struct pythia_space *space;
    struct pythia_open_points *open, *skeleton;
    struct pythia_loop loop;
    struct pythia__report_run run;
    struct pythia_series_set *series;
    struct pythia_series_join *join;
    size_t series_problems;
};

/* ---- reading ---- */

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
        char text[1024];
        pythia_log(PYTHIA_LOG_ERROR, "%s", pythia_error_text(&why, text, sizeof(text)));
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
        char sentence[1024];
        pythia_log(PYTHIA_LOG_ERROR, "%s", pythia_error_text(&why, sentence, sizeof(sentence)));
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

/* The capture as if it were live: what is left at the end is the evidence of the last cycle. */
static int play_search(struct replay *r)
{
    struct pythia_closed_loop_options how = {
        .groups = r->reading.groups,
        .search = {.budget = {.points_per_cycle = (size_t)r->s->report.points,
                              .points_open = (size_t)r->s->points_open,
                              .added_ns = r->s->added_ns,
                              .bytes_per_second = r->s->bytes_per_second},
                   .price_ns = r->s->report.price_ns,
                   .alpha = r->s->report.alpha,
                   .min_requests = (size_t)r->s->report.min_requests,
                   .min_cov = r->s->report.min_cov,
                   .problems_per_cycle = (size_t)r->s->problems_per_cycle,
                   .seed = (uint64_t)r->s->report.seed},
        .requests = (size_t)r->s->cycle_requests,
        .seconds = r->s->cycle_seconds,
        .cycles = (size_t)r->s->cycles};
    size_t count;
    how.search.strategy = pythia_strategies(&count)[r->s->report.strategy];
    how.groups.rows_per_type = (size_t)r->s->rows;
    how.groups.rows = (size_t)r->s->rows * 4;
    r->reading.twice = true;
    int status = find_space(r);
    if (status != PYTHIA_OK)
        return status;
    how.pipeline = r->reading.pipeline; /* find_space has set whether losses were reported */
    /* A space made from the traces has already checked that everything can be read again. */
    if (r->s->space && (status = pythia__reading_again(&r->reading)) != PYTHIA_OK)
        return status;
    r->run.space = r->space; /* pins and prices refer to it */
    if ((status = pythia__report_take_options(&r->run)) != PYTHIA_OK)
        return status;
    how.search.always = r->run.given.always;
    how.search.never = r->run.given.never;
    how.search.prices = r->run.given.prices;
    how.search.layers = r->run.given.layers;
    how.search.history = r->run.given.history;
    status = pythia_closed_loop_run(r->reading.vocabulary, r->reading.input, r->space, &how,
                                    &r->loop, &r->of_groups.groups, &r->open, &r->reading.result);
    if (status != PYTHIA_OK)
        return status;
    pythia__reading_tell(&r->reading);
    return PYTHIA_OK;
}

/* Measurements that requests are joined with. */
static int find_limit_series(struct replay *r)
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
    r->reading.pipeline.join = r->join;
    return status;
}

/* Log how many requests the series matched: clocks or days may differ. */
static void tell_joined(const struct replay *r)
{
    if (!r->join)
        return;
    struct pythia_series_join_counts n = pythia_series_join_counts(r->join);
    pythia_log(n.joined ? PYTHIA_LOG_INFO : PYTHIA_LOG_WARNING,
               "Joined series with requests: values=%" PRIu64 ", missing=%" PRIu64
               " (nothing was measured in the %g s before)",
               n.joined, n.missing, r->s->series_age_s);
}

/* The key that splits requests, beside their type and structure. */
static int find_limit_key(struct replay *r)
{
    struct pythia__reading *reading = &r->reading;
    int status = pythia__splitting_begin(&r->s->split, reading->vocabulary, &r->key);
    if (status != PYTHIA_OK)
        return status;
    status = pythia__splitting_learn(r->key, &reading, 1, r->s->rows, r->s->report.alpha,
                                     r->s->report.seed);
    reading->groups.key = r->key;
    return status;
}

/* The search space is needed before the first request is read: --open hides points by it, and
 * groups are identified on its skeleton. */
static int read_all(struct replay *r)
{
    int status = find_limit_key(r);
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
    r->reading.groups.types.mark_paths = r->s->evidence != NULL;
    if ((status = pythia__group_reading_run(&r->of_groups, r->s->rows)) != PYTHIA_OK)
        return status;
    const struct pythia_counts *n = &r->reading.result.counts;
    if (r->s->open && n->kept == 0 && n->hidden > 0)
        pythia_log(PYTHIA_LOG_WARNING,
                   "%s: matches no trace point of these traces, so nothing is left of them",
                   r->s->open);
    return pythia_groups_finish(r->of_groups.groups);
}

/* ---- diagnosing ---- */

/* Requests that would have been evidence of the next cycle too. */
static void tell_not_carried(const struct replay *r)
{
    if (r->loop.not_carried)
        pythia_log(
            PYTHIA_LOG_WARNING,
            "Not all requests of rare types could be kept for the next cycle: requests=%" PRIu64,
            r->loop.not_carried);
}

/* Append the findings of this search to the history, for the next one. */
static int remember_found(struct replay *r)
{
    struct pythia_history *found = NULL;
    if (!r->s->closed_loop || !r->s->report.search.history)
        return PYTHIA_OK;
    int status = pythia_history_create(&found);
    if (status != PYTHIA_OK)
        return status;
    status = pythia_loop_remember(&r->loop, r->reading.vocabulary, found);
    if (status != PYTHIA_OK)
        goto out;
    status = pythia__history_append(r->s->report.search.history, found);
out:
    pythia_history_destroy(found);
    return status;
}

/* An option that makes evidence depend on more than its own traces: on rules and clocks that are
 * found in all of them, or on earlier cycles. NULL: none. */
static const char *find_option_of_all(const struct settings *s)
{
    return s->closed_loop             ? "closed-loop"
           : s->split.count           ? "split"
           : s->space                 ? "space"
           : s->open                  ? "open"
           : s->read.skew             ? "skew"
           : s->report.search.history ? "history"
                                      : NULL;
}

/* An option that asks for a report of the evidence. NULL: none. */
static const char *find_option_of_report(const struct pythia__report_settings *r)
{
    return r->output         ? "output"
           : r->format       ? "format"
           : r->verbose      ? "verbose"
           : r->all          ? "all"
           : r->trace_url    ? "trace-url"
           : r->limits.count ? "limit"
                             : NULL;
}

static int check_evidence_use(const struct settings *s)
{
    const char *all = s->evidence ? find_option_of_all(s) : NULL,
               *report = s->evidence ? find_option_of_report(&s->report) : NULL;
    if (all)
        pythia_log(PYTHIA_LOG_ERROR,
                   "--%s cannot be used with --evidence, because it depends on all traces", all);
    else if (report)
        pythia_log(PYTHIA_LOG_ERROR, "--%s cannot be used with --evidence; give it to pythia merge",
                   report);
    return all || report ? PYTHIA_EUSAGE : PYTHIA_OK;
}

/* Options that mean nothing to what is asked for are told instead of passed over. */
static int check_use(const struct settings *s)
{
    const char *idle = s->closed_loop                  ? NULL
                       : s->report.search.always.count ? "always"
                       : s->bytes_per_second > 0       ? "bytes-per-second"
                       : s->cycle_seconds > 0          ? "cycle-seconds"
                                                       : NULL;
    int status = check_evidence_use(s);
    if (status == PYTHIA_OK && idle) {
        pythia_log(PYTHIA_LOG_ERROR, "--%s requires --closed-loop", idle);
        status = PYTHIA_EUSAGE;
    }
    return status;
}

static int exit_status(const struct replay *r, int status)
{
    int code = pythia__reading_exit(&r->reading, status);
    if (r->s->evidence && code == PYTHIA__EXIT_TOO_FEW)
        code = PYTHIA__EXIT_DONE; /* other parts have traces, or none has */
    if (code != PYTHIA__EXIT_DONE)
        return code;
    if (!pythia__splitting_tell(r->key, r->open != NULL) || r->series_problems)
        return PYTHIA__EXIT_FAILED;
    return r->s->evidence ? PYTHIA__EXIT_DONE : pythia__report_exit(&r->run);
}

static int confine_reading(struct replay *r)
{
    const struct settings *s = r->s;
    const char *const outputs[] = {s->evidence ? s->evidence : s->report.output,
                                   s->closed_loop ? s->report.search.history : NULL};
    struct pythia_hash_key secret;
    struct pythia_error why = {0};
    /* A secret that is not there is made now, because that takes a link. What is wrong with it is
     * told when it is wanted. */
    if (s->read.redact_secret &&
        pythia_redaction_hashes(s->read.redact.texts, s->read.redact.count))
        (void)pythia_secret_read(s->read.redact_secret, &secret, &why);
    return pythia__reading_confine(&r->reading, &s->read, outputs, 2);
}

/* The options that make evidence what it is, but for --rows: evidence that differs in them is not
 * of one kind. */
static void describe_gathering(const struct settings *s, struct pythia_buf *to)
{
    const struct pythia__read_settings *read = &s->read;
    const struct {
        const char *name;
        const struct pythia_option_texts *given;
    } lists[] = {{"leave-out-root", &read->left_out}, {"redact", &read->redact}};
    if (read->latency)
        pythia_buf_puts(to, "--latency client ");
    if (read->no_fold)
        pythia_buf_puts(to, "--no-fold ");
    if (read->type_attribute)
        pythia_buf_printf(to, "--request-type-attribute %s ", read->type_attribute);
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        for (size_t k = 0; k < lists[i].given->count; k++)
            pythia_buf_printf(to, "--%s %s ", lists[i].name, lists[i].given->texts[k]);
    if (s->series.count > 0)
        pythia_buf_printf(to, "--series --series-age %.17g ", s->series_age_s);
}

/* The options are written along, because evidence that was gathered differently must not be
 * merged. */
static int write_evidence_file(const struct replay *r, const char *const *paths, size_t count)
{
    const struct pythia__reading *reading = &r->reading;
    struct pythia_buf asked = {0}, file = {0};
    describe_gathering(r->s, &asked);
    const struct pythia_evidence_input input = {.sources = paths, .source_count = count};
    const struct pythia_evidence_source source = {
        .vocabulary = reading->vocabulary,
        .groups = r->of_groups.groups,
        .result = &reading->result,
        .settings = {.fold = reading->groups.fold,
                     .rows = (size_t)r->s->rows,
                     .asked = asked.bytes ? asked.bytes : ""},
        .inputs = &input,
        .input_count = 1};
    int status = pythia_buf_status(&asked);
    if (status != PYTHIA_OK || (status = pythia_evidence_write(&source, &file)) != PYTHIA_OK)
        goto out;
    status = pythia__write_output(r->s->evidence, pythia_buf_text(&file));
out:
    pythia_buf_free(&asked);
    pythia_buf_free(&file);
    return status;
}

/* Evidence, or a report of it. */
static int write_replay_result(struct replay *r, const char *const *paths, size_t count)
{
    if (r->s->evidence)
        return write_evidence_file(r, paths, count);
    int status = pythia__each_threads_create(r->reading.pipeline.threads, &r->threads);
    if (status != PYTHIA_OK)
        return status;
    r->each = pythia__each_threads_of(r->threads);
    r->run.each = &r->each;
    r->run.groups = r->of_groups.groups;
    r->run.space = r->space;
    r->run.open = r->open;
    status = pythia__report_diagnose(&r->run);
    if (status != PYTHIA_OK || (status = pythia__report_write(&r->run, paths, count)) != PYTHIA_OK)
        return status;
    return remember_found(r);
}

static int run_replay(const void *settings, char *const *operands, int count)
{
    struct replay r = {.s = settings, .of_groups.reading = &r.reading};
    const char *const *paths = (const char *const *)operands;
    int status = confine_reading(&r);
    if (status != PYTHIA_OK)
        goto out;
    status = pythia__reading_begin(&r.reading, &r.s->read, paths, count);
    r.run = (struct pythia__report_run){.s = &r.s->report,
                                        .vocabulary = r.reading.vocabulary,
                                        .input = &r.reading.result,
                                        .events = r.s->read.events,
                                        .loop = r.s->closed_loop ? &r.loop : NULL};
    if (status != PYTHIA_OK || (status = check_use(r.s)) != PYTHIA_OK ||
        (status = find_limit_series(&r)) != PYTHIA_OK)
        goto out;
    status = read_all(&r);
    tell_joined(&r);
    if (status != PYTHIA_OK)
        goto out;
    status = write_replay_result(&r, paths, (size_t)count);
out:
    tell_not_carried(&r);
    int code = exit_status(&r, status);
    pythia_loop_free(&r.loop);
    pythia__report_free(&r.run);
    pythia__each_threads_destroy(r.threads);
    pythia__group_reading_free(&r.of_groups);
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
    .summary = "Explain why similar requests take different times, from captured traces",
    .description =
        "Reads captured traces, groups their requests by type and by the structure of their "
        "critical paths, and reports which groups vary, on which edge of the path the variance "
        "arises, which key-value it correlates with, and which trace points to open next to see "
        "more.\n\n"
        "Each PATH is a file, a folder (all files in it) or - for standard input; gzip and "
        "Zstandard are unpacked, and formats may be mixed. A folder that LTTng has written "
        "requires "
        "--events. Records that cannot be read are "
        "skipped, counted, and reported with file, line and byte.\n\n"
        "Where a sampler has kept only some of the requests and spans give its probability "
        "(OpenTelemetry's tracestate, ot=th:..., or the attribute sampling.probability), each "
        "request also counts for the ones that were dropped. The report says how many were "
        "actually seen; only these are evidence.\n\n"
        "Before it reads the first byte it gives up what it does not need: it opens no sockets, "
        "runs no programs, and writes no files except those of --output and --history, whatever "
        "is in the captures (seccomp, and Landlock where the kernel has it).\n\n"
        "With --open, trace points are hidden as if they had been closed when the traces were "
        "taken: the spans below them are attached to the nearest open one above. The report then "
        "says which of them to open next.\n\n"
        "With --closed-loop, the capture is replayed as if it were live, and starts over when it "
        "ends. Trace points that the search space (--space) does not know are left out of the "
        "search of the request types that it does know, and reported. When a budget is exceeded, "
        "trace points are closed in the same cycle, the least informative first. A pin that "
        "contradicts another one, or closes a point of the skeleton, is an error; a pin that "
        "matches nothing gives a warning.",
    .examples = "# Why does the latency of a captured workload vary?\n"
                "pythia replay datasets/openstack/contention.jsonl.zst\n"
                "# What to open first if only the skeleton is open\n"
                "pythia replay --open skeleton datasets/openstack/contention.jsonl.zst\n"
                "# Diagnose requests with short queues and with long ones separately\n"
                "pythia replay --split 'queue_length=2' datasets/openstack/contention.jsonl.zst\n"
                "# As if it were live, within a budget; earlier findings are tried first\n"
                "pythia replay --closed-loop --bytes-per-second 20000 --never 'db:*' --history "
                "searches.json datasets/openstack/contention.jsonl.zst\n"
                "# With measurements over time: does the length of a queue explain it?\n"
                "pythia replay --series /var/tmp/shop traces/\n"
                "# Part of a capture that is too large for one machine; see pythia-merge(1)\n"
                "pythia replay --evidence monday.evidence traces/monday\n"
                "# A page to share\n"
                "pythia replay --format html --output report.html traces/\n",
    .see_also = "pythia-merge(1), pythia-space-build(1), pythia-compare(1), pythia-tree(1), "
                "pythia-series(1), "
                "pythia-report(5), pythiad(8)",
    .options = options,
    .shared_options = pythia__report_options,
    .shared_offset = offsetof(struct settings, report),
    .read_offset = offsetof(struct settings, read),
    .settings_size = sizeof(struct settings),
    .operands_min = 1,
    .operands_max = -1,
    .run = run_replay,
};
