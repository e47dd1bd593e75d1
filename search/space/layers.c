#include "pythia/layers.h"

#include <math.h>

#include "point_values.h"
#include "pythia/mem.h"
#include "pythia/status.h"

struct pythia_layers {
    struct pythia__point_values *of;
    enum pythia_layer lowest;
};

int pythia_layers_create(const struct pythia_vocabulary *vocabulary, struct pythia_layers **out)
{
    struct pythia_layers *l = pythia_calloc(1, sizeof(*l));
    if (!l || pythia__point_values_create(vocabulary, &l->of) != PYTHIA_OK) {
        pythia_free(l);
        return PYTHIA_ENOMEM;
    }
    *out = l;
    return PYTHIA_OK;
}

void pythia_layers_destroy(struct pythia_layers *l)
{
    if (!l)
        return;
    pythia__point_values_destroy(l->of);
    pythia_free(l);
}

int pythia_layers_set(struct pythia_layers *l, struct pythia_text point, enum pythia_layer layer)
{
    int status = pythia__point_values_set(l->of, point, layer);
    if (status == PYTHIA_OK && layer > l->lowest)
        l->lowest = layer;
    return status;
}

int pythia_layers_parse(struct pythia_text text, struct pythia_text *point,
                        enum pythia_layer *layer, struct pythia_error *e)
{
    struct pythia_text id, name;
    if (!pythia__point_values_part(text, &id, &name))
        return pythia_error_set(e, PYTHIA_EFORMAT,
                                "'%.*s' has no layer: expected ID=LAYER, such as libc:*=library",
                                (int)(text.size < 200 ? text.size : 200), text.bytes);
    if (!pythia_layer_find(name, layer))
        return pythia_error_set(e, PYTHIA_EFORMAT,
                                "'%.*s' is not a layer: expected " PYTHIA_LAYER_NAMES,
                                (int)(name.size < 100 ? name.size : 100), name.bytes);
    *point = id;
    return PYTHIA_OK;
}

enum pythia_layer pythia_layers_of(struct pythia_layers *l, uint32_t tracepoint)
{
    double value = l ? pythia__point_values_of(l->of, tracepoint) : NAN;
    return isnan(value) ? PYTHIA_LAYER_APPLICATION : (enum pythia_layer)value;
}

enum pythia_layer pythia_layers_lowest(const struct pythia_layers *l)
{
    return l ? l->lowest : PYTHIA_LAYER_APPLICATION;
}
