/* The formats: one folder each. */
#ifndef PYTHIA_TRACES_FORMATS_H
#define PYTHIA_TRACES_FORMATS_H

#include "pythia/adapter.h"

/* All formats, in order of name, for a table of them. */
#define PYTHIA__FORMATS(row)                                                                       \
    row(hiq) row(jaeger) row(native) row(osprofiler) row(otlp_json) row(otlp_protobuf)             \
        row(recording) row(spans) row(zipkin)

#define PYTHIA__FORMAT_DECLARED(format) extern const struct pythia_adapter_ops pythia__##format;
PYTHIA__FORMATS(PYTHIA__FORMAT_DECLARED)
#undef PYTHIA__FORMAT_DECLARED

#define PYTHIA__FORMAT_ROW(format) &pythia__##format,

#endif
