/* Counts are added to a tree of contexts as traces come and never listed by path, so that the
 * memory grows with the program and not with the ways through it. */
#include "pythia/space.h"

#include <assert.h>
#include <string.h>

#include "pythia/mem.h"
#include "pythia/span_bytes.h"
#include "pythia/status.h"

struct pythia_space {
    struct pythia_vocabulary *vocabulary;
    struct pythia_space_type *types;
    size_t count, capacity;
    uint32_t *type_of_name; /* by number of a string: index + 1 */
    size_t name_capacity;
    uint32_t *node_of_span; /* scratch */
    uint64_t *entered;      /* scratch: when each open span of a path was entered */
    size_t span_capacity, entered_capacity;
};

int pythia_space_create(struct pythia_vocabulary *vocabulary, struct pythia_space **out)
{
    struct pythia_space *s = pythia_calloc(1, sizeof(*s));
    if (!s)
        return PYTHIA_ENOMEM;
    s->vocabulary = vocabulary;
    *out = s;
    return PYTHIA_OK;
}

static void free_type(struct pythia_space_type *t)
{
    pythia_cct_destroy(t->cct);
    pythia_free(t->nodes);
    pythia_free(t->edges);
    pythia_free(t->last_request);
}

void pythia_space_clear(struct pythia_space *s)
{
    for (size_t i = 0; i < s->count; i++)
        free_type(&s->types[i]);
    s->count = 0;
    if (s->type_of_name)
        memset(s->type_of_name, 0, s->name_capacity * sizeof(*s->type_of_name));
}

void pythia_space_destroy(struct pythia_space *s)
{
    if (!s)
        return;
    pythia_space_clear(s);
    pythia_free(s->types);
    pythia_free(s->type_of_name);
    pythia_free(s->node_of_span);
    pythia_free(s->entered);
    pythia_free(s);
}

struct pythia_vocabulary *pythia_space_vocabulary(const struct pythia_space *s)
{
    return s->vocabulary;
}

struct pythia_space_type *pythia_space_type_make(struct pythia_space *s, uint32_t name)
{
    if (pythia_reach(&s->type_of_name, &s->name_capacity, name, sizeof(*s->type_of_name)) !=
        PYTHIA_OK)
        return NULL;
    if (s->type_of_name[name])
        return &s->types[s->type_of_name[name] - 1];
    if (pythia_grow(&s->types, &s->capacity, s->count, sizeof(*s->types)) != PYTHIA_OK)
        return NULL;
    struct pythia_space_type made = {.name = name};
    if (pythia_cct_create(s->vocabulary, &made.cct) != PYTHIA_OK)
        return NULL;
    /* The root has a node from the start, so that node numbers are those of the tree. */
    if (pythia_reach(&made.nodes, &made.node_capacity, 0, sizeof(*made.nodes)) != PYTHIA_OK) {
        pythia_cct_destroy(made.cct);
        return NULL;
    }
    s->types[s->count++] = made;
    s->type_of_name[name] = (uint32_t)s->count;
    return &s->types[s->count - 1];
}

struct pythia_space_node *pythia_space_node_make(struct pythia_space_type *t, uint32_t parent,
                                                 uint32_t tracepoint, uint32_t *node)
{
    *node = pythia_cct_child(t->cct, parent, tracepoint);
    if (*node == PYTHIA_NONE ||
        pythia_reach(&t->nodes, &t->node_capacity, *node, sizeof(*t->nodes)) != PYTHIA_OK)
        return NULL;
    return &t->nodes[*node];
}

struct pythia_space_edge *pythia_space_edge_make(struct pythia_space_type *t,
                                                 const struct pythia_edge *edge)
{
    uint32_t number = pythia_cct_edge(t->cct, edge);
    if (number == PYTHIA_NONE ||
        pythia_reach(&t->edges, &t->edge_capacity, number, sizeof(*t->edges)) != PYTHIA_OK)
        return NULL;
    return &t->edges[number];
}

/* Take the type at `index` out; the last one takes its place. */
static void remove_space_type(struct pythia_space *s, size_t index)
{
    s->type_of_name[s->types[index].name] = 0;
    s->types[index] = s->types[--s->count];
    if (index < s->count)
        s->type_of_name[s->types[index].name] = (uint32_t)index + 1;
}

static size_t index_of(const struct pythia_space *s, uint32_t name)
{
    return name < s->name_capacity && s->type_of_name[name] ? s->type_of_name[name] - 1 : SIZE_MAX;
}

void pythia_space_remove(struct pythia_space *s, uint32_t name)
{
    size_t index = index_of(s, name);
    if (index == SIZE_MAX)
        return;
    free_type(&s->types[index]);
    remove_space_type(s, index);
}

int pythia_space_teach_paths(const struct pythia_space *s, struct pythia_path_templates *to)
{
    for (size_t i = 0; i < s->count; i++) {
        struct pythia_text name = pythia_vocabulary_text(s->vocabulary, s->types[i].name);
        int status = pythia_path_templates_know(to, name);
        if (status != PYTHIA_OK)
            return status;
    }
    return PYTHIA_OK;
}

int pythia_space_move(struct pythia_space *to, struct pythia_space *from, uint32_t name)
{
    size_t index = index_of(from, name);
    assert(index != SIZE_MAX && index_of(to, name) == SIZE_MAX);
    if (pythia_reach(&to->type_of_name, &to->name_capacity, name, sizeof(*to->type_of_name)) !=
            PYTHIA_OK ||
        pythia_grow(&to->types, &to->capacity, to->count, sizeof(*to->types)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    to->types[to->count++] = from->types[index];
    to->type_of_name[name] = (uint32_t)to->count;
    remove_space_type(from, index);
    return PYTHIA_OK;
}

static int merge_nodes(struct pythia_space_type *to, const struct pythia_space_type *from,
                       uint32_t *places)
{
    places[PYTHIA_CCT_ROOT] = PYTHIA_CCT_ROOT;
    for (uint32_t node = 1; node < pythia_cct_nodes(from->cct); node++) {
        const struct pythia_space_node *more = &from->nodes[node];
        struct pythia_space_node *n =
            pythia_space_node_make(to, places[pythia_cct_parent(from->cct, node)],
                                   pythia_cct_tracepoint(from->cct, node), &places[node]);
        if (!n)
            return PYTHIA_ENOMEM;
        n->calls += more->calls;
        n->requests += more->requests;
        n->visits += more->visits;
        n->time_ns += more->time_ns;
        n->bytes += more->bytes;
        n->outlived += more->outlived;
        n->root = n->root || more->root;
        n->entry = n->entry || more->entry;
    }
    return PYTHIA_OK;
}

static int merge_edges(struct pythia_space_type *to, const struct pythia_space_type *from,
                       const uint32_t *places)
{
    for (uint32_t e = 0; e < pythia_cct_edges(from->cct); e++) {
        struct pythia_edge edge = *pythia_cct_edge_at(from->cct, e);
        edge.context = places[edge.context];
        struct pythia_space_edge *known = pythia_space_edge_make(to, &edge);
        if (!known)
            return PYTHIA_ENOMEM;
        known->visits += from->edges[e].visits;
        known->time_ns += from->edges[e].time_ns;
    }
    return PYTHIA_OK;
}

/* A node stands after its parent in both trees, because it was made after it. */
static int merge_type(struct pythia_space *to, const struct pythia_space_type *type)
{
    struct pythia_space_type *known = pythia_space_type_make(to, type->name);
    uint32_t *places = pythia_calloc(pythia_cct_nodes(type->cct), sizeof(*places));
    int status = known && places ? merge_nodes(known, type, places) : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK || (status = merge_edges(known, type, places)) != PYTHIA_OK)
        goto out;
    known->requests += type->requests;
out:
    pythia_free(places);
    return status;
}

int pythia_space_merge(struct pythia_space *to, const struct pythia_space *from)
{
    for (size_t i = 0; i < from->count; i++) {
        int status = merge_type(to, &from->types[i]);
        if (status != PYTHIA_OK)
            return status;
    }
    return PYTHIA_OK;
}

static uint32_t service_of_span(const struct pythia_space *s, const struct pythia_trace_span *span)
{
    return pythia_vocabulary_resource_at(s->vocabulary, span->resource).service;
}

/* Does a span go on after its parent? Clocks that start spans at whole milliseconds, as those of
 * OpenTelemetry in browsers and Node.js do, put a span up to one too late beside its parent. */
static bool goes_on_after(const struct pythia_trace_span *span,
                          const struct pythia_trace_span *parent)
{
    uint64_t ms = 1000000;
    uint64_t slack = span->start_ns % ms == 0 && parent->start_ns % ms == 0 ? ms : 0;
    return span->end_ns > parent->end_ns + slack && span->end_ns == parent->completed_ns;
}

/* Count every span at its context. */
static int add_spans(struct pythia_space *s, struct pythia_space_type *t,
                     const struct pythia_trace *trace)
{
    if (pythia_reach(&s->node_of_span, &s->span_capacity, trace->count, sizeof(*s->node_of_span)) !=
        PYTHIA_OK)
        return PYTHIA_ENOMEM;
    for (uint32_t at = trace->first_root; at != PYTHIA_NO_SPAN; at = pythia_trace_next(trace, at)) {
        const struct pythia_trace_span *span = &trace->spans[at];
        const struct pythia_trace_span *parent =
            span->parent == PYTHIA_NO_SPAN ? NULL : &trace->spans[span->parent];
        uint32_t above = parent ? s->node_of_span[span->parent] : PYTHIA_CCT_ROOT, node;
        struct pythia_space_node *n = pythia_space_node_make(t, above, span->tracepoint, &node);
        if (!n || pythia_reach(&t->last_request, &t->last_capacity, node,
                               sizeof(*t->last_request)) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
        s->node_of_span[at] = node;
        n->calls++;
        n->bytes += pythia_span_bytes(s->vocabulary, span);
        /* A request counts once at a node, however often it calls it. */
        n->requests += t->last_request[node] != t->requests;
        t->last_request[node] = t->requests;
        n->root = n->root || !parent;
        n->outlived += parent && goes_on_after(span, parent);
        /* Here a request enters a service: such points are always open. */
        n->entry = n->entry || (parent && service_of_span(s, span) != service_of_span(s, parent));
    }
    return PYTHIA_OK;
}

/* Count what follows what on the path, and the time spent in each context. */
static int add_path_counts(struct pythia_space *s, struct pythia_space_type *t,
                           const struct pythia_critical_path *path)
{
    uint32_t context = PYTHIA_CCT_ROOT;
    size_t depth = 0;
    for (size_t i = 0; i < path->count; i++) {
        const struct pythia_path_event *e = &path->events[i];
        if (e->kind == PYTHIA_EVENT_START) {
            struct pythia_space_node *n =
                pythia_space_node_make(t, context, e->tracepoint, &context);
            if (!n || pythia_reach(&s->entered, &s->entered_capacity, depth, sizeof(*s->entered)) !=
                          PYTHIA_OK)
                return PYTHIA_ENOMEM;
            n->visits++;
            s->entered[depth++] = e->at_ns;
        } else if (e->kind == PYTHIA_EVENT_END) {
            /* Time is added when the span is left, with all that was within it. */
            t->nodes[context].time_ns += e->at_ns - s->entered[--depth];
            context = pythia_cct_parent(t->cct, context);
        } else {
            uint32_t node;
            struct pythia_space_node *n = pythia_space_node_make(t, context, e->tracepoint, &node);
            if (!n)
                return PYTHIA_ENOMEM;
            n->visits++;
        }
        if (i + 1 == path->count)
            break;
        const struct pythia_edge edge = pythia_edge_from(context, e);
        struct pythia_space_edge *known = pythia_space_edge_make(t, &edge);
        if (!known)
            return PYTHIA_ENOMEM;
        known->visits++;
        known->time_ns += e[1].at_ns - e->at_ns;
    }
    return PYTHIA_OK;
}

int pythia_space_add(struct pythia_space *s, uint32_t type, const struct pythia_trace *trace,
                     const struct pythia_critical_path *path)
{
    struct pythia_space_type *t = pythia_space_type_make(s, type);
    if (!t)
        return PYTHIA_ENOMEM;
    t->requests++;
    int status = add_spans(s, t, trace);
    if (status != PYTHIA_OK)
        return status;
    return add_path_counts(s, t, path);
}

double pythia_space_mean_bytes(const struct pythia_space_type *t)
{
    double calls = 0, bytes = 0;
    for (uint32_t node = 1; node < pythia_cct_nodes(t->cct); node++) {
        calls += t->nodes[node].bytes ? (double)t->nodes[node].calls : 0;
        bytes += (double)t->nodes[node].bytes;
    }
    return calls > 0 ? bytes / calls : PYTHIA_SPACE_SPAN_BYTES;
}

double pythia_space_node_bytes(const struct pythia_space_node *n, double mean_bytes)
{
    return n->bytes && n->calls ? (double)n->bytes / (double)n->calls : mean_bytes;
}

const struct pythia_space_type *pythia_space_types(const struct pythia_space *s, size_t *count)
{
    *count = s->count;
    return s->types;
}

const struct pythia_space_type *pythia_space_type(const struct pythia_space *s, uint32_t name)
{
    size_t index = index_of(s, name);
    return index == SIZE_MAX ? NULL : &s->types[index];
}

/* Add up the spans of each trace point of a type, in all contexts, or clear what was added. */
static void count_calls(const struct pythia_space_type *t, bool clear, uint64_t *calls)
{
    for (uint32_t node = 1; node < pythia_cct_nodes(t->cct); node++) {
        uint32_t point = pythia_cct_tracepoint(t->cct, node);
        calls[point] = clear ? 0 : calls[point] + t->nodes[node].calls;
    }
}

/* A request that had begun before its points were opened is seen from the middle on: what came
 * first then is no root. Like what outlives its parent, a root is one in at least one of twenty of
 * the `calls` of its trace point. */
static bool is_root(const struct pythia_space_node *n, uint64_t calls)
{
    return n->root && n->calls >= calls / 20;
}

static bool *make_flags(const struct pythia_space *s)
{
    return pythia_calloc(pythia_vocabulary_tracepoints(s->vocabulary), sizeof(bool));
}

bool *pythia_space_skeleton(const struct pythia_space *s)
{
    bool *flags = make_flags(s);
    uint64_t *calls = pythia_calloc(pythia_vocabulary_tracepoints(s->vocabulary), sizeof(*calls));
    for (size_t i = 0; flags && calls && i < s->count; i++) {
        const struct pythia_space_type *t = &s->types[i];
        count_calls(t, false, calls);
        for (uint32_t node = 1; node < pythia_cct_nodes(t->cct); node++) {
            const struct pythia_space_node *n = &t->nodes[node];
            uint32_t point = pythia_cct_tracepoint(t->cct, node);
            if (is_root(n, calls[point]) || n->entry || pythia_space_node_outlives(n))
                flags[point] = true;
        }
        /* Takes the counts back: the array serves the next type. */
        count_calls(t, true, calls);
    }
    if (!calls) {
        pythia_free(flags);
        flags = NULL;
    }
    pythia_free(calls);
    return flags;
}

/* The flags as a set of ids, which stays right when the vocabulary grows. */
int pythia_space_skeleton_points(const struct pythia_space *s, struct pythia_open_points **out)
{
    bool *flags = pythia_space_skeleton(s);
    struct pythia_open_points *open = NULL;
    if (!flags)
        return PYTHIA_ENOMEM;
    int status = pythia_open_points_create(s->vocabulary, &open);
    if (status != PYTHIA_OK)
        goto out;
    for (uint32_t i = 0; i < pythia_vocabulary_tracepoints(s->vocabulary); i++) {
        if (!flags[i])
            continue;
        status = pythia_open_points_add_id(open, pythia_vocabulary_tracepoint_id(s->vocabulary, i));
        if (status != PYTHIA_OK)
            goto out;
    }
    *out = open;
    open = NULL;
out:
    pythia_free(flags);
    pythia_open_points_destroy(open);
    return status;
}

bool *pythia_space_points(const struct pythia_space *s)
{
    bool *flags = make_flags(s);
    for (size_t i = 0; flags && i < s->count; i++)
        for (uint32_t node = 1; node < pythia_cct_nodes(s->types[i].cct); node++)
            flags[pythia_cct_tracepoint(s->types[i].cct, node)] = true;
    return flags;
}
