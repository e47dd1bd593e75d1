/* Clocks of one trace that disagree: more of them than are remembered, and calls without number. */
#include "check.h"
#include "trace_text.h"

enum { HOSTS = 1000, LENGTH = 100, SLACK = 20 };

#define AHEAD UINT64_C(3600000000000) /* an hour */

struct many {
    struct pythia_vocabulary *vocabulary;
    struct pythia_trace_builder *builder;
    struct pythia_counts counts;
    uint32_t home, point, hosts[HOSTS];
};

static void begin(struct many *m)
{
    *m = (struct many){0};
    assert_int_equal(pythia_vocabulary_create(&m->vocabulary), PYTHIA_OK);
    assert_int_equal(pythia_trace_builder_create(m->vocabulary, NULL, &m->builder), PYTHIA_OK);
    m->point = pythia_vocabulary_tracepoint(m->vocabulary, 0, 0, intern(m->vocabulary, "call"));
    struct pythia_resource r = {.host = intern(m->vocabulary, "home")};
    m->home = pythia_vocabulary_resource(m->vocabulary, &r);
    for (uint32_t i = 0; i < HOSTS; i++) {
        char name[] = {'h', (char)('a' + i % 10), (char)('a' + i / 10 % 10), (char)('a' + i / 100),
                       '\0'};
        r.host = intern(m->vocabulary, name);
        m->hosts[i] = pythia_vocabulary_resource(m->vocabulary, &r);
    }
    pythia_trace_builder_begin(m->builder, (struct pythia_trace_id){1, 1});
}

static void end(struct many *m)
{
    pythia_trace_builder_destroy(m->builder);
    pythia_vocabulary_destroy(m->vocabulary);
}

static void add(struct many *m, uint64_t id, uint64_t parent, uint64_t start_ns, int64_t length,
                uint32_t resource, enum pythia_span_kind kind)
{
    struct pythia_span span = {.id = id,
                               .parent = parent,
                               .start_ns = start_ns,
                               .duration_ns = length,
                               .tracepoint = m->point,
                               .resource = resource,
                               .kind = kind,
                               .relation = kind == PYTHIA_SPAN_SERVER ? PYTHIA_RELATION_CALL
                                                                      : PYTHIA_RELATION_UNKNOWN};
    assert_int_equal(pythia_trace_builder_add(m->builder, &span), PYTHIA_OK);
}

/* Span 1 makes calls 2, 4, 6, … one by one, each to a host that is an hour ahead or behind. */
static void every_host_of_a_thousand_is_put_into_its_call(void **state)
{
    static struct many m;
    const struct pythia_trace *trace;
    begin(&m);
    add(&m, 1, 0, 2 * AHEAD, HOSTS * LENGTH, m.home, PYTHIA_SPAN_SERVER);
    for (uint64_t i = 0; i < HOSTS; i++) {
        uint64_t at = 2 * AHEAD + i * LENGTH, off = i % 2 ? AHEAD : 0 - AHEAD;
        add(&m, 2 * i + 2, 1, at, LENGTH, m.home, PYTHIA_SPAN_CLIENT);
        add(&m, 2 * i + 3, 2 * i + 2, at + SLACK / 2 + off, LENGTH - SLACK, m.hosts[i],
            PYTHIA_SPAN_SERVER);
    }
    assert_int_equal(pythia_trace_builder_finish(m.builder, &m.counts, &trace), PYTHIA_OK);
    assert_int_equal(trace->count, 2 * HOSTS + 1);
    uint32_t middle = 0;
    for (uint32_t i = 0; i < trace->count; i++) {
        const struct pythia_trace_span *span = &trace->spans[i], *parent;
        if (span->kind != PYTHIA_SPAN_SERVER || span->parent == PYTHIA_NO_SPAN)
            continue;
        parent = &trace->spans[span->parent];
        assert_int_equal(span->end_ns - span->start_ns, LENGTH - SLACK);
        assert_in_range(span->start_ns - parent->start_ns, 0, SLACK);
        middle += span->start_ns - parent->start_ns == SLACK / 2;
    }
    assert_in_range(middle, 255,
                    HOSTS); /* of the clocks that are remembered, home is another one */
    assert_int_equal(m.counts.repaired[PYTHIA_REPAIR_SKEW], HOSTS);
    end(&m);
}

/* All calls of one span go to one host, each between two spans of the caller's clock, which are too
 * many to look at: it counts only that the last one ends with its caller, and that its first one
 * begins 50 after it. */
static void a_hundred_thousand_calls_to_one_host(void **state)
{
    enum { CALLS = 100000 };
    static struct many m;
    const struct pythia_trace *trace;
    begin(&m);
    add(&m, 1, 0, 2 * AHEAD, CALLS * LENGTH, m.home, PYTHIA_SPAN_SERVER);
    for (uint64_t i = 0; i < CALLS; i++) {
        uint64_t at = 2 * AHEAD + i * LENGTH;
        add(&m, 2 * i + 2, 1, at, LENGTH / 2, m.home, PYTHIA_SPAN_INTERNAL);
        add(&m, 2 * i + 3, 1, at + LENGTH / 2 + AHEAD, LENGTH / 2, m.hosts[0], PYTHIA_SPAN_SERVER);
    }
    assert_int_equal(pythia_trace_builder_finish(m.builder, &m.counts, &trace), PYTHIA_OK);
    for (uint32_t i = 0; i < trace->count; i++) {
        const struct pythia_trace_span *span = &trace->spans[i];
        if (span->kind == PYTHIA_SPAN_SERVER && span->parent != PYTHIA_NO_SPAN)
            assert_int_equal(span->end_ns,
                             2 * AHEAD + ((span->id - 3) / 2 + 1) * LENGTH - LENGTH / 2 / 2);
    }
    end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_host_of_a_thousand_is_put_into_its_call),
        cmocka_unit_test(a_hundred_thousand_calls_to_one_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
