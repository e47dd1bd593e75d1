#define _GNU_SOURCE
#include "pythia/run_context.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* ---- the machine ---- */

/* The first line of a file without its newline; "" if it cannot be read. */
static void read_first_line(const char *path, char *out, size_t size)
{
    FILE *file = fopen(path, "re");
    out[0] = '\0';
    if (!file)
        return;
    if (!fgets(out, (int)size, file))
        out[0] = '\0';
    out[strcspn(out, "\n")] = '\0';
    fclose(file);
}

/* x86 says "model name", ARM says "Model" or nothing. */
static void read_cpu_model(char *out, size_t size)
{
    FILE *file = fopen("/proc/cpuinfo", "re");
    char line[512];
    out[0] = '\0';
    while (file && !out[0] && fgets(line, sizeof(line), file)) {
        char *colon = strchr(line, ':');
        if (!colon || (strncmp(line, "model name", 10) != 0 && strncmp(line, "Model", 5) != 0))
            continue;
        line[strcspn(line, "\n")] = '\0';
        snprintf(out, size, "%s", colon + 1 + strspn(colon + 1, " "));
    }
    if (file)
        fclose(file);
}

void pythia_run_context_read(struct pythia_run_context *c)
{
    struct utsname system;
    struct sysinfo memory;
    *c = (struct pythia_run_context){.git_dirty = -1};
    if (uname(&system) == 0) {
        snprintf(c->name, sizeof(c->name), "%s", system.nodename);
        snprintf(c->uname, sizeof(c->uname), "%s %s %s %s", system.sysname, system.release,
                 system.version, system.machine);
    }
    read_cpu_model(c->cpu_model, sizeof(c->cpu_model));
    read_first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", c->governor,
                    sizeof(c->governor));
    c->host = (struct pythia_run_host){
        c->name[0] ? c->name : NULL,
        c->uname[0] ? c->uname : NULL,
        c->cpu_model[0] ? c->cpu_model : NULL,
        c->governor[0] ? c->governor : NULL,
        sysconf(_SC_NPROCESSORS_ONLN),
        -1,
        -1,
    };
    if (sysinfo(&memory) == 0) {
        c->host.memory_bytes = (int64_t)memory.totalram * memory.mem_unit;
        c->host.swap_bytes = (int64_t)memory.totalswap * memory.mem_unit;
    }
}

/* ---- git ---- */

/* Starting a process that only finds no repository would cost a millisecond or more: look first. */
static bool is_in_repository(void)
{
    char folder[PATH_MAX + 8];
    if (!getcwd(folder, PATH_MAX))
        return false;
    for (;;) {
        size_t size = strlen(folder);
        snprintf(folder + size, sizeof(folder) - size, "%s", size > 1 ? "/.git" : ".git");
        if (access(folder, F_OK) == 0)
            return true;
        folder[size] = '\0';
        char *slash = strrchr(folder, '/');
        if (size <= 1 || !slash)
            return false;
        slash[slash == folder] = '\0';
    }
}

/* --no-optional-locks: a question must not make a git command of the user fail on index.lock. */
void pythia_git_ask(struct pythia_git_question *q)
{
    static char *const words[] = {"git",      "--no-optional-locks",  "status", "--porcelain=v2",
                                  "--branch", "--untracked-files=no", NULL};
    int ends[2];
    *q = (struct pythia_git_question){-1, -1};
    if (!is_in_repository() || pipe2(ends, O_CLOEXEC) != 0)
        return;
    posix_spawn_file_actions_t actions;
    pid_t pid = -1;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    int failed = posix_spawnp(&pid, words[0], &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (failed) {
        close(ends[0]);
        return;
    }
    *q = (struct pythia_git_question){pid, ends[0]};
}

/* Lines that begin with '#' are headers, of which one names the commit; each other line is a file
 * that changed. */
static void read_command_answer(FILE *lines, struct pythia_run_context *c)
{
    static const char commit[] = "# branch.oid ";
    char *line = NULL;
    size_t capacity = 0;
    int changed = 0;
    while (getline(&line, &capacity, lines) > 0) {
        size_t size = strcspn(line, "\n");
        if (strncmp(line, commit, sizeof(commit) - 1) == 0) {
            size -= sizeof(commit) - 1;
            if (size == 40 || size == 64) /* not "(initial)" */
                snprintf(c->git_commit, sizeof(c->git_commit), "%.*s", (int)size,
                         line + sizeof(commit) - 1);
        } else if (line[0] != '#') {
            changed = 1;
        }
    }
    free(line);
    c->git_dirty = c->git_commit[0] ? changed : -1;
}

void pythia_git_answer(struct pythia_git_question *q, struct pythia_run_context *c)
{
    if (q->pid < 0)
        return;
    FILE *lines = fdopen(q->output, "r");
    if (lines) {
        read_command_answer(lines, c);
        fclose(lines);
    } else {
        close(q->output);
    }
    int status = 0;
    while (waitpid(q->pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        c->git_commit[0] = '\0';
        c->git_dirty = -1;
    }
    *q = (struct pythia_git_question){-1, -1};
}
