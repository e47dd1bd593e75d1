#ifndef PYTHIA_LIVE_SNAPSHOT_H
#define PYTHIA_LIVE_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>

#include "pythia/buf.h"
#include "pythia/error.h"
#include "pythia/live.h"
#include "pythia/text.h"

/* The search of an engine as text (pythia.snapshot/2), so that another engine goes on where this
 * one stands: a member that joins a shared search, or the same pythiad after a restart.
 *
 *   in a snapshot       the search space, what the search believes and has found, which points are
 *                       open for which types, and the number of the cycle; of a shared search also
 *                       its rounds, the layers that its log has, and the evidence that waits
 *   not in a snapshot   the requests of the current cycle, and those of rare types that wait for
 *                       the next one; what opened points explained, until it was measured; which
 *                       instance it is where a point is open at one only, pins, prices, layers
 *                       and the history, which an engine alone gets from its owner
 *
 * A snapshot belongs to a group, or to an engine alone (no group), and to the settings of its
 * search as text (struct pythia_live_shared_options). An engine alone that has restored one is
 * alone: nothing of live_shared.h holds for it.
 *
 * What arrives later is judged by what the search believes, as if there had been no gap: a point
 * that gives no span any more is handled like one that vanishes while the engine runs, and a place
 * that has no share any more is refuted by the next cycles. */

/* Is there anything to save? The search has begun; a shared one takes part in that of its log. */
bool pythia_live_has_snapshot(const struct pythia_live *l);

/* Append all that the search is now; between two cycles. Before it has begun that is nothing.
 * PYTHIA_OK or PYTHIA_ENOMEM. O(space + problems + what waits).
 *
 * When all engines have missed messages of the log, none knows the whole search. It goes on when
 * one of them saves what it has, and all of them, itself included, restore that. */
int pythia_live_snapshot_save(const struct pythia_live *l, struct pythia_buf *out);

/* Is it a snapshot that engines of this version may read? Only its first line is looked at.
 * PYTHIA_OK, or PYTHIA_EFORMAT with the reason in `e`. */
int pythia_live_snapshot_check(struct pythia_text saved, struct pythia_error *e);

/* Stand where the engine stood that saved this. What was known of the search before is forgotten,
 * as is evidence that was gathered. The types that this engine knows already must be as they were
 * in the saved space.
 *
 * In a group: read the messages of the log that came after it. PYTHIA_OK; PYTHIA_EFORMAT for a
 * snapshot that is broken or another group's, with the reason in `e`: all is as it was; any other,
 * as for one of a search that has not begun when ours has: the engine has to begin anew. One with
 * other settings than ours is not taken over (pythia_live_shared_numbers: differs).
 *
 * Alone: PYTHIA_OK; PYTHIA_EUSAGE for other settings, PYTHIA_EFORMAT for a snapshot that is broken
 * or of a group, with the reason in `e`; or PYTHIA_ENOMEM. After a failure the engine can only be
 * destroyed. */
int pythia_live_snapshot_restore(struct pythia_live *l, struct pythia_text saved,
                                 struct pythia_error *e);

/* What the search said last, also one that was restored: its number (0: nothing yet), problems and
 * whether it has finished. Borrowed until the next cycle. And how many trace points there are: of
 * the skeleton, of the search space. */
const struct pythia_cycle *pythia_live_last(const struct pythia_live *l);
void pythia_live_count_points(const struct pythia_live *l, size_t *skeleton, size_t *points);

#endif
