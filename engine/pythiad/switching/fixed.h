/* Trace points that nothing can switch. No control plane has reported them, or some instance of
 * their service has no agent and goes on sending their spans while they are closed everywhere else.
 * What arrives of them is evidence like any other: the engine takes them for open, and hides
 * nothing. */
#ifndef PYTHIA_PYTHIAD_FIXED_H
#define PYTHIA_PYTHIAD_FIXED_H

#include "switches.h"

/* A request as it came: which spans are of points that are closed? PYTHIA_OK or PYTHIA_ENOMEM.
 * O(spans). */
int pythia__fixed_see(struct pythia__switching *w, const struct pythia_trace *trace);

/* Tell the engine if other points are fixed than before. While it learns at once, and later those
 * that the search space does not know yet; more known ones become fixed a minute after the last
 * change at the earliest, because the evidence of a cycle begins anew. Those that agents have
 * reported since are released at once. PYTHIA_OK or PYTHIA_ENOMEM. O(trace points). */
int pythia__fixed_look(struct pythia__switching *w, uint64_t now_ns);

/* May it be thrown: has a control plane reported it? */
bool pythia__fixed_is_switchable(const struct pythia__switching *w, struct pythia_text id);

/* The component to install to switch the points of a program; a static string, a whole sentence. */
const char *pythia__fixed_advice(void);

/* Free the fixed set of points, and the ids that no control plane has reported. */
void pythia__fixed_free(struct pythia__switching *w);

#endif
