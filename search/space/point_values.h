/* A number for trace points, by id or by pattern: what prices.c and layers.c have in common. */
#ifndef PYTHIA_SEARCH_POINT_VALUES_H
#define PYTHIA_SEARCH_POINT_VALUES_H

#include "pythia/text.h"
#include "pythia/vocabulary.h"

struct pythia__point_values;

/* `vocabulary` is borrowed. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__point_values_create(const struct pythia_vocabulary *vocabulary,
                                struct pythia__point_values **out);
void pythia__point_values_destroy(struct pythia__point_values *p); /* p may be NULL */

/* Give the trace point of that id, or all whose ids match it if it has one of * ? [ in it
 * (fnmatch), a value. Copied. PYTHIA_OK, or PYTHIA_ENOMEM; then nothing has changed. */
int pythia__point_values_set(struct pythia__point_values *p, struct pythia_text point,
                             double value);

/* The value of a point; NaN: none was given, or p is NULL. The id itself goes before all patterns;
 * of several patterns that match, and of one id that was given several values, the last one counts.
 * O(1) once it has been asked for. */
double pythia__point_values_of(struct pythia__point_values *p, uint32_t tracepoint);

/* The two halves of "ID=VALUE", parted by the last '='; *point and *value are borrowed from the
 * text. False: there is no '=', or no id before it. */
bool pythia__point_values_part(struct pythia_text text, struct pythia_text *point,
                               struct pythia_text *value);

#endif
