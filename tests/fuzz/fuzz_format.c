#include <inttypes.h>
#include <string.h>

#include "fuzz.h"
#include "pythia/adapter.h"
#include "pythia/assembler.h"
#include "pythia/attributes.h"
#include "pythia/critical_path.h"
#include "pythia/mem.h"
#include "pythia/status.h"

/* ---- spans ---- */

struct fuzz_sink {
    struct pythia_sink sink;
    struct pythia_counts counts;
    const struct pythia_vocabulary *vocabulary;
    struct pythia_assembler *assembler; /* NULL: the spans are only looked at */
    bool lines;                         /* it is a format of text, which has them */
    size_t size;                        /* of the input */
    uint64_t spans, broken, hash;       /* of all that was given */
};

static void check_attributes(const struct pythia_vocabulary *v, struct pythia_text rest)
{
    struct pythia_attribute attribute;
    const char *end = rest.bytes + rest.size;
    while (pythia_attributes_next(&rest, &attribute)) {
        MUST(rest.bytes <= end);
        MUST(attribute.kind <= PYTHIA_ATTRIBUTE_BOOL);
        MUST(pythia_vocabulary_text(v, attribute.key).bytes != NULL);
    }
    MUST(rest.bytes == end);
}

static int take_span(struct pythia_sink *sink, const struct pythia_trace_id *trace,
                     const struct pythia_span *span)
{
    struct fuzz_sink *f = (struct fuzz_sink *)sink;
    MUST(span->id != 0);
    MUST(span->start_ns <= INT64_MAX);
    MUST(span->kind <= PYTHIA_SPAN_CONSUMER && span->relation <= PYTHIA_RELATION_SPAWN);
    MUST(span->part <= PYTHIA_PART_ADDITION);
    MUST((span->tracepoint == PYTHIA_NONE) == (span->part == PYTHIA_PART_STOP));
    MUST(span->part == PYTHIA_PART_STOP ||
         span->tracepoint < pythia_vocabulary_tracepoints(f->vocabulary));
    check_attributes(f->vocabulary, span->attributes);
    const uint64_t numbers[] = {
        trace->high,      trace->low,
        span->id,         span->parent,
        span->start_ns,   (uint64_t)span->duration_ns,
        span->tracepoint, span->resource,
        span->part,       pythia_hash_bytes(span->attributes.bytes, span->attributes.size)};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        f->hash = pythia_hash_mix(f->hash, numbers[i]);
    f->spans++;
    return f->assembler ? pythia_assembler_add(f->assembler, trace, span) : PYTHIA_OK;
}

static void take_broken(struct pythia_sink *sink, const struct pythia_error *why)
{
    struct fuzz_sink *f = (struct fuzz_sink *)sink;
    MUST(why->status < 0 && why->sentence[0] && why->source[0]);
    MUST(f->lines ? why->line > 0 : why->line == 0 && why->offset <= f->size);
    f->broken++;
}

/* Decode in pieces of so many bytes (0: in one). */
static void decode(struct fuzz_sink *f, struct pythia_vocabulary *vocabulary, const char *format,
                   const uint8_t *bytes, size_t size, size_t piece)
{
    const struct pythia_adapter_ops *ops = pythia_adapter_named(format);
    struct pythia_adapter *adapter;
    struct pythia_memory_source memory;
    struct pythia_error error = {0};
    f->sink = (struct pythia_sink){.span = take_span, .broken = take_broken, .counts = &f->counts};
    f->vocabulary = vocabulary;
    f->lines = strcmp(format, "otlp-proto") != 0 && strcmp(format, "recording") != 0;
    f->size = size;
    MUST(ops->create(vocabulary, &adapter) == PYTHIA_OK);
    pythia_memory_source_init(&memory, "input", bytes, size);
    memory.piece = piece;
    MUST(ops->decode(adapter, &memory.source, &f->sink, &error) == PYTHIA_OK);
    ops->destroy(adapter);
    MUST(f->broken == f->counts.dropped[PYTHIA_DROP_BROKEN_RECORD]);
}

/* What is not taken is counted; in any pieces as in one. */
static void count(const struct fuzz_sink *decoded, const char *format, const char *bytes,
                  size_t size)
{
    const struct pythia_adapter_ops *ops = pythia_adapter_named(format);
    struct pythia_span_count whole = {0}, cut = {0};
    if (!ops->count)
        return;
    ops->count(&whole, bytes, size);
    for (size_t at = 0, piece = size % 89 + 1; at < size; at += piece)
        ops->count(&cut, bytes + at, size - at < piece ? size - at : piece);
    MUST(whole.spans == cut.spans && whole.spans <= size);
    MUST(strcmp(format, "otlp-proto") != 0 || decoded->broken > 0 || whole.spans == decoded->spans);
}

/* ---- traces ---- */

struct paths {
    struct pythia_critical_path path;
    uint32_t *stack; /* spans that the path is in */
    size_t capacity;
    uint64_t kept;
};

/* A forest whose children begin after their parents, siblings in order of time. */
static void check_spans(const struct pythia_trace *t)
{
    uint32_t linked = 0;
    MUST(t->count > 0 && t->roots > 0);
    MUST(t->start_ns <= t->end_ns && t->end_ns <= t->completed_ns);
    for (uint32_t i = 0; i < t->count; i++) {
        const struct pythia_trace_span *span = &t->spans[i];
        const struct pythia_trace_span *parent =
            span->parent == PYTHIA_NO_SPAN ? NULL : &t->spans[span->parent];
        MUST(span->parent == PYTHIA_NO_SPAN || span->parent < t->count);
        MUST(span->start_ns <= span->end_ns && span->end_ns <= span->completed_ns);
        MUST(!parent || parent->start_ns <= span->start_ns);
        MUST(!parent || parent->completed_ns >= span->completed_ns);
        MUST(!span->annotation || span->first_child == PYTHIA_NO_SPAN);
        MUST(span->joins == PYTHIA_NO_SPAN || span->joins < t->count);
        for (uint32_t child = span->first_child, last = PYTHIA_NO_SPAN; child != PYTHIA_NO_SPAN;
             last = child, child = t->spans[child].next_sibling, linked++) {
            MUST(t->spans[child].parent == i);
            MUST(last == PYTHIA_NO_SPAN || t->spans[last].start_ns <= t->spans[child].start_ns);
        }
    }
    for (uint32_t root = t->first_root; root != PYTHIA_NO_SPAN;
         root = t->spans[root].next_sibling, linked++)
        MUST(t->spans[root].parent == PYTHIA_NO_SPAN);
    MUST(linked == t->count);
}

/* Gaps of 0 or more that add up to the duration, and spans well nested. */
static void check_path(struct paths *p, const struct pythia_trace *t, enum pythia_latency latency)
{
    MUST(pythia_critical_path_find(&p->path, t, latency) == PYTHIA_OK);
    uint64_t end = latency == PYTHIA_LATENCY_COMPLETION ? t->completed_ns : t->end_ns, sum = 0;
    size_t depth = 0;
    for (size_t i = 0; i < p->path.count; i++) {
        const struct pythia_path_event *event = &p->path.events[i];
        const struct pythia_path_event *before = i ? event - 1 : event;
        MUST(event->span < t->count && before->at_ns <= event->at_ns);
        MUST(event->at_ns >= t->start_ns && event->at_ns <= end);
        sum += event->at_ns - before->at_ns;
        if (event->kind == PYTHIA_EVENT_START) {
            MUST(pythia_grow(&p->stack, &p->capacity, depth, sizeof(*p->stack)) == PYTHIA_OK);
            p->stack[depth++] = event->span;
        } else if (event->kind == PYTHIA_EVENT_END) {
            MUST(depth > 0 && p->stack[depth - 1] == event->span);
            depth--;
        }
    }
    MUST(depth == 0);
    MUST(p->path.count > 0);
    MUST(sum == end - t->start_ns);
}

static int take_trace(void *context, const struct pythia_trace *t)
{
    struct paths *p = context;
    p->kept += t->count;
    check_spans(t);
    check_path(p, t, PYTHIA_LATENCY_COMPLETION);
    check_path(p, t, PYTHIA_LATENCY_CLIENT);
    return PYTHIA_OK;
}

void fuzz_format(const char *format, const uint8_t *bytes, size_t size)
{
    struct pythia_vocabulary *vocabulary;
    struct paths paths = {0};
    struct fuzz_sink whole = {0}, cut = {0};
    struct pythia_counts counts = {0};
    pythia_critical_path_init(&paths.path);
    MUST(pythia_vocabulary_create(&vocabulary) == PYTHIA_OK);
    MUST(pythia_assembler_create(vocabulary, &(struct pythia_assembler_options){0},
                                 (struct pythia_trace_taker){take_trace, &paths}, &counts,
                                 &whole.assembler) == PYTHIA_OK);
    decode(&whole, vocabulary, format, bytes, size, 0);
    MUST(pythia_assembler_finish(whole.assembler) == PYTHIA_OK);
    MUST(counts.spans == whole.spans && counts.kept == paths.kept);
    decode(&cut, vocabulary, format, bytes, size, size % 97 + 1);
    MUST(whole.spans == cut.spans && whole.broken == cut.broken && whole.hash == cut.hash);
    count(&whole, format, (const char *)bytes, size);
    pythia_adapter_like((struct pythia_text){(const char *)bytes, size});
    pythia_assembler_destroy(whole.assembler);
    pythia_critical_path_free(&paths.path);
    pythia_free(paths.stack);
    pythia_vocabulary_destroy(vocabulary);
}
