#include "check.h"
#include "pythia/nearest.h"

/* Of words that are near; else SIZE_MAX. The same both ways, if both are long enough. */
static size_t distance(const char *a, const char *b)
{
    struct pythia_nearest n = {.wanted = pythia_text_of(a)};
    pythia_nearest_offer(&n, pythia_text_of(b));
    return n.best.size > 0 ? n.distance : SIZE_MAX;
}

static void distances_are_those_counted_by_hand(void **state)
{
    (void)state;
    assert_int_equal(distance("replay", "replay"), 0);
    assert_int_equal(distance("replya", "replay"), 1); /* swapped */
    assert_int_equal(distance("replay", "replya"), 1);
    assert_int_equal(distance("relay", "replay"), 1);   /* put in */
    assert_int_equal(distance("reeplay", "replay"), 1); /* taken out */
    assert_int_equal(distance("reqlay", "replay"), 1);  /* changed */
    assert_int_equal(distance("request-type", "requets-tipe"), 2);
    assert_int_equal(distance("request-type", "reqest-tyep"), 2);
    assert_int_equal(distance("ca", "abc"), SIZE_MAX); /* 3: a swapped pair is not changed again */
}

static void a_word_that_is_too_long_is_far(void **state)
{
    char longest[66] = {0};
    (void)state;
    memset(longest, 'x', 65);
    assert_int_equal(distance(longest, longest), SIZE_MAX);
    longest[64] = '\0';
    assert_int_equal(distance(longest, longest), 0);
}

static struct pythia_text nearest_of(const char *wanted, const char *const *words, size_t count)
{
    struct pythia_nearest n = {.wanted = pythia_text_of(wanted)};
    for (size_t i = 0; i < count; i++)
        pythia_nearest_offer(&n, pythia_text_of(words[i]));
    return n.best;
}

static void only_a_near_word_is_offered(void **state)
{
    static const char *const words[] = {"replay", "tree", "run", "x"};
    (void)state;
    assert_true(PYTHIA_TEXT_IS(nearest_of("repaly", words, 4), "replay"));
    assert_true(PYTHIA_TEXT_IS(nearest_of("treee", words, 4), "tree"));
    assert_true(PYTHIA_TEXT_IS(nearest_of("rn", words, 4), "run"));
    assert_int_equal(nearest_of("boldest", words, 4).size, 0);
    assert_int_equal(nearest_of("y", words, 4).size, 0); /* nothing of it would be left */
    assert_int_equal(nearest_of("", words, 4).size, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances_are_those_counted_by_hand),
        cmocka_unit_test(a_word_that_is_too_long_is_far),
        cmocka_unit_test(only_a_near_word_is_offered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
