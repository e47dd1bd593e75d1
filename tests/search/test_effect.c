/* What points explained that were opened. Durations are such that clipping changes nothing: the
 * largest value of each edge is there several times. */
#include "pythia/effect.h"
#include "pythia/effects.h"
#include "pythia/shares.h"
#include "requests.h"

/* Requests with everything open, points opened among them, and what these explained. */
struct seen {
    struct requests r;
    struct pythia_effects *effects;
    const struct pythia_effect *list;
    size_t count;
};

static const struct pythia_effects_options usual = {.fold = true};

static void begin(struct seen *s, const struct pythia_effects_options *options)
{
    *s = (struct seen){.count = 0};
    requests_begin(&s->r);
    assert_int_equal(pythia_effects_create(s->r.vocabulary, options, &s->effects), PYTHIA_OK);
}

static void end(struct seen *s)
{
    pythia_effects_destroy(s->effects);
    requests_end(&s->r);
}

/* The trace point of that name, seen or not. */
static uint32_t point(struct seen *s, const char *name)
{
    return pythia_vocabulary_tracepoint(s->r.vocabulary, 0, 0, requests_string(&s->r, name));
}

/* Open points for the type "get"; `names` have blanks between them. */
static void open_in(struct seen *s, const char *names, uint64_t cycle)
{
    while (*(names += strspn(names, " "))) {
        char name[64];
        size_t size = strcspn(names, " ");
        snprintf(name, sizeof(name), "%.*s", (int)size, names);
        assert_int_equal(
            pythia_effects_open(s->effects, point(s, name), requests_string(&s->r, "get"), cycle),
            PYTHIA_OK);
        names += size;
    }
}

/* Requests that `write` makes of their number, from 0 on, in one cycle with everything open. */
static void look(struct seen *s, void (*write)(char *to, size_t room, uint64_t i), uint64_t count,
                 uint64_t cycle)
{
    struct pythia_open_points *all = NULL;
    assert_int_equal(pythia_open_points_create(s->r.vocabulary, &all), PYTHIA_OK);
    assert_int_equal(pythia_open_points_add(all, pythia_text_of("*")), PYTHIA_OK);
    char text[256];
    for (uint64_t i = 0; i < count; i++) { /* so that all points are known */
        write(text, sizeof(text), i);
        (void)requests_trace(&s->r, i, text);
    }
    assert_int_equal(pythia_effects_begin(s->effects, all), PYTHIA_OK);
    for (uint64_t i = 0; i < count; i++) {
        write(text, sizeof(text), i);
        const struct pythia_trace *trace = requests_trace(&s->r, i, text);
        assert_int_equal(pythia_effects_add(s->effects, trace, requests_string(&s->r, "get"),
                                            requests_path(&s->r, trace)),
                         PYTHIA_OK);
    }
    assert_int_equal(pythia_effects_finish(s->effects, cycle, &s->list, &s->count), PYTHIA_OK);
    pythia_open_points_destroy(all);
}

/* Points opened in cycle 1, requests seen in cycle 2. */
static void see(struct seen *s, const char *opened,
                void (*write)(char *to, size_t room, uint64_t i), uint64_t count)
{
    begin(s, &usual);
    open_in(s, opened, 1);
    look(s, write, count, 2);
}

static void assert_place(struct seen *s, const struct pythia_finding *f, const char *place)
{
    struct pythia_buf text = {0};
    pythia_place_add(&text, s->r.vocabulary, &f->place);
    assert_string_equal(text.bytes, place);
    pythia_buf_free(&text);
}

static void assert_words(struct seen *s, const struct pythia_effect *e, const char *words)
{
    struct pythia_buf text = {0};
    pythia_effect_add(&text, s->r.vocabulary, e, true);
    assert_string_equal(text.bytes ? text.bytes : "", words);
    pythia_buf_free(&text);
}

/* ---- what lies inside ---- */

/* 20 or 60 ns before B, 100 or 180 ns in it, each with each: their variances are 400 and 1600, so
 * of the sum's 2000 B has .8. */
static void before_and_inside(char *to, size_t room, uint64_t i)
{
    snprintf(to, room, "R{%d B{%d} 7}", i & 1 ? 20 : 60, i & 2 ? 100 : 180);
}

static void what_lies_inside_of_a_point_is_its_share(void **state)
{
    struct seen s;
    see(&s, "B", before_and_inside, 40);
    assert_int_equal(s.count, 1);
    const struct pythia_effect *e = &s.list[0];
    assert_int_equal(e->tracepoint, point(&s, "B"));
    assert_int_equal(e->type, requests_string(&s.r, "get"));
    assert_int_equal(e->opened, 1);
    assert_int_equal(e->requests, 40);
    assert_int_equal(e->passed, 40);
    assert_int_equal(e->rerouted, 0);
    assert_place(&s, &e->coarse, "inside R");
    assert_rel_equal(e->coarse.share, 1, 1e-12);
    assert_rel_equal(e->coarse.low, 1, 1e-12); /* all of it: nothing to be unsure of */
    assert_place(&s, &e->fine, "inside B");
    assert_rel_equal(e->fine.share, .8, 1e-12);
    assert_rel_equal(e->inside, .8, 1e-12);
    assert_rel_equal(e->eta_squared, 0, 0);
    assert_rel_equal(e->p, 1, 0);
    assert_int_equal(e->verdict, PYTHIA_EFFECT_EXPLAINS);
    struct pythia_buf text = {0};
    pythia_effect_add(&text, s.r.vocabulary, e, false);
    assert_memory_equal(text.bytes, "80 % of the variance (", 22);
    assert_non_null(strstr(text.bytes, " %) lies inside it, of 100 % where it was opened"));
    pythia_buf_free(&text);
    /* The interval is that of any share, at the level of the second look. */
    double inside[40], total[40];
    struct pythia_slope slope;
    for (int i = 0; i < 40; i++) {
        inside[i] = i & 2 ? 100 : 180;
        total[i] = inside[i] + (i & 1 ? 20 : 60) + 7;
    }
    pythia_slope_hc3(inside, total, 40, 1 - .05 * 6 / (9.869604401089358 * 4), &slope);
    assert_rel_equal(e->inside_low, slope.low, 1e-12);
    assert_rel_equal(e->inside_high, slope.high, 1e-12);
    assert_rel_equal(e->fine.low, slope.low, 1e-12);
    assert_rel_equal(e->fine.high, slope.high, 1e-12);
    end(&s);
}

/* B has C in it, which stays open: of 40 or 80 ns in B before C the variance is 400, in C it is
 * 1600, behind C nothing varies. Without B the first lies from R to C. */
static void around(char *to, size_t room, uint64_t i)
{
    snprintf(to, room, "R{3 B{%d C{%d} 5} 2}", i & 1 ? 40 : 80, i & 2 ? 100 : 180);
}

static void a_point_around_others_has_its_part_of_the_stretches_at_its_ends(void **state)
{
    struct seen s;
    see(&s, "B", around, 40);
    const struct pythia_effect *e = &s.list[0];
    assert_place(&s, &e->coarse, "from the start of R to the start of C");
    assert_rel_equal(e->coarse.share, .2, 1e-12);
    assert_place(&s, &e->fine, "from the start of B to the start of C");
    assert_rel_equal(e->inside, .2, 1e-12); /* C has the rest, with B and without */
    assert_int_equal(e->verdict, PYTHIA_EFFECT_EXPLAINS);
    end(&s);
}

/* D is opened together with B, around it: 2 ns are in D and not in B. */
static void nested(char *to, size_t room, uint64_t i)
{
    snprintf(to, room, "R{%d D{1 B{%d} 1} 9}", i & 1 ? 20 : 60, i & 2 ? 100 : 180);
}

static void points_opened_together_are_each_measured_against_neither(void **state)
{
    struct seen s;
    see(&s, "B D", nested, 40);
    assert_int_equal(s.count, 2);
    for (int i = 0; i < 2; i++) {
        assert_place(&s, &s.list[i].coarse, "inside R");
        assert_rel_equal(s.list[i].inside, .8, 1e-12);
        assert_place(&s, &s.list[i].fine, "inside B");
    }
    end(&s);
}

/* ---- what splits ---- */

/* Half of the requests pass B and take 10 or 20 ns, the others 40 or 50. Means are 15, 45 and 30 of
 * all: 40 * 15^2 = 9000 lie between, 40 * 5^2 = 1000 within. */
static void with_and_without(char *to, size_t room, uint64_t i)
{
    if (i & 1)
        snprintf(to, room, "R{B{0} %d}", i & 2 ? 10 : 20);
    else
        snprintf(to, room, "R{%d}", i & 2 ? 40 : 50);
}

static void eta_squared_is_what_lies_between_those_that_pass_and_those_that_do_not(void **state)
{
    struct seen s;
    see(&s, "B", with_and_without, 40);
    const struct pythia_effect *e = &s.list[0];
    assert_int_equal(e->passed, 20);
    assert_rel_equal(e->eta_squared, .9, 1e-12); /* F = 9000 / (1000 / 38) = 342 */
    assert_rel_equal(e->p, 1.3516727766414118e-20,
                     1e-9); /* the incomplete beta function's series */
    assert_rel_equal(e->inside, 0, 0);
    assert_int_equal(e->verdict, PYTHIA_EFFECT_EXPLAINS);
    assert_words(
        &s, e,
        "none of the variance lies inside it, of 100 % inside R; 90 % of what varies there "
        "correlates with whether it is hit");
    assert_true(e->by_split && !e->by_inside && !e->by_part);
    end(&s);
}

/* What lies inside falls a little where the rest rises: chance, in requests of which few hit it. */
static void a_negative_share_is_none_of_the_variance(void **state)
{
    struct pythia_buf text = {0};
    const struct pythia_effect e = {.coarse = {.share = .3},
                                    .fine = {.share = .1},
                                    .inside = -.014,
                                    .inside_low = -.05,
                                    .inside_high = .02,
                                    .eta_squared = .4,
                                    .by_split = true};
    pythia_effect_add(&text, NULL, &e, false);
    assert_string_equal(text.bytes,
                        "none of the variance lies inside it, of 30 % where it was opened; 40 % of "
                        "what varies there correlates with whether it is hit");
    pythia_buf_free(&text);
}

/* As above, with C in B: the time that differs is behind C, where B has its end alone. */
static void with_and_without_around(char *to, size_t room, uint64_t i)
{
    if (i & 1)
        snprintf(to, room, "R{B{C{1} 0} %d}", i & 2 ? 10 : 20);
    else
        snprintf(to, room, "R{C{1} %d}", i & 2 ? 40 : 50);
}

static void a_point_that_only_ends_in_the_stretch_is_passed_there_as_well(void **state)
{
    struct seen s;
    see(&s, "B", with_and_without_around, 40);
    assert_place(&s, &s.list[0].coarse, "from the end of C to the end of R");
    assert_int_equal(s.list[0].passed, 20);
    assert_rel_equal(s.list[0].eta_squared, .9, 1e-12);
    end(&s);
}

/* B once or three times, 30 and 50 ns on average, with 10 ns to either side. */
static void more_or_less_often(char *to, size_t room, uint64_t i)
{
    snprintf(to, room, "R{B{0} %s %d}", i & 1 ? "" : "B{0} B{0}",
             (i & 1 ? 30 : 50) + (i & 2 ? 10 : -10));
}

static void with_loops_folded_a_point_passed_more_often_is_no_other_path(void **state)
{
    struct pythia_effects_options unfolded = {.fold = false};
    struct seen s;
    see(&s, "B", more_or_less_often, 40);
    assert_rel_equal(s.list[0].eta_squared, 0, 0);
    end(&s);
    begin(&s, &unfolded);
    open_in(&s, "B", 1);
    look(&s, more_or_less_often, 40, 2);
    assert_int_equal(s.list[0].passed, 40);
    assert_rel_equal(s.list[0].eta_squared, .5, 1e-12); /* 10^2 between, 10^2 within */
    end(&s);
}

/* ---- what narrows, and what does not pay ---- */

/* What varies comes before B, 20 ns on average; behind B, 60 ns or 2 ns are always the same. */
static void much_is_left_out(char *to, size_t room, uint64_t i)
{
    snprintf(to, room, "R{%d B{1} 60}", i & 1 ? 10 : 30);
}

static void little_is_left_out(char *to, size_t room, uint64_t i)
{
    snprintf(to, room, "R{%d B{1} 1}", i & 1 ? 10 : 30); /* 20 of 22 ns */
}

static void a_point_that_leaves_a_tenth_of_the_time_out_narrows(void **state)
{
    struct seen s;
    see(&s, "B", much_is_left_out, 40);
    assert_place(&s, &s.list[0].fine, "from the start of R to the start of B");
    assert_rel_equal(s.list[0].fine.share, 1, 1e-12);
    assert_rel_equal(s.list[0].inside, 0, 0);
    assert_int_equal(s.list[0].verdict, PYTHIA_EFFECT_EXPLAINS);
    assert_true(s.list[0].by_part && !s.list[0].by_inside && !s.list[0].by_split);
    assert_words(&s, &s.list[0],
                 "100 % of the variance lies from the start of R to the start of B, of 100 % "
                 "inside R");
    end(&s);
    see(&s, "B", little_is_left_out, 40);
    assert_rel_equal(s.list[0].fine.share, 1, 1e-12);
    assert_int_equal(s.list[0].verdict, PYTHIA_EFFECT_DOES_NOT_PAY);
    assert_words(&s, &s.list[0], "none of the variance lies inside it, of 100 % inside R");
    end(&s);
}

static void in_time(char *to, size_t room, uint64_t i)
{
    snprintf(to, room, "R{%d *E 60}", i & 1 ? 10 : 30);
}

static void a_point_in_time_has_no_inside(void **state)
{
    struct seen s;
    see(&s, "E", in_time, 40);
    assert_true(isnan(s.list[0].inside) && isnan(s.list[0].inside_low));
    assert_int_equal(s.list[0].passed, 40);
    assert_int_equal(s.list[0].verdict, PYTHIA_EFFECT_EXPLAINS);
    assert_words(
        &s, &s.list[0],
        "100 % of the variance lies from the start of R to the point of E, of 100 % inside "
        "R");
    end(&s);
}

/* All of 40 or 42 ns in A, of which 2 ns vary, are inside B; C behind it varies by 40 ns. */
static void in_what_hardly_varies(char *to, size_t room, uint64_t i)
{
    snprintf(to, room, "R{A{B{%d}} C{%d}}", i & 1 ? 40 : 42, i & 2 ? 40 : 80);
}

static void where_hardly_anything_lies_nothing_pays(void **state)
{
    struct seen s;
    see(&s, "B", in_what_hardly_varies, 40);
    assert_place(&s, &s.list[0].coarse, "inside A");
    assert_rel_equal(s.list[0].coarse.share, 1. / 401, 1e-9); /* variances of 1 and 400 */
    assert_rel_equal(s.list[0].inside, 1. / 401, 1e-9);
    assert_int_equal(s.list[0].verdict, PYTHIA_EFFECT_DOES_NOT_PAY);
    end(&s);
}

/* B is called in two places; what varies is in the second. */
static void in_two_places(char *to, size_t room, uint64_t i)
{
    snprintf(to, room, "R{B{5} A{5} 5 B{%d}}", i & 1 ? 10 : 30);
}

static void of_several_stretches_the_one_with_the_largest_share_counts(void **state)
{
    struct seen s;
    see(&s, "B", in_two_places, 40);
    assert_place(&s, &s.list[0].coarse, "from the end of A to the end of R");
    assert_rel_equal(s.list[0].inside, 1, 1e-12);
    end(&s);
}

/* A tenth of the requests go around D with B open, and through it with B closed. */
static void rerouted(char *to, size_t room, uint64_t i)
{
    snprintf(to, room, i % 10 ? "R{D{5} %d B{20} C{60}}" : "R{~B{D{5} 45} %d C{60}}",
             i & 1 ? 10 : 30);
}

static void requests_with_another_path_are_counted(void **state)
{
    struct seen s;
    see(&s, "B", rerouted, 40);
    assert_int_equal(s.list[0].rerouted, 4);
    assert_int_equal(s.list[0].passed, 36);
    end(&s);
}

static void beside_the_path(char *to, size_t room, uint64_t i)
{
    snprintf(to, room, "R{~B{5} C{%d}}", i & 1 ? 10 : 30);
}

static void a_point_that_is_on_no_path_is_not_passed(void **state)
{
    struct seen s;
    see(&s, "B Z", beside_the_path, 40); /* of Z there is no span at all */
    for (int i = 0; i < 2; i++) {
        const struct pythia_effect *e = &s.list[i];
        assert_int_equal(e->verdict, PYTHIA_EFFECT_NOT_PASSED);
        assert_int_equal(e->requests, 40);
        assert_int_equal(e->passed, 0);
        assert_true(isnan(e->coarse.share) && isnan(e->eta_squared) && isnan(e->inside));
        assert_words(&s, e, "");
    }
    end(&s);
}

static void always_the_same(char *to, size_t room, uint64_t i)
{
    (void)i;
    snprintf(to, room, "R{10 B{20} 30}");
}

static void where_nothing_varies_nothing_pays(void **state)
{
    struct seen s;
    see(&s, "B", always_the_same, 40);
    assert_true(isnan(s.list[0].coarse.share) && isnan(s.list[0].eta_squared));
    assert_int_equal(s.list[0].verdict, PYTHIA_EFFECT_DOES_NOT_PAY);
    assert_words(&s, &s.list[0], "");
    end(&s);
}

/* ---- from cycle to cycle ---- */

static void with_too_few_requests_it_is_measured_in_the_next_cycle(void **state)
{
    struct seen s;
    see(&s, "B", before_and_inside, 29);
    assert_int_equal(s.list[0].verdict, PYTHIA_EFFECT_TOO_FEW);
    assert_int_equal(s.list[0].requests, 29);
    assert_true(isnan(s.list[0].coarse.share));
    look(&s, before_and_inside, 30, 3);
    assert_int_equal(s.count, 1);
    assert_int_equal(s.list[0].verdict, PYTHIA_EFFECT_EXPLAINS);
    assert_int_equal(s.list[0].opened, 1);
    look(&s, before_and_inside, 30, 4);
    assert_int_equal(s.count, 0); /* it is known */
    end(&s);
}

static void what_is_closed_before_it_was_measured_is_forgotten(void **state)
{
    struct seen s;
    begin(&s, &usual);
    open_in(&s, "B D E", 1);
    pythia_effects_close(s.effects, point(&s, "D"), requests_string(&s.r, "get"));
    pythia_effects_close(s.effects, point(&s, "E"), requests_string(&s.r, "put"));
    pythia_effects_close(s.effects, point(&s, "X"), requests_string(&s.r, "get"));
    open_in(&s, "B", 4); /* once more: it is the last one opened */
    look(&s, before_and_inside, 40, 5);
    assert_int_equal(s.count, 2);
    assert_int_equal(s.list[0].tracepoint, point(&s, "E"));
    assert_int_equal(s.list[1].tracepoint, point(&s, "B"));
    assert_int_equal(s.list[1].opened, 4);
    end(&s);
}

/* In "get" B was opened, in "put" D was, and B was open there before: B belongs to what is compared
 * with, and D parts what comes after it. */
static void a_point_is_measured_in_the_type_that_it_was_opened_for(void **state)
{
    struct seen s;
    struct pythia_open_points *all = NULL;
    begin(&s, &usual);
    open_in(&s, "B", 1);
    uint32_t put = requests_string(&s.r, "put"), get = requests_string(&s.r, "get");
    assert_int_equal(pythia_effects_open(s.effects, point(&s, "D"), put, 2), PYTHIA_OK);
    assert_int_equal(pythia_open_points_create(s.r.vocabulary, &all), PYTHIA_OK);
    assert_int_equal(pythia_open_points_add(all, PYTHIA_TEXT("*")), PYTHIA_OK);
    assert_int_equal(pythia_effects_begin(s.effects, all), PYTHIA_OK);
    for (uint64_t i = 0; i < 80; i++) {
        char text[128];
        snprintf(text, sizeof(text), "R{10 B{%d} 10 D{%d} 7}", i & 1 ? 100 : 400, i & 2 ? 60 : 140);
        const struct pythia_trace *trace = requests_trace(&s.r, i, text);
        assert_int_equal(
            pythia_effects_add(s.effects, trace, i < 40 ? get : put, requests_path(&s.r, trace)),
            PYTHIA_OK);
    }
    assert_int_equal(pythia_effects_finish(s.effects, 3, &s.list, &s.count), PYTHIA_OK);
    assert_int_equal(s.count, 2);
    assert_true(s.list[0].tracepoint == point(&s, "B") && s.list[0].type == get);
    assert_true(s.list[1].tracepoint == point(&s, "D") && s.list[1].type == put);
    assert_int_equal(s.list[0].requests, 40);
    assert_int_equal(s.list[1].requests, 40);
    assert_place(&s, &s.list[0].coarse, "from the start of R to the start of D");
    assert_place(&s, &s.list[1].coarse, "from the end of B to the end of R");
    pythia_open_points_destroy(all);
    end(&s);
}

static void requests_of_other_types_are_passed_over(void **state)
{
    struct seen s;
    struct pythia_open_points *all = NULL;
    begin(&s, &usual);
    open_in(&s, "B", 1);
    assert_int_equal(pythia_open_points_create(s.r.vocabulary, &all), PYTHIA_OK);
    assert_int_equal(pythia_effects_begin(s.effects, all), PYTHIA_OK);
    for (uint64_t i = 0; i < 40; i++) {
        const struct pythia_trace *trace = requests_trace(&s.r, i, "R{1 B{2}}");
        assert_int_equal(pythia_effects_add(s.effects, trace, requests_string(&s.r, "put"),
                                            requests_path(&s.r, trace)),
                         PYTHIA_OK);
    }
    assert_int_equal(pythia_effects_finish(s.effects, 2, &s.list, &s.count), PYTHIA_OK);
    assert_int_equal(s.list[0].verdict, PYTHIA_EFFECT_TOO_FEW);
    assert_int_equal(s.list[0].requests, 0);
    pythia_open_points_destroy(all);
    end(&s);
}

/* A statement with a star in it is no pattern that opens others. */
static void hostile(char *to, size_t room, uint64_t i)
{
    snprintf(to, room, "R{%d B*{1 Bx{%d}} 7}", i & 1 ? 20 : 60, i & 2 ? 100 : 180);
}

static void a_name_that_looks_like_a_pattern_is_a_name(void **state)
{
    struct seen s;
    see(&s, "Bx", hostile, 40);
    assert_place(&s, &s.list[0].coarse, "inside B*");
    assert_rel_equal(s.list[0].inside, .8, 1e-12);
    end(&s);
}

static void without_memory_it_says_so_and_can_be_asked_again(void **state)
{
    struct seen s;
    begin(&s, &usual);
    struct pythia_effects *none = NULL;
    pythia_mem_fail_after(0);
    assert_int_equal(pythia_effects_create(s.r.vocabulary, &usual, &none), PYTHIA_ENOMEM);
    assert_int_equal(pythia_effects_open(s.effects, 0, 0, 1), PYTHIA_ENOMEM);
    pythia_mem_fail_after(-1);
    assert_null(none);
    open_in(&s, "B", 1);
    struct pythia_open_points *all = NULL;
    assert_int_equal(pythia_open_points_create(s.r.vocabulary, &all), PYTHIA_OK);
    assert_int_equal(pythia_open_points_add(all, pythia_text_of("*")), PYTHIA_OK);
    int status = PYTHIA_ENOMEM;
    for (long n = 0; status == PYTHIA_ENOMEM; n++) {
        pythia_mem_fail_after(n);
        status = pythia_effects_begin(s.effects, all);
        pythia_mem_fail_after(-1);
    }
    for (uint64_t i = 0; i < 40; i++) {
        char text[64];
        before_and_inside(text, sizeof(text), i);
        const struct pythia_trace *trace = requests_trace(&s.r, i, text);
        assert_int_equal(pythia_effects_add(s.effects, trace, requests_string(&s.r, "get"),
                                            requests_path(&s.r, trace)),
                         PYTHIA_OK);
    }
    status = PYTHIA_ENOMEM;
    for (long n = 0; status == PYTHIA_ENOMEM; n++) {
        assert_in_range(n, 0, 60);
        pythia_mem_fail_after(n);
        status = pythia_effects_finish(s.effects, 2, &s.list, &s.count);
        pythia_mem_fail_after(-1);
    }
    assert_int_equal(s.count, 1);
    assert_rel_equal(s.list[0].inside, .8, 1e-12);
    pythia_open_points_destroy(all);
    pythia_effects_destroy(NULL);
    end(&s);
}

static void verdicts_have_names(void **state)
{
    assert_string_equal(pythia_effect_verdict_name(PYTHIA_EFFECT_EXPLAINS), "explains");
    assert_string_equal(pythia_effect_verdict_name(PYTHIA_EFFECT_DOES_NOT_PAY), "does_not_pay");
    assert_string_equal(pythia_effect_verdict_name(PYTHIA_EFFECT_NOT_PASSED), "not_passed");
    assert_string_equal(pythia_effect_verdict_name(PYTHIA_EFFECT_TOO_FEW), "too_few");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_lies_inside_of_a_point_is_its_share),
        cmocka_unit_test(a_point_around_others_has_its_part_of_the_stretches_at_its_ends),
        cmocka_unit_test(points_opened_together_are_each_measured_against_neither),
        cmocka_unit_test(eta_squared_is_what_lies_between_those_that_pass_and_those_that_do_not),
        cmocka_unit_test(a_negative_share_is_none_of_the_variance),
        cmocka_unit_test(a_point_that_only_ends_in_the_stretch_is_passed_there_as_well),
        cmocka_unit_test(with_loops_folded_a_point_passed_more_often_is_no_other_path),
        cmocka_unit_test(a_point_that_leaves_a_tenth_of_the_time_out_narrows),
        cmocka_unit_test(a_point_in_time_has_no_inside),
        cmocka_unit_test(where_hardly_anything_lies_nothing_pays),
        cmocka_unit_test(of_several_stretches_the_one_with_the_largest_share_counts),
        cmocka_unit_test(requests_with_another_path_are_counted),
        cmocka_unit_test(a_point_that_is_on_no_path_is_not_passed),
        cmocka_unit_test(where_nothing_varies_nothing_pays),
        cmocka_unit_test(with_too_few_requests_it_is_measured_in_the_next_cycle),
        cmocka_unit_test(what_is_closed_before_it_was_measured_is_forgotten),
        cmocka_unit_test(a_point_is_measured_in_the_type_that_it_was_opened_for),
        cmocka_unit_test(requests_of_other_types_are_passed_over),
        cmocka_unit_test(a_name_that_looks_like_a_pattern_is_a_name),
        cmocka_unit_test(without_memory_it_says_so_and_can_be_asked_again),
        cmocka_unit_test(verdicts_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
