/* Loaded before the C library (LD_PRELOAD), lets one allocation of a program fail, whoever makes
 * it: PYTHIA_FAIL_ALLOCATION is its number, counted from the beginning of main; 0 only counts.
 * At the end of main the file PYTHIA_ALLOCATIONS, if it is given, gets how many there were.
 * Children are counted, too, also those that are programs anew, whatever environment they get. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* What glibc's own names stand for. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *at, size_t size);

__attribute__((visibility("default"))) void *malloc(size_t size);
__attribute__((visibility("default"))) void *calloc(size_t nmemb, size_t size);
__attribute__((visibility("default"))) void *realloc(void *ptr, size_t size);

static atomic_bool begun;
static atomic_ulong *made; /* shared with children: theirs are counted, and fail, too */
static int made_file = -1; /* of which it is memory */
static unsigned long fails;

/* In want of memory libseccomp 2.5.4 never returns from some of its functions; libgfortran, which
 * OpenBLAS brings, ends the program itself while it is loaded; and so does GLib, which
 * libbabeltrace2 brings, always. */
static bool is_excepted(const void *caller)
{
    static const char *const libraries[] = {"libseccomp", "libgfortran", "libglib"};
    Dl_info about;
    bool found = false;
    if (dladdr(caller, &about) == 0 || !about.dli_fname)
        return false;
    for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++)
        found = found || strstr(about.dli_fname, libraries[i]);
    return found;
}

static bool must_fail(const void *caller)
{
    if (!atomic_load(&begun) || !made || atomic_fetch_add(made, 1) + 1 != fails)
        return false;
    if (is_excepted(caller))
        return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    return must_fail(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t nmemb, size_t size)
{
    return must_fail(__builtin_return_address(0)) ? NULL : __libc_calloc(nmemb, size);
}

void *realloc(void *ptr, size_t size)
{
    return must_fail(__builtin_return_address(0)) ? NULL : __libc_realloc(ptr, size);
}

static int (*program)(int, char **, char **);

static int told_to = -1; /* a file, open from the beginning: a program may confine itself */

static void tell_count(void)
{
    unsigned long count = made ? atomic_load(made) : 0;
    atomic_store(&begun, false);
    if (told_to >= 0)
        dprintf(told_to, "%lu\n", count);
}

static int run(int argc, char **argv, char **environment)
{
    const char *number = getenv("PYTHIA_FAIL_ALLOCATION");
    const char *path = getenv("PYTHIA_ALLOCATIONS"),
               *counted = getenv("PYTHIA_COUNTED_ALLOCATIONS");
    made_file = counted ? open(counted, O_RDWR | O_CLOEXEC) : memfd_create("made", MFD_CLOEXEC);
    void *shared = ftruncate(made_file, sizeof(*made)) == 0
                       ? mmap(NULL, sizeof(*made), PROT_READ | PROT_WRITE, MAP_SHARED, made_file, 0)
                       : MAP_FAILED;
    made = shared == MAP_FAILED ? NULL : shared;
    fails = number ? strtoul(number, NULL, 10) : 0;
    if (path)
        told_to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    atexit(tell_count);
    atomic_store(&begun, true);
    int status = program(argc, argv, environment);
    atomic_store(&begun, false);
    return status;
}

/* A program that this one starts gets what it needs to be counted along. */
typedef int spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *file_actions,
                  const posix_spawnattr_t *attrp, char *const *argv, char *const *envp);
__attribute__((visibility("default"))) spawn posix_spawn;

int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *file_actions,
                const posix_spawnattr_t *attrp, char *const *argv, char *const *envp)
{
    static char preload[4096], number[64], counted[64];
    union {
        void *object;
        spawn *function;
    } next = {.object = dlsym(RTLD_NEXT, "posix_spawn")};
    char *more[256] = {preload, number, counted};
    snprintf(preload, sizeof(preload), "LD_PRELOAD=%s", getenv("LD_PRELOAD"));
    snprintf(number, sizeof(number), "PYTHIA_FAIL_ALLOCATION=%lu", fails);
    snprintf(counted, sizeof(counted), "PYTHIA_COUNTED_ALLOCATIONS=/proc/%d/fd/%d", (int)getpid(),
             made_file);
    for (size_t count = 3; *envp && count < 255; envp++)
        if (strncmp(*envp, "LD_PRELOAD=", 11) != 0 && strncmp(*envp, "PYTHIA_FAIL_", 12) != 0)
            more[count++] = *envp;
    return next.function(pid, path, file_actions, attrp, argv, more);
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
