#ifndef PYTHIA_BILL_H
#define PYTHIA_BILL_H

#include <stddef.h>
#include <stdint.h>

#include "pythia/trace.h"
#include "pythia/vocabulary.h"

/* The cost of tracing for traced programs: of requests that were, and of trace points that
 * might be opened. Prices are those that programs have measured (vocabulary.h). All functions are
 * pure; any number of threads. */

struct pythia_bill {
    double cost_ns;            /* of the spans whose price is known */
    uint32_t billed, unbilled; /* spans with a price, and without */
};

/* The bill of one request: each of its spans at its trace point's price. O(spans). */
void pythia_bill_of(const struct pythia_vocabulary *v, const struct pythia_trace *trace,
                    struct pythia_bill *out);

/* The time that tracing adds between two consecutive events: half the price of a pass of the trace
 * point at either end, since one of a pass's two halves lies there. NaN if one is not known. */
double pythia_bill_edge_ns(const struct pythia_vocabulary *v, uint32_t from_tracepoint,
                           uint32_t to_tracepoint);

/* A trace point that might be opened. */
struct pythia_bill_item {
    double price_ns; /* of one pass; NaN: not known, it is then taken for `usual_ns` */
    double passes;   /* in a request, on average */
};

struct pythia_bill_forecast {
    double cost_ns;  /* added to a request, on average */
    double share;    /* of what it takes now: NaN if that is not known or 0 */
    size_t supposed; /* items whose price had to be supposed */
};

/* The cost of opening a set of trace points: the sum of price and passes. `request_ns` is how
 * long a request takes now; `usual_ns` the price of a point of which none is known (NaN: then such
 * a point makes the forecast NaN). */
struct pythia_bill_forecast pythia_bill_forecast(const struct pythia_bill_item *items, size_t count,
                                                 double usual_ns, double request_ns);

#endif
