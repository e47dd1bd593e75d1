#ifndef PYTHIA_EVIDENCE_MERGE_H
#define PYTHIA_EVIDENCE_MERGE_H

#include <stdbool.h>
#include <stddef.h>

#include "pythia/error.h"
#include "pythia/evidence_write.h"
#include "pythia/groups.h"
#include "pythia/pipeline.h"
#include "pythia/text.h"
#include "pythia/vocabulary.h"

/* Files of evidence (evidence_write.h), added up. They are the evidence of one replay of all their
 * traces, bit for bit and in whatever order, as long as no trace is in several of them: all of it
 * is whole numbers, or extremes, or samples by a hash of the trace id.
 *
 * Three things are known only when everything is there, and are decided here again: which segments
 * of URL paths are variables, which makes types of several one; from which level on a type has too
 * many structures; and how many rows each type may keep. The first is why all files are looked at
 * before any of them is added.
 *
 * Memory is that of the groups, whatever the traces were, and of the largest message of a file: 64
 * MiB at most. One thread at a time. */
struct pythia_evidence_merge;

/* `vocabulary` is borrowed. `again`: the evidence is to be written again, and not reported: paths
 * stay apart in the names of types. PYTHIA_OK with *out owned, or PYTHIA_ENOMEM. */
int pythia_evidence_merge_create(struct pythia_vocabulary *vocabulary, bool again,
                                 struct pythia_evidence_merge **out);
void pythia_evidence_merge_destroy(struct pythia_evidence_merge *m); /* m may be NULL */

/* Look at a file, whose bytes and name are borrowed for the call: all files, before the first is
 * added. PYTHIA_OK; or with the reason in `e` PYTHIA_EFORMAT for what is no evidence or broken,
 * PYTHIA_EUSAGE for evidence that cannot be merged with that which was looked at before (of
 * another version, gathered with other settings, or of an input that is there already), or
 * PYTHIA_ENOMEM. */
int pythia_evidence_merge_look(struct pythia_evidence_merge *m, const char *name,
                               struct pythia_text file, struct pythia_error *e);

/* Add a file that was looked at. As above; after a failure there is nothing to do but _destroy. */
int pythia_evidence_merge_add(struct pythia_evidence_merge *m, const char *name,
                              struct pythia_text file, struct pythia_error *e);

/* No more will be added: finish the groups. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_evidence_merge_finish(struct pythia_evidence_merge *m);

/* The groups instead, not finished: they become the caller's. NULL: nothing was added. */
struct pythia_groups *pythia_evidence_merge_take(struct pythia_evidence_merge *m);

/* The merged evidence, for evidence_write.h or a report; borrowed until _destroy. Call after
 * _finish. */
struct pythia_evidence_source pythia_evidence_merge_source(const struct pythia_evidence_merge *m);

#endif
