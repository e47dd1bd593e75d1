#include "pythia/followed.h"
#include "requests.h"

/* Requests of one type with a skeleton, all else open or not. */
struct seen {
    struct requests r;
    struct pythia_open_points *skeleton;
    const struct pythia_type *type;
};

static void begin(struct seen *s, const char *skeleton, const char *open)
{
    *s = (struct seen){.type = NULL};
    requests_begin(&s->r);
    if (open)
        requests_open(&s->r, open);
    assert_int_equal(pythia_open_points_create(s->r.vocabulary, &s->skeleton), PYTHIA_OK);
    for (; *skeleton; skeleton++) /* points of one letter */
        assert_int_equal(pythia_open_points_add(s->skeleton, (struct pythia_text){skeleton, 1}),
                         PYTHIA_OK);
    requests_group(&s->r, &(struct pythia_groups_options){.fold = true, .skeleton = s->skeleton});
}

static void finish(struct seen *s)
{
    size_t types;
    s->type = requests_finish(&s->r, &types);
    assert_int_equal(types, 1);
}

static void end(struct seen *s)
{
    pythia_open_points_destroy(s->skeleton);
    requests_end(&s->r);
}

static struct pythia_followed find(const struct seen *s, uint64_t id)
{
    struct pythia_followed out = {0};
    assert_int_equal(pythia_followed_find(s->type, id, &out), PYTHIA_OK);
    return out;
}

/* Two groups of the skeleton: with A 20 requests, of which half pass B; with C 20. With B, which is
 * open, the first take 10 or 20 ns, without 40 or 50: 15 and 45 on average. Those with C take 30.
 */
static void add_all(struct seen *s)
{
    for (int i = 0; i < 20; i++) {
        if (i & 1)
            requests_add(&s->r, "R{A{B{0} %d}}", i & 2 ? 10 : 20);
        else
            requests_add(&s->r, "R{A{%d}}", i & 2 ? 40 : 50);
        requests_add(&s->r, "R{C{30}}");
    }
}

static void the_group_with_most_of_the_variance_is_followed(void **state)
{
    struct seen s;
    begin(&s, "RAC", "R A B C");
    add_all(&s);
    finish(&s);
    struct pythia_followed f = find(&s, 0);
    assert_true(f.id != 0);
    assert_int_equal(f.requests, 20);
    assert_rel_equal(f.mean_ns, 30, 1e-12);
    assert_rel_equal(f.sd_ns, sqrt(5000. / 19), 1e-12); /* 20 times 15^2 and 5^2 */
    assert_rel_equal(f.variance_share, 1, 1e-12);       /* the others are all at the mean */
    assert_int_equal(f.structures, 2);
    assert_rel_equal(f.eta_squared, .9, 1e-12); /* 4500 of 5000 lie between */
    assert_true(f.p > 1e-11 && f.p < 1e-9);     /* F = 4500 / (500 / 18) = 162 with 1 and 18 */
    end(&s);
}

static void it_is_the_same_group_with_the_point_closed(void **state)
{
    struct seen s, t;
    begin(&s, "RAC", "R A B C");
    add_all(&s);
    finish(&s);
    begin(&t, "RAC", "R A C");
    add_all(&t);
    finish(&t);
    struct pythia_followed open = find(&s, 0), closed = find(&t, open.id);
    assert_int_equal(closed.requests, 20);
    assert_rel_equal(closed.mean_ns, 30, 1e-12);
    assert_int_equal(closed.structures, 1);
    assert_rel_equal(closed.eta_squared, 0, 0);
    assert_rel_equal(closed.p, 1, 0);
    end(&s);
    end(&t);
}

static void a_group_that_is_asked_for_is_found_although_another_varies_more(void **state)
{
    struct seen s, only;
    begin(&s, "RAC", "R A B C");
    add_all(&s);
    finish(&s);
    begin(&only, "RAC", NULL);
    for (int i = 0; i < 5; i++)
        requests_add(&only.r, "R{C{30}}");
    finish(&only);
    struct pythia_followed other = find(&only, 0), f = find(&s, other.id);
    assert_true(f.id == other.id);
    assert_int_equal(f.requests, 20);
    assert_rel_equal(f.sd_ns, 0, 0);
    assert_rel_equal(f.variance_share, 0, 0);
    assert_true(isnan(f.eta_squared) && isnan(f.p)); /* nothing varies */
    assert_true(isnan(other.variance_share));
    end(&s);
    end(&only);
}

static void of_a_group_without_requests_nothing_is_known(void **state)
{
    struct seen s;
    begin(&s, "RAC", NULL);
    add_all(&s);
    finish(&s);
    struct pythia_followed f = find(&s, 12345);
    assert_true(f.id == 12345);
    assert_int_equal(f.requests, 0);
    assert_int_equal(f.structures, 0);
    assert_true(isnan(f.mean_ns) && isnan(f.sd_ns) && isnan(f.variance_share) &&
                isnan(f.eta_squared));
    end(&s);
}

static void without_a_skeleton_there_is_nothing_to_follow(void **state)
{
    struct requests r;
    size_t types;
    struct pythia_followed f = {0};
    requests_begin_folded(&r);
    requests_add(&r, "R{1}");
    const struct pythia_type *type = requests_finish(&r, &types);
    assert_int_equal(pythia_followed_find(type, 0, &f), PYTHIA_OK);
    assert_true(f.id == 0);
    assert_int_equal(f.requests, 0);
    requests_end(&r);
}

static void where_each_request_has_a_structure_of_its_own_nothing_is_said(void **state)
{
    struct seen s;
    begin(&s, "R", NULL);
    requests_add(&s.r, "R{1}");
    requests_add(&s.r, "R{B{2}}");
    requests_add(&s.r, "R{B{D{5}}}");
    finish(&s);
    struct pythia_followed f = find(&s, 0);
    assert_int_equal(f.structures, 3);
    assert_true(isnan(f.eta_squared));
    end(&s);
}

static void without_memory_it_says_so(void **state)
{
    struct seen s;
    begin(&s, "RAC", NULL);
    add_all(&s);
    finish(&s);
    struct pythia_followed f = {.id = 99};
    int status = PYTHIA_ENOMEM;
    for (long n = 0; status == PYTHIA_ENOMEM; n++) {
        assert_true(f.id == 99 && n < 20);
        pythia_mem_fail_after(n);
        status = pythia_followed_find(s.type, 0, &f);
        pythia_mem_fail_after(-1);
    }
    assert_int_equal(f.requests, 20);
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_group_with_most_of_the_variance_is_followed),
        cmocka_unit_test(it_is_the_same_group_with_the_point_closed),
        cmocka_unit_test(a_group_that_is_asked_for_is_found_although_another_varies_more),
        cmocka_unit_test(of_a_group_without_requests_nothing_is_known),
        cmocka_unit_test(without_a_skeleton_there_is_nothing_to_follow),
        cmocka_unit_test(where_each_request_has_a_structure_of_its_own_nothing_is_said),
        cmocka_unit_test(without_memory_it_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
