#include "pythia/priced_functions.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pythia/status.h"

#define ROUNDS   15
#define CALLS    8
#define MEAN_OF  8   /* measurements */
#define SPEEDS   1.5 /* of a shared machine, the higher by the lower: see tests/bench/probes */
#define UNPROBED PYTHIA_USDT_INSTRUCTIONS /* a function without a probe */

__asm__(".text\n"
        "pythia__priced_nop5: .byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n ret\n .balign 16\n"
        "pythia__priced_nop: nop\n ret\n .balign 16\n"
        "pythia__priced_push: push %rbp\n pop %rbp\n ret\n .balign 16\n"
        "pythia__priced_branch: jmp 1f\n 1: ret\n .balign 16\n"
        "pythia__priced_step: mov %rdi, %rax\n ret\n .balign 16\n"
        "pythia__priced_return: push %rbp\n pop %rbp\n ret\n .balign 16\n"
        "pythia__priced_unprobed: push %rbp\n pop %rbp\n ret\n .balign 16\n");

void pythia__priced_nop5(void);
void pythia__priced_nop(void);
void pythia__priced_push(void);
void pythia__priced_branch(void);
void pythia__priced_step(void);
void pythia__priced_return(void);
void pythia__priced_unprobed(void);

static void (*const functions[PYTHIA_USDT_INSTRUCTIONS + 1])(void) = {
    pythia__priced_nop5, pythia__priced_nop,    pythia__priced_push,    pythia__priced_branch,
    pythia__priced_step, pythia__priced_return, pythia__priced_unprobed};

static uint64_t find_function(enum pythia_usdt_instruction kind)
{
    uint64_t address = (uint64_t)(uintptr_t)functions[kind], found = 0;
    char line[4352];
    FILE *file = fopen("/proc/self/maps", "re");
    while (!found && file && fgets(line, sizeof(line), file)) {
        char *at = line; /* "begin-end flags offset …" */
        uint64_t begin = strtoull(at, &at, 16), end = strtoull(at + 1, &at, 16);
        if (address >= begin && address < end)
            found = address - begin + strtoull(at + sizeof(" r-xp"), NULL, 16);
    }
    if (file)
        fclose(file);
    return found;
}

struct pythia_usdt_site pythia_priced_site(enum pythia_usdt_instruction function,
                                           enum pythia_usdt_instruction kind)
{
    return (struct pythia_usdt_site){.offset = find_function(function),
                                     .instruction = kind,
                                     .operand_count = 1,
                                     .operands = {{.kind = PYTHIA_USDT_REGISTER,
                                                   .bytes = 8,
                                                   .base = 112,
                                                   .index = PYTHIA_USDT_NO_REGISTER}}};
}

static double time_calls(void (*function)(void))
{
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (int i = 0; i < CALLS; i++)
        function();
    clock_gettime(CLOCK_MONOTONIC, &end);
    return ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) /
           CALLS;
}

static int compare_reals(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int pass_over(void *context, const struct pythia_probe_hit *hit, const int64_t *values,
                     const char *texts)
{
    (void)context;
    (void)hit;
    (void)values;
    (void)texts;
    return PYTHIA_OK;
}

void pythia_priced_measure(struct pythia_probe_rings *rings, double ns[PYTHIA_USDT_INSTRUCTIONS])
{
    double times[PYTHIA_USDT_INSTRUCTIONS + 1][ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        for (int kind = 0; kind <= PYTHIA_USDT_INSTRUCTIONS; kind++)
            times[kind][round] = time_calls(functions[kind]);
        (void)pythia_probe_rings_drain(rings, UINT64_MAX, pass_over, NULL);
    }
    for (int kind = 0; kind <= PYTHIA_USDT_INSTRUCTIONS; kind++)
        qsort(times[kind], ROUNDS, sizeof(double), compare_reals);
    double push = times[PYTHIA_USDT_PUSH][ROUNDS / 2];
    for (int kind = 0; kind < PYTHIA_USDT_INSTRUCTIONS; kind++)
        ns[kind] = times[kind][ROUNDS / 2] -
                   (kind == PYTHIA_USDT_RETURN ? push : times[UNPROBED][ROUNDS / 2]);
}

size_t pythia_prices_write(const double ns[PYTHIA_USDT_INSTRUCTIONS],
                           char text[PYTHIA_PRICES_BYTES])
{
    int size = 0;
    for (unsigned i = 0; i < PYTHIA_USDT_INSTRUCTIONS; i++)
        size += snprintf(text + size, PYTHIA_PRICES_BYTES - (size_t)size, "%s%s=%.0f", i ? " " : "",
                         pythia_usdt_instruction_name(i), ns[i]);
    return (size_t)size;
}

void pythia_prices_read(const char *text, double ns[PYTHIA_USDT_INSTRUCTIONS])
{
    for (unsigned i = 0; i < PYTHIA_USDT_INSTRUCTIONS; i++) {
        char name[16];
        snprintf(name, sizeof(name), " %s=", pythia_usdt_instruction_name(i));
        const char *at = strstr(text, name);
        ns[i] = at ? strtod(at + strlen(name), NULL) : 0;
    }
}

/* A mean above the limit in the slow minutes of a machine may be below it in the fast ones: the
 * verdict must not change with them. */
void pythia_hit_prices_add(struct pythia_hit_prices *p, const double ns[PYTHIA_USDT_INSTRUCTIONS])
{
    p->count += p->count < MEAN_OF;
    for (int i = 0; i < PYTHIA_USDT_INSTRUCTIONS; i++) {
        p->ns[i] += (ns[i] - p->ns[i]) / (double)p->count;
        p->expensive[i] = p->ns[i] > (p->expensive[i] ? p->max_ns / SPEEDS : p->max_ns);
    }
}

/* A return has its breakpoint at the first instruction of its function, so that it costs what that
 * does, too. */
int pythia_hit_prices_check(const struct pythia_hit_prices *p, const struct pythia_usdt_site *sites,
                            size_t count, struct pythia_error *e)
{
    for (size_t i = 0; i < count; i++) {
        unsigned kind = p->expensive[sites[i].trap] ? sites[i].trap : sites[i].instruction;
        if (p->expensive[kind])
            return pythia_error_set(e, PYTHIA_ELIMIT,
                                    "a hit costs %.0f ns at 0x%" PRIx64
                                    " (%s), too much for --max-price %.0f; --force opens it",
                                    p->ns[kind], sites[i].offset,
                                    pythia_usdt_instruction_name(kind), p->max_ns);
    }
    return PYTHIA_OK;
}

bool pythia_prices_differ(const double now_ns[PYTHIA_USDT_INSTRUCTIONS],
                          const double then_ns[PYTHIA_USDT_INSTRUCTIONS])
{
    bool differ = false;
    for (int i = 0; i < PYTHIA_USDT_INSTRUCTIONS; i++)
        differ |= fabs(now_ns[i] - then_ns[i]) > then_ns[i] / 20;
    return differ;
}
