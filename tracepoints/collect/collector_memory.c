/* SPDX-License-Identifier: MIT */
/* The memory of the collector, as collector.h draws it: how it is divided, and the names in it. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collector.h"
#include "memory/names.h"

#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)

#define LABELS_MAX 65000

const uint64_t pythia__nothing_on;
const uint32_t pythia__not_off;
struct pythia__collector pythia__collector = {.switches = &pythia__nothing_on,
                                              .off = &pythia__not_off};

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

int pythia__collector_on(void)
{
    const struct pythia__collector *c = &pythia__collector;
    return __atomic_load_n(__atomic_load_n(&c->switches, __ATOMIC_RELAXED), __ATOMIC_RELAXED) &&
           !__atomic_load_n(__atomic_load_n(&c->off, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
}

void pythia__collector_wake(uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

void pythia__collector_ring(void)
{
    if (__atomic_load_n(&pythia__collector.thread_started, __ATOMIC_RELAXED) &&
        __atomic_exchange_n(&pythia__collector.bell, 1, __ATOMIC_ACQ_REL) == 0)
        pythia__collector_wake(&pythia__collector.bell);
}

/* All memory is one block that is divided once: afterwards nothing is allocated in the threads that
 * are measured. */
static void lay_out_collector(struct pythia__collector *c, size_t bytes)
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

int pythia__collector_take_memory(struct pythia__collector *c, size_t bytes)
{
    if (c->memory)
        return bytes == c->options.memory_bytes ? 0 : -EINVAL;
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return -errno;
    madvise(at, bytes, MADV_NOHUGEPAGE); /* a page is taken once it is written to */
    c->memory = at;
    c->options.memory_bytes = bytes;
    lay_out_collector(c, bytes);
    return 0;
}

/* A table of a fixed size in memory taken at the start, whose readers take no lock. */
static uint16_t *find_label_slot(uint64_t hash, const char *quoted, size_t bytes)
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
static uint32_t add_quoted_label(uint64_t hash, const char *quoted, size_t bytes)
{
    struct pythia__collector *c = &pythia__collector;
    uint16_t *slot = find_label_slot(hash, quoted, bytes);
    if (*slot)
        return *slot;
    if (c->label_count == c->labels_max || c->names_bytes - c->names_used < bytes) {
        __atomic_fetch_add(&c->refused, 1, __ATOMIC_RELAXED);
        return PYTHIA__LABEL_REFUSED;
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
static uint32_t find_label_number(const char *name, size_t name_bytes, int locked)
{
    char clean[PYTHIA_NAME_BYTES], quoted[2 * PYTHIA_NAME_BYTES + 4];
    size_t bytes = pythia__name_clean(name, name_bytes, clean, sizeof(clean), NULL);
    bytes = pythia__row_label(quoted, clean, bytes);
    uint64_t hash = pythia__fnv(quoted, bytes);
    uint32_t number = __atomic_load_n(find_label_slot(hash, quoted, bytes), __ATOMIC_ACQUIRE);
    if (number || (!locked && !pythia__lock(&pythia__self)))
        return number;
    number = add_quoted_label(hash, quoted, bytes);
    if (!locked)
        pythia__unlock(&pythia__self);
    return number;
}

void pythia__collector_add_own_labels(struct pythia__collector *c)
{
    c->dropped_label = (struct pythia_label)PYTHIA_LABEL("dropped measurements");
    c->steps_label = (struct pythia_label)PYTHIA_LABEL("clock steps");
    struct pythia_label *own[] = {&c->dropped_label, &c->steps_label};
    for (int i = 0; i < 2; i++)
        own[i]->number = find_label_number(own[i]->name, own[i]->name_bytes, 1);
}

uint32_t pythia__label_number(struct pythia_label *label)
{
    uint32_t number = __atomic_load_n(&label->number, __ATOMIC_ACQUIRE);
    if (UNLIKELY(number == 0)) {
        number = find_label_number(label->name, label->name_bytes, 0);
        __atomic_store_n(&label->number, number, __ATOMIC_RELEASE);
    }
    return number == PYTHIA__LABEL_REFUSED ? 0 : number;
}
