/* The metrics of pythiad, in Prometheus' text format. */
#ifndef PYTHIA_PYTHIAD_METRICS_H
#define PYTHIA_PYTHIAD_METRICS_H

#include "daemon.h"

/* Append all of it: counters end with _total, and what is lost has a reason. */
void pythia__metrics_write(const struct pythia__daemon *d, struct pythia_buf *to);

#endif
