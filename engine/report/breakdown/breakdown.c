#include "breakdown.h"

#include "pythia/hash.h"
#include "pythia/mem.h"
#include "pythia/sampling.h"
#include "pythia/status.h"

#define NAME_CALLS 8 /* of a callpath, the innermost: a chain of thousands of calls is no name */

int pythia_breakdown_create(const struct pythia_vocabulary *vocabulary,
                            const struct pythia_call_rule *rules, size_t count,
                            struct pythia_breakdown **out)
{
    struct pythia_breakdown *b = pythia_calloc(1, sizeof(*b));
    if (!b)
        return PYTHIA_ENOMEM;
    b->vocabulary = vocabulary;
    if (pythia_call_parts_create(vocabulary, rules, count, &b->finder) != PYTHIA_OK) {
        pythia_free(b);
        return PYTHIA_ENOMEM;
    }
    *out = b;
    return PYTHIA_OK;
}

void pythia_breakdown_destroy(struct pythia_breakdown *b)
{
    if (!b)
        return;
    pythia_call_parts_destroy(b->finder);
    pythia_hash_table_free(&b->by_points);
    pythia_free(b->paths);
    pythia_free(b->path_of_call);
    pythia_free(b);
}

/* ---- adding ---- */

static uint64_t hash_points(const struct pythia__callpath *p)
{
    return pythia_hash_mix(pythia_hash_mix(p->caller, p->client), p->server);
}

static bool has_points(const void *owner, uint32_t index, const void *key)
{
    const struct pythia_breakdown *b = owner;
    const struct pythia__callpath *p = &b->paths[index], *wanted = key;
    return p->caller == wanted->caller && p->client == wanted->client &&
           p->server == wanted->server;
}

static uint32_t point_of(const struct pythia_trace *trace, uint32_t span)
{
    return span == PYTHIA_NO_SPAN ? PYTHIA_NONE : trace->spans[span].tracepoint;
}

int pythia__callpath_find(struct pythia_breakdown *b, const struct pythia__callpath *wanted,
                          uint32_t *path)
{
    uint64_t hash = hash_points(wanted);
    *path = pythia_hash_table_find(&b->by_points, hash, has_points, b, wanted);
    if (*path != PYTHIA_HASH_TABLE_NONE)
        return PYTHIA_OK;
    if (pythia_grow(&b->paths, &b->capacity, b->count, sizeof(*b->paths)) != PYTHIA_OK ||
        pythia_hash_table_add(&b->by_points, hash, (uint32_t)b->count) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    b->paths[b->count] = *wanted;
    *path = (uint32_t)b->count++;
    return PYTHIA_OK;
}

static void add_call(struct pythia__callpath *p, const struct pythia_call *call, uint64_t weight)
{
    p->told |= call->told;
    pythia_exact_moments_add_weighted(&p->origin, call->origin_ns, weight);
    pythia_exact_moments_add_weighted(&p->exec, pythia_call_exec_ns(call), weight);
    for (int i = 0; i < PYTHIA_CALL_TIMES; i++)
        pythia_exact_moments_add_weighted(&p->parts[i], call->parts_ns[i], weight);
    for (int i = 0; i < PYTHIA_CALL_PARTS; i++)
        pythia_exact_moments_add_weighted(&p->rests[i], call->origin_ns - call->parts_ns[i],
                                          weight);
}

int pythia_breakdown_add(struct pythia_breakdown *b, const struct pythia_trace *trace)
{
    const struct pythia_call *calls;
    uint32_t count;
    uint64_t weight = pythia_sampling_requests(trace->weight, trace->id);
    int status = pythia_call_parts_find(b->finder, trace, &calls, &count);
    if (status == PYTHIA_OK)
        status = pythia_reach(&b->path_of_call, &b->call_capacity, count, sizeof(*b->path_of_call));
    if (status != PYTHIA_OK)
        return status;
    b->requests += weight;
    b->seen++;
    for (uint32_t i = 0; i < count; i++) {
        const struct pythia__callpath wanted = {.caller = calls[i].caller == PYTHIA_NO_SPAN
                                                              ? PYTHIA_NONE
                                                              : b->path_of_call[calls[i].caller],
                                                .client = point_of(trace, calls[i].client),
                                                .server = point_of(trace, calls[i].server)};
        if (pythia__callpath_find(b, &wanted, &b->path_of_call[i]) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
        add_call(&b->paths[b->path_of_call[i]], &calls[i], weight);
    }
    return PYTHIA_OK;
}

/* ---- what the forms say ---- */

/* cov(x, o) = (var(o) + var(x) - var(o - x)) / 2, each of which is exact. */
double pythia__callpath_share(const struct pythia__callpath *p, enum pythia_call_part part)
{
    double all = pythia_exact_moments_variance(&p->origin);
    return (all + pythia_exact_moments_variance(&p->parts[part]) -
            pythia_exact_moments_variance(&p->rests[part])) /
           2 / all;
}

void pythia__call_name(const struct pythia_breakdown *b, uint32_t path, struct pythia_buf *to)
{
    const uint32_t points[] = {b->paths[path].client, b->paths[path].server};
    for (size_t i = 0; i < 2; i++)
        if (points[i] != PYTHIA_NONE) {
            pythia_buf_puts(to, i > 0 && points[0] != PYTHIA_NONE ? " > " : "");
            pythia_buf_text_add(to, pythia_vocabulary_tracepoint_id(b->vocabulary, points[i]));
        }
}

void pythia__callpath_name(const struct pythia_breakdown *b, uint32_t path, struct pythia_buf *to)
{
    uint32_t chain[NAME_CALLS], depth = 0;
    for (; path != PYTHIA_NONE && depth < NAME_CALLS; path = b->paths[path].caller)
        chain[depth++] = path;
    pythia_buf_puts(to, path == PYTHIA_NONE ? "" : "... > ");
    while (depth-- > 0) {
        pythia__call_name(b, chain[depth], to);
        pythia_buf_puts(to, depth > 0 ? " > " : "");
    }
}
