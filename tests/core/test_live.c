/* The engine attached to a stream that a test makes. */
#include "pythia/critical_path.h"
#include "stream.h"

#define SECOND UINT64_C(1000)

static const struct pythia_live_options usual = {
    .groups = {.fold = true},
    .search = {.budget = {.points_per_cycle = 3}, .price_ns = 1000, .seed = 1},
    .cycle_requests = 40,
    .learn_requests = 10,
};

/* ---- cycles ---- */

static struct pythia_space *space_of(struct stream *s, const char *(*request)(uint64_t number))
{
    struct pythia_space *space = NULL;
    struct stream other = {.vocabulary = s->vocabulary, .now_ms = 1000};
    struct pythia_live_options o = usual;
    assert_int_equal(pythia_space_create(s->vocabulary, &space), PYTHIA_OK);
    assert_int_equal(pythia_span_batch_create(&other.batch), PYTHIA_OK);
    o.learn_requests = 5;
    stream_attach(&other, NULL, &o);
    for (int i = 0; i < 5; i++)
        stream_request(&other, request(other.number));
    stream_wait(&other, 5 * SECOND);
    size_t count;
    const struct pythia_space_type *types =
        pythia_space_types(pythia_live_space(other.live), &count);
    assert_int_equal(count, 1);
    /* what it has learnt is its own: move it */
    struct pythia_space *learnt;
    const struct pythia_space *owned = pythia_live_space(other.live);
    memcpy(&learnt, &owned, sizeof(owned));
    uint32_t name = types[0].name;
    assert_int_equal(pythia_space_move(space, learnt, name), PYTHIA_OK);
    pythia_live_destroy(other.live);
    pythia_span_batch_destroy(other.batch);
    return space;
}

static void a_planted_cause_is_found_cycle_by_cycle(void **state)
{
    struct stream s;
    stream_begin(&s);
    stream_attach(&s, NULL, &usual);
    stream_run(&s, 12, stream_varied);
    assert_true(s.seen[11].finished);
    assert_true(stream_is_open(&s, "D5"));
    assert_true(s.seen[1].opened > 0);
    assert_int_equal(s.seen[1].number, 1);
    for (size_t i = 1; i < 12; i++)
        assert_in_range(s.seen[i].requests, 40, 60);
    /* What it does not want open it does not see: of 17 spans a few are left. */
    assert_true(s.seen[1].spans == s.seen[1].requests);
    assert_true(pythia_live_counts(s.live)->hidden > 10 * s.seen[1].requests);
    stream_end(&s);
}

/* With the skeleton of a space that was given it begins at once. */
static void with_a_space_it_searches_from_the_beginning(void **state)
{
    struct stream s;
    stream_begin(&s);
    struct pythia_space *space = space_of(&s, stream_varied);
    stream_attach(&s, space, &usual);
    assert_int_equal(pythia_live_wish(s.live), 1);
    assert_true(stream_is_open(&s, "A"));
    assert_ptr_equal(pythia_live_space(s.live), space);
    stream_applied(&s);
    stream_run(&s, 6, stream_varied);
    assert_int_equal(s.seen[0].number, 1);
    assert_true(stream_is_open(&s, "D5"));
    stream_end(&s);
    pythia_space_destroy(space);
}

static const char *steady(uint64_t number)
{
    return number % 2 ? "A{10 B{20} 10}" : "A{10 B{21} 10}";
}

/* N - 1 requests are no cycle, N are. */
static void a_cycle_is_full_with_so_many_requests_of_one_type(void **state)
{
    struct stream s;
    stream_begin(&s);
    struct pythia_space *space = space_of(&s, steady);
    stream_attach(&s, space, &usual);
    stream_applied(&s);
    for (int i = 0; i < 39; i++) {
        stream_request(&s, steady(s.number));
        stream_request(&s, "Z{5}"); /* of another type there may be as many */
    }
    stream_wait(&s, 5 * SECOND);
    assert_int_equal(s.cycles, 0);
    stream_request(&s, steady(s.number));
    stream_wait(&s, 5 * SECOND);
    assert_int_equal(s.cycles, 1);
    assert_string_equal(s.types, "A 40 Z 39");
    assert_int_equal(s.seen[0].requests, 79);
    assert_int_equal(s.seen[0].under_way, 0);
    stream_end(&s);
    pythia_space_destroy(space);
}

/* Where requests are many, a cycle takes in more than it needs rather than to be too short. */
static void a_cycle_is_not_full_before_its_time(void **state)
{
    struct stream s;
    struct pythia_live_options o = usual;
    o.cycle_min_ns = 10 * SECOND * MS;
    stream_begin(&s);
    struct pythia_space *space = space_of(&s, steady);
    stream_attach(&s, space, &o);
    stream_applied(&s);
    for (int i = 0; i < 50; i++)
        stream_request(&s, steady(s.number));
    stream_wait(&s,
                9 * SECOND); /* 2 s of them before the first is finished, and the cycle begins */
    assert_int_equal(s.cycles, 0);
    stream_wait(&s, 2 * SECOND);
    assert_int_equal(s.cycles, 1);
    assert_string_equal(s.types, "A 50");
    stream_end(&s);
    pythia_space_destroy(space);
}

/* The slow ones of the requests that began in a cycle belong to it, whenever they end; the quick
 * ones that begin after its last one, to the next. */
static void a_full_cycle_waits_for_its_stragglers(void **state)
{
    struct stream s;
    stream_begin(&s);
    struct pythia_space *space = space_of(&s, steady);
    stream_attach(&s, space, &usual);
    stream_applied(&s);
    uint64_t slow_begin_ms = s.now_ms + 200;
    for (int i = 0; i < 30; i++)
        stream_request(&s, steady(s.number));
    /* A request of 7 s, of which a part is seen early on. */
    stream_write(&s, slow_begin_ms, "A{10 B{6980} 10}");
    uint64_t slow = s.number;
    pythia_span_batch_clear(s.batch);
    struct pythia_span early = {
        .id = 77,
        .parent = 1,
        .start_ns = STREAM_EPOCH + slow_begin_ms * MS,
        .tracepoint = pythia_vocabulary_tracepoint_find(s.vocabulary, PYTHIA_TEXT("B"))};
    struct pythia_trace_id id = {5, slow};
    assert_int_equal(pythia_span_batch_add(s.batch, &id, &early), PYTHIA_OK);
    stream_send(&s);
    for (int i = 0; i < 30; i++) /* 10 more fill the cycle, and 20 come after it */
        stream_request(&s, steady(s.number));
    for (int i = 0; i < 20; i++) { /* time passes; spans of the slow request keep it open */
        early.id = 100 + (uint64_t)i;
        assert_int_equal(pythia_span_batch_add(s.batch, &id, &early), PYTHIA_OK);
        stream_send(&s);
        stream_wait(&s, 200);
    }
    early.id = 1;
    early.parent = 0;
    early.duration_ns = (int64_t)(7000 * MS);
    early.tracepoint = pythia_vocabulary_tracepoint_find(s.vocabulary, PYTHIA_TEXT("A"));
    assert_int_equal(pythia_span_batch_add(s.batch, &id, &early), PYTHIA_OK);
    stream_send(&s);
    assert_int_equal(s.cycles, 0);
    stream_wait(&s, 3 * SECOND);
    assert_int_equal(s.cycles, 1);
    assert_in_range(s.seen[0].requests, 41, 43); /* 40, those that came with the 40th, and it */
    assert_int_equal(s.seen[0].end_ms, slow_begin_ms + 7000);
    assert_true(s.seen[0].switches > 0); /* so that what began later is of the old set */
    assert_int_equal(s.seen[0].requests + pythia_live_numbers(s.live).under_way, 61);
    stream_end(&s);
    pythia_space_destroy(space);
}

/* A request that hangs, or whose end is lost, is not waited for for ever. */
static void one_that_is_stuck_does_not_hold_up_the_others(void **state)
{
    struct stream s;
    stream_begin(&s);
    struct pythia_space *space = space_of(&s, steady);
    stream_attach(&s, space, &usual);
    stream_applied(&s);
    struct pythia_trace_id id = {6, 1};
    struct pythia_span stuck = {
        .id = 1,
        .start_ns = STREAM_EPOCH + s.now_ms * MS,
        .part = PYTHIA_PART_START,
        .tracepoint = pythia_vocabulary_tracepoint_find(s.vocabulary, PYTHIA_TEXT("A"))};
    assert_int_equal(pythia_span_batch_add(s.batch, &id, &stuck), PYTHIA_OK);
    stream_send(&s);
    for (int i = 0; i < 40; i++)
        stream_request(&s, steady(s.number));
    stream_wait(&s, 8 * SECOND);
    assert_int_equal(s.cycles, 0);
    stream_wait(&s, 3 * SECOND); /* four times 2 s, that others take until they are seen whole */
    assert_int_equal(s.cycles, 1);
    assert_int_equal(s.seen[0].requests, 40);
    stream_end(&s);
    pythia_space_destroy(space);
}

/* Requests that come without pause: what begins while a cycle waits for its stragglers is of the
 * next one, and nothing is lost between cycles. */
static void between_two_cycles_nothing_is_lost(void **state)
{
    struct stream s;
    stream_begin(&s);
    struct pythia_space *space = space_of(&s, steady);
    stream_attach(&s, space, &usual);
    stream_applied(&s);
    uint64_t first = s.number, told = 0;
    for (int i = 0; i < 1000; i++)
        stream_request(&s, steady(s.number));
    assert_int_equal(pythia_live_drain(s.live), PYTHIA_OK);
    for (size_t i = 0; i < s.cycles; i++) {
        told += s.seen[i].requests;
        assert_int_equal(s.seen[i].under_way, 0);
        if (i > 0)
            assert_true(s.seen[i].begin_ms > s.seen[i - 1].begin_ms);
        if (i + 1 < s.cycles) /* 40, and those that began while the 40th was not told yet: 2 s */
            assert_in_range(s.seen[i].requests, 40, 41);
    }
    assert_int_equal(told, s.number - first);
    assert_int_equal(pythia_live_numbers(s.live).requests, told);
    assert_int_equal(pythia_live_numbers(s.live).cycles, s.cycles);
    stream_end(&s);
    pythia_space_destroy(space);
}

static void a_cycle_lasts_no_longer_than_it_may(void **state)
{
    struct stream s;
    stream_begin(&s);
    struct pythia_space *space = space_of(&s, steady);
    stream_attach(&s, space, &usual);
    stream_applied(&s);
    stream_wait(&s, 500 * SECOND);
    assert_int_equal(s.cycles, 0); /* without any request there is none */
    for (int i = 0; i < 30; i++)
        stream_request(&s, steady(s.number));
    stream_wait(&s, 50 * SECOND);
    assert_int_equal(s.cycles, 0);
    stream_wait(&s, 20 * SECOND);
    assert_int_equal(s.cycles, 1); /* 30 are enough for the search */
    assert_int_equal(s.seen[0].requests, 30);
    for (int i = 0; i < 29; i++)
        stream_request(&s, steady(s.number));
    stream_wait(&s, 590 * SECOND);
    assert_int_equal(s.cycles, 1); /* and 29 are not: it goes on */
    stream_wait(&s, 20 * SECOND);
    assert_int_equal(s.cycles, 2);
    assert_int_equal(s.seen[1].requests, 29);
    stream_end(&s);
    pythia_space_destroy(space);
}

static void the_end_tells_what_there_is(void **state)
{
    struct stream s;
    stream_begin(&s);
    stream_attach(&s, NULL, &usual);
    assert_int_equal(pythia_live_drain(s.live), PYTHIA_OK);
    assert_int_equal(s.cycles, 0);
    stream_send_varied(&s, 7);
    assert_int_equal(pythia_live_drain(s.live), PYTHIA_OK);
    assert_int_equal(s.cycles, 1);
    assert_int_equal(s.seen[0].requests, 7);
    stream_end(&s);
}

/* ---- switches ---- */

static void requests_that_began_before_a_switch_is_in_force_are_kept_apart(void **state)
{
    struct stream s;
    stream_begin(&s);
    struct pythia_space *space = space_of(&s, stream_varied);
    stream_attach(&s, space, &usual);
    stream_send_varied(&s, 5); /* the skeleton is not in force yet */
    stream_wait(&s, 3 * SECOND);
    assert_true(pythia_live_numbers(s.live).switching);
    assert_int_equal(pythia_live_numbers(s.live).under_way, 5);
    uint64_t before_ms = s.now_ms;
    stream_wait(&s, 500);
    stream_applied(&s); /* since now: what began before and ends later is of the old set */
    assert_false(pythia_live_numbers(s.live).switching);
    stream_write(&s, before_ms, stream_varied(3));
    stream_wait(&s, 300);
    stream_send(&s);
    stream_send_varied(&s, 40);
    stream_wait(&s, 3 * SECOND);
    assert_int_equal(s.cycles, 1);
    assert_int_equal(s.seen[0].requests, 40);
    assert_int_equal(s.seen[0].under_way, 6);
    assert_true(s.seen[0].switches > 0);
    assert_int_equal(s.seen[0].wish, 2); /* it is known when the cycle is told */
    stream_send_varied(&s, 50); /* and nothing comes of requests before the next one is in force */
    stream_wait(&s, 3 * SECOND);
    assert_int_equal(s.cycles, 1);
    stream_applied(&s);
    stream_send_varied(&s, 40);
    stream_wait(&s, 3 * SECOND);
    assert_int_equal(s.cycles, 2);
    assert_int_equal(s.seen[1].under_way, 50);
    assert_int_equal(pythia_live_numbers(s.live).under_way, 56);
    stream_end(&s);
    pythia_space_destroy(space);
}

/* Targets had lost the set, and have it back: what was seen meanwhile is of nobody knows which. */
static void a_set_that_is_in_force_again_begins_the_cycle_anew(void **state)
{
    struct stream s;
    stream_begin(&s);
    struct pythia_space *space = space_of(&s, steady);
    stream_attach(&s, space, &usual);
    stream_applied(&s);
    for (int i = 0; i < 35; i++)
        stream_request(&s, steady(s.number));
    stream_wait(&s, 3 * SECOND);
    pythia_live_applied(s.live, STREAM_EPOCH, false); /* that is known */
    assert_int_equal(pythia_live_numbers(s.live).under_way, 0);
    stream_came_back(&s);
    assert_int_equal(pythia_live_numbers(s.live).under_way, 35);
    for (int i = 0; i < 40; i++)
        stream_request(&s, steady(s.number));
    stream_wait(&s, 3 * SECOND);
    assert_int_equal(s.cycles, 1);
    assert_int_equal(s.seen[0].requests, 40);
    assert_int_equal(s.seen[0].under_way, 35);
    stream_end(&s);
    pythia_space_destroy(space);
}

/* Targets that are new have it too now: what the others showed before counts. Of a request across
 * that moment nobody knows whether it passed a new one. */
static void when_targets_join_what_was_gathered_stays(void **state)
{
    struct stream s;
    stream_begin(&s);
    struct pythia_space *space = space_of(&s, steady);
    stream_attach(&s, space, &usual);
    stream_applied(&s);
    for (int i = 0; i < 35; i++)
        stream_request(&s, steady(s.number));
    stream_wait(&s, 3 * SECOND);
    uint64_t before_ms = s.now_ms;
    stream_wait(&s, 50);
    stream_applied(&s);
    assert_int_equal(pythia_live_numbers(s.live).under_way, 0);
    stream_write(&s, before_ms, steady(3));
    stream_wait(&s, 300);
    stream_send(&s);
    for (int i = 0; i < 5; i++)
        stream_request(&s, steady(s.number));
    stream_wait(&s, 3 * SECOND);
    assert_int_equal(s.cycles, 1);
    assert_int_equal(s.seen[0].requests, 40);
    assert_int_equal(s.seen[0].under_way, 1);
    stream_end(&s);
    pythia_space_destroy(space);
}

/* A host whose clock is an hour behind: its requests seem to begin before the switch, but two
 * minutes after it none can have. */
static void a_clock_that_is_off_does_not_keep_requests_apart_for_ever(void **state)
{
    struct stream s;
    stream_begin(&s);
    struct pythia_space *space = space_of(&s, steady);
    stream_attach(&s, space, &usual);
    s.now_ms += 7200 * SECOND;
    stream_wait(&s, 100);
    stream_applied(&s);
    s.skew_ms = 3600 * SECOND;
    stream_request(&s, steady(s.number));
    stream_wait(&s, 100 * SECOND);
    assert_int_equal(pythia_live_numbers(s.live).under_way, 1);
    stream_wait(&s, 20 * SECOND);
    for (int i = 0; i < 40; i++)
        stream_request(&s, steady(s.number));
    stream_wait(&s, 3 * SECOND);
    assert_int_equal(pythia_live_numbers(s.live).under_way, 1);
    assert_int_equal(s.cycles, 1);
    stream_end(&s);
    pythia_space_destroy(space);
}

static void while_it_pauses_nothing_is_decided(void **state)
{
    struct stream s;
    stream_begin(&s);
    struct pythia_space *space = space_of(&s, stream_varied);
    stream_attach(&s, space, &usual);
    stream_applied(&s);
    stream_send_varied(&s, 20);
    stream_wait(&s, 3 * SECOND);
    pythia_live_pause(s.live, true);
    pythia_live_pause(s.live, true);
    assert_int_equal(pythia_live_numbers(s.live).under_way, 20); /* all is closed now */
    stream_send_varied(&s, 40);
    stream_wait(&s, 3 * SECOND);
    assert_int_equal(s.cycles, 1);
    assert_int_equal(s.seen[0].requests, 40);
    assert_int_equal(s.seen[0].spans, 40 * 17); /* whatever came */
    assert_int_equal(s.seen[0].number, 0);
    assert_int_equal(s.seen[0].switches, 0);
    assert_int_equal(pythia_live_wish(s.live), 1);
    assert_true(pythia_live_numbers(s.live).paused);
    pythia_live_pause(s.live, false);
    assert_int_equal(pythia_live_wish(s.live), 2); /* it has to be applied again */
    stream_send_varied(&s, 10);
    stream_wait(&s, 3 * SECOND);
    assert_int_equal(pythia_live_numbers(s.live).under_way, 30);
    stream_applied(&s);
    stream_send_varied(&s, 40);
    stream_wait(&s, 3 * SECOND);
    assert_int_equal(s.cycles, 2);
    assert_int_equal(s.seen[1].number, 1);
    assert_true(s.seen[1].switches > 0);
    stream_end(&s);
    pythia_space_destroy(space);
}

/* ---- further types ---- */

static const char *two_types(uint64_t number)
{
    static char text[512];
    if (number % 2)
        return stream_varied(number / 2);
    size_t at = (size_t)snprintf(text, sizeof(text), "Z{10");
    for (int i = 0; i < 8; i++)
        at += (size_t)snprintf(text + at, sizeof(text) - at, " Y%d{1 X%d{%d} 1}", i, i,
                               10 + (i == 2 ? (int)(number / 2 * 3 % 11 * 10) : 0));
    snprintf(text + at, sizeof(text) - at, " 10}");
    return text;
}

static void a_type_that_turns_up_later_is_learnt_and_searched(void **state)
{
    struct stream s;
    stream_begin(&s);
    stream_attach(&s, NULL, &usual);
    stream_run(&s, 8, stream_varied);
    assert_true(s.seen[7].finished);
    assert_true(stream_is_open(&s, "D5"));
    stream_run(&s, 9, two_types); /* 10 of Z are enough, and at the end of the cycle it is known */
    assert_true(stream_knows(&s, "X2"));
    assert_false(stream_is_open(&s, "X2"));
    assert_true(stream_is_open(&s, "Z"));
    assert_true(stream_is_open(&s, "D5")); /* nothing is forgotten of A */
    assert_int_equal(pythia_live_numbers(s.live).learnt, 2);
    stream_run(&s, 18, two_types);
    assert_true(s.seen[17].finished);
    assert_true(stream_is_open(&s, "X2") && stream_is_open(&s, "D5"));
    stream_end(&s);
}

/* What is seen of a type before it is learnt is whole. */
static void a_type_that_is_not_known_yet_is_seen_as_it_comes(void **state)
{
    struct stream s;
    struct pythia_live_options o = usual;
    o.learn_requests = 1000;
    stream_begin(&s);
    struct pythia_space *space = space_of(&s, steady);
    stream_attach(&s, space, &o);
    stream_applied(&s);
    for (int i = 0; i < 40; i++)
        stream_request(&s, "Z{10 Y{20} 10}");
    stream_wait(&s, 3 * SECOND);
    assert_int_equal(s.seen[0].spans, 80);
    assert_int_equal(pythia_live_counts(s.live)->hidden, 0);
    for (int i = 0; i < 40; i++)
        stream_request(&s, steady(s.number));
    stream_wait(&s, 3 * SECOND);
    assert_int_equal(s.seen[1].spans, 40);
    assert_int_equal(pythia_live_counts(s.live)->hidden, 40);
    stream_end(&s);
    pythia_space_destroy(space);
}

/* With room for 3 types the fourth is not searched. */
static void no_more_types_are_searched_than_may_be(void **state)
{
    for (size_t most = 2; most <= 4; most++) {
        struct stream s;
        struct pythia_live_options o = usual;
        o.types_max = most;
        stream_begin(&s);
        stream_attach(&s, NULL, &o);
        for (int i = 0; i < 20; i++) {
            stream_request(&s, "A{10 B{20} 10}");
            stream_request(&s, "C{10 B{20} 10}");
            stream_request(&s, "D{10 B{20} 10}");
        }
        stream_wait(&s, 5 * SECOND);
        assert_int_equal(pythia_live_wish(s.live), 1);
        assert_int_equal(pythia_live_numbers(s.live).learnt, most < 3 ? most : 3);
        stream_end(&s);
    }
}

/* A hundred thousand types that come once, and one that comes every hundredth time: that one is
 * learnt, and memory does not grow with the others. */
static void of_types_without_number_those_that_come_often_are_learnt(void **state)
{
    struct stream s;
    struct pythia_live_options o = usual;
    o.cycle_ns = 600 * 1000 * MS;
    o.window.quiet_ns = 10 * MS;
    o.learn_requests = 900; /* of the 1000 that come */
    o.names.strings = 20000;
    o.names.tracepoints = 5000;
    stream_begin(&s);
    stream_attach(&s, NULL, &o);
    for (int i = 0; i < 100000; i++) {
        char text[64];
        snprintf(text, sizeof(text), "web:flood%d{1}", i);
        stream_write(&s, s.now_ms, i % 100 == 50 ? "web:often{1 B{2} 1}" : text);
        if (i % 10 == 9) {
            s.now_ms++;
            stream_send(&s);
            assert_int_equal(pythia_live_tick(s.live, s.now_ms * MS), PYTHIA_OK);
        }
    }
    struct pythia_live_numbers n = pythia_live_numbers(s.live);
    assert_in_range(n.types, 2, 1026);
    assert_true(pythia_live_wish(s.live) == 0);
    stream_wait(&s, 700 * SECOND);
    assert_int_equal(pythia_live_wish(s.live), 1);
    assert_true(stream_knows(&s, "web:often"));
    assert_true(n.other_requests > 10000);
    assert_int_equal(pythia_live_drain(s.live), PYTHIA_OK);
    uint64_t told = 0;
    for (size_t i = 0; i < s.cycles; i++) {
        told += s.seen[i].requests;
        assert_true(s.seen[i].types <= 2049);
    }
    assert_int_equal(told + pythia_live_numbers(s.live).under_way, 100000);
    stream_end(&s);
}

/* ---- limits ---- */

/* A cycle whose evidence gets too large is full; what comes before it is told is kept apart. */
static void the_memory_of_evidence_is_bounded(void **state)
{
    struct stream s;
    struct pythia_live_options o = usual;
    o.evidence_bytes = 1000000;
    o.cycle_requests = 1000000;
    o.learn_requests = 1000000;
    stream_begin(&s);
    stream_attach(&s, NULL, &o);
    size_t most = 0;
    for (int i = 0; i < 3000; i++) {
        struct pythia_buf text = {0};
        pythia_buf_puts(&text, "A{1");
        for (int k = 0; k < 50; k++)
            pythia_buf_printf(&text, " p%d{1}", i * 7 % 500 + k);
        pythia_buf_puts(&text, "}");
        stream_request(&s, text.bytes);
        pythia_buf_free(&text);
    }
    assert_int_equal(pythia_live_drain(s.live), PYTHIA_OK);
    uint64_t told = 0;
    for (size_t i = 0; i < s.cycles; i++) {
        told += s.seen[i].requests;
        most = s.seen[i].requests > most ? s.seen[i].requests : most;
    }
    assert_true(s.cycles > 2 && most < 2000);
    assert_int_equal(told + pythia_live_numbers(s.live).under_way, 3000);
    stream_end(&s);
}

static size_t most_rows;

static void count_rows(struct stream *s, const struct pythia_live_cycle *cycle)
{
    size_t count, rows = 0;
    const struct pythia_type *types = pythia_groups_types(cycle->groups, &count);
    for (size_t i = 0; i < count; i++)
        rows += pythia_type_rows(&types[i]);
    most_rows = rows > most_rows ? rows : most_rows;
}

/* Requests of three types, each of which alone has fewer than are kept of one. */
static void a_cycle_keeps_4096_whole_requests(void **state)
{
    struct stream s;
    struct pythia_live_options o = usual;
    o.cycle_requests = 1000000;
    o.learn_requests = 1000000;
    stream_begin(&s);
    stream_attach(&s, NULL, &o);
    s.look = count_rows;
    most_rows = 0;
    for (int i = 0; i < 6000; i++)
        stream_request(&s, i % 3 == 0 ? "A{1}" : i % 3 == 1 ? "B{1}" : "C{1}");
    assert_int_equal(pythia_live_drain(s.live), PYTHIA_OK);
    assert_int_equal(s.seen[0].requests, 6000);
    assert_in_range(most_rows, 3072, 4096);
    stream_end(&s);
}

static void a_full_window_is_told(void **state)
{
    struct stream s;
    struct pythia_live_options o = usual;
    o.window.soft_bytes = 100000;
    stream_begin(&s);
    stream_attach(&s, NULL, &o);
    assert_false(pythia_live_is_full(s.live));
    for (int i = 0; i < 400; i++)
        stream_write(&s, s.now_ms, stream_varied(s.number));
    stream_send(&s);
    assert_true(pythia_live_is_full(s.live));
    assert_int_equal(pythia_live_window(s.live).open_traces, 400);
    stream_wait(&s, 3 * SECOND);
    assert_false(pythia_live_is_full(s.live));
    stream_end(&s);
}

/* ---- failures ---- */

static void what_the_taker_says_comes_back(void **state)
{
    struct stream s;
    stream_begin(&s);
    struct pythia_space *space = space_of(&s, steady);
    stream_attach(&s, space, &usual);
    stream_applied(&s);
    for (int i = 0; i < 39; i++)
        stream_request(&s, steady(s.number));
    stream_wait(&s, 3 * SECOND);
    stream_request(&s, steady(s.number));
    s.answer = PYTHIA_ESTOPPED;
    int status = PYTHIA_OK;
    while (status == PYTHIA_OK)
        status = pythia_live_tick(s.live, (s.now_ms += 100) * MS);
    assert_int_equal(status, PYTHIA_ESTOPPED);
    assert_int_equal(s.cycles, 1);
    s.answer = PYTHIA_OK;
    for (int i = 0; i < 40; i++) /* and it goes on */
        stream_request(&s, steady(s.number));
    stream_wait(&s, 3 * SECOND);
    assert_int_equal(s.cycles, 2);
    stream_end(&s);
    pythia_space_destroy(space);
}

static void one_that_cannot_be_made_leaves_nothing(void **state)
{
    struct stream s;
    long failures = 0;
    stream_begin(&s);
    struct pythia_space *space = space_of(&s, stream_varied);
    for (int given = 0; given < 2; given++)
        for (failures = 0;; failures++) {
            struct pythia_live *live = NULL;
            pythia_mem_fail_after(failures);
            int status = pythia_live_create(s.vocabulary, given ? space : NULL, &usual,
                                            (struct pythia_live_taker){stream_cycle, &s}, &live);
            pythia_mem_fail_after(-1);
            assert_int_equal(status == PYTHIA_OK, live != NULL);
            pythia_live_destroy(live);
            if (status == PYTHIA_OK)
                break;
            assert_int_equal(status, PYTHIA_ENOMEM);
        }
    assert_true(failures > 15);
    pythia_space_destroy(space);
    stream_end(&s);
}

/* A life of learning, switching and growing, in which each call fails once for want of memory, and
 * is then made with enough: it goes on, and what it knows in the end is what it should. */
static void without_memory_now_and_then_it_goes_on(void **state)
{
    for (long every = 1; every <= 60; every += every < 12 ? 1 : 16) {
        struct stream s;
        long countdown = 0;
        stream_begin(&s);
        stream_attach(&s, NULL, &usual);
        uint64_t wish = 0;
        for (uint64_t i = 0; i < 900; i++) {
            uint64_t end_ms =
                stream_write(&s, s.now_ms, i < 300 ? stream_varied(s.number) : two_types(s.number));
            while (s.now_ms < end_ms) {
                s.now_ms += 100;
                pythia_mem_fail_after(countdown++ % every);
                int status = pythia_live_tick(s.live, s.now_ms * MS);
                pythia_mem_fail_after(-1);
                assert_true(status == PYTHIA_OK || status == PYTHIA_ENOMEM);
            }
            stream_send(&s);
            if (pythia_live_wish(s.live) != wish)
                stream_applied(&s);
            wish = pythia_live_wish(s.live);
        }
        assert_int_equal(pythia_live_drain(s.live), PYTHIA_OK);
        stream_end(&s);
    }
}

/* ---- evidence for somebody else ---- */

static struct pythia_groups *taken;

static void take_groups(struct stream *s, const struct pythia_live_cycle *cycle)
{
    pythia_groups_destroy(taken); /* of the cycle before */
    taken = pythia_live_take_groups(s->live);
    assert_ptr_equal(taken, cycle->groups);
    assert_null(pythia_live_take_groups(s->live)); /* once */
}

static void the_evidence_of_a_cycle_may_be_taken_and_lives_on(void **state)
{
    struct stream s;
    size_t count;
    stream_begin(&s);
    stream_attach(&s, NULL, &usual);
    s.look = take_groups;
    stream_send_varied(&s, 10);
    stream_wait(&s, 20 * SECOND);
    stream_applied(&s);
    stream_run(&s, 4, stream_varied);
    assert_int_equal(s.seen[3].number, 3); /* decisions go on without it */
    assert_true(s.seen[1].switches > 0);
    pythia_live_destroy(s.live);
    s.live = NULL;
    const struct pythia_type *types = pythia_groups_types(taken, &count);
    assert_int_equal(count, 1);
    assert_int_equal(types[0].moments.n, s.seen[s.cycles - 1].requests);
    const struct pythia_row *row = pythia_sample_row(types[0].rows, 0);
    assert_true(row->duration_ns > 0 && row->shape->edge_count > 0);
    pythia_groups_destroy(taken);
    taken = NULL;
    stream_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_planted_cause_is_found_cycle_by_cycle),
        cmocka_unit_test(with_a_space_it_searches_from_the_beginning),
        cmocka_unit_test(a_cycle_is_full_with_so_many_requests_of_one_type),
        cmocka_unit_test(a_cycle_is_not_full_before_its_time),
        cmocka_unit_test(a_full_cycle_waits_for_its_stragglers),
        cmocka_unit_test(one_that_is_stuck_does_not_hold_up_the_others),
        cmocka_unit_test(between_two_cycles_nothing_is_lost),
        cmocka_unit_test(a_cycle_lasts_no_longer_than_it_may),
        cmocka_unit_test(the_end_tells_what_there_is),
        cmocka_unit_test(requests_that_began_before_a_switch_is_in_force_are_kept_apart),
        cmocka_unit_test(a_set_that_is_in_force_again_begins_the_cycle_anew),
        cmocka_unit_test(when_targets_join_what_was_gathered_stays),
        cmocka_unit_test(a_clock_that_is_off_does_not_keep_requests_apart_for_ever),
        cmocka_unit_test(while_it_pauses_nothing_is_decided),
        cmocka_unit_test(a_type_that_turns_up_later_is_learnt_and_searched),
        cmocka_unit_test(a_type_that_is_not_known_yet_is_seen_as_it_comes),
        cmocka_unit_test(no_more_types_are_searched_than_may_be),
        cmocka_unit_test(of_types_without_number_those_that_come_often_are_learnt),
        cmocka_unit_test(the_memory_of_evidence_is_bounded),
        cmocka_unit_test(a_cycle_keeps_4096_whole_requests),
        cmocka_unit_test(a_full_window_is_told),
        cmocka_unit_test(what_the_taker_says_comes_back),
        cmocka_unit_test(one_that_cannot_be_made_leaves_nothing),
        cmocka_unit_test(without_memory_now_and_then_it_goes_on),
        cmocka_unit_test(the_evidence_of_a_cycle_may_be_taken_and_lives_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
