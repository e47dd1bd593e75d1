#include "report_json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "json_expected.h"
#include "json_splits.h"
#include "page/pictures.h"
#include "pythia/bill.h"
#include "pythia/mem.h"
#include "pythia/status.h"
#include "report_loop.h"
#include "report_verdict.h"
#include "sentences/sentences.h"

#define PATH_MAX 10000 /* events of a path that are listed */

/* ---- explanations ---- */

static json_t *make_key_profile(struct pythia__report_writer *w, const struct pythia_explanation *x)
{
    json_t *out = json_array();
    for (size_t i = 0; i < x->profile_bins; i++) {
        json_t *bin = json_object();
        pythia__json_set(&w->json, bin, "value",
                         pythia__json_text(pythia_text_of(x->profile[i].label)));
        pythia__json_set(&w->json, bin, "requests",
                         json_integer((json_int_t)x->profile[i].requests));
        pythia__json_set(&w->json, bin, "mean_ns", pythia__json_real(x->profile[i].mean_ns));
        pythia__json_append(&w->json, out, bin);
    }
    return out;
}

/* The edges that were asked about are the ranking's with the largest shares; the last loading is of
 * the rest. */
static json_t *make_key_loadings(struct pythia__report_writer *w,
                                 const struct pythia_explanations *all,
                                 const struct pythia_explanation *x,
                                 const struct pythia_ranking *ranking)
{
    json_t *out = json_array();
    for (size_t i = 0; ranking && i + 1 < all->edges; i++) {
        json_t *one = json_object();
        const struct pythia_edge *edge = pythia_cct_edge_at(pythia_groups_cct(w->s->groups),
                                                            ranking->edges[all->chosen[i]].edge);
        pythia__json_set(&w->json, one, "from",
                         pythia__json_event(&w->json, edge->from_tracepoint, edge->from_event));
        pythia__json_set(&w->json, one, "to",
                         pythia__json_event(&w->json, edge->to_tracepoint, edge->to_event));
        pythia__json_set(&w->json, one, "loading", pythia__json_real(x->result.loadings[i]));
        pythia__json_append(&w->json, out, one);
    }
    return out;
}

static json_t *make_key_split(struct pythia__report_writer *w, const struct pythia_explanation *x)
{
    if (!x->split)
        return json_null();
    json_t *out = json_object();
    pythia__json_set(&w->json, out, "condition", pythia__json_text(pythia_text_of(x->split)));
    pythia__json_set(&w->json, out, "high_requests",
                     json_integer((json_int_t)x->result.split.high_rows));
    pythia__json_set(&w->json, out, "high_mean_ns", pythia__json_real(x->result.high_total));
    pythia__json_set(&w->json, out, "low_requests",
                     json_integer((json_int_t)x->result.split.low_rows));
    pythia__json_set(&w->json, out, "low_mean_ns", pythia__json_real(x->result.low_total));
    pythia__json_set(&w->json, out, "variance_share", pythia__json_real(x->result.split_share));
    return out;
}

/* The few requests of all that a finding rests on; null if they are not few. */
static json_t *rests_on(struct pythia__report_writer *w, bool few, size_t requests, size_t of)
{
    if (!few)
        return json_null();
    json_t *out = json_object();
    pythia__json_set(&w->json, out, "requests", json_integer((json_int_t)requests));
    pythia__json_set(&w->json, out, "of", json_integer((json_int_t)of));
    return out;
}

static const char *name_of_column(const struct pythia_explanations *all, size_t column)
{
    for (size_t i = 0; i < all->found_count; i++)
        if (all->found[i].result.column == column)
            return all->found[i].name;
    return NULL;
}

static json_t *make_key_explanation(struct pythia__report_writer *w,
                                    const struct pythia_explanations *all,
                                    const struct pythia_explanation *x,
                                    const struct pythia_ranking *ranking)
{
    const struct pythia_association_result *r = &x->result;
    const char *proxy_of = name_of_column(all, r->proxy_of);
    json_t *out = json_object();
    pythia__json_set(&w->json, out, "key", pythia__json_text(pythia_text_of(x->name)));
    pythia__json_set(&w->json, out, "kind",
                     json_string(x->kind == PYTHIA_KEY_CATEGORICAL || x->kind == PYTHIA_KEY_HAS ||
                                         x->kind == PYTHIA_KEY_MEMBER
                                     ? "categorical"
                                     : "numeric"));
    pythia__json_set(&w->json, out, "structural",
                     json_boolean(x->kind == PYTHIA_KEY_COUNT || x->kind == PYTHIA_KEY_HAS));
    pythia__json_set(&w->json, out, "rank", json_integer((json_int_t)r->rank));
    pythia__json_set(&w->json, out, "effect", pythia__json_real(r->effect));
    pythia__json_set(&w->json, out, "explained", pythia__json_real(r->explained));
    pythia__json_set(&w->json, out, "explained_edges", pythia__json_real(r->explained_edges));
    pythia__json_set(&w->json, out, "rests_on", rests_on(w, r->few, r->support, all->rows));
    pythia__json_set(&w->json, out, "omega_squared", pythia__json_real(r->omega_squared));
    pythia__json_set(&w->json, out, "r", pythia__json_real(r->r));
    pythia__json_set(&w->json, out, "p", pythia__json_real(r->p));
    pythia__json_set(&w->json, out, "q", pythia__json_real(r->q));
    pythia__json_set(&w->json, out, "p_permutation", pythia__json_real(r->p_permutation));
    pythia__json_set(&w->json, out, "stability", pythia__json_real(r->stability));
    pythia__json_set(&w->json, out, "confirmed", json_boolean(r->confirmed));
    pythia__json_set(&w->json, out, "low_confidence", json_boolean(r->low_confidence));
    pythia__json_set(&w->json, out, "proxy_of",
                     proxy_of ? pythia__json_text(pythia_text_of(proxy_of)) : json_null());
    if (x->kind == PYTHIA_KEY_COUNT || x->kind == PYTHIA_KEY_HAS) {
        pythia__json_set(&w->json, out, "requests", json_integer((json_int_t)all->rows));
        pythia__json_set(&w->json, out, "requests_without", json_integer((json_int_t)x->without));
        pythia__json_set(&w->json, out, "ends_early", json_boolean(x->ends_early));
    }
    pythia__json_set(&w->json, out, "low", pythia__json_real(x->low));
    pythia__json_set(&w->json, out, "high", pythia__json_real(x->high));
    pythia__json_set(&w->json, out, "edges", make_key_loadings(w, all, x, ranking));
    pythia__json_set(&w->json, out, "split", make_key_split(w, x));
    pythia__json_set(&w->json, out, "profile", make_key_profile(w, x));
    return out;
}

/* Null where no keys act together. */
static json_t *make_json_joint(struct pythia__report_writer *w,
                               const struct pythia_explanations *all)
{
    const struct pythia_joint *j = &all->joint;
    if (j->count == 0)
        return json_null();
    json_t *out = json_object(), *keys = json_array();
    for (size_t k = 0; k < j->count; k++) {
        const struct pythia_explanation *x = &all->found[j->keys[k]];
        bool levels = x->kind == PYTHIA_KEY_CATEGORICAL;
        json_t *key = json_object();
        pythia__json_set(&w->json, key, "key", pythia__json_text(pythia_text_of(x->name)));
        pythia__json_set(&w->json, key, "structural",
                         json_boolean(x->kind == PYTHIA_KEY_COUNT || x->kind == PYTHIA_KEY_HAS));
        pythia__json_set(&w->json, key, "condition",
                         levels ? pythia__json_text(pythia_text_of(x->split)) : json_null());
        pythia__json_set(&w->json, key, "coefficient", pythia__json_real(j->coefficients[k]));
        pythia__json_set(&w->json, key, "slope_ns", pythia__json_real(j->slopes[k]));
        pythia__json_append(&w->json, keys, key);
    }
    pythia__json_set(&w->json, out, "keys", keys);
    pythia__json_set(&w->json, out, "r", pythia__json_real(j->r));
    pythia__json_set(&w->json, out, "explained", pythia__json_real(j->share));
    pythia__json_set(&w->json, out, "explained_by_best", pythia__json_real(j->single_share));
    pythia__json_set(&w->json, out, "q", pythia__json_real(j->q));
    pythia__json_set(&w->json, out, "stability", pythia__json_real(j->stability));
    return out;
}

static void add_key_explanations(struct pythia__report_writer *w, json_t *to,
                                 const struct pythia_explanations *all,
                                 const struct pythia_ranking *ranking)
{
    json_t *found = json_array(), *skipped = json_array();
    for (size_t i = 0; i < all->found_count; i++)
        pythia__json_append(&w->json, found, make_key_explanation(w, all, &all->found[i], ranking));
    for (size_t i = 0; i < all->skipped_count; i++) {
        json_t *one = json_object();
        pythia__json_set(&w->json, one, "key",
                         pythia__json_text(pythia_text_of(all->skipped[i].name)));
        pythia__json_set(&w->json, one, "reason", json_string(all->skipped[i].reason));
        pythia__json_append(&w->json, skipped, one);
    }
    pythia__json_set(&w->json, to, "keys_asked", json_integer((json_int_t)all->asked));
    pythia__json_set(&w->json, to, "explanations", found);
    pythia__json_set(&w->json, to, "joint", make_json_joint(w, all));
    pythia__json_set(&w->json, to, "skipped_keys", skipped);
}

/* ---- groups ---- */

static json_t *make_report_numbers(struct pythia__report_writer *w, const double *values,
                                   size_t count)
{
    json_t *out = json_array();
    for (size_t i = 0; i < count; i++)
        pythia__json_append(&w->json, out, pythia__json_real(values[i]));
    return out;
}

static json_t *make_group_modes(struct pythia__report_writer *w, const struct pythia_group *g)
{
    const struct pythia_modes *m = &g->modes;
    bool several = m->count > 1;
    json_t *out = json_object();
    pythia__json_set(&w->json, out, "p", pythia__json_real(g->dip.p));
    pythia__json_set(&w->json, out, "q", pythia__json_real(g->modes_q));
    pythia__json_set(&w->json, out, "count", json_integer((json_int_t)(several ? m->count : 1)));
    pythia__json_set(&w->json, out, "cuts_ns",
                     make_report_numbers(w, m->cuts, several ? m->count - 1 : 0));
    pythia__json_set(&w->json, out, "centers_ns",
                     make_report_numbers(w, m->centers, several ? m->count : 0));
    pythia__json_set(&w->json, out, "weights",
                     make_report_numbers(w, m->weights, several ? m->count : 0));
    pythia__json_set(&w->json, out, "variance_share",
                     several ? pythia__json_real(m->variance_share) : json_null());
    return out;
}

/* The durations in bins of equal width on the log scale. */
static json_t *make_group_histogram(struct pythia__report_writer *w, const struct pythia_group *g)
{
    json_t *out = json_array();
    uint64_t counts[PYTHIA__HISTOGRAM_BINS] = {0};
    double low = 0, width = 0, high = pythia_sketch_max(g->sketch);
    size_t bins = pythia__count_bins(g->sketch, PYTHIA__HISTOGRAM_BINS, counts, &low, &width);
    for (size_t i = 0; i < bins; i++) {
        json_t *one = json_object();
        pythia__json_set(&w->json, one, "low_ns", pythia__json_real(low * exp(width * (double)i)));
        pythia__json_set(&w->json, one, "high_ns",
                         pythia__json_real(width > 0 ? low * exp(width * (double)(i + 1)) : high));
        pythia__json_set(&w->json, one, "count", json_integer((json_int_t)counts[i]));
        pythia__json_append(&w->json, out, one);
    }
    return out;
}

/* The most common path, or its beginning: nobody reads ten thousand events, and each takes some
 * 500 bytes. */
static void add_group_path(struct pythia__report_writer *w, json_t *to,
                           const struct pythia_group *g)
{
    json_t *out = json_array();
    const struct pythia_cct *cct = pythia_groups_cct(w->s->groups);
    uint32_t count = g->shape && g->shape->gap_count > 0 ? g->shape->gap_count + 1 : 0;
    for (uint32_t i = 0; i < count && i < PATH_MAX; i++) {
        bool first = i == 0;
        const struct pythia_edge *edge =
            pythia_cct_edge_at(cct, g->shape->edges[g->shape->slots[first ? 0 : i - 1]]);
        uint8_t kind = first ? edge->from_event : edge->to_event;
        uint32_t point = first ? edge->from_tracepoint : edge->to_tracepoint;
        /* The context of an edge is what is open in it: the start that it leaves, and the end that
         * it leads to, are inside. */
        uint32_t inside = first ? kind == PYTHIA_EVENT_START : kind == PYTHIA_EVENT_END;
        uint32_t depth = pythia_cct_depth(cct, edge->context) - inside;
        json_t *one = pythia__json_event(&w->json, point, kind);
        pythia__json_set(&w->json, one, "depth", json_integer(depth));
        pythia__json_append(&w->json, out, one);
    }
    pythia__json_set(&w->json, to, "path", out);
    if (count > PATH_MAX)
        pythia__json_set(&w->json, to, "path_events", json_integer((json_int_t)count));
}

/* The time that tracing adds, if measured, in ns and as a share. It is a part of the duration:
 * what lies outside of a short edge is its neighbours'. */
static void add_tracing_cost(struct pythia__report_writer *w, json_t *to, double cost_ns,
                             double of_ns)
{
    if (isnan(cost_ns))
        return;
    cost_ns = cost_ns > of_ns ? of_ns : cost_ns;
    pythia__json_set(&w->json, to, "tracing_ns", pythia__json_real(cost_ns));
    pythia__json_set(&w->json, to, "tracing_share",
                     pythia__json_real(of_ns > 0 ? cost_ns / of_ns : NAN));
}

static json_t *make_group_edges(struct pythia__report_writer *w, const struct pythia_group *g)
{
    bool shares = pythia_ranking_has_shares(&g->ranking);
    json_t *out = json_array();
    for (size_t i = 0; i < g->ranking.edge_count; i++) {
        const struct pythia_ranked_edge *e = &g->ranking.edges[i];
        const struct pythia_edge *edge =
            pythia_cct_edge_at(pythia_groups_cct(w->s->groups), e->edge);
        json_t *one = json_object();
        pythia__json_set(&w->json, one, "from",
                         pythia__json_event(&w->json, edge->from_tracepoint, edge->from_event));
        pythia__json_set(&w->json, one, "to",
                         pythia__json_event(&w->json, edge->to_tracepoint, edge->to_event));
        pythia__json_set_context(&w->json, one, "context", pythia_groups_cct(w->s->groups),
                                 edge->context);
        pythia__json_set(&w->json, one, "requests", json_integer((json_int_t)e->requests));
        pythia__json_set(&w->json, one, "rests_on",
                         rests_on(w, e->few, e->requests, g->ranking.rows));
        pythia__json_set(&w->json, one, "repeats", pythia__json_real(e->repeats));
        pythia__json_set(&w->json, one, "mean_ns", pythia__json_real(e->share.mean));
        pythia__json_set(&w->json, one, "sd_ns", pythia__json_real(e->share.sd));
        pythia__json_set(&w->json, one, "cov", pythia__json_real(e->share.cov));
        pythia__json_set(&w->json, one, "share", pythia__json_real(shares ? e->share.share : NAN));
        pythia__json_set(&w->json, one, "share_low",
                         pythia__json_real(shares ? e->share.low : NAN));
        pythia__json_set(&w->json, one, "share_high",
                         pythia__json_real(shares ? e->share.high : NAN));
        pythia__json_set(&w->json, one, "raw_share", pythia__json_real(e->share.raw_share));
        pythia__json_set(&w->json, one, "outlier_driven", json_boolean(e->share.outlier_driven));
        pythia__json_set(&w->json, one, "tail_share", pythia__json_real(e->tail_share));
        pythia__json_set(&w->json, one, "mode_share", pythia__json_real(e->mode_share));
        pythia__json_set(&w->json, one, "modes_p", pythia__json_real(e->modes_p));
        add_tracing_cost(
            w, one,
            pythia_bill_edge_ns(w->s->vocabulary, edge->from_tracepoint, edge->to_tracepoint) *
                e->repeats,
            e->share.mean);
        pythia__json_append(&w->json, out, one);
    }
    return out;
}

/* Requests that took longest, to look at one by one. */
static json_t *make_group_examples(struct pythia__report_writer *w, const struct pythia_group *g)
{
    enum { EXAMPLES = 3 };
    const struct pythia_row *slowest[EXAMPLES] = {NULL};
    for (size_t i = 0; i < g->sampled; i++) {
        const struct pythia_row *row = g->rows[i];
        for (size_t k = 0; k < EXAMPLES; k++)
            if (!slowest[k] || row->duration_ns > slowest[k]->duration_ns) {
                const struct pythia_row *swap = slowest[k];
                slowest[k] = row;
                row = swap;
                if (!row)
                    break;
            }
    }
    json_t *out = json_array();
    for (size_t k = 0; k < EXAMPLES && slowest[k]; k++) {
        char id[40];
        snprintf(id, sizeof(id), "%016" PRIx64 "%016" PRIx64, slowest[k]->trace.high,
                 slowest[k]->trace.low);
        json_t *one = json_object();
        pythia__json_set(&w->json, one, "trace_id", json_string(id));
        pythia__json_set(&w->json, one, "duration_ns", json_integer(slowest[k]->duration_ns));
        pythia__json_append(&w->json, out, one);
    }
    return out;
}

static json_t *group_id(const struct pythia_group *g)
{
    return pythia__json_group_id(g->id);
}

/* The groups of the skeleton that it belongs to, if these are known and it is not one of them. */
static void add_group_lineage(struct pythia__report_writer *w, json_t *to,
                              const struct pythia_group *g)
{
    json_t *out = json_array();
    uint64_t parent = pythia_lineage_parent(&g->lineage);
    for (uint32_t i = 0; i < g->lineage.count; i++) {
        pythia__json_append(&w->json, out, pythia__json_group_id(g->lineage.ids[i]));
        parent = g->lineage.ids[i] == g->id ? 0 : parent;
    }
    pythia__json_set(&w->json, to, "parent", pythia__json_group_id(parent));
    pythia__json_set(&w->json, to, "lineage", out);
}

static struct pythia_text type_name(const struct pythia__report_writer *w,
                                    const struct pythia_group *g)
{
    return pythia_vocabulary_text(w->s->vocabulary, w->s->diagnosis->types[g->type].type->name);
}

/* How many requests were seen, where they stand for more than themselves. */
static void add_seen_count(struct pythia__report_writer *w, json_t *to, uint64_t seen_count,
                           uint64_t count)
{
    if (seen_count != count)
        pythia__json_set(&w->json, to, "seen", json_integer((json_int_t)seen_count));
}

static json_t *own_time(struct pythia__report_writer *w, const struct pythia_own_time *t)
{
    if (t->tracepoint == PYTHIA_NONE)
        return json_null();
    const struct pythia_finding finding = {pythia_place_own(t->tracepoint), t->share.slope,
                                           t->share.low, t->share.high};
    json_t *out = pythia__json_finding(&w->json, &finding);
    pythia__json_set(&w->json, out, "segments", json_integer((json_int_t)t->segments));
    pythia__json_set(&w->json, out, "mean_ns", pythia__json_real(t->mean_ns));
    return out;
}

static json_t *make_patterns(struct pythia__report_writer *w, const struct pythia_group *g,
                             const struct pythia_group *other)
{
    json_t *out = json_array();
    uint32_t *patterns = NULL;
    size_t count = 0;
    if (pythia__points_only_in(pythia_groups_cct(w->s->groups), w->s->vocabulary, g, other,
                               &patterns, &count) != PYTHIA_OK)
        w->json.failed = true;
    for (size_t i = 0; i < count; i++)
        pythia__json_append(
            &w->json, out,
            pythia__json_text(pythia_vocabulary_text(w->s->vocabulary, patterns[i])));
    pythia_free(patterns);
    return out;
}

/* Its difference to the largest group of its type; null for that one itself. */
static json_t *make_unlike(struct pythia__report_writer *w, const struct pythia_group *g,
                           const struct pythia_group *largest)
{
    if (g == largest)
        return json_null();
    json_t *out = json_object();
    pythia__json_set(&w->json, out, "group", group_id(largest));
    pythia__json_set(&w->json, out, "passes", make_patterns(w, g, largest));
    pythia__json_set(&w->json, out, "lacks", make_patterns(w, largest, g));
    return out;
}

static json_t *make_group(struct pythia__report_writer *w, const struct pythia_group *g,
                          const struct pythia_group *largest)
{
    json_t *out = json_object();
    pythia__json_set(&w->json, out, "id", group_id(g));
    add_group_lineage(w, out, g);
    pythia__json_set(&w->json, out, "request_type", pythia__json_text(type_name(w, g)));
    pythia__json_set(&w->json, out, "level", json_integer(g->level));
    pythia__json_set(&w->json, out, "count", json_integer((json_int_t)g->count));
    add_seen_count(w, out, g->seen, g->count);
    pythia__json_set(
        &w->json, out, "type_count",
        json_integer((json_int_t)w->s->diagnosis->types[g->type].type->moments.weight));
    pythia__json_set(&w->json, out, "sampled", json_integer((json_int_t)g->sampled));
    pythia__json_set(&w->json, out, "mean_ns", pythia__json_real(g->mean_ns));
    pythia__json_set(&w->json, out, "sd_ns", pythia__json_real(g->sd_ns));
    pythia__json_set(&w->json, out, "cov", pythia__json_real(g->cov));
    pythia__json_set(&w->json, out, "p50_ns", pythia__json_real(g->p50_ns));
    pythia__json_set(&w->json, out, "p90_ns", pythia__json_real(g->p90_ns));
    pythia__json_set(&w->json, out, "p99_ns", pythia__json_real(g->p99_ns));
    pythia__json_set(&w->json, out, "p99_9_ns", pythia__json_real(g->p99_9_ns));
    pythia__json_set(&w->json, out, "variance_share", pythia__json_real(g->variance_share));
    add_tracing_cost(w, out, pythia__tracing_of_group(w->s, g), g->mean_ns);
    pythia__json_set(&w->json, out, "status",
                     json_string(pythia_group_status_name(
                         pythia__standing_of(w->s, g).quiet ? PYTHIA_GROUP_QUIET : g->status)));
    pythia__json_set(&w->json, out, "cause", json_string(pythia_cause_name(g->cause)));
    pythia__json_set(
        &w->json, out, "clipping_removes",
        pythia__json_real(g->ranking.edge_count > 0 ? fmax(0, 1 - g->ranking.kept) : NAN));
    pythia__json_set(&w->json, out, "localised", json_boolean(g->ranking.localised));
    pythia__json_set_context(&w->json, out, "inclusive", pythia_groups_cct(w->s->groups),
                             g->inclusive);
    pythia__json_set(&w->json, out, "own_time", own_time(w, &g->own));
    pythia__json_set(&w->json, out, "modes", make_group_modes(w, g));
    pythia__json_set(&w->json, out, "histogram", make_group_histogram(w, g));
    pythia__json_set(&w->json, out, "slowest", make_group_examples(w, g));
    add_group_path(w, out, g);
    pythia__json_set(&w->json, out, "edges", make_group_edges(w, g));
    add_key_explanations(w, out, &g->explanations, &g->ranking);
    pythia__json_set(&w->json, out, "splits", pythia__json_proposals(&w->json, g));
    pythia__json_set(&w->json, out, "finding", pythia__json_group_finding(w, g));
    pythia__json_set(&w->json, out, "unlike", make_unlike(w, g, largest));
    return out;
}

/* ---- types, next, open ---- */

static json_t *request_type(struct pythia__report_writer *w, const struct pythia_type_result *r)
{
    json_t *out = json_object(), *levels = json_array();
    pythia__json_set(&w->json, out, "name",
                     pythia__json_text(pythia_vocabulary_text(w->s->vocabulary, r->type->name)));
    pythia__json_set(&w->json, out, "unsplit",
                     pythia__json_text(pythia_vocabulary_text(w->s->vocabulary, r->type->unsplit)));
    pythia__json_set(&w->json, out, "count", json_integer((json_int_t)r->type->moments.weight));
    add_seen_count(w, out, r->type->moments.n, r->type->moments.weight);
    pythia__json_set(&w->json, out, "mean_ns", pythia__json_real(r->mean_ns));
    pythia__json_set(&w->json, out, "sd_ns", pythia__json_real(r->sd_ns));
    pythia__json_set(&w->json, out, "client_mean_ns", pythia__json_real(r->client_mean_ns));
    pythia__json_set(&w->json, out, "variance_share", pythia__json_real(r->variance_share));
    pythia__json_set(&w->json, out, "between_paths_share", pythia__json_real(r->between_share));
    pythia__json_set(&w->json, out, "level", json_integer(r->level));
    for (uint32_t i = 0; i < r->level_count; i++) {
        json_t *level = json_object();
        pythia__json_set(&w->json, level, "groups", json_integer((json_int_t)r->levels[i].groups));
        pythia__json_set(&w->json, level, "requests",
                         json_integer((json_int_t)r->levels[i].requests));
        pythia__json_set(&w->json, level, "between_paths_share",
                         pythia__json_real(r->levels[i].between_share));
        pythia__json_append(&w->json, levels, level);
    }
    pythia__json_set(&w->json, out, "levels", levels);
    add_key_explanations(w, out, &r->explanations, NULL);
    return out;
}

static json_t *make_suggestion(struct pythia__report_writer *w, const struct pythia_suggestion *s)
{
    const struct pythia_group *g = &w->s->diagnosis->groups[s->group];
    const struct pythia_edge *edge = pythia_cct_edge_at(pythia_groups_cct(w->s->groups), s->edge);
    json_t *out = json_object();
    pythia__json_set(&w->json, out, "trace_point", pythia__json_point(&w->json, s->tracepoint));
    pythia__json_set(&w->json, out, "request_type", pythia__json_text(type_name(w, g)));
    pythia__json_set(&w->json, out, "group", group_id(g));
    pythia__json_set(&w->json, out, "from",
                     pythia__json_event(&w->json, edge->from_tracepoint, edge->from_event));
    pythia__json_set(&w->json, out, "to",
                     pythia__json_event(&w->json, edge->to_tracepoint, edge->to_event));
    pythia__json_set(&w->json, out, "gain", pythia__json_real(s->gain));
    pythia__json_set(&w->json, out, "cost_ns", pythia__json_real(s->cost_ns));
    pythia__json_set(&w->json, out, "reason", pythia__json_text(pythia_text_of(s->reason)));
    return out;
}

static int compare_names(const void *a, const void *b)
{
    return pythia_text_compare(*(const struct pythia_text *)a, *(const struct pythia_text *)b);
}

/* The points that were open, in order of name: those of the list that were seen, or all that were
 * seen. */
static json_t *make_open_points(struct pythia__report_writer *w)
{
    const struct pythia_vocabulary *v = w->s->vocabulary;
    uint32_t count = pythia_vocabulary_tracepoints(v);
    struct pythia_text *names = pythia_calloc(count, sizeof(*names));
    json_t *out = json_array();
    size_t n = 0;
    w->json.failed = w->json.failed || !names;
    for (uint32_t i = 0; names && i < count; i++)
        if (!w->s->open || pythia_open_points_has(w->s->open, i))
            names[n++] = pythia_vocabulary_tracepoint_id(v, i);
    if (n > 0)
        qsort(names, n, sizeof(*names), compare_names);
    for (size_t i = 0; i < n; i++)
        pythia__json_append(&w->json, out, pythia__json_text(names[i]));
    pythia_free(names);
    return out;
}

static json_t *split_by(struct pythia__report_writer *w)
{
    const struct pythia_diagnosis *d = w->s->diagnosis;
    const struct pythia_type **types = pythia_calloc(d->type_count, sizeof(struct pythia_type *));
    w->json.failed = w->json.failed || !types;
    for (size_t i = 0; types && i < d->type_count; i++)
        types[i] = d->types[i].type;
    json_t *out = pythia__json_split_by(&w->json, pythia_groups_key(w->s->groups), types,
                                        types ? d->type_count : 0);
    pythia_free(types);
    return out;
}

/* Only of a stream that is a sample. */
static void add_sampling_numbers(struct pythia__report_writer *w, json_t *to)
{
    const struct pythia_diagnosis *d = w->s->diagnosis;
    if (d->seen == d->requests)
        return;
    json_t *out = json_object();
    pythia__json_set(&w->json, out, "seen", json_integer((json_int_t)d->seen));
    pythia__json_set(&w->json, out, "requests", json_integer((json_int_t)d->requests));
    pythia__json_set(&w->json, to, "sampling", out);
}

static const char *measure_name(enum pythia_measure measure)
{
    static const char *const names[] = {"share", "variance", "cov", "modes", "tail", "slow"};
    return names[measure];
}

/* Tracing, against what it may take. */
static json_t *make_overhead(struct pythia__report_writer *w,
                             const struct pythia_report_overhead *o)
{
    json_t *out = json_object(), *list = json_array();
    for (size_t i = 0; i < o->listed; i++) {
        json_t *one = json_object();
        pythia__json_set(&w->json, one, "trace_point",
                         pythia__json_point(&w->json, o->dropped[i].tracepoint));
        pythia__json_set(&w->json, one, "share", pythia__json_real(o->dropped[i].share));
        pythia__json_set(&w->json, one, "variance_share",
                         pythia__json_real(o->dropped[i].explained));
        pythia__json_set(&w->json, one, "reason", json_string(o->dropped[i].reason));
        pythia__json_append(&w->json, list, one);
    }
    pythia__json_set(&w->json, out, "share", pythia__json_real(o->share));
    pythia__json_set(&w->json, out, "limit", pythia__json_real(o->limit));
    pythia__json_set(&w->json, out, "cost_ns", pythia__json_real(o->cost_ns));
    pythia__json_set(&w->json, out, "requests", pythia__json_count(o->requests));
    pythia__json_set(&w->json, out, "beyond_limit", json_boolean(o->beyond_limit));
    pythia__json_set(&w->json, out, "dropped_count", pythia__json_count(o->dropped_count));
    pythia__json_set(&w->json, out, "dropped", list);
    return out;
}

json_t *pythia__json_overhead(const struct pythia_vocabulary *vocabulary,
                              const struct pythia_report_overhead *overhead)
{
    struct pythia__report_writer w = {.json = {.vocabulary = vocabulary}};
    json_t *out = make_overhead(&w, overhead);
    pythia__json_close(&w.json);
    if (!w.json.failed)
        return out;
    json_decref(out);
    return NULL;
}

static json_t *make_json_groups(struct pythia__report_writer *w)
{
    const struct pythia_diagnosis *d = w->s->diagnosis;
    const struct pythia_group **largest = pythia__largest_groups(d);
    json_t *out = json_array();
    w->json.failed = w->json.failed || !largest;
    for (size_t i = 0; largest && i < d->group_count; i++)
        pythia__json_append(&w->json, out,
                            make_group(w, &d->groups[i], largest[d->groups[i].type]));
    pythia_free(largest);
    return out;
}

static json_t *make_saturated(struct pythia__report_writer *w)
{
    const struct pythia_saturated *all = w->s->saturated;
    json_t *out = json_array();
    for (size_t i = 0; i < all->count; i++) {
        const struct pythia_saturated_key *key = &all->keys[i];
        json_t *one = json_object();
        pythia__json_set(&w->json, one, "key", pythia__json_text(key->name));
        pythia__json_set(&w->json, one, "limit", pythia__json_real(key->found.limit));
        pythia__json_set(&w->json, one, "share", pythia__json_real(key->found.share));
        pythia__json_set(&w->json, one, "samples", pythia__json_count(key->samples));
        pythia__json_set(&w->json, one, "bursts", pythia__json_count(key->found.bursts));
        pythia__json_set(&w->json, one, "longest_burst", pythia__json_count(key->found.longest));
        pythia__json_set(&w->json, one, "trend", pythia__json_real(key->found.trend));
        pythia__json_append(&w->json, out, one);
    }
    return out;
}

json_t *pythia__report_json(const struct pythia_report_source *source)
{
    const unsigned long failures = pythia_mem_failures();
    const struct pythia_diagnosis *d = source->diagnosis;
    struct pythia__report_writer w = {.json = {.vocabulary = source->vocabulary}, .s = source};
    json_t *out = json_object(), *types = json_array(), *next = json_array();
    pythia__doc_begin(&w.d);
    pythia__json_set(&w.json, out, "schema", json_string("pythia.report/1"));
    json_t *input = pythia__json_input(&w.json, source->paths, source->path_count, source->input);
    if (source->live)
        pythia__json_set(&w.json, input, "live", json_true());
    pythia__json_set(&w.json, out, "input", input);
    add_sampling_numbers(&w, out);
    pythia__json_set(&w.json, out, "ranked_by", json_string(measure_name(source->measure)));
    pythia__json_set(&w.json, out, "alpha", pythia__json_real(d->alpha));
    pythia__json_set(&w.json, out, "mean_ns", pythia__json_real(d->mean_ns));
    pythia__json_set(&w.json, out, "sd_ns", pythia__json_real(d->sd_ns));
    pythia__json_set(&w.json, out, "between_types_share",
                     pythia__json_real(d->between_types_share));
    for (size_t i = 0; i < d->type_count; i++)
        pythia__json_append(&w.json, types, request_type(&w, &d->types[i]));
    for (size_t i = 0; i < source->next_count; i++)
        pythia__json_append(&w.json, next, make_suggestion(&w, &source->next[i]));
    pythia__json_set(&w.json, out, "split_by", split_by(&w));
    pythia__json_set(&w.json, out, "request_types", types);
    if (d->not_asked > 0)
        pythia__json_set(&w.json, out, "types_without_groups",
                         json_integer((json_int_t)d->not_asked));
    pythia__json_set(&w.json, out, "groups", make_json_groups(&w));
    if (source->saturated && source->saturated->count > 0)
        pythia__json_set(&w.json, out, "saturated", make_saturated(&w));
    pythia__json_set(&w.json, out, "next", next);
    pythia__json_set(&w.json, out, "open", make_open_points(&w));
    if (source->expected)
        pythia__json_set(&w.json, out, "expectations", pythia__json_expected(&w.json, source));
    if (source->verdicts)
        pythia__json_set(&w.json, out, "verdicts", pythia__json_verdicts(&w));
    if (source->loop)
        pythia__json_loop(&w, out);
    pythia__json_close(&w.json);
    pythia__doc_free(&w.d);
    if (w.json.failed || pythia_mem_failures() != failures) {
        json_decref(out);
        return NULL;
    }
    return out;
}
