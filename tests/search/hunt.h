/* A search that a test runs cycle by cycle, over requests of a planted workflow or over requests as
 * text, and what it decided. */
#ifndef HUNT_H
#define HUNT_H

#include "pythia/hider.h"
#include "pythia/search.h"
#include "pythia/workflow.h"
#include "requests.h"

#define PROFILED 5 /* requests of a workflow with everything open, for the search space */
#define HISTORY  512

/* A search over requests of a workflow, or over requests as text, and all that it decided. */
struct hunt {
    struct requests r;
    struct pythia_workflow *workflow; /* NULL: text */
    void (*write)(char *to, size_t room, uint64_t number);
    struct pythia_request_types *types;
    struct pythia_hider *hider; /* of what is open for other types */
    struct pythia_space *space;
    struct pythia_search_options how;
    struct pythia_search *search;
    struct pythia_cycle cycle;
    uint64_t number, *hits;
    bool *open, reversed; /* reversed: the requests of a cycle are added last to first */
    uint32_t points;
    struct {
        uint64_t cycle;
        uint32_t point, type;
        bool open;
        double inside;
        char reason[256];
    } history[HISTORY];
    size_t history_count, peak;
};

static inline int take(void *context, const struct pythia_trace_id *trace,
                       const struct pythia_span *span)
{
    struct requests *r = context;
    struct pythia_span copy = *span;
    char *bytes = pythia_arena_alloc(&r->attributes, span->attributes.size + 1);
    (void)trace;
    assert_non_null(bytes);
    if (span->attributes.size)
        memcpy(bytes, span->attributes.bytes, span->attributes.size);
    copy.attributes.bytes = bytes;
    return pythia_trace_builder_add(r->builder, &copy);
}

static inline const struct pythia_trace *work(struct hunt *h, uint64_t number, const bool *open)
{
    const struct pythia_trace *trace = NULL;
    struct pythia_workflow_view view = {.open = open, .known_only = !open};
    pythia_arena_clear(&h->r.attributes);
    pythia_trace_builder_begin(h->r.builder, pythia_workflow_trace(h->workflow, number));
    assert_int_equal(pythia_workflow_request(h->workflow, number, &view, take, &h->r), PYTHIA_OK);
    assert_int_equal(pythia_trace_builder_finish(h->r.builder, &h->r.counts, &trace), PYTHIA_OK);
    return trace;
}

static inline void profile(struct hunt *h, const struct pythia_trace *trace)
{
    assert_int_equal(pythia_space_add(h->space, pythia_request_type(h->types, trace), trace,
                                      requests_path(&h->r, trace)),
                     PYTHIA_OK);
}

static inline void begin(struct hunt *h)
{
    static const struct pythia_request_type_options usual;
    *h = (struct hunt){.number = 0};
    requests_begin(&h->r);
    h->how = (struct pythia_search_options){
        .budget = {.points_per_cycle = 3}, .price_ns = 1000, .seed = 1};
    assert_int_equal(pythia_request_types_create(h->r.vocabulary, &usual, &h->types), PYTHIA_OK);
    assert_int_equal(pythia_hider_create(h->r.vocabulary, &h->hider), PYTHIA_OK);
    assert_int_equal(pythia_space_create(h->r.vocabulary, &h->space), PYTHIA_OK);
}

/* Search with h->how, in a space that is whole. */
static inline void search(struct hunt *h)
{
    h->points = pythia_vocabulary_tracepoints(h->r.vocabulary);
    h->hits = calloc(h->points + 64, sizeof(*h->hits));
    h->open = calloc(h->points, sizeof(*h->open));
    assert_int_equal(pythia_search_create(h->space, &h->how, &h->search), PYTHIA_OK);
}

static inline void begin_workflow(struct hunt *h, struct pythia_workflow_options *o)
{
    struct pythia_error why = {0};
    begin(h);
    o->distractors = 0;
    if (pythia_workflow_create(h->r.vocabulary, o, &h->workflow, &why) != PYTHIA_OK)
        fail_msg("%s", why.sentence);
    for (uint64_t i = 0; i < PROFILED; i++)
        profile(h, work(h, 1000000 + i, NULL));
    h->how.seed = o->seed;
}

/* Requests as text, of which the space has seen each that `write` makes for 1000000 to 1000004; or
 * just what `known` says. */
static inline void begin_text(struct hunt *h, void (*write)(char *, size_t, uint64_t),
                              const char *known)
{
    begin(h);
    h->write = write;
    for (uint64_t i = 0; i < (known ? 1 : PROFILED); i++) {
        char text[1024];
        if (!known)
            write(text, sizeof(text), 1000000 + i);
        profile(h, requests_trace(&h->r, 0, known ? known : text));
    }
}

static inline void end(struct hunt *h)
{
    pythia_search_destroy(h->search);
    pythia_space_destroy(h->space);
    pythia_request_types_destroy(h->types);
    pythia_hider_destroy(h->hider);
    pythia_workflow_destroy(h->workflow);
    requests_end(&h->r);
    free(h->hits);
    free(h->open);
}

/* ---- cycles ---- */

static inline void note(struct hunt *h)
{
    for (size_t i = 0; i < h->cycle.switch_count; i++) {
        const struct pythia_switch *s = &h->cycle.switches[i];
        assert_int_equal(pythia_search_is_open_for(h->search, s->tracepoint, s->type), s->open);
        assert_int_equal(h->cycle.problems[s->problem].unsplit, s->type);
        assert_false(pythia_search_in_skeleton(h->search, s->tracepoint));
        assert_in_range(h->history_count, 0, HISTORY - 1);
        h->history[h->history_count].cycle = h->cycle.number;
        h->history[h->history_count].point = s->tracepoint;
        h->history[h->history_count].type = s->type;
        h->history[h->history_count].open = s->open;
        h->history[h->history_count].inside = s->inside;
        snprintf(h->history[h->history_count++].reason, 256, "%s", s->reason);
    }
    h->peak = h->cycle.open_count > h->peak ? h->cycle.open_count : h->peak;
}

/* A request as text, without what is open for requests of other types only. */
static inline const struct pythia_trace *show(struct hunt *h, uint64_t number, const char *text)
{
    const struct pythia_trace *trace = requests_trace(&h->r, number, text);
    const struct pythia_hider_types types = {h->r.open, NULL, pythia_request_type(h->types, trace)};
    assert_int_equal(pythia_hider_hide_typed(h->hider, trace, h->r.open, &types, &trace), 0);
    return trace;
}

/* See so many requests under the open points. */
static inline void see(struct hunt *h, uint64_t requests)
{
    for (uint32_t i = 0; i < h->points; i++)
        h->open[i] = pythia_search_is_open(h->search, i);
    if (!h->workflow) {
        pythia_trace_builder_destroy(h->r.builder);
        pythia_open_points_destroy(h->r.open);
        assert_int_equal(pythia_search_open_points(h->search, &h->r.open), PYTHIA_OK);
        assert_int_equal(pythia_trace_builder_create(h->r.vocabulary, h->r.open, &h->r.builder),
                         PYTHIA_OK);
    }
    memset(h->hits, 0, (h->points + 64) * sizeof(*h->hits));
    requests_group(&h->r, &(struct pythia_groups_options){.fold = true});
    for (uint64_t i = 0; i < requests; i++) {
        char text[1024];
        uint64_t number = h->number + (h->reversed ? requests - 1 - i : i);
        if (!h->workflow)
            h->write(text, sizeof(text), number);
        const struct pythia_trace *trace =
            h->workflow ? work(h, number, h->open) : show(h, number, text);
        for (size_t k = 0; k < trace->count; k++)
            h->hits[trace->spans[k].tracepoint]++;
        assert_int_equal(pythia_groups_add(h->r.groups, trace), PYTHIA_OK);
    }
    h->number += requests;
    assert_int_equal(pythia_groups_finish(h->r.groups), PYTHIA_OK);
}

static inline void decide(struct hunt *h)
{
    assert_int_equal(pythia_search_cycle(h->search, h->r.groups, h->hits, h->points, &h->cycle),
                     PYTHIA_OK);
    note(h);
}

static inline void cycle(struct hunt *h, uint64_t requests)
{
    see(h, requests);
    decide(h);
}

/* Until it is finished: how many cycles, at most `most`. */
static inline uint64_t run(struct hunt *h, uint64_t requests, uint64_t most)
{
    do
        cycle(h, requests);
    while (!h->cycle.finished && h->cycle.number < most);
    return h->cycle.number;
}

static inline const struct pythia_problem *only_problem(const struct hunt *h)
{
    assert_int_equal(h->cycle.problem_count, 1);
    return &h->cycle.problems[0];
}

static inline uint32_t point(const struct hunt *h, const char *id)
{
    return requests_point(&h->r, id);
}

/* How often a point was opened, or closed; "" is any. */
static inline size_t times(const struct hunt *h, const char *id, bool open)
{
    size_t count = 0;
    for (size_t i = 0; i < h->history_count; i++)
        count += h->history[i].open == open && (!*id || h->history[i].point == point(h, id));
    return count;
}

static inline void assert_reason(const struct hunt *h, const char *id, bool open,
                                 const char *reason)
{
    for (size_t i = h->history_count; i-- > 0;)
        if (h->history[i].point == point(h, id) && h->history[i].open == open) {
            assert_string_equal(h->history[i].reason, reason);
            return;
        }
    fail_msg("%s was never %s", id, open ? "opened" : "closed");
}

static inline void assert_cause(const struct hunt *h, size_t number, const char *place)
{
    struct pythia_buf text = {0};
    const struct pythia_problem *p = only_problem(h);
    assert_true(number < p->cause_count);
    pythia_place_add(&text, h->r.vocabulary, &p->causes[number].place);
    assert_string_equal(text.bytes, place);
    pythia_buf_free(&text);
}

/* No point is opened a second time for a type. */
static inline void assert_opened_once(const struct hunt *h)
{
    for (size_t i = 0; i < h->history_count; i++)
        for (size_t k = 0; k < i; k++)
            if (h->history[i].open && h->history[k].open &&
                h->history[i].point == h->history[k].point &&
                h->history[i].type == h->history[k].type)
                fail_msg("opened in cycle %d and again in cycle %d", (int)h->history[k].cycle,
                         (int)h->history[i].cycle);
}

/* Which planted cause is it that the search names as its cause `number`? SIZE_MAX: none. */
static inline size_t planted(const struct hunt *h, size_t number, size_t causes)
{
    const struct pythia_place *place = &only_problem(h)->causes[number].place;
    for (size_t i = 0; i < causes; i++) {
        struct pythia_planted p;
        pythia_workflow_planted(h->workflow, i, 0, &p);
        if (place->context == pythia_workflow_tracepoint(h->workflow, p.node))
            return i;
    }
    return SIZE_MAX;
}

/* Pins of the points that match; destroyed by the caller. */
static inline struct pythia_open_points *pins(struct hunt *h, const char *id)
{
    struct pythia_open_points *set;
    assert_int_equal(pythia_open_points_create(h->r.vocabulary, &set), PYTHIA_OK);
    assert_int_equal(pythia_open_points_add(set, pythia_text_of(id)), PYTHIA_OK);
    return set;
}

static inline struct pythia_workflow_options bushy(uint64_t seed)
{
    struct pythia_workflow_options o;
    pythia_workflow_options_default(&o);
    o.seed = seed;
    return o;
}

static inline void add_sleep(struct pythia_workflow_options *o)
{
    o->causes[o->cause_count++] = (struct pythia_workflow_cause){PYTHIA_PLANTED_SLEEP, .3, .3, 0};
}

static inline void assert_same_decisions(const struct hunt *a, const struct hunt *b)
{
    assert_int_equal(a->history_count, b->history_count);
    for (size_t i = 0; i < a->history_count; i++) {
        assert_int_equal(a->history[i].cycle, b->history[i].cycle);
        assert_int_equal(a->history[i].point, b->history[i].point);
        assert_int_equal(a->history[i].open, b->history[i].open);
        assert_rel_equal(a->history[i].inside, b->history[i].inside, 0);
        assert_string_equal(a->history[i].reason, b->history[i].reason);
    }
}

#endif
