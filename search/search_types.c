/* Points that pins keep open for some request types only. No request of another type gives a span
 * of such a point, so that in the problem of that type it has to count as pinned closed: a region
 * map that has it open would look for its time in spans that never come. What is open is kept by
 * trace point, for all problems; a problem's own view of it is made while the problem is looked
 * at. */
#include "pythia/mem.h"
#include "pythia/status.h"
#include "search_parts.h"

static bool is_hidden(const struct pythia_search *s, const bool *skeleton, uint32_t type,
                      uint32_t point)
{
    return s->open[point] && !skeleton[point] &&
           pythia_open_points_excludes(s->o.always, point, type);
}

/* The open points without those that are hidden. */
static int make_open(struct pythia__search_hidden *h, struct pythia_open_points *open)
{
    const struct pythia_vocabulary *v = pythia_space_vocabulary(h->search->space);
    int status = pythia_open_points_create_without(open, &h->made);
    for (size_t i = 0; i < h->count && status == PYTHIA_OK; i++)
        status =
            pythia_open_points_add_id(h->made, pythia_vocabulary_tracepoint_id(v, h->points[i]));
    h->open = h->made;
    return status;
}

int pythia__search_hide(struct pythia_search *s, size_t problem, struct pythia_open_points *open,
                        struct pythia__search_hidden *h)
{
    size_t capacity = 0;
    int status = PYTHIA_OK;
    *h = (struct pythia__search_hidden){.search = s, .open = open};
    if (!pythia_open_points_is_limited(s->o.always))
        return PYTHIA_OK;
    bool *skeleton = pythia_space_skeleton(s->space); /* open for all types */
    if (!skeleton)
        return PYTHIA_ENOMEM;
    for (uint32_t point = 0; point < s->points && status == PYTHIA_OK; point++) {
        if (!is_hidden(s, skeleton, s->problems[problem].unsplit, point))
            continue;
        status = pythia_grow(&h->points, &capacity, h->count, sizeof(*h->points));
        if (status == PYTHIA_OK)
            h->points[h->count++] = point;
    }
    pythia_free(skeleton);
    if (status == PYTHIA_OK && open && h->count > 0)
        status = make_open(h, open);
    if (status != PYTHIA_OK) {
        h->count = 0;
        pythia__search_show(h);
        return status;
    }
    for (size_t i = 0; i < h->count; i++) {
        s->open[h->points[i]] = false;
        s->never[h->points[i]] = true;
    }
    return PYTHIA_OK;
}

void pythia__search_show(struct pythia__search_hidden *h)
{
    for (size_t i = 0; i < h->count; i++) {
        h->search->open[h->points[i]] = true;
        h->search->never[h->points[i]] = false;
    }
    pythia_open_points_destroy(h->made);
    pythia_free(h->points);
    *h = (struct pythia__search_hidden){.search = h->search};
}
