/* How long a switch of LTTng takes: bench_lttng RULES RELAY NUMBER, one line of JSON, milliseconds.
 * With rules whose points are shop:sell, a request, and shop:pack (tests/lttng/shop.yaml):
 *
 *     in_force  from the call that applies a set until the plane says that it is in force
 *     first     from that call to the first hit in the program
 *     arrives   from the end of the span of that hit to its arrival here
 *
 * and event_ns: the price of an event, as the plane has measured it. */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pythia/adapter.h"
#include "pythia/control.h"
#include "pythia/control_lttng.h"
#include "pythia/counts.h"
#include "pythia/lttng_reader.h"
#include "pythia/status.h"

#define MOST    1000
#define WAIT_NS UINT64_C(20000000000)

static struct bench {
    struct pythia_sink sink; /* first, so that one is the other */
    struct pythia_counts counts;
    struct pythia_vocabulary *vocabulary;
    struct pythia_adapter *decoder;
    struct pythia_control *plane;
    struct pythia_lttng_feed *feed;
    uint64_t since_ns, first_ns, arrived_ns; /* Unix time; first_ns 0: no hit yet */
    uint64_t version;
} b;

static void die(const char *why)
{
    fprintf(stderr, "bench_lttng: %s\n", why);
    exit(1);
}

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void wait_us(long us)
{
    const struct timespec time = {0, us * 1000};
    nanosleep(&time, NULL);
}

static int take_span(struct pythia_sink *sink, const struct pythia_trace_id *trace,
                     const struct pythia_span *span)
{
    (void)sink, (void)trace;
    struct pythia_text id = pythia_vocabulary_tracepoint_id(b.vocabulary, span->tracepoint);
    if (b.first_ns == 0 && b.since_ns && span->start_ns >= b.since_ns &&
        pythia_text_equal(id, PYTHIA_TEXT("shop:pack"))) {
        b.first_ns = span->start_ns;
        b.arrived_ns = clock_ns(CLOCK_REALTIME) - span->start_ns - (uint64_t)span->duration_ns;
    }
    return PYTHIA_OK;
}

static void drop_broken(struct pythia_sink *sink, const struct pythia_error *why)
{
    (void)sink;
    die(why->sentence);
}

static void read_feed(void)
{
    struct pythia_buf frames = {0};
    struct pythia_error e = {0};
    struct pythia_memory_source memory;
    if (pythia_lttng_feed_read(b.feed, &frames, &e) != PYTHIA_OK)
        die(e.sentence);
    pythia_memory_source_init(&memory, "frames", frames.bytes ? frames.bytes : "", frames.size);
    if (frames.size > 0 &&
        b.decoder->ops->decode(b.decoder, &memory.source, &b.sink, &e) != PYTHIA_OK)
        die(e.sentence);
    pythia_buf_free(&frames);
}

static int note_result(void *context, struct pythia_text id, struct pythia_text target,
                       enum pythia_control_result result, uint64_t version)
{
    bool *applied = context;
    (void)id, (void)target;
    *applied = *applied && result == PYTHIA_CONTROL_APPLIED && version == b.version;
    return PYTHIA_OK;
}

static bool is_applied(void)
{
    bool applied = true;
    if (b.plane->ops->observe(b.plane, clock_ns(CLOCK_MONOTONIC), note_result, &applied) < 0)
        die("cannot observe");
    return applied;
}

/* Apply a set. Returns after how long it was in force, in ms. */
static double apply(bool with_pack)
{
    const struct pythia_control_wish wishes[] = {{.id = PYTHIA_TEXT("shop:pack")},
                                                 {.id = PYTHIA_TEXT("shop:sell")}};
    struct pythia_error e = {0};
    uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC), now_ns = begin_ns;
    if (b.plane->ops->apply(b.plane, wishes + !with_pack, with_pack ? 2 : 1, ++b.version, now_ns,
                            &e) != PYTHIA_OK)
        die(e.sentence);
    while (!is_applied()) {
        now_ns = clock_ns(CLOCK_MONOTONIC);
        if (now_ns - begin_ns > WAIT_NS)
            die("a set is not in force");
        wait_us(b.version == 1 ? 20000 : 50);
        if (b.version == 1) /* the session begins, and is followed by whoever reads it */
            read_feed();
    }
    return (double)(clock_ns(CLOCK_MONOTONIC) - begin_ns) / 1e6;
}

static int take_price(void *context, const struct pythia_control_point *point)
{
    *(double *)context = point->price_ns / 2;
    return PYTHIA_OK;
}

/* With both points open: the end of the one is next to that of the other. */
static double find_price(void)
{
    uint64_t until_ns = clock_ns(CLOCK_MONOTONIC) + WAIT_NS;
    double event_ns = NAN;
    apply(true);
    while (isnan(event_ns) && clock_ns(CLOCK_MONOTONIC) < until_ns) {
        read_feed();
        wait_us(1000);
        if (b.plane->ops->inventory(b.plane, take_price, &event_ns) != PYTHIA_OK)
            die("no inventory");
    }
    if (isnan(event_ns))
        die("the price of an event is not measured");
    return event_ns;
}

static int count_point(void *context, const struct pythia_control_point *point)
{
    (void)point;
    ++*(size_t *)context;
    return PYTHIA_OK;
}

static void begin(const char *rules, const char *relay)
{
    const struct pythia_control_ops *ops = pythia_control_named("lttng");
    struct pythia_error e = {0};
    void *settings = calloc(1, ops->settings_size);
    size_t points = 0;
    if (!settings || pythia_option_set(&ops->options[0], settings, rules, &e) != PYTHIA_OK ||
        pythia_option_set(&ops->options[1], settings, relay, &e) != PYTHIA_OK ||
        ops->create(settings, &b.plane, &e) != PYTHIA_OK)
        die(e.sentence);
    free(settings);
    b.sink = (struct pythia_sink){.span = take_span, .broken = drop_broken, .counts = &b.counts};
    b.feed = pythia_control_lttng_feed(b.plane);
    if (pythia_vocabulary_create(&b.vocabulary) != PYTHIA_OK ||
        pythia_adapter_named("native")->create(b.vocabulary, &b.decoder) != PYTHIA_OK)
        die("out of memory");
    for (int i = 0; i < 1000 && points == 0; i++) {
        wait_us(20000);
        read_feed();
        if (ops->inventory(b.plane, count_point, &points) != PYTHIA_OK)
            die("no inventory");
    }
    if (points == 0)
        die("no program has the points");
}

static int compare(const void *x, const void *y)
{
    double a = *(const double *)x, c = *(const double *)y;
    return (a > c) - (a < c);
}

static void print_times(const char *name, double *times, int count, const char *after)
{
    qsort(times, (size_t)count, sizeof(*times), compare);
    printf("\"%s\": {\"p50\": %.2f, \"max\": %.2f}%s", name, times[count / 2], times[count - 1],
           after);
}

int main(int count, char **arguments)
{
    pythia_lttng_reader_main(count, arguments);
    static double in_force[MOST], first[MOST], arrives[MOST];
    long given = count > 3 ? strtol(arguments[3], NULL, 10) : 0;
    int number = given > MOST ? 0 : (int)given;
    if (number < 1)
        die("usage: bench_lttng RULES RELAY NUMBER");
    begin(arguments[1], arguments[2]);
    apply(false);
    for (int i = 0; i < number; i++) {
        b.since_ns = clock_ns(CLOCK_REALTIME);
        b.first_ns = 0;
        in_force[i] = apply(true);
        uint64_t until_ns = clock_ns(CLOCK_MONOTONIC) + WAIT_NS;
        while (b.first_ns == 0 && clock_ns(CLOCK_MONOTONIC) < until_ns) {
            read_feed();
            wait_us(1000);
        }
        if (b.first_ns == 0)
            die("no hit arrives");
        first[i] = (double)(b.first_ns - b.since_ns) / 1e6;
        arrives[i] = (double)b.arrived_ns / 1e6;
        apply(false);
    }
    printf("{\"switches\": %d, \"event_ns\": %.0f, ", number, find_price());
    print_times("in_force_ms", in_force, number, ", ");
    print_times("first_ms", first, number, ", ");
    print_times("arrives_ms", arrives, number, "}\n");
    b.plane->ops->destroy(b.plane);
    pythia_lttng_feed_release(b.feed);
    b.decoder->ops->destroy(b.decoder);
    pythia_vocabulary_destroy(b.vocabulary);
    return 0;
}
