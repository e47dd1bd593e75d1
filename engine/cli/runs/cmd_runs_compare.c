/* `pythia runs compare` and `pythia runs regress`: two tags, side by side. */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "compare_forms.h"
#include "escalate.h"
#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/run_regress.h"
#include "pythia/status.h"
#include "runs_filter.h"
#include "shared/command.h"

struct settings {
    struct pythia__runs_settings runs;
    const char *base, *candidate, *group, *output, *escalate;
    double alpha, effect;
    int format;
    bool all;
    struct pythia_option_texts metrics;
};

#define SHARED_OPTIONS                                                                             \
    PYTHIA__RUNS_OPTIONS(offsetof(struct settings, runs)),                                         \
        PYTHIA_TEXT_OPTION("group-by", 'g', "KEY", offsetof(struct settings, group),               \
                           "Compare only runs with the same value of this: host, host.cpu, or "    \
                           "a key recorded with --meta"),                                          \
        PYTHIA_REAL("alpha", 0, "Q", ".01", 1e-6, .5, offsetof(struct settings, alpha),            \
                    "False discovery rate over all comparisons"),                                  \
        PYTHIA_REAL("effect", 0, "PART", ".05", 0, 10, offsetof(struct settings, effect),          \
                    "Smallest change that matters, as a share of the earlier median"),             \
        PYTHIA_FLAG("all", 'a', offsetof(struct settings, all),                                    \
                    "Also list callpaths that did not change"),                                    \
        PYTHIA_CHOICE("format", 'f', "text|json|markdown|junit", "text",                           \
                      offsetof(struct settings, format), "Format of the output"),                  \
        PYTHIA_TEXT_OPTION("output", 'o', "FILE", offsetof(struct settings, output),               \
                           "Write to a file (default standard output)")

static const struct pythia_option compare_options[] = {
    SHARED_OPTIONS,
    {0},
};

static const struct pythia_option regress_options[] = {
    PYTHIA_TEXT_OPTION("base", 0, "TAG", offsetof(struct settings, base),
                       "Tag of the reference runs"),
    PYTHIA_TEXT_OPTION("candidate", 0, "TAG", offsetof(struct settings, candidate),
                       "Tag of the runs to judge"),
    {"metric", 0, PYTHIA_OPTION_TEXTS, "NAME", NULL, NULL, 0, 0, offsetof(struct settings, metrics),
     "Number to compare; may be given several times (default wall, cpu and max_rss)"},
    PYTHIA_TEXT_OPTION("escalate", 0, "POINTS", offsetof(struct settings, escalate),
                       "If something got worse, run that command once more with the trace points "
                       "in this file, and record what its traces show"),
    SHARED_OPTIONS,
    {0},
};

/* The last candidate run of each benchmark, for an escalation. */
struct subject {
    char *name, *command; /* owned; command NULL: not recorded */
};

struct comparing {
    const struct settings *s;
    struct pythia__compared result;
    struct pythia_regress *regress;
    bool after; /* the side that is read */
    struct subject *subjects;
    size_t subject_count, subject_capacity;
};

static int keep_subject(struct comparing *c, const struct pythia_run *run)
{
    const char *name = run->benchmark ? run->benchmark : run->command;
    name = name ? name : run->command_key;
    size_t i = 0;
    while (i < c->subject_count && strcmp(c->subjects[i].name, name) != 0)
        i++;
    if (i == c->subject_count) {
        if (pythia_grow(&c->subjects, &c->subject_capacity, i, sizeof(*c->subjects)) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
        c->subjects[i] = (struct subject){pythia_strndup(name, strlen(name)), NULL};
        if (!c->subjects[i].name)
            return PYTHIA_ENOMEM;
        c->subject_count++;
    }
    pythia_free(c->subjects[i].command);
    c->subjects[i].command =
        run->command ? pythia_strndup(run->command, strlen(run->command)) : NULL;
    return run->command && !c->subjects[i].command ? PYTHIA_ENOMEM : PYTHIA_OK;
}

static int add_compared_run(void *context, const struct pythia_run *run)
{
    struct comparing *c = context;
    c->result.runs[c->after]++;
    c->result.failed[c->after] += run->signal != 0 || run->exit_status > 0;
    int status = pythia_regress_add(c->regress, run, c->after);
    if (status != PYTHIA_OK || !c->after || !c->s->escalate)
        return status;
    return keep_subject(c, run);
}

/* The wall-clock time leads, or what was asked for by name. */
static int choose_metrics(const struct settings *s, bool judged,
                          struct pythia_regress_options *options)
{
    options->metrics = 0;
    for (size_t i = 0; i < s->metrics.count; i++) {
        int m = pythia_run_metric_find(s->metrics.texts[i]);
        if (m < 0) {
            pythia_log(PYTHIA_LOG_ERROR, "--metric %s: there is no such number (pythia-runs(7))",
                       s->metrics.texts[i]);
            return PYTHIA__EXIT_USAGE;
        }
        options->metrics |= 1u << m;
    }
    options->leading = s->metrics.count ? options->metrics : 1u << PYTHIA_RUN_WALL_NS;
    for (int m = 0; m < PYTHIA_RUN_METRICS && s->metrics.count == 0; m++)
        if (!judged || pythia_run_metrics[m].judged)
            options->metrics |= 1u << m;
    return PYTHIA__EXIT_DONE;
}

static int read_tagged_runs(struct comparing *c, struct pythia__runs_filter *f)
{
    const char *const tags[] = {c->result.base, c->result.candidate};
    int status = PYTHIA_OK;
    for (int side = 0; side < 2; side++) {
        f->filter.tag = tags[side];
        c->after = side == 1;
        if ((status = pythia__runs_each(f, PYTHIA_RUN_WITH_CALLPATHS, add_compared_run, c)) !=
            PYTHIA_OK)
            return status;
    }
    return PYTHIA_OK;
}

static int judge_tags(struct comparing *c, struct pythia__runs_filter *f,
                      const struct pythia_regress_options *options, struct pythia_buf *text)
{
    int status = pythia_regress_create(options, &c->regress);
    if (status != PYTHIA_OK || (status = read_tagged_runs(c, f)) != PYTHIA_OK)
        return status;
    status = pythia_regress_finish(c->regress, &c->result.rows, &c->result.count);
    if (status != PYTHIA_OK)
        return status;
    return pythia__compare_write(&c->result, (enum pythia__compare_form)c->s->format, text);
}

static int compare_tags(struct comparing *c, bool judged)
{
    struct pythia__runs_filter f;
    struct pythia_buf text = {0};
    struct pythia_regress_options options = {
        .alpha = c->s->alpha, .effect = c->s->effect, .group_key = c->s->group};
    int code = choose_metrics(c->s, judged, &options);
    if (code != PYTHIA__EXIT_DONE)
        return code;
    code = pythia__runs_begin(&f, &c->s->runs);
    if (code == PYTHIA__EXIT_DONE)
        code = pythia__runs_write(c->s->output, &text, judge_tags(c, &f, &options, &text));
    pythia__runs_end(&f);
    return code;
}

static void free_comparing(struct comparing *c)
{
    for (size_t i = 0; i < c->subject_count; i++) {
        pythia_free(c->subjects[i].name);
        pythia_free(c->subjects[i].command);
    }
    pythia_free(c->subjects);
    pythia_regress_destroy(c->regress);
}

static struct comparing begin_comparing(const struct settings *s, const char *base,
                                        const char *candidate)
{
    return (struct comparing){.s = s,
                              .result = {.base = base,
                                         .candidate = candidate,
                                         .alpha = s->alpha,
                                         .effect = s->effect,
                                         .all = s->all}};
}

static int run_runs_compare(const void *settings, char *const *operands, int count)
{
    struct comparing c = begin_comparing(settings, operands[0], operands[1]);
    (void)count;
    int code = compare_tags(&c, false);
    if (code == PYTHIA__EXIT_DONE && c.result.count == 0)
        code = PYTHIA__EXIT_TOO_FEW;
    free_comparing(&c);
    return code;
}

/* Is there a row of this benchmark that got worse? */
static bool got_worse(const struct comparing *c, const char *name)
{
    for (size_t i = 0; i < c->result.count; i++)
        if (c->result.rows[i].verdict == PYTHIA_REGRESS_WORSE &&
            strcmp(c->result.rows[i].benchmark, name) == 0)
            return true;
    return false;
}

static int escalate_all(const struct comparing *c)
{
    char path[4096];
    struct pythia_error why = {0};
    const char *db = c->s->runs.db;
    if (!db && pythia_run_store_default(false, path, sizeof(path), &why) == PYTHIA_OK)
        db = path;
    int worst = PYTHIA__EXIT_DONE;
    for (size_t i = 0; db && i < c->subject_count; i++) {
        if (!got_worse(c, c->subjects[i].name))
            continue;
        int code = pythia__escalate(db, c->subjects[i].command, c->subjects[i].name,
                                    c->result.candidate, c->s->escalate);
        worst = worst == PYTHIA__EXIT_DONE ? code : worst;
    }
    return worst;
}

#define EXIT_REGRESSION 3

static int run_regress(const void *settings, char *const *operands, int count)
{
    const struct settings *s = settings;
    struct comparing c = begin_comparing(s, s->base, s->candidate);
    (void)operands;
    (void)count;
    if (!s->base || !s->candidate) {
        pythia_log(PYTHIA_LOG_ERROR, "expected --base TAG and --candidate TAG");
        return PYTHIA__EXIT_USAGE;
    }
    int code = compare_tags(&c, true);
    if (code == PYTHIA__EXIT_DONE) {
        size_t worse = pythia__compare_count(&c.result, PYTHIA_REGRESS_WORSE);
        size_t few = pythia__compare_count(&c.result, PYTHIA_REGRESS_TOO_FEW);
        if (worse > 0)
            code = EXIT_REGRESSION;
        else if (few == c.result.count) /* also if there is none */
            code = PYTHIA__EXIT_TOO_FEW;
        if (worse > 0 && s->escalate && escalate_all(&c) != PYTHIA__EXIT_DONE)
            code = PYTHIA__EXIT_FAILED;
    }
    free_comparing(&c);
    return code;
}

const struct pythia__command pythia__cmd_runs_compare = {
    .name = "runs compare",
    .operands = "BASE CANDIDATE",
    .summary = "Compare the runs of two tags, number by number",
    .description =
        "Compares the runs that have the tag BASE with those that have the tag CANDIDATE: for "
        "each benchmark (or command), each recorded number and each callpath, the medians, the "
        "shift between them with its interval (Hodges and Lehmann), and whether it is significant "
        "(Mann and Whitney, adjusted over all comparisons by Benjamini and Hochberg). Callpaths "
        "are compared by their exclusive time in a run.",
    .examples = "# What changed between two versions?\n"
                "pythia run --db runs.db --tag v1 --repeat 6 -- sort README.md > /dev/null\n"
                "pythia run --db runs.db --tag v2 --repeat 6 -- sort README.md > /dev/null\n"
                "pythia runs compare --db runs.db v1 v2\n",
    .exits = "0 done, 1 failed (also: there is no file of runs), 2 wrong usage, 4 no benchmark has "
             "runs of both tags.",
    .see_also = "pythia-run(1), pythia-runs-list(1), pythia-runs-regress(1), pythia-runs(7)",
    .options = compare_options,
    .read_offset = PYTHIA__READS_NOTHING,
    .settings_size = sizeof(struct settings),
    .operands_min = 2,
    .operands_max = 2,
    .run = run_runs_compare,
};

const struct pythia__command pythia__cmd_runs_regress = {
    .name = "runs regress",
    .operands = "",
    .summary = "Fail if the runs of one tag are worse than the runs of another",
    .description =
        "Tests whether the runs of --candidate take more time or memory than the runs of --base, "
        "per benchmark (or command), as pythia runs compare does, and exits with 3 if so: a step "
        "of a CI pipeline. A number got worse if the shift is at least --effect of the earlier "
        "median and significant: the one-sided p-value of Mann and Whitney, adjusted by Benjamini "
        "and Hochberg over all comparisons, is at most --alpha, of which the wall-clock time, or "
        "the "
        "numbers of --metric, have nine tenths. With the default, it takes at least five runs of "
        "each tag to find anything.\n\n"
        "With --escalate, the command of each benchmark that got worse is run once more with "
        "trace points (pythia-run(1), --points), recorded with the tag CANDIDATE+trace, and its "
        "traces are diagnosed as pythia replay does; the verdict is recorded with that run. "
        "Nothing is run if nothing got worse.",
    .examples = "# In a pipeline: compare this commit with the main branch\n"
                "pythia runs regress --db runs.db --base v1 --candidate v1 --format junit "
                "--output regress.xml\n",
    .exits = "0 nothing got worse, 1 failed, 2 wrong usage, 3 something got worse, 4 too few runs.",
    .see_also = "pythia-run(1), pythia-runs-list(1), pythia-runs-compare(1), pythia-runs(7)",
    .options = regress_options,
    .read_offset = PYTHIA__READS_NOTHING,
    .settings_size = sizeof(struct settings),
    .operands_min = 0,
    .operands_max = 0,
    .run = run_regress,
};
