/* A row is what is kept of a request: its times by edge and its key-values. Requests of one type
 * are alike, so most of the work is to find that nothing is new. */
#include "pythia/row.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "pythia/attributes.h"
#include "pythia/buf.h"
#include "pythia/hash_table.h"
#include "pythia/mem.h"
#include "pythia/sampling.h"
#include "pythia/sort.h"
#include "pythia/status.h"
#include "row_pool.h"

#define OF_SERVICE (UINT64_C(1) << 63) /* in a pair: the origin is a service, not a trace point */
/* Longest list of values of one key; of more different texts the rest is replaced by a hash of
 * all. */
#define TEXTS_MAX   64 /* nobody reads more parts */
#define ALIKE_SLOTS 32 /* attributes of a request whose last text is remembered */

/* ---- keys ---- */

struct key {
    uint64_t pair;  /* origin << 32 | attribute */
    uint32_t after; /* the key that came after it last; any, if none has */
};

struct pythia_keys {
    const struct pythia_vocabulary *vocabulary;
    struct key *list;
    size_t count, capacity;
    uint32_t last; /* the key that was asked for last */
    struct pythia_hash_table by_pair;
    pthread_mutex_t lock; /* of keys that several makers number */
};

int pythia_keys_create(const struct pythia_vocabulary *vocabulary, struct pythia_keys **out)
{
    struct pythia_keys *k = pythia_calloc(1, sizeof(*k));
    if (!k)
        return PYTHIA_ENOMEM;
    k->vocabulary = vocabulary;
    pthread_mutex_init(&k->lock, NULL);
    *out = k;
    return PYTHIA_OK;
}

void pythia_keys_destroy(struct pythia_keys *k)
{
    if (!k)
        return;
    pythia_free(k->list);
    pythia_hash_table_free(&k->by_pair);
    pthread_mutex_destroy(&k->lock);
    pythia_free(k);
}

uint32_t pythia_keys_count(const struct pythia_keys *k)
{
    return (uint32_t)k->count;
}

static bool has_pair(const void *keys, uint32_t key, const void *pair)
{
    return ((const struct pythia_keys *)keys)->list[key].pair == *(const uint64_t *)pair;
}

static uint32_t find_key_number(struct pythia_keys *k, uint64_t pair)
{
    uint32_t key = pythia_hash_table_find(&k->by_pair, pair, has_pair, k, &pair);
    if (key != PYTHIA_HASH_TABLE_NONE)
        return key;
    key = (uint32_t)k->count;
    if (pythia_grow(&k->list, &k->capacity, key, sizeof(*k->list)) != PYTHIA_OK ||
        pythia_hash_table_add(&k->by_pair, pair, key) != PYTHIA_OK)
        return PYTHIA_NONE;
    k->list[k->count++] = (struct key){.pair = pair};
    return key;
}

/* Requests are alike: most often a key comes after the one that it came after last time. */
static uint32_t find_key_after_last(struct pythia_keys *k, uint64_t pair)
{
    uint32_t key = k->count > 0 ? k->list[k->last].after : 0;
    if (k->count > 0 && k->list[key].pair == pair) {
        k->last = key;
        return key;
    }
    key = find_key_number(k, pair);
    if (key == PYTHIA_NONE)
        return key;
    k->list[k->last].after = key;
    k->last = key;
    return key;
}

uint32_t pythia_keys_at_point(struct pythia_keys *k, uint32_t tracepoint, uint32_t attribute)
{
    return find_key_number(k, (uint64_t)tracepoint << 32 | attribute);
}

uint32_t pythia_keys_of_service(struct pythia_keys *k, uint32_t service, uint32_t attribute)
{
    return find_key_number(k, OF_SERVICE | (uint64_t)service << 32 | attribute);
}

struct pythia_text pythia_keys_attribute(const struct pythia_keys *k, uint32_t key)
{
    return pythia_vocabulary_text(k->vocabulary, (uint32_t)k->list[key].pair);
}

struct pythia_text pythia_keys_origin(const struct pythia_keys *k, uint32_t key)
{
    uint32_t origin = (uint32_t)((k->list[key].pair & ~OF_SERVICE) >> 32);
    return k->list[key].pair & OF_SERVICE ? pythia_vocabulary_text(k->vocabulary, origin)
                                          : pythia_vocabulary_tracepoint_id(k->vocabulary, origin);
}

uint32_t pythia_keys_tracepoint(const struct pythia_keys *k, uint32_t key)
{
    return k->list[key].pair & OF_SERVICE ? PYTHIA_NONE : (uint32_t)(k->list[key].pair >> 32);
}

/* ---- values ---- */

/* Most numbers that are written as text are whole, and of so few digits that a double has all of
 * them. */
static bool read_short_number(const char *text, size_t size, double *out)
{
    bool negative = size > 1 && text[0] == '-';
    size_t at = negative, digits = size - at;
    int64_t number = 0;
    if (digits == 0 || digits > 15 || (text[at] == '0' && digits > 1))
        return false;
    for (; at < size; at++) {
        unsigned digit = (unsigned char)text[at] - (unsigned)'0';
        if (digit > 9)
            return false;
        number = number * 10 + digit;
    }
    *out = negative ? -(double)number : (double)number;
    return true;
}

/* Most texts are words: their first character tells. */
static bool begins_number(const char *text, size_t size)
{
    size_t at = text[0] == '-' && size > 1;
    return text[at] >= '0' && text[at] <= '9';
}

bool pythia_row_number(const struct pythia_row_value *value, double *out)
{
    if (value->size == PYTHIA_ROW_NUMBER) {
        *out = value->number;
        return true;
    }
    if (read_short_number(value->text, value->size, out))
        return true;
    char text[64], *end;
    if (value->size == 0 || value->size >= sizeof(text) || !begins_number(value->text, value->size))
        return false;
    memcpy(text, value->text, value->size);
    text[value->size] = '\0';
    const char *digits = text + (text[0] == '-');
    bool name = digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9'; /* "007" is no number */
    if (name || strspn(text, "0123456789.eE+-") != value->size)
        return false;
    *out = strtod(text, &end);
    return *end == '\0' && isfinite(*out);
}

static int compare_value_key(const void *values, size_t index, const void *key)
{
    uint32_t x = ((const struct pythia_row_value *)values)[index].key, y = *(const uint32_t *)key;
    return (x > y) - (x < y);
}

const struct pythia_row_value *pythia_row_find(const struct pythia_row_value *values,
                                               uint32_t count, uint32_t key)
{
    size_t found = pythia_sorted_find(count, compare_value_key, values, &key);
    return found == PYTHIA_SORTED_NONE ? NULL : &values[found];
}

/* ---- rows ---- */

/* The values of one key in the current request. */
struct seen {
    uint32_t key, number_count;
    double sum;
    struct pythia_text text; /* the first; more of them are in texts */
    const char *placed;      /* where the row has the text */
    uint32_t alike;          /* index of the one of the request whose text the row shares */
    uint32_t texts;          /* how many different ones */
    size_t first_extra;      /* of the others, in extras, linked; + 1; 0: none */
};

/* A further text of a key. */
struct extra {
    struct pythia_text text;
    uint64_t hash;      /* of the text, in this process */
    uint32_t key, next; /* next: + 1; 0: none */
};

struct pythia_row_maker {
    const struct pythia_vocabulary *vocabulary;
    struct pythia_keys *keys;
    /* Makers of several threads find keys by tables of their own (then `keys`, owned), and number
     * each as all of them do: numbers[i] is the number of keys->list[i] among these. NULL: no
     * others use `keys`. */
    struct pythia_keys *shared;
    uint32_t *numbers;
    size_t number_count, number_capacity;
    struct seen *seen;
    uint32_t *places; /* by key: index in seen + 1 */
    struct extra *extras;
    struct pythia_hash_table extras_by_text; /* and by key; empty between requests */
    uint32_t *resources;                     /* those looked at in this request */
    uint32_t *order, *scratch;
    size_t seen_count, seen_capacity, place_capacity, extra_count, extra_capacity, resource_count,
        resource_capacity, order_capacity, scratch_capacity;
    struct pythia_buf joined;
    uint32_t sampling; /* the attribute of the sampling probability; PYTHIA_NONE: none has it */
    uint32_t *only;    /* attributes that count; NULL: all do */
    size_t only_count;
    struct pythia_row_value *values; /* of a request without a row */
    size_t value_capacity;
    struct pythia__row_pool pool;
};

int pythia_row_maker_create(const struct pythia_vocabulary *vocabulary, struct pythia_keys *keys,
                            struct pythia_row_maker **out)
{
    struct pythia_row_maker *m = pythia_calloc(1, sizeof(*m));
    if (!m)
        return PYTHIA_ENOMEM;
    m->vocabulary = vocabulary;
    m->keys = keys;
    m->sampling = PYTHIA_NONE;
    *out = m;
    return PYTHIA_OK;
}

int pythia_row_maker_beside(struct pythia_row_maker *m)
{
    struct pythia_keys *own;
    int status = pythia_keys_create(m->vocabulary, &own);
    if (status != PYTHIA_OK)
        return status;
    m->shared = m->keys;
    m->keys = own;
    return PYTHIA_OK;
}

void pythia_row_maker_join(struct pythia_row_maker *to, struct pythia_row_maker *from)
{
    pythia__row_pool_join(&to->pool, &from->pool);
}

void pythia_row_maker_destroy(struct pythia_row_maker *m)
{
    if (!m)
        return;
    if (m->shared)
        pythia_keys_destroy(m->keys);
    pythia_free(m->numbers);
    pythia_free(m->seen);
    pythia_free(m->places);
    pythia_free(m->extras);
    pythia_hash_table_free(&m->extras_by_text);
    pythia_free(m->resources);
    pythia_free(m->order);
    pythia_free(m->scratch);
    pythia_free(m->only);
    pythia_free(m->values);
    pythia_buf_free(&m->joined);
    pythia__row_pool_free(&m->pool);
    pythia_free(m);
}

int pythia_row_maker_only(struct pythia_row_maker *m, const uint32_t *attributes, size_t count)
{
    uint32_t *only = pythia_calloc(count, sizeof(*only));
    if (!only)
        return PYTHIA_ENOMEM;
    if (count)
        memcpy(only, attributes, count * sizeof(*only));
    pythia_free(m->only);
    m->only = only;
    m->only_count = count;
    return PYTHIA_OK;
}

static bool counts_attribute(const struct pythia_row_maker *m, uint32_t attribute)
{
    for (size_t i = 0; m->only && i < m->only_count; i++)
        if (m->only[i] == attribute)
            return true;
    return !m->only;
}

static struct seen *seen_at(struct pythia_row_maker *m, uint32_t key)
{
    if (key >= m->place_capacity) {
        /* Keys are numbered as they turn up, and their number grows with the input: doubled. */
        size_t capacity = ((size_t)key + 1) * 2;
        uint32_t *places = pythia_realloc(m->places, capacity, sizeof(*places));
        if (!places)
            return NULL;
        memset(places + m->place_capacity, 0, (capacity - m->place_capacity) * sizeof(*places));
        m->places = places;
        m->place_capacity = capacity;
    }
    if (m->places[key] == 0) {
        if (pythia_grow(&m->seen, &m->seen_capacity, m->seen_count, sizeof(*m->seen)) != PYTHIA_OK)
            return NULL;
        m->seen[m->seen_count++] = (struct seen){.key = key};
        m->places[key] = (uint32_t)m->seen_count;
    }
    return &m->seen[m->places[key] - 1];
}

/* ---- the different texts of a key: one request may have very many ---- */

static bool is_extra(const void *maker, uint32_t index, const void *key)
{
    const struct extra *a = &((const struct pythia_row_maker *)maker)->extras[index], *b = key;
    return a->hash == b->hash && a->key == b->key && pythia_text_equal(a->text, b->text);
}

/* The next request has other texts. */
static void clear_extras(struct pythia_row_maker *m)
{
    pythia_hash_table_clear(&m->extras_by_text);
    m->extra_count = 0;
}

static int add_seen_text(struct pythia_row_maker *m, struct seen *s, struct pythia_text text)
{
    /* Nearly all keys have one text in a request; only a second, different text goes to the
     * table of extras. */
    if (s->texts == 0) {
        s->text = text;
        s->texts = 1;
        return PYTHIA_OK;
    }
    if (pythia_text_equal(s->text, text))
        return PYTHIA_OK;
    struct extra extra = {.text = text,
                          .hash = pythia_hash_seeded(text.bytes, text.size),
                          .key = s->key,
                          .next = (uint32_t)s->first_extra};
    uint64_t hash = pythia_hash_mix(extra.hash, extra.key);
    if (pythia_hash_table_find(&m->extras_by_text, hash, is_extra, m, &extra) !=
        PYTHIA_HASH_TABLE_NONE)
        return PYTHIA_OK;
    if (pythia_grow(&m->extras, &m->extra_capacity, m->extra_count, sizeof(*m->extras)) !=
            PYTHIA_OK ||
        pythia_hash_table_add(&m->extras_by_text, hash, (uint32_t)m->extra_count) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    m->extras[m->extra_count++] = extra;
    s->first_extra = m->extra_count;
    s->texts++;
    return PYTHIA_OK;
}

static int add_attributes(struct pythia_row_maker *m, struct pythia_text packed, uint64_t origin)
{
    struct pythia_attribute a;
    while (pythia_attributes_next(&packed, &a)) {
        double number = a.kind == PYTHIA_ATTRIBUTE_REAL ? a.real : (double)a.integer;
        if (!counts_attribute(m, a.key) || a.key == m->sampling ||
            (a.kind != PYTHIA_ATTRIBUTE_TEXT && !isfinite(number)))
            continue; /* not finite is as good as missing */
        uint32_t key = find_key_after_last(m->keys, origin | a.key);
        struct seen *s = key == PYTHIA_NONE ? NULL : seen_at(m, key);
        if (!s)
            return PYTHIA_ENOMEM;
        if (a.kind != PYTHIA_ATTRIBUTE_TEXT) {
            s->sum += number;
            s->number_count++;
        } else if (add_seen_text(m, s, a.text) != PYTHIA_OK) {
            return PYTHIA_ENOMEM;
        }
    }
    return PYTHIA_OK;
}

/* The key-values of a process are the same for all its spans: once in a request is enough. */
static int add_resource(struct pythia_row_maker *m, uint32_t number)
{
    for (size_t i = 0; i < m->resource_count; i++)
        if (m->resources[i] == number)
            return PYTHIA_OK;
    if (pythia_grow(&m->resources, &m->resource_capacity, m->resource_count,
                    sizeof(*m->resources)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    m->resources[m->resource_count++] = number;
    struct pythia_resource resource = pythia_vocabulary_resource_at(m->vocabulary, number);
    return add_attributes(m, resource.attributes, OF_SERVICE | (uint64_t)resource.service << 32);
}

static int gather_row_values(struct pythia_row_maker *m, const struct pythia_trace *trace,
                             const struct pythia_critical_path *path)
{
    m->seen_count = m->resource_count = 0;
    if (m->sampling == PYTHIA_NONE)
        m->sampling =
            pythia_vocabulary_string_find(m->vocabulary, PYTHIA_TEXT(PYTHIA_SAMPLING_KEY));
    for (size_t i = 0; i < path->count; i++) {
        const struct pythia_path_event *e = &path->events[i];
        /* Each span once, by its start. */
        if (e->kind == PYTHIA_EVENT_END)
            continue;
        const struct pythia_trace_span *span = &trace->spans[e->span];
        if (add_attributes(m, span->attributes, (uint64_t)e->tracepoint << 32) != PYTHIA_OK ||
            add_resource(m, span->resource) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
    }
    return PYTHIA_OK;
}

void pythia_row_cut(struct pythia_buf *b, size_t from, uint64_t hash)
{
    size_t end = b->size - from > PYTHIA_ROW_TEXT_MAX ? from + PYTHIA_ROW_TEXT_MAX : b->size;
    while (end > from && end < b->size && (b->bytes[end] & 0xC0) == 0x80)
        end--; /* a character of UTF-8 is not parted */
    b->size = end;
    pythia_buf_printf(b, "...#%016llx", (unsigned long long)hash);
}

static int reserve_order(struct pythia_row_maker *m, size_t count)
{
    return pythia_reach(&m->order, &m->order_capacity, count, sizeof(*m->order)) == PYTHIA_OK &&
                   pythia_reach(&m->scratch, &m->scratch_capacity, count, sizeof(*m->scratch)) ==
                       PYTHIA_OK
               ? PYTHIA_OK
               : PYTHIA_ENOMEM;
}

static bool seen_text_precedes(const void *context, uint32_t a, uint32_t b)
{
    const struct pythia_row_maker *m = context;
    return pythia_text_compare(m->extras[a].text, m->extras[b].text) < 0;
}

/* The extras of a key in order of their texts, into m->order. */
static int sort_extras(struct pythia_row_maker *m, const struct seen *s)
{
    uint32_t n = 0;
    if (reserve_order(m, s->texts) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    for (size_t i = s->first_extra; i; i = m->extras[i - 1].next)
        m->order[n++] = (uint32_t)i - 1;
    pythia_sort_indexes(m->order, n, m->scratch, seen_text_precedes, m);
    return PYTHIA_OK;
}

/* The different texts of a key, in order, so that it does not matter which span came first. */
static int join_row_texts(struct pythia_row_maker *m, struct seen *s)
{
    size_t from = m->joined.size;
    bool first = false; /* the first text to come has its place in the order, too */
    if (sort_extras(m, s) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    for (uint32_t n = 0; n < s->texts && n < TEXTS_MAX; n++) {
        const struct extra *extra =
            n - first < s->texts - 1 ? &m->extras[m->order[n - first]] : NULL;
        bool now = !first && (!extra || pythia_text_compare(s->text, extra->text) < 0);
        if (n)
            pythia_buf_putc(&m->joined, '|');
        pythia_buf_text_add(&m->joined, now ? s->text : extra->text);
        first = first || now;
    }
    if (pythia_buf_status(&m->joined) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    if (s->texts > TEXTS_MAX || m->joined.size - from > PYTHIA_ROW_TEXT_MAX) {
        uint64_t hash = pythia_hash_bytes(s->text.bytes, s->text.size); /* a sum has no order */
        for (size_t i = s->first_extra; i; i = m->extras[i - 1].next)
            hash += pythia_hash_bytes(m->extras[i - 1].text.bytes, m->extras[i - 1].text.size);
        pythia_row_cut(&m->joined, from, hash);
    }
    s->text = (struct pythia_text){NULL, m->joined.size - from}; /* its place comes with the row */
    s->first_extra = from;
    return pythia_buf_status(&m->joined);
}

static bool key_before(const void *context, uint32_t a, uint32_t b)
{
    const struct pythia_row_maker *m = context;
    return m->seen[a].key < m->seen[b].key;
}

/* The values of one key; a text is where it came from. */
static struct pythia_row_value make_row_value(const struct pythia_row_maker *m,
                                              const struct seen *s)
{
    struct pythia_row_value v = {.key = s->key, .size = PYTHIA_ROW_NUMBER};
    if (s->texts == 0) {
        v.number = s->sum / s->number_count;
        return v;
    }
    v.size = (uint32_t)s->text.size;
    v.text = s->text.bytes ? s->text.bytes : m->joined.bytes + s->first_extra;
    return v;
}

/* Copy each text once, and then write the values in order of key. */
static void fill_values(struct pythia_row_maker *m, struct pythia_row *row, char *text)
{
    for (size_t i = 0; i < m->seen_count; i++) {
        struct seen *s = &m->seen[i];
        s->placed = s->alike == i ? text : m->seen[s->alike].placed;
        if (s->alike != i || s->texts == 0)
            continue;
        struct pythia_row_value v = make_row_value(m, s);
        if (v.size)
            memcpy(text, v.text, v.size);
        text += v.size;
    }
    row->value_count = 0;
    for (size_t i = 0; i < m->seen_count; i++) {
        const struct seen *s = &m->seen[m->order[i]];
        struct pythia_row_value *v = &row->values[row->value_count++];
        *v = make_row_value(m, s);
        if (v->size != PYTHIA_ROW_NUMBER)
            v->text = s->placed;
    }
}

/* The last one before `i` whose attribute has the same slot, if its text is the same; else `i`: the
 * spans of a request have the same method, the same host, and so on. */
static uint32_t find_alike(const struct pythia_row_maker *m, uint32_t *slots, uint32_t i)
{
    const struct seen *s = &m->seen[i];
    uint32_t *slot = &slots[(uint32_t)m->keys->list[s->key].pair % ALIKE_SLOTS], last = *slot;
    *slot = i + 1;
    return last > 0 && pythia_text_equal(m->seen[last - 1].text, s->text) ? m->seen[last - 1].alike
                                                                          : i;
}

/* Texts where several are joined, and the total size of all that the row will have. */
static int settle_texts(struct pythia_row_maker *m, size_t *text_bytes)
{
    uint32_t slots[ALIKE_SLOTS] = {0}; /* + 1; 0: none */
    pythia_buf_clear(&m->joined);
    *text_bytes = 0;
    for (size_t i = 0; i < m->seen_count; i++)
        m->places[m->seen[i].key] = 0; /* the marks are for one request */
    for (uint32_t i = 0; i < m->seen_count; i++) {
        struct seen *s = &m->seen[i];
        if (s->texts > 1 && join_row_texts(m, s) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
        s->alike = s->texts == 1 ? find_alike(m, slots, i) : i;
        *text_bytes += s->texts && s->alike == i ? s->text.size : 0;
    }
    return PYTHIA_OK;
}

static int sort_keys(struct pythia_row_maker *m)
{
    if (reserve_order(m, m->seen_count) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < m->seen_count; i++)
        m->order[i] = (uint32_t)i;
    pythia_sort_indexes(m->order, m->seen_count, m->scratch, key_before, m);
    return PYTHIA_OK;
}

/* Number the keys that were found for the first time. */
static int number_new_keys(struct pythia_row_maker *m)
{
    int status = PYTHIA_OK;
    pthread_mutex_lock(&m->shared->lock);
    while (m->number_count < m->keys->count && status == PYTHIA_OK) {
        uint32_t number = find_key_number(m->shared, m->keys->list[m->number_count].pair);
        status = number == PYTHIA_NONE ? PYTHIA_ENOMEM
                                       : pythia_reach(&m->numbers, &m->number_capacity,
                                                      m->number_count, sizeof(*m->numbers));
        if (status == PYTHIA_OK)
            m->numbers[m->number_count++] = number;
    }
    pthread_mutex_unlock(&m->shared->lock);
    return status;
}

/* Replace the maker's own numbers of keys by those that all makers use. The lock is rarely taken:
 * requests have the keys of those before them. */
static int number_seen(struct pythia_row_maker *m)
{
    if (!m->shared)
        return PYTHIA_OK;
    if (m->number_count < m->keys->count && number_new_keys(m) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < m->seen_count; i++)
        m->seen[i].key = m->numbers[m->seen[i].key];
    return PYTHIA_OK;
}

/* The seen keys, in order. */
static int gather_all(struct pythia_row_maker *m, const struct pythia_trace *trace,
                      const struct pythia_critical_path *path, size_t *text_bytes)
{
    int status = gather_row_values(m, trace, path);
    int settled = settle_texts(m, text_bytes); /* also unmarks, so always */
    clear_extras(m);
    if (status == PYTHIA_OK && settled == PYTHIA_OK && number_seen(m) == PYTHIA_OK &&
        sort_keys(m) == PYTHIA_OK)
        return PYTHIA_OK;
    m->joined.failed = 0;
    return PYTHIA_ENOMEM;
}

int pythia_row_values(struct pythia_row_maker *m, const struct pythia_trace *trace,
                      const struct pythia_critical_path *path,
                      const struct pythia_row_value **values, uint32_t *count)
{
    size_t text_bytes;
    if (gather_all(m, trace, path, &text_bytes) != PYTHIA_OK ||
        pythia_reach(&m->values, &m->value_capacity, m->seen_count, sizeof(*m->values)) !=
            PYTHIA_OK)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < m->seen_count; i++)
        m->values[i] = make_row_value(m, &m->seen[m->order[i]]);
    *values = m->values;
    *count = (uint32_t)m->seen_count;
    return PYTHIA_OK;
}

struct pythia_row *pythia_row_make(struct pythia_row_maker *m, const struct pythia_trace *trace,
                                   const struct pythia_critical_path *path,
                                   const struct pythia_shape *shape)
{
    size_t text_bytes;
    if (gather_all(m, trace, path, &text_bytes) != PYTHIA_OK)
        return NULL;
    size_t times = shape->edge_count * sizeof(int64_t),
           values = m->seen_count * sizeof(struct pythia_row_value);
    size_t bytes = sizeof(struct pythia_row) + times + values + text_bytes;
    struct pythia_row *row = pythia__row_pool_take(&m->pool, &bytes);
    if (!row)
        return NULL;
    /* One block for the row, its times, values and texts: a window holds hundreds of thousands
     * of rows, and each is evicted as a whole. A block from the pool is not clear. */
    *row = (struct pythia_row){.bytes = bytes};
    memset(row + 1, 0, times);
    char *room = (char *)(row + 1);
    row->times_ns = (int64_t *)(void *)room;
    row->values = (struct pythia_row_value *)(void *)(room + times);
    row->hash = pythia_hash_mix(trace->id.high, trace->id.low);
    row->weight = trace->weight > 1 ? trace->weight : 1;
    row->trace = trace->id;
    row->start_ns = trace->start_ns;
    row->client_ns = (int64_t)(trace->end_ns - trace->start_ns);
    row->duration_ns = (int64_t)(path->events[path->count - 1].at_ns - path->events[0].at_ns);
    row->shape = shape;
    for (size_t i = 0; i + 1 < path->count; i++)
        row->times_ns[shape->slots[i]] +=
            (int64_t)(path->events[i + 1].at_ns - path->events[i].at_ns);
    fill_values(m, row, room + times + values);
    return row;
}

struct pythia_row *pythia_row_copy(struct pythia_row_maker *m, const struct pythia_row *from,
                                   const struct pythia_shape *shape)
{
    size_t times = shape->edge_count * sizeof(*from->times_ns),
           values = from->value_count * sizeof(*from->values), texts = 0;
    for (uint32_t i = 0; i < from->value_count; i++)
        texts += from->values[i].size == PYTHIA_ROW_NUMBER ? 0 : from->values[i].size;
    /* One block holds the row, its times, its values and their texts. Rows are replaced by the
     * thousand in a cycle, and the pool can hand the block of an evicted row on only as a whole. */
    size_t bytes = sizeof(*from) + times + values + texts;
    struct pythia_row *row = pythia__row_pool_take(&m->pool, &bytes);
    if (!row)
        return NULL;
    *row = *from;
    row->bytes = bytes;
    row->shape = shape;
    row->times_ns = (int64_t *)(void *)(row + 1);
    row->values = (struct pythia_row_value *)(void *)((char *)row->times_ns + times);
    if (times)
        memcpy(row->times_ns, from->times_ns, times);
    if (values)
        memcpy(row->values, from->values, values);
    char *text = (char *)row->values + values;
    for (uint32_t i = 0; i < row->value_count; i++) {
        struct pythia_row_value *v = &row->values[i];
        if (v->size == PYTHIA_ROW_NUMBER)
            continue;
        if (v->size)
            memcpy(text, v->text, v->size);
        v->text = text;
        text += v->size;
    }
    return row;
}

/* What is rounded down is the time from the beginning to the end of each edge, if the path had them
 * one after the other: so errors do not add up, and no time becomes negative. */
void pythia_row_round(struct pythia_row *row)
{
    double most = (double)row->duration_ns * PYTHIA_ROW_PRECISION;
    uint64_t unit = 1, exact = 0, rounded = 0;
    while ((double)(2 * unit) <= most)
        unit *= 2;
    for (uint32_t i = 0; unit > 1 && i < row->shape->edge_count; i++) {
        exact += (uint64_t)row->times_ns[i];
        uint64_t end = i + 1 < row->shape->edge_count ? exact & ~(unit - 1) : exact;
        row->times_ns[i] = (int64_t)(end - rounded);
        rounded = end;
    }
}

void pythia_row_free(struct pythia_row_maker *m, struct pythia_row *row)
{
    if (row)
        pythia__row_pool_give(&m->pool, row, row->bytes);
}

size_t pythia_row_maker_bytes(const struct pythia_row_maker *m)
{
    return pythia__row_pool_bytes(&m->pool);
}
