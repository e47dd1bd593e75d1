#define _DEFAULT_SOURCE /* SIGWINCH */
#include "child.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pythia/log.h"

static volatile sig_atomic_t child;

/* What the terminal sends, the child has got too; what somebody has sent to this process alone is
 * handed on. */
static void hand_on(int number, siginfo_t *from, void *unused)
{
    (void)unused;
    if (child > 0 && from->si_code != SI_KERNEL)
        kill((pid_t)child, number);
}

static const int handed_on[] = {SIGHUP,  SIGINT,  SIGQUIT,  SIGTERM, SIGUSR1,
                                SIGUSR2, SIGALRM, SIGWINCH, SIGCONT};
#define HANDED_ON (sizeof(handed_on) / sizeof(handed_on[0]))

static int wait_for(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return 1;
    return status;
}

int pythia__child_run(const char *program, char *const *arguments, void (*set_up)(void *context),
                      void *context)
{
    struct sigaction action = {.sa_sigaction = hand_on, .sa_flags = SA_SIGINFO | SA_RESTART};
    struct sigaction before[HANDED_ON];
    sigset_t all, mask;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &mask);
    pid_t pid = fork();
    if (pid == 0) {
        sigprocmask(SIG_SETMASK, &mask, NULL);
        set_up(context);
        execv(program, arguments);
        int number = errno;
        pythia_log(PYTHIA_LOG_ERROR, "%s: %s", arguments[0], strerror(number));
        _exit(number == ENOENT ? 127 : 126);
    }
    child = pid;
    for (size_t i = 0; i < HANDED_ON; i++) {
        sigaction(handed_on[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN)
            sigaction(handed_on[i], &action, NULL);
    }
    sigprocmask(SIG_SETMASK, &mask, NULL);
    int status = pid > 0 ? wait_for(pid) : 1;
    child = 0;
    for (size_t i = 0; i < HANDED_ON; i++)
        sigaction(handed_on[i], &before[i], NULL);
    if (pid < 0)
        pythia_log(PYTHIA_LOG_ERROR, "%s cannot be started: %s", program, strerror(errno));
    return status;
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
