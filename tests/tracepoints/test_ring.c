/* One writer and its ring: what is committed, what is refused, and what bad numbers in shared
 * memory can do, which is nothing. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "record/ring_writer.h"

#define CAPACITY 65536U

struct made {
    struct pythia__ring_control control;
    unsigned char *data;
    struct pythia__ring ring;
};

static int make(void **state)
{
    struct made *m = calloc(1, sizeof(*m));
    m->data = malloc(CAPACITY + PYTHIA__RING_BEYOND);
    pythia__ring_take(&m->ring, &m->control, m->data, CAPACITY);
    *state = m;
    return 0;
}

static int unmake(void **state)
{
    struct made *m = *state;
    free(m->data);
    free(m);
    return 0;
}

/* A record of so many bytes, each of them `mark`. 0: no room. */
static int write_record(struct pythia__ring *r, size_t bytes, unsigned char mark)
{
    void *to = pythia__ring_room(r, bytes, 0);
    if (!to)
        return 0;
    memset(to, mark, bytes);
    pythia__ring_commit(r, bytes);
    return 1;
}

/* Take `bytes` as a reader does, and check that all of them are `mark`. */
static void read_record(struct made *m, size_t bytes, unsigned char mark)
{
    unsigned char copy[PYTHIA_RECORD_BYTES];
    uint64_t tail = m->control.tail;
    assert_true(m->control.head - tail >= bytes);
    pythia__ring_copy(m->data, CAPACITY, tail, tail + bytes, copy);
    for (size_t i = 0; i < bytes; i++)
        assert_int_equal(copy[i], mark);
    __atomic_store_n(&m->control.tail, tail + bytes, __ATOMIC_RELEASE);
}

static void what_is_written_is_read_through_many_rounds(void **state)
{
    struct made *m = *state;
    static const size_t sizes[] = {8, 40, 56, 64, 4352, 24, 1000, 120};
    for (unsigned i = 0; i < 5000; i++) {
        size_t bytes = sizes[i % (sizeof(sizes) / sizeof(sizes[0]))];
        assert_true(write_record(&m->ring, bytes, (unsigned char)i));
        read_record(m, bytes, (unsigned char)i);
    }
    assert_true(m->control.head > 50 * CAPACITY);
}

static void a_full_ring_takes_no_more_until_it_is_read(void **state)
{
    struct made *m = *state;
    size_t records = 0;
    while (write_record(&m->ring, 56, 1))
        records++;
    assert_int_equal(records, CAPACITY / 56);
    assert_true(write_record(&m->ring, CAPACITY % 56, 2)); /* to the last byte */
    assert_false(write_record(&m->ring, 8, 3));
    read_record(m, 56, 1);
    assert_true(write_record(&m->ring, 56, 4));
    assert_false(write_record(&m->ring, 8, 5));
}

static void what_is_not_committed_does_not_count(void **state)
{
    struct made *m = *state;
    memset(pythia__ring_room(&m->ring, 56, 0), 7, 56);
    assert_int_equal(m->control.head, 0);
    assert_true(write_record(&m->ring, 8, 8)); /* in its place */
    read_record(m, 8, 8);
}

static void room_is_set_aside(void **state)
{
    struct made *m = *state;
    assert_non_null(pythia__ring_room(&m->ring, 56, CAPACITY - 56));
    assert_null(pythia__ring_room(&m->ring, 56, CAPACITY - 48));
    m->ring.reserved = 400;
    size_t records = 0;
    while (write_record(&m->ring, 40, 1))
        records++;
    assert_int_equal(records, (CAPACITY - 400) / 40);
    m->ring.reserved = 0;
    for (int i = 0; i < 10; i++)
        assert_true(write_record(&m->ring, 40, 2)); /* what was set aside is there */
}

/* Whatever a tail says, nothing is written outside, and what is not read is not written over. */
static void a_tail_that_no_reader_wrote_is_a_full_ring(void **state)
{
    static const uint64_t tails[] = {1,          4096,           CAPACITY,       2 * CAPACITY,
                                     UINT64_MAX, UINT64_MAX / 2, UINT64_MAX - 7, 1 << 30};
    struct made *m = *state;
    for (int i = 0; i < 500; i++)
        assert_true(write_record(&m->ring, 56, 1));
    for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
        uint64_t head = m->ring.head;
        m->control.tail = head + tails[i];
        while (head + CAPACITY > m->ring.head && write_record(&m->ring, 56, 2))
            continue;
        assert_true(m->ring.head - head <= CAPACITY);
        assert_null(pythia__ring_room(&m->ring, CAPACITY + 8, 0));
        m->control.tail = m->ring.head;
    }
    m->control.tail = m->ring.head - CAPACITY - 8; /* too far behind */
    m->ring.tail = m->ring.head - CAPACITY;
    assert_null(pythia__ring_room(&m->ring, 8, 0));
}

static void a_ring_goes_on_where_its_last_writer_left_it(void **state)
{
    struct made *m = *state;
    struct pythia__ring next;
    assert_true(write_record(&m->ring, 56, 1));
    pythia__ring_take(&next, &m->control, m->data, CAPACITY);
    assert_true(write_record(&next, 64, 2));
    read_record(m, 56, 1);
    read_record(m, 64, 2);
}

/* A hostile head, too, keeps the writer inside. */
static void a_ring_may_be_left_at_any_number(void **state)
{
    static const uint64_t heads[] = {0, 7, UINT64_MAX, UINT64_MAX - 100, CAPACITY - 8, 123456789};
    struct made *m = *state;
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
        m->control.head = heads[i];
        m->control.tail = heads[i] & ~UINT64_C(7);
        pythia__ring_take(&m->ring, &m->control, m->data, CAPACITY);
        for (int k = 0; k < 3000; k++) {
            assert_true(write_record(&m->ring, 56, 3));
            read_record(m, 56, 3);
        }
    }
}

#define RECORDS 300000

static void *write_numbers(void *argument)
{
    struct made *m = argument;
    for (uint64_t i = 0; i < RECORDS;) {
        uint64_t *to = pythia__ring_room(&m->ring, 64, 0);
        if (!to)
            continue; /* a test may wait, a program never does */
        for (int k = 0; k < 8; k++)
            to[k] = i;
        pythia__ring_commit(&m->ring, 64);
        i++;
    }
    return NULL;
}

static void a_reader_on_another_thread_sees_whole_records_in_order(void **state)
{
    struct made *m = *state;
    pthread_t writer;
    uint64_t seen = 0, *copy = malloc(CAPACITY);
    assert_int_equal(pthread_create(&writer, NULL, write_numbers, m), 0);
    while (seen < RECORDS) {
        uint64_t head = __atomic_load_n(&m->control.head, __ATOMIC_ACQUIRE), tail = seen * 64;
        pythia__ring_copy(m->data, CAPACITY, tail, head, (unsigned char *)copy);
        for (uint64_t i = 0; i < (head - tail) / 64; i++, seen++)
            for (int k = 0; k < 8; k++)
                assert_true(copy[i * 8 + (uint64_t)k] == seen);
        __atomic_store_n(&m->control.tail, head, __ATOMIC_RELEASE);
    }
    pthread_join(writer, NULL);
    free(copy);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make, unmake)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_written_is_read_through_many_rounds),
        TEST(a_full_ring_takes_no_more_until_it_is_read),
        TEST(what_is_not_committed_does_not_count),
        TEST(room_is_set_aside),
        TEST(a_tail_that_no_reader_wrote_is_a_full_ring),
        TEST(a_ring_goes_on_where_its_last_writer_left_it),
        TEST(a_ring_may_be_left_at_any_number),
        TEST(a_reader_on_another_thread_sees_whole_records_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
