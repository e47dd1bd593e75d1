#ifndef PYTHIA_GATE_VARIABLES_H
#define PYTHIA_GATE_VARIABLES_H

#include "pythia/buf.h"
#include "pythia/error.h"

/* The variables of the programs that record in a directory (NULL: where programs look for it), as
 * they stand there now, added to `out` as a JSON array in order of processes and, in each, of
 * definition:
 *
 *     {"process": 4711, "service": "shop", "name": "queue length", "class": "level",
 *      "binding": "process", "type": "long", "value": 17}
 *
 * A value that was never seen, or is no number, is null; bytes that are not UTF-8 are U+FFFD. No
 * program is stopped, and what another user or a broken program has left there is passed over.
 * PYTHIA_OK, PYTHIA_EIO with the reason in `e`, or PYTHIA_ENOMEM. Any thread. */
int pythia_gate_variables(const char *directory, struct pythia_buf *out, struct pythia_error *e);

#endif
