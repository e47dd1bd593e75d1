#define _XOPEN_SOURCE 700 /* realpath */
#include "folder_link.h"

#include <stdlib.h>
#include <string.h>

bool pythia__link_leads_out(const char *folder, const char *path)
{
    char *home = realpath(folder, NULL), *end = realpath(path, NULL);
    size_t size = home ? strlen(home) : 0;
    bool inside = home && end && strncmp(end, home, size) == 0 &&
                  (end[size] == '/' || home[size - 1] == '/'); /* the latter is "/" itself */
    free(home);
    free(end);
    return !inside;
}
