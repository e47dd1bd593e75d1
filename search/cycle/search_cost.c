/* The cost of open trace points: calls and bytes of each type, estimated from the search space. */
#include <math.h>
#include <stdlib.h>

#include "pythia/mem.h"
#include "pythia/status.h"
#include "search_parts.h"

/* Number the points of a type, in their order: place[point] is that number + 1. Returns how many
 * there are. */
static size_t number_points(const struct pythia_cct *cct, uint32_t *place, uint32_t points)
{
    size_t count = 0;
    for (uint32_t node = 1; node < pythia_cct_nodes(cct); node++)
        place[pythia_cct_tracepoint(cct, node)] = 1;
    for (uint32_t point = 0; point < points; point++)
        if (place[point] > 0)
            place[point] = (uint32_t)++count;
    return count;
}

/* The facts of a type do not change, so its nodes are summed up once, in their order. */
int pythia__search_find_rates(const struct pythia_search *s, const struct pythia_space_type *of,
                              struct pythia__search_type *t)
{
    uint32_t points = pythia_vocabulary_tracepoints(pythia_space_vocabulary(s->space));
    double requests = (double)(of->requests ? of->requests : 1), mean = pythia_space_mean_bytes(of);
    uint32_t *place = pythia_calloc(points, sizeof(*place));
    /* Only the points of the type get a rate: there are thousands of types, and each has few of all
     * points. */
    if (place)
        t->rate_count = number_points(of->cct, place, points);
    t->rates = place ? pythia_calloc(t->rate_count, sizeof(*t->rates)) : NULL;
    if (!t->rates) {
        pythia_free(place);
        return PYTHIA_ENOMEM;
    }
    for (uint32_t node = 1; node < pythia_cct_nodes(of->cct); node++) {
        uint32_t point = pythia_cct_tracepoint(of->cct, node);
        struct pythia__search_rate *rate = &t->rates[place[point] - 1];
        double calls = (double)of->nodes[node].calls / requests;
        rate->tracepoint = point;
        rate->calls += calls;
        rate->bytes += calls * pythia_space_node_bytes(&of->nodes[node], mean);
    }
    pythia_free(place);
    return PYTHIA_OK;
}

static int compare_rates(const void *a, const void *b)
{
    const struct pythia__search_rate *x = a, *y = b;
    return (x->tracepoint > y->tracepoint) - (x->tracepoint < y->tracepoint);
}

/* The calls and bytes that a point adds to a request of a type; NULL: the search space does not
 * know it there. O(log of points of the type). */
static const struct pythia__search_rate *find_rate(const struct pythia__search_type *t,
                                                   uint32_t point)
{
    const struct pythia__search_rate wanted = {.tracepoint = point};
    return t->rate_count > 0
               ? bsearch(&wanted, t->rates, t->rate_count, sizeof(wanted), compare_rates)
               : NULL;
}

bool pythia_search_has_point(const struct pythia_search *s, uint32_t type, uint32_t tracepoint)
{
    const struct pythia__search_type *t = pythia__search_type(s, type);
    return !t || find_rate(t, tracepoint);
}

int pythia__search_set_prices(struct pythia_search *s)
{
    s->price = pythia_calloc(s->points, sizeof(*s->price));
    s->relative = pythia_calloc(s->points, sizeof(*s->relative));
    s->spent_calls = pythia_calloc(s->points, sizeof(*s->spent_calls));
    s->spent_bytes = pythia_calloc(s->points, sizeof(*s->spent_bytes));
    if (!s->price || !s->relative || !s->spent_calls || !s->spent_bytes)
        return PYTHIA_ENOMEM;
    for (uint32_t point = 0; point < s->points; point++) {
        s->price[point] = pythia_prices_of(s->o.prices, point, s->o.price_ns);
        s->relative[point] = pythia_prices_relative(s->o.prices, point, s->o.price_ns);
    }
    return PYTHIA_OK;
}

/* ---- points that are open at one instance only ---- */

int pythia__search_count_instances(struct pythia_search *s)
{
    if (!s->o.instances)
        return PYTHIA_OK;
    if (!s->instances && !(s->instances = pythia_calloc(s->points, sizeof(*s->instances))))
        return PYTHIA_ENOMEM;
    for (uint32_t point = 0; point < s->points; point++)
        s->instances[point] = s->o.instances(s->o.instances_context, point);
    return PYTHIA_OK;
}

static uint32_t find_service(const struct pythia_search *s, uint32_t point)
{
    return pythia_vocabulary_tracepoint_at(pythia_space_vocabulary(s->space), point)->service;
}

/* A point of the type that is open at one instance only; PYTHIA_NONE: there is none. */
static uint32_t find_partial(const struct pythia_search *s, const struct pythia__search_type *t)
{
    for (size_t i = 0; s->parted && t->open && i < t->rate_count; i++)
        if (t->open[t->rates[i].tracepoint] && s->part[t->rates[i].tracepoint] > 1)
            return t->rates[i].tracepoint;
    return PYTHIA_NONE;
}

bool pythia__search_may_part(const struct pythia_search *s, const struct pythia__search_type *t,
                             uint32_t point)
{
    return s->instances && s->instances[point] > 1 && s->open_for[point] == 0 &&
           !s->skeleton[point] && find_partial(s, t) == PYTHIA_NONE;
}

uint32_t pythia__search_part_of(const struct pythia_search *s, const struct pythia__search_type *t,
                                uint32_t point)
{
    const struct pythia_budget *limit = &s->o.budget;
    if (s->open_for[point] > 0 || s->part[point] > 1)
        return s->part[point];
    if (!s->instances || s->instances[point] < 2 || s->skeleton[point])
        return 1;
    const struct pythia__search_rate *rate = find_rate(t, point);
    uint32_t partial = find_partial(s, t);
    if (!rate)
        return 1;
    /* What is seen of the type comes from that instance. A request would have to hit the right
     * instance of two services, if both had points open at one. */
    if (partial != PYTHIA_NONE)
        return find_service(s, partial) == find_service(s, point) ? s->instances[point] : 1;
    bool fits = !(limit->added_ns > 0 && rate->calls * s->price[point] > limit->added_ns) &&
                !(limit->bytes_per_second > 0 && s->seconds > 0 &&
                  t->requests * rate->bytes > limit->bytes_per_second);
    return fits ? 1 : s->instances[point];
}

/* The most instances of which a point is open at one, in a type: so many more requests come than
 * are seen. */
static uint32_t find_most_parts(const struct pythia_search *s, const struct pythia__search_type *t)
{
    uint32_t most = 1;
    for (size_t i = 0; s->parted && t->open && i < t->rate_count; i++) {
        uint32_t point = t->rates[i].tracepoint;
        if (t->open[point] && s->part[point] > most)
            most = s->part[point];
    }
    return most;
}

void pythia__search_note_parts(struct pythia_search *s)
{
    for (size_t i = 0; i < s->problem_count; i++) {
        struct pythia_problem *p = &s->problems[i];
        const struct pythia__search_type *t = pythia__search_type_at(s, i);
        if (p->requests == 0)
            continue;
        p->part_point = t ? find_partial(s, t) : PYTHIA_NONE;
        p->part = p->part_point == PYTHIA_NONE ? 1 : s->part[p->part_point];
    }
}

/* ---- what open points cost ---- */

/* Requests per second of each type; requests of a rare type came in several cycles. */
static void count_requests(struct pythia_search *s)
{
    for (size_t i = 0; i < s->type_count; i++)
        s->types[i].requests = s->seconds > 0 ? 0 : NAN;
    for (size_t i = 0; s->seconds > 0 && i < s->problem_count; i++) {
        struct pythia__search_type *t = pythia__search_type_at(s, i);
        const struct pythia_type *evidence = s->keeping[i].evidence;
        if (t && evidence)
            t->requests += (double)s->problems[i].requests /
                           (evidence->cycles > 1 ? (double)evidence->cycles : 1) / s->seconds;
    }
    for (size_t i = 0; i < s->type_count; i++)
        s->types[i].requests *= find_most_parts(s, &s->types[i]);
}

/* Does a point cost something in requests of a type? */
static bool costs_in(const struct pythia_search *s, const struct pythia__search_type *t,
                     uint32_t point)
{
    return pythia__search_was_opened(t, point) || (s->wide[point] && s->open_for[point] > 0);
}

void pythia__search_settle(struct pythia_search *s, uint32_t point)
{
    double calls = 0, bytes = 0;
    for (size_t i = 0; i < s->type_count; i++) {
        const struct pythia__search_type *t = &s->types[i];
        const struct pythia__search_rate *rate = costs_in(s, t, point) ? find_rate(t, point) : NULL;
        calls = rate ? fmax(calls, rate->calls) : calls;
        bytes += rate ? t->requests * rate->bytes : 0;
    }
    s->spent_calls[point] = calls / s->part[point];
    s->spent_bytes[point] = s->seconds > 0 ? bytes / s->part[point] : NAN;
}

/* The calls and bytes of all points: each type that something was opened for is visited once. */
void pythia__search_meet_rates(struct pythia_search *s)
{
    bool any_wide = false;
    count_requests(s);
    for (uint32_t point = 0; point < s->points; point++) {
        any_wide = any_wide || (s->wide[point] && s->open_for[point] > 0);
        s->spent_calls[point] = 0;
        s->spent_bytes[point] = s->seconds > 0 ? 0 : NAN;
    }
    for (size_t i = 0; i < s->type_count; i++) {
        const struct pythia__search_type *t = &s->types[i];
        for (size_t k = 0; (t->open || any_wide) && k < t->rate_count; k++) {
            const struct pythia__search_rate *rate = &t->rates[k];
            /* A point that is open for other types costs this type nothing. */
            if (!costs_in(s, t, rate->tracepoint))
                continue;
            double *calls = &s->spent_calls[rate->tracepoint];
            /* The limit on added time is that of one request: the type that it slows most counts.
             */
            uint32_t part = s->part[rate->tracepoint];
            *calls = fmax(*calls, rate->calls / part);
            s->spent_bytes[rate->tracepoint] += t->requests * rate->bytes / part;
        }
    }
}

double pythia__search_full_cost(const struct pythia_search *s, const struct pythia__search_type *t,
                                uint32_t point)
{
    const struct pythia__search_rate *rate = find_rate(t, point);
    return rate ? rate->calls * s->price[point] : 0;
}

double pythia__search_cost(const struct pythia_search *s, const struct pythia__search_type *t,
                           uint32_t point)
{
    return pythia__search_full_cost(s, t, point) / pythia__search_part_of(s, t, point);
}

double pythia__search_bytes(const struct pythia_search *s, const struct pythia__search_type *t,
                            uint32_t point)
{
    const struct pythia__search_rate *rate = find_rate(t, point);
    if (!(s->seconds > 0))
        return NAN;
    return rate ? t->requests * rate->bytes / pythia__search_part_of(s, t, point) : 0;
}
