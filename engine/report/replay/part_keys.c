/* Which keys correlate with the durations of a group, or of a type. */
#include <math.h>
#include <string.h>

#include "document/document_names.h"
#include "report_parts.h"
#include "sentences/sentences.h"

#define CARDS_MAX    3   /* keys that are shown with what they do to the mean */
#define SHARE_MIN    .02 /* of the variance explained, or a key is only in the table */
#define TWINS_MAX    3
#define KEYS_SEEN    3   /* in the table, before the rest is folded away */
#define KEYS_MAX     200 /* in it */
#define LOADINGS_MAX 3
#define LOADING_MIN  .3 /* a tenth of the edge's variance: less is not worth a line */

/* ---- a card ---- */

static const struct pythia__doc_column part_columns[] = {{.title = "Subset", .flexible = true},
                                                         {.title = "Mean duration", .bar = true},
                                                         {.title = "Requests", .right = true}};

void pythia__part_table(struct pythia__doc *d, const char *const *labels, const double *means_ns,
                        const uint64_t *requests, size_t count)
{
    double largest = 0;
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, means_ns[i]);
    pythia__doc_table(d, part_columns, sizeof(part_columns) / sizeof(part_columns[0]));
    for (size_t i = 0; i < count; i++) {
        struct pythia_text label = pythia_text_of(labels[i]);
        pythia__doc_row(d, PYTHIA__DOC_PLAIN);
        pythia__doc_cell(d);
        (void)pythia__doc_name(d, PYTHIA__DOC_KEY, label, label, label);
        pythia__doc_cell(d);
        pythia__doc_bar(d, PYTHIA__DOC_TIME, means_ns[i] / largest, NAN, NAN);
        pythia__doc_duration(d, means_ns[i]);
        pythia__doc_cell(d);
        pythia__doc_count(d, (double)requests[i], "", "");
    }
}

/* The mean duration for each value. */
static void add_profile(struct pythia__doc *d, const struct pythia_explanation *x)
{
    const char *labels[PYTHIA_PROFILE_BINS];
    double means[PYTHIA_PROFILE_BINS];
    uint64_t requests[PYTHIA_PROFILE_BINS];
    for (size_t i = 0; i < x->profile_bins; i++) {
        labels[i] = x->profile[i].label;
        means[i] = x->profile[i].mean_ns;
        requests[i] = x->profile[i].requests;
    }
    if (x->profile_bins > 0)
        pythia__part_table(d, labels, means, requests, x->profile_bins);
}

/* The edges with the largest loadings of either sign, best first; of the rest there is no name. */
static size_t pick_loadings(const struct pythia_explanations *all,
                            const struct pythia_explanation *x, size_t picked[LOADINGS_MAX])
{
    size_t count = 0;
    for (size_t i = 0; i + 1 < all->edges; i++) {
        double loading = fabs(x->result.loadings[i]);
        if (!(loading >= LOADING_MIN))
            continue;
        size_t at = count;
        while (at > 0 && fabs(x->result.loadings[picked[at - 1]]) < loading)
            at--;
        count += count < LOADINGS_MAX;
        for (size_t k = count; k-- > at + 1;)
            picked[k] = picked[k - 1];
        if (at < count)
            picked[at] = i;
    }
    return count;
}

static void add_loadings(const struct pythia__parts *p, const struct pythia_explanations *all,
                         const struct pythia_explanation *x, const struct pythia_ranking *ranking)
{
    size_t picked[LOADINGS_MAX] = {0}, count = ranking ? pick_loadings(all, x, picked) : 0;
    if (count == 0)
        return;
    pythia__doc_paragraph(p->d, PYTHIA__DOC_REMARK);
    pythia__doc_words(p->d, "Correlation with the time spent");
    for (size_t i = 0; i < count; i++) {
        struct pythia_place place = pythia_place_of(pythia_groups_cct(p->s->groups),
                                                    ranking->edges[all->chosen[picked[i]]].edge);
        pythia__doc_item(p->d);
        pythia__doc_words(p->d, "%+.2f ", x->result.loadings[picked[i]]);
        pythia__doc_place_phrase(p->d, p->s->vocabulary, &place);
    }
}

/* Two groups of requests that the key separates best. */
static void add_proposed_split(struct pythia__doc *d, const struct pythia_explanation *x)
{
    if (!x->split)
        return;
    pythia__doc_paragraph(d, PYTHIA__DOC_TEXT);
    pythia__say_means(d, "Mean ", x);
    pythia__doc_words(d, " (");
    pythia__doc_count(d, (double)x->result.split.high_rows, "", "");
    pythia__doc_words(d, " and ");
    pythia__doc_count(d, (double)x->result.split.low_rows, " request)", " requests)");
}

/* Which of the keys of one rank is the cause, these requests cannot say. */
static void add_twins(const struct pythia__parts *p, const struct pythia_explanations *all,
                      size_t first)
{
    size_t count = 0;
    pythia__doc_paragraph(p->d, PYTHIA__DOC_REMARK);
    for (size_t i = first + 1; i < all->found_count; i++) {
        if (all->found[i].result.rank != all->found[first].result.rank || count++ >= TWINS_MAX)
            continue;
        pythia__doc_words(p->d, count == 1 ? "Cannot be distinguished from " : ", ");
        pythia__say_key(p->d, p->s->vocabulary, &all->found[i]);
    }
    if (count > TWINS_MAX)
        pythia__doc_words(p->d, " and %zu more", count - TWINS_MAX);
    pythia__doc_words(p->d, count > 0 ? "." : "");
}

static void add_card(const struct pythia__parts *p, const struct pythia_explanations *all,
                     size_t index, const struct pythia_ranking *ranking)
{
    const struct pythia_explanation *x = &all->found[index];
    pythia__doc_open(p->d, PYTHIA__DOC_CARD, PYTHIA_TEXT(""), NULL);
    pythia__doc_heading(p->d, 4, PYTHIA__DOC_PLAIN);
    pythia__say_key(p->d, p->s->vocabulary, x);
    pythia__doc_paragraph(p->d, PYTHIA__DOC_REMARK);
    pythia__doc_words(p->d, "explains ");
    pythia__doc_percent(p->d, x->result.explained);
    pythia__doc_words(p->d, " of the variance");
    pythia__say_rests_on(p->d, "; ", x->result.few, x->result.support, all->rows);
    add_profile(p->d, x);
    add_proposed_split(p->d, x);
    add_loadings(p, all, x, ranking);
    add_twins(p, all, index);
    pythia__doc_close(p->d);
}

/* Has the key something to say that no key before it has said? */
static bool is_worth_a_card(const struct pythia_explanations *all, size_t index)
{
    const struct pythia_association_result *r = &all->found[index].result;
    if (index == 0)
        return true;
    return r->rank != all->found[index - 1].result.rank && r->proxy_of == PYTHIA_ASSOCIATION_NONE &&
           pythia__key_size(&all->found[index]) >= SHARE_MIN;
}

static void add_cards(const struct pythia__parts *p, const struct pythia_explanations *all,
                      const struct pythia_ranking *ranking)
{
    size_t shown = 0;
    pythia__doc_open(p->d, PYTHIA__DOC_PAGE, PYTHIA_TEXT(""), NULL);
    pythia__doc_open(p->d, PYTHIA__DOC_CARDS, PYTHIA_TEXT(""), NULL);
    for (size_t i = 0; i < all->found_count && shown < CARDS_MAX; i++)
        if (is_worth_a_card(all, i)) {
            add_card(p, all, i, ranking);
            shown++;
        }
    pythia__doc_close(p->d);
    pythia__doc_close(p->d);
}

/* ---- the table ---- */

static const struct pythia__doc_column key_columns[] = {
    {.title = "explains", .bar = true},
    {.title = "rank", .right = true},
    {.title = "q", .right = true},
    {.title = "by permutation", .right = true},
    {.title = "key", .name = true, .flexible = true}};

static const struct pythia_explanation *find_proxy(const struct pythia_explanations *all,
                                                   const struct pythia_explanation *x)
{
    for (size_t i = 0; i < all->found_count; i++)
        if (all->found[i].result.column == x->result.proxy_of)
            return &all->found[i];
    return NULL;
}

/* Remarks that weaken a finding, or relate it to another one. */
static void add_key_remarks(const struct pythia__parts *p, const struct pythia_explanations *all,
                            const struct pythia_explanation *x)
{
    const struct pythia_explanation *proxy = find_proxy(all, x);
    if (proxy) {
        pythia__doc_words(p->d, ", nothing beyond ");
        pythia__say_key(p->d, p->s->vocabulary, proxy);
    }
    if (x->result.low_confidence)
        pythia__doc_words(p->d, ", low confidence: few requests for so many values");
    pythia__say_rests_on(p->d, ", ", x->result.few, x->result.support, all->rows);
    pythia__doc_below(p->d);
    if (x->result.confirmed) {
        pythia__doc_words(p->d, "confirmed");
    } else if (isfinite(x->result.stability)) {
        pythia__doc_words(p->d, "held on only ");
        pythia__doc_percent(p->d, x->result.stability);
        pythia__doc_words(p->d, " of random halves");
    }
}

static void add_key(const struct pythia__parts *p, const struct pythia_explanations *all,
                    const struct pythia_explanation *x)
{
    pythia__doc_row(p->d, PYTHIA__DOC_PLAIN);
    pythia__doc_cell(p->d);
    pythia__doc_bar(p->d, PYTHIA__DOC_SHARE, x->result.explained, NAN, NAN);
    pythia__say_explained(p->d, x);
    pythia__doc_cell(p->d);
    pythia__doc_count(p->d, (double)x->result.rank, "", "");
    pythia__doc_cell(p->d);
    pythia__doc_chance(p->d, x->result.q);
    pythia__doc_cell(p->d);
    pythia__doc_chance(p->d, x->result.p_permutation);
    pythia__doc_cell(p->d);
    pythia__say_key(p->d, p->s->vocabulary, x);
    add_key_remarks(p, all, x);
}

static void add_keys_table(const struct pythia__parts *p, const struct pythia_explanations *all)
{
    size_t seen = 0;
    while (seen < all->found_count && seen < KEYS_SEEN &&
           (seen == 0 || pythia__key_size(&all->found[seen]) >= SHARE_MIN))
        seen++;
    pythia__doc_table(p->d, key_columns, sizeof(key_columns) / sizeof(key_columns[0]));
    pythia__doc_limit_rows(p->d, seen);
    for (size_t i = 0; i < all->found_count && i < KEYS_MAX; i++)
        add_key(p, all, &all->found[i]);
}

/* ---- keys that were not tested ---- */

static const struct pythia__doc_column skipped_columns[] = {{.title = "Why not"},
                                                            {.title = "Keys"}};

static bool is_reason_told(const struct pythia_explanations *all, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (strcmp(all->skipped[i].reason, all->skipped[index].reason) == 0)
            return true;
    return false;
}

/* One reason holds for many keys, and is said once. */
static void add_skipped(struct pythia__doc *d, const struct pythia_explanations *all)
{
    if (all->skipped_count == 0)
        return;
    pythia__doc_open(d, PYTHIA__DOC_FOLD, PYTHIA_TEXT(""), NULL);
    pythia__doc_count(d, (double)all->skipped_count, " key was not tested",
                      " keys were not tested");
    pythia__doc_table(d, skipped_columns, sizeof(skipped_columns) / sizeof(skipped_columns[0]));
    for (size_t i = 0; i < all->skipped_count; i++) {
        const char *comma = "";
        if (is_reason_told(all, i))
            continue;
        pythia__doc_row(d, PYTHIA__DOC_PLAIN);
        pythia__doc_cell(d);
        pythia__doc_text(d, PYTHIA__DOC_WORDS, pythia_text_of(all->skipped[i].reason));
        pythia__doc_cell(d);
        for (size_t k = i; k < all->skipped_count; k++) {
            struct pythia_text key = pythia_text_of(all->skipped[k].name);
            if (strcmp(all->skipped[k].reason, all->skipped[i].reason) != 0)
                continue;
            pythia__doc_words(d, "%s", comma);
            (void)pythia__doc_name(d, PYTHIA__DOC_KEY, key, key, key);
            comma = ", ";
        }
    }
    pythia__doc_close(d);
}

void pythia__part_keys(const struct pythia__parts *p, const struct pythia_explanations *all,
                       const struct pythia_ranking *ranking)
{
    if (all->found_count > 0) {
        add_cards(p, all, ranking);
        add_keys_table(p, all);
    }
    pythia__doc_entry(p->d, "keys", PYTHIA__DOC_REMARK);
    pythia__say_keys_tested(p->d, all, all->found_count);
    pythia__doc_words(p->d,
                      all->found_count > 0 ? " A key that correlates need not be the cause." : "");
    if (all->joint.count > 0) {
        pythia__doc_entry(p->d, "joint", PYTHIA__DOC_TEXT);
        pythia__say_joint(p->d, p->s->vocabulary, all);
    }
    add_skipped(p->d, all);
}
