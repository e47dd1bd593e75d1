#define _GNU_SOURCE
#include "shared/guard.h"

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pythia/mem.h"
#include "pythia/status.h"

#define NAP_NS UINT64_C(100000000) /* between looks at the clock */

/* Shared by the two processes. */
struct words {
    _Atomic uint64_t deadline_ns; /* of CLOCK_BOOTTIME, which a machine that sleeps does not stop;
                                     0: there is no lease yet */
    _Atomic uint32_t left;        /* the daemon does not need it any more */
};

struct pythia__guard {
    struct words *words; /* mapped */
    void (*put_back)(void *context);
    void *context; /* borrowed */
    pid_t process;
};

static uint64_t read_guard_clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* ---- in the process of its own ---- */

static volatile sig_atomic_t asked_to_end;

static void note_signal(int number)
{
    (void)number;
    asked_to_end = 1;
}

/* Nothing that was the daemon's is kept: its sockets must be free for the next one. */
static void detach_guard(void)
{
    struct sigaction action = {.sa_handler = note_signal};
    for (int number = 1; number < NSIG; number++)
        if (number != SIGKILL && number != SIGSTOP)
            signal(number, SIG_DFL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    close_range(0, ~0U, 0);
    for (int i = 0; i < 3; i++) /* liblttng-ctl aborts at a socket with the number 0 */
        (void)open("/dev/null", O_RDWR);
    setsid(); /* what ends the daemon's terminal or group does not end this */
    prctl(PR_SET_NAME, "pythia-guard");
}

static _Noreturn void watch_parent(const struct pythia__guard *g, pid_t parent)
{
    uint64_t served = 0; /* the deadline that was acted on */
    detach_guard();
    for (;;) {
        uint64_t now = read_guard_clock_ns(), deadline = atomic_load(&g->words->deadline_ns);
        bool orphan = getppid() != parent || atomic_load(&g->words->left);
        bool due = deadline != 0 && deadline != served;
        if (due && (now >= deadline || asked_to_end)) {
            g->put_back(g->context);
            served = deadline;
            due = false;
        }
        if (asked_to_end || (orphan && !due))
            _exit(0);
        uint64_t nap = due && deadline - now < NAP_NS ? deadline - now : NAP_NS;
        nanosleep(&(struct timespec){0, (long)nap}, NULL);
    }
}

/* ---- in the daemon ---- */

static int start_guard(struct pythia__guard *g)
{
    pid_t parent = getpid();
    g->process = fork();
    if (g->process == 0)
        watch_parent(g, parent);
    return g->process > 0 ? PYTHIA_OK : PYTHIA_EIO;
}

static void free_guard(struct pythia__guard *g)
{
    if (g->words)
        munmap(g->words, sizeof(*g->words));
    pythia_free(g);
}

int pythia__guard_start(void (*put_back)(void *context), void *context, struct pythia__guard **out)
{
    struct pythia__guard *g = pythia_calloc(1, sizeof(*g));
    if (!g)
        return PYTHIA_ENOMEM;
    g->put_back = put_back;
    g->context = context;
    void *words =
        mmap(NULL, sizeof(*g->words), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    g->words = words == MAP_FAILED ? NULL : words;
    int status = g->words ? start_guard(g) : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK) {
        free_guard(g);
        return status;
    }
    *out = g;
    return PYTHIA_OK;
}

void pythia__guard_renew(struct pythia__guard *g, uint64_t lease_ns)
{
    atomic_store(&g->words->deadline_ns, read_guard_clock_ns() + lease_ns);
    if (g->process > 0 && waitpid(g->process, NULL, WNOHANG) == 0)
        return;
    start_guard(g);
}

void pythia__guard_leave(struct pythia__guard *g, bool is_done)
{
    if (!g)
        return;
    atomic_store(&g->words->left, 1);
    if ((is_done || atomic_load(&g->words->deadline_ns) == 0) && g->process > 0) {
        kill(g->process, SIGKILL);
        waitpid(g->process, NULL, 0);
    }
    free_guard(g);
}
