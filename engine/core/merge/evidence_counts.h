/* The names under which files of evidence store the counts of reading: another version may have
 * more reasons, or fewer. */
#ifndef PYTHIA_CORE_EVIDENCE_COUNTS_H
#define PYTHIA_CORE_EVIDENCE_COUNTS_H

#include <stddef.h>
#include <stdint.h>

#include "pythia/pipeline.h"

#define PYTHIA__EVIDENCE_COUNTS (12 + PYTHIA_REPAIRS + PYTHIA_DROPS + PYTHIA_INCOMPLETES)

struct pythia__evidence_count_row {
    char name[48];
    uint64_t *number; /* one of the two */
    size_t *size;
};

/* All of them, which point into *result. */
void pythia__evidence_counts(struct pythia_pipeline_result *result,
                             struct pythia__evidence_count_row rows[PYTHIA__EVIDENCE_COUNTS]);

#endif
