/* Findings and groups as members of a report. */
#ifndef PYTHIA_REPORT_JSON_FINDING_H
#define PYTHIA_REPORT_JSON_FINDING_H

#include "pythia/closed_loop.h"
#include "write/json_writer.h"

/* A place with its share; null if there is none. */
json_t *pythia__json_finding(struct pythia__json *w, const struct pythia_finding *f);

/* 16 hexadecimal digits; null for 0. */
json_t *pythia__json_group_id(uint64_t id);

#endif
