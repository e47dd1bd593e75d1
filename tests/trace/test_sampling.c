#include <stdio.h>

#include "check.h"
#include "pythia/hider.h"
#include "pythia/mem.h"
#include "pythia/sampling.h"
#include "pythia/status.h"
#include "pythia/trace.h"

/* ---- what a source states ---- */

static void assert_tracestate(const char *tracestate, enum pythia_sampling what, double wanted)
{
    double probability = -1;
    assert_int_equal(pythia_sampling_of_tracestate(pythia_text_of(tracestate), &probability), what);
    assert_rel_equal(probability, what == PYTHIA_SAMPLING_STATED ? wanted : -1, 1e-15);
}

/* The thresholds and their probabilities are those of OpenTelemetry's "TraceState: Probability
 * Sampling", and 1 - T / 2^56 of others. */
static void a_threshold_is_a_probability(void **state)
{
    assert_tracestate("ot=th:0", PYTHIA_SAMPLING_STATED, 1);
    assert_tracestate("ot=th:8", PYTHIA_SAMPLING_STATED, .5);
    assert_tracestate("ot=th:c", PYTHIA_SAMPLING_STATED, .25);
    assert_tracestate("ot=th:e", PYTHIA_SAMPLING_STATED, .125);
    assert_tracestate("ot=th:80000000000000", PYTHIA_SAMPLING_STATED, .5);
    assert_tracestate("ot=th:fd70a4", PYTHIA_SAMPLING_STATED, 1 - 0xfd70a4 / 0x1p24);
    assert_tracestate("ot=th:00000000000001", PYTHIA_SAMPLING_STATED, 1 - 0x1p-56);
    assert_tracestate("ot=th:ffffff", PYTHIA_SAMPLING_STATED, 0x1p-24); /* the smallest */
}

static void it_is_found_among_other_members_and_fields(void **state)
{
    assert_tracestate("ot=rv:6e6d1a75832a2f;th:8", PYTHIA_SAMPLING_STATED, .5);
    assert_tracestate("a=b, \tot=th:8;rv:6e6d1a75832a2f \t,c=ot=th:0", PYTHIA_SAMPLING_STATED, .5);
    assert_tracestate("ot=th:8,ot=th:c", PYTHIA_SAMPLING_STATED, .5); /* of two the first */
    assert_tracestate(",,ot=;;th:8", PYTHIA_SAMPLING_STATED, .5);
}

static void nothing_stated_is_no_fault(void **state)
{
    const char *const nothing[] = {"",       "ot=",      "ot",    "th:8",
                                   "a=th:8", "rot=th:8", "ot=th", "ot=rv:6e6d1a75832a2f"};
    for (size_t i = 0; i < sizeof(nothing) / sizeof(nothing[0]); i++)
        assert_tracestate(nothing[i], PYTHIA_SAMPLING_ABSENT, 0);
    double probability = -1;
    assert_int_equal(pythia_sampling_of_tracestate((struct pythia_text){NULL, 0}, &probability),
                     PYTHIA_SAMPLING_ABSENT);
}

static void what_is_no_threshold_is_invalid(void **state)
{
    const char *const invalid[] = {"ot=th:",       "ot=th:g", "ot=th:-8", "ot=th:8 8",
                                   "ot=th:0x8",    "ot=th:E", "ot=th:8.", "ot=th:000000000000000",
                                   "ot=th:ffffff8"}; /* the last is half of the smallest */
    for (size_t i = 0; i < sizeof(invalid) / sizeof(invalid[0]); i++)
        assert_tracestate(invalid[i], PYTHIA_SAMPLING_INVALID, 0);
}

static enum pythia_sampling of_real(double real, double *probability)
{
    return pythia_sampling_of_attribute(
        &(struct pythia_attribute){.kind = PYTHIA_ATTRIBUTE_REAL, .real = real}, probability);
}

static enum pythia_sampling of_text(const char *text, double *probability)
{
    return pythia_sampling_of_attribute(
        &(struct pythia_attribute){.kind = PYTHIA_ATTRIBUTE_TEXT, .text = pythia_text_of(text)},
        probability);
}

static void an_attribute_is_a_probability_however_it_is_written(void **state)
{
    double p = -1;
    assert_int_equal(of_real(.1, &p), PYTHIA_SAMPLING_STATED);
    assert_rel_equal(p, .1, 0);
    assert_int_equal(of_text("2.5e-1", &p), PYTHIA_SAMPLING_STATED);
    assert_rel_equal(p, .25, 0);
    struct pythia_attribute one = {.kind = PYTHIA_ATTRIBUTE_INTEGER, .integer = 1};
    assert_int_equal(pythia_sampling_of_attribute(&one, &p), PYTHIA_SAMPLING_STATED);
    assert_rel_equal(p, 1, 0);
}

static void an_attribute_that_is_none_is_invalid(void **state)
{
    const double invalid[] = {0, -.1, 1.1, NAN, INFINITY, 1e-9};
    const char *const texts[] = {"", "none", "10%", "0x1p-1", "nan", "1 ", "0.1.2"};
    double p = -1;
    for (size_t i = 0; i < sizeof(invalid) / sizeof(invalid[0]); i++)
        assert_int_equal(of_real(invalid[i], &p), PYTHIA_SAMPLING_INVALID);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        assert_int_equal(of_text(texts[i], &p), PYTHIA_SAMPLING_INVALID);
    struct pythia_attribute truth = {.kind = PYTHIA_ATTRIBUTE_BOOL, .integer = 1};
    assert_int_equal(pythia_sampling_of_attribute(&truth, &p), PYTHIA_SAMPLING_INVALID);
    assert_rel_equal(p, -1, 0);
}

/* Of 100 000 requests of weight 2.5 half stand for 2 and half for 3, with a standard deviation of
 * 158 in all; which, depends on nothing but the id. */
static void weights_are_whole_and_right_on_average(void **state)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < 100000; i++) {
        uint64_t one = pythia_sampling_requests(2.5, (struct pythia_trace_id){1, i});
        assert_in_range(one, 2, 3);
        assert_int_equal(one, pythia_sampling_requests(2.5, (struct pythia_trace_id){1, i}));
        assert_int_equal(pythia_sampling_requests(10, (struct pythia_trace_id){1, i}), 10);
        sum += one;
    }
    assert_in_range(sum, 250000 - 640, 250000 + 640);
    assert_int_equal(pythia_sampling_requests(0, (struct pythia_trace_id){1, 2}), 1);
    assert_int_equal(pythia_sampling_requests(NAN, (struct pythia_trace_id){1, 2}), 1);
}

/* ---- the weight of a trace ---- */

struct building {
    struct pythia_vocabulary *vocabulary;
    struct pythia_open_points *open;
    struct pythia_trace_builder *builder;
    struct pythia_counts counts;
    struct pythia_buf attributes[4];
    size_t count;
};

static void begin(struct building *b, const char *open)
{
    *b = (struct building){0};
    assert_int_equal(pythia_vocabulary_create(&b->vocabulary), PYTHIA_OK);
    if (open) {
        assert_int_equal(pythia_open_points_create(b->vocabulary, &b->open), PYTHIA_OK);
        assert_int_equal(pythia_open_points_add(b->open, pythia_text_of(open)), PYTHIA_OK);
    }
    assert_int_equal(pythia_trace_builder_create(b->vocabulary, b->open, &b->builder), PYTHIA_OK);
    pythia_trace_builder_begin(b->builder, (struct pythia_trace_id){1, 2});
}

/* A span of the trace point "<id>" that states a probability; 0: none. */
static void add(struct building *b, uint64_t id, uint64_t parent, double probability)
{
    char name[8];
    struct pythia_buf *attributes = &b->attributes[b->count++];
    if (probability != 0)
        pythia_attributes_real(
            attributes, pythia_vocabulary_string(b->vocabulary, PYTHIA_TEXT(PYTHIA_SAMPLING_KEY)),
            probability);
    snprintf(name, sizeof(name), "%d", (int)id);
    struct pythia_span span = {.id = id,
                               .parent = parent,
                               .start_ns = 1000 + id,
                               .duration_ns = 100 - (int64_t)id,
                               .attributes = pythia_buf_text(attributes)};
    span.tracepoint = pythia_vocabulary_tracepoint(
        b->vocabulary, 0, 0, pythia_vocabulary_string(b->vocabulary, pythia_text_of(name)));
    assert_int_equal(pythia_trace_builder_add(b->builder, &span), PYTHIA_OK);
}

static double finish(struct building *b)
{
    const struct pythia_trace *trace = NULL;
    assert_int_equal(pythia_trace_builder_finish(b->builder, &b->counts, &trace), 0);
    double weight = trace->weight;
    pythia_trace_builder_destroy(b->builder);
    pythia_open_points_destroy(b->open);
    pythia_vocabulary_destroy(b->vocabulary);
    for (size_t i = 0; i < b->count; i++)
        pythia_buf_free(&b->attributes[i]);
    return weight;
}

static void a_trace_without_a_probability_weighs_1(void **state)
{
    struct building b;
    begin(&b, NULL);
    add(&b, 1, 0, 0);
    add(&b, 2, 1, 0);
    assert_rel_equal(finish(&b), 1, 0);
}

static void the_root_decides_what_the_trace_weighs(void **state)
{
    struct building b;
    begin(&b, NULL);
    add(&b, 2, 1, .5);
    add(&b, 1, 0, .125);
    add(&b, 3, 1, 1);
    assert_rel_equal(finish(&b), 8, 0);
    begin(&b, NULL); /* of several roots the first that states one */
    add(&b, 1, 0, 0);
    add(&b, 3, 0, .5);
    add(&b, 2, 0, .25);
    assert_rel_equal(finish(&b), 4, 0);
}

static void without_a_root_that_says_so_the_largest_counts(void **state)
{
    struct building b;
    begin(&b, NULL);
    add(&b, 2, 1, .25); /* the root has not come */
    add(&b, 3, 2, .5);
    assert_rel_equal(finish(&b), 2, 0);
}

static void a_hidden_root_decides_all_the_same(void **state)
{
    struct building b;
    begin(&b, "2");
    add(&b, 1, 0, .125);
    add(&b, 2, 1, .5);
    assert_rel_equal(finish(&b), 8, 0);
    assert_int_equal(b.counts.hidden, 1);
}

static void hiding_points_afterwards_keeps_the_weight(void **state)
{
    struct building b;
    const struct pythia_trace *whole = NULL, *left = NULL;
    struct pythia_hider *hider = NULL;
    begin(&b, NULL);
    add(&b, 1, 0, .125);
    add(&b, 2, 1, .5);
    assert_int_equal(pythia_trace_builder_finish(b.builder, &b.counts, &whole), 0);
    assert_int_equal(pythia_open_points_create(b.vocabulary, &b.open), PYTHIA_OK);
    assert_int_equal(pythia_open_points_add(b.open, PYTHIA_TEXT("2")), PYTHIA_OK);
    assert_int_equal(pythia_hider_create(b.vocabulary, &hider), PYTHIA_OK);
    assert_int_equal(pythia_hider_hide(hider, whole, b.open, &left), 0);
    assert_int_equal(left->count, 1);
    assert_rel_equal(left->weight, 8, 0);
    pythia_hider_destroy(hider);
    assert_rel_equal(finish(&b), 8, 0);
}

static void what_is_no_probability_is_counted_and_passed_over(void **state)
{
    struct building b;
    begin(&b, NULL);
    add(&b, 1, 0, -3);
    add(&b, 2, 1, .5);
    assert_rel_equal(finish(&b), 2, 0);
    assert_int_equal(b.counts.repaired[PYTHIA_REPAIR_SAMPLING], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_threshold_is_a_probability),
        cmocka_unit_test(it_is_found_among_other_members_and_fields),
        cmocka_unit_test(nothing_stated_is_no_fault),
        cmocka_unit_test(what_is_no_threshold_is_invalid),
        cmocka_unit_test(an_attribute_is_a_probability_however_it_is_written),
        cmocka_unit_test(an_attribute_that_is_none_is_invalid),
        cmocka_unit_test(weights_are_whole_and_right_on_average),
        cmocka_unit_test(a_trace_without_a_probability_weighs_1),
        cmocka_unit_test(the_root_decides_what_the_trace_weighs),
        cmocka_unit_test(without_a_root_that_says_so_the_largest_counts),
        cmocka_unit_test(a_hidden_root_decides_all_the_same),
        cmocka_unit_test(hiding_points_afterwards_keeps_the_weight),
        cmocka_unit_test(what_is_no_probability_is_counted_and_passed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
