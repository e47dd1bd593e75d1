#ifndef PYTHIA_PRICES_H
#define PYTHIA_PRICES_H

#include <stdbool.h>
#include <stdint.h>

#include "pythia/error.h"
#include "pythia/vocabulary.h"

/* The measured cost of one hit of an open trace point, in ns: a table by id or by pattern. The
 * id itself goes before all patterns; of several patterns that fit, and of one id that was given
 * several prices, the last one counts. Wherever a table may be given, NULL is one that holds
 * nothing. One thread at a time. */
struct pythia_prices;

/* With nothing in it; `vocabulary` is borrowed. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_prices_create(const struct pythia_vocabulary *vocabulary, struct pythia_prices **out);
void pythia_prices_destroy(struct pythia_prices *p); /* p may be NULL */

/* Give the trace point of that id, or all whose ids match it if it has one of * ? [ in it
 * (fnmatch), a price. Copied. PYTHIA_OK, PYTHIA_ENOMEM, or PYTHIA_EINVAL if the price is negative
 * or not finite; then nothing has changed. */
int pythia_prices_set(struct pythia_prices *p, struct pythia_text point, double ns);

/* The two halves of "ID=NS", parted by the last '='; *point is borrowed from the text. PYTHIA_OK,
 * or PYTHIA_EFORMAT with the reason in `e`. */
int pythia_prices_parse(struct pythia_text text, struct pythia_text *point, double *ns,
                        struct pythia_error *e);

/* Does the table say what this point costs? */
bool pythia_prices_has(struct pythia_prices *p, uint32_t tracepoint);

/* The price of a point; `usual_ns` if the table has none. O(1) once it has been asked for. */
double pythia_prices_of(struct pythia_prices *p, uint32_t tracepoint, double usual_ns);

/* The price as a multiple of the usual price; of 1000 ns if the usual price is 0. */
double pythia_prices_relative(struct pythia_prices *p, uint32_t tracepoint, double usual_ns);

#endif
