#include "pythia/hash.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/random.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t pythia_hash_bytes(const void *bytes, size_t size)
{
    return XXH3_64bits(bytes, size);
}

static struct {
    uint64_t seed;
    unsigned char bytes[XXH3_SECRET_DEFAULT_SIZE];
} secret;

/* At most 256 bytes are given whole. A kernel without the call leaves a secret that is known, and
 * with it the tables as they are, but open to flooding. */
static void draw_secret(void)
{
    if (getrandom(&secret, sizeof(secret), 0) != (ssize_t)sizeof(secret))
        memset(&secret, 0x5A, sizeof(secret));
}

/* pthread_once alone costs as much as the hash of a short text. */
static void reach_secret(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    static atomic_bool drawn;
    if (atomic_load_explicit(&drawn, memory_order_acquire))
        return;
    pthread_once(&once, draw_secret);
    atomic_store_explicit(&drawn, true, memory_order_release);
}

uint64_t pythia_hash_seeded(const void *bytes, size_t size)
{
    reach_secret();
    return XXH3_64bits_withSecret(bytes, size, secret.bytes, sizeof(secret.bytes));
}

uint64_t pythia_hash_seed(void)
{
    reach_secret();
    return secret.seed;
}
