/* The probes that one client of pythia-probe has attached. A message asks for one thing, and has an
 * answer:
 *
 *     attach postgresql:query__start /usr/lib/…/postgres   ->   attached 3 postgresql:query… /usr/…
 *     detach postgresql:query__start /usr/lib/…/postgres   ->   detached postgresql:query… /usr/…
 *                                               anything   ->   refused ID: a sentence
 *
 * There are other verbs that attach (probe_id.h). What is attached has a lease, which each further
 * message of this kind renews; it attaches the probe anew if the program was replaced meanwhile. */
#ifndef PYTHIA_PROBE_SESSION_H
#define PYTHIA_PROBE_SESSION_H

#include <sys/stat.h>

#include "pythia/allow_list.h"
#include "pythia/buf.h"
#include "pythia/probe_id.h"

#define PYTHIA__MESSAGE_BYTES 4608 /* of a path, a provider, a name and a verb */
#define PYTHIA__SITES_MAX     256  /* of a probe */
#define PYTHIA__ATTACHED_MAX  256  /* probes */

/* Opened probes: they are gone when their descriptors are. */
struct pythia__sites {
    struct stat file; /* that they are in */
    int *events;      /* owned, like the descriptors */
    size_t count;
};

/* How sites are opened; a fuzzer has another one. */
struct pythia__opener {
    /* Open all sites of a probe. PYTHIA_OK with *out to be closed, or negative with the reason in
     * `e`. */
    int (*open)(struct pythia__opener *o, const struct pythia_probe_message *m, uint16_t texts,
                uint32_t number, struct pythia__sites *out, struct pythia_error *e);
};

struct pythia__attached {
    char *id; /* owned: "PROVIDER:NAME PATH", with the process that it is of */
    uint32_t number;
    uint64_t until_ns;
    struct pythia__sites sites;
};

struct pythia__session {
    const struct pythia_allow_list *allowed;
    struct pythia__opener *opener;
    uint64_t lease_ns;
    struct pythia__attached *attached; /* owned */
    size_t count, capacity;
    uint32_t last; /* number that was given */
};

/* Do what a message asks for, and append the answer. */
void pythia__session_answer(struct pythia__session *s, struct pythia_text message, uint64_t now_ns,
                            struct pythia_buf *answer);

/* Detach whatever has outlived its lease. */
void pythia__session_expire(struct pythia__session *s, uint64_t now_ns);

/* Detach everything. */
void pythia__session_end(struct pythia__session *s);

#endif
