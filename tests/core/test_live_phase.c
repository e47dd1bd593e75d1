/* The phases of the live engine and the states of its desired set. */
#include "check.h"
#include "cycle/live_phase.h"

static void learning_leads_to_a_search_and_never_back(void **state)
{
    enum pythia__live_phase phase = PYTHIA__LIVE_EMPTY;
    phase = pythia__live_phase_next(phase, PYTHIA__LIVE_REQUEST);
    assert_int_equal(phase, PYTHIA__LIVE_LEARNING);
    phase = pythia__live_phase_next(phase, PYTHIA__LIVE_TYPE_LEARNT);
    assert_int_equal(phase, PYTHIA__LIVE_COMPLETING);
    phase = pythia__live_phase_next(phase, PYTHIA__LIVE_SEARCH_BEGUN);
    assert_int_equal(phase, PYTHIA__LIVE_GATHERING);
    for (enum pythia__live_event event = PYTHIA__LIVE_REQUEST; event <= PYTHIA__LIVE_SEARCH_BEGUN;
         event++) {
        assert_int_equal(pythia__live_phase_next(PYTHIA__LIVE_GATHERING, event),
                         PYTHIA__LIVE_GATHERING);
        assert_int_equal(pythia__live_phase_next(PYTHIA__LIVE_SETTLING, event),
                         PYTHIA__LIVE_SETTLING);
    }
}

static void a_known_space_needs_no_learning(void **state)
{
    assert_int_equal(pythia__live_phase_next(PYTHIA__LIVE_EMPTY, PYTHIA__LIVE_SEARCH_BEGUN),
                     PYTHIA__LIVE_GATHERING);
}

static void only_a_search_waits_for_stragglers(void **state)
{
    for (enum pythia__live_phase phase = PYTHIA__LIVE_EMPTY; phase <= PYTHIA__LIVE_COMPLETING;
         phase++) {
        assert_int_equal(pythia__live_phase_next(phase, PYTHIA__LIVE_EVIDENCE_COMPLETE), phase);
        assert_int_equal(pythia__live_phase_next(phase, PYTHIA__LIVE_CYCLE_ENDED), phase);
    }
    assert_int_equal(
        pythia__live_phase_next(PYTHIA__LIVE_GATHERING, PYTHIA__LIVE_EVIDENCE_COMPLETE),
        PYTHIA__LIVE_SETTLING);
    assert_int_equal(pythia__live_phase_next(PYTHIA__LIVE_SETTLING, PYTHIA__LIVE_CYCLE_ENDED),
                     PYTHIA__LIVE_GATHERING);
}

/* What each state becomes: in force, alike, changing, unmade. */
static void leads_to(enum pythia__set_event event, enum pythia__set_state in_force,
                     enum pythia__set_state alike, enum pythia__set_state changing,
                     enum pythia__set_state unmade)
{
    assert_int_equal(pythia__set_state_next(PYTHIA__SET_IN_FORCE, event), in_force);
    assert_int_equal(pythia__set_state_next(PYTHIA__SET_ALIKE, event), alike);
    assert_int_equal(pythia__set_state_next(PYTHIA__SET_CHANGING, event), changing);
    assert_int_equal(pythia__set_state_next(PYTHIA__SET_UNMADE, event), unmade);
}

static void each_event_changes_the_set_as_documented(void **state)
{
    enum pythia__set_state in_force = PYTHIA__SET_IN_FORCE, alike = PYTHIA__SET_ALIKE,
                           changing = PYTHIA__SET_CHANGING, unmade = PYTHIA__SET_UNMADE;
    leads_to(PYTHIA__SET_CHANGED, changing, changing, changing, changing);
    leads_to(PYTHIA__SET_CHANGED_ALIKE, alike, alike, changing, unmade);
    leads_to(PYTHIA__SET_FAILED, unmade, unmade, unmade, unmade);
    leads_to(PYTHIA__SET_ABANDONED, in_force, in_force, in_force, in_force);
    leads_to(PYTHIA__SET_APPLIED, in_force, in_force, in_force, unmade);
    leads_to(PYTHIA__SET_PAUSED, in_force, alike, in_force, unmade);
    leads_to(PYTHIA__SET_RESUMED, changing, changing, changing, unmade);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(learning_leads_to_a_search_and_never_back),
        cmocka_unit_test(a_known_space_needs_no_learning),
        cmocka_unit_test(only_a_search_waits_for_stragglers),
        cmocka_unit_test(each_event_changes_the_set_as_documented),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
