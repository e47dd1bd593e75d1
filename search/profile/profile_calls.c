#include "profile_parts.h"
#include "pythia/mem.h"
#include "pythia/status.h"
#include "pythia/text.h"

/* ---- processes ---- */

static uint64_t hash_process(const struct pythia_profile_process *x)
{
    return pythia_hash_mix((uint64_t)x->service << 32 | x->host, x->instance);
}

static bool is_process(const void *owner, uint32_t index, const void *key)
{
    const struct pythia_profile_process *x = &((const struct pythia_profile *)owner)
                                                  ->processes[index],
                                        *wanted = key;
    return x->service == wanted->service && x->host == wanted->host &&
           x->instance == wanted->instance;
}

/* Resources of one process may differ in their key-values. */
uint32_t pythia__profile_reach_process(struct pythia_profile *p, uint32_t resource)
{
    struct pythia_resource r = pythia_vocabulary_resource_at(p->vocabulary, resource);
    const struct pythia_profile_process key = {r.service, r.host, r.instance};
    uint64_t hash = hash_process(&key);
    uint32_t found = pythia_hash_table_find(&p->by_identity, hash, is_process, p, &key);
    if (found != PYTHIA_HASH_TABLE_NONE)
        return found;
    if (pythia_grow(&p->processes, &p->process_capacity, p->process_count, sizeof(key)) !=
            PYTHIA_OK ||
        pythia_hash_table_add(&p->by_identity, hash, (uint32_t)p->process_count) != PYTHIA_OK)
        return PYTHIA_NONE;
    p->processes[p->process_count] = key;
    return (uint32_t)p->process_count++;
}

const struct pythia_profile_process *pythia_profile_process(const struct pythia_profile *p,
                                                            uint32_t process)
{
    return &p->processes[process];
}

int pythia_profile_compare_processes(const struct pythia_profile *p, uint32_t a, uint32_t b)
{
    const struct pythia_profile_process *x = &p->processes[a], *y = &p->processes[b];
    const uint32_t of_x[] = {x->service, x->host, x->instance},
                   of_y[] = {y->service, y->host, y->instance};
    int order = 0;
    for (size_t i = 0; order == 0 && i < 3; i++)
        order = pythia_text_compare(pythia_vocabulary_text(p->vocabulary, of_x[i]),
                                    pythia_vocabulary_text(p->vocabulary, of_y[i]));
    return order;
}

/* ---- what rows have of them ---- */

static bool is_part(const void *owner, uint32_t index, const void *key)
{
    const struct pythia_profile_part *part = &((const struct pythia_profile *)owner)->parts[index],
                                     *wanted = key;
    return part->row == wanted->row && part->process == wanted->process;
}

uint32_t pythia__profile_reach_part(struct pythia_profile *p, uint32_t row, uint32_t resource)
{
    const struct pythia_profile_part key = {.row = row,
                                            .process = pythia__profile_reach_process(p, resource)};
    uint64_t hash = pythia_hash_mix(key.row, key.process);
    if (key.process == PYTHIA_NONE)
        return PYTHIA_NONE;
    uint32_t found = pythia_hash_table_find(&p->by_process, hash, is_part, p, &key);
    if (found != PYTHIA_HASH_TABLE_NONE)
        return found;
    found = (uint32_t)p->part_count;
    if (pythia_grow(&p->parts, &p->part_capacity, p->part_count, sizeof(key)) != PYTHIA_OK ||
        pythia_hash_table_add(&p->by_process, hash, found) != PYTHIA_OK)
        return PYTHIA_NONE;
    p->parts[p->part_count++] = key;
    return found;
}

int pythia__profile_add_part(struct pythia_profile *p, uint32_t row, uint32_t resource, uint64_t ns,
                             uint64_t exclusive_ns)
{
    uint32_t part = pythia__profile_reach_part(p, row, resource);
    if (part == PYTHIA_NONE)
        return PYTHIA_ENOMEM;
    p->parts[part].exclusive_ns += p->weight * exclusive_ns;
    return pythia__profile_times_add(&p->parts[part].times, ns, p->weight);
}

const struct pythia_profile_part *pythia_profile_parts(const struct pythia_profile *p,
                                                       size_t *count)
{
    *count = p->part_count;
    return p->parts;
}

/* ---- calls ---- */

static bool is_pair(const void *owner, uint32_t index, const void *key)
{
    const struct pythia_profile_pair *pair = &((const struct pythia_profile *)owner)->pairs[index],
                                     *wanted = key;
    return pair->row == wanted->row && pair->origin == wanted->origin &&
           pair->target == wanted->target;
}

/* The process of a span: PYTHIA_NONE with PYTHIA_OK where there is no span. */
static int find_span_process(struct pythia_profile *p, const struct pythia_trace *trace,
                             uint32_t span, uint32_t *process)
{
    *process = PYTHIA_NONE;
    if (span == PYTHIA_NO_SPAN)
        return PYTHIA_OK;
    *process = pythia__profile_reach_process(p, trace->spans[span].resource);
    return *process == PYTHIA_NONE ? PYTHIA_ENOMEM : PYTHIA_OK;
}

uint32_t pythia__profile_reach_pair(struct pythia_profile *p, const struct pythia_profile_pair *key)
{
    uint64_t hash = pythia_hash_mix(pythia_hash_mix(key->row, key->origin), key->target);
    uint32_t found = pythia_hash_table_find(&p->by_ends, hash, is_pair, p, key);
    if (found != PYTHIA_HASH_TABLE_NONE)
        return found;
    found = (uint32_t)p->pair_count;
    if (pythia_grow(&p->pairs, &p->pair_capacity, p->pair_count, sizeof(*key)) != PYTHIA_OK ||
        pythia_hash_table_add(&p->by_ends, hash, found) != PYTHIA_OK)
        return PYTHIA_NONE;
    p->pairs[p->pair_count++] = *key;
    return found;
}

static int add_pair(struct pythia_profile *p, const struct pythia_trace *trace,
                    const struct pythia_call *call)
{
    bool traced = call->client != PYTHIA_NO_SPAN;
    struct pythia_profile_pair key = {.row = p->row_of_span[traced ? call->client : call->server]};
    if (key.row == PYTHIA_NONE) /* by leaf, or beside the critical path */
        return PYTHIA_OK;
    if (find_span_process(p, trace, call->client, &key.origin) != PYTHIA_OK ||
        find_span_process(p, trace, call->server, &key.target) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    uint32_t found = pythia__profile_reach_pair(p, &key);
    if (found == PYTHIA_NONE)
        return PYTHIA_ENOMEM;
    struct pythia_profile_pair *pair = &p->pairs[found];
    pair->calls += p->weight;
    if (traced)
        pair->origin_ns += p->weight * (uint64_t)call->origin_ns;
    if (call->server != PYTHIA_NO_SPAN)
        pair->target_ns +=
            p->weight * (trace->spans[call->server].end_ns - trace->spans[call->server].start_ns);
    return PYTHIA_OK;
}

/* The first peer in alphabetical order is kept, whichever came first. */
void pythia__profile_set_side(struct pythia_profile *p, uint32_t row, uint32_t peer,
                              enum pythia_profile_side side)
{
    struct pythia_profile_row *r = &p->rows[row];
    r->side = r->side < side ? side : r->side;
    r->peers = r->peers || (r->peer && peer && r->peer != peer);
    if (peer &&
        (!r->peer || pythia_text_compare(pythia_vocabulary_text(p->vocabulary, peer),
                                         pythia_vocabulary_text(p->vocabulary, r->peer)) < 0))
        r->peer = peer;
}

static void set_span_side(struct pythia_profile *p, const struct pythia_trace *trace, uint32_t span,
                          uint32_t other, enum pythia_profile_side side)
{
    uint32_t row = span == PYTHIA_NO_SPAN ? PYTHIA_NONE : p->row_of_span[span];
    if (row == PYTHIA_NONE)
        return;
    pythia__profile_set_side(
        p, row,
        other == PYTHIA_NO_SPAN
            ? 0
            : pythia_vocabulary_resource_at(p->vocabulary, trace->spans[other].resource).service,
        side);
}

static void count_call(struct pythia_profile *p, const struct pythia_trace *trace,
                       const struct pythia_call *call)
{
    p->totals.calls += p->weight;
    if (call->server == PYTHIA_NO_SPAN)
        p->totals.no_target += p->weight;
    else if (call->client == PYTHIA_NO_SPAN && trace->spans[call->server].parent != PYTHIA_NO_SPAN)
        p->totals.no_origin += p->weight;
}

int pythia__profile_add_calls(struct pythia_profile *p, const struct pythia_trace *trace)
{
    const struct pythia_call *calls;
    uint32_t count;
    int status = pythia_call_parts_find(p->calls, trace, &calls, &count);
    for (uint32_t i = 0; i < count && status == PYTHIA_OK; i++) {
        const struct pythia_call *call = &calls[i];
        count_call(p, trace, call);
        set_span_side(p, trace, call->client, call->server, PYTHIA_PROFILE_ORIGIN);
        set_span_side(p, trace, call->server, call->client, PYTHIA_PROFILE_TARGET);
        if (p->options.processes)
            status = add_pair(p, trace, call);
    }
    return status;
}

const struct pythia_profile_pair *pythia_profile_pairs(const struct pythia_profile *p,
                                                       size_t *count)
{
    *count = p->pair_count;
    return p->pairs;
}
