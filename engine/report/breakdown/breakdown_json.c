#include <math.h>

#include <jansson.h>

#include "breakdown.h"
#include "pythia/status.h"
#include "write/json_writer.h"

static json_t *make_moments(struct pythia__json *w, const struct pythia__callpath *p,
                            const struct pythia_exact_moments *m)
{
    json_t *object = json_object();
    pythia__json_set(w, object, "mean_ns", pythia__json_real(pythia_exact_moments_mean(m)));
    pythia__json_set(w, object, "sd_ns",
                     pythia__json_real(p->summed ? NAN : pythia_exact_moments_sd(m)));
    return object;
}

/* null: nothing tells of it. */
static json_t *make_part(struct pythia__json *w, const struct pythia__callpath *p,
                         enum pythia_call_part part)
{
    if (!(p->told >> part & 1))
        return json_null();
    json_t *object = make_moments(w, p, &p->parts[part]);
    if (part < PYTHIA_CALL_PARTS) {
        pythia__json_set(w, object, "share",
                         pythia__json_real(pythia_exact_moments_mean(&p->parts[part]) /
                                           pythia_exact_moments_mean(&p->origin)));
        pythia__json_set(w, object, "variance_share",
                         pythia__json_real(pythia__callpath_share(p, part)));
    }
    return object;
}

static json_t *make_json_point(struct pythia__json *w, uint32_t tracepoint)
{
    return tracepoint == PYTHIA_NONE ? json_null() : pythia__json_point(w, tracepoint);
}

/* The calls from the outermost on. */
static json_t *make_calls(struct pythia__json *w, const struct pythia_breakdown *b, uint32_t path)
{
    json_t *calls = json_array();
    for (; path != PYTHIA_NONE; path = b->paths[path].caller) {
        json_t *call = json_object();
        pythia__json_set(w, call, "client", make_json_point(w, b->paths[path].client));
        pythia__json_set(w, call, "server", make_json_point(w, b->paths[path].server));
        if (!calls || json_array_insert_new(calls, 0, call) != 0)
            w->failed = true;
    }
    return calls;
}

static json_t *make_pool(struct pythia__json *w, const struct pythia_pool_sizes *s, uint64_t calls)
{
    json_t *object = json_object();
    pythia__json_set(w, object, "mean", pythia__json_real((double)s->sum / (double)calls));
    pythia__json_set(w, object, "min", pythia__json_count(s->low));
    pythia__json_set(w, object, "max", pythia__json_count(s->high));
    return object;
}

static json_t *make_pools(struct pythia__json *w, const struct pythia__callpath *p)
{
    json_t *object = json_object();
    pythia__json_set(w, object, "runnable", make_pool(w, &p->runnable, p->pool_calls));
    pythia__json_set(w, object, "all", make_pool(w, &p->all, p->pool_calls));
    return object;
}

static json_t *make_json_callpath(struct pythia__json *w, const struct pythia_breakdown *b,
                                  uint32_t path)
{
    const struct pythia__callpath *p = &b->paths[path];
    json_t *object = json_object(), *parts = json_object();
    pythia__json_set(w, object, "callpath", make_calls(w, b, path));
    pythia__json_set(w, object, "calls", pythia__json_count(p->origin.weight));
    pythia__json_set(w, object, "origin", make_moments(w, p, &p->origin));
    pythia__json_set(w, object, "exec",
                     p->server == PYTHIA_NONE ? json_null() : make_moments(w, p, &p->exec));
    for (int i = 0; i < PYTHIA_CALL_TIMES; i++)
        pythia__json_set(w, parts, pythia_call_part_name((enum pythia_call_part)i),
                         make_part(w, p, (enum pythia_call_part)i));
    pythia__json_set(w, object, "parts", parts);
    if (p->pool_calls > 0)
        pythia__json_set(w, object, "pool", make_pools(w, p));
    return object;
}

int pythia__breakdown_json(const struct pythia_breakdown *b, const uint32_t *order, size_t count,
                           struct pythia_buf *out)
{
    struct pythia__json w = {.vocabulary = b->vocabulary};
    json_t *report = json_object(), *paths = json_array();
    pythia__json_set(&w, report, "schema", json_string("pythia.breakdown/1"));
    pythia__json_set(&w, report, "requests", pythia__json_count(b->requests));
    pythia__json_set(&w, report, "requests_seen", pythia__json_count(b->seen));
    pythia__json_set(&w, report, "callpath_count", pythia__json_count(b->count - b->empty));
    for (size_t i = 0; i < count; i++)
        pythia__json_append(&w, paths, make_json_callpath(&w, b, order[i]));
    pythia__json_set(&w, report, "callpaths", paths);
    int status = w.failed ? PYTHIA_ENOMEM : pythia__json_write(report, 1, 12, out);
    json_decref(report);
    pythia__json_close(&w);
    return status;
}
