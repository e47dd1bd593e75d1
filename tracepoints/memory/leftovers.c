/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "leftovers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "area.h"

#define LOOKED_AT 256 /* at most, at once */

struct leftover {
    char file[64];
    struct pythia__entry entry;
    struct timespec written;
};

static int compare_age(const void *a, const void *b)
{
    const struct leftover *x = a, *y = b;
    if (x->written.tv_sec != y->written.tv_sec)
        return x->written.tv_sec < y->written.tv_sec ? -1 : 1;
    return (x->written.tv_nsec > y->written.tv_nsec) - (x->written.tv_nsec < y->written.tv_nsec);
}

/* The bytes in it that nobody has read; 0 if it cannot be inspected. */
static uint64_t count_unread(const struct pythia__directory *d, const struct leftover *l)
{
    struct pythia__area a;
    size_t bytes = 0;
    void *at = NULL;
    uint64_t sum = 0;
    if (pythia__segment_attach(l->entry.segment, d->owner, &bytes, &at, NULL) != 0)
        return 0;
    if (pythia__area_check(&a, at, bytes, l->entry.id_high, l->entry.id_low, NULL) == 0)
        for (uint32_t i = 0; i < a.rings; i++) {
            uint64_t there = __atomic_load_n(&a.controls[i].head, __ATOMIC_ACQUIRE) -
                             __atomic_load_n(&a.controls[i].tail, __ATOMIC_ACQUIRE);
            sum += there <= a.ring_bytes ? there : 0;
        }
    pythia__segment_detach(at);
    return sum;
}

/* Does the file stand for a dead process's rings? What stands for nothing any more is removed. */
static int is_leftover(const struct pythia__directory *d, int folder, const char *file,
                       struct leftover *l)
{
    struct stat about;
    snprintf(l->file, sizeof(l->file), "%.63s", file);
    int status = pythia__entry_read(d, file, "area", &l->entry, NULL);
    long attached = status == 0 ? pythia__segment_attached(l->entry.segment) : status;
    if (attached == -ESTALE)
        pythia__entry_remove(d, file);
    if (attached != 0 || fstatat(folder, file, &about, AT_SYMLINK_NOFOLLOW) != 0)
        return 0;
    l->written = about.st_mtim;
    return 1;
}

/* Areas of programs that have ended stay for their reader; only beyond a number of them the oldest
 * are removed, and what they held is counted as lost. */
void pythia__leftovers_remove(const struct pythia__directory *d, struct pythia_switchboard *b)
{
    DIR *folder = opendir(d->path);
    struct leftover *found = folder ? malloc(LOOKED_AT * sizeof(*found)) : NULL;
    const struct dirent *entry;
    size_t count = 0;
    while (found && count < LOOKED_AT && (entry = readdir(folder)))
        if (strncmp(entry->d_name, "area-", 5) == 0 && strlen(entry->d_name) < 64)
            count += (size_t)is_leftover(d, dirfd(folder), entry->d_name, &found[count]);
    if (count > PYTHIA__LEFTOVERS_MAX) {
        qsort(found, count, sizeof(*found), compare_age);
        for (size_t i = 0; i < count - PYTHIA__LEFTOVERS_MAX; i++) {
            uint64_t bytes = count_unread(d, &found[i]);
            pythia__segment_remove(found[i].entry.segment);
            pythia__entry_remove(d, found[i].file);
            if (b)
                pythia__switchboard_removed(b, bytes);
        }
    }
    free(found);
    if (folder)
        closedir(folder);
}
