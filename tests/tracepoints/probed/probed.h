/* Static probes as <sys/sdt.h> would write them. */
#ifndef TESTS_PROBED_H
#define TESTS_PROBED_H

#define NOTE(site, semaphore, texts)                                                               \
    ".pushsection .note.stapsdt, \"\", \"note\"\n"                                                 \
    ".balign 4\n .4byte 992f - 991f, 994f - 993f, 3\n"                                             \
    "991: .asciz \"stapsdt\"\n 992: .balign 4\n"                                                   \
    "993: .8byte " site ", _.stapsdt.base, " semaphore "\n .asciz " texts "\n"                     \
    "994: .balign 4\n .popsection\n"                                                               \
    ".ifndef _.stapsdt.base\n"                                                                     \
    ".pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n"                    \
    ".weak _.stapsdt.base\n .hidden _.stapsdt.base\n"                                              \
    "_.stapsdt.base: .space 1\n .size _.stapsdt.base, 1\n .popsection\n .endif\n"

/* A probe with one argument, wherever the compiler has it. */
#define PROBE(provider, name, value)                                                               \
    __asm__ volatile("990: nop\n" NOTE("990b", "0", "\"" provider "\", \"" name "\", \"-8@%0\"")   \
                     :                                                                             \
                     : "nor"((long)(value))                                                        \
                     : "memory")

/* The same with a semaphore, a variable of the section .probes. */
#define PROBE_IF(provider, name, semaphore, value)                                                 \
    __asm__ volatile(                                                                              \
        "990: nop\n" NOTE("990b", #semaphore, "\"" provider "\", \"" name "\", \"-8@%0\"")         \
        :                                                                                          \
        : "nor"((long)(value))                                                                     \
        : "memory")

#define SEMAPHORE(name) __attribute__((section(".probes"), used)) volatile unsigned short name

#endif
