#ifndef PYTHIA_REFINEMENT_H
#define PYTHIA_REFINEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/cct.h"
#include "pythia/critical_path.h"
#include "pythia/open_points.h"
#include "pythia/trace.h"

/* Requests that are seen twice: with the trace points open that are (the finer set), and as they
 * would be seen with fewer open (the coarser set). An edge of the coarser set is a stretch of the
 * path; the edges of the finer set that fill it are its refinement, and what each has of it is a
 * part:
 *
 *   coarser   A ------------------> C    one stretch
 *   finer     A --> B --> /B -----> C    three parts of it
 *
 * In every request the parts of a stretch add up to its time, to the ns, and all stretches to the
 * duration; so do their covariance shares. This holds for any request, because parts are what both
 * paths do at the same time. Where nothing runs beside the path its events are those of the coarser
 * path and some more. Where things overlap it may go elsewhere: what ran beside a span is passed
 * over with all that is in it, but not any more once that span is closed and what was in it stands
 * alone. No rule for finding paths could avoid that: of two spans that overlap each is on the path
 * if the other one is closed. Such requests are rerouted, and counted.
 *
 * An edge of the finer set is told by its calling context, so it can be in several stretches (a
 * point that is called before and after another one), and loops are added up. One thread at a time.
 */
struct pythia_refinement;

struct pythia_refinement_options {
    enum pythia_latency latency;
    size_t rows; /* requests that are kept, a uniform sample, the same as of groups; 0: 2048 */
};

/* Edges are numbers of pythia_refinement_cct; PYTHIA_NONE: the request has not begun, or has ended,
 * as that set sees it. A stretch with nothing opened in it has itself as its only part. */
struct pythia_refinement_part {
    uint32_t coarse, fine;
};

/* The time that a request spent on a segment. */
struct pythia_refined_time {
    uint32_t part;
    uint32_t visits; /* to the finer edge, which began here */
    uint32_t begins; /* visits to the stretch that began with it */
    uint64_t time_ns;
};

struct pythia_refined {
    struct pythia_trace_id trace;
    double weight;               /* requests that it stands for */
    uint64_t coarse_ns, fine_ns; /* its duration in both sets */
    bool rerouted;
    uint32_t count;
    struct pythia_refined_time times[]; /* in rising order of part */
};

/* `vocabulary` and `coarser` are borrowed. PYTHIA_OK with *out owned, or PYTHIA_ENOMEM. */
int pythia_refinement_create(const struct pythia_vocabulary *vocabulary,
                             struct pythia_open_points *coarser,
                             const struct pythia_refinement_options *options,
                             struct pythia_refinement **out);
void pythia_refinement_destroy(struct pythia_refinement *r); /* r may be NULL */

/* Add a request; `path` is its critical path as it is seen, of the latency asked for. PYTHIA_OK or
 * PYTHIA_ENOMEM. O(spans log spans). */
int pythia_refinement_add(struct pythia_refinement *r, const struct pythia_trace *trace,
                          const struct pythia_critical_path *path);

/* No more will be added; call it once, before the functions below, whose results are borrowed until
 * _destroy and do not depend on the order in which requests were added. PYTHIA_OK or PYTHIA_ENOMEM.
 */
int pythia_refinement_finish(struct pythia_refinement *r);

/* The calling context tree of the finer edges. */
const struct pythia_cct *pythia_refinement_cct(const struct pythia_refinement *r);

/* In order of the names of the stretches, and within each of the finer edges; PYTHIA_NONE last. */
const struct pythia_refinement_part *pythia_refinement_parts(const struct pythia_refinement *r,
                                                             uint32_t *count);

/* The requests kept, in order of the hash of their ids. */
size_t pythia_refinement_rows(const struct pythia_refinement *r);
const struct pythia_refined *pythia_refinement_row(const struct pythia_refinement *r, size_t i);

#endif
