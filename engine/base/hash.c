#include "pythia/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t pythia_hash_bytes(const void *bytes, size_t size)
{
    return XXH3_64bits(bytes, size);
}
