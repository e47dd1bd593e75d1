/* A line of /proc/PID/maps, of which those of executable files count:
 *
 *     55d0c8a00000-55d0c8f00000 r-xp 000ce000 fe:00 1572870   /usr/lib/postgresql/15/bin/postgres
 *
 * Device and inode say which file it was when it was mapped. The path is followed below the root of
 * the process, which may be a container's. */
#include "pythia/process_files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "pythia/mem.h"
#include "pythia/status.h"

struct mapped {
    dev_t device;
    ino_t inode;
};

struct process {
    uint64_t pid;
    struct mapped *seen; /* owned */
    size_t count, capacity;
};

/* Take a number and the space or colon after it off the front of a line. */
static uint64_t take_field(char **at, int base)
{
    uint64_t value = strtoull(*at, at, base);
    *at += **at == ' ' || **at == ':' || **at == '-';
    return value;
}

/* Read a line that maps the code of a file; its path begins at *path. */
static bool read_mapping(char *line, struct mapped *m, char **path)
{
    char *at = line;
    take_field(&at, 16);
    take_field(&at, 16);
    const char *flags = at;
    if (strcspn(flags, " ") != 4 || flags[2] != 'x')
        return false;
    at += 5;
    take_field(&at, 16); /* where in the file it begins */
    unsigned major_number = (unsigned)take_field(&at, 16);
    m->device = makedev(major_number, (unsigned)take_field(&at, 16));
    m->inode = (ino_t)take_field(&at, 10);
    at += strspn(at, " ");
    at[strcspn(at, "\n")] = '\0';
    *path = at;
    return m->inode != 0 && *at == '/';
}

static bool was_seen(const struct process *p, const struct mapped *m)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->seen[i].device == m->device && p->seen[i].inode == m->inode)
            return true;
    return false;
}

/* Open what the process has mapped; -1 with a reason if that is not what its path leads to now. */
static int open_mapped(const struct process *p, const struct mapped *m, const char *path,
                       const char **why)
{
    char full[4096 + 64];
    struct stat now;
    snprintf(full, sizeof(full), "/proc/%" PRIu64 "/root%s", p->pid, path);
    int file = open(full, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0) {
        *why =
            errno == ENOENT ? "was replaced or removed since the process began" : strerror(errno);
        return -1;
    }
    if (fstat(file, &now) == 0 && now.st_dev == m->device && now.st_ino == m->inode)
        return file;
    close(file);
    *why = "was replaced since the process began: restart it, or its probes are those of a file "
           "that is gone";
    return -1;
}

static int give_file(struct process *p, const struct mapped *m, const char *path,
                     int (*each)(void *context, const char *path, int file, const char *why),
                     void *context)
{
    const char *why = NULL;
    if (pythia_grow(&p->seen, &p->capacity, p->count, sizeof(*p->seen)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    p->seen[p->count++] = *m;
    int file = open_mapped(p, m, path, &why);
    int status = each(context, path, file, why);
    if (file >= 0)
        close(file);
    return status;
}

int pythia_process_files(uint64_t pid,
                         int (*each)(void *context, const char *path, int file, const char *why),
                         void *context, struct pythia_error *e)
{
    struct process p = {.pid = pid};
    struct mapped m;
    char maps[64], *line = NULL, *path;
    size_t capacity = 0;
    int status = PYTHIA_OK;
    snprintf(maps, sizeof(maps), "/proc/%" PRIu64 "/maps", pid);
    FILE *file = fopen(maps, "re");
    if (!file && errno == ENOENT)
        return pythia_error_set(e, PYTHIA_ENOTFOUND, "there is no process %" PRIu64, pid);
    if (!file)
        return pythia_error_set(e, PYTHIA_EIO, "the mappings of process %" PRIu64 ": %s%s", pid,
                                strerror(errno),
                                errno == EACCES ? " (it belongs to another user)" : "");
    errno = 0;
    while (status >= 0 && getline(&line, &capacity, file) >= 0)
        if (read_mapping(line, &m, &path) && !was_seen(&p, &m))
            status = give_file(&p, &m, path, each, context);
    if (status >= 0 && ferror(file))
        status = pythia_error_set(e, PYTHIA_EIO, "the mappings of process %" PRIu64 ": %s", pid,
                                  strerror(errno));
    fclose(file);
    free(line);
    pythia_free(p.seen);
    return status < 0 ? status : PYTHIA_OK;
}

/* A name may have spaces in it; the 22nd field is sought behind it. */
uint64_t pythia_thread_start_time(uint64_t thread)
{
    char path[64], line[1024] = "";
    snprintf(path, sizeof(path), "/proc/%" PRIu64 "/task/%" PRIu64 "/stat", thread >> 32,
             thread & UINT32_MAX);
    FILE *file = fopen(path, "re");
    bool there = file && fgets(line, sizeof(line), file);
    if (file)
        fclose(file);
    char *at = there ? strrchr(line, ')') : NULL;
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    return at ? strtoull(at, NULL, 10) : 0;
}
