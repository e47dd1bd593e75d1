/* `pythia runs list` and `pythia runs show`. */
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "pythia/log.h"
#include "pythia/run_json.h"
#include "pythia/shown_text.h"
#include "pythia/status.h"
#include "runs_filter.h"
#include "shared/command.h"

enum { FORM_TEXT, FORM_JSON };

/* ---- list ---- */

struct list_settings {
    struct pythia__runs_settings runs;
    int format;
    const char *output;
};

static const struct pythia_option list_options[] = {
    PYTHIA__RUNS_OPTIONS(offsetof(struct list_settings, runs)),
    PYTHIA__RUNS_TAG(offsetof(struct list_settings, runs)),
    PYTHIA_CHOICE("format", 'f', "text|json", "text", offsetof(struct list_settings, format),
                  "Format of the output: a table, or one JSON object per line"),
    PYTHIA_TEXT_OPTION("output", 'o', "FILE", offsetof(struct list_settings, output),
                       "Write to a file (default standard output)"),
    {0},
};

struct listing {
    struct pythia_buf text;
    int format;
    size_t count;
};

/* A number in its column, right-aligned as numbers are compared. */
static void add_list_cell(struct pythia_buf *to, const struct pythia_run *run,
                          enum pythia_run_metric metric, int width)
{
    struct pythia_buf cell = {0};
    int64_t value = run->metrics[metric];
    pythia__runs_add_value(&cell, pythia_run_metrics[metric].unit,
                           value < 0 ? (double)NAN : (double)value);
    pythia_buf_printf(to, "  %*s", width, cell.bytes ? cell.bytes : "");
    if (pythia_buf_status(&cell) != PYTHIA_OK)
        to->failed = 1;
    pythia_buf_free(&cell);
}

static int list_run(void *context, const struct pythia_run *run)
{
    struct listing *l = context;
    l->count++;
    if (l->format == FORM_JSON)
        return pythia_run_json(run, &l->text);
    if (l->count == 1)
        pythia_buf_puts(&l->text, "    run  started              tag               wall       cpu"
                                  "    max-rss  exit  command\n");
    pythia_buf_printf(&l->text, "%7" PRId64 "  ", run->id);
    pythia__runs_add_time(&l->text, run->started_ns);
    struct pythia_text tag = pythia_text_of(run->tag ? run->tag : "-");
    size_t columns = pythia_glyph_count(tag) < 12 ? pythia_glyph_count(tag) : 12;
    pythia_buf_puts(&l->text, "  ");
    pythia_shown_add(&l->text, tag, 12);
    pythia_buf_printf(&l->text, "%*s", (int)(12 - columns), "");
    add_list_cell(&l->text, run, PYTHIA_RUN_WALL_NS, 8);
    add_list_cell(&l->text, run, PYTHIA_RUN_CPU_NS, 8);
    add_list_cell(&l->text, run, PYTHIA_RUN_MAX_RSS, 9);
    if (run->signal)
        pythia_buf_printf(&l->text, "  %4d  ", -run->signal);
    else if (run->exit_status >= 0)
        pythia_buf_printf(&l->text, "  %4d  ", run->exit_status);
    else
        pythia_buf_puts(&l->text, "     -  ");
    pythia__runs_add_name(&l->text, run, 60);
    pythia_buf_putc(&l->text, '\n');
    return pythia_buf_status(&l->text);
}

static int run_list(const void *settings, char *const *operands, int count)
{
    const struct list_settings *s = settings;
    struct pythia__runs_filter f;
    struct listing l = {.format = s->format};
    (void)operands;
    (void)count;
    int code = pythia__runs_begin(&f, &s->runs);
    if (code == PYTHIA__EXIT_DONE)
        code = pythia__runs_write(s->output, &l.text, pythia__runs_each(&f, 0, list_run, &l));
    if (code == PYTHIA__EXIT_DONE && l.count == 0) {
        pythia_log(PYTHIA_LOG_WARNING, "No run matches (pythia runs list shows all runs)");
        code = PYTHIA__EXIT_TOO_FEW;
    }
    pythia__runs_end(&f);
    return code;
}

#define EXITS_LIST                                                                                 \
    "0 done, 1 failed (also: there is no file of runs), 2 wrong usage, 4 no run matches."
#define SEE_RUNS                                                                                   \
    "pythia-run(1), pythia-runs-show(1), pythia-runs-trend(1), pythia-runs-compare(1), "           \
    "pythia-runs-regress(1), pythia-runs(7)"

const struct pythia__command pythia__cmd_runs_list = {
    .name = "runs list",
    .operands = "",
    .summary = "List recorded runs",
    .description = "Lists the runs that pythia run has recorded, in order of their start, with "
                   "wall-clock time, CPU time (user and system), peak resident memory, and exit "
                   "status; for a run ended by a signal, minus the number of the signal.",
    .examples = "# The last ten runs of a command\n"
                "pythia runs list --db runs.db --command sort --last 10\n",
    .exits = EXITS_LIST,
    .see_also = SEE_RUNS,
    .options = list_options,
    .read_offset = PYTHIA__READS_NOTHING,
    .settings_size = sizeof(struct list_settings),
    .operands_min = 0,
    .operands_max = 0,
    .run = run_list,
};

/* ---- show ---- */

struct show_settings {
    struct pythia__runs_settings runs;
    int format;
    const char *output;
};

static const struct pythia_option show_options[] = {
    PYTHIA__RUNS_DB(offsetof(struct show_settings, runs)),
    PYTHIA_CHOICE("format", 'f', "text|json", "text", offsetof(struct show_settings, format),
                  "Format of the output"),
    PYTHIA_TEXT_OPTION("output", 'o', "FILE", offsetof(struct show_settings, output),
                       "Write to a file (default standard output)"),
    {0},
};

static void add_fact(struct pythia_buf *to, const char *name, const char *value)
{
    if (!value)
        return;
    pythia_buf_printf(to, "%-22s", name);
    pythia_shown_add(to, pythia_text_of(value), SIZE_MAX);
    pythia_buf_putc(to, '\n');
}

static void add_shown_output(struct pythia_buf *to, const char *name, struct pythia_text head,
                             int64_t all)
{
    if (all <= 0)
        return;
    pythia_buf_printf(to, "\n%s, %" PRId64 " bytes", name, all);
    if ((int64_t)head.size < all)
        pythia_buf_printf(to, " (the first %zu)", head.size);
    pythia_buf_puts(to, "\n");
    while (head.size > 0) {
        const char *end = memchr(head.bytes, '\n', head.size);
        size_t size = end ? (size_t)(end - head.bytes) : head.size;
        pythia_buf_puts(to, "  ");
        pythia_shown_add(to, (struct pythia_text){head.bytes, size}, SIZE_MAX);
        pythia_buf_putc(to, '\n');
        head.bytes += size + (end != NULL);
        head.size -= size + (end != NULL);
    }
}

static void add_shown_callpaths(struct pythia_buf *to, const struct pythia_run *run)
{
    if (run->callpath_count == 0)
        return;
    pythia_buf_puts(to, "\n   calls    total ms  exclusive ms      p50 us      p99 us  callpath\n");
    for (size_t i = 0; i < run->callpath_count; i++) {
        const struct pythia_run_callpath *c = &run->callpaths[i];
        pythia_buf_printf(to, "%8" PRId64 " %11.3f %13.3f %11.1f %11.1f  ", c->calls,
                          (double)c->sum_ns / 1e6, (double)c->exclusive_ns / 1e6,
                          (double)c->p50_ns / 1e3, (double)c->p99_ns / 1e3);
        pythia_shown_add(to, pythia_text_of(c->path), SIZE_MAX);
        pythia_buf_putc(to, '\n');
    }
}

static void show_facts(struct pythia_buf *to, const struct pythia_run *run)
{
    struct pythia_buf text = {0};
    pythia_run_command_show(run->command, &text);
    pythia_buf_printf(to, "run %" PRId64 "\n", run->id);
    add_fact(to, "command", text.bytes);
    pythia_buf_clear(&text);
    pythia__runs_add_time(&text, run->started_ns);
    add_fact(to, "started", text.bytes);
    add_fact(to, "suite", run->suite);
    add_fact(to, "benchmark", run->benchmark);
    add_fact(to, "tag", run->tag);
    add_fact(to, "description", run->description);
    if (run->signal || run->exit_status >= 0)
        pythia_buf_printf(to, "%-22s%d\n", run->signal ? "signal" : "exit status",
                          run->signal ? run->signal : run->exit_status);
    for (int m = 0; m < PYTHIA_RUN_METRICS; m++) {
        if (run->metrics[m] < 0)
            continue;
        pythia_buf_clear(&text);
        pythia__runs_add_value(&text, pythia_run_metrics[m].unit, (double)run->metrics[m]);
        add_fact(to, pythia_run_metrics[m].name, text.bytes);
    }
    add_fact(to, "host", run->host.name);
    add_fact(to, "system", run->host.uname);
    add_fact(to, "cpu", run->host.cpu_model);
    pythia_buf_clear(&text);
    pythia_buf_puts(&text, run->git_commit ? run->git_commit : "");
    pythia_buf_puts(&text, run->git_dirty == 1 ? ", with changes" : "");
    add_fact(to, "git commit", run->git_commit ? text.bytes : NULL);
    for (size_t i = 0; i < run->meta_count; i++)
        add_fact(to, run->meta[i].key, run->meta[i].value);
    if (pythia_buf_status(&text) != PYTHIA_OK)
        to->failed = 1;
    pythia_buf_free(&text);
}

/* "42 worker: cpu 1.2 s, max_rss 20 MiB, faults 3 major, 812 minor, 180 spans, own time 0.9 s" */
static void add_shown_processes(struct pythia_buf *to, const struct pythia_run *run)
{
    for (size_t i = 0; i < run->process_count; i++) {
        const struct pythia_run_process *p = &run->processes[i];
        pythia_buf_printf(to, "%s  %" PRId64 " ", i ? "" : "\nprocesses\n", p->pid);
        pythia_shown_add(to, pythia_text_of(p->name ? p->name : "?"), 60);
        if (p->user_ns >= 0 && p->sys_ns >= 0) {
            pythia_buf_puts(to, ": cpu ");
            pythia__runs_add_value(to, PYTHIA_RUN_NANOSECONDS, (double)(p->user_ns + p->sys_ns));
            pythia_buf_puts(to, ", max_rss ");
            pythia__runs_add_value(to, PYTHIA_RUN_BYTES, (double)p->max_rss_bytes);
            pythia_buf_printf(to, ", faults %" PRId64 " major, %" PRId64 " minor, ",
                              p->major_faults, p->minor_faults);
        } else {
            pythia_buf_puts(to, ": killed, or ended by _exit; ");
        }
        pythia_buf_printf(to, "%" PRId64 " spans, own time ", p->spans);
        pythia__runs_add_value(to, PYTHIA_RUN_NANOSECONDS, (double)p->exclusive_ns);
        pythia_buf_putc(to, '\n');
    }
}

static int show_run(void *context, const struct pythia_run *run)
{
    struct listing *l = context;
    l->count++;
    if (l->format == FORM_JSON)
        return pythia_run_json(run, &l->text);
    show_facts(&l->text, run);
    for (size_t i = 0; i < run->finding_count; i++) {
        pythia_buf_puts(&l->text, i ? "" : "\nfindings\n");
        pythia_buf_puts(&l->text, "  ");
        pythia_shown_add(&l->text, pythia_text_of(run->findings[i].type), 60);
        pythia_buf_puts(&l->text, ": ");
        pythia_shown_add(&l->text, pythia_text_of(run->findings[i].sentence), SIZE_MAX);
        pythia_buf_putc(&l->text, '\n');
    }
    add_shown_callpaths(&l->text, run);
    add_shown_processes(&l->text, run);
    for (size_t i = 0; i < run->artifact_count; i++)
        pythia_buf_printf(&l->text, "\nprofile (%s, %zu bytes): %s\n", run->artifacts[i].kind,
                          run->artifacts[i].body.size, run->artifacts[i].name);
    add_shown_output(&l->text, "standard output", run->output[0], run->output_bytes[0]);
    add_shown_output(&l->text, "standard error", run->output[1], run->output_bytes[1]);
    return pythia_buf_status(&l->text);
}

static int run_runs_show(const void *settings, char *const *operands, int count)
{
    const struct show_settings *s = settings;
    struct pythia__runs_filter f;
    struct listing l = {.format = s->format};
    (void)count;
    int code = pythia__runs_begin(&f, &s->runs);
    if (code == PYTHIA__EXIT_DONE)
        code = pythia__runs_number(operands[0], &f.filter.id);
    if (code == PYTHIA__EXIT_DONE)
        code = pythia__runs_write(s->output, &l.text, pythia__runs_each(&f, ~0u, show_run, &l));
    if (code == PYTHIA__EXIT_DONE && l.count == 0) {
        pythia_log(PYTHIA_LOG_ERROR, "There is no run %s (pythia runs list shows all runs)",
                   operands[0]);
        code = PYTHIA__EXIT_TOO_FEW;
    }
    pythia__runs_end(&f);
    return code;
}

const struct pythia__command pythia__cmd_runs_show = {
    .name = "runs show",
    .operands = "RUN",
    .summary = "Show everything recorded about a run",
    .description = "Shows everything that was recorded about the run with this number: its "
                   "numbers, machine, commit, data, callpaths, processes, findings, and output.",
    .examples = "# The first run of a file\n"
                "pythia runs show --db runs.db 1\n",
    .exits = EXITS_LIST,
    .see_also = SEE_RUNS ", pythia-runs-flame(1)",
    .options = show_options,
    .read_offset = PYTHIA__READS_NOTHING,
    .settings_size = sizeof(struct show_settings),
    .operands_min = 1,
    .operands_max = 1,
    .run = run_runs_show,
};
