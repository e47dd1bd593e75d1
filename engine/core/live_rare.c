#include "live_rare.h"

#include <string.h>

#include "pythia/mem.h"

bool pythia__rare_keep(struct pythia__rare **list, const struct pythia_trace *trace, size_t *bytes,
                       size_t most)
{
    size_t spans = trace->count * sizeof(*trace->spans), size = sizeof(struct pythia__rare) + spans;
    for (uint32_t i = 0; i < trace->count; i++)
        size += trace->spans[i].attributes.size;
    struct pythia__rare *kept =
        size <= most && *bytes <= most - size ? pythia_calloc(1, size) : NULL;
    if (!kept)
        return false;
    struct pythia_trace_span *copy = (struct pythia_trace_span *)(void *)(kept + 1);
    char *text = (char *)copy + spans;
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
    *bytes += size;
    return true;
}

uint64_t pythia__rare_drop(struct pythia__rare **list, size_t *bytes)
{
    uint64_t count = 0;
    while (*list) {
        struct pythia__rare *first = *list;
        *list = first->next;
        *bytes -= first->bytes;
        pythia_free(first);
        count++;
    }
    return count;
}

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

bool pythia__rare_changes(const struct pythia__rare *list, const struct pythia_space_type *type,
                          const struct pythia_switch *switches, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!type || has_point(type, switches[i].tracepoint) ||
            has_span(list, switches[i].tracepoint))
            return true;
    return false;
}
