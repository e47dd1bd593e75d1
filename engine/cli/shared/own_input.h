/* A command must not overwrite what it reads. */
#ifndef PYTHIA_CLI_OWN_INPUT_H
#define PYTHIA_CLI_OWN_INPUT_H

#include <stdbool.h>

#include "pythia/option.h"

/* Is the file of --output one that the command reads: an operand, a file in a folder that is one,
 * or the file of another option? By device and inode, so that another name of it is found as well.
 * Told, if so. Folders are searched only if the file of --output is there. */
bool pythia__output_is_input(const struct pythia_option *options, const void *settings,
                             char *const *operands, int count);

#endif
