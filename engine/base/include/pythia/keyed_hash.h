#ifndef PYTHIA_KEYED_HASH_H
#define PYTHIA_KEYED_HASH_H

#include <stddef.h>
#include <stdint.h>

/* A hash of bytes that nobody can work out, or look up, without the key: SipHash-2-4 (Aumasson and
 * Bernstein, "SipHash: a fast short-input PRF", INDOCRYPT 2012). O(size), some nanoseconds for a
 * short text. */
#define PYTHIA_HASH_KEY_BYTES 16
struct pythia_hash_key {
    unsigned char bytes[PYTHIA_HASH_KEY_BYTES];
};

/* Hash `size` bytes under a secret key, so that nobody without the key can construct collisions. */
uint64_t pythia_keyed_hash(const struct pythia_hash_key *key, const void *bytes, size_t size);

#endif
