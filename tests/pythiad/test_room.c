/* How much memory the bodies that are being received may have: all that their buffers allocate. */
#include <string.h>

#include "check.h"
#include "listen/room.h"
#include "pythia/mem.h"

struct body {
    struct pythia_buf bytes;
    size_t room;
};

/* Receive `size` bytes of a body that announces `all`. */
static bool receive(struct pythia__room *r, struct body *b, size_t size, size_t all)
{
    static const char zeros[65536];
    assert_true(size <= sizeof(zeros));
    if (!pythia__room_reserve(r, &b->bytes, &b->room, size, all))
        return false;
    pythia_buf_add(&b->bytes, zeros, size);
    return true;
}

static void forget(struct pythia__room *r, struct body *b)
{
    pythia__room_give(r, b->room);
    pythia_buf_free(&b->bytes);
    *b = (struct body){0};
}

static void a_body_has_what_it_announces_and_no_more(void **state)
{
    struct pythia__room r = {.max = 100000};
    struct body b = {0};
    assert_true(receive(&r, &b, 1000, 10000));
    assert_int_equal(r.used, 10000);
    assert_int_equal(b.bytes.capacity, 10001); /* and its NUL */
    for (int i = 0; i < 9; i++)
        assert_true(receive(&r, &b, 1000, 10000));
    assert_int_equal(r.used, 10000);
    assert_int_equal(b.bytes.capacity, 10001);
    assert_int_equal(b.bytes.size, 10000);
    forget(&r, &b);
    assert_int_equal(r.used, 0);
}

/* 16 times what has come. */
static void whoever_announces_much_has_not_much(void **state)
{
    struct pythia__room r = {.max = 1 << 30};
    struct body b = {0};
    assert_true(receive(&r, &b, 10, 1 << 29));
    assert_int_equal(r.used, 160);
    assert_true(receive(&r, &b, 151, 1 << 29));
    assert_int_equal(r.used, 16 * 161);
    forget(&r, &b);
}

static void a_body_as_large_as_all_the_room_fits(void **state)
{
    struct pythia__room r = {.max = 3000};
    struct body b = {0}, other = {0};
    for (int i = 0; i < 30; i++) /* whether it says so or not */
        assert_true(receive(&r, &b, 100, 0));
    assert_int_equal(r.used, 3000);
    assert_false(receive(&r, &other, 1, 0));
    assert_null(other.bytes.bytes);
    forget(&r, &b);
    assert_true(receive(&r, &other, 1, 3000));
    forget(&r, &other);
}

/* Many connections that announce much and send little: who has a small body finds room. */
static void what_is_ahead_leaves_room_for_others(void **state)
{
    struct pythia__room r = {.max = 64 << 20};
    struct body floods[200] = {0}, b = {0};
    for (int turn = 0; turn < 2; turn++)
        for (int i = 0; i < 200; i++)
            assert_true(receive(&r, &floods[i], 65536, 1 << 30));
    assert_true(r.used >= (size_t)200 * 2 * 65536);
    assert_true(receive(&r, &b, 65536, 65536));
    assert_int_equal(b.bytes.capacity, 65537);
    forget(&r, &b);
    for (int i = 0; i < 200; i++)
        forget(&r, &floods[i]);
    assert_int_equal(r.used, 0);
}

/* What is announced is more than there is. */
static void without_room_for_all_a_body_has_room_for_less(void **state)
{
    struct pythia__room r = {.max = 3000};
    struct body a = {0}, b = {0};
    assert_true(receive(&r, &a, 2000, 2000));
    assert_true(receive(&r, &b, 100, 2000)); /* 1600 would be ahead, 850 is */
    assert_int_equal(r.used, 2850);
    assert_true(receive(&r, &b, 800, 2000));
    assert_int_equal(r.used, 2000 + 900);
    assert_true(receive(&r, &b, 100, 2000));
    assert_false(receive(&r, &b, 1, 2000));
    assert_int_equal(r.used, 3000);
    assert_int_equal(b.bytes.size, 1000);
    forget(&r, &a);
    forget(&r, &b);
    assert_int_equal(r.used, 0);
}

/* Each growth may copy all of it. */
static void a_body_that_is_longer_than_announced_grows_in_few_steps(void **state)
{
    struct pythia__room r = {.max = 1 << 24};
    struct body b = {0};
    size_t steps = 0, before = 0;
    for (int i = 0; i < 2000; i++) {
        assert_true(receive(&r, &b, 2048, 1));
        steps += b.bytes.capacity != before;
        before = b.bytes.capacity;
    }
    assert_true(steps < 15);
    assert_true(r.used < 2 * b.bytes.size + 1);
    forget(&r, &b);
}

static void a_body_without_memory_takes_no_room(void **state)
{
    struct pythia__room r = {.max = 3000};
    struct body b = {0};
    pythia_mem_fail_after(0);
    assert_true(receive(&r, &b, 100, 2000));
    pythia_mem_fail_after(-1);
    assert_true(pythia_buf_status(&b.bytes) < 0);
    assert_int_equal(r.used, 0);
    forget(&r, &b);
}

/* Bodies of other listeners than those for traces have a limit of their own. */
static void no_room_is_no_limit(void **state)
{
    struct body b = {0};
    assert_true(receive(NULL, &b, 5000, 0));
    assert_int_equal(b.room, 0);
    assert_int_equal(b.bytes.size, 5000);
    pythia_buf_free(&b.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_body_has_what_it_announces_and_no_more),
        cmocka_unit_test(whoever_announces_much_has_not_much),
        cmocka_unit_test(a_body_as_large_as_all_the_room_fits),
        cmocka_unit_test(what_is_ahead_leaves_room_for_others),
        cmocka_unit_test(without_room_for_all_a_body_has_room_for_less),
        cmocka_unit_test(a_body_that_is_longer_than_announced_grows_in_few_steps),
        cmocka_unit_test(a_body_without_memory_takes_no_room),
        cmocka_unit_test(no_room_is_no_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
