#include "pythia/prices.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "point_values.h"
#include "pythia/mem.h"
#include "pythia/status.h"

#define UNIT_NS    1000. /* what prices are compared with when the usual one is nothing */
#define NUMBER_MAX 64    /* bytes of a price as text */

struct pythia_prices {
    struct pythia__point_values *ns;
};

int pythia_prices_create(const struct pythia_vocabulary *vocabulary, struct pythia_prices **out)
{
    struct pythia_prices *p = pythia_calloc(1, sizeof(*p));
    if (!p || pythia__point_values_create(vocabulary, &p->ns) != PYTHIA_OK) {
        pythia_free(p);
        return PYTHIA_ENOMEM;
    }
    *out = p;
    return PYTHIA_OK;
}

void pythia_prices_destroy(struct pythia_prices *p)
{
    if (!p)
        return;
    pythia__point_values_destroy(p->ns);
    pythia_free(p);
}

int pythia_prices_set(struct pythia_prices *p, struct pythia_text point, double ns)
{
    if (!(ns >= 0) || isinf(ns))
        return PYTHIA_EINVAL;
    return pythia__point_values_set(p->ns, point, ns);
}

/* A whole text as a price. */
static bool parse_price(struct pythia_text text, double *ns)
{
    char number[NUMBER_MAX], *end;
    if (text.size == 0 || text.size >= sizeof(number) || memchr(text.bytes, '\0', text.size))
        return false;
    memcpy(number, text.bytes, text.size);
    number[text.size] = '\0';
    errno = 0;
    *ns = strtod(number, &end);
    return *end == '\0' && !errno && *ns >= 0 && isfinite(*ns);
}

int pythia_prices_parse(struct pythia_text text, struct pythia_text *point, double *ns,
                        struct pythia_error *e)
{
    struct pythia_text id, number;
    if (!pythia__point_values_part(text, &id, &number))
        return pythia_error_set(e, PYTHIA_EFORMAT,
                                "'%.*s' has no price: expected ID=NS, such as db:query=250",
                                (int)(text.size < 200 ? text.size : 200), text.bytes);
    if (!parse_price(number, ns))
        return pythia_error_set(e, PYTHIA_EFORMAT,
                                "'%.*s' is not a price: expected nanoseconds, 0 or more",
                                (int)(number.size < 100 ? number.size : 100), number.bytes);
    *point = id;
    return PYTHIA_OK;
}

/* NaN: the table does not say. */
static double price_of_tracepoint(struct pythia_prices *p, uint32_t tracepoint)
{
    return p ? pythia__point_values_of(p->ns, tracepoint) : NAN;
}

bool pythia_prices_has(struct pythia_prices *p, uint32_t tracepoint)
{
    return !isnan(price_of_tracepoint(p, tracepoint));
}

double pythia_prices_of(struct pythia_prices *p, uint32_t tracepoint, double usual_ns)
{
    double ns = price_of_tracepoint(p, tracepoint);
    return isnan(ns) ? usual_ns : ns;
}

double pythia_prices_relative(struct pythia_prices *p, uint32_t tracepoint, double usual_ns)
{
    double ns = price_of_tracepoint(p, tracepoint);
    return isnan(ns) ? 1 : ns / (usual_ns > 0 ? usual_ns : UNIT_NS);
}
