/* The mean critical path of a group as an icicle: trace points hang below those that they are in,
 * as wide as the time that a request spends in them, and coloured by their share of the variance.
 *
 *     | the whole request                                                 |
 *     | A                                       | B         |             <- not covered: own time
 *     | C              | D       |              | C    |
 *
 * The tree is that of the edges' contexts. An edge's time is the own time of the innermost point of
 * its context, and adds to all those above it; so does its share, since shares add up. From left to
 * right stands what the most common path passes first. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pictures.h"
#include "pythia/mem.h"
#include "pythia/shown_text.h"
#include "write/page_pieces.h"
#include "write/words.h"

#define ROW           24
#define ROWS_MAX      40   /* deeper ones are counted, not drawn */
#define BOXES_MAX     1500 /* of them, top rows first */
#define NARROWEST     .001 /* of the width: less than a pixel or so */
#define TYPICAL_WIDTH 1060 /* pixels that text is measured for; a box on a smaller page cuts it */
#define GLYPH_WIDTH   7.2  /* pixels of a character, about */
#define GLYPHS_MIN    7    /* fewer say nothing */
#define TITLE_LIMIT   500  /* characters of a name */
#define NONE          SIZE_MAX

struct node {
    struct pythia_text name; /* borrowed from the vocabulary */
    size_t parent;           /* of the root: NONE; a parent stands before its children */
    size_t depth;
    size_t seen;            /* where the most common path enters it; NONE: it does not */
    size_t kids, kid_count; /* a run of `order` */
    double own, mean;       /* ns of a request: in it alone, and with all that is below */
    double own_share, share;
    double left; /* of the root's mean */
};

struct pythia__icicle {
    struct node *nodes; /* [0]: the root */
    size_t count;
    size_t *order; /* all but the root, by parent and then from left to right */
    size_t cut;    /* edges below the last row */
};

/* Boxes that are not drawn: hardly a pixel wide; above BOXES_MAX. */
struct left_out {
    size_t narrow, many;
    double narrow_ns;
};

/* ---- the tree ---- */

static double or_zero(double number)
{
    return isfinite(number) ? number : 0;
}

/* The node of a context of the ranking, which has all its ancestors but the root. */
static size_t node_of(const struct pythia_group *g, uint32_t context)
{
    const struct pythia_ranked_context *c = pythia_ranking_context(&g->ranking, context);
    return c ? (size_t)(c - g->ranking.contexts) + 1 : 0;
}

/* A node for each context, with the time and the share of all that is in it. */
static void fill_nodes(struct pythia__icicle *t, const struct pythia_cct *cct,
                       const struct pythia_vocabulary *v, const struct pythia_group *g)
{
    bool shares = pythia_ranking_has_shares(&g->ranking);
    t->nodes[0] = (struct node){.parent = NONE, .seen = NONE};
    for (size_t i = 0; i < g->ranking.edge_count; i++) {
        const struct pythia_ranked_edge *e = &g->ranking.edges[i];
        t->nodes[0].mean += fmax(or_zero(e->share.mean), 0);
        t->nodes[0].share += shares ? or_zero(e->share.share) : 0;
        t->cut += pythia_cct_depth(cct, pythia_cct_edge_at(cct, e->edge)->context) > ROWS_MAX;
    }
    for (size_t i = 1; i < t->count; i++) {
        const struct pythia_ranked_context *c = &g->ranking.contexts[i - 1];
        t->nodes[i] = (struct node){
            .name = pythia_vocabulary_tracepoint_id(v, pythia_cct_tracepoint(cct, c->node)),
            .parent = node_of(g, pythia_cct_parent(cct, c->node)),
            .depth = pythia_cct_depth(cct, c->node),
            .seen = NONE,
            .mean = fmax(or_zero(c->mean_ns), 0),
            .share = shares ? or_zero(c->share.slope) : 0};
    }
    for (size_t i = 0; i < t->count; i++) {
        struct node *node = &t->nodes[i];
        node->own += node->mean;
        node->own_share += node->share;
        if (node->parent != NONE) {
            t->nodes[node->parent].own -= node->mean;
            t->nodes[node->parent].own_share -= node->share;
        }
    }
    for (size_t i = 0; i < t->count; i++)
        t->nodes[i].own = fmax(t->nodes[i].own, 0);
}

/* Number the nodes as the most common path enters them. */
static void follow_path(struct pythia__icicle *t, const struct pythia_cct *cct,
                        const struct pythia_group *g)
{
    uint32_t gaps = g->shape ? g->shape->gap_count : 0;
    for (uint32_t i = 0; gaps > 0 && i <= gaps; i++) {
        const struct pythia_edge *edge =
            pythia_cct_edge_at(cct, g->shape->edges[g->shape->slots[i == 0 ? 0 : i - 1]]);
        bool starts = (i == 0 ? edge->from_event : edge->to_event) == PYTHIA_EVENT_START;
        uint32_t context = !starts  ? PYTHIA_NONE
                           : i == 0 ? edge->context
                                    : pythia_cct_find(cct, edge->context, edge->to_tracepoint);
        size_t node = context == PYTHIA_NONE ? 0 : node_of(g, context);
        if (node > 0 && t->nodes[node].seen == NONE)
            t->nodes[node].seen = i;
    }
}

/* ---- from left to right ---- */

/* qsort has no argument for what is sorted: so an item brings its keys. */
struct item {
    size_t node, parent, seen;
    double mean;
    struct pythia_text name;
};

static int compare_items(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    if (x->seen != y->seen)
        return x->seen < y->seen ? -1 : 1;
    if (x->mean != y->mean)
        return x->mean > y->mean ? -1 : 1;
    return pythia_text_compare(x->name, y->name);
}

/* Sort `order`, and tell each node which run of it is its children, and where it begins. Whether
 * there was memory. */
static bool lay_out_icicle(struct pythia__icicle *t)
{
    struct item *items = pythia_calloc(t->count, sizeof(*items));
    if (!items)
        return false;
    for (size_t i = 1; i < t->count; i++)
        items[i - 1] = (struct item){i, t->nodes[i].parent, t->nodes[i].seen, t->nodes[i].mean,
                                     t->nodes[i].name};
    if (t->count > 2)
        qsort(items, t->count - 1, sizeof(*items), compare_items);
    for (size_t i = 0; i + 1 < t->count; i++) {
        struct node *parent = &t->nodes[items[i].parent];
        if (parent->kid_count++ == 0)
            parent->kids = i;
        t->order[i] = items[i].node;
    }
    pythia_free(items);
    /* A context has a higher number than those above it, so parents come first. */
    for (size_t i = 0; i < t->count; i++) {
        double left = t->nodes[i].left;
        for (size_t k = 0; k < t->nodes[i].kid_count; k++) {
            struct node *kid = &t->nodes[t->order[t->nodes[i].kids + k]];
            kid->left = left;
            left += kid->mean / t->nodes[0].mean;
        }
    }
    return true;
}

const struct pythia__icicle *pythia__icicle_make(struct pythia__doc *d,
                                                 const struct pythia_cct *cct,
                                                 const struct pythia_vocabulary *v,
                                                 const struct pythia_group *g)
{
    struct pythia__icicle *t = pythia__doc_alloc(d, sizeof(*t));
    size_t count = g->ranking.context_count + 1;
    if (!t)
        return NULL;
    t->count = count;
    t->nodes = pythia__doc_alloc(d, count * sizeof(*t->nodes));
    t->order = pythia__doc_alloc(d, count * sizeof(*t->order));
    if (!t->nodes || !t->order)
        return NULL;
    fill_nodes(t, cct, v, g);
    follow_path(t, cct, g);
    if (!lay_out_icicle(t))
        d->failed = true;
    return t;
}

/* ---- drawing ---- */

static void add_icicle_part(struct pythia_buf *to, const char *words, double share)
{
    pythia_buf_puts(to, words);
    pythia__add_percent(to, share);
}

static struct pythia_text name_of(const struct node *n)
{
    return n->parent == NONE ? PYTHIA_TEXT("the whole request") : n->name;
}

static void write_node_title(struct pythia__html *h, const struct node *n)
{
    struct pythia_buf text = {0};
    pythia_shown_add(&text, name_of(n), TITLE_LIMIT);
    pythia_buf_puts(&text, ": ");
    pythia__add_duration(&text, n->mean);
    add_icicle_part(&text, " on the critical path, ", n->share);
    pythia_buf_puts(&text, " of the variance; its own share of that: ");
    pythia__add_duration(&text, n->own);
    add_icicle_part(&text, ", ", n->own_share);
    pythia__html_leaf(h, "title", NULL, text.bytes ? text.bytes : "");
    pythia_buf_free(&text);
}

/* The name and, where there is room, the figures. A box that has no room for a few letters has
 * none. */
static void write_node_caption(struct pythia__html *h, const struct node *n, double width)
{
    double room = (width * TYPICAL_WIDTH - 10) / GLYPH_WIDTH;
    struct pythia_text name = name_of(n);
    struct pythia_buf text = {0}, figures = {0};
    pythia__add_duration(&figures, n->mean);
    add_icicle_part(&figures, ", ", n->share);
    if (room < GLYPHS_MIN)
        goto out;
    bool both = (double)(pythia_glyph_count(name) + figures.size + 3) <= room;
    pythia_shown_add(&text, name, (size_t)room);
    if (both)
        pythia_buf_printf(&text, " \xC2\xB7 %s", figures.bytes ? figures.bytes : "");
    pythia__html_open(h, "text", "x", "5", "y", "16", NULL);
    pythia__html_attribute(h, "class", pythia__share_class(pythia__share_step(n->share)));
    pythia__html_text(h, text.bytes ? text.bytes : "");
    pythia__html_close(h);
out:
    pythia_buf_free(&text);
    pythia_buf_free(&figures);
}

/* A box is a picture of its own inside the picture: what sticks out of it is cut off. */
static void draw_node(struct pythia__html *h, const struct pythia__icicle *t, const struct node *n)
{
    double width = n->mean / t->nodes[0].mean;
    pythia__html_open(h, "svg", NULL);
    pythia__html_attribute_printf(h, "x", "%.3f%%", 100 * n->left);
    pythia__html_attribute_printf(h, "y", "%zu", n->depth * ROW);
    pythia__html_attribute_printf(h, "width", "%.3f%%", 100 * width);
    pythia__html_attribute_printf(h, "height", "%d", ROW);
    write_node_title(h, n);
    pythia__html_open(h, "rect", "width", "100%", "height", "100%", NULL);
    pythia__html_attribute(h, "class", pythia__share_class(pythia__share_step(n->share)));
    pythia__html_close(h);
    write_node_caption(h, n, width);
    pythia__html_close(h);
}

/* Row by row, and in a row from left to right: what there is no room for is at the bottom. False if
 * memory for the queue is missing. */
static bool draw_nodes(struct pythia__html *h, const struct pythia__icicle *t, struct left_out *out)
{
    size_t *queue = pythia_calloc(t->count, sizeof(*queue)), end = 1, boxes = 0;
    for (size_t i = 0; queue && i < end; i++) {
        const struct node *n = &t->nodes[queue[i]];
        bool narrow = !(n->mean >= NARROWEST * t->nodes[0].mean);
        if (n->depth > ROWS_MAX)
            continue;
        out->narrow += narrow && n->mean > 0;
        out->narrow_ns += narrow ? n->mean : 0;
        out->many += !narrow && boxes == BOXES_MAX;
        if (narrow || boxes == BOXES_MAX)
            continue; /* Spans below it are part of its time. */
        boxes++;
        draw_node(h, t, n);
        for (size_t k = 0; k < n->kid_count; k++)
            queue[end++] = t->order[n->kids + k];
    }
    pythia_free(queue);
    return queue != NULL;
}

/* Rows down to the deepest box that is wide enough. */
static size_t count_icicle_rows(const struct pythia__icicle *t)
{
    size_t deepest = 0;
    for (size_t i = 0; i < t->count; i++)
        if (t->nodes[i].mean >= NARROWEST * t->nodes[0].mean && t->nodes[i].depth > deepest &&
            t->nodes[i].depth <= ROWS_MAX)
            deepest = t->nodes[i].depth;
    return deepest + 1;
}

static void draw_share_legend(struct pythia__html *h)
{
    pythia__html_open(h, "ul", "class", "legend", "aria-label", "Colours: share of the variance",
                      NULL);
    pythia__html_leaf(h, "li", NULL, "Share of the variance:");
    for (size_t i = 0; i < PYTHIA__SHARE_STEPS; i++) {
        pythia__html_open(h, "li", NULL);
        pythia__html_leaf(h, "span", pythia__share_class(i), "");
        pythia__html_text(h, pythia__share_range(i));
        pythia__html_close(h);
    }
    pythia__html_close(h);
}

static void explain_icicle(struct pythia__html *h, const struct pythia__icicle *t)
{
    pythia__html_open(h, "figcaption", NULL);
    pythia__html_text(h, "The mean critical path: ");
    pythia__html_duration(h, t->nodes[0].mean);
    pythia__html_text(
        h, " from left to right. The width of a box is the time spent in a trace point and its "
           "calls; the part not covered by boxes below is its own time. Follow the strongest "
           "colour down: the variance arises where it ends.");
    pythia__html_close(h);
}

/* A note on what the picture leaves out. */
static void write_left_out(struct pythia__html *h, const struct pythia__icicle *t,
                           const struct left_out *out)
{
    if (out->narrow == 0 && out->many == 0 && t->cut == 0)
        return;
    pythia__html_open(h, "p", "class", "note", NULL);
    if (out->narrow > 0) {
        pythia__html_text(h, "Not drawn: ");
        pythia__html_things(h, (double)out->narrow, "box", "boxes");
        pythia__html_text(h, " too narrow to see, ");
        pythia__html_duration(h, out->narrow_ns);
        pythia__html_text(h, " in total. ");
    }
    if (out->many > 0) {
        pythia__html_things(h, (double)out->many, "box", "boxes");
        pythia__html_printf(h, " beyond the limit of %d per picture. ", BOXES_MAX);
    }
    if (t->cut > 0) {
        pythia__html_printf(h, "Below the %dth row: ", ROWS_MAX);
        pythia__html_things(h, (double)t->cut, "edge", "edges");
        pythia__html_text(h, ", counted in the boxes above.");
    }
    pythia__html_close(h);
}

void pythia__icicle_draw(struct pythia__html *h, const void *icicle)
{
    const struct pythia__icicle *t = icicle;
    struct left_out out = {0};
    if (!(t->nodes[0].mean > 0)) {
        pythia__html_leaf(h, "p", "note", "No time on the critical path is known.");
        return;
    }
    pythia__html_open(h, "figure", "class", "icicle", NULL);
    explain_icicle(h, t);
    pythia__html_open(h, "div", "class", "wide", "tabindex", "0", "role", "group", "aria-label",
                      "Critical path, scrolls sideways", NULL);
    pythia__html_open(h, "svg", "role", "img", "width", "100%", NULL);
    pythia__html_attribute_printf(h, "height", "%zu", count_icicle_rows(t) * ROW);
    pythia__html_attribute(
        h, "aria-label",
        "Trace points on the mean critical path, each as wide as its time and coloured by its "
        "share of the variance. The table of edges below has the numbers.");
    if (!draw_nodes(h, t, &out))
        h->out->failed = 1;
    pythia__html_close(h);
    pythia__html_close(h);
    draw_share_legend(h);
    write_left_out(h, t, &out);
    pythia__html_close(h);
}
