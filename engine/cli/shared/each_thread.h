/* Threads for jobs that do not depend on each other (pythia/each.h). A job may have jobs of its
 * own: all are done by the same threads, so that there are never more than were asked for. */
#ifndef PYTHIA_CLI_EACH_THREAD_H
#define PYTHIA_CLI_EACH_THREAD_H

#include "pythia/each.h"

struct pythia__each_threads;

/* Start so many threads, but for one, which is that of each caller; fewer where no more can be
 * made. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__each_threads_create(size_t count, struct pythia__each_threads **out);
void pythia__each_threads_destroy(struct pythia__each_threads *t); /* t may be NULL */

/* What does jobs by these threads, which are borrowed. */
struct pythia_each pythia__each_threads_of(struct pythia__each_threads *t);

#endif
