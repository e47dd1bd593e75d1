#include <time.h>

#include "requests.h"
#include "strategy/gain.h"
#include "timed.h"

/* A tree made by hand, with the mass of each node set by hand. */
struct bench {
    struct pythia_vocabulary *vocabulary;
    struct pythia_space *space;
    struct pythia_space_type *type;
    struct pythia__belief belief;
    bool closed[64]; /* by trace point */
    struct pythia__pick picks[8];
    size_t count;
};

static void begin(struct bench *b)
{
    *b = (struct bench){.count = 0};
    assert_int_equal(pythia_vocabulary_create(&b->vocabulary), PYTHIA_OK);
    assert_int_equal(pythia_space_create(b->vocabulary, &b->space), PYTHIA_OK);
    b->type = pythia_space_type_make(b->space,
                                     pythia_vocabulary_string(b->vocabulary, pythia_text_of("t")));
    b->type->requests = 1;
    memset(b->closed, true, sizeof(b->closed));
}

static void end(struct bench *b)
{
    pythia__belief_free(&b->belief);
    pythia_space_destroy(b->space);
    pythia_vocabulary_destroy(b->vocabulary);
}

static uint32_t point(struct bench *b, const char *name)
{
    uint32_t text = pythia_vocabulary_string(b->vocabulary, pythia_text_of(name));
    return pythia_vocabulary_tracepoint(b->vocabulary, 0, 0, text);
}

/* Nodes "A A/B …", each after the one above it, called so often in a request. */
static void plant(struct bench *b, const char *chains, uint64_t calls)
{
    char chain[64];
    int size;
    for (; sscanf(chains, " %63s%n", chain, &size) == 1; chains += size) {
        char *slash = strrchr(chain, '/'), *name = slash ? slash + 1 : chain;
        uint32_t node, parent = PYTHIA_CCT_ROOT, id = point(b, name);
        if (slash) {
            *slash = '\0';
            parent = requests_node(b->type->cct, chain);
        }
        struct pythia_space_node *made = pythia_space_node_make(b->type, parent, id, &node);
        assert_non_null(made);
        made->calls = calls;
    }
}

/* Before any evidence, but for the mass: one number for each node in the order of making. */
static void believe(struct bench *b, const double *mass)
{
    pythia__belief_free(&b->belief);
    assert_int_equal(pythia__belief_create(b->type, &b->belief), PYTHIA_OK);
    for (uint32_t node = 1; node < b->belief.nodes; node++)
        b->belief.mass[node] = mass[node - 1];
}

static void choose(struct bench *b, double weight, size_t budget)
{
    assert_int_equal(
        pythia__gain_choose(&b->belief, b->closed, weight, NULL, budget, b->picks, &b->count),
        PYTHIA_OK);
}

static void assert_picks(const struct bench *b, const char *ids)
{
    char text[256] = "";
    for (size_t i = 0; i < b->count; i++) {
        struct pythia_text id =
            pythia_vocabulary_tracepoint_id(b->vocabulary, b->picks[i].tracepoint);
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i ? " " : "", id.bytes);
    }
    assert_string_equal(text, ids);
}

#define SEVEN "A A/B A/C A/B/D A/B/E A/C/F A/C/G"
static const double leaves[] = {0, 0, 0, .25, .25, .25, .25};

/* Called twice, so that there is no one before and after: B and C have half of the mass each. Then
 * each leaf halves what is left around it, and a leaf beside one that is open tells nothing. */
static void the_point_that_halves_the_mass_is_chosen_first(void **state)
{
    struct bench b;
    begin(&b);
    plant(&b, SEVEN, 2);
    believe(&b, leaves);
    choose(&b, 0, 1);
    assert_picks(&b, "B");
    assert_rel_equal(b.picks[0].bits, 1, 1e-12);
    assert_rel_equal(b.picks[0].inside, .5, 1e-12);
    assert_rel_equal(b.picks[0].calls, 2, 0);
    assert_int_equal(b.picks[0].block, b.belief.region_count);
    choose(&b, 0, 8);
    assert_picks(&b, "B D F");
    assert_rel_equal(b.picks[1].bits, .5, 1e-12);
    assert_rel_equal(b.picks[2].bits, .5, 1e-12);
    /* C has three quarters, F in it has half */
    believe(&b, (double[]){0, 0, 0, .125, .125, .5, .25});
    choose(&b, 0, 1);
    assert_picks(&b, "F");
    end(&b);
}

/* Passed once, E has a quarter before it, one in it and a half behind it, and F as well: 1.5 bits.
 * B has nothing before it: 1 bit. */
static void what_is_passed_once_has_a_before_and_an_after(void **state)
{
    struct bench b;
    begin(&b);
    plant(&b, SEVEN, 1);
    believe(&b, leaves);
    choose(&b, 0, 8);
    assert_rel_equal(b.picks[0].bits, 1.5, 1e-12);
    assert_rel_equal(b.picks[0].inside, .25, 1e-12);
    assert_rel_equal(b.picks[1].bits, .5, 1e-12); /* F and G are what is left together */
    assert_picks(&b, "E F");
    /* what is around it is half before it and half behind: .25 before, .5 in, .25 behind */
    believe(&b, (double[]){.5, .5, 0, 0, 0, 0, 0});
    choose(&b, 0, 1);
    assert_picks(&b, "B");
    assert_rel_equal(b.picks[0].bits, 1.5, 1e-12);
    end(&b);
}

static void the_price_of_calls_counts(void **state)
{
    struct bench b;
    begin(&b);
    plant(&b, "A", 2);
    plant(&b, "A/B", 6);
    plant(&b, "A/C A/B/D A/B/E A/C/F A/C/G", 2);
    believe(&b, leaves);
    choose(&b, 0, 1);
    assert_picks(&b, "B");
    choose(&b, 1, 1); /* B: 1 / 7; C: 1 / 3; a leaf: .811 / 3 */
    assert_picks(&b, "C");
    b.type->nodes[requests_node(b.type->cct, "A/C")].calls = 6;
    choose(&b, 1, 1);
    assert_picks(&b, "D"); /* .270 against .143 */
    assert_rel_equal(b.picks[0].bits, .25 * 2 + .75 * log2(4 / 3.), 1e-12);
    b.type->requests = 100; /* a price is that of a request */
    choose(&b, 1, 1);
    assert_rel_equal(b.picks[0].calls, .02, 1e-12);
    end(&b);
}

/* B and C have a bit each for two calls: with a weight of 1 it is their price that decides, 1 / 3
 * against 1 / 2, and then 1 / 41 against D's .811 / 3. */
static void a_point_may_have_a_price_of_its_own(void **state)
{
    struct bench b;
    double prices[64];
    begin(&b);
    plant(&b, SEVEN, 2);
    believe(&b, leaves);
    for (size_t i = 0; i < 64; i++)
        prices[i] = 1;
    const struct {
        double b, c;
        const char *pick;
    } cases[] = {{1, 1, "B"}, {1, .5, "C"}, {.5, .5, "B"}, {20, 20, "D"}, {20, 0, "C"}};
    for (size_t i = 0; i < 5; i++) {
        prices[point(&b, "B")] = cases[i].b;
        prices[point(&b, "C")] = cases[i].c;
        assert_int_equal(pythia__gain_choose(&b.belief, b.closed, 1, prices, 1, b.picks, &b.count),
                         PYTHIA_OK);
        assert_picks(&b, cases[i].pick);
    }
    end(&b);
}

/* Whatever order they are made in. */
static void of_equals_the_smaller_id_is_chosen(void **state)
{
    struct bench b;
    begin(&b);
    plant(&b, "A A/z A/m A/q A/k", 2);
    believe(&b, (double[]){0, .25, .25, .25, .25});
    choose(&b, 0, 8);
    assert_picks(&b, "k m q");
    end(&b);
}

static void only_closed_points_are_chosen(void **state)
{
    struct bench b;
    begin(&b);
    plant(&b, SEVEN, 2);
    believe(&b, leaves);
    b.closed[point(&b, "B")] = false;
    choose(&b, 0, 1);
    assert_picks(&b, "C");
    memset(b.closed, false, sizeof(b.closed));
    b.closed[point(&b, "G")] = true;
    choose(&b, 0, 8);
    assert_picks(&b, "G");
    b.closed[point(&b, "G")] = false;
    choose(&b, 0, 8);
    assert_int_equal(b.count, 0);
    choose(&b, 0, 0);
    assert_int_equal(b.count, 0);
    end(&b);
}

/* A trace point that the vocabulary learned after the flags were made is not in the tree. */
static void flags_of_points_that_are_not_in_the_tree_are_not_read(void **state)
{
    struct bench b;
    begin(&b);
    plant(&b, SEVEN, 2);
    believe(&b, leaves);
    uint32_t known = pythia_vocabulary_tracepoints(b.vocabulary);
    bool *closed = malloc(known * sizeof(*closed));
    memset(closed, true, known * sizeof(*closed));
    for (int i = 0; i < 1000; i++) {
        char name[16];
        snprintf(name, sizeof(name), "new%d", i);
        (void)point(&b, name);
    }
    assert_int_equal(pythia__gain_choose(&b.belief, closed, 0, NULL, 1, b.picks, &b.count),
                     PYTHIA_OK);
    assert_picks(&b, "B");
    free(closed);
    end(&b);
}

/* X calls itself: the inner X is in the outer one, and half of the mass is in both together. */
static void nested_contexts_of_a_point_are_not_counted_twice(void **state)
{
    struct bench b;
    begin(&b);
    plant(&b, "A A/X A/X/X A/X/X/X", 2);
    believe(&b, (double[]){.5, .2, .2, .1});
    choose(&b, 0, 1);
    assert_picks(&b, "X");
    assert_rel_equal(b.picks[0].inside, .5, 1e-12);
    assert_rel_equal(b.picks[0].bits, 1, 1e-12);
    /* with another point between them */
    end(&b);
    begin(&b);
    plant(&b, "A A/X A/X/Y A/X/Y/X A/Z A/Z/X", 2);
    believe(&b, (double[]){.25, .2, .1, .2, .25, 0});
    b.closed[point(&b, "Y")] = b.closed[point(&b, "Z")] = false;
    choose(&b, 0, 1);
    assert_picks(&b, "X");
    assert_rel_equal(b.picks[0].inside, .5, 1e-12);
    end(&b);
}

/* What evidence tells apart already is parted by itself: D halves the region that B is in, while B
 * is all of it. */
static void a_point_parts_each_region_by_itself(void **state)
{
    struct bench b;
    begin(&b);
    plant(&b, SEVEN, 2);
    believe(&b, (double[]){0, 0, 0, .4, .4, .1, .1});
    b.belief.region_count = 2;
    const char *first[] = {"A/B", "A/B/D", "A/B/E"}, *second[] = {"A/C", "A/C/F", "A/C/G"};
    b.belief.block[requests_node(b.type->cct, "A")] = 2;
    for (int i = 0; i < 3; i++) {
        b.belief.block[requests_node(b.type->cct, first[i])] = 0;
        b.belief.block[requests_node(b.type->cct, second[i])] = 1;
    }
    choose(&b, 0, 8);
    assert_picks(&b, "D F");
    assert_rel_equal(b.picks[0].bits, .8, 1e-12);
    assert_rel_equal(b.picks[1].bits, .2, 1e-12);
    assert_int_equal(b.picks[0].block, 0);
    assert_int_equal(b.picks[1].block, 1);
    end(&b);
}

static double time_of_chain(uint32_t nodes)
{
    struct bench b;
    begin(&b);
    uint32_t parent = PYTHIA_CCT_ROOT;
    for (uint32_t i = 0; i < nodes; i++) {
        char name[16];
        snprintf(name, sizeof(name), "p%06u", i);
        struct pythia_space_node *made =
            pythia_space_node_make(b.type, parent, point(&b, name), &parent);
        assert_non_null(made);
        made->calls = 1;
    }
    bool *closed = malloc(nodes + 1);
    memset(closed, true, nodes + 1);
    double best = INFINITY;
    for (int round = 0; round < 3; round++) {
        clock_t begun = clock();
        assert_int_equal(pythia__belief_create(b.type, &b.belief), PYTHIA_OK);
        assert_int_equal(pythia__gain_choose(&b.belief, closed, 0, NULL, 3, b.picks, &b.count),
                         PYTHIA_OK);
        best = fmin(best, (double)(clock() - begun) / CLOCKS_PER_SEC);
        /* All alike, and what is around a point is half before it and half behind: a third of the
         * chain before, in and behind is the most that there is, log2(3) bits. */
        assert_int_equal(b.count, 3);
        assert_rel_equal(b.picks[0].bits, log2(3), 1e-6);
        pythia__belief_free(&b.belief);
    }
    free(closed);
    end(&b);
    return best;
}

static void a_chain_of_100000_calls_takes_linear_time_and_no_stack(void **state)
{
    double small = time_of_chain(20000), large = time_of_chain(100000);
    /* five times as long, and four times that for caches */
    check_time(large <= 5 * 4 * small + .01, "%g s for 20000 nodes, %g s for 100000", small, large);
}

static void a_failed_allocation_is_told(void **state)
{
    struct bench b;
    begin(&b);
    plant(&b, SEVEN, 2);
    believe(&b, leaves);
    long failures = 0;
    for (;; failures++) {
        pythia_mem_fail_after(failures);
        int status = pythia__gain_choose(&b.belief, b.closed, 0, NULL, 8, b.picks, &b.count);
        pythia_mem_fail_after(-1);
        if (status == PYTHIA_OK)
            break;
        assert_int_equal(status, PYTHIA_ENOMEM);
        assert_int_equal(b.count, 0);
    }
    assert_int_equal(failures, 11); /* arrays */
    assert_picks(&b, "B D F");
    end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_point_that_halves_the_mass_is_chosen_first),
        cmocka_unit_test(what_is_passed_once_has_a_before_and_an_after),
        cmocka_unit_test(the_price_of_calls_counts),
        cmocka_unit_test(a_point_may_have_a_price_of_its_own),
        cmocka_unit_test(of_equals_the_smaller_id_is_chosen),
        cmocka_unit_test(only_closed_points_are_chosen),
        cmocka_unit_test(flags_of_points_that_are_not_in_the_tree_are_not_read),
        cmocka_unit_test(nested_contexts_of_a_point_are_not_counted_twice),
        cmocka_unit_test(a_point_parts_each_region_by_itself),
        cmocka_unit_test(a_chain_of_100000_calls_takes_linear_time_and_no_stack),
        cmocka_unit_test(a_failed_allocation_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
