#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "plan.h"
#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/status.h"
#include "pythia/strtab.h"
#include "symbols.h"

#define PATH_BYTES 4096

/* ---- finding ---- */

/* 0, 126 or 127 */
static int try_path(const char *path)
{
    struct stat about;
    if (stat(path, &about) != 0)
        return errno == EACCES ? 126 : 127;
    return S_ISREG(about.st_mode) && access(path, X_OK) == 0 ? 0 : 126;
}

int pythia__program_find(const char *command, char *out)
{
    int found = 127;
    if (strchr(command, '/')) {
        int size = snprintf(out, PATH_BYTES, "%s", command);
        return size < PATH_BYTES ? try_path(out) : 127;
    }
    const char *path = getenv("PATH");
    path = path ? path : "/usr/local/bin:/usr/bin:/bin";
    for (;;) {
        size_t size = strcspn(path, ":");
        int used =
            snprintf(out, PATH_BYTES, "%.*s/%s", size ? (int)size : 1, size ? path : ".", command);
        int status = used < PATH_BYTES ? try_path(out) : 127;
        if (status == 0)
            return 0;
        found = status == 126 ? 126 : found;
        if (path[size] == '\0')
            return found;
        path += size + 1;
    }
}

/* ld.so loads nothing of the user's into a program that gets more rights than the user has. */
static bool gets_rights(const char *path)
{
    struct stat about;
    if (stat(path, &about) != 0)
        return false;
    return ((about.st_mode & S_ISUID) && about.st_uid != getuid()) ||
           ((about.st_mode & S_ISGID) && about.st_gid != getgid()) ||
           (getuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0);
}

const char *pythia__program_refused(const char *path)
{
    int kind = pythia__symbols_read(path, NULL);
    if (kind == PYTHIA__FILE_STATIC)
        return "it is linked statically, so the tracing library cannot be loaded into it";
    if (kind == PYTHIA__FILE_FOREIGN)
        return "it is built for another processor or for 32 bits, so the tracing library cannot "
               "be loaded into it";
    if (gets_rights(path))
        return "it runs with more rights than you have (setuid, setgid or capabilities), so the "
               "tracing library cannot be loaded into it";
    return NULL;
}

/* ---- what it loads ---- */

/* Let the dynamic linker list what it would load, and start nothing. -1: it cannot be asked. */
static int ask_linker(const char *path, pid_t *child)
{
    int ends[2];
    char *arguments[] = {pythia_without_const(path), NULL};
    if (pipe(ends) != 0)
        return -1;
    *child = fork();
    if (*child == 0) {
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);
        dup2(null, STDIN_FILENO);
        dup2(null, STDERR_FILENO);
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        setenv("LD_TRACE_LOADED_OBJECTS", "1", 1);
        unsetenv("LD_PRELOAD");
        execv(path, arguments);
        _exit(127);
    }
    close(ends[1]);
    if (*child < 0) {
        close(ends[0]);
        return -1;
    }
    return ends[0];
}

/* "\tlibz.so.1 => /lib/libz.so.1 (0x7f…)" or "\t/lib64/ld-linux-x86-64.so.2 (0x7f…)": the file, in
 * place; NULL: none is named, as of linux-vdso.so.1. A library found by a relative path of
 * LD_LIBRARY_PATH has one here. */
static char *file_of(char *line)
{
    char *arrow = strstr(line, " => "), *from = arrow ? arrow + 4 : line + strspn(line, "\t ");
    char *end = strstr(from, " (0x");
    if (!end || !memchr(from, '/', (size_t)(end - from)))
        return NULL;
    *end = '\0';
    return from;
}

/* ---- functions ---- */

struct looking {
    struct pythia__declarations *d;
    const char *path; /* of the object at hand */
    struct pythia_strtab *names;
    struct pythia_buf modules; /* for each declaration, 1: such an object is loaded */
    size_t of_classes;
};

static void take_symbol(void *context, const char *name, uint64_t value)
{
    struct looking *l = context;
    bool of_class = l->of_classes > 0 && strncmp(name, "_ZN", 3) == 0;
    if (value == 0 ||
        (!of_class && pythia_strtab_find(l->names, pythia_text_of(name)) == PYTHIA_STRTAB_NONE))
        return;
    for (size_t i = 0; i < l->d->count; i++) {
        struct pythia__declaration *p = &l->d->all[i];
        if (!p->known && *p->function && pythia__module_is(p->module, l->path) &&
            pythia__declared_is(p->class_name, p->function, name))
            p->known = true;
    }
}

static void look_into(void *context, const char *path)
{
    struct looking *l = context;
    const struct pythia__symbol_handler handler = {take_symbol, l};
    l->path = path;
    for (size_t i = 0; i < l->d->count; i++)
        if (pythia__module_is(l->d->all[i].module, path))
            l->modules.bytes[i] = 1;
    pythia__symbols_read(path, &handler);
}

void pythia__program_objects(const char *path, void (*each)(void *context, const char *file),
                             void *context)
{
    char *line = NULL;
    size_t capacity = 0;
    pid_t child;
    each(context, path);
    if (pythia__symbols_read(path, NULL) != PYTHIA__FILE_DYNAMIC)
        return;
    int from = ask_linker(path, &child);
    FILE *lines = from >= 0 ? fdopen(from, "r") : NULL;
    while (lines && getline(&line, &capacity, lines) > 0) {
        const char *file = file_of(line);
        if (file)
            each(context, file);
    }
    free(line);
    if (lines)
        fclose(lines);
    if (from >= 0)
        waitpid(child, NULL, 0);
}

static size_t report_unknown_functions(const struct looking *l, const char *path)
{
    size_t known = 0;
    for (size_t i = 0; i < l->d->count; i++) {
        struct pythia__declaration *p = &l->d->all[i];
        bool later = *p->module && !l->modules.bytes[i];
        p->known = p->known || later || !*p->function;
        known += p->known;
        if (p->known)
            continue;
        pythia_log(PYTHIA_LOG_ERROR,
                   "%s:%llu: there is no function %s%s%s in %s%s, so it is not "
                   "traced",
                   p->source, (unsigned long long)p->line, p->class_name,
                   *p->class_name ? "::" : "", p->function, *p->module ? p->module : path,
                   *p->module ? "" : " or the libraries that it loads at its start");
    }
    return known;
}

size_t pythia__program_look(const char *path, struct pythia__declarations *d)
{
    struct looking l = {.d = d};
    size_t known = d->count;
    if (pythia_strtab_create(&l.names) != PYTHIA_OK)
        return known;
    char *modules = pythia_buf_reserve(&l.modules, d->count + 1);
    if (modules && pythia__symbols_read(path, NULL) == PYTHIA__FILE_DYNAMIC) {
        memset(modules, 0, d->count + 1);
        for (size_t i = 0; i < d->count; i++) {
            l.of_classes += *d->all[i].class_name != '\0';
            pythia_strtab_intern(l.names, pythia_text_of(d->all[i].function));
        }
        pythia__program_objects(path, look_into, &l);
        known = report_unknown_functions(&l, path);
    }
    pythia_strtab_destroy(l.names);
    pythia_buf_free(&l.modules);
    return known;
}
