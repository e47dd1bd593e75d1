/* A search that members of a Kafka group share: what the engine has to know of the settings. */
#ifndef PYTHIA_PYTHIAD_SHARING_H
#define PYTHIA_PYTHIAD_SHARING_H

#include "daemon.h"

/* Owned until the engine is gone; {0}: the search is not shared. */
struct pythia__sharing {
    char *group;
    struct pythia_buf settings;
    struct pythia_open_points *always, *never; /* pins of the settings */
};

/* Fill in *out, to be freed in any case. PYTHIA_OK, or negative with the reason in `e`. */
int pythia__sharing_read(const struct pythia__daemon *d, struct pythia__sharing *out,
                         struct pythia_error *e);
void pythia__sharing_free(struct pythia__sharing *s);

#endif
