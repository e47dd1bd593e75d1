/* The functions of LAPACK that are used here. The library is loaded when it is first needed
 * (late_library.h). */
#ifndef PYTHIA_STATS_LAPACK_H
#define PYTHIA_STATS_LAPACK_H

#include <stdbool.h>

#include <lapacke.h>

struct pythia__lapack {
    __typeof__(LAPACKE_dgeqp3_work) *geqp3;
    __typeof__(LAPACKE_dgesvd_work) *gesvd;
    __typeof__(LAPACKE_dorgqr_work) *orgqr;
    __typeof__(LAPACKE_dpstrf_work) *pstrf;
};

extern struct pythia__lapack pythia__lapack;

/* False: the library is not there, which was logged. For any thread. */
bool pythia__lapack_load(void);

#endif
