#include "rare.h"

#include <string.h>

#include "pythia/mem.h"
#include "pythia/status.h"

/* Put a copy of a request first in the list, in one block with its spans and attributes. False:
 * there is no memory. */
static bool keep_copy(struct pythia__rare_types *r, struct pythia__rare **list,
                      const struct pythia_trace *trace)
{
    size_t spans = trace->count * sizeof(*trace->spans), size = sizeof(struct pythia__rare) + spans;
    for (uint32_t i = 0; i < trace->count; i++)
        size += trace->spans[i].attributes.size;
    struct pythia__rare *kept =
        size <= r->bytes_max && r->bytes <= r->bytes_max - size ? pythia_calloc(1, size) : NULL;
    if (!kept)
        return false;
    struct pythia_trace_span *copy = (struct pythia_trace_span *)(void *)(kept + 1);
    char *text = (char *)copy + spans;
    /* Names stay borrowed: the vocabulary never forgets one. */
    *kept = (struct pythia__rare){.next = *list, .bytes = size, .trace = *trace};
    memcpy(copy, trace->spans, spans);
    for (uint32_t i = 0; i < trace->count; i++) {
        size_t length = copy[i].attributes.size;
        if (length)
            memcpy(text, copy[i].attributes.bytes, length);
        copy[i].attributes.bytes = text;
        text += length;
    }
    kept->trace.spans = copy;
    *list = kept;
    r->bytes += size;
    return true;
}

static void drop_first(struct pythia__rare_types *r, struct pythia__rare **list)
{
    struct pythia__rare *first = *list;
    *list = first->next;
    r->bytes -= first->bytes;
    pythia_free(first);
}

static void drop_list(struct pythia__rare_types *r, struct pythia__rare **list)
{
    while (*list)
        drop_first(r, list);
}

/* ---- switches ---- */

static bool has_point(const struct pythia_space_type *type, uint32_t point)
{
    for (uint32_t node = 1; node < pythia_cct_nodes(type->cct); node++)
        if (pythia_cct_tracepoint(type->cct, node) == point)
            return true;
    return false;
}

static bool has_span(const struct pythia__rare *list, uint32_t point)
{
    for (; list; list = list->next)
        for (uint32_t i = 0; i < list->trace.count; i++)
            if (list->trace.spans[i].tracepoint == point)
                return true;
    return false;
}

/* Do switches change how requests of a type look? They do if the tree of the type, or one of these
 * requests, has such a trace point; a switch for another type changes nothing. */
static bool is_changed(const struct pythia__rare *list, const struct pythia_space_type *type,
                       const struct pythia_switch *switches, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t point = switches[i].tracepoint;
        bool concerned = !type || switches[i].type == PYTHIA_NONE || switches[i].type == type->name;
        if (concerned && (!type || has_point(type, point) || has_span(list, point)))
            return true;
    }
    return false;
}

/* ---- types ---- */

void pythia__rare_types_free(struct pythia__rare_types *r)
{
    for (int stage = 0; stage < PYTHIA__STAGES; stage++)
        pythia__rare_types_drop(r, stage);
    pythia__rare_types_drop_next(r);
    pythia_free(r->types);
    pythia_free(r->index);
    *r = (struct pythia__rare_types){0};
}

static struct pythia__rare_type *find_rare_type(struct pythia__rare_types *r, uint32_t name,
                                                uint32_t unsplit)
{
    if (pythia_reach(&r->index, &r->index_capacity, name, sizeof(*r->index)) != PYTHIA_OK)
        return NULL;
    if (r->index[name] == 0) {
        if (pythia_grow(&r->types, &r->capacity, r->count, sizeof(*r->types)) != PYTHIA_OK)
            return NULL;
        r->types[r->count++] = (struct pythia__rare_type){.name = name, .unsplit = unsplit};
        r->index[name] = (uint32_t)r->count;
    }
    return &r->types[r->index[name] - 1];
}

int pythia__rare_types_add(struct pythia__rare_types *r, int stage, uint32_t name, uint32_t unsplit,
                           const struct pythia_trace *trace, uint64_t *all)
{
    struct pythia__rare_type *type = find_rare_type(r, name, unsplit);
    if (!type)
        return PYTHIA_ENOMEM;
    *all = ++type->in[stage].requests + type->in[stage].carried;
    /* A type that has enough is diagnosed in this cycle, and needs no copies. */
    if (type->frequent || *all >= r->enough)
        drop_list(r, &type->in[stage].kept);
    else if (!keep_copy(r, &type->in[stage].kept, trace))
        type->in[stage].lost++;
    return PYTHIA_OK;
}

static void retain_requests(struct pythia__rare_type *type, int stage)
{
    type->next = type->in[stage].kept;
    type->in[stage].kept = NULL;
    for (struct pythia__rare *kept = type->next; kept; kept = kept->next)
        kept->cycles++;
}

void pythia__rare_types_end(struct pythia__rare_types *r, int stage, bool same,
                            const struct pythia_space *space, const struct pythia_switch *switches,
                            size_t count)
{
    for (size_t i = 0; i < r->count; i++) {
        struct pythia__rare_type *type = &r->types[i];
        uint64_t new = type->in[stage].requests;
        type->frequent = new >= r->enough;
        /* Without the lost ones the next cycle has too few again: the loss must be seen. */
        if (new > 0 && new + type->in[stage].carried < r->enough)
            r->not_carried += type->in[stage].lost;
        if (same && type->in[stage].kept &&
            !is_changed(type->in[stage].kept, pythia_space_type(space, type->unsplit), switches,
                        count))
            retain_requests(type, stage);
    }
    pythia__rare_types_drop(r, stage);
}

void pythia__rare_types_drop(struct pythia__rare_types *r, int stage)
{
    for (size_t i = 0; i < r->count; i++) {
        drop_list(r, &r->types[i].in[stage].kept);
        memset(&r->types[i].in[stage], 0, sizeof(r->types[i].in[stage]));
    }
}

void pythia__rare_types_drop_next(struct pythia__rare_types *r)
{
    for (size_t i = 0; i < r->count && r->bytes > 0; i++)
        drop_list(r, &r->types[i].next);
}

void pythia__rare_types_drop_those(struct pythia__rare_types *r,
                                   bool (*is_one)(void *context, const struct pythia_trace *trace),
                                   void *context)
{
    for (size_t i = 0; i < r->count && r->bytes > 0; i++)
        for (struct pythia__rare **at = &r->types[i].next; *at;)
            if (is_one(context, &(*at)->trace))
                drop_first(r, at);
            else
                at = &(*at)->next;
}
