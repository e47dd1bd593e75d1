#ifndef PYTHIA_LIVE_SHARED_H
#define PYTHIA_LIVE_SHARED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/buf.h"
#include "pythia/error.h"
#include "pythia/live.h"
#include "pythia/text.h"

/* One search that several engines make together, each of which sees a part of the requests. They
 * share a log: a list of messages that all of them read in the same order, such as the only
 * partition of a topic.
 *
 *   engine A ── evidence ──┐                ┌──> A: merge, decide
 *   engine B ── evidence ──┼──> the log ────┼──> B: merge, decide    the same search everywhere
 *   engine C ── evidence ──┘                └──> C: merge, decide
 *
 * A search is a function of the evidence (search.h), so engines that read the same log come to the
 * same decisions, beliefs and budget. Therefore no engine is the decider: there is none to elect,
 * to fence or to replace, nothing but evidence is sent, and an engine that is lost takes no belief
 * with it. One that begins reads the log from its beginning, or from a snapshot, and then stands
 * where the others stand. The price is that each of them merges all evidence, which costs some ms a
 * round.
 *
 * A round is what a cycle is for an engine alone. An engine that has its part of a cycle's requests
 * sends their evidence (evidence_write.h), with the number of the set of open points that they were
 * seen with. A round is complete when the parts of the engines that have sent evidence make up the
 * whole (the partitions of a topic), or when one of them sends a second time. Then the evidence is
 * merged (evidence_merge.h), and decided on. Evidence that was seen with an older set is left out
 * and counted. Nothing of this asks a clock. How long a round was follows from when its requests
 * began; where clocks of engines differ by more than a minute, from the engine that saw the longest
 * part of it.
 *
 * Request types are learnt by all engines, which send them with their evidence. Of the first types,
 * what all of them have seen is added up, and the search begins when the parts of those that have
 * sent types make up the whole, or when one of them sends a second time. Of types that turn up
 * later the first message counts.
 *
 * Layers of points are sent with the evidence by the engines that know them, and the first message
 * about a point counts.
 *
 * What would make searches differ is not part of them: pins by hand, points closed for their cost,
 * measured prices, histories, and points that nothing can switch hold for the switches of
 * an engine alone; whoever wants a pin everywhere gives it to all. Effects of opened points are not
 * measured, and a type of which a round has too few requests is not carried to the next one. The
 * settings of a search are those of the log's first message: an engine with others takes no
 * part.
 *
 * An engine that begins, or has missed messages, takes over the search of another one: see
 * live_snapshot.h. */

struct pythia_live_shared_numbers {
    uint64_t set, rounds;      /* of the log: sets of open points, rounds that were decided */
    uint64_t messages;         /* read */
    uint64_t broken;           /* of them, that could not be read */
    uint64_t other_groups;     /* of them, of another group */
    uint64_t other_settings;   /* of them, of an engine with other settings than the first */
    uint64_t late_requests;    /* whose evidence was of an older set */
    uint64_t requests;         /* in rounds */
    uint64_t waiting_requests; /* in the messages of the round */
    uint64_t clocks_apart_ns;  /* about how far clocks of engines differ, by the requests of the
                                  last round; 0: not by a minute */
    size_t waiting, members; /* messages of the round; engines whose evidence was in the last one */
    bool differs;            /* our settings are not those of the log: no part is taken */
};

/* This engine sees so many of all parts of the requests; 0: none, or not known. */
void pythia_live_shared_set_parts(struct pythia_live *l, uint64_t own, uint64_t all);

/* Is there a message to be taken? */
bool pythia_live_shared_is_due(const struct pythia_live *l);

/* Append a message with all evidence that is there, of a sender whose name no other engine has.
 * The evidence is emptied. PYTHIA_OK, or PYTHIA_ENOMEM: then the evidence is lost.
 * O(size of the evidence). */
int pythia_live_shared_take(struct pythia_live *l, const char *member, struct pythia_buf *out);

/* What was gathered or sent since the last message that is in the log will come again: forget it,
 * but for what the window has, which is forgotten by origin. */
void pythia_live_shared_forget(struct pythia_live *l);

/* A message of the log, in its order; also those of this engine. What no engine can use is counted
 * and passed over. PYTHIA_OK; PYTHIA_EFORMAT for a message that is broken, with the reason in `e`:
 * go on with the next; any other: this engine cannot follow the search any more, and has to begin
 * anew. O(size), and a decision when it completes a round. */
int pythia_live_shared_read(struct pythia_live *l, struct pythia_text message,
                            struct pythia_error *e);

struct pythia_live_shared_numbers pythia_live_shared_numbers(const struct pythia_live *l);

/* The settings of the log, borrowed until the next message; NULL: nothing was read. */
const char *pythia_live_shared_settings(const struct pythia_live *l);

#endif
