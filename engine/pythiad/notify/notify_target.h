/* The recipients of notifications, as the settings name them, and the body for each format. */
#ifndef PYTHIA_PYTHIAD_NOTIFY_TARGET_H
#define PYTHIA_PYTHIAD_NOTIFY_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "pythia/buf.h"
#include "pythia/error.h"

#define PYTHIA__NOTIFY_FORMATS "json|slack|alertmanager"

enum pythia__notify_format {
    PYTHIA__NOTIFY_JSON,
    PYTHIA__NOTIFY_SLACK,
    PYTHIA__NOTIFY_ALERTMANAGER,
};

struct pythia__notify_target {
    char url[2048];
    enum pythia__notify_format format;
};

/* Read "URL [FORMAT]". PYTHIA_OK, or PYTHIA_EUSAGE with the reason in `e`, which does not repeat
 * the URL: that may be a secret. */
int pythia__notify_target_read(const char *text, struct pythia__notify_target *out,
                               struct pythia_error *e);

/* Append the body that says of a verdict of the report (pythia-report(5)) that it is new, or that
 * the earlier one is refuted. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__notify_body(enum pythia__notify_format format, const json_t *verdict, bool refuted,
                        uint64_t unix_ns, struct pythia_buf *to);

#endif
