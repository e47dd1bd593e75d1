/* The log, and whoever is notified, are told what the report says: when a verdict has changed, its
 * sentence. */
#ifndef PYTHIA_PYTHIAD_VERDICT_LOG_H
#define PYTHIA_PYTHIAD_VERDICT_LOG_H

struct pythia__daemon;

/* After a cycle, when its evidence is with the reporting: announce each verdict that found a place
 * in this cycle, or lost one. The sentence names the key that explains it, which takes a diagnosis:
 * a worker makes it, and the line comes when it is done. */
void pythia__verdict_log_cycle(struct pythia__daemon *d);

#endif
