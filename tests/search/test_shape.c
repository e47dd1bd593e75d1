#include "pythia/hash.h"
#include "pythia/shape.h"
#include "requests.h"

/* A tree and two makers: one that folds loops and one that does not. */
struct bench {
    struct requests r;
    struct pythia_cct *cct;
    struct pythia_shape_maker *makers[2];
};

enum { UNFOLDED, FOLDED };

static void begin(struct bench *b)
{
    requests_begin(&b->r);
    b->cct = NULL;
    assert_int_equal(pythia_cct_create(b->r.vocabulary, &b->cct), PYTHIA_OK);
    for (int fold = 0; fold < 2; fold++)
        assert_int_equal(pythia_shape_maker_create(b->cct, fold, &b->makers[fold]), PYTHIA_OK);
}

static void end(struct bench *b)
{
    pythia_shape_maker_destroy(b->makers[UNFOLDED]);
    pythia_shape_maker_destroy(b->makers[FOLDED]);
    pythia_cct_destroy(b->cct);
    requests_end(&b->r);
}

static const struct pythia_critical_path *path_of(struct bench *b, const char *text)
{
    return requests_path(&b->r, requests_trace(&b->r, 0, text));
}

/* The shape of a request of type "A"; freed by the caller. */
static struct pythia_shape *shape_of(struct bench *b, int fold, const char *text)
{
    struct pythia_shape *shape =
        pythia_shape_make(b->makers[fold], path_of(b, text), pythia_hash_bytes("A", 1));
    assert_non_null(shape);
    return shape;
}

static void assert_edge(const struct bench *b, const struct pythia_shape *shape, size_t slot,
                        const char *wanted)
{
    assert_string_equal(requests_edge(b->cct, shape->edges[slot]), wanted);
}

/* ---- edges ---- */

static void every_gap_belongs_to_an_edge_of_its_calling_context(void **state)
{
    struct bench b;
    begin(&b);
    struct pythia_shape *s = shape_of(&b, FOLDED, "A{1 B{2 C{3} 4 *D 5} 6 C{7} 8}");
    static const char *const wanted[] = {"A: A -> B",     "A/B: B -> C",   "A/B/C: C -> /C",
                                         "A/B: /C -> *D", "A/B: *D -> /B", "A: /B -> C",
                                         "A/C: C -> /C",  "A: /C -> /A"};
    assert_int_equal(s->gap_count, 8);
    assert_int_equal(s->edge_count, 8);
    for (uint32_t i = 0; i < 8; i++) {
        assert_int_equal(s->slots[i], i);
        assert_int_equal(s->repeats[i], 1);
        assert_edge(&b, s, i, wanted[i]);
    }
    pythia_free(s);
    end(&b);
}

static void what_repeats_is_one_edge_passed_several_times(void **state)
{
    struct bench b;
    begin(&b);
    struct pythia_shape *s = shape_of(&b, FOLDED, "A{1 B{2} 3 B{4} 5 B{6} 7}");
    static const char *const wanted[] = {"A: A -> B", "A/B: B -> /B", "A: /B -> B", "A: /B -> /A"};
    static const uint32_t slots[] = {0, 1, 2, 1, 2, 1, 3}, repeats[] = {1, 3, 2, 1};
    assert_int_equal(s->gap_count, 7);
    assert_int_equal(s->edge_count, 4);
    assert_memory_equal(s->slots, slots, sizeof(slots));
    assert_memory_equal(s->repeats, repeats, sizeof(repeats));
    for (size_t i = 0; i < 4; i++)
        assert_edge(&b, s, i, wanted[i]);
    assert_int_equal(s->point_count, 2);
    assert_int_equal(s->points[0], requests_point(&b.r, "A"));
    assert_int_equal(s->point_counts[0], 1);
    assert_int_equal(s->points[1], requests_point(&b.r, "B"));
    assert_int_equal(s->point_counts[1], 3);
    pythia_free(s);
    end(&b);
}

static void recursion_has_an_edge_at_each_depth_and_one_trace_point(void **state)
{
    struct bench b;
    begin(&b);
    struct pythia_shape *s = shape_of(&b, FOLDED, "A{1 A{2 A{3} 4} 5}");
    assert_int_equal(s->edge_count, 5);
    assert_edge(&b, s, 2, "A/A/A: A -> /A");
    assert_int_equal(s->point_count, 1);
    assert_int_equal(s->point_counts[0], 3);
    pythia_free(s);
    end(&b);
}

static void a_point_in_time_alone_has_no_edge(void **state)
{
    struct bench b;
    begin(&b);
    struct pythia_shape *s = shape_of(&b, FOLDED, "*A");
    assert_int_equal(s->gap_count, 0);
    assert_int_equal(s->edge_count, 0);
    assert_int_equal(s->point_count, 1);
    assert_int_equal(s->level_count, 2);
    pythia_free(s);
    end(&b);
}

/* Any tree: repeats add up to the gaps, counts to the spans, and every slot holds the edge that a
 * walk with a stack of its own finds. */
static void random_paths_are_counted_in_full(void **state)
{
    struct bench b;
    struct pythia_random r;
    begin(&b);
    pythia_random_init(&r, 8);
    for (int run = 0; run < 200; run++) {
        char text[2048] = "A{1";
        size_t size = strlen(text), spans = 1;
        int depth = 1;
        while (depth > 0) {
            bool open = depth < 12 && spans < 100 && pythia_random_below(&r, 2);
            size += (size_t)snprintf(text + size, sizeof(text) - size, open ? " %c{1" : "1} 1",
                                     (char)('A' + pythia_random_below(&r, 4)));
            depth += open ? 1 : -1;
            spans += open;
        }
        const struct pythia_critical_path *path = path_of(&b, text);
        struct pythia_shape *s = pythia_shape_make(b.makers[FOLDED], path, 1);
        uint32_t stack[128] = {PYTHIA_CCT_ROOT}, top = 0, gaps = 0, counted = 0;
        assert_int_equal(s->gap_count, path->count - 1);
        assert_int_equal(s->hash, pythia_shape_hash(path));
        for (size_t i = 0; i + 1 < path->count; i++) {
            const struct pythia_path_event *e = &path->events[i];
            if (e->kind == PYTHIA_EVENT_START) {
                stack[top + 1] = pythia_cct_find(b.cct, stack[top], e->tracepoint);
                top++;
            } else {
                top--;
            }
            const struct pythia_edge *edge = pythia_cct_edge_at(b.cct, s->edges[s->slots[i]]);
            assert_int_equal(edge->context, stack[top]);
            assert_int_equal(edge->from_tracepoint, e->tracepoint);
            assert_int_equal(edge->from_event, e->kind);
            assert_int_equal(edge->to_tracepoint, e[1].tracepoint);
            assert_int_equal(edge->to_event, e[1].kind);
        }
        for (uint32_t i = 0; i < s->edge_count; i++)
            gaps += s->repeats[i];
        for (uint32_t i = 0; i < s->point_count; i++)
            counted += s->point_counts[i];
        assert_int_equal(gaps, s->gap_count);
        assert_int_equal(counted, spans);
        pythia_free(s);
    }
    end(&b);
}

static void the_hash_is_of_events_and_not_of_times(void **state)
{
    struct bench b;
    begin(&b);
    uint64_t one = pythia_shape_hash(path_of(&b, "A{1 B{2} 3}"));
    assert_int_equal(pythia_shape_hash(path_of(&b, "A{10 B{900} 5}")), one);
    static const char *const others[] = {"A{1 C{2} 3}", "A{1 B{2} 3 B{2} 3}", "A{1 *B 5}",
                                         "A{6}",        "B{1 A{2} 3}",        "A{1 B{2 B{1} 2} 3}"};
    for (size_t i = 0; i < 6; i++)
        assert_int_not_equal(pythia_shape_hash(path_of(&b, others[i])), one);
    end(&b);
}

/* ---- structure ---- */

/* At how many levels, from 0 on, two requests have one name. */
static uint32_t alike(struct bench *b, int fold, const char *x, const char *y)
{
    struct pythia_shape *p = shape_of(b, fold, x), *q = shape_of(b, fold, y);
    uint32_t level = 0;
    while (level < p->level_count && level < q->level_count && p->levels[level] == q->levels[level])
        level++;
    bool same = level == p->level_count && level == q->level_count;
    pythia_free(p);
    pythia_free(q);
    return same ? UINT32_MAX : level;
}

static void nesting_is_told_from_a_sequence(void **state)
{
    struct bench b;
    begin(&b);
    for (int fold = 0; fold < 2; fold++) {
        struct pythia_shape *nested = shape_of(&b, fold, "A{1 B{2 B{3} 4} 5}");
        struct pythia_shape *row = shape_of(&b, fold, "A{1 B{2} 3 B{4} 5}");
        assert_int_equal(nested->level_count, 4); /* the type, A, B in it, B in that */
        assert_int_equal(row->level_count, 3);
        assert_int_not_equal(nested->hash, row->hash);
        pythia_free(nested);
        pythia_free(row);
    }
    assert_int_equal(alike(&b, FOLDED, "A{1 B{2 B{3} 4} 5}", "A{1 B{2} 3 B{4} 5}"), 3);
    assert_int_equal(alike(&b, UNFOLDED, "A{1 B{2 B{3} 4} 5}", "A{1 B{2} 3 B{4} 5}"), 2);
    end(&b);
}

/* These are XXH3 (libxxhash 0.8.1, called from Python) of "A" and "B", the lowest bit set for a
 * trace point, put together by SplitMix64's finaliser, written in Python, too: name(span, d) is
 * mix(hash of the span, number of its children) and then mix of each child's name at d - 1. */
static void names_are_the_same_in_every_process(void **state)
{
    static const uint64_t nested[] = {0xd0d496e05c553485, 0x7117c4963425e145, 0x025f8ae4cfce3967,
                                      0x3869a187ed6588f1},
                          in_a_row[] = {0xd0d496e05c553485, 0x7117c4963425e145, 0xd9e2acdc1dbc2fbf};
    struct bench b;
    begin(&b);
    static const char *const before[] = {"B{1}", "X{1 Y{1} 1}", "A{1}"};
    for (size_t i = 0; i < 3; i++) /* whatever was numbered before */
        pythia_free(shape_of(&b, FOLDED, before[i]));
    struct pythia_shape *s = shape_of(&b, FOLDED, "A{1 B{2 B{3} 4} 5}");
    assert_int_equal(s->level_count, 4);
    assert_memory_equal(s->levels, nested, sizeof(nested));
    pythia_free(s);
    s = shape_of(&b, FOLDED, "A{1 B{2} 3 B{4} 5}"); /* folded, a loop is its body */
    assert_int_equal(s->level_count, 3);
    assert_memory_equal(s->levels, nested, 3 * sizeof(nested[0]));
    pythia_free(s);
    s = shape_of(&b, UNFOLDED, "A{1 B{2} 3 B{4} 5}");
    assert_memory_equal(s->levels, in_a_row, sizeof(in_a_row));
    pythia_free(s);
    end(&b);
}

static void identifiers_in_the_ids_of_trace_points_do_not_count(void **state)
{
    struct bench b;
    begin(&b);
    struct pythia_critical_path two[2];
    struct pythia_shape *shapes[2];
    for (int i = 0; i < 2; i++) { /* a source that puts identifiers into ids it makes itself */
        struct pythia_text id = i ? PYTHIA_TEXT("GET /users/17") : PYTHIA_TEXT("GET /users/4711");
        uint32_t point = pythia_vocabulary_tracepoint_of_id(b.r.vocabulary, id, 0, 0);
        struct pythia_path_event events[] = {{.tracepoint = point, .kind = PYTHIA_EVENT_START},
                                             {.tracepoint = point, .kind = PYTHIA_EVENT_END}};
        two[i] = (struct pythia_critical_path){.events = events, .count = 2};
        shapes[i] = pythia_shape_make(b.makers[FOLDED], &two[i], 1);
    }
    assert_int_not_equal(shapes[0]->points[0], shapes[1]->points[0]);
    assert_int_equal(shapes[0]->levels[1], shapes[1]->levels[1]);
    pythia_free(shapes[0]);
    pythia_free(shapes[1]);
    end(&b);
}

static void loops_fold_to_one_round_or_are_told_apart(void **state)
{
    struct bench b;
    begin(&b);
    static const char *const alike_if_folded[][2] = {
        {"A{1 B{1} 1 B{1} 1 B{1} 1}", "A{1 B{1} 1 B{1} 1 B{1} 1 B{1} 1}"},
        {"A{1 B{1} 1}", "A{1 B{1} 1 B{1} 1}"},
        {"A{B{1} C{1} B{1} C{1}}", "A{B{1} C{1} B{1} C{1} B{1} C{1}}"}, /* a body of two calls */
        {"A{B{1} B{1} C{1} B{1} C{1} C{1}}", "A{B{1} C{1} B{1} B{1} B{1} C{1}}"}, /* loops in one */
        {"A{B{C{1} C{1}} B{C{1}}}", "A{B{C{1}}}"},
        {"A{*E 1 *E 1}", "A{*E 1}"},
        {"A{B{1} C{1} D{1} E{1} F{1} G{1} H{1} I{1} B{1} C{1} D{1} E{1} F{1} G{1} H{1} I{1}}",
         "A{B{1} C{1} D{1} E{1} F{1} G{1} H{1} I{1}}"}, /* a body of eight */
    };
    for (size_t i = 0; i < sizeof(alike_if_folded) / sizeof(alike_if_folded[0]); i++) {
        const char *const *pair = alike_if_folded[i];
        assert_int_equal(alike(&b, FOLDED, pair[0], pair[1]), UINT32_MAX);
        assert_int_not_equal(alike(&b, UNFOLDED, pair[0], pair[1]), UINT32_MAX);
    }
    static const char *const never[][2] = {
        {"A{B{1} C{1}}", "A{C{1} B{1}}"},
        {"A{B{1} C{1} B{1}}", "A{B{1} C{1}}"}, /* half a round more is no round */
        {"A{B{1} C{1} D{1} E{1} F{1} G{1} H{1} I{1} J{1} B{1} C{1} D{1} E{1} F{1} G{1} H{1} I{1} "
         "J{1}}",
         "A{B{1} C{1} D{1} E{1} F{1} G{1} H{1} I{1} J{1}}"}, /* nine are more than is looked for */
    };
    for (size_t i = 0; i < 3; i++)
        for (int fold = 0; fold < 2; fold++)
            assert_int_not_equal(alike(&b, fold, never[i][0], never[i][1]), UINT32_MAX);
    end(&b);
}

/* What differs d deep is one structure down to level d - 1: rounds of a loop that differ only below
 * fold there, and not from level d on. */
static void a_difference_is_seen_from_its_depth_on(void **state)
{
    struct bench b;
    begin(&b);
    assert_int_equal(alike(&b, FOLDED, "A{1 B{1 C{1} 1} 1}", "A{1 B{1 D{1} 1} 1}"), 3);
    assert_int_equal(alike(&b, FOLDED, "A{1 B{1} 1}", "A{1 C{1} 1}"), 2);
    assert_int_equal(alike(&b, FOLDED, "A{1}", "B{1}"), 1);
    assert_int_equal(alike(&b, FOLDED, "A{B{C{1}} B{D{1}}}", "A{B{C{1}}}"), 3);
    assert_int_equal(alike(&b, FOLDED, "A{B{C{1}} B{D{1}}}", "A{B{D{1}} B{C{1}}}"), 3);
    end(&b);
}

static void levels_end_at_their_limit(void **state)
{
    struct bench b;
    begin(&b);
    char deep[256] = "", deeper[256] = "";
    for (int i = 0; i < 40; i++)
        strcat(deep, "A{");
    strcat(deep, "5");
    memcpy(deeper, deep, sizeof(deep));
    for (int i = 0; i < 40; i++)
        strcat(deep, "}");
    strcat(deeper, " B{1}");
    for (int i = 0; i < 40; i++)
        strcat(deeper, "}");
    struct pythia_shape *s = shape_of(&b, FOLDED, deep);
    assert_int_equal(s->level_count, PYTHIA_SHAPE_LEVELS);
    pythia_free(s);
    assert_int_equal(alike(&b, FOLDED, deep, deeper), UINT32_MAX);
    end(&b);
}

static void the_type_is_part_of_every_name(void **state)
{
    struct bench b;
    begin(&b);
    const struct pythia_critical_path *path = path_of(&b, "A{1 B{2} 3}");
    struct pythia_shape *one = pythia_shape_make(b.makers[FOLDED], path, 1),
                        *two = pythia_shape_make(b.makers[FOLDED], path, 2);
    for (uint32_t level = 0; level < 3; level++)
        assert_int_not_equal(one->levels[level], two->levels[level]);
    assert_int_equal(one->hash, two->hash);
    pythia_free(one);
    pythia_free(two);
    end(&b);
}

static void assert_same_shape(const struct pythia_shape *s, const struct pythia_shape *wanted)
{
    assert_int_equal(s->edge_count, wanted->edge_count);
    assert_int_equal(s->point_count, wanted->point_count);
    assert_int_equal(s->level_count, wanted->level_count);
    assert_memory_equal(s->slots, wanted->slots, wanted->gap_count * sizeof(*s->slots));
    assert_memory_equal(s->repeats, wanted->repeats, wanted->edge_count * sizeof(*s->repeats));
    assert_memory_equal(s->point_counts, wanted->point_counts,
                        wanted->point_count * sizeof(*s->point_counts));
    assert_memory_equal(s->levels, wanted->levels, wanted->level_count * sizeof(*s->levels));
}

/* After each failure the same maker makes the shape as if nothing had happened. */
static void a_failed_allocation_leaves_no_mark(void **state)
{
    const char *text = "A{1 B{2 C{3} 4 *D 5} 6 C{7} 8 B{2} 1}";
    uint64_t type = pythia_hash_bytes("A", 1);
    struct bench b;
    begin(&b);
    struct pythia_shape *wanted = shape_of(&b, FOLDED, text), *s = NULL;
    const struct pythia_critical_path *path = path_of(&b, text);
    long failures = 0;
    for (bool enough = false; !enough; failures += !enough) {
        struct pythia_shape_maker *m = NULL;
        assert_int_equal(pythia_shape_maker_create(b.cct, true, &m), PYTHIA_OK);
        pythia_mem_fail_after(failures);
        s = pythia_shape_make(m, path, type);
        pythia_mem_fail_after(-1);
        enough = s;
        s = s ? s : pythia_shape_make(m, path, type);
        assert_same_shape(s, wanted);
        pythia_free(s);
        pythia_shape_maker_destroy(m);
    }
    assert_true(failures > 10);
    pythia_free(wanted);
    struct pythia_shape_maker *none = NULL;
    pythia_mem_fail_after(0);
    assert_int_equal(pythia_shape_maker_create(b.cct, true, &none), PYTHIA_ENOMEM);
    pythia_mem_fail_after(-1);
    assert_null(none);
    pythia_shape_maker_destroy(NULL);
    end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_gap_belongs_to_an_edge_of_its_calling_context),
        cmocka_unit_test(what_repeats_is_one_edge_passed_several_times),
        cmocka_unit_test(recursion_has_an_edge_at_each_depth_and_one_trace_point),
        cmocka_unit_test(a_point_in_time_alone_has_no_edge),
        cmocka_unit_test(random_paths_are_counted_in_full),
        cmocka_unit_test(the_hash_is_of_events_and_not_of_times),
        cmocka_unit_test(nesting_is_told_from_a_sequence),
        cmocka_unit_test(names_are_the_same_in_every_process),
        cmocka_unit_test(identifiers_in_the_ids_of_trace_points_do_not_count),
        cmocka_unit_test(loops_fold_to_one_round_or_are_told_apart),
        cmocka_unit_test(a_difference_is_seen_from_its_depth_on),
        cmocka_unit_test(levels_end_at_their_limit),
        cmocka_unit_test(the_type_is_part_of_every_name),
        cmocka_unit_test(a_failed_allocation_leaves_no_mark),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
