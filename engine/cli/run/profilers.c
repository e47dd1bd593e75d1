#define _GNU_SOURCE
#include "profilers.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pythia/buf.h"
#include "pythia/log.h"

static void output_path(const struct pythia__profilers *p, size_t i, char *path, size_t size)
{
    snprintf(path, size, "%.4000s/%zu", p->folder, i + 1);
}

/* The command with its placeholders replaced; other braces are left as they are. */
static void expand_command(const struct pythia__profilers *p, size_t i, pid_t pid,
                           struct pythia_buf *to)
{
    char path[4200];
    output_path(p, i, path, sizeof(path));
    for (const char *c = p->commands->texts[i]; *c;) {
        if (strncmp(c, "{pid}", 5) == 0) {
            pythia_buf_printf(to, "%ld", (long)pid);
            c += 5;
        } else if (strncmp(c, "{out}", 5) == 0) {
            pythia_buf_puts(to, path);
            c += 5;
        } else {
            pythia_buf_putc(to, *c++);
        }
    }
}

/* In a process group of its own: Ctrl-C ends the program, and a profiler then ends by itself and
 * writes what it has. Its output goes to our standard error, for the program owns the other. */
static pid_t start_shell(const char *command)
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    setpgid(0, 0);
    dup2(2, 1);
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(127);
}

/* The folder's name is put into shell commands unquoted, so a TMPDIR with characters that a
 * shell interprets is refused. */
void pythia__profilers_start(struct pythia__profilers *p, pid_t pid)
{
    const char *place = getenv("TMPDIR");
    memset(p->pids, 0, sizeof(p->pids));
    p->folder[0] = '\0';
    if (p->commands->count == 0)
        return;
    snprintf(p->folder, sizeof(p->folder), "%.3900s/pythia-profilers-XXXXXX",
             place && *place ? place : "/tmp");
    if (!mkdtemp(p->folder) || strpbrk(p->folder, " '\"\\$`")) {
        pythia_log(PYTHIA_LOG_ERROR, "No profiler was started: no folder for its output: %s: %s",
                   p->folder, strerror(errno));
        p->folder[0] = '\0';
        return;
    }
    for (size_t i = 0; i < p->commands->count; i++) {
        struct pythia_buf command = {0};
        expand_command(p, i, pid, &command);
        p->pids[i] = pythia_buf_status(&command) == 0 ? start_shell(command.bytes) : -1;
        if (p->pids[i] < 0)
            pythia_log(PYTHIA_LOG_ERROR, "The profiler was not started: %s: %s",
                       p->commands->texts[i], strerror(errno));
        pythia_buf_free(&command);
    }
}

/* Has the process ended within so many ms? */
static bool ends_within(pid_t pid, int ms)
{
    struct pollfd on = {.fd = pidfd_open(pid, 0), .events = POLLIN};
    int ready = on.fd < 0 ? 0 : poll(&on, 1, ms);
    if (on.fd >= 0)
        close(on.fd);
    return ready > 0;
}

static void wait_for_profiler(const struct pythia__profilers *p, size_t i)
{
    int status = 0;
    pid_t pid = p->pids[i];
    if (!ends_within(pid, 10000)) {
        pythia_log(PYTHIA_LOG_WARNING,
                   "The profiler did not end with the program, and was ended: %s",
                   p->commands->texts[i]);
        kill(-pid, SIGTERM);
        if (!ends_within(pid, 1000))
            kill(-pid, SIGKILL);
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        pythia_log(PYTHIA_LOG_WARNING, "The profiler failed: %s: %s=%d", p->commands->texts[i],
                   WIFEXITED(status) ? "exit-status" : "signal",
                   WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
}

static const char *guess_kind(const char *bytes, size_t size)
{
    const char *line = memchr(bytes, '\n', size);
    size_t first = line ? (size_t)(line - bytes) : size;
    if (memmem(bytes, size < 4096 ? size : 4096, "<svg", 4))
        return "svg";
    const char *blank = memrchr(bytes, ' ', first);
    if (blank && memchr(bytes, ';', first) && blank + 1 < bytes + first && blank[1] >= '0' &&
        blank[1] <= '9')
        return "folded";
    return "other";
}

/* False: it wrote nothing. */
static bool read_profiler_output(const struct pythia__profilers *p, size_t i,
                                 struct pythia_arena *arena, struct pythia_run_artifact *file)
{
    char path[4200], *bytes = pythia_arena_alloc(arena, PYTHIA__PROFILER_OUTPUT_MAX);
    output_path(p, i, path, sizeof(path));
    FILE *from = fopen(path, "re");
    size_t size = from && bytes ? fread(bytes, 1, PYTHIA__PROFILER_OUTPUT_MAX, from) : 0;
    if (from && size == PYTHIA__PROFILER_OUTPUT_MAX && fgetc(from) != EOF)
        pythia_log(PYTHIA_LOG_WARNING,
                   "Only the first 16 MiB that a profiler wrote are recorded: %s",
                   p->commands->texts[i]);
    if (from)
        fclose(from);
    unlink(path);
    *file = (struct pythia_run_artifact){
        p->commands->texts[i], size ? guess_kind(bytes, size) : "other", {bytes, size}};
    return size > 0;
}

size_t pythia__profilers_finish(struct pythia__profilers *p, struct pythia_arena *arena,
                                struct pythia_run_artifact *files)
{
    size_t count = 0;
    for (size_t i = 0; p->folder[0] && i < p->commands->count; i++) {
        if (p->pids[i] <= 0)
            continue;
        wait_for_profiler(p, i);
        count += read_profiler_output(p, i, arena, &files[count]);
    }
    if (p->folder[0])
        rmdir(p->folder);
    p->folder[0] = '\0'; /* process ids that are no longer ours must not be waited for again */
    return count;
}
