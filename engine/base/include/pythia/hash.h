#ifndef PYTHIA_HASH_H
#define PYTHIA_HASH_H

#include <stddef.h>
#include <stdint.h>

/* The 64 bits of XXH3 (Yann Collet, xxHash, 2020) of `size` bytes: the same on every machine, so
 * that what is named by a hash has one name everywhere. */
uint64_t pythia_hash_bytes(const void *bytes, size_t size);

/* The hash of a key of a hash table: XXH3 under a secret that the process draws once, so that no
 * one outside can choose keys that have one hash. It is not a cryptographic hash, and need not be:
 * no hash leaves the process. Any thread. */
uint64_t pythia_hash_seeded(const void *bytes, size_t size);

/* A number of the same secret. */
uint64_t pythia_hash_seed(void);

/* One number into a hash: a bijection of 64 bits for each `hash`, whose output bits all depend on
 * all input bits (the finaliser of SplitMix64: Steele, Lea, Flood, "Fast Splittable Pseudorandom
 * Number Generators", OOPSLA 2014). Order matters: mix(mix(h, a), b) differs from mix(mix(h, b),
 * a). */
static inline uint64_t pythia_hash_mix(uint64_t hash, uint64_t number)
{
    uint64_t z = hash * UINT64_C(0x9E3779B97F4A7C15) + number + UINT64_C(0x632BE59BD9B4E019);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

/* The number that pythia_hash_mix has made `mixed` of, with the same `hash`. */
static inline uint64_t pythia_hash_unmix(uint64_t hash, uint64_t mixed)
{
    uint64_t z = mixed ^ mixed >> 31 ^ mixed >> 62;
    z *= UINT64_C(0x319642B2D24D8EC3); /* the inverse of the multiplier of _mix, modulo 2^64 */
    z = z ^ z >> 27 ^ z >> 54;
    z *= UINT64_C(0x96DE1B173F119089);
    z = z ^ z >> 30 ^ z >> 60;
    return z - hash * UINT64_C(0x9E3779B97F4A7C15) - UINT64_C(0x632BE59BD9B4E019);
}

#endif
