#include "descent.h"

#include "pythia/mem.h"
#include "pythia/status.h"

void pythia__descent_free(struct pythia__descent *d)
{
    pythia_free(d->held);
    pythia_free(d->holder);
    *d = (struct pythia__descent){0};
}

/* The host of each node, PYTHIA_CCT_ROOT if it has none, and what each node holds. The hosts of a
 * host are all that holds it: what lies between is of no higher layer. */
static void find_hosts(const struct pythia_cct *cct, struct pythia_layers *layers,
                       const double *mass, uint32_t *host, double *holds)
{
    for (uint32_t node = 1; node < pythia_cct_nodes(cct); node++) {
        enum pythia_layer layer = pythia_layers_of(layers, pythia_cct_tracepoint(cct, node));
        uint32_t at = pythia_cct_parent(cct, node);
        /* Parents have smaller numbers, so their hosts are known. */
        while (at != PYTHIA_CCT_ROOT &&
               pythia_layers_of(layers, pythia_cct_tracepoint(cct, at)) >= layer)
            at = host[at];
        host[node] = at;
        for (at = node; at != PYTHIA_CCT_ROOT; at = host[at])
            holds[at] += mass[node];
    }
}

int pythia__descent_find(const struct pythia_space_type *type, const double *mass, const bool *open,
                         const bool *never, struct pythia_layers *layers,
                         struct pythia__descent *out)
{
    const struct pythia_cct *cct = type->cct;
    uint32_t nodes = pythia_cct_nodes(cct),
             points = pythia_vocabulary_tracepoints(pythia_cct_vocabulary(cct));
    uint32_t *host = pythia_calloc(nodes, sizeof(*host));
    double *holds = pythia_calloc(nodes, sizeof(*holds));
    struct pythia__descent d = {.held = pythia_calloc(points, sizeof(*d.held)),
                                .holder = pythia_calloc(points, sizeof(*d.holder))};
    int status = host && holds && d.held && d.holder ? PYTHIA_OK : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK)
        goto out;
    for (uint32_t point = 0; point < points; point++)
        d.holder[point] = PYTHIA_NONE;
    find_hosts(cct, layers, mass, host, holds);
    for (uint32_t node = 1; node < nodes; node++) {
        uint32_t point = pythia_cct_tracepoint(cct, node), of = PYTHIA_NONE;
        double held = 1;
        if (host[node] != PYTHIA_CCT_ROOT) {
            of = pythia_cct_tracepoint(cct, host[node]);
            /* A host that is closed may be opened first, and tells more. One that never may is gone
             * past, or nothing below it would ever be seen. */
            held = open[of] || never[of] ? holds[host[node]] : 0;
        }
        /* A point may be called from several hosts: one that holds the cause is enough. */
        if (held > d.held[point]) {
            d.held[point] = held;
            d.holder[point] = of;
        }
    }
    *out = d;
    d = (struct pythia__descent){0};
out:
    pythia__descent_free(&d);
    pythia_free(host);
    pythia_free(holds);
    return status;
}
