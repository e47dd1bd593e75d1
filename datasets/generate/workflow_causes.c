/* The causes of variance of a workflow: their places, their size in a request, and the
 * keys that go with it. */
#include <math.h>
#include <stdio.h>

#include "pythia/attributes.h"
#include "pythia/hash.h"
#include "pythia/status.h"
#include "workflow_parts.h"

/* One row a kind. A parameter that is not used has the range 0 to 0. */
static const struct kind {
    const char *name, *key;
    double fallback, high;
    uint32_t places;
} kinds[PYTHIA_PLANTED_KINDS] = {
    [PYTHIA_PLANTED_SLEEP] = {"sleep", NULL, 0.3, 1, 1},
    [PYTHIA_PLANTED_EXPONENTIAL] = {"exponential", NULL, 1, 1, 1},
    [PYTHIA_PLANTED_UNIFORM] = {"uniform", NULL, 1, 1, 1},
    [PYTHIA_PLANTED_CONTENTION] = {"contention", "queue_length", 0.6, 0.95, 3},
    [PYTHIA_PLANTED_HOST] = {"host", NULL, 0, 0, 1},
    [PYTHIA_PLANTED_COMPENSATING] = {"compensating", NULL, 1, 1, 2},
    [PYTHIA_PLANTED_NUMERIC] = {"numeric", "item_count", 0, 0, 1},
    [PYTHIA_PLANTED_CATEGORICAL] = {"categorical", "plan", 0.2, 1, 1},
    [PYTHIA_PLANTED_SHIFT] = {"shift", "cache", 0.5, 1, 2},
    [PYTHIA_PLANTED_FAILING] = {"failing", "free_units", 0.5, 1, 1},
    [PYTHIA_PLANTED_OWN_TIME] = {"own-time", NULL, 1, 1, 1},
    [PYTHIA_PLANTED_DIFFERENCE] = {"difference", "arrived_count", 0, 0, 1},
    [PYTHIA_PLANTED_REPLICA] = {"replica", NULL, 0, 0, PYTHIA__PLACES},
    [PYTHIA_PLANTED_RARE] = {"rare", NULL, 0.01, 1, 1},
    [PYTHIA_PLANTED_MIDDLE] = {"middle", "shard", 0, 0, 1},
    [PYTHIA_PLANTED_SLOW] = {"slow", NULL, 0, 0, 1},
    [PYTHIA_PLANTED_TENANT] = {"tenant", "tenant", 0, 0, 1},
    [PYTHIA_PLANTED_SETTING] = {"setting", "pause_ms", 0, 0, 1},
};

/* The own time of a node with fewer gaps is not spread over many segments. */
#define OWN_TIME_GAPS 4

/* The part of a lock's wait at each of its places; the last ones get nothing where there are fewer
 * nodes, and the first what is left. */
static const double lock_parts[PYTHIA__PLACES] = {0.7, 0.2, 0.1};

static const char *const plans[] = {"premium", "basic", "free", "team", "trial"};
static const char *const cache_values[] = {"miss", "hit"};

#define SHARDS     10
#define SLOW_SHARD 4

#define TENANTS      40
#define SLOW_TENANTS 4 /* the first ones */

const char *pythia_planted_name(enum pythia_planted_kind kind)
{
    return (unsigned)kind < PYTHIA_PLANTED_KINDS ? kinds[kind].name : NULL;
}

/* A cause that cannot act in this workflow would be planted, never be found, and be counted against
 * every strategy. */
int pythia__check_causes(struct pythia_workflow_options *o, struct pythia_error *e)
{
    if (o->cause_count > PYTHIA_WORKFLOW_CAUSES)
        return pythia_error_set(e, PYTHIA_EUSAGE, "%zu causes are more than %d", o->cause_count,
                                PYTHIA_WORKFLOW_CAUSES);
    for (size_t i = 0; i < o->cause_count; i++) {
        struct pythia_workflow_cause *c = &o->causes[i];
        if ((unsigned)c->kind >= PYTHIA_PLANTED_KINDS)
            return pythia_error_set(e, PYTHIA_EUSAGE, "there is no cause of kind %d", c->kind);
        const struct kind *kind = &kinds[c->kind];
        if (!(c->parameter >= 0 && c->parameter <= kind->high))
            return kind->high > 0
                       ? pythia_error_set(e, PYTHIA_EUSAGE,
                                          "the parameter of %s is above 0 and at most %g, not %g",
                                          kind->name, kind->high, c->parameter)
                       : pythia_error_set(e, PYTHIA_EUSAGE, "%s takes no parameter", kind->name);
        if (c->parameter == 0)
            c->parameter = kind->fallback;
        if (!(c->strength >= 0 && c->strength <= 100))
            return pythia_error_set(e, PYTHIA_EUSAGE,
                                    "the strength of %s is a number from 0 to 100, not %g",
                                    kind->name, c->strength);
        if (c->node >= o->nodes)
            return pythia_error_set(e, PYTHIA_EUSAGE, "%s cannot be at node %u of %u", kind->name,
                                    c->node, o->nodes);
        if (c->kind == PYTHIA_PLANTED_FAILING && o->nodes < 2)
            return pythia_error_set(e, PYTHIA_EUSAGE,
                                    "a request that fails needs 2 nodes or more, one of which it "
                                    "does not reach");
        if ((c->kind == PYTHIA_PLANTED_HOST || c->kind == PYTHIA_PLANTED_SLOW) && o->hosts < 2)
            return pythia_error_set(e, PYTHIA_EUSAGE,
                                    "one bad host needs another: there have to be 2 or more");
        if (c->kind == PYTHIA_PLANTED_REPLICA && o->hosts <= PYTHIA__PLACES)
            return pythia_error_set(e, PYTHIA_EUSAGE,
                                    "replica needs more hosts than the %d that serve a request",
                                    PYTHIA__PLACES);
    }
    return PYTHIA_OK;
}

/* ---- places ---- */

/* Is one of the nodes from `node` up to, but without, `behind` a cause's? */
static bool is_taken(const struct pythia__places *places, size_t causes, uint32_t node,
                     uint32_t behind)
{
    for (size_t i = 0; i < causes; i++)
        for (uint32_t k = 0; k < places->counts[i]; k++)
            if (places->nodes[i][k] >= node && places->nodes[i][k] < behind)
                return true;
    return false;
}

/* A node of at least so many gaps that no cause has yet; else any node that no cause has yet; 0,
 * the root, when there is none left. A call that is rare has no other cause below it. */
static uint32_t free_node(const struct pythia_workflow *w, const struct pythia__places *places,
                          enum pythia_planted_kind kind, uint64_t draw)
{
    uint32_t count = w->critical_count, any = 0;
    uint32_t gaps = kind == PYTHIA_PLANTED_OWN_TIME ? OWN_TIME_GAPS : 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t node = w->critical[(draw % count + i) % count];
        uint32_t behind = kind == PYTHIA_PLANTED_RARE ? w->nodes[node].behind : node + 1;
        if (is_taken(places, w->options.cause_count, node, behind))
            continue;
        if (w->nodes[node].gaps >= gaps)
            return node;
        any = any ? any : node;
    }
    return any;
}

/* The places of all causes in an epoch: first where each is, then where else. Nothing but seed and
 * epoch decides, so that any request can be made by itself. */
static void find_places(const struct pythia_workflow *w, uint64_t epoch, struct pythia__places *out)
{
    const struct pythia_workflow_options *o = &w->options;
    *out = (struct pythia__places){.counts = {0}};
    for (size_t i = 0; i < o->cause_count; i++) /* those that are fixed come first */
        if (o->causes[i].node > 0)
            out->nodes[i][out->counts[i]++] = o->causes[i].node;
    for (uint32_t k = 0; k < PYTHIA__PLACES; k++)
        for (size_t i = 0; i < o->cause_count; i++) {
            if (k < out->counts[i] || k >= kinds[o->causes[i].kind].places)
                continue;
            uint64_t draw = pythia_hash_mix(pythia_hash_mix(o->seed ^ 0x706C616365, epoch),
                                            i * PYTHIA__PLACES + k);
            uint32_t node = free_node(w, out, o->causes[i].kind, draw);
            if (node > 0 || k == 0)
                out->nodes[i][out->counts[i]++] = node;
        }
}

static uint32_t bad_host(const struct pythia_workflow *w, size_t which, uint32_t service)
{
    return (uint32_t)(pythia_hash_mix(w->options.seed ^ 0x686F7374, (uint64_t)service * 8 + which) %
                      w->options.hosts);
}

/* Is the host that serves a call what makes it slow? */
static bool is_of_host(enum pythia_planted_kind kind)
{
    return kind == PYTHIA_PLANTED_HOST || kind == PYTHIA_PLANTED_REPLICA ||
           kind == PYTHIA_PLANTED_SLOW;
}

/* Is the key on the spans of the node? */
static bool is_of_span(enum pythia_planted_kind kind)
{
    return kind == PYTHIA_PLANTED_CONTENTION || kind == PYTHIA_PLANTED_SETTING;
}

static bool is_moving(const struct pythia_workflow *w)
{
    return w->options.drift == PYTHIA_DRIFT_MOVE;
}

static double size_of(const struct pythia_workflow *w, size_t which, uint64_t number)
{
    double grown = 1;
    if (w->options.drift == PYTHIA_DRIFT_GROW && number < w->options.drift_requests)
        grown = (double)number / (double)w->options.drift_requests;
    return w->options.causes[which].strength * w->facts.duration_ns * grown;
}

/* The number of a key's name; of two causes of one kind the second has its own. */
static uint32_t name_key(struct pythia_workflow *w, const char *key, unsigned same)
{
    char name[64];
    if (same == 1)
        snprintf(name, sizeof(name), "%s", key);
    else
        snprintf(name, sizeof(name), "%s_%u", key, same);
    return pythia_vocabulary_string(w->vocabulary, pythia_text_of(name));
}

/* The names of keys. Where the key is on the spans of the node, two causes of one kind share it. */
static int name_keys(struct pythia_workflow *w)
{
    for (size_t i = 0; i < w->options.cause_count; i++) {
        enum pythia_planted_kind kind = w->options.causes[i].kind;
        if (is_of_host(kind))
            w->cause_keys[i] = w->host_key;
        if (!kinds[kind].key)
            continue;
        unsigned same = 1;
        for (size_t j = 0; j < i; j++)
            same += w->options.causes[j].kind == kind;
        w->cause_keys[i] = name_key(w, kinds[kind].key, is_of_span(kind) ? 1 : same);
        if (kind == PYTHIA_PLANTED_DIFFERENCE)
            w->other_keys[i] = name_key(w, "served_count", same);
        if (w->cause_keys[i] == PYTHIA_NONE || w->other_keys[i] == PYTHIA_NONE)
            return PYTHIA_ENOMEM;
    }
    w->slow_plan = pythia_vocabulary_string(w->vocabulary, pythia_text_of(plans[0]));
    return w->slow_plan == PYTHIA_NONE ? PYTHIA_ENOMEM : PYTHIA_OK;
}

int pythia__plant(struct pythia_workflow *w, struct pythia_error *e)
{
    find_places(w, 0, &w->places);
    for (size_t i = 0; i < w->options.cause_count; i++) {
        enum pythia_planted_kind kind = w->options.causes[i].kind;
        bool pair = kind == PYTHIA_PLANTED_COMPENSATING || kind == PYTHIA_PLANTED_SHIFT;
        if (pair && w->places.counts[i] < 2)
            return pythia_error_set(e, PYTHIA_EUSAGE,
                                    "%s needs two nodes on which the duration depends, and there "
                                    "are not so many",
                                    kinds[kind].name);
    }
    return name_keys(w);
}

/* A node that has another one after it. */
static uint32_t failing_node(const struct pythia_workflow *w, uint32_t node)
{
    return node > 0 && node + 1 == w->options.nodes ? node - 1 : node;
}

/* The truth of a cause: where it is and which key goes with it. Only the judge of an evaluation
 * asks for it. */
void pythia_workflow_planted(const struct pythia_workflow *w, size_t which, uint64_t number,
                             struct pythia_planted *out)
{
    const struct pythia_workflow_cause *c = &w->options.causes[which];
    struct pythia__places there;
    if (is_moving(w))
        find_places(w, number / w->options.drift_requests, &there);
    const struct pythia__places *places = is_moving(w) ? &there : &w->places;
    *out = (struct pythia_planted){.kind = c->kind,
                                   .parameter = c->parameter,
                                   .strength = c->strength,
                                   .size_ns = size_of(w, which, number),
                                   .node = places->nodes[which][0],
                                   .other_count = places->counts[which] - 1,
                                   .key = w->cause_keys[which],
                                   .other_key = w->other_keys[which]};
    for (uint32_t i = 0; i < out->other_count; i++)
        out->others[i] = places->nodes[which][i + 1];
    const struct pythia__node *node = &w->nodes[out->node];
    out->known = (node->flags & PYTHIA__UNKNOWN) == 0;
    if (is_of_span(c->kind))
        out->key_node = out->node;
    if (c->kind == PYTHIA_PLANTED_FAILING) {
        out->node = failing_node(w, out->node);
        out->key_node = out->node + 1;
    }
    if (c->kind == PYTHIA_PLANTED_CATEGORICAL)
        out->key_value = w->slow_plan;
    if (is_of_host(c->kind)) {
        out->key_node = PYTHIA_NONE;
        out->key_value = w->host_names[(size_t)node->service * w->options.hosts +
                                       bad_host(w, which, node->service)];
    }
}

/* ---- a request ---- */

struct drawing {
    struct pythia_workflow *w;
    struct pythia_random *random;
    const struct pythia__places *places;
    size_t count; /* extras */
};

/* Add time to a node; two causes can meet on the root alone, where they are added up. */
static void add_cause_time(struct drawing *d, uint32_t node, double added_ns, uint32_t key,
                           int64_t value)
{
    struct pythia__extra *all = d->w->extras;
    size_t at = d->count;
    while (at > 0 && all[at - 1].node > node)
        at--;
    if (at > 0 && all[at - 1].node == node) {
        all[at - 1].added_ns += added_ns;
        if (key) {
            all[at - 1].key = key;
            all[at - 1].value = value;
        }
        return;
    }
    for (size_t i = d->count++; i > at; i--)
        all[i] = all[i - 1];
    all[at] = (struct pythia__extra){
        .node = node, .key = key, .added_ns = added_ns, .value = value, .host = PYTHIA_NONE};
}

static void set_host(struct drawing *d, uint32_t node, uint32_t host)
{
    for (size_t i = 0; i < d->count; i++)
        if (d->w->extras[i].node == node)
            d->w->extras[i].host = host;
}

/* Add time to a node, spread evenly over its gaps. Causes that share a node share that. */
static void spread_time(struct drawing *d, uint32_t node, double added_ns)
{
    add_cause_time(d, node, added_ns, 0, 0);
    for (size_t i = 0; i < d->count; i++)
        d->w->extras[i].spread = d->w->extras[i].spread || d->w->extras[i].node == node;
}

/* The queue that a request finds at a lock of utilisation u that serves one at a time is geometric:
 * P(k) = (1 - u) u^k, as in an M/M/1 queue (Kleinrock, "Queueing Systems", volume 1, 1975), with
 * mean u / (1 - u). Each in it is served for 80 to 120 % of the mean. */
static void draw_contention(struct drawing *d, size_t which, double size_ns)
{
    double u = d->w->options.causes[which].parameter;
    double queue = floor(log1p(-pythia_random_unit(d->random)) / log(u));
    double wait_ns = queue * size_ns * (1 - u) / u;
    uint32_t count = d->places->counts[which];
    double first = lock_parts[0];
    for (uint32_t i = count; i < PYTHIA__PLACES; i++)
        first += lock_parts[i];
    for (uint32_t i = 0; i < PYTHIA__PLACES && i < count; i++) {
        double served = 0.8 + 0.4 * pythia_random_unit(d->random);
        add_cause_time(d, d->places->nodes[which][i],
                       (i ? lock_parts[i] : first) * wait_ns * served,
                       i ? 0 : d->w->cause_keys[which], (int64_t)queue);
    }
}

static void draw_failing(struct drawing *d, size_t which, bool fails, double u, double size_ns)
{
    struct pythia_workflow *w = d->w;
    uint32_t node = failing_node(w, d->places->nodes[which][0]);
    if (fails)
        w->fails_at = node < w->fails_at ? node : w->fails_at;
    else
        add_cause_time(d, node + 1, (0.9 + 0.2 * u) * size_ns, w->cause_keys[which],
                       (int64_t)(1000 * u));
}

/* Different hosts at the places: the one that serves the service, and others. */
static void draw_replicas(struct drawing *d, size_t which, double size_ns)
{
    struct pythia_workflow *w = d->w;
    const uint32_t *nodes = d->places->nodes[which];
    uint32_t hosts = w->options.hosts, service = w->nodes[nodes[0]].service,
             bad = bad_host(w, which, service), drawn[PYTHIA__PLACES] = {w->serving[service]};
    for (uint32_t i = 0; i < d->places->counts[which]; i++) {
        bool again = i > 0;
        while (again) {
            drawn[i] = (uint32_t)pythia_random_below(d->random, hosts);
            again = false;
            for (uint32_t k = 0; k < i; k++)
                again = again || drawn[k] == drawn[i];
        }
        add_cause_time(d, nodes[i], drawn[i] == bad ? size_ns : 0, 0, 0);
        set_host(d, nodes[i], drawn[i]);
    }
}

/* Causes on which a key of the request depends. `chance` and `u`: random, of 0 to 1. */
static void draw_cause_and_key(struct drawing *d, size_t which, double chance, double u,
                               double size_ns)
{
    struct pythia_workflow *w = d->w;
    const struct pythia_workflow_cause *c = &w->options.causes[which];
    const uint32_t *nodes = d->places->nodes[which];
    struct pythia_buf *root = &w->root_attributes;
    uint32_t key = w->cause_keys[which];
    bool happens = chance < c->parameter;
    switch (c->kind) {
    case PYTHIA_PLANTED_NUMERIC:
        add_cause_time(d, nodes[0], 2 * u * size_ns, 0, 0);
        pythia_attributes_integer(root, key, (int64_t)(10 * exp(5 * u)));
        break;
    case PYTHIA_PLANTED_CATEGORICAL: {
        size_t plan = happens ? 0 : 1 + (size_t)(4 * u);
        add_cause_time(d, nodes[0], happens ? size_ns : 0, 0, 0);
        pythia_attributes_text(root, key, pythia_text_of(plans[plan]));
        break;
    }
    case PYTHIA_PLANTED_SHIFT:
        add_cause_time(d, nodes[happens ? 0 : 1], size_ns, 0, 0);
        add_cause_time(d, nodes[happens ? 1 : 0], 0, 0, 0);
        pythia_attributes_text(root, key, pythia_text_of(cache_values[happens ? 0 : 1]));
        break;
    case PYTHIA_PLANTED_DIFFERENCE: {
        int64_t arrived = (int64_t)(1000 * chance), served = (int64_t)(1000 * u);
        add_cause_time(d, nodes[0], (1 + 1e-3 * (double)(arrived - served)) * size_ns, 0, 0);
        pythia_attributes_integer(root, key, arrived);
        pythia_attributes_integer(root, w->other_keys[which], served);
        break;
    }
    case PYTHIA_PLANTED_MIDDLE: {
        int64_t shard = (int64_t)(SHARDS * u);
        add_cause_time(d, nodes[0], shard == SLOW_SHARD ? size_ns : 0, 0, 0);
        pythia_attributes_integer(root, key, shard);
        break;
    }
    case PYTHIA_PLANTED_TENANT: {
        char tenant[16];
        int number = (int)(TENANTS * u);
        snprintf(tenant, sizeof(tenant), "t%02d", number);
        add_cause_time(d, nodes[0], number < SLOW_TENANTS ? size_ns : 0, 0, 0);
        pythia_attributes_text(root, key, pythia_text_of(tenant));
        break;
    }
    default:
        break;
    }
}

/* Both random numbers are drawn for every kind, so that one cause more or less does not change the
 * times of the others. */
static void draw_cause(struct drawing *d, size_t which, uint64_t number, double size_ns)
{
    struct pythia_workflow *w = d->w;
    const struct pythia_workflow_cause *c = &w->options.causes[which];
    const uint32_t *nodes = d->places->nodes[which];
    double chance = pythia_random_unit(d->random), u = pythia_random_unit(d->random);
    bool happens = chance < c->parameter;
    switch (c->kind) {
    case PYTHIA_PLANTED_SLEEP:
        add_cause_time(d, nodes[0], happens ? size_ns : 0, 0, 0);
        break;
    case PYTHIA_PLANTED_EXPONENTIAL:
        add_cause_time(d, nodes[0], happens ? -log1p(-u) * size_ns : 0, 0, 0);
        break;
    case PYTHIA_PLANTED_UNIFORM:
        add_cause_time(d, nodes[0], happens ? 2 * u * size_ns : 0, 0, 0);
        break;
    case PYTHIA_PLANTED_CONTENTION:
        draw_contention(d, which, size_ns);
        break;
    case PYTHIA_PLANTED_HOST: {
        uint32_t service = w->nodes[nodes[0]].service;
        bool bad = w->serving[service] == bad_host(w, which, service);
        add_cause_time(d, nodes[0], bad ? size_ns : 0, 0, 0);
        break;
    }
    case PYTHIA_PLANTED_COMPENSATING:
        add_cause_time(d, nodes[0], 2 * u * size_ns, 0, 0);
        add_cause_time(d, nodes[1], 2 * (1 - u * c->parameter) * size_ns, 0, 0);
        break;
    case PYTHIA_PLANTED_NUMERIC:
    case PYTHIA_PLANTED_CATEGORICAL:
    case PYTHIA_PLANTED_SHIFT:
    case PYTHIA_PLANTED_DIFFERENCE:
    case PYTHIA_PLANTED_MIDDLE:
    case PYTHIA_PLANTED_TENANT:
        draw_cause_and_key(d, which, chance, u, size_ns);
        break;
    case PYTHIA_PLANTED_FAILING:
        draw_failing(d, which, happens, u, size_ns);
        break;
    case PYTHIA_PLANTED_OWN_TIME:
        spread_time(d, nodes[0], happens ? 2 * u * size_ns : 0);
        break;
    case PYTHIA_PLANTED_REPLICA:
        draw_replicas(d, which, size_ns);
        break;
    case PYTHIA_PLANTED_RARE:
        if (floor((double)(number + 1) * c->parameter) > floor((double)number * c->parameter))
            add_cause_time(d, nodes[0], (0.5 + u) * size_ns, 0, 0);
        else
            w->left_out[w->left_out_count++] = nodes[0];
        break;
    case PYTHIA_PLANTED_SLOW: {
        uint32_t service = w->nodes[nodes[0]].service;
        if (w->serving[service] == bad_host(w, which, service))
            w->slowed[service] += size_ns / w->facts.duration_ns;
        break;
    }
    case PYTHIA_PLANTED_SETTING: {
        /* 1, 2, 4 or 8 by 3.75, which is their mean. */
        double pause_ms = floor((double)(1 << (int)(4 * u)) / 3.75 * size_ns / 1e6);
        add_cause_time(d, nodes[0], pause_ms * 1e6, w->cause_keys[which], (int64_t)pause_ms);
        break;
    }
    case PYTHIA_PLANTED_KINDS:
        break;
    }
}

/* Keys that mean nothing: whole and real numbers, names of few and of many values, truths. */
static void draw_distractors(struct pythia_workflow *w, struct pythia_random *random)
{
    struct pythia_buf *root = &w->root_attributes;
    char text[40];
    for (uint32_t i = 0; i < w->options.distractors; i++) {
        uint32_t key = w->distractors[i];
        double u = pythia_random_unit(random);
        switch (i % 8) {
        case 0:
            snprintf(text, sizeof(text), "user-%03d", (int)(200 * u * u));
            pythia_attributes_text(root, key, pythia_text_of(text));
            break;
        case 1:
            pythia_attributes_integer(root, key, (int64_t)(200 * exp(6 * u)));
            break;
        case 2:
            snprintf(text, sizeof(text), "zone-%c", 'a' + (int)(3 * u));
            pythia_attributes_text(root, key, pythia_text_of(text));
            break;
        case 3:
            pythia_attributes_real(root, key, u);
            break;
        case 4:
            snprintf(text, sizeof(text), "%016llx", (unsigned long long)pythia_random_next(random));
            pythia_attributes_text(root, key, pythia_text_of(text));
            break;
        case 5:
            pythia_attributes_bool(root, key, u < 0.3);
            break;
        case 6:
            pythia_attributes_integer(root, key, (int64_t)(64 * u));
            break;
        default:
            snprintf(text, sizeof(text), "2.%d", (int)(5 * u));
            pythia_attributes_text(root, key, pythia_text_of(text));
            break;
        }
    }
}

void pythia__draw(struct pythia_workflow *w, uint64_t number, struct pythia_random *random)
{
    struct pythia__places there;
    if (is_moving(w))
        find_places(w, number / w->options.drift_requests, &there);
    struct drawing d = {.w = w, .random = random, .places = is_moving(w) ? &there : &w->places};
    pythia_buf_clear(&w->root_attributes);
    w->fails_at = PYTHIA_NONE;
    w->left_out_count = 0;
    for (uint32_t i = 0; i < w->facts.services; i++) {
        w->serving[i] = (uint32_t)pythia_random_below(random, w->options.hosts);
        w->slowed[i] = 1;
    }
    for (size_t i = 0; i < w->options.cause_count; i++)
        draw_cause(&d, i, number, size_of(w, i, number));
    w->extras[d.count] = (struct pythia__extra){.node = PYTHIA_NONE};
    draw_distractors(w, random);
}
