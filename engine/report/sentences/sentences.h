/* The sentences of a report, made from typed results: the same words in every format, and in
 * JSON. Each function adds to the line that the document is building. */
#ifndef PYTHIA_REPORT_SENTENCES_H
#define PYTHIA_REPORT_SENTENCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "document/document.h"
#include "pythia/closed_loop.h"
#include "pythia/diagnosis.h"
#include "pythia/report_source.h"
#include "pythia/verdict.h"

/* ---- a group, a type ---- */

/* The edge with the largest share that does not rest on a handful of requests, if there is one,
 * whatever edges are ranked by; NULL: there are no edges. */
const struct pythia_ranked_edge *pythia__best_edge(const struct pythia_ranking *r);
/* Does an edge account for so much that it is named? */
bool pythia__stands_out(const struct pythia_group *g, const struct pythia_ranked_edge *e);

/* Where the variance of a group lies, by itself: "A accounts for 97 % of the latency variance." */
void pythia__say_where(struct pythia__doc *d, const struct pythia_report_source *s,
                       const struct pythia_group *g);
/* The relation of a key to the durations of a group: "Correlates with K: mean 16.0 s when >= 2,
 * 4.23 s otherwise." */
void pythia__say_why(struct pythia__doc *d, const struct pythia_vocabulary *v,
                     const struct pythia_group *g, const struct pythia_explanation *x);
/* A key as what correlates: "how often requests hit A", "K". */
void pythia__say_key(struct pythia__doc *d, const struct pythia_vocabulary *v,
                     const struct pythia_explanation *x);
/* "46 of 91 requests end early: they never reach A". */
void pythia__say_early_end(struct pythia__doc *d, const struct pythia_vocabulary *v,
                           const struct pythia_explanations *all,
                           const struct pythia_explanation *x);
/* `before` (such as ": mean ") and "16.0 s when >= 2, 4.23 s otherwise"; nothing without a
 * split. */
void pythia__say_means(struct pythia__doc *d, const char *before,
                       const struct pythia_explanation *x);
/* `before` and "rests on 2 of 716 requests"; nothing if it rests on more than a few. */
void pythia__say_rests_on(struct pythia__doc *d, const char *before, bool few, size_t requests,
                          size_t of);
/* The share that a key explains: the larger of its shares of the total and of the edges, and as
 * text its part of the total, "34 %", and where that is nearly nothing, that it moves time
 * between edges. */
double pythia__key_size(const struct pythia_explanation *x);
/* Does it explain nearly nothing of the total? It may say where the time is spent. */
bool pythia__leaves_total(const struct pythia_explanation *x);
void pythia__say_explained(struct pythia__doc *d, const struct pythia_explanation *x);
/* "16 more keys correlate; 49 keys tested, 173 not: …", of which `shown` were named. */
void pythia__say_keys_tested(struct pythia__doc *d, const struct pythia_explanations *all,
                             size_t shown);
/* "busy_ns, which measures the time itself", of explanations that have such a number. */
void pythia__say_measured(struct pythia__doc *d, const struct pythia_explanations *all);
/* "A and B together account for 93 % of the latency variance, …", of keys that act together. */
void pythia__say_joint(struct pythia__doc *d, const struct pythia_vocabulary *v,
                       const struct pythia_explanations *all);

/* The time that tracing adds to the requests of a group, in ns; NaN if any of it is unknown. */
double pythia__tracing_of_group(const struct pythia_report_source *s, const struct pythia_group *g);

/* ---- what sets groups of one type apart ---- */

/* The largest group of each type, by type; NULL where a type has none, or has only one group.
 * Owned, pythia_free(); NULL when out of memory. */
const struct pythia_group **pythia__largest_groups(const struct pythia_diagnosis *d);

/* The patterns (numbers of strings) of the trace points on the most common path of a group, no
 * deeper than its level tells structures apart, that another lacks; in order of the path, each
 * once. *out owned (pythia_free), *count of them. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__points_only_in(const struct pythia_cct *cct, const struct pythia_vocabulary *v,
                           const struct pythia_group *g, const struct pythia_group *other,
                           uint32_t **out, size_t *count);

/* "Unlike most of their type, they pass A, and not B." of a group that is not its type's
 * largest. */
void pythia__say_unlike(struct pythia__doc *d, const struct pythia_report_source *s,
                        const struct pythia_group *g, const struct pythia_group *largest);

/* ---- splits ---- */

/* The option, or else what it is about. */
void pythia__say_option(struct pythia__doc *d, const char *option, const char *key);
/* After the option that is proposed: "accounts for 61 % (51 to 70) of the variance." */
void pythia__say_proposal(struct pythia__doc *d, const struct pythia_split_proposal *p);

/* ---- verdicts ---- */

/* The finding of a group: its own, or the verdict of a search that it shows. */
struct pythia__standing {
    const struct pythia_verdict *verdict; /* whose words count; NULL: the group's own */
    bool quiet; /* the search left the type alone, as its requests hardly differ or matter */
};
struct pythia__standing pythia__standing_of(const struct pythia_report_source *s,
                                            const struct pythia_group *g);
/* Is there something to say of a group: was it diagnosed, and not left alone by the search? */
bool pythia__is_diagnosed(const struct pythia_report_source *s, const struct pythia_group *g);
/* The search of a verdict's type, and the group that shows it; NULL if there is none. */
const struct pythia_problem *pythia__problem_of(const struct pythia_report_source *s,
                                                const struct pythia_verdict *v);
const struct pythia_group *pythia__group_of(const struct pythia_report_source *s,
                                            const struct pythia_verdict *v);

/* Where, why, how sure it is, what else was seen, and what it was before: each may be nothing. */
void pythia__say_verdict_where(struct pythia__doc *d, const struct pythia_report_source *s,
                               const struct pythia_verdict *v);
void pythia__say_verdict_why(struct pythia__doc *d, const struct pythia_report_source *s,
                             const struct pythia_group *g, const struct pythia_verdict *v);
void pythia__say_standing(struct pythia__doc *d, const struct pythia_report_source *s,
                          const struct pythia_verdict *v);
void pythia__say_also(struct pythia__doc *d, const struct pythia_report_source *s,
                      const struct pythia_verdict *v);
/* Nothing where requests to all instances are described. */
void pythia__say_instance(struct pythia__doc *d, const struct pythia_report_source *s,
                          const struct pythia_verdict *v);
void pythia__say_change(struct pythia__doc *d, const struct pythia_report_source *s,
                        const struct pythia_verdict *v);
/* As above for a group, from its verdict or its own finding. */
void pythia__say_group_where(struct pythia__doc *d, const struct pythia_report_source *s,
                             const struct pythia_group *g);
void pythia__say_group_why(struct pythia__doc *d, const struct pythia_report_source *s,
                           const struct pythia_group *g);

/* ---- expectations ---- */

/* "p99", "cov", "same_path_as"; "holds", "violated", "too_few". Static. */
const char *pythia__expected_name(enum pythia_expected expected);
const char *pythia__expected_state_name(enum pythia_expected_state state);
/* "checkout where queue < 2: 99th percentile 312 ms, expected below 250 ms (340 requests)" */
void pythia__say_expected(struct pythia__doc *d, const struct pythia_report_source *s,
                          const struct pythia_expected_result *r);
/* "2 of 5 expectations are violated, 1 cannot be judged", "All 5 expectations hold" */
void pythia__say_expected_counts(struct pythia__doc *d, const struct pythia_expected_results *r);

/* ---- the input ---- */

uint64_t pythia__sum_of(const uint64_t *counts, size_t count);
/* "3 files", or "a live stream". */
void pythia__say_origin(struct pythia__doc *d, const struct pythia_report_source *s);
/* How many requests those that were seen stand for; nothing if all were seen. */
void pythia__say_sampling(struct pythia__doc *d, const struct pythia_report_source *s);
/* That more than 1 % of the requests were incomplete, and why; else nothing. */
void pythia__say_incomplete(struct pythia__doc *d, const struct pythia_counts *n);
/* That so many spans were recorded by clocks without a common base (trace.h); nothing for 0. */
void pythia__say_clock_bases(struct pythia__doc *d, uint64_t spans);
/* The share of the time of requests that tracing takes, and the points closed because of it. */
void pythia__say_overhead(struct pythia__doc *d, const struct pythia_vocabulary *v,
                          const struct pythia_report_overhead *o);

/* ---- a search ---- */

#define PYTHIA__ENDS_SHOWN 20 /* request types whose reasons are told as text */

/* "Of 136 trace points, 42 were open from the start, 1 more was opened.", or that they are being
 * learnt. */
void pythia__say_search(struct pythia__doc *d, const struct pythia_loop *loop);
/* "2 trace points are pinned open, 5 trace points are pinned closed.", or nothing. */
void pythia__say_pins(struct pythia__doc *d, const struct pythia_loop *loop);
/* The requests of a cycle, and the decisions that followed. */
void pythia__say_cycle(struct pythia__doc *d, const struct pythia_report_source *s,
                       const struct pythia_loop_cycle *c);
/* " Now open: 3 of 4 points, 3.00 us of 20.0 us a request.", or nothing if there is no limit. */
void pythia__say_budget_use(struct pythia__doc *d, const struct pythia_loop *loop,
                            const struct pythia_loop_cycle *c);
/* The number of a cycle, or "4-17" where it stands for several. */
void pythia__say_cycle_number(struct pythia__doc *d, const struct pythia_loop_cycle *c);
/* Is there something to say of why a request type has no cause, or not a closer one? "given up,
 * because …."; and the state alone: "given up", "done", … */
bool pythia__has_reason(const struct pythia_problem *p);
void pythia__say_reason(struct pythia__doc *d, const struct pythia_report_source *s,
                        const struct pythia_problem *p);
/* "7 request types had too few requests to be searched: 30 in a cycle are needed.", or nothing if a
 * cause was found. */
void pythia__say_never_searched(struct pythia__doc *d, const struct pythia_loop *loop);
/* "Trace points were opened 2 times to learn request types that turned up.", what was left out in
 * that, and how many types wait for it; or nothing. */
void pythia__say_lessons(struct pythia__doc *d, const struct pythia_loop *loop);
/* "The search space does not know 2 trace points of request types that it knows, of which 30 spans
 * were left out. Learn the space anew to have them searched: a:x, b:y.", or nothing. */
void pythia__say_unknown_points(struct pythia__doc *d, const struct pythia_report_source *s);
/* "97 % of the variance lies inside A" */
void pythia__say_finding(struct pythia__doc *d, const struct pythia_vocabulary *v,
                         const struct pythia_finding *f);

#endif
