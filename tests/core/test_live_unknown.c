/* Trace points that turn up in requests of a type that was learnt before: nobody decides about
 * them, and that is told. */
#include "stream.h"

static const struct pythia_live_options usual = {
    .search = {.budget = {.points_per_cycle = 3}, .price_ns = 1000, .seed = 1},
    .cycle_requests = 40,
    .learn_requests = 10,
};

static const char *steady(uint64_t number)
{
    return number % 2 ? "A{10 B{20} 10}" : "A{10 B{21} 10}";
}

static struct pythia_unknown_points told; /* with the last cycle */
static char told_ids[256];

static void look(struct stream *s, const struct pythia_live_cycle *cycle)
{
    size_t size = 0;
    told = cycle->unknown;
    told_ids[0] = '\0';
    for (size_t i = 0; i < told.most_count; i++)
        size +=
            (size_t)snprintf(told_ids + size, sizeof(told_ids) - size, "%s%s", i ? " " : "",
                             pythia_vocabulary_tracepoint_id(s->vocabulary, told.most[i]).bytes);
}

/* A is learnt, with B in it, and searched. */
static void begin(struct stream *s)
{
    stream_begin(s);
    stream_attach(s, NULL, &usual);
    s->look = look;
    stream_run(s, 2, steady);
    assert_int_equal(pythia_live_numbers(s->live).learnt, 1);
    assert_int_equal(pythia_live_numbers(s->live).unknown_points, 0);
}

static void assert_unknown(const struct stream *s, uint64_t points, uint64_t spans)
{
    struct pythia_live_numbers n = pythia_live_numbers(s->live);
    assert_int_equal(n.unknown_points, points);
    assert_int_equal(n.unknown_spans, spans);
}

static void finish(struct stream *s)
{
    stream_wait(s, 5000); /* ms: all requests are finished */
}

static void what_a_known_type_did_not_have_is_told(void **state)
{
    struct stream s;
    begin(&s);
    for (int i = 0; i < 3; i++)
        stream_request(&s, "A{10 B{20} N{5} N{5 M{1}} 10}");
    finish(&s);
    assert_unknown(&s, 2, 9);
    stream_run(&s, s.cycles + 1, steady);
    assert_int_equal(told.count, 2);
    assert_int_equal(told.spans, 9);
    assert_string_equal(told_ids, "N M");
    stream_end(&s);
}

/* What is pinned open is seen, and what is pinned shut is not, on purpose. */
static void what_is_not_left_out_is_not_told(void **state)
{
    struct stream s;
    struct pythia_open_points *pins;
    begin(&s);
    stream_request(&s, "A{10 B{20} N{5} 10}");
    finish(&s);
    assert_unknown(&s, 1, 1);
    assert_int_equal(pythia_open_points_create(s.vocabulary, &pins), PYTHIA_OK);
    assert_int_equal(pythia_open_points_add(pins, PYTHIA_TEXT("N")), PYTHIA_OK);
    assert_int_equal(pythia_live_set_pins(s.live, pins, NULL, NULL), PYTHIA_OK);
    stream_applied(&s);
    stream_request(&s, "A{10 B{20} N{5} 10}");
    finish(&s);
    assert_unknown(&s, 1, 1);
    /* Pinned shut: that is meant. */
    assert_int_equal(pythia_live_set_pins(s.live, NULL, pins, NULL), PYTHIA_OK);
    stream_applied(&s);
    stream_request(&s, "A{10 B{20} N{5} M{1} 10}");
    finish(&s);
    assert_unknown(&s, 2, 2);
    /* And without pins. */
    assert_int_equal(pythia_live_set_pins(s.live, NULL, NULL, NULL), PYTHIA_OK);
    stream_applied(&s);
    stream_request(&s, "A{10 B{20} N{5} M{1} 10}");
    finish(&s);
    assert_unknown(&s, 2, 4);
    stream_end(&s);
    pythia_open_points_destroy(pins);
}

/* A pin holds for a point that turned up when the search had begun, too. */
static void what_turns_up_later_can_be_pinned_open(void **state)
{
    struct stream s;
    struct pythia_open_points *pins;
    begin(&s);
    assert_int_equal(pythia_live_know(s.live, PYTHIA_TEXT("N")), PYTHIA_OK);
    assert_int_equal(pythia_open_points_create(s.vocabulary, &pins), PYTHIA_OK);
    assert_int_equal(pythia_open_points_add(pins, PYTHIA_TEXT("N*")), PYTHIA_OK);
    assert_false(stream_is_open(&s, "N"));
    uint64_t wish = pythia_live_wish(s.live);
    assert_int_equal(pythia_live_set_pins(s.live, pins, NULL, NULL), PYTHIA_OK);
    assert_int_equal(pythia_live_wish(s.live), wish + 1);
    assert_true(stream_is_open(&s, "N"));
    stream_applied(&s);
    stream_request(&s, "A{10 B{20} N{5} 10}");
    finish(&s);
    assert_unknown(&s, 0, 0);
    stream_run(&s, s.cycles + 3, steady); /* and the search goes on */
    assert_true(stream_is_open(&s, "N"));
    stream_end(&s);
    pythia_open_points_destroy(pins);
}

/* Of a type that is not known yet all is seen; when it has been learnt, what the first one has of
 * it is known. */
static void what_is_learnt_with_another_type_is_known(void **state)
{
    struct stream s;
    begin(&s);
    stream_request(&s, "A{10 B{20} N{5} 10}");
    finish(&s);
    assert_unknown(&s, 1, 1);
    for (int i = 0; i < 20; i++)
        stream_request(&s, "Z{10 N{20} 10}");
    finish(&s);
    assert_unknown(&s, 1, 1);
    uint64_t wish = pythia_live_wish(s.live);
    stream_run(&s, s.cycles + 1, steady);
    assert_true(pythia_live_wish(s.live) > wish);
    assert_int_equal(pythia_live_numbers(s.live).learnt, 2);
    assert_true(stream_knows(&s, "N"));
    assert_unknown(&s, 0, 1);
    assert_int_equal(told.count, 0);
    assert_int_equal(told.spans, 0);
    stream_end(&s);
}

/* Ten are named, those with most spans first; of as many by name, whoever came first. */
static void of_many_those_with_most_spans_are_named(void **state)
{
    struct stream s;
    begin(&s);
    for (int round = 0; round < 3; round++)
        for (int i = 12; i >= (round == 2 ? 12 : round == 1 ? 11 : 1); i--) {
            char text[64];
            snprintf(text, sizeof(text), "A{10 B{20} N%d{5} 10}", i);
            stream_request(&s, text);
        }
    finish(&s);
    assert_unknown(&s, 12, 15);
    stream_run(&s, s.cycles + 1, steady);
    assert_int_equal(told.count, 12);
    assert_int_equal(told.spans, 15);
    assert_string_equal(told_ids, "N12 N11 N1 N10 N2 N3 N4 N5 N6 N7");
    stream_end(&s);
}

/* ---- points that are open for some types only ---- */

static const char *two_types(uint64_t number)
{
    static const char *const texts[] = {"A{10 B{20} 10}", "Z{10 B{20} 10}", "A{10 B{21} 10}",
                                        "Z{10 B{21} 10}"};
    return texts[number % 4];
}

/* Of the last cycle, how many spans more than one a request? */
static uint64_t spans_below(const struct stream *s, uint64_t *a, uint64_t *z)
{
    char *end;
    assert_memory_equal(s->types, "A ", 2);
    *a = strtoull(s->types + 2, &end, 10);
    assert_memory_equal(end, " Z ", 3);
    *z = strtoull(end + 3, &end, 10);
    assert_in_range(*a, 10, 100);
    assert_in_range(*z, 10, 100);
    return s->seen[s->cycles - 1].spans - *a - *z;
}

struct listing {
    struct stream *s;
    char text[64];
};

/* Appends the name of a type to a text. Ends with 1 after "Z" if the text began with "!". */
static int add_type_name(void *context, uint32_t type)
{
    struct listing *to = context;
    const char *name = pythia_vocabulary_text(to->s->vocabulary, type).bytes;
    strcat(to->text, name);
    return to->text[0] == '!' && strcmp(name, "Z") == 0;
}

static void each_type_is_listed_once(void **state)
{
    struct stream s;
    struct listing all = {&s, ""}, until = {&s, "!"};
    stream_begin(&s);
    stream_attach(&s, NULL, &usual);
    assert_int_equal(pythia_live_each_type(s.live, add_type_name, &all), 0);
    assert_string_equal(all.text, "");
    stream_run(&s, 3, two_types);
    stream_request(&s, "New{1}"); /* it is being learnt */
    finish(&s);
    assert_int_equal(pythia_live_each_type(s.live, add_type_name, &all), 0);
    assert_true(strcmp(all.text, "AZNew") == 0 || strcmp(all.text, "ZANew") == 0);
    assert_int_equal(pythia_live_each_type(s.live, add_type_name, &until), 1);
    assert_true(strcmp(until.text, "!Z") == 0 || strcmp(until.text, "!AZ") == 0);
    stream_end(&s);
}

/* B is open for A only: also if the program gives it in Z, because nothing there tells types apart,
 * nothing of it is seen. */
static void a_point_that_is_open_for_one_type_gives_no_spans_of_another(void **state)
{
    struct stream s;
    struct pythia_open_points *pins;
    size_t count;
    uint64_t of_a, of_z;
    stream_begin(&s);
    stream_attach(&s, NULL, &usual);
    stream_run(&s, 3, two_types);
    assert_int_equal(pythia_live_numbers(s.live).learnt, 2);
    uint32_t a = pythia_vocabulary_string_find(s.vocabulary, PYTHIA_TEXT("A"));
    uint32_t b = pythia_vocabulary_tracepoint_find(s.vocabulary, PYTHIA_TEXT("B"));
    assert_true(pythia_live_has_type(s.live, a));
    assert_false(
        pythia_live_has_type(s.live, pythia_vocabulary_string(s.vocabulary, PYTHIA_TEXT("never"))));
    assert_int_equal(pythia_open_points_create(s.vocabulary, &pins), PYTHIA_OK);
    assert_int_equal(pythia_open_points_add_id_for(pins, PYTHIA_TEXT("B"), PYTHIA_TEXT("A")),
                     PYTHIA_OK);
    assert_int_equal(pythia_open_points_add_id_for(pins, PYTHIA_TEXT("A"), PYTHIA_TEXT("Z")),
                     PYTHIA_OK);
    assert_int_equal(pythia_live_set_pins(s.live, pins, NULL, NULL), PYTHIA_OK);
    stream_applied(&s);
    assert_true(stream_is_open(&s, "B"));
    const struct pythia_text *types = pythia_live_limit(s.live, b, &count);
    assert_int_equal(count, 1);
    assert_true(PYTHIA_TEXT_IS(types[0], "A"));
    stream_run(&s, s.cycles + 2, two_types);
    uint64_t below = spans_below(&s, &of_a, &of_z);
    assert_int_equal(below, of_a);
    assert_true(stream_is_open(&s, "A")); /* it is where requests begin: for all types */
    assert_null(pythia_live_limit(
        s.live, pythia_vocabulary_tracepoint_find(s.vocabulary, PYTHIA_TEXT("A")), &count));
    /* For both: the set of open points is the same, and yet it is another wish. */
    uint64_t wish = pythia_live_wish(s.live);
    struct pythia_open_points *more;
    assert_int_equal(pythia_open_points_create(s.vocabulary, &more), PYTHIA_OK);
    assert_int_equal(pythia_open_points_add_id_for(more, PYTHIA_TEXT("B"), PYTHIA_TEXT("A")),
                     PYTHIA_OK);
    assert_int_equal(pythia_open_points_add_id_for(more, PYTHIA_TEXT("B"), PYTHIA_TEXT("Z")),
                     PYTHIA_OK);
    assert_int_equal(pythia_live_set_pins(s.live, more, NULL, NULL), PYTHIA_OK);
    assert_int_equal(pythia_live_wish(s.live), wish + 1);
    stream_applied(&s);
    stream_run(&s, s.cycles + 2, two_types);
    below = spans_below(&s, &of_a, &of_z);
    assert_int_equal(below, of_a + of_z);
    stream_end(&s);
    pythia_open_points_destroy(pins);
    pythia_open_points_destroy(more);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_known_type_did_not_have_is_told),
        cmocka_unit_test(what_is_not_left_out_is_not_told),
        cmocka_unit_test(what_turns_up_later_can_be_pinned_open),
        cmocka_unit_test(what_is_learnt_with_another_type_is_known),
        cmocka_unit_test(of_many_those_with_most_spans_are_named),
        cmocka_unit_test(each_type_is_listed_once),
        cmocka_unit_test(a_point_that_is_open_for_one_type_gives_no_spans_of_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
