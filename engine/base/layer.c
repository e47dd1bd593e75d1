#include "pythia/layer.h"

static const char *const names[PYTHIA_LAYERS] = {"application", "library", "runtime", "kernel"};

const char *pythia_layer_name(enum pythia_layer layer)
{
    return names[layer];
}

bool pythia_layer_find(struct pythia_text name, enum pythia_layer *out)
{
    for (unsigned i = 0; i < PYTHIA_LAYERS; i++)
        if (pythia_text_equal(name, pythia_text_of(names[i]))) {
            *out = (enum pythia_layer)i;
            return true;
        }
    return false;
}
