/* SPDX-License-Identifier: MIT */
/* The interface between the library and the shim (preload/), beyond <pythia/tracepoints.h>. Both
 * are always of one version. */
#ifndef PYTHIA_HOOKING_H
#define PYTHIA_HOOKING_H

#include "pythia/tracepoints.h"

/* A span that will never be left: its end stays unknown, and the thread stands where it stood
 * before it. Only on the thread that has entered it. */
PYTHIA_API void pythia__abandon(const struct pythia_scope *scope);

/* As pythia_request_name, without a key-value on the open span: the request has just begun. */
PYTHIA_API void pythia__request_named(const char *name, size_t name_bytes);

/* Is a point to be open for any request? It gets its switches if it has none yet, without a hit. */
PYTHIA_API int pythia__is_wanted(struct pythia_point *point);

/* A signal handler has left, by longjmp, what this thread was recording: it records again. */
PYTHIA_API void pythia__recover(void);

/* How often switches were thrown, and wait until that is no longer `known`, or a second. For a
 * thread that does nothing else. */
PYTHIA_API uint32_t pythia__thrown(void);
PYTHIA_API void pythia__thrown_wait(uint32_t known);

/* Will the next span of a point on this thread, its key-values that are numbers, and the end of one
 * that is not timed, be recorded without a call of another library, and with no vector registers
 * but the lower halves of xmm0 to xmm15? */
PYTHIA_API int pythia__is_quick(const struct pythia_point *point);

/* The clock of the records. */
PYTHIA_API uint64_t pythia__ticks_now(void);

/* The cost of calls whose spans are not recorded: ticks of one, the least of several loops of
 * `n` of them. The library must have begun to record. 0: there is no memory. And the cost of a span
 * by itself. */
PYTHIA_API uint64_t pythia__cost_of(void (*calls)(unsigned n));
PYTHIA_API uint64_t pythia__cost_of_span(void);

#endif
