#include "pythia/cct.h"

#include <string.h>

#include "pythia/critical_path.h"
#include "pythia/hash_table.h"
#include "pythia/mem.h"
#include "pythia/sort.h"
#include "pythia/status.h"

_Static_assert(PYTHIA_NONE == PYTHIA_HASH_TABLE_NONE, "one sign of what is not found");

/* `jump` is an ancestor of the node, mostly far above, chosen by depth alone: two nodes of one
 * depth have jumps of one depth. Any ancestor is O(log depth) steps away then. E. W. Myers, "An
 * Applicative Random-Access Stack", Information Processing Letters 17(5), 1983. */
struct node {
    uint32_t parent, tracepoint, depth, jump;
};

struct pythia_cct {
    const struct pythia_vocabulary *vocabulary;
    struct node *nodes;
    struct pythia_edge *edges;
    size_t node_count, node_capacity, edge_count, edge_capacity;
    struct pythia_hash_table by_parent, by_edge; /* of nodes but the root, and of edges */
};

static uint64_t hash_node(uint32_t parent, uint32_t tracepoint)
{
    return (uint64_t)parent << 32 | tracepoint;
}

static bool has_parent(const void *cct, uint32_t node, const void *key)
{
    const struct node *n = &((const struct pythia_cct *)cct)->nodes[node];
    return hash_node(n->parent, n->tracepoint) == *(const uint64_t *)key;
}

static uint64_t hash_edge(const struct pythia_edge *e)
{
    uint64_t from = (uint64_t)e->from_tracepoint << 8 | e->from_event;
    uint64_t to = (uint64_t)e->to_tracepoint << 8 | e->to_event;
    return pythia_hash_mix(pythia_hash_mix(e->context, from), to);
}

static bool is_edge(const void *cct, uint32_t number, const void *key)
{
    const struct pythia_edge *a = &((const struct pythia_cct *)cct)->edges[number], *b = key;
    return a->context == b->context && a->from_tracepoint == b->from_tracepoint &&
           a->to_tracepoint == b->to_tracepoint && a->from_event == b->from_event &&
           a->to_event == b->to_event;
}

int pythia_cct_create(const struct pythia_vocabulary *vocabulary, struct pythia_cct **out)
{
    struct pythia_cct *c = pythia_calloc(1, sizeof(*c));
    if (!c)
        return PYTHIA_ENOMEM;
    c->vocabulary = vocabulary;
    if (pythia_grow(&c->nodes, &c->node_capacity, 0, sizeof(*c->nodes)) != PYTHIA_OK) {
        pythia_cct_destroy(c);
        return PYTHIA_ENOMEM;
    }
    c->nodes[c->node_count++] = (struct node){PYTHIA_NONE, PYTHIA_NONE, 0, PYTHIA_CCT_ROOT};
    *out = c;
    return PYTHIA_OK;
}

void pythia_cct_destroy(struct pythia_cct *c)
{
    if (!c)
        return;
    pythia_free(c->nodes);
    pythia_free(c->edges);
    pythia_hash_table_free(&c->by_parent);
    pythia_hash_table_free(&c->by_edge);
    pythia_free(c);
}

size_t pythia_cct_bytes(const struct pythia_cct *c)
{
    return sizeof(*c) + c->node_capacity * sizeof(*c->nodes) +
           c->edge_capacity * sizeof(*c->edges) + pythia_hash_table_bytes(&c->by_parent) +
           pythia_hash_table_bytes(&c->by_edge);
}

const struct pythia_vocabulary *pythia_cct_vocabulary(const struct pythia_cct *c)
{
    return c->vocabulary;
}

uint32_t pythia_cct_find(const struct pythia_cct *c, uint32_t node, uint32_t tracepoint)
{
    uint64_t key = hash_node(node, tracepoint);
    return pythia_hash_table_find(&c->by_parent, key, has_parent, c, &key);
}

static uint32_t find_jump(const struct pythia_cct *c, uint32_t parent)
{
    const struct node *above = &c->nodes[parent], *over = &c->nodes[above->jump];
    return above->depth - over->depth == over->depth - c->nodes[over->jump].depth ? over->jump
                                                                                  : parent;
}

uint32_t pythia_cct_child(struct pythia_cct *c, uint32_t node, uint32_t tracepoint)
{
    uint32_t number = pythia_cct_find(c, node, tracepoint);
    if (number != PYTHIA_NONE)
        return number;
    number = (uint32_t)c->node_count;
    if (pythia_grow(&c->nodes, &c->node_capacity, number, sizeof(*c->nodes)) != PYTHIA_OK ||
        pythia_hash_table_add(&c->by_parent, hash_node(node, tracepoint), number) != PYTHIA_OK)
        return PYTHIA_NONE;
    c->nodes[number] =
        (struct node){node, tracepoint, c->nodes[node].depth + 1, find_jump(c, node)};
    c->node_count++;
    return number;
}

uint32_t pythia_cct_nodes(const struct pythia_cct *c)
{
    return (uint32_t)c->node_count;
}

uint32_t pythia_cct_parent(const struct pythia_cct *c, uint32_t node)
{
    return c->nodes[node].parent;
}

uint32_t pythia_cct_tracepoint(const struct pythia_cct *c, uint32_t node)
{
    return c->nodes[node].tracepoint;
}

uint32_t pythia_cct_depth(const struct pythia_cct *c, uint32_t node)
{
    return c->nodes[node].depth;
}

uint32_t pythia_cct_ancestor(const struct pythia_cct *c, uint32_t node, uint32_t depth)
{
    while (c->nodes[node].depth > depth) {
        uint32_t jump = c->nodes[node].jump;
        node = c->nodes[jump].depth >= depth ? jump : c->nodes[node].parent;
    }
    return node;
}

uint32_t pythia_cct_edge(struct pythia_cct *c, const struct pythia_edge *edge)
{
    uint64_t hash = hash_edge(edge);
    uint32_t number = pythia_hash_table_find(&c->by_edge, hash, is_edge, c, edge);
    if (number != PYTHIA_NONE)
        return number;
    number = (uint32_t)c->edge_count;
    if (pythia_grow(&c->edges, &c->edge_capacity, number, sizeof(*c->edges)) != PYTHIA_OK ||
        pythia_hash_table_add(&c->by_edge, hash, number) != PYTHIA_OK)
        return PYTHIA_NONE;
    c->edges[c->edge_count++] = *edge;
    return number;
}

uint32_t pythia_cct_follow(struct pythia_cct *c, uint32_t context,
                           const struct pythia_path_event *event)
{
    if (event->kind == PYTHIA_EVENT_START)
        return pythia_cct_child(c, context, event->tracepoint);
    return event->kind == PYTHIA_EVENT_END ? pythia_cct_parent(c, context) : context;
}

struct pythia_edge pythia_edge_from(uint32_t context, const struct pythia_path_event *event)
{
    return (struct pythia_edge){.context = context,
                                .from_tracepoint = event[0].tracepoint,
                                .from_event = event[0].kind,
                                .to_tracepoint = event[1].tracepoint,
                                .to_event = event[1].kind};
}

uint32_t pythia_cct_edges(const struct pythia_cct *c)
{
    return (uint32_t)c->edge_count;
}

const struct pythia_edge *pythia_cct_edge_at(const struct pythia_cct *c, uint32_t edge)
{
    return &c->edges[edge];
}

static int compare_tracepoints(const struct pythia_cct *c, uint32_t a, uint32_t b)
{
    if (a == b)
        return 0;
    if (a == PYTHIA_NONE || b == PYTHIA_NONE) /* only the root has none */
        return a == PYTHIA_NONE ? -1 : 1;
    return pythia_text_compare(pythia_vocabulary_tracepoint_id(c->vocabulary, a),
                               pythia_vocabulary_tracepoint_id(c->vocabulary, b));
}

/* By the chain of names from the root: bring both to one depth, then go up together to the topmost
 * difference. A chain that the other one begins with comes first. */
int pythia_cct_compare_nodes(const struct pythia_cct *c, uint32_t a, uint32_t b)
{
    uint32_t depth_a = c->nodes[a].depth, depth_b = c->nodes[b].depth;
    a = pythia_cct_ancestor(c, a, depth_b);
    b = pythia_cct_ancestor(c, b, depth_a);
    if (a == b)
        return (depth_a > depth_b) - (depth_a < depth_b);
    while (c->nodes[a].parent != c->nodes[b].parent) {
        bool far = c->nodes[a].jump != c->nodes[b].jump;
        a = far ? c->nodes[a].jump : c->nodes[a].parent;
        b = far ? c->nodes[b].jump : c->nodes[b].parent;
    }
    return compare_tracepoints(c, c->nodes[a].tracepoint, c->nodes[b].tracepoint);
}

int pythia_cct_compare_edges(const struct pythia_cct *c, uint32_t a, uint32_t b)
{
    const struct pythia_edge *x = &c->edges[a], *y = &c->edges[b];
    int order = pythia_cct_compare_nodes(c, x->context, y->context);
    order = order ? order : compare_tracepoints(c, x->from_tracepoint, y->from_tracepoint);
    order = order ? order : x->from_event - y->from_event;
    order = order ? order : compare_tracepoints(c, x->to_tracepoint, y->to_tracepoint);
    return order ? order : x->to_event - y->to_event;
}

static bool name_before(const void *context, uint32_t a, uint32_t b)
{
    const struct pythia_cct *c = context;
    return compare_tracepoints(c, c->nodes[a].tracepoint, c->nodes[b].tracepoint) < 0;
}

/* Brothers are put in order, and then all are listed as they are met going down. */
int pythia_cct_sorted_nodes(const struct pythia_cct *c, uint32_t **nodes, uint32_t *count)
{
    uint32_t n = (uint32_t)c->node_count, listed = 0, depth = 0;
    uint32_t *order = pythia_calloc(n, sizeof(*order)); /* at first it is scratch */
    uint32_t *end = pythia_calloc((size_t)n + 1, sizeof(*end));
    uint32_t *brothers = pythia_calloc(n, sizeof(*brothers));
    uint32_t *stack = pythia_calloc(n, sizeof(*stack));
    if (!order || !end || !brothers || !stack) {
        pythia_free(order);
        order = NULL;
    }
    for (uint32_t i = 1; order && i < n; i++)
        end[c->nodes[i].parent + 1]++;
    for (uint32_t i = 0; order && i < n; i++)
        end[i + 1] += end[i];
    for (uint32_t i = 1; order && i < n;
         i++) /* end[i] is where those of i begin, until all are in */
        brothers[end[c->nodes[i].parent]++] = i;
    for (uint32_t i = 0; order && i < n; i++) {
        uint32_t begin = i > 0 ? end[i - 1] : 0;
        pythia_sort_indexes(brothers + begin, end[i] - begin, order, name_before, c);
    }
    if (order)
        stack[depth++] = PYTHIA_CCT_ROOT;
    while (depth > 0) {
        uint32_t node = stack[--depth], begin = node > 0 ? end[node - 1] : 0;
        order[listed++] = node;
        for (uint32_t k = end[node]; k-- > begin;)
            stack[depth++] = brothers[k];
    }
    pythia_free(end);
    pythia_free(brothers);
    pythia_free(stack);
    if (!order)
        return PYTHIA_ENOMEM;
    *nodes = order;
    *count = n;
    return PYTHIA_OK;
}
