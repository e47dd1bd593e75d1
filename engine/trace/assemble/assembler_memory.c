/* The memory of open traces, and which of them are shed when it is too much. */
#include <string.h>

#include "assembler_parts.h"
#include "pythia/status.h"

static size_t count_trace_bytes(const struct open_trace *t)
{
    return pythia__span_list_bytes(&t->list) + sizeof(*t) + PYTHIA__HEAP_HEAD;
}

size_t pythia_assembler_bytes(const struct pythia_assembler *a)
{
    return sizeof(*a) + pythia__span_pool_bytes(&a->pool) + pythia_arena_bytes(&a->attributes) +
           a->trace_count * (sizeof(struct open_trace) + PYTHIA__HEAP_HEAD) +
           pythia_hash_table_bytes(&a->by_id) + pythia__finished_ids_bytes(&a->finished) +
           a->sender_capacity * sizeof(*a->senders) + a->kind_capacity * sizeof(*a->kinds) +
           a->start_capacity * sizeof(*a->starts) + pythia__pinned_ids_bytes(&a->pinned) +
           a->late_capacity * sizeof(*a->late) + a->builder_bytes;
}

/* The bytes above which a kind of trace has to give some away, so that `excess` of them are freed
 * in all: the same for all kinds. */
static size_t find_level(const struct pythia_assembler *a, size_t excess)
{
    size_t low = 0, high = 0;
    for (size_t kind = 0; kind < a->kind_capacity; kind++)
        high = a->kinds[kind] > high ? a->kinds[kind] : high;
    while (low < high) { /* the largest level that frees enough */
        size_t middle = low + (high - low + 1) / 2, freed = 0;
        for (size_t kind = 0; kind < a->kind_capacity; kind++)
            freed += a->kinds[kind] > middle ? a->kinds[kind] - middle : 0;
        if (freed >= excess)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* Shed traces of `excess` bytes. */
static int shed_traces(struct pythia_assembler *a, size_t excess)
{
    size_t freed = 0;
    int status = PYTHIA_OK;
    if (a->kind_capacity)
        memset(a->kinds, 0, a->kind_capacity * sizeof(*a->kinds));
    /* Traces to shed are chosen by type, because shedding the youngest of all would take every
     * trace of a rare type during a burst of a common one. */
    for (const struct open_trace *t = a->eldest; t; t = t->younger)
        if (t->kind != PYTHIA_NONE)
            a->kinds[t->kind] += count_trace_bytes(t);
    size_t level = find_level(a, excess);
    /* The youngest first: an old trace has had most of its spans, and is worth more. */
    for (struct open_trace *t = a->youngest, *elder; t && freed < excess; t = elder) {
        elder = t->elder;
        if (t->pinned || (t->kind != PYTHIA_NONE && a->kinds[t->kind] <= level))
            continue;
        if (t->kind != PYTHIA_NONE)
            a->kinds[t->kind] -= count_trace_bytes(t);
        freed += count_trace_bytes(t);
        a->counts->dropped[PYTHIA_DROP_SHED] += t->spans;
        a->numbers.shed_traces++;
        status = pythia__assembler_end_trace(a, t, PYTHIA__ENDED_SHED);
        if (status != PYTHIA_OK)
            goto out;
    }
out:
    pythia__assembler_free_spare(a);
    return status;
}

void pythia_assembler_set_origin(struct pythia_assembler *a, uint16_t origin)
{
    a->origin = origin;
}

void pythia_assembler_forget_origin(struct pythia_assembler *a, uint16_t origin)
{
    for (struct open_trace *t = a->eldest, *younger; t; t = younger) {
        younger = t->younger;
        if (t->origin != origin)
            continue;
        a->counts->spans -= t->spans;
        a->numbers.forgotten_traces++;
        (void)pythia__assembler_end_trace(a, t, PYTHIA__ENDED_NOT); /* it remembers no id */
    }
}

void pythia_assembler_forget_finished(struct pythia_assembler *a)
{
    pythia__finished_ids_free(&a->finished);
}

int pythia_assembler_shed(struct pythia_assembler *a, size_t bytes)
{
    pythia__assembler_free_spare(a);
    for (uint64_t before = UINT64_MAX;
         pythia_assembler_bytes(a) > bytes &&
         a->numbers.open_traces < before;) { /* remembering the ids may have taken some again */
        before = a->numbers.open_traces;
        int status = shed_traces(a, pythia_assembler_bytes(a) - bytes);
        if (status != PYTHIA_OK)
            return status;
    }
    return PYTHIA_OK;
}
