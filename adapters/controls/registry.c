#include <string.h>

#include "shared/planes.h"

static const struct pythia_control_ops *const planes[] = {
    &pythia__control_gate,       &pythia__control_http,  &pythia__control_lttng,
    &pythia__control_osprofiler, &pythia__control_probe,
};

#define PLANES (sizeof(planes) / sizeof(planes[0]))

const struct pythia_control_ops *pythia_control_named(const char *name)
{
    for (size_t i = 0; i < PLANES; i++)
        if (strcmp(planes[i]->name, name) == 0)
            return planes[i];
    return NULL;
}
