/* SPDX-License-Identifier: MIT */
/* The collector starts and stops, and begins anew in a child of fork. */
#define _GNU_SOURCE
#include "collector.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memory/names.h"
#include "memory/sized.h"

#define MEMORY      ((size_t)1 << 20)
#define MEMORY_MIN  ((size_t)1 << 16)
#define MEMORY_MAX  ((size_t)1 << 30)
#define FILE_BYTES  ((size_t)1 << 20)
#define FILE_MIN    4096
#define FLUSH_MS    5000
#define RUNTIME_MS  1000
#define HOUR_MS     3600000
#define BEGIN_TRIES 4
#define PAUSE_NS    110000000 /* between them */

static uint64_t all_on = PYTHIA_SWITCHES_ALL; /* where there is no switchboard */

/* ---- switches ---- */

/* The switch is a trace point's. One that nobody has thrown yet is opened: whoever starts the
 * collector wants it; and one that an operator has closed stays closed in the next process. */
static const uint64_t *find_measure_switches(void)
{
    const struct pythia__process *p = &pythia__process;
    char id[PYTHIA_SERVICE_BYTES + 16];
    if (!p->begun || !p->switchboard)
        return &all_on;
    size_t bytes =
        (size_t)snprintf(id, sizeof(id), "%.*s:collector", (int)p->service_bytes, p->service);
    uint64_t *found = pythia__switchboard_find(p->switchboard, id, bytes, 0);
    if (found)
        return found;
    found = pythia__switchboard_find(p->switchboard, id, bytes, 1);
    if (!found)
        return &all_on;
    __atomic_store_n(found, PYTHIA_SWITCHES_ALL, __ATOMIC_RELEASE);
    return found;
}

/* ---- starting and stopping ---- */

static int read_collector_setting(const char *name, uint64_t most, uint64_t *number)
{
    const char *text = pythia__given(name, NULL);
    char *end, why[PYTHIA__WHY];
    if (!text)
        return 0;
    errno = 0;
    uint64_t said = strtoull(text, &end, 10);
    if (errno != 0 || *end != '\0' || *text < '0' || *text > '9' || said > most) {
        pythia__why(why, 0, "%s is '%.40s', not a number up to %" PRIu64, name, text, most);
        pythia__collector_problem(why);
        return -EINVAL;
    }
    *number = said;
    return 0;
}

static int in_range(uint64_t number, uint64_t least, uint64_t most)
{
    return number >= least && number <= most;
}

/* The settings, with the environment applied and defaults filled in. */
static int choose_options(const struct pythia_collector_options *asked,
                          struct pythia_collector_options *o)
{
    uint64_t memory = asked->memory_bytes ? asked->memory_bytes : MEMORY,
             flush = asked->flush_ms ? asked->flush_ms : FLUSH_MS,
             runtime = asked->runtime_ms ? asked->runtime_ms : RUNTIME_MS,
             file = asked->file_bytes ? asked->file_bytes : FILE_BYTES;
    if (asked->no_runtime)
        runtime = 0;
    *o = *asked;
    o->directory = pythia__given("PYTHIA_COLLECT", asked->directory);
    if (read_collector_setting("PYTHIA_COLLECT_BYTES", MEMORY_MAX, &memory) != 0 ||
        read_collector_setting("PYTHIA_COLLECT_MS", HOUR_MS, &flush) != 0 ||
        read_collector_setting("PYTHIA_COLLECT_RUNTIME_MS", HOUR_MS, &runtime) != 0)
        return -EINVAL;
    if (!o->directory || strlen(o->directory) >= PYTHIA__PATH ||
        !in_range(memory, MEMORY_MIN, MEMORY_MAX) || !in_range(flush, 1, HOUR_MS) ||
        !in_range(file, FILE_MIN, MEMORY_MAX) || (runtime && !in_range(runtime, 10, HOUR_MS)))
        return -EINVAL;
    o->memory_bytes = memory & ~(size_t)4095;
    o->flush_ms = (unsigned)flush;
    o->runtime_ms = (unsigned)runtime;
    o->no_runtime = runtime == 0;
    o->file_bytes = file;
    return 0;
}

/* Everything that is this process's own: its files, its clock, its thread. Under the lock. */
static int begin_process(struct pythia__collector *c)
{
    struct pythia__clock_pair now;
    c->pid = (int)getpid();
    pythia__random_bytes(&c->id, sizeof(c->id));
    pythia__clock_pair_now(pythia__clock, &now);
    pythia__clock_track_init(&c->clock, pythia__clock, &now);
    c->epoch = pythia__epoch_now();
    return pythia__collector_thread_start();
}

/* A child of fork is made ready, if this is one that was not. 0: it cannot be now. */
static int begin_collector_child(void)
{
    struct pythia__collector *c = &pythia__collector;
    if (__atomic_load_n(&c->epoch, __ATOMIC_ACQUIRE) == pythia__epoch_now())
        return 1;
    if (!pythia__lock(&pythia__self))
        return 0;
    int ready = 1;
    if (c->epoch != pythia__epoch_now()) { /* what the parent holds is the parent's to write */
        pythia__collector_thread_forget();
        for (int i = 0; i < PYTHIA__SAMPLE_KINDS; i++)
            pythia__rows_forget(&c->rows[i]);
        for (uint32_t i = 0; i < c->chunk_count; i++)
            c->chunks[i].owner = c->chunks[i].count = c->chunks[i].taken = 0;
        c->chunks_used = 0;
        c->rows_written = c->files = c->bytes = c->dropped = c->dropped_told = 0;
        c->steps = c->steps_told = 0;
        ready = begin_process(c) == 0;
    }
    pythia__unlock(&pythia__self);
    return ready;
}

/* Under the lock. */
static int start_under_lock(struct pythia__collector *c, const struct pythia_collector_options *o)
{
    int status = pythia__collector_take_memory(c, o->memory_bytes);
    if (status == 0)
        status = pythia__measure_begin();
    if (status != 0)
        return status;
    if (!c->begin_child)
        pthread_atfork(NULL, NULL, pythia__samplers_forget);
    c->begin_child = begin_collector_child;
    c->options = *o;
    snprintf(c->directory, sizeof(c->directory), "%s", o->directory);
    c->options.directory = c->directory;
    pythia__collector_add_own_labels(c);
    __atomic_store_n(&c->off, pythia__process.begun ? pythia__process.off : &pythia__not_off,
                     __ATOMIC_RELEASE);
    const uint64_t *switches = find_measure_switches();
    status = begin_process(c);
    if (status != 0)
        return status;
    c->running = 1;
    __atomic_store_n(&c->switches, switches, __ATOMIC_RELEASE);
    return 0;
}

int pythia_collector_start_sized(const struct pythia_collector_options *given, size_t given_bytes)
{
    struct pythia__collector *c = &pythia__collector;
    struct pythia_collector_options options, o;
    int status = pythia__sized_take(&options, sizeof(options), given, given_bytes);
    if (status == 0)
        status = choose_options(&options, &o);
    if (status != 0)
        return status;
    for (int i = 0; i < BEGIN_TRIES; i++) { /* another process may be making the switchboard */
        if (!pythia__lock(&pythia__self))
            return -EBUSY;
        if (c->running && c->epoch == pythia__epoch_now()) {
            pythia__unlock(&pythia__self);
            return -EALREADY;
        }
        int begun = pythia__begin() == 0;
        if (begun || i == BEGIN_TRIES - 1) {
            status = pythia__epoch_now() > 1 ? start_under_lock(c, &o) : -ENOMEM;
            pythia__unlock(&pythia__self);
            return status;
        }
        pythia__unlock(&pythia__self);
        nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
    }
    return -EBUSY;
}

static int is_running(const struct pythia__collector *c)
{
    return c->running && c->epoch == pythia__epoch_now();
}

int pythia_collector_stop(void)
{
    struct pythia__collector *c = &pythia__collector;
    if (!is_running(c))
        return 0;
    int look = c->options.runtime_ms && pythia__collector_on();
    __atomic_store_n(&c->switches, &pythia__nothing_on, __ATOMIC_RELEASE);
    int status = pythia__collector_thread_stop(look);
    c->running = 0;
    return status;
}

int pythia_collector_flush(void)
{
    return is_running(&pythia__collector) ? pythia__collector_thread_flush() : 0;
}

/* Counters are read one by one while the thread goes on: each is right, and together they may be of
 * two moments. */
void pythia_collector_state_get_sized(struct pythia_collector_state *out, size_t out_bytes)
{
    const struct pythia__collector *c = &pythia__collector;
    struct pythia_collector_state state = {
        .running = is_running(c),
        .on = pythia__collector_on(),
        .rows = __atomic_load_n(&c->rows_written, __ATOMIC_RELAXED),
        .files = __atomic_load_n(&c->files, __ATOMIC_RELAXED),
        .bytes = __atomic_load_n(&c->bytes, __ATOMIC_RELAXED),
        .dropped = __atomic_load_n(&c->dropped, __ATOMIC_RELAXED),
        .labels = __atomic_load_n(&c->label_count, __ATOMIC_RELAXED),
        .labels_refused = __atomic_load_n(&c->refused, __ATOMIC_RELAXED),
        .clock_steps = __atomic_load_n(&c->steps, __ATOMIC_RELAXED),
        .held =
            (uint64_t)__atomic_load_n(&c->chunks_used, __ATOMIC_RELAXED) * PYTHIA__CHUNK_SAMPLES,
        .room = (uint64_t)c->chunk_count * PYTHIA__CHUNK_SAMPLES,
    };
    if (pythia__lock(&pythia__self)) {
        memcpy(state.problem, c->problem, sizeof(state.problem));
        pythia__unlock(&pythia__self);
    }
    pythia__sized_give(out, out_bytes, &state, sizeof(state));
}

/* A program whose code says nothing of it is started by its environment. */
__attribute__((constructor)) static void start_unasked(void)
{
    if (pythia__given("PYTHIA_COLLECT", NULL))
        pythia_collector_start(&(struct pythia_collector_options){0});
}

/* Before the switchboard and the rest of the library come to their end (process.c). */
__attribute__((destructor(102))) static void finish(void)
{
    pythia_collector_stop();
}
