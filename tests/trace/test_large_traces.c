/* Traces so deep and so broad that recursion, or a step that looks at all spans for each span,
 * would show: a million spans, built, repaired and walked over within two seconds of an optimised
 * build. */
#include <time.h>

#include "check.h"
#include "pythia/assembler.h"
#include "timed.h"
#include "trace_text.h"

/* Each is 1 more than a multiple of 3 and of 9, and a multiple of 8. The million is for optimised
 * builds (`./dev bench times`, `./dev check`). In others a frame is so large that recursion over
 * the smaller numbers overflows the stack as well, and a step that is not linear takes minutes. */
#ifdef PYTHIA_SANITIZED
enum { MANY = 100000 };
#elif defined(__OPTIMIZE__)
enum { MANY = 1000000 };
#else
enum { MANY = 200008 };
#endif

#ifdef __OPTIMIZE__
#define SECONDS 30.0
#else
#define SECONDS 60.0 /* a step that is not linear would take hours */
#endif

/* How the spans come. */
enum order { FIRST_TO_LAST, LAST_TO_FIRST, MIXED, ORDERS };

struct large {
    struct pythia_vocabulary *vocabulary;
    struct pythia_open_points *open;
    struct pythia_trace_builder *builder;
    struct pythia_counts counts;
    const struct pythia_trace *trace;
    struct pythia_critical_path path;
    uint32_t open_point, closed_point;
};

/* Number `i` of the spans of a trace. */
typedef struct pythia_span span_maker(const struct large *l, uint64_t i);

/* Of this process, so that others on the machine do not count. */
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* 0, 1, …, MANY - 1 in some order: 7919 is a prime that does not divide MANY. */
static uint64_t number_of(enum order order, uint64_t i)
{
    return order == FIRST_TO_LAST ? i : order == LAST_TO_FIRST ? MANY - 1 - i : i * 7919 % MANY;
}

static void begin(struct large *l)
{
    *l = (struct large){0};
    assert_int_equal(pythia_vocabulary_create(&l->vocabulary), PYTHIA_OK);
    l->open = open_points_of(l->vocabulary, "open");
    l->open_point =
        pythia_vocabulary_tracepoint(l->vocabulary, 0, 0, intern(l->vocabulary, "open"));
    l->closed_point =
        pythia_vocabulary_tracepoint(l->vocabulary, 0, 0, intern(l->vocabulary, "closed"));
    assert_int_equal(pythia_trace_builder_create(l->vocabulary, l->open, &l->builder), PYTHIA_OK);
    pythia_critical_path_init(&l->path);
}

static void end(struct large *l)
{
    pythia_critical_path_free(&l->path);
    pythia_trace_builder_destroy(l->builder);
    pythia_open_points_destroy(l->open);
    pythia_vocabulary_destroy(l->vocabulary);
}

static void assert_in_time(const char *what, double began)
{
    double took = now() - began;
    check_time(took <= SECONDS, "%s took %.1f s", what, took);
}

/* Build the trace and walk over it in both ways, each in time. */
static void build(struct large *l, enum order order, span_maker *make)
{
    double began = now();
    memset(&l->counts, 0, sizeof(l->counts));
    pythia_trace_builder_begin(l->builder, (struct pythia_trace_id){1, 1});
    for (uint64_t i = 0; i < MANY; i++) {
        struct pythia_span span = make(l, number_of(order, i));
        assert_int_equal(pythia_trace_builder_add(l->builder, &span), PYTHIA_OK);
    }
    assert_int_equal(pythia_trace_builder_finish(l->builder, &l->counts, &l->trace), PYTHIA_OK);
    assert_in_time("building", began);
    for (int k = 0; k < 2; k++) {
        began = now();
        assert_int_equal(pythia_critical_path_find(&l->path, l->trace, (enum pythia_latency)k),
                         PYTHIA_OK);
        assert_in_time("walking", began);
    }
    assert_null(fault_of_path(l->trace, &l->path));
}

static struct pythia_span link_of_chain(const struct large *l, uint64_t i)
{
    return (struct pythia_span){.id = i + 1,
                                .parent = i,
                                .start_ns = i,
                                .duration_ns = (int64_t)(2 * (MANY - i)),
                                .tracepoint = l->open_point};
}

static void a_chain_of_a_million_spans(void **state)
{
    struct large l;
    begin(&l);
    for (enum order order = 0; order < ORDERS; order++) {
        build(&l, order, link_of_chain);
        assert_int_equal(l.trace->count, MANY);
        assert_int_equal(l.path.count, 2 * MANY);
    }
    end(&l);
}

static struct pythia_span link_without_end(const struct large *l, uint64_t i)
{
    struct pythia_span span = link_of_chain(l, i);
    span.part = PYTHIA_PART_START;
    return span;
}

static void a_chain_of_a_million_spans_without_an_end(void **state)
{
    struct large l;
    begin(&l);
    build(&l, MIXED, link_without_end);
    assert_int_equal(l.counts.repaired[PYTHIA_REPAIR_UNFINISHED], MANY);
    assert_int_equal(l.trace->end_ns, MANY - 1); /* the start of the last */
    end(&l);
}

static struct pythia_span link_that_outlives(const struct large *l, uint64_t i)
{
    struct pythia_span span = link_of_chain(l, i);
    span.duration_ns = 2;
    return span;
}

static void a_chain_in_which_each_outlives_its_parent(void **state)
{
    struct large l;
    begin(&l);
    build(&l, MIXED, link_that_outlives);
    assert_int_equal(l.counts.outlive, MANY - 1);
    assert_int_equal(l.path.count, 2); /* of the client */
    assert_int_equal(l.trace->completed_ns, MANY + 1);
    end(&l);
}

static struct pythia_span closed_but_for_the_ends(const struct large *l, uint64_t i)
{
    struct pythia_span span = link_of_chain(l, i);
    span.tracepoint = i == 0 || i == MANY - 1 ? l->open_point : l->closed_point;
    return span;
}

static void a_chain_of_a_million_closed_points(void **state)
{
    struct large l;
    begin(&l);
    for (enum order order = 0; order < ORDERS; order++) {
        build(&l, order, closed_but_for_the_ends);
        assert_int_equal(l.trace->count, 2);
        assert_int_equal(l.trace->roots, 1);
        assert_int_equal(l.counts.hidden, MANY - 2);
    }
    end(&l);
}

static struct pythia_span link_of_circle(const struct large *l, uint64_t i)
{
    struct pythia_span span = link_of_chain(l, i);
    span.parent = i ? i : MANY;
    return span;
}

static void a_circle_of_a_million_spans(void **state)
{
    struct large l;
    begin(&l);
    build(&l, MIXED, link_of_circle);
    assert_int_equal(l.counts.repaired[PYTHIA_REPAIR_CYCLE], 1);
    assert_int_equal(l.trace->spans[l.trace->first_root].id, 1);
    assert_int_equal(l.path.count, 2 * MANY);
    end(&l);
}

/* Every third one is its own parent, and the next two are each other's. */
static struct pythia_span small_circle(const struct large *l, uint64_t i)
{
    struct pythia_span span = {
        .id = i + 1, .start_ns = i, .duration_ns = 1, .tracepoint = l->open_point};
    span.parent = i % 3 == 0 ? i + 1 : i % 3 == 1 ? i + 2 : i;
    return span;
}

static void many_small_circles(void **state)
{
    struct large l;
    begin(&l);
    build(&l, MIXED, small_circle);
    assert_int_equal(l.counts.repaired[PYTHIA_REPAIR_CYCLE], 2 * (MANY / 3) + 1);
    end(&l);
}

static struct pythia_span sibling_in_turn(const struct large *l, uint64_t i)
{
    return (struct pythia_span){.id = i + 1,
                                .parent = i ? 1 : 0,
                                .start_ns = 10 * i,
                                .duration_ns = i ? 7 : 10 * (int64_t)MANY,
                                .tracepoint = l->open_point};
}

static void a_million_siblings_one_after_the_other(void **state)
{
    struct large l;
    begin(&l);
    build(&l, MIXED, sibling_in_turn);
    assert_int_equal(l.path.count, 2 * MANY);
    end(&l);
}

static struct pythia_span sibling_beside_the_others(const struct large *l, uint64_t i)
{
    struct pythia_span span = sibling_in_turn(l, i);
    if (i) {
        span.start_ns = i % 1000;
        span.duration_ns = (int64_t)(1 + i % 777);
    }
    return span;
}

static void a_million_siblings_beside_each_other(void **state)
{
    struct large l;
    begin(&l);
    build(&l, MIXED, sibling_beside_the_others);
    end(&l);
}

static struct pythia_span sibling_at_one_instant(const struct large *l, uint64_t i)
{
    struct pythia_span span = sibling_in_turn(l, i);
    if (i) {
        span.start_ns = 5;
        span.duration_ns = 0;
    }
    return span;
}

static void a_million_siblings_at_one_instant(void **state)
{
    struct large l;
    begin(&l);
    build(&l, MIXED, sibling_at_one_instant);
    uint64_t last = 0;
    for (size_t i = 0; i < l.path.count; i++) /* in the order of their ids */
        if (l.path.events[i].kind == PYTHIA_EVENT_START) {
            assert_int_equal(l.trace->spans[l.path.events[i].span].id, last + 1);
            last++;
        }
    assert_int_equal(last, MANY);
    end(&l);
}

static struct pythia_span one_span_again(const struct large *l, uint64_t i)
{
    return (struct pythia_span){
        .id = 1, .start_ns = 5, .duration_ns = (int64_t)(i % 3), .tracepoint = l->open_point};
}

static void a_million_reports_of_one_span(void **state)
{
    struct large l;
    begin(&l);
    build(&l, MIXED, one_span_again);
    assert_int_equal(l.trace->count, 1);
    assert_int_equal(l.trace->end_ns, 7);
    end(&l);
}

/* Spans of as many names share one id, and as many others name it as their parent. */
static struct pythia_span one_of_many_names(const struct large *l, uint64_t i)
{
    bool child = i > MANY / 2;
    return (struct pythia_span){.id = child ? i + 1 : 1,
                                .parent = child ? 1 : 0,
                                .start_ns = i,
                                .duration_ns = 2 * (int64_t)(MANY - i),
                                .tracepoint =
                                    child ? l->open_point : l->closed_point + (uint32_t)i};
}

static void half_a_million_names_of_one_id(void **state)
{
    struct large l;
    char name[6];
    begin(&l);
    pythia_trace_builder_destroy(l.builder);
    assert_int_equal(pythia_trace_builder_create(l.vocabulary, NULL, &l.builder), PYTHIA_OK);
    for (uint32_t i = 1; i <= MANY / 2; i++) {
        name[5] = '\0'; /* without digits, which would be replaced as identifiers are */
        for (uint32_t at = 0, rest = i; at < 5; at++, rest /= 26)
            name[at] = (char)('a' + rest % 26);
        assert_int_equal(
            pythia_vocabulary_tracepoint(l.vocabulary, 0, 0, intern(l.vocabulary, name)),
            l.closed_point + i);
    }
    build(&l, MIXED, one_of_many_names);
    assert_int_equal(l.trace->count, MANY);
    assert_int_equal(l.trace->roots, 1);
    end(&l);
}

static struct pythia_span orphan(const struct large *l, uint64_t i)
{
    struct pythia_span span = sibling_in_turn(l, i);
    span.parent = i ? i + 1 + MANY : 0;
    return span;
}

static void a_million_orphans(void **state)
{
    struct large l;
    begin(&l);
    build(&l, MIXED, orphan);
    assert_int_equal(l.counts.repaired[PYTHIA_REPAIR_ORPHAN], MANY - 1);
    end(&l);
}

/* Both halves of an id, the server's half inside of the client's. */
static struct pythia_span half_of_a_span(const struct large *l, uint64_t i)
{
    struct pythia_span span = link_of_chain(l, i);
    span.id = i / 2 + 1;
    span.parent = i / 2;
    span.shared = i % 2;
    return span;
}

static void a_chain_of_half_a_million_shared_ids(void **state)
{
    struct large l;
    begin(&l);
    build(&l, MIXED, half_of_a_span);
    assert_int_equal(l.trace->count, MANY);
    assert_int_equal(l.path.count, 2 * MANY);
    end(&l);
}

/* A root; then, over and over: a fork, its work, the beginning and the end of the wait for it. */
static struct pythia_span fork_and_wait(const struct large *l, uint64_t i)
{
    uint64_t turn = (i + 3) / 4;
    struct pythia_trace_id link = {2, turn};
    struct pythia_span span = {
        .id = i + 1, .parent = 1, .start_ns = 10 * turn, .tracepoint = l->open_point, .link = link};
    if (i == 0) {
        span.parent = 0;
        span.duration_ns = 10 * (int64_t)MANY;
    } else if (i % 4 == 1) {
        span.part = PYTHIA_PART_FORK;
        span.id = pythia_span_id_fold(link.high, link.low);
    } else if (i % 4 == 2) {
        span.parent = pythia_span_id_fold(link.high, link.low);
        span.start_ns++;
        span.duration_ns = 5;
    } else {
        span.id = i / 4 * 4 + 2 * (uint64_t)MANY;
        span.part = i % 4 == 3 ? PYTHIA_PART_WAIT : PYTHIA_PART_STOP;
        if (i % 4 == 0) {
            span.id -= 4;
            span.start_ns += 8;
        } else {
            span.start_ns += 3;
        }
    }
    return span;
}

static void a_quarter_of_a_million_forks_that_are_waited_for(void **state)
{
    struct large l;
    begin(&l);
    build(&l, MIXED, fork_and_wait);
    assert_int_equal(l.path.count, 2 + 2 * ((MANY + 1) / 4)); /* each work, and no wait */
    end(&l);
}

static int count_trace(void *context, const struct pythia_trace *trace)
{
    *(uint64_t *)context += trace->count;
    return PYTHIA_OK;
}

/* Each trace is forked off the one before it. In whatever order the forks come, a span of the last
 * one finds its way into the first in nearly constant time. */
static void a_chain_of_a_hundred_thousand_linked_traces(void **state)
{
    enum { CHAIN = MANY / 10 };
    for (int inner_first = 0; inner_first < 2; inner_first++) {
        struct large l;
        struct pythia_assembler *a = NULL;
        uint64_t kept = 0;
        begin(&l);
        struct pythia_assembler_options options = {.open = l.open};
        struct pythia_trace_taker taker = {count_trace, &kept};
        assert_int_equal(pythia_assembler_create(l.vocabulary, &options, taker, &l.counts, &a),
                         PYTHIA_OK);
        double began = now();
        for (uint64_t i = 0; i < CHAIN; i++) {
            uint64_t at = inner_first ? CHAIN - 1 - i : i;
            struct pythia_trace_id id = {1, at + 1}, next = {1, at + 2};
            struct pythia_span fork = {.id = pythia_span_id_fold(next.high, next.low),
                                       .parent = pythia_span_id_fold(id.high, id.low),
                                       .part = PYTHIA_PART_FORK,
                                       .tracepoint = l.open_point,
                                       .link = next};
            assert_int_equal(pythia_assembler_add(a, &id, &fork), PYTHIA_OK);
        }
        for (uint64_t i = 0; i < CHAIN; i++) {
            struct pythia_trace_id last = {1, CHAIN + 1};
            struct pythia_span span = {.id = i + 1, .tracepoint = l.open_point};
            assert_int_equal(pythia_assembler_add(a, &last, &span), PYTHIA_OK);
        }
        assert_int_equal(pythia_assembler_finish(a), PYTHIA_OK);
        assert_in_time("linking", began);
        assert_int_equal(l.counts.traces, 1);
        assert_int_equal(kept, CHAIN);
        pythia_assembler_destroy(a);
        end(&l);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_of_a_million_spans),
        cmocka_unit_test(a_chain_of_a_million_spans_without_an_end),
        cmocka_unit_test(a_chain_in_which_each_outlives_its_parent),
        cmocka_unit_test(a_chain_of_a_million_closed_points),
        cmocka_unit_test(a_circle_of_a_million_spans),
        cmocka_unit_test(many_small_circles),
        cmocka_unit_test(a_million_siblings_one_after_the_other),
        cmocka_unit_test(a_million_siblings_beside_each_other),
        cmocka_unit_test(a_million_siblings_at_one_instant),
        cmocka_unit_test(a_million_reports_of_one_span),
        cmocka_unit_test(half_a_million_names_of_one_id),
        cmocka_unit_test(a_million_orphans),
        cmocka_unit_test(a_chain_of_half_a_million_shared_ids),
        cmocka_unit_test(a_quarter_of_a_million_forks_that_are_waited_for),
        cmocka_unit_test(a_chain_of_a_hundred_thousand_linked_traces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
