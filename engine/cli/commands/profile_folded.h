/* A profile as folded stacks, a file for each process. */
#ifndef PYTHIA_CLI_PROFILE_FOLDED_H
#define PYTHIA_CLI_PROFILE_FOLDED_H

#include "pythia/profile.h"

/* Write <folder>/profiler.<process id>.folded, a line for each callpath with time of its own in
 * that process, in ns: what flame graph tools and `pythia runs` read. The profile is one by
 * callpath, with processes. The folder is made if it is not there. PYTHIA_OK, PYTHIA_ENOMEM or,
 * logged, PYTHIA_EIO. O(parts log parts). */
int pythia__profile_folded(const struct pythia_profile *profile, const char *folder);

#endif
