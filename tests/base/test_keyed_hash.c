#include <string.h>

#include "check.h"
#include "pythia/keyed_hash.h"

/* Vectors of the authors (appendix A of the paper, and vectors.h of the reference): the key is 00,
 * 01, … 0f, and the message 00, 01, … of so many bytes. */
static void the_hash_is_siphash(void **state)
{
    static const struct {
        size_t size;
        uint64_t hash;
    } published[] = {{0, UINT64_C(0x726fdb47dd0e0e31)},  {1, UINT64_C(0x74f839c593dc67fd)},
                     {7, UINT64_C(0xab0200f58b01d137)},  {8, UINT64_C(0x93f5f5799a932462)},
                     {15, UINT64_C(0xa129ca6149be45e5)}, {16, UINT64_C(0x3f2acc7f57c29bdb)},
                     {63, UINT64_C(0x958a324ceb064572)}};
    struct pythia_hash_key key;
    unsigned char message[64];
    for (unsigned i = 0; i < sizeof(message); i++)
        message[i] = (unsigned char)i;
    memcpy(key.bytes, message, sizeof(key.bytes));
    for (size_t i = 0; i < sizeof(published) / sizeof(published[0]); i++)
        assert_true(pythia_keyed_hash(&key, message, published[i].size) == published[i].hash);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_hash_is_siphash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
