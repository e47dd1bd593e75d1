/* Symbolic links in folders that are searched for files. */
#ifndef PYTHIA_CORE_FOLDER_LINK_H
#define PYTHIA_CORE_FOLDER_LINK_H

#include <stdbool.h>

/* Does `path`, found in or below the folder, lead to a file that is not in or below it? True as
 * well if that cannot be found out. Some system calls for each folder of both paths. */
bool pythia__link_leads_out(const char *folder, const char *path);

#endif
