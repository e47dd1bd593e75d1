/* Sides of a comparison that several threads fill, each a part: what is put together is what one
 * thread would have gathered. */
#include "check.h"
#include "pythia/mem.h"
#include "sides.h"

enum { PARTS = 3, WHOLE = BEFORE, JOINED = AFTER };

static void create_parts(const struct sides *s, struct pythia_side **parts)
{
    for (size_t i = 0; i < PARTS; i++)
        assert_int_equal(pythia_side_create_part(s->sides[JOINED], PARTS, &parts[i]), PYTHIA_OK);
}

/* Add a request to a part of one side, and to the other side. */
static void add_to_both(struct sides *s, struct pythia_side *part, uint64_t number,
                        const char *text)
{
    struct pythia_side *joined = s->sides[JOINED];
    s->sides[JOINED] = part;
    sides_add_as(s, JOINED, number, text);
    s->sides[JOINED] = joined;
    sides_add_as(s, WHOLE, number, text);
}

static void join_parts(struct sides *s, struct pythia_side **parts)
{
    for (size_t i = 0; i < PARTS; i++)
        assert_int_equal(pythia_side_join(s->sides[JOINED], parts[i]), PYTHIA_OK);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(pythia_side_finish(s->sides[i]), PYTHIA_OK);
}

/* By hand. Requests are 10 s apart: the first part has those that begin at 0 and 70 s, the second
 * those at 10 and 60 s, the third none: they began for 70 s, none of the minutes in between being
 * without one. */
static void counts_of_parts_add_up(void **state)
{
    struct sides s;
    struct pythia_side *parts[PARTS];
    size_t count;
    sides_begin(&s);
    create_parts(&s, parts);
    add_to_both(&s, parts[0], 0, "A{1 b:B!{5} 1 b:B!{5} 1}");
    add_to_both(&s, parts[1], 1, "A{1 b:B!{5} 1}");
    add_to_both(&s, parts[1], 6, "A{1 c:C^{5} 1}");
    add_to_both(&s, parts[0], 7, "A{1 b:B!{5} 1 c:C^{5} 1}");
    join_parts(&s, parts);
    const struct pythia_side_type *t = pythia_side_types(s.sides[JOINED], &count);
    assert_int_equal(count, 1);
    assert_int_equal(t->failed_requests, 3);
    assert_int_equal(t->point_count, 3);
    const struct pythia_side_point *b = &t->points[1], *c = &t->points[2];
    assert_int_equal(b->tracepoint, requests_point(&s.r, "b:B!"));
    assert_int_equal(b->requests, 3);
    assert_int_equal(b->failed_requests, 3);
    assert_rel_equal(pythia_exact_moments_mean(&b->visits), 4 / 4.0, 1e-15);
    assert_int_equal(c->tracepoint, requests_point(&s.r, "c:C^"));
    assert_int_equal(c->requests, 2);
    assert_int_equal(c->failed_requests, 0);
    assert_int_equal(c->kinds, 1u << PYTHIA_SPAN_CLIENT);
    assert_rel_equal(pythia_exact_moments_mean(&c->visits), 2 / 4.0, 1e-15);
    assert_int_equal(pythia_side_covered_ns(s.sides[JOINED]), 7 * REQUESTS_EVERY);
    sides_end(&s);
}

static void assert_same_points(const struct pythia_side_type *a, const struct pythia_side_type *b)
{
    assert_int_equal(a->failed_requests, b->failed_requests);
    assert_int_equal(a->point_count, b->point_count);
    for (size_t i = 0; i < a->point_count; i++) {
        const struct pythia_side_point *x = &a->points[i], *y = &b->points[i];
        assert_int_equal(x->tracepoint, y->tracepoint);
        assert_int_equal(x->kinds, y->kinds);
        assert_int_equal(x->requests, y->requests);
        assert_int_equal(x->failed_requests, y->failed_requests);
        assert_memory_equal(&x->visits, &y->visits, sizeof(x->visits));
    }
}

/* Of several types, with pauses of more than a minute. */
static void parts_give_what_one_thread_would_have_gathered(void **state)
{
    enum { N = 900, PAUSE_EVERY = 100, PAUSE = 20 };
    struct sides s;
    struct pythia_side *parts[PARTS];
    size_t count, joined;
    sides_begin(&s);
    create_parts(&s, parts);
    for (uint64_t i = 0; i < N; i++) {
        char text[200];
        snprintf(text, sizeof(text), "T%u{10 %s{%u} 5 p%u{7}}", (unsigned)(i % 5),
                 i % 3 ? "b!" : "c^", (unsigned)(100 + i * 37 % 500), (unsigned)(i % 11));
        add_to_both(&s, parts[pythia_hash_mix(i, 77) % PARTS], i + i / PAUSE_EVERY * PAUSE, text);
    }
    join_parts(&s, parts);
    const struct pythia_side_type *a = pythia_side_types(s.sides[WHOLE], &count),
                                  *b = pythia_side_types(s.sides[JOINED], &joined);
    assert_int_equal(count, 5);
    assert_int_equal(joined, 5);
    for (size_t i = 0; i < count; i++)
        assert_same_points(&a[i], &b[i]);
    assert_int_equal(pythia_side_covered_ns(s.sides[WHOLE]),
                     pythia_side_covered_ns(s.sides[JOINED]));
    sides_end(&s);
}

/* Each allocation of a join fails in turn: all is given back, which a sanitizer checks. */
static void a_part_that_cannot_be_joined_is_given_back(void **state)
{
    int status = PYTHIA_ENOMEM;
    for (int fail = 0; status != PYTHIA_OK; fail++) {
        struct sides s;
        struct pythia_side *parts[PARTS];
        sides_begin(&s);
        create_parts(&s, parts);
        for (uint64_t i = 0; i < 20; i++)
            add_to_both(&s, parts[i % 2], i, i % 3 ? "A{1 b:B{5} 1}" : "C{2 d:D{1}}");
        assert_int_equal(pythia_side_join(s.sides[JOINED], parts[0]), PYTHIA_OK);
        pythia_mem_fail_after(fail);
        status = pythia_side_join(s.sides[JOINED], parts[1]);
        pythia_mem_fail_after(-1);
        assert_true(status == PYTHIA_OK || status == PYTHIA_ENOMEM);
        pythia_side_destroy(parts[2]);
        sides_end(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_of_parts_add_up),
        cmocka_unit_test(parts_give_what_one_thread_would_have_gathered),
        cmocka_unit_test(a_part_that_cannot_be_joined_is_given_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
