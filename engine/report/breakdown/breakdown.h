/* Callpaths with what their calls are made of: what the forms of the report have in common. */
#ifndef PYTHIA_REPORT_BREAKDOWN_H
#define PYTHIA_REPORT_BREAKDOWN_H

#include <stdint.h>

#include "document/document.h"
#include "pythia/breakdown_report.h"
#include "pythia/call_summary.h"
#include "pythia/exact_moments.h"
#include "pythia/hash_table.h"

struct pythia__callpath {
    uint32_t caller;         /* index of a callpath that comes before; PYTHIA_NONE: none */
    uint32_t client, server; /* trace points; PYTHIA_NONE: not traced */
    uint32_t told;           /* bits of the parts that something tells of, in any of the calls */
    struct pythia_exact_moments origin, exec, parts[PYTHIA_CALL_TIMES];
    struct pythia_exact_moments rests[PYTHIA_CALL_PARTS]; /* of origin - part */
    bool summed; /* all calls have the mean of those that were summed up: they do not vary */
    uint64_t pool_calls; /* that have looked at the pools; 0: these are not known */
    struct pythia_pool_sizes runnable, all;
};

struct pythia_breakdown {
    const struct pythia_vocabulary *vocabulary;
    struct pythia_call_parts *finder;
    struct pythia__callpath *paths;
    size_t count, capacity;
    struct pythia_hash_table by_points; /* of paths */
    uint32_t *path_of_call;             /* of the request at hand */
    size_t call_capacity;
    uint64_t requests, seen; /* those that the seen ones stand for, and these */
    size_t empty;            /* callpaths that are known from those below them alone */
};

/* The index of a callpath, which is made if there is none: by its caller, client and server.
 * PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__callpath_find(struct pythia_breakdown *b, const struct pythia__callpath *wanted,
                          uint32_t *path);

/* The share of the variance of the call's time in a part: their covariance over the variance.
 * NaN if the calls do not vary. */
double pythia__callpath_share(const struct pythia__callpath *p, enum pythia_call_part part);

/* Append "store:call > shard:read", the points of the last call, or one of them if the other is not
 * traced; and "front:call > store:get > store:call > shard:read", those of the last 8 calls. */
void pythia__call_name(const struct pythia_breakdown *b, uint32_t path, struct pythia_buf *to);
void pythia__callpath_name(const struct pythia_breakdown *b, uint32_t path, struct pythia_buf *to);

/* PYTHIA_OK or PYTHIA_ENOMEM. `order` has the indexes of the callpaths that are shown. */
int pythia__breakdown_build(const struct pythia_breakdown *b, const uint32_t *order, size_t count,
                            struct pythia__doc *d);
int pythia__breakdown_json(const struct pythia_breakdown *b, const uint32_t *order, size_t count,
                           struct pythia_buf *out);

#endif
