/* SPDX-License-Identifier: MIT */
/* The functions to hook, and the values to record: a plan, which `pythia run` writes and the shim
 * reads in the program. A file of lines, fields with tabs between:
 *
 *     pythia-hooks 1
 *     point <name> <module> <class> <function> <flags> <error> <types> <keys> <callback>
 *
 * flags: "open" or "closed", then ",request" or ",request=<source>" if a request begins with it.
 * types: of requests, with unit separators (0x1F) between; keys with commas between. An empty field
 * is "-". A callback is <file>:<function>, whose file has a slash in it, or <module>:<function> of
 * Python. Names with control characters do not come as far as this. */
#ifndef PYTHIA_PLAN_H
#define PYTHIA_PLAN_H

#include <stddef.h>
#include <stdint.h>

#define PYTHIA__PLAN_HEAD    "pythia-hooks 1\n"
#define PYTHIA__PLAN_POINTS  65536
#define PYTHIA__PLAN_KEYS    16 /* of one point */
#define PYTHIA__PLAN_TEXT    64 /* bytes of a string that is kept, unless it says otherwise */
#define PYTHIA__PLAN_ARG_MAX 16 /* arguments of one kind */

enum pythia__source_kind {
    PYTHIA__FROM_ARGUMENT, /* of the integers and pointers, the index-th */
    PYTHIA__FROM_FLOATING, /* of the floats and doubles */
    PYTHIA__FROM_RETURN,
    PYTHIA__FROM_CALLER, /* where it was called */
    PYTHIA__FROM_METRIC, /* by how much the index-th of pythia__metrics has grown meanwhile */
};

/* Those of storage and memory, counters of the processor (counters.h), and what the kernel counts
 * for a thread on any machine. */
enum pythia__metric {
    PYTHIA__METRIC_RSS,
    PYTHIA__METRIC_READ_BYTES,
    PYTHIA__METRIC_WRITE_BYTES,
    PYTHIA__METRIC_CPU_NS,
    PYTHIA__METRIC_PAGE_FAULTS,
    PYTHIA__METRIC_CONTEXT_SWITCHES,
    PYTHIA__METRIC_COUNTERS, /* and from there on one for each enum pythia__counter */
};
#define PYTHIA__METRICS (PYTHIA__METRIC_COUNTERS + 4)
#define PYTHIA__METRIC_NAMES                                                                       \
    "rss, read_bytes, write_bytes, cpu_ns, page_faults, context_switches, cycles, instructions, "  \
    "cache_misses and branch_misses"
extern const char *const pythia__metrics[PYTHIA__METRICS];

enum pythia__source_type {
    PYTHIA__AS_SIGNED,
    PYTHIA__AS_UNSIGNED,
    PYTHIA__AS_BOOL,
    PYTHIA__AS_FLOAT,
    PYTHIA__AS_DOUBLE,
    PYTHIA__AS_TEXT,
    PYTHIA__AS_PLACE,
};

/* A key-value: "arg0:i64", "name=arg1:str8", "farg0:f64", "ret", "caller", "rss"
 * (which is called metric.rss unless it says otherwise). */
struct pythia__key {
    enum pythia__source_kind from;
    enum pythia__source_type as;
    uint16_t index;
    uint16_t bytes; /* of the number; of a text at most */
    char name[64];
    uint8_t name_bytes;
};

/* Read one; 0, or -EINVAL and why not in `why` (256 bytes). */
int pythia__key_parse(const char *text, size_t bytes, struct pythia__key *out, char *why);

enum pythia__error_kind {
    PYTHIA__ERROR_NEVER,
    PYTHIA__ERROR_NEGATIVE, /* "negative": the function has failed if it returns an int below 0 */
    PYTHIA__ERROR_ZERO,     /* "zero", "null" */
    PYTHIA__ERROR_NONZERO,  /* "nonzero" */
};

/* "-" or "" is never; -EINVAL if it is none of them. */
int pythia__error_parse(const char *text, enum pythia__error_kind *out);

/* A point as it is declared. Strings are NUL-terminated. */
struct pythia__declared {
    const char *name, *module, *class_name, *function; /* "" for none */
    const char *types;                                 /* with 0x1F between; "": all */
    const char *callback;                              /* "" for none */
    int open, request;
    struct pythia__key request_key; /* names the request; name_bytes 0: the point's name does */
    enum pythia__error_kind error;
    struct pythia__key keys[PYTHIA__PLAN_KEYS];
    size_t key_count;
};

/* Read the next line of a plan, which is changed for it and stays behind the strings. 1: there was
 * one; 0: the end; -EINVAL. */
int pythia__plan_next(char **text, struct pythia__declared *out);

/* Is a symbol of the dynamic linker the function that is declared? With a class, "ns::Class", any
 * overload of it counts: what the C++ ABI (Itanium) makes of its name begins so. */
int pythia__declared_is(const char *class_name, const char *function, const char *symbol);

/* The reason why a function cannot be hooked, a sentence; NULL: it can. */
const char *pythia__unhookable(const char *function);

/* Does the file of an object fit a declared module: "", "*", its name, its name without what is
 * behind ".so", or a pattern of its path? */
int pythia__module_is(const char *module, const char *path);

#endif
