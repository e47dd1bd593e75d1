#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "page_reader.h"
#include "pythia/mem.h"
#include "report_sample.h"

static void check_page(const char *page)
{
    struct pythia_buf tags = tags_of(page);
    pythia_buf_free(&tags);
}

static struct pythia_buf written(json_t *report)
{
    struct pythia_buf page = sample_written(report, PYTHIA_REPORT_HTML);
    check_page(page.bytes);
    return page;
}

/* ---- names ---- */

static void hostile_names_change_no_tag(void **state)
{
    struct pythia_buf page = written(sample_report("ordinary:name.of/a_point"));
    struct pythia_buf expected = tags_of(page.bytes);
    pythia_buf_free(&page);
    for (size_t i = 0; i < SAMPLE_HOSTILE; i++) {
        page = written(sample_report(sample_hostile[i]));
        struct pythia_buf tags = tags_of(page.bytes);
        if (sample_can_be_set_apart(sample_hostile[i]))
            assert_string_equal(tags.bytes, expected.bytes);
        pythia_buf_free(&tags);
        pythia_buf_free(&page);
    }
    pythia_buf_free(&expected);
}

static void what_acts_instead_of_being_seen_is_shown_by_its_code(void **state)
{
    static const struct {
        const char *name, *shown;
    } cases[] = {
        {"a\x1b[31mb", ">a\\x1b[31mb<"},
        {"a\nb\tc", ">a\\x0ab\\x09c<"},
        {"exe\xE2\x80\xAEgpj", ">exe\\u202egpj<"},
        {"a\xC2\x85z", ">a\\x85z<"},
        {"a\xEF\xBB\xBFz", ">a\\ufeffz<"},
        {"a\xEF\xBF\xBEz", ">a\\ufffez<"},
        {"a\xF3\xA0\x81\x81z", ">a\\U0e0041z<"},
        {"<b a='1'>&\"", ">&lt;b a=&#39;1&#39;&gt;&amp;&quot;<"},
        {"\xE6\x97\xA5\xE2\x80\x8D\xF0\x9F\x94\xA5", ">\xE6\x97\xA5\xE2\x80\x8D\xF0\x9F\x94\xA5<"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pythia_buf page = written(sample_report(cases[i].name));
        char *text = without_breaks(page.bytes);
        assert_non_null(strstr(text, cases[i].shown));
        free(text);
        pythia_buf_free(&page);
    }
}

static void long_names_lose_their_middle_and_keep_it_in_a_title(void **state)
{
    char *name = sample_long_name(10000), *medium = sample_long_name(800);
    struct pythia_buf page = written(sample_report(name));
    assert_true(page.size < 200000);
    assert_non_null(strstr(page.bytes, "<code title=\"beginxxx"));
    assert_null(strstr(page.bytes, name));
    pythia_buf_free(&page);
    page = written(sample_report(medium));
    char title[900];
    snprintf(title, sizeof(title), "<code title=\"%s\">", medium);
    assert_non_null(strstr(page.bytes, title));
    pythia_buf_free(&page);
    free(name);
    free(medium);
}

/* ---- structure ---- */

/* The value of the next attribute `name` behind *at, which moves behind it; false at the end. */
static bool next_value(const char **at, const char *name, char *value, size_t size)
{
    char begin[32];
    int length = snprintf(begin, sizeof(begin), " %s=\"", name);
    *at = strstr(*at, begin);
    if (!*at)
        return false;
    *at += length;
    size_t taken = strcspn(*at, "\"");
    assert_true(taken < size);
    memcpy(value, *at, taken);
    value[taken] = '\0';
    return true;
}

static void every_link_leads_to_one_place_of_the_page(void **state)
{
    struct pythia_buf page = written(sample_report("a"));
    const char *at = page.bytes;
    char target[128], place[160];
    size_t links = 0;
    for (; next_value(&at, "href", target, sizeof(target)); links++) {
        assert_int_equal(target[0], '#');
        snprintf(place, sizeof(place), " id=\"%s\"", target + 1);
        assert_int_equal(sample_count(page.bytes, place), 1);
    }
    assert_true(links >= 8); /* to parts, and to the group from the overview and a suggestion */
    pythia_buf_free(&page);
}

static void nothing_is_loaded_and_nothing_runs(void **state)
{
    static const char *const no[] = {"<script", "<link",   "<img", "<iframe",     "<object", "src=",
                                     "url(",    "@import", "://",  "javascript:", " on"};
    struct pythia_buf page = written(sample_report("a"));
    for (size_t i = 0; i + 1 < sizeof(no) / sizeof(no[0]); i++)
        assert_null(strstr(page.bytes, no[i]));
    struct pythia_buf tags = tags_of(page.bytes);
    assert_null(strstr(tags.bytes, " on")); /* handlers of events */
    assert_non_null(strstr(page.bytes, "<meta http-equiv=\"Content-Security-Policy\" "
                                       "content=\"default-src &#39;none&#39;; style-src "
                                       "&#39;unsafe-inline&#39;; img-src data:;"));
    pythia_buf_free(&tags);
    pythia_buf_free(&page);
}

static void pictures_have_words_and_tables_have_scopes(void **state)
{
    struct pythia_buf page = written(sample_report("a"));
    size_t pictures = sample_count(page.bytes, "<svg role=\"img\"");
    const char *at = page.bytes;
    char words[512];
    assert_int_equal(pictures, 3);
    for (size_t i = 0; i < pictures; i++) {
        at = strstr(at, "<svg role=\"img\"");
        if (i == 0) { /* the search: a title and a description of its own */
            assert_true(next_value(&at, "aria-labelledby", words, sizeof(words)));
            assert_string_equal(words, "run-title run-words");
            assert_non_null(strstr(page.bytes, "<title id=\"run-title\">The search over its "
                                               "cycles</title><desc id=\"run-words\">3 cycles."));
            continue;
        }
        assert_true(next_value(&at, "aria-label", words, sizeof(words)));
        assert_true(strlen(words) > 40);
    }
    assert_int_equal(sample_count(page.bytes, "<th "), sample_count(page.bytes, "<th scope=\""));
    assert_null(strstr(page.bytes, "<th>"));
    assert_non_null(strstr(page.bytes, "<html lang=\"en\">"));
    assert_int_equal(sample_count(page.bytes, "<h1>"), 1);
    pythia_buf_free(&page);
}

static void counters_of_the_input_are_said_in_words(void **state)
{
    struct pythia_buf page = written(sample_report("a"));
    assert_non_null(
        strstr(page.bytes, "3 repaired: <strong>orphan</strong>, the parent is missing"));
    assert_non_null(strstr(page.bytes, "2 dropped: <strong>late</strong>, came after its trace"));
    assert_non_null(strstr(page.bytes, "1 file could not be read to the end"));
    assert_null(strstr(page.bytes, "Nothing had to be repaired"));
    pythia_buf_free(&page);
}

/* ---- the search ---- */

static json_t *sample_finding(const char *name, double share)
{
    return json_pack("{s:{s:o, s:o, s:s}, s:f, s:f, s:f}", "edge", "from",
                     sample_event(name, "start"), "to", sample_event(name, "end"), "inside", name,
                     "share", share, "share_low", share - .1, "share_high", share + .05);
}

/* A report of a search of two cycles: two points were opened in the first. */
static json_t *searched(const char *name)
{
    json_t *report = sample_report(name);
    json_t *loop = json_pack(
        "[{s:i, s:s, s:[]}, {s:i, s:s, s:[{s:s, s:i, s:o, s:o, s:f, s:f, s:f, s:f, s:s}, {s:s, "
        "s:i, s:n, s:n, s:n, s:n, s:s}]}]",
        "cycle", 1, "sentence", name, "effects", "cycle", 2, "sentence", name, "effects",
        "trace_point", name, "opened_in", 1, "stretch", sample_finding(name, .9), "part",
        sample_finding(name, .8), "inside", .75, "inside_low", .7, "inside_high", .8, "eta_squared",
        .25, "verdict", "explains", "trace_point", name, "opened_in", 1, "stretch", "part",
        "inside", "eta_squared", "verdict", "not_passed");
    assert_non_null(loop);
    json_object_set_new(report, "loop", loop);
    json_object_set_new(report, "search",
                        json_pack("{s:i, s:i, s:i, s:b, s:i}", "trace_points", 9, "skeleton", 3,
                                  "opened", 2, "finished", 1, "rounds", 1));
    return report;
}

static void what_opened_points_explained_is_a_table(void **state)
{
    struct pythia_buf page = written(searched("point"));
    char *text = without_breaks(page.bytes);
    assert_non_null(strstr(text, "colspan=\"2\">Inside it</th><th scope=\"col\" class=\"n\">"
                                 "Largest part</th><th scope=\"col\" class=\"n\">Without it</th>"));
    assert_non_null(strstr(text, "<code>point</code><div class=\"sub\">opened in cycle 1; "));
    assert_non_null(strstr(text, "data-l=\"without it\">90 %<"));
    assert_non_null(strstr(text, "data-l=\"inside it\">75 %<"));
    assert_non_null(strstr(text, "data-l=\"largest part\">80 %<"));
    assert_non_null(strstr(text, "data-l=\"by path\">25 %<"));
    assert_non_null(strstr(text, "--v:75.0%;--l:70.0%;--h:80.0%"));
    assert_non_null(strstr(text, ">explains<"));
    assert_non_null(strstr(text, "data-l=\"inside it\">-<")); /* of the one that is not passed */
    assert_non_null(strstr(text, ">is on no critical path<"));
    free(text);
    struct pythia_buf expected = tags_of(page.bytes);
    pythia_buf_free(&page);
    for (size_t i = 0; i < SAMPLE_HOSTILE; i++) {
        page = written(searched(sample_hostile[i]));
        struct pythia_buf tags = tags_of(page.bytes);
        if (sample_can_be_set_apart(sample_hostile[i]))
            assert_string_equal(tags.bytes, expected.bytes);
        pythia_buf_free(&tags);
        pythia_buf_free(&page);
    }
    pythia_buf_free(&expected);
    page = written(sample_report("point"));
    assert_null(strstr(page.bytes, "opened in cycle"));
    pythia_buf_free(&page);
}

/* ---- numbers that are missing, few, many ---- */

static void check_no_undefined_number(const char *page)
{
    const char *body = strstr(page, "<body>");
    assert_null(strstr(body, "nan"));
    assert_null(strstr(body, "inf%"));
    assert_null(strstr(body, "\"inf"));
}

static void an_empty_report_says_that_there_is_nothing(void **state)
{
    struct pythia_buf page = written(json_object());
    assert_non_null(strstr(page.bytes, "Not enough data"));
    check_no_undefined_number(page.bytes);
    pythia_buf_free(&page);
    json_t *report = sample_report("a");
    json_object_set_new(report, "groups",
                        json_pack("[o]", sample_group("a", "00000000000000cc", "quiet")));
    page = written(report);
    assert_non_null(strstr(page.bytes, "Nothing to diagnose"));
    assert_null(strstr(page.bytes, "href=\"#g-"));
    pythia_buf_free(&page);
}

/* All numbers of a report become null, its texts stay. */
static void clear_numbers(json_t *value)
{
    const char *key;
    json_t *member;
    size_t i;
    void *next;
    json_object_foreach_safe(value, next, key, member)
    {
        if (json_is_number(member))
            json_object_set_new(value, key, json_null());
        else
            clear_numbers(member);
    }
    json_array_foreach (value, i, member) {
        if (json_is_number(member))
            json_array_set_new(value, i, json_null());
        else
            clear_numbers(member);
    }
}

static void what_is_undefined_is_a_dash(void **state)
{
    json_t *report = sample_report("b");
    clear_numbers(report);
    struct pythia_buf page = written(report);
    check_no_undefined_number(page.bytes);
    assert_non_null(strstr(page.bytes, "There are no durations to draw."));
    assert_non_null(strstr(page.bytes, "No time on the critical path is known."));
    assert_non_null(strstr(page.bytes, "<dt>Mean</dt><dd>-</dd>"));
    pythia_buf_free(&page);
}

static json_t *report_of_edges(json_t *edges, json_t *path)
{
    json_t *report = sample_report("a");
    json_t *group = json_array_get(json_object_get(report, "groups"), 0);
    json_object_set_new(group, "edges", edges);
    json_object_set_new(group, "path", path);
    return report;
}

static void one_edge_fills_the_picture(void **state)
{
    json_t *edges = json_pack("[o]", sample_edge("alone", "start", "end", 1, 5e9, 1.));
    struct pythia_buf page = written(report_of_edges(edges, json_array()));
    assert_non_null(strstr(page.bytes,
                           "<svg x=\"0.000%\" y=\"24\" width=\"100.000%\" height=\"24\">"
                           "<title>alone: 5.00 s on the critical path, 100 % of the "
                           "variance; of that its own: 5.00 s, 100 %</title>"));
    assert_null(strstr(page.bytes, "left out"));
    assert_null(strstr(page.bytes, "Not drawn"));
    pythia_buf_free(&page);
}

static void thousands_of_edges_stay_readable(void **state)
{
    json_t *edges = json_array();
    char name[32];
    for (int i = 0; i < 5000; i++) {
        snprintf(name, sizeof(name), "point %d", i);
        json_array_append_new(edges, sample_edge(name, "start", "end", (size_t)(i % 7), 1e6 * i,
                                                 i < 20     ? .04
                                                 : i < 1020 ? .0002
                                                            : 0));
    }
    struct pythia_buf page = written(report_of_edges(edges, json_array()));
    assert_true(page.size < 700000);
    assert_non_null(strstr(page.bytes, "4 980 stretches left out, with less than 0.1 % each; "
                                       "together they have 20 % of the variance."));
    assert_non_null(strstr(page.bytes, "<summary>8 more</summary>"));
    pythia_buf_free(&page);
}

static void deep_contexts_end_at_the_last_row(void **state)
{
    json_t *edges = json_pack("[o,o]", sample_edge("deep", "start", "end", 20000, 3e9, .5),
                              sample_edge("deep", "end", "start", 19999, 1e9, .5));
    struct pythia_buf page = written(report_of_edges(edges, json_array()));
    assert_non_null(strstr(page.bytes, "y=\"960\""));
    assert_null(strstr(page.bytes, "y=\"984\""));
    assert_non_null(strstr(page.bytes, "Below the 40th row: 2 edges, counted in the boxes above."));
    pythia_buf_free(&page);
}

/* ---- what is drawn ---- */

static json_t *edge_in(const char *const *context, size_t depth, double mean_ns, double share)
{
    json_t *edge = sample_edge("x", "start", "end", 0, mean_ns, share), *names = json_array();
    for (size_t i = 0; i < depth; i++)
        json_array_append_new(names, json_string(context[i]));
    json_object_set_new(edge, "context", names);
    return edge;
}

/* A takes 100 s, 10 of them itself. In it are D with 10 s, of which E takes 6, then C with 50 s,
 * then B with 30 s: an order that is neither that of names nor that of times. */
static void boxes_are_as_wide_as_their_time_in_the_order_of_the_path(void **state)
{
    static const struct {
        const char *point;
        int depth;
    } order[] = {{"A", 0}, {"D", 1}, {"E", 2}, {"C", 1}, {"B", 1}};
    static const char *const expected[] = {
        "<svg x=\"0.000%\" y=\"24\" width=\"100.000%\" height=\"24\"><title>A: 100 s on",
        "<svg x=\"0.000%\" y=\"48\" width=\"10.000%\" height=\"24\"><title>D: 10.0 s on",
        "<svg x=\"0.000%\" y=\"72\" width=\"6.000%\" height=\"24\"><title>E: 6.00 s on",
        "<svg x=\"60.000%\" y=\"48\" width=\"30.000%\" height=\"24\"><title>B: 30.0 s on",
        "<svg x=\"10.000%\" y=\"48\" width=\"50.000%\" height=\"24\"><title>C: 50.0 s on",
    };
    json_t *edges = json_pack("[o,o,o,o,o]", edge_in((const char *[]){"A", "B"}, 2, 30e9, .30),
                              edge_in((const char *[]){"A"}, 1, 10e9, .04),
                              edge_in((const char *[]){"A", "C"}, 2, 50e9, .60),
                              edge_in((const char *[]){"A", "D"}, 2, 4e9, .02),
                              edge_in((const char *[]){"A", "D", "E"}, 3, 6e9, .04));
    json_t *path = json_array();
    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
        json_array_append_new(path, json_pack("{s:s, s:s, s:i}", "trace_point", order[i].point,
                                              "event", "start", "depth", order[i].depth));
    struct pythia_buf page = written(report_of_edges(edges, path));
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
        assert_non_null(strstr(page.bytes, expected[i]));
    assert_non_null(strstr(page.bytes, "A: 100 s on the critical path, 100 % of the variance; of "
                                       "that its own: 10.0 s, 4.0 %</title>"));
    assert_int_equal(sample_count(page.bytes, "class=\"s5\"></rect><text"), 1); /* C */
    assert_int_equal(sample_count(page.bytes, "class=\"s4\"></rect><text"), 1); /* B */
    pythia_buf_free(&page);
}

/* On a scale from 1 s to 1024 s, 32 s is in the middle. A hundredth of the width is left at each
 * side. */
static void quantiles_and_modes_stand_where_they_belong_on_the_log_scale(void **state)
{
    json_t *report = sample_report("a");
    json_t *group = json_array_get(json_object_get(report, "groups"), 0);
    json_object_set_new(group, "p50_ns", json_real(32e9));
    json_object_set_new(json_object_get(group, "modes"), "cuts_ns", json_pack("[f]", 1024e9));
    json_object_set_new(json_object_get(group, "modes"), "centers_ns",
                        json_pack("[f,f]", 1e9, 2e9));
    struct pythia_buf page = written(report);
    assert_non_null(strstr(page.bytes, "<line class=\"q\" x1=\"50.00%\" x2=\"50.00%\""));
    assert_non_null(strstr(page.bytes, ">p50 32.0 s</text>"));
    assert_non_null(strstr(page.bytes, "<line class=\"cut\" x1=\"99.00%\" x2=\"99.00%\""));
    assert_non_null(strstr(page.bytes, "height=\"1\" x=\"1.00%\""));
    assert_non_null(strstr(page.bytes, "height=\"1\" x=\"10.80%\"")); /* 1 + 98 / 10 */
    assert_non_null(strstr(page.bytes, "<title>8.53 min to 17.1 min: 81 requests</title>"));
    pythia_buf_free(&page);
}

static void a_bar_is_as_long_as_its_share_and_its_whisker_ends_within_it(void **state)
{
    json_t *edges = json_pack("[o,o]", sample_edge("a", "start", "end", 1, 1e9, .95),
                              sample_edge("b", "start", "end", 1, 1e9, .05));
    struct pythia_buf page = written(report_of_edges(edges, json_array()));
    assert_non_null(strstr(page.bytes, "style=\"--v:95.0%;--l:85.0%;--h:100.0%\""));
    assert_non_null(strstr(page.bytes, "style=\"--v:5.0%;--l:0.0%;--h:15.0%\""));
    pythia_buf_free(&page);
}

/* A card for the best key of each rank that is no other's proxy: two of rank 1, one of rank 2, one
 * of rank 3 that says nothing beyond the first. */
static void keys_that_cannot_be_told_apart_share_a_card(void **state)
{
    json_t *keys = json_pack("[o,o,o,o]", sample_key("one", 0), sample_key("twin", 0),
                             sample_key("two", 0), sample_key("proxy", 0));
    for (int i = 0; i < 4; i++) {
        json_t *key = json_array_get(keys, (size_t)i);
        json_object_set_new(key, "rank", json_integer(i < 2 ? 1 : i));
        if (i < 3)
            json_object_set_new(key, "proxy_of", json_null());
    }
    json_t *report = sample_report("a");
    json_object_set_new(report, "request_types", json_array());
    json_t *group = json_array_get(json_object_get(report, "groups"), 0);
    json_object_set_new(group, "explanations", keys);
    json_object_del(group, "splits"); /* which have cards, too */
    json_object_del(report, "split_by");
    struct pythia_buf page = written(report);
    assert_int_equal(sample_count(page.bytes, "<h4>"), 2);
    assert_non_null(strstr(page.bytes, "<h4><code>one</code></h4>"));
    assert_non_null(strstr(page.bytes, "<h4><code>two</code></h4>"));
    assert_non_null(strstr(page.bytes, "Cannot be told apart from <code>twin</code>.</p>"));
    assert_int_equal(sample_count(page.bytes, "Cannot be told apart"), 1);
    pythia_buf_free(&page);
}

/* What is pasted must be whole: it is there as it is, or not at all. */
static void an_option_is_shown_whole_or_not_at_all(void **state)
{
    for (int fits = 0; fits < 2; fits++) {
        json_t *report = sample_report("a");
        json_t *split = json_array_get(
            json_object_get(json_array_get(json_object_get(report, "groups"), 0), "splits"), 0);
        char *option = sample_long_name(fits ? 400 : 401);
        json_object_set_new(split, "option", json_string(option));
        json_object_set_new(split, "key", json_string("the-key"));
        struct pythia_buf page = written(report);
        assert_int_equal(sample_count(page.bytes, option), fits);
        assert_int_equal(sample_count(page.bytes, "beginxxx"), fits);
        assert_int_equal(sample_count(page.bytes, "the-key</code> (by an option too long"), !fits);
        pythia_buf_free(&page);
        free(option);
    }
}

/* The parts of a proposal, and of what was asked for, with bars as long as their means. */
static void parts_stand_in_tables(void **state)
{
    struct pythia_buf page = written(sample_report("name"));
    assert_non_null(strstr(page.bytes, "<h3>What to part these requests by</h3>"));
    assert_non_null(strstr(page.bytes, "<h2>What the requests were parted by</h2>"));
    assert_non_null(strstr(page.bytes, "40 requests have it, 40 do not."));
    assert_non_null(strstr(page.bytes, "accounts for 60 % (50 to 70) of the variance, "
                                       "and separates the modes."));
    assert_non_null(strstr(page.bytes, "Cut at 3, which separates the modes of the durations."));
    pythia_buf_free(&page);
}

/* ---- colours ---- */

static double channel(const char *hex)
{
    char digits[3] = {hex[0], hex[1], '\0'};
    double c = (double)strtol(digits, NULL, 16) / 255;
    return c <= .04045 ? c / 12.92 : pow((c + .055) / 1.055, 2.4);
}

/* The relative luminance of "#rgb" or "#rrggbb" (WCAG 2.2). */
static double luminance(const char *colour)
{
    char full[7] = {0};
    assert_int_equal(*colour++, '#');
    size_t size = strspn(colour, "0123456789abcdef");
    assert_true(size == 3 || size == 6);
    for (size_t i = 0; i < 6; i++)
        full[i] = colour[size == 6 ? i : i / 2];
    return .2126 * channel(full) + .7152 * channel(full + 2) + .0722 * channel(full + 4);
}

static double contrast(const char *a, const char *b)
{
    double x = luminance(a), y = luminance(b);
    return (fmax(x, y) + .05) / (fmin(x, y) + .05);
}

/* The colour behind `key` at or after `from`. */
static const char *colour_of(const char *from, const char *key)
{
    const char *at = strstr(from, key);
    assert_non_null(at);
    return at + strlen(key);
}

static void colours_have_enough_contrast_on_light_and_dark_pages(void **state)
{
    static const struct {
        const char *front, *back;
        double least;
    } pairs[] = {
        {"--fg:", "--bg:", 4.5},    {"--dim:", "--bg:", 4.5},    {"--dim:", "--soft:", 4.5},
        {"--link:", "--bg:", 4.5},  {"--link:", "--soft:", 4.5}, {"--share:", "--track:", 3},
        {"--time:", "--track:", 3}, {"--time:", "--bg:", 3},     {"--other:", "--track:", 3},
        {"--edge:", "--bg:", 3},    {"--mark:", "--share:", 3},  {"--mark:", "--track:", 3},
    };
    struct pythia_buf page = written(sample_report("a"));
    const char *root = page.bytes;
    for (int dark = 0; dark < 2; dark++) {
        root = colour_of(root, ":root{");
        for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
            assert_true(contrast(colour_of(root, pairs[i].front), colour_of(root, pairs[i].back)) >=
                        pairs[i].least);
    }
    pythia_buf_free(&page);
}

static void steps_of_the_scale_go_one_way_and_their_text_can_be_read(void **state)
{
    struct pythia_buf page = written(sample_report("a"));
    const char *scale = page.bytes;
    for (int dark = 0; dark < 2; dark++) {
        double before = 0;
        for (int i = 0; i < 7; i++) {
            char fill[32], text[32];
            snprintf(fill, sizeof(fill), "rect.s%d{fill:", i);
            snprintf(text, sizeof(text), "text.s%d{fill:", i);
            scale = colour_of(scale, fill);
            assert_true(contrast(scale, colour_of(scale, text)) >= 4.5);
            double now = luminance(scale);
            if (i > 0)
                assert_true(dark ? now > before : now < before);
            before = now;
        }
    }
    pythia_buf_free(&page);
}

/* ---- the rest ---- */

static void the_same_report_gives_the_same_bytes(void **state)
{
    struct pythia_buf first = written(sample_report("a:b")), second = written(sample_report("a:b"));
    assert_string_equal(first.bytes, second.bytes);
    pythia_buf_free(&first);
    pythia_buf_free(&second);
}

static void each_failed_allocation_is_told(void **state)
{
    json_t *report = sample_report("a long enough name: of/a.trace_point");
    for (long n = 0, done = 0; !done; n++) {
        struct pythia_buf out = {0};
        pythia_mem_fail_after(n);
        int status = pythia_report_write(report, PYTHIA_REPORT_HTML, false, &out);
        pythia_mem_fail_after(-1);
        done = status == PYTHIA_OK;
        if (done)
            check_page(out.bytes);
        else
            assert_int_equal(status, PYTHIA_ENOMEM);
        pythia_buf_free(&out);
        assert_true(n < 100000);
    }
    json_decref(report);
}

/* Another reader's word for it. */
static void xmllint_takes_the_page(void **state)
{
    if (system("command -v xmllint >/dev/null 2>&1") != 0)
        skip();
    struct pythia_buf hostile = {0};
    for (size_t i = 0; i < SAMPLE_HOSTILE; i++)
        pythia_buf_puts(&hostile, sample_hostile[i]);
    struct pythia_buf page = written(sample_report(hostile.bytes));
    pythia_buf_free(&hostile);
    FILE *lint = popen("xmllint --noout --nonet -", "w");
    assert_non_null(lint);
    const char *xml = strchr(page.bytes, '\n') + 1;
    assert_int_equal(fwrite(xml, 1, strlen(xml), lint), strlen(xml));
    assert_int_equal(pclose(lint), 0);
    pythia_buf_free(&page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile_names_change_no_tag),
        cmocka_unit_test(what_acts_instead_of_being_seen_is_shown_by_its_code),
        cmocka_unit_test(long_names_lose_their_middle_and_keep_it_in_a_title),
        cmocka_unit_test(every_link_leads_to_one_place_of_the_page),
        cmocka_unit_test(nothing_is_loaded_and_nothing_runs),
        cmocka_unit_test(pictures_have_words_and_tables_have_scopes),
        cmocka_unit_test(counters_of_the_input_are_said_in_words),
        cmocka_unit_test(an_empty_report_says_that_there_is_nothing),
        cmocka_unit_test(what_opened_points_explained_is_a_table),
        cmocka_unit_test(what_is_undefined_is_a_dash),
        cmocka_unit_test(one_edge_fills_the_picture),
        cmocka_unit_test(thousands_of_edges_stay_readable),
        cmocka_unit_test(deep_contexts_end_at_the_last_row),
        cmocka_unit_test(boxes_are_as_wide_as_their_time_in_the_order_of_the_path),
        cmocka_unit_test(quantiles_and_modes_stand_where_they_belong_on_the_log_scale),
        cmocka_unit_test(a_bar_is_as_long_as_its_share_and_its_whisker_ends_within_it),
        cmocka_unit_test(keys_that_cannot_be_told_apart_share_a_card),
        cmocka_unit_test(an_option_is_shown_whole_or_not_at_all),
        cmocka_unit_test(parts_stand_in_tables),
        cmocka_unit_test(colours_have_enough_contrast_on_light_and_dark_pages),
        cmocka_unit_test(steps_of_the_scale_go_one_way_and_their_text_can_be_read),
        cmocka_unit_test(the_same_report_gives_the_same_bytes),
        cmocka_unit_test(each_failed_allocation_is_told),
        cmocka_unit_test(xmllint_takes_the_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
