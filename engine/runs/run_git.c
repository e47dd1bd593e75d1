/* What git is asked, and what can be read without it. A repository with its refs in another format
 * (reftable), or with GIT_DIR set, is left to git. */
#define _GNU_SOURCE
#include "pythia/run_git.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

#define PACKED_MAX                                                                                 \
    ((size_t)1 << 20) /* bytes of packed-refs that are read; then git says the commit */
#define LINKS_MAX 5   /* refs that name another one */

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

bool pythia_git_find(struct pythia_git_state *state)
{
    char folder[PATH_MAX];
    *state = (struct pythia_git_state){.dirty = -1};
    if (!find_repository(folder))
        return false;
    if (!getenv("GIT_DIR"))
        read_commit(folder, state->commit);
    return true;
}

/* --no-optional-locks: a question must not make a git command of the user fail on index.lock. One
 * thread: with six, as git takes for 3000 files, it would take processors from the program. */
static char *const words[] = {
    "git",      "--no-optional-locks",  "-c", "core.preloadIndex=false", "status", "--porcelain=v2",
    "--branch", "--untracked-files=no", NULL};

/* Start git with its output on `output`: its process id, or -1. */
static pid_t start_git(int output)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    pid_t pid = -1;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output, 1);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&attributes, 0);
    if (posix_spawnp(&pid, words[0], &actions, &attributes, words, environ) != 0)
        pid = -1;
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return pid;
}

void pythia_git_ask(struct pythia_git_question *q)
{
    int ends[2];
    *q = (struct pythia_git_question){.pid = -1, .output = -1};
    if (pipe2(ends, O_CLOEXEC) != 0)
        return;
    fcntl(ends[0], F_SETFL, O_NONBLOCK); /* ours alone: git may wait for us */
    q->pid = start_git(ends[1]);
    close(ends[1]);
    if (q->pid > 0)
        q->output = ends[0];
    else
        close(ends[0]);
}

/* Lines that begin with '#' are headers, of which one names the commit; each other line is a file
 * that has changed. */
static void take_line(struct pythia_git_question *q)
{
    static const char commit[] = "# branch.oid ";
    q->line[q->line_size] = '\0';
    q->line_size = 0;
    if (q->line[0] != '#')
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

static void end_question(struct pythia_git_question *q)
{
    close(q->output);
    *q = (struct pythia_git_question){.pid = -1, .output = -1};
}

void pythia_git_drop(struct pythia_git_question *q)
{
    if (q->pid <= 0)
        return;
    kill(-q->pid, SIGKILL);
    (void)waitpid(q->pid, NULL, WNOHANG); /* a process that waits for a file system may never end */
    end_question(q);
}

/* Whether the files are unchanged is certain only if git has not failed. */
static bool wait_for_git(const struct pythia_git_question *q)
{
    int status = 0;
    pid_t ended;
    while ((ended = waitpid(q->pid, &status, 0)) < 0 && errno == EINTR) {
    }
    return ended == q->pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* False: git is still at work. */
static bool read_answer(struct pythia_git_question *q)
{
    char bytes[4096];
    for (;;) {
        ssize_t got = read(q->output, bytes, sizeof(bytes));
        if (got > 0)
            take_bytes(q, bytes, (size_t)got);
        if (q->changed || got == 0)
            return true;
        if (got < 0 && errno != EINTR)
            return errno != EAGAIN;
    }
}

bool pythia_git_take(struct pythia_git_question *q, struct pythia_git_state *state)
{
    state->dirty = -1;
    if (q->pid <= 0)
        return true;
    if (!read_answer(q))
        return false;
    /* That a file has changed is certain before the answer is complete. */
    bool changed = q->changed, known = changed || wait_for_git(q);
    if (known && !state->commit[0])
        snprintf(state->commit, sizeof(state->commit), "%s", q->commit);
    if (known && state->commit[0])
        state->dirty = changed;
    if (changed)
        pythia_git_drop(q);
    else
        end_question(q);
    return true;
}
