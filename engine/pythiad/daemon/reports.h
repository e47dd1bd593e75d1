/* From the engine's evidence to the reports that are made of it. */
#ifndef PYTHIA_PYTHIAD_REPORTS_H
#define PYTHIA_PYTHIAD_REPORTS_H

#include "daemon.h"

struct pythia_groups;

/* Hand the evidence of a cycle to whoever asks for its report; `look` is the cycle's number. Takes
 * `groups`. */
void pythia__reports_hand(struct pythia__daemon *d, struct pythia_groups *groups, uint64_t look);

/* Before the first cycle has ended, prepare a report of what has arrived so far, without groups;
 * afterwards do nothing. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__reports_begin(struct pythia__daemon *d);

#endif
