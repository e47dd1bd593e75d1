/* The program that `pythia run` is to start: can anything be loaded into it, and which functions
 * are there? */
#ifndef PYTHIA_CLI_PROGRAM_H
#define PYTHIA_CLI_PROGRAM_H

#include "declarations.h"

/* Find a command as a shell would, along PATH. 0 and its path in `out` of 4096; 127: there is none;
 * 126: it cannot be executed. */
int pythia__program_find(const char *command, char *out);

/* The reason why nothing can be loaded into it, a sentence; NULL: it can. */
const char *pythia__program_refused(const char *path);

/* Look for the declared functions in a program and in all that it loads when it starts, which the
 * dynamic linker is asked for, and tell those that are not there. Those that may be in an object
 * which is loaded later count as known, as do all if the program is a script. Returns how many are
 * known. */
size_t pythia__program_look(const char *path, struct pythia__declarations *d);

/* Call `each` with the file of a program and of each library that it loads when it starts. */
void pythia__program_objects(const char *path, void (*each)(void *context, const char *file),
                             void *context);

#endif
