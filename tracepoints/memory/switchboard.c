/* SPDX-License-Identifier: MIT */
/* The segment, whose sizes are those of its version:
 *
 *          0  header, 512 bytes: in one page with the first switches
 *               0  magic           8: "PYTHSWBD"
 *               8  version         4: 2
 *              16  id             16: random; the same as in the directory's file
 *              32  off             4: not 0: all points are closed
 *              36  points          4: places given away; only grows
 *              40  name_bytes      4: of the names below that are given away; only grows
 *              44  thrown          4: how often switches were thrown; a futex
 *              48  refused_points, refused_types, removed_areas, removed_bytes: 8 each
 *             128  types      62 x 4: where the name of that bit is, 0: free
 *        512  switches    131 072 x 8: what a closed point looks at; dense, 8 to a cache line
 *  1 049 088  ids         131 072 x 4: where the id of that point is, 0: not yet
 *  1 573 376  slots       262 144 x 4: 1 + number of a point, by the hash of its id; 0: free
 *  2 621 952  names            16 MiB: each 2 bytes of size, and so many bytes; a multiple of 8
 *
 * Programs add points while others read and throw switches, and any of them may be killed at any
 * time, so nothing is locked. A name is written first, then given to its place; the place is put
 * into a free slot by compare-and-swap, last. Two that add one id meet at the same slot: one of
 * them wins, and the other takes what is there. Nothing is ever removed.
 *
 * Nor is anything believed: all programs of a user can write here, and one of them may be broken.
 * Every number is held against its bounds when it is used, and probing ends. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "names.h"
#include "pythia/records.h"
#include "sized.h"
#include "switches.h"

#define VERSION     2
#define FILE_NAME   "switchboard-2"
#define LOCK_NAME   "switchboard.lock"
#define PATIENCE_MS 20
#define POINTS      PYTHIA_SWITCHBOARD_POINTS
#define SLOTS       (2 * POINTS)
#define NAMES       ((size_t)16 * 1024 * 1024)
#define PROBES      1024
#define TYPES       PYTHIA_TYPE_LAST

#define ID_BYTES (PYTHIA_SERVICE_BYTES + 1 + PYTHIA_NAME_BYTES)
_Static_assert(ID_BYTES < sizeof(((struct pythia_switchboard_point *)0)->id), "an id fits");

struct segment {
    char magic[8];
    uint32_t version, zero0;
    uint64_t id_high, id_low;
    uint32_t off, points, name_bytes, thrown;
    uint64_t refused_points, refused_types, removed_areas, removed_bytes;
    uint8_t zero2[48];
    uint32_t types[TYPES];
    uint8_t zero3[512 - 128 - TYPES * 4];
    uint64_t switches[POINTS];
    uint32_t ids[POINTS];
    uint32_t slots[SLOTS];
    unsigned char names[NAMES];
};

_Static_assert(offsetof(struct segment, types) == 128, "as drawn");
_Static_assert(offsetof(struct segment, switches) == 512, "as drawn");
_Static_assert(offsetof(struct segment, ids) == 1049088, "as drawn");
_Static_assert(offsetof(struct segment, slots) == 1573376, "as drawn");
_Static_assert(offsetof(struct segment, names) == 2621952, "as drawn");

struct pythia_switchboard {
    struct segment *segment;
};

/* ---- opening ---- */

static int check_segment(const struct segment *s, size_t bytes, const struct pythia__entry *entry,
                         char *why)
{
    if (bytes != sizeof(*s))
        return pythia__why(why, -EBADMSG, "the switchboard has %zu bytes, not %zu", bytes,
                           sizeof(*s));
    if (memcmp(s->magic, "PYTHSWBD", 8) != 0)
        return pythia__why(why, -EBADMSG, "the switchboard does not begin as one does");
    if (s->version != VERSION)
        return pythia__why(why, -EPROTO, "the switchboard is of version %" PRIu32 ", not %d",
                           s->version, VERSION);
    if (s->id_high != entry->id_high || s->id_low != entry->id_low)
        return pythia__why(why, -EBADMSG, "the switchboard is not the one that its file names");
    return 0;
}

/* Attach the one that the directory names. -ENOENT, -ESTALE: there is none, or none any more. */
static int attach_board(const struct pythia__directory *d, struct segment **out, char *why)
{
    struct pythia__entry entry;
    char reason[PYTHIA__WHY] = "";
    void *at = NULL;
    size_t bytes = 0;
    int status = pythia__entry_read(d, FILE_NAME, "switchboard", &entry, reason);
    if (status == 0)
        status = pythia__segment_attach(entry.segment, d->owner, &bytes, &at, reason);
    if (status != 0)
        return pythia__why(why, status, "the switchboard of %.100s: its file %.100s", d->path,
                           reason);
    status = check_segment(at, bytes, &entry, why);
    if (status != 0)
        pythia__segment_detach(at);
    else
        *out = at;
    return status;
}

static int make_board(const struct pythia__directory *d, struct segment **out, char *why)
{
    struct pythia__entry entry = {.kind = "switchboard", .pid = (int)getpid()};
    void *at = NULL;
    int status = pythia__segment_create(sizeof(struct segment), d->owner, 0, &entry.segment, &at);
    if (status != 0)
        return pythia__why(why, status, "no shared memory for a switchboard: %s",
                           strerror(-status));
    struct segment *s = at;
    pythia__random_bytes(&entry.id_high, 8);
    pythia__random_bytes(&entry.id_low, 8);
    memcpy(s->magic, "PYTHSWBD", 8);
    s->version = VERSION;
    s->id_high = entry.id_high;
    s->id_low = entry.id_low;
    s->name_bytes = 8; /* 0 is no name */
    status = pythia__entry_write(d, FILE_NAME, &entry, 1);
    if (status != 0) {
        pythia__segment_remove(entry.segment);
        pythia__segment_detach(at);
        return pythia__why(why, status, "%.150s cannot be written to: %s", d->path,
                           strerror(-status));
    }
    *out = s;
    return 0;
}

static int is_absent(int status)
{
    return status == -ENOENT || status == -ESTALE;
}

int pythia__switchboard_open(const struct pythia__directory *d, int create,
                             struct pythia_switchboard **out, char *why)
{
    struct segment *s = NULL;
    int status = attach_board(d, &s, why);
    if (is_absent(status) && create) {
        int lock = pythia__directory_lock(d, LOCK_NAME, PATIENCE_MS);
        if (lock < 0)
            return pythia__why(
                why, lock == -EBUSY ? -EAGAIN : lock,
                "the switchboard of %.100s is not there, and cannot be made, because "
                "of " LOCK_NAME ": %s",
                d->path, pythia__directory_lock_fault(lock));
        status = attach_board(d, &s, why); /* somebody may have been faster */
        if (is_absent(status))
            status = make_board(d, &s, why);
        close(lock);
    }
    if (status != 0)
        return status;
    struct pythia_switchboard *b = malloc(sizeof(*b));
    if (!b) {
        pythia__segment_detach(s);
        return pythia__why(why, -ENOMEM, "out of memory");
    }
    b->segment = s;
    *out = b;
    return 0;
}

int pythia_switchboard_open(const char *directory, int create, struct pythia_switchboard **out,
                            char *why)
{
    struct pythia__directory d;
    int status = pythia__directory_find(directory, 1, &d, why);
    return status == 0 ? pythia__switchboard_open(&d, create, out, why) : status;
}

void pythia_switchboard_close(struct pythia_switchboard *b)
{
    if (b)
        pythia__segment_detach(b->segment);
    free(b);
}

int pythia_switchboard_remove(const char *directory, char *why)
{
    struct pythia__directory d;
    struct pythia__entry entry;
    int status = pythia__directory_find(directory, 1, &d, why);
    if (status != 0)
        return status;
    struct segment *s = NULL;
    status = attach_board(&d, &s, why); /* never remove a segment that is something else */
    if (status == 0) {
        status = pythia__entry_read(&d, FILE_NAME, "switchboard", &entry, why);
        if (status == 0)
            pythia__segment_remove(entry.segment);
        pythia__segment_detach(s);
    }
    if (status == 0 || status == -ESTALE) {
        pythia__entry_remove(&d, FILE_NAME);
        status = 0;
    }
    return status;
}

/* ---- names ---- */

/* The name at an offset; NULL if it cannot be one. */
static const char *read_name_at(const struct segment *s, uint32_t at, size_t *bytes)
{
    uint16_t size;
    if (at < 8 || at > NAMES - sizeof(size))
        return NULL;
    memcpy(&size, s->names + at, sizeof(size));
    if (size > ID_BYTES || size > NAMES - sizeof(size) - at)
        return NULL;
    *bytes = size;
    return (const char *)s->names + at + sizeof(size);
}

static int is_board_name(const struct segment *s, uint32_t at, const char *name, size_t bytes)
{
    size_t size;
    const char *found = read_name_at(s, at, &size);
    return found && size == bytes && memcmp(found, name, bytes) == 0;
}

/* Write a name where nobody else does; 0: no room. */
static uint32_t write_name(struct segment *s, const char *name, size_t bytes)
{
    uint16_t size = (uint16_t)bytes;
    uint32_t wanted = ((uint32_t)bytes + (uint32_t)sizeof(size) + 7) & ~7U;
    if (__atomic_load_n(&s->name_bytes, __ATOMIC_RELAXED) > NAMES - wanted)
        return 0; /* before adding: what is refused must not add up until it begins again */
    uint32_t at = __atomic_fetch_add(&s->name_bytes, wanted, __ATOMIC_RELAXED);
    if (at < 8 || at % 8 || at > NAMES - wanted)
        return 0;
    memcpy(s->names + at, &size, sizeof(size));
    memcpy(s->names + at + sizeof(size), name, bytes);
    return at;
}

/* ---- points ---- */

/* A place with a name of its own; POINTS: there is none. */
static uint32_t take_free_point(struct segment *s, const char *id, size_t bytes)
{
    if (__atomic_load_n(&s->points, __ATOMIC_RELAXED) >= POINTS)
        return POINTS;
    uint32_t name = write_name(s, id, bytes);
    if (!name)
        return POINTS;
    uint32_t index = __atomic_fetch_add(&s->points, 1, __ATOMIC_RELAXED);
    if (index >= POINTS)
        return POINTS;
    __atomic_store_n(&s->switches[index], 0, __ATOMIC_RELAXED);
    __atomic_store_n(&s->ids[index], name, __ATOMIC_RELEASE);
    return index;
}

static int is_point_named(const struct segment *s, uint32_t slot, const char *id, size_t bytes)
{
    return slot - 1 < POINTS &&
           is_board_name(s, __atomic_load_n(&s->ids[slot - 1], __ATOMIC_ACQUIRE), id, bytes);
}

/* The place of an id, given to it if there was none; POINTS: there is none. */
static uint32_t reach_point(struct segment *s, const char *id, size_t bytes, int create)
{
    uint64_t hash = pythia__fnv(id, bytes);
    uint32_t added = POINTS, at = (uint32_t)(hash ^ hash >> 32);
    for (int probe = 0; probe < PROBES; probe++, at++) {
        uint32_t *slot = &s->slots[at % SLOTS], there = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
        if (there == 0 && !create)
            return POINTS;
        if (there == 0) {
            if (added == POINTS && (added = take_free_point(s, id, bytes)) == POINTS)
                break;
            if (__atomic_compare_exchange_n(slot, &there, added + 1, 0, __ATOMIC_ACQ_REL,
                                            __ATOMIC_ACQUIRE))
                return added;
        }
        if (is_point_named(s, there, id, bytes)) {
            if (added < POINTS) /* another was faster: this place stays empty */
                __atomic_store_n(&s->ids[added], 0, __ATOMIC_RELEASE);
            return there - 1;
        }
    }
    if (create)
        __atomic_fetch_add(&s->refused_points, 1, __ATOMIC_RELAXED);
    return POINTS;
}

uint64_t *pythia__switchboard_find(struct pythia_switchboard *b, const char *id, size_t bytes,
                                   int create)
{
    uint32_t index =
        bytes > 0 && bytes <= ID_BYTES ? reach_point(b->segment, id, bytes, create) : POINTS;
    return index < POINTS ? &b->segment->switches[index] : NULL;
}

uint32_t pythia_switchboard_points(const struct pythia_switchboard *b)
{
    uint32_t points = __atomic_load_n(&b->segment->points, __ATOMIC_ACQUIRE);
    return points < POINTS ? points : POINTS;
}

int pythia_switchboard_at_sized(const struct pythia_switchboard *b, uint32_t index,
                                struct pythia_switchboard_point *out, size_t out_bytes)
{
    struct segment *s = b->segment;
    struct pythia_switchboard_point point;
    if (index >= pythia_switchboard_points(b))
        return -ENOENT;
    const char *id =
        read_name_at(s, __atomic_load_n(&s->ids[index], __ATOMIC_ACQUIRE), &point.id_bytes);
    if (!id)
        return -ENOENT;
    memcpy(point.id, id, point.id_bytes);
    point.id[point.id_bytes] = '\0';
    if (reach_point(s, point.id, point.id_bytes, 0) != index)
        return -ENOENT; /* whoever added it was killed before it was done */
    point.switches = __atomic_load_n(&s->switches[index], __ATOMIC_RELAXED);
    pythia__sized_give(out, out_bytes, &point, sizeof(point));
    return 0;
}

/* ---- waiting ---- */

/* Few programs wait: those whose closed points have no code that looks (static probes). */
static void wake_waiting(struct segment *s)
{
    __atomic_fetch_add(&s->thrown, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, &s->thrown, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

uint32_t pythia__switchboard_thrown(const struct pythia_switchboard *b)
{
    return __atomic_load_n(&b->segment->thrown, __ATOMIC_ACQUIRE);
}

void pythia__switchboard_wait(struct pythia_switchboard *b, uint32_t known,
                              const struct timespec *most)
{
    syscall(SYS_futex, &b->segment->thrown, FUTEX_WAIT, known, most, NULL, 0);
}

int pythia_switchboard_throw(struct pythia_switchboard *b, const char *id, size_t id_bytes,
                             uint64_t of, uint64_t to)
{
    char clean[ID_BYTES];
    id_bytes = pythia__name_clean(id, id_bytes, clean, sizeof(clean), NULL);
    uint64_t *switches = pythia__switchboard_find(b, clean, id_bytes, 1);
    if (!switches)
        return -ENOSPC;
    __atomic_fetch_or(switches, of & to, __ATOMIC_RELEASE);
    __atomic_fetch_and(switches, ~of | to, __ATOMIC_RELEASE);
    wake_waiting(b->segment);
    return 0;
}

/* ---- kinds of requests ---- */

int pythia_switchboard_type(struct pythia_switchboard *b, const char *name, size_t name_bytes)
{
    struct segment *s = b->segment;
    char clean[PYTHIA_NAME_BYTES];
    uint32_t added = 0;
    name_bytes = pythia__name_clean(name, name_bytes, clean, sizeof(clean), NULL);
    for (int i = 0; i < TYPES; i++) {
        uint32_t there = __atomic_load_n(&s->types[i], __ATOMIC_ACQUIRE);
        if (there == 0) {
            if (!added && !(added = write_name(s, clean, name_bytes)))
                break;
            if (__atomic_compare_exchange_n(&s->types[i], &there, added, 0, __ATOMIC_ACQ_REL,
                                            __ATOMIC_ACQUIRE))
                return PYTHIA_TYPE_FIRST + i;
        }
        if (is_board_name(s, there, clean, name_bytes))
            return PYTHIA_TYPE_FIRST + i;
    }
    __atomic_fetch_add(&s->refused_types, 1, __ATOMIC_RELAXED);
    return PYTHIA_TYPE_OTHER;
}

int pythia_switchboard_type_name(const struct pythia_switchboard *b, int type, char *name)
{
    size_t bytes;
    if (type < PYTHIA_TYPE_FIRST || type > PYTHIA_TYPE_LAST)
        return -ENOENT;
    const uint32_t *types = b->segment->types;
    uint32_t at = __atomic_load_n(&types[type - PYTHIA_TYPE_FIRST], __ATOMIC_ACQUIRE);
    const char *found = read_name_at(b->segment, at, &bytes);
    if (!found)
        return -ENOENT;
    memcpy(name, found, bytes);
    name[bytes] = '\0';
    return 0;
}

/* ---- all of it ---- */

const uint32_t *pythia__switchboard_off(const struct pythia_switchboard *b)
{
    return &b->segment->off;
}

void pythia_switchboard_off(struct pythia_switchboard *b, int off)
{
    __atomic_store_n(&b->segment->off, off != 0, __ATOMIC_RELEASE);
    wake_waiting(b->segment);
}

void pythia__switchboard_removed(struct pythia_switchboard *b, uint64_t bytes)
{
    __atomic_fetch_add(&b->segment->removed_areas, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&b->segment->removed_bytes, bytes, __ATOMIC_RELAXED);
}

void pythia_switchboard_state_get_sized(const struct pythia_switchboard *b,
                                        struct pythia_switchboard_state *out, size_t out_bytes)
{
    const struct segment *s = b->segment;
    char name[272];
    struct pythia_switchboard_state state = {
        .points = pythia_switchboard_points(b),
        .off = __atomic_load_n(&s->off, __ATOMIC_RELAXED) != 0,
        .refused_points = __atomic_load_n(&s->refused_points, __ATOMIC_RELAXED),
        .refused_types = __atomic_load_n(&s->refused_types, __ATOMIC_RELAXED),
        .removed_areas = __atomic_load_n(&s->removed_areas, __ATOMIC_RELAXED),
        .removed_bytes = __atomic_load_n(&s->removed_bytes, __ATOMIC_RELAXED),
    };
    while (state.types < TYPES &&
           pythia_switchboard_type_name(b, PYTHIA_TYPE_FIRST + state.types, name) == 0)
        state.types++;
    pythia__sized_give(out, out_bytes, &state, sizeof(state));
}

/* ---- switches as text ---- */

struct line {
    const char *id, *type;
    size_t id_bytes, type_bytes; /* type_bytes 0: all */
    int open;
};

/* One line without its newline. 0, 1 if there is nothing in it, -EINVAL. */
static int parse_switch_line(const char *text, size_t bytes, struct line *out)
{
    if (bytes == 0 || *text == '#')
        return 1;
    const char *end = text + bytes, *tab = memchr(text, '\t', bytes);
    if (!tab)
        return -EINVAL;
    size_t verb = (size_t)(tab - text);
    out->open = verb == 4 && memcmp(text, "open", 4) == 0;
    if (!out->open && !(verb == 5 && memcmp(text, "close", 5) == 0))
        return -EINVAL;
    out->id = tab + 1;
    tab = memchr(out->id, '\t', (size_t)(end - out->id));
    out->id_bytes = (size_t)((tab ? tab : end) - out->id);
    out->type = tab ? tab + 1 : end;
    out->type_bytes = (size_t)(end - out->type);
    return out->id_bytes == 0 || (tab && out->type_bytes == 0) ||
                   memchr(out->type, '\t', out->type_bytes)
               ? -EINVAL
               : 0;
}

static int64_t throw_line(struct pythia_switchboard *b, const struct line *l)
{
    uint64_t of = PYTHIA_SWITCHES_ALL;
    if (l->type_bytes > 0)
        of = UINT64_C(1) << pythia_switchboard_type(b, l->type, l->type_bytes);
    uint64_t to = l->open ? of : 0;
    if (!memchr(l->id, '*', l->id_bytes) && !memchr(l->id, '?', l->id_bytes))
        return pythia_switchboard_throw(b, l->id, l->id_bytes, of, to) == 0;
    struct pythia_switchboard_point point;
    int64_t thrown = 0;
    for (uint32_t i = 0; i < pythia_switchboard_points(b); i++)
        if (pythia_switchboard_at(b, i, &point) == 0 &&
            pythia__name_matches(l->id, l->id_bytes, point.id, point.id_bytes))
            thrown += pythia_switchboard_throw(b, point.id, point.id_bytes, of, to) == 0;
    return thrown;
}

int64_t pythia_switchboard_apply(struct pythia_switchboard *b, const char *text, size_t bytes,
                                 char *why)
{
    int64_t thrown = 0;
    struct line line;
    const char *end = text + bytes;
    for (int number = 1; text < end; number++) {
        const char *newline = memchr(text, '\n', (size_t)(end - text)),
                   *stop = newline ? newline : end;
        int status = parse_switch_line(text, (size_t)(stop - text), &line);
        if (status < 0)
            return pythia__why(why, status,
                               "line %d: wanted \"open\" or \"close\", a tab, an id, and at most "
                               "one more tab and a kind of request",
                               number);
        if (status == 0)
            thrown += throw_line(b, &line);
        text = newline ? newline + 1 : end;
    }
    return thrown;
}
