/* Events of LTTng become spans in this process. What libbabeltrace2 does with a broken trace, to
 * abort among it, it does to the caller: programs read by pythia/lttng_events.h instead. */
#ifndef PYTHIA_LTTNG_EVENT_READER_H
#define PYTHIA_LTTNG_EVENT_READER_H

#include <stdbool.h>

#include "pythia/buf.h"
#include "pythia/error.h"
#include "pythia/lttng_events.h"

struct pythia__event_reader;

struct pythia__event_source {
    const char *const *where; /* folders of one trace, or "net://RELAY:PORT/host/HOST/SESSION" */
    size_t count;             /* of them; 1 of a session */
    const struct pythia_lttng_rules *rules;
    bool is_live; /* it is a session */
    bool quiet;   /* what rules have and the trace has not is not logged */
};

/* What the source points to is borrowed until _close. PYTHIA_OK with *out owned, or negative with
 * the reason in `e`. */
int pythia__event_reader_open(const struct pythia__event_source *source,
                              struct pythia__event_reader **out, struct pythia_error *e);
void pythia__event_reader_close(struct pythia__event_reader *r); /* r may be NULL */

/* These are as their namesakes in pythia/lttng_events.h. */
int pythia__event_reader_read(struct pythia__event_reader *r, struct pythia_buf *to, bool *more,
                              struct pythia_error *e);
void pythia__event_reader_switch(struct pythia__event_reader *r, uint64_t until_ns);
int pythia__event_reader_end(struct pythia__event_reader *r, struct pythia_buf *to);
bool pythia__event_reader_has_ended(const struct pythia__event_reader *r);
struct pythia_lttng_numbers pythia__event_reader_numbers(const struct pythia__event_reader *r);

#endif
