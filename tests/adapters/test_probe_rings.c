/* Rings that a test has written as perf_event_open(2) says that the kernel does. */
#define _GNU_SOURCE
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "pythia/buf.h"
#include "pythia/mem.h"
#include "pythia/probe_rings.h"
#include "pythia/status.h"

#define DATA_BYTES (PYTHIA_PROBE_RING_PAGES * (size_t)4096)

struct ring {
    int file;
    struct perf_event_mmap_page *page;
    char *data;
};

static void ring_begin(struct ring *r)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), size = (1 + PYTHIA_PROBE_RING_PAGES) * page;
    r->file = memfd_create("ring", MFD_CLOEXEC);
    assert_int_equal(ftruncate(r->file, (off_t)size), 0);
    r->page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, r->file, 0);
    assert_ptr_not_equal(r->page, MAP_FAILED);
    r->data = (char *)r->page + page;
}

static void ring_end(struct ring *r)
{
    munmap(r->page, (1 + PYTHIA_PROBE_RING_PAGES) * (size_t)sysconf(_SC_PAGESIZE));
}

/* Bytes behind the last ones; the ring wraps. */
static void ring_add(struct ring *r, const void *bytes, size_t size)
{
    size_t at = r->page->data_head % DATA_BYTES,
           first = size < DATA_BYTES - at ? size : DATA_BYTES - at;
    memcpy(r->data + at, bytes, first);
    memcpy(r->data, (const char *)bytes + first, size - first);
    r->page->data_head += size;
}

static void add_record(struct ring *r, uint32_t type, const void *body, size_t size)
{
    const struct perf_event_header head = {
        .type = type, .size = (uint16_t)(sizeof(struct perf_event_header) + size)};
    ring_add(r, &head, sizeof(head));
    ring_add(r, body, size);
}

/* A hit with one value, and 4 bytes that align it. */
static void add_hit(struct ring *r, uint64_t time_ns, int64_t value)
{
    struct {
        uint32_t bytes;
        char hit[sizeof(struct pythia_probe_hit) + 8];
        uint32_t zeros;
    } body = {.bytes = sizeof(body.hit) + 4};
    const struct pythia_probe_hit hit = {
        .time_ns = time_ns, .thread = UINT64_C(7) << 32 | 8, .number = 3, .values = 1};
    memcpy(body.hit, &hit, sizeof(hit));
    memcpy(body.hit + sizeof(hit), &value, sizeof(value));
    add_record(r, PERF_RECORD_SAMPLE, &body, sizeof(body));
}

static int note_hit(void *context, const struct pythia_probe_hit *hit, const int64_t *values,
                    const char *texts)
{
    assert_int_equal(hit->number, 3);
    assert_int_equal(hit->thread, UINT64_C(7) << 32 | 8);
    pythia_buf_printf(context, "%llu:%lld ", (unsigned long long)hit->time_ns,
                      (long long)values[0]);
    return texts ? PYTHIA_OK : PYTHIA_EFORMAT;
}

static struct pythia_probe_rings *open_all(struct ring *rings, size_t count)
{
    struct pythia_probe_rings *r = NULL;
    struct pythia_error e = {0};
    int files[4];
    for (size_t i = 0; i < count; i++)
        files[i] = rings[i].file;
    assert_int_equal(pythia_probe_rings_open(files, count, &r, &e), PYTHIA_OK);
    return r;
}

static void expect_drain(struct pythia_probe_rings *r, uint64_t until_ns, const char *expected)
{
    struct pythia_buf got = {0};
    pythia_buf_puts(&got, "");
    assert_int_equal(pythia_probe_rings_drain(r, until_ns, note_hit, &got), PYTHIA_OK);
    assert_string_equal(got.size ? got.bytes : "", expected);
    pythia_buf_free(&got);
}

static void hits_of_all_rings_are_in_order_of_time(void **state)
{
    struct ring rings[2];
    ring_begin(&rings[0]);
    ring_begin(&rings[1]);
    struct pythia_probe_rings *r = open_all(rings, 2);
    add_hit(&rings[0], 10, 1);
    add_hit(&rings[0], 30, -3);
    add_hit(&rings[1], 20, 2);
    add_hit(&rings[1], 40, 4);
    expect_drain(r, 35, "10:1 20:2 30:-3 ");
    assert_int_equal(rings[0].page->data_tail, rings[0].page->data_head);
    add_hit(&rings[0], 39, 9); /* came late */
    expect_drain(r, 40, "39:9 ");
    expect_drain(r, 41, "40:4 ");
    expect_drain(r, UINT64_MAX, "");
    assert_int_equal(pythia_probe_rings_lost(r), 0);
    pythia_probe_rings_close(r);
    ring_end(&rings[0]);
    ring_end(&rings[1]);
}

/* 48 bytes each: every place at which a record can be cut by the end of the ring. */
static void records_go_round_the_end_of_a_ring(void **state)
{
    struct ring ring;
    ring_begin(&ring);
    struct pythia_probe_rings *r = open_all(&ring, 1);
    ring.page->data_head = ring.page->data_tail = DATA_BYTES - 5 * 48 - 8;
    for (int round = 0; round < 400; round++) {
        char expected[256] = "";
        for (int i = 0; i < 7; i++) {
            add_hit(&ring, (uint64_t)i + 1, round);
            snprintf(expected + strlen(expected), 32, "%d:%d ", i + 1, round);
        }
        add_record(&ring, 12, "        ", 8); /* of another kind: 16 bytes */
        expect_drain(r, 100, expected);
    }
    assert_int_equal(pythia_probe_rings_lost(r), 0);
    pythia_probe_rings_close(r);
    ring_end(&ring);
}

static void losses_are_counted(void **state)
{
    struct ring ring;
    const uint64_t lost[2] = {1, 41};
    ring_begin(&ring);
    struct pythia_probe_rings *r = open_all(&ring, 1);
    add_record(&ring, PERF_RECORD_LOST, lost, sizeof(lost));
    add_hit(&ring, 1, 1);
    expect_drain(r, 2, "1:1 ");
    assert_int_equal(pythia_probe_rings_lost(r), 41);
    pythia_probe_rings_close(r);
    ring_end(&ring);
}

/* What no kernel writes: each counts as one loss, and what comes after it is read. */
static void what_makes_no_sense_is_lost_and_the_rest_is_read(void **state)
{
    struct ring ring;
    const struct perf_event_header none = {.type = PERF_RECORD_SAMPLE, .size = 0},
                                   larger = {.type = PERF_RECORD_SAMPLE, .size = 400};
    struct pythia_probe_hit hit = {.number = 3, .values = UINT16_MAX};
    char body[sizeof(hit) + 4] = "";
    ring_begin(&ring);
    struct pythia_probe_rings *r = open_all(&ring, 1);
    add_record(&ring, PERF_RECORD_SAMPLE, "1234", 4); /* too short for a hit */
    memcpy(body + 4, &hit, sizeof(hit));
    add_record(&ring, PERF_RECORD_SAMPLE, body, sizeof(body)); /* 65535 values */
    hit = (struct pythia_probe_hit){.number = 3, .texts = 1};
    memcpy(body + 4, &hit, sizeof(hit));
    add_record(&ring, PERF_RECORD_SAMPLE, body, sizeof(body)); /* a text that is not there */
    add_hit(&ring, UINT64_MAX / 2, 1);                         /* in 292 years */
    add_hit(&ring, 1, 1);
    expect_drain(r, 2, "1:1 ");
    assert_int_equal(pythia_probe_rings_lost(r), 4);
    ring_add(&ring, &none, sizeof(none));
    ring_add(&ring, &none, sizeof(none));
    expect_drain(r, 2, "");
    assert_int_equal(pythia_probe_rings_lost(r), 5);
    ring_add(&ring, &larger, sizeof(larger));
    expect_drain(r, 2, "");
    ring.page->data_head += 10 * DATA_BYTES;
    expect_drain(r, 2, "");
    assert_int_equal(pythia_probe_rings_lost(r), 7);
    add_hit(&ring, 5, 5);
    expect_drain(r, 6, "5:5 ");
    pythia_probe_rings_close(r);
    ring_end(&ring);
}

static void what_is_no_ring_is_refused(void **state)
{
    struct pythia_probe_rings *r = NULL;
    struct pythia_error e = {0};
    int pipe_ends[2];
    assert_int_equal(pipe(pipe_ends), 0);
    assert_int_equal(pythia_probe_rings_open(pipe_ends, 1, &r, &e), PYTHIA_EIO);
    assert_null(r);
    assert_int_equal(write(pipe_ends[1], "x", 1), -1); /* the other end was closed */
    close(pipe_ends[1]);
}

static void a_failed_allocation_loses_a_hit(void **state)
{
    struct ring ring;
    ring_begin(&ring);
    struct pythia_probe_rings *r = open_all(&ring, 1);
    add_hit(&ring, 1, 1);
    pythia_mem_fail_after(0);
    expect_drain(r, 2, "");
    pythia_mem_fail_after(-1);
    assert_int_equal(pythia_probe_rings_lost(r), 1);
    pythia_probe_rings_close(r);
    ring_end(&ring);
}

static int stop_at_once(void *context, const struct pythia_probe_hit *hit, const int64_t *values,
                        const char *texts)
{
    return PYTHIA_ESTOPPED;
}

static void the_status_of_the_receiver_ends_it(void **state)
{
    struct ring ring;
    ring_begin(&ring);
    struct pythia_probe_rings *r = open_all(&ring, 1);
    add_hit(&ring, 1, 1);
    assert_int_equal(pythia_probe_rings_drain(r, 2, stop_at_once, NULL), PYTHIA_ESTOPPED);
    pythia_probe_rings_close(r);
    ring_end(&ring);
}

static int ignore_pipes(void **state)
{
    signal(SIGPIPE, SIG_IGN);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hits_of_all_rings_are_in_order_of_time),
        cmocka_unit_test(records_go_round_the_end_of_a_ring),
        cmocka_unit_test(losses_are_counted),
        cmocka_unit_test(what_makes_no_sense_is_lost_and_the_rest_is_read),
        cmocka_unit_test(what_is_no_ring_is_refused),
        cmocka_unit_test(a_failed_allocation_loses_a_hit),
        cmocka_unit_test(the_status_of_the_receiver_ends_it),
    };
    return cmocka_run_group_tests(tests, ignore_pipes, NULL);
}
