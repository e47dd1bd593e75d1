/* What the engine has to know of the settings for a search that members of a Kafka group share, or
 * that is saved in the state: with others it is another search. */
#ifndef PYTHIA_PYTHIAD_SHARING_H
#define PYTHIA_PYTHIAD_SHARING_H

#include "daemon.h"

/* Owned until the engine is gone. */
struct pythia__sharing {
    char *group; /* NULL: the search is not shared */
    struct pythia_buf settings;
    struct pythia_open_points *always, *never; /* pins of the settings; NULL without a group */
};

/* Fill in *out, to be freed in any case. PYTHIA_OK, or negative with the reason in `e`. */
int pythia__sharing_read(const struct pythia__daemon *d, struct pythia__sharing *out,
                         struct pythia_error *e);
void pythia__sharing_free(struct pythia__sharing *s);

/* Orders by hand hold for all members. Send a pin to the others; switch everything off, or on
 * again, here and at the others (*kept: the state has it), with the status of the control planes;
 * and obey what another member sent. `daemon` is a struct pythia__daemon. */
void pythia__sharing_pin(void *daemon, const struct pythia_text *ids, size_t count,
                         const struct pythia__pin *pin);
int pythia__sharing_set_off(struct pythia__daemon *d, bool off, bool *kept);
void pythia__sharing_obey(void *daemon, const json_t *order);

/* The verdicts, for a snapshot of the search, and from one. As pythia_verdicts_save and _load. */
int pythia__sharing_save(const void *daemon, struct pythia_buf *out);
int pythia__sharing_restore(void *daemon, struct pythia_text saved);

#endif
