/* What came of each type of request that was searched, or why it was not. */
#include <string.h>

#include "report_html.h"
#include "sentences/sentences.h"

#define ENDS_MAX 200

static void draw_end_cause(struct pythia__html *h, const json_t *found)
{
    pythia__html_open(h, "span", "class", "found", NULL);
    pythia__html_percent(h, pythia__number(found, "share"));
    pythia__html_text(h, " of the variance lies ");
    pythia__html_edge(h, json_object_get(found, "edge"));
    pythia__html_close(h);
}

static void draw_end_row(struct pythia__html *h, const json_t *problem)
{
    const json_t *causes = pythia__array(problem, "causes");
    struct pythia_buf reason = {0};
    pythia__html_open(h, "tr", NULL);
    pythia__html_open(h, "th", "scope", "row", NULL);
    pythia__html_name(h, pythia__string(problem, "request_type"));
    pythia__html_close(h);
    pythia__html_open(h, "td", "class", "full", NULL);
    for (size_t i = 0; i < json_array_size(causes); i++)
        draw_end_cause(h, json_array_get(causes, i));
    if (pythia__has_reason(problem))
        pythia__add_reason(&reason, problem);
    else
        pythia_buf_puts(&reason, pythia__state_words(problem));
    if (reason.size > 0) {
        pythia__html_open(h, "span", "class", json_array_size(causes) > 0 ? "sub" : "found", NULL);
        pythia__html_prose(h, reason.bytes);
        pythia__html_close(h);
    }
    if (reason.failed)
        h->out->failed = 1;
    pythia_buf_free(&reason);
    pythia__html_close(h);
    pythia__html_close(h);
}

static bool is_shown(const json_t *problem)
{
    return pythia__number(problem, "cycles") > 0 || pythia__has_reason(problem);
}

void pythia__html_ends(struct pythia__html *h, const json_t *search)
{
    static const char *const labels[] = {"Type of request", "What came of the search"};
    const json_t *problems = pythia__array(search, "problems");
    struct pythia_buf note = {0};
    size_t count = 0, shown = 0;
    for (size_t i = 0; i < json_array_size(problems); i++)
        count += is_shown(json_array_get(problems, i));
    pythia__add_pins(&note, search);
    size_t pins = note.size;
    pythia_buf_puts(&note, pins > 0 ? " " : "");
    pythia__add_never_searched(&note, search);
    if (pins > 0 && note.size == pins + 1)
        note.bytes[--note.size] = '\0';
    if (note.size > 0)
        pythia__html_leaf(h, "p", "note", note.bytes);
    pythia_buf_clear(&note);
    pythia__add_lessons(&note, search);
    if (note.size > 0)
        pythia__html_leaf(h, "p", "note", note.bytes);
    pythia_buf_clear(&note);
    pythia__add_unknown_points(&note, search);
    if (note.size > 0)
        pythia__html_leaf(h, "p", "note", note.bytes);
    if (note.failed)
        h->out->failed = 1;
    pythia_buf_free(&note);
    if (count == 0)
        return;
    pythia__html_table_begin(h, "stack", labels, sizeof(labels) / sizeof(labels[0]));
    for (size_t i = 0; i < json_array_size(problems) && shown < ENDS_MAX; i++)
        if (is_shown(json_array_get(problems, i))) {
            draw_end_row(h, json_array_get(problems, i));
            shown++;
        }
    pythia__html_table_end(h);
    if (count > shown) {
        pythia__html_open(h, "p", "class", "note", NULL);
        pythia__html_printf(h, "and %zu more", count - shown);
        pythia__html_close(h);
    }
}
