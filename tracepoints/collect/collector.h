/* SPDX-License-Identifier: MIT */
/* The collector inside: one block of memory, whose size is the cap, in five parts.
 *
 *     names    1/16       quoted names of series, one after the other
 *     labels   1/64       where each name is
 *     slots    1/256      their numbers by the hash of the name
 *     rows   3 x 1/64     of CSV, for each kind of file, until they are written
 *     chunks   the rest   4 KiB each: 168 measurements of one thread
 *
 * A thread takes a chunk that is free, by compare-and-swap, and fills it; what is in it counts up
 * to `count`, which it stores with release. The collector's thread looks at all chunks, makes rows
 * of what is new, and frees a chunk whose last place is taken. So threads share nothing but the
 * search for a chunk, once in 168 measurements, and none waits: without a free chunk the
 * measurement is dropped and counted. */
#ifndef PYTHIA__COLLECTOR_INSIDE_H
#define PYTHIA__COLLECTOR_INSIDE_H

#include <sys/types.h>

#include "memory/clock.h"
#include "pythia/collector.h"
#include "record/process.h"

#define PYTHIA__CHUNK_SAMPLES 168
#define PYTHIA__ROW_BYTES     512 /* of the longest row */

enum pythia__sample_kind {
    PYTHIA__SAMPLE_DURATION,
    PYTHIA__SAMPLE_OBSERVED,
    PYTHIA__SAMPLE_RUNTIME,
    PYTHIA__SAMPLE_KINDS,
};

struct pythia__sample {
    uint64_t ticks;
    uint64_t bits; /* of the double; of a duration: ticks */
    uint32_t label, kind;
};

enum { PYTHIA__CHUNK_FREE, PYTHIA__CHUNK_TAKEN, PYTHIA__CHUNK_LEFT }; /* LEFT: its thread is gone */

struct pythia__chunk {
    uint32_t owner;
    uint32_t count; /* its thread's */
    uint32_t taken; /* the collector's */
    uint8_t zero[52];
    struct pythia__sample samples[PYTHIA__CHUNK_SAMPLES];
};

struct pythia__label_entry {
    uint64_t hash;
    uint32_t at; /* in names: a comma, the quoted name, a comma */
    uint16_t bytes, number;
};

/* A kind of file, and the one that is being written (collector_file.c). */
struct pythia__rows {
    const char *prefix;
    char *buffer;
    size_t capacity, used, written; /* of the buffer */
    int file;                       /* -1: none */
    dev_t device;
    ino_t inode;
    uint64_t number; /* of the file, from 1 */
    uint64_t bytes;  /* of it, its heading included */
    uint64_t rows, begun_ns;
    char path[PYTHIA__PATH + 96]; /* until its last dot */
};

struct pythia__collector {
    const uint64_t *switches; /* never NULL */
    const uint32_t *off;
    uint64_t epoch; /* of the process that it is set up for; 0: none */
    int running;
    uint32_t thread_started, bell; /* bell: 1, there is something to do */
    int (*begin_child)(void);      /* NULL: it was never started */
    struct pythia_collector_options options;
    char directory[PYTHIA__PATH];
    int pid;
    uint64_t id;

    unsigned char *memory;
    struct pythia__chunk *chunks;
    uint32_t chunk_count, chunks_used, chunks_freed; /* the last: how often one was */
    char *names;
    size_t names_bytes, names_used;
    struct pythia__label_entry *labels;
    uint32_t labels_max, label_count;
    uint16_t *slots; /* twice as many as labels, a power of two */
    uint32_t slot_count;

    struct pythia__rows rows[PYTHIA__SAMPLE_KINDS];
    struct pythia__clock_track clock;
    uint64_t rows_written, files, bytes, dropped, dropped_told, refused, steps, steps_told;
    struct pythia_label dropped_label, steps_label;
    char problem[PYTHIA__WHY];
};

extern struct pythia__collector pythia__collector;

/* ---- collector_memory.c ---- */

/* Switches of a collector that is on for nothing, and the word that says not all is off. */
extern const uint64_t pythia__nothing_on;
extern const uint32_t pythia__not_off;

/* Take so many bytes, once; the same number later is right as well. 0 or a negative errno. */
int pythia__collector_take_memory(struct pythia__collector *c, size_t bytes);

/* Is it on for anything? */
int pythia__collector_on(void);

/* Wake its thread: there is something to do, before the time has come. */
void pythia__collector_ring(void);
void pythia__collector_wake(uint32_t *word);

/* The number of a label, given to it if need be; 0: there is no room. */
#define PYTHIA__LABEL_REFUSED UINT32_MAX /* is in the label then */
uint32_t pythia__label_number(struct pythia_label *label);

/* The names of what a reader must be told have their places, however many others there are. Under
 * the lock. */
void pythia__collector_add_own_labels(struct pythia__collector *c);

/* Note what is wrong, once as long as it is the same. */
void pythia__collector_problem(const char *sentence);

/* ---- measure.c ---- */

/* Before the first measurement. 0 or a negative errno. */
int pythia__measure_begin(void);

/* One measurement of this moment, of the process itself. */
void pythia__observe_runtime(struct pythia_label *label, double value);

/* ---- collector_row.c ---- */

/* A row's number: the shortest of up to 15 digits that is the same double, else 17 digits. */
char *pythia__row_real(char *to, double value);
char *pythia__row_unsigned(char *to, uint64_t number);
char *pythia__row_seconds(char *to, uint64_t ns);

/* A name between commas, quoted where RFC 4180 wants it; `to` has room for 2 * bytes + 4. */
size_t pythia__row_label(char *to, const char *name, size_t bytes);

/* ---- collector_file.c ---- */

/* Room for one more row; NULL and *status if what is there cannot be written. */
char *pythia__rows_room(struct pythia__rows *r, int *status);

/* Write what is in the buffer. */
int pythia__rows_write(struct pythia__rows *r);

/* Complete the file if there is a row in it; `last`: remove it if there is none. */
int pythia__rows_complete(struct pythia__rows *r, int last);

/* Begin a file, so that it can be seen that there is a process. */
int pythia__rows_begin(struct pythia__rows *r);

/* A child forgets its parent's file. */
void pythia__rows_forget(struct pythia__rows *r);

/* ---- collector_thread.c ---- */

/* Start the thread that measures, with all signals blocked, because signals belong to threads of
 * the program. 0 or a negative errno. */
int pythia__collector_thread_start(void);
/* `look`: once more at the process itself. Without a thread the caller does what it would. */
int pythia__collector_thread_stop(int look);
void pythia__collector_thread_forget(void);
int pythia__collector_thread_flush(void);

/* ---- sampler.c ---- */

/* Call samplers that are due; when the next one is, in ns of CLOCK_MONOTONIC. */
uint64_t pythia__samplers_run(uint64_t now_ns);
void pythia__samplers_forget(void);

/* ---- sampler_runtime.c ---- */

/* Look at the process itself. */
void pythia__runtime_sample(void);

#endif
