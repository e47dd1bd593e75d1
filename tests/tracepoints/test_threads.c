/* Many threads, one reader beside them: nothing is lost, nothing is mixed up. */
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "traced.h"

#define THREADS 4
#define RINGS   8

static int begin(void **state)
{
    setenv("PYTHIA_RINGS", "8", 1);
    setenv("PYTHIA_RING_BYTES", "16777216",
           1); /* enough for all, should the reader not be let run */
    return begin_group(state);
}

/* ---- all at once ---- */

#define SPANS (THREAD_SANITIZED ? 4000 : 40000)

static void *write_spans(void *argument)
{
    const int *number = argument;
    for (int i = 0; i < SPANS; i++) {
        PYTHIA_SPAN_AS(outer, "outer");
        PYTHIA_SET(outer, "thread", *number);
        PYTHIA_SPAN_AS(inner, "inner");
        PYTHIA_SET(inner, "i", i);
    }
    return NULL;
}

static uint32_t running;

static void *count_down(void *argument)
{
    void *result = write_spans(argument);
    __atomic_fetch_sub(&running, 1, __ATOMIC_RELEASE);
    return result;
}

/* Spans by id, to find parents. */
struct by_id {
    uint64_t id;
    size_t index;
};

static int compare_ids(const void *a, const void *b)
{
    const struct by_id *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

static struct by_id *sort_ids(const struct collection *c)
{
    struct by_id *ids = calloc(c->count, sizeof(*ids));
    assert_non_null(ids);
    for (size_t i = 0; i < c->count; i++)
        ids[i] = (struct by_id){span_at(c, i)->id, i};
    qsort(ids, c->count, sizeof(*ids), compare_ids);
    return ids;
}

static size_t find_id(const struct by_id *ids, size_t count, uint64_t id)
{
    const struct by_id wanted = {id, 0},
                       *found = bsearch(&wanted, ids, count, sizeof(*ids), compare_ids);
    assert_non_null(found);
    return found->index;
}

/* Each span of each thread is there once, below the one of its own thread. */
static void check_spans(const struct collection *c)
{
    static int seen[THREADS][40000];
    size_t inner = 0;
    struct by_id *ids = sort_ids(c);
    memset(seen, 0, sizeof(seen));
    for (size_t i = 0; i < c->count; i++) {
        struct pythia_attribute number, thread;
        if (!find_attribute(c, attributes_at(c, i), "i", &number))
            continue;
        size_t parent = find_id(ids, c->count, span_at(c, i)->parent);
        assert_true(find_attribute(c, attributes_at(c, parent), "thread", &thread));
        seen[thread.integer][number.integer]++;
        inner++;
    }
    free(ids);
    assert_int_equal(inner, THREADS * SPANS);
    for (int t = 0; t < THREADS; t++)
        for (int i = 0; i < SPANS; i++)
            assert_int_equal(seen[t][i], 1);
}

static void threads_lose_nothing_while_they_are_read(void **state)
{
    pthread_t threads[THREADS];
    int numbers[THREADS] = {0, 1, 2, 3};
    struct collection c;
    open_point("test:outer");
    open_point("test:inner");
    running = THREADS;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, count_down, &numbers[i]), 0);
    while (__atomic_load_n(&running, __ATOMIC_ACQUIRE) > 0)
        assert_int_equal(pythia_drain_pass(traced.drain), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    read_spans(&c);
    assert_problems(&c, "");
    assert_int_equal(c.counts.dropped[PYTHIA_DROP_FULL_RING], 0);
    assert_int_equal(c.count, 2 * THREADS * SPANS);
    check_spans(&c);
    collection_close(&c);
}

/* ---- rings are handed on ---- */

static void *one_span(void *unused)
{
    PYTHIA_SPAN("short");
    return unused;
}

/* Far more threads than rings, one after the other; nobody reads meanwhile. */
static void a_thread_that_ends_hands_its_ring_on(void **state)
{
    struct collection c;
    open_point("test:short");
    for (int i = 0; i < 500; i++) {
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, one_span, NULL), 0);
        pthread_join(thread, NULL);
    }
    read_spans(&c);
    assert_int_equal(c.count, 500);
    assert_int_equal(c.counts.dropped[PYTHIA_DROP_FULL_RING], 0);
    collection_close(&c);
}

static pthread_barrier_t barrier;

static void *hold_a_ring(void *unused)
{
    one_span(NULL);
    pthread_barrier_wait(&barrier); /* all have tried */
    pthread_barrier_wait(&barrier);
    return unused;
}

static void threads_beyond_the_rings_are_counted(void **state)
{
    enum { MORE = 5 };
    pthread_t threads[RINGS + MORE];
    struct pythia_tracepoints_state before, after;
    struct collection c;
    discard_spans();
    pythia_tracepoints_state_get(&before);
    pthread_barrier_init(&barrier, NULL, RINGS + MORE + 1);
    for (int i = 0; i < RINGS + MORE; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, hold_a_ring, NULL), 0);
    pthread_barrier_wait(&barrier);
    pythia_tracepoints_state_get(&after);
    read_spans(&c);
    /* This thread may have a ring of its own. */
    assert_in_range(c.count, RINGS - 1, RINGS);
    assert_int_equal(after.lost_spans - before.lost_spans, RINGS + MORE - c.count);
    assert_int_equal(c.counts.dropped[PYTHIA_DROP_FULL_RING], RINGS + MORE - c.count);
    assert_string_equal(after.problem,
                        "more threads record at once than there are rings (PYTHIA_RINGS)");
    collection_close(&c);
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < RINGS + MORE; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&barrier);
    nanosleep(&(struct timespec){0, 2000000}, NULL);
    one_span(NULL); /* and there are rings again */
    read_spans(&c);
    assert_int_equal(c.count, 1);
    collection_close(&c);
}

/* ---- first passes ---- */

#define NEW_POINTS 300

static struct pythia_point fresh[THREADS][NEW_POINTS];
static char names[NEW_POINTS][16];

static void *pass_new_points(void *argument)
{
    const int *number = argument;
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < NEW_POINTS; i++) {
        struct pythia_scope room;
        pythia_leave(pythia_enter(&fresh[*number][i], &room));
    }
    return NULL;
}

/* Each thread has points of its own, of the same names. */
static void points_that_are_passed_at_once_for_the_first_time_agree(void **state)
{
    pthread_t threads[THREADS];
    int numbers[THREADS] = {0, 1, 2, 3};
    struct collection c;
    for (int i = 0; i < NEW_POINTS; i++) {
        char id[32];
        int size = snprintf(names[i], sizeof(names[i]), "fresh %d", i);
        snprintf(id, sizeof(id), "test:fresh %d", i);
        open_point(id);
        for (int t = 0; t < THREADS; t++)
            fresh[t][i] =
                (struct pythia_point)PYTHIA_POINT(PYTHIA_POINT_INTERNAL, names[i], (uint32_t)size);
    }
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, pass_new_points, &numbers[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&barrier);
    for (int i = 0; i < NEW_POINTS; i++)
        for (int t = 1; t < THREADS; t++) {
            assert_int_equal(fresh[t][i].number, fresh[0][i].number);
            assert_ptr_equal(fresh[t][i].switches, fresh[0][i].switches);
        }
    read_spans(&c);
    assert_int_equal(c.count, THREADS * NEW_POINTS);
    for (int i = 0; i < NEW_POINTS; i++) {
        char id[32];
        snprintf(id, sizeof(id), "test:fresh %d", i);
        assert_int_equal(count_of(&c, id), THREADS);
    }
    collection_close(&c);
}

/* ---- switches ---- */

static uint32_t stop, passes;

static void *pass_until_told(void *unused)
{
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        PYTHIA_SPAN("switched");
        PYTHIA_SPAN("always");
        if (__atomic_fetch_add(&passes, 1, __ATOMIC_RELAXED) % 64 == 0)
            sched_yield();
    }
    return unused;
}

/* Whatever moment a switch is thrown at, spans are whole and their parents are there. */
static void switches_may_be_thrown_at_any_moment(void **state)
{
    pthread_t threads[THREADS];
    struct collection c;
    open_point("test:always");
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, pass_until_told, NULL), 0);
    for (int i = 0; i < 200; i++) {
        uint32_t before = __atomic_load_n(&passes, __ATOMIC_RELAXED);
        throw_types("test:switched", i % 2 ? 0 : PYTHIA_SWITCHES_ALL);
        while (__atomic_load_n(&passes, __ATOMIC_RELAXED) - before < 20)
            sched_yield();
        assert_int_equal(pythia_drain_pass(traced.drain), 0);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    read_spans(&c);
    assert_problems(&c, "");
    assert_true(count_of(&c, "test:always") > 0);
    assert_true(count_of(&c, "test:switched") > 0);
    assert_true(count_of(&c, "test:switched") < count_of(&c, "test:always"));
    struct by_id *ids = sort_ids(&c);
    for (size_t i = 0; i < c.count; i++) {
        assert_int_equal(span_at(&c, i)->part, PYTHIA_PART_WHOLE);
        if (span_at(&c, i)->parent)
            find_id(ids, c.count, span_at(&c, i)->parent);
    }
    free(ids);
    collection_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_lose_nothing_while_they_are_read),
        cmocka_unit_test(a_thread_that_ends_hands_its_ring_on),
        cmocka_unit_test(threads_beyond_the_rings_are_counted),
        cmocka_unit_test(points_that_are_passed_at_once_for_the_first_time_agree),
        cmocka_unit_test(switches_may_be_thrown_at_any_moment),
    };
    return cmocka_run_group_tests(tests, begin, end_group);
}
