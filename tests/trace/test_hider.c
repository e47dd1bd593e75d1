/* Hiding points of a finished trace gives what the builder gives that never saw them: each trace
 * below is looked at with every set of its trace points, or with many. Only what was moved or cut
 * for a span that is hidden afterwards stays so. */
#include "check.h"
#include "pythia/hider.h"
#include "pythia/mem.h"
#include "pythia/random.h"
#include "pythia/trace.h"
#include "trace_text.h"

#define POINTS_MAX 26

/* A builder of one trace, under some open points, and what it built. */
struct built {
    struct pythia_trace_builder *builder;
    struct pythia_open_points *open;
    struct pythia_counts counts;
    const struct pythia_trace *trace; /* NULL: no span is left */
};

static void build(struct built *b, struct pythia_vocabulary *v, struct trace_part *parts,
                  size_t count, const char *ids)
{
    *b = (struct built){.open = open_points_of(v, ids)};
    assert_int_equal(pythia_trace_builder_create(v, b->open, &b->builder), PYTHIA_OK);
    pythia_trace_builder_begin(b->builder, trace_id_of_name("trace", 5));
    for (size_t i = 0; i < count; i++)
        assert_int_equal(pythia_trace_builder_add(b->builder, name_part(&parts[i], v)), PYTHIA_OK);
    int status = pythia_trace_builder_finish(b->builder, &b->counts, &b->trace);
    if (status == 1)
        b->trace = NULL;
    else
        assert_int_equal(status, PYTHIA_OK);
}

static void drop(struct built *b)
{
    pythia_trace_builder_destroy(b->builder);
    pythia_open_points_destroy(b->open);
}

/* Repairs that were made to the whole trace stay with its spans: they are not compared. */
static void assert_same_trace(struct pythia_vocabulary *v, const struct pythia_trace *actual,
                              const struct pythia_trace *wanted, const char *ids)
{
    static struct written a, b;
    struct pythia_counts none = {0};
    write_trace(&a, v, actual, &none);
    write_trace(&b, v, wanted, &none);
    if (strcmp(a.exact, b.exact) != 0 || strcmp(a.paths[0], b.paths[0]) != 0 ||
        strcmp(a.paths[1], b.paths[1]) != 0)
        fail_msg("open: %s\n%s\n%s\n%s\nand not\n%s\n%s\n%s", ids, a.tree, a.paths[0], a.paths[1],
                 b.tree, b.paths[0], b.paths[1]);
    assert_int_equal(actual->roots, wanted->roots);
    assert_int_equal(actual->start_ns, wanted->start_ns);
    assert_int_equal(actual->end_ns, wanted->end_ns);
    assert_int_equal(actual->completed_ns, wanted->completed_ns);
    for (uint32_t i = 0; i < actual->count; i++) {
        const struct pythia_trace_span *x = &actual->spans[i];
        for (uint32_t k = 0; k < wanted->count; k++) {
            const struct pythia_trace_span *y = &wanted->spans[k];
            if (x->id == y->id && x->kind == y->kind) {
                assert_int_equal(x->unawaited, y->unawaited);
                assert_int_equal(x->work == PYTHIA_NO_SPAN, y->work == PYTHIA_NO_SPAN);
                if (x->work != PYTHIA_NO_SPAN)
                    assert_int_equal(actual->spans[x->work].id, wanted->spans[y->work].id);
            }
        }
    }
}

/* Of the points A, B, C, …, those whose bits are set. */
static const char *ids_of(uint32_t set, char *to)
{
    size_t size = 0;
    for (uint32_t i = 0; i < POINTS_MAX; i++)
        if (set >> i & 1) {
            to[size++] = (char)('A' + i);
            to[size++] = ' ';
        }
    to[size] = '\0';
    return to;
}

/* Hide all but `set`, of a trace that was built with the points of `finer` open. */
static void compare_hidden(struct pythia_vocabulary *v, struct trace_part *parts, size_t count,
                           uint32_t finer, uint32_t set)
{
    char ids[2 * POINTS_MAX + 1];
    struct built whole, wanted;
    struct pythia_hider *hider = NULL;
    const struct pythia_trace *actual = NULL;
    assert_int_equal(pythia_hider_create(v, &hider), PYTHIA_OK);
    build(&whole, v, parts, count, ids_of(finer, ids));
    build(&wanted, v, parts, count, ids_of(set & finer, ids));
    bool moved = whole.counts.repaired[PYTHIA_REPAIR_CLAMPED] > 0;
    int status = whole.trace ? pythia_hider_hide(hider, whole.trace, wanted.open, &actual) : 1;
    assert_int_equal(status, wanted.trace ? 0 : 1);
    if (status == 0 && !moved) {
        assert_same_trace(v, actual, wanted.trace, ids);
        assert_int_equal(actual == whole.trace, actual->count == whole.trace->count);
        for (uint32_t i = 0; i < actual->count; i++)
            assert_int_equal(whole.trace->spans[pythia_hider_origin(hider, i)].id,
                             actual->spans[i].id);
    }
    drop(&whole);
    drop(&wanted);
    pythia_hider_destroy(hider);
}

/* Every set of the first `points` points. */
static void compare_all(const char *spans, uint32_t points)
{
    static struct trace_part parts[TRACE_TEXT_PARTS];
    struct pythia_vocabulary *v = NULL;
    size_t count = read_parts(spans, parts);
    assert_int_equal(pythia_vocabulary_create(&v), PYTHIA_OK);
    for (uint32_t set = 0; set < 1u << points; set++)
        compare_hidden(v, parts, count, UINT32_MAX, set);
    for (uint32_t finer = 1; finer < 1u << points; finer += 3)
        for (uint32_t set = 1; set < 1u << points; set += 5)
            compare_hidden(v, parts, count, finer, set);
    pythia_vocabulary_destroy(v);
    free_parts(parts, count);
}

static void children_hang_on_the_nearest_open_ancestor(void **state)
{
    compare_all("A[0,1000] B[100,900]<A C[200,800]<B D[300,400]<C E[500,700]<C F[920,950]<A", 6);
    compare_all("A[0,1000] B.1[100,400]<A C.1[150,390]<B.1 B.2[400,700]<A C.2[450,690]<B.2", 3);
    compare_all("A[0,1000] B[100]<A C[200,300]<A D[210]<C", 4); /* points in time */
}

static void of_a_hidden_root_the_children_are_roots(void **state)
{
    compare_all("A[0,1000] B[100,400]<A C[300,900]<A D[310,350]<C E[320,340]<D", 5);
    compare_all("A[0,1000]:many B[1100,1400]:many C[1150,1300]<B D[20,30]<A", 4);
}

static void work_that_goes_on_by_itself_stays_so(void **state)
{
    compare_all("A[0,100] B[10,300]<A:spawn C[20,200]<B D[250,290]<B E[50,90]<A", 5);
    compare_all("A[0,100] B[10,80]<A C[20,300]<B:spawn D[30,200]<C E[210,290]<C:call", 5);
    compare_all("A[0,100] B[10,90]<A:call C[20,300]<B D[30,80]<C", 4);
    compare_all("A[0,100] B[5,5]<A C[5,200]<B:spawn D[6,190]<C", 4);
}

static void joins_lead_to_what_is_left_of_the_work(void **state)
{
    const char *work = "A[0,1000] &K[100]<A B[150,790]<&K C[160,500]<B D[200,300]<A W[450,800]<A&K";
    compare_all(work, 4); /* without the wait */
    static struct trace_part parts[TRACE_TEXT_PARTS];
    struct pythia_vocabulary *v = NULL;
    size_t count = read_parts(work, parts);
    assert_int_equal(pythia_vocabulary_create(&v), PYTHIA_OK);
    for (uint32_t set = 0; set < 16; set++)
        compare_hidden(v, parts, count, UINT32_MAX, set | 1u << ('W' - 'A'));
    pythia_vocabulary_destroy(v);
    free_parts(parts, count);
    /* Two roots of the work, of which the last one, and then both, are hidden. */
    compare_all("A[0,1000] &K[100]<A B[150,400]<&K C[410,790]<&K D[420,500]<C E[450,800]<A&K", 5);
    /* A fork below what is hidden; work that forks again. */
    compare_all("A[0,1000] B[50,950]<A &K[100]<B C[150,790]<&K &L[200]<C D[250,600]<&L "
                "E[500,650]<C&L F[700,800]<B&K",
                6);
}

/* ---- random traces ---- */

/* Spans one inside the other, beside each other and behind; what is asynchronous outlives its
 * parent. Points repeat. */
static void write_random(struct pythia_random *r, char *to, size_t room, uint32_t points)
{
    struct {
        long start, end;
        char name[32];
    } made[24];
    size_t count = 3 + pythia_random_below(r, 18), size = 0;
    for (size_t i = 0; i < count; i++) {
        size_t parent = i ? pythia_random_below(r, i) : 0;
        long low = i ? made[parent].start : 0, high = i ? made[parent].end : 1000;
        long start = low + (long)pythia_random_below(r, (uint64_t)(high - low) / 2 + 1);
        long end = start + (long)pythia_random_below(r, (uint64_t)(high - start) + 1);
        bool outlives = i && pythia_random_below(r, 5) == 0;
        end += outlives ? (long)pythia_random_below(r, 400) : 0;
        made[i].start = i ? start : 0;
        made[i].end = i ? end : 1000;
        snprintf(made[i].name, sizeof(made[i].name), "%c.%zu",
                 i ? 'A' + (int)pythia_random_below(r, points) : 'A', i);
        size += (size_t)snprintf(to + size, room - size, "%s[%ld,%ld]", made[i].name, made[i].start,
                                 made[i].end);
        if (i)
            size += (size_t)snprintf(to + size, room - size, "<%s%s", made[parent].name,
                                     outlives && pythia_random_below(r, 2)    ? ":spawn"
                                     : !outlives && pythia_random_below(r, 2) ? ":call"
                                                                              : "");
        to[size++] = ' ';
        to[size] = '\0';
    }
}

static void any_trace_looks_as_if_its_points_had_been_closed(void **state)
{
    static struct trace_part parts[TRACE_TEXT_PARTS];
    struct pythia_random r;
    pythia_random_init(&r, 4);
    for (int i = 0; i < 2000; i++) {
        char text[2048];
        struct pythia_vocabulary *v = NULL;
        write_random(&r, text, sizeof(text), 9);
        size_t count = read_parts(text, parts);
        assert_int_equal(pythia_vocabulary_create(&v), PYTHIA_OK);
        for (int k = 0; k < 6; k++)
            compare_hidden(v, parts, count, UINT32_MAX, (uint32_t)pythia_random_below(&r, 512));
        pythia_vocabulary_destroy(v);
        free_parts(parts, count);
    }
}

/* ---- memory ---- */

static void what_lasts_as_long_as_what_is_hidden_in_it_becomes_a_point(void **state)
{
    compare_all("A[0,1000] B[100,?]<A C[200,300]<B D[210,250]<C", 4);
    compare_all("A[0,1000] B[100]<A C[100,300]<B D[210]<C", 4);
}

static void a_chain_of_100_000_spans_is_no_burden(void **state)
{
    struct pythia_vocabulary *v = NULL;
    struct pythia_trace_builder *b = NULL;
    struct pythia_counts counts = {0};
    struct pythia_hider *hider = NULL;
    const struct pythia_trace *trace = NULL, *left = NULL;
    assert_int_equal(pythia_vocabulary_create(&v), PYTHIA_OK);
    assert_int_equal(pythia_trace_builder_create(v, NULL, &b), PYTHIA_OK);
    assert_int_equal(pythia_hider_create(v, &hider), PYTHIA_OK);
    uint32_t even = pythia_vocabulary_tracepoint(v, 0, 0, intern(v, "A"));
    uint32_t odd = pythia_vocabulary_tracepoint(v, 0, 0, intern(v, "B"));
    struct pythia_open_points *open = open_points_of(v, "A");
    pythia_trace_builder_begin(b, trace_id_of_name("trace", 5));
    for (uint64_t i = 0; i < 100000; i++) {
        struct pythia_span span = {.id = i + 1,
                                   .parent = i,
                                   .start_ns = TRACE_TEXT_BEGIN + i,
                                   .duration_ns = (int64_t)(200000 - 2 * i),
                                   .tracepoint = i % 2 ? odd : even};
        assert_int_equal(pythia_trace_builder_add(b, &span), PYTHIA_OK);
    }
    assert_int_equal(pythia_trace_builder_finish(b, &counts, &trace), PYTHIA_OK);
    assert_int_equal(pythia_hider_hide(hider, trace, open, &left), 0);
    assert_int_equal(left->count, 50000);
    assert_int_equal(left->roots, 1);
    for (uint32_t i = 1; i < left->count; i++)
        assert_int_equal(left->spans[left->spans[i].parent].id + 2, left->spans[i].id);
    pythia_hider_destroy(hider);
    pythia_open_points_destroy(open);
    pythia_trace_builder_destroy(b);
    pythia_vocabulary_destroy(v);
}

static void without_memory_it_says_so(void **state)
{
    static struct trace_part parts[TRACE_TEXT_PARTS];
    struct pythia_vocabulary *v = NULL;
    struct pythia_hider *hider = NULL;
    struct built whole, wanted;
    const struct pythia_trace *left = NULL;
    size_t count = read_parts("A[0,1000] B[100,900]<A C[200,800]<B", parts);
    assert_int_equal(pythia_vocabulary_create(&v), PYTHIA_OK);
    build(&whole, v, parts, count, NULL);
    build(&wanted, v, parts, count, "A C");
    pythia_mem_fail_after(0);
    assert_int_equal(pythia_hider_create(v, &hider), PYTHIA_ENOMEM);
    assert_null(hider);
    pythia_mem_fail_after(-1);
    assert_int_equal(pythia_hider_create(v, &hider), PYTHIA_OK);
    int status = PYTHIA_ENOMEM;
    for (long n = 0; status == PYTHIA_ENOMEM; n++) {
        assert_in_range(n, 0, 50);
        pythia_mem_fail_after(n);
        status = pythia_hider_hide(hider, whole.trace, wanted.open, &left);
        pythia_mem_fail_after(-1);
        assert_true((status == 0) == (left != NULL));
    }
    if (left)
        assert_same_trace(v, left, wanted.trace, "A C");
    pythia_hider_destroy(NULL);
    pythia_hider_destroy(hider);
    drop(&whole);
    drop(&wanted);
    pythia_vocabulary_destroy(v);
    free_parts(parts, count);
}

/* ---- points that are open for some types only ---- */

static void what_is_open_for_other_types_is_left_out(void **state)
{
    static const struct {
        const char *type, *kept, *left;
    } cases[] = {
        {"list", NULL, "A B C"},
        {"order", NULL, "A C"}, /* B is open for requests that list */
        {"order", "B", "A B C"} /* it is open for all types all the same */,
    };
    static struct trace_part parts[TRACE_TEXT_PARTS];
    struct pythia_vocabulary *v = NULL;
    struct pythia_hider *hider = NULL;
    size_t count = read_parts("A[0,1000] B[100,900]<A C[200,800]<B D[300,400]<C", parts);
    assert_int_equal(pythia_vocabulary_create(&v), PYTHIA_OK);
    assert_int_equal(pythia_hider_create(v, &hider), PYTHIA_OK);
    struct pythia_open_points *limited = open_points_of(v, "C");
    assert_int_equal(pythia_open_points_add_id_for(limited, PYTHIA_TEXT("B"), PYTHIA_TEXT("list")),
                     PYTHIA_OK);
    assert_int_equal(pythia_open_points_add_id_for(limited, PYTHIA_TEXT("D"), PYTHIA_TEXT("list")),
                     PYTHIA_OK);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct built whole, wanted;
        const struct pythia_trace *left = NULL;
        build(&whole, v, parts, count, NULL);
        build(&wanted, v, parts, count, cases[i].left);
        struct pythia_open_points *open = open_points_of(v, "A B C"); /* D is closed for all */
        struct pythia_hider_types types = {.limited = limited,
                                           .kept = cases[i].kept ? open_points_of(v, cases[i].kept)
                                                                 : NULL,
                                           .type = intern(v, cases[i].type)};
        assert_int_equal(pythia_hider_hide_typed(hider, whole.trace, open, &types, &left), 0);
        assert_same_trace(v, left, wanted.trace, cases[i].left);
        pythia_open_points_destroy(types.kept);
        pythia_open_points_destroy(open);
        drop(&whole);
        drop(&wanted);
    }
    pythia_open_points_destroy(limited);
    pythia_hider_destroy(hider);
    pythia_vocabulary_destroy(v);
    free_parts(parts, count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(children_hang_on_the_nearest_open_ancestor),
        cmocka_unit_test(of_a_hidden_root_the_children_are_roots),
        cmocka_unit_test(work_that_goes_on_by_itself_stays_so),
        cmocka_unit_test(joins_lead_to_what_is_left_of_the_work),
        cmocka_unit_test(any_trace_looks_as_if_its_points_had_been_closed),
        cmocka_unit_test(what_lasts_as_long_as_what_is_hidden_in_it_becomes_a_point),
        cmocka_unit_test(a_chain_of_100_000_spans_is_no_burden),
        cmocka_unit_test(without_memory_it_says_so),
        cmocka_unit_test(what_is_open_for_other_types_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
