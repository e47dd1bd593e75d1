#include <stddef.h>
#include <string.h>

#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/series_report.h"
#include "pythia/status.h"
#include "shared/command.h"
#include "shared/series_options.h"
#include "shared/terminal.h"

struct settings {
    int format, of;
    const char *output, *over;
    struct pythia_option_texts labels;
    int64_t process;
    bool each, quiet, follow_symlinks;
    double step_s;
};

#define OPTION(member) offsetof(struct settings, member)

static const struct pythia_option options[] = {
    {"label", 'l', PYTHIA_OPTION_TEXTS, "LABEL", NULL, NULL, 0, 0, OPTION(labels),
     "Series to show; may be given several times (default all)"},
    PYTHIA_INTEGER("pid", 0, "PID", "-1", -1, 4294967295.0, OPTION(process),
                   "Show only measurements of this process; -1: of all"),
    PYTHIA_FLAG("each", 0, OPTION(each), "Show each process separately"),
    PYTHIA_REAL("resample", 0, "SECONDS", "0", 0, 1e9, OPTION(step_s),
                "Also show values for intervals of this length; 0: only statistics"),
    PYTHIA_CHOICE("of", 0, "mean|count|sum|min|max|last", "mean", OPTION(of),
                  "Value of an interval"),
    PYTHIA_TEXT_OPTION("over", 0, "LABEL", OPTION(over),
                       "Divide each series by this one, interval by interval"),
    PYTHIA_CHOICE("format", 'f', "text|json|markdown|html|svg", "text", OPTION(format),
                  "Format of the output; html and svg draw 240 intervals unless --resample is "
                  "given"),
    PYTHIA_TEXT_OPTION("output", 'o', "FILE", OPTION(output),
                       "Write to a file, which is replaced only when the output is complete "
                       "(default standard output)"),
    PYTHIA_FLAG("follow-symlinks", 0, OPTION(follow_symlinks),
                "Follow symbolic links that lead out of a folder"),
    PYTHIA_FLAG("quiet", 'q', OPTION(quiet), "Log only warnings and errors"),
    {0},
};

struct choosing {
    const struct settings *s;
    struct pythia_series_set *set;
    struct pythia_series_files_result input;
    struct pythia_series *chosen;
    size_t count;
};

static bool is_wanted_series(const struct settings *s, const struct pythia_series *series)
{
    bool wanted = s->labels.count == 0;
    for (size_t i = 0; i < s->labels.count && !wanted; i++)
        wanted = pythia_text_equal(series->label, pythia_text_of(s->labels.texts[i]));
    return wanted && (s->process < 0 || series->process == (uint64_t)s->process);
}

/* NULL: of all processes. */
static const struct pythia_series *series_of(const struct choosing *c, size_t *count)
{
    return c->s->each || c->s->process >= 0 ? pythia_series_each(c->set, count)
                                            : pythia_series_all(c->set, count);
}

static int choose_series(struct choosing *c)
{
    size_t count;
    const struct pythia_series *all = series_of(c, &count);
    c->chosen = pythia_calloc(count, sizeof(*c->chosen));
    if (!c->chosen)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < count; i++)
        if (is_wanted_series(c->s, &all[i]))
            c->chosen[c->count++] = all[i];
    return PYTHIA_OK;
}

/* The series to divide by: of the same process if one was asked for. */
static const struct pythia_series *find_over(const struct choosing *c)
{
    size_t count;
    const struct pythia_series *all =
        c->s->process >= 0 ? pythia_series_each(c->set, &count) : pythia_series_all(c->set, &count);
    for (size_t i = 0; i < count; i++)
        if (pythia_text_equal(all[i].label, pythia_text_of(c->s->over)) &&
            (c->s->process < 0 || all[i].process == (uint64_t)c->s->process))
            return &all[i];
    return NULL;
}

/* Names that were asked for and are not there. */
static bool report_missing_labels(const struct choosing *c)
{
    bool missing = false;
    for (size_t i = 0; i < c->s->labels.count; i++) {
        bool found = false;
        for (size_t k = 0; k < c->count; k++)
            found |= pythia_text_equal(c->chosen[k].label, pythia_text_of(c->s->labels.texts[i]));
        if (!found)
            pythia_log(PYTHIA_LOG_ERROR,
                       "There is no series '%s'%s (leave out --label to list them all)",
                       c->s->labels.texts[i], c->s->process >= 0 ? " from that process" : "");
        missing |= !found;
    }
    return missing;
}

/* A quotient has no meaning without intervals, so dividing by a series always makes them. */
static int write_chosen_series(const struct choosing *c)
{
    struct pythia_series_asked asked = {.series = c->chosen,
                                        .count = c->count,
                                        .input = &c->input,
                                        .step_s = c->s->step_s,
                                        .how = (enum pythia_resampling)c->s->of,
                                        .plotted = c->s->over ||
                                                   c->s->format == PYTHIA_SERIES_HTML ||
                                                   c->s->format == PYTHIA_SERIES_SVG};
    const struct pythia__terminal terminal = pythia__terminal_of(c->s->output);
    const struct pythia_report_view view = {terminal.width, terminal.colour, terminal.ascii};
    struct pythia_buf text = {0};
    if (c->s->over && !(asked.over = find_over(c))) {
        pythia_log(PYTHIA_LOG_ERROR, "There is no series '%s' to divide by", c->s->over);
        return PYTHIA_ENOTFOUND;
    }
    int status =
        pythia_series_report_write(&asked, (enum pythia_series_format)c->s->format, &view, &text);
    if (status == PYTHIA_EUSAGE)
        pythia_log(
            PYTHIA_LOG_ERROR,
            "--resample %g makes more than %d intervals; choose longer ones, or fewer series",
            c->s->step_s, PYTHIA_SERIES_INTERVALS);
    status = pythia__write_text(c->s->output, status, &text);
    return status;
}

static int exit_of_series(const struct choosing *c, int status, size_t problems)
{
    if (status == PYTHIA_EUSAGE)
        return PYTHIA__EXIT_USAGE;
    if (status == PYTHIA_ENOMEM)
        return pythia__fail(status);
    if (status != PYTHIA_OK || problems)
        return PYTHIA__EXIT_FAILED;
    return c->input.csv.rows ? PYTHIA__EXIT_DONE : PYTHIA__EXIT_TOO_FEW;
}

static int run_series(const void *settings, char *const *operands, int count)
{
    struct choosing c = {.s = settings};
    size_t problems = 0;
    pythia_log_setup("pythia", c.s->quiet ? PYTHIA_LOG_WARNING : PYTHIA_LOG_INFO);
    int code;
    int status = pythia__series_read((const char *const *)operands, (size_t)count,
                                     c.s->follow_symlinks, &c.set, &c.input, &problems);
    if (status != PYTHIA_OK || (status = choose_series(&c)) != PYTHIA_OK)
        goto out;
    if (report_missing_labels(&c)) {
        status = PYTHIA_ENOTFOUND;
        goto out;
    }
    status = write_chosen_series(&c);
out:
    code = exit_of_series(&c, status, problems);
    pythia_free(c.chosen);
    pythia_series_set_destroy(c.set);
    return code;
}

const struct pythia__command pythia__cmd_series = {
    .name = "series",
    .operands = "PATH...",
    .summary = "Show measurements over time, from CSV files",
    .description =
        "Reads series of measurements as written by the collector of libpythia-tracepoints and by "
        "QuantumLeap: rows of Timepoint, Measurement, Label and PID. For each series it shows the "
        "number of measurements, their rate (from the first second to the last), mean, standard "
        "deviation, extremes and quantiles. Durations are in seconds, memory is in KiB.\n\n"
        "Each PATH is a file, or a folder whose *.csv files are read; other programs may write to "
        "the folder and remove files meanwhile. A file left by a killed process, whose name ends "
        "in .tmp, is read up to its last complete row, and reported. Rows that cannot be read are "
        "skipped, counted, and reported with file and line.\n\n"
        "With --resample, values of intervals are shown too; intervals begin at multiples of "
        "their length. pythia replay --series joins series with requests.",
    .examples = "# List all series with their statistics\n"
                "pythia series /var/tmp/shop\n"
                "# Requests per second of one process\n"
                "pythia series --label '/v2/notify [POST]' --pid 4711 --resample 1 --of count "
                "/var/tmp/shop\n"
                "# CPU time per second of requests\n"
                "pythia series --label 'user time' --over checkout --resample 10 /var/tmp/shop\n"
                "# A picture\n"
                "pythia series --format svg --output shop.svg /var/tmp/shop\n",
    .exits = "0 done, 1 failed (also: part of the input could not be read), 2 wrong usage, 4 no "
             "measurement.",
    .see_also = "pythia-replay(1), libpythia-tracepoints(3), pythia-measurements(5)",
    .options = options,
    .read_offset = PYTHIA__READS_NOTHING,
    .settings_size = sizeof(struct settings),
    .operands_min = 1,
    .operands_max = -1,
    .run = run_series,
};
