/* Findings as sentences, made of the JSON of a report: what its forms share. */
#ifndef PYTHIA_REPORT_SENTENCES_H
#define PYTHIA_REPORT_SENTENCES_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "pythia/buf.h"
#include "pythia/text.h"
#include "write/words.h"

/* What a group's figures mean, in sentences: an object {"where", "why"}, either null. */
json_t *pythia__report_finding(const json_t *group);

/* What a finding has to say beside where and why, if it is of a verdict: the member names of its
 * sentences, which may be missing or null. */
#define PYTHIA__NOTES 3
extern const char *const pythia__notes[PYTHIA__NOTES];

/* Append what a key has to do with the durations of a group; `x` is one of its "explanations". */
void pythia__add_key_finding(struct pythia_buf *to, const json_t *group, const json_t *x);

/* Tell each group from the largest of its request type: give it an object "unlike" of "group" (that
 * one's id), "passes" and "lacks" (trace points); null for the largest itself. PYTHIA_OK or
 * PYTHIA_ENOMEM. */
int pythia__report_unlike(json_t *groups);

/* "0.3 us to each (0.2 %)": what tracing adds to a group's requests. */
void pythia__add_tracing(struct pythia_buf *to, const json_t *group);

/* Where it was read from: "3 files", or "a live stream". */
void pythia__add_origin(struct pythia_buf *to, const json_t *input);

/* Behind the number of types: how many of them were not looked at closely; nothing if all were. */
void pythia__add_types_without(struct pythia_buf *to, const json_t *report);
/* What tracing takes of the time of requests, if there is a limit to that, and which points are
 * closed for it; or nothing. Names are as they are. */
void pythia__add_overhead(struct pythia_buf *to, const json_t *report);

/* A sentence if spans of these inputs were recorded by clocks without a common base (trace.h), with
 * their number; else nothing. */
void pythia__add_clock_bases(struct pythia_buf *to, const json_t *const *inputs, size_t count);

/* A sentence if more than 1 % of the requests were incomplete, and why; else nothing. */
void pythia__add_incomplete(struct pythia_buf *to, const json_t *report);

/* How many requests those that were seen stand for, as a sentence; nothing if all were seen. Of a
 * search these are the requests of its last cycle, as all that is said of groups is. */
void pythia__add_sampling(struct pythia_buf *to, const json_t *report);
/* The number of an item of `loop`, or "4-17" where it stands for several cycles; and how many
 * cycles all items stand for. */
void pythia__name_cycle(const json_t *cycle, char *name, size_t size);
size_t pythia__count_cycles(const json_t *cycles);
/* "the time inside X", "from the end of A to the start of B" */
void pythia__add_edge(struct pythia_buf *to, const json_t *edge);
/* A place as the subject of a sentence, `first` in it or not: "inside A" is "A", "from the start of
 * A to the start of B" is "The time from the start of A to the start of B". */
void pythia__add_subject(struct pythia_buf *to, struct pythia_text place, bool first);
/* "Unlike most of their type, they pass A, and not B.", or nothing for the largest group of a type.
 */
void pythia__add_unlike(struct pythia_buf *to, const json_t *group);
/* What stands above the suggestions: they are closed points to open, or points that were open and
 * are worth it, or none. */
const char *pythia__next_title(const json_t *report);
/* "71 of 106 requests", or "106 requests" where the group is its whole type. */
void pythia__add_requests(struct pythia_buf *to, const json_t *group);
/* "rests on 2 of 716 requests", of an edge or a key that does; nothing of others. */
void pythia__add_rests_on(struct pythia_buf *to, const json_t *finding);
/* What a key explains: the larger of its parts of the total and of the edges, and as text its part
 * of the total, "34 %", and where that is nearly nothing, that it moves time between edges. */
double pythia__key_size(const json_t *key);
void pythia__add_explained(struct pythia_buf *to, const json_t *key);
/* "16 more keys correlate; 49 keys tested, 173 not: …", of which `shown` were named. */
void pythia__add_keys_asked(struct pythia_buf *to, const json_t *group, size_t shown);
/* "A and B together account for 93 % of the latency variance, …", or nothing where no keys of a
 * group or a type act together. */
void pythia__add_joint(struct pythia_buf *to, const json_t *of);
/* Is an option short enough to be shown? One that was shortened would be pasted as another. */
bool pythia__option_fits(const char *option);
#define PYTHIA__OPTION_LONG " (by an option too long to be shown here; the JSON report has it)"
/* After the option that is proposed: "accounts for 61 % (51 to 70) of the variance.";
 * the same with the parts. */
void pythia__add_proposal_share(struct pythia_buf *to, const json_t *proposal);
void pythia__add_proposal(struct pythia_buf *to, const json_t *proposal);
/* Of a split that requests were parted by: "106 requests have it, 194 do not."; how it parted one
 * type, and the same with the parts. */
void pythia__add_split_by(struct pythia_buf *to, const json_t *split);
void pythia__add_split_share(struct pythia_buf *to, const json_t *type);
void pythia__add_split_type(struct pythia_buf *to, const json_t *type);
/* `before` (such as ": mean ") and "16.0 s when >= 2, 4.23 s otherwise", or nothing. */
void pythia__add_means(struct pythia_buf *to, const char *before, const json_t *explanation);

/* Types whose paths make a difference that is explained, by their part of the variance of all
 * requests, the largest first. A report gives these findings and those about groups in one order:
 * pythia__next_paths() is the next that has not been told, NULL if its part is below `least`.
 * Without memory `out` has failed, and there is none. */
struct pythia__paths {
    const json_t *types;
    uint32_t *order; /* owned */
    double *shares;  /* owned; by type */
    size_t count, told;
};
struct pythia__paths pythia__rank_paths(const json_t *types, struct pythia_buf *out);
const json_t *pythia__next_paths(struct pythia__paths *p, double least);
void pythia__paths_free(struct pythia__paths *p);

/* Groups of one type and one status, which stand on one line: by group, all of them at the first
 * one, nothing at the others. To be freed with pythia_free(); NULL if there is none, or no memory,
 * and then `out` has failed. */
struct pythia__alike {
    size_t groups;
    double requests, time_ns;
};
struct pythia__alike *pythia__gather_alike(const json_t *groups, struct pythia_buf *out);

/* Does an explanation say that some requests end before a trace point? Then the sentence, up to the
 * name of that trace point: "46 of 91 requests end early: they never reach ". */
bool pythia__is_early_end(const json_t *explanation);
void pythia__add_early_end(struct pythia_buf *to, const json_t *explanation);

/* ---- what forms say of a search ---- */

#define PYTHIA__ENDS_SHOWN 20 /* request types whose reasons are told as text */

/* "Of 136 trace points, 42 were open from the start, 1 more was opened.", or that they are being
 * learnt. */
void pythia__add_search(struct pythia_buf *to, const json_t *search);
/* "2 trace points are pinned open, 5 trace points are pinned shut.", or nothing. */
void pythia__add_pins(struct pythia_buf *to, const json_t *search);
/* " Now open: 3 of 4 points, 3.00 us of 20.0 us a request.", or nothing if there is no limit. */
void pythia__add_budget_use(struct pythia_buf *to, const json_t *search, const json_t *cycle);
/* Is there something to say of why a request type has no cause, or not a closer one? "given up,
 * because …."; the state alone: "given up", "done", … */
bool pythia__has_reason(const json_t *problem);
void pythia__add_reason(struct pythia_buf *to, const json_t *problem);
const char *pythia__state_words(const json_t *problem);
/* "7 request types had too few requests to be searched: 30 in a cycle are needed.", or nothing if a
 * cause was found. */
void pythia__add_never_searched(struct pythia_buf *to, const json_t *search);
/* "Trace points were opened 2 times to learn request types that turned up.", what was left out in
 * that, and how many types wait for it; or nothing. */
void pythia__add_lessons(struct pythia_buf *to, const json_t *search);
/* "The search space does not know 2 trace points of request types that it knows, of which 30 spans
 * were left out. Learn the space anew to have them searched: a:x, b:y.", or nothing. */
void pythia__add_unknown_points(struct pythia_buf *to, const json_t *search);

#endif
