/* In what groups of one request type differ: each is told apart from the largest of them by the
 * trace points on its path. */
#include <stdlib.h>

#include "document/document_names.h"
#include "pythia/mem.h"
#include "pythia/status.h"
#include "sentences.h"

#define PATH_MAX    10000 /* events of a path that are looked at */
#define NAMES_SHOWN 3

const struct pythia_group **pythia__largest_groups(const struct pythia_diagnosis *d)
{
    const struct pythia_group **out =
        pythia_calloc(d->type_count + 1, sizeof(const struct pythia_group *));
    for (size_t i = 0; out && i < d->group_count; i++) {
        const struct pythia_group *g = &d->groups[i], *best = out[g->type];
        if (!best || g->count > best->count)
            out[g->type] = g;
    }
    return out;
}

/* An identifier in a name does not make another point of it. */
struct passed {
    uint32_t pattern;
    uint32_t at; /* in the path */
};

static int compare_passed(const void *a, const void *b)
{
    const struct passed *x = a, *y = b;
    if (x->pattern != y->pattern)
        return x->pattern < y->pattern ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static int compare_places(const void *a, const void *b)
{
    const struct passed *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

/* The points on the path of a group, by pattern, each once; *count of them, at most one for each
 * event. */
static struct passed *collect_passed(const struct pythia_cct *cct,
                                     const struct pythia_vocabulary *v,
                                     const struct pythia_group *g, size_t *count)
{
    const struct pythia_shape *shape = g->shape;
    uint32_t events = shape && shape->gap_count > 0 ? shape->gap_count + 1 : 0;
    struct passed *out = pythia_calloc(events + 1, sizeof(*out));
    size_t n = 0, kept = 0;
    for (uint32_t i = 0; out && i < events && i < PATH_MAX; i++) {
        const struct pythia_edge *edge =
            pythia_cct_edge_at(cct, shape->edges[shape->slots[i == 0 ? 0 : i - 1]]);
        uint8_t event = i == 0 ? edge->from_event : edge->to_event;
        uint32_t point = i == 0 ? edge->from_tracepoint : edge->to_tracepoint,
                 inside = event == (i == 0 ? PYTHIA_EVENT_START : PYTHIA_EVENT_END);
        if (pythia_cct_depth(cct, edge->context) - inside < g->level)
            out[n++] = (struct passed){pythia_vocabulary_tracepoint_at(v, point)->pattern, i};
    }
    if (n > 1)
        qsort(out, n, sizeof(*out), compare_passed);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || out[i].pattern != out[i - 1].pattern)
            out[kept++] = out[i];
    *count = kept;
    return out;
}

static int compare_patterns(const void *a, const void *b)
{
    const struct passed *x = a, *y = b;
    return (x->pattern > y->pattern) - (x->pattern < y->pattern);
}

int pythia__points_only_in(const struct pythia_cct *cct, const struct pythia_vocabulary *v,
                           const struct pythia_group *g, const struct pythia_group *other,
                           uint32_t **out, size_t *count)
{
    size_t own_count = 0, other_count = 0, n = 0;
    struct passed *own = collect_passed(cct, v, g, &own_count),
                  *others = collect_passed(cct, v, other, &other_count);
    uint32_t *patterns = pythia_calloc(own_count + 1, sizeof(*patterns));
    int status = own && others && patterns ? PYTHIA_OK : PYTHIA_ENOMEM;
    for (size_t i = 0; status == PYTHIA_OK && i < own_count; i++)
        if (!bsearch(&own[i], others, other_count, sizeof(*own), compare_patterns))
            own[n++] = own[i];
    if (n > 1)
        qsort(own, n, sizeof(*own), compare_places);
    for (size_t i = 0; status == PYTHIA_OK && i < n; i++)
        patterns[i] = own[i].pattern;
    pythia_free(own);
    pythia_free(others);
    if (status != PYTHIA_OK) {
        pythia_free(patterns);
        return status;
    }
    *out = patterns;
    *count = n;
    return PYTHIA_OK;
}

/* "A, B and 3 more" */
static void say_patterns(struct pythia__doc *d, const struct pythia_vocabulary *v,
                         const uint32_t *patterns, size_t count)
{
    size_t shown = count > NAMES_SHOWN ? NAMES_SHOWN - 1 : count;
    for (size_t i = 0; i < shown; i++) {
        struct pythia_text name = pythia_vocabulary_text(v, patterns[i]);
        uint32_t point = pythia_vocabulary_tracepoint_find(v, name);
        pythia__doc_words(d, i == 0 ? "" : i + 1 == count ? " and " : ", ");
        if (point == PYTHIA_NONE)
            (void)pythia__doc_name(d, PYTHIA__DOC_POINT, name, name, name);
        else
            pythia__doc_point(d, v, point);
    }
    if (count > shown)
        pythia__doc_words(d, " and %zu more", count - shown);
}

void pythia__say_unlike(struct pythia__doc *d, const struct pythia_report_source *s,
                        const struct pythia_group *g, const struct pythia_group *largest)
{
    const struct pythia_cct *cct = pythia_groups_cct(s->groups);
    uint32_t *more = NULL, *less = NULL;
    size_t more_count = 0, less_count = 0;
    if (pythia__points_only_in(cct, s->vocabulary, g, largest, &more, &more_count) != PYTHIA_OK ||
        pythia__points_only_in(cct, s->vocabulary, largest, g, &less, &less_count) != PYTHIA_OK)
        d->failed = true;
    pythia__doc_words(d, "Unlike most of their type, they ");
    if (more_count > 0) {
        pythia__doc_words(d, "pass ");
        say_patterns(d, s->vocabulary, more, more_count);
    }
    if (less_count > 0) {
        pythia__doc_words(d, more_count ? ", and not " : "do not pass ");
        say_patterns(d, s->vocabulary, less, less_count);
    }
    if (more_count + less_count == 0)
        pythia__doc_words(d, "pass the same trace points in another order");
    pythia__doc_words(d, ".");
    pythia_free(more);
    pythia_free(less);
}
