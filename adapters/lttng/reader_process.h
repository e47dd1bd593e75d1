/* How events are had from the process that reads them: one trace or session at a time. */
#ifndef PYTHIA_LTTNG_READER_PROCESS_H
#define PYTHIA_LTTNG_READER_PROCESS_H

#include <sys/types.h>

#include "event_reader.h"
#include "pythia/lttng_reader.h"
#include "reader_child.h"

/* Reserve the reader until pythia__lttng_reader_stop, and return the words that its child will
 * share, all 0. No other events may be open. */
struct pythia__reader_words *pythia__lttng_reader_claim(struct pythia_lttng_reader *r);

/* Let a child read the source, into the words that were claimed. PYTHIA_OK, or PYTHIA_EIO or
 * PYTHIA_ENOMEM with the reason in `e`. */
int pythia__lttng_reader_begin(struct pythia_lttng_reader *r,
                               const struct pythia__event_source *source, struct pythia_error *e);

/* Wait until bytes are there or the child has ended, for at most so long. False: neither. */
bool pythia__lttng_reader_wait(struct pythia_lttng_reader *r, int wait_ms);

/* Take what the child has written: the number of bytes, 0 if there are none yet, or -1 if the child
 * has ended and everything was taken. */
ssize_t pythia__lttng_reader_receive(struct pythia_lttng_reader *r, char *to, size_t capacity);

/* End the child if it has not ended, and drop what it has written. Returns how it has ended, as
 * waitpid(2) gives it; 0 if none was begun. */
int pythia__lttng_reader_stop(struct pythia_lttng_reader *r);

/* The child that reads now; 0: none does. */
pid_t pythia__lttng_reader_child(const struct pythia_lttng_reader *r);

#endif
