#ifndef PYTHIA_USDT_OPERAND_H
#define PYTHIA_USDT_OPERAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/text.h"

/* Where an argument of a USDT probe is when a thread arrives at the probe's instruction: the
 * assembler's words for it ("-4@%edi", "8@16(%rbp,%rax,8)"), understood. x86-64 only. */
enum pythia_usdt_operand_kind {
    PYTHIA_USDT_UNKNOWN,  /* in a register of another kind, or relative to a symbol: not read */
    PYTHIA_USDT_CONSTANT, /* `value` */
    PYTHIA_USDT_REGISTER, /* in `base` */
    PYTHIA_USDT_MEMORY,   /* at base + index * scale + value */
    PYTHIA_USDT_FIELD,    /* of a trace point of the kernel (kernel_points.h), at `base` */
};

#define PYTHIA_USDT_NO_REGISTER 0xff

struct pythia_usdt_operand {
    uint8_t kind;  /* enum pythia_usdt_operand_kind */
    uint8_t bytes; /* of the argument: 1, 2, 4 or 8 */
    bool is_signed;
    bool high;           /* REGISTER: bits 8 to 15 of it (%ah) */
    uint8_t base, index; /* bytes from the start of struct pt_regs, or PYTHIA_USDT_NO_REGISTER */
    uint8_t scale;       /* 1, 2, 4 or 8 */
    int64_t value;
};

#define PYTHIA_USDT_OPERANDS_MAX 12 /* as many as <sys/sdt.h> can write */

/* Read the arguments of a note, with spaces between them, into at most PYTHIA_USDT_OPERANDS_MAX
 * operands; what cannot be understood becomes PYTHIA_USDT_UNKNOWN in its place. Returns how many
 * there are. */
size_t pythia_usdt_operands_read(struct pythia_text text, struct pythia_usdt_operand *out);

#endif
