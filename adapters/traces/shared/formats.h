/* The formats: one folder each. */
#ifndef PYTHIA_TRACES_FORMATS_H
#define PYTHIA_TRACES_FORMATS_H

#include "pythia/adapter.h"

#define PYTHIA__FORMAT_DECLARED(format, named)                                                     \
    extern const struct pythia_adapter_ops pythia__##format;
PYTHIA_FORMATS(PYTHIA__FORMAT_DECLARED)
#undef PYTHIA__FORMAT_DECLARED

#define PYTHIA__FORMAT_ROW(format, named) &pythia__##format,

#endif
