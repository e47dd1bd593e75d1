/* Readers take no lock: arrays never move, and what is found in a table is complete. Half of the
 * room for names is for those that come often, so that a sender of random names cannot use up what
 * others need. */
#include "pythia/vocabulary.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "frequent.h"
#include "pythia/buf.h"
#include "pythia/hash.h"
#include "pythia/mem.h"
#include "pythia/status.h"
#include "pythia/strtab.h"
#include "recent_cost.h"

#define BLOCK_SIZE 1024u
#define BLOCKS     65536u /* of trace points: 64 Mi of them */

/* Measured hits that tell what one costs now. A point that is hit often has 32 within half a minute
 * or so: one hit in some two thousand is measured. */
#define RECENT     32
#define RECENT_ALL 256 /* of all points together */

#define OTHER PYTHIA_TEXT("(other)")
enum { STRINGS, TRACEPOINTS, RESOURCES, KINDS };

/* Strings and resources are looked up without a lock (strtab). A trace point is more than its id,
 * so making one, and finding it by its parts, is done under a lock; decoders keep a cache in front
 * of it. */
struct pythia_vocabulary {
    struct pythia_strtab *strings, *resources, *tracepoint_ids;
    _Atomic(struct pythia_tracepoint *) blocks[BLOCKS];
    _Atomic uint32_t tracepoints;
    pthread_mutex_t *lock, lock_memory; /* of trace points and costs, also for readers */
    struct pythia_buf text, other_text;
    struct pythia_vocabulary_limits limits;
    struct pythia__frequent *frequent; /* [KINDS]; NULL: there are no limits */
    uint32_t other;                    /* the string; 0: there are no limits */
    _Atomic uint64_t others[KINDS];    /* times that it had to do */
    struct measured *costs;            /* by trace point; under the lock */
    size_t cost_capacity;
    struct pythia_cost loop_cost, all_cost; /* all: of all points together */
    struct pythia__recent_cost *recent_all; /* of all points together */
};

struct measured {
    struct pythia_cost cost; /* of all hits that were measured */
    struct pythia__recent_cost *recent;
    bool expected;
};

/* The bytes before the attributes of a resource. */
struct resource_head {
    uint32_t service, host, instance;
};

int pythia_vocabulary_create(struct pythia_vocabulary **out)
{
    struct pythia_vocabulary *v = pythia_calloc(1, sizeof(*v));
    if (!v)
        return PYTHIA_ENOMEM;
    v->lock = &v->lock_memory;
    pthread_mutex_init(v->lock, NULL);
    if (pythia_strtab_create(&v->strings) != PYTHIA_OK ||
        pythia_strtab_create(&v->resources) != PYTHIA_OK ||
        pythia_strtab_create(&v->tracepoint_ids) != PYTHIA_OK) {
        pythia_vocabulary_destroy(v);
        return PYTHIA_ENOMEM;
    }
    *out = v;
    return PYTHIA_OK;
}

void pythia_vocabulary_destroy(struct pythia_vocabulary *v)
{
    if (!v)
        return;
    pythia_strtab_destroy(v->strings);
    pythia_strtab_destroy(v->resources);
    pythia_strtab_destroy(v->tracepoint_ids);
    for (size_t i = 0; i < BLOCKS && v->blocks[i]; i++)
        pythia_free(v->blocks[i]);
    pythia_buf_free(&v->text);
    pythia_buf_free(&v->other_text);
    pythia_free(v->frequent);
    for (size_t i = 0; i < v->cost_capacity; i++)
        pythia__recent_cost_destroy(v->costs[i].recent);
    pythia__recent_cost_destroy(v->recent_all);
    pythia_free(v->costs);
    pthread_mutex_destroy(v->lock);
    pythia_free(v);
}

/* ---- limits ---- */

int pythia_vocabulary_limit(struct pythia_vocabulary *v,
                            const struct pythia_vocabulary_limits *limits)
{
    struct pythia__frequent *frequent =
        v->frequent ? v->frequent : pythia_calloc(KINDS, sizeof(*frequent));
    if (!frequent)
        return PYTHIA_ENOMEM;
    v->frequent = frequent;
    uint32_t other = pythia_strtab_intern(v->strings, OTHER);
    if (other == PYTHIA_STRTAB_NONE)
        return PYTHIA_ENOMEM;
    v->other = other;
    v->limits = *limits;
    return PYTHIA_OK;
}

static size_t count_vocabulary_bytes(const struct pythia_vocabulary *v)
{
    size_t points = atomic_load_explicit(&v->tracepoints, memory_order_relaxed);
    return sizeof(*v) + (v->frequent ? KINDS * sizeof(*v->frequent) : 0) +
           (points + BLOCK_SIZE - 1) / BLOCK_SIZE * BLOCK_SIZE * sizeof(struct pythia_tracepoint) +
           pythia_strtab_bytes(v->strings) + pythia_strtab_bytes(v->resources) +
           pythia_strtab_bytes(v->tracepoint_ids);
}

static size_t most_of(const struct pythia_vocabulary *v, int kind)
{
    const size_t most[KINDS] = {v->limits.strings, v->limits.tracepoints, v->limits.resources};
    return most[kind] ? most[kind] : SIZE_MAX;
}

/* Is there room for any name, as long as half of it is not used? `count`: how many there are. */
static bool has_room(const struct pythia_vocabulary *v, int kind, size_t count)
{
    return !v->other || (count < most_of(v, kind) / 2 &&
                         (v->limits.bytes == 0 || count_vocabulary_bytes(v) < v->limits.bytes / 2));
}

/* May one more of a kind be made? The other half of the room is for what comes often. */
static bool admits_new_text(struct pythia_vocabulary *v, int kind, size_t count,
                            struct pythia_text text)
{
    if (has_room(v, kind, count))
        return true;
    if (count < most_of(v, kind) &&
        (v->limits.bytes == 0 || count_vocabulary_bytes(v) < v->limits.bytes) &&
        pythia__frequent_count(&v->frequent[kind], pythia_hash_bytes(text.bytes, text.size)))
        return true;
    atomic_fetch_add_explicit(&v->others[kind], 1, memory_order_relaxed);
    return false;
}

/* Where services are many too, there is one for all of them. */
static bool is_flooded(size_t count, size_t most)
{
    return most && count / 2 >= most;
}

bool pythia_vocabulary_is_other(const struct pythia_vocabulary *v, uint32_t string)
{
    return v->other && string == v->other;
}

struct pythia_vocabulary_numbers pythia_vocabulary_numbers(const struct pythia_vocabulary *v)
{
    uint64_t others[KINDS];
    for (int kind = 0; kind < KINDS; kind++)
        others[kind] = atomic_load_explicit(&v->others[kind], memory_order_relaxed);
    return (struct pythia_vocabulary_numbers){.strings = pythia_strtab_count(v->strings),
                                              .tracepoints = pythia_vocabulary_tracepoints(v),
                                              .resources = pythia_strtab_count(v->resources),
                                              .bytes = count_vocabulary_bytes(v),
                                              .other_strings = others[STRINGS],
                                              .other_tracepoints = others[TRACEPOINTS],
                                              .other_resources = others[RESOURCES]};
}

/* ---- strings ---- */

/* A name with an identifier in it may be known without it: that is looked for before it is given
 * up. */
static uint32_t limited_string(struct pythia_vocabulary *v, struct pythia_text text)
{
    char room[1024];
    uint32_t known = pythia_strtab_find(v->strings, text);
    size_t count = pythia_strtab_count(v->strings), size = 0;
    if (known == PYTHIA_STRTAB_NONE && !has_room(v, STRINGS, count))
        size = pythia_text_template(text, room, sizeof(room));
    if (size) {
        text = (struct pythia_text){room, size};
        known = pythia_strtab_find(v->strings, text);
    }
    if (known != PYTHIA_STRTAB_NONE)
        return known;
    return admits_new_text(v, STRINGS, count, text) ? pythia_strtab_intern(v->strings, text)
                                                    : v->other;
}

uint32_t pythia_vocabulary_string(struct pythia_vocabulary *v, struct pythia_text text)
{
    return v->other ? limited_string(v, text) : pythia_strtab_intern(v->strings, text);
}

uint32_t pythia_vocabulary_string_find(const struct pythia_vocabulary *v, struct pythia_text text)
{
    uint32_t known = pythia_strtab_find(v->strings, text);
    return known == PYTHIA_STRTAB_NONE ? PYTHIA_NONE : known;
}

struct pythia_text pythia_vocabulary_text(const struct pythia_vocabulary *v, uint32_t string)
{
    return pythia_strtab_text(v->strings, string);
}

/* The string of `text` with its identifiers replaced, with or without a limit. An element of one
 * digit and its '/' become five bytes. */
static uint32_t pattern_string(struct pythia_vocabulary *v, struct pythia_text text, bool limited)
{
    char stack[1024], *heap = NULL;
    size_t room = text.size * 3 + 8;
    if (room > sizeof(stack)) {
        heap = pythia_realloc(NULL, room, 1);
        if (!heap)
            return PYTHIA_NONE;
    }
    size_t size = pythia_text_template(text, heap ? heap : stack, room);
    text = size ? (struct pythia_text){heap ? heap : stack, size} : text;
    uint32_t string =
        limited ? pythia_vocabulary_string(v, text) : pythia_strtab_intern(v->strings, text);
    pythia_free(heap);
    return string;
}

/* ---- trace points ---- */

static uint32_t find_tracepoint_number(const struct pythia_vocabulary *v, struct pythia_text id)
{
    uint32_t known = pythia_strtab_find(v->tracepoint_ids, id);
    return known == PYTHIA_STRTAB_NONE || known == 0 ? PYTHIA_NONE : known - 1;
}

/* The id goes into its table last: it is the last step that can fail, and whoever finds it without
 * the lock finds a trace point behind it. */
static uint32_t make_point(struct pythia_vocabulary *v, struct pythia_text id, uint32_t service,
                           uint32_t name)
{
    uint32_t index = atomic_load_explicit(&v->tracepoints, memory_order_relaxed);
    size_t block = index / BLOCK_SIZE;
    if (block >= BLOCKS)
        return PYTHIA_NONE;
    struct pythia_tracepoint *points =
        atomic_load_explicit(&v->blocks[block], memory_order_relaxed);
    if (!points) {
        points = pythia_calloc(BLOCK_SIZE, sizeof(*points));
        if (!points)
            return PYTHIA_NONE;
        atomic_store_explicit(&v->blocks[block], points, memory_order_release);
    }
    /* The point is written before its id and the count make it visible to readers that hold no
     * lock. */
    struct pythia_tracepoint *point = &points[index % BLOCK_SIZE];
    point->id = pythia_strtab_intern(v->strings, id);
    point->pattern = pattern_string(v, id, false);
    if (point->id == PYTHIA_NONE || point->pattern == PYTHIA_NONE)
        return PYTHIA_NONE;
    atomic_store_explicit(&point->service, service, memory_order_relaxed);
    atomic_store_explicit(&point->name, name, memory_order_relaxed);
    if (pythia_strtab_intern(v->tracepoint_ids, id) == PYTHIA_STRTAB_NONE)
        return PYTHIA_NONE;
    atomic_store_explicit(&v->tracepoints, index + 1, memory_order_release);
    return index;
}

/* Keep the first of two names in the order of texts; 0 says nothing. The lock is held. */
static void keep_first_name(const struct pythia_vocabulary *v, _Atomic uint32_t *kept,
                            uint32_t other)
{
    uint32_t known = atomic_load_explicit(kept, memory_order_relaxed);
    if (other == known || other == 0)
        return;
    if (known == 0 ||
        pythia_text_compare(pythia_vocabulary_text(v, other), pythia_vocabulary_text(v, known)) < 0)
        atomic_store_explicit(kept, other, memory_order_relaxed);
}

/* The one that stands for all that a service has beyond the limit. */
static uint32_t other_point(struct pythia_vocabulary *v, uint32_t service)
{
    size_t count = atomic_load_explicit(&v->tracepoints, memory_order_relaxed);
    struct pythia_buf *id = &v->other_text;
    for (int pass = 0; pass < 2; pass++) {
        pythia_buf_clear(id);
        id->failed = 0;
        if (service) {
            pythia_buf_text_add(id, pythia_vocabulary_text(v, service));
            pythia_buf_putc(id, ':');
        }
        pythia_buf_text_add(id, OTHER);
        if (pythia_buf_status(id) != PYTHIA_OK)
            return PYTHIA_NONE;
        uint32_t known = find_tracepoint_number(v, pythia_buf_text(id));
        if (known != PYTHIA_NONE)
            return known;
        /* Also these names may be too many, if services are made up: then all services share one.
         */
        if (!service || !is_flooded(count, v->limits.tracepoints))
            break;
        service = 0;
    }
    return make_point(v, pythia_buf_text(id), service, v->other);
}

static uint32_t tracepoint_locked(struct pythia_vocabulary *v, struct pythia_text id,
                                  uint32_t service, uint32_t name)
{
    if (id.size == 0) /* the table's own empty string; an empty id is still one trace point */
        id = PYTHIA_TEXT("(unnamed)");
    uint32_t known = find_tracepoint_number(v, id);
    if (known != PYTHIA_NONE) {
        struct pythia_tracepoint *point =
            atomic_load_explicit(&v->blocks[known / BLOCK_SIZE], memory_order_relaxed) +
            known % BLOCK_SIZE;
        keep_first_name(v, &point->service, service);
        keep_first_name(v, &point->name, name);
        return known;
    }
    size_t count = atomic_load_explicit(&v->tracepoints, memory_order_relaxed);
    return admits_new_text(v, TRACEPOINTS, count, id) ? make_point(v, id, service, name)
                                                      : other_point(v, service);
}

uint32_t pythia_vocabulary_tracepoint_of_id(struct pythia_vocabulary *v, struct pythia_text id,
                                            uint32_t service, uint32_t name)
{
    pthread_mutex_lock(v->lock);
    uint32_t index = tracepoint_locked(v, id, service, name);
    pthread_mutex_unlock(v->lock);
    return index;
}

uint32_t pythia_vocabulary_tracepoint(struct pythia_vocabulary *v, uint32_t service, uint32_t scope,
                                      uint32_t name)
{
    name = pattern_string(v, pythia_vocabulary_text(v, name), true);
    if (name == PYTHIA_NONE)
        return PYTHIA_NONE;
    pthread_mutex_lock(v->lock);
    pythia_buf_clear(&v->text);
    const uint32_t parts[] = {service, scope, name};
    for (size_t i = 0; i < 3; i++) {
        struct pythia_text part = pythia_vocabulary_text(v, parts[i]);
        if (part.size == 0 && i < 2)
            continue;
        if (v->text.size)
            pythia_buf_putc(&v->text, ':');
        pythia_buf_text_add(&v->text, part);
    }
    uint32_t index = PYTHIA_NONE;
    if (pythia_buf_status(&v->text) == PYTHIA_OK)
        index = tracepoint_locked(v, pythia_buf_text(&v->text), service, name);
    /* The buffer is shared by all calls: a failure of this one must not fail the next. */
    v->text.failed = 0;
    pthread_mutex_unlock(v->lock);
    return index;
}

uint32_t pythia_vocabulary_tracepoint_find(const struct pythia_vocabulary *v, struct pythia_text id)
{
    return find_tracepoint_number(v, id);
}

const struct pythia_tracepoint *pythia_vocabulary_tracepoint_at(const struct pythia_vocabulary *v,
                                                                uint32_t tracepoint)
{
    return atomic_load_explicit(&v->blocks[tracepoint / BLOCK_SIZE], memory_order_acquire) +
           tracepoint % BLOCK_SIZE;
}

uint32_t pythia_vocabulary_tracepoints(const struct pythia_vocabulary *v)
{
    return atomic_load_explicit(&v->tracepoints, memory_order_acquire);
}

struct pythia_text pythia_vocabulary_tracepoint_id(const struct pythia_vocabulary *v,
                                                   uint32_t tracepoint)
{
    return pythia_vocabulary_text(v, pythia_vocabulary_tracepoint_at(v, tracepoint)->id);
}

struct pythia_text pythia_vocabulary_tracepoint_pattern(const struct pythia_vocabulary *v,
                                                        uint32_t tracepoint)
{
    return pythia_vocabulary_text(v, pythia_vocabulary_tracepoint_at(v, tracepoint)->pattern);
}

/* ---- resources ---- */

/* Beyond the limit a resource is known by its service alone. */
static uint32_t other_resource(struct pythia_vocabulary *v, size_t count, uint32_t service)
{
    struct resource_head head = {.service = service};
    struct pythia_text bytes = {(const char *)&head, sizeof(head)};
    if (service == 0)
        return 0;
    uint32_t known = pythia_strtab_find(v->resources, bytes);
    if (known != PYTHIA_STRTAB_NONE)
        return known;
    return is_flooded(count, v->limits.resources) ? 0 : pythia_strtab_intern(v->resources, bytes);
}

static uint32_t intern_resource(struct pythia_vocabulary *v, struct pythia_text bytes,
                                uint32_t service)
{
    if (!v->other)
        return pythia_strtab_intern(v->resources, bytes);
    uint32_t known = pythia_strtab_find(v->resources, bytes);
    if (known != PYTHIA_STRTAB_NONE)
        return known;
    size_t count = pythia_strtab_count(v->resources);
    return admits_new_text(v, RESOURCES, count, bytes) ? pythia_strtab_intern(v->resources, bytes)
                                                       : other_resource(v, count, service);
}

uint32_t pythia_vocabulary_resource(struct pythia_vocabulary *v,
                                    const struct pythia_resource *resource)
{
    struct resource_head head = {resource->service, resource->host, resource->instance};
    if (!head.service && !head.host && !head.instance && !resource->attributes.size)
        return 0;
    struct pythia_buf bytes = {0};
    pythia_buf_add(&bytes, &head, sizeof(head));
    pythia_buf_text_add(&bytes, resource->attributes);
    uint32_t index = PYTHIA_NONE;
    if (pythia_buf_status(&bytes) == PYTHIA_OK)
        index = intern_resource(v, pythia_buf_text(&bytes), resource->service);
    pythia_buf_free(&bytes);
    return index == PYTHIA_STRTAB_NONE ? PYTHIA_NONE : index;
}

struct pythia_resource pythia_vocabulary_resource_at(const struct pythia_vocabulary *v,
                                                     uint32_t resource)
{
    struct pythia_resource out = {0};
    if (resource == 0)
        return out;
    struct pythia_text bytes = pythia_strtab_text(v->resources, resource);
    struct resource_head head;
    memcpy(&head, bytes.bytes, sizeof(head));
    return (struct pythia_resource){head.service,
                                    head.host,
                                    head.instance,
                                    {bytes.bytes + sizeof(head), bytes.size - sizeof(head)}};
}

/* ---- what tracing costs ---- */

/* One more measured hit of a point; the caller holds the lock. */
static int add_point_cost(struct pythia_vocabulary *v, uint32_t tracepoint, uint64_t ns)
{
    struct measured *m = &v->costs[tracepoint];
    if (pythia__recent_cost_add(&m->recent, RECENT, ns) != PYTHIA_OK ||
        pythia__recent_cost_add(&v->recent_all, RECENT_ALL, ns) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    m->cost.passes++;
    m->cost.ns += ns;
    v->all_cost.passes++;
    v->all_cost.ns += ns;
    return PYTHIA_OK;
}

/* The caller holds the lock. */
static int expect_point_cost(struct pythia_vocabulary *v, uint32_t tracepoint)
{
    int status = pythia_reach(&v->costs, &v->cost_capacity, tracepoint, sizeof(*v->costs));
    if (status != PYTHIA_OK)
        return status;
    v->costs[tracepoint].expected = true;
    return PYTHIA_OK;
}

int pythia_vocabulary_cost_add(struct pythia_vocabulary *v, uint32_t tracepoint, uint64_t ns)
{
    int status = PYTHIA_OK;
    pthread_mutex_lock(v->lock);
    if (tracepoint == PYTHIA_NONE) {
        v->loop_cost.passes++;
        v->loop_cost.ns += ns;
        goto out;
    }
    status = expect_point_cost(v, tracepoint);
    if (status != PYTHIA_OK)
        goto out;
    status = add_point_cost(v, tracepoint, ns);
out:
    pthread_mutex_unlock(v->lock);
    return status;
}

bool pythia_vocabulary_cost_is_expected(const struct pythia_vocabulary *v, uint32_t tracepoint)
{
    pthread_mutex_lock(v->lock);
    bool expected = tracepoint < v->cost_capacity && v->costs[tracepoint].expected;
    pthread_mutex_unlock(v->lock);
    return expected;
}

int pythia_vocabulary_cost_merge(struct pythia_vocabulary *v, uint32_t tracepoint,
                                 struct pythia_cost cost)
{
    int status = PYTHIA_OK;
    pthread_mutex_lock(v->lock);
    /* Each measurement counts twice: for its point, and among all points, by which a point with
     * few measurements is priced. */
    struct pythia_cost *to[] = {&v->loop_cost, NULL};
    if (tracepoint != PYTHIA_NONE) {
        status = expect_point_cost(v, tracepoint);
        to[0] = status == PYTHIA_OK ? &v->costs[tracepoint].cost : NULL;
        to[1] = &v->all_cost;
    }
    for (size_t i = 0; i < 2 && to[0] && to[i]; i++) {
        to[i]->passes += cost.passes;
        to[i]->ns += cost.ns;
    }
    pthread_mutex_unlock(v->lock);
    return status;
}

int pythia_vocabulary_cost_expect(struct pythia_vocabulary *v, uint32_t tracepoint)
{
    if (tracepoint == PYTHIA_NONE)
        return PYTHIA_OK;
    pthread_mutex_lock(v->lock);
    int status = expect_point_cost(v, tracepoint);
    pthread_mutex_unlock(v->lock);
    return status;
}

struct pythia_cost pythia_vocabulary_cost(const struct pythia_vocabulary *v, uint32_t tracepoint)
{
    struct pythia_cost cost = {0};
    pthread_mutex_lock(v->lock);
    if (tracepoint == PYTHIA_NONE)
        cost = v->loop_cost;
    else if (tracepoint < v->cost_capacity)
        cost = v->costs[tracepoint].cost;
    pthread_mutex_unlock(v->lock);
    return cost;
}

/* Passes in a loop find everything in the processor's caches, those of a program do not: so what
 * stands for a point of which few were measured is what was measured of others, and what stands for
 * few of these is the loop. */
static double estimate_price(const struct pythia_cost *own, const struct pythia_cost *loop,
                             double others_ns, double others)
{
    double ns = (double)own->ns, passes = (double)own->passes;
    if (loop->passes > 0) {
        others_ns += PYTHIA_COST_FEW * (double)loop->ns / (double)loop->passes;
        others += PYTHIA_COST_FEW;
    }
    if (passes < PYTHIA_COST_FEW && others > 0) {
        ns += PYTHIA_COST_FEW * others_ns / others;
        passes += PYTHIA_COST_FEW;
    }
    return passes > 0 ? ns / passes : NAN;
}

/* The caller holds the lock. */
static double price_of(const struct pythia_vocabulary *v, const struct measured *m, bool now)
{
    if (!now)
        return estimate_price(&m->cost, &v->loop_cost, (double)v->all_cost.ns - (double)m->cost.ns,
                              (double)v->all_cost.passes - (double)m->cost.passes);
    /* Its own hits may be no more among those of all points, and matter little if they are. */
    struct pythia_cost own = pythia__recent_cost_typical(m->recent);
    struct pythia_cost all = pythia__recent_cost_typical(v->recent_all);
    return estimate_price(&own, &v->loop_cost, (double)all.ns, (double)all.passes);
}

static double find_point_price(const struct pythia_vocabulary *v, uint32_t tracepoint, bool now)
{
    double ns = NAN;
    pthread_mutex_lock(v->lock);
    if (tracepoint < v->cost_capacity && v->costs[tracepoint].expected)
        ns = price_of(v, &v->costs[tracepoint], now);
    pthread_mutex_unlock(v->lock);
    return ns;
}

double pythia_vocabulary_cost_ns(const struct pythia_vocabulary *v, uint32_t tracepoint)
{
    return find_point_price(v, tracepoint, false);
}

double pythia_vocabulary_cost_now_ns(const struct pythia_vocabulary *v, uint32_t tracepoint)
{
    return find_point_price(v, tracepoint, true);
}
