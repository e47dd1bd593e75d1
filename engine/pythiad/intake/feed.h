/* Streams that are read for as long as pythiad runs: a file that grows, the rings of traced
 * programs, records that come over a socket, OSProfiler's events in Redis. Each has a thread that
 * reads and decodes; what it has decoded is given to the engine on the loop's thread. Where the
 * engine takes no more, a thread waits, and so does whoever feeds it. */
#ifndef PYTHIA_PYTHIAD_FEED_H
#define PYTHIA_PYTHIAD_FEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <uv.h>

#include "pythia/adapter.h"
#include "pythia/control.h"
#include "pythia/live.h"

/* The source of the bytes of a feed; a struct of a source begins with this one. Owned by its
 * feed; all functions but `create` are called on the feed's thread. */
struct pythia__feed_reader {
    /* Put up to `capacity` bytes into `to`, and their number into *got; 0: there is nothing now, or
     * (*ended) never will be again. Waits for at most a tenth of a second. PYTHIA_OK, or negative
     * with the reason in `e`: the feed ends. */
    int (*read)(struct pythia__feed_reader *r, void *to, size_t capacity, size_t *got, bool *ended,
                struct pythia_error *e);
    void (*destroy)(struct pythia__feed_reader *r);
    bool stopping; /* set before _read: it is asked to end; what is there now is still wanted */
    bool is_connection; /* of which there may be only so many */
};

struct pythia__feeds;

struct pythia__feeds_options {
    struct pythia_span_limits limits;
    size_t record_max;                  /* bytes of one record, as a sink has it */
    struct pythia_redaction *redaction; /* what nobody may see of values; NULL: nothing */
    const char *record; /* what each feed reads goes to a file of that name with its number behind
                           it (".1" for the first that is begun): as it came, or, with a redaction,
                           its spans; NULL: nowhere */
};

/* All feeds; what is borrowed, also in `options`, lives longer. PYTHIA_OK with *out owned, or
 * PYTHIA_ENOMEM. */
int pythia__feeds_create(uv_loop_t *loop, struct pythia_vocabulary *vocabulary,
                         struct pythia_live *live, const struct pythia__feeds_options *options,
                         struct pythia__feeds **out);
/* Let each feed take in what is there, and end: within 3 s, even if its input never pauses. */
void pythia__feeds_stop(struct pythia__feeds *f);
/* The number of feeds that have not ended yet. Once it is 0, _close lets go of the loop; then
 * call _destroy. */
size_t pythia__feeds_running(const struct pythia__feeds *f);
size_t pythia__feeds_connections(const struct pythia__feeds *f); /* of them */
void pythia__feeds_close(struct pythia__feeds *f);
void pythia__feeds_destroy(struct pythia__feeds *f); /* f may be NULL */

/* Begin to read; takes over the reader, also on failure. `name` (copied) is for messages; `format`
 * NULL: that which the first bytes look like. PYTHIA_OK, or PYTHIA_ENOMEM. */
int pythia__feeds_add(struct pythia__feeds *all, const char *name,
                      const struct pythia_adapter_ops *format, struct pythia__feed_reader *reader);

struct pythia__feeds_numbers {
    uint64_t feeds, bytes, spans, broken; /* so far; feeds that were begun */
    uint64_t record_failed;               /* feeds whose recording ended early */
};
struct pythia__feeds_numbers pythia__feeds_numbers(const struct pythia__feeds *f);
const struct pythia_counts *pythia__feeds_counts(const struct pythia__feeds *f); /* of decoders */

/* ---- readers ---- */

/* A file from its beginning, and what is appended to it. One that is cut short is read from its
 * beginning again, and one that is replaced by another of the same name is read to its end, and
 * then the other one. PYTHIA_OK with *out owned, or negative with the reason in `e`. */
int pythia__follow_create(const char *path, struct pythia__feed_reader **out,
                          struct pythia_error *e);

/* Records of libpythia-tracepoints from all programs of this user, by the rings in a directory
 * (NULL: where programs look for it). PYTHIA_EIO: another process reads them. */
int pythia__rings_create(const char *directory, struct pythia__feed_reader **out,
                         struct pythia_error *e);

/* The records of the points of the plane "probe". */
int pythia__probes_create(struct pythia_control *plane, struct pythia__feed_reader **out);

/* The records of the points of the plane "lttng". */
int pythia__lttng_create(struct pythia_control *plane, struct pythia__feed_reader **out);

/* A connection (taken over). */
int pythia__connection_create(int socket, struct pythia__feed_reader **out);

/* OSProfiler's events, in all layouts that its drivers for Redis have; they are taken out of it. */
int pythia__redis_events_create(const char *url, struct pythia__feed_reader **out,
                                struct pythia_error *e);

#endif
