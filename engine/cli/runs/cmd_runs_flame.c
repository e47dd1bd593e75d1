/* `pythia runs flame`: where the time of a run went, as a picture. */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "pythia/flame.h"
#include "pythia/log.h"
#include "pythia/status.h"
#include "runs_filter.h"
#include "shared/command.h"

struct settings {
    struct pythia__runs_settings runs;
    int64_t diff;
    int format;
    const char *output;
};

static const struct pythia_option options[] = {
    PYTHIA__RUNS_DB(offsetof(struct settings, runs)),
    PYTHIA_INTEGER("diff", 0, "RUN", "0", 0, 9e15, offsetof(struct settings, diff),
                   "Compare with this later run: its times give the widths, and colours show what "
                   "grew (red) and shrank (blue)"),
    PYTHIA_CHOICE("format", 'f', "svg|folded", "svg", offsetof(struct settings, format),
                  "Format of the output: a picture for a browser, or folded stacks for other "
                  "tools"),
    PYTHIA_TEXT_OPTION("output", 'o', "FILE", offsetof(struct settings, output),
                       "Write to a file (default standard output)"),
    {0},
};

struct drawing {
    struct pythia_flame *flame;
    int side;
    size_t runs, stacks;
    char title[400];
    bool folded; /* from a profiler's output: its numbers have no unit */
};

static int add_flame_callpaths(struct drawing *d, const struct pythia_run *run)
{
    for (size_t i = 0; i < run->callpath_count; i++) {
        const struct pythia_run_callpath *c = &run->callpaths[i];
        int status =
            pythia_flame_add(d->flame, pythia_text_of(c->path), d->side, (double)c->exclusive_ns);
        if (status != PYTHIA_OK)
            return status;
        d->stacks++;
    }
    return PYTHIA_OK;
}

/* A run without traces may have the folded stacks of a profiler. */
static int add_folded(struct drawing *d, const struct pythia_run *run)
{
    for (size_t i = 0; i < run->artifact_count && d->stacks == 0; i++) {
        struct pythia_error why = {0};
        char text[700];
        if (strcmp(run->artifacts[i].kind, "folded") != 0)
            continue;
        int status = pythia_flame_add_folded(d->flame, run->artifacts[i].body, d->side, &why);
        if (status != PYTHIA_OK) {
            pythia_log(PYTHIA_LOG_ERROR, "run %" PRId64 ": what the profiler wrote: %s", run->id,
                       pythia_error_text(&why, text, sizeof(text)));
            return status;
        }
        d->stacks++;
        d->folded = true;
    }
    return PYTHIA_OK;
}

/* Call paths come from traces and folded stacks from a profiler; where a run has both, its call
 * paths count. */
static int add_flame_run(void *context, const struct pythia_run *run)
{
    struct drawing *d = context;
    struct pythia_buf name = {0};
    d->runs++;
    pythia__runs_add_name(&name, run, 80);
    size_t used = strlen(d->title);
    snprintf(d->title + used, sizeof(d->title) - used, "%srun %" PRId64 " %s", used ? " and " : "",
             run->id, name.bytes ? name.bytes : "");
    pythia_buf_free(&name);
    int status = add_flame_callpaths(d, run);
    if (status != PYTHIA_OK)
        return status;
    return d->stacks == 0 ? add_folded(d, run) : PYTHIA_OK;
}

static int read_flame_run(struct pythia__runs_filter *f, struct drawing *d, int side, int64_t id)
{
    f->filter.id = id;
    d->side = side;
    d->runs = d->stacks = 0;
    d->folded = false;
    int status = pythia__runs_each(f, PYTHIA_RUN_WITH_CALLPATHS | PYTHIA_RUN_WITH_ARTIFACTS,
                                   add_flame_run, d);
    if (status != PYTHIA_OK)
        return status;
    if (d->runs == 0) {
        pythia_log(PYTHIA_LOG_ERROR,
                   "There is no run %" PRId64 " (pythia runs list shows all runs)", id);
        return PYTHIA_EUSAGE;
    }
    if (d->stacks == 0) {
        pythia_log(PYTHIA_LOG_ERROR,
                   "Run %" PRId64 " has neither traces (pythia run --points) nor folded stacks "
                   "(--profiler)",
                   id);
        return PYTHIA_EUSAGE;
    }
    return PYTHIA_OK;
}

/* Time in calls and samples of a profiler cannot be compared. */
static int read_second_run(struct pythia__runs_filter *f, struct drawing *d, int64_t first,
                           int64_t second)
{
    bool folded = d->folded;
    int status = read_flame_run(f, d, 1, second);
    if (status != PYTHIA_OK || d->folded == folded)
        return status;
    pythia_log(PYTHIA_LOG_ERROR,
               "Runs %" PRId64 " and %" PRId64 " cannot be compared: one has traces, and the other "
               "only folded stacks of a profiler",
               first, second);
    return PYTHIA_EUSAGE;
}

static int draw_runs(const struct settings *s, struct pythia__runs_filter *f, struct drawing *d,
                     int64_t id, struct pythia_buf *text)
{
    int status = read_flame_run(f, d, 0, id);
    if (status != PYTHIA_OK)
        return status;
    if (s->diff)
        status = read_second_run(f, d, id, s->diff);
    if (status != PYTHIA_OK)
        return status;
    struct pythia_flame_options style = {.title = d->title,
                                         .diff = s->diff != 0,
                                         .unit = d->folded ? "samples" : "ms",
                                         .scale = d->folded ? 1 : 1e6};
    return s->format ? pythia_flame_folded(d->flame, text)
                     : pythia_flame_svg(d->flame, &style, text);
}

static int run_flame(const void *settings, char *const *operands, int count)
{
    const struct settings *s = settings;
    struct pythia__runs_filter f;
    struct drawing d = {0};
    struct pythia_buf text = {0};
    int64_t id = 0;
    (void)count;
    int code = pythia__runs_begin(&f, &s->runs);
    if (code == PYTHIA__EXIT_DONE)
        code = pythia__runs_number(operands[0], &id);
    if (code == PYTHIA__EXIT_DONE) {
        int status = pythia_flame_create(&d.flame);
        status = status != PYTHIA_OK ? status : draw_runs(s, &f, &d, id, &text);
        code = status == PYTHIA_EUSAGE ? PYTHIA__EXIT_TOO_FEW
                                       : pythia__runs_write(s->output, &text, status);
    }
    pythia_buf_free(&text);
    pythia_flame_destroy(d.flame);
    pythia__runs_end(&f);
    return code;
}

const struct pythia__command pythia__cmd_runs_flame = {
    .name = "runs flame",
    .operands = "RUN",
    .summary = "Draw the flame graph of a run, or of the difference of two",
    .description =
        "Draws where the time of a run went: the callpaths of its traces, or the folded stacks "
        "that a profiler recorded. The picture is one self-contained SVG file: a click enlarges a "
        "frame, Ctrl-F searches, hovering shows times and shares. With --diff the widths are "
        "those of the second run, and the colours show what changed.",
    .examples = "# Where does the time of a run go?\n"
                "printf '[{\"name\": \"read\", \"function\": \"read\"}]' > points.json\n"
                "pythia run --db flame.db --points points.json -- wc README.md\n"
                "pythia runs flame --db flame.db 1 --output flame.svg\n",
    .exits = "0 done, 1 failed, 2 wrong usage, 4 there is no such run, or it has no callpaths.",
    .see_also = "pythia-run(1), pythia-runs-show(1), pythia-runs(7)",
    .options = options,
    .read_offset = PYTHIA__READS_NOTHING,
    .settings_size = sizeof(struct settings),
    .operands_min = 1,
    .operands_max = 1,
    .run = run_flame,
};
