#include "requests.h"

#define BASE_NS UINT64_C(1763700000000000000)

/* Where a tree is being grown. */
struct growth {
    struct pythia_random *random;
    struct request *request;
    uint64_t at_ns;
    unsigned count;
};

/* A span calls others one after the other; one of its leaves waits for a lock in a request of ten.
 */
static void call(struct growth *g, uint64_t parent, unsigned depth)
{
    struct request_span *s = &g->request->spans[g->count++];
    *s = (struct request_span){.id = pythia_random_next(g->random) | 1,
                               .parent = parent,
                               .start_ns = g->at_ns,
                               .service = (g->request->type + depth) % SERVICES,
                               .operation = g->request->type * 7 + depth * 3 + g->count % 3};
    g->at_ns += 20000 + pythia_random_below(g->random, 30000);
    for (unsigned i = 0; depth < 4 && i < 2 + depth % 2 && g->count < REQUEST_SPANS; i++)
        call(g, s->id, depth + 1);
    if (depth == 3 && pythia_random_below(g->random, 80) == 0)
        g->at_ns += 5000000 + pythia_random_below(g->random, 20000000);
    g->at_ns += 20000 + pythia_random_below(g->random, 60000);
    s->end_ns = g->at_ns;
}

void requests_begin(struct requests *all, uint64_t seed)
{
    pythia_random_init(&all->random, seed);
    all->now_ns = BASE_NS;
}

void requests_next(struct requests *all, struct request *out)
{
    all->now_ns += 200000;
    *out = (struct request){.trace_high = pythia_random_next(&all->random),
                            .trace_low = pythia_random_next(&all->random),
                            .type = (unsigned)pythia_random_below(&all->random, 5)};
    struct growth g = {.random = &all->random, .request = out, .at_ns = all->now_ns};
    call(&g, 0, 0);
}
