#ifndef PYTHIA_EXPLAIN_PARTS_H
#define PYTHIA_EXPLAIN_PARTS_H

#include "pythia/arena.h"
#include "pythia/explain.h"

/* A key as a column of the association test, with what is needed to name it in a report. */
struct pythia__candidate {
    enum pythia_key_kind kind;
    uint32_t key, tracepoint; /* one of them; PYTHIA_NONE */
    uint32_t depth;           /* of a structural key: the least depth of its trace point */
    double *numbers;          /* [rows]; owned */
    uint32_t *levels;
    struct pythia_text *texts; /* of the levels; borrowed from rows, or spelt */
    uint32_t level_count;
    struct pythia_text member; /* of MEMBER: the value; borrowed like texts */
    bool replaced;             /* by its members */
    /* Of levels that are pooled because each has too few rows (pool.h): level 1 are these. */
    struct pythia_text *slow; /* owned, with borrowed texts; NULL: not pooled */
    size_t slow_count;
    const char *unit; /* of time, in which it measures the time itself (measured.h); or NULL */
};

/* One explanation while it is made. The pointers to const are borrowed from the caller. */
struct pythia__explainer {
    const struct pythia_row *const *rows;
    size_t n;
    const struct pythia_ranking *ranking;
    const struct pythia_keys *keys;
    const struct pythia_cct *cct;
    const struct pythia_vocabulary *vocabulary;
    struct pythia__candidate *candidates;
    size_t count, capacity;
    size_t values_max;                   /* of a key that are named */
    uint32_t *places;                    /* by key, or by trace point: index of the candidate + 1 */
    struct pythia_arena spelt;           /* numbers as text, for keys that have both */
    size_t members;                      /* candidates of kind MEMBER */
    struct pythia_skipped_key *untested; /* values that became no member; owned with their names */
    size_t untested_count, untested_capacity;
    char *measured; /* owned: of the numbers that measure the time, the one with most of it; NULL */
    double measured_share;
};

/* Find the candidates: every key-value, every member of keys with several values, and the hits of
 * every trace point, sorted, each column once. Returns PYTHIA_OK or PYTHIA_ENOMEM; in both cases
 * the caller frees x. */
int pythia__candidates_find(struct pythia__explainer *x);
void pythia__candidates_free(struct pythia__explainer *x);

/* The name of a candidate as reports write it, owned by the caller; NULL without memory. */
char *pythia__candidate_name(const struct pythia__explainer *x, const struct pythia__candidate *c);

/* The requests in which the latency is higher, in words that follow the name of the key: "is >= 2",
 * "is in {a, b}", "is missing". Owned by the caller; NULL without memory. */
char *pythia__explain_split_text(const struct pythia__explainer *x,
                                 const struct pythia__candidate *c, const struct pythia_split *s);

/* The levels of the slow group with their texts, in one block that the caller owns; NULL without
 * memory. */
struct pythia_text *pythia__explain_copy_levels(const struct pythia__candidate *c,
                                                const struct pythia_split *s);

/* Add to `found` the bins of the key: how many requests have which values, and their mean latency.
 * Returns PYTHIA_OK or PYTHIA_ENOMEM. Cost: a sort of the rows; with levels, bins times rows. */
int pythia__explain_profile(const struct pythia__explainer *x, const struct pythia__candidate *c,
                            struct pythia_explanation *found);

/* Whether requests that do not hit a trace point end before it. Requests that skip a step
 * continue with the steps after it; requests that end early do not. True if some of the rows
 * pass the trace point, at most three quarters do not (with more it is rather an additional step
 * of a few), and in most rows that pass it, no trace point is first passed after it which most
 * of the rows without it pass, too. *without: rows that do not pass it. Returns PYTHIA_OK or
 * PYTHIA_ENOMEM. O(rows * events of a path); paths of one shape that follow each other are
 * looked at once. */
int pythia__ends_early(const struct pythia_row *const *rows, size_t count,
                       const struct pythia_cct *cct, uint32_t tracepoint, size_t *without,
                       bool *early);

/* Set the `unit` of the candidates that measure the time of their trace point, or the request's
 * (measured.h), which `totals` has by row. Afterwards x->places is of no use. PYTHIA_OK or
 * PYTHIA_ENOMEM. O(keys * rows * log rows). */
int pythia__measured_mark(struct pythia__explainer *x, const double *totals);

#endif
