/* Which offset may be committed, when bodies are decoded in any order and requests stay open. */
#include "check.h"
#include "kafka/kafka_offsets.h"
#include "pythia/mem.h"
#include "pythia/status.h"

#define NONE_OPEN UINT64_MAX

static uint64_t read_body(struct pythia__kafka_offsets *o, int64_t begin, int64_t next)
{
    uint64_t body = 0;
    assert_int_equal(pythia__kafka_offsets_read(o, begin, next, &body), PYTHIA_OK);
    return body;
}

static void nothing_is_safe_before_anything_was_read(void **state)
{
    struct pythia__kafka_offsets o = {0};
    assert_int_equal(pythia__kafka_offsets_safe(&o, NONE_OPEN), 0);
    pythia__kafka_offsets_free(&o);
}

static void where_reading_began_is_safe_at_once(void **state)
{
    struct pythia__kafka_offsets o = {0};
    read_body(&o, 70, 75);
    assert_int_equal(pythia__kafka_offsets_safe(&o, NONE_OPEN), 70);
    pythia__kafka_offsets_free(&o);
}

static void a_partition_that_begins_at_0_is_held_back_there_too(void **state)
{
    struct pythia__kafka_offsets o = {0};
    pythia__kafka_offsets_added(&o, read_body(&o, 0, 1), 5);
    pythia__kafka_offsets_added(&o, read_body(&o, 1, 2), 6);
    assert_int_equal(pythia__kafka_offsets_safe(&o, 5), 0);
    pythia__kafka_offsets_free(&o);
}

static void a_body_that_is_being_decoded_holds_back_those_after_it(void **state)
{
    struct pythia__kafka_offsets o = {0};
    uint64_t a = read_body(&o, 10, 12), b = read_body(&o, 12, 20);
    pythia__kafka_offsets_added(&o, b, 5);
    assert_int_equal(pythia__kafka_offsets_safe(&o, NONE_OPEN), 10);
    pythia__kafka_offsets_added(&o, a, 6);
    assert_int_equal(pythia__kafka_offsets_safe(&o, NONE_OPEN), 20);
    pythia__kafka_offsets_free(&o);
}

/* A request whose first span came with body b is open: b is read again, a is not. */
static void an_open_request_holds_back_the_body_with_which_it_came(void **state)
{
    struct pythia__kafka_offsets o = {0};
    uint64_t a = read_body(&o, 10, 12), b = read_body(&o, 12, 20), c = read_body(&o, 20, 30);
    pythia__kafka_offsets_added(&o, a, 5);
    pythia__kafka_offsets_added(&o, b, 6);
    pythia__kafka_offsets_added(&o, c, 7);
    assert_int_equal(pythia__kafka_offsets_safe(&o, 6), 12);
    assert_int_equal(pythia__kafka_offsets_safe(&o, 7), 20);
    assert_int_equal(pythia__kafka_offsets_safe(&o, NONE_OPEN), 30);
    pythia__kafka_offsets_free(&o);
}

static void a_body_that_grows_reaches_further(void **state)
{
    struct pythia__kafka_offsets o = {0};
    uint64_t a = read_body(&o, 10, 11);
    pythia__kafka_offsets_extend(&o, a, 19); /* 12 to 17 were compacted away */
    pythia__kafka_offsets_added(&o, a, 5);
    assert_int_equal(pythia__kafka_offsets_safe(&o, NONE_OPEN), 19);
    pythia__kafka_offsets_free(&o);
}

/* A ring of bodies in flight over many turns: the memory is that of those in flight. */
static void marks_are_used_again(void **state)
{
    struct pythia__kafka_offsets o = {0};
    uint64_t bodies[50];
    for (int64_t turn = 0; turn < 2000; turn++) {
        for (int64_t i = 0; i < 50; i++)
            bodies[i] = read_body(&o, turn * 50 + i, turn * 50 + i + 1);
        for (int64_t i = 50; i-- > 0;)
            pythia__kafka_offsets_added(&o, bodies[i], (uint64_t)turn * 50 + (uint64_t)i);
        /* the last 7 are of open requests */
        assert_int_equal(pythia__kafka_offsets_safe(&o, (uint64_t)turn * 50 + 43), turn * 50 + 43);
    }
    assert_true(o.capacity <= 256);
    assert_int_equal(pythia__kafka_offsets_safe(&o, NONE_OPEN), 100000);
    pythia__kafka_offsets_free(&o);
}

static void without_memory_nothing_changes(void **state)
{
    struct pythia__kafka_offsets o = {0};
    uint64_t body;
    pythia_mem_fail_after(0);
    int status = pythia__kafka_offsets_read(&o, 1, 2, &body);
    pythia_mem_fail_after(-1);
    assert_int_equal(status, PYTHIA_ENOMEM);
    assert_int_equal(pythia__kafka_offsets_safe(&o, NONE_OPEN), 0);
    pythia__kafka_offsets_free(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_safe_before_anything_was_read),
        cmocka_unit_test(where_reading_began_is_safe_at_once),
        cmocka_unit_test(a_partition_that_begins_at_0_is_held_back_there_too),
        cmocka_unit_test(a_body_that_is_being_decoded_holds_back_those_after_it),
        cmocka_unit_test(an_open_request_holds_back_the_body_with_which_it_came),
        cmocka_unit_test(a_body_that_grows_reaches_further),
        cmocka_unit_test(marks_are_used_again),
        cmocka_unit_test(without_memory_nothing_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
