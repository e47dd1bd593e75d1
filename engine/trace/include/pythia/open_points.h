#ifndef PYTHIA_OPEN_POINTS_H
#define PYTHIA_OPEN_POINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/error.h"
#include "pythia/vocabulary.h"

/* Which trace points are open. Held as names, so that it can be made before any trace is seen;
 * points are told apart by their number in O(1) once they have been asked for. One thread at a
 * time. */
struct pythia_open_points;

/* With nothing open; `vocabulary` is borrowed. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_open_points_create(const struct pythia_vocabulary *vocabulary,
                              struct pythia_open_points **out);
void pythia_open_points_destroy(struct pythia_open_points *o); /* o may be NULL */

/* With open what `base` has open, but for the ids that are added. `base` is borrowed until
 * _destroy, and does not change. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_open_points_create_without(struct pythia_open_points *base,
                                      struct pythia_open_points **out);

/* Open the trace point of that id, or all whose ids match it if it has one of * ? [ in it
 * (fnmatch). Copied. */
int pythia_open_points_add(struct pythia_open_points *o, struct pythia_text id);

/* Open the trace point of that id alone, whatever characters are in it: names of statements have *
 * and ? in them. Copied. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_open_points_add_id(struct pythia_open_points *o, struct pythia_text id);

/* Open the point with that id only for requests of one type (its name). Further calls add types; a
 * point that is also added in another way is open for all types. All is copied. Not for a set that
 * _create_without has made. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_open_points_add_id_for(struct pythia_open_points *o, struct pythia_text id,
                                  struct pythia_text type);

/* As above, by numbers: a trace point of the vocabulary, and the string that names the type. */
int pythia_open_points_add_for(struct pythia_open_points *o, uint32_t tracepoint, uint32_t type);

/* The types that a point is limited to: *count of them, borrowed until more is added; NULL: it is
 * open for all types, or closed. O(1). */
const struct pythia_text *pythia_open_points_types(struct pythia_open_points *o,
                                                   uint32_t tracepoint, size_t *count);

/* Is the point open, but not for this type (number of a string)? O(types that it is limited to). */
bool pythia_open_points_excludes(struct pythia_open_points *o, uint32_t tracepoint, uint32_t type);

/* Is any point limited to types? In a set that is NULL none is. */
bool pythia_open_points_is_limited(const struct pythia_open_points *o);

/* Do both sets limit the same points to the same types, added in the same order? A set that is NULL
 * limits none. O(points that are limited and their types). */
bool pythia_open_points_same_limits(const struct pythia_open_points *a,
                                    const struct pythia_open_points *b);

/* Open those of the first `count` trace points of the vocabulary whose flag is set. Added to a set
 * that has nothing open, these are known by their numbers at once. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_open_points_add_flagged(struct pythia_open_points *o, const bool *flags, uint32_t count);

/* Open what a text lists: one id a line, blank lines and lines that begin with # are passed over.
 */
int pythia_open_points_read(struct pythia_open_points *o, struct pythia_text text);

/* Is a trace point open, by its id or by a pattern? The answer is cached, so `o` changes. */
bool pythia_open_points_has(struct pythia_open_points *o, uint32_t tracepoint);

/* Does such a text have one of * ? [ in it, so that it may stand for many ids? And does a pattern,
 * which ends with a NUL, match an id of the vocabulary? */
bool pythia_open_points_is_pattern(struct pythia_text id);
bool pythia_open_points_fits(const char *pattern, struct pythia_text id);

/* How many ids and patterns were added. */
size_t pythia_open_points_count(const struct pythia_open_points *o);

#endif
