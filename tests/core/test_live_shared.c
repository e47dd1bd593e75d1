/* Engines that share a log make one search: what one of them misses, sends twice or sends broken.
 * */
#include "pythia/buf.h"
#include "pythia/live_shared.h"
#include "stream.h"

#define ENGINES      3
#define MESSAGES_MAX 256

static const struct pythia_live_options usual = {
    .window = {.quiet_ns = MS},
    .groups = {.fold = true},
    .search = {.budget = {.points_per_cycle = 3}, .price_ns = 1000, .seed = 1},
    .cycle_requests = 80,
    .learn_requests = 10,
    .shared = {.group = "g", .settings = "s"},
};

struct log {
    struct stream engines[ENGINES];
    const char *names[ENGINES];
    struct pythia_buf messages[MESSAGES_MAX];
    size_t count, read[ENGINES], engine_count;
};

static void join(struct log *log, size_t i, const struct pythia_live_options *o)
{
    static const char *const names[] = {"one", "two", "three"};
    stream_begin(&log->engines[i]);
    log->engines[i].number = 100000 * (i + 1); /* no trace is at two engines */
    stream_attach(&log->engines[i], NULL, o);
    log->names[i] = names[i];
    log->engine_count = i + 1;
}

static void begin(struct log *log, size_t engines)
{
    *log = (struct log){.count = 0};
    for (size_t i = 0; i < engines; i++) {
        join(log, i, &usual);
        pythia_live_shared_set_parts(log->engines[i].live, 1, engines);
    }
}

static void end(struct log *log)
{
    for (size_t i = 0; i < log->engine_count; i++)
        stream_end(&log->engines[i]);
    for (size_t i = 0; i < log->count; i++)
        pythia_buf_free(&log->messages[i]);
}

static int read_message(struct log *log, size_t i, struct pythia_text message)
{
    struct pythia_error e = {0};
    return pythia_live_shared_read(log->engines[i].live, message, &e);
}

/* What is new in the log is read by all. */
static void read_log(struct log *log)
{
    for (size_t i = 0; i < log->engine_count; i++) {
        uint64_t wish = pythia_live_wish(log->engines[i].live);
        for (; log->read[i] < log->count; log->read[i]++)
            assert_int_equal(read_message(log, i, pythia_buf_text(&log->messages[log->read[i]])),
                             PYTHIA_OK);
        if (pythia_live_wish(log->engines[i].live) != wish)
            stream_applied(&log->engines[i]);
    }
}

static void send_due(struct log *log)
{
    for (size_t i = 0; i < log->engine_count; i++)
        if (pythia_live_shared_is_due(log->engines[i].live)) {
            assert_true(log->count < MESSAGES_MAX);
            assert_int_equal(pythia_live_shared_take(log->engines[i].live, log->names[i],
                                                     &log->messages[log->count++]),
                             PYTHIA_OK);
        }
}

static struct pythia_live_shared_numbers numbers(const struct log *log, size_t i)
{
    return pythia_live_shared_numbers(log->engines[i].live);
}

/* Requests at each engine until so many rounds were decided. */
static void run(struct log *log, uint64_t rounds)
{
    for (int turn = 0; numbers(log, 0).rounds < rounds; turn++) {
        assert_true(turn < 5000);
        for (size_t i = 0; i < log->engine_count; i++)
            stream_request(&log->engines[i], stream_varied(log->engines[i].number));
        send_due(log);
        read_log(log);
    }
}

static void assert_alike(const struct log *log)
{
    static const char *const points[] = {"A", "C0", "C5", "D0", "D4", "D5", "D6", "D7"};
    for (size_t i = 1; i < log->engine_count; i++) {
        const struct stream *a = &log->engines[0], *b = &log->engines[i];
        assert_int_equal(numbers(log, i).set, numbers(log, 0).set);
        assert_int_equal(numbers(log, i).requests, numbers(log, 0).requests);
        assert_int_equal(b->cycles, a->cycles);
        assert_string_equal(b->types, a->types);
        for (size_t p = 0; p < sizeof(points) / sizeof(points[0]); p++)
            assert_int_equal(stream_is_open(b, points[p]), stream_is_open(a, points[p]));
        for (size_t c = 0; c < a->cycles; c++) {
            assert_int_equal(b->seen[c].requests, a->seen[c].requests);
            assert_int_equal(b->seen[c].switches, a->seen[c].switches);
            assert_int_equal(b->seen[c].opened, a->seen[c].opened);
        }
    }
}

static void engines_that_read_the_same_log_decide_alike(void **state)
{
    struct log log;
    begin(&log, 2);
    run(&log, 12);
    size_t opened = 0;
    for (size_t c = 0; c < 12; c++)
        opened += log.engines[0].seen[c].opened;
    assert_true(opened > 0);
    assert_true(log.engines[0].seen[0].requests >= 80);
    assert_alike(&log);

    /* One that comes later stands where they stand, although no request came to it. */
    join(&log, 2, &usual);
    read_log(&log);
    assert_alike(&log);
    end(&log);
}

static void a_message_that_is_cut_off_or_changed_is_refused_and_changes_nothing(void **state)
{
    struct log log;
    begin(&log, 1);
    run(&log, 1);
    while (!pythia_live_shared_is_due(log.engines[0].live))
        stream_request(&log.engines[0], stream_varied(log.engines[0].number));
    send_due(&log);
    struct pythia_text whole = pythia_buf_text(&log.messages[log.count - 1]);
    for (size_t size = 0; size < whole.size; size += 1 + size / 50)
        if (size != (size_t)((char *)memchr(whole.bytes, '\n', whole.size) - whole.bytes) + 1)
            assert_int_equal(read_message(&log, 0, (struct pythia_text){whole.bytes, size}),
                             PYTHIA_EFORMAT);
    struct pythia_buf changed = {0};
    pythia_buf_text_add(&changed, whole);
    changed.bytes[changed.size - 5] ^= 1; /* its checksum */
    assert_int_equal(read_message(&log, 0, pythia_buf_text(&changed)), PYTHIA_EFORMAT);
    pythia_buf_free(&changed);
    assert_int_equal(numbers(&log, 0).rounds, 1);
    read_log(&log);
    assert_int_equal(numbers(&log, 0).rounds, 2);
    end(&log);
}

static void evidence_that_comes_twice_counts_once(void **state)
{
    struct log log;
    begin(&log, 1);
    run(&log, 1);
    pythia_live_shared_set_parts(log.engines[0].live, 1, 2); /* rounds wait for another engine */
    while (!pythia_live_shared_is_due(log.engines[0].live))
        stream_request(&log.engines[0], stream_varied(log.engines[0].number));
    send_due(&log);
    uint64_t before = numbers(&log, 0).requests;
    read_log(&log);
    uint64_t waiting = numbers(&log, 0).waiting_requests;
    assert_true(waiting >= 40);
    struct pythia_buf other = {0}; /* the same, by the name of another engine */
    struct pythia_text text = pythia_buf_text(&log.messages[log.count - 1]);
    const char *name = strstr(text.bytes, "\"one\"");
    pythia_buf_add(&other, text.bytes, (size_t)(name - text.bytes));
    pythia_buf_puts(&other, "\"two\"");
    pythia_buf_add(&other, name + 5, text.size - (size_t)(name + 5 - text.bytes));
    assert_int_equal(read_message(&log, 0, pythia_buf_text(&other)), PYTHIA_OK);
    assert_int_equal(numbers(&log, 0).requests, before + waiting);
    assert_int_equal(numbers(&log, 0).broken, 1);
    pythia_buf_free(&other);
    end(&log);
}

static void an_engine_with_other_settings_takes_no_part(void **state)
{
    struct log log;
    struct pythia_live_options o = usual;
    begin(&log, 1);
    run(&log, 1);
    o.shared.settings = "t";
    join(&log, 1, &o);
    read_log(&log);
    assert_true(numbers(&log, 1).differs);
    assert_int_equal(numbers(&log, 1).rounds, 0);
    assert_string_equal(pythia_live_shared_settings(log.engines[1].live), "s");
    for (int i = 0; i < 200; i++)
        stream_request(&log.engines[1], stream_varied(log.engines[1].number));
    assert_false(pythia_live_shared_is_due(log.engines[1].live));
    end(&log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(engines_that_read_the_same_log_decide_alike),
        cmocka_unit_test(a_message_that_is_cut_off_or_changed_is_refused_and_changes_nothing),
        cmocka_unit_test(evidence_that_comes_twice_counts_once),
        cmocka_unit_test(an_engine_with_other_settings_takes_no_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
