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

#include "pythia/mem.h"
#include "pythia/shown_text.h"
#include "pythia/sort.h"
#include "report_html.h"
#include "sentences/sentences.h"

#define ROW           24
#define ROWS_MAX      40   /* deeper ones are told, not drawn */
#define BOXES_MAX     1500 /* of them, top rows first */
#define NARROWEST     .001 /* of the width: less than a pixel or so */
#define TYPICAL_WIDTH 1060 /* pixels that text is measured for; a box on a smaller page cuts it */
#define GLYPH_WIDTH   7.2  /* pixels of a character, about */
#define GLYPHS_MIN    7    /* fewer say nothing */
#define TITLE_LIMIT   500  /* characters of a name */
#define NONE          SIZE_MAX

struct node {
    const char *name; /* borrowed from the report */
    size_t parent;    /* of the root: NONE; a parent stands before its children */
    size_t depth;
    size_t seen;            /* where the most common path enters it; NONE: it does not */
    size_t kids, kid_count; /* a run of `order` */
    double own, mean;       /* ns of a request: in it alone, and with all that is below */
    double own_share, share;
    double left; /* of the root's mean */
};

struct tree {
    struct node *nodes;
    size_t count, capacity;
    size_t *order;       /* all but the root, by parent and then from left to right */
    size_t cut;          /* contexts that go on below the last row */
    size_t narrow, many; /* boxes that are not drawn: hardly a pixel wide; above BOXES_MAX */
    double narrow_ns;
};

/* ---- the tree ---- */

static const char *context_name(const json_t *context, size_t depth)
{
    const char *name = json_string_value(json_array_get(context, depth));
    return name ? name : "";
}

/* Edges by context, so that those of one node are next to each other and behind those of its
 * parent. */
static int compare_contexts(const void *a, const void *b)
{
    const json_t *x = pythia__array(*(const json_t *const *)a, "context");
    const json_t *y = pythia__array(*(const json_t *const *)b, "context");
    size_t sizes[2] = {json_array_size(x), json_array_size(y)};
    for (size_t i = 0; i < sizes[0] && i < sizes[1] && i < ROWS_MAX; i++) {
        int order = strcmp(context_name(x, i), context_name(y, i));
        if (order != 0)
            return order;
    }
    return (sizes[0] > sizes[1]) - (sizes[0] < sizes[1]);
}

/* A new node below `parent`; NONE when out of memory. */
static size_t add_node(struct tree *t, size_t parent, const char *name)
{
    if (pythia_grow(&t->nodes, &t->capacity, t->count, sizeof(*t->nodes)) != 0)
        return NONE;
    t->nodes[t->count] = (struct node){.name = name, .parent = parent, .seen = NONE};
    if (parent != NONE)
        t->nodes[t->count].depth = t->nodes[parent].depth + 1;
    return t->count++;
}

/* The node of a context, given the one that was asked for before, which is in the same branch or
 * left of it; NONE when out of memory. */
static size_t node_of(struct tree *t, size_t last, const json_t *context)
{
    size_t branch[ROWS_MAX + 1];
    size_t depth = json_array_size(context), shared = 0;
    if (depth > ROWS_MAX) {
        depth = ROWS_MAX;
        t->cut++;
    }
    for (size_t node = last; node != NONE; node = t->nodes[node].parent)
        branch[t->nodes[node].depth] = node;
    while (shared < depth && shared < t->nodes[last].depth &&
           strcmp(t->nodes[branch[shared + 1]].name, context_name(context, shared)) == 0)
        shared++;
    size_t node = branch[shared];
    for (; node != NONE && shared < depth; shared++)
        node = add_node(t, node, context_name(context, shared));
    return node;
}

static double or_zero(double number)
{
    return isfinite(number) ? number : 0;
}

/* Nodes and sums; false when out of memory. */
static bool grow_icicle(struct tree *t, const json_t *edges)
{
    size_t count = json_array_size(edges);
    const json_t **sorted = pythia_calloc(count, sizeof(const json_t *));
    size_t last = sorted ? add_node(t, NONE, "") : NONE;
    for (size_t i = 0; sorted && i < count; i++)
        sorted[i] = json_array_get(edges, i);
    if (sorted && count > 0)
        qsort(sorted, count, sizeof(const json_t *), compare_contexts);
    for (size_t i = 0; last != NONE && i < count; i++) {
        last = node_of(t, last, pythia__array(sorted[i], "context"));
        if (last == NONE)
            break;
        t->nodes[last].own += fmax(or_zero(pythia__number(sorted[i], "mean_ns")), 0);
        t->nodes[last].own_share += or_zero(pythia__number(sorted[i], "share"));
    }
    pythia_free(sorted);
    for (size_t i = t->count; i-- > 0;) {
        struct node *node = &t->nodes[i];
        node->mean += node->own;
        node->share += node->own_share;
        if (node->parent != NONE) {
            t->nodes[node->parent].mean += node->mean;
            t->nodes[node->parent].share += node->share;
        }
    }
    return last != NONE;
}

/* ---- from left to right ---- */

/* qsort has no argument for what is sorted: so an item brings its keys. */
struct item {
    size_t node, parent, seen;
    double mean;
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
    return x->node < y->node ? -1 : 1; /* in order of name */
}

/* Sort `order`, and tell each node which run of it is its children: by name, or from left to
 * right. */
static bool sort_kids(struct tree *t, bool by_name)
{
    struct item *items = pythia_calloc(t->count, sizeof(*items));
    for (size_t i = 1; items && i < t->count; i++) /* Nodes were made in order of name. */
        items[i - 1] =
            by_name ? (struct item){i, t->nodes[i].parent, 0, 0}
                    : (struct item){i, t->nodes[i].parent, t->nodes[i].seen, t->nodes[i].mean};
    if (items && t->count > 2)
        qsort(items, t->count - 1, sizeof(*items), compare_items);
    for (size_t i = 0; items && i < t->count; i++)
        t->nodes[i].kid_count = 0;
    for (size_t i = 0; items && i + 1 < t->count; i++) {
        struct node *parent = &t->nodes[items[i].parent];
        if (parent->kid_count++ == 0)
            parent->kids = i;
        t->order[i] = items[i].node;
    }
    pythia_free(items);
    return items != NULL;
}

/* The children of a node. */
struct kids {
    const struct tree *tree;
    const size_t *numbers;
};

static int compare_kid_name(const void *kids, size_t index, const void *name)
{
    const struct kids *k = kids;
    return strcmp(k->tree->nodes[k->numbers[index]].name, name);
}

/* The child of a name, while children are in order of name; NONE if there is none. */
static size_t find_icicle_child(const struct tree *t, size_t parent, const char *name)
{
    const struct kids kids = {t, t->order + t->nodes[parent].kids};
    size_t found = pythia_sorted_find(t->nodes[parent].kid_count, compare_kid_name, &kids, name);
    return found == PYTHIA_SORTED_NONE ? NONE : kids.numbers[found];
}

/* Number the nodes as the most common path enters them. Its events tell how deep they are, so that
 * the node of each is a child of the last one above it. */
static void follow_path(struct tree *t, const json_t *path)
{
    size_t branch[ROWS_MAX + 1] = {0}, filled = 0;
    for (size_t i = 0; i < json_array_size(path); i++) {
        const json_t *event = json_array_get(path, i);
        double depth = pythia__number(event, "depth");
        if (!(depth >= 0 && depth < ROWS_MAX) ||
            strcmp(pythia__string(event, "event"), "start") != 0)
            continue;
        size_t at = (size_t)depth;
        if (at > filled)
            continue;
        size_t node = find_icicle_child(t, branch[at], pythia__string(event, "trace_point"));
        filled = node == NONE ? at : at + 1;
        if (node == NONE)
            continue;
        branch[at + 1] = node;
        if (t->nodes[node].seen == NONE)
            t->nodes[node].seen = i;
    }
}

static bool lay_out(struct tree *t, const json_t *path)
{
    t->order = pythia_calloc(t->count, sizeof(*t->order));
    if (!t->order || !sort_kids(t, true))
        return false;
    follow_path(t, path);
    if (!sort_kids(t, false))
        return false;
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

/* ---- drawing ---- */

static void add_part(struct pythia_buf *to, const char *words, double share)
{
    pythia_buf_puts(to, words);
    pythia__add_percent(to, share);
}

static struct pythia_text name_of(const struct node *n)
{
    return pythia_text_of(n->parent == NONE ? "the whole request" : n->name);
}

static void write_node_title(struct pythia__html *h, const struct node *n)
{
    struct pythia_buf text = {0};
    pythia_shown_add(&text, name_of(n), TITLE_LIMIT);
    pythia_buf_puts(&text, ": ");
    pythia__add_duration(&text, n->mean);
    add_part(&text, " on the critical path, ", n->share);
    pythia_buf_puts(&text, " of the variance; of that its own: ");
    pythia__add_duration(&text, n->own);
    add_part(&text, ", ", n->own_share);
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
    add_part(&figures, ", ", n->share);
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
static void draw_node(struct pythia__html *h, const struct tree *t, const struct node *n)
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

/* Row by row, and in a row from left to right: what there is no room for is at the bottom. Returns
 * the rows; false if memory for the queue is missing. */
static bool draw_nodes(struct pythia__html *h, struct tree *t)
{
    size_t *queue = pythia_calloc(t->count, sizeof(*queue)), end = 1, boxes = 0;
    for (size_t i = 0; queue && i < end; i++) {
        const struct node *n = &t->nodes[queue[i]];
        bool narrow = !(n->mean >= NARROWEST * t->nodes[0].mean);
        t->narrow += narrow && n->mean > 0;
        t->narrow_ns += narrow ? n->mean : 0;
        t->many += !narrow && boxes == BOXES_MAX;
        if (narrow || boxes == BOXES_MAX)
            continue; /* What is below it is part of its time. */
        boxes++;
        draw_node(h, t, n);
        for (size_t k = 0; k < n->kid_count; k++)
            queue[end++] = t->order[n->kids + k];
    }
    pythia_free(queue);
    return queue != NULL;
}

/* Rows down to the deepest box that is wide enough. */
static size_t count_icicle_rows(const struct tree *t)
{
    size_t deepest = 0;
    for (size_t i = 0; i < t->count; i++)
        if (t->nodes[i].mean >= NARROWEST * t->nodes[0].mean && t->nodes[i].depth > deepest)
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

static void explain_icicle(struct pythia__html *h, const struct tree *t)
{
    pythia__html_open(h, "figcaption", NULL);
    pythia__html_text(h, "The mean critical path: ");
    pythia__html_duration(h, t->nodes[0].mean);
    pythia__html_text(
        h, " from left to right. A box is as wide as the time spent in a trace point and "
           "what it calls; what no box below covers is its own time. Follow the "
           "strongest colour down: where it ends, the difference arises.");
    pythia__html_close(h);
}

/* What the picture leaves out. */
static void left_out(struct pythia__html *h, const struct tree *t)
{
    if (t->narrow == 0 && t->many == 0 && t->cut == 0)
        return;
    pythia__html_open(h, "p", "class", "note", NULL);
    if (t->narrow > 0) {
        pythia__html_text(h, "Not drawn: ");
        pythia__html_things(h, (double)t->narrow, "box", "boxes");
        pythia__html_text(h, " too narrow to be seen, ");
        pythia__html_duration(h, t->narrow_ns);
        pythia__html_text(h, " in all. ");
    }
    if (t->many > 0) {
        pythia__html_things(h, (double)t->many, "box", "boxes");
        pythia__html_printf(h, " more than the %d that a picture holds. ", BOXES_MAX);
    }
    if (t->cut > 0) {
        pythia__html_printf(h, "Below the %dth row: ", ROWS_MAX);
        pythia__html_things(h, (double)t->cut, "edge", "edges");
        pythia__html_text(h, ", counted in the boxes above.");
    }
    pythia__html_close(h);
}

static void draw_icicle(struct pythia__html *h, struct tree *t)
{
    pythia__html_open(h, "figure", "class", "icicle", NULL);
    explain_icicle(h, t);
    pythia__html_open(h, "div", "class", "wide", "tabindex", "0", "role", "group", "aria-label",
                      "Critical path, can be scrolled sideways", NULL);
    pythia__html_open(h, "svg", "role", "img", "width", "100%", NULL);
    pythia__html_attribute_printf(h, "height", "%zu", count_icicle_rows(t) * ROW);
    pythia__html_attribute(
        h, "aria-label",
        "Trace points on the mean critical path, each as wide as its time and "
        "coloured by its share of the variance. The table of edges below says the "
        "same in numbers.");
    if (!draw_nodes(h, t))
        h->out->failed = 1;
    pythia__html_close(h);
    pythia__html_close(h);
    draw_share_legend(h);
    left_out(h, t);
    pythia__html_close(h);
}

void pythia__html_icicle(struct pythia__html *h, const json_t *group)
{
    struct tree t = {0};
    bool whole = grow_icicle(&t, pythia__array(group, "edges"));
    if (whole && !(t.nodes[0].mean > 0)) {
        pythia__html_leaf(h, "p", "note", "No time on the critical path is known.");
    } else if (whole) {
        whole = lay_out(&t, pythia__array(group, "path"));
        if (whole)
            draw_icicle(h, &t);
    }
    if (!whole)
        h->out->failed = 1;
    pythia_free(t.order);
    pythia_free(t.nodes);
}
