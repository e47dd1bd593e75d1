#include "pythia/wishes.h"

#include <stdlib.h>
#include <string.h>

#include "pythia/mem.h"
#include "pythia/status.h"

static int compare_type_texts(const void *a, const void *b)
{
    return pythia_text_compare(*(const struct pythia_text *)a, *(const struct pythia_text *)b);
}

static int compare_wishes(const void *a, const void *b)
{
    return pythia_text_compare(((const struct pythia_control_wish *)a)->id,
                               ((const struct pythia_control_wish *)b)->id);
}

/* Everything in one piece of memory: the types of all wishes, then the bytes of all texts. */
static size_t count_wish_bytes(const struct pythia_control_wish *wishes, size_t count,
                               size_t *types)
{
    size_t bytes = 0;
    *types = 0;
    for (size_t i = 0; i < count; i++) {
        bytes += wishes[i].id.size;
        size_t n = wishes[i].types ? wishes[i].type_count : 0;
        *types += n;
        for (size_t t = 0; t < n; t++)
            bytes += wishes[i].types[t].size;
    }
    return bytes;
}

static struct pythia_text copy_wish_text(char **at, struct pythia_text text)
{
    struct pythia_text copy = {*at, text.size};
    if (text.size)
        memcpy(*at, text.bytes, text.size);
    *at += text.size;
    return copy;
}

/* The types of two wishes for one point that lie one after the other become those of one. */
static void merge_types(struct pythia_control_wish *to, const struct pythia_control_wish *more,
                        struct pythia_text *room)
{
    if (!to->types || !more->types) {
        to->types = NULL;
        to->type_count = 0;
        return;
    }
    memmove(room, to->types, to->type_count * sizeof(*room));
    memmove(room + to->type_count, more->types, more->type_count * sizeof(*room));
    to->types = room;
    to->type_count += more->type_count;
}

/* Sort types, and leave each one once. */
static size_t settle_types(struct pythia_text *types, size_t count)
{
    size_t kept = 0;
    qsort(types, count, sizeof(*types), compare_type_texts);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || !pythia_text_equal(types[kept - 1], types[i]))
            types[kept++] = types[i];
    return kept;
}

int pythia_wishes_copy(const struct pythia_control_wish *wishes, size_t count,
                       struct pythia_wishes *out)
{
    size_t types, bytes = count_wish_bytes(wishes, count, &types);
    struct pythia_control_wish *copies = pythia_calloc(count + 1, sizeof(*copies));
    /* Types twice: as they come, and where those of wishes for one point are put together. */
    struct pythia_text *memory = pythia_calloc(1, 2 * types * sizeof(*memory) + bytes + 1);
    if (!copies || !memory) {
        pythia_free(copies);
        pythia_free(memory);
        return PYTHIA_ENOMEM;
    }
    struct pythia_text *type = memory, *room = memory + types;
    char *at = (char *)(memory + 2 * types);
    for (size_t i = 0; i < count; i++) {
        copies[i].id = copy_wish_text(&at, wishes[i].id);
        if (!wishes[i].types)
            continue;
        copies[i].types = type;
        copies[i].type_count = wishes[i].type_count;
        for (size_t t = 0; t < wishes[i].type_count; t++)
            *type++ = copy_wish_text(&at, wishes[i].types[t]);
    }
    qsort(copies, count, sizeof(*copies), compare_wishes);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        struct pythia_control_wish all = copies[i];
        if (all.types)
            merge_types(&all, &(struct pythia_control_wish){.types = all.types}, room);
        while (i + 1 < count && pythia_text_equal(copies[i + 1].id, all.id))
            merge_types(&all, &copies[++i], room);
        if (all.types) {
            all.type_count = settle_types(room, all.type_count);
            room += all.type_count;
        }
        copies[kept++] = all;
    }
    *out = (struct pythia_wishes){.wishes = copies, .count = kept, .memory = memory};
    return PYTHIA_OK;
}

void pythia_wishes_free(struct pythia_wishes *w)
{
    pythia_free(w->wishes);
    pythia_free(w->memory);
    *w = (struct pythia_wishes){0};
}

size_t pythia_wishes_find(const struct pythia_wishes *w, struct pythia_text id)
{
    struct pythia_control_wish key = {.id = id};
    const struct pythia_control_wish *found =
        w->count ? bsearch(&key, w->wishes, w->count, sizeof(key), compare_wishes) : NULL;
    return found ? (size_t)(found - w->wishes) : PYTHIA_NO_WISH;
}

bool pythia_wishes_equal(const struct pythia_wishes *a, const struct pythia_wishes *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++) {
        const struct pythia_control_wish *x = &a->wishes[i], *y = &b->wishes[i];
        if (!pythia_text_equal(x->id, y->id) || !x->types != !y->types ||
            x->type_count != y->type_count)
            return false;
        for (size_t t = 0; x->types && t < x->type_count; t++)
            if (!pythia_text_equal(x->types[t], y->types[t]))
                return false;
    }
    return true;
}
