/* The cycles of a closed loop, in a report. */
#ifndef PYTHIA_REPORT_LOOP_H
#define PYTHIA_REPORT_LOOP_H

#include "json_finding.h"
#include "pythia/closed_loop.h"

/* Give a report the members "loop", one object a cycle, and "search", what came of all. */
void pythia__json_loop(struct pythia__report_writer *w, json_t *report);

/* Give a cycle the members "effects" and "group". */
void pythia__json_effects(struct pythia__json *w, json_t *cycle, const struct pythia_loop_cycle *c);

#endif
