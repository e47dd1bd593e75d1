/* What a closed loop did, in a report. */
#ifndef PYTHIA_REPORT_LOOP_H
#define PYTHIA_REPORT_LOOP_H

#include "json_finding.h"
#include "pythia/buf.h"
#include "pythia/closed_loop.h"

/* Give a report the members "loop", one object a cycle, and "search", what came of all. */
void pythia__json_loop(struct pythia__json *w, json_t *report, const struct pythia_loop *loop);

/* Give a cycle the members "effects" and "group". */
void pythia__json_effects(struct pythia__json *w, json_t *cycle, const struct pythia_loop_cycle *c);
/* Append in sentences what opened points explained; nothing if there were none. */
void pythia__add_effects(const struct pythia__json *w, struct pythia_buf *to,
                         const struct pythia_loop_cycle *c);
/* Are all points that the cycle closes such that were just found not to pay? */
bool pythia__closes_what_does_not_pay(const struct pythia_loop_cycle *c);
/* Do these sentences say already that most lies in this place? */
bool pythia__effects_tell(const struct pythia_loop_cycle *c, const struct pythia_place *place);

#endif
