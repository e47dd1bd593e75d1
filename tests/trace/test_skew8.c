/* Clocks that disagree: eight processes on hosts whose clocks are up to half a second off and drift
 * by up to 50 ppm, requests four calls deep, and one call that asks twelve at once. What is known
 * of the truth: a call that is answered lies within the call that asks, and calls are in the order
 * in which they were made. */
#include <stdlib.h>

#include "check.h"
#include "pythia/random.h"
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

static void as7_calls_lie_within_calls_and_in_their_order(void **state)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as7_calls_lie_within_calls_and_in_their_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
