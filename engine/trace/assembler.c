/* A hash table of open traces. Each keeps its spans packed in a list of chunks:
 *
 *   trace ──> chunk [ head | attributes | head | attributes | … ] ──> chunk …
 *
 * A chunk is cut from the heap and goes back to a list of free ones when its trace is finished, so
 * that the heap is asked for thousands of spans at once. Traces stand in a queue in order of their
 * last tick; those at its front are quiet. */
#include "pythia/assembler.h"

#include <stdalign.h>
#include <string.h>

#include "pythia/hash.h"
#include "pythia/mem.h"
#include "pythia/status.h"

#define CHUNK_BYTES ((size_t)1024) /* most traces need a few */

struct chunk {
    struct chunk *next;
    uint32_t size, used; /* bytes behind this head */
    alignas(8) char bytes[];
};

/* A span as it is kept: this head and, padded to 8 bytes, its attributes; a fork or a wait has its
 * link before them. */
struct packed {
    uint64_t id, parent, start_ns;
    int64_t duration_ns;
    uint32_t tracepoint, resource, attributes_size;
    uint8_t kind, relation, part, flags;
};

enum { FLAG_ERROR = 1, FLAG_SHARED = 2, FLAG_MANY_ROOTS = 4 };

struct open_trace {
    struct pythia_trace_id id;
    struct open_trace *merged_into;     /* its spans are there: it was forked off that trace */
    struct open_trace *earlier, *later; /* in the queue */
    struct open_trace
        *members; /* traces merged into this one, by next_member; they may have some too */
    struct open_trace *next_member;
    struct chunk *first, *last;
    uint64_t spans, first_tick, last_tick;
    bool pinned, late; /* late: it is in the list of late ones */
};

struct pythia_assembler {
    struct pythia_assembler_options options;
    struct pythia_trace_taker taker;
    struct pythia_counts *counts;
    struct pythia_trace_builder *builder;
    struct open_trace **table; /* linear probing */
    size_t table_size, table_used;
    struct open_trace *oldest, *newest, *free_traces;
    struct chunk *free_chunks;
    uint64_t tick, open_spans, peak_spans;
    uint64_t
        *finished; /* hash set of the ids of finished traces; 0: empty; LATE: it is in `late` */
    size_t finished_size, finished_used;
    struct pythia_trace_id *late, *pinned;
    size_t late_count, late_capacity, pinned_count;
};

int pythia_assembler_create(const struct pythia_vocabulary *vocabulary,
                            const struct pythia_assembler_options *options,
                            struct pythia_trace_taker taker, struct pythia_counts *counts,
                            struct pythia_assembler **out)
{
    struct pythia_assembler *a = pythia_calloc(1, sizeof(*a));
    if (!a)
        return PYTHIA_ENOMEM;
    a->options = *options;
    if (a->options.quiet_ticks == 0)
        a->options.quiet_ticks = 2;
    a->taker = taker;
    a->counts = counts;
    a->table_size = 256;
    a->table = pythia_calloc(a->table_size, sizeof(struct open_trace *));
    a->finished_size = 256;
    a->finished = pythia_calloc(a->finished_size, sizeof(*a->finished));
    if (!a->table || !a->finished ||
        pythia_trace_builder_create(vocabulary, options->open, &a->builder) != PYTHIA_OK) {
        pythia_assembler_destroy(a);
        return PYTHIA_ENOMEM;
    }
    *out = a;
    return PYTHIA_OK;
}

static void free_chunks(struct chunk *list)
{
    while (list) {
        struct chunk *next = list->next;
        pythia_free(list);
        list = next;
    }
}

void pythia_assembler_destroy(struct pythia_assembler *a)
{
    if (!a)
        return;
    for (size_t i = 0; a->table && i < a->table_size; i++)
        if (a->table[i]) {
            free_chunks(a->table[i]->first);
            pythia_free(a->table[i]);
        }
    while (a->free_traces) {
        struct open_trace *next = a->free_traces->later;
        pythia_free(a->free_traces);
        a->free_traces = next;
    }
    free_chunks(a->free_chunks);
    pythia_trace_builder_destroy(a->builder);
    pythia_free(a->table);
    pythia_free(a->finished);
    pythia_free(a->late);
    pythia_free(a->pinned);
    pythia_free(a);
}

/* ---- sets of trace ids ---- */

#define LATE (UINT64_C(1) << 63) /* no hash has it */

static uint64_t hash_of(struct pythia_trace_id id)
{
    uint64_t hash = pythia_hash_mix(id.high, id.low) & ~LATE;
    return hash ? hash : 1;
}

static size_t finished_slot(const uint64_t *set, size_t size, uint64_t hash)
{
    size_t i = hash & (size - 1);
    while (set[i] != 0 && (set[i] & ~LATE) != hash)
        i = (i + 1) & (size - 1);
    return i;
}

static bool is_finished(const struct pythia_assembler *a, uint64_t hash)
{
    return a->finished[finished_slot(a->finished, a->finished_size, hash)] != 0;
}

static int remember_finished(struct pythia_assembler *a, uint64_t hash, bool late)
{
    if (a->finished_used >= a->finished_size / 2) {
        size_t larger = a->finished_size * 2;
        uint64_t *set = pythia_calloc(larger, sizeof(*set));
        if (!set)
            return PYTHIA_ENOMEM;
        for (size_t i = 0; i < a->finished_size; i++)
            if (a->finished[i])
                set[finished_slot(set, larger, a->finished[i] & ~LATE)] = a->finished[i];
        pythia_free(a->finished);
        a->finished = set;
        a->finished_size = larger;
    }
    size_t slot = finished_slot(a->finished, a->finished_size, hash);
    a->finished_used += a->finished[slot] == 0;
    a->finished[slot] = hash | (late ? LATE : 0);
    return PYTHIA_OK;
}

/* Sorted by hash: binary search. */
static bool is_pinned(const struct pythia_assembler *a, struct pythia_trace_id id)
{
    size_t low = 0, high = a->pinned_count;
    uint64_t hash = hash_of(id);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (hash_of(a->pinned[middle]) < hash)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < a->pinned_count && hash_of(a->pinned[low]) == hash; low++)
        if (pythia_trace_id_equal(a->pinned[low], id))
            return true;
    return false;
}

static int list_late(struct pythia_assembler *a, struct pythia_trace_id id)
{
    if (pythia_grow(&a->late, &a->late_capacity, a->late_count, sizeof(*a->late)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    a->late[a->late_count++] = id;
    return PYTHIA_OK;
}

/* The finished trace `id` had a late span: it is listed once. */
static int remember_late(struct pythia_assembler *a, struct pythia_trace_id id)
{
    uint64_t *entry = &a->finished[finished_slot(a->finished, a->finished_size, hash_of(id))];
    int status = *entry & LATE ? PYTHIA_OK : list_late(a, id);
    if (status == PYTHIA_OK)
        *entry |= LATE;
    return status;
}

const struct pythia_trace_id *pythia_assembler_late(const struct pythia_assembler *a, size_t *count)
{
    *count = a->late_count;
    return a->late;
}

int pythia_assembler_pin(struct pythia_assembler *a, const struct pythia_trace_id *traces,
                         size_t count)
{
    struct pythia_trace_id *pinned = pythia_realloc(a->pinned, count, sizeof(*pinned));
    if (!pinned)
        return PYTHIA_ENOMEM;
    a->pinned = pinned;
    a->pinned_count = count;
    if (count)
        memcpy(pinned, traces, count * sizeof(*pinned));
    for (size_t gap = count / 2; gap > 0; gap /= 2) /* few: a Shell sort by hash */
        for (size_t i = gap; i < count; i++)
            for (size_t k = i; k >= gap && hash_of(pinned[k]) < hash_of(pinned[k - gap]);
                 k -= gap) {
                struct pythia_trace_id swap = pinned[k];
                pinned[k] = pinned[k - gap];
                pinned[k - gap] = swap;
            }
    return PYTHIA_OK;
}

/* ---- the table and the queue ---- */

static size_t table_slot(struct open_trace *const *table, size_t size, struct pythia_trace_id id)
{
    size_t i = hash_of(id) & (size - 1);
    while (table[i] && !pythia_trace_id_equal(table[i]->id, id))
        i = (i + 1) & (size - 1);
    return i;
}

static int grow_table(struct pythia_assembler *a)
{
    size_t larger = a->table_size * 2;
    struct open_trace **table = pythia_calloc(larger, sizeof(struct open_trace *));
    if (!table)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < a->table_size; i++)
        if (a->table[i])
            table[table_slot(table, larger, a->table[i]->id)] = a->table[i];
    pythia_free(a->table);
    a->table = table;
    a->table_size = larger;
    return PYTHIA_OK;
}

/* Linear probing without tombstones: move up what stands behind the hole and would not be found any
 * more. */
static void table_remove(struct pythia_assembler *a, struct pythia_trace_id id)
{
    size_t mask = a->table_size - 1, hole = table_slot(a->table, a->table_size, id);
    a->table[hole] = NULL;
    a->table_used--;
    for (size_t i = (hole + 1) & mask; a->table[i]; i = (i + 1) & mask) {
        size_t home = hash_of(a->table[i]->id) & mask;
        if (((i - home) & mask) < ((i - hole) & mask))
            continue;
        a->table[hole] = a->table[i];
        a->table[i] = NULL;
        hole = i;
    }
}

static void unqueue(struct pythia_assembler *a, struct open_trace *t)
{
    *(t->earlier ? &t->earlier->later : &a->oldest) = t->later;
    *(t->later ? &t->later->earlier : &a->newest) = t->earlier;
    t->earlier = t->later = NULL;
}

static void enqueue(struct pythia_assembler *a, struct open_trace *t)
{
    t->earlier = a->newest;
    t->later = NULL;
    *(a->newest ? &a->newest->later : &a->oldest) = t;
    a->newest = t;
    t->last_tick = a->tick;
}

/* The open trace `id` stands for, made if there is none. */
static struct open_trace *open_trace(struct pythia_assembler *a, struct pythia_trace_id id)
{
    size_t slot = table_slot(a->table, a->table_size, id);
    struct open_trace *t = a->table[slot];
    if (!t) {
        if (a->table_used >= a->table_size / 2) {
            if (grow_table(a) != PYTHIA_OK)
                return NULL;
            slot = table_slot(a->table, a->table_size, id);
        }
        t = a->free_traces;
        if (t)
            a->free_traces = t->later;
        else if (!(t = pythia_calloc(1, sizeof(*t))))
            return NULL;
        *t = (struct open_trace){.id = id, .first_tick = a->tick};
        t->pinned = a->pinned_count > 0 && is_pinned(a, id);
        enqueue(a, t);
        a->table[slot] = t;
        a->table_used++;
    }
    for (; t->merged_into; t = t->merged_into) /* and shorten the way for whoever comes next */
        if (t->merged_into->merged_into)
            t->merged_into = t->merged_into->merged_into;
    return t;
}

/* ---- spans ---- */

static struct chunk *make_chunk(struct pythia_assembler *a, size_t bytes)
{
    size_t plain = CHUNK_BYTES - sizeof(struct chunk);
    struct chunk *chunk;
    if (bytes <= plain && a->free_chunks) {
        chunk = a->free_chunks;
        a->free_chunks = chunk->next;
    } else {
        size_t size = bytes <= plain ? plain : bytes;
        chunk = pythia_realloc(NULL, sizeof(*chunk) + size, 1);
        if (!chunk)
            return NULL;
        chunk->size = (uint32_t)size;
    }
    chunk->next = NULL;
    chunk->used = 0;
    return chunk;
}

static void release_chunks(struct pythia_assembler *a, struct chunk *list)
{
    while (list) {
        struct chunk *next = list->next;
        if (list->size == CHUNK_BYTES - sizeof(struct chunk)) {
            list->next = a->free_chunks;
            a->free_chunks = list;
        } else {
            pythia_free(list);
        }
        list = next;
    }
}

static bool has_link(uint8_t part)
{
    return part == PYTHIA_PART_FORK || part == PYTHIA_PART_WAIT;
}

static int store(struct pythia_assembler *a, struct open_trace *t, const struct pythia_span *s)
{
    bool link = has_link((uint8_t)s->part);
    size_t bytes = sizeof(struct packed) + (link ? sizeof(s->link) : 0) +
                   ((s->attributes.size + 7) & ~(size_t)7);
    if (s->attributes.size > UINT32_MAX / 2)
        return PYTHIA_ENOMEM;
    if (!t->last || t->last->size - t->last->used < bytes) {
        struct chunk *chunk = make_chunk(a, bytes);
        if (!chunk)
            return PYTHIA_ENOMEM;
        *(t->last ? &t->last->next : &t->first) = chunk;
        t->last = chunk;
    }
    char *to = t->last->bytes + t->last->used;
    t->last->used += (uint32_t)bytes;
    struct packed head = {
        .id = s->id,
        .parent = s->parent,
        .start_ns = s->start_ns,
        .duration_ns = s->duration_ns,
        .tracepoint = s->tracepoint,
        .resource = s->resource,
        .attributes_size = (uint32_t)s->attributes.size,
        .kind = (uint8_t)s->kind,
        .relation = (uint8_t)s->relation,
        .part = (uint8_t)s->part,
        .flags = (uint8_t)((s->error ? FLAG_ERROR : 0) | (s->shared ? FLAG_SHARED : 0) |
                           (s->many_roots ? FLAG_MANY_ROOTS : 0)),
    };
    memcpy(to, &head, sizeof(head));
    to += sizeof(head);
    if (link) {
        memcpy(to, &s->link, sizeof(s->link));
        to += sizeof(s->link);
    }
    if (s->attributes.size)
        memcpy(to, s->attributes.bytes, s->attributes.size);
    t->spans++;
    a->open_spans++;
    if (a->open_spans > a->peak_spans)
        a->peak_spans = a->open_spans;
    return PYTHIA_OK;
}

/* Unpack the span at `from`; returns where the next one is. */
static const char *unpack(const char *from, struct pythia_span *out)
{
    struct packed head;
    memcpy(&head, from, sizeof(head));
    from += sizeof(head);
    *out = (struct pythia_span){
        .id = head.id,
        .parent = head.parent,
        .start_ns = head.start_ns,
        .duration_ns = head.duration_ns,
        .tracepoint = head.tracepoint,
        .resource = head.resource,
        .kind = (enum pythia_span_kind)head.kind,
        .relation = (enum pythia_span_relation)head.relation,
        .part = (enum pythia_span_part)head.part,
        .error = (head.flags & FLAG_ERROR) != 0,
        .shared = (head.flags & FLAG_SHARED) != 0,
        .many_roots = (head.flags & FLAG_MANY_ROOTS) != 0,
    };
    if (has_link(head.part)) {
        memcpy(&out->link, from, sizeof(out->link));
        from += sizeof(out->link);
    }
    out->attributes = (struct pythia_text){from, head.attributes_size};
    return from + ((head.attributes_size + 7) & ~(size_t)7);
}

/* The trace `work` was forked off `t`: from now on they are one. */
static void merge(struct pythia_assembler *a, struct open_trace *t, struct open_trace *work)
{
    if (work->first) {
        *(t->last ? &t->last->next : &t->first) = work->first;
        t->last = work->last;
    }
    t->spans += work->spans;
    t->pinned = t->pinned || work->pinned;
    t->first_tick = work->first_tick < t->first_tick ? work->first_tick : t->first_tick;
    work->first = work->last = NULL;
    work->merged_into = t;
    work->next_member = t->members;
    t->members = work;
    unqueue(a, work);
}

static int join_work(struct pythia_assembler *a, struct open_trace *t, struct pythia_trace_id link)
{
    uint64_t hash = hash_of(link);
    if (is_finished(a, hash) && !a->table[table_slot(a->table, a->table_size, link)]) {
        a->counts->dropped[PYTHIA_DROP_LATE]++; /* the work was taken for a request of its own */
        int status = remember_late(a, link);
        if (status == PYTHIA_OK && !t->late)
            status = list_late(a, t->id);
        t->late = t->late || status == PYTHIA_OK;
        return status;
    }
    struct open_trace *work = open_trace(a, link);
    if (!work)
        return PYTHIA_ENOMEM;
    if (work != t)
        merge(a, t, work);
    return PYTHIA_OK;
}

int pythia_assembler_add(struct pythia_assembler *a, const struct pythia_trace_id *trace,
                         const struct pythia_span *span)
{
    a->counts->spans++;
    if (is_finished(a, hash_of(*trace)) && !a->table[table_slot(a->table, a->table_size, *trace)]) {
        a->counts->dropped[PYTHIA_DROP_LATE]++;
        return remember_late(a, *trace);
    }
    struct open_trace *t = open_trace(a, *trace);
    if (!t || store(a, t, span) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    if (t->last_tick != a->tick) {
        unqueue(a, t);
        enqueue(a, t);
    }
    return span->part == PYTHIA_PART_FORK ? join_work(a, t, span->link) : PYTHIA_OK;
}

/* ---- finishing ---- */

static int forget(struct pythia_assembler *a, struct open_trace *t)
{
    int status = remember_finished(a, hash_of(t->id), t->late);
    table_remove(a, t->id);
    release_chunks(a, t->first);
    t->later = a->free_traces;
    a->free_traces = t;
    return status;
}

/* Forget the traces in the list `members`, and those that were merged into them before. */
static int forget_members(struct pythia_assembler *a, struct open_trace *members)
{
    int status = PYTHIA_OK;
    while (members) {
        struct open_trace *member = members;
        members = member->next_member;
        for (struct open_trace *inner = member->members, *next; inner; inner = next) {
            next = inner->next_member;
            inner->next_member = members;
            members = inner;
        }
        int forgotten = forget(a, member);
        status = status < 0 ? status : forgotten;
    }
    return status;
}

static int finish(struct pythia_assembler *a, struct open_trace *t)
{
    const struct pythia_trace *trace;
    int status = PYTHIA_OK;
    pythia_trace_builder_begin(a->builder, t->id);
    for (const struct chunk *chunk = t->first; chunk && status == PYTHIA_OK; chunk = chunk->next)
        for (const char *at = chunk->bytes;
             at < chunk->bytes + chunk->used && status == PYTHIA_OK;) {
            struct pythia_span span;
            at = unpack(at, &span);
            status = pythia_trace_builder_add(a->builder, &span);
        }
    if (status == PYTHIA_OK)
        status = pythia_trace_builder_finish(a->builder, a->counts, &trace);
    if (status == PYTHIA_OK)
        status = a->taker.take(a->taker.context, trace);
    unqueue(a, t);
    a->open_spans -= t->spans;
    int members = forget_members(a, t->members), forgotten = forget(a, t);
    if (status < 0)
        return status;
    return members < 0 ? members : forgotten;
}

int pythia_assembler_tick(struct pythia_assembler *a)
{
    a->tick++;
    int status = PYTHIA_OK;
    for (struct open_trace *t = a->oldest, *later; t && status == PYTHIA_OK; t = later) {
        later = t->later;
        bool quiet = t->last_tick + a->options.quiet_ticks <= a->tick;
        bool old = a->options.timeout_ticks && t->first_tick + a->options.timeout_ticks <= a->tick;
        if (!quiet && !a->options.timeout_ticks)
            break; /* the queue is in order: nobody behind has been quiet for longer */
        if ((quiet || old) && !t->pinned)
            status = finish(a, t);
    }
    return status;
}

int pythia_assembler_finish(struct pythia_assembler *a)
{
    int status = PYTHIA_OK;
    while (a->oldest && status == PYTHIA_OK)
        status = finish(a, a->oldest);
    return status;
}

uint64_t pythia_assembler_open_spans(const struct pythia_assembler *a, uint64_t *peak)
{
    if (peak)
        *peak = a->peak_spans;
    return a->open_spans;
}
