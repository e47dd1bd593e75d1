#ifndef PYTHIA_ROW_H
#define PYTHIA_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/buf.h"
#include "pythia/critical_path.h"
#include "pythia/shape.h"
#include "pythia/trace.h"

/* Numbers the key-values: an attribute at a trace point, or an attribute of the process
 * (resource) of a service. The same attribute at two trace points is two keys. */
struct pythia_keys;
int pythia_keys_create(const struct pythia_vocabulary *vocabulary, struct pythia_keys **out);
void pythia_keys_destroy(struct pythia_keys *k); /* k may be NULL */
uint32_t pythia_keys_count(const struct pythia_keys *k);

/* The attribute's name, and where it was: the id of the trace point or the name of the service.
 * Borrowed from the vocabulary. */
struct pythia_text pythia_keys_attribute(const struct pythia_keys *k, uint32_t key);
struct pythia_text pythia_keys_origin(const struct pythia_keys *k, uint32_t key);
/* The number of that trace point; PYTHIA_NONE for the process of a service. */
uint32_t pythia_keys_tracepoint(const struct pythia_keys *k, uint32_t key);

/* The number of the key of an attribute (number of a string) at a trace point, or in the processes
 * of a service (number of a string), made if it is new; PYTHIA_NONE when out of memory. O(1). */
uint32_t pythia_keys_at_point(struct pythia_keys *k, uint32_t tracepoint, uint32_t attribute);
uint32_t pythia_keys_of_service(struct pythia_keys *k, uint32_t service, uint32_t attribute);

#define PYTHIA_ROW_NUMBER UINT32_MAX

struct pythia_row_value {
    uint32_t key;
    uint32_t size; /* of the text; PYTHIA_ROW_NUMBER: it is a number */
    union {
        double number;    /* never NaN */
        const char *text; /* owned by the row */
    };
};

/* A value as a number: a number written as text counts as one, many sources know nothing but text.
 * False if it is none. */
bool pythia_row_number(const struct pythia_row_value *value, double *out);

/* The value of a key among `count` in rising order of key; NULL if it is not there. O(log count).
 */
const struct pythia_row_value *pythia_row_find(const struct pythia_row_value *values,
                                               uint32_t count, uint32_t key);

/* One request as statistics see it. Immutable once it is in a finished sample, in one block of
 * memory. */
struct pythia_row {
    uint64_t hash; /* of the trace id: decides whether it is in a sample, and the order of rows */
    double weight; /* requests that it stands for, at least 1 */
    struct pythia_trace_id trace;
    uint64_t start_ns;
    int64_t duration_ns, client_ns;   /* of its critical path; of its roots alone */
    const struct pythia_shape *shape; /* borrowed */
    void *holder;                     /* of the shape: for whoever made the row */
    size_t bytes;                     /* of the block, for whoever frees it */
    uint64_t parent; /* the group of the skeleton that it belongs to (lineage.h); 0: not known */
    uint32_t value_count;
    struct pythia_row_value *values; /* in rising order of key, each key once */
    int64_t *times_ns; /* [shape->edge_count]: time on each edge, over all its repeats; they add up
                          to the duration */
};

/* The key of a row in a sample (sample.h): the hash, by the weight. The rows with the lowest keys
 * are there with a probability that is proportional to their weight, as long as that is below 1: a
 * row of the sample stands for as many requests as its weight says, but for at least 2^64 by the
 * highest key if there were more rows than it can hold. N. Duffield, C. Lund and M. Thorup,
 * "Priority Sampling for Estimation of Arbitrary Subset Sums", Journal of the ACM 54(6), 2007. */
static inline uint64_t pythia_row_key(uint64_t hash, double weight)
{
    return weight > 1 ? (uint64_t)((double)hash / weight) : hash;
}

/* Makes rows, with memory it keeps; one thread at a time. */
struct pythia_row_maker;
int pythia_row_maker_create(const struct pythia_vocabulary *vocabulary, struct pythia_keys *keys,
                            struct pythia_row_maker **out);
void pythia_row_maker_destroy(struct pythia_row_maker *m); /* m may be NULL */

/* Other makers, in other threads, number the same keys from now on, as this one does: call it for
 * each of them, before its first row. The keys are not to be read until all rows are made.
 * PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_row_maker_beside(struct pythia_row_maker *m);

/* Give `to` the memory of the rows of `from`, which go back to `to` from now on; `from` makes no
 * more rows. */
void pythia_row_maker_join(struct pythia_row_maker *to, struct pythia_row_maker *from);

/* The row of a request: its times by edge, and the key-values of every span on its path, but for
 * how it was sampled, which says nothing of the request. Numbers that a key has several of (spans
 * that repeat) are averaged; different texts stand beside each other, in order, with "|" between.
 * NULL when out of memory. O(events + key-values on the path). */
struct pythia_row *pythia_row_make(struct pythia_row_maker *m, const struct pythia_trace *trace,
                                   const struct pythia_critical_path *path,
                                   const struct pythia_shape *shape);

/* A row with the content of another one, whose values and times may lie anywhere, and that shape.
 * NULL when out of memory. O(size). */
struct pythia_row *pythia_row_copy(struct pythia_row_maker *m, const struct pythia_row *from,
                                   const struct pythia_shape *shape);

/* Round the times on edges to PYTHIA_ROW_PRECISION of the duration: each changes by less than that,
 * they still add up to the duration, and all but the last are multiples of a power of two. To round
 * a row twice is to round it once. O(edges). */
#define PYTHIA_ROW_PRECISION 0x1p-16
void pythia_row_round(struct pythia_row *row);

/* Give a row of that maker back, whose memory the next one takes: every row, before the maker is
 * destroyed. row may be NULL. O(1). */
void pythia_row_free(struct pythia_row_maker *m, struct pythia_row *row);

/* The memory held for existing and future rows. O(1). */
size_t pythia_row_maker_bytes(const struct pythia_row_maker *m);

/* From now on only the key-values of these attributes (numbers of strings, copied) count.
 * PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_row_maker_only(struct pythia_row_maker *m, const uint32_t *attributes, size_t count);

/* The key-values that the row of a request would have, without the row: *count of them at *values,
 * borrowed from the maker and the trace until the next call. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_row_values(struct pythia_row_maker *m, const struct pythia_trace *trace,
                      const struct pythia_critical_path *path,
                      const struct pythia_row_value **values, uint32_t *count);

/* Cut what was joined in `b` from byte `from` on to the length that the text of a value may have at
 * most, and append a hash of all that was joined. */
#define PYTHIA_ROW_TEXT_MAX 240
void pythia_row_cut(struct pythia_buf *b, size_t from, uint64_t hash);

#endif
