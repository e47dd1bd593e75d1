#ifndef PYTHIA_LTTNG_EVENTS_H
#define PYTHIA_LTTNG_EVENTS_H

#include <stdbool.h>

#include "pythia/buf.h"
#include "pythia/error.h"
#include "pythia/lttng_reader.h"
#include "pythia/lttng_rules.h"

/* Events of LTTng become spans by rules: those of a trace in files (Common Trace Format 1.8, a
 * folder with "metadata" and a file for each stream), or of a session that is being recorded, from
 * its relay daemon. The thread of an event is in the contexts vpid and vtid. libbabeltrace2 reads
 * them, in a process of its own (pythia/lttng_reader.h) that can do nothing but this: version 2.0.4
 * aborts at some broken traces, and has no end at others, and then it is a failure here. One thread
 * at a time for each of these, and for all that have one reader. */
struct pythia_lttng_events;

/* Load libbabeltrace2 now, for who needs to know whether it is there. Not for several threads at
 * once. PYTHIA_OK, or PYTHIA_EIO with what to install. */
int pythia_lttng_events_load(struct pythia_error *e);

/* Is the folder a trace of the Common Trace Format, by the first bytes of its metadata? */
bool pythia_lttng_is_trace(const char *folder);

/* Read folders of one trace, the chunks of a session that was rotated, as one; often it is one
 * folder. Their names are copied. Equal folders give equal bytes. The reader and `rules` are
 * borrowed until _close; a reader has one of these open at a time. What rules have and the trace
 * has not is logged, unless `quiet`. PYTHIA_OK with *out owned, or PYTHIA_ENOMEM with the reason in
 * `e`: what is wrong with the folders is said by the first read. */
int pythia_lttng_events_open(struct pythia_lttng_reader *reader, const char *const *folders,
                             size_t count, const struct pythia_lttng_rules *rules, bool quiet,
                             struct pythia_lttng_events **out, struct pythia_error *e);

/* Follow a session: "net://RELAY:PORT/host/HOST/SESSION". As above, with a
 * reader of its own; PYTHIA_EIO if that cannot be started. */
int pythia_lttng_events_follow(const char *url, const struct pythia_lttng_rules *rules,
                               struct pythia_lttng_events **out, struct pythia_error *e);
void pythia_lttng_events_close(struct pythia_lttng_events *r); /* r may be NULL */

/* Append bytes of frames of pythia-records(5) to `to`: of a folder some, and of a session those
 * that are there. *more: there may be more at once; without it, of a session that is followed,
 * later, and of a folder no more. Negative with the reason in `e`, again at each call: the trace
 * cannot be read further; what was appended is good, and ends with a frame. PYTHIA_EFORMAT: it is
 * broken, among others so that libbabeltrace2 does not survive it; 10 s of processor time without
 * an event are such a case, and 60 s without any word of the child (PYTHIA_EIO). A folder's read
 * waits, a session's does not. */
int pythia_lttng_events_read(struct pythia_lttng_events *r, struct pythia_buf *to, bool *more,
                             struct pythia_error *e);

/* Events are being enabled or disabled until `until_ns` of the epoch: see
 * pythia_probe_spans_switch. */
void pythia_lttng_events_switch(struct pythia_lttng_events *r, uint64_t until_ns);

/* Read no further: requests that are open have no end, and are counted in a last frame, which is
 * appended to `to`. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_lttng_events_end(struct pythia_lttng_events *r, struct pythia_buf *to);

/* Will no event come any more: are all of a folder read, or is the session over? */
bool pythia_lttng_events_has_ended(const struct pythia_lttng_events *r);

/* Rises while the reader gets on, also if there are no events. */
uint64_t pythia_lttng_events_beats(const struct pythia_lttng_events *r);

/* They are the child's, and may be anything if it was taken over by what it has read. */
struct pythia_lttng_numbers {
    uint64_t events;            /* that were read */
    uint64_t other;             /* that no rule names */
    uint64_t discarded_events;  /* that LTTng had no place for */
    uint64_t discarded_packets; /* that it has overwritten, or that are missing */
    uint64_t outside, unmatched, abandoned, oversize, crowded; /* as in probe_spans.h */
    /* What an event costs its program, as the smallest time between two events that follow each
     * other in one thread, of the last 1000 such; 0: it is not known, or too long to be that. */
    uint64_t event_ns;
};
struct pythia_lttng_numbers pythia_lttng_events_numbers(const struct pythia_lttng_events *r);

#endif
