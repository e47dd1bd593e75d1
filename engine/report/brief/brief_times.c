/* How long the requests of an item took, where the time goes, and what to run next. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "brief.h"
#include "document/document_names.h"
#include "page/pictures.h"
#include "results/examples.h"
#include "sentences/sentences.h"
#include "write/words.h"

#define BINS         20
#define SHARE_MIN    .15 /* of the latency variance: places with less are not in the table */
#define PLACES_MAX   3
#define OPERANDS_MAX 200u /* characters of the paths in a command */

/* ---- percentiles ---- */

static void add_percentiles(const struct pythia__brief *b, const struct pythia_group *g)
{
    const struct {
        const char *label;
        double ns;
    } all[] = {{"p50 ", g->p50_ns}, {"p90 ", g->p90_ns}, {"p99 ", g->p99_ns}};
    uint64_t counts[BINS] = {0};
    pythia__doc_gap(b->d);
    pythia__doc_paragraph(b->d, PYTHIA__DOC_TEXT);
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        pythia__doc_words(b->d, i ? "   %s" : "  %s", all[i].label);
        pythia__doc_duration(b->d, all[i].ns);
    }
    double low = 0, width = 0;
    if (g->sketch && pythia__count_bins(g->sketch, BINS, counts, &low, &width) == BINS) {
        pythia__doc_words(b->d, "     ");
        pythia__doc_spark(b->d, counts, BINS);
    }
}

/* ---- where the time goes ---- */

static const struct pythia__doc_column columns[] = {
    {.title = "where the time goes", .flexible = true, .one_line = true},
    {.title = "mean", .right = true},
    {.title = "variance", .one_line = true}};

static void begin_row(const struct pythia__brief *b, size_t depth, bool gap)
{
    pythia__doc_row(b->d, PYTHIA__DOC_PLAIN);
    pythia__doc_cell(b->d);
    for (size_t i = 1; i < depth; i++)
        pythia__doc_words(b->d, "  ");
    pythia__doc_words(b->d, depth > 0 ? "\xE2\x94\x94 " : "");
    pythia__doc_words(b->d, gap ? "\xE2\x80\xA6 " : "");
}

static void add_context(const struct pythia__brief *b, const struct pythia_group *g, uint32_t node,
                        size_t depth, bool gap)
{
    const struct pythia_cct *cct = pythia_groups_cct(b->s->groups);
    const struct pythia_ranked_context *c = pythia_ranking_context(&g->ranking, node);
    begin_row(b, depth, gap);
    pythia__doc_point(b->d, b->s->vocabulary, pythia_cct_tracepoint(cct, node));
    pythia__doc_cell(b->d);
    if (c)
        pythia__doc_duration(b->d, c->mean_ns);
}

/* A share may come out above 1 by chance; surely above 1, other places take less where this one
 * takes more. */
static void add_share_bar(const struct pythia__brief *b, double mean_ns, double share, double low)
{
    pythia__doc_cell(b->d);
    pythia__doc_duration(b->d, mean_ns);
    pythia__doc_cell(b->d);
    if (!isfinite(share))
        return;
    pythia__doc_bar(b->d, PYTHIA__DOC_SHARE, share, NAN, NAN);
    pythia__doc_words(b->d, " ");
    pythia__doc_percent(b->d, fmin(share, 1));
    if (low > 1)
        pythia__doc_words(b->d, ", partly made up for elsewhere");
}

/* The chain of calls down to `node`, but for what is between the first and the last two of it.
 * Returns how deep the last row is, plus 1. `self`: the node itself has a row. */
static size_t add_chain(const struct pythia__brief *b, const struct pythia_group *g, uint32_t node,
                        bool self)
{
    const struct pythia_cct *cct = pythia_groups_cct(b->s->groups);
    uint32_t deep = pythia_cct_depth(cct, node);
    size_t rows = 0;
    uint32_t end = self ? deep : deep - (deep > 0);
    if (end == 0)
        return 0;
    add_context(b, g, pythia_cct_ancestor(cct, node, 1), rows++, false);
    if (end > 1)
        add_context(b, g, pythia_cct_ancestor(cct, node, end), rows++, end > 2);
    return rows;
}

static bool is_own_edge(const struct pythia_cct *cct, const struct pythia_group *g, uint32_t edge)
{
    return g->own.tracepoint != PYTHIA_NONE &&
           pythia_cct_tracepoint(cct, pythia_cct_edge_at(cct, edge)->context) == g->own.tracepoint;
}

/* The places with the largest shares. The chain of calls leads to the first. */
static void add_places(const struct pythia__brief *b, const struct pythia_group *g, size_t depth)
{
    const struct pythia_cct *cct = pythia_groups_cct(b->s->groups);
    size_t shown = depth > 0;
    for (size_t i = 0; i < g->ranking.edge_count && shown < PLACES_MAX; i++) {
        const struct pythia_ranked_edge *e = &g->ranking.edges[i];
        if (e->few || !(e->share.share >= SHARE_MIN) || is_own_edge(cct, g, e->edge))
            continue;
        struct pythia_place place = pythia_place_of(cct, e->edge);
        bool inside =
            place.context == place.from_tracepoint && place.from_tracepoint == place.to_tracepoint;
        if (shown == 0)
            depth = add_chain(b, g, pythia_cct_edge_at(cct, e->edge)->context, !inside);
        begin_row(b, depth, false);
        pythia__doc_place_row(b->d, b->s->vocabulary, &place);
        add_share_bar(b, e->share.mean, e->share.share, e->share.low);
        depth = depth > 0 ? depth : 1;
        shown++;
    }
}

/* A node of the trace point whose own time is named; PYTHIA_NONE: there is none. */
static uint32_t find_node(const struct pythia__brief *b, const struct pythia_group *g)
{
    const struct pythia_cct *cct = pythia_groups_cct(b->s->groups);
    for (size_t i = 0; i < g->ranking.context_count; i++)
        if (pythia_cct_tracepoint(cct, g->ranking.contexts[i].node) == g->own.tracepoint)
            return g->ranking.contexts[i].node;
    return PYTHIA_NONE;
}

static void add_times_table(const struct pythia__brief *b, const struct pythia_group *g)
{
    size_t depth = 0;
    pythia__doc_table(b->d, columns, sizeof(columns) / sizeof(columns[0]));
    uint32_t node = g->own.tracepoint == PYTHIA_NONE ? PYTHIA_NONE : find_node(b, g);
    if (node != PYTHIA_NONE) {
        struct pythia_place own = pythia_place_own(g->own.tracepoint);
        depth = add_chain(b, g, node, false);
        begin_row(b, depth, false);
        pythia__doc_place_row(b->d, b->s->vocabulary, &own);
        add_share_bar(b, g->own.mean_ns, g->own.share.slope, g->own.share.low);
        depth = depth > 0 ? depth : 1;
    }
    add_places(b, g, depth);
    if (b->d->failed || b->d->last->first || g->inclusive == PYTHIA_CCT_ROOT)
        return;
    const struct pythia_ranked_context *c = pythia_ranking_context(&g->ranking, g->inclusive);
    depth = add_chain(b, g, g->inclusive, false);
    begin_row(b, depth, false);
    pythia__doc_words(b->d, "all below ");
    pythia__doc_point(b->d, b->s->vocabulary,
                      pythia_cct_tracepoint(pythia_groups_cct(b->s->groups), g->inclusive));
    add_share_bar(b, c ? c->mean_ns : NAN, c ? c->share.slope : NAN, c ? c->share.low : NAN);
}

static bool has_table(const struct pythia_group *g)
{
    bool place = g->own.tracepoint != PYTHIA_NONE || g->inclusive != PYTHIA_CCT_ROOT;
    for (size_t i = 0; i < g->ranking.edge_count && !place; i++)
        place = !g->ranking.edges[i].few && g->ranking.edges[i].share.share >= SHARE_MIN;
    return place && pythia_ranking_has_shares(&g->ranking);
}

void pythia__brief_times(const struct pythia__brief *b, const struct pythia__item *item)
{
    const struct pythia_group *g = item->group;
    if (!g)
        return;
    add_percentiles(b, g);
    if (b->level->times && has_table(g))
        add_times_table(b, g);
}

/* ---- what to run next ---- */

/* A path as a word of a shell. */
static void add_quoted(struct pythia_buf *to, const char *path)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                               "_./:@%+=,-";
    if (path[0] && path[strspn(path, safe)] == '\0') {
        pythia_buf_puts(to, path);
        return;
    }
    pythia_buf_putc(to, '\'');
    for (; *path; path++)
        if (*path == '\'')
            pythia_buf_puts(to, "'\\''");
        else
            pythia_buf_putc(to, *path);
    pythia_buf_putc(to, '\'');
}

/* The paths of the input; nothing if they cannot be read again, or are too many to be shown. */
static void add_operands(struct pythia_buf *to, const struct pythia_report_source *s)
{
    if (s->events) {
        pythia_buf_puts(to, " --events ");
        add_quoted(to, s->events);
    }
    size_t begin = to->size;
    for (size_t i = 0; i < s->path_count; i++) {
        if (strcmp(s->paths[i], "-") == 0) {
            pythia_buf_puts(to, " FILE");
            return;
        }
        pythia_buf_putc(to, ' ');
        add_quoted(to, s->paths[i]);
    }
    if (to->size - begin > OPERANDS_MAX && to->bytes) {
        to->bytes[to->size = begin] = '\0';
        pythia_buf_puts(to, " PATH...");
    }
}

static void add_command(const struct pythia__brief *b, size_t *shown, struct pythia_buf *command)
{
    if (*shown == 0)
        pythia__doc_gap(b->d);
    pythia__doc_entry(b->d, (*shown)++ == 0 ? "NEXT" : "", PYTHIA__DOC_TEXT);
    pythia__doc_take(b->d, PYTHIA__DOC_CODE, command);
}

static void add_trace(const struct pythia__brief *b, size_t *shown, const struct pythia_row *row,
                      const char *which)
{
    struct pythia_buf command = {0};
    if (!row || (b->s->live && !b->s->trace_url))
        return;
    if (b->s->trace_url) {
        pythia__example_address(&command, b->s->trace_url, row);
    } else {
        pythia_buf_puts(&command, "pythia tree --trace ");
        pythia__example_id(&command, row);
        add_operands(&command, b->s);
    }
    add_command(b, shown, &command);
    struct pythia_buf comment = {0};
    pythia_buf_printf(&comment, "# %s, ", which);
    pythia__add_duration(&comment, (double)row->duration_ns);
    pythia__doc_words(b->d, "  ");
    pythia__doc_take(b->d, PYTHIA__DOC_DIM, &comment);
}

void pythia__brief_next(const struct pythia__brief *b, const struct pythia__item *item)
{
    const struct pythia_group *g = item->group;
    const struct pythia_row *slowest, *typical;
    size_t shown = 0;
    if (!g || b->level->examples == 0)
        return;
    pythia__find_examples(g, &slowest, &typical);
    add_trace(b, &shown, slowest, "slowest");
    if (typical != slowest && shown < b->level->examples)
        add_trace(b, &shown, typical, "typical");
    if (b->s->live || g->splits.count == 0 || shown >= b->level->examples)
        return;
    struct pythia_buf command = {0};
    pythia_buf_printf(&command, "pythia replay%s --split '%s'", b->s->loop ? " --closed-loop" : "",
                      g->splits.all[0].text); /* which has no quote in it */
    add_operands(&command, b->s);
    if (command.size <= (size_t)2 * OPERANDS_MAX)
        add_command(b, &shown, &command);
    else
        pythia_buf_free(&command);
}
