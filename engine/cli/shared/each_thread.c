#include "each_thread.h"

#include <stdatomic.h>

#include <uv.h>

#define THREADS_MAX 64 /* jobs are few, and not long */

struct jobs {
    int (*job)(void *of, size_t i);
    void *of;
    size_t count;
    atomic_size_t next;
    atomic_int status; /* negative: of a job that failed */
};

static void run_jobs(void *argument)
{
    struct jobs *j = argument;
    size_t i;
    while (atomic_load(&j->status) >= 0 && (i = atomic_fetch_add(&j->next, 1)) < j->count) {
        int status = j->job(j->of, i);
        if (status < 0)
            atomic_store(&j->status, status);
    }
}

/* Where no more threads can be made the caller's does the work. */
static int run_on_threads(void *context, size_t count, int (*job)(void *of, size_t i), void *of)
{
    uv_thread_t threads[THREADS_MAX];
    size_t wanted = *(const unsigned *)context, running = 0;
    struct jobs jobs = {.job = job, .of = of, .count = count};
    wanted = wanted < count ? wanted : count;
    wanted = wanted < THREADS_MAX ? wanted : THREADS_MAX;
    while (running + 1 < wanted && uv_thread_create(&threads[running], run_jobs, &jobs) == 0)
        running++;
    run_jobs(&jobs);
    for (size_t i = 0; i < running; i++)
        uv_thread_join(&threads[i]);
    return atomic_load(&jobs.status);
}

struct pythia_each pythia__each_thread(unsigned *threads)
{
    return (struct pythia_each){run_on_threads, threads};
}
