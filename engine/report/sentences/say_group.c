/* The meaning of the figures of a group, in words. */
#include <math.h>
#include <string.h>

#include "document/document_names.h"
#include "pythia/bill.h"
#include "pythia/search.h"
#include "sentences.h"
#include "write/words.h"

#define TOTAL_STAYS .02 /* of the variance; what explains less of the total may explain edges */

/* ---- where ---- */

const struct pythia_ranked_edge *pythia__best_edge(const struct pythia_ranking *r)
{
    const struct pythia_ranked_edge *best = NULL;
    for (size_t i = 0; i < r->edge_count; i++) {
        const struct pythia_ranked_edge *e = &r->edges[i];
        if (!best || (best->few && !e->few) ||
            (best->few == e->few && e->share.share > best->share.share))
            best = e;
    }
    return best;
}

bool pythia__stands_out(const struct pythia_group *g, const struct pythia_ranked_edge *e)
{
    return e && (g->ranking.localised || e->share.low >= .5) &&
           e->share.share >= PYTHIA_FINDING_MIN;
}

/* A large share that is not what is named, because it rests on a handful of requests. */
static void say_rare(struct pythia__doc *d, const struct pythia_report_source *s,
                     const struct pythia_group *g)
{
    const struct pythia_ranked_edge *best = NULL;
    for (size_t i = 0; i < g->ranking.edge_count; i++) {
        const struct pythia_ranked_edge *e = &g->ranking.edges[i];
        if (e->few && e->share.share >= PYTHIA_FINDING_MIN &&
            (!best || e->share.share > best->share.share))
            best = e;
    }
    if (!best)
        return;
    struct pythia_place place = pythia_place_of(pythia_groups_cct(s->groups), best->edge);
    pythia__doc_words(d, " The time ");
    pythia__doc_place_phrase(d, s->vocabulary, &place);
    pythia__doc_words(d, " has ");
    pythia__doc_percent(d, best->share.share);
    pythia__say_rests_on(d, ", which ", true, best->requests, g->ranking.rows);
    pythia__doc_words(d, ".");
}

static void say_edge(struct pythia__doc *d, const struct pythia_report_source *s,
                     const struct pythia_ranked_edge *e)
{
    struct pythia_place place = pythia_place_of(pythia_groups_cct(s->groups), e->edge);
    pythia__doc_place(d, s->vocabulary, &place, true);
    pythia__doc_words(d, " accounts for ");
    pythia__doc_percent(d, e->share.share);
    pythia__doc_words(d, " of the latency variance.");
    if (e->share.outlier_driven)
        pythia__doc_words(
            d,
            " A few requests account for much of it: without clipping them the share is %.0f "
            "%%.",
            100 * e->share.raw_share);
}

static void say_own_time(struct pythia__doc *d, const struct pythia_report_source *s,
                         const struct pythia_own_time *t)
{
    pythia__doc_words(d, "The own time of ");
    pythia__doc_point(d, s->vocabulary, t->tracepoint);
    pythia__doc_words(d, ", in %zu segments, accounts for ", t->segments);
    pythia__doc_percent(d, t->share.slope);
    pythia__doc_words(d, " of the latency variance.");
}

/* The sentence names the own time of a trace point, or a single edge, or what is below a trace
 * point: the closest that surely has much of the variance. */
static void say_place(struct pythia__doc *d, const struct pythia_report_source *s,
                      const struct pythia_group *g)
{
    const struct pythia_cct *cct = pythia_groups_cct(s->groups);
    const struct pythia_ranked_edge *e = pythia__best_edge(&g->ranking);
    if (!e)
        return;
    if (!pythia_ranking_has_shares(&g->ranking) && 1 - g->ranking.kept > .5) {
        pythia__doc_words(d, "Shares are not shown: a few requests account for ");
        pythia__doc_percent(d, 1 - g->ranking.kept);
        pythia__doc_words(d, " of the variance; once their largest values are clipped, the shares "
                             "describe only the rest.");
        return;
    }
    if (g->own.tracepoint != PYTHIA_NONE && !isnan(g->own.share.slope)) {
        say_own_time(d, s, &g->own);
    } else if (pythia__stands_out(g, e)) {
        say_edge(d, s, e);
    } else if (g->inclusive != PYTHIA_CCT_ROOT) {
        pythia__doc_words(d, "More than half of the latency variance lies below ");
        pythia__doc_point(d, s->vocabulary, pythia_cct_tracepoint(cct, g->inclusive));
        pythia__doc_words(d, "; no single edge stands out.");
    } else {
        struct pythia_place place = pythia_place_of(cct, e->edge);
        pythia__doc_words(d, "No single edge stands out: the largest, ");
        pythia__doc_place_phrase(d, s->vocabulary, &place);
        pythia__doc_words(d, ", has ");
        pythia__doc_percent(d, e->share.share);
        pythia__doc_words(d, " of the latency variance.");
    }
    say_rare(d, s, g);
}

void pythia__say_where(struct pythia__doc *d, const struct pythia_report_source *s,
                       const struct pythia_group *g)
{
    switch (g->status) {
    case PYTHIA_GROUP_DIAGNOSED:
        say_place(d, s, g);
        break;
    case PYTHIA_GROUP_SLOW:
        pythia__doc_words(d, "These requests hardly vary: they are always slow. On average ");
        pythia__doc_duration(d, g->mean_ns);
        pythia__doc_words(d, ", more than nearly all other groups.");
        break;
    case PYTHIA_GROUP_TOO_FEW:
        pythia__doc_words(d, "Too few requests to say anything.");
        break;
    case PYTHIA_GROUP_QUIET:
        pythia__doc_words(d, "Nothing stands out.");
        break;
    }
}

/* ---- why ---- */

void pythia__say_rests_on(struct pythia__doc *d, const char *before, bool few, size_t requests,
                          size_t of)
{
    if (!few)
        return;
    pythia__doc_words(d, "%srests on ", before);
    pythia__doc_count(d, (double)requests, "", "");
    pythia__doc_words(d, " of ");
    pythia__doc_count(d, (double)of, " requests", " requests");
}

void pythia__say_means(struct pythia__doc *d, const char *before,
                       const struct pythia_explanation *x)
{
    if (!x->split)
        return;
    const char *condition = strncmp(x->split, "is ", 3) == 0 ? x->split + 3 : x->split;
    bool has = x->kind == PYTHIA_KEY_HAS, with = strcmp(condition, ">= 1") == 0;
    pythia__doc_words(d, "%s", before);
    pythia__doc_duration(d, x->result.high_total);
    if (has) {
        pythia__doc_words(d, with ? " with it, " : " without it, ");
    } else {
        /* "does", or "does not", follows a key that "has" a value. */
        pythia__doc_words(d, strncmp(condition, "does", 4) == 0 ? " when it " : " when ");
        pythia__doc_text(d, PYTHIA__DOC_WORDS, pythia_text_of(condition));
        pythia__doc_words(d, ", ");
    }
    pythia__doc_duration(d, x->result.low_total);
    pythia__doc_words(d, !has ? " otherwise" : with ? " without it" : " with it");
}

void pythia__say_key(struct pythia__doc *d, const struct pythia_vocabulary *v,
                     const struct pythia_explanation *x)
{
    pythia__doc_words(d, x->kind == PYTHIA_KEY_COUNT ? "how often requests hit "
                         : x->kind == PYTHIA_KEY_HAS ? "whether requests hit "
                                                     : "");
    pythia__doc_key(d, v, x);
}

void pythia__say_early_end(struct pythia__doc *d, const struct pythia_vocabulary *v,
                           const struct pythia_explanations *all,
                           const struct pythia_explanation *x)
{
    pythia__doc_count(d, (double)x->without, "", "");
    pythia__doc_words(d, " of ");
    pythia__doc_count(d, (double)all->rows, "", "");
    pythia__doc_words(d, " requests end early: they never reach ");
    pythia__doc_key(d, v, x);
}

/* A trace point that is hit more often, or not at all, is named by what its group says of it. */
static void say_correlation(struct pythia__doc *d, const struct pythia_vocabulary *v,
                            const struct pythia_group *g, const struct pythia_explanation *x)
{
    bool structural = x->kind == PYTHIA_KEY_COUNT || x->kind == PYTHIA_KEY_HAS;
    enum pythia_cause_kind cause = structural ? g->cause : PYTHIA_CAUSE_NONE;
    if (x->ends_early) {
        pythia__say_early_end(d, v, &g->explanations, x);
        return;
    }
    if (cause == PYTHIA_CAUSE_RETRY) {
        pythia__doc_words(d, "Retry: most requests hit ");
        pythia__doc_key(d, v, x);
        pythia__doc_words(d, " once, some up to %.0f times, which correlates with their duration",
                          x->high);
    } else if (cause == PYTHIA_CAUSE_LOOP) {
        pythia__doc_words(d, "Requests hit ");
        pythia__doc_key(d, v, x);
        pythia__doc_words(d, " %.0f to %.0f times, which correlates with their duration", x->low,
                          x->high);
    } else if (cause == PYTHIA_CAUSE_PATH) {
        /* All of them may call it: beside other calls at once, the path has the last to end. */
        pythia__doc_words(d, "The critical path of some requests has ");
        pythia__doc_key(d, v, x);
        pythia__doc_words(d, ", which correlates with their duration");
    } else {
        pythia__doc_words(d, "Correlates with ");
        pythia__say_key(d, v, x);
    }
}

void pythia__say_why(struct pythia__doc *d, const struct pythia_vocabulary *v,
                     const struct pythia_group *g, const struct pythia_explanation *x)
{
    say_correlation(d, v, g, x);
    pythia__say_means(d, x->ends_early ? "; mean " : ": mean ", x);
    pythia__doc_words(d, ".");
    if (x->result.few) {
        pythia__say_rests_on(d, " This ", true, x->result.support, g->explanations.rows);
        pythia__doc_words(d, ".");
    }
    if (x->result.low_confidence)
        pythia__doc_words(d, " Low confidence: few requests for so many values.");
}

double pythia__key_size(const struct pythia_explanation *x)
{
    return fmax(x->result.explained, x->result.explained_edges);
}

bool pythia__leaves_total(const struct pythia_explanation *x)
{
    return x->result.explained < TOTAL_STAYS;
}

void pythia__say_explained(struct pythia__doc *d, const struct pythia_explanation *x)
{
    pythia__doc_percent(d, x->result.explained);
    if (pythia__leaves_total(x) && x->result.explained_edges >= TOTAL_STAYS) {
        pythia__doc_words(d, " of the total, ");
        pythia__doc_percent(d, x->result.explained_edges);
        pythia__doc_words(d, " of where it is spent");
    }
}

void pythia__say_keys_tested(struct pythia__doc *d, const struct pythia_explanations *all,
                             size_t shown)
{
    size_t more = all->found_count - shown;
    if (more > 0)
        pythia__doc_words(d, "%zu more key%s; ", more, more == 1 ? " correlates" : "s correlate");
    pythia__doc_count(d, (double)all->asked, " key", " keys");
    pythia__doc_words(d, " tested, %zu not: constant, identifiers, or in too few requests.",
                      all->skipped_count);
    if (all->measured) {
        pythia__doc_words(d, " Nor was ");
        pythia__say_measured(d, all);
        pythia__doc_words(d, ".");
    }
}

void pythia__say_measured(struct pythia__doc *d, const struct pythia_explanations *all)
{
    struct pythia_text full = pythia_text_of(all->measured);
    const char *at = memchr(full.bytes, '@', full.size);
    struct pythia_text shortest = {full.bytes, at ? (size_t)(at - full.bytes) : full.size};
    pythia__doc_name(d, PYTHIA__DOC_KEY, shortest, full, full);
    pythia__doc_words(d, ", which measures the time itself");
}

/* "each unit of queue_length", "a hit of api:retry", "host.name, where it is in {cp-2},": what a
 * slope is of. */
static void say_unit(struct pythia__doc *d, const struct pythia_vocabulary *v,
                     const struct pythia_explanation *x)
{
    bool level = x->kind == PYTHIA_KEY_CATEGORICAL && x->split;
    pythia__doc_words(d, x->kind == PYTHIA_KEY_HAS     ? "a hit of "
                         : x->kind == PYTHIA_KEY_COUNT ? "each hit of "
                         : level                       ? ""
                                                       : "each unit of ");
    pythia__doc_key(d, v, x);
    if (!level)
        return;
    pythia__doc_words(d, ", where it ");
    pythia__doc_text(d, PYTHIA__DOC_WORDS, pythia_text_of(x->split));
    pythia__doc_words(d, ",");
}

void pythia__say_joint(struct pythia__doc *d, const struct pythia_vocabulary *v,
                       const struct pythia_explanations *all)
{
    const struct pythia_joint *j = &all->joint;
    for (size_t k = 0; k < j->count; k++) {
        pythia__doc_words(d, k == 0 ? "" : k + 1 == j->count ? " and " : ", ");
        pythia__say_key(d, v, &all->found[j->keys[k]]);
    }
    pythia__doc_words(d, " together account for ");
    pythia__doc_percent(d, j->share);
    pythia__doc_words(d, " of the latency variance, the best of them alone for ");
    pythia__doc_percent(d, j->single_share);
    for (size_t k = 0; k < j->count; k++) {
        pythia__doc_words(d, k == 0 ? ": " : k + 1 == j->count ? ", and " : ", ");
        say_unit(d, v, &all->found[j->keys[k]]);
        pythia__doc_words(d, j->slopes[k] < 0 ? " takes off " : " adds ");
        pythia__doc_duration(d, fabs(j->slopes[k]));
    }
    pythia__doc_words(d, " (");
    if (isfinite(j->q)) {
        struct pythia_buf chance = {0};
        pythia_buf_puts(&chance, "q ");
        pythia__add_chance(&chance, j->q);
        pythia__doc_take(d, PYTHIA__DOC_NUMBER, &chance);
        pythia__doc_words(d, ", ");
    }
    pythia__doc_words(d, "confirmed in ");
    pythia__doc_percent(d, j->stability);
    pythia__doc_words(d, " of random halves of the requests).");
}

/* ---- figures ---- */

double pythia__tracing_of_group(const struct pythia_report_source *s, const struct pythia_group *g)
{
    double sum = g->ranking.edge_count ? 0 : NAN;
    for (size_t i = 0; i < g->ranking.edge_count; i++) {
        const struct pythia_ranked_edge *e = &g->ranking.edges[i];
        const struct pythia_edge *edge = pythia_cct_edge_at(pythia_groups_cct(s->groups), e->edge);
        sum += pythia_bill_edge_ns(s->vocabulary, edge->from_tracepoint, edge->to_tracepoint) *
               e->repeats;
    }
    return sum;
}
