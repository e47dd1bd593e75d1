#include "report_loop.h"

#include <math.h>

#include "pythia/buf.h"
#include "sentences/report_why.h"
#include "sentences/sentences.h"

static json_t *make_spending(struct pythia__json *w, const struct pythia_spending *s)
{
    json_t *out = json_object();
    pythia__json_set(w, out, "points", pythia__json_count(s->points));
    pythia__json_set(w, out, "added_ns", pythia__json_real(s->added_ns));
    pythia__json_set(w, out, "bytes_per_second", pythia__json_real(s->bytes_per_second));
    return out;
}

static json_t *make_loop_problem(struct pythia__json *w, const struct pythia_loop *loop,
                                 const struct pythia_problem *p)
{
    json_t *out = json_object(), *causes = json_array();
    const char *why = pythia_why_name(p->why);
    bool blocked =
        p->why == PYTHIA_WHY_BUDGET || p->why == PYTHIA_WHY_PINNED || p->why == PYTHIA_WHY_STRATEGY;
    struct pythia_buf reason = {0};
    pythia__add_why(&reason, w->vocabulary, loop, p);
    for (size_t i = 0; i < p->cause_count; i++)
        pythia__json_append(w, causes, pythia__json_finding(w, &p->causes[i]));
    pythia__json_set(w, out, "request_type",
                     pythia__json_text(pythia_vocabulary_text(w->vocabulary, p->type)));
    pythia__json_set(w, out, "state", json_string(pythia_problem_state_name(p->state)));
    pythia__json_set(w, out, "why", why ? json_string(why) : json_null());
    pythia__json_set(w, out, "reason",
                     why ? pythia__json_text(pythia_buf_text(&reason)) : json_null());
    pythia__json_set(w, out, "blocked", blocked ? pythia__json_point(w, p->blocked) : json_null());
    pythia__json_set(w, out, "needs", blocked ? make_spending(w, &p->needs) : json_null());
    pythia__json_set(w, out, "cycles", pythia__json_count(p->cycles));
    if (p->retries > 0)
        pythia__json_set(w, out, "retries", pythia__json_count(p->retries));
    if (p->retry_in > 0 && !loop->finished) /* a capture has no further cycle */
        pythia__json_set(w, out, "retry_in", pythia__json_count(p->retry_in));
    if (p->waited > 0)
        pythia__json_set(w, out, "waited", pythia__json_count(p->waited));
    pythia__json_set(w, out, "requests", pythia__json_count(p->requests));
    if (p->carried > 0)
        pythia__json_set(w, out, "carried", pythia__json_count(p->carried));
    pythia__json_set(w, out, "variance_share", pythia__json_real(p->variance_share));
    pythia__json_set(w, out, "causes", causes);
    pythia__json_set(w, out, "rest", pythia__json_real(p->rest));
    w->failed = pythia_buf_status(&reason) != 0 || w->failed;
    pythia_buf_free(&reason);
    return out;
}

/* The type that a point was switched for; null: for all. */
static json_t *type_of(struct pythia__json *w, uint32_t type)
{
    return type == PYTHIA_NONE ? json_null()
                               : pythia__json_text(pythia_vocabulary_text(w->vocabulary, type));
}

static json_t *make_loop_switches(struct pythia__json *w, const struct pythia_loop_switch *list,
                                  size_t count, bool open)
{
    json_t *out = json_array();
    for (size_t i = 0; i < count; i++) {
        json_t *one = json_object();
        pythia__json_set(w, one, "trace_point", pythia__json_point(w, list[i].tracepoint));
        pythia__json_set(w, one, "request_type", type_of(w, list[i].type));
        if (open)
            pythia__json_set(w, one, "gain", pythia__json_real(list[i].gain));
        pythia__json_set(w, one, "price_ns", pythia__json_real(list[i].price_ns));
        pythia__json_set(w, one, "cost_ns", pythia__json_real(list[i].cost_ns));
        pythia__json_set(w, one, "bytes_per_second", pythia__json_real(list[i].bytes_per_second));
        if (list[i].unswitchable)
            pythia__json_set(w, one, "switchable", json_false());
        pythia__json_set(w, one, "reason", pythia__json_text(pythia_text_of(list[i].reason)));
        pythia__json_append(w, out, one);
    }
    return out;
}

static json_t *causes_found(struct pythia__json *w, const struct pythia_loop_cycle *c)
{
    json_t *out = json_array();
    for (size_t i = 0; i < c->found_count; i++) {
        json_t *one = pythia__json_finding(w, &c->found[i].cause);
        pythia__json_set(
            w, one, "request_type",
            pythia__json_text(pythia_vocabulary_text(w->vocabulary, c->found[i].type)));
        pythia__json_append(w, out, one);
    }
    return out;
}

static json_t *make_loop_cycle(struct pythia__report_writer *rw, const struct pythia_loop_cycle *c)
{
    struct pythia__json *w = &rw->json;
    json_t *out = json_object();
    const struct pythia_problem *p = &c->leading;
    bool any = p->type != PYTHIA_NONE;
    pythia__json_set(w, out, "cycle", pythia__json_count(c->number));
    if (c->more > 0)
        pythia__json_set(w, out, "cycles", pythia__json_count(c->more + 1));
    pythia__json_set(w, out, "requests", pythia__json_count(c->requests));
    pythia__json_set(w, out, "under_way", pythia__json_count(c->under_way));
    pythia__json_set(w, out, "unseen", pythia__json_count(c->unseen));
    pythia__json_set(w, out, "again", json_boolean(c->again));
    pythia__json_set(w, out, "seconds",
                     c->seconds > 0 ? pythia__json_real(c->seconds) : json_null());
    if (c->waiting > 0)
        pythia__json_set(w, out, "waiting", pythia__json_count(c->waiting));
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
                     any ? pythia__json_real(p->cause_count ? fmin(fmax(0, 1 - p->rest), 1) : 0)
                         : json_null());
    pythia__json_effects(w, out, c);
    pythia__json_set(w, out, "found", causes_found(w, c));
    pythia__json_set(w, out, "opened", make_loop_switches(w, c->opened, c->opened_count, true));
    pythia__json_set(w, out, "closed", make_loop_switches(w, c->closed, c->closed_count, false));
    pythia__json_set(w, out, "spent", make_spending(w, &c->spent));
    pythia__json_set(w, out, "planned", make_spending(w, &c->planned));
    pythia__say_cycle(pythia__json_say(rw), rw->s, c);
    pythia__json_set(w, out, "sentence", pythia__json_said(rw));
    return out;
}

static json_t *make_search_limit(double of)
{
    return of > 0 ? pythia__json_real(of) : json_null();
}

/* The constraints of the search. */
static void add_search_conditions(struct pythia__json *w, json_t *search,
                                  const struct pythia_loop *loop)
{
    json_t *budget = json_object(), *pins = json_object();
    const struct pythia_budget *b = &loop->budget;
    pythia__json_set(w, budget, "points_per_cycle", pythia__json_count(b->points_per_cycle));
    pythia__json_set(w, budget, "points",
                     b->points_open ? pythia__json_count(b->points_open) : json_null());
    pythia__json_set(w, budget, "added_ns", make_search_limit(b->added_ns));
    pythia__json_set(w, budget, "bytes_per_second", make_search_limit(b->bytes_per_second));
    pythia__json_set(w, pins, "always", pythia__json_points(w, loop->always, loop->always_count));
    pythia__json_set(w, pins, "never", pythia__json_points(w, loop->never, loop->never_count));
    pythia__json_set(w, search, "budget", budget);
    pythia__json_set(w, search, "price_ns", pythia__json_real(loop->price_ns));
    pythia__json_set(w, search, "pins", pins);
    pythia__json_set(w, search, "min_requests", pythia__json_count(loop->min_requests));
}

static json_t *unknown_points(struct pythia__json *w, const struct pythia_unknown_points *u)
{
    json_t *out = json_object();
    pythia__json_set(w, out, "count", pythia__json_count(u->count));
    pythia__json_set(w, out, "spans", pythia__json_count(u->spans));
    pythia__json_set(w, out, "most", pythia__json_points(w, u->most, u->most_count));
    return out;
}

void pythia__json_loop(struct pythia__report_writer *rw, json_t *report)
{
    struct pythia__json *w = &rw->json;
    const struct pythia_loop *loop = rw->s->loop;
    json_t *cycles = json_array(), *search = json_object(), *problems = json_array();
    for (size_t i = 0; i < loop->cycle_count; i++)
        pythia__json_append(w, cycles, make_loop_cycle(rw, &loop->cycles[i]));
    for (size_t i = 0; i < loop->problem_count; i++)
        pythia__json_append(w, problems, make_loop_problem(w, loop, &loop->problems[i]));
    pythia__json_set(w, search, "finished", json_boolean(loop->finished));
    pythia__json_set(w, search, "rounds", pythia__json_count(loop->rounds));
    pythia__json_set(w, search, "trace_points", pythia__json_count(loop->point_count));
    pythia__json_set(w, search, "skeleton", pythia__json_count(loop->skeleton_count));
    pythia__json_set(w, search, "opened", pythia__json_count(loop->opened_count));
    if (loop->lessons > 0 || loop->types_waiting > 0) {
        pythia__json_set(w, search, "lessons", pythia__json_count(loop->lessons));
        pythia__json_set(w, search, "lessons_cut", pythia__json_count(loop->lessons_cut));
        pythia__json_set(w, search, "types_waiting", pythia__json_count(loop->types_waiting));
    }
    if (loop->unknown.count > 0)
        pythia__json_set(w, search, "unknown_points", unknown_points(w, &loop->unknown));
    add_search_conditions(w, search, loop);
    pythia__json_set(w, search, "problems", problems);
    pythia__json_set(w, report, "loop", cycles);
    pythia__json_set(w, report, "search", search);
}
