#include "hunt.h"

#define TYPES 40
#define EACH  30 /* requests of a type in a cycle */

static int later; /* the type that gets a second cause; -1: none */

/* Requests of so many types, one after the other. What T00 does in its P in its Q varies most, what
 * the last one does least, and not too little. */
static void write_types(char *to, size_t room, uint64_t number)
{
    int type = (int)(number % TYPES), turn = (int)(number / TYPES % 10);
    int other = type == later ? (int)(number / TYPES % 11) * 400 : 0;
    snprintf(to, room, "T%02d{10 T%02dP{20 T%02dQ{%d} 30} 10 T%02dR{10 T%02dS{%d} 10} 40}", type,
             type, type, 100 + turn * 7 % 10 * (200 - 4 * type), type, type, 50 + other);
}

static void begin_types_by(struct hunt *h, size_t turns, const struct pythia_strategy *strategy)
{
    begin(h);
    h->how.strategy = strategy;
    h->write = write_types;
    h->how.min_share = 1e-9;
    h->how.problems_per_cycle = turns;
    h->how.budget.points_per_cycle = 6;
    later = -1;
    for (uint64_t i = 0; i < TYPES; i++) {
        char text[1024];
        write_types(text, sizeof(text), TYPES * UINT64_C(1000) + i);
        profile(h, requests_trace(&h->r, 0, text));
    }
    search(h);
}

static void begin_types(struct hunt *h, size_t turns)
{
    begin_types_by(h, turns, NULL);
}

static const struct pythia_problem *problem_of(const struct hunt *h, int type)
{
    char name[64];
    snprintf(name, sizeof(name), "T%02d", type);
    for (size_t i = 0; i < h->cycle.problem_count; i++) {
        struct pythia_text text =
            pythia_vocabulary_text(h->r.vocabulary, h->cycle.problems[i].type);
        if (strstr(text.bytes, name))
            return &h->cycle.problems[i];
    }
    fail_msg("there is no type %s", name);
    return NULL;
}

static void assert_turns(const struct hunt *h, const int *had, size_t count)
{
    size_t with = 0;
    for (size_t i = 0; i < h->cycle.problem_count; i++)
        with += h->cycle.problems[i].waited == 0;
    assert_int_equal(with, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(problem_of(h, had[i])->waited, 0);
    assert_int_equal(h->cycle.waiting, TYPES - count);
}

static void those_that_vary_most_come_first_and_then_those_that_waited(void **state)
{
    struct hunt h;
    begin_types(&h, 4);
    cycle(&h, TYPES * EACH);
    assert_int_equal(h.cycle.problem_count, TYPES);
    assert_turns(&h, (int[]){0, 1, 2, 3}, 4);
    assert_int_equal(h.cycle.leading, problem_of(&h, 0) - h.cycle.problems);
    cycle(&h, TYPES * EACH); /* half of the turns are theirs */
    assert_turns(&h, (int[]){0, 1, 4, 5}, 4);
    assert_int_equal(problem_of(&h, 2)->waited, 1);
    assert_int_equal(problem_of(&h, 39)->waited, 2);
    assert_int_equal(problem_of(&h, 39)->cycles, 0);
    assert_int_equal(problem_of(&h, 39)->state, PYTHIA_PROBLEM_SEARCHING);
    assert_false(h.cycle.finished);
    end(&h);
}

/* w of the turns are for those that waited longest: (n - 1) / w + 1 cycles. */
static void each_has_its_turn_in_a_bounded_number_of_cycles(void **state)
{
    static const struct {
        size_t turns;
        uint64_t cycles;
    } cases[] = {{1, 40}, {2, 40}, {4, 20}, {5, 14}, {39, 2}};
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        struct hunt h;
        begin_types(&h, cases[c].turns);
        for (uint64_t i = 0; i < 2 * cases[c].cycles; i++) {
            cycle(&h, TYPES * EACH);
            assert_int_equal(h.cycle.waiting, TYPES - cases[c].turns);
            for (size_t p = 0; p < TYPES; p++)
                assert_true(h.cycle.problems[p].waited < cases[c].cycles);
        }
        for (size_t p = 0; p < TYPES; p++)
            assert_true(h.cycle.problems[p].cycles > 0);
        end(&h);
    }
}

static void assert_found(const struct hunt *h, int type, size_t number, const char *suffix)
{
    struct pythia_buf text = {0};
    char place[64];
    const struct pythia_problem *p = problem_of(h, type);
    snprintf(place, sizeof(place), "inside T%02d%s", type, suffix);
    assert_true(number < p->cause_count);
    pythia_place_add(&text, h->r.vocabulary, &p->causes[number].place);
    assert_string_equal(text.bytes, place);
    pythia_buf_free(&text);
}

static void every_cause_is_found_that_of_the_last_type_too(void **state)
{
    struct hunt h;
    begin_types(&h, 4);
    assert_in_range(run(&h, TYPES * EACH, 120), 20, 119);
    for (int type = 0; type < TYPES; type++) {
        assert_int_equal(problem_of(&h, type)->state, PYTHIA_PROBLEM_DONE);
        assert_int_equal(problem_of(&h, type)->cause_count, 1);
        assert_found(&h, type, 0, "Q");
    }
    end(&h);
}

static void what_is_done_is_watched_in_its_turn(void **state)
{
    struct hunt h;
    begin_types(&h, 8);
    (void)run(&h, TYPES * EACH, 100);
    assert_true(h.cycle.finished);
    assert_int_equal(h.cycle.waiting, TYPES - 8);
    later = 37;
    for (int i = 0; i < 40 && problem_of(&h, 37)->cause_count < 2; i++)
        cycle(&h, TYPES * EACH);
    assert_found(&h, 37, 0, "Q");
    assert_found(&h, 37, 1, "S");
    end(&h);
}

/* What is open for it stays open, nothing is decided for it, and its cycles do not count. */
static void nothing_happens_to_a_problem_that_waits(void **state)
{
    size_t waited = 0;
    struct hunt h;
    begin_types(&h, 3);
    for (int i = 0; i < 30; i++) {
        struct pythia_problem before[TYPES];
        size_t known = h.cycle.problem_count;
        if (known)
            memcpy(before, h.cycle.problems, known * sizeof(*before));
        cycle(&h, TYPES * EACH);
        for (size_t p = 0; p < known; p++) {
            const struct pythia_problem *now = &h.cycle.problems[p];
            if (now->waited == 0)
                continue;
            waited++;
            assert_int_equal(now->waited, before[p].waited + 1);
            assert_int_equal(now->state, before[p].state);
            assert_int_equal(now->cycles, before[p].cycles);
            assert_int_equal(now->cause_count, before[p].cause_count);
            for (size_t s = 0; s < h.cycle.switch_count; s++)
                assert_int_not_equal(h.cycle.switches[s].problem, p);
        }
    }
    assert_int_equal(waited, 29 * (TYPES - 3));
    end(&h);
}

static void where_there_are_turns_for_all_nothing_changes(void **state)
{
    struct hunt all, some;
    begin_types(&all, 0);
    begin_types(&some, TYPES);
    for (int i = 0; i < 12; i++) {
        cycle(&all, TYPES * EACH);
        cycle(&some, TYPES * EACH);
        assert_int_equal(some.cycle.waiting, 0);
        assert_int_equal(all.cycle.waiting, 0);
    }
    assert_same_decisions(&all, &some);
    assert_true(all.history_count > 12);
    end(&all);
    end(&some);
}

static void a_cycle_that_fails_takes_no_turn(void **state)
{
    struct hunt calm, failing;
    begin_types(&calm, 3);
    begin_types(&failing, 3);
    for (int i = 0; i < 5; i++) {
        cycle(&calm, TYPES * EACH);
        see(&failing, TYPES * EACH);
        int status = PYTHIA_ENOMEM;
        for (long n = 0; status == PYTHIA_ENOMEM; n += 1 + n / 8) {
            pythia_mem_fail_after(n);
            status = pythia_search_cycle(failing.search, failing.r.groups, failing.hits,
                                         failing.points, &failing.cycle);
            pythia_mem_fail_after(-1);
        }
        assert_int_equal(status, PYTHIA_OK);
        note(&failing);
        for (int type = 0; type < TYPES; type++)
            assert_int_equal(problem_of(&failing, type)->waited, problem_of(&calm, type)->waited);
    }
    assert_same_decisions(&calm, &failing);
    end(&calm);
    end(&failing);
}

/* ---- a strategy ---- */

static size_t asked_types[TYPES]; /* how often the strategy was asked about each */
static size_t most_asked;         /* types at once */

/* Suggests nothing, and notes what it is asked about. */
static int note_types(const struct pythia_evidence *e, size_t budget, struct pythia_suggestion *out,
                      size_t *count)
{
    size_t types = 0;
    assert_true(out && budget > 0);
    for (size_t i = 0; i < e->diagnosis->group_count; i++) {
        const struct pythia_type *type = e->diagnosis->types[e->diagnosis->groups[i].type].type;
        struct pythia_text name =
            pythia_vocabulary_text(pythia_space_vocabulary(e->space), type->name);
        asked_types[strtoul(strchr(name.bytes, 'T') + 1, NULL, 10)]++;
        types++; /* each has one group */
    }
    most_asked = types > most_asked ? types : most_asked;
    *count = 0;
    return PYTHIA_OK;
}

/* A quarter of the turns, and in turn. */
static void a_strategy_is_asked_about_few_types_at_a_time(void **state)
{
    static const struct pythia_strategy noting = {.name = "noting", .suggest = note_types};
    static const struct {
        size_t turns, most, cycles;
    } cases[] = {{16, 4, 20}, {5, 2, 40}, {1, 1, 40}, {0, TYPES, 1}};
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        struct hunt h;
        begin_types_by(&h, cases[c].turns, &noting);
        memset(asked_types, 0, sizeof(asked_types));
        most_asked = 0;
        for (size_t i = 0; i < cases[c].cycles; i++)
            cycle(&h, TYPES * EACH);
        assert_int_equal(most_asked, cases[c].most);
        for (size_t i = 0; i < TYPES; i++)
            assert_true(asked_types[i] > 0);
        end(&h);
    }
}

static void by_a_strategy_every_cause_is_found_too(void **state)
{
    size_t count;
    struct hunt h;
    begin_types_by(&h, 16, pythia_strategies(&count)[1]);
    assert_string_equal(h.how.strategy->name, "hierarchical");
    assert_in_range(run(&h, TYPES * EACH, 120), 10, 119);
    for (int type = 0; type < TYPES; type++)
        assert_found(&h, type, 0, "Q");
    end(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(those_that_vary_most_come_first_and_then_those_that_waited),
        cmocka_unit_test(each_has_its_turn_in_a_bounded_number_of_cycles),
        cmocka_unit_test(every_cause_is_found_that_of_the_last_type_too),
        cmocka_unit_test(what_is_done_is_watched_in_its_turn),
        cmocka_unit_test(nothing_happens_to_a_problem_that_waits),
        cmocka_unit_test(where_there_are_turns_for_all_nothing_changes),
        cmocka_unit_test(a_cycle_that_fails_takes_no_turn),
        cmocka_unit_test(a_strategy_is_asked_about_few_types_at_a_time),
        cmocka_unit_test(by_a_strategy_every_cause_is_found_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
