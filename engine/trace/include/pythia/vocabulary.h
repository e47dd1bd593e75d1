#ifndef PYTHIA_VOCABULARY_H
#define PYTHIA_VOCABULARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/text.h"

/* The names that traces share: strings, trace points and resources, each once and by number. Any
 * number of threads. The numbers depend on who comes first, so nothing that a person sees may
 * depend on them. */
struct pythia_vocabulary;
#define PYTHIA_NONE                                                                                \
    UINT32_MAX /* no such number, or out of memory where a number was to be made                   \
                */

/* Make a vocabulary without names. PYTHIA_OK with *out owned, or PYTHIA_ENOMEM. */
int pythia_vocabulary_create(struct pythia_vocabulary **out);
void pythia_vocabulary_destroy(struct pythia_vocabulary *v); /* v may be NULL */

/* A reader of an endless stream has to bound this, because the number of names is unlimited. Of
 * each kind half of the limit is for any name, and the other half for those that come often (16
 * times among the last 130 000 or so), so that what matters still gets in when a flood has passed.
 * What does not get in is counted and taken for something else: a string for "(other)", a trace
 * point for the one of its service with that name, a resource for one of which only the service is
 * known. */
struct pythia_vocabulary_limits {
    uint32_t strings, tracepoints, resources; /* 0: none */
    size_t bytes; /* of memory, for all of it; then nothing more gets in. 0: none */
};

/* Limits hold from now on, and what is known stays. Call it before other threads name anything.
 * PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_vocabulary_limit(struct pythia_vocabulary *v,
                            const struct pythia_vocabulary_limits *limits);

struct pythia_vocabulary_numbers {
    uint32_t strings, tracepoints, resources;
    size_t bytes;
    uint64_t other_strings, other_tracepoints, other_resources; /* times that one did not get in */
};
struct pythia_vocabulary_numbers pythia_vocabulary_numbers(const struct pythia_vocabulary *v);

/* Is it the string that stands for those beyond the limit? It may be another one the next time: a
 * cache in front does not keep it. */
bool pythia_vocabulary_is_other(const struct pythia_vocabulary *v, uint32_t string);

/* A string's number (0 is the empty string), and a number's string, NUL-terminated and borrowed
 * until _destroy. */
uint32_t pythia_vocabulary_string(struct pythia_vocabulary *v, struct pythia_text text);
uint32_t pythia_vocabulary_string_find(const struct pythia_vocabulary *v,
                                       struct pythia_text text); /* PYTHIA_NONE: there is none */
struct pythia_text pythia_vocabulary_text(const struct pythia_vocabulary *v, uint32_t string);

/* A place in a program that can report a span: what is opened and closed. All members are numbers
 * of strings. Sources that name trace points themselves may give one id to several services, or two
 * names: of these the first in the order of texts is kept, whoever comes first. */
struct pythia_tracepoint {
    uint32_t id; /* "<service>:<name>", with ":<scope>" between them where there is one; unique */
    _Atomic uint32_t service; /* 0: not known */
    _Atomic uint32_t name;    /* of its spans */
    uint32_t pattern; /* the id with identifiers in it replaced (pythia_text_template); often the id
                         itself */
};

/* The number of the trace point of a service, an instrumentation scope (0: none) and a name; all
 * are numbers of strings. Identifiers in the name are replaced first: "GET /users/17" is a place
 * only as "GET /users/{id}". */
uint32_t pythia_vocabulary_tracepoint(struct pythia_vocabulary *v, uint32_t service, uint32_t scope,
                                      uint32_t name);

/* As above, for a source that names its trace points itself: `id` is taken as it is. */
uint32_t pythia_vocabulary_tracepoint_of_id(struct pythia_vocabulary *v, struct pythia_text id,
                                            uint32_t service, uint32_t name);

/* The number of the trace point with that id, PYTHIA_NONE if there is none. */
uint32_t pythia_vocabulary_tracepoint_find(const struct pythia_vocabulary *v,
                                           struct pythia_text id);

/* Borrowed: until _destroy. Nothing of a trace point changes but a service or name that several
 * share, while names are still added. */
const struct pythia_tracepoint *pythia_vocabulary_tracepoint_at(const struct pythia_vocabulary *v,
                                                                uint32_t tracepoint);
uint32_t
pythia_vocabulary_tracepoints(const struct pythia_vocabulary *v); /* how many: 0, 1, … below it */

/* The id, and the pattern, of a trace point, as text. */
struct pythia_text pythia_vocabulary_tracepoint_id(const struct pythia_vocabulary *v,
                                                   uint32_t tracepoint);
struct pythia_text pythia_vocabulary_tracepoint_pattern(const struct pythia_vocabulary *v,
                                                        uint32_t tracepoint);

/* ---- what tracing costs ---- */

/* The cost of one hit of a trace point for the traced program, which programs measure on some
 * of their passes. Sums are whole numbers, so that they do not depend on who comes first. */
struct pythia_cost {
    uint64_t passes; /* that were measured */
    uint64_t ns;     /* of all of them */
};

#define PYTHIA_COST_FEW 16 /* passes: what is measured of fewer is not believed by itself */

/* One more pass was measured; PYTHIA_NONE: one of no point, in a loop, which stands for those of
 * which there are few. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_vocabulary_cost_add(struct pythia_vocabulary *v, uint32_t tracepoint, uint64_t ns);

/* A point whose cost is measured, even if it has not been yet. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_vocabulary_cost_expect(struct pythia_vocabulary *v, uint32_t tracepoint);

/* Is the cost of that point measured, even if it has not been yet? */
bool pythia_vocabulary_cost_is_expected(const struct pythia_vocabulary *v, uint32_t tracepoint);

/* Add what another process has measured of a point, or of passes in a loop: the prices of _cost_ns
 * are those of all passes then, those of _cost_now_ns stay. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_vocabulary_cost_merge(struct pythia_vocabulary *v, uint32_t tracepoint,
                                 struct pythia_cost cost);

/* The measured cost of a point; PYTHIA_NONE: of hits in a loop. */
struct pythia_cost pythia_vocabulary_cost(const struct pythia_vocabulary *v, uint32_t tracepoint);

/* ns of one pass of a point. Where fewer than PYTHIA_COST_FEW were measured, the mean of all other
 * points counts as that many, in which the mean of a loop counts as that many passes too. NaN if
 * its cost is not measured: it is another tool's. */
double pythia_vocabulary_cost_ns(const struct pythia_vocabulary *v, uint32_t tracepoint);

/* The price of the next hits, for what is decided now: the mean of the last 32 measured hits of the
 * point without the most expensive sixteenth of them, which an interrupt or a page fault has
 * lengthened. Those of a program's first hits, which find no memory yet, are forgotten so. Where
 * fewer than PYTHIA_COST_FEW remain, the last 256 hits of all points stand in as above. It depends
 * on the order of hits. NaN as above. O(1), or O(256 log 256) after another hit was added. */
double pythia_vocabulary_cost_now_ns(const struct pythia_vocabulary *v, uint32_t tracepoint);

/* Whatever reported a span: a process on a host, with the key-values that all its spans have in
 * common. */
struct pythia_resource {
    uint32_t service, host;        /* numbers of strings; 0: not known */
    uint32_t instance;             /* tells apart processes of one service and host; 0: not known */
    struct pythia_text attributes; /* encoded, see attributes.h */
};

/* The number of a resource with this content (copied); number 0 is one about which nothing is
 * known. */
uint32_t pythia_vocabulary_resource(struct pythia_vocabulary *v,
                                    const struct pythia_resource *resource);
struct pythia_resource pythia_vocabulary_resource_at(const struct pythia_vocabulary *v,
                                                     uint32_t resource);

#endif
