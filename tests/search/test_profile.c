/* A profile as text: rows in order of name, each "A>B 2 60/20 10..40": callpath, spans, time and
 * time of its own in ns, and extremes. Sides, processes and slots stand after it. */
#include "pythia/profile.h"
#include "pythia/sort.h"
#include "trace_text.h"

struct profiled {
    struct pythia_vocabulary *v;
    struct pythia_profile *p;
};

static void begin_profile(struct profiled *x, const struct pythia_profile_options *options)
{
    x->p = NULL;
    x->v = NULL;
    assert_int_equal(pythia_vocabulary_create(&x->v), PYTHIA_OK);
    assert_int_equal(pythia_profile_create(x->v, options, &x->p), PYTHIA_OK);
}

static void end_profile(struct profiled *x)
{
    pythia_profile_destroy(x->p);
    pythia_vocabulary_destroy(x->v);
}

static void add_trace_of_weight(struct profiled *x, const char *spans, double weight)
{
    static struct trace_part parts[TRACE_TEXT_PARTS];
    struct pythia_trace_builder *b = NULL;
    struct pythia_counts counts = {0};
    const struct pythia_trace *trace = NULL;
    size_t count = read_parts(spans, parts);
    assert_int_equal(pythia_trace_builder_create(x->v, NULL, &b), PYTHIA_OK);
    pythia_trace_builder_begin(b, trace_id_of_name("trace", 5));
    for (size_t i = 0; i < count; i++)
        assert_int_equal(pythia_trace_builder_add(b, name_part(&parts[i], x->v)), PYTHIA_OK);
    assert_int_equal(pythia_trace_builder_finish(b, &counts, &trace), PYTHIA_OK);
    struct pythia_trace weighted = *trace;
    weighted.weight = weight;
    assert_int_equal(pythia_profile_add(x->p, &weighted), PYTHIA_OK);
    pythia_trace_builder_destroy(b);
    free_parts(parts, count);
}

static void add_trace(struct profiled *x, const char *spans)
{
    add_trace_of_weight(x, spans, 1);
}

static bool is_earlier_row(const void *profile, uint32_t a, uint32_t b)
{
    return pythia_profile_compare_rows(profile, a, b) < 0;
}

static void write_row_name(struct trace_writer *w, const struct profiled *x,
                           const struct pythia_profile_row *row)
{
    const struct pythia_cct *cct = pythia_profile_cct(x->p);
    if (row->tracepoint == PYTHIA_NONE) {
        put(w, "-");
        return;
    }
    if (row->node == PYTHIA_NONE)
        put(w, "%s", pythia_vocabulary_tracepoint_id(x->v, row->tracepoint).bytes);
    for (uint32_t d = 1; row->node != PYTHIA_NONE && d <= pythia_cct_depth(cct, row->node); d++)
        put(w, "%s%s", d > 1 ? ">" : "",
            pythia_vocabulary_tracepoint_id(
                x->v, pythia_cct_tracepoint(cct, pythia_cct_ancestor(cct, row->node, d)))
                .bytes);
    if (row->level > 0)
        put(w, "@%u", row->level);
}

static const struct pythia_profile_row *find_row(const struct profiled *x, size_t place)
{
    uint32_t order[64] = {0}, scratch[64];
    size_t count;
    const struct pythia_profile_row *rows = pythia_profile_rows(x->p, &count);
    assert_in_range(place, 0, count - 1);
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    pythia_sort_indexes(order, count, scratch, is_earlier_row, x->p);
    return &rows[order[place]];
}

static void compare_rows(const struct profiled *x, const char *wanted, const char *file, int line)
{
    static char text[4096];
    struct trace_writer w = {text, sizeof(text), 0, NULL, NULL};
    size_t count;
    (void)pythia_profile_rows(x->p, &count);
    text[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        const struct pythia_profile_row *row = find_row(x, i);
        put(&w, "%s", i ? "; " : "");
        write_row_name(&w, x, row);
        put(&w, " %llu %llu/%llu %.0f..%.0f", (unsigned long long)row->times.moments.weight,
            (unsigned long long)pythia_profile_sum_ns(&row->times),
            (unsigned long long)row->exclusive_ns, pythia_sketch_min(row->times.sketch),
            pythia_sketch_max(row->times.sketch));
    }
    _assert_string_equal(text, wanted, file, line);
}

#define check_rows(x, wanted) compare_rows(x, wanted, __FILE__, __LINE__)

/* B and B overlap from 30 to 40; C outlives A by 30. */
#define FAMILY "A[0,100] B.1[10,40]<A B.2[30,60]<A C[90,130]<A"

static void own_time_is_what_no_child_covers(void **state)
{
    struct profiled x;
    begin_profile(&x, &(struct pythia_profile_options){0});
    add_trace(&x, FAMILY);
    check_rows(&x, "A 1 100/40 100..100; A>B 2 60/60 30..30; A>C 1 40/40 40..40");
    struct pythia_profile_totals t = pythia_profile_totals(x.p);
    assert_int_equal(t.request_ns, 130); /* until all work has ended */
    assert_int_equal(t.spans, 4);
    end_profile(&x);
}

static void rows_are_callpaths_names_leaves_or_levels(void **state)
{
    static const char spans[] = "A[0,100] B.1[10,40]<A C[50,80]<A B.2[60,70]<C";
    static const char *const wanted[] = {
        [PYTHIA_PROFILE_CALLPATH] =
            "A 1 100/40 100..100; A>B 1 30/30 30..30; A>C 1 30/20 30..30; A>C>B 1 10/10 10..10",
        [PYTHIA_PROFILE_NAME] = "A 1 100/40 100..100; B 2 40/40 10..30; C 1 30/20 30..30",
        [PYTHIA_PROFILE_LEAF] = "B 2 40/40 10..30",
        [PYTHIA_PROFILE_LEVEL] =
            "A@1 1 100/40 100..100; B@2 1 30/30 30..30; B@3 1 10/10 10..10; C@2 1 30/20 30..30",
    };
    for (size_t by = 0; by < sizeof(wanted) / sizeof(wanted[0]); by++) {
        struct profiled x;
        begin_profile(&x, &(struct pythia_profile_options){.by = (enum pythia_profile_by)by});
        add_trace(&x, spans);
        check_rows(&x, wanted[by]);
        end_profile(&x);
    }
}

/* The path goes through C from 50 to 80 and not through B, which ran beside it; then it is A's. */
static void the_critical_path_leaves_out_what_runs_beside_it(void **state)
{
    struct profiled x;
    begin_profile(&x, &(struct pythia_profile_options){.critical = true});
    add_trace(&x, "A[0,100] B[55,70]<A C[50,80]<A D[60,75]<C");
    check_rows(&x, "A 1 100/70 100..100; A>C 1 30/15 30..30; A>C>D 1 15/15 15..15");
    assert_int_equal(pythia_profile_totals(x.p).request_ns, 100);
    end_profile(&x);
}

static void time_between_roots_has_a_row_of_its_own(void **state)
{
    struct profiled x;
    begin_profile(&x, &(struct pythia_profile_options){.critical = true});
    add_trace(&x, "A[0,40]:many B[70,100]:many");
    check_rows(&x, "- 1 30/30 30..30; A 1 40/40 40..40; B 1 30/30 30..30");
    assert_int_equal(pythia_profile_totals(x.p).request_ns, 100);
    end_profile(&x);
}

static void a_request_counts_as_often_as_it_stands_for(void **state)
{
    struct profiled x;
    begin_profile(&x, &(struct pythia_profile_options){0});
    add_trace_of_weight(&x, "A[0,100]", 8);
    add_trace_of_weight(&x, "A[0,20]", 2);
    check_rows(&x, "A 10 840/840 20..100");
    struct pythia_profile_totals t = pythia_profile_totals(x.p);
    assert_int_equal(t.requests, 10);
    assert_int_equal(t.seen, 2);
    assert_int_equal(t.request_ns, 840);
    end_profile(&x);
}

static void six_levels_are_six_levels(void **state)
{
    struct profiled x;
    begin_profile(&x, &(struct pythia_profile_options){0});
    add_trace(&x, "A[0,60] B[1,50]<A C[2,40]<B D[3,30]<C E[4,20]<D F[5,10]<E");
    add_trace(&x, "A[0,60] B[1,50]<A C[2,40]<B D[3,30]<C E[4,20]<D G[5,11]<E");
    size_t count;
    (void)pythia_profile_rows(x.p, &count);
    assert_int_equal(count, 7);
    assert_int_equal(pythia_cct_depth(pythia_profile_cct(x.p), find_row(&x, 5)->node), 6);
    assert_int_equal(pythia_profile_sum_ns(&find_row(&x, 5)->times), 5);
    assert_int_equal(pythia_profile_sum_ns(&find_row(&x, 6)->times), 6);
    end_profile(&x);
}

static const char *name_string(const struct profiled *x, uint32_t string)
{
    return pythia_vocabulary_text(x->v, string).bytes;
}

static void a_call_has_two_sides_that_know_each_other(void **state)
{
    struct profiled x;
    begin_profile(&x, &(struct pythia_profile_options){0});
    add_trace(&x, "A[0,100]:client:%x B[30,90]<A:server:%y C[40,50]<B:%y D[60,70]<B:client:%y");
    const struct pythia_profile_row *origin = find_row(&x, 0), *target = find_row(&x, 1),
                                    *local = find_row(&x, 2), *lost = find_row(&x, 3);
    assert_int_equal(origin->side, PYTHIA_PROFILE_ORIGIN);
    assert_string_equal(name_string(&x, origin->peer), "y");
    assert_int_equal(target->side, PYTHIA_PROFILE_TARGET);
    assert_string_equal(name_string(&x, target->peer), "x");
    assert_int_equal(local->side, PYTHIA_PROFILE_LOCAL);
    assert_int_equal(lost->side, PYTHIA_PROFILE_ORIGIN);
    assert_int_equal(lost->peer, 0);
    struct pythia_profile_totals t = pythia_profile_totals(x.p);
    assert_int_equal(t.calls, 2);
    assert_int_equal(t.no_target, 1);
    assert_int_equal(t.no_origin, 0);
    assert_false(origin->peers);
    add_trace(&x, "A[0,100]:client:%x B[30,90]<A:server:%z");
    origin = find_row(&x, 0);
    assert_true(origin->peers);
    assert_string_equal(name_string(&x, origin->peer), "y"); /* the first in order of names */
    end_profile(&x);
}

static void pairs_are_of_processes(void **state)
{
    struct profiled x;
    size_t count;
    begin_profile(&x, &(struct pythia_profile_options){.processes = true});
    for (int i = 0; i < 3; i++)
        add_trace(&x, "A[0,100]:client:%x:@h1 B[30,90]<A:server:%y:@h2");
    add_trace(&x, "A[0,50]:client:%x:@h1 B[10,20]<A:server:%y:@h3");
    add_trace(&x, "A[0,7]:client:%x:@h1");
    const struct pythia_profile_pair *pairs = pythia_profile_pairs(x.p, &count);
    assert_int_equal(count, 3);
    assert_int_equal(pairs[0].calls, 3);
    assert_int_equal(pairs[0].origin_ns, 300);
    assert_int_equal(pairs[0].target_ns, 180);
    assert_string_equal(name_string(&x, pythia_profile_process(x.p, pairs[0].target)->host), "h2");
    assert_int_equal(pairs[1].calls, 1);
    assert_int_equal(pairs[1].target_ns, 10);
    assert_int_equal(pairs[2].target, PYTHIA_NONE);
    assert_int_equal(pairs[2].origin_ns, 7);
    const struct pythia_profile_part *parts = pythia_profile_parts(x.p, &count);
    assert_int_equal(count, 3); /* x on h1; y on h2 and on h3 */
    assert_int_equal(parts[0].times.moments.weight, 5);
    assert_int_equal(pythia_profile_sum_ns(&parts[0].times), 357);
    end_profile(&x);
}

/* Spans that begin 0, 1000 and 5000 ns after a time lie in 40 slots of 128 ns; slots of 64 ns would
 * have to be 79. */
static void slots_do_not_depend_on_the_order_of_requests(void **state)
{
    static const char *const spans[] = {"A[445440,445450]", "A[446440,446460]", "A[450440,450470]"};
    static const size_t orders[][3] = {{0, 1, 2}, {2, 1, 0}, {1, 0, 2}, {1, 2, 0}};
    uint64_t wanted[PYTHIA_PROFILE_SLOTS] = {0};
    uint64_t begin = TRACE_TEXT_BEGIN + 445440;
    for (size_t order = 0; order < 4; order++) {
        struct profiled x;
        begin_profile(&x, &(struct pythia_profile_options){.slots = true});
        for (size_t i = 0; i < 3; i++)
            add_trace(&x, spans[orders[order][i]]);
        struct pythia_profile_totals t = pythia_profile_totals(x.p);
        uint64_t width = 128, first = begin / width;
        assert_int_equal(t.slot_ns, width);
        assert_int_equal(t.first_slot_ns, first * width);
        assert_int_equal(t.slots, (begin + 5000) / width - first + 1);
        memset(wanted, 0, sizeof(wanted));
        wanted[0] = 10;
        wanted[(begin + 1000) / width - first] += 20;
        wanted[(begin + 5000) / width - first] += 30;
        for (size_t i = 0; i < t.slots; i++) {
            assert_int_equal(pythia_profile_slot(x.p, find_row(&x, 0)->ns, i), wanted[i]);
            assert_int_equal(pythia_profile_slot(x.p, find_row(&x, 0)->counts, i), wanted[i] > 0);
        }
        end_profile(&x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_time_is_what_no_child_covers),
        cmocka_unit_test(rows_are_callpaths_names_leaves_or_levels),
        cmocka_unit_test(the_critical_path_leaves_out_what_runs_beside_it),
        cmocka_unit_test(time_between_roots_has_a_row_of_its_own),
        cmocka_unit_test(a_request_counts_as_often_as_it_stands_for),
        cmocka_unit_test(six_levels_are_six_levels),
        cmocka_unit_test(a_call_has_two_sides_that_know_each_other),
        cmocka_unit_test(pairs_are_of_processes),
        cmocka_unit_test(slots_do_not_depend_on_the_order_of_requests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
