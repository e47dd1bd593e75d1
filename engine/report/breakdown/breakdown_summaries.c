/* A call that was summed up has no times of its own, so a callpath gets the mean of its calls, once
 * for each of them. What one side has measured is divided by the calls of that side: callers or
 * targets that wrote no file are missing from one of them only. */
#include "breakdown.h"
#include "pythia/mem.h"
#include "pythia/status.h"

#define MEAN_MAX_NS (UINT64_C(1) << 58) /* nine years */

struct call_sums {
    uint64_t calls[2], time_ns[2];                  /* of the origin, and of the target */
    uint64_t parts_ns[PYTHIA_CALL_TIMES], below_ns; /* below: of calls that the target makes */
    uint32_t told;
};

struct summing {
    struct pythia_breakdown *b;
    struct call_sums *of; /* owned; by callpath */
    size_t capacity;
};

static int find_summed_callpath(struct pythia_breakdown *b, const struct pythia_call_summary *s,
                                uint32_t *path)
{
    *path = PYTHIA_NONE;
    for (uint32_t at = 0; at < s->depth; at += 2) {
        const struct pythia__callpath wanted = {
            .caller = *path, .client = s->points[at], .server = s->points[at + 1]};
        if (pythia__callpath_find(b, &wanted, path) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
    }
    return PYTHIA_OK;
}

static void add_pool_sizes(struct pythia_pool_sizes *to, const struct pythia_pool_sizes *from,
                           bool first)
{
    to->sum += from->sum;
    to->low = first || from->low < to->low ? from->low : to->low;
    to->high = first || from->high > to->high ? from->high : to->high;
}

static int add_summary(struct summing *m, const struct pythia_call_summary *s)
{
    uint32_t path;
    if (find_summed_callpath(m->b, s, &path) != PYTHIA_OK ||
        pythia_reach(&m->of, &m->capacity, path, sizeof(*m->of)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    struct call_sums *sums = &m->of[path];
    struct pythia__callpath *p = &m->b->paths[path];
    sums->calls[s->target] += s->calls;
    sums->time_ns[s->target] += s->sum_ns;
    sums->told |= s->told;
    for (int i = 0; i < PYTHIA_CALL_TIMES; i++)
        sums->parts_ns[i] += s->parts_ns[i];
    if (s->has_pools) {
        add_pool_sizes(&p->runnable, &s->runnable, p->pool_calls == 0);
        add_pool_sizes(&p->all, &s->all, p->pool_calls == 0);
        p->pool_calls += s->calls;
    }
    return PYTHIA_OK;
}

/* Bounded, so that no file can make the sum of all parts overflow. */
static int64_t mean_of_sum(uint64_t sum_ns, uint64_t calls)
{
    uint64_t mean_ns = calls ? sum_ns / calls : 0;
    return (int64_t)(mean_ns < MEAN_MAX_NS ? mean_ns : MEAN_MAX_NS);
}

/* The parts of the mean call, which add up to it as those of each call do (call_parts.h). */
static void find_mean_parts(const struct call_sums *s, int64_t origin_ns, int64_t exec_ns,
                            int64_t parts_ns[PYTHIA_CALL_TIMES])
{
    static const bool of_target[PYTHIA_CALL_TIMES] = {
        [PYTHIA_CALL_RDMA] = true,    [PYTHIA_CALL_HANDLER] = true, [PYTHIA_CALL_IN_DESER] = true,
        [PYTHIA_CALL_OUT_SER] = true, [PYTHIA_CALL_T_CB] = true,
    };
    for (int i = 0; i < PYTHIA_CALL_TIMES; i++)
        parts_ns[i] = mean_of_sum(s->parts_ns[i], s->calls[of_target[i]]);
    parts_ns[PYTHIA_CALL_CALLS] = mean_of_sum(s->below_ns, s->calls[1]);
    parts_ns[PYTHIA_CALL_OWN] =
        exec_ns - parts_ns[PYTHIA_CALL_IN_DESER] - parts_ns[PYTHIA_CALL_CALLS];
    parts_ns[PYTHIA_CALL_UNACCOUNTED] = origin_ns - exec_ns - parts_ns[PYTHIA_CALL_IN_SER] -
                                        parts_ns[PYTHIA_CALL_RDMA] - parts_ns[PYTHIA_CALL_HANDLER] -
                                        parts_ns[PYTHIA_CALL_OUT_SER] - parts_ns[PYTHIA_CALL_O_CB];
}

/* Without a caller, a call lasts as long as what the target has measured of it. */
static void settle_callpath(struct pythia_breakdown *b, struct pythia__callpath *p,
                            const struct call_sums *s)
{
    bool origin = s->calls[0] > 0, target = s->calls[1] > 0;
    uint64_t calls = s->calls[origin ? 0 : 1];
    int64_t parts_ns[PYTHIA_CALL_TIMES], exec_ns = mean_of_sum(s->time_ns[1], s->calls[1]);
    b->empty += calls == 0;
    if (calls == 0)
        return;
    int64_t origin_ns = mean_of_sum(s->time_ns[0], s->calls[0]);
    find_mean_parts(s, origin_ns, exec_ns, parts_ns);
    if (!origin) {
        origin_ns -= parts_ns[PYTHIA_CALL_UNACCOUNTED];
        parts_ns[PYTHIA_CALL_UNACCOUNTED] = 0;
    }
    p->summed = true;
    p->client = origin ? p->client : PYTHIA_NONE;
    p->server = target ? p->server : PYTHIA_NONE;
    p->told = s->told | (uint32_t)target << PYTHIA_CALL_OWN |
              (uint32_t)(target && s->below_ns > 0) << PYTHIA_CALL_CALLS |
              (uint32_t)origin << PYTHIA_CALL_UNACCOUNTED;
    pythia_exact_moments_add_weighted(&p->origin, origin_ns, calls);
    pythia_exact_moments_add_weighted(&p->exec, exec_ns, calls);
    for (int i = 0; i < PYTHIA_CALL_TIMES; i++)
        pythia_exact_moments_add_weighted(&p->parts[i], parts_ns[i], calls);
    if (p->caller == PYTHIA_NONE)
        b->requests += calls;
}

int pythia_breakdown_add_summaries(struct pythia_breakdown *b,
                                   const struct pythia_call_summary *summaries, size_t count)
{
    struct summing m = {.b = b};
    int status = PYTHIA_OK;
    for (size_t i = 0; i < count && status == PYTHIA_OK; i++)
        status = add_summary(&m, &summaries[i]);
    if (status == PYTHIA_OK && b->count > 0)
        status = pythia_reach(&m.of, &m.capacity, b->count - 1, sizeof(*m.of));
    if (status != PYTHIA_OK)
        goto out;
    for (size_t i = 0; i < b->count; i++)
        if (b->paths[i].caller != PYTHIA_NONE)
            m.of[b->paths[i].caller].below_ns += m.of[i].time_ns[0];
    for (size_t i = 0; i < b->count; i++)
        settle_callpath(b, &b->paths[i], &m.of[i]);
    b->seen = b->requests;
out:
    pythia_free(m.of);
    return status;
}
