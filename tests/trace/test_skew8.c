/* Clocks that disagree: eight processes on hosts whose clocks are up to half a second off and drift
 * by up to 50 ppm, requests four calls deep, and one call that asks twelve at once. What is known
 * of the truth: a call that is answered lies within the call that asks, and calls are in the order
 * in which they were made. */
#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "pythia/random.h"
#include "pythia/skew.h"
#include "pythia/status.h"
#include "pythia/trace.h"

#define PROCESSES 8
#define DEPTH     4
#define FAN_OUT   12
#define REQUESTS  200
#define BEGIN     UINT64_C(1700000000000000000)
#define SPANS_MAX 256

static struct pythia_vocabulary *vocabulary;
static uint32_t resources[PROCESSES], points[2];
static double offset_ns[PROCESSES], drift[PROCESSES];

static struct planted {
    struct pythia_span span;
    uint64_t start_ns, end_ns; /* the truth */
    int process;
} spans[SPANS_MAX];
static int count;
static struct pythia_random randomness;

static uint64_t between(uint64_t low, uint64_t high)
{
    return low + pythia_random_below(&randomness, high - low + 1);
}

/* What a process's clock shows. */
static uint64_t shown(int process, uint64_t ns)
{
    return BEGIN +
           (uint64_t)(int64_t)(offset_ns[process] + (double)(ns - BEGIN) * (1 + drift[process]));
}

static int add(int process, int parent, int server, uint64_t start_ns, uint64_t end_ns)
{
    struct planted *p = &spans[count];
    assert_true(count < SPANS_MAX);
    p->start_ns = start_ns;
    p->end_ns = end_ns;
    p->process = process;
    p->span = (struct pythia_span){.id = (uint64_t)count + 1,
                                   .parent = (uint64_t)parent + 1, /* -1: none */
                                   .start_ns = shown(process, start_ns),
                                   .duration_ns =
                                       (int64_t)(shown(process, end_ns) - shown(process, start_ns)),
                                   .tracepoint = points[server],
                                   .resource = resources[process],
                                   .kind = server ? PYTHIA_SPAN_SERVER : PYTHIA_SPAN_CLIENT,
                                   .relation = PYTHIA_RELATION_CALL};
    return count++;
}

/* A call from `parent`, and what it asks in turn. Returns when it is answered. */
static uint64_t call(int process, int parent, int depth, uint64_t at)
{
    int next = (process + 1 + (int)pythia_random_below(&randomness, PROCESSES - 1)) % PROCESSES;
    uint64_t arrives = at + between(50000, 500000), now = arrives + between(1000, 20000), latest;
    int client = add(process, parent, 0, at, at), server = add(next, client, 1, arrives, arrives);
    if (depth < DEPTH)
        now = call(next, server, depth + 1, now);
    latest = now;
    for (int i = 0; depth == DEPTH && i < FAN_OUT; i++) { /* side by side, begun one by one */
        int asked = add(next, server, 0, now, now + between(400000, 900000));
        latest = spans[asked].end_ns > latest ? spans[asked].end_ns : latest;
        now += between(1000, 5000);
    }
    uint64_t ends = latest + between(1000, 20000), back = ends + between(50000, 500000);
    spans[server].end_ns = ends;
    spans[client].end_ns = back;
    for (int i = 0; i < 2; i++) {
        struct planted *p = &spans[i ? server : client];
        p->span.duration_ns =
            (int64_t)(shown(p->process, p->end_ns) - shown(p->process, p->start_ns));
    }
    return back + 1000;
}

static void begin_processes(void)
{
    assert_int_equal(pythia_vocabulary_create(&vocabulary), PYTHIA_OK);
    pythia_random_init(&randomness, 7);
    uint32_t service = pythia_vocabulary_string(vocabulary, PYTHIA_TEXT("s"));
    points[0] = pythia_vocabulary_tracepoint(
        vocabulary, service, 0, pythia_vocabulary_string(vocabulary, PYTHIA_TEXT("ask")));
    points[1] = pythia_vocabulary_tracepoint(
        vocabulary, service, 0, pythia_vocabulary_string(vocabulary, PYTHIA_TEXT("answer")));
    for (int i = 0; i < PROCESSES; i++) {
        char host[] = {'h', (char)('0' + i)};
        struct pythia_resource r = {
            .service = service,
            .host = pythia_vocabulary_string(vocabulary, (struct pythia_text){host, 2})};
        resources[i] = pythia_vocabulary_resource(vocabulary, &r);
        offset_ns[i] = (double)between(0, 1000000000) - 5e8;
        drift[i] = ((double)between(0, 100) - 50) * 1e-6;
    }
}

/* 0 or more: by so much a child sticks out of its parent. */
static uint64_t outside(const struct pythia_trace *t, uint32_t i)
{
    const struct pythia_trace_span *child = &t->spans[i];
    if (child->parent == PYTHIA_NO_SPAN)
        return 0;
    const struct pythia_trace_span *parent = &t->spans[child->parent];
    uint64_t before = child->start_ns < parent->start_ns ? parent->start_ns - child->start_ns : 0,
             behind = child->end_ns > parent->end_ns ? child->end_ns - parent->end_ns : 0;
    return before > behind ? before : behind;
}

/* Children of one span in the order of the truth: their ids were given in it. */
static int in_planted_order(const struct pythia_trace *t, uint32_t i)
{
    for (uint32_t at = t->spans[i].first_child; at != PYTHIA_NO_SPAN;) {
        uint32_t next = t->spans[at].next_sibling;
        if (next != PYTHIA_NO_SPAN && t->spans[next].id < t->spans[at].id)
            return 0;
        at = next;
    }
    return 1;
}

static void calls_lie_within_calls_and_in_their_order(void **state)
{
    struct pythia_trace_builder *builder;
    struct pythia_counts counts = {0};
    const struct pythia_trace *trace;
    uint64_t at = BEGIN;
    begin_processes();
    assert_int_equal(pythia_trace_builder_create(vocabulary, NULL, &builder), PYTHIA_OK);
    for (int n = 0; n < REQUESTS; n++) {
        count = 0;
        at = call((int)pythia_random_below(&randomness, PROCESSES), -1, 1, at) + 5000000;
        pythia_trace_builder_begin(builder, (struct pythia_trace_id){1, (uint64_t)n + 1});
        for (int i = count; i-- > 0;) /* in whatever order */
            assert_int_equal(pythia_trace_builder_add(builder, &spans[i].span), PYTHIA_OK);
        assert_int_equal(pythia_trace_builder_finish(builder, &counts, &trace), PYTHIA_OK);
        assert_int_equal(trace->count, 2 * DEPTH + FAN_OUT);
        for (uint32_t i = 0; i < trace->count; i++) {
            const struct pythia_trace_span *span = &trace->spans[i];
            assert_int_equal(outside(trace, i), 0);
            assert_true(in_planted_order(trace, i));
            assert_int_equal(span->parent == PYTHIA_NO_SPAN ? 0 : trace->spans[span->parent].id,
                             spans[span->id - 1].span.parent);
        }
    }
    assert_true(counts.repaired[PYTHIA_REPAIR_SKEW] > REQUESTS);
    pythia_trace_builder_destroy(builder);
    pythia_vocabulary_destroy(vocabulary);
}

/* ---- clocks ---- */

static struct pythia_skew *skew;
static double least_way[PROCESSES]; /* of calls of a process */
static uint64_t last_ns;

static double shorter(double a, double b)
{
    return b == 0 || a < b ? a : b;
}

/* Requests of which the builder has told the clocks every call, in whatever order spans came. */
static void tell_calls(int requests)
{
    struct pythia_trace_builder *builder;
    struct pythia_counts counts = {0};
    const struct pythia_trace *trace;
    uint64_t at = BEGIN;
    begin_processes();
    memset(least_way, 0, sizeof(least_way));
    assert_int_equal(pythia_skew_create(vocabulary, &skew), PYTHIA_OK);
    assert_int_equal(pythia_trace_builder_create(vocabulary, NULL, &builder), PYTHIA_OK);
    pythia_trace_builder_set_clocks(builder, skew, NULL);
    for (int n = 0; n < requests; n++) {
        count = 0;
        at = call((int)pythia_random_below(&randomness, PROCESSES), -1, 1, at) + 5000000;
        pythia_trace_builder_begin(builder, (struct pythia_trace_id){1, (uint64_t)n + 1});
        for (int i = count; i-- > 0;) {
            assert_int_equal(pythia_trace_builder_add(builder, &spans[i].span), PYTHIA_OK);
            if (spans[i].span.kind != PYTHIA_SPAN_SERVER)
                continue;
            const struct planted *client = &spans[spans[i].span.parent - 1];
            double way = (double)(client->end_ns - client->start_ns) -
                         (double)(spans[i].end_ns - spans[i].start_ns);
            least_way[client->process] = shorter(way, least_way[client->process]);
            least_way[spans[i].process] = shorter(way, least_way[spans[i].process]);
        }
        assert_int_equal(pythia_trace_builder_finish(builder, &counts, &trace), PYTHIA_OK);
    }
    last_ns = at;
    pythia_trace_builder_destroy(builder);
    assert_int_equal(pythia_skew_solve(skew), PYTHIA_OK);
}

static void end_calls(void)
{
    pythia_skew_destroy(skew);
    pythia_vocabulary_destroy(vocabulary);
}

/* By how much the clock of a process is ahead of that of process 0, at a time of the truth. */
static double planted_ahead(int process, uint64_t ns)
{
    return (double)(int64_t)(shown(process, ns) - shown(0, ns));
}

static void offsets_are_found_to_half_of_the_shortest_way(void **state)
{
    size_t known;
    double worst = 0;
    tell_calls(REQUESTS);
    const struct pythia_skew_clock *clocks = pythia_skew_clocks(skew, &known);
    assert_int_equal(known, PROCESSES);
    for (int i = 0; i < PROCESSES; i++) { /* in order of their hosts' names */
        assert_int_equal(clocks[i].process, resources[i]);
        assert_int_equal(clocks[i].reference, resources[0]);
        assert_true(clocks[i].calls > 50);
        if (i > 0)
            assert_rel_equal(clocks[i].error_ns, least_way[i] / 2, 1e-3);
        for (int k = 0; k <= 10; k++) { /* at any time, since clocks drift */
            uint64_t ns = BEGIN + (last_ns - BEGIN) / 10 * (uint64_t)k;
            double found = pythia_skew_offset_ns(skew, resources[i], shown(i, ns)),
                   off = fabs(found - planted_ahead(i, ns));
            assert_true(off <= least_way[i] / 2);
            worst = off > worst ? off : worst;
        }
    }
    print_message("offsets are off by %.1f us at most, of %.1f us that may be\n", worst / 1e3,
                  least_way[1] / 2e3);
    assert_rel_equal(pythia_skew_offset_ns(skew, 12345, BEGIN), 0, 0); /* nobody knows it */
    end_calls();
}

static void a_drift_is_found_where_there_is_time_for_it(void **state)
{
    size_t known;
    tell_calls(10 * REQUESTS); /* some 20 s */
    const struct pythia_skew_clock *clocks = pythia_skew_clocks(skew, &known);
    assert_int_equal(known, PROCESSES);
    for (int i = 0; i < PROCESSES; i++)
        assert_true(fabs(clocks[i].drift - (drift[i] - drift[0])) < 5e-6);
    end_calls();
}

static int compare_starts(const void *a, const void *b)
{
    const struct planted *x = *(struct planted *const *)a, *y = *(struct planted *const *)b;
    return (x->span.start_ns > y->span.start_ns) - (x->span.start_ns < y->span.start_ns);
}

/* With times put right, and nothing else mended. */
static void with_times_put_right_no_call_leaves_its_caller(void **state)
{
    uint64_t at;
    tell_calls(REQUESTS);
    pythia_random_init(&randomness, 99);
    at = BEGIN;
    for (int n = 0; n < REQUESTS; n++) {
        struct planted *order[SPANS_MAX];
        count = 0;
        at = call((int)pythia_random_below(&randomness, PROCESSES), -1, 1, at) + 5000000;
        assert_int_equal(count, 2 * DEPTH + FAN_OUT);
        for (int i = 0; i < count; i++) {
            spans[i].span.start_ns -= (uint64_t)llrint(
                pythia_skew_offset_ns(skew, spans[i].span.resource, spans[i].span.start_ns));
            order[i] = &spans[i];
        }
        for (int i = 0; i < count; i++) {
            const struct planted *child = &spans[i];
            if (child->span.parent == 0)
                continue;
            const struct planted *parent = &spans[child->span.parent - 1];
            double least = shorter(least_way[child->process], least_way[parent->process]),
                   before = (double)(int64_t)(parent->span.start_ns - child->span.start_ns),
                   behind = (double)(int64_t)(child->span.start_ns - parent->span.start_ns) +
                            (double)(child->span.duration_ns - parent->span.duration_ns);
            assert_true(before <= least / 2 && behind <= least / 2);
        }
        qsort(order, (size_t)count, sizeof(order[0]), compare_starts);
        for (int i = 1; i < count; i++)
            assert_true(order[i - 1]->start_ns <= order[i]->start_ns);
    }
    end_calls();
}

static void the_builder_puts_times_right_and_marks_it(void **state)
{
    struct pythia_trace_builder *builder;
    struct pythia_counts counts = {0};
    const struct pythia_trace *trace;
    tell_calls(REQUESTS);
    assert_int_equal(pythia_trace_builder_create(vocabulary, NULL, &builder), PYTHIA_OK);
    pythia_trace_builder_set_clocks(builder, NULL, skew);
    count = 0;
    call(3, -1, 1, BEGIN + 1000000);
    pythia_trace_builder_begin(builder, (struct pythia_trace_id){1, 1});
    for (int i = count; i-- > 0;)
        assert_int_equal(pythia_trace_builder_add(builder, &spans[i].span), PYTHIA_OK);
    assert_int_equal(pythia_trace_builder_finish(builder, &counts, &trace), PYTHIA_OK);
    for (uint32_t i = 0; i < trace->count; i++) {
        const struct pythia_trace_span *span = &trace->spans[i];
        const struct planted *p = &spans[span->id - 1];
        double off = (double)(int64_t)(span->start_ns - shown(0, p->start_ns));
        assert_true(fabs(off) <= least_way[p->process]);
        assert_int_equal(span->end_ns - span->start_ns, p->span.duration_ns); /* is not touched */
        assert_int_equal((span->repairs >> PYTHIA_REPAIR_SKEW) & 1, p->process != 0);
    }
    pythia_trace_builder_destroy(builder);
    end_calls();
}

/* The same bits from another order, and nothing from calls that cannot be. */
static void the_order_of_calls_does_not_matter(void **state)
{
    enum { CALLS = 5000 };
    struct pythia_skew *both[2];
    uint64_t impossible, beyond;
    size_t known;
    begin_processes();
    for (int turn = 0; turn < 2; turn++) {
        assert_int_equal(pythia_skew_create(vocabulary, &both[turn]), PYTHIA_OK);
        for (int i = 0; i < CALLS; i++) {
            uint64_t k = (uint64_t)(turn ? (i * 1237) % CALLS : i), at = BEGIN + k * 3000000,
                     way = 100000 + k * 7919 % 400000;
            assert_int_equal(pythia_skew_add(both[turn], resources[0], resources[1], at,
                                             at + 2 * way, at + way / 2 + 77000000,
                                             at + way + 77000000),
                             PYTHIA_OK);
        }
        assert_int_equal(pythia_skew_add(both[turn], resources[0], resources[1], BEGIN, BEGIN + 5,
                                         BEGIN, BEGIN + 6),
                         PYTHIA_OK);
        assert_int_equal(
            pythia_skew_add(both[turn], resources[0], resources[1], BEGIN + 9, BEGIN, BEGIN, BEGIN),
            PYTHIA_OK);
        pythia_skew_left_out(both[turn], &impossible, &beyond);
        assert_int_equal(impossible, 2);
        assert_int_equal(beyond, 0);
        assert_int_equal(pythia_skew_solve(both[turn]), PYTHIA_OK);
    }
    double a = pythia_skew_offset_ns(both[0], resources[1], BEGIN + 1000000000),
           b = pythia_skew_offset_ns(both[1], resources[1], BEGIN + 1000000000);
    assert_rel_equal(a, b, 1e-15);
    assert_true(fabs(a - 77e6) < 50000);
    pythia_skew_clear(both[0]);
    assert_int_equal(pythia_skew_solve(both[0]), PYTHIA_OK);
    pythia_skew_clocks(both[0], &known);
    assert_int_equal(known, 0);
    pythia_skew_destroy(both[0]);
    pythia_skew_destroy(both[1]);
    pythia_vocabulary_destroy(vocabulary);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(offsets_are_found_to_half_of_the_shortest_way),
        cmocka_unit_test(a_drift_is_found_where_there_is_time_for_it),
        cmocka_unit_test(with_times_put_right_no_call_leaves_its_caller),
        cmocka_unit_test(the_builder_puts_times_right_and_marks_it),
        cmocka_unit_test(the_order_of_calls_does_not_matter),
        cmocka_unit_test(calls_lie_within_calls_and_in_their_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
