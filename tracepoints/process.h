/* SPDX-License-Identifier: MIT */
/* What a process that is traced has: one of everything below, and a part for each thread.
 *
 * What is done once (the first point that is passed, a thread's first span) is done under a lock,
 * which is waited for at most 10 ms; all else is a thread's own, or a single atomic word. */
#ifndef PYTHIA_PROCESS_H
#define PYTHIA_PROCESS_H

#include <pthread.h>

#include "area.h"
#include "directory.h"
#include "pythia/tracepoints.h"
#include "switches.h"

/* ---- threads ---- */

#define PYTHIA__TYPES_MET 8

struct pythia__thread {
    struct pythia_context context;
    uint64_t epoch; /* of the process when this thread got its ring; 0: it has none */
    struct pythia__ring ring;
    uint64_t random, random_epoch; /* state, and for which process it was seeded */
    uint64_t retry;                /* ticks before which there is no use in asking for a ring */
    /* Kinds of requests that it met last, where their names say (points.c). */
    const struct pythia__type *types[PYTHIA__TYPES_MET];
    uint32_t until_timed; /* open spans until one is timed */
    uint32_t timed_left;  /* of those that are timed one after the other */
    uint64_t spent;       /* what the span before has cost, if it was timed, by its own clocks */
    unsigned char busy;   /* in the middle of a record: a signal handler must not write */
    int cancel;           /* its cancel state from before it had that */
    unsigned char locked; /* it holds the process's lock */
};

/* The calling thread's. In the part of thread-local storage that needs no call to be found. */
extern __thread struct pythia__thread pythia__self
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* A number for each process: not 0, and another one in a child, however it was made (a page that
 * the kernel wipes in children tells). */
extern const uint64_t *pythia__epoch;

static inline uint64_t pythia__epoch_now(void)
{
    return __atomic_load_n(__atomic_load_n(&pythia__epoch, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
}

enum pythia__lost {
    PYTHIA__LOST_SPAN,
    PYTHIA__LOST_END,
    PYTHIA__LOST_ANNOTATION,
    PYTHIA__LOST_VALUE
};

/* Get a ring for the calling thread, and all that is needed before that; 0 if that cannot be. */
int pythia__attach(struct pythia__thread *t);

/* One span in so many is timed, on average; and so many one after the other (cost.c). */
#define PYTHIA__TIMED_EVERY 1024
#define PYTHIA__TIMED_BURST 8

/* Choose when the next span is timed: the one that follows, or after a distance that is not even,
 * which those of a loop may be too. */
void pythia__timed_next(struct pythia__thread *t);

/* Whose bill the span is on that is timed now: its point's, or, of the first of several, 0. */
static inline uint32_t pythia__billed(const struct pythia__thread *t, uint32_t point)
{
    return t->timed_left == PYTHIA__TIMED_BURST ? 0 : point;
}

/* A span that was timed has ended, by what is done since `ticks`: say what it has cost, in all. */
void pythia__bill(struct pythia__thread *t, const struct pythia_scope *scope, uint64_t ticks);

/* What timing does not see of a span, in ticks; and what it may see at most: a thread that lost its
 * processor in the middle has not spent that on tracing. */
extern int64_t pythia__cost_unseen;
extern uint64_t pythia__cost_most;
extern uint64_t pythia__cost_clock; /* from one reading of the clock to the next */

/* Measure these, once for each process, by spans that go nowhere. Returns what an empty one costs.
 */
uint64_t pythia__cost_calibrate(struct pythia__thread *t);

/* Write a record of cost; of a point 0 all but the record. */
void pythia__cost_write(struct pythia__thread *t, uint32_t point, uint64_t ticks);

/* Count what could not be recorded. */
void pythia__lose(const struct pythia__thread *t, enum pythia__lost what);

/* 64 random bits that no other thread or process has, and that are not 0. */
uint64_t pythia__random(struct pythia__thread *t);

/* ---- points and kinds of requests (points.c) ---- */

/* Give a point its number and its switches: it is the first pass. 0 if that has to wait. */
int pythia__bind(struct pythia__thread *t, struct pythia_point *point);

/* A kind of request, once for each name. */
struct pythia__type {
    uint8_t bit;
    uint16_t bytes;
    const char *name;
};

/* The one of a name; NULL if that has to wait. */
const struct pythia__type *pythia__type_of(struct pythia__thread *t, const char *name,
                                           size_t bytes);

struct pythia__counts {
    uint64_t points, refused, types, other;
};

struct pythia__counts pythia__points_count(void);

/* Write the definitions of all points into a new area. Under the lock. */
void pythia__points_define(void);

/* ---- the process ---- */

struct pythia__process {
    pthread_mutex_t lock;
    int begun;                                 /* options and switchboard are there */
    int recording;                             /* 1: the area is there; -1: it cannot be had */
    uint64_t retry_ns;                         /* before which there is no use in beginning */
    struct pythia_tracepoints_options options; /* strings are kept below */
    char service[PYTHIA_SERVICE_BYTES];
    size_t service_bytes;
    int service_cut;
    char *open, *records, *wanted_directory;
    struct pythia__directory directory;
    struct pythia_switchboard *switchboard; /* NULL: there is none */
    const uint32_t *off;
    struct pythia__area area;
    struct pythia__entry entry;
    char file[64]; /* of the directory, for the area */
    uint64_t defined;
    int calibrated;
    uint64_t lost[4]; /* while there is no area */
    char problem[PYTHIA__WHY];
};

extern struct pythia__process pythia__process;

/* Take and leave the lock; 0 if it cannot be had in time, or this thread holds it. */
int pythia__lock(struct pythia__thread *t);
void pythia__unlock(struct pythia__thread *t);

/* Options and switchboard. Under the lock; 0, or 1 once it is worth a try later. */
int pythia__begin(void);

/* Note what is wrong, under the lock: it is shown by pythia_tracepoints_state_get, and on standard
 * error if PYTHIA_VERBOSE is set. */
void pythia__problem(const char *sentence);

/* Append a definition: its head, and two texts. 0 if there is no room. Under the lock. */
int pythia__define(const void *head, size_t head_bytes, const char *first, size_t first_bytes,
                   const char *second, size_t second_bytes);

/* A text that the environment or the options give; NULL: none. The environment is not heard in a
 * program that runs with more rights than its caller has. */
const char *pythia__given(const char *name, const char *option);

/* ---- the thread that writes records to a file (flusher.c) ---- */

/* Start it, if it is wanted and not there. Under the lock. */
void pythia__flusher_start(void);

/* Ring its bell: there is much to take. May be called from a signal handler. */
void pythia__flusher_ring(void);

/* Write what is there, and wait for that; 0 or a negative errno. */
int pythia__flusher_flush(void);

/* Write what is there, and end it. */
void pythia__flusher_stop(void);

/* It is the parent's: there is none in a child. */
void pythia__flusher_forget(void);

uint64_t pythia__flusher_bytes(void);

#endif
