/* A program with static probes, written by hand as <sys/sdt.h> would write them. It knows nothing
 * of who looks at them. The first argument says what it does. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../at_rest.h"
#include "probed.h"

#define KEEP __attribute__((noinline, noclone))
#ifdef __clang__
#undef KEEP
#define KEEP __attribute__((noinline))
#endif

SEMAPHORE(work_semaphore);

static int fails(const char *what)
{
    printf("failed: %s\n", what);
    return 1;
}

/* ---- pairs, on several threads ---- */

KEEP static long do_work(long n)
{
    PROBE_IF("demo", "work__start", work_semaphore, n);
    long twice = n * 2;
    __asm__ volatile("" : "+r"(twice));
    PROBE_IF("demo", "work__done", work_semaphore, twice);
    return twice;
}

static volatile long calls_per_thread;
static volatile int ending;

static void pause_for(long ns)
{
    const struct timespec pause = {0, ns};
    nanosleep(&pause, NULL);
}

static void *work_often(void *context)
{
    long *done = context, sum = 0;
    for (long i = 0; (calls_per_thread ? i < calls_per_thread : !ending); i++) {
        sum += do_work(i) - 2 * i;
        ++*done;
        if (!calls_per_thread && i % 16 == 0)
            pause_for(100000);
    }
    return sum ? (void *)"a sum is wrong" : NULL;
}

/* So many calls on each of 4 threads; 0: until a line comes. */
static int run_threads(long calls)
{
    pthread_t threads[4];
    long done[4] = {0}, all = 0;
    const char *why = NULL;
    calls_per_thread = calls;
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, work_often, &done[i]);
    if (!calls) {
        puts("running");
        fflush(stdout);
        (void)getchar();
        ending = 1;
    }
    for (int i = 0; i < 4; i++) {
        void *result;
        pthread_join(threads[i], &result);
        why = result ? result : why;
        all += done[i];
    }
    if (why)
        return fails(why);
    /* Until it is open again, and stays so: what was thrown last may still be on its way. */
    for (int looks = 0; !calls && looks < 1000; looks = work_semaphore ? looks + 1 : 0)
        pause_for(100000);
    for (long i = 0; !calls && i < 1000; i++)
        do_work(1000000 + i);
    printf("%ld semaphore=%d\n", all, work_semaphore);
    return 0;
}

/* NOLINTBEGIN(bugprone-macro-parentheses): pieces of assembly */
/* ---- what follows a nop ---- */

__attribute__((used)) static volatile long global = 7;
static const long table[4] = {1, 20, 300, 4000};

__attribute__((used)) KEEP static long add_one(long n)
{
    return n + 1;
}
__attribute__((used)) static long (*volatile by_pointer)(long n) = add_one;

/* Each gives a result that depends on the instructions after its probe. */
#define SITE(name)                                                                                 \
    "990: nop\n" NOTE("990b", "work_semaphore", "\"demo\", \"" name "\", \"-8@%%rdi\"")
#define RESULT(name, code)                                                                         \
    KEEP static long name(long n)                                                                  \
    {                                                                                              \
        long out;                                                                                  \
        __asm__ volatile(code                                                                      \
                         : "=a"(out), "+D"(n)                                                      \
                         :                                                                         \
                         : "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc");         \
        return out;                                                                                \
    }

RESULT(plain, SITE("plain") "lea 5(%%rdi), %%rax\n add $3, %%rax\n")
RESULT(relative, SITE("relative") "mov global(%%rip), %%rax\n add %%rdi, %%rax\n")
RESULT(relative_immediate,
       SITE("relative_immediate") "cmpl $7, global(%%rip)\n sete %%al\n movzx %%al, %%eax\n")
RESULT(short_branch, "mov $1, %%eax\n cmp $2, %%rdi\n" SITE(
                         "short_branch") "je 1f\n mov $9, %%eax\n 1: add $100, %%eax\n")
RESULT(two_branches,
       "xor %%eax, %%eax\n cmp $2, %%rdi\n" SITE(
           "two_branches") "jb 1f\n ja 2f\n inc %%eax\n 1: inc %%eax\n 2: add $10, %%eax\n")
RESULT(
    near_branch,
    "mov $1, %%eax\n test %%rdi, %%rdi\n" SITE(
        "near_branch") ".byte 0x0f, 0x84\n .4byte 1f - . - 4\n mov $2, %%eax\n 1: add $10, %%eax\n")
RESULT(short_jump, "mov $4, %%eax\n" SITE(
                       "short_jump") "jmp 1f\n mov $5, %%eax\n nop\n nop\n 1: add %%edi, %%eax\n")
RESULT(near_jump,
       "mov $4, %%eax\n" SITE(
           "near_jump") ".byte 0xe9\n .4byte 1f - . - 4\n mov $5, %%eax\n 1: add %%edi, %%eax\n")
RESULT(loops, "xor %%eax, %%eax\n mov $5, %%ecx\n 1: inc %%eax\n" SITE(
                  "loops") "loop 1b\n add $1, %%rax\n")
RESULT(zero_branch, "mov $3, %%eax\n mov %%edi, %%ecx\n" SITE(
                        "zero_branch") "jrcxz 1f\n mov $8, %%eax\n 1: add $1, %%rax\n")
RESULT(pushes, SITE("pushes") "push %%rdi\n pop %%rax\n push $5\n pop %%rcx\n add %%rcx, %%rax\n")
RESULT(one_byte,
       "xor %%eax, %%eax\n stc\n" SITE("one_byte") "cmc\n cmc\n adc $0, %%eax\n adc $1, %%eax\n")
RESULT(long_nop, "990: .byte 0x0f, 0x1f, 0x44, 0, 0\n" NOTE(
                     "990b", "0", "\"demo\", \"long_nop\", \"-8@%%rdi\"") "lea 1(%%rdi), %%rax\n")
/* A branch leads to the instruction after the probe, and one to the second after it. */
RESULT(into, "xor %%eax, %%eax\n mov $3, %%ecx\n test $1, %%dil\n jnz 1f\n" SITE(
                 "into") "1: inc %%eax\n 2: dec %%ecx\n jnz 1b\n")
RESULT(into_without,
       "xor %%eax, %%eax\n test $1, %%dil\n jnz 1f\n 990: nop\n" NOTE(
           "990b", "0",
           "\"demo\", \"into_without\", \"-8@%%rdi\"") "1: inc %%eax\n add $5, %%rax\n")
/* Two probes with one instruction between. */
RESULT(close_ones, SITE("close_ones") "mov %%rdi, %%rax\n" SITE("close_ones") "add $1, %%rax\n")
RESULT(red_zone, "mov %%rdi, -8(%%rsp)\n movq $77, -128(%%rsp)\n" SITE(
                     "red_zone") "mov -8(%%rsp), %%rax\n add -128(%%rsp), %%rax\n")

#define CALL(name, code)                                                                           \
    KEEP static long name(long n)                                                                  \
    {                                                                                              \
        long out;                                                                                  \
        __asm__ volatile(                                                                          \
            "mov %%rsp, %%rbx\n and $-16, %%rsp\n lea by_pointer(%%rip), %%rcx\n" SITE(#name) code \
            "mov %%rbx, %%rsp\n"                                                                   \
            : "=a"(out), "+D"(n)                                                                   \
            :                                                                                      \
            : "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc");               \
        return out;                                                                                \
    }
CALL(direct_call, "call add_one\n")
CALL(call_by_memory, "xchg %%ax, %%ax\n call *(%%rcx)\n")
CALL(call_relative, "call *by_pointer(%%rip)\n")
CALL(call_short, "call *(%%rcx)\n add $2, %%rax\n")
CALL(call_by_stack, "push (%%rcx)\n call *(%%rsp)\n")

long tail(long n);
__asm__(".text\n.type tail, @function\ntail:\n 990: nop\n" NOTE(
    "990b", "0",
    "\"demo\", \"tail\", \"-8@%rdi\"") "mov %rdi, %rax\n ret\n int3\n int3\n int3\n int3\n");

static const struct {
    const char *name;
    long (*function)(long n);
} results[] = {
    {"plain", plain},
    {"relative", relative},
    {"relative_immediate", relative_immediate},
    {"short_branch", short_branch},
    {"two_branches", two_branches},
    {"near_branch", near_branch},
    {"short_jump", short_jump},
    {"near_jump", near_jump},
    {"direct_call", direct_call},
    {"loops", loops},
    {"zero_branch", zero_branch},
    {"pushes", pushes},
    {"one_byte", one_byte},
    {"long_nop", long_nop},
    {"into", into},
    {"into_without", into_without},
    {"close_ones", close_ones},
    {"red_zone", red_zone},
    {"call_by_memory", call_by_memory},
    {"call_relative", call_relative},
    {"call_short", call_short},
    {"call_by_stack", call_by_stack},
    {"tail", tail},
};

/* The same lines, whether the probes are open or not. */
static int print_results(void)
{
    for (int round = 0; round < 3; round++)
        for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++)
            for (long n = 0; n < 4; n++)
                printf("%s %ld %ld\n", results[i].name, n, results[i].function(n + table[0] - 1));
    return 0;
}

/* ---- what a hit must not change ---- */

__attribute__((used)) static uint64_t wanted[15], found[16];
static uint8_t vectors[2][32][64] __attribute__((aligned(64)));
static uint64_t masks[2][8];

/* All general registers but rsp, and the flags, with direction and carry set. */
static void hit_with_registers(void)
{
    __asm__ volatile(
        "push %%rbp\n push %%rbx\n"
        "lea wanted(%%rip), %%rax\n"
        "mov 8(%%rax), %%rbx\n mov 16(%%rax), %%rcx\n mov 24(%%rax), %%rdx\n mov 32(%%rax), %%rsi\n"
        "mov 40(%%rax), %%rdi\n mov 48(%%rax), %%rbp\n mov 56(%%rax), %%r8\n mov 64(%%rax), %%r9\n"
        "mov 72(%%rax), %%r10\n mov 80(%%rax), %%r11\n mov 88(%%rax), %%r12\n mov 96(%%rax), "
        "%%r13\n"
        "mov 104(%%rax), %%r14\n mov 112(%%rax), %%r15\n mov (%%rax), %%rax\n"
        "stc\n std\n"
        "990: nop\n" NOTE(
            "990b", "work_semaphore",
            "\"demo\", \"registers\", \"-8@%%r15\"") "mov %%rax, found(%%rip)\n pushfq\n cld\n pop "
                                                     "%%rax\n mov %%rax, found + 120(%%rip)\n"
                                                     "lea found(%%rip), %%rax\n"
                                                     "mov %%rbx, 8(%%rax)\n mov %%rcx, 16(%%rax)\n "
                                                     "mov %%rdx, 24(%%rax)\n mov %%rsi, 32(%%rax)\n"
                                                     "mov %%rdi, 40(%%rax)\n mov %%rbp, "
                                                     "48(%%rax)\n mov %%r8, 56(%%rax)\n mov %%r9, "
                                                     "64(%%rax)\n"
                                                     "mov %%r10, 72(%%rax)\n mov %%r11, "
                                                     "80(%%rax)\n mov %%r12, 88(%%rax)\n mov "
                                                     "%%r13, 96(%%rax)\n"
                                                     "mov %%r14, 104(%%rax)\n mov %%r15, "
                                                     "112(%%rax)\n"
                                                     "pop %%rbx\n pop %%rbp\n"
        :
        :
        : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
          "memory", "cc");
}

#define EACH_16(code)                                                                              \
    ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n" code "\n.endr\n"
#define EACH_UPPER(code)                                                                           \
    ".irp n, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31\n" code "\n.endr\n"
#define EACH_MASK(code) ".irp n, 1, 2, 3, 4, 5, 6, 7\n" code "\n.endr\n"
#define HIT_VECTORS(load, store)                                                                   \
    __asm__ volatile(                                                                              \
        load "990: nop\n" NOTE("990b", "work_semaphore", "\"demo\", \"vectors\", \"-8@$5\"") store \
        :                                                                                          \
        : "r"(vectors[0]), "r"(vectors[1]), "r"(masks[0]), "r"(masks[1])                           \
        : "memory", "cc")

/* NOLINTEND(bugprone-macro-parentheses) */
static void hit_with_xmm(void)
{
    HIT_VECTORS(EACH_16("movaps 64 * \\n(%0), %%xmm\\n"), EACH_16("movaps %%xmm\\n, 64 * \\n(%1)"));
}

static void hit_with_ymm(void)
{
    HIT_VECTORS(EACH_16("vmovaps 64 * \\n(%0), %%ymm\\n"),
                EACH_16("vmovaps %%ymm\\n, 64 * \\n(%1)") "vzeroupper\n");
}

static void hit_with_zmm(void)
{
    HIT_VECTORS(
        EACH_16("vmovaps 64 * \\n(%0), %%zmm\\n") EACH_UPPER("vmovaps 64 * \\n(%0), %%zmm\\n")
            EACH_MASK("kmovw 8 * \\n(%2), %%k\\n"),
        EACH_16("vmovaps %%zmm\\n, 64 * \\n(%1)") EACH_UPPER("vmovaps %%zmm\\n, 64 * \\n(%1)")
            EACH_MASK("kmovw %%k\\n, 8 * \\n(%3)") "vzeroupper\n");
}

/* Bytes of a vector register that this machine has. */
static size_t find_width(void)
{
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f"))
        return 64;
    return __builtin_cpu_supports("avx2") ? 32 : 16;
}

static int check_registers(void)
{
    size_t width = find_width();
    for (size_t i = 0; i < 15; i++)
        wanted[i] = UINT64_C(0x0123456789abcdef) * (i + 1);
    for (size_t i = 0; i < sizeof(vectors[0]); i++)
        ((uint8_t *)vectors[0])[i] = (uint8_t)(i * 7 + 1);
    for (size_t i = 0; i < 8; i++)
        masks[0][i] = 0x1111 * (i + 1);
    for (int round = 0; round < 5000; round++) {
        hit_with_registers();
        if (memcmp(wanted, found, sizeof(wanted)) != 0 || (found[15] & 0x401) != 0x401)
            return fails("a general register or a flag was changed");
        memset(vectors[1], 0, sizeof(vectors[1]));
        if (width == 64)
            hit_with_zmm();
        else if (width == 32)
            hit_with_ymm();
        else
            hit_with_xmm();
        for (size_t i = 0; i < (width == 64 ? 32 : 16); i++)
            if (memcmp(vectors[0][i], vectors[1][i], width) != 0)
                return fails("a vector register was changed");
        if (width == 64 && memcmp(&masks[0][1], &masks[1][1], 7 * sizeof(masks[0][0])) != 0)
            return fails("a mask register was changed");
    }
    printf("the same: %zu bytes wide\n", width);
    return 0;
}

/* ---- arguments ---- */

/* Every kind of operand, and a pointer that leads nowhere. */
KEEP static void give_arguments(const char *statement)
{
    static const int32_t places[] = {-1, -2, -3};
    __asm__ volatile(
        "movq $-300, -16(%%rsp)\n"
        "990: nop\n" NOTE(
            "990b", "0",
            "\"demo\", \"arguments\", \"8@%%rdi 8@%%rsi -4@4(%%rdx) -4@(%%rdx,%%rcx,4) "
            "1@%%al 1@%%ah -4@$-17 -2@-16(%%rsp) 8@8(%%r8) 8f@%%xmm0 2@%%di\"")
        :
        : "D"(0x1234567890), "S"(statement), "d"(places), "c"((uint64_t)2), "a"(0x1ff)
        : "r8", "memory");
    __asm__ volatile("mov $16, %%r8d\n"
                     "990: nop\n" NOTE("990b", "0", "\"demo\", \"bad\", \"8@8(%%r8) 8@%%r8\"")
                     :
                     :
                     : "r8", "memory");
    __asm__ volatile("990: nop\n" NOTE("990b", "0", "\"demo\", \"statement__start\", \"8@%%rsi\"")
                     :
                     : "S"(statement)
                     : "memory");
    __asm__ volatile("990: nop\n" NOTE("990b", "0", "\"demo\", \"statement__done\", \"\"")
                     :
                     :
                     : "memory");
}

/* ---- signals ---- */

#define ALARMS 1000
static sigjmp_buf back;
static volatile sig_atomic_t may_jump, alarms;

static void on_alarm(int number)
{
    (void)number;
    do_work(alarms);
    if (++alarms % 3 == 0 && may_jump)
        siglongjmp(back, 1);
}

/* A timer whose handler hits probes, and leaves every third time by siglongjmp. */
static int take_signals(void)
{
    const struct sigaction action = {.sa_handler = on_alarm};
    const struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    while (alarms < ALARMS) {
        if (sigsetjmp(back, 1) == 0) {
            may_jump = 1;
            for (long i = 0; alarms < ALARMS; i++) {
                if (do_work(i) != 2 * i)
                    return fails("a sum is wrong");
                if (i % 512 == 0)
                    pause_for(100000);
            }
        }
        may_jump = 0;
    }
    setitimer(ITIMER_REAL, &never, NULL);
    puts("signals");
    return 0;
}

static volatile sig_atomic_t own_traps;

static void on_trap(int number)
{
    (void)number;
    own_traps++;
}

static void *work_blocked(void *context)
{
    sigset_t every;
    (void)context;
    sigfillset(&every);
    pthread_sigmask(SIG_SETMASK, &every, NULL);
    for (int i = 0; i < 1000; i++)
        into_without(i);
    return NULL;
}

/* A thread that blocks all signals, and a handler of the program's own for SIGTRAP. */
static int use_trap(void)
{
    struct sigaction action = {.sa_handler = on_trap}, old;
    pthread_t thread;
    pthread_create(&thread, NULL, work_blocked, NULL);
    pthread_join(thread, NULL);
    sigaction(SIGTRAP, &action, NULL);
    sigaction(SIGTRAP, NULL, &old);
    into_without(2);
    raise(SIGTRAP);
    __asm__ volatile("int3");
    into_without(2);
    printf("traps of its own: %d, handler kept: %d\n", (int)own_traps, old.sa_handler == on_trap);
    return 0;
}

/* SIGTRAP is taken past the C library, as the runtime of Go does. It waits until that was noticed:
 * a breakpoint would end it. */
static int steal_trap(void)
{
    const struct {
        sighandler_t handler;
        unsigned long flags;
        void (*restorer)(void);
        uint64_t mask;
    } action = {.handler = SIG_DFL};
    printf("open before: %d\n", work_semaphore > 0);
    if (syscall(SYS_rt_sigaction, SIGTRAP, &action, NULL, sizeof(action.mask)) != 0)
        return fails("rt_sigaction");
    while (work_semaphore)
        pause_for(100000);
    for (long i = 0; i < 1000; i++) {
        do_work(i);
        into_without(i);
    }
    puts("unharmed");
    return 0;
}

/* ---- other processes, and libraries ---- */

static int fork_and_exec(char **argv)
{
    int status = 0;
    for (long i = 0; i < 10; i++)
        do_work(i);
    for (int child = 0; child < 5; child++) {
        pid_t pid = fork_at_rest();
        if (pid == 0) {
            for (long i = 0; i < 10 && child < 4; i++)
                do_work(i);
            if (child < 4)
                exit(0);
            execl("/proc/self/exe", argv[0], "threads", "5", NULL);
            _exit(127);
        }
        waitpid(pid, &status, 0);
        if (status != 0)
            return fails("a child did not end well");
    }
    puts("forked");
    return 0;
}

static void *keep_working(void *context)
{
    (void)context;
    while (!ending)
        do_work(1);
    return NULL;
}

/* A library with probes comes and goes while another thread hits its own. */
static int load_often(const char *path, int times)
{
    pthread_t thread;
    pthread_create(&thread, NULL, keep_working, NULL);
    for (int i = 0; i < times; i++) {
        void *library = dlopen(path, RTLD_NOW);
        void *symbol = library ? dlsym(library, "plugin_work") : NULL;
        long (*function)(long);
        if (!symbol)
            return fails(dlerror());
        memcpy(&function, &symbol, sizeof(function));
        for (long n = 0; n < 10; n++)
            if (function(n) != n + 1)
                return fails("the library");
        dlclose(library);
    }
    ending = 1;
    pthread_join(thread, NULL);
    puts("loaded");
    return 0;
}

/* A filter of seccomp that allows everything, or a tracer; then the program begins anew. */
static int confine(char **argv)
{
    struct sock_filter allow[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const struct sock_fprog program = {1, allow};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        return 77;
    execl("/proc/self/exe", argv[0], "threads", "5", NULL);
    return 1;
}

static int trace_self(char **argv)
{
    int status = 0;
    pid_t pid = fork_at_rest();
    if (pid == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
            _exit(77);
        execl("/proc/self/exe", argv[0], "threads", "5", NULL);
        _exit(1);
    }
    while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status))
        ptrace(PTRACE_CONT, pid, NULL, WSTOPSIG(status) == SIGTRAP ? 0L : (long)WSTOPSIG(status));
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "threads") == 0 && argc > 2)
        return run_threads(strtol(argv[2], NULL, 10));
    if (strcmp(what, "arguments") == 0) {
        give_arguments("select v from t where k = 17 /*traceparent='00-"
                       "0123456789abcdef0123456789abcdef-fedcba9876543210-00'*/");
        return 0;
    }
    if (strcmp(what, "results") == 0)
        return print_results();
    if (strcmp(what, "registers") == 0)
        return check_registers();
    if (strcmp(what, "signals") == 0)
        return take_signals();
    if (strcmp(what, "trap") == 0)
        return use_trap();
    if (strcmp(what, "steal") == 0)
        return steal_trap();
    if (strcmp(what, "fork") == 0)
        return fork_and_exec(argv);
    if (strcmp(what, "plugin") == 0 && argc > 3)
        return load_often(argv[2], (int)strtol(argv[3], NULL, 10));
    if (strcmp(what, "seccomp") == 0)
        return confine(argv);
    if (strcmp(what, "traced") == 0)
        return trace_self(argv);
    return 2;
}
