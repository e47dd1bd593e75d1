/* Measurements as text. */
#ifndef PYTHIA_SERIES_REAL_H
#define PYTHIA_SERIES_REAL_H

#include "pythia/text.h"

/* A finite number; NULL, or what is wrong with the text. */
const char *pythia__series_real(struct pythia_text t, double *out);

#endif
