/* Writes traces for the benchmarks: bench_input KIND SPANS [SEED] > FILE.
 *
 * otlp: one document a line, as the collector's file exporter writes them; each span has 10
 * attributes, and some 800 bytes; 32 requests are mixed, as they would be if they ran beside each
 * other. open: the same, but the first spans of all requests come first, then the second, and so
 * on, so that all are open until the end. otlp-proto: what otlp writes, in protobuf, with the size
 * of each document in front of it, as the exporter does then; a span has some 350 bytes. lean: the
 * same with 4 attributes, and some 220 bytes. osprofiler: raw records, a start and a stop for each
 * span. jaeger: an answer of Jaeger's API, with the attributes of otlp as tags. zipkin: an array of
 * spans, the same. keyed: messages as lean writes them, but of one request and service each; before
 * each a line with its key for Kafka, the trace's id, and its size.
 *
 * wide, deep: one trace as lean writes it, with one span around all others, or with each span in
 * the one before it. chains: such deep traces of CHAIN spans each. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pythia/protobuf_writer.h"
#include "requests.h"

#define MIXED 32
#define BLOCK 512 /* requests whose spans share documents, where all are open */

/* ---- OTLP ---- */

static void write_otlp_span(const struct request *r, const struct request_span *s, bool first)
{
    printf("%s{\"traceId\":\"%016" PRIx64 "%016" PRIx64 "\",\"spanId\":\"%016" PRIx64 "\",",
           first ? "" : ",", r->trace_high, r->trace_low, s->id);
    if (s->parent)
        printf("\"parentSpanId\":\"%016" PRIx64 "\",", s->parent);
    printf("\"name\":\"operation-%u\",\"kind\":%d,\"startTimeUnixNano\":\"%" PRIu64
           "\",\"endTimeUnixNano\":\"%" PRIu64 "\",\"attributes\":[",
           s->operation, s->parent ? 3 : 2, s->start_ns, s->end_ns);
    printf("{\"key\":\"http.request.method\",\"value\":{\"stringValue\":\"GET\"}},"
           "{\"key\":\"http.response.status_code\",\"value\":{\"intValue\":\"200\"}},"
           "{\"key\":\"url.path\",\"value\":{\"stringValue\":\"/api/v1/items/%u\"}},"
           "{\"key\":\"server.address\",\"value\":{\"stringValue\":\"item-service.default\"}},"
           "{\"key\":\"server.port\",\"value\":{\"intValue\":\"8080\"}},",
           (unsigned)(s->id % 100000));
    printf("{\"key\":\"network.protocol.version\",\"value\":{\"stringValue\":\"1.1\"}},"
           "{\"key\":\"user.id\",\"value\":{\"stringValue\":\"user-%u\"}},"
           "{\"key\":\"thread.id\",\"value\":{\"intValue\":\"%u\"}},"
           "{\"key\":\"cache.hit\",\"value\":{\"boolValue\":%s}},"
           "{\"key\":\"queue.length\",\"value\":{\"intValue\":\"%u\"}}],\"status\":{}}",
           (unsigned)(r->trace_low % 5000), (unsigned)(s->id % 64), s->id & 64 ? "true" : "false",
           (unsigned)(r->trace_low % 9));
}

/* One document: the spans from..to-1 of each request that are of one service. Nothing if there are
 * none. */
static void write_otlp(const struct request *requests, size_t count, unsigned service,
                       unsigned from, unsigned to)
{
    bool first = true;
    for (size_t i = 0; i < count; i++)
        for (unsigned k = from; k < to; k++) {
            if (requests[i].spans[k].service != service)
                continue;
            if (first)
                printf("{\"resourceSpans\":[{\"resource\":{\"attributes\":["
                       "{\"key\":\"service.name\",\"value\":{\"stringValue\":\"service-%u\"}},"
                       "{\"key\":\"host.name\",\"value\":{\"stringValue\":\"host-%u\"}}]},"
                       "\"scopeSpans\":[{\"scope\":{\"name\":\"http\"},\"spans\":[",
                       service, service);
            write_otlp_span(&requests[i], &requests[i].spans[k], first);
            first = false;
        }
    if (!first)
        printf("]}]}]}\n");
}

/* ---- Jaeger ---- */

static void write_jaeger_span(const struct request *r, const struct request_span *s)
{
    printf("{\"traceID\":\"%016" PRIx64 "%016" PRIx64 "\",\"spanID\":\"%016" PRIx64
           "\",\"operationName\":\"operation-%u\",\"references\":[",
           r->trace_high, r->trace_low, s->id, s->operation);
    if (s->parent)
        printf("{\"refType\":\"CHILD_OF\",\"traceID\":\"%016" PRIx64 "%016" PRIx64
               "\",\"spanID\":\"%016" PRIx64 "\"}",
               r->trace_high, r->trace_low, s->parent);
    printf("],\"startTime\":%" PRIu64 ",\"duration\":%" PRIu64 ",\"tags\":[", s->start_ns / 1000,
           (s->end_ns - s->start_ns) / 1000);
    printf("{\"key\":\"span.kind\",\"type\":\"string\",\"value\":\"%s\"},"
           "{\"key\":\"http.request.method\",\"type\":\"string\",\"value\":\"GET\"},"
           "{\"key\":\"http.response.status_code\",\"type\":\"int64\",\"value\":200},"
           "{\"key\":\"url.path\",\"type\":\"string\",\"value\":\"/api/v1/items/%u\"},"
           "{\"key\":\"server.address\",\"type\":\"string\",\"value\":\"item-service.default\"},"
           "{\"key\":\"server.port\",\"type\":\"int64\",\"value\":8080},",
           s->parent ? "client" : "server", (unsigned)(s->id % 100000));
    printf("{\"key\":\"network.protocol.version\",\"type\":\"string\",\"value\":\"1.1\"},"
           "{\"key\":\"user.id\",\"type\":\"string\",\"value\":\"user-%u\"},"
           "{\"key\":\"thread.id\",\"type\":\"int64\",\"value\":%u},"
           "{\"key\":\"cache.hit\",\"type\":\"bool\",\"value\":%s},"
           "{\"key\":\"queue.length\",\"type\":\"int64\",\"value\":%u}],"
           "\"logs\":[],\"processID\":\"p%u\",\"warnings\":null}",
           (unsigned)(r->trace_low % 5000), (unsigned)(s->id % 64), s->id & 64 ? "true" : "false",
           (unsigned)(r->trace_low % 9), s->service);
}

/* A trace of an answer of the API, all of which is one line. */
static void write_jaeger(const struct request *r, bool first)
{
    printf("%s{\"traceID\":\"%016" PRIx64 "%016" PRIx64 "\",\"spans\":[", first ? "" : ",",
           r->trace_high, r->trace_low);
    for (unsigned k = 0; k < REQUEST_SPANS; k++) {
        if (k > 0)
            putchar(',');
        write_jaeger_span(r, &r->spans[k]);
    }
    printf("],\"processes\":{");
    for (unsigned service = 0; service < SERVICES; service++)
        printf("%s\"p%u\":{\"serviceName\":\"service-%u\",\"tags\":[{\"key\":\"hostname\","
               "\"type\":\"string\",\"value\":\"host-%u\"}]}",
               service ? "," : "", service, service, service);
    printf("},\"warnings\":null}");
}

static void write_answer(struct requests *all, size_t count)
{
    static struct request r;
    printf("{\"data\":[");
    for (size_t i = 0; i < count; i++) {
        requests_next(all, &r);
        write_jaeger(&r, i == 0);
    }
    printf("],\"total\":0,\"limit\":0,\"offset\":0,\"errors\":null}\n");
}

/* ---- Zipkin ---- */

static void write_zipkin_span(const struct request *r, const struct request_span *s, bool first)
{
    printf("%s{\"traceId\":\"%016" PRIx64 "%016" PRIx64 "\",\"id\":\"%016" PRIx64 "\",",
           first ? "" : ",", r->trace_high, r->trace_low, s->id);
    if (s->parent)
        printf("\"parentId\":\"%016" PRIx64 "\",", s->parent);
    printf("\"kind\":\"%s\",\"name\":\"operation-%u\",\"timestamp\":%" PRIu64
           ",\"duration\":%" PRIu64 ",\"localEndpoint\":{\"serviceName\":\"service-%u\"},",
           s->parent ? "CLIENT" : "SERVER", s->operation, s->start_ns / 1000,
           (s->end_ns - s->start_ns) / 1000, s->service);
    printf("\"tags\":{\"http.request.method\":\"GET\",\"http.response.status_code\":\"200\","
           "\"url.path\":\"/api/v1/items/%u\",\"server.address\":\"item-service.default\","
           "\"server.port\":\"8080\",",
           (unsigned)(s->id % 100000));
    printf("\"network.protocol.version\":\"1.1\",\"user.id\":\"user-%u\",\"thread.id\":\"%u\","
           "\"cache.hit\":\"%s\",\"queue.length\":\"%u\"}}",
           (unsigned)(r->trace_low % 5000), (unsigned)(s->id % 64), s->id & 64 ? "true" : "false",
           (unsigned)(r->trace_low % 9));
}

static void write_spans(struct requests *all, size_t count)
{
    static struct request r;
    putchar('[');
    for (size_t i = 0; i < count; i++) {
        requests_next(all, &r);
        for (unsigned k = 0; k < REQUEST_SPANS; k++)
            write_zipkin_span(&r, &r.spans[k], i + k == 0);
    }
    puts("]");
}

/* ---- OTLP in protobuf: the field numbers of opentelemetry-proto's trace.proto ---- */

struct sheet {
    struct pythia_buf value, pair, span, spans, resource, document;
};

/* The key-value whose value stands in the sheet. */
static void put_pair(struct sheet *s, struct pythia_buf *to, unsigned field, const char *key)
{
    pythia_buf_clear(&s->pair);
    pythia_protobuf_put_bytes(&s->pair, 1, pythia_text_of(key));
    pythia_protobuf_put_bytes(&s->pair, 2, pythia_buf_text(&s->value));
    pythia_protobuf_put_bytes(to, field, pythia_buf_text(&s->pair));
}

static void put_text(struct sheet *s, struct pythia_buf *to, unsigned field, const char *key,
                     const char *format, unsigned number)
{
    char text[80];
    int size = snprintf(text, sizeof(text), format, number);
    pythia_buf_clear(&s->value);
    pythia_protobuf_put_bytes(&s->value, 1, (struct pythia_text){text, (size_t)size});
    put_pair(s, to, field, key);
}

/* Value field 2 is a truth, 3 a number. */
static void put_number(struct sheet *s, const char *key, unsigned value_field, unsigned number)
{
    pythia_buf_clear(&s->value);
    pythia_protobuf_put_number(&s->value, value_field, number);
    put_pair(s, &s->span, 9, key);
}

static void put_id(struct pythia_buf *to, unsigned field, uint64_t high, uint64_t low, size_t size)
{
    char id[16];
    for (size_t i = 0; i < 16; i++)
        id[i] = (char)((i < 8 ? high : low) >> (56 - 8 * (i % 8)));
    pythia_protobuf_put_bytes(to, field, (struct pythia_text){id + 16 - size, size});
}

static void put_span(struct sheet *sheet, const struct request *r, const struct request_span *s,
                     bool lean)
{
    char name[32];
    int size = snprintf(name, sizeof(name), "operation-%u", s->operation);
    struct pythia_buf *to = &sheet->span;
    pythia_buf_clear(to);
    put_id(to, 1, r->trace_high, r->trace_low, 16);
    put_id(to, 2, 0, s->id, 8);
    if (s->parent)
        put_id(to, 4, 0, s->parent, 8);
    pythia_protobuf_put_bytes(to, 5, (struct pythia_text){name, (size_t)size});
    pythia_protobuf_put_number(to, 6, s->parent ? 3 : 2);
    pythia_protobuf_put_fixed64(to, 7, s->start_ns);
    pythia_protobuf_put_fixed64(to, 8, s->end_ns);
    put_text(sheet, to, 9, "http.request.method", "GET", 0);
    put_number(sheet, "http.response.status_code", 3, 200);
    put_text(sheet, to, 9, "url.path", "/api/v1/items/%u", (unsigned)(s->id % 100000));
    put_text(sheet, to, 9, "server.address", "item-service.default", 0);
    if (!lean) {
        put_number(sheet, "server.port", 3, 8080);
        put_text(sheet, to, 9, "network.protocol.version", "1.1", 0);
        put_text(sheet, to, 9, "user.id", "user-%u", (unsigned)(r->trace_low % 5000));
        put_number(sheet, "thread.id", 3, (unsigned)(s->id % 64));
        put_number(sheet, "cache.hit", 2, s->id & 64 ? 1 : 0);
        put_number(sheet, "queue.length", 3, (unsigned)(r->trace_low % 9));
    }
    pythia_protobuf_put_bytes(to, 15, (struct pythia_text){"", 0});
    pythia_protobuf_put_bytes(&sheet->spans, 2, pythia_buf_text(to));
}

static void begin_spans(struct sheet *s)
{
    static const char scope[] = "\x0A\x06\x0A\x04http";
    pythia_buf_clear(&s->spans);
    pythia_buf_clear(&s->resource);
    pythia_buf_clear(&s->document);
    pythia_buf_add(&s->spans, scope, sizeof(scope) - 1);
}

/* The document of the spans of a service. */
static void make_document(struct sheet *s, unsigned service)
{
    put_text(s, &s->resource, 1, "service.name", "service-%u", service);
    put_text(s, &s->resource, 1, "host.name", "host-%u", service);
    pythia_buf_clear(&s->span);
    pythia_protobuf_put_bytes(&s->span, 1, pythia_buf_text(&s->resource));
    pythia_protobuf_put_bytes(&s->span, 2, pythia_buf_text(&s->spans));
    pythia_protobuf_put_bytes(&s->document, 1, pythia_buf_text(&s->span));
}

/* The same, after its size. */
static void write_document(struct sheet *s, unsigned service)
{
    make_document(s, service);
    for (int shift = 24; shift >= 0; shift -= 8)
        putchar((int)(s->document.size >> shift & 0xFF));
    fwrite(s->document.bytes, 1, s->document.size, stdout);
}

/* One document, as write_otlp writes it. */
static void write_proto(const struct request *requests, size_t count, unsigned service, bool lean)
{
    static struct sheet s;
    begin_spans(&s);
    size_t empty = s.spans.size;
    for (size_t i = 0; i < count; i++)
        for (unsigned k = 0; k < REQUEST_SPANS; k++)
            if (requests[i].spans[k].service == service)
                put_span(&s, &requests[i], &requests[i].spans[k], lean);
    if (s.spans.size > empty)
        write_document(&s, service);
}

static void write_keyed(struct requests *all, size_t count)
{
    static struct sheet s;
    static struct request r;
    for (size_t i = 0; i < count; i++) {
        requests_next(all, &r);
        for (unsigned service = 0; service < SERVICES; service++) {
            begin_spans(&s);
            size_t empty = s.spans.size;
            for (unsigned k = 0; k < REQUEST_SPANS; k++)
                if (r.spans[k].service == service)
                    put_span(&s, &r, &r.spans[k], true);
            if (s.spans.size == empty)
                continue;
            make_document(&s, service);
            printf("%016" PRIx64 "%016" PRIx64 " %zu\n", r.trace_high, r.trace_low,
                   s.document.size);
            fwrite(s.document.bytes, 1, s.document.size, stdout);
        }
    }
}

/* ---- OSProfiler ---- */

static void write_record(const struct request *r, const struct request_span *s, bool stop)
{
    uint64_t ns = stop ? s->end_ns : s->start_ns, us = ns / 1000 % 1000000,
             seconds = ns / 1000000000 % 86400;
    printf("{\"name\": \"rpc-%s\", \"base_id\": \"%08x-%04x-%04x-%04x-%012" PRIx64
           "\", \"trace_id\": "
           "\"%08x-0000-4000-8000-%012" PRIx64 "\", \"parent_id\": ",
           stop ? "stop" : "start", (unsigned)(r->trace_high >> 32),
           (unsigned)(r->trace_high >> 16 & 0xffff), (unsigned)(r->trace_high & 0xffff),
           (unsigned)(r->trace_low >> 48), r->trace_low & 0xffffffffffff, (unsigned)(s->id >> 32),
           s->id & 0xffffffff);
    if (s->parent)
        printf("\"%08x-0000-4000-8000-%012" PRIx64 "\"", (unsigned)(s->parent >> 32),
               s->parent & 0xffffffff);
    else
        printf("\"%08x-%04x-%04x-%04x-%012" PRIx64 "\"", (unsigned)(r->trace_high >> 32),
               (unsigned)(r->trace_high >> 16 & 0xffff), (unsigned)(r->trace_high & 0xffff),
               (unsigned)(r->trace_low >> 48), r->trace_low & 0xffffffffffff);
    printf(", \"timestamp\": \"2025-11-21T%02u:%02u:%02u.%06u\", \"info\": {",
           (unsigned)(seconds / 3600), (unsigned)(seconds / 60 % 60), (unsigned)(seconds % 60),
           (unsigned)us);
    if (!stop)
        printf("\"function\": {\"name\": \"project.manager.Manager%u.operation_%u\", \"args\": "
               "\"(<project.manager.Manager object "
               "at 0x7f9cfeb15f90>, <project.context.RequestContext object at 0x7f9cfd0a7310>)\", "
               "\"kwargs\": \"{'request_spec': "
               "RequestSpec(image_id=None,group=<?>,operation=<?>,size=%u)}\"}, \"queue_length\": "
               "%u, ",
               s->service, s->operation, (unsigned)(s->id % 4096), (unsigned)(r->trace_low % 9));
    printf("\"host\": \"host-%u\"}, \"project\": \"project\", \"service\": \"service-%u\"}\n",
           s->service, s->service);
}

/* As Redis keeps them: spans end in the reverse order of their nesting, nearly. */
static void write_osprofiler(const struct request *r)
{
    for (unsigned k = 0; k < REQUEST_SPANS; k++)
        write_record(r, &r->spans[k], false);
    for (unsigned k = REQUEST_SPANS; k-- > 0;)
        write_record(r, &r->spans[k], true);
}

enum kind {
    OTLP,
    OTLP_PROTO,
    LEAN,
    OSPROFILER,
    JAEGER,
    ZIPKIN,
    KEYED,
    OPEN,
    WIDE,
    DEEP,
    CHAINS,
    KINDS
};

/* ---- large traces ---- */

#define CHAIN     10000 /* spans of each trace of `chains` */
#define STEP_NS   1000
#define POINTS    64
#define BEGIN_NS  UINT64_C(1760000000000000000)
#define TRACE_GAP UINT64_C(60000000000)

/* Span `i` of a trace that has `size`. The first is around all others; in a chain, where each is
 * around the next one, the innermost lasts as long as `extra_ns` says. */
static struct request_span span_of(size_t i, size_t size, bool chain, uint64_t extra_ns)
{
    struct request_span s = {.id = i + 1, .operation = (unsigned)(i % POINTS)};
    s.parent = i == 0 ? 0 : chain ? i : 1;
    s.start_ns = i * STEP_NS;
    s.end_ns = s.start_ns + STEP_NS / 2;
    if (chain || i == 0)
        s.end_ns = (2 * size - i) * STEP_NS + extra_ns;
    return s;
}

static void write_large(size_t spans, enum kind kind)
{
    static struct sheet sheet;
    size_t size = kind == CHAINS ? CHAIN : spans;
    for (size_t i = 0; i < spans; i++) {
        struct request r = {.trace_high = 1, .trace_low = i / size + 1};
        uint64_t begin_ns = BEGIN_NS + i / size * TRACE_GAP,
                 extra_ns = i / size * 7919 % 101 * size * STEP_NS / 100;
        struct request_span s = span_of(i % size, size, kind != WIDE, extra_ns);
        s.start_ns += begin_ns;
        s.end_ns += begin_ns;
        if (i % BLOCK == 0)
            begin_spans(&sheet);
        put_span(&sheet, &r, &s, true);
        if (i % BLOCK == BLOCK - 1 || i + 1 == spans)
            write_document(&sheet, 0);
    }
}

static void write_mixed(struct requests *all, size_t count, enum kind kind)
{
    static struct request mixed[MIXED];
    for (size_t done = 0; done < count; done += MIXED) {
        for (unsigned i = 0; i < MIXED; i++)
            requests_next(all, &mixed[i]);
        for (unsigned service = 0; kind != OSPROFILER && service < SERVICES; service++)
            if (kind == OTLP)
                write_otlp(mixed, MIXED, service, 0, REQUEST_SPANS);
            else
                write_proto(mixed, MIXED, service, kind == LEAN);
        for (unsigned i = 0; kind == OSPROFILER && i < MIXED; i++)
            write_osprofiler(&mixed[i]);
    }
}

static int write_open(struct requests *all, size_t count)
{
    struct request *open = calloc(count, sizeof(*open));
    if (!open)
        return 1;
    for (size_t i = 0; i < count; i++)
        requests_next(all, &open[i]);
    for (unsigned k = 0; k < REQUEST_SPANS; k++)
        for (size_t i = 0; i < count; i += BLOCK)
            for (unsigned service = 0; service < SERVICES; service++)
                write_otlp(open + i, count - i < BLOCK ? count - i : BLOCK, service, k, k + 1);
    free(open);
    return 0;
}

int main(int argc, char **argv)
{
    static const char *const names[KINDS] = {"otlp",   "otlp-proto", "lean",  "osprofiler",
                                             "jaeger", "zipkin",     "keyed", "open",
                                             "wide",   "deep",       "chains"};
    long spans = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
    uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
    enum kind kind = 0;
    while (kind < KINDS && (argc < 3 || argc > 4 || strcmp(argv[1], names[kind]) != 0))
        kind++;
    if (spans <= 0 || kind == KINDS) {
        fprintf(stderr, "usage: bench_input otlp|otlp-proto|lean|osprofiler|jaeger|zipkin|keyed|"
                        "open|wide|deep|chains SPANS [SEED]\n");
        return 2;
    }
    struct requests all;
    requests_begin(&all, seed);
    size_t count = ((size_t)spans + REQUEST_SPANS - 1) / REQUEST_SPANS;
    int status = 0;
    if (kind == OPEN)
        status = write_open(&all, count);
    else if (kind == JAEGER)
        write_answer(&all, count);
    else if (kind == ZIPKIN)
        write_spans(&all, count);
    else if (kind == KEYED)
        write_keyed(&all, count);
    else if (kind > OPEN)
        write_large((size_t)spans, kind);
    else
        write_mixed(&all, count, kind);
    return fflush(stdout) == 0 ? status : 1;
}
