/* Pins, prices, layers and the record of earlier searches, as the command line gives them. */
#ifndef PYTHIA_CLI_SEARCH_OPTIONS_H
#define PYTHIA_CLI_SEARCH_OPTIONS_H

#include "pythia/history.h"
#include "pythia/layers.h"
#include "pythia/open_points.h"
#include "pythia/option.h"
#include "pythia/prices.h"
#include "pythia/space.h"

/* A member of the settings of a command. Each text is an id, a pattern, or for prices ID=NS, for
 * layers ID=LAYER; or @
 * and a file with one of them a line. */
struct pythia__search_settings {
    struct pythia_option_texts always, never, prices, layers;
    const char *history;
};

/* The parsed options; NULL where nothing was given. */
struct pythia__search_given {
    struct pythia_open_points *always, *never;
    struct pythia_prices *prices;
    struct pythia_layers *layers;
    struct pythia_history *history;
};

/* Pins, prices and layers. One of them that fits no trace point is told: none of the space, or if
 * that is NULL none that was read. PYTHIA_ENOMEM, or told: PYTHIA_EUSAGE for what contradicts
 * itself, the skeleton, or is no price or layer; PYTHIA_EIO or PYTHIA_EFORMAT for a file. */
int pythia__search_options_read(const struct pythia__search_settings *s,
                                struct pythia_vocabulary *vocabulary,
                                const struct pythia_space *space, struct pythia__search_given *out);

/* The record of earlier searches. With `create` a file that is not there yet is an empty one.
 * PYTHIA_OK, PYTHIA_ENOMEM, or told: PYTHIA_EUSAGE, PYTHIA_EIO, PYTHIA_EFORMAT. */
int pythia__history_read(const char *path, bool create, struct pythia_history **out);

/* Add to the record in a file, which another search may have added to in the meantime: it is
 * replaced wholly or not at all. As above. */
int pythia__history_append(const char *path, const struct pythia_history *more);

/* Free everything that was read for the options. */
void pythia__search_given_free(struct pythia__search_given *g);

#endif
