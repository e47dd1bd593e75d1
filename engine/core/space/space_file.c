/* The file (it is read by space_reader.c):
 *
 *   {"schema": "pythia.space/1",
 *    "trace_points": [[id, service, name], ...],    in order of id
 *    "types": [                                     in order of name
 *      {"name": ..., "requests": ...,
 *       "nodes": [[parent, trace point, calls, requests, visits, time_ns, flags], ...],
 *       "bytes": [of all spans of the node, ...],    older files have none
 *       "edges": [[node, from trace point, event, to trace point, event, visits, time_ns], ...]},
 *      ...]}
 *
 * Trace points and nodes are named by their places; row i of the nodes is node i + 1, and 0 is the
 * root. */
#include "pythia/space_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "pythia/json_text.h"
#include "pythia/mem.h"
#include "pythia/shown_text.h"
#include "pythia/sort.h"
#include "pythia/status.h"
#include "space_parts.h"

#define READ_BYTES ((size_t)64 * 1024)

/* ---- writing: numbers in memory depend on who came first; in the file everything has its place by
 * name ---- */

/* A list of numbers in an order, and the place of each in it. */
struct order {
    uint32_t *numbers, *places;
    uint32_t count;
};

static int order_make(struct order *o, uint32_t count,
                      bool (*before)(const void *, uint32_t, uint32_t), const void *context)
{
    o->numbers = pythia_calloc(count, sizeof(*o->numbers));
    o->places = pythia_calloc(count, sizeof(*o->places));
    if (!o->numbers || !o->places)
        return PYTHIA_ENOMEM;
    o->count = count;
    for (uint32_t i = 0; i < count; i++)
        o->numbers[i] = i;
    pythia_sort_indexes(o->numbers, count, o->places, before,
                        context); /* places are scratch until they are known */
    for (uint32_t i = 0; i < count; i++)
        o->places[o->numbers[i]] = i;
    return PYTHIA_OK;
}

static void order_free(struct order *o)
{
    pythia_free(o->numbers);
    pythia_free(o->places);
}

static bool point_before(const void *context, uint32_t a, uint32_t b)
{
    return pythia_text_compare(pythia_vocabulary_tracepoint_id(context, a),
                               pythia_vocabulary_tracepoint_id(context, b)) < 0;
}

static bool node_before(const void *context, uint32_t a, uint32_t b)
{
    return pythia_cct_compare_nodes(context, a, b) < 0;
}

static bool edge_before(const void *context, uint32_t a, uint32_t b)
{
    return pythia_cct_compare_edges(context, a, b) < 0;
}

struct type_order {
    const struct pythia_space_type *types;
    const struct pythia_vocabulary *vocabulary;
};

static bool type_before(const void *context, uint32_t a, uint32_t b)
{
    const struct type_order *o = context;
    return pythia_text_compare(pythia_vocabulary_text(o->vocabulary, o->types[a].name),
                               pythia_vocabulary_text(o->vocabulary, o->types[b].name)) < 0;
}

static json_t *pack_text(struct pythia_text t)
{
    return json_stringn(t.bytes, t.size);
}

static json_t *pack_numbers(const uint64_t *values, size_t count)
{
    json_t *row = json_array();
    for (size_t i = 0; i < count; i++)
        if (json_array_append_new(row, json_integer((json_int_t)values[i])) != 0) {
            json_decref(row);
            return NULL;
        }
    return row;
}

static json_t *write_points(const struct pythia_vocabulary *v, const struct order *points)
{
    json_t *out = json_array();
    for (uint32_t i = 0; i < points->count; i++) {
        const struct pythia_tracepoint *p = pythia_vocabulary_tracepoint_at(v, points->numbers[i]);
        json_t *row = json_array();
        const uint32_t strings[] = {p->id, p->service, p->name};
        bool failed = false;
        for (size_t k = 0; k < 3; k++)
            failed =
                json_array_append_new(row, pack_text(pythia_vocabulary_text(v, strings[k]))) != 0 ||
                failed;
        if (json_array_append_new(out, row) != 0 || failed) {
            json_decref(out);
            return NULL;
        }
    }
    return out;
}

static json_t *write_nodes(const struct pythia_space_type *t, const struct order *nodes,
                           const struct order *points)
{
    json_t *out = json_array();
    for (uint32_t i = 1; i < nodes->count; i++) { /* the root is the first by name, too */
        uint32_t node = nodes->numbers[i];
        const struct pythia_space_node *n = &t->nodes[node];
        uint64_t row[] = {nodes->places[pythia_cct_parent(t->cct, node)],
                          points->places[pythia_cct_tracepoint(t->cct, node)],
                          n->calls,
                          n->requests,
                          n->visits,
                          n->time_ns,
                          (uint64_t)((n->root ? PYTHIA__SPACE_ROOT : 0) |
                                     (n->entry ? PYTHIA__SPACE_ENTRY : 0) |
                                     (pythia_space_node_outlives(n) ? PYTHIA__SPACE_OUTLIVES : 0))};
        if (json_array_append_new(out, pack_numbers(row, sizeof(row) / sizeof(row[0]))) != 0) {
            json_decref(out);
            return NULL;
        }
    }
    return out;
}

static json_t *write_bytes(const struct pythia_space_type *t, const struct order *nodes)
{
    json_t *out = json_array();
    for (uint32_t i = 1; i < nodes->count; i++)
        if (json_array_append_new(
                out, json_integer((json_int_t)t->nodes[nodes->numbers[i]].bytes)) != 0) {
            json_decref(out);
            return NULL;
        }
    return out;
}

/* NULL when out of memory, like all of these: json_object_set_new fails with it. */
static json_t *write_edges(const struct pythia_space_type *t, const struct order *nodes,
                           const struct order *points)
{
    struct order edges = {0};
    json_t *out = json_array();
    if (order_make(&edges, pythia_cct_edges(t->cct), edge_before, t->cct) != PYTHIA_OK)
        goto out;
    for (uint32_t i = 0; i < edges.count; i++) {
        const struct pythia_edge *e = pythia_cct_edge_at(t->cct, edges.numbers[i]);
        const struct pythia_space_edge *known = &t->edges[edges.numbers[i]];
        uint64_t row[] = {nodes->places[e->context],
                          points->places[e->from_tracepoint],
                          e->from_event,
                          points->places[e->to_tracepoint],
                          e->to_event,
                          known->visits,
                          known->time_ns};
        if (json_array_append_new(out, pack_numbers(row, sizeof(row) / sizeof(row[0]))) != 0)
            goto out;
    }
    order_free(&edges);
    return out;
out:
    order_free(&edges);
    json_decref(out);
    return NULL;
}

static json_t *write_type_row(const struct pythia_vocabulary *v, const struct pythia_space_type *t,
                              const struct order *points)
{
    struct order nodes = {0};
    json_t *out = json_object();
    if (order_make(&nodes, pythia_cct_nodes(t->cct), node_before, t->cct) != PYTHIA_OK ||
        json_object_set_new(out, "name", pack_text(pythia_vocabulary_text(v, t->name))) != 0 ||
        json_object_set_new(out, "requests", json_integer((json_int_t)t->requests)) != 0 ||
        json_object_set_new(out, "nodes", write_nodes(t, &nodes, points)) != 0 ||
        json_object_set_new(out, "bytes", write_bytes(t, &nodes)) != 0 ||
        json_object_set_new(out, "edges", write_edges(t, &nodes, points)) != 0) {
        json_decref(out);
        out = NULL;
    }
    order_free(&nodes);
    return out;
}

/* The members are in the order in which the reader needs them. */
int pythia_space_file_write(const struct pythia_space *space, struct pythia_buf *out)
{
    const struct pythia_vocabulary *v = pythia_space_vocabulary(space);
    size_t count;
    const struct pythia_space_type *all = pythia_space_types(space, &count);
    struct order points = {0}, types = {0};
    struct type_order context = {all, v};
    json_t *file = json_object(), *list = json_array();
    int status = PYTHIA_ENOMEM;
    if (order_make(&points, pythia_vocabulary_tracepoints(v), point_before, v) != PYTHIA_OK ||
        order_make(&types, (uint32_t)count, type_before, &context) != PYTHIA_OK ||
        json_object_set_new(file, "schema", json_string(PYTHIA__SPACE_SCHEMA)) != 0 ||
        json_object_set_new(file, "trace_points", write_points(v, &points)) != 0 ||
        json_object_set(file, "types", list) != 0)
        goto out;
    for (uint32_t i = 0; i < types.count; i++)
        if (json_array_append_new(list, write_type_row(v, &all[types.numbers[i]], &points)) != 0)
            goto out;
    status = pythia_json_put_shown(out, file, JSON_COMPACT, "\n");
out:
    json_decref(list);
    json_decref(file);
    order_free(&points);
    order_free(&types);
    return status;
}

/* A pipe has no size to ask for, so that the buffer grows with what is read. */
int pythia_file_read(const char *path, struct pythia_buf *out, struct pythia_error *e)
{
    int number = 0, file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        number = errno;
    while (number == 0) {
        char *to = pythia_buf_reserve(out, READ_BYTES);
        if (!to) {
            close(file);
            return pythia_error_set(e, PYTHIA_ENOMEM, "no memory to read %s", path);
        }
        ssize_t got = read(file, to, READ_BYTES);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            number = got < 0 ? errno : 0;
            break;
        }
        out->size += (size_t)got;
        out->bytes[out->size] = '\0';
    }
    if (file >= 0)
        close(file);
    if (number == 0)
        return PYTHIA_OK;
    pythia_error_place(e, path, 0, 0);
    return pythia_error_set(e, PYTHIA_EIO, "cannot be read: %s", strerror(number));
}
