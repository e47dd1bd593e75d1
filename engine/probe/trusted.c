#define _GNU_SOURCE
#include "trusted.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pythia/status.h"

/* Files and folders that others than root can change are as good as an invitation to probe any
 * program: the path would then name what they like. */
static bool is_trusted(const struct stat *about)
{
    return about->st_uid == 0 && (about->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

int pythia__trusted_open(const char *path, struct pythia_error *e)
{
    char real[PATH_MAX];
    struct stat about;
    if (!realpath(path, real))
        return pythia_error_set(e, PYTHIA_EIO, "%s: %s", path, strerror(errno));
    if (strcmp(path, real) != 0)
        return pythia_error_set(e, PYTHIA_EIO, "%s leads to %s: name that", path, real);
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (file < 0)
        return pythia_error_set(e, PYTHIA_EIO, "%s: %s", path, strerror(errno));
    bool trusted = fstat(file, &about) == 0 && S_ISREG(about.st_mode) && is_trusted(&about);
    for (char *slash = strrchr(real, '/'); trusted && slash; slash = strrchr(real, '/')) {
        slash[slash == real] = '\0'; /* the last one is the root folder itself */
        trusted = stat(real, &about) == 0 && is_trusted(&about);
        if (slash == real)
            break;
    }
    if (trusted)
        return file;
    close(file);
    return pythia_error_set(e, PYTHIA_EIO,
                            "%s, or a folder above it, does not belong to root alone", path);
}

ssize_t pythia__trusted_read(const char *path, char *bytes, size_t capacity, struct pythia_error *e)
{
    size_t size = 0;
    ssize_t got = 0;
    int file = pythia__trusted_open(path, e);
    if (file < 0)
        return file;
    while (size < capacity && (got = read(file, bytes + size, capacity - size)) > 0)
        size += (size_t)got;
    close(file);
    return got < 0 ? pythia_error_set(e, PYTHIA_EIO, "%s: cannot be read", path) : (ssize_t)size;
}

int pythia__allow_list_read(struct pythia_allow_list *out, const char *path, struct pythia_error *e)
{
    static char bytes[PYTHIA_ALLOW_LIST_BYTES + 1];
    ssize_t size = pythia__trusted_read(path, bytes, sizeof(bytes), e);
    if (size < 0)
        return (int)size;
    int status = pythia_allow_list_parse(out, bytes, (size_t)size, e);
    if (status != PYTHIA_OK)
        pythia_error_place(e, path, 0, 0);
    return status;
}
