/* SPDX-License-Identifier: MIT */
/* longjmp leaves calls without returning from them. It is replaced, to end their spans when that
 * happens: where it goes to stands in the buffer, as glibc has kept it there since 2005, the stack
 * pointer scrambled with a word of the thread's control block. Whether that is still so is tried
 * once; if it is not, or if a program jumps by other means, what was left is only noticed later,
 * and gets no end (calls.c). Jumps from stack to stack are coroutines, which come back. */
#undef _FORTIFY_SOURCE /* <setjmp.h> would give one function the name of another */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "hooks.h"

#define STACK_POINTER 6 /* of __jmp_buf: rbx, rbp, r12 to r15, rsp, pc */

static int known; /* how a buffer is read */

static uintptr_t stack_of(const struct __jmp_buf_tag *buffer)
{
    uintptr_t guard, word;
    memcpy(&word, (const char *)buffer + STACK_POINTER * sizeof(word), sizeof(word));
    __asm__("mov %%fs:0x30, %0" : "=r"(guard));
    return (word >> 17 | word << 47) ^ guard;
}

void pythia__jumps_begin(void)
{
    jmp_buf here;
    uintptr_t at = (uintptr_t)__builtin_frame_address(0);
    if (_setjmp(here) == 0) {
        uintptr_t stack = stack_of(here);
        known = stack <= at && at - stack < 4096;
    }
}

typedef void jump(struct __jmp_buf_tag *buffer, int value);

static __attribute__((noreturn)) void jump_by(const char *name, const char *version,
                                              struct __jmp_buf_tag *buffer, int value)
{
    void *found = dlvsym(RTLD_NEXT, name, version);
    jump *real;
    memcpy(&real, &found, sizeof(found));
    if (known)
        pythia__calls_leave(stack_of(buffer), pythia__instrumented_leave);
    if (found)
        real(buffer, value);
    abort(); /* there is no C library without it */
}

/* The header's parameters have names that are the C library's own.
 * NOLINTBEGIN(readability-inconsistent-declaration-parameter-name) */
#define REPLACE(name, version)                                                                     \
    __attribute__((visibility("default"), noreturn)) void name(struct __jmp_buf_tag buffer[1],     \
                                                               int value)                          \
    {                                                                                              \
        jump_by(#name, version, buffer, value);                                                    \
    }

__attribute__((visibility("default"), noreturn)) void __longjmp_chk(struct __jmp_buf_tag buffer[1],
                                                                    int value);
REPLACE(longjmp, "GLIBC_2.2.5")
REPLACE(_longjmp, "GLIBC_2.2.5")
REPLACE(siglongjmp, "GLIBC_2.2.5")
REPLACE(__longjmp_chk, "GLIBC_2.11")
/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
