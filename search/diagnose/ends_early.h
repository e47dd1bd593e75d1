#ifndef PYTHIA_ENDS_EARLY_H
#define PYTHIA_ENDS_EARLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/row.h"

/* Whether requests that do not hit a trace point end before it. Requests that skip a step
 * continue with the steps after it; requests that end early do not. True if some of the rows
 * pass the trace point, at most three quarters do not (with more it is rather an additional step
 * of a few), and in most rows that pass it, no trace point is first passed after it which most
 * of the rows without it pass, too. *without: rows that do not pass it. Returns PYTHIA_OK or
 * PYTHIA_ENOMEM. O(rows * events of a path); paths of one shape that follow each other are
 * looked at once. */
int pythia__ends_early(const struct pythia_row *const *rows, size_t count,
                       const struct pythia_cct *cct, uint32_t tracepoint, size_t *without,
                       bool *early);

#endif
