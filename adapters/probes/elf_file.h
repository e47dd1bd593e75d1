/* Headers of an ELF file of x86-64. Nothing of the file is believed: all sizes, offsets and
 * addresses are checked, since a privileged program reads files that others made. */
#ifndef PYTHIA_PROBES_ELF_FILE_H
#define PYTHIA_PROBES_ELF_FILE_H

#include <elf.h>
#include <stdint.h>

#include "pythia/error.h"
#include "pythia/usdt_notes.h"

#define PYTHIA__ELF_CODE_BYTES 8 /* that tell what an instruction is */

struct pythia__elf {
    int file; /* borrowed */
    struct pythia_error *e;
    Elf64_Ehdr head;
    Elf64_Phdr *segments; /* owned */
    Elf64_Shdr *sections; /* owned */
    char *names;          /* owned: of sections; names_bytes of them and a NUL */
    uint64_t names_bytes;
};

/* Read the headers of `file`, which the caller has set with `e`. PYTHIA_OK, PYTHIA_EFORMAT,
 * PYTHIA_ELIMIT, PYTHIA_EIO or PYTHIA_ENOMEM; to be closed in any case. */
int pythia__elf_open(struct pythia__elf *f);
void pythia__elf_close(struct pythia__elf *f);

/* Read `size` bytes. PYTHIA_OK, or PYTHIA_EFORMAT if the file ends before, or PYTHIA_EIO. */
int pythia__elf_read(const struct pythia__elf *f, uint64_t offset, void *to, size_t size);

/* Read a part of the file into memory of its own, with a NUL after it; NULL with the reason in the
 * file's error. */
void *pythia__elf_part(const struct pythia__elf *f, uint64_t offset, uint64_t size);

/* The section of a name; NULL if there is none. */
const Elf64_Shdr *pythia__elf_section(const struct pythia__elf *f, const char *name);

/* Which byte of the file is at an address, of a segment that has these flags; 0: none. */
uint64_t pythia__elf_offset(const struct pythia__elf *f, uint64_t address, uint32_t flags,
                            uint64_t bytes);

/* The kind of instruction at which a uprobe would be placed. */
enum pythia_usdt_instruction
pythia__elf_instruction(const unsigned char code[PYTHIA__ELF_CODE_BYTES]);

#endif
