/* SPDX-License-Identifier: MIT */
/* The state of a traced process: one of everything below, and a part for each thread.
 *
 * What is done once (the first point that is passed, a thread's first span) is done under a lock,
 * which is waited for at most 10 ms; all else is a thread's own, or a single atomic word. */
#ifndef PYTHIA_PROCESS_H
#define PYTHIA_PROCESS_H

#include <pthread.h>

#include "memory/area.h"
#include "memory/directory.h"
#include "memory/switches.h"
#include "pythia/tracepoints.h"
#include "pythia/variable.h"
#include "ring_writer.h"

/* Functions that each span passes, those that requests pass where all points are closed as well,
 * those for headers, and those that hardly anything passes. A thread that was just woken has to
 * fetch every page and cache line that it touches, so each kind stands together (linkers put
 * sections of these names in order, from all files), and without what is rare. None of the hot ones
 * fills an array by a length that comes from elsewhere: they go without a guard of the stack. */
#define PYTHIA__UNGUARDED
#if defined(__has_attribute)
#if __has_attribute(no_stack_protector)
#undef PYTHIA__UNGUARDED
#define PYTHIA__UNGUARDED , no_stack_protector
#endif
#endif
#define PYTHIA__HOT_HEADER __attribute__((section(".text.sorted.pythia.1") PYTHIA__UNGUARDED))
#define PYTHIA__HOT_CLOSED __attribute__((section(".text.sorted.pythia.2") PYTHIA__UNGUARDED))
#define PYTHIA__HOT        __attribute__((section(".text.sorted.pythia.3") PYTHIA__UNGUARDED))
#define PYTHIA__COLD       __attribute__((cold, noinline))

/* ---- what all threads look at ---- */

/* State of the process, in a page of its own that the kernel wipes in children, however they are
 * made: that tells them apart. The rest of it is a copy of what pythia__first_page has. */
struct pythia__page {
    uint64_t epoch;      /* a number for each process; 0: a child that has not noticed yet */
    const uint32_t *off; /* of the switchboard; NULL: ask the process */
    uint64_t *variables; /* their last values, in the area; NULL: there is none yet */
    uint32_t defined;    /* variables (variable.c) */
    uint32_t watched_count, asked_count;
    uint32_t zero;
    struct pythia__watched {
        const void *address;
        uint32_t index; /* among all variables */
        uint32_t type;
    } watched[PYTHIA_VARIABLES];        /* variables that are bound to the process */
    uint8_t classes[PYTHIA_VARIABLES];  /* of all variables, and to what they are bound: */
    uint8_t requests[PYTHIA_VARIABLES]; /* 1: to the request */
};

extern struct pythia__page pythia__first_page; /* epoch 1: nothing has begun */
extern struct pythia__page *pythia__page;      /* that one, until something has */

static inline uint64_t pythia__epoch_now(void)
{
    const struct pythia__page *page = __atomic_load_n(&pythia__page, __ATOMIC_RELAXED);
    return __atomic_load_n(&page->epoch, __ATOMIC_RELAXED);
}

/* ---- threads ---- */

#define PYTHIA__TOLD   12
#define PYTHIA__SAYING 4 /* requests that it has in hand by turns */

/* By pairs of cache lines: what each span needs, what it needs if there are variables, and the
 * rest. */
struct pythia__thread {
    struct pythia_context context;
    uint64_t epoch;                  /* of the process when it got its ring; 0: it has none */
    const struct pythia__page *page; /* the first one, until it has a ring */
    struct pythia__ring ring;
    uint64_t random;       /* state; seeded, if it has a ring */
    uint32_t until_timed;  /* open spans until one is timed */
    unsigned char busy;    /* in the middle of a record: a signal handler must not write */
    unsigned char locked;  /* it holds the process's lock */
    unsigned char clock;   /* enum pythia__clock_kind; 0 until it has a ring */
    unsigned char looking; /* at variables: a function that is asked may pass points itself */

    /* Variables reported last: the request, their number, and the first values. */
    struct pythia__told {
        uint64_t trace_high, trace_low, epoch;
        uint64_t count;
        uint64_t bits[PYTHIA__TOLD];
    } told;

    /* Variables reported of its last requests: which ones these are, how many values each
     * has so far, and the first of them; the others are in `more`. */
    struct pythia__saying {
        uint64_t epoch;
        uint64_t uses;
        struct pythia__said_of {
            uint64_t trace_high, trace_low;
            uint32_t used;
            uint32_t count; /* 0: it is nobody's */
        } of[PYTHIA__SAYING];
        struct pythia__value_said {
            uint64_t index; /* of the variable */
            double value;
        } first[PYTHIA__SAYING];
    } saying;

    uint64_t random_epoch; /* for which process `random` was seeded */
    uint64_t retry;        /* ticks before which there is no use in asking for a ring */
    uint64_t spent;        /* what the span before has cost, if it was timed, by its own clocks */
    struct pythia__more *more; /* what of variables has no room here (variable.c) */
    uint32_t timed_left;       /* of spans that are timed in sequence */
    int cancel;                /* its cancel state from before it had the lock */
};

/* The calling thread's. In the part of thread-local storage that needs no call to be found: a
 * library that is loaded late (dlopen) gets some 1.6 KiB of it from glibc, and nothing if it wants
 * to be aligned to more than a cache line. */
_Static_assert(sizeof(struct pythia__thread) <= 1024, "it may be loaded late");
extern __thread struct pythia__thread pythia__self
    __attribute__((tls_model("initial-exec"), visibility("hidden"), aligned(64)));

/* Does it have one, and in this process? Else its page is not to be relied on. */
static inline int pythia__has_ring(const struct pythia__thread *t)
{
    return __builtin_expect(t->epoch == __atomic_load_n(&t->page->epoch, __ATOMIC_RELAXED), 1) != 0;
}

/* As pythia__epoch_now, from the thread's own state. */
static inline uint64_t pythia__epoch_of(const struct pythia__thread *t)
{
    return pythia__has_ring(t) ? t->epoch : pythia__epoch_now();
}

/* Does that stand below a span of this process? */
static inline int pythia__is_below_span(const struct pythia_context *c)
{
    return c->span && !(c->flags & PYTHIA_CONTEXT_REMOTE);
}

enum pythia__lost {
    PYTHIA__LOST_SPAN,
    PYTHIA__LOST_END,
    PYTHIA__LOST_ANNOTATION,
    PYTHIA__LOST_VALUE
};

/* Get a ring for the calling thread, and all that is needed before that; 0 if that cannot be. */
PYTHIA__COLD int pythia__attach(struct pythia__thread *t);

/* One span in so many is timed, on average; and so many one after the other (cost.c). */
#define PYTHIA__TIMED_EVERY  1024
#define PYTHIA__TIMED_BURST  8
#define PYTHIA__TIMED_UNTOLD 8 /* and before them, told nobody */

/* Choose when the next span is timed: the one that follows, or after a distance that is not even,
 * which those of a loop may be too. */
PYTHIA__COLD void pythia__timed_next(struct pythia__thread *t);

/* The point that is charged for the span being timed, or 0 if nothing is to be recorded. */
static inline uint32_t pythia__billed(const struct pythia__thread *t, uint32_t point)
{
    return t->timed_left >= PYTHIA__TIMED_BURST ? 0 : point;
}

/* A span that was timed has ended, by what is done since `ticks`: say what it has cost, in all. */
PYTHIA__COLD void pythia__bill(struct pythia__thread *t, const struct pythia_scope *scope,
                               uint64_t ticks);

/* The part of a span that timing does not see, in ticks; and what it may see at most: a thread
 * that lost its processor in the middle has not spent that on tracing. */
extern int64_t pythia__cost_unseen;
extern int64_t pythia__cost_unseen_among; /* of a span around work, more ticks than this: */
extern uint64_t pythia__cost_work;
extern uint64_t pythia__cost_most;
extern uint64_t pythia__cost_clock; /* from one reading of the clock to the next */

/* Measure these, once for each process, by spans that go nowhere. Returns what an empty one costs.
 */
uint64_t pythia__cost_calibrate(struct pythia__thread *t);

/* Is it time to measure again what timing does not see of spans around work? Each time is told
 * once, the first at pythia__cost_due_ns (CLOCK_MONOTONIC). */
PYTHIA__COLD int pythia__cost_is_due(uint64_t now_ns);
extern uint64_t pythia__cost_due_ns;

/* Measure it again, by spans that go nowhere. What is less than before is taken. */
PYTHIA__COLD void pythia__cost_again(struct pythia__thread *t);

/* Count what could not be recorded. */
PYTHIA__COLD void pythia__lose(const struct pythia__thread *t, enum pythia__lost what);

/* 64 random bits that no other thread or process has, and that are not 0. */
PYTHIA__HOT uint64_t pythia__random(struct pythia__thread *t);
/* Begin its random numbers anew, for the process of that epoch. */
PYTHIA__COLD void pythia__seed(struct pythia__thread *t, uint64_t epoch);

/* ---- points and kinds of requests (points.c) ---- */

/* Give a point its number and its switches: it is the first pass. 0 if that has to wait. */
PYTHIA__COLD int pythia__bind(struct pythia__thread *t, struct pythia_point *point);

/* A kind of request, once for each name; never changed, and never freed. */
struct pythia__type {
    const char *name; /* zeros behind it, to a multiple of 8 bytes */
    uint64_t last;    /* its last bytes, at most 8, the first of them lowest */
    uint8_t bytes;    /* of the name */
    uint8_t bit;      /* in the switches */
    uint8_t plain;    /* 1: the name is in `room`, and the same in a header */
    uint8_t known;    /* 1: the rest is there */
    uint32_t zero;    /* names are copied by words, and the last ends with the room */
    char room[40];
} __attribute__((aligned(64)));
_Static_assert(sizeof(struct pythia__type) == 64 && PYTHIA_NAME_BYTES <= UINT8_MAX, "a line each");
_Static_assert(sizeof(((struct pythia__type *)0)->room) % 8 == 0, "names are copied by 8 bytes");

/* Give a request the one of that name; it keeps what it has if that has to wait. */
PYTHIA__HOT_CLOSED void pythia__type_take(struct pythia__thread *t, const char *name, size_t bytes,
                                          struct pythia_context *c);

/* The one of that name, of which these are the last bytes (as in the type), if it is among those
 * that are found at once; else NULL. */
PYTHIA__HOT_CLOSED const struct pythia__type *pythia__type_met(const char *name, size_t bytes,
                                                               uint64_t last);

static inline void pythia__type_give(const struct pythia__type *type, struct pythia_context *c)
{
    c->type = type;
    c->request_type = type->bit;
}

/* Does a byte of a name mean itself in a header? Others are %XX there. */
static inline int pythia__is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '/';
}

struct pythia__counts {
    uint64_t points, refused, types, other;
};

/* Points and request types so far, and those refused because the tables were full. */
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

/* Bytes written to the file so far. Any thread. */
uint64_t pythia__flusher_bytes(void);

#endif
