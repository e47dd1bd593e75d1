#include "unknown_points.h"

#include <string.h>

#include "pythia/mem.h"
#include "pythia/status.h"

void pythia__unknown_points_free(struct pythia__unknown_points *u)
{
    pythia_free(u->known);
    pythia_free(u->spans);
    *u = (struct pythia__unknown_points){0};
}

static bool is_known_point(const struct pythia__unknown_points *u, size_t point)
{
    return point < u->known_count && u->known[point];
}

void pythia__unknown_points_know(struct pythia__unknown_points *u, bool *known, uint32_t count)
{
    pythia_free(u->known);
    u->known = known;
    u->known_count = known ? count : 0;
    u->count = 0;
    for (size_t point = 0; point < u->capacity; point++)
        u->count += u->spans[point] > 0 && !is_known_point(u, point);
}

int pythia__unknown_points_note(struct pythia__unknown_points *u, const struct pythia_trace *whole,
                                struct pythia_open_points *open)
{
    for (uint32_t i = 0; u->known && i < whole->count; i++) {
        uint32_t point = whole->spans[i].tracepoint;
        if (is_known_point(u, point) || pythia_open_points_has(open, point) ||
            (u->never && pythia_open_points_has(u->never, point)))
            continue; /* hidden on purpose, or not hidden at all */
        if (pythia_reach(&u->spans, &u->capacity, point, sizeof(*u->spans)) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
        u->count += u->spans[point]++ == 0;
        u->total++;
    }
    return PYTHIA_OK;
}

void pythia__unknown_points_clear(struct pythia__unknown_points *u)
{
    if (u->capacity > 0)
        memset(u->spans, 0, u->capacity * sizeof(*u->spans));
    u->count = 0;
    u->total = 0;
}

/* Has a point more spans than another? Ties are broken by id, as the numbers of trace points depend
 * on which came first. */
static bool ranks_before(const struct pythia__unknown_points *u, const struct pythia_vocabulary *v,
                         uint32_t point, uint32_t other)
{
    if (u->spans[point] != u->spans[other])
        return u->spans[point] > u->spans[other];
    return pythia_text_compare(pythia_vocabulary_tracepoint_id(v, point),
                               pythia_vocabulary_tracepoint_id(v, other)) < 0;
}

/* Insert a point into the list of those with most spans, if it ranks among them. */
static void insert_point(const struct pythia__unknown_points *u, const struct pythia_vocabulary *v,
                         uint32_t point, struct pythia_unknown_points *out)
{
    size_t at = out->most_count;
    if (at == PYTHIA_UNKNOWN_POINTS_SHOWN && !ranks_before(u, v, point, out->most[at - 1]))
        return;
    if (at == PYTHIA_UNKNOWN_POINTS_SHOWN)
        at--; /* the last one falls out */
    else
        out->most_count++;
    for (; at > 0 && ranks_before(u, v, point, out->most[at - 1]); at--)
        out->most[at] = out->most[at - 1];
    out->most[at] = point;
}

struct pythia_unknown_points pythia__unknown_points_sum(const struct pythia__unknown_points *u,
                                                        const struct pythia_vocabulary *v)
{
    struct pythia_unknown_points out = {.count = u->count};
    for (size_t point = 0; u->count > 0 && point < u->capacity; point++)
        if (u->spans[point] > 0 && !is_known_point(u, point)) {
            out.spans += u->spans[point];
            insert_point(u, v, (uint32_t)point, &out);
        }
    return out;
}
