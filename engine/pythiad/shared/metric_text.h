/* Metrics as Prometheus' text (version 0.0.4): the kind of a metric, then its values. */
#ifndef PYTHIA_PYTHIAD_METRIC_TEXT_H
#define PYTHIA_PYTHIAD_METRIC_TEXT_H

#include <stdint.h>

#include "pythia/buf.h"

/* Append the lines that say what a metric is; its values, with labels, are to follow. `type` is
 * "counter" or "gauge"; `help` has neither a backslash nor a line break. */
void pythia__metric_head(struct pythia_buf *to, const char *name, const char *type,
                         const char *help);

/* Append a metric of one value. NaN of a gauge: it is not known. */
void pythia__metric_counter(struct pythia_buf *to, const char *name, const char *help,
                            uint64_t value);
void pythia__metric_gauge(struct pythia_buf *to, const char *name, const char *help, double value);

#endif
