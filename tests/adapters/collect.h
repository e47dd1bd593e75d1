/* A sink that keeps what a decoder gives it, and questions about it that fail the test if the
 * answer is wrong. */
#ifndef COLLECT_H
#define COLLECT_H

#include <string.h>

#include "check.h"
#include "pythia/adapter.h"
#include "pythia/attributes.h"
#include "pythia/buf.h"
#include "pythia/mem.h"
#include "pythia/status.h"

struct collected {
    struct pythia_trace_id trace;
    struct pythia_span span; /* its attributes are at .offset in the collection's */
    size_t offset;
};

struct collection {
    struct pythia_sink sink;
    struct pythia_counts counts;
    struct pythia_vocabulary *vocabulary;
    struct collected *spans;
    size_t count, capacity;
    struct pythia_buf attributes;
    struct pythia_buf problems; /* "line:offset: sentence\n" of each broken record */
    struct pythia_error error;  /* of the decoder as a whole */
    int status;                 /* what it returned */
    size_t stop_after;          /* spans after which the sink asks to stop; 0: never */
};

static inline int collect_span(struct pythia_sink *sink, const struct pythia_trace_id *trace,
                               const struct pythia_span *span)
{
    struct collection *c = (struct collection *)sink;
    if (pythia_grow(&c->spans, &c->capacity, c->count, sizeof(*c->spans)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    struct collected *kept = &c->spans[c->count++];
    *kept = (struct collected){*trace, *span, c->attributes.size};
    pythia_buf_text_add(&c->attributes, span->attributes);
    if (c->stop_after && c->count == c->stop_after)
        return PYTHIA_ESTOPPED;
    return pythia_buf_status(&c->attributes);
}

static inline void collect_broken(struct pythia_sink *sink, const struct pythia_error *why)
{
    struct collection *c = (struct collection *)sink;
    pythia_buf_printf(&c->problems, "%llu:%llu: %s\n", (unsigned long long)why->line,
                      (unsigned long long)why->offset, why->sentence);
}

static inline void collection_open(struct collection *c)
{
    *c = (struct collection){.sink = {.span = collect_span, .broken = collect_broken}};
    c->sink.counts = &c->counts;
    assert_int_equal(pythia_vocabulary_create(&c->vocabulary), PYTHIA_OK);
}

static inline void collection_close(struct collection *c)
{
    pythia_vocabulary_destroy(c->vocabulary);
    pythia_free(c->spans);
    pythia_buf_free(&c->attributes);
    pythia_buf_free(&c->problems);
}

/* Decode a source by a format; what it returned is in c->status. May be called again for the next
 * source. */
static inline void collect_source(struct collection *c, const char *format,
                                  struct pythia_source *from)
{
    const struct pythia_adapter_ops *ops = pythia_adapter_named(format);
    struct pythia_adapter *adapter = NULL;
    assert_non_null(ops);
    c->status = ops->create(c->vocabulary, &adapter);
    if (c->status == PYTHIA_OK)
        c->status = ops->decode(adapter, from, &c->sink, &c->error);
    ops->destroy(adapter);
    pythia_buf_putc(&c->problems, '\0'); /* for whoever prints or compares them */
    if (c->problems.size)
        c->problems.size--;
}

/* JSON as it is written in tests, with ' for ". Freed by the caller. */
static inline struct pythia_buf json_of(const char *text)
{
    struct pythia_buf json = {0};
    for (; *text; text++)
        pythia_buf_putc(&json, (char)(*text == '\'' ? '"' : *text));
    assert_int_equal(pythia_buf_status(&json), PYTHIA_OK);
    return json;
}

/* Decode bytes that come in pieces of so many (0: in one). */
static inline void collect_bytes(struct collection *c, const char *format, struct pythia_text bytes,
                                 size_t piece)
{
    struct pythia_memory_source memory;
    pythia_memory_source_init(&memory, "test", bytes.bytes, bytes.size);
    memory.piece = piece;
    collect_source(c, format, &memory.source);
}

/* The same of JSON, with ' for ". */
static inline void collect_pieces(struct collection *c, const char *format, const char *text,
                                  size_t piece)
{
    struct pythia_buf json = json_of(text);
    collect_bytes(c, format, pythia_buf_text(&json), piece);
    pythia_buf_free(&json);
}

/* The same, of which the decoder reaches the end. */
static inline void collect(struct collection *c, const char *format, const char *text)
{
    collect_pieces(c, format, text, 0);
    assert_int_equal(c->status, PYTHIA_OK);
}

/* Let each allocation fail in turn: a decoder says so, and lets nothing leak. */
static inline void assert_every_allocation_may_fail_of(const char *format, struct pythia_text bytes,
                                                       size_t piece)
{
    int status = PYTHIA_ENOMEM;
    for (long allowed = 0; status == PYTHIA_ENOMEM; allowed++) {
        struct collection c;
        collection_open(&c);
        pythia_mem_fail_after(allowed);
        collect_bytes(&c, format, bytes, piece);
        pythia_mem_fail_after(-1);
        status = c.status;
        assert_true(status == PYTHIA_OK || status == PYTHIA_ENOMEM);
        collection_close(&c);
    }
}

static inline void assert_every_allocation_may_fail(const char *format, const char *text)
{
    struct pythia_buf json = json_of(text);
    assert_every_allocation_may_fail_of(format, pythia_buf_text(&json), 0);
    pythia_buf_free(&json);
}

/* The same spans and problems whatever the size of the pieces that the source comes in. */
static inline void assert_pieces_do_not_matter_of(const char *format, struct pythia_text bytes)
{
    struct collection whole, cut;
    collection_open(&whole);
    collect_bytes(&whole, format, bytes, 0);
    assert_int_equal(whole.status, PYTHIA_OK);
    for (size_t piece = 1; piece < 100; piece = piece * 2 + 1) {
        collection_open(&cut);
        collect_bytes(&cut, format, bytes, piece);
        assert_int_equal(cut.status, PYTHIA_OK);
        assert_int_equal(cut.count, whole.count);
        assert_string_equal(cut.problems.bytes, whole.problems.bytes);
        assert_int_equal(cut.attributes.size, whole.attributes.size);
        if (whole.attributes.size)
            assert_memory_equal(cut.attributes.bytes, whole.attributes.bytes,
                                whole.attributes.size);
        collection_close(&cut);
    }
    collection_close(&whole);
}

static inline void assert_pieces_do_not_matter(const char *format, const char *text)
{
    struct pythia_buf json = json_of(text);
    assert_pieces_do_not_matter_of(format, pythia_buf_text(&json));
    pythia_buf_free(&json);
}

/* ---- questions ---- */

static inline const struct pythia_span *span_at(const struct collection *c, size_t i)
{
    assert_true(i < c->count);
    return &c->spans[i].span;
}

static inline bool find_attribute(const struct collection *c, struct pythia_text packed,
                                  const char *key, struct pythia_attribute *out)
{
    uint32_t number = pythia_vocabulary_string(c->vocabulary, pythia_text_of(key));
    return pythia_attributes_find(packed, number, out);
}

static inline struct pythia_text attributes_at(const struct collection *c, size_t i)
{
    return (struct pythia_text){c->attributes.bytes + c->spans[i].offset,
                                span_at(c, i)->attributes.size};
}

static inline size_t attribute_count(const struct collection *c, size_t i)
{
    struct pythia_text rest = attributes_at(c, i);
    struct pythia_attribute attribute;
    size_t count = 0;
    while (pythia_attributes_next(&rest, &attribute))
        count++;
    return count;
}

static inline void assert_text_in(const struct collection *c, struct pythia_text packed,
                                  const char *key, const char *expected)
{
    struct pythia_attribute found;
    if (!find_attribute(c, packed, key, &found) || found.kind != PYTHIA_ATTRIBUTE_TEXT)
        fail_msg("there is no text %s", key);
    if (!pythia_text_equal(found.text, pythia_text_of(expected)))
        fail_msg("%s is '%.*s', not '%s'", key, (int)found.text.size, found.text.bytes, expected);
}

#define assert_text(c, i, key, expected) assert_text_in((c), attributes_at((c), (i)), key, expected)

static inline void assert_number(const struct collection *c, size_t i, const char *key,
                                 enum pythia_attribute_kind kind, double expected)
{
    struct pythia_attribute found;
    if (!find_attribute(c, attributes_at(c, i), key, &found))
        fail_msg("there is no %s", key);
    assert_int_equal(found.kind, kind);
    assert_rel_equal(kind == PYTHIA_ATTRIBUTE_REAL ? found.real : (double)found.integer, expected,
                     0);
}

#define assert_integer(c, i, key, n) assert_number((c), (i), key, PYTHIA_ATTRIBUTE_INTEGER, n)
#define assert_real(c, i, key, x)    assert_number((c), (i), key, PYTHIA_ATTRIBUTE_REAL, x)
#define assert_truth(c, i, key, b)   assert_number((c), (i), key, PYTHIA_ATTRIBUTE_BOOL, b)

static inline void assert_no_attribute(const struct collection *c, size_t i, const char *key)
{
    struct pythia_attribute found;
    assert_false(find_attribute(c, attributes_at(c, i), key, &found));
}

static inline void assert_tracepoint(const struct collection *c, size_t i, const char *expected)
{
    assert_string_equal(
        pythia_vocabulary_tracepoint_id(c->vocabulary, span_at(c, i)->tracepoint).bytes, expected);
}

static inline struct pythia_resource resource_at(const struct collection *c, size_t i)
{
    return pythia_vocabulary_resource_at(c->vocabulary, span_at(c, i)->resource);
}

static inline void assert_resource(const struct collection *c, size_t i, const char *service,
                                   const char *host, const char *instance)
{
    struct pythia_resource r = resource_at(c, i);
    assert_string_equal(pythia_vocabulary_text(c->vocabulary, r.service).bytes, service);
    assert_string_equal(pythia_vocabulary_text(c->vocabulary, r.host).bytes, host);
    assert_string_equal(pythia_vocabulary_text(c->vocabulary, r.instance).bytes, instance);
}

static inline void assert_times(const struct collection *c, size_t i, uint64_t start_ns,
                                int64_t duration_ns)
{
    assert_true(span_at(c, i)->start_ns == start_ns);
    assert_true(span_at(c, i)->duration_ns == duration_ns);
}

static inline void assert_trace(const struct collection *c, size_t i, uint64_t high, uint64_t low)
{
    assert_true(i < c->count);
    assert_true(c->spans[i].trace.high == high && c->spans[i].trace.low == low);
}

/* The broken records, as "line:offset: sentence\n" each. */
static inline void assert_problems(const struct collection *c, const char *expected)
{
    assert_string_equal(c->problems.bytes ? c->problems.bytes : "", expected);
}

#endif
