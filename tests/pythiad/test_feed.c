/* Feeds whose input never pauses. */
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "check.h"
#include "intake/feed.h"
#include "pythia/mem.h"
#include "pythia/status.h"

static bool destroyed;
static atomic_uint reads;

/* A line of OTLP without spans, again and again: as much as is asked for. */
static int read_endless(struct pythia__feed_reader *r, void *to, size_t capacity, size_t *got,
                        bool *ended, struct pythia_error *e)
{
    static const char line[] = "{\"resourceSpans\": []}\n";
    *ended = false;
    for (*got = 0; *got + sizeof(line) - 1 <= capacity; *got += sizeof(line) - 1)
        memcpy((char *)to + *got, line, sizeof(line) - 1);
    return PYTHIA_OK;
}

#define TRICKLE_READS 2000

/* A line with one span, every millisecond; the last one after two seconds or more. */
static int read_trickle(struct pythia__feed_reader *r, void *to, size_t capacity, size_t *got,
                        bool *ended, struct pythia_error *e)
{
    static const char line[] =
        "{\"resourceSpans\": [{\"scopeSpans\": [{\"spans\": [{\"traceId\": "
        "\"4bf92f3577b34da6a3ce929d0e0e4736\", \"spanId\": \"00f067aa0ba902b7\", \"name\": \"a\", "
        "\"startTimeUnixNano\": \"1\", \"endTimeUnixNano\": \"2\"}]}]}]}\n";
    assert_true(capacity >= sizeof(line));
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    *ended = atomic_fetch_add(&reads, 1) >= TRICKLE_READS;
    *got = *ended ? 0 : sizeof(line) - 1;
    memcpy(to, line, *got);
    return PYTHIA_OK;
}

static void destroy_reader(struct pythia__feed_reader *r)
{
    destroyed = true;
    pythia_free(r);
}

static int take_nothing(void *context, const struct pythia_live_cycle *cycle)
{
    return PYTHIA_OK;
}

static struct pythia_vocabulary *vocabulary;
static struct pythia_live *live;
static struct pythia__feeds *feeds;
static uv_loop_t loop;

static void begin_feed(int (*read)(struct pythia__feed_reader *r, void *to, size_t capacity,
                                   size_t *got, bool *ended, struct pythia_error *e))
{
    const struct pythia_live_options o = {.cycle_requests = 10, .learn_requests = 10};
    const struct pythia__feeds_options how = {.limits = {.attributes_max = 128, .value_max = 160},
                                              .record_max = 1 << 20};
    struct pythia__feed_reader *reader = pythia_calloc(1, sizeof(*reader));
    assert_non_null(reader);
    destroyed = false;
    *reader = (struct pythia__feed_reader){.read = read, .destroy = destroy_reader};
    assert_int_equal(uv_loop_init(&loop), 0);
    assert_int_equal(pythia_vocabulary_create(&vocabulary), PYTHIA_OK);
    assert_int_equal(pythia_live_create(vocabulary, NULL, &o,
                                        (struct pythia_live_taker){take_nothing, NULL}, &live),
                     PYTHIA_OK);
    assert_int_equal(pythia__feeds_create(&loop, vocabulary, live, &how, &feeds), PYTHIA_OK);
    assert_int_equal(pythia__feeds_add(feeds, "endless", NULL, reader), PYTHIA_OK);
}

static void end_feed(void)
{
    pythia__feeds_stop(feeds);
    while (pythia__feeds_running(feeds) > 0)
        uv_run(&loop, UV_RUN_ONCE);
    assert_true(destroyed);
    pythia__feeds_close(feeds);
    uv_run(&loop, UV_RUN_DEFAULT);
    pythia__feeds_destroy(feeds);
    assert_int_equal(uv_loop_close(&loop), 0);
    pythia_live_destroy(live);
    pythia_vocabulary_destroy(vocabulary);
}

/* Else this test runs into its time limit. */
static void a_feed_ends_soon_after_the_stop_although_more_comes(void **state)
{
    begin_feed(read_endless);
    end_feed();
}

/* A whole batch has 2048 spans, which this input never has. */
static void spans_that_trickle_in_do_not_wait_for_a_whole_batch(void **state)
{
    begin_feed(read_trickle);
    while (pythia__feeds_numbers(feeds).spans == 0)
        uv_run(&loop, UV_RUN_ONCE);
    assert_in_range(atomic_load(&reads), 1, TRICKLE_READS / 2);
    end_feed();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_feed_ends_soon_after_the_stop_although_more_comes),
        cmocka_unit_test(spans_that_trickle_in_do_not_wait_for_a_whole_batch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
