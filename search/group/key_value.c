/* A name may mean one key at several places of a request; its value is put together from all of
 * them, in an order that does not depend on who reported first. */
#include "pythia/key_value.h"

#include <stdio.h>
#include <string.h>

#include "pythia/buf.h"
#include "pythia/hash.h"
#include "pythia/mem.h"
#include "pythia/status.h"

/* A name, and the keys that it means, in the order of their places: numbers are added up in it, and
 * the order in which keys were first seen is not the same every time. */
struct meaning {
    struct pythia_key_name name;
    uint32_t *keys;
    size_t count, capacity;
    size_t known;   /* so many keys were looked at */
    uint32_t point; /* of visits; PYTHIA_NONE: not seen yet */
};

/* A value that was found, and its text as a piece of `spelt`. */
struct place {
    const struct pythia_row_value *value;
    uint32_t key;
    size_t from, size;
};

struct pythia_key_reader {
    const struct pythia_vocabulary *vocabulary;
    const struct pythia_keys *keys;
    const uint32_t *among; /* borrowed: the keys that names may mean; NULL: all of `keys` */
    size_t among_count;
    struct meaning *meanings;
    size_t count;
    struct place *places; /* of the value found last */
    size_t place_count, place_capacity;
    uint32_t *points;
    size_t point_count, point_capacity;
    bool process;
    double visits;
    bool visited;
    struct pythia_buf spelt;
};

int pythia_key_reader_create(const struct pythia_vocabulary *vocabulary,
                             const struct pythia_keys *keys, const struct pythia_key_name *names,
                             size_t count, struct pythia_key_reader **out)
{
    struct pythia_key_reader *r = pythia_calloc(1, sizeof(*r));
    if (!r)
        return PYTHIA_ENOMEM;
    r->vocabulary = vocabulary;
    r->keys = keys;
    r->meanings = pythia_calloc(count, sizeof(*r->meanings));
    if (!r->meanings) {
        pythia_free(r);
        return PYTHIA_ENOMEM;
    }
    for (size_t i = 0; i < count; i++)
        r->meanings[i] = (struct meaning){.name = names[i], .point = PYTHIA_NONE};
    r->count = count;
    *out = r;
    return PYTHIA_OK;
}

void pythia_key_reader_among(struct pythia_key_reader *r, const uint32_t *keys, size_t count)
{
    r->among = keys;
    r->among_count = count;
}

void pythia_key_reader_destroy(struct pythia_key_reader *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->count; i++)
        pythia_free(r->meanings[i].keys);
    pythia_free(r->meanings);
    pythia_free(r->places);
    pythia_free(r->points);
    pythia_buf_free(&r->spelt);
    pythia_free(r);
}

/* ---- what a name means ---- */

/* Is `text` the attribute, or the attribute, "@" and the place of a key? */
static bool key_matches_text(const struct pythia_keys *keys, struct pythia_text text, uint32_t key)
{
    struct pythia_text attribute = pythia_keys_attribute(keys, key),
                       place = pythia_keys_origin(keys, key);
    if (!pythia_text_starts(text, attribute))
        return false;
    text.bytes += attribute.size;
    text.size -= attribute.size;
    if (text.size == 0)
        return true;
    return text.bytes[0] == '@' &&
           pythia_text_equal((struct pythia_text){text.bytes + 1, text.size - 1}, place);
}

static bool place_before(const struct pythia_keys *keys, uint32_t a, uint32_t b)
{
    int order = pythia_text_compare(pythia_keys_origin(keys, a), pythia_keys_origin(keys, b));
    if (order == 0) /* "a@b" at c, and "a" at "b@c" */
        order = pythia_text_compare(pythia_keys_attribute(keys, a), pythia_keys_attribute(keys, b));
    return order < 0;
}

/* Look at the keys that have come since. */
static int learn_new_keys(const struct pythia_key_reader *r, struct meaning *m)
{
    const struct pythia_keys *keys = r->keys;
    size_t count = r->among ? r->among_count : pythia_keys_count(keys);
    for (; m->known < count; m->known++) {
        uint32_t key = r->among ? r->among[m->known] : (uint32_t)m->known;
        if (!key_matches_text(keys, m->name.text, key))
            continue;
        if (pythia_grow(&m->keys, &m->capacity, m->count, sizeof(*m->keys)) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
        /* Kept in order of place, so that values are joined in the same order in each run. */
        size_t at = m->count++;
        for (; at > 0 && place_before(keys, key, m->keys[at - 1]); at--)
            m->keys[at] = m->keys[at - 1];
        m->keys[at] = key;
    }
    return PYTHIA_OK;
}

uint32_t *pythia_key_attributes(struct pythia_vocabulary *vocabulary, struct pythia_text name,
                                size_t *count)
{
    size_t most = 1;
    for (size_t i = 0; i < name.size; i++)
        most += name.bytes[i] == '@';
    uint32_t *out = pythia_calloc(most, sizeof(*out));
    *count = 0;
    for (size_t i = 0; out && i <= name.size; i++) {
        /* An attribute may have an '@' in its own name: each of them could begin the place. */
        if (i < name.size && name.bytes[i] != '@')
            continue;
        uint32_t string = pythia_vocabulary_string(vocabulary, (struct pythia_text){name.bytes, i});
        if (string == PYTHIA_NONE) {
            pythia_free(out);
            return NULL;
        }
        out[(*count)++] = string;
    }
    return out;
}

/* ---- values ---- */

struct pythia_key_value pythia_key_reader_visits(struct pythia_key_reader *r, size_t name,
                                                 uint32_t visits)
{
    bool present = r->meanings[name].name.source == PYTHIA_KEY_VISITS || visits > 0;
    r->place_count = r->point_count = 0;
    r->process = false;
    r->visited = true;
    r->visits = visits;
    return (struct pythia_key_value){present, present, present ? visits : 0};
}

/* The mean, or the number itself where all places have the same: the mean of equal numbers may be
 * one bit off. */
static void average_numbers(struct pythia_key_reader *r, struct pythia_key_value *out)
{
    double sum = 0, number = 0, first = 0;
    bool same = true;
    out->numeric = r->place_count > 0;
    for (size_t i = 0; i < r->place_count && out->numeric; i++) {
        out->numeric = pythia_row_number(r->places[i].value, &number);
        first = i == 0 ? number : first;
        same = same && number == first;
        sum += number;
    }
    if (out->numeric)
        out->number = same ? first : sum / (double)r->place_count;
}

static int retain_value(struct pythia_key_reader *r, uint32_t key,
                        const struct pythia_row_value *value)
{
    uint32_t point = pythia_keys_tracepoint(r->keys, key);
    if (pythia_grow(&r->places, &r->place_capacity, r->place_count, sizeof(*r->places)) !=
            PYTHIA_OK ||
        pythia_grow(&r->points, &r->point_capacity, r->point_count, sizeof(*r->points)) !=
            PYTHIA_OK)
        return PYTHIA_ENOMEM;
    r->places[r->place_count++] = (struct place){.value = value, .key = key};
    if (point == PYTHIA_NONE)
        r->process = true;
    else
        r->points[r->point_count++] = point;
    return PYTHIA_OK;
}

int pythia_key_reader_values(struct pythia_key_reader *r, size_t name,
                             const struct pythia_row_value *values, uint32_t count,
                             struct pythia_key_value *out)
{
    struct meaning *m = &r->meanings[name];
    r->place_count = r->point_count = 0;
    r->process = r->visited = false;
    if (learn_new_keys(r, m) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < m->count; i++) {
        const struct pythia_row_value *value = pythia_row_find(values, count, m->keys[i]);
        if (value && retain_value(r, m->keys[i], value) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
    }
    *out = (struct pythia_key_value){.present = r->place_count > 0};
    average_numbers(r, out);
    return PYTHIA_OK;
}

int pythia_key_reader_row(struct pythia_key_reader *r, size_t name, const struct pythia_row *row,
                          struct pythia_key_value *out)
{
    struct meaning *m = &r->meanings[name];
    uint32_t visits = 0;
    if (m->name.source == PYTHIA_KEY_OF_SPANS)
        return pythia_key_reader_values(r, name, row->values, row->value_count, out);
    if (m->point == PYTHIA_NONE)
        m->point = pythia_vocabulary_tracepoint_find(r->vocabulary, m->name.text);
    for (uint32_t i = 0; i < row->shape->point_count; i++)
        if (row->shape->points[i] == m->point)
            visits = row->shape->point_counts[i];
    *out = pythia_key_reader_visits(r, name, visits);
    return PYTHIA_OK;
}

const uint32_t *pythia_key_reader_points(const struct pythia_key_reader *r, size_t *count,
                                         bool *process)
{
    *count = r->point_count;
    *process = r->process;
    return r->points;
}

/* ---- text ---- */

/* Append the text of the value at a place, behind all others. */
static void spell_value(struct pythia_buf *to, struct place *p)
{
    p->from = to->size;
    if (p->value->size == PYTHIA_ROW_NUMBER)
        pythia_buf_printf(to, "%.15g", p->value->number);
    else
        pythia_buf_add(to, p->value->text, p->value->size);
    p->size = to->size - p->from;
}

static struct pythia_text text_of_value(const struct pythia_key_reader *r, size_t place)
{
    return (struct pythia_text){r->spelt.bytes + r->places[place].from, r->places[place].size};
}

/* The original texts of the values that were spelt, in order, "|" between them. */
static int join_span_texts(struct pythia_key_reader *r, struct pythia_text *out)
{
    size_t kept = 0, all = r->spelt.size;
    for (size_t i = 0; i < r->place_count; i++) { /* by insertion: places are few */
        struct place moving = r->places[i];
        size_t at = kept;
        int order = 1;
        while (at > 0 &&
               (order = pythia_text_compare(text_of_value(r, at - 1), text_of_value(r, i))) > 0)
            at--;
        if (at > 0 && order == 0)
            continue;
        memmove(r->places + at + 1, r->places + at, (kept - at) * sizeof(*r->places));
        r->places[at] = moving;
        kept++;
    }
    r->place_count = kept;
    if (kept == 1) {
        *out = text_of_value(r, 0);
        return PYTHIA_OK;
    }
    for (size_t i = 0; i < kept; i++) {
        if (i)
            pythia_buf_putc(&r->spelt, '|');
        if (!pythia_buf_reserve(&r->spelt, r->places[i].size))
            return PYTHIA_ENOMEM; /* or what is appended could move away */
        pythia_buf_text_add(&r->spelt, text_of_value(r, i));
    }
    if (r->spelt.size - all > PYTHIA_ROW_TEXT_MAX)
        pythia_row_cut(&r->spelt, all,
                       pythia_hash_bytes(r->spelt.bytes + all, r->spelt.size - all));
    *out = (struct pythia_text){r->spelt.bytes + all, r->spelt.size - all};
    return PYTHIA_OK;
}

int pythia_key_reader_text(struct pythia_key_reader *r, struct pythia_text *out)
{
    pythia_buf_clear(&r->spelt);
    r->spelt.failed = 0;
    if (r->visited) {
        pythia_buf_printf(&r->spelt, "%.15g", r->visits);
        *out = pythia_buf_text(&r->spelt);
        return pythia_buf_status(&r->spelt);
    }
    (void)pythia_buf_reserve(&r->spelt, 1); /* empty texts have a place, too */
    for (size_t i = 0; i < r->place_count; i++)
        spell_value(&r->spelt, &r->places[i]);
    if (pythia_buf_status(&r->spelt) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    *out = (struct pythia_text){"", 0};
    int status = r->place_count ? join_span_texts(r, out) : PYTHIA_OK;
    if (status != PYTHIA_OK)
        return status;
    return pythia_buf_status(&r->spelt);
}
