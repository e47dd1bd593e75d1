/* Splits on the page: what the requests were parted by, and what a group may be parted by next. */
#include <math.h>
#include <string.h>

#include "pythia/shown_text.h"
#include "report_html.h"
#include "sentences/sentences.h"

#define CARDS_MAX 3 /* proposals of a group that are shown */

/* The parts with their mean durations: bars begin at 0, so that their lengths can be compared. */
static void part_table(struct pythia__html *h, const json_t *of)
{
    static const char *const labels[] = {"Part", "=Mean duration", ">Requests"};
    const json_t *parts = pythia__array(of, "parts");
    double largest = 0;
    for (size_t i = 0; i < json_array_size(parts); i++)
        largest = fmax(largest, pythia__number(json_array_get(parts, i), "mean_ns"));
    pythia__html_table_begin(h, "tall", labels, sizeof(labels) / sizeof(labels[0]));
    for (size_t i = 0; i < json_array_size(parts); i++)
        pythia__html_mean_row(h, pythia__string(json_array_get(parts, i), "part"),
                              json_array_get(parts, i), largest);
    pythia__html_table_end(h);
}

/* Words of the other forms, made by one of them. */
static void draw_split_words(struct pythia__html *h,
                             void (*add)(struct pythia_buf *, const json_t *), const json_t *of)
{
    struct pythia_buf text = {0};
    add(&text, of);
    pythia__html_open(h, "p", NULL);
    pythia__html_prose(h, text.bytes ? text.bytes : "");
    pythia__html_close(h);
    if (text.failed)
        h->out->failed = 1;
    pythia_buf_free(&text);
}

/* What can be pasted: all of it, or else what it is about. */
static void draw_split_option(struct pythia__html *h, const json_t *of, const char *member)
{
    struct pythia_buf shown = {0};
    const char *text = pythia__string(of, member);
    if (!pythia__option_fits(text)) {
        pythia__html_name(h, pythia__string(of, "key"));
        pythia__html_text(h, PYTHIA__OPTION_LONG);
        return;
    }
    pythia_shown_add(&shown, pythia_text_of(text), SIZE_MAX);
    pythia__html_leaf(h, "code", NULL, shown.bytes ? shown.bytes : "");
    if (shown.failed)
        h->out->failed = 1;
    pythia_buf_free(&shown);
}

static void draw_split_card(struct pythia__html *h, const json_t *proposal)
{
    pythia__html_open(h, "div", "class", "card", NULL);
    pythia__html_open(h, "h4", NULL);
    draw_split_option(h, proposal, "option");
    pythia__html_close(h);
    draw_split_words(h, pythia__add_proposal_share, proposal);
    part_table(h, proposal);
    pythia__html_close(h);
}

void pythia__html_proposals(struct pythia__html *h, const json_t *group)
{
    const json_t *list = pythia__array(group, "splits");
    if (json_array_size(list) == 0)
        return;
    pythia__html_leaf(h, "h3", NULL, "What to part these requests by");
    pythia__html_leaf(h, "p", "note",
                      "Give pythia replay one of these, and each part is diagnosed by itself.");
    pythia__html_open(h, "div", "class", "cards", NULL);
    for (size_t i = 0; i < json_array_size(list) && i < CARDS_MAX; i++)
        draw_split_card(h, json_array_get(list, i));
    pythia__html_close(h);
}

static void split_type(struct pythia__html *h, const json_t *type)
{
    pythia__html_open(h, "div", "class", "card", NULL);
    pythia__html_open(h, "h4", NULL);
    pythia__html_name(h, pythia__string(type, "request_type"));
    pythia__html_close(h);
    draw_split_words(h, pythia__add_split_share, type);
    part_table(h, type);
    pythia__html_close(h);
}

void pythia__html_split_by(struct pythia__html *h, const json_t *report)
{
    const json_t *list = pythia__array(report, "split_by");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *split = json_array_get(list, i), *types = pythia__array(split, "types");
        pythia__html_open(h, "h3", NULL);
        draw_split_option(h, split, "split");
        pythia__html_close(h);
        draw_split_words(h, pythia__add_split_by, split);
        pythia__html_open(h, "div", "class", "cards", NULL);
        for (size_t k = 0; k < json_array_size(types); k++)
            split_type(h, json_array_get(types, k));
        pythia__html_close(h);
    }
}
