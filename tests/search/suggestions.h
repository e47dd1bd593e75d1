/* Suggestions on a bench: what is known, what is seen, what is open, and what a strategy makes of
 * it. */
#ifndef SUGGESTIONS_H
#define SUGGESTIONS_H

#include "pythia/strategy.h"
#include "requests.h"

#define PRICE  1000. /* ns */
#define WANTED 16

/* What is known from requests with everything open, the same requests as they are seen with some
 * trace points closed, and what is suggested. */
struct bench {
    struct requests all, seen;
    struct pythia_request_types *types;
    struct pythia_space *space;
    struct pythia_diagnosis *diagnosis;
    struct pythia_suggestion found[WANTED];
    size_t count;
    const char *strategy; /* NULL: hierarchical */
    uint64_t seed, cycle;
    const struct pythia_history *history;
    struct pythia_open_points *never;
    struct pythia_prices *prices;
};

static inline void begin(struct bench *b)
{
    *b = (struct bench){0};
    requests_begin(&b->all);
    b->seen.vocabulary = b->all.vocabulary;
    assert_int_equal(pythia_trace_builder_create(b->all.vocabulary, NULL, &b->seen.builder),
                     PYTHIA_OK);
    requests_group(&b->seen, &(struct pythia_groups_options){.fold = true});
    assert_int_equal(pythia_space_create(b->all.vocabulary, &b->space), PYTHIA_OK);
    assert_int_equal(pythia_request_types_create(
                         b->all.vocabulary, &(struct pythia_request_type_options){0}, &b->types),
                     PYTHIA_OK);
}

static inline void clear(struct bench *b)
{
    for (size_t i = 0; i < b->count; i++)
        pythia_suggestion_clear(&b->found[i]);
    b->count = 0;
}

static inline void end(struct bench *b)
{
    clear(b);
    pythia_diagnosis_destroy(b->diagnosis);
    pythia_space_destroy(b->space);
    pythia_request_types_destroy(b->types);
    b->seen.vocabulary = NULL; /* one for both */
    requests_end(&b->seen);
    requests_end(&b->all);
}

/* What a request is like goes into the search space. */
static inline void profile(struct bench *b, const char *text)
{
    const struct pythia_trace *trace = requests_trace(&b->all, 0, text);
    assert_int_equal(pythia_space_add(b->space, pythia_request_type(b->types, trace), trace,
                                      requests_path(&b->all, trace)),
                     PYTHIA_OK);
}

/* Request `number`, known and seen; each "%d" is how long what varies takes. */
static inline void add(struct bench *b, uint64_t number, const char *format, int ns)
{
    char text[4096] = "";
    size_t size = 0;
    for (const char *at = format; *at; at++)
        if (at[0] == '%' && at[1] == 'd')
            size += (size_t)snprintf(text + size, sizeof(text) - size, "%d", ns), at++;
        else
            text[size++] = *at;
    profile(b, text);
    requests_add_as(&b->seen, number, text);
}

/* 40 requests in which what varies takes 1000, 1100, …, 4900 ns: 2950 on average. */
static inline void add_forty(struct bench *b, const char *format)
{
    uint64_t first = b->seen.count;
    for (uint64_t i = 0; i < 40; i++)
        add(b, first + i, format, 1000 + 100 * (int)i);
}

static inline void diagnose(struct bench *b)
{
    struct pythia_diagnosis_options usual = {.min_cov = .05, .seed = 1};
    size_t count;
    requests_finish(&b->seen, &count);
    assert_int_equal(pythia_diagnose(b->seen.groups, &usual, &b->diagnosis), PYTHIA_OK);
}

static inline const struct pythia_strategy *strategy_of(const struct bench *b)
{
    size_t count;
    const char *name = b->strategy ? b->strategy : "hierarchical";
    const struct pythia_strategy *const *all = pythia_strategies(&count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(all[i]->name, name) == 0)
            return all[i];
    fail_msg("there is no strategy %s", name);
    return NULL;
}

static inline int try_suggest(struct bench *b, size_t budget, struct pythia_buf *missing)
{
    struct pythia_evidence evidence = {.space = b->space,
                                       .groups = b->seen.groups,
                                       .diagnosis = b->diagnosis,
                                       .open = b->seen.open,
                                       .never = b->never,
                                       .price_ns = PRICE,
                                       .prices = b->prices,
                                       .seed = b->seed,
                                       .cycle = b->cycle,
                                       .history = b->history};
    clear(b);
    return pythia_strategy_run(strategy_of(b), &evidence, budget, b->found, &b->count, missing);
}

static inline void suggest(struct bench *b, size_t budget)
{
    if (!b->diagnosis)
        diagnose(b);
    assert_int_equal(try_suggest(b, budget, NULL), PYTHIA_OK);
}

static inline const char *id_of(const struct bench *b, const struct pythia_suggestion *s)
{
    return pythia_vocabulary_tracepoint_id(b->all.vocabulary, s->tracepoint).bytes;
}

static inline const char *edge_of(const struct bench *b, const struct pythia_suggestion *s)
{
    return requests_edge(pythia_groups_cct(b->seen.groups), s->edge);
}

static inline void assert_found(const struct bench *b, size_t i, const char *id, double gain,
                                double calls)
{
    assert_in_range(i, 0, b->count - 1);
    assert_string_equal(id_of(b, &b->found[i]), id);
    assert_rel_equal(b->found[i].gain, gain, 1e-9);
    assert_rel_equal(b->found[i].cost_ns, calls * PRICE, 1e-9);
}

/* The share of an edge of a group, which gains are parts of. */
static inline double share_of(const struct bench *b, size_t group, const char *edge)
{
    const struct pythia_ranking *r = &b->diagnosis->groups[group].ranking;
    for (size_t e = 0; e < r->edge_count; e++)
        if (strcmp(requests_edge(pythia_groups_cct(b->seen.groups), r->edges[e].edge), edge) == 0)
            return r->edges[e].share.share;
    fail_msg("no such edge: %s", edge);
    return NAN;
}

/* ---- spaces by chance, and by hand ---- */

/* A request of a few calls in each other, by chance. */
static inline void put_random(struct pythia_random *random, char *text, size_t room, int depth)
{
    int calls = 1 + (int)pythia_random_below(random, 3);
    for (int i = 0; i < calls; i++) {
        size_t size = strlen(text);
        int ns = (int)pythia_random_below(random, 1000);
        snprintf(text + size, room - size, "%d %c{%d", ns,
                 'B' + (char)pythia_random_below(random, 12), ns * (1 + depth));
        if (depth < 3 && strlen(text) < room / 2)
            put_random(random, text, room, depth + 1);
        size = strlen(text);
        snprintf(text + size, room - size, " %d}", ns / 2);
    }
}

static inline struct pythia_space_type *hand_made(struct bench *b)
{
    return pythia_space_type_make(b->space, requests_string(&b->all, "A"));
}

static inline uint32_t point(struct bench *b, const char *name, int number)
{
    char text[32];
    snprintf(text, sizeof(text), number < 0 ? "%s" : "%s%d", name, number);
    return pythia_vocabulary_tracepoint(b->all.vocabulary, requests_string(&b->all, ""), 0,
                                        requests_string(&b->all, text));
}

static inline void connect(struct pythia_space_type *t, struct pythia_edge edge, uint64_t time_ns)
{
    struct pythia_space_edge *e = pythia_space_edge_make(t, &edge);
    *e = (struct pythia_space_edge){.visits = 1, .time_ns = time_ns};
}

enum { START = PYTHIA_EVENT_START, END = PYTHIA_EVENT_END, AT = PYTHIA_EVENT_ANNOTATION };

/* See requests of A alone, which take 1000 ns and more. */
static inline void see_a(struct bench *b)
{
    requests_open(&b->seen, "A");
    for (int i = 0; i < 40; i++)
        requests_add(&b->seen, "A{%d}", 1000 + 100 * i);
}

#endif
