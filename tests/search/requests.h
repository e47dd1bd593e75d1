/* Requests as text, so that a test reads like what it is about. A span is the id of its trace point
 * with its key-values behind it and, between braces, what happens in it, one after the other;
 * numbers are ns that pass:
 *
 *   api:GET{10 db:SELECT{100} 890}   1000 ns; after 10 of them a call begins that takes 100
 *   A(queue=3,host=cp-2){5}          key-values: 3 is a whole number, 2.5 a real one, true a truth
 *                                    value, all else is text, and so is '3'
 *   A(a=1)[region=eu]{5}             behind them those of the process
 *   A{5 *E 5}                        a point in time
 *   A{5 ~K{500} 20}                  K goes on by itself: A takes 25
 *   A{5} 10 B{5}                     two roots
 *
 * What stands before the first colon is the service. Request n of a set is always the same trace,
 * whatever came before it: it begins 10 n seconds after a common beginning. */
#ifndef REQUESTS_H
#define REQUESTS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "pythia/arena.h"
#include "pythia/attributes.h"
#include "pythia/buf.h"
#include "pythia/critical_path.h"
#include "pythia/groups.h"
#include "pythia/mem.h"
#include "pythia/random.h"
#include "pythia/status.h"
#include "pythia/trace.h"

#define REQUESTS_BEGIN UINT64_C(1700000000000000000)
#define REQUESTS_EVERY UINT64_C(10000000000)

struct requests {
    struct pythia_vocabulary *vocabulary;
    struct pythia_open_points *open; /* NULL: all are */
    struct pythia_trace_builder *builder;
    struct pythia_groups *groups; /* NULL before requests_group */
    struct pythia_critical_path path;
    struct pythia_counts counts;
    struct pythia_arena attributes; /* of the trace at hand */
    uint64_t count;                 /* of requests that were added */
};

static inline void requests_begin(struct requests *r)
{
    *r = (struct requests){0};
    assert_int_equal(pythia_vocabulary_create(&r->vocabulary), PYTHIA_OK);
    assert_int_equal(pythia_trace_builder_create(r->vocabulary, NULL, &r->builder), PYTHIA_OK);
}

static inline void requests_end(struct requests *r)
{
    pythia_groups_destroy(r->groups);
    pythia_trace_builder_destroy(r->builder);
    pythia_open_points_destroy(r->open);
    pythia_critical_path_free(&r->path);
    pythia_arena_free(&r->attributes);
    pythia_vocabulary_destroy(r->vocabulary);
}

/* From now on all trace points but these are closed; `ids` have blanks between them. */
static inline void requests_open(struct requests *r, const char *ids)
{
    pythia_trace_builder_destroy(r->builder);
    pythia_open_points_destroy(r->open);
    assert_int_equal(pythia_open_points_create(r->vocabulary, &r->open), PYTHIA_OK);
    while (*(ids += strspn(ids, " "))) {
        struct pythia_text id = {ids, strcspn(ids, " ")};
        assert_int_equal(pythia_open_points_add(r->open, id), PYTHIA_OK);
        ids += id.size;
    }
    assert_int_equal(pythia_trace_builder_create(r->vocabulary, r->open, &r->builder), PYTHIA_OK);
}

static inline uint32_t requests_string(struct requests *r, const char *text)
{
    return pythia_vocabulary_string(r->vocabulary, pythia_text_of(text));
}

/* The trace point of that id, which has been seen. */
static inline uint32_t requests_point(const struct requests *r, const char *id)
{
    uint32_t point = pythia_vocabulary_tracepoint_find(r->vocabulary, pythia_text_of(id));
    if (point == PYTHIA_NONE)
        fail_msg("no such trace point: %s", id);
    return point;
}

/* ---- reading ---- */

struct requests_reader {
    struct requests *r;
    const char *at;
    uint64_t now_ns, next_id;
};

static inline void requests_value(uint32_t key, struct pythia_text text, struct pythia_buf *to)
{
    char word[256], *end;
    assert_in_range(text.size, 1, sizeof(word) - 1);
    memcpy(word, text.bytes, text.size);
    word[text.size] = '\0';
    long long whole = strtoll(word, &end, 10);
    if (word[0] == '\'') {
        pythia_attributes_text(to, key, (struct pythia_text){text.bytes + 1, text.size - 2});
    } else if (*end == '\0') {
        pythia_attributes_integer(to, key, whole);
    } else if (strcmp(word, "true") == 0 || strcmp(word, "false") == 0) {
        pythia_attributes_bool(to, key, word[0] == 't');
    } else {
        double real = strtod(word, &end);
        if (*end == '\0')
            pythia_attributes_real(to, key, real);
        else
            pythia_attributes_text(to, key, text);
    }
}

/* "(a=1,b=x)", up to and with the bracket that closes it; borrowed until the next trace. */
static inline struct pythia_text requests_attributes(struct requests_reader *in, char close)
{
    struct pythia_buf packed = {0};
    while (*in->at++ != close) {
        struct pythia_text name = {in->at, strcspn(in->at, "=")};
        struct pythia_text value = {name.bytes + name.size + 1, 0};
        value.size = strcspn(value.bytes, ",)]");
        requests_value(pythia_vocabulary_string(in->r->vocabulary, name), value, &packed);
        in->at = value.bytes + value.size;
        assert_true(*in->at == ',' || *in->at == close);
    }
    char *kept = pythia_arena_alloc(&in->r->attributes, packed.size + 1);
    assert_true(kept && pythia_buf_status(&packed) == PYTHIA_OK);
    struct pythia_text text = {kept, packed.size};
    if (packed.size)
        memcpy(kept, packed.bytes, packed.size);
    pythia_buf_free(&packed);
    return text;
}

static inline uint32_t requests_name(struct requests *r, struct pythia_text id, uint32_t *service)
{
    const char *colon = memchr(id.bytes, ':', id.size);
    size_t skip = colon ? (size_t)(colon - id.bytes) + 1 : 0;
    *service = pythia_vocabulary_string(r->vocabulary,
                                        (struct pythia_text){id.bytes, skip ? skip - 1 : 0});
    uint32_t name = pythia_vocabulary_string(r->vocabulary,
                                             (struct pythia_text){id.bytes + skip, id.size - skip});
    return pythia_vocabulary_tracepoint(r->vocabulary, *service, 0, name);
}

/* What stands between two braces, or in the whole text. Spans that are nested 100 deep are as deep
 * as tests go. */
static inline void requests_read(struct requests_reader *in, uint64_t parent)
{
    for (;;) {
        in->at += strspn(in->at, " ");
        if (*in->at == '\0' || *in->at == '}')
            return;
        if (*in->at >= '0' && *in->at <= '9') {
            char *end;
            in->now_ns += strtoull(in->at, &end, 10);
            in->at = end;
            continue;
        }
        bool beside = *in->at == '~', point = *in->at == '*';
        in->at += beside || point;
        struct pythia_text id = {in->at, strcspn(in->at, "([{} ")};
        struct pythia_span span = {.id = in->next_id++,
                                   .parent = parent,
                                   .start_ns = in->now_ns,
                                   .part = point ? PYTHIA_PART_ANNOTATION : PYTHIA_PART_WHOLE,
                                   .relation =
                                       beside ? PYTHIA_RELATION_SPAWN : PYTHIA_RELATION_UNKNOWN,
                                   .many_roots = true};
        struct pythia_resource resource = {0};
        span.tracepoint = requests_name(in->r, id, &resource.service);
        in->at += id.size;
        if (*in->at == '(')
            span.attributes = requests_attributes(in, ')');
        if (*in->at == '[')
            resource.attributes = requests_attributes(in, ']');
        span.resource = pythia_vocabulary_resource(in->r->vocabulary, &resource);
        if (!point) {
            assert_int_equal(*in->at++, '{');
            requests_read(in, span.id);
            assert_int_equal(*in->at++, '}');
            span.duration_ns = (int64_t)(in->now_ns - span.start_ns);
            in->now_ns = beside ? span.start_ns : in->now_ns;
        }
        assert_int_equal(pythia_trace_builder_add(in->r->builder, &span), PYTHIA_OK);
    }
}

/* Request `number` as a trace, borrowed until the next one. */
static inline const struct pythia_trace *requests_trace(struct requests *r, uint64_t number,
                                                        const char *text)
{
    struct requests_reader in = {r, text, REQUESTS_BEGIN + number * REQUESTS_EVERY, 1};
    const struct pythia_trace *trace = NULL;
    pythia_arena_clear(&r->attributes);
    pythia_trace_builder_begin(r->builder, (struct pythia_trace_id){7, number + 1});
    requests_read(&in, 0);
    assert_int_equal(*in.at, '\0');
    assert_int_equal(pythia_trace_builder_finish(r->builder, &r->counts, &trace), 0);
    return trace;
}

/* Its critical path, until all work has ended; borrowed until the next one. */
static inline const struct pythia_critical_path *requests_path(struct requests *r,
                                                               const struct pythia_trace *trace)
{
    assert_int_equal(pythia_critical_path_find(&r->path, trace, PYTHIA_LATENCY_COMPLETION),
                     PYTHIA_OK);
    return &r->path;
}

/* ---- groups ---- */

static inline void requests_group(struct requests *r, const struct pythia_groups_options *options)
{
    pythia_groups_destroy(r->groups);
    r->groups = NULL;
    r->count = 0;
    assert_int_equal(pythia_groups_create(r->vocabulary, options, &r->groups), PYTHIA_OK);
}

/* A set with loops folded, which is what most tests want. */
static inline void requests_begin_folded(struct requests *r)
{
    requests_begin(r);
    requests_group(r, &(struct pythia_groups_options){.fold = true});
}

/* Add a request under its own number, so that the order of adding may be any. */
static inline void requests_add_as(struct requests *r, uint64_t number, const char *text)
{
    assert_int_equal(pythia_groups_add(r->groups, requests_trace(r, number, text)), PYTHIA_OK);
    r->count++;
}

__attribute__((format(printf, 2, 3))) static inline void requests_add(struct requests *r,
                                                                      const char *format, ...)
{
    char text[4096];
    va_list args;
    va_start(args, format);
    int size = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    assert_in_range(size, 1, sizeof(text) - 1);
    requests_add_as(r, r->count, text);
}

/* No more requests: the types, *count of them. */
static inline const struct pythia_type *requests_finish(struct requests *r, size_t *count)
{
    assert_int_equal(pythia_groups_finish(r->groups), PYTHIA_OK);
    return pythia_groups_types(r->groups, count);
}

/* An edge as text, "A/B: /C -> *D": its context, and what it leads from and to; "/" marks an end
 * and "*" a point in time. Borrowed until the next call. */
static inline const char *requests_edge(const struct pythia_cct *cct, uint32_t edge)
{
    static const char *const marks[] = {"", "/", "*"};
    static char text[1024];
    const struct pythia_vocabulary *v = pythia_cct_vocabulary(cct);
    const struct pythia_edge *e = pythia_cct_edge_at(cct, edge);
    char chain[512] = "";
    for (uint32_t at = e->context; at != PYTHIA_CCT_ROOT; at = pythia_cct_parent(cct, at)) {
        uint32_t point = pythia_cct_tracepoint(cct, at);
        snprintf(text, sizeof(text), "%s%s%s", pythia_vocabulary_tracepoint_id(v, point).bytes,
                 chain[0] ? "/" : "", chain);
        assert_in_range(strlen(text), 1, sizeof(chain) - 1);
        memcpy(chain, text, strlen(text) + 1);
    }
    snprintf(text, sizeof(text), "%s: %s%s -> %s%s", chain, marks[e->from_event],
             pythia_vocabulary_tracepoint_id(v, e->from_tracepoint).bytes, marks[e->to_event],
             pythia_vocabulary_tracepoint_id(v, e->to_tracepoint).bytes);
    return text;
}

/* The node of a chain such as "A/B", which is there. */
static inline uint32_t requests_node(const struct pythia_cct *cct, const char *chain)
{
    uint32_t node = PYTHIA_CCT_ROOT;
    while (*chain) {
        struct pythia_text id = {chain, strcspn(chain, "/")};
        uint32_t point = pythia_vocabulary_tracepoint_find(pythia_cct_vocabulary(cct), id);
        node = pythia_cct_find(cct, node, point);
        if (node == PYTHIA_NONE)
            fail_msg("no such node: %s", chain);
        chain += id.size + (chain[id.size] == '/');
    }
    return node;
}

/* The rows of a type, in the order of their hashes; freed by the caller. */
static inline const struct pythia_row **requests_rows(const struct pythia_type *type, size_t *count)
{
    *count = pythia_sample_count(type->rows);
    const struct pythia_row **rows = calloc(*count + 1, sizeof(*rows));
    for (size_t i = 0; i < *count; i++)
        rows[i] = pythia_sample_row(type->rows, i);
    return rows;
}

#endif
