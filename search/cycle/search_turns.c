/* Chooses the problems of a cycle where there are more than it may search. Those that violate an
 * expectation, and then the ones with most of the variance, have their turn in each cycle, so that
 * one after the other is searched to its end; but not all turns are theirs, so that nothing
 * starves. A strategy of the table needs a diagnosis of each type that it is asked about, which
 * takes several times as long as a look: so it is asked about a quarter of them, in turn. */
#include <stdlib.h>

#include "pythia/mem.h"
#include "pythia/sort.h"
#include "pythia/status.h"
#include "search_parts.h"

/* Does it need a turn, to be searched or to be watched? */
static bool needs_turn(const struct pythia_search *s, size_t problem)
{
    const struct pythia_problem *p = &s->problems[problem];
    bool settled = p->state == PYTHIA_PROBLEM_DONE || p->state == PYTHIA_PROBLEM_GIVEN_UP;
    return s->keeping[problem].evidence &&
           (p->state == PYTHIA_PROBLEM_SEARCHING || (settled && p->requests >= s->o.min_requests));
}

static bool is_state_searching(const struct pythia_search *s, size_t problem)
{
    return s->problems[problem].state == PYTHIA_PROBLEM_SEARCHING;
}

/* What violates an expectation matters more than what varies. */
static bool matters_more(const void *context, uint32_t a, uint32_t b)
{
    const struct pythia_search *s = context;
    if (s->keeping[a].violated != s->keeping[b].violated)
        return s->keeping[a].violated;
    return s->problems[a].variance_share > s->problems[b].variance_share;
}

/* The problem that has waited longest; among equals, searched ones come before watched ones,
 * then those that matter more. */
static bool comes_first(const void *context, uint32_t a, uint32_t b)
{
    const struct pythia_search *s = context;
    if (s->problems[a].waited != s->problems[b].waited)
        return s->problems[a].waited > s->problems[b].waited;
    if (is_state_searching(s, a) != is_state_searching(s, b))
        return is_state_searching(s, a);
    return matters_more(s, a, b);
}

/* The first `turns` of a list. */
static size_t take_first_turns(const uint32_t *list, size_t count, size_t turns, bool *taken)
{
    size_t given = count < turns ? count : turns;
    for (size_t i = 0; i < given; i++)
        taken[list[i]] = true;
    return given;
}

uint32_t *pythia__search_order(const struct pythia_search *s, const bool *taken, size_t *count)
{
    uint32_t *order = pythia_calloc(2 * s->problem_count + 1, sizeof(*order));
    *count = 0;
    for (size_t i = 0; order && i < s->problem_count; i++)
        if ((!taken || taken[i]) && s->keeping[i].evidence && is_state_searching(s, i))
            order[(*count)++] = (uint32_t)i;
    if (order)
        pythia_sort_indexes(order, *count, order + *count, matters_more, s);
    return order;
}

/* There are more than turns. */
static int share_turns(const struct pythia_search *s, bool *taken)
{
    size_t turns = s->o.problems_per_cycle, count = 0;
    uint32_t *order = pythia__search_order(s, NULL, &count);
    uint32_t *line = pythia_calloc(2 * s->problem_count + 1, sizeof(*line));
    if (!order || !line) {
        pythia_free(order);
        pythia_free(line);
        return PYTHIA_ENOMEM;
    }
    turns -= take_first_turns(order, count, turns / 2, taken);
    count = 0;
    for (size_t i = 0; i < s->problem_count; i++)
        if (needs_turn(s, i) && !taken[i])
            line[count++] = (uint32_t)i;
    pythia_sort_indexes(line, count, line + count, comes_first, s);
    (void)take_first_turns(line, count, turns, taken);
    pythia_free(order);
    pythia_free(line);
    return PYTHIA_OK;
}

int pythia__search_take_turns(struct pythia_search *s, bool *taken, size_t *waiting)
{
    size_t due = 0;
    for (size_t i = 0; i < s->problem_count; i++)
        due += needs_turn(s, i);
    bool all = s->o.problems_per_cycle == 0 || due <= s->o.problems_per_cycle;
    for (size_t i = 0; all && i < s->problem_count; i++)
        taken[i] = needs_turn(s, i);
    if (!all) {
        int status = share_turns(s, taken);
        if (status != PYTHIA_OK)
            return status;
    }
    *waiting = 0;
    for (size_t i = 0; i < s->problem_count; i++) {
        struct pythia_problem *p = &s->problems[i];
        bool waits = needs_turn(s, i) && !taken[i];
        *waiting += waits;
        if (waits)
            p->waited++;
        else if (p->state != PYTHIA_PROBLEM_TOO_FEW) /* who has none now keeps the place in line */
            p->waited = 0;
    }
    return PYTHIA_OK;
}

/* ---- of them, those that a strategy is asked about ---- */

/* The problem that a strategy was not asked about for longest; among equals, the one that matters
 * more. */
static bool is_asked_first(const void *context, uint32_t a, uint32_t b)
{
    const struct pythia_search *s = context;
    if (s->keeping[a].asked != s->keeping[b].asked)
        return s->keeping[a].asked < s->keeping[b].asked;
    return matters_more(s, a, b);
}

int pythia__search_choose_asked(struct pythia_search *s, bool *taken)
{
    size_t count, most = (s->o.problems_per_cycle + 3) / 4;
    uint32_t *order = pythia__search_order(s, taken, &count);
    if (!order)
        return PYTHIA_ENOMEM;
    pythia_sort_indexes(order, count, order + count, is_asked_first, s);
    for (size_t i = 0; i < s->problem_count; i++)
        taken[i] = false;
    for (size_t i = 0; i < count && (s->o.problems_per_cycle == 0 || i < most); i++) {
        taken[order[i]] = true;
        s->keeping[order[i]].asked = s->cycle;
    }
    pythia_free(order);
    return PYTHIA_OK;
}

static int compare_type_numbers(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

uint32_t *pythia__search_names(const struct pythia_search *s, const bool *taken, size_t *count)
{
    uint32_t *names = pythia_calloc(s->problem_count + 1, sizeof(*names));
    *count = 0;
    for (size_t i = 0; names && i < s->problem_count; i++)
        if (taken[i])
            names[(*count)++] = s->problems[i].type;
    if (*count > 0)
        qsort(names, *count, sizeof(*names), compare_type_numbers);
    return names;
}
