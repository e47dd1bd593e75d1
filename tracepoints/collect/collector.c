/* SPDX-License-Identifier: MIT */
/* The collector: what is measured, into memory of the measuring thread's own; collector.h draws the
 * memory. */
#define _GNU_SOURCE
#include "collector.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memory/names.h"
#include "memory/sized.h"

#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)

#define MEMORY      ((size_t)1 << 20)
#define MEMORY_MIN  ((size_t)1 << 16)
#define MEMORY_MAX  ((size_t)1 << 30)
#define FILE_BYTES  ((size_t)1 << 20)
#define FILE_MIN    4096
#define FLUSH_MS    5000
#define RUNTIME_MS  1000
#define HOUR_MS     3600000
#define LABELS_MAX  65000
#define REFUSED     UINT32_MAX
#define BEGIN_TRIES 4
#define PAUSE_NS    110000000 /* between them */

/* What a thread has. */
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

static const uint64_t nothing_on;
static uint64_t all_on = PYTHIA_SWITCHES_ALL; /* where there is no switchboard */
static const uint32_t not_off;
static pthread_key_t leaving;
static int leaving_made;

struct pythia__collector pythia__collector = {.switches = &nothing_on, .off = &not_off};

void pythia__collector_problem(const char *sentence)
{
    struct pythia__collector *c = &pythia__collector;
    if (!pythia__lock(&pythia__self))
        return;
    if (strncmp(sentence, c->problem, sizeof(c->problem) - 1) != 0) {
        snprintf(c->problem, sizeof(c->problem), "%s", sentence);
        pythia__problem(c->problem);
    }
    pythia__unlock(&pythia__self);
}

/* ---- switches ---- */

static inline int is_on(void)
{
    const struct pythia__collector *c = &pythia__collector;
    const uint64_t *switches = __atomic_load_n(&c->switches, __ATOMIC_RELAXED);
    return (__atomic_load_n(switches, __ATOMIC_RELAXED) >> pythia__self.context.request_type & 1) &&
           !__atomic_load_n(__atomic_load_n(&c->off, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
}

int pythia__collector_on(void)
{
    const struct pythia__collector *c = &pythia__collector;
    return __atomic_load_n(__atomic_load_n(&c->switches, __ATOMIC_RELAXED), __ATOMIC_RELAXED) &&
           !__atomic_load_n(__atomic_load_n(&c->off, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
}

/* The switch is a trace point's. One that nobody has thrown yet is opened: whoever starts the
 * collector wants it; and one that an operator has closed stays closed in the next process. */
static const uint64_t *find_switches(void)
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

/* ---- memory ---- */

static void lay_out(struct pythia__collector *c, size_t bytes)
{
    unsigned char *at = c->memory;
    c->chunk_count = 0;
    c->names_bytes = bytes / 16;
    c->names = (char *)at;
    at += c->names_bytes;
    c->labels_max = (uint32_t)(bytes / 64 / sizeof(struct pythia__label_entry));
    c->labels_max = c->labels_max < LABELS_MAX ? c->labels_max : LABELS_MAX;
    c->labels = (struct pythia__label_entry *)(void *)at;
    at += bytes / 64;
    for (c->slot_count = 16; c->slot_count < 2 * c->labels_max; c->slot_count *= 2)
        continue;
    c->slots = (uint16_t *)(void *)at;
    at += c->slot_count * sizeof(*c->slots);
    static const char *const prefixes[] = {"duration", "observed", "runtime"};
    for (int i = 0; i < PYTHIA__SAMPLE_KINDS; i++) {
        c->rows[i] = (struct pythia__rows){.prefix = prefixes[i],
                                           .buffer = (char *)at,
                                           .capacity = bytes / 64,
                                           .file = -1,
                                           .number = 1};
        at += bytes / 64;
    }
    size_t used = ((size_t)(at - c->memory) + 63) & ~(size_t)63;
    c->chunks = (struct pythia__chunk *)(void *)(c->memory + used);
    c->chunk_count = (uint32_t)((bytes - used) / sizeof(struct pythia__chunk));
}

static int take_memory(struct pythia__collector *c, size_t bytes)
{
    if (c->memory)
        return bytes == c->options.memory_bytes ? 0 : -EINVAL;
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return -errno;
    madvise(at, bytes, MADV_NOHUGEPAGE); /* a page is taken once it is written to */
    c->memory = at;
    c->options.memory_bytes = bytes;
    lay_out(c, bytes);
    return 0;
}

/* ---- names ---- */

static uint16_t *slot_of(uint64_t hash, const char *quoted, size_t bytes)
{
    const struct pythia__collector *c = &pythia__collector;
    uint32_t at = (uint32_t)(hash ^ hash >> 32) & (c->slot_count - 1);
    for (;; at = (at + 1) & (c->slot_count - 1)) {
        uint16_t number = __atomic_load_n(&c->slots[at], __ATOMIC_ACQUIRE);
        if (number == 0)
            return &c->slots[at];
        const struct pythia__label_entry *e = &c->labels[number - 1];
        if (e->hash == hash && e->bytes == bytes && memcmp(c->names + e->at, quoted, bytes) == 0)
            return &c->slots[at];
    }
}

/* Under the lock. */
static uint32_t add_label(uint64_t hash, const char *quoted, size_t bytes)
{
    struct pythia__collector *c = &pythia__collector;
    uint16_t *slot = slot_of(hash, quoted, bytes);
    if (*slot)
        return *slot;
    if (c->label_count == c->labels_max || c->names_bytes - c->names_used < bytes) {
        __atomic_fetch_add(&c->refused, 1, __ATOMIC_RELAXED);
        return REFUSED;
    }
    c->labels[c->label_count] = (struct pythia__label_entry){
        .hash = hash, .at = (uint32_t)c->names_used, .bytes = (uint16_t)bytes};
    memcpy(c->names + c->names_used, quoted, bytes);
    c->names_used += bytes;
    __atomic_store_n(&c->label_count, c->label_count + 1, __ATOMIC_RELEASE);
    __atomic_store_n(slot, (uint16_t)c->label_count, __ATOMIC_RELEASE);
    return c->label_count;
}

/* 0: it has to wait. */
static uint32_t number_of(const char *name, size_t name_bytes, int locked)
{
    char clean[PYTHIA_NAME_BYTES], quoted[2 * PYTHIA_NAME_BYTES + 4];
    size_t bytes = pythia__name_clean(name, name_bytes, clean, sizeof(clean), NULL);
    bytes = pythia__row_label(quoted, clean, bytes);
    uint64_t hash = pythia__fnv(quoted, bytes);
    uint32_t number = __atomic_load_n(slot_of(hash, quoted, bytes), __ATOMIC_ACQUIRE);
    if (number || (!locked && !pythia__lock(&pythia__self)))
        return number;
    number = add_label(hash, quoted, bytes);
    if (!locked)
        pythia__unlock(&pythia__self);
    return number;
}

/* The names of what a reader must be told have their places, however many others there are. Under
 * the lock. */
static void add_own_labels(struct pythia__collector *c)
{
    c->dropped_label = (struct pythia_label)PYTHIA_LABEL("dropped measurements");
    c->steps_label = (struct pythia_label)PYTHIA_LABEL("clock steps");
    struct pythia_label *own[] = {&c->dropped_label, &c->steps_label};
    for (int i = 0; i < 2; i++)
        own[i]->number = number_of(own[i]->name, own[i]->name_bytes, 1);
}

uint32_t pythia__label_number(struct pythia_label *label)
{
    uint32_t number = __atomic_load_n(&label->number, __ATOMIC_ACQUIRE);
    if (UNLIKELY(number == 0)) {
        number = number_of(label->name, label->name_bytes, 0);
        __atomic_store_n(&label->number, number, __ATOMIC_RELEASE);
    }
    return number == REFUSED ? 0 : number;
}

/* ---- measurements ---- */

static void lose(void)
{
    __atomic_fetch_add(&pythia__collector.dropped, 1, __ATOMIC_RELAXED);
}

static void leave(void *thread)
{
    struct measuring *t = thread;
    if (t->epoch == pythia__epoch_now() && t->at < PYTHIA__CHUNK_SAMPLES)
        __atomic_store_n(&t->chunk->owner, PYTHIA__CHUNK_LEFT, __ATOMIC_RELEASE);
    t->epoch = 0;
    t->at = PYTHIA__CHUNK_SAMPLES;
    t->chunk = NULL;
}

/* Prepare the collector of a child of fork, if that has not been done. 0: it is impossible now. */
static int prepare_child(void);

/* This thread's first measurement in this process. */
static int attach(struct measuring *t)
{
    t->chunk = NULL;
    t->at = PYTHIA__CHUNK_SAMPLES;
    t->failed = 0;
    if (pythia__epoch_now() == 0 || !prepare_child())
        return 0;
    t->epoch = pythia__epoch_now();
    t->hint = (uint32_t)((uintptr_t)t >> 12) % pythia__collector.chunk_count;
    pthread_setspecific(leaving, t);
    return 1;
}

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

static inline void put(uint64_t ticks, uint64_t bits, uint32_t label, uint32_t kind)
{
    struct measuring *t = &self;
    if (UNLIKELY(t->busy || label == 0)) { /* a signal handler in the middle of this, or no name */
        lose();
        return;
    }
    t->busy = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if ((UNLIKELY(t->epoch != pythia__epoch_now()) && !attach(t)) ||
        (UNLIKELY(t->at == PYTHIA__CHUNK_SAMPLES) && !take_chunk(t))) {
        lose();
    } else {
        t->chunk->samples[t->at] = (struct pythia__sample){ticks, bits, label, kind};
        __atomic_store_n(&t->chunk->count, ++t->at, __ATOMIC_RELEASE);
    }
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    t->busy = 0;
}

static inline uint64_t bits_of(double value)
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
    if (number != 0 && number != REFUSED)
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
    if (is_on())
        put(pythia__ticks(), bits_of(value), number_here(label), PYTHIA__SAMPLE_OBSERVED);
}

void pythia_observe_many_sized(const struct pythia_observation *all, size_t count,
                               size_t each_bytes)
{
    const char *at = (const char *)all;
    if (!is_on())
        return;
    uint64_t ticks = pythia__ticks();
    for (size_t i = 0; i < count; i++, at += each_bytes) {
        struct pythia_observation one; /* there is one layout of its first 16 bytes */
        memcpy(&one, at, sizeof(one));
        put(ticks, bits_of(one.value), number_here(one.label), PYTHIA__SAMPLE_OBSERVED);
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
    put(pythia__ticks(), bits_of(value), number_here(label), PYTHIA__SAMPLE_RUNTIME);
}

uint64_t pythia_duration_begin(void)
{
    uint64_t ticks = is_on() ? pythia__ticks() : 0;
    return ticks;
}

void pythia_duration_end(struct pythia_label *label, uint64_t begun)
{
    if (!begun || !is_on())
        return;
    uint64_t ticks = pythia__ticks();
    put(ticks, ticks > begun ? ticks - begun : 0, number_here(label), PYTHIA__SAMPLE_DURATION);
}

/* ---- starting and stopping ---- */

static int number_setting(const char *name, uint64_t most, uint64_t *number)
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

/* What is asked for, with the environment heard and defaults filled in. */
static int choose(const struct pythia_collector_options *asked, struct pythia_collector_options *o)
{
    uint64_t memory = asked->memory_bytes ? asked->memory_bytes : MEMORY,
             flush = asked->flush_ms ? asked->flush_ms : FLUSH_MS,
             runtime = asked->runtime_ms ? asked->runtime_ms : RUNTIME_MS,
             file = asked->file_bytes ? asked->file_bytes : FILE_BYTES;
    if (asked->no_runtime)
        runtime = 0;
    *o = *asked;
    o->directory = pythia__given("PYTHIA_COLLECT", asked->directory);
    if (number_setting("PYTHIA_COLLECT_BYTES", MEMORY_MAX, &memory) != 0 ||
        number_setting("PYTHIA_COLLECT_MS", HOUR_MS, &flush) != 0 ||
        number_setting("PYTHIA_COLLECT_RUNTIME_MS", HOUR_MS, &runtime) != 0)
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

/* Under the lock. */
static int start(struct pythia__collector *c, const struct pythia_collector_options *o)
{
    int status = take_memory(c, o->memory_bytes);
    if (status == 0 && !leaving_made)
        status = -pthread_key_create(&leaving, leave);
    if (status != 0)
        return status;
    if (!leaving_made)
        pthread_atfork(NULL, NULL, pythia__samplers_forget);
    leaving_made = 1;
    c->options = *o;
    snprintf(c->directory, sizeof(c->directory), "%s", o->directory);
    c->options.directory = c->directory;
    add_own_labels(c);
    __atomic_store_n(&c->off, pythia__process.begun ? pythia__process.off : &not_off,
                     __ATOMIC_RELEASE);
    const uint64_t *switches = find_switches();
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
        status = choose(&options, &o);
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
            status = pythia__epoch_now() > 1 ? start(c, &o) : -ENOMEM;
            pythia__unlock(&pythia__self);
            return status;
        }
        pythia__unlock(&pythia__self);
        nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
    }
    return -EBUSY;
}

static int prepare_child(void)
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
    __atomic_store_n(&c->switches, &nothing_on, __ATOMIC_RELEASE);
    int status = pythia__collector_thread_stop(look);
    c->running = 0;
    return status;
}

int pythia_collector_flush(void)
{
    return is_running(&pythia__collector) ? pythia__collector_thread_flush() : 0;
}

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
