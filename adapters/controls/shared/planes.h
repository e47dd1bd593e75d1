/* The rows of registry.c. */
#ifndef PYTHIA_CONTROLS_PLANES_H
#define PYTHIA_CONTROLS_PLANES_H

#include "pythia/control.h"

extern const struct pythia_control_ops pythia__control_gate;
extern const struct pythia_control_ops pythia__control_http;
extern const struct pythia_control_ops pythia__control_lttng;
extern const struct pythia_control_ops pythia__control_osprofiler;
extern const struct pythia_control_ops pythia__control_probe;

#endif
