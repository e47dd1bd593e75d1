/* What each stage of instrumentation adds to requests that go through three services, each of which
 * works for 50 us:
 *
 *     1     trace context is passed on, nothing is recorded
 *     2     spans of client and server, with key-values; durations into the collector
 *     full  and variables, of the process and of requests
 *
 * The services are functions of one process, and each call goes through the headers of W3C trace
 * context. Measured is CPU time, in short turns, one stage after the other: others on the machine,
 * and the clock rate of its processor, weigh on all alike. The rings are read between turns, as
 * another process would do. */
#define _GNU_SOURCE
#include <pythia/collector.h>
#include <pythia/variable.h>
#include <time.h>

#include "collected.h"
#include "timed.h"

#define REQUESTS 24 /* of a turn */
#define TURNS    400
#define WORK_NS  50000
#ifdef __OPTIMIZE__
#define MOST 2 /* percent */
#else
#define MOST 5 /* the library as nobody would ship it */
#endif

enum stage { BASELINE, CONTEXT, SPANS, FULL, STAGES };

static uint64_t loops; /* that take 50 us */
static volatile uint64_t result;
static long waiting;
static int tries;

static uint64_t cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void work(void)
{
    uint64_t x = result | 1;
    for (uint64_t i = 0; i < loops; i++)
        x = x * UINT64_C(6364136223846793005) + 1442695040888963407;
    result = x;
}

static void calibrate(void)
{
    uint64_t least = UINT64_MAX;
    loops = 100000;
    for (int i = 0; i < 20; i++) {
        uint64_t begun = cpu_ns();
        work();
        uint64_t took = cpu_ns() - begun;
        least = took < least ? took : least;
    }
    loops = loops * WORK_NS / least + 1;
}

struct headers {
    char parent[PYTHIA_TRACEPARENT_BYTES + 1], state[PYTHIA_TRACESTATE_BYTES + 1];
    size_t parent_bytes, state_bytes;
};

static void send_headers(struct headers *h)
{
    h->parent_bytes = pythia_traceparent_write(h->parent);
    h->state_bytes = pythia_tracestate_write(NULL, 0, h->state);
}

static void receive_headers(const struct headers *h, struct pythia_context *before)
{
    struct pythia_context context = {0};
    if (pythia_traceparent_read(h->parent, h->parent_bytes, &context) == 0)
        pythia_tracestate_read(h->state, h->state_bytes, &context);
    pythia_context_set(&context, before);
}

static void serve(enum stage stage, int depth, const struct headers *from);

static void call(enum stage stage, int depth)
{
    struct headers h;
    if (depth == 3)
        return;
    if (stage >= SPANS) {
        PYTHIA_SPAN_OF(span, PYTHIA_POINT_CLIENT, "call");
        PYTHIA_SET(span, "depth", depth);
        send_headers(&h);
        serve(stage, depth + 1, &h);
    } else if (stage == CONTEXT) {
        send_headers(&h);
        serve(stage, depth + 1, &h);
    } else {
        serve(stage, depth + 1, NULL);
    }
}

static void serve(enum stage stage, int depth, const struct headers *from)
{
    struct pythia_context before;
    if (from)
        receive_headers(from, &before);
    if (stage >= SPANS) {
        PYTHIA_TIME_IT("handler");
        PYTHIA_SPAN_OF(span, PYTHIA_POINT_SERVER, "serve");
        PYTHIA_SET(span, "bytes", depth * 100);
        if (stage == FULL)
            pythia_variable_add(tries, 1);
        work();
        call(stage, depth);
    } else {
        work();
        call(stage, depth);
    }
    if (from)
        pythia_request_end(&before);
}

static double turn(enum stage stage)
{
    uint64_t begun = cpu_ns();
    for (int i = 0; i < REQUESTS; i++) {
        if (stage == BASELINE) {
            serve(stage, 1, NULL);
            continue;
        }
        PYTHIA_REQUEST("order");
        waiting++;
        serve(stage, 1, NULL);
    }
    return (double)(cpu_ns() - begun) / REQUESTS;
}

static void define_variables(void)
{
    static const struct pythia_variable_source source = PYTHIA_SOURCE_LONG(&waiting);
    assert_true(
        pythia_variable_define("waiting", PYTHIA_CLASS_LEVEL, PYTHIA_BIND_PROCESS, &source) > 0);
    tries = pythia_variable_define("tries", PYTHIA_CLASS_COUNTER, PYTHIA_BIND_REQUEST, NULL);
    assert_true(tries > 0);
}

/* Of the rounds the half that the machine disturbed least: by the time of all their stages
 * together, so that none is favoured. */
static double sums[STAGES], squares[STAGES];
static int turns, kept; /* TURNS of them where times decide, else enough to pass through all code */

static void add(const double *ns, enum stage s)
{
    double percent = 100 * (ns[s] - ns[BASELINE]) / ns[BASELINE];
    sums[s] += percent;
    squares[s] += percent * percent;
}

static int compare(const void *a, const void *b)
{
    const double *x = a, *y = b;
    double dx = x[STAGES], dy = y[STAGES];
    return (dx > dy) - (dx < dy);
}

/* Each round begins with another stage. Once a variable of the process is defined, spans have it:
 * so stages are measured before it is, and then the full one. */
static void run_turns(double (*all)[STAGES + 1], const enum stage *stages, int count)
{
    for (int i = 0; i < turns; i++) {
        all[i][STAGES] = 0;
        for (int n = 0; n < count; n++) {
            enum stage stage = stages[(n + i) % count];
            all[i][stage] = turn(stage);
            all[i][STAGES] += all[i][stage];
            assert_int_equal(pythia_drain_pass(traced.drain), 0);
            pythia_buf_clear(&traced.frames);
        }
    }
    qsort(all, (size_t)turns, sizeof(*all), compare);
}

static void print_stage(const char *name, int s)
{
    double mean = sums[s] / kept, variance = (squares[s] - kept * mean * mean) / (kept - 1);
    print_message("%-8s %+6.3f %% of %d us, 95 %% interval %+.3f to %+.3f\n", name, mean,
                  3 * WORK_NS / 1000, mean - 1.96 * sqrt(variance / kept),
                  mean + 1.96 * sqrt(variance / kept));
}

static void all_of_it_costs_at_most_two_percent(void **state)
{
    static double all[TURNS][STAGES + 1];
    if (SANITIZED)
        skip();
    turns = getenv("PYTHIA_TIMED") ? TURNS : 4;
    kept = turns / 2;
    calibrate();
    start_with((struct pythia_collector_options){.flush_ms = 200});
    open_point("test:call");
    open_point("test:serve");
    turn(SPANS);
    run_turns(all, (const enum stage[]){BASELINE, CONTEXT, SPANS}, 3);
    for (int i = 0; i < kept; i++) {
        add(all[i], CONTEXT);
        add(all[i], SPANS);
    }
    define_variables();
    run_turns(all, (const enum stage[]){BASELINE, FULL}, 2);
    for (int i = 0; i < kept; i++)
        add(all[i], FULL);
    print_stage("stage 1", CONTEXT);
    print_stage("stage 2", SPANS);
    print_stage("full", FULL);
    struct pythia_tracepoints_state s;
    pythia_tracepoints_state_get(&s);
    assert_int_equal(s.lost_spans + s.lost_ends + s.lost_values, 0);
    assert_int_equal(pythia_collector_stop(), 0);
    check_time(sums[FULL] / kept <= MOST, "%.3f %%", sums[FULL] / kept);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(all_of_it_costs_at_most_two_percent, begin_collecting,
                                        end_collecting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
