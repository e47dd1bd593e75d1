#ifndef PYTHIA_EXPECTATION_H
#define PYTHIA_EXPECTATION_H

#include <stdbool.h>
#include <stddef.h>

#include "pythia/error.h"
#include "pythia/key_value.h"

/* The expectations of a user: which requests should be alike, and how fast. */

/* As written by the user; NULL if missing. */
struct pythia_expectation_text {
    const char *type;         /* request types: a name, or a pattern (fnmatch) */
    const char *where;        /* "queue_length < 2": of these, requests with such a value */
    const char *p99;          /* "< 250ms": the 99th percentile of the durations */
    const char *cov;          /* "< 0.3": their coefficient of variation */
    const char *same_path_as; /* request types, likewise: whose usual path they take */
};

enum pythia_expectation_operator {
    PYTHIA_COMPARES_BELOW,
    PYTHIA_COMPARES_AT_MOST,
    PYTHIA_COMPARES_ABOVE,
    PYTHIA_COMPARES_AT_LEAST,
    PYTHIA_COMPARES_EQUAL,
    PYTHIA_COMPARES_UNEQUAL,
};

/* All texts are owned. */
struct pythia_expectation {
    char *type, *same_path_as;  /* same_path_as NULL: nothing is expected of the path */
    char *where;                /* as it was written; NULL: all requests of the type */
    struct pythia_key_name key; /* of where; its text is a part of `where`, like `value` */
    enum pythia_expectation_operator comparison;
    struct pythia_text value;
    double number; /* the value as a number; NaN: it is none */
    double p99_ns; /* NaN: nothing is expected of it */
    double cov;    /* likewise */
};

struct pythia_expectations {
    struct pythia_expectation *list;
    size_t count, capacity;
};

/* Read one and add it. PYTHIA_OK, PYTHIA_ENOMEM, or PYTHIA_EUSAGE with what to write instead. */
int pythia_expectations_add(struct pythia_expectations *all,
                            const struct pythia_expectation_text *text, struct pythia_error *e);
void pythia_expectations_free(struct pythia_expectations *all); /* a zeroed one is fine */

/* Does a request with this value of the key meet the condition? A request without the key does not.
 * `text` is the value as text. */
bool pythia_expectation_meets(const struct pythia_expectation *x,
                              const struct pythia_key_value *value, struct pythia_text text);

#endif
