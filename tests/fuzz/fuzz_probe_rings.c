/* What may be in the rings of probes: whatever it is, it is read to its end, what comes of it is in
 * order of time, and the records that spans are made into can be read again without a fault. The
 * input is the data of a ring. */
#define _GNU_SOURCE
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "pythia/adapter.h"
#include "pythia/probe_rings.h"
#include "pythia/probe_spans.h"
#include "pythia/status.h"

static const char text[] = "service: s\nprovider: p\nprograms: [/a]\npoints:\n"
                           "  a: {request: true, type: t, keys: {t: start 1 text, n: done 2}}\n"
                           "  b: {keys: {k: start 2 text, m: done 1}}\n";

struct checked {
    struct pythia_probe_spans *spans;
    uint64_t last_ns;
};

static int add_hit(void *context, const struct pythia_probe_hit *hit, const int64_t *values,
                   const char *texts)
{
    struct checked *c = context;
    MUST(hit->time_ns >= c->last_ns && hit->values <= PYTHIA_USDT_OPERANDS_MAX);
    c->last_ns = hit->time_ns;
    return pythia_probe_spans_add(c->spans, hit, values, texts);
}

static void fail_broken(struct pythia_sink *sink, const struct pythia_error *why)
{
    (void)sink;
    MUST(!why); /* a record of ours is broken */
}

static int count_span(struct pythia_sink *sink, const struct pythia_trace_id *trace,
                      const struct pythia_span *span)
{
    (void)sink;
    MUST(trace->high && span->id && span->part == PYTHIA_PART_WHOLE);
    return PYTHIA_OK;
}

static void decode(struct pythia_buf *frames)
{
    struct pythia_vocabulary *vocabulary = NULL;
    struct pythia_adapter *adapter = NULL;
    struct pythia_counts counts = {0};
    struct pythia_error e = {0};
    struct pythia_memory_source source;
    struct pythia_sink sink = {.span = count_span, .broken = fail_broken, .counts = &counts};
    const struct pythia_adapter_ops *native = pythia_adapter_named("native");
    MUST(pythia_vocabulary_create(&vocabulary) == PYTHIA_OK);
    MUST(native->create(vocabulary, &adapter) == PYTHIA_OK);
    pythia_memory_source_init(&source, "frames", frames->bytes, frames->size);
    MUST(native->decode(adapter, &source.source, &sink, &e) == PYTHIA_OK);
    native->destroy(adapter);
    pythia_vocabulary_destroy(vocabulary);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), all = (1 + PYTHIA_PROBE_RING_PAGES) * page;
    struct pythia_probe_rules rules;
    struct pythia_probe_rings *rings = NULL;
    struct pythia_error e = {0};
    struct pythia_buf frames = {0};
    struct checked c = {0};
    int file = memfd_create("ring", MFD_CLOEXEC);
    MUST(file >= 0 && ftruncate(file, (off_t)all) == 0);
    struct perf_event_mmap_page *head =
        mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    MUST(head != MAP_FAILED);
    size = size < all - page ? size : all - page;
    memcpy((char *)head + page, bytes, size);
    head->data_head = size;
    munmap(head, all);
    MUST(pythia_probe_rules_parse("r", text, sizeof(text) - 1, &rules, &e) == PYTHIA_OK);
    MUST(pythia_probe_spans_create(&rules, &c.spans) == PYTHIA_OK);
    for (uint32_t i = 0; i < 4; i++)
        MUST(pythia_probe_spans_define(c.spans, i + 1, i / 2, i % 2) == PYTHIA_OK);
    MUST(pythia_probe_rings_open(&file, 1, &rings, &e) == PYTHIA_OK);
    MUST(pythia_probe_rings_drain(rings, UINT64_MAX, add_hit, &c) == PYTHIA_OK);
    MUST(pythia_probe_spans_take(c.spans, 1, 0, 0, &frames) == PYTHIA_OK);
    decode(&frames);
    pythia_buf_free(&frames);
    pythia_probe_rings_close(rings);
    pythia_probe_spans_destroy(c.spans);
    pythia_probe_rules_free(&rules);
    return 0;
}
