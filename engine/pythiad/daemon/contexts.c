#include "contexts.h"

#include <stdlib.h>

#include "pythia/mem.h"
#include "pythia/status.h"

static json_t *make_name(struct pythia_text text)
{
    json_t *out = json_stringn(text.bytes, text.size);
    return out ? out : json_string("?");
}

/* A type and its name, for qsort. */
struct named_type {
    const struct pythia_space_type *type;
    struct pythia_text name;
};

static int compare_named_types(const void *a, const void *b)
{
    const struct named_type *x = a, *y = b;
    return pythia_text_compare(x->name, y->name);
}

/* The page lists types by name, which stays the same when they are learnt in another order. */
json_t *pythia__context_types(const struct pythia_space *space)
{
    size_t count = 0;
    const struct pythia_space_type *types = pythia_space_types(space, &count);
    const struct pythia_vocabulary *vocabulary = pythia_space_vocabulary(space);
    struct named_type *sorted = pythia_calloc(count + 1, sizeof(*sorted));
    json_t *out = json_array();
    for (size_t i = 0; sorted && i < count; i++)
        sorted[i] =
            (struct named_type){&types[i], pythia_vocabulary_text(vocabulary, types[i].name)};
    if (sorted)
        qsort(sorted, count, sizeof(*sorted), compare_named_types);
    int failed = !sorted;
    for (size_t i = 0; sorted && i < count; i++)
        failed |= json_array_append_new(
            out, json_pack("{s:o, s:I, s:I}", "request_type", make_name(sorted[i].name), "requests",
                           (json_int_t)sorted[i].type->requests, "contexts",
                           (json_int_t)pythia_cct_nodes(sorted[i].type->cct) - 1));
    pythia_free(sorted);
    if (!failed)
        return out;
    json_decref(out);
    return NULL;
}

json_t *pythia__context_tree(const struct pythia_space_type *type,
                             const struct pythia_vocabulary *vocabulary)
{
    uint32_t *sorted = NULL, count = 0;
    if (pythia_cct_sorted_nodes(type->cct, &sorted, &count) != PYTHIA_OK)
        return NULL;
    uint32_t *places = pythia_calloc(count, sizeof(*places)); /* by node: its index in the list */
    json_t *list = json_array();
    int failed = !places;
    for (uint32_t i = 1; places && i < count; i++) { /* the first is the root, no trace point */
        uint32_t node = sorted[i], parent = pythia_cct_parent(type->cct, node);
        const struct pythia_space_node *n = &type->nodes[node];
        places[node] = i - 1;
        failed |= json_array_append_new(
            list, json_pack("{s:o, s:o, s:I, s:I, s:I}", "trace_point",
                            make_name(pythia_vocabulary_tracepoint_id(
                                vocabulary, pythia_cct_tracepoint(type->cct, node))),
                            "parent",
                            parent == PYTHIA_CCT_ROOT ? json_null() : json_integer(places[parent]),
                            "calls", (json_int_t)n->calls, "requests", (json_int_t)n->requests,
                            "time_ns", (json_int_t)n->time_ns));
    }
    pythia_free(places);
    pythia_free(sorted);
    if (!failed)
        return json_pack("{s:o, s:I, s:o}", "request_type",
                         make_name(pythia_vocabulary_text(vocabulary, type->name)), "requests",
                         (json_int_t)type->requests, "contexts", list);
    json_decref(list);
    return NULL;
}
