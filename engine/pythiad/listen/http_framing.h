/* Requests whose framing two readers could understand differently: a proxy one way, pythiad
 * another. libmicrohttpd takes most of them. RFC 9112 and RFC 9110 have them refused. SECURITY.md
 * lists what cannot be seen here, because libmicrohttpd does not hand it over, such as a NUL in a
 * value, after which the rest is dropped. */
#ifndef PYTHIA_PYTHIAD_HTTP_FRAMING_H
#define PYTHIA_PYTHIAD_HTTP_FRAMING_H

#include <microhttpd.h>
#include <stdbool.h>

/* May a request-target be taken, as it was sent? Not if it has an escape that is none, one for NUL,
 * or a character that has to be escaped. */
bool pythia__http_target_is_good(const char *target);

/* Look at the version, the path as libmicrohttpd gave it, and all headers of a request. 0, or the
 * status of a refusal with the reason in *why (static, a line); the connection has to be closed
 * then, because it is not known where the request ends. O(size of the headers). */
unsigned pythia__http_framing_fault(struct MHD_Connection *mhd, const char *version,
                                    const char *path, const char **why);

/* The start of the path in a target of absolute form ("http://HOST/path", RFC 9112, 3.2.2); any
 * other target is its path. Borrowed from `target`. */
const char *pythia__http_target_path(const char *target);

#endif
