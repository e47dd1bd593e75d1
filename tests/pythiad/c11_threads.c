/* C11's threads by those of POSIX, loaded (LD_PRELOAD) where the thread sanitizer is: that of GCC
 * 12 knows only the latter, and ends the process in a thread that was made by thrd_create(), as
 * librdkafka makes its own. In glibc both are the same structures. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>

#define SHOWN __attribute__((visibility("default")))

struct start {
    thrd_start_t function;
    void *argument;
};

static void *run(void *context)
{
    struct start start = *(struct start *)context;
    free(context);
    return (void *)(long)start.function(start.argument);
}

static int as_thrd(int error)
{
    switch (error) {
    case 0:
        return thrd_success;
    case EBUSY:
        return thrd_busy;
    case ETIMEDOUT:
        return thrd_timedout;
    case ENOMEM:
        return thrd_nomem;
    default:
        return thrd_error;
    }
}

SHOWN int thrd_create(thrd_t *thr, thrd_start_t func, void *arg)
{
    struct start *start = malloc(sizeof(*start));
    if (!start)
        return thrd_nomem;
    *start = (struct start){func, arg};
    int error = pthread_create(thr, NULL, run, start);
    if (error)
        free(start);
    return as_thrd(error);
}

SHOWN int thrd_join(thrd_t thr, int *res)
{
    void *result;
    int error = pthread_join(thr, &result);
    if (!error && res)
        *res = (int)(long)result;
    return as_thrd(error);
}

SHOWN int thrd_detach(thrd_t thr)
{
    return as_thrd(pthread_detach(thr));
}

SHOWN int mtx_init(mtx_t *mutex, int type)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, type & mtx_recursive ? PTHREAD_MUTEX_RECURSIVE
                                                                : PTHREAD_MUTEX_NORMAL);
    return as_thrd(pthread_mutex_init((pthread_mutex_t *)mutex, &attributes));
}

SHOWN void mtx_destroy(mtx_t *mutex)
{
    (void)pthread_mutex_destroy((pthread_mutex_t *)mutex);
}

SHOWN int mtx_lock(mtx_t *mutex)
{
    return as_thrd(pthread_mutex_lock((pthread_mutex_t *)mutex));
}

SHOWN int mtx_trylock(mtx_t *mutex)
{
    return as_thrd(pthread_mutex_trylock((pthread_mutex_t *)mutex));
}

SHOWN int mtx_unlock(mtx_t *mutex)
{
    return as_thrd(pthread_mutex_unlock((pthread_mutex_t *)mutex));
}

SHOWN int cnd_init(cnd_t *cond)
{
    return as_thrd(pthread_cond_init((pthread_cond_t *)cond, NULL));
}

SHOWN void cnd_destroy(cnd_t *cond)
{
    (void)pthread_cond_destroy((pthread_cond_t *)cond);
}

SHOWN int cnd_signal(cnd_t *cond)
{
    return as_thrd(pthread_cond_signal((pthread_cond_t *)cond));
}

SHOWN int cnd_broadcast(cnd_t *cond)
{
    return as_thrd(pthread_cond_broadcast((pthread_cond_t *)cond));
}

SHOWN int cnd_wait(cnd_t *cond, mtx_t *mutex)
{
    return as_thrd(pthread_cond_wait((pthread_cond_t *)cond, (pthread_mutex_t *)mutex));
}

SHOWN int cnd_timedwait(cnd_t *cond, mtx_t *mutex, const struct timespec *time_point)
{
    return as_thrd(
        pthread_cond_timedwait((pthread_cond_t *)cond, (pthread_mutex_t *)mutex, time_point));
}

SHOWN void call_once(once_flag *flag, void (*func)(void))
{
    pthread_once((pthread_once_t *)flag, func);
}
