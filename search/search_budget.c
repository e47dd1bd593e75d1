/* What open trace points cost, what more may be opened, and what has to be closed. */
#include <math.h>
#include <stdio.h>

#include "pythia/mem.h"
#include "pythia/status.h"
#include "search_parts.h"

#define BOUNDS 2. /* the use of a point that bounds a cause: above any probability */

int pythia__search_set_prices(struct pythia_search *s)
{
    s->price = pythia_calloc(s->points, sizeof(*s->price));
    s->relative = pythia_calloc(s->points, sizeof(*s->relative));
    s->bytes = pythia_calloc(s->points, sizeof(*s->bytes));
    if (!s->price || !s->relative || !s->bytes)
        return PYTHIA_ENOMEM;
    for (uint32_t point = 0; point < s->points; point++) {
        s->price[point] = pythia_prices_of(s->o.prices, point, s->o.price_ns);
        s->relative[point] = pythia_prices_relative(s->o.prices, point, s->o.price_ns);
        s->bytes[point] = NAN;
    }
    return PYTHIA_OK;
}

void pythia_search_set_seconds(struct pythia_search *s, double seconds)
{
    s->seconds = seconds;
}

/* What is known of a type does not change, and there may be a thousand types of as many nodes: what
 * is asked of each in every cycle is kept side by side. */
static int find_rates(struct pythia__search_keeping *k, const struct pythia_space_type *t)
{
    uint32_t nodes = pythia_cct_nodes(t->cct);
    if (k->rates)
        return PYTHIA_OK;
    double mean = pythia_space_mean_bytes(t);
    k->rates = pythia_calloc(nodes, sizeof(*k->rates));
    if (!k->rates)
        return PYTHIA_ENOMEM;
    k->rate_count = nodes;
    for (uint32_t node = 1; node < nodes; node++)
        k->rates[node] =
            (struct pythia__search_rate){.tracepoint = pythia_cct_tracepoint(t->cct, node),
                                         .calls = (double)t->nodes[node].calls,
                                         .bytes = pythia_space_node_bytes(&t->nodes[node], mean)};
    return PYTHIA_OK;
}

int pythia__search_meet_rates(struct pythia_search *s)
{
    bool known = s->seconds > 0;
    for (uint32_t point = 0; point < s->points; point++)
        s->bytes[point] = known ? 0 : NAN;
    for (size_t i = 0; known && i < s->problem_count; i++) {
        struct pythia__search_keeping *k = &s->keeping[i];
        const struct pythia_space_type *t =
            k->evidence ? pythia_space_type(s->space, s->problems[i].type) : NULL;
        if (!t || t->requests == 0)
            continue;
        if (find_rates(k, t) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
        double cycles = k->evidence->cycles > 1 ? (double)k->evidence->cycles : 1;
        double rate = (double)s->problems[i].requests / cycles / s->seconds / (double)t->requests;
        for (uint32_t node = 1; node < k->rate_count; node++)
            s->bytes[k->rates[node].tracepoint] +=
                rate * k->rates[node].calls * k->rates[node].bytes;
    }
    return PYTHIA_OK;
}

double pythia__search_cost(const struct pythia_search *s, uint32_t point)
{
    return s->calls[point] * s->price[point];
}

struct pythia_spending pythia__search_spending(const struct pythia_search *s)
{
    struct pythia_spending now = {.bytes_per_second = s->seconds > 0 ? 0 : NAN};
    for (uint32_t point = 0; point < s->points; point++)
        if (s->open[point] && !s->skeleton[point]) {
            now.points++;
            now.added_ns += pythia__search_cost(s, point);
            now.bytes_per_second += s->bytes[point];
        }
    return now;
}

/* ---- what may be opened ---- */

struct pythia__search_room pythia__search_room(const struct pythia_search *s, size_t wanted)
{
    const struct pythia_budget *limit = &s->o.budget;
    struct pythia_spending now = pythia__search_spending(s);
    struct pythia__search_room room = {.points = wanted, .ns = INFINITY, .bytes = INFINITY};
    if (limit->points_open > 0) {
        size_t left = now.points < limit->points_open ? limit->points_open - now.points : 0;
        room.points = left < wanted ? left : wanted;
    }
    if (limit->added_ns > 0)
        room.ns = limit->added_ns - now.added_ns;
    if (limit->bytes_per_second > 0 && !isnan(now.bytes_per_second))
        room.bytes = limit->bytes_per_second - now.bytes_per_second;
    return room;
}

bool pythia__search_fits(const struct pythia_search *s, uint32_t point,
                         const struct pythia__search_room *room)
{
    return room->points > 0 && pythia__search_cost(s, point) <= room->ns &&
           !(s->bytes[point] > room->bytes); /* NaN: not known, and then without limit */
}

bool pythia__search_fits_alone(const struct pythia_search *s, uint32_t point)
{
    const struct pythia_budget *limit = &s->o.budget;
    return !(limit->added_ns > 0 && pythia__search_cost(s, point) > limit->added_ns) &&
           !(limit->bytes_per_second > 0 && s->bytes[point] > limit->bytes_per_second);
}

bool pythia__search_take(const struct pythia_search *s, uint32_t point,
                         struct pythia__search_room *room)
{
    if (!pythia__search_fits(s, point, room))
        return false;
    room->points--;
    room->ns -= pythia__search_cost(s, point);
    room->bytes -= isnan(s->bytes[point]) ? 0 : s->bytes[point];
    return true;
}

bool pythia__search_is_worth(const struct pythia_search *s, size_t problem, uint32_t point,
                             double part)
{
    return !pythia_prices_has(s->o.prices, point) ||
           pythia__search_cost(s, point) <= part * s->keeping[problem].sd_ns;
}

bool pythia__search_is_limited(const struct pythia_search *s)
{
    const struct pythia_budget *limit = &s->o.budget;
    return limit->points_open > 0 || limit->added_ns > 0 || limit->bytes_per_second > 0;
}

/* ---- what has to be closed ---- */

/* Which limit is exceeded, in words; false: none. */
static bool is_over(const struct pythia_search *s, const struct pythia_spending *now, char *words,
                    size_t size)
{
    const struct pythia_budget *limit = &s->o.budget;
    if (limit->points_open > 0 && now->points > limit->points_open)
        snprintf(words, size, "%zu points are open, and %zu may be", now->points,
                 limit->points_open);
    else if (limit->added_ns > 0 && now->added_ns > limit->added_ns)
        snprintf(words, size, "open points add %.0f ns to a request, and %.0f may be",
                 now->added_ns, limit->added_ns);
    else if (limit->bytes_per_second > 0 && now->bytes_per_second > limit->bytes_per_second)
        snprintf(words, size, "open points add %.0f bytes a second, and %.0f may be",
                 now->bytes_per_second, limit->bytes_per_second);
    else
        return false;
    return true;
}

/* Of each point the most that any search may still learn from it. Owned by the caller; NULL when
 * out of memory. */
static double *use_of_all(struct pythia_search *s)
{
    double *all = pythia_calloc(s->points, sizeof(*all));
    for (size_t i = 0; all && i < s->problem_count; i++) {
        if (s->problems[i].state != PYTHIA_PROBLEM_SEARCHING || s->keeping[i].belief.nodes == 0)
            continue;
        double *use = pythia__search_use(s, i);
        for (uint32_t point = 0; use && point < s->points; point++)
            all[point] = fmax(all[point], use[point]);
        if (!use) {
            pythia_free(all);
            return NULL;
        }
        pythia_free(use);
    }
    for (uint32_t point = 0; all && point < s->points; point++)
        if (s->open[point] && !s->skeleton[point] && pythia__search_bounds_cause(s, point))
            all[point] = BOUNDS;
    return all;
}

/* The open point that tells least; of equals the one whose id comes first. PYTHIA_NONE: none is
 * left. */
static uint32_t find_least(const struct pythia_search *s, const double *use)
{
    const struct pythia_vocabulary *v = pythia_space_vocabulary(s->space);
    uint32_t least = PYTHIA_NONE;
    for (uint32_t point = 0; point < s->points; point++) {
        if (!s->open[point] || s->skeleton[point] || pythia__search_is_decided(s, point))
            continue;
        if (least == PYTHIA_NONE || use[point] < use[least] ||
            (use[point] == use[least] &&
             pythia_text_compare(pythia_vocabulary_tracepoint_id(v, point),
                                 pythia_vocabulary_tracepoint_id(v, least)) < 0))
            least = point;
    }
    return least;
}

/* For which problem a point was open: one that has it, the one that is searched if there is one. */
static size_t owner_of(const struct pythia_search *s, uint32_t point)
{
    size_t owner = SIZE_MAX;
    for (size_t i = 0; i < s->problem_count; i++)
        if (pythia__search_has_point(s, i, point) &&
            (owner == SIZE_MAX || s->problems[i].state == PYTHIA_PROBLEM_SEARCHING))
            owner = i;
    return owner;
}

int pythia__search_keep_within(struct pythia_search *s)
{
    char words[160];
    struct pythia_spending now = pythia__search_spending(s);
    if (!is_over(s, &now, words, sizeof(words)))
        return PYTHIA_OK;
    double *use = use_of_all(s);
    int status = use ? PYTHIA_OK : PYTHIA_ENOMEM;
    while (status == PYTHIA_OK && is_over(s, &now, words, sizeof(words))) {
        uint32_t least = find_least(s, use);
        if (least == PYTHIA_NONE)
            break;
        char why[256];
        snprintf(why, sizeof(why), "%s: it tells least", words);
        status = pythia__search_close(s, least, owner_of(s, least), why);
        now = pythia__search_spending(s);
    }
    pythia_free(use);
    return status;
}
