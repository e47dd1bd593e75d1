/* What the decoders of JSON formats have in common: a cursor over documents and records, names,
 * key-values. */
#ifndef PYTHIA_TRACES_DECODER_H
#define PYTHIA_TRACES_DECODER_H

#include <stdbool.h>

#include "pythia/adapter.h"
#include "pythia/attributes.h"
#include "pythia/json.h"

#define PYTHIA__CACHE     1024 /* entries; a power of two */
#define PYTHIA__TEXT_MAX  160  /* bytes of a key-value's text that are kept, see pythia__add_text */
#define PYTHIA__NAME_MAX  200  /* bytes of a key made of several */
#define PYTHIA__DEPTH_MAX 32   /* of key-values inside key-values */
#define PYTHIA__TIME_MAX  ((uint64_t)INT64_MAX) /* nanoseconds: the year 2262 */

struct pythia__tracepoint_entry {
    uint32_t service, scope, name,
        tracepoint; /* numbers + 1 of strings, so that 0 is an empty entry */
};

struct pythia__resource_entry {
    uint64_t hash; /* of the texts */
    uint32_t resource;
};

/* Begin a format's state with this. One decoder reads one source at a time. */
struct pythia__decoder {
    struct pythia_adapter adapter;
    struct pythia_vocabulary *vocabulary;
    struct pythia_sink *to;       /* while decoding */
    struct pythia_json *json;     /* while decoding */
    const uint32_t *record;       /* where the record at hand begins (pythia_json_mark) */
    struct pythia_buf attributes; /* of the span at hand */
    struct pythia_buf name;       /* scratch */
    int stopped;                  /* what the sink answered, if it was negative */
    struct pythia__tracepoint_entry tracepoints[PYTHIA__CACHE];
    uint32_t keys[PYTHIA__CACHE]; /* numbers of recent keys, by hash */
};

void pythia__decoder_init(struct pythia__decoder *d, const struct pythia_adapter_ops *ops,
                          struct pythia_vocabulary *vocabulary);
void pythia__decoder_free(struct pythia__decoder *d);

/* Run `document` on each document of a source; what cannot be read is told to the sink. The ops'
 * decode. */
int pythia__decode(struct pythia__decoder *d, struct pythia_source *from, struct pythia_sink *to,
                   int (*document)(struct pythia__decoder *d), struct pythia_error *e);

/* Read the value at hand as one record: all of it is in the window meanwhile. If `read` fails, the
 * record is told to the sink and passed over. Returns PYTHIA_OK, or negative when the document
 * cannot go on. */
int pythia__record(struct pythia__decoder *d, int (*read)(struct pythia__decoder *d, void *context),
                   void *context);

/* The record at hand is unfit: an error at its beginning. Returns PYTHIA_EFORMAT. */
int pythia__unfit(struct pythia__decoder *d, const char *sentence);

/* The same for a function that finds a record unreadable without being inside pythia__record. */
void pythia__broken(struct pythia__decoder *d);

/* Can the spans that are held still be given on after a function returned `status`? */
bool pythia__goes_on(const struct pythia__decoder *d, int status);

/* Enter the object, or the array, at hand; 1 if null stands in its place, which means the same as
 * an empty one. */
int pythia__enter_object(struct pythia__decoder *d);
int pythia__enter_array(struct pythia__decoder *d);

/* Read a document that is an object, or an array of objects, each by `object`; what else is there
 * is passed over and counted as not a trace. */
int pythia__read_objects(struct pythia__decoder *d, int (*object)(struct pythia__decoder *d));

/* Is the value at hand an object, or an array? Else it is passed over and counted as not a trace:
 * 0. Negative on error. */
int pythia__is(struct pythia__decoder *d, char bracket);

/* The number of a key's string. */
uint32_t pythia__key(struct pythia__decoder *d, struct pythia_text text);
/* The number of the key "<prefix>.<text>"; prefix "" for none. */
uint32_t pythia__key_below(struct pythia__decoder *d, struct pythia_text prefix,
                           struct pythia_text text);

/* The trace point of these strings' numbers (scope 0: none). */
uint32_t pythia__tracepoint(struct pythia__decoder *d, uint32_t service, uint32_t scope,
                            uint32_t name);

/* Append a text to the attributes. One longer than PYTHIA__TEXT_MAX is cut, and the hash of all of
 * it is put behind: it still differs from any other. */
void pythia__add_text(struct pythia__decoder *d, uint32_t key, struct pythia_text text);

/* Append the scalar at hand to a text of several, with a comma between; what is no scalar is
 * passed over. */
int pythia__join_scalar(struct pythia__decoder *d, struct pythia_buf *joined);

/* Append the value at hand, whatever it is, under the key `name`: objects as one key-value a
 * member ("name.member"), arrays as the texts of their scalars with commas between. */
int pythia__add_value(struct pythia__decoder *d, struct pythia_text name);

/* Give a span to the sink, with the attributes collected. Negative: stop. */
int pythia__emit(struct pythia__decoder *d, const struct pythia_trace_id *trace,
                 struct pythia_span *span);

/* For formats whose root may have the id of its trace, as is usual where trace ids have 64 bits:
 * as a parent that id means this span, and not that there is no parent (span.h). Changes the ids
 * of `span` so that they cannot be mistaken. */
void pythia__set_apart(const struct pythia_trace_id *trace, struct pythia_span *span);

/* The value at hand as text: a string, or a number as it is written; anything else is passed over
 * and counts as empty. */
int pythia__read_text(struct pythia__decoder *d, struct pythia_text *out);

/* Whole numbers of `unit_ns` nanoseconds, which have just been read, as nanoseconds;
 * PYTHIA_EFORMAT if they are out of range. */
int pythia__time(struct pythia__decoder *d, uint64_t number, uint64_t unit_ns, uint64_t *out);

/* The value at hand, microseconds as a number or as a string of one, with or without a fraction,
 * as nanoseconds. A time is not negative, a duration may be. PYTHIA_EFORMAT if they are out of
 * range. */
int pythia__read_time_us(struct pythia__decoder *d, uint64_t *out_ns);
int pythia__read_duration_us(struct pythia__decoder *d, int64_t *out_ns);

/* The keys of a piece of JSON down to the third level, each as "<depth><key>", newline-separated,
 * into `out`: what likeness functions look at. Stops without complaint where the piece ends. */
void pythia__outline(struct pythia_text head, struct pythia_buf *out);

/* Does an outline hold this key at this depth? */
bool pythia__outlined(const struct pythia_buf *outline, int depth, const char *key);

#endif
