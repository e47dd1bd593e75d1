/* A program under trace and its reader, in one process: trace points write, the drain makes frames,
 * the adapter makes spans of them. */
#ifndef TRACED_H
#define TRACED_H

#include <pythia/drain.h>
#include <pythia/switchboard.h>
#include <pythia/tracepoints.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../adapters/collect.h"
#include "at_rest.h"
#include "segments.h"

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__SANITIZE_THREAD__)
#define SANITIZED        1
#define THREAD_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#elif __has_feature(thread_sanitizer)
#define SANITIZED        1
#define THREAD_SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif
#ifndef THREAD_SANITIZED
#define THREAD_SANITIZED 0 /* else a child of several threads cannot start any */
#endif

/* One for each program: what it traces is the process itself. */
static struct {
    char directory[64];
    pid_t owner; /* the test; its children only do what they are told */
    struct pythia_switchboard *board;
    struct pythia_drain *drain;
    struct pythia_buf frames;   /* since they were last read */
    struct pythia_buf refusals; /* "file: why\n" */
} traced;

static inline int traced_frame(void *context, const void *bytes, size_t size)
{
    (void)context;
    pythia_buf_add(&traced.frames, bytes, size);
    return pythia_buf_status(&traced.frames) == PYTHIA_OK ? 0 : -1;
}

static inline void traced_refused(void *context, const char *name, const char *why)
{
    (void)context;
    pythia_buf_printf(&traced.refusals, "%s: %s\n", name, why);
}

static inline void traced_open_drain(void)
{
    const struct pythia_drain_handler handler = {.frame = traced_frame, .refused = traced_refused};
    char why[256] = "";
    if (pythia_drain_open(traced.directory, &handler, &traced.drain, why) != 0)
        fail_msg("%s", why);
}

/* A place of its own for this program; before the first trace point. */
static inline void traced_directory(void)
{
    snprintf(traced.directory, sizeof(traced.directory), "/tmp/pythia-test-XXXXXX");
    assert_non_null(mkdtemp(traced.directory));
    traced.owner = getpid();
    setenv("PYTHIA_DIRECTORY", traced.directory, 1);
    setenv("PYTHIA_SERVICE", "test", 1);
}

static inline void traced_begin(void)
{
    char why[256] = "";
    traced_directory();
    if (pythia_switchboard_open(traced.directory, 1, &traced.board, why) != 0)
        fail_msg("%s", why);
    traced_open_drain();
}

/* A child in which something did not hold comes here: it has failed, and that is all of it. */
static inline void leave_if_child(void)
{
    if (getpid() != traced.owner)
        _exit(1);
}

static inline void traced_end(void)
{
    leave_if_child();
    pythia_drain_close(traced.drain);
    pythia_switchboard_close(traced.board);
    remove_segments(traced.directory);
    pythia_buf_free(&traced.frames);
    pythia_buf_free(&traced.refusals);
}

static inline void throw_types(const char *id, uint64_t types)
{
    assert_int_equal(
        pythia_switchboard_throw(traced.board, id, strlen(id), PYTHIA_SWITCHES_ALL, types), 0);
}

static inline void open_point(const char *id)
{
    throw_types(id, PYTHIA_SWITCHES_ALL);
}

static inline void close_point(const char *id)
{
    throw_types(id, 0);
}

/* The definitions come once: they are kept in front of whatever is read later. */
static struct pythia_buf definitions;

static inline void split_frames(struct pythia_buf *out)
{
    for (size_t at = 0; at < traced.frames.size;) {
        const char *frame = traced.frames.bytes + at;
        uint32_t payload, stream;
        memcpy(&payload, frame + 12, 4);
        memcpy(&stream, frame + 32, 4);
        pythia_buf_add(stream ? out : &definitions, frame, 128 + payload);
        at += 128 + payload;
    }
}

/* Read all that was committed since the last time, as spans. */
static inline void read_spans(struct collection *c)
{
    struct pythia_buf rings = {0}, all = {0};
    struct pythia_memory_source memory;
    assert_int_equal(pythia_drain_pass(traced.drain), 0);
    split_frames(&rings);
    pythia_buf_text_add(&all, pythia_buf_text(&definitions));
    pythia_buf_text_add(&all, pythia_buf_text(&rings));
    collection_open(c);
    pythia_memory_source_init(&memory, "rings", all.bytes, all.size);
    collect_source(c, "native", &memory.source);
    assert_int_equal(c->status, PYTHIA_OK);
    pythia_buf_clear(&traced.frames);
    pythia_buf_free(&rings);
    pythia_buf_free(&all);
}

static inline void discard_spans(void)
{
    struct collection c;
    read_spans(&c);
    collection_close(&c);
}

/* The span of a trace point, which must be the only one. */
static inline size_t only(const struct collection *c, const char *id)
{
    size_t found = SIZE_MAX;
    for (size_t i = 0; i < c->count; i++) {
        uint32_t point = c->spans[i].span.tracepoint;
        if (point == PYTHIA_NONE ||
            strcmp(pythia_vocabulary_tracepoint_id(c->vocabulary, point).bytes, id) != 0)
            continue;
        if (found != SIZE_MAX)
            fail_msg("there are several %s", id);
        found = i;
    }
    if (found == SIZE_MAX)
        fail_msg("there is no %s", id);
    return found;
}

static inline size_t count_of(const struct collection *c, const char *id)
{
    size_t count = 0;
    for (size_t i = 0; i < c->count; i++) {
        uint32_t point = c->spans[i].span.tracepoint;
        count += point != PYTHIA_NONE &&
                 strcmp(pythia_vocabulary_tracepoint_id(c->vocabulary, point).bytes, id) == 0;
    }
    return count;
}

static inline void assert_child(const struct collection *c, const char *child, const char *parent)
{
    size_t below = only(c, child), above = only(c, parent);
    assert_true(span_at(c, below)->parent == span_at(c, above)->id);
    assert_true(pythia_trace_id_equal(c->spans[below].trace, c->spans[above].trace));
}

static inline void assert_root(const struct collection *c, const char *id)
{
    assert_true(span_at(c, only(c, id))->parent == 0);
}

/* Run something in a child, which must end well. */
static inline void in_child(void (*run)(void))
{
    pid_t child = fork_at_rest();
    assert_true(child >= 0);
    if (child == 0) {
        run();
        exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (status != 0)
        fail_msg("the child ended with %d", status);
}

static inline int begin_group(void **state)
{
    (void)state;
    traced_begin();
    return 0;
}

static inline int end_group(void **state)
{
    (void)state;
    traced_end();
    pythia_buf_free(&definitions);
    return 0;
}

#endif
