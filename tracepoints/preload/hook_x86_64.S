/* SPDX-License-Identifier: MIT */
/* The way in and out of a hooked function, for x86-64 and the System V ABI.
 *
 * A call comes here from the entry stub of its hook (stubs.c), with the hook in r11 and everything
 * else as the caller left it: arguments in any register and on the stack. They are kept, the C code
 * looks at them, and the function is jumped to with the caller's stack as it is, so that whatever
 * its signature is, it finds what it expects. Only the return address on the stack has been
 * replaced, by that of a return stub below; each call that is under way has a stub of its own.
 *
 *     slots   -1                      a byte that belongs to no stub
 *              0  16 x COUNT bytes    return stubs, code
 *              …  16 x COUNT bytes    for each, the return address that it stands for, and where on
 *                                     the stack that was; made writable when the program begins
 *
 * What unwinds the stack (C++ exceptions, pthread_exit, backtrace, a debugger) finds the address of
 * a return stub where it expects a return address. The call frame information of the stubs tells it
 * where the real one is: at a fixed distance from the stub's own address, which is why each call
 * needs its own. No function of the unwinder has to be replaced for that. An exception on its way
 * through calls the personality routine (calls.c), which ends the span. */
#include "hook_x86_64.h"

#define REGISTERS  640 /* struct pythia__registers */
#define AT_RAX     48
#define AT_R10     56
#define AT_VECTORS 64
#define AT_USED    576
#define AT_HOOK    584

/* What of the vector registers is in use, in eax, as XGETBV tells it: 4 the upper halves of ymm,
 * 0x40 those of zmm. What is not in use is neither saved nor restored: a restored zero would count
 * as used, and slow down the program's SSE code. Changes ecx and edx. */
.macro find_used
    xor %eax, %eax
    cmpb $1, pythia__hook_wide(%rip)
    jb 1f
    mov $4, %eax
    ja 1f
    mov $1, %ecx
    xgetbv
1:  mov %eax, AT_USED(%rsp)
.endm

.macro move_vectors count, way
    mov AT_USED(%rsp), %eax
    test $0x40, %al
    jnz 3f
    test $4, %al
    jnz 2f
    .set n, 0
    .rept \count
        \way movaps, xmm, %n
        .set n, n + 1
    .endr
    jmp 4f
2:  .set n, 0
    .rept \count
        \way vmovaps, ymm, %n
        .set n, n + 1
    .endr
    jmp 4f
3:  .set n, 0
    .rept \count
        \way vmovaps, zmm, %n
        .set n, n + 1
    .endr
4:
.endm

.altmacro
.macro save_one instruction, kind, n
    \instruction %\kind\()\n, AT_VECTORS + 64 * \n(%rsp)
.endm
.macro restore_one instruction, kind, n
    \instruction AT_VECTORS + 64 * \n(%rsp), %\kind\()\n
.endm

    .section .text
    .globl pythia__hook_enter
    .hidden pythia__hook_enter
    .type pythia__hook_enter, @function
pythia__hook_enter:
    .cfi_startproc
    push %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    mov %rsp, %rbp
    .cfi_def_cfa_register %rbp
    and $-64, %rsp
    sub $REGISTERS, %rsp
    mov %rdi, 0(%rsp)
    mov %rsi, 8(%rsp)
    mov %rdx, 16(%rsp)
    mov %rcx, 24(%rsp)
    mov %r8, 32(%rsp)
    mov %r9, 40(%rsp)
    mov %rax, AT_RAX(%rsp)
    mov %r10, AT_R10(%rsp)
    mov %r11, AT_HOOK(%rsp)
    find_used
    move_vectors 8, save_one
    mov AT_HOOK(%rsp), %rdi
    mov %rsp, %rsi
    lea 8(%rbp), %rdx
    call pythia__hook_entered
    mov %rax, %r11
    move_vectors 8, restore_one
    mov 0(%rsp), %rdi
    mov 8(%rsp), %rsi
    mov 16(%rsp), %rdx
    mov 24(%rsp), %rcx
    mov 32(%rsp), %r8
    mov 40(%rsp), %r9
    mov AT_RAX(%rsp), %rax
    mov AT_R10(%rsp), %r10
    leave
    .cfi_def_cfa %rsp, 8
    .cfi_restore %rbp
    notrack jmp *%r11
    .cfi_endproc
    .size pythia__hook_enter, . - pythia__hook_enter

/* A function has returned to its stub, which has pushed its number. What it returns is in rax, rdx,
 * vector registers 0 and 1, and on the stack of the x87, which the C code does not touch. */
    .type hook_return, @function
hook_return:
    .cfi_startproc
    .cfi_def_cfa %rsp, 8
    pop %rdi
    .cfi_def_cfa_offset 0
    mov %rdi, %r11
    shl $4, %r11
    lea pythia__hook_returns(%rip), %rcx
    push (%rcx, %r11)
    .cfi_def_cfa_offset 8
    push %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    mov %rsp, %rbp
    .cfi_def_cfa_register %rbp
    and $-64, %rsp
    sub $REGISTERS, %rsp
    mov %rax, AT_RAX(%rsp)
    mov %rdx, 16(%rsp)
    find_used
    move_vectors 2, save_one
    mov %rsp, %rsi
    call pythia__hook_left
    move_vectors 2, restore_one
    mov AT_RAX(%rsp), %rax
    mov 16(%rsp), %rdx
    leave
    .cfi_def_cfa %rsp, 8
    .cfi_restore %rbp
    /* Not by `ret`: the processor expects as many of these as there were calls, and the function's
     * own was the one of this call. */
    pop %r11
    .cfi_def_cfa_offset 0
    notrack jmp *%r11
    .cfi_endproc
    .size hook_return, . - hook_return

/* The unwinder looks up the byte before a return address. */
    .section .text.pythia_slots, "ax", @progbits
    .balign 4096
    .fill 4095, 1, 0xcc
    .cfi_startproc
    .cfi_personality 0x1b, pythia__hook_personality
    /* The unwinder of GCC knows frames by their CFA, and must not take this one for the caller's: so
     * that is 4 more than the stack pointer, which is told by itself.
     * DW_CFA_val_expression: register 7 is DW_OP_breg7 + 0. */
    .cfi_def_cfa %rsp, 4
    .cfi_escape 0x16, 0x07, 0x02, 0x77, 0x00
    /* DW_CFA_expression: register 16, the return address, is saved at DW_OP_breg16 + 16 x
     * PYTHIA__SLOTS, as SLEB128. */
    .cfi_escape 0x10, 0x10, 0x04, 0x80, 0x80, 0x80, 0x10
    nop
    .globl pythia__hook_stubs
    .hidden pythia__hook_stubs
    .type pythia__hook_stubs, @function
pythia__hook_stubs:
    .set n, 0
    .rept PYTHIA__SLOTS
    push $n
    .set n, n + 1
    jmp hook_return
    .balign 16, 0xcc
    .endr
    .cfi_endproc
    .size pythia__hook_stubs, . - pythia__hook_stubs
    .org pythia__hook_stubs + 16 * PYTHIA__SLOTS /* an error if a stub had more than 16 bytes */
    .globl pythia__hook_returns
    .hidden pythia__hook_returns
    .type pythia__hook_returns, @object
pythia__hook_returns:
    .zero 16 * PYTHIA__SLOTS
    .size pythia__hook_returns, . - pythia__hook_returns
    .balign 4096, 0xcc

/* dlopen looks at who calls it, for the paths of that object. So where it matters it is jumped to,
 * with the caller's return address; else called. */
    .section .text
    .globl dlopen
    .type dlopen, @function
dlopen:
    .cfi_startproc
    push %rdi
    .cfi_adjust_cfa_offset 8
    push %rsi
    .cfi_adjust_cfa_offset 8
    sub $8, %rsp
    .cfi_adjust_cfa_offset 8
    call pythia__hook_dlopen_of
    add $8, %rsp
    .cfi_adjust_cfa_offset -8
    pop %rsi
    .cfi_adjust_cfa_offset -8
    pop %rdi
    .cfi_adjust_cfa_offset -8
    mov %rax, %r11
    notrack jmp *%r11
    .cfi_endproc
    .size dlopen, . - dlopen

    .globl dlsym
    .type dlsym, @function
dlsym:
    .cfi_startproc
    push %rdi
    .cfi_adjust_cfa_offset 8
    push %rsi
    .cfi_adjust_cfa_offset 8
    sub $8, %rsp
    .cfi_adjust_cfa_offset 8
    call pythia__hook_dlsym_of
    add $8, %rsp
    .cfi_adjust_cfa_offset -8
    pop %rsi
    .cfi_adjust_cfa_offset -8
    pop %rdi
    .cfi_adjust_cfa_offset -8
    mov %rax, %r11
    notrack jmp *%r11
    .cfi_endproc
    .size dlsym, . - dlsym

    .section .note.GNU-stack, "", @progbits
