/* A request is one walk over the nodes in the order in which they are called, with the calls that
 * have not ended yet on a stack. What each call draws depends on its number in the request alone,
 * not on what is seen of it: so closing trace points changes nothing but what is given out. */
#include <math.h>

#include "pythia/attributes.h"
#include "pythia/hash.h"
#include "pythia/status.h"
#include "workflow_parts.h"

#define EPOCH_NS      UINT64_C(1700000000000000000)
#define ERA_NS        0x1p62 /* then the clock begins anew: a time has to fit into 64 bits */
#define SPIKE_POWER   1.5
#define SPIKE_LARGEST 100 /* mean durations */

struct walk {
    struct pythia_workflow *w;
    const struct pythia_workflow_view *view;
    int (*emit)(void *context, const struct pythia_trace_id *trace, const struct pythia_span *span);
    void *context;
    struct pythia_trace_id trace;
    uint64_t key;              /* of what calls draw */
    uint64_t calls;            /* so far */
    uint64_t spike;            /* the number of the call that will take very much longer */
    struct pythia_random rare; /* for what few calls draw */
    double load;
    const struct pythia__extra *extra; /* the next one */
    bool failed;                       /* nothing more is called */
    uint32_t depth;
};

/* ---- what calls draw ---- */

/* The number of the next call with a spike, `from` or later: the gaps are geometric. */
static uint64_t next_spike(struct walk *k, uint64_t from)
{
    double rate = k->w->options.spikes;
    if (rate <= 0)
        return UINT64_MAX;
    double gap = rate < 1 ? floor(log1p(-pythia_random_unit(&k->rare)) / log1p(-rate)) : 0;
    return gap < 1e15 ? from + (uint64_t)gap : UINT64_MAX;
}

static double spike_ns(struct walk *k)
{
    const struct pythia_workflow *w = k->w;
    double size = w->options.spike_size * w->call_ns *
                  pow(1 - pythia_random_unit(&k->rare), -1 / SPIKE_POWER);
    return fmin(size, SPIKE_LARGEST * w->facts.duration_ns);
}

/* The factor of a call's time, from 53 bits. */
static double noise_of(const struct pythia_workflow *w, uint64_t bits)
{
    double at = (double)(bits >> 11) * 0x1p-53 * PYTHIA__NOISE_STEPS;
    uint32_t step = (uint32_t)at;
    return w->noise[step] + (w->noise[step + 1] - w->noise[step]) * (at - step);
}

/* How often a child is called, and how many of these calls fail first. */
static void draw_calls(struct walk *k, const struct pythia__node *node, uint32_t *again,
                       uint32_t *failing)
{
    *failing = 0;
    *again = node->repeat - 1u;
    if (!(node->flags & (PYTHIA__LOOP | PYTHIA__RETRY)))
        return;
    uint64_t bits = pythia_hash_mix(k->key ^ 0x6C6F6F70, k->calls);
    if (node->flags & PYTHIA__LOOP)
        *again += (uint32_t)((bits & 3) == 0) - (uint32_t)((bits & 3) == 1);
    for (; node->flags & PYTHIA__RETRY && *failing < PYTHIA__RETRIES_MAX; bits <<= 26) {
        if ((double)(bits >> 38) * 0x1p-26 >= PYTHIA__RETRY_CHANCE)
            break;
        ++*failing;
    }
    *again += *failing;
}

/* ---- spans ---- */

static bool is_seen(const struct walk *k, const struct pythia__node *node)
{
    const struct pythia_workflow_view *view = k->view;
    return (!view->open || view->open[node->tracepoint]) &&
           !(view->known_only && node->flags & PYTHIA__UNKNOWN);
}

static uint64_t span_id(const struct walk *k, uint64_t call)
{
    return pythia_span_id_fold(0, pythia_hash_mix(k->trace.high ^ k->trace.low, call));
}

static enum pythia_span_kind find_node_kind(const struct pythia__node *node)
{
    if (node->flags & PYTHIA__ASYNC)
        return PYTHIA_SPAN_CONSUMER;
    if (node->role == PYTHIA__ENTRY)
        return PYTHIA_SPAN_SERVER;
    return node->role == PYTHIA__FUNCTION ? PYTHIA_SPAN_INTERNAL : PYTHIA_SPAN_CLIENT;
}

static enum pythia_span_relation relation_of(enum pythia_span_kind kind)
{
    return kind == PYTHIA_SPAN_SERVER     ? PYTHIA_RELATION_CALL
           : kind == PYTHIA_SPAN_CONSUMER ? PYTHIA_RELATION_SPAWN
                                          : PYTHIA_RELATION_UNKNOWN;
}

/* What a library that times spans adds to them: it stops its clock up to 1 us before their end. */
static void add_times(struct walk *k, const struct pythia__frame *f)
{
    struct pythia_workflow *w = k->w;
    uint64_t bits = pythia_hash_mix(k->key ^ 0x74696D6564, f->id);
    int64_t ns = (int64_t)(f->end_ns - f->start_ns), busy_ns = ns / (int64_t)(10 + bits % 90),
            late_ns = (int64_t)(bits >> 32 & 1023);
    pythia_attributes_integer(&w->attributes, w->busy_key, busy_ns);
    pythia_attributes_integer(&w->attributes, w->idle_key,
                              ns - busy_ns > late_ns ? ns - busy_ns - late_ns : 0);
}

/* The key-values of a call: those of the request on the root, the lock's on who waits for it. */
static struct pythia_text attributes_of(struct walk *k, const struct pythia__frame *f)
{
    struct pythia_workflow *w = k->w;
    bool keyed = f->extra && f->extra->key;
    if (!keyed && !w->options.timed)
        return f->node == 0 ? pythia_buf_text(&w->root_attributes) : (struct pythia_text){"", 0};
    pythia_buf_clear(&w->attributes);
    if (f->node == 0)
        pythia_buf_text_add(&w->attributes, pythia_buf_text(&w->root_attributes));
    if (keyed)
        pythia_attributes_integer(&w->attributes, f->extra->key, f->extra->value);
    if (w->options.timed)
        add_times(k, f);
    return pythia_buf_text(&w->attributes);
}

/* Times are cut to the tick of the clock, as clocks of real hosts are. */
static int give_span(struct walk *k, const struct pythia__frame *f)
{
    const struct pythia_workflow *w = k->w;
    const struct pythia__node *node = &w->nodes[f->node];
    enum pythia_span_kind kind = find_node_kind(node);
    uint64_t tick = w->options.tick_ns > 1 ? w->options.tick_ns : 1;
    uint32_t host = f->extra ? f->extra->host : PYTHIA_NONE;
    uint64_t start_ns = f->start_ns - f->start_ns % tick, end_ns = f->end_ns - f->end_ns % tick;
    struct pythia_span span = {
        .id = f->id,
        .parent = f->above,
        .start_ns = start_ns,
        .duration_ns = (int64_t)(end_ns - start_ns),
        .tracepoint = node->tracepoint,
        .resource = w->resources[(size_t)node->service * w->options.hosts +
                                 (host == PYTHIA_NONE ? w->serving[node->service] : host)],
        .kind = kind,
        .relation = relation_of(kind),
        .part = PYTHIA_PART_WHOLE,
        .error = f->error,
        .many_roots = f->above == 0 && f->node > 0,
        .attributes = attributes_of(k, f)};
    if (w->attributes.failed)
        return PYTHIA_ENOMEM;
    return k->emit(k->context, &k->trace, &span);
}

/* ---- the walk ---- */

/* Call a node at a time; `above` is the nearest span that is seen. Fills *f up to where its first
 * child is called, or to its end if it has none. */
static void begin_node_call(struct walk *k, uint32_t number, uint64_t at_ns, uint64_t above,
                            bool error, struct pythia__frame *f)
{
    const struct pythia_workflow *w = k->w;
    const struct pythia__node *node = &w->nodes[number];
    uint64_t me = k->calls++;
    double own_ns = node->own_ns * k->load * w->slowed[node->service] *
                    noise_of(w, pythia_hash_mix(k->key, me));
    double added_ns = 0;
    f->extra = NULL;
    if (number == k->extra->node) {
        *(k->extra->spread ? &own_ns : &added_ns) += k->extra->added_ns;
        f->extra = k->extra++;
    }
    if (me == k->spike) {
        added_ns += spike_ns(k);
        k->spike = next_spike(k, me + 1);
    }
    f->id = is_seen(k, node) ? span_id(k, me) : 0;
    f->above = above;
    f->start_ns = at_ns;
    f->node = number;
    k->failed = k->failed || number == w->fails_at;
    f->error = error || number == w->fails_at;
    if (node->behind == number + 1) {
        f->end_ns = at_ns + (uint64_t)(own_ns + added_ns + 0.5);
        return;
    }
    f->gap_ns = (uint64_t)(own_ns / node->gaps + 0.5);
    f->cursor_ns = at_ns + (uint64_t)(added_ns + 0.5);
    if (node->flags & PYTHIA__PARALLEL)
        f->fork_ns = f->join_ns = f->cursor_ns += f->gap_ns;
    f->end_ns = 0;
    f->next = number + 1;
    f->again = PYTHIA_NONE;
}

/* Its children that are called have all ended, or it has none. */
static void end_call(const struct pythia__node *node, struct pythia__frame *f)
{
    f->end_ns = (node->flags & PYTHIA__PARALLEL ? f->join_ns : f->cursor_ns) + f->gap_ns;
}

/* A call of f's next child has ended. */
static void come_back(const struct pythia__node *nodes, struct pythia__frame *f, uint64_t ended_ns)
{
    const struct pythia__node *child = &nodes[f->next], *node = &nodes[f->node];
    bool again = f->again > 0;
    if (!(child->flags & PYTHIA__ASYNC))
        f->cursor_ns = ended_ns;
    if (node->flags & PYTHIA__PARALLEL && !(child->flags & PYTHIA__ASYNC)) {
        f->join_ns = ended_ns > f->join_ns ? ended_ns : f->join_ns;
        f->cursor_ns = again ? ended_ns : f->fork_ns;
    }
    if (again) {
        f->again--;
        return;
    }
    f->next = child->behind;
    f->again = PYTHIA_NONE;
}

/* Call f's next child, from where `f` has come to. */
static void call_next(struct walk *k, struct pythia__frame *f, struct pythia__frame *child)
{
    const struct pythia__node *nodes = k->w->nodes, *node = &nodes[f->next];
    uint64_t at_ns = f->cursor_ns;
    bool first = f->again == PYTHIA_NONE;
    if (first)
        draw_calls(k, node, &f->again, &f->failing);
    if (node->flags & PYTHIA__ASYNC) {
        if (f->end_ns == 0)
            end_call(&nodes[f->node], f);
        at_ns = f->end_ns;
    } else if (first && !(nodes[f->node].flags & PYTHIA__PARALLEL)) {
        at_ns += f->gap_ns;
    }
    bool error = f->failing > 0;
    f->failing -= error;
    begin_node_call(k, f->next, at_ns, f->id ? f->id : f->above, error, child);
}

static bool is_left_out(const struct pythia_workflow *w, uint32_t node)
{
    for (uint32_t i = 0; i < w->left_out_count; i++)
        if (w->left_out[i] == node)
            return true;
    return false;
}

/* Go on to the next child that is called in this request, without what the others would do. */
static void skip_left_out(struct walk *k, struct pythia__frame *f, uint32_t behind)
{
    while (f->next < behind && is_left_out(k->w, f->next)) {
        f->next = k->w->nodes[f->next].behind;
        while (k->extra->node < f->next)
            k->extra++;
    }
}

/* A stack of frames instead of recursion: workflows may be thousands of calls deep. */
static int walk_request(struct walk *k, uint64_t start_ns)
{
    const struct pythia__node *nodes = k->w->nodes;
    struct pythia__frame *frames = k->w->frames;
    begin_node_call(k, 0, start_ns, 0, false, &frames[0]);
    k->depth = 1;
    while (k->depth > 0) {
        struct pythia__frame *f = &frames[k->depth - 1];
        const struct pythia__node *node = &nodes[f->node];
        if (node->behind > f->node + 1) {
            skip_left_out(k, f, node->behind);
            if (f->next < node->behind && !k->failed) {
                call_next(k, f, f + 1);
                k->depth++;
                continue;
            }
            if (f->end_ns == 0)
                end_call(node, f);
        }
        int status = f->id ? give_span(k, f) : PYTHIA_OK;
        if (status != PYTHIA_OK)
            return status;
        if (--k->depth > 0)
            come_back(nodes, f - 1, f->end_ns);
    }
    return PYTHIA_OK;
}

struct pythia_trace_id pythia_workflow_trace(const struct pythia_workflow *w, uint64_t number)
{
    uint64_t high = pythia_hash_mix(w->options.seed ^ 0x7472616365, number);
    return (struct pythia_trace_id){high, pythia_hash_mix(high, number)};
}

int pythia_workflow_request(struct pythia_workflow *w, uint64_t number,
                            const struct pythia_workflow_view *view,
                            int (*emit)(void *context, const struct pythia_trace_id *trace,
                                        const struct pythia_span *span),
                            void *context)
{
    static const struct pythia_workflow_view all = {NULL, false};
    struct walk k = {.w = w,
                     .view = view ? view : &all,
                     .emit = emit,
                     .context = context,
                     .trace = pythia_workflow_trace(w, number),
                     .load = 1};
    k.key = pythia_hash_mix(k.trace.low, w->options.seed);
    pythia_random_init(&k.rare, k.key);
    pythia__draw(w, number, &k.rare);
    if (w->root_attributes.failed)
        return PYTHIA_ENOMEM;
    double sigma = sqrt(log1p(w->options.load * w->options.load));
    if (sigma > 0)
        k.load = exp(sigma * pythia_random_normal(&k.rare) - sigma * sigma / 2);
    k.extra = w->extras;
    k.spike = next_spike(&k, 0);
    return walk_request(&k,
                        EPOCH_NS + (uint64_t)fmod((double)number * w->options.interval_ns, ERA_NS));
}
