/* Where spans lie further apart than all slots together, slots are joined by twos until they do
 * not. Their width depends on the first and the last span alone, not on which came first. */
#include "profile_parts.h"
#include "pythia/mem.h"
#include "pythia/status.h"

/* The values of slots `first` to `last`, joined by twos. */
static void join_slots(uint64_t *values, uint64_t first, uint64_t last)
{
    uint64_t joined[PYTHIA_PROFILE_SLOTS] = {0};
    for (uint64_t n = first; n <= last; n++)
        joined[n / 2 % PYTHIA_PROFILE_SLOTS] += values[n % PYTHIA_PROFILE_SLOTS];
    for (size_t i = 0; i < PYTHIA_PROFILE_SLOTS; i++)
        values[i] = joined[i];
}

static void widen_slots(struct pythia_profile *p)
{
    struct pythia__profile_clock *c = &p->clock;
    for (size_t i = 0; i < p->row_count && c->first <= c->last; i++)
        if (p->rows[i].counts) {
            join_slots(p->rows[i].counts, c->first, c->last);
            join_slots(p->rows[i].ns, c->first, c->last);
        }
    c->shift++;
    if (c->first <= c->last) {
        c->first /= 2;
        c->last /= 2;
    }
}

static void include_time(struct pythia_profile *p, uint64_t time_ns)
{
    struct pythia__profile_clock *c = &p->clock;
    if (c->first > c->last) {
        c->first = c->last = time_ns >> c->shift;
        return;
    }
    for (;;) {
        uint64_t n = time_ns >> c->shift, first = n < c->first ? n : c->first,
                 last = n > c->last ? n : c->last;
        if (last - first < PYTHIA_PROFILE_SLOTS) {
            c->first = first;
            c->last = last;
            return;
        }
        widen_slots(p);
    }
}

int pythia__profile_add_slot(struct pythia_profile *p, uint32_t row, uint64_t start_ns, uint64_t ns)
{
    struct pythia_profile_row *r = &p->rows[row];
    if (!r->counts)
        r->counts = pythia_calloc(PYTHIA_PROFILE_SLOTS, sizeof(*r->counts));
    if (r->counts && !r->ns)
        r->ns = pythia_calloc(PYTHIA_PROFILE_SLOTS, sizeof(*r->ns));
    if (!r->counts || !r->ns)
        return PYTHIA_ENOMEM;
    include_time(p, start_ns);
    size_t slot = (size_t)((start_ns >> p->clock.shift) % PYTHIA_PROFILE_SLOTS);
    r->counts[slot] += p->weight;
    r->ns[slot] += p->weight * ns;
    return PYTHIA_OK;
}

uint64_t pythia_profile_slot(const struct pythia_profile *p, const uint64_t *values, size_t slot)
{
    return values[(p->clock.first + slot) % PYTHIA_PROFILE_SLOTS];
}
