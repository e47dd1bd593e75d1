/* A document in its three forms: what a trace brings changes nothing of them but itself. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "document/document.h"
#include "page_reader.h"
#include "pythia/mem.h"
#include "report_sample.h"

static const struct pythia__doc_column columns[] = {
    {.title = "share", .bar = true},
    {.title = "q", .right = true},
    {.title = "one line", .one_line = true},
    {.title = "name", .name = true, .flexible = true}};

static void add_name(struct pythia__doc *d, const char *name)
{
    struct pythia_text text = pythia_text_of(name);
    (void)pythia__doc_name(d, PYTHIA__DOC_POINT, text, text, text);
}

/* A table of two rows, of which one is seen. */
static void add_table(struct pythia__doc *d, const char *name)
{
    pythia__doc_table(d, columns, sizeof(columns) / sizeof(columns[0]));
    pythia__doc_limit_rows(d, 1);
    for (int i = 0; i < 2; i++) {
        pythia__doc_row(d, PYTHIA__DOC_CAUSE);
        pythia__doc_cell(d);
        pythia__doc_bar(d, PYTHIA__DOC_SHARE, .95, .85, 1.05);
        pythia__doc_percent(d, .95);
        pythia__doc_cell(d);
        pythia__doc_chance(d, i ? NAN : 2e-46);
        pythia__doc_cell(d);
        pythia__doc_words(d, "x");
        pythia__doc_cell(d);
        add_name(d, name);
        pythia__doc_words(d, " and ");
        pythia__doc_text(d, PYTHIA__DOC_WORDS, pythia_text_of(name));
        pythia__doc_below(d);
        pythia__doc_words(d, "below it");
    }
}

/* Something of all there is, with `name` in all places that a trace can fill. */
static void fill(struct pythia__doc *d, const char *name)
{
    struct pythia_text text = pythia_text_of(name);
    pythia__doc_open(d, PYTHIA__DOC_HEAD, PYTHIA_TEXT(""), NULL);
    pythia__doc_heading(d, 1, PYTHIA__DOC_PLAIN);
    pythia__doc_words(d, "Title");
    pythia__doc_paragraph(d, PYTHIA__DOC_LEAD);
    pythia__doc_words(d, "It is ");
    add_name(d, name);
    pythia__doc_words(d, ".");
    pythia__doc_close(d);
    pythia__doc_open(d, PYTHIA__DOC_SECTION, PYTHIA_TEXT("first"), "First");
    pythia__doc_heading(d, 2, PYTHIA__DOC_NOTE);
    pythia__doc_words(d, "Of ");
    add_name(d, name);
    pythia__doc_aside(d);
    pythia__doc_percent(d, .5);
    pythia__doc_entry(d, "where", PYTHIA__DOC_WHERE);
    pythia__doc_words(d, "Inside ");
    pythia__doc_text(d, PYTHIA__DOC_WORDS, text);
    pythia__doc_words(d, " it is ");
    pythia__doc_duration(d, 2e9);
    pythia__doc_words(d, ", ");
    pythia__doc_count(d, 3, " request", " requests");
    pythia__doc_entry(d, "", PYTHIA__DOC_WHY);
    pythia__doc_words(d, "Copy ");
    pythia__doc_text(d, PYTHIA__DOC_CODE, text);
    pythia__doc_paragraph(d, PYTHIA__DOC_REMARK);
    pythia__doc_item(d);
    pythia__doc_words(d, "See ");
    pythia__doc_link(d, PYTHIA_TEXT("#first"));
    add_name(d, name);
    pythia__doc_unlink(d);
    pythia__doc_figure(d, "mean");
    pythia__doc_duration(d, NAN);
    pythia__doc_figure(d, "sd");
    pythia__doc_text(d, PYTHIA__DOC_DIM, PYTHIA_TEXT("none"));
    add_table(d, name);
    pythia__doc_open(d, PYTHIA__DOC_CARDS, PYTHIA_TEXT(""), NULL);
    pythia__doc_open(d, PYTHIA__DOC_CARD, PYTHIA_TEXT(""), NULL);
    pythia__doc_title(d, 4, "Card");
    pythia__doc_close(d);
    pythia__doc_close(d);
    pythia__doc_open(d, PYTHIA__DOC_FOLD, PYTHIA_TEXT(""), NULL);
    pythia__doc_words(d, "Folded");
    pythia__doc_item(d);
    add_name(d, name);
    pythia__doc_close(d);
    pythia__doc_close(d);
}

enum form { TEXT, MARKDOWN, HTML, FORMS };

static int write_form(const char *name, enum form form, size_t width, struct pythia_buf *out)
{
    const struct pythia__doc_view view = {.width = width};
    struct pythia__doc d;
    pythia__doc_begin(&d);
    fill(&d, name);
    int status = pythia__doc_finish(&d);
    if (status == PYTHIA_OK)
        status = form == TEXT       ? pythia__doc_write_text(&d, &view, out)
                 : form == MARKDOWN ? pythia__doc_write_markdown(&d, out)
                                    : pythia__doc_write_html(&d, "Page", "Foot", out);
    pythia__doc_free(&d);
    return status;
}

static struct pythia_buf written(const char *name, enum form form)
{
    struct pythia_buf out = {0};
    assert_int_equal(write_form(name, form, 80, &out), PYTHIA_OK);
    return out;
}

static struct pythia_buf page_about(const char *name)
{
    return written(name, HTML);
}

/* A paragraph of words alone, in a form. */
static struct pythia_buf prose(const char *words, enum form form)
{
    const struct pythia__doc_view view = {.width = 80};
    struct pythia_buf out = {0};
    struct pythia__doc d;
    pythia__doc_begin(&d);
    pythia__doc_paragraph(&d, PYTHIA__DOC_TEXT);
    pythia__doc_words(&d, "Mean when ");
    pythia__doc_text(&d, PYTHIA__DOC_WORDS, pythia_text_of(words));
    pythia__doc_words(&d, ", else");
    assert_int_equal(pythia__doc_finish(&d), PYTHIA_OK);
    assert_int_equal(form == TEXT ? pythia__doc_write_text(&d, &view, &out)
                                  : pythia__doc_write_markdown(&d, &out),
                     PYTHIA_OK);
    pythia__doc_free(&d);
    return out;
}

/* ---- a page ---- */

static void hostile_names_change_no_tag(void **state)
{
    struct pythia_buf page = page_about("ordinary:name.of/a_point");
    struct pythia_buf expected = tags_of(pythia_buf_text(&page).bytes);
    pythia_buf_free(&page);
    for (size_t i = 0; i < SAMPLE_HOSTILE; i++) {
        page = page_about(sample_hostile[i]);
        struct pythia_buf tags = tags_of(pythia_buf_text(&page).bytes);
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
        {"a\xF3\xA0\x81\x81z", ">a\\U0e0041z<"},
        {"<b a='1'>&\"", ">&lt;b a=&#39;1&#39;&gt;&amp;&quot;<"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pythia_buf page = page_about(cases[i].name);
        char *text = without_breaks(pythia_buf_text(&page).bytes);
        assert_non_null(strstr(text, cases[i].shown));
        free(text);
        pythia_buf_free(&page);
    }
}

static void long_names_lose_their_middle_and_keep_it_in_a_title(void **state)
{
    char *name = sample_long_name(10000), *medium = sample_long_name(800), title[900];
    struct pythia_buf page = page_about(name);
    assert_non_null(strstr(pythia_buf_text(&page).bytes, "<code title=\"beginxxx"));
    pythia_buf_free(&page);
    page = page_about(medium);
    snprintf(title, sizeof(title), "<code title=\"%s\">", medium);
    assert_non_null(strstr(pythia_buf_text(&page).bytes, title));
    pythia_buf_free(&page);
    struct pythia_buf text = written(name, MARKDOWN);
    assert_non_null(strstr(pythia_buf_text(&text).bytes, "`beginxxx"));
    assert_non_null(strstr(pythia_buf_text(&text).bytes, "xxxend`"));
    pythia_buf_free(&text);
    free(name);
    free(medium);
}

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
    struct pythia_buf page = page_about("a");
    const char *at = pythia_buf_text(&page).bytes;
    char target[128], place[160];
    size_t links = 0;
    for (; next_value(&at, "href", target, sizeof(target)); links++) {
        assert_int_equal(target[0], '#');
        snprintf(place, sizeof(place), " id=\"%s\"", target + 1);
        assert_int_equal(sample_count(pythia_buf_text(&page).bytes, place), 1);
    }
    assert_int_equal(links, 3); /* to the content, to a section, and in a list */
    pythia_buf_free(&page);
}

static void only_addresses_of_the_web_become_links(void **state)
{
    static const struct {
        const char *target;
        bool link;
    } cases[] = {{"http://jaeger/trace/1", true},
                 {"https://jaeger/trace/1", true},
                 {"#here", true},
                 {"javascript:alert(1)", false},
                 {"data:text/html,x", false}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pythia_buf out = {0};
        struct pythia__doc d;
        pythia__doc_begin(&d);
        pythia__doc_open(&d, PYTHIA__DOC_HEAD, PYTHIA_TEXT(""), NULL);
        pythia__doc_close(&d);
        pythia__doc_paragraph(&d, PYTHIA__DOC_TEXT);
        pythia__doc_link(&d, pythia_text_of(cases[i].target));
        pythia__doc_words(&d, "here");
        pythia__doc_unlink(&d);
        assert_int_equal(pythia__doc_finish(&d), PYTHIA_OK);
        assert_int_equal(pythia__doc_write_html(&d, "t", "f", &out), PYTHIA_OK);
        assert_int_equal(strstr(pythia_buf_text(&out).bytes, "<p><a href=") != NULL, cases[i].link);
        assert_non_null(strstr(pythia_buf_text(&out).bytes, "here"));
        pythia_buf_free(&out);
        pythia__doc_free(&d);
    }
}

static void nothing_is_loaded_and_nothing_runs(void **state)
{
    static const char *const no[] = {"<script", "<link", "<img",    "<iframe", "<object",
                                     "src=",    "url(",  "@import", "://",     "javascript:"};
    struct pythia_buf page = page_about("a");
    for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
        assert_null(strstr(pythia_buf_text(&page).bytes, no[i]));
    struct pythia_buf tags = tags_of(pythia_buf_text(&page).bytes);
    assert_null(strstr(tags.bytes, " on")); /* handlers of events */
    assert_non_null(strstr(pythia_buf_text(&page).bytes,
                           "<meta http-equiv=\"Content-Security-Policy\" "
                           "content=\"default-src &#39;none&#39;; style-src "
                           "&#39;unsafe-inline&#39;; img-src data:;"));
    pythia_buf_free(&tags);
    pythia_buf_free(&page);
}

/* What a row is about comes first, a bar has a cell of its own, and further rows are folded. */
static void tables_of_a_page_have_scopes_bars_and_folds(void **state)
{
    struct pythia_buf page = page_about("p");
    assert_int_equal(sample_count(pythia_buf_text(&page).bytes, "<th "),
                     sample_count(pythia_buf_text(&page).bytes, "<th scope=\""));
    assert_null(strstr(pythia_buf_text(&page).bytes, "<th>"));
    assert_non_null(strstr(pythia_buf_text(&page).bytes,
                           "<thead><tr><th scope=\"col\">name</th><th "
                           "scope=\"colgroup\" colspan=\"2\">share</th>"));
    assert_non_null(strstr(pythia_buf_text(&page).bytes,
                           "<th scope=\"row\"><code>p</code> and p<span "
                           "class=\"sub\">below it</span></th><td class=\"b\"><span "
                           "aria-hidden=\"true\" class=\"bar share iv\" "
                           "style=\"--v:95.0%;--l:85.0%;--h:100.0%\"></span></td><td "
                           "class=\"n\" data-l=\"share\">95 %</td>"));
    assert_non_null(strstr(pythia_buf_text(&page).bytes, "<summary>1 more</summary>"));
    assert_non_null(strstr(pythia_buf_text(&page).bytes, "<html lang=\"en\">"));
    assert_int_equal(sample_count(pythia_buf_text(&page).bytes, "<h1>"), 1);
    assert_int_equal(sample_count(pythia_buf_text(&page).bytes, "<main "), 1);
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
    struct pythia_buf page = page_about("a");
    const char *root = pythia_buf_text(&page).bytes;
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
    struct pythia_buf page = page_about("a");
    const char *scale = pythia_buf_text(&page).bytes;
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

/* ---- a line as GitHub reads it ---- */

/* Pipes that part cells: all but those behind a backslash, even in code. */
static size_t pipes(const char *line, size_t size)
{
    size_t count = 0;
    for (size_t i = 0; i < size; i++) {
        if (line[i] == '\\')
            i++;
        else
            count += line[i] == '|';
    }
    return count;
}

/* Appends what is markup in a line: code spans as "`", and each character that has a meaning and no
 * backslash before it. */
static void add_markup(struct pythia_buf *to, const char *line, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        size_t run = 0;
        while (i + run < size && line[i + run] == '`')
            run++;
        if (run > 0) {
            size_t at = i + run, closing = 0;
            while (at < size && closing != run) {
                closing = 0;
                while (at < size && line[at] != '`')
                    at++;
                while (at < size && line[at] == '`') {
                    at++;
                    closing++;
                }
            }
            assert_int_equal(closing, run); /* every code span ends in its line */
            pythia_buf_putc(to, '`');
            i = at - 1;
        } else if (line[i] == '\\') {
            i++;
        } else if (size - i >= 8 && strncmp(line + i, "<!-- -->", 8) == 0) {
            i += 7;
        } else if (strchr("*[]<#|~&$", line[i])) {
            pythia_buf_putc(to, line[i]);
        }
    }
    pythia_buf_putc(to, '\n');
}

/* What is markup in a report, line by line; rows of tables have as many cells as their heads. */
static struct pythia_buf markup_of(const char *text)
{
    struct pythia_buf out = {0};
    size_t cells = 0;
    for (const char *line = text; *line;) {
        size_t size = strcspn(line, "\n");
        assert_int_equal(line[size], '\n');
        if (line[0] == '|' && cells == 0)
            cells = pipes(line, size);
        else if (line[0] == '|')
            assert_int_equal(pipes(line, size), cells);
        else
            cells = 0;
        add_markup(&out, line, size);
        line += size + 1;
    }
    return out;
}

static void hostile_names_change_no_markup(void **state)
{
    struct pythia_buf text = written("ordinary:name.of/a_point", MARKDOWN);
    struct pythia_buf expected = markup_of(pythia_buf_text(&text).bytes);
    pythia_buf_free(&text);
    for (size_t i = 0; i < SAMPLE_HOSTILE; i++) {
        text = written(sample_hostile[i], MARKDOWN);
        struct pythia_buf markup = markup_of(pythia_buf_text(&text).bytes);
        if (sample_can_be_set_apart(sample_hostile[i]))
            assert_string_equal(markup.bytes, expected.bytes);
        for (size_t k = 0; k < text.size; k++)
            assert_true((unsigned char)pythia_buf_text(&text).bytes[k] >= ' ' ||
                        pythia_buf_text(&text).bytes[k] == '\n');
        pythia_buf_free(&markup);
        pythia_buf_free(&text);
    }
    pythia_buf_free(&expected);
}

/* Values of keys stand in sentences, and are not set apart. */
static void what_is_hostile_in_a_sentence_is_escaped(void **state)
{
    static const struct {
        const char *words, *shown;
    } cases[] = {
        {"in {<b>*x*</b>}", " in {\\<b>\\*x\\*\\</b>},"},
        {"[a](b)", " when \\[a\\](b),"},
        {"a|b", " when a\\|b,"},
        {"http://x.example", " when http<!-- -->://x<!-- -->.example,"},
        {"@team #1", " when @<!-- -->team \\#<!-- -->1,"},
        {"www.1x.org", " when www<!-- -->.1x<!-- -->.org,"},
        {">= 2.5", " when >= 2.5,"},
        {"some_thing_ _", " when some_thing\\_ \\_,"},
        {"a\nb", " when a\\\\x0ab,"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pythia_buf text = prose(cases[i].words, MARKDOWN);
        assert_non_null(strstr(pythia_buf_text(&text).bytes, cases[i].shown));
        pythia_buf_free(&text);
    }
}

static void names_are_code_with_a_fence_that_fits(void **state)
{
    static const struct {
        const char *name, *shown;
    } cases[] = {
        {"plain", "| `plain` and"},   {"a`b", "| `` a`b `` and"},
        {"``", "| ``` `` ``` and"},   {"a|b", "| `a\\|b` and"},
        {"a\\|b", "| `a\\x7cb` and"}, {" a", "| `  a ` and"},
        {"", "| `(no name)` and"},    {"x\xE2\x80\xAEy", "| `x\\u202ey` and"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pythia_buf text = written(cases[i].name, MARKDOWN);
        assert_non_null(strstr(pythia_buf_text(&text).bytes, cases[i].shown));
        pythia_buf_free(&text);
    }
}

static void markdown_says_what_a_page_says_but_what_is_folded(void **state)
{
    static const char *const in_order[] = {
        "# Title\n",
        "\nIt is `p`.\n",
        "\n## Of `p`\n",
        "\n**Where.** Inside p it is 2.00 s, 3 requests\n",
        "\nCopy `p`\n",
        "\n- See `p`\n",
        "\n| mean | sd |\n| --: | --: |\n| - | none |\n",
        "\n| share | q | one line | name |\n| --: | --: | --- | --- |\n",
        "| 95 % | 2e-46 | x | `p` and p |\n\nand 1 more\n",
        "\n#### Card\n",
    };
    struct pythia_buf text = written("p", MARKDOWN);
    const char *at = pythia_buf_text(&text).bytes;
    for (size_t i = 0; at && i < sizeof(in_order) / sizeof(in_order[0]); i++) {
        at = strstr(at, in_order[i]);
        if (!at)
            fail_msg("not there, or not in order: %s\n%s", in_order[i],
                     pythia_buf_text(&text).bytes);
    }
    assert_null(strstr(pythia_buf_text(&text).bytes, "Folded"));
    pythia_buf_free(&text);
}

/* ---- text ---- */

/* The columns of the widest line. */
static size_t widest(const char *text)
{
    size_t most = 0, width = 0;
    for (; *text; text++) {
        width = *text == '\n' ? 0 : width + ((*text & 0xC0) != 0x80);
        most = width > most ? width : most;
    }
    return most;
}

static void no_line_is_wider_than_the_terminal_and_nothing_acts_on_it(void **state)
{
    char *name = sample_long_name(300);
    for (size_t width = 72; width <= 120; width += 24)
        for (size_t i = 0; i <= SAMPLE_HOSTILE; i++) {
            struct pythia_buf out = {0};
            const char *shown = i < SAMPLE_HOSTILE ? sample_hostile[i] : "ordinary:name";
            assert_int_equal(write_form(shown, TEXT, width, &out), PYTHIA_OK);
            for (size_t k = 0; k < out.size; k++)
                assert_true((unsigned char)pythia_buf_text(&out).bytes[k] >= ' ' ||
                            pythia_buf_text(&out).bytes[k] == '\n');
            assert_true(widest(pythia_buf_text(&out).bytes) <= width);
            pythia_buf_free(&out);
        }
    free(name);
}

/* Two cells of 20 columns and what is between them: the last words of a cell are in further lines,
 * or left out where its column is of one line. */
static void a_cell_goes_on_in_further_lines_unless_its_column_is_of_one(void **state)
{
    static const struct pythia__doc_column two[] = {{.title = "", .max = 20},
                                                    {.title = "", .max = 20, .one_line = true}};
    const struct pythia__doc_view view = {.width = 80};
    struct pythia_buf out = {0};
    struct pythia__doc d;
    pythia__doc_begin(&d);
    pythia__doc_table(&d, two, 2);
    pythia__doc_row(&d, PYTHIA__DOC_PLAIN);
    for (int i = 0; i < 2; i++) {
        pythia__doc_cell(&d);
        pythia__doc_words(&d, "correlates with calls of everything");
    }
    assert_int_equal(pythia__doc_finish(&d), PYTHIA_OK);
    assert_int_equal(pythia__doc_write_text(&d, &view, &out), PYTHIA_OK);
    assert_string_equal(pythia_buf_text(&out).bytes,
                        "  correlates with        correlates with\xE2\x80\xA6\n"
                        "  calls of everything\n");
    pythia_buf_free(&out);
    pythia__doc_free(&d);
}

static void names_are_as_short_as_they_can_be_without_looking_the_same(void **state)
{
    const struct pythia__doc_view view = {.width = 80}, full = {.width = 80, .full = true};
    struct pythia_buf out = {0};
    struct pythia__doc d;
    pythia__doc_begin(&d);
    pythia__doc_paragraph(&d, PYTHIA__DOC_TEXT);
    (void)pythia__doc_name(&d, PYTHIA__DOC_POINT, PYTHIA_TEXT("read"), PYTHIA_TEXT("store > read"),
                           PYTHIA_TEXT("store:Store.read"));
    pythia__doc_words(&d, " ");
    (void)pythia__doc_name(&d, PYTHIA__DOC_POINT, PYTHIA_TEXT("read"), PYTHIA_TEXT("cache > read"),
                           PYTHIA_TEXT("cache:Cache.read"));
    pythia__doc_words(&d, " ");
    (void)pythia__doc_name(&d, PYTHIA__DOC_POINT, PYTHIA_TEXT("write"), PYTHIA_TEXT("s > write"),
                           PYTHIA_TEXT("s:write"));
    assert_int_equal(pythia__doc_finish(&d), PYTHIA_OK);
    assert_int_equal(pythia__doc_write_text(&d, &view, &out), PYTHIA_OK);
    assert_string_equal(pythia_buf_text(&out).bytes, "store > read cache > read write\n");
    pythia_buf_clear(&out);
    assert_int_equal(pythia__doc_write_text(&d, &full, &out), PYTHIA_OK);
    assert_string_equal(pythia_buf_text(&out).bytes, "store:Store.read cache:Cache.read s:write\n");
    pythia_buf_free(&out);
    pythia__doc_free(&d);
}

/* ---- the rest ---- */

static void each_failed_allocation_is_told(void **state)
{
    for (enum form form = TEXT; form < FORMS; form++)
        for (long n = 0, done = 0; !done; n++) {
            struct pythia_buf out = {0};
            const unsigned long failures = pythia_mem_failures();
            pythia_mem_fail_after(n);
            int status = write_form("a long enough name: of/a.trace_point", form, 80, &out);
            pythia_mem_fail_after(-1);
            done = pythia_mem_failures() == failures;
            assert_true(status == PYTHIA_OK || status == PYTHIA_ENOMEM);
            assert_true(!done || status == PYTHIA_OK);
            pythia_buf_free(&out);
            assert_true(n < 100000);
        }
}

/* Another reader's word for it. */
static void xmllint_takes_the_page(void **state)
{
    if (system("command -v xmllint >/dev/null 2>&1") != 0)
        skip();
    struct pythia_buf hostile = {0};
    for (size_t i = 0; i < SAMPLE_HOSTILE; i++)
        pythia_buf_puts(&hostile, sample_hostile[i]);
    struct pythia_buf page = page_about(hostile.bytes);
    pythia_buf_free(&hostile);
    FILE *lint = popen("xmllint --noout --nonet -", "w");
    assert_non_null(lint);
    const char *xml = strchr(pythia_buf_text(&page).bytes, '\n') + 1;
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
        cmocka_unit_test(only_addresses_of_the_web_become_links),
        cmocka_unit_test(nothing_is_loaded_and_nothing_runs),
        cmocka_unit_test(tables_of_a_page_have_scopes_bars_and_folds),
        cmocka_unit_test(colours_have_enough_contrast_on_light_and_dark_pages),
        cmocka_unit_test(steps_of_the_scale_go_one_way_and_their_text_can_be_read),
        cmocka_unit_test(hostile_names_change_no_markup),
        cmocka_unit_test(what_is_hostile_in_a_sentence_is_escaped),
        cmocka_unit_test(names_are_code_with_a_fence_that_fits),
        cmocka_unit_test(markdown_says_what_a_page_says_but_what_is_folded),
        cmocka_unit_test(no_line_is_wider_than_the_terminal_and_nothing_acts_on_it),
        cmocka_unit_test(a_cell_goes_on_in_further_lines_unless_its_column_is_of_one),
        cmocka_unit_test(names_are_as_short_as_they_can_be_without_looking_the_same),
        cmocka_unit_test(each_failed_allocation_is_told),
        cmocka_unit_test(xmllint_takes_the_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
