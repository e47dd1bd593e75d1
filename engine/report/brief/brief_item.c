/* One item of the short form: its title, where the variance lies, what correlates with
 * it, and how sure that is. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "brief.h"
#include "document/document_names.h"
#include "pythia/mem.h"
#include "pythia/place.h"
#include "sentences/report_why.h"
#include "sentences/sentences.h"
#include "write/words.h"

#define PLACES_SHOWN 2
#define MATTERS_MIN  .01 /* part of the variance of all requests that a cause has to account for */

static const struct pythia_vocabulary *names_of(const struct pythia__brief *b)
{
    return b->s->vocabulary;
}

static const struct pythia_explanations *explanations_of(const struct pythia__item *item)
{
    return item->group                        ? &item->group->explanations
           : item->kind == PYTHIA__ITEM_PATHS ? &item->type->explanations
                                              : NULL;
}

/* The key that explains it: the verdict's, or else the best; NULL if there is none. A key of which
 * time only moves from one place to another is no reason for a long duration. */
static const struct pythia_explanation *key_of(const struct pythia__item *item)
{
    const struct pythia_explanations *all = explanations_of(item);
    const char *name = item->verdict && item->group ? item->verdict->key : NULL;
    for (size_t i = 0; name && all && i < all->found_count; i++)
        if (strcmp(all->found[i].name, name) == 0)
            return !pythia__leaves_total(&all->found[i]) ? &all->found[i] : NULL;
    return all && all->found_count > 0 && !pythia__leaves_total(&all->found[0]) ? &all->found[0]
                                                                                : NULL;
}

/* ---- how sure it is ---- */

static double lower_bound(const struct pythia_group *g)
{
    if (g->own.tracepoint != PYTHIA_NONE)
        return g->own.share.low;
    return g->ranking.localised && g->ranking.edge_count > 0 ? g->ranking.edges[0].share.low : 0;
}

static enum pythia_confidence confidence_of(const struct pythia__item *item)
{
    if (item->verdict)
        return item->verdict->confidence;
    double low = item->group ? lower_bound(item->group) : 0;
    return low >= .5                   ? PYTHIA_CONFIDENCE_HIGH
           : low >= PYTHIA_FINDING_MIN ? PYTHIA_CONFIDENCE_MEDIUM
                                       : PYTHIA_CONFIDENCE_LOW;
}

bool pythia__item_matters(const struct pythia__brief *b, const struct pythia__item *item)
{
    bool largest = item == &b->items[0] && isnan(item->share);
    return item->kind != PYTHIA__ITEM_ENDED && (item->share >= MATTERS_MIN || largest) &&
           (confidence_of(item) != PYTHIA_CONFIDENCE_LOW || item->kind == PYTHIA__ITEM_PATHS);
}

static void add_chance(struct pythia__doc *d, double q)
{
    char text[32];
    (void)snprintf(text, sizeof(text), q < .001 ? "q < 0.001" : "q = %.2g", q);
    pythia__doc_text(d, PYTHIA__DOC_NUMBER, pythia_text_of(text));
}

void pythia__brief_sure(const struct pythia__brief *b, const struct pythia__item *item)
{
    const struct pythia_explanation *x = key_of(item);
    const struct pythia_explanations *all = explanations_of(item);
    double requests = item->group     ? (double)item->group->count
                      : item->verdict ? (double)item->verdict->requests
                                      : (double)item->type->type->moments.weight;
    if (item->kind == PYTHIA__ITEM_PATHS)
        pythia__doc_words(b->d, "of ");
    else
        pythia__doc_words(b->d, "%s: ", pythia_confidence_name(confidence_of(item)));
    pythia__doc_count(b->d, requests, " request", " requests");
    if (item->verdict && item->verdict->since > 0)
        pythia__doc_words(b->d, " in the last cycle%s, since cycle %zu",
                          item->group || item->type ? "" : " with any",
                          (size_t)item->verdict->since);
    if (!x)
        return;
    pythia__doc_words(b->d, ", explains ");
    pythia__doc_percent(b->d, x->result.explained);
    pythia__doc_words(b->d, ", ");
    add_chance(b->d, x->result.q);
    if (x->result.few)
        pythia__doc_words(b->d, "; rests on %zu of %zu requests", x->result.support, all->rows);
    if (x->result.low_confidence)
        pythia__doc_words(b->d, "; few requests for so many values");
}

void pythia__brief_measured(const struct pythia__brief *b, const struct pythia__item *item)
{
    const struct pythia_explanations *all = explanations_of(item);
    const struct pythia_explanation *x = key_of(item);
    /* Where a key explains most of it, nobody misses the number. */
    if (!all || !all->measured || all->measured_share < PYTHIA_FINDING_MIN ||
        (x && x->result.explained >= all->measured_share / 2))
        return;
    pythia__say_measured(b->d, all);
}

void pythia__brief_instance(const struct pythia__brief *b, const struct pythia__item *item)
{
    const struct pythia_verdict *v = item->verdict;
    if (!v && item->group)
        v = pythia__standing_of(b->s, item->group).verdict;
    if (v)
        pythia__say_instance(b->d, b->s, v);
}

/* ---- the title ---- */

/* The root that most of the time is spent in; PYTHIA_NONE: not known. */
static uint32_t main_root(const struct pythia__brief *b, const struct pythia_group *g)
{
    const struct pythia_cct *cct = pythia_groups_cct(b->s->groups);
    uint32_t best = PYTHIA_NONE;
    double most = -1;
    for (size_t i = 0; g && i < g->ranking.context_count; i++) {
        const struct pythia_ranked_context *c = &g->ranking.contexts[i];
        if (pythia_cct_depth(cct, c->node) == 1 && c->mean_ns > most) {
            best = pythia_cct_tracepoint(cct, c->node);
            most = c->mean_ns;
        }
    }
    return best;
}

/* Groups of one type look different only if all of them are named by the same root. */
static const struct pythia_group *largest_group(const struct pythia__brief *b,
                                                const struct pythia__item *item)
{
    const struct pythia_group *best = NULL;
    for (size_t i = 0; i < b->s->diagnosis->group_count; i++) {
        const struct pythia_group *g = &b->s->diagnosis->groups[i];
        if (&b->s->diagnosis->types[g->type] == item->type && g->ranking.context_count > 0 &&
            (!best || g->count > best->count))
            best = g;
    }
    return best;
}

/* Is a type named by its roots, and one of them this? */
static bool is_named_by(const struct pythia__brief *b, const struct pythia__item *item,
                        uint32_t root)
{
    return root != PYTHIA_NONE &&
           pythia_text_contains(pythia_vocabulary_text(names_of(b), item->unsplit),
                                pythia_vocabulary_tracepoint_pattern(names_of(b), root));
}

void pythia__brief_title(const struct pythia__brief *b, const struct pythia__item *item, bool whole)
{
    uint32_t root = main_root(b, largest_group(b, item));
    struct pythia_text service = pythia__point_service(names_of(b), root);
    pythia__doc_type_names(b->d, names_of(b), item->name, item->unsplit, root);
    if (whole && service.size > 0 && is_named_by(b, item, root)) {
        pythia__doc_words(b->d, "  (");
        pythia__doc_text(b->d, PYTHIA__DOC_WORDS, service);
        pythia__doc_words(b->d, ")");
    }
    pythia__say_difference(b->d, b->s, b->items, b->item_count, item);
    if (item->kind == PYTHIA__ITEM_PATHS)
        pythia__doc_words(b->d, ", which path it takes");
}

/* ---- the cause ---- */

static void add_item_share(struct pythia__doc *d, double share, double low, double high)
{
    pythia__doc_percent(d, fmin(share, 1));
    if (isfinite(low) && isfinite(high)) {
        pythia__doc_words(d, "  (");
        struct pythia_buf text = {0};
        pythia_buf_printf(&text, "%.0f\xE2\x80\x93%.0f %%)", 100 * fmax(low, 0),
                          100 * fmin(high, 1));
        pythia__doc_take(d, PYTHIA__DOC_NUMBER, &text);
    }
}

static void add_found(const struct pythia__brief *b, const struct pythia_verdict *v, bool whole)
{
    for (size_t i = 0; i < v->found_count && i < (whole ? PLACES_SHOWN : 1); i++) {
        const struct pythia_finding *f = &v->found[i].finding;
        pythia__doc_words(b->d, i > 0 ? "; " : "");
        pythia__doc_place(b->d, names_of(b), &f->place, false);
        pythia__doc_words(b->d, !whole ? " " : i > 0 ? " for " : " accounts for ");
        add_item_share(b->d, f->share, whole ? f->low : NAN, f->high);
    }
    if (whole && v->found_count > PLACES_SHOWN)
        pythia__doc_words(b->d, "; and %zu more", v->found_count - PLACES_SHOWN);
}

static void add_place(const struct pythia__brief *b, const struct pythia_place *place, double share,
                      double low, double high)
{
    pythia__doc_place(b->d, names_of(b), place, false);
    pythia__doc_words(b->d, " accounts for ");
    add_item_share(b->d, share, low, high);
}

/* A verdict changes after a minute of evidence. Until then a cause that has just begun would be
 * missing beside the one that stands. */
void pythia__brief_new(const struct pythia__brief *b, const struct pythia__item *item)
{
    const struct pythia_verdict *v = item->verdict;
    const struct pythia_finding *largest = NULL;
    if (!v || v->found_count == 0)
        return;
    for (size_t i = 0; i < v->also_count; i++)
        if (v->also[i].low >= PYTHIA_FINDING_MIN && (!largest || v->also[i].share > largest->share))
            largest = &v->also[i];
    if (!largest || largest->share <= v->found[0].finding.share)
        return;
    add_place(b, &largest->place, largest->share, largest->low, largest->high);
    pythia__doc_words(b->d, " in the last cycle; the verdict changes if that lasts");
}

bool pythia__has_place(const struct pythia__item *item)
{
    const struct pythia_group *g = item->group;
    if (item->verdict && pythia_verdict_is_spread(item->verdict))
        return false;
    if (item->verdict && item->verdict->found_count > 0)
        return true;
    return g && pythia_ranking_has_shares(&g->ranking) &&
           (g->own.tracepoint != PYTHIA_NONE ||
            pythia__stands_out(g, pythia__best_edge(&g->ranking)));
}

static void add_no_place(const struct pythia__brief *b, const struct pythia_group *g, bool whole)
{
    pythia__doc_words(b->d, "no single place");
    if (!whole || !g || g->inclusive == PYTHIA_CCT_ROOT)
        return;
    pythia__doc_words(b->d, "; more than half lies below ");
    pythia__doc_point(b->d, names_of(b),
                      pythia_cct_tracepoint(pythia_groups_cct(b->s->groups), g->inclusive));
}

static void add_group_cause(const struct pythia__brief *b, const struct pythia_group *g, bool whole)
{
    const struct pythia_cct *cct = pythia_groups_cct(b->s->groups);
    const struct pythia_ranked_edge *e = pythia__best_edge(&g->ranking);
    if (!pythia_ranking_has_shares(&g->ranking)) {
        pythia__doc_words(b->d, "a few requests account for ");
        pythia__doc_percent(b->d, fmax(0, 1 - g->ranking.kept));
        pythia__doc_words(b->d, whole ? " of the variance, too few to say where" : " of it");
    } else if (g->own.tracepoint != PYTHIA_NONE) {
        struct pythia_place own = pythia_place_own(g->own.tracepoint);
        add_place(b, &own, g->own.share.slope, g->own.share.low, g->own.share.high);
    } else if (pythia__stands_out(g, e)) {
        struct pythia_place place = pythia_place_of(cct, e->edge);
        add_place(b, &place, e->share.share, e->share.low, e->share.high);
    } else {
        add_no_place(b, g, whole);
    }
}

bool pythia__brief_cause(const struct pythia__brief *b, const struct pythia__item *item, bool whole)
{
    if (item->kind == PYTHIA__ITEM_ENDED) {
        struct pythia_buf why = {0};
        pythia__add_why(&why, names_of(b), b->s->loop, item->problem);
        pythia__doc_words(b->d, "no cause found: ");
        pythia__doc_take(b->d, PYTHIA__DOC_WORDS, &why);
    } else if (item->kind == PYTHIA__ITEM_PATHS) {
        pythia__doc_percent(b->d, item->type->between_share);
        pythia__doc_words(b->d, " of its variance lies between requests that take different paths");
    } else if (item->verdict && pythia_verdict_is_spread(item->verdict)) {
        add_no_place(b, item->group, whole);
    } else if (item->verdict && item->verdict->found_count > 0) {
        add_found(b, item->verdict, whole);
    } else if (item->group) {
        add_group_cause(b, item->group, whole);
    } else {
        return false;
    }
    return true;
}

/* ---- what correlates with it ---- */

/* "is >= 2" as ">= 2". */
static const char *strip_is(const char *split)
{
    return strncmp(split, "is ", 3) == 0 ? split + 3 : split;
}

static const char *negate_condition(const char *condition)
{
    static const char *const pairs[][2] = {{">= ", "< "}, {"<= ", "> "}, {"> ", "<= "}};
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        if (strncmp(condition, pairs[i][0], strlen(pairs[i][0])) == 0)
            return pairs[i][1];
    return NULL;
}

static void add_mean(struct pythia__doc *d, double ns)
{
    struct pythia_buf text = {0};
    pythia_buf_puts(&text, "mean ");
    pythia__add_duration(&text, ns);
    pythia__doc_words(d, ": ");
    pythia__doc_take(d, PYTHIA__DOC_NUMBER, &text);
}

/* The rest of the requests: "    < 2: mean 4.23 s". */
static void add_other_items(const struct pythia__brief *b, const struct pythia_explanation *x)
{
    const char *condition = strip_is(x->split), *contrary = negate_condition(condition);
    pythia__doc_words(b->d, "    ");
    if (x->kind == PYTHIA_KEY_HAS)
        pythia__doc_words(b->d, strcmp(condition, ">= 1") == 0 ? "without" : "with it");
    else if (contrary)
        pythia__doc_words(b->d, "%s%s", contrary, strchr(condition, ' ') + 1);
    else
        pythia__doc_words(b->d, "otherwise");
    add_mean(b->d, x->result.low_total);
}

static void add_condition(const struct pythia__brief *b, const struct pythia_explanation *x)
{
    const char *condition = strip_is(x->split);
    if (x->kind == PYTHIA_KEY_HAS) {
        pythia__doc_words(b->d, strcmp(condition, ">= 1") == 0 ? "with " : "without ");
        pythia__doc_key(b->d, names_of(b), x);
        pythia__doc_words(b->d, " on the critical path");
    } else if (x->kind == PYTHIA_KEY_MEMBER && strncmp(condition, "does", 4) == 0) {
        pythia__doc_words(b->d, strcmp(condition, "does") == 0 ? "" : "unless ");
        pythia__doc_key(b->d, names_of(b), x);
    } else {
        pythia__doc_key(b->d, names_of(b), x);
        pythia__doc_words(b->d, x->kind == PYTHIA_KEY_COUNT ? " called " : " ");
        pythia__doc_text(b->d, PYTHIA__DOC_WORDS, pythia_text_of(condition));
        pythia__doc_words(b->d, x->kind == PYTHIA_KEY_COUNT ? " times" : "");
    }
}

/* In one line: "correlates with calls of GET /a". */
static void add_correlation(const struct pythia__brief *b, const struct pythia_explanation *x)
{
    pythia__doc_words(b->d, "correlates with ");
    pythia__doc_words(b->d, x->kind == PYTHIA_KEY_COUNT ? "calls of "
                            : x->kind == PYTHIA_KEY_HAS ? "whether the critical path has "
                                                        : "");
    pythia__doc_key(b->d, names_of(b), x);
}

bool pythia__brief_when(const struct pythia__brief *b, const struct pythia__item *item, bool whole)
{
    const struct pythia_explanation *x = key_of(item);
    if (!x && item->verdict && item->verdict->key) {
        pythia__doc_words(b->d, "correlates with ");
        struct pythia_text key = pythia_text_of(item->verdict->key);
        (void)pythia__doc_name(b->d, PYTHIA__DOC_KEY, key, key, key);
        return true;
    }
    if (!x)
        return false;
    if (!whole || !x->split) {
        add_correlation(b, x);
        return true;
    }
    if (x->ends_early) {
        pythia__doc_words(b->d, "%zu of %zu requests end before ", x->without,
                          explanations_of(item)->rows);
        pythia__doc_key(b->d, names_of(b), x);
        pythia__doc_words(b->d, "    ");
    }
    if (item->group && item->group->cause == PYTHIA_CAUSE_RETRY && x->kind == PYTHIA_KEY_COUNT)
        pythia__doc_words(b->d, "retry: ");
    add_condition(b, x);
    add_mean(b->d, x->result.high_total);
    add_other_items(b, x);
    char requests[64];
    (void)snprintf(requests, sizeof(requests), "(%zu / %zu requests)", x->result.split.high_rows,
                   x->result.split.low_rows);
    pythia__doc_words(b->d, "     ");
    pythia__doc_text(b->d, PYTHIA__DOC_NUMBER, pythia_text_of(requests));
    return true;
}
