#include "pythia/hash.h"

#include <pthread.h>
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

static void reach_secret(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, draw_secret);
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
