#include "profile_parts.h"
#include "pythia/status.h"

int pythia__profile_times_add(struct pythia_profile_times *times, uint64_t ns, uint64_t weight)
{
    if (!times->sketch && pythia_sketch_create(PYTHIA_SKETCH_ALPHA, &times->sketch) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    int status = pythia_sketch_add(times->sketch, (double)ns, weight);
    if (status == PYTHIA_OK)
        pythia_exact_moments_add_weighted(&times->moments, (int64_t)ns, weight);
    return status;
}

uint64_t pythia_profile_sum_ns(const struct pythia_profile_times *times)
{
    return times->moments.sum[1] ? UINT64_MAX : times->moments.sum[0];
}
