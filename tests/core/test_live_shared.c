/* Engines that share a log make one search: what one of them misses, sends twice or sends broken.
 * */
#include "pythia/buf.h"
#include "pythia/live_shared.h"
#include "pythia/live_snapshot.h"
#include "pythia/space_file.h"
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

/* Its round is as long as for those whose clocks agree, and not an hour. */
static void an_engine_whose_clock_is_an_hour_off_changes_no_decision(void **state)
{
    struct log log, apart;
    begin(&log, 2);
    begin(&apart, 2);
    apart.engines[1].now_ms += 3600000;
    run(&log, 12);
    run(&apart, 12);
    assert_alike(&apart);
    assert_int_equal(numbers(&log, 0).clocks_apart_ns, 0);
    for (size_t i = 0; i < 2; i++) {
        uint64_t apart_ns = numbers(&apart, i).clocks_apart_ns;
        assert_in_range(apart_ns / 1000000000, 3500, 3600);
    }
    for (size_t c = 0; c < 12; c++) {
        const struct stream *a = &log.engines[0], *b = &apart.engines[0];
        assert_int_equal(b->seen[c].requests, a->seen[c].requests);
        assert_int_equal(b->seen[c].opened, a->seen[c].opened);
        assert_in_range(b->seen[c].end_ms - b->seen[c].begin_ms, 1,
                        2 * (a->seen[c].end_ms - a->seen[c].begin_ms));
    }
    end(&log);
    end(&apart);
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

/* Requests at the first two engines until so many rounds were decided; the third only reads. */
static void run_two(struct log *log, uint64_t rounds)
{
    for (int turn = 0; numbers(log, 0).rounds < rounds; turn++) {
        assert_true(turn < 5000);
        for (size_t i = 0; i < 2; i++)
            stream_request(&log->engines[i], stream_varied(log->engines[i].number));
        for (size_t i = 0; i < 2; i++)
            if (pythia_live_shared_is_due(log->engines[i].live)) {
                assert_int_equal(pythia_live_shared_take(log->engines[i].live, log->names[i],
                                                         &log->messages[log->count++]),
                                 PYTHIA_OK);
                read_log(log);
            }
    }
}

/* In all rounds but the first `rounds_before` it has seen and decided what the first one has. */
static void assert_goes_on_alike(const struct log *log, size_t i, uint64_t rounds_before)
{
    static const char *const points[] = {"A", "C0", "C5", "D0", "D4", "D5", "D6", "D7"};
    const struct stream *a = &log->engines[0], *b = &log->engines[i];
    size_t before = a->cycles - b->cycles;
    assert_int_equal(numbers(log, i).set, numbers(log, 0).set);
    assert_int_equal(numbers(log, i).rounds, numbers(log, 0).rounds);
    assert_int_equal(numbers(log, i).requests, numbers(log, 0).requests);
    assert_int_equal(numbers(log, i).waiting_requests, numbers(log, 0).waiting_requests);
    assert_int_equal(numbers(log, 0).rounds - b->cycles, rounds_before);
    for (size_t p = 0; p < sizeof(points) / sizeof(points[0]); p++)
        assert_int_equal(stream_is_open(b, points[p]), stream_is_open(a, points[p]));
    for (size_t c = 0; c < b->cycles; c++) {
        assert_int_equal(b->seen[c].number, a->seen[c + before].number);
        assert_int_equal(b->seen[c].requests, a->seen[c + before].requests);
        assert_int_equal(b->seen[c].switches, a->seen[c + before].switches);
        assert_int_equal(b->seen[c].opened, a->seen[c + before].opened);
        assert_int_equal(b->seen[c].finished, a->seen[c + before].finished);
    }
}

/* Its trace points have other numbers than those of the others. */
static void join_from_snapshot(struct log *log, size_t i, struct pythia_text snapshot)
{
    struct pythia_error e = {0};
    join(log, i, &usual);
    for (int leaf = 7; leaf >= 0; leaf--) {
        char name[8];
        snprintf(name, sizeof(name), "D%d", leaf);
        uint32_t number =
            pythia_vocabulary_string(log->engines[i].vocabulary, pythia_text_of(name));
        (void)pythia_vocabulary_tracepoint(log->engines[i].vocabulary, 0, 0, number);
    }
    assert_int_equal(pythia_live_snapshot_restore(log->engines[i].live, snapshot, &e), PYTHIA_OK);
    log->read[i] = log->count;
    stream_applied(&log->engines[i]);
}

static void an_engine_that_begins_with_a_snapshot_goes_on_as_the_others(void **state)
{
    for (uint64_t rounds = 0; rounds < 6; rounds++) {
        struct log log;
        struct pythia_buf snapshot = {0};
        begin(&log, 2);
        run_two(&log, 1);
        run_two(&log, 1 + rounds);
        /* One part of the next round is in the log, too. */
        while (!pythia_live_shared_is_due(log.engines[1].live))
            stream_request(&log.engines[1], stream_varied(log.engines[1].number));
        assert_int_equal(
            pythia_live_shared_take(log.engines[1].live, log.names[1], &log.messages[log.count++]),
            PYTHIA_OK);
        read_log(&log);
        assert_true(pythia_live_has_snapshot(log.engines[0].live));
        assert_int_equal(pythia_live_snapshot_save(log.engines[0].live, &snapshot), PYTHIA_OK);
        join_from_snapshot(&log, 2, pythia_buf_text(&snapshot));
        assert_true(numbers(&log, 2).waiting_requests > 0);
        uint64_t before = numbers(&log, 0).rounds;
        run_two(&log, 12);
        assert_goes_on_alike(&log, 2, before);
        pythia_buf_free(&snapshot);
        end(&log);
    }
}

/* Only the first engine's programs have a layer below the application: of what is below C5. */
static void engines_go_down_the_same_layers_whoever_knows_them(void **state)
{
    struct pythia_layers *layers;
    struct log log = {.count = 0};
    stream_begin(&log.engines[0]);
    assert_int_equal(pythia_layers_create(log.engines[0].vocabulary, &layers), PYTHIA_OK);
    for (int i = 0; i < 8; i++) {
        char id[8];
        snprintf(id, sizeof(id), "D%d", i);
        assert_int_equal(pythia_layers_set(layers, pythia_text_of(id), PYTHIA_LAYER_KERNEL),
                         PYTHIA_OK);
    }
    struct pythia_live_options o = usual;
    o.search.layers = layers;
    stream_attach(&log.engines[0], NULL, &o);
    log.engines[0].number = 100000;
    log.names[0] = "one";
    join(&log, 1, &usual);
    for (size_t i = 0; i < 2; i++)
        pythia_live_shared_set_parts(log.engines[i].live, 1, 2);
    for (uint64_t rounds = 1; rounds <= 12; rounds++) {
        run(&log, rounds);
        for (int i = 0; i < 8; i++) { /* the host is open first */
            char host[8], point[8];
            snprintf(host, sizeof(host), "C%d", i);
            snprintf(point, sizeof(point), "D%d", i);
            assert_true(!stream_is_open(&log.engines[1], point) ||
                        stream_is_open(&log.engines[1], host));
            for (size_t k = 1; k < log.engine_count; k++) {
                assert_int_equal(stream_is_open(&log.engines[k], point),
                                 stream_is_open(&log.engines[0], point));
                assert_int_equal(stream_is_open(&log.engines[k], host),
                                 stream_is_open(&log.engines[0], host));
            }
        }
        if (rounds == 1) { /* one that begins with a snapshot knows them too */
            struct pythia_buf saved = {0};
            struct pythia_error e = {0};
            assert_int_equal(pythia_live_snapshot_save(log.engines[1].live, &saved), PYTHIA_OK);
            join(&log, 2, &usual);
            assert_int_equal(
                pythia_live_snapshot_restore(log.engines[2].live, pythia_buf_text(&saved), &e),
                PYTHIA_OK);
            stream_applied(&log.engines[2]);
            log.read[2] = log.count;
            for (size_t i = 0; i < 3; i++)
                pythia_live_shared_set_parts(log.engines[i].live, 1, 3);
            pythia_buf_free(&saved);
        }
    }
    assert_true(stream_is_open(&log.engines[1], "D5"));
    end(&log);
    pythia_layers_destroy(layers);
}

/* What is in the log now is lost before anybody has read it. */
static void lose_log(struct log *log)
{
    for (size_t i = 0; i < log->engine_count; i++)
        log->read[i] = log->count;
}

/* One saves its search, and all restore that, itself included. */
static void begin_afresh(struct log *log, size_t from)
{
    struct pythia_buf saved = {0};
    struct pythia_error e = {0};
    assert_int_equal(pythia_live_snapshot_save(log->engines[from].live, &saved), PYTHIA_OK);
    for (size_t i = 0; i < log->engine_count; i++) {
        assert_int_equal(
            pythia_live_snapshot_restore(log->engines[i].live, pythia_buf_text(&saved), &e),
            PYTHIA_OK);
        stream_applied(&log->engines[i]);
    }
    pythia_buf_free(&saved);
}

/* The first has read one message more than the second, and then both miss some. */
static void engines_that_all_missed_evidence_go_on_from_the_search_of_one(void **state)
{
    for (size_t from = 0; from < 2; from++) {
        struct log log;
        begin(&log, 2);
        run(&log, 3);
        for (size_t sent = log.count; log.count < sent + 2;) {
            for (size_t i = 0; i < 2; i++)
                stream_request(&log.engines[i], stream_varied(log.engines[i].number));
            send_due(&log);
        }
        assert_int_equal(read_message(&log, 0, pythia_buf_text(&log.messages[log.read[0]++])),
                         PYTHIA_OK);
        lose_log(&log);
        begin_afresh(&log, from);
        assert_int_equal(numbers(&log, 1).rounds, 3);
        for (size_t i = 0; i < 2; i++)
            assert_int_equal(numbers(&log, i).waiting, 1 - from);
        run(&log, 12);
        assert_alike(&log);
        end(&log);
    }
}

static void a_search_that_had_not_begun_begins_afresh_with_nothing(void **state)
{
    struct log log;
    struct pythia_buf saved = {0};
    struct pythia_error e = {0};
    begin(&log, 3);
    while (log.count == 0) { /* the types of one engine, of three */
        stream_request(&log.engines[0], stream_varied(log.engines[0].number));
        send_due(&log);
    }
    assert_int_equal(read_message(&log, 0, pythia_buf_text(&log.messages[0])), PYTHIA_OK);
    lose_log(&log);
    assert_false(pythia_live_has_snapshot(log.engines[1].live));
    assert_int_equal(pythia_live_snapshot_save(log.engines[1].live, &saved), PYTHIA_OK);
    begin_afresh(&log, 1);
    /* What the first knew of before counts no more: it would begin by itself with that. */
    for (size_t sent = log.count; log.count == sent; send_due(&log))
        stream_request(&log.engines[0], stream_varied(log.engines[0].number));
    read_log(&log);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(numbers(&log, i).set, 0);
    run(&log, 6);
    assert_alike(&log);
    /* One whose search has begun by then cannot go on with nothing. */
    assert_int_equal(pythia_live_snapshot_restore(log.engines[0].live, pythia_buf_text(&saved), &e),
                     PYTHIA_EUSAGE);
    pythia_buf_free(&saved);
    end(&log);
}

static void a_snapshot_that_is_cut_off_is_refused_and_changes_nothing(void **state)
{
    struct log log;
    struct pythia_buf snapshot = {0};
    struct pythia_error e = {0};
    begin(&log, 2);
    run_two(&log, 3);
    assert_int_equal(pythia_live_snapshot_save(log.engines[0].live, &snapshot), PYTHIA_OK);
    for (size_t size = 0; size < snapshot.size; size += 1 + snapshot.size / 300)
        assert_int_equal(pythia_live_snapshot_restore(
                             log.engines[1].live, (struct pythia_text){snapshot.bytes, size}, &e),
                         PYTHIA_EFORMAT);
    run_two(&log, 6);
    assert_alike(&log);
    pythia_buf_free(&snapshot);
    end(&log);
}

/* Its line and its space can be read, and its search cannot: the types of it are not taken over, or
 * the members' own types would be nothing new, and their search would not begin. */
static void a_member_that_was_given_a_broken_search_begins_as_the_others_do(void **state)
{
    struct log whole, log;
    struct pythia_buf snapshot = {0};
    struct pythia_error e = {0};
    begin(&whole, 2);
    run_two(&whole, 3);
    assert_int_equal(pythia_live_snapshot_save(whole.engines[0].live, &snapshot), PYTHIA_OK);
    end(&whole);
    char *search = memchr(snapshot.bytes, '\n', snapshot.size);
    assert_int_equal(strncmp(search + 1, "pythia.search/", 14), 0);
    search[1] = 'x';
    begin(&log, 2);
    assert_int_equal(
        pythia_live_snapshot_restore(log.engines[0].live, pythia_buf_text(&snapshot), &e),
        PYTHIA_EFORMAT);
    assert_string_equal(e.sentence, "its search is broken, or of another search space");
    assert_false(pythia_live_has_snapshot(log.engines[0].live));
    run(&log, 6);
    assert_alike(&log);
    pythia_buf_free(&snapshot);
    end(&log);
}

static void a_snapshot_of_another_version_is_refused_by_its_name(void **state)
{
    struct log log;
    struct pythia_error e = {0};
    begin(&log, 1);
    assert_false(pythia_live_has_snapshot(log.engines[0].live));
    assert_int_equal(
        pythia_live_snapshot_restore(log.engines[0].live,
                                     PYTHIA_TEXT("{\"format\":\"pythia.snapshot/9\"}\n"), &e),
        PYTHIA_EFORMAT);
    assert_string_equal(e.sentence,
                        "it has the format pythia.snapshot/9, and this pythiad reads "
                        "pythia.snapshot/2; run the same version of pythiad everywhere");
    end(&log);
}

/* ---- what is learnt ---- */

/* Half of the requests call Z, and are all seen by the second engine. */
static const char *partly(uint64_t number, bool second)
{
    static char text[128];
    snprintf(text, sizeof(text), second ? "A{10 B{%d} Z{5 Y{2}} 10}" : "A{10 B{%d} 10}",
             (int)(number % 10));
    return text;
}

static void write_space(const struct stream *s, struct pythia_buf *out)
{
    assert_int_equal(pythia_space_file_write(pythia_live_space(s->live), out), PYTHIA_OK);
}

static void several_engines_learn_what_one_learns_that_sees_all_requests(void **state)
{
    struct log log;
    struct pythia_live_options o = usual;
    struct pythia_buf spaces[3] = {{0}};
    begin(&log, 2);
    o.shared.group = NULL;
    o.learn_requests *= 2; /* as many as the two need together */
    join(&log, 2, &o);
    struct stream *one = &log.engines[0], *two = &log.engines[1], *alone = &log.engines[2];
    for (uint64_t i = 0; i < 12; i++) {
        stream_request(one, partly(i, false));
        stream_request(two, partly(i, true));
        stream_request(alone, partly(i, false));
        stream_request(alone, partly(i, true));
    }
    log.engine_count = 2;
    for (int turn = 0; numbers(&log, 0).set == 0; turn++) {
        assert_true(turn < 1000);
        stream_wait(one, 1000);
        stream_wait(two, 1000);
        send_due(&log);
        read_log(&log);
    }
    stream_wait(alone, 100000);
    write_space(one, &spaces[0]);
    write_space(two, &spaces[1]);
    write_space(alone, &spaces[2]);
    assert_non_null(strstr(spaces[0].bytes, "\"Y\""));
    assert_string_equal(spaces[1].bytes, spaces[0].bytes);
    assert_string_equal(spaces[2].bytes, spaces[0].bytes);
    for (int i = 0; i < 3; i++)
        pythia_buf_free(&spaces[i]);
    log.engine_count = 3;
    end(&log);
}

/* As the type of partly() that calls no Z; after an update B calls Y. */
static const char *updated(uint64_t number)
{
    static char text[128];
    snprintf(text, sizeof(text), "A{10 B{5 Y{%d}} 10}", (int)(number * 7 % 10));
    return text;
}

/* Each sees requests of its own, and they turn up at different times. */
static void a_type_that_is_learnt_once_more_is_the_same_at_all_engines(void **state)
{
    struct log log = {.count = 0};
    struct pythia_live_options o = usual;
    struct pythia_buf spaces[2] = {{0}};
    o.learn_hourly = 6;
    for (size_t i = 0; i < 2; i++) {
        join(&log, i, &o);
        pythia_live_shared_set_parts(log.engines[i].live, 1, 2);
    }
    for (int turn = 0; pythia_live_numbers(log.engines[1].live).renewed == 0; turn++) {
        assert_true(turn < 8000);
        for (size_t i = 0; i < 2; i++) {
            struct stream *s = &log.engines[i];
            uint64_t wish = pythia_live_wish(s->live);
            bool newer = numbers(&log, 0).rounds > i;
            stream_request(s, newer ? updated(s->number) : partly(s->number, false));
            if (pythia_live_wish(s->live) != wish)
                stream_applied(s);
        }
        send_due(&log);
        read_log(&log);
    }
    for (size_t i = 0; i < 2; i++) {
        struct stream *s = &log.engines[i];
        uint32_t a = pythia_vocabulary_string(s->vocabulary, PYTHIA_TEXT("A"));
        const struct pythia_space_type *known = pythia_space_type(pythia_live_space(s->live), a);
        assert_int_equal(pythia_cct_nodes(known->cct), 4); /* the root, A, B and Y */
        write_space(s, &spaces[i]);
    }
    assert_string_equal(spaces[1].bytes, spaces[0].bytes);
    assert_int_equal(numbers(&log, 1).set, numbers(&log, 0).set);
    assert_string_equal(log.engines[1].types, log.engines[0].types);
    for (size_t i = 0; i < 2; i++)
        pythia_buf_free(&spaces[i]);
    end(&log);
}

static void a_member_without_requests_holds_up_no_search(void **state)
{
    struct log log;
    begin(&log, 2);
    for (int turn = 0; numbers(&log, 1).set == 0; turn++) {
        assert_true(turn < 1000);
        stream_request(&log.engines[0], stream_varied(log.engines[0].number));
        send_due(&log);
        read_log(&log);
    }
    assert_true(stream_is_open(&log.engines[1], "A"));
    assert_alike(&log);
    end(&log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(engines_that_read_the_same_log_decide_alike),
        cmocka_unit_test(an_engine_whose_clock_is_an_hour_off_changes_no_decision),
        cmocka_unit_test(a_message_that_is_cut_off_or_changed_is_refused_and_changes_nothing),
        cmocka_unit_test(evidence_that_comes_twice_counts_once),
        cmocka_unit_test(an_engine_with_other_settings_takes_no_part),
        cmocka_unit_test(an_engine_that_begins_with_a_snapshot_goes_on_as_the_others),
        cmocka_unit_test(engines_go_down_the_same_layers_whoever_knows_them),
        cmocka_unit_test(engines_that_all_missed_evidence_go_on_from_the_search_of_one),
        cmocka_unit_test(a_search_that_had_not_begun_begins_afresh_with_nothing),
        cmocka_unit_test(a_snapshot_that_is_cut_off_is_refused_and_changes_nothing),
        cmocka_unit_test(a_member_that_was_given_a_broken_search_begins_as_the_others_do),
        cmocka_unit_test(a_snapshot_of_another_version_is_refused_by_its_name),
        cmocka_unit_test(several_engines_learn_what_one_learns_that_sees_all_requests),
        cmocka_unit_test(a_type_that_is_learnt_once_more_is_the_same_at_all_engines),
        cmocka_unit_test(a_member_without_requests_holds_up_no_search),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
