/* What the search opens is open for one request type: what requests of others look like then, and
 * what is wanted of the planes. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "stream.h"

static const struct pythia_live_options usual = {
    .window = {.quiet_ns = MS},
    .groups = {.fold = true},
    .search = {.budget = {.points_per_cycle = 3}, .price_ns = 1000, .seed = 1},
    .cycle_requests = 40,
    .learn_requests = 10,
};

/* A differs in B, which Z calls too, and as often. */
static const char *shared(uint64_t number)
{
    static char text[64];
    snprintf(text, sizeof(text), "%c{10 B{%d} 10}", number % 2 ? 'A' : 'Z',
             10 + (number % 2 ? (int)(number / 2 * 7 % 10 * 10) : 0));
    return text;
}

static uint32_t point_of(const struct stream *s, const char *id)
{
    return pythia_vocabulary_tracepoint_find(s->vocabulary, pythia_text_of(id));
}

/* Is a point limited to just that type? */
static bool is_for(const struct stream *s, const char *id, const char *type)
{
    size_t count;
    const struct pythia_text *types = pythia_live_limit(s->live, point_of(s, id), &count);
    return count == 1 && pythia_text_equal(types[0], pythia_text_of(type));
}

/* The search opens B for A. */
static void begin(struct stream *s, const struct pythia_live_options *o)
{
    stream_begin(s);
    stream_attach(s, NULL, o);
    for (size_t i = 1; i < 20 && !(i > 2 && stream_is_open(s, "B")); i++)
        stream_run(s, i, shared);
    assert_true(stream_is_open(s, "B"));
}

static void of_other_types_nothing_is_seen_that_is_open_for_one(void **state)
{
    struct stream s;
    size_t count;
    begin(&s, &usual);
    assert_true(is_for(&s, "B", "A"));
    assert_null(pythia_live_limit(s.live, point_of(&s, "A"), &count)); /* the skeleton */
    assert_int_equal(count, 0);
    stream_run(&s, s.cycles + 1, shared);
    const char *a = strstr(s.types, "A "), *z = strstr(s.types, "Z ");
    assert_true(a && z);
    uint64_t of_a = strtoull(a + 2, NULL, 10), of_z = strtoull(z + 2, NULL, 10);
    assert_true(of_a > 0 && of_z > 0);
    assert_int_equal(s.seen[s.cycles - 1].spans,
                     2 * of_a + of_z); /* the program gave it in Z too */
    stream_end(&s);
}

/* A type that turns up calls B, too: it is opened for that as well, to learn it. */
static const char *with_new(uint64_t number)
{
    static char text[64];
    if (number % 3)
        return shared(number);
    snprintf(text, sizeof(text), "New{10 B{%d} 10}", 10 + (int)(number / 3 * 7 % 10 * 10));
    return text;
}

static void a_type_that_turns_up_is_learnt_with_what_is_open_for_another(void **state)
{
    struct stream s;
    struct pythia_live_options o = usual;
    uint32_t types[PYTHIA_LIVE_LATE_MAX];
    size_t wanted = 0;
    o.learn_hourly = 6;
    begin(&s, &o);
    for (int i = 0; i < 400 && pythia_live_numbers(s.live).learnt < 3; i++) {
        uint64_t wish = pythia_live_wish(s.live);
        stream_request(&s, with_new(s.number));
        size_t count = pythia_live_open_for(s.live, point_of(&s, "B"), types, PYTHIA_LIVE_LATE_MAX);
        wanted = count > wanted ? count : wanted;
        if (count > 0) {
            assert_string_equal(pythia_vocabulary_text(s.vocabulary, types[0]).bytes, "New");
            assert_true(is_for(&s, "B", "A")); /* beside that */
        }
        if (pythia_live_wish(s.live) != wish)
            stream_applied(&s);
    }
    assert_int_equal(wanted, 1);
    assert_int_equal(pythia_live_numbers(s.live).learnt, 3);
    const struct pythia_space_type *type = pythia_space_type(
        pythia_live_space(s.live), pythia_vocabulary_string_find(s.vocabulary, PYTHIA_TEXT("New")));
    assert_non_null(type);
    assert_int_equal(pythia_cct_nodes(type->cct), 3); /* with B */
    stream_end(&s);
}

/* The program takes requests of A for others: it gives spans of B there only as long as B is open
 * for all. */
static struct stream *asked;

static const char *mistaken(uint64_t number)
{
    size_t count;
    uint32_t b = point_of(asked, "B");
    bool open = pythia_live_numbers(asked->live).learning ||
                (pythia_live_is_open(asked->live, b) && !pythia_live_limit(asked->live, b, &count));
    if (number % 2 == 0 || open)
        return shared(number);
    static char text[64];
    snprintf(text, sizeof(text), "A{10 %d 10}", 10 + (int)(number / 2 * 7 % 10 * 10));
    return text;
}

static size_t causes; /* of A */

static void count_causes(struct stream *s, const struct pythia_live_cycle *cycle)
{
    causes = 0;
    for (size_t i = 0; i < cycle->decisions.problem_count; i++)
        if (strcmp(pythia_vocabulary_text(s->vocabulary, cycle->decisions.problems[i].type).bytes,
                   "A") == 0)
            causes += cycle->decisions.problems[i].cause_count;
}

static void where_a_program_is_mistaken_the_point_is_opened_for_all(void **state)
{
    struct stream s;
    size_t count, limited = 0;
    asked = &s;
    causes = 0;
    stream_begin(&s);
    stream_attach(&s, NULL, &usual);
    s.look = count_causes;
    for (size_t i = 1; i < 20 && causes == 0; i++) {
        stream_run(&s, i, mistaken);
        limited += is_for(&s, "B", "A");
    }
    assert_int_equal(causes, 1);
    assert_int_equal(limited, 1); /* until it was seen that nothing comes */
    assert_true(stream_is_open(&s, "B"));
    assert_null(pythia_live_limit(s.live, point_of(&s, "B"), &count));
    stream_end(&s);
}

/* A pin that ends leaves the point to the search, and a pin takes the place of what it opened. */
static void a_pin_takes_the_place_of_what_the_search_opened(void **state)
{
    struct stream s;
    struct pythia_open_points *pins;
    size_t count;
    begin(&s, &usual);
    assert_int_equal(pythia_open_points_create(s.vocabulary, &pins), PYTHIA_OK);
    assert_int_equal(pythia_open_points_add(pins, PYTHIA_TEXT("B")), PYTHIA_OK);
    uint64_t wish = pythia_live_wish(s.live);
    assert_int_equal(pythia_live_set_pins(s.live, pins, NULL, NULL), PYTHIA_OK);
    assert_int_equal(pythia_live_wish(s.live), wish + 1); /* Z looks otherwise from now on */
    assert_null(pythia_live_limit(s.live, point_of(&s, "B"), &count));
    assert_int_equal(pythia_live_set_pins(s.live, NULL, NULL, NULL), PYTHIA_OK);
    assert_true(stream_is_open(&s, "B"));
    stream_applied(&s);
    for (int i = 0; i < 10 && !is_for(&s, "B", "A"); i++)
        stream_run(&s, s.cycles + 1, shared);
    assert_true(is_for(&s, "B", "A")); /* for Z it was closed: nothing differs there */
    pythia_open_points_destroy(pins);
    stream_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_other_types_nothing_is_seen_that_is_open_for_one),
        cmocka_unit_test(a_type_that_turns_up_is_learnt_with_what_is_open_for_another),
        cmocka_unit_test(where_a_program_is_mistaken_the_point_is_opened_for_all),
        cmocka_unit_test(a_pin_takes_the_place_of_what_the_search_opened),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
