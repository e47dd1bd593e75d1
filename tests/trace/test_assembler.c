/* Behaviour 22, of traces that grow while they are read, carries its number in the names of the
 * tests. */
#include "assembler_line.h"

static void a_trace_that_grows_is_finished_after_two_quiet_ticks(void **state)
{
    struct line *l = begin(NULL, NULL);
    add(l, "t", "A[0,?]");
    tick(l);
    add(l, "t", "B[10,110]<A");
    tick(l);
    add(l, "t", "/A[500] C[200,300]<A");
    tick(l);
    assert_string_equal(given(l), ""); /* one quiet tick is not enough */
    tick(l);
    assert_string_equal(given(l), "t: A[0,500]{B[10,110] C[200,300]}");
    for (int i = 0; i < 5; i++)
        tick(l);
    assert_string_equal(given(l), ""); /* once */
    assert_int_equal(l->counts.traces, 1);
    assert_int_equal(l->counts.kept, 3);
    assert_int_equal(l->counts.spans, 4);
    end(l);
}

static void how_many_quiet_ticks_there_are_is_a_setting(void **state)
{
    struct line *l = begin(&(struct pythia_assembler_options){.quiet_ticks = 4}, NULL);
    add(l, "t", "A[0,9]");
    for (int i = 0; i < 3; i++) {
        tick(l);
        assert_string_equal(given(l), "");
    }
    tick(l);
    assert_string_equal(given(l), "t: A[0,9]");
    end(l);
}

/* What senders need: 15 ticks until the fifth, 3 from then on. */
static uint64_t wait_less_from_the_fifth_tick(void *context, uint32_t kind, uint64_t tick)
{
    return tick < 5 ? 15 : 3;
}

static enum pythia_assembler_lacks lack_nothing(void *context, uint32_t kind,
                                                const struct pythia_assembler_sender *senders,
                                                size_t count, uint64_t since, uint64_t tick)
{
    return PYTHIA_LACKS_NOTHING;
}

static int note_nothing(void *context, uint32_t kind, const struct pythia_assembler_sender *senders,
                        size_t count)
{
    return PYTHIA_OK;
}

/* The trace has come when its senders were unknown; it is finished by what is known of them now,
 * and a later trace of the same queue is not finished with it. */
static void a_trace_waits_no_longer_than_is_known_now(void **state)
{
    const struct pythia_assembler_patience patience = {wait_less_from_the_fifth_tick, lack_nothing,
                                                       note_nothing, NULL, 15};
    struct line *l =
        begin(&(struct pythia_assembler_options){.quiet_ticks = 2, .patience = &patience}, NULL);
    add(l, "q", "Q[0,9]");
    for (int i = 0; i < 4; i++)
        tick(l);
    add(l, "r", "R[0,9]");
    assert_string_equal(given(l), "");
    tick(l);
    assert_string_equal(given(l), "q: Q[0,9]");
    tick(l);
    assert_string_equal(given(l), "");
    tick(l);
    assert_string_equal(given(l), "r: R[0,9]");
    end(l);
}

static void a_trace_that_never_rests_is_finished_at_its_timeout(void **state)
{
    struct line *l = begin(&(struct pythia_assembler_options){.timeout_ticks = 5}, NULL);
    add(l, "t", "A[0,1000]");
    for (int i = 0; i < 4; i++) {
        char part[32];
        tick(l);
        snprintf(part, sizeof(part), "B%d[%d,%d]<A", i, i, i + 10);
        add(l, "t", part);
        assert_string_equal(given(l), "");
    }
    add(l, "u", "Z[0,1]"); /* younger: it is not finished with it */
    tick(l);
    assert_string_equal(given(l), "t: A[0,1000]{B0[0,10] B1[1,11] B2[2,12] B3[3,13]}");
    add(l, "t", "B4[4,14]<A");
    assert_int_equal(l->counts.dropped[PYTHIA_DROP_LATE], 1);
    assert_true(is_late(l, "t"));
    tick(l);
    assert_string_equal(given(l), "u: Z[0,1]");
    end(l);
}

static void late_spans_are_dropped_counted_and_reported(void **state)
{
    struct line *l = begin(NULL, NULL);
    size_t count = 99;
    pythia_assembler_late(l->assembler, &count);
    assert_int_equal(count, 0);
    add(l, "t", "A[0,9]");
    add(l, "u", "B[0,9]");
    tick(l);
    tick(l);
    assert_string_equal(given(l), "t: A[0,9] u: B[0,9]");
    add(l, "t", "C[1,2]<A D[3,4]<A");
    add(l, "v", "E[0,9]");
    tick(l);
    tick(l);
    assert_string_equal(given(l), "v: E[0,9]"); /* nothing is analysed twice */
    assert_int_equal(l->counts.dropped[PYTHIA_DROP_LATE], 2);
    assert_int_equal(l->counts.kept, 3);
    pythia_assembler_late(l->assembler, &count);
    assert_int_equal(count, 1);
    assert_true(is_late(l, "t"));
    assert_false(is_late(l, "u"));
    end(l);
}

/* However the late spans of many traces are mixed. */
static void a_late_trace_is_reported_once(void **state)
{
    enum { TRACES = 40 };
    struct line *l = begin(NULL, NULL);
    char name[8];
    for (int i = 0; i < TRACES; i++) {
        snprintf(name, sizeof(name), "t%d", i);
        add(l, name, "A[0,9]");
    }
    tick(l);
    tick(l);
    for (int round = 0; round < 20; round++)
        for (int i = 0; i < TRACES; i += 2) {
            snprintf(name, sizeof(name), "t%d", i);
            add(l, name, "B[1,2]<A");
        }
    size_t count;
    pythia_assembler_late(l->assembler, &count);
    assert_int_equal(count, TRACES / 2);
    for (int i = 0; i < TRACES; i++) {
        snprintf(name, sizeof(name), "t%d", i);
        assert_int_equal(is_late(l, name), i % 2 == 0);
    }
    assert_int_equal(l->counts.dropped[PYTHIA_DROP_LATE], 20 * TRACES / 2);
    end(l);
}

/* Whoever can read the input again asks a second assembler to wait for the traces that were late in
 * the first. */
static void pinned_traces_stay_open_until_the_end(void **state)
{
    struct line *l = begin(&(struct pythia_assembler_options){.timeout_ticks = 3}, NULL);
    struct pythia_trace_id ids[] = {trace_id_of_name("p", 1), trace_id_of_name("q", 1),
                                    trace_id_of_name("never", 5)};
    assert_int_equal(pythia_assembler_pin(l->assembler, NULL, 0), PYTHIA_OK);
    assert_int_equal(pythia_assembler_pin(l->assembler, ids, 3), PYTHIA_OK);
    add(l, "p", "A[0,9]");
    add(l, "r", "R[0,9]");
    add(l, "q", "Q[0,9]");
    for (int i = 0; i < 10; i++)
        tick(l);
    assert_string_equal(given(l), "r: R[0,9]");
    add(l, "p", "B[1,2]<A");
    assert_int_equal(l->counts.dropped[PYTHIA_DROP_LATE], 0);
    assert_int_equal(pythia_assembler_finish(l->assembler), PYTHIA_OK);
    assert_string_equal(given(l),
                        "q: Q[0,9] p: A[0,9]{B[1,2]}"); /* those that are quiet for longest first */
    end(l);
}

static void many_can_be_pinned(void **state)
{
    enum { PINNED = 500 };
    struct line *l = begin(NULL, NULL);
    static struct pythia_trace_id ids[PINNED];
    struct pythia_random r;
    pythia_random_init(&r, 1);
    for (size_t i = 0; i < PINNED; i++)
        ids[i] = (struct pythia_trace_id){pythia_random_next(&r), i % 7};
    assert_int_equal(pythia_assembler_pin(l->assembler, ids, PINNED), PYTHIA_OK);
    for (size_t i = 0; i < PINNED; i++) {
        struct pythia_span span = {.id = 1, .tracepoint = 0};
        struct pythia_trace_id other = {ids[i].high, 8};
        assert_int_equal(pythia_assembler_add(l->assembler, &ids[i], &span), PYTHIA_OK);
        assert_int_equal(pythia_assembler_add(l->assembler, &other, &span), PYTHIA_OK);
    }
    l->size = sizeof(l->out); /* the vocabulary is empty: nothing can be written down */
    tick(l);
    tick(l);
    assert_int_equal(l->taken, PINNED);
    assert_int_equal(pythia_assembler_numbers(l->assembler).open_spans, PINNED);
    l->size = 0;
    end(l);
}

static void the_end_finishes_all_that_is_open(void **state)
{
    struct line *l = begin(NULL, NULL);
    assert_int_equal(pythia_assembler_numbers(l->assembler).open_spans, 0);
    assert_int_equal(pythia_assembler_numbers(l->assembler).peak_spans, 0);
    add(l, "t", "A[0,9] B[1,2]<A");
    add(l, "u", "C[0,9]");
    assert_int_equal(pythia_assembler_numbers(l->assembler).open_spans, 3);
    assert_int_equal(pythia_assembler_finish(l->assembler), PYTHIA_OK);
    assert_string_equal(given(l), "t: A[0,9]{B[1,2]} u: C[0,9]");
    assert_int_equal(pythia_assembler_numbers(l->assembler).open_spans, 0);
    assert_int_equal(pythia_assembler_numbers(l->assembler).peak_spans, 3);
    add(l, "v", "D[0,9]");
    assert_int_equal(pythia_assembler_numbers(l->assembler).open_spans, 1);
    assert_int_equal(pythia_assembler_numbers(l->assembler).peak_spans, 3);
    assert_int_equal(pythia_assembler_finish(l->assembler), PYTHIA_OK);
    assert_int_equal(pythia_assembler_finish(l->assembler), PYTHIA_OK);
    assert_string_equal(given(l), "v: D[0,9]");
    end(l);
    pythia_assembler_destroy(NULL);
}

static void closed_trace_points_are_left_out(void **state)
{
    struct line *l = begin(NULL, "A C");
    add(l, "t", "A[0,100] B[10,90]<A C[20,30]<B");
    add(l, "u", "B[0,9]"); /* nothing of it is left */
    assert_int_equal(pythia_assembler_finish(l->assembler), PYTHIA_OK);
    assert_string_equal(given(l), "t: A[0,100]{C[20,30]}");
    assert_int_equal(l->counts.hidden, 2);
    assert_int_equal(l->counts.traces, 1);
    add(l, "u", "A[0,9]<X");
    assert_int_equal(l->counts.dropped[PYTHIA_DROP_LATE], 1); /* finished it is all the same */
    end(l);
}

/* Every member of a span comes out as it went in, whatever stands next to it in memory. */
static void spans_are_kept_whole(void **state)
{
    struct line *l = begin(NULL, NULL);
    add(l, "t",
        "A[0,?]:%web:@h1:{begun}:error B[10,110]<A:call:%web:@h1 C[10,110]<A:spawn:many:{xyz} "
        "&K[20]<A W[30,40]<A&K B[20,100]<A:shared:%db:@h2 /A[200]:{done} N[50]<A:{}");
    add(l, "K", "K[25,38]<&K:{a_longer_attribute}");
    assert_int_equal(pythia_assembler_finish(l->assembler), PYTHIA_OK);
    assert_string_equal(given(l),
                        "t: A[0,200]:error:{begun}:{done}{C[10,110]:{xyz} B[10,110]{B'[20,100]} "
                        "K[25,38]:forked:{a_longer_attribute} W[30,40]:joins=K N[50]}");
    end(l);
}

static void attributes_may_be_larger_than_a_chunk(void **state)
{
    struct line *l = begin(NULL, NULL);
    struct pythia_buf packed = {0};
    static char text[5000];
    memset(text, 'x', sizeof(text));
    uint32_t key = intern(l->vocabulary, "key"), point = 0;
    point = pythia_vocabulary_tracepoint(l->vocabulary, 0, 0, intern(l->vocabulary, "p"));
    struct pythia_trace_id id = {1, 1};
    for (size_t size = 1; size <= sizeof(text); size += 111) {
        pythia_buf_clear(&packed);
        pythia_attributes_text(&packed, key, (struct pythia_text){text, size});
        struct pythia_span span = {.id = size,
                                   .start_ns = size,
                                   .tracepoint = point,
                                   .attributes = pythia_buf_text(&packed)};
        assert_int_equal(pythia_assembler_add(l->assembler, &id, &span), PYTHIA_OK);
    }
    l->size = sizeof(l->out); /* too long to write down */
    assert_int_equal(pythia_assembler_finish(l->assembler), PYTHIA_OK);
    assert_int_equal(l->counts.kept, 46);
    l->size = 0;
    pythia_buf_free(&packed);
    end(l);
}

static void what_the_taker_says_comes_back(void **state)
{
    struct line *l = begin(NULL, NULL);
    add(l, "t", "A[0,9]");
    add(l, "u", "B[0,9]");
    l->answer = PYTHIA_ESTOPPED;
    tick(l);
    assert_int_equal(pythia_assembler_tick(l->assembler), PYTHIA_ESTOPPED);
    assert_string_equal(given(l), "t: A[0,9]"); /* the second one waits */
    assert_int_equal(pythia_assembler_finish(l->assembler), PYTHIA_ESTOPPED);
    assert_string_equal(given(l), "u: B[0,9]");
    assert_int_equal(pythia_assembler_finish(l->assembler), PYTHIA_OK);
    end(l);
}

/* ---- traces that are linked by a fork ---- */

/* A request whose work goes on in two other traces, one forked off the other: each part with its
 * trace. */
static const struct {
    const char *trace, *part;
} linked[] = {
    {"t", "A[0,1000]"},  {"t", "&K[100]<A"},     {"t", "W[450,?]<A&K"},   {"K", "K1[150,790]<&K"},
    {"K", "&L[200]<K1"}, {"K", "C[210,220]<K1"}, {"L", "L1[250,600]<&L"}, {"L", "D[260,270]<L1"},
};
enum { LINKED = sizeof(linked) / sizeof(linked[0]) };

static void linked_traces_become_one_in_whatever_order_they_come(void **state)
{
    struct pythia_random r;
    size_t order[LINKED];
    pythia_random_init(&r, 1);
    for (size_t i = 0; i < LINKED; i++)
        order[i] = i;
    for (size_t round = 0; round < 500; round++) {
        struct line *l = begin(NULL, NULL);
        for (size_t i = 0; i < LINKED; i++)
            if (strcmp(linked[order[i]].part, "W[450,?]<A&K") == 0)
                add(l, "t", "W[450,800]<A&K");
            else
                add(l, linked[order[i]].trace, linked[order[i]].part);
        tick(l);
        assert_int_equal(l->taken, 0);
        tick(l);
        assert_string_equal(given(l), "t: A[0,1000]{K1[150,790]:forked{C[210,220] "
                                      "L1[250,600]:forked{D[260,270]}} W[450,800]:joins=K1}");
        assert_int_equal(l->counts.traces, 1);
        assert_int_equal(pythia_assembler_numbers(l->assembler).open_spans, 0);
        /* All three are finished: what comes now is late, whichever it belongs to. */
        add(l, "L", "E[300,310]<L1");
        add(l, "K", "E[300,310]<K1");
        add(l, "t", "E[300,310]<A");
        assert_int_equal(l->counts.dropped[PYTHIA_DROP_LATE], 3);
        assert_true(is_late(l, "L") && is_late(l, "K") && is_late(l, "t"));
        tick(l);
        tick(l);
        assert_int_equal(pythia_assembler_finish(l->assembler), PYTHIA_OK);
        assert_int_equal(l->taken, 1);
        end(l);
        pythia_random_shuffle(&r, order, LINKED);
    }
}

static void one_part_of_linked_traces_keeps_all_of_them_open(void **state)
{
    struct line *l = begin(NULL, NULL);
    add(l, "t", "A[0,1000] &K[100]<A");
    tick(l);
    add(l, "K", "K1[150,790]<&K");
    tick(l);
    add(l, "K", "C[200,300]<K1");
    tick(l);
    assert_string_equal(given(l), "");
    tick(l);
    assert_string_equal(given(l), "t: A[0,1000]{K1[150,790]:forked{C[200,300]}}");
    end(l);
}

/* The work had been quiet for too long when its fork was seen: it was taken for a request, and both
 * are reported. */
static void work_that_was_finished_before_its_fork_came_is_reported(void **state)
{
    struct line *l = begin(NULL, NULL);
    add(l, "K", "K1[150,790]<&K");
    tick(l);
    tick(l);
    assert_string_equal(given(l), "K: K1[150,790]");
    add(l, "t", "A[0,1000] &K[100]<A W[450,800]<A&K");
    assert_int_equal(l->counts.dropped[PYTHIA_DROP_LATE], 1);
    assert_true(is_late(l, "K") && is_late(l, "t"));
    tick(l);
    tick(l);
    assert_string_equal(given(l), "t: A[0,1000]{W[450,800]}");
    size_t count;
    const struct pythia_trace_id *late = pythia_assembler_late(l->assembler, &count);
    assert_int_equal(count, 2);
    struct pythia_trace_id again[2] = {late[0], late[1]};
    end(l);
    /* Read again, with both pinned. */
    l = begin(NULL, NULL);
    assert_int_equal(pythia_assembler_pin(l->assembler, again, 2), PYTHIA_OK);
    add(l, "K", "K1[150,790]<&K");
    tick(l);
    tick(l);
    assert_string_equal(given(l), "");
    add(l, "t", "A[0,1000] &K[100]<A W[450,800]<A&K");
    assert_int_equal(pythia_assembler_finish(l->assembler), PYTHIA_OK);
    assert_string_equal(given(l), "t: A[0,1000]{K1[150,790]:forked W[450,800]:joins=K1}");
    end(l);
}

/* Whether the work was late for it, or its spans were, or both. */
static void a_request_that_was_late_in_several_ways_is_reported_once(void **state)
{
    struct line *l = begin(NULL, NULL);
    add(l, "K", "K1[150,790]<&K");
    add(l, "L", "L1[150,790]<&L");
    tick(l);
    tick(l);
    add(l, "t", "A[0,1000] &K[100]<A &L[100]<A");
    tick(l);
    tick(l);
    add(l, "t", "B[10,20]<A");
    add(l, "K", "K2[10,20]<&K");
    size_t count;
    pythia_assembler_late(l->assembler, &count);
    assert_int_equal(count, 3);
    assert_true(is_late(l, "t") && is_late(l, "K") && is_late(l, "L"));
    assert_int_equal(l->counts.dropped[PYTHIA_DROP_LATE], 4);
    end(l);
}

static void a_pin_holds_for_all_that_is_linked(void **state)
{
    struct line *l = begin(NULL, NULL);
    struct pythia_trace_id id = trace_id_of_name("K", 1);
    assert_int_equal(pythia_assembler_pin(l->assembler, &id, 1), PYTHIA_OK);
    add(l, "t", "A[0,1000] &K[100]<A");
    add(l, "K", "K1[150,790]<&K");
    for (int i = 0; i < 5; i++)
        tick(l);
    assert_string_equal(given(l), "");
    end(l); /* open traces are lost without harm */
}

static void forks_in_a_circle_and_of_oneself_do_no_harm(void **state)
{
    struct line *l = begin(NULL, NULL);
    add(l, "t", "A[0,100] &t[10]<A");
    add(l, "u", "B[0,100] &v[10]<B");
    add(l, "v", "C[20,30] &u[25]<C");
    add(l, "w", "D[0,100] &x[10]<D &x[20]<D");
    add(l, "x", "E[20,30]<&x &w[25]<E");
    assert_int_equal(pythia_assembler_finish(l->assembler), PYTHIA_OK);
    assert_int_equal(l->counts.traces, 3);
    assert_int_equal(l->counts.kept, 5);
    assert_int_equal(pythia_assembler_numbers(l->assembler).open_spans, 0);
    end(l);
}

/* Two requests fork the same trace: the first has it; nothing is lost. */
static void work_that_two_requests_have_forked_joins_them(void **state)
{
    struct line *l = begin(NULL, NULL);
    add(l, "t", "A[0,100] &K[10]<A");
    add(l, "u", "B[0,100] &K[20]<B");
    add(l, "K", "K1[30,40]<&K");
    assert_int_equal(pythia_assembler_finish(l->assembler), PYTHIA_OK);
    assert_int_equal(l->counts.kept, 3);
    assert_int_equal(l->counts.traces, 1);
    end(l);
}

/* Traces fork each other at random, and come and go: each span is in a trace that was given, or it
 * was late. */
static void however_traces_are_linked_nothing_is_lost(void **state)
{
    struct pythia_random r;
    pythia_random_init(&r, 3);
    for (int round = 0; round < 200; round++) {
        struct line *l =
            begin(&(struct pythia_assembler_options){.timeout_ticks = round % 2 ? 6 : 0}, NULL);
        uint32_t point =
            pythia_vocabulary_tracepoint(l->vocabulary, 0, 0, intern(l->vocabulary, "p"));
        uint64_t spans = 0, late = 0;
        l->size = sizeof(l->out);
        for (uint64_t step = 1; step <= 400; step++) {
            uint64_t *dropped = &l->counts.dropped[PYTHIA_DROP_LATE], before = *dropped;
            struct pythia_trace_id id = {1, step / 20 + pythia_random_below(&r, 12)};
            struct pythia_span span = {.id = step, .start_ns = step, .tracepoint = point};
            if (pythia_random_below(&r, 4) == 0) {
                span.part = PYTHIA_PART_FORK;
                span.link = (struct pythia_trace_id){1, step / 20 + pythia_random_below(&r, 12)};
            }
            assert_int_equal(pythia_assembler_add(l->assembler, &id, &span), PYTHIA_OK);
            if (span.part == PYTHIA_PART_WHOLE) {
                spans++;
                late += *dropped - before;
            }
            if (pythia_random_below(&r, 10) == 0)
                tick(l);
        }
        assert_int_equal(pythia_assembler_finish(l->assembler), PYTHIA_OK);
        assert_int_equal(l->counts.kept + late, spans);
        assert_int_equal(pythia_assembler_numbers(l->assembler).open_spans, 0);
        l->size = 0;
        end(l);
    }
}

/* ---- many traces ---- */

/* Traces come and go at random, with their ids as they like; a table says for each what must have
 * become of it. */
static void many_traces_are_told_apart(void **state)
{
    enum { TRACES = 3000, STEPS = 60000 };
    static struct {
        uint64_t last_tick;
        bool open, finished;
    } model[TRACES];
    struct line *l = begin(NULL, NULL);
    struct pythia_random r;
    uint64_t ticks = 0, late = 0, finished = 0, open_spans = 0;
    static uint64_t spans[TRACES];
    memset(model, 0, sizeof(model));
    memset(spans, 0, sizeof(spans));
    pythia_random_init(&r, 2);
    uint32_t point = pythia_vocabulary_tracepoint(l->vocabulary, 0, 0, intern(l->vocabulary, "p"));
    l->size = sizeof(l->out);
    for (uint64_t step = 0; step < STEPS; step++) {
        size_t at = (size_t)pythia_random_below(&r, TRACES * step / STEPS + 1);
        struct pythia_trace_id id = {at % 3, at + 1};
        struct pythia_span span = {.id = step + 1, .start_ns = step, .tracepoint = point};
        assert_int_equal(pythia_assembler_add(l->assembler, &id, &span), PYTHIA_OK);
        if (model[at].finished) {
            late++;
        } else {
            model[at].open = true;
            model[at].last_tick = ticks;
            spans[at]++;
            open_spans++;
        }
        if (pythia_random_below(&r, 50) == 0) {
            tick(l);
            ticks++;
            for (size_t i = 0; i < TRACES; i++)
                if (model[i].open && model[i].last_tick + 2 <= ticks) {
                    model[i].open = false;
                    model[i].finished = true;
                    open_spans -= spans[i];
                    finished++;
                }
            assert_int_equal(l->taken, finished);
            assert_int_equal(pythia_assembler_numbers(l->assembler).open_spans, open_spans);
        }
    }
    assert_int_equal(l->counts.dropped[PYTHIA_DROP_LATE], late);
    assert_true(finished > 1000 && late > 1000);
    l->size = 0;
    end(l);
}

static void open_many(struct line *l, uint64_t first, size_t traces, size_t each)
{
    struct pythia_buf packed = {0};
    uint32_t point = pythia_vocabulary_tracepoint(l->vocabulary, 0, 0, intern(l->vocabulary, "p"));
    for (uint32_t key = 1; key <= 10; key++)
        pythia_attributes_text(&packed, key, PYTHIA_TEXT("8 bytes."));
    assert_int_equal(packed.size, 100);
    for (uint64_t k = 0; k < each; k++)
        for (uint64_t i = 0; i < traces; i++) {
            struct pythia_trace_id id = {7, first + i};
            struct pythia_span span = {.id = k + 1,
                                       .parent = k,
                                       .start_ns = TRACE_TEXT_BEGIN + k,
                                       .duration_ns = 1000,
                                       .tracepoint = point,
                                       .attributes = pythia_buf_text(&packed)};
            assert_int_equal(pythia_assembler_add(l->assembler, &id, &span), PYTHIA_OK);
        }
    pythia_buf_free(&packed);
}

/* 16 000 traces, so that the tables are as full as they may be. */
static void an_open_trace_of_one_span_takes_less_than_250_bytes(void **state)
{
    enum { TRACES = 16000 };
    struct line *l = begin(NULL, NULL);
    size_t before = heap_in_use();
    struct pythia_span span = {
        .id = 1, .start_ns = TRACE_TEXT_BEGIN, .duration_ns = 1000000, .parent = 77};
    if (before == 0) {
        end(l);
        skip();
    }
    span.tracepoint = pythia_vocabulary_tracepoint(l->vocabulary, 0, 0, intern(l->vocabulary, "p"));
    for (uint64_t i = 0; i < TRACES; i++) {
        struct pythia_trace_id id = {7, i};
        assert_int_equal(pythia_assembler_add(l->assembler, &id, &span), PYTHIA_OK);
    }
    size_t each = (heap_in_use() - before) / TRACES;
    if (each >= 250)
        fail_msg("%zu bytes a trace", each);
    l->size = 0;
    end(l);
}

/* 200 000 spans of ten attributes, 100 bytes together, in traces of ten. */
static void open_spans_take_less_than_75_bytes_each_and_their_memory_serves_again(void **state)
{
    enum { TRACES = 20000, EACH = 10, SPANS = TRACES * EACH };
    struct line *l = begin(NULL, NULL);
    size_t before = heap_in_use();
    if (before == 0) {
        end(l);
        skip();
    }
    l->size = sizeof(l->out);
    open_many(l, 0, TRACES, EACH);
    size_t open = heap_in_use() - before;
    if (open >= (size_t)SPANS * 75)
        fail_msg("%zu bytes a span", open / SPANS);
    assert_int_equal(pythia_assembler_finish(l->assembler), PYTHIA_OK);
    assert_int_equal(pythia_assembler_numbers(l->assembler).open_spans, 0);
    for (uint64_t wave = 1; wave <= 3;
         wave++) { /* 16 bytes for each trace that was finished, and the set doubles */
        open_many(l, wave * TRACES, TRACES, EACH);
        size_t again = heap_in_use() - before;
        if (again > open + wave * TRACES * 48 + 65536)
            fail_msg("%zu bytes after %zu", again, open);
        assert_int_equal(pythia_assembler_finish(l->assembler), PYTHIA_OK);
    }
    assert_int_equal(l->taken, 4 * TRACES);
    pythia_assembler_destroy(l->assembler);
    l->assembler = NULL;
    assert_true(heap_in_use() <= before + 65536); /* what malloc itself keeps at hand */
    l->size = 0;
    end(l);
}

/* ---- failures ---- */

/* A whole life, cut short by the first failure. */
static int live(struct line *l, struct trace_part *parts, size_t count)
{
    struct pythia_assembler_options options = {0};
    struct pythia_trace_id pinned[2] = {{1, 2}, {3, 4}};
    int status = pythia_assembler_create(
        l->vocabulary, &options, (struct pythia_trace_taker){take, l}, &l->counts, &l->assembler);
    if (status != PYTHIA_OK)
        return status;
    status = pythia_assembler_pin(l->assembler, pinned, 2);
    for (uint64_t i = 0; i < 300 && status == PYTHIA_OK; i++) {
        struct pythia_trace_id id = {5, i};
        for (size_t k = 0; k < count && status == PYTHIA_OK; k++)
            status = pythia_assembler_add(l->assembler, &id, &parts[k].span);
        if (i % 100 == 50 && status == PYTHIA_OK)
            status = pythia_assembler_tick(l->assembler);
        if (i > 200 && status == PYTHIA_OK) { /* these are late */
            id.low -= 200;
            status = pythia_assembler_add(l->assembler, &id, &parts[0].span);
        }
    }
    return status == PYTHIA_OK ? pythia_assembler_finish(l->assembler) : status;
}

static void each_failed_allocation_is_reported_and_harmless(void **state)
{
    static struct trace_part parts[TRACE_TEXT_PARTS];
    static struct line l;
    size_t count =
        read_parts("A[0,1000]:{some_text} &K[100]<A W[450,800]<A&K B[10,20]<A:{more}", parts);
    l = (struct line){.size = sizeof(l.out)};
    assert_int_equal(pythia_vocabulary_create(&l.vocabulary), PYTHIA_OK);
    for (size_t i = 0; i < count; i++)
        name_part(&parts[i], l.vocabulary);
    long failures = 0;
    for (int status = PYTHIA_ENOMEM; status != PYTHIA_OK; failures += failures < 100 ? 1 : 7) {
        l.assembler = NULL;
        pythia_mem_fail_after(failures);
        status = live(&l, parts, count);
        pythia_mem_fail_after(-1);
        assert_true(status == PYTHIA_OK || status == PYTHIA_ENOMEM);
        if (l.assembler) /* it can still be used */
            assert_int_equal(pythia_assembler_finish(l.assembler), PYTHIA_OK);
        pythia_assembler_destroy(l.assembler);
    }
    assert_true(failures > 100);
    free_parts(parts, count);
    pythia_vocabulary_destroy(l.vocabulary);
}

/* ---- origins ---- */

static void add_from(struct line *l, uint16_t origin, const char *trace, const char *text)
{
    pythia_assembler_set_origin(l->assembler, origin);
    add(l, trace, text);
}

static void a_forgotten_origin_takes_its_open_traces_along_and_they_may_come_again(void **state)
{
    struct line *l = begin(NULL, NULL);
    add_from(l, 1, "a", "A[0,9]");
    add_from(l, 2, "b", "B[0,9] C[1,2]<B");
    add_from(l, 0, "c", "D[0,9]");
    pythia_assembler_forget_origin(l->assembler, 2);
    assert_int_equal(l->counts.spans, 2); /* those of b were never counted */
    assert_int_equal(pythia_assembler_numbers(l->assembler).open_traces, 2);
    assert_int_equal(pythia_assembler_numbers(l->assembler).open_spans, 2);
    assert_int_equal(pythia_assembler_numbers(l->assembler).forgotten_traces, 1);
    tick(l);
    tick(l);
    assert_string_equal(given(l), "a: A[0,9] c: D[0,9]");
    add_from(l, 3, "b", "B[0,9] C[1,2]<B"); /* it is not late */
    tick(l);
    tick(l);
    assert_string_equal(given(l), "b: B[0,9]{C[1,2]}");
    assert_int_equal(l->counts.dropped[PYTHIA_DROP_LATE], 0);
    end(l);
}

static void work_that_was_forked_off_is_forgotten_with_its_trace(void **state)
{
    struct line *l = begin(NULL, NULL);
    add_from(l, 1, "K", "K[2,4]");
    add_from(l, 1, "t", "A[0,9] &K[1]<A");
    assert_int_equal(pythia_assembler_numbers(l->assembler).open_traces, 1);
    pythia_assembler_forget_origin(l->assembler, 1);
    assert_int_equal(pythia_assembler_numbers(l->assembler).open_traces, 0);
    assert_int_equal(l->counts.spans, 0);
    assert_true(pythia_assembler_oldest(l->assembler) == UINT64_MAX);
    end(l);
}

static void a_trace_of_two_origins_is_counted_once(void **state)
{
    struct line *l = begin(NULL, NULL);
    add_from(l, 1, "a", "A[0,9]");
    add_from(l, 1, "a", "B[1,2]<A");
    add_from(l, 0, "a", "C[2,3]<A"); /* by another way, which has no origin */
    add_from(l, 0, "b", "A[0,9]");
    add_from(l, 2, "b", "B[1,2]<A");
    assert_int_equal(pythia_assembler_numbers(l->assembler).split_traces, 0);
    add_from(l, 2, "a", "D[3,4]<A");
    add_from(l, 3, "a", "E[4,5]<A");
    assert_int_equal(pythia_assembler_numbers(l->assembler).split_traces, 1);
    end(l);
}

static void the_oldest_open_trace_is_known_by_when_it_came(void **state)
{
    struct line *l = begin(&(struct pythia_assembler_options){.quiet_ticks = 10}, NULL);
    assert_true(pythia_assembler_oldest(l->assembler) == UINT64_MAX);
    pythia_assembler_now(l->assembler, 5);
    add(l, "a", "A[0,9]");
    pythia_assembler_now(l->assembler, 7);
    add(l, "b", "A[0,9]");
    assert_int_equal(pythia_assembler_oldest(l->assembler), 5);
    pythia_assembler_now(l->assembler, 9);
    add(l, "a", "B[1,2]<A"); /* younger spans do not make it younger */
    assert_int_equal(pythia_assembler_oldest(l->assembler), 5);
    assert_int_equal(pythia_assembler_tick_at(l->assembler, 18), PYTHIA_OK);
    assert_string_equal(given(l), "b: A[0,9]");
    assert_int_equal(pythia_assembler_oldest(l->assembler), 5);
    assert_int_equal(pythia_assembler_tick_at(l->assembler, 20), PYTHIA_OK);
    assert_true(pythia_assembler_oldest(l->assembler) == UINT64_MAX);
    end(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trace_that_grows_is_finished_after_two_quiet_ticks),
        cmocka_unit_test(how_many_quiet_ticks_there_are_is_a_setting),
        cmocka_unit_test(a_trace_waits_no_longer_than_is_known_now),
        cmocka_unit_test(a_trace_that_never_rests_is_finished_at_its_timeout),
        cmocka_unit_test(late_spans_are_dropped_counted_and_reported),
        cmocka_unit_test(a_late_trace_is_reported_once),
        cmocka_unit_test(pinned_traces_stay_open_until_the_end),
        cmocka_unit_test(many_can_be_pinned),
        cmocka_unit_test(the_end_finishes_all_that_is_open),
        cmocka_unit_test(closed_trace_points_are_left_out),
        cmocka_unit_test(spans_are_kept_whole),
        cmocka_unit_test(attributes_may_be_larger_than_a_chunk),
        cmocka_unit_test(what_the_taker_says_comes_back),
        cmocka_unit_test(linked_traces_become_one_in_whatever_order_they_come),
        cmocka_unit_test(one_part_of_linked_traces_keeps_all_of_them_open),
        cmocka_unit_test(work_that_was_finished_before_its_fork_came_is_reported),
        cmocka_unit_test(a_request_that_was_late_in_several_ways_is_reported_once),
        cmocka_unit_test(a_pin_holds_for_all_that_is_linked),
        cmocka_unit_test(forks_in_a_circle_and_of_oneself_do_no_harm),
        cmocka_unit_test(work_that_two_requests_have_forked_joins_them),
        cmocka_unit_test(however_traces_are_linked_nothing_is_lost),
        cmocka_unit_test(many_traces_are_told_apart),
        cmocka_unit_test(an_open_trace_of_one_span_takes_less_than_250_bytes),
        cmocka_unit_test(open_spans_take_less_than_75_bytes_each_and_their_memory_serves_again),
        cmocka_unit_test(each_failed_allocation_is_reported_and_harmless),
        cmocka_unit_test(a_forgotten_origin_takes_its_open_traces_along_and_they_may_come_again),
        cmocka_unit_test(work_that_was_forked_off_is_forgotten_with_its_trace),
        cmocka_unit_test(a_trace_of_two_origins_is_counted_once),
        cmocka_unit_test(the_oldest_open_trace_is_known_by_when_it_came),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
