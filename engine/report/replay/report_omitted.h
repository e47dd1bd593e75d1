/* What the text and Markdown forms do not show of a report is not made for them: among a hundred
 * thousand request types, of which some have a finding, paths and histograms of all others would be
 * nearly all of the document. */
#ifndef PYTHIA_REPORT_BRIEF_H
#define PYTHIA_REPORT_BRIEF_H

#include "pythia/report.h"
#include "write/json_writer.h"

/* What a brief report says of the groups of a type. */
enum pythia__brief {
    PYTHIA__BRIEF_LINES, /* there is no finding: a line for all of them */
    PYTHIA__BRIEF_ALONE, /* there is one group, with a finding */
    PYTHIA__BRIEF_TOLD   /* of several groups one has a finding, and is compared with the others */
};

/* By request type. Owned, pythia_free(); NULL when out of memory. */
unsigned char *pythia__brief_types(const struct pythia_diagnosis *d);

/* A group of which a line among others is shown: its type, status, count and mean. */
json_t *pythia__brief_group(struct pythia__json *w, const struct pythia_diagnosis *d,
                            const struct pythia_group *g);

/* The open trace points among those that are suggested. */
json_t *pythia__brief_open(struct pythia__json *w, const struct pythia_report_source *source);

#endif
