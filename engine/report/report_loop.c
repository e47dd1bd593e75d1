#include "report_loop.h"

#include <inttypes.h>
#include <math.h>

#include "pythia/buf.h"
#include "report_forms.h"

static json_t *place(struct pythia__json *w, const struct pythia_place *p)
{
    json_t *out = json_object();
    pythia__json_set(w, out, "from", pythia__json_event(w, p->from_tracepoint, p->from_event));
    pythia__json_set(w, out, "to", pythia__json_event(w, p->to_tracepoint, p->to_event));
    pythia__json_set(w, out, "inside",
                     p->context == PYTHIA_NONE ? json_null() : pythia__json_point(w, p->context));
    return out;
}

json_t *pythia__json_finding(struct pythia__json *w, const struct pythia_finding *f)
{
    if (isnan(f->share))
        return json_null();
    json_t *out = json_object();
    pythia__json_set(w, out, "edge", place(w, &f->place));
    pythia__json_set(w, out, "share", pythia__json_real(f->share));
    pythia__json_set(w, out, "share_low", pythia__json_real(f->low));
    pythia__json_set(w, out, "share_high", pythia__json_real(f->high));
    return out;
}

static json_t *problem(struct pythia__json *w, const struct pythia_problem *p)
{
    json_t *out = json_object(), *causes = json_array();
    for (size_t i = 0; i < p->cause_count; i++)
        pythia__json_append(w, causes, pythia__json_finding(w, &p->causes[i]));
    pythia__json_set(w, out, "request_type",
                     pythia__json_text(pythia_vocabulary_text(w->vocabulary, p->type)));
    pythia__json_set(w, out, "state", json_string(pythia_problem_state_name(p->state)));
    pythia__json_set(w, out, "cycles", pythia__json_count(p->cycles));
    pythia__json_set(w, out, "variance_share", pythia__json_real(p->variance_share));
    pythia__json_set(w, out, "causes", causes);
    pythia__json_set(w, out, "rest", pythia__json_real(p->rest));
    return out;
}

static json_t *switches(struct pythia__json *w, const struct pythia_loop_switch *list, size_t count)
{
    json_t *out = json_array();
    for (size_t i = 0; i < count; i++) {
        json_t *one = json_object();
        pythia__json_set(w, one, "trace_point", pythia__json_point(w, list[i].tracepoint));
        pythia__json_set(w, one, "cost_ns", pythia__json_real(list[i].cost_ns));
        pythia__json_set(w, one, "reason", pythia__json_text(pythia_text_of(list[i].reason)));
        pythia__json_append(w, out, one);
    }
    return out;
}

static void add_switches(struct pythia__json *w, struct pythia_buf *to, const char *verb,
                         const struct pythia_loop_switch *list, size_t count, bool useless)
{
    for (size_t i = 0; i < count; i++) {
        pythia_buf_puts(to, i == 0 ? verb : i + 1 == count ? " and " : ", ");
        pythia_buf_text_add(to, pythia_vocabulary_tracepoint_id(w->vocabulary, list[i].tracepoint));
    }
    if (useless)
        pythia_buf_puts(to, count == 1 ? ", which does not pay" : ", which do not pay");
    if (count)
        pythia_buf_putc(to, '.');
}

static void add_finding(struct pythia__json *w, struct pythia_buf *to,
                        const struct pythia_finding *f)
{
    pythia__add_percent(to, f->share);
    pythia_buf_puts(to, " of the variance lies ");
    pythia_place_add(to, w->vocabulary, &f->place);
    pythia_buf_putc(to, '.');
}

/* One line of the story: what was seen, what is therefore done. `before` is the number of causes
 * that the cycle before knew. */
static json_t *sentence(struct pythia__json *w, const struct pythia_loop_cycle *c, size_t before)
{
    const struct pythia_problem *p = &c->leading;
    struct pythia_buf text = {0};
    pythia__add_effects(w, &text, c);
    const char *space = text.size ? " " : "";
    if (p->type == PYTHIA_NONE)
        pythia_buf_printf(&text, "%sNo request type varies enough to be searched.", space);
    for (size_t i = before; p->type != PYTHIA_NONE && i < p->cause_count; i++) {
        pythia_buf_printf(&text, i == before ? "%sFound: " : " And: ", space);
        add_finding(w, &text, &p->causes[i]);
    }
    if (p->type != PYTHIA_NONE && p->state == PYTHIA_PROBLEM_GIVEN_UP)
        pythia_buf_printf(&text, "%sGiven up: no closed trace point would tell more.",
                          text.size ? " " : "");
    else if (p->type != PYTHIA_NONE && p->state == PYTHIA_PROBLEM_SEARCHING &&
             !isnan(p->top.share) && !pythia__effects_tell(c, &p->top.place)) {
        pythia_buf_puts(&text, p->cause_count > before ? " Of the rest, " : space);
        add_finding(w, &text, &p->top);
    }
    add_switches(w, &text, " Opens ", c->opened, c->opened_count, false);
    add_switches(w, &text, " Closes ", c->closed, c->closed_count,
                 pythia__closes_what_does_not_pay(c));
    json_t *out = pythia__json_text(pythia_buf_text(&text));
    w->failed = pythia_buf_status(&text) != 0 || w->failed;
    pythia_buf_free(&text);
    return out;
}

static json_t *cycle(struct pythia__json *w, const struct pythia_loop_cycle *c, size_t before)
{
    json_t *out = json_object();
    const struct pythia_problem *p = &c->leading;
    bool any = p->type != PYTHIA_NONE;
    pythia__json_set(w, out, "cycle", pythia__json_count(c->number));
    pythia__json_set(w, out, "requests", pythia__json_count(c->requests));
    pythia__json_set(w, out, "under_way", pythia__json_count(c->under_way));
    pythia__json_set(w, out, "again", json_boolean(c->again));
    pythia__json_set(w, out, "open_count", pythia__json_count(c->open_count));
    pythia__json_set(w, out, "spans_seen", pythia__json_count(c->spans_seen));
    pythia__json_set(w, out, "spans_saved", pythia__json_count(c->spans_saved));
    pythia__json_set(w, out, "request_type",
                     any ? pythia__json_text(pythia_vocabulary_text(w->vocabulary, p->type))
                         : json_null());
    pythia__json_set(w, out, "state",
                     any ? json_string(pythia_problem_state_name(p->state)) : json_null());
    pythia__json_set(w, out, "top", any ? pythia__json_finding(w, &p->top) : json_null());
    pythia__json_set(w, out, "explained",
                     any ? pythia__json_real(p->cause_count ? fmax(0, 1 - p->rest) : 0)
                         : json_null());
    pythia__json_effects(w, out, c);
    pythia__json_set(w, out, "opened", switches(w, c->opened, c->opened_count));
    pythia__json_set(w, out, "closed", switches(w, c->closed, c->closed_count));
    pythia__json_set(w, out, "sentence", sentence(w, c, before));
    return out;
}

void pythia__json_loop(struct pythia__json *w, json_t *report, const struct pythia_loop *loop)
{
    json_t *cycles = json_array(), *search = json_object(), *problems = json_array();
    for (size_t i = 0; i < loop->cycle_count; i++) {
        size_t before = 0;
        for (size_t k = 0; k < i; k++)
            if (loop->cycles[k].leading.type == loop->cycles[i].leading.type)
                before = loop->cycles[k].leading.cause_count;
        pythia__json_append(w, cycles, cycle(w, &loop->cycles[i], before));
    }
    for (size_t i = 0; i < loop->problem_count; i++)
        pythia__json_append(w, problems, problem(w, &loop->problems[i]));
    pythia__json_set(w, search, "finished", json_boolean(loop->finished));
    pythia__json_set(w, search, "rounds", pythia__json_count(loop->rounds));
    pythia__json_set(w, search, "trace_points", pythia__json_count(loop->point_count));
    pythia__json_set(w, search, "skeleton", pythia__json_count(loop->skeleton_count));
    pythia__json_set(w, search, "opened", pythia__json_count(loop->opened_count));
    pythia__json_set(w, search, "problems", problems);
    pythia__json_set(w, report, "loop", cycles);
    pythia__json_set(w, report, "search", search);
}
