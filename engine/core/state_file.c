#define _XOPEN_SOURCE 700 /* realpath */
#include "state_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pythia/buf.h"
#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/status.h"

#define HEAD "SQLite format 3" /* with the NUL: what a database begins with */

static int fail(struct pythia_error *e, const char *path, const char *what)
{
    int number = errno;
    pythia_error_place(e, path, 0, 0);
    return pythia_error_set(e, PYTHIA_EIO, "%s: %s", what, strerror(number));
}

/* PATH.lock, where PATH is what symbolic links lead to: two names of one state have one lock. */
static char *name_lock(const char *path)
{
    struct pythia_buf name = {0};
    char *real = realpath(path, NULL);
    pythia_buf_printf(&name, "%s.lock", real ? real : path);
    free(real);
    if (pythia_buf_status(&name) == PYTHIA_OK)
        return name.bytes;
    pythia_buf_free(&name);
    return NULL;
}

static int fail_taken(struct pythia_error *e, const char *path, int file)
{
    char pid[24] = "";
    ssize_t size = pread(file, pid, sizeof(pid) - 1, 0);
    pid[size > 0 ? strspn(pid, "0123456789") : 0] = '\0';
    pythia_error_place(e, path, 0, 0);
    return pythia_error_set(e, PYTHIA_EIO,
                            "is the state of a pythiad that runs%s%s: end that one, or choose "
                            "another file with --state",
                            *pid ? ", pid " : "", pid);
}

/* Is the lock still that of its name? Whoever had it before may have removed it meanwhile. */
static bool is_current(const char *path, int file)
{
    struct stat named, locked;
    return stat(path, &named) == 0 && fstat(file, &locked) == 0 && named.st_dev == locked.st_dev &&
           named.st_ino == locked.st_ino;
}

/* The pid is for a message: the lock holds without it, for example on a full disk. */
static void write_pid(int file)
{
    char pid[24];
    int size = snprintf(pid, sizeof(pid), "%ld\n", (long)getpid());
    if (ftruncate(file, 0) == 0)
        (void)!pwrite(file, pid, (size_t)size, 0);
}

int pythia__state_lock_take(const char *path, struct pythia__state_lock *out,
                            struct pythia_error *e)
{
    char *name = name_lock(path);
    if (!name)
        return pythia_error_set(e, PYTHIA_ENOMEM, "no memory for the state");
    for (;;) {
        int file = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        int status = file < 0 ? fail(e, path, "the lock of the state cannot be made") : PYTHIA_OK;
        if (file >= 0 && flock(file, LOCK_EX | LOCK_NB) != 0)
            status = errno == EWOULDBLOCK ? fail_taken(e, path, file)
                                          : fail(e, path, "the state cannot be locked");
        if (status == PYTHIA_OK && is_current(name, file)) {
            write_pid(file);
            *out = (struct pythia__state_lock){name, file};
            return PYTHIA_OK;
        }
        if (file >= 0)
            close(file);
        if (status != PYTHIA_OK) {
            pythia_free(name);
            return status;
        }
    }
}

void pythia__state_lock_release(struct pythia__state_lock *lock)
{
    if (!lock->path)
        return;
    unlink(lock->path);
    close(lock->file);
    pythia_free(lock->path);
    lock->path = NULL;
}

int pythia__state_file_prepare(const char *path, struct pythia_error *e)
{
    char head[sizeof(HEAD)];
    struct stat about;
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0600);
    if (file < 0)
        return fail(e, path, "cannot be opened as state");
    ssize_t size = read(file, head, sizeof(head));
    bool good = size >= 0 && fstat(file, &about) == 0 && S_ISREG(about.st_mode) &&
                memcmp(head, HEAD, (size_t)size) == 0;
    close(file);
    if (!good) {
        pythia_error_place(e, path, 0, 0);
        return pythia_error_set(e, PYTHIA_EFORMAT,
                                "is no database, and is left alone: choose another file with "
                                "--state");
    }
    if (about.st_mode & 077)
        pythia_log(PYTHIA_LOG_WARNING,
                   "Others than its user may read the state, chmod 600 ends that: file=%s", path);
    return PYTHIA_OK;
}
