#include "examples.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

void pythia__example_id(struct pythia_buf *to, const struct pythia_row *row)
{
    pythia_buf_printf(to, "%016" PRIx64 "%016" PRIx64, row->trace.high, row->trace.low);
}

void pythia__example_address(struct pythia_buf *to, const char *url, const struct pythia_row *row)
{
    static const char variable[] = "{trace_id}";
    const char *at = strstr(url, variable);
    pythia_buf_add(to, url, at ? (size_t)(at - url) : strlen(url));
    if (!at)
        return;
    pythia__example_id(to, row);
    pythia_buf_puts(to, at + sizeof(variable) - 1);
}

void pythia__find_examples(const struct pythia_group *g, const struct pythia_row **slowest,
                           const struct pythia_row **typical)
{
    *slowest = *typical = NULL;
    for (size_t i = 0; i < g->sampled; i++) {
        const struct pythia_row *row = g->rows[i];
        if (!*slowest || row->duration_ns > (*slowest)->duration_ns)
            *slowest = row;
        if (!*typical || fabs((double)row->duration_ns - g->p50_ns) <
                             fabs((double)(*typical)->duration_ns - g->p50_ns))
            *typical = row;
    }
}
