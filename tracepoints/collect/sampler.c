/* SPDX-License-Identifier: MIT */
/* Samplers: functions of the program that the collector's thread calls from time to time. */
#include <errno.h>
#include <pthread.h>

#include "collector.h"

#define SAMPLERS  64
#define NEVER     UINT64_MAX
#define PERIOD_MS 3600000

static struct {
    pthread_mutex_t lock; /* held while one is called */
    struct {
        void (*sample)(void *context);
        void *context;
        uint64_t period_ns, due_ns;
    } all[SAMPLERS];
} samplers = {.lock = PTHREAD_MUTEX_INITIALIZER};

static __thread int calling; /* this thread is in a sampler */

static void lock_samplers(void)
{
    if (!calling)
        pthread_mutex_lock(&samplers.lock);
}

static void unlock_samplers(void)
{
    if (!calling)
        pthread_mutex_unlock(&samplers.lock);
}

int pythia_sampler_add(void (*sample)(void *context), void *context, unsigned period_ms)
{
    int number = -ENOSPC;
    if (!sample || period_ms < 1 || period_ms > PERIOD_MS)
        return -EINVAL;
    lock_samplers();
    for (int i = 0; i < SAMPLERS && number < 0; i++) {
        if (samplers.all[i].sample)
            continue;
        samplers.all[i].sample = sample;
        samplers.all[i].context = context;
        samplers.all[i].period_ns = (uint64_t)period_ms * 1000000;
        samplers.all[i].due_ns = pythia__clock_ns(CLOCK_MONOTONIC);
        number = i + 1;
    }
    unlock_samplers();
    pythia__collector_ring();
    return number;
}

int pythia_sampler_remove(int sampler)
{
    if (sampler < 1 || sampler > SAMPLERS)
        return -EINVAL;
    lock_samplers();
    int status = samplers.all[sampler - 1].sample ? 0 : -ENOENT;
    samplers.all[sampler - 1].sample = NULL;
    unlock_samplers();
    return status;
}

uint64_t pythia__samplers_run(uint64_t now_ns)
{
    uint64_t next = NEVER;
    int on = pythia__collector_on();
    pthread_mutex_lock(&samplers.lock);
    calling = 1;
    for (int i = 0; i < SAMPLERS; i++) {
        if (samplers.all[i].sample && now_ns >= samplers.all[i].due_ns) {
            samplers.all[i].due_ns += samplers.all[i].period_ns;
            if (samplers.all[i].due_ns <= now_ns) /* what was missed is missed */
                samplers.all[i].due_ns = now_ns + samplers.all[i].period_ns;
            if (on)
                samplers.all[i].sample(samplers.all[i].context);
        }
        if (samplers.all[i].sample && samplers.all[i].due_ns < next)
            next = samplers.all[i].due_ns;
    }
    calling = 0;
    pthread_mutex_unlock(&samplers.lock);
    return next;
}

void pythia__samplers_forget(void)
{
    pthread_mutex_init(&samplers.lock, NULL); /* whoever held it is the parent's */
    calling = 0;
}
