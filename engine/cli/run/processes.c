#define _GNU_SOURCE
#include "processes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pythia/drain.h"
#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/own_file.h"
#include "pythia/status.h"
#include "shared/output.h"

struct processes {
    struct pythia_run_process *all; /* owned */
    size_t count, capacity;
    struct pythia_arena *memory; /* of their names */
};

/* The latest process of that id, or a new one: a system gives an id again after some time. */
static struct pythia_run_process *find_run_process(struct processes *p, int64_t pid)
{
    for (size_t i = p->count; i > 0; i--)
        if (p->all[i - 1].pid == pid)
            return &p->all[i - 1];
    if (pythia_grow(&p->all, &p->capacity, p->count, sizeof(*p->all)) != PYTHIA_OK)
        return NULL;
    struct pythia_run_process *made = &p->all[p->count++];
    *made = (struct pythia_run_process){.pid = pid,
                                        .user_ns = -1,
                                        .sys_ns = -1,
                                        .max_rss_bytes = -1,
                                        .major_faults = -1,
                                        .minor_faults = -1};
    return made;
}

/* Read `count` numbers with a tab before each; returns what comes after them, or NULL. */
static const char *read_process_numbers(const char *at, int64_t *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char *end;
        if (*at != '\t')
            return NULL;
        numbers[i] = strtoll(at + 1, &end, 10);
        if (end == at + 1)
            return NULL;
        at = end;
    }
    return at;
}

static int take_process_name(struct processes *p, int64_t pid, const char *name)
{
    struct pythia_run_process *process = find_run_process(p, pid);
    size_t size = strcspn(name, "\n");
    char *copy = process ? pythia_arena_alloc(p->memory, size + 1) : NULL;
    if (!copy)
        return PYTHIA_ENOMEM;
    memcpy(copy, name, size);
    copy[size] = '\0';
    process->name = copy;
    return PYTHIA_OK;
}

/* "began <pid> <name>" when the shim is loaded, again after exec; "forked <pid> <name>"; and "ended
 * <pid> <user us> <system us> <peak KiB> <major> <minor faults>" when the program ends. Other lines
 * are of no process. */
static int take_process_line(struct processes *p, const char *line)
{
    int64_t n[6];
    const char *rest;
    size_t word = strcspn(line, "\t");
    bool begins = strncmp(line, "began\t", 6) == 0 || strncmp(line, "forked\t", 7) == 0;
    if (begins && (rest = read_process_numbers(line + word, n, 1)) && *rest == '\t')
        return take_process_name(p, n[0], rest + 1);
    if (strncmp(line, "ended", 5) != 0 || !read_process_numbers(line + 5, n, 6))
        return PYTHIA_OK;
    struct pythia_run_process *process = find_run_process(p, n[0]);
    if (!process)
        return PYTHIA_ENOMEM;
    process->user_ns = n[1] * 1000;
    process->sys_ns = n[2] * 1000;
    process->max_rss_bytes = n[3] * 1024;
    process->major_faults = n[4];
    process->minor_faults = n[5];
    return PYTHIA_OK;
}

FILE *pythia__report_open(const char *report)
{
    struct stat about;
    int file = open(report, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    FILE *stream =
        file >= 0 && fstat(file, &about) == 0 && S_ISREG(about.st_mode) ? fdopen(file, "r") : NULL;
    if (!stream && file >= 0)
        close(file);
    return stream;
}

static int read_process_lines(struct processes *p, const char *report)
{
    FILE *file = pythia__report_open(report);
    char *line = NULL;
    size_t capacity = 0;
    int status = PYTHIA_OK;
    while (file && status == PYTHIA_OK && getline(&line, &capacity, file) > 0)
        status = take_process_line(p, line);
    if (file)
        fclose(file);
    free(line);
    return status;
}

/* A process of the profile is one of the run's by its id, which its records have as text. */
static int add_process_spans(struct processes *p, const struct pythia_profile *profile)
{
    const struct pythia_vocabulary *v = pythia_profile_vocabulary(profile);
    size_t count;
    const struct pythia_profile_part *parts = pythia_profile_parts(profile, &count);
    for (size_t i = 0; i < count; i++) {
        const struct pythia_profile_process *of = pythia_profile_process(profile, parts[i].process);
        struct pythia_text text = pythia_vocabulary_text(v, of->instance);
        char number[32];
        snprintf(number, sizeof(number), "%.*s", (int)(text.size < 31 ? text.size : 31),
                 text.size ? text.bytes : "");
        struct pythia_run_process *process = find_run_process(p, strtoll(number, NULL, 10));
        if (!process)
            return PYTHIA_ENOMEM;
        process->spans += (int64_t)parts[i].times.moments.weight;
        process->exclusive_ns += (int64_t)parts[i].exclusive_ns;
    }
    return PYTHIA_OK;
}

/* ---- what killed ones have left ---- */

struct leftover {
    struct processes processes; /* of the run */
    int file;                   /* of records; negative: not opened yet */
    const char *path;
};

static int is_of_run(void *context, int process)
{
    const struct leftover *l = context;
    for (size_t i = 0; i < l->processes.count; i++)
        if (l->processes.all[i].pid == process)
            return 1;
    return 0;
}

static int append_frame(void *context, const void *bytes, size_t size)
{
    struct leftover *l = context;
    if (l->file < 0)
        l->file = pythia_own_file_open(l->path, O_WRONLY | O_CREAT | O_APPEND, NULL);
    if (l->file < 0)
        return -errno;
    return -pythia__write_bytes(l->file, (struct pythia_text){bytes, size});
}

int pythia__processes_drain(const char *report, const char *records)
{
    struct pythia_arena names = {0};
    struct leftover l = {.processes = {.memory = &names}, .file = -1, .path = records};
    const struct pythia_drain_handler handler = {
        .frame = append_frame, .context = &l, .wanted = is_of_run};
    struct pythia_drain *drain = NULL;
    int status = read_process_lines(&l.processes, report), failed = 0;
    if (status == PYTHIA_OK && pythia_drain_open(NULL, &handler, &drain, NULL) == 0)
        failed = pythia_drain_pass(drain); /* another reader, which is pythiad, has them else */
    pythia_drain_close(drain);
    if (l.file >= 0)
        close(l.file);
    if (failed != 0)
        pythia_log(PYTHIA_LOG_WARNING,
                   "%s: records of killed processes were not written: %s (they stay for pythiad)",
                   records, strerror(-failed));
    pythia_free(l.processes.all);
    pythia_arena_free(&names);
    return status;
}

int pythia__processes_read(const char *report, const struct pythia_profile *profile,
                           struct pythia_arena *memory, const struct pythia_run_process **out,
                           size_t *count)
{
    struct processes p = {.memory = memory};
    int status = read_process_lines(&p, report);
    if (status != PYTHIA_OK || (profile && (status = add_process_spans(&p, profile)) != PYTHIA_OK))
        goto out;
    struct pythia_run_process *all = pythia_arena_alloc(memory, (p.count + 1) * sizeof(*all));
    if (!all) {
        status = PYTHIA_ENOMEM;
        goto out;
    }
    if (p.count > 0)
        memcpy(all, p.all, p.count * sizeof(*all));
    *out = all;
    *count = p.count;
out:
    pythia_free(p.all);
    return status;
}
