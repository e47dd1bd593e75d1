#ifndef PYTHIA_LATE_LIBRARY_H
#define PYTHIA_LATE_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

/* A function of a shared library, and the pointer that gets its address. */
struct pythia_late_function {
    const char *name;
    void *pointer; /* to a pointer to a function */
};

/* Load a shared library when it is first needed. The dynamic linker spends milliseconds on libcurl
 * and on BLAS, with the 25 libraries that they bring, and most runs of `pythia` need neither.
 * `shared`: libraries that are loaded later may use it. It stays until the process ends. Returns
 * whether all functions are there; a failure is logged. Not for several threads at once. */
bool pythia_late_load(const char *library, bool shared,
                      const struct pythia_late_function *functions, size_t count);

#endif
