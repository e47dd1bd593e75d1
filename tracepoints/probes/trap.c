/* SPDX-License-Identifier: MIT */
/* int3: at sites where no jump can stand, at instructions that a jump has overwritten, and
 * everywhere while code is being patched.
 *
 * An int3 on a thread that blocks SIGTRAP ends the program. So the functions of the C library by
 * which a program blocks signals leave SIGTRAP out, once it is taken here; and a handler that the
 * program sets for SIGTRAP is kept, shown to the program as if it were in force, and called for
 * what is not of a site. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "probes.h"

int pythia__hooked_pthread_sigmask(int how, const sigset_t *set, sigset_t *old);

static struct {
    int taken;
    struct sigaction of_program; /* its action, as it believes */
} traps;

/* ---- what the C library has ---- */

static void *find_next(const char *name, const char *version)
{
    void *found = dlvsym(RTLD_NEXT, name, version);
    return found ? found : dlvsym(RTLD_NEXT, name, "GLIBC_2.2.5");
}

/* The functions that are replaced are found when they are first called: that may be by the
 * constructor of another library. */
#define REAL(name, version)                                                                        \
    static __typeof__(name) *real;                                                                 \
    if (!__atomic_load_n(&real, __ATOMIC_ACQUIRE)) {                                               \
        void *found = find_next(#name, version);                                                   \
        __typeof__(name) *function;                                                                \
        memcpy(&function, &found, sizeof(function));                                               \
        __atomic_store_n(&real, function, __ATOMIC_RELEASE);                                       \
    }

static int real_sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    REAL(sigaction, "GLIBC_2.2.5")
    return real(number, action, old);
}

/* ---- the handler ---- */

static void fill_registers(const greg_t *g, struct pythia__probe_registers *r)
{
#define REGISTER(name) ((uint64_t)g[name])
    *r = (struct pythia__probe_registers){
        .r15 = REGISTER(REG_R15),
        .r14 = REGISTER(REG_R14),
        .r13 = REGISTER(REG_R13),
        .r12 = REGISTER(REG_R12),
        .rbp = REGISTER(REG_RBP),
        .rbx = REGISTER(REG_RBX),
        .r11 = REGISTER(REG_R11),
        .r10 = REGISTER(REG_R10),
        .r9 = REGISTER(REG_R9),
        .r8 = REGISTER(REG_R8),
        .rax = REGISTER(REG_RAX),
        .rcx = REGISTER(REG_RCX),
        .rdx = REGISTER(REG_RDX),
        .rsi = REGISTER(REG_RSI),
        .rdi = REGISTER(REG_RDI),
        .rsp = REGISTER(REG_RSP),
    };
#undef REGISTER
}

/* The program's own action for a SIGTRAP that is not from a site. */
static void pass_trap_on(int number, siginfo_t *info, ucontext_t *context)
{
    struct sigaction action = traps.of_program;
    int is_int3 = info->si_code > 0;
    if (action.sa_flags & SA_SIGINFO) {
        action.sa_sigaction(number, info, context);
    } else if (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN) {
        action.sa_handler(number);
    } else if (is_int3 || action.sa_handler == SIG_DFL) {
        struct sigaction fatal = {.sa_handler = SIG_DFL};
        real_sigaction(SIGTRAP, &fatal, NULL);
        if (is_int3)
            context->uc_mcontext.gregs[REG_RIP]--; /* it comes back, for the last time */
        else
            syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGTRAP);
    }
}

/* The thread goes on in the moved code, or after the nop if there is none. */
static void take_trap(int number, siginfo_t *info, void *context)
{
    ucontext_t *c = context;
    greg_t *g = c->uc_mcontext.gregs;
    const uint8_t *at = (const uint8_t *)g[REG_RIP] - 1; /* NOLINT(performance-no-int-to-ptr) */
    int saved = errno;
    const struct pythia__placed *p = info->si_code > 0 ? pythia__placed_around(at) : NULL;
    if (p && at == p->at) {
        struct pythia__probe_registers r;
        fill_registers(g, &r);
        pythia__probe_hit(p->number, &r);
        g[REG_RIP] = (greg_t)(p->moved ? p->moved : p->at + p->site->nop);
    } else if (p) {
        g[REG_RIP] = (greg_t)(p->moved + p->site->code.begins[at - p->at] - 1);
    } else {
        pass_trap_on(number, info, c);
    }
    errno = saved;
}

int pythia__trap_begin(void)
{
    struct sigaction action = {.sa_sigaction = take_trap,
                               .sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART},
                     before;
    sigset_t trap;
    if (real_sigaction(SIGTRAP, &action, &before) != 0)
        return -errno;
    traps.of_program = before;
    __atomic_store_n(&traps.taken, 1, __ATOMIC_RELEASE);
    sigemptyset(&trap);
    sigaddset(&trap, SIGTRAP);
    return -pythia__hooked_pthread_sigmask(SIG_UNBLOCK, &trap, NULL);
}

int pythia__trap_is_ours(void)
{
    struct sigaction now;
    return real_sigaction(SIGTRAP, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) &&
           now.sa_sigaction == take_trap;
}

/* ---- what a program does with signals: probe_x86_64.S has the names that it calls ---- */

/* A set without SIGTRAP, in `room`; NULL stays NULL. */
static const sigset_t *leave_out_trap(const sigset_t *set, sigset_t *room)
{
    if (!set || !__atomic_load_n(&traps.taken, __ATOMIC_ACQUIRE) || sigismember(set, SIGTRAP) != 1)
        return set;
    *room = *set;
    sigdelset(room, SIGTRAP);
    return room;
}

int pythia__hooked_sigaction(int number, const struct sigaction *action, struct sigaction *old);
int pythia__hooked_sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    struct sigaction copy;
    if (!__atomic_load_n(&traps.taken, __ATOMIC_ACQUIRE))
        return real_sigaction(number, action, old);
    if (number == SIGTRAP) {
        struct sigaction before = traps.of_program;
        if (action)
            traps.of_program = *action;
        if (old)
            *old = before;
        return 0;
    }
    if (action) {
        copy = *action;
        sigdelset(&copy.sa_mask, SIGTRAP);
        action = &copy;
    }
    return real_sigaction(number, action, old);
}

static sighandler_t set_handler(int number, sighandler_t handler, int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags}, old;
    return pythia__hooked_sigaction(number, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

sighandler_t pythia__hooked_signal(int number, sighandler_t handler);
sighandler_t pythia__hooked_signal(int number, sighandler_t handler)
{
    REAL(signal, "GLIBC_2.2.5")
    if (number == SIGTRAP && __atomic_load_n(&traps.taken, __ATOMIC_ACQUIRE))
        return set_handler(number, handler, SA_RESTART);
    return real(number, handler);
}

int pythia__hooked_pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    sigset_t room;
    REAL(pthread_sigmask, "GLIBC_2.32")
    return real(how, how == SIG_UNBLOCK ? set : leave_out_trap(set, &room), old);
}

int pythia__hooked_sigprocmask(int how, const sigset_t *set, sigset_t *old);
int pythia__hooked_sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    sigset_t room;
    REAL(sigprocmask, "GLIBC_2.2.5")
    return real(how, how == SIG_UNBLOCK ? set : leave_out_trap(set, &room), old);
}

/* Handlers that run while these wait have their mask. */
int pythia__hooked_sigsuspend(const sigset_t *set);
int pythia__hooked_sigsuspend(const sigset_t *set)
{
    sigset_t room;
    REAL(sigsuspend, "GLIBC_2.2.5")
    return real(leave_out_trap(set, &room));
}

int pythia__hooked_ppoll(struct pollfd *files, nfds_t count, const struct timespec *timeout,
                         const sigset_t *set);
int pythia__hooked_ppoll(struct pollfd *files, nfds_t count, const struct timespec *timeout,
                         const sigset_t *set)
{
    sigset_t room;
    REAL(ppoll, "GLIBC_2.4")
    return real(files, count, timeout, leave_out_trap(set, &room));
}

int pythia__hooked_pselect(int count, fd_set *read, fd_set *write, fd_set *except,
                           const struct timespec *timeout, const sigset_t *set);
int pythia__hooked_pselect(int count, fd_set *read, fd_set *write, fd_set *except,
                           const struct timespec *timeout, const sigset_t *set)
{
    sigset_t room;
    REAL(pselect, "GLIBC_2.2.5")
    return real(count, read, write, except, timeout, leave_out_trap(set, &room));
}

int pythia__hooked_epoll_pwait(int file, struct epoll_event *events, int count, int timeout,
                               const sigset_t *set);
int pythia__hooked_epoll_pwait(int file, struct epoll_event *events, int count, int timeout,
                               const sigset_t *set)
{
    sigset_t room;
    REAL(epoll_pwait, "GLIBC_2.6")
    return real(file, events, count, timeout, leave_out_trap(set, &room));
}
