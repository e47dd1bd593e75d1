/* SPDX-License-Identifier: MIT */
/* The functions that the plan declares, by the symbols they have; and the C library's functions
 * that the shim replaces. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

#include "hooks.h"
#include "memory/names.h"

#define HASH 4096

static struct {
    struct pythia__hooked *by_name[HASH], *of_classes;
    void *(*dlopen)(const char *, int);
    void *(*dlsym)(void *, const char *);
} declared;

/* ---- the real ones ---- */

/* They have moved from one library to another, with a new version. dlvsym is not replaced. */
static void *find_symbol(const char *name)
{
    void *found = dlvsym(RTLD_NEXT, name, "GLIBC_2.34");
    return found ? found : dlvsym(RTLD_NEXT, name, "GLIBC_2.2.5");
}

void pythia__real_find(void)
{
    if (__atomic_load_n(&declared.dlsym, __ATOMIC_ACQUIRE))
        return;
    void *found = find_symbol("dlopen");
    memcpy(&declared.dlopen, &found, sizeof(found));
    found = find_symbol("dlsym");
    void *(*function)(void *, const char *);
    memcpy(&function, &found, sizeof(found));
    __atomic_store_n(&declared.dlsym, function, __ATOMIC_RELEASE);
}

void *pythia__real_dlopen(const char *file, int mode)
{
    return declared.dlopen(file, mode);
}

void *pythia__real_dlsym(void *handle, const char *name)
{
    return declared.dlsym(handle, name);
}

uintptr_t pythia__real_dlopen_at(void)
{
    return (uintptr_t)declared.dlopen;
}

uintptr_t pythia__real_dlsym_at(void)
{
    return (uintptr_t)declared.dlsym;
}

/* ---- the plan ---- */

struct pythia__hooked *pythia__declared_next(const struct pythia__hooked *h, const char *symbol)
{
    struct pythia__hooked *next = h->next;
    while (next && !pythia__declared_is(next->declared.class_name, next->declared.function, symbol))
        next = next->next;
    return next;
}

struct pythia__hooked *pythia__declared_first(const char *symbol)
{
    struct pythia__hooked *h = strncmp(symbol, "_ZN", 3) == 0
                                   ? declared.of_classes
                                   : declared.by_name[pythia__fnv(symbol, strlen(symbol)) % HASH];
    if (h && !pythia__declared_is(h->declared.class_name, h->declared.function, symbol))
        h = pythia__declared_next(h, symbol);
    return h;
}

/* A mangled name may be declared as it is, too: it is then looked for where those of classes are.
 */
void pythia__declared_add(struct pythia__hooked *h)
{
    const char *function = h->declared.function;
    int of_class = *h->declared.class_name || strncmp(function, "_ZN", 3) == 0;
    struct pythia__hooked **list =
        of_class ? &declared.of_classes
                 : &declared.by_name[pythia__fnv(function, strlen(function)) % HASH];
    h->next = *list;
    *list = h;
}
