/* Shared by the files of a profile. */
#ifndef PYTHIA_SEARCH_PROFILE_PARTS_H
#define PYTHIA_SEARCH_PROFILE_PARTS_H

#include "pythia/call_parts.h"
#include "pythia/hash_table.h"
#include "pythia/profile.h"

/* A span that is open on the critical path. */
struct pythia__profile_frame {
    uint32_t span, row, level;
    uint64_t ns, exclusive_ns; /* so far */
};

/* Time is divided into slots of 2^shift ns whose numbers count from the epoch, so that slots of two
 * rows, or of two orders of requests, are the same; slot n of a row is values[n % SLOTS]. */
struct pythia__profile_clock {
    unsigned shift;
    uint64_t first, last; /* numbers of slots in use; first > last: none */
};

struct pythia_profile {
    const struct pythia_vocabulary *vocabulary;
    struct pythia_profile_options options;
    struct pythia_profile_totals totals;
    struct pythia_cct *cct;
    struct pythia_critical_path path;
    struct pythia_call_parts *calls;
    struct pythia__profile_clock clock;
    uint64_t weight; /* of the request that is added */

    struct pythia_profile_row *rows;
    size_t row_count, row_capacity;
    struct pythia_hash_table by_key; /* of rows */

    struct pythia_profile_process *processes;
    size_t process_count, process_capacity;
    struct pythia_hash_table by_identity; /* of processes */

    struct pythia_profile_part *parts;
    size_t part_count, part_capacity;
    struct pythia_hash_table by_process; /* of parts */

    struct pythia_profile_pair *pairs;
    size_t pair_count, pair_capacity;
    struct pythia_hash_table by_ends; /* of pairs */

    /* By span of the request that is added: its context, its row and its level. */
    uint32_t *nodes, *row_of_span, *levels;
    size_t node_capacity, row_of_span_capacity, level_capacity;
    struct pythia__profile_frame *frames;
    size_t frame_capacity;
};

int pythia__profile_times_add(struct pythia_profile_times *times, uint64_t ns, uint64_t weight);
void pythia__profile_times_add_summary(struct pythia_profile_times *times,
                                       const struct pythia_call_summary *s);

/* The row of a span of that trace point in that context, the part of a row that a process has, and
 * the pair of two processes in a row, made if they are new; PYTHIA_NONE when out of memory. */
uint32_t pythia__profile_reach_row(struct pythia_profile *p, uint32_t node, uint32_t tracepoint,
                                   uint32_t level);
uint32_t pythia__profile_reach_process(struct pythia_profile *p, uint32_t resource);
uint32_t pythia__profile_reach_part(struct pythia_profile *p, uint32_t row, uint32_t resource);
uint32_t pythia__profile_reach_pair(struct pythia_profile *p,
                                    const struct pythia_profile_pair *key);

/* The row is of calls on that side; `peer`: the service on the other one, a string, or 0. */
void pythia__profile_set_side(struct pythia_profile *p, uint32_t row, uint32_t peer,
                              enum pythia_profile_side side);

/* The sides of rows, and the pairs of processes, from the calls of a request whose spans have their
 * rows. And what one span is of a process. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__profile_add_calls(struct pythia_profile *p, const struct pythia_trace *trace);
int pythia__profile_add_part(struct pythia_profile *p, uint32_t row, uint32_t resource, uint64_t ns,
                             uint64_t exclusive_ns);

/* A span of a row began then. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__profile_add_slot(struct pythia_profile *p, uint32_t row, uint64_t start_ns,
                             uint64_t ns);

#endif
