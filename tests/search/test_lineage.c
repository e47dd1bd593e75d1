/* A group stays what it is while points inside its path open and close: what the skeleton alone
 * would show of its requests has a name that does not change. */
#include "pythia/diagnosis.h"
#include "pythia/hash.h"
#include "pythia/lineage.h"
#include "requests.h"
#include "trace/trace_text.h"

/* Requests under some open points, as groups see them that know the skeleton. */
struct seen {
    struct requests r;
    struct pythia_open_points *skeleton;
    struct pythia_diagnosis *diagnosis;
};

static struct pythia_open_points *points_of(struct pythia_vocabulary *v, const char *ids)
{
    struct pythia_open_points *open = NULL;
    assert_int_equal(pythia_open_points_create(v, &open), PYTHIA_OK);
    while (*(ids += strspn(ids, " "))) {
        size_t size = strcspn(ids, " ");
        assert_int_equal(pythia_open_points_add(open, (struct pythia_text){ids, size}), PYTHIA_OK);
        ids += size;
    }
    return open;
}

/* Requests of texts in turn, `count` in all. */
static void see(struct seen *s, const char *skeleton, const char *open, const char *const *texts,
                size_t text_count, uint64_t count)
{
    *s = (struct seen){.diagnosis = NULL};
    requests_begin(&s->r);
    requests_open(&s->r, open);
    s->skeleton = skeleton ? points_of(s->r.vocabulary, skeleton) : NULL;
    requests_group(&s->r, &(struct pythia_groups_options){.fold = true, .skeleton = s->skeleton});
    for (uint64_t i = 0; i < count; i++)
        requests_add_as(&s->r, i, texts[i % text_count]);
    size_t types;
    requests_finish(&s->r, &types);
    assert_int_equal(types, 1);
    assert_int_equal(
        pythia_diagnose(s->r.groups, &(struct pythia_diagnosis_options){.seed = 1}, &s->diagnosis),
        PYTHIA_OK);
}

static void end(struct seen *s)
{
    pythia_diagnosis_destroy(s->diagnosis);
    pythia_open_points_destroy(s->skeleton);
    requests_end(&s->r);
}

/* The only group of requests that all have this text. */
static struct pythia_group group_of(const char *skeleton, const char *open, const char *text)
{
    struct seen s;
    see(&s, skeleton, open, (const char *const[]){text}, 1, 40);
    assert_int_equal(s.diagnosis->group_count, 1);
    struct pythia_group group = s.diagnosis->groups[0]; /* only its values are looked at */
    end(&s);
    return group;
}

/* With `open` the requests of `text` are a group of the skeleton; with `more` the same group. */
static void check_same_group(const char *open, const char *more, const char *text)
{
    struct pythia_group before = group_of(open, open, text), after = group_of(open, more, text);
    uint64_t parent = pythia_lineage_parent(&before.lineage);
    assert_true(parent != 0);
    assert_true(pythia_lineage_parent(&after.lineage) == parent);
    assert_int_equal(after.lineage.count, before.lineage.count);
    bool own = false; /* it is in its own lineage: the skeleton is all that is open */
    for (uint32_t i = 0; i < before.lineage.count; i++)
        own = own || before.lineage.ids[i] == before.id;
    assert_true(own);
}

static void a_group_keeps_its_identity_when_a_point_inside_its_path_opens(void **state)
{
    check_same_group("R A C", "R A B C", "R{1 A{2 B{3} 4} C{5} 6}");
    check_same_group("R A C", "R B A C", "R{1 B{2 A{3} 4} C{5} 6}"); /* around another */
    check_same_group("R A C", "R A E C", "R{1 A{2 *E 4} C{5} 6}");   /* a point in time */
    check_same_group("R A C", "R A B D C", "R{1 A{2 B{3 D{2}} 4} C{5} B{1} 6}");
    check_same_group("R", "R A B C", "R{1 A{2 B{3} 4} C{5} 6}");
}

static void in_the_finer_view_it_is_a_group_of_its_own_with_that_parent(void **state)
{
    static const char text[] = "R{1 A{2 B{3} 4} C{5} 6}";
    struct pythia_group before = group_of("R A C", "R A C", text),
                        after = group_of("R A C", "R A B C", text);
    assert_true(before.id != after.id);
    assert_true(pythia_lineage_parent(&after.lineage) == before.id);
    assert_true(after.lineage.ids[0] == before.lineage.ids[0]); /* the request type */
}

static void with_loops_folded_rounds_do_not_matter(void **state)
{
    check_same_group("R A", "R A B", "R{A{1 B{2}} A{1 B{2}} A{1 B{2}}}");
    check_same_group("R A", "R A B", "R{B{A{1} A{1}} B{A{1} A{1}}}"); /* around the rounds */
    struct pythia_group once = group_of("R A", "R A B", "R{A{1 B{2}}}"),
                        thrice = group_of("R A", "R A B", "R{A{1 B{2}} A{1 B{2}} A{1 B{2}}}");
    assert_true(pythia_lineage_parent(&once.lineage) == pythia_lineage_parent(&thrice.lineage));
}

/* With B open, the path passes over it and D; with B closed, it goes through D. The skeleton, of
 * which neither is, shows the same. */
static void what_runs_beside_the_path_does_not_matter(void **state)
{
    static const char text[] = "R{~B{5 D{10} 25} 30 C{60} 10}";
    check_same_group("R C", "R C D", text);
    check_same_group("R C", "R C B D", text);
    struct pythia_group with = group_of("R C D", "R B C D", text),
                        without = group_of("R C D", "R C D", text);
    assert_true(pythia_lineage_parent(&with.lineage) == without.id);
}

static void other_paths_have_other_ids(void **state)
{
    static const char *const texts[] = {"R{A{1 B{2}} C{3}}", "R{C{3} A{1 B{2}}}", "R{A{1} 1}",
                                        "R{A{1 C{3}}}", "R{1}"};
    uint64_t ids[5];
    for (size_t i = 0; i < 5; i++) {
        struct pythia_group g = group_of("R A C", "R A B C", texts[i]);
        ids[i] = pythia_lineage_parent(&g.lineage);
        for (size_t k = 0; k < i; k++)
            assert_true(ids[k] != ids[i]);
    }
    struct pythia_group other = group_of("S A C", "S A B C", "S{A{1 B{2}} C{3}}"); /* of type S */
    assert_true(pythia_lineage_parent(&other.lineage) != ids[0]);
}

/* Two groups by B: one of the skeleton, refined. */
static void groups_that_a_point_tells_apart_have_one_parent(void **state)
{
    static const char *const texts[] = {"R{A{10 B{20}} C{5}}", "R{A{50} C{5}}"};
    struct seen s;
    see(&s, "R A C", "R A B C", texts, 2, 120);
    struct pythia_group whole = group_of("R A C", "R A C", texts[0]);
    assert_int_equal(s.diagnosis->group_count, 2);
    assert_int_equal(pythia_groups_last(s.r.groups), requests_string(&s.r, "R"));
    const struct pythia_group *g = s.diagnosis->groups;
    assert_true(g[0].id != g[1].id);
    for (int i = 0; i < 2; i++)
        assert_true(pythia_lineage_parent(&g[i].lineage) == whole.id);
    size_t count;
    const struct pythia_type *type = pythia_groups_types(s.r.groups, &count);
    for (size_t i = 0; i < pythia_sample_count(type->rows); i++)
        assert_true(((const struct pythia_row *)pythia_sample_row(type->rows, i))->parent ==
                    whole.id);
    end(&s);
}

/* A group of paths that the skeleton tells apart. */
static void a_group_of_several_paths_comes_from_what_they_share(void **state)
{
    static const char *const texts[] = {"R{A{1 B{2}}}", "R{C{1 B{2}}}", "R{D{1}}", "R{A{1} C{1}}"};
    struct seen s;
    see(&s, "R A C D", "R A B C D", texts, 4,
        40); /* ten of each: too few for groups of their own */
    assert_int_equal(s.diagnosis->group_count, 1);
    const struct pythia_group *g = &s.diagnosis->groups[0];
    assert_int_equal(g->level, 1); /* level 1 has the roots, which are the same */
    assert_int_equal(g->lineage.count, 2);
    assert_true(pythia_lineage_parent(&g->lineage) == g->id);
    end(&s);
}

static void without_a_skeleton_nothing_is_known(void **state)
{
    struct pythia_group g = group_of(NULL, "R A", "R{A{1}}");
    assert_int_equal(g.lineage.count, 0);
    assert_true(pythia_lineage_parent(&g.lineage) == 0);
}

static void a_request_that_the_skeleton_does_not_show_has_only_its_type(void **state)
{
    struct pythia_group g = group_of("X", "R A", "R{A{1}}");
    assert_int_equal(g.lineage.count, 1);
    assert_true(g.lineage.ids[0] == pythia_lineage_id(pythia_hash_bytes("R", 1), 0, 0));
}

/* ---- work that is waited for ---- */

/* The lineage of a trace as text, under open points. */
static struct pythia_lineage lineage_of(const char *spans, const char *open, const char *skeleton)
{
    static struct trace_part parts[TRACE_TEXT_PARTS];
    struct pythia_vocabulary *v = NULL;
    struct pythia_trace_builder *b = NULL;
    struct pythia_counts counts = {0};
    const struct pythia_trace *trace = NULL;
    struct pythia_lineages *l = NULL;
    struct pythia_lineage out = {0};
    struct pythia_critical_path path;
    size_t count = read_parts(spans, parts);
    assert_int_equal(pythia_vocabulary_create(&v), PYTHIA_OK);
    struct pythia_open_points *opened = points_of(v, open), *always = points_of(v, skeleton);
    assert_int_equal(pythia_trace_builder_create(v, opened, &b), PYTHIA_OK);
    pythia_trace_builder_begin(b, trace_id_of_name("trace", 5));
    for (size_t i = 0; i < count; i++)
        assert_int_equal(pythia_trace_builder_add(b, name_part(&parts[i], v)), PYTHIA_OK);
    assert_int_equal(pythia_trace_builder_finish(b, &counts, &trace), PYTHIA_OK);
    pythia_critical_path_init(&path);
    assert_int_equal(pythia_critical_path_find(&path, trace, PYTHIA_LATENCY_COMPLETION), PYTHIA_OK);
    assert_int_equal(pythia_lineages_create(v, always, PYTHIA_LATENCY_COMPLETION, true, &l),
                     PYTHIA_OK);
    for (int i = 0; i < 2; i++) /* the second time it is known */
        assert_int_equal(pythia_lineages_find(l, trace, &path, 7, &out), PYTHIA_OK);
    pythia_lineages_destroy(l);
    pythia_critical_path_free(&path);
    pythia_trace_builder_destroy(b);
    pythia_open_points_destroy(opened);
    pythia_open_points_destroy(always);
    pythia_vocabulary_destroy(v);
    free_parts(parts, count);
    return out;
}

static void joins_are_seen_as_the_skeleton_shows_them(void **state)
{
    static const char work[] =
        "A[0,1000] &K[100]<A B[150,790]<&K C[160,500]<B D[200,300]<A W[450,800]<A&K";
    struct pythia_lineage all = lineage_of(work, "A B C D W", "A B W"),
                          some = lineage_of(work, "A B W", "A B W"),
                          unjoined = lineage_of(work, "A B D", "A B");
    assert_int_equal(all.count, some.count);
    assert_memory_equal(all.ids, some.ids, all.count * sizeof(all.ids[0]));
    assert_true(pythia_lineage_parent(&unjoined) != pythia_lineage_parent(&all));
}

/* ---- values ---- */

static void what_lineages_share_is_what_they_have_from_the_type_down(void **state)
{
    struct pythia_lineage none = {0}, a = {3, {1, 2, 3}}, b = {3, {1, 2, 4}}, c = {2, {1, 2}};
    struct pythia_lineage met = none;
    pythia_lineage_meet(&met, &a);
    assert_int_equal(met.count, 3);
    pythia_lineage_meet(&met, &a);
    assert_true(met.count == 3 && pythia_lineage_parent(&met) == 3);
    pythia_lineage_meet(&met, &b);
    assert_true(met.count == 2 && pythia_lineage_parent(&met) == 2);
    met = a;
    pythia_lineage_meet(&met, &c);
    assert_true(met.count == 2 && met.ids[1] == 2);
    met = c;
    pythia_lineage_meet(&met, &a);
    assert_int_equal(met.count, 2);
}

/* The ids of a group of the skeleton are those that groups have: two mixes of SplitMix64's
 * finaliser, of which the steps are in hash.h. */
static void ids_are_those_of_groups(void **state)
{
    struct pythia_group g = group_of("R A", "R A", "R{A{1}}");
    assert_int_equal(g.level, 2);
    assert_int_equal(g.lineage.count, 3);
    assert_true(g.lineage.ids[0] ==
                pythia_hash_mix(pythia_hash_mix(pythia_hash_bytes("R", 1), 0), 0));
    assert_true(g.id == g.lineage.ids[2]);
}

static void without_memory_it_says_so(void **state)
{
    struct requests r;
    requests_begin(&r);
    struct pythia_open_points *skeleton = points_of(r.vocabulary, "R A");
    const struct pythia_trace *trace = requests_trace(&r, 0, "R{A{1 B{2}}}");
    const struct pythia_critical_path *path = requests_path(&r, trace);
    struct pythia_lineages *l = NULL;
    long n = 0;
    for (int status = PYTHIA_ENOMEM; status == PYTHIA_ENOMEM; n++) {
        assert_in_range(n, 0, 50);
        pythia_mem_fail_after(n);
        status =
            pythia_lineages_create(r.vocabulary, skeleton, PYTHIA_LATENCY_COMPLETION, true, &l);
        pythia_mem_fail_after(-1);
    }
    assert_true(n > 4);
    struct pythia_lineage out = {0};
    n = 0;
    for (int status = PYTHIA_ENOMEM; status == PYTHIA_ENOMEM; n++) {
        assert_in_range(n, 0, 50);
        pythia_mem_fail_after(n);
        status = pythia_lineages_find(l, trace, path, 1, &out);
        pythia_mem_fail_after(-1);
    }
    assert_true(n > 4 && out.count == 3);
    pythia_lineages_destroy(l);
    pythia_lineages_destroy(NULL);
    pythia_open_points_destroy(skeleton);
    requests_end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_group_keeps_its_identity_when_a_point_inside_its_path_opens),
        cmocka_unit_test(in_the_finer_view_it_is_a_group_of_its_own_with_that_parent),
        cmocka_unit_test(with_loops_folded_rounds_do_not_matter),
        cmocka_unit_test(what_runs_beside_the_path_does_not_matter),
        cmocka_unit_test(other_paths_have_other_ids),
        cmocka_unit_test(groups_that_a_point_tells_apart_have_one_parent),
        cmocka_unit_test(a_group_of_several_paths_comes_from_what_they_share),
        cmocka_unit_test(without_a_skeleton_nothing_is_known),
        cmocka_unit_test(a_request_that_the_skeleton_does_not_show_has_only_its_type),
        cmocka_unit_test(joins_are_seen_as_the_skeleton_shows_them),
        cmocka_unit_test(what_lineages_share_is_what_they_have_from_the_type_down),
        cmocka_unit_test(ids_are_those_of_groups),
        cmocka_unit_test(without_memory_it_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
