#include <string.h>

#include "shared/formats.h"
#include "shared/json_decoder.h"

static const struct pythia_adapter_ops *const adapters[] = {PYTHIA_FORMATS(PYTHIA__FORMAT_ROW)};

#define ADAPTERS (sizeof(adapters) / sizeof(adapters[0]))

const struct pythia_adapter_ops *const *pythia_adapters(size_t *count)
{
    *count = ADAPTERS;
    return adapters;
}

/* The outline is made once, for all formats of JSON. */
const struct pythia_adapter_ops *pythia_adapter_like(struct pythia_text text)
{
    struct pythia_buf outline = {0};
    pythia__outline(text, &outline);
    const struct pythia_head head = {text, pythia_buf_text(&outline)};
    const struct pythia_adapter_ops *best = NULL;
    int likeness = 0;
    for (size_t i = 0; i < ADAPTERS; i++) {
        int how_much = adapters[i]->likeness(&head);
        if (how_much > likeness) {
            likeness = how_much;
            best = adapters[i];
        }
    }
    pythia_buf_free(&outline);
    return best;
}

const struct pythia_adapter_ops *pythia_adapter_named(const char *name)
{
    for (size_t i = 0; i < ADAPTERS; i++)
        if (strcmp(adapters[i]->name, name) == 0)
            return adapters[i];
    return NULL;
}
