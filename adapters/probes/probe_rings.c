/* A ring as perf_event_open(2) describes it: a page with `data_head` and `data_tail`, then the
 * data. Of its records only samples and losses matter:
 *
 *     | type 4 | misc 2 | size 2 | bytes 4 | the program's record, zeros up to 8 bytes |   SAMPLE
 *     | type 4 | misc 2 | size 2 | id 8 | number of records 8 |                            LOST
 *
 * The kernel writes them, but only the other end of a socket has said so: nothing of a ring is
 * believed. */
#define _GNU_SOURCE
#include "pythia/probe_rings.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pythia/mem.h"
#include "pythia/status.h"

#define TIME_MAX ((uint64_t)INT64_MAX / 8) /* records have no later one */
#define HITS_MAX 65536                     /* that are held back at once; more are lost */

/* A hit with what is behind it. */
struct held {
    struct pythia_probe_hit hit;
    int64_t values[PYTHIA_USDT_OPERANDS_MAX];
    char texts[PYTHIA_PROBE_TEXT_BYTES];
};

struct pythia_probe_rings {
    struct perf_event_mmap_page **pages; /* owned; NULL where none is mapped */
    size_t count, page_bytes, data_bytes;
    struct held *held; /* owned; in no order */
    struct held **order;
    size_t held_count, held_capacity, order_capacity;
    uint64_t lost;
};

/* Map one ring, and close its descriptor. */
static int map_ring(struct pythia_probe_rings *r, int ring, struct pythia_error *e)
{
    void *map =
        mmap(NULL, r->page_bytes + r->data_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring, 0);
    close(ring);
    if (map == MAP_FAILED)
        return pythia_error_set(e, PYTHIA_EIO,
                                "the rings of probes cannot be mapped: kernel.perf_event_mlock_kb "
                                "must be 264 or more");
    r->pages[r->count++] = map;
    return PYTHIA_OK;
}

int pythia_probe_rings_open(const int *rings, size_t count, struct pythia_probe_rings **out,
                            struct pythia_error *e)
{
    size_t i = 0;
    int status = PYTHIA_OK;
    struct pythia_probe_rings *r = pythia_calloc(1, sizeof(*r));
    if (!r || !(r->pages = pythia_calloc(count, sizeof(struct perf_event_mmap_page *)))) {
        status = pythia_error_set(e, PYTHIA_ENOMEM, "out of memory");
        goto out;
    }
    r->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    r->data_bytes = PYTHIA_PROBE_RING_PAGES * r->page_bytes;
    while (i < count && status == PYTHIA_OK)
        status = map_ring(r, rings[i++], e);
out:
    for (; i < count; i++)
        close(rings[i]);
    if (status == PYTHIA_OK)
        *out = r;
    else
        pythia_probe_rings_close(r);
    return status;
}

void pythia_probe_rings_close(struct pythia_probe_rings *r)
{
    if (!r)
        return;
    for (size_t i = 0; r->pages && i < r->count; i++)
        munmap(r->pages[i], r->page_bytes + r->data_bytes);
    pythia_free(r->pages);
    pythia_free(r->held);
    pythia_free(r->order);
    pythia_free(r);
}

uint64_t pythia_probe_rings_lost(const struct pythia_probe_rings *r)
{
    return r->lost;
}

/* Copy bytes out of a ring, which may wrap. */
static void copy_out(const struct pythia_probe_rings *r, const char *data, uint64_t at, void *to,
                     size_t size)
{
    size_t from = (size_t)(at % r->data_bytes),
           first = size < r->data_bytes - from ? size : r->data_bytes - from;
    memcpy(to, data + from, first);
    memcpy((char *)to + first, data, size - first);
}

/* Read a sample; false if it is no hit. */
static bool read_hit(const struct pythia_probe_rings *r, const char *data, uint64_t at, size_t size,
                     struct held *out)
{
    const size_t head = 8 + sizeof(uint32_t); /* of the record, and the size in it */
    if (size < head + sizeof(out->hit))
        return false;
    copy_out(r, data, at + head, &out->hit, sizeof(out->hit));
    size_t values = out->hit.values, texts = out->hit.texts ? PYTHIA_PROBE_TEXT_BYTES : 0;
    if (values > PYTHIA_USDT_OPERANDS_MAX || out->hit.time_ns > TIME_MAX ||
        size < head + sizeof(out->hit) + values * sizeof(int64_t) + texts)
        return false;
    copy_out(r, data, at + head + sizeof(out->hit), out->values, values * sizeof(int64_t));
    copy_out(r, data, at + head + sizeof(out->hit) + values * sizeof(int64_t), out->texts, texts);
    return true;
}

/* Take one record of a ring in, of which `left` bytes are there. Returns how many it has, or 0 if
 * its size cannot be true. */
static size_t take_record(struct pythia_probe_rings *r, const char *data, uint64_t at,
                          uint64_t left)
{
    struct perf_event_header head;
    uint64_t lost;
    copy_out(r, data, at, &head, sizeof(head));
    if (head.size < sizeof(head) || head.size > left)
        return 0;
    if (head.type == PERF_RECORD_LOST && head.size >= 24) {
        copy_out(r, data, at + 16, &lost, sizeof(lost));
        r->lost += lost;
    }
    if (head.type != PERF_RECORD_SAMPLE)
        return head.size;
    if (r->held_count < HITS_MAX &&
        pythia_grow(&r->held, &r->held_capacity, r->held_count, sizeof(*r->held)) == PYTHIA_OK &&
        read_hit(r, data, at, head.size, &r->held[r->held_count]))
        r->held_count++;
    else
        r->lost++;
    return head.size;
}

static void empty_ring(struct pythia_probe_rings *r, struct perf_event_mmap_page *page)
{
    const char *data = (const char *)page + r->page_bytes;
    uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE), tail = page->data_tail;
    if (head - tail > r->data_bytes) {
        r->lost++;
        tail = head;
    }
    while (head - tail >= sizeof(struct perf_event_header)) {
        size_t size = take_record(r, data, tail, head - tail);
        r->lost += size == 0;
        tail = size ? tail + size : head;
    }
    __atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
}

static int compare_held(const void *a, const void *b)
{
    const struct held *x = *(struct held *const *)a, *y = *(struct held *const *)b;
    return (x->hit.time_ns > y->hit.time_ns) - (x->hit.time_ns < y->hit.time_ns);
}

/* Give what is older, and keep the rest, moved to the front. */
static int give_hits(struct pythia_probe_rings *r, uint64_t until_ns,
                     int (*each)(void *context, const struct pythia_probe_hit *hit,
                                 const int64_t *values, const char *texts),
                     void *context)
{
    size_t older = 0, kept = 0;
    int status = PYTHIA_OK;
    for (size_t i = 0; i < r->held_count; i++)
        if (r->held[i].hit.time_ns < until_ns)
            r->order[older++] = &r->held[i];
    if (older > 0)
        qsort(r->order, older, sizeof(struct held *), compare_held);
    for (size_t i = 0; i < older && status >= 0; i++)
        status = each(context, &r->order[i]->hit, r->order[i]->values, r->order[i]->texts);
    for (size_t i = 0; i < r->held_count; i++)
        if (r->held[i].hit.time_ns >= until_ns)
            r->held[kept++] = r->held[i];
    r->held_count = kept;
    return status < 0 ? status : PYTHIA_OK;
}

int pythia_probe_rings_drain(struct pythia_probe_rings *r, uint64_t until_ns,
                             int (*each)(void *context, const struct pythia_probe_hit *hit,
                                         const int64_t *values, const char *texts),
                             void *context)
{
    for (size_t i = 0; i < r->count; i++)
        empty_ring(r, r->pages[i]);
    if (r->held_count > 0 && pythia_reach(&r->order, &r->order_capacity, r->held_count - 1,
                                          sizeof(struct held *)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    return give_hits(r, until_ns, each, context);
}
