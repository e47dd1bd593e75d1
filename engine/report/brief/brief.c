#include "brief.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "document/document_names.h"
#include "pythia/mem.h"
#include "pythia/status.h"
#include "sentences/sentences.h"

#define INCOMPLETE_MIN .01 /* of the requests: fewer are not worth a line */
#define NEXT_SHOWN     3
#define LISTED_MAX     1000 /* types, with --all */

/* ---- head ---- */

static void add_origin(const struct pythia__brief *b)
{
    const struct pythia_report_source *s = b->s;
    if (s->live) {
        pythia__doc_strong(b->d, "live");
    } else if (s->path_count == 1 && strcmp(s->paths[0], "-") != 0) {
        const char *slash = strrchr(s->paths[0], '/');
        struct pythia_text name = pythia_text_of(slash && slash[1] ? slash + 1 : s->paths[0]);
        (void)pythia__doc_name(b->d, PYTHIA__DOC_FILE, name, name, pythia_text_of(s->paths[0]));
    } else {
        pythia__doc_count(b->d, (double)s->input->files, " file", " files");
    }
}

static void add_brief_head(const struct pythia__brief *b)
{
    const struct pythia_counts *n = &b->s->input->counts;
    size_t types = b->s->diagnosis->type_count;
    const struct {
        uint64_t count;
        const char *what;
    } lost[] = {{pythia_counts_dropped_spans(n), " dropped"},
                {n->hidden, " hidden by closed trace points"}};
    pythia__doc_paragraph(b->d, PYTHIA__DOC_TEXT);
    add_origin(b);
    pythia__doc_words(b->d, "   ");
    pythia__doc_count(b->d, (double)n->traces, " request", " requests");
    pythia__doc_words(b->d, " \xC2\xB7 ");
    pythia__doc_count(b->d, (double)types, " type", " types");
    pythia__doc_words(b->d, " \xC2\xB7 ");
    pythia__doc_count(b->d, (double)n->kept, " span", " spans");
    for (size_t i = 0; i < sizeof(lost) / sizeof(lost[0]); i++)
        if (lost[i].count > 0) {
            pythia__doc_words(b->d, " \xC2\xB7 ");
            pythia__doc_count(b->d, (double)lost[i].count, lost[i].what, lost[i].what);
        }
}

/* Problems of the input that limit how far the report can be trusted; they come last. */
static void add_caveats(const struct pythia__brief *b)
{
    const struct pythia_diagnosis *d = b->s->diagnosis;
    const struct pythia_counts *n = &b->s->input->counts;
    uint64_t incomplete = pythia__sum_of(n->incomplete, PYTHIA_INCOMPLETES),
             clocks = n->repaired[PYTHIA_REPAIR_CLOCK_BASE];
    if (d->seen != d->requests) {
        pythia__doc_paragraph(b->d, PYTHIA__DOC_TEXT);
        pythia__doc_words(b->d, "Sampled: ");
        pythia__doc_count(b->d, (double)d->seen, " request stands for ", " requests stand for ");
        pythia__doc_count(b->d, (double)d->requests, "", "");
    }
    if ((double)incomplete > INCOMPLETE_MIN * (double)n->traces) {
        pythia__doc_paragraph(b->d, PYTHIA__DOC_TEXT);
        pythia__doc_percent(b->d, (double)incomplete / (double)n->traces);
        pythia__doc_words(b->d, " of the requests are incomplete and were left out");
    }
    if (clocks > 0) {
        pythia__doc_paragraph(b->d, PYTHIA__DOC_TEXT);
        pythia__doc_count(b->d, (double)clocks, " span", " spans");
        pythia__doc_words(b->d, " by a clock without a common base; only durations are used there");
    }
}

/* The option that lists everything. */
static const char *option_to_list_all(const struct pythia__brief *b)
{
    return b->s->live ? "--verbose" : "--all";
}

/* ---- expectations ---- */

static size_t list_expected(const struct pythia__brief *b, enum pythia_expected_state state,
                            size_t shown)
{
    const struct pythia_expected_results *all = b->s->expected;
    for (size_t i = 0; i < all->count && shown < b->level->lines; i++) {
        if (all->list[i].state != state)
            continue;
        pythia__doc_item(b->d);
        pythia__say_expected(b->d, b->s, &all->list[i]);
        shown++;
    }
    return shown;
}

/* Each violation has a line, as long as there are lines, and then what cannot be judged: its type
 * may be misspelt. */
static void add_expected(const struct pythia__brief *b)
{
    const struct pythia_expected_results *all = b->s->expected;
    if (!all)
        return;
    size_t violated = pythia_expected_results_count(all, PYTHIA_EXPECTED_VIOLATED);
    size_t few = pythia_expected_results_count(all, PYTHIA_EXPECTED_TOO_FEW);
    pythia__doc_gap(b->d);
    pythia__doc_heading(b->d, 2, violated > 0 ? PYTHIA__DOC_CAUSE : PYTHIA__DOC_PLAIN);
    pythia__say_expected_counts(b->d, all);
    size_t shown = list_expected(b, PYTHIA_EXPECTED_VIOLATED, 0);
    shown = list_expected(b, PYTHIA_EXPECTED_TOO_FEW, shown);
    pythia__doc_more(b->d, violated + few, shown, "expectation", "expectations");
}

/* ---- items ---- */

static const struct pythia__doc_column item_columns[] = {
    {.title = "", .max = 36}, {.title = "", .right = true}, {.title = "", .flexible = true}};

static void add_brief_block(const struct pythia__brief *b, const struct pythia__item *item)
{
    pythia__doc_gap(b->d);
    pythia__doc_heading(b->d, 2,
                        pythia__item_matters(b, item) ? PYTHIA__DOC_CAUSE : PYTHIA__DOC_NOTE);
    pythia__brief_title(b, item, true);
    pythia__doc_aside(b->d);
    if (isfinite(item->share)) {
        pythia__doc_percent(b->d, item->share);
        pythia__doc_words(b->d, " of all latency variance");
    }
    pythia__doc_entry(b->d, "CAUSE", PYTHIA__DOC_WHERE);
    (void)pythia__brief_cause(b, item, true);
    pythia__doc_entry(b->d, "NEW", PYTHIA__DOC_WHERE);
    pythia__brief_new(b, item);
    if (item->kind != PYTHIA__ITEM_ENDED) {
        pythia__doc_entry(b->d, "WHEN", PYTHIA__DOC_WHY);
        if (!pythia__brief_when(b, item, true))
            pythia__doc_words(b->d, "no key correlates with it");
        pythia__doc_entry(b->d, "NOT", PYTHIA__DOC_REMARK);
        pythia__brief_measured(b, item);
        pythia__doc_entry(b->d, "SURE", PYTHIA__DOC_REMARK);
        pythia__brief_sure(b, item);
        pythia__doc_entry(b->d, "OF", PYTHIA__DOC_REMARK);
        pythia__brief_instance(b, item);
    }
    pythia__brief_times(b, item);
    pythia__brief_next(b, item);
}

static void add_brief_line(const struct pythia__brief *b, const struct pythia__item *item)
{
    pythia__doc_row(b->d, pythia__item_matters(b, item) ? PYTHIA__DOC_CAUSE : PYTHIA__DOC_NOTE);
    pythia__doc_cell(b->d);
    pythia__brief_title(b, item, false);
    pythia__doc_cell(b->d);
    if (isfinite(item->share))
        pythia__doc_percent(b->d, item->share);
    pythia__doc_cell(b->d);
    /* The most important comes first, because the end of the line may be truncated. */
    bool place = pythia__has_place(item), key = !place && pythia__brief_when(b, item, false);
    pythia__doc_words(b->d, key ? "; " : "");
    (void)pythia__brief_cause(b, item, false);
    if (!place)
        return;
    pythia__doc_words(b->d, "; ");
    if (!pythia__brief_when(b, item, false))
        pythia__doc_words(b->d, "no key correlates");
}

/* Blocks are for causes that matter; if there is none, for the first item. */
static void add_items(const struct pythia__brief *b)
{
    size_t blocks = 0, lines = 0;
    while (blocks < b->item_count && blocks < b->level->blocks &&
           (blocks == 0 || pythia__item_matters(b, &b->items[blocks])))
        add_brief_block(b, &b->items[blocks++]);
    if (blocks < b->item_count && b->level->lines > 0) {
        pythia__doc_gap(b->d);
        pythia__doc_table(b->d, item_columns, sizeof(item_columns) / sizeof(item_columns[0]));
    }
    for (; blocks + lines < b->item_count && lines < b->level->lines; lines++)
        add_brief_line(b, &b->items[blocks + lines]);
    if (blocks + lines < b->item_count) {
        pythia__doc_paragraph(b->d, PYTHIA__DOC_TEXT);
        pythia__doc_words(b->d, "and %zu more (--all lists them)", b->item_count - blocks - lines);
    }
}

/* ---- what there is nothing to say of ---- */

struct rest {
    size_t too_few, quiet, slow;
};

/* Types by the best that is known of one of their groups. */
static int count_types(const struct pythia_diagnosis *d, struct rest *out)
{
    enum { UNSEEN, FEW, QUIET, SLOW, FOUND };
    static const unsigned char of[] = {[PYTHIA_GROUP_DIAGNOSED] = FOUND,
                                       [PYTHIA_GROUP_QUIET] = QUIET,
                                       [PYTHIA_GROUP_SLOW] = SLOW,
                                       [PYTHIA_GROUP_TOO_FEW] = FEW};
    unsigned char *states = pythia_calloc(d->type_count + 1, 1);
    if (!states)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < d->group_count; i++) {
        unsigned char state = of[d->groups[i].status];
        if (state > states[d->groups[i].type])
            states[d->groups[i].type] = state;
    }
    for (size_t i = 0; i < d->type_count; i++) {
        out->too_few += states[i] == FEW;
        out->quiet += states[i] == QUIET;
        out->slow += states[i] == SLOW;
    }
    pythia_free(states);
    return PYTHIA_OK;
}

static void add_rest_line(const struct pythia__brief *b, size_t count, const char *one,
                          const char *many, bool listed)
{
    if (count == 0)
        return;
    pythia__doc_paragraph(b->d, PYTHIA__DOC_TEXT);
    pythia__doc_count(b->d, (double)count, one, many);
    if (!listed)
        pythia__doc_words(b->d, " (%s lists them)", option_to_list_all(b));
}

static const struct pythia__doc_column rest_columns[] = {
    {.title = "other types", .flexible = true, .one_line = true},
    {.title = "requests", .right = true},
    {.title = "mean", .right = true},
    {.title = ""}};

static void add_listed(const struct pythia__brief *b)
{
    static const char *const words[] = {[PYTHIA_GROUP_DIAGNOSED] = "",
                                        [PYTHIA_GROUP_QUIET] = "does not vary",
                                        [PYTHIA_GROUP_SLOW] = "always slow",
                                        [PYTHIA_GROUP_TOO_FEW] = "too few requests"};
    const struct pythia_diagnosis *d = b->s->diagnosis;
    size_t others = 0;
    for (size_t i = 0; i < d->group_count; i++)
        others += d->groups[i].status != PYTHIA_GROUP_DIAGNOSED;
    if (others == 0)
        return;
    pythia__doc_gap(b->d);
    pythia__doc_table(b->d, rest_columns, sizeof(rest_columns) / sizeof(rest_columns[0]));
    for (size_t i = 0, shown = 0; i < d->group_count && shown < LISTED_MAX; i++) {
        const struct pythia_group *g = &d->groups[i];
        if (g->status == PYTHIA_GROUP_DIAGNOSED)
            continue;
        pythia__doc_row(b->d, PYTHIA__DOC_PLAIN);
        pythia__doc_cell(b->d);
        pythia__doc_type(b->d, b->s->vocabulary, d->types[g->type].type, PYTHIA_NONE);
        pythia__doc_cell(b->d);
        pythia__doc_count(b->d, (double)g->count, "", "");
        pythia__doc_cell(b->d);
        pythia__doc_duration(b->d, g->mean_ns);
        pythia__doc_cell(b->d);
        pythia__doc_words(b->d, "%s", words[g->status]);
        shown++;
    }
}

static int add_rest(const struct pythia__brief *b)
{
    struct rest n = {0};
    size_t least = b->s->min_requests ? b->s->min_requests : 30;
    char one[80], many[80];
    int status = count_types(b->s->diagnosis, &n);
    if (b->item_count == 0) {
        pythia__doc_gap(b->d);
        pythia__doc_heading(b->d, 2, PYTHIA__DOC_PLAIN);
        pythia__doc_words(b->d, n.quiet + n.slow > 0
                                    ? "No request type varies notably."
                                    : "Not enough data: no type has enough requests.");
    }
    if (b->s->all)
        add_listed(b);
    else if (b->item_count + n.too_few + n.quiet + n.slow > 0)
        pythia__doc_gap(b->d);
    (void)snprintf(one, sizeof(one), " type has fewer than %zu requests", least);
    (void)snprintf(many, sizeof(many), " types have fewer than %zu requests", least);
    add_rest_line(b, n.too_few, one, many, b->s->all);
    add_rest_line(b, n.quiet, " type does not vary", " types do not vary", b->s->all);
    add_rest_line(b, n.slow, " type is always slow", " types are always slow", b->s->all);
    if (b->s->diagnosis->not_asked > 0) {
        pythia__doc_paragraph(b->d, PYTHIA__DOC_TEXT);
        pythia__doc_count(b->d, (double)b->s->diagnosis->not_asked,
                          " type was not analysed closely (--report-types)",
                          " types were not analysed closely (--report-types)");
    }
    return status;
}

/* ---- what to open ---- */

static const struct pythia__doc_column next_columns[] = {
    {.title = "open next", .flexible = true, .one_line = true},
    {.title = "shows up to", .right = true},
    {.title = "per request", .right = true}};

/* Closed trace points; where everything was open there is nothing to open. */
static void add_brief_suggestions(const struct pythia__brief *b)
{
    if (!b->s->open || b->s->next_count == 0)
        return;
    pythia__doc_gap(b->d);
    pythia__doc_table(b->d, next_columns, sizeof(next_columns) / sizeof(next_columns[0]));
    for (size_t i = 0; i < b->s->next_count && i < NEXT_SHOWN; i++) {
        const struct pythia_suggestion *s = &b->s->next[i];
        pythia__doc_row(b->d, PYTHIA__DOC_PLAIN);
        pythia__doc_cell(b->d);
        pythia__doc_point(b->d, b->s->vocabulary, s->tracepoint);
        pythia__doc_cell(b->d);
        pythia__doc_percent(b->d, s->gain);
        pythia__doc_cell(b->d);
        pythia__doc_duration(b->d, s->cost_ns);
    }
}

/* ---- all of it ---- */

static int build_document(const struct pythia__brief *b)
{
    add_brief_head(b);
    add_expected(b);
    add_items(b);
    add_brief_suggestions(b);
    int status = add_rest(b);
    add_caveats(b);
    pythia__brief_search(b);
    pythia__doc_gap(b->d);
    pythia__doc_paragraph(b->d, PYTHIA__DOC_TEXT);
    pythia__doc_words(b->d, "%s",
                      b->s->live ? "Details: --verbose    Page: in a browser"
                                 : "Details: --verbose    Page: --format html");
    return status;
}

/* From the most to the least. The last has at most PYTHIA_REPORT_LINES lines, whatever the input:
 * names take a line each at most, of which a block has twelve. */
static const struct pythia__brief_level levels[PYTHIA__DOC_LEVELS] = {
    {3, 8, 12, 3, true}, {2, 8, 8, 3, true}, {1, 8, 8, 3, true},  {1, 5, 5, 3, true},
    {1, 3, 3, 2, true},  {1, 3, 2, 1, true}, {1, 2, 1, 1, false}, {1, 1, 0, 0, false},
};
static const struct pythia__brief_level everything = {3, SIZE_MAX, SIZE_MAX, 3, true};

static int build_level(const void *context, size_t level, struct pythia__doc *d)
{
    struct pythia__brief b = *(const struct pythia__brief *)context;
    b.level = b.s->all ? &everything : &levels[level];
    b.d = d;
    return build_document(&b);
}

int pythia__brief_make(const struct pythia_report_source *s, struct pythia__doc_levels *out)
{
    struct pythia__item *items = NULL;
    struct pythia__brief b = {.s = s};
    int status = pythia__items_collect(s, &items, &b.item_count);
    b.items = items;
    if (status == PYTHIA_OK)
        status = pythia__doc_levels_make(build_level, &b, s->all ? 1 : PYTHIA__DOC_LEVELS, out);
    pythia_free(items);
    return status;
}
