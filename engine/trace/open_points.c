#include "pythia/open_points.h"

#include <fnmatch.h>
#include <string.h>

#include "pythia/mem.h"
#include "pythia/status.h"
#include "pythia/strtab.h"

enum { NOT_ASKED, OPEN, CLOSED, LIMITED };

/* A point that is open for some types only. */
struct limit {
    char *id;                  /* owned */
    struct pythia_text *types; /* owned, and their texts */
    size_t count, capacity;
};

struct pythia_open_points {
    const struct pythia_vocabulary *vocabulary;
    struct pythia_open_points *base; /* NULL, or what is open but for those that are listed */
    struct pythia_strtab *ids;
    char **patterns; /* owned */
    size_t pattern_count, pattern_capacity, count;
    struct limit *limits; /* owned */
    size_t limit_count, limit_capacity;
    uint8_t *answers; /* by trace point */
    size_t answer_capacity;
};

int pythia_open_points_create(const struct pythia_vocabulary *vocabulary,
                              struct pythia_open_points **out)
{
    struct pythia_open_points *o = pythia_calloc(1, sizeof(*o));
    if (!o || pythia_strtab_create(&o->ids) != PYTHIA_OK) {
        pythia_free(o);
        return PYTHIA_ENOMEM;
    }
    o->vocabulary = vocabulary;
    *out = o;
    return PYTHIA_OK;
}

int pythia_open_points_create_without(struct pythia_open_points *base,
                                      struct pythia_open_points **out)
{
    int status = pythia_open_points_create(base->vocabulary, out);
    if (status == PYTHIA_OK)
        (*out)->base = base;
    return status;
}

static void free_limit(struct limit *l)
{
    for (size_t i = 0; i < l->count; i++)
        pythia_free((char *)l->types[i].bytes);
    pythia_free(l->types);
    pythia_free(l->id);
}

void pythia_open_points_destroy(struct pythia_open_points *o)
{
    if (!o)
        return;
    for (size_t i = 0; i < o->pattern_count; i++)
        pythia_free(o->patterns[i]);
    for (size_t i = 0; i < o->limit_count; i++)
        free_limit(&o->limits[i]);
    pythia_free(o->patterns);
    pythia_free(o->limits);
    pythia_free(o->answers);
    pythia_strtab_destroy(o->ids);
    pythia_free(o);
}

bool pythia_open_points_is_pattern(struct pythia_text id)
{
    return memchr(id.bytes, '*', id.size) || memchr(id.bytes, '?', id.size) ||
           memchr(id.bytes, '[', id.size);
}

bool pythia_open_points_fits(const char *pattern, struct pythia_text id)
{
    return fnmatch(pattern, id.bytes, 0) == 0; /* an id ends with a NUL */
}

int pythia_open_points_add_id(struct pythia_open_points *o, struct pythia_text id)
{
    if (pythia_strtab_intern(o->ids, id) == PYTHIA_STRTAB_NONE)
        return PYTHIA_ENOMEM;
    o->count++;
    if (o->answers)
        memset(o->answers, NOT_ASKED, o->answer_capacity);
    return PYTHIA_OK;
}

static int reserve_answers(struct pythia_open_points *o, size_t needed)
{
    size_t capacity = needed * 2;
    uint8_t *answers =
        needed <= o->answer_capacity ? o->answers : pythia_realloc(o->answers, capacity, 1);
    if (!answers)
        return PYTHIA_ENOMEM;
    if (needed > o->answer_capacity) {
        memset(answers + o->answer_capacity, NOT_ASKED, capacity - o->answer_capacity);
        o->answer_capacity = capacity;
    }
    o->answers = answers;
    return PYTHIA_OK;
}

int pythia_open_points_add_flagged(struct pythia_open_points *o, const bool *flags, uint32_t count)
{
    bool only = o->count == 0 && !o->base; /* so that what has no flag is closed */
    int status = PYTHIA_OK;
    for (uint32_t i = 0; i < count && status == PYTHIA_OK; i++)
        if (flags[i])
            status =
                pythia_open_points_add_id(o, pythia_vocabulary_tracepoint_id(o->vocabulary, i));
    if (status != PYTHIA_OK || !only || reserve_answers(o, count) != PYTHIA_OK)
        return status; /* answers are found when they are asked for */
    for (uint32_t i = 0; i < count; i++)
        o->answers[i] = flags[i] ? OPEN : CLOSED;
    return PYTHIA_OK;
}

int pythia_open_points_add(struct pythia_open_points *o, struct pythia_text id)
{
    int status = pythia_open_points_add_id(o, id); /* a pattern too: a name may look like one */
    if (status != PYTHIA_OK || !pythia_open_points_is_pattern(id))
        return status;
    char *copy = pythia_strndup(id.bytes, id.size);
    if (!copy || pythia_grow(&o->patterns, &o->pattern_capacity, o->pattern_count,
                             sizeof(char *)) != PYTHIA_OK) {
        pythia_free(copy);
        return PYTHIA_ENOMEM;
    }
    o->patterns[o->pattern_count++] = copy;
    return PYTHIA_OK;
}

int pythia_open_points_read(struct pythia_open_points *o, struct pythia_text text)
{
    int status = PYTHIA_OK;
    while (text.size > 0 && status == PYTHIA_OK) {
        const char *newline = memchr(text.bytes, '\n', text.size);
        size_t size = newline ? (size_t)(newline - text.bytes) : text.size;
        struct pythia_text line = {text.bytes, size};
        while (line.size > 0 && strchr(" \t\r", line.bytes[line.size - 1]))
            line.size--;
        if (line.size > 0 && line.bytes[0] != '#')
            status = pythia_open_points_add(o, line);
        size += newline != NULL;
        text = (struct pythia_text){text.bytes + size, text.size - size};
    }
    return status;
}

static struct limit *find_limit(const struct pythia_open_points *o, struct pythia_text id)
{
    for (size_t i = 0; i < o->limit_count; i++)
        if (pythia_text_equal(pythia_text_of(o->limits[i].id), id))
            return &o->limits[i];
    return NULL;
}

/* NULL: out of memory. */
static struct limit *make_limit(struct pythia_open_points *o, struct pythia_text id)
{
    char *copy = pythia_strndup(id.bytes, id.size);
    if (!copy || pythia_grow(&o->limits, &o->limit_capacity, o->limit_count, sizeof(*o->limits)) !=
                     PYTHIA_OK) {
        pythia_free(copy);
        return NULL;
    }
    o->limits[o->limit_count] = (struct limit){.id = copy};
    return &o->limits[o->limit_count++];
}

int pythia_open_points_add_id_for(struct pythia_open_points *o, struct pythia_text id,
                                  struct pythia_text type)
{
    struct limit *l = find_limit(o, id);
    l = l ? l : make_limit(o, id);
    char *copy = l ? pythia_strndup(type.bytes, type.size) : NULL;
    if (!copy || pythia_grow(&l->types, &l->capacity, l->count, sizeof(*l->types)) != PYTHIA_OK) {
        pythia_free(copy);
        return PYTHIA_ENOMEM;
    }
    l->types[l->count++] = (struct pythia_text){copy, type.size};
    o->count++;
    if (o->answers)
        memset(o->answers, NOT_ASKED, o->answer_capacity);
    return PYTHIA_OK;
}

static bool is_listed(const struct pythia_open_points *o, uint32_t tracepoint)
{
    struct pythia_text id = pythia_vocabulary_tracepoint_id(o->vocabulary, tracepoint);
    if (pythia_strtab_find(o->ids, id) != PYTHIA_STRTAB_NONE)
        return true;
    for (size_t i = 0; i < o->pattern_count; i++)
        if (pythia_open_points_fits(o->patterns[i], id))
            return true;
    return false;
}

static uint8_t find_answer(const struct pythia_open_points *o, uint32_t tracepoint)
{
    bool listed = is_listed(o, tracepoint);
    if (o->base)
        return !listed && pythia_open_points_has(o->base, tracepoint) ? OPEN : CLOSED;
    if (listed)
        return OPEN;
    const struct limit *l =
        find_limit(o, pythia_vocabulary_tracepoint_id(o->vocabulary, tracepoint));
    return l && l->count > 0 ? LIMITED : CLOSED; /* for its first type there was no memory */
}

static uint8_t ask(struct pythia_open_points *o, uint32_t tracepoint)
{
    if (reserve_answers(o, (size_t)tracepoint + 1) != PYTHIA_OK)
        return find_answer(o, tracepoint); /* slower, and right */
    if (o->answers[tracepoint] == NOT_ASKED)
        o->answers[tracepoint] = find_answer(o, tracepoint);
    return o->answers[tracepoint];
}

bool pythia_open_points_has(struct pythia_open_points *o, uint32_t tracepoint)
{
    return ask(o, tracepoint) != CLOSED;
}

const struct pythia_text *pythia_open_points_types(struct pythia_open_points *o,
                                                   uint32_t tracepoint, size_t *count)
{
    *count = 0;
    if (o->limit_count == 0 || ask(o, tracepoint) != LIMITED)
        return NULL;
    const struct limit *l =
        find_limit(o, pythia_vocabulary_tracepoint_id(o->vocabulary, tracepoint));
    *count = l->count;
    return l->types;
}

bool pythia_open_points_excludes(struct pythia_open_points *o, uint32_t tracepoint, uint32_t type)
{
    size_t count;
    const struct pythia_text *types = pythia_open_points_types(o, tracepoint, &count);
    if (!types)
        return false;
    struct pythia_text name = pythia_vocabulary_text(o->vocabulary, type);
    for (size_t i = 0; i < count; i++)
        if (pythia_text_equal(types[i], name))
            return false;
    return true;
}

bool pythia_open_points_is_limited(const struct pythia_open_points *o)
{
    return o && o->limit_count > 0;
}

/* Has the limit the same types, in the same order? */
static bool has_same_types(const struct limit *a, const struct limit *b)
{
    bool same = a->count == b->count;
    for (size_t i = 0; same && i < a->count; i++)
        same = pythia_text_equal(a->types[i], b->types[i]);
    return same;
}

bool pythia_open_points_same_limits(const struct pythia_open_points *a,
                                    const struct pythia_open_points *b)
{
    size_t count = a ? a->limit_count : 0;
    bool same = count == (b ? b->limit_count : 0);
    for (size_t i = 0; same && i < count; i++) {
        const struct limit *other = find_limit(b, pythia_text_of(a->limits[i].id));
        same = other && has_same_types(&a->limits[i], other);
    }
    return same;
}

size_t pythia_open_points_count(const struct pythia_open_points *o)
{
    return o->count;
}
