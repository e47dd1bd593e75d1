/* Requests of a group to look at one by one. */
#ifndef PYTHIA_REPORT_EXAMPLES_H
#define PYTHIA_REPORT_EXAMPLES_H

#include "pythia/buf.h"
#include "pythia/diagnosis.h"

/* The request that took longest, and the one that took about as long as half of them; NULL: none is
 * sampled. */
void pythia__find_examples(const struct pythia_group *g, const struct pythia_row **slowest,
                           const struct pythia_row **typical);

/* The id of its trace; and the address of its trace in another tool: `url` with {trace_id} in
 * it. */
void pythia__example_id(struct pythia_buf *to, const struct pythia_row *row);
void pythia__example_address(struct pythia_buf *to, const char *url, const struct pythia_row *row);

#endif
