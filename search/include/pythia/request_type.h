#ifndef PYTHIA_REQUEST_TYPE_H
#define PYTHIA_REQUEST_TYPE_H

#include "pythia/path_templates.h"
#include "pythia/trace.h"
#include "pythia/vocabulary.h"

/* The type of a request, derived from its trace: requests of one type should behave alike. */
struct pythia_request_types;

/* The key that programs tell the type by: libpythia-tracepoints says the kind of the request by it,
 * with the first of its spans in each process. */
#define PYTHIA_REQUEST_TYPE_KEY "request_type"

#define PYTHIA_LEFT_OUT_DEFAULT                                                                    \
    "*/auth/tokens*" /* of OpenStack: getting a token is no part of what is asked for */

struct pythia_request_type_options {
    const char
        *attribute; /* a key whose value, on a root or else on any span, is the type; NULL: none */
    const char *const *left_out; /* patterns (fnmatch) of the ids of root trace points that do not
                                    count; borrowed */
    size_t left_out_count;
    struct pythia_path_templates *templates; /* learn from paths, and are shared by all that name
                                                requests; NULL: nothing is learnt; borrowed */
    bool mark_paths; /* put a line break before the path of a name that has one (5): the name is no
                        other type's then, and can be changed when more is learnt */
};

/* `vocabulary` is borrowed. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_request_types_create(struct pythia_vocabulary *vocabulary,
                                const struct pythia_request_type_options *options,
                                struct pythia_request_types **out);
void pythia_request_types_destroy(struct pythia_request_types *r); /* r may be NULL */

/* The type of a trace as the number of a string of the vocabulary; PYTHIA_NONE when out of memory.
 * The first that there is:
 *   1  the value of the configured attribute;
 *   2  what the program calls it: the text under PYTHIA_REQUEST_TYPE_KEY on a root, or else on the
 *      span of the first root's process that began first: it stays the same whichever trace points
 *      are open;
 *   3  of a single root that says its route: "<service> <METHOD> <http.route>",
 *      "<service> <rpc.service>/<rpc.method>", or
 *      "<service> <messaging.operation.name> <messaging.destination.template>";
 *   4  the names of the roots, unless a single one is only an HTTP method: the ids of their trace
 *      points, identifiers in them replaced, each once, in order of name, " + " between them. Roots
 *      that are left out do not count, unless nothing would be left;
 *   5  "<service> <METHOD> <path>", of a root that says nothing but its URL: identifiers in the
 *      path are replaced, and segments that were learnt to be variables (path_templates.h). Whoever
 *      needs all requests of an input under their last names reads it again when the templates
 *      have changed.
 * O(roots), and O(spans) for an attribute that is on no root. */
uint32_t pythia_request_type(struct pythia_request_types *r, const struct pythia_trace *trace);

/* The start of the path in the name of the last request's type; 0 if it has none, or paths are
 * not marked. */
uint32_t pythia_request_type_path_at(const struct pythia_request_types *r);

/* Was the last request's type its path (5)? Then it may have another name once more is learnt. */
bool pythia_request_type_was_path(const struct pythia_request_types *r);

#endif
