/* Summaries come without spans, so that contexts are made of their callpaths first, each with the
 * time of all calls in it; what is below a context is then known, and its own time too. */
#include "profile_parts.h"
#include "pythia/mem.h"
#include "pythia/status.h"

struct context {
    uint64_t ns, calls;             /* of all its calls; 0 calls: nobody has summed it up */
    uint64_t alone_ns, alone_calls; /* of them those of callers that are not traced */
    uint64_t below_ns;
    uint64_t below_calls; /* of the contexts right below it */
};

struct adding {
    struct pythia_profile *p;
    const struct pythia_call_summary *summaries;
    size_t count;
    uint32_t *nodes; /* by summary: its context */
    struct context *contexts;
    size_t context_capacity;
};

static int find_contexts(struct adding *a)
{
    for (size_t i = 0; i < a->count; i++) {
        const struct pythia_call_summary *s = &a->summaries[i];
        uint32_t node = PYTHIA_CCT_ROOT;
        for (uint32_t level = 0; level < s->depth && node != PYTHIA_NONE; level++)
            node = pythia_cct_child(a->p->cct, node, s->points[level]);
        if (node == PYTHIA_NONE || pythia_reach(&a->contexts, &a->context_capacity, node,
                                                sizeof(*a->contexts)) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
        a->nodes[i] = node;
        a->contexts[node].ns += s->sum_ns;
        a->contexts[node].calls += s->calls;
        if (s->target && s->peer == PYTHIA_NONE) {
            a->contexts[node].alone_ns += s->sum_ns;
            a->contexts[node].alone_calls += s->calls;
        }
    }
    return PYTHIA_OK;
}

/* A client's context is above that of the server that it calls, at odd depths. */
static void count_calls(struct adding *a, uint32_t client)
{
    struct pythia_profile_totals *t = &a->p->totals;
    uint64_t origin = a->contexts[client].calls, target = a->contexts[client].below_calls;
    t->calls += origin > target ? origin : target;
    t->no_target += origin > target ? origin - target : 0;
    if (target > origin && pythia_cct_depth(a->p->cct, client) > 1)
        t->no_origin += target - origin;
}

/* Calls are below the nearest context above `from` that was summed up. Without one they are
 * requests: whoever calls the whole system need not be traced. */
static void add_below(struct adding *a, uint32_t from, uint64_t ns, uint64_t calls)
{
    struct pythia_profile_totals *t = &a->p->totals;
    while (from != PYTHIA_CCT_ROOT && a->contexts[from].calls == 0)
        from = pythia_cct_parent(a->p->cct, from);
    a->contexts[from].below_ns += ns;
    if (from != PYTHIA_CCT_ROOT)
        return;
    t->requests += calls;
    t->seen += calls;
    t->request_ns += ns;
}

/* Calls of callers that are not traced are not below the calls of other callers. */
static void add_up_contexts(struct adding *a)
{
    for (uint32_t node = 1; node < pythia_cct_nodes(a->p->cct); node++) {
        const struct context *c = &a->contexts[node];
        uint32_t above = pythia_cct_parent(a->p->cct, node);
        add_below(a, above, c->ns - c->alone_ns, c->calls - c->alone_calls);
        a->contexts[above].below_calls += c->calls;
        if (c->alone_calls > 0)
            add_below(a, pythia_cct_parent(a->p->cct, above), c->alone_ns, c->alone_calls);
    }
    for (uint32_t node = 1; node < pythia_cct_nodes(a->p->cct); node++)
        if (pythia_cct_depth(a->p->cct, node) % 2 == 1)
            count_calls(a, node);
}

/* Both sides of a call belong to the row of the caller's, where that is summed up. */
static int add_summary_pair(struct adding *a, size_t at, uint32_t row)
{
    struct pythia_profile *p = a->p;
    const struct pythia_call_summary *s = &a->summaries[at];
    uint32_t here = pythia__profile_reach_process(p, s->resource);
    uint32_t there =
        s->peer == PYTHIA_NONE ? PYTHIA_NONE : pythia__profile_reach_process(p, s->peer);
    uint32_t above = pythia_cct_parent(p->cct, a->nodes[at]);
    if (here == PYTHIA_NONE || (there == PYTHIA_NONE && s->peer != PYTHIA_NONE))
        return PYTHIA_ENOMEM;
    if (s->target && there != PYTHIA_NONE && a->contexts[above].calls > 0)
        row = pythia__profile_reach_row(p, above, s->points[s->depth - 2], s->depth - 1);
    const struct pythia_profile_pair key = {
        .row = row, .origin = s->target ? there : here, .target = s->target ? here : there};
    uint32_t found = row == PYTHIA_NONE ? PYTHIA_NONE : pythia__profile_reach_pair(p, &key);
    if (found == PYTHIA_NONE)
        return PYTHIA_ENOMEM;
    struct pythia_profile_pair *pair = &p->pairs[found];
    *(s->target ? &pair->target_calls : &pair->origin_calls) += s->calls;
    *(s->target ? &pair->target_ns : &pair->origin_ns) += s->sum_ns;
    pair->calls = pair->origin_calls > pair->target_calls ? pair->origin_calls : pair->target_calls;
    return PYTHIA_OK;
}

static int add_summary_row(struct adding *a, size_t at)
{
    struct pythia_profile *p = a->p;
    const struct pythia_call_summary *s = &a->summaries[at];
    uint32_t row = pythia__profile_reach_row(p, a->nodes[at], s->points[s->depth - 1], s->depth);
    if (row == PYTHIA_NONE)
        return PYTHIA_ENOMEM;
    p->totals.spans += s->calls;
    pythia__profile_times_add_summary(&p->rows[row].times, s);
    pythia__profile_set_side(p, row, s->peer == PYTHIA_NONE ? 0 : s->peer_service,
                             s->target ? PYTHIA_PROFILE_TARGET : PYTHIA_PROFILE_ORIGIN);
    if (!p->options.processes)
        return PYTHIA_OK;
    uint32_t part = pythia__profile_reach_part(p, row, s->resource);
    if (part == PYTHIA_NONE)
        return PYTHIA_ENOMEM;
    pythia__profile_times_add_summary(&p->parts[part].times, s);
    return add_summary_pair(a, at, row);
}

/* By name, a row has several contexts. Clocks of two hosts may say that a call took less time than
 * what was below it. */
static int add_own_times(struct adding *a)
{
    struct pythia_profile *p = a->p;
    for (uint32_t node = 1; node < pythia_cct_nodes(p->cct); node++) {
        const struct context *c = &a->contexts[node];
        if (c->calls == 0)
            continue;
        uint32_t row = pythia__profile_reach_row(p, node, pythia_cct_tracepoint(p->cct, node),
                                                 pythia_cct_depth(p->cct, node));
        if (row == PYTHIA_NONE)
            return PYTHIA_ENOMEM;
        p->rows[row].exclusive_ns += c->ns > c->below_ns ? c->ns - c->below_ns : 0;
    }
    return PYTHIA_OK;
}

int pythia_profile_add_summaries(struct pythia_profile *p,
                                 const struct pythia_call_summary *summaries, size_t count)
{
    struct adding a = {.p = p, .summaries = summaries, .count = count};
    int status = PYTHIA_ENOMEM;
    a.nodes = pythia_calloc(count + 1, sizeof(*a.nodes));
    if (!a.nodes || find_contexts(&a) != PYTHIA_OK)
        goto out;
    status = PYTHIA_OK;
    if (count > 0)
        add_up_contexts(&a);
    for (size_t i = 0; i < count && status == PYTHIA_OK; i++)
        status = add_summary_row(&a, i);
    if (status == PYTHIA_OK && count > 0)
        status = add_own_times(&a);
out:
    pythia_free(a.nodes);
    pythia_free(a.contexts);
    return status;
}
