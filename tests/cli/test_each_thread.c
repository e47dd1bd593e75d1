/* Jobs on several threads, of which some have jobs of their own. */
#include <assert.h>
#include <stdatomic.h>

#include <uv.h>

#include "check.h"
#include "pythia/mem.h"
#include "shared/each_thread.h"

enum { THREADS = 3, OUTER = 5, INNER = 40 };

struct work {
    struct pythia_each each;
    atomic_size_t runs[OUTER * INNER]; /* of each job */
    atomic_size_t busy, most;          /* threads at an inner job */
    size_t failing;                    /* job */
};

/* The jobs of one outer job. */
struct inner {
    struct work *work;
    size_t outer;
};

static int count_run(void *of, size_t i)
{
    struct inner *in = of;
    struct work *w = in->work;
    size_t busy = atomic_fetch_add(&w->busy, 1) + 1, most = atomic_load(&w->most);
    while (busy > most && !atomic_compare_exchange_weak(&w->most, &most, busy))
        ;
    uv_sleep(i % 20 == 0); /* others get their turn */
    atomic_fetch_add(&w->runs[in->outer * INNER + i], 1);
    atomic_fetch_sub(&w->busy, 1);
    return PYTHIA_OK;
}

static int run_inner(void *of, size_t i)
{
    struct inner in = {of, i};
    return pythia_each_run(&((struct work *)of)->each, INNER, count_run, &in);
}

static void all_jobs_run_once_on_no_more_threads_than_were_asked_for(void **state)
{
    for (size_t threads = 1; threads <= THREADS; threads++) {
        struct pythia__each_threads *t;
        struct work w = {.failing = 0};
        assert_int_equal(pythia__each_threads_create(threads, &t), PYTHIA_OK);
        w.each = pythia__each_threads_of(t);
        for (size_t round = 1; round <= 3; round++) {
            assert_int_equal(pythia_each_run(&w.each, OUTER, run_inner, &w), PYTHIA_OK);
            for (size_t i = 0; i < OUTER * INNER; i++)
                assert_int_equal(w.runs[i], round);
        }
        assert_in_range(w.most, 1, threads);
        assert_int_equal(pythia_each_run(&w.each, 0, run_inner, &w), PYTHIA_OK);
        pythia__each_threads_destroy(t);
    }
}

static int fail_at(void *of, size_t i)
{
    struct work *w = of;
    assert(w);
    atomic_fetch_add(&w->runs[i], 1);
    return i == w->failing ? PYTHIA_ENOMEM : PYTHIA_OK;
}

static int fail_inside(void *of, size_t i)
{
    struct work *w = of;
    return pythia_each_run(&w->each, INNER, fail_at, w);
}

/* One thread does the jobs in order. */
static void after_a_failure_no_job_begins(void **state)
{
    struct pythia__each_threads *t;
    struct work w = {.failing = 7};
    assert_int_equal(pythia__each_threads_create(1, &t), PYTHIA_OK);
    w.each = pythia__each_threads_of(t);
    assert_int_equal(pythia_each_run(&w.each, INNER, fail_at, &w), PYTHIA_ENOMEM);
    for (size_t i = 0; i < INNER; i++)
        assert_int_equal(w.runs[i], i <= w.failing);
    pythia__each_threads_destroy(t);
}

static void a_failure_on_any_thread_is_returned(void **state)
{
    struct pythia__each_threads *t;
    struct work w = {.failing = INNER - 1};
    assert_int_equal(pythia__each_threads_create(THREADS, &t), PYTHIA_OK);
    w.each = pythia__each_threads_of(t);
    for (int i = 0; i < 50; i++)
        assert_int_equal(pythia_each_run(&w.each, OUTER, fail_inside, &w), PYTHIA_ENOMEM);
    w.failing = INNER; /* none: nothing is left of the failures */
    assert_int_equal(pythia_each_run(&w.each, OUTER, fail_inside, &w), PYTHIA_OK);
    pythia__each_threads_destroy(t);
}

static void without_memory_there_are_no_threads(void **state)
{
    struct pythia__each_threads *t = NULL;
    pythia_mem_fail_after(0);
    assert_int_equal(pythia__each_threads_create(THREADS, &t), PYTHIA_ENOMEM);
    pythia_mem_fail_after(-1);
    assert_null(t);
    pythia__each_threads_destroy(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_jobs_run_once_on_no_more_threads_than_were_asked_for),
        cmocka_unit_test(after_a_failure_no_job_begins),
        cmocka_unit_test(a_failure_on_any_thread_is_returned),
        cmocka_unit_test(without_memory_there_are_no_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
