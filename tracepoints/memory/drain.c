/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "pythia/drain.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "directory.h"
#include "reader.h"
#include "sized.h"

#define LOCK_NAME  "reader.lock"
#define FILE_BYTES 64

/* One file of the directory. */
struct source {
    struct source *next;
    char file[FILE_BYTES];
    struct pythia__entry entry;
    struct pythia__reader reader;
    void *at;       /* NULL: refused, and looked at no more */
    int own_reader; /* it writes its records to a file by itself */
    int seen;       /* in this look at the directory */
};

struct pythia_drain {
    struct pythia__directory directory;
    struct pythia_drain_handler handler;
    struct pythia_drain_counts counts;
    struct source *sources;
    int lock;
};

/* One reader at a time: two would each see a part of the records. The lock ends with its process.
 */
int pythia_drain_open_sized(const char *directory, const struct pythia_drain_handler *handler,
                            size_t handler_bytes, struct pythia_drain **out, char *why)
{
    struct pythia_drain *d = calloc(1, sizeof(*d));
    if (!d)
        return pythia__why(why, -ENOMEM, "out of memory");
    int status = pythia__sized_take(&d->handler, sizeof(d->handler), handler, handler_bytes);
    if (status != 0)
        pythia__why(why, status, "the program was built for a later version of this library");
    d->lock = -1;
    if (status == 0)
        status = pythia__directory_find(directory, 1, &d->directory, why);
    if (status == 0 && (d->lock = pythia__directory_lock(&d->directory, LOCK_NAME, 0)) < 0) {
        status = d->lock;
        if (status == -EBUSY)
            pythia__why(why, status, "%.150s: has a reader already", d->directory.path);
        else
            pythia__why(why, status, "%.150s/" LOCK_NAME ": %s", d->directory.path,
                        pythia__directory_lock_fault(status));
    }
    if (status != 0) {
        free(d);
        return status;
    }
    *out = d;
    return 0;
}

const char *pythia_drain_directory(const struct pythia_drain *d)
{
    return d->directory.path;
}

static void detach_source(struct pythia_drain *d, struct source *s)
{
    if (s->at) {
        pythia__reader_free(&s->reader);
        pythia__segment_detach(s->at);
        d->counts.processes--;
    }
    s->at = NULL;
}

void pythia_drain_close(struct pythia_drain *d)
{
    if (!d)
        return;
    for (struct source *s = d->sources, *next; s; s = next) {
        next = s->next;
        detach_source(d, s);
        free(s);
    }
    close(d->lock);
    free(d);
}

/* ---- looking ---- */

/* Everything in shared memory is checked once, into a copy, because the program may change it at
 * any time. */
static int attach_source(struct pythia_drain *d, struct source *s, char *why)
{
    struct pythia__area area;
    size_t bytes = 0;
    void *at = NULL;
    int status = pythia__entry_read(&d->directory, s->file, "area", &s->entry, why);
    if (status == 0)
        status = pythia__segment_attach(s->entry.segment, d->directory.owner, &bytes, &at, why);
    if (status != 0)
        return status;
    status = pythia__area_check(&area, at, bytes, s->entry.id_high, s->entry.id_low, why);
    if (status == 0) {
        status = pythia__reader_init(&s->reader, &area, s->entry.id_high, s->entry.id_low);
        if (status != 0)
            pythia__why(why, status, "there is no memory to read it");
    }
    if (status != 0) {
        pythia__segment_detach(at);
        return status;
    }
    s->at = at;
    s->own_reader = area.header->own_reader != 0;
    d->counts.processes++;
    return 0;
}

/* `file`: shorter than FILE_BYTES. */
static int add_source(struct pythia_drain *d, const char *file)
{
    char why[PYTHIA__WHY] = "";
    struct source *s = calloc(1, sizeof(*s));
    if (!s)
        return -ENOMEM;
    memcpy(s->file, file, strlen(file) + 1);
    s->seen = 1;
    int status = attach_source(d, s, why);
    if (status == -ENOENT) { /* its process has just removed it */
        free(s);
        return 0;
    }
    if (status == -ESTALE)
        pythia__entry_remove(&d->directory, file);
    if (status != 0) {
        d->counts.refused++;
        if (d->handler.refused)
            d->handler.refused(d->handler.context, file, why);
    }
    s->next = d->sources;
    d->sources = s;
    return 0;
}

static struct source *find_source(const struct pythia_drain *d, const char *file)
{
    struct source *s = d->sources;
    while (s && strcmp(s->file, file) != 0)
        s = s->next;
    return s;
}

/* See what is new in the directory, and what is gone. */
static int look_at_directory(struct pythia_drain *d)
{
    DIR *folder = opendir(d->directory.path);
    const struct dirent *entry;
    int status = 0;
    if (!folder)
        return -errno;
    for (struct source *s = d->sources; s; s = s->next)
        s->seen = 0;
    while (status == 0 && (entry = readdir(folder))) {
        if (strncmp(entry->d_name, "area-", 5) != 0 || strlen(entry->d_name) >= FILE_BYTES)
            continue;
        struct source *s = find_source(d, entry->d_name);
        if (s)
            s->seen = 1;
        else
            status = add_source(d, entry->d_name);
    }
    closedir(folder);
    return status;
}

/* ---- reading ---- */

/* Has everything been read that its process has left? */
static int is_source_drained(const struct source *s)
{
    const struct pythia__reader *r = &s->reader;
    for (uint32_t i = 0; i < r->area.rings; i++)
        if (r->rings[i].tail != r->rings[i].head && !r->rings[i].bad)
            return 0;
    return 1;
}

/* Read one. Sets *over when there is nothing more to come. */
static int drain_source(struct pythia_drain *d, struct source *s, int *over)
{
    /* Before reading: what is attached to nobody else now is not written to any more. */
    long attached = pythia__segment_attached(s->entry.segment);
    int alive = attached > 1;
    if ((s->own_reader && alive) ||
        (d->handler.wanted && !d->handler.wanted(d->handler.context, s->entry.pid)))
        return 0;
    int status = pythia__reader_pass(&s->reader, &d->handler, s->file, &d->counts);
    *over = status == 0 && !alive && is_source_drained(s);
    return status;
}

static void end_source(struct pythia_drain *d, struct source *s)
{
    pythia__segment_remove(s->entry.segment);
    pythia__entry_remove(&d->directory, s->file);
    detach_source(d, s);
    d->counts.ended++;
}

int pythia_drain_pass(struct pythia_drain *d)
{
    int status = look_at_directory(d);
    for (struct source **at = &d->sources; *at;) {
        struct source *s = *at;
        int over = 0;
        if (s->at && status == 0)
            status = drain_source(d, s, &over);
        if (over)
            end_source(d, s);
        if (over || (!s->at && !s->seen)) {
            *at = s->next;
            free(s);
        } else {
            at = &s->next;
        }
    }
    return status;
}

void pythia_drain_counts_get_sized(const struct pythia_drain *d, struct pythia_drain_counts *out,
                                   size_t out_bytes)
{
    pythia__sized_give(out, out_bytes, &d->counts, sizeof(d->counts));
}
