/* How a workflow is made:
 *
 *   1 a tree grows (workflow_shape.c), parents first
 *   2 it is put in preorder, so that a subtree is a range and a request is one pass over an array
 *   3 it is chosen which nodes fork, loop, fail, outlive their parents, or are not known
 *   4 nodes get their times: log-normal, scaled so that a request without noise takes duration_ns;
 *     the same schedule says on which nodes the duration depends
 *   5 causes get their places among these (workflow_causes.c)
 *
 * Nothing recurses: a tree may be a chain of a million nodes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pythia/hash.h"
#include "pythia/mem.h"
#include "pythia/status.h"
#include "workflow_parts.h"

void pythia_workflow_options_default(struct pythia_workflow_options *o)
{
    *o = (struct pythia_workflow_options){.shape = PYTHIA_WORKFLOW_BUSHY,
                                          .nodes = 500,
                                          .hosts = 4,
                                          .seed = 1,
                                          .duration_ns = 1e9,
                                          .spread = 1,
                                          .noise = 0.05,
                                          .spike_size = 10,
                                          .distractors = 8,
                                          .drift_requests = 1000};
}

/* ---- options ---- */

/* The ranges are a table, because a message has to name the range that was left. */
static int check_ranges(const struct pythia_workflow_options *o, struct pythia_error *e)
{
    const struct {
        const char *name;
        double value, low, high;
    } rows[] = {
        {"shape", o->shape, 0, PYTHIA_WORKFLOW_OPENSTACK},
        {"nodes", o->nodes, 1, PYTHIA_WORKFLOW_NODES},
        {"services", o->services, 0, PYTHIA_WORKFLOW_HOSTS},
        {"hosts", o->hosts, 1, PYTHIA_WORKFLOW_HOSTS},
        {"duration_ns", o->duration_ns, 1e3, 1e13},
        {"interval_ns", o->interval_ns, 0, 1e13},
        {"spread", o->spread, 0, 3},
        {"noise", o->noise, 0, 0.5},
        {"load", o->load, 0, 1},
        {"forks", o->forks, 0, 1},
        {"async", o->async, 0, 1},
        {"retries", o->retries, 0, 1},
        {"loops", o->loops, 0, 1},
        {"unknown", o->unknown, 0, 1},
        {"spikes", o->spikes, 0, 1},
        {"spike_size", o->spike_size, 0, 1000},
        {"tick_ns", (double)o->tick_ns, 0, 1e12},
        {"distractors", o->distractors, 0, 1000},
        {"drift", o->drift, 0, PYTHIA_DRIFT_MOVE},
        {"drift_requests", (double)o->drift_requests, o->drift != PYTHIA_DRIFT_NONE, 1e18},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (!(rows[i].value >= rows[i].low && rows[i].value <= rows[i].high))
            return pythia_error_set(e, PYTHIA_EUSAGE,
                                    "%s of a workflow is a number from %.10g to %.10g, not %.10g",
                                    rows[i].name, rows[i].low, rows[i].high, rows[i].value);
    return PYTHIA_OK;
}

/* ---- noise ---- */

/* The standard normal quantile of `share`, by Newton's method from a value near it. */
static double normal_quantile(double share, double near)
{
    for (int i = 0; i < 8; i++) {
        double density = exp(-near * near / 2) / sqrt(2 * 3.14159265358979323846);
        near -= (0.5 * erfc(-near / sqrt(2)) - share) / density;
    }
    return near;
}

/* A call's time is its mean times a factor, log-normal but for its far tails: a point on the lines
 * between quantiles, which are shifted and scaled so that its mean is 1 and its standard deviation
 * is `noise`, exactly. Drawing one costs no logarithm. */
static void make_noise(double noise, double *quantiles)
{
    double sigma = sqrt(log1p(noise * noise)), z = -3.3, mean = 0, square = 0;
    for (int i = 0; i <= PYTHIA__NOISE_STEPS; i++) {
        z = normal_quantile((i + 0.5) / (PYTHIA__NOISE_STEPS + 1), z);
        quantiles[i] = exp(sigma * z);
    }
    for (int i = 0; i < PYTHIA__NOISE_STEPS; i++) {
        double a = quantiles[i], b = quantiles[i + 1];
        mean += (a + b) / 2 / PYTHIA__NOISE_STEPS;
        square += (a * a + a * b + b * b) / 3 / PYTHIA__NOISE_STEPS;
    }
    double sd = sqrt(fmax(square - mean * mean, 0));
    for (int i = 0; i <= PYTHIA__NOISE_STEPS; i++)
        quantiles[i] = noise > 0 ? 1 + (quantiles[i] - mean) * noise / sd : 1;
}

/* ---- the tree in preorder ---- */

/* Scratch that is needed only while a workflow is made; arrays are indexed by sapling or node. */
struct making {
    struct pythia_workflow *w;
    struct pythia_random random;
    struct pythia__sapling *saplings;
    uint32_t *sizes, *place_of, *free, *free_async; /* by sapling */
    size_t *order;                                  /* of nodes, for choosing some of them */
    double *spent, *starts, *lasts;                 /* by node: of the schedule */
    uint32_t *longest; /* of a parallel node: the child that ends last */
};

static uint32_t count_nodes(const struct making *m)
{
    return m->w->options.nodes;
}

static void count_sizes(struct making *m)
{
    for (uint32_t i = 0; i < count_nodes(m); i++)
        m->sizes[i] = 1;
    for (uint32_t i = count_nodes(m); i-- > 1;)
        m->sizes[m->saplings[i].parent] += m->sizes[i];
}

/* A share of `count`, as a number. */
static uint32_t wanted_of(double share, uint32_t count)
{
    if (share == 0 || count == 0)
        return 0;
    uint32_t wanted = (uint32_t)lround(share * count);
    return wanted ? wanted : 1;
}

/* Put `count` of the numbers in m->order, at random, before the others. */
static void choose_some(struct making *m, uint32_t eligible, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        size_t j = i + (size_t)pythia_random_below(&m->random, eligible - i), swap = m->order[i];
        m->order[i] = m->order[j];
        m->order[j] = swap;
    }
}

/* Before the order is made, because it depends on it. */
static void choose_async(struct making *m)
{
    const struct pythia_workflow_options *o = &m->w->options;
    uint32_t eligible = 0, largest = o->nodes / 4 > 1 ? o->nodes / 4 : 1;
    for (uint32_t i = 1; i < o->nodes; i++)
        if (m->sizes[i] <= largest &&
            (o->shape != PYTHIA_WORKFLOW_OPENSTACK || m->saplings[i].role == PYTHIA__ENTRY))
            m->order[eligible++] = i;
    uint32_t wanted = wanted_of(o->async, eligible);
    choose_some(m, eligible, wanted);
    for (uint32_t i = 0; i < wanted; i++)
        m->saplings[m->order[i]].async = true;
    m->w->facts.async = wanted;
}

/* A subtree is a range: in it, children that are called stand at its front, in the order in which
 * they were made, and async ones at its back. Parents come first, so one pass does it. */
static void order_children(struct making *m)
{
    struct pythia__node *nodes = m->w->nodes;
    for (uint32_t i = 0; i < count_nodes(m); i++) {
        const struct pythia__sapling *s = &m->saplings[i];
        uint32_t at = 0, parent = PYTHIA_NONE;
        if (i > 0 && s->async)
            at = m->free_async[s->parent] -= m->sizes[i];
        else if (i > 0)
            at = m->free[s->parent];
        if (i > 0 && !s->async)
            m->free[s->parent] += m->sizes[i];
        if (i > 0)
            parent = m->place_of[s->parent];
        m->place_of[i] = at;
        m->free[i] = at + 1;
        m->free_async[i] = at + m->sizes[i];
        nodes[at] = (struct pythia__node){.parent = parent,
                                          .behind = at + m->sizes[i],
                                          .service = s->service,
                                          .role = s->role,
                                          .repeat = s->repeat,
                                          .flags = s->async ? PYTHIA__ASYNC : 0,
                                          .gaps = 1};
        if (i > 0 && !s->async)
            nodes[parent].gaps++; /* its place is known, it came before */
    }
}

/* ---- what nodes do ---- */

static void choose_forks(struct making *m)
{
    struct pythia__node *nodes = m->w->nodes;
    uint32_t eligible = 0;
    for (uint32_t i = 0; i < count_nodes(m); i++)
        if (nodes[i].gaps > 2)
            m->order[eligible++] = i;
    uint32_t wanted = wanted_of(m->w->options.forks, eligible);
    choose_some(m, eligible, wanted);
    for (uint32_t i = 0; i < wanted; i++) {
        nodes[m->order[i]].flags |= PYTHIA__PARALLEL;
        nodes[m->order[i]].gaps = 2; /* before them all, and behind them all */
    }
    m->w->facts.forks = wanted;
}

/* Into m->free: how many nodes before each are async. */
static void count_async(struct making *m)
{
    uint32_t before = 0;
    for (uint32_t i = 0; i < count_nodes(m); i++) {
        m->free[i] = before;
        before += (m->w->nodes[i].flags & PYTHIA__ASYNC) != 0;
    }
}

static bool has_async(const struct making *m, uint32_t node)
{
    uint32_t behind = m->w->nodes[node].behind;
    uint32_t before = behind < count_nodes(m) ? m->free[behind] : m->w->facts.async;
    return before > m->free[node];
}

/* Small subtrees that are run several times: not one in another, or their numbers would multiply,
 * and none that begins what goes on by itself. */
static void choose_repeated(struct making *m)
{
    const struct pythia_workflow_options *o = &m->w->options;
    struct pythia__node *nodes = m->w->nodes;
    uint32_t eligible = 0, largest = o->nodes / 100 > 1 ? o->nodes / 100 : 1;
    count_async(m);
    for (uint32_t i = 1; i < o->nodes;) {
        uint32_t size = nodes[i].behind - i;
        bool small = size <= largest && nodes[i].repeat == 1;
        if (!small || has_async(m, i) ||
            (size > 1 && size < largest && pythia_random_below(&m->random, 2))) {
            i++; /* perhaps something below it */
            continue;
        }
        m->order[eligible++] = i;
        i += size;
    }
    uint32_t loops = wanted_of(o->loops, eligible);
    uint32_t retries = wanted_of(o->retries, eligible);
    if (retries > eligible - loops)
        retries = eligible - loops;
    choose_some(m, eligible, loops + retries);
    for (uint32_t i = 0; i < loops; i++) {
        nodes[m->order[i]].flags |= PYTHIA__LOOP;
        nodes[m->order[i]].repeat = (uint8_t)(2 + pythia_random_below(&m->random, 3));
    }
    for (uint32_t i = loops; i < loops + retries; i++)
        nodes[m->order[i]].flags |= PYTHIA__RETRY;
    m->w->facts.loops = loops;
    m->w->facts.retries = retries;
}

/* Whole subtrees, of at most a fifth of what is wanted, until it is reached. */
static void choose_unknown(struct making *m)
{
    struct pythia__node *nodes = m->w->nodes;
    uint32_t count = count_nodes(m), wanted = wanted_of(m->w->options.unknown, count - 1);
    uint32_t left = wanted, largest = wanted / 5 > 1 ? wanted / 5 : 1;
    for (uint32_t i = 1; i < count; i++)
        m->order[i - 1] = i;
    pythia_random_shuffle(&m->random, m->order, count - 1);
    for (uint32_t i = 0; i + 1 < count && left > 0; i++) {
        size_t node = m->order[i];
        uint32_t size = nodes[node].behind - (uint32_t)node;
        if (size > largest && m->w->options.unknown < 1)
            continue;
        for (size_t below = node; below < nodes[node].behind && left > 0; below++) {
            left -= (nodes[below].flags & PYTHIA__UNKNOWN) == 0;
            nodes[below].flags |= PYTHIA__UNKNOWN;
        }
    }
    m->w->facts.known_nodes = count - (wanted - left);
}

/* ---- times ---- */

/* How often a node is called, on average, each time its parent is. */
static double calls_of(const struct pythia__node *node)
{
    if (node->flags & PYTHIA__RETRY)
        return 1 + PYTHIA__RETRY_CHANCE + PYTHIA__RETRY_CHANCE * PYTHIA__RETRY_CHANCE;
    return node->repeat;
}

/* Times of a request without noise: m->spent, the length of each call; m->starts, the begin of the
 * first one. Returns when all has ended, and in *last the root or async node that ended last. */
static double schedule_calls(struct making *m, uint32_t *last)
{
    struct pythia__node *nodes = m->w->nodes;
    uint32_t count = count_nodes(m);
    for (uint32_t i = 0; i < count; i++) {
        m->spent[i] = 0;
        m->longest[i] = PYTHIA_NONE;
    }
    for (uint32_t i = count; i-- > 0;) {
        m->spent[i] += nodes[i].own_ns;
        if (i == 0 || nodes[i].flags & PYTHIA__ASYNC)
            continue;
        uint32_t parent = nodes[i].parent;
        double all_calls = m->spent[i] * calls_of(&nodes[i]);
        if (!(nodes[parent].flags & PYTHIA__PARALLEL)) {
            m->spent[parent] += all_calls;
        } else if (m->longest[parent] == PYTHIA_NONE || all_calls > m->spent[parent]) {
            m->spent[parent] = all_calls;
            m->longest[parent] = i;
        }
    }
    double ended = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t parent = nodes[i].parent;
        double gap = i ? nodes[parent].own_ns / nodes[parent].gaps : 0;
        double all_calls = m->spent[i] * calls_of(&nodes[i]);
        if (i == 0) {
            m->starts[i] = 0;
        } else if (nodes[i].flags & PYTHIA__ASYNC) {
            m->starts[i] = m->starts[parent] + m->spent[parent];
        } else if (nodes[parent].flags & PYTHIA__PARALLEL) {
            m->starts[i] = m->starts[parent] + gap;
        } else {
            m->starts[i] = m->lasts[parent] + gap;
            m->lasts[parent] = m->starts[i] + all_calls;
        }
        m->lasts[i] = m->starts[i];
        if ((i == 0 || nodes[i].flags & PYTHIA__ASYNC) && m->starts[i] + all_calls > ended) {
            ended = m->starts[i] + all_calls;
            *last = i;
        }
    }
    return ended;
}

static void give_times(struct making *m)
{
    struct pythia_workflow *w = m->w;
    uint32_t last = 0;
    for (uint32_t i = 0; i < count_nodes(m); i++)
        w->nodes[i].own_ns = exp(w->options.spread * pythia_random_normal(&m->random));
    double scale = w->options.duration_ns / schedule_calls(m, &last);
    for (uint32_t i = 0; i < count_nodes(m); i++)
        w->nodes[i].own_ns *= scale;
    w->facts.duration_ns = schedule_calls(m, &last);

    /* On what the end of `last` depends: on all that it called; on the begin of it, and so on what
     * its parent did before, up to the root. */
    struct pythia__node *nodes = w->nodes;
    bool whole = true; /* the end of the current node counts, not only its begin */
    for (uint32_t i = last;; i = nodes[i].parent) {
        nodes[i].flags |= PYTHIA__CRITICAL;
        m->order[i] = whole;
        if (i == 0)
            break;
        uint32_t parent = nodes[i].parent;
        whole = (nodes[i].flags & PYTHIA__ASYNC) != 0;
        if (!whole && !(nodes[parent].flags & PYTHIA__PARALLEL))
            for (uint32_t before = parent + 1; before != i; before = nodes[before].behind)
                m->order[before] = true;
    }
    for (uint32_t i = 0; i < count_nodes(m); i++) {
        uint32_t parent = nodes[i].parent;
        if (i > 0 && m->order[parent] && !(nodes[i].flags & PYTHIA__ASYNC) &&
            (!(nodes[parent].flags & PYTHIA__PARALLEL) || m->longest[parent] == i))
            m->order[i] = true;
        if (m->order[i])
            nodes[i].flags |= PYTHIA__CRITICAL;
        if (i > 0 && nodes[i].flags & PYTHIA__CRITICAL)
            w->critical[w->critical_count++] = i;
    }
}

/* ---- all of it ---- */

static void count_facts(struct making *m)
{
    struct pythia_workflow *w = m->w;
    double time_ns = 0;
    w->facts.nodes = count_nodes(m);
    for (uint32_t i = 0; i < count_nodes(m); i++) { /* sizes: now the depth */
        const struct pythia__node *node = &w->nodes[i];
        w->calls[i] = i ? w->calls[node->parent] * calls_of(node) : 1;
        m->sizes[i] = i ? m->sizes[node->parent] + 1 : 1;
        w->facts.calls += w->calls[i];
        time_ns += w->calls[i] * node->own_ns;
        if (m->sizes[i] > w->facts.depth)
            w->facts.depth = m->sizes[i];
    }
    w->call_ns = time_ns / w->facts.calls;
}

static int count_tracepoints(struct pythia_workflow *w)
{
    uint32_t all = pythia_vocabulary_tracepoints(w->vocabulary);
    bool *seen = pythia_calloc(all, sizeof(*seen));
    if (!seen)
        return PYTHIA_ENOMEM;
    for (uint32_t i = 0; i < w->options.nodes; i++) {
        w->facts.tracepoints += !seen[w->nodes[i].tracepoint];
        seen[w->nodes[i].tracepoint] = true;
    }
    pythia_free(seen);
    return PYTHIA_OK;
}

static int name_distractors(struct pythia_workflow *w)
{
    static const char *const names[] = {"user",   "payload_size", "zone",     "sampling",
                                        "cookie", "is_internal",  "priority", "client_version"};
    char name[64];
    for (uint32_t i = 0; i < w->options.distractors; i++) {
        if (i < 8)
            snprintf(name, sizeof(name), "%s", names[i]);
        else
            snprintf(name, sizeof(name), "%s_%u", names[i % 8], (unsigned)(i / 8 + 1));
        w->distractors[i] = pythia_vocabulary_string(w->vocabulary, pythia_text_of(name));
        if (w->distractors[i] == PYTHIA_NONE)
            return PYTHIA_ENOMEM;
    }
    if (w->options.timed) {
        w->busy_key = pythia_vocabulary_string(w->vocabulary, PYTHIA_TEXT("busy_ns"));
        w->idle_key = pythia_vocabulary_string(w->vocabulary, PYTHIA_TEXT("idle_ns"));
    }
    return w->busy_key == PYTHIA_NONE || w->idle_key == PYTHIA_NONE ? PYTHIA_ENOMEM : PYTHIA_OK;
}

static int make_workflow(struct making *m, struct pythia_error *e)
{
    struct pythia_workflow *w = m->w;
    pythia_random_init(&m->random, w->options.seed);
    make_noise(w->options.noise, w->noise);
    pythia__grow_shape(&w->options, &m->random, m->saplings);
    count_sizes(m);
    choose_async(m);
    order_children(m);
    choose_forks(m);
    choose_repeated(m);
    choose_unknown(m);
    memset(m->order, 0, count_nodes(m) * sizeof(*m->order));
    give_times(m);
    count_facts(m);
    w->frames = pythia_calloc(w->facts.depth, sizeof(*w->frames));
    if (!w->frames || pythia__name_nodes(w, m->saplings, m->place_of) != PYTHIA_OK ||
        count_tracepoints(w) != PYTHIA_OK || name_distractors(w) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    return pythia__plant(w, e);
}

/* All scratch is allocated here, and freed after the workflow is made, whether or not that
 * succeeds. */
static int create_parts(struct pythia_workflow *w, struct pythia_error *e)
{
    size_t n = w->options.nodes, hosts = (size_t)w->facts.services * w->options.hosts;
    struct making m = {.w = w};
    w->nodes = pythia_calloc(n, sizeof(*w->nodes));
    w->calls = pythia_calloc(n, sizeof(*w->calls));
    w->critical = pythia_calloc(n, sizeof(*w->critical));
    w->resources = pythia_calloc(hosts, sizeof(*w->resources));
    w->host_names = pythia_calloc(hosts, sizeof(*w->host_names));
    w->serving = pythia_calloc(w->facts.services, sizeof(*w->serving));
    w->slowed = pythia_calloc(w->facts.services, sizeof(*w->slowed));
    w->distractors = pythia_calloc(w->options.distractors, sizeof(*w->distractors));
    m.saplings = pythia_calloc(n, sizeof(*m.saplings));
    m.sizes = pythia_calloc(n, sizeof(*m.sizes));
    m.place_of = pythia_calloc(n, sizeof(*m.place_of));
    m.free = pythia_calloc(n, sizeof(*m.free));
    m.free_async = pythia_calloc(n, sizeof(*m.free_async));
    m.longest = pythia_calloc(n, sizeof(*m.longest));
    m.order = pythia_calloc(n, sizeof(*m.order));
    m.spent = pythia_calloc(n, sizeof(*m.spent));
    m.starts = pythia_calloc(n, sizeof(*m.starts));
    m.lasts = pythia_calloc(n, sizeof(*m.lasts));
    bool all = w->nodes && w->calls && w->critical && w->resources && w->host_names && w->serving &&
               w->slowed && w->distractors && m.saplings && m.sizes && m.place_of && m.free &&
               m.free_async && m.longest && m.order && m.spent && m.starts && m.lasts;
    int status = all ? make_workflow(&m, e) : PYTHIA_ENOMEM;
    pythia_free(m.saplings);
    pythia_free(m.sizes);
    pythia_free(m.place_of);
    pythia_free(m.free);
    pythia_free(m.free_async);
    pythia_free(m.longest);
    pythia_free(m.order);
    pythia_free(m.spent);
    pythia_free(m.starts);
    pythia_free(m.lasts);
    return status;
}

/* Options are checked as a whole before anything is allocated. */
int pythia_workflow_create(struct pythia_vocabulary *vocabulary,
                           const struct pythia_workflow_options *options,
                           struct pythia_workflow **out, struct pythia_error *e)
{
    struct pythia_workflow_options checked = *options;
    int status = check_ranges(&checked, e);
    if (status != PYTHIA_OK)
        return status;
    status = pythia__check_causes(&checked, e);
    if (status != PYTHIA_OK)
        return status;
    if (checked.interval_ns == 0)
        checked.interval_ns = checked.duration_ns;
    struct pythia_workflow *w = pythia_calloc(1, sizeof(*w));
    if (!w)
        return PYTHIA_ENOMEM;
    w->vocabulary = vocabulary;
    w->options = checked;
    w->facts.services = pythia__services(&checked);
    status = create_parts(w, e);
    if (status != PYTHIA_OK) {
        pythia_workflow_destroy(w);
        return status;
    }
    *out = w;
    return PYTHIA_OK;
}

void pythia_workflow_destroy(struct pythia_workflow *w)
{
    if (!w)
        return;
    pythia_free(w->nodes);
    pythia_free(w->calls);
    pythia_free(w->critical);
    pythia_free(w->resources);
    pythia_free(w->host_names);
    pythia_free(w->serving);
    pythia_free(w->slowed);
    pythia_free(w->distractors);
    pythia_free(w->frames);
    pythia_buf_free(&w->root_attributes);
    pythia_buf_free(&w->attributes);
    pythia_free(w);
}

/* ---- what is true of it ---- */

struct pythia_workflow_facts pythia_workflow_facts(const struct pythia_workflow *w)
{
    return w->facts;
}

uint32_t pythia_workflow_parent(const struct pythia_workflow *w, uint32_t node)
{
    return w->nodes[node].parent;
}

uint32_t pythia_workflow_tracepoint(const struct pythia_workflow *w, uint32_t node)
{
    return w->nodes[node].tracepoint;
}

bool pythia_workflow_known(const struct pythia_workflow *w, uint32_t node)
{
    return (w->nodes[node].flags & PYTHIA__UNKNOWN) == 0;
}

double pythia_workflow_calls(const struct pythia_workflow *w, uint32_t node)
{
    return w->calls[node];
}
