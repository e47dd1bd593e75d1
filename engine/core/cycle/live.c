/* The window gives finished requests; each becomes evidence of the current cycle, or of the next
 * one while the current one waits for its stragglers. live_phase.h has the states.
 *
 *   batch ─> window ─> request ─┬─> set apart (the desired set is changing)
 *                               ├─> learning its type
 *                               └─> hide closed points ─> evidence ─> full? ─> stragglers ─> decide
 */
#include "pythia/live.h"

#include "live_parts.h"
#include "pythia/mem.h"
#include "pythia/status.h"

#define SECOND     UINT64_C(1000000000)
#define MIB        ((uint64_t)1024 * 1024)
#define TYPES_SEEN 2048  /* types of one cycle; all others are one type */
#define PATIENCE   10    /* a cycle without a type that has enough lasts so many times longer */
#define STRAGGLERS 4     /* wait for them so many times longer than the longest request took */
#define LOOK_SPANS 10000 /* spans between looks at the memory of the evidence */
#define RARE_PART  4     /* requests of rare types get this fraction of the memory for evidence */
/* For which evidence has to speak against a verdict, or against what a search has found, at most.
 */
#define HOLD_MAX (60 * SECOND)
#define CUT_NS   (5 * SECOND) /* for which requests may lack their beginnings, at most */

/* ---- making ---- */

static uint64_t or_usual(uint64_t value, uint64_t usual)
{
    return value ? value : usual;
}

static uint64_t hold_ns(const struct pythia_live_options *o)
{
    return o->cycle_ns < HOLD_MAX ? o->cycle_ns : HOLD_MAX;
}

static void set_defaults(struct pythia_live_options *o)
{
    o->names.strings = (uint32_t)or_usual(o->names.strings, 262144);
    o->names.tracepoints = (uint32_t)or_usual(o->names.tracepoints, 65536);
    o->names.resources = (uint32_t)or_usual(o->names.resources, 65536);
    o->names.bytes = or_usual(o->names.bytes, 64 * MIB);
    o->cycle_requests = or_usual(o->cycle_requests, 100);
    o->cycle_ns = or_usual(o->cycle_ns, 60 * SECOND);
    o->evidence_bytes = or_usual(o->evidence_bytes, 64 * MIB);
    o->learn_requests = or_usual(o->learn_requests, 50);
    o->types_max = or_usual(o->types_max, 1000);
    o->search.min_requests = or_usual(o->search.min_requests, 30);
    o->window.quiet_ns = or_usual(o->window.quiet_ns, 2 * SECOND);
    o->window.age_max_ns = or_usual(o->window.age_max_ns, 120 * SECOND);
    o->search.hold_seconds = (double)hold_ns(o) / 1e9;
    o->search.may_widen = true; /* programs say of which type their requests are */
}

static void free_points(struct pythia__live_points *p)
{
    pythia_open_points_destroy(p->open);
    pythia_open_points_destroy(p->skeleton);
    *p = (struct pythia__live_points){0};
}

/* Desire what the search wants open now. Evidence of the cycle that is being reported still borrows
 * the sets of points until now, so that these are freed only with the next change. */
int pythia__live_desire(struct pythia_live *l)
{
    struct pythia__live_points next = {0};
    bool *known = l->search ? pythia_space_points(l->space) : NULL;
    uint32_t count = pythia_vocabulary_tracepoints(l->vocabulary);
    int status = PYTHIA_ENOMEM;
    if (l->search &&
        (!known || (status = pythia_search_open_points(l->search, &next.open)) != PYTHIA_OK ||
         (status = pythia_space_skeleton_points(l->space, &next.skeleton)) != PYTHIA_OK ||
         (status = pythia__live_find_partial(l)) != PYTHIA_OK)) {
        free_points(&next);
        pythia_free(known);
        pythia__live_advance_set(l, PYTHIA__SET_FAILED);
        return status;
    }
    free_points(&l->former);
    l->former = l->points;
    l->points = next;
    pythia__unknown_points_know(&l->context.unknown, known, count);
    l->wish++;
    pythia__live_advance_set(l, PYTHIA__SET_CHANGED);
    return PYTHIA_OK;
}

int pythia__live_begin_search(struct pythia_live *l)
{
    const struct pythia_search_options shared = pythia__live_share_search(l);
    int status = pythia_search_create(l->space, l->share.on ? &shared : &l->o.search, &l->search);
    if (status != PYTHIA_OK || (status = pythia__live_desire(l)) != PYTHIA_OK) {
        /* Without a search the engine keeps learning, and tries again with the next batch. */
        pythia_search_destroy(l->search);
        l->search = NULL;
        pythia__live_advance_set(l, PYTHIA__SET_ABANDONED);
        return status;
    }
    pythia__live_advance_phase(l, PYTHIA__LIVE_SEARCH_BEGUN);
    return PYTHIA_OK;
}

static int take_request(void *context, const struct pythia_trace *finished);

/* The order matters: the namer needs the templates, and the types need a space. */
static int create_live_parts(struct pythia_live *l)
{
    struct pythia_trace_taker taker = {take_request, l};
    int status = pythia_vocabulary_limit(l->vocabulary, &l->o.names);
    if (status != PYTHIA_OK || (status = pythia_path_templates_create(&l->templates)) != PYTHIA_OK)
        return status;
    l->o.groups.types.templates = l->templates;
    if (l->space && (status = pythia_space_teach_paths(l->space, l->templates)) != PYTHIA_OK)
        return status;
    status = pythia_request_types_create(l->vocabulary, &l->o.groups.types, &l->namer);
    if (status != PYTHIA_OK ||
        (status = pythia_request_variables_create(l->vocabulary, &l->variables)) != PYTHIA_OK)
        return status;
    status = pythia_window_create(l->vocabulary, &l->o.window, taker, &l->counts, &l->window);
    if (status != PYTHIA_OK)
        return status;
    status = pythia__evidence_context_init(&l->context, l->vocabulary, &l->o.groups, &l->o.search,
                                           l->o.evidence_bytes / RARE_PART);
    if (status != PYTHIA_OK)
        return status;
    /* The space of the caller stays as it is; an own one grows by the types that are learnt. */
    if (l->owns_space && (status = pythia_space_create(l->vocabulary, &l->space)) != PYTHIA_OK)
        return status;
    status = pythia__live_types_init(&l->types, l->vocabulary, l->space, l->o.types_max);
    if (status != PYTHIA_OK)
        return status;
    l->other = pythia_vocabulary_string(l->vocabulary, PYTHIA_TEXT("(other)"));
    if (l->other == PYTHIA_NONE)
        return PYTHIA_ENOMEM;
    pythia__late_init(&l->late, &l->types,
                      &(struct pythia__late_learning_options){
                          .hourly = l->o.search.budget.points_per_cycle ? l->o.learn_hourly : 0,
                          .types = PYTHIA_LIVE_LATE_MAX,
                          .requests = l->o.learn_requests,
                          .few = pythia__live_few_to_learn(l),
                          .step_ns = l->o.cycle_ns,
                          .tries_ns = PATIENCE * l->o.cycle_ns,
                          .age_max_ns = l->o.window.age_max_ns});
    if (!l->owns_space && (status = pythia__live_begin_search(l)) != PYTHIA_OK)
        return status;
    return l->owns_space && l->o.learn_all ? pythia__live_desire(l) : PYTHIA_OK;
}

int pythia_live_create(struct pythia_vocabulary *vocabulary, struct pythia_space *space,
                       const struct pythia_live_options *options, struct pythia_live_taker taker,
                       struct pythia_live **out)
{
    struct pythia_live *l = pythia_calloc(1, sizeof(*l));
    if (!l)
        return PYTHIA_ENOMEM;
    l->vocabulary = vocabulary;
    l->space = space;
    l->owns_space = !space;
    l->taker = taker;
    l->o = *options;
    l->last.leading = SIZE_MAX;
    l->o.search.instances = l->o.instances.count;
    l->o.search.prefer = l->o.instances.prefer;
    l->o.search.instances_context = l->o.instances.context;
    set_defaults(&l->o);
    int status = pythia__live_share_init(l);
    if (status == PYTHIA_OK)
        status = create_live_parts(l);
    if (status != PYTHIA_OK) {
        pythia_live_destroy(l);
        return status;
    }
    *out = l;
    return PYTHIA_OK;
}

void pythia_live_destroy(struct pythia_live *l)
{
    if (!l)
        return;
    for (int i = 0; i < PYTHIA__STAGES; i++)
        pythia__evidence_free(&l->stages[i].evidence);
    pythia_search_destroy(l->search);
    free_points(&l->points);
    free_points(&l->former);
    pythia__live_share_free(&l->share);
    pythia_window_destroy(l->window);
    pythia__evidence_context_free(&l->context);
    pythia_request_variables_destroy(l->variables);
    pythia_free(l->partial);
    pythia_free(l->entries);
    pythia__late_free(&l->late);
    pythia__live_types_free(&l->types);
    pythia_request_types_destroy(l->namer);
    pythia_path_templates_destroy(l->templates);
    if (l->owns_space)
        pythia_space_destroy(l->space);
    pythia_free(l);
}

/* ---- evidence ---- */

static int stage_number(const struct pythia_live *l, const struct pythia__live_stage *s)
{
    return (int)(s - l->stages);
}

void pythia__live_empty_stage(struct pythia_live *l, struct pythia__live_stage *s)
{
    pythia__rare_types_drop(&l->context.rare, stage_number(l, s));
    pythia__evidence_free(&s->evidence);
    *s = (struct pythia__live_stage){.number = 0};
}

void pythia__live_end_stage(struct pythia_live *l)
{
    pythia__live_empty_stage(l, &l->stages[l->now]);
    pythia__live_advance_phase(l, PYTHIA__LIVE_CYCLE_ENDED);
    l->share.complete = false;
}

/* Effects are measured in one stage at a time, from the moment that its cycle is the current one:
 * the next stage may still get a new set of open points. */
static int measure_stage(struct pythia_live *l, struct pythia__live_stage *s)
{
    return s == &l->stages[l->now] && s->number && pythia__live_is_searching(l) && !l->share.on
               ? pythia__evidence_measure(&l->context, &s->evidence, l->points.open)
               : PYTHIA_OK;
}

/* The name under which a request counts in a stage. An attacker, or a service with its identifiers
 * in the names of its spans, could make types without end: beyond TYPES_SEEN all are one. */
static uint32_t name_in_stage(struct pythia_live *l, struct pythia__live_stage *s,
                              struct pythia__live_type *type)
{
    int which = stage_number(l, s);
    /* The numbers of stages are never used again, so that an old count needs no reset. */
    if (type->in[which].number != s->number) {
        if (!type->learnt && s->types >= TYPES_SEEN) {
            l->numbers.other_requests++;
            return l->other;
        }
        type->in[which].number = s->number;
        type->in[which].requests = 0;
        s->types++;
    }
    uint64_t requests = ++type->in[which].requests;
    if (!type->other)
        s->most = requests > s->most ? requests : s->most;
    return type->name;
}

/* Retained requests of rare types are evidence of one cycle more. */
static int carry_rare(struct pythia_live *l, struct pythia__live_stage *s)
{
    return pythia__evidence_carry(&l->context, &s->evidence, stage_number(l, s), &s->together);
}

static int begin_stage(struct pythia_live *l, struct pythia__live_stage *s)
{
    int status = pythia__evidence_begin(&l->context, &s->evidence, l->points.skeleton, NULL);
    if (status != PYTHIA_OK)
        return status;
    s->number = ++l->stage_numbers;
    s->begun_ns = l->now_ns;
    if ((status = measure_stage(l, s)) != PYTHIA_OK)
        return status;
    return carry_rare(l, s);
}

static int gather_request(struct pythia_live *l, struct pythia__live_stage *s,
                          struct pythia__live_type *type, const struct pythia_trace *trace)
{
    uint64_t all = 0;
    int status = s->number ? PYTHIA_OK : begin_stage(l, s);
    if (status != PYTHIA_OK)
        return status;
    uint32_t name = name_in_stage(l, s, type);
    /* Requests of "(other)" have nothing in common: they never make a cycle full. */
    all = type->other ? 0 : type->in[stage_number(l, s)].requests;
    status = pythia__evidence_add(&l->context, &s->evidence, stage_number(l, s), name,
                                  pythia__live_is_searching(l) && type->learnt && !l->share.on,
                                  trace, &all);
    if (status != PYTHIA_OK)
        return status;
    s->together = all > s->together ? all : s->together;
    /* Members of a group see a part of the requests each. */
    bool enough = l->share.on ? s->most * l->share.all >= l->o.cycle_requests * l->share.own
                              : s->most >= l->o.cycle_requests;
    s->full = s->full || enough;
    /* The sum over all groups takes long, and a span adds little: looking now and then suffices. */
    if (s->evidence.spans - s->looked >= LOOK_SPANS) {
        s->looked = s->evidence.spans;
        s->heavy = pythia_groups_bytes(s->evidence.groups) >= l->o.evidence_bytes;
    }
    return PYTHIA_OK;
}

void pythia__live_set_apart(struct pythia_live *l, uint64_t requests)
{
    l->apart += requests;
    l->numbers.under_way += requests;
}

/* Drop evidence gathered with the previous set of open points. */
static void drop_stages(struct pythia_live *l)
{
    for (int i = 0; i < PYTHIA__STAGES; i++) {
        pythia__live_set_apart(l, l->stages[i].evidence.requests);
        pythia__live_empty_stage(l, &l->stages[i]);
    }
    pythia__live_advance_phase(l, PYTHIA__LIVE_CYCLE_ENDED);
}

/* Drop also the requests of rare types that are retained for the next cycle. */
void pythia__live_drop_evidence(struct pythia_live *l)
{
    drop_stages(l);
    pythia__rare_types_drop_next(&l->context.rare);
}

/* How long after the set came into force a request that began before may still seem to begin.
 * While everything opens for learning, entry points open in the middle of requests too: what is
 * seen of such a request begins with the next span that it opens, and lacks the calls before it.
 * That span begins before the request ends, so the longest request bounds the time; but one of
 * minutes may be a stream, and learning does not wait for that. */
static uint64_t learn_fragments_ns(struct pythia_live *l, const struct pythia_trace *trace)
{
    if (l->search || !l->o.learn_all)
        return 0;
    uint64_t lasted_ns = trace->completed_ns - trace->start_ns;
    l->longest_ns = lasted_ns > l->longest_ns ? lasted_ns : l->longest_ns;
    return l->longest_ns < CUT_NS ? l->longest_ns : CUT_NS;
}

/* Did the request begin before the set in force was applied? */
static bool is_under_way(struct pythia_live *l, const struct pythia_trace *trace)
{
    /* No request lasts longer than age_max_ns: one that claims to have has a clock that is off. */
    bool any_may = l->now_ns - l->applied_ns < l->o.window.age_max_ns;
    uint64_t whole_since_ns = l->since_ns + learn_fragments_ns(l, trace);
    return l->set == PYTHIA__SET_CHANGING || l->set == PYTHIA__SET_UNMADE ||
           (any_may && trace->begun_ns < whole_since_ns);
}

/* The request as it looks with the desired set open. 1: nothing of it is left. */
static int hide_closed(struct pythia_live *l, struct pythia__live_type *type,
                       const struct pythia_trace *whole, const struct pythia_trace **out)
{
    bool searched = pythia__live_is_searching(l) && type->learnt;
    const struct pythia_hider_types types = {l->points.open, NULL, type->name};
    int status = pythia__evidence_hide(&l->context, searched ? l->points.open : NULL, &types, whole,
                                       &l->counts, out);
    l->numbers.hidden_requests += status == 1;
    if (searched && (status == 1 || (status == 0 && (*out)->count < whole->count)))
        pythia__live_note_strays(l, type, whole);
    return status;
}

/* The type of a request. When a path turns out to be that of a larger type, types of that path that
 * are being learnt are removed, as the larger one is learnt from its own requests. One that is
 * searched already gets no more requests: the search lets it rest, and its verdict stays. */
static struct pythia__live_type *find_request_type(struct pythia_live *l,
                                                   const struct pythia_trace *whole)
{
    uint32_t name = whole ? pythia_request_type(l->namer, whole) : PYTHIA_NONE;
    if (name == PYTHIA_NONE)
        return NULL;
    uint64_t changes = pythia_path_templates_changes(l->templates);
    if (changes != l->template_changes)
        l->numbers.merged_types += pythia__live_types_merge(&l->types, l->templates);
    l->template_changes = changes;
    struct pythia__live_type *type = pythia__live_types_meet(&l->types, name);
    if (type)
        type->path = pythia_request_type_was_path(l->namer);
    return type;
}

/* The way of a finished request (the drawing at the top). The watcher sees it first and in any
 * case, as its counts of hits must not depend on what becomes evidence. */
static int take_request(void *context, const struct pythia_trace *finished)
{
    struct pythia_live *l = context;
    const struct pythia_trace *trace,
        *whole = pythia_request_variables_trace(l->variables, finished);
    if (whole && l->o.adder.add)
        whole = l->o.adder.add(l->o.adder.context, whole);
    struct pythia__live_type *type = find_request_type(l, whole);
    if (!type)
        return PYTHIA_ENOMEM;
    int status = l->watch ? l->watch(l->watch_context, type->name, whole) : 0;
    if (status < 0)
        return status;
    /* While a cycle waits for its stragglers, requests that began later belong to the next one. */
    bool of_next = l->phase == PYTHIA__LIVE_SETTLING && whole->begun_ns > l->cut_ns && !l->share.on;
    struct pythia__live_stage *s = &l->stages[of_next ? !l->now : l->now];
    if (finished->incomplete) /* counted by its reason already */
        return PYTHIA_OK;
    if (is_under_way(l, whole) || s->heavy ||
        pythia__late_keeps_apart(&l->late, type, whole, l->now_ns)) {
        pythia__live_set_apart(l, 1);
        return PYTHIA_OK;
    }
    l->numbers.other_requests += type->other;
    if (type->learnt && (status = pythia__live_learn_again(l, type, whole)) != PYTHIA_OK)
        return status;
    if (pythia__live_was_elsewhere(l, type, whole)) {
        l->numbers.elsewhere++;
        return PYTHIA_OK;
    }
    if ((status = hide_closed(l, type, whole, &trace)) != 0)
        return status < 0 ? status : PYTHIA_OK;
    status = pythia_critical_path_find(&l->context.path, trace, l->o.groups.latency);
    if (status != PYTHIA_OK)
        return status;
    if (!type->learnt && !type->other && !l->paused &&
        (status = pythia__live_learn_request(l, type, trace)) != PYTHIA_OK)
        return status;
    return gather_request(l, s, type, trace);
}

/* ---- cycles ---- */

/* The time in which the requests arrived. The last one is followed by the average time between two,
 * so that adjacent cycles add up. */
double pythia__live_seconds(const struct pythia__evidence *e)
{
    if (e->requests < 2)
        return 0;
    double between_ns = (double)(e->last_begin_ns - e->begin_ns);
    return between_ns / ((double)e->requests - 1) * (double)e->requests / 1e9;
}

static int decide_stage(struct pythia_live *l, struct pythia__live_stage *s, bool *switched)
{
    /* While paused, what is reported is what was decided last, without its switches and effects. */
    struct pythia_cycle found = l->last;
    bool searches = pythia__live_is_searching(l);
    found.switches = NULL;
    found.switch_count = 0;
    found.effects = NULL;
    found.effect_count = 0;
    int status =
        pythia__evidence_decide(&s->evidence, searches ? l->search : NULL, l->last.number + 1,
                                pythia__live_seconds(&s->evidence), &found);
    if (status != PYTHIA_OK)
        return status;
    l->last = found;
    *switched = found.switch_count > 0;
    pythia__live_review_retried(l);
    return PYTHIA_OK;
}

/* Add the types that were learnt during the cycle to the space. */
static int grow_space(struct pythia_live *l, bool *switched)
{
    size_t moved = 0;
    if (!pythia__live_is_searching(l))
        return PYTHIA_OK;
    int status = pythia__live_types_settle(
        &l->types, l->late.o.hourly > 0 ? PYTHIA__LEARNT_LATE_ONLY : l->o.learn_requests, l->search,
        &moved);
    *switched = *switched || moved > 0;
    return status;
}

/* Estimate the number of spans if everything in the search space were open. */
static double estimate_spans(const struct pythia_live *l, const struct pythia_groups *groups)
{
    size_t count;
    double sum = 0;
    const struct pythia_type *types = pythia_groups_types(groups, &count);
    for (size_t i = 0; l->search && i < count; i++) {
        const struct pythia_space_type *t = pythia_space_type(l->space, types[i].name);
        double calls = 0;
        for (uint32_t node = 1; t && node < pythia_cct_nodes(t->cct); node++)
            calls += (double)t->nodes[node].calls;
        if (t && t->requests > 0)
            sum += calls / (double)t->requests * (double)(types[i].moments.n - types[i].carried);
    }
    return sum;
}

/* All counts "since the last cycle" restart here, whatever the taker returns: it has had them. */
int pythia__live_report(struct pythia_live *l, const struct pythia__live_stage *s)
{
    const struct pythia__evidence *e = &s->evidence;
    const struct pythia__unknown_points *u = &l->context.unknown;
    struct pythia_live_cycle cycle = {.decisions = l->last,
                                      .groups = e->groups,
                                      .requests = e->requests,
                                      .under_way = l->apart,
                                      .hidden_requests =
                                          l->numbers.hidden_requests - l->reported_hidden,
                                      .spans = e->spans,
                                      .lessons = l->late.count,
                                      .lessons_cut = l->late.cut,
                                      .types_waiting = l->late.waiting,
                                      .unknown = pythia__unknown_points_sum(u, l->vocabulary),
                                      .seconds = pythia__live_seconds(e),
                                      .begin_ns = e->begin_ns,
                                      .end_ns = e->end_ns,
                                      .hold_ns = hold_ns(&l->o)};
    double all = estimate_spans(l, e->groups);
    cycle.spans_saved = all > (double)e->spans ? (uint64_t)(all - (double)e->spans + .5) : 0;
    pythia_live_count_points(l, &cycle.skeleton_count, &cycle.point_count);
    l->numbers.cycles++;
    l->numbers.requests += e->requests;
    l->apart = 0;
    l->reported_hidden = l->numbers.hidden_requests;
    return l->taker.cycle(l->taker.context, &cycle);
}

/* Flag the points that are open for all types; the caller frees the flags. NULL when out of memory,
 * or nothing is searched yet. */
static bool *flag_skeleton(const struct pythia_live *l, uint32_t points)
{
    bool *flags = l->search ? pythia_calloc((size_t)points + 1, sizeof(*flags)) : NULL;
    for (uint32_t point = 0; flags && point < points; point++)
        flags[point] = pythia_search_in_skeleton(l->search, point);
    return flags;
}

/* Retain requests of rare types for the next cycle, unless the decisions of this cycle, or points
 * that have joined the skeleton since (`before`: the skeleton until now; NULL: unknown), would make
 * them look different. */
static void retain_rare(struct pythia_live *l, const struct pythia__live_stage *s,
                        const bool *before)
{
    uint32_t points = pythia_vocabulary_tracepoints(l->vocabulary);
    size_t count = before ? l->last.switch_count : 0;
    /* Without memory for the list, nothing is retained: `same` is false below. */
    struct pythia_switch *switches = pythia_calloc(points + count + 1, sizeof(*switches));
    for (size_t i = 0; switches && i < count; i++)
        switches[i] = l->last.switches[i];
    for (uint32_t point = 0; switches && before && point < points; point++)
        if (!before[point] && pythia_search_in_skeleton(l->search, point))
            switches[count++] = (struct pythia_switch){.tracepoint = point, .type = PYTHIA_NONE};
    pythia__rare_types_end(&l->context.rare, stage_number(l, s), switches && before, l->space,
                           switches, count);
    pythia_free(switches);
}

/* The next stage may have evidence already: make it that of the current cycle. */
static int continue_stage(struct pythia_live *l)
{
    struct pythia__live_stage *s = &l->stages[l->now];
    int status = measure_stage(l, s);
    return status != PYTHIA_OK || !s->number ? status : carry_rare(l, s);
}

/* The cycle ends whatever fails, as its evidence belongs to a set of open points that may be gone;
 * only then the first failure is returned. A retry would decide twice. */
static int end_cycle(struct pythia_live *l)
{
    struct pythia__live_stage *s = &l->stages[l->now];
    bool switched = false;
    bool *before = flag_skeleton(l, pythia_vocabulary_tracepoints(l->vocabulary));
    pythia__live_advance_phase(l, PYTHIA__LIVE_CYCLE_ENDED);
    int decided = decide_stage(l, s, &switched);
    if (decided != PYTHIA_OK)
        pythia__live_set_apart(l, s->evidence.requests);
    /* A type that has been learnt may widen the skeleton, which is a switch like those decided. */
    int grown = decided != PYTHIA_OK ? decided : grow_space(l, &switched);
    retain_rare(l, s, grown == PYTHIA_OK ? before : NULL);
    pythia_free(before);
    int desired = switched ? pythia__live_desire(l) : PYTHIA_OK;
    /* The owner hears of a new desired set before it hears of the cycle that led to it. */
    int reported = decided != PYTHIA_OK ? decided : pythia__live_report(l, s);
    pythia__live_empty_stage(l, s);
    l->now = !l->now;
    if (switched)
        drop_stages(l);
    int continued = grown != PYTHIA_OK ? grown : continue_stage(l);
    return reported != PYTHIA_OK ? reported : continued != PYTHIA_OK ? continued : desired;
}

static bool has_evidence(const struct pythia_live *l, const struct pythia__live_stage *s)
{
    uint64_t lasted_ns = l->now_ns - s->begun_ns;
    bool enough = l->share.on || s->together >= l->o.search.min_requests;
    bool full = s->full && lasted_ns >= l->o.cycle_min_ns;
    return full || s->heavy || lasted_ns / PATIENCE >= l->o.cycle_ns ||
           (enough && lasted_ns >= l->o.cycle_ns);
}

static void begin_settling(struct pythia_live *l, const struct pythia__live_stage *s)
{
    pythia__live_advance_phase(l, PYTHIA__LIVE_EVIDENCE_COMPLETE);
    l->settling_since_ns = l->now_ns;
    l->cut_ns = s->evidence.last_begin_ns;
    l->patience_ns = s->evidence.longest_ns;
}

/* Have all requests of the cycle ended? None of them is open any more, and one of which no span has
 * arrived yet would be longer than any other. A request that is stuck must not hold up all
 * others. */
static bool is_settled(const struct pythia_live *l)
{
    uint64_t waited_ns = l->now_ns - l->settling_since_ns;
    uint64_t wait_ns = pythia_window_wait_ns(l->window, l->now_ns);
    uint64_t most_ns = STRAGGLERS * (l->patience_ns + wait_ns);
    if (waited_ns >= l->o.cycle_ns || waited_ns >= most_ns)
        return true;
    return waited_ns >= l->patience_ns && !pythia_window_began_by(l->window, l->cut_ns);
}

/* Stragglers matter only to a search: its cycles must not miss the slow requests. */
static bool is_cycle_done(struct pythia_live *l, const struct pythia__live_stage *s)
{
    if (!pythia__live_is_searching(l))
        return has_evidence(l, s);
    if (l->phase == PYTHIA__LIVE_GATHERING && has_evidence(l, s))
        begin_settling(l, s);
    return l->phase == PYTHIA__LIVE_SETTLING && is_settled(l);
}

/* The first types have been learnt: report what was seen until now, and begin the search. */
static int end_learning(struct pythia_live *l)
{
    size_t moved = 0;
    int status = l->stages[l->now].number ? end_cycle(l) : PYTHIA_OK;
    pythia__live_drop_evidence(
        l); /* also after a failure: it was seen with another set of open points */
    if (status != PYTHIA_OK)
        return status;
    status = pythia__live_types_settle(&l->types, pythia__live_few_to_learn(l), NULL, &moved);
    if (status != PYTHIA_OK)
        return status;
    /* No request hit those of the points that were open and are not in the space. */
    l->late.sought = l->learnt_points;
    return pythia__live_begin_search(l);
}

/* Do what the time and the evidence have made due. */
static int do_due(struct pythia_live *l)
{
    int status = l->set == PYTHIA__SET_UNMADE ? pythia__live_desire(l) : PYTHIA_OK;
    if (status != PYTHIA_OK)
        return status;
    if (l->share.on) { /* what is complete is sent, and decided when it is read (live_shared.h) */
        const struct pythia__live_stage *own = &l->stages[l->now];
        l->share.learning_over = pythia__live_is_learning_over(l);
        l->share.complete = own->number && is_cycle_done(l, own);
        return pythia__live_step_late_learning(l);
    }
    if (pythia__live_is_learning_over(l) && (status = end_learning(l)) != PYTHIA_OK)
        return status;
    /* The next stage may be complete too: one batch can hold the requests of several cycles. */
    for (;;) {
        struct pythia__live_stage *s = &l->stages[l->now];
        if (!s->number || !is_cycle_done(l, s))
            break;
        if ((status = end_cycle(l)) != PYTHIA_OK)
            return status;
    }
    return pythia__live_step_late_learning(l);
}

struct adding {
    struct pythia_live *live;
    uint64_t now_ns;
};

static int add_live_span(void *context, const struct pythia_trace_id *trace,
                         const struct pythia_span *span)
{
    const struct adding *a = context;
    struct pythia_live *l = a->live;
    int status = l->watch_span ? l->watch_span(l->watch_span_context, trace, span) : PYTHIA_OK;
    if (status != PYTHIA_OK)
        return status;
    return pythia_window_add(l->window, trace, span, a->now_ns);
}

static void set_time(struct pythia_live *l, uint64_t now_ns)
{
    l->now_ns = now_ns > l->now_ns ? now_ns : l->now_ns;
}

int pythia_live_add(struct pythia_live *l, const struct pythia_span_batch *batch, uint64_t now_ns)
{
    set_time(l, now_ns);
    int status = pythia_span_batch_each(batch, add_live_span, &(struct adding){l, l->now_ns});
    if (status != PYTHIA_OK)
        return status;
    return do_due(l);
}

int pythia_live_tick(struct pythia_live *l, uint64_t now_ns)
{
    set_time(l, now_ns);
    int status = pythia_window_tick(l->window, l->now_ns);
    if (status != PYTHIA_OK)
        return status;
    return do_due(l);
}

int pythia_live_drain(struct pythia_live *l)
{
    int status = pythia_window_drain(l->window);
    if (status != PYTHIA_OK || (status = do_due(l)) != PYTHIA_OK)
        return status;
    if (l->share.on) /* another member reads again what was not sent */
        pythia__live_drop_evidence(l);
    while (l->stages[l->now].number)
        if ((status = end_cycle(l)) != PYTHIA_OK)
            return status;
    return PYTHIA_OK;
}

/* ---- calls of the owner ---- */

struct pythia_groups *pythia_live_take_groups(struct pythia_live *l)
{
    struct pythia__evidence *e =
        l->share.deciding ? &l->share.round.evidence : &l->stages[l->now].evidence;
    struct pythia_groups *groups = e->groups;
    e->groups = NULL;
    return groups;
}

void pythia_live_applied(struct pythia_live *l, uint64_t since_ns, bool joined)
{
    enum pythia__set_state was = l->set;
    /* Planes report again and again; only a later time says that a target had lost the set. */
    if (was == PYTHIA__SET_IN_FORCE && since_ns <= l->heard_ns)
        return;
    pythia__live_advance_set(l, PYTHIA__SET_APPLIED);
    l->heard_ns = since_ns;
    pythia__late_applied(&l->late, since_ns, l->now_ns);
    if (was == PYTHIA__SET_ALIKE)
        return; /* searched types saw no change: their evidence stays */
    pythia__live_learn_with_new_points(l);
    if (was == PYTHIA__SET_IN_FORCE && !joined)
        pythia__live_drop_evidence(l);
    l->since_ns = since_ns;
    l->applied_ns = l->now_ns;
}

void pythia_live_pause(struct pythia_live *l, bool paused)
{
    if (paused == l->paused)
        return;
    pythia__live_drop_evidence(l);
    pythia__late_break_off(&l->late, l->now_ns);
    l->paused = paused;
    /* The planes may have changed while paused: the whole set is applied again. */
    if (!paused && l->wish > 0) {
        l->wish++;
        pythia__live_advance_set(l, PYTHIA__SET_RESUMED);
    } else if (paused) {
        pythia__live_advance_set(l, PYTHIA__SET_PAUSED);
    }
}

int pythia_live_choose_again(struct pythia_live *l)
{
    pythia__live_drop_evidence(l);
    return pythia__live_desire(l);
}

int pythia_live_set_pins(struct pythia_live *l, struct pythia_open_points *always,
                         struct pythia_open_points *never, struct pythia_open_points *fixed)
{
    bool others = always != l->o.search.always || never != l->o.search.never;
    bool relimited = !pythia_open_points_same_limits(always, l->o.search.always);
    bool switched = (!l->search && l->o.learn_all && l->wish > 0 && others) ||
                    (l->share.on && l->search && others);
    /* A shared search knows pins of its settings alone: others would make it another search here
     * than elsewhere. They hold for the switches of this member (pythia_live_is_open). */
    int status = l->search && !l->share.on
                     ? pythia_search_set_pins(l->search, always, never, fixed, &switched)
                     : PYTHIA_OK;
    switched = switched || (l->search && relimited);
    if (status != PYTHIA_OK)
        return status;
    l->o.search.always = always;
    l->o.search.never = l->context.unknown.never = never;
    l->o.search.fixed = fixed;
    /* Pins that change nothing that is open must not cost the evidence of a cycle. */
    if (!switched) {
        if (l->late.phase != PYTHIA__LATE_NONE &&
            others) /* a point that is pinned shut is not open for learning */
            pythia__live_desire_alike(l);
        return PYTHIA_OK;
    }
    pythia__live_drop_evidence(l);
    return pythia__live_desire(l);
}
