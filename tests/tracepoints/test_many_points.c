/* 100 000 trace points in one program, and more than there is room for. */
#include "traced.h"

#define POINTS (THREAD_SANITIZED ? 20000 : 100000)
#define OVER   (PYTHIA_SWITCHBOARD_POINTS + 100)

static struct pythia_point points[OVER];
static char names[OVER][24];

static void pass(int from, int to)
{
    for (int i = from; i < to; i++) {
        struct pythia_scope room;
        if (!points[i].switches) {
            int size = snprintf(names[i], sizeof(names[i]), "point %d", i);
            points[i] =
                (struct pythia_point)PYTHIA_POINT(PYTHIA_POINT_INTERNAL, names[i], (uint32_t)size);
        }
        pythia_leave(pythia_enter(&points[i], &room));
    }
}

static void each_of_many_points_has_its_switch(void **state)
{
    struct collection c;
    struct pythia_tracepoints_state s;
    pass(0, POINTS);
    pythia_tracepoints_state_get(&s);
    assert_int_equal(s.points, POINTS);
    assert_int_equal(s.points_refused, 0);
    assert_int_equal(pythia_switchboard_points(traced.board), POINTS);
    for (int i = 0; i < POINTS; i += 1000) {
        char id[32];
        snprintf(id, sizeof(id), "test:point %d", i);
        open_point(id);
    }
    pass(0, POINTS);
    read_spans(&c);
    assert_int_equal(c.count, POINTS / 1000);
    for (int i = 0; i < POINTS / 1000; i++) {
        char id[32];
        snprintf(id, sizeof(id), "test:point %d", i * 1000);
        assert_tracepoint(&c, (size_t)i, id);
    }
    collection_close(&c);
}

/* Those that come when the switchboard is full stay closed, and are counted. */
static void points_beyond_the_switchboard_stay_closed(void **state)
{
    struct collection c;
    struct pythia_tracepoints_state s;
    struct pythia_switchboard_state board;
    if (THREAD_SANITIZED)
        skip(); /* for minutes */
    pass(POINTS, OVER);
    pass(POINTS, OVER);
    pythia_tracepoints_state_get(&s);
    assert_int_equal(s.points, OVER);
    assert_int_equal(s.points_refused, 100);
    assert_string_equal(s.problem, "the switchboard has no place for more trace points");
    pythia_switchboard_state_get(traced.board, &board);
    assert_int_equal(board.points, PYTHIA_SWITCHBOARD_POINTS);
    assert_int_equal(board.refused_points, 100);
    assert_false(pythia_is_open(&points[OVER - 1]));
    open_point("test:point 131071");
    pass(POINTS, OVER);
    read_spans(&c);
    assert_int_equal(c.count, 1);
    assert_tracepoint(&c, 0, "test:point 131071");
    collection_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_of_many_points_has_its_switch),
        cmocka_unit_test(points_beyond_the_switchboard_stay_closed),
    };
    return cmocka_run_group_tests(tests, begin_group, end_group);
}
