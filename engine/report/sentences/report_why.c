#include "report_why.h"

#include <math.h>

#include "write/words.h"

static void add_key_count(struct pythia_buf *to, double count)
{
    pythia__add_count(to, count);
}

static void add_too_few(struct pythia_buf *to, const struct pythia_loop *loop,
                        const struct pythia_problem *p)
{
    if (p->requests == 0) {
        pythia_buf_puts(to, "its requests no longer arrive");
        return;
    }
    add_key_count(to, (double)p->requests);
    pythia_buf_puts(to, p->requests == 1 ? " request in the last cycle is too few, "
                                         : " requests in the last cycle are too few, ");
    add_key_count(to, (double)loop->min_requests);
    pythia_buf_puts(to, " are needed; make cycles longer");
}

/* "3 points, 12.0 us a request and 1 000 bytes a second" */
static void add_limits(struct pythia_buf *to, const struct pythia_budget *b)
{
    int left = (b->points_open > 0) + (b->added_ns > 0) + (b->bytes_per_second > 0);
    if (b->points_open > 0) {
        add_key_count(to, (double)b->points_open);
        pythia_buf_puts(to, b->points_open == 1 ? " point at once" : " points at once");
        pythia_buf_puts(to, --left > 1 ? ", " : left > 0 ? " and " : "");
    }
    if (b->added_ns > 0) {
        pythia__add_duration(to, b->added_ns);
        pythia_buf_puts(to, --left > 0 ? " per request and " : " per request");
    }
    if (b->bytes_per_second > 0) {
        add_key_count(to, b->bytes_per_second);
        pythia_buf_puts(to, " bytes per second");
    }
}

static void add_budget(struct pythia_buf *to, const struct pythia_loop *loop,
                       const struct pythia_problem *p)
{
    const struct pythia_budget *b = &loop->budget;
    bool limited = b->points_open > 0 || b->added_ns > 0 || b->bytes_per_second > 0;
    if (b->points_per_cycle == 0) {
        pythia_buf_puts(to, ", but none may be opened; allow points in a cycle");
        return;
    }
    pythia_buf_puts(to, ", but costs too much: it adds ");
    pythia__add_duration(to, p->needs.added_ns);
    pythia_buf_puts(to, " to a request");
    if (!isnan(p->needs.bytes_per_second)) {
        pythia_buf_puts(to, " and ");
        add_key_count(to, p->needs.bytes_per_second);
        pythia_buf_puts(to, " bytes per second");
    }
    if (limited) {
        pythia_buf_puts(to, ", and the budget is ");
        add_limits(to, b);
    } else {
        pythia_buf_puts(to, ", more than the durations vary");
    }
}

static void add_blocked(struct pythia_buf *to, const struct pythia_vocabulary *v,
                        const struct pythia_loop *loop, const struct pythia_problem *p)
{
    bool done = p->state == PYTHIA_PROBLEM_DONE;
    pythia_buf_text_add(to, pythia_vocabulary_tracepoint_id(v, p->blocked));
    pythia_buf_puts(to, done ? " is called there" : " would show more");
    if (p->why == PYTHIA_WHY_BUDGET)
        add_budget(to, loop, p);
    else if (p->why == PYTHIA_WHY_PINNED)
        pythia_buf_puts(to, done ? ", and is pinned closed; without the pin the cause may be "
                                   "located more precisely"
                                 : ", but is pinned closed; remove the pin");
    else
        pythia_buf_puts(to, ", but the strategy does not suggest it; try another strategy");
}

void pythia__add_why(struct pythia_buf *to, const struct pythia_vocabulary *v,
                     const struct pythia_loop *loop, const struct pythia_problem *p)
{
    switch (p->why) {
    case PYTHIA_WHY_NONE:
        break;
    case PYTHIA_WHY_TOO_FEW:
        add_too_few(to, loop, p);
        break;
    case PYTHIA_WHY_NO_TYPE:
        pythia_buf_puts(to, "the search space has no requests of this type; build it from traces "
                            "that do");
        break;
    case PYTHIA_WHY_BUDGET:
    case PYTHIA_WHY_PINNED:
    case PYTHIA_WHY_STRATEGY:
        add_blocked(to, v, loop, p);
        break;
    case PYTHIA_WHY_OUTSIDE:
        pythia_buf_puts(to, "no closed trace point would show more: the cause may lie outside the "
                            "search space; build a new one from traces with everything open");
        break;
    case PYTHIA_WHY_CHANCE:
        pythia_buf_puts(to, p->cause_count > 0 ? "no other place" : "no place");
        pythia_buf_puts(to, " accounts for a significant share of the variance; use more requests "
                            "per cycle");
        break;
    case PYTHIA_WHY_SMALL:
        pythia_buf_puts(to, "no place accounts for as much as 15 % of the variance: many small "
                            "differences add up, and no single one stands out");
        break;
    case PYTHIA_WHY_SPREAD:
        pythia_buf_puts(to, "a key explains most of the variance, in many places at once");
        break;
    case PYTHIA_WHY_PATIENCE:
        add_key_count(to, (double)p->cycles);
        pythia_buf_puts(to, " cycles were not enough; use more requests per cycle, or open more "
                            "points");
        break;
    }
}
