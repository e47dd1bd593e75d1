#include <string.h>

#include "check.h"
#include "pythia/counts.h"

/* Reports and scripts know them by these names. */
static void names_are_fixed_and_in_their_order(void **state)
{
    static const char *const repairs[] = {
        "orphan",   "extra_root", "duplicate", "conflict",  "unfinished",
        "cycle",    "skew",       "clamped",   "negative",  "several_parents",
        "encoding", "clock_step", "sampling",  "clock_base"};
    static const char *const drops[] = {
        "broken_record", "stop_without_start", "late",      "not_a_trace", "oversize",  "shed",
        "full_ring",     "switched",           "abandoned", "cut_text",    "attribute", "event",
        "link",          "redacted",           "loss_count"};
    assert_int_equal(PYTHIA_REPAIRS, sizeof(repairs) / sizeof(repairs[0]));
    assert_int_equal(PYTHIA_DROPS, sizeof(drops) / sizeof(drops[0]));
    for (int i = 0; i < PYTHIA_REPAIRS; i++)
        assert_string_equal(pythia_repair_name((enum pythia_repair)i), repairs[i]);
    for (int i = 0; i < PYTHIA_DROPS; i++)
        assert_string_equal(pythia_drop_name((enum pythia_drop)i), drops[i]);
    assert_string_equal(pythia_repair_name(PYTHIA_REPAIR_SKEW), "skew");
    assert_string_equal(pythia_drop_name(PYTHIA_DROP_LATE), "late");
}

/* The repairs of a span are bits of 32. */
static void every_repair_has_a_bit_and_a_sentence(void **state)
{
    assert_true(PYTHIA_REPAIRS <= 32);
    for (int i = 0; i < PYTHIA_REPAIRS; i++)
        assert_true(strlen(pythia_repair_help((enum pythia_repair)i)) > 10);
    for (int i = 0; i < PYTHIA_DROPS; i++)
        assert_true(strlen(pythia_drop_help((enum pythia_drop)i)) > 10);
}

/* Every member counts: each is given another number, and the struct is nothing but such numbers. */
static void adding_adds_every_member(void **state)
{
    enum { MEMBERS = sizeof(struct pythia_counts) / sizeof(uint64_t) };
    uint64_t from[MEMBERS], to[MEMBERS];
    struct pythia_counts a, b;
    for (size_t i = 0; i < MEMBERS; i++) {
        from[i] = i + 1;
        to[i] = 1000 * (i + 1);
    }
    memcpy(&a, to, sizeof(a));
    memcpy(&b, from, sizeof(b));
    pythia_counts_add(&a, &b);
    memcpy(to, &a, sizeof(a));
    for (size_t i = 0; i < MEMBERS; i++)
        assert_int_equal(to[i], 1001 * (i + 1));
    struct pythia_counts none = {0};
    pythia_counts_add(&a, &none);
    assert_memory_equal(&a, to, sizeof(a));
}

/* A redaction rule that drops queries of URLs is no loss of spans. */
static void spans_and_their_parts_are_dropped_apart(void **state)
{
    struct pythia_counts counts = {.dropped = {0}};
    counts.dropped[PYTHIA_DROP_LATE] = 1;
    counts.dropped[PYTHIA_DROP_FULL_RING] = 2;
    counts.dropped[PYTHIA_DROP_REDACTED] = 40;
    counts.dropped[PYTHIA_DROP_ATTRIBUTE] = 500;
    assert_int_equal(pythia_counts_dropped_spans(&counts), 3);
    assert_int_equal(pythia_counts_dropped_values(&counts), 540);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_fixed_and_in_their_order),
        cmocka_unit_test(every_repair_has_a_bit_and_a_sentence),
        cmocka_unit_test(adding_adds_every_member),
        cmocka_unit_test(spans_and_their_parts_are_dropped_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
