/* SPDX-License-Identifier: MIT */
/* The shim that `pythia run` has loaded before a program's own libraries: reads the plan, hooks
 * what it declares, and does so again when the program loads more.
 *
 * The library itself is only used once a hooked function is called, so that a program that has
 * trace points of its own can still set it up in main.
 *
 * dlopen and dlsym are replaced. A file that is named with its path is loaded, and its calls are
 * hooked, before dlopen returns. Where the search for it depends on who asks, dlopen is jumped to,
 * and what it has loaded is looked at with the next dlsym, which nearly always follows, or at the
 * next dlopen. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hooks.h"
#include "memory/names.h"
#include "probes/probes.h"
#include "pythia/switchboard.h"

#define PLAN_MAX ((off_t)64 << 20)
#define VARIABLE "PYTHIA_HOOKS"

static struct {
    pthread_mutex_t lock;
    int active; /* there is a plan, and calls can be hooked */
    struct pythia__hooked *points;
    size_t count;
    char *text;      /* the plan; points refer to it */
    char path[3072]; /* of the plan; what is told goes to <path>.report */
} preload = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- telling ---- */

void pythia__tell(const char *format, ...)
{
    char line[1024], path[sizeof(preload.path) + 16];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(line, sizeof(line) - 1, format, arguments);
    va_end(arguments);
    size = size < (int)sizeof(line) - 2 ? size : (int)sizeof(line) - 2;
    for (int i = 0; i < size; i++)
        if (((unsigned char)line[i] < ' ' && line[i] != '\t') || line[i] == 0x7f)
            line[i] = '?';
    line[size] = '\n';
    snprintf(path, sizeof(path), "%s.report", preload.path);
    int file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0)
        return; /* whoever has started this is gone */
    struct stat about;
    if (fstat(file, &about) == 0 && S_ISREG(about.st_mode)) {
        ssize_t written = write(file, line, (size_t)size + 1);
        (void)written; /* there is nobody to tell that to either */
    }
    close(file);
}

/* ---- the plan ---- */

/* The plan stays in memory for as long as the program runs. It says what is called instead of the
 * program's functions: only a file that nobody else could write to is believed. */
static char *read_plan(const char *path)
{
    struct stat about;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    char *text = NULL;
    if (file >= 0 && fstat(file, &about) == 0 && S_ISREG(about.st_mode) &&
        about.st_uid == geteuid() && !(about.st_mode & (S_IWGRP | S_IWOTH)) &&
        about.st_size < PLAN_MAX)
        text = calloc(1, (size_t)about.st_size + 1);
    for (ssize_t at = 0, size; text && at < about.st_size; at += size)
        if ((size = read(file, text + at, (size_t)(about.st_size - at))) <= 0)
            break;
    if (file >= 0)
        close(file);
    return text;
}

/* All points are allocated at once, because hooks keep pointers to them. */
static int add_hook_points(char *text)
{
    size_t lines = 0;
    for (const char *c = text; *c; c++)
        lines += *c == '\n';
    if (strncmp(text, PYTHIA__PLAN_HEAD, strlen(PYTHIA__PLAN_HEAD)) != 0 ||
        lines > PYTHIA__PLAN_POINTS)
        return -EINVAL;
    text += strlen(PYTHIA__PLAN_HEAD);
    preload.points = calloc(lines + 1, sizeof(*preload.points));
    if (!preload.points)
        return -ENOMEM;
    int status = 1;
    while (preload.count < lines &&
           (status = pythia__plan_next(&text, &preload.points[preload.count].declared)) > 0) {
        struct pythia__hooked *h = &preload.points[preload.count++];
        const char *name = h->declared.name;
        struct pythia_point point =
            PYTHIA_POINT(PYTHIA_POINT_INTERNAL, name, (uint32_t)strlen(name));
        h->point = point;
        h->request = (struct pythia_request){name, strlen(name), PYTHIA_TRACEPOINTS_VERSION};
        if (*h->declared.function)
            pythia__declared_add(h);
    }
    return status < 0 ? status : 0;
}

/* ---- switches ---- */

/* The program's part of ids, as the library will find it unless the program says otherwise. */
static const char *find_service_name(void)
{
    const char *name = secure_getenv("PYTHIA_SERVICE");
    if (!name || !*name)
        name = secure_getenv("OTEL_SERVICE_NAME");
    return name && *name ? name : program_invocation_short_name;
}

/* Was a point already opened for this program by another process of the same run? Then whoever has
 * closed it since has meant it. */
static int is_first(const char *id, size_t bytes)
{
    char path[sizeof(preload.path) + 32];
    snprintf(path, sizeof(path), "%s.open-%016llx", preload.path,
             (unsigned long long)pythia__fnv(id, bytes));
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0)
        return 0;
    close(file);
    return 1;
}

static void throw_open(struct pythia_switchboard *board, size_t index, const char *name,
                       const char *types)
{
    char id[4352];
    uint64_t bits = 0;
    int size = snprintf(id, sizeof(id), "%.4000s:%.300s", find_service_name(), name);
    if (!is_first(id, (size_t)size))
        return;
    for (const char *type = types; *type;) {
        size_t bytes = strcspn(type, "\x1f");
        bits |= UINT64_C(1) << pythia_switchboard_type(board, type, bytes);
        type += bytes + (type[bytes] != '\0');
    }
    bits = bits ? bits : PYTHIA_SWITCHES_ALL;
    pythia__tell("opened\t%zu\t%016llx\t%s", index, (unsigned long long)bits, id);
    if (pythia_switchboard_throw(board, id, (size_t)size, bits, bits) != 0)
        pythia__tell("problem\tthe switchboard has no place for %s", id);
}

/* Open what is declared to be open and was found here. */
static void open_found(void)
{
    struct pythia_switchboard *board = NULL;
    char why[256] = "";
    for (size_t i = 0; i < preload.count; i++) {
        struct pythia__hooked *h = &preload.points[i];
        if (h->opened || (h->places == 0 && h->symbols == 0))
            continue;
        h->opened = 1;
        if (h->declared.open && !board && pythia_switchboard_open(NULL, 1, &board, why) != 0) {
            pythia__tell("problem\t%s", why);
            return;
        }
        if (h->declared.open)
            throw_open(board, i, h->declared.name, h->declared.types);
    }
    pythia_switchboard_close(board);
}

static void open_hook_probe(size_t index, const char *name)
{
    struct pythia_switchboard *board;
    char why[256];
    if (pythia_switchboard_open(NULL, 1, &board, why) != 0) {
        pythia__tell("problem\t%s", why);
        return;
    }
    throw_open(board, index, name, "");
    pythia_switchboard_close(board);
}

static const struct pythia__probes_host host = {pythia__tell, open_hook_probe};

/* ---- hooking ---- */

/* Tell which points have got (more) places. */
static void tell_places(const uint32_t *before)
{
    for (size_t i = 0; i < preload.count; i++) {
        const struct pythia__hooked *h = &preload.points[i];
        uint32_t now = h->places + h->symbols;
        if (now > (before ? before[i] : 0))
            pythia__tell("hooked\t%zu\t%u\t%u", i, h->places, h->symbols);
    }
}

/* Under the lock. */
static void search_objects_again(void)
{
    int saved = errno;
    uint32_t *before = calloc(preload.count + 1, sizeof(*before));
    for (size_t i = 0; before && i < preload.count; i++)
        before[i] = preload.points[i].places + preload.points[i].symbols;
    pythia__objects_look(pythia__instrumented_look);
    open_found();
    tell_places(before);
    free(before);
    errno = saved;
}

static void look_if_changed(void)
{
    if (!__atomic_load_n(&preload.active, __ATOMIC_ACQUIRE) || !pythia__objects_changed())
        return;
    pthread_mutex_lock(&preload.lock);
    search_objects_again();
    pthread_mutex_unlock(&preload.lock);
    pythia__probes_look();
}

/* ---- dlopen and dlsym ---- */

static void *open_and_look(const char *file, int mode)
{
    void *handle = pythia__real_dlopen(file, mode);
    look_if_changed();
    return handle;
}

/* The function to go on with, for whoever calls dlopen. A name with a path in it, and without $,
 * is the same file for everybody. */
uintptr_t pythia__hook_dlopen_of(const char *file, int mode);
uintptr_t pythia__hook_dlopen_of(const char *file, int mode)
{
    (void)mode;
    pythia__real_find();
    int same = file && strchr(file, '/') && !strchr(file, '$');
    look_if_changed();
    return same ? (uintptr_t)open_and_look : pythia__real_dlopen_at();
}

/* A function that is declared is given out with its hook. */
static void *look_up_hooked(void *handle, const char *name)
{
    void *found = pythia__real_dlsym(handle, name);
    struct pythia__hooked *h = found ? pythia__declared_first(name) : NULL;
    uintptr_t target = (uintptr_t)found, begin;
    if (!h || pythia__is_stub(target))
        return found;
    pthread_mutex_lock(&preload.lock);
    for (; h; h = pythia__declared_next(h, name)) {
        const char *path = pythia__object_at(target, &begin);
        const struct pythia__hook *hook =
            path && pythia__module_is(h->declared.module, path) ? pythia__hook_of(h, target) : NULL;
        if (!hook)
            continue;
        h->places++;
        open_found();
        pythia__tell("hooked\t%zu\t%u\t%u", h - preload.points, h->places, h->symbols);
        found = (void *)hook->stub; /* NOLINT(performance-no-int-to-ptr) */
        break;
    }
    pthread_mutex_unlock(&preload.lock);
    return found;
}

uintptr_t pythia__hook_dlsym_of(const void *handle, const char *name);
uintptr_t pythia__hook_dlsym_of(const void *handle, const char *name)
{
    pythia__real_find();
    look_if_changed();
    int hooked = __atomic_load_n(&preload.active, __ATOMIC_ACQUIRE) && handle != RTLD_NEXT &&
                 handle != RTLD_DEFAULT && pythia__declared_first(name) != NULL;
    return hooked ? (uintptr_t)look_up_hooked : pythia__real_dlsym_at();
}

/* ---- callbacks ---- */

/* Load what points name as theirs. The program runs without one that cannot be found, and whoever
 * started it is told. A callback of Python has no path. */
static void load_callbacks(void)
{
    char path[4096];
    for (size_t i = 0; i < preload.count; i++) {
        struct pythia__hooked *h = &preload.points[i];
        const char *colon = strrchr(h->declared.callback, ':');
        size_t bytes = colon ? (size_t)(colon - h->declared.callback) : 0;
        if (bytes == 0 || bytes >= sizeof(path) || !memchr(h->declared.callback, '/', bytes))
            continue;
        memcpy(path, h->declared.callback, bytes);
        path[bytes] = '\0';
        void *object = pythia__real_dlopen(path, RTLD_NOW | RTLD_LOCAL);
        void *found = object ? pythia__real_dlsym(object, colon + 1) : NULL;
        if (found)
            memcpy(&h->callback, &found, sizeof(found));
        else
            pythia__tell("problem\t'%s' has no callback: %s", h->declared.name, dlerror());
    }
}

/* ---- beginning and end ---- */

static void lock_hooks_before_fork(void)
{
    pthread_mutex_lock(&preload.lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&preload.lock);
}

static void after_fork_in_child(void)
{
    pthread_mutex_unlock(&preload.lock);
    pythia__tell("forked\t%ld\t%s", (long)getpid(), program_invocation_short_name);
}

__attribute__((constructor)) static void begin(void)
{
    const char *path = secure_getenv(VARIABLE);
    pythia__real_find();
    if (!path || !*path || strlen(path) >= sizeof(preload.path))
        return;
    snprintf(preload.path, sizeof(preload.path), "%s", path);
    preload.text = read_plan(path);
    if (!preload.text)
        return; /* the run that made it is over */
    int status = add_hook_points(preload.text);
    if (status == 0)
        status = pythia__calls_begin();
    if (status == 0)
        pythia__jumps_begin();
    if (status != 0) {
        pythia__tell("refused\t%s", status == -ENOTSUP ? "the processor keeps a second stack of "
                                                         "return addresses (CET shadow stack)"
                                                       : strerror(-status));
        return;
    }
    pthread_atfork(lock_hooks_before_fork, after_fork, after_fork_in_child);
    pythia__tell("began\t%ld\t%s", (long)getpid(), program_invocation_short_name);
    load_callbacks();
    pthread_mutex_lock(&preload.lock);
    search_objects_again();
    pthread_mutex_unlock(&preload.lock);
    __atomic_store_n(&preload.active, 1, __ATOMIC_RELEASE);
    char probes[sizeof(preload.path) + 16];
    snprintf(probes, sizeof(probes), "%s.probes", path);
    pythia__probes_begin(probes, &host);
}

/* The resources that the process used, and the calls without a free slot. */
__attribute__((destructor)) static void end(void)
{
    pythia__probes_end();
    struct rusage took;
    if (preload.count > 0 && getrusage(RUSAGE_SELF, &took) == 0)
        pythia__tell("ended\t%ld\t%lld\t%lld\t%ld\t%ld\t%ld", (long)getpid(),
                     (long long)took.ru_utime.tv_sec * 1000000 + took.ru_utime.tv_usec,
                     (long long)took.ru_stime.tv_sec * 1000000 + took.ru_stime.tv_usec,
                     took.ru_maxrss, took.ru_majflt, took.ru_minflt);
    for (size_t i = 0; i < preload.count; i++) {
        uint64_t lost = __atomic_load_n(&preload.points[i].unrecorded, __ATOMIC_RELAXED);
        if (lost)
            pythia__tell("unrecorded\t%zu\t%llu", i, (unsigned long long)lost);
    }
}
