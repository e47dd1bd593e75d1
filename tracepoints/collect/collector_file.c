/* SPDX-License-Identifier: MIT */
/* The files of the collector: a file that is being written has a name that ends in .tmp and a lock
 * on it, and gets its name when it is complete. The lock goes with the process, however it ends,
 * and is not inherited: so a reader knows a file that nobody will complete any more.
 *
 * As in flusher.c, it is looked at before each write whether the number is still that of the file:
 * some programs close all they find. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector.h"

static const char heading[] = "Timepoint,Measurement,Label,PID\n";

static int is_rows_file_open(const struct pythia__rows *r)
{
    struct stat about;
    return r->file >= 0 && fstat(r->file, &about) == 0 && about.st_dev == r->device &&
           about.st_ino == r->inode;
}

static int write_all_rows(struct pythia__rows *r, const char *bytes, size_t size, size_t *written)
{
    while (*written < size) {
        ssize_t got = write(r->file, bytes + *written, size - *written);
        if (got < 0 && errno != EINTR)
            return -errno;
        if (got > 0) {
            *written += (size_t)got;
            r->bytes += (uint64_t)got;
        }
    }
    return 0;
}

static void write_rows_name(const struct pythia__rows *r, const char *end,
                            char path[sizeof(((struct pythia__rows *)0)->path) + 8])
{
    snprintf(path, sizeof(r->path) + 8, "%.1119s.%s", r->path, end);
}

/* Attach to the file that is being written, or make it. */
static int open_rows_file(struct pythia__rows *r)
{
    const struct pythia__collector *c = &pythia__collector;
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    struct stat about;
    char path[sizeof(r->path) + 8];
    int again = r->bytes > 0; /* it was closed behind our back */
    if (!again)
        snprintf(r->path, sizeof(r->path), "%.1023s/%s.%d.%" PRIu64 ".%016" PRIx64, c->directory,
                 r->prefix, c->pid, r->number, c->id);
    write_rows_name(r, "tmp", path);
    int file = open(
        path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | (again ? 0 : O_CREAT | O_EXCL), 0640);
    if (file < 0 && errno == ENOENT) { /* the directory, or somebody has taken the file away */
        mkdir(c->directory, 0750);
        r->bytes = 0;
        file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_CREAT | O_EXCL, 0640);
    }
    if (file < 0)
        return -errno;
    if (fstat(file, &about) != 0) {
        int status = -errno;
        close(file);
        return status;
    }
    fcntl(file, F_SETLK, &lock); /* where there are no locks, there are none */
    r->file = file;
    r->device = about.st_dev;
    r->inode = about.st_ino;
    if (r->bytes == 0)
        r->begun_ns = pythia__clock_ns(CLOCK_MONOTONIC);
    return 0;
}

int pythia__rows_begin(struct pythia__rows *r)
{
    if (!is_rows_file_open(r)) {
        r->file = -1;
        int status = open_rows_file(r);
        if (status != 0)
            return status;
    }
    size_t written = r->bytes; /* of the heading, which a full disk may have cut */
    return r->bytes < sizeof(heading) - 1
               ? write_all_rows(r, heading, sizeof(heading) - 1, &written)
               : 0;
}

int pythia__rows_write(struct pythia__rows *r)
{
    char why[PYTHIA__WHY];
    if (r->used == r->written)
        return 0;
    int status = pythia__rows_begin(r);
    if (status == 0)
        status = write_all_rows(r, r->buffer, r->used, &r->written);
    if (status != 0) {
        pythia__why(why, status, "%.150s.tmp cannot be written to: %s", r->path, strerror(-status));
        pythia__collector_problem(why);
        return status;
    }
    r->used = r->written = 0;
    return 0;
}

char *pythia__rows_room(struct pythia__rows *r, int *status)
{
    *status = 0;
    if (r->capacity - r->used < PYTHIA__ROW_BYTES)
        *status = pythia__rows_write(r);
    return *status == 0 ? r->buffer + r->used : NULL;
}

int pythia__rows_complete(struct pythia__rows *r, int last)
{
    struct pythia__collector *c = &pythia__collector;
    char from[sizeof(r->path) + 8], to[sizeof(r->path) + 8], why[PYTHIA__WHY];
    int status = pythia__rows_write(r);
    if (status != 0 || r->bytes == 0 || (r->rows == 0 && !last))
        return status;
    write_rows_name(r, "tmp", from);
    write_rows_name(r, "csv", to);
    if ((r->rows ? rename(from, to) : unlink(from)) != 0 && (r->rows || errno != ENOENT)) {
        status = -errno;
        pythia__why(why, status, "%.150s cannot be completed: %s", from, strerror(-status));
        pythia__collector_problem(why);
        if (status != -ENOENT)
            return status; /* else somebody has taken it away, with what was in it */
    }
    if (is_rows_file_open(r))
        close(r->file); /* only now: the lock must not go before the name */
    r->file = -1;
    if (r->rows && status == 0) {
        __atomic_fetch_add(&c->files, 1, __ATOMIC_RELAXED);
        __atomic_fetch_add(&c->bytes, r->bytes, __ATOMIC_RELAXED);
    }
    r->number += r->rows > 0;
    r->bytes = r->rows = 0;
    return last || status != 0
               ? status
               : pythia__rows_begin(r); /* that there is one says that the process lives */
}

void pythia__rows_forget(struct pythia__rows *r)
{
    if (is_rows_file_open(r))
        close(r->file); /* this process's; the parent's stays, and so does its lock */
    r->file = -1;
    r->number = 1;
    r->bytes = r->rows = 0;
    r->used = r->written = 0;
}
