#include "metric_text.h"

#include <inttypes.h>
#include <math.h>

void pythia__metric_head(struct pythia_buf *to, const char *name, const char *type,
                         const char *help)
{
    pythia_buf_printf(to, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

void pythia__metric_counter(struct pythia_buf *to, const char *name, const char *help,
                            uint64_t value)
{
    pythia__metric_head(to, name, "counter", help);
    pythia_buf_printf(to, "%s %" PRIu64 "\n", name, value);
}

void pythia__metric_gauge(struct pythia_buf *to, const char *name, const char *help, double value)
{
    pythia__metric_head(to, name, "gauge", help);
    if (isnan(value))
        pythia_buf_printf(to, "%s NaN\n", name);
    else
        pythia_buf_printf(to, "%s %.17g\n", name, value);
}
