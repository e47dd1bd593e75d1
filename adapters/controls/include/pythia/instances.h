#ifndef PYTHIA_INSTANCES_H
#define PYTHIA_INSTANCES_H

#include <stdbool.h>

#include "pythia/text.h"

/* Which instances a wish is about (struct pythia_control_wish in control.h).
 *
 * The key of an instance is the name that it gives itself. The agents that come with Pythia name
 * themselves HOST:PID:NUMBER; any other text without a colon is the name of a host and of a process
 * (the name of a pod, or a service.instance.id). */

/* A place: two patterns with * ? [ (fnmatch), "HOST/PROCESS". An empty one means any. HOST has no
 * slash. Without any slash the text is HOST. */
#define PYTHIA_INSTANCES_BYTES 512 /* longer ones match nothing */

/* Does the place have the instance of that name? HOST is compared with the name up to its first
 * colon; PROCESS with what is between the first colon and the next, and with the whole name. */
bool pythia_instances_has(struct pythia_text place, struct pythia_text instance);

/* Does a pattern (fnmatch) match a text? Both are of at most PYTHIA_INSTANCES_BYTES bytes; an empty
 * pattern matches all. */
bool pythia_instances_fits(struct pythia_text pattern, struct pythia_text text);

#endif
