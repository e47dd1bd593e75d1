#ifndef PYTHIA_LAYER_H
#define PYTHIA_LAYER_H

#include <stdbool.h>

#include "pythia/text.h"

/* Where in a machine a trace point lies, from the top down. Spans of a lower layer are below those
 * of a higher one: an application calls a library, and the kernel works for both. A point about
 * which nobody says anything is the application's. */
enum pythia_layer {
    PYTHIA_LAYER_APPLICATION,
    PYTHIA_LAYER_LIBRARY,
    PYTHIA_LAYER_RUNTIME,
    PYTHIA_LAYER_KERNEL,
};
#define PYTHIA_LAYERS      4
#define PYTHIA_LAYER_NAMES "application, library, runtime or kernel"

/* "application", "library", …: static. And the layer of a name; false: there is none, *out is as it
 * was. */
const char *pythia_layer_name(enum pythia_layer layer);
bool pythia_layer_find(struct pythia_text name, enum pythia_layer *out);

#endif
