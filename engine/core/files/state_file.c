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
#include "pythia/own_file.h"
#include "pythia/status.h"

#define HEAD        "SQLite format 3" /* with the NUL: what a database begins with */
#define HEADER_SIZE 100               /* bytes that every database begins with */
#define BROKEN_MAX  1000              /* damaged states beside each other */

static int fail_state_file(struct pythia_error *e, const char *path, const char *what)
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
                            "is the state of a running pythiad%s%s; stop it, or choose another "
                            "file with --state",
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

/* Open the file of the lock, and lock it. */
static int lock_state(const char *path, const char *name, int *out, struct pythia_error *e)
{
    int file = pythia_own_file_open(name, O_RDWR | O_CREAT | O_NOFOLLOW, e);
    if (file < 0)
        return fail_state_file(e, path, "the lock of the state cannot be created");
    if (flock(file, LOCK_EX | LOCK_NB) != 0) {
        int status = errno == EWOULDBLOCK ? fail_taken(e, path, file)
                                          : fail_state_file(e, path, "the state cannot be locked");
        close(file);
        return status;
    }
    *out = file;
    return PYTHIA_OK;
}

int pythia__state_lock_take(const char *path, struct pythia__state_lock *out,
                            struct pythia_error *e)
{
    char *name = name_lock(path);
    if (!name)
        return pythia_error_set(e, PYTHIA_ENOMEM, "no memory for the state");
    /* The previous holder removes the file while it holds the lock. A file opened before that has
     * no name any more, and a lock on it would exclude nobody: retry with the file of that name. */
    for (;;) {
        int file = -1, status = lock_state(path, name, &file, e);
        if (status != PYTHIA_OK) {
            pythia_free(name);
            return status;
        }
        if (is_current(name, file)) {
            write_pid(file);
            *out = (struct pythia__state_lock){name, file};
            return PYTHIA_OK;
        }
        close(file);
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

/* The file is made before SQLite sees it, as SQLite would make it readable by all. */
int pythia__state_file_prepare(const char *path, struct pythia_error *e)
{
    char head[sizeof(HEAD)];
    struct stat about;
    int file = pythia_own_file_open(path, O_RDWR | O_CREAT, e);
    if (file < 0)
        return fail_state_file(e, path, "cannot be opened as state");
    bool regular = fstat(file, &about) == 0 && S_ISREG(about.st_mode);
    ssize_t size = regular ? read(file, head, sizeof(head)) : 0;
    int status = size < 0 ? fail_state_file(e, path, "the state cannot be read") : PYTHIA_OK;
    close(file);
    if (status != PYTHIA_OK)
        return status;
    if (!regular || memcmp(head, HEAD, (size_t)size) != 0) {
        pythia_error_place(e, path, 0, 0);
        return pythia_error_set(e, PYTHIA_EFORMAT,
                                "is not a database, and was left alone; choose another file with "
                                "--state");
    }
    /* The lock and SQLite's log go by its name: under another one it would be written by two. */
    if (about.st_nlink > 1) {
        pythia_error_place(e, path, 0, 0);
        return pythia_error_set(e, PYTHIA_EIO,
                                "has %lu names (hard links), and two pythiads would damage it; "
                                "remove the others, or use a copy of it",
                                (unsigned long)about.st_nlink);
    }
    if (about.st_mode & 077)
        pythia_log(PYTHIA_LOG_WARNING,
                   "Other users can read the state; chmod 600 prevents that: file=%s", path);
    return pythia_own_database_check(path, e);
}

bool pythia__state_file_is_lost(const char *path)
{
    struct pythia_buf log = {0};
    struct stat about;
    bool lost = false;
    pythia_buf_printf(&log, "%s-wal", path);
    if (pythia_buf_status(&log) == PYTHIA_OK &&
        (stat(path, &about) != 0 || about.st_size < HEADER_SIZE))
        lost = lstat(log.bytes, &about) == 0 && about.st_size > 0;
    pythia_buf_free(&log);
    return lost;
}

static const char *const parts[] = {"", "-wal", "-shm"}; /* of a database, after its name */
#define PART_COUNT (sizeof(parts) / sizeof(parts[0]))

/* The name of a damaged state: number 1 is PATH.broken, 2 is PATH.broken-2. */
static int name_broken(const char *path, int number, const char *part, struct pythia_buf *out)
{
    pythia_buf_clear(out);
    pythia_buf_printf(out, "%s.broken", path);
    if (number > 1)
        pythia_buf_printf(out, "-%d", number);
    pythia_buf_puts(out, part);
    return pythia_buf_status(out);
}

/* Is there a file of that number already? */
static bool is_used(const char *path, int number, struct pythia_buf *name)
{
    struct stat about;
    bool used = false;
    for (size_t i = 0; i < PART_COUNT && !used; i++)
        used = name_broken(path, number, parts[i], name) == PYTHIA_OK &&
               lstat(name->bytes, &about) == 0;
    return used;
}

/* Give each part of a database its new name. 0, or the errno of what failed. */
static int rename_parts(const char *path, int number)
{
    struct pythia_buf from = {0}, to = {0};
    int failed = 0;
    for (size_t i = 0; i < PART_COUNT && failed == 0; i++) {
        pythia_buf_clear(&from);
        pythia_buf_printf(&from, "%s%s", path, parts[i]);
        if (pythia_buf_status(&from) != PYTHIA_OK ||
            name_broken(path, number, parts[i], &to) != PYTHIA_OK)
            failed = ENOMEM;
        else if (rename(from.bytes, to.bytes) != 0 && errno != ENOENT)
            failed = errno;
    }
    pythia_buf_free(&from);
    pythia_buf_free(&to);
    return failed;
}

/* The parts of a database belong together: its log beside another database would be played into
 * that. */
int pythia__state_file_put_aside(const char *path, struct pythia_error *e)
{
    struct pythia_buf name = {0};
    int number = 1;
    while (number <= BROKEN_MAX && is_used(path, number, &name))
        number++;
    int failed = number > BROKEN_MAX ? EEXIST : rename_parts(path, number), status = PYTHIA_OK;
    if (failed != 0) {
        pythia_error_place(e, path, 0, 0);
        status = pythia_error_set(e, failed == ENOMEM ? PYTHIA_ENOMEM : PYTHIA_EIO,
                                  "is damaged, and cannot be renamed (%s); move it away, or "
                                  "choose another file with --state",
                                  strerror(failed));
        goto out;
    }
    if (name_broken(path, number, "", &name) != PYTHIA_OK) {
        status = pythia_error_set(e, PYTHIA_ENOMEM, "no memory for the state");
        goto out;
    }
    pythia_log(PYTHIA_LOG_WARNING,
               "The state is damaged, and a new one was created; set its pins again, or restore a "
               "copy: file=%s, put-aside=%s",
               path, name.bytes);
out:
    pythia_buf_free(&name);
    return status;
}
