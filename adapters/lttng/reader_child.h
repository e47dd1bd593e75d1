/* The process in which libbabeltrace2 reads: version 2.0.4 of it aborts at some broken traces, and
 * goes on without end at others. It makes records of the events, and hands them over by a pipe. */
#ifndef PYTHIA_LTTNG_READER_CHILD_H
#define PYTHIA_LTTNG_READER_CHILD_H

#include <stdatomic.h>
#include <sys/types.h>

#include "event_reader.h"

#define PYTHIA__READER_NUMBERS (sizeof(struct pythia_lttng_numbers) / sizeof(uint64_t))

/* Memory that both processes have. What the child writes here is not trusted: it reads what
 * strangers have written. */
struct pythia__reader_words {
    /* by the child */
    _Atomic uint64_t beats; /* rises with each event, and each time that none is there yet */
    _Atomic uint64_t
        begun; /* bytes of the pipe up to the end of a frame that is being written, … */
    _Atomic uint64_t whole; /* … and of the last one that has been */
    _Atomic uint64_t numbers[PYTHIA__READER_NUMBERS];
    atomic_bool finished;    /* it has ended by itself, and `why` is set */
    struct pythia_error why; /* status PYTHIA_OK: all was read */
    /* by the parent */
    _Atomic uint64_t switches, switched_ns; /* how often, and until when as of the last time */
    atomic_bool end;                        /* read no further */
};

/* Take nothing over from whoever started this process: signals have no handlers, and those that end
 * the group of its parent do not end it. `name`: as it is seen from outside. */
void pythia__reader_child_detach(const char *name);

/* Confine the process (pythia/confine.h), and read the source into the pipe `to` until the source
 * has ended, it is told to end, or nobody has the other end of the pipe. Other descriptors are
 * closed. */
_Noreturn void pythia__reader_child_run(const struct pythia__event_source *source,
                                        struct pythia__reader_words *words, int to);

/* End the process. `why`: status PYTHIA_OK if all was read. */
_Noreturn void pythia__reader_child_end(struct pythia__reader_words *words,
                                        const struct pythia_error *why);

/* For tests: after how long a child that comes to nothing is given up, and which process it is (0:
 * none). */
void pythia__lttng_events_limit(struct pythia_lttng_events *r, uint64_t busy_ns,
                                uint64_t silent_ns);
pid_t pythia__lttng_events_child(const struct pythia_lttng_events *r);

#endif
