#include <string.h>

#include "check.h"
#include "pythia/mem.h"
#include "pythia/span_batch.h"
#include "pythia/status.h"

/* What came out of a batch, against what went in. */
struct walk {
    uint64_t expected; /* number of the next span */
    int answer;
    uint64_t stop_at; /* the number at which `answer` is given */
};

static char attribute_bytes[64] = "0123456789abcdefghijklmnopqrstuvwxyz";

static struct pythia_span span_of(uint64_t number)
{
    return (struct pythia_span){
        .id = number + 1,
        .parent = number,
        .start_ns = number * 1000,
        .duration_ns = -(int64_t)number,
        .tracepoint = (uint32_t)number % 7,
        .resource = (uint32_t)number % 3,
        .kind = PYTHIA_SPAN_CLIENT,
        .relation = PYTHIA_RELATION_SPAWN,
        .part = PYTHIA_PART_WAIT,
        .error = number % 2,
        .link = {number * 3, number * 5},
        .attributes = {number % 5 ? attribute_bytes + number % 9 : NULL, number % 5 * 3},
    };
}

static int check_span(void *context, const struct pythia_trace_id *trace,
                      const struct pythia_span *span)
{
    struct walk *w = context;
    uint64_t number = w->expected++;
    struct pythia_span wanted = span_of(number);
    assert_int_equal(trace->high, number / 4);
    assert_int_equal(trace->low, ~number);
    assert_int_equal(span->id, wanted.id);
    assert_int_equal(span->parent, wanted.parent);
    assert_int_equal(span->start_ns, wanted.start_ns);
    assert_int_equal(span->duration_ns, wanted.duration_ns);
    assert_int_equal(span->tracepoint, wanted.tracepoint);
    assert_int_equal(span->resource, wanted.resource);
    assert_int_equal(span->kind, wanted.kind);
    assert_int_equal(span->relation, wanted.relation);
    assert_int_equal(span->part, wanted.part);
    assert_int_equal(span->error, wanted.error);
    assert_false(span->shared || span->many_roots);
    assert_true(pythia_trace_id_equal(span->link, wanted.link));
    assert_true(pythia_text_equal(span->attributes, wanted.attributes));
    return number == w->stop_at ? w->answer : PYTHIA_OK;
}

static void add(struct pythia_span_batch *b, uint64_t number)
{
    struct pythia_span span = span_of(number);
    struct pythia_trace_id trace = {number / 4, ~number};
    assert_int_equal(pythia_span_batch_add(b, &trace, &span), PYTHIA_OK);
}

static void spans_come_out_in_order_and_whole(void **state)
{
    struct pythia_span_batch *b = NULL;
    assert_int_equal(pythia_span_batch_create(&b), PYTHIA_OK);
    for (int round = 0; round < 2; round++) {
        struct walk w = {.stop_at = UINT64_MAX};
        assert_int_equal(pythia_span_batch_count(b), 0);
        assert_int_equal(pythia_span_batch_size(b), 0);
        assert_int_equal(pythia_span_batch_each(b, check_span, &w), PYTHIA_OK);
        assert_int_equal(w.expected, 0);
        for (uint64_t number = 0; number < 1000; number++)
            add(b, number);
        assert_int_equal(pythia_span_batch_count(b), 1000);
        assert_int_equal(pythia_span_batch_each(b, check_span, &w), PYTHIA_OK);
        assert_int_equal(w.expected, 1000);
        assert_true(pythia_span_batch_bytes(b) > pythia_span_batch_size(b));
        size_t held = pythia_span_batch_bytes(b);
        pythia_span_batch_clear(b);
        assert_int_equal(pythia_span_batch_bytes(b), held); /* for the next one */
    }
    pythia_span_batch_destroy(b);
    pythia_span_batch_destroy(NULL);
}

/* A positive answer is no reason to stop. */
static void the_first_negative_answer_ends_it(void **state)
{
    struct pythia_span_batch *b = NULL;
    assert_int_equal(pythia_span_batch_create(&b), PYTHIA_OK);
    for (uint64_t number = 0; number < 10; number++)
        add(b, number);
    struct walk stopped = {.stop_at = 4, .answer = PYTHIA_ESTOPPED};
    assert_int_equal(pythia_span_batch_each(b, check_span, &stopped), PYTHIA_ESTOPPED);
    assert_int_equal(stopped.expected, 5);
    struct walk positive = {.stop_at = 4, .answer = 1};
    assert_int_equal(pythia_span_batch_each(b, check_span, &positive), PYTHIA_OK);
    assert_int_equal(positive.expected, 10);
    pythia_span_batch_destroy(b);
}

static void without_memory_it_stays_as_it_was(void **state)
{
    struct pythia_span_batch *b = NULL;
    pythia_mem_fail_after(0);
    assert_int_equal(pythia_span_batch_create(&b), PYTHIA_ENOMEM);
    pythia_mem_fail_after(-1);
    assert_null(b);
    assert_int_equal(pythia_span_batch_create(&b), PYTHIA_OK);
    uint64_t number = 0;
    for (size_t failures = 0; failures < 5;) {
        struct pythia_span span = span_of(number);
        struct pythia_trace_id trace = {number / 4, ~number};
        pythia_mem_fail_after(0);
        int status = pythia_span_batch_add(b, &trace, &span);
        pythia_mem_fail_after(-1);
        if (status == PYTHIA_OK) {
            number++;
            continue;
        }
        assert_int_equal(status, PYTHIA_ENOMEM);
        assert_int_equal(pythia_span_batch_count(b), number);
        failures++;
        add(b, number++); /* and when there is memory again, it goes on */
    }
    struct walk w = {.stop_at = UINT64_MAX};
    assert_int_equal(pythia_span_batch_each(b, check_span, &w), PYTHIA_OK);
    assert_int_equal(w.expected, number);
    pythia_span_batch_destroy(b);
}

static void a_batch_is_cut_back_to_what_it_was(void **state)
{
    struct pythia_span_batch *b = NULL;
    assert_int_equal(pythia_span_batch_create(&b), PYTHIA_OK);
    for (uint64_t i = 0; i < 9; i++)
        add(b, i);
    size_t count = pythia_span_batch_count(b), size = pythia_span_batch_size(b);
    for (uint64_t i = 100; i < 140; i++)
        add(b, i);
    pythia_span_batch_truncate(b, count, size);
    assert_int_equal(pythia_span_batch_size(b), size);
    add(b, 9);
    struct walk w = {.stop_at = UINT64_MAX};
    assert_int_equal(pythia_span_batch_each(b, check_span, &w), PYTHIA_OK);
    assert_int_equal(w.expected, 10);
    pythia_span_batch_destroy(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spans_come_out_in_order_and_whole),
        cmocka_unit_test(the_first_negative_answer_ends_it),
        cmocka_unit_test(without_memory_it_stays_as_it_was),
        cmocka_unit_test(a_batch_is_cut_back_to_what_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
