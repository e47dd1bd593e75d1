/* SPDX-License-Identifier: MIT */
#ifndef PYTHIA_VARIABLE_H
#define PYTHIA_VARIABLE_H

/* Variables of a program that may explain its requests: the length of a queue, bytes that are on
 * their way, how often something was tried again. After the performance variables of SYMBIOSYS
 * (Ramesh et al.) and of MPI_T.
 *
 *     static long waiting;
 *     struct pythia_variable_source source = PYTHIA_SOURCE_LONG(&waiting);
 *     pythia_variable_define("queue length", PYTHIA_CLASS_LEVEL, PYTHIA_BIND_PROCESS, &source);
 *
 *     int tries = pythia_variable_define("tries", PYTHIA_CLASS_COUNTER, PYTHIA_BIND_REQUEST, NULL);
 *     …
 *     pythia_variable_add(tries, 1);
 *
 * One that is bound to the process is looked at whenever a span is entered that is recorded, and is
 * a key-value of it, unless the thread has just said the same of the same request. One that is
 * bound to requests is what the program says while a request is at hand; it is a key-value of the
 * innermost span that is open, and is lost with the request. Keys are "variable.<name>". pythia
 * makes of all values of one request their maximum, mean and last one.
 *
 * Any thread. Nothing here waits; while no span is open, what is said of a request is nothing. */

#include <pythia/tracepoints.h>
#include <stddef.h>
#include <stdint.h>

enum pythia_variable_class {
    PYTHIA_CLASS_STATE,         /* one of several, as a number */
    PYTHIA_CLASS_LEVEL,         /* how much there is now: may rise and fall */
    PYTHIA_CLASS_SIZE,          /* of something that does not change */
    PYTHIA_CLASS_TIMER,         /* seconds spent */
    PYTHIA_CLASS_COUNTER,       /* how often: only rises */
    PYTHIA_CLASS_HIGHWATERMARK, /* the most there was */
    PYTHIA_CLASS_LOWWATERMARK,  /* the least */
};

enum pythia_variable_binding {
    PYTHIA_BIND_PROCESS, /* NO_OBJECT there */
    PYTHIA_BIND_REQUEST, /* HANDLE there */
};

enum pythia_variable_type {
    PYTHIA_VARIABLE_INT,
    PYTHIA_VARIABLE_UNSIGNED,
    PYTHIA_VARIABLE_LONG,
    PYTHIA_VARIABLE_UNSIGNED_LONG,
    PYTHIA_VARIABLE_DOUBLE,
    PYTHIA_VARIABLE_ASKED, /* by a function */
};

/* The source of the value of a process's variable: an address that stays, which is read as one
 * machine word, or a function, which is called at most once in a millisecond, by one thread at a
 * time; it must not wait. */
struct pythia_variable_source {
    enum pythia_variable_type type;
    const void *address;
    double (*ask)(void *context);
    void *context;
};

#define PYTHIA_SOURCE_INT(address)                                                                 \
    {                                                                                              \
        PYTHIA_VARIABLE_INT, (address), PYTHIA__NULL, PYTHIA__NULL                                 \
    }
#define PYTHIA_SOURCE_UNSIGNED(address)                                                            \
    {                                                                                              \
        PYTHIA_VARIABLE_UNSIGNED, (address), PYTHIA__NULL, PYTHIA__NULL                            \
    }
#define PYTHIA_SOURCE_LONG(address)                                                                \
    {                                                                                              \
        PYTHIA_VARIABLE_LONG, (address), PYTHIA__NULL, PYTHIA__NULL                                \
    }
#define PYTHIA_SOURCE_UNSIGNED_LONG(address)                                                       \
    {                                                                                              \
        PYTHIA_VARIABLE_UNSIGNED_LONG, (address), PYTHIA__NULL, PYTHIA__NULL                       \
    }
#define PYTHIA_SOURCE_DOUBLE(address)                                                              \
    {                                                                                              \
        PYTHIA_VARIABLE_DOUBLE, (address), PYTHIA__NULL, PYTHIA__NULL                              \
    }
#define PYTHIA_SOURCE_ASKED(function, context)                                                     \
    {                                                                                              \
        PYTHIA_VARIABLE_ASKED, PYTHIA__NULL, (function), (context)                                 \
    }

#define PYTHIA_VARIABLES           128 /* of a process */
#define PYTHIA_VARIABLE_NAME_BYTES 100

struct pythia_variable_info {
    char name[PYTHIA_VARIABLE_NAME_BYTES + 1];
    enum pythia_variable_class of_class;
    enum pythia_variable_binding binding;
    enum pythia_variable_type type; /* of one bound to requests: DOUBLE */
    double value;                   /* as it was last seen; NaN: never */
};

#ifndef PYTHIA_TRACEPOINTS_DISABLE

#ifdef __cplusplus
extern "C" {
#endif

/* Define a variable: its number, from 1; the same for a name that is defined already, which must
 * then be of the same class and binding. -EINVAL: another class or binding, a source missing or one
 * too many, or a name that is empty or too long; -ENOSPC: there are 128; -EBUSY: not just now.
 * Variables stay for as long as the process runs, and children of fork have them. */
PYTHIA_API int pythia_variable_define_sized(const char *name, enum pythia_variable_class of_class,
                                            enum pythia_variable_binding binding,
                                            const struct pythia_variable_source *source,
                                            size_t source_bytes);
static inline int pythia_variable_define(const char *name, enum pythia_variable_class of_class,
                                         enum pythia_variable_binding binding,
                                         const struct pythia_variable_source *source)
{
    return pythia_variable_define_sized(name, of_class, binding, source, sizeof(*source));
}

/* Say what a variable of the current request is. STATE, LEVEL and SIZE: the value; _TIMER and
 * _COUNTER: more of it, as by _add; _HIGHWATERMARK and _LOWWATERMARK: what may be the most or the
 * least. A number that is no such variable's is passed over. */
PYTHIA_API void pythia_variable_set(int variable, double value);

/* As above, for the change of a LEVEL, and for more of a TIMER or COUNTER, within the request. */
PYTHIA_API void pythia_variable_add(int variable, double change);

/* The number of defined variables, and variable number `variable`, from 1; -ENOENT. */
PYTHIA_API int pythia_variable_count(void);
PYTHIA_API int pythia_variable_get_sized(int variable, struct pythia_variable_info *out,
                                         size_t out_bytes);
static inline int pythia_variable_get(int variable, struct pythia_variable_info *out)
{
    return pythia_variable_get_sized(variable, out, sizeof(*out));
}

/* List the variables of all processes that record in a directory (NULL: where they look for it),
 * from outside. `each` gets the process, its service (NUL-terminated) and one variable; not 0
 * ends it, and is returned. Negative errno, and `why` (256 bytes, or NULL): it cannot be read.
 * Areas that are broken are passed over. */
PYTHIA_API int pythia_variables_list(const char *directory,
                                     int (*each)(void *context, int process, const char *service,
                                                 const struct pythia_variable_info *variable),
                                     void *context, char *why);

#ifdef __cplusplus
}
#endif

#else

static inline int pythia_variable_define(const char *name, enum pythia_variable_class of_class,
                                         enum pythia_variable_binding binding,
                                         const struct pythia_variable_source *source)
{
    (void)name, (void)of_class, (void)binding, (void)source;
    return 1;
}
static inline void pythia_variable_set(int variable, double value)
{
    (void)variable, (void)value;
}
static inline void pythia_variable_add(int variable, double change)
{
    (void)variable, (void)change;
}

#endif
#endif
