/* The cost of open trace points, the points that the budget still allows, and the points that
 * have to be closed. */
#include <math.h>
#include <stdio.h>

#include "pythia/mem.h"
#include "pythia/status.h"
#include "search_parts.h"

#define SLACK  1e-9 /* points: for rounding */
#define BOUNDS 2.   /* the use of a point that bounds a cause: above any probability */

void pythia_search_set_seconds(struct pythia_search *s, double seconds)
{
    s->seconds = seconds;
}

struct pythia_spending pythia__search_spending(const struct pythia_search *s)
{
    struct pythia_spending now = {.bytes_per_second = s->seconds > 0 ? 0 : NAN};
    for (uint32_t point = 0; point < s->points; point++)
        if (s->open_for[point] > 0 && !s->skeleton[point]) {
            now.points++;
            now.added_ns += s->spent_calls[point] * s->price[point];
            now.bytes_per_second += s->spent_bytes[point];
        }
    return now;
}

/* A point that is open at 1 of n instances counts as an n-th. */
static double count_shares(const struct pythia_search *s)
{
    double shares = 0;
    for (uint32_t point = 0; point < s->points; point++)
        if (s->open_for[point] > 0 && !s->skeleton[point])
            shares += 1. / s->part[point];
    return shares;
}

/* ---- what may be opened ---- */

struct pythia__search_room pythia__search_room(const struct pythia_search *s, size_t wanted)
{
    const struct pythia_budget *limit = &s->o.budget;
    struct pythia_spending now = pythia__search_spending(s);
    struct pythia__search_room room = {
        .switches = wanted, .points = INFINITY, .ns = INFINITY, .bytes = INFINITY};
    if (limit->points_open > 0)
        room.points = (double)limit->points_open - count_shares(s);
    if (limit->added_ns > 0)
        room.ns = limit->added_ns - now.added_ns;
    if (limit->bytes_per_second > 0 && !isnan(now.bytes_per_second))
        room.bytes = limit->bytes_per_second - now.bytes_per_second;
    return room;
}

/* The share of a point that opening it takes. Sums of shares are not exact. */
static double find_share(const struct pythia_search *s, const struct pythia__search_type *t,
                         uint32_t point)
{
    return s->open_for[point] > 0 ? 0 : 1. / pythia__search_part_of(s, t, point);
}

/* ns that a point adds to a request when it is opened for one more type. */
static double marginal_cost_ns(const struct pythia_search *s, const struct pythia__search_type *t,
                               uint32_t point)
{
    return fmax(pythia__search_cost(s, t, point) - s->spent_calls[point] * s->price[point], 0);
}

bool pythia__search_fits(const struct pythia_search *s, const struct pythia__search_type *t,
                         uint32_t point, const struct pythia__search_room *room)
{
    double share = find_share(s, t, point);
    return room->switches > 0 && (share == 0 || room->points + SLACK >= share) &&
           (isinf(room->ns) || marginal_cost_ns(s, t, point) <= room->ns) &&
           (isinf(room->bytes) ||
            !(pythia__search_bytes(s, t, point) > room->bytes)); /* NaN: not known: no limit */
}

bool pythia__search_fits_alone(const struct pythia_search *s, const struct pythia__search_type *t,
                               uint32_t point)
{
    const struct pythia_budget *limit = &s->o.budget;
    return !(limit->added_ns > 0 && pythia__search_cost(s, t, point) > limit->added_ns) &&
           !(limit->bytes_per_second > 0 &&
             pythia__search_bytes(s, t, point) > limit->bytes_per_second);
}

bool pythia__search_take(const struct pythia_search *s, const struct pythia__search_type *t,
                         uint32_t point, struct pythia__search_room *room)
{
    double bytes = pythia__search_bytes(s, t, point), share = find_share(s, t, point);
    if (!pythia__search_fits(s, t, point, room))
        return false;
    room->switches--;
    room->points -= share;
    room->ns -= marginal_cost_ns(s, t, point);
    room->bytes -= isnan(bytes) ? 0 : bytes;
    return true;
}

bool pythia__search_frees(const struct pythia_search *s, uint32_t point)
{
    return s->open_for[point] == 1 || s->o.budget.bytes_per_second > 0;
}

bool pythia__search_is_worth(const struct pythia_search *s, size_t problem, uint32_t point,
                             double part)
{
    const struct pythia__search_type *t = pythia__search_type_at(s, problem);
    return !t || !pythia_prices_has(s->o.prices, point) ||
           pythia__search_full_cost(s, t, point) <= part * s->keeping[problem].sd_ns;
}

bool pythia__search_is_limited(const struct pythia_search *s)
{
    const struct pythia_budget *limit = &s->o.budget;
    return limit->points_open > 0 || limit->added_ns > 0 || limit->bytes_per_second > 0;
}

/* ---- what has to be closed ---- */

/* Describe the exceeded limit; false: none. */
static bool describe_exceeded_limit(const struct pythia_search *s,
                                    const struct pythia_spending *now, char *words, size_t size)
{
    const struct pythia_budget *limit = &s->o.budget;
    double shares = count_shares(s);
    if (limit->points_open > 0 && shares > (double)limit->points_open + SLACK)
        snprintf(words, size, "%g points are open; the limit is %zu", shares, limit->points_open);
    else if (limit->added_ns > 0 && now->added_ns > limit->added_ns)
        snprintf(words, size, "open points add %.0f ns to a request; the limit is %.0f",
                 now->added_ns, limit->added_ns);
    else if (limit->bytes_per_second > 0 && now->bytes_per_second > limit->bytes_per_second)
        snprintf(words, size, "open points add %.0f bytes per second; the limit is %.0f",
                 now->bytes_per_second, limit->bytes_per_second);
    else
        return false;
    return true;
}

static bool bounds_any_cause(const struct pythia_search *s, uint32_t point)
{
    for (size_t i = 0; i < s->type_count; i++)
        if (pythia__search_was_opened(&s->types[i], point) &&
            pythia__search_bounds_cause(s, &s->types[i], point))
            return true;
    return false;
}

/* For each point, the most that any search may still learn from it. Owned by the caller; NULL
 * when out of memory. */
static double *find_best_use(struct pythia_search *s)
{
    double *all = pythia_calloc(s->points, sizeof(*all));
    for (size_t i = 0; all && i < s->problem_count; i++) {
        if (s->problems[i].state != PYTHIA_PROBLEM_SEARCHING || s->keeping[i].belief.nodes == 0)
            continue;
        double *use = pythia__search_use(s, i);
        for (uint32_t point = 0; use && point < s->points; point++)
            /* A point serves all problems whose requests hit it: the one that needs it most
             * decides. */
            all[point] = fmax(all[point], use[point]);
        if (!use) {
            pythia_free(all);
            return NULL;
        }
        pythia_free(use);
    }
    for (uint32_t point = 0; all && point < s->points; point++)
        if (s->open_for[point] > 0 && !s->skeleton[point] && bounds_any_cause(s, point))
            /* Without it a cause that was found could not be seen to remain or to go. */
            all[point] = BOUNDS;
    return all;
}

static bool was_just_opened(const struct pythia_search *s, uint32_t point)
{
    for (size_t i = 0; i < s->switch_count; i++)
        if (s->switches[i].tracepoint == point && s->switches[i].open)
            return true;
    return false;
}

/* The open point that tells least; of equals the one whose id comes first. PYTHIA_NONE: none is
 * left. */
static uint32_t find_least(const struct pythia_search *s, const double *use)
{
    const struct pythia_vocabulary *v = pythia_space_vocabulary(s->space);
    uint32_t least = PYTHIA_NONE;
    for (uint32_t point = 0; point < s->points; point++) {
        if (s->open_for[point] == 0 || s->skeleton[point] || was_just_opened(s, point))
            continue;
        if (least == PYTHIA_NONE || use[point] < use[least] ||
            (use[point] == use[least] &&
             pythia_text_compare(pythia_vocabulary_tracepoint_id(v, point),
                                 pythia_vocabulary_tracepoint_id(v, least)) < 0))
            least = point;
    }
    return least;
}

/* For which problem of a type a point was open: the one that is searched if there is one. */
static size_t find_point_owner(const struct pythia_search *s, const struct pythia__search_type *t)
{
    size_t owner = SIZE_MAX;
    for (size_t i = 0; i < s->problem_count; i++)
        if (s->problems[i].unsplit == t->name &&
            (owner == SIZE_MAX || s->problems[i].state == PYTHIA_PROBLEM_SEARCHING))
            owner = i;
    return owner;
}

/* Close a point for all types that it was opened for. */
static int close_for_all(struct pythia_search *s, uint32_t point, const char *why)
{
    for (size_t i = 0; i < s->type_count; i++)
        if (pythia__search_was_opened(&s->types[i], point)) {
            int status = pythia__search_close(s, &s->types[i], point,
                                              find_point_owner(s, &s->types[i]), why);
            if (status != PYTHIA_OK)
                return status;
        }
    return PYTHIA_OK;
}

int pythia__search_keep_within(struct pythia_search *s)
{
    char words[160];
    struct pythia_spending now = pythia__search_spending(s);
    if (!describe_exceeded_limit(s, &now, words, sizeof(words)))
        return PYTHIA_OK;
    double *use = find_best_use(s);
    int status = use ? PYTHIA_OK : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK)
        goto out;
    while (describe_exceeded_limit(s, &now, words, sizeof(words))) {
        /* One at a time: each closing changes what is spent, and no more is closed than must be. */
        uint32_t least = find_least(s, use);
        if (least == PYTHIA_NONE)
            break;
        char why[256];
        snprintf(why, sizeof(why), "%s: this one is the least informative", words);
        status = close_for_all(s, least, why);
        if (status != PYTHIA_OK)
            goto out;
        now = pythia__search_spending(s);
    }
out:
    pythia_free(use);
    return status;
}
