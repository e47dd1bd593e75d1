#include "requests.h"
#include "strategy/belief.h"

/* A search space from requests with everything open, and requests that are seen with a few trace
 * points open, ranked. */
struct bench {
    struct requests all, seen;
    struct pythia_space *space;
    uint32_t type;
    struct pythia__belief belief;
    struct pythia__region_map map;
    struct pythia_ranking ranking;
};

static void begin(struct bench *b, const char *profile)
{
    *b = (struct bench){.type = 0};
    requests_begin(&b->all);
    b->type = requests_string(&b->all, "t");
    assert_int_equal(pythia_space_create(b->all.vocabulary, &b->space), PYTHIA_OK);
    const struct pythia_trace *trace = requests_trace(&b->all, 0, profile);
    assert_int_equal(pythia_space_add(b->space, b->type, trace, requests_path(&b->all, trace)),
                     PYTHIA_OK);
    assert_int_equal(pythia__belief_create(pythia_space_type(b->space, b->type), &b->belief),
                     PYTHIA_OK);
}

static void forget(struct bench *b)
{
    pythia__region_map_free(&b->map);
    pythia_ranking_free(&b->ranking);
    if (b->seen.vocabulary) {
        b->seen.vocabulary = NULL; /* one for both */
        requests_end(&b->seen);
    }
    b->seen = (struct requests){0};
}

static void end(struct bench *b)
{
    forget(b);
    pythia__belief_free(&b->belief);
    pythia_space_destroy(b->space);
    requests_end(&b->all);
}

/* Rank 40 requests that are seen with these points open: `format` takes two numbers that vary
 * without regard to each other, 0 to 7 times `first` and 0 to 4 times `second`. */
static void look(struct bench *b, const char *open, const char *format, int first, int second)
{
    size_t count;
    forget(b);
    b->seen.vocabulary = b->all.vocabulary;
    requests_open(&b->seen, open);
    requests_group(&b->seen, &(struct pythia_groups_options){.fold = true});
    for (int i = 0; i < 40; i++) {
        char text[256];
        snprintf(text, sizeof(text), format, 100 + first * (i % 8), 100 + second * (i / 8));
        requests_add_as(&b->seen, (uint64_t)i, text);
    }
    const struct pythia_type *types = requests_finish(&b->seen, &count);
    assert_int_equal(count, 1);
    const struct pythia_row **rows = requests_rows(types, &count);
    const struct pythia_rank_options how = {.level = .95, .alpha = .05, .seed = 1};
    const struct pythia_cct *cct = pythia_groups_cct(b->seen.groups);
    assert_int_equal(pythia_rank(rows, count, cct, &how, &b->ranking), PYTHIA_OK);
    assert_int_equal(
        pythia__region_map_create(pythia_space_type(b->space, b->type), cct, b->seen.open, &b->map),
        PYTHIA_OK);
    free(rows);
}

static void update(struct bench *b, const bool *explained)
{
    assert_int_equal(pythia__belief_update(&b->belief, &b->map, &b->ranking, explained, 1, NULL),
                     PYTHIA_OK);
}

static double mass(const struct bench *b, const char *chain)
{
    return b->belief.mass[requests_node(b->belief.type->cct, chain)];
}

static void assert_whole(const struct bench *b)
{
    double sum = 0;
    for (uint32_t node = 1; node < b->belief.nodes; node++) {
        assert_true(b->belief.mass[node] > 0 && b->belief.mass[node] <= 1);
        sum += b->belief.mass[node];
    }
    assert_rel_equal(sum, 1, 1e-12);
}

static const char *edge_of(const struct bench *b, uint32_t region)
{
    return requests_edge(pythia_groups_cct(b->seen.groups), b->belief.regions[region].edge);
}

/* 150 ns: 60 in A, 60 in B and 30 in C. */
#define THREE "A{10 B{20 C{30} 40} 50}"

static void half_of_the_prior_is_even_and_half_goes_with_time(void **state)
{
    struct bench b;
    begin(&b, THREE);
    assert_whole(&b);
    assert_rel_equal(mass(&b, "A"), .5 / 3 + .5 * 60 / 150, 1e-12);
    assert_rel_equal(mass(&b, "A/B"), .5 / 3 + .5 * 60 / 150, 1e-12);
    assert_rel_equal(mass(&b, "A/B/C"), .5 / 3 + .5 * 30 / 150, 1e-12);
    end(&b);

    begin(&b, "A{10 ~K{5} 20}"); /* K is not on the path: a hundredth of an even part */
    assert_whole(&b);
    assert_rel_equal(mass(&b, "A/K") / mass(&b, "A"), (.5 * .01 / 2) / (.5 / 2 + .5), 1e-12);
    end(&b);

    begin(&b, "A{0}"); /* no time at all */
    assert_rel_equal(mass(&b, "A"), 1, 1e-12);
    end(&b);

    begin(&b, "A{30} 1000 B{30}"); /* what is between roots is in none of them */
    assert_rel_equal(mass(&b, "A"), .5, 1e-12);
    end(&b);
}

static void every_node_has_its_place_in_the_order_of_the_tree(void **state)
{
    struct bench b;
    begin(&b, "A{1 B{1 C{1}} D{1} B{1 E{1 B{1}}}}");
    const struct pythia_cct *cct = b.belief.type->cct;
    const char *order[] = {"", "A", "A/B", "A/B/C", "A/B/E", "A/B/E/B", "A/D"};
    const uint32_t behind[] = {7, 7, 6, 4, 6, 6, 7};
    assert_int_equal(b.belief.nodes, 7);
    for (uint32_t place = 0; place < 7; place++) {
        uint32_t node = requests_node(cct, order[place]);
        assert_int_equal(b.belief.place[node], place);
        assert_int_equal(b.belief.order[place], node);
        assert_int_equal(b.belief.behind[node], behind[place]);
        assert_int_equal(b.belief.nested[node], place == 5); /* in another B */
    }
    end(&b);
}

/* Only what is in B varies: all 40 bootstraps say so. A region that wins them all has 40.1 of 40.2
 * (a tenth of a vote for it, and one for what is not seen), and each of 4 nodes with the root has a
 * quarter of what is left. */
static void evidence_that_names_one_edge_concentrates_there(void **state)
{
    struct bench b;
    begin(&b, THREE);
    double a = mass(&b, "A"), in = mass(&b, "A/B"), c = mass(&b, "A/B/C");
    look(&b, "A B", "A{10 B{20 C{%d} 40} 50}", 10, 0);
    update(&b, NULL);
    assert_whole(&b);
    assert_int_equal(b.belief.region_count, 1);
    assert_string_equal(edge_of(&b, 0), "A/B: B -> /B");
    assert_rel_equal(b.belief.regions[0].share, 1, 1e-12);
    assert_rel_equal(b.belief.regions[0].probability, 40.1 / 40.2, 1e-12);
    double rest = .1 / 40.2 / 4, found = fmin(40.1 / 40.2, 1) + rest;
    double sum = a * rest + (in + c) * found;
    assert_rel_equal(mass(&b, "A"), a * rest / sum, 1e-9);
    assert_rel_equal(mass(&b, "A/B"), in * found / sum, 1e-9);
    assert_rel_equal(mass(&b, "A/B/C"), c * found / sum, 1e-9);
    assert_int_equal(b.belief.block[requests_node(b.belief.type->cct, "A/B/C")], 0);
    assert_int_equal(b.belief.block[requests_node(b.belief.type->cct, "A")], 1); /* in none */
    look(&b, "A B C", "A{10 B{20 C{%d} 40} 50}", 10, 0);                         /* and then in C */
    update(&b, NULL);
    assert_true(mass(&b, "A/B/C") > .99);
    end(&b);
}

/* The 60 ns of A are 10 before B and 50 behind it: five sixths of it lie where the variance is. */
static void a_node_counts_for_the_part_of_its_time_in_a_region(void **state)
{
    struct bench b;
    begin(&b, THREE);
    double a = mass(&b, "A"), others = mass(&b, "A/B") + mass(&b, "A/B/C");
    look(&b, "A B", "A{10 B{20 C{30} 40} %d}", 10, 0);
    update(&b, NULL);
    double rest = .1 / 40.2 / 4, found = 50 / 60. * 40.1 / 40.2 + rest;
    assert_rel_equal(mass(&b, "A"), a * found / (a * found + others * rest), 1e-9);
    end(&b);
}

/* Variances of 525 in C, and of 450, or of 128, behind B: six sevenths of it lead as well, a
 * quarter does not. */
static void an_edge_with_about_as_much_variance_leads_as_well(void **state)
{
    struct bench b;
    begin(&b, THREE);
    look(&b, "A B", "A{10 B{20 C{%d} 40} %d}", 10, 15);
    update(&b, NULL);
    assert_int_equal(b.belief.region_count, 2);
    assert_true(b.belief.regions[0].probability > .9 && b.belief.regions[1].probability > .9);
    pythia__belief_reset(&b.belief);
    look(&b, "A B", "A{10 B{20 C{%d} 40} %d}", 10, 8);
    update(&b, NULL);
    assert_int_equal(b.belief.region_count, 2);
    assert_string_equal(edge_of(&b, 0), "A/B: B -> /B");
    assert_true(b.belief.regions[0].probability > .9 && b.belief.regions[1].probability < .1);
    end(&b);
}

/* Before any evidence B and C are expected to lead by as much as they weigh; when it has been seen
 * that they do, that they do not is a surprise. */
static void it_is_known_how_much_the_evidence_was_expected(void **state)
{
    struct bench b;
    begin(&b, THREE);
    double prior = mass(&b, "A/B") + mass(&b, "A/B/C");
    look(&b, "A B", "A{10 B{20 C{%d} 40} 50}", 10, 0);
    update(&b, NULL);
    assert_rel_equal(b.belief.expected, prior * 40.1 / 40.2, 1e-9);
    update(&b, NULL);
    assert_true(b.belief.expected > .99);
    update(&b, NULL);
    look(&b, "A B", "A{10 B{20 C{30} 40} %d}", 10, 0);
    update(&b, NULL);
    assert_true(b.belief.expected < .001);
    end(&b);
}

static void what_was_saved_is_restored_and_a_reset_goes_back_to_the_prior(void **state)
{
    struct bench b;
    begin(&b, THREE);
    double prior = mass(&b, "A/B");
    look(&b, "A B", "A{10 B{20 C{%d} 40} 50}", 10, 0);
    update(&b, NULL);
    double once = mass(&b, "A/B");
    assert_true(once > prior);
    pythia__belief_save(&b.belief);
    look(&b, "A B", "A{10 B{20 C{30} 40} %d}", 10, 0);
    update(&b, NULL);
    assert_true(mass(&b, "A/B") < once);
    pythia__belief_restore(&b.belief);
    assert_rel_equal(mass(&b, "A/B"), once, 0);
    assert_whole(&b);
    pythia__belief_reset(&b.belief);
    assert_rel_equal(mass(&b, "A/B"), prior, 0);
    end(&b);
}

/* The space has seen C after B, and the time between the two passes where B comes last: it may be
 * A's own, or D's, which is closed. */
static void behind_what_was_never_seen_to_follow_is_all_that_the_context_has(void **state)
{
    struct bench b;
    begin(&b, "A{10 B{20} C{30} D{5} 40}");
    double a = mass(&b, "A"), d = mass(&b, "A/D");
    look(&b, "A B C", "A{10 C{30} %d B{20} 40}", 10, 0);
    update(&b, NULL);
    assert_string_equal(edge_of(&b, 0), "A: /C -> B");
    assert_rel_equal(mass(&b, "A") / mass(&b, "A/D"), a / d, 1e-9);
    assert_true(mass(&b, "A") + mass(&b, "A/D") > .99);
    end(&b);
}

/* B's variance is 100 times that of what comes behind it. */
static void explained_edges_are_taken_out(void **state)
{
    struct bench b;
    begin(&b, THREE);
    look(&b, "A B", "A{10 B{20 C{%d} 40} %d}", 100, 10);
    update(&b, NULL);
    assert_int_equal(b.belief.region_count, 2);
    assert_string_equal(edge_of(&b, 0), "A/B: B -> /B");
    assert_true(mass(&b, "A") < .01);
    bool explained[8] = {false};
    for (size_t e = 0; e < b.ranking.edge_count; e++)
        explained[e] = b.ranking.edges[e].edge == b.belief.regions[0].edge;
    pythia__belief_free(&b.belief);
    assert_int_equal(pythia__belief_create(pythia_space_type(b.space, b.type), &b.belief),
                     PYTHIA_OK);
    update(&b, explained);
    assert_int_equal(b.belief.region_count, 1);
    assert_string_equal(edge_of(&b, 0), "A: /B -> /A");
    assert_rel_equal(b.belief.regions[0].probability, 40.1 / 40.2, 1e-12); /* of what is left */
    assert_true(mass(&b, "A") > .99);
    end(&b);
}

static void without_an_edge_that_varies_nothing_is_learned(void **state)
{
    struct bench b;
    begin(&b, THREE);
    double before = mass(&b, "A/B/C");
    look(&b, "A B", "A{10 B{20 C{%d} 40} 50}", 0, 0);
    update(&b, NULL);
    assert_int_equal(b.belief.region_count, 0);
    assert_rel_equal(mass(&b, "A/B/C"), before, 0);
    end(&b);
}

/* However much evidence there was, a node is at most e^30 less probable than the best: six looks
 * at other evidence, each of which tells some e^7, turn it over. */
static void no_node_is_given_up_for_good(void **state)
{
    struct bench b;
    begin(&b, THREE);
    look(&b, "A B", "A{10 B{20 C{%d} 40} 50}", 10, 0);
    for (int i = 0; i < 100; i++)
        update(&b, NULL);
    assert_whole(&b);
    assert_rel_equal(mass(&b, "A") / mass(&b, "A/B"), exp(-30), 1e-9);
    look(&b, "A B", "A{10 B{20 C{30} 40} %d}", 10, 0);
    for (int i = 0; i < 6; i++)
        update(&b, NULL);
    assert_true(mass(&b, "A") > .99);
    end(&b);
}

static void the_same_evidence_gives_the_same_belief(void **state)
{
    struct bench a, b;
    begin(&a, THREE);
    begin(&b, THREE);
    look(&a, "A B", "A{10 B{20 C{%d} 40} %d}", 10, 12);
    look(&b, "A B", "A{10 B{20 C{%d} 40} %d}", 10, 12);
    update(&a, NULL);
    update(&b, NULL);
    for (uint32_t node = 1; node < a.belief.nodes; node++)
        assert_rel_equal(a.belief.mass[node], b.belief.mass[node], 0);
    end(&a);
    end(&b);
}

static void a_failed_allocation_leaves_the_belief_as_it_was(void **state)
{
    struct bench b;
    begin(&b, THREE);
    struct pythia__belief made = {0};
    long failures = 0;
    for (;; failures++) {
        pythia_mem_fail_after(failures);
        int status = pythia__belief_create(b.belief.type, &made);
        pythia_mem_fail_after(-1);
        if (status == PYTHIA_OK)
            break;
        assert_int_equal(status, PYTHIA_ENOMEM);
        assert_null(made.mass);
    }
    assert_int_equal(failures, 28); /* 10 arrays; for a while 16 for the order and 2 more */
    pythia__belief_free(&made);
    look(&b, "A B", "A{10 B{20 C{%d} 40} 50}", 10, 0);
    double before = mass(&b, "A/B/C");
    for (failures = 0;; failures++) {
        pythia_mem_fail_after(failures);
        int status = pythia__belief_update(&b.belief, &b.map, &b.ranking, NULL, 1, NULL);
        pythia_mem_fail_after(-1);
        if (status == PYTHIA_OK)
            break;
        assert_int_equal(status, PYTHIA_ENOMEM);
        assert_rel_equal(mass(&b, "A/B/C"), before, 0);
    }
    assert_int_equal(failures, 6);
    assert_true(mass(&b, "A") < .01);
    end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(half_of_the_prior_is_even_and_half_goes_with_time),
        cmocka_unit_test(every_node_has_its_place_in_the_order_of_the_tree),
        cmocka_unit_test(evidence_that_names_one_edge_concentrates_there),
        cmocka_unit_test(a_node_counts_for_the_part_of_its_time_in_a_region),
        cmocka_unit_test(an_edge_with_about_as_much_variance_leads_as_well),
        cmocka_unit_test(it_is_known_how_much_the_evidence_was_expected),
        cmocka_unit_test(what_was_saved_is_restored_and_a_reset_goes_back_to_the_prior),
        cmocka_unit_test(behind_what_was_never_seen_to_follow_is_all_that_the_context_has),
        cmocka_unit_test(explained_edges_are_taken_out),
        cmocka_unit_test(without_an_edge_that_varies_nothing_is_learned),
        cmocka_unit_test(no_node_is_given_up_for_good),
        cmocka_unit_test(the_same_evidence_gives_the_same_belief),
        cmocka_unit_test(a_failed_allocation_leaves_the_belief_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
