#include "requests.h"
#include "space/region.h"

/* A search space from requests with everything open, and one request as it is seen with most of its
 * trace points closed. */
struct bench {
    struct requests all, seen;
    struct pythia_space *space;
    uint32_t type;
    struct pythia_cct *cct;
    struct pythia_shape_maker *maker;
    struct pythia__region_map map;
};

static void begin(struct bench *b)
{
    *b = (struct bench){0};
    requests_begin(&b->all);
    b->seen.vocabulary = b->all.vocabulary;
    b->type = requests_string(&b->all, "t");
    assert_int_equal(pythia_space_create(b->all.vocabulary, &b->space), PYTHIA_OK);
    assert_int_equal(pythia_cct_create(b->all.vocabulary, &b->cct), PYTHIA_OK);
    assert_int_equal(pythia_shape_maker_create(b->cct, true, &b->maker), PYTHIA_OK);
}

static void end(struct bench *b)
{
    pythia__region_map_free(&b->map);
    pythia_shape_maker_destroy(b->maker);
    pythia_cct_destroy(b->cct);
    pythia_space_destroy(b->space);
    b->seen.vocabulary = NULL; /* one for both */
    requests_end(&b->seen);
    requests_end(&b->all);
}

static void profile(struct bench *b, const char *text)
{
    const struct pythia_trace *trace = requests_trace(&b->all, 0, text);
    assert_int_equal(pythia_space_add(b->space, b->type, trace, requests_path(&b->all, trace)),
                     PYTHIA_OK);
}

/* See a request with these trace points open. */
static void look(struct bench *b, const char *open, const char *text)
{
    if (!b->seen.open)
        requests_open(&b->seen, open);
    const struct pythia_trace *trace = requests_trace(&b->seen, 0, text);
    pythia_free(pythia_shape_make(b->maker, requests_path(&b->seen, trace), 1));
    pythia__region_map_free(&b->map);
    assert_int_equal(pythia__region_map_create(pythia_space_type(b->space, b->type), b->cct,
                                               b->seen.open, &b->map),
                     PYTHIA_OK);
}

static void find(struct bench *b, const char *edge)
{
    for (uint32_t e = 0; e < pythia_cct_edges(b->cct); e++)
        if (strcmp(requests_edge(b->cct, e), edge) == 0) {
            pythia__region_find(&b->map, pythia_cct_edge_at(b->cct, e));
            return;
        }
    fail_msg("no such edge was seen: %s", edge);
}

static void put_chain(char *to, size_t room, const struct pythia_cct *cct, uint32_t node)
{
    char text[256] = "";
    for (; node != PYTHIA_CCT_ROOT; node = pythia_cct_parent(cct, node)) {
        char longer[256];
        uint32_t point = pythia_cct_tracepoint(cct, node);
        snprintf(longer, sizeof(longer), "%s%s%.200s",
                 pythia_vocabulary_tracepoint_id(pythia_cct_vocabulary(cct), point).bytes,
                 text[0] ? "/" : "", text);
        memcpy(text, longer, sizeof(text));
    }
    snprintf(to + strlen(to), room - strlen(to), "%s%s", to[0] ? " " : "", text);
}

/* The closed nodes that begin behind an edge, in the order of their names, and the time there. */
static void assert_region(struct bench *b, const char *edge, const char *nodes, uint64_t time_ns)
{
    uint32_t *sorted, count;
    char text[1024] = "";
    const struct pythia_cct *cct = b->map.type->cct;
    find(b, edge);
    assert_int_equal(pythia_cct_sorted_nodes(cct, &sorted, &count), PYTHIA_OK);
    for (uint32_t i = 1; i < count; i++)
        if (pythia__region_has(&b->map, sorted[i]))
            put_chain(text, sizeof(text), cct, sorted[i]);
    pythia_free(sorted);
    assert_string_equal(text, nodes);
    assert_int_equal(pythia__region_time(&b->map, PYTHIA_CCT_ROOT), time_ns);
}

/* The time behind the edge that was found last, in a node and below it. */
static void assert_time_in(struct bench *b, const char *chain, uint64_t time_ns)
{
    assert_int_equal(pythia__region_time(&b->map, requests_node(b->map.type->cct, chain)), time_ns);
}

static void with_everything_open_a_region_is_the_edge(void **state)
{
    const char *text = "A{10 B{20 C{30} 40} 50}";
    struct bench b;
    begin(&b);
    profile(&b, text);
    look(&b, "*", text);
    assert_region(&b, "A: A -> B", "", 10);
    assert_region(&b, "A/B: B -> C", "", 20);
    assert_region(&b, "A/B/C: C -> /C", "", 30);
    assert_region(&b, "A/B: /C -> /B", "", 40);
    assert_region(&b, "A: /B -> /A", "", 50);
    end(&b);

    begin(&b); /* no list of open points: all are */
    profile(&b, text);
    look(&b, "*", text);
    pythia__region_map_free(&b.map);
    assert_int_equal(
        pythia__region_map_create(pythia_space_type(b.space, b.type), b.cct, NULL, &b.map),
        PYTHIA_OK);
    assert_region(&b, "A/B: B -> C", "", 20);
    end(&b);
}

static void what_is_closed_is_behind_the_edge_that_hides_it(void **state)
{
    const char *text = "A{10 B{20 C{30} 40} 50}";
    struct bench b;
    begin(&b);
    profile(&b, text);
    look(&b, "A", text);
    assert_region(&b, "A: A -> /A", "A/B A/B/C", 150);
    end(&b);

    begin(&b);
    profile(&b, text);
    look(&b, "A B", text);
    assert_region(&b, "A: A -> B", "", 10);
    assert_region(&b, "A/B: B -> /B", "A/B/C", 90);
    assert_region(&b, "A: /B -> /A", "", 50);
    end(&b);

    begin(&b); /* open below closed */
    profile(&b, text);
    look(&b, "A C", text);
    assert_region(&b, "A: A -> C", "A/B", 30);
    assert_region(&b, "A/C: C -> /C", "", 30);
    assert_region(&b, "A: /C -> /A", "", 90);
    end(&b);
}

static void what_is_before_and_after_is_not_behind_it(void **state)
{
    const char *text = "A{1 X{2} 3 B{4 I{5} 6} 7 Y{8} 9}";
    struct bench b;
    begin(&b);
    profile(&b, text);
    look(&b, "A B", text);
    assert_region(&b, "A: A -> B", "A/X", 6);
    assert_region(&b, "A/B: B -> /B", "A/B/I", 15);
    assert_region(&b, "A: /B -> /A", "A/Y", 24);
    end(&b);
}

/* P has begun before B and goes on after it: it begins on one side, and D in it on the other. */
static void regions_go_through_closed_parents(void **state)
{
    const char *text = "A{1 P{2 B{3 C{4} 5} 6 D{7 E{8} 9} 10} 11}";
    struct bench b;
    begin(&b);
    profile(&b, text);
    look(&b, "A B", text);
    assert_region(&b, "A: A -> B", "A/P", 3);
    assert_time_in(&b, "A/P", 2);
    assert_time_in(&b, "A/P/B", 0);
    assert_region(&b, "A/B: B -> /B", "A/P/B/C", 12);
    assert_time_in(&b, "A/P/B/C", 4);
    assert_time_in(&b, "A/P", 12);
    assert_region(&b, "A: /B -> /A", "A/P/D A/P/D/E", 51);
    assert_time_in(&b, "A/P", 40);
    assert_time_in(&b, "A/P/D", 24);
    assert_time_in(&b, "A/P/D/E", 8);
    assert_time_in(&b, "A/P/B/C", 0);
    end(&b);
}

/* Rounds of a loop: what is between two of them is in neither, and a round is not outside. */
static void regions_of_a_loop_do_not_run_into_each_other(void **state)
{
    const char *text = "A{1 X{2} 3 B{4 C{5} 6} 7 D{8} 9 B{4 C{5} 6} 10 Y{11} 12}";
    struct bench b;
    begin(&b);
    profile(&b, text);
    look(&b, "A B", text);
    assert_region(&b, "A: A -> B", "A/X", 6);
    assert_region(&b, "A/B: B -> /B", "A/B/C", 30); /* both rounds */
    assert_region(&b, "A: /B -> B", "A/D", 24);
    assert_region(&b, "A: /B -> /A", "A/Y", 33);
    end(&b);
    const char *close = "A{1 B{2 C{3} 4} 5 B{2 C{3} 4} 6}"; /* nothing between two rounds */
    begin(&b);
    profile(&b, close);
    look(&b, "A B", close);
    assert_region(&b, "A/B: B -> /B", "A/B/C", 18);
    assert_region(&b, "A: /B -> B", "", 5);
    end(&b);
}

/* A closed loop within a region: X and Y take turns before B. */
static void a_closed_loop_is_all_in_one_region(void **state)
{
    const char *text = "A{1 X{1} 1 Y{1} 1 X{1} 1 Y{1} 1 B{50} 70}";
    struct bench b;
    begin(&b);
    profile(&b, text);
    look(&b, "A B", text);
    assert_region(&b, "A: A -> B", "A/X A/Y", 9);
    assert_region(&b, "A/B: B -> /B", "", 50);
    assert_region(&b, "A: /B -> /A", "", 70);
    end(&b);
}

static void a_profile_of_three_rounds_serves_four(void **state)
{
    struct bench b;
    begin(&b);
    profile(&b, "A{1 B{4 C{5} 6} 7 D{8} 9 B{4 C{5} 6} 7 D{8} 9 B{4 C{5} 6} 2}");
    look(&b, "A B",
         "A{1 B{4 C{5} 6} 7 D{8} 9 B{4 C{5} 6} 7 D{8} 9 B{4 C{5} 6} 7 D{8} 9 B{4 C{5} 6} 2}");
    assert_region(&b, "A/B: B -> /B", "A/B/C", 45);
    assert_region(&b, "A: /B -> B", "A/D", 48);
    assert_region(&b, "A: /B -> /A", "", 2);
    end(&b);
    begin(&b); /* also with nothing of the loop open */
    profile(&b, "A{1 B{1} 1 B{1} 1 B{1} 1}");
    look(&b, "A", "A{1 B{1} 1 B{1} 1 B{1} 1 B{1} 1}");
    assert_region(&b, "A: A -> /A", "A/B", 7);
    end(&b);
}

static void one_trace_point_in_several_contexts_is_several_nodes(void **state)
{
    const char *text = "A{1 db{2} 3 B{4 db{5} 6} 7}";
    struct bench b;
    begin(&b);
    profile(&b, text);
    look(&b, "A B", text);
    assert_region(&b, "A: A -> B", "A/db", 6);
    assert_region(&b, "A/B: B -> /B", "A/B/db", 15);
    assert_region(&b, "A: /B -> /A", "", 7);
    end(&b);
}

/* A node is one, however often it is called: what was spent in both calls of A/db counts before B
 * and behind it, and what leads to either call and from it only there. */
static void one_context_on_both_sides_is_in_both_regions_as_a_whole(void **state)
{
    const char *text = "A{1 db{2} 3 B{4 db{5} 6} 7 db{8} 9}";
    struct bench b;
    begin(&b);
    profile(&b, text);
    look(&b, "A B", text);
    assert_region(&b, "A: A -> B", "A/db", 1 + (2 + 8) + 3);
    assert_region(&b, "A/B: B -> /B", "A/B/db", 15);
    assert_region(&b, "A: /B -> /A", "A/db", 7 + (2 + 8) + 9);
    end(&b);
}

/* X and Y are closed, so that B in X and B in Y look alike. */
static void nodes_that_look_alike_are_one_region(void **state)
{
    const char *text = "A{1 X{2 B{3 db{4} 5} 6} 7 Y{8 B{9 db{10} 11} 12} 13}";
    struct bench b;
    begin(&b);
    profile(&b, text);
    look(&b, "A B", text);
    assert_region(&b, "A/B: B -> /B", "A/X/B/db A/Y/B/db", 12 + 30);
    assert_region(&b, "A: /B -> B", "A/Y", 6 + 7 + 8);
    end(&b);
}

static void points_in_time_bound_regions_and_are_in_them(void **state)
{
    const char *text = "A{1 X{2} 3 *E 4 Y{5} 6}";
    struct bench b;
    begin(&b);
    profile(&b, text);
    look(&b, "A E", text);
    assert_region(&b, "A: A -> *E", "A/X", 6);
    assert_region(&b, "A: *E -> /A", "A/Y", 15);
    end(&b);
    begin(&b);
    profile(&b, text);
    look(&b, "A", text);
    assert_region(&b, "A: A -> /A", "A/E A/X A/Y", 21);
    end(&b);
    const char *inside = "A{1 X{2 *E 3 Y{4} 5} 6}"; /* of what is closed */
    begin(&b);
    profile(&b, inside);
    look(&b, "A E", inside);
    assert_region(&b, "A: A -> *E", "A/X", 3);
    assert_region(&b, "A: *E -> /A", "A/X/Y", 18);
    end(&b);
}

static void recursion_is_told_apart_by_depth(void **state)
{
    const char *text = "A{1 X{2} A{3 X{4} A{5 X{6} 7} 8} 9}";
    struct bench b;
    begin(&b);
    profile(&b, text);
    look(&b, "A", text);
    assert_region(&b, "A: A -> A", "A/X", 3);
    assert_region(&b, "A/A: A -> A", "A/A/X", 7);
    assert_region(&b, "A/A/A: A -> /A", "A/A/A/X", 18);
    assert_region(&b, "A/A: /A -> /A", "", 8);
    end(&b);
}

static void roots_follow_each_other(void **state)
{
    const char *text = "A{1} 2 X{3 C{4} 5} 6 B{7}";
    struct bench b;
    begin(&b);
    profile(&b, text);
    look(&b, "A B", text);
    assert_region(&b, ": /A -> B", "X X/C", 20);
    assert_region(&b, "B: B -> /B", "", 7);
    end(&b);
}

/* What was seen and is not in the space, and the other way round. */
static void what_is_not_known_has_an_empty_region(void **state)
{
    struct bench b;
    begin(&b);
    profile(&b, "A{1 X{2} 3 B{4 C{5} 6} 7}");
    look(&b, "A B N", "A{1 N{2} 3}"); /* N is new, and B was not seen */
    assert_region(&b, "A: A -> N", "", 0);
    assert_region(&b, "A/N: N -> /N", "", 0);
    look(&b, "", "A{1 X{2} 3 B{4 C{5} 6} 7}"); /* now it is seen as well */
    assert_region(&b, "A: A -> B", "A/X", 6);
    assert_region(&b, "A/N: N -> /N", "", 0);
    end(&b);
}

static void a_failed_allocation_leaves_nothing(void **state)
{
    struct bench b;
    begin(&b);
    profile(&b, "A{1 X{2} 3 B{4 C{5} 6} 7}");
    look(&b, "A B", "A{1 X{2} 3 B{4 C{5} 6} 7}");
    long failures = 0;
    struct pythia__region_map map = {.type = b.map.type};
    for (;; failures++) {
        pythia_mem_fail_after(failures);
        int status = pythia__region_map_create(b.map.type, b.cct, b.seen.open, &map);
        pythia_mem_fail_after(-1);
        if (status == PYTHIA_OK)
            break;
        assert_int_equal(status, PYTHIA_ENOMEM);
        assert_null(map.seen);
    }
    assert_int_equal(failures, 12); /* arrays */
    pythia__region_map_free(&map);
    end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_everything_open_a_region_is_the_edge),
        cmocka_unit_test(what_is_closed_is_behind_the_edge_that_hides_it),
        cmocka_unit_test(what_is_before_and_after_is_not_behind_it),
        cmocka_unit_test(regions_go_through_closed_parents),
        cmocka_unit_test(regions_of_a_loop_do_not_run_into_each_other),
        cmocka_unit_test(a_closed_loop_is_all_in_one_region),
        cmocka_unit_test(a_profile_of_three_rounds_serves_four),
        cmocka_unit_test(one_trace_point_in_several_contexts_is_several_nodes),
        cmocka_unit_test(one_context_on_both_sides_is_in_both_regions_as_a_whole),
        cmocka_unit_test(nodes_that_look_alike_are_one_region),
        cmocka_unit_test(points_in_time_bound_regions_and_are_in_them),
        cmocka_unit_test(recursion_is_told_apart_by_depth),
        cmocka_unit_test(roots_follow_each_other),
        cmocka_unit_test(what_is_not_known_has_an_empty_region),
        cmocka_unit_test(a_failed_allocation_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
