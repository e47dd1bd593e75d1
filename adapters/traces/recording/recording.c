/* The files of pythiad --record: the bodies that came in, one after the other, each in its own
 * format.
 *
 *     pythia recording 1
 *     otlp-proto 5120
 *     <5120 bytes>
 *     zipkin 880
 *     <880 bytes>
 *
 * Behind each body there is a line break of its own. Where a line is not such a one, nothing that
 * follows can be found: the rest is reported as lost. */
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "pythia/mem.h"
#include "pythia/status.h"
#include "shared/formats.h"

#define HEAD      "pythia recording 1\n"
#define LINE_MAX_ 96
#define READ_SIZE ((size_t)64 * 1024)
#define FORMATS   16
#define ENDED     1 /* there is nothing more to read */

struct recording {
    struct pythia_adapter adapter;
    struct pythia_vocabulary *vocabulary;
    const struct pythia_adapter_ops *formats[FORMATS]; /* met so far */
    struct pythia_adapter *decoders[FORMATS];
    size_t count;
    char *bytes; /* read ahead */
    size_t size, at;
    uint64_t offset; /* in the source, of bytes[at] */
    struct pythia_source *from;
};

/* A body, as a source of its own, and between its decoder and whoever gets its spans. */
struct body {
    struct pythia_source source;
    struct pythia_sink sink;
    struct recording *recording;
    struct pythia_sink *to;
    const char *format;
    uint64_t begun, left; /* where in the recording; bytes to come */
};

static int recording_likeness(const struct pythia_head *head)
{
    return pythia_text_starts(head->text, PYTHIA_TEXT(HEAD)) ? 100 : 0;
}

static int create_recording(struct pythia_vocabulary *vocabulary, struct pythia_adapter **out)
{
    struct recording *r = pythia_calloc(1, sizeof(*r));
    char *bytes = pythia_realloc(NULL, READ_SIZE, 1);
    if (!r || !bytes) {
        pythia_free(r);
        pythia_free(bytes);
        return PYTHIA_ENOMEM;
    }
    r->adapter.ops = &pythia__recording;
    r->vocabulary = vocabulary;
    r->bytes = bytes;
    *out = &r->adapter;
    return PYTHIA_OK;
}

static void destroy_recording(struct pythia_adapter *a)
{
    struct recording *r = (struct recording *)a;
    if (!r)
        return;
    for (size_t i = 0; i < r->count; i++)
        r->formats[i]->destroy(r->decoders[i]);
    pythia_free(r->bytes);
    pythia_free(r);
}

/* Have at least one byte that is not taken yet; ENDED if there are no more. */
static int fill_some(struct recording *r, struct pythia_error *e)
{
    if (r->at < r->size)
        return PYTHIA_OK;
    r->at = r->size = 0;
    int status = r->from->read(r->from, r->bytes, READ_SIZE, &r->size, e);
    if (status != PYTHIA_OK)
        return status;
    return r->size == 0 ? ENDED : PYTHIA_OK;
}

/* Read a line without its break into `line`; ENDED at the end, PYTHIA_EFORMAT if it is too long or
 * ends without a break: a recording that was cut off, or no recording at all. */
static int read_head_line(struct recording *r, char line[LINE_MAX_], struct pythia_error *e)
{
    size_t size = 0;
    for (;;) {
        int status = fill_some(r, e);
        if (status == ENDED && size == 0)
            return ENDED;
        if (status != PYTHIA_OK)
            return status == ENDED ? PYTHIA_EFORMAT : status;
        char c = r->bytes[r->at++];
        r->offset++;
        if (c == '\n') {
            line[size] = '\0';
            return PYTHIA_OK;
        }
        if (size + 1 == LINE_MAX_)
            return PYTHIA_EFORMAT;
        line[size++] = c;
    }
}

/* The source of a body's decoder: it ends where the body ends, so that a decoder that reads to the
 * end of its input finds it. */
static int read_body(struct pythia_source *source, void *to, size_t capacity, size_t *got,
                     struct pythia_error *e)
{
    struct body *b = (struct body *)source;
    struct recording *r = b->recording;
    *got = 0;
    if (b->left == 0)
        return PYTHIA_OK;
    int status = fill_some(r, e);
    if (status == ENDED)
        return pythia_error_set(e, PYTHIA_EFORMAT,
                                "the recording ends in the middle of a body, %" PRIu64
                                " bytes before its end",
                                b->left);
    if (status != PYTHIA_OK)
        return status;
    size_t size = r->size - r->at;
    size = size < capacity ? size : capacity;
    size = size < b->left ? size : (size_t)b->left;
    memcpy(to, r->bytes + r->at, size);
    r->at += size;
    r->offset += size;
    b->left -= size;
    *got = size;
    return PYTHIA_OK;
}

/* Find a format that the bodies of a recording may have. */
static const struct pythia_adapter_ops *find_body_format(const char *name)
{
    static const struct pythia_adapter_ops *const all[] = {PYTHIA_FORMATS(PYTHIA__FORMAT_ROW)};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (all[i] != &pythia__recording && strcmp(all[i]->name, name) == 0)
            return all[i];
    return NULL;
}

static struct pythia_adapter *reach_decoder(struct recording *r, const char *name,
                                            const struct pythia_adapter_ops **format)
{
    for (size_t i = 0; i < r->count; i++)
        if (strcmp(r->formats[i]->name, name) == 0) {
            *format = r->formats[i];
            return r->decoders[i];
        }
    const struct pythia_adapter_ops *found = find_body_format(name);
    if (!found || r->count == FORMATS ||
        found->create(r->vocabulary, &r->decoders[r->count]) != PYTHIA_OK)
        return NULL;
    r->formats[r->count] = *format = found;
    return r->decoders[r->count++];
}

/* "otlp-proto 5120": the format's name stays in `line`. */
static bool split_head(char *line, uint64_t *size)
{
    char *space = strchr(line, ' '), *end;
    if (!space || space == line || space[1] < '0' || space[1] > '9')
        return false;
    *space = '\0';
    *size = strtoull(space + 1, &end, 10);
    return *end == '\0';
}

static struct body *find_sink_body(struct pythia_sink *sink)
{
    return (struct body *)((char *)sink - offsetof(struct body, sink));
}

static int forward_span(struct pythia_sink *sink, const struct pythia_trace_id *trace,
                        const struct pythia_span *span)
{
    struct pythia_sink *to = find_sink_body(sink)->to;
    return to->span(to, trace, span);
}

static void forward_cost(struct pythia_sink *sink, uint32_t tracepoint, uint64_t ns)
{
    struct pythia_sink *to = find_sink_body(sink)->to;
    to->cost(to, tracepoint, ns);
}

/* Report what a decoder reports, at the place of the body: the decoder's lines and bytes are those
 * within the body. */
static void report_broken_body(struct pythia_sink *sink, const struct pythia_error *why)
{
    const struct body *b = find_sink_body(sink);
    struct pythia_error inside = *why, told = {0};
    char text[640];
    inside.source[0] = '\0';
    pythia_error_place(&told, b->source.name, 0, b->begun);
    pythia_error_set(&told, why->status, "a body (%s) from here on: %s", b->format,
                     pythia_error_text(&inside, text, sizeof(text)));
    b->to->broken(b->to, &told);
}

/* Decode one body after the line that describes it. What its decoder could not read is reported,
 * and the rest of the body is passed over: the next line is after it. */
static int decode_recorded_body(struct recording *r, const char *format_name, uint64_t size,
                                struct pythia_sink *to, struct pythia_error *e)
{
    const struct pythia_adapter_ops *format = NULL;
    struct pythia_adapter *decoder = reach_decoder(r, format_name, &format);
    struct body b = {.source = {.name = r->from->name, .read = read_body},
                     .sink = {.span = forward_span,
                              .broken = report_broken_body,
                              .cost = to->cost ? forward_cost : NULL,
                              .counts = to->counts,
                              .limits = to->limits,
                              .redaction = to->redaction},
                     .recording = r,
                     .to = to,
                     .format = format_name,
                     .begun = r->offset,
                     .left = size};
    struct pythia_error why = {0};
    if (decoder) {
        int status = format->decode(decoder, &b.source, &b.sink, &why);
        if (status != PYTHIA_OK && why.status == PYTHIA_OK)
            return status; /* the sink wants no more, or there is no memory */
    } else {
        pythia_error_set(&why, PYTHIA_EFORMAT, "unknown format %s", format_name);
    }
    if (why.status != PYTHIA_OK) {
        to->counts->dropped[PYTHIA_DROP_BROKEN_RECORD]++;
        report_broken_body(&b.sink, &why);
    }
    char rest[4096];
    size_t got;
    while (b.left > 0) {
        int status = read_body(&b.source, rest, sizeof(rest), &got, e);
        if (status != PYTHIA_OK) /* where the body is cut off has been reported */
            return status == PYTHIA_EFORMAT && why.status != PYTHIA_OK ? ENDED : status;
    }
    return PYTHIA_OK;
}

/* Read the line that describes a body, and the body: 0, ENDED after the last one or where the last
 * one is cut off, PYTHIA_EFORMAT where no such line is, or what else failed. */
static int decode_next_body(struct recording *r, struct pythia_sink *to, struct pythia_error *e)
{
    char line[LINE_MAX_];
    uint64_t size;
    int status = read_head_line(r, line, e);
    if (status != PYTHIA_OK)
        return status;
    if (!split_head(line, &size))
        return PYTHIA_EFORMAT;
    status = decode_recorded_body(r, line, size, to, e);
    if (status != PYTHIA_OK)
        return status;
    status = read_head_line(r, line, e);
    if (status != PYTHIA_OK)
        return status == ENDED ? PYTHIA_EFORMAT : status;
    return *line ? PYTHIA_EFORMAT : PYTHIA_OK;
}

/* Where a line is not as it should be, no later body can be found: the rest is reported as one
 * loss. */
static int decode_recording(struct pythia_adapter *a, struct pythia_source *from,
                            struct pythia_sink *to, struct pythia_error *e)
{
    struct recording *r = (struct recording *)a;
    char line[LINE_MAX_];
    r->from = from;
    r->size = r->at = 0;
    r->offset = 0;
    int status = read_head_line(r, line, e);
    if (status == ENDED || (status == PYTHIA_OK && strcmp(line, "pythia recording 1") != 0))
        status = PYTHIA_EFORMAT;
    while (status == PYTHIA_OK)
        status = decode_next_body(r, to, e);
    if (status == ENDED)
        return PYTHIA_OK;
    if (status != PYTHIA_EFORMAT)
        return status;
    struct pythia_error why = {0};
    pythia_error_place(&why, from->name, 0, r->offset);
    pythia_error_set(&why, PYTHIA_EFORMAT,
                     "is not a recording from here on: expected a line FORMAT SIZE");
    to->counts->dropped[PYTHIA_DROP_BROKEN_RECORD]++;
    to->broken(to, &why);
    return PYTHIA_OK;
}

const struct pythia_adapter_ops pythia__recording = {
    .name = "recording",
    .help = "what pythiad --record wrote",
    .likeness = recording_likeness,
    .create = create_recording,
    .decode = decode_recording,
    .destroy = destroy_recording,
};
