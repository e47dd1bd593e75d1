/* Why a search ended, in words. */
#ifndef PYTHIA_REPORT_WHY_H
#define PYTHIA_REPORT_WHY_H

#include "pythia/closed_loop.h"

/* Append why a request type has no cause, or one that could be told more closely, and what a person
 * may do about it: a sentence without its full stop. Nothing where there is nothing to say. */
void pythia__add_why(struct pythia_buf *to, const struct pythia_vocabulary *v,
                     const struct pythia_loop *loop, const struct pythia_problem *p);

#endif
