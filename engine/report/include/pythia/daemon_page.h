#ifndef PYTHIA_DAEMON_PAGE_H
#define PYTHIA_DAEMON_PAGE_H

#include <stdint.h>

#include "pythia/buf.h"

struct json_t;

/* What a running pythiad shows of itself; the documents are those of its control interface, and all
 * are borrowed. */
struct pythia_daemon_page {
    const struct json_t *status;    /* of /v1/status */
    const struct json_t *points;    /* of /v1/points */
    const struct json_t *decisions; /* of /v1/decisions: the latest first */
    const struct json_t *verdicts;  /* of the last cycle's report; NULL: there was none yet */
    const char *report_path;        /* where it can be read whole */
    uint64_t now_unix_ns;           /* ages are told from here */
    const char *script_path;        /* keeps the page current in a browser; NULL: it is static */
    unsigned refresh_s;             /* period of reloads where that script does not run */
};

/* Append a page for a person: what it does, what it found, which trace points are open and why, and
 * whether it is well. It needs no file but its script; names are escaped. Closed
 * trace points beyond 1000 are counted only. PYTHIA_OK or PYTHIA_ENOMEM. O(what it shows). */
int pythia_daemon_page_write(const struct pythia_daemon_page *page, struct pythia_buf *out);

#endif
