/* SPDX-License-Identifier: MIT */
#include "reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "names.h"

#define CHUNK       ((uint64_t)256 * 1024) /* bytes of records in a frame, at most */
#define HEADER      sizeof(struct pythia_frame)
#define DEFINITIONS 0     /* stream */
#define RATE_MIN    0.001 /* nanoseconds of a tick */
#define RATE_MAX    1000

_Static_assert(CHUNK <= PYTHIA_PAYLOAD_BYTES && CHUNK > PYTHIA_RECORD_BYTES, "a frame holds some");

int pythia__reader_init(struct pythia__reader *r, const struct pythia__area *area, uint64_t id_high,
                        uint64_t id_low)
{
    struct pythia__clock_pair first;
    *r = (struct pythia__reader){.area = *area, .id_high = id_high, .id_low = id_low};
    r->rings = calloc(area->rings, sizeof(*r->rings));
    r->buffer = malloc(HEADER + CHUNK);
    if (!r->rings || !r->buffer) {
        pythia__reader_free(r);
        return -ENOMEM;
    }
    memcpy(&first, &area->header->first, sizeof(first));
    uint32_t clock = area->header->clock;
    pythia__clock_track_init(
        &r->track, clock == PYTHIA__CLOCK_TSC ? PYTHIA__CLOCK_TSC : PYTHIA__CLOCK_MONOTONIC,
        &first);
    return 0;
}

void pythia__reader_free(struct pythia__reader *r)
{
    free(r->rings);
    free(r->buffer);
    r->rings = NULL;
    r->buffer = NULL;
}

/* ---- frames ---- */

/* One pass on its way. */
struct pass {
    struct pythia__reader *r;
    const struct pythia_drain_handler *handler;
    const char *name;
    struct pythia_drain_counts *counts;
    uint32_t last; /* ring that has something; UINT32_MAX: none has */
};

struct losses {
    uint64_t spans, ends, annotations, values;
};

static struct losses losses_at(const uint64_t *four)
{
    return (struct losses){
        __atomic_load_n(four, __ATOMIC_RELAXED), __atomic_load_n(four + 1, __ATOMIC_RELAXED),
        __atomic_load_n(four + 2, __ATOMIC_RELAXED), __atomic_load_n(four + 3, __ATOMIC_RELAXED)};
}

static uint64_t sum_ring_losses(struct losses l)
{
    return l.spans + l.ends + l.annotations + l.values;
}

/* Pass on `bytes` of records that stand in the buffer behind the place of the header. */
static int give_records(const struct pass *p, uint32_t stream, uint64_t position, uint64_t bytes,
                        struct losses lost, uint32_t flags)
{
    const struct pythia__clock_track *t = &p->r->track;
    struct pythia_frame frame = {
        .magic = {0},
        .version = PYTHIA_FRAME_VERSION,
        .header_bytes = HEADER,
        .payload_bytes = (uint32_t)bytes,
        .process_high = p->r->id_high,
        .process_low = p->r->id_low,
        .stream = stream,
        .flags = flags | (t->step ? PYTHIA_FRAME_CLOCK_STEP : 0),
        .position = position,
        .anchor_ticks = t->now.ticks,
        .anchor_ns = t->now.monotonic_ns,
        .epoch_ns = (int64_t)(t->now.realtime_ns - t->now.monotonic_ns),
        .ns_per_tick = t->ns_per_tick,
        .lost_spans = lost.spans,
        .lost_ends = lost.ends,
        .lost_annotations = lost.annotations,
        .lost_values = lost.values,
    };
    memcpy(frame.magic, PYTHIA_FRAME_MAGIC, sizeof(frame.magic));
    frame.check = pythia__fnv(&frame, HEADER - sizeof(frame.check));
    memcpy(p->r->buffer, &frame, HEADER);
    int status = p->handler->frame(p->handler->context, p->r->buffer, HEADER + bytes);
    if (status == 0) {
        p->counts->frames++;
        p->counts->bytes += bytes;
    }
    return status;
}

static void refuse_stream(const struct pass *p, const char *why)
{
    p->counts->refused++;
    if (p->handler->refused)
        p->handler->refused(p->handler->context, p->name, why);
}

/* Count the bytes in the buffer that are whole records; -1 if one of them is impossible. If
 * `all`, the last must end where they end. */
static int64_t walk_records(const struct pass *p, uint64_t bytes, int all, uint64_t *records)
{
    const unsigned char *at = p->r->buffer + HEADER;
    uint64_t whole = 0;
    for (*records = 0; whole < bytes; ++*records) {
        uint16_t size;
        memcpy(&size, at + whole, sizeof(size));
        if (size < sizeof(struct pythia_record) || size % 8 || size > PYTHIA_RECORD_BYTES)
            return -1;
        if (size > bytes - whole)
            return all ? -1 : (int64_t)whole;
        whole += size;
    }
    return (int64_t)whole;
}

/* ---- definitions ---- */

/* Definitions come before the spans that use them. Their area only grows; if its end has moved
 * back, it is not trusted any more. */
static int give_definitions(const struct pass *p)
{
    struct pythia__reader *r = p->r;
    const struct pythia__area_header *h = r->area.header;
    uint64_t defined = __atomic_load_n(&h->defined, __ATOMIC_ACQUIRE), records;
    struct losses lost = losses_at(&h->lost_spans);
    int status = 0;
    if (r->definitions_bad)
        return 0;
    if (defined < r->defined || defined > r->area.definition_bytes || defined % 8) {
        r->definitions_bad = 1;
        refuse_stream(p, "its definitions end where they cannot");
        return 0;
    }
    while (status == 0 && (r->defined < defined || sum_ring_losses(lost) != r->told_losses)) {
        uint64_t left = defined - r->defined, bytes = left < CHUNK ? left : CHUNK;
        memcpy(r->buffer + HEADER, r->area.definitions + r->defined, bytes);
        int64_t whole = walk_records(p, bytes, bytes == left, &records);
        if (whole < 0) {
            r->definitions_bad = 1;
            refuse_stream(p, "its definitions hold a record of an impossible size");
            return 0;
        }
        status = give_records(p, DEFINITIONS, r->defined, (uint64_t)whole, lost, 0);
        if (status == 0) {
            r->defined += (uint64_t)whole;
            r->told_losses = sum_ring_losses(lost);
            p->counts->records += records;
        }
    }
    return status;
}

/* ---- rings ---- */

static void look_at_ring(const struct pass *p, uint32_t ring)
{
    struct pythia__stream *s = &p->r->rings[ring];
    struct pythia__ring_control *c = &p->r->area.controls[ring];
    s->head = __atomic_load_n(&c->head, __ATOMIC_ACQUIRE);
    if (!s->begun)
        s->tail = __atomic_load_n(&c->tail, __ATOMIC_RELAXED);
    s->begun = 1;
    if (!s->bad && (s->head - s->tail > p->r->area.ring_bytes || s->head % 8 || s->tail % 8)) {
        char why[PYTHIA__WHY];
        s->bad = 1;
        pythia__why(why, 0,
                    "its ring %" PRIu32 " says that bytes %" PRIu64 " to %" PRIu64
                    " are there, more than it can hold",
                    ring, s->tail, s->head);
        refuse_stream(p, why);
    }
}

/* Read no further: nothing tells where the next record begins. */
static void give_up(const struct pass *p, uint32_t ring)
{
    char why[PYTHIA__WHY];
    struct pythia__stream *s = &p->r->rings[ring];
    s->bad = 1;
    p->counts->refused_bytes += s->head - s->tail;
    pythia__why(why, 0,
                "its ring %" PRIu32 " holds a record of an impossible size, between bytes %" PRIu64
                " and %" PRIu64,
                ring, s->tail, s->head);
    refuse_stream(p, why);
}

/* Records are copied before they are checked: the program may overwrite the ring meanwhile. The
 * tail moves after the frame has been passed on, so that a reader that is killed loses nothing. */
static int give_ring(const struct pass *p, uint32_t ring)
{
    const struct pythia__area *a = &p->r->area;
    struct pythia__stream *s = &p->r->rings[ring];
    struct losses lost = losses_at(&a->controls[ring].lost_spans);
    int status = 0;
    while (status == 0 && !s->bad &&
           (s->tail != s->head || sum_ring_losses(lost) != s->told_losses)) {
        uint64_t left = s->head - s->tail, bytes = left < CHUNK ? left : CHUNK, records;
        pythia__ring_copy(pythia__area_ring(a, ring), a->ring_bytes, s->tail, s->tail + bytes,
                          p->r->buffer + HEADER);
        int64_t whole = walk_records(p, bytes, bytes == left, &records);
        if (whole < 0) {
            give_up(p, ring);
            return 0;
        }
        status = give_records(p, ring + 1, s->tail, (uint64_t)whole, lost,
                              ring == p->last && (uint64_t)whole == left ? PYTHIA_FRAME_LAST : 0);
        if (status == 0) {
            s->tail += (uint64_t)whole;
            s->told_losses = sum_ring_losses(lost);
            p->counts->records += records;
            __atomic_store_n(&p->r->area.controls[ring].tail, s->tail, __ATOMIC_RELEASE);
        }
    }
    return status;
}

/* Look at the clocks. A rate that no machine has comes of a first look that is not this machine's:
 * then it is measured here. */
static void look_at_clocks(struct pythia__clock_track *t)
{
    struct pythia__clock_pair now;
    pythia__clock_pair_now(t->kind, &now);
    pythia__clock_track_add(t, &now);
    if (t->ns_per_tick > RATE_MIN && t->ns_per_tick < RATE_MAX)
        return;
    pythia__clock_track_init(t, t->kind, &now);
    nanosleep(&(struct timespec){0, 2000000}, NULL);
    pythia__clock_pair_now(t->kind, &now);
    pythia__clock_track_add(t, &now);
    t->step = 1;
}

int pythia__reader_pass(struct pythia__reader *r, const struct pythia_drain_handler *handler,
                        const char *name, struct pythia_drain_counts *counts)
{
    struct pass pass = {r, handler, name, counts, UINT32_MAX};
    for (uint32_t i = 0; i < r->area.rings; i++) {
        look_at_ring(&pass, i);
        if (!r->rings[i].bad && r->rings[i].tail != r->rings[i].head)
            pass.last = i;
    }
    /* Only now: what the records up to those heads are about has been defined before. */
    look_at_clocks(&r->track);
    int status = give_definitions(&pass);
    for (uint32_t i = 0; i < r->area.rings && status == 0; i++)
        status = give_ring(&pass, i);
    return status;
}
