/* Findings are sentences that hold names from traces. A form that sets names apart cuts them out.
 */
#ifndef PYTHIA_REPORT_SENTENCE_H
#define PYTHIA_REPORT_SENTENCE_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "pythia/buf.h"

#define PYTHIA__SENTENCE_NAMES 64

/* The names that sentences about a group, a type or a suggestion can hold; all borrowed. */
struct pythia__names {
    const char *names[PYTHIA__SENTENCE_NAMES];
    size_t count;
};

/* Collect the names that are in `of`: a group, a verdict, a type or a suggestion. */
void pythia__names_of(struct pythia__names *names, const json_t *of);

/* The size of the next piece of a sentence: a name where *is_name is set, else what comes before
 * the next name. `begin` is the first character of the whole; 0 at the end. */
size_t pythia__sentence_piece(const struct pythia__names *names, const char *begin, const char *at,
                              bool *is_name);

/* The edge that has the largest share, whatever they are ranked by; NULL if there is none. */
const json_t *pythia__largest_edge(const json_t *group);

/* What a key is: its name, or for a key that counts visits ("count:<trace point>") or asks for them
 * ("has:<trace point>") the trace point and words to stand before it. */
const char *pythia__key_name(const json_t *explanation, const char **before);

#endif
