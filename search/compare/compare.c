/* Both sides are put into one tree, types are matched by name, and every test of the comparison
 * takes part in one correction for their number. */
#include "pythia/compare.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "compare_parts.h"
#include "pythia/gate.h"
#include "pythia/mem.h"
#include "pythia/sort.h"
#include "pythia/status.h"

const char *pythia_compared_status_name(enum pythia_compared_status status)
{
    static const char *const names[] = {"same", "changed", "new", "lost", "too_few"};
    return names[status];
}

void pythia_comparison_destroy(struct pythia_comparison *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->type_count; i++) {
        struct pythia_compared_type *t = &c->types[i];
        for (size_t k = 0; k < t->path_count; k++) {
            pythia_free(t->paths[k].passes);
            pythia_free(t->paths[k].lacks);
        }
        pythia_free(t->edges);
        pythia_free(t->paths);
        pythia_free(t->points);
    }
    pythia_free(c->types);
    pythia_free(c->services);
    pythia_cct_destroy(c->cct);
    pythia_free(c);
}

/* ---- one tree ---- */

/* The tree of both sides, and for each edge of a side its number there. */
static int merge_tree(struct pythia__compare *c, size_t s)
{
    const struct pythia_cct *from = pythia_groups_cct(pythia_side_groups(c->sides[s]));
    struct pythia_cct *to = c->out->cct;
    uint32_t nodes = pythia_cct_nodes(from), edges = pythia_cct_edges(from);
    uint32_t *node_of = pythia_calloc(nodes, sizeof(*node_of));
    c->edges[s] = pythia_calloc(edges, sizeof(*c->edges[s]));
    int status = node_of && c->edges[s] ? PYTHIA_OK : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK)
        goto out;
    for (uint32_t i = 1; i < nodes; i++) { /* parents come first */
        node_of[i] = pythia_cct_child(to, node_of[pythia_cct_parent(from, i)],
                                      pythia_cct_tracepoint(from, i));
        status = node_of[i] == PYTHIA_NONE ? PYTHIA_ENOMEM : status;
        if (status != PYTHIA_OK)
            goto out;
    }
    for (uint32_t e = 0; e < edges; e++) {
        struct pythia_edge edge = *pythia_cct_edge_at(from, e);
        edge.context = node_of[edge.context];
        c->edges[s][e] = pythia_cct_edge(to, &edge);
        status = c->edges[s][e] == PYTHIA_NONE ? PYTHIA_ENOMEM : status;
        if (status != PYTHIA_OK)
            goto out;
    }
out:
    pythia_free(node_of);
    return status;
}

/* ---- types ---- */

static double moment_of_parts(const struct pythia_type *t,
                              double (*of)(const struct pythia_exact_moments *))
{
    return t ? of(&t->moments) : NAN;
}

static double rate_per_second(uint64_t count, uint64_t covered_ns)
{
    return covered_ns > 0 ? (double)count * 1e9 / (double)covered_ns : NAN;
}

static const struct pythia_exact_moments *all_requests(const struct pythia__compare *c, size_t side)
{
    return pythia_groups_moments(pythia_side_groups(c->sides[side]));
}

static uint64_t select_part(const struct pythia__compare *c, size_t side,
                            const struct pythia_exact_moments *part)
{
    return pythia_exact_moments_count(all_requests(c, side), part->weight);
}

/* Compare everything that concerns all requests of a type. `n` are all requests of each side. */
static void describe_type(const struct pythia__compare *c, struct pythia_compared_type *t,
                          const struct pythia_side_type *const sides[2], const double n[2])
{
    const struct pythia_exact_moments none = {0}, *b = t->before ? &t->before->moments : &none,
                                      *a = t->after ? &t->after->moments : &none;
    t->count = pythia__count_change(select_part(c, 0, b), (uint64_t)n[0], select_part(c, 1, a),
                                    (uint64_t)n[1]);
    t->requests[0] = pythia_exact_moments_count(b, b->weight);
    t->requests[1] = pythia_exact_moments_count(a, a->weight);
    t->failed = pythia__count_change(sides[0] ? sides[0]->failed_requests : 0, t->requests[0],
                                     sides[1] ? sides[1]->failed_requests : 0, t->requests[1]);
    t->rate = pythia__change(rate_per_second(b->weight, c->out->covered_before_ns),
                             rate_per_second(a->weight, c->out->covered_after_ns));
    t->mean = pythia__change(moment_of_parts(t->before, pythia_exact_moments_mean),
                             moment_of_parts(t->after, pythia_exact_moments_mean));
    t->variance = pythia__change(moment_of_parts(t->before, pythia_exact_moments_variance),
                                 moment_of_parts(t->after, pythia_exact_moments_variance));
    t->sample_mean = t->sample_variance = (struct pythia_change){NAN, NAN, NAN};
    t->mean_test = t->variance_test = (struct pythia_certain){{NAN, NAN, NAN, NAN, NAN, NAN}, NAN};
    /* The change of the mean of all is the sum over types of what they got longer, and of how much
     * commoner they got. */
    double w[2] = {(double)t->count.before / n[0], (double)t->count.after / n[1]};
    t->weight = (w[0] + w[1]) / 2;
    t->within = t->before && t->after ? t->weight * t->mean.change : 0;
    t->mix =
        (t->after ? w[1] * t->mean.after : 0) - (t->before ? w[0] * t->mean.before : 0) - t->within;
    t->status =
        !t->before  ? PYTHIA_COMPARED_NEW
        : !t->after ? PYTHIA_COMPARED_LOST
        : t->requests[0] < c->options->min_requests || t->requests[1] < c->options->min_requests
            ? PYTHIA_COMPARED_TOO_FEW
            : PYTHIA_COMPARED_SAME;
}

static int compare_type(struct pythia__compare *c, struct pythia_compared_type *t,
                        const struct pythia_side_type *const sides[2], const double n[2])
{
    describe_type(c, t, sides, n);
    int status = PYTHIA_OK;
    if (t->status == PYTHIA_COMPARED_SAME) {
        status = pythia__compare_edges(c, t);
        c->out->compared++;
        if (status != PYTHIA_OK)
            return status;
    }
    status = pythia__compare_paths(c, t);
    if (status != PYTHIA_OK)
        return status;
    return pythia__compare_points(c, t, sides[0], sides[1]);
}

/* Match the types of both sides, which are in order of name. */
static int match_types(struct pythia__compare *c)
{
    const struct pythia_type *types[2];
    const struct pythia_side_type *beside[2];
    size_t counts[2], at[2] = {0, 0};
    double n[2];
    for (size_t s = 0; s < 2; s++) {
        const struct pythia_groups *groups = pythia_side_groups(c->sides[s]);
        types[s] = pythia_groups_types(groups, &counts[s]);
        beside[s] = pythia_side_types(c->sides[s], &counts[s]);
        const struct pythia_exact_moments *all = all_requests(c, s);
        n[s] = fmax((double)pythia_exact_moments_count(all, all->weight), 1);
    }
    c->out->types = pythia_calloc(counts[0] + counts[1], sizeof(*c->out->types));
    if (!c->out->types)
        return PYTHIA_ENOMEM;
    while (at[0] < counts[0] || at[1] < counts[1]) {
        /* A merge of two sorted lists: a type that one side lacks is new, or gone. */
        int order =
            at[0] == counts[0] ? 1
            : at[1] == counts[1]
                ? -1
                : pythia_text_compare(pythia_vocabulary_text(c->vocabulary, types[0][at[0]].name),
                                      pythia_vocabulary_text(c->vocabulary, types[1][at[1]].name));
        const struct pythia_side_type *const sides[2] = {order <= 0 ? &beside[0][at[0]] : NULL,
                                                         order >= 0 ? &beside[1][at[1]] : NULL};
        struct pythia_compared_type *t = &c->out->types[c->out->type_count++];
        t->before = order <= 0 ? &types[0][at[0]] : NULL;
        t->after = order >= 0 ? &types[1][at[1]] : NULL;
        t->name = order <= 0 ? types[0][at[0]].name : types[1][at[1]].name;
        int status = compare_type(c, t, sides, n);
        if (status != PYTHIA_OK)
            return status;
        at[0] += order <= 0;
        at[1] += order >= 0;
    }
    return PYTHIA_OK;
}

/* ---- what is not chance ---- */

/* Call `visit` with every test of a type: with its p, and where its q belongs. Of a type of which
 * there are too few, only that is tested. */
static void each_test(struct pythia_compared_type *t,
                      void (*visit)(void *context, double p, double *q), void *context)
{
    visit(context, t->count.p, &t->count.q);
    /* Tests that cannot find anything would only weaken the correction of the others. */
    if (t->status == PYTHIA_COMPARED_TOO_FEW)
        return;
    visit(context, t->failed.p, &t->failed.q);
    visit(context, t->mean_test.clipped.p, &t->mean_test.q);
    visit(context, t->variance_test.clipped.p, &t->variance_test.q);
    for (size_t i = 0; i < t->edge_count; i++) {
        struct pythia_compared_edge *e = &t->edges[i];
        visit(context, e->mean_test.clipped.p, &e->mean_test.q);
        visit(context, e->variance_test.clipped.p, &e->variance_test.q);
    }
    for (size_t i = 0; i < t->path_count; i++)
        visit(context, t->paths[i].count.p, &t->paths[i].count.q);
    for (size_t i = 0; i < t->point_count; i++) {
        struct pythia_compared_point *p = &t->points[i];
        visit(context, p->requests.p, &p->requests.q);
        visit(context, p->visits_p, &p->visits_q);
        visit(context, p->failed.p, &p->failed.q);
    }
}

/* All p of a comparison, in the order of visits. */
struct tests {
    double *p;
    size_t count, made;
};

static void count_test(void *context, double p, double *q)
{
    struct tests *all = context;
    all->count++;
    all->made += isnan(p) ? 0 : 1;
    *q = NAN;
}

static void take_p(void *context, double p, double *q)
{
    struct tests *all = context;
    all->p[all->count++] = p;
    *q = NAN;
}

static void give_q(void *context, double p, double *q)
{
    struct tests *all = context;
    (void)p;
    *q = all->p[all->count++];
}

static void each_test_of_all(struct pythia_comparison *c, struct tests *all,
                             void (*visit)(void *context, double p, double *q))
{
    all->count = 0;
    for (size_t i = 0; i < c->type_count; i++)
        each_test(&c->types[i], visit, all);
}

/* One correction over all tests. */
static int correct_p_values(struct pythia_comparison *c)
{
    struct tests all = {0};
    each_test_of_all(c, &all, count_test);
    c->tests = all.made;
    all.p = pythia_calloc(all.count, sizeof(*all.p));
    if (!all.p)
        return PYTHIA_ENOMEM;
    each_test_of_all(c, &all, take_p);
    int status = pythia_gate_benjamini_hochberg(all.p, all.count, all.p);
    if (status != PYTHIA_OK)
        goto out;
    each_test_of_all(c, &all, give_q);
out:
    pythia_free(all.p);
    return status;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): one type for all visits */
static void find_lowest(void *context, double p, double *q)
{
    double *lowest = context;
    (void)p;
    *lowest = fmin(*lowest, *q); /* passes a NaN over */
}

/* ---- order ---- */

struct edge_order {
    const struct pythia_compared_edge *edges;
    double alpha;
};

static bool compared_edge_precedes(const void *context, uint32_t a, uint32_t b)
{
    const struct edge_order *o = context;
    return pythia__edge_outranks(&o->edges[a], &o->edges[b], o->alpha);
}

static bool compared_type_precedes(const void *context, uint32_t a, uint32_t b)
{
    const struct pythia_compared_type *t = context;
    return fabs(t[a].within) + fabs(t[a].mix) > fabs(t[b].within) + fabs(t[b].mix);
}

static int conclude_comparison(struct pythia__compare *c)
{
    struct pythia_comparison *out = c->out;
    int status = correct_p_values(out);
    if (status != PYTHIA_OK)
        return status;
    for (size_t i = 0; i < out->type_count; i++) {
        struct pythia_compared_type *t = &out->types[i];
        double lowest = INFINITY;
        each_test(t, find_lowest, &lowest);
        out->changed = out->changed || lowest <= out->alpha;
        if (lowest <= out->alpha && t->status == PYTHIA_COMPARED_SAME)
            t->status = PYTHIA_COMPARED_CHANGED;
        pythia__compare_find_slowing(t, out->alpha);
        /* Edges come in order of name, and so do types: ties stay so. */
        status = pythia__compare_sort(&t->edges, t->edge_count, sizeof(*t->edges),
                                      compared_edge_precedes,
                                      &(struct edge_order){t->edges, out->alpha});
        if (status != PYTHIA_OK)
            return status;
    }
    status = pythia__compare_sort(&out->types, out->type_count, sizeof(*out->types),
                                  compared_type_precedes, out->types);
    if (status != PYTHIA_OK)
        return status;
    status = pythia__compare_attribute(c);
    if (status != PYTHIA_OK)
        return status;
    return pythia__compare_services(c);
}

int pythia_compare(const struct pythia_side *before, const struct pythia_side *after,
                   const struct pythia_compare_options *options, struct pythia_comparison **out)
{
    assert(pythia_side_vocabulary(before) == pythia_side_vocabulary(after));
    struct pythia__compare c = {.sides = {before, after},
                                .options = options,
                                .vocabulary = pythia_side_vocabulary(before),
                                .out = pythia_calloc(1, sizeof(*c.out))};
    if (!c.out)
        return PYTHIA_ENOMEM;
    c.out->alpha = options->alpha;
    c.out->min_requests = options->min_requests;
    c.out->covered_before_ns = pythia_side_covered_ns(before);
    c.out->covered_after_ns = pythia_side_covered_ns(after);
    c.out->mean =
        pythia__change(pythia_exact_moments_mean(pythia_groups_moments(pythia_side_groups(before))),
                       pythia_exact_moments_mean(pythia_groups_moments(pythia_side_groups(after))));
    /* Both trees are merged into one first, so that an edge has one number on both sides, and an
     * edge that only one side has is compared with zero time. */
    int status = pythia_cct_create(c.vocabulary, &c.out->cct);
    if (status != PYTHIA_OK)
        goto out;
    for (size_t s = 0; s < 2; s++) {
        status = merge_tree(&c, s);
        if (status != PYTHIA_OK)
            goto out;
    }
    status = match_types(&c);
    if (status != PYTHIA_OK)
        goto out;
    status = conclude_comparison(&c);
out:
    pythia_free(c.edges[0]);
    pythia_free(c.edges[1]);
    if (status != PYTHIA_OK) {
        pythia_comparison_destroy(c.out);
        return status;
    }
    *out = c.out;
    return PYTHIA_OK;
}
