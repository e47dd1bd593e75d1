#define _XOPEN_SOURCE 700 /* realpath */
#include "pythia/own_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pythia/buf.h"
#include "pythia/log.h"
#include "pythia/status.h"

/* Devices belong to whoever uses them: a terminal to whose login it is. */
static bool is_foreign(const struct stat *about)
{
    return about->st_uid != geteuid() && about->st_uid != 0 && !S_ISCHR(about->st_mode);
}

/* Can others make files in the folder of this path? Without memory to find out, they can. */
static bool is_in_shared_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    struct pythia_buf folder = {0};
    struct stat about;
    pythia_buf_printf(&folder, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
    bool shared = pythia_buf_status(&folder) != PYTHIA_OK ||
                  (stat(folder.bytes, &about) == 0 && (about.st_mode & (S_IWGRP | S_IWOTH)));
    pythia_buf_free(&folder);
    return shared;
}

static int refuse_foreign(const char *path, const struct stat *about, struct pythia_error *e)
{
    pythia_error_place(e, path, 0, 0);
    return pythia_error_set(
        e, PYTHIA_EIO,
        "is a %s of user %lu in a folder that others can write to; remove it, or choose "
        "another file",
        S_ISLNK(about->st_mode)    ? "symbolic link"
        : S_ISSOCK(about->st_mode) ? "socket"
                                   : "file",
        (unsigned long)about->st_uid);
}

static int refuse_names(const char *path, const struct stat *about, struct pythia_error *e)
{
    pythia_error_place(e, path, 0, 0);
    return pythia_error_set(
        e, PYTHIA_EIO,
        "has %lu names (hard links) in a folder that others can write to; remove it, "
        "or choose another file",
        (unsigned long)about->st_nlink);
}

/* Look at a file that is open: nobody can exchange it any more. */
static int check_opened(const char *path, int file, bool writes, struct pythia_error *e)
{
    struct stat about;
    if (fstat(file, &about) != 0)
        return PYTHIA_EIO;
    bool foreign = is_foreign(&about);
    bool named = writes && S_ISREG(about.st_mode) && about.st_nlink > 1;
    if ((!foreign && !named) || !is_in_shared_folder(path))
        return PYTHIA_OK;
    return foreign ? refuse_foreign(path, &about, e) : refuse_names(path, &about, e);
}

/* In a folder where only its owner can remove a file (a sticky one), a file that was found to be
 * ours stays. One that is missing is created by O_EXCL, which follows no link that was made
 * meanwhile. -1 with EEXIST: another process has created it. */
static int open_or_create(const char *path, int flags, struct pythia_error *e)
{
    struct stat about;
    if (lstat(path, &about) != 0) {
        flags |= flags & O_CREAT ? O_EXCL : 0;
    } else if (is_foreign(&about) && is_in_shared_folder(path)) {
        refuse_foreign(path, &about, e);
        errno = EPERM;
        return -1;
    }
    return open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600);
}

int pythia_own_file_open(const char *path, int flags, struct pythia_error *e)
{
    int file;
    do
        file = open_or_create(path, flags, e);
    while (file < 0 && errno == EEXIST && !(flags & O_EXCL));
    if (file >= 0 && check_opened(path, file, (flags & O_ACCMODE) != O_RDONLY, e) != PYTHIA_OK) {
        close(file);
        errno = EPERM;
        return -1;
    }
    return file;
}

/* A secret that another user has put there is known to that user. */
int pythia_own_secret_check(const char *path, const char *what, struct pythia_error *e)
{
    struct pythia_error why = {0};
    struct stat about;
    int file = pythia_own_file_open(path, O_RDONLY, &why);
    if (file >= 0) {
        if (fstat(file, &about) == 0 && (about.st_mode & 077))
            pythia_log(PYTHIA_LOG_WARNING,
                       "Other users can read the %s; chmod 600 prevents that: file=%s", what, path);
        close(file);
    } else if (why.status != PYTHIA_OK && e && e->status == PYTHIA_OK) {
        *e = why;
    }
    return why.status;
}

int pythia_own_socket_check(const char *path, struct pythia_error *e)
{
    struct stat about;
    if (lstat(path, &about) != 0 || !is_foreign(&about) || !is_in_shared_folder(path))
        return PYTHIA_OK;
    return refuse_foreign(path, &about, e);
}

/* A log or a journal that somebody else has written would be played into the database. */
int pythia_own_database_check(const char *path, struct pythia_error *e)
{
    static const char *const parts[] = {"-journal", "-wal", "-shm"};
    struct pythia_buf name = {0};
    char *real = realpath(path, NULL); /* SQLite names them after what symbolic links lead to */
    bool shared = is_in_shared_folder(real ? real : path);
    int status = PYTHIA_OK;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && shared && status == PYTHIA_OK; i++) {
        struct stat about;
        pythia_buf_clear(&name);
        pythia_buf_printf(&name, "%s%s", real ? real : path, parts[i]);
        if (pythia_buf_status(&name) != PYTHIA_OK)
            status = pythia_error_set(e, PYTHIA_ENOMEM, "out of memory");
        else if (lstat(name.bytes, &about) != 0)
            continue;
        else if (is_foreign(&about) || S_ISLNK(about.st_mode))
            status = refuse_foreign(name.bytes, &about, e);
        else if (about.st_nlink > 1)
            status = refuse_names(name.bytes, &about, e);
    }
    free(real);
    pythia_buf_free(&name);
    return status;
}
