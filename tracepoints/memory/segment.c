/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "segment.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

int pythia__why(char *why, int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (why)
        /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it was begun above */
        vsnprintf(why, PYTHIA__WHY, format, args);
    va_end(args);
    return status;
}

static int is_gone(int number)
{
    return number == EINVAL || number == EIDRM;
}

/* Give a segment that root has made to the user whose directory it is named in. */
static void give_segment_to(int id, uid_t owner)
{
    struct shmid_ds about;
    if (geteuid() == owner || shmctl(id, IPC_STAT, &about) != 0)
        return;
    about.shm_perm.uid = owner;
    shmctl(id, IPC_SET, &about);
}

int pythia__segment_create(size_t bytes, uid_t owner, int own, int *id, void **at)
{
    int made = shmget(IPC_PRIVATE, bytes, IPC_CREAT | IPC_EXCL | SHM_NORESERVE | 0600);
    if (made < 0)
        return -errno;
    void *attached = shmat(made, NULL, 0);
    if (attached == (void *)-1) { /* NOLINT(performance-no-int-to-ptr): that is what shmat gives */
        int status = -errno;
        pythia__segment_remove(made);
        return status;
    }
    if (own) /* so that "attached" means that the owner lives, and a child cannot write as it */
        madvise(attached, bytes, MADV_DONTFORK);
    madvise(attached, bytes, MADV_DONTDUMP); /* a core of the program need not hold all that */
    give_segment_to(made, owner);
    *id = made;
    *at = attached;
    return 0;
}

int pythia__segment_attach(int id, uid_t owner, size_t *bytes, void **at, char *why)
{
    struct shmid_ds about;
    if (shmctl(id, IPC_STAT, &about) != 0)
        return is_gone(errno)
                   ? pythia__why(why, -ESTALE, "its shared memory %d is gone", id)
                   : pythia__why(why, -errno, "its shared memory %d cannot be looked at: %s", id,
                                 strerror(errno));
    if (about.shm_perm.uid != owner || (about.shm_perm.cuid != owner && about.shm_perm.cuid != 0))
        return pythia__why(why, -EPERM, "its shared memory %d is of user %lu, not of user %lu", id,
                           (unsigned long)about.shm_perm.cuid, (unsigned long)owner);
    if (about.shm_perm.mode & (S_IWGRP | S_IWOTH))
        return pythia__why(why, -EPERM,
                           "its shared memory %d may be written to by others than its owner", id);
    void *attached = shmat(id, NULL, 0);
    if (attached == (void *)-1) /* NOLINT(performance-no-int-to-ptr) */
        return pythia__why(why, is_gone(errno) ? -ESTALE : -errno,
                           "its shared memory %d cannot be attached: %s", id, strerror(errno));
    *bytes = about.shm_segsz;
    *at = attached;
    return 0;
}

void pythia__segment_detach(void *at)
{
    if (at)
        shmdt(at);
}

void pythia__segment_remove(int id)
{
    shmctl(id, IPC_RMID, NULL);
}

long pythia__segment_attached(int id)
{
    struct shmid_ds about;
    if (shmctl(id, IPC_STAT, &about) != 0)
        return is_gone(errno) ? -ESTALE : -errno;
    return (long)about.shm_nattch;
}
