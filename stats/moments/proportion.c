#include "pythia/proportion.h"

#include <math.h>

#include <gsl/gsl_cdf.h>

struct pythia_proportion pythia_proportion_wilson(uint64_t hits, uint64_t of, double level)
{
    struct pythia_proportion p = {.hits = hits, .of = of, .rate = NAN, .low = NAN, .high = NAN};
    if (of == 0 || hits > of)
        return p;
    double n = (double)of;
    p.rate = (double)hits / n;
    if (!(level > 0 && level < 1))
        return p;
    double z = gsl_cdf_ugaussian_Pinv((1 + level) / 2), scale = 1 + z * z / n;
    double centre = p.rate + z * z / (2 * n);
    double half = z * sqrt(p.rate * (1 - p.rate) / n + z * z / (4 * n * n));
    p.low = hits == 0 ? 0 : (centre - half) / scale; /* there, rounding would leave 1e-17 */
    p.high = hits == of ? 1 : (centre + half) / scale;
    return p;
}
