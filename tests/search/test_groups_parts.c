/* Groups that several threads fill, each a part: what is put together is what one thread would have
 * gathered. */
#include <stdlib.h>

#include "check.h"
#include "pythia/groups_merge.h"
#include "pythia/hash.h"
#include "pythia/mem.h"
#include "requests.h"

enum { PARTS = 3 };

/* Requests of seven types and many paths, with key-values. */
static void write_text(char *text, size_t size, uint64_t i)
{
    snprintf(text, size, "T%u(size=%u,user=u%u){10 %s(part=%u){%u} 5 %s{7 c{%u}}}",
             (unsigned)(i % 7), (unsigned)(i * 7 % 100), (unsigned)(i % 5), i % 3 ? "a" : "b",
             (unsigned)(i % 11), (unsigned)(100 + i * 3701 % 500000), i % 4 ? "d" : "a",
             (unsigned)(1 + i % 13));
}

static void add_numbered(struct requests *r, struct pythia_groups *to, uint64_t i)
{
    char text[200];
    write_text(text, sizeof(text), i);
    assert_int_equal(pythia_groups_add(to, requests_trace(r, i + 1, text)), PYTHIA_OK);
}

static size_t part_of(uint64_t i)
{
    return pythia_hash_mix(i, 77) % PARTS;
}

static void create_parts(struct requests *r, struct pythia_groups **parts)
{
    for (size_t i = 0; i < PARTS; i++)
        assert_int_equal(pythia_groups_create_part(r->groups, PARTS, &parts[i]), PYTHIA_OK);
}

static void fill_parts(struct requests *r, struct pythia_groups **parts, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++)
        add_numbered(r, parts[part_of(i)], i);
}

/* The value of a row under the same key as `v`: keys are numbered as they come, by threads in any
 * order. */
static const struct pythia_row_value *find_value(const struct pythia_keys *of_v,
                                                 const struct pythia_row_value *v,
                                                 const struct pythia_keys *keys,
                                                 const struct pythia_row *row)
{
    for (uint32_t i = 0; i < row->value_count; i++)
        if (pythia_text_equal(pythia_keys_attribute(of_v, v->key),
                              pythia_keys_attribute(keys, row->values[i].key)) &&
            pythia_text_equal(pythia_keys_origin(of_v, v->key),
                              pythia_keys_origin(keys, row->values[i].key)))
            return &row->values[i];
    fail_msg("a value is missing");
    return row->values;
}

static void assert_same_row(const struct pythia_groups *a, const struct pythia_row *x,
                            const struct pythia_groups *b, const struct pythia_row *y)
{
    assert_true(pythia_trace_id_equal(x->trace, y->trace));
    assert_int_equal(x->duration_ns, y->duration_ns);
    assert_int_equal(x->value_count, y->value_count);
    for (uint32_t i = 0; i < x->value_count; i++) {
        const struct pythia_row_value *v = &x->values[i], *w = find_value(pythia_groups_keys(a), v,
                                                                          pythia_groups_keys(b), y);
        assert_int_equal(v->size, w->size);
        if (v->size == PYTHIA_ROW_NUMBER)
            assert_true(v->number == w->number);
        else
            assert_memory_equal(v->text, w->text, v->size);
        assert_true(i == 0 || x->values[i - 1].key < v->key);
    }
    assert_int_equal(x->shape->edge_count, y->shape->edge_count);
    for (uint32_t i = 0; i < x->shape->edge_count; i++) {
        char edge[1024];
        snprintf(edge, sizeof(edge), "%s", requests_edge(pythia_groups_cct(a), x->shape->edges[i]));
        assert_string_equal(edge, requests_edge(pythia_groups_cct(b), y->shape->edges[i]));
        assert_int_equal(x->times_ns[i], y->times_ns[i]);
    }
}

static void assert_same_groups(const struct pythia_groups *a, const struct pythia_groups *b)
{
    size_t count, other;
    const struct pythia_type *x = pythia_groups_types(a, &count),
                             *y = pythia_groups_types(b, &other);
    assert_int_equal(count, other);
    assert_int_equal(pythia_groups_moments(a)->n, pythia_groups_moments(b)->n);
    for (size_t t = 0; t < count; t++) {
        assert_int_equal(x[t].name, y[t].name);
        assert_int_equal(x[t].moments.n, y[t].moments.n);
        assert_true(pythia_exact_moments_mean(&x[t].moments) ==
                    pythia_exact_moments_mean(&y[t].moments));
        assert_int_equal(x[t].structure_count, y[t].structure_count);
        for (size_t i = 0; i < x[t].structure_count; i++) {
            assert_int_equal(x[t].structures[i].name, y[t].structures[i].name);
            assert_int_equal(x[t].structures[i].level, y[t].structures[i].level);
            assert_int_equal(x[t].structures[i].moments.n, y[t].structures[i].moments.n);
            assert_true(pythia_sketch_quantile(x[t].structures[i].sketch, .5) ==
                        pythia_sketch_quantile(y[t].structures[i].sketch, .5));
        }
        assert_int_equal(pythia_type_rows(&x[t]), pythia_type_rows(&y[t]));
        for (size_t i = 0; i < pythia_type_rows(&x[t]); i++)
            assert_same_row(a, pythia_type_row(&x[t], i), b, pythia_type_row(&y[t], i));
    }
}

/* Few rows, so that each part drops some; all of them; and more than there may be of so many types,
 * so that their times are rounded. */
static void parts_give_what_one_thread_would_have_gathered(void **state)
{
    enum { N = 3000 };
    const struct pythia_groups_options options[] = {
        {.fold = true, .rows_per_type = 200, .rows = 900},
        {.fold = true, .rows_per_type = 64, .rows = 5000},
        {.fold = true, .rows_per_type = N, .rows = N},
        {.fold = true, .rows_per_type = 64, .rows = 100}};
    for (size_t o = 0; o < sizeof(options) / sizeof(options[0]); o++) {
        struct requests r;
        struct pythia_groups *parts[PARTS], *whole;
        requests_begin(&r);
        requests_group(&r, &options[o]);
        create_parts(&r, parts);
        fill_parts(&r, parts, 0, N);
        for (size_t i = 0; i < PARTS; i++)
            assert_int_equal(pythia_groups_join(r.groups, parts[i]), PYTHIA_OK);
        assert_true(pythia_groups_are_whole(r.groups));
        assert_int_equal(pythia_groups_finish(r.groups), PYTHIA_OK);
        assert_int_equal(pythia_groups_create(r.vocabulary, &options[o], &whole), PYTHIA_OK);
        for (uint64_t i = 0; i < N; i++)
            add_numbered(&r, whole, i);
        assert_int_equal(pythia_groups_finish(whole), PYTHIA_OK);
        assert_same_groups(r.groups, whole);
        pythia_groups_destroy(whole);
        requests_end(&r);
    }
}

/* All requests in one part: its share of the rows is not enough. */
static void a_part_with_an_unlikely_share_is_noticed(void **state)
{
    struct requests r;
    struct pythia_groups *parts[PARTS];
    requests_begin(&r);
    requests_group(
        &r, &(struct pythia_groups_options){.fold = true, .rows_per_type = 300, .rows = 3000});
    create_parts(&r, parts);
    for (uint64_t i = 0; i < 3000; i++)
        add_numbered(&r, parts[0], i);
    for (size_t i = 0; i < PARTS; i++)
        assert_int_equal(pythia_groups_join(r.groups, parts[i]), PYTHIA_OK);
    assert_false(pythia_groups_are_whole(r.groups));
    requests_end(&r);
}

/* More paths than the cache holds, of which most are in all parts. */
static void structures_of_paths_that_left_the_cache_add_up(void **state)
{
    enum { N = 20000 };
    struct requests r;
    struct pythia_groups *parts[PARTS], *whole;
    const struct pythia_groups_options options = {.rows_per_type = 64, .rows = 64};
    requests_begin(&r);
    requests_group(&r, &options);
    assert_int_equal(pythia_groups_create(r.vocabulary, &options, &whole), PYTHIA_OK);
    create_parts(&r, parts);
    for (uint64_t i = 0; i < N; i++) {
        char text[200];
        uint64_t path = i % 10007;
        snprintf(text, sizeof(text), "T{1 p%u{1} 1 p%u{1} 1 p%u{1} 1 p%u{1}}",
                 (unsigned)(path % 11), (unsigned)(path / 11 % 11), (unsigned)(path / 121 % 11),
                 (unsigned)(path / 1331 % 11));
        const struct pythia_trace *trace = requests_trace(&r, i + 1, text);
        assert_int_equal(pythia_groups_add(parts[part_of(i)], trace), PYTHIA_OK);
        assert_int_equal(pythia_groups_add(whole, trace), PYTHIA_OK);
    }
    for (size_t i = 0; i < PARTS; i++)
        assert_int_equal(pythia_groups_join(r.groups, parts[i]), PYTHIA_OK);
    assert_true(pythia_groups_are_whole(r.groups));
    assert_int_equal(pythia_groups_finish(r.groups), PYTHIA_OK);
    assert_int_equal(pythia_groups_finish(whole), PYTHIA_OK);
    assert_same_groups(r.groups, whole);
    pythia_groups_destroy(whole);
    requests_end(&r);
}

/* Each allocation of a join fails in turn: all is given back, which a sanitizer checks. */
static void a_part_that_cannot_be_joined_is_given_back(void **state)
{
    int status = PYTHIA_ENOMEM;
    for (int fail = 0; status != PYTHIA_OK; fail++) {
        struct requests r;
        struct pythia_groups *parts[PARTS];
        requests_begin(&r);
        requests_group(
            &r, &(struct pythia_groups_options){.fold = true, .rows_per_type = 20, .rows = 100});
        create_parts(&r, parts);
        fill_parts(&r, parts, 0, 200);
        assert_int_equal(pythia_groups_join(r.groups, parts[0]), PYTHIA_OK);
        pythia_mem_fail_after(fail);
        status = pythia_groups_join(r.groups, parts[1]);
        pythia_mem_fail_after(-1);
        assert_true(status == PYTHIA_OK || status == PYTHIA_ENOMEM);
        pythia_groups_destroy(parts[2]);
        requests_end(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_give_what_one_thread_would_have_gathered),
        cmocka_unit_test(a_part_with_an_unlikely_share_is_noticed),
        cmocka_unit_test(structures_of_paths_that_left_the_cache_add_up),
        cmocka_unit_test(a_part_that_cannot_be_joined_is_given_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
