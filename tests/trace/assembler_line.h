/* An assembler with all that is around it, for the tests of it. */
#ifndef ASSEMBLER_LINE_H
#define ASSEMBLER_LINE_H

#include <malloc.h>

#include "check.h"
#include "pythia/assembler.h"
#include "pythia/mem.h"
#include "trace_text.h"

/* An assembler with all that is around it, and what it has given: "name: tree" for each trace, with
 * blanks between. */
struct line {
    struct pythia_vocabulary *vocabulary;
    struct pythia_open_points *open;
    struct pythia_assembler *assembler;
    struct pythia_counts counts;
    char out[16384];
    size_t size, taken;
    int answer; /* of the taker */
};

static inline int take(void *context, const struct pythia_trace *trace)
{
    struct line *l = context;
    char name[9];
    l->taken++;
    if (l->size < sizeof(l->out) / 2) {
        struct trace_writer w = {l->out, sizeof(l->out), l->size, trace, NULL};
        put(&w, "%s%s: ", l->size ? " " : "", name_of_id(trace->id.low, name));
        put_tree(&w, trace->first_root);
        l->size = w.size;
    }
    return l->answer;
}

static inline struct line *begin(const struct pythia_assembler_options *options, const char *open)
{
    static struct line l;
    l = (struct line){0};
    assert_int_equal(pythia_vocabulary_create(&l.vocabulary), PYTHIA_OK);
    l.open = open_points_of(l.vocabulary, open);
    struct pythia_assembler_options all = options ? *options : (struct pythia_assembler_options){0};
    all.open = l.open;
    assert_int_equal(pythia_assembler_create(l.vocabulary, &all,
                                             (struct pythia_trace_taker){take, &l}, &l.counts,
                                             &l.assembler),
                     PYTHIA_OK);
    return &l;
}

static inline void end(struct line *l)
{
    pythia_assembler_destroy(l->assembler);
    pythia_open_points_destroy(l->open);
    pythia_vocabulary_destroy(l->vocabulary);
}

/* Add parts to the trace of that name. */
static inline void add(struct line *l, const char *trace, const char *text)
{
    static struct trace_part parts[TRACE_TEXT_PARTS];
    struct pythia_trace_id id = trace_id_of_name(trace, strlen(trace));
    size_t count = read_parts(text, parts);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(
            pythia_assembler_add(l->assembler, &id, name_part(&parts[i], l->vocabulary)),
            PYTHIA_OK);
    free_parts(parts, count); /* they were copied */
}

static inline void tick(struct line *l)
{
    assert_int_equal(pythia_assembler_tick(l->assembler), PYTHIA_OK);
}

/* What was given since the last time. */
static const char *given(struct line *l)
{
    static char out[sizeof(l->out)];
    memcpy(out, l->out, l->size);
    out[l->size] = '\0';
    l->size = 0;
    return out;
}

static inline bool is_late(const struct line *l, const char *trace)
{
    size_t count;
    const struct pythia_trace_id *late = pythia_assembler_late(l->assembler, &count);
    size_t times = 0;
    for (size_t i = 0; i < count; i++)
        times += pythia_trace_id_equal(late[i], trace_id_of_name(trace, strlen(trace)));
    assert_true(times <= 1);
    return times == 1;
}

/* Bytes of the heap that are in use; 0 where a sanitizer has taken its place. */
static inline size_t heap_in_use(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

#endif
