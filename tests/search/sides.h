/* Two sides of a comparison, their requests as text (requests.h). */
#ifndef SIDES_H
#define SIDES_H

#include "pythia/compare.h"
#include "pythia/hash.h"
#include "pythia/span.h"
#include "requests.h"

enum { BEFORE, AFTER };

struct sides {
    struct requests r;
    struct pythia_side *sides[2];
    struct pythia_comparison *c; /* NULL before sides_compare */
};

static inline void sides_begin(struct sides *s)
{
    *s = (struct sides){0};
    requests_begin(&s->r);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(pythia_side_create(s->r.vocabulary,
                                            &(struct pythia_groups_options){.fold = true},
                                            &s->sides[i]),
                         PYTHIA_OK);
}

static inline void sides_end(struct sides *s)
{
    pythia_comparison_destroy(s->c);
    pythia_side_destroy(s->sides[BEFORE]);
    pythia_side_destroy(s->sides[AFTER]);
    requests_end(&s->r);
}

/* Add request `number`, whatever its side. Spans of a trace point whose name ends with "!" failed;
 * those whose name ends with "^" are of kind client, all others of no known kind. */
static inline void sides_add_as(struct sides *s, size_t side, uint64_t number, const char *text)
{
    struct pythia_trace trace = *requests_trace(&s->r, number, text);
    struct pythia_trace_span *spans = calloc(trace.count, sizeof(*spans));
    for (uint32_t i = 0; i < trace.count; i++) {
        spans[i] = trace.spans[i];
        struct pythia_text id =
            pythia_vocabulary_tracepoint_id(s->r.vocabulary, spans[i].tracepoint);
        spans[i].error = pythia_text_ends(id, PYTHIA_TEXT("!"));
        if (pythia_text_ends(id, PYTHIA_TEXT("^")))
            spans[i].kind = PYTHIA_SPAN_CLIENT;
    }
    trace.spans = spans;
    assert_int_equal(pythia_side_add(s->sides[side], &trace), PYTHIA_OK);
    free(spans);
    s->r.count++;
}

__attribute__((format(printf, 3, 4))) static inline void sides_add(struct sides *s, size_t side,
                                                                   const char *format, ...)
{
    char text[4096];
    va_list args;
    va_start(args, format);
    int size = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    assert_in_range(size, 1, sizeof(text) - 1);
    sides_add_as(s, side, s->r.count, text);
}

static inline const struct pythia_comparison *sides_compare(struct sides *s)
{
    const struct pythia_compare_options usual = {.alpha = .05, .min_requests = 30};
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(pythia_side_finish(s->sides[i]), PYTHIA_OK);
    assert_int_equal(pythia_compare(s->sides[BEFORE], s->sides[AFTER], &usual, &s->c), PYTHIA_OK);
    return s->c;
}

/* The one edge of that text (requests.h) in a type. */
static inline const struct pythia_compared_edge *
sides_edge(const struct sides *s, const struct pythia_compared_type *t, const char *text)
{
    for (size_t e = 0; e < t->edge_count; e++)
        if (strcmp(requests_edge(s->c->cct, t->edges[e].edge), text) == 0)
            return &t->edges[e];
    fail_msg("no such edge: %s", text);
    return NULL;
}

static inline const struct pythia_compared_point *
sides_point(const struct sides *s, const struct pythia_compared_type *t, const char *id)
{
    uint32_t point = requests_point(&s->r, id);
    for (size_t i = 0; i < t->point_count; i++)
        if (t->points[i].tracepoint == point)
            return &t->points[i];
    fail_msg("no such trace point: %s", id);
    return NULL;
}

static inline const char *sides_string(const struct sides *s, uint32_t string)
{
    return pythia_vocabulary_text(s->r.vocabulary, string).bytes;
}

#endif
