/* Random parts of random traces, in which everything that can be wrong is: what must hold of
 * whatever comes of them. */
#include "check.h"
#include "pythia/hash.h"
#include "pythia/random.h"
#include "trace_text.h"

enum { NAMES = 9, MOST_PARTS = 24 };

static const char *const names[NAMES] = {"A", "B", "C", "D", "E", "F", "G", "B.1", "B.2"};
static const char *const forks[3] = {"K", "L", "M"};

static uint64_t some_id(struct pythia_random *r)
{
    const char *name = names[pythia_random_below(r, NAMES)];
    return id_of_name(name, strlen(name));
}

static uint64_t some_parent(struct pythia_random *r)
{
    uint64_t which = pythia_random_below(r, 10);
    if (which == 0)
        return 0;
    if (which == 1)
        return id_of_name("X", 1); /* nobody has it */
    return which < 4 ? folded_id_of_name(forks[pythia_random_below(r, 3)], 1) : some_id(r);
}

static struct trace_part some_part(struct pythia_random *r)
{
    static const enum pythia_span_part kinds[] = {
        PYTHIA_PART_WHOLE,      PYTHIA_PART_WHOLE, PYTHIA_PART_START, PYTHIA_PART_STOP,
        PYTHIA_PART_ANNOTATION, PYTHIA_PART_FORK,  PYTHIA_PART_WAIT,  PYTHIA_PART_ADDITION};
    static const char *const hosts[] = {"", "", "h1", "h2"};
    const char *fork = forks[pythia_random_below(r, 3)];
    struct trace_part part = {
        .span = {.id = some_id(r),
                 .parent = some_parent(r),
                 /* no whole millisecond, which would be the sign of a rough clock */
                 .start_ns = TRACE_TEXT_BEGIN + 1 + pythia_random_below(r, 40),
                 .part = kinds[pythia_random_below(r, 8)],
                 .relation = (enum pythia_span_relation)pythia_random_below(r, 3),
                 .error = pythia_random_below(r, 9) == 0,
                 .many_roots = pythia_random_below(r, 30) == 0}};
    struct pythia_span *s = &part.span;
    if (s->part == PYTHIA_PART_WHOLE)
        s->duration_ns = (int64_t)pythia_random_below(r, 40) - 4;
    if (s->part == PYTHIA_PART_FORK)
        s->id = folded_id_of_name(fork, 1);
    if (pythia_random_below(r, 8) == 0) /* a clock that counts from another time */
        s->start_ns += UINT64_C(7200000000000);
    if (s->part == PYTHIA_PART_FORK || s->part == PYTHIA_PART_WAIT)
        s->link = trace_id_of_name(fork, 1);
    else if (pythia_random_below(r, 8) == 0) {
        s->shared = true;
        s->kind = PYTHIA_SPAN_SERVER;
    }
    if (pythia_random_below(r, 12))
        snprintf(part.point, sizeof(part.point), "%s", names[pythia_random_below(r, 3)]);
    snprintf(part.host, sizeof(part.host), "%s", hosts[pythia_random_below(r, 4)]);
    snprintf(part.service, sizeof(part.service), "%s", pythia_random_below(r, 2) ? "web" : "db");
    if (pythia_random_below(r, 3) == 0)
        snprintf(part.value, sizeof(part.value), "%s", pythia_random_below(r, 2) ? "x" : "y");
    return part;
}

/* The parts of one id, of which a span may come. */
static bool same_span(const struct pythia_span *a, const struct pythia_span *b)
{
    return a->id == b->id && a->shared == b->shared;
}

/* An addition is of a span that other parts describe, whichever half of the id that is; only if
 * there is none the first addition of an id may become one. */
static bool is_first_of_its_id(const struct trace_part *parts, size_t count, size_t at)
{
    bool added = parts[at].span.part == PYTHIA_PART_ADDITION;
    for (size_t i = 0; i < count; i++) {
        bool other = parts[i].span.part == PYTHIA_PART_ADDITION;
        if (added && parts[i].span.id == parts[at].span.id && (i < at || !other))
            return false;
        if (i < at && !added && !other && same_span(&parts[i].span, &parts[at].span))
            return false;
    }
    return true;
}

static bool is_started(enum pythia_span_part part)
{
    return part == PYTHIA_PART_START || part == PYTHIA_PART_ANNOTATION || part == PYTHIA_PART_WAIT;
}

static bool same_name(const struct trace_part *a, const struct trace_part *b)
{
    return strcmp(a->point, b->point) == 0 && strcmp(a->service, b->service) == 0;
}

/* Two reports under different names that are one span if they are the ones that count. */
static bool same_times(const struct trace_part *a, const struct trace_part *b)
{
    return a->span.start_ns == b->span.start_ns && strcmp(a->host, b->host) == 0 &&
           strcmp(a->service, b->service) == 0 &&
           (a->span.duration_ns == b->span.duration_ns ||
            (a->span.duration_ns <= 0 && b->span.duration_ns <= 0));
}

struct range {
    size_t low, high;
};

/* How many names the whole spans of an id have, and fewer if two of them may be one span, or a
 * report without a name may be of one of the others. */
static struct range count_names(const struct trace_part *parts, size_t count,
                                const struct pythia_span *of)
{
    struct range all = {0, 0};
    bool joined = false;
    for (size_t i = 0; i < count; i++) {
        bool first = true;
        if (parts[i].span.part != PYTHIA_PART_WHOLE || !same_span(&parts[i].span, of))
            continue;
        for (size_t k = 0; k < i; k++) {
            if (parts[k].span.part != PYTHIA_PART_WHOLE || !same_span(&parts[k].span, of))
                continue;
            first = first && !same_name(&parts[k], &parts[i]);
            joined =
                joined || (!same_name(&parts[k], &parts[i]) && same_times(&parts[k], &parts[i]));
        }
        joined = joined || parts[i].point[0] == '\0';
        all.high += first;
    }
    all.low = joined ? 1 : all.high;
    return all;
}

/* Is a begun span certainly one of the whole ones (low 1), or possibly (high 1)? */
static struct range find_whole(const struct trace_part *parts, size_t count,
                               const struct trace_part *begun)
{
    struct range found = {0, 0};
    for (size_t i = 0; i < count; i++) {
        if (parts[i].span.part != PYTHIA_PART_WHOLE || !same_span(&parts[i].span, &begun->span))
            continue;
        bool name = same_name(&parts[i], begun) || begun->point[0] == '\0';
        found.low |= name;
        found.high |= name || parts[i].span.start_ns == begun->span.start_ns;
    }
    return found;
}

/* The spans with one id and half: one for each name of a whole span, and one more if it was begun
 * under another name and at another time than all of these. One if none is whole. */
static struct range count_spans(const struct trace_part *parts, size_t count,
                                const struct pythia_span *of)
{
    struct range spans = count_names(parts, count, of), begun = {0, 0};
    bool any = false, all = true; /* some, or all, begun spans may be others */
    if (spans.high == 0)
        return (struct range){1, 1};
    for (size_t i = 0; i < count; i++) {
        if (!is_started(parts[i].span.part) || !same_span(&parts[i].span, of))
            continue;
        struct range whole = find_whole(parts, count, &parts[i]);
        any = any || !whole.low;
        all = all && !whole.high;
        begun.low = begun.high = 1;
    }
    spans.low += begun.low && all;
    spans.high += begun.high && any;
    return spans;
}

static const char *fault_of_span(const struct pythia_trace *t, uint32_t at)
{
    const struct pythia_trace_span *s = &t->spans[at];
    const struct pythia_trace_span *parent =
        s->parent == PYTHIA_NO_SPAN ? NULL : &t->spans[s->parent];
    uint64_t completed = s->end_ns;
    for (uint32_t c = s->first_child; c != PYTHIA_NO_SPAN; c = t->spans[c].next_sibling) {
        if (t->spans[c].parent != at)
            return "a child has another parent";
        completed = t->spans[c].completed_ns > completed ? t->spans[c].completed_ns : completed;
    }
    if (s->start_ns > s->end_ns)
        return "it ends before it begins";
    if (s->completed_ns != completed)
        return "its completion is not the latest end below it";
    if (parent && s->start_ns < parent->start_ns)
        return "it begins before its parent";
    if (parent && s->relation == PYTHIA_RELATION_CALL && s->end_ns > parent->end_ns &&
        s->start_ns <= parent->end_ns)
        return "it was waited for, and it outlives its parent";
    if (s->next_sibling != PYTHIA_NO_SPAN && t->spans[s->next_sibling].start_ns < s->start_ns)
        return "its siblings are not in order of time";
    if (s->annotation && (s->end_ns != s->start_ns || s->first_child != PYTHIA_NO_SPAN))
        return "it is a point in time and has a length or a child";
    if (s->forked != (s->work != PYTHIA_NO_SPAN) || (s->forked && !t->spans[s->work].forked))
        return "its work is none";
    if (s->joins != PYTHIA_NO_SPAN && !t->spans[s->joins].forked)
        return "it waits for what is not forked";
    return NULL;
}

/* A length is never changed without a word: what was reported once and whole, and was not cut, has
 * the length it had. */
static const char *fault_of_length(const struct trace_part *parts, size_t count,
                                   const struct pythia_trace_span *s)
{
    const struct pythia_span *only = NULL;
    size_t reports = 0;
    for (size_t i = 0; i < count; i++)
        if (parts[i].span.id == s->id && parts[i].span.shared == (s->kind == PYTHIA_SPAN_SERVER)) {
            only = &parts[i].span;
            reports++;
        }
    if (reports != 1 || only->part != PYTHIA_PART_WHOLE ||
        s->repairs & (1u << PYTHIA_REPAIR_CLAMPED | 1u << PYTHIA_REPAIR_NEGATIVE))
        return NULL;
    return s->end_ns - s->start_ns == (uint64_t)only->duration_ns ? NULL : "its length was changed";
}

static const char *fault_of_trace(const struct trace_part *parts, size_t count,
                                  const struct pythia_trace *t, const struct pythia_counts *counts)
{
    uint32_t roots = 0, children = 0;
    uint64_t start = UINT64_MAX, completed = 0, repairs = 0, counted = 0;
    const char *fault = NULL;
    for (uint32_t i = 0; i < t->count && !fault; i++) {
        fault = fault_of_span(t, i);
        if (!fault)
            fault = fault_of_length(parts, count, &t->spans[i]);
        for (uint32_t c = t->spans[i].first_child; c != PYTHIA_NO_SPAN;
             c = t->spans[c].next_sibling)
            children++;
        for (uint32_t bits = t->spans[i].repairs; bits; bits &= bits - 1)
            repairs++;
    }
    for (uint32_t root = t->first_root; root != PYTHIA_NO_SPAN;
         root = t->spans[root].next_sibling) {
        roots++;
        start = t->spans[root].start_ns < start ? t->spans[root].start_ns : start;
        completed =
            t->spans[root].completed_ns > completed ? t->spans[root].completed_ns : completed;
    }
    for (int i = 0; i < PYTHIA_REPAIRS; i++)
        counted += counts->repaired[i];
    if (fault)
        return fault;
    if (roots != t->roots || roots + children != t->count)
        return "not all spans are in the forest, once";
    if (start != t->start_ns || completed != t->completed_ns || t->end_ns > completed)
        return "its times are not those of its roots";
    return repairs == counted ? NULL : "a repair was not counted";
}

/* Without any start there is no time that an addition could be placed by: each one is broken. */
static size_t count_broken(const struct trace_part *parts, size_t count)
{
    size_t additions = 0;
    for (size_t i = 0; i < count; i++) {
        enum pythia_span_part part = parts[i].span.part;
        if (part != PYTHIA_PART_ADDITION && part != PYTHIA_PART_STOP)
            return 0;
        additions += part == PYTHIA_PART_ADDITION;
    }
    return additions;
}

/* Ids that nothing but additions speaks of. */
static size_t count_added_ids(const struct trace_part *parts, size_t count)
{
    size_t ids = 0;
    for (size_t i = 0; i < count; i++)
        ids += parts[i].span.part == PYTHIA_PART_ADDITION && is_first_of_its_id(parts, count, i);
    return ids;
}

/* Each span of each id is kept, or was dropped and counted, or is a fork. */
static void check_balance(const struct trace_part *parts, size_t count, uint64_t kept,
                          const struct pythia_counts *c)
{
    size_t broken = count_broken(parts, count), added = broken ? 0 : count_added_ids(parts, count);
    struct range spans = {added, added};
    for (size_t i = 0; i < count; i++) {
        enum pythia_span_part part = parts[i].span.part;
        if (part == PYTHIA_PART_FORK || part == PYTHIA_PART_ADDITION ||
            !is_first_of_its_id(parts, count, i))
            continue;
        struct range more = count_spans(parts, count, &parts[i].span);
        spans.low += more.low;
        spans.high += more.high;
    }
    assert_int_equal(c->dropped[PYTHIA_DROP_BROKEN_RECORD], broken);
    assert_in_range(kept + c->dropped[PYTHIA_DROP_STOP_WITHOUT_START] + c->hidden, spans.low,
                    spans.high);
}

struct workshop {
    struct pythia_vocabulary *vocabulary;
    struct pythia_trace_builder *builder;
    struct pythia_open_points *open;
};

static void open_workshop(struct workshop *w, const char *open)
{
    assert_int_equal(pythia_vocabulary_create(&w->vocabulary), PYTHIA_OK);
    w->open = open_points_of(w->vocabulary, open);
    assert_int_equal(pythia_trace_builder_create(w->vocabulary, w->open, &w->builder), PYTHIA_OK);
}

static void close_workshop(struct workshop *w)
{
    pythia_trace_builder_destroy(w->builder);
    pythia_open_points_destroy(w->open);
    pythia_vocabulary_destroy(w->vocabulary);
}

static void whatever_comes_the_trace_is_sound(const char *open, uint64_t seed)
{
    static struct trace_part parts[MOST_PARTS];
    static struct written text;
    struct workshop w;
    struct pythia_random r;
    open_workshop(&w, open);
    pythia_random_init(&r, seed);
    for (size_t round = 0; round < 6000; round++) {
        struct pythia_counts counts = {0};
        const struct pythia_trace *trace = NULL;
        size_t count = 1 + (size_t)pythia_random_below(&r, MOST_PARTS);
        pythia_trace_builder_begin(w.builder, trace_id_of_name("trace", 5));
        for (size_t i = 0; i < count; i++) {
            parts[i] = some_part(&r);
            pythia_trace_builder_add(w.builder, name_part(&parts[i], w.vocabulary));
        }
        int status = pythia_trace_builder_finish(w.builder, &counts, &trace);
        assert_true(status == PYTHIA_OK || status == 1);
        check_balance(parts, count, status == PYTHIA_OK ? trace->count : 0, &counts);
        if (status == PYTHIA_OK) {
            const char *fault = fault_of_trace(parts, count, trace, &counts);
            write_trace(&text, w.vocabulary, trace, &counts);
            if (fault)
                fail_msg("round %zu: %s, in %s", round, fault, text.tree);
        }
        free_parts(parts, count);
    }
    close_workshop(&w);
}

static void any_parts_make_a_sound_trace(void **state)
{
    whatever_comes_the_trace_is_sound(NULL, 1);
}

static void any_parts_of_open_points_make_a_sound_trace(void **state)
{
    whatever_comes_the_trace_is_sound("web:A db:B web:C", 2);
}

/* With a new vocabulary each time, so that its numbers are others as well. */
static void the_order_of_arrival_is_forgotten(void **state)
{
    static struct trace_part parts[MOST_PARTS];
    static struct written first, other;
    struct pythia_random r;
    size_t order[MOST_PARTS];
    pythia_random_init(&r, 3);
    for (size_t round = 0; round < 1000; round++) {
        const char *open = round % 3 == 0 ? "web:A db:B web:C" : NULL;
        size_t count = 1 + (size_t)pythia_random_below(&r, round % 2 ? 6 : MOST_PARTS);
        for (size_t i = 0; i < count; i++) {
            parts[i] = some_part(&r);
            order[i] = i;
        }
        build_and_write(parts, order, count, open, &first);
        for (int i = 0; i < 6; i++) {
            pythia_random_shuffle(&r, order, count);
            build_and_write(parts, order, count, open, &other);
            assert_string_equal(other.exact, first.exact);
            assert_string_equal(other.counts, first.counts);
            assert_string_equal(other.paths[0], first.paths[0]);
            assert_string_equal(other.paths[1], first.paths[1]);
        }
        free_parts(parts, count);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_parts_make_a_sound_trace),
        cmocka_unit_test(any_parts_of_open_points_make_a_sound_trace),
        cmocka_unit_test(the_order_of_arrival_is_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
