/* The difference between a group and the other groups of its type that a report shows. */
#include "document/document_names.h"
#include "items.h"

/* The items of a report. */
struct told {
    const struct pythia_report_source *s;
    const struct pythia__item *items;
    size_t count;
};

/* Trace points that differ only in identifiers are one. */
static bool group_passes(const struct told *t, const struct pythia_group *g, uint32_t point)
{
    uint32_t pattern = pythia_vocabulary_tracepoint_at(t->s->vocabulary, point)->pattern;
    for (uint32_t i = 0; g->shape && i < g->shape->point_count; i++)
        if (pythia_vocabulary_tracepoint_at(t->s->vocabulary, g->shape->points[i])->pattern ==
            pattern)
            return true;
    return false;
}

static bool is_sibling(const struct pythia__item *a, const struct pythia__item *b)
{
    return a != b && a->group && b->group && a->type == b->type;
}

/* How many of the groups of its type that are told pass a point; *count of them. */
static size_t count_passing(const struct told *t, const struct pythia__item *item, uint32_t point,
                            size_t *count)
{
    size_t passing = 0;
    *count = 0;
    for (size_t i = 0; i < t->count; i++)
        if (is_sibling(item, &t->items[i])) {
            passing += group_passes(t, t->items[i].group, point);
            ++*count;
        }
    return passing;
}

/* The first trace point of a group that no sibling of the item passes, or that all of them do and
 * the item does not; PYTHIA_NONE: there is none. */
static uint32_t find_point(const struct told *t, const struct pythia__item *item,
                           const struct pythia_group *of, bool own)
{
    for (uint32_t i = 0; of->shape && i < of->shape->point_count; i++) {
        size_t count, passing = count_passing(t, item, of->shape->points[i], &count);
        if (own ? passing == 0
                : passing == count && !group_passes(t, item->group, of->shape->points[i]))
            return of->shape->points[i];
    }
    return PYTHIA_NONE;
}

void pythia__say_difference(struct pythia__doc *d, const struct pythia_report_source *s,
                            const struct pythia__item *items, size_t count,
                            const struct pythia__item *item)
{
    const struct told t = {s, items, count};
    const struct pythia__item *first = NULL;
    size_t before = 0;
    for (const struct pythia__item *i = items; i < item; i++) {
        first = !first && is_sibling(item, i) ? i : first;
        before += is_sibling(item, i);
    }
    if (!first)
        return;
    uint32_t own = find_point(&t, item, item->group, true),
             lacked = own == PYTHIA_NONE ? find_point(&t, item, first->group, false) : PYTHIA_NONE;
    if (own == PYTHIA_NONE && lacked == PYTHIA_NONE) {
        pythia__doc_words(d, ", path %zu", before + 1);
        return;
    }
    pythia__doc_words(d, own != PYTHIA_NONE ? ", requests that hit " : ", requests without ");
    pythia__doc_point(d, s->vocabulary, own != PYTHIA_NONE ? own : lacked);
}
