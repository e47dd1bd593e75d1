/* The rows of the registry: one format, one folder. */
#ifndef PYTHIA_TRACES_FORMATS_H
#define PYTHIA_TRACES_FORMATS_H

#include "pythia/adapter.h"

extern const struct pythia_adapter_ops pythia__hiq;
extern const struct pythia_adapter_ops pythia__jaeger;
extern const struct pythia_adapter_ops pythia__native;
extern const struct pythia_adapter_ops pythia__osprofiler;
extern const struct pythia_adapter_ops pythia__otlp_json;
extern const struct pythia_adapter_ops pythia__otlp_protobuf;
extern const struct pythia_adapter_ops pythia__recording;
extern const struct pythia_adapter_ops pythia__spans;
extern const struct pythia_adapter_ops pythia__zipkin;

#endif
