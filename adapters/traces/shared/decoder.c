/* Names come again and again in a source: a cache from their bytes to their numbers keeps most of
 * them away from the tables that all threads share. */
#include "decoder.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "pythia/hash.h"
#include "pythia/mem.h"

#define CACHE_BITS_MAX 16
#define CACHE_GROWTH   2 /* bits, each time */
#define CACHE_MISSES   2 /* per entry: so many, and the cache is too small for the names */

void pythia__decoder_init(struct pythia__decoder *d, const struct pythia_adapter_ops *ops,
                          struct pythia_vocabulary *vocabulary)
{
    d->adapter.ops = ops;
    d->vocabulary = vocabulary;
    d->points = d->first_points;
    d->keys = d->first_keys;
    d->point_bits = d->key_bits = PYTHIA__CACHE_BITS;
}

void pythia__decoder_free(struct pythia__decoder *d)
{
    pythia_buf_free(&d->attributes);
    pythia_buf_free(&d->others);
    pythia_redaction_work_free(&d->work);
    pythia_buf_free(&d->name);
    if (d->points != d->first_points)
        pythia_free(d->points);
    if (d->keys != d->first_keys)
        pythia_free(d->keys);
}

void pythia__decoder_begin(struct pythia__decoder *d, struct pythia_sink *to)
{
    d->to = to;
    d->stopped = 0;
    d->broken = 0;
    d->attributes.failed = d->others.failed = d->name.failed = 0;
    if (d->redaction != to->redaction)
        memset(d->keys, 0, sizeof(*d->keys) << d->key_bits);
    d->redaction = to->redaction;
    d->ruled = false;
    d->value_max = to->limits.value_max ? to->limits.value_max : PYTHIA_VALUE_BYTES;
    pythia__span_begin(d);
}

void pythia__tell(struct pythia__decoder *d, const struct pythia_error *why)
{
    d->to->counts->dropped[PYTHIA_DROP_BROKEN_RECORD]++;
    d->to->broken(d->to, why);
    if (d->to->broken_max && ++d->broken > d->to->broken_max)
        d->stopped = PYTHIA_ELIMIT;
}

bool pythia__goes_on(const struct pythia__decoder *d, int status)
{
    return status != PYTHIA_ENOMEM && d->stopped >= 0;
}

/* ---- names ---- */

/* Note how values of a new key are redacted. A full vocabulary knows a new key by a common name:
 * then its values may be anything, and are at least hashed. */
static bool is_ruled(struct pythia__decoder *d, uint32_t key, struct pythia_text text)
{
    enum pythia_redact by = pythia_redaction_of_name(d->redaction, text);
    if (pythia_vocabulary_is_other(d->vocabulary, key) && by < PYTHIA_REDACT_HASH)
        by = PYTHIA_REDACT_HASH;
    pythia_redaction_note(d->redaction, key, by);
    return pythia_redaction_of(d->redaction, key) != PYTHIA_REDACT_KEEP;
}

/* Is a cache too small? Ten thousand request types have more names than 1024 entries hold, and a
 * name that is not in the cache is hashed and compared as text, a trace point under a lock. Counts
 * an entry that is displaced. */
static bool is_too_small(unsigned bits, uint32_t *misses)
{
    return bits < CACHE_BITS_MAX && ++*misses >> bits >= CACHE_MISSES;
}

/* Without memory the cache stays as it is. */
static void grow_keys(struct pythia__decoder *d)
{
    struct pythia__key_entry *old = d->keys;
    size_t count = (size_t)1 << d->key_bits;
    struct pythia__key_entry *keys = pythia_calloc(count << CACHE_GROWTH, sizeof(*keys));
    d->key_misses = 0;
    if (!keys)
        return;
    d->keys = keys;
    d->key_bits += CACHE_GROWTH;
    d->last = 0;
    for (size_t i = 0; i < count; i++)
        if (old[i].bytes) {
            struct pythia__key_entry *entry =
                pythia__key_entry(d, (struct pythia_text){old[i].bytes, old[i].size});
            *entry = old[i];
            entry->after = 0;
        }
    if (old != d->first_keys)
        pythia_free(old);
}

static void keep_key(struct pythia__decoder *d, const struct pythia__key_entry *kept)
{
    const struct pythia_text text = {kept->bytes, kept->size};
    if (pythia__key_entry(d, text)->bytes && is_too_small(d->key_bits, &d->key_misses))
        grow_keys(d);
    *pythia__key_entry(d, text) = *kept;
}

uint32_t pythia__key(struct pythia__decoder *d, struct pythia_text text)
{
    uint32_t key = pythia__key_seen(d, text);
    if (key != PYTHIA_NONE)
        return key;
    key = pythia_vocabulary_string(d->vocabulary, text);
    if (key == PYTHIA_NONE)
        return key;
    struct pythia_text known = pythia_vocabulary_text(d->vocabulary, key);
    bool ruled = d->redaction && is_ruled(d, key, text);
    if (pythia_text_equal(known, text)) /* or it is known by another name, which may be many's */
        keep_key(d, &(struct pythia__key_entry){.bytes = known.bytes,
                                                .size = (uint32_t)known.size,
                                                .number = key & INT32_MAX,
                                                .ruled = ruled});
    d->ruled |= ruled;
    return key;
}

/* Cut a name that is too long. The hash of the whole name distinguishes it from other names with
 * the same beginning; redaction rules apply to the whole name. */
static uint32_t cut_key(struct pythia__decoder *d, struct pythia_buf *name)
{
    uint64_t hash = pythia_hash_bytes(name->bytes, name->size);
    enum pythia_redact by = d->redaction
                                ? pythia_redaction_of_name(d->redaction, pythia_buf_text(name))
                                : PYTHIA_REDACT_KEEP;
    name->size = PYTHIA__NAME_MAX;
    pythia_buf_printf(name, "...#%016" PRIx64, hash);
    uint32_t key = pythia__key(d, pythia_buf_text(name));
    if (by != PYTHIA_REDACT_KEEP && key != PYTHIA_NONE) {
        pythia_redaction_note(d->redaction, key, by);
        d->ruled = true;
    }
    return key;
}

uint32_t pythia__key_below(struct pythia__decoder *d, struct pythia_text prefix,
                           struct pythia_text text)
{
    if (prefix.size == 0)
        return pythia__key(d, text);
    struct pythia_buf *name = &d->name;
    pythia_buf_clear(name);
    pythia_buf_text_add(name, prefix);
    pythia_buf_putc(name, '.');
    pythia_buf_text_add(name, text);
    if (pythia_buf_status(name) != PYTHIA_OK)
        return PYTHIA_NONE;
    return name->size > PYTHIA__NAME_MAX ? cut_key(d, name) : pythia__key(d, pythia_buf_text(name));
}

/* The arguments are as an entry holds them: 0 is an empty entry, so that numbers begin at 1. */
static struct pythia__tracepoint_entry *point_entry(const struct pythia__decoder *d,
                                                    uint32_t service, uint32_t scope, uint32_t name)
{
    uint64_t hash = pythia_hash_mix(pythia_hash_mix(service, scope), name);
    return &d->points[hash & (((uint64_t)1 << d->point_bits) - 1)];
}

/* Without memory the cache stays as it is. */
static void grow_points(struct pythia__decoder *d)
{
    struct pythia__tracepoint_entry *old = d->points;
    size_t count = (size_t)1 << d->point_bits;
    struct pythia__tracepoint_entry *points = pythia_calloc(count << CACHE_GROWTH, sizeof(*points));
    d->point_misses = 0;
    if (!points)
        return;
    d->points = points;
    d->point_bits += CACHE_GROWTH;
    for (size_t i = 0; i < count; i++)
        if (old[i].name)
            *point_entry(d, old[i].service, old[i].scope, old[i].name) = old[i];
    if (old != d->first_points)
        pythia_free(old);
}

uint32_t pythia__tracepoint(struct pythia__decoder *d, uint32_t service, uint32_t scope,
                            uint32_t name)
{
    const struct pythia__tracepoint_entry *entry = point_entry(d, service + 1, scope + 1, name + 1);
    if (entry->service == service + 1 && entry->scope == scope + 1 && entry->name == name + 1)
        return entry->tracepoint;
    uint32_t tracepoint = pythia_vocabulary_tracepoint(d->vocabulary, service, scope, name);
    if (tracepoint == PYTHIA_NONE ||
        pythia_vocabulary_is_other(
            d->vocabulary, pythia_vocabulary_tracepoint_at(d->vocabulary, tracepoint)->name))
        return tracepoint;
    if (entry->name && is_too_small(d->point_bits, &d->point_misses))
        grow_points(d);
    *point_entry(d, service + 1, scope + 1, name + 1) =
        (struct pythia__tracepoint_entry){service + 1, scope + 1, name + 1, tracepoint};
    return tracepoint;
}

/* ---- key-values ---- */

void pythia__add_long_text(struct pythia__decoder *d, uint32_t key, struct pythia_text text)
{
    char cut[PYTHIA_VALUE_MAX + 24];
    d->to->counts->long_values++;
    size_t size = d->value_max - 20;
    while (size > 0 && ((unsigned char)text.bytes[size] & 0xC0) == 0x80)
        size--; /* not in the middle of a character */
    memcpy(cut, text.bytes, size);
    int more = snprintf(cut + size, sizeof(cut) - size, "...#%016" PRIx64,
                        pythia_hash_bytes(text.bytes, text.size));
    pythia_attributes_text(&d->attributes, key, (struct pythia_text){cut, size + (size_t)more});
}

/* ---- spans ---- */

static void swap_attributes(struct pythia__decoder *d)
{
    struct pythia_buf attributes = d->attributes;
    d->attributes = d->others;
    d->others = attributes;
}

bool pythia__event_begin(struct pythia__decoder *d)
{
    size_t max = d->to->limits.events_max;
    bool fits = max == 0 || d->events < max;
    swap_attributes(d);
    if (fits)
        d->events++;
    else
        d->to->counts->dropped[PYTHIA_DROP_EVENT]++;
    return fits;
}

void pythia__event_end(struct pythia__decoder *d)
{
    swap_attributes(d);
}

bool pythia__link(struct pythia__decoder *d)
{
    size_t max = d->to->limits.links_max;
    if (max == 0 || d->links < max) {
        d->links++;
        return true;
    }
    d->to->counts->dropped[PYTHIA_DROP_LINK]++;
    return false;
}

/* Leave out the key-values after the first `max`. */
static void limit_attributes(struct pythia__decoder *d, struct pythia_buf *attributes, size_t max)
{
    struct pythia_text kept = pythia_buf_text(attributes);
    d->to->counts->dropped[PYTHIA_DROP_ATTRIBUTE] += pythia_attributes_limit(&kept, max);
    attributes->size = kept.size;
}

void pythia__limit_attributes(struct pythia__decoder *d, size_t max)
{
    limit_attributes(d, &d->attributes, max);
}

int pythia__cost(struct pythia__decoder *d, uint32_t tracepoint, uint64_t ns)
{
    int status = ns == PYTHIA_COST_EXPECTED
                     ? pythia_vocabulary_cost_expect(d->vocabulary, tracepoint)
                     : pythia_vocabulary_cost_add(d->vocabulary, tracepoint, ns);
    if (status != PYTHIA_OK)
        return status;
    if (d->to->cost)
        d->to->cost(d->to, tracepoint, ns);
    return PYTHIA_OK;
}

static int redact_span(struct pythia__decoder *d)
{
    d->ruled = false;
    return pythia_redaction_apply(d->redaction, &d->attributes, &d->work, d->to->counts);
}

static inline bool needs_redaction(const struct pythia__decoder *d)
{
    return d->redaction && (d->ruled || !d->marks);
}

int pythia__redact(struct pythia__decoder *d)
{
    return needs_redaction(d) ? redact_span(d) : PYTHIA_OK;
}

int pythia__complete_resource(struct pythia__decoder *d)
{
    if (pythia_buf_status(&d->attributes) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    if (d->to->limits.attributes_max > 0)
        limit_attributes(d, &d->attributes, d->to->limits.attributes_max);
    return pythia__redact(d);
}

/* Append the attributes of events to those of the span, which come first so that a limit drops the
 * events' attributes before the span's own. */
static int append_event_attributes(struct pythia__decoder *d)
{
    size_t max = d->to->limits.attributes_max;
    if (max > 0)
        limit_attributes(d, &d->others, max + d->events); /* a key-value is the event itself */
    pythia_buf_text_add(&d->attributes, pythia_buf_text(&d->others));
    pythia_buf_clear(&d->others);
    return pythia_buf_status(&d->attributes);
}

static inline int complete_attributes(struct pythia__decoder *d)
{
    size_t max = d->to->limits.attributes_max;
    if (d->attributes.failed || d->others.failed) {
        d->attributes.failed = d->others.failed = 0;
        return PYTHIA_ENOMEM;
    }
    if (max > 0 && d->attributes.size > 2 * max) /* few have so many: they are not even counted */
        limit_attributes(d, &d->attributes, max);
    int status = d->others.size > 0 ? append_event_attributes(d) : PYTHIA_OK;
    d->events = d->links = 0;
    if (status != PYTHIA_OK)
        return status;
    return needs_redaction(d) ? redact_span(d) : PYTHIA_OK;
}

int pythia__complete(struct pythia__decoder *d)
{
    return complete_attributes(d);
}

int pythia__emit(struct pythia__decoder *d, const struct pythia_trace_id *trace,
                 struct pythia_span *span)
{
    int status = complete_attributes(d);
    if (status != PYTHIA_OK)
        return status;
    return pythia__emit_complete(d, trace, span);
}

int pythia__emit_complete(struct pythia__decoder *d, const struct pythia_trace_id *trace,
                          struct pythia_span *span)
{
    if (pythia_buf_status(&d->attributes) != PYTHIA_OK) {
        d->attributes.failed = 0;
        return PYTHIA_ENOMEM;
    }
    span->attributes = pythia_buf_text(&d->attributes);
    int status = d->to->span(d->to, trace, span);
    if (status < 0)
        d->stopped = status;
    return status;
}

static uint64_t separate_id(uint64_t id, uint64_t trace)
{
    if (id != trace)
        return id;
    id = pythia_hash_mix(id, 1);
    return id ? id : 1;
}

void pythia__set_apart(const struct pythia_trace_id *trace, struct pythia_span *span)
{
    uint64_t folded = pythia_span_id_fold(trace->high, trace->low);
    span->id = separate_id(span->id, folded);
    span->parent = separate_id(span->parent, folded); /* 0 stays: no folded id is 0 */
}
