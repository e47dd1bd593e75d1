#ifndef PYTHIA_CALL_SUMMARIES_H
#define PYTHIA_CALL_SUMMARIES_H

#include <stddef.h>
#include <stdint.h>

#include "pythia/call_summary.h"
#include "pythia/error.h"
#include "pythia/text.h"
#include "pythia/vocabulary.h"

/* Sums over calls that programs have written instead of spans: one for each callpath, process on
 * the other side, and side. Formats, told apart by their content:
 *
 *   profile-<host>-<pid>.csv  the callpath profile of SYMBIOSYS, with 25 fields, or of margo up to
 *                             0.10, with 15 (Ramesh et al., "SYMBIOSYS: A Methodology for
 *                             Performance Analysis of Composable HPC Data Services", IPDPS 2021)
 *   <name>.stats.json         the statistics of margo 0.11 and later, whose callpaths have at most
 *                             two RPCs
 *
 * Callpaths are given as traces of the same programs have them: the client span and the server span
 * of each RPC, each below the one before. A service is what the name of an RPC begins with, up to
 * '_'; a client that no RPC has called is "client". One thread at a time. */
struct pythia_call_summaries;

struct pythia_call_summaries_counts {
    uint64_t read;    /* summaries */
    uint64_t refused; /* lines, or RPCs, that could not be read; each was told */
    uint64_t unused;  /* summaries of no calls */
};

/* `vocabulary` is borrowed; `broken` is told of each thing that cannot be read. PYTHIA_OK or
 * PYTHIA_ENOMEM. */
int pythia_call_summaries_create(struct pythia_vocabulary *vocabulary,
                                 void (*broken)(void *context, const struct pythia_error *why),
                                 void *context, struct pythia_call_summaries **out);
void pythia_call_summaries_destroy(struct pythia_call_summaries *s); /* s may be NULL */

/* Read the file of one process; `name` is for messages. PYTHIA_OK; PYTHIA_EFORMAT with the reason
 * in `e` if it is of neither format; or PYTHIA_ENOMEM. O(size). */
int pythia_call_summaries_read(struct pythia_call_summaries *s, const char *name,
                               struct pythia_text content, struct pythia_error *e);

/* All summaries, in the order of reading; *count of them. Call it once, when all files have been
 * read: only then are the names of RPCs and the processes of peers known. Borrowed from `s`. NULL
 * when out of memory. */
const struct pythia_call_summary *pythia_call_summaries_all(struct pythia_call_summaries *s,
                                                            size_t *count);
struct pythia_call_summaries_counts
pythia_call_summaries_counts(const struct pythia_call_summaries *s);

#endif
