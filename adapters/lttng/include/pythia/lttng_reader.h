#ifndef PYTHIA_LTTNG_READER_H
#define PYTHIA_LTTNG_READER_H

#include "pythia/error.h"

/* A process that reads traces and sessions of LTTng with libbabeltrace2 for this one
 * (pythia/lttng_events.h), one after the other. It is this program anew, with none of this
 * process's memory, locks and descriptors, and of its environment with two variables only
 * (lttng_reader.c). For each trace it forks a child, which confines itself before it reads.
 *
 * A process that confines itself starts its reader before that, because it can start no program
 * afterwards; it needs no further right to use the reader (pythia/confine.h). */
struct pythia_lttng_reader;

/* To be called in the main of each program that starts readers, after pythia_log_setup and before
 * anything else. In a process that was started as a reader it reads, and does not return. */
#define PYTHIA_LTTNG_READER_WORD "--lttng-reader" /* the first and only argument of a reader */
void pythia_lttng_reader_main(int argc, char **argv);

/* Start the process; other threads may run. PYTHIA_OK with *out owned, or PYTHIA_EIO or
 * PYTHIA_ENOMEM with the reason in `e`. Costs about 5 ms. */
int pythia_lttng_reader_start(struct pythia_lttng_reader **out, struct pythia_error *e);

/* End the process, once no events are open that it reads. r may be NULL. */
void pythia_lttng_reader_end(struct pythia_lttng_reader *r);

#endif
