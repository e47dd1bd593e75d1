#ifndef PYTHIA_JSON_H
#define PYTHIA_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/arena.h"
#include "pythia/error.h"
#include "pythia/source.h"
#include "pythia/status.h"
#include "pythia/text.h"

/* A cursor over JSON text of any size: one document, documents one after the other (with or
 * without white space or newlines between them), read through a window that holds no more than the
 * current value. simdjson finds the structure; the cursor walks it, forward only:
 *
 *     while ((status = pythia_json_document(j)) == 0)
 *         if (pythia_json_object(j) == 0)
 *             while (pythia_json_field(j, &key) == 0)
 *                 …read or skip the value…
 *
 * Functions return PYTHIA_OK, 1 at the end of what they iterate over, or a negative status with
 * the reason and the place in j->error; after an error call pythia_json_recover. Whoever is at a
 * value must read, enter or skip it before going on. Depth costs nothing: there is no recursion.
 * One thread at a time. */
struct pythia_json {
    struct pythia_error error;
    bool source_failed; /* the error is that of the source: nothing more can be read */

    uint64_t repaired; /* strings in which U+FFFD stands for what is no character, or for U+0000 */

    /* The rest is the cursor's own. */
    const char *window;        /* the text in memory */
    const uint32_t *at, *last; /* offsets of structure in the window: next, past the last */
    const char *plain_begin, *plain_end; /* no backslash is in this part of the window */
    bool opened;                         /* just inside { or [: no comma is due */
    bool dirty;                          /* some text in the window is not UTF-8 */
    struct pythia__json_input *input;
};

/* Load the parser, as pythia_json_create does the first time: it ends the process if there is no
 * memory for it, which a daemon prefers at its start. PYTHIA_OK, PYTHIA_ENOMEM, or PYTHIA_EIO if
 * there is no such library, which is logged. */
int pythia_json_load(void);

/* Begin to read `from` (borrowed). A single value, or a piece of text without an end, may have up
 * to `limit` bytes (0: 64 MiB). On success *out is owned. Returns PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_json_create(struct pythia_source *from, size_t limit, struct pythia_json **out);
void pythia_json_destroy(struct pythia_json *j); /* j may be NULL */

/* Go to the next document: 0, 1 at the end of the input, or negative. */
int pythia_json_document(struct pythia_json *j);

/* After an error: forget it and go on after the document that failed, at the next line that
 * begins with { or [. Lines that were passed over are not read. PYTHIA_OK also when nothing is
 * left; negative only if reading itself fails. */
int pythia_json_recover(struct pythia_json *j);

/* Make sure that the whole value at hand, a record, is in the window: all text handed out while it
 * is read then stays valid until it has been passed; text handed out before is not valid any more.
 * PYTHIA_ELIMIT if it is larger than the limit. If it fails, the cursor stays where it is: whoever
 * clears the error can still read the value piece by piece. */
int pythia_json_whole(struct pythia_json *j);

/* For a value that pythia_json_whole has just accepted: read it twice. _mark remembers where it
 * begins; _again goes back there, as long as nothing after the value has been read. */
const uint32_t *pythia_json_mark(const struct pythia_json *j);
void pythia_json_again(struct pythia_json *j, const uint32_t *mark);

/* Record an error and return `status`: at the current value; at the scalar that was read last, if
 * nothing was read or passed since; at a value that _mark has marked and that is still in the
 * window. */
int pythia_json_fail(struct pythia_json *j, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int pythia_json_fail_last(struct pythia_json *j, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int pythia_json_fail_at(struct pythia_json *j, const uint32_t *mark, int status, const char *format,
                        ...) __attribute__((format(printf, 4, 5)));

/* The first byte of the current value: { [ " t f n - or a digit; 0 at the end of the input;
 * negative on error. What is neither of those is an error too. */
int pythia_json_peek(struct pythia_json *j);

int pythia_json_object(struct pythia_json *j); /* enter { */
int pythia_json_array(struct pythia_json *j);  /* enter [ */

/* The next field of the object that was entered last: 0 with its key and the cursor at its value,
 * or 1 and the object is behind. The key is borrowed as pythia_json_string's text is. */
int pythia_json_field(struct pythia_json *j, struct pythia_text *key);

/* The next element of the array that was entered last: 0 with the cursor at it, or 1 and the array
 * is behind. */
int pythia_json_element(struct pythia_json *j);

/* A step of a loop over an object, or an array, that ends at the first failure, also one of its
 * body:
 *
 *     int status = pythia_json_object(j);
 *     while (pythia_json_next_field(j, &key, &status))
 *         status = …read or skip the value…;
 *     return status;
 *
 * True with the cursor at a value. False with PYTHIA_OK in *status at the end, and with what failed
 * otherwise. On entry 1 in *status also stands for the end. */
static inline bool pythia_json_next_field(struct pythia_json *j, struct pythia_text *key,
                                          int *status)
{
    if (*status == PYTHIA_OK && (*status = pythia_json_field(j, key)) == 0)
        return true;
    *status = *status == 1 ? PYTHIA_OK : *status;
    return false;
}

static inline bool pythia_json_next_element(struct pythia_json *j, int *status)
{
    if (*status == PYTHIA_OK && (*status = pythia_json_element(j)) == 0)
        return true;
    *status = *status == 1 ? PYTHIA_OK : *status;
    return false;
}

/* Look at the first key of the current object without entering it: 0 with the raw text between its
 * quotes (borrowed for the next call), 1 if there is none: it is empty, or no object. */
int pythia_json_first_key(struct pythia_json *j, struct pythia_text *key);

/* Pass over the current value, whatever it is. */
int pythia_json_skip(struct pythia_json *j);

/* The kind of a scalar. Numbers without fraction and exponent that fit are INTEGER; others REAL. */
enum pythia_json_kind {
    PYTHIA_JSON_NULL,
    PYTHIA_JSON_BOOL,
    PYTHIA_JSON_INTEGER,
    PYTHIA_JSON_REAL,
    PYTHIA_JSON_STRING,
    PYTHIA_JSON_OBJECT, /* not read: enter or skip it */
    PYTHIA_JSON_ARRAY,  /* not read either */
};

struct pythia_json_value {
    enum pythia_json_kind kind;
    struct pythia_text text; /* of a STRING; of a number: as it was written */
    int64_t integer;         /* of INTEGER and BOOL */
    double real;             /* of INTEGER and REAL */
};

/* Read the current value if it is a scalar, or say that it is not. A number that no double can
 * hold is an error (PYTHIA_EFORMAT). Text is borrowed: valid until the cursor reads on from its
 * source (see _whole). */
int pythia_json_value(struct pythia_json *j, struct pythia_json_value *out);

/* The current value as a string; any other kind is PYTHIA_EFORMAT "expected a string". */
int pythia_json_string(struct pythia_json *j, struct pythia_text *out);

/* The current value as a number from a number or from a string that holds one, as JSON encodings
 * of 64-bit integers do. Out of range or not a whole number: PYTHIA_EFORMAT. */
int pythia_json_uint64(struct pythia_json *j, uint64_t *out);
int pythia_json_int64(struct pythia_json *j, int64_t *out);

/* A scalar as it is written: a string, without its quotes, or a number or word. */
struct pythia_json_scalar {
    struct pythia_text text;
    bool quoted;
};

/* Pass over the current value if it has exactly this shape, all of it is in the window and no
 * string in it has escapes: the fast way through what is nearly always written alike. In `shape`,
 * which has no blanks, structure and strings stand for themselves and $ for a scalar; the scalars
 * go to `out`, in order: {"key":$,"value":{$:$}}. False if it is anything else: the cursor stays
 * where it is. */
bool pythia_json_match(struct pythia_json *j, const char *shape, struct pythia_json_scalar *out);

/* The value of a text that is a JSON number: false if it is not one, or one that no double can
 * hold. `out` gets kind, text, integer and real as from pythia_json_value. */
bool pythia_json_number(struct pythia_text text, struct pythia_json_value *out);

/* The whole number that a text is, as JSON writes one: without zeros in front, in 64 bits. */
bool pythia_json_whole_number(struct pythia_text text, int64_t *out);

#endif
