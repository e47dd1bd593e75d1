/* One real request of 2019, kept outside of the repository: what OSProfiler wrote of a server
 * create. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "collect.h"
#include "pythia/assembler.h"

#define SKIPPED 77
#define ARCHIVE PYTHIA_SHARED_DATA "/osprofiler.tar.xz"
#define SAMPLE  "osprofiler/pythia-server_create-5af41674.json"

static struct pythia_buf sample;

/* Unpack the sample into a folder of its own, and read it. False if that is not possible. */
static bool unpack(void)
{
    char folder[] = "/tmp/pythia-test-XXXXXX", command[1024], path[256];
    if (access(ARCHIVE, R_OK) != 0 || !mkdtemp(folder))
        return false;
    snprintf(command, sizeof(command), "tar -xJf '%s' -C '%s' '%s'", ARCHIVE, folder, SAMPLE);
    snprintf(path, sizeof(path), "%s/%s", folder, SAMPLE);
    FILE *file =
        system(command) == 0 ? fopen(path, "rb") : NULL; /* NOLINT: no name is a stranger's */
    size_t size = 0;
    char *room;
    while (file && (room = pythia_buf_reserve(&sample, 65536)) &&
           (size = fread(room, 1, 65536, file)) > 0)
        sample.size += size;
    if (file)
        fclose(file);
    remove(path);
    snprintf(path, sizeof(path), "%s/osprofiler", folder);
    remove(path);
    remove(folder);
    return sample.size > 0;
}

/* What is asked of the trace that the sample is. */
struct expectations {
    struct pythia_vocabulary *vocabulary;
    uint32_t traces, spans, roots, outside, waiters;
    double total_ms;
};

static void look_at_span(struct expectations *e, const struct pythia_trace *t, uint32_t i)
{
    const struct pythia_trace_span *span = &t->spans[i];
    struct pythia_attribute found;
    uint32_t key = pythia_vocabulary_string(e->vocabulary, PYTHIA_TEXT("num_waiters"));
    if (pythia_attributes_find(span->attributes, key, &found)) {
        e->waiters++;
        assert_int_equal(found.kind, PYTHIA_ATTRIBUTE_INTEGER);
        assert_int_equal(found.integer, 0);
        assert_true(span->annotation);
    }
    if (span->parent != PYTHIA_NO_SPAN)
        e->outside += span->end_ns > t->spans[span->parent].end_ns;
}

static int look_at_trace(void *context, const struct pythia_trace *t)
{
    struct expectations *e = context;
    e->traces++;
    e->spans = t->count;
    e->roots = t->roots;
    e->total_ms = (double)(t->completed_ns - t->start_ns) / 1e6;
    for (uint32_t i = 0; i < t->count; i++)
        look_at_span(e, t, i);
    return PYTHIA_OK;
}

static void the_real_sample_is_read(void **state)
{
    struct collection c;
    struct pythia_memory_source memory;
    collection_open(&c);
    pythia_memory_source_init(&memory, "sample", sample.bytes, sample.size);
    collect_source(&c, "osprofiler", &memory.source);
    assert_int_equal(c.status, PYTHIA_OK);
    assert_problems(&c, "");
    assert_int_equal(c.count, 885);

    struct expectations e = {.vocabulary = c.vocabulary};
    struct pythia_counts counts = {0};
    struct pythia_assembler *a;
    assert_int_equal(pythia_assembler_create(c.vocabulary, &(struct pythia_assembler_options){0},
                                             (struct pythia_trace_taker){look_at_trace, &e},
                                             &counts, &a),
                     PYTHIA_OK);
    for (size_t i = 0; i < c.count; i++) {
        struct pythia_span span = c.spans[i].span;
        span.attributes = attributes_at(&c, i);
        assert_int_equal(pythia_assembler_add(a, &c.spans[i].trace, &span), PYTHIA_OK);
    }
    assert_int_equal(pythia_assembler_finish(a), PYTHIA_OK);
    pythia_assembler_destroy(a);
    collection_close(&c);

    assert_int_equal(e.traces, 1);
    assert_int_equal(e.spans, 443);
    assert_int_equal(e.roots, 12);
    assert_int_equal(e.outside, 10); /* casts that go on after their caller */
    assert_int_equal(e.waiters, 1);
    assert_true(fabs(e.total_ms - 153041) <= 1);
    for (size_t i = 0; i < PYTHIA_REPAIRS; i++)
        assert_int_equal(counts.repaired[i], 0);
    for (size_t i = 0; i < PYTHIA_DROPS; i++)
        assert_int_equal(counts.dropped[i], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_real_sample_is_read),
    };
    if (!unpack()) {
        printf("Skipped: there is no %s, which is kept outside of the repository\n", ARCHIVE);
        return SKIPPED;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    pythia_buf_free(&sample);
    return failed;
}
