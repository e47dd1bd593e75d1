/* A diagnosis as text: every number with all its bits, every number of a name as that name, so that
 * two of them are equal if and only if nobody could tell them apart. */
#ifndef DIAGNOSIS_TEXT_H
#define DIAGNOSIS_TEXT_H

#include "pythia/diagnosis.h"
#include "requests.h"

struct diagnosis_writer {
    struct pythia_buf to;
    const struct pythia_cct *cct;
    const struct pythia_vocabulary *vocabulary;
};

static inline void write_numbers(struct diagnosis_writer *w, const char *what,
                                 const double *numbers, size_t count)
{
    pythia_buf_printf(&w->to, " %s=", what);
    for (size_t i = 0; i < count; i++)
        pythia_buf_printf(&w->to, i ? ",%a" : "%a", numbers[i]);
}

static inline void write_number(struct diagnosis_writer *w, const char *what, double number)
{
    write_numbers(w, what, &number, 1);
}

static inline void write_whole(struct diagnosis_writer *w, const char *what, uint64_t number)
{
    pythia_buf_printf(&w->to, " %s=%llx", what, (unsigned long long)number);
}

static inline void write_point(struct diagnosis_writer *w, uint32_t point)
{
    pythia_buf_printf(&w->to, " %s",
                      point == PYTHIA_NONE
                          ? "(none)"
                          : pythia_vocabulary_tracepoint_id(w->vocabulary, point).bytes);
}

static inline void write_node(struct diagnosis_writer *w, uint32_t node)
{
    for (; node != PYTHIA_CCT_ROOT; node = pythia_cct_parent(w->cct, node))
        write_point(w, pythia_cct_tracepoint(w->cct, node));
}

static inline void write_share(struct diagnosis_writer *w, const struct pythia_share *s)
{
    const double numbers[] = {s->mean,  s->sd, s->cov, s->raw_share,
                              s->share, s->se, s->low, s->high};
    write_numbers(w, "share", numbers, sizeof(numbers) / sizeof(numbers[0]));
    write_whole(w, "outliers", s->outliers);
    write_whole(w, "driven", s->outlier_driven);
}

static inline void write_ranking(struct diagnosis_writer *w, const struct pythia_ranking *r)
{
    uint32_t *nodes, count;
    write_whole(w, "rows", r->rows);
    write_whole(w, "localised", r->localised);
    for (size_t e = 0; e < r->edge_count; e++) {
        const struct pythia_ranked_edge *edge = &r->edges[e];
        const double numbers[] = {edge->repeats, edge->tail_share, edge->mode_share, edge->modes_p,
                                  edge->score};
        pythia_buf_printf(&w->to, "\n  edge %s", requests_edge(w->cct, edge->edge));
        write_whole(w, "requests", edge->requests);
        write_numbers(w, "edge", numbers, 5);
        write_share(w, &edge->share);
        write_numbers(w, "times", r->times_ns + e * r->rows, r->rows);
    }
    assert_int_equal(pythia_cct_sorted_nodes(w->cct, &nodes, &count), PYTHIA_OK);
    for (uint32_t i = 0; i < count; i++) { /* their order in the ranking is by number */
        const struct pythia_ranked_context *c = pythia_ranking_context(r, nodes[i]);
        if (!c)
            continue;
        const double numbers[] = {c->mean_ns, c->share.slope, c->share.se, c->share.low,
                                  c->share.high};
        pythia_buf_puts(&w->to, "\n  context");
        write_node(w, nodes[i]);
        write_numbers(w, "context", numbers, 5);
    }
    pythia_free(nodes);
}

static inline void write_split(struct diagnosis_writer *w, const struct pythia_split *s)
{
    const double numbers[] = {s->share, s->cut, s->low_mean, s->high_mean};
    write_numbers(w, "split", numbers, 4);
    write_whole(w, "low_rows", s->low_rows);
    write_whole(w, "high_rows", s->high_rows);
    write_whole(w, "above", (uint64_t)s->above * 2 + s->by_absence);
}

static inline void write_result(struct diagnosis_writer *w,
                                const struct pythia_association_result *r, size_t edges)
{
    const double numbers[] = {r->p,
                              r->p_bartlett,
                              r->q,
                              r->r,
                              r->effect,
                              r->explained,
                              r->omega_squared,
                              r->p_partial,
                              r->p_permutation,
                              r->stability,
                              r->split_share,
                              r->low_total,
                              r->high_total};
    write_numbers(w, "result", numbers, sizeof(numbers) / sizeof(numbers[0]));
    write_numbers(w, "loadings", r->loadings, edges);
    const uint64_t wholes[] = {r->column,      r->rank,           r->skip,       r->present,
                               r->regressors,  r->cluster,        r->proxy_of,   r->confirmed,
                               r->significant, r->low_confidence, r->categorical};
    for (size_t i = 0; i < sizeof(wholes) / sizeof(wholes[0]); i++)
        write_whole(w, "", wholes[i]);
    write_split(w, &r->split);
}

static inline void write_explanations(struct diagnosis_writer *w,
                                      const struct pythia_explanations *x)
{
    write_whole(w, "asked", x->asked);
    write_whole(w, "rows", x->rows);
    for (size_t i = 0; i + 1 < x->edges; i++)
        write_whole(w, "chosen", x->chosen[i]);
    for (size_t i = 0; i < x->found_count; i++) {
        const struct pythia_explanation *f = &x->found[i];
        const double range[] = {f->low, f->high};
        pythia_buf_printf(&w->to, "\n  found %s: %s", f->name, f->split ? f->split : "(no split)");
        write_point(w, f->tracepoint);
        write_whole(w, "kind", f->kind);
        write_whole(w, "once", f->mostly_once);
        write_numbers(w, "range", range, 2);
        write_result(w, &f->result, x->edges);
        for (size_t b = 0; b < f->profile_bins; b++) {
            pythia_buf_printf(&w->to, " bin %s", f->profile[b].label);
            write_whole(w, "requests", f->profile[b].requests);
            write_number(w, "mean", f->profile[b].mean_ns);
        }
    }
    for (size_t i = 0; i < x->skipped_count; i++)
        pythia_buf_printf(&w->to, "\n  skipped %s: %s", x->skipped[i].name, x->skipped[i].reason);
}

static inline void write_splits(struct diagnosis_writer *w, const struct pythia_split_proposals *x)
{
    for (size_t i = 0; i < x->count; i++) {
        const struct pythia_split_proposal *s = &x->all[i];
        const double numbers[] = {s->between.share, s->between.low, s->between.high};
        pythia_buf_printf(&w->to, "\n  proposed %s", s->text);
        write_whole(w, "explanation", s->explanation);
        write_whole(w, "of_modes", s->of_modes);
        write_numbers(w, "between", numbers, 3);
        for (size_t k = 0; k < s->part_count; k++) {
            pythia_buf_printf(&w->to, " part %s", s->parts[k].label);
            write_whole(w, "requests", s->parts[k].requests);
            write_number(w, "mean", s->parts[k].mean_ns);
        }
    }
}

static inline void write_group(struct diagnosis_writer *w, const struct pythia_group *g)
{
    const double numbers[] = {
        g->mean_ns,   g->sd_ns,          g->cov,     g->p50_ns,   g->p90_ns,
        g->p99_ns,    g->variance_share, g->score,   g->modes_q,  g->dip.p,
        g->dip.p_raw, g->dip.dip,        g->dip.low, g->dip.high, g->modes.variance_share};
    pythia_buf_printf(&w->to, "\ngroup %016llx %s %s", (unsigned long long)g->id,
                      pythia_group_status_name(g->status), pythia_cause_name(g->cause));
    write_whole(w, "type", g->type);
    write_whole(w, "level", g->level);
    write_whole(w, "count", g->count);
    write_whole(w, "sampled", g->sampled);
    write_numbers(w, "group", numbers, sizeof(numbers) / sizeof(numbers[0]));
    write_numbers(w, "centers", g->modes.centers, g->modes_q <= .05 ? g->modes.count : 0);
    for (size_t i = 0; i < g->sampled; i++)
        write_whole(w, "row", g->rows[i]->hash);
    pythia_buf_puts(&w->to, "\n  path");
    for (uint32_t i = 0; g->shape && i < g->shape->gap_count; i++) {
        uint32_t edge = g->shape->edges[g->shape->slots[i]];
        pythia_buf_printf(&w->to, " [%s]", requests_edge(w->cct, edge));
    }
    pythia_buf_puts(&w->to, "\n  inclusive");
    write_node(w, g->inclusive);
    write_ranking(w, &g->ranking);
    write_explanations(w, &g->explanations);
    write_splits(w, &g->splits);
}

/* The text, freed with pythia_free. */
static inline char *diagnosis_text(const struct pythia_diagnosis *d, const struct pythia_groups *g)
{
    struct diagnosis_writer w = {.cct = pythia_groups_cct(g),
                                 .vocabulary = pythia_cct_vocabulary(pythia_groups_cct(g))};
    const double all[] = {d->mean_ns, d->sd_ns, d->between_types_share, d->alpha};
    write_numbers(&w, "all", all, 4);
    write_whole(&w, "requests", d->requests);
    for (size_t i = 0; i < d->type_count; i++) {
        const struct pythia_type_result *t = &d->types[i];
        const double numbers[] = {t->mean_ns, t->sd_ns, t->client_mean_ns, t->variance_share,
                                  t->between_share};
        pythia_buf_printf(&w.to, "\ntype %s",
                          pythia_vocabulary_text(w.vocabulary, t->type->name).bytes);
        write_numbers(&w, "type", numbers, 5);
        write_whole(&w, "level", t->level);
        for (uint32_t k = 0; k < t->level_count; k++) {
            write_whole(&w, "groups", t->levels[k].groups);
            write_whole(&w, "requests", t->levels[k].requests);
            write_number(&w, "between", t->levels[k].between_share);
        }
        write_explanations(&w, &t->explanations);
    }
    for (size_t i = 0; i < d->group_count; i++)
        write_group(&w, &d->groups[i]);
    assert_int_equal(pythia_buf_status(&w.to), PYTHIA_OK);
    return w.to.bytes;
}

#endif
