/* SPDX-License-Identifier: MIT */
/* State shared by all threads of a process, and state of one thread: the lock, random numbers,
 * definitions, and counts of what is lost. process.c begins and ends it. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "process.h"

#define TRIES      1000 /* at the lock; the later ones 10 us apart */
#define TRIES_FAST 20

struct pythia__page pythia__first_page = {.epoch = 1};
struct pythia__page *pythia__page = &pythia__first_page;
__thread struct pythia__thread pythia__self = {
    .context = {.flags = PYTHIA_CONTEXT_SAMPLED, .version = PYTHIA_TRACEPOINTS_VERSION},
    .page = &pythia__first_page};
struct pythia__process pythia__process = {.lock = PTHREAD_MUTEX_INITIALIZER};

int pythia__lock(struct pythia__thread *t)
{
    int cancel;
    if (t->locked)
        return 0;
    /* A thread that is to be cancelled must not end in here, with the lock. */
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    for (int i = 0; i < TRIES; i++) {
        if (pthread_mutex_trylock(&pythia__process.lock) == 0) {
            t->locked = 1;
            t->cancel = cancel;
            return 1;
        }
        if (i < TRIES_FAST)
            sched_yield();
        else
            nanosleep(&(struct timespec){0, 10000}, NULL);
    }
    pthread_setcancelstate(cancel, NULL);
    return 0;
}

void pythia__unlock(struct pythia__thread *t)
{
    int cancel = t->cancel;
    t->locked = 0;
    pthread_mutex_unlock(&pythia__process.lock);
    pthread_setcancelstate(cancel, NULL);
}

void pythia__problem(const char *sentence)
{
    struct pythia__process *p = &pythia__process;
    snprintf(p->problem, sizeof(p->problem), "%s", sentence);
    if (secure_getenv("PYTHIA_VERBOSE")) {
        char line[PYTHIA__WHY + 64];
        int size = snprintf(line, sizeof(line), "libpythia-tracepoints: %s\n", sentence);
        for (int i = 0; i < size - 1; i++)
            if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
                line[i] = '?';
        if (write(STDERR_FILENO, line, (size_t)size) < 0)
            return; /* nobody is left to report it to */
    }
}

int pythia__define(const void *head, size_t head_bytes, const char *first, size_t first_bytes,
                   const char *second, size_t second_bytes)
{
    struct pythia__process *p = &pythia__process;
    uint64_t bytes = (head_bytes + first_bytes + second_bytes + 7) & ~(uint64_t)7;
    if (bytes > p->area.definition_bytes - p->defined)
        return 0;
    unsigned char *to = p->area.definitions + p->defined; /* zeros until now */
    uint16_t size = (uint16_t)bytes;
    memcpy(to, head, head_bytes);
    memcpy(to, &size, sizeof(size));
    memcpy(to + head_bytes, first, first_bytes);
    memcpy(to + head_bytes + first_bytes, second, second_bytes);
    p->defined += bytes;
    __atomic_store_n(&p->area.header->defined, p->defined, __ATOMIC_RELEASE);
    return 1;
}

PYTHIA__COLD void pythia__seed(struct pythia__thread *t, uint64_t epoch)
{
    int cancel;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    pythia__random_bytes(&t->random, sizeof(t->random));
    pthread_setcancelstate(cancel, NULL);
    t->random_epoch = epoch;
}

void pythia__lose(const struct pythia__thread *t, enum pythia__lost what)
{
    struct pythia__process *p = &pythia__process;
    if (t->epoch && t->epoch == pythia__epoch_now()) {
        struct pythia__ring_control *c = t->ring.control;
        uint64_t *counts[] = {&c->lost_spans, &c->lost_ends, &c->lost_annotations, &c->lost_values};
        pythia__ring_lose(counts[what]);
    } else if (__atomic_load_n(&p->recording, __ATOMIC_ACQUIRE) > 0) {
        struct pythia__area_header *h = p->area.header;
        uint64_t *counts[] = {&h->lost_spans, &h->lost_ends, &h->lost_annotations, &h->lost_values};
        pythia__ring_lose(counts[what]);
    } else {
        pythia__ring_lose(&p->lost[what]);
    }
}

/* A thread without a ring may be in a child that has not noticed the fork yet. */
static PYTHIA__COLD void need_seed(struct pythia__thread *t)
{
    uint64_t epoch = pythia__epoch_now();
    if (t->random_epoch != epoch || epoch == 0)
        pythia__seed(t, epoch);
}

uint64_t pythia__random(struct pythia__thread *t)
{
    uint64_t z;
    if (!pythia__has_ring(t))
        need_seed(t);
    do { /* SplitMix64: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA
            2014 */
        z = t->random += UINT64_C(0x9E3779B97F4A7C15);
        z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
        z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
        z ^= z >> 31;
    } while (z == 0);
    return z;
}
