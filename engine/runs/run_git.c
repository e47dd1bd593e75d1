/* What git is asked, and what can be read without it. A repository with its refs in another format
 * (reftable), or with GIT_DIR set, is left to git. */
#define _GNU_SOURCE
#include "pythia/run_git.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

#define PACKED_MAX                                                                                 \
    ((size_t)1 << 20) /* bytes of packed-refs that are read; then git says the commit */
#define LINKS_MAX 5   /* refs that name another one */
#define NICE      10

/* ---- the commit, from files ---- */

/* The first line of a file without its newline. False if there is none, or it is too long. */
static bool read_line(const char *path, char *out, size_t size)
{
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t got = file < 0 ? -1 : read(file, out, size - 1);
    if (file >= 0)
        close(file);
    if (got <= 0)
        return false;
    out[got] = '\0';
    size_t length = strcspn(out, "\n");
    bool whole = length < (size_t)got || length < size - 1;
    out[length] = '\0';
    return whole;
}

/* `name` in `folder`, or by itself if it is absolute. False if it is too long. */
static bool join_path(char out[PATH_MAX], const char *folder, const char *name)
{
    int size = name[0] == '/' ? snprintf(out, PATH_MAX, "%s", name)
                              : snprintf(out, PATH_MAX, "%s/%s", folder, name);
    return size > 0 && size < PATH_MAX;
}

/* Starting a process that only finds no repository would cost a millisecond or more: look first.
 * `folder` becomes that of the repository's own files; in a second work tree .git is a file that
 * names it. */
static bool find_repository(char folder[PATH_MAX])
{
    char here[PATH_MAX], git[PATH_MAX], line[PATH_MAX];
    if (!getcwd(here, sizeof(here)))
        return false;
    for (;;) {
        if (join_path(git, strcmp(here, "/") == 0 ? "" : here, ".git") && access(git, F_OK) == 0)
            break;
        char *slash = strrchr(here, '/');
        if (!slash || !here[1])
            return false;
        slash[slash == here] = '\0';
    }
    if (read_line(git, line, sizeof(line)) && strncmp(line, "gitdir: ", 8) == 0)
        return join_path(folder, here, line + 8);
    return snprintf(folder, PATH_MAX, "%s", git) < PATH_MAX;
}

static bool is_commit(const char *text)
{
    size_t size = strspn(text, "0123456789abcdef");
    return text[size] == '\0' && (size == 40 || size == 64);
}

/* A line of packed-refs is the commit, a space and the name. */
static bool find_packed(const char *folder, const char *name, char out[65])
{
    char path[PATH_MAX], line[PATH_MAX];
    size_t size = 0;
    FILE *file = join_path(path, folder, "packed-refs") ? fopen(path, "re") : NULL;
    bool found = false;
    while (file && !found && size < PACKED_MAX && fgets(line, sizeof(line), file)) {
        size += strlen(line);
        line[strcspn(line, "\n")] = '\0';
        char *space = strchr(line, ' ');
        if (!space || strcmp(space + 1, name) != 0)
            continue;
        *space = '\0';
        found = is_commit(line);
        if (found)
            snprintf(out, 65, "%.64s", line);
    }
    if (file)
        fclose(file);
    return found;
}

/* A second work tree has a HEAD of its own, and its branches where `commondir` says. */
static void read_commit(const char *folder, char out[65])
{
    char common[PATH_MAX], path[PATH_MAX], line[PATH_MAX], name[PATH_MAX] = "HEAD";
    bool has_common = join_path(path, folder, "commondir") && read_line(path, line, sizeof(line));
    if (!has_common || !join_path(common, folder, line))
        snprintf(common, sizeof(common), "%s", folder);
    for (int i = 0; i < LINKS_MAX; i++) {
        if (!(join_path(path, folder, name) && read_line(path, line, sizeof(line))) &&
            !(join_path(path, common, name) && read_line(path, line, sizeof(line)))) {
            (void)find_packed(common, name, out);
            return;
        }
        if (is_commit(line))
            snprintf(out, 65, "%.64s", line);
        if (strncmp(line, "ref: ", 5) != 0)
            return;
        memmove(name, line + 5, strlen(line + 5) + 1);
    }
}

/* ---- changes, by git ---- */

/* The last line says that git has not failed: whoever reads it may not be git's parent.
 * --no-optional-locks: a question must not make a git command of the user fail on index.lock. */
static char command[] =
    "git --no-optional-locks status --porcelain=v2 --branch --untracked-files=no "
    "&& echo .";

void pythia_git_ask(struct pythia_git_question *q, struct pythia_run_context *c)
{
    char *const words[] = {"sh", "-c", command, NULL};
    char folder[PATH_MAX];
    int ends[2];
    *q = (struct pythia_git_question){.pid = -1, .output = -1};
    c->git_commit[0] = '\0';
    c->git_dirty = -1;
    if (!find_repository(folder))
        return;
    if (!getenv("GIT_DIR"))
        read_commit(folder, c->git_commit);
    if (pipe2(ends, O_CLOEXEC) != 0)
        return;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    pid_t pid = -1;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&attributes, 0);
    int failed = posix_spawn(&pid, "/bin/sh", &actions, &attributes, words, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (failed) {
        close(ends[0]);
        return;
    }
    /* It must not take the program's processor: 3000 files are looked at by six threads. */
    (void)setpriority(PRIO_PGRP, (id_t)pid, NICE);
    q->pid = pid;
    q->output = ends[0];
}

/* Lines that begin with '#' are headers, of which one names the commit; "." ends the answer; each
 * other line is a file that has changed. */
static void take_line(struct pythia_git_question *q)
{
    static const char commit[] = "# branch.oid ";
    q->line[q->line_size] = '\0';
    q->line_size = 0;
    if (strcmp(q->line, ".") == 0)
        q->complete = true;
    else if (q->line[0] != '#')
        q->changed = true;
    else if (strncmp(q->line, commit, sizeof(commit) - 1) == 0 &&
             is_commit(q->line + sizeof(commit) - 1)) /* not "(initial)" */
        snprintf(q->commit, sizeof(q->commit), "%s", q->line + sizeof(commit) - 1);
}

static void take_bytes(struct pythia_git_question *q, const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (bytes[i] == '\n')
            take_line(q);
        else if (q->line_size < sizeof(q->line) - 1)
            q->line[q->line_size++] = bytes[i];
}

static int64_t read_clock_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void pythia_git_drop(struct pythia_git_question *q)
{
    if (q->pid <= 0)
        return;
    kill(-q->pid, SIGKILL);
    close(q->output);
    (void)waitpid(q->pid, NULL, WNOHANG); /* a process that waits for a file system may never end */
    *q = (struct pythia_git_question){.pid = -1, .output = -1};
}

/* A file that has changed is certain before the answer is complete; that nothing has is not. */
bool pythia_git_take(struct pythia_git_question *q, int wait_ms, struct pythia_run_context *c)
{
    int64_t until = read_clock_ms() + wait_ms;
    char bytes[4096];
    bool ended = q->pid <= 0;
    while (!ended && !q->complete && !q->changed) {
        int64_t left = until - read_clock_ms();
        struct pollfd one = {.fd = q->output, .events = POLLIN};
        int ready = poll(&one, 1, left > 0 ? (int)left : 0);
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready <= 0)
            return false;
        ssize_t got = read(q->output, bytes, sizeof(bytes));
        if (got > 0)
            take_bytes(q, bytes, (size_t)got);
        ended = got <= 0;
    }
    if (q->complete || q->changed) {
        if (!c->git_commit[0])
            snprintf(c->git_commit, sizeof(c->git_commit), "%s", q->commit);
        c->git_dirty = c->git_commit[0] ? q->changed : -1;
    }
    pythia_git_drop(q);
    return true;
}
