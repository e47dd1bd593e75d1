/* A feed whose input never pauses. */
#include <string.h>

#include "check.h"
#include "intake/feed.h"
#include "pythia/mem.h"
#include "pythia/status.h"

static bool destroyed;

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

static void destroy_endless(struct pythia__feed_reader *r)
{
    destroyed = true;
    pythia_free(r);
}

static int take_nothing(void *context, const struct pythia_live_cycle *cycle)
{
    return PYTHIA_OK;
}

/* Else this test runs into its time limit. */
static void a_feed_ends_soon_after_the_stop_although_more_comes(void **state)
{
    struct pythia_vocabulary *vocabulary;
    struct pythia_live *live;
    struct pythia__feeds *feeds;
    uv_loop_t loop;
    const struct pythia_live_options o = {.cycle_requests = 10, .learn_requests = 10};
    const struct pythia__feeds_options how = {.limits = {.attributes_max = 128, .value_max = 160},
                                              .record_max = 1 << 20};
    struct pythia__feed_reader *reader = pythia_calloc(1, sizeof(*reader));
    assert_non_null(reader);
    *reader = (struct pythia__feed_reader){.read = read_endless, .destroy = destroy_endless};
    assert_int_equal(uv_loop_init(&loop), 0);
    assert_int_equal(pythia_vocabulary_create(&vocabulary), PYTHIA_OK);
    assert_int_equal(pythia_live_create(vocabulary, NULL, &o,
                                        (struct pythia_live_taker){take_nothing, NULL}, &live),
                     PYTHIA_OK);
    assert_int_equal(pythia__feeds_create(&loop, vocabulary, live, &how, &feeds), PYTHIA_OK);
    assert_int_equal(pythia__feeds_add(feeds, "endless", NULL, reader), PYTHIA_OK);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_feed_ends_soon_after_the_stop_although_more_comes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
