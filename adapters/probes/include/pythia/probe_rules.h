#ifndef PYTHIA_PROBE_RULES_H
#define PYTHIA_PROBE_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/arena.h"
#include "pythia/buf.h"
#include "pythia/error.h"
#include "pythia/layer.h"

/* How probes become spans: a file of YAML, which probe pairs with which.
 *
 *     service: postgresql                  # of the spans
 *     provider: postgresql                 # of the probes
 *     programs: [/usr/lib/postgresql/15/bin/postgres]
 *     points:
 *       query:                             # a span from query__start to query__done …
 *         request: true                    # … of its thread, which is a request
 *         type: text                       # requests of one type have this key alike
 *         keys: {text: start 1 text}       # the first argument of query__start, a text
 *       lock__wait:
 *         start: lock__wait__start         # what it is if it is not said
 *         done: lock__wait__done
 *         keys: {mode: start 6}
 *         kernel: [waits, block_io]        # what the kernel did meanwhile, as further keys
 *       commit:
 *         function: _Z12trans_commitP3THD  # of a program that has no probes: from call to return
 *         keys: {failed: done 1 int}       # what it returns, an int
 *       charge: {function: shop_charge, keys: {id: start order_id}} # an argument by its name
 *       off_disk: {wait: block_io}         # in the kernel: a wait of a thread in a request
 *     include: [glibc.yaml]                # the programs and points of other files, too
 *     layer: application                   # of the points of this file; waits are the kernel's
 *
 * Spans nest as their hits do: a pair that begins while another one of its thread is open is below
 * it. Outside of a request nothing is recorded. A point with "only" has the hits alone whose texts
 * are as it says: "only: {name: do_GET}". */
struct pythia_probe_key {
    const char *name;
    uint8_t argument; /* 0 for the first; PYTHIA_PROBE_ARGUMENT_NAMED: it is not known yet */
    const char *argument_name; /* of a function's argument, whose number and kind its debug
                                  information has, or of an event's field; NULL: `argument` says */
    bool done;                 /* of the probe that ends the span */
    bool text;
    bool is_int;      /* 32 bits with a sign; the rest of its register belongs to nobody */
    bool is_real;     /* a double: of events alone */
    const char *only; /* the text that it must be; NULL: any */
};

#define PYTHIA_PROBE_ARGUMENT_NAMED 255
#define PYTHIA_PROBE_KEYS_MAX       8
#define PYTHIA_PROBE_POINTS_MAX     256
#define PYTHIA_PROBE_PROGRAMS_MAX   16

struct pythia_probe_point {
    const char *name, *provider;
    const char *probes[2]; /* that begins it, that ends it */
    bool request;
    int type; /* index of a key, or -1 */
    struct pythia_probe_key keys[PYTHIA_PROBE_KEYS_MAX];
    size_t key_count;
    bool has_names;                      /* some key has an argument_name */
    uint32_t kernel_events, kernel_sums; /* what is told of the kernel (kernel_points.h) */
    enum pythia_layer layer;
    bool is_wait; /* it has no probes: its spans are the waits of this kind */
    uint8_t wait; /* enum pythia_kernel_sum */
};

struct pythia_probe_rules {
    const char *service, *provider; /* provider is NULL if all points are functions */
    const char *programs[PYTHIA_PROBE_PROGRAMS_MAX];
    size_t program_count;
    struct pythia_probe_point *points; /* owned */
    size_t point_count;
    struct pythia_arena texts;
};

/* Read rules from a file, or from bytes (`name` is for messages). PYTHIA_OK with *out to be freed,
 * or negative with file, line and reason in `e`. */
int pythia_probe_rules_read(const char *path, struct pythia_probe_rules *out,
                            struct pythia_error *e);
int pythia_probe_rules_parse(const char *name, const char *bytes, size_t size,
                             struct pythia_probe_rules *out, struct pythia_error *e);

/* As pythia_probe_rules_parse, but of events of a tracer, whose fields are the arguments: programs
 * are not needed, each argument may have a name, and "real" may be behind it. */
int pythia_event_rules_parse(const char *name, const char *bytes, size_t size,
                             struct pythia_probe_rules *out, struct pythia_error *e);

/* Append a file of rules, of at most 1 MiB, to `text`. PYTHIA_OK, or negative with file and reason
 * in `e`. */
int pythia_rules_file_read(const char *path, struct pythia_buf *text, struct pythia_error *e);
void pythia_probe_rules_free(struct pythia_probe_rules *rules);

#endif
