/* Decoding by itself, into a sink that counts: bench_decode FORMAT FILE PASSES [RULE...], with
 * rules as redaction.h has them. The file is read into memory first. Where each document has its
 * size in 4 bytes in front of it, as bench_input otlp-proto writes them, each is a body of its own,
 * as a server gets them one by one. Each pass has a decoder of its own, since some hold on to what
 * has begun. Prints one JSON object. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pythia/adapter.h"
#include "pythia/buf.h"
#include "pythia/redaction.h"
#include "pythia/status.h"

struct counting_sink {
    struct pythia_sink sink;
    struct pythia_counts counts;
    uint64_t spans, attribute_bytes, broken;
};

static int count_span(struct pythia_sink *sink, const struct pythia_trace_id *trace,
                      const struct pythia_span *span)
{
    struct counting_sink *c = (struct counting_sink *)sink;
    (void)trace;
    c->spans++;
    c->attribute_bytes += span->attributes.size;
    return PYTHIA_OK;
}

static void count_broken(struct pythia_sink *sink, const struct pythia_error *why)
{
    (void)why;
    ((struct counting_sink *)sink)->broken++;
}

static void must(int status, const char *what)
{
    if (status == PYTHIA_OK)
        return;
    fprintf(stderr, "bench_decode: %s: %s\n", what, pythia_status_text(status));
    exit(1);
}

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static struct pythia_buf read_file(const char *path)
{
    struct pythia_buf all = {0};
    FILE *file = fopen(path, "rb");
    size_t got = 1;
    while (file && got > 0) {
        char *room = pythia_buf_reserve(&all, (size_t)1 << 20);
        got = room ? fread(room, 1, (size_t)1 << 20, file) : 0;
        all.size += got;
    }
    must(file && pythia_buf_status(&all) == PYTHIA_OK && all.size > 0 ? PYTHIA_OK : PYTHIA_EIO,
         path);
    fclose(file);
    return all;
}

/* Take the next body off the front of what is left. */
static struct pythia_text take_body(struct pythia_text *rest)
{
    const unsigned char *b = (const unsigned char *)rest->bytes;
    size_t size = rest->size, head = 0;
    if (rest->size > 4 && b[0] < 8) {
        head = 4;
        size = (size_t)b[0] << 24 | (size_t)b[1] << 16 | (size_t)b[2] << 8 | b[3];
    }
    must(size <= rest->size - head ? PYTHIA_OK : PYTHIA_EFORMAT, "a body");
    struct pythia_text body = {rest->bytes + head, size};
    rest->bytes = body.bytes + size;
    rest->size -= head + size;
    return body;
}

static void decode(const struct pythia_adapter_ops *ops, struct pythia_vocabulary *vocabulary,
                   struct pythia_text rest, struct pythia_sink *sink)
{
    struct pythia_adapter *adapter;
    must(ops->create(vocabulary, &adapter), "a decoder");
    while (rest.size > 0) {
        struct pythia_memory_source source;
        struct pythia_text body = take_body(&rest);
        pythia_memory_source_init(&source, "body", body.bytes, body.size);
        must(ops->decode(adapter, &source.source, sink, NULL), "decoding");
    }
    ops->destroy(adapter);
}

int main(int argc, char **argv)
{
    const struct pythia_adapter_ops *ops = argc > 3 ? pythia_adapter_named(argv[1]) : NULL;
    unsigned long passes = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;
    const struct pythia_hash_key secret = {{1}};
    if (!ops || passes == 0) {
        fprintf(stderr, "usage: bench_decode FORMAT FILE PASSES [RULE...]\n");
        return 2;
    }
    struct pythia_buf all = read_file(argv[2]);
    struct pythia_vocabulary *vocabulary;
    struct counting_sink c = {.sink = {.span = count_span, .broken = count_broken}};
    c.sink.counts = &c.counts;
    must(pythia_vocabulary_create(&vocabulary), "a vocabulary");
    must(pythia_redaction_create(vocabulary, (const char *const *)argv + 4, (size_t)argc - 4,
                                 &secret, &c.sink.redaction, NULL),
         "the rules");
    double before = cpu_seconds();
    for (unsigned long i = 0; i < passes; i++)
        decode(ops, vocabulary, pythia_buf_text(&all), &c.sink);
    double cpu_s = cpu_seconds() - before;
    must(c.broken ? PYTHIA_EFORMAT : PYTHIA_OK, "the input");
    printf("{\"spans\": %" PRIu64 ", \"bytes\": %zu, \"attribute_bytes\": %" PRIu64
           ", \"hashed_values\": %" PRIu64 ", \"cpu_s\": %.6f}\n",
           c.spans, all.size * passes, c.attribute_bytes, c.counts.hashed_values, cpu_s);
    pythia_redaction_destroy(c.sink.redaction);
    pythia_vocabulary_destroy(vocabulary);
    pythia_buf_free(&all);
    return 0;
}
