/* Shared by the decoders of JSON formats: a cursor over documents, records and values. */
#ifndef PYTHIA_TRACES_JSON_DECODER_H
#define PYTHIA_TRACES_JSON_DECODER_H

#include "decoder.h"
#include "pythia/json.h"

/* Run `document` on each document of a source; what cannot be read is reported to the sink. The
 * ops' decode. */
int pythia__decode(struct pythia__decoder *d, struct pythia_source *from, struct pythia_sink *to,
                   int (*document)(struct pythia__decoder *d), struct pythia_error *e);

/* Read the current value as one record: all of it is in the window meanwhile. If `read` fails, the
 * record is reported to the sink and passed over. Returns PYTHIA_OK, or negative when the document
 * cannot go on. */
int pythia__record(struct pythia__decoder *d, int (*read)(struct pythia__decoder *d, void *context),
                   void *context);

/* The current record is unfit: an error at its beginning. Returns PYTHIA_EFORMAT. */
int pythia__unfit(struct pythia__decoder *d, const char *sentence);

/* Count and report the error of the cursor: for a function that finds a record unreadable without
 * being inside pythia__record. */
void pythia__broken(struct pythia__decoder *d);

/* Enter the object, or the array, at hand; 1 if null stands in its place, which means the same as
 * an empty one. */
int pythia__enter_object(struct pythia__decoder *d);
int pythia__enter_array(struct pythia__decoder *d);

/* Read a document that is an object, or an array of objects, each by `object`; what else is there
 * is passed over and counted as not a trace. */
int pythia__read_objects(struct pythia__decoder *d, int (*object)(struct pythia__decoder *d));

/* Is the current value an object, or an array? Else it is passed over and counted as not a trace:
 * 0. Negative on error. */
int pythia__is(struct pythia__decoder *d, char bracket);

/* Append the current scalar to a text of several, with a comma between; what is no scalar is
 * passed over. */
int pythia__join_scalar(struct pythia__decoder *d, struct pythia_buf *joined);

/* Append the current value, whatever it is, under the key `name`: objects as one key-value a
 * member ("name.member"), arrays as the texts of their scalars with commas between. */
int pythia__add_value(struct pythia__decoder *d, struct pythia_text name);

/* Read the next value as pythia_json_value does, and pass over it if it is an object or an array.
 */
int pythia__read_scalar(struct pythia__decoder *d, struct pythia_json_value *out);

/* Read the next value as text: a string, or a number as it is written; anything else is passed over
 * and counts as empty. */
int pythia__read_text(struct pythia__decoder *d, struct pythia_text *out);

/* Read the next value, a string, and intern it as pythia__key_below does. _any takes what
 * pythia__read_text takes. */
int pythia__read_key(struct pythia__decoder *d, struct pythia_text prefix, uint32_t *out);
int pythia__read_any_key(struct pythia__decoder *d, uint32_t *out);

/* Whole numbers of `unit_ns` nanoseconds, which have just been read, as nanoseconds;
 * PYTHIA_EFORMAT if they are out of range. */
int pythia__time(struct pythia__decoder *d, uint64_t number, uint64_t unit_ns, uint64_t *out);

/* The current value, microseconds as a number or as a string of one, with or without a fraction,
 * as nanoseconds. A time is not negative, a duration may be. PYTHIA_EFORMAT if they are out of
 * range. */
int pythia__read_time_us(struct pythia__decoder *d, uint64_t *out_ns);
int pythia__read_duration_us(struct pythia__decoder *d, int64_t *out_ns);

/* The outline of a piece of JSON (adapter.h) into `out`. Stops without complaint where the piece
 * ends. */
void pythia__outline(struct pythia_text head, struct pythia_buf *out);

/* Does an outline hold this key at this depth? */
bool pythia__outlined(struct pythia_text outline, int depth, const char *key);

#endif
