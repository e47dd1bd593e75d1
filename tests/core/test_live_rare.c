/* Types of which a cycle has fewer requests than the search needs, beside one that is frequent. */
#include "stream.h"
#include "types/rare.h"

#define SECOND UINT64_C(1000)
#define EVERY  9   /* requests, of which one is of the rare type */
#define SELDOM 100 /* the same, so that two cycles in a row have none */

static const struct pythia_live_options usual = {
    .groups = {.fold = true},
    .search = {.budget = {.points_per_cycle = 3}, .price_ns = 1000, .seed = 1},
    .cycle_requests = 40,
    .learn_requests = 10,
};

/* R differs in S; A does not differ, */
static const char *one_of(uint64_t number, uint64_t every)
{
    static char text[128];
    if (number % every != every - 1)
        return "A{10 B{5} 10}";
    snprintf(text, sizeof(text), "R{10 S{%d} 10 T{5} 10}",
             10 + (int)(number / every * 7 % 10 * 10));
    return text;
}

static const char *quiet(uint64_t number)
{
    return one_of(number, EVERY);
}

static const char *seldom(uint64_t number)
{
    return one_of(number, SELDOM);
}

static const char *gone(uint64_t number)
{
    (void)number;
    return "A{10 B{2000} 10}";
}

/* or in one of many places, */
static const char *varied(uint64_t number)
{
    static char text[512];
    if (number % EVERY == EVERY - 1)
        return quiet(number);
    size_t at = (size_t)snprintf(text, sizeof(text), "A{10");
    for (int i = 0; i < 8; i++)
        at += (size_t)snprintf(text + at, sizeof(text) - at, " C%d{1 D%d{%d} 1}", i, i,
                               10 + (i == 5 ? (int)(number * 7 % 10 * 10) : 0));
    snprintf(text + at, sizeof(text) - at, " 10}");
    return text;
}

/* or in B, which R passes too. */
static const char *shared(uint64_t number)
{
    static char text[128];
    int more = (int)(number * 7 % 10 * 10);
    if (number % EVERY == EVERY - 1)
        snprintf(text, sizeof(text), "R{10 B{5} S{%d} 10}", 10 + more);
    else
        snprintf(text, sizeof(text), "A{10 B{%d} 10 E{5} 10}", 5 + more);
    return text;
}

/* What the last cycles had of R, and what came of them. */
static struct {
    uint64_t requests, carried, cycles;
    size_t looked; /* times that it was searched */
    double variance_share;
    enum pythia_problem_state state;
    size_t causes, b_switched, b_switched_for_a; /* for R, and for A */
} rare[STREAM_SEEN];

static void look(struct stream *s, const struct pythia_live_cycle *cycle)
{
    size_t count, at = s->cycles - 1;
    const struct pythia_type *types = pythia_groups_types(cycle->groups, &count);
    memset(&rare[at], 0, sizeof(rare[at]));
    for (size_t i = 0; i < count; i++) {
        if (strcmp(pythia_vocabulary_text(s->vocabulary, types[i].name).bytes, "R") != 0)
            continue;
        rare[at].requests = types[i].moments.n;
        rare[at].carried = types[i].carried;
        rare[at].cycles = types[i].cycles;
    }
    for (size_t i = 0; i < cycle->decisions.problem_count; i++) {
        const struct pythia_problem *p = &cycle->decisions.problems[i];
        if (strcmp(pythia_vocabulary_text(s->vocabulary, p->type).bytes, "R") != 0)
            continue;
        rare[at].looked = p->cycles;
        rare[at].state = p->state;
        rare[at].causes = p->cause_count;
        rare[at].variance_share = p->variance_share;
        assert_int_equal(p->requests, rare[at].requests);
        assert_int_equal(p->carried, rare[at].carried);
    }
    for (size_t i = 0; i < cycle->decisions.switch_count; i++) {
        const struct pythia_switch *w = &cycle->decisions.switches[i];
        bool is_b =
            strcmp(pythia_vocabulary_tracepoint_id(s->vocabulary, w->tracepoint).bytes, "B") == 0;
        bool is_r = strcmp(pythia_vocabulary_text(s->vocabulary, w->type).bytes, "R") == 0;
        rare[at].b_switched += is_b && is_r;
        rare[at].b_switched_for_a += is_b && !is_r;
    }
}

/* Both types are learnt, from requests of the one and the other, and the skeleton is in force; the
 * next request is the first of nine. */
static void begin(struct stream *s, const struct pythia_live_options *o,
                  const char *(*request)(uint64_t number))
{
    stream_begin(s);
    stream_attach(s, NULL, o);
    for (uint64_t i = 0; i < 3 * EVERY; i++)
        stream_request(s, request(i * EVERY + (i % 2 ? EVERY - 1 : 0)));
    stream_wait(s, 20 * SECOND);
    assert_int_equal(pythia_live_wish(s->live), 1);
    assert_int_equal(pythia_live_numbers(s->live).learnt, 2);
    stream_applied(s);
    s->cycles = 0;
    s->look = look;
}

static void evidence_of_a_rare_type_adds_up_until_there_is_enough(void **state)
{
    /* 40 of A are 44 requests with 4 of R; the next 40 begin with one of R */
    static const uint64_t of_r[] = {4, 9, 14, 19, 24, 29, 34};
    struct stream s;
    begin(&s, &usual, quiet);
    stream_run(&s, 7, quiet);
    for (size_t i = 0; i < 7; i++) {
        assert_int_equal(rare[i].requests, of_r[i]);
        assert_int_equal(rare[i].carried, i > 0 ? of_r[i - 1] : 0);
        assert_int_equal(rare[i].cycles, i > 0 ? i + 1 : 0);
        assert_int_equal(rare[i].state, i < 6 ? PYTHIA_PROBLEM_TOO_FEW : PYTHIA_PROBLEM_SEARCHING);
        assert_int_equal(s.seen[i].requests, i == 0 ? 44 : 45); /* each is told once */
        assert_int_equal(s.seen[i].switches > 0, i == 6);
    }
    assert_int_equal(rare[6].looked, 1);
    assert_true(rare[6].variance_share > .99); /* A has no variance */
    assert_int_equal(pythia_live_numbers(s.live).carried_requests, 4 + 9 + 14 + 19 + 24 + 29);
    assert_int_equal(pythia_live_numbers(s.live).not_carried, 0);
    stream_run(&s, 8, quiet);
    assert_int_equal(rare[7].carried, 0); /* and begins anew */
    stream_end(&s);
}

/* Its points stay open while there is not enough to decide anything, and while none of its requests
 * comes. */
static void the_cause_of_a_rare_type_is_found(void **state)
{
    static const struct {
        const char *(*request)(uint64_t number);
        size_t within;
    } cases[] = {{quiet, 60}, {seldom, 200}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct stream s;
        bool open = false;
        begin(&s, &usual, quiet);
        for (size_t cycles = 1;
             cycles < cases[i].within && (cycles < 2 || rare[cycles - 2].causes == 0); cycles++) {
            stream_run(&s, cycles, cases[i].request);
            if (open)
                assert_true(stream_is_open(&s, "S"));
            open = stream_is_open(&s, "S");
        }
        assert_true(open);
        assert_int_equal(rare[s.cycles - 1].causes, 1);
        assert_int_equal(rare[s.cycles - 1].looked, 2);
        stream_end(&s);
    }
}

/* Five minutes without a request, and two cycles at least. */
static void the_points_of_a_type_that_comes_no_more_are_closed(void **state)
{
    struct stream s;
    begin(&s, &usual, quiet);
    for (size_t cycles = 1; cycles < 60 && !stream_is_open(&s, "S"); cycles++)
        stream_run(&s, cycles, quiet);
    assert_true(stream_is_open(&s, "S"));
    uint64_t last_ms = s.now_ms;
    for (size_t cycles = s.cycles + 1; cycles < STREAM_SEEN && stream_is_open(&s, "S"); cycles++)
        stream_run(&s, cycles, gone);
    assert_false(stream_is_open(&s, "S"));
    assert_in_range(s.now_ms - last_ms, 290 * SECOND, 330 * SECOND);
    stream_end(&s);
}

/* What is opened and closed for A does not change what requests of R look like. */
static void a_switch_that_its_requests_do_not_pass_leaves_evidence_as_it_is(void **state)
{
    struct stream s;
    size_t switched = 0;
    begin(&s, &usual, varied);
    stream_run(&s, 7, varied);
    for (size_t i = 0; i < 6; i++) {
        switched += s.seen[i].switches > 0;
        assert_true(rare[i + 1].requests > rare[i].requests || rare[i].requests >= 30);
        assert_true(rare[i + 1].carried == rare[i].requests || rare[i].requests >= 30);
    }
    assert_true(switched > 1);
    stream_run(&s, 60, varied);
    assert_int_equal(rare[59].causes, 1);
    stream_end(&s);
}

/* R passes B, too, and gives no spans of it when B is open for A. */
static void a_switch_for_another_type_leaves_evidence_as_it_is(void **state)
{
    struct stream s;
    size_t switched = 0;
    begin(&s, &usual, shared);
    stream_run(&s, 12, shared);
    for (size_t i = 0; i + 1 < 12; i++) {
        if (rare[i].b_switched || !rare[i].b_switched_for_a || rare[i].requests >= 30)
            continue;
        switched++;
        assert_int_equal(rare[i + 1].carried, rare[i].requests);
    }
    assert_true(switched > 0);
    stream_end(&s);
}

/* A kept request of R, which has B by the search space and E in this request, after a cycle with
 * one decision. */
static void what_is_switched_for_its_type_or_for_all_drops_it(void **state)
{
    static const struct {
        const char *point, *type;
        bool kept;
    } cases[] = {{"B", "A", true}, {"E", "A", true}, {"B", "R", false}, {"E", "R", false},
                 {"N", "R", true}, {"B", "", false}, {"E", "", false},  {"N", "", true}};
    struct pythia_vocabulary *v;
    struct pythia_space *space;
    assert_int_equal(pythia_vocabulary_create(&v), PYTHIA_OK);
    assert_int_equal(pythia_space_create(v, &space), PYTHIA_OK);
    uint32_t r = pythia_vocabulary_string(v, PYTHIA_TEXT("R")), node;
    struct pythia_space_type *type = pythia_space_type_make(space, r);
    uint32_t b = pythia_vocabulary_tracepoint_of_id(v, PYTHIA_TEXT("B"), 0, 0);
    assert_non_null(pythia_space_node_make(type, PYTHIA_CCT_ROOT, b, &node));
    struct pythia_trace_span span = {
        .tracepoint = pythia_vocabulary_tracepoint_of_id(v, PYTHIA_TEXT("E"), 0, 0)};
    const struct pythia_trace trace = {.spans = &span, .count = 1};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pythia__rare_types kept = {.bytes_max = 4096, .enough = 30};
        uint64_t all;
        uint32_t of = *cases[i].type ? pythia_vocabulary_string(v, pythia_text_of(cases[i].type))
                                     : PYTHIA_NONE;
        const struct pythia_switch decided = {.tracepoint = pythia_vocabulary_tracepoint_of_id(
                                                  v, pythia_text_of(cases[i].point), 0, 0),
                                              .type = of};
        assert_int_equal(pythia__rare_types_add(&kept, 0, r, r, &trace, &all), PYTHIA_OK);
        pythia__rare_types_end(&kept, 0, true, space, &decided, 1);
        assert_int_equal(kept.types[0].next != NULL, cases[i].kept);
        pythia__rare_types_free(&kept);
    }
    pythia_space_destroy(space);
    pythia_vocabulary_destroy(v);
}

static void what_is_kept_ends_with_a_pause_and_with_a_set_that_came_back(void **state)
{
    struct stream s;
    begin(&s, &usual, quiet);
    stream_run(&s, 3, quiet);
    assert_int_equal(rare[2].requests, 14);
    pythia_live_pause(s.live, true);
    pythia_live_pause(s.live, false);
    stream_applied(&s);
    stream_run(&s, 4, quiet);
    assert_int_equal(rare[3].carried, 0);
    stream_run(&s, 5, quiet);
    assert_true(rare[4].carried > 0);
    stream_wait(&s, 1);
    stream_came_back(&s); /* it had been lost for a while */
    stream_run(&s, 6, quiet);
    assert_int_equal(rare[5].carried, 0);
    stream_end(&s);
}

static void what_is_kept_makes_no_cycle_by_itself(void **state)
{
    struct stream s;
    begin(&s, &usual, quiet);
    stream_run(&s, 2, quiet);
    stream_wait(&s, 2000 * SECOND); /* the rest of what had come is told */
    size_t cycles = s.cycles;
    stream_wait(&s, 20000 * SECOND);
    assert_int_equal(s.cycles, cycles);
    assert_int_equal(pythia_live_drain(s.live), PYTHIA_OK);
    assert_int_equal(s.cycles, cycles);
    stream_end(&s);
}

static void what_there_is_no_room_for_is_counted(void **state)
{
    struct stream s;
    struct pythia_live_options o = usual;
    o.evidence_bytes = 4; /* a quarter of which holds no request */
    begin(&s, &o, quiet);
    stream_run(&s, 3, quiet);
    assert_int_equal(rare[0].requests, 4);
    assert_int_equal(rare[1].requests, 5);
    assert_int_equal(rare[2].carried, 0);
    assert_int_equal(pythia_live_numbers(s.live).not_carried, 4 + 5 + 5);
    assert_int_equal(pythia_live_numbers(s.live).carried_requests, 0);
    stream_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(evidence_of_a_rare_type_adds_up_until_there_is_enough),
        cmocka_unit_test(the_cause_of_a_rare_type_is_found),
        cmocka_unit_test(the_points_of_a_type_that_comes_no_more_are_closed),
        cmocka_unit_test(a_switch_that_its_requests_do_not_pass_leaves_evidence_as_it_is),
        cmocka_unit_test(a_switch_for_another_type_leaves_evidence_as_it_is),
        cmocka_unit_test(what_is_switched_for_its_type_or_for_all_drops_it),
        cmocka_unit_test(what_is_kept_ends_with_a_pause_and_with_a_set_that_came_back),
        cmocka_unit_test(what_is_kept_makes_no_cycle_by_itself),
        cmocka_unit_test(what_there_is_no_room_for_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
