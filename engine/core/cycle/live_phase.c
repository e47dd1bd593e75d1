#include "live_phase.h"

#include <stddef.h>

enum pythia__live_phase pythia__live_phase_next(enum pythia__live_phase phase,
                                                enum pythia__live_event event)
{
    static const struct {
        enum pythia__live_phase from;
        enum pythia__live_event event;
        enum pythia__live_phase to;
    } table[] = {
        {PYTHIA__LIVE_EMPTY, PYTHIA__LIVE_REQUEST, PYTHIA__LIVE_LEARNING},
        {PYTHIA__LIVE_EMPTY, PYTHIA__LIVE_SEARCH_BEGUN, PYTHIA__LIVE_GATHERING},
        {PYTHIA__LIVE_LEARNING, PYTHIA__LIVE_TYPE_LEARNT, PYTHIA__LIVE_COMPLETING},
        {PYTHIA__LIVE_COMPLETING, PYTHIA__LIVE_SEARCH_BEGUN, PYTHIA__LIVE_GATHERING},
        {PYTHIA__LIVE_GATHERING, PYTHIA__LIVE_EVIDENCE_COMPLETE, PYTHIA__LIVE_SETTLING},
        {PYTHIA__LIVE_SETTLING, PYTHIA__LIVE_CYCLE_ENDED, PYTHIA__LIVE_GATHERING},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        if (table[i].from == phase && table[i].event == event)
            return table[i].to;
    return phase;
}

/* A change that is under way includes one that is alike. A pause ends the wait for the planes, and
 * resuming desires all of the set again. An unmade set stays unmade whatever the planes report,
 * since they report on an earlier one. */
enum pythia__set_state pythia__set_state_next(enum pythia__set_state state,
                                              enum pythia__set_event event)
{
    static const struct {
        enum pythia__set_state from;
        enum pythia__set_event event;
        enum pythia__set_state to;
    } table[] = {
        {PYTHIA__SET_IN_FORCE, PYTHIA__SET_CHANGED_ALIKE, PYTHIA__SET_ALIKE},
        {PYTHIA__SET_IN_FORCE, PYTHIA__SET_RESUMED, PYTHIA__SET_CHANGING},
        {PYTHIA__SET_ALIKE, PYTHIA__SET_APPLIED, PYTHIA__SET_IN_FORCE},
        {PYTHIA__SET_ALIKE, PYTHIA__SET_RESUMED, PYTHIA__SET_CHANGING},
        {PYTHIA__SET_CHANGING, PYTHIA__SET_APPLIED, PYTHIA__SET_IN_FORCE},
        {PYTHIA__SET_CHANGING, PYTHIA__SET_PAUSED, PYTHIA__SET_IN_FORCE},
    };
    switch (event) { /* these lead from any state to the same one */
    case PYTHIA__SET_CHANGED:
        return PYTHIA__SET_CHANGING;
    case PYTHIA__SET_FAILED:
        return PYTHIA__SET_UNMADE;
    case PYTHIA__SET_ABANDONED:
        return PYTHIA__SET_IN_FORCE;
    default:
        break;
    }
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        if (table[i].from == state && table[i].event == event)
            return table[i].to;
    return state;
}
