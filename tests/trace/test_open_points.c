/* What becomes of a trace whose points are closed is in test_trace.c. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "pythia/mem.h"
#include "pythia/open_points.h"
#include "pythia/status.h"

struct points {
    struct pythia_vocabulary *vocabulary;
    struct pythia_open_points *open;
};

static void begin(struct points *p)
{
    assert_int_equal(pythia_vocabulary_create(&p->vocabulary), PYTHIA_OK);
    assert_int_equal(pythia_open_points_create(p->vocabulary, &p->open), PYTHIA_OK);
}

static void end(struct points *p)
{
    pythia_open_points_destroy(p->open);
    pythia_vocabulary_destroy(p->vocabulary);
}

static bool has(struct points *p, const char *id)
{
    return pythia_open_points_has(
        p->open, pythia_vocabulary_tracepoint_of_id(p->vocabulary, pythia_text_of(id), 0, 0));
}

static void add(struct points *p, const char *id)
{
    assert_int_equal(pythia_open_points_add(p->open, pythia_text_of(id)), PYTHIA_OK);
}

static void nothing_is_open_at_first(void **state)
{
    struct points p;
    begin(&p);
    assert_int_equal(pythia_open_points_count(p.open), 0);
    assert_false(has(&p, "a:b"));
    end(&p);
    pythia_open_points_destroy(NULL);
}

static void a_point_is_open_by_its_whole_id(void **state)
{
    struct points p;
    begin(&p);
    add(&p, "web:GET /users/{id}");
    add(&p, "db:query"); /* before any trace has it, or after */
    assert_true(has(&p, "web:GET /users/{id}"));
    assert_true(has(&p, "db:query"));
    assert_false(has(&p, "db:quer"));
    assert_false(has(&p, "db:query2"));
    assert_false(has(&p, "query"));
    assert_false(has(&p, "DB:query"));
    assert_int_equal(pythia_open_points_count(p.open), 2);
    end(&p);
}

static void patterns_open_what_they_match(void **state)
{
    static const struct {
        const char *pattern, *id;
        bool open;
    } cases[] = {
        {"*", "anything:at all", true},
        {"db:*", "db:", true},
        {"db:*", "db:query/17", true}, /* a slash is a character like any other */
        {"db:*", "web:db:query", false},
        {"*:query", "db:query", true},
        {"db:q?ery", "db:query", true},
        {"db:q?ery", "db:qery", false},
        {"db:[pq]uery", "db:query", true},
        {"db:[pq]uery", "db:guery", false},
        {"db:[!q]uery", "db:query", false},
        {"db:q", "db:query", false},
        {"db:query[1]", "db:query[1]", true}, /* a name that looks like a pattern is a name too */
        {"is it?", "is it?", true},
        {"db:[", "db:[", true},
        {"", "db:query", false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct points p;
        begin(&p);
        add(&p, cases[i].pattern);
        if (has(&p, cases[i].id) != cases[i].open)
            fail_msg("%s and %s", cases[i].pattern, cases[i].id);
        end(&p);
    }
}

/* An answer is remembered until something is opened. */
static void what_is_opened_later_is_open_from_then_on(void **state)
{
    struct points p;
    begin(&p);
    assert_false(has(&p, "a"));
    assert_false(has(&p, "b"));
    assert_false(has(&p, "a"));
    add(&p, "a");
    assert_true(has(&p, "a"));
    assert_false(has(&p, "b"));
    add(&p, "[bc]");
    assert_true(has(&p, "a"));
    assert_true(has(&p, "b"));
    end(&p);
}

static void many_points_are_told_apart(void **state)
{
    enum { N = 3000 };
    struct points p;
    char id[32];
    begin(&p);
    for (int i = 0; i < N; i += 3) {
        snprintf(id, sizeof(id), "point %d", i);
        add(&p, id);
    }
    for (int round = 0; round < 2; round++)
        for (int i = N - 1; i >= 0; i--) { /* the last number first */
            snprintf(id, sizeof(id), "point %d", i);
            assert_int_equal(has(&p, id), i % 3 == 0);
        }
    end(&p);
}

static void a_list_is_read_line_by_line(void **state)
{
    struct points p;
    begin(&p);
    struct pythia_text list = PYTHIA_TEXT("# what is open\n"
                                          "\n"
                                          "web:GET /\r\n"
                                          "db:query # 7\t \n"
                                          "   \n"
                                          "queue:*\n"
                                          "last: one");
    assert_int_equal(pythia_open_points_read(p.open, list), PYTHIA_OK);
    assert_int_equal(pythia_open_points_count(p.open), 4);
    assert_true(has(&p, "web:GET /"));
    assert_true(has(&p, "db:query # 7"));
    assert_true(has(&p, "queue:put"));
    assert_true(has(&p, "last: one"));
    assert_false(has(&p, "# what is open"));
    assert_false(has(&p, ""));
    assert_int_equal(pythia_open_points_read(p.open, (struct pythia_text){NULL, 0}), PYTHIA_OK);
    assert_int_equal(pythia_open_points_read(p.open, PYTHIA_TEXT("\n#")), PYTHIA_OK);
    assert_int_equal(pythia_open_points_count(p.open), 4);
    end(&p);
}

static void each_failed_allocation_is_reported_and_harmless(void **state)
{
    struct points p;
    long failures = 0;
    assert_int_equal(pythia_vocabulary_create(&p.vocabulary), PYTHIA_OK);
    for (int status = PYTHIA_ENOMEM; status != PYTHIA_OK; failures++) {
        p.open = NULL;
        pythia_mem_fail_after(failures);
        status = pythia_open_points_create(p.vocabulary, &p.open);
        if (status == PYTHIA_OK)
            status = pythia_open_points_read(p.open, PYTHIA_TEXT("a\nb*\nc[d]\n"));
        pythia_mem_fail_after(-1);
        assert_true(status == PYTHIA_OK || status == PYTHIA_ENOMEM);
        if (status == PYTHIA_OK) {
            pythia_mem_fail_after(0); /* without memory for answers they are right all the same */
            assert_true(pythia_open_points_has(p.open, 0) == false);
            pythia_mem_fail_after(-1);
            assert_true(has(&p, "a"));
            assert_true(has(&p, "bbb"));
            assert_true(has(&p, "cd"));
            assert_false(has(&p, "ca"));
        }
        pythia_open_points_destroy(p.open);
        if (failures == 0) /* the point that is asked for above */
            assert_int_equal(
                pythia_vocabulary_tracepoint_of_id(p.vocabulary, PYTHIA_TEXT("x"), 0, 0), 0);
    }
    assert_true(failures >= 6);
    pythia_vocabulary_destroy(p.vocabulary);
}

static void an_id_added_as_such_is_no_pattern(void **state)
{
    struct points p;
    begin(&p);
    assert_int_equal(pythia_open_points_add_id(p.open, pythia_text_of("db:SELECT * FROM t")),
                     PYTHIA_OK);
    assert_true(has(&p, "db:SELECT * FROM t"));
    assert_false(has(&p, "db:SELECT a FROM t"));
    assert_int_equal(pythia_open_points_count(p.open), 1);
    int status = PYTHIA_OK;
    pythia_mem_fail_after(0);
    for (int i = 0; status == PYTHIA_OK && i < 100000; i++) { /* until its room is used up */
        char id[16];
        snprintf(id, sizeof(id), "a%d", i);
        status = pythia_open_points_add_id(p.open, pythia_text_of(id));
    }
    pythia_mem_fail_after(-1);
    assert_int_equal(status, PYTHIA_ENOMEM);
    end(&p);
}

static void those_with_a_flag_are_open_and_no_others(void **state)
{
    struct points p;
    begin(&p);
    const char *ids[] = {"web:a", "web:b", "db:a"};
    bool flags[64] = {false};
    for (uint32_t i = 0; i < 3; i++)
        flags[pythia_vocabulary_tracepoint_of_id(p.vocabulary, pythia_text_of(ids[i]), 0, 0)] =
            i != 1;
    uint32_t count = pythia_vocabulary_tracepoints(p.vocabulary);
    assert_in_range(count, 3, 64);
    assert_int_equal(pythia_open_points_add_flagged(p.open, flags, count), PYTHIA_OK);
    assert_true(has(&p, "web:a"));
    assert_false(has(&p, "web:b"));
    assert_true(has(&p, "db:a"));
    assert_false(has(&p, "db:b")); /* met later */
    assert_int_equal(pythia_open_points_count(p.open), 2);
    add(&p, "*:b");
    assert_true(has(&p, "web:b"));
    memset(flags, 0, sizeof(flags)); /* which closes nothing in a set that has some open */
    assert_int_equal(pythia_open_points_add_flagged(p.open, flags, count), PYTHIA_OK);
    assert_true(has(&p, "web:a"));
    end(&p);
}

static void a_set_without_some_has_all_others_of_its_base(void **state)
{
    struct points p, q = {0};
    begin(&p);
    add(&p, "web:*");
    q.vocabulary = p.vocabulary;
    assert_int_equal(pythia_open_points_create_without(p.open, &q.open), PYTHIA_OK);
    assert_true(has(&q, "web:a"));
    assert_int_equal(pythia_open_points_add_id(q.open, pythia_text_of("web:a")), PYTHIA_OK);
    assert_int_equal(pythia_open_points_add_id(q.open, pythia_text_of("web:*")), PYTHIA_OK);
    assert_false(has(&q, "web:a"));
    assert_true(has(&q, "web:b")); /* which neither has seen before */
    assert_false(has(&q, "db:a"));
    assert_true(has(&p, "web:a"));
    pythia_open_points_destroy(q.open);
    pythia_mem_fail_after(0);
    q.open = NULL;
    assert_int_equal(pythia_open_points_create_without(p.open, &q.open), PYTHIA_ENOMEM);
    pythia_mem_fail_after(-1);
    assert_null(q.open);
    end(&p);
}

static void a_text_may_be_asked_whether_it_is_a_pattern_and_what_it_fits(void **state)
{
    assert_true(pythia_open_points_is_pattern(PYTHIA_TEXT("a*")));
    assert_true(pythia_open_points_is_pattern(PYTHIA_TEXT("?a")));
    assert_true(pythia_open_points_is_pattern(PYTHIA_TEXT("a[b]")));
    assert_false(pythia_open_points_is_pattern(PYTHIA_TEXT("web:GET /users/{id}")));
    assert_false(pythia_open_points_is_pattern(PYTHIA_TEXT("")));
    assert_true(pythia_open_points_fits("db:*", PYTHIA_TEXT("db:a/b")));
    assert_false(pythia_open_points_fits("db:*", PYTHIA_TEXT("web:db:a")));
}

static void add_for(struct pythia_open_points *o, const char *id, const char *type)
{
    assert_int_equal(pythia_open_points_add_id_for(o, pythia_text_of(id), pythia_text_of(type)),
                     PYTHIA_OK);
}

static uint32_t type_of(struct points *p, const char *name)
{
    return pythia_vocabulary_string(p->vocabulary, pythia_text_of(name));
}

static bool excludes(struct points *p, const char *id, const char *type)
{
    return pythia_open_points_excludes(
        p->open, pythia_vocabulary_tracepoint_of_id(p->vocabulary, pythia_text_of(id), 0, 0),
        type_of(p, type));
}

static void a_point_may_be_open_for_some_types_only(void **state)
{
    struct points p;
    size_t count = 7;
    begin(&p);
    assert_false(pythia_open_points_is_limited(NULL));
    assert_false(pythia_open_points_is_limited(p.open));
    add_for(p.open, "db:query", "GET /list");
    add_for(p.open, "db:query", "POST /order");
    add_for(p.open, "db:[a]", "GET /list"); /* no pattern */
    assert_true(pythia_open_points_is_limited(p.open));
    assert_true(has(&p, "db:query"));
    assert_false(has(&p, "db:a"));
    assert_false(excludes(&p, "db:query", "GET /list"));
    assert_false(excludes(&p, "db:query", "POST /order"));
    assert_true(excludes(&p, "db:query", "GET /"));
    assert_true(excludes(&p, "db:[a]", "POST /order"));
    assert_false(excludes(&p, "db:a", "GET /list")); /* it is closed for all */
    uint32_t query =
        pythia_vocabulary_tracepoint_of_id(p.vocabulary, PYTHIA_TEXT("db:query"), 0, 0);
    const struct pythia_text *types = pythia_open_points_types(p.open, query, &count);
    assert_int_equal(count, 2);
    assert_true(PYTHIA_TEXT_IS(types[0], "GET /list") && PYTHIA_TEXT_IS(types[1], "POST /order"));
    add(&p, "db:q*"); /* from here on it is open for all */
    assert_null(pythia_open_points_types(p.open, query, &count));
    assert_int_equal(count, 0);
    assert_false(excludes(&p, "db:query", "GET /"));
    end(&p);
}

/* Among points that are open for all, with types that the vocabulary has when they are added and
 * types that it has only later. */
static void each_limit_holds_for_its_own_point(void **state)
{
    enum { POINTS = 300 };
    struct points p;
    uint32_t points[POINTS];
    bool flags[POINTS];
    begin(&p);
    uint32_t even = type_of(&p, "even");
    for (int i = 0; i < POINTS; i++) {
        char id[16];
        snprintf(id, sizeof(id), "s:%d", i);
        points[i] = pythia_vocabulary_tracepoint_of_id(p.vocabulary, pythia_text_of(id), 0, 0);
        assert_int_equal(points[i], i);
        flags[i] = i % 3 == 0;
    }
    assert_int_equal(pythia_open_points_add_flagged(p.open, flags, POINTS), PYTHIA_OK);
    for (int i = 0; i < POINTS; i++)
        if (i % 3 == 1 && i % 2 == 0)
            assert_int_equal(pythia_open_points_add_for(p.open, points[i], even), PYTHIA_OK);
        else if (i % 3 == 1)
            assert_int_equal(pythia_open_points_add_id_for(
                                 p.open, pythia_vocabulary_tracepoint_id(p.vocabulary, points[i]),
                                 PYTHIA_TEXT("odd")),
                             PYTHIA_OK);
    for (int i = 0; i < POINTS; i++) {
        size_t count;
        bool limited = i % 3 == 1;
        assert_int_equal(pythia_open_points_has(p.open, points[i]), i % 3 < 2);
        assert_int_equal(pythia_open_points_excludes(p.open, points[i], even), limited && i % 2);
        assert_int_equal(pythia_open_points_excludes(p.open, points[i], type_of(&p, "odd")),
                         limited && i % 2 == 0);
        const struct pythia_text *types = pythia_open_points_types(p.open, points[i], &count);
        assert_int_equal(count, limited);
        if (limited)
            assert_true(pythia_text_equal(types[0], pythia_text_of(i % 2 ? "odd" : "even")));
    }
    end(&p);
}

static void sets_are_limited_alike_if_types_of_all_points_are_the_same(void **state)
{
    static const struct {
        const char *id, *type;
    } more[] = {{"a", "T"}, {"a", "U"}, {"b", "T"}};
    struct points p, q;
    begin(&p);
    begin(&q);
    assert_true(pythia_open_points_same_limits(NULL, NULL));
    assert_true(pythia_open_points_same_limits(p.open, NULL));
    add(&q, "c"); /* which says nothing of types */
    for (size_t i = 0; i < 3; i++) {
        assert_true(pythia_open_points_same_limits(p.open, q.open));
        add_for(p.open, more[i].id, more[i].type);
        assert_false(pythia_open_points_same_limits(p.open, q.open));
        assert_false(pythia_open_points_same_limits(q.open, p.open));
        add_for(q.open, more[i].id, more[i].type);
    }
    assert_true(pythia_open_points_same_limits(q.open, p.open));
    assert_false(pythia_open_points_same_limits(NULL, p.open));
    end(&p);
    end(&q);
}

static void types_without_memory_open_no_more_than_was_asked(void **state)
{
    int status = PYTHIA_ENOMEM;
    for (long n = 0; status == PYTHIA_ENOMEM; n++) {
        struct points p;
        begin(&p);
        assert_false(excludes(&p, "a", "T"));
        assert_in_range(n, 0, 20);
        pythia_mem_fail_after(n);
        status = pythia_open_points_add_id_for(p.open, PYTHIA_TEXT("a"), PYTHIA_TEXT("T"));
        pythia_mem_fail_after(-1);
        assert_true(!has(&p, "a") || excludes(&p, "a", "U"));
        if (status == PYTHIA_OK)
            assert_false(excludes(&p, "a", "T"));
        end(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_open_at_first),
        cmocka_unit_test(a_point_is_open_by_its_whole_id),
        cmocka_unit_test(patterns_open_what_they_match),
        cmocka_unit_test(what_is_opened_later_is_open_from_then_on),
        cmocka_unit_test(many_points_are_told_apart),
        cmocka_unit_test(a_list_is_read_line_by_line),
        cmocka_unit_test(each_failed_allocation_is_reported_and_harmless),
        cmocka_unit_test(an_id_added_as_such_is_no_pattern),
        cmocka_unit_test(those_with_a_flag_are_open_and_no_others),
        cmocka_unit_test(a_set_without_some_has_all_others_of_its_base),
        cmocka_unit_test(a_text_may_be_asked_whether_it_is_a_pattern_and_what_it_fits),
        cmocka_unit_test(a_point_may_be_open_for_some_types_only),
        cmocka_unit_test(each_limit_holds_for_its_own_point),
        cmocka_unit_test(sets_are_limited_alike_if_types_of_all_points_are_the_same),
        cmocka_unit_test(types_without_memory_open_no_more_than_was_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
