/* The report of a replay, and an exit status for a pipeline: do requests keep to what is expected
 * of them? */
#include <stddef.h>

#include "pythia/expectation_file.h"
#include "pythia/log.h"
#include "pythia/status.h"
#include "report_run.h"
#include "shared/command.h"
#include "shared/each_thread.h"
#include "shared/group_reading.h"

struct settings {
    struct pythia__read_settings read;
    struct pythia__report_settings report;
    int64_t rows;
};

static const struct pythia_option options[] = {
    PYTHIA_INTEGER("rows", 0, "N", "2048", 64, 1e6, offsetof(struct settings, rows),
                   "Whole requests of a type that are kept: conditions choose among these, and "
                   "paths are those of these; limits without a condition are of all requests"),
    {0},
};

struct checking {
    const struct settings *s;
    struct pythia__reading reading;
    struct pythia__group_reading of_groups;
    struct pythia__each_threads *threads; /* owned: as many as read; NULL: not yet */
    struct pythia_each each;
    struct pythia_expectations expectations;
    struct pythia__report_run run;
};

static int read_expectations(struct checking *c, const char *path)
{
    struct pythia_error why = {0};
    char text[1024];
    int status = pythia_expectation_file_read(path, &c->expectations, &why);
    if (status == PYTHIA_OK || status == PYTHIA_ENOMEM)
        return status;
    pythia_log(PYTHIA_LOG_ERROR, "%s", pythia_error_text(&why, text, sizeof(text)));
    return PYTHIA_EUSAGE;
}

static int check_traces(struct checking *c, const char *const *paths, size_t count)
{
    int status = pythia__group_reading_run(&c->of_groups, c->s->rows);
    if (status != PYTHIA_OK)
        return status;
    status = pythia_groups_finish(c->of_groups.groups);
    if (status != PYTHIA_OK)
        return status;
    status = pythia__each_threads_create(c->reading.pipeline.threads, &c->threads);
    if (status != PYTHIA_OK)
        return status;
    c->each = pythia__each_threads_of(c->threads);
    c->run = (struct pythia__report_run){.s = &c->s->report,
                                         .vocabulary = c->reading.vocabulary,
                                         .input = &c->reading.result,
                                         .groups = c->of_groups.groups,
                                         .each = &c->each,
                                         .expectations = &c->expectations};
    if ((status = pythia__report_diagnose(&c->run)) != PYTHIA_OK)
        return status;
    return pythia__report_write(&c->run, paths, count);
}

#define EXIT_VIOLATED 3

static int find_exit_code(const struct checking *c, int status)
{
    const struct pythia_expected_results *results = &c->run.expected;
    int code =
        status == PYTHIA_EUSAGE ? PYTHIA__EXIT_USAGE : pythia__reading_exit(&c->reading, status);
    if (code != PYTHIA__EXIT_DONE)
        return code;
    if (pythia_expected_results_count(results, PYTHIA_EXPECTED_VIOLATED) > 0)
        return EXIT_VIOLATED;
    return pythia_expected_results_count(results, PYTHIA_EXPECTED_TOO_FEW) == results->count
               ? PYTHIA__EXIT_TOO_FEW
               : PYTHIA__EXIT_DONE;
}

/* The expectations are read before any trace: a mistake in them must not wait for hours. */
static int run_check(const void *settings, char *const *operands, int count)
{
    struct checking c = {.s = settings, .of_groups.reading = &c.reading};
    const char *const *paths = (const char *const *)operands + 1;
    const char *const outputs[] = {c.s->report.output};
    int status = pythia__reading_confine(&c.reading, &c.s->read, outputs, 1);
    if (status == PYTHIA_OK)
        status = pythia__reading_begin(&c.reading, &c.s->read, paths, count - 1);
    if (status == PYTHIA_OK)
        status = read_expectations(&c, operands[0]);
    if (status == PYTHIA_OK)
        status = check_traces(&c, paths, (size_t)count - 1);
    int code = find_exit_code(&c, status);
    pythia__report_free(&c.run);
    pythia_expectations_free(&c.expectations);
    pythia__each_threads_destroy(c.threads);
    pythia__group_reading_free(&c.of_groups);
    pythia__reading_end(&c.reading);
    return code;
}

const struct pythia__command pythia__cmd_check = {
    .name = "check",
    .operands = "FILE PATH...",
    .summary = "Fail if requests are slower, or less alike, than a file expects",
    .description =
        "Reads captured traces as pythia replay does, writes its report with a section of what "
        "FILE "
        "expects of the requests, and exits with 3 if an expectation is violated: a step of a "
        "pipeline.\n\n"
        "FILE is a list of maps, in YAML or JSON, with these members:\n\n"
        "type: the full name of a request type, as pythia replay --verbose has it, or a pattern "
        "with * and ?. Each type that fits is judged by itself.\n\n"
        "where: a condition that requests have to meet to count, such as queue_length < 2: a key, "
        "one of < <= > >= = != between blanks, and a value. A request without the key never meets "
        "it. The key count:ID is how often the critical path hits a trace point.\n\n"
        "p99: the limit of the 99th percentile of the durations, such as < 250ms, in ns, us, ms or "
        "s.\n\n"
        "cov: the limit of their coefficient of variation, such as < 0.3.\n\n"
        "same_path_as: the full name of a request type, or a pattern: every request takes the most "
        "common critical path of its requests. A path is the trace points that it hits, in their "
        "calling contexts below the root, however often and in whatever order. With the name of "
        "the type itself, all its requests take one path.\n\n"
        "A map has a type and at least one of the last three. Limits are judged where at least "
        "--min-requests requests count.",
    .examples =
        "# Requests that find a short queue are fast, and all take one path\n"
        "printf '%s\\n' '- type: \"*POST:/v2.1/servers\"' '  where: queue_length < 2' '  p99: "
        "< 8s' > expected.yaml\n"
        "pythia check expected.yaml datasets/openstack/contention.jsonl.zst\n",
    .exits = "0 nothing is violated, 1 failed (also: part of the input could not be read), 2 wrong "
             "usage (also: FILE cannot be read), 3 an expectation is violated, 4 nothing could be "
             "judged: too few requests.",
    .see_also = "pythia-replay(1), pythia-runs-regress(1), pythia-report(5), pythiad(8)",
    .options = options,
    .shared_options = pythia__report_options,
    .shared_offset = offsetof(struct settings, report),
    .read_offset = offsetof(struct settings, read),
    .settings_size = sizeof(struct settings),
    .operands_min = 2,
    .operands_max = -1,
    .run = run_check,
};
