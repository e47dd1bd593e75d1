/* The text that a search and its verdicts are saved as: search_save.c says how it is written. */
#ifndef PYTHIA_SEARCH_TEXT_H
#define PYTHIA_SEARCH_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/buf.h"
#include "pythia/place.h"
#include "pythia/text.h"
#include "pythia/vocabulary.h"

struct pythia_search;

/* Append a value; the table of trace points, which has to be the first. */
void pythia__saved_put_number(struct pythia_buf *out, uint64_t value);
void pythia__saved_put_double(struct pythia_buf *out, double value);
void pythia__saved_put_text(struct pythia_buf *out, struct pythia_text text);
void pythia__saved_put_finding(struct pythia_buf *out, const struct pythia_finding *f);
void pythia__saved_put_points(const struct pythia_vocabulary *v, uint32_t points,
                              struct pythia_buf *out);

/* What is being read; it is text from elsewhere. After a failure nothing is left, and all values
 * are 0 or empty. */
struct pythia__saved {
    struct pythia_search *s; /* NULL: it is not one that is read */
    struct pythia_vocabulary *vocabulary;
    struct pythia_text left;
    uint32_t *points; /* owned: by number in the text */
    uint64_t point_count;
    int status; /* the first failure */
};

/* Read what begins so, and the table of trace points. Note a failure. */
void pythia__saved_begin(struct pythia__saved *r, struct pythia_text format);
void pythia__saved_fail(struct pythia__saved *r, int status);

/* Read a value: a number that is at most `most`; how many values follow, which is no more than
 * there may be; a text, sound UTF-8; the same as number of a string. */
uint64_t pythia__saved_number(struct pythia__saved *r, uint64_t most);
size_t pythia__saved_count(struct pythia__saved *r);
double pythia__saved_double(struct pythia__saved *r);
struct pythia_text pythia__saved_text(struct pythia__saved *r);
uint32_t pythia__saved_string(struct pythia__saved *r);
struct pythia_finding pythia__saved_finding(struct pythia__saved *r);

#endif
