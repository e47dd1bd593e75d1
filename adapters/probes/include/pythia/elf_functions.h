#ifndef PYTHIA_ELF_FUNCTIONS_H
#define PYTHIA_ELF_FUNCTIONS_H

#include <stdbool.h>

#include "pythia/usdt_notes.h"

/* Functions of programs that have no probes, by their symbols (.symtab and .dynsym). A function has
 * two probes of the provider "function", as if the program had been written with them:
 *
 *     function:NAME          where it begins; its arguments are the first six that are passed in
 *                            registers by the System V ABI (integers and addresses)
 *     function:NAME%return   where it returns; its one argument is what it returns (rax)
 *
 * Several functions of one name (static ones) are several sites. A symbol that is resolved at load
 * time (IFUNC), and one without code in the file, is no function here. */
#define PYTHIA_FUNCTION_PROVIDER "function"
#define PYTHIA_FUNCTION_RETURN   "%return"

/* Where the debug symbols of a stripped program are, by its build id:
 * /usr/lib/debug/.build-id/xx/….debug, into `out`; "" if it has no build id. PYTHIA_OK, or as
 * pythia_usdt_notes_read. */
#define PYTHIA_DEBUG_PATH_BYTES 192
int pythia_elf_debug_path(int file, char out[PYTHIA_DEBUG_PATH_BYTES], struct pythia_error *e);

/* A `wanted` for one probe, NAME or NAME%return: `probe` is a struct pythia_text. */
bool pythia_elf_function_is(const void *probe, const char *name);

/* Read the functions whose names `wanted` accepts (NULL: all) of an open file, and of the file with
 * its debug symbols (-1: none; both are borrowed). PYTHIA_OK with *out to be freed, also if there
 * are none; or negative with the reason in `e`, as pythia_usdt_notes_read; PYTHIA_EFORMAT also if
 * `debug` belongs to another build. */
int pythia_elf_functions_read(int file, int debug,
                              bool (*wanted)(const void *context, const char *name),
                              const void *context, struct pythia_usdt_notes *out,
                              struct pythia_error *e);

#endif
