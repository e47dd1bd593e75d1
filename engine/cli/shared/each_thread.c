/* Who has jobs puts them on a list and does them, as far as no other thread takes them. Others take
 * the job that was added last: it belongs to what others may wait for. */
#include "each_thread.h"

#include <stdbool.h>

#include <uv.h>

#include "pythia/mem.h"

#define THREADS_MAX 64 /* jobs are few, and not long */

/* The jobs of one caller. */
struct jobs {
    struct jobs *before; /* those that were added earlier */
    int (*job)(void *of, size_t i);
    void *of;
    size_t count, next, running;
    int status; /* negative: of a job that failed; no further one is begun */
};

struct pythia__each_threads {
    uv_mutex_t lock;
    uv_cond_t changed;
    struct jobs *last;
    bool stopping;
    size_t count;
    uv_thread_t threads[THREADS_MAX];
};

static bool has_next_job(const struct jobs *j)
{
    return j->next < j->count && j->status >= 0;
}

/* The lock is held, but not meanwhile. */
static void run_job(struct pythia__each_threads *t, struct jobs *j)
{
    size_t i = j->next++;
    j->running++;
    uv_mutex_unlock(&t->lock);
    int status = j->job(j->of, i);
    uv_mutex_lock(&t->lock);
    j->running--;
    if (status < 0)
        j->status = status;
    if (j->running == 0)
        uv_cond_broadcast(&t->changed);
}

static void run_jobs_of_all(void *argument)
{
    struct pythia__each_threads *t = argument;
    uv_mutex_lock(&t->lock);
    while (!t->stopping) {
        struct jobs *j = t->last;
        while (j && !has_next_job(j))
            j = j->before;
        if (j)
            run_job(t, j);
        else
            uv_cond_wait(&t->changed, &t->lock);
    }
    uv_mutex_unlock(&t->lock);
}

static void remove_jobs(struct pythia__each_threads *t, const struct jobs *j)
{
    struct jobs **at = &t->last;
    while (*at != j)
        at = &(*at)->before;
    *at = j->before;
}

static int run_each(void *context, size_t count, int (*job)(void *of, size_t i), void *of)
{
    struct pythia__each_threads *t = context;
    struct jobs j = {.job = job, .of = of, .count = count};
    uv_mutex_lock(&t->lock);
    j.before = t->last;
    t->last = &j;
    if (count > 1)
        uv_cond_broadcast(&t->changed);
    while (has_next_job(&j))
        run_job(t, &j);
    while (j.running > 0)
        uv_cond_wait(&t->changed, &t->lock);
    remove_jobs(t, &j);
    uv_mutex_unlock(&t->lock);
    return j.status;
}

int pythia__each_threads_create(size_t count, struct pythia__each_threads **out)
{
    struct pythia__each_threads *t = pythia_calloc(1, sizeof(*t));
    if (!t)
        return PYTHIA_ENOMEM;
    if (uv_mutex_init(&t->lock) != 0)
        goto out;
    if (uv_cond_init(&t->changed) != 0) {
        uv_mutex_destroy(&t->lock);
        goto out;
    }
    count = count < THREADS_MAX ? count : THREADS_MAX;
    while (t->count + 1 < count && uv_thread_create(&t->threads[t->count], run_jobs_of_all, t) == 0)
        t->count++;
    *out = t;
    return PYTHIA_OK;
out:
    pythia_free(t);
    return PYTHIA_ENOMEM;
}

void pythia__each_threads_destroy(struct pythia__each_threads *t)
{
    if (!t)
        return;
    uv_mutex_lock(&t->lock);
    t->stopping = true;
    uv_cond_broadcast(&t->changed);
    uv_mutex_unlock(&t->lock);
    for (size_t i = 0; i < t->count; i++)
        uv_thread_join(&t->threads[i]);
    uv_cond_destroy(&t->changed);
    uv_mutex_destroy(&t->lock);
    pythia_free(t);
}

struct pythia_each pythia__each_threads_of(struct pythia__each_threads *t)
{
    return (struct pythia_each){run_each, t};
}
