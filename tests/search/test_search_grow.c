/* A search whose space gets further types while it runs. */
#include "hunt.h"
#include "pythia/mem.h"

/* Types "A" and "Z", one after the other; of A the cause is in D5, of Z in Y3. */
static void write_one(char *to, size_t room, const char *root, const char *middle, const char *leaf,
                      int fault, uint64_t number)
{
    size_t at = (size_t)snprintf(to, room, "%s{10", root);
    for (int i = 0; i < 8; i++)
        at += (size_t)snprintf(to + at, room - at, " %s%d{10 %s%d{%d} 10}", middle, i, leaf, i,
                               100 + (i == fault ? (int)(number / 2 * 7 % 10 * 100) : 0));
    snprintf(to + at, room - at, " 10}");
}

static void write_a(char *to, size_t room, uint64_t number)
{
    write_one(to, room, "A", "C", "D", 5, number * 2);
}

static void write_both(char *to, size_t room, uint64_t number)
{
    if (number % 2)
        write_one(to, room, "Z", "Y", "X", 3, number);
    else
        write_one(to, room, "A", "C", "D", 5, number);
}

/* What is learnt of type Z, in a space of its own. */
static struct pythia_space *learn_z(struct hunt *h)
{
    struct pythia_space *learnt = NULL;
    assert_int_equal(pythia_space_create(h->r.vocabulary, &learnt), PYTHIA_OK);
    pythia_trace_builder_destroy(h->r.builder);
    assert_int_equal(pythia_trace_builder_create(h->r.vocabulary, NULL, &h->r.builder), PYTHIA_OK);
    for (uint64_t i = 0; i < 5; i++) {
        char text[1024];
        write_one(text, sizeof(text), "Z", "Y", "X", 3, i);
        const struct pythia_trace *trace = requests_trace(&h->r, 0, text);
        assert_int_equal(pythia_space_add(learnt, pythia_request_type(h->types, trace), trace,
                                          requests_path(&h->r, trace)),
                         PYTHIA_OK);
    }
    return learnt;
}

/* More trace points than there were: h->open and h->hits as well. */
static void note_points(struct hunt *h)
{
    h->points = pythia_vocabulary_tracepoints(h->r.vocabulary);
    free(h->hits);
    free(h->open);
    h->hits = calloc(h->points + 64, sizeof(*h->hits));
    h->open = calloc(h->points, sizeof(*h->open));
    assert_true(h->hits && h->open);
}

static void grow(struct hunt *h)
{
    struct pythia_space *learnt = learn_z(h);
    uint32_t z = requests_string(&h->r, "Z");
    assert_int_equal(pythia_space_move(h->space, learnt, z), PYTHIA_OK);
    assert_null(pythia_space_type(learnt, z));
    pythia_space_destroy(learnt);
    assert_int_equal(pythia_search_grow(h->search), PYTHIA_OK);
    note_points(h);
}

static const struct pythia_problem *problem_of(struct hunt *h, const char *type)
{
    for (size_t i = 0; i < h->cycle.problem_count; i++)
        if (h->cycle.problems[i].type == requests_string(&h->r, type))
            return &h->cycle.problems[i];
    fail_msg("no problem %s", type);
    return NULL;
}

static void a_type_that_is_learnt_later_is_searched_from_then_on(void **state)
{
    struct hunt h;
    begin_text(&h, write_a, NULL);
    search(&h);
    cycle(&h, 50);
    assert_int_equal(problem_of(&h, "A")->cycles, 1);
    grow(&h);
    h.write = write_both;
    assert_true(pythia_search_in_skeleton(h.search, point(&h, "Z")));
    assert_true(pythia_search_is_open(h.search, point(&h, "Z")));
    assert_false(pythia_search_is_open(h.search, point(&h, "X3")));
    (void)run(&h, 100, 12);
    assert_true(h.cycle.finished);
    for (int i = 0; i < 2; i++) {
        const struct pythia_problem *p = problem_of(&h, i ? "Z" : "A");
        assert_int_equal(p->state, PYTHIA_PROBLEM_DONE);
        assert_int_equal(p->cause_count, 1);
        assert_int_equal(p->causes[0].place.context, point(&h, i ? "X3" : "D5"));
    }
    end(&h);
}

/* What is decided about a type is the same as if nothing had been learnt meanwhile: its belief, the
 * points that told nothing, and the durations it remembers are still there. */
static void what_is_known_of_other_types_stays(void **state)
{
    for (uint64_t at = 0; at <= 4; at++) {
        struct hunt grown, plain;
        begin_text(&grown, write_a, NULL);
        begin_text(&plain, write_a, NULL);
        search(&grown);
        search(&plain);
        for (uint64_t n = 0; n < 8; n++) {
            if (n == at)
                grow(&grown);
            cycle(&grown, 50);
            cycle(&plain, 50);
        }
        assert_same_decisions(&grown, &plain);
        assert_true(plain.history_count > 3);
        end(&grown);
        end(&plain);
    }
}

/* ---- a known type gets further contexts ---- */

/* As write_a, but a new release of the program calls E5 within D5, and the cause is in there. */
static void write_release(char *to, size_t room, uint64_t number)
{
    size_t at = (size_t)snprintf(to, room, "A{10");
    for (int i = 0; i < 8; i++) {
        int fault = i == 5 ? (int)(number * 7 % 10 * 100) : 0;
        at += (size_t)snprintf(to + at, room - at,
                               i == 5 ? " C%d{10 D%d{40 E5{%d} 60} 10}" : " C%d{10 D%d{%d} 10}", i,
                               i, (i == 5 ? 0 : 100) + fault);
    }
    snprintf(to + at, room - at, " 10}");
}

/* The type is learnt once more, from requests as they are now. */
static void release(struct hunt *h)
{
    struct pythia_space *seen = NULL;
    uint32_t a = requests_string(&h->r, "A");
    assert_int_equal(pythia_space_create(h->r.vocabulary, &seen), PYTHIA_OK);
    pythia_trace_builder_destroy(h->r.builder);
    assert_int_equal(pythia_trace_builder_create(h->r.vocabulary, NULL, &h->r.builder), PYTHIA_OK);
    for (uint64_t i = 0; i < 5; i++) {
        char text[1024];
        h->write(text, sizeof(text), i);
        const struct pythia_trace *trace = requests_trace(&h->r, 0, text);
        assert_int_equal(pythia_space_add(seen, a, trace, requests_path(&h->r, trace)), PYTHIA_OK);
    }
    assert_int_equal(pythia_search_grow(h->search), PYTHIA_OK);
    assert_int_equal(pythia_space_renew_type(h->space, pythia_space_type(seen, a)), PYTHIA_OK);
    pythia_space_destroy(seen);
    assert_int_equal(pythia_search_grow(h->search), PYTHIA_OK);
    note_points(h);
}

static void a_cause_is_followed_into_a_point_that_turned_up_in_it(void **state)
{
    struct hunt h;
    begin_text(&h, write_a, NULL);
    search(&h);
    (void)run(&h, 50, 12);
    const struct pythia_problem *p = problem_of(&h, "A");
    assert_int_equal(p->state, PYTHIA_PROBLEM_DONE);
    assert_int_equal(p->causes[0].place.context, point(&h, "D5"));
    h.write = write_release;
    release(&h);
    assert_int_equal(problem_of(&h, "A")->cause_count, 1); /* until a cycle has looked */
    assert_int_equal(problem_of(&h, "A")->state, PYTHIA_PROBLEM_SEARCHING);
    cycle(&h, 50);
    p = problem_of(&h, "A");
    assert_true(p->grown);
    assert_int_equal(p->cause_count, 0);
    (void)run(&h, 50, 12);
    p = problem_of(&h, "A");
    assert_false(p->grown);
    assert_int_equal(p->state, PYTHIA_PROBLEM_DONE);
    assert_int_equal(p->cause_count, 1);
    assert_int_equal(p->causes[0].place.context, point(&h, "E5"));
    end(&h);
}

/* As write_a with a call that is new and elsewhere: E2 in D2. */
static void write_beside(char *to, size_t room, uint64_t number)
{
    size_t at = (size_t)snprintf(to, room, "A{10");
    for (int i = 0; i < 8; i++) {
        int fault = i == 5 ? (int)(number * 7 % 10 * 100) : 0;
        at += (size_t)snprintf(to + at, room - at,
                               i == 2 ? " C%d{10 D%d{40 E2{%d}} 10}" : " C%d{10 D%d{%d} 10}", i, i,
                               (i == 2 ? 60 : 100) + fault);
    }
    snprintf(to + at, room - at, " 10}");
}

static void a_cause_stays_when_a_point_turns_up_elsewhere(void **state)
{
    struct hunt h;
    begin_text(&h, write_a, NULL);
    search(&h);
    (void)run(&h, 50, 12);
    h.write = write_beside;
    release(&h);
    for (int i = 0; i < 3; i++) {
        cycle(&h, 50);
        const struct pythia_problem *p = problem_of(&h, "A");
        assert_int_equal(p->grown, i == 0);
        assert_int_equal(p->cause_count, 1);
        assert_int_equal(p->causes[0].place.context, point(&h, "D5"));
    }
    end(&h);
}

/* What was open stays open, and pins hold for what is new. */
static void points_that_are_new_obey_the_pins(void **state)
{
    struct hunt h;
    begin_text(&h, write_a, NULL);
    assert_int_equal(pythia_open_points_create(h.r.vocabulary, &h.how.always), PYTHIA_OK);
    assert_int_equal(pythia_open_points_create(h.r.vocabulary, &h.how.never), PYTHIA_OK);
    assert_int_equal(pythia_open_points_add(h.how.always, PYTHIA_TEXT("Y*")), PYTHIA_OK);
    assert_int_equal(pythia_open_points_add(h.how.never, PYTHIA_TEXT("Y7")), PYTHIA_OK);
    search(&h);
    cycle(&h, 50);
    bool *before = calloc(h.points, sizeof(*before));
    uint32_t points = h.points;
    assert_non_null(before);
    for (uint32_t i = 0; i < points; i++)
        before[i] = pythia_search_is_open(h.search, i);
    grow(&h);
    for (uint32_t i = 0; i < points; i++)
        assert_int_equal(pythia_search_is_open(h.search, i), before[i]);
    assert_true(pythia_search_is_open(h.search, point(&h, "Y3")));
    assert_true(pythia_search_in_skeleton(h.search, point(&h, "Y3")));
    assert_false(pythia_search_is_open(h.search, point(&h, "Y7")));
    assert_false(pythia_search_is_open(h.search, h.points));
    free(before);
    pythia_open_points_destroy(h.how.always);
    pythia_open_points_destroy(h.how.never);
    end(&h);
}

/* A budget of more points than there were is not lost. */
static void the_budget_grows_with_the_points(void **state)
{
    struct hunt h;
    begin_text(&h, write_a, "A{10 C1{10} 10}");
    h.write = write_both;
    h.how.budget.points_per_cycle = 100;
    search(&h);
    grow(&h);
    cycle(&h, 100);
    assert_true(h.cycle.switch_count > 2); /* there were two, and a root */
    end(&h);
}

static void without_memory_it_goes_on_as_it_was(void **state)
{
    struct hunt h, plain;
    begin_text(&h, write_a, NULL);
    begin_text(&plain, write_a, NULL);
    search(&h);
    search(&plain);
    for (int n = 0; n < 3; n++) {
        cycle(&h, 50);
        cycle(&plain, 50);
    }
    struct pythia_space *learnt = learn_z(&h);
    uint32_t z = requests_string(&h.r, "Z");
    int status = PYTHIA_ENOMEM;
    long failures = 0;
    for (; status != PYTHIA_OK; failures++) {
        assert_int_equal(pythia_space_move(h.space, learnt, z), PYTHIA_OK);
        pythia_mem_fail_after(failures);
        status = pythia_search_grow(h.search);
        pythia_mem_fail_after(-1);
        if (status == PYTHIA_OK)
            break;
        assert_int_equal(status, PYTHIA_ENOMEM);
        assert_false(pythia_search_is_open(h.search, point(&h, "Z")));
        assert_int_equal(pythia_space_move(learnt, h.space, z), PYTHIA_OK);
        if (failures == 2) {
            cycle(&h, 50);
            cycle(&plain, 50);
        }
    }
    assert_true(failures >= 4);
    assert_true(pythia_search_is_open(h.search, point(&h, "Z")));
    note_points(&h);
    cycle(&h, 50);
    cycle(&plain, 50);
    assert_same_decisions(&h, &plain);
    pythia_space_destroy(learnt);
    end(&h);
    end(&plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_type_that_is_learnt_later_is_searched_from_then_on),
        cmocka_unit_test(what_is_known_of_other_types_stays),
        cmocka_unit_test(a_cause_is_followed_into_a_point_that_turned_up_in_it),
        cmocka_unit_test(a_cause_stays_when_a_point_turns_up_elsewhere),
        cmocka_unit_test(points_that_are_new_obey_the_pins),
        cmocka_unit_test(the_budget_grows_with_the_points),
        cmocka_unit_test(without_memory_it_goes_on_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
