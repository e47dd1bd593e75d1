/* What a hit costs depends on the machine as much as on the instruction: an instruction that is
 * executed in a single step costs half a microsecond on one and 17 in a virtual machine on another.
 * So functions of this program with each kind of instruction are probed when it begins, by the same
 * kind of event and program as any other, and called a thousand times. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "attach.h"
#include "pythia/status.h"

#define ROUNDS 32 /* of which the quickest counts: others were interrupted */
#define CALLS  64

__asm__(".text\n"
        "pythia__priced_nop5: .byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n ret\n .balign 16\n"
        "pythia__priced_nop: nop\n ret\n .balign 16\n"
        "pythia__priced_push: push %rbp\n pop %rbp\n ret\n .balign 16\n"
        "pythia__priced_branch: jmp 1f\n 1: ret\n .balign 16\n"
        "pythia__priced_step: mov %rdi, %rax\n ret\n .balign 16\n");

void pythia__priced_nop5(void);
void pythia__priced_nop(void);
void pythia__priced_push(void);
void pythia__priced_branch(void);
void pythia__priced_step(void);

/* Where in this program's file a function is. */
static uint64_t find_function(void (*function)(void))
{
    uint64_t address = (uint64_t)(uintptr_t)function, found = 0;
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

/* What a call takes, in the quickest of some rounds. */
static double time_calls(void (*function)(void))
{
    struct timespec begin, end;
    double best = 1e9;
    for (int round = 0; round < ROUNDS; round++) {
        clock_gettime(CLOCK_MONOTONIC, &begin);
        for (int i = 0; i < CALLS; i++)
            function();
        clock_gettime(CLOCK_MONOTONIC, &end);
        double ns =
            ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) /
            CALLS;
        best = ns < best ? ns : best;
    }
    return best;
}

/* What a call of a function takes while `count` kinds of its sites are open, in `best_ns`: negative
 * with the reason in `e` if they cannot be opened. */
static int time_open(const struct pythia__rings *r, const char *self, void (*function)(void),
                     const enum pythia_usdt_instruction *kinds, int count, double *best_ns,
                     struct pythia_error *e)
{
    int events[2], opened = 0;
    for (; opened < count; opened++) {
        const struct pythia_usdt_site site = {.offset = find_function(function),
                                              .instruction = kinds[opened],
                                              .operand_count = 1,
                                              .operands = {{.kind = PYTHIA_USDT_REGISTER,
                                                            .bytes = 8,
                                                            .base = 112,
                                                            .index = PYTHIA_USDT_NO_REGISTER}}};
        events[opened] = pythia__site_open(r, self, &site, 0, 0, e);
        if (events[opened] < 0)
            break;
    }
    if (opened == count)
        *best_ns = time_calls(function);
    for (int i = 0; i < opened; i++)
        close(events[i]);
    return opened == count ? PYTHIA_OK : PYTHIA_EIO;
}

/* The kernel goes to a function's begin for its return, too: what the return costs is what it adds
 * to an open begin. */
int pythia__prices_measure(struct pythia__rings *r, struct pythia_error *e)
{
    static void (*const functions[PYTHIA_USDT_INSTRUCTIONS])(void) = {
        pythia__priced_nop5,   pythia__priced_nop,  pythia__priced_push,
        pythia__priced_branch, pythia__priced_step, pythia__priced_push};
    char self[4096];
    double open_ns = 0, closed_ns = 0;
    ssize_t size = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (size < 0)
        return pythia_error_set(e, PYTHIA_EIO, "/proc/self/exe cannot be read");
    self[size] = '\0';
    for (int i = 0; i < PYTHIA_USDT_INSTRUCTIONS; i++) {
        bool is_return = i == PYTHIA_USDT_RETURN;
        const enum pythia_usdt_instruction kinds[] = {
            is_return ? PYTHIA_USDT_PUSH : (enum pythia_usdt_instruction)i, PYTHIA_USDT_RETURN};
        if (time_open(r, self, functions[i], kinds, 1 + is_return, &open_ns, e) != PYTHIA_OK ||
            time_open(r, self, functions[i], kinds, is_return, &closed_ns, e) != PYTHIA_OK)
            return PYTHIA_EIO;
        r->prices_ns[i] = open_ns - closed_ns;
    }
    return PYTHIA_OK;
}
