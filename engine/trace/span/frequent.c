#include "frequent.h"

#include "pythia/hash.h"

/* Names that come once give each count 2 on average after halving, and 4 before: 16 in both rows
 * have a probability of some 10^-10. */
#define ADDITIONS ((uint32_t)PYTHIA__FREQUENT_SIZE * 2)

static void halve_counters(struct pythia__frequent *f)
{
    for (int row = 0; row < PYTHIA__FREQUENT_ROWS; row++)
        for (size_t i = 0; i < PYTHIA__FREQUENT_SIZE; i++) {
            uint8_t count = atomic_load_explicit(&f->counts[row][i], memory_order_relaxed);
            atomic_store_explicit(&f->counts[row][i], (uint8_t)(count / 2), memory_order_relaxed);
        }
}

bool pythia__frequent_count(struct pythia__frequent *f, uint64_t hash)
{
    bool frequent = true;
    for (uint64_t row = 0; row < PYTHIA__FREQUENT_ROWS; row++) {
        _Atomic uint8_t *at = &f->counts[row][pythia_hash_mix(row, hash) % PYTHIA__FREQUENT_SIZE];
        uint8_t count = atomic_load_explicit(at, memory_order_relaxed);
        /* Saturated, not wrapped; a lost update counts little. */
        if (count < UINT8_MAX)
            atomic_store_explicit(at, ++count, memory_order_relaxed);
        frequent = frequent && count >= PYTHIA__FREQUENT_MIN;
    }
    if (atomic_fetch_add_explicit(&f->additions, 1, memory_order_relaxed) + 1 == ADDITIONS) {
        halve_counters(f);
        atomic_store_explicit(&f->additions, 0, memory_order_relaxed);
    }
    return frequent;
}
