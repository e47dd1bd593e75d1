/* How much the open points of a problem divide: the loss if they were closed. */
#include <math.h>

#include "pythia/mem.h"
#include "pythia/status.h"
#include "search_look.h"

double *pythia__look_use(const struct pythia__looking *l)
{
    const struct pythia_search *s = l->s;
    const struct pythia_cct *cct = l->type->cct;
    const struct pythia__belief *b = &l->k->belief;
    uint32_t *around = pythia_calloc(b->nodes, sizeof(*around)); /* nearest open node, or itself */
    double *mass = pythia_calloc(b->nodes, sizeof(*mass));
    double *use = pythia_calloc(s->points, sizeof(*use));
    bool made = around && mass && use;
    for (uint32_t node = 1; made && node < b->nodes; node++) {
        bool open = s->open[pythia_cct_tracepoint(cct, node)];
        around[node] = open ? node : around[pythia_cct_parent(cct, node)];
        mass[around[node]] += b->mass[node];
    }
    for (uint32_t node = 1; made && node < b->nodes; node++)
        if (around[node] == node) {
            double *of = &use[pythia_cct_tracepoint(cct, node)];
            *of = fmax(*of, fmax(mass[node], mass[around[pythia_cct_parent(cct, node)]]));
        }
    pythia_free(around);
    pythia_free(mass);
    if (made)
        return use;
    pythia_free(use);
    return NULL;
}

double *pythia__search_use(struct pythia_search *s, size_t number)
{
    struct pythia__looking l = {.s = s,
                                .k = &s->keeping[number],
                                .type = pythia_space_type(s->space, s->problems[number].unsplit)};
    struct pythia__search_hidden hidden;
    double *use =
        pythia__search_hide(s, number, &hidden) == PYTHIA_OK ? pythia__look_use(&l) : NULL;
    pythia__search_show(&hidden);
    return use;
}
