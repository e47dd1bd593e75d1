/* Findings, groups and sentences as members of a report. */
#ifndef PYTHIA_REPORT_JSON_FINDING_H
#define PYTHIA_REPORT_JSON_FINDING_H

#include "document/document.h"
#include "pythia/place.h"
#include "pythia/report_source.h"
#include "write/json_writer.h"

/* The state of writing a report as JSON: `d` is a document with the current sentence. */
struct pythia__report_writer {
    struct pythia__json json;
    struct pythia__doc d;
    const struct pythia_report_source *s;
};

/* A place with its share; null if there is none. */
json_t *pythia__json_finding(struct pythia__json *w, const struct pythia_finding *f);

/* 16 hexadecimal digits; null for 0. */
json_t *pythia__json_group_id(uint64_t id);

/* Begin a sentence; and what was said since, null if it was nothing. */
struct pythia__doc *pythia__json_say(struct pythia__report_writer *w);
json_t *pythia__json_said(struct pythia__report_writer *w);

#endif
