/* A search as JSON: numbers, decisions, sentences, and reasons in words. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "pythia/mem.h"
#include "pythia/status.h"
#include "results/report_loop.h"
#include "sentences/sentences.h"

struct bench {
    struct pythia_vocabulary *vocabulary;
    struct pythia_loop_switch opened[2], closed[1];
    struct pythia_loop_found found[2];
    struct pythia_loop_cycle cycles[1];
    struct pythia_problem problems[1];
    uint32_t pins[2];
    struct pythia_loop loop;
    json_t *report;
};

static uint32_t point(struct bench *b, const char *id)
{
    return pythia_vocabulary_tracepoint_of_id(b->vocabulary, pythia_text_of(id), 0, 0);
}

static uint32_t string(struct bench *b, const char *text)
{
    return pythia_vocabulary_string(b->vocabulary, pythia_text_of(text));
}

/* The time inside a point. */
static struct pythia_finding inside(struct bench *b, const char *id, double share)
{
    return (struct pythia_finding){.place = {.context = point(b, id),
                                             .from_tracepoint = point(b, id),
                                             .to_tracepoint = point(b, id),
                                             .from_event = PYTHIA_EVENT_START,
                                             .to_event = PYTHIA_EVENT_END},
                                   .share = share,
                                   .low = share - .1,
                                   .high = share + .1};
}

/* One cycle, in which type T is searched and nothing happens. */
static void begin(struct bench *b)
{
    *b = (struct bench){0};
    assert_int_equal(pythia_vocabulary_create(&b->vocabulary), PYTHIA_OK);
    b->problems[0] = (struct pythia_problem){.type = string(b, "T"),
                                             .unsplit = string(b, "T"),
                                             .cycles = 3,
                                             .requests = 12,
                                             .variance_share = .5,
                                             .top = {.share = NAN},
                                             .rest = NAN};
    b->cycles[0] = (struct pythia_loop_cycle){.number = 1,
                                              .opened = b->opened,
                                              .closed = b->closed,
                                              .found = b->found,
                                              .requests = 100,
                                              .spans_seen = 200,
                                              .spans_saved = 300,
                                              .leading = b->problems[0]};
    b->loop = (struct pythia_loop){.cycles = b->cycles,
                                   .cycle_count = 1,
                                   .problems = b->problems,
                                   .problem_count = 1,
                                   .budget = {.points_per_cycle = 3},
                                   .min_requests = 30,
                                   .price_ns = 1000,
                                   .always = b->pins,
                                   .never = b->pins + 1};
}

static void end(struct bench *b)
{
    json_decref(b->report);
    pythia_vocabulary_destroy(b->vocabulary);
}

static void write(struct bench *b)
{
    const struct pythia_report_source source = {.vocabulary = b->vocabulary, .loop = &b->loop};
    struct pythia__report_writer w = {.json = {.vocabulary = b->vocabulary}, .s = &source};
    json_decref(b->report);
    b->report = json_object();
    pythia__doc_begin(&w.d);
    pythia__json_loop(&w, b->report);
    pythia__doc_free(&w.d);
    pythia__json_close(&w.json);
    assert_false(w.json.failed);
}

static const json_t *cycle(const struct bench *b)
{
    return json_array_get(json_object_get(b->report, "loop"), 0);
}

static const json_t *search(const struct bench *b)
{
    return json_object_get(b->report, "search");
}

static void assert_json(const json_t *of, const char *key, const char *wanted)
{
    char *text = json_dumps(json_object_get(of, key), JSON_COMPACT | JSON_ENCODE_ANY);
    assert_non_null(text);
    assert_string_equal(text, wanted);
    free(text);
}

static void assert_sentence(struct bench *b, const char *wanted)
{
    write(b);
    assert_string_equal(json_string_value(json_object_get(cycle(b), "sentence")), wanted);
}

/* ---- numbers ---- */

static void a_cycle_says_what_it_spent_and_what_it_plans(void **state)
{
    struct bench b;
    begin(&b);
    struct pythia_loop_cycle *c = &b.cycles[0];
    c->seconds = 2.5;
    c->unseen = 4;
    c->open_count = 2;
    c->spent = (struct pythia_spending){2, 3000, 120.5};
    c->planned = (struct pythia_spending){3, 4000, NAN};
    c->opened[0] = (struct pythia_loop_switch){
        point(&b, "a"), string(&b, "U"), .25, 500, 1500, 60, "because of it", false};
    c->opened_count = 1;
    c->closed[0] = (struct pythia_loop_switch){point(&b, "b"), PYTHIA_NONE, 0, 1000, 2000, NAN,
                                               "not any more", false};
    c->closed_count = 1;
    write(&b);
    assert_json(cycle(&b), "seconds", "2.5");
    assert_json(cycle(&b), "unseen", "4");
    assert_json(cycle(&b), "spent",
                "{\"points\":2,\"added_ns\":3000.0,\"bytes_per_second\":120.5}");
    assert_json(cycle(&b), "planned",
                "{\"points\":3,\"added_ns\":4000.0,\"bytes_per_second\":null}");
    assert_json(cycle(&b), "opened",
                "[{\"trace_point\":\"a\",\"request_type\":\"U\",\"gain\":0.25,\"price_ns\":500.0,"
                "\"cost_ns\":1500.0,\"bytes_"
                "per_second\":60.0,\"reason\":\"because of it\"}]");
    assert_json(cycle(&b), "closed",
                "[{\"trace_point\":\"b\",\"request_type\":null,\"price_ns\":1000.0,\"cost_ns\":"
                "2000.0,\"bytes_per_second\":"
                "null,\"reason\":\"not any more\"}]");
    c->seconds = 0; /* not known */
    write(&b);
    assert_json(cycle(&b), "seconds", "null");
    end(&b);
}

static void a_search_says_what_it_had_to_keep_to(void **state)
{
    struct bench b;
    begin(&b);
    write(&b);
    assert_json(
        search(&b), "budget",
        "{\"points_per_cycle\":3,\"points\":null,\"added_ns\":null,\"bytes_per_second\":null}");
    assert_json(search(&b), "pins", "{\"always\":[],\"never\":[]}");
    assert_json(search(&b), "min_requests", "30");
    assert_json(search(&b), "price_ns", "1000.0");
    b.loop.budget = (struct pythia_budget){3, 4, 5000, 600};
    b.pins[0] = point(&b, "a<b");
    b.pins[1] = point(&b, "c");
    b.loop.always_count = b.loop.never_count = 1;
    write(&b);
    assert_json(
        search(&b), "budget",
        "{\"points_per_cycle\":3,\"points\":4,\"added_ns\":5000.0,\"bytes_per_second\":600.0}");
    assert_json(search(&b), "pins", "{\"always\":[\"a<b\"],\"never\":[\"c\"]}");
    end(&b);
}

/* ---- sentences ---- */

static void the_sentence_tells_what_was_seen_and_done(void **state)
{
    struct bench b;
    begin(&b);
    struct pythia_loop_cycle *c = &b.cycles[0];
    c->leading.top = inside(&b, "a", .5);
    assert_sentence(&b, "50 % of the variance lies inside a.");
    c->opened[0] = (struct pythia_loop_switch){
        .tracepoint = point(&b, "b"), .type = string(&b, "T"), .cost_ns = 1500};
    c->opened[1] = (struct pythia_loop_switch){
        .tracepoint = point(&b, "c"), .type = string(&b, "T"), .cost_ns = 500};
    c->opened[0].reason = c->opened[1].reason = "";
    c->opened_count = 2;
    c->closed[0] = (struct pythia_loop_switch){
        .tracepoint = point(&b, "d"), .type = string(&b, "T"), .reason = ""};
    c->closed_count = 1;
    assert_sentence(&b,
                    "50 % of the variance lies inside a. Opens b and c, for 2.00 us per request. "
                    "Closes d.");
    c->opened[1].type = c->closed[0].type = string(&b, "U"); /* one each: the dearer one counts */
    assert_sentence(&b, "50 % of the variance lies inside a. Opens b and c for U, for 1.50 us per "
                        "request. Closes d for U.");
    c->opened_count = c->closed_count = 0;
    c->found[0] = (struct pythia_loop_found){string(&b, "T"), inside(&b, "e", .4)};
    c->found_count = 1;
    assert_sentence(&b, "Found: 40 % of the variance lies inside e. Of the rest, 50 % of the "
                        "variance lies inside a.");
    c->leading.state = PYTHIA_PROBLEM_DONE;
    c->found[1] = (struct pythia_loop_found){string(&b, "U"), inside(&b, "f", .9)};
    c->found_count = 2;
    assert_sentence(&b, "Found: 40 % of the variance lies inside e. Found, of U: 90 % of the "
                        "variance lies inside f.");
    c->found[1].type = string(&b, "T");
    assert_sentence(&b, "Found: 40 % of the variance lies inside e. And: 90 % of the variance lies "
                        "inside f.");
    c->found_count = 0;
    c->leading.state = PYTHIA_PROBLEM_GIVEN_UP;
    assert_sentence(&b, "Given up.");
    end(&b);
}

/* Members that few searches have are missing where there is nothing to say. */
static void who_waits_for_a_turn_and_what_was_carried_over_is_told(void **state)
{
    static const struct {
        size_t waiting;
        const char *sentence;
    } cases[] = {{1, "1 request type waits for its turn."},
                 {24, "24 request types wait for their turn."}};
    struct bench b;
    begin(&b);
    write(&b);
    const json_t *problem = json_array_get(json_object_get(search(&b), "problems"), 0);
    assert_null(json_object_get(cycle(&b), "waiting"));
    assert_null(json_object_get(problem, "waited"));
    assert_null(json_object_get(problem, "carried"));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        b.cycles[0].waiting = cases[i].waiting;
        assert_sentence(&b, cases[i].sentence);
    }
    b.problems[0].waited = 7;
    b.problems[0].carried = 5;
    write(&b);
    problem = json_array_get(json_object_get(search(&b), "problems"), 0);
    assert_json(cycle(&b), "waiting", "24");
    assert_json(problem, "waited", "7");
    assert_json(problem, "carried", "5");
    end(&b);
}

static void where_nothing_is_searched_the_sentence_says_why(void **state)
{
    struct bench b;
    begin(&b);
    struct pythia_loop_cycle *c = &b.cycles[0];
    c->leading.type = PYTHIA_NONE;
    assert_sentence(&b, "There are no requests.");
    c->unseen = 9;
    assert_sentence(&b, "No span of these requests belongs to an open trace point: the search "
                        "space is of another system.");
    c->states[PYTHIA_PROBLEM_UNKNOWN] = 2;
    assert_sentence(&b, "The search space knows no type of these requests.");
    c->states[PYTHIA_PROBLEM_UNKNOWN] = 0;
    c->states[PYTHIA_PROBLEM_TOO_FEW] = 2;
    assert_sentence(&b, "No request type has enough requests to be searched.");
    c->states[PYTHIA_PROBLEM_QUIET] = 1;
    assert_sentence(&b, "No request type varies enough to be searched.");
    c->states[PYTHIA_PROBLEM_GIVEN_UP] = 1;
    assert_sentence(&b, "No request type is searched any more.");
    end(&b);
}

/* ---- reasons ---- */

static void assert_reason(struct bench *b, enum pythia_problem_state state, enum pythia_why why,
                          const char *name, const char *reason)
{
    b->problems[0].state = state;
    b->problems[0].why = why;
    write(b);
    const json_t *p = json_array_get(json_object_get(search(b), "problems"), 0);
    assert_string_equal(json_string_value(json_object_get(p, "why")), name);
    assert_string_equal(json_string_value(json_object_get(p, "reason")), reason);
}

static void a_reason_says_what_to_change(void **state)
{
    static const enum pythia_problem_state up = PYTHIA_PROBLEM_GIVEN_UP;
    struct bench b;
    begin(&b);
    struct pythia_problem *p = &b.problems[0];
    assert_reason(&b, PYTHIA_PROBLEM_TOO_FEW, PYTHIA_WHY_TOO_FEW, "too_few",
                  "12 requests in the last cycle are too few, 30 are needed; make cycles longer");
    p->requests = 1;
    assert_reason(&b, PYTHIA_PROBLEM_TOO_FEW, PYTHIA_WHY_TOO_FEW, "too_few",
                  "1 request in the last cycle is too few, 30 are needed; make cycles longer");
    p->requests = 0;
    assert_reason(&b, PYTHIA_PROBLEM_TOO_FEW, PYTHIA_WHY_TOO_FEW, "too_few",
                  "its requests no longer arrive");
    assert_reason(&b, PYTHIA_PROBLEM_UNKNOWN, PYTHIA_WHY_NO_TYPE, "no_type",
                  "the search space has no requests of this type; build it from traces that do");
    assert_reason(&b, up, PYTHIA_WHY_OUTSIDE, "outside",
                  "no closed trace point would show more: the cause may lie outside the search "
                  "space; build a new one from traces with everything open");
    assert_reason(&b, up, PYTHIA_WHY_CHANCE, "chance",
                  "no place accounts for a significant share of the variance; use more requests "
                  "per cycle");
    p->cause_count = 1;
    p->causes[0] = inside(&b, "a", .4);
    assert_reason(&b, up, PYTHIA_WHY_CHANCE, "chance",
                  "no other place accounts for a significant share of the variance; use more "
                  "requests per cycle");
    assert_reason(&b, up, PYTHIA_WHY_SMALL, "small",
                  "no place accounts for as much as 15 % of the variance: many small "
                  "differences add up, and no single one stands out");
    assert_reason(&b, up, PYTHIA_WHY_PATIENCE, "patience",
                  "3 cycles were not enough; use more requests per cycle, or open more points");
    end(&b);
}

static void a_reason_names_the_trace_point_in_the_way(void **state)
{
    static const enum pythia_problem_state up = PYTHIA_PROBLEM_GIVEN_UP;
    struct bench b;
    begin(&b);
    struct pythia_problem *p = &b.problems[0];
    p->blocked = point(&b, "db:query");
    p->needs = (struct pythia_spending){1, 12000, 1234};
    assert_reason(&b, up, PYTHIA_WHY_PINNED, "pinned",
                  "db:query would show more, but is pinned closed; remove the pin");
    assert_reason(
        &b, PYTHIA_PROBLEM_DONE, PYTHIA_WHY_PINNED, "pinned",
        "db:query is called there, and is pinned closed; without the pin the cause may be "
        "located more precisely");
    assert_reason(&b, up, PYTHIA_WHY_STRATEGY, "strategy",
                  "db:query would show more, but the strategy does not suggest it; try another "
                  "strategy");
    assert_reason(
        &b, up, PYTHIA_WHY_BUDGET, "budget",
        "db:query would show more, but costs too much: it adds 12.0 us to a request and 1 "
        "234 bytes per second, more than the durations vary");
    p->needs.bytes_per_second = NAN;
    b.loop.budget = (struct pythia_budget){3, 1, 0, 0};
    assert_reason(&b, up, PYTHIA_WHY_BUDGET, "budget",
                  "db:query would show more, but costs too much: it adds 12.0 us to a request, and "
                  "the budget is 1 point at once");
    b.loop.budget = (struct pythia_budget){3, 4, 5000, 6000};
    assert_reason(&b, up, PYTHIA_WHY_BUDGET, "budget",
                  "db:query would show more, but costs too much: it adds 12.0 us to a request, and "
                  "the budget is 4 points at once, 5.00 us per request and 6 000 bytes per "
                  "second");
    b.loop.budget = (struct pythia_budget){3, 0, 5000, 6000};
    assert_reason(&b, up, PYTHIA_WHY_BUDGET, "budget",
                  "db:query would show more, but costs too much: it adds 12.0 us to a request, and "
                  "the budget is 5.00 us per request and 6 000 bytes per second");
    b.loop.budget = (struct pythia_budget){0};
    assert_reason(&b, up, PYTHIA_WHY_BUDGET, "budget",
                  "db:query would show more, but none may be opened; allow points in a cycle");
    const json_t *problem = json_array_get(json_object_get(search(&b), "problems"), 0);
    assert_json(problem, "blocked", "\"db:query\"");
    assert_json(problem, "needs", "{\"points\":1,\"added_ns\":12000.0,\"bytes_per_second\":null}");
    end(&b);
}

static void without_a_reason_there_is_none(void **state)
{
    static const char *const keys[] = {"why", "reason", "blocked", "needs"};
    struct bench b;
    begin(&b);
    b.problems[0].blocked = point(&b, "a"); /* of an earlier one */
    write(&b);
    for (size_t i = 0; i < 4; i++)
        assert_json(json_array_get(json_object_get(search(&b), "problems"), 0), keys[i], "null");
    end(&b);
}

static void a_place_below_the_application_says_what_it_works_for(void **state)
{
    struct bench b;
    begin(&b);
    struct pythia_finding top = inside(&b, "kernel.poll", .5);
    top.place.hosted = true;
    top.place.host = point(&b, "lock__wait");
    b.cycles[0].leading.top = top;
    assert_sentence(&b, "50 % of the variance lies inside kernel.poll in lock__wait.");
    assert_json(json_object_get(json_object_get(cycle(&b), "top"), "edge"), "host",
                "\"lock__wait\"");
    b.cycles[0].leading.top = inside(&b, "kernel.poll", .5);
    write(&b);
    assert_null(
        json_object_get(json_object_get(json_object_get(cycle(&b), "top"), "edge"), "host"));
    end(&b);
}

/* A capture that was played to its end has no further cycle. */
static void a_search_that_begins_again_says_how_often_and_when(void **state)
{
    struct bench b;
    begin(&b);
    b.problems[0].state = PYTHIA_PROBLEM_GIVEN_UP;
    b.problems[0].why = PYTHIA_WHY_CHANCE;
    b.problems[0].retries = 2;
    b.problems[0].retry_in = 7;
    write(&b);
    const json_t *problem = json_array_get(json_object_get(search(&b), "problems"), 0);
    assert_json(problem, "retries", "2");
    assert_json(problem, "retry_in", "7");
    b.loop.finished = true;
    write(&b);
    problem = json_array_get(json_object_get(search(&b), "problems"), 0);
    assert_null(json_object_get(problem, "retry_in"));
    end(&b);
}

static void assert_change(struct bench *b, enum pythia_verdict_reason reason, const char *wanted)
{
    const struct pythia_report_source source = {.vocabulary = b->vocabulary, .loop = &b->loop};
    const struct pythia_verdict v = {
        .reason = reason, .since = 12, .was_found = {.share = NAN}, .explained = NAN};
    struct pythia__doc d;
    struct pythia_buf text = {0};
    pythia__doc_begin(&d);
    pythia__doc_paragraph(&d, PYTHIA__DOC_TEXT);
    pythia__say_change(&d, &source, &v);
    pythia__doc_plain(&d.last->line, &text);
    assert_string_equal(text.bytes ? text.bytes : "", wanted);
    pythia_buf_free(&text);
    pythia__doc_free(&d);
}

static void a_verdict_says_why_its_search_began_again(void **state)
{
    struct bench b;
    begin(&b);
    assert_change(&b, PYTHIA_VERDICT_RETRY,
                  "The search began again in cycle 12: it had found nothing, and these requests "
                  "still vary.");
    assert_change(&b, PYTHIA_VERDICT_AGAIN,
                  "The search began again in cycle 12: the durations of these requests have "
                  "changed.");
    assert_change(&b, PYTHIA_VERDICT_ENDED, "");
    end(&b);
}

static void assert_instance(struct bench *b, uint32_t part, const char *instance,
                            const char *wanted)
{
    const struct pythia_report_source source = {.vocabulary = b->vocabulary, .loop = &b->loop};
    uint32_t pay =
        pythia_vocabulary_tracepoint(b->vocabulary, string(b, "shop"), 0, string(b, "pay"));
    const struct pythia_verdict v = {
        .part = part, .part_point = pay, .instance = string(b, instance)};
    struct pythia__doc d;
    struct pythia_buf text = {0};
    pythia__doc_begin(&d);
    pythia__doc_paragraph(&d, PYTHIA__DOC_TEXT);
    pythia__say_instance(&d, &source, &v);
    pythia__doc_plain(&d.last->line, &text);
    assert_string_equal(text.bytes ? text.bytes : "", wanted);
    pythia_buf_free(&text);
    pythia__doc_free(&d);
}

static void a_verdict_says_if_it_is_about_one_instance_only(void **state)
{
    struct bench b;
    begin(&b);
    assert_instance(&b, 0, "", "");
    assert_instance(&b, 1, "web-1:7:1", "");
    assert_instance(&b, 8, "",
                    "This describes only requests to one of 8 instances of shop: a trace point is "
                    "open at that one only.");
    assert_instance(&b, 2, "web-1:7:1",
                    "This describes only requests to one of 2 instances of shop, web-1:7:1: a "
                    "trace point is open at that one only.");
    end(&b);
}

static void each_failed_allocation_is_told(void **state)
{
    long failures = 0;
    for (bool failed = true; failed; failures++) {
        struct bench b;
        begin(&b);
        b.problems[0].state = PYTHIA_PROBLEM_GIVEN_UP;
        b.problems[0].why = PYTHIA_WHY_PINNED;
        b.cycles[0].leading.top = inside(&b, "a", .5);
        const struct pythia_report_source source = {.vocabulary = b.vocabulary, .loop = &b.loop};
        struct pythia__report_writer w = {.json = {.vocabulary = b.vocabulary}, .s = &source};
        b.report = json_object();
        pythia__doc_begin(&w.d);
        pythia_mem_fail_after(failures);
        pythia__json_loop(&w, b.report);
        pythia__json_close(&w.json);
        pythia_mem_fail_after(-1);
        failed = w.json.failed;
        pythia__doc_free(&w.d);
        end(&b);
    }
    assert_true(failures > 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cycle_says_what_it_spent_and_what_it_plans),
        cmocka_unit_test(a_search_says_what_it_had_to_keep_to),
        cmocka_unit_test(the_sentence_tells_what_was_seen_and_done),
        cmocka_unit_test(who_waits_for_a_turn_and_what_was_carried_over_is_told),
        cmocka_unit_test(where_nothing_is_searched_the_sentence_says_why),
        cmocka_unit_test(a_reason_says_what_to_change),
        cmocka_unit_test(a_reason_names_the_trace_point_in_the_way),
        cmocka_unit_test(without_a_reason_there_is_none),
        cmocka_unit_test(a_place_below_the_application_says_what_it_works_for),
        cmocka_unit_test(a_search_that_begins_again_says_how_often_and_when),
        cmocka_unit_test(a_verdict_says_why_its_search_began_again),
        cmocka_unit_test(a_verdict_says_if_it_is_about_one_instance_only),
        cmocka_unit_test(each_failed_allocation_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
