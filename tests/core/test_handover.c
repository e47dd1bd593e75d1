/* Traces of several threads, which one thread at a time gives to the consumer. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include <uv.h>

#include "check.h"
#include "input/handover.h"
#include "pythia/mem.h"
#include "pythia/status.h"

enum { THREADS = 4, TRACES = 3000, LARGE = 5000 };

struct consumer {
    struct pythia__handover *handover;
    atomic_int inside; /* threads */
    bool crowded, damaged;
    uint64_t taken, sum, stop_at; /* sum of the ids; the number of the trace that is refused */
    const struct pythia_trace_span *spans; /* of the last trace */
};

/* The attributes of span i of trace n: a text of i bytes, all the same. */
static bool is_whole(const struct pythia_trace *trace)
{
    for (uint32_t i = 0; i < trace->count; i++) {
        struct pythia_text text = trace->spans[i].attributes;
        if (trace->spans[i].id != trace->id.low + i || text.size != i % 50)
            return false;
        for (size_t k = 0; k < text.size; k++)
            if (text.bytes[k] != (char)('a' + trace->id.low % 26))
                return false;
    }
    return true;
}

static int take(void *context, const struct pythia_trace *trace)
{
    struct consumer *c = context;
    c->crowded |= atomic_fetch_add(&c->inside, 1) > 0;
    c->damaged |= !is_whole(trace);
    c->sum += trace->id.low;
    c->spans = trace->spans;
    bool stop = ++c->taken == c->stop_at;
    atomic_fetch_sub(&c->inside, 1);
    return stop ? PYTHIA_ESTOPPED : PYTHIA_OK;
}

static int add(struct consumer *c, struct pythia_buf *batch, uint64_t number,
               struct pythia_trace_span *spans, uint32_t count)
{
    char text[64];
    memset(text, 'a' + (int)(number % 26), sizeof(text));
    for (uint32_t i = 0; i < count; i++)
        spans[i] = (struct pythia_trace_span){.id = number + i, .attributes = {text, i % 50}};
    const struct pythia_trace trace = {.id = {0, number}, .spans = spans, .count = count};
    return pythia__handover_add(c->handover, batch, &trace);
}

struct thread {
    uv_thread_t thread;
    struct consumer *consumer;
    uint64_t first;
    int status;
};

static void add_all(void *context)
{
    struct thread *t = context;
    struct pythia_trace_span *spans = pythia_calloc(LARGE, sizeof(*spans));
    struct pythia_buf batch = {0};
    for (uint64_t i = 0; i < TRACES && t->status == PYTHIA_OK; i++)
        t->status = add(t->consumer, &batch, t->first + i, spans,
                        i % 1000 == 999 ? LARGE : (uint32_t)(i % 90));
    if (t->status == PYTHIA_OK)
        t->status = pythia__handover_flush(t->consumer->handover, &batch);
    pythia_buf_free(&batch);
    pythia_free(spans);
}

static void run_threads(struct consumer *c, struct thread *threads)
{
    assert_int_equal(pythia__handover_create(take, c, &c->handover), PYTHIA_OK);
    for (size_t i = 0; i < THREADS; i++) {
        threads[i] = (struct thread){.consumer = c, .first = 1 + i * TRACES};
        assert_int_equal(uv_thread_create(&threads[i].thread, add_all, &threads[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++)
        uv_thread_join(&threads[i].thread);
    pythia__handover_destroy(c->handover);
}

static void each_trace_of_each_thread_is_taken_once_and_whole(void **state)
{
    struct consumer c = {.stop_at = UINT64_MAX};
    struct thread threads[THREADS];
    uint64_t n = (uint64_t)THREADS * TRACES;
    run_threads(&c, threads);
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(threads[i].status, PYTHIA_OK);
    assert_int_equal(c.taken, n);
    assert_int_equal(c.sum, n * (n + 1) / 2);
    assert_false(c.crowded);
    assert_false(c.damaged);
}

static void a_consumer_that_stops_stops_all(void **state)
{
    struct consumer c = {.stop_at = 100};
    struct thread threads[THREADS];
    run_threads(&c, threads);
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(threads[i].status, PYTHIA_ESTOPPED);
    assert_int_equal(c.taken, 100);
}

static void a_large_trace_is_not_copied(void **state)
{
    struct consumer c = {.stop_at = UINT64_MAX};
    struct pythia_buf batch = {0};
    struct pythia_trace_span *spans = pythia_calloc(LARGE, sizeof(*spans));
    assert_non_null(spans);
    assert_int_equal(pythia__handover_create(take, &c, &c.handover), PYTHIA_OK);
    assert_int_equal(add(&c, &batch, 7, spans, LARGE), PYTHIA_OK);
    assert_int_equal(c.taken, 1);
    assert_ptr_equal(c.spans, spans);
    assert_int_equal(add(&c, &batch, 8, spans, 3), PYTHIA_OK);
    assert_int_equal(c.taken, 1); /* it waits in the batch */
    assert_int_equal(pythia__handover_flush(c.handover, &batch), PYTHIA_OK);
    assert_int_equal(c.taken, 2);
    assert_true(c.spans != spans);
    assert_false(c.damaged);
    pythia_buf_free(&batch);
    pythia__handover_destroy(c.handover);
    pythia_free(spans);
}

static void without_memory_nothing_is_lost_that_was_added(void **state)
{
    struct consumer c = {.stop_at = UINT64_MAX};
    struct pythia_buf batch = {0};
    struct pythia_trace_span spans[3];
    pythia_mem_fail_after(0);
    assert_int_equal(pythia__handover_create(take, &c, &c.handover), PYTHIA_ENOMEM);
    pythia_mem_fail_after(-1);
    assert_int_equal(pythia__handover_create(take, &c, &c.handover), PYTHIA_OK);
    pythia_mem_fail_after(0);
    assert_int_equal(add(&c, &batch, 1, spans, 3), PYTHIA_ENOMEM);
    pythia_mem_fail_after(-1);
    assert_int_equal(add(&c, &batch, 2, spans, 3), PYTHIA_OK);
    pythia_mem_fail_after(0);
    assert_int_equal(pythia__handover_flush(c.handover, &batch), PYTHIA_ENOMEM);
    pythia_mem_fail_after(-1);
    assert_int_equal(c.taken, 0);
    assert_int_equal(pythia__handover_flush(c.handover, &batch), PYTHIA_OK);
    assert_int_equal(c.taken, 1);
    assert_int_equal(c.sum, 2);
    pythia_buf_free(&batch);
    pythia__handover_destroy(c.handover);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_trace_of_each_thread_is_taken_once_and_whole),
        cmocka_unit_test(a_consumer_that_stops_stops_all),
        cmocka_unit_test(a_large_trace_is_not_copied),
        cmocka_unit_test(without_memory_nothing_is_lost_that_was_added),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
