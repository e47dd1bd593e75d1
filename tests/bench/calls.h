/* Request types for the benchmarks of cycles. The root of a request makes so many calls, one after
 * the other, which makes twice as many edges and one; behind each call another one is closed. In
 * each type one call varies most, so that every type is to be searched. */
#ifndef PYTHIA_BENCH_CALLS_H
#define PYTHIA_BENCH_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/critical_path.h"
#include "pythia/groups.h"
#include "pythia/open_points.h"
#include "pythia/random.h"
#include "pythia/request_type.h"
#include "pythia/search.h"
#include "pythia/space.h"
#include "pythia/trace.h"
#include "pythia/vocabulary.h"

#define CALLS 256

struct bench {
    struct pythia_vocabulary *vocabulary;
    struct pythia_trace_builder *builder;
    struct pythia_request_types *namer;
    struct pythia_space *space;
    struct pythia_critical_path path;
    struct pythia_open_points *open, *skeleton; /* the calls; the roots */
    struct pythia_counts counts;
    struct pythia_random random;
    uint64_t next; /* request of each type */
    uint32_t roots[10000], calls[CALLS], inner[CALLS];
    size_t types, rows, call_count, turns;
};

extern const struct pythia_groups_options grouping; /* all requests are kept */

/* End the program unless the status is PYTHIA_OK. */
void must(int status, const char *what);
double cpu_s(void);

/* `types`, `rows`, `call_count` and `turns` are set. */
void begin(struct bench *b);
void end(struct bench *b);

/* A request of a type, borrowed until the next one; `all`: with the closed points open too. */
const struct pythia_trace *request(struct bench *b, size_t type, uint64_t number, bool all);

/* A search of which so many types get a turn in a cycle. */
struct pythia_search *begin_search(struct bench *b, size_t turns,
                                   const struct pythia_strategy *strategy);

#endif
