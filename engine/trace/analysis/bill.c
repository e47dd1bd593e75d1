#include "pythia/bill.h"

#include <math.h>

void pythia_bill_of(const struct pythia_vocabulary *v, const struct pythia_trace *trace,
                    struct pythia_bill *out)
{
    *out = (struct pythia_bill){0};
    for (uint32_t i = 0; i < trace->count; i++) {
        double price = pythia_vocabulary_cost_ns(v, trace->spans[i].tracepoint);
        if (isnan(price)) {
            out->unbilled++;
            continue;
        }
        out->cost_ns += price;
        out->billed++;
    }
}

double pythia_bill_edge_ns(const struct pythia_vocabulary *v, uint32_t from_tracepoint,
                           uint32_t to_tracepoint)
{
    return (pythia_vocabulary_cost_ns(v, from_tracepoint) +
            pythia_vocabulary_cost_ns(v, to_tracepoint)) /
           2;
}

struct pythia_bill_forecast pythia_bill_forecast(const struct pythia_bill_item *items, size_t count,
                                                 double usual_ns, double request_ns)
{
    struct pythia_bill_forecast f = {0};
    for (size_t i = 0; i < count; i++) {
        double price = items[i].price_ns;
        if (isnan(price)) {
            price = usual_ns;
            f.supposed++;
        }
        f.cost_ns += price * items[i].passes;
    }
    f.share = request_ns > 0 ? f.cost_ns / request_ns : NAN;
    return f;
}
