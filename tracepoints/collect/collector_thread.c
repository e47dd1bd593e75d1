/* SPDX-License-Identifier: MIT */
/* The thread of the collector: measurements become rows, rows files; and it calls the samplers. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "collector.h"

#define SECOND_NS UINT64_C(1000000000)
#define LOOK_NS   SECOND_NS /* at most between two looks at the chunks */

static struct {
    pthread_t thread;
    uint32_t asked, done; /* passes that somebody waits for */
    uint32_t stop;
    int look_last; /* at the process, when it stops */
    int status;    /* of the last pass */
    uint64_t runtime_due;
} at_work;

/* ---- rows ---- */

static uint64_t convert_ticks(const struct pythia__collector *c, uint64_t ticks)
{
    const struct pythia__clock_track *clock = &c->clock;
    double ago = (double)(int64_t)(clock->now.ticks - ticks) * clock->ns_per_tick;
    return clock->now.realtime_ns - (uint64_t)(int64_t)ago;
}

/* One row. 0, or the negative errno of writing those before it. */
static int emit_row(struct pythia__collector *c, const struct pythia__sample *s)
{
    int status;
    struct pythia__rows *r = &c->rows[s->kind % PYTHIA__SAMPLE_KINDS];
    char *begin = pythia__rows_room(r, &status), *to = begin;
    if (!begin)
        return status;
    const struct pythia__label_entry *label = &c->labels[s->label - 1];
    to = pythia__row_unsigned(to, convert_ticks(c, s->ticks));
    *to++ = ',';
    if (s->kind == PYTHIA__SAMPLE_DURATION) {
        to = pythia__row_seconds(to, (uint64_t)((double)s->bits * c->clock.ns_per_tick + .5));
    } else {
        double value;
        memcpy(&value, &s->bits, sizeof(value));
        to = pythia__row_real(to, value);
    }
    memcpy(to, c->names + label->at, label->bytes);
    to = pythia__row_unsigned(to + label->bytes, (uint64_t)c->pid);
    *to++ = '\n';
    r->used += (size_t)(to - begin);
    r->rows++;
    __atomic_store_n(&c->rows_written, c->rows_written + 1, __ATOMIC_RELAXED);
    if (r->bytes + (r->used - r->written) >= c->options.file_bytes)
        return pythia__rows_complete(r, 0);
    return 0;
}

/* Facts that a reader must know are written as series too. */
static int emit_count(struct pythia__collector *c, struct pythia_label *label, uint64_t count,
                      uint64_t *told)
{
    double value = (double)count;
    struct pythia__sample s = {c->clock.now.ticks, 0, 0, PYTHIA__SAMPLE_RUNTIME};
    if (count == *told)
        return 0;
    memcpy(&s.bits, &value, sizeof(value));
    s.label = pythia__label_number(label);
    if (!s.label)
        return 0; /* the next time */
    int status = emit_row(c, &s);
    if (status == 0)
        *told = count;
    return status;
}

static void free_chunk(struct pythia__collector *c, struct pythia__chunk *chunk)
{
    chunk->taken = 0;
    __atomic_store_n(&chunk->count, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&chunk->owner, PYTHIA__CHUNK_FREE, __ATOMIC_RELEASE);
    __atomic_fetch_sub(&c->chunks_used, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&c->chunks_freed, 1, __ATOMIC_RELEASE);
}

static int take_samples(struct pythia__collector *c)
{
    int status = 0;
    for (uint32_t i = 0; i < c->chunk_count && status == 0; i++) {
        struct pythia__chunk *chunk = &c->chunks[i];
        uint32_t owner = __atomic_load_n(&chunk->owner, __ATOMIC_ACQUIRE);
        if (owner == PYTHIA__CHUNK_FREE)
            continue;
        uint32_t count = __atomic_load_n(&chunk->count, __ATOMIC_ACQUIRE);
        for (; chunk->taken < count && status == 0; chunk->taken += status == 0)
            status = emit_row(c, &chunk->samples[chunk->taken]);
        if (chunk->taken == PYTHIA__CHUNK_SAMPLES ||
            (owner == PYTHIA__CHUNK_LEFT && chunk->taken == count))
            free_chunk(c, chunk);
    }
    return status;
}

/* Write everything measured so far to files; and complete the files that are due, or all. */
static int write_pass(struct pythia__collector *c, int all, int last)
{
    struct pythia__clock_pair now;
    pythia__clock_pair_now(pythia__clock, &now);
    pythia__clock_track_add(&c->clock, &now);
    if (c->clock.step)
        __atomic_fetch_add(&c->steps, 1, __ATOMIC_RELAXED);
    int status = take_samples(c);
    if (status == 0)
        status = emit_count(c, &c->dropped_label, __atomic_load_n(&c->dropped, __ATOMIC_RELAXED),
                            &c->dropped_told);
    if (status == 0)
        status = emit_count(c, &c->steps_label, c->steps, &c->steps_told);
    for (int i = 0; i < PYTHIA__SAMPLE_KINDS; i++) {
        struct pythia__rows *r = &c->rows[i];
        int due = r->bytes > 0 && /* one that was begun just now is younger than `now` */
                  now.monotonic_ns >= r->begun_ns + (uint64_t)c->options.flush_ms * 1000000;
        int ended = all || last || due ? pythia__rows_complete(r, last) : pythia__rows_write(r);
        status = status ? status : ended;
    }
    return status;
}

/* ---- the thread ---- */

static void wait_for_collector_word(uint32_t *word, uint32_t is, uint64_t ns)
{
    struct timespec most = {(time_t)(ns / SECOND_NS), (long)(ns % SECOND_NS)};
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, is, &most, NULL, 0);
}

/* Look at the process if it is time; until when to wait. */
static uint64_t sample_when_due(const struct pythia__collector *c, uint64_t now)
{
    uint64_t period = (uint64_t)c->options.runtime_ms * 1000000, due = pythia__samplers_run(now);
    if (!period)
        return due;
    if (now >= at_work.runtime_due) {
        if (pythia__collector_on())
            pythia__runtime_sample();
        at_work.runtime_due += period;
        if (at_work.runtime_due <= now) /* the machine was busy: what was missed is missed */
            at_work.runtime_due = now + period;
    }
    return due < at_work.runtime_due ? due : at_work.runtime_due;
}

static void *run_collector_thread(void *unused)
{
    struct pythia__collector *c = &pythia__collector;
    (void)unused;
    pythia__self.busy = 1; /* what is called here may have trace points too */
    uint64_t look = (uint64_t)c->options.flush_ms * 1000000;
    look = look < LOOK_NS ? look : LOOK_NS;
    at_work.runtime_due = pythia__clock_ns(CLOCK_MONOTONIC);
    uint64_t passed = 0;
    for (int stop = 0; !stop;) {
        int rung = __atomic_exchange_n(&pythia__collector.bell, 0, __ATOMIC_SEQ_CST) != 0;
        uint32_t asked = __atomic_load_n(&at_work.asked, __ATOMIC_SEQ_CST),
                 done = __atomic_load_n(&at_work.done, __ATOMIC_RELAXED);
        stop = __atomic_load_n(&at_work.stop, __ATOMIC_SEQ_CST) != 0;
        uint64_t now = pythia__clock_ns(CLOCK_MONOTONIC);
        if (stop && at_work.look_last)
            pythia__runtime_sample(); /* how it was in the end */
        uint64_t due = stop ? now : sample_when_due(c, now);
        if (rung || stop || asked != done || now - passed >= look) {
            passed = now;
            int status = write_pass(c, asked != done, stop);
            __atomic_store_n(&at_work.status, status, __ATOMIC_RELAXED);
            __atomic_store_n(&at_work.done, asked, __ATOMIC_RELEASE);
            pythia__collector_wake(&at_work.done);
        }
        uint64_t until = passed + look < due ? passed + look : due;
        now = pythia__clock_ns(CLOCK_MONOTONIC);
        if (!stop && until > now)
            wait_for_collector_word(&pythia__collector.bell, 0, until - now);
    }
    return NULL;
}

int pythia__collector_thread_start(void)
{
    sigset_t all, before;
    int status = pythia__rows_begin(&pythia__collector.rows[PYTHIA__SAMPLE_DURATION]);
    if (status != 0)
        return status;
    at_work.stop = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for the program's own threads */
    status = pthread_create(&at_work.thread, NULL, run_collector_thread, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    __atomic_store_n(&pythia__collector.thread_started, status == 0, __ATOMIC_RELEASE);
    if (status == 0)
        return 0;
    pythia__rows_complete(&pythia__collector.rows[PYTHIA__SAMPLE_DURATION], 1);
    return -status;
}

int pythia__collector_thread_flush(void)
{
    uint32_t mine = __atomic_add_fetch(&at_work.asked, 1, __ATOMIC_SEQ_CST), done;
    pythia__collector_ring();
    while ((int32_t)((done = __atomic_load_n(&at_work.done, __ATOMIC_ACQUIRE)) - mine) < 0 &&
           __atomic_load_n(&pythia__collector.thread_started, __ATOMIC_RELAXED))
        wait_for_collector_word(&at_work.done, done, SECOND_NS);
    return __atomic_load_n(&at_work.status, __ATOMIC_RELAXED);
}

int pythia__collector_thread_stop(int look)
{
    if (!pythia__collector.thread_started)
        return write_pass(&pythia__collector, 1, 1);
    at_work.look_last = look;
    __atomic_store_n(&at_work.stop, 1, __ATOMIC_SEQ_CST);
    pythia__collector_ring();
    pthread_join(at_work.thread, NULL);
    __atomic_store_n(&pythia__collector.thread_started, 0, __ATOMIC_RELEASE);
    return at_work.status;
}

void pythia__collector_thread_forget(void)
{
    pythia__collector.thread_started = pythia__collector.bell = at_work.asked = at_work.done =
        at_work.stop = 0;
    at_work.status = 0;
}
