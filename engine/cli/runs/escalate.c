/* Both steps are this program's own commands, started as a user would start them: `pythia run` with
 * --points, then `pythia replay --format json` on what it recorded. */
#define _GNU_SOURCE
#include "escalate.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jansson.h>

#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/status.h"
#include "shared/command.h"

extern char **environ;

#define FINDINGS_MAX 64

struct escalation {
    const char *db, *benchmark, *points;
    char tag[256];
    char self[PATH_MAX], folder[PATH_MAX], records[PATH_MAX + 16], report[PATH_MAX + 16];
    json_t *words; /* of the command */
};

/* The exit status of a program, whose output goes to the file `output` (NULL: to our own standard
 * error, since our output is the comparison). */
static int run_words(const struct escalation *x, char *const *words, const char *output)
{
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int status = 0;
    posix_spawn_file_actions_init(&actions);
    if (output)
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    else
        posix_spawn_file_actions_adddup2(&actions, 2, 1);
    int failed = posix_spawn(&pid, x->self, &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed) {
        pythia_log(PYTHIA_LOG_ERROR, "%s: %s", x->self, strerror(failed));
        return PYTHIA__EXIT_FAILED;
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Words as posix_spawn takes them. */
struct words {
    char **all; /* owned, as is each of them; ends with NULL */
    size_t count, capacity;
    bool failed;
};

static void add_word(struct words *w, const char *word)
{
    if (w->failed ||
        pythia_grow(&w->all, &w->capacity, w->count + 1, sizeof(*w->all)) != PYTHIA_OK) {
        w->failed = true;
        return;
    }
    w->all[w->count] = pythia_strndup(word, strlen(word));
    w->all[w->count + 1] = NULL;
    w->failed = !w->all[w->count];
    w->count++;
}

/* Run this program with those words, and free them. Its exit status, or FAILED, said. */
static int run_and_free(const struct escalation *x, struct words *w, const char *output)
{
    int code = w->failed ? pythia__fail(PYTHIA_ENOMEM) : run_words(x, w->all, output);
    for (size_t i = 0; i < w->count; i++)
        pythia_free(w->all[i]);
    pythia_free(w->all);
    return code;
}

/* The command may fail as it did before: that is its own affair. */
static int run_with_points(const struct escalation *x)
{
    struct words words = {0};
    char benchmark[300];
    snprintf(benchmark, sizeof(benchmark), "benchmark=%s", x->benchmark);
    const char *const before[] = {"pythia",   "run",    "--quiet",  "--db",    x->db,
                                  "--tag",    x->tag,   "--points", x->points, "--records",
                                  x->records, "--meta", benchmark,  "--"};
    for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++)
        add_word(&words, before[i]);
    for (size_t i = 0; i < json_array_size(x->words); i++) {
        const char *word = json_string_value(json_array_get(x->words, i));
        add_word(&words, word ? word : "");
    }
    run_and_free(x, &words, NULL);
    if (access(x->records, R_OK) == 0)
        return PYTHIA__EXIT_DONE;
    pythia_log(PYTHIA_LOG_ERROR, "The run with trace points recorded no traces: nothing to "
                                 "diagnose");
    return PYTHIA__EXIT_FAILED;
}

static const char *get_report_text(const json_t *o, const char *key)
{
    return json_string_value(json_object_get(o, key));
}

/* The place of the first finding of a verdict: the span that it lies inside, else where it ends. */
static const char *find_cause_place(const json_t *verdict, double *share)
{
    const json_t *found = json_array_get(json_object_get(verdict, "found"), 0);
    const json_t *edge = json_object_get(found, "edge");
    const char *inside = get_report_text(edge, "inside");
    *share = found ? json_number_value(json_object_get(found, "share")) : NAN;
    return inside ? inside : get_report_text(json_object_get(edge, "to"), "trace_point");
}

static int keep_last_run(void *context, const struct pythia_run *run)
{
    int64_t *id = context;
    *id = run->id;
    return PYTHIA_OK;
}

/* The verdicts go to the last run with this tag, which is the traced one that was recorded just
 * now. */
static int record_findings(const struct escalation *x, const json_t *report)
{
    struct pythia_run_finding findings[FINDINGS_MAX];
    const json_t *verdicts = json_object_get(report, "verdicts"), *verdict;
    struct pythia_run_filter last = {.tag = x->tag, .last = 1};
    struct pythia_run_store *store = NULL;
    struct pythia_error why = {0};
    int64_t id = 0;
    size_t i, count = 0;
    json_array_foreach (verdicts, i, verdict) {
        if (count == FINDINGS_MAX || !get_report_text(verdict, "sentence"))
            continue;
        struct pythia_run_finding *f = &findings[count++];
        *f = (struct pythia_run_finding){
            .rank = (int64_t)count,
            .type = get_report_text(verdict, "request_type"),
            .sentence = get_report_text(verdict, "sentence"),
            .key = get_report_text(json_object_get(verdict, "explanation"), "key"),
        };
        f->place = find_cause_place(verdict, &f->share);
        pythia_log(PYTHIA_LOG_INFO, "%s: %s", f->type ? f->type : "", f->sentence);
    }
    int code = PYTHIA__EXIT_FAILED;
    if (pythia_run_store_open(x->db, false, &store, &why) != PYTHIA_OK ||
        pythia_run_store_each(store, &last, 0, keep_last_run, &id, &why) != PYTHIA_OK ||
        pythia_run_store_add_findings(store, id, findings, count, &why) != PYTHIA_OK) {
        pythia_log_error(PYTHIA_LOG_ERROR, &why);
        goto out;
    }
    pythia_log(PYTHIA_LOG_INFO, "The verdict is recorded with run %" PRId64 ": pythia runs show",
               id);
    code = PYTHIA__EXIT_DONE;
out:
    pythia_run_store_close(store);
    return code;
}

static int diagnose_records(const struct escalation *x)
{
    static const char *const before[] = {"pythia", "replay", "--quiet", "--format", "json"};
    struct words words = {0};
    for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++)
        add_word(&words, before[i]);
    add_word(&words, x->records);
    int code = run_and_free(x, &words, x->report);
    json_t *report = json_load_file(x->report, 0, NULL);
    if (!report) {
        pythia_log(PYTHIA_LOG_ERROR, "The traces could not be diagnosed: exit-status=%d", code);
        return PYTHIA__EXIT_FAILED;
    }
    code = record_findings(x, report);
    json_decref(report);
    return code;
}

static int run_escalation(struct escalation *x)
{
    const char *place = getenv("TMPDIR");
    ssize_t size = readlink("/proc/self/exe", x->self, sizeof(x->self) - 1);
    x->self[size > 0 ? size : 0] = '\0';
    snprintf(x->folder, sizeof(x->folder), "%.3900s/pythia-escalate-XXXXXX",
             place && *place ? place : "/tmp");
    if (!mkdtemp(x->folder)) {
        pythia_log(PYTHIA_LOG_ERROR, "%s: %s", x->folder, strerror(errno));
        return PYTHIA__EXIT_FAILED;
    }
    snprintf(x->records, sizeof(x->records), "%s/records", x->folder);
    snprintf(x->report, sizeof(x->report), "%s/report", x->folder);
    int code = run_with_points(x);
    if (code == PYTHIA__EXIT_DONE)
        code = diagnose_records(x);
    unlink(x->records);
    unlink(x->report);
    rmdir(x->folder);
    return code;
}

int pythia__escalate(const char *db, const char *command, const char *benchmark, const char *tag,
                     const char *points)
{
    struct escalation x = {.db = db, .benchmark = benchmark, .points = points};
    snprintf(x.tag, sizeof(x.tag), "%.240s+trace", tag);
    x.words = command ? json_loads(command, 0, NULL) : NULL;
    if (json_array_size(x.words) == 0) {
        pythia_log(PYTHIA_LOG_ERROR, "%s cannot be run again: its command was not recorded",
                   benchmark);
        json_decref(x.words);
        return PYTHIA__EXIT_FAILED;
    }
    int code = run_escalation(&x);
    json_decref(x.words);
    return code;
}
