#include "report_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "document/document_names.h"
#include "pythia/mem.h"
#include "pythia/status.h"
#include "sentences/sentences.h"
#include "sentences/split_tally.h"

#define OVERVIEW_MIN .005 /* share from which a group without finding stands in the overview */
#define OTHERS_SEEN  10
#define OTHERS_MAX   200
#define OPEN_MAX     2000

static const char *status_words(const struct pythia_report_source *s, const struct pythia_group *g)
{
    static const char *const words[] = {[PYTHIA_GROUP_DIAGNOSED] = "diagnosed",
                                        [PYTHIA_GROUP_QUIET] = "quiet",
                                        [PYTHIA_GROUP_SLOW] = "always slow",
                                        [PYTHIA_GROUP_TOO_FEW] = "too few"};
    return words[pythia__standing_of(s, g).quiet ? PYTHIA_GROUP_QUIET : g->status];
}

/* ---- the head ---- */

static size_t count_items(const struct pythia__parts *p)
{
    size_t count = 0;
    for (size_t i = 0; i < p->item_count; i++)
        count += p->items[i].kind != PYTHIA__ITEM_ENDED;
    return count;
}

static bool all_too_few(const struct pythia_diagnosis *d)
{
    for (size_t i = 0; i < d->group_count; i++)
        if (d->groups[i].status != PYTHIA_GROUP_TOO_FEW)
            return false;
    return true;
}

static struct pythia__doc_block *add_report_head(const struct pythia__parts *p)
{
    size_t found = count_items(p);
    pythia__doc_open(p->d, PYTHIA__DOC_HEAD, PYTHIA_TEXT(""), NULL);
    pythia__doc_heading(p->d, 1, PYTHIA__DOC_PLAIN);
    pythia__doc_words(p->d, "Pythia report");
    pythia__doc_paragraph(p->d, PYTHIA__DOC_LEAD);
    if (found > 0)
        pythia__doc_count(p->d, (double)found, " finding stands out.", " findings stand out.");
    else
        pythia__doc_words(p->d,
                          all_too_few(p->s->diagnosis)
                              ? "Not enough data: no group has enough requests to be diagnosed."
                              : "Nothing to diagnose: no group of requests varies notably.");
    struct pythia__doc_block *overhead = pythia__part_input(p);
    pythia__doc_close(p->d);
    return overhead;
}

/* ---- overview ---- */

static const struct pythia__doc_column overview_columns[] = {
    {.title = "Group of requests"},
    {.title = "Status"},
    {.title = "Share of the variance", .bar = true},
    {.title = "Requests", .right = true},
    {.title = "Mean", .right = true}};

static void add_type_share(struct pythia__doc *d, double share, enum pythia__doc_bar bar)
{
    pythia__doc_cell(d);
    pythia__doc_bar(d, bar, share, NAN, NAN);
    pythia__doc_percent(d, share);
}

static void link_to_group(const struct pythia__parts *p, const struct pythia_group *g)
{
    struct pythia_buf target = {0};
    pythia__add_group_target(&target, g);
    pythia__doc_link(p->d, pythia_buf_text(&target));
    pythia__say_type(p, p->s->diagnosis->types[g->type].type);
    pythia__doc_unlink(p->d);
    p->d->failed = p->d->failed || target.failed;
    pythia_buf_free(&target);
}

static void add_overview_row(const struct pythia__parts *p, const struct pythia_group *g,
                             bool linked)
{
    pythia__doc_row(p->d, PYTHIA__DOC_PLAIN);
    pythia__doc_cell(p->d);
    if (linked)
        link_to_group(p, g);
    else
        pythia__say_type(p, p->s->diagnosis->types[g->type].type);
    if (g != p->largest[g->type]) {
        pythia__doc_below(p->d);
        pythia__say_unlike(p->d, p->s, g, p->largest[g->type]);
    }
    if (linked) {
        pythia__doc_below(p->d);
        pythia__say_group_where(p->d, p->s, g);
    }
    pythia__doc_cell(p->d);
    pythia__doc_words(p->d, "%s", status_words(p->s, g));
    add_type_share(p->d, g->variance_share, linked ? PYTHIA__DOC_SHARE : PYTHIA__DOC_OTHER);
    pythia__doc_cell(p->d);
    pythia__doc_count(p->d, (double)g->count, "", "");
    pythia__doc_cell(p->d);
    pythia__doc_duration(p->d, g->mean_ns);
}

/* A part of the variance that lies in no group. */
static void add_rest_row(struct pythia__doc *d, const char *what, double share)
{
    if (!(share >= .0005)) /* less would read "0.0 %" */
        return;
    pythia__doc_row(d, PYTHIA__DOC_PLAIN);
    pythia__doc_cell(d);
    pythia__doc_words(d, "%s", what);
    pythia__doc_cell(d);
    add_type_share(d, share, PYTHIA__DOC_OTHER);
}

static void add_overview(const struct pythia__parts *p)
{
    const struct pythia_diagnosis *all = p->s->diagnosis;
    double rest = 0, paths = 0;
    size_t linked = 0;
    pythia__doc_open(p->d, PYTHIA__DOC_PAGE, PYTHIA_TEXT(""), NULL);
    pythia__doc_open(p->d, PYTHIA__DOC_SECTION, PYTHIA_TEXT("overview"), "Overview");
    pythia__doc_title(p->d, 2, "Where the variance of all requests lies");
    pythia__doc_table(p->d, overview_columns,
                      sizeof(overview_columns) / sizeof(overview_columns[0]));
    for (size_t i = 0; i < all->group_count; i++) {
        const struct pythia_group *g = &all->groups[i];
        bool found = pythia__is_diagnosed(p->s, g) && linked < PYTHIA__FINDINGS_MAX;
        linked += found;
        if (found || g->variance_share >= OVERVIEW_MIN)
            add_overview_row(p, g, found);
        else if (isfinite(g->variance_share))
            rest += g->variance_share;
    }
    for (size_t i = 0; i < all->type_count; i++) {
        double share = all->types[i].variance_share * all->types[i].between_share;
        paths += isfinite(share) ? share : 0;
    }
    add_rest_row(p->d, "Other groups", rest);
    add_rest_row(p->d, "Between requests of one type that take different paths", paths);
    add_rest_row(p->d, "Between types: different work takes different time",
                 all->between_types_share);
    pythia__doc_close(p->d);
    pythia__doc_close(p->d);
}

/* ---- what the requests were split by ---- */

static void add_split_type(const struct pythia__parts *p, const struct pythia__split_type *t)
{
    const char **labels = pythia_calloc(t->part_count + 1, sizeof(char *));
    double *means = pythia_calloc(t->part_count + 1, sizeof(*means));
    uint64_t *requests = pythia_calloc(t->part_count + 1, sizeof(*requests));
    struct pythia_text name = pythia_vocabulary_text(p->s->vocabulary, t->type);
    pythia__doc_open(p->d, PYTHIA__DOC_CARD, PYTHIA_TEXT(""), NULL);
    pythia__doc_heading(p->d, 4, PYTHIA__DOC_PLAIN);
    (void)pythia__doc_name(p->d, PYTHIA__DOC_TYPE, name, name, name);
    pythia__doc_entry(p->d, "", PYTHIA__DOC_TEXT);
    pythia__say_split_type(p->d, t);
    p->d->failed = p->d->failed || !labels || !means || !requests;
    for (size_t i = 0; !p->d->failed && i < t->part_count; i++) {
        labels[i] = t->parts[i].label;
        means[i] = t->parts[i].mean_ns;
        requests[i] = t->parts[i].requests;
    }
    if (!p->d->failed)
        pythia__part_table(p->d, labels, means, requests, t->part_count);
    pythia__doc_close(p->d);
    pythia_free(labels);
    pythia_free(means);
    pythia_free(requests);
}

static void add_asked_split(const struct pythia__parts *p, size_t split,
                            const struct pythia_type *const *types)
{
    const struct pythia_grouping_key *key = pythia_groups_key(p->s->groups);
    struct pythia__split_tally tally = {0};
    struct pythia_buf text = {0}, name = {0};
    if (pythia__split_tally_make(key, split, types, p->s->diagnosis->type_count, &tally) !=
        PYTHIA_OK)
        p->d->failed = true;
    pythia_split_spec_write(pythia_grouping_key_split(key, split), &text);
    pythia_key_name_add(&pythia_grouping_key_split(key, split)->key, &name);
    pythia__doc_gap(p->d);
    pythia__doc_heading(p->d, 3, PYTHIA__DOC_PLAIN);
    pythia__doc_words(p->d, "Split by ");
    pythia__say_option(p->d, text.bytes ? text.bytes : "", name.bytes ? name.bytes : "");
    pythia__doc_entry(p->d, "", PYTHIA__DOC_TEXT);
    pythia__doc_words(p->d, "Of all, ");
    pythia__say_split_counts(p->d, &tally);
    pythia__doc_open(p->d, PYTHIA__DOC_CARDS, PYTHIA_TEXT(""), NULL);
    for (size_t i = 0; i < tally.type_count; i++)
        add_split_type(p, &tally.types[i]);
    pythia__doc_close(p->d);
    p->d->failed = p->d->failed || text.failed || name.failed;
    pythia_buf_free(&text);
    pythia_buf_free(&name);
    pythia__split_tally_free(&tally);
}

static void add_splits(const struct pythia__parts *p)
{
    const struct pythia_grouping_key *key = pythia_groups_key(p->s->groups);
    const struct pythia_diagnosis *all = p->s->diagnosis;
    size_t count = key ? pythia_grouping_key_count(key) : 0;
    if (count == 0)
        return;
    const struct pythia_type **types =
        pythia_calloc(all->type_count + 1, sizeof(const struct pythia_type *));
    p->d->failed = p->d->failed || !types;
    for (size_t i = 0; types && i < all->type_count; i++)
        types[i] = all->types[i].type;
    pythia__doc_open(p->d, PYTHIA__DOC_SECTION, PYTHIA_TEXT("split"), "Splits");
    pythia__doc_title(p->d, 2, "What the requests were split by");
    for (size_t i = 0; types && i < count; i++)
        add_asked_split(p, i, types);
    pythia__doc_close(p->d);
    pythia_free(types);
}

/* ---- what to open next ---- */

static const struct pythia__doc_column next_columns[] = {
    {.title = "shows up to", .bar = true},
    {.title = "cost per request", .right = true},
    {.title = "trace point, and why", .name = true, .flexible = true}};

/* They are closed points to open, or points that were open and are worth it. */
static bool was_any_open(const struct pythia_report_source *s)
{
    for (size_t i = 0; i < s->next_count; i++)
        if (!s->open || pythia_open_points_has(s->open, s->next[i].tracepoint))
            return true;
    return false;
}

static void add_next_points(const struct pythia__parts *p)
{
    const struct pythia_report_source *s = p->s;
    pythia__doc_open(p->d, PYTHIA__DOC_SECTION, PYTHIA_TEXT("next"), "What to open next");
    pythia__doc_title(p->d, 2,
                      s->next_count == 0 ? "No trace point would show more"
                      : was_any_open(s)
                          ? "All trace points were open here. Where they are closed, open these "
                            "first"
                          : "Trace points to open next");
    pythia__doc_table(p->d, next_columns, sizeof(next_columns) / sizeof(next_columns[0]));
    for (size_t i = 0; i < s->next_count; i++) {
        const struct pythia_suggestion *one = &s->next[i];
        pythia__doc_row(p->d, PYTHIA__DOC_PLAIN);
        pythia__doc_cell(p->d);
        pythia__doc_bar(p->d, PYTHIA__DOC_SHARE, one->gain, NAN, NAN);
        pythia__doc_percent(p->d, one->gain);
        pythia__doc_cell(p->d);
        pythia__doc_duration(p->d, one->cost_ns);
        pythia__doc_cell(p->d);
        pythia__doc_point(p->d, s->vocabulary, one->tracepoint);
        pythia__doc_words(p->d, ": ");
        pythia__doc_text(p->d, PYTHIA__DOC_WORDS, pythia_text_of(one->reason));
        pythia__doc_below(p->d);
        pythia__doc_words(p->d, "for ");
        link_to_group(p, &s->diagnosis->groups[one->group]);
    }
    pythia__doc_close(p->d);
}

/* ---- other groups ---- */

static const struct pythia__doc_column other_columns[] = {
    {.title = "status"},
    {.title = "requests", .right = true},
    {.title = "groups", .right = true},
    {.title = "mean", .right = true},
    {.title = "share of the variance", .right = true},
    {.title = "type", .name = true, .flexible = true}};

/* Groups of one type and one status, which stand on one line. */
struct alike {
    size_t groups;
    double requests, time_ns, share;
};

static void add_other_row(const struct pythia__parts *p, const struct pythia_group *g,
                          const struct alike *a)
{
    pythia__doc_row(p->d, PYTHIA__DOC_PLAIN);
    pythia__doc_cell(p->d);
    pythia__doc_words(p->d, "%s", status_words(p->s, g));
    pythia__doc_cell(p->d);
    pythia__doc_count(p->d, a->requests, "", "");
    pythia__doc_cell(p->d);
    pythia__doc_count(p->d, (double)a->groups, "", "");
    pythia__doc_cell(p->d);
    pythia__doc_duration(p->d, a->time_ns / a->requests);
    pythia__doc_cell(p->d);
    pythia__doc_percent(p->d, a->share);
    pythia__doc_cell(p->d);
    pythia__say_type(p, p->s->diagnosis->types[g->type].type);
}

/* The sums of a group that is not diagnosed; NULL of one that is. */
static struct alike *find_alike_finding(const struct pythia__parts *p, struct alike *all,
                                        const struct pythia_group *g)
{
    if (pythia__is_diagnosed(p->s, g))
        return NULL;
    return &all[g->type * (PYTHIA_GROUP_TOO_FEW + 1) + g->status];
}

static void add_other_groups(const struct pythia__parts *p)
{
    const struct pythia_diagnosis *d = p->s->diagnosis;
    struct alike *all = pythia_calloc(d->type_count * (PYTHIA_GROUP_TOO_FEW + 1) + 1, sizeof(*all));
    size_t rows = 0;
    p->d->failed = p->d->failed || !all;
    for (size_t i = 0; all && i < d->group_count; i++) {
        const struct pythia_group *g = &d->groups[i];
        struct alike *a = find_alike_finding(p, all, g);
        if (!a)
            continue;
        a->groups++;
        a->requests += (double)g->count;
        a->time_ns += (double)g->count * g->mean_ns;
        a->share += isfinite(g->variance_share) ? g->variance_share : 0;
    }
    for (size_t i = 0; all && i < d->group_count; i++) {
        struct alike *a = find_alike_finding(p, all, &d->groups[i]);
        if (!a || a->groups == 0)
            continue;
        if (rows == 0) {
            pythia__doc_open(p->d, PYTHIA__DOC_SECTION, PYTHIA_TEXT("others"), "Other groups");
            pythia__doc_title(p->d, 2, "Other groups");
            pythia__doc_table(p->d, other_columns,
                              sizeof(other_columns) / sizeof(other_columns[0]));
            pythia__doc_limit_rows(p->d, OTHERS_SEEN);
        }
        if (rows++ < OTHERS_MAX)
            add_other_row(p, &d->groups[i], a);
        a->groups = 0; /* told */
    }
    pythia__doc_more(p->d, rows, OTHERS_MAX, "type", "types");
    if (rows > 0)
        pythia__doc_close(p->d);
    pythia_free(all);
}

/* ---- for a page alone ---- */

static int compare_type_names(const void *a, const void *b)
{
    return pythia_text_compare(*(const struct pythia_text *)a, *(const struct pythia_text *)b);
}

static void add_open_points(const struct pythia__parts *p)
{
    const struct pythia_vocabulary *v = p->s->vocabulary;
    uint32_t all = pythia_vocabulary_tracepoints(v);
    struct pythia_text *names = pythia_calloc(all + 1, sizeof(*names));
    size_t count = 0;
    p->d->failed = p->d->failed || !names;
    for (uint32_t i = 0; names && i < all; i++)
        if (!p->s->open || pythia_open_points_has(p->s->open, i))
            names[count++] = pythia_vocabulary_tracepoint_id(v, i);
    if (count > 1)
        qsort(names, count, sizeof(*names), compare_type_names);
    pythia__doc_open(p->d, PYTHIA__DOC_FOLD, PYTHIA_TEXT("open"), NULL);
    pythia__doc_count(p->d, (double)count, " trace point was open", " trace points were open");
    for (size_t i = 0; i < count && i < OPEN_MAX; i++) {
        pythia__doc_item(p->d);
        (void)pythia__doc_name(p->d, PYTHIA__DOC_POINT, names[i], names[i], names[i]);
    }
    pythia__doc_more(p->d, count, OPEN_MAX, "trace point", "trace points");
    pythia__doc_close(p->d);
    pythia_free(names);
}

static const struct pythia__doc_column glossary_columns[] = {{.title = "Word"},
                                                             {.title = "Meaning"}};

static void add_glossary(struct pythia__doc *d)
{
    static const char *const all[][2] = {
        {"Group", "Requests of one type that take the same path. Only those can be compared."},
        {"Critical path",
         "The chain of events that determined the duration of a request. The times between them "
         "add up to its duration."},
        {"Share of the variance",
         "How much of the latency variance a segment of the path accounts for. The shares of all "
         "segments add up to 100 %; a segment that compensates for others has a negative share. "
         "The largest and smallest times are clipped, so that a single spike does not dominate."},
        {"Interval, and the whisker on a bar",
         "The interval that contains the share with 95 % confidence, given this number of "
         "requests; with more if alpha is less than .05, as it is in the later cycles of a "
         "search."},
        {"Explains", "The share of the variance of the times on the path that a key predicts, "
                     "corrected for chance."},
        {"Rank of a key", "Keys of one rank cannot be distinguished by these requests. A key that "
                          "explains nothing beyond a better one comes after it."},
        {"q, by permutation", "q: the share of equally good keys that would be due to chance. By "
                              "permutation: how often shuffled values do as well. Small is good "
                              "for both."},
        {"Confirmed", "By permutation, and on most of many random halves of the requests."},
    };
    pythia__doc_open(d, PYTHIA__DOC_FOLD, PYTHIA_TEXT("words"), NULL);
    pythia__doc_words(d, "What the words mean");
    pythia__doc_table(d, glossary_columns, sizeof(glossary_columns) / sizeof(glossary_columns[0]));
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        pythia__doc_row(d, PYTHIA__DOC_PLAIN);
        pythia__doc_cell(d);
        pythia__doc_strong(d, all[i][0]);
        pythia__doc_cell(d);
        pythia__doc_text(d, PYTHIA__DOC_WORDS, pythia_text_of(all[i][1]));
    }
    pythia__doc_close(d);
}

/* ---- the whole ---- */

static void add_group_findings(const struct pythia__parts *p)
{
    size_t number = 0, all = count_items(p), groups = 0;
    for (size_t i = 0; i < p->item_count && number < PYTHIA__FINDINGS_MAX; i++) {
        if (p->items[i].kind == PYTHIA__ITEM_ENDED)
            continue;
        groups += p->items[i].group != NULL;
        pythia__part_finding(p, &p->items[i], ++number);
    }
    if (all > number) {
        pythia__doc_paragraph(p->d, PYTHIA__DOC_WARN);
        pythia__doc_words(p->d, "%zu more findings have no section here; the JSON report has them.",
                          all - number);
    }
    if (groups > 0)
        add_next_points(p);
}

static struct pythia__doc_block *build_report(const struct pythia__parts *p)
{
    struct pythia__doc_block *overhead = add_report_head(p);
    pythia__part_expected(p);
    add_overview(p);
    add_splits(p);
    pythia__part_search(p);
    add_group_findings(p);
    pythia__part_saturated(p);
    add_other_groups(p);
    add_open_points(p);
    add_glossary(p->d);
    return overhead;
}

int pythia__parts_build(const struct pythia_report_source *s, struct pythia__doc *d,
                        struct pythia__doc_block **overhead)
{
    struct pythia__parts p = {.s = s, .d = d, .largest = pythia__largest_groups(s->diagnosis)};
    struct pythia__item *items = NULL;
    int status = p.largest ? pythia__items_collect(s, &items, &p.item_count) : PYTHIA_ENOMEM;
    p.items = items;
    if (status == PYTHIA_OK) {
        *overhead = build_report(&p);
        status = pythia__doc_finish(d);
    }
    pythia_free(items);
    pythia_free(p.largest);
    return status;
}
