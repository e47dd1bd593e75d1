/* Many request types of few requests each: what each of them costs does not grow with how many
 * there are. Counts, no clock. */
#include "requests.h"

enum { TYPES = 10000 }; /* more than the cache of shapes has places for */

static void add_round(struct requests *r, uint64_t round)
{
    for (int i = 0; i < TYPES; i++)
        requests_add(r, "T%d{5 B%d{%d} 3}", i, i, 10 + (int)round);
}

/* Each type takes its turn, so its shape would be the one that had not been used for longest, and
 * would be made anew for each request. A row and its share of a growing sample take some 200 bytes,
 * a shape with its sketch some 900. */
static void shapes_of_more_types_than_the_cache_holds_are_made_once(void **state)
{
    struct requests r;
    requests_begin_folded(&r);
    add_round(&r, 0);
    size_t first = pythia_groups_bytes(r.groups);
    add_round(&r, 1);
    add_round(&r, 2);
    size_t more = pythia_groups_bytes(r.groups) - first;
    if (more > (size_t)2 * TYPES * 450)
        fail_msg("%zu bytes for each request after the first of its type", more / (2 * TYPES));
    size_t count;
    const struct pythia_type *types = requests_finish(&r, &count);
    assert_int_equal(count, TYPES);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(types[i].moments.n, 3);
        assert_int_equal(pythia_sample_count(types[i].rows), 3);
        const struct pythia_row *first_row = pythia_type_row(&types[i], 0);
        for (size_t k = 1; k < 3; k++)
            assert_ptr_equal(pythia_type_row(&types[i], k)->shape, first_row->shape);
    }
    requests_end(&r);
}

/* A shape that rows held and then let go of is in the cache like any other: there is an end to what
 * 60 rows a type leave behind, though each request has a shape of its own. */
static void shapes_that_no_row_holds_any_more_leave_the_cache(void **state)
{
    struct requests r;
    size_t bytes[2];
    requests_begin(&r);
    requests_group(&r, &(struct pythia_groups_options){.rows_per_type = 64});
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 30000; i++) {
            int n = round * 30000 + i; /* a sequence of binary digits */
            struct pythia_buf text = {0};
            pythia_buf_puts(&text, "A{");
            for (int bit = 0; bit < 16; bit++)
                pythia_buf_puts(&text, n >> bit & 1 ? "B{1} " : "C{1} ");
            pythia_buf_puts(&text, "}");
            requests_add_as(&r, (uint64_t)n, text.bytes);
            pythia_buf_free(&text);
        }
        bytes[round] = pythia_groups_bytes(r.groups);
    }
    assert_in_range(bytes[1], 0, bytes[0] + bytes[0] / 10);
    requests_end(&r);
}

static uint64_t count_values(const struct pythia_sketch *s)
{
    struct pythia_sketch_bin bin;
    uint64_t count = 0;
    for (size_t position = 0; pythia_sketch_next(s, &position, &bin) == 0;)
        count += bin.count;
    return count;
}

/* One path: the structures of every level are all requests of the type. */
static void structures_of_a_type_with_one_path_are_the_type(void **state)
{
    struct requests r;
    size_t count;
    requests_begin_folded(&r);
    for (int i = 1; i <= 40; i++)
        requests_add(&r, "A{%d B{C{7}} 2}", i);
    const struct pythia_type *t = requests_finish(&r, &count);
    assert_int_equal(count, 1);
    assert_int_equal(t->structure_count, 4); /* levels 1 to 3, and the last of them as a whole */
    assert_int_equal(t->levels, 4);
    for (size_t i = 0; i < t->structure_count; i++) {
        const struct pythia_structure *s = &t->structures[i];
        assert_int_equal(s->level, i < 3 ? i + 1 : 3);
        assert_int_equal(s->whole, i == 3);
        assert_int_equal(s->moments.n, 40);
        assert_rel_equal(pythia_exact_moments_mean(&s->moments), 29.5, 1e-12);
        assert_int_equal(count_values(s->sketch), 40);
    }
    requests_end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_of_more_types_than_the_cache_holds_are_made_once),
        cmocka_unit_test(shapes_that_no_row_holds_any_more_leave_the_cache),
        cmocka_unit_test(structures_of_a_type_with_one_path_are_the_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
