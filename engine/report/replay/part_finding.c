/* The section of a finding: what was found, large; then the evidence for it. */
#include <math.h>

#include "document/document_names.h"
#include "page/pictures.h"
#include "pythia/mem.h"
#include "report_parts.h"
#include "results/examples.h"
#include "sentences/sentences.h"
#include "write/words.h"

#define EDGE_MIN   .001 /* share below which an edge is left out of the table */
#define EDGES_MAX  300  /* in it */
#define EDGES_SEEN 4    /* before the rest is folded away, */
#define SEEN_MIN   .02  /* if they have so much */
#define SPLITS_MAX 3

/* ---- the heading ---- */

static const char *cause_words(enum pythia_cause_kind cause)
{
    static const char *const words[] = {[PYTHIA_CAUSE_NONE] = NULL,
                                        [PYTHIA_CAUSE_EDGE] = "a segment of the path takes longer",
                                        [PYTHIA_CAUSE_RETRY] = "something is repeated",
                                        [PYTHIA_CAUSE_LOOP] = "something is done more often",
                                        [PYTHIA_CAUSE_PATH] = "something is done only sometimes",
                                        [PYTHIA_CAUSE_KEY] =
                                            "no segment of the path stands out, but a key does"};
    return words[cause];
}

static void add_finding_heading(const struct pythia__parts *p, const struct pythia__item *item,
                                size_t number, const char *before)
{
    if (item->group && cause_words(item->group->cause)) {
        pythia__doc_open(p->d, PYTHIA__DOC_PAGE, PYTHIA_TEXT(""), NULL);
        pythia__doc_paragraph(p->d, PYTHIA__DOC_EYEBROW);
        pythia__doc_words(p->d, "Finding %zu: %s", number, cause_words(item->group->cause));
        pythia__doc_close(p->d);
    }
    pythia__doc_gap(p->d);
    pythia__doc_heading(p->d, 2, PYTHIA__DOC_PLAIN);
    pythia__doc_words(p->d, "%zu. %s", number, before);
    pythia__doc_type_names(p->d, p->s->vocabulary, item->name, item->unsplit, PYTHIA_NONE);
    pythia__say_difference(p->d, p->s, p->items, p->item_count, item);
    pythia__doc_aside(p->d);
    if (isfinite(item->share)) {
        pythia__doc_percent(p->d, item->share);
        pythia__doc_words(p->d, " of all latency variance");
    }
}

/* How sure it is, what else was seen, and what it was before. */
static void add_notes(const struct pythia__parts *p, const struct pythia_verdict *v)
{
    if (!v)
        return;
    pythia__doc_entry(p->d, "of", PYTHIA__DOC_REMARK);
    pythia__say_instance(p->d, p->s, v);
    pythia__doc_entry(p->d, "sure", PYTHIA__DOC_REMARK);
    pythia__say_standing(p->d, p->s, v);
    pythia__doc_entry(p->d, "also", PYTHIA__DOC_REMARK);
    pythia__say_also(p->d, p->s, v);
    pythia__doc_entry(p->d, "before", PYTHIA__DOC_REMARK);
    pythia__say_change(p->d, p->s, v);
}

/* ---- figures ---- */

static void add_group_figures(const struct pythia__parts *p, const struct pythia_group *g)
{
    const struct {
        const char *label;
        double ns;
    } durations[] = {{"mean", g->mean_ns}, {"sd", g->sd_ns},   {"p50", g->p50_ns},
                     {"p90", g->p90_ns},   {"p99", g->p99_ns}, {"p99.9", g->p99_9_ns}};
    /* Of fewer than a thousand requests one in a thousand is none. */
    size_t count = sizeof(durations) / sizeof(durations[0]) - (g->count < 1000);
    double tracing = pythia__tracing_of_group(p->s, g);
    pythia__doc_gap(p->d);
    pythia__doc_figure(p->d, "requests");
    pythia__doc_count(p->d, (double)g->count, "", "");
    if (p->s->diagnosis->types[g->type].type->moments.weight > g->count) {
        pythia__doc_words(p->d, " of ");
        pythia__doc_count(p->d, (double)p->s->diagnosis->types[g->type].type->moments.weight, "",
                          "");
    }
    for (size_t i = 0; i < count; i++) {
        pythia__doc_figure(p->d, durations[i].label);
        pythia__doc_duration(p->d, durations[i].ns);
    }
    pythia__doc_figure(p->d, "of all variance");
    pythia__doc_percent(p->d, g->variance_share);
    if (isnan(tracing))
        return;
    tracing = fmin(tracing, g->mean_ns);
    pythia__doc_figure(p->d, "added by tracing");
    pythia__doc_duration(p->d, tracing);
    pythia__doc_words(p->d, " (");
    pythia__doc_percent(p->d, g->mean_ns > 0 ? tracing / g->mean_ns : NAN);
    pythia__doc_words(p->d, ")");
}

static void add_modes(const struct pythia__parts *p, const struct pythia_modes *m)
{
    pythia__doc_entry(p->d, "modes", PYTHIA__DOC_TEXT);
    for (size_t i = 0; m->count > 1 && i < m->count; i++) {
        pythia__doc_words(p->d, i ? ", " : "");
        pythia__doc_percent(p->d, m->weights[i]);
        pythia__doc_words(p->d, " near ");
        pythia__doc_duration(p->d, m->centers[i]);
    }
    pythia__doc_words(p->d, m->count > 1 ? "." : "");
}

/* ---- edges ---- */

static const struct pythia__doc_column edge_columns[] = {
    {.title = "share", .bar = true},
    {.title = "interval", .right = true},
    {.title = "mean", .right = true},
    {.title = "sd", .right = true},
    {.title = "segment of the critical path", .name = true, .flexible = true}};

/* The innermost open trace point around an edge, other than those that it leads from and to. */
static uint32_t find_surrounding(const struct pythia_cct *cct, const struct pythia_edge *edge)
{
    for (uint32_t node = edge->context; pythia_cct_depth(cct, node) > 0;
         node = pythia_cct_parent(cct, node)) {
        uint32_t point = pythia_cct_tracepoint(cct, node);
        if (point != edge->from_tracepoint && point != edge->to_tracepoint)
            return point;
    }
    return PYTHIA_NONE;
}

/* The difference of an edge to others of the same name, shown below its name. */
static void add_edge_notes(const struct pythia__parts *p, const struct pythia_group *g,
                           const struct pythia_ranked_edge *e)
{
    const struct pythia_cct *cct = pythia_groups_cct(p->s->groups);
    uint32_t in = find_surrounding(cct, pythia_cct_edge_at(cct, e->edge));
    const char *separator = "";
    pythia__doc_below(p->d);
    if (in != PYTHIA_NONE) {
        pythia__doc_words(p->d, "in ");
        pythia__doc_point(p->d, p->s->vocabulary, in);
        separator = "; ";
    }
    if (e->repeats >= 1.05) {
        pythia__doc_words(p->d, "%s%.3g times a request", separator, e->repeats);
        separator = "; ";
    }
    if (e->requests < g->ranking.rows && !e->few) {
        pythia__doc_words(p->d, "%sin ", separator);
        pythia__doc_count(p->d, (double)e->requests, "", "");
        pythia__doc_words(p->d, " of ");
        pythia__doc_count(p->d, (double)g->ranking.rows, " requests", " requests");
        separator = "; ";
    }
    if (e->share.outlier_driven) {
        pythia__doc_words(p->d,
                          "%sa few requests account for much of it: without clipping them the "
                          "share is ",
                          separator);
        pythia__doc_percent(p->d, e->share.raw_share);
    }
}

static void add_edge_row(const struct pythia__parts *p, const struct pythia_group *g,
                         const struct pythia_ranked_edge *e)
{
    struct pythia_place place = pythia_place_of(pythia_groups_cct(p->s->groups), e->edge);
    pythia__doc_row(p->d, PYTHIA__DOC_PLAIN);
    pythia__doc_cell(p->d);
    pythia__doc_bar(p->d, PYTHIA__DOC_SHARE, e->share.share, e->share.low, e->share.high);
    pythia__doc_percent(p->d, e->share.share);
    pythia__doc_cell(p->d);
    pythia__doc_percent(p->d, e->share.low);
    pythia__doc_words(p->d, " to ");
    pythia__doc_percent(p->d, e->share.high);
    pythia__doc_cell(p->d);
    pythia__doc_duration(p->d, e->share.mean);
    pythia__doc_cell(p->d);
    pythia__doc_duration(p->d, e->share.sd);
    pythia__doc_cell(p->d);
    pythia__doc_place_phrase(p->d, p->s->vocabulary, &place);
    pythia__say_rests_on(p->d, ", ", e->few, e->requests, g->ranking.rows);
    add_edge_notes(p, g, e);
}

static bool is_large_edge(const struct pythia_ranked_edge *e)
{
    return fabs(e->share.share) >= EDGE_MIN;
}

static void add_edge_rows(const struct pythia__parts *p, const struct pythia_group *g)
{
    size_t shown = 0, seen = 0, left = 0;
    double rest = 0;
    if (!pythia_ranking_has_shares(&g->ranking))
        return;
    pythia__doc_title(p->d, 3, "Where the variance arises");
    pythia__doc_table(p->d, edge_columns, sizeof(edge_columns) / sizeof(edge_columns[0]));
    for (size_t i = 0; i < g->ranking.edge_count; i++) {
        const struct pythia_ranked_edge *e = &g->ranking.edges[i];
        if (is_large_edge(e) && shown < EDGES_MAX) {
            seen += seen == shown && seen < EDGES_SEEN && (seen == 0 || e->share.share >= SEEN_MIN);
            shown++;
            add_edge_row(p, g, e);
        } else {
            left++;
            rest += isfinite(e->share.share) ? e->share.share : 0;
        }
    }
    pythia__doc_limit_rows(p->d, seen);
    if (left == 0)
        return;
    pythia__doc_open(p->d, PYTHIA__DOC_PAGE, PYTHIA_TEXT(""), NULL);
    pythia__doc_paragraph(p->d, PYTHIA__DOC_REMARK);
    pythia__doc_count(p->d, (double)left, " segment", " segments");
    pythia__doc_words(p->d,
                      shown == EDGES_MAX ? " left out" : " left out, with less than 0.1 %% each");
    pythia__doc_words(p->d, "; together they account for ");
    pythia__doc_percent(p->d, rest);
    pythia__doc_words(p->d, " of the variance.");
    pythia__doc_close(p->d);
}

/* ---- what to do next ---- */

static void add_proposal(const struct pythia__parts *p, const struct pythia_group *g,
                         const struct pythia_split_proposal *proposal)
{
    const char **labels = pythia_calloc(proposal->part_count + 1, sizeof(char *));
    double *means = pythia_calloc(proposal->part_count + 1, sizeof(*means));
    uint64_t *requests = pythia_calloc(proposal->part_count + 1, sizeof(*requests));
    struct pythia_buf option = {0};
    pythia__doc_open(p->d, PYTHIA__DOC_CARD, PYTHIA_TEXT(""), NULL);
    pythia__doc_entry(p->d, "split", PYTHIA__DOC_TEXT);
    pythia_buf_printf(&option, "--split '%s'", proposal->text); /* which has no quote in it */
    pythia__say_option(p->d, option.bytes ? option.bytes : "",
                       g->explanations.found[proposal->explanation].name);
    p->d->failed = p->d->failed || option.failed || !labels || !means || !requests;
    pythia_buf_free(&option);
    pythia__doc_entry(p->d, "", PYTHIA__DOC_TEXT);
    pythia__say_proposal(p->d, proposal);
    for (size_t i = 0; labels && means && requests && i < proposal->part_count; i++) {
        labels[i] = proposal->parts[i].label;
        means[i] = proposal->parts[i].mean_ns;
        requests[i] = proposal->parts[i].requests;
    }
    if (!p->d->failed)
        pythia__part_table(p->d, labels, means, requests, proposal->part_count);
    pythia__doc_close(p->d);
    pythia_free(labels);
    pythia_free(means);
    pythia_free(requests);
}

static void add_proposals(const struct pythia__parts *p, const struct pythia_group *g)
{
    if (g->splits.count == 0)
        return;
    pythia__doc_title(p->d, 3, "What to split these requests by");
    pythia__doc_open(p->d, PYTHIA__DOC_CARDS, PYTHIA_TEXT(""), NULL);
    for (size_t i = 0; i < g->splits.count && i < SPLITS_MAX; i++)
        add_proposal(p, g, &g->splits.all[i]);
    pythia__doc_close(p->d);
}

static void add_example(const struct pythia__parts *p, const struct pythia_row *row,
                        const char *label, const char *which)
{
    struct pythia_buf id = {0}, address = {0};
    pythia__example_id(&id, row);
    pythia__doc_open(p->d, PYTHIA__DOC_CARD, PYTHIA_TEXT(""), NULL);
    pythia__doc_entry(p->d, label, PYTHIA__DOC_TEXT);
    pythia__doc_words(p->d, "%s, ", which);
    pythia__doc_duration(p->d, (double)row->duration_ns);
    pythia__doc_words(p->d, ": trace ");
    if (p->s->trace_url) {
        pythia__example_address(&address, p->s->trace_url, row);
        pythia__doc_link(p->d, pythia_buf_text(&address));
    }
    pythia__doc_text(p->d, PYTHIA__DOC_WORDS, pythia_buf_text(&id));
    if (p->s->trace_url)
        pythia__doc_unlink(p->d);
    pythia__doc_close(p->d);
    p->d->failed = p->d->failed || id.failed || address.failed;
    pythia_buf_free(&id);
    pythia_buf_free(&address);
}

/* Two requests to compare, side by side. */
static void add_examples(const struct pythia__parts *p, const struct pythia_group *g)
{
    const struct pythia_row *slowest, *typical;
    pythia__find_examples(g, &slowest, &typical);
    if (!slowest)
        return;
    pythia__doc_title(p->d, 3, "Requests to compare");
    pythia__doc_open(p->d, PYTHIA__DOC_CARDS, PYTHIA_TEXT(""), NULL);
    add_example(p, slowest, "trace", "slowest");
    if (typical != slowest)
        add_example(p, typical, "", "typical");
    pythia__doc_close(p->d);
}

/* ---- the whole ---- */

static void add_group_finding(const struct pythia__parts *p, const struct pythia__item *item,
                              size_t number)
{
    const struct pythia_group *g = item->group;
    if (!g) /* never: a finding of this kind has a group */
        return;
    const struct pythia_group *largest = p->largest[g->type];
    struct pythia__standing standing = pythia__standing_of(p->s, g);
    add_finding_heading(p, item, number, "");
    if (g != largest) {
        pythia__doc_entry(p->d, "", PYTHIA__DOC_REMARK);
        pythia__say_unlike(p->d, p->s, g, largest);
    }
    pythia__doc_entry(p->d, "where", PYTHIA__DOC_WHERE);
    pythia__say_group_where(p->d, p->s, g);
    pythia__doc_entry(p->d, "why", PYTHIA__DOC_WHY);
    pythia__say_group_why(p->d, p->s, g);
    add_notes(p, standing.verdict);
    pythia__doc_open(p->d, PYTHIA__DOC_TWO, PYTHIA_TEXT(""), NULL);
    pythia__doc_picture(p->d, pythia__histogram_draw, pythia__histogram_make(p->d, g));
    add_group_figures(p, g);
    pythia__doc_close(p->d);
    add_modes(p, &g->modes);
    pythia__doc_open(p->d, PYTHIA__DOC_PAGE, PYTHIA_TEXT(""), NULL);
    pythia__doc_title(p->d, 3, "Where the time goes, and where it varies");
    pythia__doc_picture(
        p->d, pythia__icicle_draw,
        pythia__icicle_make(p->d, pythia_groups_cct(p->s->groups), p->s->vocabulary, g));
    pythia__doc_close(p->d);
    add_edge_rows(p, g);
    pythia__doc_title(p->d, 3, "What correlates with the latency");
    pythia__part_keys(p, &g->explanations, &g->ranking);
    add_proposals(p, g);
    add_examples(p, g);
}

/* Which path requests of a type take. */
static void add_group_paths(const struct pythia__parts *p, const struct pythia__item *item,
                            size_t number)
{
    const struct pythia_explanations *all = &item->type->explanations;
    const struct pythia_explanation *x = &all->found[0];
    add_finding_heading(p, item, number, "Paths of ");
    pythia__doc_entry(p->d, "where", PYTHIA__DOC_WHERE);
    pythia__doc_percent(p->d, item->type->between_share);
    pythia__doc_words(p->d, " of the variance lies between requests that take different paths.");
    pythia__doc_entry(p->d, "why", PYTHIA__DOC_WHY);
    if (x->ends_early) {
        pythia__say_early_end(p->d, p->s->vocabulary, all, x);
    } else {
        pythia__doc_words(p->d, "Correlates with ");
        pythia__say_key(p->d, p->s->vocabulary, x);
    }
    pythia__say_means(p->d, x->ends_early ? "; mean " : ": mean ", x);
    pythia__doc_words(p->d, ".");
    pythia__part_keys(p, all, NULL);
}

/* A place found in an earlier cycle that still holds, although the last one does not show it. */
static void add_held(const struct pythia__parts *p, const struct pythia__item *item, size_t number)
{
    add_finding_heading(p, item, number, "Found in an earlier cycle: ");
    pythia__doc_entry(p->d, "where", PYTHIA__DOC_WHERE);
    pythia__say_verdict_where(p->d, p->s, item->verdict);
    pythia__doc_entry(p->d, "why", PYTHIA__DOC_WHY);
    pythia__say_verdict_why(p->d, p->s, pythia__group_of(p->s, item->verdict), item->verdict);
    add_notes(p, item->verdict);
}

void pythia__part_finding(const struct pythia__parts *p, const struct pythia__item *item,
                          size_t number)
{
    struct pythia_buf id = {0};
    if (item->group)
        pythia__add_group_target(&id, item->group);
    struct pythia_text target = pythia_buf_text(&id);
    pythia__doc_open(
        p->d, PYTHIA__DOC_FINDING,
        target.size > 0 ? (struct pythia_text){target.bytes + 1, target.size - 1} : target, NULL);
    p->d->failed = p->d->failed || id.failed;
    pythia_buf_free(&id);
    switch (item->kind) {
    case PYTHIA__ITEM_GROUP:
        add_group_finding(p, item, number);
        break;
    case PYTHIA__ITEM_PATHS:
        add_group_paths(p, item, number);
        break;
    case PYTHIA__ITEM_HELD:
        add_held(p, item, number);
        break;
    case PYTHIA__ITEM_ENDED: /* among the ends of the search */
        break;
    }
    pythia__doc_close(p->d);
}
