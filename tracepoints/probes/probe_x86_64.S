/* SPDX-License-Identifier: MIT */
/* What the stub of a site calls (place.c). The stub has gone below the red zone, 128 bytes, and
 * pushed the number of the site; then comes the return address. Everything is kept: general
 * registers and flags in the order of struct pt_regs, and of vectors first what the quick way
 * (hits.c) may change, the lower halves of xmm0 to xmm15: code for SSE leaves their upper halves
 * alone. Where that way does not do, all state of vectors is kept by XSAVEC, at 140 ns; functions
 * of the C library use whatever the processor has. State of the x87 is not touched.
 *
 * It is called and returns, so that a shadow stack agrees, and begins with endbr64, so that
 * indirect branch tracking does, too. The call frame information leads to the return address; an unwinder
 * that comes from a signal handler stops there, since the stub has none. */
#define BYTES      168 /* struct pythia__probe_registers */
#define AT_FLAGS   144
#define AT_RSP     152
#define AT_RETURN  168
#define AT_NUMBER  176
#define BEFORE     312 /* from there to the stack pointer of the program */
#define STATE      2752 /* 512, and 64, and at most 2176 of AVX and AVX-512; multiple of 64 */
#define COMPONENTS 0xe6 /* SSE, AVX, opmask, ZMM_Hi256, Hi16_ZMM */

    .section .text
    .globl pythia__probe_enter
    .hidden pythia__probe_enter
    .type pythia__probe_enter, @function
    .balign 64
pythia__probe_enter:
    .cfi_startproc
    endbr64
    lea -16(%rsp), %rsp
    .cfi_adjust_cfa_offset 16
    pushfq
    .cfi_adjust_cfa_offset 8
    lea -24(%rsp), %rsp
    .cfi_adjust_cfa_offset 24
    .irp register, rdi, rsi, rdx, rcx, rax, r8, r9, r10, r11
    push %\register
    .cfi_adjust_cfa_offset 8
    .endr
    push %rbx
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset %rbx, 0
    push %rbp
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset %rbp, 0
    .irp register, r12, r13, r14, r15
    push %\register
    .cfi_adjust_cfa_offset 8
    .endr
    cld
    mov %rsp, %rbx
    .cfi_def_cfa_register %rbx
    lea BEFORE(%rbx), %rax
    mov %rax, AT_RSP(%rbx)
    sub $256, %rsp
    and $-64, %rsp
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    movaps %xmm\n, 16 * \n(%rsp)
    .endr
    mov AT_NUMBER(%rbx), %rdi
    mov %rbx, %rsi
    call pythia__probe_hit_quick
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    movaps 16 * \n(%rsp), %xmm\n
    .endr
    test %eax, %eax
    jnz 3f
    mov AT_NUMBER(%rbx), %rdi
    mov %rbx, %rsi
    sub $STATE, %rsp
    and $-64, %rsp
    xor %edx, %edx
    cmpb $1, pythia__probe_state(%rip)
    jb 2f
    mov $COMPONENTS, %eax
    .irp at, 512, 520, 528, 536, 544, 552, 560, 568
    mov %rdx, \at(%rsp)
    .endr
    ja 1f
    xsavec (%rsp)
    call pythia__probe_hit
    jmp 4f
1:  xsave (%rsp)
    call pythia__probe_hit
4:  mov $COMPONENTS, %eax
    xor %edx, %edx
    xrstor (%rsp)
    jmp 3f
2:  fxsave (%rsp)
    call pythia__probe_hit
    fxrstor (%rsp)
3:  mov %rbx, %rsp
    .cfi_def_cfa_register %rsp
    .irp register, r15, r14, r13, r12
    pop %\register
    .cfi_adjust_cfa_offset -8
    .endr
    pop %rbp
    .cfi_adjust_cfa_offset -8
    .cfi_restore %rbp
    pop %rbx
    .cfi_adjust_cfa_offset -8
    .cfi_restore %rbx
    .irp register, r11, r10, r9, r8, rax, rcx, rdx, rsi, rdi
    pop %\register
    .cfi_adjust_cfa_offset -8
    .endr
    lea 24(%rsp), %rsp
    .cfi_adjust_cfa_offset -24
    popfq
    .cfi_adjust_cfa_offset -8
    lea 16(%rsp), %rsp
    .cfi_adjust_cfa_offset -16
    ret
    .cfi_endproc
    .size pythia__probe_enter, . - pythia__probe_enter

/* Functions of the C library that the shim has in their place (trap.c). */
    .irp name, sigaction, signal, pthread_sigmask, sigprocmask, sigsuspend, ppoll, pselect, \
        epoll_pwait
    .globl \name
    .type \name, @function
\name:
    .cfi_startproc
    endbr64
    jmp pythia__hooked_\name
    .cfi_endproc
    .size \name, . - \name
    .endr

    .section .note.GNU-stack, "", @progbits
