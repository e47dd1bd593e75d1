/* A price for what is decided now is a mean of recent hits, and a mean is moved by few values: an
 * interrupt, a page fault or another program between the two readings of the clock makes one hit in
 * fifty seem to cost ten to thirty times as much as the others, which raised prices by 10 to 40 %
 * (tests/bench/forecast.py beside compilers). The program's time is lost then, but not to tracing,
 * and opening a trace point does not add it. So the most expensive sixteenth is left out. A trace
 * point whose hits really differ, because some of them carry attributes, keeps the share of the
 * expensive ones unless they are rarer than that; a median, or a bound at a multiple of it, would
 * lose them. */
#include "recent_cost.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "pythia/mem.h"
#include "pythia/status.h"

#define RARE 16 /* one hit in so many is left out */

struct pythia__recent_cost {
    uint32_t capacity, count, next;
    bool known; /* `typical` is that of the present hits */
    struct pythia_cost typical;
    uint32_t *sorted; /* scratch, after the ring in the same block */
    uint32_t ns[];    /* a ring */
};

int pythia__recent_cost_add(struct pythia__recent_cost **recent, uint32_t capacity, uint64_t ns)
{
    struct pythia__recent_cost *r = *recent;
    if (!r) {
        r = pythia_calloc(1, sizeof(*r) + 2 * (size_t)capacity * sizeof(r->ns[0]));
        if (!r)
            return PYTHIA_ENOMEM;
        r->capacity = capacity;
        r->sorted = r->ns + capacity;
        *recent = r;
    }
    r->ns[r->next] = ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX;
    r->next = (r->next + 1) % r->capacity;
    r->count += r->count < r->capacity;
    /* The typical cost is computed when it is asked for, which is rare; hits arrive by the
     * thousand. */
    r->known = false;
    return PYTHIA_OK;
}

void pythia__recent_cost_destroy(struct pythia__recent_cost *recent)
{
    pythia_free(recent);
}

static int compare_ns(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

struct pythia_cost pythia__recent_cost_typical(struct pythia__recent_cost *r)
{
    if (!r)
        return (struct pythia_cost){0};
    if (!r->known) {
        memcpy(r->sorted, r->ns, r->count * sizeof(r->ns[0]));
        qsort(r->sorted, r->count, sizeof(r->ns[0]), compare_ns);
        r->typical = (struct pythia_cost){.passes = r->count - (r->count + RARE / 2) / RARE};
        for (uint64_t i = 0; i < r->typical.passes; i++)
            r->typical.ns += r->sorted[i];
        r->known = true;
    }
    return r->typical;
}
