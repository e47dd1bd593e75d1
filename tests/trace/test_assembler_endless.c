/* Streams that never end: what is finished when, and in how much memory. */
#include "assembler_line.h"

/* ---- streams that never end ---- */

static uint64_t finished_why(const struct line *l, enum pythia_finish why)
{
    return pythia_assembler_numbers(l->assembler).finished[why];
}

static void tick_at(struct line *l, uint64_t tick)
{
    assert_int_equal(pythia_assembler_tick_at(l->assembler, tick), PYTHIA_OK);
}

static void what_is_not_whole_is_waited_for_longer(void **state)
{
    struct line *l =
        begin(&(struct pythia_assembler_options){.quiet_ticks = 10, .partial_ticks = 50}, NULL);
    pythia_assembler_now(l->assembler, 100);
    add(l, "whole", "A[0,1000] B[10,110]<A");
    add(l, "runs", "A[0,1000] B[10,?]<A");
    add(l, "orphan", "A[0,1000] C[20,30]<B");
    add(l, "no_root", "C[20,30]<B");
    add(l, "mended", "A[0,?]");
    tick_at(l, 109);
    assert_string_equal(given(l), "");
    tick_at(l, 110);
    assert_string_equal(given(l), "whole: A[0,1000]{B[10,110]}");
    pythia_assembler_now(l->assembler, 140);
    add(l, "mended", "/A[1000]"); /* it is quiet from here on, and whole */
    add(l, "runs", "D[30,40]<A"); /* and this one again is not */
    tick_at(l, 149);
    assert_string_equal(given(l), "");
    tick_at(l, 150);
    assert_string_equal(
        given(l), "orphan: A[0,1000]{C[20,30]:orphan} no_root: C[20,30]:orphan mended: A[0,1000]");
    tick_at(l, 189);
    assert_string_equal(given(l), "");
    tick_at(l, 190);
    assert_string_equal(given(l), "runs: A[0,1000]{B[10]:unfinished D[30,40]}");
    assert_int_equal(finished_why(l, PYTHIA_FINISH_QUIET), 2);
    assert_int_equal(finished_why(l, PYTHIA_FINISH_PARTIAL), 3);
    end(l);
}

static void a_tick_leaves_to_the_next_what_is_too_much(void **state)
{
    struct line *l = begin(
        &(struct pythia_assembler_options){
            .quiet_ticks = 10, .partial_ticks = 20, .timeout_ticks = 100, .tick_spans = 3},
        NULL);
    pythia_assembler_now(l->assembler, 100);
    add(l, "t", "A[0,1000] B[10,110]<A");
    add(l, "u", "A[0,1000] B[10,110]<A"); /* it is begun, and goes on to its end */
    add(l, "v", "A[0,1000]");
    add(l, "w", "C[20,30]<B");
    tick_at(l, 110);
    assert_string_equal(given(l), "t: A[0,1000]{B[10,110]} u: A[0,1000]{B[10,110]}");
    tick_at(l, 110);
    assert_string_equal(given(l), "v: A[0,1000]");
    add(l, "x", "A[0,1000] B[10,110]<A D[120,130]<A");
    tick_at(l, 120); /* what is not whole and what is quiet have the same room, */
    assert_string_equal(given(l), "w: C[20,30]:orphan x: A[0,1000]{B[10,110] D[120,130]}");
    for (int i = 0; i < 20; i++) /* and so has what is too old */
        tick_at(l, 120);
    add(l, "y", "A[0,?] B[0,1]<A C[0,1]<A");
    add(l, "z", "A[0,?]");
    tick_at(l, 220);
    assert_string_equal(given(l), "y: A[0,1]:unfinished{B[0,1] C[0,1]}");
    tick_at(l, 220);
    assert_string_equal(given(l), "z: A[0]:unfinished");
    end(l);
}

/* With a timeout, what runs is waited for until then. */
static void what_runs_is_waited_for_until_it_is_too_old(void **state)
{
    struct line *l = begin(&(struct pythia_assembler_options){.quiet_ticks = 10,
                                                              .partial_ticks = 50,
                                                              .timeout_ticks = 200},
                           NULL);
    add(l, "ends", "A[0,1000] B[10,?]<A");
    add(l, "hangs", "A[0,?] C[20,30]<B");
    tick_at(l, 100);
    assert_string_equal(given(l), "");
    add(l, "ends", "/B[900]<A");
    tick_at(l, 109);
    assert_string_equal(given(l), "");
    tick_at(l, 110);
    assert_string_equal(given(l), "ends: A[0,1000]{B[10,900]}");
    tick_at(l, 199);
    assert_string_equal(given(l), "");
    add(l, "end", "A[0,?]");
    tick_at(l, 200);
    assert_string_equal(given(l), "hangs: A[0,30]:unfinished{C[20,30]:orphan}");
    assert_int_equal(finished_why(l, PYTHIA_FINISH_AGE), 1);
    tick_at(l, 300);
    assert_int_equal(pythia_assembler_finish(l->assembler), PYTHIA_OK);
    assert_string_equal(given(l), "end: A[0]:unfinished");
    end(l);
}

/* Nobody looked for so long that there is nothing to wait for any more. */
static void after_a_long_pause_all_is_finished_at_once(void **state)
{
    struct line *l =
        begin(&(struct pythia_assembler_options){.quiet_ticks = 10, .partial_ticks = 50}, NULL);
    add(l, "t", "A[0,1000] B[10,?]<A");
    add(l, "u", "A[0,1000]");
    tick_at(l, 1000);
    assert_string_equal(given(l), "t: A[0,1000]{B[10]:unfinished} u: A[0,1000]");
    tick_at(l, 5); /* time does not go back */
    add(l, "v", "A[0,1000]");
    tick_at(l, 1009);
    assert_string_equal(given(l), "");
    tick_at(l, 1010);
    assert_string_equal(given(l), "v: A[0,1000]");
    end(l);
}

static void the_end_finishes_what_waits_too(void **state)
{
    struct line *l =
        begin(&(struct pythia_assembler_options){.quiet_ticks = 10, .partial_ticks = 50}, NULL);
    add(l, "t", "B[10,110]<A");
    tick_at(l, 20);
    add(l, "u", "A[0,1000]");
    assert_int_equal(pythia_assembler_finish(l->assembler), PYTHIA_OK);
    assert_string_equal(given(l), "t: B[10,110]:orphan u: A[0,1000]");
    assert_int_equal(finished_why(l, PYTHIA_FINISH_END), 2);
    end(l);
}

/* A trace of N - 1 spans stays open, one of N is finished, and the next span is too much. */
static void a_trace_of_the_largest_size_is_finished_at_once(void **state)
{
    struct line *l =
        begin(&(struct pythia_assembler_options){.spans_max = 3, .quiet_ticks = 5}, NULL);
    add(l, "t", "A[0,1000] B[10,110]<A");
    add(l, "u", "A[0,1000] B[10,110]<A");
    assert_string_equal(given(l), "");
    add(l, "t", "C[20,30]<A");
    assert_string_equal(given(l), "t: A[0,1000]{B[10,110] C[20,30]}");
    assert_int_equal(l->counts.dropped[PYTHIA_DROP_OVERSIZE], 0);
    add(l, "t", "D[20,30]<A E[30,40]<A");
    assert_int_equal(l->counts.dropped[PYTHIA_DROP_OVERSIZE], 2);
    assert_int_equal(l->counts.dropped[PYTHIA_DROP_LATE], 0);
    assert_int_equal(finished_why(l, PYTHIA_FINISH_SIZE), 1);
    add(l, "w", "D[0,2000] &u[5]<D"); /* and with work that is forked off it */
    assert_string_equal(given(l), "w: D[0,2000] A[0,1000]:extra_root{B[10,110]}");
    assert_int_equal(finished_why(l, PYTHIA_FINISH_SIZE), 2);
    assert_int_equal(pythia_assembler_numbers(l->assembler).open_traces, 0);
    add(l, "u", "E[30,40]<A");
    assert_int_equal(l->counts.dropped[PYTHIA_DROP_OVERSIZE], 3);
    l->answer = PYTHIA_ESTOPPED;
    struct pythia_trace_id id = {9, 9};
    struct pythia_span span = {.tracepoint = 0};
    for (span.id = 1; span.id <= 2; span.id++)
        assert_int_equal(pythia_assembler_add(l->assembler, &id, &span), PYTHIA_OK);
    l->size = sizeof(l->out);
    assert_int_equal(pythia_assembler_add(l->assembler, &id, &span), PYTHIA_ESTOPPED);
    l->size = 0;
    end(l);
}

/* Where beginnings and ends come apart, the spans are those that have begun, and their ends are
 * waited for. */
static void spans_in_two_parts_count_once(void **state)
{
    struct line *l =
        begin(&(struct pythia_assembler_options){.spans_max = 3, .quiet_ticks = 5}, NULL);
    add(l, "t", "A[0,?] B[10,?]<A /B[110] /A[1000]"); /* N - 1 */
    add(l, "u", "A[0,?] B[10,?]<A /B[110] C[120,?]<A /C[200]");
    assert_string_equal(given(l), "");
    add(l, "u", "/A[1000]");
    assert_string_equal(given(l), "u: A[0,1000]{B[10,110] C[120,200]}");
    assert_int_equal(l->counts.dropped[PYTHIA_DROP_OVERSIZE], 0);
    add(l, "v", "A[0,?] B[10,?]<A C[20,?]<A /B[110]");
    assert_string_equal(given(l), "");
    add(l, "v", "D[30,?]<A /C[40] /D[50] /A[1000]"); /* N + 1: none of these is taken */
    assert_string_equal(given(l), "v: A[0,110]:unfinished{B[10,110] C[20]:unfinished}");
    assert_int_equal(l->counts.dropped[PYTHIA_DROP_OVERSIZE], 4);
    add(l, "w", "/A[1] /B[2] /C[3] /D[4] /E[5]"); /* ends alone: as many as there may be parts */
    assert_int_equal(pythia_assembler_numbers(l->assembler).open_traces, 2);
    add(l, "w", "/F[6] /G[7]");
    assert_int_equal(pythia_assembler_numbers(l->assembler).open_traces, 1);
    assert_int_equal(l->counts.dropped[PYTHIA_DROP_OVERSIZE], 5);
    assert_int_equal(l->counts.dropped[PYTHIA_DROP_STOP_WITHOUT_START], 6);
    assert_int_equal(finished_why(l, PYTHIA_FINISH_SIZE), 3);
    end(l);
}

/* Of a start and a stop that both have key-values. */
static void key_values_of_both_parts_are_limited(void **state)
{
    for (size_t max = 0; max <= 3; max++) {
        struct line *l = begin(&(struct pythia_assembler_options){.attributes_max = max}, NULL);
        add(l, "t", "A[0,?]:{one} /A[1000]:{two}");
        assert_int_equal(pythia_assembler_finish(l->assembler), PYTHIA_OK);
        assert_int_equal(l->counts.dropped[PYTHIA_DROP_ATTRIBUTE], max == 1);
        end(l);
    }
}

/* Of finished traces at least the last 100 are known, and of those long ago none: memory does not
 * grow. */
static void with_a_limit_old_ids_are_forgotten(void **state)
{
    enum { REMEMBERED = 100, TRACES = 10000 };
    struct line *l = begin(&(struct pythia_assembler_options){.remembered = REMEMBERED}, NULL);
    struct pythia_span span = {.id = 1};
    size_t bytes = 0, count;
    l->size = sizeof(l->out);
    (void)pythia_vocabulary_tracepoint(l->vocabulary, 0, 0, intern(l->vocabulary, "p"));
    for (uint64_t i = 1; i <= TRACES; i++) {
        struct pythia_trace_id id = {7, i};
        assert_int_equal(pythia_assembler_add(l->assembler, &id, &span), PYTHIA_OK);
        assert_int_equal(pythia_assembler_finish(l->assembler), PYTHIA_OK);
        for (uint64_t before = 0; i % 97 == 0 && before < REMEMBERED && before < i; before++) {
            uint64_t late = l->counts.dropped[PYTHIA_DROP_LATE];
            id.low = i - before;
            assert_int_equal(pythia_assembler_add(l->assembler, &id, &span), PYTHIA_OK);
            assert_int_equal(l->counts.dropped[PYTHIA_DROP_LATE], late + 1);
        }
        if (i == 300)
            bytes = pythia_assembler_bytes(l->assembler);
    }
    assert_int_equal(pythia_assembler_bytes(l->assembler), bytes);
    pythia_assembler_late(l->assembler, &count);
    assert_int_equal(count, 0); /* a list of them would grow */
    struct pythia_trace_id first = {7, 1};
    uint64_t late = l->counts.dropped[PYTHIA_DROP_LATE];
    assert_int_equal(pythia_assembler_add(l->assembler, &first, &span), PYTHIA_OK);
    assert_int_equal(l->counts.dropped[PYTHIA_DROP_LATE], late);
    assert_int_equal(pythia_assembler_numbers(l->assembler).open_traces, 1);
    l->size = 0;
    end(l);
}

/* UINT64_MAX: no open trace has a begin. */
static void earliest_is(struct line *l, uint64_t start_ns)
{
    if (start_ns != UINT64_MAX)
        assert_true(pythia_assembler_began_by(l->assembler, start_ns));
    assert_false(pythia_assembler_began_by(l->assembler, start_ns - 1));
}

static void the_earliest_start_of_what_is_open_is_known(void **state)
{
    struct line *l = begin(NULL, NULL);
    earliest_is(l, UINT64_MAX);
    add(l, "t", "/A[1]"); /* when it stopped, not when it began */
    earliest_is(l, UINT64_MAX);
    tick(l);
    add(l, "u", "B[300,400]<A C[200,300]<A");
    earliest_is(l, TRACE_TEXT_BEGIN + 200);
    add(l, "v", "F[150,160]<A"); /* though it came later */
    earliest_is(l, TRACE_TEXT_BEGIN + 150);
    add(l, "K", "D[100,300]");
    earliest_is(l, TRACE_TEXT_BEGIN + 100); /* it was found as K, and is part of u from now on */
    add(l, "u", "&K[250]<A");
    earliest_is(l, TRACE_TEXT_BEGIN + 100);
    tick(l);
    add(l, "w", "G[600,700]<A");
    tick(l);
    earliest_is(l, TRACE_TEXT_BEGIN + 600); /* what was found before has ended */
    tick(l);
    earliest_is(l, UINT64_MAX);
    end(l);
}

/* One who waits asks for the same time again and again, whatever comes and goes meanwhile. */
static void what_began_by_a_time_is_known_all_the_while(void **state)
{
    struct line *l = begin(NULL, NULL);
    uint64_t cut_ns = TRACE_TEXT_BEGIN + 200;
    assert_false(pythia_assembler_began_by(l->assembler, cut_ns));
    add(l, "t", "/A[1]"); /* of which only the end is known */
    add(l, "u", "B[201,400]<A");
    assert_false(pythia_assembler_began_by(l->assembler, cut_ns));
    add(l, "u", "C[200,300]<A"); /* an earlier one of the same */
    assert_true(pythia_assembler_began_by(l->assembler, cut_ns));
    add(l, "u", "D[100,300]<A"); /* and one more: it counts once */
    add(l, "v", "E[150,160]<A");
    tick(l);
    add(l, "v", "F[300,310]<A");
    tick(l); /* t and u are finished, v is not */
    assert_true(pythia_assembler_began_by(l->assembler, cut_ns));
    add(l, "K", "G[100,300]");
    add(l, "w", "&K[250]<A"); /* K is part of w, which began later */
    tick(l);                  /* v is finished */
    assert_true(pythia_assembler_began_by(l->assembler, cut_ns));
    tick(l);
    assert_false(pythia_assembler_began_by(l->assembler, cut_ns));
    add(l, "L", "H[199,300]");
    add(l, "x", "I[120,250]<A");
    add(l, "x", "&L[250]<A"); /* both began by then, and are one */
    add(l, "y", "J[200,250]<A");
    assert_int_equal(pythia_assembler_shed(l->assembler, 0), PYTHIA_OK);
    assert_false(pythia_assembler_began_by(l->assembler, cut_ns));
    add(l, "z", "M[200,250]<A");
    assert_true(pythia_assembler_began_by(l->assembler, cut_ns));
    assert_false(pythia_assembler_began_by(l->assembler, cut_ns - 1));
    l->size = 0;
    end(l);
}

/* ---- memory ---- */

/* What the assembler says it holds, against what the heap says it has given: with traces of one
 * span, of many, with large attributes, half finished, and after all is over. */
static void the_memory_it_holds_is_what_the_heap_has_given(void **state)
{
    size_t before = heap_in_use();
    struct line *l = begin(&(struct pythia_assembler_options){.remembered = 5000}, NULL);
    uint32_t point = pythia_vocabulary_tracepoint(l->vocabulary, 0, 0, intern(l->vocabulary, "p"));
    size_t around = heap_in_use() - before; /* the vocabulary, and the empty assembler */
    static char text[3000];
    if (before == 0) {
        end(l);
        skip();
    }
    around -= pythia_assembler_bytes(l->assembler);
    l->size = sizeof(l->out);
    for (uint64_t round = 0; round < 60; round++) {
        size_t traces = round % 3 == 0 ? 3000 : 100, each = round % 3 == 0 ? 1 : round * 7;
        struct pythia_span span = {.tracepoint = point, .attributes = {text, 50}};
        for (uint64_t i = 0; i < traces; i++)
            for (uint64_t k = 0; k < each; k++) {
                struct pythia_trace_id id = {round, i};
                span.id = k + 1;
                span.attributes.size = k % 50 == 49 ? sizeof(text) : 40;
                assert_int_equal(pythia_assembler_add(l->assembler, &id, &span), PYTHIA_OK);
            }
        double heap = (double)(heap_in_use() - before - around);
        double said = (double)pythia_assembler_bytes(l->assembler);
        if (fabs(said - heap) > .02 * heap + 4096)
            fail_msg("round %d: it says %.0f bytes, and the heap %.0f", (int)round, said, heap);
        tick(l);
        if (round % 10 == 9)
            assert_int_equal(pythia_assembler_finish(l->assembler), PYTHIA_OK);
    }
    l->size = 0;
    end(l);
}

/* A trace of type `point`, of so many spans; returns its bytes. */
static size_t open_of_type(struct line *l, uint64_t number, const char *point, bool root,
                           size_t spans)
{
    size_t before = pythia_assembler_bytes(l->assembler);
    struct pythia_trace_id id = {3, number};
    struct pythia_span span = {.start_ns = number,
                               .tracepoint = pythia_vocabulary_tracepoint(
                                   l->vocabulary, 0, 0, intern(l->vocabulary, point))};
    for (size_t i = 1; i <= spans; i++) {
        span.id = i;
        span.parent = i > 1 || !root ? 77 : 0;
        assert_int_equal(pythia_assembler_add(l->assembler, &id, &span), PYTHIA_OK);
    }
    return pythia_assembler_bytes(l->assembler) - before;
}

static bool is_open(struct line *l, uint64_t number)
{
    struct pythia_trace_id id = {3, number};
    struct pythia_span span = {.part = PYTHIA_PART_STOP, .id = 1};
    uint64_t shed = l->counts.dropped[PYTHIA_DROP_SHED];
    assert_int_equal(pythia_assembler_add(l->assembler, &id, &span), PYTHIA_OK);
    return l->counts.dropped[PYTHIA_DROP_SHED] == shed;
}

/* Shedding begins with memory that is in no trace. What is held without it. */
static size_t give_back_spare(struct line *l)
{
    assert_int_equal(pythia_assembler_shed(l->assembler, SIZE_MAX), PYTHIA_OK);
    return pythia_assembler_bytes(l->assembler);
}

/* So that the ids of traces that are over take no further memory for the next 40. */
enum { FINISHED = 130 };
static void finish_some(struct line *l)
{
    for (uint64_t i = 0; i < FINISHED; i++)
        (void)open_of_type(l, 9000 + i, "p", true, 1);
    assert_int_equal(pythia_assembler_finish(l->assembler), PYTHIA_OK);
    (void)give_back_spare(l);
}

/* 80 large traces of one type and 4 of another, each as large: shedding a quarter of all takes from
 * the first type alone, and from those that began last. */
static void what_holds_most_is_shed_first_the_youngest_before_the_older_ones(void **state)
{
    enum { LARGE = 80, SMALL = 4, SPANS = 200 };
    struct line *l = begin(&(struct pythia_assembler_options){.quiet_ticks = 9}, NULL);
    size_t each = 0;
    l->size = sizeof(l->out);
    finish_some(l);
    for (uint64_t i = 0; i < LARGE; i++)
        each = open_of_type(l, i, "large", true, SPANS);
    for (uint64_t i = 0; i < SMALL; i++)
        open_of_type(l, 1000 + i, "small", true, SPANS);
    size_t held = give_back_spare(l);
    assert_int_equal(pythia_assembler_shed(l->assembler, held), PYTHIA_OK); /* enough as it is */
    assert_int_equal(l->counts.dropped[PYTHIA_DROP_SHED], 0);
    assert_int_equal(pythia_assembler_shed(l->assembler, held - 20 * each), PYTHIA_OK);
    assert_in_range(pythia_assembler_bytes(l->assembler), held - 21 * each, held - 20 * each);
    assert_int_equal(pythia_assembler_numbers(l->assembler).shed_traces, 20);
    assert_int_equal(l->counts.dropped[PYTHIA_DROP_SHED], 20 * SPANS);
    assert_int_equal(pythia_assembler_numbers(l->assembler).open_spans,
                     (LARGE + SMALL - 20) * SPANS);
    for (uint64_t i = 0; i < LARGE; i++)
        assert_int_equal(is_open(l, i), i < LARGE - 20);
    for (uint64_t i = 0; i < SMALL; i++)
        assert_true(is_open(l, 1000 + i));
    assert_int_equal(l->counts.dropped[PYTHIA_DROP_SHED], 20 * SPANS + 20); /* what came later */
    assert_int_equal(pythia_assembler_finish(l->assembler), PYTHIA_OK);
    assert_int_equal(l->taken, FINISHED + LARGE + SMALL - 20);
    assert_int_equal(l->counts.spans, /* to each that was left one part was added to see it */
                     l->counts.kept + l->counts.dropped[PYTHIA_DROP_SHED] + l->taken - FINISHED);
    l->size = 0;
    end(l);
}

/* Of three types that hold 60, 30 and 10 parts, giving 40 away leaves 25, 25 and 10: no type goes
 * below what another keeps. */
static void what_is_left_is_shared_evenly(void **state)
{
    static const struct {
        const char *point;
        size_t traces, left;
    } types[] = {{"a", 60, 25}, {"b", 30, 25}, {"c", 10, 10}};
    struct line *l = begin(&(struct pythia_assembler_options){.quiet_ticks = 9}, NULL);
    size_t each = 0;
    l->size = sizeof(l->out);
    finish_some(l);
    for (uint64_t t = 0; t < 3; t++)
        for (uint64_t i = 0; i < types[t].traces; i++)
            each = open_of_type(l, t * 100 + i, types[t].point, true, 150);
    size_t held = give_back_spare(l);
    assert_int_equal(pythia_assembler_shed(l->assembler, held - 40 * each), PYTHIA_OK);
    for (uint64_t t = 0; t < 3; t++) {
        size_t left = 0;
        for (uint64_t i = 0; i < types[t].traces; i++) {
            bool open = is_open(l, t * 100 + i);
            left += open;
            assert_int_equal(open, i < types[t].left);
        }
        assert_int_equal(left, types[t].left);
    }
    l->size = 0;
    end(l);
}

/* Before its root comes, a trace counts with those whose first span was alike; then with its
 * root's.
 */
static void the_root_stands_for_the_type_once_it_was_seen(void **state)
{
    struct line *l = begin(&(struct pythia_assembler_options){.quiet_ticks = 9}, NULL);
    size_t each = 0;
    l->size = sizeof(l->out);
    finish_some(l);
    for (uint64_t i = 0; i < 30; i++)
        each = open_of_type(l, i, "leaf", false, 100);
    for (uint64_t i = 0; i < 20; i++)
        (void)open_of_type(l, 100 + i, "root", true, 100);
    for (uint64_t i = 0; i < 25; i++) /* now they are of 5 and 45 traces */
        (void)open_of_type(l, i, "root", true, 1);
    size_t held = give_back_spare(l);
    assert_int_equal(pythia_assembler_shed(l->assembler, held - 30 * each), PYTHIA_OK);
    for (uint64_t i = 0; i < 30; i++)
        assert_int_equal(is_open(l, i), i >= 25 || i < 15);
    for (uint64_t i = 0; i < 20; i++)
        assert_false(is_open(l, 100 + i)); /* they began last */
    l->size = 0;
    end(l);
}

static void shedding_all_leaves_nothing_open(void **state)
{
    struct line *l = begin(&(struct pythia_assembler_options){.quiet_ticks = 9}, NULL);
    struct pythia_trace_id pinned = {3, 5};
    assert_int_equal(pythia_assembler_shed(l->assembler, 0), PYTHIA_OK); /* nothing is there */
    assert_int_equal(pythia_assembler_pin(l->assembler, &pinned, 1), PYTHIA_OK);
    size_t empty = pythia_assembler_bytes(l->assembler);
    l->size = sizeof(l->out);
    for (uint64_t i = 0; i < 10; i++)
        (void)open_of_type(l, i, "p", i % 2, 50);
    struct pythia_trace_id id = {3, 99}, work = {3, 4};
    struct pythia_span stop = {.part = PYTHIA_PART_STOP, .id = 1};
    struct pythia_span fork = {.part = PYTHIA_PART_FORK, .id = 9, .link = work};
    assert_int_equal(pythia_assembler_add(l->assembler, &id, &stop), PYTHIA_OK); /* of no point */
    id.low = 3;
    assert_int_equal(pythia_assembler_add(l->assembler, &id, &fork), PYTHIA_OK);
    assert_int_equal(pythia_assembler_shed(l->assembler, 0), PYTHIA_OK);
    struct pythia_assembler_numbers n = pythia_assembler_numbers(l->assembler);
    assert_int_equal(n.open_traces, 1); /* but what is pinned */
    assert_int_equal(n.open_spans, 50);
    assert_int_equal(n.shed_traces, 9); /* one is part of another */
    assert_int_equal(l->counts.dropped[PYTHIA_DROP_SHED], 9 * 50 + 2);
    assert_false(is_open(l, 4));
    assert_int_equal(pythia_assembler_finish(l->assembler), PYTHIA_OK);
    assert_int_equal(l->taken, 1);
    assert_true(pythia_assembler_bytes(l->assembler) < empty + 40000);
    l->size = 0;
    end(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_whole_is_waited_for_longer),
        cmocka_unit_test(a_tick_leaves_to_the_next_what_is_too_much),
        cmocka_unit_test(what_runs_is_waited_for_until_it_is_too_old),
        cmocka_unit_test(after_a_long_pause_all_is_finished_at_once),
        cmocka_unit_test(the_end_finishes_what_waits_too),
        cmocka_unit_test(a_trace_of_the_largest_size_is_finished_at_once),
        cmocka_unit_test(spans_in_two_parts_count_once),
        cmocka_unit_test(key_values_of_both_parts_are_limited),
        cmocka_unit_test(with_a_limit_old_ids_are_forgotten),
        cmocka_unit_test(the_earliest_start_of_what_is_open_is_known),
        cmocka_unit_test(what_began_by_a_time_is_known_all_the_while),
        cmocka_unit_test(the_memory_it_holds_is_what_the_heap_has_given),
        cmocka_unit_test(what_holds_most_is_shed_first_the_youngest_before_the_older_ones),
        cmocka_unit_test(what_is_left_is_shared_evenly),
        cmocka_unit_test(the_root_stands_for_the_type_once_it_was_seen),
        cmocka_unit_test(shedding_all_leaves_nothing_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
