/* SPDX-License-Identifier: MIT */
/* Measurements, into memory of the measuring thread's own. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>

#include "collector.h"

#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)

/* The measurements of a thread. */
struct measuring {
    struct pythia__chunk *chunk;
    uint32_t at; /* the next place in it; PYTHIA__CHUNK_SAMPLES: none */
    uint32_t hint;
    uint32_t failed, failed_at; /* there was no free chunk, when so many had been freed */
    uint64_t epoch;
    unsigned char busy;
};

static __thread struct measuring self
    __attribute__((tls_model("initial-exec"))) = {.at = PYTHIA__CHUNK_SAMPLES};

static pthread_key_t leaving;
static int leaving_made;

static inline int is_measuring(void)
{
    const struct pythia__collector *c = &pythia__collector;
    const uint64_t *switches = __atomic_load_n(&c->switches, __ATOMIC_RELAXED);
    return (__atomic_load_n(switches, __ATOMIC_RELAXED) >> pythia__self.context.request_type & 1) &&
           !__atomic_load_n(__atomic_load_n(&c->off, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
}

static void count_lost(void)
{
    __atomic_fetch_add(&pythia__collector.dropped, 1, __ATOMIC_RELAXED);
}

static void leave_chunk(void *thread)
{
    struct measuring *t = thread;
    if (t->epoch == pythia__epoch_now() && t->at < PYTHIA__CHUNK_SAMPLES)
        __atomic_store_n(&t->chunk->owner, PYTHIA__CHUNK_LEFT, __ATOMIC_RELEASE);
    t->epoch = 0;
    t->at = PYTHIA__CHUNK_SAMPLES;
    t->chunk = NULL;
}

/* This thread's first measurement in this process. */
static int attach_thread(struct measuring *t)
{
    t->chunk = NULL;
    t->at = PYTHIA__CHUNK_SAMPLES;
    t->failed = 0;
    if (pythia__epoch_now() == 0 || !pythia__collector.begin_child())
        return 0;
    t->epoch = pythia__epoch_now();
    t->hint = (uint32_t)((uintptr_t)t >> 12) % pythia__collector.chunk_count;
    pthread_setspecific(leaving, t);
    return 1;
}

/* Chunks are taken without a lock. After a failure the search is repeated only when some chunk has
 * been freed since: a full collector must stay cheap for the program. */
static int take_chunk(struct measuring *t)
{
    struct pythia__collector *c = &pythia__collector;
    uint32_t freed = __atomic_load_n(&c->chunks_freed, __ATOMIC_ACQUIRE);
    if (t->failed && t->failed_at == freed)
        return 0;
    t->chunk = NULL;
    t->at = PYTHIA__CHUNK_SAMPLES;
    for (uint32_t i = 0; i < c->chunk_count; i++) {
        uint32_t at = (t->hint + i) % c->chunk_count, owner = PYTHIA__CHUNK_FREE;
        struct pythia__chunk *chunk = &c->chunks[at];
        if (__atomic_load_n(&chunk->owner, __ATOMIC_RELAXED) != PYTHIA__CHUNK_FREE ||
            !__atomic_compare_exchange_n(&chunk->owner, &owner, PYTHIA__CHUNK_TAKEN, 0,
                                         __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            continue;
        t->chunk = chunk;
        t->at = 0;
        t->hint = at + 1;
        t->failed = 0;
        if (__atomic_add_fetch(&c->chunks_used, 1, __ATOMIC_RELAXED) > c->chunk_count / 2)
            pythia__collector_ring();
        return 1;
    }
    t->failed = 1;
    t->failed_at = freed;
    pythia__collector_ring();
    return 0;
}

static inline void put_sample(uint64_t ticks, uint64_t bits, uint32_t label, uint32_t kind)
{
    struct measuring *t = &self;
    if (UNLIKELY(t->busy || label == 0)) { /* a signal handler in the middle of this, or no name */
        count_lost();
        return;
    }
    t->busy = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if ((UNLIKELY(t->epoch != pythia__epoch_now()) && !attach_thread(t)) ||
        (UNLIKELY(t->at == PYTHIA__CHUNK_SAMPLES) && !take_chunk(t))) {
        count_lost();
    } else {
        t->chunk->samples[t->at] = (struct pythia__sample){ticks, bits, label, kind};
        __atomic_store_n(&t->chunk->count, ++t->at, __ATOMIC_RELEASE);
    }
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    t->busy = 0;
}

static inline uint64_t encode_measured_double(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

/* A name that is new is looked up with the lock held; what is called there may measure too. */
static uint32_t number_here(struct pythia_label *label)
{
    struct measuring *t = &self;
    uint32_t number = __atomic_load_n(&label->number, __ATOMIC_ACQUIRE);
    if (number != 0 && number != PYTHIA__LABEL_REFUSED)
        return number;
    if (t->busy)
        return 0;
    int saved = errno;
    t->busy = 1;
    number = pythia__label_number(label);
    t->busy = 0;
    errno = saved;
    return number;
}

void pythia_observe(struct pythia_label *label, double value)
{
    if (is_measuring())
        put_sample(pythia__ticks(), encode_measured_double(value), number_here(label),
                   PYTHIA__SAMPLE_OBSERVED);
}

void pythia_observe_many_sized(const struct pythia_observation *all, size_t count,
                               size_t each_bytes)
{
    const char *at = (const char *)all;
    if (!is_measuring())
        return;
    uint64_t ticks = pythia__ticks();
    for (size_t i = 0; i < count; i++, at += each_bytes) {
        struct pythia_observation one; /* its first 16 bytes are the same in every version */
        memcpy(&one, at, sizeof(one));
        put_sample(ticks, encode_measured_double(one.value), number_here(one.label),
                   PYTHIA__SAMPLE_OBSERVED);
    }
}

void pythia_observe_named(const char *name, size_t name_bytes, double value)
{
    struct pythia_label label = {name,
                                 (uint32_t)(name_bytes < UINT32_MAX ? name_bytes : UINT32_MAX), 0,
                                 PYTHIA_TRACEPOINTS_VERSION};
    pythia_observe(&label, value);
}

void pythia__observe_runtime(struct pythia_label *label, double value)
{
    put_sample(pythia__ticks(), encode_measured_double(value), number_here(label),
               PYTHIA__SAMPLE_RUNTIME);
}

uint64_t pythia_duration_begin(void)
{
    uint64_t ticks = is_measuring() ? pythia__ticks() : 0;
    return ticks;
}

void pythia_duration_end(struct pythia_label *label, uint64_t begun)
{
    if (!begun || !is_measuring())
        return;
    uint64_t ticks = pythia__ticks();
    put_sample(ticks, ticks > begun ? ticks - begun : 0, number_here(label),
               PYTHIA__SAMPLE_DURATION);
}

int pythia__measure_begin(void)
{
    int status = leaving_made ? 0 : -pthread_key_create(&leaving, leave_chunk);
    leaving_made = leaving_made || status == 0;
    return status;
}
