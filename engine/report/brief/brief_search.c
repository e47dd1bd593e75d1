/* The search of a report, a line a cycle. */
#include <math.h>

#include "brief.h"
#include "document/document_names.h"

#define LINE_MAX 80 /* characters of a cycle's line */

static const struct pythia__doc_column columns[] = {
    {.title = "cycle", .right = true},
    {.title = "requests", .right = true},
    {.title = "opened", .right = true},
    {.title = "closed", .right = true},
    {.title = "what it found", .flexible = true, .one_line = true}};

static void add_number(const struct pythia__brief *b, double number)
{
    pythia__doc_cell(b->d);
    pythia__doc_count(b->d, number, "", "");
}

static const struct pythia_effect *find_explaining(const struct pythia_loop_cycle *c)
{
    for (size_t i = 0; i < c->effect_count; i++)
        if (c->effects[i].verdict == PYTHIA_EFFECT_EXPLAINS)
            return &c->effects[i];
    return NULL;
}

/* "97 % in build_semaphore", "96 % between A and B". */
static void add_finding(const struct pythia__brief *b, const char *before,
                        const struct pythia_finding *f)
{
    const struct pythia_place *p = &f->place;
    bool one = p->from_tracepoint == p->to_tracepoint;
    pythia__doc_words(b->d, "%s", before);
    pythia__doc_percent(b->d, fmin(f->share, 1));
    pythia__doc_words(b->d, one ? " in " : " between ");
    if (one) {
        pythia__doc_place_row(b->d, b->s->vocabulary, p);
        return;
    }
    pythia__doc_point(b->d, b->s->vocabulary, p->from_tracepoint);
    pythia__doc_words(b->d, " and ");
    pythia__doc_point(b->d, b->s->vocabulary, p->to_tracepoint);
}

/* Why nothing was learnt. */
static const char *idle_reason(const struct pythia_loop_cycle *c)
{
    return c->number == 0                          ? "learning the search space"
           : c->states[PYTHIA_PROBLEM_TOO_FEW] > 0 ? "too few requests"
           : c->states[PYTHIA_PROBLEM_DONE] + c->states[PYTHIA_PROBLEM_GIVEN_UP] > 0
               ? "no type left to search"
           : c->states[PYTHIA_PROBLEM_UNKNOWN] > 0 ? "unknown request types"
                                                   : "nothing varies";
}

static void add_learnt(const struct pythia__brief *b, const struct pythia_loop_cycle *c)
{
    const struct pythia_effect *e = find_explaining(c);
    const struct pythia_problem *p = &c->leading;
    bool opens = c->opened_count > 0, searched = p->type != PYTHIA_NONE,
         top = searched && p->state == PYTHIA_PROBLEM_SEARCHING && !isnan(p->top.share);
    if (opens) {
        pythia__doc_words(b->d, "opens ");
        pythia__doc_point(b->d, b->s->vocabulary, c->opened[0].tracepoint);
    }
    if (opens && top && !e && c->found_count == 0) {
        pythia__doc_words(b->d, " to split "); /* it lies where most varies, and a line is short */
        pythia__doc_percent(b->d, fmin(p->top.share, 1));
        return;
    }
    pythia__doc_words(b->d, opens ? "; " : "");
    if (c->found_count > 0) {
        add_finding(b, "found: ", &c->found[0].cause);
        if (c->found_count > 1)
            pythia__doc_words(b->d, "; %zu more", c->found_count - 1);
    } else if (e) {
        pythia__doc_point(b->d, b->s->vocabulary, e->tracepoint);
        pythia__doc_words(b->d, " explains ");
        pythia__doc_percent(b->d, fmin(fmax(e->fine.share, e->inside), 1));
    } else if (top) {
        add_finding(b, "", &p->top);
    } else {
        pythia__doc_words(b->d, "%s",
                          !searched                             ? idle_reason(c)
                          : p->state == PYTHIA_PROBLEM_GIVEN_UP ? "given up"
                          : p->state == PYTHIA_PROBLEM_DONE && p->why == PYTHIA_WHY_SPREAD
                              ? "a key explains it"
                              : idle_reason(c));
    }
}

static void add_brief_cycle(const struct pythia__brief *b, const struct pythia_loop_cycle *c)
{
    pythia__doc_row(b->d, PYTHIA__DOC_PLAIN);
    pythia__doc_cell(b->d);
    if (c->more > 0 && c->number > 0)
        pythia__doc_words(b->d, "%zu\xE2\x80\x93%zu", (size_t)(c->number - c->more),
                          (size_t)c->number);
    else
        pythia__doc_words(b->d, "%zu", (size_t)c->number);
    add_number(b, (double)c->requests);
    add_number(b, (double)c->opened_count);
    add_number(b, (double)c->closed_count);
    pythia__doc_cell(b->d);
    add_learnt(b, c);
}

static size_t count_cycles(const struct pythia_loop *loop)
{
    size_t count = 0;
    for (size_t i = 0; i < loop->cycle_count; i++)
        count += loop->cycles[i].number > 0 ? (size_t)loop->cycles[i].more + 1 : 0;
    return count;
}

static void add_summary(const struct pythia__brief *b, const struct pythia_loop *loop)
{
    size_t cycles = count_cycles(loop);
    pythia__doc_gap(b->d);
    pythia__doc_paragraph(b->d, PYTHIA__DOC_TEXT);
    pythia__doc_strong(b->d, "search");
    if (loop->point_count == 0) {
        pythia__doc_words(b->d, "   the search space is being learnt");
        return;
    }
    pythia__doc_words(b->d,
                      "   %zu of %zu trace points open from the start, %zu more opened in "
                      "%zu cycle%s%s",
                      loop->skeleton_count, loop->point_count, loop->opened_count, cycles,
                      cycles == 1 ? "" : "s", loop->finished ? "" : "; it continues");
}

/* The last cycles are shown: they say how it stands. */
void pythia__brief_search(const struct pythia__brief *b)
{
    const struct pythia_loop *loop = b->s->loop;
    if (!loop)
        return;
    add_summary(b, loop);
    size_t shown = loop->cycle_count < b->level->cycles ? loop->cycle_count : b->level->cycles;
    if (shown == 0)
        return;
    pythia__doc_table(b->d, columns, sizeof(columns) / sizeof(columns[0]));
    pythia__doc_limit_width(b->d, LINE_MAX);
    for (size_t i = loop->cycle_count - shown; i < loop->cycle_count; i++)
        add_brief_cycle(b, &loop->cycles[i]);
    if (loop->cycle_count > shown) {
        pythia__doc_paragraph(b->d, PYTHIA__DOC_TEXT);
        pythia__doc_words(b->d, "  %zu earlier cycles: --verbose", loop->cycle_count - shown);
    }
}
