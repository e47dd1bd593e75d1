/* A library that has trace points, built twice: once linked with the shared libpythia-tracepoints,
 * as the program is with the static one; and once with a static copy inside, to be loaded. */
#ifndef LINKED_TWICE_H
#define LINKED_TWICE_H

/* Pass the point "in library" so often. */
__attribute__((visibility("default"))) void pass_in_library(int passes);

#endif
