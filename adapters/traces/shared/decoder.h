/* Shared by all decoders: names, key-values, emitting spans. */
#ifndef PYTHIA_TRACES_DECODER_H
#define PYTHIA_TRACES_DECODER_H

#include <stdbool.h>

#include "pythia/adapter.h"
#include "pythia/attributes.h"
#include "pythia/redaction.h"
#include "pythia/status.h"

#define PYTHIA__CACHE_BITS 10
#define PYTHIA__CACHE      (1 << PYTHIA__CACHE_BITS) /* entries at first */
#define PYTHIA__ARRAY_MAX  (2 * PYTHIA_VALUE_MAX)    /* bytes of an array as text: then it is cut */
#define PYTHIA__NAME_MAX   200                       /* bytes of a key made of several */
#define PYTHIA__DEPTH_MAX  32                        /* of key-values inside key-values */
#define PYTHIA__TIME_MAX   ((uint64_t)INT64_MAX)     /* nanoseconds: the year 2262 */

struct pythia__tracepoint_entry {
    uint32_t service, scope, name,
        tracepoint; /* numbers + 1 of strings, so that 0 is an empty entry */
};

struct pythia__key_entry {
    const char *bytes; /* of the string, in the vocabulary; NULL: an empty entry */
    uint32_t size;
    uint32_t number : 31;
    uint32_t ruled : 1; /* a key-value of it is not kept as it is */
    uint32_t after;     /* the entry of what came after it last; any, if nothing has */
};

struct pythia__resource_entry {
    uint64_t hash; /* of the texts */
    uint32_t resource;
};

/* Begin a format's state with this. One decoder reads one source at a time. */
struct pythia__decoder {
    struct pythia_adapter adapter;
    struct pythia_vocabulary *vocabulary;
    struct pythia_sink *to;   /* while decoding */
    struct pythia_json *json; /* of a JSON format, while decoding: see json_decoder.h */
    const uint32_t *record;   /* where its record at hand begins (pythia_json_mark) */
    struct pythia_buf
        attributes;           /* of the current span: its own, or, in an event, those of events */
    struct pythia_buf others; /* the others of these two */
    size_t events, links;     /* of the current span, so far */
    size_t value_max;         /* as the sink has it */
    struct pythia_redaction *redaction; /* likewise */
    bool marks; /* all keys of attributes come by the functions below, so that `ruled` is right */
    bool ruled; /* a key has come for which there is a rule */
    struct pythia_redaction_work work;
    struct pythia_buf name; /* scratch */
    int stopped;     /* what the sink answered, if it was negative, or that too much was broken */
    uint64_t broken; /* records of this source, if they have a limit */
    struct pythia__tracepoint_entry *points; /* recent ones, by hash: first_points, or owned */
    struct pythia__key_entry *keys;          /* likewise */
    uint32_t last;                           /* the entry of the last key */
    unsigned point_bits, key_bits;           /* 2^bits entries */
    uint32_t point_misses, key_misses; /* that displaced another entry, since it has its size */
    struct pythia__tracepoint_entry first_points[PYTHIA__CACHE];
    struct pythia__key_entry first_keys[PYTHIA__CACHE];
};

/* Begin a decoder of a format. `ops` and `vocabulary` are borrowed until _free. */
void pythia__decoder_init(struct pythia__decoder *d, const struct pythia_adapter_ops *ops,
                          struct pythia_vocabulary *vocabulary);
/* Free the buffers and caches of a decoder. */
void pythia__decoder_free(struct pythia__decoder *d);

/* Before each source: forget what the last one left behind, also that memory was missing. */
void pythia__decoder_begin(struct pythia__decoder *d, struct pythia_sink *to);

/* Count a record that cannot be read, and report to the sink why. */
void pythia__tell(struct pythia__decoder *d, const struct pythia_error *why);

/* Can the spans that are held still be passed on after a function returned `status`? */
bool pythia__goes_on(const struct pythia__decoder *d, int status);

/* The entry in which a string is if it is in the cache. Its size and its first and last bytes are
 * hash enough. */
static inline struct pythia__key_entry *pythia__key_entry(struct pythia__decoder *d,
                                                          struct pythia_text text)
{
    uint64_t head = 0, tail = 0;
    if (text.size >= 8) {
        memcpy(&head, text.bytes, 8);
        memcpy(&tail, text.bytes + text.size - 8, 8);
    } else if (text.size > 0) {
        head = (unsigned char)text.bytes[0];
        tail = (unsigned char)text.bytes[text.size / 2];
    }
    uint64_t sample =
        (head * UINT64_C(0x9E3779B97F4A7C15)) ^ (tail * UINT64_C(0xC2B2AE3D27D4EB4F)) ^ text.size;
    sample = (sample ^ sample >> 29) * UINT64_C(0x9E3779B97F4A7C15);
    return &d->keys[sample >> (64 - d->key_bits)];
}

/* Are two pieces of memory alike? For some ten bytes, quicker than to call memcmp. */
static inline bool pythia__same(const char *a, const char *b, size_t size)
{
    uint64_t x, y, differ = 0;
    size_t at = 0;
    for (; at + 8 <= size; at += 8) {
        memcpy(&x, a + at, 8);
        memcpy(&y, b + at, 8);
        differ |= x ^ y;
    }
    if (at < size && at > 0) { /* the last bytes once more, with those that are left */
        memcpy(&x, a + size - 8, 8);
        memcpy(&y, b + size - 8, 8);
        return (differ | (x ^ y)) == 0;
    }
    for (; at < size; at++)
        differ |= (unsigned char)(a[at] ^ b[at]);
    return differ == 0;
}

static inline bool pythia__is_entry(const struct pythia__key_entry *entry, struct pythia_text text)
{
    return entry->bytes && entry->size == text.size &&
           pythia__same(entry->bytes, text.bytes, text.size);
}

/* The number of a string that has come lately; PYTHIA_NONE if it is not known here. Spans are
 * alike: what came after the last one before is looked at first, which needs no hash. */
static inline uint32_t pythia__key_seen(struct pythia__decoder *d, struct pythia_text text)
{
    const struct pythia__key_entry *entry = &d->keys[d->keys[d->last].after];
    if (!pythia__is_entry(entry, text)) {
        entry = pythia__key_entry(d, text);
        if (!pythia__is_entry(entry, text))
            return PYTHIA_NONE;
        d->keys[d->last].after = (uint32_t)(entry - d->keys);
    }
    d->last = (uint32_t)(entry - d->keys);
    d->ruled |= entry->ruled;
    return entry->number;
}

/* The number of a key's string, or of any that comes again and again. */
uint32_t pythia__key(struct pythia__decoder *d, struct pythia_text text);
/* The number of the key "<prefix>.<text>"; prefix "" for none. */
uint32_t pythia__key_below(struct pythia__decoder *d, struct pythia_text prefix,
                           struct pythia_text text);

/* The trace point of these strings' numbers (scope 0: none). */
uint32_t pythia__tracepoint(struct pythia__decoder *d, uint32_t service, uint32_t scope,
                            uint32_t name);

/* Append the beginning of a text that exceeds the limit, cut between two characters, with the
 * hash of the whole. It is apart so that the usual case can be inlined. */
void pythia__add_long_text(struct pythia__decoder *d, uint32_t key, struct pythia_text text);

/* Append a text to the attributes. One longer than is kept is cut, and the hash of all of it is put
 * behind: it still differs from any other. */
static inline void pythia__add_text(struct pythia__decoder *d, uint32_t key,
                                    struct pythia_text text)
{
    if (text.size > d->value_max)
        pythia__add_long_text(d, key, text);
    else
        pythia_attributes_text(&d->attributes, key, text);
}

/* A span begins: nothing is collected for it yet. For formats that have events or links. */
static inline void pythia__span_begin(struct pythia__decoder *d)
{
    pythia_buf_clear(&d->attributes);
    pythia_buf_clear(&d->others);
    d->events = d->links = 0;
}

/* One more event of the current span, or link of it: false if it has as many as it may have, and
 * that is counted. What is added until _event_end, which follows in any case, is the event's. */
bool pythia__event_begin(struct pythia__decoder *d);
void pythia__event_end(struct pythia__decoder *d);
bool pythia__link(struct pythia__decoder *d);

/* The measured cost of one hit of a trace point, or PYTHIA_COST_EXPECTED: for the vocabulary and
 * the sink. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__cost(struct pythia__decoder *d, uint32_t tracepoint, uint64_t ns);

/* Keep only the collected attributes that redaction permits. PYTHIA_OK or PYTHIA_ENOMEM. Part of
 * the two below; for those of a span that comes bit by bit. */
int pythia__redact(struct pythia__decoder *d);

/* Keep the first `max` collected attributes, and count the rest as dropped. */
void pythia__limit_attributes(struct pythia__decoder *d, size_t max);

/* The attributes collected are those of a resource, and complete: keep as many as a span may have,
 * and only what may be kept. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__complete_resource(struct pythia__decoder *d);

/* The attributes of the current span are complete: those of its events are put after its own, as
 * many as it may have. PYTHIA_OK or PYTHIA_ENOMEM. Part of _emit and of pythia__hold. */
int pythia__complete(struct pythia__decoder *d);

/* Give a span to the sink, with the attributes collected. Negative: stop. */
int pythia__emit(struct pythia__decoder *d, const struct pythia_trace_id *trace,
                 struct pythia_span *span);

/* As above, with attributes that were complete before. */
int pythia__emit_complete(struct pythia__decoder *d, const struct pythia_trace_id *trace,
                          struct pythia_span *span);

/* For formats whose root may have the id of its trace, as is usual where trace ids have 64 bits:
 * as a parent that id means this span, and not that there is no parent (span.h). Changes the ids
 * of `span` so that they cannot be mistaken. */
void pythia__set_apart(const struct pythia_trace_id *trace, struct pythia_span *span);

#endif
