/* The chunks of a session of LTTng that was rotated are folders: SESSION/archives/CHUNK/REST for
 * each, and SESSION/REST for what was recorded since. A request may last from one to the next, so
 * that they are read as one. */
#ifndef PYTHIA_CORE_TRACE_CHUNKS_H
#define PYTHIA_CORE_TRACE_CHUNKS_H

#include "pythia/input.h"

/* Join the chunks of each session: the first of them in order of path has the others, and these are
 * no longer files of their own. PYTHIA_OK, or PYTHIA_ENOMEM with some of them joined. */
int pythia__trace_chunks_join(struct pythia_input_file *files, size_t *count);

#endif
