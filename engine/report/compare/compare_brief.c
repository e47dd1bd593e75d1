/* The short form of a comparison: which requests changed most, where, and how sure that is. */
#include <math.h>
#include <string.h>

#include "compare_forms.h"
#include "document/document_names.h"
#include "pythia/status.h"
#include "write/words.h"

#define EDGES_MAX 3
#define SHARE_MIN .01 /* of the change of the mean: edges with less are not in the table */

struct level {
    size_t blocks; /* types with a block of their own; the others have a line each */
    size_t lines, edges;
};

/* From the most to the least. The last has at most PYTHIA_REPORT_LINES lines, whatever the input:
 * each entry of its block takes at most four lines, and has at most three names. */
static const struct level levels[] = {{3, 8, EDGES_MAX}, {2, 8, EDGES_MAX}, {1, 8, EDGES_MAX},
                                      {1, 5, EDGES_MAX}, {1, 3, 2},         {1, 2, 0},
                                      {1, 1, 0}};
#define LEVELS (sizeof(levels) / sizeof(levels[0]))

struct compare_brief {
    const struct pythia_compare_source *s;
    const struct level *level;
    struct pythia__doc *d;
    double alpha;
};

/* ---- which types ---- */

static bool is_changed(const struct pythia_compared_type *t)
{
    return t->status != PYTHIA_COMPARED_SAME && t->status != PYTHIA_COMPARED_TOO_FEW;
}

/* Does it take longer, or fail more often, for certain? Other changes are only worth knowing. */
static bool is_worse(const struct compare_brief *b, const struct pythia_compared_type *t)
{
    const struct pythia_count_change *failed = &t->failed;
    bool slower = t->mean_test.q <= b->alpha && t->mean_test.clipped.low >= t->effect_min;
    bool fails = failed->q <= b->alpha && (double)failed->after * (double)t->count.before >
                                              (double)failed->before * (double)t->count.after;
    return slower || fails;
}

/* The types that changed, those that got worse first, else in the order of the comparison, which is
 * that of their parts in the change. NULL when out of memory. */
static const struct pythia_compared_type **order_types(const struct compare_brief *b, size_t *count)
{
    const struct pythia_comparison *c = b->s->comparison;
    const struct pythia_compared_type **types =
        pythia__doc_alloc(b->d, (c->type_count + 1) * sizeof(struct pythia_compared_type *));
    *count = 0;
    if (!types)
        return NULL;
    for (int worse = 1; worse >= 0; worse--)
        for (size_t i = 0; i < c->type_count; i++)
            if (is_changed(&c->types[i]) && is_worse(b, &c->types[i]) == worse)
                types[(*count)++] = &c->types[i];
    return types;
}

/* ---- sentences ---- */

/* "build_semaphore accounts for 98 % of the increase"; of the mean, or of the variance. */
static void say_part_of_change(const struct compare_brief *b, const struct pythia_compared_type *t,
                               bool variance)
{
    const struct pythia_compared_edge *e = pythia__find_telling_edge(t, variance, b->alpha);
    const struct pythia_certain *whole = variance ? &t->variance_test : &t->mean_test;
    if (!e) {
        pythia__doc_words(b->d, "no single place");
        return;
    }
    struct pythia_place place = pythia_place_of(b->s->comparison->cct, e->edge);
    double share = variance ? pythia__share_of_change(e->variance.change, t->sample_variance.change)
                            : pythia__share_of_change(e->mean.change, t->sample_mean.change);
    pythia__doc_place(b->d, b->s->vocabulary, &place, false);
    if (share > 0) {
        pythia__doc_words(b->d, " accounts for ");
        pythia__doc_percent(b->d, fmin(share, 1));
        pythia__doc_words(b->d, " of the %s", whole->clipped.change < 0 ? "decrease" : "increase");
    } else { /* a few requests turn the sum around */
        pythia__doc_words(b->d, " changed most");
    }
    if (variance || e->service == 0)
        return;
    pythia__doc_words(b->d, e->waits && !e->common ? ", waiting for " : ", in ");
    pythia__say_service(b->d, b->s, e->service);
    if (e->outlier_driven)
        pythia__doc_words(b->d, "; a few requests account for much of it");
}

static void say_sd(const struct compare_brief *b, const struct pythia_compared_type *t)
{
    pythia__doc_words(b->d, "sd ");
    pythia__doc_duration(b->d, sqrt(t->sample_variance.before));
    pythia__doc_words(b->d, " to ");
    pythia__doc_duration(b->d, sqrt(t->sample_variance.after));
    pythia__doc_words(b->d, "; ");
    say_part_of_change(b, t, true);
}

static void say_means(const struct compare_brief *b, const struct pythia_compared_type *t)
{
    if (t->status == PYTHIA_COMPARED_NEW || t->status == PYTHIA_COMPARED_LOST) {
        pythia__doc_words(b->d, t->status == PYTHIA_COMPARED_NEW ? "new" : "gone");
        return;
    }
    pythia__doc_duration(b->d, t->mean.before);
    pythia__doc_words(b->d, " to ");
    pythia__doc_duration(b->d, t->mean.after);
    pythia__doc_words(b->d, " (");
    pythia__say_relative(b->d, t->mean.before, t->mean.after);
    pythia__doc_words(b->d, ")");
}

/* ---- a block ---- */

static const struct pythia__doc_column edge_columns[] = {
    {.title = "where it changed", .flexible = true, .one_line = true},
    {.title = "before", .right = true},
    {.title = "after", .right = true},
    {.title = "change", .right = true},
    {.title = "", .one_line = true}};

static double share_of_edge(const struct pythia_compared_type *t,
                            const struct pythia_compared_edge *e)
{
    return pythia__share_of_change(e->mean.change, t->sample_mean.change);
}

static void add_edge_row(const struct compare_brief *b, const struct pythia_compared_type *t,
                         const struct pythia_compared_edge *e)
{
    double share = share_of_edge(t, e);
    struct pythia_place place = pythia_place_of(b->s->comparison->cct, e->edge);
    struct pythia_buf change = {0};
    pythia__doc_row(b->d, PYTHIA__DOC_PLAIN);
    pythia__doc_cell(b->d);
    pythia__doc_place_row(b->d, b->s->vocabulary, &place);
    pythia__doc_cell(b->d);
    pythia__doc_duration(b->d, e->mean.before);
    pythia__doc_cell(b->d);
    pythia__doc_duration(b->d, e->mean.after);
    pythia__doc_cell(b->d);
    pythia_buf_puts(&change, e->mean.change > 0 ? "+" : "");
    pythia__add_duration(&change, e->mean.change);
    pythia__doc_take(b->d, PYTHIA__DOC_NUMBER, &change);
    pythia__doc_cell(b->d);
    if (!(share > 0))
        return;
    pythia__doc_bar(b->d, PYTHIA__DOC_SHARE, fmin(share, 1), NAN, NAN);
    pythia__doc_words(b->d, " ");
    pythia__doc_percent(b->d, fmin(share, 1));
}

/* The edges that changed for certain and account for most of the change of the mean, the largest
 * share first. How many; the first is found whatever its share. */
static size_t find_largest_edges(const struct compare_brief *b,
                                 const struct pythia_compared_type *t,
                                 const struct pythia_compared_edge *largest[EDGES_MAX])
{
    size_t count = 0;
    for (size_t i = 0; i < t->edge_count; i++) {
        const struct pythia_compared_edge *e = &t->edges[i];
        if (!pythia__edge_changed(e, b->alpha))
            continue;
        size_t at = count < b->level->edges ? count++ : b->level->edges;
        for (; at > 0 && share_of_edge(t, e) > share_of_edge(t, largest[at - 1]); at--)
            if (at < b->level->edges)
                largest[at] = largest[at - 1];
        if (at < b->level->edges)
            largest[at] = e;
    }
    while (count > 1 && !(share_of_edge(t, largest[count - 1]) >= SHARE_MIN))
        count--;
    return count;
}

static void add_edges(const struct compare_brief *b, const struct pythia_compared_type *t)
{
    const struct pythia_compared_edge *largest[EDGES_MAX];
    size_t count = find_largest_edges(b, t, largest);
    if (count == 0)
        return;
    pythia__doc_gap(b->d);
    pythia__doc_table(b->d, edge_columns, sizeof(edge_columns) / sizeof(edge_columns[0]));
    for (size_t i = 0; i < count; i++)
        add_edge_row(b, t, largest[i]);
}

static void add_block(const struct compare_brief *b, const struct pythia_compared_type *t)
{
    static const struct {
        const char *label;
        int finding;
    } others[] = {{"MEAN", PYTHIA__COMPARE_EDGES},
                  {"FAILS", PYTHIA__COMPARE_FAILURES},
                  {"COUNT", PYTHIA__COMPARE_COUNT},
                  {"PATHS", PYTHIA__COMPARE_STRUCTURE}};
    pythia__doc_gap(b->d);
    pythia__doc_heading(b->d, 2, is_worse(b, t) ? PYTHIA__DOC_CAUSE : PYTHIA__DOC_NOTE);
    pythia__say_compared_type(b->d, b->s, t);
    pythia__doc_aside(b->d);
    say_means(b, t);
    if (t->mean_test.q <= b->alpha) {
        pythia__doc_entry(b->d, "CAUSE", PYTHIA__DOC_WHERE);
        say_part_of_change(b, t, false);
        pythia__doc_entry(b->d, "SURE", PYTHIA__DOC_REMARK);
        pythia__say_chance(b->d, t->mean_test.q);
        pythia__doc_words(b->d, ": ");
        pythia__doc_count(b->d, (double)t->count.before, " request before, ", " requests before, ");
        pythia__doc_count(b->d, (double)t->count.after, " after", " after");
    }
    if (t->variance_test.q <= b->alpha) {
        pythia__doc_entry(b->d, "VARIES", PYTHIA__DOC_WHY);
        say_sd(b, t);
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        pythia__doc_entry(b->d, others[i].label, PYTHIA__DOC_REMARK);
        pythia__compare_findings[others[i].finding](b->d, b->s, t);
    }
    add_edges(b, t);
}

/* ---- a line ---- */

static const struct pythia__doc_column line_columns[] = {
    {.title = "", .max = 32}, {.title = ""}, {.title = "", .flexible = true}};

static void add_line(const struct compare_brief *b, const struct pythia_compared_type *t)
{
    static const int others[] = {PYTHIA__COMPARE_FAILURES, PYTHIA__COMPARE_COUNT,
                                 PYTHIA__COMPARE_STRUCTURE};
    pythia__doc_row(b->d, is_worse(b, t) ? PYTHIA__DOC_CAUSE : PYTHIA__DOC_NOTE);
    pythia__doc_cell(b->d);
    pythia__say_compared_type(b->d, b->s, t);
    pythia__doc_cell(b->d);
    say_means(b, t);
    pythia__doc_cell(b->d);
    if (t->mean_test.q <= b->alpha) {
        say_part_of_change(b, t, false);
        return;
    }
    if (t->variance_test.q <= b->alpha) {
        say_sd(b, t);
        return;
    }
    const struct pythia__doc_run *before = b->d->line->last;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]) && b->d->line->last == before; i++)
        pythia__compare_findings[others[i]](b->d, b->s, t);
    if (b->d->line->last == before) {
        size_t changed = pythia__count_changed_edges(t, b->alpha);
        pythia__doc_words(b->d, "%zu edge%s changed; the mean may be the same", changed,
                          changed == 1 ? "" : "s");
    }
}

static void add_types(const struct compare_brief *b)
{
    size_t count = 0, shown = 0;
    const struct pythia_compared_type **types = order_types(b, &count);
    while (shown < count && shown < b->level->blocks && (shown == 0 || is_worse(b, types[shown])))
        add_block(b, types[shown++]);
    size_t end = shown + b->level->lines < count ? shown + b->level->lines : count;
    if (shown < end) {
        pythia__doc_gap(b->d);
        pythia__doc_table(b->d, line_columns, sizeof(line_columns) / sizeof(line_columns[0]));
    }
    while (shown < end)
        add_line(b, types[shown++]);
    pythia__doc_more(b->d, count, shown, "changed type", "changed types");
}

/* ---- the whole ---- */

static void add_side(const struct compare_brief *b, const struct pythia_compare_input *in)
{
    const char *path = in->paths[0], *slash = strrchr(path, '/');
    if (in->path_count == 1 && strcmp(path, "-") != 0) {
        struct pythia_text name = pythia_text_of(slash && slash[1] ? slash + 1 : path);
        (void)pythia__doc_name(b->d, PYTHIA__DOC_FILE, name, name, pythia_text_of(path));
    } else {
        pythia__doc_count(b->d, (double)in->result->files, " file", " files");
    }
}

static void add_head(const struct compare_brief *b)
{
    pythia__doc_paragraph(b->d, PYTHIA__DOC_TEXT);
    add_side(b, b->s->before);
    pythia__doc_words(b->d, ", then ");
    add_side(b, b->s->after);
    pythia__doc_words(b->d, "   ");
    pythia__doc_count(b->d, (double)b->s->before->result->counts.traces, " request, then ",
                      " requests, then ");
    pythia__doc_count(b->d, (double)b->s->after->result->counts.traces, " \xC2\xB7 ", " \xC2\xB7 ");
    pythia__doc_count(b->d, (double)b->s->comparison->type_count, " type", " types");
    pythia__doc_gap(b->d);
    pythia__doc_paragraph(b->d, PYTHIA__DOC_LEAD);
    pythia__say_conclusion(b->d, b->s);
}

/* Types about which there is nothing to say, counted. */
static void add_rest(const struct compare_brief *b)
{
    const struct pythia_comparison *c = b->s->comparison;
    size_t same = 0, few = 0;
    for (size_t i = 0; i < c->type_count; i++) {
        same += c->types[i].status == PYTHIA_COMPARED_SAME;
        few += c->types[i].status == PYTHIA_COMPARED_TOO_FEW;
    }
    if (same + few > 0)
        pythia__doc_gap(b->d);
    if (few > 0) {
        pythia__doc_paragraph(b->d, PYTHIA__DOC_TEXT);
        pythia__doc_words(b->d, "%zu type%s fewer than %zu requests on a side", few,
                          few == 1 ? " has" : "s have", c->min_requests);
    }
    if (same > 0) {
        pythia__doc_paragraph(b->d, PYTHIA__DOC_TEXT);
        pythia__doc_words(b->d, "%zu type%s not change significantly", same,
                          same == 1 ? " did" : "s did");
    }
    pythia__doc_gap(b->d);
    pythia__doc_paragraph(b->d, PYTHIA__DOC_TEXT);
    pythia__doc_words(b->d, "Details: --verbose    Page: --format html");
}

static int build_level(const void *context, size_t level, struct pythia__doc *d)
{
    const struct pythia_compare_source *s = context;
    const struct compare_brief b = {s, &levels[level], d, s->comparison->alpha};
    add_head(&b);
    add_types(&b);
    add_rest(&b);
    return PYTHIA_OK;
}

int pythia__compare_brief(const struct pythia_compare_source *s, struct pythia__doc_levels *out)
{
    return pythia__doc_levels_make(build_level, s, LEVELS, out);
}
