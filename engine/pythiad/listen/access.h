/* Access control: the roles, the credentials that give them, and the routes that need them. One
 * table serves the listeners, the check of the settings and the manual. */
#ifndef PYTHIA_PYTHIAD_ACCESS_H
#define PYTHIA_PYTHIAD_ACCESS_H

#include <stdbool.h>
#include <stddef.h>

#include "pythia/buf.h"

enum pythia__role {
    PYTHIA__ROLE_PUBLIC, /* whoever reaches the listener; for all others, no page of another site */
    PYTHIA__ROLE_READ,   /* see what pythiad knows */
    PYTHIA__ROLE_INGEST, /* send traces */
    PYTHIA__ROLE_AGENT,  /* register trace points, and get the list of those to open */
    PYTHIA__ROLE_CONTROL, /* open, close and pin trace points, and switch everything off */
    PYTHIA__ROLES,
};

enum pythia__listener {
    PYTHIA__AT_OTLP_GRPC,
    PYTHIA__AT_OTLP_HTTP,
    PYTHIA__AT_ZIPKIN,
    PYTHIA__AT_CONTROL, /* and the control socket */
    PYTHIA__LISTENERS,
};

struct pythia__role_rule {
    const char *name, *permits;
    const char *token; /* name of the setting whose file has the role's own token; NULL: none */
    /* The role whose token serves too: always, or only where the role has none of its own. */
    enum pythia__role other; /* PYTHIA__ROLE_PUBLIC: nobody's */
    bool other_always;
    bool needs_credential; /* a listener beyond this machine asks for a token or a certificate */
};

/* The role that a route needs. Every route of every listener has a row: one that has none is a
 * mistake of ours, which is asserted, and needs PYTHIA__ROLE_CONTROL. */
enum pythia__role pythia__route_role(enum pythia__listener at, const char *method,
                                     const char *path);

/* Static strings: "read", "otlp-http". */
const char *pythia__role_name(enum pythia__role role);
const char *pythia__listener_name(enum pythia__listener at);

/* The tokens that serve for a role, of which one has to be given: out[0] and out[1], both NULL if
 * none is asked for. `own` are the tokens of the roles, NULL where there is none. Borrowed. */
void pythia__role_tokens(enum pythia__role role, const char *const own[PYTHIA__ROLES],
                         const char *out[2]);

/* Append the section of the manual, in scdoc's form. */
void pythia__access_manual(struct pythia_buf *to);

#endif
