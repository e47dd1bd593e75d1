/* The search of a report: what came of it, and its cycles. */
#include <math.h>

#include "document/document_names.h"
#include "page/pictures.h"
#include "report_parts.h"
#include "sentences/sentences.h"

static const struct pythia__doc_column cycle_columns[] = {
    {.title = "cycle", .right = true}, {.title = "requests", .right = true},
    {.title = "spans", .right = true}, {.title = "explained", .right = true},
    {.title = "saved", .right = true}, {.title = "findings and actions", .flexible = true}};

static void add_cycle_row(const struct pythia__parts *p, const struct pythia_loop_cycle *c)
{
    const struct pythia_problem *leading = &c->leading;
    double all = (double)(c->spans_seen + c->spans_saved);
    pythia__doc_row(p->d, PYTHIA__DOC_PLAIN);
    pythia__doc_cell(p->d);
    pythia__say_cycle_number(p->d, c);
    pythia__doc_cell(p->d);
    pythia__doc_count(p->d, (double)c->requests, "", "");
    pythia__doc_cell(p->d);
    pythia__doc_count(p->d, (double)c->spans_seen, "", "");
    pythia__doc_cell(p->d);
    pythia__doc_percent(p->d, leading->type == PYTHIA_NONE ? NAN
                              : leading->cause_count > 0   ? fmin(fmax(0, 1 - leading->rest), 1)
                                                           : 0);
    pythia__doc_cell(p->d);
    pythia__doc_percent(p->d, all > 0 ? (double)c->spans_saved / all : NAN);
    pythia__doc_cell(p->d);
    pythia__doc_words(p->d, c->again ? "The capture started over." : "");
    pythia__say_cycle(p->d, p->s, c);
    pythia__say_budget_use(p->d, p->s->loop, c);
}

/* Why request types have no cause, or not a closer one. */
static void add_edge_ends(const struct pythia__parts *p)
{
    const struct pythia_loop *loop = p->s->loop;
    size_t all = 0;
    for (size_t i = 0; i < loop->problem_count; i++) {
        const struct pythia_problem *problem = &loop->problems[i];
        if (!pythia__has_reason(problem) || ++all > PYTHIA__ENDS_SHOWN)
            continue;
        struct pythia_text name = pythia_vocabulary_text(p->s->vocabulary, problem->type);
        pythia__doc_item(p->d);
        (void)pythia__doc_name(p->d, PYTHIA__DOC_TYPE, name, name, name);
        pythia__doc_words(p->d, ": ");
        pythia__say_reason(p->d, p->s, problem);
    }
    pythia__doc_more(p->d, all, PYTHIA__ENDS_SHOWN, "type", "types");
}

static void add_search_remarks(const struct pythia__parts *p)
{
    const struct pythia_loop *loop = p->s->loop;
    pythia__doc_paragraph(p->d, PYTHIA__DOC_REMARK);
    pythia__say_pins(p->d, loop);
    pythia__doc_paragraph(p->d, PYTHIA__DOC_REMARK);
    pythia__say_lessons(p->d, loop);
    pythia__doc_paragraph(p->d, PYTHIA__DOC_REMARK);
    pythia__say_unknown_points(p->d, p->s);
    pythia__doc_paragraph(p->d, PYTHIA__DOC_REMARK);
    pythia__say_never_searched(p->d, loop);
}

/* ---- what opened points explained ---- */

static const struct pythia__doc_column effect_columns[] = {
    {.title = "Opened"},
    {.title = "Inside it", .bar = true},
    {.title = "Largest segment", .right = true},
    {.title = "Without it", .right = true},
    {.title = "By path", .right = true},
    {.title = "Verdict"}};

static void add_effect(const struct pythia__parts *p, const struct pythia_effect *e)
{
    static const char *const verdicts[] = {[PYTHIA_EFFECT_EXPLAINS] = "explains",
                                           [PYTHIA_EFFECT_DOES_NOT_PAY] = "is not worth its cost",
                                           [PYTHIA_EFFECT_NOT_PASSED] = "is on no critical path",
                                           [PYTHIA_EFFECT_TOO_FEW] = "too few requests"};
    const double shares[] = {e->fine.share, e->coarse.share, e->eta_squared};
    pythia__doc_row(p->d, PYTHIA__DOC_PLAIN);
    pythia__doc_cell(p->d);
    pythia__doc_point(p->d, p->s->vocabulary, e->tracepoint);
    pythia__doc_below(p->d);
    pythia__doc_words(p->d, "opened in cycle %zu", (size_t)e->opened);
    if (!isnan(e->coarse.share)) {
        pythia__doc_words(p->d, "; ");
        pythia__doc_place_phrase(p->d, p->s->vocabulary, &e->coarse.place);
    }
    pythia__doc_cell(p->d);
    pythia__doc_bar(p->d, PYTHIA__DOC_SHARE, e->inside, e->inside_low, e->inside_high);
    pythia__doc_percent(p->d, e->inside);
    for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
        pythia__doc_cell(p->d);
        pythia__doc_percent(p->d, shares[i]);
    }
    pythia__doc_cell(p->d);
    pythia__doc_words(p->d, "%s", verdicts[e->verdict]);
}

static void add_effects(const struct pythia__parts *p)
{
    const struct pythia_loop *loop = p->s->loop;
    size_t count = 0;
    for (size_t i = 0; i < loop->cycle_count; i++)
        count += loop->cycles[i].effect_count;
    if (count == 0)
        return;
    pythia__doc_open(p->d, PYTHIA__DOC_PAGE, PYTHIA_TEXT(""), NULL);
    pythia__doc_title(p->d, 3, "What opened trace points explained");
    pythia__doc_paragraph(p->d, PYTHIA__DOC_REMARK);
    pythia__doc_words(p->d, "Shares of the variance: inside them, in the largest segment of the "
                            "place they split, and in that place as a whole, which is all that "
                            "would be visible without them. ");
    pythia__doc_words(p->d, "By path: how much of the variance there correlates with whether they "
                            "are hit.");
    pythia__doc_table(p->d, effect_columns, sizeof(effect_columns) / sizeof(effect_columns[0]));
    for (size_t i = 0; i < loop->cycle_count; i++)
        for (size_t k = 0; k < loop->cycles[i].effect_count; k++)
            add_effect(p, &loop->cycles[i].effects[k]);
    pythia__doc_close(p->d);
}

void pythia__part_search(const struct pythia__parts *p)
{
    const struct pythia_loop *loop = p->s->loop;
    if (!loop)
        return;
    pythia__doc_open(p->d, PYTHIA__DOC_SECTION, PYTHIA_TEXT("search"), "The search");
    pythia__doc_title(p->d, 2, "The search");
    pythia__doc_paragraph(p->d, PYTHIA__DOC_TEXT);
    pythia__say_search(p->d, loop);
    pythia__doc_words(p->d, loop->rounds > 1 ? " The capture was replayed more than once." : "");
    pythia__doc_picture(p->d, pythia__timeline_draw,
                        pythia__timeline_make(p->d, p->s->vocabulary, loop));
    pythia__doc_table(p->d, cycle_columns, sizeof(cycle_columns) / sizeof(cycle_columns[0]));
    for (size_t i = 0; i < loop->cycle_count; i++)
        add_cycle_row(p, &loop->cycles[i]);
    add_edge_ends(p);
    add_search_remarks(p);
    add_effects(p);
    pythia__doc_close(p->d);
}
