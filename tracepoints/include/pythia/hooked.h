/* SPDX-License-Identifier: MIT */
#ifndef PYTHIA_HOOKED_H
#define PYTHIA_HOOKED_H

/* Callbacks at the functions that `pythia run` hooks, for key-values that no declaration can
 * express: the length of a list, a field of a structure. A small shared object has them, linked to
 * libpythia-tracepoints:
 *
 *     void note_order(const struct pythia_hooked_call *call)
 *     {
 *         if (call->event == PYTHIA_HOOKED_ENTER && call->integers) {
 *             const struct order *o = (const struct order *)call->integers[0];
 *             PYTHIA_SET(call->scope, "lines", o->line_count);
 *         }
 *     }
 *
 * and a declaration names it, "callback": "notes.so:note_order" (pythia-run(1)). It is called while
 * the trace point is open, on the thread of the call, right before the function runs and right
 * after it has returned. What it takes is a part of what tracing costs. It may read what the
 * function could read; it must return, neither by longjmp nor by an exception. Hooked functions
 * that it calls are not recorded. */

#include <pythia/tracepoints.h>
#include <stdint.h>

enum pythia_hooked_event {
    PYTHIA_HOOKED_ENTER,
    PYTHIA_HOOKED_RETURN,
    PYTHIA_HOOKED_FAILED, /* it was left by longjmp or an exception */
};

/* Borrowed for the call. Members may be added at the end, and `version` says so. */
struct pythia_hooked_call {
    const struct pythia_scope *scope; /* its span: for pythia_set_integer and its neighbours */
    const char *point;                /* the name of the trace point */
    enum pythia_hooked_event event;
    uint32_t version; /* PYTHIA_TRACEPOINTS_VERSION */
    /* Arguments, for PYTHIA_HOOKED_ENTER; otherwise NULL. NULL too for functions that report by
     * themselves (-finstrument-functions). The first six arguments that are integers or
     * pointers, the first eight that are float or double (in the low bytes), and those on the
     * stack, 8 bytes each. */
    const uint64_t *integers;
    const double *reals;
    const uint64_t *stack;
    /* Results, for PYTHIA_HOOKED_RETURN, as they are in both result registers; otherwise 0. */
    uint64_t result;
    double real_result;
};

typedef void pythia_hooked_callback(const struct pythia_hooked_call *call);

#endif
