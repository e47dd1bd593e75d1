#ifndef PYTHIA_USDT_NOTES_H
#define PYTHIA_USDT_NOTES_H

#include <stddef.h>
#include <stdint.h>

#include "pythia/error.h"
#include "pythia/usdt_operand.h"

/* The USDT probes of an ELF file (statically defined trace points: the macros of
 * <sys/sdt.h>, as DTrace has them) in its section .note.stapsdt. A probe has a provider and a name;
 * it has a site for each place where the compiler has put it. Nothing of the file is believed: all
 * sizes and addresses are checked, since a privileged program reads files that others made. */

/* The instruction at a site. It decides the cost of a uprobe there: the kernel emulates the
 * first four, and all others it lets the processor execute elsewhere, in a single step. */
enum pythia_usdt_instruction {
    PYTHIA_USDT_NOP5, /* of 5 bytes, which becomes a call */
    PYTHIA_USDT_NOP,
    PYTHIA_USDT_PUSH,
    PYTHIA_USDT_BRANCH,
    PYTHIA_USDT_STEP,
    PYTHIA_USDT_RETURN, /* no instruction: the return of a function (elf_functions.h) */
    PYTHIA_USDT_INSTRUCTIONS,
};

struct pythia_usdt_site {
    const char *provider, *name; /* of 1 to PYTHIA_USDT_NAME_MAX bytes, printable ASCII without
                                    spaces and colons */
    const char *arguments;       /* as the note has them; printable ASCII */
    uint64_t offset;             /* of the instruction in the file */
    uint64_t semaphore;          /* offset in the file of a counter of 2 bytes that says whether
                                    somebody looks; 0: there is none */
    uint64_t address, semaphore_address; /* the same two, from the base of the loaded file */
    enum pythia_usdt_instruction instruction;
    enum pythia_usdt_instruction trap; /* where the breakpoint is: the same instruction; of a
                                          return, the first one of its function */
    size_t operand_count;
    struct pythia_usdt_operand operands[PYTHIA_USDT_OPERANDS_MAX];
};

struct pythia_usdt_notes {
    struct pythia_usdt_site *sites; /* owned; in order of provider, name and offset */
    size_t count;
    size_t refused; /* notes that were left out: they lead nowhere, or have no usable name */
    char *texts;    /* owned: what the sites point into */
};

#define PYTHIA_USDT_NAME_MAX  120
#define PYTHIA_USDT_SITES_MAX 65536
#define PYTHIA_USDT_BYTES_MAX (16u << 20) /* of the section */

/* Read the notes of an open file (borrowed; its position stays). PYTHIA_OK with *out to be freed,
 * also if there are no probes; or, with the reason in `e` and *out unchanged: PYTHIA_EFORMAT if it
 * is no whole ELF file of x86-64, PYTHIA_ELIMIT if it has more than above, PYTHIA_EIO,
 * PYTHIA_ENOMEM. */
int pythia_usdt_notes_read(int file, struct pythia_usdt_notes *out, struct pythia_error *e);
void pythia_usdt_notes_free(struct pythia_usdt_notes *notes); /* also makes it empty again */

/* The sites of a probe: *count of them from the one returned; NULL if it has none. O(log n). */
const struct pythia_usdt_site *pythia_usdt_notes_find(const struct pythia_usdt_notes *notes,
                                                      struct pythia_text provider,
                                                      struct pythia_text name, size_t *count);

/* "nop5", "nop", "push", "branch", "step", "return". */
const char *pythia_usdt_instruction_name(enum pythia_usdt_instruction instruction);

#endif
