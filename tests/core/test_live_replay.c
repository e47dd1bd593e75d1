/* The same engine: a stream that was recorded and is replayed gives what it gave live. The stream
 * is a captured OpenStack, record by record as its processes wrote them, or requests of a planted
 * workflow; the replay reads a file, as `pythia replay` does. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "pythia/adapter.h"
#include "pythia/closed_loop.h"
#include "pythia/live.h"
#include "pythia/mem.h"
#include "pythia/random.h"
#include "pythia/report.h"
#include "pythia/status.h"
#include "pythia/workflow.h"

#define CAPTURE    PYTHIA_DATASETS "/openstack/contention.jsonl.zst"
#define SECOND     UINT64_C(1000000000)
#define MANY       ((size_t)1000000000)
#define BODY       200 /* spans */
#define CYCLES_MAX 40

static const char *const left_out[] = {PYTHIA_LEFT_OUT_DEFAULT};
#define GROUPING                                                                                   \
    {                                                                                              \
        .fold = true, .types = {.left_out = left_out, .left_out_count = 1 }                        \
    }
static const struct pythia_groups_options grouping = GROUPING;

/* ---- reports ---- */

/* What a report says of the groups, as text: types, groups, shares, explanations. */
static char *report_of(struct pythia_vocabulary *v, const struct pythia_groups *groups)
{
    struct pythia_diagnosis *d = NULL;
    struct pythia_diagnosis_options how = {.alpha = .05, .seed = 1};
    struct pythia_pipeline_result none = {.files = 0};
    assert_int_equal(pythia_diagnose(groups, &how, &d), PYTHIA_OK);
    struct pythia_report_source source = {
        .input = &none, .vocabulary = v, .groups = groups, .diagnosis = d};
    struct pythia_report *report;
    struct pythia_buf text = {0};
    assert_int_equal(pythia_report_create(&source, 1u << PYTHIA_REPORT_JSON, &report), PYTHIA_OK);
    assert_int_equal(pythia_report_write(report, PYTHIA_REPORT_JSON, NULL, &text), PYTHIA_OK);
    pythia_report_destroy(report);
    pythia_diagnosis_destroy(d);
    return text.bytes;
}

static void assert_same_report(const char *actual, const char *wanted)
{
    size_t at = 0;
    assert_true(actual && wanted);
    while (actual[at] && actual[at] == wanted[at])
        at++;
    if (actual[at] != wanted[at])
        fail_msg("they part after %zu bytes: %.200s\nand\n%.200s", at,
                 actual + (at > 60 ? at - 60 : 0), wanted + (at > 60 ? at - 60 : 0));
    assert_true(at > 10000); /* it does say something */
}

/* ---- a replay ---- */

struct replay {
    struct pythia_vocabulary *vocabulary;
    struct pythia_groups *groups;
    struct pythia_open_points *skeleton; /* for lineages; NULL: not known */
    struct pythia_request_types *types;
    struct pythia_space *space;
    struct pythia_critical_path path;
    struct pythia_pipeline_result result;
};

static int begin_replay(void *context)
{
    struct replay *r = context;
    pythia_groups_destroy(r->groups);
    r->groups = NULL;
    pythia_space_clear(r->space);
    struct pythia_groups_options how = grouping;
    how.skeleton = r->skeleton;
    return pythia_groups_create(r->vocabulary, &how, &r->groups);
}

static int take_replay(void *context, const struct pythia_trace *trace)
{
    struct replay *r = context;
    int status = pythia_critical_path_find(&r->path, trace, grouping.latency);
    if (status == PYTHIA_OK)
        status = pythia_space_add(r->space, pythia_request_type(r->types, trace), trace, &r->path);
    return status == PYTHIA_OK ? pythia_groups_add(r->groups, trace) : status;
}

static void problem(void *context, const struct pythia_error *why)
{
    char text[1024];
    fail_msg("%s", pythia_error_text(why, text, sizeof(text)));
}

static struct pythia_input *input_of(const char *path)
{
    struct pythia_input *input = NULL;
    assert_int_equal(pythia_input_create(&path, 1, false, problem, NULL, &input), PYTHIA_OK);
    return input;
}

/* Read a file with these points open (NULL: all), which are the skeleton. */
static void replay(struct replay *r, struct pythia_vocabulary *v, const char *path,
                   struct pythia_open_points *open)
{
    struct pythia_pipeline_options how = {.threads = 2, .expansion_max = 250, .open = open};
    struct pythia_consumer consumer = {begin_replay, take_replay, r, NULL};
    struct pythia_input *input = input_of(path);
    *r = (struct replay){.vocabulary = v, .skeleton = open};
    assert_int_equal(pythia_space_create(v, &r->space), PYTHIA_OK);
    assert_int_equal(pythia_request_types_create(v, &grouping.types, &r->types), PYTHIA_OK);
    assert_int_equal(pythia_pipeline_run(v, input, &how, &consumer, &r->result), PYTHIA_OK);
    assert_int_equal(pythia_groups_finish(r->groups), PYTHIA_OK);
    pythia_input_destroy(input);
}

static void end_replay(struct replay *r)
{
    pythia_groups_destroy(r->groups);
    pythia_space_destroy(r->space);
    pythia_request_types_destroy(r->types);
    pythia_critical_path_free(&r->path);
}

/* ---- a stream ---- */

/* A span that came, with copies of its attributes. */
struct came {
    struct pythia_trace_id trace;
    struct pythia_span span;
    uint64_t at_ns; /* when whatever it tells of happened */
};

struct recorded {
    struct pythia_sink sink;
    struct pythia_counts counts;
    struct came *spans;
    size_t count, capacity;
};

static int record(struct pythia_sink *sink, const struct pythia_trace_id *trace,
                  const struct pythia_span *span)
{
    struct recorded *r = (struct recorded *)sink;
    assert_int_equal(pythia_grow(&r->spans, &r->capacity, r->count, sizeof(*r->spans)), PYTHIA_OK);
    struct came *to = &r->spans[r->count++];
    *to = (struct came){*trace, *span, span->start_ns};
    if (span->part == PYTHIA_PART_WHOLE)
        to->at_ns += (uint64_t)span->duration_ns;
    to->span.attributes.bytes = pythia_strndup(span->attributes.bytes, span->attributes.size);
    assert_non_null(to->span.attributes.bytes);
    return PYTHIA_OK;
}

static void on_broken(struct pythia_sink *sink, const struct pythia_error *why)
{
    problem(sink, why);
}

static int compare_came(const void *a, const void *b)
{
    const struct came *x = a, *y = b;
    return (x->at_ns > y->at_ns) - (x->at_ns < y->at_ns);
}

/* All spans of a file, in the order in which they happened. */
static void read_stream(struct recorded *r, struct pythia_vocabulary *v, const char *path)
{
    struct pythia_error why = {0};
    struct pythia_input_stream *stream = NULL;
    struct pythia_adapter *adapter = NULL;
    struct pythia_text head;
    struct pythia_input *input = input_of(path);
    size_t count;
    *r = (struct recorded){.sink = {.span = record, .broken = on_broken}};
    r->sink.counts = &r->counts;
    assert_int_equal(pythia_input_open(pythia_input_files(input, &count), 250, NULL, &stream, &why),
                     PYTHIA_OK);
    assert_int_equal(pythia_input_head(stream, &head, &why), PYTHIA_OK);
    const struct pythia_adapter_ops *ops = pythia_adapter_like(head);
    assert_non_null(ops);
    assert_int_equal(ops->create(v, &adapter), PYTHIA_OK);
    assert_int_equal(ops->decode(adapter, pythia_input_source(stream), &r->sink, &why), PYTHIA_OK);
    ops->destroy(adapter);
    pythia_input_close(stream);
    pythia_input_destroy(input);
    qsort(r->spans, r->count, sizeof(*r->spans), compare_came);
}

static void end_stream(struct recorded *r)
{
    for (size_t i = 0; i < r->count; i++) {
        char *bytes;
        memcpy(&bytes, &r->spans[i].span.attributes.bytes, sizeof(bytes));
        pythia_free(bytes);
    }
    pythia_free(r->spans);
}

/* ---- what it gives live ---- */

struct seen {
    struct pythia_vocabulary *vocabulary;
    char *reports[CYCLES_MAX]; /* of each cycle */
    size_t cycles;
};

static int take_report(void *context, const struct pythia_live_cycle *cycle)
{
    struct seen *s = context;
    assert_true(s->cycles < CYCLES_MAX);
    s->reports[s->cycles++] = report_of(s->vocabulary, cycle->groups);
    return PYTHIA_OK;
}

/* Send it all in bodies of some spans, at the time of the last one in each, and end there. */
static struct pythia_live *send(struct seen *s, struct pythia_space *space,
                                const struct pythia_live_options *options, const struct came *spans,
                                size_t count)
{
    struct pythia_live *live = NULL;
    struct pythia_span_batch *batch = NULL;
    uint64_t now_ns = 0;
    assert_int_equal(pythia_live_create(s->vocabulary, space, options,
                                        (struct pythia_live_taker){take_report, s}, &live),
                     PYTHIA_OK);
    assert_int_equal(pythia_span_batch_create(&batch), PYTHIA_OK);
    if (space)
        pythia_live_applied(live, 0, false);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(pythia_span_batch_add(batch, &spans[i].trace, &spans[i].span), PYTHIA_OK);
        now_ns = spans[i].at_ns > now_ns ? spans[i].at_ns : now_ns;
        if (i % BODY == BODY - 1 || i + 1 == count) {
            assert_int_equal(pythia_live_add(live, batch, now_ns), PYTHIA_OK);
            assert_int_equal(pythia_live_tick(live, now_ns), PYTHIA_OK);
            pythia_span_batch_clear(batch);
        }
    }
    assert_int_equal(pythia_live_drain(live), PYTHIA_OK);
    pythia_span_batch_destroy(batch);
    return live;
}

static void end_seen(struct seen *s, struct pythia_live *live)
{
    for (size_t i = 0; i < s->cycles; i++)
        pythia_free(s->reports[i]);
    pythia_live_destroy(live);
}

/* One cycle of all, with whatever is open. */
static const struct pythia_live_options all_at_once = {.groups = GROUPING,
                                                       .cycle_requests = MANY,
                                                       .cycle_ns = 1000000 * SECOND,
                                                       .learn_requests = MANY};

/* ---- a captured OpenStack ---- */

static void with_all_points_open_a_stream_gives_what_its_replay_gives(void **state)
{
    struct pythia_vocabulary *v = NULL;
    struct replay r;
    struct recorded stream;
    assert_int_equal(pythia_vocabulary_create(&v), PYTHIA_OK);
    struct seen s = {.vocabulary = v};
    replay(&r, v, CAPTURE, NULL);
    char *wanted = report_of(v, r.groups);
    read_stream(&stream, v, CAPTURE);
    struct pythia_live *live = send(&s, NULL, &all_at_once, stream.spans, stream.count);
    assert_int_equal(s.cycles, 1);
    assert_same_report(s.reports[0], wanted);
    const struct pythia_counts *c = pythia_live_counts(live);
    assert_int_equal(c->traces, r.result.counts.traces);
    assert_int_equal(c->kept, r.result.counts.kept);
    assert_int_equal(c->dropped[PYTHIA_DROP_LATE], 0);
    end_seen(&s, live);
    end_stream(&stream);
    end_replay(&r);
    pythia_free(wanted);
    pythia_vocabulary_destroy(v);
}

/* With the skeleton open: what a target that cannot be switched sends is hidden. */
static void with_the_skeleton_open_too(void **state)
{
    struct pythia_vocabulary *v = NULL;
    struct replay all, r;
    struct recorded stream;
    struct pythia_open_points *open = NULL;
    assert_int_equal(pythia_vocabulary_create(&v), PYTHIA_OK);
    struct seen s = {.vocabulary = v};
    replay(&all, v, CAPTURE, NULL);
    bool *skeleton = pythia_space_skeleton(all.space);
    assert_non_null(skeleton);
    assert_int_equal(pythia_open_points_create(v, &open), PYTHIA_OK);
    for (uint32_t i = 0; i < pythia_vocabulary_tracepoints(v); i++)
        if (skeleton[i])
            assert_int_equal(pythia_open_points_add(open, pythia_vocabulary_tracepoint_id(v, i)),
                             PYTHIA_OK);
    replay(&r, v, CAPTURE, open);
    char *wanted = report_of(v, r.groups);
    read_stream(&stream, v, CAPTURE);
    struct pythia_live *live = send(&s, all.space, &all_at_once, stream.spans, stream.count);
    assert_int_equal(s.cycles, 1);
    assert_same_report(s.reports[0], wanted);
    assert_int_equal(pythia_live_counts(live)->hidden, r.result.counts.hidden);
    end_seen(&s, live);
    end_stream(&stream);
    end_replay(&r);
    end_replay(&all);
    pythia_free(skeleton);
    pythia_open_points_destroy(open);
    pythia_free(wanted);
    pythia_vocabulary_destroy(v);
}

/* Each span is late by up to 10 s, and each tenth body comes again: the report is the same, byte by
 * byte. */
static void shuffled_and_duplicated_the_stream_gives_the_same(void **state)
{
    struct pythia_vocabulary *v = NULL;
    struct recorded stream;
    struct pythia_random random;
    assert_int_equal(pythia_vocabulary_create(&v), PYTHIA_OK);
    read_stream(&stream, v, CAPTURE);
    struct seen sorted = {.vocabulary = v};
    struct pythia_live *first = send(&sorted, NULL, &all_at_once, stream.spans, stream.count);
    struct came *mixed = calloc(stream.count * 2, sizeof(*mixed));
    assert_non_null(mixed);
    size_t count = 0;
    pythia_random_init(&random, 1);
    for (size_t i = 0; i < stream.count; i++)
        for (int twice = 0; twice < 1 + (i / BODY % 10 == 3); twice++) {
            mixed[count] = stream.spans[i];
            mixed[count++].at_ns += pythia_random_below(&random, 10 * SECOND);
        }
    qsort(mixed, count, sizeof(*mixed), compare_came);
    struct seen s = {.vocabulary = v};
    struct pythia_live_options patient = all_at_once; /* 2 s of quiet tell nothing then */
    patient.window =
        (struct pythia_window_options){.quiet_ns = 20 * SECOND, .rootless_ns = 60 * SECOND};
    struct pythia_live *live = send(&s, NULL, &patient, mixed, count);
    assert_int_equal(s.cycles, 1);
    assert_same_report(s.reports[0], sorted.reports[0]);
    const struct pythia_counts *c = pythia_live_counts(live);
    assert_int_equal(c->kept, pythia_live_counts(first)->kept);
    assert_int_equal(c->dropped[PYTHIA_DROP_LATE], 0);
    assert_true(c->repaired[PYTHIA_REPAIR_DUPLICATE] > 1000);
    assert_int_equal(c->spans, count);
    free(mixed);
    end_seen(&s, live);
    end_seen(&sorted, first);
    end_stream(&stream);
    pythia_vocabulary_destroy(v);
}

/* ---- a planted workflow, cycle by cycle ---- */

struct writer {
    struct pythia_vocabulary *vocabulary;
    FILE *file;
    bool first;
};

static int write_span(void *context, const struct pythia_trace_id *trace,
                      const struct pythia_span *span)
{
    struct writer *w = context;
    const struct pythia_tracepoint *p =
        pythia_vocabulary_tracepoint_at(w->vocabulary, span->tracepoint);
    uint64_t end_ns = span->start_ns + (uint64_t)span->duration_ns;
    fprintf(
        w->file,
        "%s{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":{\"stringValue\":"
        "\"%s\"}}]},\"scopeSpans\":[{\"spans\":[{\"traceId\":\"%016llx%016llx\",\"spanId\":"
        "\"%016llx\",\"parentSpanId\":\"%016llx\",\"name\":\"%s\",\"startTimeUnixNano\":\"%llu\","
        "\"endTimeUnixNano\":\"%llu\"}]}]}",
        w->first ? "" : ",", pythia_vocabulary_text(w->vocabulary, p->service).bytes,
        (unsigned long long)trace->high, (unsigned long long)trace->low,
        (unsigned long long)span->id, (unsigned long long)span->parent,
        pythia_vocabulary_text(w->vocabulary, p->name).bytes, (unsigned long long)span->start_ns,
        (unsigned long long)end_ns);
    w->first = false;
    return 0;
}

/* So many requests of a workflow with a cause, one every 10 s, a line each. */
static void write_workflow(const char *path, uint64_t seed, uint64_t requests)
{
    struct pythia_vocabulary *v = NULL;
    struct pythia_workflow *workflow = NULL;
    struct pythia_error why = {0};
    struct pythia_workflow_options o;
    pythia_workflow_options_default(&o);
    o.nodes = 120;
    o.seed = seed;
    o.interval_ns = 1e10;
    o.distractors = 0;
    o.causes[o.cause_count++] = (struct pythia_workflow_cause){PYTHIA_PLANTED_SLEEP, .3, .3, 0};
    assert_int_equal(pythia_vocabulary_create(&v), PYTHIA_OK);
    assert_int_equal(pythia_workflow_create(v, &o, &workflow, &why), PYTHIA_OK);
    struct writer w = {v, fopen(path, "w"), true};
    assert_non_null(w.file);
    for (uint64_t i = 0; i < requests; i++) {
        w.first = true;
        fprintf(w.file, "{\"resourceSpans\":[");
        assert_int_equal(pythia_workflow_request(workflow, i, NULL, write_span, &w), PYTHIA_OK);
        fprintf(w.file, "]}\n");
    }
    assert_int_equal(fclose(w.file), 0);
    pythia_workflow_destroy(workflow);
    pythia_vocabulary_destroy(v);
}

/* Both loops, and where the live one is. */
struct pair {
    struct pythia_vocabulary *vocabulary;
    const struct pythia_loop *loop;
    const char *leaf;  /* a trace point that nothing is below, whose target obeys; NULL: none */
    char *last_report; /* of the live one, after as many cycles as the other had */
    size_t cycles;
};

static void assert_same_switches(const struct pythia_live_cycle *live, bool open,
                                 const struct pythia_loop_switch *wanted, size_t count)
{
    size_t found = 0;
    for (size_t i = 0; i < live->decisions.switch_count; i++) {
        const struct pythia_switch *s = &live->decisions.switches[i];
        if (s->open != open)
            continue;
        assert_true(found < count);
        assert_int_equal(s->tracepoint, wanted[found].tracepoint);
        assert_string_equal(s->reason, wanted[found].reason);
        found++;
    }
    assert_int_equal(found, count);
}

static int compare_cycle(void *context, const struct pythia_live_cycle *cycle)
{
    struct pair *p = context;
    if (p->cycles == p->loop->cycle_count)
        return PYTHIA_OK;
    const struct pythia_loop_cycle *wanted = &p->loop->cycles[p->cycles++];
    assert_int_equal(cycle->decisions.number, wanted->number);
    assert_int_equal(cycle->requests, wanted->requests);
    assert_int_equal(cycle->under_way, 0);
    assert_int_equal(cycle->spans, wanted->spans_seen);
    assert_same_switches(cycle, true, wanted->opened, wanted->opened_count);
    assert_same_switches(cycle, false, wanted->closed, wanted->closed_count);
    if (p->cycles == p->loop->cycle_count) {
        assert_int_equal(cycle->decisions.finished, p->loop->finished);
        assert_int_equal(cycle->decisions.problem_count, p->loop->problem_count);
        for (size_t i = 0; i < p->loop->problem_count; i++) {
            const struct pythia_problem *x = &cycle->decisions.problems[i],
                                        *y = &p->loop->problems[i];
            assert_int_equal(x->state, y->state);
            assert_int_equal(x->cause_count, y->cause_count);
            assert_memory_equal(&x->causes[0].place, &y->causes[0].place,
                                sizeof(x->causes[0].place));
            assert_rel_equal(x->causes[0].share, y->causes[0].share, 0);
        }
        p->last_report = report_of(p->vocabulary, cycle->groups);
    }
    return PYTHIA_OK;
}

static bool is_closed_leaf(const struct pair *p, const struct pythia_live *live, uint32_t point)
{
    return p->leaf && !pythia_live_is_open(live, point) &&
           strcmp(pythia_vocabulary_tracepoint_id(p->vocabulary, point).bytes, p->leaf) == 0;
}

/* Each request comes when it has ended; a decision is in force before the next one begins. */
static void play_live(struct pair *p, struct pythia_space *space,
                      const struct pythia_closed_loop_options *how, const char *path)
{
    struct recorded stream;
    struct pythia_live *live = NULL;
    struct pythia_span_batch *batch = NULL;
    struct pythia_live_options o = {.groups = how->groups,
                                    .search = how->search,
                                    .window = {.quiet_ns = 1000},
                                    .cycle_requests = how->requests,
                                    .cycle_ns = 1000000 * SECOND,
                                    .learn_requests = MANY};
    read_stream(&stream, p->vocabulary, path);
    assert_int_equal(pythia_live_create(p->vocabulary, space, &o,
                                        (struct pythia_live_taker){compare_cycle, p}, &live),
                     PYTHIA_OK);
    assert_int_equal(pythia_span_batch_create(&batch), PYTHIA_OK);
    pythia_live_applied(live, 0, false);
    for (size_t i = 0; i < stream.count; i++) {
        const struct came *c = &stream.spans[i];
        uint64_t wish = pythia_live_wish(live);
        if (!is_closed_leaf(p, live, c->span.tracepoint))
            assert_int_equal(pythia_span_batch_add(batch, &c->trace, &c->span), PYTHIA_OK);
        if (i + 1 < stream.count && pythia_trace_id_equal(c->trace, stream.spans[i + 1].trace))
            continue;
        assert_int_equal(pythia_live_add(live, batch, c->at_ns), PYTHIA_OK);
        pythia_span_batch_clear(batch);
        assert_int_equal(pythia_live_tick(live, c->at_ns + 1000), PYTHIA_OK);
        assert_int_equal(pythia_live_tick(live, c->at_ns + 4 * SECOND), PYTHIA_OK);
        if (pythia_live_wish(live) != wish)
            pythia_live_applied(live, c->at_ns + 4 * SECOND, false);
    }
    pythia_span_batch_destroy(batch);
    pythia_live_destroy(live);
    end_stream(&stream);
}

/* Play a file in both ways, with the search space that it makes but for one type (NULL: all). */
static void play_both(struct pair *p, const char *path, struct pythia_closed_loop_options *how,
                      const char *without, struct pythia_loop *loop)
{
    struct replay all;
    struct pythia_groups *groups = NULL;
    struct pythia_open_points *open = NULL;
    struct pythia_pipeline_result result;
    assert_int_equal(pythia_vocabulary_create(&p->vocabulary), PYTHIA_OK);
    replay(&all, p->vocabulary, path, NULL);
    if (without)
        pythia_space_remove(all.space,
                            pythia_vocabulary_string(p->vocabulary, pythia_text_of(without)));
    struct pythia_input *input = input_of(path);
    assert_int_equal(
        pythia_closed_loop_run(p->vocabulary, input, all.space, how, loop, &groups, &open, &result),
        PYTHIA_OK);
    p->loop = loop;
    play_live(p, all.space, how, path);
    assert_int_equal(p->cycles, loop->cycle_count);
    char *wanted = report_of(p->vocabulary, groups);
    assert_same_report(p->last_report, wanted);
    pythia_free(wanted);
    pythia_free(p->last_report);
    pythia_groups_destroy(groups);
    pythia_open_points_destroy(open);
    pythia_input_destroy(input);
    end_replay(&all);
}

static void temporary(char *path)
{
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
}

static void cycle_by_cycle_it_decides_as_the_closed_loop_does(void **state)
{
    char path[] = "/tmp/pythia-test-live-XXXXXX";
    temporary(path);
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct pair p = {0};
        struct pythia_loop loop;
        struct pythia_closed_loop_options how = {
            .pipeline = {.threads = 1, .expansion_max = 250},
            .groups = grouping,
            .search = {.budget = {.points_per_cycle = 3}, .price_ns = 1000, .seed = seed},
            .requests = 40};
        write_workflow(path, seed, 600);
        play_both(&p, path, &how, NULL, &loop);
        assert_true(loop.finished && loop.rounds == 1 && loop.cycle_count > 2);
        pythia_loop_free(&loop);
        pythia_vocabulary_destroy(p.vocabulary);
    }
    unlink(path);
}

/* ---- types that are rare, and types that the search space does not know ---- */

#define REQUEST_NS (10 * SECOND)

static void put_span(struct writer *w, uint64_t request, uint64_t id, uint64_t parent,
                     const char *name, uint64_t begin_ns, uint64_t duration_ns)
{
    uint32_t service = pythia_vocabulary_string(w->vocabulary, PYTHIA_TEXT("shop"));
    uint32_t text = pythia_vocabulary_string(w->vocabulary, pythia_text_of(name));
    struct pythia_trace_id trace = {7, request + 1};
    struct pythia_span span = {.id = id,
                               .parent = parent,
                               .start_ns = 1700000000 * SECOND + request * REQUEST_NS + begin_ns,
                               .duration_ns = (int64_t)duration_ns,
                               .tracepoint =
                                   pythia_vocabulary_tracepoint(w->vocabulary, service, 0, text)};
    write_span(w, &trace, &span);
}

/* A request of a type: the root, that calls `called` and, `deep` spans below each other, others of
 * which the last one may take longer. */
static void put_request(struct writer *w, uint64_t request, const char *type, const char *called,
                        int deep, uint64_t more_ms)
{
    uint64_t ms = 1000000, begin_ns = 3 * ms, all_ns = (100 + more_ms) * ms;
    char name[16];
    w->first = true;
    fprintf(w->file, "{\"resourceSpans\":[");
    put_span(w, request, 1, 0, type, 0, all_ns);
    put_span(w, request, 2, 1, called, ms, ms);
    for (int i = 0; i < deep; i++) {
        snprintf(name, sizeof(name), "%s%d", type, i);
        put_span(w, request, 3 + (uint64_t)i, i ? 2 + (uint64_t)i : 1, name, begin_ns,
                 all_ns - 2 * begin_ns);
        begin_ns += ms;
    }
    fprintf(w->file, "]}\n");
}

/* Of ten requests eight are of the type A, one of R, and one of C, which calls what no other does,
 * and what all do. `a_ms`: up to so much longer some of A take. */
static void write_mixture(const char *path, uint64_t requests, uint64_t a_ms)
{
    struct writer w = {.file = fopen(path, "w")};
    struct pythia_random random;
    pythia_random_init(&random, 3);
    assert_non_null(w.file);
    assert_int_equal(pythia_vocabulary_create(&w.vocabulary), PYTHIA_OK);
    for (uint64_t i = 0; i < requests; i++)
        if (i % 10 == 3)
            put_request(&w, i, "R", "B", 2, pythia_random_below(&random, 400));
        else if (i % 10 == 5)
            put_request(&w, i, "C", "B", 3, pythia_random_below(&random, 300));
        else
            put_request(&w, i, "A", "B", 8, a_ms ? pythia_random_below(&random, a_ms) : 0);
    assert_int_equal(fclose(w.file), 0);
    pythia_vocabulary_destroy(w.vocabulary);
}

static const struct pythia_closed_loop_options of_mixture = {
    .pipeline = {.threads = 1, .expansion_max = 250},
    .groups = GROUPING,
    .search = {.budget = {.points_per_cycle = 1}, .price_ns = 1000, .seed = 1},
    .requests = 40};

static const struct pythia_problem *problem_of(const struct pair *p, const char *type)
{
    for (size_t i = 0; i < p->loop->problem_count; i++)
        if (strcmp(pythia_vocabulary_text(p->vocabulary, p->loop->problems[i].type).bytes, type) ==
            0)
            return &p->loop->problems[i];
    fail();
    return NULL;
}

/* A cycle has five of R: in the sixth they are 30, and the search of it begins. */
static void a_rare_type_is_searched_in_a_replay_as_it_is_live(void **state)
{
    static const uint64_t a_ms[] = {0, 200};
    char path[] = "/tmp/pythia-test-live-XXXXXX";
    temporary(path);
    for (size_t i = 0; i < 2; i++) {
        struct pair p = {0};
        struct pythia_loop loop;
        struct pythia_closed_loop_options how = of_mixture;
        write_mixture(path, 2000, a_ms[i]);
        play_both(&p, path, &how, NULL, &loop);
        assert_true(loop.finished && loop.rounds == 1);
        assert_int_equal(problem_of(&p, "shop:R")->state, PYTHIA_PROBLEM_DONE);
        assert_int_equal(problem_of(&p, "shop:R")->cause_count, 1);
        if (i == 0) /* nothing is switched until then */
            for (size_t k = 0; k < 6; k++)
                assert_int_equal(loop.cycles[k].opened_count, k == 5);
        pythia_loop_free(&loop);
        pythia_vocabulary_destroy(p.vocabulary);
    }
    unlink(path);
}

/* C0 to C2 are of no type that the space knows, so that nothing closes them; B is closed, and its
 * target obeys. */
static void what_the_search_space_does_not_know_is_seen_in_a_replay_as_it_is_live(void **state)
{
    char path[] = "/tmp/pythia-test-live-XXXXXX";
    struct pair p = {.leaf = "shop:B"};
    struct pythia_loop loop;
    struct pythia_closed_loop_options how = of_mixture;
    how.cycles = 1;
    temporary(path);
    write_mixture(path, 400, 0);
    play_both(&p, path, &how, "shop:C", &loop);
    assert_int_equal(problem_of(&p, "shop:C")->state, PYTHIA_PROBLEM_UNKNOWN);
    /* of 40 A and 5 R the roots; of 5 C four spans */
    assert_int_equal(loop.cycles[0].requests, 50);
    assert_int_equal(loop.cycles[0].spans_seen, 40 + 5 + 5 * 4);
    pythia_loop_free(&loop);
    pythia_vocabulary_destroy(p.vocabulary);
    unlink(path);
}

/* A request that is played again is one request: of R there are never enough. */
static void requests_that_are_played_again_are_no_more_of_a_rare_type(void **state)
{
    char path[] = "/tmp/pythia-test-live-XXXXXX";
    struct replay all;
    struct pythia_loop loop;
    struct pythia_vocabulary *v = NULL;
    struct pythia_groups *groups = NULL;
    struct pythia_open_points *open = NULL;
    struct pythia_pipeline_result result;
    struct pythia_closed_loop_options how = of_mixture;
    temporary(path);
    write_mixture(path, 80, 200); /* 8 of R */
    assert_int_equal(pythia_vocabulary_create(&v), PYTHIA_OK);
    replay(&all, v, path, NULL);
    struct pythia_input *input = input_of(path);
    assert_int_equal(
        pythia_closed_loop_run(v, input, all.space, &how, &loop, &groups, &open, &result),
        PYTHIA_OK);
    struct pair p = {.vocabulary = v, .loop = &loop};
    assert_true(loop.finished && loop.rounds > 1);
    assert_int_equal(problem_of(&p, "shop:A")->state, PYTHIA_PROBLEM_DONE);
    assert_int_equal(problem_of(&p, "shop:R")->state, PYTHIA_PROBLEM_TOO_FEW);
    assert_in_range(problem_of(&p, "shop:R")->requests, 3, 8);
    pythia_loop_free(&loop);
    pythia_groups_destroy(groups);
    pythia_open_points_destroy(open);
    pythia_input_destroy(input);
    end_replay(&all);
    pythia_vocabulary_destroy(v);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_all_points_open_a_stream_gives_what_its_replay_gives),
        cmocka_unit_test(with_the_skeleton_open_too),
        cmocka_unit_test(shuffled_and_duplicated_the_stream_gives_the_same),
        cmocka_unit_test(cycle_by_cycle_it_decides_as_the_closed_loop_does),
        cmocka_unit_test(a_rare_type_is_searched_in_a_replay_as_it_is_live),
        cmocka_unit_test(what_the_search_space_does_not_know_is_seen_in_a_replay_as_it_is_live),
        cmocka_unit_test(requests_that_are_played_again_are_no_more_of_a_rare_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
