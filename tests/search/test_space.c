#include <time.h>

#include "pythia/space.h"
#include "requests.h"
#include "timed.h"

struct bench {
    struct requests r;
    struct pythia_space *space;
};

static void begin(struct bench *b)
{
    requests_begin(&b->r);
    b->space = NULL;
    assert_int_equal(pythia_space_create(b->r.vocabulary, &b->space), PYTHIA_OK);
}

static void end(struct bench *b)
{
    pythia_space_destroy(b->space);
    requests_end(&b->r);
}

static int try_trace(struct bench *b, const char *type, const struct pythia_trace *trace)
{
    uint32_t name = requests_string(&b->r, type);
    return pythia_space_add(b->space, name, trace, requests_path(&b->r, trace));
}

static void add(struct bench *b, const char *type, const char *text)
{
    assert_int_equal(try_trace(b, type, requests_trace(&b->r, 0, text)), PYTHIA_OK);
}

static const struct pythia_space_type *type_of(struct bench *b, const char *type)
{
    return pythia_space_type(b->space, requests_string(&b->r, type));
}

static const struct pythia_space_node *node_of(const struct pythia_space_type *t, const char *chain)
{
    return &t->nodes[requests_node(t->cct, chain)];
}

static void assert_node(const struct pythia_space_type *t, const char *chain, uint64_t calls,
                        uint64_t requests, uint64_t visits, uint64_t time_ns)
{
    const struct pythia_space_node *n = node_of(t, chain);
    assert_int_equal(n->calls, calls);
    assert_int_equal(n->requests, requests);
    assert_int_equal(n->visits, visits);
    assert_int_equal(n->time_ns, time_ns);
}

static void assert_edge(const struct pythia_space_type *t, const char *name, uint64_t visits,
                        uint64_t time_ns)
{
    for (uint32_t e = 0; e < pythia_cct_edges(t->cct); e++)
        if (strcmp(requests_edge(t->cct, e), name) == 0) {
            assert_int_equal(t->edges[e].visits, visits);
            assert_int_equal(t->edges[e].time_ns, time_ns);
            return;
        }
    fail_msg("no such edge: %s", name);
}

/* ---- counts ---- */

static void contexts_and_what_follows_what_are_counted(void **state)
{
    struct bench b;
    begin(&b);
    add(&b, "t", "A{10 B{100} 7 B{200 C{30} 1} 3}");
    add(&b, "t", "A{20 C{5} 6}");
    const struct pythia_space_type *t = type_of(&b, "t");
    assert_int_equal(t->requests, 2);
    assert_int_equal(pythia_cct_nodes(t->cct), 5);
    assert_node(t, "A", 2, 2, 2, 351 + 31);
    assert_node(t, "A/B", 2, 1, 2, 331);
    assert_node(t, "A/B/C", 1, 1, 1, 30);
    assert_node(t, "A/C", 1, 1, 1, 5);
    assert_int_equal(pythia_cct_edges(t->cct), 10);
    assert_edge(t, "A: A -> B", 1, 10);
    assert_edge(t, "A/B: B -> /B", 1, 100);
    assert_edge(t, "A: /B -> B", 1, 7);
    assert_edge(t, "A/B: B -> C", 1, 200);
    assert_edge(t, "A/B/C: C -> /C", 1, 30);
    assert_edge(t, "A/B: /C -> /B", 1, 1);
    assert_edge(t, "A: /B -> /A", 1, 3);
    assert_edge(t, "A: A -> C", 1, 20);
    assert_edge(t, "A/C: C -> /C", 1, 5);
    assert_edge(t, "A: /C -> /A", 1, 6);
    end(&b);
}

/* Requests of "t" as they are now, in a space of their own. */
static void renew(struct bench *b, const char *text, int requests)
{
    struct bench now = {.r = b->r};
    assert_int_equal(pythia_space_create(b->r.vocabulary, &now.space), PYTHIA_OK);
    for (int i = 0; i < requests; i++)
        add(&now, "t", text);
    b->r = now.r;
    assert_int_equal(pythia_space_renew_type(b->space, type_of(&now, "t")), PYTHIA_OK);
    pythia_space_destroy(now.space);
}

/* Four requests were known, and two are seen now: what is not seen any more counts half. */
static void a_type_whose_program_has_changed_has_the_counts_of_now(void **state)
{
    struct bench b;
    begin(&b);
    for (int i = 0; i < 3; i++)
        add(&b, "t", "A{10 B{100} 5}");
    add(&b, "t", "A{10 C{30} 5}");
    renew(&b, "A{10 B{20 D{60} 20} 5}", 2);
    const struct pythia_space_type *t = type_of(&b, "t");
    for (int i = 0; i < 2; i++) {
        assert_int_equal(t->requests, 2);
        assert_int_equal(pythia_cct_nodes(t->cct), 5);
        assert_node(t, "A", 2, 2, 2, 2 * 115);
        assert_node(t, "A/B", 2, 2, 2, 2 * 100);
        assert_node(t, "A/B/D", 2, 2, 2, 2 * 60);
        assert_node(t, "A/C", 1, 1, 1, 15);
        assert_edge(t, "A: A -> B", 2, 20);
        assert_edge(t, "A/B: B -> D", 2, 40);
        assert_edge(t, "A/B: B -> /B", 2, 0); /* what was there is in the edges around D now */
        assert_edge(t, "A: A -> C", 1, 0);
        assert_edge(t, "A/C: C -> /C", 1, 15);
        renew(&b, "A{10 B{1} 5}", 7); /* nothing in it is new */
    }
    end(&b);
}

/* "B": trace id 18, span id 10, parent 10, name 3, times 18: 59, and 2 before them. With a=1, 2 + 3
 * + 2 + 2 more. "A" has no parent. */
static void bytes_of_spans_are_added_up(void **state)
{
    struct bench b;
    begin(&b);
    add(&b, "t", "A{10 B{100} 7 B(a=1){200} 3}");
    add(&b, "t", "A{10 B{100} 3}");
    const struct pythia_space_type *t = type_of(&b, "t");
    assert_int_equal(node_of(t, "A")->bytes, 2 * 51);
    assert_int_equal(node_of(t, "A/B")->bytes, 61 + 70 + 61);
    assert_rel_equal(pythia_space_mean_bytes(t), (2 * 51 + 192) / 5., 1e-15);
    assert_rel_equal(pythia_space_node_bytes(node_of(t, "A/B"), 7), 64, 1e-15);
    struct pythia_space_node old = {.calls = 3};
    assert_rel_equal(pythia_space_node_bytes(&old, 7), 7, 0); /* not known: the mean */
    end(&b);
}

static void where_no_bytes_are_known_a_span_has_416(void **state)
{
    struct bench b;
    uint32_t node;
    begin(&b);
    struct pythia_space_type *t = pythia_space_type_make(b.space, requests_string(&b.r, "t"));
    struct pythia_space_node *n = pythia_space_node_make(
        t, PYTHIA_CCT_ROOT,
        pythia_vocabulary_tracepoint(b.r.vocabulary, 0, 0, requests_string(&b.r, "A")), &node);
    n->calls = 5;
    assert_rel_equal(pythia_space_mean_bytes(t), 416, 0);
    n->bytes = 500; /* the others are taken to be like those that are known */
    n = pythia_space_node_make(
        t, node, pythia_vocabulary_tracepoint(b.r.vocabulary, 0, 0, requests_string(&b.r, "B")),
        &node);
    n->calls = 1000;
    assert_rel_equal(pythia_space_mean_bytes(t), 100, 0);
    end(&b);
}

static void what_is_off_the_path_is_called_and_not_visited(void **state)
{
    struct bench b;
    begin(&b);
    add(&b, "t", "A{10 ~B{40 D{5}} 5 C{100} *E 20}");
    const struct pythia_space_type *t = type_of(&b, "t");
    assert_node(t, "A/B", 1, 1, 0, 0);
    assert_node(t, "A/B/D", 1, 1, 0, 0);
    assert_node(t, "A/C", 1, 1, 1, 100);
    assert_node(t, "A/E", 1, 1, 1, 0);
    assert_edge(t, "A: /C -> *E", 1, 0);
    assert_edge(t, "A: *E -> /A", 1, 20);
    end(&b);
}

static void roots_entries_and_what_outlives_its_parent_are_the_skeleton(void **state)
{
    struct bench b;
    begin(&b);
    add(&b, "t", "api:A{10 api:B{10 db:Q{5} 5} 5 ~api:K{500 api:L{5}} 20} 5 api:R{1}");
    add(&b, "t", "api:A{10 api:S{3} 10}");
    add(&b, "u", "api:B{5 api:K{2} 1}"); /* a root of another type; here K is no more than called */
    const struct pythia_space_type *t = type_of(&b, "t");
    const struct {
        const char *chain;
        bool root, entry, outlives;
    } wanted[] = {{"api:A", true, false, false},
                  {"api:A/api:B", false, false, false},
                  {"api:A/api:B/db:Q", false, true, false},
                  {"api:A/api:K", false, false, true},
                  {"api:A/api:K/api:L", false, false, false},
                  {"api:R", true, false, false},
                  {"api:A/api:S", false, false, false}};
    for (size_t i = 0; i < 7; i++) {
        const struct pythia_space_node *n = node_of(t, wanted[i].chain);
        assert_int_equal(n->root, wanted[i].root);
        assert_int_equal(n->entry, wanted[i].entry);
        assert_int_equal(pythia_space_node_outlives(n), wanted[i].outlives);
    }
    requests_trace(&b.r, 0, "api:Z{1}"); /* is known, and in no type */
    bool *skeleton = pythia_space_skeleton(b.space), *points = pythia_space_points(b.space);
    const struct {
        const char *id;
        bool skeleton, point;
    } flags[] = {{"api:A", true, true},  {"api:B", true, true},  {"db:Q", true, true},
                 {"api:K", true, true},  {"api:L", false, true}, {"api:R", true, true},
                 {"api:S", false, true}, {"api:Z", false, false}};
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(skeleton[requests_point(&b.r, flags[i].id)], flags[i].skeleton);
        assert_int_equal(points[requests_point(&b.r, flags[i].id)], flags[i].point);
    }
    pythia_free(skeleton);
    pythia_free(points);
    end(&b);
}

/* What ends last shows until when there was work; what else outlives its parent does not. */
static void of_what_outlives_its_parent_the_last_to_end_is_in_the_skeleton(void **state)
{
    struct bench b;
    begin(&b);
    add(&b, "t", "A{10 ~J{50} ~K{~L{100} 500} 20}");
    const struct pythia_space_type *t = type_of(&b, "t");
    assert_false(pythia_space_node_outlives(node_of(t, "A/J")));
    assert_true(pythia_space_node_outlives(node_of(t, "A/K")));
    assert_false(pythia_space_node_outlives(node_of(t, "A/K/L"))); /* it ends before K does */
    add(&b, "t", "A{10 ~J{600} ~K{500} 20}");                      /* now it is the other one */
    assert_true(pythia_space_node_outlives(node_of(type_of(&b, "t"), "A/J")));
    end(&b);
}

/* Of 20 spans of B one is the first of its request, then of 41. */
static void
what_began_few_requests_that_were_seen_from_the_middle_is_not_in_the_skeleton(void **state)
{
    (void)state;
    for (int whole = 19; whole <= 40; whole += 21) {
        struct bench b;
        begin(&b);
        for (int i = 0; i < whole; i++)
            add(&b, "t", "A{10 B{100} 7}");
        add(&b, "t", "B{60}");
        bool *skeleton = pythia_space_skeleton(b.space), *points = pythia_space_points(b.space);
        assert_true(skeleton[requests_point(&b.r, "A")]);
        assert_int_equal(skeleton[requests_point(&b.r, "B")], whole == 19);
        assert_true(points[requests_point(&b.r, "B")]);
        pythia_free(skeleton);
        pythia_free(points);
        end(&b);
    }
}

static void what_was_late_once_in_many_requests_is_not_in_the_skeleton(void **state)
{
    struct bench b;
    begin(&b);
    add(&b, "t", "A{10 ~J{50} 20}");
    for (int i = 1; i < 40; i++)
        add(&b, "t", "A{10 ~J{10} 20}");
    assert_int_equal(node_of(type_of(&b, "t"), "A/J")->outlived, 1);
    assert_false(pythia_space_node_outlives(node_of(type_of(&b, "t"), "A/J")));
    add(&b, "t", "A{10 ~J{50} 20}"); /* two of 41 are one in twenty, as whole numbers go */
    assert_true(pythia_space_node_outlives(node_of(type_of(&b, "t"), "A/J")));
    end(&b);
}

/* Everything a type's tree holds, by name. */
static void write_type(const struct pythia_space_type *t, struct pythia_buf *to)
{
    uint32_t *nodes, count, *place = calloc(pythia_cct_edges(t->cct) + 1, sizeof(*place));
    const struct pythia_vocabulary *v = pythia_cct_vocabulary(t->cct);
    assert_int_equal(pythia_cct_sorted_nodes(t->cct, &nodes, &count), PYTHIA_OK);
    for (uint32_t i = 1; i < count; i++) {
        const struct pythia_space_node *n = &t->nodes[nodes[i]];
        for (uint32_t at = nodes[i]; at != PYTHIA_CCT_ROOT; at = pythia_cct_parent(t->cct, at))
            pythia_buf_printf(
                to, "%s ",
                pythia_vocabulary_tracepoint_id(v, pythia_cct_tracepoint(t->cct, at)).bytes);
        pythia_buf_printf(to, "%d %d %d %d %d%d%d\n", (int)n->calls, (int)n->requests,
                          (int)n->visits, (int)n->time_ns, n->root, n->entry,
                          pythia_space_node_outlives(n));
    }
    pythia_free(nodes);
    for (uint32_t e = 0; e < pythia_cct_edges(t->cct); e++)
        for (uint32_t other = 0; other < pythia_cct_edges(t->cct); other++)
            place[e] += pythia_cct_compare_edges(t->cct, other, e) < 0;
    for (uint32_t i = 0; i < pythia_cct_edges(t->cct); i++)
        for (uint32_t e = 0; e < pythia_cct_edges(t->cct); e++)
            if (place[e] == i)
                pythia_buf_printf(to, "%s %d %d\n", requests_edge(t->cct, e),
                                  (int)t->edges[e].visits, (int)t->edges[e].time_ns);
    free(place);
    pythia_buf_putc(to, '\0');
}

static void the_order_of_requests_makes_no_difference(void **state)
{
    static const char *const texts[] = {
        "api:A{10 api:B{100 db:Q{5} 1} 7 api:B{200 api:C{30} 1} 3}",
        "api:A{20 api:C{5} 6}",
        "api:A{20 api:C{5} 6}",
        "api:A{1 ~api:B{500} 2 *E 3 api:C{4 db:Q{4} 4} 4} 5 api:R{9}",
        "api:R{1} 1 api:A{2 api:B{3} 4}",
        "api:A{5}",
    };
    struct pythia_buf first = {0};
    struct pythia_random random;
    pythia_random_init(&random, 1);
    for (int run = 0; run < 20; run++) {
        struct bench b;
        struct pythia_buf other = {0};
        size_t order[] = {0, 1, 2, 3, 4, 5};
        begin(&b);
        if (run)
            pythia_random_shuffle(&random, order, 6);
        for (size_t i = 0; i < 6; i++)
            add(&b, "t", texts[order[i]]);
        write_type(type_of(&b, "t"), run ? &other : &first);
        if (run)
            assert_string_equal(other.bytes, first.bytes);
        pythia_buf_free(&other);
        end(&b);
    }
    pythia_buf_free(&first);
}

/* ---- types ---- */

static void types_have_trees_of_their_own(void **state)
{
    struct bench b;
    char name[16];
    size_t count;
    begin(&b);
    assert_null(type_of(&b, "t0"));
    for (int i = 0; i < 200; i++) {
        snprintf(name, sizeof(name), "t%d", i % 100);
        add(&b, name, i < 100 ? "A{1 B{1} 1}" : "A{1 C{1} 1}");
    }
    pythia_space_types(b.space, &count);
    assert_int_equal(count, 100);
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof(name), "t%d", i);
        const struct pythia_space_type *t = type_of(&b, name);
        assert_string_equal(pythia_vocabulary_text(b.r.vocabulary, t->name).bytes, name);
        assert_int_equal(t->requests, 2);
        assert_int_equal(pythia_cct_nodes(t->cct), 4);
        assert_node(t, "A", 2, 2, 2, 6);
    }
    assert_ptr_equal(pythia_space_vocabulary(b.space), b.r.vocabulary);
    pythia_space_clear(b.space);
    pythia_space_types(b.space, &count);
    assert_int_equal(count, 0);
    assert_null(type_of(&b, "t7"));
    add(&b, "t7", "A{5}");
    assert_int_equal(type_of(&b, "t7")->requests, 1);
    end(&b);
    pythia_space_destroy(NULL);
}

/* What a file is read with makes what traces make. */
static size_t type_count(const struct pythia_space *s)
{
    size_t count;
    (void)pythia_space_types(s, &count);
    return count;
}

static void a_type_moves_from_one_space_to_another_as_it_is(void **state)
{
    struct bench b;
    struct pythia_space *other = NULL;
    begin(&b);
    assert_int_equal(pythia_space_create(b.r.vocabulary, &other), PYTHIA_OK);
    static const char *const names[] = {"t", "u", "v", "w"};
    for (int i = 0; i < 4; i++)
        for (int k = 0; k <= i; k++)
            add(&b, names[i], "A{10 B{100} 20}");
    uint32_t u = requests_string(&b.r, "u"), w = requests_string(&b.r, "w");
    pythia_mem_fail_after(0);
    assert_int_equal(pythia_space_move(other, b.space, u), PYTHIA_ENOMEM);
    pythia_mem_fail_after(1);
    assert_int_equal(pythia_space_move(other, b.space, u), PYTHIA_ENOMEM);
    pythia_mem_fail_after(-1);
    assert_int_equal(type_count(b.space), 4);
    assert_int_equal(type_count(other), 0);
    assert_int_equal(pythia_space_move(other, b.space, u), PYTHIA_OK);
    assert_int_equal(type_count(b.space), 3);
    assert_null(type_of(&b, "u"));
    assert_int_equal(pythia_space_type(other, u)->requests, 2);
    assert_node(pythia_space_type(other, u), "A/B", 2, 2, 2, 200);
    for (int i = 0; i < 4; i += i ? 1 : 2) /* the others are as they were */
        assert_int_equal(type_of(&b, names[i])->requests, i + 1);
    pythia_space_remove(b.space, w);
    pythia_space_remove(b.space, w);
    pythia_space_remove(b.space, UINT32_MAX - 1);
    assert_int_equal(type_count(b.space), 2);
    assert_null(type_of(&b, "w"));
    assert_int_equal(type_of(&b, "v")->requests, 3);
    add(&b, "w", "A{10 B{100} 20}"); /* it may come again */
    assert_int_equal(type_of(&b, "w")->requests, 1);
    assert_int_equal(pythia_space_move(b.space, other, u), PYTHIA_OK);
    assert_int_equal(type_of(&b, "u")->requests, 2);
    pythia_space_destroy(other);
    end(&b);
}

static void a_space_can_be_put_together_by_hand(void **state)
{
    struct bench b;
    begin(&b);
    add(&b, "traced", "A{10 B{100} 7}");
    struct pythia_space_type *t = pythia_space_type_make(b.space, requests_string(&b.r, "by hand"));
    uint32_t a = requests_point(&b.r, "A"), in_b = requests_point(&b.r, "B"), node;
    t->requests = 1;
    *pythia_space_node_make(t, PYTHIA_CCT_ROOT, a, &node) =
        (struct pythia_space_node){.calls = 1, .root = true, .time_ns = 117};
    struct pythia_edge edge = {node, a, in_b, PYTHIA_EVENT_START, PYTHIA_EVENT_START};
    pythia_space_edge_make(t, &edge)->time_ns = 10;
    pythia_space_node_make(t, node, in_b, &node)->calls = 3;
    assert_ptr_equal(t, pythia_space_type_make(b.space, requests_string(&b.r, "by hand")));
    assert_node(t, "A", 1, 0, 0, 117);
    assert_node(t, "A/B", 3, 0, 0, 0);
    assert_edge(t, "A: A -> B", 0, 10);
    assert_int_equal(type_of(&b, "traced")->nodes[0].calls, 0);
    assert_node(type_of(&b, "traced"), "A/B", 1, 1, 1, 100);
    end(&b);
}

/* ---- size and time ---- */

static void put(struct bench *b, struct pythia_span span, const char *name, int number,
                uint64_t at_ns)
{
    char text[32];
    snprintf(text, sizeof(text), number < 0 ? "%s" : "%s%d", name, number);
    span.tracepoint =
        pythia_vocabulary_tracepoint(b->r.vocabulary, 0, 0, requests_string(&b->r, text));
    span.start_ns = REQUESTS_BEGIN + at_ns;
    assert_int_equal(pythia_trace_builder_add(b->r.builder, &span), PYTHIA_OK);
}

/* A root that forks work and waits for it, `count` times (fewer than 10000), one after the other;
 * with a trace point for each, or (`same`) one for all. */
static const struct pythia_trace *forks_and_joins(struct bench *b, int count, bool same)
{
    const struct pythia_trace *trace;
    pythia_trace_builder_begin(b->r.builder, (struct pythia_trace_id){9, 9});
    put(b, (struct pythia_span){.id = 1, .duration_ns = 1000 * count}, "A", -1, 0);
    for (int i = 0; i < count; i++) {
        struct pythia_trace_id link = {1, (uint64_t)i + 1};
        uint64_t fork = pythia_span_id_fold(link.high, link.low), begin_ns = 1000 * (uint64_t)i;
        int number = same ? -1 : i;
        put(b,
            (struct pythia_span){.id = fork, .parent = 1, .part = PYTHIA_PART_FORK, .link = link},
            "F", number, begin_ns + 100);
        put(b, (struct pythia_span){.id = 10000 + (uint64_t)i, .parent = fork, .duration_ns = 500},
            "K", number, begin_ns + 200);
        put(b,
            (struct pythia_span){
                .id = 20000 + (uint64_t)i, .parent = 1, .part = PYTHIA_PART_WAIT, .link = link},
            "W", number, begin_ns + 300);
        struct pythia_span stop = {.id = 20000 + (uint64_t)i,
                                   .part = PYTHIA_PART_STOP,
                                   .tracepoint = PYTHIA_NONE,
                                   .start_ns = REQUESTS_BEGIN + begin_ns + 800};
        assert_int_equal(pythia_trace_builder_add(b->r.builder, &stop), PYTHIA_OK);
    }
    assert_int_equal(pythia_trace_builder_finish(b->r.builder, &b->r.counts, &trace), 0);
    return trace;
}

static size_t bytes_of(const struct pythia_space_type *t)
{
    return t->node_capacity * sizeof(*t->nodes) + t->edge_capacity * sizeof(*t->edges) +
           t->last_capacity * sizeof(*t->last_request);
}

/* Each of n forks and joins has two ways through, so that a list of paths would have 2^n. */
static void forks_and_joins_take_linear_time_and_memory(void **state)
{
    size_t bytes[8] = {0};
    for (int doubled = 0; doubled < 6; doubled++) {
        int n = 64 << doubled;
        struct bench b;
        begin(&b);
        const struct pythia_trace *trace = forks_and_joins(&b, n, false);
        assert_int_equal(trace->count, 1 + 2 * n);
        clock_t before = clock();
        assert_int_equal(try_trace(&b, "t", trace), PYTHIA_OK);
        double ms = 1e3 * (double)(clock() - before) / CLOCKS_PER_SEC;
        if (n == 64)
            check_time(ms < 50, "%g ms for 64 forks and joins", ms);
        const struct pythia_space_type *t = type_of(&b, "t");
        /* the root, A, and K and W of each; to K and through it each time, and to the end of A:
         * what is waited for is on the path, and the wait is not */
        assert_int_equal(pythia_cct_nodes(t->cct), 2 + 2 * n);
        assert_int_equal(pythia_cct_edges(t->cct), 2 * n + 1);
        bytes[doubled] = bytes_of(t);
        if (doubled) /* arrays grow to twice what is needed: to no more than double and a bit */
            assert_true(bytes[doubled] <= 2 * bytes[doubled - 1] + 1024);
        for (int again = 0; again < 100; again++) /* and what is known takes no more */
            assert_int_equal(try_trace(&b, "t", trace), PYTHIA_OK);
        assert_int_equal(bytes_of(type_of(&b, "t")), bytes[doubled]);
        assert_int_equal(pythia_cct_edges(type_of(&b, "t")->cct), 2 * n + 1);
        end(&b);
    }
}

static void forks_of_one_trace_point_are_one_context(void **state)
{
    struct bench b;
    begin(&b);
    assert_int_equal(try_trace(&b, "t", forks_and_joins(&b, 64, true)), PYTHIA_OK);
    const struct pythia_space_type *t = type_of(&b, "t");
    assert_int_equal(pythia_cct_nodes(t->cct), 4);
    assert_int_equal(t->requests, 1);
    for (uint32_t node = 2; node < 4; node++) {
        assert_int_equal(t->nodes[node].calls, 64);
        assert_int_equal(t->nodes[node].requests, 1);
    }
    end(&b);
}

/* Two are eight times as large as two others: eight times the time would be 8, the square 64. */
static void eight_times_the_forks_take_no_more_than_eight_times_as_long(void **state)
{
    double least[2] = {INFINITY, INFINITY};
    for (int try = 0; try < 10; try++) {
        struct bench b;
        begin(&b);
        const struct pythia_trace *trace = forks_and_joins(&b, try % 2 ? 8192 : 1024, false);
        const struct pythia_critical_path *path = requests_path(&b.r, trace);
        uint32_t type = requests_string(&b.r, "t");
        assert_int_equal(path->count, 2 + 2 * (try % 2 ? 8192 : 1024));
        clock_t before = clock();
        assert_int_equal(pythia_space_add(b.space, type, trace, path), PYTHIA_OK);
        double ticks = (double)(clock() - before) + 1;
        least[try % 2] = ticks < least[try % 2] ? ticks : least[try % 2];
        end(&b);
    }
    check_time(least[1] < 32 * least[0], "%g and %g ticks", least[0], least[1]);
}

/* 64 steps that are taken or not: a list of paths would hold nearly every request's own. */
static void ways_that_part_and_meet_are_no_list_of_paths(void **state)
{
    enum { STEPS = 64, MANY = 500, FIRST = 0, LAST = STEPS + 1 };
    static uint64_t followed[STEPS + 2][STEPS + 2]; /* of steps: how often one came after another */
    struct pythia_random random;
    struct bench b;
    memset(followed, 0, sizeof(followed));
    pythia_random_init(&random, 1);
    begin(&b);
    for (int i = 0; i < MANY; i++) {
        char text[2048] = "A{";
        int before = FIRST;
        for (int step = 1; step <= STEPS; step++)
            if (pythia_random_below(&random, 2)) {
                snprintf(text + strlen(text), sizeof(text) - strlen(text), "3 s%d{2} ", step);
                followed[before][step]++;
                before = step;
            }
        followed[before][LAST]++;
        strcat(text, "3}");
        add(&b, "t", text);
    }
    const struct pythia_space_type *t = type_of(&b, "t");
    uint32_t edges = 0;
    assert_int_equal(pythia_cct_nodes(t->cct), 2 + STEPS);
    for (int from = FIRST; from < LAST; from++)
        for (int to = from + 1; to <= LAST; to++) {
            char name[64], of[2][16];
            if (followed[from][to] == 0)
                continue;
            snprintf(of[0], sizeof(of[0]), from == FIRST ? "A" : "/s%d", from);
            snprintf(of[1], sizeof(of[1]), to == LAST ? "/A" : "s%d", to);
            snprintf(name, sizeof(name), "A: %s -> %s", of[0], of[1]);
            assert_edge(t, name, followed[from][to], 3 * followed[from][to]);
            edges++;
        }
    assert_int_equal(pythia_cct_edges(t->cct), edges + STEPS); /* and through each step */
    end(&b);
}

/* 100000 spans, each in the one before it: no walk may go by recursion. */
static void a_trace_may_be_as_deep_as_it_likes(void **state)
{
    enum { DEEP = 100000 };
    struct bench b;
    const struct pythia_trace *trace;
    begin(&b);
    pythia_trace_builder_begin(b.r.builder, (struct pythia_trace_id){9, 9});
    for (uint64_t i = 0; i < DEEP; i++)
        put(&b, (struct pythia_span){.id = i + 1, .parent = i, .duration_ns = 2 * DEEP}, "A", -1,
            i);
    assert_int_equal(pythia_trace_builder_finish(b.r.builder, &b.r.counts, &trace), 0);
    assert_int_equal(try_trace(&b, "t", trace), PYTHIA_OK);
    assert_int_equal(pythia_cct_nodes(type_of(&b, "t")->cct), DEEP + 1);
    bool *skeleton = pythia_space_skeleton(b.space);
    assert_true(skeleton[requests_point(&b.r, "A")]);
    pythia_free(skeleton);
    end(&b);
}

/* ---- failures ---- */

static void a_failed_allocation_is_told_and_leaves_nothing(void **state)
{
    struct bench b;
    struct pythia_space *none = NULL;
    begin(&b);
    pythia_mem_fail_after(0);
    assert_int_equal(pythia_space_create(b.r.vocabulary, &none), PYTHIA_ENOMEM);
    assert_null(pythia_space_skeleton(b.space));
    assert_null(pythia_space_points(b.space));
    pythia_mem_fail_after(-1);
    assert_null(none);
    end(&b);
    long failures = 0;
    for (int status = PYTHIA_ENOMEM; status != PYTHIA_OK; failures += status != PYTHIA_OK) {
        begin(&b);
        uint32_t type = requests_string(&b.r, "t");
        const struct pythia_trace *trace =
            requests_trace(&b.r, 0, "A{10 B{100} 7 *D 8 B{200 C{30} 1} 3}");
        const struct pythia_critical_path *path = requests_path(&b.r, trace);
        pythia_mem_fail_after(failures);
        status = pythia_space_add(b.space, type, trace, path);
        pythia_mem_fail_after(-1);
        assert_true(status == PYTHIA_OK || status == PYTHIA_ENOMEM);
        assert_int_equal(pythia_space_add(b.space, type, trace, path), PYTHIA_OK);
        assert_int_equal(pythia_cct_nodes(type_of(&b, "t")->cct), 5);
        assert_true(node_of(type_of(&b, "t"), "A/B")->visits >= 2);
        end(&b);
    }
    assert_true(failures > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contexts_and_what_follows_what_are_counted),
        cmocka_unit_test(a_type_whose_program_has_changed_has_the_counts_of_now),
        cmocka_unit_test(bytes_of_spans_are_added_up),
        cmocka_unit_test(where_no_bytes_are_known_a_span_has_416),
        cmocka_unit_test(what_is_off_the_path_is_called_and_not_visited),
        cmocka_unit_test(roots_entries_and_what_outlives_its_parent_are_the_skeleton),
        cmocka_unit_test(of_what_outlives_its_parent_the_last_to_end_is_in_the_skeleton),
        cmocka_unit_test(
            what_began_few_requests_that_were_seen_from_the_middle_is_not_in_the_skeleton),
        cmocka_unit_test(what_was_late_once_in_many_requests_is_not_in_the_skeleton),
        cmocka_unit_test(the_order_of_requests_makes_no_difference),
        cmocka_unit_test(types_have_trees_of_their_own),
        cmocka_unit_test(a_type_moves_from_one_space_to_another_as_it_is),
        cmocka_unit_test(a_space_can_be_put_together_by_hand),
        cmocka_unit_test(forks_and_joins_take_linear_time_and_memory),
        cmocka_unit_test(eight_times_the_forks_take_no_more_than_eight_times_as_long),
        cmocka_unit_test(ways_that_part_and_meet_are_no_list_of_paths),
        cmocka_unit_test(forks_of_one_trace_point_are_one_context),
        cmocka_unit_test(a_trace_may_be_as_deep_as_it_likes),
        cmocka_unit_test(a_failed_allocation_is_told_and_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
