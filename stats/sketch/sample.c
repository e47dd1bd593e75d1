/* The entries are a binary heap with the highest key on top: entry i has its children at 2 i + 1
 * and 2 i + 2. An array in falling order is such a heap, so that sorting spoils nothing; rows are
 * numbered from its end. */
#include "pythia/sample.h"

#include <assert.h>
#include <stdlib.h>

#include "pythia/mem.h"
#include "pythia/status.h"

struct entry {
    uint64_t hash, tie;
    void *row;
};

struct pythia_sample {
    size_t k, count, capacity;
    bool wanted;               /* sorted, by whoever reads a row next, … */
    void (*finish)(void *row); /* … which changes each row; NULL: none is changed */
    bool dropped;              /* rows for want of places */
    uint64_t missing;   /* the lowest hash of rows that samples moved here had dropped; UINT64_MAX:
                           they had all of their rows */
    struct entry *heap; /* owned */
    void (*drop)(void *context, void *row);
    void *context;
};

int pythia_sample_create(size_t k, void (*drop)(void *context, void *row), void *context,
                         struct pythia_sample **out)
{
    if (k == 0)
        return PYTHIA_EINVAL;
    struct pythia_sample *s = pythia_calloc(1, sizeof(*s));
    if (!s)
        return PYTHIA_ENOMEM;
    s->k = k;
    s->missing = UINT64_MAX;
    s->drop = drop;
    s->context = context;
    *out = s;
    return PYTHIA_OK;
}

static void drop_sample_row(struct pythia_sample *s, void *row)
{
    if (s->drop)
        s->drop(s->context, row);
}

void pythia_sample_destroy(struct pythia_sample *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->count; i++)
        drop_sample_row(s, s->heap[i].row);
    pythia_free(s->heap);
    pythia_free(s);
}

static bool entry_outranks(const struct entry *a, const struct entry *b)
{
    return a->hash != b->hash ? a->hash > b->hash : a->tie > b->tie;
}

/* Put `e` into the hole at i and let it rise past lower parents. */
static void rise_entry(struct entry *heap, size_t i, struct entry e)
{
    for (; i > 0 && entry_outranks(&e, &heap[(i - 1) / 2]); i = (i - 1) / 2)
        heap[i] = heap[(i - 1) / 2];
    heap[i] = e;
}

/* Put `e` into the hole on top and let it sink below higher children. */
static void sink_entry(struct entry *heap, size_t count, struct entry e)
{
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < count; i = child) {
        if (child + 1 < count && entry_outranks(&heap[child + 1], &heap[child]))
            child++;
        if (!entry_outranks(&heap[child], &e))
            break;
        heap[i] = heap[child];
    }
    heap[i] = e;
}

/* Put one entry into a heap that has room for it or is full. */
static void insert_entry(struct pythia_sample *s, struct entry e)
{
    if (s->count < s->k) {
        rise_entry(s->heap, s->count++, e);
    } else if (entry_outranks(&s->heap[0], &e)) {
        s->dropped = true;
        drop_sample_row(s, s->heap[0].row);
        sink_entry(s->heap, s->count, e);
    } else {
        s->dropped = true;
        drop_sample_row(s, e.row);
    }
}

bool pythia_sample_wants(const struct pythia_sample *s, uint64_t hash)
{
    return s->count < s->k || hash <= s->heap[0].hash;
}

int pythia_sample_add(struct pythia_sample *s, uint64_t hash, uint64_t tie, void *row)
{
    if (s->count < s->k) {
        int status = pythia_grow(&s->heap, &s->capacity, s->count, sizeof(*s->heap));
        if (status != PYTHIA_OK) {
            drop_sample_row(s, row);
            return status;
        }
    }
    insert_entry(s, (struct entry){hash, tie, row});
    return PYTHIA_OK;
}

void pythia_sample_shrink(struct pythia_sample *s, size_t k)
{
    assert(k > 0);
    s->k = k < s->k ? k : s->k;
    while (s->count > s->k) {
        s->dropped = true;
        drop_sample_row(s, s->heap[0].row);
        s->count--;
        sink_entry(s->heap, s->count, s->heap[s->count]);
    }
}

int pythia_sample_move(struct pythia_sample *from, struct pythia_sample *to)
{
    size_t most = to->count + from->count < to->k ? to->count + from->count : to->k;
    if (most > 0 &&
        pythia_reach(&to->heap, &to->capacity, most - 1, sizeof(*to->heap)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    uint64_t missing = from->missing;
    /* What a full sample drops has a higher key than all that it keeps. */
    if (from->dropped && from->count > 0 && from->heap[0].hash < missing)
        missing = from->heap[0].hash;
    to->missing = missing < to->missing ? missing : to->missing;
    for (size_t i = 0; i < from->count; i++)
        insert_entry(to, from->heap[i]);
    from->count = 0;
    return PYTHIA_OK;
}

bool pythia_sample_is_whole(const struct pythia_sample *s)
{
    return s->missing == UINT64_MAX || (s->count == s->k && s->heap[0].hash <= s->missing);
}

void pythia_sample_leave(struct pythia_sample *s, const bool *keep)
{
    size_t left = 0;
    for (size_t i = 0; i < s->count; i++)
        if (keep[s->count - 1 - i])
            s->heap[left++] = s->heap[i]; /* a part of an array in falling order is one too */
        else
            drop_sample_row(s, s->heap[i].row);
    s->count = left;
}

static int compare_falling(const void *a, const void *b)
{
    return entry_outranks(b, a) - entry_outranks(a, b);
}

void pythia_sample_sort(struct pythia_sample *s)
{
    s->wanted = false;
    if (s->count > 1)
        qsort(s->heap, s->count, sizeof(*s->heap), compare_falling);
}

void pythia_sample_sort_when_read(struct pythia_sample *s, void (*finish)(void *row))
{
    s->wanted = true;
    s->finish = finish;
}

static void read_first_row(struct pythia_sample *s)
{
    pythia_sample_sort(s);
    for (size_t i = 0; s->finish && i < s->count; i++)
        s->finish(s->heap[i].row);
}

size_t pythia_sample_count(const struct pythia_sample *s)
{
    return s->count;
}

void *pythia_sample_row(struct pythia_sample *s, size_t i)
{
    assert(i < s->count);
    if (s->wanted)
        read_first_row(s);
    return s->heap[s->count - 1 - i].row;
}

uint64_t pythia_sample_hash(struct pythia_sample *s, size_t i)
{
    assert(i < s->count);
    if (s->wanted)
        read_first_row(s);
    return s->heap[s->count - 1 - i].hash;
}
