/* SPDX-License-Identifier: MIT */
/* The reader's side of one area: what was committed becomes frames. The reader may be the process
 * itself (flusher.c) or another one (drain.c); only one at a time. It believes nothing that stands
 * in shared memory: records are copied first and looked at then, and a ring whose head or records
 * are impossible is read no further. */
#ifndef PYTHIA_READER_H
#define PYTHIA_READER_H

#include "area.h"
#include "pythia/drain.h"

struct pythia__reader {
    struct pythia__area area;
    uint64_t id_high, id_low;
    uint64_t defined;             /* bytes of definitions that were passed on */
    struct pythia__stream *rings; /* owned */
    struct pythia__clock_track track;
    unsigned char *buffer; /* owned: a frame */
    uint64_t told_losses;  /* of threads without a ring */
    int definitions_bad;
};

/* The reader's state of one ring. */
struct pythia__stream {
    uint64_t tail, head; /* head: as it was when the pass began */
    uint64_t told_losses;
    int begun, bad;
};

/* Read an area that has been checked. The area stays the caller's. 0 or -ENOMEM. */
int pythia__reader_init(struct pythia__reader *r, const struct pythia__area *area, uint64_t id_high,
                        uint64_t id_low);
void pythia__reader_free(struct pythia__reader *r); /* {0} is fine */

/* Pass on all that is committed now. What the handler's `frame` has not taken stays, and its status
 * is returned. What is refused goes to its `refused`, under `name`. */
int pythia__reader_pass(struct pythia__reader *r, const struct pythia_drain_handler *handler,
                        const char *name, struct pythia_drain_counts *counts);

#endif
