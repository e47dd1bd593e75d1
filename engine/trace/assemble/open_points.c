/* Open points are held as names, because a set may be made before any trace is seen; the answer for
 * a number is worked out once and kept until something changes. */
#include "pythia/open_points.h"

#include <fnmatch.h>
#include <string.h>

#include "pythia/mem.h"
#include "pythia/status.h"
#include "pythia/strtab.h"

enum { NOT_ASKED, OPEN, CLOSED, LIMITED }; /* LIMITED + i: to the types of limit i */

/* A point that is open for some types only. */
struct limit {
    struct pythia_text *types; /* owned; texts of the vocabulary, or owned */
    uint32_t *numbers;         /* owned; of these strings; PYTHIA_NONE: its text is owned */
    size_t count, capacity, number_capacity;
};

struct pythia_open_points {
    const struct pythia_vocabulary *vocabulary;
    struct pythia_open_points *base; /* NULL, or what is open but for those that are listed */
    struct pythia_strtab *ids;
    char **patterns; /* owned */
    size_t pattern_count, pattern_capacity, count;
    struct pythia_strtab *limited; /* ids of points that are limited; NULL: none is */
    struct limit *limits;          /* owned; by number of an id in that table */
    size_t limit_capacity;
    uint32_t *answers; /* by trace point */
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
    if (status != PYTHIA_OK)
        return status;
    (*out)->base = base;
    return PYTHIA_OK;
}

/* The limits are numbered as their ids, of which number 0 is the empty string. */
static size_t count_limits(const struct pythia_open_points *o)
{
    return o->limited ? pythia_strtab_count(o->limited) : 0;
}

static void free_limits(struct pythia_open_points *o)
{
    for (size_t i = 0; i < o->limit_capacity; i++) {
        for (size_t t = 0; t < o->limits[i].count; t++)
            if (o->limits[i].numbers[t] == PYTHIA_NONE)
                pythia_free(o->limits[i].types[t].bytes);
        pythia_free(o->limits[i].types);
        pythia_free(o->limits[i].numbers);
    }
    pythia_free(o->limits);
    pythia_strtab_destroy(o->limited);
}

void pythia_open_points_destroy(struct pythia_open_points *o)
{
    if (!o)
        return;
    for (size_t i = 0; i < o->pattern_count; i++)
        pythia_free(o->patterns[i]);
    pythia_free(o->patterns);
    free_limits(o);
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

/* Earlier answers for the point are no longer valid. */
static void forget_answer(struct pythia_open_points *o, struct pythia_text id)
{
    uint32_t point = pythia_vocabulary_tracepoint_find(o->vocabulary, id);
    if (o->answers && point < o->answer_capacity)
        o->answers[point] = NOT_ASKED;
}

int pythia_open_points_add_id(struct pythia_open_points *o, struct pythia_text id)
{
    if (pythia_strtab_intern(o->ids, id) == PYTHIA_STRTAB_NONE)
        return PYTHIA_ENOMEM;
    o->count++;
    forget_answer(o, id);
    return PYTHIA_OK;
}

static int reserve_answers(struct pythia_open_points *o, size_t needed)
{
    size_t capacity = needed * 2;
    uint32_t *answers = needed <= o->answer_capacity
                            ? o->answers
                            : pythia_realloc(o->answers, capacity, sizeof(*answers));
    if (!answers)
        return PYTHIA_ENOMEM;
    if (needed > o->answer_capacity) {
        memset(answers + o->answer_capacity, 0,
               (capacity - o->answer_capacity) * sizeof(*answers)); /* NOT_ASKED */
        o->answer_capacity = capacity;
    }
    o->answers = answers;
    return PYTHIA_OK;
}

int pythia_open_points_add_flagged(struct pythia_open_points *o, const bool *flags, uint32_t count)
{
    bool only = o->count == 0 && !o->base; /* so that what has no flag is closed */
    for (uint32_t i = 0; i < count; i++) {
        if (!flags[i])
            continue;
        int status =
            pythia_open_points_add_id(o, pythia_vocabulary_tracepoint_id(o->vocabulary, i));
        if (status != PYTHIA_OK)
            return status;
    }
    if (!only || reserve_answers(o, count) != PYTHIA_OK)
        return PYTHIA_OK; /* answers are found when they are asked for */
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
    if (o->answers)
        memset(o->answers, 0, o->answer_capacity * sizeof(*o->answers)); /* NOT_ASKED */
    return PYTHIA_OK;
}

int pythia_open_points_read(struct pythia_open_points *o, struct pythia_text text)
{
    while (text.size > 0) {
        const char *newline = memchr(text.bytes, '\n', text.size);
        size_t size = newline ? (size_t)(newline - text.bytes) : text.size;
        struct pythia_text line = {text.bytes, size};
        while (line.size > 0 && strchr(" \t\r", line.bytes[line.size - 1]))
            line.size--;
        if (line.size > 0 && line.bytes[0] != '#') {
            int status = pythia_open_points_add(o, line);
            if (status != PYTHIA_OK)
                return status;
        }
        size += newline != NULL;
        text = (struct pythia_text){text.bytes + size, text.size - size};
    }
    return PYTHIA_OK;
}

/* NULL: the point is not limited. */
static const struct limit *find_id_limit(const struct pythia_open_points *o, struct pythia_text id)
{
    uint32_t number = o->limited ? pythia_strtab_find(o->limited, id) : PYTHIA_STRTAB_NONE;
    bool made = number != PYTHIA_STRTAB_NONE && number < o->limit_capacity;
    return made && o->limits[number].count > 0 ? &o->limits[number] : NULL;
}

/* NULL: out of memory. */
static struct limit *make_limit(struct pythia_open_points *o, struct pythia_text id)
{
    if (!o->limited && pythia_strtab_create(&o->limited) != PYTHIA_OK)
        return NULL;
    uint32_t number = pythia_strtab_intern(o->limited, id);
    if (number == PYTHIA_STRTAB_NONE ||
        pythia_reach(&o->limits, &o->limit_capacity, number, sizeof(*o->limits)) != PYTHIA_OK)
        return NULL;
    return &o->limits[number];
}

/* `number` of the type's string; PYTHIA_NONE: the vocabulary does not know it. */
static int limit_to_type(struct pythia_open_points *o, struct pythia_text id,
                         struct pythia_text type, uint32_t number)
{
    struct limit *l = make_limit(o, id);
    if (!l || pythia_grow(&l->types, &l->capacity, l->count, sizeof(*l->types)) != PYTHIA_OK ||
        pythia_grow(&l->numbers, &l->number_capacity, l->count, sizeof(*l->numbers)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    char *copy = number == PYTHIA_NONE ? pythia_strndup(type.bytes, type.size) : NULL;
    if (number == PYTHIA_NONE && !copy)
        return PYTHIA_ENOMEM;
    l->types[l->count] = copy ? (struct pythia_text){copy, type.size}
                              : pythia_vocabulary_text(o->vocabulary, number);
    l->numbers[l->count++] = number;
    o->count++;
    forget_answer(o, id);
    return PYTHIA_OK;
}

int pythia_open_points_add_id_for(struct pythia_open_points *o, struct pythia_text id,
                                  struct pythia_text type)
{
    return limit_to_type(o, id, type, pythia_vocabulary_string_find(o->vocabulary, type));
}

int pythia_open_points_add_for(struct pythia_open_points *o, uint32_t tracepoint, uint32_t type)
{
    return limit_to_type(o, pythia_vocabulary_tracepoint_id(o->vocabulary, tracepoint),
                         PYTHIA_TEXT(""), type);
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

static uint32_t find_answer(const struct pythia_open_points *o, uint32_t tracepoint)
{
    bool listed = is_listed(o, tracepoint);
    if (o->base)
        return !listed && pythia_open_points_has(o->base, tracepoint) ? OPEN : CLOSED;
    if (listed)
        return OPEN;
    const struct limit *l =
        find_id_limit(o, pythia_vocabulary_tracepoint_id(o->vocabulary, tracepoint));
    return l ? LIMITED + (uint32_t)(l - o->limits) : CLOSED;
}

static uint32_t look_up_answer(struct pythia_open_points *o, uint32_t tracepoint)
{
    if (reserve_answers(o, (size_t)tracepoint + 1) != PYTHIA_OK)
        return find_answer(o, tracepoint); /* slower, and right */
    if (o->answers[tracepoint] == NOT_ASKED)
        o->answers[tracepoint] = find_answer(o, tracepoint);
    return o->answers[tracepoint];
}

bool pythia_open_points_has(struct pythia_open_points *o, uint32_t tracepoint)
{
    return look_up_answer(o, tracepoint) != CLOSED;
}

/* NULL: the point is open for all types, or closed. */
static const struct limit *find_point_limit(struct pythia_open_points *o, uint32_t tracepoint)
{
    uint32_t answer = o->limited ? look_up_answer(o, tracepoint) : CLOSED;
    return answer >= LIMITED ? &o->limits[answer - LIMITED] : NULL;
}

const struct pythia_text *pythia_open_points_types(struct pythia_open_points *o,
                                                   uint32_t tracepoint, size_t *count)
{
    const struct limit *l = find_point_limit(o, tracepoint);
    *count = l ? l->count : 0;
    return l ? l->types : NULL;
}

bool pythia_open_points_excludes(struct pythia_open_points *o, uint32_t tracepoint, uint32_t type)
{
    const struct limit *l = find_point_limit(o, tracepoint);
    for (size_t i = 0; l && i < l->count; i++)
        if (l->numbers[i] == type ||
            (l->numbers[i] == PYTHIA_NONE &&
             pythia_text_equal(l->types[i], pythia_vocabulary_text(o->vocabulary, type))))
            return false;
    return l != NULL;
}

bool pythia_open_points_is_limited(const struct pythia_open_points *o)
{
    return o && o->limited;
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
    size_t count = a ? count_limits(a) : 0;
    bool same = count == (b ? count_limits(b) : 0);
    for (size_t i = 1; same && i < count; i++) {
        struct pythia_text id = pythia_strtab_text(a->limited, (uint32_t)i);
        const struct limit *one = find_id_limit(a, id), *other = find_id_limit(b, id);
        same = (!one && !other) || (one && other && has_same_types(one, other));
    }
    return same;
}

size_t pythia_open_points_count(const struct pythia_open_points *o)
{
    return o->count;
}
