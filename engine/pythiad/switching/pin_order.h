/* Trace points that are opened and closed by hand: from the ids and patterns of an order to pins.
 * All calls are the loop's. */
#ifndef PYTHIA_PYTHIAD_PIN_ORDER_H
#define PYTHIA_PYTHIAD_PIN_ORDER_H

#include <jansson.h>

#include "switches.h"

#define PYTHIA__PINS_MAX      1000 /* trace points of one order, also by patterns */
#define PYTHIA__PIN_TYPES_MAX 1000 /* likewise request types */

/* Pin what an order names: 1 open, -1 closed, 0 as the search decides. `order`: "trace_points", a
 * list of texts, each the id of a trace point that is known, or a pattern with * ? [ (fnmatch),
 * which stands for those that match now; to open or close, of these only the ones that can be
 * switched. A text with a slash, and no colon before its second slash, is
 * HOST/SERVICE/PROCESS/FUNCTION (see shared/pin_place.h): the points that match SERVICE and
 * FUNCTION now are pinned at instances that match HOST and PROCESS, now and later; elsewhere they
 * are as the search decides. That is refused for points of planes that cannot tell instances apart,
 * with "types", and to unpin. "types", only to open, and may be missing: names of request types
 * that are known, or such patterns of them; the points are open for these only. All of the order is
 * done or, if a part of it cannot be, nothing. Returns the status of HTTP, with *answer owned by
 * the caller (NULL: out of memory). */
unsigned pythia__pin(struct pythia__switching *w, const json_t *order, int pin, json_t **answer);

/* Bring trace points to a level: "level" of the order is
 *
 *   off       nothing is open
 *   service   entry points and calls between services, the skeleton of the search space
 *   function  functions too, as the search decides
 *   all       everything is open
 *
 * by pins as above; "trace_points" and the answer likewise. 400: it is no level; 409: the
 * search space, and so the skeleton, is not known yet. */
#define PYTHIA__LEVELS "off|service|function|all"
unsigned pythia__set_level(struct pythia__switching *w, const json_t *order, json_t **answer);

#endif
