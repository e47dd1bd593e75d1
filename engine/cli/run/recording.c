#define _GNU_SOURCE
#include "recording.h"

#include <inttypes.h>
#include <pthread.h>
#include <regex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "late_git.h"
#include "processes.h"
#include "profilers.h"
#include "pythia/bill.h"
#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/run_callpaths.h"
#include "pythia/run_json.h"
#include "pythia/status.h"
#include "shared/command.h"

/* Variables that change how fast a program is, or what it does. Everything else of an environment
 * may be a secret, and is recorded only if it is named. */
static const char *const known_variables[] = {
    "CC",
    "CFLAGS",
    "CXXFLAGS",
    "GODEBUG",
    "GOGC",
    "GOMAXPROCS",
    "GOMEMLIMIT",
    "JAVA_TOOL_OPTIONS",
    "LANG",
    "LC_ALL",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "MALLOC_ARENA_MAX",
    "NODE_OPTIONS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "PYTHONHASHSEED",
    "PYTHONMALLOC",
    "RUSTFLAGS",
    "TZ",
};
#define KNOWN_VARIABLES (sizeof(known_variables) / sizeof(known_variables[0]))

#define BESIDE_NICE 10

/* The data of the suite, of --meta and of --environment. */
#define PAIRS_MAX (KNOWN_VARIABLES + (size_t)3 * PYTHIA_OPTION_TEXTS_MAX)

/* The file of runs is opened, and the machine looked at, while the program runs. */
struct opening {
    pthread_t thread;
    bool has_thread;
    struct pythia_run_store *store; /* NULL: `why` says why */
    struct pythia_error why;
};

struct pythia__recording {
    const struct pythia__recording_settings *s;
    char path[4096]; /* of the file of runs */
    struct pythia_run_context context;
    bool has_context;
    struct pythia__late_git late;
    bool slow_git; /* it is not asked any more */
    bool asks_git; /* about the run that is made */
    regex_t redactions[PYTHIA_OPTION_TEXTS_MAX];
    size_t redaction_count;
    /* of the run that is made */
    struct opening opening;
    struct pythia_arena arena;
    char key[65];
    struct pythia__profilers profilers;
    struct pythia_run_pair pairs[PAIRS_MAX];
    struct pythia_run_artifact files[PYTHIA_OPTION_TEXTS_MAX];
};

/* ---- before ---- */

static int compile_redactions(struct pythia__recording *r)
{
    for (size_t i = 0; i < r->s->redact.count; i++) {
        char why[200];
        int failed = regcomp(&r->redactions[i], r->s->redact.texts[i], REG_EXTENDED);
        if (failed) {
            regerror(failed, &r->redactions[i], why, sizeof(why));
            pythia_log(PYTHIA_LOG_ERROR, "--redact %s: %s", r->s->redact.texts[i], why);
            return PYTHIA_EUSAGE;
        }
        r->redaction_count++;
    }
    return PYTHIA_OK;
}

static int check_meta(const struct pythia__recording_settings *s)
{
    for (size_t i = 0; i < s->meta.count; i++)
        if (!strchr(s->meta.texts[i], '=') || s->meta.texts[i][0] == '=') {
            pythia_log(PYTHIA_LOG_ERROR, "--meta %s: expected KEY=VALUE", s->meta.texts[i]);
            return PYTHIA_EUSAGE;
        }
    return PYTHIA_OK;
}

static int find_store(struct pythia__recording *r)
{
    struct pythia_error why = {0};
    int status = PYTHIA_OK;
    if (r->s->db)
        snprintf(r->path, sizeof(r->path), "%s", r->s->db);
    else
        status = pythia_run_store_default(true, r->path, sizeof(r->path), &why);
    if (status != PYTHIA_OK || (status = pythia_run_store_check(r->path, &why)) != PYTHIA_OK)
        pythia_log_error(PYTHIA_LOG_ERROR, &why);
    return status;
}

int pythia__recording_begin(const struct pythia__recording_settings *settings,
                            struct pythia__recording **out)
{
    struct pythia__recording *r = pythia_calloc(1, sizeof(*r));
    if (!r) {
        pythia__fail(PYTHIA_ENOMEM);
        return PYTHIA_ENOMEM;
    }
    r->s = settings;
    r->profilers.commands = &settings->profilers;
    int status = check_meta(settings);
    if (status != PYTHIA_OK || (status = compile_redactions(r)) != PYTHIA_OK ||
        (status = find_store(r)) != PYTHIA_OK) {
        pythia__recording_end(r);
        return status;
    }
    r->late.path = r->path;
    *out = r;
    return PYTHIA_OK;
}

void pythia__recording_end(struct pythia__recording *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->redaction_count; i++)
        regfree(&r->redactions[i]);
    pythia__late_git_leave(&r->late);
    pythia_arena_free(&r->arena);
    pythia_free(r);
}

/* ---- redaction ---- */

/* A copy in the arena in which each match of each expression is ***. Bytes that are 0 end a line of
 * a regular expression, so that text is taken piece by piece between them. NULL without memory. */
static bool redact_text(struct pythia__recording *r, struct pythia_text *text)
{
    for (size_t i = 0; i < r->redaction_count; i++) {
        struct pythia_buf out = {0};
        char *copy = pythia_arena_alloc(&r->arena, text->size + 1);
        if (!copy)
            return false;
        memcpy(copy, text->bytes, text->size);
        copy[text->size] = '\0';
        for (size_t at = 0; at <= text->size;) {
            regmatch_t match;
            const char *piece = copy + at;
            size_t size = strlen(piece);
            int flags = at > 0 && copy[at - 1] != '\0' && copy[at - 1] != '\n' ? REG_NOTBOL : 0;
            if (regexec(&r->redactions[i], piece, 1, &match, flags) != 0 ||
                (match.rm_so == match.rm_eo && (size_t)match.rm_eo == size)) {
                pythia_buf_add(&out, piece, size);
                at += size + 1;
                if (at <= text->size)
                    pythia_buf_putc(&out, '\0');
                continue;
            }
            pythia_buf_add(&out, piece, (size_t)match.rm_so);
            if (match.rm_eo > match.rm_so)
                pythia_buf_puts(&out, "***");
            else /* an empty match: go on after one byte */
                pythia_buf_putc(&out, piece[match.rm_eo++]);
            at += (size_t)match.rm_eo;
        }
        char *result = pythia_buf_status(&out) == PYTHIA_OK
                           ? pythia_arena_alloc(&r->arena, out.size + 1)
                           : NULL;
        if (result) {
            memcpy(result, out.bytes ? out.bytes : "", out.size);
            result[out.size] = '\0';
            *text = (struct pythia_text){result, out.size};
        }
        pythia_buf_free(&out);
        if (!result)
            return false;
    }
    return true;
}

static bool redact_string(struct pythia__recording *r, const char **string)
{
    if (!*string || r->redaction_count == 0)
        return true;
    struct pythia_text text = pythia_text_of(*string);
    if (!redact_text(r, &text))
        return false;
    *string = text.bytes;
    return true;
}

/* A copy in the arena with a NUL behind it; NULL without memory. */
static char *copy_to_arena(struct pythia__recording *r, struct pythia_text text)
{
    char *copy = pythia_arena_alloc(&r->arena, text.size + 1);
    if (copy) {
        memcpy(copy, text.bytes, text.size);
        copy[text.size] = '\0';
    }
    return copy;
}

/* The command as a list of redacted words. */
static char *redact_command(struct pythia__recording *r, char *const *arguments)
{
    size_t count = 0;
    while (arguments[count])
        count++;
    char **words = pythia_arena_alloc(&r->arena, (count + 1) * sizeof(*words));
    for (size_t i = 0; words && i < count; i++) {
        struct pythia_text word = pythia_text_of(arguments[i]);
        words[i] = redact_text(r, &word) ? copy_to_arena(r, word) : NULL;
        if (!words[i])
            return NULL;
    }
    if (!words)
        return NULL;
    words[count] = NULL;
    return pythia_run_command(words);
}

/* ---- after ---- */

static void add_meta_pair(struct pythia__recording *r, struct pythia_run *run, const char *key,
                          const char *value)
{
    if (run->meta_count < PAIRS_MAX)
        r->pairs[run->meta_count++] = (struct pythia_run_pair){key, value};
}

/* "env.NAME" of a variable that is set. */
static bool record_variable(struct pythia__recording *r, struct pythia_run *run, const char *name)
{
    const char *value = getenv(name);
    size_t size = strlen(name) + 5;
    if (!value)
        return true;
    char *key = pythia_arena_alloc(&r->arena, size);
    if (!key)
        return false;
    snprintf(key, size, "env.%s", name);
    add_meta_pair(r, run, key, value);
    return true;
}

/* The later pair of one key counts: the command line overrides the file of the suite. */
static bool add_meta_pairs(struct pythia__recording *r, const struct pythia__benchmark *b,
                           struct pythia_run *run)
{
    for (size_t i = 0; i < KNOWN_VARIABLES; i++)
        if (!record_variable(r, run, known_variables[i]))
            return false;
    for (size_t i = 0; i < r->s->environment.count; i++)
        if (!record_variable(r, run, r->s->environment.texts[i]))
            return false;
    for (size_t i = 0; i < b->meta_count; i++)
        add_meta_pair(r, run, b->meta[i].key, b->meta[i].value);
    for (size_t i = 0; i < r->s->meta.count; i++) {
        const char *text = r->s->meta.texts[i], *equals = strchr(text, '=');
        char *key = pythia_arena_alloc(&r->arena, (size_t)(equals - text) + 1);
        if (!key)
            return false;
        memcpy(key, text, (size_t)(equals - text));
        key[equals - text] = '\0';
        add_meta_pair(r, run, key, equals + 1);
    }
    for (size_t i = 0; i < run->meta_count; i++)
        if (!redact_string(r, &r->pairs[i].value))
            return false;
    run->meta = r->pairs;
    return true;
}

static int64_t timeval_ns(struct timeval t)
{
    return (int64_t)t.tv_sec * 1000000000 + (int64_t)t.tv_usec * 1000;
}

/* Processes and overhead are known only from trace records, which come later; -1 means not
 * measured. */
static void set_metrics(const struct pythia__child_result *result, struct pythia_run *run)
{
    const struct rusage *u = &result->usage;
    const int64_t values[PYTHIA_RUN_METRICS] = {
        [PYTHIA_RUN_WALL_NS] = (int64_t)result->wall_ns,
        [PYTHIA_RUN_USER_NS] = timeval_ns(u->ru_utime),
        [PYTHIA_RUN_SYS_NS] = timeval_ns(u->ru_stime),
        [PYTHIA_RUN_CPU_NS] = timeval_ns(u->ru_utime) + timeval_ns(u->ru_stime),
        [PYTHIA_RUN_MAX_RSS] = (int64_t)u->ru_maxrss * 1024,
        [PYTHIA_RUN_MAJOR_FAULTS] = u->ru_majflt,
        [PYTHIA_RUN_MINOR_FAULTS] = u->ru_minflt,
        [PYTHIA_RUN_VOLUNTARY_SWITCHES] = u->ru_nvcsw,
        [PYTHIA_RUN_INVOLUNTARY_SWITCHES] = u->ru_nivcsw,
        [PYTHIA_RUN_IN_BLOCKS] = u->ru_inblock,
        [PYTHIA_RUN_OUT_BLOCKS] = u->ru_oublock,
        [PYTHIA_RUN_READ_BYTES] = result->read_bytes,
        [PYTHIA_RUN_WRITE_BYTES] = result->write_bytes,
        [PYTHIA_RUN_PROCESSES] = -1,
        [PYTHIA_RUN_OVERHEAD_NS] = -1,
    };
    memcpy(run->metrics, values, sizeof(values));
    run->started_ns = result->started_ns;
    run->exit_status = WIFEXITED(result->status) ? WEXITSTATUS(result->status) : -1;
    run->signal = WIFSIGNALED(result->status) ? WTERMSIG(result->status) : 0;
}

static bool set_outputs(struct pythia__recording *r, const struct pythia__capture *capture,
                        struct pythia_run *run)
{
    for (int i = 0; i < 2; i++) {
        run->output[i] = (struct pythia_text){capture->streams[i].head, capture->streams[i].size};
        run->output_bytes[i] = capture->streams[i].all;
        if (run->output[i].size > 0 && !redact_text(r, &run->output[i]))
            return false;
        if (run->output[i].size > PYTHIA_RUN_OUTPUT_MAX) /* *** may be longer than what it hides */
            run->output[i].size = PYTHIA_RUN_OUTPUT_MAX;
    }
    return true;
}

/* ---- traces ---- */

struct trace_reading {
    struct pythia__reading reading;
    struct pythia_profile *profile;
    double cost_ns;             /* of the spans whose price the program has measured */
    uint64_t billed;            /* these spans */
    struct pythia_arena memory; /* of the callpaths */
};

static int begin_callpaths(void *context)
{
    struct trace_reading *t = context;
    const struct pythia_profile_options options = {.by = PYTHIA_PROFILE_CALLPATH,
                                                   .processes = true};
    pythia_profile_destroy(t->profile);
    t->profile = NULL;
    t->cost_ns = 0;
    t->billed = 0;
    return pythia_profile_create(t->reading.vocabulary, &options, &t->profile);
}

static int add_to_callpaths(void *context, const struct pythia_trace *trace)
{
    struct trace_reading *t = context;
    struct pythia_bill bill;
    pythia_bill_of(t->reading.vocabulary, trace, &bill);
    t->cost_ns += bill.cost_ns;
    t->billed += bill.billed;
    return pythia_profile_add(t->profile, trace);
}

/* What only the traces of a run tell of it as a whole. Processes without a span are not counted:
 * they have left no records. */
static void set_traced_metrics(const struct trace_reading *t, struct pythia_run *run)
{
    size_t count;
    int64_t processes = 0;
    const struct pythia_profile_part *parts = pythia_profile_parts(t->profile, &count);
    for (size_t i = 0; i < count; i++)
        processes =
            (int64_t)parts[i].process + 1 > processes ? (int64_t)parts[i].process + 1 : processes;
    run->metrics[PYTHIA_RUN_PROCESSES] = processes;
    if (t->billed > 0)
        run->metrics[PYTHIA_RUN_OVERHEAD_NS] = (int64_t)t->cost_ns;
}

/* The profile of the records that the program left, which may be none: nothing was called. */
static int read_traces(const char *records, struct trace_reading *t, struct pythia_run *run)
{
    struct pythia__read_settings settings;
    pythia__read_defaults(&settings);
    settings.quiet = true;
    if (access(records, R_OK) != 0)
        return PYTHIA_OK;
    struct pythia_consumer consumer = {begin_callpaths, add_to_callpaths, t, NULL};
    int status = pythia__reading_begin(&t->reading, &settings, &records, 1);
    if (status != PYTHIA_OK || (status = pythia__reading_run(&t->reading, &consumer)) != PYTHIA_OK)
        return status;
    if (!t->profile)
        return PYTHIA_OK;
    set_traced_metrics(t, run);
    return pythia_run_callpaths_make(t->profile, &t->memory, &run->callpaths, &run->callpath_count);
}

/* The files of the shim of a traced run; both are NULL for a run without one. */
struct traced {
    const char *records, *report;
};

static int read_traced(const struct traced *traced, struct trace_reading *t, struct pythia_run *run)
{
    int status = PYTHIA_OK;
    if (traced->records && traced->report)
        status = pythia__processes_drain(traced->report, traced->records);
    if (status == PYTHIA_OK && traced->records)
        status = read_traces(traced->records, t, run);
    if (status != PYTHIA_OK || !traced->report)
        return status;
    return pythia__processes_read(traced->report, t->profile, &t->memory, &run->processes,
                                  &run->process_count);
}

/* ---- all of it ---- */

static void report_run(const struct pythia_run *run)
{
    char memory[32];
    snprintf(memory, sizeof(memory), "%.1f", (double)run->metrics[PYTHIA_RUN_MAX_RSS] / 1048576);
    pythia_log(PYTHIA_LOG_INFO,
               "Recorded run %" PRId64 "%s%s: wall=%.6f s, cpu=%.6f s, max-rss=%s MiB, %s=%d",
               run->id, run->benchmark ? " of " : "", run->benchmark ? run->benchmark : "",
               (double)run->metrics[PYTHIA_RUN_WALL_NS] / 1e9,
               (double)run->metrics[PYTHIA_RUN_CPU_NS] / 1e9, memory,
               run->signal ? "signal" : "exit-status",
               run->signal ? run->signal : run->exit_status);
}

static int add_to_store(struct pythia__recording *r, struct pythia_run *run,
                        struct pythia_error *why)
{
    struct opening *o = &r->opening;
    int status = o->store ? pythia_run_store_add(o->store, run, &run->id, why) : o->why.status;
    if (!o->store)
        *why = o->why;
    return status;
}

/* The record borrows all its texts until it is stored: they are freed here, whatever failed. */
static int add_run_record(struct pythia__recording *r, const struct pythia__benchmark *b,
                          const struct pythia__child *child, const struct traced *traced,
                          const struct pythia__child_result *result, struct pythia_run *run,
                          bool quiet)
{
    char text[700];
    struct pythia_error why = {0};
    struct trace_reading traces = {0};
    char *whole = pythia_run_command(b->arguments);
    char *command = r->redaction_count ? redact_command(r, b->arguments) : whole;
    bool made = whole && command;
    if (made)
        pythia_run_key(whole, r->key);
    set_metrics(result, run);
    run->command_key = r->key;
    run->command = r->s->no_command_line ? NULL : command;
    run->suite = b->suite;
    run->benchmark = b->name;
    run->tag = r->s->tag;
    run->description = r->s->description;
    run->host = r->context.host;
    run->version = PYTHIA_VERSION;
    made = made && add_meta_pairs(r, b, run) && redact_string(r, &run->description);
    if (!r->s->no_command_line)
        made = made && set_outputs(r, child->capture, run);
    int status = made ? read_traced(traced, &traces, run) : PYTHIA_ENOMEM;
    bool late = !pythia__late_git_take(&r->late, 0);
    run->git_commit = r->late.state.commit[0] ? r->late.state.commit : NULL;
    run->git_dirty = r->late.state.dirty;
    if (status != PYTHIA_OK || (status = add_to_store(r, run, &why)) != PYTHIA_OK)
        pythia_log(PYTHIA_LOG_ERROR, "The run was not recorded: %s",
                   why.status ? pythia_error_text(&why, text, sizeof(text))
                              : pythia_status_text(status));
    else if (!quiet)
        report_run(run);
    if (late && status == PYTHIA_OK)
        r->late.run = run->id;
    else
        pythia__late_git_drop(&r->late);
    pythia_profile_destroy(traces.profile);
    pythia_arena_free(&traces.memory);
    if (traces.reading.vocabulary)
        pythia__reading_end(&traces.reading);
    if (command != whole)
        pythia_free(command);
    pythia_free(whole);
    return status;
}

static void open_store(struct pythia__recording *r)
{
    if (!r->has_context)
        pythia_run_context_read(&r->context);
    r->has_context = true;
    (void)pythia_run_store_open(r->path, true, &r->opening.store, &r->opening.why);
}

/* Where there is one processor the program shall not wait for it. */
static void *open_store_beside(void *context)
{
    (void)setpriority(PRIO_PROCESS, (id_t)gettid(), BESIDE_NICE);
    open_store(context);
    return NULL;
}

static void start_opening(struct pythia__recording *r)
{
    sigset_t all, mask;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &mask); /* signals are for this thread, which waits */
    r->opening.has_thread = pthread_create(&r->opening.thread, NULL, open_store_beside, r) == 0;
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

static void finish_opening(struct pythia__recording *r)
{
    if (r->opening.has_thread)
        pthread_join(r->opening.thread, NULL);
    else
        open_store(r);
}

/* The program runs already: to make processes and threads before would take time from whoever waits
 * for it. */
static void on_start(void *context, pid_t pid)
{
    struct pythia__recording *r = context;
    pythia__profilers_start(&r->profilers, pid);
    if (r->asks_git)
        pythia__late_git_ask(&r->late);
    start_opening(r);
}

/* git runs beside the program, because it may take longer than a short program does. The next run
 * of a suite waits for it, so that git is not measured with it, and does not see another state;
 * where git is too slow for that, it is not asked again. */
static void begin_git(struct pythia__recording *r)
{
    enum { SETTLE_MS = 1000 };
    if (!pythia__late_git_settle(&r->late, SETTLE_MS)) {
        r->slow_git = true;
        pythia_log(PYTHIA_LOG_WARNING,
                   "git status takes more than %d s here, so the other runs do not record whether "
                   "files have changed",
                   SETTLE_MS / 1000);
    }
    r->asks_git = pythia_git_find(&r->late.state) && !r->slow_git;
}

int pythia__recording_run(struct pythia__recording *r, const struct pythia__benchmark *benchmark,
                          struct pythia__child *child, const char *records, const char *report,
                          bool quiet, struct pythia__child_result *result)
{
    const struct traced traced = {records, report};
    struct pythia__capture capture;
    struct pythia_run run = {0};
    pythia_arena_clear(&r->arena);
    int status = pythia__capture_begin(&capture);
    if (status != PYTHIA_OK) {
        pythia__capture_end(&capture);
        *result = (struct pythia__child_result){.status = 1 << 8};
        return status;
    }
    begin_git(r);
    r->opening = (struct opening){0};
    child->capture = &capture;
    child->on_start = on_start;
    child->context = r;
    pythia__child_run(child, result);
    run.artifact_count = pythia__profilers_finish(&r->profilers, &r->arena, r->files);
    run.artifacts = r->files;
    finish_opening(r);
    status = add_run_record(r, benchmark, child, &traced, result, &run, quiet);
    pythia_run_store_close(r->opening.store);
    pythia__capture_end(&capture);
    return status;
}
