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

#include "memory/names.h"
#include "process.h"

#define POINTS_MAX   1048576
#define TYPES_MAX    4096
#define NEAR_TYPES   64
#define NEAR_PROBES  4
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

/* The library links to nothing but libc, so it has a hash table of its own. */
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
static uint64_t find_pattern_bits(const char *line, size_t bytes, const struct node *node)
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
            bits |= find_pattern_bits(text, length, node);
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
static int grow_nodes(void)
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

static int define_node(const struct node *node)
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
        if (!define_node(points.nodes[i]))
            points.nodes[i]->switches = &closed; /* bound variables use the space */
}

/* Its switches: those of the environment, or the switchboard's. */
static void find_point_switches(struct node *node)
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

static struct node *add_point_node(const char *name, size_t bytes, int cut, uint64_t hash)
{
    struct node *node =
        grow_nodes() && points.count < POINTS_MAX ? malloc(sizeof(*node) + bytes) : NULL;
    if (!node)
        return NULL;
    *node = (struct node){
        .hash = hash, .number = points.count + 1, .bytes = (uint16_t)bytes, .cut = cut != 0};
    memcpy(node->name, name, bytes);
    find_point_switches(node);
    if (pythia__process.recording > 0 && !define_node(node)) {
        free(node);
        return NULL;
    }
    *slot_of(hash, name, bytes) = node;
    points.nodes[points.count++] = node;
    return node;
}

/* Under the lock. */
static void bind_point(struct pythia_point *point)
{
    char name[PYTHIA_NAME_BYTES];
    int cut;
    size_t bytes = pythia__name_clean(point->name, point->name_bytes, name, sizeof(name), &cut);
    uint64_t hash = pythia__fnv(name, bytes);
    const struct node *node = points.slot_count ? *slot_of(hash, name, bytes) : NULL;
    if (!node)
        node = add_point_node(name, bytes, cut, hash);
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
            bind_point(point);
        bound = 1;
    }
    t->busy = 0;
    pythia__unlock(t);
    errno = saved;
    return bound;
}

/* ---- kinds of requests ---- */

/* The one that all beyond TYPES_MAX share. */
static const char rest_name[8] = "other";
static const struct pythia__type rest = {
    .name = rest_name, .bytes = 5, .bit = PYTHIA_TYPE_OTHER, .known = 1};

/* Those that are met first, where their names say, or right behind: each request asks for its kind,
 * and where it is asked for is all that is needed of it, in one cache line, on all threads. */
static struct pythia__type near_types[NEAR_TYPES];

/* A place for a name among them, by its last bytes, where most differ. */
static inline unsigned near_place(uint64_t last, size_t bytes, char first)
{
    last += bytes << 8 | (unsigned char)first; /* "GET /cart" and "PUT /cart" */
    return (unsigned)(last * UINT64_C(0x9e3779b97f4a7c15) >> 32) % NEAR_TYPES;
}

static uint64_t read_last_bytes(const char *name, size_t bytes)
{
    uint64_t word = 0;
    for (size_t i = bytes; i > 0 && i + 8 > bytes; i--)
        word = word << 8 | (unsigned char)name[i - 1];
    return word;
}

static inline int is_same_name(const char *one, const char *other, size_t bytes)
{
    size_t same = 0;
    while (same < bytes && one[same] == other[same]) /* memcmp would have to be fetched, too */
        same++;
    return same == bytes;
}

const struct pythia__type *pythia__type_met(const char *name, size_t bytes, uint64_t last)
{
    if (bytes == 0)
        return NULL;
    unsigned place = near_place(last, bytes, name[0]);
    for (unsigned i = 0; i < NEAR_PROBES; i++) {
        const struct pythia__type *type = &near_types[(place + i) % NEAR_TYPES];
        if (!__atomic_load_n(&type->known, __ATOMIC_ACQUIRE))
            return NULL;
        if (type->last == last && type->bytes == bytes &&
            (bytes <= 8 || is_same_name(type->name, name, bytes - 8)))
            return type;
    }
    return NULL;
}

/* Types are only added, so that looking needs no lock. */
static const struct pythia__type *find_request_type_name(const char *name, size_t bytes)
{
    uint32_t count = __atomic_load_n(&types.count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count; i++)
        if (types.all[i]->bytes == bytes && memcmp(types.all[i]->name, name, bytes) == 0)
            return types.all[i];
    return count < TYPES_MAX ? NULL : &rest;
}

static int is_plain_name(const char *name, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (!pythia__is_plain(name[i]))
            return 0;
    return 1;
}

/* The slot where it is found first; NULL: the table is full. */
static struct pythia__type *near_type(const char *name, size_t bytes)
{
    unsigned place = near_place(read_last_bytes(name, bytes), bytes, name[0]);
    for (unsigned i = 0; i < NEAR_PROBES; i++) {
        struct pythia__type *type = &near_types[(place + i) % NEAR_TYPES];
        if (!type->known) /* others look at that meanwhile */
            return type;
    }
    return NULL;
}

/* With its name, or NULL: there is no memory. */
static struct pythia__type *give_type(const char *name, size_t bytes)
{
    int is_short = bytes <= sizeof(near_types->room);
    char *room = is_short ? NULL : calloc(1, (bytes + 7) & ~(size_t)7);
    struct pythia__type *type = bytes > 0 ? near_type(name, bytes) : NULL;
    if (!is_short && !room)
        return NULL;
    if (!type) {
        type = aligned_alloc(sizeof(*type), sizeof(*type));
        if (!type) {
            free(room);
            return NULL;
        }
    }
    memset(type->room, 0, sizeof(type->room));
    type->name = memcpy(is_short ? type->room : room, name, bytes);
    type->plain = is_short && is_plain_name(name, bytes);
    return type;
}

/* Under the lock. */
static const struct pythia__type *add_request_type_name(const char *name, size_t bytes)
{
    const struct pythia__process *p = &pythia__process;
    struct pythia__type *type = give_type(name, bytes);
    if (!type)
        return &rest;
    type->last = read_last_bytes(name, bytes);
    type->bytes = (uint8_t)bytes;
    type->bit = (uint8_t)(p->switchboard ? pythia_switchboard_type(p->switchboard, name, bytes)
                                         : PYTHIA_TYPE_OTHER);
    if (type->bit == PYTHIA_TYPE_OTHER && p->switchboard && types.other++ == 0)
        pythia__problem("there are more kinds of requests than switches for them: the rest share "
                        "the last one");
    types.all[types.count] = type;
    __atomic_store_n(&type->known, 1, __ATOMIC_RELEASE);
    __atomic_store_n(&types.count, types.count + 1, __ATOMIC_RELEASE);
    return type;
}

static PYTHIA__COLD const struct pythia__type *
meet_request_type_name(struct pythia__thread *t, const char *name, size_t bytes)
{
    char clean[PYTHIA_NAME_BYTES];
    const struct pythia__type *type =
        find_request_type_name(name, bytes); /* names that are kept are clean */
    if (type && type != &rest)
        return type;
    bytes = pythia__name_clean(name, bytes, clean, sizeof(clean), NULL);
    type = find_request_type_name(clean, bytes);
    int saved = errno;
    if (type || t->busy || !pythia__lock(t))
        return type;
    t->busy = 1;
    if (pythia__begin() == 0) {
        type = find_request_type_name(clean, bytes);
        type = type ? type : add_request_type_name(clean, bytes);
    }
    t->busy = 0;
    pythia__unlock(t);
    errno = saved;
    return type;
}

void pythia__type_take(struct pythia__thread *t, const char *name, size_t bytes,
                       struct pythia_context *c)
{
    const struct pythia__type *type = pythia__type_met(name, bytes, read_last_bytes(name, bytes));
    if (__builtin_expect(!type, 0))
        type = meet_request_type_name(t, name, bytes);
    if (type)
        pythia__type_give(type, c);
}

struct pythia__counts pythia__points_count(void)
{
    return (struct pythia__counts){points.count, points.refused, types.count, types.other};
}
