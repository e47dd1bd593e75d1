#ifndef PYTHIA_LTTNG_EVENTS_H
#define PYTHIA_LTTNG_EVENTS_H

#include <stdbool.h>

#include "pythia/buf.h"
#include "pythia/error.h"
#include "pythia/lttng_rules.h"

/* Events of LTTng become spans by rules: those of a trace in files (Common Trace Format 1.8, a
 * folder with "metadata" and a file for each stream), or of a session that is being recorded, from
 * its relay daemon. libbabeltrace2 reads them; it is loaded when it is first needed. The thread of
 * an event is in the contexts vpid and vtid. One thread at a time for each reader. */
struct pythia_lttng_events;

/* Load libbabeltrace2 now, for who needs to know whether it is there. PYTHIA_OK, or PYTHIA_EIO with
 * what to install. */
int pythia_lttng_events_load(struct pythia_error *e);

/* Is the folder a trace of the Common Trace Format, by the first bytes of its metadata? */
bool pythia_lttng_is_trace(const char *folder);

/* Read a folder. Equal folders give equal bytes. `rules` are borrowed until _close. What rules have
 * and the trace has not is logged, unless `quiet`. PYTHIA_OK with *out owned, or negative with the
 * reason in `e`. */
int pythia_lttng_events_open(const char *folder, const struct pythia_lttng_rules *rules, bool quiet,
                             struct pythia_lttng_events **out, struct pythia_error *e);

/* Follow a session: "net://RELAY:PORT/host/HOST/SESSION". As above. */
int pythia_lttng_events_follow(const char *url, const struct pythia_lttng_rules *rules,
                               struct pythia_lttng_events **out, struct pythia_error *e);
void pythia_lttng_events_close(struct pythia_lttng_events *r); /* r may be NULL */

/* Append frames of pythia-records(5) to `to`: of the requests that have ended in some thousand
 * more events, often none. *more: there may be more at once; without it, of a session that is
 * followed, later, and of a folder no more. Negative with the reason in `e`, again at each call:
 * the trace cannot be read further; what was appended is good. */
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

struct pythia_lttng_numbers {
    uint64_t events;            /* that were read */
    uint64_t other;             /* that no rule names */
    uint64_t discarded_events;  /* that LTTng had no place for */
    uint64_t discarded_packets; /* that it has overwritten, or that are missing */
    uint64_t outside, unmatched, abandoned, oversize, crowded; /* as in probe_spans.h */
};
struct pythia_lttng_numbers pythia_lttng_events_numbers(const struct pythia_lttng_events *r);

#endif
