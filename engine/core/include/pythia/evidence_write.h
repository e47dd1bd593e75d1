#ifndef PYTHIA_EVIDENCE_WRITE_H
#define PYTHIA_EVIDENCE_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/buf.h"
#include "pythia/groups.h"
#include "pythia/pipeline.h"
#include "pythia/vocabulary.h"

/* Evidence as a file, so that many processes can gather it and one can report it.
 *
 *     traces ─> groups, counts, names ─> diagnosis ─> report          pythia replay
 *                      │
 *                      └─> file ─┐
 *                          file ─┼─> groups, counts, names ─> …       pythia merge
 *                          file ─┘
 *
 * The groups of all input (groups.h) are what the report is made of, with the counts of reading and
 * the names in the vocabulary; what comes after is the same code for both commands. Groups are
 * written once they are finished: their counts, moments and sketches, and the rows of their
 * samples, from which the diagnosis computes what cannot be added up (shares, co-moments, modes,
 * explanations). All of it is by name: numbers of a vocabulary mean nothing elsewhere.
 *
 * What depends on all input is decided after the union (evidence_merge.h). Request types that are
 * named by their path are therefore written with the path apart: the groups were made with
 * `mark_paths` (request_type.h). */

/* The settings with which evidence was gathered: only evidence with equal settings can be
 * merged. */
struct pythia_evidence_settings {
    bool fold;         /* as in groups.h */
    size_t rows;       /* of each type that are kept at most */
    const char *asked; /* options that change what is gathered, one after the other; "": none */
};

/* One replay that took part in the evidence. */
struct pythia_evidence_input {
    uint64_t id;                /* of what it found; 0: it found no trace */
    const char *const *sources; /* the paths that it was given, in order of text */
    size_t source_count;
};

/* All borrowed. */
struct pythia_evidence_source {
    const struct pythia_vocabulary *vocabulary;
    const struct pythia_groups *groups; /* finished */
    const struct pythia_pipeline_result *result;
    struct pythia_evidence_settings settings;
    const struct pythia_evidence_input *inputs;
    size_t input_count;
    bool merged; /* of several replays; else there is one input, whose id is computed here */
};

/* Append the file to `out`. The same evidence gives the same bytes, in whatever order and by how
 * many threads it was gathered. PYTHIA_OK or PYTHIA_ENOMEM. O(size), plus sorting names. */
int pythia_evidence_write(const struct pythia_evidence_source *source, struct pythia_buf *out);

#endif
