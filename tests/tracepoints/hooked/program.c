/* A program that knows nothing of trace points: program CASE runs one of those below, and fails if
 * anything is not as it is without them. */
#define _GNU_SOURCE
#include <errno.h>
#include <execinfo.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "../at_rest.h"
#include "library.h"

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition);          \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static void signatures(void)
{
    CHECK(many_integers(1, 2, 3, 4, 5, 6, 7, 8, 9, 10) == 385);
    CHECK(many_doubles(1, 2, 3, 4, 5, 6, 7, 8, 9, 10) == 385);
    CHECK(interleaved(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18) == 171);
    struct large l = {{1, 2, 3, 4, 5, 6, 7, 8, 9}}, m = large_of(l, 100);
    for (int i = 0; i < 9; i++)
        CHECK(m.word[i] == 101 + i && l.word[i] == 1 + i);
    struct two_doubles d = two_doubles_of(1.25);
    CHECK(d.a == 1.25 && d.b == 2.5);
    struct mixed x = mixed_of(41, 0.5);
    CHECK(x.a == 42 && x.b == 1.5);
    struct two_longs t = two_longs_of(7);
    CHECK(t.a == 7 && t.b == -7);
    struct three_floats f = three_floats_of(1.5F);
    CHECK(f.a == 1.5F && f.b == 2.5F && f.c == 3.5F);
    CHECK(long_double_of(1.0L / 3, 3) == 1.0L / 3 * 3);
    CHECK(sum_of(10, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0) == 55);
    char text[64];
    CHECK(print_to(text, sizeof(text), "%d %s %.2f %ld %d %d %d", 1, "two", 3.5, 4L, 5, 6, 7) ==
          18);
    CHECK(strcmp(text, "1 two 3.50 4 5 6 7") == 0);
    errno = 0;
    CHECK(fails_with(ENOTTY) == -1 && errno == ENOTTY);
    CHECK(factorial(10) == 3628800);
    CHECK(first_of_chain(4) == 42);
    CHECK(strcmp(greeting("Ada", NULL), "hello") == 0 && !greeting(NULL, NULL));
    CHECK(small_numbers(-1, 65535, -2, 255) == 251);
    CHECK(wide_vectors(256) != 1 && wide_vectors(512) != 1);
}

/* ---- values ---- */

static void values(void)
{
    many_integers(1, -2, 3, 4, 5, 6, -7, 8, 9, 1L << 40);
    many_doubles(0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, -7.5, 8.5, 9.5);
    three_floats_of(1.5F);
    small_numbers(-1, 65535, -2, 255);
    fails_with(ENOTTY);
    greeting("Ada", (const char *)16); /* no pointer */
    greeting(NULL, "unterminated and long");
    char *pages = aligned_alloc(4096, 8192);
    memset(pages, 'x', 8192); /* a string without an end */
    greeting(pages, pages + 8190);
    free(pages);
}

/* ---- jumps ---- */

static jmp_buf outside;

static void jump(void *to)
{
    longjmp(outside, *(int *)to);
}

static void jumps(void)
{
    volatile int times = 0, i;
    int number = 1;
    for (i = 0; i < 20000; i++) {
        if (setjmp(outside) == 0) {
            if (i % 2)
                call_back(jump, &number);
            else
                call_back_outer(jump, &number);
        }
        times++;
        if (i % 1000 == 0)
            CHECK(tiny(i) == i + 1);
    }
    CHECK(times == 20000);
}

/* ---- coroutines ---- */

static ucontext_t main_context, contexts[3];
static int steps[3];

static void yield(void *which)
{
    long i = (long)which;
    swapcontext(&contexts[i], &main_context);
}

static void coroutine(int which)
{
    for (int i = 0; i < 100; i++) {
        call_back(yield, (void *)(long)which); /* NOLINT */
        steps[which]++;
    }
}

/* Three stacks, calls of which do not end in the order they began in. */
static void coroutines(void)
{
    for (int i = 0; i < 3; i++) {
        getcontext(&contexts[i]);
        contexts[i].uc_stack.ss_size = 65536;
        contexts[i].uc_stack.ss_sp = malloc(65536);
        contexts[i].uc_link = &main_context;
        makecontext(&contexts[i], (void (*)(void))coroutine, 1, i);
    }
    for (int round = 0; round <= 100; round++)
        for (int i = 0; i < 3; i++)
            swapcontext(&main_context, &contexts[(i + round) % 3]);
    for (int i = 0; i < 3; i++) {
        CHECK(steps[i] == 100);
        free(contexts[i].uc_stack.ss_sp);
    }
}

/* ---- threads ---- */

static void leave_thread(void *unused)
{
    pthread_exit(unused);
}

static void *in_thread(void *number)
{
    for (int i = 0; i < 1000; i++)
        CHECK(factorial(5) == 120);
    if ((long)number % 2)
        call_back_outer(leave_thread, number);
    return number;
}

static void wait_for_ever(void *unused)
{
    (void)unused;
    for (;;)
        pause();
}

static void *in_cancelled(void *unused)
{
    call_back(wait_for_ever, unused);
    return NULL;
}

static void threads(void)
{
    pthread_t all[8];
    void *result;
    for (int round = 0; round < 5; round++) {
        for (long i = 0; i < 8; i++)
            CHECK(pthread_create(&all[i], NULL, in_thread, (void *)i) == 0); /* NOLINT */
        for (long i = 0; i < 8; i++) {
            CHECK(pthread_join(all[i], &result) == 0);
            CHECK(result == (void *)i); /* NOLINT */
        }
    }
    CHECK(pthread_create(&all[0], NULL, in_cancelled, NULL) == 0);
    usleep(20000);
    CHECK(pthread_cancel(all[0]) == 0);
    CHECK(pthread_join(all[0], &result) == 0 && result == PTHREAD_CANCELED);
}

/* ---- signals ---- */

static volatile sig_atomic_t caught;

static void on_signal(int number)
{
    (void)number;
    CHECK(factorial(3) == 6);
    caught++;
}

static void signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGALRM, &action, NULL);
    ualarm(100, 100);
    for (int i = 0; i < 300000; i++)
        CHECK(factorial(2) == 2);
    ualarm(0, 0);
    CHECK(caught > 0);
}

/* ---- processes ---- */

static void processes(void)
{
    for (int i = 0; i < 3; i++) {
        pid_t child = fork_at_rest();
        if (child == 0) {
            CHECK(tiny(i) == i + 1);
            exit(i);
        }
        int status;
        CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == i);
    }
    CHECK(tiny(1) == 2);
}

/* ---- stacks ---- */

static int frames;

static void count_frames(void *unused)
{
    void *at[64];
    (void)unused;
    frames = backtrace(at, 64);
}

/* What walks the stack goes through hooked calls to the beginning. */
static void backtraces(void)
{
    count_frames(NULL);
    int bare = frames;
    call_back_outer(count_frames, NULL);
    CHECK(frames >= bare + 2);
}

/* More calls under way than there is room for. */
static void depths(void)
{
    for (int i = 0; i < 2; i++)
        factorial(40000);
}

/* ---- others ---- */

static void sleeps(void)
{
    for (int i = 1; i <= 9; i++)
        CHECK(func1(i) == i + 1);
}

static void requests(void)
{
    for (int i = 0; i < 10; i++) {
        handle("create");
        handle("list");
    }
}

static void microseconds(void)
{
    for (int i = 0; i < 1000; i++)
        spin(2000);
}

/* Memory and storage that calls use. */
static void metrics(void)
{
    grow(8L << 20);
    grow(-1);
    CHECK(store("stored", 1L << 20) == 0);
}

/* Once a millisecond, for so many seconds; tells the time of each call. */
static void steady(double seconds)
{
    struct timespec now;
    for (int i = 0; i < (int)(seconds * 1000); i++) {
        clock_gettime(CLOCK_REALTIME, &now);
        printf("%lld\n", (long long)now.tv_sec * 1000000000 + now.tv_nsec);
        handle("steady");
        usleep(1000);
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {
        {"signatures", signatures}, {"values", values},         {"jumps", jumps},
        {"coroutines", coroutines}, {"threads", threads},       {"signals", signals},
        {"processes", processes},   {"backtraces", backtraces}, {"depths", depths},
        {"sleeps", sleeps},         {"requests", requests},     {"microseconds", microseconds},
        {"metrics", metrics}};
    if (argc == 3 && strcmp(argv[1], "steady") == 0) {
        steady(strtod(argv[2], NULL));
        return 0;
    }
    if (argc == 3 && strcmp(argv[1], "exit") == 0)
        return tiny(atoi(argv[2])) - 1; /* NOLINT(cert-err34-c) */
    if (argc == 3 && strcmp(argv[1], "kill") == 0)
        return raise(tiny(atoi(argv[2]) - 1)); /* NOLINT(cert-err34-c) */
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (argc == 2 && strcmp(argv[1], cases[i].name) == 0) {
            cases[i].run();
            return 0;
        }
    fprintf(stderr, "there is no such case\n");
    return 2;
}
