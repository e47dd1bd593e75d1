/* Ids that people compare and keep in files are made of these numbers: they must never change. */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "pythia/hash.h"
#include "pythia/random.h"

/* The test vectors of xxHash itself (tests/sanity_test_vectors.h, seed 0): the buffer is the upper
 * bytes of 2654435761 * 11400714785074694797^i. */
static void the_hash_is_xxh3(void **state)
{
    static const struct {
        size_t size;
        uint64_t hash;
    } published[] = {
        {0, UINT64_C(0x2D06800538D394C2)},    {1, UINT64_C(0xC44BDFF4074EECDB)},
        {3, UINT64_C(0x54247382A8D6B94D)},    {4, UINT64_C(0xE5DC74BC51848A51)},
        {8, UINT64_C(0x24CCC9ACAA9F65E4)},    {9, UINT64_C(0x14D5001C15DD3F2B)},
        {16, UINT64_C(0x981B17D36C7498C9)},   {17, UINT64_C(0x796F5ACD3A60F862)},
        {128, UINT64_C(0xFCFF24126754D861)},  {129, UINT64_C(0x98F1B0A679A2CA29)},
        {240, UINT64_C(0x81C3C2B67F568CCF)},  {241, UINT64_C(0xC5A639ECD2030E5E)},
        {403, UINT64_C(0xCDEB804D65C6DEA4)},  {512, UINT64_C(0x617E49599013CB6B)},
        {2048, UINT64_C(0xDD59E2C3A5F038E0)}, {2367, UINT64_C(0xCB37AEB9E5D361ED)},
    };
    unsigned char bytes[2367];
    uint64_t generator = 2654435761u;
    for (size_t i = 0; i < sizeof(bytes); i++) {
        bytes[i] = (unsigned char)(generator >> 56);
        generator *= UINT64_C(11400714785074694797);
    }
    for (size_t k = 0; k < sizeof(published) / sizeof(published[0]); k++)
        assert_int_equal(pythia_hash_bytes(bytes, published[k].size), published[k].hash);
}

static void known_strings_have_their_known_hashes(void **state)
{
    assert_int_equal(pythia_hash_bytes(NULL, 0), UINT64_C(0x2D06800538D394C2));
    assert_int_equal(pythia_hash_bytes("a", 1), UINT64_C(0xE6C632B61E964E1F));
    assert_int_equal(pythia_hash_bytes("ab", 2), UINT64_C(0xA873719C24D5735C));
    assert_int_equal(pythia_hash_bytes("abc", 3), UINT64_C(0x78AF5F94892F3950));
}

/* A string in the middle of a file has no alignment. */
static void where_the_bytes_stand_does_not_matter(void **state)
{
    char room[64 + 300], text[300];
    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = (char)(i * 31 % 127);
    for (size_t size = 0; size <= sizeof(text); size += 13)
        for (size_t at = 0; at < 64; at++) {
            memcpy(room + at, text, size);
            assert_int_equal(pythia_hash_bytes(room + at, size), pythia_hash_bytes(text, size));
        }
}

/* SplitMix64 from the seed 0 gives 0xE220A8397B1DCDAF, then 0x6E789E6AA1B965F4: its finaliser of
 * one and of two times 0x9E3779B97F4A7C15. The number that is mixed in is chosen so that the same
 * goes into ours. */
static void mixing_ends_as_splitmix_does(void **state)
{
    uint64_t golden = UINT64_C(0x9E3779B97F4A7C15), added = UINT64_C(0x632BE59BD9B4E019);
    assert_int_equal(pythia_hash_mix(0, golden - added), UINT64_C(0xE220A8397B1DCDAF));
    assert_int_equal(pythia_hash_mix(0, 2 * golden - added), UINT64_C(0x6E789E6AA1B965F4));
    assert_int_equal(pythia_hash_mix(1, 0 - added), UINT64_C(0xE220A8397B1DCDAF));
}

/* Worked out in a few lines of Python from the definition. */
static void mixed_numbers_are_what_they_always_were(void **state)
{
    assert_int_equal(pythia_hash_mix(0, 0), UINT64_C(0x6DB6CA64564DAEAA));
    assert_int_equal(pythia_hash_mix(1, 2), UINT64_C(0x30883360CC68D7B1));
    assert_int_equal(pythia_hash_mix(UINT64_MAX, UINT64_MAX), UINT64_C(0xEE911288B2575648));
    assert_int_equal(pythia_hash_mix(pythia_hash_mix(0, 1), 2), UINT64_C(0xE2CCFD123D6A9539));
    assert_int_equal(pythia_hash_mix(pythia_hash_mix(0, 2), 1), UINT64_C(0x80A7FFF5826F56D0));
}

/* One bit more or less in either argument turns half of the output's bits, within six standard
 * deviations. */
static void each_bit_of_the_output_depends_on_each_of_the_input(void **state)
{
    enum { DRAWS = 4096 };
    struct pythia_random r;
    pythia_random_init(&r, 1);
    for (unsigned bit = 0; bit < 128; bit++) {
        unsigned turned[64] = {0};
        for (size_t i = 0; i < DRAWS; i++) {
            uint64_t hash = pythia_random_next(&r), number = pythia_random_next(&r);
            uint64_t flip_hash = bit < 64 ? UINT64_C(1) << bit : 0;
            uint64_t flip_number = bit < 64 ? 0 : UINT64_C(1) << (bit - 64);
            uint64_t change = pythia_hash_mix(hash, number) ^
                              pythia_hash_mix(hash ^ flip_hash, number ^ flip_number);
            for (unsigned k = 0; k < 64; k++)
                turned[k] += (unsigned)(change >> k & 1);
        }
        for (unsigned k = 0; k < 64; k++)
            assert_in_range(turned[k], DRAWS / 2 - 192, DRAWS / 2 + 192);
    }
}

/* Both processes draw their secret here: it must be the first test that needs one. */
static void each_process_has_seeded_hashes_of_its_own(void **state)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        uint64_t hash = pythia_hash_seeded("abc", 3);
        _exit(write(ends[1], &hash, sizeof(hash)) != sizeof(hash));
    }
    uint64_t of_child = 0;
    int status = 1;
    assert_int_equal(read(ends[0], &of_child, sizeof(of_child)), sizeof(of_child));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    close(ends[0]);
    close(ends[1]);
    assert_int_not_equal(pythia_hash_seeded("abc", 3), of_child);
    assert_int_equal(pythia_hash_seeded("abc", 3), pythia_hash_seeded("xabc" + 1, 3));
    assert_int_not_equal(pythia_hash_seeded("abc", 3), pythia_hash_seeded("abd", 3));
    assert_int_not_equal(pythia_hash_seed(), 0);
}

static void unmixing_gives_back_what_was_mixed(void **state)
{
    const uint64_t numbers[] = {
        0, 1, 2, UINT64_C(0x8000000000000000), UINT64_MAX, UINT64_C(0x0123456789abcdef)};
    for (size_t i = 0; i < 6; i++)
        for (size_t k = 0; k < 6; k++)
            assert_int_equal(pythia_hash_unmix(numbers[i], pythia_hash_mix(numbers[i], numbers[k])),
                             numbers[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_process_has_seeded_hashes_of_its_own),
        cmocka_unit_test(the_hash_is_xxh3),
        cmocka_unit_test(unmixing_gives_back_what_was_mixed),
        cmocka_unit_test(known_strings_have_their_known_hashes),
        cmocka_unit_test(where_the_bytes_stand_does_not_matter),
        cmocka_unit_test(mixing_ends_as_splitmix_does),
        cmocka_unit_test(mixed_numbers_are_what_they_always_were),
        cmocka_unit_test(each_bit_of_the_output_depends_on_each_of_the_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
