#ifndef PYTHIA_KEY_VALUE_H
#define PYTHIA_KEY_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/critical_path.h"
#include "pythia/row.h"
#include "pythia/text.h"

/* The value of a key in a request, by the name that reports give the key. */

enum pythia_key_source {
    PYTHIA_KEY_OF_SPANS, /* "<attribute>", wherever it is on the critical path, or
                            "<attribute>@<where>", at one trace point or in the process of one
                            service */
    PYTHIA_KEY_VISITS,   /* "count:<trace point>": how often the critical path passes it */
    PYTHIA_KEY_VISITED,  /* "has:<trace point>": whether it does, and else the value is missing */
};

struct pythia_key_name {
    enum pythia_key_source source;
    struct pythia_text text; /* of the attribute, with its place if that is named; or the id of the
                                trace point */
};

struct pythia_key_value {
    bool present, numeric; /* there is a value; it is a number, or text that says one */
    double number;         /* of a numeric one */
};

/* Finds the values of some keys in one request after the other. One thread at a time. */
struct pythia_key_reader;

/* `names` are copied, but not their texts, which are borrowed like `vocabulary` and `keys`; the
 * keys may become more. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_key_reader_create(const struct pythia_vocabulary *vocabulary,
                             const struct pythia_keys *keys, const struct pythia_key_name *names,
                             size_t count, struct pythia_key_reader **out);
/* Only the rows that have no other keys than these (borrowed, rising) will be read: names are not
 * compared with those of other request types. Before the first row. */
void pythia_key_reader_among(struct pythia_key_reader *r, const uint32_t *keys, size_t count);

void pythia_key_reader_destroy(struct pythia_key_reader *r); /* r may be NULL */

/* The value of names[name] among the key-values of a request, or in its row. Where several places
 * have the attribute, numbers are averaged and different texts stand beside each other, as in rows.
 * PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_key_reader_values(struct pythia_key_reader *r, size_t name,
                             const struct pythia_row_value *values, uint32_t count,
                             struct pythia_key_value *out);
int pythia_key_reader_row(struct pythia_key_reader *r, size_t name, const struct pythia_row *row,
                          struct pythia_key_value *out);

/* The value found last as text, numbers with up to 15 digits; borrowed until the next one.
 * PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_key_reader_text(struct pythia_key_reader *r, struct pythia_text *out);

/* The trace points that the value found last is from, *count of them, borrowed until the next one;
 * *process: it is from a process, too. */
const uint32_t *pythia_key_reader_points(const struct pythia_key_reader *r, size_t *count,
                                         bool *process);

/* The value of a name that counts `visits` to its trace point. */
struct pythia_key_value pythia_key_reader_visits(struct pythia_key_reader *r, size_t name,
                                                 uint32_t visits);

/* The attributes that a name may mean, as numbers of strings: the whole text, and what stands
 * before each "@" in it; owned by the caller (pythia_free), *count of them. NULL when out of
 * memory. */
uint32_t *pythia_key_attributes(struct pythia_vocabulary *vocabulary, struct pythia_text name,
                                size_t *count);

#endif
