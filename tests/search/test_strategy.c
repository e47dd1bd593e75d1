#include "suggestions.h"

/* ---- the table ---- */

static void strategies_have_names_of_their_own(void **state)
{
    size_t count;
    const struct pythia_strategy *const *all = pythia_strategies(&count);
    assert_true(count >= 1);
    assert_string_equal(all[0]->name, "information-gain");
    for (size_t i = 0; i < count; i++) {
        assert_true(all[i]->help[0] && !all[i]->row == (all[i]->suggest != NULL));
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(all[i]->name, all[k]->name);
    }
}

/* ---- one level at a time ---- */

static void closed_points_called_from_open_ones_are_suggested(void **state)
{
    const char *text = "A{100 B{50 C{%d} 50} 100 D{300} 100}";
    struct bench b;
    begin(&b);
    requests_open(&b.seen, "A");
    add_forty(&b, text);
    suggest(&b, WANTED);
    assert_int_equal(b.count, 2); /* of a request's 3650 ns, 3050 are in B; C is in B */
    assert_found(&b, 0, "B", 3050 / 3650., 1);
    assert_found(&b, 1, "D", 300 / 3650., 1);
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(edge_of(&b, &b.found[i]), "A: A -> /A");
        assert_int_equal(b.found[i].group, 0);
    }
    assert_string_equal(b.found[0].reason, "100 % of the variance lies inside A; 84 % of the time "
                                           "there was spent in B when it was open");
    assert_string_equal(b.found[1].reason, "100 % of the variance lies inside A; 8 % of the time "
                                           "there was spent in D when it was open");
    end(&b);

    begin(&b); /* a level deeper; D is not where it varies */
    requests_open(&b.seen, "A B");
    add_forty(&b, text);
    suggest(&b, WANTED);
    assert_int_equal(b.count, 1);
    assert_found(&b, 0, "C", 2950 / 3050., 1);
    assert_string_equal(edge_of(&b, &b.found[0]), "A/B: B -> /B");
    end(&b);

    begin(&b); /* and where nothing is left that is closed */
    requests_open(&b.seen, "A B C");
    add_forty(&b, text);
    suggest(&b, WANTED);
    assert_int_equal(b.count, 0);
    end(&b);
}

/* P goes on around B, which is open: before B it has 2950 of 2960 ns, and behind it 5 of 15. */
static void what_a_point_shows_is_the_time_behind_that_edge(void **state)
{
    struct bench b;
    begin(&b);
    requests_open(&b.seen, "A B");
    add_forty(&b, "A{10 P{%d B{7000} 5} 10}");
    suggest(&b, WANTED);
    assert_int_equal(b.count, 1);
    assert_found(&b, 0, "P", 2950 / 2960., 1);
    assert_string_equal(b.found[0].reason,
                        "100 % of the variance lies between the start of A and the start of B; "
                        "100 % of the time there was spent in P when it was open");
    end(&b);
}

/* db is called from X, from Y in X, and from A: it is opened everywhere or nowhere. Directly below
 * X are db and Y. */
static void a_point_costs_all_its_calls(void **state)
{
    struct bench b;
    begin(&b);
    requests_open(&b.seen, "A X");
    add_forty(&b, "A{10 X{10 db{%d} 10 Y{1 db{1} 1}} 10 db{5} 10}");
    suggest(&b, WANTED);
    assert_int_equal(b.count, 2);
    assert_found(&b, 0, "db", 2950 / 2973., 3);
    assert_found(&b, 1, "Y", 3 / 2973., 1);
    end(&b);

    begin(&b); /* half of the requests call it twice */
    requests_open(&b.seen, "A");
    for (uint64_t i = 0; i < 40; i++)
        add(&b, i, i % 2 ? "A{10 db{%d}}" : "A{10 db{%d} db{0}}", 1000 + 100 * (int)i);
    suggest(&b, WANTED);
    assert_found(&b, 0, "db", 2950 / 2960., 1.5);
    end(&b);
}

/* X and Y are closed: B in X and B in Y look alike, and db in both shows what is in both. */
static void a_point_shows_all_its_contexts_behind_an_edge(void **state)
{
    struct bench b;
    begin(&b);
    requests_open(&b.seen, "A B");
    add_forty(&b, "A{1 X{1 B{1 db{%d} 9} 1} 1 Y{1 B{1 db{50} 9} 1} 1}");
    suggest(&b, WANTED);
    assert_int_equal(b.count, 1);
    assert_found(&b, 0, "db", 3000 / 3020., 2);
    end(&b);
}

/* What was profiled with three rounds and is seen with four. */
static void a_profile_of_three_rounds_serves_four(void **state)
{
    struct bench b;
    begin(&b);
    requests_open(&b.seen, "A B");
    for (int ns = 1000; ns < 5000; ns += 100) {
        char text[256];
        snprintf(text, sizeof(text), "A{1 B{4 X{%d}} B{4 X{%d}} B{4 X{%d}} 2}", ns, ns, ns);
        profile(&b, text);
        requests_add(&b.seen, "A{1 B{4 X{%d}} B{4 X{%d}} B{4 X{%d}} B{4 X{%d}} 2}", ns, ns, ns, ns);
    }
    suggest(&b, WANTED);
    assert_int_equal(b.count, 1);
    assert_found(&b, 0, "X", 2950 / 2954., 3);
    assert_string_equal(edge_of(&b, &b.found[0]), "A/B: B -> /B");
    end(&b);
}

static void reasons_name_the_edge(void **state)
{
    static const struct {
        const char *open, *text, *reason;
    } cases[] = {
        {"A", "A{10 X{%d}}",
         "100 % of the variance lies inside A; 100 % of the time there was "
         "spent in X when it was open"},
        {"A B", "A{1 X{%d} B{5} 1}",
         "100 % of the variance lies between the start of A and the start of B; 100 % of the time "
         "there was spent in X when it was open"},
        {"A B", "A{1 B{5} X{%d} 1}",
         "100 % of the variance lies between the end of B and the end of A; 100 % of the time "
         "there was spent in X when it was open"},
        {"A B", "A{1 B{5} 983 X{%d} B{5} 1}",
         "100 % of the variance lies between one B and the next; 75 % of the time there was spent "
         "in X when it was open"},
        {"A E", "A{1 *E X{%d} 1}",
         "100 % of the variance lies between the event of E and the end of A; 100 % of the time "
         "there was spent in X when it was open"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bench b;
        begin(&b);
        requests_open(&b.seen, cases[i].open);
        add_forty(&b, cases[i].text);
        suggest(&b, WANTED);
        assert_int_equal(b.count, 1);
        assert_string_equal(id_of(&b, &b.found[0]), "X");
        assert_string_equal(b.found[0].reason, cases[i].reason);
        end(&b);
    }
}

/* ---- several edges, several groups ---- */

/* Y varies three times as much as X; Z goes with X, and is less than a twentieth of all. */
static void the_edge_with_the_largest_share_comes_first(void **state)
{
    struct bench b;
    char text[256];
    begin(&b);
    requests_open(&b.seen, "A B C D");
    for (uint64_t i = 0; i < 40; i++) {
        int x = (int)i, y = (int)(i * 7 % 40);
        snprintf(text, sizeof(text), "A{B{10 X{%d}} C{10 Y{%d}} D{10 Z{%d}}}", 1000 + 100 * x,
                 1000 + 300 * y, 1000 + 10 * x);
        add(&b, i, text, 0);
    }
    diagnose(&b);
    double in_b = share_of(&b, 0, "A/B: B -> /B"), in_c = share_of(&b, 0, "A/C: C -> /C");
    assert_true(in_c > in_b && in_b > .05 && share_of(&b, 0, "A/D: D -> /D") < .05);
    suggest(&b, WANTED);
    assert_int_equal(b.count, 2);
    assert_found(&b, 0, "Y", in_c * 6850 / 6860, 1);
    assert_found(&b, 1, "X", in_b * 2950 / 2960, 1);
    suggest(&b, 1);
    assert_int_equal(b.count, 1);
    assert_found(&b, 0, "Y", in_c * 6850 / 6860, 1);
    suggest(&b, 0);
    assert_int_equal(b.count, 0);
    end(&b);
}

/* Of what X takes longer, C makes up for four fifths: the edge of C has a negative share, and that
 * of X five times all there is. */
static void a_gain_is_never_more_than_all(void **state)
{
    struct bench b;
    char text[256];
    begin(&b);
    requests_open(&b.seen, "A B C");
    for (uint64_t i = 0; i < 40; i++) {
        snprintf(text, sizeof(text), "A{B{X{%d}} C{W{%d}}}", 1000 * (int)i, 31200 - 800 * (int)i);
        add(&b, i, text, 0);
    }
    suggest(&b, WANTED);
    assert_true(share_of(&b, 0, "A/B: B -> /B") > 4.5);
    assert_int_equal(b.count, 1);
    assert_found(&b, 0, "X", 1, 1);
    end(&b);
}

/* X is called in B, where it is nearly all, and in C, which varies more and is mostly something
 * else: that it is in B is the better reason. */
static void of_two_reasons_the_better_one_is_given(void **state)
{
    for (int c_first = 0; c_first < 2; c_first++) {
        struct bench b;
        char text[256];
        begin(&b);
        requests_open(&b.seen, "A B C");
        for (uint64_t i = 0; i < 40; i++) {
            int x = 1000 + 100 * (int)i, w = 4000 + 150 * (int)(i * 7 % 40);
            if (c_first)
                snprintf(text, sizeof(text), "A{C{W{%d} X{500}} B{10 X{%d}}}", w, x);
            else
                snprintf(text, sizeof(text), "A{B{10 X{%d}} C{W{%d} X{500}}}", x, w);
            add(&b, i, text, 0);
        }
        diagnose(&b);
        double in_b = share_of(&b, 0, "A/B: B -> /B"), in_c = share_of(&b, 0, "A/C: C -> /C");
        assert_true(in_c > in_b && in_b > .2); /* W: 6925 of 7425 ns there */
        suggest(&b, WANTED);
        assert_int_equal(b.count, 2);
        assert_found(&b, 0, "W", in_c * 6925 / 7425, 1);
        assert_found(&b, 1, "X", in_b * 2950 / 2960, 2);
        assert_string_equal(edge_of(&b, &b.found[1]), "A/B: B -> /B");
        end(&b);
    }
}

/* Requests of type A vary, and nearly all of it is in X; those of Q vary three times as much, two
 * thirds of it in Y and one in X. What counts is the variance of all. */
static void groups_count_by_their_share_of_all_variance(void **state)
{
    struct bench b;
    begin(&b);
    requests_open(&b.seen, "A Q");
    add_forty(&b, "A{100 X{%d} 100}");
    add_forty(&b, "Q{50 X{%d} 50 Y{%d} Y{%d} 100}");
    suggest(&b, WANTED);
    assert_int_equal(b.count, 2);
    assert_found(&b, 0, "Y", 5900 / 9050., 2);
    assert_found(&b, 1, "X", 2950 / 9050., 1); /* for Q: in A it would show more of less */
    assert_string_equal(edge_of(&b, &b.found[0]), "Q: Q -> /Q");
    assert_string_equal(edge_of(&b, &b.found[1]), "Q: Q -> /Q");
    assert_int_equal(b.found[1].group, b.found[0].group);
    end(&b);
}

/* Less than a thousandth of all variance is not worth opening anything. */
static void groups_that_hardly_count_are_left_alone(void **state)
{
    struct bench b;
    begin(&b);
    requests_open(&b.seen, "A Q");
    add_forty(&b, "A{100 X{%d} 100}");
    add_forty(&b, "Q{Y{%d0}}"); /* ten times as long: 100 times the variance */
    suggest(&b, WANTED);
    assert_int_equal(b.count, 2);
    end(&b);
    begin(&b);
    requests_open(&b.seen, "A Q");
    add_forty(&b, "A{100 X{%d} 100}");
    add_forty(&b, "Q{Y{%d00}}"); /* a hundred times: 10000 */
    suggest(&b, WANTED);
    assert_int_equal(b.count, 1);
    assert_found(&b, 0, "Y", 1, 1);
    end(&b);
}

static void what_does_not_vary_or_is_too_little_gets_nothing(void **state)
{
    struct bench b;
    begin(&b); /* all the same */
    requests_open(&b.seen, "A");
    for (uint64_t i = 0; i < 40; i++)
        add(&b, i, "A{100 X{%d} 100}", 1000);
    suggest(&b, WANTED);
    assert_int_equal(b.diagnosis->group_count, 1);
    assert_int_equal(b.count, 0);
    end(&b);
    begin(&b); /* nearly the same: 1154 of 102950 ns */
    requests_open(&b.seen, "A");
    add_forty(&b, "A{100000 X{%d}}");
    suggest(&b, WANTED);
    assert_int_equal(b.diagnosis->groups[0].status, PYTHIA_GROUP_QUIET);
    assert_rel_equal(share_of(&b, 0, "A: A -> /A"), 1, 1e-12);
    assert_int_equal(b.count, 0);
    end(&b);
    begin(&b); /* fewer than 30 */
    requests_open(&b.seen, "A");
    for (uint64_t i = 0; i < 29; i++)
        add(&b, i, "A{100 X{%d} 100}", 1000 * (int)i);
    suggest(&b, WANTED);
    assert_int_equal(b.diagnosis->groups[0].status, PYTHIA_GROUP_TOO_FEW);
    assert_int_equal(b.count, 0);
    end(&b);
    begin(&b); /* none at all */
    requests_open(&b.seen, "A");
    suggest(&b, WANTED);
    assert_int_equal(b.count, 0);
    end(&b);
}

/* ---- what is open ---- */

/* Open are A, which has no parent, and db:Q, which another service calls; of what is between and
 * below, api:B is called from A, and api:C from B. */
static void below_the_skeleton_comes_what_it_calls(void **state)
{
    struct bench b;
    char ids[256] = "";
    begin(&b);
    const char *text = "api:A{10 api:B{20 api:C{%d db:Q{70 db:R{5}} 5} 5} 5}";
    for (int i = 0; i < 40; i++) {
        char known[256];
        snprintf(known, sizeof(known), "api:A{10 api:B{20 api:C{%d db:Q{70 db:R{5}} 5} 5} 5}",
                 1000 + 100 * i);
        profile(&b, known);
    }
    bool *skeleton = pythia_space_skeleton(b.space);
    for (uint32_t p = 0; p < pythia_vocabulary_tracepoints(b.all.vocabulary); p++)
        if (skeleton[p])
            snprintf(ids + strlen(ids), sizeof(ids) - strlen(ids), "%s ",
                     pythia_vocabulary_tracepoint_id(b.all.vocabulary, p).bytes);
    pythia_free(skeleton);
    assert_string_equal(ids, "api:A db:Q ");
    requests_open(&b.seen, ids);
    add_forty(&b, text);
    suggest(&b, WANTED);
    assert_int_equal(b.count, 1);
    assert_found(&b, 0, "api:B", 2970 / 2980., 1);
    assert_string_equal(edge_of(&b, &b.found[0]), "api:A: api:A -> db:Q");
    end(&b);
}

/* Then it is said which points a system that has not all of them open should open: those at the
 * ends of what varies. */
static void with_everything_open_the_bounds_of_edges_are_suggested(void **state)
{
    for (int known = 0; known < 2; known++) {
        struct bench b;
        begin(&b); /* the ends of one span; a root is open anyway */
        add_forty(&b, "A{10 B{%d} 10}");
        if (!known) {
            pythia_space_destroy(b.space);
            b.space = NULL;
        }
        suggest(&b, WANTED);
        assert_int_equal(b.count, 1);
        assert_found(&b, 0, "B", 1, 1);
        assert_string_equal(b.found[0].reason,
                            "100 % of the variance lies inside B, and this point bounds it");
        end(&b);
    }
    struct bench b;
    begin(&b);
    add_forty(&b, "A{%d B{10} 10}");
    suggest(&b, WANTED);
    assert_int_equal(b.count, 1);
    assert_found(&b, 0, "B", 1, 1);
    end(&b);

    begin(&b); /* two points: the one that is called less often first */
    add_forty(&b, "A{10 B{10} B{10} B{10} %d C{10} 10}");
    suggest(&b, WANTED);
    assert_int_equal(b.count, 2);
    assert_found(&b, 0, "C", 1, 1);
    assert_found(&b, 1, "B", 1, 3);
    assert_string_equal(b.found[0].reason,
                        "100 % of the variance lies between the end of B and the "
                        "start of C, and this point bounds it");
    end(&b);

    begin(&b); /* equally often: by name */
    add_forty(&b, "A{10 Y{10} %d X{10} 10}");
    suggest(&b, 1);
    assert_found(&b, 0, "X", 1, 1);
    end(&b);
}

/* A list of open points that leaves nothing closed is not the same as none: what is in it is open
 * already. */
static void what_is_open_is_never_suggested(void **state)
{
    struct bench b;
    begin(&b);
    requests_open(&b.seen, "A B Q");
    add_forty(&b, "A{10 B{%d} 10}"); /* all of it open */
    add_forty(&b, "Q{Y{%d}}");
    suggest(&b, WANTED);
    assert_int_equal(b.count, 1);
    assert_found(&b, 0, "Y", 1, 1);
    end(&b);
}

/* ---- request types that are not known ---- */

static void a_type_that_is_not_in_the_space_is_named(void **state)
{
    struct bench b;
    struct pythia_buf missing = {0};
    begin(&b);
    requests_open(&b.seen, "A Q R B");
    add_forty(&b, "A{100 X{%d} 100}");
    for (int i = 0; i < 80; i++) /* seen, and never profiled */
        requests_add(&b.seen, "%c{B{%d}}", "QR"[i % 2], 1000 + 100 * i);
    diagnose(&b);
    assert_int_equal(try_suggest(&b, WANTED, &missing), PYTHIA_OK);
    assert_int_equal(pythia_buf_status(&missing), PYTHIA_OK);
    char lines[8];
    assert_int_equal(missing.size, 4);
    memcpy(lines, missing.bytes, 4);
    lines[4] = '\0';
    assert_true(strcmp(lines, "Q\nR\n") == 0 || strcmp(lines, "R\nQ\n") == 0);
    assert_int_equal(b.count, 1); /* for what is known it goes on */
    assert_found(&b, 0, "X", 2950 / 3150., 1);
    pythia_buf_free(&missing);
    suggest(&b, WANTED); /* nobody needs to be told */
    assert_int_equal(b.count, 1);
    pythia_space_clear(b.space); /* nothing is known */
    suggest(&b, WANTED);
    assert_int_equal(b.count, 0);
    pythia_space_destroy(b.space); /* nor is there a space to be missing in */
    b.space = NULL;
    assert_int_equal(try_suggest(&b, WANTED, &missing), PYTHIA_OK);
    assert_int_equal(missing.size, 0);
    pythia_buf_free(&missing);
    end(&b);
}

/* ---- order ---- */

static void write_found(const struct bench *b, struct pythia_buf *to)
{
    for (size_t i = 0; i < b->count; i++) {
        const struct pythia_suggestion *s = &b->found[i];
        pythia_buf_printf(to, "%s %a %a %016llx [%s]: %s\n", id_of(b, s), s->gain, s->cost_ns,
                          (unsigned long long)b->diagnosis->groups[s->group].id, edge_of(b, s),
                          s->reason);
    }
    pythia_buf_putc(to, '\0');
}

static void check_found(const struct bench *b)
{
    double before = INFINITY;
    for (size_t i = 0; i < b->count; i++) {
        const struct pythia_suggestion *s = &b->found[i];
        double worth = s->gain * b->diagnosis->groups[s->group].variance_share;
        assert_false(pythia_open_points_has(b->seen.open, s->tracepoint));
        assert_true(s->gain >= 0 && s->gain <= 1 && s->cost_ns > 0);
        assert_true(worth <= before);
        before = worth;
        for (size_t k = 0; k < i; k++)
            assert_int_not_equal(s->tracepoint, b->found[k].tracepoint);
    }
}

static void suggestions_do_not_depend_on_any_order(void **state)
{
    static char texts[60][4096];
    struct pythia_random random;
    pythia_random_init(&random, 1);
    size_t all = 0;
    for (int round = 0; round < 10; round++) {
        struct pythia_buf first = {0};
        for (int i = 0; i < 60; i++) {
            strcpy(texts[i], "A{");
            put_random(&random, texts[i], sizeof(texts[i]) - 64, 0);
            strcat(texts[i], "}");
        }
        for (int run = 0; run < 5; run++) {
            struct bench b;
            struct pythia_buf other = {0};
            size_t order[60];
            begin(&b);
            for (size_t i = 0; i < 60; i++)
                order[i] = i;
            if (run)
                pythia_random_shuffle(&random, order, 60);
            requests_open(&b.seen, "A C E G K");
            for (size_t i = 0; i < 60; i++)
                profile(&b, texts[order[i]]);
            if (run)
                pythia_random_shuffle(&random, order, 60);
            for (size_t i = 0; i < 60; i++)
                requests_add_as(&b.seen, order[i], texts[order[i]]);
            suggest(&b, WANTED);
            check_found(&b);
            write_found(&b, run ? &other : &first);
            if (run)
                assert_string_equal(other.bytes, first.bytes);
            all += b.count;
            pythia_buf_free(&other);
            end(&b);
        }
        pythia_buf_free(&first);
    }
    assert_true(all > 100); /* or nothing would have been compared */
}

/* ---- hostile and large ---- */

/* 100000 points that A calls, each of them worth the same. To compare each with each would take
 * minutes. */
static void a_hundred_thousand_closed_points_are_no_problem(void **state)
{
    enum { MANY = 100000 };
    struct bench b;
    begin(&b);
    see_a(&b);
    struct pythia_space_type *t = hand_made(&b);
    uint32_t a = point(&b, "A", -1), in_a, node;
    pythia_space_node_make(t, PYTHIA_CCT_ROOT, a, &in_a)->calls = 1;
    t->requests = 1;
    for (int i = 0; i < MANY; i++) {
        uint32_t x = point(&b, "x", i);
        pythia_space_node_make(t, in_a, x, &node)->calls = i == 77777 ? 1 : 2;
        connect(t, (struct pythia_edge){in_a, a, x, START, START}, 0);
        connect(t, (struct pythia_edge){node, x, x, START, END}, 10);
        connect(t, (struct pythia_edge){in_a, x, a, END, END}, 0);
    }
    suggest(&b, 2);
    assert_int_equal(b.count, 2);
    assert_found(&b, 0, "x77777", 1. / MANY, 1); /* it costs less */
    assert_found(&b, 1, "x0", 1. / MANY, 2);     /* and here names decide */
    end(&b);
}

/* A chain as deep as that: of it one point is called from A. */
static void a_hundred_thousand_levels_are_no_problem(void **state)
{
    enum { DEEP = 100000 };
    struct bench b;
    begin(&b);
    see_a(&b);
    struct pythia_space_type *t = hand_made(&b);
    uint32_t a = point(&b, "A", -1), at, below;
    pythia_space_node_make(t, PYTHIA_CCT_ROOT, a, &at)->calls = 1;
    t->requests = 1;
    for (int i = 0; i < DEEP; i++) {
        uint32_t above = i ? point(&b, "x", i - 1) : a, x = point(&b, "x", i);
        pythia_space_node_make(t, at, x, &below)->calls = 1;
        connect(t, (struct pythia_edge){at, above, x, START, START}, 1);
        connect(t, (struct pythia_edge){at, x, above, END, END}, 1);
        at = below;
    }
    uint32_t last = point(&b, "x", DEEP - 1);
    connect(t, (struct pythia_edge){at, last, last, START, END}, 1);
    suggest(&b, WANTED);
    assert_int_equal(b.count, 1);
    assert_found(&b, 0, "x0", (2. * DEEP - 1) / (2. * DEEP + 1), 1);
    end(&b);
}

/* A file may say what no traces would have made: no requests, times that add up to more than there
 * are numbers, edges that leave from nowhere, and to there. */
static void spaces_that_no_trace_would_make_do_no_harm(void **state)
{
    struct bench b;
    begin(&b);
    see_a(&b);
    struct pythia_space_type *t = hand_made(&b);
    uint32_t a = point(&b, "A", -1), x = point(&b, "x", -1), y = point(&b, "y", -1), in_a, in_x;
    pythia_space_node_make(t, PYTHIA_CCT_ROOT, a, &in_a)->calls = UINT64_MAX;
    pythia_space_node_make(t, in_a, x, &in_x)->calls = UINT64_MAX;
    connect(t, (struct pythia_edge){in_a, a, x, START, START}, UINT64_MAX / 2);
    connect(t, (struct pythia_edge){in_x, x, x, START, END}, UINT64_MAX / 2 + 100);
    connect(t, (struct pythia_edge){in_a, x, a, END, END}, 7);
    connect(t, (struct pythia_edge){PYTHIA_CCT_ROOT, a, x, START, END}, 5);
    connect(t, (struct pythia_edge){PYTHIA_CCT_ROOT, x, a, END, START}, 5);
    connect(t, (struct pythia_edge){in_x, a, y, AT, AT}, 5);
    connect(t, (struct pythia_edge){in_a, y, y, END, START}, 5);
    connect(t, (struct pythia_edge){in_x, x, x, END, START}, 5);
    connect(t, (struct pythia_edge){in_x, a, a, START, START}, 5);
    suggest(&b, WANTED);
    assert_int_equal(b.count, 1);
    assert_string_equal(id_of(&b, &b.found[0]), "x");
    assert_true(b.found[0].gain >= 0 && b.found[0].gain <= 1);
    assert_true(isfinite(b.found[0].cost_ns) && b.found[0].cost_ns > 0);
    end(&b);
}

/* ---- failures ---- */

static void each_failed_allocation_is_told(void **state)
{
    struct bench b;
    struct pythia_buf missing = {0};
    begin(&b);
    requests_open(&b.seen, "A Q");
    add_forty(&b, "A{100 X{%d} 100 Y{50}}");
    for (int i = 0; i < 40; i++)
        requests_add(&b.seen, "Q{%d}", 1000 + 100 * i);
    suggest(&b, WANTED);
    assert_int_equal(b.count, 2);
    long failures = 0;
    for (;; failures++) {
        pythia_mem_fail_after(failures);
        int status = try_suggest(&b, WANTED, &missing);
        pythia_mem_fail_after(-1);
        pythia_buf_free(&missing);
        if (status == PYTHIA_OK)
            break;
        assert_int_equal(status, PYTHIA_ENOMEM);
        assert_int_equal(b.count, 0);
    }
    assert_true(failures > 15); /* a region alone takes 12 */
    assert_int_equal(b.count, 2);
    pythia_suggestion_clear(&(struct pythia_suggestion){0});
    end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strategies_have_names_of_their_own),
        cmocka_unit_test(closed_points_called_from_open_ones_are_suggested),
        cmocka_unit_test(what_a_point_shows_is_the_time_behind_that_edge),
        cmocka_unit_test(a_point_costs_all_its_calls),
        cmocka_unit_test(a_point_shows_all_its_contexts_behind_an_edge),
        cmocka_unit_test(a_profile_of_three_rounds_serves_four),
        cmocka_unit_test(reasons_name_the_edge),
        cmocka_unit_test(the_edge_with_the_largest_share_comes_first),
        cmocka_unit_test(a_gain_is_never_more_than_all),
        cmocka_unit_test(of_two_reasons_the_better_one_is_given),
        cmocka_unit_test(groups_count_by_their_share_of_all_variance),
        cmocka_unit_test(groups_that_hardly_count_are_left_alone),
        cmocka_unit_test(what_does_not_vary_or_is_too_little_gets_nothing),
        cmocka_unit_test(below_the_skeleton_comes_what_it_calls),
        cmocka_unit_test(with_everything_open_the_bounds_of_edges_are_suggested),
        cmocka_unit_test(what_is_open_is_never_suggested),
        cmocka_unit_test(a_type_that_is_not_in_the_space_is_named),
        cmocka_unit_test(suggestions_do_not_depend_on_any_order),
        cmocka_unit_test(a_hundred_thousand_closed_points_are_no_problem),
        cmocka_unit_test(a_hundred_thousand_levels_are_no_problem),
        cmocka_unit_test(spaces_that_no_trace_would_make_do_no_harm),
        cmocka_unit_test(each_failed_allocation_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
