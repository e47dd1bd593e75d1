#define _GNU_SOURCE
#include "child.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pythia/log.h"

extern char **environ;

static volatile sig_atomic_t running_pid;

/* The terminal sends its signals to the child as well; a signal that somebody sent to this process
 * alone is handed on. */
static void hand_on(int number, siginfo_t *from, void *unused)
{
    (void)unused;
    if (running_pid > 0 && from->si_code != SI_KERNEL)
        kill((pid_t)running_pid, number);
}

static const int handed_on[] = {SIGHUP,  SIGINT,  SIGQUIT,  SIGTERM, SIGUSR1,
                                SIGUSR2, SIGALRM, SIGWINCH, SIGCONT};
#define HANDED_ON (sizeof(handed_on) / sizeof(handed_on[0]))

static uint64_t read_monotonic_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Bytes from and to storage, of the process and of all that it waited for. The file can still be
 * read when the process has ended and nobody has waited for it yet. */
static void read_storage(pid_t pid, struct pythia__child_result *result)
{
    char path[64], line[128];
    snprintf(path, sizeof(path), "/proc/%ld/io", (long)pid);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof(line), file)) {
        const char *number = strchr(line, ' ');
        if (number && strncmp(line, "read_bytes:", 11) == 0)
            result->read_bytes = strtoll(number, NULL, 10);
        else if (number && strncmp(line, "write_bytes:", 12) == 0)
            result->write_bytes = strtoll(number, NULL, 10);
    }
    if (file)
        fclose(file);
}

static void wait_for_child(pid_t pid, struct pythia__capture *capture,
                           struct pythia__child_result *result)
{
    int pidfd = capture ? pidfd_open(pid, 0) : -1;
    siginfo_t ended;
    if (pidfd >= 0) {
        pythia__capture_relay(capture, pidfd);
        close(pidfd);
    }
    while (waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
    }
    result->wall_ns = read_monotonic_clock(CLOCK_MONOTONIC) - result->wall_ns;
    read_storage(pid, result);
    while (wait4(pid, &result->status, 0, &result->usage) < 0)
        if (errno != EINTR) {
            result->status = 1 << 8;
            return;
        }
}

/* Start the program: 0, or an error number. posix_spawn(3) copies no page tables, which of this
 * process takes as long as a short program runs. */
static int start_program(const struct pythia__child *child, const sigset_t *mask, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0)
        return error;
    if ((error = posix_spawnattr_init(&attributes)) != 0)
        goto out;
    if ((error = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK)) == 0 &&
        (error = posix_spawnattr_setsigmask(&attributes, mask)) == 0 &&
        (!child->capture || (error = pythia__capture_enter(child->capture, &actions)) == 0))
        error = posix_spawn(pid, child->program, &actions, &attributes, child->arguments,
                            child->environment ? child->environment : environ);
    posix_spawnattr_destroy(&attributes);
out:
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

void pythia__child_run(const struct pythia__child *child, struct pythia__child_result *result)
{
    struct sigaction action = {.sa_sigaction = hand_on, .sa_flags = SA_SIGINFO | SA_RESTART};
    struct sigaction before[HANDED_ON];
    sigset_t all, mask;
    *result = (struct pythia__child_result){.read_bytes = -1, .write_bytes = -1};
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &mask); /* a signal now would find no child to go to */
    result->started_ns = read_monotonic_clock(CLOCK_REALTIME);
    result->wall_ns = read_monotonic_clock(CLOCK_MONOTONIC);
    pid_t pid = -1;
    int error = start_program(child, &mask, &pid);
    running_pid = error == 0 ? pid : 0;
    for (size_t i = 0; i < HANDED_ON; i++) {
        sigaction(handed_on[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN)
            sigaction(handed_on[i], &action, NULL);
    }
    sigprocmask(SIG_SETMASK, &mask, NULL);
    if (error == 0 && child->on_start)
        child->on_start(child->context, pid);
    if (error == 0)
        wait_for_child(pid, child->capture, result);
    running_pid = 0;
    for (size_t i = 0; i < HANDED_ON; i++)
        sigaction(handed_on[i], &before[i], NULL);
    if (error == 0)
        return;
    pythia_log(PYTHIA_LOG_ERROR, "%s: %s", child->arguments[0], strerror(error));
    result->status = (error == ENOENT ? 127 : 126) << 8;
    result->wall_ns = read_monotonic_clock(CLOCK_MONOTONIC) - result->wall_ns;
}

int pythia__child_exit(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int pythia__child_end(int status)
{
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    int number = WTERMSIG(status);
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none); /* the child's own core is enough */
    signal(number, SIG_DFL);
    raise(number);
    return 128 + number;
}
