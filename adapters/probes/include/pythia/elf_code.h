#ifndef PYTHIA_ELF_CODE_H
#define PYTHIA_ELF_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "pythia/error.h"

#define PYTHIA_ELF_CODE_MAX ((uint64_t)1 << 30) /* bytes of a section */

/* Give each section with code of an open ELF file to `each`: its bytes, borrowed for the call, and
 * its address from the base of the loaded file. PYTHIA_OK, or as pythia_usdt_notes_read. */
int pythia_elf_code(int file,
                    void (*each)(void *context, const uint8_t *code, size_t size, uint64_t address),
                    void *context, struct pythia_error *e);

#endif
