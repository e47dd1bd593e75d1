#ifndef PYTHIA_SERVICE_CASE_H
#define PYTHIA_SERVICE_CASE_H

#include <stdint.h>

#include "pythia/buf.h"
#include "pythia/span.h"
#include "pythia/vocabulary.h"

/* Requests to data services whose figures and causes are known: those that Ramesh et al.,
 * "SYMBIOSYS: A Methodology for Performance Analysis of Composable HPC Data Services", IPDPS 2021,
 * report of Mobject, Sonata and seven configurations of HEPnOS. Spans are made so that the means of
 * the parts of a call (call_parts.h) have those proportions, and that what the paper names as the
 * cause of a configuration makes its calls differ. One thread at a time. */
#define PYTHIA_SERVICE_CASES(row)                                                                  \
    row(MOBJECT, "mobject") row(SONATA, "sonata") row(HEPNOS_C1, "hepnos-c1")                      \
        row(HEPNOS_C2, "hepnos-c2") row(HEPNOS_C3, "hepnos-c3") row(HEPNOS_C4, "hepnos-c4")        \
            row(HEPNOS_C5, "hepnos-c5") row(HEPNOS_C6, "hepnos-c6") row(HEPNOS_C7, "hepnos-c7")    \
                row(SYMB_1M, "symb-1m")
#define PYTHIA_SERVICE_CASE_ENUM(number, name)   PYTHIA_CASE_##number,
#define PYTHIA_SERVICE_CASE_CHOICE(number, name) "|" name
enum pythia_service_case_name {
    PYTHIA_SERVICE_CASES(PYTHIA_SERVICE_CASE_ENUM) PYTHIA_SERVICE_CASE_COUNT
};

/* The case that is not of spans: records of a process of SYMBIOSYS, four for each request. */
#define PYTHIA_SYMB_REQUESTS 250000

struct pythia_service_case;

/* `vocabulary` is borrowed. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_service_case_create(struct pythia_vocabulary *vocabulary,
                               enum pythia_service_case_name name, uint64_t seed,
                               struct pythia_service_case **out);
void pythia_service_case_destroy(struct pythia_service_case *c); /* c may be NULL */

/* Give the spans of request `number` to `emit`; all of them are borrowed for the call. PYTHIA_OK,
 * PYTHIA_ENOMEM, or what `emit` answered. Means are exact over 32 requests that follow a multiple
 * of 32, but for noise of 2 %. Not of SYMB_1M. */
int pythia_service_case_request(struct pythia_service_case *c, uint64_t number,
                                int (*emit)(void *context, const struct pythia_trace_id *trace,
                                            const struct pythia_span *span),
                                void *context);

/* Append the records of request `number` of SYMB_1M, and before those of request 0 the head of the
 * file. One request in ten reads 16 events of the network, the limit, the others up to 8. */
void pythia_service_case_records(uint64_t number, struct pythia_buf *to);

/* The key that goes with the durations of a case, without "variable." and what a request makes of
 * it; NULL: there is none. */
const char *pythia_service_case_cause(enum pythia_service_case_name name);

#endif
