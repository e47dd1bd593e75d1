#include <time.h>

#include "pythia/history.h"
#include "space/region.h"
#include "suggestions.h"
#include "timed.h"

/* The rows of the table other than the first, and what holds for all of them. What hierarchical
 * does is mostly in test_strategy.c. */

static void use(struct bench *b, const char *strategy)
{
    b->strategy = strategy;
}

/* What was suggested, best first, with blanks between. */
static const char *found(const struct bench *b)
{
    static char text[1024];
    text[0] = '\0';
    for (size_t i = 0; i < b->count; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i ? " " : "",
                 id_of(b, &b->found[i]));
    return text;
}

static void assert_suggested(struct bench *b, size_t budget, const char *ids)
{
    suggest(b, budget);
    assert_string_equal(found(b), ids);
}

/* Requests are known as `known` says, and A varies. */
static void begin_known(struct bench *b, const char *strategy, const char *known)
{
    begin(b);
    use(b, strategy);
    profile(b, known);
    see_a(b);
}

static void the_table_lists_all_names(void **state)
{
    static const char *const names[] = {"information-gain", "hierarchical", "flat",
                                        "binary",           "historic",     "covariance",
                                        "thompson",         "random",       "all"};
    size_t count;
    const struct pythia_strategy *const *all = pythia_strategies(&count);
    assert_int_equal(count, sizeof(names) / sizeof(names[0]));
    for (size_t i = 0; i < count; i++)
        assert_string_equal(all[i]->name, names[i]);
    assert_string_equal(PYTHIA_STRATEGY_FIRST, names[0]);
    assert_string_equal(
        PYTHIA_STRATEGY_CHOICES,
        "information-gain|hierarchical|flat|binary|historic|covariance|thompson|random|all");
}

/* ---- hierarchical ---- */

static void of_equal_children_the_middle_one_is_picked(void **state)
{
    struct bench b;
    begin_known(&b, "hierarchical", "A{1 d{100} 1 e{100} 1 b{100} 1 a{100} 1 c{100} 1}");
    assert_suggested(&b, 1, "b"); /* of d e b a c */
    assert_suggested(&b, 1, "b");
    assert_suggested(&b, WANTED, "b e a d c"); /* of two at one distance the earlier one */
    end(&b);
    begin_known(&b, "hierarchical", "A{d{100} c{100} b{100} a{100}}");
    assert_suggested(&b, WANTED, "c b d a");
    end(&b);
    begin_known(&b, "hierarchical", "A{1 d{100} 1 e{100} 1 b{99} 1 a{100} 1 c{101} 1}");
    assert_suggested(&b, WANTED, "c e a d b"); /* when they are not equal, time counts */
    end(&b);
    begin_known(&b, "hierarchical", "A{e{100} e{0} d{100} c{100} b{100} a{100}}");
    assert_suggested(&b, WANTED, "c d b a e"); /* and when they are, what it costs */
    end(&b);
}

static void children_outside_of_source_and_target_are_never_chosen(void **state)
{
    static const struct {
        const char *open, *found;
    } cases[] = {{"A S T", "c3 c2 c4 c1 c5"}, /* c2, what varies, is among them */
                 {"A S T c3", "c1 c2"},       /* what is open is not; and now it is the target */
                 {"A S T c2", ""}};           /* inside it there is nothing */
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bench b;
        begin(&b);
        requests_open(&b.seen, cases[i].open);
        profile(&b, "A{1 x{100} S{5} c1{100} c2{100} c3{100} c4{100} c5{100} T{5 z{7}} y{100}}");
        for (int ns = 1000; ns < 5000; ns += 100)
            requests_add(&b.seen,
                         "A{1 x{100} S{5} c1{100} c2{%d} c3{100} c4{100} c5{100} T{5} y{100}}", ns);
        assert_suggested(&b, WANTED, cases[i].found);
        end(&b);
    }
}

/* Most of it is inside B, where only X is closed; the rest in A, which B is called from. */
static void an_exhausted_level_leaves_room_for_the_next_edge(void **state)
{
    struct bench b;
    char text[256];
    begin(&b);
    requests_open(&b.seen, "A B");
    for (uint64_t i = 0; i < 40; i++) {
        snprintf(text, sizeof(text), "A{B{10 X{%d}} 5 Y{%d}}", 1000 + 300 * (int)(i * 7 % 40),
                 1000 + 100 * (int)i);
        add(&b, i, text, 0);
    }
    assert_suggested(&b, 1, "X");
    assert_suggested(&b, 2, "X Y");
    assert_string_equal(edge_of(&b, &b.found[0]), "A/B: B -> /B");
    assert_string_equal(edge_of(&b, &b.found[1]), "A: /B -> /A");
    end(&b);
}

/* ---- flat ---- */

static void the_row_is_split_evenly(void **state)
{
    struct bench b;
    begin_known(&b, "flat", "A{1 g{5} 1 f{90} 1 e{5} 1 d{5} 1 c{5} 1 b{5} 1 a{5} 1}");
    assert_suggested(&b, 3, "f d b"); /* positions 2, 4 and 6 of 7 */
    assert_string_equal(b.found[2].reason,
                        "100 % of the variance lies inside A; b is number 6 of the 7 closed points "
                        "there, in profile order");
    assert_found(&b, 0, "f", 90 / 128., 1);
    assert_suggested(&b, 0, "");
    assert_suggested(&b, 1, "d");
    assert_suggested(&b, 2, "f c"); /* 8/3 and 16/3 */
    assert_suggested(&b, 6, "g f e d c b");
    assert_suggested(&b, 7, "g f e d c b a");
    assert_suggested(&b, WANTED, "g f e d c b a");
    end(&b);
}

static void flat_goes_along_the_most_frequent_order(void **state)
{
    struct bench b;
    begin(&b);
    use(&b, "flat");
    for (int i = 0; i < 5; i++) /* x is passed three times, y twice; what is in x counts, too */
        profile(&b, i % 2 ? "A{1 p{10} y{70} q{10}}" : "A{1 p{10} x{30 z{40}} q{10}}");
    see_a(&b);
    assert_suggested(&b, WANTED, "p x z q");
    assert_suggested(&b, 1, "x");
    end(&b);
    begin_known(&b, "flat", "A{1 r{1 p{10} q{10} p{10} q{10} p{10} q{10}} s{1}}");
    assert_suggested(&b, WANTED, "r p q s"); /* of a loop one round */
    end(&b);
    begin(&b); /* two ways, equally frequent: by name */
    use(&b, "flat");
    profile(&b, "A{1 y{10}}");
    profile(&b, "A{1 x{10}}");
    see_a(&b);
    assert_suggested(&b, WANTED, "x");
    end(&b);
    begin(&b); /* what is open ends the row */
    use(&b, "flat");
    requests_open(&b.seen, "A B");
    add_forty(&b, "A{p{10} q{%d} B{5 r{5}} s{5}}");
    assert_suggested(&b, WANTED, "p q");
    end(&b);
}

/* B varies most, C next; what is left of the budget goes there. db is in both, and found once. */
static void flat_spends_the_rest_on_the_next_edge(void **state)
{
    struct bench b;
    char text[256];
    begin(&b);
    use(&b, "flat");
    requests_open(&b.seen, "A B C");
    for (uint64_t i = 0; i < 40; i++) {
        snprintf(text, sizeof(text), "A{B{10 p{5} db{%d}} C{5 q{5} db{%d} r{1} s{1}}}",
                 1000 + 300 * (int)(i * 7 % 40), 1000 + 100 * (int)i);
        add(&b, i, text, 0);
    }
    assert_suggested(&b, 1, "p");
    assert_suggested(&b, 2, "p db");
    assert_suggested(&b, 3, "p db r"); /* the middle of q r s */
    assert_suggested(&b, 4, "p db q r");
    assert_suggested(&b, WANTED, "p db q r s");
    end(&b);
}

/* ---- binary ---- */

static void binary_halves_the_time(void **state)
{
    struct bench b;
    /* Of 1000 ns: u has 900, v in it 600, w in that 100. First v leaves 600 and 400. Then u would
     * take 300 of the 400 and w 100 of the 600: both leave 100, and u takes more. */
    begin_known(&b, "binary", "A{50 u{150 v{250 w{100} 250} 150} 50}");
    assert_suggested(&b, 1, "v");
    assert_found(&b, 0, "v", .6, 1);
    assert_string_equal(b.found[0].reason, "100 % of the variance lies inside A; v divides the "
                                           "time there most evenly: 60 % of it was spent in "
                                           "the point");
    assert_suggested(&b, 2, "v u");
    assert_suggested(&b, WANTED, "v u w");
    assert_suggested(&b, 0, "");
    end(&b);
    /* db is opened in both contexts: half of all. x, which would take 300, is then left with 50. */
    begin_known(&b, "binary", "A{200 x{50 db{250}} y{100 db{250}} z{110} 40}");
    assert_suggested(&b, WANTED, "db z y x");
    end(&b);
    /* What is called in itself is cut at all there is. */
    begin_known(&b, "binary", "A{x{10 x{10 x{70}}} y{10}}");
    assert_suggested(&b, WANTED, "y x");
    end(&b);
    begin_known(&b, "binary", "A{x{10 x{90}} z{0}}"); /* neither halves: the one with the time */
    assert_suggested(&b, WANTED, "x z");
    end(&b);
}

/* ---- covariance ---- */

/* Own times: A 10, u 300, v 100, and w 200 in half of the requests: 100 on average, and
 * 2 / (1/2) - 1 = 3 times the square of it. */
static void covariance_counts_squares_and_absence(void **state)
{
    struct bench b;
    double all = 100 + 90000 + 10000 + 30000;
    begin(&b);
    use(&b, "covariance");
    profile(&b, "A{10 u{300} v{100} w{200}}");
    profile(&b, "A{10 u{300} v{100}}");
    see_a(&b);
    assert_suggested(&b, WANTED, "u w v");
    assert_found(&b, 0, "u", 90000 / all, 1);
    assert_found(&b, 1, "w", 30000 / all, .5);
    assert_found(&b, 2, "v", 10000 / all, 1);
    assert_string_equal(b.found[0].reason,
                        "100 % of the variance lies inside A; by times and calls in the search "
                        "space, 69 % of it is expected to arise in u");
    end(&b);
    begin_known(&b, "covariance", "A{u{100 v{800} 100}}"); /* its own: 200 */
    assert_suggested(&b, WANTED, "v u");
    assert_found(&b, 0, "v", 64. / 68, 1);
    end(&b);
}

/* ---- all ---- */

static void all_takes_everything_cheapest_first(void **state)
{
    struct bench b;
    begin(&b);
    use(&b, "all");
    requests_open(&b.seen, "A B");
    add_forty(&b, "A{1 x{5} x{5} x{5} B{z{%d} y{1} y{1} z{0} z{0} z{0}} w{5}}");
    assert_suggested(&b, WANTED, "w y x z");
    assert_found(&b, 0, "w", 0, 1); /* it is not where it varies */
    assert_found(&b, 3, "z", 2950 / 2952., 4);
    assert_string_equal(b.found[0].reason, "100 % of the variance lies inside B; every "
                                           "closed point is opened, the cheapest first: w");
    assert_suggested(&b, 2, "w y");
    end(&b);
}

/* ---- chance ---- */

static void random_draws_each_as_often_as_another(void **state)
{
    enum { DRAWS = 2000 };
    struct bench b;
    int first[5] = {0}, changes = 0;
    begin_known(&b, "random", "A{a{1 b{900}} c{1} d{1 e{1}}}");
    for (b.cycle = 0; b.cycle < DRAWS; b.cycle++) {
        suggest(&b, 2);
        assert_int_equal(b.count, 2);
        char one = id_of(&b, &b.found[0])[0], two = id_of(&b, &b.found[1])[0];
        assert_true(one >= 'a' && one <= 'e' && two >= 'a' && two <= 'e' && one != two);
        first[one - 'a']++;
        suggest(&b, 2); /* the same again */
        assert_int_equal(id_of(&b, &b.found[0])[0], one);
        b.seed++; /* and another for another seed */
        suggest(&b, 2);
        changes += id_of(&b, &b.found[0])[0] != one;
        b.seed--;
    }
    for (int i = 0; i < 5; i++) /* 400, sd 18 */
        assert_in_range(first[i], 310, 490);
    assert_in_range(changes, 1510, 1690); /* 4 of 5 */
    b.cycle = 0;
    suggest(&b, WANTED);
    assert_int_equal(b.count, 5);
    assert_non_null(
        strstr(b.found[0].reason, " was drawn at random from the closed points there: 5"));
    end(&b);
}

static struct pythia_history *make_history(void)
{
    struct pythia_history *h = NULL;
    assert_int_equal(pythia_history_create(&h), PYTHIA_OK);
    return h;
}

static void record(struct pythia_history *h, const char *id, uint64_t opened, uint64_t explained,
                   uint64_t localised)
{
    struct pythia_history_record r = {opened, explained * PYTHIA_HISTORY_PPB, localised};
    assert_int_equal(pythia_history_add_record(h, pythia_text_of(id), &r), PYTHIA_OK);
}

/* How often x comes before y. */
static int wins_of_x(struct bench *b, int draws)
{
    int wins = 0;
    for (b->cycle = 0; b->cycle < (uint64_t)draws; b->cycle++) {
        suggest(b, 1);
        wins += strcmp(found(b), "x") == 0;
    }
    return wins;
}

/* x explained 3 of the 4 times it was opened: its chance to be above a uniform number is the mean
 * of Beta(4, 2), 2/3. */
static void thompson_draws_from_the_posterior(void **state)
{
    struct bench b;
    struct pythia_history *h = make_history();
    begin_known(&b, "thompson", "A{x{10} y{90}}");
    assert_in_range(wins_of_x(&b, 3000), 1500 - 137, 1500 + 137); /* nothing is known: 5 sd */
    b.history = h;
    record(h, "x", 4, 3, 0);
    assert_in_range(wins_of_x(&b, 3000), 2000 - 130, 2000 + 130);
    record(h, "x", 996, 897, 0);
    record(h, "y", 1000, 100, 0);
    assert_int_equal(wins_of_x(&b, 300), 300);
    assert_string_equal(b.found[0].reason, "100 % of the variance lies inside A; x explained 90 % "
                                           "on average, opened before: 1000");
    record(h, "x", 1000000, 0, 0); /* the same: what no longer explains is tried less */
    assert_int_equal(wins_of_x(&b, 300), 0);
    suggest(&b, WANTED);
    assert_int_equal(b.count, 2);
    assert_true(b.found[0].gain == .9); /* of what is expected, not of what was drawn */
    end(&b);
    pythia_history_destroy(h);
}

/* ---- historic ---- */

static void historic_takes_what_was_the_cause_before(void **state)
{
    struct bench b;
    struct pythia_history *h = make_history();
    const char *known = "A{a{500 b{10}} c{300 d{20 e{5}}} f{1}}";
    begin_known(&b, "hierarchical", known);
    assert_suggested(&b, WANTED, "a c f");
    use(&b, "historic"); /* nothing is recorded: the same */
    assert_suggested(&b, WANTED, "a c f");
    b.history = h;
    assert_suggested(&b, WANTED, "a c f");
    record(h, "e", 1, 0, 1);     /* 1 of 1 and one more: 1/2 */
    record(h, "d", 10, 0, 9);    /* 9/11 */
    record(h, "f", 100, 0, 5);   /* 5/101 */
    record(h, "b", 100, 100, 0); /* never the cause */
    record(h, "A", 9, 9, 9);     /* open */
    record(h, "g", 9, 9, 9);     /* not here */
    assert_suggested(&b, WANTED, "d e f a c");
    assert_suggested(&b, 1, "d");
    assert_string_equal(b.found[0].reason, "100 % of the variance lies inside A; d was the cause 9 "
                                           "of the 10 times it was opened before");
    assert_suggested(&b, 4, "d e f a");
    assert_non_null(strstr(b.found[3].reason, "of the time there was spent in a when it was open"));
    end(&b);
    pythia_history_destroy(h);
}

/* ---- what holds for all ---- */

static const struct pythia_strategy *nth(size_t i, size_t *count)
{
    return pythia_strategies(count)[i];
}

/* Is a span of a closed context of that point in the region of that edge? */
static bool is_in_region(struct bench *b, const struct pythia_suggestion *s)
{
    const struct pythia_diagnosis *d = b->diagnosis;
    const struct pythia_space_type *t =
        pythia_space_type(b->space, d->types[d->groups[s->group].type].type->name);
    const struct pythia_cct *seen = pythia_groups_cct(b->seen.groups);
    struct pythia__region_map m;
    bool in = false;
    assert_int_equal(pythia__region_map_create(t, seen, b->seen.open, &m), PYTHIA_OK);
    pythia__region_find(&m, pythia_cct_edge_at(seen, s->edge));
    for (uint32_t node = 1; node < pythia_cct_nodes(t->cct); node++)
        in = in ||
             (pythia_cct_tracepoint(t->cct, node) == s->tracepoint && pythia__region_has(&m, node));
    pythia__region_map_free(&m);
    return in;
}

static void check_each(struct bench *b, size_t budget)
{
    bool everywhere = strcmp(b->strategy, "all") == 0;
    assert_true(b->count <= budget);
    for (size_t i = 0; i < b->count; i++) {
        const struct pythia_suggestion *s = &b->found[i];
        assert_false(pythia_open_points_has(b->seen.open, s->tracepoint));
        assert_true(s->gain >= 0 && s->gain <= 1 && s->cost_ns > 0);
        assert_non_null(strstr(s->reason, id_of(b, s)));
        assert_true(everywhere || is_in_region(b, s));
        for (size_t k = 0; k < i; k++)
            assert_int_not_equal(s->tracepoint, b->found[k].tracepoint);
    }
}

static void write_all(struct bench *b, struct pythia_buf *to)
{
    for (size_t i = 0; i < b->count; i++)
        pythia_buf_printf(to, "%s %a %a [%s]: %s\n", id_of(b, &b->found[i]), b->found[i].gain,
                          b->found[i].cost_ns, edge_of(b, &b->found[i]), b->found[i].reason);
    pythia_buf_putc(to, '\0');
}

/* The same 60 requests by chance, known and seen in some order: what each strategy suggests, for
 * several budgets, as text. */
static size_t run_all(char (*texts)[4096], struct pythia_random *shuffle,
                      const struct pythia_history *h, struct pythia_buf *to)
{
    static const size_t budgets[] = {0, 1, 3, WANTED};
    struct bench b;
    size_t order[60], strategies, all = 0;
    begin(&b);
    b.history = h;
    b.seed = 7;
    for (size_t i = 0; i < 60; i++)
        order[i] = i;
    if (shuffle)
        pythia_random_shuffle(shuffle, order, 60);
    requests_open(&b.seen, "A C E G K");
    for (size_t i = 0; i < 60; i++)
        profile(&b, texts[order[i]]);
    if (shuffle)
        pythia_random_shuffle(shuffle, order, 60);
    for (size_t i = 0; i < 60; i++)
        requests_add_as(&b.seen, order[i], texts[order[i]]);
    nth(0, &strategies);
    for (size_t s = 0; s < strategies; s++)
        for (size_t k = 0; k < sizeof(budgets) / sizeof(budgets[0]); k++) {
            use(&b, nth(s, &strategies)->name);
            suggest(&b, budgets[k]);
            check_each(&b, budgets[k]);
            write_all(&b, to);
            all += b.count;
        }
    end(&b);
    return all;
}

static void no_strategy_depends_on_any_order(void **state)
{
    static char texts[60][4096];
    struct pythia_random random;
    struct pythia_history *h = make_history();
    size_t all = 0;
    record(h, "D", 5, 1, 1);
    record(h, "F", 5, 3, 3);
    record(h, "H", 2, 2, 0);
    pythia_random_init(&random, 2);
    for (int round = 0; round < 4; round++) {
        struct pythia_buf first = {0};
        for (int i = 0; i < 60; i++) {
            strcpy(texts[i], "A{");
            put_random(&random, texts[i], sizeof(texts[i]) - 64, 0);
            strcat(texts[i], "}");
        }
        all += run_all(texts, NULL, h, &first);
        for (int run = 0; run < 3; run++) {
            struct pythia_buf other = {0};
            run_all(texts, &random, h, &other);
            assert_int_equal(other.size, first.size);
            assert_memory_equal(other.bytes, first.bytes, first.size);
            pythia_buf_free(&other);
        }
        pythia_buf_free(&first);
    }
    pythia_history_destroy(h);
    assert_true(all > 300); /* or nothing would have been compared */
}

static void with_everything_open_all_say_the_same(void **state)
{
    struct bench b;
    size_t strategies;
    begin(&b);
    add_forty(&b, "A{10 B{10} B{10} B{10} %d C{10} 10}");
    nth(0, &strategies);
    for (size_t s = 0; s < strategies; s++) {
        use(&b, nth(s, &strategies)->name);
        assert_suggested(&b, WANTED, "C B");
        assert_suggested(&b, 1, "C");
        assert_non_null(strstr(b.found[0].reason, ", and this point bounds it"));
    }
    end(&b);
}

static void each_failed_allocation_leaves_nothing(void **state)
{
    struct bench b;
    size_t strategies;
    struct pythia_history *h = make_history();
    record(h, "Y", 2, 1, 1);
    begin(&b);
    b.history = h;
    requests_open(&b.seen, "A Q");
    add_forty(&b, "A{100 X{%d} 100 Y{50 Z{5}}}");
    nth(0, &strategies);
    for (size_t s = 0; s < strategies; s++) {
        use(&b, nth(s, &strategies)->name);
        suggest(&b, 2);
        assert_int_equal(b.count, 2);
        long failures = 0;
        for (;; failures++) {
            pythia_mem_fail_after(failures);
            int status = try_suggest(&b, 2, NULL);
            pythia_mem_fail_after(-1);
            if (status == PYTHIA_OK)
                break;
            assert_int_equal(status, PYTHIA_ENOMEM);
            assert_int_equal(b.count, 0);
        }
        assert_true(failures > 15);
        assert_int_equal(b.count, 2);
    }
    end(&b);
    pythia_history_destroy(h);
}

/* ---- large ---- */

enum shape { WIDE, ROW, DEEP, HUB, SHAPES };

/* A calls `many` points: each by itself, one after the other, each in the one before, or always
 * through one that leads to all of them and back. */
static void make_large(struct bench *b, enum shape shape, uint32_t many)
{
    struct pythia_space_type *t = hand_made(b);
    uint32_t a = point(b, "A", -1), in_a, at, node, before = PYTHIA_NONE;
    pythia_space_node_make(t, PYTHIA_CCT_ROOT, a, &in_a)->calls = 1;
    t->requests = 1;
    at = in_a;
    for (uint32_t i = 0; i < many; i++) {
        uint32_t x = point(b, "x", (int)i), above = shape == DEEP && i ? before : a;
        pythia_space_node_make(t, at, x, &node)->calls = 1 + i % 3;
        if (shape == ROW && i)
            connect(t, (struct pythia_edge){in_a, before, x, END, START}, 0);
        else if (shape == HUB && i)
            connect(t, (struct pythia_edge){in_a, point(b, "x", 0), x, END, START}, 0);
        else
            connect(t, (struct pythia_edge){at, above, x, START, START}, 1);
        if (shape == HUB && i)
            connect(t, (struct pythia_edge){in_a, x, point(b, "x", 0), END, START}, 0);
        connect(t, (struct pythia_edge){node, x, x, START, END}, 10 + i % 7);
        if (shape == DEEP || shape == WIDE || (shape == HUB && i == 0))
            connect(t, (struct pythia_edge){at, x, above, END, END}, 1);
        at = shape == DEEP ? node : in_a;
        before = x;
    }
    if (shape == ROW)
        connect(t, (struct pythia_edge){in_a, before, a, END, END}, 0);
}

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The shortest of three. */
static double time_of(struct bench *b, size_t budget)
{
    double best = INFINITY;
    for (int i = 0; i < 3; i++) {
        double begin_s = cpu_seconds();
        suggest(b, budget);
        best = fmin(best, cpu_seconds() - begin_s);
        assert_true(b->count > 0 && b->count <= budget);
    }
    return best;
}

/* Ten times the points take ten times the time, or somewhat more where they are sorted; each with
 * each would be a hundred times. */
static void a_hundred_thousand_points_take_no_more_than_their_share(void **state)
{
    enum { FEW = 10000, MANY = 100000 };
    for (enum shape shape = WIDE; shape < SHAPES; shape++) {
        struct bench small, large;
        size_t strategies;
        begin(&small);
        see_a(&small);
        make_large(&small, shape, FEW);
        begin(&large);
        see_a(&large);
        make_large(&large, shape, MANY);
        nth(0, &strategies);
        for (size_t s = 0; s < strategies; s++) {
            use(&small, nth(s, &strategies)->name);
            use(&large, nth(s, &strategies)->name);
            double few = time_of(&small, 5), many = time_of(&large, 5);
            check_time(many < 60 * few, "%s: %g s for %d points, %g s for %d",
                       nth(s, &strategies)->name, few, FEW, many, MANY);
        }
        end(&small);
        end(&large);
    }
}

/* All of A is one call of X, by the search space: only X itself can show that, and so each strategy
 * suggests it. */
static void what_fills_a_gap_alone_is_suggested_by_all_that_look_at_gaps(void **state)
{
    static const char *const names[] = {"information-gain", "hierarchical", "flat", "all"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct bench b;
        begin_known(&b, names[i], "A{x{1000}}");
        assert_suggested(&b, WANTED, "x");
        assert_true(b.found[0].gain > .8);
        end(&b);
        begin_known(&b, names[i], "A{x{1000}}"); /* pinned shut: nothing is left */
        assert_int_equal(pythia_open_points_create(b.all.vocabulary, &b.never), PYTHIA_OK);
        assert_int_equal(pythia_open_points_add(b.never, PYTHIA_TEXT("x")), PYTHIA_OK);
        assert_suggested(&b, WANTED, "");
        pythia_open_points_destroy(b.never);
        end(&b);
    }
}

/* ---- pins and prices ---- */

static void set_price(struct bench *b, const char *id, double ns)
{
    if (!b->prices)
        assert_int_equal(pythia_prices_create(b->all.vocabulary, &b->prices), PYTHIA_OK);
    assert_int_equal(pythia_prices_set(b->prices, pythia_text_of(id), ns), PYTHIA_OK);
}

static void no_strategy_suggests_what_is_pinned_shut(void **state)
{
    size_t count;
    const struct pythia_strategy *const *all = pythia_strategies(&count);
    for (size_t i = 0; i < count; i++) {
        struct bench b;
        begin_known(&b, all[i]->name, "A{1 a{100} 1 b{400} 1 c{200} 1}");
        suggest(&b, WANTED);
        assert_non_null(strstr(found(&b), "b"));
        size_t before = b.count;
        assert_int_equal(pythia_open_points_create(b.all.vocabulary, &b.never), PYTHIA_OK);
        assert_int_equal(pythia_open_points_add(b.never, PYTHIA_TEXT("[bx]")), PYTHIA_OK);
        suggest(&b, WANTED);
        assert_null(strstr(found(&b), "b"));
        assert_true(b.count > 0 && b.count + 1 >= before); /* and it takes nobody else's place */
        pythia_open_points_destroy(b.never);
        end(&b);
    }
}

/* P would be first; it is as if it were not there, and what is called from it is as near as C. */
static void what_is_called_from_a_pinned_point_is_reached_past_it(void **state)
{
    struct bench b;
    begin_known(&b, "hierarchical", "A{1 P{5 Q{300 R{5}} 5} 1 C{100} 1}");
    assert_suggested(&b, WANTED, "P C");
    assert_int_equal(pythia_open_points_create(b.all.vocabulary, &b.never), PYTHIA_OK);
    assert_int_equal(pythia_open_points_add(b.never, PYTHIA_TEXT("P")), PYTHIA_OK);
    assert_suggested(&b, WANTED, "Q C");
    pythia_open_points_destroy(b.never);
    end(&b);
}

static void what_a_point_costs_is_its_calls_at_its_own_price(void **state)
{
    size_t count;
    const struct pythia_strategy *const *all = pythia_strategies(&count);
    for (size_t i = 0; i < count; i++) {
        struct bench b;
        begin_known(&b, all[i]->name, "A{1 a{100} 1 a{100} 1 b{400} 1 c{200} 1}");
        set_price(&b, "a", 250);
        suggest(&b, WANTED);
        for (size_t k = 0; k < b.count; k++)
            assert_rel_equal(b.found[k].cost_ns,
                             strcmp(id_of(&b, &b.found[k]), "a") == 0 ? 500 : PRICE, 0);
        pythia_prices_destroy(b.prices);
        end(&b);
    }
}

static void of_what_is_worth_the_same_the_cheaper_comes_first(void **state)
{
    struct bench b;
    begin_known(&b, "hierarchical", "A{1 a{100} 1 b{100} 1 c{100} 1}");
    assert_suggested(&b, 1, "b");
    set_price(&b, "c", 1);
    set_price(&b, "b", 5000);
    assert_suggested(&b, WANTED, "c a b");
    use(&b, "all");
    assert_suggested(&b, WANTED, "c a b");
    set_price(&b, "a", 0);
    assert_suggested(&b, WANTED, "a c b");
    use(&b, "information-gain"); /* b in the middle parts best, for 6 times the price of opening */
    set_price(&b, "b", 100000);
    suggest(&b, 1);
    assert_string_not_equal(found(&b), "b");
    set_price(&b, "b", 1);
    assert_suggested(&b, 1, "b");
    pythia_prices_destroy(b.prices);
    end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_lists_all_names),
        cmocka_unit_test(of_equal_children_the_middle_one_is_picked),
        cmocka_unit_test(children_outside_of_source_and_target_are_never_chosen),
        cmocka_unit_test(an_exhausted_level_leaves_room_for_the_next_edge),
        cmocka_unit_test(the_row_is_split_evenly),
        cmocka_unit_test(flat_goes_along_the_most_frequent_order),
        cmocka_unit_test(flat_spends_the_rest_on_the_next_edge),
        cmocka_unit_test(binary_halves_the_time),
        cmocka_unit_test(covariance_counts_squares_and_absence),
        cmocka_unit_test(all_takes_everything_cheapest_first),
        cmocka_unit_test(random_draws_each_as_often_as_another),
        cmocka_unit_test(thompson_draws_from_the_posterior),
        cmocka_unit_test(historic_takes_what_was_the_cause_before),
        cmocka_unit_test(no_strategy_depends_on_any_order),
        cmocka_unit_test(with_everything_open_all_say_the_same),
        cmocka_unit_test(each_failed_allocation_leaves_nothing),
        cmocka_unit_test(a_hundred_thousand_points_take_no_more_than_their_share),
        cmocka_unit_test(what_fills_a_gap_alone_is_suggested_by_all_that_look_at_gaps),
        cmocka_unit_test(no_strategy_suggests_what_is_pinned_shut),
        cmocka_unit_test(what_is_called_from_a_pinned_point_is_reached_past_it),
        cmocka_unit_test(what_a_point_costs_is_its_calls_at_its_own_price),
        cmocka_unit_test(of_what_is_worth_the_same_the_cheaper_comes_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
