#include "formats.h"

static const struct pythia_export_ops *const exports[] = {
    &pythia__export_chrome,     &pythia__export_csv,    &pythia__export_dot,
    &pythia__export_flamegraph, &pythia__export_folded, &pythia__export_jaeger,
    &pythia__export_otlp,       &pythia__export_sql,    &pythia__export_zipkin,
};

const struct pythia_export_ops *const *pythia_exports(size_t *count)
{
    *count = sizeof(exports) / sizeof(exports[0]);
    return exports;
}
