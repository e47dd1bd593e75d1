/* Functions with each kind of instruction that a uprobe may meet, called as a line of input says:
 * "NAME CALLS" is answered by the ns that a call takes, in the quickest of some rounds; "request
 * CALLS" by those of a request with so many calls. It is probed by `probes`, and by other tools, as
 * any program is. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "probed.h"

/* A function that keeps its name and its arguments. */
#ifdef __clang__
#define AS_IT_IS __attribute__((noinline))
#else
#define AS_IT_IS __attribute__((noipa))
#endif

#define ROUNDS 64
#define WORK   200000 /* steps of a request beside its calls */

#define PRICED(name, code)                                                                         \
    __asm__(".text\n.balign 16\n.globl " #name "\n.type " #name ", @function\n" #name ": " code    \
            "\nret\n.size " #name ", . - " #name "\n");                                            \
    void name(const char *text)

PRICED(bench_nop5, ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00");
PRICED(bench_nop, "nop");
PRICED(bench_push, "push %rbp\npop %rbp");
PRICED(bench_branch, "jmp 1f\n1:");
PRICED(bench_step, "mov %rdi, %rax");

/* A pair of static probes with an argument: a jump can stand at the first one's sites, and at the
 * second one's only int3, because branches go around them. */
PRICED(bench_usdt_jump,
       "990: nop\n" NOTE(
           "990b", "0",
           "\"bench\", \"jump__start\", \"8@%rdi\"") "mov %rdi, %rax\nadd $1, %rax\n990: "
                                                     "nop\n" NOTE("990b", "0",
                                                                  "\"bench\", \"jump__done\", "
                                                                  "\"8@%rax\"") "add $1, %rax\nsub "
                                                                                "$1, %rax");
PRICED(bench_usdt_int3,
       "test %rdi, %rdi\nje 1f\n990: nop\n" NOTE(
           "990b", "0",
           "\"bench\", \"int3__start\", \"8@%rdi\"") "1: mov %rdi, %rax\nadd $1, "
                                                     "%rax\ntest %rdi, %rdi\nje 2f\n990: "
                                                     "nop\n" NOTE("990b", "0",
                                                                  "\"bench\", "
                                                                  "\"int3__done\", "
                                                                  "\"8@%rax\"") "2: add "
                                                                                "$1, "
                                                                                "%rax\nsu"
                                                                                "b $1, "
                                                                                "%rax");

static const struct {
    const char *name;
    void (*function)(const char *text);
} rows[] = {
    {"bench_nop5", bench_nop5},           {"bench_nop", bench_nop},
    {"bench_push", bench_push},           {"bench_branch", bench_branch},
    {"bench_step", bench_step},           {"bench_usdt_jump", bench_usdt_jump},
    {"bench_usdt_int3", bench_usdt_int3},
};

static const char text[] = "select v from item where k = 17 and another_column = 'a text of about "
                           "a hundred bytes' order by v";

static double read_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double time_calls(void (*function)(const char *text), long calls)
{
    double best = 1e18;
    for (int round = 0; round < ROUNDS; round++) {
        double begin = read_clock();
        for (long i = 0; i < calls; i++)
            function(text);
        double ns = (read_clock() - begin) / (double)calls;
        best = ns < best ? ns : best;
    }
    return best;
}

/* A request of the program: some work, and calls. */
AS_IT_IS static void bench_request(long calls)
{
    for (volatile long i = 0; i < WORK; i++)
        ;
    for (long i = 0; i < calls; i++)
        bench_push(text);
}

static int compare_reals(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The first decile of requests: others were interrupted. */
static double time_requests(long calls)
{
    static double times[400];
    size_t count = sizeof(times) / sizeof(times[0]);
    for (size_t i = 0; i < count; i++) {
        double begin = read_clock();
        bench_request(calls);
        times[i] = read_clock() - begin;
    }
    qsort(times, count, sizeof(times[0]), compare_reals);
    return times[count / 10];
}

int main(void)
{
    char line[64];
    while (fgets(line, sizeof(line), stdin)) {
        const char *space = strchr(line, ' ');
        long calls = space ? strtol(space, NULL, 10) : 0;
        double ns = -1;
        if (calls > 0 && strncmp(line, "request ", 8) == 0)
            ns = time_requests(calls);
        for (size_t i = 0; calls > 0 && i < sizeof(rows) / sizeof(rows[0]); i++)
            if (strncmp(line, rows[i].name, (size_t)(space - line)) == 0 &&
                rows[i].name[space - line] == '\0')
                ns = time_calls(rows[i].function, calls);
        printf("%.1f\n", ns);
        fflush(stdout);
    }
    return 0;
}
