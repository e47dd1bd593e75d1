/* What an assembler does is tested with it: here are time, the marks, and what is counted. Time is
 * in milliseconds. */
#include <malloc.h>

#include "check.h"
#include "pythia/attributes.h"
#include "pythia/mem.h"
#include "pythia/window.h"
#include "trace/trace_text.h"

#define MS UINT64_C(1000000)

struct stream {
    struct pythia_vocabulary *vocabulary;
    struct pythia_window *window;
    struct pythia_counts counts;
    char out[16384];
    size_t size, taken;
    bool silent; /* what was taken is not written down */
    int answer;
};

static int take(void *context, const struct pythia_trace *trace)
{
    struct stream *s = context;
    char name[9];
    s->taken++;
    if (!s->silent) {
        struct trace_writer w = {s->out, sizeof(s->out), s->size, trace, NULL};
        put(&w, "%s%s: ", s->size ? " " : "", name_of_id(trace->id.low, name));
        put_tree(&w, trace->first_root);
        s->size = w.size;
    }
    return s->answer;
}

static void begin(struct stream *s, const struct pythia_window_options *options)
{
    *s = (struct stream){.size = 0};
    assert_int_equal(pythia_vocabulary_create(&s->vocabulary), PYTHIA_OK);
    assert_int_equal(
        pythia_window_create(s->vocabulary, options ? options : &(struct pythia_window_options){0},
                             (struct pythia_trace_taker){take, s}, &s->counts, &s->window),
        PYTHIA_OK);
}

static void end(struct stream *s)
{
    pythia_window_destroy(s->window);
    pythia_vocabulary_destroy(s->vocabulary);
}

static void add(struct stream *s, uint64_t ms, const char *trace, const char *text)
{
    static struct trace_part parts[TRACE_TEXT_PARTS];
    struct pythia_trace_id id = trace_id_of_name(trace, strlen(trace));
    size_t count = read_parts(text, parts);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(
            pythia_window_add(s->window, &id, name_part(&parts[i], s->vocabulary), ms * MS),
            PYTHIA_OK);
    free_parts(parts, count);
}

/* What is finished at that time. */
static const char *at(struct stream *s, uint64_t ms)
{
    s->size = 0;
    s->out[0] = '\0';
    assert_int_equal(pythia_window_tick(s->window, ms * MS), PYTHIA_OK);
    return s->out;
}

static struct pythia_window_numbers numbers(const struct stream *s)
{
    return pythia_window_numbers(s->window);
}

/* ---- time ---- */

static void a_request_is_finished_2_s_after_its_last_span(void **state)
{
    struct stream s;
    begin(&s, NULL);
    add(&s, 1000, "t", "A[0,1000] B[10,110]<A");
    assert_string_equal(at(&s, 2999), "");
    add(&s, 2999, "t", "C[20,30]<A");
    assert_string_equal(at(&s, 4998), "");
    assert_int_equal(numbers(&s).open_traces, 1);
    assert_int_equal(numbers(&s).open_spans, 3);
    assert_string_equal(at(&s, 4999), "t: A[0,1000]{B[10,110] C[20,30]}");
    assert_int_equal(numbers(&s).open_traces, 0);
    assert_int_equal(numbers(&s).finished, 1);
    assert_int_equal(numbers(&s).finished_rootless, 0);
    end(&s);
}

static void one_that_is_not_whole_after_10_s(void **state)
{
    struct stream s;
    begin(&s, NULL);
    add(&s, 0, "t", "B[10,110]<A");
    add(&s, 0, "v", "A[0,1000] C[20,30]<B");
    assert_string_equal(at(&s, 9999), "");
    assert_string_equal(at(&s, 10000), "t: B[10,110]:orphan v: A[0,1000]{C[20,30]:orphan}");
    assert_int_equal(numbers(&s).finished, 2);
    assert_int_equal(numbers(&s).finished_rootless, 2);
    end(&s);
}

/* A server build that waits for a lock for a minute says nothing meanwhile. */
static void one_in_which_something_runs_when_that_has_ended(void **state)
{
    struct stream s;
    begin(&s, NULL);
    add(&s, 0, "t", "A[0,1000] B[10,?]<A");
    add(&s, 0, "u", "A[0,?]");
    assert_string_equal(at(&s, 60000), "");
    add(&s, 60000, "t", "/B[60000]<A");
    assert_string_equal(at(&s, 62000), "t: A[0,1000..60000]{B[10,60000]}");
    assert_string_equal(at(&s, 119999), "");
    assert_string_equal(at(&s, 120000), "u: A[0]:unfinished");
    assert_int_equal(numbers(&s).finished_by_age, 1);
    assert_int_equal(numbers(&s).finished_rootless, 0);
    end(&s);
}

static void one_that_never_rests_after_120_s(void **state)
{
    struct stream s;
    begin(&s, NULL);
    add(&s, 0, "t", "A[0,1000]");
    for (uint64_t ms = 1000; ms < 120000; ms += 1000) {
        char part[32];
        snprintf(part, sizeof(part), "N%d[%d]<A", (int)ms, (int)(ms / 1000));
        add(&s, ms, "t", part);
        assert_string_equal(at(&s, ms), "");
    }
    assert_string_equal(at(&s, 119999), "");
    s.silent = true;
    at(&s, 120000);
    assert_int_equal(s.taken, 1);
    assert_int_equal(numbers(&s).finished_by_age, 1);
    assert_int_equal(s.counts.kept, 120);
    end(&s);
}

static void times_are_settings(void **state)
{
    struct stream s;
    begin(&s, &(struct pythia_window_options){
                  .quiet_ns = 5 * MS, .rootless_ns = 7 * MS, .age_max_ns = 20 * MS});
    add(&s, 100, "t", "A[0,1000]");
    add(&s, 100, "u", "B[10,110]<A");
    assert_string_equal(at(&s, 104), "");
    assert_string_equal(at(&s, 105), "t: A[0,1000]");
    assert_string_equal(at(&s, 106), "");
    assert_string_equal(at(&s, 107), "u: B[10,110]:orphan");
    for (uint64_t ms = 200; ms < 220; ms += 2)
        add(&s, ms, "v", "A[0,1000]");
    assert_string_equal(at(&s, 219), "");
    assert_string_equal(at(&s, 220), "v: A[0,1000]:duplicate");
    end(&s);
}

static void the_end_finishes_all(void **state)
{
    struct stream s;
    begin(&s, NULL);
    add(&s, 0, "t", "A[0,1000]");
    add(&s, 0, "u", "B[10,110]<A");
    assert_int_equal(pythia_window_drain(s.window), PYTHIA_OK);
    assert_int_equal(s.taken, 2);
    assert_int_equal(numbers(&s).finished, 2);
    assert_int_equal(numbers(&s).open_traces, 0);
    end(&s);
    pythia_window_destroy(NULL);
}

/* ---- what comes twice, or late ---- */

/* A client that got no answer sends its batch again: the request is the same as without that. */
static void a_batch_that_comes_twice_counts_once(void **state)
{
    static const char batch[] = "A[0,?] B[10,110]<A:{x} /A[1000] N[5]<A";
    struct stream s;
    begin(&s, NULL);
    add(&s, 0, "t", batch);
    add(&s, 0, "u", batch);
    add(&s, 900, "t", batch);
    assert_string_equal(at(&s, 2000), "u: A[0,1000]{N[5] B[10,110]:{x}}");
    assert_string_equal(at(&s, 2900),
                        "t: A[0,1000]:duplicate{N[5]:duplicate B[10,110]:{x}:duplicate}");
    add(&s, 3000, "u", batch); /* and after the request was finished */
    assert_string_equal(at(&s, 60000), "");
    assert_int_equal(s.taken, 2);
    assert_int_equal(s.counts.kept, 6);
    assert_int_equal(s.counts.dropped[PYTHIA_DROP_LATE], 4);
    assert_int_equal(s.counts.repaired[PYTHIA_REPAIR_DUPLICATE], 3);
    end(&s);
}

/* Of the request that was waited for in vain the rest comes at last. */
static void the_other_half_of_a_request_is_late(void **state)
{
    struct stream s;
    begin(&s, NULL);
    add(&s, 0, "t", "B[10,110]<A C[20,30]<B");
    assert_string_equal(at(&s, 10000), "t: B[10,110]:orphan{C[20,30]}");
    add(&s, 10001, "t", "A[0,1000] D[20,30]<A");
    assert_string_equal(at(&s, 60000), "");
    assert_int_equal(s.counts.dropped[PYTHIA_DROP_LATE], 2);
    end(&s);
}

/* Late is told as long as the id is remembered: here of the last 3, at least. */
static void ids_of_finished_requests_are_remembered_for_a_while(void **state)
{
    struct stream s;
    begin(&s, &(struct pythia_window_options){.remembered = 3});
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    for (uint64_t i = 0; i < 8; i++) {
        add(&s, i * 3000, names[i], "A[0,1000]");
        at(&s, i * 3000 + 2000);
    }
    for (int i = 7; i >= 5; i--)
        add(&s, 24000, names[i], "B[1,2]<A");
    assert_int_equal(s.counts.dropped[PYTHIA_DROP_LATE], 3);
    add(&s, 24000, "a", "B[1,2]<A");
    assert_int_equal(s.counts.dropped[PYTHIA_DROP_LATE], 3);
    assert_string_equal(at(&s, 34000), "a: B[1,2]:orphan");
    end(&s);
}

/* ---- sizes ---- */

static void a_request_of_n_spans_is_finished_and_n_plus_1_is_too_much(void **state)
{
    enum { MOST = 1000 };
    struct stream s;
    begin(&s, &(struct pythia_window_options){.spans_max = MOST});
    struct pythia_trace_id id = {1, 2};
    uint32_t point = pythia_vocabulary_tracepoint(s.vocabulary, 0, 0, intern(s.vocabulary, "p"));
    struct pythia_span span = {.tracepoint = point};
    s.silent = true;
    for (span.id = 1; span.id < MOST; span.id++)
        assert_int_equal(pythia_window_add(s.window, &id, &span, 0), PYTHIA_OK);
    assert_int_equal(s.taken, 0);
    assert_int_equal(numbers(&s).open_spans, MOST - 1);
    assert_int_equal(pythia_window_add(s.window, &id, &span, 0), PYTHIA_OK);
    assert_int_equal(s.taken, 1);
    assert_int_equal(numbers(&s).finished_by_size, 1);
    assert_int_equal(numbers(&s).oversize_spans, 0);
    span.id++;
    assert_int_equal(pythia_window_add(s.window, &id, &span, 0), PYTHIA_OK);
    assert_int_equal(numbers(&s).oversize_spans, 1);
    assert_int_equal(s.counts.dropped[PYTHIA_DROP_LATE], 0);
    assert_int_equal(numbers(&s).open_traces, 0);
    end(&s);
}

/* Add spans of requests of one type, of ten spans each, until a condition holds. */
struct load {
    uint64_t request, spans;
    uint32_t point;
};

static int add_span(struct stream *s, struct load *l)
{
    struct pythia_trace_id id = {l->point + 1, l->request};
    struct pythia_span span = {.id = l->spans % 10 + 1,
                               .parent = l->spans % 10,
                               .start_ns = 1,
                               .duration_ns = 100,
                               .tracepoint = l->point};
    if (++l->spans % 10 == 0)
        l->request++;
    return pythia_window_add(s->window, &id, &span, 0);
}

static uint32_t point_of(struct stream *s, const char *name)
{
    return pythia_vocabulary_tracepoint(s->vocabulary, 0, 0, intern(s->vocabulary, name));
}

/* The mark is N: with N - 1 and N bytes there is room, with N + 1 there is not. */
static void above_the_soft_mark_it_is_full(void **state)
{
    struct stream s;
    uint64_t held = 0;
    begin(&s, NULL);
    struct load first = {.point = point_of(&s, "p")};
    for (int i = 0; i < 995; i++)
        assert_int_equal(add_span(&s, &first), PYTHIA_OK);
    held = numbers(&s).bytes;
    assert_false(pythia_window_is_full(s.window));
    end(&s);
    for (uint64_t mark = held - 1; mark <= held + 1; mark++) {
        begin(&s, &(struct pythia_window_options){.soft_bytes = mark});
        struct load load = {.point = point_of(&s, "p")};
        for (int i = 0; i < 995; i++)
            assert_int_equal(add_span(&s, &load), PYTHIA_OK);
        assert_int_equal(numbers(&s).bytes, held);
        assert_int_equal(pythia_window_is_full(s.window), mark == held - 1);
        assert_int_equal(numbers(&s).shed_spans, 0); /* whoever is told sheds nothing */
        end(&s);
    }
}

/* What the owner retains counts for both marks, up to half of the soft one. */
static void what_is_held_elsewhere_counts(void **state)
{
    struct stream s;
    begin(&s, &(struct pythia_window_options){.soft_bytes = 600000, .hard_bytes = 1000000});
    struct load load = {.point = point_of(&s, "p")};
    s.silent = true;
    while (numbers(&s).bytes < 400000)
        assert_int_equal(add_span(&s, &load), PYTHIA_OK);
    assert_false(pythia_window_is_full(s.window));
    pythia_window_hold(s.window, 600000 - numbers(&s).bytes);
    assert_false(pythia_window_is_full(s.window));
    pythia_window_hold(s.window, 600000 - numbers(&s).bytes + 1);
    assert_true(pythia_window_is_full(s.window));
    pythia_window_hold(s.window, 250000);
    for (int i = 0; i < 20000; i++) {
        assert_int_equal(add_span(&s, &load), PYTHIA_OK);
        assert_true(numbers(&s).bytes <= 750000);
    }
    assert_true(numbers(&s).shed_spans > 0);
    pythia_window_hold(s.window, UINT64_MAX);
    assert_int_equal(add_span(&s, &load), PYTHIA_OK);
    assert_in_range(numbers(&s).bytes, 480000, 700000); /* requests still have half of it */
    pythia_window_hold(s.window, 0);
    end(&s);
}

static void above_the_hard_mark_requests_are_shed(void **state)
{
    struct stream s;
    uint64_t before = 0;
    begin(&s, &(struct pythia_window_options){.soft_bytes = 600000, .hard_bytes = 1000000});
    struct load load = {.point = point_of(&s, "p")};
    s.silent = true;
    for (int shed = 0; shed < 5;) {
        uint64_t gone = numbers(&s).shed_traces;
        before = numbers(&s).bytes;
        assert_int_equal(add_span(&s, &load), PYTHIA_OK);
        assert_true(numbers(&s).bytes <= 1000000);
        if (numbers(&s).shed_traces == gone)
            continue;
        shed++;
        assert_true(before > 900000); /* not before it has to be: tables grow by doubling */
        assert_in_range(numbers(&s).bytes, 790000, 800000); /* halfway to the soft mark */
        assert_true(pythia_window_is_full(s.window));
    }
    assert_int_equal(s.counts.spans, load.spans);
    assert_int_equal(numbers(&s).open_spans + numbers(&s).shed_spans, load.spans);
    assert_int_equal(pythia_window_drain(s.window), PYTHIA_OK);
    assert_int_equal(s.counts.kept + numbers(&s).shed_spans, load.spans);
    assert_int_equal(s.taken + numbers(&s).shed_traces, (load.spans + 9) / 10);
    assert_false(pythia_window_is_full(s.window));
    end(&s);
}

/* A flood of one type among others that are few: of those nothing is lost, whenever they come. */
static void a_flood_of_one_type_does_not_starve_the_others(void **state)
{
    enum { OTHERS = 20, EACH = 5 };
    struct stream s;
    struct load flood = {0}, others[OTHERS] = {{0}};
    begin(&s, &(struct pythia_window_options){.soft_bytes = 1500000, .hard_bytes = 2000000});
    flood.point = point_of(&s, "flood");
    s.silent = true;
    for (int i = 0; i < OTHERS; i++) {
        char name[8];
        snprintf(name, sizeof(name), "p%d", i);
        others[i].point = point_of(&s, name);
    }
    for (int round = 0; round < OTHERS * EACH; round++) {
        for (int i = 0; i < 5000; i++)
            assert_int_equal(add_span(&s, &flood), PYTHIA_OK);
        for (int i = 0; i < 10; i++)
            assert_int_equal(add_span(&s, &others[round % OTHERS]), PYTHIA_OK);
    }
    uint64_t shed = numbers(&s).shed_traces;
    assert_in_range(shed, 30000, 50000);
    s.taken = 0;
    assert_int_equal(pythia_window_drain(s.window), PYTHIA_OK);
    assert_int_equal(s.taken, flood.request + (uint64_t)OTHERS * EACH - shed);
    for (int i = 0; i < OTHERS; i++) { /* they are finished and not shed: a further span is late */
        uint64_t late = s.counts.dropped[PYTHIA_DROP_LATE];
        struct pythia_trace_id id = {others[i].point + 1, EACH - 1};
        struct pythia_span span = {.id = 99, .tracepoint = others[i].point};
        assert_int_equal(pythia_window_add(s.window, &id, &span, 0), PYTHIA_OK);
        assert_int_equal(s.counts.dropped[PYTHIA_DROP_LATE], late + 1);
    }
    end(&s);
}

/* Bytes of the heap that are in use; 0 where a sanitizer has taken its place. */
static size_t heap_in_use(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

/* Of a stream that never ends, with requests of all sizes, more than there is room for, the heap
 * never gives more than a tenth above the hard mark. */
static void whatever_comes_the_heap_stays_below_the_hard_mark(void **state)
{
    enum { HARD = 4000000, STEPS = 400000 };
    struct stream s;
    struct pythia_random r;
    size_t most = 0;
    static char text[4000];
    struct pythia_buf attributes = {0};
    if (heap_in_use() == 0)
        skip();
    begin(&s, &(struct pythia_window_options){.soft_bytes = HARD / 2,
                                              .hard_bytes = HARD,
                                              .spans_max = 1000,
                                              .remembered = 10000,
                                              .quiet_ns = 30000,
                                              .rootless_ns = 60000,
                                              .age_max_ns = 200000});
    s.silent = true;
    pythia_random_init(&r, 4);
    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = (char)pythia_random_below(&r, 256);
    uint32_t points[50];
    for (int i = 0; i < 50; i++) {
        char name[8];
        snprintf(name, sizeof(name), "p%d", i);
        points[i] = point_of(&s, name);
    }
    size_t before = heap_in_use(); /* with the empty window, which is small */
    for (uint64_t step = 1; step <= STEPS; step++) {
        uint64_t low = step / 40 + pythia_random_below(&r, 1000);
        bool steady = step % 3001 == 0; /* one that never rests */
        struct pythia_trace_id id = {low % 3, low % 5 ? low : low / 1000};
        if (steady)
            id = (struct pythia_trace_id){7, step / 250000};
        size_t size = step % 100 ? step % 200 : 2000;
        pythia_buf_clear(&attributes); /* no two texts begin alike */
        pythia_attributes_text(&attributes, 0, (struct pythia_text){text + step % 2000, size});
        struct pythia_span span = {.id = step,
                                   .parent = pythia_random_below(&r, 3) ? step - 1 : 0,
                                   .tracepoint = points[steady ? 49 : low % 49],
                                   .attributes = pythia_buf_text(&attributes)};
        assert_int_equal(pythia_window_add(s.window, &id, &span, step), PYTHIA_OK);
        if (step % 100 == 0) {
            assert_int_equal(pythia_window_tick(s.window, step), PYTHIA_OK);
            assert_true(numbers(&s).bytes <= HARD);
        }
        if (step % 1000 == 0) {
            size_t heap = heap_in_use() - before;
            most = heap > most ? heap : most;
        }
    }
    if (most > HARD + HARD / 10)
        fail_msg("the heap gave %zu bytes", most);
    struct pythia_window_numbers n = numbers(&s);
    assert_true(n.shed_traces > 100 && n.finished > 100 && n.finished_by_size > 0 &&
                n.finished_by_age > 0 && n.finished_rootless > 0);
    assert_int_equal(pythia_window_drain(s.window), PYTHIA_OK);
    uint64_t dropped = 0; /* each span is somewhere */
    for (int i = 0; i < PYTHIA_DROPS; i++)
        dropped += s.counts.dropped[i];
    assert_int_equal(s.counts.spans, STEPS);
    assert_int_equal(s.counts.kept + dropped, STEPS);
    pythia_buf_free(&attributes);
    end(&s);
}

/* ---- the rest ---- */

static void what_is_open_began_when_its_first_span_did(void **state)
{
    struct stream s;
    begin(&s, NULL);
    assert_false(pythia_window_began_by(s.window, UINT64_MAX - 1));
    add(&s, 0, "t", "B[10,110]<A");
    add(&s, 1000, "u", "A[20,1000]");
    assert_true(pythia_window_began_by(s.window, TRACE_TEXT_BEGIN + 10));
    assert_false(pythia_window_began_by(s.window, TRACE_TEXT_BEGIN + 9));
    add(&s, 1000, "t", "A[5,1000]");
    assert_true(pythia_window_began_by(s.window, TRACE_TEXT_BEGIN + 5));
    assert_false(pythia_window_began_by(s.window, TRACE_TEXT_BEGIN + 4));
    at(&s, 3000);
    assert_false(pythia_window_began_by(s.window, UINT64_MAX - 1));
    end(&s);
}

static void what_the_taker_says_comes_back(void **state)
{
    struct stream s;
    begin(&s, &(struct pythia_window_options){.spans_max = 2});
    s.answer = PYTHIA_ESTOPPED;
    add(&s, 0, "t", "A[0,9]");
    add(&s, 0, "u", "A[0,9]");
    add(&s, 0, "v", "A[0,9]");
    assert_int_equal(pythia_window_tick(s.window, 1999 * MS), PYTHIA_OK);
    assert_int_equal(pythia_window_tick(s.window, 2000 * MS), PYTHIA_ESTOPPED);
    assert_int_equal(pythia_window_drain(s.window), PYTHIA_ESTOPPED);
    struct pythia_trace_id id = trace_id_of_name("v", 1);
    struct pythia_span span = {.id = 1, .tracepoint = 0};
    assert_int_equal(pythia_window_add(s.window, &id, &span, 2000 * MS), PYTHIA_ESTOPPED);
    end(&s);
}

/* A whole life, cut short by the first failure; what was left out is counted. */
static int live(struct stream *s, struct trace_part *parts, size_t count)
{
    struct pythia_window_options options = {.soft_bytes = 40000,
                                            .hard_bytes = 60000,
                                            .spans_max = 40,
                                            .remembered = 64,
                                            .quiet_ns = 5,
                                            .rootless_ns = 10};
    int status = pythia_window_create(s->vocabulary, &options, (struct pythia_trace_taker){take, s},
                                      &s->counts, &s->window);
    for (uint64_t i = 0; i < 300 && status == PYTHIA_OK; i++) {
        struct pythia_trace_id id = {5, i / 3};
        for (size_t k = 0; k < count && status == PYTHIA_OK; k++) {
            parts[k].span.id += (i % 3) << 8;
            status = pythia_window_add(s->window, &id, &parts[k].span, i / 10);
            parts[k].span.id -= (i % 3) << 8;
        }
        if (i % 50 == 49 && status == PYTHIA_OK)
            status = pythia_window_tick(s->window, i / 10);
    }
    return status;
}

static void each_failed_allocation_is_reported_and_harmless(void **state)
{
    static struct trace_part parts[TRACE_TEXT_PARTS];
    struct pythia_vocabulary *v = NULL;
    struct stream s;
    size_t count = read_parts("A[0,1000]:{some_text} &K[100]<A W[450,800]<A&K B[10,20]<A:{more} "
                              "C[1,2]<A D[1,2]<B E[1,2]<C F[1,2]<C G[1,2]<C H[1,2]<X",
                              parts);
    assert_int_equal(pythia_vocabulary_create(&v), PYTHIA_OK);
    for (size_t i = 0; i < count; i++)
        name_part(&parts[i], v);
    long failures = 0;
    for (int status = PYTHIA_ENOMEM; status != PYTHIA_OK; failures += failures < 60 ? 1 : 5) {
        s = (struct stream){.vocabulary = v, .silent = true};
        pythia_mem_fail_after(failures);
        status = live(&s, parts, count);
        pythia_mem_fail_after(-1);
        assert_true(status == PYTHIA_OK || status == PYTHIA_ENOMEM);
        if (s.window) /* it can still be used */
            assert_int_equal(pythia_window_drain(s.window), PYTHIA_OK);
        pythia_window_destroy(s.window);
    }
    assert_true(failures > 100);
    assert_true(s.counts.dropped[PYTHIA_DROP_SHED] > 0); /* in the end, when nothing failed */
    free_parts(parts, count);
    pythia_vocabulary_destroy(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_is_finished_2_s_after_its_last_span),
        cmocka_unit_test(one_that_is_not_whole_after_10_s),
        cmocka_unit_test(one_in_which_something_runs_when_that_has_ended),
        cmocka_unit_test(one_that_never_rests_after_120_s),
        cmocka_unit_test(times_are_settings),
        cmocka_unit_test(the_end_finishes_all),
        cmocka_unit_test(a_batch_that_comes_twice_counts_once),
        cmocka_unit_test(the_other_half_of_a_request_is_late),
        cmocka_unit_test(ids_of_finished_requests_are_remembered_for_a_while),
        cmocka_unit_test(a_request_of_n_spans_is_finished_and_n_plus_1_is_too_much),
        cmocka_unit_test(above_the_soft_mark_it_is_full),
        cmocka_unit_test(what_is_held_elsewhere_counts),
        cmocka_unit_test(above_the_hard_mark_requests_are_shed),
        cmocka_unit_test(a_flood_of_one_type_does_not_starve_the_others),
        cmocka_unit_test(whatever_comes_the_heap_stays_below_the_hard_mark),
        cmocka_unit_test(what_is_open_began_when_its_first_span_did),
        cmocka_unit_test(what_the_taker_says_comes_back),
        cmocka_unit_test(each_failed_allocation_is_reported_and_harmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
