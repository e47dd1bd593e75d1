/* The truth about generated requests, to judge a diagnosis of them. */
#ifndef PYTHIA_CLI_GENERATE_TRUTH_H
#define PYTHIA_CLI_GENERATE_TRUTH_H

#include <stdint.h>

#include "pythia/buf.h"
#include "pythia/service_case.h"
#include "pythia/workflow.h"

/* Append the truth as a JSON document; `options` are the ones that `w` was made with. PYTHIA_OK
 * or PYTHIA_ENOMEM. */
int pythia__truth_of(const struct pythia_workflow *w, const struct pythia_workflow_options *options,
                     const struct pythia_vocabulary *vocabulary, uint64_t requests,
                     struct pythia_buf *to);

/* As above, for a service: {"schema": "pythia.truth/1", "like": its name, "cause": the key that
 * goes with the time of its calls, or null}. */
int pythia__truth_of_case(enum pythia_service_case_name name, struct pythia_buf *to);

#endif
