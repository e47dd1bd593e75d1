#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "page_reader.h"
#include "pythia/daemon_page.h"
#include "report_sample.h"

#define BEGUN_S UINT64_C(1700000000)

static json_t *status_with(const char *doing, bool learning, uint64_t spans, const char *name)
{
    return json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:b, s:[{s:s, s:b, s:b, "
                     "s:s, s:I, s:I}]}",
                     "version", "1.2.3", "doing", doing, "started_unix_ns",
                     (json_int_t)(BEGUN_S * 1000000000), "cycles", (json_int_t)7, "spans",
                     (json_int_t)spans, "requests", (json_int_t)1, "requests_apart", (json_int_t)11,
                     "spans_refused", (json_int_t)13, "spans_dropped", (json_int_t)17, "learning",
                     learning, "degraded", false, "planes", "name", "gate", "reachable", false,
                     "in_force", false, "why", name, "points", (json_int_t)2, "lost_targets",
                     (json_int_t)1);
}

static json_t *point(const char *name, bool wanted, bool quarantined)
{
    return json_pack("{s:s, s:s, s:s, s:o, s:i, s:b, s:b, s:b, s:s}", "plane", "gate",
                     "trace_point", name, "target", name, "price_ns", json_null(), "hits", 5,
                     "wanted", wanted, "pinned", false, "quarantined", quarantined, "result",
                     quarantined ? "refused" : "applied");
}

/* An open point that costs 120 ns a pass. */
static json_t *opened(const char *name, const char *known, int spans, bool mute)
{
    return json_pack("{s:s, s:s, s:s, s:f, s:s, s:i, s:i, s:i, s:b, s:b, s:b, s:b, s:s}", "plane",
                     "gate", "trace_point", name, "target", name, "price_ns", 120., "price_known",
                     known, "hits", 4000, "spans", spans, "requests", 77, "wanted", true, "mute",
                     mute, "pinned", false, "quarantined", false, "result", "applied");
}

static json_t *decision(const char *name)
{
    return json_pack("{s:i, s:I, s:s, s:b, s:s, s:f, s:s}", "cycle", 7, "unix_ns",
                     (json_int_t)((BEGUN_S + 3600) * 1000000000), "trace_point", name, "open", true,
                     "request_type", name, "cost_ns", 2.0, "reason", name);
}

/* Takes what it is given. The caller frees the page. */
static char *page_of(json_t *status, json_t *points, json_t *decisions, json_t *report)
{
    struct pythia_buf out = {0};
    struct pythia_daemon_page page = {.status = status,
                                      .points = points,
                                      .decisions = decisions,
                                      .verdicts = json_object_get(report, "verdicts"),
                                      .report_path = "/report",
                                      .now_unix_ns = (BEGUN_S + 7260) * 1000000000,
                                      .script_path = "/page.js",
                                      .refresh_s = 10};
    assert_int_equal(pythia_daemon_page_write(&page, &out), PYTHIA_OK);
    struct pythia_buf tags = tags_of(out.bytes);
    pythia_buf_free(&tags);
    char *text = without_breaks(out.bytes);
    pythia_buf_free(&out);
    json_decref(status);
    json_decref(points);
    json_decref(decisions);
    json_decref(report);
    return text;
}

static char *page_about(const char *name)
{
    return page_of(status_with("works", false, 1000, name),
                   json_pack("[o, o, o]", point(name, true, false), point(name, false, true),
                             point(name, false, false)),
                   json_pack("[o]", decision(name)), sample_report(name));
}

static void hostile_names_change_no_tag(void **state)
{
    char *page = page_about("ordinary:name.of/a_point");
    struct pythia_buf expected = tags_of(page);
    free(page);
    for (size_t i = 0; i < SAMPLE_HOSTILE; i++) {
        page = page_about(sample_hostile[i]);
        struct pythia_buf tags = tags_of(page);
        if (sample_can_be_set_apart(sample_hostile[i]))
            assert_string_equal(tags.bytes, expected.bytes);
        pythia_buf_free(&tags);
        free(page);
    }
    pythia_buf_free(&expected);
    (void)state;
}

static void nothing_but_its_script_is_loaded_or_run(void **state)
{
    char *page = page_about("name");
    struct pythia_buf tags = tags_of(page);
    assert_non_null(strstr(page, "default-src &#39;none&#39;"));
    const char *script = strstr(tags.bytes, "<script src");
    assert_non_null(script);
    assert_null(strstr(script + 1, "<script"));
    assert_null(strstr(tags.bytes, "<form"));
    assert_null(strstr(script + strlen("<script src"), " src"));
    pythia_buf_free(&tags);
    free(page);
    (void)state;
}

static void its_first_line_says_what_it_does(void **state)
{
    static const struct {
        const char *doing;
        bool learning;
        uint64_t spans;
        const char *lead;
    } cases[] = {
        {"works", true, 0, "It waits: no span has come yet."},
        {"works", true, 10, "It learns which trace points there are."},
        {"works", false, 10, "It watches; no cycle has ended yet."},
        {"off", false, 10, "It is off"},
        {"stops", false, 10, "It stops"},
        {"observes", false, 10, "It only observes"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *page = page_of(status_with(cases[i].doing, cases[i].learning, cases[i].spans, ""),
                             json_array(), NULL, NULL);
        assert_non_null(strstr(page, cases[i].lead));
        assert_non_null(strstr(page, "There is a report when the first cycle has ended."));
        free(page);
    }
    (void)state;
}

static void ages_numbers_and_planes_are_told(void **state)
{
    char *page = page_about("name");
    assert_non_null(strstr(page, "In 2 h it has taken in 1 000 spans of 1 request, in 7 cycles."));
    assert_non_null(strstr(page, ">61 min ago<")); /* the decision */
    assert_null(strstr(page, ">Cycle<"));          /* two ways to count them on one page */
    assert_non_null(strstr(page, "not reached"));
    assert_non_null(strstr(page, ">11<"));
    assert_non_null(strstr(page, ">13<"));
    assert_non_null(strstr(page, ">17<"));
    assert_non_null(strstr(page, "href=\"/report\""));
    assert_non_null(strstr(page, "href=\"/report#g-"));
    assert_non_null(strstr(page, "in quarantine"));
    assert_non_null(strstr(page, "<script src=\"/page.js\" defer=\"\"></script>"));
    assert_non_null(
        strstr(page, "<noscript><meta http-equiv=\"refresh\" content=\"10\"/></noscript>"));
    assert_non_null(strstr(page, "script-src &#39;self&#39;; connect-src &#39;self&#39;"));
    free(page);
    (void)state;
}

/* Of 1200 closed ones 1000 are shown, and the others are counted; open ones are all shown. */
static void closed_trace_points_beyond_a_thousand_are_counted(void **state)
{
    json_t *points = json_array();
    char name[32];
    for (int i = 0; i < 1200; i++) {
        snprintf(name, sizeof(name), "closed:%04d", i);
        json_array_append_new(points, point(name, false, false));
    }
    for (int i = 0; i < 1200; i++) {
        snprintf(name, sizeof(name), "open:%04d", i);
        json_array_append_new(points, point(name, true, false));
    }
    char *page = page_of(status_with("works", false, 10, ""), points, json_array(), NULL);
    assert_non_null(strstr(page, "1 200 trace points are closed"));
    assert_non_null(strstr(page, "and 200 more: pythia ctl points"));
    assert_non_null(strstr(page, "closed:0999"));
    assert_null(strstr(page, "closed:1000"));
    assert_non_null(strstr(page, "open:1199"));
    free(page);
    (void)state;
}

static void what_points_cost_and_give_is_shown(void **state)
{
    char *page = page_of(status_with("works", false, 10, ""),
                         json_pack("[o, o]", opened("shop:a", "measured", 250, false),
                                   opened("shop:b", "expected", 0, true)),
                         json_pack("[{s:i, s:I, s:s, s:b, s:s, s:f, s:s, s:f, s:s, s:i}]", "cycle",
                                   7, "unix_ns", (json_int_t)(BEGUN_S * 1000000000), "trace_point",
                                   "shop:c", "open", false, "request_type", "t", "cost_ns", 2.,
                                   "reason", "its search has ended", "price_ns", 130.,
                                   "price_known", "measured", "spans", 41),
                         NULL);
    const char *a = strstr(page, "<code>shop:a</code>"), *b = strstr(page, "<code>shop:b</code>");
    assert_true(a && b && a < b);
    const char *mute = strstr(page, "open, mute"), *none = strstr(page, "none of 77 requests");
    assert_true(mute && mute > b); /* and the other is not */
    assert_true(none && none > b);
    const char *price = strstr(a, "120 ns"), *about = strstr(page, "about 120 ns");
    assert_true(price && price < b);
    assert_true(about && about > b); /* of the one whose price is expected only */
    assert_non_null(
        strstr(page, "its search has ended; a pass costs 130 ns, measured; it gave 41 spans"));
    free(page);
}

static void the_types_that_a_point_is_open_for_are_shown(void **state)
{
    json_t *a = opened("shop:a", "measured", 250, false);
    json_t *b = opened("shop:b", "measured", 250, false);
    json_object_set_new(a, "types", json_pack("[s, s]", "list", "<order>"));
    json_object_set_new(b, "types", json_null());
    char *page =
        page_of(status_with("works", false, 10, ""), json_pack("[o, o]", a, b), json_array(), NULL);
    const char *only = strstr(page, "only for <code>list</code> and <code>&lt;order&gt;</code>");
    assert_true(only && only < strstr(page, "<code>shop:b</code>"));
    assert_null(strstr(only + 1, "only for"));
    free(page);
}

/* Two are found of three. */
static void what_was_found_is_told_with_its_age_and_its_standing(void **state)
{
    char *page = page_about("name");
    assert_non_null(strstr(page, "It has found why requests of 2 types differ."));
    assert_non_null(strstr(page, "97 % lies inside "));
    assert_non_null(strstr(page, "Confidence is high."));
    assert_non_null(strstr(page, "Before cycle 2 it was "));
    assert_non_null(strstr(page, ">61 min ago<"));
    assert_non_null(strstr(page, "1 type has too few requests. "));
    free(page);
    page = page_of(status_with("works", false, 10, ""), json_array(), NULL,
                   json_pack("{s:[o]}", "verdicts", sample_verdict("a", "aa", "nothing")));
    assert_non_null(strstr(page, "It has found nothing that stands out so far."));
    assert_non_null(strstr(page, "1 type has nothing that stands out. "));
    assert_null(strstr(page, "97 % lies inside "));
    free(page);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile_names_change_no_tag),
        cmocka_unit_test(nothing_but_its_script_is_loaded_or_run),
        cmocka_unit_test(its_first_line_says_what_it_does),
        cmocka_unit_test(ages_numbers_and_planes_are_told),
        cmocka_unit_test(closed_trace_points_beyond_a_thousand_are_counted),
        cmocka_unit_test(what_points_cost_and_give_is_shown),
        cmocka_unit_test(the_types_that_a_point_is_open_for_are_shown),
        cmocka_unit_test(what_was_found_is_told_with_its_age_and_its_standing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
