/* SPDX-License-Identifier: MIT */
/* The functions that a file of an object defines, those of its own included, which only its symbol
 * table tells: strip(1) takes that away. */
#ifndef PYTHIA_SYMBOLS_H
#define PYTHIA_SYMBOLS_H

#include <stdint.h>

/* The kind of a file. */
enum pythia__file_kind {
    PYTHIA__FILE_OTHER,   /* no ELF file: a script */
    PYTHIA__FILE_FOREIGN, /* of another processor */
    PYTHIA__FILE_STATIC,  /* a program without a dynamic linker */
    PYTHIA__FILE_DYNAMIC,
};

struct pythia__symbol_handler {
    /* A function, and where it is from the beginning of the object; `value` 0: it is another
     * object's, and called here. */
    void (*function)(void *context, const char *name, uint64_t value);
    void *context;
};

/* Read them; NULL: only say what the file is. The kind, or a negative errno. What is damaged is
 * passed over. */
int pythia__symbols_read(const char *path, const struct pythia__symbol_handler *handler);

#endif
