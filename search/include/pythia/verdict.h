#ifndef PYTHIA_VERDICT_H
#define PYTHIA_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/diagnosis.h"
#include "pythia/search.h"

/* The current conclusion about a request type: where its latency variance arises, and what it
 * correlates with. There is one verdict for each type, and everything that tells a person about the
 * type reads it: the report in all its forms, the page of pythiad and its log. So they cannot
 * disagree.
 *
 * A verdict stays until evidence speaks against it. The shares of a cycle scatter, and a cycle with
 * few requests says nothing. So a place that was found is given up only when
 * PYTHIA_VERDICT_DOUBTS cycles in a row speak against it: the leading place has surely less than
 * PYTHIA_FINDING_MIN then, any other one less than that, or perhaps nothing; or the search has
 * dropped it.
 *
 * One disturbed cycle can give any place any share: on a busy machine a network call had 83 % (66
 * to 100) in one (tests/live/stock python). Where a place was found already, a further one is a
 * candidate, and "also seen", until PYTHIA_VERDICT_SEEN cycles in a row show a share that matters.
 * A place that was given up has to have surely PYTHIA_FINDING_MIN in them, so that a share around
 * that limit does not come and go.
 *
 * Where requests are many, two cycles take seconds, and a disturbance of a minute would change the
 * verdict twice. So evidence also has to speak against a verdict of state FOUND for `hold_ns`, from
 * the first of these cycles to the last, before it changes. Only trace points that turn up within a
 * place change it at once, and a place that the search gives up because no request passes it: a new
 * release does not have it, for instance. */

#define PYTHIA_VERDICT_DOUBTS 2
#define PYTHIA_VERDICT_SEEN   2

enum pythia_verdict_state {
    PYTHIA_VERDICT_LEARNING,  /* the search space does not know the type yet */
    PYTHIA_VERDICT_SEARCHING, /* its requests differ, and nothing was found yet */
    PYTHIA_VERDICT_FOUND,     /* a place, or a key, stands out */
    PYTHIA_VERDICT_NOTHING,   /* nothing stands out, or the type does not matter */
    PYTHIA_VERDICT_TOO_FEW,   /* requests, to say anything */
};
#define PYTHIA_VERDICT_STATES 5

/* The confidence of a verdict of state FOUND. */
enum pythia_confidence {
    PYTHIA_CONFIDENCE_LOW,    /* neither of these */
    PYTHIA_CONFIDENCE_MEDIUM, /* the first place has surely a share that matters, or was seen in two
                                 cycles; or a key ended the search */
    PYTHIA_CONFIDENCE_HIGH,   /* it has surely half of the variance, or was seen in three cycles; or
                                 the key was tested once more since */
};

/* The reason why a verdict has changed. */
enum pythia_verdict_reason {
    PYTHIA_VERDICT_FIRST,   /* there was none before */
    PYTHIA_VERDICT_CAUSE,   /* a place was found */
    PYTHIA_VERDICT_MORE,    /* one more place was found */
    PYTHIA_VERDICT_REFUTED, /* a place that was found has no share that matters any more; or no key
                               explains any more what many places have */
    PYTHIA_VERDICT_QUIET,   /* requests do not differ any more */
    PYTHIA_VERDICT_ENDED,   /* the search ended, and found nothing */
    PYTHIA_VERDICT_AGAIN,   /* durations are others than when the search ended: it began again */
    PYTHIA_VERDICT_LEARNT,  /* the type is known now */
    PYTHIA_VERDICT_GROWN,   /* trace points turned up within a place that was found */
    PYTHIA_VERDICT_RETRY,   /* nothing was found some cycles ago, and requests still vary: the
                               search began again by itself */
};

struct pythia_verdict_place {
    struct pythia_finding finding;
    unsigned doubts;        /* cycles in a row that spoke against it, once it was found */
    unsigned seen;          /* cycles in a row in which its share mattered, before that */
    uint64_t first_unix_ns; /* when the first of these cycles ended */
    bool given_up;          /* it was found, and evidence refuted it */
};

struct pythia_verdict {
    uint32_t type; /* number of a string */
    enum pythia_verdict_state state;
    enum pythia_confidence confidence;
    enum pythia_confidence highest;     /* confidence since `since` */
    enum pythia_confidence raised_from; /* what that was before it rose last, */
    uint64_t raised;                    /* in this cycle; 0: it has not */
    /* The largest share first. Places change their order only if one is ahead by a tenth of the
     * variance, and that is no change of the verdict. */
    struct pythia_verdict_place found[PYTHIA_PROBLEM_CAUSES];
    size_t found_count; /* with state FOUND 0 only if the search ended by a key (why is SPREAD), or
                           if there was no search: a key stands out, or a subtree */
    struct pythia_verdict_place candidates[PYTHIA_PROBLEM_CAUSES]; /* causes that are not found */
    size_t candidate_count;
    struct pythia_finding also[PYTHIA_PROBLEM_CAUSES + 1]; /* places with a share too small */
    size_t also_count;
    bool searched; /* the search of what else there is goes on */
    enum pythia_why why;
    uint64_t group;                /* id of the group of requests that shows it; 0: not known */
    char *key;                     /* owned: the key that explains it; NULL: none is known */
    double explained, q;           /* by the key: part of the variance; NaN without */
    uint64_t key_doubt;            /* the first cycle, as since + looks, that spoke against the key;
                                          0: none did since it was last confirmed */
    uint64_t key_doubt_unix_ns;    /* when that cycle ended */
    uint64_t spread_lost_unix_ns;  /* when the first cycle ended after which no key explains what
                                      many places have, though one did; 0: one does */
    uint64_t since, since_unix_ns; /* the cycle since which it is so; 0: there are no cycles */
    uint64_t looks, requests;      /* cycles since then that had evidence; of the last one */
    /* The requests of the last cycle are those at 1 of so many instances (struct pythia_problem);
     * the owner may say which: number of a string, 0: not known. */
    uint32_t part, part_point, instance;
    uint64_t changes;                  /* times it was another after a place was first found */
    enum pythia_verdict_reason reason; /* of the last change, */
    enum pythia_verdict_state was;     /* and what it was before that, */
    struct pythia_finding was_found;   /* the first place that was dropped then, or else the first
                                          of all; share NaN: no place was found */
};

/* A cycle that verdicts take in. */
struct pythia_verdict_cycle {
    uint64_t number;
    uint64_t unix_ns; /* when it ended; 0: not known */
    uint64_t hold_ns; /* evidence has to speak so long against a verdict of state FOUND before it
                         changes; 0, also without unix_ns: cycles alone count */
};

/* {0} before the first cycle. */
struct pythia_verdicts {
    struct pythia_verdict *list; /* owned; in the order of the problems, or of the types */
    size_t count, capacity;
    struct pythia_verdict_cycle last; /* that was taken in; {0}: none since they were loaded */
};

/* Take in what the search says after a cycle. `problems` are those of all cycles before in the same
 * order, and perhaps more behind them. PYTHIA_OK or PYTHIA_ENOMEM. O(problems). */
int pythia_verdicts_update(struct pythia_verdicts *v, struct pythia_verdict_cycle cycle,
                           const struct pythia_problem *problems, size_t count);

/* There will be no further cycle that could confirm a candidate: what the last cycles showed of it
 * counts, and those with a share that matters join their verdicts in `cycle`. */
void pythia_verdicts_settle(struct pythia_verdicts *v, uint64_t cycle);

/* The key that explains each verdict of state FOUND, from the evidence of the last cycle. A key
 * that was named before stays until two cycles in a row speak against it, for `hold_ns`: it does
 * not go with the place any more, or another explains more by a tenth of the variance. `g` is what
 * was diagnosed. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_verdicts_explain(struct pythia_verdicts *v, const struct pythia_diagnosis *d,
                            const struct pythia_groups *g);

/* Does the key explain more than twice what the first place accounts for, or did the search end by
 * it? Then the requests do not differ in one place but in many: those that a slow host served, for
 * example, in each step. */
bool pythia_verdict_is_spread(const struct pythia_verdict *v);

/* Take over the keys that another thread found in a copy of these verdicts, for verdicts whose
 * first place is still the same. Has one of them another key than before? */
bool pythia_verdicts_take_keys(struct pythia_verdicts *v, struct pythia_verdicts *from);

/* The verdicts of evidence that no search was made for: one for each type, of its group with the
 * most variance. `v` is {0}. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_verdicts_judge(struct pythia_verdicts *v, const struct pythia_diagnosis *d,
                          const struct pythia_groups *g);

/* Append verdicts as text, by the ids of trace points and the names of types; and take them in, for
 * a search that was saved with them (pythia_search_save), also by another process. _load: `v` is
 * {0}; PYTHIA_OK, PYTHIA_EFORMAT for a broken text, or PYTHIA_ENOMEM; to be freed in any case. */
int pythia_verdicts_save(const struct pythia_verdicts *v,
                         const struct pythia_vocabulary *vocabulary, struct pythia_buf *out);
int pythia_verdicts_load(struct pythia_verdicts *v, struct pythia_vocabulary *vocabulary,
                         struct pythia_text saved);

/* PYTHIA_OK with *out filled, or PYTHIA_ENOMEM with nothing to free. */
int pythia_verdicts_copy(const struct pythia_verdicts *v, struct pythia_verdicts *out);
void pythia_verdicts_free(struct pythia_verdicts *v);

/* Static strings, as in reports: "learning", "searching", "found", "nothing", "too_few"; "low", …;
 * "first", "cause", …. */
const char *pythia_verdict_state_name(enum pythia_verdict_state state);
const char *pythia_confidence_name(enum pythia_confidence confidence);

/* Why the confidence of a verdict of state FOUND is what it is, if it is not low: a static clause,
 * "it was found in three cycles". */
const char *pythia_verdict_confidence_reason(const struct pythia_verdict *v);
const char *pythia_verdict_reason_name(enum pythia_verdict_reason reason);

#endif
