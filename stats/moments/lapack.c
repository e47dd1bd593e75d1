#include "lapack.h"

#include <pthread.h>

#include "pythia/late_library.h"

struct pythia__lapack pythia__lapack;

static bool is_loaded;

/* OpenBLAS comes first, so that LAPACKE uses its LAPACK, whatever else the system has. Matrices are
 * small, and sums must not depend on how many threads there are: it gets one. */
static void load_lapack(void)
{
    void (*set_threads)(int) = NULL;
    const struct pythia_late_function blas[] = {{"openblas_set_num_threads", &set_threads}};
    const struct pythia_late_function lapack[] = {
        {"LAPACKE_dgeqp3_work", &pythia__lapack.geqp3},
        {"LAPACKE_dgesvd_work", &pythia__lapack.gesvd},
        {"LAPACKE_dorgqr_work", &pythia__lapack.orgqr},
        {"LAPACKE_dpstrf_work", &pythia__lapack.pstrf},
    };
    if (!pythia_late_load(PYTHIA_OPENBLAS_LIBRARY, true, blas, 1))
        return;
    set_threads(1);
    is_loaded =
        pythia_late_load(PYTHIA_LAPACKE_LIBRARY, false, lapack, sizeof(lapack) / sizeof(lapack[0]));
}

bool pythia__lapack_load(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, load_lapack);
    return is_loaded;
}
