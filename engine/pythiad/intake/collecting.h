/* Requests get key-values beside their spans and variables: series, as files of collectors in a
 * folder have them. A file is read once it is complete, or its writer was killed, and then
 * removed. The same values as `pythia replay --series` joins. All calls are the loop's. */
#ifndef PYTHIA_PYTHIAD_COLLECTING_H
#define PYTHIA_PYTHIAD_COLLECTING_H

#include <stdint.h>

#include <uv.h>

#include "pythia/error.h"
#include "pythia/trace.h"
#include "pythia/vocabulary.h"

struct pythia__collecting;

struct pythia__collecting_options {
    const char *directory; /* of files; need not be there yet; NULL: there is none; borrowed */
    uint64_t age_ns;       /* a value that is older when a request begins says nothing of it */
    uint64_t keep_ns;      /* values are kept for so long: the longest request, and what it waits */
    const char *record;    /* rows are written to RECORD.series.csv (recording_file.h); NULL:
                              nowhere; borrowed */
};

struct pythia__collecting_numbers {
    uint64_t files, rows;      /* taken in */
    uint64_t refused, broken;  /* files that are no such files, put aside; rows left out */
    uint64_t dropped;          /* points of which there were too many to keep */
    uint64_t joined, missing;  /* values that requests got; that there were none for */
    uint64_t series, failures; /* that are known now; to remove a file, or to record */
};

/* PYTHIA_OK with *out owned, or negative with the reason in `e`. */
int pythia__collecting_create(uv_loop_t *loop, struct pythia_vocabulary *vocabulary,
                              const struct pythia__collecting_options *options,
                              struct pythia__collecting **out, struct pythia_error *e);

/* Read what there is, to the end, and let go of the loop. */
void pythia__collecting_stop(struct pythia__collecting *c);
void pythia__collecting_destroy(struct pythia__collecting *c); /* after the loop; may be NULL */

/* The trace with its key-values, borrowed until the next call; NULL: out of memory. `context` is
 * what was created (pythia/live.h, pythia_live_adder). */
const struct pythia_trace *pythia__collecting_trace(void *context,
                                                    const struct pythia_trace *trace);

/* The counters so far, including those of the join that is in progress. */
struct pythia__collecting_numbers pythia__collecting_numbers(const struct pythia__collecting *c);

#endif
