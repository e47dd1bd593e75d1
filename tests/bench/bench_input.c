/* Writes traces for the benchmarks: bench_input otlp|osprofiler|open SPANS > FILE.
 *
 * otlp: one document a line, as the collector's file exporter writes them; each span has 10
 * attributes, and some 900 bytes; 32 requests are mixed, as they would be if they ran beside each
 * other. open: the same, but the first spans of all requests come first, then the second, and so
 * on, so that all are open until the end. osprofiler: raw records, a start and a stop for each
 * span. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void write_mixed(struct requests *all, size_t count, bool otlp)
{
    static struct request mixed[MIXED];
    for (size_t done = 0; done < count; done += MIXED) {
        for (unsigned i = 0; i < MIXED; i++)
            requests_next(all, &mixed[i]);
        for (unsigned service = 0; otlp && service < SERVICES; service++)
            write_otlp(mixed, MIXED, service, 0, REQUEST_SPANS);
        for (unsigned i = 0; !otlp && i < MIXED; i++)
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
    const char *what = argc == 3 ? argv[1] : "";
    long spans = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
    bool otlp = strcmp(what, "otlp") == 0, open = strcmp(what, "open") == 0;
    if (spans <= 0 || (!otlp && !open && strcmp(what, "osprofiler") != 0)) {
        fprintf(stderr, "usage: bench_input otlp|osprofiler|open SPANS\n");
        return 2;
    }
    struct requests all;
    requests_begin(&all, 1);
    size_t count = ((size_t)spans + REQUEST_SPANS - 1) / REQUEST_SPANS;
    int status = 0;
    if (open)
        status = write_open(&all, count);
    else
        write_mixed(&all, count, otlp);
    return fflush(stdout) == 0 ? status : 1;
}
