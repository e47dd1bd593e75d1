/* Functions with each kind of instruction that a uprobe may meet, called as a line of input says:
 * "NAME CALLS" is answered by the ns that a call takes more than one of a function like it that
 * nobody probes, and "request CALLS" by what so many calls add to a request. Both kinds of calls
 * take turns, and the median of the differences counts, since the machine may be twice as fast in
 * the next moment. It is probed by `probes`, and by other tools, as any program is. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "probed.h"

/* A function that keeps its name and its arguments. */
#ifdef __clang__
#define AS_IT_IS __attribute__((noinline))
#else
#define AS_IT_IS __attribute__((noipa))
#endif

#define ROUNDS 51
#define WORK   20000   /* steps of a request beside its calls */
#define REST   1000000 /* ns between requests, so that the reader of the rings keeps up */

#define PRICED(name, code)                                                                         \
    __asm__(".text\n.balign 16\n.globl " #name "\n.type " #name ", @function\n" #name ": " code    \
            "\nret\n.size " #name ", . - " #name "\n");                                            \
    void name(const char *text)

PRICED(bench_nop5, ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00");
PRICED(bench_nop, "nop");
PRICED(bench_push, "push %rbp\npop %rbp");
PRICED(bench_branch, "jmp 1f\n1:");
PRICED(bench_step, "mov %rdi, %rax");
PRICED(bench_unprobed, "push %rbp\npop %rbp");

/* A system call that does next to nothing. */
static void bench_call(const char *unused)
{
    (void)unused;
    (void)getppid();
}

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
    {"bench_usdt_int3", bench_usdt_int3}, {"bench_call", bench_call},
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
    double begin = read_clock();
    for (long i = 0; i < calls; i++)
        function(text);
    return read_clock() - begin;
}

static double find_difference(void (*function)(const char *text), long calls)
{
    double probed = time_calls(function, calls);
    return probed - time_calls(bench_unprobed, calls);
}

/* A request of the program: some work, and calls. Returns what these took more than others. */
AS_IT_IS static double bench_request(long calls)
{
    for (volatile long i = 0; i < WORK; i++)
        ;
    return find_difference(bench_push, calls);
}

static int compare_reals(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of so many differences; of requests if there is no function. */
static double find_median(void (*function)(const char *text), long calls)
{
    static double differences[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        differences[i] =
            function ? find_difference(function, calls) / (double)calls : bench_request(calls);
        if (!function)
            nanosleep(&(struct timespec){.tv_nsec = REST}, NULL);
    }
    qsort(differences, ROUNDS, sizeof(differences[0]), compare_reals);
    return differences[ROUNDS / 2];
}

int main(void)
{
    char line[64];
    while (fgets(line, sizeof(line), stdin)) {
        const char *space = strchr(line, ' ');
        long calls = space ? strtol(space, NULL, 10) : 0;
        double ns = -1;
        if (calls > 0 && strncmp(line, "request ", 8) == 0)
            ns = find_median(NULL, calls);
        for (size_t i = 0; calls > 0 && i < sizeof(rows) / sizeof(rows[0]); i++)
            if (strncmp(line, rows[i].name, (size_t)(space - line)) == 0 &&
                rows[i].name[space - line] == '\0')
                ns = find_median(rows[i].function, calls);
        printf("%.1f\n", ns);
        fflush(stdout);
    }
    return 0;
}
