#include "pythia/wishes.h"

#include <stdlib.h>
#include <string.h>

#include "pythia/mem.h"
#include "pythia/status.h"

static int compare_texts(const void *a, const void *b)
{
    return pythia_text_compare(*(const struct pythia_text *)a, *(const struct pythia_text *)b);
}

static int compare_wish_ids(const void *a, const void *b)
{
    return pythia_text_compare(((const struct pythia_control_wish *)a)->id,
                               ((const struct pythia_control_wish *)b)->id);
}

bool pythia_wishes_is_placed(const struct pythia_control_wish *wish)
{
    return wish->at || wish->except_count > 0;
}

/* No list (NULL) comes first. */
static int compare_place_lists(const struct pythia_text *x, size_t x_count,
                               const struct pythia_text *y, size_t y_count)
{
    int order = (x != NULL) - (y != NULL);
    for (size_t i = 0; order == 0 && x && i < x_count && i < y_count; i++)
        order = pythia_text_compare(x[i], y[i]);
    return order || !x ? order : (x_count > y_count) - (x_count < y_count);
}

/* 0: both wishes are about the same instances. A wish for all comes first. */
static int compare_places(const struct pythia_control_wish *x, const struct pythia_control_wish *y)
{
    int order = pythia_wishes_is_placed(x) - pythia_wishes_is_placed(y);
    if (order == 0)
        order = compare_place_lists(x->at, x->at_count, y->at, y->at_count);
    return order ? order
                 : compare_place_lists(x->except, x->except_count, y->except, y->except_count);
}

static int compare_wishes(const void *a, const void *b)
{
    int order = compare_wish_ids(a, b);
    return order ? order : compare_places(a, b);
}

static size_t count_text_bytes(const struct pythia_text *texts, size_t count)
{
    size_t bytes = 0;
    for (size_t i = 0; texts && i < count; i++)
        bytes += texts[i].size;
    return bytes;
}

/* Everything in one piece of memory: the types and places of all wishes, then the bytes of all
 * texts. */
static size_t count_wish_bytes(const struct pythia_control_wish *wishes, size_t count,
                               size_t *types, size_t *places)
{
    size_t bytes = 0;
    *types = *places = 0;
    for (size_t i = 0; i < count; i++) {
        *types += wishes[i].types ? wishes[i].type_count : 0;
        *places += (wishes[i].at ? wishes[i].at_count : 0) + wishes[i].except_count;
        bytes += wishes[i].id.size + count_text_bytes(wishes[i].types, wishes[i].type_count) +
                 count_text_bytes(wishes[i].at, wishes[i].at_count) +
                 count_text_bytes(wishes[i].except, wishes[i].except_count);
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

/* Sort types or places, and leave each one once. */
static size_t settle_texts(struct pythia_text *texts, size_t count)
{
    size_t kept = 0;
    if (count > 1)
        qsort(texts, count, sizeof(*texts), compare_texts);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || !pythia_text_equal(texts[kept - 1], texts[i]))
            texts[kept++] = texts[i];
    return kept;
}

/* Copy places to `list`, in order and each once; returns how many. */
static size_t copy_places(const struct pythia_text *places, size_t count, struct pythia_text *list,
                          char **at)
{
    for (size_t i = 0; i < count; i++)
        list[i] = copy_wish_text(at, places[i]);
    return settle_texts(list, count);
}

/* The copy of one wish: its texts at *at, its types and places in order in *list. */
static struct pythia_control_wish copy_wish(const struct pythia_control_wish *from,
                                            struct pythia_text **list, char **at)
{
    struct pythia_control_wish to = {.id = copy_wish_text(at, from->id)};
    struct pythia_text *next = *list;
    if (from->at) {
        to.at = next;
        to.at_count = copy_places(from->at, from->at_count, next, at);
        next += from->at_count;
    }
    if (from->except_count > 0) {
        to.except = next;
        to.except_count = copy_places(from->except, from->except_count, next, at);
        next += from->except_count;
    }
    if (from->types) {
        to.types = next;
        to.type_count = from->type_count;
        for (size_t i = 0; i < from->type_count; i++)
            *next++ = copy_wish_text(at, from->types[i]);
    }
    *list = next;
    return to;
}

int pythia_wishes_copy(const struct pythia_control_wish *wishes, size_t count,
                       struct pythia_wishes *out)
{
    size_t types, places, bytes = count_wish_bytes(wishes, count, &types, &places);
    struct pythia_control_wish *copies = pythia_calloc(count + 1, sizeof(*copies));
    /* Types twice: as they come, and where those of wishes for one point are put together. */
    struct pythia_text *memory =
        pythia_calloc(1, (2 * types + places) * sizeof(*memory) + bytes + 1);
    if (!copies || !memory) {
        pythia_free(copies);
        pythia_free(memory);
        return PYTHIA_ENOMEM;
    }
    struct pythia_text *list = memory, *room = memory + types + places;
    char *at = (char *)(room + types);
    for (size_t i = 0; i < count; i++)
        copies[i] = copy_wish(&wishes[i], &list, &at);
    qsort(copies, count, sizeof(*copies), compare_wishes);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        struct pythia_control_wish all = copies[i];
        if (all.types)
            merge_types(&all, &(struct pythia_control_wish){.types = all.types}, room);
        while (i + 1 < count && compare_wishes(&copies[i + 1], &all) == 0)
            merge_types(&all, &copies[++i], room);
        if (all.types) {
            all.type_count = settle_texts(room, all.type_count);
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
        w->count ? bsearch(&key, w->wishes, w->count, sizeof(key), compare_wish_ids) : NULL;
    if (!found)
        return PYTHIA_NO_WISH;
    while (found > w->wishes && pythia_text_equal(found[-1].id, id))
        found--;
    return (size_t)(found - w->wishes);
}

size_t pythia_wishes_end(const struct pythia_wishes *w, size_t first)
{
    size_t end = first;
    while (end < w->count && pythia_text_equal(w->wishes[end].id, w->wishes[first].id))
        end++;
    return end;
}

int pythia_wishes_types(const struct pythia_wishes *w, struct pythia_text **out, size_t *count)
{
    size_t most = 0, used = 0;
    for (size_t i = 0; i < w->count; i++)
        most += w->wishes[i].type_count;
    struct pythia_text *types = pythia_calloc(most + 1, sizeof(*types));
    if (!types)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < w->count; i++)
        for (size_t t = 0; t < w->wishes[i].type_count; t++)
            types[used++] = w->wishes[i].types[t];
    *count = settle_texts(types, used);
    *out = types;
    return PYTHIA_OK;
}

bool pythia_wishes_equal(const struct pythia_wishes *a, const struct pythia_wishes *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++) {
        const struct pythia_control_wish *x = &a->wishes[i], *y = &b->wishes[i];
        if (compare_wishes(x, y) != 0 || !x->types != !y->types || x->type_count != y->type_count)
            return false;
        for (size_t t = 0; x->types && t < x->type_count; t++)
            if (!pythia_text_equal(x->types[t], y->types[t]))
                return false;
    }
    return true;
}
