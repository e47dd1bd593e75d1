/* A search in words: its cycles, one by one, and its result. */
#include <math.h>

#include "document/document_names.h"
#include "report_why.h"
#include "sentences.h"

static void say_names(struct pythia__doc *d, const struct pythia_vocabulary *v, uint32_t type)
{
    struct pythia_text name = pythia_vocabulary_text(v, type);
    (void)pythia__doc_name(d, PYTHIA__DOC_TYPE, name, name, name);
}

void pythia__say_finding(struct pythia__doc *d, const struct pythia_vocabulary *v,
                         const struct pythia_finding *f)
{
    pythia__doc_percent(d, f->share);
    pythia__doc_words(d, " of the variance lies ");
    pythia__doc_place_phrase(d, v, &f->place);
}

/* A blank before what is not first in the line. */
static const char *space_of_loop(const struct pythia__doc *d)
{
    return d->line && d->line->first ? " " : "";
}

/* ---- what opened points explained ---- */

#define EFFECTS_SHOWN 3 /* points with a sentence of their own; and names of those without effect */

static const struct pythia_effect *effect_of(const struct pythia_loop_cycle *c, uint32_t point)
{
    for (size_t i = 0; i < c->effect_count; i++)
        if (c->effects[i].tracepoint == point)
            return &c->effects[i];
    return NULL;
}

/* Are all points that the cycle closes such that were just found not to be worth their cost? */
static bool closes_what_is_useless(const struct pythia_loop_cycle *c)
{
    bool all = c->closed_count > 0;
    for (size_t i = 0; i < c->closed_count; i++) {
        const struct pythia_effect *e = effect_of(c, c->closed[i].tracepoint);
        all = all && e && e->verdict == PYTHIA_EFFECT_DOES_NOT_PAY;
    }
    return all;
}

/* Is a point that is not worth its cost named where it is closed? */
static bool is_closed_in(const struct pythia_loop_cycle *c, const struct pythia_effect *e)
{
    bool closed = false;
    for (size_t i = 0; i < c->closed_count; i++)
        closed = closed || c->closed[i].tracepoint == e->tracepoint;
    return closed && closes_what_is_useless(c);
}

/* Do these sentences say already that most lies in this place? */
static bool is_explained(const struct pythia_loop_cycle *c, const struct pythia_place *place)
{
    size_t told = 0;
    for (size_t i = 0; i < c->effect_count && told < EFFECTS_SHOWN; i++) {
        const struct pythia_effect *e = &c->effects[i];
        if (e->verdict != PYTHIA_EFFECT_EXPLAINS)
            continue;
        told++;
        bool inside = place->from_tracepoint == e->tracepoint &&
                      place->to_tracepoint == e->tracepoint && place->context == e->tracepoint;
        if (pythia_place_equal(place, &e->fine.place) && (e->by_inside ? inside : e->by_part))
            return true;
    }
    return false;
}

/* "A, B and 4 more are not worth their cost." */
static void say_useless(struct pythia__doc *d, const struct pythia_vocabulary *v,
                        const struct pythia_loop_cycle *c, enum pythia_effect_verdict verdict,
                        const char *of_one, const char *of_several)
{
    size_t all = 0, named = 0;
    for (size_t i = 0; i < c->effect_count; i++)
        all += c->effects[i].verdict == verdict && !is_closed_in(c, &c->effects[i]);
    for (size_t i = 0; i < c->effect_count && named < EFFECTS_SHOWN; i++) {
        if (c->effects[i].verdict != verdict || is_closed_in(c, &c->effects[i]))
            continue;
        named++;
        pythia__doc_words(d, "%s", named == 1 ? space_of_loop(d) : named == all ? " and " : ", ");
        pythia__doc_point(d, v, c->effects[i].tracepoint);
    }
    if (all > named)
        pythia__doc_words(d, " and %zu more", all - named);
    if (all > 0)
        pythia__doc_words(d, "%s", all == 1 ? of_one : of_several);
}

static void say_effects(struct pythia__doc *d, const struct pythia_vocabulary *v,
                        const struct pythia_loop_cycle *c)
{
    size_t told = 0, left = 0;
    for (size_t i = 0; i < c->effect_count; i++) {
        const struct pythia_effect *e = &c->effects[i];
        struct pythia_buf text = {0};
        if (e->verdict != PYTHIA_EFFECT_EXPLAINS)
            continue;
        left += told == EFFECTS_SHOWN;
        if (told == EFFECTS_SHOWN)
            continue;
        told++;
        pythia__doc_words(d, "%s", space_of_loop(d));
        pythia__doc_point(d, v, e->tracepoint);
        pythia__doc_words(d, " explains: ");
        pythia_effect_add(&text, v, e, false);
        pythia__doc_take(d, PYTHIA__DOC_WORDS, &text);
        pythia__doc_words(d, ".");
    }
    if (left)
        pythia__doc_words(d, " %zu more explain%s something as well.", left, left == 1 ? "s" : "");
    say_useless(d, v, c, PYTHIA_EFFECT_DOES_NOT_PAY, " is not worth its cost.",
                " are not worth their cost.");
    say_useless(d, v, c, PYTHIA_EFFECT_NOT_PASSED, " is on no critical path.",
                " are on no critical path.");
}

/* ---- a cycle ---- */

/* The time that opened points add to a request, for the type with the largest sum. */
static double added_ns(const struct pythia_loop_switch *list, size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count; i++) {
        double sum = 0;
        for (size_t k = 0; k < count; k++)
            sum += list[k].type == list[i].type ? list[k].cost_ns : 0;
        most = fmax(most, sum);
    }
    return most;
}

/* The types of points are named where they are not the one that the sentence is about. */
static void say_switches(struct pythia__doc *d, const struct pythia_vocabulary *v,
                         const struct pythia_loop_switch *list, size_t count, bool open,
                         uint32_t leading)
{
    const char *verb = open ? " Opens " : " Closes ";
    if (count && list[0].unswitchable)
        verb = open ? " Would open " : " Would close ";
    for (size_t i = 0; i < count; i++) {
        pythia__doc_words(d, "%s", i == 0 ? verb : i + 1 == count ? " and " : ", ");
        pythia__doc_point(d, v, list[i].tracepoint);
        if (list[i].type == PYTHIA_NONE || list[i].type == leading)
            continue;
        pythia__doc_words(d, " for ");
        say_names(d, v, list[i].type);
    }
    if (count && open) {
        pythia__doc_words(d, ", for ");
        pythia__doc_duration(d, added_ns(list, count));
        pythia__doc_words(d, " per request");
    }
}

/* The number of causes found, for the type of the sentence or for others. */
static size_t say_found(struct pythia__doc *d, const struct pythia_vocabulary *v,
                        const struct pythia_loop_cycle *c, bool leading)
{
    size_t count = 0;
    for (size_t i = 0; i < c->found_count; i++) {
        if ((c->found[i].type == c->leading.type) != leading)
            continue;
        if (leading && count > 0) {
            pythia__doc_words(d, " And: ");
        } else if (leading) {
            pythia__doc_words(d, "%sFound: ", space_of_loop(d));
        } else {
            pythia__doc_words(d, "%sFound, of ", space_of_loop(d));
            say_names(d, v, c->found[i].type);
            pythia__doc_words(d, ": ");
        }
        count++;
        pythia__say_finding(d, v, &c->found[i].cause);
        pythia__doc_words(d, ".");
    }
    return count;
}

/* Why nothing is searched, if there is one reason for all types. */
static const char *find_idle_reason(const struct pythia_loop_cycle *c)
{
    size_t all = 0;
    for (size_t i = 0; i < PYTHIA_PROBLEM_STATES; i++)
        all += c->states[i];
    if (c->number == 0)
        return "The search space is being learnt from them.";
    if (all == 0)
        return c->unseen > 0 ? "No span of these requests belongs to an open trace point: the "
                               "search space is of another system."
                             : "There are no requests.";
    if (c->states[PYTHIA_PROBLEM_UNKNOWN] == all)
        return "The search space knows no type of these requests.";
    if (c->states[PYTHIA_PROBLEM_TOO_FEW] == all)
        return "No request type has enough requests to be searched.";
    return c->states[PYTHIA_PROBLEM_DONE] + c->states[PYTHIA_PROBLEM_GIVEN_UP] > 0
               ? "No request type is searched any more."
               : "No request type varies enough to be searched.";
}

void pythia__say_cycle(struct pythia__doc *d, const struct pythia_report_source *s,
                       const struct pythia_loop_cycle *c)
{
    const struct pythia_vocabulary *v = s->vocabulary;
    const struct pythia_problem *p = &c->leading;
    bool any = p->type != PYTHIA_NONE;
    uint32_t leading = any ? p->unsplit : PYTHIA_NONE;
    say_effects(d, v, c);
    if (!any)
        pythia__doc_words(d, "%s%s", space_of_loop(d), find_idle_reason(c));
    size_t found = say_found(d, v, c, true);
    if (any && p->state == PYTHIA_PROBLEM_GIVEN_UP) {
        pythia__doc_words(d, "%sGiven up.", space_of_loop(d));
    } else if (any && p->state == PYTHIA_PROBLEM_DONE && p->why == PYTHIA_WHY_SPREAD) {
        pythia__doc_words(d, "%sA key explains most of the variance, in many places at once.",
                          space_of_loop(d));
    } else if (any && p->state == PYTHIA_PROBLEM_SEARCHING && !isnan(p->top.share) &&
               !is_explained(c, &p->top.place)) {
        pythia__doc_words(d, "%s", found > 0 ? " Of the rest, " : space_of_loop(d));
        pythia__say_finding(d, v, &p->top);
        pythia__doc_words(d, ".");
    }
    (void)say_found(d, v, c, false);
    say_switches(d, v, c->opened, c->opened_count, true, leading);
    pythia__doc_words(d, c->opened_count > 0 ? "." : "");
    say_switches(d, v, c->closed, c->closed_count, false, leading);
    if (closes_what_is_useless(c))
        pythia__doc_words(d, c->closed_count == 1 ? ", which is not worth its cost"
                                                  : ", which are not worth their cost");
    pythia__doc_words(d, c->closed_count > 0 ? "." : "");
    if (c->waiting > 0)
        pythia__doc_words(d, "%s%zu request type%s for %s turn.", space_of_loop(d), c->waiting,
                          c->waiting == 1 ? " waits" : "s wait", c->waiting == 1 ? "its" : "their");
}

void pythia__say_cycle_number(struct pythia__doc *d, const struct pythia_loop_cycle *c)
{
    if (c->more > 0 && c->number > 0)
        pythia__doc_words(d, "%zu-%zu", (size_t)(c->number - c->more), (size_t)c->number);
    else
        pythia__doc_words(d, "%zu", (size_t)c->number);
}

void pythia__say_budget_use(struct pythia__doc *d, const struct pythia_loop *loop,
                            const struct pythia_loop_cycle *c)
{
    const struct pythia_budget *b = &loop->budget;
    const struct pythia_spending *use = &c->planned;
    if (b->points_open == 0 && !(b->added_ns > 0) && !(b->bytes_per_second > 0))
        return;
    pythia__doc_words(d, " Now open: ");
    pythia__doc_count(d, (double)use->points, "", "");
    if (b->points_open > 0) {
        pythia__doc_words(d, " of ");
        pythia__doc_count(d, (double)b->points_open, "", "");
    }
    pythia__doc_words(d, use->points == 1 && b->points_open == 0 ? " point" : " points");
    if (b->added_ns > 0) {
        pythia__doc_words(d, ", ");
        pythia__doc_duration(d, use->added_ns);
        pythia__doc_words(d, " of ");
        pythia__doc_duration(d, b->added_ns);
        pythia__doc_words(d, " per request");
    }
    if (b->bytes_per_second > 0) {
        pythia__doc_words(d, ", ");
        pythia__doc_count(d, round(use->bytes_per_second), "", "");
        pythia__doc_words(d, " of ");
        pythia__doc_count(d, round(b->bytes_per_second), "", "");
        pythia__doc_words(d, " bytes per second");
    }
    pythia__doc_words(d, ".");
}

/* ---- what came of it ---- */

void pythia__say_search(struct pythia__doc *d, const struct pythia_loop *loop)
{
    if (loop->point_count == 0) {
        pythia__doc_words(d, "The search space is being learnt.");
        return;
    }
    pythia__doc_words(d, "Of ");
    pythia__doc_count(d, (double)loop->point_count, " trace point", " trace points");
    pythia__doc_words(d, ", ");
    pythia__doc_count(d, (double)loop->skeleton_count, " was", " were");
    pythia__doc_words(d, " open from the start, ");
    pythia__doc_count(d, (double)loop->opened_count, " more was", " more were");
    pythia__doc_words(d, " opened.%s", loop->finished ? "" : " The search continues.");
}

void pythia__say_pins(struct pythia__doc *d, const struct pythia_loop *loop)
{
    size_t open = loop->always_count, shut = loop->never_count;
    if (open > 0)
        pythia__doc_count(d, (double)open, " trace point is pinned open",
                          " trace points are pinned open");
    pythia__doc_words(d, open > 0 && shut > 0 ? ", " : "");
    if (shut > 0)
        pythia__doc_count(d, (double)shut, " trace point is pinned closed",
                          " trace points are pinned closed");
    pythia__doc_words(d, open + shut > 0 ? "." : "");
}

static const char *state_words(enum pythia_problem_state state)
{
    static const char *const words[] = {
        [PYTHIA_PROBLEM_SEARCHING] = "searched", [PYTHIA_PROBLEM_DONE] = "done",
        [PYTHIA_PROBLEM_QUIET] = "quiet",        [PYTHIA_PROBLEM_TOO_FEW] = "too few",
        [PYTHIA_PROBLEM_UNKNOWN] = "unknown",    [PYTHIA_PROBLEM_GIVEN_UP] = "given up"};
    return words[state];
}

bool pythia__has_reason(const struct pythia_problem *p)
{
    return (p->cycles > 0 || p->state != PYTHIA_PROBLEM_TOO_FEW) && p->why != PYTHIA_WHY_NONE;
}

void pythia__say_reason(struct pythia__doc *d, const struct pythia_report_source *s,
                        const struct pythia_problem *p)
{
    struct pythia_buf why = {0};
    pythia__add_why(&why, s->vocabulary, s->loop, p);
    pythia__doc_words(d, "%s%s", state_words(p->state),
                      p->why == PYTHIA_WHY_PINNED && p->state == PYTHIA_PROBLEM_DONE
                          ? ", though "
                          : ", because ");
    pythia__doc_take(d, PYTHIA__DOC_WORDS, &why);
    pythia__doc_words(d, ".");
}

void pythia__say_never_searched(struct pythia__doc *d, const struct pythia_loop *loop)
{
    size_t few = 0, done = 0;
    for (size_t i = 0; i < loop->problem_count; i++) {
        const struct pythia_problem *p = &loop->problems[i];
        few += p->state == PYTHIA_PROBLEM_TOO_FEW && !pythia__has_reason(p);
        done += p->state == PYTHIA_PROBLEM_DONE;
    }
    if (few == 0 || done > 0)
        return;
    pythia__doc_count(d, (double)few, " request type had", " request types had");
    pythia__doc_words(d, " too few requests to be searched: ");
    pythia__doc_count(d, (double)loop->min_requests, "", "");
    pythia__doc_words(d, " in a cycle are needed.");
}

void pythia__say_lessons(struct pythia__doc *d, const struct pythia_loop *loop)
{
    if (loop->lessons > 0) {
        pythia__doc_words(d, "Trace points were opened ");
        pythia__doc_count(d, (double)loop->lessons, " time", " times");
        pythia__doc_words(d, " to learn new request types.");
    }
    if (loop->lessons_cut > 0) {
        pythia__doc_words(d, " In ");
        pythia__doc_count(d, (double)loop->lessons_cut, "", "");
        pythia__doc_words(d, " of these times some trace points stayed closed, because no more "
                             "may be open at once.");
    }
    if (loop->types_waiting > 0) {
        pythia__doc_words(d, "%s", space_of_loop(d));
        pythia__doc_count(d, (double)loop->types_waiting, " request type waits",
                          " request types wait");
        pythia__doc_words(d, " to be learnt, because the limit per hour is reached.");
    }
}

/* The advice comes before the names, which may be long. */
void pythia__say_unknown_points(struct pythia__doc *d, const struct pythia_report_source *s)
{
    const struct pythia_unknown_points *u = &s->loop->unknown;
    if (u->count == 0)
        return;
    pythia__doc_words(d, "The search space does not know ");
    pythia__doc_count(d, (double)u->count, " trace point", " trace points");
    pythia__doc_words(d, " of request types that it knows, of which ");
    pythia__doc_count(d, (double)u->spans, " span was left out", " spans were left out");
    pythia__doc_words(d,
                      ". Build or learn a new space to search %s: ", u->count == 1 ? "it" : "them");
    for (size_t i = 0; i < u->most_count; i++) {
        pythia__doc_words(d, i ? ", " : "");
        pythia__doc_point(d, s->vocabulary, u->most[i]);
    }
    if (u->most_count < u->count)
        pythia__doc_words(d, " and %zu more", (size_t)u->count - u->most_count);
    pythia__doc_words(d, ".");
}
