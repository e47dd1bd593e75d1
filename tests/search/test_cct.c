#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "pythia/cct.h"
#include "pythia/critical_path.h"
#include "pythia/mem.h"
#include "pythia/random.h"
#include "pythia/status.h"

struct tree {
    struct pythia_vocabulary *vocabulary;
    struct pythia_cct *cct;
};

static void begin(struct tree *t)
{
    *t = (struct tree){0};
    assert_int_equal(pythia_vocabulary_create(&t->vocabulary), PYTHIA_OK);
    assert_int_equal(pythia_cct_create(t->vocabulary, &t->cct), PYTHIA_OK);
}

static void end(struct tree *t)
{
    pythia_cct_destroy(t->cct);
    pythia_vocabulary_destroy(t->vocabulary);
}

static uint32_t point(struct tree *t, const char *id)
{
    return pythia_vocabulary_tracepoint_of_id(t->vocabulary, pythia_text_of(id), 0, 0);
}

/* The node of a chain such as "A/B/C", whose parts are trace points of one character or more. */
static uint32_t node(struct tree *t, const char *chain)
{
    uint32_t at = PYTHIA_CCT_ROOT;
    while (*chain) {
        char id[32] = "";
        size_t size = strcspn(chain, "/");
        memcpy(id, chain, size);
        at = pythia_cct_child(t->cct, at, point(t, id));
        chain += size + (chain[size] == '/');
    }
    return at;
}

static void the_root_is_there_and_stands_for_the_request(void **state)
{
    struct tree t;
    begin(&t);
    assert_int_equal(pythia_cct_nodes(t.cct), 1);
    assert_int_equal(pythia_cct_edges(t.cct), 0);
    assert_int_equal(pythia_cct_parent(t.cct, PYTHIA_CCT_ROOT), PYTHIA_NONE);
    assert_int_equal(pythia_cct_tracepoint(t.cct, PYTHIA_CCT_ROOT), PYTHIA_NONE);
    assert_int_equal(pythia_cct_depth(t.cct, PYTHIA_CCT_ROOT), 0);
    assert_ptr_equal(pythia_cct_vocabulary(t.cct), t.vocabulary);
    end(&t);
    pythia_cct_destroy(NULL);
}

static void a_node_is_a_chain_of_calls(void **state)
{
    struct tree t;
    begin(&t);
    uint32_t a = node(&t, "A"), ab = node(&t, "A/B"), b = node(&t, "B"), abb = node(&t, "A/B/B");
    assert_int_equal(a, 1); /* in the order of asking */
    assert_int_equal(ab, 2);
    assert_int_equal(b, 3);
    assert_int_equal(abb, 4);
    assert_int_equal(node(&t, "A/B"), ab); /* and made once */
    assert_int_equal(pythia_cct_nodes(t.cct), 5);
    assert_int_equal(pythia_cct_parent(t.cct, abb), ab);
    assert_int_equal(pythia_cct_tracepoint(t.cct, abb), point(&t, "B"));
    assert_int_equal(pythia_cct_depth(t.cct, abb), 3);
    assert_int_equal(pythia_cct_find(t.cct, a, point(&t, "B")), ab);
    assert_int_equal(pythia_cct_find(t.cct, b, point(&t, "B")),
                     PYTHIA_NONE); /* not made by asking */
    assert_int_equal(pythia_cct_nodes(t.cct), 5);
    end(&t);
}

static void edges_differ_by_context_and_by_both_events(void **state)
{
    struct tree t;
    begin(&t);
    uint32_t a = node(&t, "A"), x = point(&t, "A"), y = point(&t, "B");
    const struct pythia_edge edges[] = {
        {a, x, y, PYTHIA_EVENT_START, PYTHIA_EVENT_START},
        {PYTHIA_CCT_ROOT, x, y, PYTHIA_EVENT_START, PYTHIA_EVENT_START},
        {a, y, x, PYTHIA_EVENT_START, PYTHIA_EVENT_START},
        {a, x, x, PYTHIA_EVENT_START, PYTHIA_EVENT_START},
        {a, x, y, PYTHIA_EVENT_END, PYTHIA_EVENT_START},
        {a, x, y, PYTHIA_EVENT_START, PYTHIA_EVENT_END},
        {a, x, y, PYTHIA_EVENT_START, PYTHIA_EVENT_ANNOTATION},
    };
    for (int twice = 0; twice < 2; twice++)
        for (uint32_t i = 0; i < 7; i++)
            assert_int_equal(pythia_cct_edge(t.cct, &edges[i]), i);
    assert_int_equal(pythia_cct_edges(t.cct), 7);
    assert_memory_equal(pythia_cct_edge_at(t.cct, 4), &edges[4], sizeof(uint32_t) * 3 + 2);
    end(&t);
}

/* Thousands of each, so that both tables grow several times; the model is a list to search. */
static void nothing_is_lost_when_the_tables_grow(void **state)
{
    enum { NODES = 3000, POINTS = 40 };
    struct tree t;
    struct pythia_random r;
    static struct {
        uint32_t parent, point;
    } model[NODES];
    uint32_t points[POINTS], count = 1;
    begin(&t);
    pythia_random_init(&r, 3);
    for (uint32_t i = 0; i < POINTS; i++) {
        char id[16];
        snprintf(id, sizeof(id), "p%u", i);
        points[i] = point(&t, id);
    }
    while (count < NODES) {
        uint32_t parent = (uint32_t)pythia_random_below(&r, count), known = 0;
        uint32_t called = points[pythia_random_below(&r, POINTS)];
        for (uint32_t i = 1; i < count && !known; i++)
            known = model[i].parent == parent && model[i].point == called ? i : 0;
        assert_int_equal(pythia_cct_find(t.cct, parent, called), known ? known : PYTHIA_NONE);
        assert_int_equal(pythia_cct_child(t.cct, parent, called), known ? known : count);
        if (known)
            continue;
        model[count].parent = parent;
        model[count].point = called;
        struct pythia_edge edge = {.context = count, .from_tracepoint = called};
        assert_int_equal(pythia_cct_edge(t.cct, &edge), count - 1);
        count++;
    }
    assert_int_equal(pythia_cct_nodes(t.cct), NODES);
    for (uint32_t i = 1; i < NODES; i++) {
        struct pythia_edge edge = {.context = i, .from_tracepoint = model[i].point};
        assert_int_equal(pythia_cct_find(t.cct, model[i].parent, model[i].point), i);
        assert_int_equal(pythia_cct_parent(t.cct, i), model[i].parent);
        assert_int_equal(pythia_cct_tracepoint(t.cct, i), model[i].point);
        assert_int_equal(pythia_cct_edge(t.cct, &edge), i - 1);
    }
    end(&t);
}

static void assert_chain(const struct tree *t, uint32_t at, const char *chain)
{
    char text[64] = "", longer[64];
    for (; at != PYTHIA_CCT_ROOT; at = pythia_cct_parent(t->cct, at)) {
        uint32_t called = pythia_cct_tracepoint(t->cct, at);
        snprintf(longer, sizeof(longer), "/%s%.40s",
                 pythia_vocabulary_tracepoint_id(t->vocabulary, called).bytes, text);
        memcpy(text, longer, sizeof(text));
    }
    assert_string_equal(text[0] ? text + 1 : text, chain);
}

/* By whole names from the root on: "A" and all that is below it come before "AB". */
static void nodes_are_ordered_by_their_chains_of_names(void **state)
{
    const char *const chains[] = {"", "A", "A/A", "A/B", "A/B/A", "A/C", "AB", "AB/A", "B", "B/A"};
    struct pythia_random r;
    pythia_random_init(&r, 4);
    for (int run = 0; run < 20; run++) { /* made in any order, they are sorted alike */
        struct tree t;
        size_t order[10], n = 10;
        uint32_t *sorted, count;
        begin(&t);
        for (size_t i = 0; i < n; i++)
            order[i] = i;
        pythia_random_shuffle(&r, order, n);
        for (size_t i = 0; i < n; i++)
            node(&t, chains[order[i]]);
        assert_int_equal(pythia_cct_sorted_nodes(t.cct, &sorted, &count), PYTHIA_OK);
        assert_int_equal(count, n);
        for (size_t i = 0; i < n; i++) {
            assert_chain(&t, sorted[i], chains[i]);
            for (size_t k = 0; k < n; k++) {
                int compared = pythia_cct_compare_nodes(t.cct, sorted[i], sorted[k]);
                assert_int_equal((compared > 0) - (compared < 0), (i > k) - (i < k));
            }
        }
        pythia_free(sorted);
        end(&t);
    }
}

/* The ancestor at a depth, one step after the other. */
static uint32_t climb(const struct tree *t, uint32_t at, uint32_t depth)
{
    while (pythia_cct_depth(t->cct, at) > depth)
        at = pythia_cct_parent(t->cct, at);
    return at;
}

/* In trees that are mostly chains, and in bushy ones. */
static void ancestors_are_those_that_single_steps_lead_to(void **state)
{
    enum { NODES = 3000 };
    struct pythia_random r;
    pythia_random_init(&r, 7);
    for (int run = 0; run < 6; run++) {
        struct tree t;
        uint32_t points[3], last = PYTHIA_CCT_ROOT;
        begin(&t);
        for (int i = 0; i < 3; i++)
            points[i] = point(&t, (const char *[]){"A", "B", "C"}[i]);
        for (int i = 0; i < NODES; i++) {
            bool jumps = pythia_random_below(&r, run % 2 ? 3 : 300) == 0;
            last = jumps ? (uint32_t)pythia_random_below(&r, pythia_cct_nodes(t.cct)) : last;
            last = pythia_cct_child(t.cct, last, points[pythia_random_below(&r, 3)]);
        }
        for (int i = 0; i < 3000; i++) {
            uint32_t at = (uint32_t)pythia_random_below(&r, pythia_cct_nodes(t.cct));
            uint32_t depth =
                (uint32_t)pythia_random_below(&r, pythia_cct_depth(t.cct, at) + UINT64_C(2));
            assert_int_equal(pythia_cct_ancestor(t.cct, at, depth), climb(&t, at, depth));
        }
        uint32_t *sorted, count;
        assert_int_equal(pythia_cct_sorted_nodes(t.cct, &sorted, &count), PYTHIA_OK);
        for (int i = 0; i < 3000; i++) {
            size_t one = pythia_random_below(&r, count), other = pythia_random_below(&r, count);
            int compared = pythia_cct_compare_nodes(t.cct, sorted[one], sorted[other]);
            assert_int_equal((compared > 0) - (compared < 0), (one > other) - (one < other));
        }
        pythia_free(sorted);
        end(&t);
    }
}

/* A million times up and down a chain of a million nodes: a step for each node between would take
 * hours. */
static void a_chain_of_a_million_nodes_is_climbed_in_few_steps(void **state)
{
    enum { DEPTH = 1000000 };
    struct tree t;
    begin(&t);
    uint32_t a = point(&t, "A"), last = PYTHIA_CCT_ROOT;
    for (uint32_t i = 0; i < DEPTH; i++)
        last = pythia_cct_child(t.cct, last, a);
    assert_int_equal(pythia_cct_depth(t.cct, last), DEPTH);
    for (uint32_t depth = 0; depth < DEPTH; depth++) { /* nodes are numbered from the root on */
        uint32_t at = pythia_cct_ancestor(t.cct, last, depth);
        assert_int_equal(at, depth);
        assert_true(pythia_cct_compare_nodes(t.cct, at, last) < 0);
    }
    end(&t);
}

static void edges_are_ordered_by_context_then_from_then_to(void **state)
{
    struct tree t;
    begin(&t);
    uint32_t b = point(&t, "B"), a = point(&t, "A"); /* numbers against the order of names */
    uint32_t in_b = node(&t, "B"), in_a = node(&t, "A");
    const struct pythia_edge edges[] = {
        {PYTHIA_CCT_ROOT, b, b, PYTHIA_EVENT_END, PYTHIA_EVENT_START},
        {in_a, a, a, PYTHIA_EVENT_START, PYTHIA_EVENT_END},
        {in_a, a, b, PYTHIA_EVENT_START, PYTHIA_EVENT_START},
        {in_a, a, b, PYTHIA_EVENT_START, PYTHIA_EVENT_END},
        {in_a, a, b, PYTHIA_EVENT_END, PYTHIA_EVENT_START},
        {in_a, b, a, PYTHIA_EVENT_START, PYTHIA_EVENT_START},
        {in_b, a, a, PYTHIA_EVENT_START, PYTHIA_EVENT_START},
    };
    uint32_t numbers[7];
    for (size_t i = 7; i-- > 0;)
        numbers[i] = pythia_cct_edge(t.cct, &edges[i]);
    for (size_t i = 0; i < 7; i++)
        for (size_t k = 0; k < 7; k++) {
            int compared = pythia_cct_compare_edges(t.cct, numbers[i], numbers[k]);
            assert_int_equal((compared > 0) - (compared < 0), (i > k) - (i < k));
        }
    end(&t);
}

static void a_failed_allocation_leaves_the_tree_as_it_was(void **state)
{
    struct tree t;
    struct pythia_cct *none = NULL;
    uint32_t *sorted = NULL, count = 77;
    begin(&t);
    for (long n = 0; n < 2; n++) { /* itself and the nodes */
        pythia_mem_fail_after(n);
        assert_int_equal(pythia_cct_create(t.vocabulary, &none), PYTHIA_ENOMEM);
        pythia_mem_fail_after(-1);
        assert_null(none);
    }
    uint32_t a = point(&t, "A"), at = PYTHIA_CCT_ROOT, failed_nodes = 0, failed_edges = 0;
    for (uint32_t i = 0; i < 1000; i++) { /* a chain: each call once without memory, once with */
        struct pythia_edge edge = {.context = i, .from_tracepoint = a};
        pythia_mem_fail_after(0);
        uint32_t child = pythia_cct_child(t.cct, at, a), number = pythia_cct_edge(t.cct, &edge);
        pythia_mem_fail_after(-1);
        failed_nodes += child == PYTHIA_NONE;
        failed_edges += number == PYTHIA_NONE;
        assert_true(child == PYTHIA_NONE || child == i + 1);
        assert_true(number == PYTHIA_NONE || number == i);
        at = pythia_cct_child(t.cct, at, a);
        assert_int_equal(at, i + 1);
        assert_int_equal(pythia_cct_edge(t.cct, &edge), i);
    }
    assert_true(failed_nodes > 5 && failed_edges > 5);
    pythia_mem_fail_after(0);
    assert_int_equal(pythia_cct_sorted_nodes(t.cct, &sorted, &count), PYTHIA_ENOMEM);
    pythia_mem_fail_after(-1);
    assert_null(sorted);
    assert_int_equal(count, 77);
    end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_root_is_there_and_stands_for_the_request),
        cmocka_unit_test(a_node_is_a_chain_of_calls),
        cmocka_unit_test(edges_differ_by_context_and_by_both_events),
        cmocka_unit_test(nothing_is_lost_when_the_tables_grow),
        cmocka_unit_test(nodes_are_ordered_by_their_chains_of_names),
        cmocka_unit_test(ancestors_are_those_that_single_steps_lead_to),
        cmocka_unit_test(a_chain_of_a_million_nodes_is_climbed_in_few_steps),
        cmocka_unit_test(edges_are_ordered_by_context_then_from_then_to),
        cmocka_unit_test(a_failed_allocation_leaves_the_tree_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
