#define _DEFAULT_SOURCE
#include "pythia/site_plan_make.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pythia/elf_code.h"
#include "pythia/elf_functions.h"
#include "pythia/mem.h"
#include "pythia/relocate.h"
#include "pythia/status.h"
#include "pythia/usdt_notes.h"

/* Bytes that are read at a site: the longest that can be moved begins at the fifth byte. */
#define CODE_BYTES 24
_Static_assert(CODE_BYTES <= PYTHIA__SITE_ORIGINAL_MAX, "they are compared in the program");
_Static_assert(PYTHIA_USDT_OPERANDS_MAX == PYTHIA__SITE_OPERANDS, "they are copied one by one");
_Static_assert(PYTHIA_PROBE_KEYS_MAX <= PYTHIA__SITE_KEYS, "they are copied one by one");

struct pythia_site_plan {
    const struct pythia_probe_rules *rules;
    bool open;
    struct pythia__site_point *points; /* owned, as all below */
    size_t point_count, point_capacity;
    struct pythia__site_object *objects;
    size_t object_count, object_capacity;
    struct pythia__site *sites;
    size_t site_count, site_capacity;
    bool *with_site; /* for each point */
    size_t with_site_capacity;
    uint64_t functions, refused;
};

/* ---- points ---- */

static void copy_name(char *to, size_t size, const char *from)
{
    snprintf(to, size, "%s", from);
}

/* Add a point; NULL: there is no memory, or there are too many. */
static struct pythia__site_point *add_point(struct pythia_site_plan *p)
{
    if (p->point_count == PYTHIA__SITE_POINTS_MAX ||
        pythia_grow(&p->points, &p->point_capacity, p->point_count, sizeof(*p->points)) !=
            PYTHIA_OK ||
        pythia_reach(&p->with_site, &p->with_site_capacity, p->point_count,
                     sizeof(*p->with_site)) != PYTHIA_OK)
        return NULL;
    struct pythia__site_point *point = &p->points[p->point_count++];
    *point = (struct pythia__site_point){.type = -1};
    return point;
}

/* Points of the rules keep their numbers; those of functions stay without a site. */
static int add_rules(struct pythia_site_plan *p)
{
    for (size_t i = 0; i < p->rules->point_count; i++) {
        const struct pythia_probe_point *from = &p->rules->points[i];
        struct pythia__site_point *to = add_point(p);
        if (!to)
            return PYTHIA_ENOMEM;
        p->functions += strcmp(from->provider, PYTHIA_FUNCTION_PROVIDER) == 0;
        copy_name(to->name, sizeof(to->name), from->name);
        to->flags = (from->request ? PYTHIA__SITE_REQUEST : 0u) |
                    (p->open || from->request ? PYTHIA__SITE_OPEN : 0u);
        to->type = from->type;
        to->key_count = (uint32_t)from->key_count;
        for (size_t k = 0; k < from->key_count; k++) {
            const struct pythia_probe_key *key = &from->keys[k];
            to->keys[k] = (struct pythia__site_key){.argument = key->argument,
                                                    .done = key->done,
                                                    .text = key->text,
                                                    .is_int = key->is_int};
            copy_name(to->keys[k].name, sizeof(to->keys[k].name), key->name);
            to->keys[k].name_bytes = (uint32_t)strlen(to->keys[k].name);
            copy_name(to->keys[k].only, sizeof(to->keys[k].only), key->only ? key->only : "");
        }
    }
    return PYTHIA_OK;
}

int pythia_site_plan_create(const struct pythia_probe_rules *rules, bool open,
                            struct pythia_site_plan **out)
{
    struct pythia_site_plan *p = pythia_calloc(1, sizeof(*p));
    if (!p)
        return PYTHIA_ENOMEM;
    p->rules = rules;
    p->open = open;
    if (rules && add_rules(p) != PYTHIA_OK) {
        pythia_site_plan_destroy(p);
        return PYTHIA_ENOMEM;
    }
    *out = p;
    return PYTHIA_OK;
}

void pythia_site_plan_destroy(struct pythia_site_plan *p)
{
    if (!p)
        return;
    pythia_free(p->points);
    pythia_free(p->objects);
    pythia_free(p->sites);
    pythia_free(p->with_site);
    pythia_free(p);
}

/* ---- which point a probe is of ---- */

struct role {
    size_t point;
    bool done;
};

static bool find_in_rules(const struct pythia_site_plan *p, const struct pythia_usdt_site *s,
                          struct role *out)
{
    for (size_t i = 0; i < p->rules->point_count; i++)
        for (int k = 0; k < 2; k++)
            if (!p->rules->points[i].is_wait &&
                strcmp(p->rules->points[i].provider, s->provider) == 0 &&
                strcmp(p->rules->points[i].probes[k], s->name) == 0) {
                *out = (struct role){i, k == 1};
                return true;
            }
    return false;
}

static const char *const pairs[][2] = {{"start", "done"}, {"entry", "return"}, {"begin", "end"},
                                       {"start", "end"},  {"enter", "exit"},   {"begin", "done"}};

/* The bytes of a name before an ending and the underscores before that; 0: it has another end. */
static size_t find_stem(const char *name, const char *ending)
{
    size_t size = strlen(name), bytes = strlen(ending);
    if (size <= bytes + 1 || strcmp(name + size - bytes, ending) != 0 ||
        name[size - bytes - 1] != '_')
        return 0;
    size -= bytes;
    while (size > 0 && name[size - 1] == '_')
        size--;
    return size;
}

/* The other probe of a pair, if there is one. */
static bool has_partner(const struct pythia_usdt_notes *notes, const struct pythia_usdt_site *s,
                        size_t cut, const char *ending)
{
    char name[PYTHIA_USDT_NAME_MAX + 16];
    size_t count;
    snprintf(name, sizeof(name), "%.*s%s", (int)(strlen(s->name) - cut), s->name, ending);
    return pythia_usdt_notes_find(notes, pythia_text_of(s->provider), pythia_text_of(name),
                                  &count) != NULL;
}

/* Find what a probe is by its name: *stem bytes of it name the point. 0: an event, 1: it begins a
 * pair, 2: it ends one. */
static int find_by_name(const struct pythia_usdt_notes *notes, const struct pythia_usdt_site *s,
                        size_t *stem)
{
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        for (int k = 0; k < 2; k++) {
            *stem = find_stem(s->name, pairs[i][k]);
            if (*stem && has_partner(notes, s, strlen(pairs[i][k]), pairs[i][1 - k]))
                return k + 1;
        }
    *stem = strlen(s->name);
    return 0;
}

static bool has_key(const struct pythia__site_point *point, uint8_t argument, bool done)
{
    for (uint32_t i = 0; i < point->key_count; i++)
        if (point->keys[i].argument == argument && (point->keys[i].done != 0) == done)
            return true;
    return false;
}

static void add_arguments(struct pythia__site_point *point, const struct pythia_usdt_site *s,
                          bool done)
{
    for (uint8_t i = 0; i < s->operand_count && point->key_count < PYTHIA__SITE_KEYS; i++) {
        if (has_key(point, i, done))
            continue;
        struct pythia__site_key *key = &point->keys[point->key_count++];
        *key = (struct pythia__site_key){.argument = i, .done = done};
        snprintf(key->name, sizeof(key->name), "%sarg%d", done ? "done_" : "", i + 1);
        key->name_bytes = (uint32_t)strlen(key->name);
    }
}

static int find_own_point(struct pythia_site_plan *p, const struct pythia_usdt_notes *notes,
                          const struct pythia_usdt_site *s, struct role *out)
{
    char name[PYTHIA__SITE_NAME];
    size_t stem, i = 0;
    int kind = find_by_name(notes, s, &stem);
    snprintf(name, sizeof(name), "%s:%.*s", s->provider, (int)stem, s->name);
    uint32_t event = kind == 0 ? PYTHIA__SITE_EVENT : 0u;
    while (i < p->point_count && ((p->points[i].flags & PYTHIA__SITE_EVENT) != event ||
                                  strcmp(p->points[i].name, name) != 0))
        i++;
    if (i == p->point_count && !add_point(p))
        return PYTHIA_ENOMEM;
    struct pythia__site_point *point = &p->points[i];
    copy_name(point->name, sizeof(point->name), name);
    point->flags = event | (p->open ? PYTHIA__SITE_OPEN : 0u);
    add_arguments(point, s, kind == 2);
    *out = (struct role){i, kind == 2};
    return PYTHIA_OK;
}

/* ---- sites ---- */

/* Another site begins within the bytes that a jump at this one would overwrite. */
static bool overlaps_next(const struct pythia__site *s, const struct pythia__site *next)
{
    return next->address < s->address + PYTHIA__SITE_JUMP;
}

static int compare_addresses(const void *a, const void *b)
{
    const struct pythia__site *x = a, *y = b;
    return (x->address > y->address) - (x->address < y->address);
}

struct inner {
    uint64_t *addresses; /* of instructions that jumps would overwrite, in ascending order */
    uint8_t *targeted;
    size_t count;
};

static void note_targets(void *context, const uint8_t *code, size_t size, uint64_t address)
{
    struct inner *i = context;
    pythia_relocate_targets(code, size, address, i->addresses, i->count, i->targeted);
}

/* An instruction that a jump has overwritten works on, by int3. Where branches lead to one, int3 is
 * better at the probe itself: the branch around the probe is likelier than the probe. That is not
 * so where a semaphore says that the probe is open: then nobody branches around it. */
static int refuse_targeted(struct pythia__site *sites, size_t count, int file,
                           struct pythia_error *e)
{
    struct inner inner = {.addresses =
                              pythia_calloc(count + 1, PYTHIA__SITE_JUMP * sizeof(uint64_t)),
                          .targeted = pythia_calloc(count + 1, PYTHIA__SITE_JUMP)};
    int status = PYTHIA_OK;
    if (!inner.addresses || !inner.targeted) {
        status = pythia_error_set(e, PYTHIA_ENOMEM, "out of memory");
        goto out;
    }
    for (size_t i = 0; i < count; i++)
        for (uint64_t k = 1; k < PYTHIA__SITE_JUMP && !sites[i].semaphore; k++)
            if (sites[i].code.begins[k])
                inner.addresses[inner.count++] = sites[i].address + k;
    if (inner.count > 0)
        status = pythia_elf_code(file, note_targets, &inner, e);
    for (size_t i = 0, at = 0; i < count && status == PYTHIA_OK; i++) {
        bool targeted = false;
        for (; at < inner.count && inner.addresses[at] < sites[i].address + PYTHIA__SITE_JUMP; at++)
            targeted |= inner.targeted[at] != 0;
        if (targeted)
            sites[i].code = (struct pythia__site_code){0};
    }
out:
    pythia_free(inner.addresses);
    pythia_free(inner.targeted);
    return status;
}

static void copy_operands(struct pythia__site *to, const struct pythia_usdt_site *from)
{
    to->operand_count = (uint8_t)from->operand_count;
    for (size_t i = 0; i < from->operand_count; i++) {
        const struct pythia_usdt_operand *o = &from->operands[i];
        to->operands[i] = (struct pythia__site_operand){.kind = o->kind,
                                                        .bytes = o->bytes,
                                                        .is_signed = o->is_signed,
                                                        .high = o->high,
                                                        .base = o->base,
                                                        .index = o->index,
                                                        .scale = o->scale,
                                                        .value = o->value};
    }
}

/* Add a site if it is of a point, and can be patched. */
static int add_site(struct pythia_site_plan *p, int file, const struct pythia_usdt_notes *notes,
                    const struct pythia_usdt_site *from)
{
    struct role role;
    uint8_t code[CODE_BYTES];
    if (p->rules && !find_in_rules(p, from, &role))
        return PYTHIA_OK;
    if (!p->rules && find_own_point(p, notes, from, &role) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    ssize_t size = pread(file, code, sizeof(code), (off_t)from->offset);
    size_t nop = size > 0 ? pythia_relocate_nop(code, (size_t)size) : 0;
    if (nop == 0 || p->site_count == PYTHIA__SITES_MAX) {
        p->refused++;
        return PYTHIA_OK;
    }
    if (pythia_grow(&p->sites, &p->site_capacity, p->site_count, sizeof(*p->sites)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    struct pythia__site *to = &p->sites[p->site_count++];
    *to = (struct pythia__site){.address = from->address,
                                .semaphore = from->semaphore_address,
                                .object = (uint32_t)p->object_count,
                                .point = (uint32_t)role.point,
                                .done = role.done,
                                .nop = (uint8_t)nop};
    memcpy(to->original, code, (size_t)size);
    copy_operands(to, from);
    pythia_relocate(code, (size_t)size, from->address, &to->code);
    p->with_site[role.point] = true;
    return PYTHIA_OK;
}

/* Two notes at one address are one site: the first counts. */
static void drop_doubles(struct pythia_site_plan *p, size_t first)
{
    size_t kept = first;
    for (size_t i = first; i < p->site_count; i++) {
        if (kept > first && p->sites[kept - 1].address == p->sites[i].address) {
            p->refused++;
            continue;
        }
        p->sites[kept++] = p->sites[i];
    }
    p->site_count = kept;
}

static int add_sites(struct pythia_site_plan *p, int file, const struct pythia_usdt_notes *notes,
                     struct pythia_error *e)
{
    size_t first = p->site_count;
    int status = PYTHIA_OK;
    for (size_t i = 0; i < notes->count && status == PYTHIA_OK; i++)
        status = add_site(p, file, notes, &notes->sites[i]);
    if (status != PYTHIA_OK)
        return pythia_error_set(e, status, "out of memory");
    if (p->site_count == first)
        return PYTHIA_OK;
    qsort(&p->sites[first], p->site_count - first, sizeof(*p->sites), compare_addresses);
    drop_doubles(p, first);
    for (size_t i = first; i + 1 < p->site_count; i++)
        if (overlaps_next(&p->sites[i], &p->sites[i + 1]))
            p->sites[i].code = (struct pythia__site_code){0};
    return refuse_targeted(&p->sites[first], p->site_count - first, file, e);
}

int pythia_site_plan_add(struct pythia_site_plan *p, const char *path, struct pythia_error *e)
{
    struct pythia_usdt_notes notes = {0};
    struct stat about;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0 || fstat(file, &about) != 0) {
        int status = pythia_error_set(e, PYTHIA_EIO, "cannot be read: %s", strerror(errno));
        if (file >= 0)
            close(file);
        return status;
    }
    int status = pythia_usdt_notes_read(file, &notes, e);
    if (status != PYTHIA_OK)
        goto out;
    p->refused += notes.refused;
    if (notes.count > 0 && p->object_count == PYTHIA__SITE_OBJECTS_MAX)
        status = pythia_error_set(e, PYTHIA_ELIMIT, "more than %d files have probes",
                                  PYTHIA__SITE_OBJECTS_MAX);
    if (notes.count == 0 || status != PYTHIA_OK)
        goto out;
    if (pythia_grow(&p->objects, &p->object_capacity, p->object_count, sizeof(*p->objects)) !=
        PYTHIA_OK) {
        status = pythia_error_set(e, PYTHIA_ENOMEM, "out of memory");
        goto out;
    }
    status = add_sites(p, file, &notes, e);
    p->objects[p->object_count++] =
        (struct pythia__site_object){.device = about.st_dev, .inode = about.st_ino};
out:
    pythia_usdt_notes_free(&notes);
    close(file);
    return status;
}

struct pythia_site_plan_numbers pythia_site_plan_numbers(const struct pythia_site_plan *p)
{
    struct pythia_site_plan_numbers n = {
        .functions = p->functions, .sites = p->site_count, .refused = p->refused};
    for (size_t i = 0; i < p->point_count; i++)
        n.points += p->with_site[i];
    for (size_t i = 0; i < p->site_count; i++)
        n.jumps += p->sites[i].code.original > 0;
    return n;
}

int pythia_site_plan_write(const struct pythia_site_plan *p, uint64_t filters,
                           struct pythia_buf *to)
{
    const struct pythia__sites_head head = {.magic = PYTHIA__SITES_MAGIC,
                                            .points = (uint32_t)p->point_count,
                                            .objects = (uint32_t)p->object_count,
                                            .sites = (uint32_t)p->site_count,
                                            .anywhere = !p->rules,
                                            .filters = filters};
    pythia_buf_add(to, &head, sizeof(head));
    pythia_buf_add(to, p->points, p->point_count * sizeof(*p->points));
    pythia_buf_add(to, p->objects, p->object_count * sizeof(*p->objects));
    pythia_buf_add(to, p->sites, p->site_count * sizeof(*p->sites));
    return pythia_buf_status(to);
}
