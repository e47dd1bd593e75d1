/* Loaded before the C library (LD_PRELOAD), lets one allocation of a program fail, whoever makes
 * it: PYTHIA_FAIL_ALLOCATION is its number, counted from the beginning of main; 0 only counts.
 * At the end of main the file PYTHIA_ALLOCATIONS, if it is given, gets how many there were. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/* What glibc's own names stand for. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *at, size_t size);

__attribute__((visibility("default"))) void *malloc(size_t size);
__attribute__((visibility("default"))) void *calloc(size_t count, size_t size);
__attribute__((visibility("default"))) void *realloc(void *at, size_t size);

static atomic_bool begun;
static atomic_ulong made;
static unsigned long fails;

static bool must_fail(void)
{
    if (!atomic_load(&begun) || atomic_fetch_add(&made, 1) + 1 != fails)
        return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    return must_fail() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return must_fail() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *at, size_t size)
{
    return must_fail() ? NULL : __libc_realloc(at, size);
}

static int (*program)(int, char **, char **);

static void tell_count(void)
{
    const char *path = getenv("PYTHIA_ALLOCATIONS");
    unsigned long count = atomic_load(&made);
    atomic_store(&begun, false);
    FILE *to = path ? fopen(path, "w") : NULL;
    if (to) {
        fprintf(to, "%lu\n", count);
        fclose(to);
    }
}

static int run(int argc, char **argv, char **environment)
{
    const char *number = getenv("PYTHIA_FAIL_ALLOCATION");
    fails = number ? strtoul(number, NULL, 10) : 0;
    atexit(tell_count);
    atomic_store(&begun, true);
    int status = program(argc, argv, environment);
    atomic_store(&begun, false);
    return status;
}

typedef int start(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void),
                  void (*fini)(void), void (*rtld_fini)(void), void *stack_end);
__attribute__((visibility("default"))) start __libc_start_main;

/* The C library's way to main. */
int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*rtld_fini)(void), void *stack_end)
{
    union {
        void *object;
        start *function;
    } next = {.object = dlsym(RTLD_NEXT, "__libc_start_main")};
    program = main;
    return next.function(run, argc, argv, init, fini, rtld_fini, stack_end);
}
