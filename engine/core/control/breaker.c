/* Spans are counted by program, trace point and second of the program's clock:
 *
 *   pair (resource, trace point):  | 16 | 17 | 18 | 11 | 12 | 13 | 14 | 15 |   seconds, in slot
 *                                  | 40 | 41 |  3 | 40 | 39 | 40 | 40 | 40 |   s % SLOTS: spans
 *
 * A slot belongs to the last second that it was used for, earlier or later: a program whose clock
 * jumps is still counted. All counts are dropped each minute, and when there are too many pairs, so
 * that programs that ended are forgotten. */
#include "pythia/breaker.h"

#include <math.h>
#include <string.h>

#include "pythia/hash_table.h"
#include "pythia/mem.h"
#include "pythia/status.h"

#define SECOND    UINT64_C(1000000000)
#define SLOTS     8 /* stock OpenTelemetry senders deliver every 5 s */
#define PAIRS_MAX 65536
#define FORGET_NS (60 * SECOND)

struct pair {
    uint32_t resource, tracepoint;
    uint32_t second[SLOTS], spans[SLOTS];
    uint32_t all, entries; /* spans; of them those by which a request enters the program */
    bool touched;          /* since the last look */
};

struct point {
    bool tripped, warned;
    uint64_t tripped_ns;
    struct pythia_breaker_event trip;
};

struct pythia_breaker {
    const struct pythia_vocabulary *vocabulary;
    struct pythia_breaker_options o;
    struct pythia_open_points *pinned; /* borrowed */
    struct pair *pairs;                /* owned */
    size_t pair_count, pair_capacity;
    struct pythia_hash_table by_point; /* of pairs, by resource and trace point */
    uint32_t *touched;                 /* owned; indices of pairs */
    size_t touched_count, touched_capacity;
    struct point *points; /* owned; by trace point */
    size_t point_capacity;
    struct pythia_breaker_event *events; /* owned */
    size_t event_count, event_capacity;
    uint64_t forgotten_ns;
    struct pythia_breaker_numbers numbers;
};

int pythia_breaker_create(const struct pythia_vocabulary *vocabulary,
                          const struct pythia_breaker_options *options, struct pythia_breaker **out)
{
    struct pythia_breaker *b = pythia_calloc(1, sizeof(*b));
    if (!b)
        return PYTHIA_ENOMEM;
    b->vocabulary = vocabulary;
    b->o = *options;
    *out = b;
    return PYTHIA_OK;
}

void pythia_breaker_destroy(struct pythia_breaker *b)
{
    if (!b)
        return;
    pythia_free(b->pairs);
    pythia_hash_table_free(&b->by_point);
    pythia_free(b->touched);
    pythia_free(b->points);
    pythia_free(b->events);
    pythia_free(b);
}

void pythia_breaker_set_limit(struct pythia_breaker *b, double limit_ns)
{
    b->o.limit_ns = limit_ns;
}

void pythia_breaker_set_pinned(struct pythia_breaker *b, struct pythia_open_points *pinned)
{
    b->pinned = pinned;
}

/* ---- counting ---- */

static void forget_counts(struct pythia_breaker *b)
{
    b->pair_count = b->touched_count = 0;
    pythia_hash_table_clear(&b->by_point);
}

static uint64_t hash_pair(uint32_t resource, uint32_t tracepoint)
{
    return (uint64_t)resource << 32 | tracepoint;
}

static bool is_cost_pair(const void *breaker, uint32_t index, const void *key)
{
    const struct pair *p = &((const struct pythia_breaker *)breaker)->pairs[index];
    return hash_pair(p->resource, p->tracepoint) == *(const uint64_t *)key;
}

/* NULL: out of memory. */
static struct pair *reach_counts(struct pythia_breaker *b, uint32_t resource, uint32_t tracepoint)
{
    if (b->pair_count >= PAIRS_MAX)
        forget_counts(b);
    uint64_t key = hash_pair(resource, tracepoint);
    uint32_t found = pythia_hash_table_find(&b->by_point, key, is_cost_pair, b, &key);
    if (found != PYTHIA_HASH_TABLE_NONE)
        return &b->pairs[found];
    if (pythia_grow(&b->pairs, &b->pair_capacity, b->pair_count, sizeof(*b->pairs)) != PYTHIA_OK ||
        pythia_hash_table_add(&b->by_point, key, (uint32_t)b->pair_count) != PYTHIA_OK)
        return NULL;
    struct pair *pair = &b->pairs[b->pair_count++];
    *pair = (struct pair){.resource = resource, .tracepoint = tracepoint};
    return pair;
}

static uint32_t second_of(const struct pythia_span *span)
{
    uint64_t end_ns = span->start_ns + (uint64_t)(span->duration_ns > 0 ? span->duration_ns : 0);
    return (uint32_t)(end_ns / SECOND);
}

static bool is_point_tripped(const struct pythia_breaker *b, uint32_t tracepoint)
{
    return tracepoint < b->point_capacity && b->points[tracepoint].tripped;
}

/* The clock of the program decides which second has most spans, because batches arrive late and
 * together. */
int pythia_breaker_add(struct pythia_breaker *b, const struct pythia_span *span)
{
    if (b->o.limit_ns <= 0 || span->tracepoint == PYTHIA_NONE ||
        is_point_tripped(b, span->tracepoint))
        return PYTHIA_OK;
    struct pair *pair = reach_counts(b, span->resource, span->tracepoint);
    if (!pair || pythia_grow(&b->touched, &b->touched_capacity, b->touched_count,
                             sizeof(*b->touched)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    uint32_t second = second_of(span), slot = second % SLOTS;
    if (pair->second[slot] != second) {
        pair->second[slot] = second;
        pair->spans[slot] = 0;
    }
    pair->spans[slot]++;
    pair->all++;
    pair->entries +=
        span->parent == 0 || span->kind == PYTHIA_SPAN_SERVER || span->kind == PYTHIA_SPAN_CONSUMER;
    if (!pair->touched)
        b->touched[b->touched_count++] = (uint32_t)(pair - b->pairs);
    pair->touched = true;
    return PYTHIA_OK;
}

/* ---- looking ---- */

/* NaN: nobody has measured it. */
static double measured_price(const struct pythia_breaker *b, uint32_t tracepoint)
{
    double own = pythia_vocabulary_cost_now_ns(b->vocabulary, tracepoint);
    return isnan(own) && b->o.prices ? pythia_prices_of(b->o.prices, tracepoint, NAN) : own;
}

/* A source that does not say which spans are of servers leaves that to the search. */
static bool is_entry(const struct pythia_breaker *b, const struct pair *pair)
{
    return pair->entries > pair->all / 2 ||
           (b->o.is_entry && b->o.is_entry(b->o.context, pair->tracepoint));
}

static bool is_point_pinned(const struct pythia_breaker *b, uint32_t tracepoint)
{
    return b->pinned && pythia_open_points_has(b->pinned, tracepoint);
}

static int report_event(struct pythia_breaker *b, const struct pythia_breaker_event *event)
{
    if (pythia_grow(&b->events, &b->event_capacity, b->event_count, sizeof(*b->events)) !=
        PYTHIA_OK)
        return PYTHIA_ENOMEM;
    b->events[b->event_count++] = *event;
    return PYTHIA_OK;
}

/* A point trips by its busiest second, not by a mean: that is when it slows requests down. A pinned
 * point, and one by which requests enter the program (without it nothing is seen), is only
 * reported. */
static int check_cost(struct pythia_breaker *b, const struct pair *pair, uint64_t now_ns)
{
    uint32_t most = 0;
    for (int i = 0; i < SLOTS; i++)
        most = pair->spans[i] > most ? pair->spans[i] : most;
    double price_ns = measured_price(b, pair->tracepoint), cost_ns = most * price_ns;
    if (isnan(cost_ns) || cost_ns <= b->o.limit_ns)
        return PYTHIA_OK;
    if (b->o.is_switchable && !b->o.is_switchable(b->o.context, pair->tracepoint))
        return PYTHIA_OK;
    if (pythia_reach(&b->points, &b->point_capacity, pair->tracepoint, sizeof(*b->points)) !=
        PYTHIA_OK)
        return PYTHIA_ENOMEM;
    struct point *point = &b->points[pair->tracepoint];
    bool kept = is_point_pinned(b, pair->tracepoint) || is_entry(b, pair);
    struct pythia_breaker_event event = {.what =
                                             kept ? PYTHIA_BREAKER_KEPT : PYTHIA_BREAKER_TRIPPED,
                                         .tracepoint = pair->tracepoint,
                                         .resource = pair->resource,
                                         .cost_ns = cost_ns,
                                         .price_ns = price_ns};
    if (point->tripped || (kept && point->warned))
        return PYTHIA_OK;
    int status = report_event(b, &event);
    if (status != PYTHIA_OK)
        return status;
    point->warned = point->warned || kept;
    if (kept)
        return PYTHIA_OK;
    point->tripped = true;
    point->tripped_ns = now_ns;
    point->trip = event;
    b->numbers.tripped++;
    b->numbers.trips++;
    return PYTHIA_OK;
}

/* Spans that were counted before a point was closed must not close it again. */
static void forget_counts_of(struct pythia_breaker *b, uint32_t tracepoint)
{
    for (size_t i = 0; i < b->pair_count; i++)
        if (b->pairs[i].tracepoint == tracepoint)
            memset(b->pairs[i].spans, 0, sizeof(b->pairs[i].spans));
}

static int release_point(struct pythia_breaker *b, struct point *point)
{
    struct pythia_breaker_event event = point->trip;
    event.what = PYTHIA_BREAKER_RELEASED;
    int status = report_event(b, &event);
    if (status != PYTHIA_OK)
        return status;
    forget_counts_of(b, event.tracepoint);
    point->tripped = false;
    b->numbers.tripped--;
    return PYTHIA_OK;
}

static bool may_release(const struct pythia_breaker *b, const struct point *point, uint64_t now_ns)
{
    return b->o.limit_ns <= 0 || is_point_pinned(b, point->trip.tracepoint) ||
           (b->o.hold_ns > 0 && now_ns - point->tripped_ns >= b->o.hold_ns);
}

int pythia_breaker_look(struct pythia_breaker *b, uint64_t now_ns,
                        const struct pythia_breaker_event **events, size_t *count)
{
    int status = PYTHIA_OK;
    b->event_count = 0;
    b->forgotten_ns = b->forgotten_ns ? b->forgotten_ns : now_ns;
    for (size_t i = 0; i < b->point_capacity && b->numbers.tripped > 0; i++)
        if (b->points[i].tripped && may_release(b, &b->points[i], now_ns) &&
            (status = release_point(b, &b->points[i])) != PYTHIA_OK)
            goto out;
    for (size_t i = 0; i < b->touched_count; i++) {
        struct pair *pair = &b->pairs[b->touched[i]];
        pair->touched = false;
        if (b->o.limit_ns > 0 && (status = check_cost(b, pair, now_ns)) != PYTHIA_OK)
            goto out;
    }
    b->touched_count = 0;
    if (now_ns - b->forgotten_ns >= FORGET_NS) {
        forget_counts(b);
        b->forgotten_ns = now_ns;
    }
out: /* points that tripped before a failure are closed all the same, so that it is reported */
    *events = b->events;
    *count = b->event_count;
    return status;
}

int pythia_breaker_each(const struct pythia_breaker *b,
                        int (*each)(void *context, const struct pythia_breaker_event *tripped),
                        void *context)
{
    int status = 0;
    for (size_t i = 0; i < b->point_capacity && status == 0; i++)
        if (b->points[i].tripped)
            status = each(context, &b->points[i].trip);
    return status;
}

struct pythia_breaker_numbers pythia_breaker_numbers(const struct pythia_breaker *b)
{
    struct pythia_breaker_numbers n = b->numbers;
    n.limit_ns = b->o.limit_ns;
    return n;
}
