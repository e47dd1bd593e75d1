#ifndef PYTHIA_FUNCTION_ARGUMENTS_H
#define PYTHIA_FUNCTION_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/error.h"

/* Arguments of functions by name, from the debug information (DWARF) of a program, or of its debug
 * package in /usr/lib/debug. Nothing is fetched from the network. Libdw of elfutils reads it; it is
 * loaded when this is called first. */
#define PYTHIA_FUNCTION_ARGUMENTS_MAX 6

struct pythia_function_argument {
    const char *name;
    uint8_t number; /* of the integers and addresses that the System V ABI passes in registers: 0
                       for the first */
    bool is_int;    /* of 32 bits or fewer: the rest of its register belongs to nobody */
    bool text;      /* the address of chars */
};

/* Visit each function whose name (that of the symbol, mangled if it is of C++) `wanted` accepts,
 * and whose arguments are known: `count` of them that are in registers, in their order, borrowed
 * for the call. Floats are left out. What comes after a structure that is passed by value is left
 * out, too, as it depends on its members where it is; and so is everything of a function that
 * returns one. A function may come more than once. Ends with the first negative status of `each`.
 * PYTHIA_OK, also without debug information, or PYTHIA_EIO with the reason in `e` if the file
 * cannot be read, is no program, or libdw is not there. One thread at a time. O(functions of the
 * program). */
int pythia_function_arguments_read(const char *path,
                                   bool (*wanted)(const void *context, const char *name),
                                   const void *context,
                                   int (*each)(void *to, const char *name,
                                               const struct pythia_function_argument *arguments,
                                               size_t count),
                                   void *to, struct pythia_error *e);

#endif
