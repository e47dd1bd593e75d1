#ifndef PYTHIA_LAYERS_H
#define PYTHIA_LAYERS_H

#include "pythia/error.h"
#include "pythia/layer.h"
#include "pythia/vocabulary.h"

/* The layers of trace points: a table by id or by pattern, with the precedence of prices.h. A point
 * that is not in it is the application's. Wherever a table may be given, NULL is one that holds
 * nothing. One thread at a time. */
struct pythia_layers;

/* With nothing in it; `vocabulary` is borrowed. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_layers_create(const struct pythia_vocabulary *vocabulary, struct pythia_layers **out);
void pythia_layers_destroy(struct pythia_layers *l); /* l may be NULL */

/* Set the layer of the trace point of that id, or of all whose ids match it if it has one of * ? [
 * in it (fnmatch). Copied. PYTHIA_OK, or PYTHIA_ENOMEM; then nothing has changed. */
int pythia_layers_set(struct pythia_layers *l, struct pythia_text point, enum pythia_layer layer);

/* The two halves of "ID=LAYER", parted by the last '='; *point is borrowed from the text.
 * PYTHIA_OK, or PYTHIA_EFORMAT with the reason in `e`. */
int pythia_layers_parse(struct pythia_text text, struct pythia_text *point,
                        enum pythia_layer *layer, struct pythia_error *e);

/* The layer of a point. O(1) once it has been asked for. */
enum pythia_layer pythia_layers_of(struct pythia_layers *l, uint32_t tracepoint);

/* The lowest layer that was set, of any point. O(1). */
enum pythia_layer pythia_layers_lowest(const struct pythia_layers *l);

#endif
