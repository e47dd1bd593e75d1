/* SPDX-License-Identifier: MIT */
/* The points and kinds of requests that this process has passed, by name: those of one name share
 * number and switches. Nothing is ever freed, since points and contexts refer to it. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "names.h"
#include "process.h"

#define POINTS_MAX   1048576
#define TYPES_MAX    4096
#define OPENED_BYTES ((ssize_t)1 << 20) /* of a file of points to open */

struct node {
    uint64_t pinned; /* its switches, if the environment has opened it */
    const uint64_t *switches;
    uint64_t hash;
    uint32_t number;
    uint16_t bytes;
    uint8_t cut;
    char name[];
};

static struct {
    struct node **slots; /* by hash; slot_count is a power of two */
    size_t slot_count;
    struct node **nodes; /* by number - 1 */
    uint32_t count, capacity, refused;
} points;

static struct {
    struct pythia__type *all[TYPES_MAX];
    uint32_t count, other;
} types;

static const uint64_t closed;

/* ---- what the environment opens ---- */

/* The bits that one pattern opens: a pattern, or behind a tab the kind of request that it is for.
 */
static uint64_t bits_of(const char *line, size_t bytes, const struct node *node)
{
    const struct pythia__process *p = &pythia__process;
    const char *tab = memchr(line, '\t', bytes);
    size_t pattern = tab ? (size_t)(tab - line) : bytes;
    char id[PYTHIA_SERVICE_BYTES + 1 + PYTHIA_NAME_BYTES];
    memcpy(id, p->service, p->service_bytes);
    id[p->service_bytes] = ':';
    memcpy(id + p->service_bytes + 1, node->name, node->bytes);
    if (!pythia__name_matches(line, pattern, node->name, node->bytes) &&
        !pythia__name_matches(line, pattern, id, p->service_bytes + 1 + node->bytes))
        return 0;
    if (!tab)
        return PYTHIA_SWITCHES_ALL;
    return p->switchboard ? UINT64_C(1) << pythia_switchboard_type(p->switchboard, tab + 1,
                                                                   bytes - pattern - 1)
                          : 0;
}

static uint64_t bits_of_all(const char *text, size_t bytes, const char *separators,
                            const struct node *node)
{
    uint64_t bits = 0;
    while (bytes > 0) {
        size_t length = 0;
        while (length < bytes && !strchr(separators, text[length]))
            length++;
        if (length > 0 && *text != '#')
            bits |= bits_of(text, length, node);
        length += length < bytes;
        text += length;
        bytes -= length;
    }
    return bits;
}

/* PYTHIA_OPEN=@FILE: read the file in its place, once. */
static void read_opened(struct pythia__process *p)
{
    char sentence[PYTHIA__WHY];
    if (!p->open || *p->open != '@')
        return;
    int file = open(p->open + 1, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    char *text = file >= 0 ? malloc((size_t)OPENED_BYTES + 1) : NULL;
    ssize_t size = -1, got;
    for (size = 0; text && (got = read(file, text + size, (size_t)(OPENED_BYTES - size))) > 0;)
        size += got;
    if (file < 0 || !text || got < 0 || size == OPENED_BYTES) {
        snprintf(sentence, sizeof(sentence),
                 "the points to open cannot be read from %.100s, or are more than 1 MiB",
                 p->open + 1);
        pythia__problem(sentence);
        size = 0;
    }
    if (text) {
        text[size] = '\0';
        for (char *c = text; c < text + size; c++)
            if (*c == '\0')
                *c = '\n';
    }
    free(p->open);
    p->open = text; /* lines */
    if (file >= 0)
        close(file);
}

/* ---- points ---- */

static struct node **slot_of(uint64_t hash, const char *name, size_t bytes)
{
    size_t at = (size_t)(hash ^ hash >> 32) & (points.slot_count - 1);
    while (points.slots[at]) {
        const struct node *node = points.slots[at];
        if (node->hash == hash && node->bytes == bytes && memcmp(node->name, name, bytes) == 0)
            break;
        at = (at + 1) & (points.slot_count - 1);
    }
    return &points.slots[at];
}

/* Room for one more; 0 if there is none. */
static int grow(void)
{
    if (points.count < points.capacity)
        return 1;
    size_t capacity = points.capacity ? points.capacity * (size_t)2 : 64;
    struct node **nodes = realloc(points.nodes, capacity * sizeof(struct node *)); /* NOLINT */
    if (!nodes)
        return 0;
    points.nodes = nodes;
    struct node **slots = calloc(capacity * 2, sizeof(struct node *)); /* NOLINT: of pointers */
    if (!slots)
        return 0;
    free(points.slots);
    points.slots = slots;
    points.slot_count = capacity * 2;
    points.capacity = (uint32_t)capacity;
    for (uint32_t i = 0; i < points.count; i++)
        *slot_of(nodes[i]->hash, nodes[i]->name, nodes[i]->bytes) = nodes[i];
    return 1;
}

static int define(const struct node *node)
{
    struct pythia_record_point record = {
        .head = {.kind = PYTHIA_RECORD_POINT,
                 .flags = node->cut ? PYTHIA_RECORD_TEXT_CUT : 0,
                 .number = node->number},
        .name_bytes = node->bytes,
    };
    return pythia__define(&record, sizeof(record), node->name, node->bytes, "", 0);
}

void pythia__points_define(void)
{
    for (uint32_t i = 0; i < points.count; i++)
        if (!define(points.nodes[i]))
            points.nodes[i]->switches = &closed; /* those that are bound have the room */
}

/* Its switches: those of the environment, or the switchboard's. */
static void find_switches(struct node *node)
{
    const struct pythia__process *p = &pythia__process;
    char id[PYTHIA_SERVICE_BYTES + 1 + PYTHIA_NAME_BYTES];
    memcpy(id, p->service, p->service_bytes);
    id[p->service_bytes] = ':';
    memcpy(id + p->service_bytes + 1, node->name, node->bytes);
    node->switches =
        p->switchboard
            ? pythia__switchboard_find(p->switchboard, id, p->service_bytes + 1 + node->bytes, 1)
            : NULL;
    if (!node->switches) {
        points.refused += p->switchboard != NULL;
        if (p->switchboard)
            pythia__problem("the switchboard has no place for more trace points");
        node->switches = &closed;
    }
    if (p->open)
        node->pinned = bits_of_all(p->open, strlen(p->open), ",\n", node);
    if (node->pinned)
        node->switches = &node->pinned;
}

static struct node *add(const char *name, size_t bytes, int cut, uint64_t hash)
{
    struct node *node = grow() && points.count < POINTS_MAX ? malloc(sizeof(*node) + bytes) : NULL;
    if (!node)
        return NULL;
    *node = (struct node){
        .hash = hash, .number = points.count + 1, .bytes = (uint16_t)bytes, .cut = cut != 0};
    memcpy(node->name, name, bytes);
    find_switches(node);
    if (pythia__process.recording > 0 && !define(node)) {
        free(node);
        return NULL;
    }
    *slot_of(hash, name, bytes) = node;
    points.nodes[points.count++] = node;
    return node;
}

/* Under the lock. */
static void bind(struct pythia_point *point)
{
    char name[PYTHIA_NAME_BYTES];
    int cut;
    size_t bytes = pythia__name_clean(point->name, point->name_bytes, name, sizeof(name), &cut);
    uint64_t hash = pythia__fnv(name, bytes);
    const struct node *node = points.slot_count ? *slot_of(hash, name, bytes) : NULL;
    if (!node)
        node = add(name, bytes, cut, hash);
    if (!node) {
        points.refused++;
        pythia__problem("there is no room for more trace points");
    }
    const uint64_t *switches = node ? node->switches : &closed;
    __atomic_store_n(&point->switches, switches, __ATOMIC_RELEASE);
    if (point->near)
        __atomic_store_n(point->near, switches, __ATOMIC_RELEASE);
    __atomic_store_n(&point->number, node ? node->number : UINT32_MAX, __ATOMIC_RELEASE);
}

int pythia__bind(struct pythia__thread *t, struct pythia_point *point)
{
    int saved = errno, bound = 0;
    if (t->busy || !pythia__lock(t))
        return 0;
    t->busy = 1; /* what is called here may have trace points too */
    if (pythia__begin() == 0) {
        if (points.count == 0)
            read_opened(&pythia__process);
        if (__atomic_load_n(&point->number, __ATOMIC_RELAXED) == 0)
            bind(point);
        bound = 1;
    }
    t->busy = 0;
    pythia__unlock(t);
    errno = saved;
    return bound;
}

/* ---- kinds of requests ---- */

/* The one that all beyond TYPES_MAX share. */
static const struct pythia__type rest = {PYTHIA_TYPE_OTHER, 5, "other"};

/* Types are only added, so that looking needs no lock. */
static const struct pythia__type *find_type(const char *name, size_t bytes)
{
    uint32_t count = __atomic_load_n(&types.count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count; i++)
        if (types.all[i]->bytes == bytes && memcmp(types.all[i]->name, name, bytes) == 0)
            return types.all[i];
    return count < TYPES_MAX ? NULL : &rest;
}

/* Under the lock. */
static const struct pythia__type *add_type(const char *name, size_t bytes)
{
    const struct pythia__process *p = &pythia__process;
    struct pythia__type *type = malloc(sizeof(*type) + bytes);
    if (!type)
        return &rest;
    type->name = memcpy(type + 1, name, bytes);
    type->bytes = (uint16_t)bytes;
    type->bit = (uint8_t)(p->switchboard ? pythia_switchboard_type(p->switchboard, name, bytes)
                                         : PYTHIA_TYPE_OTHER);
    if (type->bit == PYTHIA_TYPE_OTHER && p->switchboard && types.other++ == 0)
        pythia__problem("there are more kinds of requests than switches for them: the rest share "
                        "the last one");
    types.all[types.count] = type;
    __atomic_store_n(&types.count, types.count + 1, __ATOMIC_RELEASE);
    return type;
}

/* Where a thread keeps the kind of that name, if it has met it: a request names it several times,
 * and what all threads share has to be fetched anew each time. */
static inline unsigned place_of(const char *name, size_t bytes)
{
    size_t first = bytes ? (unsigned char)name[0] : 0;
    size_t last = bytes ? (unsigned char)name[bytes - 1] : 0;
    return (unsigned)((bytes * 31 + first * 7 + last) % PYTHIA__TYPES_MET);
}

static inline int is_same(const char *one, const char *other, size_t bytes)
{
    size_t same = 0;
    while (same < bytes && one[same] == other[same]) /* memcmp would have to be fetched, too */
        same++;
    return same == bytes;
}

static int is_plain(const char *name, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (!pythia__is_plain(name[i]))
            return 0;
    return 1;
}

/* Those that share the last bit are met anew each time. A signal handler may come in the middle and
 * ask for kinds itself: it finds none here then, and leaves this place alone. */
static PYTHIA__COLD void remember(struct pythia__thread *t, const struct pythia__type *type)
{
    struct pythia__met *met = &t->met[place_of(type->name, type->bytes)];
    int is_long = type->bytes > sizeof(met->name);
    if (type == &rest || t->busy)
        return;
    t->busy = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    met->type = NULL;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    met->bit = type->bit;
    met->bytes = is_long ? PYTHIA__TYPE_LONG : (uint8_t)type->bytes;
    met->plain = !is_long && is_plain(type->name, type->bytes);
    memcpy(met->name, type->name, is_long ? 0 : type->bytes);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    met->type = type;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    t->busy = 0;
}

/* Give it what the thread has met there: 0 if that has another name, or if a signal handler has put
 * another one there meanwhile. */
static inline int take_met(const struct pythia__thread *t, unsigned place, const char *name,
                           size_t bytes, struct pythia_context *c)
{
    const struct pythia__met *met = &t->met[place];
    const struct pythia__type *type = __atomic_load_n(&met->type, __ATOMIC_RELAXED);
    if (!type)
        return 0;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    uint8_t bit = met->bit;
    int is_long = met->bytes == PYTHIA__TYPE_LONG;
    if (__builtin_expect(is_long, 0) && (type->bytes != bytes || !is_same(type->name, name, bytes)))
        return 0;
    if (!is_long && (met->bytes != bytes || !is_same(met->name, name, bytes)))
        return 0;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (__atomic_load_n(&met->type, __ATOMIC_RELAXED) != type)
        return 0;
    c->type = type;
    c->request_type = bit;
    c->place = (uint8_t)place;
    return 1;
}

static PYTHIA__COLD const struct pythia__type *meet(struct pythia__thread *t, const char *name,
                                                    size_t bytes)
{
    char clean[PYTHIA_NAME_BYTES];
    const struct pythia__type *type = find_type(name, bytes); /* names that are kept are clean */
    if (type && type != &rest)
        return type;
    bytes = pythia__name_clean(name, bytes, clean, sizeof(clean), NULL);
    type = find_type(clean, bytes);
    int saved = errno;
    if (type || t->busy || !pythia__lock(t))
        return type;
    t->busy = 1;
    if (pythia__begin() == 0) {
        type = find_type(clean, bytes);
        type = type ? type : add_type(clean, bytes);
    }
    t->busy = 0;
    pythia__unlock(t);
    errno = saved;
    return type;
}

void pythia__type_take(struct pythia__thread *t, const char *name, size_t bytes,
                       struct pythia_context *c)
{
    unsigned place = place_of(name, bytes);
    if (__builtin_expect(take_met(t, place, name, bytes, c), 1))
        return;
    const struct pythia__type *type = meet(t, name, bytes);
    if (!type)
        return;
    c->type = type;
    c->request_type = type->bit;
    c->place = (uint8_t)place;
    remember(t, type);
}

int pythia__type_take_plain(struct pythia__thread *t, const char *name, size_t bytes,
                            struct pythia_context *c)
{
    unsigned place = place_of(name, bytes);
    return t->met[place].plain && take_met(t, place, name, bytes, c);
}

const char *pythia__type_name(struct pythia__thread *t, const struct pythia_context *c,
                              size_t *bytes)
{
    const struct pythia__met *met = &t->met[c->place % PYTHIA__TYPES_MET];
    const struct pythia__type *type = c->type;
    if (met->type == type && met->bytes != PYTHIA__TYPE_LONG) {
        *bytes = met->bytes;
        return met->name;
    }
    remember(t, type);
    *bytes = type->bytes;
    return type->name;
}

struct pythia__counts pythia__points_count(void)
{
    return (struct pythia__counts){points.count, points.refused, types.count, types.other};
}
