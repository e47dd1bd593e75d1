/* Keys that act together, in a report. */
#ifndef PYTHIA_REPORT_JOINT_H
#define PYTHIA_REPORT_JOINT_H

#include <jansson.h>

#include "pythia/explain.h"
#include "write/json_writer.h"

/* "joint" of a group or a type; null where no keys act together. */
json_t *pythia__json_joint(struct pythia__json *w, const struct pythia_explanations *all);

#endif
