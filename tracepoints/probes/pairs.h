/* SPDX-License-Identifier: MIT */
/* How probes become spans, for all that make spans of them: in the program itself (hits.c), and in
 * pythiad from what the kernel has seen of it (adapters/probes). */
#ifndef PYTHIA_PAIRS_H
#define PYTHIA_PAIRS_H

#include <stddef.h>
#include <stdint.h>

#define PYTHIA__PAIRS_DEPTH 32
#define PYTHIA__TYPE_BYTES  120 /* of a statement that its type has */

/* The points that are open on a thread, the outermost first. */
struct pythia__pairs {
    uint32_t depth;
    uint32_t points[PYTHIA__PAIRS_DEPTH];
};

enum pythia__pair {
    PYTHIA__PAIR_BEGIN,     /* a span begins */
    PYTHIA__PAIR_ANEW,      /* a request begins; the one that is open was left without its end */
    PYTHIA__PAIR_OUTSIDE,   /* it is of no request */
    PYTHIA__PAIR_DEEP,      /* there are too many spans in each other: give up the request */
    PYTHIA__PAIR_END,       /* the span number *left ends; those inside of it were left */
    PYTHIA__PAIR_UNMATCHED, /* it ends what is not open */
};

/* The meaning of a hit of the probe that begins (or, `done`, ends) a point. `request`: a request
 * begins with the point. */
enum pythia__pair pythia__pair_decide(const struct pythia__pairs *pairs, uint32_t point, int done,
                                      int request, uint32_t *left);

/* Reduce a statement to its type: each number and each quoted text becomes "?", each comment and
 * space between words one space, so that requests that differ in values alone are of one type. No
 * space is around "+", because names of types have " + " between roots. Returns bytes. */
size_t pythia__statement_type(const char *text, size_t bytes, char out[PYTHIA__TYPE_BYTES]);

/* The traceparent (W3C Trace Context, 55 bytes; not checked) in a comment of a statement, as
 * sqlcommenter and OpenTelemetry write it: traceparent='00-TRACE-SPAN-FLAGS'. NULL: none. */
const char *pythia__statement_caller(const char *text, size_t bytes);

#endif
