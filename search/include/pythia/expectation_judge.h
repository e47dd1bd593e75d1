#ifndef PYTHIA_EXPECTATION_JUDGE_H
#define PYTHIA_EXPECTATION_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/expectation.h"
#include "pythia/groups.h"

/* Do requests keep to what is expected of them? */

enum pythia_expected {
    PYTHIA_EXPECTED_P99,
    PYTHIA_EXPECTED_COV,
    PYTHIA_EXPECTED_PATH,
};

enum pythia_expected_state {
    PYTHIA_EXPECTED_HOLDS,
    PYTHIA_EXPECTED_VIOLATED,
    PYTHIA_EXPECTED_TOO_FEW, /* requests to tell */
};

/* One thing that is expected of the requests of one type. */
struct pythia_expected_result {
    size_t expectation; /* by number */
    uint32_t type;      /* number of the name of the type; PYTHIA_NONE: none has such a name */
    enum pythia_expected expected;
    enum pythia_expected_state state;
    uint64_t requests; /* that were judged */
    double value;      /* ns; CoV; of PATH, how many of the requests take another path */
    double limit;      /* ns; CoV; of PATH, 0 */
    /* For a violated PATH: a trace point that sets the most common other path apart, and whether it
     * is on that path; else it is only on the expected one. PYTHIA_NONE: they differ in how the
     * same points call each other. */
    uint32_t point;
    bool passed;
};

struct pythia_expected_results {
    struct pythia_expected_result *list; /* owned; by expectation, then type, then what it is */
    size_t count, capacity;
};

/* Judge each expectation for each request type that it fits. A limit is judged if `min_requests`
 * requests meet the condition; p99 is of type 7 (ranks.h) over the requests in the sample of the
 * type, or within 1 % where the type has more than these and no condition chooses among them. A
 * path is the set of calling contexts on the critical path, without the root, so that types whose
 * roots have different names can be compared: loops count once, and the order does not. Expected is
 * the most common path of the requests of same_path_as, and every request is to take it.
 *
 * `g` is finished. PYTHIA_OK with *out to be freed, or PYTHIA_ENOMEM. O(rows * (log rows + edges *
 * depth)) for each expectation and type. */
int pythia_expectations_judge(const struct pythia_expectations *all, const struct pythia_groups *g,
                              size_t min_requests, struct pythia_expected_results *out);
void pythia_expected_results_free(struct pythia_expected_results *r); /* a zeroed one is fine */

/* How many results have a state. */
size_t pythia_expected_results_count(const struct pythia_expected_results *r,
                                     enum pythia_expected_state state);

#endif
