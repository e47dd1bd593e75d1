/* The states of the live engine, and the tables of their transitions.
 *
 * The phase says what requests are used for. The engine may be paused in any phase; it resumes in
 * the phase that it was paused in.
 *
 *   EMPTY ──request──> LEARNING ──type learnt──> COMPLETING
 *     │                                              │
 *     └──────────────> search begun <────────────────┘
 *                           │
 *                           v
 *                       GATHERING ──evidence complete──> SETTLING
 *                           ^                               │
 *                           └──────────cycle ended──────────┘
 *
 * The state of the desired set says which evidence can be trusted: requests are comparable only
 * while the set in force is the desired one.
 *
 *   IN_FORCE ──changed──> CHANGING ──applied──> IN_FORCE
 *   IN_FORCE ──changed alike──> ALIKE ──applied──> IN_FORCE
 *   CHANGING ──paused──> IN_FORCE ──resumed──> CHANGING
 *   any ──failed: no memory──> UNMADE ──changed──> CHANGING
 *   any ──abandoned──> IN_FORCE
 *
 * An event without a transition leaves the state as it is. */
#ifndef PYTHIA_CORE_LIVE_PHASE_H
#define PYTHIA_CORE_LIVE_PHASE_H

enum pythia__live_phase {
    PYTHIA__LIVE_EMPTY,      /* no request has arrived */
    PYTHIA__LIVE_LEARNING,   /* no request type has enough requests */
    PYTHIA__LIVE_COMPLETING, /* one type has; the others have some more time */
    PYTHIA__LIVE_GATHERING,  /* the search runs and its current cycle takes requests */
    PYTHIA__LIVE_SETTLING /* the cycle has its requests; requests that began earlier may finish */
};

enum pythia__live_event {
    PYTHIA__LIVE_REQUEST,
    PYTHIA__LIVE_TYPE_LEARNT,
    PYTHIA__LIVE_SEARCH_BEGUN,
    PYTHIA__LIVE_EVIDENCE_COMPLETE,
    PYTHIA__LIVE_CYCLE_ENDED /* decided, or its evidence was dropped */
};

enum pythia__set_state {
    PYTHIA__SET_IN_FORCE, /* or nothing is desired yet */
    PYTHIA__SET_ALIKE,    /* a change is under way that searched types do not see */
    PYTHIA__SET_CHANGING, /* a change is under way: requests are kept apart until it is applied */
    PYTHIA__SET_UNMADE    /* no memory was left for the desired set: the next step makes it */
};

enum pythia__set_event {
    PYTHIA__SET_CHANGED,
    PYTHIA__SET_CHANGED_ALIKE,
    PYTHIA__SET_FAILED,
    PYTHIA__SET_ABANDONED, /* the search that desired it could not begin */
    PYTHIA__SET_APPLIED,
    PYTHIA__SET_PAUSED,
    PYTHIA__SET_RESUMED /* the whole set has to be applied again */
};

/* The phase after an event. */
enum pythia__live_phase pythia__live_phase_next(enum pythia__live_phase phase,
                                                enum pythia__live_event event);
/* The state of the desired set after an event. */
enum pythia__set_state pythia__set_state_next(enum pythia__set_state state,
                                              enum pythia__set_event event);
#endif
