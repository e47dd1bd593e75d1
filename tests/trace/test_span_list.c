#include "assemble/span_list.h"
#include "check.h"
#include "pythia/attributes.h"
#include "pythia/mem.h"
#include "pythia/random.h"
#include "pythia/status.h"
#include "pythia/vocabulary.h"

#define TEXT_MAX 100000

/* Spans that were added to a list, as they were. */
struct expected {
    struct pythia_span *spans;
    struct pythia_buf *attributes;
    size_t count, capacity;
};

static void keep(struct expected *x, const struct pythia_span *s, struct pythia_buf attributes)
{
    size_t capacity = x->capacity;
    assert_int_equal(pythia_grow(&x->spans, &capacity, x->count, sizeof(*x->spans)), PYTHIA_OK);
    assert_int_equal(pythia_grow(&x->attributes, &x->capacity, x->count, sizeof(*x->attributes)),
                     PYTHIA_OK);
    x->spans[x->count] = *s;
    x->spans[x->count].attributes = pythia_buf_text(&attributes);
    x->attributes[x->count++] = attributes;
}

static void forget(struct expected *x)
{
    for (size_t i = 0; i < x->count; i++)
        pythia_buf_free(&x->attributes[i]);
    pythia_free(x->spans);
    pythia_free(x->attributes);
}

static void check_span(const struct pythia_span *got, const struct pythia_span *want)
{
    assert_int_equal(got->id, want->id);
    assert_int_equal(got->parent, want->parent);
    assert_int_equal(got->start_ns, want->start_ns);
    assert_int_equal(got->duration_ns, want->duration_ns);
    assert_int_equal(got->tracepoint, want->tracepoint);
    assert_int_equal(got->resource, want->resource);
    assert_int_equal(got->kind, want->kind);
    assert_int_equal(got->relation, want->relation);
    assert_int_equal(got->part, want->part);
    assert_int_equal(got->error, want->error);
    assert_int_equal(got->shared, want->shared);
    assert_int_equal(got->many_roots, want->many_roots);
    assert_int_equal(got->lossy, want->lossy);
    assert_true(pythia_trace_id_equal(got->link, want->link));
    assert_int_equal(got->attributes.size, want->attributes.size);
    assert_true(pythia_text_equal(got->attributes, want->attributes));
}

/* Its spans are the expected ones; the attributes of all of them stay where they are. */
static void check_list(const struct pythia__span_list *l, const struct expected *x)
{
    struct pythia_arena arena = {0};
    struct pythia__span_cursor c = pythia__span_list_walk(l, &arena);
    struct pythia_span *got = pythia_calloc(x->count + 1, sizeof(*got));
    for (size_t i = 0; i < x->count; i++)
        assert_int_equal(pythia__span_list_next(&c, &got[i]), PYTHIA_OK);
    assert_int_equal(pythia__span_list_next(&c, &got[x->count]), 1);
    assert_int_equal(pythia__span_list_next(&c, &got[x->count]), 1);
    for (size_t i = 0; i < x->count; i++)
        check_span(&got[i], &x->spans[i]);
    pythia_free(got);
    pythia_arena_free(&arena);
}

static uint64_t pick(struct pythia_random *r, uint64_t below)
{
    return pythia_random_below(r, below);
}

/* Values that come again, that begin alike, that have one slot in common, and large ones. */
static void add_attribute(struct pythia_random *r, struct pythia_buf *to, char *text)
{
    uint32_t key = (uint32_t)pick(r, 30) * (pick(r, 50) ? 1 : 1000000);
    size_t size = pick(r, 500) ? pick(r, 40) : pick(r, TEXT_MAX);
    switch (pick(r, 6)) {
    case 0:
        pythia_attributes_integer(to, key, (int64_t)pythia_random_next(r));
        break;
    case 1:
        pythia_attributes_real(to, key, (double)pick(r, 3));
        break;
    case 2:
        pythia_attributes_bool(to, key, pick(r, 2));
        break;
    default:
        if (size > 5 && pick(r, 2))
            text[5 + pick(r, size - 5)] = (char)pick(r, 256);
        pythia_attributes_text(to, key, (struct pythia_text){text, size});
    }
}

static struct pythia_span draw_span(struct pythia_random *r, const struct expected *x)
{
    static const uint64_t times[] = {0, 1, UINT64_MAX, UINT64_C(1) << 63, 1700000000000000000};
    struct pythia_span s = {.id = pythia_random_next(r) | 1,
                            .start_ns = times[pick(r, 5)] + pick(r, 1000000000),
                            .duration_ns = (int64_t)pythia_random_next(r) >> pick(r, 64),
                            .tracepoint = pick(r, 4) ? (uint32_t)pick(r, 300) : PYTHIA_NONE,
                            .resource = (uint32_t)pythia_random_next(r) >> pick(r, 32),
                            .kind = (enum pythia_span_kind)pick(r, 6),
                            .relation = (enum pythia_span_relation)pick(r, 3),
                            .part = (enum pythia_span_part)pick(r, 7),
                            .error = pick(r, 2),
                            .shared = pick(r, 2),
                            .many_roots = pick(r, 2),
                            .lossy = pick(r, 2)};
    if (x->count && pick(r, 5))
        s.parent = pick(r, 2) ? x->spans[pick(r, x->count)].id : x->spans[x->count - 1].parent;
    if (s.part == PYTHIA_PART_FORK || s.part == PYTHIA_PART_WAIT)
        s.link = (struct pythia_trace_id){pythia_random_next(r), pythia_random_next(r)};
    return s;
}

static void add_spans(struct pythia_random *r, struct pythia__span_list *l,
                      struct pythia__span_pool *p, struct expected *x, size_t count)
{
    static char text[TEXT_MAX];
    for (size_t i = 0; i < count; i++) {
        struct pythia_span s = draw_span(r, x);
        struct pythia_buf attributes = {0};
        for (uint64_t n = pick(r, 3) ? pick(r, 20) : 0; n > 0; n--)
            add_attribute(r, &attributes, text);
        s.attributes = pythia_buf_text(&attributes);
        assert_int_equal(pythia__span_list_add(l, p, &s), PYTHIA_OK);
        keep(x, &s, attributes);
    }
}

static void spans_come_back_as_they_were(void **state)
{
    struct pythia_random r;
    struct pythia__span_pool pool = {0};
    pythia_random_init(&r, 17);
    for (size_t round = 0; round < 100; round++) {
        struct pythia__span_list l = {0};
        struct expected x = {0};
        check_list(&l, &x);
        add_spans(&r, &l, &pool, &x, 1 + round * round / 10);
        check_list(&l, &x);
        assert_true(pythia__span_list_bytes(&l) <= pythia__span_pool_bytes(&pool));
        pythia__span_list_release(&l, &pool);
        assert_int_equal(pythia__span_list_bytes(&l), 0);
        forget(&x);
    }
    pythia__span_pool_free(&pool);
    assert_int_equal(pythia__span_pool_bytes(&pool), 0);
}

/* Also when spans are added to the longer list afterwards. */
static void lists_are_joined_in_order(void **state)
{
    struct pythia_random r;
    struct pythia__span_pool pool = {0};
    struct pythia__span_list all = {0};
    struct expected x = {0};
    pythia_random_init(&r, 18);
    for (size_t part = 0; part < 50; part++) {
        struct pythia__span_list l = {0};
        add_spans(&r, &l, &pool, &x, pick(&r, 30));
        size_t bytes = pythia__span_list_bytes(&all) + pythia__span_list_bytes(&l);
        pythia__span_list_append(&all, &l);
        assert_int_equal(pythia__span_list_bytes(&all), bytes);
        assert_int_equal(pythia__span_list_bytes(&l), 0);
        add_spans(&r, &all, &pool, &x, pick(&r, 30));
        check_list(&all, &x);
    }
    pythia__span_list_release(&all, &pool);
    pythia__span_pool_free(&pool);
    forget(&x);
}

/* A request of 20 spans with these four key-values, two of which are the same for all: what a span
 * has of its own is an id (8), two times (8), numbers (5), digits of the path, and references. */
static void what_spans_have_in_common_is_held_once(void **state)
{
    struct pythia__span_pool pool = {0};
    struct pythia__span_list l = {0};
    struct pythia_buf attributes = {0};
    char path[] = "/api/v1/items/00000";
    for (uint64_t i = 0; i < 20; i++) {
        pythia_buf_clear(&attributes);
        path[sizeof(path) - 2] = (char)('0' + i % 10);
        path[sizeof(path) - 6] = (char)('0' + i / 10);
        pythia_attributes_text(&attributes, 1, PYTHIA_TEXT("GET"));
        pythia_attributes_integer(&attributes, 2, 200);
        pythia_attributes_text(&attributes, 3, pythia_text_of(path));
        pythia_attributes_text(&attributes, 4, PYTHIA_TEXT("item-service.default"));
        struct pythia_span s = {.id = UINT64_C(0x123456789abcdef0) + i,
                                .parent = i ? UINT64_C(0x123456789abcdef0) : 0,
                                .start_ns = UINT64_C(1700000000000000000) + i * 1000000,
                                .duration_ns = 5000000,
                                .tracepoint = 3,
                                .attributes = pythia_buf_text(&attributes)};
        assert_int_equal(pythia__span_list_add(&l, &pool, &s), PYTHIA_OK);
    }
    if (pythia__span_list_bytes(&l) > (size_t)20 * 37)
        fail_msg("%zu bytes a span", pythia__span_list_bytes(&l) / 20);
    pythia__span_list_release(&l, &pool);
    pythia__span_pool_free(&pool);
    pythia_buf_free(&attributes);
}

static void without_memory_the_list_is_as_it_was(void **state)
{
    for (long allocations = 0; allocations < 12; allocations++) {
        struct pythia_random r;
        struct pythia__span_pool pool = {0};
        struct pythia__span_list l = {0};
        struct expected x = {0};
        pythia_random_init(&r, 19);
        add_spans(&r, &l, &pool, &x, (size_t)allocations * 3);
        struct pythia_span s = {.id = 1, .attributes = PYTHIA_TEXT("")};
        size_t count = x.count;
        pythia_mem_fail_after(allocations % 3);
        while (pythia__span_list_add(&l, &pool, &s) == PYTHIA_OK && count < x.count + 100000)
            count++;
        pythia_mem_fail_after(-1);
        for (; count > x.count;)
            keep(&x, &s, (struct pythia_buf){0});
        check_list(&l, &x);
        struct pythia_arena arena = {0};
        struct pythia__span_cursor c = pythia__span_list_walk(&l, &arena);
        struct pythia_span got;
        int status;
        pythia_mem_fail_after(0);
        while ((status = pythia__span_list_next(&c, &got)) == PYTHIA_OK)
            assert_int_equal(got.attributes.size, 0);
        pythia_mem_fail_after(-1);
        assert_true(status == 1 || status == PYTHIA_ENOMEM);
        pythia__span_list_release(&l, &pool);
        pythia__span_pool_free(&pool);
        forget(&x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spans_come_back_as_they_were),
        cmocka_unit_test(lists_are_joined_in_order),
        cmocka_unit_test(what_spans_have_in_common_is_held_once),
        cmocka_unit_test(without_memory_the_list_is_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
