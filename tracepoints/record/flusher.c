/* SPDX-License-Identifier: MIT */
/* The thread that reads this process's own rings, and writes them to a file of frames.
 *
 * The file is opened for appending, and each frame is one write: a child of fork may write to the
 * same one. Some programs close all files they find, when they become daemons; the number could
 * then be that of a socket of theirs. So it is looked at before each write whether it is still the
 * file, which is opened again if it is not. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "memory/reader.h"
#include "process.h"

#define PATH_BYTES 1024
#define BACK_OFF   50 /* passes, behind one that could not be written */

static struct {
    pthread_t thread;
    int ready;            /* the reader is there */
    uint32_t started;     /* so is the thread */
    uint32_t bell;        /* 1: there is something to do, before the time has come */
    uint32_t asked, done; /* passes that somebody waits for */
    uint32_t stop;
    int status;  /* of the last pass */
    int refused; /* the file is another user's, and that was reported */
    struct pythia__reader reader;
    struct pythia_drain_counts counts;
    uint64_t bytes;
    char path[PATH_BYTES];
    int file;
    dev_t device;
    ino_t inode;
} flusher = {.file = -1};

/* ---- the file ---- */

/* %p is the process id, %% a percent sign. */
static void expand_path(const char *pattern, char path[PATH_BYTES])
{
    size_t used = 0;
    for (; *pattern && used < PATH_BYTES - 24; pattern++) {
        if (pattern[0] == '%' && pattern[1] == 'p') {
            used += (size_t)snprintf(path + used, PATH_BYTES - used, "%ld", (long)getpid());
            pattern++;
        } else {
            pattern += pattern[0] == '%' && pattern[1] == '%';
            path[used++] = *pattern;
        }
    }
    path[used] = '\0';
}

/* In a folder that others can write to, as /tmp, another user may have made a file or a link of
 * that name before, to read the records, or to have them written to another file of this user. */
static int is_planted(const struct stat *about)
{
    char folder[PATH_BYTES];
    struct stat above;
    int is_foreign = about->st_uid != geteuid() && about->st_uid != 0 && !S_ISCHR(about->st_mode);
    if (!is_foreign && !(S_ISREG(about->st_mode) && about->st_nlink > 1))
        return 0;
    const char *slash = strrchr(flusher.path, '/');
    snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - flusher.path) + 1 : 1,
             slash ? flusher.path : ".");
    if (stat(folder, &above) == 0 && !(above.st_mode & (S_IWGRP | S_IWOTH)))
        return 0;
    if (!flusher.refused) {
        char sentence[PYTHIA__WHY];
        snprintf(sentence, sizeof(sentence),
                 "records are not written to %.100s: it is of user %lu, or has several names, in a "
                 "folder that "
                 "others can write to",
                 flusher.path, (unsigned long)about->st_uid);
        pythia__problem(sentence);
    }
    flusher.refused = 1;
    return 1;
}

/* A file that is missing is created by O_EXCL, which follows no link that was made meanwhile.
 * -EEXIST: another process has created it. */
static int open_records_path(void)
{
    struct stat about;
    int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK;
    if (lstat(flusher.path, &about) != 0)
        flags |= O_EXCL;
    else if (S_ISLNK(about.st_mode) && is_planted(&about))
        return -EPERM;
    int file = open(flusher.path, flags, 0600);
    return file < 0 ? -errno : file;
}

static int open_records_file(void)
{
    struct stat about;
    int file;
    if (flusher.file >= 0 && fstat(flusher.file, &about) == 0 && about.st_dev == flusher.device &&
        about.st_ino == flusher.inode)
        return 0;
    flusher.file = -1;
    do
        file = open_records_path();
    while (file == -EEXIST);
    if (file < 0)
        return file;
    int status = fstat(file, &about) != 0 ? -errno : 0;
    if (status == 0 && is_planted(&about))
        status = -EPERM;
    if (status != 0) {
        close(file);
        return status;
    }
    flusher.file = file;
    flusher.device = about.st_dev;
    flusher.inode = about.st_ino;
    return 0;
}

static int write_frame(void *context, const void *bytes, size_t size)
{
    (void)context;
    int status = open_records_file();
    if (status != 0)
        return status;
    ssize_t written;
    do
        written = write(flusher.file, bytes, size);
    while (written < 0 && errno == EINTR);
    if (written == (ssize_t)size) {
        __atomic_store_n(&flusher.bytes, flusher.bytes + size, __ATOMIC_RELAXED);
        return 0;
    }
    /* Readers skip an incomplete frame; it is written again, as a whole. */
    return written < 0 ? -errno : -ENOSPC;
}

/* ---- the thread ---- */

static int flush_once(void)
{
    const struct pythia_drain_handler handler = {.frame = write_frame};
    return pythia__reader_pass(&flusher.reader, &handler, "", &flusher.counts);
}

/* Wait while *word is `is`, for so long at most (0: for ever). The kernel counts that time by a
 * clock that nobody sets. */
static void wait_for_flusher_word(uint32_t *word, uint32_t is, uint64_t ns)
{
    struct timespec most = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, is, ns ? &most : NULL, NULL, 0);
}

static void wake_word(uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

void pythia__flusher_ring(void)
{
    if (__atomic_load_n(&flusher.started, __ATOMIC_RELAXED) &&
        __atomic_exchange_n(&flusher.bell, 1, __ATOMIC_ACQ_REL) == 0)
        wake_word(&flusher.bell);
}

static void *run_flusher_thread(void *unused)
{
    (void)unused;
    pythia__self.busy = 1; /* what is called here may have trace points too */
    for (int stop = 0; !stop;) {
        __atomic_store_n(&flusher.bell, 0, __ATOMIC_SEQ_CST);
        uint32_t asked = __atomic_load_n(&flusher.asked, __ATOMIC_SEQ_CST);
        stop = __atomic_load_n(&flusher.stop, __ATOMIC_SEQ_CST) != 0;
        int status = flush_once();
        __atomic_store_n(&flusher.status, status, __ATOMIC_RELAXED);
        __atomic_store_n(&flusher.done, asked, __ATOMIC_RELEASE);
        wake_word(&flusher.done);
        if (!stop)
            wait_for_flusher_word(&flusher.bell, 0,
                                  (uint64_t)pythia__process.options.flush_ms * 1000000 *
                                      (status ? BACK_OFF : 1));
    }
    return NULL;
}

void pythia__flusher_start(void)
{
    const struct pythia__process *p = &pythia__process;
    sigset_t all, before;
    if (!p->records)
        return;
    expand_path(p->records, flusher.path);
    if (pythia__reader_init(&flusher.reader, &p->area, p->entry.id_high, p->entry.id_low) != 0) {
        pythia__problem("there is no memory to write records to a file");
        return;
    }
    flusher.ready = 1;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for the program's own threads */
    int failed = pthread_create(&flusher.thread, NULL, run_flusher_thread, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed)
        pythia__problem("there is no thread to write records to a file: that is done at the end");
    __atomic_store_n(&flusher.started, !failed, __ATOMIC_RELEASE);
}

int pythia__flusher_flush(void)
{
    if (!flusher.ready)
        return pythia__process.records ? 0 : -ENOENT; /* 0: there is nothing to write */
    if (!__atomic_load_n(&flusher.started, __ATOMIC_ACQUIRE)) {
        if (!pythia__lock(&pythia__self))
            return -EBUSY;
        int status = flush_once();
        pythia__unlock(&pythia__self);
        return status;
    }
    uint32_t mine = __atomic_add_fetch(&flusher.asked, 1, __ATOMIC_SEQ_CST), done;
    pythia__flusher_ring();
    while ((int32_t)((done = __atomic_load_n(&flusher.done, __ATOMIC_ACQUIRE)) - mine) < 0 &&
           __atomic_load_n(&flusher.started, __ATOMIC_RELAXED))
        wait_for_flusher_word(&flusher.done, done, (uint64_t)1000000000);
    return __atomic_load_n(&flusher.status, __ATOMIC_RELAXED);
}

void pythia__flusher_stop(void)
{
    if (!flusher.ready)
        return;
    if (flusher.started) {
        __atomic_store_n(&flusher.stop, 1, __ATOMIC_SEQ_CST);
        pythia__flusher_ring();
        pthread_join(flusher.thread, NULL);
        __atomic_store_n(&flusher.started, 0, __ATOMIC_RELEASE);
    } else {
        flusher.status = flush_once();
    }
    flusher.ready = 0;
    pythia__reader_free(&flusher.reader);
}

void pythia__flusher_forget(void)
{
    pythia__reader_free(&flusher.reader);
    flusher.ready = 0;
    flusher.started = flusher.bell = flusher.asked = flusher.done = flusher.stop = 0;
    flusher.status = 0;
    flusher.bytes = 0;
    flusher.file = -1; /* the parent's; its number is of no use here, and may be closed */
    flusher.counts = (struct pythia_drain_counts){0};
}

uint64_t pythia__flusher_bytes(void)
{
    return __atomic_load_n(&flusher.bytes, __ATOMIC_RELAXED);
}
