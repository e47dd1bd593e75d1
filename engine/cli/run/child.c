#define _GNU_SOURCE
#include "child.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pythia/log.h"

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

/* In the child; does not return. */
static void execute_program(const struct pythia__child *child, const sigset_t *mask)
{
    sigprocmask(SIG_SETMASK, mask, NULL);
    if (child->capture)
        pythia__capture_enter(child->capture);
    if (child->set_up)
        child->set_up(child->context);
    execv(child->program, child->arguments);
    int number = errno;
    pythia_log(PYTHIA_LOG_ERROR, "%s: %s", child->arguments[0], strerror(number));
    _exit(number == ENOENT ? 127 : 126);
}

void pythia__child_run(const struct pythia__child *child, struct pythia__child_result *result)
{
    struct sigaction action = {.sa_sigaction = hand_on, .sa_flags = SA_SIGINFO | SA_RESTART};
    struct sigaction before[HANDED_ON];
    sigset_t all, mask;
    *result = (struct pythia__child_result){.status = 1 << 8, .read_bytes = -1, .write_bytes = -1};
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &mask); /* a signal now would find no child to go to */
    result->started_ns = read_monotonic_clock(CLOCK_REALTIME);
    result->wall_ns = read_monotonic_clock(CLOCK_MONOTONIC);
    pid_t pid = fork();
    if (pid == 0)
        execute_program(child, &mask);
    running_pid = pid;
    for (size_t i = 0; i < HANDED_ON; i++) {
        sigaction(handed_on[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN)
            sigaction(handed_on[i], &action, NULL);
    }
    sigprocmask(SIG_SETMASK, &mask, NULL);
    if (pid > 0 && child->on_start)
        child->on_start(child->context, pid);
    if (pid > 0)
        wait_for_child(pid, child->capture, result);
    running_pid = 0;
    for (size_t i = 0; i < HANDED_ON; i++)
        sigaction(handed_on[i], &before[i], NULL);
    if (pid < 0)
        pythia_log(PYTHIA_LOG_ERROR, "Cannot start %s: %s", child->program, strerror(errno));
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
