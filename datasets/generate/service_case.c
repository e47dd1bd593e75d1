/* A call is made of parts that follow each other, each a span but the way there and back:
 *
 *     client   |encode|                                                    |decode|
 *     server           |rdma|queue|decode|       exec       |encode|
 *              in_ser   rdma handler in_deser               out_ser        o_cb
 *
 * Each part has a mean and noise, and one of them, the cause, grows with a level that the spans
 * have as a key. Levels come in blocks of 32 requests, in each of which every level is once: means
 * are those of the paper after a few blocks, and the three levels of a request are independent. */
#include "pythia/service_case.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "pythia/attributes.h"
#include "pythia/hash.h"
#include "pythia/mem.h"
#include "pythia/random.h"
#include "pythia/status.h"

#define LEVELS   32
#define NOISE    .02
#define BEGIN_NS UINT64_C(1700000000000000000)
#define STEP_NS  UINT64_C(50000000) /* from one request to the next */

/* The meaning of a level. */
enum cause { QUEUE, BLOCKED, EVENTS, CAUSES, NOTHING = CAUSES };
static const char *const cause_keys[CAUSES] = {"handler_queue_length", "blocked_tasks",
                                               "num_ofi_events_read"};

/* A case of one kind of call. `unaccounted` is of the call, the others of what the target takes
 * from its first byte to its last; in_ser and o_cb are 1 % of the call each. What is left is exec.
 */
struct call_case {
    const char *service, *rpc;
    double call_us, unaccounted, handler, in_deser;
    enum cause cause;
    unsigned events_max; /* that are read at once */
};

#define C1_US          1000.
#define C5_US          4750.
#define C5_UNACCOUNTED .4
#define C6_US          (C5_US * (1 - .40))
#define C7_US          (C6_US * (1 - .75))
#define C6_UNACCOUNTED (C5_UNACCOUNTED * (1 - .47) * C5_US / C6_US)
#define C7_UNACCOUNTED (C6_UNACCOUNTED * (1 - .90) * C6_US / C7_US)
#define HEPNOS         "hepnos", "sdskv_put_packed"

static const struct call_case cases[PYTHIA_SERVICE_CASE_COUNT] = {
    [PYTHIA_CASE_SONATA] = {"sonata", "sonata_store_multi", 2000, .05, .05, .27, NOTHING, 64},
    [PYTHIA_CASE_HEPNOS_C1] = {HEPNOS, C1_US, .10, .266, .03, QUEUE, 64},
    [PYTHIA_CASE_HEPNOS_C2] = {HEPNOS, C1_US *(1 - .533), .10, .14, .03, BLOCKED, 64},
    [PYTHIA_CASE_HEPNOS_C3] = {HEPNOS, C1_US *(1 - .533) * (1 - .285), .10, .05, .03, NOTHING, 64},
    [PYTHIA_CASE_HEPNOS_C4] = {HEPNOS, C5_US / 475, .10, .05, .03, NOTHING, 64},
    [PYTHIA_CASE_HEPNOS_C5] = {HEPNOS, C5_US, C5_UNACCOUNTED, .05, .03, EVENTS, 16},
    [PYTHIA_CASE_HEPNOS_C6] = {HEPNOS, C6_US, C6_UNACCOUNTED, .05, .03, EVENTS, 64},
    [PYTHIA_CASE_HEPNOS_C7] = {HEPNOS, C7_US, C7_UNACCOUNTED, .05, .03, NOTHING, 64},
};
#define SER_SHARE     .01 /* in_ser and o_cb of the call */
#define RDMA_SHARE    .02 /* of the target, */
#define OUT_SER_SHARE .01 /* and this too */

struct pythia_service_case {
    struct pythia_vocabulary *vocabulary;
    enum pythia_service_case_name name;
    uint64_t seed;
    struct pythia_buf attributes, identity; /* of a span; of its service */
    int (*emit)(void *context, const struct pythia_trace_id *trace, const struct pythia_span *span);
    void *context;
    struct pythia_trace_id trace; /* of the current request */
    uint64_t last_id;
};

int pythia_service_case_create(struct pythia_vocabulary *vocabulary,
                               enum pythia_service_case_name name, uint64_t seed,
                               struct pythia_service_case **out)
{
    struct pythia_service_case *c = pythia_calloc(1, sizeof(*c));
    if (!c)
        return PYTHIA_ENOMEM;
    c->vocabulary = vocabulary;
    c->name = name;
    c->seed = seed;
    *out = c;
    return PYTHIA_OK;
}

void pythia_service_case_destroy(struct pythia_service_case *c)
{
    if (!c)
        return;
    pythia_buf_free(&c->attributes);
    pythia_buf_free(&c->identity);
    pythia_free(c);
}

const char *pythia_service_case_cause(enum pythia_service_case_name name)
{
    return !cases[name].service || cases[name].cause == NOTHING ? NULL
                                                                : cause_keys[cases[name].cause];
}

/* ---- spans ---- */

struct shape {
    const char *service, *name;
    enum pythia_span_kind kind;
};

/* The resource of a service; PYTHIA_NONE when out of memory. */
static uint32_t name_resource(struct pythia_service_case *c, uint32_t service)
{
    const uint32_t key = pythia_vocabulary_string(c->vocabulary, PYTHIA_TEXT("service.name"));
    pythia_buf_clear(&c->identity);
    pythia_attributes_text(&c->identity, key, pythia_vocabulary_text(c->vocabulary, service));
    const struct pythia_resource resource = {.service = service,
                                             .attributes = pythia_buf_text(&c->identity)};
    return key == PYTHIA_NONE || c->identity.failed
               ? PYTHIA_NONE
               : pythia_vocabulary_resource(c->vocabulary, &resource);
}

/* A span; its id, or 0 with *status set. */
static uint64_t emit_case_span(struct pythia_service_case *c, const struct shape *shape,
                               uint64_t parent, uint64_t start_ns, uint64_t ns, int *status)
{
    uint32_t service = pythia_vocabulary_string(c->vocabulary, pythia_text_of(shape->service)),
             name = pythia_vocabulary_string(c->vocabulary, pythia_text_of(shape->name));
    struct pythia_span span = {.id = c->last_id + 1,
                               .parent = parent,
                               .start_ns = start_ns,
                               .duration_ns = (int64_t)ns,
                               .kind = shape->kind,
                               .attributes = pythia_buf_text(&c->attributes)};
    if (*status != PYTHIA_OK)
        return 0;
    if (service != PYTHIA_NONE && name != PYTHIA_NONE) {
        span.tracepoint = pythia_vocabulary_tracepoint(c->vocabulary, service, 0, name);
        span.resource = name_resource(c, service);
    }
    if (service == PYTHIA_NONE || name == PYTHIA_NONE || span.tracepoint == PYTHIA_NONE ||
        span.resource == PYTHIA_NONE || c->attributes.failed)
        *status = PYTHIA_ENOMEM;
    else
        *status = c->emit(c->context, &c->trace, &span);
    pythia_buf_clear(&c->attributes);
    return *status == PYTHIA_OK ? ++c->last_id : 0;
}

static void add_level(struct pythia_service_case *c, enum cause cause, unsigned level)
{
    char name[64];
    (void)snprintf(name, sizeof(name), "variable.%s", cause_keys[cause]);
    uint32_t key = pythia_vocabulary_string(c->vocabulary, pythia_text_of(name));
    if (key == PYTHIA_NONE)
        c->attributes.failed = true;
    else
        pythia_attributes_integer(&c->attributes, key, level);
}

/* ---- one call ---- */

/* The place of a request in a shuffled block. */
static unsigned find_case_level(const struct pythia_service_case *c, uint64_t number,
                                enum cause cause)
{
    struct pythia_random random;
    size_t levels[LEVELS];
    for (size_t i = 0; i < LEVELS; i++)
        levels[i] = i;
    pythia_random_init(&random, pythia_hash_mix(pythia_hash_mix(c->seed, number / LEVELS), cause));
    pythia_random_shuffle(&random, levels, LEVELS);
    return (unsigned)levels[number % LEVELS];
}

/* The number of events read at once, of the 3 to 34 that have arrived. */
static unsigned read_arrived_events(const struct call_case *k, unsigned level)
{
    return level + 3 < k->events_max ? level + 3 : k->events_max;
}

static double mean_events(const struct call_case *k)
{
    double sum = 0;
    for (unsigned level = 0; level < LEVELS; level++)
        sum += read_arrived_events(k, level);
    return sum / LEVELS;
}

static uint64_t draw_part(struct pythia_random *random, double mean_us, double factor)
{
    double ns = mean_us * 1000 * factor * (1 + NOISE * pythia_random_normal(random));
    return ns > 1 ? (uint64_t)ns : 1;
}

static int emit_call(struct pythia_service_case *c, const struct call_case *k, uint64_t number)
{
    const unsigned queue = find_case_level(c, number, QUEUE),
                   blocked = find_case_level(c, number, BLOCKED),
                   events = read_arrived_events(k, find_case_level(c, number, EVENTS));
    const double factors[] = {[QUEUE] = queue / ((LEVELS - 1) / 2.),
                              [BLOCKED] = blocked / ((LEVELS - 1) / 2.),
                              [EVENTS] = events / mean_events(k)};
    const double target = k->call_us * (1 - 2 * SER_SHARE - k->unaccounted),
                 exec = target * (1 - RDMA_SHARE - OUT_SER_SHARE - k->handler - k->in_deser);
    const struct shape client = {"client", k->rpc, PYTHIA_SPAN_CLIENT},
                       server = {k->service, k->rpc, PYTHIA_SPAN_SERVER},
                       encode = {"client", "encode", PYTHIA_SPAN_INTERNAL},
                       decode = {"client", "decode", PYTHIA_SPAN_INTERNAL};
    struct pythia_random random;
    int status = PYTHIA_OK;
    pythia_random_init(&random, pythia_hash_mix(c->seed, number));
    const uint64_t in_ser = draw_part(&random, k->call_us * SER_SHARE, 1),
                   o_cb = draw_part(&random, k->call_us * SER_SHARE, 1),
                   way = draw_part(&random, k->call_us * k->unaccounted,
                                   k->cause == EVENTS ? factors[EVENTS] : 1);
    const struct {
        const char *name; /* NULL: exec */
        uint64_t ns;
    } parts[] = {
        {"rdma", draw_part(&random, target * RDMA_SHARE, 1)},
        {"queue", draw_part(&random, target * k->handler, k->cause == QUEUE ? factors[QUEUE] : 1)},
        {"decode", draw_part(&random, target * k->in_deser, 1)},
        /* half of what the target does is work, and the other half waits for others */
        {NULL, draw_part(&random, exec, k->cause == BLOCKED ? (1 + factors[BLOCKED]) / 2 : 1)},
        {"encode", draw_part(&random, target * OUT_SER_SHARE, 1)}};
    enum { PARTS = sizeof(parts) / sizeof(parts[0]) };
    uint64_t served = 0, start = BEGIN_NS + number * STEP_NS;
    for (size_t i = 0; i < PARTS; i++)
        served += parts[i].ns;
    add_level(c, EVENTS, events);
    uint64_t call = emit_case_span(c, &client, 0, start, in_ser + way + served + o_cb, &status);
    (void)emit_case_span(c, &encode, call, start, in_ser, &status);
    uint64_t at = start + in_ser + way / 2;
    (void)emit_case_span(c, &decode, call, at + served + (way - way / 2), o_cb, &status);
    add_level(c, QUEUE, queue);
    add_level(c, BLOCKED, blocked);
    uint64_t serving = emit_case_span(c, &server, call, at, served, &status);
    for (size_t i = 0; i < PARTS; i++) {
        const struct shape part = {k->service, parts[i].name ? parts[i].name : "",
                                   PYTHIA_SPAN_INTERNAL};
        if (parts[i].name)
            (void)emit_case_span(c, &part, serving, at, parts[i].ns, &status);
        at += parts[i].ns;
    }
    return status;
}

/* ---- Mobject ---- */

/* A call to another service and its half there, in the middle of it. */
static void emit_child(struct pythia_service_case *c, const char *service, const char *rpc,
                       uint64_t parent, uint64_t start_ns, uint64_t ns, int *status)
{
    const struct shape client = {"mobject", rpc, PYTHIA_SPAN_CLIENT},
                       server = {service, rpc, PYTHIA_SPAN_SERVER};
    uint64_t call = emit_case_span(c, &client, parent, start_ns, ns, status);
    (void)emit_case_span(c, &server, call, start_ns + ns / 4, ns / 2, status);
}

/* Every second request reads: 10 ms, of which the list of keys takes 7. The others write: 12 calls
 * of 400 us, or 11 in every eighth of them. All times are exact, so that sums can be. */
static int emit_mobject(struct pythia_service_case *c, uint64_t number)
{
    static const char *const calls[] = {"sdskv_put_rpc",       "sdskv_put_rpc", "bake_create_rpc",
                                        "bake_write_rpc",      "sdskv_put_rpc", "bake_persist_rpc",
                                        "sdskv_get_rpc",       "sdskv_put_rpc", "bake_write_rpc",
                                        "sdskv_put_multi_rpc", "sdskv_put_rpc", "bake_persist_rpc"};
    enum { WRITES = sizeof(calls) / sizeof(calls[0]) };
    const bool reads = number % 2 == 0;
    const size_t writes = number % 16 == 1 ? WRITES - 1 : WRITES;
    const char *op = reads ? "mobject_read_op" : "mobject_write_op";
    const struct shape client = {"client", op, PYTHIA_SPAN_CLIENT},
                       server = {"mobject", op, PYTHIA_SPAN_SERVER};
    const uint64_t start = BEGIN_NS + number * STEP_NS, us = 1000;
    const uint64_t served = reads ? 9000 * us : (700 + 400 * writes) * us;
    int status = PYTHIA_OK;
    uint64_t call = emit_case_span(c, &client, 0, start, served + 1000 * us, &status);
    uint64_t serving = emit_case_span(c, &server, call, start + 500 * us, served, &status);
    if (reads) {
        emit_child(c, "sdskv", "sdskv_list_keyvals_rpc", serving, start + 1000 * us, 7000 * us,
                   &status);
        emit_child(c, "bake", "bake_read_rpc", serving, start + 8200 * us, 800 * us, &status);
    }
    for (size_t i = 0; !reads && i < writes; i++)
        emit_child(c, strncmp(calls[i], "bake", 4) == 0 ? "bake" : "sdskv", calls[i], serving,
                   start + (900 + 400 * i) * us, 400 * us, &status);
    return status;
}

int pythia_service_case_request(struct pythia_service_case *c, uint64_t number,
                                int (*emit)(void *context, const struct pythia_trace_id *trace,
                                            const struct pythia_span *span),
                                void *context)
{
    c->emit = emit;
    c->context = context;
    c->trace = (struct pythia_trace_id){pythia_hash_mix(c->seed, c->name) | 1, number + 1};
    c->last_id = 0;
    return c->name == PYTHIA_CASE_MOBJECT ? emit_mobject(c, number)
                                          : emit_call(c, &cases[c->name], number);
}

/* ---- records ---- */

static void add_record(struct pythia_buf *to, uint64_t number, unsigned us, unsigned event,
                       unsigned order, unsigned events)
{
    const uint64_t second = 1000 + number / 1000;
    pythia_buf_printf(to,
                      "%" PRIu64 ", %" PRIu64 ".%06u000, 40001, %u, 2, 5, 77, %u, 1, 20000, %u, "
                      "0.000000000, 0.000000000, 0.000000000\n",
                      number + 1, second, (unsigned)(number % 1000) * 1000 + us, event, order,
                      events);
}

void pythia_service_case_records(uint64_t number, struct pythia_buf *to)
{
    const unsigned events = number % 10 == 0 ? 16 : (unsigned)(number % 9), us = 400 + events * 10;
    if (number == 0)
        pythia_buf_puts(to, "node1\n4711\n2\n40001, sdskv_put_rpc\n40002, sdskv_get_rpc\n");
    add_record(to, number, 0, 0, 0, 0);
    add_record(to, number, 100, 1, 1, 0);
    add_record(to, number, us - 100, 2, 2, 0);
    add_record(to, number, us, 3, 3, events);
}
